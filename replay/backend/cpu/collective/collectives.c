/* Collectives: the ranks of a job exchange arrays (replay/backend/ranks/ranks.h). Without a job
 * there is one rank, which receives what it sends. */
#include <string.h>

#include "replay/backend/call/collective_args.h"
#include "replay/backend/cpu/kernel.h"

/* ---- One rank ---- */

/* Returns the elements of x, repeated if more ranks would send some, or cut off if they would
 * receive some; most often as they are. */
static struct dense as_many(struct kernel *k, struct dense x, const int64_t *size, uint32_t ndim)
{
    struct dense out = { .n = 1 };
    for (uint32_t i = 0; i < ndim; i++)
        out.n *= size[i];
    if (out.n == x.n)
        return dense_reshape(x, size, ndim);
    out = dense_new(k, x.kind, size, ndim);
    size_t each = dense_size(x.kind);
    for (int64_t at = 0; at < out.n && x.n && !k->failed; at += x.n) {
        int64_t n = out.n - at < x.n ? out.n - at : x.n;
        memcpy((char *)out.u.p + (size_t)at * each, x.u.p, (size_t)n * each);
    }
    return out;
}

static int64_t count_elements(struct kernel_tensor x)
{
    int64_t size[TENSOR_MAX_DIM], n = 1;
    uint32_t ndim = tensor_sizes(x, size);
    for (uint32_t i = 0; i < ndim; i++)
        n *= size[i];
    return n;
}

static bool copy_in_order(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    const struct memory *m = storage_at(k->call->storages, to.storage);
    const void *in = elements_in_order(k, from);
    void *out = m && m->borrowed ? NULL : elements_in_order(k, to);
    int64_t n = count_elements(from);
    if (!in || !out || n != count_elements(to) || from.meta->dtype != to.meta->dtype)
        return false;
    memcpy(out, in, (size_t)n * dtype_size(to.meta->dtype));
    return true;
}

static void receive_own(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    if (to.storage != from.storage && !copy_in_order(k, from, to))
        store_tensor(k, to, as_many(k, load_tensor(k, from), size, ndim));
}

/* ---- Parts ---- */

/* What a rank brings: the elements of its input and of its result, in their order and dtype. */
struct part {
    const char *in;
    char *out;
    int64_t n_in, n_out;
    enum dtype dtype;
    enum reduce_op op;
    const struct collective_splits *splits; /* in elements */
};

static const struct part *part_of(struct collective *const *all, uint32_t i)
{
    return all[i]->data;
}

/* Returns the elements of x, which are copied if they do not lie in their order. */
static const char *input_elements(struct kernel *k, struct kernel_tensor x)
{
    const char *ret = elements_in_order(k, x);
    if (ret || k->failed)
        return ret;
    struct dense values = load_tensor(k, x);
    void *copy = workspace(k, values.n, dtype_size(x.meta->dtype));
    if (copy)
        dense_write(&values, x.meta->dtype, copy, 0);
    return copy;
}

static void store_elements(struct kernel *k, struct kernel_tensor to, const char *from)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    struct dense values = dense_new(k, dense_kind_of(to.meta->dtype), size, ndim);
    dense_read(&values, to.meta->dtype, from, 0);
    store_tensor(k, to, values);
}

/* ---- Reductions ---- */

/* Elements are reduced in blocks, so that the numbers that they are converted to stay in the
 * processor's cache. */
enum { BLOCK = 1024 };
union block {
    int64_t i[BLOCK];
    double r[BLOCK];
    cdouble c[BLOCK];
};

static struct dense block_of(union block *memory, enum dtype dtype, int64_t n)
{
    return (struct dense){ .kind = dense_kind_of(dtype), .n = n, .u.p = memory };
}

static double combine_real(enum reduce_op op, double a, double b)
{
    switch (op) {
    case REDUCE_PRODUCT: return a * b;
    case REDUCE_MIN: return b < a || b != b ? b : a;
    case REDUCE_MAX: return b > a || b != b ? b : a;
    default: return a + b;
    }
}

static int64_t combine_int(enum reduce_op op, int64_t a, int64_t b)
{
    switch (op) {
    case REDUCE_PRODUCT: return (int64_t)((uint64_t)a * (uint64_t)b);
    case REDUCE_MIN: return b < a ? b : a;
    case REDUCE_MAX: return b > a ? b : a;
    case REDUCE_BAND: return a & b;
    case REDUCE_BOR: return a | b;
    case REDUCE_BXOR: return a ^ b;
    default: return (int64_t)((uint64_t)a + (uint64_t)b);
    }
}

static void combine(enum reduce_op op, struct dense *x, const struct dense *y)
{
    if (x->kind == DENSE_INT)
        for (int64_t i = 0; i < x->n; i++)
            x->u.i[i] = combine_int(op, x->u.i[i], y->u.i[i]);
    else if (x->kind == DENSE_REAL)
        for (int64_t i = 0; i < x->n; i++)
            x->u.r[i] = combine_real(op, x->u.r[i], y->u.r[i]);
    else
        for (int64_t i = 0; i < x->n; i++)
            x->u.c[i] = op == REDUCE_PRODUCT ? x->u.c[i] * y->u.c[i] : x->u.c[i] + y->u.c[i];
}

static void divide(struct dense *x, uint32_t n)
{
    for (int64_t i = 0; i < x->n; i++)
        if (x->kind == DENSE_INT)
            x->u.i[i] /= (int64_t)n;
        else if (x->kind == DENSE_REAL)
            x->u.r[i] /= n;
        else
            x->u.c[i] /= n;
}

/* Reduces count elements of all ranks' inputs, from `at` on, in the order of the ranks. */
static struct dense reduce_block(struct collective *const *all, uint32_t n, int64_t at,
                                 int64_t count, union block memory[2])
{
    const struct part *first = part_of(all, 0);
    struct dense x = block_of(&memory[0], first->dtype, count);
    struct dense y = block_of(&memory[1], first->dtype, count);
    dense_read(&x, first->dtype, first->in, at);
    for (uint32_t r = 1; r < n; r++) {
        dense_read(&y, first->dtype, part_of(all, r)->in, at);
        combine(first->op, &x, &y);
    }
    if (first->op == REDUCE_AVG)
        divide(&x, n);
    return x;
}

static int64_t block_size(int64_t left)
{
    return left < BLOCK ? left : BLOCK;
}

/* A block is read on all ranks before it is written on any: results may be inputs. */
static bool all_reduce(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    union block memory[2];
    const struct part *first = part_of(all, 0);
    for (int64_t at = 0; at < first->n_out; at += BLOCK) {
        struct dense x = reduce_block(all, n, at, block_size(first->n_out - at), memory);
        for (uint32_t r = 0; r < n; r++)
            dense_write(&x, first->dtype, part_of(all, r)->out, at);
    }
    return true;
}

static bool reduce_scatter(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    union block memory[2];
    for (uint32_t r = 0; r < n; r++) {
        const struct part *to = part_of(all, r);
        for (int64_t at = 0; at < to->n_out; at += BLOCK) {
            struct dense x =
                reduce_block(all, n, r * to->n_out + at, block_size(to->n_out - at), memory);
            dense_write(&x, to->dtype, to->out, at);
        }
    }
    return true;
}

/* ---- Exchanges ---- */

static void copy_part(const struct part *to, int64_t at, const struct part *from, int64_t first,
                      int64_t n)
{
    size_t each = dtype_size(to->dtype);
    if (n)
        memmove(to->out + (size_t)at * each, from->in + (size_t)first * each, (size_t)n * each);
}

static bool all_gather(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t from = 0; from < n; from++) {
            const struct part *in = part_of(all, from);
            copy_part(part_of(all, r), from * in->n_in, in, 0, in->n_in);
        }
    return true;
}

static bool broadcast(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    const struct part *in = part_of(all, (uint32_t)all[0]->root);
    for (uint32_t r = 0; r < n; r++)
        copy_part(part_of(all, r), 0, in, 0, in->n_in);
    return true;
}

static bool all_to_all(struct collective *const *all, uint32_t n, struct err *err)
{
    const struct collective_splits *splits[RANKS_MAX] = { 0 };
    for (uint32_t r = 0; r < n; r++)
        splits[r] = part_of(all, r)->splits;
    if (!collective_splits_match(splits, n, err))
        return false;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t from = 0; from < n; from++)
            copy_part(part_of(all, r), splits[r]->receives_at[from], part_of(all, from),
                      splits[from]->sends_at[r], splits[r]->receives[from]);
    return true;
}

/* ---- A call ---- */

/* Sets the memory of the part's result: that of `to`, or else a workspace. */
static bool result_elements(struct kernel *k, struct kernel_tensor to, struct part *part)
{
    const struct memory *m = storage_at(k->call->storages, to.storage);
    part->out = m && m->borrowed ? NULL : elements_in_order(k, to); /* store_tensor() refuses it */
    bool copies = !part->out && !k->failed;
    if (copies)
        part->out = workspace(k, part->n_out, dtype_size(part->dtype));
    return copies;
}

static void meet(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    static collective_fn *const functions[] = {
        [COLLECTIVE_REDUCE] = all_reduce,   [COLLECTIVE_SCATTER] = reduce_scatter,
        [COLLECTIVE_GATHER] = all_gather,   [COLLECTIVE_BROADCAST] = broadcast,
        [COLLECTIVE_EXCHANGE] = all_to_all,
    };
    struct collective call;
    struct collective_splits splits = { .sends = { 0 } };
    struct part part = { .dtype = from.meta->dtype, .splits = &splits };
    if (!collective_read(k, from, to, &call, &part.op, &splits))
        return;
    part.n_in = count_elements(from);
    part.n_out = count_elements(to);
    part.in = input_elements(k, from);
    bool copies = result_elements(k, to, &part);
    call.data = &part;
    if (k->failed)
        return;
    if (!rank_meet(k->call->caller->backend->rank, &call, functions[k->row->param], k->err))
        k->failed = true;
    else if (copies)
        store_elements(k, to, part.out);
}

void kernel_collective(struct kernel *k)
{
    for (uint32_t i = 0; i < n_results(k) && !k->failed; i++) {
        struct kernel_tensor to = result(k, i), from = collective_input(k, i);
        if (!from.meta || !to.meta)
            continue;
        if (!k->call->caller->backend->rank || k->row->param == COLLECTIVE_NONE)
            receive_own(k, from, to);
        else
            meet(k, from, to);
    }
}

/* ---- Messages ---- */

/* Sends the elements of x, or receives them. Without a job, x keeps its elements. */
static void pass_message(struct kernel *k, struct rank_message m, struct kernel_tensor x,
                         struct kernel_tensor to, bool receives)
{
    struct rank *rank = k->call->caller->backend->rank;
    struct dense elements = load_tensor(k, x);
    m.group = text_arg(k, "group_name");
    m.node = k->call->node;
    m.dtype = x.meta ? x.meta->dtype : DTYPE_NONE;
    m.elements = elements.u.p;
    m.n = (size_t)elements.n;
    m.each = dense_size(elements.kind);
    if (k->failed)
        return;
    if (rank && !(receives ? rank_receive : rank_send)(rank, &m, k->err))
        k->failed = true;
    else if (receives)
        store_tensor(k, to, elements);
}

/* isend and irecv (param 1). A send does not wait: its result has no elements. */
void kernel_message(struct kernel *k)
{
    struct rank_message m = { .op = k->call->op->base,
                              .peer = int_arg(k, k->row->param ? "src" : "dst", 0),
                              .tag = int_arg(k, "tag", 0) };
    pass_message(k, m, tensor_arg(k, "tensor"), result(k, 0), k->row->param);
}

enum { MOST_MESSAGES = 1024 };

/* The operators, peers, tags and tensors of a batch. */
struct batch {
    const struct kernel_value *ops, *tensors;
    uint32_t n;
    int64_t peers[MOST_MESSAGES], tags[MOST_MESSAGES];
};

static bool read_batch(struct kernel *k, struct batch *b)
{
    const struct kernel_value ops = k->call->args[0], tensors = k->call->args[3];
    b->n = value_has_items(ops) ? ops.n : 0;
    if (b->n > MOST_MESSAGES)
        return kernel_fail(k, "%u messages, and at most %d are supported", b->n, MOST_MESSAGES),
               false;
    if (!value_has_items(tensors) || tensors.n != b->n ||
        ints_arg(k, "peer_list", b->peers, MOST_MESSAGES) != b->n ||
        ints_arg(k, "tag_list", b->tags, MOST_MESSAGES) != b->n)
        return kernel_fail(k, "op_list, peer_list, tag_list and tensors have different lengths"),
               false;
    b->ops = ops.u.items;
    b->tensors = tensors.u.items;
    for (uint32_t i = 0; i < b->n; i++)
        if (b->ops[i].kind != KERNEL_STRING || b->tensors[i].kind != KERNEL_TENSOR)
            return kernel_fail(k, "message %u has no operator or no tensor", i), false;
        else if (!str_is(b->ops[i].u.text, "irecv") && !str_is(b->ops[i].u.text, "isend"))
            return kernel_fail(k, "message %u: there is no operator \"%.*s\"", i,
                               STR_ARG(b->ops[i].u.text)),
                   false;
    return true;
}

/* batch_p2p_ops: what is received is the tensor itself. All is sent before anything is waited for,
 * so that ranks may list their messages in any order. */
void kernel_messages(struct kernel *k)
{
    struct batch b;
    if (!read_batch(k, &b))
        return;
    for (int receives = 0; receives < 2; receives++)
        for (uint32_t i = 0; i < b.n && !k->failed; i++) {
            struct kernel_tensor x = b.tensors[i].u.tensor;
            struct rank_message message = { .op = b.ops[i].u.text,
                                            .peer = b.peers[i],
                                            .tag = b.tags[i] };
            if (str_is(b.ops[i].u.text, "irecv") != (bool)receives)
                continue;
            pass_message(k, message, x, x, receives);
        }
}

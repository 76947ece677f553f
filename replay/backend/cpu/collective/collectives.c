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

static void receive_own(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    if (to.storage != from.storage)
        store_tensor(k, to, as_many(k, load_tensor(k, from), size, ndim));
}

/* ---- Reductions ---- */

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

/* What a rank brings: its input, and memory for its result. */
struct part {
    struct dense in, out;
    enum reduce_op op;
    const struct collective_splits *splits; /* in elements */
};

static const struct part *part_of(struct collective *const *all, uint32_t i)
{
    return all[i]->data;
}

/* Reduces element `at` of all ranks, in their order, to element i of `out`. */
static void reduce_element(struct collective *const *all, uint32_t n, int64_t at,
                           const struct part *to, int64_t i)
{
    enum reduce_op op = to->op;
    const struct dense *first = &part_of(all, 0)->in;
    if (first->kind == DENSE_INT) {
        int64_t x = first->u.i[at];
        for (uint32_t r = 1; r < n; r++)
            x = combine_int(op, x, part_of(all, r)->in.u.i[at]);
        to->out.u.i[i] = op == REDUCE_AVG ? x / (int64_t)n : x;
    } else if (first->kind == DENSE_REAL) {
        double x = first->u.r[at];
        for (uint32_t r = 1; r < n; r++)
            x = combine_real(op, x, part_of(all, r)->in.u.r[at]);
        to->out.u.r[i] = op == REDUCE_AVG ? x / n : x;
    } else {
        cdouble x = first->u.c[at];
        for (uint32_t r = 1; r < n; r++)
            x = op == REDUCE_PRODUCT ? x * part_of(all, r)->in.u.c[at]
                                     : x + part_of(all, r)->in.u.c[at];
        to->out.u.c[i] = op == REDUCE_AVG ? x / n : x;
    }
}

/* ---- Exchanges ---- */

static void copy_part(const struct dense *to, int64_t at, const struct dense *from, int64_t first,
                      int64_t n)
{
    size_t each = dense_size(to->kind);
    if (n)
        memcpy((char *)to->u.p + (size_t)at * each, (const char *)from->u.p + (size_t)first * each,
               (size_t)n * each);
}

static bool all_reduce(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    const struct part *first = part_of(all, 0);
    for (int64_t i = 0; i < first->out.n; i++)
        reduce_element(all, n, i, first, i);
    for (uint32_t r = 1; r < n; r++)
        copy_part(&part_of(all, r)->out, 0, &first->out, 0, first->out.n);
    return true;
}

static bool reduce_scatter(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    for (uint32_t r = 0; r < n; r++) {
        const struct part *to = part_of(all, r);
        for (int64_t i = 0; i < to->out.n; i++)
            reduce_element(all, n, r * to->out.n + i, to, i);
    }
    return true;
}

static bool all_gather(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t from = 0; from < n; from++) {
            const struct dense *in = &part_of(all, from)->in;
            copy_part(&part_of(all, r)->out, from * in->n, in, 0, in->n);
        }
    return true;
}

static bool broadcast(struct collective *const *all, uint32_t n, struct err *err)
{
    (void)err;
    const struct dense *in = &part_of(all, (uint32_t)all[0]->root)->in;
    for (uint32_t r = 0; r < n; r++)
        copy_part(&part_of(all, r)->out, 0, in, 0, in->n);
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
            copy_part(&part_of(all, r)->out, splits[r]->receives_at[from], &part_of(all, from)->in,
                      splits[from]->sends_at[r], splits[r]->receives[from]);
    return true;
}

/* ---- A call ---- */

static void meet(struct kernel *k, struct kernel_tensor from, struct kernel_tensor to)
{
    static collective_fn *const functions[] = {
        [COLLECTIVE_REDUCE] = all_reduce,   [COLLECTIVE_SCATTER] = reduce_scatter,
        [COLLECTIVE_GATHER] = all_gather,   [COLLECTIVE_BROADCAST] = broadcast,
        [COLLECTIVE_EXCHANGE] = all_to_all,
    };
    struct collective call;
    struct collective_splits splits = { .sends = { 0 } };
    int64_t size[TENSOR_MAX_DIM];
    struct part part = { .splits = &splits };
    if (!collective_read(k, from, to, &call, &part.op, &splits))
        return;
    part.in = load_tensor(k, from);
    part.out = dense_new(k, part.in.kind, size, tensor_sizes(to, size));
    call.data = &part;
    if (k->failed)
        return;
    if (rank_meet(k->call->caller->backend->rank, &call, functions[k->row->param], k->err))
        store_tensor(k, to, part.out);
    else
        k->failed = true;
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

/* isend and irecv (param 1). A send does not wait: its result has no elements. */
void kernel_message(struct kernel *k)
{
    struct rank *rank = k->call->caller->backend->rank;
    struct kernel_tensor x = tensor_arg(k, "tensor");
    struct dense elements = load_tensor(k, x);
    struct rank_message m = {
        .op = k->call->op->base,
        .group = text_arg(k, "group_name"),
        .peer = int_arg(k, k->row->param ? "src" : "dst", 0),
        .tag = int_arg(k, "tag", 0),
        .dtype = x.meta ? x.meta->dtype : DTYPE_NONE,
        .elements = elements.u.p,
        .n = (size_t)elements.n,
        .each = dense_size(elements.kind),
        .node = k->call->node,
    };
    if (k->failed)
        return;
    if (rank && !(k->row->param ? rank_receive : rank_send)(rank, &m, k->err))
        k->failed = true;
    else if (k->row->param)
        store_tensor(k, result(k, 0), elements);
}

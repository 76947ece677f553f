#include "replay/backend/pad/pad_rules.h"

#include <string.h>

#include "replay/backend/pointwise/pointwise_ops.h"

enum pad_class {
    PAD_EACH,
    PAD_RANDOM,
    PAD_LAYOUT,
    PAD_DIM,
    PAD_DIMS,
    PAD_PRODUCT,
    PAD_RESHAPE,
    PAD_SLICE,
    PAD_SELECT,
    PAD_CAT,
    PAD_REPEAT,
    PAD_FRAME,
    PAD_INDEX,
    PAD_SCATTER,
    PAD_BATCH,
    PAD_NORM,
    PAD_CAUSAL
};

struct pad_rule {
    const char *base;
    enum pad_class class;
    const char *argument, *sizes; /* "": none */
};

static const struct pad_rule rules[] = {
#define PAD(base, class, argument, sizes) { #base, PAD_##class, #argument, #sizes },
#include "replay/backend/pad/pad_rules.def"
#undef PAD
};

/* Returns whether `list`, names with spaces in between, has the name. */
static bool has_name(const char *list, struct str name)
{
    for (struct str rest = str_of(list); rest.n;) {
        size_t space = str_find_char(rest, ' ');
        if (str_eq(str_first(rest, space), name))
            return true;
        rest = str_from(rest, space < rest.n ? space + 1 : rest.n);
    }
    return false;
}

/* Returns the row of the operator; in-place forms have that of the functional one. */
static const struct pad_rule *rule_of(struct str base)
{
    static const struct pad_rule each = { "", PAD_EACH, "", "" };
    if (base.n > 1 && base.p[base.n - 1] == '_' && base.p[base.n - 2] != '_')
        base.n--;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (str_is(base, rules[i].base))
            return &rules[i];
    for (size_t i = 0; i < POINTS; i++)
        if (str_is(base, point_rows[i].base))
            return &each;
    return NULL;
}

/* ---- Sizes ---- */

/* Returns whether the dimension has another size with padding. `dim` may be negative. */
static bool is_padded(struct kernel_tensor plain, struct kernel_tensor padded, int64_t dim)
{
    if (!plain.meta || !padded.meta || plain.meta->ndim == 0)
        return false;
    uint32_t d = wrapped_dim(dim, plain.meta->ndim);
    return plain.meta->size[d] != padded.meta->size[d];
}

static bool any_padded(struct kernel_tensor plain, struct kernel_tensor padded, uint32_t from)
{
    for (uint32_t d = from; plain.meta && d < plain.meta->ndim; d++)
        if (is_padded(plain, padded, d))
            return true;
    return false;
}

static bool mixes(struct buf *reason, struct kernel_tensor plain, struct kernel_tensor padded,
                  int64_t dim)
{
    uint32_t d = plain.meta->ndim ? wrapped_dim(dim, plain.meta->ndim) : 0;
    buf_printf(reason, "it combines elements along dimension %u, padded from %lld to %lld", d,
               (long long)plain.meta->size[d], (long long)padded.meta->size[d]);
    return false;
}

static bool refuse(struct buf *reason, const char *text)
{
    buf_puts(reason, text);
    return false;
}

struct two_tensors {
    struct kernel_tensor plain, padded;
};

static struct two_tensors argument(struct padded_call *c, const char *name)
{
    return (struct two_tensors){ tensor_arg(&c->plain, name), tensor_arg(&c->padded, name) };
}

/* ---- Both calls have the same form ---- */

enum { DEEPEST = 4 };

typedef bool pair_fn(void *user, struct kernel_value plain, struct kernel_value padded);

/* Calls visit() for two values and for each pair of items in them; false ends it. */
static bool each_pair(struct kernel_value plain, struct kernel_value padded, unsigned depth,
                      pair_fn *visit, void *user)
{
    if (plain.kind != padded.kind)
        return false;
    if (!value_has_items(plain))
        return visit(user, plain, padded);
    if (plain.n != padded.n || depth == DEEPEST)
        return false;
    for (uint32_t i = 0; i < plain.n; i++)
        if (!each_pair(plain.u.items[i], padded.u.items[i], depth + 1, visit, user))
            return false;
    return true;
}

static bool same_form(void *user, struct kernel_value plain, struct kernel_value padded)
{
    (void)user;
    if (plain.kind != KERNEL_TENSOR || !plain.u.tensor.meta || !padded.u.tensor.meta)
        return true;
    return plain.u.tensor.meta->ndim == padded.u.tensor.meta->ndim &&
           plain.u.tensor.meta->dtype == padded.u.tensor.meta->dtype;
}

static bool same_sizes(void *user, struct kernel_value plain, struct kernel_value padded)
{
    (void)user;
    return plain.kind != KERNEL_TENSOR || !any_padded(plain.u.tensor, padded.u.tensor, 0);
}

static bool same_numbers(void *user, struct kernel_value plain, struct kernel_value padded)
{
    (void)user;
    switch (plain.kind) {
    case KERNEL_INT:
    case KERNEL_BOOL:
    case KERNEL_FLOAT:
        return memcmp(&plain.u.number.real, &padded.u.number.real, sizeof(double)) == 0 &&
               (plain.kind == KERNEL_FLOAT || plain.u.number.integer == padded.u.number.integer);
    case KERNEL_COMPLEX:
        return memcmp(&plain.u.complex, &padded.u.complex, sizeof plain.u.complex) == 0;
    default: return true;
    }
}

/* Applies visit() to all arguments but those in `without`, and to the results. Returns false for
 * the first one that it refuses; *at: its number, n_args for the results. */
static bool each_value(const struct padded_call *c, const char *without, pair_fn *visit,
                       uint32_t *at)
{
    const struct backend_call *plain = c->plain.call, *padded = c->padded.call;
    for (*at = 0; *at < plain->op->n_args; ++*at)
        if (!has_name(without, plain->op->args[*at].name) &&
            !each_pair(plain->args[*at], padded->args[*at], 0, visit, NULL))
            return false;
    return each_pair(plain->result, padded->result, 0, visit, NULL);
}

/* ---- Classes ---- */

/* Returns whether `dims` names no padded dimension; without that argument, it names all. */
static bool dims_unpadded(struct padded_call *c, struct two_tensors x, const char *dims,
                          struct buf *reason)
{
    bool named[TENSOR_MAX_DIM];
    dims_arg(&c->plain, dims, x.plain.meta->ndim, named);
    for (uint32_t d = 0; d < x.plain.meta->ndim; d++)
        if (named[d] && is_padded(x.plain, x.padded, d))
            return mixes(reason, x.plain, x.padded, d);
    return true;
}

/* Returns whether only the first of these dimensions that is not 1 is padded. */
static bool only_outermost(struct two_tensors x, uint32_t from, uint32_t to)
{
    while (from < to && x.plain.meta->size[from] == 1 && x.padded.meta->size[from] == 1)
        from++;
    for (uint32_t d = from + 1; d < to; d++)
        if (is_padded(x.plain, x.padded, d))
            return false;
    return true;
}

/* Dimensions of the argument and of the result from the innermost on, until both have the same
 * number of elements. */
struct dim_group {
    struct two_tensors x;
    uint32_t from, to; /* of its dimensions */
    int64_t plain, padded;
};

static bool take_dim(struct dim_group *g)
{
    if (g->from == 0)
        return false;
    g->from--;
    return !__builtin_mul_overflow(g->plain, g->x.plain.meta->size[g->from], &g->plain) &&
           !__builtin_mul_overflow(g->padded, g->x.padded.meta->size[g->from], &g->padded);
}

static bool next_group(struct dim_group *in, struct dim_group *out)
{
    in->to = in->from;
    out->to = out->from;
    in->plain = in->padded = out->plain = out->padded = 1;
    if (!take_dim(in->from ? in : out))
        return false;
    while (in->plain != out->plain || in->padded != out->padded) {
        bool of_in =
            in->plain < out->plain || (in->plain == out->plain && in->padded < out->padded);
        if (!take_dim(of_in ? in : out))
            return false;
    }
    return true;
}

/* A padded dimension is the outermost one of those that a reshape merges or splits, in the argument
 * and in the result: then the elements without padding are the first ones of both. */
static bool reshapes_rows(struct two_tensors from, struct two_tensors to, struct buf *reason)
{
    static const char text[] = "it merges or splits a padded dimension that is not the outermost";
    if (!from.plain.meta || !to.plain.meta)
        return refuse(reason, "its argument is no tensor");
    struct dim_group in = { .x = from, .from = from.plain.meta->ndim };
    struct dim_group out = { .x = to, .from = to.plain.meta->ndim };
    while (in.from || out.from)
        if (!next_group(&in, &out) || !only_outermost(from, in.from, in.to) ||
            !only_outermost(to, out.from, out.to))
            return refuse(reason, text);
    return true;
}

static bool same_element(struct padded_call *c, struct two_tensors x, const char *name,
                         struct buf *reason)
{
    int64_t dim = int_arg(&c->plain, "dim", 0);
    int64_t plain = int_arg(&c->plain, name, 0), padded = int_arg(&c->padded, name, 0);
    return (plain == padded && (plain >= 0 || !is_padded(x.plain, x.padded, dim))) ||
           refuse(reason, "it counts from the end of a padded dimension");
}

static bool joins_rows(struct padded_call *c, const char *name, struct buf *reason)
{
    const struct kernel_value *plain, *padded;
    uint32_t n = list_arg(&c->plain, name, &plain);
    int64_t dim = int_arg(&c->plain, "dim", 0);
    if (n == 0 || list_arg(&c->padded, name, &padded) != n)
        return refuse(reason, "its list has another length, or none");
    for (uint32_t i = 0; i < n; i++) {
        if (plain[i].kind != KERNEL_TENSOR || padded[i].kind != KERNEL_TENSOR ||
            !plain[i].u.tensor.meta || plain[i].u.tensor.meta->ndim != plain[0].u.tensor.meta->ndim)
            return refuse(reason, "its tensors have different dimensions");
        if (i + 1 < n && is_padded(plain[i].u.tensor, padded[i].u.tensor, dim))
            return refuse(reason, "it puts elements behind a padded dimension");
    }
    return true;
}

static bool repeats_rows(struct padded_call *c, struct two_tensors x, const char *name,
                         struct buf *reason)
{
    int64_t plain[TENSOR_MAX_DIM], padded[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(&c->plain, name, plain, TENSOR_MAX_DIM);
    if (ints_arg(&c->padded, name, padded, TENSOR_MAX_DIM) != n || !x.plain.meta ||
        n < x.plain.meta->ndim)
        return refuse(reason, "its list has another length");
    for (uint32_t d = 0; d < x.plain.meta->ndim; d++) {
        uint32_t i = n - x.plain.meta->ndim + d;
        if (is_padded(x.plain, x.padded, d) && (plain[i] != 1 || padded[i] != 1))
            return refuse(reason, "it repeats a padded dimension");
    }
    return true;
}

/* The list has the borders before and after each dimension, from the last one on. */
static bool frames_no_row(struct padded_call *c, struct two_tensors x, struct buf *reason)
{
    int64_t border[2 * TENSOR_MAX_DIM];
    uint32_t n = ints_arg(&c->plain, "pad", border, 2 * TENSOR_MAX_DIM);
    for (uint32_t i = 0; x.plain.meta && i + 1 < n && i / 2 < x.plain.meta->ndim; i += 2)
        if ((border[i] || border[i + 1]) && is_padded(x.plain, x.padded, -1 - (int64_t)i / 2))
            return refuse(reason, "it adds a border to a padded dimension");
    return true;
}

static bool is_not_negative(const struct pad_facts *facts, struct kernel_value x)
{
    return x.kind == KERNEL_TENSOR && x.u.tensor.meta && facts &&
           x.u.tensor.storage < facts->not_negative.n && facts->not_negative.v[x.u.tensor.storage];
}

static bool indexes_rows(struct padded_call *c, struct two_tensors x, struct buf *reason)
{
    const struct kernel_value *indices, *padded;
    uint32_t n = list_arg(&c->plain, "indices", &indices);
    if (list_arg(&c->padded, "indices", &padded) != n)
        return refuse(reason, "its list has another length");
    for (uint32_t i = 0; i < n && x.plain.meta; i++) {
        if (indices[i].kind != KERNEL_TENSOR || !indices[i].u.tensor.meta)
            continue;
        enum dtype dtype = indices[i].u.tensor.meta->dtype;
        if (dtype == DTYPE_B8 || dtype == DTYPE_U8)
            return refuse(reason, "its mask chooses elements by their values");
        if (i < x.plain.meta->ndim && is_padded(x.plain, x.padded, i) &&
            !is_not_negative(c->facts, padded[i]))
            return mixes(reason, x.plain, x.padded, i);
    }
    return true;
}

/* Only the first dimension of each tensor is padded. */
static bool pads_rows(void *user, struct kernel_value plain, struct kernel_value padded)
{
    (void)user;
    return plain.kind != KERNEL_TENSOR || !any_padded(plain.u.tensor, padded.u.tensor, 1);
}

static bool keeps_batch(struct padded_call *c, const char *shared, struct buf *reason)
{
    uint32_t at;
    struct two_tensors x = { 0 };
    if (*shared)
        x = argument(c, shared);
    if (!each_value(c, "", pads_rows, &at) || any_padded(x.plain, x.padded, 0))
        return refuse(reason, "it keeps rows of the first dimension apart, and another is padded");
    return true;
}

static bool normalizes_rows(struct padded_call *c, const char *statistics, struct buf *reason)
{
    if (bool_arg(&c->plain, "training", false) || !has_arg(&c->plain, statistics))
        return refuse(reason, "its statistics are those of all rows");
    return keeps_batch(c, statistics, reason);
}

/* A dimension of a result that is padded is the queries'. */
static bool sizes_of_query(void *user, struct kernel_value plain, struct kernel_value padded)
{
    const struct two_tensors *q = user;
    const struct kernel_meta *a = plain.u.tensor.meta, *b = padded.u.tensor.meta;
    bool ok = true;
    for (uint32_t d = 0; ok && plain.kind == KERNEL_TENSOR && a && b && d < a->ndim; d++) {
        ok = a->size[d] == b->size[d];
        for (uint32_t i = 0; !ok && i < q->plain.meta->ndim; i++)
            ok = a->size[d] == q->plain.meta->size[i] && b->size[d] == q->padded.meta->size[i];
    }
    return ok;
}

static bool sees_no_later_key(struct padded_call *c, const char *name, struct buf *reason)
{
    struct two_tensors q = argument(c, "query"), k = argument(c, name);
    if (!q.plain.meta || !k.plain.meta || q.plain.meta->ndim < 2 || k.plain.meta->ndim < 2)
        return refuse(reason, "its argument is no tensor");
    if (real_arg(&c->plain, "dropout_p", 0) != 0)
        return refuse(reason, "random numbers depend on the size");
    if (is_padded(k.plain, k.padded, -1))
        return mixes(reason, k.plain, k.padded, -1);
    bool causal = bool_arg(&c->plain, "is_causal", false);
    for (int i = 0; i < 2 && causal; i++) {
        const struct kernel_meta *a = i ? q.padded.meta : q.plain.meta;
        const struct kernel_meta *b = i ? k.padded.meta : k.plain.meta;
        causal = a->size[a->ndim - 2] == b->size[b->ndim - 2];
    }
    if (is_padded(k.plain, k.padded, -2) && !causal)
        return refuse(reason, "its softmax is over padded keys, which no causal mask excludes");
    return each_pair(c->plain.call->result, c->padded.call->result, 0, sizes_of_query, &q) ||
           refuse(reason, "a result has other sizes than the queries");
}

static bool class_keeps_rows(struct padded_call *c, const struct pad_rule *rule, struct buf *reason)
{
    bool list = rule->class == PAD_CAT || rule->class == PAD_CAUSAL || rule->class == PAD_BATCH ||
                rule->class == PAD_NORM;
    struct two_tensors x = { 0 };
    if (*rule->argument && !list)
        x = argument(c, rule->argument);
    if (*rule->argument && !list && !x.plain.meta)
        return refuse(reason, "its argument is no tensor");
    switch (rule->class) {
    case PAD_EACH: return true;
    case PAD_RANDOM: return refuse(reason, "random numbers depend on the size");
    case PAD_LAYOUT: return refuse(reason, "it reads memory without regard to rows");
    case PAD_DIM: return dims_unpadded(c, x, "dim", reason);
    case PAD_DIMS: return dims_unpadded(c, x, "dims", reason);
    case PAD_PRODUCT:
        return !is_padded(x.plain, x.padded, -1) || mixes(reason, x.plain, x.padded, -1);
    case PAD_RESHAPE:
        return reshapes_rows(x, (struct two_tensors){ result(&c->plain, 0), result(&c->padded, 0) },
                             reason);
    case PAD_SLICE: return same_element(c, x, "start", reason);
    case PAD_SELECT: return same_element(c, x, "index", reason);
    case PAD_CAT: return joins_rows(c, rule->argument, reason);
    case PAD_REPEAT: return repeats_rows(c, x, "repeats", reason);
    case PAD_FRAME: return frames_no_row(c, x, reason);
    case PAD_INDEX: return indexes_rows(c, x, reason);
    case PAD_SCATTER: {
        struct two_tensors index = argument(c, "index");
        int64_t dim = int_arg(&c->plain, "dim", 0);
        if (is_padded(x.plain, x.padded, dim))
            return mixes(reason, x.plain, x.padded, dim);
        return !is_padded(index.plain, index.padded, dim) ||
               mixes(reason, index.plain, index.padded, dim);
    }
    case PAD_BATCH: return keeps_batch(c, rule->argument, reason);
    case PAD_NORM: return normalizes_rows(c, rule->argument, reason);
    case PAD_CAUSAL: return sees_no_later_key(c, rule->argument, reason);
    }
    return false;
}

/* ---- Written arguments ---- */

/* Returns whether the tensor has all elements of its memory. */
static bool is_whole(const struct backend_call *call, struct kernel_tensor x)
{
    const struct memory *m = x.meta ? storage_at(call->storages, x.storage) : NULL;
    return m && x.meta->countable && x.meta->addressable && m->bytes == x.meta->bytes &&
           m->bytes == x.meta->reach;
}

/* A written argument that is padded is all of its memory: rows that padding adds to a view may be
 * rows of what it views. */
static bool writes_rows(const struct padded_call *c, struct buf *reason)
{
    const struct backend_call *plain = c->plain.call, *padded = c->padded.call;
    for (uint32_t i = 0; i < plain->op->n_args; i++) {
        struct kernel_value a = plain->args[i], b = padded->args[i];
        if (!plain->op->args[i].written || a.kind == KERNEL_NONE)
            continue;
        if (a.kind != KERNEL_TENSOR || b.kind != KERNEL_TENSOR ||
            (any_padded(a.u.tensor, b.u.tensor, 0) && !is_whole(padded, b.u.tensor)))
            return refuse(reason, "it writes to a part of a padded tensor");
    }
    return true;
}

bool padded_call_keeps_rows(struct padded_call *c, struct buf *reason)
{
    const struct backend_op *op = c->plain.call->op;
    const struct pad_rule *rule = rule_of(op->base);
    uint32_t at;
    if (!each_value(c, "", same_form, &at))
        return refuse(reason, "with padding it has other arguments");
    bool layout = rule && rule->class == PAD_LAYOUT;
    if (!layout && each_value(c, "", same_sizes, &at) && each_value(c, "", same_numbers, &at))
        return true;
    if (n_results(&c->plain) == 0 && !op->returns_tensors)
        return true;
    if (!rule)
        return refuse(reason, "no rule says that it keeps rows apart");
    if (!each_value(c, rule->sizes, same_numbers, &at)) {
        if (at == op->n_args)
            return refuse(reason, "it returns another number");
        buf_printf(reason, "its argument %.*s depends on the padded size",
                   STR_ARG(op->args[at].name));
        return false;
    }
    return class_keeps_rows(c, rule, reason) && writes_rows(c, reason) && !c->plain.failed &&
           !c->padded.failed;
}

/* ---- Facts ---- */

static bool set_not_negative(struct pad_facts *facts, struct kernel_tensor x, bool yes)
{
    while (yes && x.meta && facts->not_negative.n <= x.storage)
        if (!vec_push(&facts->not_negative, false))
            return false;
    if (x.meta && x.storage < facts->not_negative.n)
        facts->not_negative.v[x.storage] = yes;
    return true;
}

/* Views are on the storage of what they view, and need no rule. */
static bool result_is_not_negative(struct padded_call *c, const struct pad_facts *facts)
{
    struct str base = c->padded.call->op->base;
    if (str_is(base, "arange") || str_is(base, "iota"))
        return real_arg(&c->padded, "start", 0) >= 0 && real_arg(&c->padded, "step", 1) >= 0;
    return (str_is(base, "clone") || str_is(base, "_to_copy")) &&
           is_not_negative(facts, value_arg(&c->padded, "self"));
}

bool padded_call_note(struct padded_call *c, struct pad_facts *facts)
{
    const struct backend_call *call = c->padded.call;
    for (uint32_t i = 0; i < call->op->n_args; i++)
        if (call->op->args[i].written && call->args[i].kind == KERNEL_TENSOR)
            set_not_negative(facts, call->args[i].u.tensor, false);
    return !result_is_not_negative(c, facts) ||
           set_not_negative(facts, result(&c->padded, 0), true);
}

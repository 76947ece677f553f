/* Calls with batched tensors: levels, slices, and what happens where no batching rule is known. */
#include "replay/ops/python/vmap/vmap.h"

#include "replay/ops/python/python_internal.h"

/* --- Batched tensors --- */

const struct batched *vmap_batched(const struct ops *ops, struct tensor x, int64_t level)
{
    const struct batched *batched =
        x.meta && x.batch && x.batch <= ops->batched.n ? &ops->batched.v[x.batch - 1] : NULL;
    return batched && batched->level == level ? batched : NULL;
}

/* Returns whole without its dimension `dim`. */
static struct tensor slice_of(struct call *c, struct tensor whole, uint32_t dim)
{
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t n = 0;
    for (uint32_t i = 0; i < whole.meta->ndim; i++) {
        if (i == dim)
            continue;
        size[n] = whole.meta->size[i];
        stride[n++] = whole.meta->stride[i];
    }
    return new_view(c, whole, size, stride, n, whole.meta->offset);
}

struct tensor vmap_batch(struct call *c, struct tensor whole, uint32_t dim, int64_t level)
{
    struct ops *ops = c->ops;
    struct tensor slice = slice_of(c, whole, dim);
    if (c->failed)
        return slice;
    if (ops->batched.n >= UINT16_MAX)
        return unsupported(c, "more than %d batched tensors", UINT16_MAX), slice;
    if (vec_push(&ops->batched, (struct batched){ whole, dim, level }))
        slice.batch = (uint16_t)ops->batched.n;
    else
        python_no_memory(c);
    return slice;
}

/* Returns the stride of the batch dimension of a tensor of which only a slice is known: a slice may
 * be a view of a larger tensor, and sizes of a contiguous one count at least 1
 * (make_contiguous_strides_for). */
static sym_id batch_stride(struct call *c, struct tensor slice)
{
    sym_id whole = SYM_ID_ONE, outer = slice.meta->ndim ? slice.meta->stride[0] : SYM_ID_ONE;
    bool dense = true;
    for (uint32_t i = slice.meta->ndim; i-- > 1;) {
        whole = mul(c, whole, slice.meta->size[i]);
        dense &= slice.meta->stride[i - 1] != SYM_ID_ONE && slice.meta->stride[i] != SYM_ID_ZERO;
    }
    if (!slice.meta->ndim)
        return SYM_ID_ONE;
    return dense ? mul(c, outer, sym_max2(c, slice.meta->size[0], SYM_ID_ONE))
                 : mul(c, whole, slice.meta->size[0]);
}

/* Returns a tensor of which `slice` is one item of the first dimension. */
struct tensor vmap_whole(struct call *c, struct tensor slice, sym_id batch)
{
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    uint32_t n = slice.meta->ndim;
    if (n >= TENSOR_MAX_DIM)
        return unsupported(c, "a batched tensor of too many dimensions"), slice;
    size[0] = batch;
    stride[0] = batch_stride(c, slice);
    memcpy(size + 1, slice.meta->size, n * sizeof *size);
    memcpy(stride + 1, slice.meta->stride, n * sizeof *stride);
    return new_view(c, slice, size, stride, n + 1, slice.meta->offset);
}

/* --- Calls --- */

static void find_level(const struct ops *ops, struct value value, int64_t *level, sym_id *size,
                       unsigned depth)
{
    if (value.kind == VALUE_TENSOR && value.u.tensor.batch) {
        const struct batched *batched = &ops->batched.v[value.u.tensor.batch - 1];
        if (batched->level < *level)
            return;
        *level = batched->level;
        *size = batched->whole.meta->size[batched->dim];
    }
    for (uint32_t i = 0; value_is_sequence(value) && i < value.n && depth < 2; i++)
        find_level(ops, value.u.items[i], level, size, depth + 1);
}

enum result_kind { RESULT_WHOLE, RESULT_SLICE };

/* Makes every tensor of a result batched: of what a rule returned, which has the batch at `dim`, or
 * of a slice that a call computed without a rule. */
static void batch_results(struct vmap_call *v, struct value *value, enum result_kind kind,
                          uint32_t dim, unsigned depth)
{
    struct call *c = v->call;
    if (value->kind == VALUE_TENSOR) {
        struct tensor x = value->u.tensor;
        if (kind == RESULT_SLICE && vmap_batched(v->ops, x, v->level))
            return;
        struct tensor whole = kind == RESULT_WHOLE ? x : vmap_whole(c, x, v->size);
        if (!c->failed && (kind == RESULT_SLICE || dim < whole.meta->ndim))
            *value = value_tensor(vmap_batch(c, whole, kind == RESULT_WHOLE ? dim : 0, v->level));
    }
    struct value *items = value_is_sequence(*value) ? (struct value *)value->u.items : NULL;
    for (uint32_t i = 0; items && i < value->n && depth < 2; i++)
        batch_results(v, &items[i], kind, dim, depth + 1);
}

static struct value without_batch(struct vmap_call *v, struct value value, unsigned depth)
{
    if (value.kind == VALUE_TENSOR)
        value.u.tensor.batch = 0;
    if (!value_is_sequence(value) || !value.n || depth > 1)
        return value;
    struct value *items = ops_values(v->ops, value.n);
    if (!items) {
        python_no_memory(v->call);
        return value;
    }
    for (uint32_t i = 0; i < value.n; i++)
        items[i] = without_batch(v, value.u.items[i], depth + 1);
    return value_items(value.kind, items, value.n);
}

/* An in-place form returns the argument that it writes, with its batch. */
static bool returns_argument(const struct vmap_call *v, struct value *ret)
{
    for (uint32_t i = 0; ret->kind == VALUE_TENSOR && i < v->op->schema.n_args; i++) {
        struct value arg = v->args[i];
        if (arg.kind == VALUE_TENSOR && v->op->schema.args[i].written &&
            arg.u.tensor.storage == ret->u.tensor.storage &&
            arg.u.tensor.meta == ret->u.tensor.meta) {
            *ret = arg;
            return true;
        }
    }
    return false;
}

/* Composite operators are decomposed, and their calls have rules (BatchRulesDecompositions.cpp). */
static enum op_outcome call_decomposed(struct vmap_call *v, struct value *ret)
{
    struct call c = call_of(v->ops, v->op, v->args);
    if (v->ops->nesting >= OPS_MAX_DEPTH)
        return ops_unsupported(v->ops, "%.*s: its calls nest too deep", STR_ARG(v->op->name));
    enum op_outcome outcome = compute_call(&c);
    *ret = c.ret;
    return outcome;
}

static enum op_outcome call_slices(struct vmap_call *v, struct value *ret)
{
    struct value args[OPS_MAX_ARGS];
    for (uint32_t i = 0; i < v->op->schema.n_args; i++)
        args[i] = without_batch(v, v->args[i], 0);
    return v->call->failed ? v->ops->outcome : ops_dispatch_slices(v->ops, v->op, args, ret);
}

enum op_outcome vmap_call(struct ops *ops, struct op *op, struct value *bound, struct value *ret)
{
    struct call c = call_of(ops, op, bound);
    struct vmap_call v = {
        .ops = ops,
        .op = op,
        .call = &c,
        .level = INT64_MIN,
        .size = SYM_ID_ONE,
        .args = bound,
        .outcome = OP_DONE,
    };
    uint32_t dim = 0;
    for (uint32_t i = 0; i < op->schema.n_args; i++)
        find_level(ops, bound[i], &v.level, &v.size, 0);
    *ret = value_none();
    if (op->composite)
        v.outcome = call_decomposed(&v, ret);
    else if (vmap_run_rule(&v, ret, &dim)) {
        bool first = v.first_alone && ret->kind == VALUE_TUPLE && ret->n;
        struct value *batched = first ? (struct value *)ret->u.items : ret;
        if (v.outcome == OP_DONE)
            batch_results(&v, batched, RESULT_WHOLE, dim, 0);
        return c.failed && v.outcome == OP_DONE ? ops->outcome : v.outcome;
    } else
        v.outcome = call_slices(&v, ret);
    if (v.outcome == OP_DONE && !returns_argument(&v, ret))
        batch_results(&v, ret, RESULT_SLICE, 0, 0);
    return c.failed && v.outcome == OP_DONE ? ops->outcome : v.outcome;
}

/* vmap's batching rules: what is called on whole tensors for a call on their slices. */
#include "replay/ops/python/python_internal.h"
#include "replay/ops/python/vmap/vmap.h"

#include <stdlib.h>

/* --- Helpers of rules --- */

static struct value call_bound(struct vmap_call *v, struct value *bound)
{
    struct value ret = value_none();
    if (v->outcome == OP_DONE)
        v->outcome = ops_dispatch_bound(v->ops, v->op, bound, &ret);
    return ret;
}

static struct value call_named(struct vmap_call *v, const char *name, const struct value *args,
                               uint32_t n)
{
    struct value ret = value_none();
    struct op *op = op_table_find(&v->ops->table, str_of(name));
    if (v->outcome == OP_DONE)
        v->outcome = op ? ops_dispatch(v->ops, op, &(struct arguments){ args, n, NULL, 0 }, &ret)
                        : ops_unsupported(v->ops, "%s", name);
    return ret;
}
#define RUN(v, name, ...)                                          \
    call_named((v), (name), (const struct value[]){ __VA_ARGS__ }, \
               (uint32_t)(sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))

static struct value list_of(struct vmap_call *v, const struct value *items, uint32_t n)
{
    struct value *copy = ops_values(v->ops, n);
    if (!copy && v->outcome == OP_DONE)
        v->outcome = ops_no_memory(v->ops);
    if (copy && n)
        memcpy(copy, items, n * sizeof *copy);
    return value_items(VALUE_LIST, copy, copy ? n : 0);
}

static struct value integer(struct vmap_call *v, int64_t n)
{
    return py_int(v->call, n);
}

static uint32_t rank_of(struct value x)
{
    return x.kind == VALUE_TENSOR ? x.u.tensor.meta->ndim : 0;
}

static bool is_batched(const struct vmap_call *v, struct value x)
{
    return x.kind == VALUE_TENSOR && vmap_batched(v->ops, x.u.tensor, v->level);
}

/* moveBatchDimToFront (BatchRulesHelper.cpp) of a tensor that is batched; others are left. */
static struct value to_front(struct vmap_call *v, struct value x)
{
    const struct batched *batched =
        x.kind == VALUE_TENSOR ? vmap_batched(v->ops, x.u.tensor, v->level) : NULL;
    struct value order[TENSOR_MAX_DIM], whole;
    uint32_t n = 0;
    if (!batched)
        return x;
    whole = value_tensor(batched->whole);
    if (!batched->dim)
        return whole;
    order[n++] = integer(v, batched->dim);
    for (uint32_t i = 0; i < batched->whole.meta->ndim; i++)
        if (i != batched->dim)
            order[n++] = integer(v, i);
    return RUN(v, "aten.permute.default", whole, list_of(v, order, n));
}

/* maybePadToLogicalRank: a view with sizes of 1 behind the batch. */
static struct value padded(struct vmap_call *v, struct value front, uint32_t rank)
{
    struct value sizes[TENSOR_MAX_DIM];
    uint32_t n = 0, now = rank_of(front) - 1;
    if (v->outcome != OP_DONE || front.kind != VALUE_TENSOR || now >= rank ||
        rank >= TENSOR_MAX_DIM)
        return front;
    const struct tensor_meta *meta = front.u.tensor.meta;
    sizes[n++] = value_int(meta->size[0]);
    for (uint32_t i = now; i < rank; i++)
        sizes[n++] = integer(v, 1);
    for (uint32_t i = 1; i <= now; i++)
        sizes[n++] = value_int(meta->size[i]);
    return RUN(v, "aten.view.default", front, list_of(v, sizes, n));
}

/* ensure_has_bdim: expands a tensor that is not batched. */
static struct value with_batch(struct vmap_call *v, struct value x)
{
    struct value sizes[TENSOR_MAX_DIM];
    uint32_t n = 0;
    if (is_batched(v, x))
        return to_front(v, x);
    if (x.kind != VALUE_TENSOR || rank_of(x) + 1 >= TENSOR_MAX_DIM)
        return x;
    sizes[n++] = value_int(v->size);
    for (uint32_t i = 0; i < rank_of(x); i++)
        sizes[n++] = value_int(x.u.tensor.meta->size[i]);
    struct value one = RUN(v, "aten.unsqueeze.default", x, integer(v, 0));
    return RUN(v, "aten.expand.default", one, list_of(v, sizes, n));
}

/* --- Rules: false if there is none for these arguments --- */

typedef bool vmap_rule(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim);

/* BASIC_UNARY_BATCH_RULE: the batch stays where it is. */
static bool batch_same(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    (void)extra;
    if (!is_batched(v, v->args[0]))
        return false;
    const struct batched *batched = vmap_batched(v->ops, v->args[0].u.tensor, v->level);
    *dim = batched->dim;
    v->args[0] = value_tensor(batched->whole);
    *ret = call_bound(v, v->args);
    return true;
}

/* clone_batch_rule: in the contiguous format the batch comes first. */
static bool batch_clone(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value format = v->args[1];
    if (format.kind != VALUE_MEMORY_FORMAT || format.u.memory_format != FORMAT_CONTIGUOUS)
        return batch_same(v, extra, ret, dim);
    v->args[0] = to_front(v, v->args[0]);
    *ret = call_bound(v, v->args);
    return true;
}

static bool takes_tensor(const struct schema_slot *slot)
{
    return slot->type == SCHEMA_TENSOR && !slot->list;
}

/* _binary_pointwise_batch_rule, and its like for three tensors. */
static bool batch_pointwise(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    const struct schema *schema = &v->op->schema;
    uint32_t tensors = 0, rank = 0;
    for (uint32_t i = 0; i < schema->n_args; i++) {
        if (schema->args[i].type == SCHEMA_TENSOR && schema->args[i].list)
            return false;
        if (!takes_tensor(&schema->args[i]))
            continue;
        tensors++;
        if (rank_of(v->args[i]) > rank)
            rank = rank_of(v->args[i]);
    }
    if (tensors == 1)
        return batch_same(v, extra, ret, dim);
    for (uint32_t i = 0; i < schema->n_args; i++)
        if (takes_tensor(&schema->args[i]) && is_batched(v, v->args[i]))
            v->args[i] = padded(v, to_front(v, v->args[i]), rank);
    *ret = call_bound(v, v->args);
    return true;
}

static bool is_dim(const struct schema_slot *slot)
{
    static const char *const names[] = { "dim", "dims", "dim0", "dim1", "dim2", "dimension" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(slot->name, names[i]))
            return true;
    return false;
}

/* getPhysicalDim(): a dimension of the slice, counted in the whole. */
static bool shift_dim(struct vmap_call *v, struct value *dim, uint32_t rank)
{
    int64_t n;
    if (dim->kind != VALUE_INT || !sym_to_i64(v->call->pool, dim->u.sym, &n))
        return false;
    n += n < 0 ? rank : 0;
    if (n < 0 || n >= rank)
        return false;
    *dim = integer(v, n + 1);
    return true;
}

static bool shift_dims(struct vmap_call *v, struct value *dims, uint32_t rank)
{
    if (dims->kind == VALUE_INT)
        return shift_dim(v, dims, rank);
    struct value items[TENSOR_MAX_DIM];
    if (!value_is_sequence(*dims) || dims->n > TENSOR_MAX_DIM)
        return false;
    if (dims->n)
        memcpy(items, dims->u.items, dims->n * sizeof *items);
    for (uint32_t i = 0; i < dims->n; i++)
        if (!shift_dim(v, &items[i], rank))
            return false;
    *dims = list_of(v, items, dims->n);
    return true;
}

static bool batch_dims(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    const struct schema *schema = &v->op->schema;
    struct value args[OPS_MAX_ARGS];
    uint32_t rank = rank_of(v->args[0]) + (uint32_t)extra;
    bool has_dim = false;
    if (!is_batched(v, v->args[0]) || !rank)
        return false;
    memcpy(args, v->args, schema->n_args * sizeof *args);
    for (uint32_t i = 1; i < schema->n_args; i++) {
        if (args[i].kind == VALUE_TENSOR)
            return false;
        if (!is_dim(&schema->args[i]))
            continue;
        has_dim = true;
        if (!shift_dims(v, &args[i], rank))
            return false;
    }
    if (!has_dim)
        return false;
    args[0] = to_front(v, args[0]);
    *ret = call_bound(v, args);
    *dim = 0;
    return true;
}

/* boxed_reduction_batch_rule: without dimensions, all but the batch are reduced. */
static bool batch_reduce(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    const struct schema *schema = &v->op->schema;
    uint32_t rank = rank_of(v->args[0]);
    struct value dims[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = integer(v, i + 1);
    for (uint32_t i = 1; i < schema->n_args; i++)
        if (is_dim(&schema->args[i])) {
            if (v->args[i].kind != VALUE_NONE && !(value_is_sequence(v->args[i]) && !v->args[i].n))
                return batch_dims(v, extra, ret, dim);
            if (!rank || !is_batched(v, v->args[0]))
                return false;
            v->args[i] = list_of(v, dims, rank);
            v->args[0] = to_front(v, v->args[0]);
            *ret = call_bound(v, v->args);
            return true;
        }
    /* sum(x) and mean(x) are decomposed to the overload with dimensions. */
    if (!rank || !is_batched(v, v->args[0]) || schema->n_args < 2 ||
        (!str_is(schema->base, "sum") && !str_is(schema->base, "mean")))
        return false;
    struct value front = to_front(v, v->args[0]);
    *ret = RUN(v, str_is(schema->base, "sum") ? "aten.sum.dim_IntList" : "aten.mean.dim", front,
               list_of(v, dims, rank));
    return true;
}

static bool batch_permute(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value dims = v->args[1], order[TENSOR_MAX_DIM];
    (void)extra;
    (void)dim;
    if (!is_batched(v, v->args[0]) || dims.n + 1 > TENSOR_MAX_DIM ||
        !shift_dims(v, &dims, rank_of(v->args[0])))
        return false;
    order[0] = integer(v, 0);
    if (dims.n)
        memcpy(order + 1, dims.u.items, dims.n * sizeof *order);
    v->args[1] = list_of(v, order, dims.n + 1);
    v->args[0] = to_front(v, v->args[0]);
    *ret = call_bound(v, v->args);
    return true;
}

static bool prepend_batch(struct vmap_call *v, struct value *sizes)
{
    struct value all[TENSOR_MAX_DIM];
    if (!value_is_sequence(*sizes) || sizes->n + 1 > TENSOR_MAX_DIM)
        return false;
    all[0] = value_int(v->size);
    if (sizes->n)
        memcpy(all + 1, sizes->u.items, sizes->n * sizeof *all);
    *sizes = list_of(v, all, sizes->n + 1);
    return true;
}

static bool batch_view(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    (void)extra;
    (void)dim;
    if (!is_batched(v, v->args[0]) || !prepend_batch(v, &v->args[1]))
        return false;
    v->args[0] = to_front(v, v->args[0]);
    *ret = call_bound(v, v->args);
    return true;
}

static bool batch_expand(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    uint32_t rank = v->args[1].n;
    (void)extra;
    (void)dim;
    if (!is_batched(v, v->args[0]) || !prepend_batch(v, &v->args[1]))
        return false;
    v->args[0] = padded(v, to_front(v, v->args[0]), rank);
    *ret = call_bound(v, v->args);
    return true;
}

/* cat and stack: tensors that are not batched are expanded. */
static bool batch_join(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value list = v->args[0];
    (void)dim;
    if (!value_is_sequence(list) || !list.n || list.n > 4096)
        return false;
    uint32_t rank = rank_of(list.u.items[0]) + (uint32_t)extra;
    for (uint32_t i = 0; i < list.n; i++)
        if (list.u.items[i].kind != VALUE_TENSOR ||
            rank_of(list.u.items[i]) + (uint32_t)extra != rank)
            return false;
    if (!shift_dim(v, &v->args[1], rank))
        return false;
    v->args[0] = list_of(v, list.u.items, list.n);
    for (uint32_t i = 0; i < v->args[0].n; i++)
        ((struct value *)v->args[0].u.items)[i] = with_batch(v, list.u.items[i]);
    *ret = call_bound(v, v->args);
    return true;
}

/* mm_batch_rule, bmm_batch_rule (BatchRulesLinearAlgebra.cpp). */
static bool batch_matmul(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    (void)extra;
    (void)dim;
    struct value a = to_front(v, v->args[0]), b = to_front(v, v->args[1]);
    *ret = RUN(v, "aten.matmul.default", a, b);
    return true;
}

/* --- Convolutions (BatchRulesConvolution.cpp) --- */

/* sizes() of a tensor makes numbers of all of them (_DISPATCH_META_HANDLERS of
 * torch/_subclasses/fake_tensor.py). */
static void read_sizes(struct vmap_call *v, const struct tensor_meta *meta, sym_id *ret)
{
    for (uint32_t i = 0; i < meta->ndim; i++)
        ret[i] = num(v->call, guard_int(v->call, meta->size[i]));
}

/* reshape_dim_into (BatchRulesHelper.cpp): joins a batch dimension with dimension `to` of the
 * slice. */
static struct value joined_batch(struct vmap_call *v, struct value x, uint32_t to)
{
    const struct batched *batched = vmap_batched(v->ops, x.u.tensor, v->level);
    struct value whole = value_tensor(batched->whole), sizes[TENSOR_MAX_DIM];
    sym_id number[TENSOR_MAX_DIM];
    uint32_t n = 0, rank = rank_of(whole);
    read_sizes(v, whole.u.tensor.meta, number);
    for (uint32_t i = 0; i < rank; i++)
        if (i != batched->dim) {
            sym_id all = n == to ? mul(v->call, number[i], number[batched->dim]) : number[i];
            sizes[n++] = value_int(all);
        }
    struct value moved =
        RUN(v, "aten.movedim.int", whole, integer(v, batched->dim), integer(v, to));
    return RUN(v, "aten.reshape.default", moved, list_of(v, sizes, n));
}

/* reshape_dim_outof: splits dimension `from`, whose first part is the batch. */
static struct value split_batch(struct vmap_call *v, struct value x, uint32_t from, sym_id batch)
{
    struct value sizes[TENSOR_MAX_DIM];
    uint32_t n = 0;
    if (v->outcome != OP_DONE || x.kind != VALUE_TENSOR || rank_of(x) >= TENSOR_MAX_DIM)
        return x;
    for (uint32_t i = 0; i < rank_of(x); i++) {
        sym_id size = x.u.tensor.meta->size[i];
        if (i == from) {
            sizes[n++] = value_int(batch);
            size = floordiv(v->call, size, batch);
        }
        sizes[n++] = value_int(size);
    }
    return RUN(v, "aten.reshape.default", x, list_of(v, sizes, n));
}

enum convolution_argument {
    CONV_INPUT,
    CONV_WEIGHT,
    CONV_BIAS,
    CONV_TRANSPOSED = 6,
    CONV_GROUPS = 8
};

/* Adds a bias that was left out of the convolution. */
static struct value with_bias(struct vmap_call *v, struct value result, struct value bias,
                              uint32_t dim)
{
    struct value order[TENSOR_MAX_DIM], added = to_front(v, bias);
    uint32_t rank = rank_of(result), n = 0;
    if (v->outcome != OP_DONE)
        return result;
    order[n++] = integer(v, dim);
    for (uint32_t i = 0; i < rank; i++)
        if (i != dim)
            order[n++] = integer(v, i);
    if (dim)
        result = RUN(v, "aten.permute.default", result, list_of(v, order, n));
    for (uint32_t i = 3; i < rank; i++)
        added = RUN(v, "aten.unsqueeze.default", added, integer(v, -1));
    if (is_batched(v, bias))
        added = padded(v, added, rank - 1);
    return RUN(v, "aten.add.Tensor", result, added);
}

/* convolution_batch_rule; weights alone that are batched have no rule if there are groups. */
static bool batch_convolution(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value args[OPS_MAX_ARGS], bias = v->args[CONV_BIAS];
    bool x = is_batched(v, v->args[CONV_INPUT]), w = is_batched(v, v->args[CONV_WEIGHT]);
    bool transposed = v->args[CONV_TRANSPOSED].u.sym == SYM_ID_TRUE;
    sym_id groups = v->args[CONV_GROUPS].u.sym;
    (void)extra;
    if ((!x && !w) || (!x && groups != SYM_ID_ONE) || v->op->schema.n_args != 9)
        return false;
    bool separate = bias.kind == VALUE_TENSOR && (w || is_batched(v, bias));
    memcpy(args, v->args, v->op->schema.n_args * sizeof *args);
    if (separate)
        args[CONV_BIAS] = value_none();
    if (x)
        args[CONV_INPUT] = joined_batch(v, args[CONV_INPUT], w ? 1 : 0);
    if (w)
        args[CONV_WEIGHT] = joined_batch(v, args[CONV_WEIGHT], !x && transposed ? 1 : 0);
    if (x && w)
        args[CONV_GROUPS] = value_int(mul(v->call, groups, v->size));
    *ret = split_batch(v, call_bound(v, args), w ? 1 : 0, v->size);
    *dim = w ? 1 : 0;
    if (!separate)
        return true;
    *ret = with_bias(v, *ret, bias, *dim);
    *dim = 0;
    return true;
}

/* --- Normalizations (BatchRulesNorm.cpp) --- */

static bool has_batched(const struct vmap_call *v, uint32_t first, uint32_t n)
{
    for (uint32_t i = first; i < first + n; i++)
        if (is_batched(v, v->args[i]))
            return true;
    return false;
}

/* sizes() of a tensor; of a batched one, those of the whole. */
static void read_sizes_of(struct vmap_call *v, struct value x)
{
    const struct batched *batched =
        x.kind == VALUE_TENSOR ? vmap_batched(v->ops, x.u.tensor, v->level) : NULL;
    sym_id ignored[TENSOR_MAX_DIM];
    if (v->outcome == OP_DONE && x.kind == VALUE_TENSOR)
        read_sizes(v, batched ? batched->whole.meta : x.u.tensor.meta, ignored);
}

static bool is_tuple_of(struct value x, uint32_t n)
{
    return x.kind == VALUE_TUPLE && x.n == n;
}

/* check_same_shape of _check_layer_norm_inputs: sizes() of a weight against the normalized shape.
 */
static void check_weight_shape(struct vmap_call *v, struct value weight, struct value shape)
{
    sym_id number[TENSOR_MAX_DIM];
    struct value whole = to_front(v, weight);
    uint32_t first = is_batched(v, weight) ? 1 : 0;
    if (v->outcome != OP_DONE || whole.kind != VALUE_TENSOR || rank_of(whole) != shape.n + first)
        return;
    read_sizes(v, whole.u.tensor.meta, number);
    for (uint32_t i = 0; i < shape.n; i++)
        if (guard_bool(v->call, ne(v->call, shape.u.items[i].u.sym, number[i + first])))
            return;
}

enum layer_norm_argument { LAYER_INPUT, LAYER_SHAPE, LAYER_WEIGHT, LAYER_BIAS };

/* The normalized input times a weight, or plus a bias, where one of the two is batched. */
static struct value scaled_layer(struct vmap_call *v, struct value x, uint32_t argument)
{
    struct value weight = v->args[argument];
    uint32_t rank = rank_of(v->args[LAYER_INPUT]);
    if (weight.kind != VALUE_TENSOR)
        return x;
    struct value front = to_front(v, weight);
    if (is_batched(v, weight))
        front = padded(v, front, rank);
    return RUN(v, argument == LAYER_WEIGHT ? "aten.mul.Tensor" : "aten.add.Tensor", x, front);
}

/* native_layer_norm_batch_rule; compute_stat_bdim reads the sizes of the means, which are batched
 * with the input. */
static bool batch_layer_norm(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value args[OPS_MAX_ARGS], items[3];
    bool weights = has_batched(v, LAYER_WEIGHT, 2);
    (void)extra;
    (void)dim;
    v->first_alone = !is_batched(v, v->args[LAYER_INPUT]);
    if (v->first_alone && !weights)
        return false;
    memcpy(args, v->args, v->op->schema.n_args * sizeof *args);
    args[LAYER_INPUT] = to_front(v, args[LAYER_INPUT]);
    if (weights) {
        check_weight_shape(v, args[LAYER_WEIGHT], args[LAYER_SHAPE]);
        check_weight_shape(v, args[LAYER_BIAS], args[LAYER_SHAPE]);
        args[LAYER_WEIGHT] = args[LAYER_BIAS] = value_none();
    }
    *ret = call_bound(v, args);
    if (v->outcome != OP_DONE || !is_tuple_of(*ret, 3))
        return true;
    if (!v->first_alone)
        read_sizes_of(v, ret->u.items[1]);
    if (!weights)
        return true;
    memcpy(items, ret->u.items, sizeof items);
    items[0] = scaled_layer(v, items[0], LAYER_WEIGHT);
    items[0] = scaled_layer(v, items[0], LAYER_BIAS);
    *ret = list_of(v, items, 3);
    ret->kind = VALUE_TUPLE;
    return true;
}

enum group_norm_argument { GROUP_INPUT, GROUP_WEIGHT, GROUP_BIAS, GROUP_N, GROUP_C, GROUP_HXW };

/* padRight: a view with sizes of 1 behind those of a weight, which sizes() makes numbers. */
static struct value padded_right(struct vmap_call *v, struct value weight, uint32_t rank)
{
    struct value sizes[TENSOR_MAX_DIM];
    sym_id number[TENSOR_MAX_DIM];
    uint32_t n = 0;
    if (v->outcome != OP_DONE || weight.kind != VALUE_TENSOR || rank_of(weight) >= rank)
        return weight;
    read_sizes(v, weight.u.tensor.meta, number);
    for (; n < rank_of(weight) && n < TENSOR_MAX_DIM; n++)
        sizes[n] = value_int(number[n]);
    for (; n < rank && n < TENSOR_MAX_DIM; n++)
        sizes[n] = integer(v, 1);
    return RUN(v, "aten.view.default", weight, list_of(v, sizes, n));
}

/* native_group_norm_plumbing takes integers, of which C++ converts the last one first. */
static bool batch_group_norm(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value args[OPS_MAX_ARGS], items[3];
    (void)extra;
    (void)dim;
    if (!is_batched(v, v->args[GROUP_INPUT]) || has_batched(v, GROUP_WEIGHT, 2))
        return false;
    memcpy(args, v->args, v->op->schema.n_args * sizeof *args);
    for (uint32_t i = GROUP_HXW; i >= GROUP_N; i--)
        args[i] = value_int(num(v->call, guard_int(v->call, args[i].u.sym)));
    args[GROUP_INPUT] = joined_batch(v, args[GROUP_INPUT], 0);
    args[GROUP_N] = value_int(mul(v->call, args[GROUP_N].u.sym, v->size));
    args[GROUP_WEIGHT] = args[GROUP_BIAS] = value_none();
    *ret = call_bound(v, args);
    if (v->outcome != OP_DONE || ret->kind != VALUE_TUPLE || ret->n != 3)
        return true;
    for (uint32_t i = 0; i < 3; i++)
        items[i] = split_batch(v, ret->u.items[i], 0, v->size);
    for (uint32_t i = GROUP_WEIGHT; i <= GROUP_BIAS && rank_of(items[0]) > 2; i++)
        if (v->args[i].kind == VALUE_TENSOR)
            items[0] = RUN(v, i == GROUP_WEIGHT ? "aten.mul.Tensor" : "aten.add.Tensor", items[0],
                           padded_right(v, v->args[i], rank_of(items[0]) - 2));
    *ret = list_of(v, items, 3);
    ret->kind = VALUE_TUPLE;
    return true;
}

enum batch_norm_argument { BN_INPUT, BN_WEIGHT, BN_BIAS, BN_MEAN, BN_VAR };

/* The whole tensor with the batch in front of dimension `to` of the slice: expanded, if it is not
 * batched (ensure_has_bdim), then joined (reshape_dim_into). */
static struct value joined_with_batch(struct vmap_call *v, struct value x, uint32_t to)
{
    if (is_batched(v, x) || x.kind != VALUE_TENSOR)
        return x.kind == VALUE_TENSOR ? joined_batch(v, x, to) : x;
    struct value whole = with_batch(v, x);
    if (v->outcome != OP_DONE || whole.kind != VALUE_TENSOR)
        return whole;
    return joined_batch(v, value_tensor(vmap_batch(v->call, whole.u.tensor, 0, v->level)), to);
}

/* The running mean or variance, contiguous. */
static struct value joined_statistic(struct vmap_call *v, struct value x)
{
    struct value joined = joined_with_batch(v, x, 0);
    return joined.kind == VALUE_TENSOR ? RUN(v, "aten.contiguous.default", joined) : joined;
}

/* The normalized input, whose channels come before its rows, times a weight or plus a bias. */
static struct value scaled_channels(struct vmap_call *v, struct value x, uint32_t argument)
{
    struct value weight = v->args[argument];
    uint32_t rank = rank_of(v->args[BN_INPUT]) + (is_batched(v, weight) ? 1 : 0);
    if (weight.kind != VALUE_TENSOR)
        return x;
    return RUN(v, argument == BN_WEIGHT ? "aten.mul.Tensor" : "aten.add.Tensor", x,
               padded_right(v, to_front(v, weight), rank));
}

/* batch_norm_batch_rule: the batch of the input or of the statistics becomes a part of the
 * channels. If only weights are batched, the statistics are not. */
static bool batch_batch_norm(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    struct value args[OPS_MAX_ARGS], items[3];
    (void)extra;
    (void)dim;
    v->first_alone = !is_batched(v, v->args[BN_INPUT]) && !has_batched(v, BN_MEAN, 2);
    if (v->first_alone && !has_batched(v, BN_WEIGHT, 2))
        return false;
    memcpy(args, v->args, v->op->schema.n_args * sizeof *args);
    if (!v->first_alone) {
        args[BN_INPUT] = joined_with_batch(v, args[BN_INPUT], 1);
        args[BN_MEAN] = joined_statistic(v, args[BN_MEAN]);
        args[BN_VAR] = joined_statistic(v, args[BN_VAR]);
    }
    read_sizes_of(v, args[BN_INPUT]); /* of the weights that stand for those of the call */
    args[BN_WEIGHT] = args[BN_BIAS] = value_none();
    *ret = call_bound(v, args);
    if (v->outcome != OP_DONE || !is_tuple_of(*ret, 3) || rank_of(ret->u.items[0]) < 2)
        return true;
    memcpy(items, ret->u.items, sizeof items);
    items[0] = RUN(v, "aten.transpose.int", items[0], integer(v, 0), integer(v, 1));
    if (!v->first_alone) {
        for (uint32_t i = 1; i < 3; i++)
            if (rank_of(items[i]))
                items[i] = split_batch(v, items[i], 0, v->size);
        items[0] = split_batch(v, items[0], 0, v->size);
    }
    items[0] = scaled_channels(v, items[0], BN_WEIGHT);
    items[0] = scaled_channels(v, items[0], BN_BIAS);
    items[0] = RUN(v, "aten.transpose.int", items[0], integer(v, 1), integer(v, 2));
    *ret = list_of(v, items, 3);
    ret->kind = VALUE_TUPLE;
    return true;
}

/* --- Sampling (BatchRulesModules.cpp) --- */

/* grid_sample_batch_rule: the batch becomes a part of the channels of the input, of the rows of the
 * grid, or of the samples, if both are batched. */
static bool batch_grid_sample(struct vmap_call *v, int extra, struct value *ret, uint32_t *dim)
{
    bool input = is_batched(v, v->args[0]), grid = is_batched(v, v->args[1]);
    uint32_t into = input && grid ? 0 : 1;
    (void)extra;
    if (!input && !grid)
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (is_batched(v, v->args[i]))
            v->args[i] = joined_batch(v, v->args[i], into);
    *dim = input ? into : 2;
    *ret = split_batch(v, call_bound(v, v->args), *dim, v->size);
    return true;
}

/* --- Rules that read sizes --- */

enum sizes_read { SIZES_FIRST, SIZES_SELF };

static const struct sizes_row {
    const char *base;
    enum sizes_read whose;
} sizes_rows[] = {
#define VMAP_SIZES(base, whose) { base, SIZES_##whose },
#include "replay/ops/python/vmap/vmap_sizes.def"
#undef VMAP_SIZES
};

static int compare_sizes_row(const void *key, const void *row)
{
    return str_cmp(*(const struct str *)key, str_of(((const struct sizes_row *)row)->base));
}

/* Returns the first tensor among values, and in lists of them, that is batched, or NULL. */
static const struct batched *first_batched(const struct vmap_call *v, const struct value *values,
                                           uint32_t n, unsigned depth)
{
    const struct batched *ret = NULL;
    for (uint32_t i = 0; i < n && !ret; i++) {
        if (values[i].kind == VALUE_TENSOR)
            ret = vmap_batched(v->ops, values[i].u.tensor, v->level);
        else if (value_is_sequence(values[i]) && !depth)
            ret = first_batched(v, values[i].u.items, values[i].n, depth + 1);
    }
    return ret;
}

static void read_batched_sizes(struct vmap_call *v)
{
    const struct sizes_row *row =
        bsearch(&v->op->schema.base, sizes_rows, sizeof sizes_rows / sizeof *sizes_rows,
                sizeof *sizes_rows, compare_sizes_row);
    const struct batched *batched = NULL;
    sym_id ignored[TENSOR_MAX_DIM];
    if (row)
        batched = first_batched(v, v->args, row->whose == SIZES_SELF ? 1 : v->op->schema.n_args, 0);
    if (batched)
        read_sizes(v, batched->whole.meta, ignored);
}

/* --- Finding a rule --- */

static const struct vmap_row {
    const char *base;
    vmap_rule *rule;
    int extra;
} rows[] = {
#define VMAP_RULE(base, rule, extra) { base, batch_##rule, extra },
#include "replay/ops/python/vmap/vmap_rules.def"
#undef VMAP_RULE
};

static int compare_row(const void *key, const void *row)
{
    return str_cmp(*(const struct str *)key, str_of(((const struct vmap_row *)row)->base));
}

bool vmap_run_rule(struct vmap_call *v, struct value *ret, uint32_t *dim)
{
    *dim = 0;
    if (v->op->writes || !str_is(v->op->schema.space, "aten"))
        return false;
    if (v->op->pointwise)
        return batch_pointwise(v, 0, ret, dim);
    read_batched_sizes(v);
    const struct vmap_row *row =
        bsearch(&v->op->schema.base, rows, sizeof rows / sizeof *rows, sizeof *rows, compare_row);
    return row && row->rule(v, row->extra, ret, dim);
}

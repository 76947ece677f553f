/* Higher-order operators: calls of subgraphs (torch/_higher_order_ops). The walk of the graph
 * runs the subgraphs; this file has their arguments and the handling of their results. */
#include "replay/ops/python/higher_order.h"

static struct value run_flat(struct call *c, struct value graph, const struct value *args,
                             uint32_t n)
{
    struct value ret = value_none();
    if (c->failed)
        return ret;
    if (graph.kind != VALUE_GRAPH || !c->ops->subgraph) {
        unsupported(c, "a subgraph that is not recorded");
        return ret;
    }
    python_result(c, c->ops->subgraph(c->ops->subgraph_user, graph.u.text, args, n, &ret));
    if (c->failed && c->ops->outcome == OP_DONE)
        unsupported(c, "subgraph %.*s", STR_ARG(graph.u.text));
    return ret;
}

struct value hop_run(struct call *c, struct value graph, const struct value *lists, uint32_t n)
{
    uint32_t total = 0;
    for (uint32_t i = 0; i < n; i++)
        total += value_is_sequence(lists[i]) ? lists[i].n : 0;
    struct value *args = ops_values(c->ops, total);
    if (!args) {
        python_no_memory(c);
        return value_none();
    }
    total = 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; value_is_sequence(lists[i]) && j < lists[i].n; j++)
            args[total++] = lists[i].u.items[j];
    return run_flat(c, graph, args, total);
}

struct value hop_keyword(struct value dict, const char *key)
{
    for (uint32_t i = 0; dict.kind == VALUE_DICT && i + 1 < dict.n; i += 2)
        if (py_is(dict.u.items[i], key))
            return dict.u.items[i + 1];
    return value_none();
}

/* Returns the leaves of a result: one, or several. */
static const struct value *leaves(const struct value *value, uint32_t *n)
{
    *n = value_is_sequence(*value) ? value->n : 1;
    return value_is_sequence(*value) ? value->u.items : value;
}

/* Returns new leaves in the structure of spec. */
static struct value with_leaves(struct value spec, const struct value *items)
{
    return value_is_sequence(spec) ? value_items(spec.kind, items, spec.n) : items[0];
}

/* --- cond --- */

static bool to_range(struct call *c, struct value size, sym_id *low, sym_id *high)
{
    struct sym_range range;
    sym_id e = env_replace(c->env, size.u.sym);
    *low = *high = e;
    if (sym_is_number(c->pool, e))
        return true;
    *low = SYM_ID_MINUS_INT_OO;
    *high = SYM_ID_INT_OO;
    if (sym_kind_of(c->pool, e) == SYM_SYMBOL && env_range(c->env, e, &range)) {
        *low = range.lower;
        *high = range.upper;
    }
    return true;
}

/* Returns a new unbacked symbol that is one of two sizes. */
static sym_id either_size(struct call *c, sym_id a, sym_id b)
{
    sym_id low[2], high[2], u = env_create_unbacked_symint(c->env);
    to_range(c, value_int(a), &low[0], &high[0]);
    to_range(c, value_int(b), &low[1], &high[1]);
    if (u == SYM_NONE ||
        !env_constrain_range(
            c->env, u, sym_number_compare(c->pool, low[0], low[1]) <= 0 ? low[0] : low[1],
            sym_number_compare(c->pool, high[0], high[1]) >= 0 ? high[0] : high[1]))
        call_raised(c);
    return u;
}

static bool is_same_backed_size(struct call *c, sym_id a, sym_id b)
{
    a = env_replace(c->env, a);
    b = env_replace(c->env, b);
    return a == b && !env_has_unbacked(c->env, a);
}

/* get_stride_order, by insertion: dimensions from the innermost one; of equal ones the later
 * first. */
static void stride_order(struct call *c, struct tensor x, uint32_t *order)
{
    for (uint32_t i = 0; i < x.meta->ndim; i++) {
        uint32_t at = i;
        while (at > 0) {
            sym_id a = x.meta->stride[i], b = x.meta->stride[order[at - 1]];
            if (!guard_size_oblivious(c, lt(c, a, b)) && guard_size_oblivious(c, gt(c, a, b)))
                break;
            order[at] = order[at - 1];
            at--;
        }
        order[at] = i;
    }
}

struct stride_of {
    sym_id key, merged;
};

static sym_id find_stride(const struct stride_of *known, uint32_t n, sym_id key)
{
    for (uint32_t i = n; i-- > 0;)
        if (known[i].key == key)
            return known[i].merged;
    return SYM_NONE;
}

/* _bound_stride: computes strides of the merged sizes, as far as they follow from those of a. */
static bool merged_strides(struct call *c, struct tensor a, struct tensor b, const sym_id *size,
                           sym_id *stride)
{
    uint32_t n = a.meta->ndim, order[TENSOR_MAX_DIM], other[TENSOR_MAX_DIM];
    struct stride_of known[TENSOR_MAX_DIM + 1];
    stride_order(c, a, order);
    stride_order(c, b, other);
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        uint32_t dim = order[i];
        if (dim != other[i])
            return refuse(c, "RuntimeError",
                          "The sorted order of strides of the two branches' output doesn't match.");
        sym_id key = env_replace(c->env, a.meta->stride[dim]);
        stride[dim] = key == SYM_ID_ZERO ? key : find_stride(known, i, key);
        if (stride[dim] == SYM_NONE && key == SYM_ID_ONE)
            stride[dim] = SYM_ID_ONE;
        if (stride[dim] == SYM_NONE)
            return refuse(c, "RuntimeError",
                          "It seems one of cond's output stride is not a simple accumulative "
                          "multiplication of sizes.");
        known[i].key = key == SYM_ID_ZERO
                           ? SYM_NONE
                           : env_replace(c->env, mul(c, a.meta->stride[dim], a.meta->size[dim]));
        known[i].merged = mul(c, stride[dim], size[dim]);
    }
    return !c->failed;
}

static bool same_facts(struct call *c, struct tensor a, struct tensor b)
{
    static const char where[] = "When merging two branches' output in torch.cond, expected same";
    return require(c, a.meta->dtype == b.meta->dtype, "RuntimeError", "%s dtype but got %s and %s.",
                   where, dtype_python_name(a.meta->dtype), dtype_python_name(b.meta->dtype)) &&
           require(c, device_equal(a.meta->device, b.meta->device), "RuntimeError",
                   "%s device but got others.", where) &&
           require(c, a.meta->ndim == b.meta->ndim, "RuntimeError", "%s dim but got %u and %u.",
                   where, a.meta->ndim, b.meta->ndim) &&
           require(c, a.meta->ndim <= TENSOR_MAX_DIM, "RuntimeError", "too many dimensions");
}

/* _merge_output. */
static struct value merge_results(struct call *c, struct value a, struct value b)
{
    if (a.kind == VALUE_INT && b.kind == VALUE_INT)
        return sym_is_number(c->pool, a.u.sym) && a.u.sym == b.u.sym
                   ? a
                   : value_int(either_size(c, a.u.sym, b.u.sym));
    if (a.kind != VALUE_TENSOR || b.kind != VALUE_TENSOR) {
        require(c, a.kind == b.kind, "AssertionError", "the branches' results differ in kind");
        return a;
    }
    struct tensor x = a.u.tensor, y = b.u.tensor;
    if (!same_facts(c, x, y))
        return a;
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < x.meta->ndim && !c->failed; i++)
        size[i] = is_same_backed_size(c, x.meta->size[i], y.meta->size[i])
                      ? x.meta->size[i]
                      : either_size(c, x.meta->size[i], y.meta->size[i]);
    if (c->failed || !merged_strides(c, x, y, size, stride))
        return a;
    return value_tensor(
        new_tensor_strided(c, x.meta->dtype, x.meta->device, size, stride, x.meta->ndim));
}

/* The arguments are pred, true_fn, false_fn, operands. */
bool python_cond(struct call *c)
{
    struct value operands = arg(c, 3), yes = hop_run(c, arg(c, 1), &operands, 1);
    struct value no = hop_run(c, arg(c, 2), &operands, 1);
    uint32_t n = 0, m = 0;
    const struct value *a = leaves(&yes, &n), *b = leaves(&no, &m);
    if (!c->failed && n != m)
        return refuse(c, "RuntimeError", "Unmatched output spec from torch.cond branches");
    struct value *items = c->failed ? NULL : ops_values(c->ops, n);
    if (!items)
        return c->failed ? false : python_no_memory(c);
    for (uint32_t i = 0; i < n && !c->failed; i++)
        items[i] = merge_results(c, a[i], b[i]);
    return !c->failed && ret_call(c, with_leaves(yes, items));
}

/* --- Loops --- */

static struct value unbacked_int(struct call *c)
{
    sym_id made = env_create_unbacked_symint(c->env);
    if (made == SYM_NONE)
        call_raised(c);
    return value_int(made);
}

/* Returns the carried inputs as a subgraph of while_loop gets them: numbers change from one
 * iteration to the next, so that each is a new symbol. */
static struct value unspecialized(struct call *c, struct value carried)
{
    if (!value_is_sequence(carried))
        return carried;
    struct value *items = ops_values(c->ops, carried.n);
    if (!items) {
        python_no_memory(c);
        return carried;
    }
    for (uint32_t i = 0; i < carried.n && !c->failed; i++)
        items[i] = carried.u.items[i].kind == VALUE_INT ? unbacked_int(c) : carried.u.items[i];
    return value_items(carried.kind, items, carried.n);
}

/* cond_fn, body_fn, carried_inputs, additional_inputs */
bool python_while_loop(struct call *c)
{
    hop_run(c, arg(c, 0), (struct value[]){ unspecialized(c, arg(c, 2)), arg(c, 3) }, 2);
    struct value lists[] = { unspecialized(c, arg(c, 2)), arg(c, 3) };
    struct value outs = hop_run(c, arg(c, 1), lists, 2);
    uint32_t n = 0;
    const struct value *from = leaves(&outs, &n);
    struct value *items = c->failed ? NULL : ops_values(c->ops, n);
    if (!items)
        return c->failed ? false : python_no_memory(c);
    sym_id times = row_base(c) ? env_create_unbacked_symint(c->env) : SYM_NONE;
    for (uint32_t i = 0; i < n && !c->failed; i++) {
        items[i] = from[i];
        if (from[i].kind == VALUE_INT)
            items[i] = unbacked_int(c);
        else if (row_base(c) && from[i].kind == VALUE_TENSOR)
            items[i] = hop_stacked(c, from[i], times);
    }
    return !c->failed && ret_call(c, with_leaves(outs, items));
}

/* Adds a dimension in front, as stacking `n` contiguous results does. */
struct value hop_stacked(struct call *c, struct value y, sym_id n)
{
    sym_id size[TENSOR_MAX_DIM + 1] = { n };
    struct tensor x = value_as_tensor(c, y);
    if (c->failed || n == SYM_NONE || x.meta->ndim >= TENSOR_MAX_DIM)
        return y;
    memcpy(size + 1, x.meta->size, x.meta->ndim * sizeof *size);
    return value_tensor(new_tensor(c, x.meta->dtype, x.meta->device, size, x.meta->ndim + 1));
}

/* Returns the first slice of each along dimension 0, as a view or as a contiguous copy. */
static struct value first_slices(struct call *c, struct value xs, bool copy)
{
    struct value *items = ops_values(c->ops, xs.n);
    if (!items) {
        python_no_memory(c);
        return value_none();
    }
    for (uint32_t i = 0; i < xs.n && !c->failed; i++) {
        items[i] = xs.u.items[i];
        if (items[i].kind != VALUE_TENSOR)
            continue;
        if (!items[i].u.tensor.meta->ndim) {
            refuse(c, "RuntimeError", "xs leaves must have a leading dimension");
            break;
        }
        struct tensor x = items[i].u.tensor;
        items[i] = value_tensor(
            copy ? new_tensor(c, x.meta->dtype, x.meta->device, x.meta->size + 1, x.meta->ndim - 1)
                 : new_view(c, x, x.meta->size + 1, x.meta->stride + 1, x.meta->ndim - 1,
                            x.meta->offset));
    }
    return value_items(VALUE_LIST, items, xs.n);
}

static sym_id length(struct call *c, struct value xs)
{
    for (uint32_t i = 0; value_is_sequence(xs) && i < xs.n; i++)
        if (xs.u.items[i].kind == VALUE_TENSOR && xs.u.items[i].u.tensor.meta->ndim)
            return xs.u.items[i].u.tensor.meta->size[0];
    refuse(c, "RuntimeError", "xs leaves must have a leading dimension");
    return SYM_NONE;
}

/* combine_fn, init, xs, additional_inputs */
bool python_scan(struct call *c)
{
    struct value init = arg(c, 1), xs = arg(c, 2);
    sym_id n = length(c, xs);
    if (c->failed)
        return false;
    struct value lists[] = { init, first_slices(c, xs, true), arg(c, 3) };
    struct value outs = hop_run(c, arg(c, 0), lists, 3);
    uint32_t count = 0;
    const struct value *from = leaves(&outs, &count);
    struct value *items = c->failed ? NULL : ops_values(c->ops, count);
    if (!items)
        return c->failed ? false : python_no_memory(c);
    for (uint32_t i = 0; i < count; i++)
        items[i] =
            i < init.n || from[i].kind != VALUE_TENSOR ? from[i] : hop_stacked(c, from[i], n);
    return !c->failed && ret_call(c, with_leaves(outs, items));
}

/* f, xs, pos_args */
bool python_map(struct call *c)
{
    struct value xs = arg(c, 1);
    sym_id n = length(c, xs);
    if (c->failed)
        return false;
    struct value lists[] = { first_slices(c, xs, false), arg(c, 2) };
    struct value outs = hop_run(c, arg(c, 0), lists, 2);
    uint32_t count = 0;
    const struct value *from = leaves(&outs, &count);
    struct value *items = c->failed ? NULL : ops_values(c->ops, count);
    if (!items)
        return c->failed ? false : python_no_memory(c);
    for (uint32_t i = 0; i < count; i++)
        items[i] = from[i].kind == VALUE_TENSOR ? hop_stacked(c, from[i], n) : from[i];
    return !c->failed && ret_call(c, with_leaves(outs, items));
}

/* combine_fn, xs, additional_inputs: results are like the inputs. */
bool python_associative_scan(struct call *c)
{
    struct value xs = arg(c, 1);
    struct value *items = ops_values(c->ops, xs.n);
    if (!items)
        return python_no_memory(c);
    for (uint32_t i = 0; i < xs.n; i++)
        items[i] = xs.u.items[i].kind == VALUE_TENSOR
                       ? value_tensor(new_like(c, xs.u.items[i].u.tensor))
                       : xs.u.items[i];
    return !c->failed && ret_call(c, value_items(VALUE_TUPLE, items, xs.n));
}

/* --- Simple calls --- */

/* subgraph, [identifier,] *args */
bool python_subgraph(struct call *c)
{
    struct value args = arg(c, row_base(c) ? 2 : 1);
    return ret_call(c, hop_run(c, arg(c, 0), &args, 1));
}

/* A subgraph after `base` other arguments, then *args. */
bool python_wrapped(struct call *c)
{
    uint32_t at = (uint32_t)(row_base(c)[0] - '0');
    struct value args = arg(c, at + 1);
    return ret_call(c, hop_run(c, arg(c, at), &args, 1));
}

/* subgraph, args */
bool python_listed(struct call *c)
{
    struct value args = arg(c, 1);
    return ret_call(c, hop_run(c, arg(c, 0), &args, 1));
}

/* fwd, bwd, *args: fwd returns the function's results and what it saves. Where the call lists what
 * is saved, bwd takes the gradients, which are like the results, and all that is saved
 * (AutogradFunctionApplyVariable of torch/_dynamo/variables/higher_order_ops.py). Dynamo traces it
 * when the function is called; AOTAutograd leaves it to autograd. */
bool python_autograd_function(struct call *c)
{
    struct value args = arg(c, 2), outs = hop_run(c, arg(c, 0), &args, 1);
    bool saves = value_is_sequence(outs) && outs.n == 2 && value_is_sequence(outs.u.items[1]);
    if (!c->failed && !saves && value_is_sequence(outs) && outs.n &&
        value_is_sequence(outs.u.items[0]))
        return ret_call(c, outs.u.items[0]);
    if (c->failed || !saves)
        return ret_call(c, outs);
    if (!leaves_backward(c) &&
        value_is_sequence(hop_keyword(arg(c, 3), "saved_for_backward_idx")) &&
        value_is_sequence(outs.u.items[0]))
        hop_run(c, arg(c, 1), outs.u.items, 2);
    return ret_call(c, outs.u.items[0]);
}

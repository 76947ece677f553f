/* torch.func's grad and jvp in a graph of Dynamo (torch/_functorch/eager_transforms.py), and the
 * calls of compiled autograd that are no formula of an operator
 * (torch/_dynamo/compiled_autograd.py). */
#include "replay/ops/python/python_internal.h"

/* outputs, inputs, ...: a gradient is laid out like its input. What formulas give another layout
 * (the gradient of x.t() @ y, for one) is not known here. */
bool python_autograd_grad(struct call *c)
{
    struct value inputs = arg(c, 1);
    if (!value_is_sequence(inputs))
        return unsupported(c, "inputs that are no sequence");
    struct value *items = ops_values(c->ops, inputs.n);
    if (!items)
        return python_no_memory(c);
    for (uint32_t i = 0; i < inputs.n && !c->failed; i++)
        items[i] = value_tensor(new_like(c, value_as_tensor(c, inputs.u.items[i])));
    return !c->failed && ret_call(c, value_items(VALUE_TUPLE, items, inputs.n));
}

/* tensor, level: returns the primal and the tangent, which is laid out like it. */
bool python_unpack_dual(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    if (c->failed)
        return false;
    struct value pair[] = { arg(c, 0), value_tensor(new_like(c, x)) };
    struct value ret = py_list(c, pair, 2);
    ret.kind = VALUE_TUPLE;
    return ret_call(c, ret);
}

/* --- Compiled autograd --- */

static const struct value *first_items(struct call *c, struct value list, uint32_t n)
{
    if (list.kind == VALUE_TUPLE || list.kind == VALUE_LIST)
        return list.n >= n ? list.u.items : NULL;
    unsupported(c, "an argument that is no sequence");
    return NULL;
}

/* Whether InputMetadata::is_same_shape() is false: the sizes of the metadata stand on the left. */
static bool has_other_size(struct call *c, struct tensor x, struct value sizes)
{
    if (!value_is_sequence(sizes))
        return false;
    bool other = x.meta->ndim != sizes.n;
    for (uint32_t i = 0; i < sizes.n && !other && !c->failed; i++)
        other = !guard_bool(c, eq(c, sizes.u.items[i].u.sym, x.meta->size[i]));
    return other;
}

/* validate_outputs_impl (torch/csrc/autograd/engine.cpp): a gradient that was broadcast is summed
 * to the size of the metadata. The metadata is (options, sizes, is_nested, dtype). */
static struct value validated(struct call *c, struct value grad, struct value metadata)
{
    const struct value *parts =
        metadata.kind == VALUE_TUPLE && metadata.n >= 2 ? metadata.u.items : NULL;
    if (grad.kind != VALUE_TENSOR || !parts)
        return grad;
    if (!has_other_size(c, grad.u.tensor, parts[1]))
        return grad;
    return py_op(c, "aten.sum_to_size", (struct value[]){ grad, parts[1] }, 2);
}

/* outputs, metadata: returns a list. */
bool python_validate_outputs(struct call *c)
{
    struct value grads = arg(c, 0);
    const struct value *metadata = first_items(c, arg(c, 1), grads.n);
    if (!value_is_sequence(grads) || !metadata)
        return unsupported(c, "outputs without metadata");
    struct value *items = ops_values(c->ops, grads.n);
    if (!items)
        return python_no_memory(c);
    for (uint32_t i = 0; i < grads.n && !c->failed; i++)
        items[i] = validated(c, grads.u.items[i], metadata[i]);
    return !c->failed && ret_call(c, value_items(VALUE_LIST, items, grads.n));
}

/* grads, variable, variable_grad, has_post_hooks: returns a list of the new gradient
 * (AccumulateGrad::accumulateGrad(), torch/csrc/autograd/functions/accumulate_grad.h). */
bool python_accumulate_grad(struct call *c)
{
    const struct value *grads = first_items(c, arg(c, 0), 1);
    struct value before = arg(c, 2), sum;
    if (!grads)
        return unsupported(c, "a gradient that is missing");
    if (before.kind == VALUE_TENSOR) {
        sum = py_op(c, "aten.add.Tensor", (struct value[]){ before, grads[0] }, 2);
    } else {
        /* clone_obey_contract(): the strides of the variable. */
        struct tensor variable = value_as_tensor(c, arg(c, 1));
        sum = c->failed ? value_none() : value_tensor(new_like(c, variable));
    }
    return !c->failed && ret_call(c, py_list(c, &sum, 1));
}

static uint32_t append_items(struct value *to, uint32_t n, struct value list)
{
    for (uint32_t i = 0; i < list.n; i++)
        to[n++] = list.u.items[i];
    return n;
}

/* A tangent, laid out as AOTAutograd traced it: contiguous (coerce_to_expected_memory_format of
 * torch/_functorch/_aot_autograd/subclass_utils.py). */
static struct value laid_out_tangent(struct call *c, struct value grad)
{
    return grad.kind == VALUE_TENSOR ? py_op(c, "aten.contiguous", &grad, 1) : grad;
}

/* saved, symints, opaque, grads: returns what the backward graph takes
 * (_backward_prologue_functional of torch/_functorch/_aot_autograd/runtime_wrappers.py): the
 * numbers first, and of the gradients those of outputs that need one. */
bool python_aot_prologue(struct call *c)
{
    struct value saved = arg(c, 0), symints = arg(c, 1), opaque = arg(c, 2), grads = arg(c, 3);
    if (!value_is_sequence(saved) || !value_is_sequence(symints) || !value_is_sequence(opaque) ||
        !value_is_sequence(grads))
        return unsupported(c, "an argument that is no sequence");
    struct value *items = ops_values(c->ops, saved.n + symints.n + opaque.n + grads.n);
    if (!items)
        return python_no_memory(c);
    uint32_t n = append_items(items, 0, symints);
    n = append_items(items, n, saved);
    n = append_items(items, n, opaque);
    for (uint32_t i = 0; i < grads.n && !c->failed; i++)
        if (grads.u.items[i].kind != VALUE_NONE)
            items[n++] = laid_out_tangent(c, grads.u.items[i]);
    return !c->failed && ret_call(c, value_items(VALUE_LIST, items, n));
}

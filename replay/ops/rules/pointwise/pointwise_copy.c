/* Copies: clone, to, copy, fill. */
#include <string.h>

#include "replay/ops/dispatch/context.h"
#include "replay/ops/rules/pointwise/pointwise.h"
#include "replay/ops/rules/view/views.h"

/* Computes the strides of a copy by ATen's kernels, which keeps the format: a dense tensor keeps
 * its strides (empty_like() of aten/src/ATen/native/TensorFactories.cpp). */
static void kernel_strides(struct call *c, struct tensor x, sym_id *strides)
{
    if (non_overlapping_and_dense_or_false(c, x))
        memcpy(strides, x.meta->stride, x.meta->ndim * sizeof *strides);
    else
        iterator_strides(c, &x, 1, x.meta->size, x.meta->ndim, strides);
}

/* Computes the strides of a copy that keeps the format. */
static void kept_strides(struct call *c, struct tensor x, sym_id *strides)
{
    if (eager(c))
        kernel_strides(c, x, strides);
    else
        elementwise_strides(c, &x, 1, strides);
}

static struct tensor new_copy(struct call *c, struct tensor x, enum dtype dtype,
                              struct device device, enum memory_format format)
{
    sym_id strides[TENSOR_MAX_DIM];
    const struct tensor_meta *meta = x.meta;
    if (c->failed)
        return x;
    if (format != FORMAT_PRESERVE)
        return new_tensor_format(c, dtype, device, meta->size, meta->ndim, format);
    kept_strides(c, x, strides);
    return new_tensor_strided(c, dtype, device, meta->size, strides, meta->ndim);
}

bool rule_clone(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum memory_format format = arg_format(c, 1, FORMAT_PRESERVE);
    struct tensor copy = new_copy(c, x, x.meta->dtype, x.meta->device, format);
    if (eager(c))
        return ret_tensor(c, copy);
    count_dispatches(c, 1); /* prims.clone */
    return ret_tensor(
        c, count_made(c, format == FORMAT_PRESERVE ? "aten.empty_strided" : "aten.empty", copy));
}

/* realize(self): clone() inside of a Meta kernel (torch/_inductor/test_operators.py). */
bool rule_realize(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    sym_id strides[TENSOR_MAX_DIM];
    kernel_strides(c, x, strides);
    return ret_tensor(c, new_tensor_strided(c, x.meta->dtype, x.meta->device, x.meta->size, strides,
                                            x.meta->ndim));
}

/* _to_copy(self, dtype, layout, device, pin_memory, non_blocking, memory_format) */
bool rule_to_copy(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    enum dtype dtype = arg_dtype(c, 1, x.meta->dtype);
    struct device device = arg_device(c, 3, x.meta->device);
    enum memory_format format = arg_format(c, 6, FORMAT_PRESERVE);
    if (eager(c))
        return ret_tensor(c, new_copy(c, x, dtype, device, format));
    if (!arg_given(c, 1) && !arg_given(c, 3) && !arg_given(c, 6))
        return ret_value(c, call_op(c, "aten.clone.default", c->args, 1));
    struct value args[] = { arg(c, 0), { .kind = VALUE_DTYPE, .u.dtype = dtype } };
    struct value value = args[0];
    if (arg_given(c, 1))
        value = call_op(c, "prims.convert_element_type.default", args, 2);
    if (c->failed)
        return false;
    if (!device_equal(device, x.meta->device)) {
        const struct tensor_meta *meta = value.u.tensor.meta;
        count_dispatches(c, 2); /* prims.device_put, aten.empty_strided */
        value = value_tensor(
            new_tensor_strided(c, dtype, device, meta->size, meta->stride, meta->ndim));
    }
    if (!arg_given(c, 6))
        return ret_value(c, value);
    struct keyword keyword = { STR("memory_format"), arg(c, 6) };
    return ret_value(c, call_op_keywords(c, "aten.clone.default", &value, 1, &keyword, 1));
}

/* --- copy --- */

/* inferExpandGeometry of aten/src/ATen/ExpandUtils.cpp: evaluates the guards of expanding x to a
 * shape. */
static bool check_expands(struct call *c, const struct tensor_meta *x, const struct tensor_meta *to)
{
    if (x->ndim > to->ndim)
        return refuse(c, "RuntimeError",
                      "expand: the number of sizes provided (%u) must be greater or equal to the "
                      "number of dimensions in the tensor (%u)",
                      to->ndim, x->ndim);
    for (uint32_t back = 1; back <= x->ndim && !c->failed; back++) {
        sym_id have = x->size[x->ndim - back], want = to->size[to->ndim - back];
        if (!guard_bool(c, ne(c, want, have)))
            continue;
        if (!require(c, guard_bool(c, eq_int(c, have, 1)), "RuntimeError",
                     "The expanded size of the tensor (%s) must match the existing size (%s) at "
                     "non-singleton dimension %u.  Target sizes: %s.  Tensor sizes: %s",
                     sym_text(c, want), sym_text(c, have), to->ndim - back,
                     sizes_text(c, to->size, to->ndim), sizes_text(c, x->size, x->ndim)))
            return false;
    }
    return !c->failed;
}

/* meta_copy_ of torch/_meta_registrations.py */
bool check_meta_copy(struct call *c, struct tensor x, struct tensor source)
{
    if (has_only_hinted(c, x.meta) && surely_overlaps(c, x))
        return refuse(c, "RuntimeError",
                      "more than one element of the written-to tensor refers to a single memory "
                      "location");
    if (x.cached_view) {
        x.cached_view = false; /* AOTAutograd copies to a functional tensor instead */
        is_contiguous(c, x, FORMAT_CONTIGUOUS);
    }
    bool in_kernel = c->in_kernel;
    c->in_kernel = true;
    maybe_convert(c, value_tensor(source), x.meta->dtype); /* src.to(self) */
    c->in_kernel = in_kernel;
    if (c->failed || !behaves(c->env, BEHAVIOR_COPY_EXPANDS_BY_REFERENCE))
        return !c->failed && check_expands(c, source.meta, x.meta);
    struct geometry expanded = geometry_of(source);
    return geometry_expand_reference(c, &expanded, x.meta->size, x.meta->ndim);
}

static bool check_plain_copy(struct call *c, const struct tensor *x)
{
    sym_id shape[TENSOR_MAX_DIM];
    uint32_t n;
    if (!broadcast_plain(c, x, 2, shape, &n))
        return false;
    bool same = n == x[0].meta->ndim;
    for (uint32_t i = 0; i < n && same; i++)
        same = shape[i] == x[0].meta->size[i];
    return require(c, same, "RuntimeError",
                   "output with shape %s doesn't match the broadcast shape %s",
                   sizes_text(c, x[0].meta->size, x[0].meta->ndim), sizes_text(c, shape, n));
}

static bool check_copy(struct call *c)
{
    struct tensor x[] = { arg_tensor(c, 0), arg_tensor(c, 1) };
    if (!x[1].meta)
        return true;
    return eager(c) ? check_plain_copy(c, x) : check_meta_copy(c, x[0], x[1]);
}

bool rule_copy_(struct call *c)
{
    return check_copy(c) && ret_tensor(c, arg_tensor(c, 0));
}

/* aten.copy returns a tensor with self's shape, dtype and device and src's values. */
bool rule_copy(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    return check_copy(c) &&
           ret_tensor(c, new_tensor_strided(c, x.meta->dtype, x.meta->device, x.meta->size,
                                            x.meta->stride, x.meta->ndim));
}

/* --- fill, zero --- */

static bool check_fill(struct call *c)
{
    struct tensor value = arg_tensor(c, 1);
    return !value.meta ||
           require(c, value.meta->ndim == 0, "RuntimeError",
                   "fill_ only supports 0-dimension value tensor but got tensor with %u "
                   "dimensions.",
                   value.meta->ndim);
}

bool rule_fill_(struct call *c)
{
    return check_fill(c) && ret_tensor(c, arg_tensor(c, 0));
}

bool rule_fill(struct call *c)
{
    return check_fill(c) && ret_tensor(c, new_like(c, arg_tensor(c, 0)));
}

bool rule_zero_(struct call *c)
{
    return ret_tensor(c, arg_tensor(c, 0));
}

bool rule_zero(struct call *c)
{
    return ret_tensor(c, new_like(c, arg_tensor(c, 0)));
}

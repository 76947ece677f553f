/* Tensors made from sizes, from another tensor or from a number. */
#include "replay/ops/rules/factory/factories.h"
#include "replay/ops/layout/strides.h"

#include <string.h>

/* Returns the dtype of a number if none is given (torch.get_default_dtype() is float32). */
static enum dtype dtype_of_number(struct value value)
{
    switch (value.kind) {
    case VALUE_BOOL: return DTYPE_B8;
    case VALUE_INT: return DTYPE_I64;
    case VALUE_COMPLEX: return DTYPE_C64;
    default: return DTYPE_F32;
    }
}

static bool check_layout(struct call *c, uint32_t i)
{
    struct value layout = arg(c, i);
    if (layout.kind != VALUE_LAYOUT || layout.u.layout == LAYOUT_STRIDED)
        return true;
    return unsupported(c, "a tensor that is not strided");
}

/* check_size_nonnegative of ATen/EmptyTensor.h */
bool check_sizes(struct call *c, const sym_id *sizes, uint32_t n)
{
    for (uint32_t i = 0; i < n && !c->failed; i++)
        CHECK(c, ge(c, sizes[i], SYM_ID_ZERO), "RuntimeError",
              "Trying to create tensor with negative dimension %s: %s", sym_text(c, sizes[i]),
              sizes_text(c, sizes, n));
    return !c->failed && check_ndim(c, n);
}

struct tensor empty(struct call *c, struct tensor_kind kind, const sym_id *sizes, uint32_t n)
{
    if (!check_sizes(c, sizes, n))
        return (struct tensor){ .meta = NULL };
    return new_tensor(c, kind.dtype, kind.device, sizes, n);
}

struct tensor_kind arg_kind(struct call *c, uint32_t at, enum dtype dtype, struct device device)
{
    check_layout(c, at + 1);
    return (struct tensor_kind){ arg_dtype(c, at, dtype), arg_device(c, at + 2, device) };
}

static const struct device cpu = { DEVICE_CPU, -1 };

/* --- From sizes --- */

/* empty, zeros, ones: the arguments are (size, dtype, layout, device, ...). param is the
 * argument of the memory format, or -1 for zeros. */
bool rule_empty(struct call *c)
{
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 0, &sizes);
    struct tensor_kind kind = arg_kind(c, 1, DTYPE_F32, cpu);
    enum memory_format format =
        c->param > 0 ? arg_format(c, (uint32_t)c->param, FORMAT_CONTIGUOUS) : FORMAT_CONTIGUOUS;
    for (uint32_t i = 0; i < n && c->param < 0 && eager(c) && !c->failed; i++)
        CHECK(c, ge(c, sizes[i], SYM_ID_ZERO), "RuntimeError",
              "zeros: Dimension size must be non-negative.");
    if (format == FORMAT_PRESERVE)
        format = FORMAT_CONTIGUOUS;
    if (format == FORMAT_CHANNELS_LAST)
        REQUIRE(c, n == 4, "RuntimeError", "required rank 4 tensor to use channels_last format");
    if (format == FORMAT_CHANNELS_LAST_3D)
        REQUIRE(c, n == 5, "RuntimeError", "required rank 5 tensor to use channels_last_3d format");
    if (!check_sizes(c, sizes, n))
        return false;
    return ret_tensor(c, new_tensor_format(c, kind.dtype, kind.device, sizes, n, format));
}

/* The out= forms of these have no dtype, so that of out is used. */
bool rule_empty_out(struct call *c)
{
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 0, &sizes);
    struct tensor out = arg_tensor(c, c->n_args - 1);
    if (!out.meta)
        return false;
    struct tensor_kind kind = { out.meta->dtype, out.meta->device };
    return ret_tensor(c, empty(c, kind, sizes, n));
}

bool rule_full(struct call *c)
{
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 0, &sizes);
    struct tensor_kind kind = arg_kind(c, 2, dtype_of_number(arg(c, 1)), cpu);
    return ret_tensor(c, empty(c, kind, sizes, n));
}

bool rule_scalar_tensor(struct call *c)
{
    struct tensor_kind kind = arg_kind(c, 1, DTYPE_F32, cpu);
    return ret_tensor(c, new_tensor(c, kind.dtype, kind.device, NULL, 0));
}

bool rule_empty_strided(struct call *c)
{
    const sym_id *sizes, *strides;
    uint32_t n = arg_syms(c, 0, &sizes), n_strides = arg_syms(c, 1, &strides);
    struct tensor_kind kind = arg_kind(c, 2, DTYPE_F32, cpu);
    REQUIRE(c, n == n_strides, "RuntimeError",
            "dimensionality of sizes (%u) must match dimensionality of strides (%u)", n, n_strides);
    if (!check_sizes(c, sizes, n))
        return false;
    return ret_tensor(c, new_tensor_strided(c, kind.dtype, kind.device, sizes, strides, n));
}

bool rule_empty_permuted(struct call *c)
{
    const sym_id *sizes;
    const int64_t *order;
    uint32_t n = arg_syms(c, 0, &sizes), n_order = arg_ints(c, 1, &order);
    struct tensor_kind kind = arg_kind(c, 2, DTYPE_F32, cpu);
    REQUIRE(c, n == n_order, "RuntimeError",
            "Number of dimensions in size does not match the length of the physical_layout; i.e. "
            "len(size) = %u is not equal to len(physical_layout) = %u",
            n, n_order);
    if (!check_ndim(c, n))
        return false;
    sym_id permuted[TENSOR_MAX_DIM], inner[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    uint64_t seen = 0;
    for (uint32_t i = 0; i < n; i++) {
        REQUIRE(c, order[i] >= 0 && order[i] < n, "RuntimeError",
                "Dimension out of range (expected to be between 0 and %u, but got %lld at index "
                "%u).  NB: negative dims not currently supported; file an issue if you want it.",
                n - 1, (long long)order[i], i);
        REQUIRE(c, !(seen >> order[i] & 1), "RuntimeError", "Duplicate dim not allowed");
        seen |= UINT64_C(1) << order[i];
        permuted[i] = sizes[order[i]];
    }
    if (!check_sizes(c, sizes, n))
        return false;
    contiguous_strides(c, permuted, n, inner);
    for (uint32_t i = 0; i < n; i++)
        strides[order[i]] = inner[i];
    return ret_tensor(c, new_tensor_permuted(c, kind.dtype, kind.device, sizes, strides, n));
}

/* --- From another tensor --- */

/* new_empty, new_zeros, new_ones; param is 1 for new_full, whose number is argument 2. */
bool rule_new_empty(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 1, &sizes);
    if (!x.meta)
        return false;
    struct tensor_kind kind = arg_kind(c, 2 + (uint32_t)c->param, x.meta->dtype, x.meta->device);
    if (c->symbolic)
        count_dispatches(c, 1); /* aten.empty, aten.full */
    return ret_tensor(c, empty(c, kind, sizes, n));
}

bool rule_new_empty_strided(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const sym_id *sizes, *strides;
    uint32_t n = arg_syms(c, 1, &sizes), n_strides = arg_syms(c, 2, &strides);
    if (!x.meta)
        return false;
    struct tensor_kind kind = arg_kind(c, 3, x.meta->dtype, x.meta->device);
    REQUIRE(c, n == n_strides, "RuntimeError",
            "dimensionality of sizes (%u) must match dimensionality of strides (%u)", n, n_strides);
    if (!check_sizes(c, sizes, n))
        return false;
    return ret_tensor(c, new_tensor_strided(c, kind.dtype, kind.device, sizes, strides, n));
}

/* empty_like of ATen/native/TensorFactories.cpp, which keeps dense strides unchanged, or of
 * torch/_refs. */
struct tensor empty_like(struct call *c, struct tensor x, struct tensor_kind kind,
                         enum memory_format format, bool reference)
{
    const struct tensor_meta *m = x.meta;
    if (format != FORMAT_PRESERVE)
        return new_tensor_format(c, kind.dtype, kind.device, m->size, m->ndim, format);
    sym_id strides[TENSOR_MAX_DIM];
    if (!reference && is_contiguous(c, x, FORMAT_CONTIGUOUS))
        memcpy(strides, m->stride, m->ndim * sizeof(*strides));
    else
        like_strides(c, x, strides);
    if (!reference)
        return new_tensor_strided(c, kind.dtype, kind.device, m->size, strides, m->ndim);
    return new_tensor_permuted(c, kind.dtype, kind.device, m->size, strides, m->ndim);
}

/* empty_like, ones_like, zeros_like, full_like: param is 1 if argument 1 is a number, plus 2 if
 * no reference replaces the kernel. */
bool rule_empty_like(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t at = 1 + (uint32_t)(c->param & 1);
    if (!x.meta)
        return false;
    struct tensor_kind kind = arg_kind(c, at, x.meta->dtype, x.meta->device);
    return ret_tensor(c, empty_like(c, x, kind, arg_format(c, at + 4, FORMAT_PRESERVE),
                                    !eager(c) && !(c->param & 2)));
}

/* The arguments of the out= forms are (self, ..., memory_format, out), with or without the
 * number. */
bool rule_empty_like_out(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), out = arg_tensor(c, c->n_args - 1);
    if (!x.meta || !out.meta)
        return false;
    struct tensor_kind kind = { out.meta->dtype, out.meta->device };
    return ret_tensor(
        c, empty_like(c, x, kind, arg_format(c, c->n_args - 2, FORMAT_PRESERVE), c->symbolic));
}

bool rule_new_empty_out(struct call *c)
{
    const sym_id *sizes;
    uint32_t n = arg_syms(c, 1, &sizes);
    struct tensor out = arg_tensor(c, c->n_args - 1);
    if (!out.meta)
        return false;
    struct tensor_kind kind = { out.meta->dtype, out.meta->device };
    return ret_tensor(c, empty(c, kind, sizes, n));
}

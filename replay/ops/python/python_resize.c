/* Bodies of torch.nn.functional's pooling, resizing and patches. */
#include "replay/ops/python/python_internal.h"

#include <stdio.h>

enum { MAX_SPATIAL = 3 };

/* _list_with_default: replaces None in the output sizes by the input's size. */
static struct value with_defaults(struct call *c, struct value sizes, struct tensor x)
{
    if (!value_is_sequence(sizes))
        return sizes;
    if (!x.meta || x.meta->ndim <= sizes.n) {
        refuse(c, "ValueError", "Input dimension should be at least %u", sizes.n + 1);
        return value_none();
    }
    struct value *items = ops_values(c->ops, sizes.n);
    if (!items) {
        python_no_memory(c);
        return value_none();
    }
    for (uint32_t i = 0; i < sizes.n; i++) {
        items[i] = sizes.u.items[i];
        if (items[i].kind == VALUE_NONE)
            items[i] = value_int(x.meta->size[x.meta->ndim - sizes.n + i]);
    }
    return value_items(VALUE_LIST, items, sizes.n);
}

/* Returns a list of n times a number, for operators whose schema has no int[n]. */
static struct value repeat_number(struct call *c, struct value value, uint32_t n)
{
    if (value_is_sequence(value) || value.kind == VALUE_NONE)
        return value;
    struct value items[MAX_SPATIAL];
    for (uint32_t i = 0; i < n; i++)
        items[i] = value;
    return py_list(c, items, n);
}

static uint32_t spatial(const struct call *c)
{
    const char *base = row_base(c);
    size_t n = strlen(base);
    for (size_t i = 0; i + 1 < n; i++)
        if (base[i] >= '1' && base[i] <= '3' && base[i + 1] == 'd')
            return (uint32_t)(base[i] - '0');
    return 2;
}

/* input, output_size */
bool python_adaptive_avg(struct call *c)
{
    struct value size = with_defaults(c, arg(c, 1), arg_tensor(c, 0));
    size = repeat_number(c, size, spatial(c));
    return ret_call(c, py_call(c, row_base(c), (struct value[]){ arg(c, 0), size }, 2));
}

/* input, output_size, return_indices: the indices are dropped unless they are requested. */
bool python_adaptive_max(struct call *c)
{
    struct value size = arg(c, 1);
    if (spatial(c) > 1)
        size = with_defaults(c, size, arg_tensor(c, 0));
    size = repeat_number(c, size, spatial(c));
    struct value both = py_call(c, row_base(c), (struct value[]){ arg(c, 0), size }, 2);
    if (c->failed || both.n != 2 || py_truth(c, arg(c, 2)))
        return ret_call(c, both);
    return ret_call(c, both.u.items[0]);
}

/* input, kernel_size, stride, padding, dilation, ceil_mode, return_indices */
bool python_max_pool(struct call *c)
{
    char indices[64];
    struct value args[6];
    for (uint32_t i = 0; i < 6; i++)
        args[i] = arg(c, i);
    if (args[2].kind == VALUE_NONE)
        args[2] = py_list(c, NULL, 0);
    snprintf(indices, sizeof indices, "%s_with_indices", row_base(c));
    return ret_call(c, py_call(c, py_truth(c, arg(c, 6)) ? indices : row_base(c), args, 6));
}

/* input, kernel_size, output_size, output_ratio, return_indices, _random_samples */
bool python_fractional_max_pool(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    uint32_t n = spatial(c);
    struct value size = repeat_number(c, arg(c, 2), n), ratio = repeat_number(c, arg(c, 3), n);
    if (c->failed || x.meta->ndim < n + 1)
        return false;
    if (size.kind == VALUE_NONE && ratio.n == n) {
        struct value sizes[MAX_SPATIAL];
        bool found;
        for (uint32_t i = 0; i < n; i++) {
            struct value args[] = { value_int(x.meta->size[x.meta->ndim - n + i]),
                                    ratio.u.items[i] };
            sizes[i] = python_number(c, STR("mul"), args, 2, &found);
            sizes[i] = c->failed ? sizes[i] : python_number(c, STR("int"), &sizes[i], 1, &found);
        }
        size = py_list(c, sizes, n);
    }
    struct value samples = arg(c, 5);
    if (samples.kind == VALUE_NONE) {
        struct value shape[3] = { py_int(c, 1), py_int(c, 1), py_int(c, n) };
        struct keyword keywords[] = {
            { STR("dtype"), { .kind = VALUE_DTYPE, .u.dtype = x.meta->dtype } },
            { STR("device"), { .kind = VALUE_DEVICE, .u.device = x.meta->device } },
        };
        bool batched = x.meta->ndim == n + 2;
        shape[0] = batched ? value_int(x.meta->size[0]) : shape[0];
        shape[1] = value_int(x.meta->size[batched]);
        struct value list = py_list(c, shape, 3);
        samples = py_op_keywords(c, "aten.rand", &list, 1, keywords, 2);
    }
    struct value args[] = { arg(c, 0), repeat_number(c, arg(c, 1), n), size, samples };
    struct value both = py_call(c, row_base(c), args, 4);
    if (c->failed || both.n != 2 || py_truth(c, arg(c, 4)))
        return ret_call(c, both);
    return ret_call(c, both.u.items[0]);
}

/* input, norm_type, kernel_size, stride, ceil_mode */
bool python_lp_pool(struct call *c)
{
    uint32_t n = spatial(c);
    struct value kernel = repeat_number(c, arg(c, 2), n), p = arg(c, 1);
    struct value stride = arg_given(c, 3) ? arg(c, 3) : py_list(c, NULL, 0);
    struct value x = py_call(c, "pow", (struct value[]){ arg(c, 0), p }, 2);
    struct value args[] = { x, kernel, stride, py_int(c, 0), arg(c, 4) };
    struct value out = py_call(c, row_base(c), args, 5), sign = py_call(c, "sign", &out, 1);
    struct value abs = py_call(c, "abs", &out, 1), relu = py_call(c, "relu", &abs, 1);
    struct value y = py_call(c, "mul", (struct value[]){ sign, relu }, 2), size = py_int(c, 1);
    bool found;
    for (uint32_t i = 0; i < kernel.n; i++)
        size = python_number(c, STR("mul"), (struct value[]){ size, kernel.u.items[i] }, 2, &found);
    y = py_call(c, "mul", (struct value[]){ y, size }, 2);
    struct value power =
        python_number(c, STR("truediv"), (struct value[]){ py_float(c, 1), p }, 2, &found);
    return ret_call(c, py_call(c, "pow", (struct value[]){ y, power }, 2));
}

/* max_unpool1d calls max_unpool2d with a last dimension of size 1. */
static bool unpool_wide(struct call *c, struct value size)
{
    struct value sizes[] = { size, py_int(c, 1) }, last = py_int(c, -1);
    struct value x[] = { arg(c, 0), last }, indices[] = { arg(c, 1), last };
    struct value args[] = { py_call(c, "unsqueeze", x, 2), py_call(c, "unsqueeze", indices, 2),
                            py_list(c, sizes, 2) };
    struct value narrow[] = { py_call(c, "max_unpool2d", args, 3), last };
    return ret_call(c, py_call(c, "squeeze", narrow, 2));
}

/* input, indices, kernel_size, stride, padding, output_size */
bool python_max_unpool(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    uint32_t n = spatial(c);
    struct value kernel = repeat_number(c, arg(c, 2), n), padding = repeat_number(c, arg(c, 4), n);
    struct value stride = arg_given(c, 3) ? repeat_number(c, arg(c, 3), n) : kernel;
    struct value sizes[MAX_SPATIAL], given = arg(c, 5);
    if (c->failed || x.meta->ndim < n || kernel.n != n || padding.n != n || stride.n != n)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        sym_id size = sub(c, x.meta->size[x.meta->ndim - n + i], SYM_ID_ONE);
        size = add(c, mul(c, size, stride.u.items[i].u.sym), kernel.u.items[i].u.sym);
        size = sub(c, size, mul(c, SYM_ID_TWO, padding.u.items[i].u.sym));
        sizes[i] = value_is_sequence(given) && given.n >= n ? given.u.items[given.n - n + i]
                                                            : value_int(size);
    }
    if (n == 1)
        return unpool_wide(c, sizes[0]);
    struct value args[] = { arg(c, 0), arg(c, 1), py_list(c, sizes, n), stride, padding };
    return ret_call(c, py_call(c, row_base(c), args, n == 3 ? 5 : 3));
}

/* input, kernel_size, dilation, padding, stride */
bool python_unfold(struct call *c)
{
    struct value args[5] = { arg(c, 0) };
    for (uint32_t i = 1; i < 5; i++)
        args[i] = repeat_number(c, arg(c, i), 2);
    return ret_call(c, py_op(c, "aten.im2col", args, 5));
}

/* input, output_size, kernel_size, dilation, padding, stride */
bool python_fold(struct call *c)
{
    struct value args[6] = { arg(c, 0) };
    for (uint32_t i = 1; i < 6; i++)
        args[i] = repeat_number(c, arg(c, i), 2);
    return ret_call(c, py_op(c, "aten.col2im", args, 6));
}

/* --- interpolate --- */

struct mode {
    const char *name;
    uint32_t ndim; /* that of the input */
    bool corners;  /* the mode has align_corners */
    const char *base, *antialias;
};

static const struct mode modes[] = {
    { "nearest", 3, false, "upsample_nearest1d", NULL },
    { "nearest", 4, false, "upsample_nearest2d", NULL },
    { "nearest", 5, false, "upsample_nearest3d", NULL },
    { "nearest-exact", 3, false, "_upsample_nearest_exact1d", NULL },
    { "nearest-exact", 4, false, "_upsample_nearest_exact2d", NULL },
    { "nearest-exact", 5, false, "_upsample_nearest_exact3d", NULL },
    { "area", 3, false, "adaptive_avg_pool1d", NULL },
    { "area", 4, false, "adaptive_avg_pool2d", NULL },
    { "area", 5, false, "adaptive_avg_pool3d", NULL },
    { "linear", 3, true, "upsample_linear1d", NULL },
    { "bilinear", 4, true, "upsample_bilinear2d", "_upsample_bilinear2d_aa" },
    { "trilinear", 5, true, "upsample_trilinear3d", NULL },
    { "bicubic", 4, true, "upsample_bicubic2d", "_upsample_bicubic2d_aa" },
};

static const struct mode *find_mode(struct value name, uint32_t ndim)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (py_is(name, modes[i].name) && modes[i].ndim == ndim)
            return &modes[i];
    return NULL;
}

/* _sym_int(input.size(i + 2) * scale_factors[i]). */
static struct value rescaled(struct call *c, struct tensor x, struct value factors)
{
    struct value sizes[MAX_SPATIAL];
    bool found;
    for (uint32_t i = 0; i < factors.n && i < MAX_SPATIAL; i++) {
        struct value args[] = { value_int(x.meta->size[i + 2]), factors.u.items[i] };
        sizes[i] = python_number(c, STR("mul"), args, 2, &found);
        if (!c->failed)
            sizes[i] = python_number(c, STR("sym_int"), &sizes[i], 1, &found);
    }
    return py_list(c, sizes, factors.n < MAX_SPATIAL ? factors.n : MAX_SPATIAL);
}

static bool upsample(struct call *c, struct tensor x, struct value size, struct value factors,
                     struct value name, struct value corners, struct value antialias)
{
    const struct mode *mode = find_mode(name, x.meta->ndim);
    if (!mode)
        return refuse(c, "NotImplementedError",
                      "Input Error: Only 3D, 4D and 5D input Tensors supported (got %uD) for the "
                      "modes: nearest | linear | bilinear | bicubic | trilinear | area | "
                      "nearest-exact (got %.*s)",
                      x.meta->ndim, STR_ARG(name.u.text));
    if (!mode->corners && corners.kind != VALUE_NONE)
        return refuse(c, "ValueError",
                      "align_corners option can only be set with the interpolating modes: linear "
                      "| bilinear | bicubic | trilinear");
    if (mode->name[0] == 'a') /* area */
        return ret_call(c, py_call(c, mode->base, (struct value[]){ value_tensor(x), size }, 2));
    if (corners.kind == VALUE_NONE)
        corners = py_bool(false);
    bool smooth = mode->antialias && py_truth(c, antialias);
    struct value args[] = { value_tensor(x), size, corners, factors };
    if (!mode->corners)
        args[2] = factors;
    return ret_call(c,
                    py_call(c, smooth ? mode->antialias : mode->base, args, mode->corners ? 4 : 3));
}

/* input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias */
bool python_interpolate(struct call *c)
{
    struct tensor x = value_as_tensor(c, arg(c, 0));
    struct value size = arg(c, 1), factors = arg(c, 2);
    if (c->failed)
        return false;
    uint32_t n = x.meta->ndim >= 2 ? x.meta->ndim - 2 : 0;
    if (n > MAX_SPATIAL || (size.kind == VALUE_NONE) == (factors.kind == VALUE_NONE))
        return refuse(c, "ValueError",
                      size.kind == VALUE_NONE
                          ? "either size or scale_factor should be defined"
                          : "only one of size or scale_factor should be defined");
    size = repeat_number(c, size, n);
    factors = repeat_number(c, factors, n);
    if ((size.kind != VALUE_NONE && size.n != n) || (factors.kind != VALUE_NONE && factors.n != n))
        return refuse(c, "ValueError",
                      "Input and output must have the same number of spatial "
                      "dimensions");
    bool recompute = arg_given(c, 5) && py_truth(c, arg(c, 5));
    if (factors.kind != VALUE_NONE && (recompute || py_is(arg(c, 3), "area"))) {
        size = rescaled(c, x, factors);
        factors = value_none();
    }
    return !c->failed && upsample(c, x, size, factors, arg(c, 3), arg(c, 4), arg(c, 6));
}

/* input, size, scale_factor: upsample_nearest, upsample_bilinear */
bool python_upsample_old(struct call *c)
{
    bool nearest = str_is(str_of(row_base(c)), "nearest");
    struct value args[7] = { arg(c, 0), arg(c, 1), arg(c, 2) };
    args[3] = (struct value){ .kind = VALUE_STRING,
                              .u.text = nearest ? STR("nearest") : STR("bilinear") };
    args[4] = nearest ? value_none() : py_bool(true);
    args[6] = py_bool(false);
    c->args = args;
    c->n_args = 7;
    return python_interpolate(c);
}

/* input, pad, mode, value */
bool python_pad(struct call *c)
{
    struct value args[] = { arg(c, 0), arg(c, 1), arg(c, 2), arg(c, 3) };
    return ret_call(c, py_call(c, "pad", args, 4));
}

/* Sampling at a grid, and patches of images as columns. */
#include "replay/ops/compose.h"

static const char *shape_text(struct call *c, struct tensor x)
{
    return sizes_text(c, sizes_of(x), ndim_of(x));
}

/* check_grid_sampler_common */
static bool check_grid(struct call *c, struct tensor x, struct tensor grid)
{
    uint32_t n = ndim_of(x);
    if (!require(c, n >= 3 && n == ndim_of(grid), "RuntimeError",
                 "grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, "
                 "but got input with sizes %s and grid with sizes %s",
                 shape_text(c, x), shape_text(c, grid)))
        return false;
    check(c, py_eq(c, size_of(c, x, 0), size_of(c, grid, 0)), "RuntimeError",
          "grid_sampler(): expected grid and input to have same batch size, but got input with "
          "sizes %s and grid with sizes %s",
          shape_text(c, x), shape_text(c, grid));
    check(c, py_eq(c, size_of(c, grid, -1), num(c, (int64_t)n - 2)), "RuntimeError",
          "grid_sampler(): expected grid to have size %u in last dimension, but got grid with "
          "sizes %s",
          n - 2, shape_text(c, grid));
    for (uint32_t i = 2; i < n && !c->failed; i++)
        check(c, gt(c, size_of(c, x, i), SYM_ID_ZERO), "RuntimeError",
              "grid_sampler(): expected input to have non-empty spatial dimensions, but input has "
              "sizes %s with dimension %u being empty",
              shape_text(c, x), i);
    return !c->failed;
}

/* _grid_sampler_2d of torch/_decomp: the grid is spread over the channels first. */
bool rule_grid_sampler_2d(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), grid = arg_tensor(c, 1);
    if (!require(c, ndim_of(x) == 4 && ndim_of(grid) == 4, "RuntimeError",
                 "grid_sampler(): expected 4D input and grid with same number of dimensions, but "
                 "got input with sizes %s and grid with sizes %s",
                 shape_text(c, x), shape_text(c, grid)))
        return false;
    enum dtype result = cast_for_opmath(c, (struct tensor *[]){ &x, &grid }, 2);
    sym_id n = size_of(c, x, 0), channels = size_of(c, x, 1), two = size_of(c, grid, 3);
    require(c, guard_bool(c, py_eq(c, two, num(c, 2))), "AssertionError",
            "grid last dimension must be 2 (for x,y coords), got %s", sym_text(c, two));
    if (c->failed)
        return false;
    sym_id shape[] = { n, SYM_ID_ONE, size_of(c, grid, 1), size_of(c, grid, 2), two };
    if (c->symbolic) {
        struct tensor wide = view(c, grid, shape, 5);
        shape[1] = channels;
        expand(c, wide, shape, 5);
    } else {
        check_grid(c, x, grid);
    }
    shape[1] = channels;
    return ret_tensor(c, new_tensor(c, result, device_of(x), shape, 4));
}

bool rule_grid_sampler_3d(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), grid = arg_tensor(c, 1);
    if (!check_grid(c, x, grid))
        return false;
    require(c, ndim_of(x) == 5, "RuntimeError",
            "grid_sampler(): expected 5D input and grid with same number of dimensions, but got "
            "input with sizes %s and grid with sizes %s",
            shape_text(c, x), shape_text(c, grid));
    require(c, arg_int(c, 2) != 2, "RuntimeError",
            "grid_sampler(): bicubic interpolation only supports 4D input");
    if (c->failed)
        return false;
    sym_id sizes[] = { size_of(c, x, 0), size_of(c, x, 1), size_of(c, grid, 1),
                       size_of(c, grid, 2), size_of(c, grid, 3) };
    return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), sizes, 5));
}

/* grad_output, input, grid, modes, align_corners, output_mask */
bool rule_grid_sampler_backward(struct call *c)
{
    struct tensor x = arg_tensor(c, 1), grid = arg_tensor(c, 2);
    struct value mask = arg(c, 6);
    struct tensor out[2] = { no_tensor(), no_tensor() };
    if (mask.n && mask.u.items[0].u.sym == SYM_ID_TRUE)
        out[0] = new_tensor(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x));
    out[1] = new_tensor(c, dtype_of(grid), device_of(grid), sizes_of(grid), ndim_of(grid));
    return ret_tensors(c, out, 2);
}

bool rule_grid_sampler(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), grid = arg_tensor(c, 1);
    if (!check_grid(c, x, grid))
        return false;
    const char *name = ndim_of(x) == 4 ? "aten.grid_sampler_2d.default"
                                       : "aten.grid_sampler_3d.default";
    return ret_tensor(c, CALL(c, name, T(x), T(grid), arg(c, 2), arg(c, 3), arg(c, 4)));
}

bool rule_affine_grid_generator(struct call *c)
{
    struct tensor theta = arg_tensor(c, 0);
    const sym_id *size;
    uint32_t n = arg_syms(c, 1, &size);
    if (!require(c, n == 4 || n == 5, "RuntimeError",
                 "affine_grid_generator needs 4d (spatial) or 5d (volumetric) inputs."))
        return false;
    sym_id sizes[] = { size[0], size[2], size[3], n == 5 ? size[4] : num(c, 2), num(c, 3) };
    return ret_tensor(c, new_tensor(c, dtype_of(theta), device_of(theta), sizes, n));
}

/* --- Patches --- */

struct patches {
    int64_t kernel[2], dilation[2], padding[2], stride[2];
};

static bool read_pair(struct call *c, uint32_t i, const char *name, int64_t least, int64_t *ret)
{
    const int64_t *list;
    uint32_t n = arg_ints(c, i, &list);
    if (!require(c, n == 2, "RuntimeError", "im2col(): only 2D %s supported", name))
        return false;
    ret[0] = list[0];
    ret[1] = list[1];
    return require(c, list[0] >= least && list[1] >= least, "RuntimeError",
                   "%s should be greater than zero, but got [%d, %d]", name, (int)list[0],
                   (int)list[1]);
}

static bool read_patches(struct call *c, struct patches *p, uint32_t first)
{
    return read_pair(c, first, "kernel_size", 1, p->kernel) &&
           read_pair(c, first + 1, "dilation", 1, p->dilation) &&
           read_pair(c, first + 2, "padding", 0, p->padding) &&
           read_pair(c, first + 3, "stride", 1, p->stride);
}

static sym_id blocks_of(struct call *c, const struct patches *p, uint32_t d, sym_id size)
{
    int64_t reach = p->dilation[d] * (p->kernel[d] - 1);
    sym_id room = add(c, size, num(c, 2 * p->padding[d]));
    room = sub(c, sub(c, room, num(c, reach)), SYM_ID_ONE);
    return add(c, SYM_ID_ONE, floordiv(c, room, num(c, p->stride[d])));
}

static struct tensor range(struct call *c, struct tensor like, sym_id end, int64_t step)
{
    struct value args[] = { I(c, 0), N(end), I(c, step) };
    struct keyword keywords[] = {
        { STR("device"), { .kind = VALUE_DEVICE, .u.device = device_of(like) } },
        { STR("dtype"), dtype_value(DTYPE_I64) },
    };
    struct value out = call_op_keywords(c, "aten.arange.start_step", args, 3, keywords, 2);
    return out.kind == VALUE_TENSOR ? out.u.tensor : no_tensor();
}

/* _im2col_col2im_indices_along_dim */
static struct tensor indices_along(struct call *c, const struct patches *p, uint32_t d,
                                   sym_id size, struct tensor like)
{
    sym_id blocks = add(c, size, num(c, 2 * p->padding[d]));
    blocks = sub(c, blocks, num(c, p->dilation[d] * (p->kernel[d] - 1)));
    struct tensor at = unsqueeze(c, range(c, like, blocks, p->stride[d]), 0);
    sym_id reach = num(c, p->kernel[d] * p->dilation[d]);
    struct tensor kernel = unsqueeze(c, range(c, like, reach, p->dilation[d]), -1);
    return plus(c, T(at), T(kernel));
}

static bool nonzero_tail(struct call *c, struct tensor x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!guard_bool(c, ne(c, size_of(c, x, (int64_t)i - n), SYM_ID_ZERO)))
            return false;
    return true;
}

static struct tensor index_images(struct call *c, const char *name, struct tensor x,
                                  struct tensor rows, struct tensor columns, struct value more)
{
    struct value *items = values(c, 4);
    if (!items)
        return no_tensor();
    items[0] = items[1] = value_none();
    items[2] = T(rows);
    items[3] = T(columns);
    struct value list = value_items(VALUE_LIST, items, 4);
    if (more.kind == VALUE_NONE)
        return CALL(c, name, T(x), list);
    return CALL(c, name, T(x), list, more, B(true));
}

static struct tensor pad_images(struct call *c, struct tensor x, const struct patches *p,
                                int64_t sign)
{
    int64_t pads[] = { sign * p->padding[1], sign * p->padding[1], sign * p->padding[0],
                       sign * p->padding[0] };
    return CALL(c, "aten.constant_pad_nd.default", T(x), dims(c, pads, 4), F(c, 0));
}

/* self, kernel_size, dilation, padding, stride */
bool rule_im2col(struct call *c)
{
    struct patches p;
    struct tensor x = arg_tensor(c, 0);
    uint32_t n = ndim_of(x);
    if (!read_patches(c, &p, 1))
        return false;
    if (!require(c, (n == 3 || n == 4) && nonzero_tail(c, x, 3), "RuntimeError",
                 "Expected 3D or 4D (batch mode) tensor for input with possible 0 batch size and "
                 "non-zero dimensions, but got: %s",
                 shape_text(c, x)))
        return false;
    sym_id out[] = { blocks_of(c, &p, 0, size_of(c, x, -2)),
                     blocks_of(c, &p, 1, size_of(c, x, -1)) };
    bool some_blocks = guard_bool(c, gt(c, out[0], SYM_ID_ZERO)) &&
                       guard_bool(c, gt(c, out[1], SYM_ID_ZERO));
    require(c, some_blocks, "RuntimeError",
            "Given an input with spatial size (%s, %s), the calculated shape of the array of "
            "sliding blocks is (%s, %s), but its components must be at least one.",
            sym_text(c, size_of(c, x, -2)), sym_text(c, size_of(c, x, -1)), sym_text(c, out[0]),
            sym_text(c, out[1]));
    if (n == 3)
        x = unsqueeze(c, x, 0);
    struct tensor rows = indices_along(c, &p, 0, size_of(c, x, 2), x);
    struct tensor columns = indices_along(c, &p, 1, size_of(c, x, 3), x);
    struct tensor padded = pad_images(c, x, &p, 1);
    rows = unsqueeze(c, unsqueeze(c, rows, -1), -1);
    struct tensor y = index_images(c, "aten.index.Tensor", padded, rows, columns, value_none());
    y = permute(c, y, (int64_t[]){ 0, 1, 2, 4, 3, 5 }, 6);
    sym_id kernel = num(c, p.kernel[0] * p.kernel[1]);
    sym_id shape[] = { size_of(c, x, 0), mul(c, size_of(c, x, 1), kernel),
                       mul(c, size_of(c, rows, 1), size_of(c, columns, 1)) };
    y = reshape(c, y, shape, 3);
    return ret_tensor(c, n == 3 ? CALL(c, "aten.squeeze.dim", T(y), I(c, 0)) : y);
}

/* self, output_size, kernel_size, dilation, padding, stride */
bool rule_col2im(struct call *c)
{
    struct patches p;
    struct tensor x = arg_tensor(c, 0);
    const sym_id *size;
    uint32_t n = ndim_of(x), n_size = arg_syms(c, 1, &size);
    require(c, n_size == 2, "RuntimeError", "only 2D output_size supported");
    if (!read_patches(c, &p, 2))
        return false;
    if (!require(c, (n == 2 || n == 3) && nonzero_tail(c, x, 2), "RuntimeError",
                 "Expected 2D or 3D (batch mode) tensor for input with possible 0 batch size and "
                 "non-zero dimensions, but got: %s",
                 shape_text(c, x)))
        return false;
    enum dtype result = cast_for_opmath(c, (struct tensor *[]){ &x }, 1);
    sym_id kernel = num(c, p.kernel[0] * p.kernel[1]);
    check(c, eq_int(c, mod(c, size_of(c, x, -2), kernel), 0), "RuntimeError",
          "Expected size of input's first non-batch dimension to be divisible by the product of "
          "kernel_size, but got input.shape[-2] = %s and kernel_size=[%d, %d]",
          sym_text(c, size_of(c, x, -2)), (int)p.kernel[0], (int)p.kernel[1]);
    sym_id col[] = { blocks_of(c, &p, 0, size[0]), blocks_of(c, &p, 1, size[1]) };
    sym_id all = mul(c, col[0], col[1]);
    check(c, py_eq(c, size_of(c, x, -1), all), "RuntimeError",
          "Given output_size=%s, expected input.size(-1) to be %s but got %s.",
          sizes_text(c, size, 2), sym_text(c, all), sym_text(c, size_of(c, x, -1)));
    check(c, gt(c, all, SYM_ID_ZERO), "RuntimeError",
          "Given output_size=%s, expected input.size(-1) to be %s but got %s.",
          sizes_text(c, size, 2), sym_text(c, all), sym_text(c, size_of(c, x, -1)));
    if (n == 2)
        x = unsqueeze(c, x, 0);
    if (c->failed)
        return false;
    sym_id channels = floordiv(c, size_of(c, x, 1), kernel);
    sym_id shape[] = { size_of(c, x, 0), channels, num(c, p.kernel[0]), num(c, p.kernel[1]),
                       col[0], col[1] };
    struct tensor y = permute(c, reshape(c, x, shape, 6), (int64_t[]){ 0, 1, 2, 4, 3, 5 }, 6);
    struct tensor rows = unsqueeze_to(c, indices_along(c, &p, 0, size[0], x), 4);
    struct tensor columns = indices_along(c, &p, 1, size[1], x);
    sym_id padded[] = { shape[0], channels, add(c, size[0], num(c, 2 * p.padding[0])),
                        add(c, size[1], num(c, 2 * p.padding[1])) };
    struct tensor out = zeros_of(c, x, padded, 4, DTYPE_NONE);
    out = index_images(c, "aten._unsafe_index_put.default", out, rows, columns, T(y));
    out = pad_images(c, out, &p, -1);
    if (n == 2)
        out = CALL(c, "aten.squeeze.dim", T(out), I(c, 0));
    return ret_tensor(c, to_dtype(c, out, result));
}

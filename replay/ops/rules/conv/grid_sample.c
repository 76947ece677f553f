/* Sampling of images at the points of a grid. */
#include "replay/ops/rules/compose.h"

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

/* With symbols a bicubic sample computes only what the others ask first: _grid_sampler_2d of
 * torch/_decomp expands the grid over the channels. */
bool rule_grid_sampler_2d(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), grid = arg_tensor(c, 1);
    if (!require(c, ndim_of(x) == 4 && ndim_of(grid) == 4, "RuntimeError",
                 "grid_sampler(): expected 4D input and grid with same number of dimensions, but "
                 "got input with sizes %s and grid with sizes %s",
                 shape_text(c, x), shape_text(c, grid)))
        return false;
    if (!eager(c) && arg_int(c, 2) != 2)
        return decompose(c, NULL);
    enum dtype result = cast_for_opmath(c, (struct tensor *[]){ &x, &grid }, 2);
    sym_id n = size_of(c, x, 0), channels = size_of(c, x, 1), two = size_of(c, grid, 3);
    require(c, guard_bool(c, py_eq(c, two, num(c, 2))), "AssertionError",
            "grid last dimension must be 2 (for x,y coords), got %s", sym_text(c, two));
    if (c->failed)
        return false;
    sym_id shape[] = { n, SYM_ID_ONE, size_of(c, grid, 1), size_of(c, grid, 2), two };
    if (!eager(c)) {
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
    sym_id sizes[] = { size_of(c, x, 0), size_of(c, x, 1), size_of(c, grid, 1), size_of(c, grid, 2),
                       size_of(c, grid, 3) };
    return ret_tensor(c, new_tensor(c, dtype_of(x), device_of(x), sizes, 5));
}

/* The arguments are grad_output, input, grid, modes, align_corners, output_mask. */
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

/* The kernels make the checks. */
bool rule_grid_sampler(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), grid = arg_tensor(c, 1);
    const char *name =
        ndim_of(x) == 4 ? "aten.grid_sampler_2d.default" : "aten.grid_sampler_3d.default";
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
    if (!eager(c))
        return decompose(c, NULL);
    sym_id sizes[] = { size[0], size[2], size[3], n == 5 ? size[4] : num(c, 2), num(c, 3) };
    return ret_tensor(c, new_tensor(c, dtype_of(theta), device_of(theta), sizes, n));
}

#include "replay/ops/rules/conv/pooling_shape.h"

#include <stdio.h>
#include <string.h>

const char *pool_size_text(struct call *c, struct tensor x)
{
    const char *list = sizes_text(c, sizes_of(x), ndim_of(x));
    if (eager(c))
        return list;
    size_t n = strlen(list) + sizeof "torch.Size()";
    char *text = scratch(c, n);
    if (!text)
        return list;
    snprintf(text, n, "torch.Size(%s)", list);
    return text;
}

static bool read_list(struct call *c, const struct pool *p, uint32_t i, const char *what,
                      const sym_id *otherwise, sym_id *ret)
{
    const sym_id *list;
    uint32_t n = arg_syms(c, i, &list);
    if (n == 0 && otherwise) {
        memcpy(ret, otherwise, p->n * sizeof *ret);
        return !c->failed;
    }
    if (!require(c, n == 1 || n == p->n, "RuntimeError",
                 "%s: %s must either be a single int, or a tuple of %s ints", p->name, what,
                 p->n == 2 ? "two" : "three"))
        return false;
    for (uint32_t k = 0; k < p->n; k++)
        ret[k] = list[n == 1 ? 0 : k];
    return true;
}

bool pool_read(struct call *c, struct pool *p, uint32_t first, bool dilated)
{
    for (uint32_t i = 0; i < POOL_MAX; i++)
        p->dilation[i] = SYM_ID_ONE;
    return read_list(c, p, first, "kernel_size", NULL, p->kernel) &&
           read_list(c, p, first + 1, "stride", p->kernel, p->stride) &&
           read_list(c, p, first + 2, "padding", NULL, p->padding) &&
           (!dilated || read_list(c, p, first + 3, "dilation", NULL, p->dilation));
}

/* div_rtn: a floor division, which guarded on whether it is exact. */
static sym_id divide_down(struct call *c, sym_id x, sym_id y)
{
    sym_id q = floordiv(c, x, y);
    if (behaves(c->env, BEHAVIOR_POOLING_FLOOR_DIVIDES))
        return q;
    sym_id r = mod(c, x, y);
    if (guard_bool(c, ne(c, r, SYM_ID_ZERO)) &&
        guard_bool(c, lt(c, r, SYM_ID_ZERO)) != guard_bool(c, lt(c, y, SYM_ID_ZERO)))
        q = sub(c, q, SYM_ID_ONE);
    return q;
}

sym_id pool_output(struct call *c, const struct pool *p, uint32_t i, sym_id size)
{
    sym_id pad = p->padding[i], stride = p->stride[i], one = SYM_ID_ONE;
    check(c, ne(c, stride, SYM_ID_ZERO), "RuntimeError", "stride should not be zero");
    check(c, ge(c, pad, SYM_ID_ZERO), "RuntimeError", "pad must be non-negative, but got pad: %s",
          sym_text(c, pad));
    sym_id reach = mul(c, p->dilation[i], sub(c, p->kernel[i], one));
    check(c, le(c, pad, floordiv(c, add(c, reach, one), num(c, 2))), "RuntimeError",
          "pad should be at most half of effective kernel size, but got pad=%s, kernel_size=%s "
          "and dilation=%s",
          sym_text(c, pad), sym_text(c, p->kernel[i]), sym_text(c, p->dilation[i]));
    if (c->failed)
        return SYM_ID_ONE;
    sym_id span = add(c, add(c, size, pad), pad);
    span = sub(c, sub(c, span, reach), one);
    if (p->ceil_mode)
        span = add(c, span, sub(c, stride, one));
    sym_id out = add(c, divide_down(c, span, stride), one);
    if (p->ceil_mode && guard_bool(c, ge(c, mul(c, sub(c, out, one), stride), add(c, size, pad))))
        out = sub(c, out, one);
    return out;
}

static bool all_positive(struct call *c, const sym_id *list, uint32_t n)
{
    for (uint32_t i = n; i-- > 0;)
        if (!guard_bool(c, gt(c, list[i], SYM_ID_ZERO)))
            return false;
    return true;
}

/* The conditions together: Python's `and` evaluates one after the other, sym_and() makes one of
 * them. */
static sym_id joined(struct call *c, const sym_id *conditions, uint32_t n)
{
    sym_id all = SYM_ID_TRUE;
    bool one = behaves(c->env, BEHAVIOR_POOLING_JOINS_CHECKS);
    for (uint32_t i = 0; i < n; i++) {
        if (one)
            all = both(c, all, conditions[i]);
        else if (!guard_bool(c, conditions[i]))
            return SYM_ID_FALSE;
    }
    return all;
}

/* Of the dimensions from `first` to `last`. */
static sym_id are_nonzero(struct call *c, struct tensor x, uint32_t first, uint32_t last)
{
    sym_id list[TENSOR_MAX_DIM];
    for (uint32_t i = first; i <= last; i++)
        list[i - first] = ne(c, size_of(c, x, (int)i), SYM_ID_ZERO);
    return joined(c, list, last - first + 1);
}

static bool check_pooling_lists(struct call *c, const struct pool *p)
{
    const struct {
        const char *what, *letter;
        const sym_id *list;
    } lists[] = { { "kernel size", "k", p->kernel },
                  { "stride", "d", p->stride },
                  { "dilation", "dilation", p->dilation } };
    for (uint32_t i = 0; i < 3 && !c->failed; i++) {
        const sym_id *l = lists[i].list;
        const char *letter = lists[i].letter;
        bool good = all_positive(c, l, p->n);
        if (p->n == 2)
            require(c, good, "RuntimeError",
                    "%s should be greater than zero, but got %sH: %s, %sW: %s", lists[i].what,
                    letter, sym_text(c, l[0]), letter, sym_text(c, l[1]));
        else
            require(c, good, "RuntimeError",
                    "%s should be greater than zero, but got %sT: %s, %sH: %s, %sW: %s",
                    lists[i].what, letter, sym_text(c, l[0]), letter, sym_text(c, l[1]), letter,
                    sym_text(c, l[2]));
    }
    return !c->failed;
}

static sym_id half_kernel(struct call *c, const struct pool *p, uint32_t i)
{
    sym_id half = floordiv(c, p->kernel[i], num(c, 2));
    return ge(c, half, p->padding[i]);
}

static sym_id at_least_one(struct call *c, sym_id size)
{
    return ge(c, size, SYM_ID_ONE);
}

bool pool_check_2d(struct call *c, const struct pool *p, struct tensor x, enum memory_format format)
{
    uint32_t ndim = ndim_of(x);
    if (!check_pooling_lists(c, p))
        return false;
    bool batch = ndim == 4, valid = batch || (ndim == 3 && format != FORMAT_CHANNELS_LAST);
    sym_id nonzero = valid ? are_nonzero(c, x, batch, ndim - 1) : SYM_ID_FALSE;
    if (format == FORMAT_CHANNELS_LAST)
        check(c, nonzero, "RuntimeError",
              "Expected 4D (batch mode) tensor expected for input with channels_last layout "
              "with optional 0 dim batch size for input, but got: %s",
              pool_size_text(c, x));
    else
        check(c, nonzero, "RuntimeError",
              "Expected 3D or 4D (batch mode) tensor with optional 0 dim batch size for input, "
              "but got:%s%s",
              eager(c) ? "" : " ", pool_size_text(c, x));
    sym_id halves[] = { half_kernel(c, p, 1), half_kernel(c, p, 0) };
    check(c, joined(c, halves, 2), "RuntimeError",
          "pad should be smaller than or equal to half of kernel size, but got padW = %s, padH = "
          "%s, kW = %s, kH = %s",
          sym_text(c, p->padding[1]), sym_text(c, p->padding[0]), sym_text(c, p->kernel[1]),
          sym_text(c, p->kernel[0]));
    if (c->failed)
        return false;
    const char *planes = sym_text(c, size_of(c, x, -3));
    sym_id left[] = { at_least_one(c, p->out[1]), at_least_one(c, p->out[0]) };
    return check(c, joined(c, left, 2), "RuntimeError",
                 "Given input size: (%sx%sx%s). Calculated output size: (%sx%sx%s). Output size "
                 "is too small",
                 planes, sym_text(c, size_of(c, x, -2)), sym_text(c, size_of(c, x, -1)), planes,
                 sym_text(c, p->out[0]), sym_text(c, p->out[1]));
}

static bool check_nonempty_3d(struct call *c, struct tensor x, const char *name)
{
    uint32_t ndim = ndim_of(x);
    if (!require(c, ndim == 4 || ndim == 5, "RuntimeError",
                 "%s: Expected 4D or 5D tensor for input, but got: %s", name, pool_size_text(c, x)))
        return false;
    for (uint32_t i = ndim == 5; i < ndim && !c->failed; i++) {
        sym_id size = size_of(c, x, i);
        char index[12];
        snprintf(index, sizeof index, "%u", i);
        check(c, gt(c, size, SYM_ID_ZERO), "RuntimeError",
              "%s: Expected input's non-batch dimensions to have positive length, but input has a "
              "shape of %s and non-batch dimension %s has length zero!",
              name, pool_size_text(c, x), sym_text(c, size));
    }
    return !c->failed;
}

bool pool_check_3d(struct call *c, const struct pool *p, struct tensor x, const char *name,
                   bool check_input)
{
    if (!check_pooling_lists(c, p) || !check_nonempty_3d(c, x, name))
        return false;
    const sym_id *in = sizes_of(x) + (ndim_of(x) - 3), *k = p->kernel, *pad = p->padding;
    if (check_input) {
        sym_id fits[] = { ge(c, in[0], k[0]), ge(c, in[1], k[1]), ge(c, in[2], k[2]) };
        check(c, joined(c, fits, 3), "RuntimeError",
              "input image (T: %s H: %s W: %s) smaller than kernel size (kT: %s kH: %s kW: %s)",
              sym_text(c, in[0]), sym_text(c, in[1]), sym_text(c, in[2]), sym_text(c, k[0]),
              sym_text(c, k[1]), sym_text(c, k[2]));
    }
    sym_id halves[] = { half_kernel(c, p, 0), half_kernel(c, p, 2), half_kernel(c, p, 1) };
    check(c, joined(c, halves, 3), "RuntimeError",
          "pad should be smaller than or equal to half of kernel size, but got kT: %s kW: %s kH: "
          "%s padT: %s padW: %s padH: %s",
          sym_text(c, k[0]), sym_text(c, k[2]), sym_text(c, k[1]), sym_text(c, pad[0]),
          sym_text(c, pad[2]), sym_text(c, pad[1]));
    if (c->failed)
        return false;
    const char *slices = sym_text(c, size_of(c, x, -4));
    sym_id left[] = { at_least_one(c, p->out[0]), at_least_one(c, p->out[2]),
                      at_least_one(c, p->out[1]) };
    return check(c, joined(c, left, 3), "RuntimeError",
                 "Given input size: (%sx%sx%sx%s). Calculated output size: (%sx%sx%sx%s). Output "
                 "size is too small",
                 slices, sym_text(c, in[0]), sym_text(c, in[1]), sym_text(c, in[2]), slices,
                 sym_text(c, p->out[0]), sym_text(c, p->out[1]), sym_text(c, p->out[2]));
}

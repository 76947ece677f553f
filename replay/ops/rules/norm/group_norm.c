/* Group normalisation (torch/_refs, torch/_decomp/decompositions.py). */
#include "replay/ops/rules/compose.h"

struct group_norm {
    struct tensor input, weight, bias;
    sym_id batch, channels, inner, groups, per_group;
    struct value eps;
};

static struct tensor unsqueeze_all(struct call *c, struct tensor x, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to && !c->failed; i++)
        x = unsqueeze(c, x, i);
    return x;
}

/* Computes x * w + b, where w and b combine the statistics with the weight and the bias. */
static struct tensor normalise_on_cpu(struct call *c, const struct group_norm *g, struct tensor x,
                                      struct tensor mean, struct tensor rstd)
{
    sym_id affine[] = { SYM_ID_ONE, g->groups, g->per_group, SYM_ID_ONE };
    struct tensor w = times(c, T(rstd), T(reshape(c, g->weight, affine, 4)));
    struct tensor b = times(c, T(CALL(c, "aten.neg.default", T(mean))), T(w));
    if (some(g->bias))
        b = plus(c, T(b), T(reshape(c, g->bias, affine, 4)));
    sym_id size[] = { g->batch, g->channels }, stride[] = { g->channels, SYM_ID_ONE };
    uint32_t n = ndim_of(g->input);
    w = CALL(c, "aten.as_strided.default", T(contiguous(c, w)), ints(c, size, 2),
             ints(c, stride, 2));
    b = CALL(c, "aten.as_strided.default", T(contiguous(c, b)), ints(c, size, 2),
             ints(c, stride, 2));
    w = unsqueeze_all(c, w, 2, n);
    b = unsqueeze_all(c, b, 2, n);
    return plus(c, T(times(c, T(x), T(w))), T(b));
}

static struct tensor plain_form(struct call *c, const struct group_norm *g, struct tensor shaped,
                                struct tensor mean, struct tensor rstd)
{
    uint32_t n = ndim_of(g->input);
    struct tensor out = times(c, T(minus(c, T(shaped), T(mean))), T(rstd));
    out = view(c, out, sizes_of(g->input), n);
    if (some(g->weight))
        out = times(c, T(out), T(unsqueeze_all(c, unsqueeze(c, g->weight, 0), 2, n)));
    if (some(g->bias))
        out = plus(c, T(out), T(unsqueeze_all(c, unsqueeze(c, g->bias, 0), 2, n)));
    return out;
}

/* native_group_norm of torch/_refs */
static bool run_group_norm_reference(struct call *c, struct group_norm *g)
{
    enum dtype dtype = dtype_of(g->input);
    int64_t list[] = { 2, 3 };
    struct tensor x = convert(c, g->input, computation_dtype(dtype)), mean, var;
    sym_id shape[] = { g->batch, g->groups, g->per_group, g->inner };
    struct tensor shaped = reshape(c, x, shape, 4), out;
    var_mean(c, shaped, list, 2, &var, &mean);
    struct tensor rstd = CALL(c, "aten.rsqrt.default", T(plus(c, T(var), g->eps)));
    if (on_cpu(g->input) && some(g->weight))
        out = normalise_on_cpu(c, g, x, mean, rstd);
    else
        out = plain_form(c, g, shaped, mean, rstd);
    out = convert(c, out, dtype);
    mean = squeeze_dims(c, convert(c, mean, dtype), list, 2);
    rstd = squeeze_dims(c, convert(c, rstd, dtype), list, 2);
    return ret_tensors(c, (struct tensor[]){ out, mean, rstd }, 3);
}

/* A check after the one for divisible channels. */
static bool fits_channels(struct call *c, const struct group_norm *g, struct tensor x,
                          const char *name)
{
    return !some(x) ||
           (require(c, ndim_of(x) == 1, "RuntimeError",
                    "Expected %s to be a vector of size equal to the number of channels in input, "
                    "but got %s of shape torch.Size(%s) and input of shape torch.Size(%s)",
                    name, name, sizes_text(c, sizes_of(x), ndim_of(x)),
                    sizes_text(c, sizes_of(g->input), ndim_of(g->input))) &&
            check(c, py_eq(c, numel(c, x), g->channels), "RuntimeError",
                  "Expected %s to be a vector of size equal to the number of channels in input, "
                  "but got %s of shape torch.Size(%s) and input of shape torch.Size(%s)",
                  name, name, sizes_text(c, sizes_of(x), ndim_of(x)),
                  sizes_text(c, sizes_of(g->input), ndim_of(g->input))));
}

static bool is_positive_number(struct call *c, sym_id n, const char *what)
{
    return check(c, py_gt(c, n, SYM_ID_ZERO), "RuntimeError",
                 "Expected %s to be greater than 0, got %s", what, sym_text(c, n));
}

/* The checks before the one for divisible channels. */
static bool counts_are_positive(struct call *c, const struct group_norm *g)
{
    return is_positive_number(c, g->channels, "number of channels") &&
           is_positive_number(c, g->inner, "HxW") && is_positive_number(c, g->groups, "num groups");
}

/* What is contiguous as the kernel makes it. */
static void make_contiguous(struct call *c, struct group_norm *g)
{
    enum memory_format format = on_cpu(g->input) ? suggest_format(c, g->input) : FORMAT_CONTIGUOUS;
    if (!c->failed && !is_contiguous(c, g->input, format))
        g->input = clone_format(c, g->input, format);
    g->weight = contiguous(c, g->weight);
    g->bias = contiguous(c, g->bias);
}

bool rule_native_group_norm(struct call *c)
{
    struct group_norm g = { .input = arg_tensor(c, 0), .weight = arg_tensor(c, 1) };
    g.bias = arg_tensor(c, 2);
    g.batch = arg_sym(c, 3);
    g.channels = arg_sym(c, 4);
    g.inner = arg_sym(c, 5);
    g.groups = num(c, arg_int(c, 6));
    g.eps = arg(c, 7);
    uint32_t n = ndim_of(g.input);
    c->in_kernel = !c->symbolic;
    const bool checks = !eager(c) && behaves(c->env, BEHAVIOR_GROUP_NORM_CHECKS_SIZES);
    if (!require(c, n >= 2, "RuntimeError",
                 "Expected at least 2 dimensions for input tensor but received %u", n) ||
        (checks && !counts_are_positive(c, &g)) ||
        !check(c, eq_int(c, mod(c, g.channels, g.groups), 0), "RuntimeError",
               "Expected number of channels in input to be divisible by num_groups, but got input "
               "of shape torch.Size(%s) and num_groups = %s",
               sizes_text(c, sizes_of(g.input), n), sym_text(c, g.groups)) ||
        (checks &&
         (!fits_channels(c, &g, g.weight, "weight") || !fits_channels(c, &g, g.bias, "bias"))))
        return false;
    if (checks)
        make_contiguous(c, &g);
    g.per_group = floordiv(c, g.channels, g.groups);
    if (!eager(c))
        return run_group_norm_reference(c, &g);
    sym_id stat[] = { g.batch, g.groups };
    struct device device = common_device(c, (struct tensor[]){ g.input, g.weight, g.bias }, 3);
    enum dtype dtype = dtype_of(g.input);
    enum memory_format format = on_cpu(g.input) ? suggest_format(c, g.input) : FORMAT_CONTIGUOUS;
    require(c, is_contiguous(c, g.input, format), "RuntimeError",
            "Expected X.is_contiguous(memory_format) to be true, but got false.  (Could this error "
            "message be improved?  If so, please report an enhancement request to PyTorch.)");
    enum dtype stat_dtype = on_cpu(g.input) && some(g.weight) ? dtype_of(g.weight) : dtype;
    struct tensor out[] = {
        new_tensor_format(c, dtype, device, sizes_of(g.input), n, format),
        new_tensor(c, stat_dtype, device, stat, 2),
        new_tensor(c, stat_dtype, device, stat, 2),
    };
    return ret_tensors(c, out, 3);
}

/* group_norm of aten/src/ATen/native/group_norm.cpp */
bool rule_group_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), weight = arg_tensor(c, 2), bias = arg_tensor(c, 3);
    int64_t groups = arg_int(c, 1);
    struct value eps = arg_fixed(c, 4);
    sym_id batch = size_of(c, x, 0), channels = size_of(c, x, 1), inner = SYM_ID_ONE;
    if (c->failed)
        return false;
    require(c, groups > 0, "RuntimeError", "Expected num groups to be greater than 0, got %d",
            (int)groups);
    check(c, eq_int(c, mod(c, channels, num(c, groups)), 0), "RuntimeError",
          "Expected number of channels in input to be divisible by num_groups, but got input of "
          "shape %s and num_groups=%d",
          sizes_text(c, sizes_of(x), ndim_of(x)), (int)groups);
    const struct tensor affine[] = { weight, bias };
    for (uint32_t i = 0; i < 2 && !c->failed; i++) {
        if (!some(affine[i]))
            continue;
        bool fits = ndim_of(affine[i]) == 1 && guard_bool(c, eq(c, numel(c, affine[i]), channels));
        require(c, fits, "RuntimeError",
                "Expected %s to be a vector of size equal to the number of channels in input, but "
                "got %s of shape %s and input of shape %s",
                i ? "bias" : "weight", i ? "bias" : "weight",
                sizes_text(c, sizes_of(affine[i]), ndim_of(affine[i])),
                sizes_text(c, sizes_of(x), ndim_of(x)));
    }
    for (uint32_t i = 2; i < ndim_of(x); i++)
        inner = mul(c, inner, size_of(c, x, i));
    enum memory_format format = suggest_format_c10(c, x);
    if (!on_cpu(x))
        format = FORMAT_CONTIGUOUS;
    if (!c->failed && !is_contiguous(c, x, format))
        x = clone_format(c, x, format);
    struct value out =
        CALL_VALUE(c, "aten.native_group_norm.default", T(x), T(contiguous(c, weight)),
                   T(contiguous(c, bias)), N(batch), N(channels), N(inner), I(c, groups), eps);
    return ret_tensor(c, item_tensor(c, out, 0));
}

/* --- Backward --- */

struct group_backward {
    struct tensor grad, input, mean, rstd, gamma;
    sym_id batch, channels, inner, groups, per_group;
    struct tensor ds, db;
};

static struct tensor group_sum(struct call *c, const struct group_backward *g, struct tensor x)
{
    sym_id shape[] = { g->batch, g->groups, g->per_group };
    if (some(g->gamma))
        x = times(c, T(x), T(unsqueeze(c, g->gamma, 0)));
    return sum_dims(c, reshape(c, x, shape, 3), (int64_t[]){ 2 }, 1, false);
}

static struct tensor grad_input(struct call *c, const struct group_backward *g)
{
    struct value s = true_divide(c, F(c, 1), N(mul(c, g->inner, g->per_group)));
    struct tensor ds = group_sum(c, g, g->ds), db = group_sum(c, g, g->db);
    sym_id affine[] = { SYM_ID_ONE, g->groups, g->per_group };
    struct tensor rstd = unsqueeze(c, g->rstd, -1);
    struct tensor scale = some(g->gamma)
                              ? reshape(c, g->gamma, affine, 3)
                              : full_of(c, g->rstd, "aten.ones.default", affine, 3, DTYPE_NONE);
    struct tensor c1 = times(c, T(rstd), T(scale));
    struct tensor c2 = minus(c, T(times(c, T(db), T(g->mean))), T(ds));
    for (uint32_t i = 0; i < 3; i++)
        c2 = times(c, T(c2), T(g->rstd));
    c2 = times(c, T(c2), s);
    struct tensor left = times(c, T(CALL(c, "aten.neg.default", T(c2))), T(g->mean));
    struct tensor right = times(c, T(times(c, T(db), T(g->rstd))), s);
    struct tensor c3 = minus(c, T(left), T(right));
    c1 = unsqueeze(c, c1, -1);
    c2 = unsqueeze_to(c, c2, 4);
    c3 = unsqueeze_to(c, c3, 4);
    sym_id shape[] = { g->batch, g->groups, g->per_group, g->inner };
    struct tensor a = times(c, T(reshape(c, g->grad, shape, 4)), T(c1));
    struct tensor b = times(c, T(reshape(c, g->input, shape, 4)), T(c2));
    struct tensor out = plus(c, T(plus(c, T(a), T(b))), T(c3));
    return reshape(c, out, sizes_of(g->input), ndim_of(g->input));
}

static struct tensor grad_gamma(struct call *c, const struct group_backward *g)
{
    sym_id shape[] = { g->batch, g->groups, g->per_group };
    struct tensor ds = view(c, g->ds, shape, 3), db = view(c, g->db, shape, 3);
    struct tensor scaled = times(c, T(db), T(unsqueeze(c, g->mean, -1)));
    struct tensor out = times(c, T(minus(c, T(ds), T(scaled))), T(unsqueeze(c, g->rstd, -1)));
    return reshape(c, sum_dims(c, out, (int64_t[]){ 0 }, 1, false), &g->channels, 1);
}

static void check_backward(struct call *c, const struct group_backward *g)
{
    sym_id all = mul(c, mul(c, g->batch, g->channels), g->inner);
    const char *error = "RuntimeError", *channels = sym_text(c, g->channels);
    check(c, eq(c, numel(c, g->input), all), error, "Expect input to have %s elements",
          sym_text(c, all));
    sym_id stat[] = { g->batch, g->groups };
    bool fits = ndim_of(g->mean) == 2;
    for (uint32_t i = 0; i < 2 && fits; i++)
        fits = guard_bool(c, eq(c, size_of(c, g->mean, i), stat[i]));
    require(c, fits, error, "Expect mean to have shape (%s, %s, but got torch.Size(%s)",
            sym_text(c, g->batch), sym_text(c, g->groups),
            sizes_text(c, sizes_of(g->mean), ndim_of(g->mean)));
    if (some(g->gamma))
        check(c, eq(c, numel(c, g->gamma), g->channels), error,
              "Expect gamma to have %s elements but got %s", channels,
              sym_text(c, numel(c, g->gamma)));
    check(c, eq(c, g->channels, mul(c, g->per_group, g->groups)), error,
          "Expect number of channels %s to be evenly-divisible by number of groups %s", channels,
          sym_text(c, g->groups));
}

/* grad, input, mean, rstd, weight, N, C, HxW, group, output_mask */
bool rule_native_group_norm_backward(struct call *c)
{
    struct group_backward g = { .grad = arg_tensor(c, 0), .input = arg_tensor(c, 1) };
    struct value mask = arg(c, 9);
    bool on[3];
    g.mean = arg_tensor(c, 2);
    g.rstd = arg_tensor(c, 3);
    g.gamma = arg_tensor(c, 4);
    for (uint32_t i = 0; i < 3; i++)
        on[i] = i < mask.n && mask.u.items[i].u.sym == SYM_ID_TRUE;
    enum dtype result =
        cast_for_opmath(c, (struct tensor *[]){ &g.grad, &g.input, &g.mean, &g.rstd, &g.gamma }, 5);
    g.batch = arg_sym(c, 5);
    g.channels = arg_sym(c, 6);
    g.inner = arg_sym(c, 7);
    g.groups = num(c, arg_int(c, 8));
    if (c->failed)
        return false;
    g.per_group = floordiv(c, g.channels, g.groups);
    check_backward(c, &g);
    sym_id shape[] = { g.batch, g.channels, g.inner };
    int64_t inner[] = { 2 }, first[] = { 0 };
    g.ds = view(c, times(c, T(g.grad), T(g.input)), shape, 3);
    g.ds = sum_dims(c, g.ds, inner, 1, false);
    g.db = sum_dims(c, view(c, g.grad, shape, 3), inner, 1, false);
    struct tensor out[3] = { no_tensor(), no_tensor(), no_tensor() };
    if (on[0])
        out[0] = to_dtype(c, grad_input(c, &g), result);
    if (on[1])
        out[1] = to_dtype(c, grad_gamma(c, &g), result);
    if (on[2])
        out[2] = to_dtype(c, sum_dims(c, g.db, first, 1, false), result);
    return ret_tensors(c, out, 3);
}

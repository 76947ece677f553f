/* Batch normalisation and the operators that are built on it (torch/_decomp/decompositions.py,
 * aten/src/ATen/native/Normalization.cpp). */
#include "replay/ops/rules/compose.h"

struct batch_norm {
    struct tensor input, weight, bias, mean, var;
    bool training, functional;
    struct value momentum, eps;
    struct tensor out, save_mean, save_rstd, new_mean, new_var;
};

static uint32_t all_but_channels(struct tensor x, int64_t *ret)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < ndim_of(x); i++)
        if (i != 1)
            ret[n++] = i;
    return n;
}

/* momentum * fresh + (1 - momentum) * running */
static struct tensor moving_average(struct call *c, struct value momentum, struct tensor fresh,
                                    struct tensor running)
{
    struct tensor a = times(c, T(fresh), momentum);
    struct tensor b = times(c, T(running), F(c, 1 - sym_to_double(c->pool, momentum.u.sym)));
    return plus(c, T(a), T(b));
}

static void normalise_training(struct call *c, struct batch_norm *b)
{
    int64_t list[TENSOR_MAX_DIM];
    uint32_t n = all_but_channels(b->input, list);
    struct tensor var, mean, x = to_dtype(c, b->input, computation_dtype(dtype_of(b->input)));
    var_mean(c, x, list, n, &var, &mean);
    struct tensor rstd = CALL(c, "aten.rsqrt.default", T(plus(c, T(var), b->eps)));
    b->out = times(c, T(minus(c, T(b->input), T(mean))), T(rstd));
    b->save_mean = squeeze_dims(c, mean, list, n);
    b->save_rstd = squeeze_dims(c, rstd, list, n);
    if (some(b->mean)) {
        b->new_mean = moving_average(c, b->momentum, b->save_mean, b->mean);
        if (!b->functional)
            CALL(c, "aten.copy_.default", T(b->mean), T(b->new_mean));
    }
    if (some(b->var)) {
        struct value count = true_divide(c, N(numel(c, b->input)), N(size_of(c, b->input, 1)));
        struct tensor flat = squeeze_dims(c, var, list, n);
        struct value scale = true_divide(c, count, number_minus(c, count, 1));
        b->new_var = moving_average(c, b->momentum, times(c, T(flat), scale), b->var);
        if (!b->functional)
            CALL(c, "aten.copy_.default", T(b->var), T(b->new_var));
    }
}

static void normalise_eval(struct call *c, struct batch_norm *b)
{
    enum dtype computation = computation_dtype(dtype_of(b->input));
    uint32_t ndim = ndim_of(b->input);
    if (!require(c, some(b->mean) && some(b->var), "AssertionError",
                 "running_mean and running_var must not be None in eval mode"))
        return;
    b->new_mean = to_dtype_copy(c, b->mean, computation);
    b->new_var = to_dtype_copy(c, b->var, computation);
    struct tensor std = CALL(c, "aten.sqrt.default", T(plus(c, T(b->new_var), b->eps)));
    struct tensor rstd = times(c, T(CALL(c, "aten.reciprocal.default", T(std))), I(c, 1));
    if (on_cpu(b->input)) {
        sym_id zero[] = { SYM_ID_ZERO };
        b->save_mean = zeros_of(c, b->input, zero, 1, DTYPE_NONE);
        b->save_rstd = zeros_of(c, b->input, zero, 1, DTYPE_NONE);
    } else {
        b->save_mean = b->new_mean;
        b->save_rstd = rstd;
    }
    struct tensor mean = unsqueeze_to(c, b->new_mean, ndim ? ndim - 1 : 0);
    rstd = unsqueeze_to(c, rstd, ndim ? ndim - 1 : 0);
    b->out = times(c, T(minus(c, T(b->input), T(mean))), T(rstd));
}

static struct tensor along_channels(struct call *c, struct tensor x, uint32_t ndim)
{
    if (ndim_of(x) == 1)
        count_dispatches(c, 1); /* flatten() of a 1-dim tensor returns it. */
    else
        x = CALL(c, "aten.flatten.using_ints", T(x), I(c, 0), I(c, -1));
    return unsqueeze_to(c, x, ndim ? ndim - 1 : 0);
}

/* native_batch_norm_helper */
static void normalise(struct call *c, struct batch_norm *b)
{
    uint32_t ndim = ndim_of(b->input);
    b->new_mean = b->mean;
    b->new_var = b->var;
    /* PyTorch dispatches aten.full for a number, and _native_batch_norm_legit where it does not
     * train. */
    count_dispatches(c, b->training ? 1 : 2);
    if (b->training)
        normalise_training(c, b);
    else
        normalise_eval(c, b);
    if (some(b->weight))
        b->out = times(c, T(b->out), T(along_channels(c, b->weight, ndim)));
    if (some(b->bias))
        b->out = plus(c, T(b->out), T(along_channels(c, b->bias, ndim)));
    if (on_cpu(b->input)) {
        b->save_mean = to_dtype(c, b->save_mean, dtype_of(b->input));
        b->save_rstd = to_dtype(c, b->save_rstd, dtype_of(b->input));
    }
    b->out = to_dtype(c, b->out, dtype_of(b->input));
}

/* Bits of param: the arguments and results of an overload. */
enum {
    BN_STATS = 1,    /* Running statistics are among the arguments. */
    BN_TRAINING = 2, /* `training` is among the arguments. BN_ALWAYS: it is not, and is true. */
    BN_ALWAYS = 4,
    BN_FUNCTIONAL = 8, /* New statistics are among the results. */
    BN_RESERVE = 16
};

static struct tensor new_reserve(struct call *c, struct tensor input)
{
    return full_of(c, input, "aten.empty.memory_format", (sym_id[]){ SYM_ID_ZERO }, 1, DTYPE_U8);
}

bool rule_batch_norm_kernel(struct call *c)
{
    struct batch_norm b = { .input = arg_tensor(c, 0), .weight = arg_tensor(c, 1) };
    uint32_t i = 3;
    b.bias = arg_tensor(c, 2);
    b.mean = b.var = no_tensor();
    if (c->param & BN_STATS) {
        b.mean = arg_tensor(c, i++);
        b.var = arg_tensor(c, i++);
    }
    b.training = c->param & BN_TRAINING ? arg_bool(c, i++) : (c->param & BN_ALWAYS) != 0;
    b.functional = c->param & BN_FUNCTIONAL;
    b.momentum = arg(c, i++);
    b.eps = arg(c, i);
    uint32_t least = b.training && !eager(c) ? 1 : 2;
    if (!require(c, ndim_of(b.input) >= least, "RuntimeError",
                 "batch_norm: input has %u dimensions", ndim_of(b.input)))
        return false;
    normalise(c, &b);
    if (eager(c) && some(b.out))
        b.out = new_tensor_format(c, dtype_of(b.out), device_of(b.out), sizes_of(b.out),
                                  ndim_of(b.out), suggest_format(c, b.input));
    struct tensor out[6] = { b.out, b.save_mean, b.save_rstd };
    uint32_t n = 3;
    if (c->param & BN_RESERVE)
        out[n++] = new_reserve(c, b.input);
    if (b.functional) {
        out[n++] = b.new_mean;
        out[n++] = b.new_var;
    }
    return ret_tensors(c, out, n);
}

/* --- The composite --- */

static void same_features(struct call *c, struct tensor x, sym_id features, const char *name)
{
    if (some(x))
        check(c, eq(c, numel(c, x), features), "RuntimeError",
              "%s should contain %s elements not %s", name, sym_text(c, features),
              sym_text(c, numel(c, x)));
}

/* _select_batch_norm_backend: returns true where it selects cuDNN. */
static bool takes_cudnn(struct call *c, const struct batch_norm *b)
{
    enum dtype dtype = dtype_of(b->input);
    bool stats = some(b->mean) && some(b->var);
    bool neither = !some(b->mean) && !some(b->var) && b->training;
    if (!on_cuda(b->input) || dtype == DTYPE_BF16 || dtype_of(b->weight) == DTYPE_BF16 ||
        (dtype == DTYPE_F16 && dtype_of(b->weight) != DTYPE_F32) || !some(b->weight) ||
        !some(b->bias) || !(stats || neither) || ndim_of(b->input) < 3)
        return false;
    sym_id batch = size_of(c, b->input, 0);
    bool spatial = guard_bool(c, le(c, batch, num(c, 880801)));
    if (!b->training)
        spatial = guard_bool(c, le(c, batch, num(c, 65535)));
    if (!spatial)
        return false;
    return sym_to_double(c->pool, b->eps.u.sym) >= 1e-5 - 1e-12 &&
           guard_bool(c, lt(c, numel(c, b->input), num(c, INT32_MAX)));
}

static bool is_batched(const struct batch_norm *b)
{
    return b->input.batch || b->weight.batch || b->bias.batch || b->mean.batch || b->var.batch;
}

/* native_batch_norm_decomposition, which the Python dispatcher calls; vmap has a batching rule of
 * native_batch_norm. */
static struct value run_kernel(struct call *c, const struct batch_norm *b)
{
    bool stats = some(b->mean);
    require(c, some(b->mean) == some(b->var), "RuntimeError",
            "running_%s is None, but running_%s is provided. They should both be None or both be "
            "provided.",
            stats ? "var" : "mean", stats ? "mean" : "var");
    if (is_batched(b))
        return CALL_VALUE(c, "aten.native_batch_norm.default", T(b->input), T(b->weight),
                          T(b->bias), T(b->mean), T(b->var), B(b->training), b->momentum, b->eps);
    if (!stats)
        return CALL_VALUE(c, "aten._native_batch_norm_legit.no_stats", T(b->input), T(b->weight),
                          T(b->bias), B(b->training), b->momentum, b->eps);
    if (b->training)
        return CALL_VALUE(c, "aten._native_batch_norm_legit.default", T(b->input), T(b->weight),
                          T(b->bias), T(b->mean), T(b->var), B(true), b->momentum, b->eps);
    return CALL_VALUE(c, "aten._native_batch_norm_legit_no_training.default", T(b->input),
                      T(b->weight), T(b->bias), T(b->mean), T(b->var), b->momentum, b->eps);
}

static struct tensor normalise_empty(struct call *c, const struct batch_norm *b)
{
    struct tensor out = CALL(c, "aten.clone.default", T(b->input));
    if (some(b->weight))
        out = times(c, T(out), T(CALL(c, "aten.select.int", T(b->weight), I(c, 0), I(c, 0))));
    if (some(b->bias))
        out = plus(c, T(out), T(CALL(c, "aten.select.int", T(b->bias), I(c, 0), I(c, 0))));
    return out;
}

/* _batch_norm_impl_index of aten/src/ATen/native/Normalization.cpp. Sets *reserve unless cuDNN
 * makes it. */
static struct value impl_index(struct call *c, struct batch_norm *b, int64_t *index,
                               struct tensor *reserve)
{
    *index = 0;
    *reserve = no_tensor();
    sym_id features = ndim_of(b->input) > 1 ? size_of(c, b->input, 1) : SYM_ID_ZERO;
    if (guard_bool(c, eq_int(c, numel(c, b->input), 0))) {
        struct value *items = values(c, 3);
        enum dtype dtype = computation_dtype(dtype_of(b->input));
        if (!items)
            return value_none();
        items[0] = T(normalise_empty(c, b));
        for (uint32_t i = 1; i < 3; i++)
            items[i] = T(full_of(c, b->input, "aten.empty.memory_format", &features, 1, dtype));
        return value_items(VALUE_TUPLE, items, 3);
    }
    require(c, b->training || some(b->mean), "RuntimeError",
            "running_mean must be defined in evaluation mode");
    require(c, b->training || some(b->var), "RuntimeError",
            "running_var must be defined in evaluation mode");
    same_features(c, b->mean, features, "running_mean");
    same_features(c, b->var, features, "running_var");
    same_features(c, b->weight, features, "weight");
    same_features(c, b->bias, features, "bias");
    if (!takes_cudnn(c, b)) {
        *reserve = new_reserve(c, b->input);
    } else {
        enum memory_format format = suggest_format_c10(c, b->input);
        if (!c->failed && !is_contiguous(c, b->input, format))
            b->input = clone_format(c, b->input, format);
        *index = 1;
    }
    struct value ret = run_kernel(c, b);
    /* The other results of cudnn_batch_norm (torch/_decomp/decompositions.py). */
    for (int i = b->training ? 2 : 0; i < 3 && *index == 1 && !c->failed; i++)
        zeros_of(c, b->input, (sym_id[]){ SYM_ID_ZERO }, 1, DTYPE_U8);
    return ret;
}

static struct batch_norm composite_args(struct call *c)
{
    struct batch_norm b = { .input = arg_tensor(c, 0), .weight = arg_tensor(c, 1) };
    b.bias = arg_tensor(c, 2);
    b.mean = arg_tensor(c, 3);
    b.var = arg_tensor(c, 4);
    b.training = arg_bool(c, 5);
    b.momentum = arg_fixed(c, 6);
    b.eps = arg_fixed(c, 7);
    /* _batch_norm_impl_index of aten/src/ATen/native/Normalization.cpp reads a second size that is
     * not there, without a check, and uses it only if the input has elements. */
    require(
        c, ndim_of(b.input) >= 2 || guard_bool(c, eq_int(c, numel(c, b.input), 0)), "IndexError",
        "Dimension out of range (expected to be in range of [-%u, %d], but got 1)",
        ndim_of(b.input) ? ndim_of(b.input) : 1, ndim_of(b.input) ? (int)ndim_of(b.input) - 1 : 0);
    return b;
}

bool rule_batch_norm(struct call *c)
{
    struct batch_norm b = composite_args(c);
    struct tensor reserve;
    int64_t index;
    return !c->failed && ret_tensor(c, item_tensor(c, impl_index(c, &b, &index, &reserve), 0));
}

bool rule_batch_norm_impl_index(struct call *c)
{
    struct batch_norm b = composite_args(c);
    struct tensor reserve;
    int64_t index = 0;
    if (c->failed)
        return false;
    struct value out = impl_index(c, &b, &index, &reserve), *items = values(c, 5);
    if (!items || c->failed)
        return false;
    for (uint32_t i = 0; i < 3; i++)
        items[i] = T(item_tensor(c, out, i));
    items[3] = T(some(reserve) ? reserve : new_reserve(c, b.input));
    items[4] = I(c, index);
    return ret_value(c, value_items(VALUE_TUPLE, items, 5));
}

static struct tensor repeated(struct call *c, struct tensor x, sym_id times_)
{
    return some(x) ? CALL(c, "aten.repeat.default", T(x), ints(c, &times_, 1)) : x;
}

/* Writes the mean of the instances' running statistics to x. */
static void keep_mean(struct call *c, struct tensor x, struct tensor all, sym_id b, sym_id channels)
{
    if (!some(x))
        return;
    sym_id shape[] = { b, channels };
    int64_t first = 0;
    struct tensor mean = CALL(c, "aten.mean.dim", T(view(c, all, shape, 2)), dims(c, &first, 1));
    CALL(c, "aten.copy_.default", T(CALL(c, "aten.alias.default", T(x))), T(mean));
}

bool rule_instance_norm(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), mean = arg_tensor(c, 3), var = arg_tensor(c, 4);
    bool use_stats = arg_bool(c, 5);
    require(c, use_stats || (some(mean) && some(var)), "RuntimeError",
            "Expected running_mean and running_var to be defined when use_input_stats is false");
    uint32_t n = ndim_of(x);
    sym_id batch = size_of(c, x, 0), channels = size_of(c, x, 1), *shape = syms(c, n);
    if (!shape || c->failed)
        return false;
    for (uint32_t i = 0; i < n; i++)
        shape[i] = size_of(c, x, i);
    shape[1] = mul(c, batch, channels);
    shape[0] = SYM_ID_ONE;
    struct tensor weight = repeated(c, arg_tensor(c, 1), batch);
    struct tensor bias = repeated(c, arg_tensor(c, 2), batch);
    struct tensor all_mean = repeated(c, mean, batch), all_var = repeated(c, var, batch);
    struct tensor flat = view(c, contiguous(c, x), shape, n);
    struct tensor out = CALL(c, "aten.batch_norm.default", T(flat), T(weight), T(bias), T(all_mean),
                             T(all_var), B(use_stats), arg_fixed(c, 6), arg_fixed(c, 7), arg(c, 8));
    keep_mean(c, mean, all_mean, batch, channels);
    keep_mean(c, var, all_var, batch, channels);
    return ret_tensor(c, view(c, out, sizes_of(x), n));
}

/* --- Backward --- */

/* _broadcast_batch_norm_backward */
static struct tensor unsqueeze_to_input(struct call *c, struct tensor x, struct tensor input)
{
    for (uint32_t axis = 0; axis < ndim_of(input) && !c->failed; axis++) {
        sym_id mask = axis == 1 ? size_of(c, input, 1) : SYM_ID_ONE;
        if (!guard_bool(c, eq_int(c, mask, 1)))
            continue;
        if (axis < ndim_of(x) && guard_bool(c, eq(c, size_of(c, x, axis), mask)))
            continue;
        x = unsqueeze(c, x, axis);
    }
    return x;
}

struct bn_backward {
    struct tensor grad, input, weight, mean, rstd;
    bool train, on[3];
    struct tensor out[3];
};

static void run_backward(struct call *c, struct bn_backward *b, enum dtype dtype,
                         enum dtype weight_dtype)
{
    int64_t list[TENSOR_MAX_DIM];
    uint32_t n = all_but_channels(b->input, list);
    sym_id all = SYM_ID_ONE;
    for (uint32_t i = 0; i < ndim_of(b->input); i++)
        all = mul(c, all, size_of(c, b->input, i));
    struct value norm = true_divide(c, F(c, 1), true_divide(c, N(all), N(size_of(c, b->input, 1))));
    struct tensor mean = unsqueeze_to_input(c, b->mean, b->input);
    struct tensor sum = sum_dims(c, b->grad, list, n, false);
    struct tensor centred = minus(c, T(b->input), T(mean));
    struct tensor dot = sum_dims(c, times(c, T(b->grad), T(centred)), list, n, false);
    struct tensor grad_mean = unsqueeze_to_input(c, times(c, T(sum), norm), b->input);
    struct tensor scale = times(c, T(times(c, T(dot), norm)), T(times(c, T(b->rstd), T(b->rstd))));
    scale = unsqueeze_to_input(c, scale, b->input);
    struct tensor grad_scale;
    if (some(b->weight))
        grad_scale = unsqueeze_to_input(c, times(c, T(b->rstd), T(b->weight)), b->input);
    else
        grad_scale = times(c, T(unsqueeze_to_input(c, b->rstd, b->input)), F(c, 1));
    struct tensor grad;
    if (b->train) {
        struct tensor proj = times(c, T(minus(c, T(b->input), T(mean))), T(scale));
        grad = minus(c, T(minus(c, T(b->grad), T(proj))), T(grad_mean));
        grad = times(c, T(grad), T(grad_scale));
    } else {
        grad = times(c, T(b->grad), T(grad_scale));
    }
    b->out[1] = b->on[1] ? times(c, T(dot), T(b->rstd)) : no_tensor();
    b->out[2] = b->on[2] ? sum : no_tensor();
    b->out[0] = to_dtype(c, grad, dtype);
    b->out[1] = to_dtype(c, b->out[1], weight_dtype);
    b->out[2] = to_dtype(c, b->out[2], weight_dtype);
}

/* native_batch_norm_backward; with param 1 the arguments are those of cudnn_batch_norm_backward. */
bool rule_batch_norm_backward(struct call *c)
{
    bool cudnn = c->param == 1;
    struct bn_backward b = { .on = { true, true, true } };
    b.grad = arg_tensor(c, cudnn ? 1 : 0);
    b.input = arg_tensor(c, cudnn ? 0 : 1);
    b.weight = arg_tensor(c, 2);
    b.train = cudnn || arg_bool(c, 7);
    struct value eps = arg(c, cudnn ? 7 : 8), mask = arg(c, 9);
    for (uint32_t i = 0; !cudnn && i < 3; i++)
        b.on[i] = i < mask.n && mask.u.items[i].u.sym == SYM_ID_TRUE;
    enum dtype dtype = dtype_of(b.input), computation = computation_dtype(dtype);
    enum dtype weight_dtype = some(b.weight) ? dtype_of(b.weight) : dtype;
    b.grad = to_dtype(c, b.grad, computation);
    b.input = to_dtype(c, b.input, computation);
    b.weight = to_dtype(c, b.weight, computation);
    struct tensor running_mean = to_dtype(c, arg_tensor(c, 3), computation);
    struct tensor running_var = to_dtype(c, arg_tensor(c, 4), computation);
    b.mean = to_dtype(c, arg_tensor(c, 5), computation);
    b.rstd = to_dtype(c, arg_tensor(c, 6), computation);
    if (!require(c, ndim_of(b.input) >= 2, "AssertionError",
                 "rank of the input must be at least 2, got %u", ndim_of(b.input)))
        return false;
    if (!b.train) {
        require(c, some(running_mean) && some(running_var), "AssertionError",
                "running_mean_cast and running_var_cast must not be None in eval mode");
        b.mean = running_mean;
        b.rstd = CALL(c, "aten.rsqrt.default", T(plus(c, T(running_var), eps)));
    }
    if (!require(c, some(b.mean) && some(b.rstd), "AssertionError",
                 "mean and invstd must not be None in training mode"))
        return false;
    run_backward(c, &b, dtype, weight_dtype);
    return ret_tensors(c, b.out, 3);
}

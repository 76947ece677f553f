/* Embeddings and bags of embeddings. */
#include <math.h>

#include "replay/ops/rules/reduce/reduce.h"

static bool is_index_dtype(enum dtype dtype)
{
    return dtype == DTYPE_I64 || dtype == DTYPE_I32;
}

/* Messages name types by torch's legacy names, as "torch.cuda.FloatTensor". */
static bool check_indices(struct call *c, struct tensor indices, const char *function)
{
    return require(c, is_index_dtype(dtype_of(indices)), "RuntimeError",
                   "Expected tensor for argument #1 'indices' to have one of the following scalar "
                   "types: Long, Int; but got torch.%s%sTensor instead (while checking arguments "
                   "for %s)",
                   device_of(indices).type == DEVICE_CUDA ? "cuda." : "",
                   dtype_scalar_name(dtype_of(indices)), function);
}

/* embedding of torch/_meta_registrations.py */
bool rule_embedding(struct call *c)
{
    struct tensor weight = arg_tensor(c, 0), indices = arg_tensor(c, 1);
    uint32_t n = ndim_of(indices);
    sym_id sizes[TENSOR_MAX_DIM];
    int64_t rows, bad;
    bool matrix = ndim_of(weight) == 2;
    if (!require(c, matrix || eager(c), "AssertionError", "'weight' must be 2-D, got %u-D",
                 ndim_of(weight)) ||
        !require(c, matrix, "RuntimeError", "'weight' must be 2-D") ||
        !check_indices(c, indices, "embedding") ||
        !require(c, n < TENSOR_MAX_DIM, "RuntimeError", "too many dimensions: %u", n + 1))
        return false;
    if (sym_to_i64(c->pool, size_of(weight, 0), &rows) &&
        index_outside(c, indices, 0, rows - 1, &bad))
        return refuse(c, "IndexError", "index out of range in self");
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = size_of(indices, i);
    sizes[n] = size_of(weight, 1);
    if (device_equal(device_of(weight), device_of(indices)) &&
        device_of(weight).type != DEVICE_CUDA)
        count_dispatches(c, 2); /* new_empty, empty */
    return ret_tensor(c, new_beside(c, weight, dtype_of(weight), sizes, n + 1));
}

/* meta_embedding_dense_backward */
bool rule_embedding_dense_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    uint32_t n = ndim_of(grad);
    if (!require(c, n > 0, "IndexError", "Dimension specified as -1 but tensor has no dimensions"))
        return false;
    sym_id sizes[] = { arg_sym(c, 2), size_of(grad, n - 1) };
    return ret_tensor(c, new_beside(c, grad, dtype_of(grad), sizes, 2));
}

bool rule_embedding_backward(struct call *c)
{
    if (arg_bool(c, 5))
        return unsupported(c, "embedding_backward with sparse gradients");
    return decompose(c, NULL);
}

/* --- Bags --- */

enum { BAG_SUM, BAG_MEAN, BAG_MAX };

struct bag {
    struct tensor weight, indices, offsets, scale;
    int64_t mode, padding;
    bool last_offset;
};

static struct bag bag_arguments(struct call *c)
{
    return (struct bag){ .weight = arg_tensor(c, 0),
                         .indices = arg_tensor(c, 1),
                         .offsets = arg_tensor(c, 2),
                         .scale = arg_tensor(c, 6),
                         .mode = arg_int(c, 4),
                         .padding = arg_int_or(c, 8, -1),
                         .last_offset = arg_bool(c, 7) };
}

static bool check_bag(struct call *c, const struct bag *b)
{
    if (!require(c, is_index_dtype(dtype_of(b->indices)), "RuntimeError",
                 "expected indices to be long or int, got %s",
                 dtype_python_name(dtype_of(b->indices))) ||
        !require(c, is_index_dtype(dtype_of(b->offsets)), "RuntimeError",
                 "expected offsets to be long or int, got %s",
                 dtype_python_name(dtype_of(b->offsets))) ||
        !require(c, dtype_is_float(dtype_of(b->weight)), "RuntimeError",
                 "expected weight to be floating point type, got %s",
                 dtype_python_name(dtype_of(b->weight))))
        return false;
    if (b->last_offset && !check(c, ge(c, size_of(b->offsets, 0), SYM_ID_ONE), "RuntimeError",
                                 "include_last_offset: numBags should be at least 1"))
        return false;
    if (!b->scale.meta)
        return true;
    return require(c, b->mode == BAG_SUM, "RuntimeError",
                   "embedding_bag: per_sample_weights only supported with mode='sum'") &&
           require(c, ndim_of(b->scale) == 1, "RuntimeError",
                   "expected per_sample_weights to be 1D tensor, got %uD", ndim_of(b->scale)) &&
           check(c, py_eq(c, numel(c, b->scale), numel(c, b->indices)), "RuntimeError",
                 "expected per_sample_weights.numel() (%s to be the same as indices.numel() (%s)",
                 sym_text(c, numel(c, b->scale)), sym_text(c, numel(c, b->indices)));
}

/* is_fast_path of meta_embedding_bag */
static bool fast_bag(struct call *c, const struct bag *b, struct tensor output)
{
    return (dtype_of(b->weight) == DTYPE_F32 || dtype_of(b->weight) == DTYPE_F16 ||
            (dtype_of(b->weight) == DTYPE_BF16 && eager(c))) &&
           guard_bool(c, eq_int(c, stride_of(b->weight, 1), 1)) &&
           guard_bool(c, eq_int(c, stride_of(output, 1), 1)) && b->padding < 0 &&
           (!b->scale.meta || guard_bool(c, eq_int(c, stride_of(b->scale, 0), 1)));
}

/* meta_embedding_bag; param is 1 for _embedding_bag_forward_only. */
bool rule_embedding_bag(struct call *c)
{
    struct bag b = bag_arguments(c);
    if (c->failed || !check_bag(c, &b))
        return false;
    sym_id listed = size_of(b.offsets, 0), many = size_of(b.indices, 0), zero = SYM_ID_ZERO;
    sym_id bags = b.last_offset ? sub(c, listed, SYM_ID_ONE) : listed;
    sym_id wide[] = { bags, size_of(b.weight, 1) };
    struct tensor all[4];
    all[0] = new_beside(c, b.weight, dtype_of(b.weight), wide, 2);
    bool cpu = device_of(b.offsets).type == DEVICE_CPU;
    struct tensor like = cpu ? b.offsets : b.indices;
    enum dtype dtype = dtype_of(like);
    bool map = !cpu || b.mode != BAG_SUM || !fast_bag(c, &b, all[0]);
    all[1] = new_beside(c, like, dtype, map ? &many : &zero, 1);
    bool counted = !c->param || (eager(c) && b.mode != BAG_SUM); /* make_bag_size_out */
    all[2] = new_beside(c, like, dtype, cpu && counted ? &bags : &listed, 1);
    /* C++ makes max_indices like bag_size. The meta function makes it before it changes the size
     * of bag_size. */
    const sym_id *most = cpu && !counted && eager(c) ? &listed : cpu ? &bags : &zero;
    if (b.mode == BAG_MAX)
        all[3] = new_beside(c, like, dtype, wide, 2);
    else
        all[3] = new_beside(c, like, dtype, most, 1);
    if (!c->param)
        count_dispatches(c, 8); /* new_empty, empty */
    return ret_tensors(c, all, 4);
}

/* embedding_bag of EmbeddingBag.cpp, which is CompositeImplicitAutograd. */
bool rule_embedding_bag_composite(struct call *c)
{
    struct value args[9];
    for (uint32_t i = 0; i < 8; i++)
        args[i] = arg(c, i);
    args[8] = arg_given(c, 8) ? arg(c, 8) : value_number(c, -1);
    struct tensor weight = arg_tensor(c, 0);
    if (arg_given(c, 8) && c->symbolic)
        guard_sizes(c, weight); /* maybe_wrap_dim(padding_idx, weight.size(0)) */
    bool grad = weight.meta && weight.meta->requires_grad;
    return ret_value(c, call_op(c,
                                grad ? "aten._embedding_bag.default"
                                     : "aten._embedding_bag_forward_only.default",
                                args, 9));
}

/* meta_embedding_bag_dense_backward; param is the argument num_weights. */
bool rule_embedding_bag_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0);
    enum dtype dtype = dtype_of(grad);
    if (!require(
            c,
            dtype == DTYPE_F16 || dtype == DTYPE_BF16 || dtype == DTYPE_F32 || dtype == DTYPE_F64,
            "RuntimeError", "Unsupported input type encountered: %s", dtype_python_name(dtype)))
        return false;
    if (c->param == 6 && arg_bool(c, 9))
        return unsupported(c, "_embedding_bag_backward with sparse gradients");
    sym_id sizes[] = { arg_sym(c, (uint32_t)c->param), size_of(grad, 1) };
    return ret_tensor(c, new_beside(c, grad, dtype, sizes, 2));
}

/* meta_embedding_bag_per_sample_weights_backward */
bool rule_embedding_bag_scale_backward(struct call *c)
{
    struct tensor grad = arg_tensor(c, 0), weight = arg_tensor(c, 1), indices = arg_tensor(c, 2);
    if (!require(c, arg_int(c, 5) == BAG_SUM, "RuntimeError",
                 "embedding_bag_backward: per_sample_weights only supported for mode='sum'") ||
        !require(c, ndim_of(grad) == 2 && ndim_of(indices) == 1 && ndim_of(weight) == 2,
                 "RuntimeError", "Expected cond to be True, but got False.") ||
        !check(c, py_eq(c, size_of(weight, 1), size_of(grad, 1)), "RuntimeError",
               "Expected cond to be True, but got False."))
        return false;
    sym_id samples = size_of(indices, 0);
    return ret_tensor(c, new_beside(c, grad, dtype_of(grad), &samples, 1));
}

/* --- multinomial --- */

/* Checks known probabilities as multinomial_out and its CPU kernel do. */
static bool check_probabilities(struct call *c, struct tensor x, bool draws, int64_t categories)
{
    int64_t n;
    double p;
    if (!x.data || !plain_numel(c, x, &n) || categories <= 0)
        return true;
    bool negative = false, infinite = false;
    for (int64_t i = 0; i < n; i++)
        if (element_double(c, x, (uint64_t)i, &p)) {
            /* In the kernel the first such element decides, and NaN is not >= 0. */
            negative |= draws && infinite ? false : draws ? !(p >= 0) : p < 0;
            infinite |= !negative && (isnan(p) || isinf(p));
        }
    if (!draws && (negative || infinite))
        return refuse(c, "RuntimeError",
                      "probability tensor contains either `inf`, `nan` or element < 0");
    if (negative || infinite)
        return refuse(c, "RuntimeError",
                      "invalid multinomial distribution (encountering probability entry %s)",
                      negative ? "< 0" : "= infinity or NaN");
    for (int64_t i = 0; i < n; i += categories) {
        double sum = 0;
        for (int64_t k = 0; k < categories; k++)
            sum += element_double(c, x, (uint64_t)(i + k), &p) ? p : 0;
        if (sum <= 0)
            return refuse(c, "RuntimeError",
                          "invalid multinomial distribution (sum of probabilities <= 0)");
    }
    return true;
}

bool rule_multinomial(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t n = ndim_of(x);
    sym_id samples = arg_sym(c, 1);
    int64_t count, categories;
    struct tensor out = arg_tensor(c, 4);
    if (!require(c, n == 1 || n == 2, "RuntimeError", "prob_dist must be 1 or 2 dim") ||
        !require(c, dtype_is_float(dtype_of(x)), "RuntimeError",
                 "multinomial only supports floating-point dtypes for input, got: %s",
                 dtype_scalar_name(dtype_of(x))) ||
        !require(c, !out.meta || dtype_of(out) == DTYPE_I64, "RuntimeError",
                 "multinomial expects Long tensor out, got: %s", dtype_scalar_name(dtype_of(out))))
        return false;
    if (eager(c) && sym_to_i64(c->pool, samples, &count) &&
        sym_to_i64(c->pool, size_of(x, n - 1), &categories) &&
        (!require(c, count > 0, "RuntimeError", "cannot sample n_sample <= 0 samples") ||
         !require(c, arg_bool(c, 2) || count <= categories, "RuntimeError",
                  "cannot sample n_sample > prob_dist.size(-1) samples without replacement") ||
         !require(c, categories <= 1 << 24, "RuntimeError",
                  "number of categories cannot exceed 2^24") ||
         !check_probabilities(c, x, arg_bool(c, 2) && count > 1, categories)))
        return false;
    sym_id sizes[] = { size_of(x, 0), samples };
    return ret_tensor(c, n == 1 ? new_beside(c, x, DTYPE_I64, &samples, 1)
                                : new_beside(c, x, DTYPE_I64, sizes, 2));
}

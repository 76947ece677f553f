/* Which calls compute their results if the device knows a size of an argument, and the host only
 * the greatest one (struct kernel_extent). For all others the host learns the size first.
 *
 * Rows say why a call may be made at the greatest size: its kernel has a limit that is read on the
 * device (cuda_live_of()), or what it computes beyond the real size does not change the rest. */
#include "replay/backend/cuda/runtime/cuda.h"

#include "replay/backend/pointwise/pointwise_ops.h"

typedef bool takes_fn(struct kernel *k);

static bool leads_if_any(struct kernel_tensor x)
{
    return !x.meta || !x.meta->extent.is || cuda_extent_leads(x);
}

static bool is_number(struct kernel_tensor x)
{
    return !x.meta || !x.meta->extent.is;
}

static bool takes_any(struct kernel *k)
{
    (void)k;
    return true;
}

/* Rows or columns have a limit. */
static bool takes_reduced(struct kernel *k)
{
    return leads_if_any(tensor_arg(k, "self")) && !has_arg(k, "other");
}

/* Rows beyond the size are computed, too, and nothing reads them. */
static bool takes_rows(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    return x.meta && x.meta->extent.is &&
           wrapped_dim(int_arg(k, "dim", 0), x.meta->ndim) != x.meta->extent.dim;
}

/* What is beyond the size is sorted behind the rest. */
static bool takes_sorted(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    return x.meta && x.meta->extent.is &&
           (wrapped_dim(int_arg(k, "dim", -1), x.meta->ndim) != x.meta->extent.dim ||
            cuda_extent_leads(x));
}

static bool takes_normalized(struct kernel *k)
{
    const struct kernel_value *items;
    struct kernel_tensor x = tensor_arg(k, "input");
    uint32_t n = list_arg(k, "normalized_shape", &items);
    return x.meta && x.meta->extent.is && x.meta->extent.dim + n < x.meta->ndim &&
           is_number(tensor_arg(k, "weight")) && is_number(tensor_arg(k, "bias"));
}

static bool takes_mask(struct kernel *k)
{
    return cuda_extent_leads(tensor_arg(k, "self"));
}

static bool takes_selected(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self"), mask = tensor_arg(k, "mask");
    bool same = cuda_extent_leads(x) && cuda_extent_leads(mask) &&
                x.meta->ndim == mask.meta->ndim && x.meta->extent.slot == mask.meta->extent.slot &&
                x.meta->extent.times == mask.meta->extent.times;
    for (uint32_t d = 0; same && d < x.meta->ndim; d++)
        same = x.meta->size[d] == mask.meta->size[d];
    return same;
}

/* Entries have a limit: the index comes first in the result. */
static bool takes_index(struct kernel *k)
{
    bool rows = str_is(k->call->op->base, "embedding");
    struct kernel_tensor index = tensor_arg(k, rows ? "indices" : "index");
    struct kernel_tensor x = tensor_arg(k, rows ? "weight" : "self");
    bool first = rows || str_is(k->call->op->base, "take") || str_is(k->call->op->base, "gather") ||
                 (x.meta && wrapped_dim(int_arg(k, "dim", 0), x.meta->ndim) == 0);
    return first && is_number(x) && leads_if_any(index);
}

/* x[mask], both of one size that the device knows. */
static bool takes_own_mask(struct kernel_tensor x, const struct kernel_value *items, uint32_t n)
{
    struct kernel_tensor mask =
        n == 1 && items[0].kind == KERNEL_TENSOR ? items[0].u.tensor : (struct kernel_tensor){ 0 };
    return cuda_extent_leads(x) && cuda_extent_leads(mask) && mask.meta->ndim == 1 &&
           mask.meta->dtype == DTYPE_B8 && mask.meta->extent.slot == x.meta->extent.slot &&
           mask.meta->extent.times == x.meta->extent.times && x.meta->extent.dim == 0;
}

static bool takes_indices(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "indices", &items);
    int64_t most = 0;
    if (takes_own_mask(tensor_arg(k, "self"), items, n))
        return true;
    bool ok = is_number(tensor_arg(k, "self")) && n > 0 && items[0].kind == KERNEL_TENSOR;
    for (uint32_t i = 0; i < n && ok; i++) {
        struct kernel_tensor x =
            items[i].kind == KERNEL_TENSOR ? items[i].u.tensor : (struct kernel_tensor){ 0 };
        if (!x.meta) /* those that follow it may be at another place of the result */
            return i > 0 && i + 1 == n;
        ok = x.meta->ndim == 1 && x.meta->extent.is && x.meta->dtype == DTYPE_I64 &&
             (most == 0 || most == x.meta->size[0]);
        most = x.meta->size[0];
    }
    return ok;
}

/* Parts of another dimension, or all of that one. */
static bool takes_part(struct kernel *k)
{
    struct kernel_tensor x = tensor_arg(k, "self");
    bool all = int_arg(k, "start", 1) == 0 && int_arg(k, "end", 0) == INT64_MAX &&
               int_arg(k, "step", 1) == 1;
    return all || (x.meta && x.meta->extent.is &&
                   wrapped_dim(int_arg(k, "dim", 0), x.meta->ndim) != x.meta->extent.dim);
}

/* Returns whether the dimension that is summed, counted from the end, is a number. */
static bool sums_number(struct kernel_tensor x, uint32_t summed)
{
    return is_number(x) || (x.meta->ndim > 1 && x.meta->extent.dim + summed != x.meta->ndim);
}

/* Rows and columns beyond the size are computed, too, and nothing reads them. */
static bool takes_product(struct kernel *k)
{
    static const struct {
        const char *first, *second;
    } names[] = { { "mat1", "mat2" },
                  { "batch1", "batch2" },
                  { "mat", "vec" },
                  { "self", "mat2" },
                  { "self", "vec" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (!has_arg(k, names[i].first) || !has_arg(k, names[i].second))
            continue;
        struct kernel_tensor x = tensor_arg(k, names[i].first);
        struct kernel_tensor y = tensor_arg(k, names[i].second);
        return sums_number(x, 1) && sums_number(y, 2);
    }
    return false;
}

/* Each batch is computed alone, those beyond the size, too. */
static bool takes_batches(struct kernel *k)
{
    for (uint32_t i = 0; i < k->call->op->n_args; i++) {
        const struct kernel_value *v = &k->call->args[i];
        if (v->kind == KERNEL_TENSOR && v->u.tensor.meta->extent.is &&
            (v->u.tensor.meta->extent.dim != 0 || !v->u.tensor.meta->ndim))
            return false;
    }
    return is_number(tensor_arg(k, "weight"));
}

/* Tensors that are joined along other dimensions than that of the size, which all have. */
static bool takes_joined(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "tensors", &items);
    for (uint32_t i = 0; i < n; i++) {
        const struct kernel_meta *x =
            items[i].kind == KERNEL_TENSOR ? items[i].u.tensor.meta : NULL;
        const struct kernel_meta *first = items[0].u.tensor.meta;
        if (!x || !x->extent.is || x->extent.slot != first->extent.slot ||
            x->extent.times != first->extent.times || x->extent.dim != first->extent.dim)
            return false;
        if (str_is(k->call->op->base, "cat") &&
            wrapped_dim(int_arg(k, "dim", 0), x->ndim) == x->extent.dim)
            return false;
    }
    return n > 0;
}

/* The first dimension, whose elements are at different places. */
static bool leads_apart(struct kernel_tensor x)
{
    return cuda_extent_leads(x) && x.meta->extent.dim == 0 && x.meta->stride[0] > 0;
}

/* Entries beyond the size are not written. */
static bool takes_scattered(struct kernel *k)
{
    bool rows = str_starts(k->call->op->base, STR("index_")), grad = has_arg(k, "grad_output");
    const char *from = grad ? "grad_output" : has_arg(k, "src") ? "src" : "source";
    struct kernel_tensor x = tensor_arg(k, "self"), to = tensor_arg(k, from);
    if (rows && wrapped_dim(int_arg(k, "dim", 0), x.meta ? x.meta->ndim : 1) != 0)
        return false;
    return is_number(x) && leads_apart(tensor_arg(k, grad ? "indices" : "index")) &&
           (is_number(to) || to.meta->extent.dim == 0);
}

static bool takes_put(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "indices", &items);
    struct kernel_tensor values = tensor_arg(k, "values");
    for (uint32_t i = 0; i < n; i++)
        if (items[i].kind == KERNEL_TENSOR && !leads_apart(items[i].u.tensor))
            return false;
    return takes_indices(k) && is_number(tensor_arg(k, "self")) &&
           (is_number(values) || values.meta->extent.dim == 0);
}

static takes_fn *takes_of(struct str base)
{
    static const struct {
        const char *base;
        takes_fn *takes;
    } rows[] = {
        /* views: the rule has computed all of it */
        { "view", takes_any },
        { "reshape", takes_any },
        { "_unsafe_view", takes_any },
        { "select", takes_any },
        { "squeeze", takes_any },
        { "unsqueeze", takes_any },
        { "unbind", takes_any },
        { "detach", takes_any },
        { "alias", takes_any },
        { "permute", takes_any },
        { "transpose", takes_any },
        { "t", takes_any },
        { "expand", takes_any },
        { "slice", takes_part },
        { "narrow", takes_part },
        { "split", takes_part },
        { "split_with_sizes", takes_part },
        { "chunk", takes_part },
        { "sym_size", takes_any },
        { "sym_numel", takes_any },
        /* filled memory */
        { "empty", takes_any },
        { "full", takes_any },
        { "zeros", takes_any },
        { "ones", takes_any },
        { "new_empty", takes_any },
        { "new_full", takes_any },
        { "new_zeros", takes_any },
        { "new_ones", takes_any },
        /* entries before the end do not depend on those behind it */
        { "cumsum", takes_any },
        { "cumprod", takes_any },
        { "logcumsumexp", takes_any },
        { "cummax", takes_any },
        { "cummin", takes_any },
        { "sum", takes_reduced },
        { "mean", takes_reduced },
        { "prod", takes_reduced },
        { "amax", takes_reduced },
        { "amin", takes_reduced },
        { "any", takes_reduced },
        { "all", takes_reduced },
        { "var", takes_reduced },
        { "std", takes_reduced },
        { "var_mean", takes_reduced },
        { "std_mean", takes_reduced },
        { "linalg_vector_norm", takes_reduced },
        { "logsumexp", takes_reduced },
        { "count_nonzero", takes_reduced },
        { "aminmax", takes_reduced },
        { "max", takes_reduced },
        { "min", takes_reduced },
        { "argmax", takes_reduced },
        { "argmin", takes_reduced },
        { "sort", takes_sorted },
        { "argsort", takes_sorted },
        { "topk", takes_sorted },
        { "_softmax", takes_rows },
        { "_log_softmax", takes_rows },
        { "_safe_softmax", takes_rows },
        { "native_layer_norm", takes_normalized },
        { "nonzero", takes_mask },
        { "masked_select", takes_selected },
        { "index_select", takes_index },
        { "embedding", takes_index },
        { "gather", takes_index },
        { "take", takes_index },
        { "index", takes_indices },
        { "_unsafe_index", takes_indices },
        { "scatter", takes_scattered },
        { "scatter_add", takes_scattered },
        { "scatter_reduce", takes_scattered },
        { "index_add", takes_scattered },
        { "index_copy", takes_scattered },
        { "index_fill", takes_scattered },
        { "index_reduce", takes_scattered },
        { "embedding_dense_backward", takes_scattered },
        { "index_put", takes_put },
        { "_unsafe_index_put", takes_put },
        { "mm", takes_product },
        { "bmm", takes_product },
        { "mv", takes_product },
        { "addmm", takes_product },
        { "baddbmm", takes_product },
        { "addmv", takes_product },
        { "convolution", takes_batches },
        { "max_pool2d_with_indices", takes_batches },
        { "avg_pool2d", takes_batches },
        { "_adaptive_avg_pool2d", takes_batches },
        { "upsample_nearest2d", takes_batches },
        { "upsample_bilinear2d", takes_batches },
        { "cat", takes_joined },
        { "stack", takes_joined },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(base, rows[i].base))
            return rows[i].takes;
    return NULL;
}

static bool is_pointwise(struct str base)
{
    static const char *const names[] = {
#define POINT(base, ...) #base,
#include "replay/backend/pointwise/pointwise.def"
#undef POINT
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(base, names[i]))
            return true;
    return str_is(base, "where");
}

/* Operators of rows whose values depend on more than one element, or on none. */
static bool is_random(const struct backend_call *call)
{
    static const char *const names[] = { "rand",    "randn",     "randint",        "bernoulli",
                                         "dropout", "normal",    "native_dropout", "exponential",
                                         "uniform", "rand_like", "randn_like",     "randint_like" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(call->op->base, names[i]))
            return true;
    return false;
}

/* A number that is a size on the device cannot be an operand. */
static bool has_operands_on_host(const struct backend_call *call)
{
    for (uint32_t i = 0; i < call->op->n_args; i++)
        if (call->args[i].kind == KERNEL_INT && call->args[i].u.number.on_device)
            return false;
    return true;
}

static bool value_has_extent(const struct kernel_value *v, unsigned depth)
{
    if (v->kind == KERNEL_TENSOR)
        return v->u.tensor.meta->extent.is;
    for (uint32_t i = 0; value_has_items(*v) && depth < 4 && i < v->n; i++)
        if (value_has_extent(&v->u.items[i], depth + 1))
            return true;
    return false;
}

bool cuda_has_extents(const struct backend_call *call)
{
    bool any = value_has_extent(&call->result, 0);
    for (uint32_t i = 0; i < call->op->n_args && !any; i++)
        any = value_has_extent(&call->args[i], 0);
    return any;
}

bool cuda_takes_extents(struct backend *backend, const struct backend_call *call)
{
    struct err ignored = { 0 };
    struct kernel k = { .call = call, .err = &ignored };
    takes_fn *takes = takes_of(call->op->base);
    bool ret;
    (void)backend;
    for (uint32_t i = 0; i < call->op->n_args; i++)
        if (call->op->args[i].written)
            return false;
    if (takes)
        ret = takes(&k) && (takes == takes_any || has_operands_on_host(call));
    else
        ret = is_pointwise(call->op->base) && !is_random(call) && has_operands_on_host(call);
    arena_release(&k.arena);
    return ret && !k.failed;
}

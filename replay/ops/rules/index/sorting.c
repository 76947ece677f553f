/* Sorting, searching in sorted tensors, and histograms. */
#include "replay/ops/rules/reduce/reduce.h"

/* meta_sort of torch/_meta_registrations.py; param is the argument dim. */
bool rule_sort(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (eager(c))
        wrap_dim(c, arg_int(c, (uint32_t)c->param), ndim_of(x));
    struct tensor both[] = { new_empty_like(c, x, dtype_of(x)), new_empty_like(c, x, DTYPE_I64) };
    return ret_tensors(c, both, 2);
}

/* topk_meta of torch/_meta_registrations.py */
bool rule_topk(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    uint32_t n = ndim_of(x), dim = wrap_dim(c, arg_int(c, 2), n);
    sym_id k = arg_sym(c, 1), sizes[TENSOR_MAX_DIM];
    const char *text = "selected index k out of range";
    check(c, py_ge(c, k, SYM_ID_ZERO), "RuntimeError", "%s", text);
    check(c, py_le(c, k, size_of(x, dim)), "RuntimeError", "%s", text);
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = i == dim ? k : size_of(x, i);
    struct tensor both[] = { new_beside(c, x, dtype_of(x), sizes, n),
                             new_beside(c, x, DTYPE_I64, sizes, n) };
    return ret_tensors(c, both, 2);
}

/* --- searchsorted, bucketize --- */

/* searchsorted_pre_check of BucketizationUtils.h */
static bool check_side(struct call *c, uint32_t right_arg)
{
    struct value side = arg(c, right_arg + 1);
    if (side.kind != VALUE_STRING)
        return true;
    bool is_right = str_is(side.u.text, "right");
    return require(c, is_right || str_is(side.u.text, "left"), "RuntimeError",
                   "torch.searchsorted(): side can only be 'left' or 'right' but got %.*s",
                   STR_ARG(side.u.text)) &&
           require(c, is_right || !arg_bool(c, right_arg), "RuntimeError",
                   "torch.searchsorted(): side and right can't be set to opposites, got side of "
                   "%.*s while right was True",
                   STR_ARG(side.u.text));
}

static bool same_leading_sizes(struct call *c, struct tensor a, struct tensor b, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (!guard_bool(c, py_eq(c, size_of(a, i), size_of(b, i))))
            return false;
    return true;
}

static bool check_boundaries(struct call *c, struct tensor sorted, struct tensor x)
{
    uint32_t n = ndim_of(sorted);
    if (!require(c, ndim_of(x) > 0 || n == 1, "RuntimeError",
                 "torch.searchsorted(): input value can be a scalar only when boundaries tensor "
                 "dimension is 1, but we got boundaries tensor dim(%u) and input value's dim(%u) "
                 "numel(1)",
                 n, ndim_of(x)) ||
        !require(c, n != 0, "RuntimeError",
                 "torch.searchsorted(): boundaries tensor should have positive dimension, but got "
                 "0 dimension"))
        return false;
    bool match = n == 1 || (n == ndim_of(x) && same_leading_sizes(c, sorted, x, n - 1));
    return require(c, match, "RuntimeError",
                   "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 "
                   "dimensions of boundaries tensor and input value tensor must match, but we got "
                   "boundaries tensor %s and input value tensor %s",
                   sizes_text(c, sorted.meta ? sorted.meta->size : NULL, n),
                   sizes_text(c, x.meta ? x.meta->size : NULL, ndim_of(x)));
}

/* meta_searchsorted of torch/_meta_registrations.py */
bool rule_searchsorted(struct call *c)
{
    struct tensor sorted = arg_tensor(c, 0), x = arg_tensor(c, 1), sorter = arg_tensor(c, 5);
    enum dtype dtype = arg_bool(c, 2) ? DTYPE_I32 : DTYPE_I64;
    if (!check_side(c, 3) || !check_boundaries(c, sorted, x))
        return false;
    if (sorter.meta) {
        bool same = ndim_of(sorter) == ndim_of(sorted) &&
                    same_leading_sizes(c, sorter, sorted, ndim_of(sorter));
        if (!require(c, same, "RuntimeError",
                     "torch.searchsorted(): boundary and sorter must have the same size, but got "
                     "boundary tensor %sand got sorter tensor %s",
                     sizes_text(c, sorted.meta->size, ndim_of(sorted)),
                     sizes_text(c, sorter.meta->size, ndim_of(sorter))))
            return false;
    }
    return ret_tensor(c, x.meta ? new_contiguous_like(c, x, dtype)
                                : new_beside(c, sorted, dtype, NULL, 0));
}

/* meta_bucketize, meta_bucketize_scalar; param is 1 if a number is searched. */
bool rule_bucketize(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), boundaries = arg_tensor(c, 1);
    enum dtype dtype = arg_bool(c, 2) ? DTYPE_I32 : DTYPE_I64;
    if (!require(c, ndim_of(boundaries) == 1, "RuntimeError",
                 "boundaries tensor must be 1 dimension, but got dim(%u)", ndim_of(boundaries)))
        return false;
    return ret_tensor(c, x.meta ? new_contiguous_like(c, x, dtype)
                                : new_beside(c, boundaries, dtype, NULL, 0));
}

/* --- isin --- */

bool rule_isin(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), tests = arg_tensor(c, 1);
    const struct tensor both[] = { x, tests };
    for (int i = 0; i < 2; i++)
        if (!require(c,
                     !both[i].meta || (both[i].meta->dtype != DTYPE_B8 &&
                                       !dtype_is_complex(both[i].meta->dtype)),
                     "RuntimeError", "Unsupported input type encountered for isin(): %s",
                     dtype_scalar_name(dtype_of(both[i]))))
            return false;
    if (eager(c) && x.meta)
        return ret_tensor(c, new_contiguous_like(c, x, DTYPE_B8));
    return ret_tensor(c, x.meta ? new_empty_like(c, x, DTYPE_B8)
                                : new_beside(c, tests, DTYPE_B8, NULL, 0));
}

/* --- Histograms --- */

/* An operator without a meta kernel runs only if no size is symbolic (run_fallback_kernel of
 * torch/_subclasses/fake_tensor.py). */
static bool needs_numbers(struct call *c)
{
    return !c->symbolic ||
           refuse(c, "UnsupportedOperatorException", "%.*s", STR_ARG(op_name(c->op)));
}

/* meta_histc of torch/_meta_registrations.py */
bool rule_histc(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    sym_id bins = arg_sym(c, 1);
    int64_t n = arg_int(c, 1);
    sym_id ordered = promoted_method(c, NODE_METHOD_GE, arg(c, 3), arg(c, 2)).u.sym;
    if (!require(c, device_of(x).type != DEVICE_CPU || dtype_is_float(dtype_of(x)),
                 "NotImplementedError", "\"histogram_cpu\" not implemented for '%s'",
                 dtype_scalar_name(dtype_of(x))) ||
        !require(c, n > 0, "RuntimeError",
                 "torch.histogram(): bins must be > 0, but got %lld for dimension 0",
                 (long long)n) ||
        !check(c, ordered, "RuntimeError", "torch.histc: max must be larger than min"))
        return false;
    return ret_tensor(c, new_beside(c, x, dtype_of(x), &bins, 1));
}

/* histogram.bin_ct */
bool rule_histogram(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (!needs_numbers(c))
        return false;
    int64_t n = arg_int(c, 1);
    if (!require(c, n > 0, "RuntimeError",
                 "torch.histogram(): bins must be > 0, but got %lld for dimension 0", (long long)n))
        return false;
    sym_id bins = num(c, n), edges = num(c, n + 1);
    struct tensor both[] = { new_beside(c, x, dtype_of(x), &bins, 1),
                             new_beside(c, x, dtype_of(x), &edges, 1) };
    return ret_tensors(c, both, 2);
}

/* histogram.bins_tensor */
bool rule_histogram_edges(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), edges = arg_tensor(c, 1);
    if (!needs_numbers(c))
        return false;
    if (!require(c, ndim_of(edges) == 1, "RuntimeError",
                 "torch.histogramdd: bins tensor should have one dimension, but got %u dimensions "
                 "in the bins tensor for dimension 0",
                 ndim_of(edges)) ||
        !require(c, dtype_of(edges) == dtype_of(x), "RuntimeError",
                 "torch.histogramdd: input tensor and bins tensors should have the same dtype, but "
                 "got input with dtype %s and bins for dimension 0 with dtype %s",
                 type_name(dtype_of(x)), type_name(dtype_of(edges))))
        return false;
    sym_id bins = sub(c, size_of(edges, 0), SYM_ID_ONE);
    struct tensor both[] = { new_beside(c, x, dtype_of(x), &bins, 1),
                             new_contiguous_like(c, edges, dtype_of(x)) };
    return ret_tensors(c, both, 2);
}

/* _histogramdd_bin_edges */
/* A meta function replaced the kernel, which alone could tell the values. */
static bool histogramdd_runs(struct call *c)
{
    return behaves(c->env, BEHAVIOR_HISTOGRAMDD_HAS_META) || needs_numbers(c);
}

static bool check_bins(struct call *c, struct tensor x, uint32_t n)
{
    sym_id fits = ndim_of(x) ? py_eq(c, size_of(x, ndim_of(x) - 1), num(c, n)) : SYM_ID_FALSE;
    return check(c, fits, "RuntimeError",
                 "histogramdd: The size of bins must be equal to the innermost dimension of the "
                 "input.");
}

bool rule_histogramdd_edges(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const int64_t *bins = NULL;
    if (!histogramdd_runs(c))
        return false;
    uint32_t n = arg_ints(c, 1, &bins);
    if (!check_bins(c, x, n))
        return false;
    struct tensor *edges = scratch(c, (n + 1) * sizeof *edges);
    for (uint32_t i = 0; i < n && edges; i++) {
        sym_id size = num(c, bins[i] + 1);
        edges[i] = new_beside(c, x, dtype_of(x), &size, 1);
    }
    return edges && ret_list(c, edges, n);
}

/* _histogramdd_from_bin_cts, _histogramdd_from_bin_tensors; param is 1 for tensors. */
bool rule_histogramdd(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    const struct tensor *edges = NULL;
    const int64_t *bins = NULL;
    sym_id sizes[TENSOR_MAX_DIM];
    if (!histogramdd_runs(c))
        return false;
    uint32_t n = c->param ? arg_tensors(c, 1, &edges) : arg_ints(c, 1, &bins);
    if (!require(c, n <= TENSOR_MAX_DIM, "RuntimeError", "too many dimensions: %u", n) ||
        (behaves(c->env, BEHAVIOR_HISTOGRAMDD_HAS_META) && !check_bins(c, x, n)))
        return false;
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = c->param ? sub(c, size_of(edges[i], 0), SYM_ID_ONE) : num(c, bins[i]);
    return ret_tensor(c, new_beside(c, x, dtype_of(x), sizes, n));
}

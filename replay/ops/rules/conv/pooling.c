/* Average and maximum pooling over windows, and their gradients. */
#include "replay/ops/rules/conv/pooling_shape.h"

static const char *pool_name(bool max, uint32_t n)
{
    static const char *const names[] = { "avg_pool2d", "avg_pool3d", "max_pool2d", "max_pool3d" };
    return names[2 * max + (n == 3)];
}

static void compute_sizes(struct call *c, struct pool *p, struct tensor x)
{
    for (uint32_t i = 0; i < p->n; i++)
        p->out[i] = c->failed ? SYM_ID_ONE : pool_output(c, p, i, size_of(c, x, (int64_t)i - p->n));
}

/* Computes the sizes of the result, the last of which count the windows. */
static uint32_t result_sizes(const struct pool *p, struct tensor x, sym_id *ret)
{
    uint32_t n = ndim_of(x);
    for (uint32_t i = 0; i < n; i++)
        ret[i] = i < n - p->n ? x.meta->size[i] : p->out[i - (n - p->n)];
    return n;
}

/* Meta functions read input.size(-3) before they check the rank. */
static bool check_planes(struct call *c, struct tensor x)
{
    uint32_t n = ndim_of(x);
    if (n >= 3 || eager(c))
        return true;
    if (n == 0)
        return refuse(c, "IndexError", "Dimension specified as -3 but tensor has no dimensions");
    return refuse(c, "IndexError",
                  "Dimension out of range (expected to be in range of [-%u, %u], but got -3)", n,
                  n - 1);
}

static bool check_pooling_ndim(struct call *c, const struct pool *p, struct tensor x)
{
    uint32_t n = ndim_of(x);
    return require(c, n == p->n + 1 || n == p->n + 2, "RuntimeError",
                   "non-empty %uD or %uD (batch mode) tensor expected for input", p->n + 1,
                   p->n + 2);
}

/* Reads self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override;
 * `first` is the argument of the kernel. */
static bool read_average(struct call *c, struct pool *p, struct tensor x, uint32_t first)
{
    p->name = pool_name(false, p->n);
    if (!pool_read(c, p, first, false))
        return false;
    p->ceil_mode = arg_bool(c, first + 3);
    enum dtype dtype = dtype_of(x);
    bool is_unsigned =
        dtype == DTYPE_U8 || dtype == DTYPE_U16 || dtype == DTYPE_U32 || dtype == DTYPE_U64;
    require(c, !is_unsigned, "RuntimeError", "\"%s\" not implemented for '%s'", p->name,
            eager(c) ? dtype_scalar_name(dtype) : dtype_python_name(dtype));
    if (p->n == 3)
        check_pooling_ndim(c, p, x);
    require(c, !arg_given(c, first + 5) || arg_int(c, first + 5) != 0, "RuntimeError",
            "divisor must be not zero");
    if (c->failed || (p->n == 2 && !(eager(c) ? check_pooling_ndim(c, p, x) : check_planes(c, x))))
        return false;
    compute_sizes(c, p, x);
    return !c->failed;
}

/* param is the number of dimensions. */
bool rule_avg_pool(struct call *c)
{
    struct pool p = { .n = (uint32_t)c->param };
    struct tensor x = arg_tensor(c, 0);
    sym_id sizes[TENSOR_MAX_DIM];
    if (!read_average(c, &p, x, 1))
        return false;
    enum memory_format format = FORMAT_CONTIGUOUS;
    if (p.n == 2 || eager(c))
        format = suggest_format(c, x);
    bool good =
        p.n == 2 ? pool_check_2d(c, &p, x, format) : pool_check_3d(c, &p, x, "avg_pool3d()", true);
    if (!good)
        return false;
    uint32_t n = result_sizes(&p, x, sizes);
    return ret_tensor(c, new_tensor_format(c, dtype_of(x), device_of(x), sizes, n, format));
}

/* check_dim_size */
static void check_dim(struct call *c, struct tensor x, uint32_t ndim, uint32_t dim, sym_id size)
{
    bool fits = ndim_of(x) == ndim && guard_bool(c, py_eq(c, size_of(c, x, dim), size));
    require(c, fits, "RuntimeError",
            "Expected a tensor of dimension %u and tensor.size[%u] == %s, but got : dimension %u "
            "and tensor.size[%u] = %s",
            ndim, dim, sym_text(c, size), ndim_of(x), dim,
            dim < ndim_of(x) ? sym_text(c, size_of(c, x, dim)) : "");
}

static void check_gradient(struct call *c, const struct pool *p, struct tensor x,
                           struct tensor grad)
{
    uint32_t n = ndim_of(x);
    for (uint32_t i = 0; i <= p->n && !c->failed; i++)
        check_dim(c, grad, n, n - p->n - 1 + i,
                  i == 0 ? size_of(c, x, -(int64_t)p->n - 1) : p->out[i - 1]);
}

/* The arguments are grad_output, self, then those of avg_pool. */
bool rule_avg_pool_backward(struct call *c)
{
    struct pool p = { .n = (uint32_t)c->param };
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1);
    if (!read_average(c, &p, x, 2))
        return false;
    enum memory_format format = p.n == 2 ? suggest_format(c, x) : FORMAT_CONTIGUOUS;
    bool good = p.n == 2 ? pool_check_2d(c, &p, x, format)
                         : pool_check_3d(c, &p, x, "avg_pool3d_backward()", true);
    if (!good)
        return false;
    check_gradient(c, &p, x, grad);
    return ret_tensor(
        c, new_tensor_format(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x), format));
}

/* max_pool2d_checks_and_compute_shape */
static bool read_max(struct call *c, struct pool *p, struct tensor x, uint32_t first,
                     enum memory_format *format)
{
    p->name = pool_name(true, p->n);
    if (!pool_read(c, p, first, true))
        return false;
    p->ceil_mode = arg_bool(c, first + 4);
    *format = FORMAT_CONTIGUOUS;
    if (p->n == 3)
        return check_pooling_ndim(c, p, x);
    if (!check_planes(c, x))
        return false;
    *format = suggest_format(c, x);
    require(c, *format != FORMAT_CHANNELS_LAST_3D, "RuntimeError",
            "Unsupported memory format. Supports only ChannelsLast, Contiguous");
    return check_pooling_ndim(c, p, x);
}

static const char *max_3d_name(const struct call *c, bool backward)
{
    if (eager(c) && !backward)
        return "max_pool3d_with_indices_out_cpu_template()";
    return backward ? "max_pool3d_with_indices_backward()" : "max_pool3d_with_indices()";
}

static bool max_pool(struct call *c, struct tensor *values_, struct tensor *indices,
                     enum dtype index_dtype)
{
    struct pool p = { .n = (uint32_t)c->param };
    struct tensor x = arg_tensor(c, 0);
    enum memory_format format;
    sym_id sizes[TENSOR_MAX_DIM];
    if (!read_max(c, &p, x, 1, &format))
        return false;
    compute_sizes(c, &p, x);
    if (c->failed)
        return false;
    bool good = p.n == 2 ? pool_check_2d(c, &p, x, format)
                         : pool_check_3d(c, &p, x, max_3d_name(c, false), false);
    if (!good)
        return false;
    if (p.n == 3 && ndim_of(x) == 5)
        format = suggest_format(c, x);
    uint32_t n = result_sizes(&p, x, sizes);
    *values_ = new_tensor_format(c, dtype_of(x), device_of(x), sizes, n, format);
    *indices = new_tensor_format(c, index_dtype, device_of(x), sizes, n, format);
    return !c->failed;
}

/* check_max_pool1d of aten/src/ATen/native/MaxPooling.h reads the length as a number. */
bool rule_max_pool1d(struct call *c)
{
    struct tensor x = arg_tensor(c, 0);
    if (x.meta->ndim)
        guard_int(c, x.meta->size[x.meta->ndim - 1]);
    return decompose(c, NULL);
}

bool rule_max_pool_with_indices(struct call *c)
{
    struct tensor out[2];
    return max_pool(c, &out[0], &out[1], DTYPE_I64) && ret_tensors(c, out, 2);
}

/* prims._low_memory_max_pool_with_offsets: the indices are offsets within the window. */
bool rule_low_memory_max_pool(struct call *c)
{
    const int64_t *kernel;
    struct tensor out[2];
    c->param = (int32_t)arg_ints(c, 1, &kernel);
    if (c->failed || c->param < 2 || c->param > 3)
        return unsupported(c, "max pooling over %d dimensions", c->param);
    if (!max_pool(c, &out[0], &out[1], DTYPE_I8))
        return false;
    if (!eager(c)) /* the reference converts indices of that shape (prims.convert_element_type) */
        (void)non_overlapping_and_dense_or_false(c, out[1]);
    return ret_tensors(c, out, 2);
}

bool rule_low_memory_max_pool_indices(struct call *c)
{
    struct tensor offsets = arg_tensor(c, 0);
    return ret_tensor(c, new_like_dtype(c, offsets, DTYPE_I64));
}

/* The arguments are grad_output, self, kernel_size, stride, padding, dilation, ceil_mode,
 * indices. */
bool rule_max_pool_backward(struct call *c)
{
    struct pool p = { .n = (uint32_t)c->param };
    struct tensor grad = arg_tensor(c, 0), x = arg_tensor(c, 1), indices = arg_tensor(c, 7);
    enum memory_format format;
    if (!read_max(c, &p, x, 2, &format))
        return false;
    if (p.n == 2) {
        compute_sizes(c, &p, x);
    } else {
        for (uint32_t i = 0; i < 3; i++)
            p.out[i] = size_of(c, grad, (int64_t)i - 3);
    }
    if (c->failed)
        return false;
    bool good = p.n == 2 ? pool_check_2d(c, &p, x, format)
                         : pool_check_3d(c, &p, x, max_3d_name(c, true), false);
    if (!good)
        return false;
    require(c, p.n == 3 || dtype_of(x) == dtype_of(grad), "RuntimeError",
            "Expected dtype %s for `gradOutput` but got dtype %s", dtype_python_name(dtype_of(x)),
            dtype_python_name(dtype_of(grad)));
    check_gradient(c, &p, x, grad);
    check_gradient(c, &p, x, indices);
    if (p.n == 3 && ndim_of(x) == 5)
        format = suggest_format(c, x);
    return ret_tensor(
        c, new_tensor_format(c, dtype_of(x), device_of(x), sizes_of(x), ndim_of(x), format));
}

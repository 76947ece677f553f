/* Indexing along one dimension, and by positions in the flattened tensor. */
#include <stdio.h>

#include "replay/ops/rules/index/index_fill.h"
#include "replay/ops/rules/reduce/reduce.h"

static sym_id count_indices(struct call *c, struct tensor index)
{
    return ndim_of(index) == 1 ? size_of(index, 0) : numel(c, index);
}

static bool is_index_dtype(enum dtype dtype)
{
    return dtype == DTYPE_I64 || dtype == DTYPE_I32;
}

/* Finds an index value that is outside of a dimension, if both are known. */
static bool find_outside_dim(struct call *c, struct tensor index, struct tensor x, uint32_t dim,
                             bool negative, int64_t *bad, int64_t *size)
{
    return !c->failed && sym_to_i64(c->pool, size_of(x, dim), size) &&
           index_outside(c, index, negative ? -*size : 0, *size - 1, bad);
}

/* --- index_select --- */

bool rule_index_select(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2);
    uint32_t n = ndim_of(x), dim = wrap_dim(c, arg_int(c, 1), n);
    sym_id sizes[TENSOR_MAX_DIM];
    int64_t bad, size;
    if (!require(c, ndim_of(index) <= 1, "IndexError",
                 "index_select(): Index is supposed to be a vector") ||
        !require(c, is_index_dtype(dtype_of(index)), "RuntimeError",
                 "index_select(): Expected dtype int32 or int64 for index"))
        return false;
    struct tensor out = arg_tensor(c, 3), result;
    for (uint32_t i = 0; i < n; i++)
        sizes[i] = i == dim ? count_indices(c, index) : size_of(x, i);
    result = new_beside(c, x, dtype_of(x), sizes, n);
    if (!require(c, !out.meta || dtype_of(out) == dtype_of(x), "RuntimeError",
                 "index_select(): self and result must have the same scalar type") ||
        !check_out_overlap(c, 3, 3, result) ||
        !require(c, !find_outside_dim(c, index, x, dim, false, &bad, &size), "IndexError",
                 "index out of range in self"))
        return false;
    return ret_tensor(c, result);
}

/* --- index_add, index_reduce --- */

static sym_id *sizes_without(struct call *c, struct tensor x, uint32_t dim, uint32_t *n)
{
    sym_id *sizes = syms(c, ndim_of(x));
    *n = 0;
    for (uint32_t i = 0; sizes && i < ndim_of(x); i++)
        if (i != dim)
            sizes[(*n)++] = size_of(x, i);
    return sizes;
}

static bool equal_sizes(const sym_id *a, uint32_t na, const sym_id *b, uint32_t nb)
{
    return na == nb && (na == 0 || (a && b && memcmp(a, b, na * sizeof *a) == 0));
}

/* index_func_meta_impl of TensorAdvancedIndexing.cpp */
static bool check_index_func(struct call *c, const char *name, struct tensor x, uint32_t dim,
                             struct tensor index, struct tensor source)
{
    uint32_t m = ndim_of(source), nx, ns;
    if (!require(c, ndim_of(index) <= 1, "IndexError",
                 "%s_(): Index is supposed to be a vector, but got dim: %u with type: %s and size: "
                 "%s",
                 name, ndim_of(index), dtype_scalar_name(dtype_of(index)),
                 sizes_text(c, index.meta ? index.meta->size : NULL, ndim_of(index))) ||
        !require(c, is_index_dtype(dtype_of(index)), "RuntimeError",
                 "%s_(): Expected dtype int32/int64 for index but got: %s", name,
                 dtype_scalar_name(dtype_of(index))) ||
        !require(c, dtype_of(source) == dtype_of(x), "RuntimeError",
                 "%s_(): self (%s) and source (%s) must have the same scalar type", name,
                 dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(source))) ||
        !require(c, dim == 0 || dim < m, "RuntimeError",
                 "%s_(): Indexing dim %u is out of bounds of the source tensor with dim %u", name,
                 dim, m))
        return false;
    sym_id count = ndim_of(index) == 1 ? size_of(index, 0) : SYM_ID_ONE,
           width = size_of(source, dim);
    if (!check(c, py_eq(c, width, count), "RuntimeError",
               "%s_(): Number of indices (%s) should be equal to source.size(dim): (%s), for dim: "
               "%u",
               name, sym_text(c, count), sym_text(c, width), dim))
        return false;
    sym_id *a = sizes_without(c, x, m ? dim : UINT32_MAX, &nx);
    sym_id *b = sizes_without(c, source, ndim_of(x) ? dim : UINT32_MAX, &ns);
    return !eager(c) || equal_sizes(a, nx, b, ns) ||
           refuse(c, "RuntimeError",
                  "source tensor shape must match self tensor shape, excluding the specified "
                  "dimension. Got self.shape = %s source.shape = %s",
                  sizes_text(c, x.meta->size, ndim_of(x)), sizes_text(c, source.meta->size, m));
}

static bool scales(struct call *c, struct value alpha)
{
    struct value differs = promoted_method(c, NODE_METHOD_NE, alpha, value_int(SYM_ID_ONE));
    return !c->failed && guard_bool(c, differs.u.sym);
}

/* out.contiguous() of what index_put returned, whose strides are those of empty_like(x). */
static bool contiguous_put(struct call *c, struct tensor x)
{
    struct tensor out = new_empty_like(c, x, dtype_of(x));
    if (c->failed || ndim_of(x) == 0 || is_contiguous(c, out, FORMAT_CONTIGUOUS))
        return ret_tensor(c, out);
    count_dispatches(c, 1); /* clone */
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* _index_add of torch/_decomp/decompositions.py calls index_put, then contiguous. */
bool rule_index_add(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2), source = arg_tensor(c, 3);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    int64_t bad, size;
    if (c->failed || !check_index_func(c, "index_add", x, dim, index, source))
        return false;
    if (find_outside_dim(c, index, x, dim, false, &bad, &size))
        return refuse(c, "RuntimeError",
                      "index %lld is out of bounds for dimension %u with size %lld", (long long)bad,
                      dim, (long long)size);
    if (by_decomposition(c)) {
        count_dispatches(c, 1); /* index_put */
        if (value_is_number(arg(c, 4)) && scales(c, arg(c, 4)))
            call2(c, "aten.mul.Tensor", arg(c, 3), arg(c, 4));
        return contiguous_put(c, x);
    }
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* meta_index_reduce of torch/_meta_registrations.py */
bool rule_index_reduce(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2), source = arg_tensor(c, 3);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    struct str reduce = arg_string(c, 4);
    int64_t bad, size;
    if (!eager(c))
        return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
    if (!require(c,
                 str_is(reduce, "prod") || str_is(reduce, "mean") || str_is(reduce, "amax") ||
                     str_is(reduce, "amin"),
                 "RuntimeError",
                 "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got "
                 "%.*s.",
                 STR_ARG(reduce)) ||
        !check_index_func(c, "index_reduce", x, dim, index, source) ||
        !require(c, !find_outside_dim(c, index, x, dim, false, &bad, &size), "IndexError",
                 "index out of range in self"))
        return false;
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* --- index_copy --- */

/* Formats sizes as operator<< prints an IntArrayRef: "4, 3". */
static const char *bare_sizes(struct call *c, const sym_id *sizes, uint32_t n)
{
    const char *text = sizes_text(c, sizes, n);
    size_t length = strlen(text);
    char *copy = scratch(c, length + 1);
    if (!copy)
        return "";
    size_t k = 0;
    for (size_t i = 1; i + 1 < length; i++)
        if (text[i] != ',')
            copy[k++] = text[i];
    copy[k] = 0;
    return copy;
}

static bool check_copy_ranks(struct call *c, struct tensor x, struct tensor index,
                             struct tensor source, sym_id count)
{
    if (!require(c, ndim_of(index) <= 1, "IndexError",
                 "index_copy_(): Index should have dimension 1 or 0 (got %u)", ndim_of(index)))
        return false;
    if (ndim_of(source) == 0) {
        if (!check(c, eq_int(c, count, 1), "IndexError",
                   "index_copy_(): When source is scalar, index should have one element (got %s)",
                   sym_text(c, count)))
            return false;
    } else if (ndim_of(x) != 0 &&
               !require(c, ndim_of(source) == ndim_of(x), "IndexError",
                        "index_copy_(): When source and destination are not scalars, their "
                        "dimensionality must match. Source dimensionality (%u), destination "
                        "dimensionality (%u)",
                        ndim_of(source), ndim_of(x))) {
        return false;
    }
    return require(c, dtype_of(index) == DTYPE_I64 || !eager(c), "RuntimeError",
                   "index_copy_(): Expected a long tensor for index, but got %s",
                   dtype_scalar_name(dtype_of(index))) &&
           require(c, dtype_of(x) == dtype_of(source) || by_decomposition(c), "RuntimeError",
                   "index_copy_(): self and source expected to have the same dtype, but got (self) "
                   "%s and (source) %s",
                   dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(source)));
}

static bool check_copy_slices(struct call *c, struct tensor x, uint32_t dim, struct tensor source)
{
    uint32_t nx, ns;
    sym_id *a = sizes_without(c, x, dim, &nx), *b = sizes_without(c, source, dim, &ns);
    if (!a || !b)
        return false;
    sym_id same = sym_boolean(nx == ns);
    for (uint32_t i = 0; i < nx && nx == ns; i++)
        same = sym_and(c->pool, same, py_eq(c, a[i], b[i]));
    return check(
        c, same, "RuntimeError",
        "index_copy_(): Source/destination tensor must have same slice shapes. Destination "
        "slice shape: %s at dimension %u and source slice shape: %s at dimension 0.",
        bare_sizes(c, a, nx), dim, bare_sizes(c, b, ns));
}

/* _index_copy of torch/_decomp/decompositions.py calls index_put, then contiguous. */
bool rule_index_copy(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2), source = arg_tensor(c, 3);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    int64_t bad, size;
    sym_id count = c->failed ? SYM_ID_ONE : numel(c, index);
    if (c->failed || !check_copy_ranks(c, x, index, source, count) ||
        !check_copy_slices(c, x, dim, source))
        return false;
    if (ndim_of(source) &&
        !check(c, py_eq(c, count, size_of(source, dim)), "IndexError",
               "index_copy_(): Number of indices (%s) should be equal to source.size(dim) (%s)",
               sym_text(c, count), sym_text(c, size_of(source, dim))))
        return false;
    if (find_outside_dim(c, index, x, dim, false, &bad, &size))
        return refuse(c, "IndexError",
                      "index_copy_(): index %lld is out of bounds for dimension %u with size %lld",
                      (long long)bad, dim, (long long)size);
    if (by_decomposition(c))
        count_dispatches(c, 1);
    return ret_tensor(c, new_contiguous_like(c, x, dtype_of(x)));
}

/* --- index_fill --- */

bool rule_index_fill(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 2), value = arg_tensor(c, 3);
    uint32_t dim = wrap_dim(c, arg_int(c, 1), ndim_of(x));
    int64_t bad, size;
    if (!require(c, dtype_of(index) == DTYPE_I64, "IndexError",
                 "index_fill_(): Expected dtype int64 for index.") ||
        !require(c, ndim_of(index) <= 1, "RuntimeError", "Index has to be a vector/scalar") ||
        !require(c, ndim_of(value) == 0, "RuntimeError",
                 "index_fill_ only supports a 0-dimensional value tensor, but got tensor with %u "
                 "dimension(s).",
                 ndim_of(value)) ||
        !require(c, arg(c, 3).kind != VALUE_COMPLEX || dtype_is_complex(dtype_of(x)),
                 "RuntimeError",
                 "index_fill_(): Converting complex Scalar to non-complex type is not supported"))
        return false;
    if (find_outside_dim(c, index, x, dim, true, &bad, &size))
        return refuse(c, "IndexError",
                      "index %lld is out of bounds for dimension %u with size %lld", (long long)bad,
                      dim, (long long)size);
    return by_reference(c) ? index_fill_reference(c, x, dim, index, value)
                           : ret_tensor(c, new_like(c, x));
}

/* --- take, put --- */

static bool find_outside_flat(struct call *c, struct tensor index, struct tensor x, int64_t *bad,
                              int64_t *n)
{
    return !c->failed && plain_numel(c, x, n) && index_outside(c, index, -*n, *n - 1, bad);
}

static bool check_flat(struct call *c, struct tensor index, struct tensor x)
{
    int64_t bad, n;
    return !find_outside_flat(c, index, x, &bad, &n) ||
           refuse(c, "IndexError",
                  "out of range: tried to access index %lld on a tensor of %lld elements.",
                  (long long)bad, (long long)n);
}

/* meta_take of torch/_meta_registrations.py */
bool rule_take(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 1), out = arg_tensor(c, 2);
    if (!require(c, dtype_of(index) == DTYPE_I64, "RuntimeError",
                 "take(): Expected a long tensor for index, but got %s",
                 dtype_scalar_name(dtype_of(index))) ||
        !require(
            c, !out.meta || dtype_of(out) == dtype_of(x), "RuntimeError",
            "take(): self and out expected to have the same dtype, but got self.dtype = %s and "
            "out.dtype = %s",
            dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(out))))
        return false;
    bool empty = guard_bool(c, eq_int(c, numel(c, x), 0)) &&
                 guard_bool(c, ne(c, numel(c, index), SYM_ID_ZERO));
    struct tensor result = new_contiguous_like(c, index, dtype_of(x));
    if (!require(c, !empty, "IndexError", "take(): tried to take from an empty tensor") ||
        !check_out_overlap(c, 2, 2, result) || !check_flat(c, index, x))
        return false;
    return ret_tensor(c, result);
}

bool rule_put(struct call *c)
{
    struct tensor x = arg_tensor(c, 0), index = arg_tensor(c, 1), source = arg_tensor(c, 2);
    if (!require(c, dtype_of(index) == DTYPE_I64, "RuntimeError",
                 "put_(): Expected a long tensor for index, but got %s",
                 dtype_scalar_name(dtype_of(index))) ||
        !require(c, dtype_of(x) == dtype_of(source), "RuntimeError",
                 "put_(): self and source expected to have the same dtype, but got self.dtype = %s "
                 "and source.dtype = %s",
                 dtype_scalar_name(dtype_of(x)), dtype_scalar_name(dtype_of(source))))
        return false;
    if (!eager(c))
        return ret_tensor(c, new_empty_like(c, x, dtype_of(x)));
    int64_t nx, ni, ns;
    if (plain_numel(c, x, &nx) && plain_numel(c, index, &ni) && plain_numel(c, source, &ns) &&
        (!require(c, ni == ns, "IndexError",
                  "put_(): Expected source and index to have the same number of elements, but got "
                  "source.numel() = %lld, index.numel() = %lld",
                  (long long)ns, (long long)ni) ||
         !require(c, nx || !ni, "IndexError",
                  "put_(): Tried to put elements into an empty tensor")))
        return false;
    return check_flat(c, index, x) && ret_tensor(c, new_like(c, x));
}

/* Functions on dimensions, shapes, dtypes and element values that the rules of reductions, scans
 * and indexing share.
 *
 * A call that has symbols follows PyTorch's Python references (torch/_refs, torch/_decomp),
 * which FakeTensorMode prefers for it, with their guards and dispatches. A call without symbols
 * follows the C++ kernels and has their error messages. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_OPS_RULES_REDUCE_REDUCE_H

#include "replay/ops/layout/layout.h"

/* --- Properties of tensors, which may have no meta after a failure --- */

static inline uint32_t ndim_of(struct tensor x)
{
    return x.meta && x.meta->ndim <= TENSOR_MAX_DIM ? x.meta->ndim : 0;
}
static inline sym_id size_of(struct tensor x, uint32_t i)
{
    return x.meta && i < x.meta->ndim ? x.meta->size[i] : SYM_ID_ONE;
}
static inline sym_id stride_of(struct tensor x, uint32_t i)
{
    return x.meta && i < x.meta->ndim ? x.meta->stride[i] : SYM_ID_ONE;
}
static inline enum dtype dtype_of(struct tensor x)
{
    return x.meta ? x.meta->dtype : DTYPE_NONE;
}
static inline struct device device_of(struct tensor x)
{
    return x.meta ? x.meta->device : (struct device){ .type = DEVICE_NONE, .index = -1 };
}
/* x.new_empty(sizes), which is contiguous and on x's device. */
static inline struct tensor new_beside(struct call *c, struct tensor x, enum dtype dtype,
                                       const sym_id *sizes, uint32_t n)
{
    return new_tensor(c, dtype, device_of(x), sizes, n);
}
/* empty_like(x, memory_format=torch.contiguous_format) */
struct tensor new_contiguous_like(struct call *c, struct tensor x, enum dtype dtype);
/* empty_like(x) of torch/_refs, or that of C++, which keeps the strides of a dense tensor. */
struct tensor new_empty_like(struct call *c, struct tensor x, enum dtype dtype);
/* Writes the sizes, or computes the number of elements, as concrete numbers. Returns false where
 * a size is symbolic. */
bool plain_sizes(const struct call *c, struct tensor x, int64_t *sizes);
bool plain_numel(const struct call *c, struct tensor x, int64_t *numel);
/* Guards each size of x to its hint, as x.sizes() does in C++ code that does not support
 * symbols. */
void guard_sizes(struct call *c, struct tensor x);

/* --- Nested calls --- */

static inline struct tensor call1(struct call *c, const char *name, struct value a)
{
    return call_tensor(c, name, &a, 1);
}
static inline struct tensor call2(struct call *c, const char *name, struct value a, struct value b)
{
    return call_tensor(c, name, (struct value[]){ a, b }, 2);
}
static inline struct tensor call3(struct call *c, const char *name, struct value a, struct value b,
                                  struct value d)
{
    return call_tensor(c, name, (struct value[]){ a, b, d }, 3);
}
static inline struct value value_bool(bool value)
{
    return value_sym(VALUE_BOOL, sym_boolean(value));
}
static inline struct value value_float(struct call *c, double value)
{
    return value_sym(VALUE_FLOAT, sym_float(c->pool, value));
}
static inline struct value value_number(struct call *c, int64_t value)
{
    return value_int(num(c, value));
}
static inline struct value value_dtype(enum dtype dtype)
{
    return (struct value){ .kind = VALUE_DTYPE, .u.dtype = dtype };
}
struct value ref_dims(struct call *c, const int64_t *dims, uint32_t n);
/* Returns true where PyTorch runs the reference of torch/_refs, that is, not in eager mode.
 * Without symbols the reference is a meta kernel below FakeTensorMode, whose calls are not
 * dispatched. */
static inline bool by_reference(struct call *c)
{
    if (eager(c))
        return false;
    c->in_kernel = !c->symbolic;
    return true;
}
/* Returns true where PyTorch runs the decomposition of torch/_decomp/decompositions.py, which
 * FakeTensorMode calls for static sizes, too. */
static inline bool by_decomposition(const struct call *c)
{
    return !eager(c);
}
/* Counts the dispatches of calls that a reference makes. */
static inline void count_below(struct call *c, uint32_t n)
{
    if (!c->in_kernel)
        count_dispatches(c, n);
}
/* Counts the dispatches of a call of a prim and of its empty_strided. */
static inline void count_prim(struct call *c)
{
    count_below(c, 2);
}
/* _maybe_convert_to_dtype of torch/_refs calls x.to(dtype) where the dtypes differ. */
struct tensor ref_convert(struct call *c, struct tensor x, enum dtype dtype);
/* Calls prims.convert_element_type where the dtypes differ. */
struct tensor prim_convert(struct call *c, struct tensor x, enum dtype dtype);
/* x.contiguous(), which returns a clone where x is not contiguous. */
struct tensor ref_contiguous(struct call *c, struct tensor x);
struct tensor ref_cast(struct call *c, struct tensor x, enum dtype dtype); /* x.to(dtype) */

/* --- Reductions --- */

/* Returns a mask whose bit k is set where argument i reduces dimension k. The argument is an
 * int, a list of ints or None. An empty list and None stand for all dimensions. */
uint64_t reduce_mask(struct call *c, uint32_t i, struct tensor x);
uint64_t reduce_all(struct tensor x);
/* The result of _refs._reduction, which calls the prim, and broadcast_in_dim for keepdim. */
struct tensor reduce_ref(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                         enum dtype dtype);
/* The result of C++ kernels and of Python meta functions, which is contiguous. */
struct tensor reduce_new(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                         enum dtype dtype);
/* true_divide of a sum by the number of its terms */
struct tensor divided(struct call *c, struct tensor total);
/* Evaluates the guard of mean() on the number of elements by which it divides. */
void guard_mean_count(struct call *c, struct tensor x, uint64_t mask);
/* zero_numel_check_dims of ReduceOpsUtils.h, for an int or a list in argument i. */
bool check_empty_dims(struct call *c, uint32_t i, struct tensor x, const char *function);
enum dtype dtype_sum(enum dtype dtype); /* Integers become int64. */

/* --- Checks of C++ kernels on out= --- */

/* The name of caffe2::TypeMeta, for instance "long int". */
const char *type_name(enum dtype dtype);
/* Checks the dtype of the out= tensor in argument i as structured kernels do ("Expected out
 * tensor to have dtype float, but got double instead"). The functional form has no such
 * argument. */
bool check_out_dtype(struct call *c, uint32_t i, enum dtype dtype);

/* --- Known elements --- */

/* Reads element i as an integer or a double. Returns false where x has no data or its elements
 * have another type. */
bool element_int(const struct call *c, struct tensor x, uint64_t i, int64_t *ret);
bool element_double(const struct call *c, struct tensor x, uint64_t i, double *ret);
bool element_is_zero(struct tensor x, uint64_t i);
bool elements_known(const struct call *c, struct tensor x);
/* Returns true and sets *ret to the first element of index outside [low, high] where there is
 * one. */
bool index_outside(const struct call *c, struct tensor index, int64_t low, int64_t high,
                   int64_t *ret);
/* Counts the distinct rows of `row` elements, or with consecutive the runs of equal rows. */
bool count_distinct(struct call *c, struct tensor x, uint64_t row, bool consecutive, uint64_t *ret);

#endif

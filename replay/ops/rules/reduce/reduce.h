/* What reductions, scans and indexing share: dimensions, shapes, dtypes, element values.
 *
 * A call that has symbols goes the way of PyTorch's Python references (torch/_refs, torch/_decomp),
 * which FakeTensorMode prefers then, with their questions and their dispatches; one that has none
 * goes the way of the C++ kernels, whose texts the errors are. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_REDUCE_REDUCE_H
#define SYMTAPE_REPLAY_OPS_RULES_REDUCE_REDUCE_H

#include "replay/ops/layout/layout.h"

/* --- Tensors that may be empty after a failure --- */

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
/* x.new_empty(sizes): contiguous, on x's device. */
static inline struct tensor new_beside(struct call *c, struct tensor x, enum dtype dtype,
                                       const sym_id *sizes, uint32_t n)
{
    return new_tensor(c, dtype, device_of(x), sizes, n);
}
/* empty_like(x, memory_format=torch.contiguous_format) */
struct tensor new_contiguous_like(struct call *c, struct tensor x, enum dtype dtype);
/* empty_like(x): of torch/_refs, or C++'s, which keeps the strides of what is dense. */
struct tensor new_empty_like(struct call *c, struct tensor x, enum dtype dtype);
/* The sizes as plain numbers; false where one is symbolic. */
bool plain_sizes(const struct call *c, struct tensor x, int64_t *sizes);
bool plain_numel(const struct call *c, struct tensor x, int64_t *numel);
/* What x.sizes() asks in C++ that knows no symbols: int() of each size. */
void guard_sizes(struct call *c, struct tensor x);

/* --- Calls from within --- */

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
/* Not as eager PyTorch: by the reference of torch/_refs, which is a meta kernel, below
 * FakeTensorMode, where nothing is symbolic. */
static inline bool by_reference(struct call *c)
{
    if (eager(c))
        return false;
    c->in_kernel = !c->symbolic;
    return true;
}
/* By torch/_decomp/decompositions.py, which FakeTensorMode takes for static sizes, too. */
static inline bool by_decomposition(const struct call *c)
{
    return !eager(c);
}
/* Dispatches of what a reference calls. */
static inline void count_below(struct call *c, uint32_t n)
{
    if (!c->in_kernel)
        count_dispatches(c, n);
}
/* A call of a prim: it makes its result with empty_strided, one more dispatch. */
static inline void count_prim(struct call *c)
{
    count_below(c, 2);
}
/* _maybe_convert_to_dtype of torch/_refs: x.to(dtype) where dtypes differ. */
struct tensor ref_convert(struct call *c, struct tensor x, enum dtype dtype);
/* prims.convert_element_type where dtypes differ. */
struct tensor prim_convert(struct call *c, struct tensor x, enum dtype dtype);
/* x.contiguous(): a clone where is_contiguous() says no. */
struct tensor ref_contiguous(struct call *c, struct tensor x);
struct tensor ref_cast(struct call *c, struct tensor x, enum dtype dtype); /* x.to(dtype) */

/* --- Reducing --- */

/* Bit i: dimension i is reduced. The argument is an int, a list of ints, or None; an empty list is
 * all of them, as None is. */
uint64_t reduce_mask(struct call *c, uint32_t i, struct tensor x);
uint64_t reduce_all(struct tensor x);
/* The result of _refs._reduction: prim, then broadcast_in_dim for keepdim. */
struct tensor reduce_ref(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                         enum dtype dtype);
/* The result of C++ and of the Python metas: contiguous. */
struct tensor reduce_new(struct call *c, struct tensor x, uint64_t mask, bool keepdim,
                         enum dtype dtype);
/* true_divide of a sum by how many were summed. */
struct tensor divided(struct call *c, struct tensor total);
/* What mean() asks of how many elements it divides by. */
void guard_mean_count(struct call *c, struct tensor x, uint64_t mask);
/* zero_numel_check_dims of ReduceOpsUtils.h, for an int or a list in argument i. */
bool check_empty_dims(struct call *c, uint32_t i, struct tensor x, const char *function);
enum dtype dtype_sum(enum dtype dtype); /* integers become int64 */

/* --- What C++ checks of out= --- */

const char *type_name(enum dtype dtype); /* caffe2::TypeMeta's: "long int" */
/* "Expected out tensor to have dtype float, but got double instead" of structured kernels. i: the
 * argument, absent in the functional form. */
bool check_out_dtype(struct call *c, uint32_t i, enum dtype dtype);

/* --- Elements that are known --- */

/* Element i as an integer or a double; false where x has no data or another kind of element. */
bool element_int(const struct call *c, struct tensor x, uint64_t i, int64_t *ret);
bool element_double(const struct call *c, struct tensor x, uint64_t i, double *ret);
bool element_is_zero(struct tensor x, uint64_t i);
bool elements_known(const struct call *c, struct tensor x);
/* True where element i was found outside [low, high]. */
bool index_outside(const struct call *c, struct tensor index, int64_t low, int64_t high,
                   int64_t *ret);
/* How many different elements (rows of `row` elements) there are; consecutive: runs. */
bool count_distinct(struct call *c, struct tensor x, uint64_t row, bool consecutive, uint64_t *ret);

#endif

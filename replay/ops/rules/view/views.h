/* Declarations that the rules of views, factories and copies share: steps that change a tensor's
 * geometry, and decompositions that other rules call. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_VIEW_VIEWS_H
#define SYMTAPE_REPLAY_OPS_RULES_VIEW_VIEWS_H

#include "replay/ops/layout/layout.h"

struct tensor geometry_view(struct call *c, struct tensor x, const struct geometry *g);
sym_id geometry_numel(struct call *c, const struct geometry *g);
/* Evaluates the guards of suggest_memory_format() on x with geometry g, the result of a nested
 * call, as FakeTensorMode's cache does. */
void geometry_pass(struct call *c, struct tensor x, const struct geometry *g);
void geometry_remove(struct geometry *g, uint32_t dim);
/* Refuses the call and returns false where g has TENSOR_MAX_DIM dimensions already. */
bool geometry_insert(struct call *c, struct geometry *g, uint32_t dim, sym_id size, sym_id stride);
/* Refuses the call and returns false where n is more than TENSOR_MAX_DIM. */
bool check_ndim(struct call *c, uint64_t n);

/* The sizes as Python prints them in error messages: "torch.Size([s0, 2])"; "(s0, 2)" or
 * "(s0,)". */
const char *py_size_text(struct call *c, const sym_id *sizes, uint32_t n);
const char *py_tuple_text(struct call *c, const sym_id *sizes, uint32_t n);

/* torch._check(). The message is formatted after the guard is evaluated, because the guard may
 * replace symbols that the message names. A condition that is deferred to run time gets its
 * message at once. */
#define CHECK(c, cond, type, ...)                          \
    do {                                                   \
        sym_id check_ = (cond);                            \
        if (check_ == SYM_ID_TRUE)                         \
            break;                                         \
        if (is_put_off((c), check_))                       \
            (void)check((c), check_, (type), __VA_ARGS__); \
        else if (!guard_bool((c), check_))                 \
            (void)refuse((c), (type), __VA_ARGS__);        \
    } while (0)
#define REQUIRE(c, cond, type, ...)                 \
    do {                                            \
        if (!(cond)) {                              \
            (void)refuse((c), (type), __VA_ARGS__); \
            return false;                           \
        }                                           \
    } while (0)

/* --- Nested calls --- */

/* These functions make lists and numbers for the arguments of a decomposition's calls. */
struct value sizes_value(struct call *c, const sym_id *sizes, uint32_t n);
struct value ints_value(struct call *c, const int64_t *items, uint32_t n);
struct value int_value(struct call *c, int64_t item);
struct value tensors_value(struct call *c, const struct tensor *x, uint32_t n);
static inline struct value bool_value(bool item)
{
    return value_sym(VALUE_BOOL, sym_boolean(item));
}
struct value dtype_value(enum dtype dtype);           /* in replay/ops/rules/compose.c */
struct value format_value(enum memory_format format); /* in replay/ops/rules/compose.c */
static inline struct value device_value(struct device device)
{
    return (struct value){ .kind = VALUE_DEVICE, .u.device = device };
}

struct tensor call_view(struct call *c, struct tensor x, const sym_id *size, uint32_t n);
struct tensor call_reshape(struct call *c, struct tensor x, const sym_id *size, uint32_t n);
struct tensor call_expand(struct call *c, struct tensor x, const sym_id *size, uint32_t n);
struct tensor call_permute(struct call *c, struct tensor x, const int64_t *dims, uint32_t n);
struct tensor call_transpose(struct call *c, struct tensor x, int64_t a, int64_t b);
struct tensor call_unsqueeze(struct call *c, struct tensor x, int64_t dim);
struct tensor call_squeeze(struct call *c, struct tensor x, int64_t dim);
struct tensor call_narrow(struct call *c, struct tensor x, int64_t dim, sym_id start,
                          sym_id length);
/* x.clone(memory_format=torch.preserve_format) */
struct tensor call_clone(struct call *c, struct tensor x);
struct tensor call_clone_format(struct call *c, struct tensor x, enum memory_format format);
struct tensor call_contiguous(struct call *c, struct tensor x);
struct tensor call_arange(struct call *c, sym_id end, enum dtype dtype, struct device device);
struct tensor call_cat(struct call *c, const struct tensor *x, uint32_t n, int64_t dim);
struct tensor call_alias(struct call *c, struct tensor x);

/* --- Decompositions --- */

/* infer_size: writes the shape of a view of x, or of that many elements, to ret with the inferred
 * size in place of -1. The guards of C++ differ from those of torch/_prims_common. */
bool infer_shape(struct call *c, struct tensor x, const sym_id *shape, uint32_t n, sym_id *ret);
bool infer_shape_cpp(struct call *c, sym_id elements, const sym_id *shape, uint32_t n, sym_id *ret);
/* computeStride of ATen/TensorUtils.cpp, and _compute_stride of torch/_subclasses/fake_impls.py.
 * Unbacked sizes make only STRIDE_EXACT fail. */
enum stride_way { STRIDE_CPP, STRIDE_OBLIVIOUS, STRIDE_EXACT };
bool compute_stride(struct call *c, const struct geometry *old, const sym_id *shape, uint32_t n,
                    enum stride_way way, sym_id *stride);
/* Computes the geometry of aten::view on a shape. Where no view has this shape and allow_copy is
 * set, *copied becomes true and the geometry is that of a copy. */
bool view_geometry(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                   bool allow_copy, struct geometry *ret, bool *copied);

/* Each function computes the geometry of one view operator. False: the call is refused. */
bool geometry_expand(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n);
/* expand of torch/_refs, in a meta kernel, where FakeTensorMode counts no dispatch of it. */
bool geometry_expand_reference(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n);
bool geometry_permute(struct call *c, struct geometry *g, const int64_t *dims, uint32_t n);
bool geometry_transpose(struct call *c, struct geometry *g, int64_t dim0, int64_t dim1);
bool geometry_unsqueeze(struct call *c, struct geometry *g, int64_t dim);
bool geometry_squeeze_all(struct call *c, struct geometry *g);
bool geometry_squeeze(struct call *c, struct geometry *g, const int64_t *dims, uint32_t n);
bool geometry_diagonal(struct call *c, struct geometry *g, int64_t offset, int64_t dim1,
                       int64_t dim2);
/* in_meta: the tensor is on the meta device, as in a meta kernel, where a decomposition computes it
 */
bool geometry_slice(struct call *c, struct geometry *g, int64_t dim, struct value start,
                    struct value end, sym_id step, bool in_meta);
bool geometry_select(struct call *c, struct geometry *g, int64_t dim, sym_id index);
bool geometry_narrow(struct call *c, struct geometry *g, int64_t dim, sym_id start, sym_id length,
                     bool in_meta);
bool geometry_unfold(struct call *c, struct geometry *g, int64_t dim, sym_id size, sym_id step);
/* split_with_sizes, whose results share x's storage. */
bool split_by_sizes(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n, int64_t dim,
                    struct tensor *ret);
/* The param of a row: the operator returns a view, returns a copy of the view, or changes its
 * argument in place. */
enum { AS_VIEW, AS_COPY, IN_PLACE };

#endif

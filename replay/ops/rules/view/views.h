/* What the rules of views, factories and copies share: a tensor's geometry as it is worked on, and
 * the decompositions that others build on. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_VIEW_VIEWS_H
#define SYMTAPE_REPLAY_OPS_RULES_VIEW_VIEWS_H

#include "replay/ops/layout/layout.h"

struct geometry {
    uint32_t n;
    sym_id offset;
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
};

struct geometry geometry_of(struct tensor x);
struct tensor geometry_view(struct call *c, struct tensor x, const struct geometry *g);
sym_id geometry_numel(struct call *c, const struct geometry *g);
/* An operator within gives this one out: what the cache asks of it then. */
void geometry_pass(struct call *c, struct tensor x, const struct geometry *g);
void geometry_remove(struct geometry *g, uint32_t dim);
/* False, and refused, where there is no room. */
bool geometry_insert(struct call *c, struct geometry *g, uint32_t dim, sym_id size, sym_id stride);
/* Refuses what has more dimensions than a tensor may. */
bool check_ndim(struct call *c, uint64_t n);

/* For texts: "torch.Size([s0, 2])", "(s0, 2)", "(s0,)". */
const char *py_size_text(struct call *c, const sym_id *sizes, uint32_t n);
const char *py_tuple_text(struct call *c, const sym_id *sizes, uint32_t n);

/* torch._check(). Texts are made after the answer, since it may replace what they tell of; a
 * condition that is put off until run time has its text from the start. */
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

/* --- Calling on --- */

/* For the fixed lists of a decomposition's arguments. */
struct value sizes_value(struct call *c, const sym_id *sizes, uint32_t n);
struct value ints_value(struct call *c, const int64_t *items, uint32_t n);
struct value int_value(struct call *c, int64_t item);
struct value tensors_value(struct call *c, const struct tensor *x, uint32_t n);
static inline struct value bool_value(bool item)
{
    return value_sym(VALUE_BOOL, sym_boolean(item));
}
struct value dtype_value(enum dtype dtype);           /* replay/ops/rules/compose.c */
struct value format_value(enum memory_format format); /* replay/ops/rules/compose.c */
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
struct tensor call_clone(struct call *c, struct tensor x); /* preserve_format */
struct tensor call_clone_format(struct call *c, struct tensor x, enum memory_format format);
struct tensor call_contiguous(struct call *c, struct tensor x);
struct tensor call_arange(struct call *c, sym_id end, enum dtype dtype, struct device device);
struct tensor call_cat(struct call *c, const struct tensor *x, uint32_t n, int64_t dim);
struct tensor call_alias(struct call *c, struct tensor x);

/* --- Decompositions --- */

/* infer_size: -1 filled in. C++ asks differently from torch/_prims_common. */
bool infer_shape(struct call *c, sym_id elements, const sym_id *shape, uint32_t n, sym_id *ret);
bool infer_shape_cpp(struct call *c, sym_id elements, const sym_id *shape, uint32_t n, sym_id *ret);
/* computeStride of ATen/TensorUtils.cpp, and _compute_stride of torch/_subclasses/fake_impls.py:
 * for the former two unbacked sizes are no reason to fail. */
enum stride_way { STRIDE_CPP, STRIDE_OBLIVIOUS, STRIDE_EXACT };
bool compute_stride(struct call *c, const struct geometry *old, const sym_id *shape, uint32_t n,
                    enum stride_way way, sym_id *stride);
/* aten::view on a shape; *copied where only a copy has it, which allow_copy permits. */
bool view_geometry(struct call *c, struct tensor x, const sym_id *shape, uint32_t n,
                   bool allow_copy, struct geometry *ret, bool *copied);

/* Geometry of views, by operator; false: refused. */
bool geometry_expand(struct call *c, struct geometry *g, const sym_id *shape, uint32_t n);
bool geometry_permute(struct call *c, struct geometry *g, const int64_t *dims, uint32_t n);
bool geometry_transpose(struct call *c, struct geometry *g, int64_t dim0, int64_t dim1);
bool geometry_unsqueeze(struct call *c, struct geometry *g, int64_t dim);
bool geometry_squeeze_all(struct call *c, struct geometry *g);
bool geometry_squeeze(struct call *c, struct geometry *g, const int64_t *dims, uint32_t n);
bool geometry_diagonal(struct call *c, struct geometry *g, int64_t offset, int64_t dim1,
                       int64_t dim2);
bool geometry_slice(struct call *c, struct geometry *g, int64_t dim, struct value start,
                    struct value end, sym_id step);
bool geometry_select(struct call *c, struct geometry *g, int64_t dim, sym_id index);
bool geometry_narrow(struct call *c, struct geometry *g, int64_t dim, sym_id start, sym_id length);
bool geometry_unfold(struct call *c, struct geometry *g, int64_t dim, sym_id size, sym_id step);
/* split_with_sizes; x's storage. */
bool split_by_sizes(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n, int64_t dim,
                    struct tensor *ret);
/* What a row's param says of it: views that a copy is made of, and those in place, have rows of
 * their own. */
enum { AS_VIEW, AS_COPY, IN_PLACE };

#endif

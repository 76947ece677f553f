/* Layout predicates on symbolic sizes and strides, and the strides that follow from them.
 *
 * They evaluate the same conditions in the same order as PyTorch, since conditions become guards:
 * c10/core/SymbolicShapeMeta.cpp and Contiguity.h for what C++ evaluates for a tensor,
 * torch/_prims_common/__init__.py for references. */
#ifndef SYMTAPE_REPLAY_OPS_LAYOUT_LAYOUT_H
#define SYMTAPE_REPLAY_OPS_LAYOUT_LAYOUT_H

#include "replay/ops/dispatch/rule.h"

/* Sizes, strides and offset of a strided tensor, which rules of views change step by step. */
struct geometry {
    uint32_t n;
    sym_id offset;
    sym_id size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
};

struct geometry geometry_of(struct tensor x);

/* make_contiguous_strides_for: strides[n-1] = 1, products of Max(1, size). */
void contiguous_strides(struct call *c, const sym_id *sizes, uint32_t n, sym_id *strides);
/* get_channels_last_strides_2d/_3d, or _1d, if n allows it; contiguous ones for other formats. */
void format_strides(struct call *c, const sym_id *sizes, uint32_t n, enum memory_format format,
                    sym_id *strides);

/* is_contiguous_or_false, is_channels_last_contiguous_or_false (..._2d, _3d), by guard_or_false. */
bool contiguous_or_false(struct call *c, struct tensor x);
bool channels_last_or_false(struct call *c, struct tensor x, enum memory_format format);
/* x.is_contiguous(memory_format=...): the cached SymBool of C++, with a guard on it. */
bool is_contiguous(struct call *c, struct tensor x, enum memory_format format);
/* x.is_contiguous_or_false() of C++: sizes without a hint make it false where it is open. */
bool contiguous_or_false_cpp(struct call *c, struct tensor x);
bool non_overlapping_and_dense_or_false(struct call *c, struct tensor x);
/* The predicate of C++'s TensorImpl, which sizes without a hint make false. */
bool non_overlapping_and_dense(struct call *c, struct tensor x);
/* All sizes and strides have hints. */
bool has_only_hinted(struct call *c, const struct tensor_meta *meta);
/* at::has_internal_overlap returns Yes (aten/src/ATen/MemoryOverlap.cpp). */
bool surely_overlaps(struct call *c, struct tensor x);
/* suggest_memory_format of references and of c10 (TensorImpl strides). */
enum memory_format suggest_format(struct call *c, struct tensor x);
/* TensorBase::suggest_memory_format(), whose conditions differ from those of references. */
enum memory_format suggest_format_c10(struct call *c, struct tensor x);

/* infer_size of torch/_subclasses/fake_impls.py, or _broadcast_shapes of torch/_refs: */
bool broadcast_fast(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b, uint32_t n_b,
                    sym_id *ret, uint32_t *n); /* ret has space for the longer one */
bool broadcast_shapes(struct call *c, const struct tensor *x, uint32_t n, sym_id *ret,
                      uint32_t *ndim); /* ret has space for TENSOR_MAX_DIM */

/* compute_elementwise_output_strides for tensors of one shape. */
void elementwise_strides(struct call *c, const struct tensor *x, uint32_t n, sym_id *strides);

/* --- Dtypes --- */

/* torch.promote_types. */
enum dtype promote(enum dtype a, enum dtype b); /* DTYPE_NONE where PyTorch raises */
enum dtype promote_or_refuse(struct call *c, enum dtype a, enum dtype b);
enum dtype computation_dtype(enum dtype dtype); /* float32 for bfloat16; most are unchanged */
bool dtype_is_float(enum dtype dtype);
bool dtype_is_complex(enum dtype dtype);
bool dtype_is_integer(enum dtype dtype);    /* excludes bool */
enum dtype dtype_real(enum dtype dtype);    /* float32 for complex64 */
enum dtype dtype_complex(enum dtype dtype); /* complex64 for float32 */
/* c10::ScalarType by its number, which differs from that of torch.export's files. */
enum dtype dtype_of_c10(int64_t number);
/* Returns the name of c10::ScalarType: "Float", "Long". */
const char *dtype_scalar_name(enum dtype dtype);

/* Returns the name of C++'s caffe2::TypeMeta: "float", "long int", "c10::Half". */
const char *dtype_cpp_name(enum dtype dtype);

/* ELEMENTWISE_TYPE_PROMOTION_KIND. */
enum promotion {
    PROMOTE_DEFAULT,
    PROMOTE_NONE,
    PROMOTE_INT_TO_FLOAT,
    PROMOTE_ALWAYS_BOOL,
    PROMOTE_COMPLEX_TO_FLOAT,
    PROMOTE_BOOL_TO_LONG
};
/* elementwise_dtypes: values are tensors and numbers (None is skipped). result is the dtype of the
 * output, computation that of the arithmetic (float32 for bfloat16); either may be NULL. */
void elementwise_dtypes(struct call *c, const struct value *values, uint32_t n,
                        enum promotion promotion, enum dtype *computation, enum dtype *result);

/* Returns the device of a call's tensors, ignoring 0-dim CPU tensors beside others; refuses as
 * FakeTensor._find_common_device does. */
struct device common_device(struct call *c, const struct tensor *x, uint32_t n);

#endif

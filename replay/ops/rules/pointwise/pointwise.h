/* Declarations that the rules of pointwise operators (pointwise*.c) and their rows share.
 *
 * Without symbols a rule follows TensorIterator. With symbols it makes the calls that the
 * operator's reference in torch/_refs makes, so that guards and counts are the same. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_POINTWISE_POINTWISE_H
#define SYMTAPE_REPLAY_OPS_RULES_POINTWISE_POINTWISE_H

#include "replay/ops/layout/strides.h"

/* Bits of call.param: the promotion, the number of arguments at the front that are operands, and
 * flags. */
enum {
    POINTWISE_KIND = 0xf,
    POINTWISE_OPERANDS_SHIFT = 4,
    POINTWISE_OPERANDS = 0xf << POINTWISE_OPERANDS_SHIFT,
    POINTWISE_LIKE = 1 << 8,       /* with symbols: a meta function that ends in empty_like */
    POINTWISE_META = 1 << 9,       /* with symbols: elementwise_meta of _meta_registrations.py */
    POINTWISE_FIRST = 1 << 10,     /* without symbols: only the first operand has a shape */
    POINTWISE_FAST = 1 << 11,      /* make_fast_binary_impl runs first. */
    POINTWISE_GRAD_LAST = 1 << 12, /* eager: the first operand is iterated last */
    POINTWISE_BODY_SHIFT = 16,
};

#define ELEMENTWISE(kind, n) (PROMOTE_##kind | (n) << POINTWISE_OPERANDS_SHIFT)
/* With symbols the rule runs the body `id` of replay/ops/decomp/pointwise_bodies.def. Where n is
 * 0 every tensor is an operand. */
#define DECOMPOSED(id, kind, n) (ELEMENTWISE(kind, n) | BODY_##id << POINTWISE_BODY_SHIFT)

/* --- Without symbols --- */

/* at::result_type, which promotes tensors with dimensions, 0-dim tensors and numbers separately. */
enum dtype result_type(struct call *c, const struct value *operands, uint32_t n);
/* Returns a new tensor with the operands' broadcast shape, TensorIterator's strides and this
 * dtype. */
struct tensor iterator_result(struct call *c, const struct value *operands, uint32_t n,
                              enum dtype dtype);
/* iterator_result() of operands that are promoted to a common dtype. That is the result's dtype,
 * unless the promotion makes the result bool or real. Only the first n_iterated operands are
 * broadcast. */
struct tensor iterator_promoted(struct call *c, const struct value *operands, uint32_t n,
                                uint32_t n_iterated, enum promotion promotion);
/* Refuses the dtypes that eager kernels refuse. */
bool check_refusals(struct call *c);
/* infer_size of aten/src/ATen/ExpandUtils.cpp for all operands, in TensorIterator's order. */
bool broadcast_plain(struct call *c, const struct tensor *x, uint32_t n, sym_id *ret,
                     uint32_t *ndim);

/* --- With symbols --- */

/* meta_copy_ of torch/_meta_registrations.py: false where source cannot be copied to x. */
bool check_meta_copy(struct call *c, struct tensor x, struct tensor source);

/* One step of a reference: promotes the operands, calls _maybe_broadcast and the prim (for
 * instance "prims.add.default"), and converts the result. */
struct tensor reference_step(struct call *c, const char *prim, const struct value *operands,
                             uint32_t n, enum promotion promotion);
/* _maybe_broadcast of torch/_refs expands tensors, in place, and leaves numbers and None. */
bool maybe_broadcast(struct call *c, struct value *operands, uint32_t n);
/* _maybe_convert_to_dtype calls prims.convert_element_type where the dtype differs. */
struct value maybe_convert(struct call *c, struct value x, enum dtype dtype);
/* _prim_elementwise_meta. x has the arguments in its order: those of fixed dtype come first. */
struct tensor prim_elementwise(struct call *c, const struct value *x, uint32_t n, enum dtype dtype);

/* --- Both --- */

uint32_t pointwise_operands(const struct call *c);
enum promotion pointwise_kind(const struct call *c);
/* Returns the dtype that the promotion makes from result_type(). */
enum dtype plain_dtype(struct call *c, const struct value *operands, uint32_t n,
                       enum promotion promotion);
struct tensor elementwise(struct call *c);
/* make_fast_binary_impl. The result has no meta where PyTorch takes the slow path. */
struct tensor fast_binary(struct call *c, const struct value *operands, uint32_t n,
                          enum promotion kind);
/* Makes the attempt for a pointwise operator that PyTorch registers none for. False: the rule has
 * to compute the call. */
bool added_fast_path(struct call *c);

/* The result, without symbols, of a row with a body: TensorIterator's for the operands, or for
 * all tensors that are not out=. */
struct tensor plain_body(struct call *c);

/* Sets out as the result of the call. The in-place and out= forms copy it to the tensor that
 * they write, as out_wrapper and _make_inplace do (torch/_prims_common/wrappers.py,
 * torch/_refs). */
bool ret_pointwise(struct call *c, struct value out);
bool is_in_place(const struct call *c);
/* meta_binop_inplace of torch/_meta_registrations.py returns self, whose shape must not change
 * when the second argument is broadcast. */
bool ret_broadcast_in_place(struct call *c);

/* Writes the tensors among values to ret and returns their number. */
uint32_t tensors_among(struct call *c, const struct value *values, uint32_t n, struct tensor *ret);

#endif

/* Pointwise operators: what the rules of pointwise*.c and their rows share.
 *
 * Without symbols an operator answers as TensorIterator does; with symbols as its reference in
 * torch/_refs, step by step: what the reference calls is called here too, so that guards and counts
 * are the same. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_POINTWISE_POINTWISE_H
#define SYMTAPE_REPLAY_OPS_RULES_POINTWISE_POINTWISE_H

#include "replay/ops/layout/strides.h"

/* call.param: the promotion, how many of the first arguments are operands, and flags. */
enum {
    POINTWISE_KIND = 0xf,
    POINTWISE_OPERANDS_SHIFT = 4,
    POINTWISE_OPERANDS = 0xf << POINTWISE_OPERANDS_SHIFT,
    POINTWISE_LIKE = 1 << 8,       /* with symbols: a meta function that ends in empty_like */
    POINTWISE_META = 1 << 9,       /* with symbols: elementwise_meta of _meta_registrations.py */
    POINTWISE_FIRST = 1 << 10,     /* without symbols: only the first operand has a shape */
    POINTWISE_FAST = 1 << 11,      /* make_fast_binary_impl is tried first */
    POINTWISE_GRAD_LAST = 1 << 12, /* eager: the first operand is iterated last */
    POINTWISE_BODY_SHIFT = 16,
};

#define ELEMENTWISE(kind, n) (PROMOTE_##kind | (n) << POINTWISE_OPERANDS_SHIFT)
/* With symbols the text of replay/ops/decomp/pointwise_bodies.def; n 0: every tensor is an operand.
 */
#define DECOMPOSED(id, kind, n) (ELEMENTWISE(kind, n) | BODY_##id << POINTWISE_BODY_SHIFT)

/* --- Without symbols --- */

/* at::result_type: with TensorIterator's promotion of kinds of numbers. */
enum dtype result_type(struct call *c, const struct value *operands, uint32_t n);
/* A new tensor of the operands' broadcast shape, TensorIterator's strides and that dtype. */
struct tensor iterator_result(struct call *c, const struct value *operands, uint32_t n,
                              enum dtype dtype);
/* The same of operands that are promoted to a common dtype, which is the result's or, where that
 * is bool or real, what it is made of; the first n_iterated of them have a shape. */
struct tensor iterator_promoted(struct call *c, const struct value *operands, uint32_t n,
                                uint32_t n_iterated, enum promotion promotion);
/* What eager kernels refuse by dtype alone. */
bool check_refusals(struct call *c);
/* infer_size of aten/src/ATen/ExpandUtils.cpp over all operands, in TensorIterator's order. */
bool broadcast_plain(struct call *c, const struct tensor *x, uint32_t n, sym_id *ret,
                     uint32_t *ndim);

/* --- With symbols --- */

/* One step of a reference: promotion, _maybe_broadcast, the prim, conversion back. prim is
 * "prims.add.default". */
struct tensor reference_step(struct call *c, const char *prim, const struct value *operands,
                             uint32_t n, enum promotion promotion);
/* _maybe_broadcast of torch/_refs, in place: tensors are expanded, numbers and None stay. */
bool maybe_broadcast(struct call *c, struct value *operands, uint32_t n);
/* _maybe_convert_to_dtype: prims.convert_element_type where the dtype differs. */
struct value maybe_convert(struct call *c, struct value x, enum dtype dtype);
/* _prim_elementwise_meta: x in the order of its arguments, those of fixed dtype first. */
struct tensor prim_elementwise(struct call *c, const struct value *x, uint32_t n, enum dtype dtype);

/* --- Both --- */

uint32_t pointwise_operands(const struct call *c); /* of call.param */
enum promotion pointwise_kind(const struct call *c);
/* result_type() and what the promotion makes of it. */
enum dtype plain_dtype(struct call *c, const struct value *operands, uint32_t n,
                       enum promotion promotion);
struct tensor elementwise(struct call *c); /* what the row says */
/* make_fast_binary_impl: no meta where the slow way is to be taken. */
struct tensor fast_binary(struct call *c, const struct value *operands, enum promotion kind);

/* Without symbols what a row with a text answers: TensorIterator over the operands, or over all
 * tensors that are no out=. */
struct tensor plain_body(struct call *c);

/* Returns it; in place and out= the way of out_wrapper and _make_inplace (torch/_prims_common/
 * wrappers.py, torch/_refs): the result is copied into what is written. */
bool ret_pointwise(struct call *c, struct value out);
bool is_in_place(const struct call *c);
/* meta_binop_inplace of torch/_meta_registrations.py: self, whose shape broadcasting the second
 * argument must not change. */
bool ret_broadcast_in_place(struct call *c);

/* The tensors among values; how many. */
uint32_t tensors_among(struct call *c, const struct value *values, uint32_t n, struct tensor *ret);

#endif

/* Helpers for decompositions, which are written as PyTorch's Python has them, one operator call
 * a line:
 *
 *     struct tensor normal = CALL(c, "aten.mul.Tensor", T(centred), T(rstd));
 *
 * The arguments of a call are of type struct value. T(), N(), I(), F() and B() make one from a
 * tensor, a size, an int, a float or a bool. Every call is dispatched and counted, as the calls
 * of torch/_decomp and torch/_refs are. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_COMPOSE_H
#define SYMTAPE_REPLAY_OPS_RULES_COMPOSE_H

#include "replay/ops/layout/layout.h"

#define CALL(c, name, ...)                                          \
    call_tensor((c), (name), (const struct value[]){ __VA_ARGS__ }, \
                (uint32_t)(sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))
/* CALL() for an operator whose result is not a single tensor; returns a struct value. */
#define CALL_VALUE(c, name, ...)                                \
    call_op((c), (name), (const struct value[]){ __VA_ARGS__ }, \
            (uint32_t)(sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))

/* clang-format 14 would take functions with one-letter names for macros. */
/* clang-format off */

/* The value of a tensor, or None for no_tensor(). */
static inline struct value T(struct tensor x)
{
    return value_tensor(x);
}
/* The value of a size or another integer expression. */
static inline struct value N(sym_id n)
{
    return value_int(n);
}
/* The value of a bool. */
static inline struct value B(bool yes)
{
    return value_sym(VALUE_BOOL, sym_boolean(yes));
}
/* The value of an int, for instance a dimension. */
struct value I(struct call *c, int64_t n);
/* The value of a float. */
struct value F(struct call *c, double x);

/* clang-format on */

/* A list of sizes, a list of ints (for instance dimensions) and a list of bools. */
struct value ints(struct call *c, const sym_id *list, uint32_t n);
struct value dims(struct call *c, const int64_t *list, uint32_t n);
struct value bools(struct call *c, const bool *list, uint32_t n);
struct value dtype_value(enum dtype dtype);
struct value format_value(enum memory_format format);

/* True where x is a tensor and not None. */
static inline bool some(struct tensor x)
{
    return x.meta != NULL;
}
/* None in place of a tensor. */
static inline struct tensor no_tensor(void)
{
    return (struct tensor){ .meta = NULL, .storage = STORAGE_FRESH };
}
/* Properties of tensors. A tensor that is None, as the result of a failed call is, has 0
 * dimensions and no dtype. */
uint32_t ndim_of(struct tensor x);
/* A negative dim counts from the end. */
sym_id size_of(struct call *c, struct tensor x, int64_t dim);
/* Returns the sizes as Python prints them, for messages. */
const char *shape_text(struct call *c, struct tensor x);
const sym_id *sizes_of(struct tensor x);
enum dtype dtype_of(struct tensor x);
struct device device_of(struct tensor x);
bool on_cpu(struct tensor x);
bool on_cuda(struct tensor x);
/* Returns tensor i of a tuple or list that a nested call returned. */
struct tensor item_tensor(struct call *c, struct value tuple, uint32_t i);

/* --- Calls with keywords, and calls that PyTorch omits where they change nothing --- */

/* Counts the two dispatches of x.to() within a decomposition, aten.to.dtype and prim.device,
 * which PyTorch makes whether to() copies or not. */
void count_to(struct call *c, struct tensor x);
/* x.to(dtype), x.to(memory_format=format), x.to(dtype, memory_format=format) and
 * x.to(dtype, copy=True) within a decomposition. All but the last return x where nothing changes.
 */
struct tensor to_dtype(struct call *c, struct tensor x, enum dtype dtype);
struct tensor to_format(struct call *c, struct tensor x, enum memory_format format);
/* like.new_empty(sizes).to(memory_format=format) of a meta kernel. */
struct tensor empty_to_format(struct call *c, struct tensor like, const sym_id *sizes, uint32_t n,
                              enum memory_format format);
struct tensor to_dtype_format(struct call *c, struct tensor x, enum dtype dtype,
                              enum memory_format format);
struct tensor to_dtype_copy(struct call *c, struct tensor x, enum dtype dtype);
/* _maybe_convert_to_dtype of the references: prims.convert_element_type where the dtype differs. */
struct tensor convert(struct call *c, struct tensor x, enum dtype dtype);
/* TensorBase::suggest_memory_format() of C++, which evaluates other guards than
 * utils.suggest_memory_format() of the references does. */
enum memory_format suggest_format_c10(struct call *c, struct tensor x);
/* x.contiguous(), which returns x where x is contiguous. */
struct tensor contiguous(struct call *c, struct tensor x);
struct tensor clone_format(struct call *c, struct tensor x, enum memory_format format);
/* x.new_zeros(sizes, dtype=dtype); DTYPE_NONE stands for x's dtype. */
struct tensor zeros_of(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n,
                       enum dtype dtype);
/* Calls the operator `name` (torch.empty, torch.zeros or torch.ones) for a tensor on x's device;
 * DTYPE_NONE stands for the default dtype. */
struct tensor full_of(struct call *c, struct tensor x, const char *name, const sym_id *sizes,
                      uint32_t n, enum dtype dtype);

static inline struct tensor view(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n)
{
    return CALL(c, "aten.view.default", T(x), ints(c, sizes, n));
}
static inline struct tensor reshape(struct call *c, struct tensor x, const sym_id *sizes,
                                    uint32_t n)
{
    return CALL(c, "aten.reshape.default", T(x), ints(c, sizes, n));
}
static inline struct tensor expand(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n)
{
    return CALL(c, "aten.expand.default", T(x), ints(c, sizes, n));
}
static inline struct tensor unsqueeze(struct call *c, struct tensor x, int64_t dim)
{
    return CALL(c, "aten.unsqueeze.default", T(x), I(c, dim));
}
static inline struct tensor transpose(struct call *c, struct tensor x, int64_t a, int64_t b)
{
    return CALL(c, "aten.transpose.int", T(x), I(c, a), I(c, b));
}
static inline struct tensor plus(struct call *c, struct value a, struct value b)
{
    return CALL(c, "aten.add.Tensor", a, b);
}
static inline struct tensor minus(struct call *c, struct value a, struct value b)
{
    return CALL(c, "aten.sub.Tensor", a, b);
}
static inline struct tensor times(struct call *c, struct value a, struct value b)
{
    return CALL(c, "aten.mul.Tensor", a, b);
}
static inline struct tensor over(struct call *c, struct value a, struct value b)
{
    return CALL(c, "aten.div.Tensor", a, b);
}
/* x.sum(list, keepdim=keep) */
struct tensor sum_dims(struct call *c, struct tensor x, const int64_t *list, uint32_t n, bool keep);
/* Calls torch.var_mean(x, list, correction=0, keepdim=True). */
void var_mean(struct call *c, struct tensor x, const int64_t *list, uint32_t n, struct tensor *var,
              struct tensor *mean);
struct tensor squeeze_dims(struct call *c, struct tensor x, const int64_t *list, uint32_t n);
struct tensor permute(struct call *c, struct tensor x, const int64_t *list, uint32_t n);
/* Appends dimensions of size 1 until x has ndim of them. */
struct tensor unsqueeze_to(struct call *c, struct tensor x, uint32_t ndim);

/* pw_cast_for_opmath: converts the n tensors in place to the dtype of the computation. Returns
 * the dtype of the result, to which the caller converts it with to_dtype(). */
enum dtype cast_for_opmath(struct call *c, struct tensor **x, uint32_t n);
/* sym_eq of two shapes as one condition, which is false where their lengths differ. */
sym_id shapes_equal(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b, uint32_t n_b);
/* The conditions `a and b`, `a or b` as torch.sym_and and torch.sym_or build them, without a
 * guard. */
sym_id both(struct call *c, sym_id a, sym_id b);
sym_id either(struct call *c, sym_id a, sym_id b);

/* --- Numbers among the arguments --- */
/* Returns argument i, a float, int or bool of a C++ signature. A symbolic number is specialized
 * to its hint, which adds a guard. */
struct value arg_fixed(struct call *c, uint32_t i);
/* Python's a / b and a - b */
struct value true_divide(struct call *c, struct value a, struct value b);
struct value number_minus(struct call *c, struct value a, int64_t b);
/* True where argument i is this number and not a symbol. */
bool arg_is_number(const struct call *c, uint32_t i, double value);

#endif

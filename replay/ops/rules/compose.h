/* Writing a decomposition down as PyTorch's Python has it, one call a line.
 *
 *     struct tensor normal = CALL(c, "aten.mul.Tensor", T(centred), T(rstd));
 *
 * Every call is dispatched again and counted, as the calls of torch/_decomp and torch/_refs are. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_COMPOSE_H
#define SYMTAPE_REPLAY_OPS_RULES_COMPOSE_H

#include "replay/ops/layout/layout.h"

#define CALL(c, name, ...)                                          \
    call_tensor((c), (name), (const struct value[]){ __VA_ARGS__ }, \
                (uint32_t)(sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))
/* the same for results that are not a single tensor */
#define CALL_VALUE(c, name, ...)                                \
    call_op((c), (name), (const struct value[]){ __VA_ARGS__ }, \
            (uint32_t)(sizeof((const struct value[]){ __VA_ARGS__ }) / sizeof(struct value)))

static inline struct value T(struct tensor x) /* None for no tensor */
{
    return value_tensor(x);
} static inline struct value N(sym_id n) {
    return value_int(n);
} static inline struct value B(bool yes) {
    return value_sym(VALUE_BOOL, sym_boolean(yes));
} struct value I(struct call *c, int64_t n);
struct value F(struct call *c, double x);
struct value ints(struct call *c, const sym_id *list, uint32_t n);  /* a list of sizes */
struct value dims(struct call *c, const int64_t *list, uint32_t n); /* a list of ints */
struct value bools(struct call *c, const bool *list, uint32_t n);
struct value dtype_value(enum dtype dtype);
struct value format_value(enum memory_format format);

static inline bool some(struct tensor x) /* not None */
{
    return x.meta != NULL;
}
static inline struct tensor no_tensor(void)
{
    return (struct tensor){ .meta = NULL, .storage = STORAGE_FRESH };
}
/* Properties of tensors. After a failure these return 0 or nothing. */
uint32_t ndim_of(struct tensor x);
sym_id size_of(struct call *c, struct tensor x, int64_t dim); /* dim may be negative */
const char *shape_text(struct call *c, struct tensor x);
const sym_id *sizes_of(struct tensor x);
enum dtype dtype_of(struct tensor x);
struct device device_of(struct tensor x);
bool on_cpu(struct tensor x);
bool on_cuda(struct tensor x);
struct tensor item_tensor(struct call *c, struct value tuple, uint32_t i);

/* --- Calls with keywords, and calls that PyTorch omits where they have no effect --- */

/* Within a decomposition to() dispatches aten.to.dtype and prim.device, whether it copies or
 * not. */
void count_to(struct call *c, struct tensor x);
struct tensor to_dtype(struct call *c, struct tensor x, enum dtype dtype);
struct tensor to_format(struct call *c, struct tensor x, enum memory_format format);
struct tensor to_dtype_format(struct call *c, struct tensor x, enum dtype dtype,
                              enum memory_format format);
struct tensor to_dtype_copy(struct call *c, struct tensor x, enum dtype dtype); /* copy=True */
struct tensor convert(struct call *c, struct tensor x,
                      enum dtype dtype); /* as the references convert */
/* TensorBase::suggest_memory_format(), whose guards differ from those of the references. */
enum memory_format suggest_format_c10(struct call *c, struct tensor x);
struct tensor contiguous(struct call *c, struct tensor x);
struct tensor clone_format(struct call *c, struct tensor x, enum memory_format format);
struct tensor zeros_of(struct call *c, struct tensor x, const sym_id *sizes, uint32_t n,
                       enum dtype dtype); /* x.new_zeros */
struct tensor full_of(struct call *c, struct tensor x, const char *name, const sym_id *sizes,
                      uint32_t n, enum dtype dtype); /* torch.empty, zeros, ones on x's device */

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
struct tensor sum_dims(struct call *c, struct tensor x, const int64_t *list, uint32_t n, bool keep);
/* torch.var_mean(x, list, correction=0, keepdim=True) */
void var_mean(struct call *c, struct tensor x, const int64_t *list, uint32_t n, struct tensor *var,
              struct tensor *mean);
struct tensor squeeze_dims(struct call *c, struct tensor x, const int64_t *list, uint32_t n);
struct tensor permute(struct call *c, struct tensor x, const int64_t *list, uint32_t n);
struct tensor unsqueeze_to(struct call *c, struct tensor x,
                           uint32_t ndim); /* adds dimensions at the end */

/* pw_cast_for_opmath: converts the tensors in place to the dtype of the computation. Returns the
 * dtype of the result, to which to_dtype() converts it back. */
enum dtype cast_for_opmath(struct call *c, struct tensor **x, uint32_t n);
/* sym_eq of two shapes as one condition. It is false if their lengths differ. */
sym_id shapes_equal(struct call *c, const sym_id *a, uint32_t n_a, const sym_id *b, uint32_t n_b);
/* Returns the conjunction as sym_and builds it, without a guard. */
sym_id both(struct call *c, sym_id a, sym_id b);
sym_id either(struct call *c, sym_id a, sym_id b);

/* --- Numbers among the arguments --- */
/* A float, int or bool of a C++ signature: a symbolic one is guarded to its value. */
struct value arg_fixed(struct call *c, uint32_t i);
struct value true_divide(struct call *c, struct value a, struct value b); /* Python's / */
struct value number_minus(struct call *c, struct value a, int64_t b);
bool arg_is_number(const struct call *c, uint32_t i,
                   double value); /* exactly that number, not a symbol */

#endif

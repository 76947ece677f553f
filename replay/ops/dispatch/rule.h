/* What a rule is written with.
 *
 *     bool rule_relu(struct call *c)
 *     {
 *         struct tensor x = arg_tensor(c, 0);
 *         return ret_tensor(c, new_like(c, x));
 *     }
 *
 * Arguments are in the order of the schema, keyword ones too, with defaults filled in, so that
 * their number is the schema's; numbers stand where the schema says Scalar, int or SymInt, one int
 * where it says int[2] has become a list of two.
 *
 * Failure is sticky: after refuse(), or a question that PyTorch cannot answer (a data-dependent
 * guard), every question answers false, every tensor made is empty, and what the rule returns is
 * not looked at. So rules are written straight down and loops end by themselves. A rule returns
 * true, or false after refuse().
 *
 * Sizes are sym_ids; arithmetic on them is SymNode's (replay/shape/env/node.h): plain numbers stay
 * cheap. Nothing here looks at a hint; only guard_*() may. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_RULE_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_RULE_H

#include "replay/ops/dispatch/counters.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/shape/env/node.h"

/* A call whose arguments are bound: what the layers hand downward, and a rule is given. */
struct call {
    struct ops *ops;
    struct shape_env *env;
    struct sym_pool *pool;
    const struct op *op;
    const struct value *args; /* as the schema orders them */
    uint32_t n_args;
    uint32_t fresh_from; /* storages from here on are the call's own */
    int32_t param;       /* of the row: what tells it from its family */
    bool symbolic;       /* some size, stride or number among the arguments is no constant */
    bool failed;         /* refused, or out of memory */
    bool unsupported;
    sym_id checked; /* of check() */
    bool in_kernel; /* calls from within are a meta kernel's own: no dispatches */
    struct value ret;
    /* For the layers (context.h): no rule looks at these. */
    bool repeatable; /* the same call gives the same result, and leaves nothing else behind */
    bool bypass_known;
    enum op_bypass bypass; /* why PyTorch's cache passes it by */
};

typedef bool op_rule(struct call *c);

/* --- Arguments --- */

static inline struct value arg(const struct call *c, uint32_t i)
{
    return i < c->n_args ? c->args[i] : value_none();
}
static inline bool arg_given(const struct call *c, uint32_t i) /* not None */
{
    return arg(c, i).kind != VALUE_NONE;
}
struct tensor arg_tensor(const struct call *c, uint32_t i); /* .meta NULL for None */
sym_id arg_sym(const struct call *c, uint32_t i);           /* an int, float or bool */
/* A Python int: guards on a symbolic one, as an `int` in a schema does. */
int64_t arg_int(struct call *c, uint32_t i);
int64_t arg_int_or(struct call *c, uint32_t i, int64_t otherwise); /* of None */
bool arg_bool(struct call *c, uint32_t i);
double arg_double(struct call *c, uint32_t i); /* NAN where it is symbolic */
/* int(x) of a float, at the ends where it does not fit; 0 of NaN. */
static inline int64_t saturated(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : x == x ? (int64_t)x : 0;
}
struct str arg_string(const struct call *c, uint32_t i);
enum dtype arg_dtype(const struct call *c, uint32_t i, enum dtype otherwise);
struct device arg_device(const struct call *c, uint32_t i, struct device otherwise);
enum memory_format arg_format(const struct call *c, uint32_t i, enum memory_format otherwise);
/* A list of ints: n and the sizes (an array that lives as long as the call). None is 0, NULL. */
uint32_t arg_syms(struct call *c, uint32_t i, const sym_id **ret);
uint32_t arg_ints(struct call *c, uint32_t i, const int64_t **ret); /* guards on symbolic ones */
uint32_t arg_tensors(struct call *c, uint32_t i, const struct tensor **ret); /* None: .meta NULL */

/* --- Asking (struct shape_env in replay/shape/env/env.h) --- */

bool guard_bool(struct call *c, sym_id condition);     /* bool(symbool) */
bool guard_or_false(struct call *c, sym_id condition); /* torch.fx.experimental.symbolic_shapes */
bool guard_or_true(struct call *c, sym_id condition);
bool known_true(struct call *c, sym_id condition); /* statically_known_true */
bool guard_size_oblivious(struct call *c, sym_id condition);
int64_t guard_int(struct call *c, sym_id value); /* int(symint) */
/* expect_true; refuses with the text where the condition is false. */
#define check(c, condition, type, ...) \
    said(check_begin((c), (condition)) || check_end((c), (type), __VA_ARGS__))
/* The same of a plain condition. Neither makes its text's arguments where there is nothing to say.
 */
#define require(c, condition, type, ...) \
    said(!(c)->failed && ((condition) || refuse((c), (type), __VA_ARGS__)))
/* Inside: true where it holds; what is put off until run time has its text from the start. */
bool is_put_off(struct call *c, sym_id condition);
bool check_begin(struct call *c, sym_id condition);
static inline bool said(bool holds) /* an answer may be left unused */
{
    return holds;
}
bool check_end(struct call *c, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Always false. type is the Python exception: "RuntimeError", "IndexError", "ValueError" ... */
bool refuse(struct call *c, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* at::assert_no_internal_overlap of argument i, and at::assert_no_overlap with the tensors among
 * the first n arguments, once it has the sizes of the result. */
bool check_out_overlap(struct call *c, uint32_t i, uint32_t n, struct tensor result);
/* A form of the call that no rule of ours knows (not one that PyTorch refuses). Always false. */
bool unsupported(struct call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* For texts: "[2, s77]", "s77*2", "Float". They live as long as the call. */
const char *sizes_text(struct call *c, const sym_id *sizes, uint32_t n);
const char *sym_text(struct call *c, sym_id e);

/* SymNode arithmetic, short: of numbers and expressions. */
sym_id num(struct call *c, int64_t value);
sym_id add(struct call *c, sym_id a, sym_id b);
sym_id sub(struct call *c, sym_id a, sym_id b);
sym_id mul(struct call *c, sym_id a, sym_id b);
sym_id floordiv(struct call *c, sym_id a, sym_id b);
sym_id mod(struct call *c, sym_id a, sym_id b);
sym_id sym_max2(struct call *c, sym_id a, sym_id b); /* torch.sym_max: Max(a, b) */
sym_id sym_min2(struct call *c, sym_id a, sym_id b);
sym_id eq(struct call *c, sym_id a, sym_id b);
sym_id ne(struct call *c, sym_id a, sym_id b);
sym_id lt(struct call *c, sym_id a, sym_id b);
sym_id le(struct call *c, sym_id a, sym_id b);
sym_id gt(struct call *c, sym_id a, sym_id b);
sym_id ge(struct call *c, sym_id a, sym_id b);
/* min(a, b) of Python: a question, unless torch.export traces. */
sym_id py_min(struct call *c, sym_id a, sym_id b);
sym_id eq_int(struct call *c, sym_id a, int64_t b);
/* Comparisons as Python writes them: a plain int on the left leaves the question to the SymInt on
 * the right, which turns it round. C++ asks as it is written: eq(), le() ... */
sym_id py_eq(struct call *c, sym_id a, sym_id b);
sym_id py_ne(struct call *c, sym_id a, sym_id b);
sym_id py_lt(struct call *c, sym_id a, sym_id b);
sym_id py_le(struct call *c, sym_id a, sym_id b);
sym_id py_gt(struct call *c, sym_id a, sym_id b);
sym_id py_ge(struct call *c, sym_id a, sym_id b);
bool is_number(const struct call *c, sym_id e);             /* no symbols */
bool is_int(const struct call *c, sym_id e, int64_t value); /* that very number */
sym_id numel(struct call *c, struct tensor x);              /* product of the sizes, in order */
sym_id product(struct call *c, const sym_id *sizes, uint32_t n);

/* torch._prims_common.canonicalize_dim: [-n, n), IndexError "Dimension out of range (expected to
 * be in range of [-2, 1], but got 5)". ndim 0 counts as 1. */
uint32_t wrap_dim(struct call *c, int64_t dim, uint32_t ndim);

/* --- Results --- */

/* Room that lives as long as the call's results. */
sym_id *syms(struct call *c, uint32_t n);
struct value *values(struct call *c, uint32_t n);
void *scratch(struct call *c, size_t bytes); /* until the call ends; NULL: failed */

/* A new tensor: contiguous (make_contiguous_strides_for), or of that memory format. */
struct tensor new_tensor(struct call *c, enum dtype dtype, struct device device,
                         const sym_id *sizes, uint32_t n);
struct tensor new_tensor_format(struct call *c, enum dtype dtype, struct device device,
                                const sym_id *sizes, uint32_t n, enum memory_format format);
struct tensor new_tensor_strided(struct call *c, enum dtype dtype, struct device device,
                                 const sym_id *sizes, const sym_id *strides, uint32_t n);
/* The same by empty_permuted, dense, which does not ask whether a size is 0. */
struct tensor new_tensor_permuted(struct call *c, enum dtype dtype, struct device device,
                                  const sym_id *sizes, const sym_id *strides, uint32_t n);
/* empty_like(x) of the same or another dtype: preserve_format, dense strides kept. */
struct tensor new_like(struct call *c, struct tensor x);
struct tensor new_like_dtype(struct call *c, struct tensor x, enum dtype dtype);
/* A tensor on x's storage. */
struct tensor new_view(struct call *c, struct tensor x, const sym_id *sizes, const sym_id *strides,
                       uint32_t n, sym_id offset);
struct tensor new_view_dtype(struct call *c, struct tensor x, enum dtype dtype, const sym_id *sizes,
                             const sym_id *strides, uint32_t n, sym_id offset);
/* An unbacked symbol of the environment, with _constrain_range_for_size(min, max) (SYM_NONE: no
 * such bound). The call is then never answered from the cache. */
sym_id new_unbacked_size(struct call *c, sym_id min, sym_id max);

bool ret_tensor(struct call *c, struct tensor x);
bool ret_tensors(struct call *c, const struct tensor *x, uint32_t n); /* a tuple */
bool ret_list(struct call *c, const struct tensor *x, uint32_t n);    /* a Tensor[] */
bool ret_value(struct call *c, struct value value);
bool ret_none(struct call *c);

/* --- Calling on: decompositions and references --- */

/* A call from within: dispatched again at one more depth, cached and counted. On anything but
 * success the caller has failed, too. */
struct value call_op(struct call *c, const char *name, const struct value *args, uint32_t n);
struct value call_op_keywords(struct call *c, const char *name, const struct value *args,
                              uint32_t n, const struct keyword *keywords, uint32_t n_keywords);
struct tensor call_tensor(struct call *c, const char *name, const struct value *args, uint32_t n);

/* --- What PyTorch counts meanwhile: for the dispatch model (replay/ops/model), if it is on --- */

/* Dispatches that PyTorch makes here and that the rule answers by itself: counted only. */
void count_dispatches(struct call *c, uint32_t n);
/* A primitive that the rule stands for, x laid out as g, and what that calls in turn unless
 * PyTorch's cache knows it. */
struct geometry; /* replay/ops/rules/view/views.h */
void count_call(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                const sym_id *args, uint32_t n, uint32_t within);
/* The call within that made x; returns x. */
struct tensor count_made(struct call *c, const char *name, struct tensor x);
/* C++ asks a tensor for its device, above FakeTensorMode. */
void count_devices(struct call *c, uint32_t n);
/* Counters of the fast path: "attempt fast", "fast is_contiguous" ... (op_counters.def). */
void count(struct call *c, enum op_counter counter);

/* --- How the call is answered --- */

/* Within a meta kernel: every tensor is on the meta device, so none is a CPU scalar. */
bool in_kernel(const struct call *c);
/* No symbols, and eager PyTorch is asked: kernels answer, not references. */
bool eager(const struct call *c);
/* Whether this operator's fast path may be tried: some size is symbolic and no switch is off. */
bool fast_path(const struct call *c);

/* Each row's rule, so that none needs a declaration of its own. */
#define OP(schema, forms, rule, param)        op_rule rule_##rule;
#define POINTWISE(schema, forms, rule, param) op_rule rule_##rule;
#define COMPOSITE(schema, forms, rule, param) op_rule rule_##rule;
#include "replay/ops/all_ops.def"
#undef OP
#undef POINTWISE
#undef COMPOSITE

#endif

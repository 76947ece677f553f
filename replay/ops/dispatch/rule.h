/* The functions with which a rule is written.
 *
 *     bool rule_relu(struct call *c)
 *     {
 *         struct tensor x = arg_tensor(c, 0);
 *         return ret_tensor(c, new_like(c, x));
 *     }
 *
 * Arguments are in the order of the schema, including keyword ones, with defaults filled in, so
 * that their number is the schema's; Scalar, int and SymInt are numbers, and one int for int[2]
 * has become a list of two.
 *
 * Failure is sticky: after refuse(), or a condition that PyTorch cannot evaluate (a
 * data-dependent guard), every condition is false, every new tensor is empty, and the rule's
 * result is ignored. So rules need no checks, and their loops end. A rule returns true, or false
 * after refuse().
 *
 * Sizes are sym_ids; arithmetic on them is SymNode's (replay/shape/env/node.h) and is fast for
 * numbers. Only guard_*() may use a hint. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_RULE_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_RULE_H

#include "replay/ops/dispatch/ablations.h"
#include "replay/ops/dispatch/counters.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/shape/env/behavior.h"
#include "replay/shape/env/node.h"

/* A call with bound arguments, which layers and rules receive. */
struct call {
    struct ops *ops;
    struct shape_env *env;
    struct sym_pool *pool;
    const struct op *op;
    const struct value *args; /* in the schema's order */
    uint32_t n_args;
    uint32_t fresh_from; /* storages from this number on were made by the call */
    int32_t param;       /* the row's parameter, which distinguishes it in its family */
    bool symbolic;       /* a size, stride or number among the arguments is no constant */
    bool failed;         /* refused, or out of memory */
    bool unsupported;
    sym_id checked; /* the condition of check() */
    bool in_kernel; /* nested calls are those of a meta kernel and no dispatches */
    bool nests;     /* the calls of a text are nested calls, also if the operator is composite */
    struct value ret;
    /* For the layers (context.h), not for rules. */
    bool repeatable; /* a repetition gives the same result and has no other effect */
    bool bypass_known;
    enum op_bypass bypass; /* why PyTorch's cache bypasses it */
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
struct tensor arg_tensor(const struct call *c, uint32_t i); /* .meta is NULL for None */
sym_id arg_sym(const struct call *c, uint32_t i);           /* an int, float or bool */
/* Returns a Python int: adds a guard on a symbolic one, as an `int` in a schema does. */
int64_t arg_int(struct call *c, uint32_t i);
int64_t arg_int_or(struct call *c, uint32_t i, int64_t otherwise); /* `otherwise` for None */
bool arg_bool(struct call *c, uint32_t i);
double arg_double(struct call *c, uint32_t i); /* NAN for a symbolic number */
/* int(x) of a float; the nearest int64_t where it does not fit, 0 for NaN. */
static inline int64_t saturated(double x)
{
    return x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : x == x ? (int64_t)x : 0;
}
struct str arg_string(const struct call *c, uint32_t i);
enum dtype arg_dtype(const struct call *c, uint32_t i, enum dtype otherwise);
struct device arg_device(const struct call *c, uint32_t i, struct device otherwise);
enum memory_format arg_format(const struct call *c, uint32_t i, enum memory_format otherwise);
/* A list of ints: returns its length and the sizes (an array that lives as long as the call). None
 * gives 0 and NULL. */
uint32_t arg_syms(struct call *c, uint32_t i, const sym_id **ret);
uint32_t arg_ints(struct call *c, uint32_t i, const int64_t **ret); /* guards on symbolic ones */
uint32_t arg_tensors(struct call *c, uint32_t i, const struct tensor **ret); /* None: .meta NULL */

/* --- Conditions (struct shape_env in replay/shape/env/env.h) --- */

bool guard_bool(struct call *c, sym_id condition);     /* bool(symbool) */
bool guard_or_false(struct call *c, sym_id condition); /* torch.fx.experimental.symbolic_shapes */
bool guard_or_true(struct call *c, sym_id condition);
bool known_true(struct call *c, sym_id condition); /* statically_known_true */
bool guard_size_oblivious(struct call *c, sym_id condition);
int64_t guard_int(struct call *c, sym_id value); /* int(symint) */
/* expect_true; refuses with the text when the condition is false. */
#define check(c, condition, type, ...) \
    said(check_begin((c), (condition)) || check_end((c), (type), __VA_ARGS__))
/* The same for a bool. Neither evaluates the arguments of the text unless it is needed. */
#define require(c, condition, type, ...) \
    said(!(c)->failed && ((condition) || refuse((c), (type), __VA_ARGS__)))
/* Only for check(): returns whether the condition holds; a deferred assert gets its text at once.
 */
bool is_put_off(struct call *c, sym_id condition);
bool check_begin(struct call *c, sym_id condition);
static inline bool said(bool holds) /* lets callers ignore the result */
{
    return holds;
}
bool check_end(struct call *c, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Returns false. type is the Python exception: "RuntimeError", "IndexError", "ValueError" ... */
bool refuse(struct call *c, const char *type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* at::assert_no_internal_overlap of argument i, and at::assert_no_overlap with the tensors among
 * the first n arguments, with the sizes of the result. */
bool check_out_overlap(struct call *c, uint32_t i, uint32_t n, struct tensor result);
/* Reports a form of the call that no rule supports (not one that PyTorch refuses). Returns false.
 */
bool unsupported(struct call *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Texts for messages: "[2, s77]", "s77*2", "Float". They live as long as the call. */
const char *sizes_text(struct call *c, const sym_id *sizes, uint32_t n);
const char *sym_text(struct call *c, sym_id e);

/* SymNode arithmetic on numbers and expressions, with short names. */
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
/* min(a, b) of Python: adds a guard, unless torch.export traces. */
sym_id py_min(struct call *c, sym_id a, sym_id b);
sym_id eq_int(struct call *c, sym_id a, int64_t b);
/* Comparisons as in Python: with an int on the left, Python calls the reversed comparison of the
 * SymInt on the right. C++ compares in the written order: eq(), le() ... */
sym_id py_eq(struct call *c, sym_id a, sym_id b);
sym_id py_ne(struct call *c, sym_id a, sym_id b);
sym_id py_lt(struct call *c, sym_id a, sym_id b);
sym_id py_le(struct call *c, sym_id a, sym_id b);
sym_id py_gt(struct call *c, sym_id a, sym_id b);
sym_id py_ge(struct call *c, sym_id a, sym_id b);
/* A method of two numbers, each of which may be a float or an int, constant or symbolic: if one is
 * a float, the other is converted first, as Python does. */
struct value promoted_method(struct call *c, enum node_method method, struct value a,
                             struct value b);
bool is_number(const struct call *c, sym_id e);             /* without symbols */
bool is_int(const struct call *c, sym_id e, int64_t value); /* exactly that number */
sym_id numel(struct call *c, struct tensor x);              /* the product of the sizes, in order */
sym_id product(struct call *c, const sym_id *sizes, uint32_t n);

/* torch._prims_common.canonicalize_dim: returns dim in [-n, n) as in [0, n), or raises IndexError
 * "Dimension out of range (expected to be in range of [-2, 1], but got 5)". ndim 0 counts as 1. */
uint32_t wrap_dim(struct call *c, int64_t dim, uint32_t ndim);

/* --- Results --- */

/* Allocates an array that lives as long as the call's results. */
sym_id *syms(struct call *c, uint32_t n);
struct value *values(struct call *c, uint32_t n);
void *scratch(struct call *c, size_t bytes); /* lives until the call ends; NULL: failed */

/* Makes a new tensor: contiguous (make_contiguous_strides_for), or with that memory format. */
struct tensor new_tensor(struct call *c, enum dtype dtype, struct device device,
                         const sym_id *sizes, uint32_t n);
struct tensor new_tensor_format(struct call *c, enum dtype dtype, struct device device,
                                const sym_id *sizes, uint32_t n, enum memory_format format);
struct tensor new_tensor_strided(struct call *c, enum dtype dtype, struct device device,
                                 const sym_id *sizes, const sym_id *strides, uint32_t n);
/* The same by empty_permuted: dense, and without evaluating whether a size is 0. */
struct tensor new_tensor_permuted(struct call *c, enum dtype dtype, struct device device,
                                  const sym_id *sizes, const sym_id *strides, uint32_t n);
/* empty_like(x) with the same or another dtype: preserve_format keeps dense strides. */
struct tensor new_like(struct call *c, struct tensor x);
struct tensor new_like_dtype(struct call *c, struct tensor x, enum dtype dtype);
/* Makes a tensor on x's storage. */
struct tensor new_view(struct call *c, struct tensor x, const sym_id *sizes, const sym_id *strides,
                       uint32_t n, sym_id offset);
struct tensor new_view_dtype(struct call *c, struct tensor x, enum dtype dtype, const sym_id *sizes,
                             const sym_id *strides, uint32_t n, sym_id offset);
/* Makes an unbacked symbol; in the second case with _constrain_range_for_size(min, max) (SYM_NONE:
 * no such bound), which makes it size-like. The call's result is then never cached. */
sym_id new_unbacked(struct call *c);
sym_id new_unbacked_size(struct call *c, sym_id min, sym_id max);

bool ret_tensor(struct call *c, struct tensor x);
bool ret_tensors(struct call *c, const struct tensor *x, uint32_t n); /* a tuple */
bool ret_list(struct call *c, const struct tensor *x, uint32_t n);    /* a Tensor[] */
bool ret_value(struct call *c, struct value value);
bool ret_none(struct call *c);

/* --- Calls of other operators: decompositions and references --- */

/* Makes a nested call: dispatched again at one more depth, cached and counted. If it does not
 * succeed, the caller has failed, too. */
struct value call_op(struct call *c, const char *name, const struct value *args, uint32_t n);
struct value call_op_keywords(struct call *c, const char *name, const struct value *args,
                              uint32_t n, const struct keyword *keywords, uint32_t n_keywords);
struct tensor call_tensor(struct call *c, const char *name, const struct value *args, uint32_t n);

/* --- PyTorch's counts, for the dispatch model (replay/ops/model), if it is on --- */
/* Runs the text that the row of the operator names (replay/ops/decomp). First the arguments are
 * cast as the text says; then fits(), which may be NULL, checks them. */
bool decompose(struct call *c, bool (*fits)(struct call *c));

/* --- What PyTorch counts meanwhile: for the dispatch model (replay/ops/model), if it is on --- */

/* Counts dispatches that PyTorch makes here and that the rule computes by itself. */
void count_dispatches(struct call *c, uint32_t n);
/* Counts a primitive that the rule implements, x laid out as g, and the calls of that primitive
 * unless PyTorch's cache has it. */
struct geometry; /* replay/ops/rules/view/views.h */
void count_call(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                const sym_id *args, uint32_t n, uint32_t within);
/* Counts the nested call that made x; returns x. */
struct tensor count_made(struct call *c, const char *name, struct tensor x);
/* Counts that C++ gets a tensor's device, which FakeTensorMode does not see. */
void count_devices(struct call *c, uint32_t n);
/* Counts for the fast path: "attempt fast", "fast is_contiguous" ... (op_counters.def). */
void count(struct call *c, enum op_counter counter);

/* --- The kind of call --- */

/* Returns whether a meta kernel runs: every tensor is on the meta device, so none is a CPU scalar.
 */
bool in_backward(const struct call *c); /* a formula of autograd reshapes */
bool in_kernel(const struct call *c);
/* Returns whether eager PyTorch is simulated and there are no symbols: kernels run, not references.
 */
bool eager(const struct call *c);
/* Returns whether torch.export traces the call (ops_set_export()). */
bool exporting(const struct call *c);
/* Returns whether the backward of an autograd function is left to autograd (ops_leave_backward()).
 */
bool leaves_backward(const struct call *c);
/* Returns whether the call attempts the fast path of binary operators, which PyTorch has or has not
 * registered for its operator: a size is symbolic, unless an ablation says otherwise, and no kernel
 * makes the call, which FakeTensorMode does not see. */
bool fast_path(const struct call *c, bool registered);
/* Begins what follows an attempt that failed, which ends with the rule. */
void begin_slow_path(struct call *c);
/* Returns whether an ablation is on for this call. */
bool is_ablated(const struct call *c, enum ablation ablation);

/* Declares each row's rule. */
#define OP(schema, forms, rule, param)        op_rule rule_##rule;
#define POINTWISE(schema, forms, rule, param) op_rule rule_##rule;
#define COMPOSITE(schema, forms, rule, param) op_rule rule_##rule;
#include "replay/ops/all_ops.def"
#undef OP
#undef POINTWISE
#undef COMPOSITE

#endif

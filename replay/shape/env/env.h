/* The shape environment: symbols, their ranges and replacements, and the guards on them
 * (ShapeEnv of torch/fx/experimental/symbolic_shapes.py), as torch 2.11
 * has it; what other releases do differently is in replay/shape/env/behavior.h.
 *
 *     struct shape_env *env = shape_env_new(NULL, &err);
 *     sym_id s77 = env_create_symbol(env, &(struct symbol_request){
 *         .value = sym_integer(pool, 8), .source = STR("L['x'].size()[0]"),
 *         .dynamic = DIM_DUCK, .positive = true });
 *     bool yes;
 *     if (!env_guard_bool(env, sym_gt(pool, s77, sym_integer(pool, 4)), &yes)) ...  // raised
 *
 * It evaluates as PyTorch does, deliberate weaknesses included, since proving more would change
 * guards. Every guard, replacement, specialization and deferred assert stores its origin: the node
 * and user stack that env_set_origin() set last, and the engine's own stack as raw addresses
 * (replay/shape/env/backtrace.h), symbolised only when printed.
 *
 * What PyTorch would raise is a result, not a failure: the call returns false or SYM_NONE and
 * env_raised() returns the exception. Running out of memory is one, too, of kind ENV_RAISED_MEMORY.
 *
 * The environment owns its pool. It is for one thread at a time. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_ENV_H
#define SYMTAPE_REPLAY_SHAPE_ENV_ENV_H

#include "replay/shape/expr/sym.h"
#include "replay/shape/range/range.h"

struct shape_env;

/* ShapeEnvSettings, and the configuration values that ShapeEnv reads. */
struct env_settings {
    bool allow_scalar_outputs, allow_dynamic_output_shape_ops;
    bool assume_static_by_default, specialize_zero_one, duck_shape;
    bool prefer_deferred_runtime_asserts_over_guards, trace_asserts;
    bool backed_size_oblivious; /* torch.fx.experimental._config */
    bool exporting;             /* torch.compiler.is_exporting() */
    /* PyTorch uses the first Mod of a set, whose order differs from process to process
     * (PYTHONHASHSEED) and from equality to equality. Bit i is the choice where the outermost Mod
     * is the i-th that was met, the last bit that for all others: 0 takes the outermost Mod, 1 the
     * innermost. */
    uint64_t inner_mods;
    bool keep_events; /* for env_event_at() */
    int torch;        /* the release of PyTorch: 213 is 2.13 (replay/shape/env/behavior.h) */
};
/* The release that is assumed of a log that names none: torch 2.12 and later name theirs first of
 * all, earlier ones at the end of a compile. */
enum { TORCH_RELEASE_DEFAULT = 211 };
/* 213 of "2.13.0+cpu"; 0 of a text that is no version. */
int torch_release(struct str version);
#define ENV_SETTINGS_DEFAULT                                        \
    ((struct env_settings){ .allow_scalar_outputs = true,           \
                            .allow_dynamic_output_shape_ops = true, \
                            .specialize_zero_one = true,            \
                            .duck_shape = true,                     \
                            .torch = TORCH_RELEASE_DEFAULT })

struct shape_env *shape_env_new(const struct env_settings *settings, struct err *err);
void shape_env_free(struct shape_env *env);
struct sym_pool *env_pool(const struct shape_env *env);
const struct env_settings *env_settings(const struct shape_env *env);

/* --- What PyTorch would raise --- */

enum env_raised_kind {
    ENV_RAISED_NOTHING,
    ENV_RAISED_DATA_DEPENDENT, /* GuardOnDataDependentSymNode */
    ENV_RAISED_CONSTRAINT,     /* ConstraintViolationError */
    ENV_RAISED_OTHER,          /* AssertionError, ValueRangeError ...: named by `type` */
    ENV_RAISED_MEMORY          /* out of memory, which is no exception of PyTorch's */
};
struct env_raised {
    enum env_raised_kind kind;
    const char *type; /* "GuardOnDataDependentSymNode", "ZeroDivisionError" */
    struct str text;  /* valid until the next raise */
};
/* Returns what the last failed call raised, and clears it. */
struct env_raised env_raised(struct shape_env *env);
/* _suggest_torch_checks: prints what export adds to the text of the last data-dependent error, the
 * two checks that would resolve it. names: returns what the user's code calls a symbol, "n or m"; n
 * is 0 when it has no name, and then nothing is suggested (false). */
typedef struct str env_user_names(void *user, sym_id symbol);
bool env_suggest_checks(struct shape_env *env, env_user_names *names, void *user, struct buf *out);

/* --- Symbols --- */

enum dim_dynamic { DIM_DYNAMIC, DIM_DUCK, DIM_STATIC, DIM_UNBACKED, DIM_INFER_STRIDE };

enum constraint_kind {
    CONSTRAINT_NONE,
    CONSTRAINT_STRICT_MIN_MAX, /* range: a Dim, or mark_dynamic with min and max */
    CONSTRAINT_RELAXED_UNSPEC  /* mark_dynamic; warn_only: automatic dynamic shapes */
};
struct dim_constraint {
    enum constraint_kind kind;
    bool warn_only;
    struct sym_range range;
    struct str name; /* the name of a Dim, or "" */
};

struct symbol_request {
    sym_id value; /* the hint: an integer or a float; for a nested int its own symbol ("j1") */
    struct str source;
    enum dim_dynamic dynamic;
    struct dim_constraint constraint;
    bool positive; /* true for a size; false: None, for an unspecified number */
    bool do_not_specialize_zero_one;
    /* Dynamo's StatefulSymbolicContext: a source that was requested before gets the same symbol. */
    bool stateful;
    bool size_like; /* it is a size under backed_size_oblivious */
    /* For DIM_UNBACKED (mark_unbacked): sizes with one shape_id are asserted to be equal; bounds
     * are asserted, SYM_ID_FALSE (0) means none. */
    struct str shape_id;
    sym_id min, max;
};
/* create_symbol: returns the symbol, or the number that it was specialised to; SYM_NONE: raised. */
sym_id env_create_symbol(struct shape_env *env, const struct symbol_request *request);
/* create_unspecified_symbol: returns the symbol of a Python number. */
sym_id env_create_unspecified_symbol(struct shape_env *env, sym_id value, struct str source,
                                     enum dim_dynamic dynamic);
sym_id env_create_unbacked_symint(struct shape_env *env);
sym_id env_create_unbacked_symfloat(struct shape_env *env);
sym_id env_create_unbacked_symbool(struct shape_env *env); /* Eq(u0, 1) */
/* Adds a symbol of a log to the environment, with the name, hint and range that the log has. */
sym_id env_adopt_symbol(struct shape_env *env, struct str name, sym_id hint, struct sym_range range,
                        struct str source);

/* The sizes, strides and offset of a tensor (_create_symbolic_sizes_strides_storage_offset). */
struct tensor_request {
    struct str source; /* "L['x']" */
    uint32_t ndim;
    const int64_t *size, *stride;
    int64_t offset;
    const enum dim_dynamic *dynamic;          /* of ndim items; NULL: all DUCK */
    const struct dim_constraint *constraints; /* of ndim items; NULL: none */
    const enum dim_dynamic *dynamic_stride;   /* of ndim items; NULL: all INFER_STRIDE */
    bool stateful;                            /* as in symbol_request */
};
bool env_create_tensor(struct shape_env *env, const struct tensor_request *request, sym_id *size,
                       sym_id *stride, sym_id *offset);

bool env_short_of_memory(
    const struct shape_env *env);              /* sticky after the first failed allocation */
size_t env_bytes(const struct shape_env *env); /* the memory that it and its expressions use */
/* Returns the hint of an expression, or SYM_NONE when a symbol has none. */
sym_id env_hint(struct shape_env *env, sym_id e);
/* Returns false when there is no such symbol. */
bool env_range(const struct shape_env *env, sym_id symbol, struct sym_range *ret);
bool env_is_unbacked(const struct shape_env *env, sym_id symbol);
bool env_has_unbacked(struct shape_env *env, sym_id e); /* free_unbacked_symbols */
/* Applies replacements (ShapeEnv.replace, which SymNode.expr shows); env_simplify() does more. */
sym_id env_replace(struct shape_env *env, sym_id e);
sym_id env_simplify(struct shape_env *env, sym_id e);

/* --- Evaluation --- */

/* evaluate_expr. hint: the value of e, or SYM_NONE; fallback: the result when e depends on data, or
 * SYM_NONE. Returns a boolean, an integer or a float; SYM_NONE: raised. */
sym_id env_evaluate(struct shape_env *env, sym_id e, sym_id hint, bool size_oblivious,
                    sym_id fallback);
bool env_guard_bool(struct shape_env *env, sym_id e, bool *ret); /* false: raised */
bool env_guard_int(struct shape_env *env, sym_id e, int64_t *ret);
/* Returns the fallback when e depends on data (or always, with backed_size_oblivious). */
bool env_guard_or(struct shape_env *env, sym_id e, bool fallback, bool *ret);
bool env_statically_known(struct shape_env *env, sym_id e); /* true without any guard */
/* _maybe_evaluate_static: returns a number or boolean, or SYM_NONE, which is no failure. */
sym_id env_evaluate_static(struct shape_env *env, sym_id e);
/* The same for an observer, which PyTorch does not have: what PyTorch's caches hold of static
 * evaluation stays as it is. */
sym_id env_peek_static(struct shape_env *env, sym_id e);
/* Variants of static evaluation: size_oblivious; unbacked_only (the expression may contain backed
 * symbols); compute_hint. "Without axioms" means axioms=(). Bare is the call without any keyword
 * argument, which PyTorch's lru_cache keeps apart from evaluate_expr's, plain, with
 * size_oblivious=False: guards that are added between the two make their results differ. */
enum env_static {
    ENV_STATIC_PLAIN,
    ENV_STATIC_OBLIVIOUS,
    ENV_STATIC_UNBACKED_ONLY,
    ENV_STATIC_HINT,
    ENV_STATIC_BARE,
    ENV_STATIC_WAYS
};
sym_id env_evaluate_static_as(struct shape_env *env, sym_id e, enum env_static way, bool axioms);
/* Evaluates with axioms and ranges of the caller's instead of the environment's, as Inductor does
 * for indices. The environment stores nothing of it. */
struct env_symbol_range {
    sym_id symbol;
    struct sym_range range;
};
struct env_assumptions {
    const sym_id *axioms; /* NULL: those of the environment */
    uint32_t n_axioms;
    const struct env_symbol_range *ranges; /* NULL: those of the environment */
    uint32_t n_ranges;
};
sym_id env_evaluate_static_with(struct shape_env *env, sym_id e, enum env_static way,
                                const struct env_assumptions *assumptions);
/* SymNode.expect_true, which torch._check calls: adds a guard when e has a hint and no unbacked
 * symbol, else a deferred assert. *ret is false when e is known to be false. */
bool env_expect_true(struct shape_env *env, sym_id e, struct str message, bool *ret);
/* guard_or_defer_runtime_assert itself, which adds a guard on the condition's canonical form. */
bool env_guard_or_defer(struct shape_env *env, sym_id e, struct str message, bool *ret);
/* constrain_symbol_range, _constrain_range_for_size: SYM_NONE means no bound. */
bool env_constrain_range(struct shape_env *env, sym_id e, sym_id min, sym_id max);
bool env_constrain_range_for_size(struct shape_env *env, sym_id e, sym_id min, sym_id max);
bool env_set_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason);
bool env_rename_unbacked(struct shape_env *env, sym_id from, sym_id to); /* _rename_unbacked_to */
bool env_eliminate_unbacked(struct shape_env *env, sym_id from, sym_id to);
/* suppress_guards(), which nests. Conditions evaluated meanwhile add no guards. */
void env_suppress_guards(struct shape_env *env);
void env_resume_guards(struct shape_env *env);
void env_freeze(struct shape_env *env);
void env_freeze_runtime_asserts(struct shape_env *env);
/* From level 2 on, equalities add guards and never replacements; the level starts at 1. */
void env_set_level(struct shape_env *env, unsigned level);
/* The n-th (from 1) and later guards on equalities get the opposite condition, while results stay
 * the same: inject_EVALUATE_EXPR_flip_equality_TESTING_ONLY of torch.fx.experimental._config. 0
 * means none. */
void env_inject_flip_equality(struct shape_env *env, uint64_t n);

/* --- Origins --- */

#define ENV_NODE_NONE UINT32_MAX
struct env_origin {
    uint32_t graph, node; /* chosen by the caller; ENV_NODE_NONE for none */
    uint32_t user_stack;  /* stack_id of the trace, 0 for none */
    const char *rule;     /* the operator's name, or "" */
};
void env_set_origin(struct shape_env *env, struct env_origin origin);
/* Writes the text that messages quote for a source location: the user's line,
 * "x = y + 1  # user.py:3 in f" (nothing when there is none), the framework's, "framework.py:7 in
 * g", or the user's stack as traceback.format_list() prints it. Without a locator messages say
 * "(unknown)". */
enum env_locate { ENV_LOCATE_USER, ENV_LOCATE_FRAMEWORK, ENV_LOCATE_STACK };
typedef void env_locator(void *user, struct env_origin origin, enum env_locate what,
                         struct buf *out);
void env_set_locator(struct shape_env *env, env_locator *locate, void *user);

struct env_guard {
    sym_id expr;
    bool size_oblivious;
    struct env_origin origin;
    uint32_t backtrace; /* an id of replay/shape/env/backtrace.h */
};
struct env_replacement {
    sym_id symbol, to;
    const char *reason; /* "trivial_lhs", "solve", "range_refined_to_singleton" or "find" */
    struct env_origin origin;
    uint32_t backtrace;
};
struct env_assert {
    sym_id expr;
    sym_id newest; /* the unbacked symbol under which PyTorch stores it, or SYM_NONE */
    struct str message;
    struct env_origin origin;
    uint32_t backtrace;
};
/* A symbol that became a number (symbolic_shape_specialization). */
struct env_specialization {
    sym_id symbol, value;
    const char *reason;
    struct env_origin origin;
    uint32_t backtrace;
};
uint32_t env_n_guards(const struct shape_env *env);
const struct env_guard *env_guard_at(const struct shape_env *env, uint32_t i);
uint32_t env_n_suppressed(const struct shape_env *env);
uint32_t env_n_replacements(const struct shape_env *env); /* the current ones, by symbol */
const struct env_replacement *env_replacement_at(const struct shape_env *env, uint32_t i);
/* Returns the current replacement of a symbol, or NULL. */
const struct env_replacement *env_replacement_of(struct shape_env *env, sym_id symbol);
uint32_t env_n_asserts(const struct shape_env *env);
const struct env_assert *env_assert_at(const struct shape_env *env, uint32_t i);
uint32_t env_n_specializations(const struct shape_env *env);
const struct env_specialization *env_specialization_at(const struct shape_env *env, uint32_t i);
uint32_t env_n_divisible(const struct shape_env *env); /* Mod(...) known to be 0 */
sym_id env_divisible_at(const struct shape_env *env, uint32_t i);
struct backtraces; /* replay/shape/env/backtrace.h: the table that `backtrace` indexes */
const struct backtraces *env_backtraces(const struct shape_env *env);
uint32_t env_n_symbols(const struct shape_env *env); /* in the order of their creation */
sym_id env_symbol_at(const struct shape_env *env, uint32_t i);
struct str env_source(const struct shape_env *env, sym_id symbol); /* the one that prints it */

/* What an environment was given, what it was asked, and what it derived, in order. They are kept
 * if env_settings says so. A question is listed once, with its first answer; those that were asked
 * while guards were suppressed, size-oblivious ones and those that got their fallback are not
 * listed, because no guard holds their answer. */
enum env_event_kind {
    ENV_EVENT_SYMBOL,      /* a symbol, and the range that it begins with */
    ENV_EVENT_GIVEN_RANGE, /* a range that the program or the user states */
    ENV_EVENT_GUARDED,     /* a question whose answer is a guard */
    ENV_EVENT_STATIC,      /* a question whose answer was known */
    ENV_EVENT_REPLACEMENT,
    ENV_EVENT_RANGE, /* a range that was derived */
    ENV_EVENT_ASSERT,
    ENV_EVENT_KINDS
};
struct env_event {
    enum env_event_kind kind;
    sym_id expr;            /* the question, the assert, or the symbol */
    sym_id value;           /* the answer, or what replaces the symbol */
    struct sym_range range; /* of SYMBOL, GIVEN_RANGE and RANGE */
    const char *reason;     /* of REPLACEMENT, as env_replacement has it */
    /* The guard or the assert that it follows from: the index for env_guard_at() or
     * env_assert_at(), else UINT32_MAX. */
    uint32_t guard, assert;
    struct env_origin origin;
};
uint32_t env_n_events(const struct shape_env *env);
const struct env_event *env_event_at(const struct shape_env *env, uint32_t i);

/* Counters of work done; the difference of two readings is the cost of a call. */
struct env_counts {
    uint64_t evaluations, static_evaluations, guards, replacements, asserts, simplifications;
    uint64_t remembered; /* evaluations that were answered from a cache */
    uint64_t ignored;    /* guards after freezing */
    uint64_t choices;    /* bits of inner_mods on which decisions depended */
    /* The nodes (sym_n_nodes()) of the expressions that reached _maybe_evaluate_static_worker, with
     * which PyTorch's time grows. */
    uint64_t evaluated_nodes;
};
struct env_counts env_counts(const struct shape_env *env);

/* --- At the end --- */

/* The inputs that produce_guards walks: tensors and numbers with their symbols. */
struct env_input {
    struct str source;
    uint32_t ndim;
    const sym_id *size, *stride; /* NULL for a number, whose expression is `offset` */
    sym_id offset;
    const struct dim_constraint *constraints; /* of ndim items (1 for a number), or NULL */
};
/* Two sizes of inputs that must be equal (one Dim used twice): EqualityConstraint.source_pairs. */
struct env_equality {
    struct str a, b; /* "L['x'].size()[0]" */
};
/* A Dim of torch.export: "dx", or one derived from it, "2*dx + 1". */
struct env_dim {
    struct str name;
    struct str root;  /* "" when the Dim itself is a root */
    int64_t mul, add; /* a derived Dim is mul*root + add */
    int64_t min, max; /* the bounds of a root; INT64_MAX: no bound */
};
/* A size that was specified as a derived Dim: EqualityConstraint.derived_equalities. */
struct env_derived {
    struct str source; /* "L['y'].size()[0]" */
    struct str root;   /* the source of a size that is the root, or the root's name */
    const struct env_dim *dim;
};
enum guard_language { GUARDS_PYTHON, GUARDS_VERBOSE_PYTHON };
struct env_produce {
    const struct env_input *inputs;
    uint32_t n_inputs;
    const struct env_equality *equalities; /* NULL: none were given, and nothing is checked */
    uint32_t n_equalities;
    bool has_equalities;               /* some were given: other sizes found equal violate them */
    const struct env_derived *derived; /* included in the equalities */
    uint32_t n_derived;
    const struct env_dim *dims; /* all, including roots */
    uint32_t n_dims;
    bool guard_static; /* ignore_static=False: adds guards on numbers of tensors, too */
    enum guard_language language;
};
/* Calls back for each conjunct (`guard`: its index for env_guard_at(), UINT32_MAX for conjuncts of
 * inputs and ranges). False: raised; a ConstraintViolationError's text lists the violations. */
bool env_produce_guards(struct shape_env *env, const struct env_produce *what,
                        void (*fn)(void *user, struct str text, uint32_t guard), void *user);
/* The end of torch.export: prints what produce_guards raises and the fixes that DimConstraints
 * suggests for the Dims ("Suggested fixes:"); prints nothing when the constraints are satisfied.
 * False: something else was raised. */
bool env_check_dims(struct shape_env *env, const struct env_produce *what, struct buf *ret);

#endif

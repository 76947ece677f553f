/* The shape environment: symbols, what is known of them, and what was asked
 * (ShapeEnv of torch/fx/experimental/symbolic_shapes.py, torch 2.11).
 *
 *     struct shape_env *env = shape_env_new(NULL, &err);
 *     sym_id s77 = env_create_symbol(env, &(struct symbol_request){
 *         .value = sym_integer(pool, 8), .source = STR("L['x'].size()[0]"),
 *         .dynamic = DIM_DUCK, .positive = true });
 *     bool yes;
 *     if (!env_guard_bool(env, sym_gt(pool, s77, sym_integer(pool, 4)), &yes)) ...  // raised
 *
 * It answers as PyTorch does, deliberate weaknesses included, since proving more would change
 * guards. Every guard, replacement, specialization and deferred assert keeps where it came from:
 * the node and user stack that env_set_origin() named last, and the engine's own stack as raw
 * addresses (replay/shape/env/backtrace.h), symbolised only when printed.
 *
 * What PyTorch would raise is an answer, not a failure: the call returns false or SYM_NONE and
 * env_raised() tells what. Running out of memory is one too, of kind ENV_RAISED_MEMORY.
 *
 * The environment owns its pool. One thread at a time. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_ENV_H
#define SYMTAPE_REPLAY_SHAPE_ENV_ENV_H

#include "replay/shape/expr/sym.h"
#include "replay/shape/range/range.h"

struct shape_env;

/* ShapeEnvSettings, and the configuration that ShapeEnv reads. */
struct env_settings {
    bool allow_scalar_outputs, allow_dynamic_output_shape_ops;
    bool assume_static_by_default, specialize_zero_one, duck_shape;
    bool prefer_deferred_runtime_asserts_over_guards, trace_asserts;
    bool backed_size_oblivious; /* torch.fx.experimental._config */
    bool exporting;             /* torch.compiler.is_exporting() */
    /* Of several Mods in an equality PyTorch looks at the first of a set, whose order differs from
     * process to process (PYTHONHASHSEED): the outermost here, or else the innermost. */
    bool inner_mods;
};
#define ENV_SETTINGS_DEFAULT                                        \
    ((struct env_settings){ .allow_scalar_outputs = true,           \
                            .allow_dynamic_output_shape_ops = true, \
                            .specialize_zero_one = true,            \
                            .duck_shape = true })

struct shape_env *shape_env_new(const struct env_settings *settings, struct err *err);
void shape_env_free(struct shape_env *env);
struct sym_pool *env_pool(const struct shape_env *env);
const struct env_settings *env_settings(const struct shape_env *env);

/* --- What PyTorch would raise --- */

enum env_raised_kind {
    ENV_RAISED_NOTHING,
    ENV_RAISED_DATA_DEPENDENT, /* GuardOnDataDependentSymNode */
    ENV_RAISED_CONSTRAINT,     /* ConstraintViolationError */
    ENV_RAISED_OTHER,          /* AssertionError, ValueRangeError ...: type tells */
    ENV_RAISED_MEMORY          /* ours */
};
struct env_raised {
    enum env_raised_kind kind;
    const char *type; /* "GuardOnDataDependentSymNode", "ZeroDivisionError" */
    struct str text;  /* valid until the next raise */
};
/* Of the last call that failed; asking clears it. */
struct env_raised env_raised(struct shape_env *env);
/* _suggest_torch_checks: what export adds to the text of the last data-dependent error, the two
 * checks that would settle it. names: how the user's code calls a symbol, "n or m"; n is 0 where it
 * does not, and then nothing is suggested (false). */
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
    struct str name; /* of a Dim; "" */
};

struct symbol_request {
    sym_id value; /* the hint: an integer, a float; a symbol of its own for a nested int ("j1") */
    struct str source;
    enum dim_dynamic dynamic;
    struct dim_constraint constraint;
    bool positive; /* a size; false: None, an unspecified number */
    bool do_not_specialize_zero_one;
    /* StatefulSymbolicContext, Dynamo's: a source that was asked for before is answered as then. */
    bool stateful;
    bool size_like; /* a size under backed_size_oblivious */
    /* Of DIM_UNBACKED (mark_unbacked): sizes of one shape_id are asserted to be equal; bounds are
     * asserted, SYM_ID_FALSE (0) for none. */
    struct str shape_id;
    sym_id min, max;
};
/* create_symbol: the symbol, or the number that it was specialised to. SYM_NONE: raised. */
sym_id env_create_symbol(struct shape_env *env, const struct symbol_request *request);
/* create_unspecified_symbol: a Python number. */
sym_id env_create_unspecified_symbol(struct shape_env *env, sym_id value, struct str source,
                                     enum dim_dynamic dynamic);
sym_id env_create_unbacked_symint(struct shape_env *env);
sym_id env_create_unbacked_symfloat(struct shape_env *env);
sym_id env_create_unbacked_symbool(struct shape_env *env); /* Eq(u0, 1) */
/* A symbol that a log names: with that name and range, known to the environment from here on. */
sym_id env_adopt_symbol(struct shape_env *env, struct str name, sym_id hint, struct sym_range range,
                        struct str source);

/* A tensor's sizes, strides and offset (_create_symbolic_sizes_strides_storage_offset). */
struct tensor_request {
    struct str source; /* "L['x']" */
    uint32_t ndim;
    const int64_t *size, *stride;
    int64_t offset;
    const enum dim_dynamic *dynamic;          /* ndim; NULL: all DUCK */
    const struct dim_constraint *constraints; /* ndim; NULL: none */
    const enum dim_dynamic *dynamic_stride;   /* ndim; NULL: all INFER_STRIDE */
    bool stateful;                            /* as of symbol_request */
};
bool env_create_tensor(struct shape_env *env, const struct tensor_request *request, sym_id *size,
                       sym_id *stride, sym_id *offset);

/* The hint of an expression, or SYM_NONE where a symbol has none. */
bool env_short_of_memory(
    const struct shape_env *env);              /* sticky after the first failed allocation */
size_t env_bytes(const struct shape_env *env); /* memory that it and its expressions hold */
sym_id env_hint(struct shape_env *env, sym_id e);
/* false: no such symbol. */
bool env_range(const struct shape_env *env, sym_id symbol, struct sym_range *ret);
bool env_is_unbacked(const struct shape_env *env, sym_id symbol);
bool env_has_unbacked(struct shape_env *env, sym_id e); /* free_unbacked_symbols */
/* Replacements applied (ShapeEnv.replace, what SymNode.expr shows); simplify goes further. */
sym_id env_replace(struct shape_env *env, sym_id e);
sym_id env_simplify(struct shape_env *env, sym_id e);

/* --- Asking --- */

/* evaluate_expr. hint: the value it has, or SYM_NONE; fallback: what to answer where it depends on
 * data, or SYM_NONE. A boolean, an integer or a float; SYM_NONE: raised. */
sym_id env_evaluate(struct shape_env *env, sym_id e, sym_id hint, bool size_oblivious,
                    sym_id fallback);
bool env_guard_bool(struct shape_env *env, sym_id e, bool *ret); /* false: raised */
bool env_guard_int(struct shape_env *env, sym_id e, int64_t *ret);
/* fallback where it depends on data (or always, with backed_size_oblivious). */
bool env_guard_or(struct shape_env *env, sym_id e, bool fallback, bool *ret);
bool env_statically_known(struct shape_env *env, sym_id e); /* true without any guard */
/* _maybe_evaluate_static: a number or boolean, or SYM_NONE, which is no failure. */
sym_id env_evaluate_static(struct shape_env *env, sym_id e);
/* In other ways: size_oblivious; unbacked_only (an expression that may still hold backed symbols);
 * compute_hint. Without axioms: axioms=(). */
enum env_static {
    ENV_STATIC_PLAIN,
    ENV_STATIC_OBLIVIOUS,
    ENV_STATIC_UNBACKED_ONLY,
    ENV_STATIC_HINT,
    ENV_STATIC_WAYS
};
sym_id env_evaluate_static_as(struct shape_env *env, sym_id e, enum env_static way, bool axioms);
/* With axioms and ranges of the caller's instead of the environment's, as Inductor asks about
 * indices. Nothing of it is kept. */
struct env_symbol_range {
    sym_id symbol;
    struct sym_range range;
};
struct env_premises {
    const sym_id *axioms; /* NULL: the environment's */
    uint32_t n_axioms;
    const struct env_symbol_range *ranges; /* NULL: the environment's */
    uint32_t n_ranges;
};
sym_id env_evaluate_static_with(struct shape_env *env, sym_id e, enum env_static way,
                                const struct env_premises *premises);
/* SymNode.expect_true, what torch._check calls: a guard where e has a hint and no unbacked symbol,
 * else a deferred assert. *ret is false where e is known not to hold. */
bool env_expect_true(struct shape_env *env, sym_id e, struct str message, bool *ret);
/* guard_or_defer_runtime_assert itself, which guards on the condition's canonical form. */
bool env_guard_or_defer(struct shape_env *env, sym_id e, struct str message, bool *ret);
/* constrain_symbol_range, _constrain_range_for_size: SYM_NONE is no bound. */
bool env_constrain_range(struct shape_env *env, sym_id e, sym_id min, sym_id max);
bool env_constrain_range_for_size(struct shape_env *env, sym_id e, sym_id min, sym_id max);
bool env_set_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason);
bool env_rename_unbacked(struct shape_env *env, sym_id from, sym_id to); /* _rename_unbacked_to */
bool env_eliminate_unbacked(struct shape_env *env, sym_id from, sym_id to);
/* suppress_guards(): nests. What is asked meanwhile is answered and not kept. */
void env_suppress_guards(struct shape_env *env);
void env_resume_guards(struct shape_env *env);
void env_freeze(struct shape_env *env);
void env_freeze_runtime_asserts(struct shape_env *env);
/* Level 2 and up: equalities guard and never replace (A4 of the notes); 1 from the start. */
void env_set_level(struct shape_env *env, unsigned level);
/* From the n-th equality on that is guarded on (1: all) the guard says the opposite, while the
 * answer stays: inject_EVALUATE_EXPR_flip_equality_TESTING_ONLY of torch.fx.experimental._config.
 * 0: none. */
void env_inject_flip_equality(struct shape_env *env, uint64_t n);

/* --- Where things came from --- */

#define ENV_NODE_NONE UINT32_MAX
struct env_origin {
    uint32_t graph, node; /* of the caller's choosing; ENV_NODE_NONE */
    uint32_t user_stack;  /* stack_id of the trace, 0 for none */
    const char *rule;     /* the operator's name, "" */
};
void env_set_origin(struct shape_env *env, struct env_origin origin);
/* Writes what texts quote of a place: the user's line, "x = y + 1  # user.py:3 in f" (nothing:
 * there is none), the framework's, "framework.py:7 in g", or the user's stack as format_list() of
 * traceback gives it. Without a locator such texts say "(unknown)". */
enum env_locate { ENV_LOCATE_USER, ENV_LOCATE_FRAMEWORK, ENV_LOCATE_STACK };
typedef void env_locator(void *user, struct env_origin origin, enum env_locate what,
                         struct buf *out);
void env_set_locator(struct shape_env *env, env_locator *locate, void *user);

struct env_guard {
    sym_id expr;
    bool size_oblivious;
    struct env_origin origin;
    uint32_t backtrace; /* of replay/shape/env/backtrace.h */
};
struct env_replacement {
    sym_id symbol, to;
    const char *reason; /* "trivial_lhs", "solve", "range_refined_to_singleton", "find" */
    struct env_origin origin;
    uint32_t backtrace;
};
struct env_assert {
    sym_id expr;
    sym_id newest; /* the unbacked symbol under which it is filed, SYM_NONE for none */
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
uint32_t env_n_replacements(const struct shape_env *env); /* as they are now, by symbol */
const struct env_replacement *env_replacement_at(const struct shape_env *env, uint32_t i);
uint32_t env_n_asserts(const struct shape_env *env);
const struct env_assert *env_assert_at(const struct shape_env *env, uint32_t i);
uint32_t env_n_specializations(const struct shape_env *env);
const struct env_specialization *env_specialization_at(const struct shape_env *env, uint32_t i);
uint32_t env_n_divisible(const struct shape_env *env); /* Mod(...) known to be 0 */
sym_id env_divisible_at(const struct shape_env *env, uint32_t i);
struct backtraces; /* replay/shape/env/backtrace.h: what `backtrace` names */
const struct backtraces *env_backtraces(const struct shape_env *env);
uint32_t env_n_symbols(const struct shape_env *env); /* in the order of their creation */
sym_id env_symbol_at(const struct shape_env *env, uint32_t i);
struct str env_source(const struct shape_env *env, sym_id symbol); /* the one that prints it */

/* What was done, for counters: differences tell what a call cost. */
struct env_counts {
    uint64_t evaluations, static_evaluations, guards, replacements, asserts, simplifications;
    uint64_t remembered; /* evaluations that were answered from memory */
    uint64_t ignored;    /* guards after freezing */
    uint64_t choices;    /* what inner_mods decided */
};
struct env_counts env_counts(const struct shape_env *env);

/* --- At the end --- */

/* The inputs that produce_guards walks: tensors and numbers with the symbols they had. */
struct env_input {
    struct str source;
    uint32_t ndim;
    const sym_id *size, *stride; /* NULL: a number, whose expression is `offset` */
    sym_id offset;
    const struct dim_constraint *constraints; /* ndim (1 of a number), or NULL */
};
/* Two sizes of inputs that must be equal (Dim used twice): EqualityConstraint.source_pairs. */
struct env_equality {
    struct str a, b; /* "L['x'].size()[0]" */
};
/* A Dim of torch.export: "dx", or one that derives from it, "2*dx + 1". */
struct env_dim {
    struct str name;
    struct str root;  /* "": none, it is one */
    int64_t mul, add; /* of a derived one: mul*root + add */
    int64_t min, max; /* of a root; INT64_MAX: no bound */
};
/* A size that was given as a derived Dim: EqualityConstraint.derived_equalities. */
struct env_derived {
    struct str source; /* "L['y'].size()[0]" */
    struct str root;   /* a size that is the root; or the root's name, a symbol's only source */
    const struct env_dim *dim;
};
enum guard_language { GUARDS_PYTHON, GUARDS_VERBOSE_PYTHON };
struct env_produce {
    const struct env_input *inputs;
    uint32_t n_inputs;
    const struct env_equality *equalities; /* NULL: none were given; nothing is checked then */
    uint32_t n_equalities;
    bool has_equalities;               /* given, if empty: sizes that turn out equal violate it */
    const struct env_derived *derived; /* counted among the equalities */
    uint32_t n_derived;
    const struct env_dim *dims; /* all, roots too */
    uint32_t n_dims;
    bool guard_static; /* ignore_static=False: numbers of tensors are guarded on, too */
    enum guard_language language;
};
/* A conjunct a call (`guard`: its number for env_guard_at, UINT32_MAX for one of inputs and
 * ranges). False: raised; a ConstraintViolationError's text lists what was violated. */
bool env_produce_guards(struct shape_env *env, const struct env_produce *what,
                        void (*fn)(void *user, struct str text, uint32_t guard), void *user);
/* As torch.export ends: what produce_guards raises, and the fixes that DimConstraints suggests for
 * the Dims ("Suggested fixes:"); nothing is written where the constraints hold. False: something
 * else was raised. */
bool env_check_dims(struct shape_env *env, const struct env_produce *what, struct buf *ret);

#endif

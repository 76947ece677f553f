/* The inside of an environment, for the files of replay/shape/env and its neighbours in
 * replay/shape; the manual is env.h.
 *
 * Results for an expression are cached by its id, with the version of the environment for which
 * they are valid, so that evaluating it again is one look-up. Versions change when PyTorch's do
 * (ShapeEnv._update_version_counter, _refine_ranges): PyTorch's caches may outlive the state that
 * they were computed from, and that decides which guards appear. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_ENV_INSIDE_H
#define SYMTAPE_REPLAY_SHAPE_ENV_ENV_INSIDE_H

#include "replay/shape/env/backtrace.h"
#include "replay/shape/env/env.h"
#include "replay/shape/env/env_lru.h"
#include "replay/shape/expr/sym_pool.h"
#include "trace/base/intern.h"

enum symbol_kind {
    SYMBOL_OTHER,
    SYMBOL_SIZE,          /* s77 */
    SYMBOL_FLOAT,         /* zf3 */
    SYMBOL_UNBACKED_INT,  /* u0 */
    SYMBOL_UNBACKED_FLOAT /* zuf0 */
};

/* Where a bound was derived (SLoc). `reason` replaces the framework's location where PyTorch does
 * so. */
struct source_location {
    struct env_origin origin;
    const char *reason;
};

struct env_symbol {
    sym_id id;
    enum symbol_kind kind;
    bool size_like, input;  /* input: it is in unbacked_inputs, made by mark_unbacked */
    bool nested;            /* its hint is a nested int, which no range describes */
    sym_id hint;            /* backed_var_to_val; SYM_NONE for none */
    struct sym_range range; /* SYM_RANGE_FAILED for none */
    struct source_location lower, upper;
    uint32_t changed_at;  /* env->time when range, hint or size_like changed last */
    sym_id to;            /* its replacement; SYM_NONE */
    uint32_t replacement; /* index of env->replacements, if it has one */
    sym_id found;         /* the result of _find at version found_at */
    uint32_t found_at;
    uint32_t first_source; /* index of env->sources, a chain; the first source prints it */
};

struct symbol_source {
    uint32_t text; /* index of env->source_names */
    uint32_t next; /* UINT32_MAX at the end */
    bool ephemeral;
};

/* The kinds of subexpressions that an expression contains. */
enum {
    HOLDS_LOOKED_AT = 1,
    HOLDS_MAX = 2,
    HOLDS_TRUNC = 4,
    HOLDS_FLOORDIV = 8,   /* FloorDiv or CleanDiv */
    HOLDS_MOD = 16,       /* Mod, not PythonMod */
    HOLDS_CONDITION = 32, /* a condition below the top */
    HOLDS_MIN = 64
};

enum { AXIOM_NONE, AXIOM_TRUE, AXIOM_FALSE };

struct remembered {
    uint32_t at; /* 0 when it was never computed */
    sym_id result;
};

/* How ShapeEnv.simplify() is called. Its cache has an entry for each, as that of Python's lru_cache
 * has for simplify(e) and simplify(e, False): simplifying e once more asks about its Max again. */
enum env_simplify {
    ENV_SIMPLIFY_BARE,   /* simplify(e) */
    ENV_SIMPLIFY_STATIC, /* simplify(e, size_oblivious) of _maybe_evaluate_static() */
    ENV_SIMPLIFY_OBLIVIOUS,
    ENV_SIMPLIFY_WAYS
};

/* The cached results of evaluating a condition. */
struct expr_results {
    struct remembered worked[3];
    struct remembered simplified[ENV_SIMPLIFY_WAYS + 1]; /* the last: while peeking */
    struct remembered evaluated[ENV_STATIC_WAYS + 1];    /* the last: while peeking */
};

/* The cached properties of an expression, by its id. Few expressions are evaluated. */
struct expr_info {
    uint32_t first_symbol, n_symbols; /* in env->symbol_lists, indexes of env->symbols */
    uint8_t holds, axiom;
    bool divisible;
    bool asked;              /* it is a question among the events */
    uint32_t symbol_plus_1;  /* for a symbol: its index in env->symbols plus 1 */
    sym_id duck_plus_1;      /* for a number: its entry of val_to_var plus 1 */
    uint32_t results_plus_1; /* its entry of env->results plus 1, once it was evaluated */
    struct remembered replaced;
};

enum { ENV_MAX_DEPTH = 500 };

/* The result of a method of two integers (node_int()), which replacements change. */
struct node_result {
    uint32_t version; /* 0 when it was never computed */
    uint32_t method;  /* enum node_method */
    sym_id a, b, result;
};
enum { ENV_NODE_RESULT_BITS = 9 };

struct shape_env {
    struct sym_pool *pool;
    struct env_settings settings;

    struct expr_info *known;
    size_t n_known;
    vec_of(struct expr_results)
    results;
    struct node_result node_results[1 << ENV_NODE_RESULT_BITS]; /* by a hash; the latest ones */
    vec_of(struct env_symbol)
    symbols;
    vec_of(uint32_t)
    symbol_lists;
    vec_of(struct symbol_source)
    sources;
    struct intern source_names;
    vec_of(sym_id)
    source_symbols; /* source_to_var, by the source's number; SYM_NONE for none */
    vec_of(sym_id)
    source_answers; /* source_to_symbol_cache, by the source's number */
    vec_of(uint64_t)
    unique_ids;          /* a bit set of the ids in use */
    uint32_t full_words; /* how many words of unique_ids from the third on are full */
    vec_of(sym_id)
    shape_symbols; /* the symbols of shape ids: evaluate_static_shape_0 ... */
    uint32_t next_unbacked, next_unbacked_float;
    struct intern shape_ids; /* the shape ids of mark_unbacked */
    vec_of(sym_id)
    shape_id_symbols;

    vec_of(struct env_guard)
    guards;
    vec_of(struct env_replacement)
    replacements;
    vec_of(struct env_assert)
    asserts;
    vec_of(sym_id)
    divisible;
    vec_of(sym_id)
    chosen; /* by bit of inner_mods: the outermost Mod for which it was read */
    vec_of(sym_id)
    axioms;
    vec_of(struct env_specialization)
    specializations;
    vec_of(struct env_event)
    events;
    bool range_is_given; /* the range that is being set is stated, not derived */
    uint32_t learning_guard, learning_assert; /* from which facts are derived, or UINT32_MAX */
    bool axioms_stale;                        /* they need _resimplify_floor_div_axioms */
    struct env_lru evaluate_memo, assert_memo, learn_memo;
    struct intern messages;

    /* Versions. `key` is what PyTorch compares (ShapeEnv._get_key). */
    uint32_t version, static_version, time, divisible_at;
    size_t key[3];

    uint64_t flip_from, equalities; /* of env_inject_flip_equality() */
    uint32_t suppressed;            /* nesting depth of suppress_guards() */
    uint32_t n_suppressed;
    bool frozen, asserts_frozen;
    bool peeking; /* in env_peek_static() */
    bool short_of_memory;
    unsigned level, depth;
    struct env_origin origin;
    env_locator *locate;
    void *locate_user;
    struct backtraces backtraces;
    struct env_counts counts;

    enum env_raised_kind raising;
    const char *raised_type;
    struct buf raised_text;
    sym_id raised_condition; /* the condition of the last data-dependent error */
    char type_room[64];
    struct arena arena;
};

/* --- Failing --- */

/* Stores the exception, unless there is one already. Always returns false. */
bool env_raise(struct shape_env *env, enum env_raised_kind kind, const char *type,
               const char *format, ...) __attribute__((format(printf, 4, 5)));
bool env_no_memory(struct shape_env *env);
/* Returns whether neither the environment nor its pool has failed; takes over the pool's failure.
 */
bool env_ok(struct shape_env *env);
bool env_data_dependent(struct shape_env *env, sym_id e, sym_id unhinted);

/* Appends an event, if events are kept; a question only once. False: out of memory. */
bool env_add_event(struct shape_env *env, enum env_event_kind kind, sym_id expr, sym_id value);

/* --- Tables --- */

/* Returns the properties of e, or NULL when out of memory. Making an expression invalidates it. */
struct expr_info *env_known_slow(struct shape_env *env, sym_id e);
static inline struct expr_info *env_known(struct shape_env *env, sym_id e)
{
    return e < env->n_known && (env->known[e].holds & HOLDS_LOOKED_AT) ? &env->known[e]
                                                                       : env_known_slow(env, e);
}
/* Returns the results of evaluating e, or NULL before the first one. Evaluating another expression
 * invalidates it. */
static inline const struct expr_results *env_results(const struct shape_env *env, sym_id e)
{
    return e < env->n_known && env->known[e].results_plus_1
               ? &env->results.v[env->known[e].results_plus_1 - 1]
               : NULL;
}
/* Returns them to put one in, or NULL when out of memory. */
struct expr_results *env_results_of(struct shape_env *env, sym_id e);
static inline struct env_symbol *env_symbol(struct shape_env *env, sym_id e)
{
    return e < env->n_known && env->known[e].symbol_plus_1
               ? &env->symbols.v[env->known[e].symbol_plus_1 - 1]
               : NULL;
}
/* Returns the symbol's index, adding the symbol if it is new. UINT32_MAX: out of memory. */
uint32_t env_symbol_index(struct shape_env *env, sym_id e);
/* Returns the i-th symbol of an expression, i < k->n_symbols. */
static inline struct env_symbol *env_symbol_of(struct shape_env *env, const struct expr_info *k,
                                               uint32_t i)
{
    return &env->symbols.v[env->symbol_lists.v[k->first_symbol + i]];
}
/* symbol_is_type: returns the kind that the beginning of the name says. */
enum symbol_kind env_symbol_kind(struct str name);
bool env_holds_symbol(struct shape_env *env, sym_id e, sym_id symbol);
/* Lists every distinct subexpression of that kind (CLEANDIV with FLOORDIV), innermost last. */
bool env_parts(struct shape_env *env, sym_id e, enum sym_kind kind, struct list *out);
static inline bool env_is_unbacked_kind(enum symbol_kind kind)
{
    return kind == SYMBOL_UNBACKED_INT || kind == SYMBOL_UNBACKED_FLOAT;
}
/* Returns whether backed_var_to_val has every symbol of e. */
bool env_is_hinted(struct shape_env *env, sym_id e);
static inline void env_touch(struct shape_env *env, struct env_symbol *s)
{
    s->changed_at = ++env->time;
}
void env_update_version(struct shape_env *env);
static inline struct source_location env_place(const struct shape_env *env)
{
    return (struct source_location){ .origin = env->origin };
}

/* safe_expand: sympy cannot expand And, Or and Not, so PyTorch leaves them as they are. */
static inline sym_id env_expand(struct sym_pool *pool, sym_id e)
{
    enum sym_kind kind = e == SYM_NONE ? SYM_AND : kind_at(pool, e);
    return kind == SYM_AND || kind == SYM_OR || kind == SYM_NOT ? e : sym_expand(pool, e);
}

/* --- The parts of ShapeEnv --- */

/* Adds a new symbol with a range, and a hint or SYM_NONE; it does not check that it is new. */
struct env_symbol *env_add_symbol(struct shape_env *env, sym_id symbol, sym_id hint,
                                  struct sym_range range);
bool env_add_source(struct shape_env *env, sym_id symbol, uint32_t source, bool ephemeral);
bool env_update_range(struct shape_env *env, sym_id symbol, struct sym_range range,
                      const struct source_location *lower, const struct source_location *upper,
                      bool is_constraint);
sym_ranger env_ranger, env_oblivious_ranger;
struct sym_range env_bound(struct shape_env *env, sym_id e);
sym_id env_find(struct shape_env *env, sym_id symbol);
bool env_put_replacement(struct shape_env *env, sym_id a, sym_id to, const char *reason);
sym_id env_simplify_way(struct shape_env *env, sym_id e, enum env_simplify way);
bool env_add_divisible(struct shape_env *env, sym_id mod);
bool env_add_axioms(struct shape_env *env, sym_id condition);
/* Brings the axioms up to date; needed before env_put_axioms(), which substitutes them in e. */
bool env_refresh_axioms(struct shape_env *env);
sym_id env_put_axioms(struct shape_env *env, sym_id e, unsigned depth);
/* Returns SYM_NONE when the value is not known, or on failure (env_ok() tells them apart). */
sym_id env_static(struct shape_env *env, sym_id e, enum env_static way);
sym_id env_static_without_axioms(struct shape_env *env, sym_id e, bool size_oblivious);
/* _maybe_evaluate_static_worker. ranges: NULL for those of the environment. */
sym_id env_work(struct shape_env *env, sym_id e, enum env_static way,
                const struct env_assumptions *ranges);
/* Returns whether e has two values within the ranges of its symbols, so that no evaluation without
 * guards decides it. False says nothing. */
bool env_is_undecided(struct shape_env *env, sym_id e, enum env_static way);
bool env_known_nonnegative_sum(struct shape_env *env, sym_id e);
bool env_learn(struct shape_env *env, sym_id condition);
sym_id env_put_hints(struct shape_env *env, sym_id e);
/* size_hint: raises when there is none. */
sym_id env_size_hint(struct shape_env *env, sym_id e);
sym_id env_evaluate_inside(struct shape_env *env, sym_id e, sym_id hint, bool size_oblivious,
                           sym_id fallback);
/* Prints a location as "user (framework)". */
void env_print_place(const struct shape_env *env, const struct source_location *place,
                     struct buf *out);

#endif

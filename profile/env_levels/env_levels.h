/* The levels of a compile: each says what a stage did with the shape environment.
 *
 *     struct env_levels *levels = env_levels_make(trace, &SELECTOR_ALL, &err);
 *     for (uint32_t i = 0; i < levels->n_levels; i++) print(&levels->levels[i]);
 *     env_levels_free(levels);
 *
 * PyTorch makes one ShapeEnv for an attempt, and each stage (trace/events/env_stages.h) adds
 * conditions to it: guards, runtime asserts, and conditions that were evaluated while guards were
 * suppressed. A guard or an assert that is an equality may replace a symbol in all expressions.
 * Dynamo freezes the environment when it has printed the guards: conditions that are added later,
 * in a backward that is compiled at its first call, are not checked, but still replace symbols
 * (ShapeEnv.freeze and _check_frozen of torch/fx/experimental/symbolic_shapes.py). Runtime asserts
 * are frozen where Inductor begins to lower a graph (torch/_inductor/compile_fx.py,
 * freeze_runtime_asserts).
 *
 * Stages have levels: Dynamo's is 1. In the design of levels that PyTorch does not have, only the
 * first level replaces symbols, so that its artifacts stay valid whatever later ones add.
 *
 * The stage of a record is that of its stack, and without one that of the graphs which its attempt
 * had printed before. Replacements by numbers are recorded; those by expressions are derived by a
 * replay (derived_replacements.h). What belongs to no compile (torch.export) is one attempt for
 * each recording: TRACE_NONE. */
#ifndef SYMTAPE_PROFILE_ENV_LEVELS_ENV_LEVELS_H
#define SYMTAPE_PROFILE_ENV_LEVELS_ENV_LEVELS_H

#include "trace/events/env_stages.h"
#include "trace/events/guards.h"
#include "trace/selector.h"

struct env_replaced {
    struct str symbol, value, reason;
    bool recorded; /* false: derived by the replay */
};

enum env_effect {
    ENV_EFFECT_REPLACED,   /* it replaced symbols */
    ENV_EFFECT_GUARDED,    /* it is a guard that replaced nothing */
    ENV_EFFECT_ASSERTED,   /* a runtime assert that replaced nothing */
    ENV_EFFECT_SUPPRESSED, /* it was evaluated while guards were suppressed */
    ENV_EFFECT_IGNORED     /* it was added after the freeze and replaced nothing */
};
const char *env_effect_name(enum env_effect effect); /* "replaced", "guarded" ... */

/* A condition that a stage added, or replacements that follow from none. */
struct env_condition {
    uint32_t record; /* of the guard; else of the specialization or of the symbol */
    uint32_t attempt;
    stack_id user_stack, stack;
    struct frame line; /* the user's line where there is no user stack */
    enum env_stage stage;
    bool frozen; /* it was added after the freeze */
    bool is_guard;
    enum guard_kind kind; /* of a guard */
    enum env_effect effect;
    struct str expr;                     /* "" where replacements follow from no condition */
    const struct env_replaced *replaced; /* n_replaced of them */
    uint32_t n_replaced;
};

/* A symbol that the environment had at the beginning of a level, or got there, and that no earlier
 * level had replaced. */
struct env_open_symbol {
    struct str name;
    uint8_t from, replaced; /* orders of levels: see struct env_level */
};

/* A stage, before or after the freeze, and its effects on the environment. */
struct env_level {
    uint32_t recording, attempt;
    uint32_t record; /* the first one of it */
    enum env_stage stage;
    bool frozen;
    bool partial; /* the replay ended before the attempt: replacements may be missing */
    uint8_t order;
    /* The symbols of the attempt; env_level_may_replace() says which are open here. */
    const struct env_open_symbol *symbols;
    uint32_t n_symbols, n_open;
    uint64_t replaced;   /* symbols */
    uint64_t guarded;    /* guards that replaced nothing */
    uint64_t equalities; /* of these, those that are equalities */
    uint64_t asserted, suppressed, ignored;
};
static inline bool env_level_may_replace(const struct env_level *level,
                                         const struct env_open_symbol *symbol)
{
    return symbol->from <= level->order && symbol->replaced >= level->order;
}

struct env_levels {
    const struct env_level *levels; /* attempt by attempt, in the order of their stages */
    uint32_t n_levels;
    const struct env_condition *conditions; /* in the order of their records */
    uint32_t n_conditions;
};

/* selector: the attempts that are replayed; what is recorded is listed of all. Returns NULL on
 * failure. */
struct env_levels *env_levels_make(struct trace *trace, const struct selector *selector,
                                   struct err *err);
void env_levels_free(struct env_levels *levels); /* accepts NULL */

#endif

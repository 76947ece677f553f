/* The replacements of symbols that a replay of the attempts derives, and what each follows from.
 *
 * PyTorch records that a symbol became a number (symbolic_shape_specialization), but not that it
 * became an expression: ShapeEnv._set_replacement of torch/fx/experimental/symbolic_shapes.py. */
#ifndef SYMTAPE_PROFILE_ENV_LEVELS_DERIVED_REPLACEMENTS_H
#define SYMTAPE_PROFILE_ENV_LEVELS_DERIVED_REPLACEMENTS_H

#include "trace/events/env_stages.h"
#include "trace/events/guards.h"
#include "trace/selector.h"

struct derived_replacement {
    uint32_t attempt;
    struct str symbol, value, reason;
    bool number;               /* value is one */
    const struct guard *guard; /* the recorded guard or assert that it follows from, or NULL */
    /* Where there is none: */
    struct str expr;      /* the guard or assert of the replay; "" if it follows from neither */
    enum env_stage stage; /* that whose graph asked */
    struct frame line;    /* of the node that asked, as its graph has it */
    stack_id user_stack;  /* 0: not known */
};

struct derived_replacements {
    const struct derived_replacement *v; /* the first one of each symbol, attempt by attempt */
    size_t n;
    const bool *partial; /* by attempt: the replay ended before the attempt did */
};

/* Everything belongs to the arena. Returns false on failure. */
bool derived_replacements_make(struct trace *trace, const struct selector *selector,
                               struct arena *arena, struct derived_replacements *ret,
                               struct err *err);

#endif

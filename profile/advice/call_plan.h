/* A change of a program, as a replay of its calls can make it: marks on sizes, settings, values
 * that stay the same, code objects that a graph break made. Plans are merged, to replay several
 * changes together. */
#ifndef SYMTAPE_PROFILE_ADVICE_CALL_PLAN_H
#define SYMTAPE_PROFILE_ADVICE_CALL_PLAN_H

#include "profile/diagnosis/diagnosis.h"

enum call_hold_kind {
    HOLD_VALUE,     /* the source has the value of the first call */
    HOLD_SECOND,    /* as the symbol of an int: the first value, then the second one */
    HOLD_MODE,      /* the mode of the process is that of the first call */
    HOLD_SIZE,      /* one size of a tensor obeys a rule */
    HOLD_CONDITION, /* a condition on sizes is true: padded_calls.h */
};

/* A size that violates its rule becomes the next one that obeys it: calls are padded. */
struct size_rule {
    uint32_t dim;
    bool first; /* it is that of the first call; `least` says nothing */
    int64_t least;
};

/* A value that stays the same over the calls of one frame. */
struct call_hold {
    enum call_hold_kind kind;
    struct str source;     /* "L['x']", and all that is a part of it; "" for modes, conditions */
    int64_t frame;         /* the first number of its compile ids; -1: of all frames */
    struct size_rule rule; /* of HOLD_SIZE */
    struct str condition;  /* of HOLD_CONDITION, as reasons of recompiles have it */
};

struct call_plan {
    struct buf marks;     /* "L['x']:0,L['n']": dynamic from the first call on */
    bool unbacked;        /* the marks are those of mark_unbacked() */
    bool automatic;       /* automatic_dynamic_shapes=True */
    bool no_duck;         /* use_duck_shape=False */
    uint64_t limit;       /* recompile_limit; 0: as recorded */
    uint64_t accumulated; /* accumulated_recompile_limit; 0: as recorded */
    vec_of(struct call_hold)
    holds;
    vec_of(struct str)
    dropped; /* compile ids, whose frames a graph break caused and that go with it */
    vec_of(uint32_t)
    restarts; /* attempts that are not made, in the trace */
    vec_of(const struct graph_break *)
    breaks; /* that are not met */
    /* The time of these attempts, less that of the dropped frames which the whole function takes
     * instead. */
    int64_t spared_ns;
    uint32_t failures; /* compiles that do not fail */
    bool by_policy;    /* entries are put together although nothing asks for it */
};

/* Returns whether nothing is changed. */
bool call_plan_is_empty(const struct call_plan *plan);
/* Returns whether a replay needs entries that the tape does not have. */
bool call_plan_makes_entries(const struct call_plan *plan);
/* Returns whether no replay has both: marks that are unbacked, and marks that are not. */
bool call_plan_excludes(const struct call_plan *plan, const struct call_plan *other);
/* Adds what another plan changes. Texts are borrowed, but for marks. Returns false when memory ran
 * out. */
bool call_plan_merge(struct call_plan *plan, const struct call_plan *other);
void call_plan_release(struct call_plan *plan);

#endif

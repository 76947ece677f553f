/* The cost model: what the time of compiles consists of, by kinds of work (cost_kinds.def).
 *
 * Of a deep recording the time of dispatches is measured, and what is left of each part of the
 * compiler is its phases' time less its dispatches. Other recordings have the time of the phases
 * alone: it is that of a part which the replay has no dispatches of. Dispatches and what is left of
 * Dynamo and AOTAutograd are estimated there: the number of units, which the replay counts, times
 * what a unit costs; that is a fit over the deep recordings among the profile's tapes, or, where
 * there are none, the one that symtape ships (cost_units.def). The rows and unexplained_ns add up
 * to the time of the compiles, exactly.
 *
 * With the option `ahead` nothing was compiled: all parts that trace and guard are estimated from
 * Dynamo's graphs, the guards and dispatches that the replay computes, and AOTAutograd's calls, of
 * which there are as many as operators reach the proxy mode. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_MODEL_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_MODEL_H

#include <stdbool.h>

#include "profile/model/cost_model/cost_fit.h"
#include "profile/model/cost_model/cost_inside.h"
#include "profile/model/cost_model/cost_lines.h"
#include "profile/model/cost_model/cost_operators.h"

struct deep_dispatch;
struct profile_build;
struct err;

enum cost_kind {
#define COST_DISPATCH(id, name, path)           COST_##id,
#define COST_REST(id, name, part, units, terms) COST_##id,
#define COST_RECORDER(id, name)                 COST_##id,
#define COST_WITHIN(id, name, cost)             COST_##id,
#include "profile/model/cost_model/cost_kinds.def"
#undef COST_DISPATCH
#undef COST_REST
#undef COST_RECORDER
#undef COST_WITHIN
    COST_KINDS
};

struct cost_row {
    const char *name;
    bool measured; /* in all recordings */
    bool fitted;   /* the unit is from these tapes; false: it is shipped */
    uint64_t count;
    int64_t ns;
    int64_t estimated_ns; /* what units make of it, in recordings that are not deep */
    double share;         /* of wall_ns */
    struct cost_unit unit;
};

/* The time of a part of the compiler inside compiles, from its phases, and what the rows make of
 * it. */
struct cost_part {
    const char *name; /* of enum phase_part; "no phase": in no phase that PyTorch logged */
    int64_t ns, explained_ns, unexplained_ns;
    int64_t estimated_ns; /* what units make of it, in recordings that are not deep */
};

/* The estimated time by what it grows with. */
struct cost_shares {
    double dispatch_ns;         /* of the terms: with the number of dispatches */
    double term_ns[COST_TERMS]; /* without that */
};

struct cost_model {
    bool fitted;     /* there are deep recordings among the tapes */
    int release;     /* of the units that are shipped: 213 is PyTorch 2.13; 0: there is none */
    int64_t wall_ns; /* of the compiles */
    int64_t unexplained_ns; /* negative: the rows are more than that */
    double unexplained_share;
    const struct cost_row *rows; /* those that have a time, a count or a unit; by time */
    uint32_t n_rows;
    const struct cost_part *parts; /* the largest difference first */
    uint32_t n_parts;
    const struct cost_line *lines; /* if no recording is deep; the largest first */
    uint32_t n_lines;
    const struct cost_inside *inside; /* of deep recordings, by time */
    uint32_t n_inside;
    const struct cost_instruction *instructions; /* the same */
    uint32_t n_instructions;
    const struct cost_operator *operators; /* the same */
    uint32_t n_operators;
    struct cost_shares estimated;
};

/* What a unit of a kind costs in a release of PyTorch, or in the nearest one that was measured,
 * which is set in *measured. */
struct cost_unit cost_unit_shipped(int release, enum cost_kind kind, int *measured);

/* How far the sum of the rows is from the time of the compiles in recordings that are not deep,
 * with the units of a release: the median share over recordings that the fit did not see. None: not
 * known. */
struct cost_error {
    double share;
    uint32_t recordings;
};
struct cost_error cost_error_shipped(int release);

/* Returns whole nanoseconds. Times of a damaged file are cut so that sums of them are exact; what
 * is no number is 0. */
int64_t cost_whole_ns(double ns);

enum cost_kind cost_kind_of(const struct deep_dispatch *dispatch);
const char *cost_kind_name(enum cost_kind kind);

/* A step of profile_build(). */
bool build_cost_model(struct profile_build *b, struct err *err);

#endif

/* Divergences that are being looked for. Private to the files divergence*.c. */
#ifndef SYMTAPE_PROFILE_RANKS_DIVERGENCE_BUILD_H
#define SYMTAPE_PROFILE_RANKS_DIVERGENCE_BUILD_H

#include "profile/ranks/divergence.h"
#include "profile/ranks/steps.h"
#include "trace/base/buf.h"

/* What a rank did in one respect. Equal values are equal texts of `values`. */
struct ballot {
    uint32_t rank, compile; /* compile: JOB_NONE if it has none in this step */
    uint32_t value;
    int64_t weight; /* of halves that are equal, the one with the greater weight differs */
};

struct divergence_build {
    struct divergences *ret;
    const struct job *job;
    uint32_t *roles; /* by rank: ranks of one number send and receive alike */
    uint32_t *users; /* by text: how many ranks have collectives of a group of that name */
    uint32_t *marks,
        mark; /* by text that is a group's name: marked if it has the value of `mark` */
    struct intern values;
    vec_of(struct ballot)
    ballots;
    bool *common;  /* by step: all ranks have it, and collectives in it */
    bool *sends;   /* by rank: it has sends or receives in compiles */
    int64_t *made; /* by text that is a cache's key: when a rank of this job had compiled it */
    bool *out;     /* by rank: it differed in this step already, and is compared no more */
    struct buf text;
    struct err *err;
};

/* Adds the ballot of a rank whose value is b->text. */
bool ballot_put(struct divergence_build *b, uint32_t rank, uint32_t compile, int64_t weight);

/* Counts the ballots of each role and empties them. Calls `found` for each role whose ranks differ,
 * with the ballots that differ, those of the majority, and the data of the caller. */
struct ballots {
    const struct ballot *odd, *most;
    uint32_t n_odd, n_most;
};
typedef bool (*ballots_fn)(struct divergence_build *b, uint32_t step,
                           const struct ballots *ballots);
bool ballots_count(struct divergence_build *b, uint32_t step, ballots_fn found);
/* Puts a ballot for each compile of a step whose contents can be compared, and counts them. */
typedef bool (*ballot_fn)(struct divergence_build *b, uint32_t compile);
bool ballots_of_step(struct divergence_build *b, uint32_t step, ballot_fn put, ballots_fn found);

/* Adds a divergence, with the ranks that differ and the compiles of the first ones. Returns NULL
 * with b->err set when memory ran out. The ranks are `out` from then on. */
struct divergence *divergence_put(struct divergence_build *b, enum divergence_kind kind,
                                  uint32_t step, const struct ballots *ballots);

/* Finds the guards that explain why two compiles differ: on the same thing with other values, the
 * nearest one to the divergence's place, and moves the place there. `peer` is another compile of
 * the majority, or JOB_NONE: what it has in common with `other` explains more. */
void divergence_explain(const struct divergence_build *b, struct divergence *d, uint32_t peer);

/* Each looks for some kinds in a step, or in the whole job. */
bool divergences_of_compiles(struct divergence_build *b, uint32_t step);
bool divergences_of_collectives(struct divergence_build *b, uint32_t step);
bool divergences_of_inputs(struct divergence_build *b, uint32_t step);
bool divergences_of_order(struct divergence_build *b);
bool divergences_of_peers(struct divergence_build *b);
bool divergences_of_caches(struct divergence_build *b, uint32_t step);
bool divergences_of_times(struct divergence_build *b);
bool find_stragglers(struct divergence_build *b);
/* Makes b->made. */
bool find_made(struct divergence_build *b);
bool divergence_waits(struct divergence_build *b);

static inline uint32_t fact_number(const struct job *job, const struct fact *fact)
{
    return fact ? (uint32_t)(fact - job->facts.v) : JOB_NONE;
}

/* Returns whether the contents of a compile can be compared: it ended, did not fail, and its rank
 * has not differed in this step. */
bool compile_is_compared(const struct divergence_build *b, uint32_t compile);

#endif

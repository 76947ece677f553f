/* What a rank of a job did otherwise than the others.
 *
 *     steps_make(job, &err) && divergences_find(&found, job, &err);
 *     if (found.list.n) found.list.v[0] is the first one, the verdict
 *     divergences_release(&found);
 *
 * Ranks are compared step by step (profile/ranks/steps.h), by majority. Where two halves are equal,
 * as with two ranks, the one that differs is the one that did something of its own: it recompiled,
 * broke its graph, specialized, left out a collective, missed the cache; if neither did, the one
 * that rank 0 is not of. Only what ranks must have in common is compared:
 *
 *   collectives   of one process group: those of groups that only one of two ranks has, as in the
 *                 other rows of a mesh, are not; nor sizes that may be uneven (all_to_all_single)
 *   send, receive between the two ranks that name each other; ranks that send and receive otherwise
 *                 are stages of a pipeline, whose graphs differ by design
 *   inputs        sizes that are static on both ranks, if no parameter's size differs
 *   caches        a miss where others hit what no rank of this job had compiled before
 *   times         of whole compiles without waits for other ranks; see SLOW_SHARE, SLOW_NS
 *
 * Graphs that differ and do nothing of this are counted in n_graphs, which is no divergence. */
#ifndef SYMTAPE_PROFILE_RANKS_DIVERGENCE_H
#define SYMTAPE_PROFILE_RANKS_DIVERGENCE_H

#include "profile/ranks/job.h"

enum divergence_kind {
#define DIVERGENCE(id, name, class, title) DIVERGENCE_##id,
#include "profile/ranks/divergence_kinds.def"
#undef DIVERGENCE
    DIVERGENCE_KINDS
};
const char *divergence_name(enum divergence_kind kind);  /* "hang_in_compile" */
const char *divergence_title(enum divergence_kind kind); /* "does not come out of a compile" */

/* A rank is slow if its compiles took this share of the others' median, and this time, more. */
enum { SLOW_SHARE = 40 /* percent */ };
#define SLOW_NS INT64_C(1000000000)

struct divergence {
    enum divergence_kind kind;
    uint32_t step;
    uint32_t first_rank, n_ranks; /* in divergences.ranks: those that differ */
    uint32_t n_others;            /* that agree with each other */
    uint32_t compile, other;      /* of the first that differs, and of the first other; JOB_NONE */
    uint32_t own, others;         /* facts in which they differ; JOB_NONE */
    uint32_t place;               /* the user line; JOB_NONE */
    uint32_t cause, cause_other;  /* guards on one thing whose values differ: facts; JOB_NONE */
    int64_t ns, others_ns;        /* of slow: what it took, the others' median; else 0 */
};

/* Where a rank is when a collective does not come to its end. */
enum wait_state {
    WAIT_COLLECTIVE, /* it waits in this collective */
    WAIT_COMPILER,   /* it waits in a compiler collective of this compile */
    WAIT_COMPILE,    /* it is in this compile, which does not end */
    WAIT_ELSEWHERE,  /* it has not come: what it does next is not this collective */
    WAIT_FAILED,     /* it failed in this compile */
};

struct rank_wait {
    uint32_t rank;
    enum wait_state state;
    uint32_t compile, fact; /* JOB_NONE */
};

/* Time of a phase that one rank spent and the others did not. */
struct straggler {
    uint32_t phase; /* text */
    uint32_t rank;  /* the slowest */
    int64_t ns, median_ns;
};

struct divergences {
    vec_of(struct divergence)
    list; /* the verdict first */
    vec_of(uint32_t)
    ranks;
    vec_of(struct rank_wait)
    waits; /* by rank; empty where nothing waits */
    vec_of(struct straggler)
    stragglers;        /* by time lost */
    uint32_t n_graphs; /* steps in which graphs differ */
    uint32_t n_stages; /* groups of ranks that send and receive alike; 1 without a pipeline */
};

/* Returns false with err set when memory ran out. */
bool divergences_find(struct divergences *ret, const struct job *job, struct err *err);
void divergences_release(struct divergences *found);

#endif

/* Finds the first of n events after which a condition holds.
 *
 *     struct bisect_options options = { .n = n_events, .probe = holds_after, .user = run };
 *     struct bisect_result result;
 *     if (bisect_run(&options, &result, &err)) printf("%u is the first bad one\n", result.bad);
 *     bisect_result_release(&result);
 *
 * In state i the first i events have happened. A probe decides whether a state is good, bad, or
 * cannot be tested (skip). As any bisection, the search assumes that the states are monotone: good
 * up to one event and bad after it. It checks this: the last good and the first bad state are
 * probed again without a cache, and every answer that contradicts is reported, including those of
 * probes that are made afterwards to look for contradictions.
 *
 * `jobs` probes run in parallel and divide the remaining range into jobs+1 parts. If the states are
 * monotone, the answer does not depend on `jobs`. */
#ifndef SYMTAPE_MINIFY_BISECT_BISECT_H
#define SYMTAPE_MINIFY_BISECT_BISECT_H

#include "trace/base/err.h"
#include "trace/base/vec.h"

#include <stdatomic.h>
#include <stdint.h>

enum bisect_answer { BISECT_GOOD, BISECT_BAD, BISECT_SKIP, BISECT_BROKEN /* err is set */ };

/* Probes a state. With `fresh` the answer must not come from a cache. Several threads call it if
 * jobs > 1. */
typedef enum bisect_answer bisect_probe(void *user, uint32_t state, bool fresh, struct err *err);

struct bisect_options {
    uint32_t n;     /* events: states are 0 .. n */
    uint32_t jobs;  /* 0: 1 */
    bool from_end;  /* begin near the end: steps of 1, 2, 4, ... back */
    uint32_t looks; /* states probed afterwards at random to find a contradiction; UINT32_MAX: every
                       state, for probes that cache their answers */
    uint64_t seed;
    bisect_probe *probe;
    void *user;
    const atomic_bool *stop; /* NULL, or becomes true to end early */
};

enum bisect_end {
    BISECT_FOUND,    /* `bad` is the first bad state, good = bad - 1 */
    BISECT_NEVER,    /* good after all events */
    BISECT_ALWAYS,   /* bad before any event */
    BISECT_BETWEEN,  /* the first bad event is one of good+1 .. bad; the probe could not decide
                      * which */
    BISECT_CANNOT,   /* the probe could not decide even at the ends */
    BISECT_UNSTEADY, /* the probe gave another answer when a state was checked again */
    BISECT_STOPPED   /* ended early: the first bad event is between good and bad */
};

struct bisect_seen {
    uint32_t state;
    enum bisect_answer answer;
};

struct bisect_result {
    enum bisect_end end;
    uint32_t good, bad;
    bool certified;  /* the last good and the first bad state were probed again */
    bool monotone;   /* no answer in `seen` contradicts another */
    uint32_t probes; /* probes, including fresh ones, without those of `looks` */
    uint32_t rounds; /* rounds of at most `jobs` probes, counted likewise */
    uint32_t looked; /* probes of `looks` */
    vec_of(struct bisect_seen)
    seen;           /* the answers, sorted by state, each state once */
    uint32_t flips; /* changes of the answer in `seen`; 1 if the answers are monotone */
};

/* Returns whether the probe gave this answer for this state. */
bool bisect_was(const struct bisect_result *result, uint32_t state, enum bisect_answer answer);

/* Runs a bisection. Returns false with err set (a broken probe, no memory). The caller releases the
 * result in any case. */
bool bisect_run(const struct bisect_options *options, struct bisect_result *result,
                struct err *err);
void bisect_result_release(struct bisect_result *result);

#endif

/* Finding the first of n events after which something holds.
 *
 *     struct bisect_options options = { .n = n_events, .probe = holds_after, .user = run };
 *     struct bisect_result result;
 *     if (bisect_run(&options, &result, &err)) printf("%u is the first bad one\n", result.bad);
 *     bisect_result_release(&result);
 *
 * State i is: the first i events have happened. A probe says of a state that it is good, bad, or
 * it cannot be tested (skip). The search assumes that good turns to bad once, as any such search
 * does, and checks this: the last good and the first bad state are asked again without memory, and
 * every answer that contradicts it is reported, also those of probes that are made afterwards to
 * look for contradictions.
 *
 * jobs probes are asked at once, which cut what is left into jobs+1 parts. The answer does not
 * depend on their number where good turns to bad once. */
#ifndef SYMTAPE_MINIFY_BISECT_BISECT_H
#define SYMTAPE_MINIFY_BISECT_BISECT_H

#include "trace/base/err.h"
#include "trace/base/vec.h"

#include <stdatomic.h>
#include <stdint.h>

enum bisect_answer { BISECT_GOOD, BISECT_BAD, BISECT_SKIP, BISECT_BROKEN /* err is set */ };

/* fresh: the answer must not come from memory. Called by several threads at once if jobs > 1. */
typedef enum bisect_answer bisect_probe(void *user, uint32_t state, bool fresh, struct err *err);

struct bisect_options {
    uint32_t n;     /* events: states are 0 .. n */
    uint32_t jobs;  /* 0: 1 */
    bool from_end;  /* look near the end first: steps of 1, 2, 4, ... back */
    uint32_t looks; /* states asked afterwards at random for a contradiction; UINT32_MAX: every
                       state, for probes that cache their answers */
    uint64_t seed;
    bisect_probe *probe;
    void *user;
    const atomic_bool *stop; /* NULL, or set to end early */
};

enum bisect_end {
    BISECT_FOUND,    /* `bad` is the first bad state, good = bad - 1 */
    BISECT_NEVER,    /* good after all events */
    BISECT_ALWAYS,   /* bad before any */
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
    bool certified;  /* both were asked afresh */
    bool monotone;   /* nothing that was seen contradicts; see `seen` */
    uint32_t probes; /* questions asked, including fresh ones, without those of `looks` */
    uint32_t rounds; /* of at most `jobs` questions at once, counted likewise */
    uint32_t looked; /* questions of `looks` */
    vec_of(struct bisect_seen)
    seen;           /* by state; each once */
    uint32_t flips; /* changes of the answer in `seen`; 1 if the answers are monotone */
};

/* Whether the probe gave this answer for this state. */
bool bisect_was(const struct bisect_result *result, uint32_t state, enum bisect_answer answer);

/* False: err (a broken probe, no memory). To be released in any case. */
bool bisect_run(const struct bisect_options *options, struct bisect_result *result,
                struct err *err);
void bisect_result_release(struct bisect_result *result);

#endif

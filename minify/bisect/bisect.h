/* Finding the first of n events after which something holds.
 *
 *     struct bisect_options options = { .n = n_events, .probe = holds_after, .user = run };
 *     struct bisect_result result;
 *     if (bisect_run(&options, &result, &err)) printf("%u is the first bad one\n", result.bad);
 *     bisect_result_release(&result);
 *
 * State i is: the first i events have happened. A probe says of a state that it is good, bad, or
 * that nobody can tell (skip). The search takes for granted that good turns to bad once, as any
 * such search does, but it does not keep quiet about it: the answer stands only when good and bad,
 * side by side, were both asked afresh, and whatever contradicts it (a probe on the way, or one of
 * those made afterwards to look for it) is told.
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

/* fresh: nothing remembered may answer. Called by several threads at once if jobs > 1. */
typedef enum bisect_answer bisect_probe(void *user, uint32_t state, bool fresh, struct err *err);

struct bisect_options {
    uint32_t n;     /* events: states are 0 .. n */
    uint32_t jobs;  /* 0: 1 */
    bool from_end;  /* look near the end first: steps of 1, 2, 4, ... back */
    uint32_t looks; /* states asked afterwards at random for a contradiction; UINT32_MAX: all, with
                       the cheap probes of somebody who remembers */
    uint64_t seed;
    bisect_probe *probe;
    void *user;
    const atomic_bool *stop; /* NULL, or set to end early */
};

enum bisect_end {
    BISECT_FOUND,    /* `bad` is the first bad state, good = bad - 1 */
    BISECT_NEVER,    /* good after all events */
    BISECT_ALWAYS,   /* bad before any */
    BISECT_BETWEEN,  /* the first bad one is one of good+1 .. bad: the others cannot be told */
    BISECT_CANNOT,   /* not even the ends can be told */
    BISECT_UNSTEADY, /* asked afresh, a state answers otherwise */
    BISECT_STOPPED   /* ended early: where it turns is between good and bad, if it does at all */
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
    uint32_t probes; /* all questions, fresh ones included, those of `looks` not */
    uint32_t rounds; /* of at most jobs questions at once, the same way */
    uint32_t looked; /* questions of `looks` */
    vec_of(struct bisect_seen)
    seen;           /* by state; each once */
    uint32_t flips; /* how often, in this order, the answer changes; 1 where all is well */
};

/* Whether anybody has said of this state what `answer` says. */
bool bisect_was(const struct bisect_result *result, uint32_t state, enum bisect_answer answer);

/* False: err (a broken probe, no memory). To be released in any case. */
bool bisect_run(const struct bisect_options *options, struct bisect_result *result,
                struct err *err);
void bisect_result_release(struct bisect_result *result);

#endif

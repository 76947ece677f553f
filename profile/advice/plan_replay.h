/* The calls of a program, replayed as recorded and with plans: what is compiled, and which compile
 * answers each call. Plans that only hold values, raise limits or drop frames are replayed over the
 * entries of the tape (profile/calls/cache/cache_run.h); marks and settings, for which entries are
 * put together, by the policies of profile/calls/dynamic/policy_run.h. */
#ifndef SYMTAPE_PROFILE_ADVICE_PLAN_REPLAY_H
#define SYMTAPE_PROFILE_ADVICE_PLAN_REPLAY_H

#include "profile/advice/call_plan.h"
#include "profile/calls/values/call_log.h"

struct plan_outcome {
    uint64_t compiles, eager, unknown; /* unknown: compiles of which the tape tells nothing */
    double seconds;                    /* of the compiles */
    vec_of(struct str)
    made; /* for each compile the one of the tape that it is, or is most like: "0/1"; "" */
    vec_of(struct str)
    kept; /* compiles of the tape whose calls compile here, too */
    vec_of(uint32_t)
    answered; /* by call of the log: its compile, in plan_replay.compiles; INTERN_NONE */
};
void plan_outcome_release(struct plan_outcome *outcome);

struct plan_replay {
    struct trace *trace;
    uint32_t recording;
    struct call_log *log;
    struct intern compiles; /* ids */
    vec_of(double)
    run_seconds; /* by compile: the median of calls that it answered; 0: there are none */
    struct plan_outcome recorded;
};

/* Replays the calls as recorded. The log is changed while a plan runs, and is as before behind it.
 * Returns false with err set when memory ran out or the tape could not be read. */
bool plan_replay_make(struct plan_replay *replay, struct trace *trace, uint32_t recording,
                      struct call_log *log, struct err *err);
void plan_replay_release(struct plan_replay *replay);

/* Replays the calls with a plan. Returns false with err set as above. */
bool plan_replay_run(struct plan_replay *replay, const struct call_plan *plan,
                     struct plan_outcome *outcome, struct err *err);

/* Seconds that a call takes by the compiles that answer it: the mean over the calls of which both
 * sides are known. */
struct plan_run_time {
    uint64_t calls; /* number of these; 0: nothing is known */
    double before, after;
};
struct plan_run_time plan_replay_run_time(const struct plan_replay *replay,
                                          const struct plan_outcome *after);

#endif

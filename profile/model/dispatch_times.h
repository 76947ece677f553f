/* PyTorch's time in dispatches, from a deep recording (symtape-deep(5)), and an estimate of what it
 * would be if the counts were others.
 *
 *     struct dispatch_times *times = dispatch_times_new(deep, release, replay, list, &err);
 *     if (times->measured_ns > 0)
 *         saved = dispatch_times_of(times, baseline) - dispatch_times_of(times, ablated);
 *     dispatch_times_free(times);
 *
 * Measured are the times of all dispatches, without those nested in them, in the attempts whose
 * graphs were replayed. The estimate multiplies each count of a replay's passes
 * (replay/attempt/dispatch_passes.h) by the mean time of the recording's dispatches of the same
 * operator that PyTorch handled in the same way: a cache hit, a miss that the fast path answered,
 * and so on. Where the recording has few or none, that of all operators counts as well, times what
 * such dispatches of this operator took beside all in other recordings
 * (cost_model/cost_operators.h). */
#ifndef SYMTAPE_PROFILE_MODEL_DISPATCH_TIMES_H
#define SYMTAPE_PROFILE_MODEL_DISPATCH_TIMES_H

#include "replay/replay.h"
#include "trace/base/intern.h"
#include "trace/events/deep/deep.h"

/* How far such estimates were off where ablations were made for real, by patching PyTorch
 * (tests/ablations_torch.py --all, on 2026-11-30): of the ablations that changed the time of a
 * compile by more than 5 %, the median of |estimated - measured| / |measured| saved seconds. The
 * models are those that PATH_WEIGHT and LOOK_UP_WEIGHT of dispatch_times.c were fitted to. */
enum {
    TRIED_MODELS = 11,
    TRIED_ABLATIONS = 32,
    TRIED_OFF_PER_MILLE = 207,
    TRIED_TORCH = 213 /* the release: 2.13 */
};

/* How a dispatch was handled. */
enum dispatch_path {
    PATH_HIT,      /* the cache had it */
    PATH_FAST,     /* the fast path answered */
    PATH_SLOW,     /* the fast path was attempted in vain */
    PATH_COMPUTED, /* computed, without an attempt */
    PATH_BYPASS,   /* computed, and not for the cache */
    PATH_RETURNED, /* answered before the cache: prim.device */
    PATH_PROXY,
    PATH_FAKE_TENSOR,
    DISPATCH_PATHS
};

struct path_time {
    uint64_t count;
    double ns;
};

/* How far dispatches of one path are spread: the quartiles of their times, as shares of the mean.
 */
struct path_spread {
    double low, high;
};

struct operator_times {
    struct path_time path[DISPATCH_PATHS];
    struct path_time key, entry; /* as those of dispatch_times */
    /* Within others, without keys and entries: computed the first time, and once more. */
    struct path_time nested_bare, nested_known;
};

struct dispatch_times {
    double measured_ns; /* all dispatches; 0: the trace has none */
    /* Around dispatches: in no_dispatch(), and where a tensor's device is got. 0 where the
     * recording does not tell them from what they call. */
    double no_dispatch_ns, device_ns;
    /* Of a call that misses the cache: its key, and the entry that is made of its result. Where the
     * recording does not have them, dispatch_times_find() sets those that symtape ships. */
    struct path_time key, entry;
    bool by_operator;    /* each operator has its keys and entries, too */
    struct intern names; /* of the operators */
    vec_of(struct operator_times)
    operators;
    struct operator_times all;                     /* of all operators */
    struct path_time nested;                       /* dispatches of FakeTensorMode within others */
    struct path_time nested_hits, nested_computed; /* those of `nested` that were handled so */
    struct path_spread spread[DISPATCH_PATHS + 1]; /* of `all`; the last item is that of `nested` */
    int release; /* whose factors of operators (cost_operators.def) help where there are few times
                  */
};

enum dispatch_path dispatch_path_of(const struct deep_dispatch *dispatch);
/* Splits an operator's dispatches in a pass by path; that of `DISPATCH_PATHS` is the number of
 * those whose path is not known, since a rule of ours made them. */
void dispatch_path_counts(const struct pass_operator *row, uint64_t counts[DISPATCH_PATHS + 1]);

/* `replay` says which attempts are meant; release: of the PyTorch that recorded, 213, or 0. NULL:
 * out of memory. */
struct dispatch_times *dispatch_times_new(const struct deep *deep, int release,
                                          const struct replay *replay,
                                          const struct graph_list *list, struct err *err);
/* Makes the times that symtape ships for a release of PyTorch, for recordings that are not deep
 * (profile/model/cost_model/cost_model.h); *measured: the release whose times they are. Nothing is
 * measured. */
struct dispatch_times *dispatch_times_shipped(int release, int *measured, struct err *err);
/* Returns the times of a deep recording; of another, those that symtape ships for the release that
 * recorded it, or for the nearest, which is set in *release: 0: measured. NULL: out of memory. */
struct dispatch_times *dispatch_times_find(const struct trace *trace, const struct deep *deep,
                                           const struct replay *replay,
                                           const struct graph_list *list, int *release,
                                           struct err *err);
void dispatch_times_free(struct dispatch_times *times); /* accepts NULL */

/* Returns the estimated time of the dispatches that the replay counted in its passes, in ns. */
double dispatch_times_of(const struct dispatch_times *times, const struct replay *replay);
/* The estimated time of what one replay counts less than another, in ns, and an interval: the
 * dispatches of each path took as long as their quartiles say, and what is more and what is less
 * are each at the end that is worse. */
struct saved_time {
    double ns, low_ns, high_ns;
};
struct saved_time dispatch_times_saved(const struct dispatch_times *times,
                                       const struct replay *from, const struct replay *to);
/* Returns the mean time of an operator's dispatches on a path, in ns; of few, with what is expected
 * of them. */
double dispatch_time_mean(const struct dispatch_times *times, struct str op,
                          enum dispatch_path path);

#endif

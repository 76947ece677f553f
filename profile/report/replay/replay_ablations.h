/* Reports of ablations: the baseline and each change to PyTorch's dispatcher, side by side. */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_ABLATIONS_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_ABLATIONS_H

#include "profile/report/replay/replay_report.h"

struct ablation_run {
    const char *name; /* "baseline", "fastpath:aten.add", "cache+free:aten.mm" */
    const struct replay *replay;
    const struct replay_digest *changed; /* the first call whose result's meta it changes; NULL */
    uint64_t n_changed;                  /* the number of such calls */
    bool timed;                          /* PyTorch's times are known */
    int64_t pytorch_ns, saved_ns;
    int64_t saved_low_ns, saved_high_ns; /* dispatch_times_saved() */
    bool combined;                       /* several ablations at once */
    /* What they save together more than the sum of what each saves: FakeTensorMode's dispatches,
     * and PyTorch's time. */
    int64_t interaction, interaction_ns;
    bool same_counts; /* the counts are those of the baseline */
};

struct ablation_report {
    const struct ablation_run *runs; /* the first is the baseline */
    size_t n;
    struct trace *trace;
    const struct graph_list *list;
    int release;      /* times are estimated by those of this release of PyTorch; 0: measured */
    double explained; /* the estimate's share of the measured time, for the baseline */
};

void replay_ablations_text(const struct ablation_report *report, const struct report_options *how,
                           struct buf *out);
void replay_ablations_json(const struct ablation_report *report, struct buf *out);

#endif

/* Several replays of one tape side by side: policies, ablations, other hints. */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_RUNS_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_RUNS_H

#include "profile/report/replay/replay_report.h"

struct replay_run {
    const char *name;
    const struct replay *replay;
    uint64_t ns;  /* the best of several, where time is compared */
    bool invalid; /* an ablation that changed a result's meta */
};

/* A column for each run; the first is what the others are held to. */
void replay_runs_text(const struct replay_run *runs, size_t n, bool times,
                      const struct report_options *how, struct buf *out);
void replay_runs_json(const struct replay_run *runs, size_t n, struct buf *out);

/* What other hints change: guards, replacements, results. */
void replay_hints_text(const struct replay_report *report, const struct replay *other,
                       const struct report_options *how, struct buf *out);
void replay_hints_json(const struct replay_report *report, const struct replay *other,
                       struct buf *out);

/* Operators that could take the fast path and do not, and what attempts at it cost. */
void replay_audit_text(const struct replay *replay, const struct report_options *how,
                       struct buf *out);
void replay_audit_json(const struct replay *replay, struct buf *out);

#endif

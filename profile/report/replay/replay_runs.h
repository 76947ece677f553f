/* Reports of several replays of one tape side by side: policies, other hints. */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_RUNS_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_RUNS_H

#include "profile/report/replay/replay_report.h"

struct replay_run {
    const char *name;
    const struct replay *replay;
    uint64_t ns; /* the shortest of several */
};

/* Prints a column for each run; the others are compared with the first. */
void replay_runs_text(const struct replay_run *runs, size_t n, const struct report_options *how,
                      struct buf *out);
void replay_runs_json(const struct replay_run *runs, size_t n, struct buf *out);

/* Prints what other hints change: guards, replacements, results. */
void replay_hints_text(const struct replay_report *report, const struct replay *other,
                       const struct report_options *how, struct buf *out);
void replay_hints_json(const struct replay_report *report, const struct replay *other,
                       struct buf *out);

#endif

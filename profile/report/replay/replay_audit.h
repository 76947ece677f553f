/* Report of FakeTensor's fast path by operator: what attempts at it cost and save, and which
 * operators could take it and do not. */
#ifndef SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_AUDIT_H
#define SYMTAPE_PROFILE_REPORT_REPLAY_REPLAY_AUDIT_H

#include "profile/report/replay/replay_report.h"

struct audited_operator {
    struct str op;
    uint64_t calls, could_be_fast; /* in one walk of each graph */
    bool registered;               /* PyTorch has a fast path for it */
    /* In PyTorch's passes over the graphs, with the fast path: as it is where it is registered, as
     * it would be where it is not. */
    uint64_t attempts, hits;
    bool replayed;     /* replayed with it and without it, which gives what follows */
    bool changes_meta; /* the fast path gives a result another meta */
    int64_t saved;     /* dispatches of FakeTensorMode that the fast path saves */
    bool timed;        /* PyTorch's times are known, which gives what follows */
    int64_t saved_ns;  /* PyTorch's time that it saves */
    int64_t wasted_ns; /* PyTorch's time in attempts that missed, what followed excluded */
};

/* The rows are in their order in the report. release: of PyTorch, whose times are estimates
 * (dispatch_times_find()); 0: measured. */
void replay_audit_text(const struct audited_operator *rows, size_t n, int release,
                       const struct report_options *how, struct buf *out);
void replay_audit_json(const struct audited_operator *rows, size_t n, int release, struct buf *out);

#endif

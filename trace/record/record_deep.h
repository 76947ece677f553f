/* Summarises a deep recording, read from a tape. */
#ifndef SYMTAPE_TRACE_RECORD_RECORD_DEEP_H
#define SYMTAPE_TRACE_RECORD_RECORD_DEEP_H

#include "trace/base/buf.h"
#include "trace/open.h"

struct record_deep {
    uint64_t processes; /* number of processes that left a side file */
    uint64_t dispatches, env_calls, partial_graphs;
    uint64_t lost;        /* number of events for which there was no space */
    uint64_t overhead_ns; /* the recorder's own count of its time, all processes */
    uint64_t compile_ns;  /* PyTorch's time for compiling; 0 when it is not recorded */
    uint64_t
        disagreements; /* number of labels of the last symtape_totals that differ from PyTorch's */
    struct buf not_wrapped;  /* "WHAT (WHY), ..." ; each is listed once */
    struct buf not_recorded; /* names of recordings with compiles but without a side file */
};

/* Reads the summary, which must be released in any case. Returns false when memory ran out or
 * the tape is damaged. */
bool record_deep_read(struct trace *trace, struct record_deep *ret, struct err *err);
void record_deep_release(struct record_deep *deep);

#endif

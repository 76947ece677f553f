/* Computes from a tape what recording cost the program, and whether anything was compiled. */
#ifndef SYMTAPE_TRACE_RECORD_RECORD_COST_H
#define SYMTAPE_TRACE_RECORD_RECORD_COST_H

#include "trace/open.h"

struct record_cost {
    uint64_t compiles;   /* attempts of one compile count once; 0: the program logged but compiled
                            nothing */
    uint64_t unfinished; /* compiles without a recorded end: killed, or still running */
    uint64_t failed;     /* compiles that ended with an error */
    bool logging_known;  /* at least one compile has the time of its logging */
    uint64_t logging_ns; /* PyTorch's own figure, summed: structured_logging_overhead_s */
};

/* Reads the figures. Returns false when memory ran out. */
bool record_cost_read(struct trace *trace, struct record_cost *ret, struct err *err);

#endif

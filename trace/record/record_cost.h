/* What recording cost the program, and whether there was anything to record: read from a tape. */
#ifndef SYMTAPE_TRACE_RECORD_RECORD_COST_H
#define SYMTAPE_TRACE_RECORD_RECORD_COST_H

#include "trace/open.h"

struct record_cost {
    uint64_t compiles;   /* attempts of one compile count once; 0: logged, but compiled nothing */
    uint64_t unfinished; /* of those, without an end of their own: killed, or still at it */
    uint64_t failed;     /* of those, ended by an error */
    bool logging_known;  /* at least one compile says what its logging took */
    uint64_t logging_ns; /* PyTorch's own figure, summed: structured_logging_overhead_s */
};

/* False when memory ran out. */
bool record_cost_read(struct trace *trace, struct record_cost *ret, struct err *err);

#endif

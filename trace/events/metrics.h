/* What PyTorch summed up at the end of each compile: compilation_metrics records and those for the
 * backward and the run time (class CompilationMetrics in torch/_dynamo/utils.py).
 *
 * Every field may be absent: versions differ, and a compile that failed omits many. */
#ifndef SYMTAPE_TRACE_EVENTS_METRICS_H
#define SYMTAPE_TRACE_EVENTS_METRICS_H

#include "trace/open.h"

enum metric {
#define METRIC(id, name, unit) METRIC_##id,
#include "trace/events/metrics.def"
#undef METRIC
    METRIC_COUNT
};

#define METRIC_ABSENT INT64_MIN

struct metrics {
    uint32_t record, attempt; /* attempt may be TRACE_NONE, because some records name no compile */
    bool backward;            /* bwd_...: of a backward compiled after its forward */
    bool runtime;             /* ..._runtime: what was done at the first call, such as autotuning */
    int64_t values[METRIC_COUNT];      /* METRIC_ABSENT, or a count, bytes or nanoseconds */
    struct str function, file;         /* co_name, co_filename: the frame that was compiled */
    uint32_t line;                     /* co_firstlineno; 0 when absent */
    struct str fail_type, fail_reason; /* "" unless the compile failed */
    struct str fail_file;              /* the user's frame that failed */
    uint32_t fail_line;
    const struct str *restart_reasons; /* one for each attempt that was discarded */
    uint32_t n_restart_reasons;
    struct str recompile_reason;
    struct str cudagraph_skip_reason;
};

struct metrics_list {
    const struct metrics *metrics; /* in the order of their records */
    uint32_t n;
};

/* Reads the metrics. The caller frees the list before the trace, because both own strings. A
 * record that is no JSON is omitted (the trace counts it as damage). It returns NULL with err
 * set when memory ran out. */
struct metrics_list *metrics_read(struct trace *trace, struct err *err);
void metrics_free(struct metrics_list *list); /* NULL is allowed */

const char *metric_name(enum metric metric); /* as in the record */

#endif

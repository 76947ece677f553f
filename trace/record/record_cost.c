#include "trace/record/record_cost.h"

#include <stdlib.h>

#include "trace/events/metrics.h"

/* Returns the compile's last attempt, which represents the compile. */
static uint32_t last_attempt(const struct trace *trace, uint32_t attempt)
{
    while (trace->attempts[attempt].next != TRACE_NONE)
        attempt = trace->attempts[attempt].next;
    return attempt;
}

static void count_compiles(const struct trace *trace, struct record_cost *cost)
{
    for (uint32_t i = 0; i < trace->n_attempts; i++) {
        const struct attempt *attempt = &trace->attempts[i];
        if (attempt->next != TRACE_NONE)
            continue;
        cost->compiles++;
        cost->unfinished += attempt->status == ATTEMPT_UNFINISHED;
        cost->failed += attempt->status == ATTEMPT_FAILED;
    }
}

/* Sums PyTorch's time for logging. PyTorch adds it up by compile id, over attempts and over
 * forward and backward, and reports the sum so far (add_structured_logging_overhead in
 * torch/_logging/_internal.py), so the largest one counts. */
static void sum_logging(const struct trace *trace, const struct metrics_list *list,
                        uint64_t *largest, struct record_cost *cost)
{
    for (uint32_t i = 0; i < list->n; i++) {
        const struct metrics *metrics = &list->metrics[i];
        int64_t ns = metrics->values[METRIC_STRUCTURED_LOGGING];
        if (metrics->attempt == TRACE_NONE || ns == METRIC_ABSENT || ns < 0)
            continue;
        uint64_t *of_compile = &largest[last_attempt(trace, metrics->attempt)];
        cost->logging_known = true;
        if ((uint64_t)ns > *of_compile) {
            cost->logging_ns += (uint64_t)ns - *of_compile;
            *of_compile = (uint64_t)ns;
        }
    }
}

bool record_cost_read(struct trace *trace, struct record_cost *ret, struct err *err)
{
    struct metrics_list *list = metrics_read(trace, err);
    if (!list)
        return false;
    uint64_t *largest = calloc((size_t)trace->n_attempts + 1, sizeof *largest);
    if (largest) {
        *ret = (struct record_cost){ 0 };
        count_compiles(trace, ret);
        sum_logging(trace, list, largest, ret);
    }
    free(largest);
    metrics_free(list);
    return largest || err_nomem(err);
}

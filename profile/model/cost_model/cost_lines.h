/* Where in the user's program the cost model is far off: lines whose estimated time
 * (profile/model/lines) is not what units make of their calls. Only if no recording is deep. */
#ifndef SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_LINES_H
#define SYMTAPE_PROFILE_MODEL_COST_MODEL_COST_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct profile_build;
struct cost_shares;
struct err;

struct cost_line {
    uint32_t line; /* in profile->lines.lines */
    int64_t ns;    /* what tracing it took, by the log's times */
    /* What units make of its calls, symbolic sizes, guards and dispatches (its share of what they
     * make of those of all lines), times the median of how much longer lines took than that: the
     * speed of the machine is not a line's. */
    int64_t expected_ns;
    int64_t unexplained_ns;
};

/* Sets cost_model.lines: the largest difference first. traced: the estimated time of Dynamo and
 * AOTAutograd by what it grows with. Returns false with err set when memory ran out. */
bool find_unexplained_lines(struct profile_build *b, const struct cost_shares *traced,
                            struct err *err);

#endif

/* Private to the profile room: one pass of the compiler over a program, and how its time is divided
 * among user lines. */
#ifndef SYMTAPE_PROFILE_MODEL_LINES_LINE_GAPS_H
#define SYMTAPE_PROFILE_MODEL_LINES_LINE_GAPS_H

#include "profile/model/lines/line_table.h"

/* A record that shows where a pass was at a time. */
struct pass_mark {
    int64_t at_ns;  /* of the pass's own time */
    uint32_t row;   /* of its user stack; LINE_NOBODY */
    uint32_t call;  /* the call that comes next, if the record tells, or LINE_NOBODY */
    bool evaluated; /* a guard that a call asked for, which ends the evaluation of its expression */
    bool describes; /* an input, which the next call reads */
};

/* A pass that has ended: its time, the calls that it traced, and the records in it. */
struct line_pass {
    int64_t ns;
    const struct work_call *calls; /* in the order in which they were traced */
    uint32_t n_calls;
    enum work_run run; /* of these calls */
    double beside;     /* the weight of what is done for each call besides its dispatches */
    bool unfinished;   /* it may have stopped before its last call */
    const struct pass_mark *marks;
    size_t n_marks;
};

/* What part of a time a line is given. */
struct line_share {
    uint32_t row; /* LINE_NOBODY: of no line */
    int64_t ns, low_ns, high_ns;
    bool unplaced; /* if of no line: some line took it, which is not known */
};

/* The factor by which any time may be wrong: what the log does not show. */
#define LINE_TIMES_ROUGHLY 1.3

/* Memory for passes, to be zeroed before the first and released after the last. */
struct gap_memory {
    vec_of(float)
    weights; /* by row: of the gap that is being divided */
    vec_of(uint32_t)
    rows; /* those with a weight */
    vec_of(uint32_t)
    places; /* by mark: the call that was being traced */
    vec_of(uint32_t)
    last; /* by row: its last call in the pass, plus 1 */
    vec_of(uint32_t)
    next; /* by call: the next one of its row, or LINE_NOBODY */
    vec_of(double)
    sums; /* by call: the weight of those before it */
    vec_of(double)
    rates;
};

/* Divides the time of a pass among user lines. The parts add up to pass->ns. Returns false when
 * memory ran out, or if `give` does. */
bool line_gaps_divide(struct gap_memory *memory, const struct line_pass *pass, size_t n_rows,
                      bool (*give)(void *user, const struct line_share *share), void *user);
/* The same for a pass whose calls are not known. */
bool unlogged_gaps_divide(const struct line_pass *pass,
                          bool (*give)(void *user, const struct line_share *share), void *user);
void gap_memory_release(struct gap_memory *memory);

#endif

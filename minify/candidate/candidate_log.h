/* A log in the form of TORCH_TRACE with the graphs of several compiles.
 *
 *     struct candidate_log log;
 *     bool ok = candidate_log_begin(&log, &out) && candidate_log_add(&log, candidate, place) &&
 * ...; candidate_log_end(&log);
 *
 * Graphs of one attempt follow each other; each of its symbols and guards is written once, where
 * the first graph has it. All functions return false when memory ran out. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_LOG_H
#define SYMTAPE_MINIFY_CANDIDATE_CANDIDATE_LOG_H

#include "minify/candidate/candidate.h"
#include "trace/base/intern.h"

/* The compile that a graph belongs to: "3/0_1" is frame 3, compile 0, attempt 1. */
struct log_place {
    uint32_t frame, compile, attempt;
};

struct candidate_log {
    struct buf *out;
    struct intern symbols, guards; /* those of the last place that were written */
    struct log_place last;
    bool begun;
};

bool candidate_log_begin(struct candidate_log *log, struct buf *out);
bool candidate_log_add(struct candidate_log *log, const struct candidate *candidate,
                       struct log_place place);
void candidate_log_end(struct candidate_log *log); /* required after candidate_log_begin() */

#endif

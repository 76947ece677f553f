/* A snapshot holds everything of a trace that a comparison needs.
 *
 *     struct snapshot *s = snapshot_take(trace, NULL, STR("bert.tape"), &err);
 *     snapshot_write(s, &out);                                  "symtape.snapshot/1"
 *     struct snapshot *again = snapshot_read(buf_str(&out), &err);
 *
 * It owns everything in it: the trace may be closed. As JSON it has a few per cent of the size of
 * the tape's log, small enough for CI, and compares as the tape itself does. */
#ifndef SYMTAPE_PROFILE_COMPARE_SNAPSHOT_H
#define SYMTAPE_PROFILE_COMPARE_SNAPSHOT_H

#include "profile/compare/measures.h"
#include "trace/align/outline.h"
#include "trace/selector.h"

/* The total of a phase by its name (struct phase_total). */
struct snapshot_phase {
    struct str name;
    uint64_t calls;
    int64_t inclusive_ns, exclusive_ns;
};

/* The estimated time of a user line (struct profile_line). */
struct snapshot_line {
    struct str file, function, code;
    uint32_t line;
    int64_t estimated_ns;
};

struct snapshot {
    struct str name;
    struct measures measures;
    const struct snapshot_phase *phases; /* by exclusive time */
    uint32_t n_phases;
    const struct snapshot_line *lines; /* those with time, the longest first */
    uint32_t n_lines;
    struct outline *outline;
    uint64_t damaged;   /* places that could not be read */
    uint32_t truncated; /* recordings whose import stopped before the end */
    bool deep;          /* recorded with --deep */
    struct arena arena; /* of its texts and arrays */
};

/* Takes a snapshot of a trace. `only` (NULL: all) selects a recording, a compile or an attempt.
 * Returns NULL with err set. */
struct snapshot *snapshot_take(struct trace *trace, const struct selector *only, struct str name,
                               struct err *err);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

void snapshot_write(const struct snapshot *snapshot, struct buf *out);
/* Reads a snapshot from JSON. Returns NULL with err set: ERR_INPUT if it is no snapshot or one of a
 * later version, or out of memory. */
struct snapshot *snapshot_read(struct str text, struct err *err);
/* Returns whether a file with this beginning is a snapshot. */
bool snapshot_looks_like(struct str start);

#endif

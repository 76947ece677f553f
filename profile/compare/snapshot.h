/* A snapshot: all of a trace that a comparison needs.
 *
 *     struct snapshot *s = snapshot_take(trace, NULL, STR("bert.tape"), &err);
 *     snapshot_write(s, &out);                                  "symtape.snapshot/1"
 *     struct snapshot *again = snapshot_read(buf_str(&out), &err);
 *
 * It owns everything in it: the trace may be closed. Written as JSON it is a few per cent of the
 * tape's log, small enough to be kept in CI, and compares as the tape itself does. */
#ifndef SYMTAPE_PROFILE_COMPARE_SNAPSHOT_H
#define SYMTAPE_PROFILE_COMPARE_SNAPSHOT_H

#include "profile/compare/measures.h"
#include "trace/align/outline.h"
#include "trace/selector.h"

/* A phase by its name, wherever it ran (struct phase_total). */
struct snapshot_phase {
    struct str name;
    uint64_t calls;
    int64_t inclusive_ns, exclusive_ns;
};

/* Estimated time of a user line (struct profile_line). */
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
    const struct snapshot_line *lines; /* those that took time, by time */
    uint32_t n_lines;
    struct outline *outline;
    uint64_t damaged;   /* places that could not be read */
    uint32_t truncated; /* recordings whose import did not come to the end */
    bool deep;          /* recorded with --deep */
    struct arena arena; /* of its texts and arrays */
};

/* `only` (NULL: all) names a recording, a compile or an attempt. NULL with err set. */
struct snapshot *snapshot_take(struct trace *trace, const struct selector *only, struct str name,
                               struct err *err);
void snapshot_free(struct snapshot *snapshot); /* NULL is fine */

void snapshot_write(const struct snapshot *snapshot, struct buf *out);
/* NULL with err set: ERR_INPUT when it is none, or of a later version; memory. */
struct snapshot *snapshot_read(struct str text, struct err *err);
/* Does a file that begins like this hold one? */
bool snapshot_looks_like(struct str start);

#endif

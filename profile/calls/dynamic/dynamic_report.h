/* Writes what dynamic_run_make() found: a text for people, and JSON, "symtape.dynamic/1". */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_DYNAMIC_REPORT_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_DYNAMIC_REPORT_H

#include "profile/calls/dynamic/dynamic_run.h"
#include "profile/report/report.h"

#define SCHEMA_DYNAMIC "symtape.dynamic/1"

/* Writes the answer, the policies, the inputs, and what to paste. */
void dynamic_text(const struct dynamic_run *run, const struct report_options *options,
                  struct buf *out);
void dynamic_json(const struct dynamic_run *run, struct buf *out);

/* How a program states the marks that symtape proposes. */
enum paste_kind {
    PASTE_MARK,    /* a call of mark_dynamic(), before the function is called */
    PASTE_SOURCES, /* instead of those, and for numbers */
    PASTE_SPEC,    /* an argument of torch.compile(), instead of both */
};
struct paste_line {
    enum paste_kind kind;
    uint32_t code; /* in calls_table.codes; NO_ENTRY: of all */
    struct str text;
};
typedef vec_of(struct paste_line)
paste_lines;

/* Appends the lines to `lines`, their texts in `arena`: calls of mark_dynamic() for functions that
 * the program calls, and, where the release on the tape has them, dynamic_sources and shapes_spec.
 * Returns false when memory ran out. */
bool paste_make(const struct dynamic_run *run, struct arena *arena, paste_lines *lines);

/* "4", "S(1)", "?" */
void put_atom(struct atom atom, struct buf *out);

#endif

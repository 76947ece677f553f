/* The data that `symtape record` reports, shared by its two printers. */
#ifndef SYMTAPE_CMD_RECORD_RECORD_H
#define SYMTAPE_CMD_RECORD_RECORD_H

#include "cmd/cli/out.h"
#include "trace/events/calls.h"
#include "trace/log/import.h"
#include "trace/record/record.h"
#include "trace/record/record_cost.h"
#include "trace/record/record_deep.h"

struct record_report {
    struct out *out;
    const char *tape; /* the requested output */
    struct record_run run;
    bool packed; /* the tape was written, and `import` is valid */
    struct import_result import;
    uint64_t pack_ns;
    bool counted; /* the tape could be read, and `cost` is valid */
    struct record_cost cost;
    const char *level;       /* the level of a deep recording, or NULL */
    struct record_deep deep; /* counters of the deep recording */
    bool calls;              /* calls of compiled functions were to be noted */
    struct call_totals noted;
    struct buf diagnosis; /* causes, if the program failed or compiled for long; else empty */
};

/* Fills in `diagnosis`. Returns false with err set when memory ran out or the tape could not be
 * read. */
bool record_diagnose(struct record_report *report, struct trace *trace, struct err *err);
/* Prints one line about the folder that a running process is to log to. */
void record_print_folder(const struct record_report *report);
void record_note_text(const struct record_report *report); /* prints to the notes stream */
/* Prints one line to the data stream, after the output of the program. Returns the exit code so
 * far. */
int record_print_json(const struct record_report *report);

#endif

/* What `symtape record` has to say, shared by its two printers. */
#ifndef SYMTAPE_CMD_RECORD_RECORD_H
#define SYMTAPE_CMD_RECORD_RECORD_H

#include "cmd/cli/out.h"
#include "trace/log/import.h"
#include "trace/record/record.h"
#include "trace/record/record_cost.h"
#include "trace/record/record_deep.h"

struct record_report {
    struct out *out;
    const char *tape; /* where it was to go */
    struct record_run run;
    bool packed; /* the tape is there, and: */
    struct import_result import;
    uint64_t pack_ns;
    bool counted; /* the tape could be read again, and: */
    struct record_cost cost;
    const char *level;       /* of a deep recording; NULL */
    struct record_deep deep; /* what came of it, when counted */
};

void record_note_text(const struct record_report *report); /* to the notes */
/* One line to the data, after what the program printed. The exit code so far. */
int record_print_json(const struct record_report *report);

#endif

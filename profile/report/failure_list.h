/* The exceptions that ended compiles of a tape, as every report of the tape mentions them. Graph
 * breaks, after which the frame ran eagerly, are left out. */
#ifndef SYMTAPE_PROFILE_REPORT_FAILURE_LIST_H
#define SYMTAPE_PROFILE_REPORT_FAILURE_LIST_H

#include "trace/base/text/json_write.h"
#include "trace/base/vec.h"
#include "trace/events/incidents/incidents.h"
#include "trace/selector.h"

struct failure_list {
    const struct trace *trace;   /* borrowed */
    struct incidents *incidents; /* breaks and failures; NULL if all attempts succeeded */
    vec_of(const struct failure *)
    v;
    const struct failure_list *next; /* that of another tape of the same report, or NULL */
};

/* Reads the failures of what a selector names; a tape without an unsuccessful attempt is not read.
 * Returns false with err set when memory ran out or the tape could not be read. The list is to be
 * released in any case. */
bool failure_list_read(struct failure_list *list, struct trace *trace,
                       const struct selector *selector, struct err *err);
void failure_list_release(struct failure_list *list);

/* Appends "; 0/0 failed in PyTorch: UserError, demo/model.py:13", for the end of a headline;
 * nothing if there is no failure, or the list is NULL. */
void failure_list_print(const struct failure_list *list, struct buf *out);
/* Appends "0/0 failed in PyTorch: UserError: ", the cause in the words of the diagnosis, and the
 * user's line, for a note about the i-th failure. */
void failure_list_note(const struct failure_list *list, size_t i, struct buf *out);
/* Writes the member "failures", with those of the lists that follow. */
void failure_list_json(const struct failure_list *list, struct json_writer *w);

#endif

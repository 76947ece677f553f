/* The calls of compiled functions that `symtape record --calls` noted, from the records
 * symtape_calls: symtape-deep(5).
 *
 *     struct recorded_calls calls = { .take = take, .data = reader };
 *     if (recorded_calls_read(trace, recording, &calls, err) && calls.n)
 *         ...
 *     recorded_calls_release(&calls);
 *
 * Rows that repeat an earlier row are written out: each line is a whole call, with numbers of its
 * own for the objects that it was the first to have. Rows that cannot be read, or that refer to a
 * row that is missing, are skipped and counted; so are calls beyond the first 1,048,576. */
#ifndef SYMTAPE_TRACE_EVENTS_CALLS_H
#define SYMTAPE_TRACE_EVENTS_CALLS_H

#include "trace/base/buf.h"
#include "trace/open.h"

struct recorded_calls {
    struct buf lines; /* JSON lines, one call each, in the order in which the calls began */
    /* Takes the lines piece by piece, each of whole lines, so that `lines` is empty in the end;
     * NULL: all are kept in `lines`. */
    bool (*take)(void *data, struct str lines, struct err *err);
    void *data;
    uint64_t n;       /* number of lines */
    uint64_t skipped; /* rows that could not be read, and calls beyond the most */
};

/* What the recorders of a tape said of themselves, summed over processes. */
struct call_totals {
    uint64_t records;
    uint64_t calls, dropped; /* noted, and not noted */
    bool full;               /* a recorder reached the most that it notes */
    struct buf not_recorded; /* "WHAT (WHY), ..."; each is listed once */
};

/* Reads the calls of one recording. Returns false with err set when memory ran out, when the tape
 * could not be read, or (ERR_INPUT) when the calls stand for more text than 512 MiB, or than 16 GiB
 * where `take` has the lines. */
bool recorded_calls_read(struct trace *trace, uint32_t recording, struct recorded_calls *ret,
                         struct err *err);
void recorded_calls_release(struct recorded_calls *calls);

/* Reads the totals of all recordings. Returns false when memory ran out or the tape could not be
 * read. */
bool call_totals_read(struct trace *trace, struct call_totals *ret, struct err *err);
void call_totals_release(struct call_totals *totals);

#endif

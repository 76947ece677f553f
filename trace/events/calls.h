/* The calls of compiled functions that `symtape record --calls` noted, from the records
 * symtape_calls: symtape-deep(5).
 *
 *     struct recorded_calls calls = { .take = take, .data = reader };
 *     if (recorded_calls_read(trace, recording, &calls, err) && calls.n)
 *         ...
 *     recorded_calls_release(&calls);
 *
 * Most rows repeat an earlier row, with numbers of their own for the objects that they were the
 * first to have; as a line, each is a whole call. Rows that cannot be read, or that refer to a
 * row that is missing, are skipped and counted; so are calls beyond the first 1,048,576. */
#ifndef SYMTAPE_TRACE_EVENTS_CALLS_H
#define SYMTAPE_TRACE_EVENTS_CALLS_H

#include "trace/base/buf.h"
#include "trace/open.h"

#define RECORDED_NONE UINT64_MAX

/* A call, as the difference from a row that tells a call in full. */
struct recorded_call {
    uint64_t number;
    uint64_t backward_of; /* RECORDED_NONE */
    uint64_t parent;      /* the call inside which it was made; RECORDED_NONE */
    uint32_t row;         /* equal numbers mean the same row */
    struct str rest;      /* the row without "call", "backward_of" and "parent" at its start */
    /* Objects first ... first + n_new - 1 of the row have the numbers from `to` on in the call. */
    uint64_t first, n_new, to;
    double seconds; /* that it took; of calls that one row repeats, their mean; -1: not noted */
};

/* Returns the number that an object of the row has in the call. */
static inline uint64_t recorded_call_object(const struct recorded_call *call, uint64_t object)
{
    bool moves = object >= call->first && object - call->first < call->n_new;
    return moves ? object - call->first + call->to : object;
}

/* Appends the call as a line of JSON. */
void recorded_call_put(const struct recorded_call *call, struct buf *out);

struct recorded_calls {
    struct buf lines; /* JSON lines, one call each, in the order in which the calls began */
    /* Takes the calls one by one, in place of `lines`; NULL: all are kept in `lines`. */
    bool (*take)(void *data, const struct recorded_call *call, struct err *err);
    void *data;
    uint64_t n;       /* number of calls */
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
 * where `take` has the calls. */
bool recorded_calls_read(struct trace *trace, uint32_t recording, struct recorded_calls *ret,
                         struct err *err);
void recorded_calls_release(struct recorded_calls *calls);

/* Reads the totals of all recordings. Returns false when memory ran out or the tape could not be
 * read. */
bool call_totals_read(struct trace *trace, struct call_totals *ret, struct err *err);
void call_totals_release(struct call_totals *totals);

#endif

/* Phases as PyTorch reports them: the payloads of chromium_event records
 * (torch/_dynamo/utils.py, ChromiumEventLogger), which follow the trace event format.
 *
 * What is recorded and what it means:
 *   "B" and "E"   a phase begins and ends on its thread; they should nest, and need not
 *   "b" and "e"   the same for asynchronous work, distinguished by its id
 *   "X"           a whole phase, with its duration
 *   "i"           something happened: a cache hit, say; see its arguments
 * Everything else is kept with its letter. Times are microseconds with a fraction, as decimal text;
 * they are converted from that text to nanoseconds exactly. PyTorch rounds them to a double first,
 * so an absolute time is good to 0.25 us. */
#ifndef SYMTAPE_TRACE_EVENTS_CHROMIUM_H
#define SYMTAPE_TRACE_EVENTS_CHROMIUM_H

#include "trace/open.h"

struct chromium_event {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    char phase;               /* 'B', 'E', 'X', 'i', 'b', 'e', ...; 0 when it is missing */
    bool backward;            /* its argument is_backward is true */
    bool timed;               /* ts is present and a number; otherwise time_ns is 0 */
    int64_t time_ns;          /* since the epoch */
    int64_t duration_ns;      /* of an X event; 0 otherwise */
    uint64_t pid, tid;
    struct str name;
    struct str id;       /* of an asynchronous event; "" */
    struct str category; /* "dynamo_timed" */
    struct str compile;  /* argument compile_id; "" */
    struct str detail;   /* argument fn_name, or kernel_name; "" */
};

struct chromium_list {
    const struct chromium_event *events; /* in the order of their records */
    uint32_t n;
    uint32_t n_unreadable; /* records whose payload is missing or no JSON object */
};

/* Reads all chromium events; the caller frees them. Strings live as long as the list. It returns
 * NULL with err set when memory ran out or the tape could not be read. */
struct chromium_list *chromium_read(struct trace *trace, struct err *err);
void chromium_free(struct chromium_list *list); /* NULL is allowed */

#endif

/* One line of a list of calls: the call, then the frames inside it. Private to this room. */
#ifndef SYMTAPE_PROFILE_CALLS_VALUES_CALL_ROW_H
#define SYMTAPE_PROFILE_CALLS_VALUES_CALL_ROW_H

#include "profile/calls/values/call_log.h"
#include "trace/base/text/json.h"

struct row_reader {
    struct call_log *log;
    struct json doc;
    struct buf spelled;
    vec_of(struct program_call)
    calls; /* of the line that was read last; without objects */
    vec_of(uint64_t)
    modules;               /* the modules of that line: its objects after the first n_objects */
    uint32_t n_objects;    /* that the line numbers */
    bool states_inference; /* lines state which tensors were made in inference mode */
    struct err *err;
};

/* Reads a line whose objects have the numbers from 0 to n_objects - 1. A line that is no call has
 * no calls. Returns false with err set: ERR_INPUT, or when memory ran out. */
bool call_row_read(struct row_reader *in, struct str line, uint32_t n_objects, struct err *err);
void row_reader_release(struct row_reader *in);

#endif

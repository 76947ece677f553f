/* A line of a list of calls without what differs from call to call: the call's number, the numbers
 * of its objects, and its time. Private to this room.
 *
 *     {"call": 17, "function": "f", "args": [{"obj": 950, ...}, {"obj": 951, ...}], "seconds":
 * 2e-5}
 *     {"call": 0, "function": "f", "args": [{"obj": 0, ...}, {"obj": 1, ...}], "seconds": 0}
 *
 * Objects are numbered from 0 in the order in which the line names them, so that two lines are
 * alike if they differ in which objects they name alone. A number that is not written as expected
 * stays as it is. */
#ifndef SYMTAPE_PROFILE_CALLS_VALUES_CALL_LINE_H
#define SYMTAPE_PROFILE_CALLS_VALUES_CALL_LINE_H

#include "profile/calls/values/call_log.h"

/* The objects of all calls, each named by a number, and numbered from 0 in the order in which they
 * were first seen. */
struct call_objects {
    vec_of(uint64_t)
    names;
    vec_of(bool)
    inference; /* first seen in a call in inference mode, so made in it */
    vec_of(uint64_t)
    line_of; /* the line that named it last, and its number there */
    vec_of(uint32_t)
    in_line;
    struct hash_index index;
};

/* Returns the number of an object; INTERN_NONE when memory ran out. */
uint32_t call_object(struct call_objects *objects, uint64_t name);
void call_objects_release(struct call_objects *objects);

struct call_line {
    struct buf text;
    bool has_number;
    uint64_t number;
    vec_of(uint32_t)
    objects; /* by their number in the line */
};

/* Reads line number `line`, which is greater than those of lines before. Returns false when memory
 * ran out. */
bool call_line_read(struct call_line *ret, struct str text, uint64_t line,
                    struct call_objects *objects);
void call_line_release(struct call_line *line);

#endif

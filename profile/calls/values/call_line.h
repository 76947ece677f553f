/* A line of a list of calls without what differs from call to call: the call's number, those of the
 * call whose backward it is and of the call inside which it was made, the numbers of its objects,
 * and its time. Private to this room.
 *
 *     {"call": 17, "backward_of": 16, "args": [{"obj": 950, ...}, {"obj": 951, ...}], "seconds":
 * 2e-5}
 *     {"call": 0, "backward_of": 0, "args": [{"obj": 0, ...}, {"obj": 1, ...}], "seconds": 0}
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
    inference;     /* first seen in a call in inference mode, so made in it */
    uint64_t line; /* number of lines that were read */
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
    bool has_number, has_backward_of, has_parent; /* they stood at the start of the line */
    uint64_t number, backward_of, parent;
    vec_of(uint32_t)
    objects; /* by their number in the line */
};

/* Returns false when memory ran out. */
bool call_line_read(struct call_line *ret, struct str text, struct call_objects *objects);

/* Reads a call that a tape has as the difference from a row: numbers and objects, without `text`.
 * `names`: the objects of the row's line, in their order. *same is false where
 * the line of the call has another form than that of the row, as it names one object where the row
 * names two, or has numbers with more than 18 digits. */
bool call_line_of_row(struct call_line *ret, const struct recorded_call *call,
                      const uint64_t *names, size_t n_names, struct call_objects *objects,
                      bool *same);
void call_line_release(struct call_line *line);

#endif

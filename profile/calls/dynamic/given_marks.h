/* Marks that a user names, "L['x']:0,L['n']": a source with a dimension, or all of its dimensions.
 *
 *     struct given_marks given = { 0 };
 *     if (given_marks_read(&given, "L['x']:0,L['n']", &log->sources, &err))
 *         ... given_marks_take(&given, code, proposal.marks) for each code object ...
 *         ok = given_marks_check(&given, table, &err);
 *     given_marks_release(&given); */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_GIVEN_MARKS_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_GIVEN_MARKS_H

#include "profile/calls/dynamic/code_calls.h"

struct given_mark {
    struct str text; /* as it was given */
    uint32_t source; /* INTERN_NONE: no call and no guard has it */
    bool all;        /* of its dimensions */
    uint64_t dim;
    bool fixed; /* some code object has it, as a constant whatever the settings are */
    bool found;
};

struct given_marks {
    vec_of(struct given_mark)
    marks;
};

/* Reads a list, which has to live as long as `given`. Returns false with err set when memory ran
 * out. */
bool given_marks_read(struct given_marks *given, const char *list, const struct intern *sources,
                      struct err *err);
/* Sets `marks`, by slot, of a code object. Returns how many were set. */
uint32_t given_marks_take(struct given_marks *given, const struct code_calls *code, uint8_t *marks);
/* Returns false with err set if some mark is about no input of any code object. */
bool given_marks_check(const struct given_marks *given, const struct calls_table *table,
                       struct err *err);
void given_marks_release(struct given_marks *given);

#endif

/* The calls of a program with values that stay the same: what a plan holds is given to each call,
 * and taken back afterwards.
 *
 *     struct held_calls held = { 0 };
 *     ok = held_calls_begin(&held, log, plan);
 *     ... replay the calls of log ...
 *     held_calls_end(&held, log); */
#ifndef SYMTAPE_PROFILE_ADVICE_HELD_CALLS_H
#define SYMTAPE_PROFILE_ADVICE_HELD_CALLS_H

#include "profile/advice/call_plan.h"
#include "profile/calls/values/call_log.h"

struct held_calls {
    struct arena arena;
    struct program_call *saved; /* as the log had them; NULL: nothing is held */
};

/* Returns false when memory ran out; the log is then as it was. */
bool held_calls_begin(struct held_calls *held, struct call_log *log, const struct call_plan *plan);
void held_calls_end(struct held_calls *held, struct call_log *log);

/* Returns whether a call is one of a hold's frame. */
bool held_call_is_of(const struct program_call *call, int64_t frame);
/* Sources of tensors that do not follow. */
struct held_apart {
    const uint32_t *sources;
    size_t n;
};
/* Gives a tensor of a call another size; a contiguous one stays contiguous. Other tensors that had
 * the same size in that dimension follow, as labels follow a padded batch. The memory is that of
 * `held`. Returns false when memory ran out. */
bool held_resize(struct held_calls *held, struct program_call *call, uint32_t at, uint32_t dim,
                 int64_t size, struct held_apart apart);

#endif

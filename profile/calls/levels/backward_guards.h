/* Guards that only the backward of a graph asks: those that were added while Dynamo traced the
 * backward of an autograd.Function (trace_backward_graph() in
 * torch/_dynamo/variables/higher_order_ops.py), or while AOTAutograd traced through autograd's
 * engine (_engine_run_backward() in torch/autograd/graph.py).
 *
 * PyTorch checks them with the forward's. With levels they choose among artifacts of the backward,
 * so that an entry answers a call if the rest of its guards pass. */
#ifndef SYMTAPE_PROFILE_CALLS_LEVELS_BACKWARD_GUARDS_H
#define SYMTAPE_PROFILE_CALLS_LEVELS_BACKWARD_GUARDS_H

#include "profile/calls/dynamic/code_calls.h"

/* An entry that has such guards. */
struct forward_entry {
    uint32_t entry;             /* in cache_run.entries */
    struct entry_guards guards; /* without them */
};

struct backward_guards {
    struct calls_table *table;
    uint32_t recording;
    struct intern compiles; /* those with such guards */
    struct intern places;   /* compile and place of each guard */
    vec_of(uint8_t)
    askers; /* by place: who asks there, a set of bits */
    vec_of(struct forward_entry)
    entries;              /* in the order of their compiles */
    uint32_t *forward_of; /* by entry of cache_run: that of `entries` whose forward runs in its
                             place, or CALL_NONE */
};

/* Returns false with err set when memory ran out or the tape could not be read. */
bool backward_guards_make(struct backward_guards *ret, struct calls_table *table,
                          uint32_t recording, struct err *err);
/* Sets *ret to the entry whose forward runs for a look-up under levels; look-ups are given in their
 * order. Returns false when memory ran out. */
bool backward_guards_forward(struct backward_guards *guards, uint32_t lookup, uint32_t *ret);
void backward_guards_release(struct backward_guards *guards);

#endif

/* Which code object of the tape the calls of a function are: the one that they name (and
 * whose frame id they tell, since resume functions may share a name), or else, among those of its
 * name, the one whose compile comes next on the tape. A name that the tape does not
 * have stands for a code object that no other function is. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CODE_CHOICE_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CODE_CHOICE_H

#include "profile/calls/cache/region_set.h"
#include "profile/calls/cache/tape_compiles.h"
#include "profile/calls/guards/condition.h"
#include "profile/calls/values/call_log.h"

/* What happened to a code object beside its entries. */
struct code_state {
    uint64_t next; /* number of the next compile */
    vec_of(uint32_t)
    unused; /* by compile: one from it on, up to which none is unused: see code_unused() */
    vec_of(condition_id)
    rejected; /* by compile: a condition that it demands and that an earlier call did not meet, in
                 cache_builder.rejections; CONDITION_NONE */
    bool skipped; /* its frame is never looked up again */
    bool claimed; /* calls of a function are its calls */
    bool guessed; /* those of the function `calls_of`, which has another name */
    struct str calls_of;
    bool confirmed; /* a compile was logged with a reason that the values of a call give, too */
    struct region_set run_only;
};

struct queued_compile {
    uint32_t code;
    uint32_t name, order; /* of its code object; its own among all compiles */
    uint64_t number;
};

/* The compiles of the code objects of one name. */
struct compile_queue {
    uint32_t code;       /* the first code object of the name */
    uint32_t first, end; /* in code_choice.by_name, without those that are done */
};

struct code_choice {
    const struct tape_compiles *tape; /* borrowed */
    vec_of(struct code_state)
    states; /* by code object, as tape_compiles.codes */
    struct intern full_names;
    vec_of(uint32_t)
    named; /* by full name: the first code object that has it */
    struct intern names;
    vec_of(struct compile_queue)
    queues; /* by name */
    vec_of(struct queued_compile)
    by_name; /* sorted by name, then by order */
    vec_of(struct queued_compile)
    by_order;
    uint32_t next,
        next_code;           /* what is before them in by_order and tape.codes is done or claimed */
    struct intern functions; /* names and code objects of calls */
    vec_of(uint32_t)
    chosen;              /* by function */
    uint64_t generation; /* of compile ids: code objects of others are not chosen */
    struct buf key;
};

/* Returns false when memory ran out. */
bool code_choice_init(struct code_choice *choice, const struct tape_compiles *tape);
/* Sets *ret to the code object of a call, or to CALL_NONE when the tape has none for it. Returns
 * false when memory ran out. */
bool code_choice_make(struct code_choice *choice, const struct program_call *call, uint32_t *ret);
/* Compile ids began again at 0/0: calls from now on are those of other code objects, of their
 * generation. */
void code_choice_begin(struct code_choice *choice, uint64_t generation);
/* A compile that has guards makes one entry. Returns the index of the first from `at` on that made
 * none yet; the number of compiles if there are no more. */
size_t code_unused(struct code_state *state, size_t at);
void code_use(struct code_state *state, size_t at);
/* Makes the next compile one that was not used before its turn. */
void code_skip_used(const struct tape_code *code, struct code_state *state);
void code_choice_release(struct code_choice *choice);

/* Writes "FILE:LINE:NAME". */
void put_code_name(const struct tape_code *code, struct buf *out);

#endif

/* A run of Dynamo's caches while it is made. Private to this room. What returns bool returns false
 * with b->err set when memory ran out. */
#ifndef SYMTAPE_PROFILE_CALLS_CACHE_CACHE_BUILDER_H
#define SYMTAPE_PROFILE_CALLS_CACHE_CACHE_BUILDER_H

#include "profile/calls/cache/cache_run.h"
#include "profile/calls/cache/check_memo.h"
#include "profile/calls/cache/code_choice.h"

/* The reason of an entry of another backend; PyTorch's goes on with what both are. */
#define BACKEND_MISMATCH \
    "BACKEND_MATCH failure: torch.compile detected different backend callables."

/* A check that failed by a size or stride, so that its reason is worded once. */
struct sized_check {
    uint32_t entry, leaf;
    struct dim_mismatch dim;
    uint32_t check; /* in cache_run.found */
};

/* A call as its backward sees it. */
struct forward_call {
    uint64_t number;
    uint32_t first, n; /* its look-ups, in run->lookups */
    uint32_t entry;    /* that answered it, or CALL_NONE */
    uint32_t look;     /* which of run->lookups it answered, or CALL_NONE */
    bool is_unknown;   /* it is not known which did, or several did */
};

struct cache_builder {
    struct cache_run *run;
    struct trace *trace;
    struct call_log *log;
    const struct cache_options *options;
    struct tape_compiles tape;
    struct code_choice choice;
    vec_of(uint32_t)
    form_codes;      /* by form: code object plus 2, 1 for none, or 0 before the first call */
    uint64_t resets; /* how often all entries were forgotten */
    struct intern met_eagerly; /* code objects that a stance did not compile at their first call */
    struct world world;
    bool entered; /* the values of the present call are those of the world */
    struct check_memo memo;
    vec_of(struct sized_check)
    sized;
    struct hash_index sized_index;
    uint32_t kind;           /* of the present call */
    uint32_t tries, widened; /* number of trees that were read; code object of an assumed entry */
    uint64_t rejects;        /* number of evaluations of `rejections` */
    struct condition_pool rejections;
    struct arena rejection_texts;
    vec_of(struct forward_call)
    forwards;
    struct hash_index forward_index; /* of forwards, by number */
    size_t n_forwards;               /* number of look-ups that they are made of */
    struct buf reason;
    bool by_evidence; /* a call that an entry answers by assumption compiled, if what the tape's
                         next compile logged fits it */
    struct err *err;
};

/* Returns the next compile of a code object, or NULL. */
const struct tape_compile *cache_compile_of(const struct cache_builder *b, uint32_t code);
/* Returns whether what happened need not be what the tape says. */
bool cache_is_what_if(const struct cache_builder *b);

/* Makes the values of the present call those of the world. */
bool cache_enter(struct cache_builder *b, const struct program_call *call);
/* Checks the entries of a list that serve the region: its own first, then those of no region. Sets
 * row->answered to the one that passes first, or CALL_NONE. */
bool cache_look_up(struct cache_builder *b, struct cache_code *code,
                   const struct program_call *call, struct lookup_row *row);
void cache_move_to_front(struct cache_code *code, uint32_t entry);
/* Learns what the guards of the entry that answered say of the module's attributes. */
bool cache_learn(struct cache_builder *b, uint32_t id, const struct program_call *call);

/* Compiles a call that no entry answers, or tells why it is not compiled. The call was entered. */
bool cache_compile_call(struct cache_builder *b, const struct program_call *call,
                        struct lookup_row *row);

/* Decides what runs the backward of a call: call `number` of the log. */
bool cache_backward_call(struct cache_builder *b, uint32_t number);

#endif

/* The calls of one code object, and the entries that the tape has for it, taken apart: what their
 * guards say of sizes and numbers, and the rest of them. A policy puts entries together from both.
 */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_CODE_CALLS_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_CODE_CALLS_H

#include "profile/calls/cache/cache_run.h"
#include "profile/calls/cache/tape_compiles.h"
#include "profile/calls/dynamic/choose_dim.h"
#include "profile/calls/dynamic/frame_nesting.h"

#define NO_ENTRY UINT32_MAX

/* A tensor, int or float that guards of the code object name and that its calls give. */
struct code_input {
    uint32_t source;
    bool fixed;          /* is_fixed_input() */
    bool is_tensor;      /* in some call */
    uint32_t rank;       /* the greatest; 1 for a number */
    uint32_t first_slot; /* each dimension is a slot of the code object; a number is one */
};

/* A comparison that a compile made with its symbols. */
struct size_condition {
    condition_id id;
    bool by_python;  /* Python code asked, not an operator */
    bool duck;       /* duck sizing added it */
    uint32_t pinned; /* the slot that it compares with one constant ("s == 3"); or NO_ENTRY */
    uint32_t first_slot, n_slots; /* in known_entry.slots: what it is about */
};

/* What an entry says of one input. */
struct known_input {
    uint32_t input;
    enum py_kind kind; /* PY_TENSOR, PY_INT or PY_FLOAT */
    uint32_t n, first; /* dimensions, in known_entry.dims; one for a number */
};

struct known_dim {
    int64_t size;  /* or the value of an int; ANY_SIZE: a symbol */
    bool expected; /* it was to be a symbol by the settings that were recorded */
};

/* Returns whether a dimension or number was to be a symbol and the code made a constant of it.
 * Sizes 0 and 1 are constants whatever the code does. */
static inline bool is_made_constant(const struct known_input *input, const struct known_dim *dim)
{
    return dim->expected && dim->size != ANY_SIZE &&
           (input->kind != PY_TENSOR || (uint64_t)dim->size > 1);
}

/* An entry that the tape has. */
struct known_entry {
    struct str compile;
    uint32_t id;          /* in cache_run.entries */
    uint32_t call;        /* that compiled it, in the log */
    double seconds;       /* of its compile */
    double guard_seconds; /* of its guards, once; 0 if it is not recorded */
    bool any_symbol;
    struct entry_guards guards; /* without what they say of inputs that are not fixed */
    vec_of(struct size_condition)
    conditions;
    vec_of(uint32_t)
    slots;
    vec_of(struct known_input)
    inputs;
    vec_of(struct known_dim)
    dims;
    vec_of(int64_t)
    unlisted; /* sizes of tensors that no call gives, from 2 on, but for parameters */
};

/* Calls with the same values. */
struct call_class {
    uint32_t call;    /* the first one, in the log */
    uint32_t context; /* calls with the same values but for sizes and numbers have the same */
    uint32_t entry;   /* a known entry that answered one of them or was compiled by it, NO_ENTRY */
    bool failed;      /* its compile made no entry */
    bool raised;      /* ... because it raised, so that the frame is looked up again */
};

struct code_call {
    uint32_t lookup, class; /* in cache_run.lookups, in code_calls.classes */
};

/* What a compile of the tape did to what is remembered. */
struct compile_states {
    uint32_t lookup, entry;           /* in cache_run.lookups, in code_calls.entries */
    uint32_t first_change, n_changes; /* in code_calls.changes */
    uint32_t first_symbol, n_symbols; /* in code_calls.symbols */
};

struct code_calls {
    uint32_t code; /* in cache_run.codes */

    uint32_t peer; /* in calls_table.codes: the next of those that share what is remembered */
    struct dynamic_settings settings; /* as recorded, or PyTorch's defaults */
    bool settings_read;
    vec_of(struct code_call)
    calls;
    vec_of(struct call_class)
    classes;
    vec_of(struct known_entry)
    entries;
    vec_of(struct code_input)
    inputs;
    struct hash_index input_index; /* by source */
    uint32_t n_slots;
    uint8_t *read;   /* by slot: Python code read it, as some condition tells */
    uint8_t *pinned; /* by slot: a compile compared it with one constant, so that mark_dynamic()
                        would raise; maybe_mark_dynamic() does not */
    uint64_t recompile_limit;
    uint8_t *passes;            /* by entry and class: 0 unknown, 1 pass, 2 fail; or NULL */
    struct frame_state initial; /* of the profile that the process read */
    struct frame_state state;   /* at the end */
    state_changes changes;
    vec_of(uint32_t)
    symbols; /* slots */
    vec_of(struct compile_states)
    compiles;
};

struct calls_table {
    struct arena arena;
    struct trace *trace;
    struct call_log *log;
    const struct cache_run *run;
    struct world world;
    struct frame_nesting nesting;
    uint32_t entered; /* the present call, in the log; CALL_NONE */
    vec_of(struct code_calls)
    codes;
    struct intern classes, contexts; /* keys */
    struct buf key;
};

/* Reads the calls, and the trees of their compiles, and forms the inputs. Returns false with err
 * set when memory ran out or the tape could not be read. */
bool calls_table_make(struct calls_table *table, struct trace *trace, uint32_t recording,
                      struct call_log *log, const struct cache_run *run, struct err *err);
void calls_table_release(struct calls_table *table);

/* The second step of calls_table_make(), for one code object: takes sizes and numbers out of the
 * guards of its entries (code_inputs.c). Returns false when memory ran out. */
bool code_inputs_make(struct calls_table *table, struct code_calls *code);
/* Replays what the compiles of the tape remembered, from code->initial on, for a code object that
 * is the first of its peers: fills state, changes, symbols and compiles of each of them. Returns
 * false when memory ran out. */
bool code_states_make(struct calls_table *table, struct code_calls *code);

/* Makes the values of a call the present ones. Returns false when memory ran out. */
bool calls_enter(struct calls_table *table, uint32_t call);
/* Sets *ret to whether the guards of a known entry, those of sizes left out, pass on a class.
 * Returns false when memory ran out. */
bool known_entry_passes(struct calls_table *table, struct code_calls *code, uint32_t entry,
                        uint32_t class, bool *ret);
/* Returns the input of a source, or NO_ENTRY. */
uint32_t code_input_of(const struct code_calls *code, uint32_t source);
/* Returns the value of an input in the present call, or NULL if it is none that could be a symbol.
 */
const struct py_value *input_value(struct calls_table *table, const struct code_input *input);
/* Returns the input that a slot is a dimension of. */
uint32_t code_input_of_slot(const struct code_calls *code, uint32_t slot);
/* Returns the entry that has this number in cache_run.entries, or NULL. */
const struct known_entry *known_entry_of(const struct code_calls *code, uint32_t id);
/* Returns what an entry says of an input, or NULL. */
const struct known_input *known_input_of(const struct known_entry *entry, uint32_t input);
/* Evaluates a condition on the present call; what cannot be decided holds. */
bool condition_holds(struct calls_table *table, const struct entry_guards *guards,
                     condition_id condition);

#endif

/* Private to the room: a result that is being built, and its steps. */
#ifndef SYMTAPE_PROFILE_WHY_WHY_BUILD_H
#define SYMTAPE_PROFILE_WHY_WHY_BUILD_H

#include "profile/why/why_make.h"
#include "profile/why/why_name.h"
#include "replay/attempt/replay_state.h"
#include "trace/events/compile_config.h"
#include "trace/events/guard_tree.h"
#include "trace/events/metrics.h"

/* What the records of one attempt say about its inputs. */
struct why_attempt {
    uint32_t attempt;
    struct inputs inputs;
    struct str tree; /* the guards that are checked at each call, or "" */
    struct compile_config config;
    bool exported; /* it belongs to torch.export: no frame was compiled */
};

struct why_build {
    struct why_answer why; /* first, because it is what the caller sees and frees */
    struct trace *trace;
    const struct why_options *options;
    const struct symbol_table *symbols;
    const struct guard_list *guards;
    struct metrics_list *metrics;
    struct why_name name; /* the target as a source */
    struct arena arena;
    vec_of(uint32_t)
    attempts; /* those that have the target, the one to explain first */
    vec_of(struct why_size)
    sizes;
    vec_of(struct why_event)
    events;
    vec_of(struct why_step)
    steps;
    vec_of(struct why_difference)
    differences;
    vec_of(struct str)
    notes;
    vec_of(struct str)
    known;
};

/* ---- Attempts (why_attempt.c) ---- */

bool why_attempt_read(struct why_build *b, uint32_t attempt, struct why_attempt *ret,
                      struct err *err);
void why_attempt_release(struct why_attempt *a);
/* The description of a tensor in an attempt. */
struct why_description {
    uint32_t record;   /* describe_tensor; TRACE_NONE if the attempt does not have the tensor */
    struct str source; /* as recorded: "L['x']" */
    bool parameter;
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM], offset;
};
bool why_describe(struct why_build *b, uint32_t attempt, struct str plain,
                  struct why_description *ret, struct err *err);
/* Returns the tensor of a recorded source, or NULL. */
const struct input_tensor *why_find_tensor(const struct why_attempt *a, struct str source);
/* Returns the compile and attempt as users write them: "0/1", "0/1_1" for a restarted attempt. */
struct str why_compile(struct why_build *b, uint32_t attempt);
/* Returns the compile's metrics, or NULL. */
const struct metrics *why_metrics(const struct why_build *b, uint32_t attempt);
struct why_line why_user_line(const struct why_build *b, uint32_t record, stack_id stack);
/* Returns formatted text in the arena; .p is NULL when memory ran out. */
struct str why_printf(struct why_build *b, const char *fmt, ...) ERR_PRINTF(2, 3);

/* ---- What the tree of guards says (why_tree.c) ---- */

/* Returns whether the tree says that a mark ("_dynamo_static_indices") names the size. */
bool why_tree_marks(struct str tree, struct str source, const char *mark, uint32_t dim);
/* Finds "SOURCE == VALUE" among the guards of a kind ("LAMBDA_GUARD", "EQUALS_MATCH"). */
bool why_tree_equals(struct str tree, const char *kind, struct str source, struct tree_guard *ret,
                     struct str *value);
/* Finds "EXPR == SOURCE". */
bool why_tree_equal_to(struct str tree, struct str source, struct str *ret);
bool why_is_duck_guard(const struct tree_guard *guard);

/* Finds the last guard of a kind whose source is `plain`: EQUALS_MATCH of a number. Returns false
 * when there is none. */
bool why_tree_number(struct why_build *b, struct str tree, struct str plain, struct str *source,
                     struct tree_guard *ret, struct str *value);

/* ---- Earlier compiles of the same function (why_earlier.c) ---- */

struct why_earlier {
    bool changed;           /* the size or number had another value in an earlier compile */
    bool seen;              /* an earlier compile has it at all */
    uint32_t before, after; /* the attempts with the first value, and with the next one */
    struct str first, next;
};
bool why_earlier_values(struct why_build *b, uint32_t attempt, const struct why_name *name,
                        struct why_earlier *ret, struct err *err);

/* ---- Steps ---- */

/* Each returns false with err set when memory ran out or the tape could not be read. */

/* A size or number in an attempt: state, reason, evidence (why_reason.c). *found is false when
 * the attempt does not have it. */
bool why_size_of(struct why_build *b, const struct why_attempt *a, const struct why_name *name,
                 struct why_size *ret, bool *found, struct err *err);
bool why_size_of_symbol(struct why_build *b, const struct why_attempt *a, struct str symbol,
                        struct why_size *ret, bool *found, struct err *err);
/* Returns whether a name of the user's, in any spelling, is that of the symbol or of its source. */
bool why_is_named(struct why_build *b, const struct symbol *symbol, struct str name);
const struct symbol *why_find_symbol(const struct why_build *b, uint32_t attempt, struct str name);

/* Returns whether a recorded expression has the symbol. */
bool why_mentions(struct str expr, struct str symbol);

/* The history of a size: its events, and what it is at the end (why_history.c). `keep`: whether to
 * keep the events. */
bool why_follow(struct why_build *b, const struct why_attempt *a, struct why_size *size, bool keep,
                struct err *err);

/* The guards that tell two values of a size apart (why_between.c). */
bool why_compare(struct why_build *b, const struct why_attempt *a, const struct why_size *size,
                 struct err *err);

/* Finds the target among the guards, or the nodes of graphs, and explains it; sets b->why.kind when
 * it is there. */
bool why_find_guard(struct why_build *b, struct err *err); /* why_guard.c */
bool why_find_node(struct why_build *b, struct err *err);  /* why_node.c */
/* Adds a size with its history to the result, `keep` as for why_follow(). */
bool why_add_size(struct why_build *b, const struct why_attempt *a, struct why_size *size,
                  bool keep, struct err *err);
bool why_is_selected(const struct why_build *b, uint32_t attempt);
/* Puts the attempt to explain first: the last that was kept, of the function that comes first. */
void why_order_attempts(struct why_build *b);

/* An environment with the symbols of an attempt, as recorded (why_env.c). */
bool why_env_open(struct why_build *b, uint32_t attempt, struct replay_state *ret, struct err *err);
sym_id why_env_parse(struct replay_state *state, struct str text); /* SYM_NONE: not an expression */

/* The answer in one sentence (why_answer.c). */
bool why_set_answer(struct why_build *b, struct err *err);

#endif

/* The guards of an attempt: the recorded ones, matched with those that the replay added.
 *
 * Guards that the calls of nodes added are computed: rules have to add them. The others (the user's
 * own branches, those of the backend) are applied at their position in time: right after the guards
 * of calls that were recorded before them were replayed. A guard of a call that no rule added is
 * applied, too, once a later one was replayed, unless a kernel asked for it. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_GUARD_LOG_H
#define SYMTAPE_REPLAY_ATTEMPT_GUARD_LOG_H

#include "replay/program/program.h"
#include "trace/base/hash_index.h"
#include "trace/events/guards.h"
#include "trace/graphs.h"

enum guard_status {
    GUARD_STATUS_PENDING,
    GUARD_STATUS_APPLIED,    /* from the record: no rule added it */
    GUARD_STATUS_REPRODUCED, /* computed: a rule, or the making of an input, added it */
    GUARD_STATUS_MISSING,    /* a kernel asked for it, and no rule added it */
    GUARD_STATUS_INVISIBLE,  /* none of its symbols occurs in a printed graph */
    GUARD_STATUS_NO_GRAPH,   /* a kernel asked for it in calls that no recorded graph holds */
    GUARD_STATUS_EXTRA       /* added by a rule, and not recorded */
};

struct guard_entry {
    const struct guard *guard; /* NULL for an extra guard */
    struct str text;           /* only for an extra guard */
    sym_id canonical;          /* SYM_NONE when its text cannot be parsed */
    sym_id expr;
    sym_id added; /* the guard that the replay added for it; SYM_NONE: none */
    enum guard_status status;
    uint32_t next; /* the next entry of its guard_form; UINT32_MAX: there is none */
    bool read;     /* its text was parsed, if it can be */
    bool denied;   /* it is false at the hints, and was not applied */
    bool has_node; /* a node added it: graph and node identify it */
    uint32_t graph, node;
    const char *rule;
};

/* The recorded guards of one canonical form, in the order in which they were parsed. */
struct guard_form {
    sym_id canonical;
    uint32_t pending; /* those before it are not pending any more; UINT32_MAX: none is */
    uint32_t last;
    uint32_t matched; /* the first one that is applied or reproduced; UINT32_MAX: none is */
};

/* Where the replay of an attempt ends before its last graph. A guard of the program's own Python
 * code that is false at other hints means that the program goes another way there: the calls and
 * guards after it are those of another program. */
struct guard_stop {
    bool at_branch;  /* at the first such guard */
    uint32_t record; /* or at the guard of this record; TRACE_NONE: at none */
};
#define GUARD_STOP_NEVER ((struct guard_stop){ .record = TRACE_NONE })

/* What is applied instead of a recorded guard that is false at the hints. */
enum denied_guard {
    DENIED_NOTHING,
    DENIED_VALUE, /* of an equality: that with the value at the hints, as if its number were wrong
                   */
    DENIED_NEGATION,
    DENIED_GUARDS
};

/* A text that was parsed. Guards repeat: of 3,737 in a detection model, 2,034 texts differ. */
struct parsed_text {
    struct str text;
    sym_id expr;
};

struct guard_log {
    struct shape_env *env;
    struct hash_index by_text;
    vec_of(struct parsed_text)
    texts;
    enum denied_guard instead;
    uint32_t n_denied;
    struct guard_stop stop;
    bool ended;                 /* as `stop` says, */
    uint32_t last;              /* at the guard of this record */
    const struct guard *branch; /* the guard at which the program goes another way, or NULL */
    vec_of(struct guard_entry)
    entries; /* the recorded ones in order, then the extra ones */
    uint32_t n_recorded, head;
    uint32_t n_confirmed; /* the entries at the time when a guard was reproduced last */
    vec_of(struct guard_form)
    forms;
    struct hash_index form_index; /* of forms by their canonical form */
    uint32_t first_unread;        /* those before it were parsed, or are not pending */
    uint32_t conceded;            /* guard_log_concede() has looked at those before it */
    uint32_t seen;                /* how many of env_n_guards() were matched */
    bool backward;                /* the calls being replayed are those of autograd's formulas */
    uint64_t last_change;         /* the state at the last check whether a guard is known */
    sym_resolver *symbol;
    void *user;
    bool failed;
};

/* Takes the attempt's guards from record `from` on, before record `end` (TRACE_NONE: all); none is
 * parsed until it is needed. */
bool guard_log_init(struct guard_log *log, const struct guard_list *list, uint32_t attempt,
                    uint32_t from, uint32_t end, struct shape_env *env, sym_resolver *symbol,
                    void *user);
void guard_log_release(struct guard_log *log);
/* Parses a text of the record, which must outlive the log, once; SYM_NONE: it is no expression. */
sym_id guard_log_parse(struct guard_log *log, struct str text);

/* Parses all recorded guards, so that each entry has its `expr`. */
void guard_log_parse_all(struct guard_log *log);

/* Returns whether a condition is false at the hints: PyTorch adds what is true, a condition or its
 * negation (evaluate_expr and _log_guard of torch/fx/experimental/symbolic_shapes.py). */
bool guard_is_denied(struct shape_env *env, sym_id expr);

/* Sets whether the calls to come are those of autograd's formulas, whose own conditions are due. */
void guard_log_set_backward(struct guard_log *log, bool backward);
/* Applies guards that are due: those recorded before `record`, as far as the guards of calls among
 * them were replayed, or all of them with `all`. False: out of memory. */
bool guard_log_apply(struct guard_log *log, uint32_t record, bool all);
/* Applies kernel guards before `record` that no rule added, each once: the record that is given
 * only grows. They still count as missing. This is
 * for sizes of inputs that could not be compared otherwise (an equality may have renamed a symbol
 * in all of a graph, including the call that added it). */
bool guard_log_concede(struct guard_log *log, uint32_t record);
/* Matches the guards that the environment added since the last call. */
bool guard_log_gather(struct guard_log *log);
/* Returns whether a recorded guard is none of a replay whose inputs differ from the record: it was
 * not added, because it is known there or has no symbols left, or torch.export does not ask. */
bool guard_log_is_gone(struct guard_log *log, struct guard_entry *entry, bool exported);
/* Takes what another log of the same attempt reproduced, and, with `extra`, its extra guards that
 * came before the last of that. False: out of memory. */
bool guard_log_take(struct guard_log *log, struct guard_log *from, bool extra);
/* Returns whether the replay ended before it reached a recorded guard. */
bool guard_log_ended_before(const struct guard_log *log, const struct guard_entry *entry);
/* Sets the status of the remaining guards, unless the replay ended before them. visible: returns
 * whether a symbol of that name was printed in a graph; graphless: the record from which on no
 * graph holds the attempt's calls, 0 if it has no graph. */
void guard_log_finish(struct guard_log *log, bool (*visible)(void *user, struct str symbol),
                      void *user, uint32_t graphless);

/* Returns the first record whose guards may be those of the list's graph `ref`, which is outside
 * compiles: what follows the one before it in its recording. */
uint32_t guard_log_first_outside(const struct trace *trace, const struct graph_list *list,
                                 uint32_t ref);

#endif

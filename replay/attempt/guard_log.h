/* The guards of an attempt: those that the record tells, beside those that the replay added.
 *
 * Recorded guards that no node can ask for (dynamo, torch function, backend, user) are applied at
 * their place in time: right after the kernel guards that were recorded before them have come.
 * Kernel guards are never applied; the operators' rules have to ask for them. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_GUARD_LOG_H
#define SYMTAPE_REPLAY_ATTEMPT_GUARD_LOG_H

#include "replay/program/program.h"
#include "trace/events/guards.h"

enum guard_fate {
    FATE_PENDING,
    FATE_APPLIED,    /* of a class that no node asks for */
    FATE_REPRODUCED, /* a kernel guard that a rule asked for */
    FATE_MISSING,
    FATE_INVISIBLE, /* all its symbols were gone before a graph was printed */
    FATE_NO_GRAPH,  /* its attempt holds none */
    FATE_EXTRA      /* asked for by a rule, and not recorded */
};

struct guard_entry {
    const struct guard *guard; /* NULL: extra */
    struct str text;           /* of an extra one */
    sym_id canonical;          /* SYM_NONE: does not read */
    sym_id expr;
    enum guard_fate fate;
    bool asked; /* by a node: graph and node tell which */
    uint32_t graph, node;
    const char *rule;
};

struct guard_log {
    struct shape_env *env;
    vec_of(struct guard_entry)
    entries; /* recorded ones in order, then extra ones */
    uint32_t n_recorded, head;
    uint32_t seen;        /* of env_n_guards() */
    uint64_t last_change; /* of what decides whether a guard is known, when it was last asked */
    sym_resolver *symbol;
    void *user;
    bool failed;
};

/* Those of the attempt; nothing is read into the environment until it is needed. */
bool guard_log_init(struct guard_log *log, const struct guard_list *list, uint32_t attempt,
                    struct shape_env *env, sym_resolver *symbol, void *user);
void guard_log_release(struct guard_log *log);

/* Applies what is due: records before `record`, as far as kernel guards in between have come, or
 * all of them with `all`. False: out of memory. */
bool guard_log_apply(struct guard_log *log, uint32_t record, bool all);
/* Applies kernel guards before `record` that no rule asked for. They count as missing all the same:
 * it is for sizes of inputs that could not be compared otherwise (an equality may have renamed a
 * symbol in all of a graph, the call that asked for it included). */
bool guard_log_concede(struct guard_log *log, uint32_t record);
/* Takes in what the environment gained since. */
bool guard_log_gather(struct guard_log *log);
/* The fates of what is left. visible: a symbol of that name was printed in a graph; n_graphs: of
 * the attempt. */
void guard_log_finish(struct guard_log *log, bool (*visible)(void *user, struct str symbol),
                      void *user, uint32_t n_graphs);

#endif

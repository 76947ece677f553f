/* Private to the diagnosis: recompiles by cause. Those of one function for which the same guard
 * failed (of the same size, of the same value) are one group. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_RECOMPILE_GROUPS_H
#define SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_RECOMPILE_GROUPS_H

#include "profile/diagnosis/finder.h"
#include "profile/diagnosis/recompiles/compile_inputs.h"
#include "trace/events/incidents/recompile_guard.h"

struct recompile_group {
    struct recompile_guard guard; /* of the first recompile */
    struct str text;              /* the whole reason of the first recompile */
    uint32_t first, last;         /* recompiles of the profile */
    uint32_t count;
    uint32_t compile, newest; /* of the profile: that of the first recompile, and the last one that
                                 ended well; PROFILE_NONE */
    int64_t ns; /* of their compiles, without attempts that were discarded; -1: not known */
    struct str file, code; /* the user's line; "" */
    uint32_t line;
    vec_of(struct str)
    values;                    /* different ones, in the order in which they were found */
    bool has_more_values;      /* than are listed */
    struct str marks, sources; /* mark_dynamic() calls for all sizes that changed; their tensors */
    struct str inputs;         /* tensors that only the first or the newest compile has */
    bool module_call;          /* the compiled function is PyTorch's own call of a module */
    bool specialized;          /* the newest compile specialized this size again */
    bool unbacked;             /* mark_unbacked() marked this size */
    struct str check;          /* the torch._check() that the guard comes from; "" */
    bool dynamic;              /* the newest compile has a symbol for this size */
    const struct guard
        *refusing;   /* a guard of it that refuses a value of an earlier compile; NULL */
    int64_t refused; /* that value */
    const struct failure *failure; /* the recompile limit, which ended the last one; NULL */
    struct str limit;              /* its number; "" */
};

struct recompile_groups {
    vec_of(struct recompile_group)
    groups;
};

/* Returns whether two compiles are of one function. PyTorch numbers functions until
 * torch._dynamo.reset(), whose count follows a compile's name: "3/0.1". */
bool same_function(const struct profile_compile *a, const struct profile_compile *b);

/* Groups the recompiles of the profile; false after a failure, which is kept in d->err. */
bool recompile_groups_read(struct finder *d, struct recompile_groups *ret);
void recompile_groups_release(struct recompile_groups *groups);
/* Returns the last value that was found, or "". */
struct str recompile_last_value(const struct recompile_group *group);

#endif

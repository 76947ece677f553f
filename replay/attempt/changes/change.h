/* Inputs that differ from the recorded ones: a policy, marks on sizes, other hints.
 *
 * A policy says which sizes are symbols:
 *   recorded  those that were
 *   static    none
 *   batch     the first size of each tensor
 *   partial   those recorded ones without guards from Python code: sizes in recorded guards of the
 *             user's code, of dynamo and of torch functions become numbers
 *   auto      those whose values differ from an earlier compile of the same frame
 *   all       all of them
 * Where sizes are static by default, batch, auto and all make symbols of sizes that were recorded
 * as numbers. Numbers that the program computed of such sizes remain in the recorded calls. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CHANGES_CHANGE_H
#define SYMTAPE_REPLAY_ATTEMPT_CHANGES_CHANGE_H

#include "replay/attempt/inputs.h"
#include "trace/events/guards.h"

enum policy {
#define POLICY(id, name) POLICY_##id,
#include "replay/attempt/changes/policies.def"
#undef POLICY
    POLICIES
};
const char *policy_name(enum policy policy);
bool policy_by_name(struct str name, enum policy *ret);

enum { DIM_NAME_MAX = 96 };
struct input_mark {
    struct str source; /* such as "L['x']" */
    uint32_t dim;
    struct dim_change change;
    char name[DIM_NAME_MAX]; /* PyTorch's name of a derived Dim */
};
struct input_set {
    struct str symbol, value;
};

struct input_changes {
    enum policy policy;
    const struct input_mark *marks;
    size_t n_marks;
    const struct input_set *sets;
    size_t n_sets;
};

static inline bool changes_dims(const struct input_changes *changes)
{
    return changes->policy != POLICY_RECORDED || changes->n_marks;
}

/* Parses "L['x']:1=dynamic", with quotes of either kind; =static, =unbacked, =4..64; =Dim(dx),
 * =Dim(dx,4..64), =2*Dim(dx)+1. Failures are of kind ERR_USAGE. The mark points into itself and
 * into text, whose quotes are changed to PyTorch's. */
bool input_mark_parse(struct input_mark *mark, char *text, struct err *err);
/* Parses "s77=31". */
bool input_set_parse(struct input_set *set, struct str text, struct err *err);

/* Applies policy and marks. Marks of sources that the attempt does not have are ignored; *found
 * counts the others. ERR_USAGE: a policy would have to create symbols. */
bool inputs_change(struct trace *trace, uint32_t attempt, const struct guard_list *guards,
                   const struct input_changes *changes, struct inputs *inputs, size_t *found,
                   struct err *err);

#endif

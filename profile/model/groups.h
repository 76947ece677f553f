/* Costs grouped by operator, user line, user stack or module. Part of the profile
 * (profile/model/profile.h); made only on request.
 *
 *   op      calls, dispatches and what the replay counted for them
 *   line    the innermost user line, as in struct profile_line
 *   stack   the user's frames, outermost first: guards and estimated time of records, dispatches
 *           and their time of a deep recording
 *   module  the module whose parameters or buffers a call uses, from the names of Dynamo's inputs
 *           ("L_self_modules_layer1_modules_0_parameters_weight_"). A call that uses none belongs
 * to the innermost module that contains both the last such call before it and the next one after
 * it. Members `total` include the modules inside. */
#ifndef SYMTAPE_PROFILE_MODEL_GROUPS_H
#define SYMTAPE_PROFILE_MODEL_GROUPS_H

#include <stdbool.h>

#include "trace/base/str.h"

enum profile_by { PROFILE_OP, PROFILE_LINE, PROFILE_STACK, PROFILE_MODULE, PROFILE_BYS };

struct group_frame {
    struct str file, function;
    uint32_t line;
};

struct profile_group {
    struct str name; /* operator or module ("layer1.0.conv1", "" the model itself); else "" */
    const struct group_frame *frames; /* for a line or stack, outermost first */
    uint32_t n_frames;
    struct str code; /* for a line */
    /* In attempts that were kept, in Dynamo's graphs and in the ATen graphs (forward, backward,
     * inference, exported). */
    uint64_t dynamo_calls, aten_calls;
    uint64_t total_dynamo_calls, total_aten_calls, total_guards; /* with those of inner modules */
    uint64_t guards; /* for an operator or module: the guards that its calls add in the replay */
    uint64_t real_dispatches, dispatches, exprs, symbolic_tensors;
    uint64_t saved_bytes;
    int64_t self_ns;      /* in real dispatches */
    int64_t estimated_ns; /* for a line: as there; 0 for others */
};

struct profile_groups {
    bool asked;
    const struct profile_group *rows; /* the costliest first, as PROFILE_BY_* says */
    uint32_t n_rows;
};

const char *profile_by_name(enum profile_by by); /* "op", "line", "stack", "module" */

#endif

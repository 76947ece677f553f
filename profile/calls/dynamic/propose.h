/* Marks that spare compiles: the dimensions and numbers of a code object to make dynamic from the
 * first call on. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_PROPOSE_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_PROPOSE_H

#include "profile/calls/dynamic/policy_run.h"

struct proposal {
    uint8_t *marks; /* by slot; NULL: none */
    uint32_t n_marks;
    bool minimal;                   /* no fewer marks reach as few compiles: all were tried */
    struct policy_counts automatic; /* CALLS_AUTOMATIC */
    struct policy_counts with;      /* CALLS_MARKED; that without them if there are no marks */
};

/* `before`: see policy_options; `varies`: by slot, whether it had several values; `least`: the
 * counts that marks have to undercut. Returns false when memory ran out. */
bool propose_marks(struct calls_table *table, struct code_calls *code, const uint8_t *before,
                   const uint8_t *varies, const struct policy_counts *least, struct proposal *ret);
void proposal_release(struct proposal *proposal);

#endif

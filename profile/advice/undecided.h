/* Whether PyTorch could answer the question at which a compile ended (GuardOnDataDependentSymNode),
 * if the program stated more. The shape environment is made again from the symbols, guards and
 * asserts that the tape has of the attempt before the question, and is asked. */
#ifndef SYMTAPE_PROFILE_ADVICE_UNDECIDED_H
#define SYMTAPE_PROFILE_ADVICE_UNDECIDED_H

#include "profile/model/profile.h"

struct undecided {
    struct trace *trace;
    uint32_t attempt, record; /* of the exception */
    struct str question;      /* "u0 > u1" */
};

/* What the program does about the question. */
enum undecided_help {
    HELP_NONE,
    HELP_CHECK,    /* torch._check(fact) before it */
    HELP_GUARD_OR, /* guard_or_false(), guard_or_true() */
    HELP_BACKED,   /* its only symbol is one of mark_dynamic(), whose hint answers it */
};

/* Sets *ret. Returns false with err set when memory ran out. */
bool undecided_is_answered(const struct undecided *u, enum undecided_help help, struct str fact,
                           bool negates, bool *ret, struct err *err);

#endif

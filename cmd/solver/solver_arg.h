/* The option --solver: whether Z3 is asked what the methods of symtape do not decide. */
#ifndef SYMTAPE_CMD_SOLVER_SOLVER_ARG_H
#define SYMTAPE_CMD_SOLVER_SOLVER_ARG_H

#include "prove/decide/decide.h"

#define OPT_SOLVER(type, field)                                                                    \
    OPT_CHOICE(0, "solver", "own|auto|z3", type, field,                                            \
               "what decides: symtape's own methods, also Z3 for what these leave undecided (the " \
               "default; if it is installed), or Z3 alone")

/* Starts Z3's process as the option says (NULL: it was not given) and sets the solver of questions.
 * It is called before other threads are started. Fails if Z3 is required and missing. z3_stop() is
 * required for limits->z3. */
bool solver_arg_start(const char *word, struct decide_limits *limits, struct err *err);

#endif

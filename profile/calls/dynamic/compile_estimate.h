/* Estimates what a compile takes that the tape does not have, from those of its code object.
 *
 * The first compile of a process includes what the process does once; the first one with symbols
 * includes more of that, as sympy and the code of symbolic shapes are used for the first time. What
 * is done once is told apart by later compiles, which do not have it. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_COMPILE_ESTIMATE_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_COMPILE_ESTIMATE_H

#include "profile/calls/dynamic/code_calls.h"

/* What the first compile with symbols takes once, as a share of what the first compile of the
 * process takes once; and what a compile with symbols takes as a multiple of one without. Both were
 * chosen from recordings of the programs of tests/advise_torch.py (torch 2.13, CPU, Python 3.11),
 * whose last line says how far the predictions are off with them. */
#define SYMBOLS_ONCE_SHARE 0.5
#define SYMBOLS_MULTIPLE   1.3

/* The most that the first compile with symbols takes once, as a share of its own time. */
#define SYMBOLS_MOST_ONCE 0.5

struct compile_question {
    double recorded;                /* what the tape's compile for the same call takes; 0: none */
    const struct known_entry *was;  /* the entry that this compile made; NULL */
    const struct known_entry *like; /* the one of the tape that is most like the compile; NULL */
    bool symbols;                   /* the compile has symbols */
};

/* Returns seconds; 0 if nothing is known. */
double compile_estimate(const struct code_calls *code, const struct compile_question *compile);

#endif

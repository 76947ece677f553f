/* The oracles in this process: a candidate goes through the shape engine
 * (replay/attempt/graph_replay.h).
 *
 *   SHAPE_EXPECT       a call is refused or its result differs from what was recorded (mismatch),
 * as in `what`, an extended regular expression over the error as it stands; with
 *                      "" the failure's own signature: kind, normalised message, operator, user
 * frame SHAPE_GUARD        the guard `what` is added: "Eq(s27, 16)", in sympy's str()
 *   SHAPE_SPECIALIZES  the symbol `what` becomes a number
 *   SHAPE_COST         "guards>=N"; also dispatches, exprs (replay's counters)
 *
 * A failure of another signature is VERDICT_OTHER. Asked about one candidate twice, they answer
 * alike: they are deterministic and cheap. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_SHAPE_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_SHAPE_H

#include "minify/oracle/oracle.h"

enum shape_question { SHAPE_EXPECT, SHAPE_GUARD, SHAPE_SPECIALIZES, SHAPE_COST };

struct shape_options {
    enum shape_question question;
    struct str what;
    struct str
        inject; /* a fault put into the engine, for tests and demos (replay/program/inject.h); "" */
};

/* NULL with ERR_USAGE when `what` or `inject` cannot be read. Texts are copied. */
struct oracle *oracle_shape(const struct shape_options *options, const struct candidate *whole,
                            struct err *err);

#endif

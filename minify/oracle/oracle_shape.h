/* The oracles in this process, which replay a candidate in the shape engine
 * (replay/attempt/graph_replay.h).
 *
 *   SHAPE_EXPECT       a call is refused or its result differs from the recorded one (mismatch);
 *                      `what` is an extended regular expression that the error matches; with "" it
 *                      is the failure's own signature: kind, normalised message, operator, frame
 *   SHAPE_GUARD        the guard `what` is added: "Eq(s27, 16)", in sympy's str()
 *   SHAPE_SPECIALIZES  the symbol `what` becomes a number
 *   SHAPE_COST         "guards>=N", or another cost (minify/oracle/cost.h); `estimate` is needed
 * for seconds
 *
 * A failure with another signature is VERDICT_OTHER. These oracles are deterministic and cheap. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_SHAPE_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_SHAPE_H

#include "minify/oracle/cost.h"
#include "minify/oracle/oracle.h"

enum shape_question { SHAPE_EXPECT, SHAPE_GUARD, SHAPE_SPECIALIZES, SHAPE_COST };

struct shape_options {
    enum shape_question question;
    struct str what;
    cost_estimate *estimate; /* or NULL */
    struct str inject; /* a fault in the engine, for tests and demos (replay/program/inject.h) */
};

/* Returns the oracle, or NULL with ERR_USAGE if `what` or `inject` cannot be parsed. Texts are
 * copied. */
struct oracle *oracle_shape(const struct shape_options *options, const struct candidate *whole,
                            struct err *err);

#endif

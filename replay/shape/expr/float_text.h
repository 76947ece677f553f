/* Floats as sympy prints them (mpmath's to_str): a number of significant digits, fixed notation for
 * small exponents. */
#ifndef SYMTAPE_REPLAY_SHAPE_EXPR_FLOAT_TEXT_H
#define SYMTAPE_REPLAY_SHAPE_EXPR_FLOAT_TEXT_H

#include "trace/base/buf.h"

enum float_digits {
    FLOAT_STR = 15,   /* for str() of a Float of double precision */
    FLOAT_GUARD = 17, /* for the guard printers, whose text must read back as the same value */
};

/* Prints like str() of a Float in an expression. `strip` drops trailing zeros but the one after the
 * point. */
void float_text(double value, enum float_digits digits, bool strip, struct buf *out);
/* Prints like Python's repr(float): the fewest digits that read back. */
void float_repr(double value, struct buf *out);
/* Prints as a range prints its bounds (Float.__format__): scientific only below 1e-6,
 * "1.0...0E-12". */
void float_text_of_range(double value, struct buf *out);

#endif

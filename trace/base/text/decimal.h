/* Decimal text to integers, exactly: "1795162120139322.5" microseconds to nanoseconds.
 *
 * Reading such a number as a double and multiplying rounds twice; times that are compared and
 * subtracted must not. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_DECIMAL_H
#define SYMTAPE_TRACE_BASE_TEXT_DECIMAL_H

#include "trace/base/str.h"

/* Computes the number `text` (JSON's grammar: sign, digits, fraction, exponent) times 10 to the
 * power `scale`, rounded towards zero. It returns false, without a change to *ret, when `text`
 * is no such number or the result does not fit. */
bool decimal_scaled(struct str text, int scale, int64_t *ret);

#endif

/* Decimal text to integers, exactly: "1795162120139322.5" microseconds to nanoseconds.
 *
 * Reading such a number as a double and multiplying rounds twice; times that are compared and
 * subtracted must not. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_DECIMAL_H
#define SYMTAPE_TRACE_BASE_TEXT_DECIMAL_H

#include "trace/base/str.h"

/* The number `text` (JSON's grammar: sign, digits, fraction, exponent) times 10 to the power
 * `scale`, cut towards zero. False when it is no such number or does not fit; *ret is untouched
 * then. */
bool decimal_scaled(struct str text, int scale, int64_t *ret);

#endif

/* Normalizes messages, so that two failures of the same bug have the same text. */
#ifndef SYMTAPE_MINIFY_PROCESS_SIGNATURE_H
#define SYMTAPE_MINIFY_PROCESS_SIGNATURE_H

#include "trace/base/buf.h"

/* An error's text with what a reduction changes taken out: numbers and symbols (s27, u0, zf3),
 * alone, in expressions and in lists, become N, paths their last part; white space is one blank,
 * and only the first line counts. Equal texts, equal bug. Appended to out. */
void signature_normalise(struct str message, struct buf *out);

/* The same as a regular expression of Python's re that finds such messages, also where another
 * message quotes them as Python's repr() does. */
void signature_regex(struct str message, struct buf *out);

/* An expression as a regular expression that takes any symbols in the place of its own. */
void signature_expr_regex(struct str expr, struct buf *out);

#endif

/* Normalizes messages, so that two failures of the same bug have the same text. */
#ifndef SYMTAPE_MINIFY_PROCESS_SIGNATURE_H
#define SYMTAPE_MINIFY_PROCESS_SIGNATURE_H

#include "trace/base/buf.h"

/* Appends an error's text without the parts that a reduction changes: numbers and symbols (s27, u0,
 * zf3), alone, in expressions and in lists, and inputs (L['x']) become N, paths their last part;
 * white space becomes one blank, and only the first line counts. Equal texts mean the same bug. */
void signature_normalise(struct str message, struct buf *out);

/* Appends a regular expression of Python's re that matches such messages, also if another message
 * quotes them as Python's repr() does. */
void signature_regex(struct str message, struct buf *out);

/* Appends a regular expression that matches an expression with any symbols instead of its own. */
void signature_expr_regex(struct str expr, struct buf *out);

#endif

/* Folds lines that are wider than the terminal they are printed to.
 *
 * A line is broken at blanks, or if a word is longer than a line, within it, behind a separator
 * where there is one. What follows is indented two columns deeper than the line. */
#ifndef SYMTAPE_PROFILE_REPORT_FOLD_H
#define SYMTAPE_PROFILE_REPORT_FOLD_H

#include "profile/report/style.h"

/* Appends a text to `out`, with each of its lines folded to `width` columns. `marks` are the styles
 * of the text, in its order, and become those of `out`. */
void fold_text(struct buf *out, struct str text, size_t width, struct styles *marks);

#endif

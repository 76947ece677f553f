/* Writers of comparisons. Each appends to a buffer; check out->failed at the end.
 *
 *   text      for people: a summary in one line, then a table for each kind; "" without changes
 *   markdown  the same for the comment on a pull request, long tables folded away
 *   json      "symtape.diff/1": all of it; counts are integers, times nanoseconds */
#ifndef SYMTAPE_PROFILE_COMPARE_DIFF_H
#define SYMTAPE_PROFILE_COMPARE_DIFF_H

#include "profile/compare/compare.h"
#include "profile/report/report.h"

void diff_text(const struct compare *compare, const struct report_options *how, struct buf *out);
void diff_markdown(const struct compare *compare, const struct report_options *how,
                   struct buf *out);
void diff_json(const struct compare *compare, const struct report_options *how, struct buf *out);

#endif

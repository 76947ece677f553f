/* Writers of dashboards. Each appends to a buffer; check out->failed at the end.
 *
 *   text      for people: a table of points, of results, of changes, of models
 *   markdown  the same for the summary of a job or an issue
 *   json      "symtape.dash/1": all of it; times are seconds, rates and ratios numbers
 *   html      one page: the same tables, the history as small charts, a section for each point with
 *             all its models. It loads nothing and has no script. */
#ifndef SYMTAPE_PROFILE_DASH_DASH_REPORT_H
#define SYMTAPE_PROFILE_DASH_DASH_REPORT_H

#include "profile/dash/dash_view.h"
#include "profile/dash/expectations.h"
#include "profile/report/report.h"

#define SCHEMA_DASH "symtape.dash/1"

/* `verdicts` is NULL without expectations. */
void dash_text_write(const struct dash_view *view, const struct verdicts *verdicts,
                     const struct report_options *how, struct buf *out);
void dash_markdown(const struct dash_view *view, const struct verdicts *verdicts,
                   const struct report_options *how, struct buf *out);
void dash_json(const struct dash_view *view, const struct verdicts *verdicts,
               const struct report_options *how, struct buf *out);
void dash_html(const struct dash_view *view, const struct verdicts *verdicts,
               const struct report_options *how, struct buf *out);

#endif

/* Private to the JSON report: what its files share. */
#ifndef SYMTAPE_PROFILE_REPORT_REPORT_JSON_H
#define SYMTAPE_PROFILE_REPORT_REPORT_JSON_H

#include "profile/report/report.h"
#include "trace/base/text/json_write.h"

struct json_report {
    const struct profile *p;
    const struct report_options *options;
    struct json_writer w;
};

void json_costs(struct json_report *r); /* costs of operators, counters, and what is deep */
void json_groups(struct json_report *r);
void json_put_line_cost(struct json_report *r, const struct line_cost *cost);

#endif

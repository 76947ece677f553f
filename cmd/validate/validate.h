/* The report of symtape validate, for the files of cmd/validate only. */
#ifndef SYMTAPE_CMD_VALIDATE_VALIDATE_H
#define SYMTAPE_CMD_VALIDATE_VALIDATE_H

#include "cmd/validate/redundant_costs.h"
#include "profile/report/report.h"
#include "prove/validate/validate.h"

/* `costs`: NULL without --redundant. */
void validate_text(const struct trace *trace, const struct validation *v,
                   const struct redundant_costs *costs, const struct report_options *how,
                   struct buf *out);
void validate_json(const struct trace *trace, const struct validation *v,
                   const struct redundant_costs *costs, struct buf *out);
/* Returns whether an attempt has a claim: otherwise there is nothing to prove. */
bool validate_has_claims(const struct validation *v);
/* The verdict over all attempts. */
enum decide_verdict validate_verdict(const struct validation *v);

#endif

/* Writes advice: a text for people, and JSON, "symtape.advise/1". Check out->failed at the end. */
#ifndef SYMTAPE_PROFILE_ADVICE_ADVICE_REPORT_H
#define SYMTAPE_PROFILE_ADVICE_ADVICE_REPORT_H

#include "profile/advice/patch/program_patch.h"
#include "profile/report/report.h"

#define SCHEMA_ADVISE "symtape.advise/1"

void advice_text(const struct advice *advice, const struct report_options *options,
                 struct buf *out);
/* `patch` is NULL, or what is told beside it. */
void advice_json(const struct advice *advice, const struct program_patch *patch, struct buf *out);

#endif

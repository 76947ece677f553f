/* Writes advice: a text for people, and JSON, "symtape.advise/1". Check out->failed at the end. */
#ifndef SYMTAPE_PROFILE_ADVICE_ADVICE_REPORT_H
#define SYMTAPE_PROFILE_ADVICE_ADVICE_REPORT_H

#include "profile/advice/patch/program_patch.h"
#include "profile/report/report.h"

#define SCHEMA_ADVISE "symtape.advise/1"

void advice_text(const struct advice *advice, const struct report_options *options,
                 struct buf *out);
/* Gives the remedies of the diagnosis that the advice is about what was proved of them. The
 * diagnosis borrows it from the advice. Returns false when memory ran out. */
bool advice_give_proofs(struct advice *advice, struct diagnosis *diagnosis);
/* `patch` is NULL, or what is told beside it. */
void advice_json(const struct advice *advice, const struct program_patch *patch, struct buf *out);

#endif

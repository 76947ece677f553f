/* Writers of a diagnosis (profile/diagnosis/diagnosis.h): a block of text that stands on top of
 * reports, and the JSON object "symtape.diagnosis/1". Check out->failed at the end. */
#ifndef SYMTAPE_PROFILE_REPORT_DIAGNOSIS_REPORT_H
#define SYMTAPE_PROFILE_REPORT_DIAGNOSIS_REPORT_H

#include "profile/diagnosis/diagnosis.h"
#include "profile/report/report.h"
#include "trace/base/text/json_write.h"

enum { DIAGNOSIS_LINES = 24 };

/* Appends the findings, at most `lines` lines of them (0: all). Of options only width and styles
 * apply. */
void report_diagnosis_text(const struct diagnosis *diagnosis, const struct report_options *options,
                           unsigned lines, struct buf *out);
/* Appends all findings as one object; `key` is NULL for a whole document. */
void report_diagnosis_json(const struct diagnosis *diagnosis, struct json_writer *w,
                           const char *key);

/* Writes the member "saves": null, or what is saved. */
void report_saves_json(const struct remedy_proof *proof, struct json_writer *w);

#endif

/* Private to the writers of checks: the fields of the records that they list. The context is the
 * check. */
#ifndef SYMTAPE_PROFILE_COMPARE_CHECK_FIELDS_H
#define SYMTAPE_PROFILE_COMPARE_CHECK_FIELDS_H

#include "profile/compare/check.h"
#include "profile/report/fields.h"

/* The tables of text. Markdown has medians without their spread. */
enum { CHECK_LIMITS, CHECK_CHANGED, CHECK_LIST, CHECK_LIMITS_MARKDOWN, CHECK_CHANGED_MARKDOWN };

/* The fields of struct check_row, of an enum measure that changed, and of an enum measure in the
 * list of all. */
extern const struct fields check_limit_fields, check_changed_fields, check_list_fields;

/* Returns the verdict as one word for scripts: "cannot_tell". */
const char *check_verdict_word(enum check_verdict verdict);

#endif

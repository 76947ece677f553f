/* Private to the writers of checks: the fields of what they list. The context is the check. */
#ifndef SYMTAPE_PROFILE_COMPARE_CHECK_FIELDS_H
#define SYMTAPE_PROFILE_COMPARE_CHECK_FIELDS_H

#include "profile/compare/check.h"
#include "profile/report/fields.h"

/* Tables of text. Markdown has medians without their spread. */
enum { CHECK_LIMITS, CHECK_CHANGED, CHECK_LIST, CHECK_LIMITS_MARKDOWN, CHECK_CHANGED_MARKDOWN };

/* Of struct check_row; of enum measure, one that changed and one of all. */
extern const struct fields check_limit_fields, check_changed_fields, check_list_fields;

/* "cannot_tell": words that scripts compare have no blanks. */
const char *check_verdict_word(enum check_verdict verdict);

#endif

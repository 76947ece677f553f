/* Whether a condition was true at the call that was recorded. A remedy that states a condition is
 * not suggested if the call itself contradicts it. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_RECORDED_TRUTH_H
#define SYMTAPE_PROFILE_DIAGNOSIS_FAILURES_RECORDED_TRUTH_H

#include "profile/diagnosis/failures/symbol_names.h"

enum recorded_truth { RECORDED_UNKNOWN, RECORDED_FALSE, RECORDED_TRUE };

/* Evaluates an expression at the hints of its symbols and the sizes of inputs that mark_unbacked
 * marked; `code` is the line that asks. It is unknown if a symbol has no recorded value. */
enum recorded_truth recorded_truth(const struct symbol_scope *scope, struct str expr,
                                   struct str code);
/* Returns what the condition in the program's line is if the expression that PyTorch asked for has
 * this truth: the same for one comparison, the opposite after "not". Unknown for others, which
 * PyTorch may ask for in parts. */
enum recorded_truth condition_truth(struct str condition, enum recorded_truth of_expr);
/* Returns whether a condition is one comparison; *negated: after "not". */
bool condition_compares(struct str condition, bool *negated);
/* Appends the negation of a condition that is one comparison: "n <= 4" for "n > 4" and "n > 4" for
 * "not n > 4"; false for others. PyTorch cannot trace `not` on a symbolic condition. */
bool condition_negate(struct str condition, struct buf *out);

#endif

/* Rules of custom operators, read from a file (symtape-rules(5)).
 *
 *     mylib::pad_to(Tensor x, int m) -> Tensor
 *         rows = (x.shape[0] + m - 1) // m * m
 *         return x.new_empty([rows, x.shape[1]])
 *
 * A rule is what the operator's fake kernel does, in a small part of Python: its schema, then
 * indented statements. The set is read once and never changes; any number of operators' contexts
 * may borrow it (ops_new_with_rules). */
#ifndef SYMTAPE_REPLAY_OPS_DECOMP_CUSTOM_H
#define SYMTAPE_REPLAY_OPS_DECOMP_CUSTOM_H

#include "trace/base/err.h"
#include "trace/base/str.h"

struct custom_rules;

struct custom_rules *custom_rules_new(struct err *err);
void custom_rules_free(struct custom_rules *rules); /* NULL is fine */
/* Adds the rules of a text, which is copied. Returns false with ERR_INPUT, whose text is
 * "FILE:LINE:COLUMN: ..." with `file` as it is given. After that the set may only be freed. */
bool custom_rules_add(struct custom_rules *rules, struct str text, struct str file,
                      struct err *err);

size_t custom_rules_count(const struct custom_rules *rules);
const char *custom_rules_schema(const struct custom_rules *rules, size_t i);

#endif

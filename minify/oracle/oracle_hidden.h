/* An oracle whose answers reveal nothing about the machine (--anonymize): texts of a command of the
 * user, or of PyTorch, contain paths, names, and whatever they print. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_HIDDEN_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_HIDDEN_H

#include "minify/oracle/oracle.h"
#include "trace/log/redact/redact.h"

/* Returns an oracle that owns `inner`, which is freed with it, also on failure. `known` must
 * outlive it. */
struct oracle *oracle_hidden(struct oracle *inner, const struct redact_known *known,
                             struct err *err);
/* Redacts one text as the oracle does; returns false when memory ran out. */
bool oracle_hide_text(const struct redact_known *known, struct str text, struct arena *arena,
                      struct str *ret, struct err *err);

#endif

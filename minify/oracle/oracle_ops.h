/* The oracle that looks for certain operators (--has-ops): a cheap replacement for other oracles in
 * tests and benchmarks, and for users who know which calls matter.
 *
 *     aten.sin, aten.cos -> aten.relu     a sin, and a cos on which a relu depends
 *
 * A part matches a call whose operator's name contains it. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_OPS_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_OPS_H

#include "minify/oracle/oracle.h"

/* Returns the oracle, or NULL with ERR_USAGE if a part is empty. The text is copied. */
struct oracle *oracle_ops(struct str what, struct err *err);

#endif

/* Interesting is what holds certain operators (--has-ops): a stand-in for an oracle that costs,
 * for tests and benchmarks, and for who knows which calls matter.
 *
 *     aten.sin, aten.cos -> aten.relu     a sin, and a cos whose result goes into a relu by any way
 *
 * A part matches a call whose operator's name holds it. */
#ifndef SYMTAPE_MINIFY_ORACLE_ORACLE_OPS_H
#define SYMTAPE_MINIFY_ORACLE_ORACLE_OPS_H

#include "minify/oracle/oracle.h"

/* ERR_USAGE: an empty part. The text is copied. */
struct oracle *oracle_ops(struct str what, struct err *err);

#endif

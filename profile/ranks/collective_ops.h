/* Which operators are collectives. */
#ifndef SYMTAPE_PROFILE_RANKS_COLLECTIVE_OPS_H
#define SYMTAPE_PROFILE_RANKS_COLLECTIVE_OPS_H

#include "trace/base/str.h"

/* Returns whether a call communicates, and its name without namespace and overload in *name:
 * "all_reduce" of "_c10d_functional.all_reduce.default", as node_op_name() writes it. */
bool is_collective(struct str op, struct str *name);
/* The others take that name. */
bool is_peer_call(struct str name); /* from one rank to another */
bool is_send(struct str name);      /* of those, the sending side */
bool is_uneven(struct str name);    /* sizes may differ between ranks */

#endif

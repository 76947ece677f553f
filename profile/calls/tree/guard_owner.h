/* Which guard of PyTorch made a leaf of a tree. torch._guards.Guard is what a guard_filter_fn keeps
 * or drops; it has the name of a source, and makes leaves at that source and near it. */
#ifndef SYMTAPE_PROFILE_CALLS_TREE_GUARD_OWNER_H
#define SYMTAPE_PROFILE_CALLS_TREE_GUARD_OWNER_H

#include "trace/base/str.h"

/* Returns the owner of a source, a part of its text: the first local or global that it names, with
 * its attributes and items. The leaves of L['m'].__dict__, L['f'].__code__ and
 * list(dict.keys(L['d']))[0] can be made by the guards on L['m'], L['f'] and L['d']
 * (NOT_PRESENT_IN_GENERIC_DICT, CLOSURE_MATCH and DICT_KEYS_MATCH in torch/_dynamo/guards.py), and
 * what is reached through type(L['m']) belongs to L['m']. "" if there is none. */
struct str guard_owner(struct str source);

/* Finds the next local or global in the code of a guard and advances *code past it; "" at the end.
 */
struct str next_source(struct str *code);

/* What guards are about, as far as it decides whether one may go. */
bool owner_is_argument(struct str owner);  /* a local of the frame, other than a module's part */
bool owner_is_parameter(struct str owner); /* a module's parameter or buffer, or below one */

/* Finds the parts of an owner: "L", "L['self']" and "L['self'].k" are those of L['self'].k. Sets
 * the ends of the first MOST_OWNER_PARTS, and returns how many there are. */
enum { MOST_OWNER_PARTS = 64 };
size_t owner_parts(struct str owner, size_t ends[MOST_OWNER_PARTS]);

#endif

/* SymNode arithmetic (torch/fx/experimental/sym_node.py): what Python's operators build from
 * SymInts, SymFloats and SymBools.
 *
 * Operands are read through the environment's replacements, as SymNode.expr is; sums of distinct
 * symbols go the way of _optimized_add; a comparison of a lone unbacked symbol with a number is
 * built unevaluated. Numbers stay numbers. A result SYM_NONE: raised (env_raised). */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_NODE_H
#define SYMTAPE_REPLAY_SHAPE_ENV_NODE_H

#include "replay/shape/env/env.h"

enum number_type { NUMBER_INT, NUMBER_FLOAT, NUMBER_BOOL };

/* METHODS of sym_node.py by name, "add", "floordiv", "sym_max", "sqrt" ...:
 * NODE_METHOD(ID, NAME, ARITY). */
enum node_method {
#define NODE_METHOD(id, name, arity) NODE_METHOD_##id,
#include "replay/shape/env/node_methods.def"
#undef NODE_METHOD
    NODE_METHODS
};

enum number_type number_type_of(struct shape_env *env, sym_id e);
/* types: of the operands, since sympy's classes do not always tell (a SymFloat may hold an
 * Integer); *type is that of the result. */
sym_id node_method(struct shape_env *env, enum node_method method, const sym_id *args,
                   const enum number_type *types, uint32_t n, enum number_type *type);
/* Of two integers. */
sym_id node_int(struct shape_env *env, enum node_method method, sym_id a, sym_id b);
bool node_method_by_name(struct str name, enum node_method *ret);

#endif

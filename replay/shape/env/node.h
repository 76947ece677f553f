/* SymNode arithmetic (torch/fx/experimental/sym_node.py): what Python's operators build from
 * SymInts, SymFloats and SymBools.
 *
 * The environment's replacements are applied to operands first, as in SymNode.expr; sums of
 * distinct symbols are built as in _optimized_add; a comparison of a lone unbacked symbol with a
 * number is built unevaluated. Operations on numbers give numbers. A result of SYM_NONE: raised
 * (env_raised()). */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_NODE_H
#define SYMTAPE_REPLAY_SHAPE_ENV_NODE_H

#include "replay/shape/env/env.h"

enum number_type { NUMBER_INT, NUMBER_FLOAT, NUMBER_BOOL };

/* The METHODS of sym_node.py by name, "add", "floordiv", "sym_max", "sqrt" ...:
 * NODE_METHOD(ID, NAME, ARITY). */
enum node_method {
#define NODE_METHOD(id, name, arity) NODE_METHOD_##id,
#include "replay/shape/env/node_methods.def"
#undef NODE_METHOD
    NODE_METHODS
};

enum number_type number_type_of(struct shape_env *env, sym_id e);
/* types: the types of the operands, since sympy's classes do not always determine them (the
 * expression of a SymFloat may be an Integer); *type is set to the type of the result. */
sym_id node_method(struct shape_env *env, enum node_method method, const sym_id *args,
                   const enum number_type *types, uint32_t n, enum number_type *type);
/* Applies a method to two integers. */
sym_id node_int(struct shape_env *env, enum node_method method, sym_id a, sym_id b);
bool node_method_by_name(struct str name, enum node_method *ret);

#endif

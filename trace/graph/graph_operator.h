/* Functions of Python's operator module that graphs print as operators (magic_methods and
 * inplace_methods in torch/fx/graph.py), for readers and printers of graphs. */
#ifndef SYMTAPE_TRACE_GRAPH_GRAPH_OPERATOR_H
#define SYMTAPE_TRACE_GRAPH_GRAPH_OPERATOR_H

#include "trace/base/str.h"

struct graph_operator {
    struct str sign;
    struct str infix;   /* "operator.add";  "" where there is none */
    struct str inplace; /* "operator.iadd", printed with '=' after the sign */
    struct str prefix;  /* "operator.neg" */
};

/* Returns the operator with this sign; NULL when there is none. */
const struct graph_operator *graph_operator_by_sign(struct str sign);
/* Returns the operator with this target, which may be any of its three. */
const struct graph_operator *graph_operator_by_target(struct str target);

#endif

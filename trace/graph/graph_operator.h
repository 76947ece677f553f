/* Functions of Python's operator module that graphs print as operators (magic_methods and
 * inplace_methods in torch/fx/graph.py). For who reads or prints graphs. */
#ifndef SYMTAPE_TRACE_GRAPH_GRAPH_OPERATOR_H
#define SYMTAPE_TRACE_GRAPH_GRAPH_OPERATOR_H

#include "trace/base/str.h"

struct graph_operator {
    struct str sign;
    struct str infix;   /* "operator.add";  "" where there is none */
    struct str inplace; /* "operator.iadd", printed with '=' behind the sign */
    struct str prefix;  /* "operator.neg" */
};

/* NULL when there is no such operator. */
const struct graph_operator *graph_operator_by_sign(struct str sign);
/* By one of its three targets. */
const struct graph_operator *graph_operator_by_target(struct str target);

#endif

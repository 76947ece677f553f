/* Parses what print_readable() writes after a name (CodeGen._gen_python_code in
 * torch/fx/graph.py): "f32[s77, 64][64, 1]cuda:0", "Sym(s77 + 1)", "DTensor(f32[8][1]cuda:0,
 * S(0))". Private to the trace room. */
#ifndef SYMTAPE_TRACE_GRAPH_ANNOTATION_H
#define SYMTAPE_TRACE_GRAPH_ANNOTATION_H

#include "trace/graph/graph.h"

/* Parses an annotation. `text` must live as long as the pool. An annotation that is neither a
 * tensor nor a symbol becomes META_OTHER; the function returns false only when memory ran out. */
bool annotation_parse(struct graph_pool *pool, struct str text, struct meta *ret);

#endif

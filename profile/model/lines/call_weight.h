/* Private to the profile room: what tracing a call costs beside other calls. */
#ifndef SYMTAPE_PROFILE_MODEL_LINES_CALL_WEIGHT_H
#define SYMTAPE_PROFILE_MODEL_LINES_CALL_WEIGHT_H

#include "trace/base/hash_index.h"
#include "trace/base/vec.h"
#include "trace/graphs.h"

/* The runs of a call: FakeTensorMode computes the first one and has the next ones in its cache;
 * while make_fx traces, ProxyTorchDispatchMode comes on top. */
enum work_run { WORK_FIRST, WORK_AGAIN, WORK_TRACED, WORK_RUNS };

struct call_weight {
    float runs[WORK_RUNS]; /* 1: a call that the cache has, on tensors with one or two symbols */
};

/* The symbols in a meta's sizes and strides. */
struct meta_symbols {
    uint64_t hash;  /* of the annotation */
    uint32_t dims;  /* sizes and strides that are expressions */
    uint32_t terms; /* numbers, symbols and operators in them */
};

struct expr_terms {
    uint64_t hash;
    uint32_t terms;
};

struct operator_weight; /* a row of line_weights.def */

/* Zero it before the first graph of a trace. */
struct call_weigher {
    struct hash_index index; /* of `seen`: what a compile meets for the first time takes longer */
    vec_of(uint64_t)
    seen;
    vec_of(struct expr_terms)
    exprs; /* of the current graphs' pool */
    vec_of(struct meta_symbols)
    metas;
};

const struct operator_weight *operator_weight_of(struct str target);
/* Reads the metas of a root graph. Returns false when memory ran out. */
bool call_weigher_graph(struct call_weigher *weigher, const struct graph *root);
/* Weighs a call of the root or of its nested graphs. `scope` is a number of its own for each level
 * of each attempt: calls that are equal within one are in the cache. `backward`: the first run is
 * the traced one. Returns false when memory ran out. */
bool call_weigh(struct call_weigher *weigher, const struct graph *graph, const struct node *node,
                const struct operator_weight *op, uint64_t scope, bool backward,
                struct call_weight *ret);
void call_weigher_release(struct call_weigher *weigher);

#endif

/* The graphs of a trace: which records have one, and their parsed form.
 *
 * A graph record is one of the graph events, or an artifact that has a readable graph
 * (recognized by its text, "class NAME(torch.nn.Module):", not by a list of names), or the
 * program of a .pt2. Kinds group what PyTorch gives several names in several versions. */
#ifndef SYMTAPE_TRACE_GRAPHS_H
#define SYMTAPE_TRACE_GRAPHS_H

#include "trace/graph/graph.h"
#include "trace/open.h"

enum graph_kind {
    GRAPH_DYNAMO,
    GRAPH_JOINT,
    GRAPH_FORWARD,
    GRAPH_BACKWARD,
    GRAPH_INFERENCE,
    GRAPH_PRE_GRAD,       /* inductor_pre_grad_graph; before_ and after_pre_grad_graph */
    GRAPH_POST_GRAD,      /* inductor_post_grad_graph; before_ and after_post_grad_graph */
    GRAPH_EXPORTED,       /* exported_program, .pt2 */
    GRAPH_PARTIAL_DYNAMO, /* what a failed compile had traced: symtape-deep(5) */
    GRAPH_PARTIAL_AOT,
    GRAPH_ANY, /* another readable graph, see its name */
    GRAPH_KINDS
};

struct graph_ref {
    uint32_t record, attempt; /* attempt may be TRACE_NONE */
    enum graph_kind kind;
    struct str name; /* event or artifact name: "aot_forward_graph", "before_post_grad_graph" */
    uint32_t index;  /* ordinal among those of this name in its attempt, from 0 */
    bool is_event;   /* one of the five events that symtape-info(1) counts (dynamo, aot_*) */
};

struct graph_list {
    const struct graph_ref *refs; /* in the order of their records */
    uint32_t n;
};

/* Returns the list of graphs, which is made once per trace on first use and belongs to it;
 * nothing is parsed yet. */
const struct graph_list *trace_graphs(struct trace *trace, struct err *err);

/* Parses a graph, which is cached and belongs to the trace. It returns NULL with err set when
 * the payload cannot be read; statements that the grammar does not know are opaque nodes, not
 * errors. */
const struct graph *trace_graph(struct trace *trace, uint32_t ref, struct err *err);

/* Does the same for callers that use each graph once: the graph is freed with all its texts when
 * `visit` returns. It returns false when the graph cannot be read (err is set) or when visit
 * does. */
bool trace_visit_graph(struct trace *trace, uint32_t ref,
                       bool (*visit)(void *user, const struct graph *graph), void *user,
                       struct err *err);

const char *graph_kind_name(enum graph_kind kind); /* "dynamo", "joint", ... as in selectors */

#endif

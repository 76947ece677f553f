/* The graphs of a compile as Inductor wraps them for CUDA graphs: which inputs are integers, so
 * that each of their values has a recording of its own; which tensors keep their address; and why a
 * graph is not wrapped at all.
 *
 * With graph partitions (torch._inductor.config.graph_partition, on by default from 2.9), what
 * cannot be recorded is left out of the CUDA graphs, and what is between is one CUDA graph each.
 * How many these are is read from the program that Inductor wrote, if the tape has it, and else
 * estimated: operators are taken in an order that makes as few partitions as can be, as
 * torch._inductor.config.triton.reorder_for_reducing_graph_partitions does. */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_WRAPPED_GRAPHS_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_WRAPPED_GRAPHS_H

#include "profile/calls/cudagraphs/tree_manager.h"
#include "trace/base/intern.h"
#include "trace/events/incidents/incidents.h"
#include "trace/graphs.h"

enum skip_reason {
#define SKIP(id, name, because) SKIP_##id,
#include "profile/calls/cudagraphs/skip_reasons.def"
#undef SKIP
    SKIP_REASONS
};
const char *skip_reason_name(enum skip_reason reason);
const char *skip_reason_text(enum skip_reason reason);

/* An integer input, or a tensor. */
struct sized_input {
    struct str name;
    uint32_t first, n;      /* its dimensions, in wrapped_graphs.dims; an integer has one */
    unsigned element_bytes; /* of a tensor; 0 for an integer */
    bool symbolic;          /* a dimension is no constant */
};

struct wrapped_graph {
    struct str compile; /* "0/1" */
    uint32_t attempt;
    enum run_mode mode;
    uint32_t n_partitions; /* CUDA graphs for one run at one size */
    bool reads_module;     /* it has parameters or buffers, whose address is part of a recording */
    enum skip_reason skip;
    struct str node, file, code; /* what is to blame, and its user line; of SKIP_EMPTY the line of
                                    the graph break; "" */
    uint32_t line;
    uint32_t first_symbol, n_symbols; /* in wrapped_graphs.symbols: those of its inputs, sorted */
    uint32_t first_int, n_ints;       /* in wrapped_graphs.inputs */
    uint32_t first_tensor, n_tensors; /* in wrapped_graphs.inputs: tensors that are copied */
    uint32_t n_saved; /* behind those: tensors with symbolic sizes that are not copied, as what a
                         forward saves for its backward */
    uint32_t first_output, n_outputs; /* in wrapped_graphs.outputs */
};

struct wrap_settings {
    bool on_gpu;       /* tensors on the CPU count as being on a GPU */
    bool partitions;   /* graph_partition */
    bool skip_dynamic; /* triton.cudagraph_skip_dynamic_graphs */
};

struct wrapped_graphs {
    struct arena arena;
    struct expr_pool exprs; /* texts are in the arena */
    vec_of(struct wrapped_graph)
    graphs;
    vec_of(struct sized_input)
    inputs;
    vec_of(expr_id)
    dims;
    vec_of(struct str)
    symbols;
    vec_of(struct str)
    outputs; /* the nodes that graphs return; "" for what is none */
    vec_of(uint32_t)
    first_ref, next_ref;         /* the trace's graphs by attempt, and by graph; TRACE_NONE */
    bool has_dynamo;             /* one of them is Dynamo's */
    struct incidents *incidents; /* read for the first compile without operators; NULL */
    vec_of(uint32_t)
    break_of; /* by attempt: its graph break in incidents; TRACE_NONE */
};

/* Appends the graphs of an attempt: those that run forward, or those that run backward, in the
 * order in which they run. A compile without such graphs has one with SKIP_NO_GRAPH if it runs
 * forward, and none backward; with SKIP_EMPTY if Dynamo found no operators in it. Returns false
 * with err set when memory ran out or the tape could not be read. */
bool wrapped_graphs_read(struct wrapped_graphs *graphs, struct trace *trace, uint32_t attempt,
                         bool backward, const struct wrap_settings *settings, struct err *err);
void wrapped_graphs_release(struct wrapped_graphs *graphs);

#endif

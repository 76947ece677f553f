/* Which CUDA graphs mode="reduce-overhead" would record for the calls of a program.
 *
 *     struct cudagraph_run run;
 *     if (cudagraph_run_make(&run, trace, recording, log, &cache, &how, &err))
 *         ... run.totals[RUN_RECORD] ...
 *     cudagraph_run_release(&run);
 *
 * The caches' replay (profile/calls/cache) says which entry answers each call, and so which graphs
 * of the tape run. Each graph is wrapped (wrapped_graphs.h), each of its sizes is a function of its
 * own, and the manager of CUDA graph trees decides about each run (tree_manager.h). */
#ifndef SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_CUDAGRAPH_RUN_H
#define SYMTAPE_PROFILE_CALLS_CUDAGRAPHS_CUDAGRAPH_RUN_H

#include "profile/calls/cache/cache_run.h"
#include "profile/calls/cudagraphs/wrapped_graphs.h"

/* A graph at one size: cudagraphify_impl() wraps it anew for each tuple of its integer inputs. */
struct graph_size {
    uint32_t graph;          /* in wrapped.graphs */
    uint32_t first_value;    /* in values: one for each symbol of the graph */
    uint32_t first_function; /* of its partitions, numbered from 0; CALL_NONE if it is skipped */
    uint32_t runs;           /* number of calls that ran it */
    uint32_t actions[RUN_ACTIONS];
};

/* One run of a partition of a graph. */
struct graph_run {
    uint32_t call; /* in the log */
    uint32_t size;
    uint32_t partition;
    enum run_action action;
};

/* The sizes of a graph if they were padded. */
struct padding_row {
    uint32_t graph;
    const char *policy;
    uint32_t sizes, before; /* with and without padding */
    uint64_t bytes, padded; /* of the inputs with symbolic sizes, over all runs */
};

struct cudagraph_run {
    struct wrapped_graphs wrapped;
    vec_of(struct graph_size)
    sizes;
    vec_of(int64_t)
    values; /* of symbols; a symbol without a source has its hint, or 0 */
    vec_of(struct graph_run)
    runs; /* in the order of the calls */
    vec_of(struct padding_row)
    paddings;
    uint32_t totals[RUN_ACTIONS];
    uint32_t n_in_warm_up; /* of RUN_EAGER: runs of graphs that are warm, in a path that warms up */
    uint32_t n_calls;      /* of called functions, backwards not included */
    uint32_t n_graphs;     /* that are wrapped and ran */
    uint32_t n_sizes;      /* of them */
    uint32_t n_skipped;    /* graphs that ran and are not wrapped */
    uint32_t n_unknown_sizes; /* symbols whose value no call tells: unbacked ones */
    uint32_t n_unknown_calls; /* look-ups and backwards of which no entry is known */
    uint32_t n_on_tape;  /* recordings of CUDA graphs that PyTorch logged while this was recorded */
    bool pool_known;     /* the programs of all graphs are on the tape */
    uint64_t pool_bytes; /* that the pool of the CUDA graphs takes of the GPU's memory */
    uint64_t warn_limit; /* cudagraph_dynamic_shape_warn_limit in force; 0: none */
    struct wrap_settings settings;
};

struct cudagraph_options {
    bool on_gpu, skip_dynamic;
};

/* Makes it; `cache` is the replay of the same calls. Returns false with err set when memory ran out
 * or the tape could not be read; release it in any case. */
bool cudagraph_run_make(struct cudagraph_run *run, struct trace *trace, uint32_t recording,
                        struct call_log *log, const struct cache_run *cache,
                        const struct cudagraph_options *options, struct err *err);
void cudagraph_run_release(struct cudagraph_run *run);

/* Returns whether a run has no CUDA graph because the graph writes to an input. */
static inline bool graph_run_mutates(const struct cudagraph_run *run, const struct graph_run *row)
{
    const struct graph_size *size = vec_from(&run->sizes, row->size);
    const struct wrapped_graph *graph = vec_from(&run->wrapped.graphs, size->graph);
    /* What is written back to inputs comes last. */
    return graph->skip == SKIP_MUTATION &&
           (size->first_function == CALL_NONE || row->partition + 1 == graph->n_partitions);
}

/* Returns whether a graph is recorded. */
static inline bool wrapped_graph_records(const struct wrapped_graph *graph)
{
    return graph->skip == SKIP_NONE || (graph->skip == SKIP_MUTATION && graph->n_partitions > 1);
}

#endif

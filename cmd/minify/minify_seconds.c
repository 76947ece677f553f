/* The estimated time of compiling a graph: it is put on a tape of its own, as a Dynamo graph, for
 * the cost model of symtape profile. An operator has of each kind of work the share that the walk
 * counts for its calls; what inputs take belongs to none. */
#include "cmd/minify/minify.h"
#include "minify/candidate/candidate_tape.h"
#include "profile/model/cost_model/cost_ahead.h"
#include "replay/shape/env/env.h"

#define NS_PER_MS 1e6

static int release_of(const struct candidate *candidate)
{
    int release = torch_release(candidate->torch_version);
    return release ? release : TORCH_RELEASE_DEFAULT;
}

static bool estimate_program(struct cost_ahead *ret, const struct candidate *candidate,
                             struct cost_nodes nodes, struct err *err)
{
    struct candidate program = *candidate; /* Dynamo traces it, whoever made it */
    const struct cost_ahead_nodes of = { nodes.evaluated, nodes.guards, nodes.exprs };
    struct buf tape = BUF_INIT;
    struct trace *trace = NULL;
    program.kind = GRAPH_DYNAMO;
    bool ok = candidate_tape(&program, &tape, err);
    ok = ok && (trace = trace_open_bytes("graph", buf_str(&tape), NULL, err));
    ok = ok && cost_ahead_make(ret, trace, release_of(candidate), of, err);
    trace_close(trace);
    buf_release(&tape);
    return ok;
}

static bool estimate(struct cost_ahead *ret, const struct candidate *candidate,
                     struct cost_nodes nodes, struct err *err)
{
    struct candidate *program = cost_program(candidate, err);
    bool ok = program && estimate_program(ret, program, nodes, err);
    candidate_free(program);
    return ok;
}

static uint64_t ms_of(double ns)
{
    return ns > 0 ? (uint64_t)(ns / NS_PER_MS + 0.5) : 0;
}

bool minify_estimate_ms(const struct candidate *candidate, struct cost_nodes nodes, uint64_t *ms,
                        struct err *err)
{
    struct cost_ahead ahead;
    if (!estimate(&ahead, candidate, nodes, err))
        return false;
    *ms = ms_of((double)ahead.ns);
    return true;
}

/* ---- By operator ---- */

static double share(double ns, double n, double of)
{
    return of > 0 ? ns * n / of : 0;
}

/* A call that the walk answers from its memory is dispatched by PyTorch all the same. */
static double dispatches(const struct cost_counts *counts)
{
    return (double)counts->of[GRAPH_COST_DISPATCHES] + (double)counts->of[GRAPH_COST_CALLS];
}

static void set_shares(const struct cost_ahead *ahead, struct cost_table *table)
{
    const double *ns = ahead->shares.term_ns;
    const struct cost_counts *all = &table->total;
    double sizes = 0;
    for (size_t i = 0; i < table->rows.n; i++)
        sizes += (double)table->rows.v[i].symbolic_sizes;
    for (size_t i = 0; i < table->rows.n; i++) {
        const struct graph_cost_row *row = &table->rows.v[i];
        const uint64_t *of = row->counts.of;
        double sum = share(ahead->shares.dispatch_ns, dispatches(&row->counts), dispatches(all));
        sum += share(ns[COST_TERM_UNIT], (double)of[GRAPH_COST_CALLS],
                     (double)all->of[GRAPH_COST_CALLS]);
        sum += share(ns[COST_TERM_SIZE], (double)row->symbolic_sizes, sizes);
        sum += share((double)ahead->evaluated_ns, (double)row->nodes.evaluated,
                     (double)table->nodes.evaluated);
        sum +=
            share((double)ahead->guards_ns, (double)row->nodes.guards, (double)table->nodes.guards);
        sum += share((double)ahead->exprs_ns, (double)row->nodes.exprs, (double)table->nodes.exprs);
        table->rows.v[i].counts.of[GRAPH_COST_SECONDS] = ms_of(sum);
    }
}

bool minify_estimate_table(const struct candidate *candidate, struct cost_table *table,
                           int *release, struct err *err)
{
    struct cost_ahead ahead;
    if (!estimate(&ahead, candidate, table->nodes, err))
        return false;
    table->total.of[GRAPH_COST_SECONDS] = ms_of((double)ahead.ns);
    *release = ahead.release;
    set_shares(&ahead, table);
    return true;
}

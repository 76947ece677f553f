/* Collects the calls of graphs, and the inputs at which Dynamo can be seen to arrive. */
#include "profile/model/lines/line_work.h"

#include <stdlib.h>

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

uint64_t line_work_source(struct str source)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */
    bool gap = false;
    for (size_t i = 0; i < source.n; i++) {
        gap = gap || !is_word(source.p[i]);
        if (!is_word(source.p[i]))
            continue;
        if (gap)
            hash = (hash ^ '_') * 1099511628211U;
        hash = (hash ^ (unsigned char)source.p[i]) * 1099511628211U;
        gap = false;
    }
    return hash;
}

/* Marks the input behind a node as read by a call, unless it was read before. */
static bool add_input(struct line_work *work, struct work_graph *work_graph,
                      const struct graph *graph, node_id node, unsigned char *seen, uint32_t call)
{
    for (uint32_t left = graph->n_nodes; node < graph->n_nodes && left > 0; left--) {
        const struct node *n = &graph->nodes[node];
        const struct arg *args = node_args(graph, n);
        if (n->op == NODE_PLACEHOLDER) {
            if (seen[node])
                return true;
            seen[node] = 1;
            work_graph->n_inputs++;
            return vec_push(&work->inputs,
                            ((struct work_input){ line_work_source(n->name), call }));
        }
        if (n->op != NODE_ALIAS || n->n_args == 0 || args[0].kind != ARG_NODE)
            return true;
        node = args[0].u.node;
    }
    return true;
}

static bool add_inputs(struct line_work *work, struct work_graph *work_graph,
                       const struct graph *graph, unsigned char *seen)
{
    uint32_t call = 0;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        const struct arg *args = node_args(graph, node);
        if (!node_is_call(node))
            continue;
        for (uint32_t k = 0; k < node->n_args; k++)
            if (args[k].kind == ARG_NODE &&
                !add_input(work, work_graph, graph, args[k].u.node, seen, call))
                return false;
        call++;
    }
    return true;
}

static int by_source(const void *a, const void *b)
{
    const struct work_input *x = a, *y = b;
    return x->source != y->source ? (x->source > y->source) - (x->source < y->source)
                                  : (x->call > y->call) - (x->call < y->call);
}

bool line_work_inputs(struct line_work *work, struct work_graph *work_graph,
                      const struct graph *graph)
{
    unsigned char *seen = calloc((size_t)graph->n_nodes + 1, 1);
    work_graph->first_input = (uint32_t)work->inputs.n;
    bool ok = seen && add_inputs(work, work_graph, graph, seen);
    if (ok && work_graph->n_inputs > 0)
        qsort(work->inputs.v + work_graph->first_input, work_graph->n_inputs,
              sizeof *work->inputs.v, by_source);
    free(seen);
    return ok;
}

/* ---- From functions to operators ---- */

struct row_sum {
    float function, aten; /* the weights of first runs */
};

/* Sums the first runs of a graph's calls by row, up to n of them. */
static void sum_rows(const struct line_work *work, const struct work_graph *graph, uint32_t n,
                     struct row_sum *rows, size_t n_rows, bool aten)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct work_call *call = &work->calls.v[graph->first_call + i];
        if (call->row < n_rows)
            *(aten ? &rows[call->row].aten : &rows[call->row].function) +=
                call->weight.runs[WORK_FIRST];
    }
}

static void settle_graph(struct line_work *work, const struct work_graph *dynamo,
                         const struct work_graph *aten, struct row_sum *rows, size_t n_rows)
{
    sum_rows(work, dynamo, dynamo->n_calls, rows, n_rows, false);
    sum_rows(work, aten, aten->n_forward, rows, n_rows, true);
    for (uint32_t i = 0; i < dynamo->n_calls; i++) {
        struct work_call *call = &work->calls.v[dynamo->first_call + i];
        if (call->row < n_rows && rows[call->row].aten > 0 && rows[call->row].function > 0)
            call->weight.runs[WORK_FIRST] *= rows[call->row].aten / rows[call->row].function;
    }
    /* Zeroes what was added, for the next graph. */
    for (uint32_t i = 0; i < dynamo->n_calls; i++)
        if (work->calls.v[dynamo->first_call + i].row < n_rows)
            rows[work->calls.v[dynamo->first_call + i].row] = (struct row_sum){ 0, 0 };
    for (uint32_t i = 0; i < aten->n_forward; i++)
        if (work->calls.v[aten->first_call + i].row < n_rows)
            rows[work->calls.v[aten->first_call + i].row] = (struct row_sum){ 0, 0 };
}

bool line_work_settle(struct line_work *work, uint32_t n_attempts, size_t n_rows)
{
    struct row_sum *rows = calloc(n_rows + 1, sizeof *rows);
    uint32_t *dynamo = calloc((size_t)n_attempts + 1, sizeof *dynamo); /* its graph, plus 1 */
    for (size_t i = 0; rows && dynamo && i < work->graphs.n; i++) {
        const struct work_graph *graph = &work->graphs.v[i];
        if (graph->attempt >= n_attempts)
            continue;
        if (graph->kind == GRAPH_DYNAMO)
            dynamo[graph->attempt] = (uint32_t)i + 1;
        else if ((graph->kind == GRAPH_JOINT || graph->kind == GRAPH_INFERENCE) &&
                 dynamo[graph->attempt] > 0) {
            settle_graph(work, &work->graphs.v[dynamo[graph->attempt] - 1], graph, rows, n_rows);
            dynamo[graph->attempt] = 0;
        }
    }
    bool ok = rows && dynamo;
    free(rows);
    free(dynamo);
    return ok;
}

void line_work_release(struct line_work *work)
{
    vec_release(&work->calls);
    vec_release(&work->inputs);
    vec_release(&work->graphs);
}

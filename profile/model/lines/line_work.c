/* Collects the calls of graphs, and the inputs at which Dynamo can be seen to arrive. */
#include "profile/model/lines/line_work.h"

#include <stdlib.h>

#define LINE_WEIGHT_OTHER 6.0F
#define SAVING            14.0F /* of the calls that save a result for backward */

float line_work_weight(struct str target, enum graph_kind kind)
{
    static const struct {
        const char *name;
        float weight;
        bool saves;
    } WEIGHTS[] = {
#define LINE_WEIGHT(name, weight, saves) { name, weight, saves },
#include "profile/model/lines/line_weights.def"
#undef LINE_WEIGHT
    };
    struct str base = target_base_name(target);
    for (size_t i = 0; i < sizeof WEIGHTS / sizeof *WEIGHTS; i++)
        if (str_is(base, WEIGHTS[i].name))
            return WEIGHTS[i].weight + (WEIGHTS[i].saves && kind == GRAPH_JOINT ? SAVING : 0);
    return LINE_WEIGHT_OTHER;
}

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

void line_work_release(struct line_work *work)
{
    vec_release(&work->calls);
    vec_release(&work->inputs);
    vec_release(&work->graphs);
}

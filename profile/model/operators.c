/* Counts calls by level and operator, and the nodes of user lines, in the graphs. */
#include "profile/model/lines/line_table.h"

struct operator_counter {
    struct profile_build *b;
    struct intern keys; /* (level, op) -> row */
    vec_of(const struct operator_weight *)
    weights;                     /* by row */
    struct line_work *work;      /* of the current input */
    struct call_weigher weigher; /* of its graphs */
    struct buf name;
    struct line_table *lines;
    struct err *err;
};

/* Ranks the forms of a graph that PyTorch prints for one level: the highest counts; 0 is none.
 * Dynamo's and AOTAutograd's levels are those of their own events: before_joint_graph, for one, is
 * the input of Inductor's joint passes, also in inference. */
static unsigned form_rank(const struct graph_ref *ref)
{
    if (ref->is_event)
        return 4;
    if (ref->kind <= GRAPH_INFERENCE || ref->kind == GRAPH_ANY)
        return 0;
    if (str_starts(ref->name, STR("after_")))
        return 3;
    return str_starts(ref->name, STR("before_")) ? 1 : 2;
}

static size_t graph_slot(const struct graph_ref *ref)
{
    size_t attempt = ref->attempt == TRACE_NONE ? 0 : (size_t)ref->attempt + 1;
    return attempt * GRAPH_KINDS + ref->kind;
}

static unsigned char *best_forms(const struct build_input *in)
{
    unsigned char *best = calloc(((size_t)in->trace->n_attempts + 1) * GRAPH_KINDS, 1);
    for (uint32_t i = 0; best && i < in->graphs->n; i++) {
        const struct graph_ref *ref = &in->graphs->refs[i];
        if (form_rank(ref) > best[graph_slot(ref)])
            best[graph_slot(ref)] = (unsigned char)form_rank(ref);
    }
    return best;
}

static bool count_operator(struct operator_counter *c, enum graph_kind level,
                           const struct node *node, bool kept,
                           const struct operator_weight **weight)
{
    buf_clear(&c->name);
    node_op_name(node, &c->name);
    uint32_t op = c->name.failed ? INTERN_NONE : build_name(c->b, buf_str(&c->name));
    uint32_t row = op == INTERN_NONE ? op : intern(&c->keys, BUILD_KEY(level, op));
    if (row == INTERN_NONE)
        return false;
    if (row == c->b->operators.n &&
        (!vec_push(&c->weights, operator_weight_of(node->target)) ||
         !vec_push(&c->b->operators, (struct profile_operator_row){ .level = level, .op = op })))
        return false;
    *weight = c->weights.v[row];
    c->b->operators.v[row].calls++;
    c->b->operators.v[row].kept += kept;
    return true;
}

/* The argument of count_visited(). */
struct operator_visit {
    struct operator_counter *c;
    const struct graph_ref *ref;
    bool kept, visited;
    bool backward; /* a call has read a tangent */
    uint64_t calls, nodes, symbolic_sizes, inputs;
};

static bool reads_tangent(const struct graph *graph, const struct node *node)
{
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *arg = &node_args(graph, node)[i];
        if (arg->kind == ARG_NODE && arg->u.node < graph->n_nodes &&
            str_starts(graph->nodes[arg->u.node].name, STR("tangents_")))
            return true;
    }
    return false;
}

/* Calls of an attempt's Dynamo graph and of its other graphs are first made once each. */
static uint64_t weight_scope(const struct graph_ref *ref)
{
    return (uint64_t)ref->attempt * 2 + (ref->kind == GRAPH_DYNAMO);
}

static bool count_call(struct operator_visit *visit, const struct graph *graph,
                       const struct node *node, struct work_graph *done)
{
    struct operator_counter *c = visit->c;
    const struct operator_weight *weight;
    struct work_call call = { .row = LINE_NOBODY };
    visit->calls++;
    if (node->meta != META_NONE)
        visit->symbolic_sizes += meta_symbolic_sizes(graph, &graph->pool->metas[node->meta]);
    visit->backward = visit->backward || reads_tangent(graph, node);
    done->n_forward += !visit->backward;
    return count_operator(c, visit->ref->kind, node, visit->kept, &weight) &&
           (node->location == LOCATION_NONE ||
            line_table_node(c->lines, graph, node->location, visit->ref->kind, visit->kept,
                            &call.row)) &&
           call_weigh(&c->weigher, graph, node, weight, weight_scope(visit->ref), visit->backward,
                      &call.weight) &&
           vec_push(&c->work->calls, call);
}

static bool count_nodes(struct operator_visit *visit, const struct graph *graph,
                        struct work_graph *done)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (node_is_call(&graph->nodes[i]) && !count_call(visit, graph, &graph->nodes[i], done))
            return false;
    for (uint32_t i = 0; i < graph->n_children; i++)
        if (!count_nodes(visit, graph->children[i], done))
            return false;
    return true;
}

static bool count_visited(void *user, const struct graph *graph)
{
    struct operator_visit *visit = user;
    struct line_work *work = visit->c->work;
    struct work_graph done = { .attempt = visit->ref->attempt,
                               .kind = visit->ref->kind,
                               .first_call = (uint32_t)work->calls.n };
    visit->visited = true;
    const struct graph_counts counts = graph_counts(graph);
    visit->nodes = counts.nodes;
    visit->inputs = counts.inputs;
    if (!call_weigher_graph(&visit->c->weigher, graph) || !count_nodes(visit, graph, &done))
        return false;
    done.n_calls = (uint32_t)work->calls.n - done.first_call;
    return (done.kind != GRAPH_DYNAMO || line_work_inputs(work, &done, graph)) &&
           vec_push(&work->graphs, done);
}

static bool count_graph_ops(struct operator_counter *c, const struct build_input *in,
                            uint32_t index)
{
    const struct graph_ref *ref = &in->graphs->refs[index];
    struct profile_operators *all = &c->b->profile.operators;
    struct operator_visit visit = { .c = c, .ref = ref, .kept = build_kept(in, ref->attempt) };
    struct err unreadable = { 0 };
    if (!trace_visit_graph(in->trace, index, count_visited, &visit, &unreadable)) {
        if (visit.visited)
            return false;
        all->unreadable++;
        return unreadable.kind != ERR_ENV || err_set(c->err, ERR_ENV, "%s", unreadable.text);
    }
    all->graphs[ref->kind]++;
    all->kept_graphs[ref->kind] += visit.kept;
    all->calls[ref->kind] += visit.calls;
    all->kept[ref->kind] += visit.kept ? visit.calls : 0;
    all->kept_nodes[ref->kind] += visit.kept ? visit.nodes : 0;
    uint32_t compile = build_compile(in, ref->attempt);
    if (compile != PROFILE_NONE) {
        struct profile_compile *row = &c->b->compiles.v[compile];
        *(visit.kept ? &row->calls[ref->kind] : &row->thrown_calls[ref->kind]) += visit.calls;
        row->symbolic_sizes[ref->kind] += visit.symbolic_sizes;
        row->inputs[ref->kind] += visit.inputs;
    }
    return true;
}

static bool count_input_ops(struct operator_counter *c, struct build_input *in)
{
    c->work = &in->work;
    unsigned char *best = best_forms(in);
    bool ok = best;
    for (uint32_t i = 0; ok && i < in->graphs->n; i++) {
        const struct graph_ref *ref = &in->graphs->refs[i];
        if (form_rank(ref) > 0 && form_rank(ref) == best[graph_slot(ref)] &&
            build_takes(c->b, in, ref->record))
            ok = count_graph_ops(c, in, i);
    }
    free(best);
    call_weigher_release(&c->weigher);
    return ok && line_work_settle(c->work, in->trace->n_attempts, c->b->lines.n);
}

/* Ties are broken by name, so that the order does not depend on the log's. */
struct sort_row {
    struct profile_operator_row row;
    struct str name;
};

static int compare_op_calls(const void *a, const void *b)
{
    const struct sort_row *x = a, *y = b;
    if (x->row.level != y->row.level)
        return x->row.level < y->row.level ? -1 : 1;
    if (x->row.calls != y->row.calls)
        return x->row.calls > y->row.calls ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static int compare_op_names(const void *a, const void *b)
{
    const struct sort_row *x = a, *y = b;
    if (x->row.level != y->row.level)
        return x->row.level < y->row.level ? -1 : 1;
    return str_cmp(x->name, y->name);
}

static bool sort_operators(struct profile_build *b)
{
    size_t n = b->operators.n;
    struct sort_row *rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct sort_row){ b->operators.v[i], build_text(b, b->operators.v[i].op) };
    qsort(rows, n, sizeof *rows,
          b->profile.options.sort == PROFILE_BY_NAME ? compare_op_names : compare_op_calls);
    for (size_t i = 0; i < n; i++)
        b->operators.v[i] = rows[i].row;
    free(rows);
    return true;
}

bool operators_count(struct profile_build *b, struct line_table *lines, struct err *err)
{
    struct operator_counter c = { .b = b, .lines = lines, .err = err };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->profile.n_traces && !b->profile.options.no_graphs; i++)
        ok = count_input_ops(&c, &b->inputs[i]);
    ok = ok && sort_operators(b);
    intern_release(&c.keys);
    vec_release(&c.weights);
    buf_release(&c.name);
    b->profile.operators.rows = b->operators.v;
    b->profile.operators.n_rows = (uint32_t)b->operators.n;
    return ok || err_nomem(err);
}

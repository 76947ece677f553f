/* Facts from graphs: collectives with the sizes that they had at the first call, inputs, and a
 * digest of the operators. */
#include <stdlib.h>

#include "profile/ranks/collective_ops.h"
#include "profile/ranks/job_build.h"
#include "trace/base/hash.h"
#include "trace/events/symbols.h"
#include "trace/events/user_line.h"
#include "trace/graph/expr_value.h"
#include "trace/graphs.h"

struct graph_facts {
    struct job_build *b;
    const struct graph_ref *ref;
    const struct graph *graph;
    struct buf sizes;
    unsigned depth;
};

enum { ARGUMENT_DEPTH = 8, TREE_DEPTH = 50 };

/* ---- Sizes ---- */

static bool value_of_symbol(void *user, struct str name, int64_t *ret)
{
    const struct graph_facts *g = user;
    struct trace *trace = g->b->trace;
    struct err err = { 0 };
    const struct symbol_table *table = trace_symbols(trace, &err);
    const struct symbol *s =
        table ? symbol_table_find(table, trace->records[g->ref->record].recording, g->ref->attempt,
                                  name, g->ref->record)
              : NULL;
    return s && !s->unbacked && str_to_i64(s->value, ret);
}

/* Appends the sizes of a meta at the first call, "?" for those that only a run knows. */
static void put_sizes(struct graph_facts *g, const struct meta *meta, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        int64_t value;
        buf_puts(out, i ? ", " : "");
        if (expr_value(&g->graph->pool->exprs, meta->sizes[i], value_of_symbol, g, &value))
            buf_i64(out, value);
        else
            buf_putc(out, '?');
    }
    buf_putc(out, ']');
}

static bool no_value(void *user, struct str name, int64_t *ret)
{
    (void)user;
    (void)name;
    (void)ret;
    return false;
}

/* Appends the sizes of an input, "*" for those that are symbols. */
static void put_static_sizes(const struct graph *graph, const struct meta *meta, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        int64_t value;
        buf_puts(out, i ? ", " : "");
        if (expr_value(&graph->pool->exprs, meta->sizes[i], no_value, NULL, &value))
            buf_i64(out, value);
        else
            buf_putc(out, '*');
    }
    buf_putc(out, ']');
}

/* Returns the meta of a tensor; an alias has none, but the node that it names. */
static const struct meta *tensor_of(const struct graph *graph, node_id node)
{
    for (uint32_t left = graph->n_nodes; left > 0 && node < graph->n_nodes; left--) {
        const struct node *n = &graph->nodes[node];
        if (n->op != NODE_ALIAS || !n->n_args || graph->args[n->first_arg].kind != ARG_NODE)
            break;
        node = graph->args[n->first_arg].u.node;
    }
    uint32_t meta = node < graph->n_nodes ? graph->nodes[node].meta : META_NONE;
    return meta != META_NONE && graph->pool->metas[meta].kind == META_TENSOR
               ? &graph->pool->metas[meta]
               : NULL;
}

/* ---- Collectives ---- */

/* Appends the tensors of an argument to g->sizes and the dtype of the first to `fact`, and a
 * constant to b->text. The last text is the group's name. */
static void put_argument(struct graph_facts *g, const struct arg *arg, unsigned depth,
                         struct str *group, enum dtype *dtype)
{
    struct buf *constants = &g->b->text;
    const struct meta *meta = arg->kind == ARG_NODE ? tensor_of(g->graph, arg->u.node) : NULL;
    if (meta) {
        put_sizes(g, meta, &g->sizes);
        *dtype = *dtype == DTYPE_NONE ? meta->dtype : *dtype;
    } else if (arg->kind == ARG_LIST || arg->kind == ARG_TUPLE) {
        for (uint32_t i = 0; depth < ARGUMENT_DEPTH && i < arg->u.items.n; i++)
            put_argument(g, &g->graph->args[arg->u.items.first + i], depth + 1, group, dtype);
    } else if (arg->kind != ARG_NODE) {
        if (arg->kind == ARG_STRING && group->n) {
            buf_puts(constants, constants->n ? ", " : "");
            buf_put(constants, *group);
        }
        if (arg->kind == ARG_STRING) {
            *group = arg->text;
            return;
        }
        buf_puts(constants, constants->n ? ", " : "");
        buf_put(constants, arg->text);
    }
}

static const struct location *program_location(const struct graph *graph, uint32_t node)
{
    uint32_t at = graph->nodes[node].location;
    bool known =
        at < graph->n_locations && user_file_of(graph->locations[at].file) == USER_FILE_PROGRAM;
    return known ? &graph->locations[at] : NULL;
}

/* The user lines of a graph's nodes, asked for in their order, so that each node is looked at
 * twice at most. */
struct user_lines {
    const struct location *nearest; /* of the nodes before `n_before` */
    const struct location *next;    /* the first behind them, where they have none */
    uint32_t n_before;
    bool searched; /* none behind them has one either */
};

/* Returns the user line of a node, or of the nearest one before it that has one, or else behind it:
 * the graph's comments name the line in torch.distributed for collectives. */
static const struct location *user_location(const struct graph *graph, uint32_t node,
                                            struct user_lines *lines)
{
    for (; lines->n_before <= node; lines->n_before++) {
        const struct location *at = program_location(graph, lines->n_before);
        lines->nearest = at ? at : lines->nearest;
    }
    for (uint32_t i = node + 1; !lines->nearest && !lines->searched && !lines->next; i++) {
        lines->searched = i >= graph->n_nodes;
        lines->next = lines->searched ? NULL : program_location(graph, i);
    }
    return lines->nearest ? lines->nearest : lines->next;
}

static bool put_collective(struct graph_facts *g, uint32_t node, struct str name,
                           const struct location *at)
{
    struct job_build *b = g->b;
    const struct node *n = &g->graph->nodes[node];
    const struct arg *args = node_args(g->graph, n);
    enum dtype dtype = DTYPE_NONE;
    struct str group = STR("");
    struct fact fact = {
        .kind = g->ref->kind == GRAPH_DYNAMO ? FACT_EARLY : FACT_COLLECTIVE,
        .what = job_keep(b, name),
        .place = JOB_NONE,
        .backward = g->ref->kind == GRAPH_BACKWARD,
    };
    buf_clear(&b->text);
    buf_clear(&g->sizes);
    for (uint32_t i = 0; i < n->n_args; i++)
        put_argument(g, &args[i], 0, &group, &dtype);
    fact.detail = is_uneven(name) ? 0 : job_keep_text(b);
    fact.sizes = g->sizes.failed ? INTERN_NONE : job_keep(b, buf_str(&g->sizes));
    fact.extra = job_keep(b, str_of(dtype == DTYPE_NONE ? "" : dtype_python_name(dtype)));
    fact.group = job_keep(b, group);
    if (at && !job_keep_place(b, at->file, at->function, at->line, &fact.place))
        return err_nomem(b->err);
    return job_put_fact(b, g->ref->attempt, &fact);
}

static bool read_collectives(struct graph_facts *g, const struct graph *graph)
{
    struct buf op = BUF_INIT;
    struct user_lines lines = { 0 };
    bool ok = true;
    g->graph = graph;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++) {
        if (graph->nodes[i].op != NODE_CALL_FUNCTION)
            continue;
        buf_clear(&op);
        node_op_name(&graph->nodes[i], &op);
        struct str name;
        if (is_collective(buf_str(&op), &name))
            ok = put_collective(g, i, name, user_location(graph, i, &lines));
    }
    ok = ok && (!op.failed || err_nomem(g->b->err));
    buf_release(&op);
    for (uint32_t i = 0; ok && i < graph->n_children && g->depth < TREE_DEPTH; i++) {
        g->depth++;
        ok = read_collectives(g, graph->children[i]);
        g->depth--;
    }
    return ok;
}

/* ---- Dynamo's graph ---- */

static bool put_input(struct graph_facts *g, const struct node *node)
{
    struct job_build *b = g->b;
    const struct meta *meta = node->meta == META_NONE ? NULL : &g->graph->pool->metas[node->meta];
    if (!meta || meta->kind != META_TENSOR)
        return true;
    struct fact fact = { .kind = FACT_INPUT,
                         .what = job_keep(b, node->name),
                         .extra = job_keep(b, str_of(dtype_python_name(meta->dtype))),
                         .place = JOB_NONE };
    buf_clear(&b->text);
    put_static_sizes(g->graph, meta, &b->text);
    fact.detail = job_keep_text(b);
    return job_put_fact(b, g->ref->attempt, &fact);
}

static bool read_dynamo(struct graph_facts *g, const struct graph *graph)
{
    struct job_build *b = g->b;
    struct fact calls = { .kind = FACT_CALLS, .place = JOB_NONE };
    bool ok = true;
    g->graph = graph;
    g->sizes.n = 0;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        if (node->op == NODE_PLACEHOLDER)
            ok = put_input(g, node);
        if (!node_is_call(node))
            continue;
        node_op_name(node, &g->sizes);
        buf_putc(&g->sizes, ' ');
    }
    buf_clear(&b->text);
    buf_printf(&b->text, "%016llx", (unsigned long long)hash_str(buf_str(&g->sizes)));
    if (ok && g->sizes.failed)
        ok = err_nomem(b->err);
    calls.what = job_keep_text(b);
    return ok && job_put_fact(b, g->ref->attempt, &calls);
}

/* ---- All graphs ---- */

struct graph_visit {
    struct graph_facts *facts;
    bool visited;
};

static bool take_graph(void *user, const struct graph *graph)
{
    struct graph_visit *visit = user;
    struct graph_facts *g = visit->facts;
    visit->visited = true;
    return read_collectives(g, graph) && (g->ref->kind != GRAPH_DYNAMO || read_dynamo(g, graph));
}

static bool is_read(const struct graph_ref *ref)
{
    return ref->is_event && (ref->kind == GRAPH_DYNAMO || ref->kind == GRAPH_FORWARD ||
                             ref->kind == GRAPH_BACKWARD || ref->kind == GRAPH_INFERENCE);
}

/* A graph that cannot be read is left out. */
static bool read_graph(struct graph_facts *g, uint32_t ref)
{
    struct graph_visit visit = { .facts = g };
    struct err unreadable = { 0 };
    struct job_compile *c = &g->b->job->compiles.v[g->b->compile_of[g->ref->attempt]];
    c->aot |= g->ref->kind != GRAPH_DYNAMO;
    if (trace_visit_graph(g->b->trace, ref, take_graph, &visit, &unreadable))
        return true;
    if (visit.visited)
        return err_nomem(g->b->err);
    return unreadable.kind != ERR_ENV || err_copy(g->b->err, &unreadable);
}

bool job_read_graphs(struct job_build *b)
{
    const struct graph_list *list = trace_graphs(b->trace, b->err);
    struct graph_facts g = { .b = b };
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < list->n; i++) {
        g.ref = &list->refs[i];
        if (job_is_last(b, g.ref->attempt) && is_read(g.ref))
            ok = read_graph(&g, i);
    }
    buf_release(&g.sizes);
    return ok;
}

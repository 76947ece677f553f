#include "minify/edit/inline.h"

#include "minify/edit/edit.h"

#include "minify/candidate/candidate_source.h"

struct inliner {
    const struct candidate *whole;
    const struct graph *graph, *body;
    node_id call;
    struct arena arena;
    vec_of(struct arg)
    operands; /* the call's operands without nesting, which replace the body's inputs */
    vec_of(struct arg)
    results; /* the results of the body as nodes of the new graph */
    vec_of(struct node)
    nodes;
    vec_of(struct arg)
    args;
    node_id *map;       /* by node of the whole; NODE_NONE: the call, or a getitem of its results */
    uint32_t *part;     /* by node of the whole: the number of the result + 1 */
    struct arg *inside; /* by node of the body: the node that replaces it */
    bool failed;
};

/* ---- The call ---- */

static const struct graph *body_of(const struct graph *graph, const struct arg *arg)
{
    if (arg->kind == ARG_GRAPH)
        return graph_child(graph, arg->text);
    if (arg->kind != ARG_NODE || graph->nodes[arg->u.node].op != NODE_GET_ATTR)
        return NULL;
    return graph_child(graph, graph->nodes[arg->u.node].target);
}

static void add_inlined_operands(struct inliner *in, const struct arg *arg)
{
    if (arg->kind == ARG_LIST || arg->kind == ARG_TUPLE) {
        for (uint32_t i = 0; i < arg->u.items.n; i++)
            add_inlined_operands(in, &in->graph->args[arg->u.items.first + i]);
    } else if (arg->kind != ARG_STRING && !body_of(in->graph, arg)) {
        in->failed |= !vec_push(&in->operands, *arg);
    }
}

static uint32_t n_inputs(const struct graph *graph)
{
    uint32_t n = 0;
    for (node_id id = 0; id < graph->n_nodes; id++)
        n += graph->nodes[id].op == NODE_PLACEHOLDER;
    return n;
}

static bool read_inlined_call(struct inliner *in, struct err *why)
{
    const struct node *node = &in->graph->nodes[in->call];
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *arg = &in->graph->args[node->first_arg + i];
        if (!in->body)
            in->body = body_of(in->graph, arg); /* the arguments before these are not operands */
        else if (!arg->key.n)
            add_inlined_operands(in, arg);
    }
    if (!in->body || in->body->n_children)
        return edit_invalid(why, "the call has no subgraph that can be inlined");
    if (in->operands.n != n_inputs(in->body))
        return edit_invalid(why, "the subgraph takes other operands than the call gives");
    return true;
}

/* ---- Copying ---- */

static struct arg map_argument(const struct inliner *in, bool inner, const struct arg *arg);

static uint32_t copy_inlined_args(struct inliner *in, const struct graph *from, bool inner,
                                  uint32_t first, uint32_t n)
{
    uint32_t at = (uint32_t)in->args.n;
    for (uint32_t i = 0; i < n; i++)
        in->failed |= !vec_push(&in->args, (struct arg){ .kind = ARG_NONE });
    for (uint32_t i = 0; i < n && !in->failed; i++) {
        struct arg arg = map_argument(in, inner, &from->args[first + i]);
        bool nests = arg.kind == ARG_LIST || arg.kind == ARG_TUPLE || arg.kind == ARG_DICT ||
                     arg.kind == ARG_SLICE || arg.kind == ARG_CALL;
        if (nests)
            arg.u.items.first =
                copy_inlined_args(in, from, inner, arg.u.items.first, arg.u.items.n);
        in->args.v[at + i] = arg;
    }
    return at;
}

/* Returns the node that replaces a reference; a result of the call becomes the node of the body
 * that computes it. */
static struct arg map_argument(const struct inliner *in, bool inner, const struct arg *arg)
{
    struct arg ret = *arg;
    if (arg->kind != ARG_NODE)
        return ret;
    if (inner)
        ret = in->inside[arg->u.node];
    else if (in->part[arg->u.node] && in->part[arg->u.node] <= in->results.n)
        ret = in->results.v[in->part[arg->u.node] - 1];
    else
        ret.u.node = in->map[arg->u.node];
    ret.key = arg->key;
    return ret;
}

static node_id append_inlined(struct inliner *in, const struct graph *from, bool inner,
                              struct node node)
{
    node.first_arg = copy_inlined_args(in, from, inner, node.first_arg, node.n_args);
    node.first_deleted = node.n_deleted = 0;
    if (inner)
        node.location = LOCATION_NONE; /* its location is in the list of another graph */
    in->failed |= !vec_push(&in->nodes, node);
    return (node_id)in->nodes.n - 1;
}

/* Makes names of the body unique by the name of the call. */
static struct str inner_name(struct inliner *in, struct str name)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s_%.*s", STR_ARG(in->graph->nodes[in->call].name), STR_ARG(name));
    struct str ret = arena_copy(&in->arena, buf_str(&text));
    in->failed |= text.failed || !ret.p;
    buf_release(&text);
    return ret;
}

static void copy_body(struct inliner *in)
{
    uint32_t next = 0;
    for (node_id id = 0; id < in->body->n_nodes && !in->failed; id++) {
        struct node node = in->body->nodes[id];
        if (node.op == NODE_PLACEHOLDER) {
            in->inside[id] = map_argument(in, false, &in->operands.v[next++]);
        } else if (node.op == NODE_OUTPUT) {
            for (uint32_t i = 0; i < node.n_args && !in->failed; i++)
                in->failed |= !vec_push(
                    &in->results, map_argument(in, true, &in->body->args[node.first_arg + i]));
        } else {
            node.name = inner_name(in, node.name);
            in->inside[id] = (struct arg){ .kind = ARG_NODE,
                                           .u.node = append_inlined(in, in->body, true, node) };
        }
    }
}

static bool is_part(const struct inliner *in, node_id id, int64_t *which)
{
    const struct node *node = &in->graph->nodes[id];
    const struct arg *args = node_args(in->graph, node);
    if (!node_is_getitem(in->graph, node) || args[0].u.node != in->call)
        return false;
    *which = args[1].u.integer;
    return true;
}

/* Removes the get_attr of a subgraph that only the call names; for cond(), also that of the other
 * branch. */
static bool goes_with_call(const struct inliner *in, node_id id)
{
    const struct node *node = &in->graph->nodes[id], *call = &in->graph->nodes[in->call];
    uint32_t uses = 0, by_call = 0;
    if (node->op != NODE_GET_ATTR || !graph_child(in->graph, node->target))
        return false;
    for (uint32_t i = 0; i < in->graph->n_args; i++)
        uses += in->graph->args[i].kind == ARG_NODE && in->graph->args[i].u.node == id;
    for (uint32_t i = 0; i < call->n_args; i++) {
        const struct arg *arg = &in->graph->args[call->first_arg + i];
        by_call += arg->kind == ARG_NODE && arg->u.node == id;
    }
    return by_call && uses == by_call;
}

static bool copy_whole(struct inliner *in, struct err *why)
{
    for (node_id id = 0; id < in->graph->n_nodes && !in->failed; id++) {
        int64_t which;
        if (id == in->call) {
            copy_body(in);
            in->part[id] = in->body->returns_tuple ? 0 : 1;
            in->map[id] = NODE_NONE;
        } else if (is_part(in, id, &which)) {
            if (which < 0 || (size_t)which >= in->results.n)
                return edit_invalid(why, "the subgraph has no such result");
            in->part[id] = (uint32_t)which + 1;
        } else if (goes_with_call(in, id)) {
            in->map[id] = NODE_NONE;
        } else {
            in->map[id] = append_inlined(in, in->graph, false, in->graph->nodes[id]);
        }
    }
    for (size_t i = 0; i < in->args.n; i++)
        if (in->args.v[i].kind == ARG_NODE && in->args.v[i].u.node == NODE_NONE)
            return edit_invalid(why, "the call's results are used as one");
    return true;
}

/* ---- The whole ---- */

static struct candidate *finish_inlined(struct inliner *in, struct err *why)
{
    const struct candidate *whole = in->whole;
    struct graph graph = *in->graph;
    struct cand_guard *guards = arena_array(&in->arena, struct cand_guard, whole->n_guards + 1u);
    bool *gradients = arena_array(&in->arena, bool, in->nodes.n + 1);
    if (!guards || !gradients)
        return err_nomem(why), NULL;
    for (node_id id = 0; id < in->graph->n_nodes; id++)
        if (candidate_requires_grad(whole, id))
            gradients[in->map[id]] = true;
    graph.nodes = in->nodes.v;
    graph.n_nodes = (uint32_t)in->nodes.n;
    graph.args = in->args.v;
    graph.n_args = (uint32_t)in->args.n;
    for (uint32_t i = 0; i < whole->n_guards; i++) {
        node_id node = whole->guards[i].node;
        while (in->map[node] == NODE_NONE && node + 1 < in->graph->n_nodes)
            node++;
        guards[i] = whole->guards[i];
        guards[i].node = whole->guards[i].node ? in->map[node] : 0;
    }
    struct cand_source source = { .like = whole,
                                  .graph = &graph,
                                  .gradients = candidate_n_gradients(whole) ? gradients : NULL,
                                  .symbols = whole->symbols,
                                  .n_symbols = whole->n_symbols,
                                  .guards = guards,
                                  .n_guards = whole->n_guards };
    return candidate_make(&source, NULL, why);
}

struct candidate *inline_call(const struct candidate *whole, node_id call, struct err *why)
{
    struct inliner in = { .whole = whole, .graph = whole->graph, .call = call };
    struct candidate *ret = NULL;
    if (call >= whole->graph->n_nodes || !node_is_call(&whole->graph->nodes[call]))
        return edit_invalid(why, "there is no such call"), NULL;
    size_t n = whole->graph->n_nodes;
    bool ok = read_inlined_call(&in, why);
    in.map = arena_array(&in.arena, node_id, n + 1);
    in.part = arena_array(&in.arena, uint32_t, n + 1);
    in.inside = arena_array(&in.arena, struct arg, (ok ? (size_t)in.body->n_nodes : 0) + 1);
    in.failed |= !in.map || !in.part || !in.inside;
    if (ok && !in.failed && copy_whole(&in, why) && !in.failed)
        ret = finish_inlined(&in, why);
    if (in.failed)
        err_nomem(why);
    vec_release(&in.operands);
    vec_release(&in.results);
    vec_release(&in.nodes);
    vec_release(&in.args);
    arena_release(&in.arena);
    return ret;
}

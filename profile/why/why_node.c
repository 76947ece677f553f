/* Where a number in a graph comes from: the way back through the graph, from result to arguments
 * that print the same number, to an input of the graph or to the call that made it. */
#include "profile/why/why_build.h"

enum { STEPS_MAX = 4096 };

#define NO_DIM UINT32_MAX /* the node itself is a number */

struct place_in_graph {
    node_id node;
    uint32_t dim;
    uint32_t from_end; /* the size's distance from the last one; known of tuples, too */
};

struct node_search {
    struct why_build *b;
    const struct graph_list *graphs;
    uint32_t ref;
    const struct graph *graph;
    struct str number; /* what is traced, as printed */
    vec_of(struct place_in_graph)
    queue;
    struct why_attempt a;
    struct replay_state state; /* of names of inputs only */
    bool has_state;
};

/* ---- Numbers of nodes ---- */

static struct str print_recorded(struct node_search *s, expr_id e)
{
    struct buf text = BUF_INIT;
    expr_print(&s->graph->pool->exprs, e, &text);
    struct str ret = text.failed ? (struct str){ 0 } : arena_copy(&s->b->arena, buf_str(&text));
    buf_release(&text);
    return ret;
}

static const struct meta *meta_of(const struct node_search *s, node_id node)
{
    uint32_t meta = s->graph->nodes[node].meta;
    return meta == META_NONE ? NULL : &s->graph->pool->metas[meta];
}

/* Returns the number of places of a node, each with a number of its own. */
static uint32_t n_places(const struct meta *meta)
{
    return !meta || meta->kind == META_OTHER ? 0 : meta->n_sizes;
}

static bool is_number_here(struct node_search *s, node_id node, uint32_t i)
{
    const struct meta *meta = meta_of(s, node);
    struct str text = print_recorded(s, meta->sizes[i]);
    return text.p && str_eq(text, s->number);
}

/* ---- The way back ---- */

static bool visit_place(struct node_search *s, node_id node, uint32_t dim, uint32_t from_end)
{
    for (size_t i = 0; i < s->queue.n; i++)
        if (s->queue.v[i].node == node && s->queue.v[i].dim == dim)
            return true;
    return s->queue.n >= STEPS_MAX ||
           vec_push(&s->queue, (struct place_in_graph){ node, dim, from_end });
}

/* Returns the node behind another name of it: "l_x_ = L_x_". */
static node_id behind_alias(const struct node_search *s, node_id node)
{
    const struct node *at = &s->graph->nodes[node];
    const struct arg *args = node_args(s->graph, at);
    bool alias = at->op == NODE_ALIAS && at->n_args && args[0].kind == ARG_NODE;
    return alias ? args[0].u.node : node;
}

/* Goes on with an argument that prints the number. A size at the same distance from the last one is
 * the same size in nearly every operator, and is preferred to others. */
static bool visit_argument(struct node_search *s, node_id node, uint32_t from_end, bool *found)
{
    const struct meta *meta = meta_of(s, node);
    uint32_t n = n_places(meta);
    if (!meta && node_is_call(&s->graph->nodes[node])) { /* a tuple: the way goes through it */
        *found = true;
        return visit_place(s, node, NO_DIM, from_end);
    }
    if (meta && meta->kind == META_SYM) {
        if (!n || !is_number_here(s, node, 0))
            return true;
        *found = true;
        return visit_place(s, node, NO_DIM, NO_DIM);
    }
    if (from_end < n && is_number_here(s, node, n - 1 - from_end)) {
        *found = true;
        return visit_place(s, node, n - 1 - from_end, from_end);
    }
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++)
        if (is_number_here(s, node, i)) {
            *found = true;
            ok = visit_place(s, node, i, n - 1 - i);
        }
    return ok;
}

static bool visit_args(struct node_search *s, const struct arg *args, uint32_t n, uint32_t from_end,
                       bool *found, bool *literal)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct arg *arg = &args[i];
        if (arg->kind == ARG_INT)
            *literal |= str_eq(arg->text, s->number);
        if (arg->kind == ARG_NODE &&
            !visit_argument(s, behind_alias(s, arg->u.node), from_end, found))
            return false;
        if ((arg->kind == ARG_LIST || arg->kind == ARG_TUPLE) &&
            !visit_args(s, s->graph->args + arg->u.items.first, arg->u.items.n, from_end, found,
                        literal))
            return false;
    }
    return true;
}

/* ---- Inputs ---- */

/* Returns the dynamo graph of the same attempt, whose inputs have the names of sources; or NULL. */
static const struct graph *dynamo_graph(struct node_search *s)
{
    struct err ignored = { 0 };
    uint32_t attempt = s->graphs->refs[s->ref].attempt;
    for (uint32_t i = s->ref + 1; i-- > 0;)
        if (s->graphs->refs[i].attempt == attempt && s->graphs->refs[i].kind == GRAPH_DYNAMO)
            return trace_graph(s->b->trace, i, &ignored);
    return NULL;
}

static struct str dynamo_name(struct node_search *s, uint64_t index)
{
    const struct graph *graph = dynamo_graph(s);
    for (uint32_t i = 0; graph && i < graph->n_nodes; i++)
        if (graph->nodes[i].op == NODE_PLACEHOLDER && index-- == 0)
            return graph->nodes[i].name;
    return STR("");
}

/* Returns the text between two marks of a descriptor, or "". */
static struct str between_marks(struct str text, const char *from, const char *to)
{
    size_t at = str_find(text, str_of(from));
    if (at == text.n)
        return STR("");
    text = str_from(text, at + strlen(from));
    return str_first(text, str_find(text, str_of(to)));
}

/* Returns the name that Dynamo gave the input of an AOT graph, or "". */
static struct str name_of_input(struct node_search *s, const struct node *node)
{
    uint64_t index;
    struct str number = between_marks(node->descriptor, "PlainAOTInput(idx=", ")");
    if (s->graphs->refs[s->ref].kind == GRAPH_DYNAMO)
        return node->name;
    if (str_to_u64(number, &index))
        return dynamo_name(s, index);
    if (str_starts(node->name, STR("primals_")) && str_to_u64(str_from(node->name, 8), &index) &&
        index > 0)
        return dynamo_name(s, index - 1);
    return STR("");
}

static struct str source_of_input(struct node_search *s, const struct node *node)
{
    struct str target = between_marks(node->descriptor, "target='", "'");
    struct str name = target.n ? STR("") : name_of_input(s, node);
    for (size_t i = 0; i < s->state.n_inputs; i++)
        if (name.n && str_eq(s->state.inputs[i].name, name) && s->state.inputs[i].is_tensor)
            return s->a.inputs.list.v[i].tensor.source;
    for (size_t i = 0; target.n && i < s->a.inputs.list.n; i++) {
        const struct input *input = &s->a.inputs.list.v[i];
        struct str source = input->kind == INPUT_TENSOR ? input->tensor.source : STR("");
        struct str plain = why_name_plain(source, &s->b->arena);
        struct str path = str_from(plain, str_find_char(plain, '.') + 1);
        if (plain.p && source.n && str_eq(path, why_name_plain(target, &s->b->arena)))
            return source;
    }
    return STR("");
}

/* Explains the size of an input. */
static bool explain_graph_input(struct node_search *s, struct place_in_graph at, struct err *err)
{
    const struct node *node = &s->graph->nodes[at.node];
    struct why_build *b = s->b;
    struct str source = source_of_input(s, node);
    struct why_size size;
    bool found = false;
    if (!source.n || at.dim == NO_DIM)
        return true;
    struct str plain = why_name_plain(source, &b->arena);
    struct why_name name = { .base = plain, .part = WHY_SIZE, .dim = at.dim };
    name.plain = why_printf(b, "%.*s.size()[%u]", STR_ARG(plain), (unsigned)at.dim);
    if (!plain.p || !name.plain.p)
        return err_nomem(err);
    return why_size_of(b, &s->a, &name, &size, &found, err) &&
           (!found || why_add_size(b, &s->a, &size, b->sizes.n == 0, err));
}

/* ---- Symbols of the number ---- */

struct symbols_of_number {
    struct node_search *s;
    struct err *err;
    bool ok;
};

static void explain_symbol_of_number(void *user, struct str symbol)
{
    struct symbols_of_number *e = user;
    struct why_build *b = e->s->b;
    struct why_size size;
    bool found = false;
    for (size_t i = 0; i < b->sizes.n; i++)
        if (str_eq(b->sizes.v[i].symbol, symbol))
            return;
    e->ok = e->ok && why_size_of_symbol(b, &e->s->a, symbol, &size, &found, e->err);
    if (e->ok && found)
        e->ok = why_add_size(b, &e->s->a, &size, b->sizes.n == 0, e->err);
}

static bool explain_symbols(struct node_search *s, struct err *err)
{
    struct symbols_of_number e = { s, err, true };
    guard_symbols(s->number, explain_symbol_of_number, &e);
    return e.ok;
}

/* ---- Steps ---- */

static struct why_line line_of(const struct node_search *s, const struct node *node)
{
    if (node->location == LOCATION_NONE)
        return (struct why_line){ 0 };
    const struct location *l = &s->graph->locations[node->location];
    return (struct why_line){ l->file, l->function, l->code, l->line };
}

static struct str op_of(struct node_search *s, const struct node *node)
{
    struct buf text = BUF_INIT;
    if (node_is_call(node))
        node_op_name(node, &text);
    else
        buf_puts(&text, node->op == NODE_PLACEHOLDER ? "input" : "attribute");
    struct str ret = text.failed ? (struct str){ 0 } : arena_copy(&s->b->arena, buf_str(&text));
    buf_release(&text);
    return ret;
}

static bool add_step(struct node_search *s, struct place_in_graph at, const char *origin,
                     struct err *err)
{
    const struct node *node = &s->graph->nodes[at.node];
    struct why_step step = { .node = node->name,
                             .op = op_of(s, node),
                             .size = at.dim == NO_DIM
                                         ? STR("")
                                         : why_printf(s->b, "size()[%u]", (unsigned)at.dim),
                             .text = s->number,
                             .origin = origin,
                             .line = line_of(s, node) };
    return (step.op.p && step.size.p && vec_push(&s->b->steps, step)) || err_nomem(err);
}

static bool follow_place(struct node_search *s, struct place_in_graph at, struct err *err)
{
    const struct node *node = &s->graph->nodes[at.node];
    bool found = false, literal = false;
    if (node->op == NODE_PLACEHOLDER || node->op == NODE_GET_ATTR)
        return add_step(s, at, node->op == NODE_PLACEHOLDER ? "input" : "attribute", err) &&
               explain_graph_input(s, at, err);
    if (!visit_args(s, node_args(s->graph, node), node->n_args, at.from_end, &found, &literal))
        return err_nomem(err);
    return add_step(s, at, found ? NULL : literal ? "literal" : "computed", err);
}

static bool follow_number(struct node_search *s, struct place_in_graph at, struct err *err)
{
    const struct meta *meta = meta_of(s, at.node);
    s->number = print_recorded(s, meta->sizes[at.dim == NO_DIM ? 0 : at.dim]);
    s->queue.n = 0;
    if (!s->number.p || !visit_place(s, at.node, at.dim, at.from_end))
        return err_nomem(err);
    for (size_t i = 0; i < s->queue.n; i++)
        if (!follow_place(s, s->queue.v[i], err))
            return false;
    return explain_symbols(s, err);
}

/* ---- The search ---- */

static node_id find_named_node(const struct graph *graph, struct str name)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op != NODE_ALIAS && str_eq(graph->nodes[i].name, name))
            return i;
    return NODE_NONE;
}

struct graph_probe {
    struct str name;
    bool found;
};

static bool probe_graph(void *user, const struct graph *graph)
{
    struct graph_probe *probe = user;
    probe->found = find_named_node(graph, probe->name) != NODE_NONE;
    return true;
}

/* Finds the first graph of the selected part that has the node; attempts that were thrown away come
 * last. */
static bool find_graph(struct node_search *s, struct err *err)
{
    const struct trace *trace = s->b->trace;
    for (int thrown = 0; thrown < 2; thrown++)
        for (uint32_t i = 0; i < s->graphs->n; i++) {
            const struct graph_ref *ref = &s->graphs->refs[i];
            struct graph_probe probe = { s->b->name.base, false };
            struct err unreadable = { 0 };
            if (!ref->is_event || ref->attempt == TRACE_NONE ||
                !why_is_selected(s->b, ref->attempt) ||
                (trace->attempts[ref->attempt].status == ATTEMPT_RESTARTED) != thrown)
                continue;
            if (!trace_visit_graph(s->b->trace, i, probe_graph, &probe, &unreadable) &&
                unreadable.kind == ERR_ENV)
                return err_set(err, ERR_ENV, "%s", unreadable.text);
            if (probe.found) {
                s->ref = i;
                return true;
            }
        }
    s->ref = TRACE_NONE;
    return true;
}

static bool explain_dims(struct node_search *s, node_id node, struct err *err)
{
    const struct why_name *name = &s->b->name;
    const struct meta *meta = meta_of(s, node);
    uint32_t n = n_places(meta);
    int64_t dim = name->dim < 0 ? name->dim + n : name->dim;
    if (meta && meta->kind == META_SYM && n)
        return follow_number(s, (struct place_in_graph){ node, NO_DIM, NO_DIM }, err);
    if (name->part == WHY_SIZE && (dim < 0 || dim >= n))
        return err_set(err, ERR_USAGE, "%.*s has %u sizes, so there is no size %lld",
                       STR_ARG(name->base), (unsigned)n, (long long)name->dim);
    for (uint32_t i = 0; i < n; i++)
        if ((name->part != WHY_SIZE || i == dim) &&
            !follow_number(s, (struct place_in_graph){ node, i, n - 1 - i }, err))
            return false;
    return true;
}

static bool explain_node(struct node_search *s, struct err *err)
{
    struct why_build *b = s->b;
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    struct buf name = BUF_INIT;
    s->graph = trace_graph(b->trace, s->ref, err);
    node_id node = s->graph ? find_named_node(s->graph, b->name.base) : NODE_NONE;
    if (node == NODE_NONE)
        return s->graph != NULL;
    selector_print_graph(b->trace, s->graphs, s->ref, &name);
    b->why.graph = name.failed ? (struct str){ 0 } : arena_copy(&b->arena, buf_str(&name));
    buf_release(&name);
    if (!b->why.graph.p)
        return err_nomem(err);
    uint32_t attempt = s->graphs->refs[s->ref].attempt;
    b->why.kind = WHY_NODE;
    if (attempt == TRACE_NONE)
        return true;
    s->has_state = true;
    return why_attempt_read(b, attempt, &s->a, err) &&
           replay_state_open(&s->state, &s->a.inputs, &settings, err) && explain_dims(s, node, err);
}

bool why_find_node(struct why_build *b, struct err *err)
{
    struct node_search s = { .b = b, .ref = TRACE_NONE };
    s.graphs = trace_graphs(b->trace, err);
    if (!s.graphs)
        return false;
    bool ok = b->options->selector.kind.n
                  ? selector_graph(b->trace, s.graphs, &b->options->selector, &s.ref, err)
                  : find_graph(&s, err);
    ok = ok && (s.ref == TRACE_NONE || explain_node(&s, err));
    if (s.has_state) {
        replay_state_close(&s.state);
        why_attempt_release(&s.a);
    }
    vec_release(&s.queue);
    return ok;
}

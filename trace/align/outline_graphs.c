/* Collects the graphs of an outline: what each node is, without names. */
#include <stdlib.h>

#include "trace/align/outline_build.h"
#include "trace/events/user_line.h"
#include "trace/pt2/signature.h"

enum { ARG_DEPTH = 64 };

struct graph_collector {
    struct outline_build *b;
    const struct graph_ref *ref;
    struct outline_scope scope;
    uint32_t attempt;
    uint32_t *metas;  /* by meta of the pool: text + 1; 0: not yet */
    uint32_t *places; /* by node of the current graph: its index there without aliases */
    const struct graph *graph;
    struct buf args, path;
    uint32_t depth;
    struct intern names; /* attempt, name and path of a graph */
    vec_of(uint32_t)
    counts;
};

static void put_annotation_sizes(struct graph_collector *t, const struct meta *meta,
                                 const expr_id *sizes, struct buf *out)
{
    buf_putc(out, '[');
    for (uint32_t i = 0; i < meta->n_sizes; i++) {
        buf_puts(out, i ? ", " : "");
        outline_put_expr(t->b, t->scope, &t->graph->pool->exprs, sizes[i], out);
    }
    buf_putc(out, ']');
}

static void put_compared_meta(struct graph_collector *t, const struct meta *meta, struct buf *out)
{
    if (meta->kind == META_OTHER) {
        buf_put(out, meta->text);
        return;
    }
    buf_put(out, meta->wrapper);
    buf_puts(out, meta->kind == META_SYM ? "Sym" : dtype_short_name(meta->dtype));
    put_annotation_sizes(t, meta, meta->sizes, out);
    if (meta->has_strides)
        put_annotation_sizes(t, meta, meta->strides, out);
    buf_put(out, meta->device);
    buf_put(out, meta->placement);
}

static bool text_of_meta(struct graph_collector *t, uint32_t meta, uint32_t *ret)
{
    if (meta == META_NONE) {
        *ret = 0;
        return true;
    }
    if (t->metas[meta] == 0) {
        struct buf *text = &t->b->text;
        buf_clear(text);
        put_compared_meta(t, &t->graph->pool->metas[meta], text);
        uint32_t id = text->failed ? INTERN_NONE : outline_intern(t->b, buf_str(text));
        if (id == INTERN_NONE)
            return false;
        t->metas[meta] = id + 1;
    }
    *ret = t->metas[meta] - 1;
    return true;
}

static bool put_form_args(struct graph_collector *t, uint32_t first, uint32_t n, unsigned depth);

static bool put_form_items(struct graph_collector *t, const struct arg *arg, const char *ends,
                           unsigned depth)
{
    buf_putc(&t->args, ends[0]);
    bool ok = depth >= ARG_DEPTH || put_form_args(t, arg->u.items.first, arg->u.items.n, depth + 1);
    buf_putc(&t->args, ends[1]);
    return ok;
}

/* Returns the node that an alias refers to. */
static node_id without_aliases(const struct graph *graph, node_id node)
{
    for (uint32_t left = graph->n_nodes; left > 0; left--) {
        const struct node *n = &graph->nodes[node];
        if (n->op != NODE_ALIAS || n->n_args == 0 || graph->args[n->first_arg].kind != ARG_NODE)
            return node;
        node = graph->args[n->first_arg].u.node;
    }
    return node;
}

static bool put_form_arg(struct graph_collector *t, const struct arg *arg, unsigned depth)
{
    struct buf *out = &t->args;
    if (arg->key.n) {
        buf_put(out, arg->key);
        buf_putc(out, '=');
    }
    switch (arg->kind) {
    case ARG_NODE:
        buf_putc(out, '%');
        return vec_push(&t->b->outline->refs, t->places[without_aliases(t->graph, arg->u.node)]);
    case ARG_NONE: buf_puts(out, "None"); return true;
    case ARG_ELLIPSIS: buf_puts(out, "..."); return true;
    case ARG_BOOL: buf_puts(out, arg->u.integer ? "True" : "False"); return true;
    case ARG_STRING:
        buf_putc(out, '\'');
        buf_put(out, arg->text);
        buf_putc(out, '\'');
        return true;
    case ARG_CALL: buf_put(out, arg->text); return put_form_items(t, arg, "()", depth);
    case ARG_LIST: return put_form_items(t, arg, "[]", depth);
    case ARG_TUPLE: return put_form_items(t, arg, "()", depth);
    case ARG_DICT: return put_form_items(t, arg, "{}", depth);
    case ARG_SLICE: return put_form_items(t, arg, "<>", depth);
    case ARG_INT:
    case ARG_FLOAT:
    case ARG_COMPLEX:
    case ARG_DTYPE:
    case ARG_LAYOUT:
    case ARG_MEMORY_FORMAT:
    case ARG_DEVICE:
    case ARG_TARGET:
    case ARG_GRAPH:
    case ARG_OPAQUE: buf_put(out, arg->text); return true;
    }
    return true;
}

static bool put_form_args(struct graph_collector *t, uint32_t first, uint32_t n, unsigned depth)
{
    bool ok = true;
    for (uint32_t i = 0; i < n && ok; i++) {
        buf_puts(&t->args, i ? ", " : "");
        ok = put_form_arg(t, &t->graph->args[first + i], depth);
    }
    return ok;
}

/* Returns whether inputs' names say what they are: those that Dynamo and torch.export give do;
 * AOTAutograd's are numbers. */
static bool has_meaningful_names(enum graph_kind kind)
{
    return kind == GRAPH_DYNAMO || kind == GRAPH_EXPORTED || kind == GRAPH_PRE_GRAD;
}

/* Returns the signature of the program that the graph is, or NULL. */
static const struct graph_signature *program_signature(const struct graph_collector *t)
{
    return t->ref->kind == GRAPH_EXPORTED && t->depth == 0 ? t->graph->signature : NULL;
}

static const struct input_spec *input_spec_of(const struct graph_collector *t, node_id node)
{
    const struct graph_signature *signature = program_signature(t);
    bool known = signature && node < signature->n_inputs;
    return known && signature->inputs[node].source.n ? &signature->inputs[node] : NULL;
}

/* Prints an input. "L_x_" and "l_x_" are the same input, and one whose name is a symbol is that
 * symbol. What the user passes to a program is called by its path in the arguments. */
static bool put_input_name(struct graph_collector *t, const struct node *node)
{
    const struct meta *metas = t->graph->pool->metas;
    const struct input_spec *input = input_spec_of(t, (node_id)(node - t->graph->nodes));
    if (input) {
        buf_put(&t->args, input->source);
        if (input->kind != INPUT_CONSTANT)
            return true;
        buf_puts(&t->args, " = ");
        return put_form_arg(t, &input->value, 0);
    }
    if (has_meaningful_names(t->ref->kind) && t->depth == 0 &&
        (node->meta == META_NONE || metas[node->meta].kind != META_SYM))
        buf_put(&t->args, node->name);
    return true;
}

static bool put_node_op(struct graph_collector *t, const struct node *node, uint32_t *ret)
{
    struct buf *text = &t->b->text;
    bool ok = true;
    buf_clear(&t->args);
    buf_clear(text);
    switch (node->op) {
    case NODE_PLACEHOLDER:
        buf_puts(text, "placeholder");
        ok = put_input_name(t, node);
        break;
    case NODE_GET_ATTR:
        buf_puts(text, "get_attr");
        buf_put(&t->args, node->target);
        break;
    case NODE_OUTPUT:
        buf_puts(text, "output");
        ok = put_form_args(t, node->first_arg, node->n_args, 0);
        break;
    case NODE_OPAQUE: buf_put(text, node->target); break;
    case NODE_CALL_FUNCTION:
    case NODE_CALL_METHOD:
    case NODE_CALL_MODULE:
    case NODE_ALIAS:
        node_op_name(node, text);
        ok = put_form_args(t, node->first_arg, node->n_args, 0);
        break;
    }
    *ret = text->failed ? INTERN_NONE : outline_intern(t->b, buf_str(text));
    return ok && *ret != INTERN_NONE && !t->args.failed;
}

/* Returns the innermost line outside PyTorch, where the graph has callers (.pt2). */
static bool user_line_of(struct graph_collector *t, uint32_t location, uint32_t *ret)
{
    *ret = OUTLINE_NONE;
    if (location == LOCATION_NONE)
        return true;
    const struct graph *g = t->graph;
    const struct location *at = &g->locations[location], *inner = at;
    for (uint32_t left = g->n_locations; torch_is_own_file(at->file); left--) {
        if (at->caller >= g->n_locations || left == 0) {
            at = inner;
            break;
        }
        at = &g->locations[at->caller];
    }
    return outline_line_at(t->b, at->file, at->function, at->code, at->line, ret);
}

/* Completes a form whose operator is set and whose arguments are in t->args. */
static bool finish_form(struct graph_collector *t, struct outline_form form, uint32_t meta,
                        uint32_t *ret)
{
    struct outline *o = t->b->outline;
    struct str shown = meta == META_NONE ? STR("") : t->graph->pool->metas[meta].text;
    if (!text_of_meta(t, meta, &form.meta))
        return false;
    form.args = outline_intern(t->b, buf_str(&t->args));
    form.shown = outline_intern(t->b, shown);
    if (form.args == INTERN_NONE || form.shown == INTERN_NONE)
        return false;
    *ret = intern(&t->b->form_keys,
                  OUTLINE_KEY(form.op, form.args, form.meta, form.shown, form.line, form.is_call));
    return *ret != INTERN_NONE && (*ret < o->forms.n || vec_push(&o->forms, form));
}

static bool collected_form(struct graph_collector *t, const struct node *node, uint32_t *ret)
{
    struct outline_form form = { .is_call = node_is_call(node) };
    return put_node_op(t, node, &form.op) && user_line_of(t, node->location, &form.line) &&
           finish_form(t, form, node->meta, ret);
}

/* Adds a result of a program: its path in the value of forward(), or what it is written to. */
static bool add_result(struct graph_collector *t, const struct node *output, uint32_t i)
{
    struct outline *o = t->b->outline;
    const struct output_spec *spec = &program_signature(t)->outputs[i];
    const struct arg *arg = &t->graph->args[output->first_arg + i];
    struct outline_node n = { .first_ref = (uint32_t)o->refs.n };
    struct outline_form form = { .op = outline_intern(t->b, STR("result")), .line = OUTLINE_NONE };
    uint32_t meta = arg->kind == ARG_NODE ? t->graph->nodes[arg->u.node].meta : META_NONE;
    buf_clear(&t->args);
    buf_put(&t->args, spec->path);
    if (spec->target.n)
        buf_printf(&t->args, "%s %.*s", output_kind_name(spec->kind), STR_ARG(spec->target));
    size_t named = t->args.n;
    buf_puts(&t->args, " = ");
    bool ok = form.op != INTERN_NONE && put_form_arg(t, arg, 0);
    if (arg->kind == ARG_NODE)
        t->args.n = named;
    ok = ok && !t->args.failed && finish_form(t, form, meta, &n.form);
    n.n_refs = (uint32_t)o->refs.n - n.first_ref;
    n.name = outline_intern(t->b, output->name);
    return ok && n.name != INTERN_NONE && vec_push(&o->nodes, n);
}

/* Adds the results of a program in place of its output node. */
static bool add_results(struct graph_collector *t, const struct node *output,
                        struct outline_graph *graph)
{
    bool ok = true;
    for (uint32_t i = 0; i < output->n_args && ok; i++)
        ok = add_result(t, output, i);
    graph->n_nodes += output->n_args;
    graph->n_outputs = output->n_args;
    return ok;
}

static bool add_graph_node(struct graph_collector *t, const struct node *node,
                           struct outline_graph *graph)
{
    struct outline *o = t->b->outline;
    struct outline_node n = { .first_ref = (uint32_t)o->refs.n };
    const struct graph_signature *signature = program_signature(t);
    if (node->op == NODE_OUTPUT && signature && node->n_args == signature->n_outputs &&
        node->n_args > 0)
        return add_results(t, node, graph);
    if (!collected_form(t, node, &n.form))
        return false;
    n.n_refs = (uint32_t)o->refs.n - n.first_ref;
    n.name = outline_intern(t->b, node->name);
    graph->n_nodes++;
    graph->n_calls += node_is_call(node);
    graph->n_inputs += node->op == NODE_PLACEHOLDER;
    if (node->op == NODE_OUTPUT)
        graph->n_outputs = node->n_args;
    return n.name != INTERN_NONE && vec_push(&o->nodes, n);
}

/* Returns in *ret the number of earlier graphs of that name and path in the attempt. */
static bool count_before(struct graph_collector *t, uint32_t name, uint32_t path, uint32_t *ret)
{
    uint32_t id = intern(&t->names, OUTLINE_KEY(t->attempt, name, path));
    if (id == INTERN_NONE || (id == t->counts.n && !vec_push(&t->counts, 0)))
        return false;
    *ret = t->counts.v[id]++;
    return true;
}

static bool take_nodes(struct graph_collector *t, const struct graph *graph,
                       struct outline_graph *row)
{
    bool ok = true;
    uint32_t place = 0;
    t->graph = graph;
    t->places = calloc((size_t)graph->n_nodes + 1, sizeof *t->places);
    if (!t->places)
        return false;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        t->places[i] = place;
        place += graph->nodes[i].op != NODE_ALIAS;
    }
    for (uint32_t i = 0; i < graph->n_nodes && ok; i++)
        if (graph->nodes[i].op != NODE_ALIAS)
            ok = add_graph_node(t, &graph->nodes[i], row);
    free(t->places);
    t->places = NULL;
    return ok;
}

static bool take_tree(struct graph_collector *t, const struct graph *graph)
{
    enum { TREE_DEPTH = 100 };
    struct outline *o = t->b->outline;
    struct outline_graph row = {
        .attempt = t->attempt,
        .kind = t->ref->kind,
        .name = outline_intern(t->b, t->ref->name),
        .path = outline_intern(t->b, buf_str(&t->path)),
        .first_node = (uint32_t)o->nodes.n,
        .record = t->ref->record,
    };
    if (t->path.failed || row.name == INTERN_NONE || row.path == INTERN_NONE ||
        !count_before(t, row.name, row.path, &row.index))
        return false;
    if (!take_nodes(t, graph, &row) || !vec_push(&o->graphs, row))
        return false;
    bool ok = true;
    size_t length = t->path.n;
    for (uint32_t i = 0; i < graph->n_children && ok && t->depth < TREE_DEPTH; i++) {
        buf_putc(&t->path, '/');
        buf_put(&t->path, graph->children[i]->name);
        t->depth++;
        ok = take_tree(t, graph->children[i]);
        t->depth--;
        t->path.n = length;
    }
    return ok;
}

struct outline_visit {
    struct graph_collector *t;
    bool visited, ok;
};

static bool take_visited(void *user, const struct graph *graph)
{
    struct outline_visit *visit = user;
    struct graph_collector *t = visit->t;
    visit->visited = true;
    t->metas = calloc((size_t)graph->pool->n_metas + 1, sizeof *t->metas);
    buf_clear(&t->path);
    visit->ok = t->metas && take_tree(t, graph);
    free(t->metas);
    t->metas = NULL;
    return visit->ok;
}

static bool take_graph(struct graph_collector *t, const struct graph_list *list, uint32_t index,
                       struct err *err)
{
    struct outline_visit visit = { .t = t, .ok = true };
    struct err unreadable = { 0 };
    const struct graph_ref *ref = &list->refs[index];
    uint32_t recording = t->b->trace->records[ref->record].recording;
    t->ref = ref;
    t->scope = (struct outline_scope){ recording, ref->attempt };
    t->attempt = outline_attempt_for(t->b, recording, ref->attempt);
    if (trace_visit_graph(t->b->trace, index, take_visited, &visit, &unreadable))
        return true;
    if (visit.visited)
        return err_nomem(err);
    t->b->outline->n_unreadable++;
    return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
}

/* Returns whether the graph is used: of graphs that PyTorch prints before and after its passes,
 * the later ones are. */
static bool is_outlined(const struct graph_ref *ref)
{
    if (ref->is_event || ref->kind == GRAPH_EXPORTED ||
        str_starts(ref->name, STR("symtape_partial_")))
        return true;
    return (ref->kind == GRAPH_PRE_GRAD || ref->kind == GRAPH_POST_GRAD) &&
           !str_starts(ref->name, STR("before_"));
}

struct order {
    uint32_t attempt, index;
};

static int by_attempt(const void *a, const void *b)
{
    const struct order *x = a, *y = b;
    if (x->attempt != y->attempt)
        return x->attempt < y->attempt ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static uint32_t put_in_order(const struct outline_build *b, const struct graph_list *list,
                             struct order *order)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct graph_ref *ref = &list->refs[i];
        uint32_t of =
            outline_attempt_for(b, b->trace->records[ref->record].recording, ref->attempt);
        if (is_outlined(ref) && of != OUTLINE_NONE)
            order[n++] = (struct order){ of, i };
    }
    qsort(order, n, sizeof *order, by_attempt);
    return n;
}

bool outline_build_graphs(struct outline_build *b, struct err *err)
{
    const struct graph_list *list = trace_graphs(b->trace, err);
    struct order *order = list ? calloc((size_t)list->n + 1, sizeof *order) : NULL;
    if (!order)
        return list ? err_nomem(err) : false;
    struct graph_collector t = { .b = b };
    bool ok = true;
    uint32_t n = put_in_order(b, list, order);
    for (uint32_t i = 0; i < n && ok; i++) {
        struct outline_attempt *attempt = &b->outline->attempts.v[order[i].attempt];
        size_t before = b->outline->graphs.n;
        ok = take_graph(&t, list, order[i].index, err);
        if (attempt->n_graphs == 0)
            attempt->first_graph = (uint32_t)before;
        attempt->n_graphs += (uint32_t)(b->outline->graphs.n - before);
    }
    free(order);
    buf_release(&t.args);
    buf_release(&t.path);
    intern_release(&t.names);
    vec_release(&t.counts);
    return ok;
}

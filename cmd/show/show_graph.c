#include "cmd/show/show.h"
#include "trace/graphs.h"

/* --graph: prints one graph, as PyTorch's readable text or as JSON. */

enum { ARGS_DEEPEST = 24 }; /* arguments that nest deeper are printed as "..." */

static const char *const OPS[] = {
    [NODE_PLACEHOLDER] = "placeholder", [NODE_CALL_FUNCTION] = "call_function",
    [NODE_CALL_METHOD] = "call_method", [NODE_CALL_MODULE] = "call_module",
    [NODE_GET_ATTR] = "get_attr",       [NODE_ALIAS] = "alias",
    [NODE_OUTPUT] = "output",           [NODE_OPAQUE] = "opaque",
};

static void arg_json(const struct graph *graph, const struct arg *arg, unsigned depth,
                     struct json_writer *w, const char *key);

static void items_json(const struct graph *graph, const struct arg *arg, unsigned depth,
                       struct json_writer *w, const char *key)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < arg->u.items.n; i++)
        arg_json(graph, &graph->args[arg->u.items.first + i], depth + 1, w, NULL);
    json_close(w);
}

/* Prints {"KEY": text}, with the items of a container beside it. */
static void tagged_json(const struct graph *graph, const struct arg *arg, const char *tag,
                        struct str text, unsigned depth, struct json_writer *w, const char *key)
{
    json_open_object(w, key);
    json_put_str(w, tag, text);
    if (arg->kind == ARG_CALL)
        items_json(graph, arg, depth, w, "args");
    json_close(w);
}

static void container_json(const struct graph *graph, const struct arg *arg, const char *tag,
                           unsigned depth, struct json_writer *w, const char *key)
{
    json_open_object(w, key);
    items_json(graph, arg, depth, w, tag);
    json_close(w);
}

/* Writes an integer of any length as a JSON number if it is spelt like one, without leading
 * zeros. */
static void int_json(struct str text, struct json_writer *w, const char *key)
{
    size_t sign = text.n && text.p[0] == '-', i = sign + str_digits(str_from(text, sign));
    bool plain = i == text.n && i > sign && (text.p[sign] != '0' || i == sign + 1);
    if (plain)
        json_put_raw(w, key, text);
    else
        json_put_str(w, key, text);
}

/* Integers, booleans, strings, None and lists are written as JSON's own values, everything else as
 * an object with its kind: {"node": "mul_7"}, {"dtype": "torch.float32"}, {"tuple": [...]}. */
static void arg_json(const struct graph *graph, const struct arg *arg, unsigned depth,
                     struct json_writer *w, const char *key)
{
    if (depth > ARGS_DEEPEST) {
        json_put_cstr(w, key, "...");
        return;
    }
    switch (arg->kind) {
    case ARG_NONE: json_put_null(w, key); return;
    case ARG_NODE:
        tagged_json(graph, arg, "node", graph->nodes[arg->u.node].name, depth, w, key);
        return;
    case ARG_INT: int_json(arg->text, w, key); return;
    case ARG_BOOL: json_put_bool(w, key, arg->u.integer != 0); return;
    case ARG_STRING: json_put_str(w, key, arg->text); return;
    case ARG_LIST: items_json(graph, arg, depth, w, key); return;
    case ARG_FLOAT: tagged_json(graph, arg, "float", arg->text, depth, w, key); return;
    case ARG_COMPLEX: tagged_json(graph, arg, "complex", arg->text, depth, w, key); return;
    case ARG_DTYPE: tagged_json(graph, arg, "dtype", arg->text, depth, w, key); return;
    case ARG_LAYOUT: tagged_json(graph, arg, "layout", arg->text, depth, w, key); return;
    case ARG_MEMORY_FORMAT:
        tagged_json(graph, arg, "memory_format", arg->text, depth, w, key);
        return;
    case ARG_DEVICE: tagged_json(graph, arg, "device", arg->text, depth, w, key); return;
    case ARG_ELLIPSIS: tagged_json(graph, arg, "other", STR("..."), depth, w, key); return;
    case ARG_TARGET: tagged_json(graph, arg, "target", arg->text, depth, w, key); return;
    case ARG_CALL: tagged_json(graph, arg, "call", arg->text, depth, w, key); return;
    case ARG_GRAPH: tagged_json(graph, arg, "graph", arg->text, depth, w, key); return;
    case ARG_OPAQUE: tagged_json(graph, arg, "other", arg->text, depth, w, key); return;
    case ARG_TUPLE: container_json(graph, arg, "tuple", depth, w, key); return;
    case ARG_DICT: container_json(graph, arg, "dict", depth, w, key); return;
    case ARG_SLICE: container_json(graph, arg, "slice", depth, w, key); return;
    }
}

static void args_json(const struct graph *graph, const struct node *node, struct json_writer *w)
{
    bool keywords = false;
    json_open_array(w, "args");
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *arg = &graph->args[node->first_arg + i];
        if (arg->key.n && !keywords) {
            json_close(w);
            json_open_object(w, "kwargs");
            keywords = true;
        }
        if (keywords)
            json_put_key(w, arg->key);
        arg_json(graph, arg, 0, w, NULL);
    }
    json_close(w);
}

static void exprs_json(const struct graph_pool *pool, const expr_id *exprs, uint32_t n,
                       struct json_writer *w, const char *key)
{
    struct buf text = BUF_INIT;
    json_open_array(w, key);
    for (uint32_t i = 0; i < n; i++) {
        buf_clear(&text);
        expr_print(&pool->exprs, exprs[i], &text);
        json_put_str(w, NULL, buf_str(&text));
    }
    if (text.failed)
        w->out->failed = true;
    json_close(w);
    buf_release(&text);
}

static void meta_json(const struct graph_pool *pool, const struct meta *meta, struct json_writer *w)
{
    json_open_object(w, "meta");
    json_put_str(w, "text", meta->text);
    if (meta->kind == META_TENSOR) {
        json_put_cstr(w, "dtype", dtype_python_name(meta->dtype));
        exprs_json(pool, meta->sizes, meta->n_sizes, w, "sizes");
        if (meta->has_strides)
            exprs_json(pool, meta->strides, meta->n_sizes, w, "strides");
        json_put_str(w, "device", meta->device);
    }
    json_close(w);
}

static void location_json(const struct location *location, struct json_writer *w)
{
    json_open_object(w, "line");
    json_put_str(w, "file", location->file);
    json_put_u64(w, "line", location->line);
    json_put_str(w, "function", location->function);
    json_put_str(w, "code", location->code);
    json_close(w);
}

static void node_json(struct show *show, const struct graph *graph, const struct node *node)
{
    struct json_writer *w = &show->w;
    json_open_object(w, NULL);
    json_put_str(w, "name", node->name);
    json_put_cstr(w, "op", OPS[node->op]);
    json_put_str(w, "target", node->target);
    args_json(graph, node, w);
    if (node->meta != META_NONE)
        meta_json(graph->pool, &graph->pool->metas[node->meta], w);
    if (node->location != LOCATION_NONE)
        location_json(&graph->locations[node->location], w);
    if (node->descriptor.n)
        json_put_str(w, "descriptor", node->descriptor);
    json_close(w);
    show_flush(show);
}

/* A graph and its parent. Graphs nest as deep as their text was indented, so the tree is walked
 * with an explicit stack, and written flat: each with its number and its parent's. */
struct graph_at {
    const struct graph *graph;
    uint32_t parent;
};

static bool tree_json(struct show *show, const struct graph *root)
{
    vec_of(struct graph_at)
    todo = { 0 };
    struct json_writer *w = &show->w;
    bool ok = vec_push(&todo, (struct graph_at){ root, TRACE_NONE });
    json_open_array(w, "graphs");
    for (size_t i = 0; ok && i < todo.n; i++) {
        const struct graph *graph = todo.v[i].graph;
        json_open_object(w, NULL);
        json_put_str(w, "name", graph->name);
        if (todo.v[i].parent == TRACE_NONE)
            json_put_null(w, "parent");
        else
            json_put_u64(w, "parent", todo.v[i].parent);
        json_put_u64(w, "opaque", graph->n_opaque);
        json_open_array(w, "nodes");
        for (uint32_t n = 0; n < graph->n_nodes; n++)
            node_json(show, graph, &graph->nodes[n]);
        json_close(w);
        json_close(w);
        for (uint32_t c = 0; ok && c < graph->n_children; c++)
            ok = vec_push(&todo, (struct graph_at){ graph->children[c], (uint32_t)i });
    }
    json_close(w);
    vec_release(&todo);
    return ok;
}

static int print_graph_json(struct show *show, const struct graph_ref *ref,
                            const struct graph *graph)
{
    struct json_writer *w = &show->w;
    struct err err = { 0 };
    json_open_object(w, "graph");
    place_attempt_json(show->trace, ref->record, ref->attempt, w);
    json_put_u64(w, "log_line", show->trace->records[ref->record].line);
    json_put_str(w, "kind", ref->name);
    json_put_cstr(w, "group", graph_kind_name(ref->kind));
    json_put_u64(w, "index", ref->index);
    bool ok = tree_json(show, graph);
    json_close(w);
    if (ok)
        return EXIT_DONE;
    err_nomem(&err);
    return out_error(show->out, &err);
}

static int print_graph_text(struct show *show, const struct graph *graph)
{
    struct buf text = BUF_INIT;
    graph_print(graph, &text);
    out_exact(show->out, buf_str(&text));
    int code = text.failed ? out_buf(show->out, &text) : EXIT_DONE;
    buf_release(&text);
    return code;
}

/* Merges the value of --graph=SELECTOR into the operand's own selector. */
static bool merge_selector(struct selector *into, const char *part, struct err *err)
{
    struct selector more;
    if (*part == '\0')
        return true;
    if (!selector_parse_part(&more, str_of(part), err))
        return false;
    if (more.recording.n)
        into->recording = more.recording;
    if (more.compile.n) {
        into->compile = more.compile;
        into->attempt = more.attempt;
    }
    if (more.kind.n) {
        into->kind = more.kind;
        into->index = more.index;
    }
    return true;
}

int show_graph(struct show *show)
{
    struct err err = { 0 };
    struct selector selector = show->selector;
    uint32_t ref = 0;
    const struct graph *graph = NULL;
    const struct graph_list *list = trace_graphs(show->trace, &err);
    if (list && merge_selector(&selector, show->args->graph ? show->args->graph : "", &err) &&
        tape_check_kind(show->trace, &selector, &err) &&
        selector_graph(show->trace, list, &selector, &ref, &err))
        graph = trace_graph(show->trace, ref, &err);
    if (!graph)
        return out_error(show->out, &err);
    return show->args->json ? print_graph_json(show, &list->refs[ref], graph)
                            : print_graph_text(show, graph);
}

#include "profile/model/build.h"
#include "profile/page/page_parts.h"
#include "trace/base/intern.h"
#include "trace/base/number.h"
#include "trace/events/symbols.h"
#include "trace/graph/expr_value.h"

/* A graph is an object with tables that its nodes refer to by number:
 *
 *     "ops":   ["aten.mm.default", ...]
 *     "metas": [["f32[s77, 64]", "4, 64", 1024], ...]  as recorded, sizes at the hints, bytes
 *     "lines": [["demo/encoder.py", 29, "forward", "return x"], ...]
 *     "nodes": [["mm", 0, "x, weight", 0, 0], ...]     name, op, arguments, meta, line; -1: none
 *     "memory": [0, 4096, ...]                         by node, where it is estimated
 */

struct graph_writer {
    const struct profile *profile;
    struct trace *trace;
    uint32_t input; /* the number of that trace in the profile */
    const struct symbol_table *symbols;
    uint32_t recording, attempt, record; /* of the graph, for its hints */
    size_t most;                         /* bytes of `w.out` beyond which no node is added */
    size_t measured, escapes; /* of `w.out`: bytes that were looked at, and what page_reduce() adds
                                 to them */
    struct json_writer w;
    struct intern ops;
    struct buf text;
    const struct graph_ref *ref;
    const struct graph_memory *memory; /* of the graph; NULL: not estimated */
    const struct profile_compile *compile;
    uint64_t graphs_left_out;
    uint64_t nodes_left_out; /* of graphs that are not left out themselves */
};

static bool hint_of(void *user, struct str name, int64_t *ret)
{
    const struct graph_writer *g = user;
    const struct symbol *symbol =
        symbol_table_find(g->symbols, g->recording, g->attempt, name, g->record);
    return symbol && str_to_i64(symbol->value, ret);
}

static const char *const INPUTS[] = {
    [NODE_PLACEHOLDER] = "placeholder", [NODE_GET_ATTR] = "get_attr", [NODE_ALIAS] = "alias",
    [NODE_OUTPUT] = "output",           [NODE_OPAQUE] = "opaque",
};

/* Returns the number of a node's operator, in the order of first use. */
static uint32_t op_number(struct graph_writer *g, const struct node *node)
{
    buf_clear(&g->text);
    if (node_is_call(node))
        node_op_name(node, &g->text);
    else
        buf_puts(&g->text, INPUTS[node->op]);
    uint32_t id = g->text.failed ? INTERN_NONE : intern(&g->ops, buf_str(&g->text));
    g->w.out->failed |= id == INTERN_NONE;
    return id;
}

static void meta_json(struct graph_writer *g, const struct graph *graph, const struct meta *meta)
{
    const struct expr_pool *exprs = &graph->pool->exprs;
    int64_t bytes = (int64_t)dtype_size(meta->dtype);
    bool known = meta->kind != META_OTHER, counted = meta->kind == META_TENSOR;
    buf_clear(&g->text);
    for (uint32_t i = 0; known && i < meta->n_sizes; i++) {
        int64_t size;
        known = expr_value(exprs, meta->sizes[i], hint_of, g, &size);
        if (known)
            buf_printf(&g->text, "%s%lld", i ? ", " : "", (long long)size);
        counted &= known && size >= 0 && !__builtin_mul_overflow(bytes, size, &bytes);
    }
    json_open_array(&g->w, NULL);
    json_put_str(&g->w, NULL, meta->text);
    if (known)
        json_put_str(&g->w, NULL, buf_str(&g->text));
    else
        json_put_null(&g->w, NULL);
    json_put_i64(&g->w, NULL, known && counted ? bytes : -1);
    json_close(&g->w);
    g->w.out->failed |= g->text.failed;
}

static void put_number(struct graph_writer *g, uint32_t number)
{
    json_put_i64(&g->w, NULL, number == UINT32_MAX ? -1 : (int64_t)number);
}

static void node_json(struct graph_writer *g, const struct graph *graph, const struct node *node)
{
    uint32_t op = op_number(g, node);
    json_open_array(&g->w, NULL);
    json_put_str(&g->w, NULL, node->name);
    put_number(g, op);
    buf_clear(&g->text);
    graph_print_args(graph, node, &g->text);
    json_put_str(&g->w, NULL, buf_str(&g->text));
    put_number(g, node->meta);
    put_number(g, node->location);
    json_close(&g->w);
    g->w.out->failed |= g->text.failed;
}

/* Whether the output still has space; the rest of a list is left out where it has none. */
static bool has_space(struct graph_writer *g)
{
    const struct buf *out = g->w.out;
    for (; !out->failed && g->measured < out->n; g->measured++)
        g->escapes += page_escape_growth(out->p[g->measured]);
    return out->n + g->escapes < g->most && !out->failed;
}

static void lines_json(struct graph_writer *g, const struct graph *graph)
{
    json_open_array(&g->w, "lines");
    for (uint32_t i = 0; i < graph->n_locations && has_space(g); i++) {
        const struct location *at = &graph->locations[i];
        json_open_array(&g->w, NULL);
        json_put_str(&g->w, NULL, at->file);
        json_put_u64(&g->w, NULL, at->line);
        json_put_str(&g->w, NULL, at->function);
        json_put_str(&g->w, NULL, at->code);
        json_close(&g->w);
    }
    json_close(&g->w);
}

static void name_json(struct graph_writer *g, const struct graph *graph, bool root)
{
    const struct profile_compile *c = g->compile;
    bool attempted = g->attempt != TRACE_NONE;
    uint32_t recording = profile_inputs(g->profile)[g->input].recording_of[g->recording];
    json_put_str(&g->w, "recording",
                 recording == PROFILE_NONE ? g->trace->recordings[g->recording].name
                                           : g->profile->recordings[recording].name);
    json_put_str_or_null(&g->w, "compile", c ? c->id : STR(""));
    json_put_u64(&g->w, "attempt", attempted ? g->trace->attempts[g->attempt].number : 0);
    json_put_str(&g->w, "kind", g->ref->name);
    json_put_u64(&g->w, "index", g->ref->index);
    json_put_str_or_null(&g->w, "subgraph", root ? STR("") : graph->name);
}

/* Writes the memory while each node that is shown runs. */
static void memory_json(struct graph_writer *g, uint32_t shown)
{
    json_open_array(&g->w, "memory");
    for (uint32_t i = 0; i < shown && i < g->memory->n_nodes && has_space(g); i++)
        json_put_u64(&g->w, NULL, g->memory->live_bytes[i]);
    json_close(&g->w);
}

static void one_graph_json(struct graph_writer *g, const struct graph *graph, bool root)
{
    uint32_t shown = 0;
    intern_release(&g->ops);
    g->ops = INTERN_INIT;
    json_open_object(&g->w, NULL);
    name_json(g, graph, root);
    lines_json(g, graph);
    json_open_array(&g->w, "metas");
    for (uint32_t i = 0; root && i < graph->pool->n_metas && has_space(g); i++)
        meta_json(g, graph, &graph->pool->metas[i]);
    json_close(&g->w);
    json_open_array(&g->w, "nodes");
    for (; shown < graph->n_nodes && has_space(g); shown++)
        node_json(g, graph, &graph->nodes[shown]);
    json_close(&g->w);
    json_open_array(&g->w, "ops");
    for (uint32_t i = 0; i < g->ops.texts.n; i++)
        json_put_str(&g->w, NULL, g->ops.texts.v[i]);
    json_close(&g->w);
    if (root && g->memory)
        memory_json(g, shown);
    json_put_u64(&g->w, "n_nodes", graph->n_nodes);
    g->nodes_left_out += graph->n_nodes - shown;
    json_close(&g->w);
}

/* Writes a graph and then those inside it, whose metas are those of the first. */
static bool put_graph_tree(void *user, const struct graph *root)
{
    struct graph_writer *g = user;
    vec_of(const struct graph *)
    todo = { 0 };
    bool ok = vec_push(&todo, root);
    for (size_t i = 0; ok && i < todo.n; i++) {
        const struct graph *graph = todo.v[i];
        if (i == 0 || has_space(g))
            one_graph_json(g, graph, i == 0);
        else
            g->graphs_left_out++;
        for (uint32_t c = 0; ok && c < graph->n_children; c++)
            ok = vec_push(&todo, graph->children[c]);
    }
    vec_release(&todo);
    g->w.out->failed |= !ok;
    return ok;
}

/* Returns the memory of a graph of a trace, or NULL. */
static const struct graph_memory *memory_of(const struct profile *profile, uint32_t input,
                                            uint32_t graph)
{
    for (uint32_t i = 0; i < profile->n_graph_memory; i++) {
        const struct graph_memory *memory = &profile->graph_memory[i];
        if (memory->graph == graph && profile->recordings[memory->recording].input == input)
            return memory;
    }
    return NULL;
}

/* Writes the graphs of one trace: those of kept attempts, or the others. */
static bool put_trace_graphs(struct graph_writer *g, const uint32_t *compiles, bool kept,
                             struct err *err)
{
    const struct graph_list *list = trace_graphs(g->trace, err);
    for (uint32_t i = 0; list && i < list->n; i++) {
        const struct graph_ref *ref = &list->refs[i];
        uint32_t compile = ref->attempt == TRACE_NONE ? PROFILE_NONE : compiles[ref->attempt];
        bool thrown =
            ref->attempt != TRACE_NONE && g->trace->attempts[ref->attempt].next != TRACE_NONE;
        struct err unreadable = { 0 };
        if (thrown == kept || (ref->attempt != TRACE_NONE && compile == PROFILE_NONE))
            continue;
        if (!has_space(g)) {
            g->graphs_left_out++;
            continue;
        }
        g->ref = ref;
        g->memory = memory_of(g->profile, g->input, i);
        g->attempt = ref->attempt;
        g->record = ref->record;
        g->recording = g->trace->records[ref->record].recording;
        g->compile = compile == PROFILE_NONE ? NULL : &g->profile->compiles[compile];
        if (trace_visit_graph(g->trace, i, put_graph_tree, g, &unreadable))
            continue;
        if (unreadable.kind == ERR_ENV)
            return err_copy(err, &unreadable);
        g->graphs_left_out++;
    }
    return list != NULL;
}

static bool put_graphs_of(struct graph_writer *g, uint32_t input, bool kept, struct err *err)
{
    g->input = input;
    g->trace = g->profile->traces[input];
    g->symbols = trace_symbols(g->trace, err);
    uint32_t *compiles = g->symbols ? page_compiles_of(g->profile, input) : NULL;
    if (!compiles)
        return g->symbols ? err_nomem(err) : false;
    bool ok = put_trace_graphs(g, compiles, kept, err);
    free(compiles);
    return ok;
}

bool page_graphs_json(const struct profile *profile, size_t bytes, struct buf *out,
                      struct page_omitted *omitted, struct err *err)
{
    struct graph_writer g = {
        .profile = profile, .most = out->n + bytes, .measured = out->n, .w = json_writer_of(out)
    };
    bool ok = true;
    json_open_array(&g.w, NULL);
    for (int kept = 1; kept >= 0; kept--)
        for (uint32_t i = 0; ok && i < profile->n_traces; i++)
            ok = put_graphs_of(&g, i, kept, err);
    json_close(&g.w);
    intern_release(&g.ops);
    buf_release(&g.text);
    if (ok && ((g.graphs_left_out > 0 && !page_omit(omitted, "graphs", g.graphs_left_out)) ||
               (g.nodes_left_out > 0 && !page_omit(omitted, "graphs.nodes", g.nodes_left_out))))
        ok = err_nomem(err);
    return ok && (!out->failed || err_nomem(err));
}

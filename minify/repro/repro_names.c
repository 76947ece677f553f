/* Chooses names: short ones instead of the long names of Dynamo, all different, and none of
 * Python's. */
#include "minify/repro/repro_inside.h"
#include "trace/base/text/json_write.h"

#include <stdio.h>

enum { NAME_MAX = 200 };

/* Shortens the name that Dynamo gives an input after its source:
 * L_self_modules_layers_modules_0_parameters_weight_ becomes layers_0_weight. */
static void shorten(struct str wish, struct buf *out)
{
    static const char *const noise[] = { "self", "modules", "parameters", "buffers", "mod" };
    struct str rest = wish;
    bool source = str_starts(wish, STR("L_")) || str_starts(wish, STR("l_")) ||
                  str_starts(wish, STR("G_")) || str_starts(wish, STR("g_"));
    if (source)
        rest = str_from(rest, 2);
    while (rest.n) {
        size_t n = str_find_char(rest, '_');
        struct str part = str_first(rest, n);
        bool skip = source && part.n == 0;
        for (size_t i = 0; i < sizeof noise / sizeof *noise && source; i++)
            skip = skip || str_is(part, noise[i]);
        if (!skip) {
            if (out->n)
                buf_putc(out, '_');
            buf_put(out, part);
        }
        if (!source && n + 1 == rest.n)
            buf_putc(out, '_');
        rest = str_from(rest, n + 1);
    }
}

static bool is_name_taken(const struct repro *r, struct str name)
{
    return intern_find(&r->taken, name) != INTERN_NONE ||
           intern_find(&r->local, name) != INTERN_NONE;
}

/* Returns whether a name is special in Python: __name__, __builtins__. */
static bool is_special(struct str name)
{
    return str_starts(name, STR("__")) && str_ends(name, STR("__"));
}

struct str repro_name(struct repro *r, struct str wish, bool global)
{
    struct buf text = BUF_INIT;
    struct str ret = { 0 };
    bool renamed = false;
    shorten(str_first(wish, NAME_MAX), &text);
    if (!text.n || is_digit(text.p[0])) {
        struct str digits = text.n ? arena_copy(&r->arena, buf_str(&text)) : STR("");
        buf_clear(&text);
        buf_putc(&text, 'x');
        buf_put(&text, digits);
    }
    for (size_t i = 0; i < text.n; i++)
        if (!is_word_char(text.p[i])) {
            text.p[i] = '_';
            renamed = true;
        }
    if (is_special(buf_str(&text))) {
        buf_putc(&text, 'x');
        renamed = true;
    }
    size_t stem = text.n;
    for (unsigned k = 1; !text.failed && is_name_taken(r, buf_str(&text)); k++) {
        text.n = stem;
        if (k == 1)
            buf_putc(&text, '_');
        else
            buf_printf(&text, "_%u", k);
    }
    if (!text.failed && intern(global ? &r->taken : &r->local, buf_str(&text)) != INTERN_NONE)
        ret = arena_copy(&r->arena, buf_str(&text));
    if (ret.p && renamed && r->notes->renamed++ == 0)
        snprintf(r->notes->first_renamed, sizeof r->notes->first_renamed, "%.*s", STR_ARG(ret));
    buf_release(&text);
    return ret;
}

const struct repro_graph *repro_graph_of(const struct repro *r, const struct graph *graph)
{
    for (size_t i = 0; i < r->graphs.n; i++)
        if (r->graphs.v[i].graph == graph)
            return &r->graphs.v[i];
    return NULL;
}

static bool is_float_input(const struct repro_graph *g, const struct node *node)
{
    const struct arg *of = &g->graph->args[node->first_arg];
    for (uint32_t hops = 0; of->kind == ARG_NODE && hops < g->graph->n_nodes; hops++) {
        const struct node *from = &g->graph->nodes[of->u.node];
        const struct meta *meta = repro_meta(g->graph, from->meta);
        if (from->op == NODE_PLACEHOLDER)
            return meta && meta->kind == META_TENSOR && meta->dtype == DTYPE_F64 &&
                   meta->n_sizes == 0;
        if (from->op != NODE_ALIAS || !from->n_args)
            return false;
        of = &g->graph->args[from->first_arg];
    }
    return false;
}

bool repro_reads_item(const struct node *node)
{
    return node->n_args == 1 &&
           (str_is(node->target, "torch.ops.aten._local_scalar_dense.default") ||
            str_is(node->target, "torch.ops.aten.item.default") ||
            (node->op == NODE_CALL_METHOD && str_is(node->target, "item")));
}

/* Prints the number of a Python float, which Dynamo passes as a tensor of one element and reads
 * from it. Returns false for other nodes. */
static bool number_read(const struct repro *r, const struct repro_graph *g, const struct node *node,
                        struct buf *out)
{
    const struct meta *meta = repro_meta(g->graph, node->meta);
    uint32_t symbol;
    if (!repro_reads_item(node) || !meta || meta->kind != META_SYM)
        return false;
    const struct expr *e = expr_at(&g->graph->pool->exprs, meta->sizes[0]);
    if (e->kind == EXPR_FLOAT || e->kind == EXPR_INT) {
        buf_put(out, e->text);
        return true;
    }
    if (!repro_bare_symbol(r, &g->graph->pool->exprs, meta->sizes[0], &symbol))
        return is_float_input(g, node) && (buf_puts(out, "0.5"), true);
    const struct cand_symbol *s = &r->candidate->symbols[symbol];
    if (!s->is_float || (!s->backed && !is_float_input(g, node)))
        return false;
    if (!s->has_hint) {
        buf_puts(out, "0.5"); /* the value is not recorded; 0.5 is also a valid probability */
        return true;
    }
    json_number(out, s->float_hint);
    if (str_find_char(buf_str(out), '.') == out->n && str_find_char(buf_str(out), 'e') == out->n)
        buf_puts(out, ".0");
    return true;
}

static bool is_quiet(const struct repro_graph *g, uint32_t arg)
{
    for (uint32_t i = 0; i < g->graph->n_nodes; i++)
        if (g->quiet[i] && g->graph->nodes[i].first_arg == arg)
            return true;
    return false;
}

/* Marks the nodes that are used; every reference in a graph, including nested ones, is an element
 * of graph->args. */
static bool mark_used(struct repro *r, const struct repro_graph *g)
{
    const struct graph *graph = g->graph;
    bool any = false;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        struct buf text = BUF_INIT;
        if (number_read(r, g, &graph->nodes[i], &text)) {
            g->names[i] = arena_copy(&r->arena, buf_str(&text));
            g->quiet[i] = any = true;
        }
        bool failed = text.failed || (g->quiet[i] && !g->names[i].p);
        buf_release(&text);
        if (failed)
            return false;
    }
    for (uint32_t i = 0; i < graph->n_args; i++)
        if (graph->args[i].kind == ARG_NODE && (!any || !is_quiet(g, i)))
            g->used[graph->args[i].u.node] = true;
    return true;
}

static bool is_sym(const struct repro_graph *g, const struct node *node, uint32_t *symbol,
                   const struct repro *r)
{
    const struct meta *meta = repro_meta(g->graph, node->meta);
    return meta && meta->kind == META_SYM &&
           repro_bare_symbol(r, &g->graph->pool->exprs, meta->sizes[0], symbol);
}

static bool name_node(struct repro *r, struct repro_graph *g, uint32_t i, bool root)
{
    const struct node *node = &g->graph->nodes[i];
    const struct graph *child;
    uint32_t symbol;
    if (node->op == NODE_OUTPUT || node->op == NODE_OPAQUE || g->quiet[i])
        return true;
    if (root && node->op == NODE_PLACEHOLDER && is_sym(g, node, &symbol, r)) {
        g->names[i] = r->symbol_names[symbol];
        r->needed[symbol] = r->needed[symbol] || g->used[i];
        return true;
    }
    if (node->op == NODE_GET_ATTR && (child = graph_child(g->graph, node->target))) {
        g->names[i] = repro_graph_of(r, child)->function;
        return true;
    }
    if (node->op == NODE_ALIAS || node->form == FORM_SETITEM || node->form == FORM_INPLACE) {
        const struct arg *of = node->n_args ? &g->graph->args[node->first_arg] : NULL;
        if (of && of->kind == ARG_NODE)
            g->names[i] = g->names[of->u.node];
        return true;
    }
    g->names[i] = repro_name(r, node->name, false);
    return g->names[i].p != NULL;
}

/* Returns a name other than the subgraph's own: Dynamo would give that to the subgraph that it
 * makes of this function, and fails if a global has the name (torch 2.13). */
static struct str subgraph_function_name(struct repro *r, struct str name)
{
    struct buf wish = BUF_INIT;
    buf_put(&wish, name);
    buf_puts(&wish, "_fn");
    struct str ret = wish.failed ? (struct str){ 0 } : repro_name(r, buf_str(&wish), true);
    buf_release(&wish);
    return ret;
}

static bool name_graph(struct repro *r, const struct graph *graph, bool root, unsigned depth)
{
    struct repro_graph g = { .graph = graph };
    if (depth > 64) {
        repro_cannot(r, "its subgraphs nest too deep");
        return true;
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        if (!name_graph(r, graph->children[i], false, depth + 1))
            return false;
    g.function = root ? STR("f") : subgraph_function_name(r, graph->name);
    g.names = arena_array(&r->arena, struct str, graph->n_nodes + 1);
    g.used = arena_array(&r->arena, bool, graph->n_nodes + 1);
    g.quiet = arena_array(&r->arena, bool, graph->n_nodes + 1);
    if (!g.function.p || !g.names || !g.used || !g.quiet || !mark_used(r, &g))
        return false;
    intern_release(&r->local);
    r->local = INTERN_INIT;
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (!name_node(r, &g, i, root))
            return false;
    return vec_push(&r->graphs, g);
}

static void need_symbols(struct repro *r, const struct expr_pool *pool, expr_id expr)
{
    const struct expr *e = expr_at(pool, expr);
    uint32_t symbol;
    if (repro_bare_symbol(r, pool, expr, &symbol))
        r->needed[symbol] = r->needed[symbol] || r->candidate->symbols[symbol].backed;
    for (uint32_t i = 0; i < e->n_children; i++)
        need_symbols(r, pool, expr_child(pool, expr, i));
}

static void need_of_guards(struct repro *r)
{
    for (uint32_t i = 0; i < r->candidate->n_guards; i++) {
        struct expr_pool pool = { 0 };
        struct err err = { 0 };
        expr_id expr = expr_parse(&pool, r->candidate->guards[i].expr, &err);
        if (expr != EXPR_NONE)
            need_symbols(r, &pool, expr);
        expr_pool_release(&pool);
    }
}

/* Marks the symbols of compound numbers among the inputs as needed: "Sym(2*s77)". */
static void need_of_numbers(struct repro *r)
{
    const struct graph *graph = r->candidate->graph;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct meta *meta = repro_meta(graph, graph->nodes[i].meta);
        if (graph->nodes[i].op == NODE_PLACEHOLDER && meta && meta->kind == META_SYM &&
            r->graphs.v[r->graphs.n - 1].used[i])
            need_symbols(r, &graph->pool->exprs, meta->sizes[0]);
    }
}

/* Names symbols as recorded, "s77", unless the name is one of Python's or of the program. */
static bool name_symbols(struct repro *r)
{
    for (uint32_t i = 0; i < r->candidate->n_symbols; i++) {
        struct str name = r->candidate->symbols[i].name;
        bool fits = python_is_name(name) && name.n <= NAME_MAX && !is_special(name) &&
                    !is_name_taken(r, name);
        r->symbol_names[i] = fits ? name : repro_name(r, name, true);
        if (!r->symbol_names[i].p || (fits && intern(&r->taken, name) == INTERN_NONE))
            return false;
    }
    return true;
}

bool repro_prepare(struct repro *r)
{
    if (!program_reserve(&r->taken) || !program_setup_reserve(&r->what->setup, &r->taken) ||
        !name_symbols(r) || !name_graph(r, r->candidate->graph, true, 0))
        return false;
    if (!r->graphs.n) /* the reason is noted already */
        return true;
    need_of_guards(r);
    need_of_numbers(r);
    return true;
}

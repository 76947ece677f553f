/* What a program of an archive relies on beside the ranges of its symbols. */
#include "prove/conditions/build.h"
#include "trace/graphs.h"
#include "trace/pt2/signature.h"

enum { SOURCE_MOST = 1024 }; /* of a guard's text: longer ones are not looked for */

/* Finds the program's graph; *ret is NULL if it cannot be read. */
static bool find_graph(const struct conditions *c, struct trace *trace, const struct graph **ret,
                       struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    struct err why = { 0 };
    *ret = NULL;
    for (uint32_t i = 0; list && i < list->n && !*ret; i++)
        if (list->refs[i].record == c->record)
            *ret = trace_graph(trace, i, &why);
    return list && (!why.no_memory || err_nomem(err));
}

/* ---- Asserts ---- */

/* Adds the condition of a call of _assert_scalar(), which is what its first argument is. */
static bool add_assert(struct conditions *c, const struct graph *graph, const struct node *node,
                       struct err *err)
{
    struct condition condition = { .kind = CONDITION_ASSERT, .record = c->record };
    const struct arg *arg = &node_args(graph, node)[0];
    if (arg->kind != ARG_NODE || arg->u.node >= graph->n_nodes)
        return true;
    uint32_t meta = graph->nodes[arg->u.node].meta;
    if (meta == META_NONE || graph->pool->metas[meta].kind != META_SYM ||
        !graph->pool->metas[meta].n_sizes)
        return true;
    struct buf text = BUF_INIT;
    expr_print(&graph->pool->exprs, graph->pool->metas[meta].sizes[0], &text);
    condition.text = text.failed ? (struct str){ 0 } : arena_copy(&c->arena, buf_str(&text));
    buf_release(&text);
    if (node->location != LOCATION_NONE && location_has_place(&graph->locations[node->location]))
        condition.location = &graph->locations[node->location];
    if (!condition.text.p)
        return err_nomem(err);
    return conditions_parse_recorded(c, condition.text, &condition.expr, err) &&
           conditions_add(c, condition, err);
}

static bool add_asserts(struct conditions *c, const struct graph *graph, struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < graph->n_nodes; i++)
        if (graph->nodes[i].n_args &&
            str_is(graph->nodes[i].target, "torch.ops.aten._assert_scalar.default"))
            ok = add_assert(c, graph, &graph->nodes[i], err);
    return ok;
}

/* ---- Guards ---- */

/* Returns the length of "L['x'].size()[0]" at the start of a text, 0 if there is no such source. */
static size_t size_length(const struct conditions *c, struct str text, uint32_t *size)
{
    static const char SIZE[] = ".size()[";
    text = str_first(text, SOURCE_MOST);
    size_t at = str_find(text, STR(".size()["));
    if (at >= text.n)
        return 0;
    size_t n = at + sizeof SIZE - 1;
    n += str_digits(str_from(text, n)) + 1;
    *size = n <= text.n ? intern_find(&c->size_sources, str_first(text, n)) : INTERN_NONE;
    return *size == INTERN_NONE ? 0 : n;
}

/* Copies a guard with symbols and numbers in the places of its sources. */
static void put_guard(const struct conditions *c, struct str text, struct buf *out)
{
    while (text.n) {
        uint32_t size;
        bool begins = str_starts(text, STR("L[")) || str_starts(text, STR("G["));
        size_t n = begins ? size_length(c, text, &size) : 0;
        if (!n)
            buf_putc(out, text.p[0]);
        else if (c->sizes.v[size].symbol == SYM_NONE)
            buf_i64(out, c->sizes.v[size].value);
        else
            buf_put(out, sym_name(c->pool, c->sizes.v[size].symbol));
        text = str_from(text, n ? n : 1);
    }
}

/* Relations stay as they were written: "s11 == s11" is one of two sizes that share a symbol. */
static bool is_trivial(const struct sym_pool *pool, sym_id e)
{
    return sym_is_relational(pool, e) && sym_kind_of(pool, e) == SYM_EQ &&
           sym_arg(pool, e, 0) == sym_arg(pool, e, 1);
}

/* Adds those guards that are about sizes and numbers that have symbols. */
static bool add_guards(struct conditions *c, const struct graph_signature *signature,
                       struct err *err)
{
    bool ok = true;
    for (uint32_t i = 0; ok && i < signature->n_guards; i++) {
        struct condition condition = { .kind = CONDITION_GUARD,
                                       .text = signature->guards[i],
                                       .record = c->record };
        struct buf text = BUF_INIT;
        put_guard(c, signature->guards[i], &text);
        ok = !text.failed || err_nomem(err);
        ok = ok && conditions_parse_recorded(c, buf_str(&text), &condition.expr, err);
        buf_release(&text);
        if (ok && condition.expr != SYM_NONE && !is_trivial(c->pool, condition.expr))
            ok = conditions_add(c, condition, err);
    }
    return ok;
}

/* ---- Sizes ---- */

static bool add_size(struct conditions *c, struct str input, uint32_t dim, const struct expr *e,
                     struct err *err)
{
    const struct condition_symbol *symbol =
        e->kind == EXPR_SYMBOL ? conditions_find(c, e->text) : NULL;
    struct condition_size row = { .symbol = SYM_NONE, .made = UINT32_MAX };
    if (symbol && symbol->has_hint) {
        row.symbol = symbol->symbol;
        row.value = symbol->hint;
    } else if (e->kind == EXPR_INT && e->fits) {
        row.value = e->value;
    } else {
        return true;
    }
    struct buf source = BUF_INIT;
    buf_printf(&source, "%.*s.size()[%u]", STR_ARG(input), dim);
    uint32_t at = source.failed ? INTERN_NONE : intern(&c->size_sources, buf_str(&source));
    buf_release(&source);
    if (at == INTERN_NONE)
        return err_nomem(err);
    row.source = intern_text(&c->size_sources, at);
    return at < c->sizes.n || vec_push(&c->sizes, row) || err_nomem(err);
}

/* inputs[i] of the signature describes placeholder i. */
static bool add_sizes(struct conditions *c, const struct graph *graph, struct err *err)
{
    const struct graph_signature *signature = graph->signature;
    bool ok = true;
    for (uint32_t i = 0, input = 0; ok && i < graph->n_nodes && input < signature->n_inputs; i++) {
        if (graph->nodes[i].op != NODE_PLACEHOLDER)
            continue;
        const struct input_spec *spec = &signature->inputs[input++];
        uint32_t meta = graph->nodes[i].meta;
        if (spec->kind != INPUT_USER || !spec->source.n || meta == META_NONE ||
            graph->pool->metas[meta].kind != META_TENSOR)
            continue;
        const struct meta *m = &graph->pool->metas[meta];
        for (uint32_t d = 0; ok && d < m->n_sizes; d++)
            ok = add_size(c, spec->source, d, expr_at(&graph->pool->exprs, m->sizes[d]), err);
    }
    return ok;
}

bool conditions_read_program_sizes(struct conditions *c, struct trace *trace, struct err *err)
{
    const struct graph *graph;
    return find_graph(c, trace, &graph, err) &&
           (!graph || !graph->signature || add_sizes(c, graph, err));
}

bool conditions_add_program(struct conditions *c, struct trace *trace, struct err *err)
{
    const struct graph *graph;
    if (!find_graph(c, trace, &graph, err))
        return false;
    if (!graph)
        return true;
    return add_asserts(c, graph, err) &&
           (!graph->signature ||
            (add_sizes(c, graph, err) && add_guards(c, graph->signature, err)));
}

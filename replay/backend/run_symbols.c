#include "replay/backend/run_symbols.h"

#include <stdlib.h>

static struct run_size *find(struct run *run, struct str name)
{
    for (size_t i = 0; i < run->n_symbols; i++)
        if (str_eq(run->symbols[i].symbol, name))
            return &run->symbols[i];
    return NULL;
}

static bool bind(struct run *run, struct str name, int64_t value, const char *by, struct err *err)
{
    struct run_size *known = find(run, name);
    if (known && known->value != value)
        return err_set(err, ERR_USAGE, "%.*s is %lld, and %lld by %s", STR_ARG(name),
                       (long long)known->value, (long long)value, by);
    if (!known)
        run->symbols[run->n_symbols++] = (struct run_size){ name, value };
    return true;
}

/* A size of an input that was given, where the graph prints a symbol and nothing else. */
static bool bind_input(struct run *run, const struct node *node, const struct array *given,
                       struct err *err)
{
    const struct graph_pool *pool = run->graph->pool;
    if (node->meta == META_NONE || !given->p)
        return true;
    const struct meta *meta = &pool->metas[node->meta];
    bool number = meta->kind == META_SYM && given->ndim == 0;
    if (meta->kind == META_TENSOR && meta->n_sizes != given->ndim)
        return err_set(err, ERR_USAGE, "input %.*s has %u dimensions, and %u were recorded",
                       STR_ARG(node->name), given->ndim, meta->n_sizes);
    for (uint32_t d = 0; d < meta->n_sizes; d++) {
        const struct expr *e = expr_at(&pool->exprs, meta->sizes[d]);
        int64_t value = number ? *(const int64_t *)given->p : given->size[d];
        if (e->kind == EXPR_SYMBOL && !bind(run, e->text, value, "another input", err))
            return err_at(err, "input %.*s", STR_ARG(node->name));
        if (e->kind == EXPR_INT && e->fits && e->value != value)
            return err_set(err, ERR_USAGE, "input %.*s: dimension %u is %lld, and %lld was recorded",
                           STR_ARG(node->name), d, (long long)value, (long long)e->value);
    }
    return true;
}

static bool bind_inputs(struct run *run, struct err *err)
{
    uint32_t i = 0;
    for (node_id id = 0; id < run->graph->n_nodes; id++) {
        struct array given = { 0 };
        const struct node *node = &run->graph->nodes[id];
        if (node->op != NODE_PLACEHOLDER)
            continue;
        if (run->options.input && (!run->options.input(run->options.user, i, node, &given, err) ||
                                   !bind_input(run, node, &given, err)))
            return false;
        i++;
    }
    return true;
}

/* What the forward graph would have made: a graph that takes it (a backward one) runs at any. */
enum { UNKNOWN_SIZE = 4 };

static void bind_unknown(struct run *run)
{
    const struct graph_pool *pool = run->graph->pool;
    for (node_id id = 0; id < run->graph->n_nodes; id++) {
        const struct node *node = &run->graph->nodes[id];
        if (node->op != NODE_PLACEHOLDER || node->meta == META_NONE)
            continue;
        const struct meta *meta = &pool->metas[node->meta];
        for (uint32_t d = 0; d < meta->n_sizes; d++) {
            const struct expr *e = expr_at(&pool->exprs, meta->sizes[d]);
            if (e->kind == EXPR_SYMBOL && !find(run, e->text))
                run->symbols[run->n_symbols++] = (struct run_size){ e->text, UNKNOWN_SIZE };
        }
    }
}

bool run_bind_symbols(struct run *run, struct err *err)
{
    const struct run_options *o = &run->options;
    size_t most = o->n_sizes + o->n_symbols + 1;
    for (size_t i = 0; i < run->graph->pool->exprs.exprs.n; i++)
        most += run->graph->pool->exprs.exprs.v[i].kind == EXPR_SYMBOL;
    run->symbols = arena_array(&run->arena, struct run_size, most);
    if (!run->symbols)
        return err_nomem(err);
    for (size_t i = 0; i < o->n_sizes; i++)
        if (!bind(run, o->sizes[i].symbol, o->sizes[i].value, "what was asked for", err))
            return false;
    if (!bind_inputs(run, err))
        return false;
    for (size_t i = 0; i < o->n_symbols; i++)
        if (o->symbols[i].has_hint && !find(run, o->symbols[i].name))
            run->symbols[run->n_symbols++] =
                (struct run_size){ o->symbols[i].name, o->symbols[i].hint };
    bind_unknown(run);
    return true;
}

/* Unbacked symbols, and others without a value, stay symbols: what is read of them is not needed. */
sym_id run_symbol(void *user, struct sym_pool *pool, struct str name)
{
    const struct run_size *known = find(user, name);
    return known ? sym_integer(pool, known->value) : sym_by_name(NULL, pool, name);
}

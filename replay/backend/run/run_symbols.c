#include "replay/backend/run/run_symbols.h"

#include <string.h>

#include "replay/backend/run/run_guards.h"
#include "trace/events/guards.h"

struct run_size *run_size_of(const struct run *run, struct str name)
{
    for (size_t i = 0; i < run->n_symbols; i++)
        if (str_eq(run->symbols[i].symbol, name))
            return &run->symbols[i];
    return NULL;
}

bool run_add_size(struct run *run, struct str name, int64_t value)
{
    if (run->n_symbols == run->most_symbols)
        return false;
    run->symbols[run->n_symbols++] = (struct run_size){ name, value };
    return true;
}

struct name_match {
    struct str name;
    bool found;
};

static void compare_symbol(void *user, struct str symbol)
{
    struct name_match *n = user;
    n->found |= str_eq(symbol, n->name);
}

bool run_names(struct str expr, struct str symbol)
{
    struct name_match n = { .name = symbol };
    guard_symbols(expr, compare_symbol, &n);
    return n.found;
}

static bool bind(struct run *run, struct str name, int64_t value, const char *by, struct err *err)
{
    const struct run_size *known = run_size_of(run, name);
    if (value < 0)
        return err_set(err, ERR_USAGE, "%.*s is %lld by %s: a size cannot be negative",
                       STR_ARG(name), (long long)value, by);
    if (known && known->value != value)
        return err_set(err, ERR_USAGE,
                       "%.*s is %lld, and %lld by %s: sizes that were equal in the recording "
                       "are one symbol (duck shaping)",
                       STR_ARG(name), (long long)known->value, (long long)value, by);
    return known || run_add_size(run, name, value) || err_nomem(err);
}

/* Sets a symbol to the size of a given input, if the graph's size is nothing but a symbol. */
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
        int64_t value = number ? 0 : given->size[d];
        if (number)
            memcpy(&value, given->p, sizeof value);
        if (e->kind == EXPR_SYMBOL && !bind(run, e->text, value, "another input", err))
            return err_at(err, "input %.*s", STR_ARG(node->name));
        if (e->kind == EXPR_INT && e->fits && e->value != value)
            return err_set(
                err, ERR_USAGE,
                "input %.*s: dimension %u is %lld, and it was recorded as the constant %lld",
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
        run->n_given += given.p != NULL;
        i++;
    }
    return true;
}

/* The size that replaces an unbacked symbol of an input: its value comes from another graph (the
 * forward graph of a backward graph), and the graph runs at any. */
enum { UNKNOWN_SIZE = 4 };

static bool bind_unknown(struct run *run, struct err *err)
{
    const struct graph_pool *pool = run->graph->pool;
    for (node_id id = 0; id < run->graph->n_nodes; id++) {
        const struct node *node = &run->graph->nodes[id];
        if (node->op != NODE_PLACEHOLDER || node->meta == META_NONE)
            continue;
        const struct meta *meta = &pool->metas[node->meta];
        for (uint32_t d = 0; d < meta->n_sizes; d++) {
            const struct expr *e = expr_at(&pool->exprs, meta->sizes[d]);
            if (e->kind != EXPR_SYMBOL || run_size_of(run, e->text))
                continue;
            run_add_size(run, e->text, UNKNOWN_SIZE);
            if (!run_solve_symbols(run, err))
                return false;
        }
    }
    return true;
}

bool run_bind_symbols(struct run *run, struct err *err)
{
    const struct run_options *o = &run->options;
    size_t most = o->n_sizes + o->n_symbols + o->n_guards + 1;
    for (size_t i = 0; i < run->graph->pool->exprs.exprs.n; i++)
        most += run->graph->pool->exprs.exprs.v[i].kind == EXPR_SYMBOL;
    run->symbols = arena_array(&run->arena, struct run_size, most);
    run->bound = arena_array(&run->arena, bool, most);
    run->most_symbols = most;
    if (!run->symbols || !run->bound)
        return err_nomem(err);
    for (size_t i = 0; i < o->n_sizes; i++)
        if (!bind(run, o->sizes[i].symbol, o->sizes[i].value, "what was asked for", err))
            return false;
    if (!bind_inputs(run, err))
        return false;
    if (!run_solve_symbols(run, err))
        return false;
    for (size_t i = 0; i < o->n_symbols; i++)
        if (o->symbols[i].has_hint && !run_size_of(run, o->symbols[i].name))
            run_add_size(run, o->symbols[i].name, o->symbols[i].hint);
    return bind_unknown(run, err) && run_check_guards(run, err);
}

/* Returns the value of a symbol. Unbacked symbols, and others without a value, stay symbols; the
 * results that contain them are not used. */
sym_id run_symbol(void *user, struct sym_pool *pool, struct str name)
{
    const struct run_size *known = run_size_of(user, name);
    return known ? sym_integer(pool, known->value) : sym_by_name(NULL, pool, name);
}

/* The steps before and after reshaping edits: reads inputs as expressions, and prints them, symbols
 * and guards after the edits. */
#include "minify/candidate/propagate.h"
#include "minify/candidate/sizes.h"
#include "minify/edit/shape_edit.h"

static bool read_shape(struct reshaper *r, node_id id, struct shape *shape)
{
    const struct meta *meta = node_meta(r->graph, &r->graph->nodes[id]);
    *shape = (struct shape){ .meta = NULL };
    if (!meta || meta->kind == META_OTHER)
        return true;
    *shape = (struct shape){
        .meta = meta, .dtype = meta->dtype, .device = meta->device, .n = meta->n_sizes
    };
    shape->size = arena_array(&r->arena, sym_id, (size_t)meta->n_sizes + 1);
    shape->stride = arena_array(&r->arena, sym_id, (size_t)meta->n_sizes + 1);
    if (!shape->size || !shape->stride)
        return false;
    for (uint32_t d = 0; d < meta->n_sizes; d++)
        shape->size[d] = sym_read(r->pool, &r->graph->pool->exprs, meta->sizes[d], NULL, NULL);
    for (uint32_t d = 0; d < meta->n_sizes && meta->has_strides; d++)
        shape->stride[d] = sym_read(r->pool, &r->graph->pool->exprs, meta->strides[d], NULL, NULL);
    if (!meta->has_strides && meta->kind == META_TENSOR) {
        reshape_lay_out(r, shape);
        shape->changed = false;
    }
    return true;
}

bool reshape_begin(struct reshaper *r, bool same_sizes)
{
    const struct candidate *whole = r->whole;
    const struct graph *g = r->graph;
    struct arena *arena = &r->arena;
    r->symbols = arena_array(arena, struct cand_symbol, (size_t)whole->n_symbols + r->n_edits + 1);
    r->guards = arena_array(arena, struct cand_guard, (size_t)whole->n_guards + 1);
    r->shapes = arena_array(arena, struct shape, (size_t)g->n_nodes + 1);
    r->metas = arena_array(arena, struct str, (size_t)g->n_nodes + 1);
    r->args = arena_array(arena, struct arg, (size_t)g->n_args + 1);
    r->nodes = arena_array(arena, struct node, (size_t)g->n_nodes + 1);
    r->results = same_sizes ? arena_array(arena, struct str, (size_t)g->n_nodes + 1) : NULL;
    if ((same_sizes && !r->results) || !r->symbols || !r->guards || !r->shapes || !r->metas ||
        !r->args || !r->nodes)
        return false;
    memcpy(r->nodes, g->nodes, g->n_nodes * sizeof *r->nodes);
    if (g->n_args)
        memcpy(r->args, g->args, g->n_args * sizeof *r->args);
    if (whole->n_symbols)
        memcpy(r->symbols, whole->symbols, whole->n_symbols * sizeof *r->symbols);
    r->n_symbols = whole->n_symbols;
    for (node_id id = 0; id < g->n_nodes; id++)
        if (g->nodes[id].op == NODE_PLACEHOLDER && !read_shape(r, id, &r->shapes[id]))
            return false;
    return true;
}

static sym_id replaced(struct reshaper *r, sym_id e)
{
    if (e == SYM_NONE || r->pairs.n == 0)
        return e;
    return sym_replace(r->pool, e, r->pairs.v, (uint32_t)r->pairs.n);
}

/* Returns whether an expression is always an integer, as sizes must be; s77/4 may not be. */
static bool is_integral_size(struct reshaper *r, sym_id e)
{
    return e != SYM_NONE && sym_ask(r->pool, e, SYM_ASK_INTEGER) != SYM_NO &&
           !(sym_kind_of(r->pool, e) == SYM_MUL && sym_is_number(r->pool, sym_arg(r->pool, e, 0)) &&
             sym_ask(r->pool, sym_arg(r->pool, e, 0), SYM_ASK_INTEGER) != SYM_YES);
}

static void put_meta_sizes(struct reshaper *r, struct buf *out, const sym_id *sizes, uint32_t n)
{
    buf_putc(out, '[');
    for (uint32_t d = 0; d < n; d++) {
        buf_puts(out, d ? ", " : "");
        sym_print(r->pool, sizes[d], out);
    }
    buf_putc(out, ']');
}

static void put_shape(struct reshaper *r, const struct shape *shape, struct buf *out)
{
    const struct meta *meta = shape->meta;
    if (meta->kind == META_SYM) {
        buf_puts(out, "Sym(");
        sym_print(r->pool, shape->size[0], out);
        buf_putc(out, ')');
        return;
    }
    if (meta->wrapper.n)
        buf_printf(out, "%.*s(", STR_ARG(meta->wrapper));
    buf_puts(out, dtype_short_name(shape->dtype));
    put_meta_sizes(r, out, shape->size, shape->n);
    put_meta_sizes(r, out, shape->stride, shape->n);
    buf_put(out, shape->device);
    if (meta->wrapper.n && meta->placement.n)
        buf_printf(out, ", %.*s", STR_ARG(meta->placement));
    if (meta->wrapper.n)
        buf_putc(out, ')');
}

/* Writes a number into the calls if a symbol that was passed as an input became a number. */
static void write_number(struct reshaper *r, node_id id, sym_id number)
{
    struct buf text = BUF_INIT;
    bool integer = sym_kind_of(r->pool, number) == SYM_INTEGER;
    struct arg literal = { .kind = integer ? ARG_INT : ARG_FLOAT };
    sym_print(r->pool, number, &text);
    literal.text = arena_copy(&r->arena, buf_str(&text));
    r->failed |= text.failed || !literal.text.p;
    buf_release(&text);
    if (integer)
        sym_to_i64(r->pool, number, &literal.u.integer);
    else
        literal.u.number = sym_to_double(r->pool, number);
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_NODE && r->args[i].u.node == id) {
            struct str key = r->args[i].key;
            r->args[i] = literal;
            r->args[i].key = key;
        }
}

static bool is_used(const struct reshaper *r, node_id id)
{
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_NODE && r->args[i].u.node == id)
            return true;
    return false;
}

/* Replaces symbols in a shape; returns whether all sizes are integers. */
static bool replace_shape(struct reshaper *r, node_id id, struct shape *shape)
{
    bool ok = true, number = shape->meta->kind == META_SYM;
    for (uint32_t d = 0; d < shape->n && ok; d++) {
        shape->size[d] = replaced(r, shape->size[d]);
        shape->stride[d] = number ? SYM_ID_ONE : replaced(r, shape->stride[d]);
        ok = number ? is_integral_size(r, shape->size[d]) || !is_used(r, id)
                    : is_integral_size(r, shape->size[d]) && is_integral_size(r, shape->stride[d]);
    }
    return ok && !(number && shape->size[0] == SYM_NONE);
}

/* Prints the results that calls have with the same numbers for all sizes. */
static bool print_results(struct reshaper *r)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    for (node_id id = 0; id < r->graph->n_nodes && ok && r->results; id++) {
        struct shape shape;
        if (!node_is_call(&r->graph->nodes[id]))
            continue;
        ok = read_shape(r, id, &shape);
        if (!ok || !shape.meta || !replace_shape(r, id, &shape))
            continue;
        buf_clear(&text);
        put_shape(r, &shape, &text);
        r->results[id] = arena_copy(&r->arena, buf_str(&text));
        ok = !text.failed && r->results[id].p;
    }
    buf_release(&text);
    return ok;
}

static bool print_inputs(struct reshaper *r, struct err *why)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    for (node_id id = 0; id < r->graph->n_nodes && ok; id++) {
        struct shape *shape = &r->shapes[id];
        if (!shape->meta)
            continue;
        if (!replace_shape(r, id, shape)) {
            ok = edit_invalid(why, "a size would not be an integer");
            break;
        }
        if (shape->meta->kind == META_SYM && sym_is_number(r->pool, shape->size[0]))
            write_number(r, id, shape->size[0]);
        buf_clear(&text);
        put_shape(r, shape, &text);
        r->metas[id] = arena_copy(&r->arena, buf_str(&text));
        r->failed |= text.failed || !r->metas[id].p;
    }
    buf_release(&text);
    return ok;
}

/* Rewrites recorded guards. One that is always true is removed; one that is false contradicts the
 * graph. */
static bool rewrite_guards(struct reshaper *r, struct err *why)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    for (uint32_t i = 0; i < r->whole->n_guards && ok; i++) {
        struct cand_guard guard = r->whole->guards[i];
        if (r->pairs.n) {
            sym_id e = replaced(r, sym_parse(r->pool, guard.expr, NULL, NULL));
            buf_clear(&text);
            if (e == SYM_ID_FALSE)
                ok = edit_invalid(why, "a guard would not hold");
            if (e == SYM_ID_TRUE)
                continue;
            if (e != SYM_NONE)
                sym_print(r->pool, e, &text);
            guard.expr = arena_copy(&r->arena, buf_str(&text));
            r->failed |= text.failed || !guard.expr.p;
            if (e == SYM_NONE)
                continue;
        }
        r->guards[r->n_guards++] = guard;
    }
    buf_release(&text);
    return ok;
}

/* Evaluates the guards with the current hints. */
static bool guards_hold(const struct reshaper *r, struct err *why)
{
    struct candidate now = *r->whole;
    struct expr_pool exprs = { 0 };
    struct err ignored = { 0 };
    bool ok = true;
    now.symbols = r->symbols;
    now.n_symbols = r->n_symbols;
    for (uint32_t i = 0; i < r->n_guards && ok; i++) {
        int64_t value;
        expr_id e = expr_parse(&exprs, r->guards[i].expr, &ignored);
        ok = e == EXPR_NONE || !cand_eval(&now, &exprs, e, NULL, &value) || value != 0;
    }
    expr_pool_release(&exprs);
    return ok || edit_invalid(why, "a guard would not hold");
}

struct candidate *reshape_end(struct reshaper *r, struct err *why)
{
    struct graph changed = *r->graph;
    struct err pool = { 0 };
    changed.args = r->args;
    changed.nodes = r->nodes;
    if (!print_inputs(r, why) || !rewrite_guards(r, why) || !guards_hold(r, why))
        return NULL;
    r->failed |= !print_results(r);
    if (!sym_ok(r->pool, &pool) && pool.kind == ERR_ENV)
        r->failed = true;
    if (r->failed)
        return err_nomem(why), NULL;
    struct reshaped reshaped = { .whole = r->whole,
                                 .graph = &changed,
                                 .affected = r->affected,
                                 .results = r->results,
                                 .inputs = r->metas,
                                 .symbols = r->symbols,
                                 .n_symbols = r->n_symbols,
                                 .guards = r->guards,
                                 .n_guards = r->n_guards };
    return propagate(&reshaped, why);
}

/* Edits that change sizes, types or arguments: what the inputs are then, and the graph's arguments;
 * the rest follows by propagation. */
#include <inttypes.h>
#include <stdlib.h>

#include "minify/apply.h"
#include "minify/engines.h"
#include "minify/propagate.h"
#include "minify/reshape.h"
#include "minify/sizes.h"

static bool invalid(struct err *why, const char *text)
{
    return err_set(why, ERR_USAGE, "%s", text);
}

node_id input_at(const struct graph *graph, uint32_t position)
{
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (graph->nodes[id].op == NODE_PLACEHOLDER && position-- == 0)
            return id;
    return NODE_NONE;
}

/* ---- Symbols ---- */

static sym_id own_symbol(struct reshaping *r, uint32_t i)
{
    return sym_by_name(NULL, r->pool, r->symbols[i].name);
}

static sym_id hint_of(struct reshaping *r, const struct cand_symbol *symbol)
{
    return symbol->is_float ? sym_float(r->pool, symbol->float_hint)
                            : sym_integer(r->pool, symbol->hint);
}

static bool add_pair(struct reshaping *r, sym_id from, sym_id to, struct err *why)
{
    return vec_push(&r->pairs, (struct sym_pair){ from, to }) || err_nomem(why);
}

static bool set_static(struct reshaping *r, uint32_t a, struct err *why)
{
    if (!r->symbols[a].has_hint)
        return invalid(why, "the symbol has no hint");
    return add_pair(r, own_symbol(r, a), hint_of(r, &r->symbols[a]), why);
}

static bool merge(struct reshaping *r, uint32_t a, uint32_t b, struct err *why)
{
    if (b >= r->n_symbols || a == b || r->symbols[a].is_float != r->symbols[b].is_float ||
        r->symbols[a].backed != r->symbols[b].backed)
        return invalid(why, "the symbols are not of a kind");
    return add_pair(r, own_symbol(r, a), own_symbol(r, b), why);
}

static bool set_hint(struct reshaping *r, uint32_t a, int64_t value, struct err *why)
{
    struct cand_symbol *symbol = &r->symbols[a];
    if (symbol->is_float || !symbol->backed || value < symbol->min || value > symbol->max)
        return invalid(why, "the hint is out of its range");
    symbol->hint = value;
    symbol->has_hint = true;
    return true;
}

static void widen(struct cand_symbol *symbol)
{
    bool size = symbol->backed && !symbol->is_float && str_starts(symbol->name, STR("s"));
    bool big = symbol->has_hint && symbol->hint >= 2;
    symbol->min = size ? (big ? 2 : 0) : INT64_MIN;
    symbol->max = INT64_MAX;
}

/* A name that is not in use: "s1000" and up. */
static struct str fresh_name(struct reshaping *r)
{
    struct buf text = BUF_INIT;
    struct str ret = STR("");
    bool taken = true;
    for (unsigned n = 1000; taken; n++) {
        buf_clear(&text);
        buf_printf(&text, "s%u", n);
        ret = buf_str(&text);
        taken = texts_symbol(data_of(r->whole)->texts, ret) != UINT32_MAX;
        for (uint32_t i = 0; i < r->n_symbols && !taken; i++)
            taken = str_eq(r->symbols[i].name, ret);
    }
    ret = arena_copy(&r->arena, ret);
    buf_release(&text);
    return ret;
}

/* 4*s77 becomes a symbol of its own: s77 is a quarter of it wherever it occurs. */
static bool make_fresh(struct reshaping *r, node_id id, uint32_t dim, struct err *why)
{
    const struct meta *meta = node_meta(r->graph, &r->graph->nodes[id]);
    const struct expr_pool *exprs = &r->graph->pool->exprs;
    int64_t hint;
    if (!meta || meta->kind == META_OTHER || dim >= meta->n_sizes)
        return invalid(why, "there is no such size");
    expr_id expr = meta->sizes[dim];
    sym_id e = sym_read(r->pool, exprs, expr, NULL, NULL);
    if (e == SYM_NONE || sym_is_number(r->pool, e) || sym_kind_of(r->pool, e) == SYM_SYMBOL ||
        !cand_eval(r->whole, exprs, expr, NULL, &hint) || hint < 0)
        return invalid(why, "the size is not compound");
    struct cand_symbol *symbol = &r->symbols[r->n_symbols];
    *symbol = (struct cand_symbol){ .name = fresh_name(r),
                                    .source = STR(""),
                                    .backed = true,
                                    .has_hint = true,
                                    .hint = hint,
                                    .min = hint < 2 ? 0 : 2,
                                    .max = INT64_MAX };
    if (!symbol->name.p)
        return err_nomem(why);
    sym_id fresh = own_symbol(r, r->n_symbols++);
    bool scaled = sym_kind_of(r->pool, e) == SYM_MUL && sym_n_args(r->pool, e) == 2 &&
                  sym_is_number(r->pool, sym_arg(r->pool, e, 0)) &&
                  sym_kind_of(r->pool, sym_arg(r->pool, e, 1)) == SYM_SYMBOL;
    if (scaled)
        return add_pair(r, sym_arg(r->pool, e, 1), sym_div(r->pool, fresh, sym_arg(r->pool, e, 0)),
                        why);
    return add_pair(r, e, fresh, why);
}

/* ---- Inputs ---- */

static struct shape *shape_of(struct reshaping *r, uint32_t position, struct err *why)
{
    node_id id = input_at(r->graph, position);
    struct shape *shape = id == NODE_NONE ? NULL : &r->shapes[id];
    if (!shape || !shape->meta || shape->meta->kind != META_TENSOR) {
        invalid(why, "there is no such input");
        return NULL;
    }
    return shape;
}

static void set_integer(struct reshaping *r, struct arg *arg, int64_t value)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%" PRId64, value);
    arg->u.integer = value;
    arg->text = arena_copy(&r->arena, buf_str(&text));
    r->failed |= text.failed || !arg->text.p;
    buf_release(&text);
}

static void lay_out(struct reshaping *r, struct shape *shape)
{
    sym_id next = SYM_ID_ONE;
    for (uint32_t d = shape->n; d-- > 0;) {
        shape->stride[d] = next;
        next = sym_mul(r->pool, next, sym_max(r->pool, shape->size[d], SYM_ID_ONE));
    }
    shape->changed = true;
}

static bool is_contiguous(struct reshaping *r, const struct shape *shape)
{
    sym_id next = SYM_ID_ONE;
    for (uint32_t d = shape->n; d-- > 0;) {
        if (shape->stride[d] != next)
            return false;
        next = sym_mul(r->pool, next, shape->size[d]);
    }
    return true;
}

static bool drop_dim(struct reshaping *r, struct shape *shape, uint32_t dim, struct err *why)
{
    if (dim >= shape->n)
        return invalid(why, "there is no such size");
    bool dense = is_contiguous(r, shape);
    for (uint32_t d = dim; d + 1 < shape->n; d++) {
        shape->size[d] = shape->size[d + 1];
        shape->stride[d] = shape->stride[d + 1];
    }
    shape->n--;
    shape->changed = true;
    if (dense)
        lay_out(r, shape);
    return true;
}

static bool set_constant(struct reshaping *r, struct shape *shape, uint32_t dim, int64_t value,
                         struct err *why)
{
    if (dim >= shape->n || value < 0 || !sym_is_number(r->pool, shape->size[dim]))
        return invalid(why, "there is no such constant");
    bool dense = is_contiguous(r, shape);
    shape->size[dim] = sym_integer(r->pool, value);
    shape->changed = true;
    if (dense)
        lay_out(r, shape);
    return dense || invalid(why, "only sizes of contiguous inputs change");
}

/* 64 becomes 2, wherever it occurs as a size. */
static bool replace_constant(struct reshaping *r, uint32_t from, int64_t value, struct err *why)
{
    sym_id old = sym_integer(r->pool, from), now = sym_integer(r->pool, value);
    bool any = false;
    for (node_id id = 0; id < r->graph->n_nodes; id++) {
        struct shape *shape = &r->shapes[id];
        bool found = false;
        if (!shape->meta || shape->meta->kind != META_TENSOR)
            continue;
        bool dense = is_contiguous(r, shape);
        for (uint32_t d = 0; d < shape->n; d++)
            if (shape->size[d] == old) {
                shape->size[d] = now;
                found = true;
            }
        if (found && !dense)
            return invalid(why, "only sizes of contiguous inputs change");
        if (found)
            lay_out(r, shape);
        any |= found;
    }
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_INT && r->args[i].u.integer == from)
            set_integer(r, &r->args[i], value);
    return any || invalid(why, "no input has that size");
}

static bool change_dtype(struct reshaping *r, uint32_t a, uint32_t b)
{
    for (node_id id = 0; id < r->graph->n_nodes; id++)
        if (r->shapes[id].meta && r->shapes[id].dtype == a) {
            r->shapes[id].dtype = (enum dtype)b;
            r->shapes[id].changed = true;
        }
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_DTYPE && r->args[i].u.integer == a) {
            r->args[i].u.integer = b;
            r->args[i].text = str_of(dtype_python_name((enum dtype)b));
        }
    return true;
}

static bool change_device(struct reshaping *r)
{
    for (node_id id = 0; id < r->graph->n_nodes; id++)
        if (r->shapes[id].meta && r->shapes[id].device.n) {
            r->shapes[id].device = STR("cpu");
            r->shapes[id].changed = true;
        }
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_DEVICE)
            r->args[i].text = STR("cpu");
    return true;
}

static bool change_shape(struct reshaping *r, const struct edit *edit, struct err *why)
{
    if (edit->kind == EDIT_SIZE_CONSTANT && edit->a == NODE_NONE)
        return replace_constant(r, edit->b, edit->value, why);
    struct shape *shape = shape_of(r, edit->a, why);
    if (!shape)
        return false;
    if (edit->kind == EDIT_DROP_DIM)
        return drop_dim(r, shape, edit->b, why);
    if (edit->kind == EDIT_SIZE_CONSTANT)
        return set_constant(r, shape, edit->b, edit->value, why);
    lay_out(r, shape);
    return true;
}

static bool apply_edit(struct reshaping *r, const struct edit *edit, struct err *why)
{
    bool of_symbol = edit->kind == EDIT_STATIC || edit->kind == EDIT_MERGE ||
                     edit->kind == EDIT_HINT || edit->kind == EDIT_WIDEN;
    if (of_symbol && edit->a >= r->whole->n_symbols)
        return invalid(why, "there is no such symbol");
    switch (edit->kind) {
    case EDIT_STATIC: return set_static(r, edit->a, why);
    case EDIT_MERGE: return merge(r, edit->a, edit->b, why);
    case EDIT_HINT: return set_hint(r, edit->a, edit->value, why);
    case EDIT_WIDEN: widen(&r->symbols[edit->a]); return true;
    case EDIT_FRESH: {
        node_id id = input_at(r->graph, edit->a);
        return id == NODE_NONE ? invalid(why, "there is no such input")
                               : make_fresh(r, id, edit->b, why);
    }
    case EDIT_DROP_DIM:
    case EDIT_CONTIGUOUS:
    case EDIT_SIZE_CONSTANT: return change_shape(r, edit, why);
    case EDIT_DTYPE:
        return edit->a < DTYPE_COUNT && edit->b < DTYPE_COUNT && edit->a && edit->b
                   ? change_dtype(r, edit->a, edit->b)
                   : invalid(why, "there is no such dtype");
    case EDIT_DEVICE: return change_device(r);
    case EDIT_ARGUMENT: return reshape_argument(r, edit, why);
    case EDIT_INLINE: return invalid(why, "a subgraph is inlined by itself");
    default: return true;
    }
}

/* ---- Before and after the edits ---- */

static bool read_shape(struct reshaping *r, node_id id)
{
    const struct meta *meta = node_meta(r->graph, &r->graph->nodes[id]);
    struct shape *shape = &r->shapes[id];
    if (r->graph->nodes[id].op != NODE_PLACEHOLDER || !meta || meta->kind == META_OTHER)
        return true;
    *shape = (struct shape){ .meta = meta,
                             .dtype = meta->dtype,
                             .device = meta->device,
                             .n = meta->n_sizes };
    shape->size = arena_array(&r->arena, sym_id, (size_t)meta->n_sizes + 1);
    shape->stride = arena_array(&r->arena, sym_id, (size_t)meta->n_sizes + 1);
    if (!shape->size || !shape->stride)
        return false;
    for (uint32_t d = 0; d < meta->n_sizes; d++)
        shape->size[d] = sym_read(r->pool, &r->graph->pool->exprs, meta->sizes[d], NULL, NULL);
    for (uint32_t d = 0; d < meta->n_sizes && meta->has_strides; d++)
        shape->stride[d] = sym_read(r->pool, &r->graph->pool->exprs, meta->strides[d], NULL, NULL);
    if (!meta->has_strides && meta->kind == META_TENSOR) {
        lay_out(r, shape);
        shape->changed = false;
    }
    return true;
}

static bool make_room(struct reshaping *r)
{
    const struct candidate *whole = r->whole;
    const struct graph *g = r->graph;
    struct arena *arena = &r->arena;
    r->symbols = arena_array(arena, struct cand_symbol, (size_t)whole->n_symbols + r->n_edits + 1);
    r->facts = arena_array(arena, struct cand_fact, (size_t)whole->n_facts + 1);
    r->shapes = arena_array(arena, struct shape, (size_t)g->n_nodes + 1);
    r->metas = arena_array(arena, struct str, (size_t)g->n_nodes + 1);
    r->args = arena_array(arena, struct arg, (size_t)g->n_args + 1);
    r->nodes = arena_array(arena, struct node, (size_t)g->n_nodes + 1);
    if (!r->symbols || !r->facts || !r->shapes || !r->metas || !r->args || !r->nodes)
        return false;
    memcpy(r->nodes, g->nodes, g->n_nodes * sizeof *r->nodes);
    if (g->n_args)
        memcpy(r->args, g->args, g->n_args * sizeof *r->args);
    if (whole->n_symbols)
        memcpy(r->symbols, whole->symbols, whole->n_symbols * sizeof *r->symbols);
    r->n_symbols = whole->n_symbols;
    for (node_id id = 0; id < g->n_nodes; id++)
        if (!read_shape(r, id))
            return false;
    return true;
}

static sym_id replaced(struct reshaping *r, sym_id e)
{
    if (e == SYM_NONE || r->pairs.n == 0)
        return e;
    return sym_replace(r->pool, e, r->pairs.v, (uint32_t)r->pairs.n);
}

/* Sizes have to be integers: s77/4 is none. */
static bool is_size(struct reshaping *r, sym_id e)
{
    return e != SYM_NONE && sym_ask(r->pool, e, SYM_ASK_INTEGER) != SYM_NO &&
           !(sym_kind_of(r->pool, e) == SYM_MUL &&
             sym_is_number(r->pool, sym_arg(r->pool, e, 0)) &&
             sym_ask(r->pool, sym_arg(r->pool, e, 0), SYM_ASK_INTEGER) != SYM_YES);
}

static void put_sizes(struct reshaping *r, struct buf *out, const sym_id *sizes, uint32_t n)
{
    buf_putc(out, '[');
    for (uint32_t d = 0; d < n; d++) {
        buf_puts(out, d ? ", " : "");
        sym_print(r->pool, sizes[d], out);
    }
    buf_putc(out, ']');
}

static void put_shape(struct reshaping *r, const struct shape *shape, struct buf *out)
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
    put_sizes(r, out, shape->size, shape->n);
    put_sizes(r, out, shape->stride, shape->n);
    buf_put(out, shape->device);
    if (meta->wrapper.n && meta->placement.n)
        buf_printf(out, ", %.*s", STR_ARG(meta->placement));
    if (meta->wrapper.n)
        buf_putc(out, ')');
}

/* A number where a symbol was passed is written into the calls. */
static void write_number(struct reshaping *r, node_id id, sym_id number)
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

static bool is_used(const struct reshaping *r, node_id id)
{
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_NODE && r->args[i].u.node == id)
            return true;
    return false;
}

static bool print_inputs(struct reshaping *r, struct err *why)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    for (node_id id = 0; id < r->graph->n_nodes && ok; id++) {
        struct shape *shape = &r->shapes[id];
        if (!shape->meta)
            continue;
        for (uint32_t d = 0; d < shape->n && ok; d++) {
            shape->size[d] = replaced(r, shape->size[d]);
            shape->stride[d] = shape->meta->kind == META_SYM ? SYM_ID_ONE
                                                             : replaced(r, shape->stride[d]);
            ok = shape->meta->kind == META_SYM
                     ? is_size(r, shape->size[d]) || !is_used(r, id)
                     : is_size(r, shape->size[d]) && is_size(r, shape->stride[d]);
        }
        if (!ok || (shape->meta->kind == META_SYM && shape->size[0] == SYM_NONE)) {
            ok = invalid(why, "a size would not be an integer");
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

/* A fact that is a plain truth now is none; one that is false contradicts the graph. */
static bool rewrite_facts(struct reshaping *r, struct err *why)
{
    struct buf text = BUF_INIT;
    bool ok = true;
    for (uint32_t i = 0; i < r->whole->n_facts && ok; i++) {
        struct cand_fact fact = r->whole->facts[i];
        if (r->pairs.n) {
            sym_id e = replaced(r, sym_parse(r->pool, fact.expr, NULL, NULL));
            buf_clear(&text);
            if (e == SYM_ID_FALSE)
                ok = invalid(why, "a guard would not hold");
            if (e == SYM_ID_TRUE)
                continue;
            if (e != SYM_NONE)
                sym_print(r->pool, e, &text);
            fact.expr = arena_copy(&r->arena, buf_str(&text));
            r->failed |= text.failed || !fact.expr.p;
            if (e == SYM_NONE)
                continue;
        }
        r->facts[r->n_facts++] = fact;
    }
    buf_release(&text);
    return ok;
}

/* With the hints as they are now. */
static bool facts_hold(const struct reshaping *r, struct err *why)
{
    struct candidate now = *r->whole;
    struct expr_pool exprs = { 0 };
    struct err ignored = { 0 };
    bool ok = true;
    now.symbols = r->symbols;
    now.n_symbols = r->n_symbols;
    for (uint32_t i = 0; i < r->n_facts && ok; i++) {
        int64_t value;
        expr_id e = expr_parse(&exprs, r->facts[i].expr, &ignored);
        ok = e == EXPR_NONE || !cand_eval(&now, &exprs, e, NULL, &value) || value != 0;
    }
    expr_pool_release(&exprs);
    return ok || invalid(why, "a guard would not hold");
}

static struct candidate *finish(struct reshaping *r, struct err *why)
{
    struct graph changed = *r->graph;
    struct err pool = { 0 };
    changed.args = r->args;
    changed.nodes = r->nodes;
    if (!print_inputs(r, why) || !rewrite_facts(r, why) || !facts_hold(r, why))
        return NULL;
    if (!sym_ok(r->pool, &pool) && pool.kind == ERR_ENV)
        r->failed = true;
    if (r->failed)
        return err_nomem(why), NULL;
    struct reshaped reshaped = { .whole = r->whole,
                                 .graph = &changed,
                                 .inputs = r->metas,
                                 .symbols = r->symbols,
                                 .n_symbols = r->n_symbols,
                                 .facts = r->facts,
                                 .n_facts = r->n_facts };
    return propagate(&reshaped, why);
}

struct candidate *reshape(const struct candidate *whole, const struct edit *edits, uint32_t n,
                          struct err *why)
{
    struct reshaping r = { .whole = whole, .graph = whole->graph, .n_edits = n };
    struct candidate *ret = NULL;
    r.pool = sym_pool_new(why);
    bool ok = r.pool && (make_room(&r) || err_nomem(why));
    for (uint32_t i = 0; i < n && ok; i++)
        ok = apply_edit(&r, &edits[i], why);
    if (ok)
        ret = finish(&r, why);
    sym_pool_free(r.pool);
    vec_release(&r.pairs);
    arena_release(&r.arena);
    return ret;
}

/* Applies edits that change sizes, dtypes or arguments to the inputs and arguments of a graph;
 * propagation computes the rest. */
#include <inttypes.h>
#include <stdlib.h>

#include "minify/candidate/sizes.h"
#include "minify/edit/apply.h"
#include "minify/edit/shape_edit.h"

/* ---- Symbols ---- */

static sym_id own_symbol(struct reshaper *r, uint32_t i)
{
    return sym_by_name(NULL, r->pool, r->symbols[i].name);
}

static bool add_replacement(struct reshaper *r, sym_id from, sym_id to, struct err *why)
{
    return vec_push(&r->pairs, (struct sym_pair){ from, to }) || err_nomem(why);
}

static bool set_static(struct reshaper *r, uint32_t a, struct err *why)
{
    if (!r->symbols[a].has_hint)
        return edit_invalid(why, "the symbol has no hint");
    const struct cand_symbol *symbol = &r->symbols[a];
    sym_id hint = symbol->is_float ? sym_float(r->pool, symbol->float_hint)
                                   : sym_integer(r->pool, symbol->hint);
    return add_replacement(r, own_symbol(r, a), hint, why);
}

/* Returns whether an input has a symbol in its sizes or value. */
static bool is_given(const struct reshaper *r, uint32_t symbol)
{
    const struct cand_data *data = data_of(r->whole);
    for (node_id id = 0; id < r->graph->n_nodes; id++) {
        const struct node *node = &r->graph->nodes[id];
        if (node->op != NODE_PLACEHOLDER || node->meta == META_NONE)
            continue;
        const struct meta_info *info = meta_info(data->texts, node->meta);
        for (uint32_t i = 0; i < info->n; i++)
            if (data->texts->occurrences[info->first + i] == data->symbol_ids[symbol])
                return true;
    }
    return false;
}

/* A call that depends on data makes a symbol that nothing else has. */
static bool merge_symbols(struct reshaper *r, uint32_t a, uint32_t b, struct err *why)
{
    if (b >= r->n_symbols || a == b || r->symbols[a].is_float != r->symbols[b].is_float ||
        r->symbols[a].backed != r->symbols[b].backed)
        return edit_invalid(why, "the symbols are of different kinds");
    if (!r->symbols[a].backed && (!is_given(r, a) || !is_given(r, b)))
        return edit_invalid(why, "a call makes one of the symbols");
    return add_replacement(r, own_symbol(r, a), own_symbol(r, b), why);
}

static bool set_hint(struct reshaper *r, uint32_t a, int64_t value, struct err *why)
{
    struct cand_symbol *symbol = &r->symbols[a];
    if (symbol->is_float || !symbol->backed || value < symbol->min || value > symbol->max)
        return edit_invalid(why, "the hint is out of its range");
    symbol->hint = value;
    symbol->has_hint = true;
    return true;
}

static void widen_range(struct cand_symbol *symbol)
{
    bool size = symbol->backed && !symbol->is_float && str_starts(symbol->name, STR("s"));
    bool big = symbol->has_hint && symbol->hint >= 2;
    symbol->min = size ? (big ? 2 : 0) : INT64_MIN;
    symbol->max = INT64_MAX;
}

/* Returns a name that is not in use: "s1000" and up. */
static struct str fresh_name(struct reshaper *r)
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

/* Replaces a compound size by a new symbol: if 4*s77 becomes s1000, s77 becomes s1000/4 wherever it
 * occurs. */
static bool make_fresh_symbol(struct reshaper *r, node_id id, uint32_t dim, struct err *why)
{
    const struct meta *meta = node_meta(r->graph, &r->graph->nodes[id]);
    const struct expr_pool *exprs = &r->graph->pool->exprs;
    int64_t hint;
    if (!meta || meta->kind == META_OTHER || dim >= meta->n_sizes)
        return edit_invalid(why, "there is no such size");
    expr_id expr = meta->sizes[dim];
    sym_id e = sym_read(r->pool, exprs, expr, NULL, NULL);
    if (e == SYM_NONE || sym_is_number(r->pool, e) || sym_kind_of(r->pool, e) == SYM_SYMBOL ||
        !cand_eval(r->whole, exprs, expr, NULL, &hint) || hint < 0)
        return edit_invalid(why, "the size is not compound");
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
        return add_replacement(r, sym_arg(r->pool, e, 1),
                               sym_div(r->pool, fresh, sym_arg(r->pool, e, 0)), why);
    return add_replacement(r, e, fresh, why);
}

/* ---- Inputs ---- */

static struct shape *input_shape_at(struct reshaper *r, uint32_t position, struct err *why)
{
    node_id id = input_at(r->graph, position);
    struct shape *shape = id == NODE_NONE ? NULL : &r->shapes[id];
    if (!shape || !shape->meta || shape->meta->kind != META_TENSOR) {
        edit_invalid(why, "there is no such input");
        return NULL;
    }
    return shape;
}

static void set_integer_arg(struct reshaper *r, struct arg *arg, int64_t value)
{
    struct buf text = BUF_INIT;
    buf_printf(&text, "%" PRId64, value);
    arg->u.integer = value;
    arg->text = arena_copy(&r->arena, buf_str(&text));
    r->failed |= text.failed || !arg->text.p;
    buf_release(&text);
}

/* order: of the dimensions in memory, the largest stride first; NULL: as they are. */
static void lay_out_in(struct reshaper *r, struct shape *shape, const uint32_t *order)
{
    sym_id next = SYM_ID_ONE;
    for (uint32_t i = shape->n; i-- > 0;) {
        uint32_t d = order ? order[i] : i;
        shape->stride[d] = next;
        next = sym_mul(r->pool, next, sym_max(r->pool, shape->size[d], SYM_ID_ONE));
    }
    shape->changed = true;
}

void reshape_lay_out(struct reshaper *r, struct shape *shape)
{
    lay_out_in(r, shape, NULL);
}

static bool has_contiguous_strides(struct reshaper *r, const struct shape *shape)
{
    sym_id next = SYM_ID_ONE;
    for (uint32_t d = shape->n; d-- > 0;) {
        if (shape->stride[d] != next)
            return false;
        next = sym_mul(r->pool, next, shape->size[d]);
    }
    return true;
}

static bool drop_dim(struct reshaper *r, struct shape *shape, uint32_t dim, struct err *why)
{
    if (dim >= shape->n)
        return edit_invalid(why, "there is no such size");
    bool dense = has_contiguous_strides(r, shape);
    for (uint32_t d = dim; d + 1 < shape->n; d++) {
        shape->size[d] = shape->size[d + 1];
        shape->stride[d] = shape->stride[d + 1];
    }
    shape->n--;
    shape->changed = true;
    if (dense)
        reshape_lay_out(r, shape);
    return true;
}

/* Sets the order of an input's dimensions in memory, the largest stride first; `order` has space
 * for TENSOR_MAX_DIM. Returns false if elements overlap or memory is left between them, or if there
 * are more dimensions than a tensor can have, which the text of a graph does not exclude; with
 * symbols, a contiguous order alone is found. */
static bool find_order(struct reshaper *r, const struct shape *shape, uint32_t *order)
{
    int64_t stride[TENSOR_MAX_DIM], next = 1, size;
    if (shape->n > TENSOR_MAX_DIM)
        return false;
    for (uint32_t d = 0; d < shape->n; d++)
        order[d] = d;
    if (has_contiguous_strides(r, shape))
        return true;
    for (uint32_t d = 0; d < shape->n; d++) {
        uint32_t at = d;
        if (!sym_to_i64(r->pool, shape->stride[d], &stride[d]))
            return false;
        for (; at > 0 && stride[order[at - 1]] < stride[d]; at--)
            order[at] = order[at - 1];
        order[at] = d;
    }
    for (uint32_t i = shape->n; i-- > 0;) {
        if (!sym_to_i64(r->pool, shape->size[order[i]], &size))
            return false;
        if (size == 1) /* its stride is never used */
            continue;
        if (stride[order[i]] != next || __builtin_mul_overflow(next, size, &next))
            return false;
    }
    return true;
}

static bool no_gaps(bool dense, struct err *why)
{
    return dense || edit_invalid(why, "only sizes of inputs without gaps change");
}

static bool set_constant(struct reshaper *r, struct shape *shape, uint32_t dim, int64_t value,
                         struct err *why)
{
    uint32_t order[TENSOR_MAX_DIM];
    if (dim >= shape->n || value < 0 || !sym_is_number(r->pool, shape->size[dim]))
        return edit_invalid(why, "there is no such constant");
    if (!no_gaps(find_order(r, shape, order), why))
        return false;
    shape->size[dim] = sym_integer(r->pool, value);
    lay_out_in(r, shape, order);
    return true;
}

/* Replaces a number by another wherever it occurs as a size, as 64 by 2. */
static bool replace_constant(struct reshaper *r, uint32_t from, int64_t value, struct err *why)
{
    sym_id old = sym_integer(r->pool, from), now = sym_integer(r->pool, value);
    uint32_t order[TENSOR_MAX_DIM];
    bool any = false;
    for (node_id id = 0; id < r->graph->n_nodes; id++) {
        struct shape *shape = &r->shapes[id];
        bool found = false;
        if (!shape->meta || shape->meta->kind != META_TENSOR)
            continue;
        bool dense = find_order(r, shape, order);
        for (uint32_t d = 0; d < shape->n; d++)
            if (shape->size[d] == old) {
                shape->size[d] = now;
                found = true;
            }
        if (found && !no_gaps(dense, why))
            return false;
        if (found)
            lay_out_in(r, shape, order);
        any |= found;
    }
    for (uint32_t i = 0; i < r->graph->n_args; i++)
        if (r->args[i].kind == ARG_INT && r->args[i].u.integer == from) {
            set_integer_arg(r, &r->args[i], value);
            any = true;
        }
    return any || edit_invalid(why, "no input has that size, and no call that argument");
}

static bool change_dtype(struct reshaper *r, uint32_t a, uint32_t b)
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

static bool change_device(struct reshaper *r)
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

static bool change_shape(struct reshaper *r, const struct edit *edit, struct err *why)
{
    if (edit->kind == EDIT_SIZE_CONSTANT && edit->a == NODE_NONE)
        return replace_constant(r, edit->b, edit->value, why);
    struct shape *shape = input_shape_at(r, edit->a, why);
    if (!shape)
        return false;
    if (edit->kind == EDIT_DROP_DIM)
        return drop_dim(r, shape, edit->b, why);
    if (edit->kind == EDIT_SIZE_CONSTANT)
        return set_constant(r, shape, edit->b, edit->value, why);
    reshape_lay_out(r, shape);
    return true;
}

static bool reshape_edit(struct reshaper *r, const struct edit *edit, struct err *why)
{
    bool of_symbol = edit->kind == EDIT_STATIC || edit->kind == EDIT_MERGE ||
                     edit->kind == EDIT_HINT || edit->kind == EDIT_WIDEN;
    if (of_symbol && edit->a >= r->whole->n_symbols)
        return edit_invalid(why, "there is no such symbol");
    switch (edit->kind) {
    case EDIT_STATIC: return set_static(r, edit->a, why);
    case EDIT_MERGE: return merge_symbols(r, edit->a, edit->b, why);
    case EDIT_HINT: return set_hint(r, edit->a, edit->value, why);
    case EDIT_WIDEN: widen_range(&r->symbols[edit->a]); return true;
    case EDIT_FRESH: {
        node_id id = input_at(r->graph, edit->a);
        return id == NODE_NONE ? edit_invalid(why, "there is no such input")
                               : make_fresh_symbol(r, id, edit->b, why);
    }
    case EDIT_DROP_DIM:
    case EDIT_CONTIGUOUS:
    case EDIT_SIZE_CONSTANT: return change_shape(r, edit, why);
    case EDIT_DTYPE:
        return edit->a < DTYPE_COUNT && edit->b < DTYPE_COUNT && edit->a && edit->b
                   ? change_dtype(r, edit->a, edit->b)
                   : edit_invalid(why, "there is no such dtype");
    case EDIT_DEVICE: return change_device(r);
    case EDIT_ARGUMENT: return reshape_argument(r, edit, why);
    case EDIT_REFERENCE: return reshape_reference(r, edit, why);
    case EDIT_INLINE: return edit_invalid(why, "a subgraph is inlined by itself");
    default: return true;
    }
}

/* Returns whether all sizes are the same numbers after the edits. */
static bool keep_sizes(const struct edit *edits, uint32_t n)
{
    bool ret = n > 0;
    for (uint32_t i = 0; i < n; i++)
        ret = ret && edits[i].kind == EDIT_FRESH;
    return ret;
}

static struct candidate *reshape(const struct candidate *whole, const struct edit *edits,
                                 uint32_t n, const bool *affected, struct err *why)
{
    struct reshaper r = {
        .whole = whole, .graph = whole->graph, .n_edits = n, .affected = affected
    };
    struct candidate *ret = NULL;
    r.pool = sym_pool_new(why);
    bool ok = r.pool && (reshape_begin(&r, keep_sizes(edits, n)) || err_nomem(why));
    for (uint32_t i = 0; i < n && ok; i++)
        ok = reshape_edit(&r, &edits[i], why);
    if (ok)
        ret = reshape_end(&r, why);
    /* If memory runs out, the size looks like one that cannot be computed, and is reported as
     * such. */
    struct err pool = { 0 };
    if (!ret && r.pool && !sym_ok(r.pool, &pool) && pool.kind == ERR_ENV)
        *why = pool;
    sym_pool_free(r.pool);
    vec_release(&r.pairs);
    arena_release(&r.arena);
    return ret;
}

/* Marks the calls whose sizes may change, if only some can. Returns whether that is so. */
static bool mark_affected(const struct graph *graph, const struct edit *edits, uint32_t n,
                          bool *affected)
{
    for (uint32_t i = 0; i < n; i++) {
        if (edits[i].kind == EDIT_REFERENCE && edits[i].a < graph->n_nodes)
            affected[edits[i].a] = true;
        else if (!edit_is_structural(edits[i].kind))
            return false;
    }
    mark_dependents(graph, affected);
    return true;
}

struct candidate *reshape_candidate(const struct candidate *whole, const struct edit *edits,
                                    uint32_t n, struct err *why)
{
    bool *affected = calloc((size_t)whole->graph->n_nodes + 1, sizeof *affected);
    if (!affected)
        return err_nomem(why), NULL;
    bool some = mark_affected(whole->graph, edits, n, affected);
    struct candidate *ret = reshape(whole, edits, n, some ? affected : NULL, why);
    free(affected);
    return ret;
}

struct candidate *propagate_affected(const struct candidate *whole, const bool *affected,
                                     struct err *why)
{
    return reshape(whole, NULL, 0, affected, why);
}

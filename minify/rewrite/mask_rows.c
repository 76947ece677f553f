/* Decides about calls that have rows of a mask among their arguments: those that read, write, count
 * or reduce rows here, the others by their class (mask_classes.c). */
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

bool row_refuse(struct row_call *c, const char *why)
{
    mask_block(c->m, c->first,
               mask_text(c->m, "%.*s (%.*s): %s", STR_ARG(c->node->name), STR_ARG(c->base), why));
    return false;
}

static void gather_argument(void *user, node_id id)
{
    struct row_call *c = user;
    const struct mask_node *node = &c->m->nodes[id];
    if (!mask_is_dependent(node->role))
        return;
    bool rows = mask_is_rows(c->m, id);
    c->rows |= rows;
    c->count |= node->role == ROLE_COUNT;
    c->number |= node->role == ROLE_NUMBER;
    c->other |= !rows && node->role != ROLE_COUNT && node->role != ROLE_NUMBER;
    if (rows && c->row == NODE_NONE)
        c->row = id;
    c->blocks |= rows && node->block != c->m->nodes[c->row].block;
    if (c->first == NODE_NONE) {
        c->first = id;
        return;
    }
    c->mixed |= node->mask != c->m->nodes[c->first].mask;
    mask_join(c->m, c->first, id);
}

/* ---- Results ---- */

static bool take_role(struct row_call *c, enum mask_role role)
{
    struct mask_node *node = &c->m->nodes[c->id];
    node->role = role;
    node->mask = c->m->nodes[c->first].mask;
    if (node->unit == EXPR_NONE)
        node->unit = c->m->nodes[c->row == NODE_NONE ? c->first : c->row].unit;
    mask_join(c->m, c->first, c->id);
    return true;
}

/* Takes what the class decided. */
static void take_decided(struct row_call *c)
{
    struct mask_node *node = &c->m->nodes[c->id];
    node->dim = c->ret.dim;
    node->refill = c->ret.refill;
    node->row_items = c->ret.row_items;
    node->ndim = c->ret.ndim;
    node->below = c->ret.below;
    node->counts = c->ret.counts;
    node->loss = c->ret.loss;
}

/* The call computes rows: dimension c->ret.dim of its result is that of its arguments. */
static bool take_rows(struct row_call *c)
{
    const struct meta *result = c->result;
    node_id from = c->row == NODE_NONE ? c->first : c->row;
    uint32_t dim = c->ret.dim;
    if (dim >= result->n_sizes || !mask_row_block(c->m, result->sizes[dim], c->m->nodes[from].unit,
                                                  &c->m->nodes[c->id].block))
        return row_refuse(c, "no dimension of its result is that of the rows");
    for (uint32_t d = 0; d < result->n_sizes; d++)
        if (d != dim && mask_size_is_unbacked(c->m, result, d))
            return row_refuse(c, "another dimension of its result depends on data");
    take_decided(c);
    return take_role(c, ROLE_ROWS);
}

static bool take_class(struct row_call *c)
{
    if (c->ret.role == ROLE_ROWS)
        return take_rows(c);
    take_decided(c);
    if (c->row != NODE_NONE)
        c->m->nodes[c->id].block = c->m->nodes[c->row].block;
    return take_role(c, c->ret.role);
}

/* ---- Calls of other forms ---- */

/* Returns whether a SymInt or a literal is at least the number of elements of a mask of one
 * dimension. */
static bool bounds_mask(const struct row_call *c, const struct arg *bound)
{
    const struct meta *mask = mask_tensor(c->m, c->m->nodes[c->first].mask);
    const struct expr_pool *pool = &c->m->graph->pool->exprs;
    int64_t number;
    if (!mask || mask->n_sizes != 1)
        return false;
    const struct expr *size = expr_at(pool, mask->sizes[0]);
    if (mask_int(c->m, bound, &number)) {
        int64_t known;
        if (size->kind == EXPR_INT)
            return size->fits && size->value <= number;
        return mask_known_size(c->m, c->m->nodes[c->first].mask, 0, &known) && known <= number;
    }
    const struct meta *meta =
        bound->kind == ARG_NODE ? node_meta(c->m->graph, &c->m->graph->nodes[bound->u.node]) : NULL;
    return meta && meta->kind == META_SYM && expr_equal(pool, meta->sizes[0], pool, mask->sizes[0]);
}

/* Returns whether a condition holds for each number of rows: it is at least 0, and at most the
 * number of elements of the mask. */
static bool always_holds(const struct row_call *c, node_id id)
{
    const struct node *node = &c->m->graph->nodes[id];
    const struct arg *args = node_args(c->m->graph, node);
    const struct meta *meta = node_meta(c->m->graph, node);
    int64_t number;
    if (meta && str_is(meta->text, "Sym(True)"))
        return true;
    if (node->n_args != 2)
        return false;
    bool ge = str_is(node->target, "operator.ge"), le = str_is(node->target, "operator.le");
    const struct arg *more = &args[ge ? 0 : 1], *less = &args[ge ? 1 : 0];
    if (!ge && !le)
        return false;
    if (more->kind == ARG_NODE && c->m->nodes[more->u.node].role == ROLE_COUNT)
        return mask_int(c->m, less, &number) && number <= 0;
    return less->kind == ARG_NODE && c->m->nodes[less->u.node].role == ROLE_COUNT &&
           bounds_mask(c, more);
}

/* An assert that holds for each number of rows needs none. */
static bool check_assert(struct row_call *c)
{
    int64_t number;
    const struct arg *min = mask_arg(c->m, c->id, 1, "min"), *max = mask_arg(c->m, c->id, 2, "max");
    bool good = false;
    if (!c->node->n_args || c->args[0].kind != ARG_NODE)
        good = false;
    else if (str_is(c->base, "_assert_scalar") || str_is(c->base, "_check"))
        good = always_holds(c, c->args[0].u.node);
    else
        good = c->m->nodes[c->args[0].u.node].role == ROLE_COUNT &&
               (!min || min->kind == ARG_NONE || (mask_int(c->m, min, &number) && number <= 0)) &&
               (!max || max->kind == ARG_NONE);
    return good ? take_role(c, ROLE_ASSERT)
                : row_refuse(c, "it requires something of the number of rows");
}

static bool is_assert(struct str base)
{
    static const char *const names[] = { "_assert_scalar", "sym_constrain_range",
                                         "sym_constrain_range_for_size", "_check",
                                         "_check_is_size" };
    return STR_IS_ANY(base, names);
}

static bool take_size(struct row_call *c)
{
    int64_t dim;
    const struct arg *arg = mask_arg(c->m, c->id, 1, "dim");
    node_id of = c->args[0].kind == ARG_NODE ? c->args[0].u.node : NODE_NONE;
    const struct meta *meta = of == NODE_NONE ? NULL : mask_tensor(c->m, of);
    if (!meta || !mask_int(c->m, arg, &dim))
        return row_refuse(c, "it uses the sizes");
    dim += dim < 0 ? (int64_t)meta->n_sizes : 0;
    if (dim < 0 || dim >= (int64_t)meta->n_sizes)
        return row_refuse(c, "it has no such dimension");
    bool rows = mask_is_rows(c->m, of);
    bool count = dim == (rows ? (int64_t)c->m->nodes[of].dim : 0);
    if (!count && !rows)
        return row_refuse(c, "it uses the positions of the True elements");
    if (count && rows && c->m->nodes[of].block != 1)
        return row_refuse(c, "it counts elements of rows");
    if (count)
        c->m->nodes[c->id].unit = meta->sizes[dim];
    return !count || take_role(c, ROLE_COUNT); /* other sizes are those of all rows, too */
}

/* zeros(count), expand(x, [count, 6]) and the like make rows. */
static bool is_creation(const struct row_call *c)
{
    const struct row_rule *rule = mask_find_rule(c->base);
    return rule && (rule->class == ROW_CREATE || rule->class == ROW_EXPAND);
}

/* Arithmetic with the number of rows: a tensor replaces it, whose dtype changes no result of
 * floats. */
static bool take_counted(struct row_call *c)
{
    static const char *const arithmetic[] = {
        "add", "sub", "mul", "div", "truediv", "true_divide"
    };
    bool good = c->result && STR_IS_ANY(c->base, arithmetic) && c->node->n_args == 2 &&
                mask_is_floating(c->result->dtype);
    for (uint32_t i = 0; i < c->node->n_args && good; i++) {
        const struct arg *arg = &c->args[i];
        const struct meta *meta = arg->kind == ARG_NODE ? mask_tensor(c->m, arg->u.node) : NULL;
        good = row_depends(c, arg) || (meta && meta->dtype == c->result->dtype);
    }
    if (!good || !mask_can_count(c->m, c->id, 0))
        return row_refuse(c, "it uses the number of rows");
    c->m->nodes[c->id].counts = true;
    return take_role(c, ROLE_COUNTED);
}

/* An item of a tuple of tensors. */
static bool take_tuple_item(struct row_call *c, const struct arg *index)
{
    const struct mask_node *tuple = &c->m->nodes[c->args[0].u.node];
    if (index->kind != ARG_INT || !c->result)
        return row_refuse(c, "its index is not known");
    int64_t item = index->u.integer;
    if (tuple->row_items != UINT32_MAX && (item < 0 || item >= 32))
        return row_refuse(c, "its index is not known");
    if (tuple->row_items != UINT32_MAX && !(tuple->row_items >> item & 1))
        return take_role(c, ROLE_COUNTED);
    c->ret.dim = tuple->dim - (c->result->n_sizes < tuple->ndim ? tuple->below : 0);
    return take_rows(c);
}

/* x[:, index] of rows, where the dimension of the rows is whole. */
static bool take_view_item(struct row_call *c, const struct arg *index)
{
    bool tuple = index->kind == ARG_TUPLE;
    uint32_t n = tuple ? index->u.items.n : 1, used = 0, in = 0, out = 0;
    const struct arg *items = !tuple ? index : n ? &c->m->graph->args[index->u.items.first] : NULL;
    uint32_t dim = c->m->nodes[c->row].dim, ndim = row_ndim(c);
    bool found = false, good = true;
    for (uint32_t i = 0; i < n; i++)
        used += items[i].kind == ARG_INT || items[i].kind == ARG_SLICE;
    good = used <= ndim;
    for (uint32_t i = 0; i < n && good; i++) {
        bool slice = items[i].kind == ARG_SLICE, whole = slice;
        for (uint32_t k = 0; whole && k < items[i].u.items.n; k++)
            whole = c->m->graph->args[items[i].u.items.first + k].kind == ARG_NONE;
        uint32_t step = items[i].kind == ARG_ELLIPSIS ? ndim - used : 1;
        good = slice || items[i].kind == ARG_INT || items[i].kind == ARG_ELLIPSIS ||
               items[i].kind == ARG_NONE;
        if (items[i].kind == ARG_NONE) {
            out++;
            continue;
        }
        if (dim >= in && dim < in + step) {
            found = true;
            good &= whole || items[i].kind == ARG_ELLIPSIS;
            c->ret.dim = out + (dim - in);
        }
        in += step;
        out += items[i].kind == ARG_INT ? 0 : step;
    }
    if (!found)
        c->ret.dim = out + (dim - in);
    return good && c->result ? take_rows(c) : row_refuse(c, "some of the rows are selected");
}

/* An item of positions: of a tuple of them, or of their columns. */
static bool take_positions(struct row_call *c, uint32_t first, uint32_t n, enum index_form form)
{
    const struct mask_node *from = &c->m->nodes[c->args[0].u.node];
    struct mask_node *node = &c->m->nodes[c->id];
    if (first >= from->n_items || n > from->n_items - first)
        return row_refuse(c, "it uses the positions of the True elements");
    node->form = form;
    node->item = from->item + first;
    node->n_items = n;
    node->unit = c->result && c->result->n_sizes ? c->result->sizes[0] : EXPR_NONE;
    return take_role(c, ROLE_INDICES);
}

static bool take_item(struct row_call *c)
{
    const struct arg *index = c->node->n_args == 2 ? &c->args[1] : NULL;
    if (!index || c->args[0].kind != ARG_NODE)
        return row_refuse(c, "its index is not known");
    const struct mask_node *from = &c->m->nodes[c->args[0].u.node];
    if (from->role == ROLE_INDICES && from->form == INDEX_TUPLE && index->kind == ARG_INT &&
        index->u.integer >= 0)
        return take_positions(c, (uint32_t)(index->u.integer > 63 ? 63 : index->u.integer), 1,
                              INDEX_VECTOR);
    if (from->role == ROLE_INDICES && from->form == INDEX_MATRIX && index->kind == ARG_TUPLE &&
        index->u.items.n == 2) { /* [:, 0] */
        const struct arg *items = &c->m->graph->args[index->u.items.first];
        bool whole = items[0].kind == ARG_SLICE;
        for (uint32_t k = 0; whole && k < items[0].u.items.n; k++)
            whole = c->m->graph->args[items[0].u.items.first + k].kind == ARG_NONE;
        if (whole && items[1].kind == ARG_INT && items[1].u.integer >= 0 && items[1].u.integer < 64)
            return take_positions(c, (uint32_t)items[1].u.integer, 1, INDEX_VECTOR);
    }
    if (from->role == ROLE_TUPLE)
        return take_tuple_item(c, index);
    if (from->role != ROLE_SOURCE && from->role != ROLE_ROWS)
        return row_refuse(c, "it is indexed");
    return take_view_item(c, index);
}

/* A literal, or what stands for an end that was not passed. */
static bool read_literal(const struct row_call *c, uint32_t position, const char *name,
                         int64_t other, int64_t *ret)
{
    const struct arg *arg = mask_arg(c->m, c->id, position, name);
    *ret = other;
    return !arg || arg->kind == ARG_NONE || mask_int(c->m, arg, ret);
}

/* Views of nonzero(mask): unbind(1), a column, and one column as a vector. */
static bool take_columns(struct row_call *c)
{
    const char *why = "it uses the positions of the True elements";
    int64_t dim, at, end, step;
    if (c->args[0].kind != ARG_NODE)
        return row_refuse(c, why);
    const struct mask_node *from = &c->m->nodes[c->args[0].u.node];
    if (from->role != ROLE_INDICES || from->form == INDEX_TUPLE)
        return row_refuse(c, why);
    static const char *const vectors[] = { "flatten", "view", "reshape", "squeeze" };
    static const char *const same[] = { "alias", "detach", "clone", "contiguous" };
    bool one = from->n_items == 1, squeeze = str_is(c->base, "squeeze");
    if (STR_IS_ANY(c->base, same))
        return take_positions(c, 0, from->n_items, from->form);
    if (STR_IS_ANY(c->base, vectors) && one && c->result && c->result->n_sizes == 1) {
        uint64_t named;
        if (squeeze &&
            (from->form != INDEX_MATRIX ||
             !row_read_dims(c, mask_arg(c->m, c->id, 1, "dim"), 2, &named) || named != 2))
            return row_refuse(c, "it depends on whether there is one row");
        return take_positions(c, 0, 1, INDEX_VECTOR);
    }
    if (from->form != INDEX_MATRIX || !read_literal(c, 1, "dim", 0, &dim) ||
        (dim != 1 && dim != -1))
        return row_refuse(c, why);
    if (str_is(c->base, "unbind") && !c->result)
        return take_positions(c, 0, from->n_items, INDEX_TUPLE);
    if (str_is(c->base, "select") && read_literal(c, 2, "index", -1, &at) && at >= 0 && at < 64)
        return take_positions(c, (uint32_t)at, 1, INDEX_VECTOR);
    if (str_is(c->base, "slice") && read_literal(c, 2, "start", 0, &at) &&
        read_literal(c, 3, "end", INT64_MAX, &end) && read_literal(c, 4, "step", 1, &step) &&
        step == 1 && at >= 0 && at < (int64_t)from->n_items) {
        end = end > (int64_t)from->n_items ? (int64_t)from->n_items : end;
        if (end > at)
            return take_positions(c, (uint32_t)at, (uint32_t)(end - at), INDEX_MATRIX);
    }
    return row_refuse(c, why);
}

/* x[nonzero(mask)], where x has no rows. */
static bool take_source(struct row_call *c, struct mask_index at)
{
    at.why = at.why ? at.why : mask_check_source(c->m, c->id, at);
    if (at.why || mask_is_rows(c->m, at.x))
        return row_refuse(c, at.why ? at.why : "rows are indexed");
    mask_set_source(c->m, c->id, at);
    return take_role(c, ROLE_SOURCE);
}

/* The index of index_select(x, dim, positions) and index_add(x, dim, positions, rows). */
static struct mask_index index_of_dim(const struct row_call *c)
{
    const struct arg *x = &c->args[0];
    const struct meta *meta = x->kind == ARG_NODE ? mask_tensor(c->m, x->u.node) : NULL;
    struct mask_index at = mask_index_of(c->m, x, mask_arg(c->m, c->id, 2, "index"), true);
    uint64_t named;
    if (at.mask == NODE_NONE || !at.by_indices || !meta)
        return (struct mask_index){ .x = NODE_NONE, .mask = NODE_NONE };
    const struct meta *mask = mask_tensor(c->m, at.mask);
    at.why = NULL;
    if (!row_read_dims(c, row_dim_arg(c, 1), meta->n_sizes, &named) || !mask || mask->n_sizes != 1)
        at.why = "its dimension is not known";
    else
        at.dim = (uint32_t)__builtin_ctzll(named);
    if (!at.why && !mask_same_size(c->m, x->u.node, at.dim, at.mask, 0))
        at.why = "it reads or writes a tensor of another size at the mask's positions";
    return at;
}

/* x[mask] where x or the mask has rows of another mask. */
static void take_nested(struct row_call *c, struct mask_index at)
{
    c->m->nodes[c->id].listed = true;
    c->m->nodes[c->id].mask = at.mask;
    c->m->nodes[c->id].index = at.named;
    row_refuse(c, "rows of a mask are selected by another mask");
}

/* y[mask] = rows, where y has none. */
static bool take_put(struct row_call *c, struct mask_index at, const struct arg *value)
{
    bool adds = false;
    struct mask_node *node = &c->m->nodes[c->id];
    const struct meta *x = mask_tensor(c->m, at.x);
    const struct meta *rows =
        value && value->kind == ARG_NODE ? mask_tensor(c->m, value->u.node) : NULL;
    node->listed = true;
    node->mask = at.mask;
    node->index = at.named;
    node->dim = at.dim;
    if (at.why)
        return row_refuse(c, at.why);
    uint32_t right = x->n_sizes - at.dim - mask_tensor(c->m, at.mask)->n_sizes + 1;
    if (at.mask != c->m->nodes[c->first].mask)
        return row_refuse(c, "it writes with another mask than its rows were read with");
    if (mask_is_rows(c->m, at.x) || (!at.by_indices && c->other))
        return row_refuse(c, "it writes to rows");
    if (!rows || rows->dtype != x->dtype)
        return row_refuse(c, "its value is no tensor of that dtype");
    if (row_is_arg(c, value) && c->m->nodes[value->u.node].block != 1)
        return row_refuse(c, "its value has elements of rows");
    if (!mask_accumulates(c->m, c->id, &adds))
        return row_refuse(c, "whether it adds is no literal");
    if (adds && x->dtype == DTYPE_B8)
        return row_refuse(c, "it adds to a tensor of bool");
    if (row_is_arg(c, value) &&
        (mask_rows_from_right(c->m, value->u.node) != right || rows->n_sizes > at.dim + right))
        return row_refuse(c, "its value has its rows in another dimension");
    if (!row_is_arg(c, value) && (rows->n_sizes >= right || row_depends(c, value)))
        return row_refuse(c, "its value is no row");
    return take_role(c, ROLE_PUT_ROWS);
}

/* y.index_add(dim, nonzero(mask), rows): no position is there twice. */
static bool take_add(struct row_call *c)
{
    struct mask_index at = index_of_dim(c);
    if (at.mask == NODE_NONE || c->node->n_args != 4 || row_depends(c, &c->args[0]))
        return row_refuse(c,
                          "its index is not that of the True elements of a mask of one dimension");
    return take_put(c, at, mask_arg(c->m, c->id, 3, "source"));
}

static bool is_reduction_of_rows(const struct row_call *c, const struct row_reduction *reduction,
                                 bool *along, uint64_t *named)
{
    const struct arg *dim = row_dim_arg(c, 1);
    if (!reduction || !c->node->n_args || !row_is_arg(c, &c->args[0]))
        return false;
    bool all = !dim || dim->kind == ARG_NONE ||
               ((dim->kind == ARG_LIST || dim->kind == ARG_TUPLE) && !dim->u.items.n);
    bool known = row_read_dims(c, dim, row_ndim(c), named);
    *along = all || (known && (*named >> c->m->nodes[c->row].dim & 1));
    return all || known;
}

static bool take_reduction(struct row_call *c, const struct row_reduction *reduction)
{
    const struct meta *rows = mask_tensor(c->m, c->args[0].u.node);
    enum mask_fill fill = reduction->fill;
    if (!row_check_first(c))
        return false;
    if (fill == FILL_NONE)
        return row_refuse(c, "no number in the rows that the mask leaves out keeps its result");
    if ((fill == FILL_COUNTED || fill == FILL_MINUS_INF) && !mask_is_floating(rows->dtype))
        return row_refuse(c, "its argument has no dtype of floats");
    if (!c->result)
        return row_refuse(c, "its result was not recorded");
    c->m->nodes[c->id].fill = fill;
    return take_role(c, ROLE_REDUCE);
}

static bool take_ruled(struct row_call *c)
{
    bool along = false;
    uint64_t named = 0;
    const struct row_reduction *reduction = mask_find_reduction(c->base);
    const struct row_rule *rule = mask_find_rule(c->base);
    if (is_reduction_of_rows(c, reduction, &along, &named)) {
        if (along)
            return take_reduction(c, reduction);
        if (!row_check_first(c) || !row_check_derivative(c, reduction->derivative))
            return false;
        row_set_dim(c, named);
        c->ret.role = c->result ? ROLE_ROWS : ROLE_TUPLE;
        c->ret.row_items = UINT32_MAX;
    } else if (c->blocks) {
        return row_refuse(c, "its arguments have rows and elements of rows");
    } else if (!rule) {
        return row_refuse(c, "it mixes rows, or has no rule");
    } else if (c->other) {
        return row_refuse(c, "it uses the number or the positions of the True elements");
    } else if (node_writes(c->m->graph, c->node) && !row_is_arg(c, &c->args[0])) {
        return row_refuse(c, "it writes to a tensor without rows");
    } else if (!row_check_class(c, rule) || !row_check_derivative(c, rule->derivative)) {
        return false;
    }
    /* A copy of the rows gets these numbers: what reads the rows later would not see the write. */
    if (node_writes(c->m->graph, c->node) && (c->ret.refill.ints || c->ret.refill.floats))
        return row_refuse(c, "it writes to rows that need other numbers where the mask is False");
    c->m->nodes[c->id].left = row_compute_left(c);
    return take_class(c);
}

static void decide(struct row_call *c)
{
    const struct meta *meta = node_meta(c->m->graph, c->node);
    bool get = str_is(c->node->target, "operator.getitem"), setitem = mask_is_setitem(c->node);
    bool put = setitem || str_is(c->base, "setitem") || str_is(c->base, "index_put") ||
               str_is(c->base, "_unsafe_index_put");
    const struct arg *index = mask_arg(c->m, c->id, 1, "indices");
    struct mask_index at =
        mask_index_of(c->m, mask_arg(c->m, c->id, 0, "self"), index, !get && !setitem);
    bool read = get || str_is(c->base, "index") || str_is(c->base, "_unsafe_index");
    bool select = str_is(c->base, "index_select") && c->other;
    bool sized = str_is(c->base, "sym_size") || str_is(c->base, "size");
    const struct arg *out = mask_arg(c->m, c->id, UINT32_MAX, "out");
    if (out && out->kind != ARG_NONE) {
        row_refuse(c, "it writes to out=");
        return;
    }
    if (select)
        at = index_of_dim(c);
    if (put && at.mask != NODE_NONE)
        take_put(c, at, mask_arg(c->m, c->id, 2, "values"));
    else if ((read && at.mask != NODE_NONE && at.by_indices) || (select && at.mask != NODE_NONE))
        take_source(c, at);
    else if (read && at.mask != NODE_NONE)
        take_nested(c, at);
    else if (get)
        take_item(c);
    else if ((str_is(c->base, "index_add") || str_is(c->base, "index_copy")) && c->other)
        take_add(c);
    else if (is_assert(c->base))
        check_assert(c);
    else if (sized && (c->rows || c->other) && !c->count && !c->number)
        take_size(c);
    else if (c->other && !c->rows && !c->count && !c->number)
        take_columns(c);
    else if (meta && meta->kind == META_SYM && !c->rows)
        take_role(c, ROLE_NUMBER);
    else if ((c->count || c->number) && !c->rows && !c->other && !is_creation(c))
        take_counted(c);
    else
        take_ruled(c);
}

/* An output that depends on the mask: each of its groups is kept. */
static void block_output(void *user, node_id id)
{
    struct masker *m = user;
    const char *graph =
        m->whole->kind == GRAPH_FORWARD
            ? "forward graph, which the backward graph may read; see the joint graph"
            : "graph";
    if (mask_is_dependent(m->nodes[id].role))
        mask_block(
            m, id,
            mask_text(m, "%.*s is an output of the %s", STR_ARG(m->graph->nodes[id].name), graph));
}

void mask_rows(struct masker *m, node_id id)
{
    struct row_call c = { .m = m,
                          .id = id,
                          .node = &m->graph->nodes[id],
                          .args = node_args(m->graph, &m->graph->nodes[id]),
                          .base = mask_base(&m->graph->nodes[id]),
                          .result = mask_tensor(m, id),
                          .first = NODE_NONE,
                          .row = NODE_NONE };
    if (c.node->op == NODE_OUTPUT) {
        node_references(m->graph, c.node, block_output, m);
        return;
    }
    node_references(m->graph, c.node, gather_argument, &c);
    if (c.first == NODE_NONE)
        return;
    if (!node_is_call(c.node))
        mask_block(m, c.first, mask_text(m, "%.*s is no call", STR_ARG(c.node->name)));
    else if (c.mixed)
        row_refuse(&c, "its arguments have rows of two masks");
    else
        decide(&c);
    if (m->nodes[id].listed && m->nodes[id].role == ROLE_NONE && !m->why[id].p)
        m->why[id] = mask_why(m, c.first);
}

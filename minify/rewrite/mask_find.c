/* Finds the calls that have boolean masks, and the parts that nodes have in what follows. */
#include "minify/rewrite/mask_graph.h"
#include <stdarg.h>

struct str mask_text(struct masker *m, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    struct str ret = arena_copy(&m->arena, buf_str(&text));
    m->failed |= text.failed || !ret.p;
    buf_release(&text);
    return ret.p ? ret : STR("");
}

/* ---- Groups ---- */

node_id mask_root(struct masker *m, node_id id)
{
    while (m->nodes[id].group != id) {
        m->nodes[id].group = m->nodes[m->nodes[id].group].group;
        id = m->nodes[id].group;
    }
    return id;
}

void mask_block(struct masker *m, node_id id, struct str why)
{
    node_id root = mask_root(m, id);
    if (!m->why[root].p)
        m->why[root] = why;
}

void mask_join(struct masker *m, node_id a, node_id b)
{
    a = mask_root(m, a);
    b = mask_root(m, b);
    if (a == b)
        return;
    struct str why = m->why[b];
    m->nodes[b].group = a;
    if (why.p && !m->why[a].p)
        m->why[a] = why;
}

struct str mask_why(struct masker *m, node_id id)
{
    return m->why[mask_root(m, id)];
}

/* ---- Indices ---- */

static bool is_mask(const struct masker *m, const struct arg *arg)
{
    const struct meta *meta = arg->kind == ARG_NODE ? mask_tensor(m, arg->u.node) : NULL;
    return meta && meta->dtype == DTYPE_B8;
}

static bool is_full_slice(const struct masker *m, const struct arg *arg)
{
    if (arg->kind != ARG_SLICE)
        return false;
    for (uint32_t i = 0; i < arg->u.items.n; i++)
        if (m->graph->args[arg->u.items.first + i].kind != ARG_NONE)
            return false;
    return true;
}

static const struct arg *items_of(const struct masker *m, const struct arg *arg)
{
    return arg->u.items.n ? &m->graph->args[arg->u.items.first] : NULL;
}

/* Returns the mask of which the argument has the positions in dimension `item`. */
static node_id positions_of(const struct masker *m, const struct arg *arg, uint32_t item)
{
    const struct mask_node *node = arg->kind == ARG_NODE ? &m->nodes[arg->u.node] : NULL;
    bool vector = node && node->role == ROLE_INDICES && node->form == INDEX_VECTOR;
    return vector && node->item == item ? node->mask : NODE_NONE;
}

/* Returns the number of items, from the first on, that are all positions of one mask in order:
 * x[nonzero(mask)]; 0: they are not. */
static uint32_t count_indices(const struct masker *m, const struct arg *items, uint32_t n,
                              node_id *mask)
{
    *mask = n ? positions_of(m, &items[0], 0) : NODE_NONE;
    const struct meta *meta = *mask == NODE_NONE ? NULL : mask_tensor(m, *mask);
    if (!meta || !meta->n_sizes || meta->n_sizes > n)
        return 0;
    for (uint32_t i = 1; i < meta->n_sizes; i++)
        if (positions_of(m, &items[i], i) != *mask)
            return 0;
    return meta->n_sizes;
}

/* The items of an index: how many dimensions stand before the mask, or the positions. */
struct item_search {
    const struct masker *m;
    bool aten; /* None stands for a whole dimension, otherwise for a new one */
    uint32_t at, n_indices, masks, after;
    node_id mask;
    bool ellipsis, new_dim, other;
};

static void search_items(struct item_search *s, const struct arg *items, uint32_t n)
{
    bool found = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t positions = found ? 0 : count_indices(s->m, &items[i], n - i, &s->mask);
        if (is_mask(s->m, &items[i])) {
            s->masks++;
            s->mask = items[i].u.node;
            found = true;
        } else if (positions) {
            s->n_indices = positions;
            i += positions - 1;
            found = true;
        } else if (items[i].kind == ARG_ELLIPSIS) {
            s->ellipsis |= !found;
        } else if (is_full_slice(s->m, &items[i]) || (s->aten && items[i].kind == ARG_NONE)) {
            s->at += !found;
            s->after += found;
        } else {
            s->new_dim |= items[i].kind == ARG_NONE;
            s->other = true;
        }
    }
}

static struct mask_index index_by_items(const struct masker *m, node_id x, const struct arg *index,
                                        bool aten)
{
    struct item_search s = { .m = m, .aten = aten, .mask = NODE_NONE };
    struct mask_index ret = { .x = x, .mask = NODE_NONE };
    search_items(&s, items_of(m, index), index->u.items.n);
    if (!s.masks && !s.n_indices)
        return ret;
    ret.mask = s.mask;
    ret.by_indices = !s.masks;
    ret.dim = s.at;
    if (s.masks > 1)
        ret.why = "the index has several masks";
    else if (s.other)
        ret.why = "the index has more than the mask";
    const struct meta *tensor = mask_tensor(m, x), *mask = mask_tensor(m, s.mask);
    uint32_t used = (mask ? mask->n_sizes : 0) + s.after;
    if (s.ellipsis && tensor && tensor->n_sizes >= used)
        ret.dim = tensor->n_sizes - used;
    return ret;
}

struct mask_index mask_index_of(struct masker *m, const struct arg *x, const struct arg *index,
                                bool aten)
{
    struct mask_index ret = { .x = NODE_NONE, .mask = NODE_NONE };
    const struct meta *meta = x && x->kind == ARG_NODE ? mask_tensor(m, x->u.node) : NULL;
    if (!meta || !index)
        return ret;
    if (is_mask(m, index))
        ret = (struct mask_index){ .x = x->u.node, .mask = index->u.node };
    else if (index->kind == ARG_NODE && count_indices(m, index, 1, &ret.mask) == 1)
        ret = (struct mask_index){ .x = x->u.node, .mask = ret.mask, .by_indices = true };
    else if (index->kind == ARG_TUPLE || index->kind == ARG_LIST)
        ret = index_by_items(m, x->u.node, index, aten);
    ret.named = ret.mask;
    if (ret.mask == NODE_NONE || ret.why)
        return ret;
    ret.mask = m->nodes[ret.mask].same;
    const struct meta *mask = mask_tensor(m, ret.mask);
    if (!mask || !mask->n_sizes)
        ret.why = "the mask has no dimensions";
    else if (!str_eq(mask->device, meta->device))
        ret.why = "the mask is on another device";
    else if (mask->n_sizes + ret.dim > meta->n_sizes)
        ret.why = "the mask has more dimensions than the tensor";
    for (uint32_t i = 0; !ret.why && ret.by_indices && i < mask->n_sizes; i++)
        if (!mask_same_size(m, x->u.node, ret.dim + i, ret.mask, i))
            ret.why = "it reads or writes a tensor of another size at the mask's positions";
    return ret;
}

/* ---- Calls ---- */

static bool is_read(const struct node *node, struct str base)
{
    if (node->op == NODE_CALL_FUNCTION && str_is(node->target, "operator.getitem"))
        return true;
    return str_is(base, "index") || str_is(base, "masked_select") || str_is(base, "_unsafe_index");
}

static bool is_put(const struct node *node, struct str base)
{
    return mask_is_setitem(node) || str_is(base, "setitem") || str_is(base, "index_put") ||
           str_is(base, "_unsafe_index_put");
}

static void list_kept(struct masker *m, node_id id, node_id mask, const char *why)
{
    m->nodes[id].listed = true;
    m->nodes[id].mask = m->nodes[id].index = mask;
    m->why[id] = str_of(why);
}

struct role_search {
    const struct masker *m;
    bool found;
};

static void note_role(void *user, node_id id)
{
    struct role_search *search = user;
    search->found |= mask_is_dependent(search->m->nodes[id].role);
}

/* Returns whether some argument has a part in the computation of rows. */
static bool has_rows_argument(const struct masker *m, node_id id)
{
    struct role_search search = { m, false };
    node_references(m->graph, &m->graph->nodes[id], note_role, &search);
    return search.found;
}

static bool is_plain_dtype(enum dtype dtype)
{
    return mask_is_floating(dtype) || dtype == DTYPE_B8 || dtype == DTYPE_U8 || dtype == DTYPE_I8 ||
           dtype == DTYPE_I16 || dtype == DTYPE_I32 || dtype == DTYPE_I64;
}

const char *mask_check_source(const struct masker *m, node_id id, struct mask_index at)
{
    const struct meta *x = mask_tensor(m, at.x), *mask = mask_tensor(m, at.mask);
    const struct meta *rows = mask_tensor(m, id);
    if (!is_plain_dtype(x->dtype))
        return "where() has no form for its dtype here";
    return rows && rows->dtype == x->dtype && rows->n_sizes == x->n_sizes - mask->n_sizes + 1
               ? NULL
               : "its result was not recorded";
}

void mask_set_source(struct masker *m, node_id id, struct mask_index at)
{
    struct mask_node *node = &m->nodes[id];
    node->role = ROLE_SOURCE;
    node->mask = at.mask;
    node->index = at.named;
    node->dim = at.dim;
    node->unit = mask_tensor(m, id)->sizes[at.dim];
    node->listed = true;
    node->left = (struct row_value){ true, 1 };
}

/* A read of x[mask], whose arguments have no rows. */
static void find_source(struct masker *m, node_id id, struct mask_index at, bool same_rank)
{
    const struct meta *x = mask_tensor(m, at.x), *mask = mask_tensor(m, at.mask);
    if (!at.why)
        at.why = mask_check_source(m, id, at);
    if (!at.why && same_rank) {
        at.why = x->n_sizes != mask->n_sizes ? "the mask is broadcast" : NULL;
        for (uint32_t d = 0; !at.why && d < x->n_sizes; d++)
            at.why = mask_sizes_equal(m, x, d, mask, d) ? NULL : "the mask is broadcast";
    }
    if (at.why) {
        list_kept(m, id, at.named, at.why);
        return;
    }
    mask_set_source(m, id, at);
}

/* Why a value cannot be written by where(), or NULL. It is broadcast along the rows, or has one
 * element. */
static const char *check_put_value(struct masker *m, const struct meta *x, struct mask_index at,
                                   const struct arg *arg)
{
    const struct meta *mask = mask_tensor(m, at.mask);
    double number;
    const struct meta *value = arg && arg->kind == ARG_NODE ? mask_tensor(m, arg->u.node) : NULL;
    if (!arg || (arg->kind == ARG_NODE && !value))
        return "its value is no tensor and no literal number";
    if (arg->kind != ARG_NODE)
        return mask_number(arg, &number) ? NULL : "its value is no tensor and no literal number";
    if (value->dtype != x->dtype)
        return "its value has another dtype";
    if (value->n_sizes && !str_eq(value->device, x->device))
        return "its value is on another device";
    bool one = value->n_sizes <= x->n_sizes;
    for (uint32_t d = 0; one && d < value->n_sizes; d++)
        one = mask_size_is(m, value, d, 1);
    uint32_t rest = x->n_sizes - mask->n_sizes - at.dim; /* dimensions after the mask */
    bool same =
        value->n_sizes <= rest || (value->n_sizes == rest + 1 && mask_size_is(m, value, 0, 1));
    if (value->n_sizes > rest + 1 && value->n_sizes <= rest + 1 + at.dim && mask->n_sizes == 1)
        same = mask_size_is(m, value, value->n_sizes - rest - 1, 1);
    return one || same ? NULL : "its value is a tensor with a row for each True element";
}

static const char *check_literal(const struct meta *x, const struct arg *arg)
{
    double number;
    if (arg->kind == ARG_NODE || !mask_number(arg, &number) || mask_is_floating(x->dtype) ||
        x->dtype == DTYPE_B8)
        return NULL;
    int64_t bits = 8 * (int64_t)dtype_size(x->dtype);
    double most = x->dtype == DTYPE_U8 ? 255
                  : bits > 53          ? 9007199254740992.
                                       : (double)(INT64_C(1) << (bits - 1)) - 1;
    double least = x->dtype == DTYPE_U8 ? 0 : -most;
    return number >= least && number <= most ? NULL : "its value does not fit the tensor's dtype";
}

/* A write x[mask] = v, whose arguments have no rows. */
static void find_put(struct masker *m, node_id id, struct mask_index at)
{
    const struct meta *x = mask_tensor(m, at.x);
    const struct arg *value = mask_arg(m, id, 2, "values");
    bool adds = false;
    if (!at.why && !is_plain_dtype(x->dtype))
        at.why = "where() has no form for its dtype here";
    if (!at.why)
        at.why = check_put_value(m, x, at, value);
    if (!at.why)
        at.why = check_literal(x, value);
    if (!at.why && !mask_accumulates(m, id, &adds))
        at.why = "whether it adds is no literal";
    if (!at.why && adds && (value->kind != ARG_NODE || x->dtype == DTYPE_B8))
        at.why = "it adds a value that is no tensor of numbers";
    m->nodes[id].listed = true;
    m->nodes[id].mask = at.mask;
    m->nodes[id].index = at.named;
    m->nodes[id].dim = at.dim;
    if (at.why)
        m->why[id] = str_of(at.why);
    else
        m->nodes[id].role = ROLE_PUT;
}

/* nonzero(mask) as a tuple. Other forms are kept. */
static void find_nonzero(struct masker *m, node_id id, struct str base)
{
    const struct node *node = &m->graph->nodes[id];
    const struct arg *args = node_args(m->graph, node);
    if (!node->n_args || !is_mask(m, &args[0]))
        return;
    const struct arg *tuple = mask_arg(m, id, 1, "as_tuple");
    bool where = str_is(base, "where") && node->n_args == 1;
    bool nonzero = str_is(base, "nonzero") || str_is(base, "argwhere");
    if (!where && !nonzero)
        return;
    const struct meta *meta = mask_tensor(m, id);
    bool as_tuple = where || (tuple && tuple->kind == ARG_BOOL && tuple->u.integer);
    if (as_tuple ? meta != NULL : !meta || meta->n_sizes != 2) {
        list_kept(m, id, args[0].u.node, "its result was not recorded");
        return;
    }
    m->nodes[id].role = ROLE_INDICES;
    m->nodes[id].form = as_tuple ? INDEX_TUPLE : INDEX_MATRIX;
    m->nodes[id].unit = meta ? meta->sizes[0] : EXPR_NONE;
    m->nodes[id].n_items = mask_tensor(m, args[0].u.node)->n_sizes;
    m->nodes[id].mask = m->nodes[args[0].u.node].same;
    m->nodes[id].index = args[0].u.node;
    m->nodes[id].listed = true;
}

static void find_scatter(struct masker *m, node_id id)
{
    const struct arg *mask = mask_arg(m, id, 1, "mask");
    if (mask && is_mask(m, mask))
        list_kept(m, id, mask->u.node,
                  "no size depends on its mask, and its source has rows of its own");
}

static void find_call(struct masker *m, node_id id)
{
    const struct node *node = &m->graph->nodes[id];
    struct str base = mask_base(node);
    bool read = is_read(node, base), put = is_put(node, base);
    if (has_rows_argument(m, id)) {
        mask_rows(m, id);
    } else if (read || put) {
        bool aten = !str_is(base, "getitem") && !mask_is_setitem(node);
        const struct arg *x = mask_arg(m, id, 0, "self");
        struct mask_index at = mask_index_of(m, x, mask_arg(m, id, 1, read ? "mask" : ""), aten);
        if (at.mask == NODE_NONE)
            at = mask_index_of(m, x, mask_arg(m, id, 1, "indices"), aten);
        if (at.mask != NODE_NONE && read)
            find_source(m, id, at, str_is(base, "masked_select"));
        else if (at.mask != NODE_NONE)
            find_put(m, id, at);
    } else if (str_is(base, "masked_scatter")) {
        find_scatter(m, id);
    } else {
        find_nonzero(m, id, base);
    }
}

/* ---- Masks that are written ---- */

/* Rows are computed where the mask is read and where its rows are written: nothing may write to it
 * in between. */
static void check_written(struct masker *m)
{
    for (node_id id = 0; id < m->graph->n_nodes; id++)
        if ((m->nodes[id].role == ROLE_SOURCE || m->nodes[id].role == ROLE_INDICES) &&
            (mask_is_written(m, m->nodes[id].mask)))
            mask_block(m, id, STR("a call writes to the mask"));
}

/* A statement that is not understood may use and write anything. */
static void keep_all(struct masker *m)
{
    for (node_id id = 0; id < m->graph->n_nodes; id++) {
        m->nodes[id].role = ROLE_NONE;
        m->why[id] = STR("the graph has statements that are not understood");
    }
}

void mask_find(struct masker *m)
{
    bool opaque = false;
    mask_find_same(m);
    for (node_id id = 0; id < m->graph->n_nodes && !m->failed; id++) {
        const struct node *node = &m->graph->nodes[id];
        opaque |= node->op == NODE_OPAQUE;
        if (node_is_call(node))
            find_call(m, id);
        else if (node->op != NODE_PLACEHOLDER && has_rows_argument(m, id))
            mask_rows(m, id);
    }
    check_written(m);
    if (opaque)
        keep_all(m);
}

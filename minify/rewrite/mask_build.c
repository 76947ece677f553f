/* Makes the graph in which the calls of a mask are rewritten. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

#include "minify/candidate/candidate_source.h"
#include "minify/candidate/propagate.h"

/* A form of a mask that was made already. */
enum mask_form { FORM_ROWS, FORM_WHOLE, FORM_COUNT, FORM_SUM };
struct made_form {
    node_id mask;
    enum mask_form form;
    uint32_t ndim;
    int64_t block;
    node_id node;
};
enum { FORMS_KEPT = 8 };     /* the latest ones are looked at */
enum { REFILLED_MOST = 16 }; /* arguments of one call */

struct mask_builder {
    struct masker *m;
    const struct graph *graph;
    node_id *map; /* by node of the graph; NODE_NONE: it is gone */
    vec_of(struct node)
    nodes;
    vec_of(bool)
    made; /* by new node: it is not one of the graph */
    vec_of(struct arg)
    args;
    vec_of(struct made_form)
    forms;
    node_id *of_all; /* by node of the graph: the new node of number_all(), or NODE_NONE */
    struct intern names;
    uint32_t next_name;
    node_id at;       /* the call that is rewritten */
    bool contradicts; /* a call that stays needs a value that is gone */
    bool failed;
};

/* ---- Arguments ---- */

static struct arg node_arg(node_id id)
{
    return (struct arg){ .kind = ARG_NODE, .u.node = id };
}

static struct arg int_arg(struct mask_builder *b, int64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    struct str copy = arena_copy(&b->m->arena, (struct str){ text, (size_t)n });
    b->failed |= !copy.p;
    return (struct arg){ .kind = ARG_INT, .text = copy, .u.integer = value };
}

static struct arg bool_arg(bool value)
{
    return (struct arg){ .kind = ARG_BOOL,
                         .text = value ? STR("True") : STR("False"),
                         .u.integer = value };
}

static struct arg float_arg(const char *text, double value)
{
    return (struct arg){ .kind = ARG_FLOAT, .text = str_of(text), .u.number = value };
}

static struct arg list_arg(struct mask_builder *b, const struct arg *items, uint32_t n)
{
    struct arg ret = { .kind = ARG_LIST, .u.items = { (uint32_t)b->args.n, n } };
    for (uint32_t i = 0; i < n; i++)
        b->failed |= !vec_push(&b->args, items[i]);
    return ret;
}

/* The number that rows get which the mask leaves out. */
static struct arg fill_arg(struct mask_builder *b, enum dtype dtype, enum mask_fill fill)
{
    if (fill == FILL_MINUS_INF)
        return float_arg("-inf", -(double)INFINITY);
    if (dtype == DTYPE_B8)
        return bool_arg(fill == FILL_ONE);
    if (mask_is_floating(dtype))
        return fill == FILL_ONE ? float_arg("1.0", 1) : float_arg("0.0", 0);
    return int_arg(b, fill == FILL_ONE);
}

/* ---- Nodes ---- */

static struct str new_name(struct mask_builder *b, const char *base)
{
    struct buf text = BUF_INIT;
    struct str ret = { NULL, 0 };
    do {
        buf_clear(&text);
        buf_printf(&text, "%s_mask_%u", base, b->next_name++);
    } while (!text.failed && intern_find(&b->names, buf_str(&text)) != INTERN_NONE);
    ret = arena_copy(&b->m->arena, buf_str(&text));
    b->failed |= text.failed || !ret.p;
    buf_release(&text);
    return ret;
}

static node_id push_made(struct mask_builder *b, struct node node, bool made)
{
    b->failed |= !vec_push(&b->nodes, node) || !vec_push(&b->made, made);
    return b->nodes.n ? (node_id)b->nodes.n - 1 : 0;
}

/* Adds a call of an operator for the call that is rewritten. */
static node_id emit(struct mask_builder *b, const char *base, const char *target,
                    const struct arg *args, uint32_t n)
{
    struct node node = { .op = NODE_CALL_FUNCTION,
                         .form = FORM_PLAIN,
                         .name = new_name(b, base),
                         .target = str_of(target),
                         .meta = META_NONE,
                         .location = b->graph->nodes[b->at].location,
                         .first_arg = (uint32_t)b->args.n,
                         .n_args = n };
    for (uint32_t i = 0; i < n; i++)
        b->failed |= !vec_push(&b->args, args[i]);
    return push_made(b, node, true);
}

/* The last node that is made for a call has the call's name. */
static void finish_call(struct mask_builder *b, node_id id, node_id result)
{
    b->map[id] = result;
    if (!b->failed)
        b->nodes.v[result].name = b->graph->nodes[id].name;
}

/* ---- Masks ---- */

static node_id find_form(const struct mask_builder *b, node_id mask, enum mask_form form,
                         uint32_t ndim, int64_t block)
{
    for (size_t i = b->forms.n; i > 0 && i + FORMS_KEPT > b->forms.n; i--) {
        const struct made_form *made = &b->forms.v[i - 1];
        if (made->mask == mask && made->form == form && made->ndim == ndim && made->block == block)
            return made->node;
    }
    return NODE_NONE;
}

static node_id keep_form(struct mask_builder *b, node_id mask, enum mask_form form, uint32_t ndim,
                         int64_t block, node_id node)
{
    b->failed |= !vec_push(&b->forms, (struct made_form){ mask, form, ndim, block, node });
    return node;
}

static uint32_t ndim_of(const struct mask_builder *b, node_id id)
{
    return mask_tensor(b->m, id)->n_sizes;
}

static node_id count_all(struct mask_builder *b, node_id mask);

/* Each element of the mask `block` times: [N, block]. */
static node_id repeat_mask(struct mask_builder *b, node_id mask, int64_t block)
{
    struct arg two[] = { int_arg(b, -1), int_arg(b, 1) };
    struct arg column[] = { node_arg(b->map[mask]), list_arg(b, two, 2) };
    node_id all = count_all(b, mask);
    node_id ret = emit(b, "reshape", "torch.ops.aten.reshape.default", column, 2);
    struct arg sizes[] = { node_arg(all), int_arg(b, block) };
    struct arg args[] = { node_arg(ret), list_arg(b, sizes, 2) };
    return emit(b, "expand", "torch.ops.aten.expand.default", args, 2);
}

/* The mask as [N * block, 1, ...] of ndim dimensions, where N is the number of all its elements. */
static node_id mask_of_rows(struct mask_builder *b, node_id mask, uint32_t ndim, int64_t block)
{
    struct arg sizes[TENSOR_MAX_DIM];
    node_id ret = find_form(b, mask, FORM_ROWS, ndim, block);
    if (ret != NODE_NONE)
        return ret;
    if (ndim_of(b, mask) == 1 && ndim == 1 && block == 1)
        return b->map[mask];
    ret = block == 1 ? b->map[mask] : repeat_mask(b, mask, block);
    sizes[0] = int_arg(b, -1);
    for (uint32_t d = 1; d < ndim; d++)
        sizes[d] = int_arg(b, 1);
    struct arg args[] = { node_arg(ret), list_arg(b, sizes, ndim) };
    ret = emit(b, "reshape", "torch.ops.aten.reshape.default", args, 2);
    return keep_form(b, mask, FORM_ROWS, ndim, block, ret);
}

/* The mask with dimensions of 1 behind its own, up to ndim. */
static node_id mask_of_whole(struct mask_builder *b, node_id mask, uint32_t ndim)
{
    node_id ret = find_form(b, mask, FORM_WHOLE, ndim, 1);
    if (ret != NODE_NONE)
        return ret;
    ret = b->map[mask];
    for (uint32_t d = ndim_of(b, mask); d < ndim; d++) {
        struct arg args[] = { node_arg(ret), int_arg(b, -1) };
        ret = emit(b, "unsqueeze", "torch.ops.aten.unsqueeze.default", args, 2);
    }
    return keep_form(b, mask, FORM_WHOLE, ndim, 1, ret);
}

/* The number of elements of the mask, as a SymInt. */
static node_id count_all(struct mask_builder *b, node_id mask)
{
    node_id ret = find_form(b, mask, FORM_COUNT, 0, 1);
    if (ret != NODE_NONE)
        return ret;
    struct arg args[] = { node_arg(b->map[mask]) };
    return keep_form(b, mask, FORM_COUNT, 0, 1,
                     emit(b, "numel", "torch.ops.aten.sym_numel.default", args, 1));
}

/* The number of True elements, as a tensor. */
static node_id count_true(struct mask_builder *b, node_id mask)
{
    node_id ret = find_form(b, mask, FORM_SUM, 0, 1);
    if (ret != NODE_NONE)
        return ret;
    struct arg args[] = { node_arg(b->map[mask]) };
    return keep_form(b, mask, FORM_SUM, 0, 1,
                     emit(b, "count", "torch.ops.aten.sum.default", args, 1));
}

/* x with the dimensions of the mask merged. */
static node_id merge_dims(struct mask_builder *b, node_id x, node_id mask, uint32_t dim)
{
    uint32_t n = ndim_of(b, mask);
    if (n == 1)
        return b->map[x];
    struct arg args[] = { node_arg(b->map[x]), int_arg(b, dim), int_arg(b, (int64_t)dim + n - 1) };
    return emit(b, "flatten", "torch.ops.aten.flatten.using_ints", args, 3);
}

static node_id where_filled(struct mask_builder *b, node_id mask, node_id x, uint32_t ndim,
                            int64_t block, struct arg fill)
{
    struct arg args[] = { node_arg(mask_of_rows(b, mask, ndim, block)), node_arg(x), fill };
    return emit(b, "where", "torch.ops.aten.where.ScalarOther", args, 3);
}

/* ---- Calls that are rewritten ---- */

static void build_source(struct mask_builder *b, node_id id)
{
    struct arg self = *mask_arg(b->m, id, 0, "self");
    node_id mask = b->m->nodes[id].mask;
    uint32_t dim = b->m->nodes[id].dim;
    const struct meta *x = mask_tensor(b->m, self.u.node);
    node_id all = merge_dims(b, self.u.node, mask, dim);
    uint32_t ndim = x->n_sizes - dim - ndim_of(b, mask) + 1;
    finish_call(b, id, where_filled(b, mask, all, ndim, 1, fill_arg(b, x->dtype, FILL_ONE)));
}

static bool writes_in_place(const struct mask_builder *b, node_id id)
{
    return node_writes(b->graph, &b->graph->nodes[id]);
}

/* x, or the copy of the result to it. */
static void finish_put(struct mask_builder *b, node_id id, node_id x, node_id result)
{
    if (writes_in_place(b, id)) {
        struct arg args[] = { node_arg(b->map[x]), node_arg(result) };
        result = emit(b, "copy", "torch.ops.aten.copy_.default", args, 2);
    }
    finish_call(b, id, result);
}

static bool is_index_add(const struct mask_builder *b, node_id id)
{
    return str_is(mask_base(&b->graph->nodes[id]), "index_add");
}

/* The value of a write. */
static const struct arg *put_value(const struct mask_builder *b, node_id id)
{
    bool index = is_index_add(b, id) || str_is(mask_base(&b->graph->nodes[id]), "index_copy");
    return index ? mask_arg(b->m, id, 3, "source") : mask_arg(b->m, id, 2, "values");
}

static bool accumulates(const struct mask_builder *b, node_id id)
{
    const struct node *node = &b->graph->nodes[id];
    if (is_index_add(b, id))
        return true;
    const struct arg *arg = mask_arg(b->m, id, 3, "accumulate");
    return node->form != FORM_SETITEM && !str_is(node->target, "operator.setitem") && arg &&
           arg->kind == ARG_BOOL && arg->u.integer;
}

static node_id add_old(struct mask_builder *b, node_id old, struct arg value)
{
    struct arg args[] = { node_arg(old), value };
    return emit(b, "add", "torch.ops.aten.add.Tensor", args, 2);
}

/* A literal as a value of the dtype: x[mask] = 0.5 writes 0 to integers. */
static struct arg convert_literal(struct mask_builder *b, enum dtype dtype, struct arg literal)
{
    double number = 0;
    mask_number(&literal, &number);
    literal.key = STR("");
    if (dtype == DTYPE_B8)
        return bool_arg(number != 0);
    if (!mask_is_floating(dtype) && literal.kind != ARG_INT)
        return int_arg(b, (int64_t)number);
    return literal;
}

static void build_put(struct mask_builder *b, node_id id)
{
    struct arg self = *mask_arg(b->m, id, 0, "self"), value = *mask_arg(b->m, id, 2, "values");
    node_id x = self.u.node, mask = b->m->nodes[id].mask;
    const struct meta *meta = mask_tensor(b->m, x);
    bool tensor = value.kind == ARG_NODE;
    value = tensor ? node_arg(b->map[value.u.node]) : convert_literal(b, meta->dtype, value);
    if (accumulates(b, id))
        value = node_arg(add_old(b, b->map[x], value));
    struct arg args[] = { node_arg(mask_of_whole(b, mask, meta->n_sizes - b->m->nodes[id].dim)),
                          value, node_arg(b->map[x]) };
    const char *target = tensor ? "torch.ops.aten.where.self" : "torch.ops.aten.where.ScalarSelf";
    finish_put(b, id, x, emit(b, "where", target, args, 3));
}

static void build_put_rows(struct mask_builder *b, node_id id)
{
    struct arg self = *mask_arg(b->m, id, 0, "self");
    struct arg value = *put_value(b, id);
    node_id x = self.u.node, mask = b->m->nodes[id].mask;
    uint32_t dim = b->m->nodes[id].dim;
    uint32_t ndim = ndim_of(b, x) - dim - ndim_of(b, mask) + 1;
    node_id all = merge_dims(b, x, mask, dim);
    value = node_arg(b->map[value.u.node]);
    if (accumulates(b, id))
        value = node_arg(add_old(b, all, value));
    struct arg args[] = { node_arg(mask_of_rows(b, mask, ndim, 1)), value, node_arg(all) };
    node_id result = emit(b, "where", "torch.ops.aten.where.self", args, 3);
    if (ndim_of(b, mask) > 1) {
        struct arg view[] = { node_arg(result), node_arg(b->map[x]) };
        result = emit(b, "view_as", "torch.ops.aten.view_as.default", view, 2);
    }
    finish_put(b, id, x, result);
}

/* ---- Copies ---- */

static uint32_t copy_args(struct mask_builder *b, uint32_t first, uint32_t n);

static struct arg copy_arg(struct mask_builder *b, const struct arg *arg)
{
    struct arg ret = *arg;
    bool nests = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT ||
                 arg->kind == ARG_SLICE || arg->kind == ARG_CALL;
    if (nests)
        ret.u.items.first = copy_args(b, arg->u.items.first, arg->u.items.n);
    if (arg->kind != ARG_NODE)
        return ret;
    ret.u.node = b->map[arg->u.node];
    b->contradicts |= ret.u.node == NODE_NONE;
    return ret;
}

static uint32_t copy_args(struct mask_builder *b, uint32_t first, uint32_t n)
{
    uint32_t at = (uint32_t)b->args.n;
    for (uint32_t i = 0; i < n; i++)
        b->failed |= !vec_push(&b->args, (struct arg){ .kind = ARG_NONE });
    for (uint32_t i = 0; i < n && !b->failed; i++) {
        struct arg arg = copy_arg(b, &b->graph->args[first + i]);
        b->args.v[at + i] = arg;
    }
    return at;
}

/* A tensor stands for a number that the call had. */
static struct str tensor_target(struct str target)
{
    static const char *const names[][2] = {
        { "torch.ops.aten.add.Scalar", "torch.ops.aten.add.Tensor" },
        { "torch.ops.aten.sub.Scalar", "torch.ops.aten.sub.Tensor" },
        { "torch.ops.aten.mul.Scalar", "torch.ops.aten.mul.Tensor" },
        { "torch.ops.aten.div.Scalar", "torch.ops.aten.div.Tensor" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(target, names[i][0]))
            return str_of(names[i][1]);
    return target;
}

/* `made`: its sizes are no longer the recorded ones. */
static node_id copy_call(struct mask_builder *b, node_id id, bool made)
{
    struct node node = b->graph->nodes[id];
    node.first_arg = copy_args(b, node.first_arg, node.n_args);
    node.first_deleted = node.n_deleted = 0;
    if (made)
        node.meta = META_NONE;
    if (made && b->m->nodes[id].counts)
        node.target = tensor_target(node.target);
    return b->map[id] = push_made(b, node, made);
}

/* ---- Rows that the mask leaves out, before a call reads them ---- */

static struct arg number_arg(struct mask_builder *b, enum dtype dtype, struct row_refill refill)
{
    char text[48];
    if (!mask_is_floating(dtype))
        return dtype == DTYPE_B8 ? bool_arg(refill.int_value != 0) : int_arg(b, refill.int_value);
    snprintf(text, sizeof text, "%.1f", refill.float_value);
    struct str copy = arena_copy(&b->m->arena, str_of(text));
    b->failed |= !copy.p;
    return (struct arg){ .kind = ARG_FLOAT, .text = copy, .u.number = refill.float_value };
}

struct refiller {
    struct mask_builder *b;
    struct row_refill refill;
    node_id from[REFILLED_MOST], was[REFILLED_MOST];
    uint32_t n;
};

static void refill_rows(void *user, node_id id)
{
    struct refiller *r = user;
    if (!mask_is_rows(r->b->m, id))
        return;
    const struct meta *meta = mask_tensor(r->b->m, id);
    bool floats = mask_is_floating(meta->dtype);
    for (uint32_t i = 0; i < r->n; i++)
        if (r->from[i] == id)
            return;
    if (!(floats ? r->refill.floats : r->refill.ints))
        return;
    if (r->n == REFILLED_MOST) {
        r->b->contradicts = true;
        return;
    }
    r->from[r->n] = id;
    r->was[r->n++] = r->b->map[id];
    r->b->map[id] = where_filled(r->b, r->b->m->nodes[id].mask, r->b->map[id],
                                 mask_rows_from_right(r->b->m, id), r->b->m->nodes[id].block,
                                 number_arg(r->b, meta->dtype, r->refill));
}

/* Copies a call that has other rows where the mask leaves them out. */
static void copy_refilled(struct mask_builder *b, node_id id)
{
    struct refiller r = { .b = b, .refill = b->m->nodes[id].refill };
    if (r.refill.ints || r.refill.floats)
        node_references(b->graph, &b->graph->nodes[id], refill_rows, &r);
    copy_call(b, id, true);
    while (r.n--)
        b->map[r.from[r.n]] = r.was[r.n];
}

/* A number that is computed from that of the rows, as a tensor. */
static node_id number_tensor(struct mask_builder *b, node_id id, uint32_t depth)
{
    const struct node *node = &b->graph->nodes[id];
    const struct arg *args = node_args(b->graph, node);
    if (b->m->nodes[id].role == ROLE_COUNT)
        return count_true(b, b->m->nodes[id].mask);
    bool mul = str_is(mask_base(node), "mul"), add = str_is(mask_base(node), "add");
    struct arg pair[2] = { args[0], args[1] };
    b->contradicts |= depth > 16 || node->n_args != 2;
    for (int i = 0; i < 2 && !b->contradicts; i++)
        if (pair[i].kind == ARG_NODE) {
            enum mask_role role = b->m->nodes[pair[i].u.node].role;
            bool depends = role == ROLE_COUNT || role == ROLE_NUMBER;
            pair[i] = node_arg(depends ? number_tensor(b, pair[i].u.node, depth + 1)
                                       : b->map[pair[i].u.node]);
        }
    if (b->contradicts)
        return 0;
    bool second = args[0].kind != ARG_NODE || (b->m->nodes[args[0].u.node].role != ROLE_COUNT &&
                                               b->m->nodes[args[0].u.node].role != ROLE_NUMBER);
    struct arg first = pair[second], other = pair[!second];
    const char *target = mul      ? "torch.ops.aten.mul.Tensor"
                         : add    ? "torch.ops.aten.add.Tensor"
                         : second ? "torch.ops.aten.rsub.Scalar"
                                  : "torch.ops.aten.sub.Tensor";
    struct arg both[] = { first, other };
    return emit(b, "count", target, both, 2);
}

/* The same for all rows, as a SymInt. */
static node_id number_all(struct mask_builder *b, node_id id, uint32_t depth)
{
    struct node node = b->graph->nodes[id];
    const struct arg *args = node_args(b->graph, &node);
    if (b->m->nodes[id].role == ROLE_COUNT)
        return count_all(b, b->m->nodes[id].mask);
    if (b->of_all[id] != NODE_NONE)
        return b->of_all[id];
    b->contradicts |= depth > 16;
    for (uint32_t i = 0; i < node.n_args && !b->contradicts; i++) {
        node_id of = args[i].kind == ARG_NODE ? args[i].u.node : NODE_NONE;
        if (of != NODE_NONE && mask_is_dependent(b->m->nodes[of].role))
            b->map[of] = number_all(b, of, depth + 1);
    }
    if (b->contradicts)
        return 0;
    node.first_arg = copy_args(b, node.first_arg, node.n_args);
    node.first_deleted = node.n_deleted = 0;
    node.meta = META_NONE;
    node.name = new_name(b, "numel");
    return b->of_all[id] = push_made(b, node, true);
}

static void set_count_args(struct mask_builder *b, node_id id, bool as_tensor)
{
    const struct node *node = &b->graph->nodes[id];
    const struct arg *args = node_args(b->graph, node);
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *items = &args[i];
        uint32_t n = 1;
        if (args[i].kind == ARG_LIST || args[i].kind == ARG_TUPLE) {
            items = args[i].u.items.n ? &b->graph->args[args[i].u.items.first] : NULL;
            n = args[i].u.items.n;
        }
        for (uint32_t k = 0; k < n; k++) {
            node_id of = items[k].kind == ARG_NODE ? items[k].u.node : NODE_NONE;
            enum mask_role role = of == NODE_NONE ? ROLE_NONE : b->m->nodes[of].role;
            if (role == ROLE_NUMBER && !as_tensor)
                b->map[of] = number_all(b, of, 0);
            else if (role == ROLE_COUNT || role == ROLE_NUMBER)
                b->map[of] =
                    as_tensor ? number_tensor(b, of, 0) : count_all(b, b->m->nodes[of].mask);
        }
    }
}

/* ---- Reductions ---- */

static struct str sum_target(const struct node *node)
{
    if (str_is(node->target, "torch.ops.aten.mean.default"))
        return STR("torch.ops.aten.sum.default");
    if (str_is(node->target, "torch.ops.aten.mean.dim"))
        return STR("torch.ops.aten.sum.dim_IntList");
    return node->op == NODE_CALL_METHOD ? STR("sum") : STR("torch.sum");
}

/* Multiplies the number of True elements by the other sizes that are reduced. */
static node_id count_reduced(struct mask_builder *b, node_id id, node_id rows, uint32_t ndim,
                             const struct mask_node *row, const struct arg *dim)
{
    bool list = dim && (dim->kind == ARG_LIST || dim->kind == ARG_TUPLE);
    bool all = !dim || dim->kind == ARG_NONE || (list && !dim->u.items.n);
    const struct arg *items = list && !all ? &b->graph->args[dim->u.items.first] : dim;
    uint32_t n = all ? ndim : list ? dim->u.items.n : 1;
    node_id ret = count_true(b, b->m->nodes[id].mask);
    for (uint32_t i = 0; i < n; i++) {
        int64_t d = i;
        if (!all)
            mask_int(b->m, &items[i], &d);
        d += d < 0 ? (int64_t)ndim : 0;
        if (d == row->dim && row->block == 1)
            continue;
        struct arg block[] = { node_arg(ret), int_arg(b, row->block) };
        if (d == row->dim) {
            ret = emit(b, "count", "torch.ops.aten.mul.Tensor", block, 2);
            continue;
        }
        struct arg size[] = { node_arg(rows), int_arg(b, d) };
        struct arg args[] = { node_arg(ret),
                              node_arg(emit(b, "size", "torch.ops.aten.sym_size.int", size, 2)) };
        ret = emit(b, "count", "torch.ops.aten.mul.Tensor", args, 2);
    }
    return ret;
}

/* The node's call with other rows, and with another target if it is given. */
static node_id copy_reduction(struct mask_builder *b, node_id id, node_id rows, bool wide,
                              struct str target)
{
    struct node node = b->graph->nodes[id];
    uint32_t n = node.n_args + wide;
    struct arg *args = arena_array(&b->m->arena, struct arg, (size_t)n + 1);
    if (!args) {
        b->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < node.n_args; i++)
        args[i] = i ? copy_arg(b, &b->graph->args[node.first_arg + i]) : node_arg(rows);
    if (wide)
        args[n - 1] = (struct arg){ .kind = ARG_DTYPE,
                                    .key = STR("dtype"),
                                    .text = STR("torch.float32"),
                                    .u.integer = DTYPE_F32 };
    node.first_arg = (uint32_t)b->args.n;
    node.n_args = n;
    for (uint32_t i = 0; i < n; i++)
        b->failed |= !vec_push(&b->args, args[i]);
    node.first_deleted = node.n_deleted = 0;
    node.meta = META_NONE;
    if (target.n) {
        node.target = target;
        node.name = new_name(b, "sum");
    }
    return push_made(b, node, true);
}

static node_id divide(struct mask_builder *b, node_id sum, node_id count)
{
    struct arg args[] = { node_arg(sum), node_arg(count) };
    return emit(b, "mean", "torch.ops.aten.div.Tensor", args, 2);
}

static node_id narrow(struct mask_builder *b, node_id x, enum dtype dtype)
{
    struct arg args[] = { node_arg(x),
                          { .kind = ARG_DTYPE,
                            .key = STR("dtype"),
                            .text = str_of(dtype_python_name(dtype)),
                            .u.integer = (int64_t)dtype } };
    return emit(b, "to", "torch.ops.aten._to_copy.default", args, 2);
}

static void build_reduce(struct mask_builder *b, node_id id)
{
    const struct mask_node *own = &b->m->nodes[id];
    const struct arg *args = node_args(b->graph, &b->graph->nodes[id]);
    const struct meta *meta = mask_tensor(b->m, args[0].u.node);
    enum mask_fill fill = own->fill == FILL_COUNTED ? FILL_ZERO : own->fill;
    node_id rows = where_filled(b, own->mask, b->map[args[0].u.node],
                                mask_rows_from_right(b->m, args[0].u.node),
                                b->m->nodes[args[0].u.node].block, fill_arg(b, meta->dtype, fill));
    if (own->fill != FILL_COUNTED) {
        b->map[id] = copy_reduction(b, id, rows, false, STR(""));
        return;
    }
    bool given = mask_arg(b->m, id, UINT32_MAX, "dtype") != NULL;
    bool wide = !given && dtype_size(meta->dtype) == 2;
    node_id sum = copy_reduction(b, id, rows, wide, sum_target(&b->graph->nodes[id]));
    const struct arg *dim = mask_arg(b->m, id, 1, "dim");
    dim = dim ? dim : mask_arg(b->m, id, UINT32_MAX, "axis");
    const struct mask_node *row = &b->m->nodes[args[0].u.node];
    node_id result = divide(b, sum, count_reduced(b, id, rows, meta->n_sizes, row, dim));
    finish_call(b, id, wide ? narrow(b, result, meta->dtype) : result);
}

/* ---- Losses ---- */

/* The call with another reduction. */
static node_id copy_reduced(struct mask_builder *b, node_id id, enum loss_reduction reduction)
{
    node_id copy = (copy_refilled(b, id), b->map[id]);
    bool aten = str_starts(b->graph->nodes[id].target, STR("torch.ops."));
    const struct arg *args = node_args(b->graph, &b->graph->nodes[id]);
    const struct row_rule *rule = mask_find_rule(mask_base(&b->graph->nodes[id]));
    const struct arg *old = mask_arg(b->m, id, aten ? rule->argument : UINT32_MAX, "reduction");
    struct arg none = { .kind = ARG_STRING, .text = STR("none") };
    if (b->failed)
        return copy;
    none = aten ? int_arg(b, reduction) : none;
    struct node *node = &b->nodes.v[copy];
    node->name = new_name(b, "loss");
    if (old) {
        none.key = old->key;
        b->args.v[node->first_arg + (uint32_t)(old - args)] = none;
        return copy;
    }
    uint32_t first = (uint32_t)b->args.n;
    for (uint32_t i = 0; i < node->n_args; i++) {
        struct arg arg = b->args.v[node->first_arg + i];
        b->failed |= !vec_push(&b->args, arg);
    }
    none.key = STR("reduction");
    b->failed |= !vec_push(&b->args, none);
    node->first_arg = first;
    node->n_args++;
    return copy;
}

static void build_loss_grad(struct mask_builder *b, node_id id)
{
    const struct mask_node *own = &b->m->nodes[id];
    node_id sum = copy_reduced(b, id, LOSS_SUM);
    uint32_t ndim = mask_tensor(b->m, id)->n_sizes;
    finish_call(b, id, divide(b, sum, count_reduced(b, id, sum, ndim, own, NULL)));
}

static void build_loss(struct mask_builder *b, node_id id)
{
    const struct mask_node *own = &b->m->nodes[id];
    const struct meta *meta = mask_tensor(b->m, id);
    node_id each = copy_reduced(b, id, LOSS_NONE);
    node_id rows = where_filled(b, own->mask, each, own->ndim - own->dim, own->block,
                                fill_arg(b, meta->dtype, FILL_ZERO));
    struct arg args[] = { node_arg(rows),
                          { .kind = ARG_DTYPE,
                            .key = STR("dtype"),
                            .text = STR("torch.float32"),
                            .u.integer = DTYPE_F32 } };
    bool wide = dtype_size(meta->dtype) == 2;
    node_id result = emit(b, "sum", "torch.ops.aten.sum.default", args, wide ? 2 : 1);
    if (own->loss == LOSS_MEAN)
        result = divide(b, result, count_reduced(b, id, rows, own->ndim, own, NULL));
    finish_call(b, id, wide ? narrow(b, result, meta->dtype) : result);
}

/* ---- The graph ---- */

static void build_call(struct mask_builder *b, node_id id)
{
    b->at = id;
    switch (b->m->nodes[id].role) {
    case ROLE_SOURCE: build_source(b, id); break;
    case ROLE_PUT: build_put(b, id); break;
    case ROLE_PUT_ROWS: build_put_rows(b, id); break;
    case ROLE_REDUCE: build_reduce(b, id); break;
    case ROLE_LOSS: build_loss(b, id); break;
    case ROLE_ROWS:
    case ROLE_TUPLE:
    case ROLE_COUNTED:
        if (b->m->nodes[id].loss == LOSS_MEAN) {
            build_loss_grad(b, id);
            break;
        }
        set_count_args(b, id, b->m->nodes[id].counts);
        copy_refilled(b, id);
        break;
    default: break; /* it is gone */
    }
}

static bool is_rewritten(struct masker *m, node_id id)
{
    enum mask_role role = m->nodes[id].role;
    return role == ROLE_PUT || (role != ROLE_NONE && !mask_why(m, id).p);
}

static void note_masks(struct mask_builder *b, bool *masks)
{
    for (node_id id = 0; id < b->graph->n_nodes; id++)
        if (b->m->nodes[id].listed && is_rewritten(b->m, id))
            masks[b->m->nodes[id].index] = masks[b->m->nodes[id].mask] = true;
}

static void build_nodes(struct mask_builder *b)
{
    for (node_id id = 0; id < b->graph->n_nodes; id++) {
        b->map[id] = b->of_all[id] = NODE_NONE;
        b->failed |= intern(&b->names, b->graph->nodes[id].name) == INTERN_NONE;
    }
    for (node_id id = 0; id < b->graph->n_nodes && !b->failed && !b->contradicts; id++)
        if (is_rewritten(b->m, id))
            build_call(b, id);
        else
            copy_call(b, id, false);
}

/* ---- The candidate ---- */

static struct candidate *make_built(struct mask_builder *b, struct err *err)
{
    const struct candidate *whole = b->m->whole;
    struct graph graph = *b->graph;
    struct cand_guard *guards =
        arena_array(&b->m->arena, struct cand_guard, (size_t)whole->n_guards + 1);
    if (!guards)
        return err_nomem(err), NULL;
    graph.nodes = b->nodes.v;
    graph.n_nodes = (uint32_t)b->nodes.n;
    graph.args = b->args.v;
    graph.n_args = (uint32_t)b->args.n;
    for (uint32_t i = 0; i < whole->n_guards; i++) {
        node_id node = whole->guards[i].node;
        while (node + 1 < b->graph->n_nodes && b->map[node] == NODE_NONE)
            node++;
        guards[i] = whole->guards[i];
        guards[i].node = guards[i].node && node < b->graph->n_nodes ? b->map[node] : 0;
    }
    struct cand_source source = { .like = whole,
                                  .graph = &graph,
                                  .symbols = whole->symbols,
                                  .n_symbols = whole->n_symbols,
                                  .guards = guards,
                                  .n_guards = whole->n_guards };
    return candidate_make(&source, NULL, err);
}

/* Computes the metas of the new nodes. */
static struct candidate *complete(struct mask_builder *b, struct candidate *plain, struct err *err)
{
    struct reshaped reshaped = { .whole = plain,
                                 .graph = plain->graph,
                                 .made = b->made.v,
                                 .symbols = plain->symbols,
                                 .n_symbols = plain->n_symbols,
                                 .guards = plain->guards,
                                 .n_guards = plain->n_guards };
    return propagate(&reshaped, err);
}

struct candidate *mask_build(struct masker *m, bool *masks, struct err *err)
{
    struct mask_builder b = { .m = m, .graph = m->graph };
    struct candidate *plain = NULL, *ret = NULL;
    b.map = arena_array(&m->arena, node_id, (size_t)m->graph->n_nodes + 1);
    b.of_all = arena_array(&m->arena, node_id, (size_t)m->graph->n_nodes + 1);
    b.failed = !b.map || !b.of_all;
    if (!b.failed)
        build_nodes(&b);
    if (b.failed)
        err_nomem(err);
    else if (b.contradicts)
        err_set(err, ERR_USAGE, "a call that stays needs a size that depends on a mask");
    else
        plain = make_built(&b, err);
    if (plain) {
        note_masks(&b, masks);
        ret = complete(&b, plain, err);
    }
    candidate_free(plain);
    vec_release(&b.nodes);
    vec_release(&b.made);
    vec_release(&b.args);
    vec_release(&b.forms);
    intern_release(&b.names);
    return ret;
}

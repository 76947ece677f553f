/* Copies calls into the new graph, with other rows where the mask leaves them out, and with what
 * was computed from the number of rows. */
#include "minify/rewrite/mask_build.h"

#include <stdio.h>

enum { REFILLED_MOST = 16 }; /* arguments of one call */

/* ---- Copies ---- */

static uint32_t copy_args(struct mask_builder *b, uint32_t first, uint32_t n);

struct arg build_copy_arg(struct mask_builder *b, const struct arg *arg)
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
        struct arg arg = build_copy_arg(b, &b->graph->args[first + i]);
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

node_id build_copy_call(struct mask_builder *b, node_id id, bool made)
{
    struct node node = b->graph->nodes[id];
    node.first_arg = copy_args(b, node.first_arg, node.n_args);
    node.first_deleted = node.n_deleted = 0;
    if (made)
        node.meta = META_NONE;
    if (made && b->m->nodes[id].counts)
        node.target = tensor_target(node.target);
    return b->map[id] = build_push(b, node, made);
}

/* ---- Rows that the mask leaves out, before a call reads them ---- */

static struct arg number_arg(struct mask_builder *b, enum dtype dtype, struct row_refill refill)
{
    char text[48];
    if (!mask_is_floating(dtype))
        return dtype == DTYPE_B8 ? build_bool_arg(refill.int_value != 0)
                                 : build_int_arg(b, refill.int_value);
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
    r->b->map[id] = build_where_filled(r->b, r->b->m->nodes[id].mask, r->b->map[id],
                                       mask_rows_from_right(r->b->m, id), r->b->m->nodes[id].block,
                                       number_arg(r->b, meta->dtype, r->refill));
}

node_id build_copy_refilled(struct mask_builder *b, node_id id)
{
    struct refiller r = { .b = b, .refill = b->m->nodes[id].refill };
    if (r.refill.ints || r.refill.floats)
        node_references(b->graph, &b->graph->nodes[id], refill_rows, &r);
    node_id ret = build_copy_call(b, id, true);
    while (r.n--)
        b->map[r.from[r.n]] = r.was[r.n];
    return ret;
}

/* ---- Numbers that are computed from that of the rows ---- */

/* Whether an argument is the number of rows, or computed from it. */
static bool is_number(const struct mask_builder *b, const struct arg *arg)
{
    enum mask_role role = arg->kind == ARG_NODE ? b->m->nodes[arg->u.node].role : ROLE_NONE;
    return role == ROLE_COUNT || role == ROLE_NUMBER;
}

/* As a tensor. */
static node_id number_tensor(struct mask_builder *b, node_id id, uint32_t depth)
{
    const struct node *node = &b->graph->nodes[id];
    const struct arg *args = node_args(b->graph, node);
    if (b->m->nodes[id].role == ROLE_COUNT)
        return build_count_true(b, b->m->nodes[id].mask);
    if (b->of_true[id] != NODE_NONE)
        return b->of_true[id];
    b->contradicts |= depth > 16 || node->n_args != 2;
    if (b->contradicts)
        return 0;
    bool mul = str_is(mask_base(node), "mul"), add = str_is(mask_base(node), "add");
    struct arg pair[2] = { args[0], args[1] };
    for (int i = 0; i < 2 && !b->contradicts; i++)
        if (pair[i].kind == ARG_NODE)
            pair[i] =
                build_node_arg(is_number(b, &pair[i]) ? number_tensor(b, pair[i].u.node, depth + 1)
                                                      : b->map[pair[i].u.node]);
    if (b->contradicts)
        return 0;
    bool second = !is_number(b, &args[0]);
    struct arg first = pair[second], other = pair[!second];
    const char *target = mul      ? "torch.ops.aten.mul.Tensor"
                         : add    ? "torch.ops.aten.add.Tensor"
                         : second ? "torch.ops.aten.rsub.Scalar"
                                  : "torch.ops.aten.sub.Tensor";
    struct arg both[] = { first, other };
    return b->of_true[id] = build_emit(b, "count", target, both, 2);
}

/* For all rows, as a SymInt. */
static node_id number_all(struct mask_builder *b, node_id id, uint32_t depth)
{
    struct node node = b->graph->nodes[id];
    const struct arg *args = node_args(b->graph, &node);
    if (b->m->nodes[id].role == ROLE_COUNT)
        return build_count_all(b, b->m->nodes[id].mask);
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
    node.name = build_name(b, "numel");
    return b->of_all[id] = build_push(b, node, true);
}

void build_count_args(struct mask_builder *b, node_id id, bool as_tensor)
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
                    as_tensor ? number_tensor(b, of, 0) : build_count_all(b, b->m->nodes[of].mask);
        }
    }
}

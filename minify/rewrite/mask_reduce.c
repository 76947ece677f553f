/* Makes reductions of rows, and losses, without the rows that the mask leaves out. */
#include "minify/rewrite/mask_build.h"

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
    node_id ret = build_count_true(b, b->m->nodes[id].mask);
    for (uint32_t i = 0; i < n; i++) {
        int64_t d = i;
        if (!all)
            mask_int(b->m, &items[i], &d);
        d += d < 0 ? (int64_t)ndim : 0;
        if (d == row->dim && row->block == 1)
            continue;
        struct arg block[] = { build_node_arg(ret), build_int_arg(b, row->block) };
        if (d == row->dim) {
            ret = build_emit(b, "count", "torch.ops.aten.mul.Tensor", block, 2);
            continue;
        }
        struct arg size[] = { build_node_arg(rows), build_int_arg(b, d) };
        struct arg args[] = { build_node_arg(ret),
                              build_node_arg(
                                  build_emit(b, "size", "torch.ops.aten.sym_size.int", size, 2)) };
        ret = build_emit(b, "count", "torch.ops.aten.mul.Tensor", args, 2);
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
        args[i] = i ? build_copy_arg(b, &b->graph->args[node.first_arg + i]) : build_node_arg(rows);
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
        node.name = build_name(b, "sum");
    }
    return build_push(b, node, true);
}

static node_id divide(struct mask_builder *b, node_id sum, node_id count)
{
    struct arg args[] = { build_node_arg(sum), build_node_arg(count) };
    return build_emit(b, "mean", "torch.ops.aten.div.Tensor", args, 2);
}

static node_id narrow(struct mask_builder *b, node_id x, enum dtype dtype)
{
    struct arg args[] = { build_node_arg(x),
                          { .kind = ARG_DTYPE,
                            .key = STR("dtype"),
                            .text = str_of(dtype_python_name(dtype)),
                            .u.integer = (int64_t)dtype } };
    return build_emit(b, "to", "torch.ops.aten._to_copy.default", args, 2);
}

void build_reduce(struct mask_builder *b, node_id id)
{
    const struct mask_node *own = &b->m->nodes[id];
    const struct arg *args = node_args(b->graph, &b->graph->nodes[id]);
    const struct meta *meta = mask_tensor(b->m, args[0].u.node);
    enum mask_fill fill = own->fill == FILL_COUNTED ? FILL_ZERO : own->fill;
    node_id rows = build_where_filled(
        b, own->mask, b->map[args[0].u.node], mask_rows_from_right(b->m, args[0].u.node),
        b->m->nodes[args[0].u.node].block, build_fill_arg(b, meta->dtype, fill));
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
    build_finish(b, id, wide ? narrow(b, result, meta->dtype) : result);
}

/* ---- Losses ---- */

/* The call with another reduction. */
static node_id copy_reduced(struct mask_builder *b, node_id id, enum loss_reduction reduction)
{
    node_id copy = build_copy_refilled(b, id);
    bool aten = str_starts(b->graph->nodes[id].target, STR("torch.ops."));
    const struct arg *args = node_args(b->graph, &b->graph->nodes[id]);
    const struct row_rule *rule = mask_find_rule(mask_base(&b->graph->nodes[id]));
    const struct arg *old = mask_arg(b->m, id, aten ? rule->argument : UINT32_MAX, "reduction");
    struct arg none = { .kind = ARG_STRING, .text = STR("none") };
    if (b->failed)
        return copy;
    none = aten ? build_int_arg(b, reduction) : none;
    struct node *node = &b->nodes.v[copy];
    node->name = build_name(b, "loss");
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

void build_loss_grad(struct mask_builder *b, node_id id)
{
    const struct mask_node *own = &b->m->nodes[id];
    node_id sum = copy_reduced(b, id, LOSS_SUM);
    uint32_t ndim = mask_tensor(b->m, id)->n_sizes;
    build_finish(b, id, divide(b, sum, count_reduced(b, id, sum, ndim, own, NULL)));
}

void build_loss(struct mask_builder *b, node_id id)
{
    const struct mask_node *own = &b->m->nodes[id];
    const struct meta *meta = mask_tensor(b->m, id);
    node_id each = copy_reduced(b, id, LOSS_NONE);
    node_id rows = build_where_filled(b, own->mask, each, own->ndim - own->dim, own->block,
                                      build_fill_arg(b, meta->dtype, FILL_ZERO));
    struct arg args[] = { build_node_arg(rows),
                          { .kind = ARG_DTYPE,
                            .key = STR("dtype"),
                            .text = STR("torch.float32"),
                            .u.integer = DTYPE_F32 } };
    bool wide = dtype_size(meta->dtype) == 2;
    node_id result = build_emit(b, "sum", "torch.ops.aten.sum.default", args, wide ? 2 : 1);
    if (own->loss == LOSS_MEAN)
        result = divide(b, result, count_reduced(b, id, rows, own->ndim, own, NULL));
    build_finish(b, id, wide ? narrow(b, result, meta->dtype) : result);
}

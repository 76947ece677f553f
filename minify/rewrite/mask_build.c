/* Makes the graph in which the calls of a mask are rewritten. */
#include "minify/rewrite/mask_build.h"

#include "minify/candidate/candidate_source.h"
#include "minify/candidate/propagate.h"

/* ---- Calls that are rewritten ---- */

static void build_source(struct mask_builder *b, node_id id)
{
    struct arg self = *mask_arg(b->m, id, 0, "self");
    node_id mask = b->m->nodes[id].mask;
    uint32_t dim = b->m->nodes[id].dim;
    const struct meta *x = mask_tensor(b->m, self.u.node);
    node_id all = build_merge_dims(b, self.u.node, mask, dim);
    uint32_t ndim = x->n_sizes - dim - build_ndim(b, mask) + 1;
    build_finish(b, id,
                 build_where_filled(b, mask, all, ndim, 1, build_fill_arg(b, x->dtype, FILL_ONE)));
}

static bool writes_in_place(const struct mask_builder *b, node_id id)
{
    return node_writes(b->graph, &b->graph->nodes[id]);
}

/* x, or the copy of the result to it. */
static void finish_put(struct mask_builder *b, node_id id, node_id x, node_id result)
{
    if (writes_in_place(b, id)) {
        struct arg args[] = { build_node_arg(b->map[x]), build_node_arg(result) };
        result = build_emit(b, "copy", "torch.ops.aten.copy_.default", args, 2);
    }
    build_finish(b, id, result);
}

/* The value of a write. */
static const struct arg *put_value(const struct mask_builder *b, node_id id)
{
    static const char *const by_index[] = { "index_add", "index_copy" };
    bool index = STR_IS_ANY(mask_base(&b->graph->nodes[id]), by_index);
    return index ? mask_arg(b->m, id, 3, "source") : mask_arg(b->m, id, 2, "values");
}

static bool accumulates(const struct mask_builder *b, node_id id)
{
    bool adds;
    return mask_accumulates(b->m, id, &adds) && adds;
}

static node_id add_old(struct mask_builder *b, node_id old, struct arg value)
{
    struct arg args[] = { build_node_arg(old), value };
    return build_emit(b, "add", "torch.ops.aten.add.Tensor", args, 2);
}

/* A literal as a value of the dtype: x[mask] = 0.5 writes 0 to integers. */
static struct arg convert_literal(struct mask_builder *b, enum dtype dtype, struct arg literal)
{
    double number = 0;
    mask_number(&literal, &number);
    literal.key = STR("");
    if (dtype == DTYPE_B8)
        return build_bool_arg(number != 0);
    if (!mask_is_floating(dtype) && literal.kind != ARG_INT)
        return build_int_arg(b, (int64_t)number);
    return literal;
}

static void build_put(struct mask_builder *b, node_id id)
{
    struct arg self = *mask_arg(b->m, id, 0, "self"), value = *mask_arg(b->m, id, 2, "values");
    node_id x = self.u.node, mask = b->m->nodes[id].mask;
    const struct meta *meta = mask_tensor(b->m, x);
    bool tensor = value.kind == ARG_NODE;
    value = tensor ? build_node_arg(b->map[value.u.node]) : convert_literal(b, meta->dtype, value);
    if (accumulates(b, id))
        value = build_node_arg(add_old(b, b->map[x], value));
    struct arg args[] = { build_node_arg(
                              build_whole_mask(b, mask, meta->n_sizes - b->m->nodes[id].dim)),
                          value, build_node_arg(b->map[x]) };
    const char *target = tensor ? "torch.ops.aten.where.self" : "torch.ops.aten.where.ScalarSelf";
    finish_put(b, id, x, build_emit(b, "where", target, args, 3));
}

static void build_put_rows(struct mask_builder *b, node_id id)
{
    struct arg self = *mask_arg(b->m, id, 0, "self");
    struct arg value = *put_value(b, id);
    node_id x = self.u.node, mask = b->m->nodes[id].mask;
    uint32_t dim = b->m->nodes[id].dim;
    uint32_t ndim = build_ndim(b, x) - dim - build_ndim(b, mask) + 1;
    node_id all = build_merge_dims(b, x, mask, dim);
    value = build_node_arg(b->map[value.u.node]);
    if (accumulates(b, id))
        value = build_node_arg(add_old(b, all, value));
    struct arg args[] = { build_node_arg(build_row_mask(b, mask, ndim, 1)), value,
                          build_node_arg(all) };
    node_id result = build_emit(b, "where", "torch.ops.aten.where.self", args, 3);
    if (build_ndim(b, mask) > 1) {
        struct arg view[] = { build_node_arg(result), build_node_arg(b->map[x]) };
        result = build_emit(b, "view_as", "torch.ops.aten.view_as.default", view, 2);
    }
    finish_put(b, id, x, result);
}

/* ---- The graph ---- */

static void build_rewritten(struct mask_builder *b, node_id id)
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
        build_count_args(b, id, b->m->nodes[id].counts);
        build_copy_refilled(b, id);
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
        b->map[id] = b->of_all[id] = b->of_true[id] = NODE_NONE;
        b->failed |= intern(&b->names, b->graph->nodes[id].name) == INTERN_NONE;
    }
    for (node_id id = 0; id < b->graph->n_nodes && !b->failed && !b->contradicts; id++)
        if (is_rewritten(b->m, id))
            build_rewritten(b, id);
        else
            build_copy_call(b, id, false);
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
    b.of_true = arena_array(&m->arena, node_id, (size_t)m->graph->n_nodes + 1);
    b.failed = !b.map || !b.of_all || !b.of_true;
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

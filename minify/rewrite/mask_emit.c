/* Adds arguments, calls and forms of masks to the new graph. */
#include "minify/rewrite/mask_build.h"

#include <math.h>
#include <stdio.h>

enum { FORMS_KEPT = 8 }; /* the latest ones are looked at */

/* ---- Arguments ---- */

struct arg build_node_arg(node_id id)
{
    return (struct arg){ .kind = ARG_NODE, .u.node = id };
}

struct arg build_int_arg(struct mask_builder *b, int64_t value)
{
    char text[32];
    int n = snprintf(text, sizeof text, "%lld", (long long)value);
    struct str copy = arena_copy(&b->m->arena, (struct str){ text, (size_t)n });
    b->failed |= !copy.p;
    return (struct arg){ .kind = ARG_INT, .text = copy, .u.integer = value };
}

struct arg build_bool_arg(bool value)
{
    return (struct arg){ .kind = ARG_BOOL,
                         .text = value ? STR("True") : STR("False"),
                         .u.integer = value };
}

struct arg build_float_arg(const char *text, double value)
{
    return (struct arg){ .kind = ARG_FLOAT, .text = str_of(text), .u.number = value };
}

struct arg build_list_arg(struct mask_builder *b, const struct arg *items, uint32_t n)
{
    struct arg ret = { .kind = ARG_LIST, .u.items = { (uint32_t)b->args.n, n } };
    for (uint32_t i = 0; i < n; i++)
        b->failed |= !vec_push(&b->args, items[i]);
    return ret;
}

struct arg build_fill_arg(struct mask_builder *b, enum dtype dtype, enum mask_fill fill)
{
    if (fill == FILL_MINUS_INF)
        return build_float_arg("-inf", -(double)INFINITY);
    if (dtype == DTYPE_B8)
        return build_bool_arg(fill == FILL_ONE);
    if (mask_is_floating(dtype))
        return fill == FILL_ONE ? build_float_arg("1.0", 1) : build_float_arg("0.0", 0);
    return build_int_arg(b, fill == FILL_ONE);
}

/* ---- Nodes ---- */

struct str build_name(struct mask_builder *b, const char *base)
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

node_id build_push(struct mask_builder *b, struct node node, bool made)
{
    b->failed |= !vec_push(&b->nodes, node) || !vec_push(&b->made, made);
    return b->nodes.n ? (node_id)b->nodes.n - 1 : 0;
}

node_id build_emit(struct mask_builder *b, const char *base, const char *target,
                   const struct arg *args, uint32_t n)
{
    struct node node = { .op = NODE_CALL_FUNCTION,
                         .form = FORM_PLAIN,
                         .name = build_name(b, base),
                         .target = str_of(target),
                         .meta = META_NONE,
                         .location = b->graph->nodes[b->at].location,
                         .first_arg = (uint32_t)b->args.n,
                         .n_args = n };
    for (uint32_t i = 0; i < n; i++)
        b->failed |= !vec_push(&b->args, args[i]);
    return build_push(b, node, true);
}

void build_finish(struct mask_builder *b, node_id id, node_id result)
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

uint32_t build_ndim(const struct mask_builder *b, node_id id)
{
    return mask_tensor(b->m, id)->n_sizes;
}

/* Each element of the mask `block` times: [N, block]. */
static node_id repeat_mask(struct mask_builder *b, node_id mask, int64_t block)
{
    struct arg two[] = { build_int_arg(b, -1), build_int_arg(b, 1) };
    struct arg column[] = { build_node_arg(b->map[mask]), build_list_arg(b, two, 2) };
    node_id all = build_count_all(b, mask);
    node_id ret = build_emit(b, "reshape", "torch.ops.aten.reshape.default", column, 2);
    struct arg sizes[] = { build_node_arg(all), build_int_arg(b, block) };
    struct arg args[] = { build_node_arg(ret), build_list_arg(b, sizes, 2) };
    return build_emit(b, "expand", "torch.ops.aten.expand.default", args, 2);
}

/* The mask as [N * block, 1, ...] of ndim dimensions, where N is the number of all its elements. */
node_id build_row_mask(struct mask_builder *b, node_id mask, uint32_t ndim, int64_t block)
{
    struct arg sizes[TENSOR_MAX_DIM];
    node_id ret = find_form(b, mask, FORM_ROWS, ndim, block);
    if (ret != NODE_NONE)
        return ret;
    if (build_ndim(b, mask) == 1 && ndim == 1 && block == 1)
        return b->map[mask];
    ret = block == 1 ? b->map[mask] : repeat_mask(b, mask, block);
    sizes[0] = build_int_arg(b, -1);
    for (uint32_t d = 1; d < ndim; d++)
        sizes[d] = build_int_arg(b, 1);
    struct arg args[] = { build_node_arg(ret), build_list_arg(b, sizes, ndim) };
    ret = build_emit(b, "reshape", "torch.ops.aten.reshape.default", args, 2);
    return keep_form(b, mask, FORM_ROWS, ndim, block, ret);
}

/* The mask with dimensions of 1 behind its own, up to ndim. */
node_id build_whole_mask(struct mask_builder *b, node_id mask, uint32_t ndim)
{
    node_id ret = find_form(b, mask, FORM_WHOLE, ndim, 1);
    if (ret != NODE_NONE)
        return ret;
    ret = b->map[mask];
    for (uint32_t d = build_ndim(b, mask); d < ndim; d++) {
        struct arg args[] = { build_node_arg(ret), build_int_arg(b, -1) };
        ret = build_emit(b, "unsqueeze", "torch.ops.aten.unsqueeze.default", args, 2);
    }
    return keep_form(b, mask, FORM_WHOLE, ndim, 1, ret);
}

static node_id count_elements(struct mask_builder *b, node_id mask, enum mask_form form,
                              const char *base, const char *target)
{
    node_id ret = find_form(b, mask, form, 0, 1);
    if (ret != NODE_NONE)
        return ret;
    struct arg args[] = { build_node_arg(b->map[mask]) };
    return keep_form(b, mask, form, 0, 1, build_emit(b, base, target, args, 1));
}

node_id build_count_all(struct mask_builder *b, node_id mask)
{
    return count_elements(b, mask, FORM_COUNT, "numel", "torch.ops.aten.sym_numel.default");
}

node_id build_count_true(struct mask_builder *b, node_id mask)
{
    return count_elements(b, mask, FORM_SUM, "count", "torch.ops.aten.sum.default");
}

node_id build_merge_dims(struct mask_builder *b, node_id x, node_id mask, uint32_t dim)
{
    uint32_t n = build_ndim(b, mask);
    if (n == 1)
        return b->map[x];
    struct arg args[] = { build_node_arg(b->map[x]), build_int_arg(b, dim),
                          build_int_arg(b, (int64_t)dim + n - 1) };
    return build_emit(b, "flatten", "torch.ops.aten.flatten.using_ints", args, 3);
}

node_id build_where_filled(struct mask_builder *b, node_id mask, node_id x, uint32_t ndim,
                           int64_t block, struct arg fill)
{
    struct arg args[] = { build_node_arg(build_row_mask(b, mask, ndim, block)), build_node_arg(x),
                          fill };
    return build_emit(b, "where", "torch.ops.aten.where.ScalarOther", args, 3);
}

/* Calls that pick rows of tables, add up rows, or compute losses of them. */
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

/* Rows of a table that are picked by integers: embedding(table, rows), one_hot(rows). 0 is the
 * number of a row of each table that has one. */
bool row_check_lookup(struct row_call *c, uint32_t position)
{
    bool swapped = position && row_is_arg(c, &c->args[0]); /* torch.nn.functional.embedding() */
    const struct meta *table = NULL;
    if (position && c->node->n_args > position)
        table = row_meta(c, &c->args[swapped ? position : 0]);
    bool tabled = position;
    position = swapped ? 0 : position;
    if (c->count || row_has_nested(c) || c->node->n_args <= position ||
        !row_is_arg(c, &c->args[position]) || !c->result ||
        mask_is_floating(mask_tensor(c->m, c->row)->dtype))
        return row_refuse(c, "its argument is not the rows alone");
    for (uint32_t i = 0; i < c->node->n_args; i++)
        if (i != position && row_depends(c, &c->args[i]))
            return row_refuse(c, "its argument is not the rows alone");
    const struct arg *norm = mask_arg(c->m, c->id, swapped ? 3 : UINT32_MAX, "max_norm");
    const struct arg *scale = mask_arg(c->m, c->id, swapped ? 5 : 3, "scale_grad_by_freq");
    if (tabled && ((norm && norm->kind != ARG_NONE) ||
                   (scale && !(scale->kind == ARG_BOOL && !scale->u.integer))))
        return row_refuse(c, "it writes to its table, or counts the rows");
    if (tabled && (!table || !table->n_sizes || mask_size_is(c->m, table, 0, 0)))
        return row_refuse(c, "its table has no rows");
    row_refill_ints(c, 0);
    c->ret.dim = row_dim(c);
    return true;
}

/* A sum to which zeros at position 0 add nothing: scatter_add(), the gradient of embedding(). All
 * arguments with rows have them in the same dimension, and `argument` the others first. */
bool row_check_add_up(struct row_call *c, uint32_t position)
{
    bool grad = str_is(c->base, "embedding_dense_backward");
    if (c->count || row_has_nested(c) || !c->result || c->node->n_args < position + 2 ||
        !row_is_arg(c, &c->args[position]) || !row_is_arg(c, &c->args[position + 1]))
        return row_refuse(c, "its arguments are not all rows");
    for (uint32_t i = 0; i < c->node->n_args; i++)
        if (i != position && i != position + 1 && row_depends(c, &c->args[i]))
            return row_refuse(c, "it adds to rows");
    const struct arg *a = &c->args[position], *b = &c->args[position + 1];
    uint64_t named;
    const struct arg *scale = grad ? mask_arg(c->m, c->id, 4, "scale_grad_by_freq") : NULL;
    if (scale && !(scale->kind == ARG_BOOL && !scale->u.integer))
        return row_refuse(c, "it counts the rows");
    if (c->m->nodes[a->u.node].dim != c->m->nodes[b->u.node].dim ||
        (!grad && (mask_tensor(c->m, a->u.node)->n_sizes != mask_tensor(c->m, b->u.node)->n_sizes ||
                   !row_read_dims(c, row_dim_arg(c, 1), row_ndim(c), &named) ||
                   !row_is_named(named, row_dim(c)))))
        return row_refuse(c, "it adds along another dimension than that of the rows");
    c->ret.role = ROLE_COUNTED;
    row_refill(c, 0);
    return true;
}

/* The reduction of a loss: false if it is not known. */
static bool read_reduction(const struct row_call *c, uint32_t position, enum loss_reduction *ret)
{
    bool aten = str_starts(c->node->target, STR("torch.ops."));
    const struct arg *arg = mask_arg(c->m, c->id, aten ? position : UINT32_MAX, "reduction");
    int64_t number;
    for (uint32_t i = 2; !aten && i < c->node->n_args; i++)
        if (!c->args[i].key.n ||
            ((str_is(c->args[i].key, "size_average") || str_is(c->args[i].key, "reduce")) &&
             c->args[i].kind != ARG_NONE))
            return false;
    *ret = LOSS_MEAN;
    if (arg && arg->kind == ARG_STRING)
        *ret = str_is(arg->text, "none")  ? LOSS_NONE
               : str_is(arg->text, "sum") ? LOSS_SUM
                                          : LOSS_MEAN;
    else if (arg && mask_int(c->m, arg, &number) && number >= 0 && number <= 2)
        *ret = (enum loss_reduction)number;
    else if (arg)
        return false;
    return true;
}

/* A pointwise loss and its sum or mean. */
bool row_check_loss(struct row_call *c, uint32_t position)
{
    enum loss_reduction reduction;
    uint32_t right;
    if (!c->result || !read_reduction(c, position, &reduction))
        return row_refuse(c, "its reduction is not known");
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        struct row_value value = row_left(c, &c->args[i]);
        if (row_is_arg(c, &c->args[i]) && !(value.known && value.value >= 0 && value.value <= 1))
            row_refill_floats(c, 0.5); /* in the domain of each loss */
    }
    if (reduction == LOSS_NONE)
        return row_check_each(c);
    if (c->count || !row_check_aligned(c, &right))
        return row_refuse(c, "its arguments have other rows");
    uint32_t ndim = 0;
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = row_meta(c, &c->args[i]);
        ndim = meta && meta->n_sizes > ndim ? meta->n_sizes : ndim;
    }
    c->ret.role = ROLE_LOSS;
    c->ret.loss = reduction;
    c->ret.dim = ndim - right;
    c->ret.ndim = ndim;
    return true;
}

/* The gradient of such a loss; that of a mean is that of the sum, divided by the number of
 * elements. */
bool row_check_loss_grad(struct row_call *c, uint32_t position)
{
    enum loss_reduction reduction;
    const struct arg *arg = mask_arg(c->m, c->id, position, "reduction");
    if (!arg || !read_reduction(c, position, &reduction))
        return row_refuse(c, "its reduction is not known");
    c->ret.loss = reduction;
    return row_check_each(c);
}

/* Losses of rows of classes with a label for each row: a label that is ignored stands for the rows
 * that the mask leaves out. `argument` is the position of the labels. */
bool row_check_labels(struct row_call *c, uint32_t position)
{
    enum loss_reduction reduction;
    bool aten = str_starts(c->node->target, STR("torch.ops."));
    bool grad = str_is(c->base, "nll_loss_backward");
    int64_t ignored = -100;
    if (!read_reduction(c, position + 2, &reduction))
        return row_refuse(c, "its reduction is not known");
    const struct arg *index =
        mask_arg(c->m, c->id, aten ? position + 3 : UINT32_MAX, "ignore_index");
    const struct arg *labels = &c->args[position < c->node->n_args ? position : 0];
    const struct meta *meta = row_meta(c, labels);
    const struct meta *classes = position ? row_meta(c, &c->args[position - 1]) : NULL;
    if ((index && !mask_int(c->m, index, &ignored)) || c->count || row_has_nested(c) ||
        c->node->n_args <= position || !row_is_arg(c, labels) || meta->dtype != DTYPE_I64 ||
        !row_is_arg(c, &c->args[position - 1]) || classes->n_sizes != meta->n_sizes + 1)
        return row_refuse(c, "its arguments are not rows of classes and a label for each");
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        if (row_depends(c, &c->args[i]) &&
            (!row_is_arg(c, &c->args[i]) || c->m->nodes[c->args[i].u.node].dim != 0))
            return row_refuse(c, "it uses the number or the positions of the True elements");
        if (i + 1 != position && i != position && row_is_arg(c, &c->args[i]) && !(grad && i == 0))
            return row_refuse(c, "its weights are rows");
    }
    row_refill_ints(c, ignored);
    if (c->m->options->differentiated && !row_left(c, &c->args[position - 1]).known)
        row_refill_floats(c, 0);
    row_set_dim(c, 0);
    bool forward = !grad && !c->result;
    c->ret.row_items = forward && reduction == LOSS_NONE;
    if (forward)
        return true;
    if (!grad && reduction != LOSS_NONE)
        c->ret.role = ROLE_COUNTED;
    c->ret.dim = 0;
    return true;
}

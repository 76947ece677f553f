/* Matmuls of rows: which dimension of the result has them. */
#include <stdlib.h>

#include "minify/rewrite/mask_call.h"

/* The dimension of a factor that has the rows. */
enum factor_dim { FACTOR_NONE, FACTOR_OUTER, FACTOR_INNER, FACTOR_BATCH };

/* `transposed`: the factor is that of linear(). `left`: its inner dimension is the last one. */
static enum factor_dim factor_dim(const struct row_call *c, const struct arg *arg, bool left)
{
    if (!row_is_arg(c, arg))
        return FACTOR_NONE;
    uint32_t n = mask_tensor(c->m, arg->u.node)->n_sizes, dim = c->m->nodes[arg->u.node].dim;
    if (n == 1)
        return FACTOR_INNER;
    if (dim + 2 < n)
        return FACTOR_BATCH;
    return (dim + 1 == n) == left ? FACTOR_INNER : FACTOR_OUTER;
}

/* What is added to a matmul has no rows, or 1 in their place. */
static bool check_addend(struct row_call *c, uint32_t position, uint32_t right)
{
    for (uint32_t i = 0; i < c->node->n_args; i++) {
        const struct meta *meta = row_meta(c, &c->args[i]);
        if (!meta || i == position || i == position + 1)
            continue;
        bool rows = row_is_arg(c, &c->args[i]);
        if (rows ? !right || mask_rows_from_right(c->m, c->args[i].u.node) != right
                 : right && meta->n_sizes >= right &&
                       !mask_size_is(c->m, meta, meta->n_sizes - right, 1))
            return row_refuse(c, "what it adds has rows that the mask did not select");
    }
    return true;
}

bool row_check_matmul(struct row_call *c, uint32_t position)
{
    bool linear = str_is(c->base, "linear");
    if (c->count || row_has_nested(c) || c->node->n_args < position + 2 || !c->result)
        return row_refuse(c, "its factors are not known");
    const struct arg *a = &c->args[position], *b = &c->args[position + 1];
    const struct meta *left = row_meta(c, a), *right = row_meta(c, b);
    if (!left || !right || !left->n_sizes || !right->n_sizes || a->key.n || b->key.n)
        return row_refuse(c, "its factors are not known");
    enum factor_dim of_a = factor_dim(c, a, true), of_b = factor_dim(c, b, linear);
    uint32_t from_right = 0; /* the place of the rows in the result; 0: it has none */
    if (of_a == FACTOR_INNER && of_b == FACTOR_INNER) {
        c->ret.role = ROLE_COUNTED; /* a sum over the rows */
        row_refill(c, 0);
        return check_addend(c, position, 0);
    }
    if (linear && right->n_sizes != 2)
        return row_refuse(c, "its right factor is no matrix");
    bool vector = right->n_sizes == 1;
    if (of_a == FACTOR_OUTER && of_b == FACTOR_NONE)
        from_right = vector ? 1 : 2;
    else if (of_a == FACTOR_NONE && of_b == FACTOR_OUTER)
        from_right = 1;
    else if (of_a == FACTOR_BATCH && (of_b == FACTOR_NONE || of_b == FACTOR_BATCH))
        from_right = mask_rows_from_right(c->m, a->u.node) - vector;
    else if (of_a == FACTOR_NONE && of_b == FACTOR_BATCH)
        from_right = mask_rows_from_right(c->m, b->u.node) - (left->n_sizes == 1);
    else
        return row_refuse(c, "its factors have rows in other dimensions");
    if (of_a == FACTOR_BATCH && of_b == FACTOR_BATCH &&
        mask_rows_from_right(c->m, a->u.node) != mask_rows_from_right(c->m, b->u.node))
        return row_refuse(c, "its factors have rows in other dimensions");
    /* the other factor has no such dimension of the batch, or 1 there */
    const struct meta *other = of_a == FACTOR_NONE ? left : right;
    uint32_t place = from_right + (of_a == FACTOR_BATCH ? vector : left->n_sizes == 1);
    if ((of_a == FACTOR_BATCH) != (of_b == FACTOR_BATCH) && !linear && other->n_sizes >= place &&
        !mask_size_is(c->m, other, other->n_sizes - place, 1))
        return row_refuse(c, "another argument has rows that the mask did not select");
    if (c->result->n_sizes < from_right)
        return row_refuse(c, "its result was not recorded");
    c->ret.dim = c->result->n_sizes - from_right;
    return check_addend(c, position, from_right);
}

#include "replay/ops/rules/linalg/sumproduct.h"

struct dim_group { /* a group of dimensions and the product of their sizes */
    int64_t dim[TENSOR_MAX_DIM];
    uint32_t n;
    sym_id size;
};

struct product_plan {
    struct tensor left, right;
    struct dim_group shared, left_only, right_only,
        summed; /* PyTorch names them lro, lo, ro and sum */
};

static void add_group_dim(struct call *c, struct dim_group *part, uint32_t dim, sym_id size)
{
    part->dim[part->n++] = dim;
    part->size = mul(c, part->size, size);
}

static void classify_dim(struct call *c, struct product_plan *p, uint32_t i, bool summed)
{
    sym_id l = size_of(c, p->left, i), r = size_of(c, p->right, i);
    bool in_left = guard_bool(c, ne(c, l, SYM_ID_ONE));
    bool in_right = guard_bool(c, ne(c, r, SYM_ID_ONE));
    int64_t dim = i;
    if (in_left && in_right)
        require(c, guard_bool(c, eq(c, l, r)), "RuntimeError",
                "non-broadcast dimensions must match");
    if (summed) {
        p->summed.dim[p->summed.n++] = i;
        if (in_left && in_right)
            p->summed.size = mul(c, p->summed.size, l);
        else if (in_left)
            p->left = sum_dims(c, p->left, &dim, 1, true);
        else if (in_right)
            p->right = sum_dims(c, p->right, &dim, 1, true);
    } else if (in_left && in_right) {
        add_group_dim(c, &p->shared, i, l);
    } else if (in_left) {
        add_group_dim(c, &p->left_only, i, l);
    } else {
        add_group_dim(c, &p->right_only, i, r);
    }
}

static uint32_t append_dims(int64_t *order, uint32_t n, const struct dim_group *part)
{
    for (uint32_t i = 0; i < part->n; i++)
        order[n++] = part->dim[i];
    return n;
}

static struct tensor multiply_groups(struct call *c, const struct product_plan *p)
{
    int64_t order[TENSOR_MAX_DIM], back[TENSOR_MAX_DIM];
    const struct dim_group *left[] = { &p->shared, &p->left_only, &p->summed, &p->right_only };
    const struct dim_group *right[] = { &p->shared, &p->summed, &p->right_only, &p->left_only };
    uint32_t n = 0;
    sym_id out[TENSOR_MAX_DIM];
    for (uint32_t k = 0; k < 4; k++) {
        for (uint32_t i = 0; i < left[k]->n; i++) {
            int64_t dim = left[k]->dim[i];
            back[dim] = n + i;
            out[n + i] = k == 2   ? SYM_ID_ONE
                         : k == 3 ? size_of(c, p->right, dim)
                                  : size_of(c, p->left, dim);
        }
        n = append_dims(order, n, left[k]);
    }
    sym_id a[] = { p->shared.size, p->left_only.size, p->summed.size };
    sym_id b[] = { p->shared.size, p->summed.size, p->right_only.size };
    struct tensor x = reshape(c, permute(c, p->left, order, n), a, 3);
    n = 0;
    for (uint32_t k = 0; k < 4; k++)
        n = append_dims(order, n, right[k]);
    struct tensor y = reshape(c, permute(c, p->right, order, n), b, 3);
    struct tensor result = CALL(c, "aten.bmm.default", T(x), T(y));
    return permute(c, view(c, result, out, n), back, n);
}

/* Swaps the operands where every dimension of the right one alone stands in front of those of the
 * left one alone, so that the product has the order of the result. */
static void order_operands(struct product_plan *p)
{
    struct dim_group *left = &p->left_only, *right = &p->right_only;
    if (!left->n || !right->n || right->dim[right->n - 1] >= left->dim[0])
        return;
    struct dim_group group = *left;
    struct tensor x = p->left;
    *left = *right;
    *right = group;
    p->left = p->right;
    p->right = x;
}

struct tensor sumproduct_pair(struct call *c, struct tensor left, struct tensor right,
                              const bool *sum)
{
    uint32_t n = ndim_of(left);
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        any |= sum[i];
    if (!require(c, n == ndim_of(right), "RuntimeError", "number of dimensions must match"))
        return no_tensor();
    if (!any)
        return times(c, T(left), T(right));
    struct product_plan *p = scratch(c, sizeof *p);
    if (!p)
        return no_tensor();
    *p = (struct product_plan){ .left = left, .right = right };
    p->shared.size = p->left_only.size = p->right_only.size = p->summed.size = SYM_ID_ONE;
    for (uint32_t i = 0; i < n && !c->failed; i++)
        classify_dim(c, p, i, sum[i]);
    order_operands(p);
    return c->failed ? no_tensor() : multiply_groups(c, p);
}

/* Unique values of a tensor, and unique slices of a dimension. */
#include <math.h>

#include "replay/backend/cpu/kernel.h"

static bool are_equal(const struct dense *x, int64_t i, int64_t j)
{
    return x->kind == DENSE_INT ? x->u.i[i] == x->u.i[j] : x->u.r[i] == x->u.r[j];
}

static bool is_element_less(const struct dense *x, int64_t i, int64_t j)
{
    if (x->kind == DENSE_INT)
        return x->u.i[i] < x->u.i[j];
    return x->u.r[i] < x->u.r[j] || (!isnan(x->u.r[i]) && isnan(x->u.r[j]));
}

/* Sorts positions by their values with heap sort, which needs no recursion and no further
 * memory. */
static void sort_positions(const struct dense *x, int64_t *p, int64_t n)
{
    for (int64_t root = n / 2, end = n; end > 1;) {
        int64_t moved;
        if (root > 0) {
            moved = p[--root];
        } else {
            moved = p[--end];
            p[end] = p[0];
        }
        int64_t at = root;
        for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
            child += child + 1 < end && is_element_less(x, p[child], p[child + 1]);
            if (!is_element_less(x, moved, p[child]))
                break;
            p[at] = p[child];
            at = child;
        }
        p[at] = moved;
    }
}

/* _unique2 (sorted values) and unique_consecutive (PARAM 1): the values, the index of each
 * element's value, and counts. */
void kernel_unique(struct kernel *k)
{
    if (k->row->param == 1 && has_arg(k, "dim")) {
        kernel_unique_dim(k);
        return;
    }
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct dense out = like_result(k, 0, x.kind);
    struct dense inverse = dense_new(k, DENSE_INT, x.size, x.ndim);
    struct dense counts = dense_new(k, DENSE_INT, &out.n, 1);
    int64_t *order = workspace(k, x.n, sizeof *order), at = -1;
    for (int64_t i = 0; i < x.n && !k->failed; i++)
        order[i] = i;
    if (k->failed)
        return;
    if (k->row->param == 0)
        sort_positions(&x, order, x.n);
    for (int64_t i = 0; i < x.n; i++) {
        if (i == 0 || !are_equal(&x, order[i], order[i - 1]))
            at++;
        if (at >= out.n) {
            kernel_fail(k, "more values than were counted before");
            return;
        }
        out.u.i[at] = x.u.i[order[i]];
        inverse.u.i[order[i]] = at;
        counts.u.i[at]++;
    }
    store_tensor(k, result(k, 0), out);
    struct kernel_tensor second = result(k, 1), third = result(k, 2);
    int64_t size[TENSOR_MAX_DIM];
    if (second.meta && tensor_sizes(second, size) == x.ndim && (x.ndim == 0 || size[0]))
        store_tensor(k, second, inverse);
    if (n_results(k) > 2 && third.meta && third.meta->ndim == 1 && tensor_sizes(third, size) &&
        size[0] == counts.n)
        store_tensor(k, third, counts);
}

static int compare_slices(const struct dense *x, const struct around *a, int64_t i, int64_t j)
{
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t in = 0; in < a->inner; in++) {
            int64_t p = (o * a->n + i) * a->inner + in, q = (o * a->n + j) * a->inner + in;
            if (!are_equal(x, p, q))
                return is_element_less(x, p, q) ? -1 : 1;
        }
    return 0;
}

/* Slices of a dimension, sorted (unique_dim) or consecutive. */
void kernel_unique_dim(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), x.ndim);
    struct around a = around_dim(&x, dim);
    struct dense out = like_result(k, 0, x.kind);
    int64_t kept = out.ndim ? out.size[dim] : 0, at = -1;
    struct dense inverse = dense_new(k, DENSE_INT, &a.n, 1),
                 counts = dense_new(k, DENSE_INT, &kept, 1);
    int64_t *order = workspace(k, a.n, sizeof *order);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        int64_t j = i; /* insertion sort, since slices are few */
        for (; k->row->param == 0 && j > 0 && compare_slices(&x, &a, order[j - 1], i) > 0; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        bool fresh = i == 0 || compare_slices(&x, &a, order[i], order[i - 1]) != 0;
        at += fresh;
        if (at >= kept) {
            kernel_fail(k, "more slices than were counted before");
            return;
        }
        inverse.u.i[order[i]] = at;
        counts.u.i[at]++;
        for (int64_t o = 0; fresh && o < a.outer; o++)
            for (int64_t in = 0; in < a.inner; in++)
                out.u.i[(o * kept + at) * a.inner + in] =
                    x.u.i[(o * a.n + order[i]) * a.inner + in];
    }
    store_tensor(k, result(k, 0), out);
    int64_t size[TENSOR_MAX_DIM];
    struct dense parts[] = { inverse, counts };
    for (uint32_t i = 1; i < 3 && i < n_results(k); i++)
        if (result(k, i).meta && tensor_sizes(result(k, i), size) == 1 && size[0] == parts[i - 1].n)
            store_tensor(k, result(k, i), parts[i - 1]);
}

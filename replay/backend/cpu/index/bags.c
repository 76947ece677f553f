/* Embedding bags: rows of a table, reduced for each bag, and their gradients. */
#include "replay/backend/cpu/kernel.h"

enum bag_mode { BAG_SUM, BAG_MEAN, BAG_MAX };

struct bags {
    struct dense index, offsets;
    int64_t n;
};

static void bags_of(struct kernel *k, struct bags *b, bool with_last)
{
    b->index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    b->offsets = load_as(k, tensor_arg(k, "offsets"), DENSE_INT);
    b->n = b->offsets.n - with_last;
}

static int64_t bag_end(const struct bags *b, int64_t i)
{
    return i + 1 < b->offsets.n ? b->offsets.u.i[i + 1] : b->index.n;
}

void kernel_embedding_bag(struct kernel *k)
{
    struct dense w = load_as(k, tensor_arg(k, "weight"), DENSE_REAL);
    struct bags b;
    bags_of(k, &b, bool_arg(k, "include_last_offset", false));
    struct dense scale = load_optional(k, "per_sample_weights");
    enum bag_mode mode = (enum bag_mode)int_arg(k, "mode", 0);
    int64_t padding = int_arg(k, "padding_idx", -1), width = w.ndim > 1 ? w.size[1] : 0;
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct dense to_bag = dense_new(k, DENSE_INT, &b.index.n, 1);
    struct dense sizes = dense_new(k, DENSE_INT, &b.n, 1);
    struct dense most = like_result(k, 3, DENSE_INT);
    if (!k->failed && scale.u.p && scale.n != b.index.n)
        kernel_fail(k, "expected per_sample_weights to have the same shape as input");
    for (int64_t i = 0; i < b.n && !k->failed; i++) {
        if (b.offsets.u.i[i] < 0 || bag_end(&b, i) > b.index.n) {
            kernel_fail(k, "a bag's offset is out of bounds for %lld indices",
                        (long long)b.index.n);
            return;
        }
        for (int64_t j = b.offsets.u.i[i]; j < bag_end(&b, i); j++) {
            int64_t row = b.index.u.i[j];
            if (row < 0 || row >= w.size[0]) {
                kernel_fail(k, "index %lld is out of bounds for dimension with size %lld",
                            (long long)row, (long long)w.size[0]);
                return;
            }
            to_bag.u.i[j] = i;
            if (row == padding)
                continue;
            bool first = sizes.u.i[i]++ == 0;
            for (int64_t d = 0; d < width; d++) {
                double x = w.u.r[row * width + d] * (scale.u.p ? scale.u.r[j] : 1);
                double *at = &out.u.r[i * width + d];
                bool more = mode != BAG_MAX || first || x > *at;
                if (mode == BAG_MAX && more && i * width + d < most.n)
                    most.u.i[i * width + d] = row;
                *at = mode == BAG_MAX ? (more ? x : *at) : *at + x;
            }
        }
        for (int64_t d = 0; mode == BAG_MEAN && sizes.u.i[i] && d < width; d++)
            out.u.r[i * width + d] /= (double)sizes.u.i[i];
    }
    store_tensor(k, result(k, 0), out);
    if (k->row->param == 1 &&
        mode != BAG_MAX) { /* without a backward, which would need these results */
        for (int64_t i = 0; mode == BAG_SUM && i < sizes.n && !k->failed; i++)
            sizes.u.i[i] = 0;
        most = sizes;
    }
    struct dense rest[] = { to_bag, sizes, most };
    int64_t size[TENSOR_MAX_DIM], n;
    for (uint32_t i = 1; i < 4 && i < n_results(k); i++) {
        uint32_t ndim = tensor_sizes(result(k, i), size);
        n = ndim == 1 ? size[0] : ndim == 2 ? size[0] * size[1] : 0;
        if (result(k, i).meta && n == rest[i - 1].n)
            store_tensor(k, result(k, i), rest[i - 1]);
    }
}

void kernel_embedding_bag_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct dense to_bag = load_as(k, tensor_arg(k, "offset2bag"), DENSE_INT);
    struct dense sizes = load_as(k, tensor_arg(k, "bag_size"), DENSE_INT);
    struct dense most = load_as(k, tensor_arg(k, "maximum_indices"), DENSE_INT);
    struct dense scale = load_optional(k, "per_sample_weights");
    enum bag_mode mode = (enum bag_mode)int_arg(k, "mode", 0);
    int64_t padding = int_arg(k, "padding_idx", -1), width = g.ndim > 1 ? g.size[1] : 0;
    struct dense out = like_result(k, 0, DENSE_REAL);
    int64_t rows = width ? out.n / width : 0, bags = width ? g.n / width : 0;
    for (int64_t i = 0; i < most.n && i < g.n && mode == BAG_MAX && !k->failed; i++)
        if (most.u.i[i] >= 0 && most.u.i[i] < rows)
            out.u.r[most.u.i[i] * width + i % width] += g.u.r[i];
    for (int64_t j = 0; j < index.n && mode != BAG_MAX && !k->failed; j++) {
        int64_t bag = j < to_bag.n ? to_bag.u.i[j] : 0;
        bool known = index.u.i[j] >= 0 && index.u.i[j] < rows && bag >= 0 && bag < bags;
        if (index.u.i[j] == padding || !known)
            continue;
        double size = mode == BAG_MEAN && bag < sizes.n ? (double)sizes.u.i[bag] : 0;
        double share = (size != 0 ? 1 / size : 1) * (j < scale.n ? scale.u.r[j] : 1);
        for (int64_t d = 0; d < width; d++)
            out.u.r[index.u.i[j] * width + d] += share * g.u.r[bag * width + d];
    }
    store_tensor(k, result(k, 0), out);
}

/* Multiplies the row of the weight of each index with the gradient of its bag. */
void kernel_bag_weights_backward(struct kernel *k)
{
    struct dense g = load_optional(k, "grad"), w = load_optional(k, "weight");
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct dense bag = load_as(k, tensor_arg(k, "offset2bag"), DENSE_INT);
    struct dense out = dense_new(k, DENSE_REAL, index.size, index.ndim);
    struct dense offsets = load_as(k, tensor_arg(k, "offsets"), DENSE_INT);
    int64_t n = w.ndim == 2 ? w.size[1] : 0, padding = int_arg(k, "padding_idx", -1), at = 0;
    for (int64_t i = 0; i < index.n && n && !k->failed; i++) {
        while (at + 1 < offsets.n && offsets.u.i[at + 1] <= i)
            at++;
        int64_t row = index.u.i[i], b = i < bag.n ? bag.u.i[i] : at;
        if (row == padding || row < 0 || row >= w.size[0] || b < 0 || b >= g.n / n)
            continue;
        for (int64_t d = 0; d < n; d++)
            out.u.r[i] += g.u.r[b * n + d] * w.u.r[row * n + d];
    }
    store_tensor(k, result(k, 0), out);
}

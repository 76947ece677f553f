/* What has no family: choosing, counting, unique values, windows as columns. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/pointwise.h"

static struct dense like_result(struct kernel *k, uint32_t i, enum dense_kind kind)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, result(k, i), size);
    return dense_new(k, kind, size, ndim);
}

/* where(condition, self, other); where(condition) is a list of coordinates. */
void kernel_where(struct kernel *k)
{
    if (has_arg(k, "self")) {
        run_point(k, POINT_where, result(k, 0));
        return;
    }
    struct dense x = load_as(k, tensor_arg(k, "condition"), DENSE_REAL);
    int64_t step = 1;
    for (uint32_t d = x.ndim; d-- > 0; step *= x.size[d]) {
        struct dense out = like_result(k, d, DENSE_INT);
        int64_t at = 0;
        for (int64_t i = 0; i < x.n && !k->failed; i++)
            if (x.u.r[i] != 0 && at < out.n)
                out.u.i[at++] = i / step % x.size[d];
        store(k, result(k, d), out);
    }
}

/* repeat_interleave(repeats): i, repeats[i] times; or elements of self along a dimension. */
void kernel_repeat_interleave(struct kernel *k)
{
    struct value repeats = value_arg(k, "repeats");
    struct dense n = load_value(k, repeats, DENSE_INT);
    struct dense out = like_result(k, 0, has_arg(k, "self") ? load(k, tensor_arg(k, "self")).kind
                                                            : DENSE_INT);
    int64_t at = 0;
    if (!has_arg(k, "self")) {
        for (int64_t i = 0; i < n.n && !k->failed; i++)
            for (int64_t j = 0; j < n.u.i[i] && at < out.n; j++)
                out.u.i[at++] = i;
        store(k, result(k, 0), out);
        return;
    }
    struct dense x = load(k, tensor_arg(k, "self"));
    if (!has_arg(k, "dim"))
        x = dense_reshape(x, &x.n, 1);
    struct around a = around_dim(&x, has_arg(k, "dim") ? wrapped_dim(int_arg(k, "dim", 0), x.ndim)
                                                       : 0);
    size_t size = dense_size(x.kind) * (size_t)a.inner;
    for (int64_t o = 0; o < a.outer && !k->failed; o++)
        for (int64_t i = 0; i < a.n; i++) {
            int64_t times = n.u.i[n.n == 1 ? 0 : i];
            for (int64_t j = 0; j < times && (at + 1) * a.inner <= out.n; j++, at++)
                memcpy((char *)out.u.p + (size_t)at * size,
                       (char *)x.u.p + (size_t)(o * a.n + i) * size, size);
        }
    store(k, result(k, 0), out);
}

void kernel_bincount(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_INT);
    bool weighted = has_arg(k, "weights");
    struct dense w = weighted ? load_as(k, tensor_arg(k, "weights"), DENSE_REAL) : x;
    struct dense out = like_result(k, 0, DENSE_REAL);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        if (x.u.i[i] < 0 || x.u.i[i] >= out.n) {
            kernel_fail(k, "bincount only supports 1-d non-negative integral inputs.");
            return;
        }
        out.u.r[x.u.i[i]] += weighted ? w.u.r[i] : 1;
    }
    store(k, result(k, 0), out);
}

/* ---- Unique ---- */

static bool same(const struct dense *x, int64_t i, int64_t j)
{
    return x->kind == DENSE_INT ? x->u.i[i] == x->u.i[j] : x->u.r[i] == x->u.r[j];
}

static bool before(const struct dense *x, int64_t i, int64_t j)
{
    if (x->kind == DENSE_INT)
        return x->u.i[i] < x->u.i[j];
    return x->u.r[i] < x->u.r[j] || (!isnan(x->u.r[i]) && isnan(x->u.r[j]));
}

/* Positions in order of their values, by heap sort: no recursion, no spare memory. */
static void sort_positions(const struct dense *x, int64_t *p, int64_t n)
{
    for (int64_t root = n / 2, end = n; end > 1;) {
        int64_t held;
        if (root > 0) {
            held = p[--root];
        } else {
            held = p[--end];
            p[end] = p[0];
        }
        int64_t at = root;
        for (int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
            child += child + 1 < end && before(x, p[child], p[child + 1]);
            if (!before(x, held, p[child]))
                break;
            p[at] = p[child];
            at = child;
        }
        p[at] = held;
    }
}

/* _unique2 (values in order) and unique_consecutive (PARAM 1): values, where each element's went, how
 * often. */
void kernel_unique(struct kernel *k)
{
    if (k->row->param == 1 && has_arg(k, "dim")) {
        kernel_unique_dim(k);
        return;
    }
    struct dense x = load(k, tensor_arg(k, "self"));
    struct dense out = like_result(k, 0, x.kind);
    struct dense inverse = dense_new(k, DENSE_INT, x.size, x.ndim);
    struct dense counts = dense_new(k, DENSE_INT, &out.n, 1);
    int64_t *order = room(k, x.n, sizeof *order), at = -1;
    for (int64_t i = 0; i < x.n && !k->failed; i++)
        order[i] = i;
    if (k->failed)
        return;
    if (k->row->param == 0)
        sort_positions(&x, order, x.n);
    for (int64_t i = 0; i < x.n; i++) {
        if (i == 0 || !same(&x, order[i], order[i - 1]))
            at++;
        if (at >= out.n) {
            kernel_fail(k, "more values than were told");
            return;
        }
        out.u.i[at] = x.u.i[order[i]];
        inverse.u.i[order[i]] = at;
        counts.u.i[at]++;
    }
    store(k, result(k, 0), out);
    struct tensor second = result(k, 1), third = result(k, 2);
    int64_t size[TENSOR_MAX_DIM];
    if (second.meta && tensor_sizes(k, second, size) == x.ndim && (x.ndim == 0 || size[0]))
        store(k, second, inverse);
    if (n_results(k) > 2 && third.meta && third.meta->ndim == 1 && tensor_sizes(k, third, size) &&
        size[0] == counts.n)
        store(k, third, counts);
}

static int compare_rows(const struct dense *x, const struct around *a, int64_t i, int64_t j)
{
    for (int64_t o = 0; o < a->outer; o++)
        for (int64_t in = 0; in < a->inner; in++) {
            int64_t p = (o * a->n + i) * a->inner + in, q = (o * a->n + j) * a->inner + in;
            if (!same(x, p, q))
                return before(x, p, q) ? -1 : 1;
        }
    return 0;
}

/* Slices of a dimension, in order (unique_dim) or as they come. */
void kernel_unique_dim(struct kernel *k)
{
    struct dense x = load(k, tensor_arg(k, "self"));
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), x.ndim);
    struct around a = around_dim(&x, dim);
    struct dense out = like_result(k, 0, x.kind);
    int64_t kept = out.ndim ? out.size[dim] : 0, at = -1;
    struct dense inverse = dense_new(k, DENSE_INT, &a.n, 1), counts = dense_new(k, DENSE_INT, &kept, 1);
    int64_t *order = room(k, a.n, sizeof *order);
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        int64_t j = i; /* insertion: few slices */
        for (; k->row->param == 0 && j > 0 && compare_rows(&x, &a, order[j - 1], i) > 0; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        bool fresh = i == 0 || compare_rows(&x, &a, order[i], order[i - 1]) != 0;
        at += fresh;
        if (at >= kept) {
            kernel_fail(k, "more slices than were told");
            return;
        }
        inverse.u.i[order[i]] = at;
        counts.u.i[at]++;
        for (int64_t o = 0; fresh && o < a.outer; o++)
            for (int64_t in = 0; in < a.inner; in++)
                out.u.i[(o * kept + at) * a.inner + in] =
                    x.u.i[(o * a.n + order[i]) * a.inner + in];
    }
    store(k, result(k, 0), out);
    int64_t size[TENSOR_MAX_DIM];
    struct dense parts[] = { inverse, counts };
    for (uint32_t i = 1; i < 3 && i < n_results(k); i++)
        if (result(k, i).meta && tensor_sizes(k, result(k, i), size) == 1 && size[0] == parts[i - 1].n)
            store(k, result(k, i), parts[i - 1]);
}

/* ---- Windows as columns ---- */

struct columns {
    int64_t batch, channels, in[2], out[2], window[2], stride[2], padding[2], dilation[2];
};

static void two(const struct kernel *k, const char *name, int64_t *ret)
{
    int64_t given[2] = { 1, 1 };
    uint32_t n = ints_arg(k, name, given, 2);
    ret[0] = given[0];
    ret[1] = n > 1 ? given[1] : given[0];
}

static void columns_of(const struct kernel *k, struct columns *c)
{
    two(k, "kernel_size", c->window);
    two(k, "stride", c->stride);
    two(k, "padding", c->padding);
    two(k, "dilation", c->dilation);
    for (int d = 0; d < 2; d++)
        c->out[d] = (c->in[d] + 2 * c->padding[d] - c->dilation[d] * (c->window[d] - 1) - 1) /
                        c->stride[d] + 1;
}

/* The pixel that element i of the columns stands for; -1: padding. */
static int64_t pixel_of(const struct columns *c, int64_t i)
{
    int64_t places = c->out[0] * c->out[1], place = i % places, row = i / places;
    int64_t w = row % (c->window[0] * c->window[1]), plane = row / (c->window[0] * c->window[1]);
    int64_t y = place / c->out[1] * c->stride[0] - c->padding[0] + w / c->window[1] * c->dilation[0];
    int64_t x = place % c->out[1] * c->stride[1] - c->padding[1] + w % c->window[1] * c->dilation[1];
    bool inside = y >= 0 && y < c->in[0] && x >= 0 && x < c->in[1];
    return inside ? (plane * c->in[0] + y) * c->in[1] + x : -1;
}

void kernel_im2col(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct columns c = { 0 };
    struct dense out = like_result(k, 0, DENSE_COMPLEX);
    if (x.ndim < 3 || k->failed)
        return;
    c.in[0] = x.size[x.ndim - 2];
    c.in[1] = x.size[x.ndim - 1];
    columns_of(k, &c);
    for (int64_t i = 0; i < out.n; i++) {
        int64_t pixel = pixel_of(&c, i);
        out.u.c[i] = pixel < 0 ? 0 : x.u.c[pixel];
    }
    store(k, result(k, 0), out);
}

void kernel_col2im(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct columns c = { 0 };
    struct dense out = like_result(k, 0, DENSE_COMPLEX);
    two(k, "output_size", c.in);
    columns_of(k, &c);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        int64_t pixel = pixel_of(&c, i);
        if (pixel >= 0 && pixel < out.n)
            out.u.c[pixel] += x.u.c[i];
    }
    store(k, result(k, 0), out);
}

/* unfold's windows overlap, so their gradients add up. */
void kernel_unfold_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_in"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), out.ndim);
    struct around a = around_dim(&out, dim);
    int64_t size = int_arg(k, "size", 1), step = int_arg(k, "step", 1);
    int64_t each = a.outer * a.inner * size, windows = each > 0 ? g.n / each : 0;
    for (int64_t i = 0; i < g.n && !k->failed; i++) {
        int64_t in_window = i % size, inner = i / size % a.inner;
        int64_t window = i / size / a.inner % windows, outer = i / size / a.inner / windows;
        out.u.r[(outer * a.n + window * step + in_window) * a.inner + inner] += g.u.r[i];
    }
    store(k, result(k, 0), out);
}

/* ---- Elements elsewhere ---- */

/* pixel_shuffle; pixel_unshuffle (PARAM 1). */
void kernel_pixel_shuffle(struct kernel *k)
{
    struct dense x = load(k, tensor_arg(k, "self")), out = like_result(k, 0, x.kind);
    bool back = k->row->param == 1;
    int64_t r = int_arg(k, back ? "downscale_factor" : "upscale_factor", 1);
    const struct dense *small = back ? &out : &x, *large = back ? &x : &out;
    if (k->failed || x.ndim < 3)
        return;
    int64_t h = large->size[x.ndim - 2], w = large->size[x.ndim - 1];
    int64_t sh = small->size[x.ndim - 2], sw = small->size[x.ndim - 1];
    for (int64_t i = 0; i < large->n; i++) {
        int64_t px = i % w, py = i / w % h, plane = i / w / h;
        int64_t j = (((plane * r + py % r) * r + px % r) * sh + py / r) * sw + px / r;
        int64_t to = back ? j : i, from = back ? i : j;
        if (x.kind == DENSE_COMPLEX)
            out.u.c[to] = x.u.c[from];
        else
            out.u.i[to] = x.u.i[from];
    }
    store(k, result(k, 0), out);
}

void kernel_channel_shuffle(struct kernel *k)
{
    struct dense x = load(k, tensor_arg(k, "self")), out = like_result(k, 0, x.kind);
    int64_t groups = int_arg(k, "groups", 1);
    if (k->failed || x.ndim < 3)
        return;
    int64_t c = x.size[1], hw = x.size[0] && c ? x.n / x.size[0] / c : 0, per = c / groups;
    for (int64_t i = 0; i < x.n; i++) {
        int64_t ch = i / hw % c, n = i / hw / c;
        int64_t from = (n * c + ch % groups * per + ch / groups) * hw + i % hw;
        if (x.kind == DENSE_COMPLEX)
            out.u.c[i] = x.u.c[from];
        else
            out.u.i[i] = x.u.i[from];
    }
    store(k, result(k, 0), out);
}

/* The first half times the sigmoid of the second. */
void kernel_glu(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", -1), x.ndim));
    int64_t half = a.n / 2 * a.inner;
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        int64_t from = i / half * 2 * half + i % half;
        out.u.r[i] = x.u.r[from] / (1 + exp(-x.u.r[from + half]));
    }
    store(k, result(k, 0), out);
}

void kernel_isin(struct kernel *k)
{
    const char *in = has_arg(k, "elements") ? "elements" : "element";
    const char *of = has_arg(k, "test_elements") ? "test_elements" : "test_element";
    struct dense x = load_value(k, value_arg(k, in), DENSE_REAL);
    struct dense y = load_value(k, value_arg(k, of), DENSE_REAL);
    bool invert = bool_arg(k, "invert", false);
    struct dense out = like_result(k, 0, DENSE_INT);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        bool found = false;
        for (int64_t j = 0; j < y.n && !found; j++)
            found = x.u.r[i] == y.u.r[j];
        out.u.i[i] = found != invert;
    }
    store(k, result(k, 0), out);
}

void kernel_trace(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct dense out = dense_new(k, DENSE_COMPLEX, NULL, 0);
    for (int64_t i = 0; !k->failed && x.ndim == 2 && i < x.size[0] && i < x.size[1]; i++)
        out.u.c[0] += x.u.c[i * x.size[1] + i];
    store(k, result(k, 0), out);
}

void kernel_cross(struct kernel *k)
{
    struct dense out = like_result(k, 0, DENSE_COMPLEX);
    struct dense x = dense_broadcast(k, load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX), out.size,
                                     out.ndim);
    struct dense y = dense_broadcast(k, load_as(k, tensor_arg(k, "other"), DENSE_COMPLEX), out.size,
                                     out.ndim);
    struct around a = around_dim(&out, wrapped_dim(int_arg(k, "dim", -1), out.ndim));
    for (int64_t row = 0; row < a.outer * a.inner && !k->failed && a.n == 3; row++) {
        int64_t at = row / a.inner * 3 * a.inner + row % a.inner;
        for (int64_t i = 0; i < 3; i++) {
            int64_t p = at + (i + 1) % 3 * a.inner, q = at + (i + 2) % 3 * a.inner;
            out.u.c[at + i * a.inner] = x.u.c[p] * y.u.c[q] - x.u.c[q] * y.u.c[p];
        }
    }
    store(k, result(k, 0), out);
}

/* ---- Bags of embeddings ---- */

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
    struct dense scale = has_arg(k, "per_sample_weights")
                             ? load_as(k, tensor_arg(k, "per_sample_weights"), DENSE_REAL)
                             : (struct dense){ 0 };
    enum bag_mode mode = (enum bag_mode)int_arg(k, "mode", 0);
    int64_t padding = int_arg(k, "padding_idx", -1), width = w.ndim > 1 ? w.size[1] : 0;
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct dense to_bag = dense_new(k, DENSE_INT, &b.index.n, 1);
    struct dense sizes = dense_new(k, DENSE_INT, &b.n, 1);
    struct dense most = like_result(k, 3, DENSE_INT);
    for (int64_t i = 0; i < b.n && !k->failed; i++) {
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
    store(k, result(k, 0), out);
    if (k->row->param == 1 && mode != BAG_MAX) { /* forward only: what no backward will look at */
        for (int64_t i = 0; mode == BAG_SUM && i < sizes.n && !k->failed; i++)
            sizes.u.i[i] = 0;
        most = sizes;
    }
    struct dense rest[] = { to_bag, sizes, most };
    int64_t size[TENSOR_MAX_DIM], n;
    for (uint32_t i = 1; i < 4 && i < n_results(k); i++) {
        uint32_t ndim = tensor_sizes(k, result(k, i), size);
        n = ndim == 1 ? size[0] : ndim == 2 ? size[0] * size[1] : 0;
        if (result(k, i).meta && n == rest[i - 1].n)
            store(k, result(k, i), rest[i - 1]);
    }
}

void kernel_embedding_bag_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad"), DENSE_REAL);
    struct dense index = load_as(k, tensor_arg(k, "indices"), DENSE_INT);
    struct dense to_bag = load_as(k, tensor_arg(k, "offset2bag"), DENSE_INT);
    struct dense sizes = load_as(k, tensor_arg(k, "bag_size"), DENSE_INT);
    struct dense most = load_as(k, tensor_arg(k, "maximum_indices"), DENSE_INT);
    struct dense scale = has_arg(k, "per_sample_weights")
                             ? load_as(k, tensor_arg(k, "per_sample_weights"), DENSE_REAL)
                             : (struct dense){ 0 };
    enum bag_mode mode = (enum bag_mode)int_arg(k, "mode", 0);
    int64_t padding = int_arg(k, "padding_idx", -1), width = g.ndim > 1 ? g.size[1] : 0;
    struct dense out = like_result(k, 0, DENSE_REAL);
    for (int64_t i = 0; i < most.n && mode == BAG_MAX && !k->failed; i++)
        if (most.u.i[i] >= 0 && most.u.i[i] * width < out.n)
            out.u.r[most.u.i[i] * width + i % width] += g.u.r[i];
    for (int64_t j = 0; j < index.n && mode != BAG_MAX && !k->failed; j++) {
        int64_t bag = j < to_bag.n ? to_bag.u.i[j] : 0;
        if (index.u.i[j] == padding || index.u.i[j] < 0 || (index.u.i[j] + 1) * width > out.n)
            continue;
        double share = mode == BAG_MEAN && sizes.u.i[bag] ? 1 / (double)sizes.u.i[bag] : 1;
        share *= scale.u.p ? scale.u.r[j] : 1;
        for (int64_t d = 0; d < width; d++)
            out.u.r[index.u.i[j] * width + d] += share * g.u.r[bag * width + d];
    }
    store(k, result(k, 0), out);
}

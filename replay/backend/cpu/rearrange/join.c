/* Operators that move elements: cat, pad, roll, flip, repeat, shuffles. */
#include <string.h>

#include "replay/backend/cpu/kernel.h"

/* cat; stack (PARAM 1) has a new dimension. */
void kernel_cat(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "tensors", &items);
    struct kernel_tensor to = result(k, 0);
    if (!to.meta)
        return;
    struct dense out = like_result(k, 0, dense_kind_of(to.meta->dtype));
    uint32_t dim = wrapped_dim(int_arg(k, "dim", 0), out.ndim);
    struct around a = around_dim(&out, dim);
    size_t size = dense_size(out.kind);
    int64_t at = 0;
    for (uint32_t i = 0; i < n && !k->failed; i++) {
        struct dense x = load_as(k, items[i].u.tensor, out.kind);
        int64_t rows = k->row->param ? 1 : x.ndim == out.ndim ? x.size[dim] : 0;
        for (int64_t o = 0; o < a.outer && rows && x.n; o++)
            memcpy((char *)out.u.p + (size_t)((o * a.n + at) * a.inner) * size,
                   (char *)x.u.p + (size_t)(o * rows * a.inner) * size,
                   (size_t)(rows * a.inner) * size);
        at += rows;
    }
    store_tensor(k, to, out);
}

/* Returns the position in x of position `at` of the result, in one dimension; -1: none. */
typedef int64_t source_place(const void *how, uint32_t dim, int64_t at, int64_t size);

static struct dense rearranged(struct kernel *k, struct dense x, struct dense out,
                               source_place *from, const void *how, bool keep)
{
    for (int64_t i = 0; i < out.n && !k->failed; i++) {
        int64_t place = 0, rest = i, step = 1;
        bool inside = true;
        for (uint32_t d = out.ndim; d-- > 0; rest /= out.size[d]) {
            int64_t at = from(how, d, rest % out.size[d], x.size[d]);
            inside &= at >= 0 && at < x.size[d];
            place += at * step;
            step *= x.size[d];
        }
        if (inside)
            copy_element(&out, i, &x, place);
        else if (!keep)
            memset((char *)out.u.p + (size_t)i * dense_size(out.kind), 0, dense_size(out.kind));
    }
    return out;
}

struct shifts {
    int64_t by[TENSOR_MAX_DIM];
    int mode;
};

static int64_t shifted(const void *how, uint32_t dim, int64_t at, int64_t size)
{
    (void)size;
    return at - ((const struct shifts *)how)->by[dim];
}

static int64_t rolled(const void *how, uint32_t dim, int64_t at, int64_t size)
{
    int64_t from = size ? (at - ((const struct shifts *)how)->by[dim]) % size : 0;
    return from < 0 ? from + size : from;
}

static int64_t flip_source(const void *how, uint32_t dim, int64_t at, int64_t size)
{
    return ((const struct shifts *)how)->by[dim] ? size - 1 - at : at;
}

static int64_t repeat_source(const void *how, uint32_t dim, int64_t at, int64_t size)
{
    (void)how, (void)dim;
    return size ? at % size : 0;
}

static int64_t reflected(const void *how, uint32_t dim, int64_t at, int64_t size)
{
    int64_t from = at - ((const struct shifts *)how)->by[dim], last = size - 1;
    from = from < 0 ? -from : from;
    return from > last ? 2 * last - from : from;
}

static int64_t replicate_source(const void *how, uint32_t dim, int64_t at, int64_t size)
{
    int64_t from = at - ((const struct shifts *)how)->by[dim];
    return from < 0 ? 0 : from >= size ? size - 1 : from;
}

/* Reads pairs of padding from the last dimension on; the first of a pair shifts positions. */
static void pad_shifts(const struct kernel *k, const char *name, uint32_t ndim, struct shifts *s)
{
    int64_t pad[2 * TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, name, pad, 2 * TENSOR_MAX_DIM);
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; 2 * i < n && i < ndim; i++)
        s->by[ndim - 1 - i] = pad[2 * i];
}

void kernel_constant_pad(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct shifts s;
    struct dense out = like_result(k, 0, x.kind);
    struct dense value = load_value(k, value_arg(k, "value"), x.kind);
    for (int64_t i = 0; i < out.n && !k->failed; i++)
        copy_element(&out, i, &value, 0);
    pad_shifts(k, "pad", x.ndim, &s);
    store_tensor(k, result(k, 0), rearranged(k, x, out, shifted, &s, true));
}

/* PARAM 0 reflection, 1 replication. */
void kernel_pad(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct shifts s;
    pad_shifts(k, "padding", x.ndim, &s);
    store_tensor(k, result(k, 0),
                 rearranged(k, x, like_result(k, 0, x.kind),
                            k->row->param ? replicate_source : reflected, &s, false));
}

/* Adds the gradient of the padding to the elements that were copied there. */
void kernel_pad_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense out = like_result(k, 0, DENSE_REAL);
    struct shifts s;
    pad_shifts(k, "padding", out.ndim, &s);
    for (int64_t i = 0; i < g.n && !k->failed; i++) {
        int64_t place = 0, rest = i, step = 1;
        for (uint32_t d = g.ndim; d-- > 0; rest /= g.size[d]) {
            int64_t here = rest % g.size[d];
            place += step * (k->row->param ? replicate_source(&s, d, here, out.size[d])
                                           : reflected(&s, d, here, out.size[d]));
            step *= out.size[d];
        }
        out.u.r[place] += g.u.r[i];
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_roll(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct shifts s = { { 0 }, 0 };
    int64_t shifts[TENSOR_MAX_DIM], dims[TENSOR_MAX_DIM], size[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, "shifts", shifts, TENSOR_MAX_DIM);
    uint32_t n_dims = ints_arg(k, "dims", dims, TENSOR_MAX_DIM), ndim = x.ndim;
    memcpy(size, x.size, sizeof size);
    if (n_dims == 0) { /* without dims the tensor is treated as one-dimensional */
        x = dense_reshape(x, &x.n, 1);
        s.by[0] = n ? shifts[0] : 0;
    }
    for (uint32_t i = 0; i < n_dims && i < n; i++)
        s.by[wrapped_dim(dims[i], x.ndim)] += shifts[i];
    struct dense out = rearranged(k, x, dense_new(k, x.kind, x.size, x.ndim), rolled, &s, false);
    store_tensor(k, result(k, 0), dense_reshape(out, size, ndim));
}

void kernel_flip(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self"));
    struct shifts s = { { 0 }, 0 };
    int64_t dims[TENSOR_MAX_DIM];
    uint32_t n = ints_arg(k, "dims", dims, TENSOR_MAX_DIM);
    for (uint32_t i = 0; i < n; i++)
        s.by[wrapped_dim(dims[i], x.ndim)] = 1;
    store_tensor(k, result(k, 0),
                 rearranged(k, x, like_result(k, 0, x.kind), flip_source, &s, false));
}

void kernel_repeat(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self")), out = like_result(k, 0, x.kind);
    int64_t size[TENSOR_MAX_DIM];
    for (uint32_t i = 0; i < out.ndim; i++)
        size[i] = i + x.ndim >= out.ndim ? x.size[i + x.ndim - out.ndim] : 1;
    x = dense_reshape(x, size, out.ndim);
    store_tensor(k, result(k, 0), rearranged(k, x, out, repeat_source, NULL, false));
}

/* _chunk_cat: pads every tensor with zeros, splits it into num_chunks pieces along a dimension, and
 * concatenates the flattened pieces of all tensors. */
void kernel_chunk_cat(struct kernel *k)
{
    const struct kernel_value *items;
    uint32_t n = list_arg(k, "tensors", &items), ndim;
    int64_t chunks = int_arg(k, "num_chunks", 1), size[TENSOR_MAX_DIM], filled = 0;
    struct kernel_tensor to = result(k, 0);
    ndim = tensor_sizes(to, size);
    enum dense_kind kind = to.meta ? dense_kind_of(to.meta->dtype) : DENSE_REAL;
    struct dense out = dense_new(k, kind, size, ndim);
    int64_t width = ndim ? size[ndim - 1] : 0;
    for (uint32_t t = 0; t < n && !k->failed && chunks > 0; t++) {
        struct dense x = load_value(k, items[t], kind);
        if (k->failed)
            return;
        struct around a = around_dim(&x, wrapped_dim(int_arg(k, "dim", 0), x.ndim));
        int64_t piece = (a.n + chunks - 1) / chunks * a.inner;
        for (int64_t i = 0; i < x.n; i++) {
            int64_t outer = i / (a.n * a.inner), rest = i % (a.n * a.inner);
            int64_t at = (outer * chunks + rest / piece) * width + filled + rest % piece;
            if (at < out.n)
                copy_element(&out, at, &x, i);
        }
        filled += piece;
    }
    store_tensor(k, to, out);
}

/* pixel_shuffle; pixel_unshuffle (PARAM 1). */
void kernel_pixel_shuffle(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self")), out = like_result(k, 0, x.kind);
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
        copy_element(&out, back ? j : i, &x, back ? i : j);
    }
    store_tensor(k, result(k, 0), out);
}

void kernel_channel_shuffle(struct kernel *k)
{
    struct dense x = load_tensor(k, tensor_arg(k, "self")), out = like_result(k, 0, x.kind);
    int64_t groups = int_arg(k, "groups", 1);
    if (k->failed || x.ndim < 3)
        return;
    int64_t c = x.size[1], hw = x.size[0] && c ? x.n / x.size[0] / c : 0, per = c / groups;
    for (int64_t i = 0; i < x.n; i++) {
        int64_t ch = i / hw % c, n = i / hw / c;
        copy_element(&out, i, &x, (n * c + ch % groups * per + ch / groups) * hw + i % hw);
    }
    store_tensor(k, result(k, 0), out);
}

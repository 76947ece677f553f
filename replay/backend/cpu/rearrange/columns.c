/* Windows of an image as columns (im2col), and the sum of overlapping windows (col2im and the
 * gradient of unfold). */
#include "replay/backend/cpu/kernel.h"

struct columns {
    int64_t batch, channels, in[2], out[2], window[2], stride[2], padding[2], dilation[2];
};

static void columns_of(const struct kernel *k, struct columns *c)
{
    ints_per_dim(k, "kernel_size", 2, c->window, 1);
    ints_per_dim(k, "stride", 2, c->stride, 1);
    ints_per_dim(k, "padding", 2, c->padding, 1);
    ints_per_dim(k, "dilation", 2, c->dilation, 1);
    for (int d = 0; d < 2; d++)
        c->out[d] = (c->in[d] + 2 * c->padding[d] - c->dilation[d] * (c->window[d] - 1) - 1) /
                        c->stride[d] +
                    1;
}

/* Returns the pixel of element i of the columns; -1: padding. */
static int64_t pixel_of(const struct columns *c, int64_t i)
{
    int64_t places = c->out[0] * c->out[1], place = i % places, row = i / places;
    int64_t w = row % (c->window[0] * c->window[1]), plane = row / (c->window[0] * c->window[1]);
    int64_t y =
        place / c->out[1] * c->stride[0] - c->padding[0] + w / c->window[1] * c->dilation[0];
    int64_t x =
        place % c->out[1] * c->stride[1] - c->padding[1] + w % c->window[1] * c->dilation[1];
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
    store_tensor(k, result(k, 0), out);
}

void kernel_col2im(struct kernel *k)
{
    struct dense x = load_as(k, tensor_arg(k, "self"), DENSE_COMPLEX);
    struct columns c = { 0 };
    struct dense out = like_result(k, 0, DENSE_COMPLEX);
    ints_per_dim(k, "output_size", 2, c.in, 1);
    columns_of(k, &c);
    for (int64_t i = 0; i < x.n && !k->failed; i++) {
        int64_t pixel = pixel_of(&c, i);
        if (pixel >= 0 && pixel < out.n)
            out.u.c[pixel] += x.u.c[i];
    }
    store_tensor(k, result(k, 0), out);
}

/* Sums gradients, since unfold's windows overlap. */
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
    store_tensor(k, result(k, 0), out);
}

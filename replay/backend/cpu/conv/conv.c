/* Convolutions of any number of dimensions, transposed ones, and their gradients.
 *
 * All iterate over the pairs of positions that an element of the weight connects: output position
 * o, kernel position w, input position i = o * stride - padding + w * dilation, in each dimension.
 * A transposed convolution exchanges input and output. The direction of the iteration, and so the
 * order of the sums, depends on sizes alone. */
#include <string.h>

#include "replay/backend/cpu/linalg/matmul.h"
#include "replay/backend/cpu/threads.h"

enum { CONV_MAX_DIM = 3 };

struct conv_walk {
    uint32_t dims;
    int64_t batch, groups, in_channels, out_channels; /* of the iteration's input and output */
    int64_t in[CONV_MAX_DIM], out[CONV_MAX_DIM], window[CONV_MAX_DIM];
    int64_t stride[CONV_MAX_DIM], padding[CONV_MAX_DIM], dilation[CONV_MAX_DIM];
    int64_t in_size, out_size, window_size;
    bool transposed;
};

/* Sets up the iteration. x is the convolution's input, y its output, as in the schema. */
static bool read_conv_walk(struct kernel *k, const struct dense *x, const struct dense *y,
                           const struct dense *weight, struct conv_walk *c)
{
    memset(c, 0, sizeof *c);
    if (k->failed || x->ndim < 3 || x->ndim > 2 + CONV_MAX_DIM || weight->ndim != x->ndim ||
        y->ndim != x->ndim)
        return false;
    c->dims = x->ndim - 2;
    c->transposed = bool_arg(k, "transposed", false);
    const struct dense *in = c->transposed ? y : x, *out = c->transposed ? x : y;
    c->batch = x->size[0];
    c->groups = int_arg(k, "groups", 1);
    c->in_channels = in->size[1];
    c->out_channels = out->size[1];
    c->in_size = c->out_size = c->window_size = 1;
    ints_per_dim(k, "stride", c->dims, c->stride, 1);
    ints_per_dim(k, "padding", c->dims, c->padding, 0);
    ints_per_dim(k, "dilation", c->dims, c->dilation, 1);
    for (uint32_t i = 0; i < c->dims; i++) {
        c->in_size *= c->in[i] = in->size[2 + i];
        c->out_size *= c->out[i] = out->size[2 + i];
        c->window_size *= c->window[i] = weight->size[2 + i];
    }
    return c->groups > 0;
}

/* Computes the input positions for a kernel position w, one for each output position; -1
 * outside. */
static void input_places(const struct conv_walk *c, int64_t w, int64_t *places)
{
    int64_t at[CONV_MAX_DIM];
    for (uint32_t d = c->dims; d-- > 0; w /= c->window[d])
        at[d] = w % c->window[d];
    for (int64_t o = 0; o < c->out_size; o++) {
        int64_t rest = o, place = 0, step = 1;
        bool inside = true;
        for (uint32_t d = c->dims; d-- > 0; rest /= c->out[d]) {
            int64_t i = rest % c->out[d] * c->stride[d] - c->padding[d] + at[d] * c->dilation[d];
            inside &= i >= 0 && i < c->in[d];
            place += i * step;
            step *= c->in[d];
        }
        places[o] = inside ? place : -1;
    }
}

enum conv_part { TO_OUTPUT, TO_INPUT, TO_WEIGHT };

/* Iterates over all pairs. weight is [out_channels, in_channels / groups, window] for the
 * iteration. */
static void walk_pairs(struct kernel *k, const struct conv_walk *c, enum conv_part part, double *in,
                       double *out, double *weight)
{
    int64_t *places = workspace(k, c->out_size, sizeof *places);
    int64_t in_group = c->in_channels / c->groups, out_group = c->out_channels / c->groups;
    for (int64_t w = 0; w < c->window_size && !k->failed; w++) {
        input_places(c, w, places);
        for (int64_t pair = 0; pair < c->batch * c->out_channels * in_group; pair++) {
            int64_t b = pair / in_group / c->out_channels, oc = pair / in_group % c->out_channels;
            int64_t ic = oc / out_group * in_group + pair % in_group;
            double *x = in + (b * c->in_channels + ic) * c->in_size;
            double *y = out + (b * c->out_channels + oc) * c->out_size;
            double *f = weight + (oc * in_group + pair % in_group) * c->window_size + w;
            double sum = 0, factor = *f;
            for (int64_t o = 0; o < c->out_size; o++) {
                if (places[o] < 0)
                    continue;
                if (part == TO_OUTPUT)
                    y[o] += factor * x[places[o]];
                else if (part == TO_INPUT)
                    x[places[o]] += factor * y[o];
                else
                    sum += y[o] * x[places[o]];
            }
            *f += part == TO_WEIGHT ? sum : 0;
        }
    }
}

/* ---- As matmuls, if groups have many channels ---- */

/* The columns for output positions [from, from + n) of one group of one sample, which the weight is
 * multiplied with (im2col). They are few enough to stay in the cache. */
struct conv_columns {
    double *columns; /* [in_group * window, most], or transposed */
    double *turned, *part;
    int64_t from, n;
};

enum {
    PATCH_ELEMENTS = 1 << 15,
    LEAST_PLACES = 32,
    LEAST_CHANNELS = 4,
    WEIGHT_ROWS = 32, /* output channels of a work item that computes the gradient of the weight */
    MOST_SLOTS = 16,
    SLOT_ROOM = 64 << 20
};

/* Independent work items; each thread has its own patches. */
struct conv_work {
    const struct conv_walk *c;
    enum conv_part part;
    double *in, *out, *weight;
    double *turned;  /* the transposed weight, by group: [inner, out_group] */
    int64_t *places; /* [window, out_size] */
    int64_t inner, out_group, in_group;
    int64_t most, chunks; /* positions in one item; items per sample */
    int64_t blocks;       /* of output channels */
    int64_t items, n_slots;
    struct conv_columns slots[MOST_SLOTS];
};

/* Gathers columns of the input's values, or, with by_place, a row for each position. */
static void gather_patches(const struct conv_work *w, const struct conv_columns *p, const double *x,
                           bool by_place)
{
    const struct conv_walk *c = w->c;
    for (int64_t row = 0; row < w->inner; row++) {
        const int64_t *places = w->places + row % c->window_size * c->out_size + p->from;
        const double *channel = x + row / c->window_size * c->in_size;
        for (int64_t o = 0; o < p->n; o++) {
            double value = places[o] < 0 ? 0 : channel[places[o]];
            p->columns[by_place ? o * w->inner + row : row * p->n + o] = value;
        }
    }
}

static void patches_to_output(const struct conv_work *w, const struct conv_columns *p,
                              const double *x, double *y, const double *weight)
{
    gather_patches(w, p, x, false);
    memset(p->part, 0, (size_t)(w->out_group * p->n) * sizeof *p->part);
    multiply_matrices(weight, p->columns, p->part, w->out_group, p->n, w->inner);
    for (int64_t oc = 0; oc < w->out_group; oc++)
        memcpy(y + oc * w->c->out_size + p->from, p->part + oc * p->n, (size_t)p->n * sizeof *y);
}

static void patches_to_input(const struct conv_work *w, const struct conv_columns *p, double *x,
                             const double *y, const double *turned)
{
    const struct conv_walk *c = w->c;
    memset(p->part, 0, (size_t)(w->inner * p->n) * sizeof *p->part);
    for (int64_t oc = 0; oc < w->out_group; oc++)
        memcpy(p->columns + oc * p->n, y + oc * c->out_size + p->from, (size_t)p->n * sizeof *y);
    multiply_matrices(turned, p->columns, p->part, w->inner, p->n, w->out_group);
    for (int64_t row = 0; row < w->inner; row++) {
        const int64_t *places = w->places + row % c->window_size * c->out_size + p->from;
        double *channel = x + row / c->window_size * c->in_size;
        for (int64_t o = 0; o < p->n; o++)
            if (places[o] >= 0)
                channel[places[o]] += p->part[row * p->n + o];
    }
}

/* Adds to the gradient of the weight for `rows` output channels from the first of y and weight. */
static void patches_to_weight(const struct conv_work *w, const struct conv_columns *p,
                              const double *x, const double *y, double *weight, int64_t rows)
{
    gather_patches(w, p, x, true);
    for (int64_t oc = 0; oc < rows; oc++)
        memcpy(p->turned + oc * p->n, y + oc * w->c->out_size + p->from, (size_t)p->n * sizeof *y);
    multiply_matrices(p->turned, p->columns, weight, rows, w->inner, p->n);
}

static void set_chunk(const struct conv_work *w, struct conv_columns *p, int64_t chunk)
{
    p->from = chunk * w->most;
    p->n = w->c->out_size - p->from < w->most ? w->c->out_size - p->from : w->most;
}

static double *input_of_item(const struct conv_work *w, int64_t i)
{
    return w->in + i * w->in_group * w->c->in_size;
}

static double *output_of_item(const struct conv_work *w, int64_t i)
{
    return w->out + i * w->out_group * w->c->out_size;
}

/* Goes over all samples in order, so that sums do not depend on threads. */
static void weight_item(const struct conv_work *w, struct conv_columns *p, int64_t item)
{
    const struct conv_walk *c = w->c;
    int64_t group = item / w->blocks, first = item % w->blocks * WEIGHT_ROWS;
    int64_t rows = w->out_group - first < WEIGHT_ROWS ? w->out_group - first : WEIGHT_ROWS;
    double *to = w->weight + (group * w->out_group + first) * w->inner;
    for (int64_t i = group; i < c->batch * c->groups; i += c->groups)
        for (int64_t chunk = 0; chunk < w->chunks; chunk++) {
            set_chunk(w, p, chunk);
            patches_to_weight(w, p, input_of_item(w, i), output_of_item(w, i) + first * c->out_size,
                              to, rows);
        }
}

static void run_item(const struct conv_work *w, struct conv_columns *p, int64_t item)
{
    int64_t size = w->inner * w->out_group;
    if (w->part == TO_OUTPUT) {
        int64_t i = item / w->chunks;
        set_chunk(w, p, item % w->chunks);
        patches_to_output(w, p, input_of_item(w, i), output_of_item(w, i),
                          w->weight + i % w->c->groups * size);
    } else if (w->part == TO_INPUT) {
        for (int64_t chunk = 0; chunk < w->chunks; chunk++) {
            set_chunk(w, p, chunk);
            patches_to_input(w, p, input_of_item(w, item), output_of_item(w, item),
                             w->turned + item % w->c->groups * size);
        }
    } else {
        weight_item(w, p, item);
    }
}

static void run_slot(void *user, int64_t slot)
{
    struct conv_work *w = user;
    for (int64_t item = slot; item < w->items; item += w->n_slots)
        run_item(w, &w->slots[slot], item);
}

static void turn_weight(const struct conv_work *w)
{
    for (int64_t g = 0; g < w->c->groups; g++) {
        const double *from = w->weight + g * w->inner * w->out_group;
        double *to = w->turned + g * w->inner * w->out_group;
        for (int64_t oc = 0; oc < w->out_group; oc++)
            for (int64_t row = 0; row < w->inner; row++)
                to[row * w->out_group + oc] = from[oc * w->inner + row];
    }
}

static bool find_places(struct kernel *k, struct conv_work *w)
{
    const struct conv_walk *c = w->c;
    w->places = workspace(k, c->window_size * c->out_size, sizeof *w->places);
    for (int64_t i = 0; i < c->window_size && !k->failed; i++)
        input_places(c, i, w->places + i * c->out_size);
    if (w->part == TO_INPUT &&
        (w->turned = workspace(k, c->groups * w->inner * w->out_group, sizeof *w->turned)))
        turn_weight(w);
    return !k->failed;
}

static bool make_slots(struct kernel *k, struct conv_work *w)
{
    int64_t taller = w->inner > w->out_group ? w->inner : w->out_group;
    int64_t elements = (2 * taller + WEIGHT_ROWS) * w->most;
    int64_t fit = elements ? SLOT_ROOM / 8 / elements : MOST_SLOTS;
    w->n_slots = fit < 1 ? 1 : fit > MOST_SLOTS ? MOST_SLOTS : fit;
    w->n_slots = w->n_slots < w->items ? w->n_slots : w->items;
    for (int64_t i = 0; i < w->n_slots && !k->failed; i++) {
        w->slots[i].columns = workspace(k, taller * w->most, sizeof(double));
        w->slots[i].part = workspace(k, taller * w->most, sizeof(double));
        w->slots[i].turned = workspace(k, WEIGHT_ROWS * w->most, sizeof(double));
    }
    return !k->failed;
}

static void walk_patches(struct kernel *k, const struct conv_walk *c, enum conv_part part,
                         double *in, double *out, double *weight)
{
    struct conv_work w = { .c = c,
                           .part = part,
                           .in = in,
                           .out = out,
                           .weight = weight,
                           .in_group = c->in_channels / c->groups,
                           .out_group = c->out_channels / c->groups };
    w.inner = w.in_group * c->window_size;
    w.most = w.inner ? PATCH_ELEMENTS / w.inner / 8 * 8 : 0;
    w.most = w.most < LEAST_PLACES ? LEAST_PLACES : w.most;
    w.most = w.most > c->out_size ? c->out_size : w.most;
    w.chunks = w.most ? (c->out_size + w.most - 1) / w.most : 0;
    w.blocks = (w.out_group + WEIGHT_ROWS - 1) / WEIGHT_ROWS;
    w.items = part == TO_WEIGHT   ? c->groups * w.blocks
              : part == TO_OUTPUT ? c->batch * c->groups * w.chunks
                                  : c->batch * c->groups;
    if (find_places(k, &w) && make_slots(k, &w))
        cpu_parallel(k, w.n_slots, run_slot, &w);
}

static void walk_conv(struct kernel *k, const struct conv_walk *c, enum conv_part part, double *in,
                      double *out, double *weight)
{
    if (c->out_channels / c->groups >= LEAST_CHANNELS)
        walk_patches(k, c, part, in, out, weight);
    else
        walk_pairs(k, c, part, in, out, weight);
}

/* Returns an input without a batch as a batch of one. */
static struct dense with_batch(struct dense x, uint32_t ndim)
{
    if (x.ndim + 1 != ndim)
        return x;
    memmove(x.size + 1, x.size, x.ndim * sizeof *x.size);
    x.size[0] = 1;
    x.ndim++;
    return x;
}

/* Returns the real or imaginary parts: complex convolutions are computed from both. */
static struct dense complex_part(struct kernel *k, struct dense x, bool imaginary)
{
    struct dense ret = dense_new(k, DENSE_REAL, x.size, x.ndim);
    for (int64_t i = 0; i < ret.n && !k->failed; i++)
        ret.u.r[i] = imaginary ? cimag(x.u.c[i]) : creal(x.u.c[i]);
    return ret;
}

static bool convolve(struct kernel *k, struct dense x, struct dense weight, struct dense y)
{
    struct conv_walk c;
    if (!read_conv_walk(k, &x, &y, &weight, &c))
        return false;
    if (c.transposed)
        walk_conv(k, &c, TO_INPUT, y.u.r, x.u.r, weight.u.r);
    else
        walk_conv(k, &c, TO_OUTPUT, x.u.r, y.u.r, weight.u.r);
    return true;
}

static struct dense convolve_complex(struct kernel *k, struct dense x, struct dense weight,
                                     struct dense like)
{
    struct dense ret = dense_new(k, DENSE_COMPLEX, like.size, like.ndim);
    for (int i = 0; i < 4; i++) {
        struct dense y = dense_new(k, DENSE_REAL, like.size, like.ndim);
        convolve(k, complex_part(k, x, i & 1), complex_part(k, weight, i & 2), y);
        static const int re[] = { 1, 0, 0, -1 }, im[] = { 0, 1, 1, 0 };
        for (int64_t j = 0; j < ret.n && !k->failed; j++)
            ret.u.c[j] += complex_of(re[i] * y.u.r[j], im[i] * y.u.r[j]);
    }
    return ret;
}

static void add_channel_bias(struct kernel *k, struct dense y)
{
    if (!has_arg(k, "bias") || y.ndim < 2)
        return;
    struct dense bias = load_as(k, tensor_arg(k, "bias"), y.kind);
    int64_t inner = y.size[0] && y.size[1] ? y.n / y.size[0] / y.size[1] : 1;
    for (int64_t i = 0; i < y.n && !k->failed; i++) {
        if (y.kind == DENSE_REAL)
            y.u.r[i] += bias.u.r[i / inner % y.size[1]];
        else
            y.u.c[i] += bias.u.c[i / inner % y.size[1]];
    }
}

void kernel_convolution(struct kernel *k)
{
    struct dense weight = load_tensor(k, tensor_arg(k, "weight"));
    struct dense x = with_batch(
        load_tensor(k, tensor_arg(k, has_arg(k, "input") ? "input" : "self")), weight.ndim);
    struct dense y = with_batch(like_result(k, 0, DENSE_REAL), weight.ndim);
    if (x.kind == DENSE_COMPLEX)
        y = convolve_complex(k, x, weight, y);
    else if (!convolve(k, dense_convert(k, x, DENSE_REAL), dense_convert(k, weight, DENSE_REAL), y))
        kernel_fail(k, "a convolution of %u dimensions", x.ndim);
    add_channel_bias(k, y);
    store_tensor(k, result(k, 0), y);
}

/* Results: the gradients of input, weight and bias, each if output_mask requests it. */
void kernel_convolution_backward(struct kernel *k)
{
    struct dense g = load_as(k, tensor_arg(k, "grad_output"), DENSE_REAL);
    struct dense weight = load_as(k, tensor_arg(k, "weight"), DENSE_REAL);
    struct dense x = with_batch(load_as(k, tensor_arg(k, "input"), DENSE_REAL), weight.ndim);
    struct conv_walk c;
    g = with_batch(g, weight.ndim);
    if (!read_conv_walk(k, &x, &g, &weight, &c))
        return;
    if (result(k, 0).meta) {
        struct dense to = dense_new(k, DENSE_REAL, x.size, x.ndim);
        if (c.transposed)
            walk_conv(k, &c, TO_OUTPUT, g.u.r, to.u.r, weight.u.r);
        else
            walk_conv(k, &c, TO_INPUT, to.u.r, g.u.r, weight.u.r);
        store_tensor(k, result(k, 0), to);
    }
    if (result(k, 1).meta) {
        struct dense to = dense_new(k, DENSE_REAL, weight.size, weight.ndim);
        walk_conv(k, &c, TO_WEIGHT, c.transposed ? g.u.r : x.u.r, c.transposed ? x.u.r : g.u.r,
                  to.u.r);
        store_tensor(k, result(k, 1), to);
    }
    if (result(k, 2).meta) {
        struct dense to = dense_new(k, DENSE_REAL, &g.size[1], 1);
        int64_t inner = g.size[0] && g.size[1] ? g.n / g.size[0] / g.size[1] : 1;
        for (int64_t i = 0; i < g.n && !k->failed; i++)
            to.u.r[i / inner % g.size[1]] += g.u.r[i];
        store_tensor(k, result(k, 2), to);
    }
}

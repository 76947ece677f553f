/* Recurrent layers as nn.LSTM, GRU and RNN call them, with all steps, layers and directions
 * (aten/src/ATen/native/RNN.cpp). */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/linalg/matmul.h"

enum cell { CELL_LSTM, CELL_GRU, CELL_TANH, CELL_RELU };

struct layer {
    enum cell cell;
    int64_t steps, batch, in, hidden, gates;
    int64_t out; /* the width of the output; less than `hidden` if it is projected */
    const double *w_in, *w_hidden, *b_in, *b_hidden, *w_out; /* transposed; NULL: none */
};

struct layer_weights {
    const struct kernel_value *items;
    uint32_t n, each, at;
    bool biased;
};

/* Returns the transposed matrix [rows, columns]. */
static double *transposed(struct kernel *k, struct dense w)
{
    int64_t rows = w.ndim == 2 ? w.size[0] : 0, columns = w.ndim == 2 ? w.size[1] : 0;
    double *ret = workspace(k, w.n, sizeof *ret);
    for (int64_t i = 0; i < rows * columns && !k->failed; i++)
        ret[i % columns * rows + i / columns] = w.u.r[i];
    return ret;
}

static struct dense weight_at(struct kernel *k, const struct layer_weights *w, uint32_t i)
{
    if (w->at + i < w->n)
        return load_value(k, w->items[w->at + i], DENSE_REAL);
    kernel_fail(k, "a recurrent layer has too few weights");
    return (struct dense){ 0 };
}

static void layer_of(struct kernel *k, const struct layer_weights *w, struct layer *l)
{
    struct dense in = weight_at(k, w, 0), hidden = weight_at(k, w, 1);
    if (k->failed || in.ndim != 2 || hidden.ndim != 2)
        return;
    l->in = in.size[1];
    l->out = hidden.size[1];
    l->hidden = in.size[0] / l->gates;
    l->w_in = transposed(k, in);
    l->w_hidden = transposed(k, hidden);
    l->b_in = w->biased ? weight_at(k, w, 2).u.r : NULL;
    l->b_hidden = w->biased ? weight_at(k, w, 3).u.r : NULL;
    l->w_out = w->each > (w->biased ? 4u : 2u) ? transposed(k, weight_at(k, w, w->each - 1)) : NULL;
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static void gates_of(const double *x, const double *w, const double *bias, double *to, int64_t rows,
                     int64_t n, int64_t inner)
{
    for (int64_t i = 0; i < rows * n; i++)
        to[i] = bias ? bias[i % n] : 0;
    multiply_matrices(x, w, to, rows, n, inner);
}

/* Computes one step of one row. x, h: the gates of the input and of the hidden state. */
static void cell_step(const struct layer *l, const double *x, const double *h, double *state,
                      double *memory)
{
    for (int64_t i = 0, n = l->hidden; i < n; i++) {
        if (l->cell == CELL_LSTM) {
            double in = sigmoid(x[i] + h[i]), keep = sigmoid(x[n + i] + h[n + i]);
            double out = sigmoid(x[3 * n + i] + h[3 * n + i]);
            memory[i] = keep * memory[i] + in * tanh(x[2 * n + i] + h[2 * n + i]);
            state[i] = out * tanh(memory[i]);
        } else if (l->cell == CELL_GRU) {
            double reset = sigmoid(x[i] + h[i]), update = sigmoid(x[n + i] + h[n + i]);
            double new = tanh(x[2 * n + i] + reset * h[2 * n + i]);
            state[i] = (state[i] - new) * update + new;
        } else {
            double sum = x[i] + h[i];
            state[i] = l->cell == CELL_TANH ? tanh(sum) : sum > 0 ? sum : 0;
        }
    }
}

/* Runs all steps of one direction, from x [steps, batch, in] to columns of y [steps, batch, width].
 * h and c are updated to the state after the last step. */
static void run_layer(struct kernel *k, const struct layer *l, const double *x, double *y,
                      int64_t width, double *h, double *c, bool back)
{
    int64_t n = l->gates * l->hidden;
    double *from_x = workspace(k, l->batch * n, sizeof *from_x);
    double *from_h = workspace(k, l->batch * n, sizeof *from_h);
    double *state = workspace(k, l->batch * l->hidden, sizeof *state);
    for (int64_t step = 0; step < l->steps && !k->failed; step++) {
        int64_t t = back ? l->steps - 1 - step : step;
        gates_of(x + t * l->batch * l->in, l->w_in, l->b_in, from_x, l->batch, n, l->in);
        gates_of(h, l->w_hidden, l->b_hidden, from_h, l->batch, n, l->out);
        for (int64_t b = 0; b < l->batch; b++) {
            double *s = l->w_out ? state + b * l->hidden : h + b * l->out;
            cell_step(l, from_x + b * n, from_h + b * n, s, c ? c + b * l->hidden : NULL);
        }
        if (l->w_out)
            gates_of(state, l->w_out, NULL, h, l->batch, l->out, l->hidden);
        for (int64_t b = 0; b < l->batch; b++)
            memcpy(y + (t * l->batch + b) * width, h + b * l->out, (size_t)l->out * sizeof *y);
    }
}

/* Applies dropout between layers, in training, with PyTorch's distribution but not its values. */
static void apply_dropout(struct kernel *k, double *x, int64_t n, double p, struct random *r)
{
    for (int64_t i = 0; i < n && !k->failed; i++)
        x[i] = p < 1 && random_uniform(r) >= p ? x[i] / (1 - p) : 0;
}

static struct dense time_first(struct kernel *k, struct dense x)
{
    return dense_permute(k, x, (const uint32_t[]){ 1, 0, 2 });
}

/* PARAM: enum cell. hx: the hidden states of all layers and directions, for an LSTM also the cell
 * states. */
void kernel_recurrent(struct kernel *k)
{
    enum cell cell = (enum cell)k->row->param;
    struct dense x = load_as(k, tensor_arg(k, "input"), DENSE_REAL), h, c = { 0 };
    const struct kernel_value *states = NULL;
    bool first = bool_arg(k, "batch_first", false);
    struct layer_weights w = { .biased = bool_arg(k, "has_biases", true) };
    w.n = list_arg(k, "params", &w.items);
    int64_t directions = bool_arg(k, "bidirectional", false) ? 2 : 1;
    int64_t layers = int_arg(k, "num_layers", 1), cells = layers * directions;
    if (cell == CELL_LSTM && list_arg(k, "hx", &states) == 2) {
        h = load_value(k, states[0], DENSE_REAL);
        c = load_value(k, states[1], DENSE_REAL);
    } else {
        h = load_as(k, tensor_arg(k, "hx"), DENSE_REAL);
    }
    if (first && x.ndim == 3)
        x = time_first(k, x);
    if (k->failed || x.ndim != 3 || h.ndim != 3 || cells < 1 || h.size[0] != cells || !w.n) {
        kernel_fail(k, "a recurrent layer has different sizes");
        return;
    }
    w.each = w.n / (uint32_t)cells;
    struct random random = random_of(k);
    for (int64_t i = 0; i < layers && !k->failed; i++) {
        int64_t width = directions * h.size[2];
        struct dense y =
            dense_new(k, DENSE_REAL, (const int64_t[]){ x.size[0], x.size[1], width }, 3);
        for (int64_t d = 0; d < directions && !k->failed; d++, w.at += w.each) {
            struct layer l = { .cell = cell,
                               .steps = x.size[0],
                               .batch = x.size[1],
                               .gates = cell == CELL_LSTM  ? 4
                                        : cell == CELL_GRU ? 3
                                                           : 1 };
            layer_of(k, &w, &l);
            if (k->failed || l.in != x.size[2] || l.out != h.size[2] || l.batch != h.size[1]) {
                kernel_fail(k, "the weights have different sizes");
                return;
            }
            int64_t at = i * directions + d;
            run_layer(k, &l, x.u.r, y.u.r + d * l.out, width, h.u.r + at * l.batch * l.out,
                      c.u.r ? c.u.r + at * l.batch * l.hidden : NULL, d == 1);
        }
        if (i + 1 < layers && bool_arg(k, "train", false) && real_arg(k, "dropout", 0) > 0)
            apply_dropout(k, y.u.r, y.n, real_arg(k, "dropout", 0), &random);
        x = y;
    }
    store_tensor(k, result(k, 0), first ? time_first(k, x) : x);
    store_tensor(k, result(k, 1), h);
    if (cell == CELL_LSTM)
        store_tensor(k, result(k, 2), c);
}

/* Graphs of the fake libcudnn: products, pointwise operations, reductions and transposes, one after
 * the other in double; and which of them its engines of attention take. */
#include <math.h>

#include "tests/cuda/fake_cudnn.h"

enum { NDIM = 4, MOST_STEPS = 32, MOST_TENSORS = 64 };

struct kept_tensor {
    int64_t id, type, alignment, size[NDIM], stride[NDIM];
    bool virtual, by_value;
    double *values; /* in order, as long as the graph runs */
};

struct kept_step {
    int kind, mode, axis;
    int x, b, t, y; /* tensors; -1: none. Of a product: a, b and c are x, b and y */
};

struct kept_graph {
    struct kept_tensor tensors[MOST_TENSORS];
    struct kept_step steps[MOST_STEPS];
    int n_tensors, n_steps;
};

/* ---- Checks ---- */

static const struct object *tensor_of(const struct object *operation, int name)
{
    return object(operation, name, CUDNN_TENSOR);
}

static int64_t size_of(const struct object *x, int d)
{
    CHECK(find(x, TENSOR_SIZES)->n == NDIM, "dimensions");
    return integer(x, TENSOR_SIZES, d);
}

static void check_product(const struct object *x)
{
    const struct object *a = tensor_of(x, PRODUCT_A), *b = tensor_of(x, PRODUCT_A + 1);
    const struct object *c = tensor_of(x, PRODUCT_A + 2);
    const struct object *of = object(x, PRODUCT_A + 3, CUDNN_PRODUCT_OF);
    CHECK(integer(of, PRODUCT_COMPUTE, 0) == CUDNN_F32, "compute");
    CHECK(size_of(a, 3) == size_of(b, 2) && size_of(a, 2) == size_of(c, 2) &&
              size_of(b, 3) == size_of(c, 3),
          "sizes");
    CHECK(size_of(a, 0) == size_of(c, 0) && size_of(b, 0) == size_of(c, 0) &&
              size_of(a, 1) == size_of(c, 1) && size_of(c, 1) % size_of(b, 1) == 0,
          "batches and heads");
    CHECK(integer(a, TENSOR_TYPE, 0) == integer(b, TENSOR_TYPE, 0) ||
              (has(a, TENSOR_IS_VIRTUAL) && integer(a, TENSOR_TYPE, 0) == CUDNN_F32),
          "types");
}

static void check_point(const struct object *x)
{
    const struct object *of = object(x, POINT_DESCRIPTOR, CUDNN_POINT_OF);
    const struct object *in = tensor_of(x, POINT_X), *out = tensor_of(x, POINT_Y);
    int64_t mode = integer(of, POINT_MODE, 0);
    bool unary = mode == POINT_EXP || mode == POINT_LOG || mode == POINT_INDEX;
    CHECK(has(x, POINT_B) == !unary && has(x, POINT_T) == (mode == POINT_SELECT), "mode %d",
          (int)mode);
    CHECK(has(of, POINT_AXIS) == (mode == POINT_INDEX), "axis");
    for (int d = 0; d < NDIM; d++) {
        int64_t n = size_of(in, d), m = unary ? 1 : size_of(tensor_of(x, POINT_B), d);
        CHECK((n == m || n == 1 || m == 1) && size_of(out, d) == (n > m ? n : m), "dimension %d",
              d);
    }
    if (mode == POINT_GE)
        CHECK(integer(out, TENSOR_TYPE, 0) == CUDNN_BOOL, "type of a comparison");
    if (mode == POINT_SELECT)
        CHECK(integer(tensor_of(x, POINT_T), TENSOR_TYPE, 0) == CUDNN_BOOL, "type of a choice");
}

void check_graph_operation(const struct object *x)
{
    if (x->kind == CUDNN_PRODUCT) {
        check_product(x);
    } else if (x->kind == CUDNN_POINT) {
        check_point(x);
    } else if (x->kind == CUDNN_REDUCTION) {
        const struct object *in = tensor_of(x, REDUCTION_X), *out = tensor_of(x, REDUCTION_X + 1);
        object(x, REDUCTION_X + 2, CUDNN_REDUCTION_OF);
        for (int d = 0; d < NDIM; d++)
            CHECK(size_of(in, d) % size_of(out, d) == 0, "dimension %d", d);
    } else {
        const struct object *in = tensor_of(x, RESHAPE_X), *out = tensor_of(x, RESHAPE_X + 1);
        CHECK(size_of(in, 0) == size_of(out, 0) && size_of(in, 1) == size_of(out, 1) &&
                  size_of(in, 2) == size_of(out, 3) && size_of(in, 3) == size_of(out, 2),
              "sizes");
    }
}

/* ---- What is kept ---- */

static int add_tensor(struct kept_graph *g, const struct object *operation, int name)
{
    if (!has(operation, name))
        return -1;
    const struct object *x = tensor_of(operation, name);
    struct kept_tensor t = { .id = integer(x, TENSOR_ID, 0),
                             .type = integer(x, TENSOR_TYPE, 0),
                             .alignment = integer(x, TENSOR_ALIGNMENT, 0) };
    t.virtual = has(x, TENSOR_IS_VIRTUAL) && integer(x, TENSOR_IS_VIRTUAL, 0);
    t.by_value = has(x, TENSOR_IS_BY_VALUE) && integer(x, TENSOR_IS_BY_VALUE, 0);
    for (int d = 0; d < NDIM; d++) {
        t.size[d] = size_of(x, d);
        t.stride[d] = integer(x, TENSOR_STRIDES, d);
    }
    for (int i = 0; i < g->n_tensors; i++)
        if (g->tensors[i].id == t.id) {
            CHECK(memcmp(t.size, g->tensors[i].size, sizeof t.size) == 0 &&
                      t.type == g->tensors[i].type,
                  "two tensors of id %d", (int)t.id);
            return i;
        }
    CHECK(g->n_tensors < MOST_TENSORS, "tensors");
    g->tensors[g->n_tensors] = t;
    return g->n_tensors++;
}

static struct kept_step step_of(struct kept_graph *g, const struct object *x)
{
    struct kept_step s = { .kind = x->kind, .b = -1, .t = -1 };
    if (x->kind == CUDNN_PRODUCT) {
        s.x = add_tensor(g, x, PRODUCT_A);
        s.b = add_tensor(g, x, PRODUCT_A + 1);
        s.y = add_tensor(g, x, PRODUCT_A + 2);
    } else if (x->kind == CUDNN_POINT) {
        const struct object *of = object(x, POINT_DESCRIPTOR, CUDNN_POINT_OF);
        s.mode = (int)integer(of, POINT_MODE, 0);
        s.axis = has(of, POINT_AXIS) ? (int)integer(of, POINT_AXIS, 0) : -1;
        s.x = add_tensor(g, x, POINT_X);
        s.b = add_tensor(g, x, POINT_B);
        s.t = add_tensor(g, x, POINT_T);
        s.y = add_tensor(g, x, POINT_Y);
    } else if (x->kind == CUDNN_REDUCTION) {
        s.mode = (int)integer(object(x, REDUCTION_X + 2, CUDNN_REDUCTION_OF), REDUCTION_MODE, 0);
        s.x = add_tensor(g, x, REDUCTION_X);
        s.y = add_tensor(g, x, REDUCTION_X + 1);
    } else {
        CHECK(x->kind == CUDNN_RESHAPE, "kind %d", x->kind);
        s.x = add_tensor(g, x, RESHAPE_X);
        s.y = add_tensor(g, x, RESHAPE_X + 1);
    }
    return s;
}

void *keep_graph(const struct object *graph)
{
    const struct attribute *operations = find(graph, GRAPH_OPERATIONS);
    struct kept_graph *g = calloc(1, sizeof *g);
    CHECK(g && operations->n <= MOST_STEPS, "%d operations", (int)operations->n);
    for (int64_t i = 0; i < operations->n; i++)
        g->steps[g->n_steps++] = step_of(g, operations->u.p[i]);
    return g;
}

void drop_graph(void *kept)
{
    free(kept);
}

/* ---- The pattern ---- */

static int count(const struct kept_graph *g, int kind, int mode)
{
    int n = 0;
    for (int i = 0; i < g->n_steps; i++)
        n += g->steps[i].kind == kind && (mode < 0 || g->steps[i].mode == mode);
    return n;
}

/* What cuDNN 9.14 was seen to ask for: depths that 8 divides; of a forward its logarithms. */
bool check_attention(const struct object *graph)
{
    struct kept_graph *g = keep_graph(graph);
    const struct kept_step *first = &g->steps[0];
    bool forward = first->kind == CUDNN_PRODUCT, takes = true;
    if (forward) {
        const struct kept_tensor *key = &g->tensors[first->b];
        CHECK(count(g, CUDNN_PRODUCT, -1) == 2 && count(g, CUDNN_REDUCTION, REDUCTION_MAX) == 1 &&
                  count(g, CUDNN_REDUCTION, REDUCTION_SUM) == 1 &&
                  count(g, CUDNN_POINT, POINT_EXP) == 1 && count(g, CUDNN_POINT, POINT_LOG) == 1 &&
                  count(g, CUDNN_POINT, POINT_DIV) == 1,
              "the pattern of a forward");
        const struct kept_step *last = &g->steps[g->n_steps - 1];
        CHECK(last->kind == CUDNN_PRODUCT && g->tensors[last->x].virtual &&
                  g->tensors[last->x].type == g->tensors[last->b].type &&
                  !g->tensors[last->y].virtual,
              "the last product");
        CHECK(key->stride[2] == 1, "keys that are not turned");
        takes = key->size[2] % 8 == 0 && g->tensors[last->b].size[3] % 8 == 0;
    } else {
        CHECK(count(g, CUDNN_PRODUCT, -1) == 5 && count(g, CUDNN_RESHAPE, -1) == 3 &&
                  count(g, CUDNN_POINT, POINT_EXP) == 1 &&
                  count(g, CUDNN_REDUCTION, REDUCTION_SUM) >= 1,
              "the pattern of a backward");
        takes = g->tensors[first->x].size[3] % 8 == 0;
    }
    drop_graph(g);
    return takes;
}

/* ---- Execution ---- */

static int64_t count_of(const struct kept_tensor *t)
{
    return t->size[0] * t->size[1] * t->size[2] * t->size[3];
}

static void split(const struct kept_tensor *t, int64_t i, int64_t *at)
{
    for (int d = NDIM; d-- > 0; i /= t->size[d])
        at[d] = i % t->size[d];
}

/* Dimensions of 1 are broadcast; fewer heads stand for groups of them. */
static double value_at(const struct kept_tensor *t, const int64_t *at, const struct kept_tensor *of)
{
    int64_t i = 0;
    for (int d = 0; d < NDIM; d++)
        i = i * t->size[d] + (t->size[d] == of->size[d] ? at[d]
                              : t->size[d] == 1         ? 0
                                                        : at[d] * t->size[d] / of->size[d]);
    return t->values[i];
}

static void load(struct kept_tensor *t, const struct object *pack)
{
    void *p = pointer_of(pack, t->id);
    int64_t at[NDIM];
    CHECK(!t->virtual, "tensor %d is read before it is written", (int)t->id);
    CHECK(p && (uintptr_t)p % (uintptr_t)t->alignment == 0, "pointer of tensor %d", (int)t->id);
    t->values = calloc((size_t)count_of(t), sizeof *t->values);
    CHECK(t->values, "no memory");
    for (int64_t i = 0; i < count_of(t); i++) {
        split(t, i, at);
        int64_t offset = 0;
        for (int d = 0; d < NDIM; d++)
            offset += at[d] * t->stride[d];
        t->values[i] =
            t->by_value ? (double)*(const float *)p : load_real(dtype_of_type(t->type), p, offset);
    }
}

static void store(const struct kept_tensor *t, const struct object *pack)
{
    void *p = pointer_of(pack, t->id);
    int64_t at[NDIM];
    CHECK(p && !t->by_value, "pointer of tensor %d", (int)t->id);
    for (int64_t i = 0; i < count_of(t); i++) {
        split(t, i, at);
        int64_t offset = 0;
        for (int d = 0; d < NDIM; d++)
            offset += at[d] * t->stride[d];
        store_real(dtype_of_type(t->type), p, offset, t->values[i]);
    }
}

static double point(const struct kept_step *s, double x, double b, double t, const int64_t *at)
{
    switch (s->mode) {
    case POINT_ADD: return x + b;
    case POINT_MUL: return x * b;
    case POINT_DIV: return x / b;
    case POINT_SUB: return x - b;
    case POINT_EXP: return exp(x);
    case POINT_LOG: return log(x);
    case POINT_GE: return x >= b;
    case POINT_INDEX: return (double)at[s->axis];
    default: CHECK(s->mode == POINT_SELECT, "mode %d", s->mode); return t != 0 ? x : b;
    }
}

static void multiply(const struct kept_tensor *a, const struct kept_tensor *b,
                     struct kept_tensor *c)
{
    int64_t at[NDIM];
    for (int64_t i = 0; i < count_of(c); i++) {
        split(c, i, at);
        int64_t rows = at[0] * a->size[1] + at[1] * a->size[1] / c->size[1];
        int64_t columns = at[0] * b->size[1] + at[1] * b->size[1] / c->size[1];
        for (int64_t l = 0; l < a->size[3]; l++)
            c->values[i] += a->values[(rows * a->size[2] + at[2]) * a->size[3] + l] *
                            b->values[(columns * b->size[2] + l) * b->size[3] + at[3]];
    }
}

static void reduce(const struct kept_step *s, const struct kept_tensor *x, struct kept_tensor *y)
{
    int64_t at[NDIM];
    for (int64_t i = 0; s->mode == REDUCTION_MAX && i < count_of(y); i++)
        y->values[i] = -INFINITY;
    for (int64_t i = 0; i < count_of(x); i++) {
        int64_t to = 0;
        split(x, i, at);
        for (int d = 0; d < NDIM; d++)
            to = to * y->size[d] + at[d] * y->size[d] / x->size[d];
        y->values[to] = s->mode == REDUCTION_MAX ? fmax(y->values[to], x->values[i])
                                                 : y->values[to] + x->values[i];
    }
}

static void run_step(struct kept_graph *g, const struct kept_step *s, const struct object *pack)
{
    const int inputs[] = { s->x, s->b, s->t };
    struct kept_tensor *x = &g->tensors[s->x], *y = &g->tensors[s->y];
    struct kept_tensor *b = s->b < 0 ? NULL : &g->tensors[s->b];
    struct kept_tensor *t = s->t < 0 ? NULL : &g->tensors[s->t];
    int64_t at[NDIM];
    for (int i = 0; i < 3; i++)
        if (inputs[i] >= 0 && !g->tensors[inputs[i]].values)
            load(&g->tensors[inputs[i]], pack);
    CHECK(!y->values, "tensor %d is written twice", (int)y->id);
    y->values = calloc((size_t)count_of(y), sizeof *y->values);
    CHECK(y->values, "no memory");
    if (s->kind == CUDNN_PRODUCT)
        multiply(x, b, y);
    else if (s->kind == CUDNN_REDUCTION)
        reduce(s, x, y);
    for (int64_t i = 0; i < count_of(y); i++) {
        split(y, i, at);
        if (s->kind == CUDNN_POINT)
            y->values[i] = point(s, value_at(x, at, y), b ? value_at(b, at, y) : 0,
                                 t ? value_at(t, at, y) : 0, at);
        else if (s->kind == CUDNN_RESHAPE)
            y->values[i] =
                x->values[((at[0] * x->size[1] + at[1]) * x->size[2] + at[3]) * x->size[3] + at[2]];
    }
    if (!y->virtual)
        store(y, pack);
}

void run_graph(const void *kept, const struct object *pack)
{
    struct kept_graph g = *(const struct kept_graph *)kept;
    for (int i = 0; i < g.n_steps; i++)
        run_step(&g, &g.steps[i], pack);
    for (int i = 0; i < g.n_tensors; i++)
        free(g.tensors[i].values);
}

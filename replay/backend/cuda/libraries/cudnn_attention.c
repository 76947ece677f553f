#include "replay/backend/cuda/libraries/cudnn_attention.h"

struct attention_graph {
    struct cudnn_graph *g;
    const struct cudnn_attention *a;
    void *part[ATTENTION_PARTS];
    int64_t batch, heads, rows, columns; /* of the weights */
};

/* ---- Tensors ---- */

/* Adds a tensor between two operations. */
static void *virtual_tensor(struct attention_graph *x, int32_t type, int64_t heads, int64_t rows,
                            int64_t columns, bool turned)
{
    struct cudnn_tensor t = { .size = { x->batch, heads, rows, columns },
                              .type = type,
                              .ndim = 4,
                              .alignment = 16,
                              .virtual = true };
    t.stride[0] = heads * rows * columns;
    t.stride[1] = rows * columns;
    t.stride[2] = turned ? 1 : columns;
    t.stride[3] = turned ? rows : 1;
    return cudnn_graph_tensor(x->g, &t);
}

static void *weights(struct attention_graph *x, int32_t type)
{
    return virtual_tensor(x, type, x->heads, x->rows, x->columns, false);
}

static void *column(struct attention_graph *x)
{
    return virtual_tensor(x, CUDNN_F32, x->heads, x->rows, 1, false);
}

/* Returns the tensor with its last two dimensions swapped. */
static struct cudnn_tensor transposed_tensor(const struct cudnn_tensor *t)
{
    struct cudnn_tensor ret = *t;
    ret.size[2] = t->size[3], ret.size[3] = t->size[2];
    ret.stride[2] = t->stride[3], ret.stride[3] = t->stride[2];
    return ret;
}

/* Describes the parts; keys, and in the backward values, are transposed for matmuls. */
static void describe_parts(struct attention_graph *x)
{
    const struct cudnn_attention *a = x->a;
    for (int i = 0; i < ATTENTION_PARTS; i++) {
        struct cudnn_tensor t = a->part[i];
        if (!t.ndim)
            continue;
        if (i == ATTENTION_K || (i == ATTENTION_V && a->backward))
            t = transposed_tensor(&t);
        t.id = cudnn_attention_id((enum cudnn_attention_part)i);
        x->part[i] = cudnn_graph_tensor(x->g, &t);
    }
}

/* ---- Steps ---- */

static void *point(struct attention_graph *x, int32_t mode, void *a, void *b)
{
    void *y = weights(x, CUDNN_F32);
    cudnn_graph_point(x->g, mode, CUDNN_F32, a, b, NULL, y);
    return y;
}

/* Masks the columns after column i in row i. */
static void *hide_later(struct attention_graph *x, void *scores)
{
    void *row = weights(x, CUDNN_I32), *at = weights(x, CUDNN_I32), *sees = weights(x, CUDNN_BOOL);
    void *y = weights(x, CUDNN_F32);
    cudnn_graph_index(x->g, 2, scores, row);
    cudnn_graph_index(x->g, 3, scores, at);
    cudnn_graph_point(x->g, POINT_GE, CUDNN_BOOL, row, at, NULL, sees);
    cudnn_graph_point(x->g, POINT_SELECT, CUDNN_F32, scores, x->part[ATTENTION_MASKED], sees, y);
    return y;
}

static void *scores_of(struct attention_graph *x)
{
    void *scores = weights(x, CUDNN_F32);
    cudnn_graph_multiply(x->g, x->part[ATTENTION_Q], x->part[ATTENTION_K], scores);
    scores = point(x, POINT_MUL, scores, x->part[ATTENTION_SCALE]);
    return x->part[ATTENTION_BIAS] ? point(x, POINT_ADD, scores, x->part[ATTENTION_BIAS]) : scores;
}

static void add_forward(struct attention_graph *x)
{
    void *scores = scores_of(x), *most = column(x), *sum = column(x);
    if (x->a->causal)
        scores = hide_later(x, scores);
    cudnn_graph_reduce(x->g, REDUCTION_MAX, scores, most);
    void *e = point(x, POINT_EXP, point(x, POINT_SUB, scores, most), NULL);
    cudnn_graph_reduce(x->g, REDUCTION_SUM, e, sum);
    void *logarithm = column(x), *shares = weights(x, x->a->type);
    cudnn_graph_point(x->g, POINT_LOG, CUDNN_F32, sum, NULL, NULL, logarithm);
    cudnn_graph_point(x->g, POINT_ADD, CUDNN_F32, most, logarithm, NULL, x->part[ATTENTION_STATS]);
    cudnn_graph_point(x->g, POINT_DIV, CUDNN_F32, e, sum, NULL, shares);
    cudnn_graph_multiply(x->g, shares, x->part[ATTENTION_V], x->part[ATTENTION_OUT]);
}

/* ---- The backward ---- */

/* Multiplies the transposed weights with `b`; heads that share a key or value are summed. */
static void multiply_turned(struct attention_graph *x, void *of, void *b, int64_t width,
                            const struct cudnn_tensor *to, void *result)
{
    void *t = virtual_tensor(x, x->a->type, x->heads, x->columns, x->rows, true);
    cudnn_graph_reshape(x->g, of, t);
    if (to->size[1] == x->heads) {
        cudnn_graph_multiply(x->g, t, b, result);
        return;
    }
    void *each = virtual_tensor(x, x->a->type, x->heads, x->columns, width, false);
    cudnn_graph_multiply(x->g, t, b, each);
    cudnn_graph_reduce(x->g, REDUCTION_SUM, each, result);
}

/* Computes part[ATTENTION_SUMS], the sum of grad_out * out for each row. */
static void sum_rows(struct attention_graph *x)
{
    int64_t width = x->a->part[ATTENTION_OUT].size[3];
    void *products = virtual_tensor(x, CUDNN_F32, x->heads, x->rows, width, false),
         *sums = column(x);
    cudnn_graph_point(x->g, POINT_MUL, CUDNN_F32, x->part[ATTENTION_GRAD_OUT],
                      x->part[ATTENTION_OUT], NULL, products);
    cudnn_graph_reduce(x->g, REDUCTION_SUM, products, sums);
    cudnn_graph_point(x->g, POINT_MUL, CUDNN_F32, sums, x->part[ATTENTION_ONE], NULL,
                      x->part[ATTENTION_SUMS]);
}

static void attend_back(struct attention_graph *x)
{
    const struct cudnn_tensor *part = x->a->part;
    sum_rows(x);
    void *scores = point(x, POINT_SUB, scores_of(x), x->part[ATTENTION_STATS]);
    if (x->a->causal)
        scores = hide_later(x, scores);
    void *shares = point(x, POINT_EXP, scores, NULL);
    multiply_turned(x, shares, x->part[ATTENTION_GRAD_OUT], part[ATTENTION_V].size[3],
                    &part[ATTENTION_GRAD_V], x->part[ATTENTION_GRAD_V]);
    void *grad = weights(x, CUDNN_F32);
    cudnn_graph_multiply(x->g, x->part[ATTENTION_GRAD_OUT], x->part[ATTENTION_V], grad);
    grad = point(x, POINT_SUB, grad, x->part[ATTENTION_SUMS]);
    grad = point(x, POINT_MUL, grad, shares);
    grad = point(x, POINT_MUL, grad, x->part[ATTENTION_SCALE]);
    multiply_turned(x, grad, x->part[ATTENTION_Q], part[ATTENTION_Q].size[3],
                    &part[ATTENTION_GRAD_K], x->part[ATTENTION_GRAD_K]);
    struct cudnn_tensor keys = part[ATTENTION_K];
    keys.virtual = true;
    void *k = cudnn_graph_tensor(x->g, &keys);
    cudnn_graph_reshape(x->g, x->part[ATTENTION_K], k);
    cudnn_graph_multiply(x->g, grad, k, x->part[ATTENTION_GRAD_Q]);
}

void cudnn_graph_attend(struct cudnn_graph *g, const struct cudnn_attention *a)
{
    struct attention_graph x = { .g = g,
                                 .a = a,
                                 .batch = a->part[ATTENTION_Q].size[0],
                                 .heads = a->part[ATTENTION_Q].size[1],
                                 .rows = a->part[ATTENTION_Q].size[2],
                                 .columns = a->part[ATTENTION_K].size[2] };
    describe_parts(&x);
    if (a->backward)
        attend_back(&x);
    else
        add_forward(&x);
}

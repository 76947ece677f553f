/* Scaled dot product attention in all the forms that PyTorch has kernels for, and its backward.
 *
 * Dropout is not applied: its values would not be PyTorch's. */
#include <math.h>
#include <string.h>

#include "replay/backend/cpu/kernel.h"

struct attention_call {
    int64_t batch, heads, key_heads, n, m, depth, value_depth; /* n queries, m keys */
    double scale;
    bool causal;
    struct dense q, k, v,
        bias; /* [batch, heads, n or m, depth]; bias [batch, heads, n, m] or none */
};

static struct dense load_real_arg(struct kernel *k, const char *name)
{
    return load_as(k, tensor_arg(k, name), DENSE_REAL);
}

static bool read_attention(struct kernel *k, struct attention_call *a)
{
    memset(a, 0, sizeof *a);
    a->q = load_real_arg(k, "query");
    a->k = load_real_arg(k, "key");
    a->v = load_real_arg(k, "value");
    if (k->failed || a->q.ndim < 3 || a->k.ndim != a->q.ndim || a->v.ndim != a->q.ndim)
        return kernel_fail(k, "attention of %u dimensions", a->q.ndim), false;
    uint32_t last = a->q.ndim - 1;
    a->heads = a->q.size[last - 2];
    a->key_heads = a->k.size[last - 2];
    a->n = a->q.size[last - 1];
    a->m = a->k.size[last - 1];
    a->depth = a->q.size[last];
    a->value_depth = a->v.size[last];
    a->batch = 1;
    for (uint32_t i = 0; i + 2 < last; i++)
        a->batch *= a->q.size[i];
    a->scale = real_arg(k, "scale", 1 / sqrt((double)a->depth));
    a->causal = bool_arg(k, "is_causal", false);
    const char *name = has_arg(k, "attn_bias") ? "attn_bias" : "attn_mask";
    if (!has_arg(k, name) || k->failed)
        return !k->failed;
    struct kernel_tensor mask = tensor_arg(k, name);
    int64_t size[4] = { a->batch, a->heads, a->n, a->m };
    a->bias = load_as(k, mask, DENSE_REAL);
    for (int64_t i = 0; mask.meta->dtype == DTYPE_B8 && i < a->bias.n; i++)
        a->bias.u.r[i] = a->bias.u.r[i] != 0 ? 0 : -INFINITY;
    a->bias = dense_broadcast(k, a->bias, size, 4);
    return !k->failed;
}

/* Returns the head of keys for a head of queries; a head of keys may serve several of them. */
static int64_t key_head_of(const struct attention_call *a, int64_t head)
{
    return head / a->heads * a->key_heads + head % a->heads * a->key_heads / a->heads;
}

/* Computes the scores of query i over the keys. Returns the greatest one. */
static double scores_of(const struct attention_call *a, int64_t head, int64_t i, double *weight)
{
    int64_t key_head = key_head_of(a, head);
    const double *q = a->q.u.r + (head * a->n + i) * a->depth;
    double most = -INFINITY;
    for (int64_t j = 0; j < a->m; j++) {
        const double *x = a->k.u.r + (key_head * a->m + j) * a->depth;
        double dot = 0;
        for (int64_t d = 0; d < a->depth; d++)
            dot += q[d] * x[d];
        weight[j] = dot * a->scale + (a->bias.u.p ? a->bias.u.r[(head * a->n + i) * a->m + j] : 0);
        if (a->causal && j > i)
            weight[j] = -INFINITY;
        most = fmax(most, weight[j]);
    }
    return most;
}

/* Computes the weights of query i over the keys. Returns the logarithm of their divisor. */
static double weights_of(const struct attention_call *a, int64_t head, int64_t i, double *weight)
{
    double most = scores_of(a, head, i, weight), sum = 0;
    for (int64_t j = 0; j < a->m; j++)
        sum += weight[j] = most == -INFINITY ? 0 : exp(weight[j] - most);
    for (int64_t j = 0; j < a->m; j++)
        weight[j] /= sum != 0 ? sum : 1;
    return most + log(sum);
}

static void attend_heads(struct kernel *k, const struct attention_call *a, struct dense out,
                         struct dense lse)
{
    double *weight = workspace(k, a->m, sizeof *weight);
    for (int64_t row = 0; row < a->batch * a->heads * a->n && !k->failed; row++) {
        int64_t head = row / a->n;
        lse.u.r[row] = weights_of(a, head, row % a->n, weight);
        for (int64_t j = 0; j < a->m; j++) {
            const double *v = a->v.u.r + (key_head_of(a, head) * a->m + j) * a->value_depth;
            for (int64_t d = 0; d < a->value_depth; d++)
                out.u.r[row * a->value_depth + d] += weight[j] * v[d];
        }
    }
}

/* Stores the logarithms. Kernels of PyTorch pad their rows. */
static void store_logarithms(struct kernel *k, struct kernel_tensor to,
                             const struct attention_call *a, struct dense lse)
{
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size), last = ndim == 4 && size[3] == 1; /* cuDNN's */
    struct dense out = dense_new(k, DENSE_REAL, size, ndim);
    int64_t padded = ndim ? size[ndim - 1 - last] : 0;
    for (int64_t i = 0; i < lse.n && !k->failed && padded >= a->n; i++)
        if (i / a->n * padded + i % a->n < out.n)
            out.u.r[i / a->n * padded + i % a->n] = lse.u.r[i];
    store_tensor(k, to, out);
}

void kernel_attention(struct kernel *k)
{
    struct attention_call a;
    if (!read_attention(k, &a))
        return;
    int64_t size[] = { a.batch, a.heads, a.n, a.value_depth };
    struct dense out = dense_new(k, DENSE_REAL, size, 4), lse = dense_new(k, DENSE_REAL, size, 3);
    attend_heads(k, &a, out, lse);
    store_tensor(k, result(k, 0), out);
    struct kernel_tensor second = result(k, 1);
    if (n_results(k) > 1 && second.meta && dense_kind_of(second.meta->dtype) == DENSE_REAL)
        store_logarithms(k, second, &a, lse);
}

/* What a forward left for its backward: the output [batch, heads, n, depth], and for each head
 * `padded` logarithms of the divisors of weights. */
struct attention_forward {
    struct dense out, logarithms;
    int64_t padded;
};

/* Reads it. Half precision is rounded, so it is computed again. False: it has to be computed. */
static bool read_forward(struct kernel *k, const struct attention_call *a,
                         struct attention_forward *ret)
{
    struct kernel_tensor out = tensor_arg(k, "out"), logarithms = tensor_arg(k, "logsumexp");
    struct kernel_tensor query = tensor_arg(k, "query");
    int64_t size[TENSOR_MAX_DIM], rows = a->batch * a->heads;
    if (k->failed || dtype_size(query.meta->dtype) < 4 || !out.meta || !logarithms.meta ||
        rows == 0)
        return false;
    uint32_t ndim = tensor_sizes(logarithms, size);
    ndim -= ndim == 4 && size[3] == 1; /* cuDNN's */
    ret->out = load_real_arg(k, "out");
    ret->logarithms = load_real_arg(k, "logsumexp");
    ret->padded = ndim ? size[ndim - 1] : 0;
    return !k->failed && ret->out.n == rows * a->n * a->value_depth && ret->padded >= a->n &&
           ret->logarithms.n == rows * ret->padded;
}

/* Computes the weights of a query from its logarithm. */
static void weights_from(const struct attention_call *a, int64_t head, int64_t i, double logarithm,
                         double *weight)
{
    scores_of(a, head, i, weight);
    for (int64_t j = 0; j < a->m; j++)
        weight[j] = weight[j] == -INFINITY ? 0 : exp(weight[j] - logarithm);
}

/* Returns the output's row times its gradient. */
static double sum_of_output(const struct attention_forward *forward, const double *gradient,
                            int64_t row, int64_t depth)
{
    double sum = 0;
    for (int64_t d = 0; d < depth; d++)
        sum += gradient[d] * forward->out.u.r[row * depth + d];
    return sum;
}

/* Computes the gradients of query, key, value and, if there is one, bias. */
void kernel_attention_backward(struct kernel *k)
{
    struct attention_call a;
    struct attention_forward forward;
    if (!read_attention(k, &a))
        return;
    const bool given = read_forward(k, &a, &forward);
    struct dense g = load_real_arg(k, has_arg(k, "grad_out_") ? "grad_out_" : "grad_out");
    struct dense gq = dense_new(k, DENSE_REAL, a.q.size, a.q.ndim);
    struct dense gk = dense_new(k, DENSE_REAL, a.k.size, a.k.ndim);
    struct dense gv = dense_new(k, DENSE_REAL, a.v.size, a.v.ndim);
    int64_t size[] = { a.batch, a.heads, a.n, a.m };
    struct dense gb = dense_new(k, DENSE_REAL, size, 4);
    double *weight = workspace(k, a.m, sizeof *weight), *slope = workspace(k, a.m, sizeof *slope);
    for (int64_t row = 0; row < a.batch * a.heads * a.n && !k->failed; row++) {
        int64_t head = row / a.n, kh = key_head_of(&a, head);
        const double *go = g.u.r + row * a.value_depth;
        double sum = 0;
        if (given)
            weights_from(&a, head, row % a.n,
                         forward.logarithms.u.r[head * forward.padded + row % a.n], weight);
        else
            weights_of(&a, head, row % a.n, weight);
        for (int64_t j = 0; j < a.m; j++) {
            int64_t at = (kh * a.m + j) * a.value_depth;
            slope[j] = 0;
            for (int64_t d = 0; d < a.value_depth; d++) {
                slope[j] += go[d] * a.v.u.r[at + d];
                gv.u.r[at + d] += weight[j] * go[d];
            }
            sum += weight[j] * slope[j];
        }
        sum = given ? sum_of_output(&forward, go, row, a.value_depth) : sum;
        for (int64_t j = 0; j < a.m; j++) {
            double s = weight[j] * (slope[j] - sum);
            gb.u.r[row * a.m + j] = s;
            for (int64_t d = 0; d < a.depth; d++) {
                gq.u.r[row * a.depth + d] += s * a.scale * a.k.u.r[(kh * a.m + j) * a.depth + d];
                gk.u.r[(kh * a.m + j) * a.depth + d] += s * a.scale * a.q.u.r[row * a.depth + d];
            }
        }
    }
    struct dense all[] = { gq, gk, gv, gb };
    for (uint32_t i = 0; i < 4 && i < n_results(k); i++)
        if (result(k, i).meta)
            store_tensor(k, result(k, i), all[i]);
}

/* _efficient_attention_forward: [batch, n, heads, depth], or sequences stored one after the other
 * with the bounds cu_seqlens_q and _k. */
void kernel_sequences_attention(struct kernel *k)
{
    struct dense q = load_real_arg(k, "query"), x = load_real_arg(k, "key");
    struct dense v = load_real_arg(k, "value");
    struct dense bounds_q = { 0 }, bounds_k = { 0 };
    if (k->failed || q.ndim != 4)
        return;
    if (has_arg(k, "cu_seqlens_q")) {
        bounds_q = load_as(k, tensor_arg(k, "cu_seqlens_q"), DENSE_INT);
        bounds_k = load_as(k, tensor_arg(k, "cu_seqlens_k"), DENSE_INT);
    }
    int64_t heads = q.size[2], depth = q.size[3], n_out = v.size[3];
    int64_t parts = bounds_q.u.p ? bounds_q.n - 1 : q.size[0];
    int64_t size[] = { q.size[0], q.size[1], heads, n_out };
    struct dense out = dense_new(k, DENSE_REAL, size, 4);
    double *weight = workspace(k, x.size[0] * x.size[1], sizeof *weight);
    double scale = real_arg(k, "scale", 1 / sqrt((double)depth));
    bool causal = int_arg(k, "custom_mask_type", 0) != 0;
    for (int64_t p = 0; p < parts && !k->failed; p++) {
        int64_t q0 = bounds_q.u.p ? bounds_q.u.i[p] : p * q.size[1];
        int64_t q1 = bounds_q.u.p ? bounds_q.u.i[p + 1] : q0 + q.size[1];
        int64_t k0 = bounds_k.u.p ? bounds_k.u.i[p] : p * x.size[1];
        int64_t k1 = bounds_k.u.p ? bounds_k.u.i[p + 1] : k0 + x.size[1];
        if (q0 < 0 || q1 > q.size[0] * q.size[1] || k0 < 0 || k1 > x.size[0] * x.size[1]) {
            kernel_fail(k, "sequence %lld is outside of the tensor", (long long)p);
            return;
        }
        for (int64_t row = q0 * heads; row < q1 * heads; row++) {
            int64_t h = row % heads, i = row / heads - q0;
            double most = -INFINITY, sum = 0;
            for (int64_t d = 0; d < n_out; d++) /* sequences may overlap: the last one is stored */
                out.u.r[row * n_out + d] = 0;
            for (int64_t j = 0; j < k1 - k0; j++) {
                double dot = 0;
                for (int64_t d = 0; d < depth; d++)
                    dot += q.u.r[row * depth + d] * x.u.r[((k0 + j) * heads + h) * depth + d];
                weight[j] = causal && j > i ? -INFINITY : dot * scale;
                most = fmax(most, weight[j]);
            }
            for (int64_t j = 0; j < k1 - k0; j++)
                sum += weight[j] = exp(weight[j] - most);
            for (int64_t j = 0; j < k1 - k0; j++)
                for (int64_t d = 0; d < n_out; d++)
                    out.u.r[row * n_out + d] +=
                        weight[j] / sum * v.u.r[((k0 + j) * heads + h) * n_out + d];
        }
    }
    store_tensor(k, result(k, 0), out);
}

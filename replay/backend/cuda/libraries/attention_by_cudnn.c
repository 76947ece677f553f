/* Converts our attention problems to those of cuDNN. */
#include <float.h>
#include <string.h>

#include "replay/backend/cuda/libraries/attention_problem.h"
#include "replay/backend/cuda/libraries/cudnn.h"
#include "replay/backend/cuda/libraries/cudnn_attention.h"
#include "replay/backend/cuda/libraries/cudnn_run.h"

static const float masked = -FLT_MAX, one = 1;

struct attention_setup {
    struct cudnn_attention problem;
    uint64_t at[ATTENTION_PARTS];
    float scale;
};

/* Adds a tensor with contiguous columns. A workspace that is allocated later has the greatest
 * alignment. */
static bool put_attention_tensor(struct attention_setup *t, enum cudnn_attention_part part,
                                 const struct attention_tensor *x, int64_t heads, int64_t rows,
                                 int64_t columns)
{
    struct cudnn_tensor *to = &t->problem.part[part];
    *to = (struct cudnn_tensor){ .size = { t->problem.part[ATTENTION_Q].size[0], heads, rows,
                                           columns },
                                 .type = t->problem.type,
                                 .ndim = 4 };
    const int64_t stride[] = { x->batch, x->head, x->row, x->column };
    int64_t packed = 1;
    for (int d = 4; d-- > 0; packed *= to->size[d]) {
        to->stride[d] = to->size[d] == 1 ? packed : stride[d];
        if (to->size[d] <= 0 || to->stride[d] <= 0)
            return false;
    }
    to->alignment = cudnn_alignment(x->p);
    t->at[part] = x->p;
    return to->stride[3] == 1;
}

static void put_workspace(struct attention_setup *t, enum cudnn_attention_part part, int32_t type,
                          int64_t heads, int64_t rows, int64_t columns)
{
    struct attention_tensor x = {
        .batch = heads * rows * columns, .head = rows * columns, .row = columns, .column = 1
    };
    put_attention_tensor(t, part, &x, heads, rows, columns);
    t->problem.part[part].type = type;
}

static void put_scalar(struct attention_setup *t, enum cudnn_attention_part part)
{
    t->problem.part[part] = (struct cudnn_tensor){ .size = { 1, 1, 1, 1 },
                                                   .stride = { 1, 1, 1, 1 },
                                                   .alignment = 4,
                                                   .type = CUDNN_F32,
                                                   .ndim = 4,
                                                   .by_value = true };
}

/* Adds a bias, which is broadcast along its first two dimensions only. */
static bool put_bias(struct attention_setup *t, const struct cuda_attention *a)
{
    const struct attention_args *x = &a->args;
    int64_t batch = x->bias.batch ? x->batch : 1, heads = x->bias.head ? x->heads : 1;
    if (a->bias != 1)
        return a->bias == 0;
    if (a->bias_dtype != a->dtype || (x->n > 1 && !x->bias.row) ||
        (x->m > 1 && x->bias.column != 1))
        return false;
    put_attention_tensor(t, ATTENTION_BIAS, &x->bias, heads, x->n, x->m);
    struct cudnn_tensor *to = &t->problem.part[ATTENTION_BIAS];
    to->size[0] = batch;
    to->stride[3] = 1;
    to->stride[2] = x->n > 1 ? x->bias.row : x->m;
    to->stride[1] = heads > 1 ? x->bias.head : x->n * to->stride[2];
    to->stride[0] = batch > 1 ? x->bias.batch : heads * to->stride[1];
    return true;
}

static bool attention_problem_of(const struct cuda_attention *a, const struct attention_tensor *out,
                                 struct attention_setup *t)
{
    const struct attention_args *x = &a->args;
    memset(t, 0, sizeof *t);
    if ((a->dtype != DTYPE_F16 && a->dtype != DTYPE_BF16) || x->key_heads < 1 ||
        x->heads % x->key_heads != 0 || !cudnn_type(a->dtype, &t->problem.type))
        return false;
    t->problem.causal = x->causal != 0;
    t->scale = (float)x->scale;
    t->problem.part[ATTENTION_Q].size[0] = x->batch;
    if (!put_attention_tensor(t, ATTENTION_Q, &x->q, x->heads, x->n, x->depth) ||
        !put_attention_tensor(t, ATTENTION_K, &x->k, x->key_heads, x->m, x->depth) ||
        !put_attention_tensor(t, ATTENTION_V, &x->v, x->key_heads, x->m, x->value_depth) ||
        !put_bias(t, a))
        return false;
    if (!out)
        put_workspace(t, ATTENTION_OUT, t->problem.type, x->heads, x->n, x->value_depth);
    else if (!put_attention_tensor(t, ATTENTION_OUT, out, x->heads, x->n, x->value_depth))
        return false;
    put_workspace(t, ATTENTION_STATS, CUDNN_F32, x->heads, x->n, 1);
    put_scalar(t, ATTENTION_SCALE);
    if (t->problem.causal)
        put_scalar(t, ATTENTION_MASKED);
    return true;
}

static void describe_attention(struct cudnn_graph *g, const void *key)
{
    cudnn_graph_attend(g, key);
}

struct cudnn_job cudnn_attention_job(const struct cudnn_attention *key)
{
    return (
        struct cudnn_job){ .kind = CUDNN_ATTENTIONS, .key = key, .describe = describe_attention };
}

static struct cudnn_job job_of(const struct attention_setup *t, const char *name)
{
    struct cudnn_job job = cudnn_attention_job(&t->problem);
    job.name = name;
    for (int i = 0; i < ATTENTION_PARTS; i++) {
        if (!t->problem.part[i].ndim)
            continue;
        job.ids[job.n] = cudnn_attention_id((enum cudnn_attention_part)i);
        job.pointers[job.n++] = i == ATTENTION_SCALE    ? (void *)(uintptr_t)&t->scale
                                : i == ATTENTION_MASKED ? (void *)(uintptr_t)&masked
                                : i == ATTENTION_ONE    ? (void *)(uintptr_t)&one
                                                        : (void *)(uintptr_t)t->at[i];
    }
    return job;
}

/* Allocates workspaces for the parts that have none. */
static void allocate_missing(struct kernel *k, struct attention_setup *t)
{
    for (int i = 0; i < ATTENTION_PARTS; i++) {
        const struct cudnn_tensor *x = &t->problem.part[i];
        size_t n = 1;
        for (int d = 0; d < x->ndim; d++)
            n *= (size_t)x->size[d];
        if (x->ndim && !x->by_value && !t->at[i])
            t->at[i] = cuda_workspace(k, n * (x->type == CUDNN_F32 ? 4 : 2));
    }
}

bool cudnn_attend(struct kernel *k, struct cuda_attention *a)
{
    static const char name[] = "cudnn attention forward";
    struct attention_setup t;
    if (k->failed || !attention_problem_of(a, &a->args.out, &t))
        return false;
    struct cudnn_job job = job_of(&t, name);
    if (!cudnn_takes(k, &job))
        return k->failed;
    allocate_missing(k, &t);
    a->args.logarithms = t.at[ATTENTION_STATS];
    job = job_of(&t, name);
    return cudnn_run(k, &job);
}

static bool put_gradients(struct attention_setup *t, const struct cuda_attention *a)
{
    const struct attention_args *x = &a->args;
    const struct {
        enum cudnn_attention_part part, like;
        const struct attention_tensor *to;
    } gradients[] = { { ATTENTION_GRAD_Q, ATTENTION_Q, &x->grad_q },
                      { ATTENTION_GRAD_K, ATTENTION_K, &x->grad_k },
                      { ATTENTION_GRAD_V, ATTENTION_V, &x->grad_v } };
    if (x->grad_bias.p ||
        !put_attention_tensor(t, ATTENTION_GRAD_OUT, &x->grad_out, x->heads, x->n, x->value_depth))
        return false;
    for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++) {
        const int64_t *size = t->problem.part[gradients[i].like].size;
        if (!gradients[i].to->p)
            put_workspace(t, gradients[i].part, t->problem.type, size[1], size[2], size[3]);
        else if (!put_attention_tensor(t, gradients[i].part, gradients[i].to, size[1], size[2],
                                       size[3]))
            return false;
    }
    put_workspace(t, ATTENTION_SUMS, CUDNN_F32, x->heads, x->n, 1);
    put_scalar(t, ATTENTION_ONE);
    t->problem.backward = true;
    return true;
}

/* Computes the forward again, and then the backward. */
bool cudnn_attend_back(struct kernel *k, const struct cuda_attention *a)
{
    static const char forward[] = "cudnn attention forward", back[] = "cudnn attention backward";
    struct attention_setup there, t;
    if (k->failed || !attention_problem_of(a, NULL, &there))
        return false;
    t = there;
    struct cudnn_job job = job_of(&there, forward);
    if (!put_gradients(&t, a))
        return k->failed;
    bool takes = cudnn_takes(k, &job);
    job = job_of(&t, back);
    takes = cudnn_takes(k, &job) && takes; /* both are asked, so that refine() makes both */
    if (!takes)
        return k->failed;
    allocate_missing(k, &there);
    job = job_of(&there, forward);
    cudnn_run(k, &job);
    t.at[ATTENTION_OUT] = there.at[ATTENTION_OUT];
    t.at[ATTENTION_STATS] = there.at[ATTENTION_STATS];
    allocate_missing(k, &t);
    job = job_of(&t, back);
    return cudnn_run(k, &job);
}

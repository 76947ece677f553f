#include "replay/backend/cuda/cudnn.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/cuda.h"
#include "replay/backend/cuda/cudnn_plan.h"
#include "replay/backend/cuda/key_table.h"

#define MOST_ROOM ((int64_t)1 << 30)

struct plan {
    void *plan; /* NULL: refused */
    int64_t room;
};

struct cudnn {
    struct library library;
    struct cudnn_table table;
    void *handle;
    struct key_table keys;
    vec_of(struct plan) plans;
};

/* ---- Opening ---- */

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct cudnn_table, member), needed },
#include "replay/backend/cuda/cudnn.def"
#undef SYMBOL
};

static bool start(struct cudnn *dnn, struct err *err)
{
    int status = dnn->table.create(&dnn->handle);
    return status == CUDNN_OK ||
           err_set(err, ERR_ENV, "cuDNN: it does not start here: status %d", status);
}

struct cudnn *cudnn_open(struct err *err)
{
    struct cudnn *dnn = calloc(1, sizeof *dnn);
    if (!dnn)
        return err_nomem(err), NULL;
    dnn->keys.key_bytes = sizeof(struct cudnn_problem);
    if (library_open(LIBRARY_CUDNN, 0, &dnn->library, err) &&
        library_load(&dnn->library, symbols, sizeof symbols / sizeof *symbols, &dnn->table, err) &&
        start(dnn, err))
        return dnn;
    cudnn_close(dnn);
    return NULL;
}

void cudnn_close(struct cudnn *dnn)
{
    if (!dnn)
        return;
    for (size_t i = 0; i < dnn->plans.n; i++)
        if (dnn->plans.v[i].plan)
            dnn->table.drop(dnn->plans.v[i].plan);
    if (dnn->handle)
        dnn->table.destroy(dnn->handle);
    vec_release(&dnn->plans);
    key_table_release(&dnn->keys);
    free(dnn);
}

/* A handle and plans of a context that is lost are left behind: to destroy them it would be used. */
static void close_state(struct cuda *cuda)
{
    struct cudnn *dnn = cuda->library_state[LIBRARY_CUDNN];
    if (dnn && err_is_set(&cuda->failures.lost)) {
        dnn->handle = NULL;
        dnn->plans.n = 0;
    }
    cudnn_close(cuda->library_state[LIBRARY_CUDNN]);
    cuda->library_state[LIBRARY_CUDNN] = NULL;
}

/* Opened when it is first asked for; NULL where it cannot be. */
static struct cudnn *state_of(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct err why = { 0 };
    if (!cuda->library_close[LIBRARY_CUDNN]) {
        cuda->library_close[LIBRARY_CUDNN] = close_state;
        double start = cuda_now_us();
        cuda->library_state[LIBRARY_CUDNN] = cudnn_open(&why);
        cuda->base.log.opened += cuda->library_state[LIBRARY_CUDNN] != NULL;
        cuda->base.log.open_ns += (uint64_t)((cuda_now_us() - start) * 1e3);
    }
    return cuda->library_state[LIBRARY_CUDNN];
}

/* ---- Problems ---- */

static bool type_of(enum dtype dtype, int32_t *ret)
{
    static const struct {
        enum dtype dtype;
        int32_t type;
    } types[] = { { DTYPE_F32, CUDNN_F32 }, { DTYPE_F64, CUDNN_F64 },
                  { DTYPE_F16, CUDNN_F16 }, { DTYPE_BF16, CUDNN_BF16 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return *ret = types[i].type, true;
    return false;
}

/* Strides of the sizes without gaps; a dimension of size 1 has whatever the others make it. */
static void packed(const int64_t *size, int n, bool channels_last, int64_t *ret)
{
    int64_t behind = 1;
    if (channels_last)
        ret[1] = 1, behind = size[1];
    for (int d = n - 1; d >= 0; d--)
        if (!channels_last || d != 1)
            ret[d] = behind, behind *= size[d];
}

/* cuDNN takes two dimensions or more: one gains a first of size 1. False: there are gaps. */
static bool tensor_of(const struct conv_side *x, int places, bool channels_last,
                      struct cudnn_tensor *ret)
{
    int64_t stride[CUDNN_DIMS] = { x->at.batch, x->at.channel };
    ret->size[0] = x->batch;
    ret->size[1] = x->channels;
    for (int d = 0; d < places; d++) {
        ret->size[2 + d] = x->size[CONV_DIMS - places + d];
        stride[2 + d] = x->at.place[CONV_DIMS - places + d];
    }
    packed(ret->size, places + 2, channels_last, ret->stride);
    for (int d = 0; d < places + 2; d++)
        if (ret->size[d] != 1 && stride[d] != ret->stride[d])
            return false;
    uint64_t bit = x->at.p & (~x->at.p + 1);
    ret->alignment = bit == 0 || bit > 16 ? 16 : (int64_t)bit;
    return x->at.p != 0;
}

/* All in one order where they allow it, otherwise each in its own. */
static bool tensors_of(const struct cuda_conv *c, struct cudnn_problem *p)
{
    const struct conv_side *from[] = { &c->weight, &c->in, &c->out };
    struct cudnn_tensor *to[] = { &p->weight, &p->in, &p->out };
    for (int last = 0; last < 2; last++) {
        bool all = true;
        for (int i = 0; i < CUDNN_TENSORS; i++)
            all = all && tensor_of(from[i], p->places, last, to[i]);
        if (all)
            return true;
    }
    for (int i = 0; i < CUDNN_TENSORS; i++)
        if (!tensor_of(from[i], p->places, false, to[i]) &&
            !tensor_of(from[i], p->places, true, to[i]))
            return false;
    return true;
}

static bool problem_of(const struct cuda_conv *c, enum conv_part part, struct cudnn_problem *p)
{
    static const int operations[] = { [CONV_TO_OUTPUT] = CUDNN_FORWARD,
                                      [CONV_TO_INPUT] = CUDNN_BACKWARD_DATA,
                                      [CONV_TO_WEIGHT] = CUDNN_BACKWARD_FILTER };
    memset(p, 0, sizeof *p);
    p->places = c->dims < 2 ? 2 : (int32_t)c->dims;
    p->operation = operations[part];
    for (int d = 0; d < p->places; d++) {
        int from = CONV_DIMS - p->places + d;
        p->stride[d] = c->stride[from];
        p->padding[d] = c->padding[from];
        p->dilation[d] = c->dilation[from];
    }
    return type_of(c->in.dtype, &p->type) && tensors_of(c, p);
}

/* ---- Plans ---- */

/* NULL: memory ran out. Refused ones are kept, too. */
static const struct plan *plan_of(struct kernel *k, struct cudnn *dnn, const struct cudnn_problem *p)
{
    uint32_t found = key_table_find(&dnn->keys, p);
    struct plan plan = { 0 };
    int status;
    if (found != KEY_NONE)
        return &dnn->plans.v[found];
    double start = cuda_now_us();
    plan.plan = cudnn_plan(&dnn->table, dnn->handle, p, MOST_ROOM, &plan.room, &status);
    cuda_of(k)->base.log.planned++;
    cuda_of(k)->base.log.plan_ns += (uint64_t)((cuda_now_us() - start) * 1e3);
    if (vec_reserve(&dnn->plans, 1) && key_table_add(&dnn->keys, p)) {
        dnn->plans.v[dnn->plans.n++] = plan;
        return &dnn->plans.v[dnn->plans.n - 1];
    }
    if (plan.plan)
        dnn->table.drop(plan.plan);
    err_nomem(k->err);
    k->failed = true;
    return NULL;
}

static int execute(const struct cudnn *dnn, const struct cuda_conv *c, const struct plan *plan,
                   uint64_t room, void *stream)
{
    const struct cudnn_table *t = &dnn->table;
    const int64_t ids[] = { CUDNN_WEIGHT_ID, CUDNN_IN_ID, CUDNN_OUT_ID };
    void *pointers[] = { (void *)(uintptr_t)c->weight.at.p, (void *)(uintptr_t)c->in.at.p,
                         (void *)(uintptr_t)c->out.at.p };
    void *workspace = (void *)(uintptr_t)room, *pack = NULL;
    int status = t->set_stream(dnn->handle, stream);
    if (status == CUDNN_OK)
        status = t->make(CUDNN_PACK, &pack);
    if (status == CUDNN_OK)
        status = t->set(pack, PACK_IDS, CUDNN_INT64S, CUDNN_TENSORS, ids);
    if (status == CUDNN_OK)
        status = t->set(pack, PACK_POINTERS, CUDNN_POINTERS, CUDNN_TENSORS, pointers);
    if (status == CUDNN_OK)
        status = t->set(pack, PACK_ROOM, CUDNN_POINTERS, 1, &workspace);
    if (status == CUDNN_OK)
        status = t->finish(pack);
    if (status == CUDNN_OK)
        status = t->execute(dnn->handle, plan->plan, pack);
    if (pack)
        t->drop(pack);
    return status;
}

/* cudnnStatus_t by its thousands, since version 9. */
static const char *meaning_of(int status)
{
    switch (status / 1000) {
    case 1: return ": it cannot be used here";
    case 2: return ": a parameter it does not take";
    case 3: return ": not supported";
    case 4: return ": an internal error";
    case 5: return ": the device failed at it";
    default: return "";
    }
}

bool cudnn_convolve(struct kernel *k, const struct cuda_conv *c, enum conv_part part)
{
    static const char *const names[] = { [CONV_TO_OUTPUT] = "cudnn convolution forward",
                                         [CONV_TO_INPUT] = "cudnn convolution backward data",
                                         [CONV_TO_WEIGHT] = "cudnn convolution backward filter" };
    struct cudnn_problem p;
    struct cudnn *dnn = state_of(k);
    void *stream = NULL;
    if (!dnn || !problem_of(c, part, &p))
        return false;
    const struct plan *plan = plan_of(k, dnn, &p);
    if (!plan || !plan->plan)
        return !plan;
    uint64_t room = plan->room ? cuda_room(k, (size_t)plan->room) : 0;
    cuda_library_begin(k, names[part], &stream);
    int status = k->failed ? CUDNN_OK : execute(dnn, c, plan, room, stream);
    if (status != CUDNN_OK) {
        err_set(k->err, ERR_ENV, "%s: status %d%s; $SYMTAPE_CUDA_WITHOUT=cudnn runs without it",
                names[part], status, meaning_of(status));
        k->failed = true;
    }
    cuda_library_end(k);
    return true;
}

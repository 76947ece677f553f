#include "replay/backend/cuda/cudnn_plan.h"

/* Of float32 the first few dozen may all be for tensor cores. */
enum { MOST_CONFIGS = 96 };

static void drop(const struct cudnn_table *t, void *descriptor)
{
    if (descriptor)
        t->drop(descriptor);
}

/* A descriptor in the making: the first failure stays. */
struct making {
    const struct cudnn_table *t;
    void *descriptor;
    int status;
};

static struct making make(const struct cudnn_table *t, int kind)
{
    struct making m = { .t = t };
    m.status = t->make(kind, &m.descriptor);
    return m;
}

static void set(struct making *m, int attribute, int type, int64_t n, const void *values)
{
    if (m->status == CUDNN_OK)
        m->status = m->t->set(m->descriptor, attribute, type, n, values);
}

/* NULL: it failed, and is dropped. */
static void *finish(struct making *m, int *status)
{
    if (m->status == CUDNN_OK)
        m->status = m->t->finish(m->descriptor);
    *status = m->status;
    if (m->status == CUDNN_OK)
        return m->descriptor;
    drop(m->t, m->descriptor);
    return NULL;
}

/* ---- The operation ---- */

static void *make_tensor(const struct cudnn_table *t, const struct cudnn_problem *p,
                         const struct cudnn_tensor *x, int64_t id, int *status)
{
    struct making m = make(t, CUDNN_TENSOR);
    int64_t n = p->places + 2;
    set(&m, TENSOR_TYPE, CUDNN_DATA_TYPES, 1, &p->type);
    set(&m, TENSOR_SIZES, CUDNN_INT64S, n, x->size);
    set(&m, TENSOR_STRIDES, CUDNN_INT64S, n, x->stride);
    set(&m, TENSOR_ID, CUDNN_INT64S, 1, &id);
    set(&m, TENSOR_ALIGNMENT, CUDNN_INT64S, 1, &x->alignment);
    return finish(&m, status);
}

static void *make_convolution(const struct cudnn_table *t, const struct cudnn_problem *p,
                              int *status)
{
    struct making m = make(t, CUDNN_CONVOLUTION_OF);
    int32_t compute = p->type == CUDNN_F64 ? CUDNN_F64 : CUDNN_F32, mode = CUDNN_CORRELATE;
    int64_t n = p->places;
    set(&m, CONVOLUTION_DIMS, CUDNN_INT64S, 1, &n);
    set(&m, CONVOLUTION_COMPUTE, CUDNN_DATA_TYPES, 1, &compute);
    set(&m, CONVOLUTION_MODE, CUDNN_CONVOLUTION_MODES, 1, &mode);
    set(&m, CONVOLUTION_PADDING_BEFORE, CUDNN_INT64S, n, p->padding);
    set(&m, CONVOLUTION_PADDING_BEHIND, CUDNN_INT64S, n, p->padding);
    set(&m, CONVOLUTION_STRIDES, CUDNN_INT64S, n, p->stride);
    set(&m, CONVOLUTION_DILATIONS, CUDNN_INT64S, n, p->dilation);
    return finish(&m, status);
}

void *cudnn_operation(const struct cudnn_table *t, const struct cudnn_problem *p,
                      void *parts[CUDNN_TENSORS + 1], int *status)
{
    int first = p->operation == CUDNN_FORWARD         ? FORWARD_ALPHA
                : p->operation == CUDNN_BACKWARD_DATA ? BACKWARD_DATA_ALPHA
                                                      : BACKWARD_FILTER_ALPHA;
    const struct cudnn_tensor *tensors[] = { &p->weight, &p->in, &p->out };
    bool wide = p->type == CUDNN_F64;
    float one = 1, zero = 0;
    double one_wide = 1, zero_wide = 0;
    int type = wide ? CUDNN_DOUBLES : CUDNN_FLOATS;
    for (int i = 0; i <= CUDNN_TENSORS; i++)
        parts[i] = NULL;
    for (int i = 0; i < CUDNN_TENSORS; i++) {
        parts[i] = make_tensor(t, p, tensors[i], CUDNN_WEIGHT_ID + i, status);
        if (!parts[i])
            return NULL;
    }
    parts[CUDNN_TENSORS] = make_convolution(t, p, status);
    if (!parts[CUDNN_TENSORS])
        return NULL;
    struct making m = make(t, p->operation);
    set(&m, first, type, 1, wide ? (const void *)&one_wide : &one);
    set(&m, first + 1, type, 1, wide ? (const void *)&zero_wide : &zero);
    set(&m, first + 2, CUDNN_DESCRIPTORS, 1, &parts[CUDNN_TENSORS]);
    for (int i = 0; i < CUDNN_TENSORS; i++)
        set(&m, first + 3 + i, CUDNN_DESCRIPTORS, 1, &parts[i]);
    return finish(&m, status);
}

/* ---- Engines ---- */

/* f32 is not rounded to TF32, nothing to less than it is; the same bits each time. */
static bool engine_suits(const struct cudnn_table *t, void *config, bool f32)
{
    void *engine = NULL;
    int32_t notes[NOTES];
    int64_t n = 0;
    bool suits = t->make(CUDNN_ENGINE, &engine) == CUDNN_OK &&
                 t->get(config, CONFIG_ENGINE, CUDNN_DESCRIPTORS, 1, &n, &engine) == CUDNN_OK &&
                 t->get(engine, ENGINE_NOTES, CUDNN_NOTES, NOTES, &n, notes) == CUDNN_OK;
    for (int64_t i = 0; suits && i < n && i < NOTES; i++)
        if (notes[i] == NOTE_ROUNDS_INPUTS || notes[i] == NOTE_ROUNDS_SUMS ||
            notes[i] == NOTE_NOT_REPEATABLE || (f32 && notes[i] == NOTE_TENSOR_CORE))
            suits = false;
    drop(t, engine);
    return suits;
}

static void *plan_of_config(const struct cudnn_table *t, void *handle, void *config, int64_t *room,
                            int *status)
{
    struct making m = make(t, CUDNN_PLAN);
    int64_t n = 0;
    set(&m, PLAN_HANDLE, CUDNN_HANDLES, 1, &handle);
    set(&m, PLAN_CONFIG, CUDNN_DESCRIPTORS, 1, &config);
    void *plan = finish(&m, status);
    if (plan && (*status = t->get(plan, PLAN_ROOM, CUDNN_INT64S, 1, &n, room)) != CUDNN_OK) {
        drop(t, plan);
        plan = NULL;
    }
    return plan;
}

static void *first_plan(const struct cudnn_table *t, void *handle, void *graph, int32_t mode,
                        const struct cudnn_problem *p, int64_t most, int64_t *room, int *status)
{
    struct making m = make(t, CUDNN_HEURISTIC);
    void *configs[MOST_CONFIGS] = { 0 }, *plan = NULL;
    int64_t n = 0;
    set(&m, HEURISTIC_GRAPH, CUDNN_DESCRIPTORS, 1, &graph);
    set(&m, HEURISTIC_MODE, CUDNN_HEURISTIC_MODES, 1, &mode);
    void *heuristic = finish(&m, status);
    for (int i = 0; heuristic && *status == CUDNN_OK && i < MOST_CONFIGS; i++)
        *status = t->make(CUDNN_ENGINE_CONFIG, &configs[i]);
    if (heuristic && *status == CUDNN_OK)
        *status = t->get(heuristic, HEURISTIC_RESULTS, CUDNN_DESCRIPTORS, MOST_CONFIGS, &n, configs);
    for (int64_t i = 0; heuristic && *status == CUDNN_OK && !plan && i < n && i < MOST_CONFIGS;
         i++) {
        int ignored;
        if (!engine_suits(t, configs[i], p->type == CUDNN_F32))
            continue;
        plan = plan_of_config(t, handle, configs[i], room, &ignored);
        if (plan && (*room > most || *room < 0)) {
            drop(t, plan);
            plan = NULL;
        }
    }
    for (int i = 0; i < MOST_CONFIGS; i++)
        drop(t, configs[i]);
    drop(t, heuristic);
    return plan;
}

void *cudnn_plan(const struct cudnn_table *t, void *handle, const struct cudnn_problem *p,
                 int64_t most, int64_t *room, int *status)
{
    void *parts[CUDNN_TENSORS + 1], *graph = NULL, *plan = NULL;
    void *operation = cudnn_operation(t, p, parts, status);
    if (operation) {
        struct making m = make(t, CUDNN_GRAPH);
        set(&m, GRAPH_HANDLE, CUDNN_HANDLES, 1, &handle);
        set(&m, GRAPH_OPERATIONS, CUDNN_DESCRIPTORS, 1, &operation);
        graph = finish(&m, status);
    }
    if (graph)
        plan = first_plan(t, handle, graph, HEURISTIC_BEST, p, most, room, status);
    if (graph && !plan)
        plan = first_plan(t, handle, graph, HEURISTIC_FALLBACK, p, most, room, status);
    drop(t, graph);
    drop(t, operation);
    for (int i = 0; i <= CUDNN_TENSORS; i++)
        drop(t, parts[i]);
    if (!plan && *status == CUDNN_OK)
        *status = CUDNN_NOT_SUPPORTED;
    return plan;
}

/* libcudnn.so.9 for tests: convolutions and attention of the backend API, held to what its
 * documentation asks (a broken rule ends the process), computed plainly, in double, on the memory
 * of the fake driver.
 *
 * Its engines, of which the heuristics offer the first four, the slower one those that are fit
 * for f32 as it is, and none the last, which is the fastest of them:
 *     0 not repeatable   1 converts down   2 tensor cores   3 Winograd   4, 5 nothing to note
 * $FAKE_CUDNN: "slow": each plan of engine 3 takes 20 ms to make, and runs 1 us less than others;
 * "slow, fast": 100 us less; "refuse": it offers none; "broken": execution fails; "absent": it does
 * not start; "left": what is made is known to be left behind, with a context that is lost. */
#include "tests/cuda/fake_cudnn.h"

#include <unistd.h>

#include "tests/cuda/fake_time.h"

enum { HANDLE_KIND = 0x48414e44, ENGINES = 6, OFFERED = 4, ROOM = 1024, KNOB = 3, SLOW = 3 };

static const struct {
    int32_t note;
    double us;
} engines[ENGINES] = { { NOTE_NOT_REPEATABLE, 10 },
                       { NOTE_ROUNDS_INPUTS, 10 },
                       { NOTE_TENSOR_CORE, 1000 },
                       { 5, 5000 },
                       { 9, 4000 },
                       { 9, 3000 } };

static struct object
    *left_behind; /* so that a leak checker finds them; some are dropped, and stay */

/* How many plans took long to make, for tests. */
unsigned fake_cudnn_slow_plans(void);
static unsigned slow_plans;
unsigned fake_cudnn_slow_plans(void)
{
    return slow_plans;
}

static bool has_slow_engine(void)
{
    return wanted("slow") || wanted("slow, fast");
}

static double run_us(int engine)
{
    if (!has_slow_engine())
        return engines[engine].us;
    return engine == SLOW ? 1 : wanted("slow") ? 2 : 101;
}

static struct object *make(int kind)
{
    struct object *x = calloc(1, sizeof *x);
    CHECK(x, "no memory");
    x->kind = kind;
    if (wanted("left")) {
        x->left = left_behind;
        left_behind = x;
    }
    return x;
}

static void drop(struct object *x)
{
    x->kind = -1;
    if (!wanted("left"))
        free(x);
}

struct object *as(const void *p, int kind)
{
    struct object *x = (struct object *)(uintptr_t)p;
    CHECK(x && x->kind == kind, "kind %d wanted, this is %d", kind, x ? x->kind : -1);
    return x;
}

const struct attribute *find(const struct object *x, int name)
{
    for (int i = 0; i < x->n; i++)
        if (x->attributes[i].name == name)
            return &x->attributes[i];
    CHECK(0, "kind %d has no attribute %d", x->kind, name);
    return NULL;
}

int64_t integer(const struct object *x, int name, int i)
{
    return find(x, name)->u.i[i];
}

struct object *object(const struct object *x, int name, int kind)
{
    struct object *ret = as(find(x, name)->u.p[0], kind);
    CHECK(ret->finished, "kind %d is not finished", kind);
    return ret;
}

bool has(const struct object *x, int name)
{
    for (int i = 0; i < x->n; i++)
        if (x->attributes[i].name == name)
            return true;
    return false;
}

enum dtype dtype_of_type(int64_t type)
{
    return type == CUDNN_F64    ? DTYPE_F64
           : type == CUDNN_F32  ? DTYPE_F32
           : type == CUDNN_F16  ? DTYPE_F16
           : type == CUDNN_BF16 ? DTYPE_BF16
           : type == CUDNN_I32  ? DTYPE_I32
                                : DTYPE_B8;
}

void *pointer_of(const struct object *pack, int64_t id)
{
    const struct attribute *ids = find(pack, PACK_IDS);
    for (int64_t i = 0; i < ids->n; i++)
        if (ids->u.i[i] == id)
            return find(pack, PACK_POINTERS)->u.p[i];
    return NULL;
}

static bool is_conv(const struct object *graph)
{
    int kind = ((struct object *)find(graph, GRAPH_OPERATIONS)->u.p[0])->kind;
    return kind >= CUDNN_FORWARD && kind <= CUDNN_BACKWARD_DATA;
}

int cudnnCreate(void **ret);
int cudnnCreate(void **ret)
{
    if (wanted("absent"))
        return 1001;
    *ret = make(HANDLE_KIND);
    return CUDNN_OK;
}

int cudnnDestroy(void *handle);
int cudnnDestroy(void *handle)
{
    drop(as(handle, HANDLE_KIND));
    return CUDNN_OK;
}

int cudnnSetStream(void *handle, void *stream);
int cudnnSetStream(void *handle, void *stream)
{
    as(handle, HANDLE_KIND)->stream = stream;
    return CUDNN_OK;
}

size_t cudnnGetVersion(void);
size_t cudnnGetVersion(void)
{
    return 90000;
}

int cudnnBackendCreateDescriptor(int kind, void **ret);
int cudnnBackendCreateDescriptor(int kind, void **ret)
{
    *ret = make(kind);
    return CUDNN_OK;
}

int cudnnBackendDestroyDescriptor(void *descriptor);
int cudnnBackendDestroyDescriptor(void *descriptor)
{
    struct object *x = descriptor;
    CHECK(x && x->kind >= 0, "destroyed twice");
    if (x->kind == CUDNN_PLAN && x->conv)
        free(x->stream);
    else if (x->kind == CUDNN_PLAN)
        drop_graph(x->stream);
    drop(x);
    return CUDNN_OK;
}

/* ---- Attributes ---- */

static void copy_values(struct attribute *a, const void *values)
{
    for (int64_t i = 0; i < a->n; i++) {
        if (a->type == CUDNN_INT64S)
            a->u.i[i] = ((const int64_t *)values)[i];
        else if (a->type == CUDNN_BOOLS)
            a->u.i[i] = ((const bool *)values)[i];
        else if (a->type == CUDNN_FLOATS)
            a->u.d[i] = (double)((const float *)values)[i];
        else if (a->type == CUDNN_DOUBLES)
            a->u.d[i] = ((const double *)values)[i];
        else if (a->type == CUDNN_POINTERS || a->type == CUDNN_HANDLES ||
                 a->type == CUDNN_DESCRIPTORS)
            a->u.p[i] = ((void *const *)values)[i];
        else
            a->u.i[i] = ((const int32_t *)values)[i];
    }
}

int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t n, const void *values);
int cudnnBackendSetAttribute(void *descriptor, int name, int type, int64_t n, const void *values)
{
    static const struct {
        int kind, from, to;
    } belongs[] = { { CUDNN_POINT_OF, 0, 9 },
                    { CUDNN_CONVOLUTION_OF, 100, 106 },
                    { CUDNN_HEURISTIC, 200, 201 },
                    { CUDNN_ENGINE_CONFIG, 300, 302 },
                    { CUDNN_KNOB_CHOICE, 600, 601 },
                    { CUDNN_PLAN, 400, 401 },
                    { CUDNN_FORWARD, 700, 705 },
                    { CUDNN_BACKWARD_DATA, 706, 711 },
                    { CUDNN_BACKWARD_FILTER, 712, 717 },
                    { CUDNN_POINT, 750, 758 },
                    { CUDNN_GRAPH, 800, 801 },
                    { CUDNN_TENSOR, 900, 908 },
                    { CUDNN_PACK, 1000, 1003 },
                    { CUDNN_ENGINE, 1300, 1301 },
                    { CUDNN_PRODUCT_OF, 1500, 1500 },
                    { CUDNN_PRODUCT, 1520, 1523 },
                    { CUDNN_REDUCTION_OF, 1600, 1601 },
                    { CUDNN_REDUCTION, 1610, 1612 },
                    { CUDNN_RESHAPE, 2200, 2201 } };
    struct object *x = descriptor;
    int found = 0;
    CHECK(x && !x->finished && x->n < MOST_ATTRIBUTES && n > 0 && n <= MOST_VALUES,
          "kind %d, attribute %d, %d values", x ? x->kind : -1, name, (int)n);
    for (size_t i = 0; i < sizeof belongs / sizeof *belongs; i++)
        found |= belongs[i].kind == x->kind && name >= belongs[i].from && name <= belongs[i].to;
    CHECK(found, "attribute %d of kind %d", name, x->kind);
    struct attribute *a = &x->attributes[x->n++];
    *a = (struct attribute){ .name = name, .type = type, .n = n };
    copy_values(a, values);
    return CUDNN_OK;
}

void expect(const struct object *x, int name, int type, int64_t n)
{
    const struct attribute *a = find(x, name);
    CHECK(a->type == type && a->n == n, "attribute %d of kind %d: type %d, %d values", name,
          x->kind, a->type, (int)a->n);
}

static void check_tensor(const struct object *x)
{
    int64_t n = find(x, TENSOR_SIZES)->n;
    CHECK(n >= 4 && n <= 5, "%d dimensions", (int)n);
    expect(x, TENSOR_TYPE, CUDNN_DATA_TYPES, 1);
    expect(x, TENSOR_SIZES, CUDNN_INT64S, n);
    expect(x, TENSOR_STRIDES, CUDNN_INT64S, n);
    expect(x, TENSOR_ID, CUDNN_INT64S, 1);
    expect(x, TENSOR_ALIGNMENT, CUDNN_INT64S, 1);
    for (int d = 0; d < n; d++)
        CHECK(integer(x, TENSOR_SIZES, d) > 0 && integer(x, TENSOR_STRIDES, d) > 0, "dimension %d",
              d);
}

static void check_graph(struct object *x)
{
    const struct attribute *operations = find(x, GRAPH_OPERATIONS);
    if (has(x, GRAPH_HANDLE))
        as(find(x, GRAPH_HANDLE)->u.p[0], HANDLE_KIND);
    for (int64_t i = 0; i < operations->n; i++)
        CHECK(((struct object *)operations->u.p[i])->finished, "operation %d", (int)i);
    x->graph = x;
}

static void check_engine(struct object *x)
{
    x->graph = object(x, ENGINE_GRAPH, CUDNN_GRAPH);
    x->engine = (int)integer(x, ENGINE_INDEX, 0);
    CHECK(x->engine >= 0 && x->engine < ENGINES, "engine %d", x->engine);
}

/* The one setting of every engine is KNOB, whose value is the engine's number. */
static void check_knobs(const struct object *config)
{
    if (!has(config, CONFIG_KNOBS))
        return;
    const struct object *choice = object(config, CONFIG_KNOBS, CUDNN_KNOB_CHOICE);
    expect(config, CONFIG_KNOBS, CUDNN_DESCRIPTORS, 1);
    CHECK(integer(choice, KNOB_TYPE, 0) == KNOB && integer(choice, KNOB_VALUE, 0) == config->engine,
          "knob %d", (int)integer(choice, KNOB_TYPE, 0));
}

/* A plan outlives the descriptors that it was made of: it keeps copies. */
static void check_plan(struct object *x)
{
    as(find(x, PLAN_HANDLE)->u.p[0], HANDLE_KIND);
    const struct object *config = object(x, PLAN_CONFIG, CUDNN_ENGINE_CONFIG);
    int32_t note = engines[config->engine].note;
    CHECK(note != NOTE_NOT_REPEATABLE && note != NOTE_ROUNDS_INPUTS, "engine %d", config->engine);
    if (config->engine == SLOW && has_slow_engine()) {
        usleep(20000);
        slow_plans++;
    }
    x->engine = config->engine;
    x->conv = is_conv(config->graph);
    x->stream = x->conv ? keep_conv(find(config->graph, GRAPH_OPERATIONS)->u.p[0])
                        : keep_graph(config->graph);
}

static void check_pack(const struct object *x)
{
    int64_t n = find(x, PACK_IDS)->n;
    expect(x, PACK_IDS, CUDNN_INT64S, n);
    expect(x, PACK_POINTERS, CUDNN_POINTERS, n);
    expect(x, PACK_ROOM, CUDNN_POINTERS, 1);
}

int cudnnBackendFinalize(void *descriptor);
int cudnnBackendFinalize(void *descriptor)
{
    struct object *x = descriptor;
    CHECK(x && !x->finished, "finished twice");
    switch (x->kind) {
    case CUDNN_TENSOR: check_tensor(x); break;
    case CUDNN_CONVOLUTION_OF: check_convolution(x); break;
    case CUDNN_FORWARD:
    case CUDNN_BACKWARD_FILTER:
    case CUDNN_BACKWARD_DATA: check_conv_operation(x); break;
    case CUDNN_POINT_OF:
    case CUDNN_PRODUCT_OF:
    case CUDNN_REDUCTION_OF: break;
    case CUDNN_POINT:
    case CUDNN_PRODUCT:
    case CUDNN_REDUCTION:
    case CUDNN_RESHAPE: check_graph_operation(x); break;
    case CUDNN_GRAPH: check_graph(x); break;
    case CUDNN_HEURISTIC:
        expect(x, HEURISTIC_MODE, CUDNN_HEURISTIC_MODES, 1);
        x->graph = object(x, HEURISTIC_GRAPH, CUDNN_GRAPH);
        break;
    case CUDNN_ENGINE: check_engine(x); break;
    case CUDNN_ENGINE_CONFIG:
        x->graph = object(x, CONFIG_ENGINE, CUDNN_ENGINE)->graph;
        x->engine = object(x, CONFIG_ENGINE, CUDNN_ENGINE)->engine;
        check_knobs(x);
        break;
    case CUDNN_KNOB_CHOICE:
        expect(x, KNOB_TYPE, CUDNN_KNOB_TYPES, 1);
        expect(x, KNOB_VALUE, CUDNN_INT64S, 1);
        break;
    case CUDNN_PLAN: check_plan(x); break;
    default: CHECK(x->kind == CUDNN_PACK, "kind %d", x->kind); check_pack(x);
    }
    x->finished = 1;
    return CUDNN_OK;
}

static int offer(const struct object *heuristic, int64_t want, int64_t *n, void **configs)
{
    int64_t mode = integer(heuristic, HEURISTIC_MODE, 0);
    int from = mode == HEURISTIC_BEST ? 0 : 3, to = mode == HEURISTIC_BEST ? OFFERED : 5;
    *n = 0;
    if (wanted("refuse") || (!is_conv(heuristic->graph) && !check_attention(heuristic->graph)))
        return CUDNN_OK;
    for (int i = from; i < to && *n < want; i++) {
        struct object *config = as(configs[*n], CUDNN_ENGINE_CONFIG);
        config->engine = i;
        config->finished = 1;
        config->graph = heuristic->graph;
        ++*n;
    }
    return CUDNN_OK;
}

int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t want, int64_t *n,
                             void *values);
int cudnnBackendGetAttribute(void *descriptor, int name, int type, int64_t want, int64_t *n,
                             void *values)
{
    struct object *x = descriptor;
    CHECK(x && x->finished, "not finished");
    *n = 1;
    if (name == HEURISTIC_RESULTS) {
        CHECK(x->kind == CUDNN_HEURISTIC && type == CUDNN_DESCRIPTORS && want > 0, "results");
        return offer(x, want, n, values);
    }
    if (name == CONFIG_ENGINE) {
        CHECK(x->kind == CUDNN_ENGINE_CONFIG && type == CUDNN_DESCRIPTORS && want == 1, "engine");
        struct object *engine = as(*(void **)values, CUDNN_ENGINE);
        engine->engine = x->engine;
        engine->finished = 1;
    } else if (name == CONFIG_KNOBS) {
        CHECK(x->kind == CUDNN_ENGINE_CONFIG && type == CUDNN_DESCRIPTORS && want > 0, "knobs");
        struct object *choice = as(*(void **)values, CUDNN_KNOB_CHOICE);
        choice->engine = x->engine;
        choice->finished = 1;
    } else if (name == KNOB_TYPE) {
        CHECK(x->kind == CUDNN_KNOB_CHOICE && type == CUDNN_KNOB_TYPES && want == 1, "knob");
        *(int32_t *)values = KNOB;
    } else if (name == KNOB_VALUE) {
        CHECK(x->kind == CUDNN_KNOB_CHOICE && type == CUDNN_INT64S && want == 1, "knob");
        *(int64_t *)values = x->engine;
    } else if (name == ENGINE_NOTES) {
        CHECK(x->kind == CUDNN_ENGINE && type == CUDNN_NOTES && want == NOTES, "notes");
        *(int32_t *)values = engines[x->engine].note;
    } else if (name == ENGINE_INDEX) {
        CHECK(x->kind == CUDNN_ENGINE && type == CUDNN_INT64S && want == 1, "index");
        *(int64_t *)values = x->engine;
    } else if (name == GRAPH_ENGINES) {
        CHECK(x->kind == CUDNN_GRAPH && type == CUDNN_INT64S && want == 1, "engines");
        *(int64_t *)values = wanted("refuse") ? 0 : ENGINES;
    } else {
        CHECK(name == PLAN_WORKSPACE && x->kind == CUDNN_PLAN && type == CUDNN_INT64S && want == 1,
              "attribute %d", name);
        *(int64_t *)values = ROOM;
    }
    return CUDNN_OK;
}

/* An execution that was checked: the plan, which outlives it, and a copy of its tensors. */
struct plan_work {
    const struct object *plan;
    struct object pack;
};

static int run_plan(const void *data)
{
    const struct plan_work *w = data;
    const struct object *plan = w->plan;
    memset(find(&w->pack, PACK_ROOM)->u.p[0], 0xff, ROOM);
    if (plan->conv)
        run_conv(plan->stream, &w->pack, engines[plan->engine].note == NOTE_TENSOR_CORE);
    else
        run_graph(plan->stream, &w->pack);
    fake_took(run_us(plan->engine));
    return 0;
}

int cudnnBackendExecute(void *handle, void *plan, void *pack);
int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
    const struct object *p = as(plan, CUDNN_PLAN), *x = as(pack, CUDNN_PACK);
    if (idles())
        return CUDNN_OK;
    CHECK(as(handle, HANDLE_KIND)->stream, "no stream");
    CHECK(p->finished && x->finished && find(x, PACK_ROOM)->u.p[0], "room");
    if (wanted("broken"))
        return CUDNN_EXECUTION;
    const struct plan_work work = { p, *x };
    return fake_queue(as(handle, HANDLE_KIND)->stream, run_plan, &work, sizeof work)
               ? CUDNN_EXECUTION
               : CUDNN_OK;
}

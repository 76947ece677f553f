/* libcudnn.so.9 for tests: convolutions of the backend API, held to what its documentation asks (a
 * broken rule ends the process), computed plainly, in double, on the memory of the fake driver.
 *
 * Its heuristic offers three engines, of which only the last one is exact and repeatable.
 * $FAKE_CUDNN: "refuse": it offers none; "broken": execution fails; "absent": it does not start. */
#define LIBRARY "cudnn"
#define MOOD "FAKE_CUDNN"
#include "tests/cuda/fake_library.h"

#include "replay/backend/cuda/cudnn_abi.h"
#include "replay/backend/elements.h"

enum {
    HANDLE_KIND = 0x48414e44,
    MOST_ATTRIBUTES = 8,
    MOST_VALUES = 8,
    PLACES = 3,
    OFFERED = 3,
    ROOM = 1024
};

struct attribute {
    int name, type;
    int64_t n;
    union {
        int64_t i[MOST_VALUES];
        double d[MOST_VALUES];
        void *p[MOST_VALUES];
    } u;
};

struct object {
    int kind, finished, n, engine; /* engine: of a configuration, which of those offered */
    struct attribute attributes[MOST_ATTRIBUTES];
    struct object *operation; /* of a graph and what is made of it */
    void *stream; /* of a handle; of a plan, what it keeps of its operation */
};

static struct object *make(int kind)
{
    struct object *x = calloc(1, sizeof *x);
    CHECK(x, "no memory");
    x->kind = kind;
    return x;
}

static struct object *as(const void *p, int kind)
{
    struct object *x = (struct object *)(uintptr_t)p;
    CHECK(x && x->kind == kind, "kind %d wanted, this is %d", kind, x ? x->kind : -1);
    return x;
}

static const struct attribute *find(const struct object *x, int name)
{
    for (int i = 0; i < x->n; i++)
        if (x->attributes[i].name == name)
            return &x->attributes[i];
    CHECK(0, "kind %d has no attribute %d", x->kind, name);
    return NULL;
}

static int64_t integer(const struct object *x, int name, int i)
{
    return find(x, name)->u.i[i];
}

static struct object *object(const struct object *x, int name, int kind)
{
    struct object *ret = as(find(x, name)->u.p[0], kind);
    CHECK(ret->finished, "kind %d is not finished", kind);
    return ret;
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
    as(handle, HANDLE_KIND)->kind = 0;
    free(handle);
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
    CHECK(x && x->kind, "destroyed twice");
    if (x->kind == CUDNN_PLAN)
        free(x->stream);
    x->kind = 0;
    free(x);
    return CUDNN_OK;
}

/* ---- Attributes ---- */

static void copy_values(struct attribute *a, const void *values)
{
    for (int64_t i = 0; i < a->n; i++) {
        if (a->type == CUDNN_INT64S)
            a->u.i[i] = ((const int64_t *)values)[i];
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
    } belongs[] = { { CUDNN_CONVOLUTION_OF, 100, 106 }, { CUDNN_HEURISTIC, 200, 201 },
                    { CUDNN_PLAN, 400, 401 },           { CUDNN_FORWARD, 700, 705 },
                    { CUDNN_BACKWARD_DATA, 706, 711 },  { CUDNN_BACKWARD_FILTER, 712, 717 },
                    { CUDNN_GRAPH, 800, 801 },          { CUDNN_TENSOR, 900, 906 },
                    { CUDNN_PACK, 1000, 1003 } };
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

static void expect(const struct object *x, int name, int type, int64_t n)
{
    const struct attribute *a = find(x, name);
    CHECK(a->type == type && a->n == n, "attribute %d of kind %d: type %d, %d values", name, x->kind,
          a->type, (int)a->n);
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
        CHECK(integer(x, TENSOR_SIZES, d) > 0 && integer(x, TENSOR_STRIDES, d) > 0,
              "dimension %d", d);
}

static void check_convolution(const struct object *x)
{
    int64_t n = integer(x, CONVOLUTION_DIMS, 0);
    expect(x, CONVOLUTION_COMPUTE, CUDNN_DATA_TYPES, 1);
    expect(x, CONVOLUTION_MODE, CUDNN_CONVOLUTION_MODES, 1);
    expect(x, CONVOLUTION_PADDING_BEFORE, CUDNN_INT64S, n);
    expect(x, CONVOLUTION_PADDING_BEHIND, CUDNN_INT64S, n);
    expect(x, CONVOLUTION_STRIDES, CUDNN_INT64S, n);
    expect(x, CONVOLUTION_DILATIONS, CUDNN_INT64S, n);
    CHECK(integer(x, CONVOLUTION_MODE, 0) == CUDNN_CORRELATE, "mode");
}

static int first_of(const struct object *x)
{
    return x->kind == CUDNN_FORWARD         ? FORWARD_ALPHA
           : x->kind == CUDNN_BACKWARD_DATA ? BACKWARD_DATA_ALPHA
                                            : BACKWARD_FILTER_ALPHA;
}

/* The sizes fit together; groups are what the channels say. */
static void check_operation(const struct object *x)
{
    int first = first_of(x);
    const struct object *conv = object(x, first + 2, CUDNN_CONVOLUTION_OF);
    const struct object *w = object(x, first + 3, CUDNN_TENSOR);
    const struct object *in = object(x, first + 4, CUDNN_TENSOR);
    const struct object *out = object(x, first + 5, CUDNN_TENSOR);
    int64_t places = integer(conv, CONVOLUTION_DIMS, 0);
    int64_t type = integer(in, TENSOR_TYPE, 0);
    expect(x, first, type == CUDNN_F64 ? CUDNN_DOUBLES : CUDNN_FLOATS, 1);
    expect(x, first + 1, type == CUDNN_F64 ? CUDNN_DOUBLES : CUDNN_FLOATS, 1);
    CHECK(find(x, first)->u.d[0] == 1 && find(x, first + 1)->u.d[0] == 0, "alpha and beta");
    CHECK(integer(w, TENSOR_TYPE, 0) == type && integer(out, TENSOR_TYPE, 0) == type, "types");
    CHECK(find(w, TENSOR_SIZES)->n == places + 2 && find(in, TENSOR_SIZES)->n == places + 2 &&
              find(out, TENSOR_SIZES)->n == places + 2,
          "dimensions");
    CHECK(integer(in, TENSOR_SIZES, 0) == integer(out, TENSOR_SIZES, 0), "batches");
    CHECK(integer(in, TENSOR_SIZES, 1) % integer(w, TENSOR_SIZES, 1) == 0 &&
              integer(out, TENSOR_SIZES, 1) == integer(w, TENSOR_SIZES, 0),
          "channels");
    for (int d = 0; d < places; d++) {
        int64_t reach = integer(conv, CONVOLUTION_DILATIONS, d) *
                            (integer(w, TENSOR_SIZES, 2 + d) - 1) + 1;
        int64_t room = integer(in, TENSOR_SIZES, 2 + d) +
                       2 * integer(conv, CONVOLUTION_PADDING_BEFORE, d) - reach;
        CHECK(integer(out, TENSOR_SIZES, 2 + d) ==
                  room / integer(conv, CONVOLUTION_STRIDES, d) + 1,
              "place %d", d);
    }
}

int cudnnBackendFinalize(void *descriptor);
int cudnnBackendFinalize(void *descriptor)
{
    struct object *x = descriptor;
    CHECK(x && !x->finished, "finished twice");
    if (x->kind == CUDNN_TENSOR) {
        check_tensor(x);
    } else if (x->kind == CUDNN_CONVOLUTION_OF) {
        check_convolution(x);
    } else if (x->kind >= CUDNN_FORWARD && x->kind <= CUDNN_BACKWARD_DATA) {
        check_operation(x);
    } else if (x->kind == CUDNN_GRAPH) {
        as(find(x, GRAPH_HANDLE)->u.p[0], HANDLE_KIND);
        x->operation = find(x, GRAPH_OPERATIONS)->u.p[0];
        CHECK(x->operation->finished, "an operation that is not finished");
    } else if (x->kind == CUDNN_HEURISTIC) {
        expect(x, HEURISTIC_MODE, CUDNN_HEURISTIC_MODES, 1);
        x->operation = object(x, HEURISTIC_GRAPH, CUDNN_GRAPH)->operation;
    } else if (x->kind == CUDNN_PLAN) {
        as(find(x, PLAN_HANDLE)->u.p[0], HANDLE_KIND);
        const struct object *config = object(x, PLAN_CONFIG, CUDNN_ENGINE_CONFIG);
        CHECK(config->engine == OFFERED - 1, "engine %d", config->engine);
    } else {
        CHECK(x->kind == CUDNN_PACK, "kind %d", x->kind);
        expect(x, PACK_IDS, CUDNN_INT64S, 3);
        expect(x, PACK_POINTERS, CUDNN_POINTERS, 3);
        expect(x, PACK_ROOM, CUDNN_POINTERS, 1);
    }
    x->finished = 1;
    return CUDNN_OK;
}

/* A plan outlives its operation's descriptors: it keeps copies of them. */
struct kept {
    struct object conv, tensor[3];
    int kind;
};

static void keep(struct object *plan, const struct object *operation)
{
    int first = first_of(operation);
    struct kept *kept = calloc(1, sizeof *kept);
    CHECK(kept, "no memory");
    kept->conv = *object(operation, first + 2, CUDNN_CONVOLUTION_OF);
    for (int i = 0; i < 3; i++)
        kept->tensor[i] = *object(operation, first + 3 + i, CUDNN_TENSOR);
    kept->kind = operation->kind;
    plan->stream = kept;
}

static int offer(const struct object *heuristic, int64_t want, int64_t *n, void **configs)
{
    *n = wanted("refuse") ? 0 : OFFERED < want ? OFFERED : want;
    for (int i = 0; i < *n; i++) {
        struct object *config = as(configs[i], CUDNN_ENGINE_CONFIG);
        config->engine = i;
        config->finished = 1;
        config->operation = heuristic->operation;
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
        return CUDNN_OK;
    }
    if (name == ENGINE_NOTES) {
        static const int32_t notes[OFFERED] = { NOTE_NOT_REPEATABLE, NOTE_ROUNDS_INPUTS, 5 };
        CHECK(x->kind == CUDNN_ENGINE && type == CUDNN_NOTES && want == NOTES, "notes");
        *(int32_t *)values = notes[x->engine];
        return CUDNN_OK;
    }
    CHECK(name == PLAN_ROOM && x->kind == CUDNN_PLAN && type == CUDNN_INT64S && want == 1,
          "attribute %d", name);
    struct object *config = object(x, PLAN_CONFIG, CUDNN_ENGINE_CONFIG);
    keep(x, config->operation);
    *(int64_t *)values = ROOM;
    return CUDNN_OK;
}

/* ---- Execution ---- */

struct sides {
    const struct kept *k;
    void *p[3]; /* weight, input, output */
    int64_t places;
};

static int64_t size_of(const struct sides *s, int i, int d)
{
    return d < s->places + 2 ? integer(&s->k->tensor[i], TENSOR_SIZES, d) : 1;
}

static enum dtype dtype_of(const struct sides *s)
{
    int64_t type = integer(&s->k->tensor[0], TENSOR_TYPE, 0);
    return type == CUDNN_F64 ? DTYPE_F64 : type == CUDNN_F32 ? DTYPE_F32
           : type == CUDNN_F16                                ? DTYPE_F16
                                                              : DTYPE_BF16;
}

static int64_t offset(const struct sides *s, int i, int64_t a, int64_t b, const int64_t *at)
{
    const struct object *x = &s->k->tensor[i];
    int64_t ret = a * integer(x, TENSOR_STRIDES, 0) + b * integer(x, TENSOR_STRIDES, 1);
    for (int d = 0; d < s->places; d++)
        ret += at[d] * integer(x, TENSOR_STRIDES, 2 + d);
    return ret;
}

static int64_t volume(const struct sides *s, int i)
{
    int64_t n = 1;
    for (int d = 0; d < PLACES; d++)
        n *= size_of(s, i, 2 + d);
    return n;
}

static void split(const struct sides *s, int i, int64_t index, int64_t *at)
{
    for (int d = PLACES; d-- > 0; index /= size_of(s, i, 2 + d))
        at[d] = index % size_of(s, i, 2 + d);
}

/* Adds a pair's product to the element of the result: sums in double beside the tensor. */
static void pair(const struct sides *s, int to, const int64_t *at, double *sum)
{
    int a = to == 0 ? 1 : 0, b = to == 2 ? 1 : 2;
    sum[at[to]] += load_real(dtype_of(s), s->p[a], at[a]) * load_real(dtype_of(s), s->p[b], at[b]);
}

static void walk(const struct sides *s, int to, double *sum)
{
    int64_t out_channels = size_of(s, 0, 0), in_group = size_of(s, 0, 1);
    int64_t groups = size_of(s, 1, 1) / in_group, out_group = out_channels / groups;
    int64_t n_out = volume(s, 2), window = volume(s, 0), o[PLACES], w[PLACES], i[PLACES];
    for (int64_t e = 0; e < size_of(s, 2, 0) * out_channels * n_out; e++) {
        int64_t batch = e / n_out / out_channels, oc = e / n_out % out_channels;
        split(s, 2, e % n_out, o);
        for (int64_t t = 0; t < in_group * window; t++) {
            int64_t ic = t / window, inside = 1;
            split(s, 0, t % window, w);
            for (int d = 0; d < s->places; d++) {
                i[d] = o[d] * integer(&s->k->conv, CONVOLUTION_STRIDES, d) -
                       integer(&s->k->conv, CONVOLUTION_PADDING_BEFORE, d) +
                       w[d] * integer(&s->k->conv, CONVOLUTION_DILATIONS, d);
                inside &= i[d] >= 0 && i[d] < size_of(s, 1, 2 + d);
            }
            const int64_t at[] = { offset(s, 0, oc, ic, w),
                                   offset(s, 1, batch, oc / out_group * in_group + ic, i),
                                   offset(s, 2, batch, oc, o) };
            if (inside)
                pair(s, to, at, sum);
        }
    }
}

int cudnnBackendExecute(void *handle, void *plan, void *pack);
int cudnnBackendExecute(void *handle, void *plan, void *pack)
{
    const struct object *p = as(plan, CUDNN_PLAN), *x = as(pack, CUDNN_PACK);
    struct sides s = { .k = p->stream };
    if (idles())
        return CUDNN_OK;
    CHECK(as(handle, HANDLE_KIND)->stream, "no stream");
    CHECK(s.k && x->finished && find(x, PACK_ROOM)->u.p[0], "room");
    memset(find(x, PACK_ROOM)->u.p[0], 0xff, ROOM);
    s.places = integer(&s.k->conv, CONVOLUTION_DIMS, 0);
    for (int i = 0; i < 3; i++) {
        int64_t alignment = integer(&s.k->tensor[i], TENSOR_ALIGNMENT, 0);
        int found = -1;
        for (int j = 0; j < 3; j++)
            if (integer(x, PACK_IDS, j) == integer(&s.k->tensor[i], TENSOR_ID, 0))
                found = j;
        CHECK(found >= 0, "no pointer of tensor %d", i);
        s.p[i] = find(x, PACK_POINTERS)->u.p[found];
        CHECK((uintptr_t)s.p[i] % (uintptr_t)alignment == 0, "alignment of tensor %d", i);
    }
    if (wanted("broken"))
        return CUDNN_EXECUTION;
    int to = s.k->kind == CUDNN_FORWARD ? 2 : s.k->kind == CUDNN_BACKWARD_DATA ? 1 : 0;
    int64_t n = size_of(&s, to, 0) * size_of(&s, to, 1) * volume(&s, to);
    double *sum = calloc((size_t)n, sizeof *sum);
    CHECK(sum, "no memory");
    walk(&s, to, sum);
    for (int64_t i = 0; i < n; i++)
        store_real(dtype_of(&s), s.p[to], i, sum[i]);
    free(sum);
    return CUDNN_OK;
}

/* libcublasLt.so.13 for tests: it holds every call to what cuBLASLt's documentation asks, ends the
 * process where one breaks it, and computes plainly, in double, on the memory of the fake driver.
 *
 * Its heuristic offers three algorithms, of which the last one is the fastest. With TF32 factors
 * are rounded to 10 bits behind the first.
 *
 * $FAKE_CUBLASLT: "refuse": no heuristic finds anything; "unsupported": products answer so;
 * "broken": they answer that execution failed; "absent": it does not start; "narrow": algorithms
 * are for no more columns than the product has that they were offered for; "older": there are no
 * modes of scales; "pair": a product is two kernels; "memset": it is a memset of
 * its workspace and a kernel; "cluster": its kernel has clusters. */
#define LIBRARY "cublasLt"
#define MOOD    "FAKE_CUBLASLT"
#include "tests/cuda/fake_library.h"

#include <math.h>

#include "replay/backend/cuda/libraries/cublaslt_abi.h"
#include "replay/backend/values/elements.h"
#include "tests/cuda/fake_time.h"

enum { OFFERED = 3, ROOM = 4096 };
enum { OP = 0x4f50, LAYOUT = 0x4c41, PREFERENCE = 0x5052, HANDLE = 0x4841 };

struct object {
    int what;
    int compute, scale, turn_a, turn_b, epilogue; /* of an operation */
    const void *bias, *scale_a, *scale_b;
    int bias_type, mode_a, mode_b, fast;
    int type; /* of a layout */
    int64_t rows, columns, leading, batches, stride;
    uint64_t workspace, alignment[4]; /* of a preference */
    struct object *next;              /* of a handle */
};

static struct object *make(int what)
{
    struct object *x = calloc(1, sizeof *x);
    CHECK(x, "no memory");
    x->what = what;
    return x;
}

static struct object *as(void *p, int what)
{
    struct object *x = p;
    CHECK(x && x->what == what, "an object of another kind, or one that was destroyed");
    return x;
}

static int drop(void *p, int what)
{
    as(p, what)->what = 0;
    free(p);
    return CUBLAS_OK;
}

static struct object *handles; /* never freed: one is left behind with a context that is lost */

int cublasLtCreate(void **ret);
int cublasLtCreate(void **ret)
{
    if (wanted("absent"))
        return CUBLAS_NOT_INITIALIZED;
    struct object *handle = make(HANDLE);
    handle->next = handles;
    *ret = handles = handle;
    return CUBLAS_OK;
}

int cublasLtDestroy(void *handle);
int cublasLtDestroy(void *handle)
{
    as(handle, HANDLE)->what = 0;
    return CUBLAS_OK;
}

size_t cublasLtGetVersion(void);
size_t cublasLtGetVersion(void)
{
    return 130000;
}

/* ---- Descriptors ---- */

int cublasLtMatmulDescCreate(void **ret, int compute, int scale);
int cublasLtMatmulDescCreate(void **ret, int compute, int scale)
{
    CHECK(((compute == CUBLAS_COMPUTE_F32 || compute == CUBLAS_COMPUTE_TF32) &&
           scale == CUBLAS_F32) ||
              (compute == CUBLAS_COMPUTE_F64 && scale == CUBLAS_F64) ||
              (compute == CUBLAS_COMPUTE_I32 && scale == CUBLAS_I32),
          "compute %d with scale %d", compute, scale);
    struct object *x = make(OP);
    x->compute = compute, x->scale = scale, x->epilogue = EPILOGUE_NONE;
    *ret = x;
    return CUBLAS_OK;
}

int cublasLtMatmulDescDestroy(void *op);
int cublasLtMatmulDescDestroy(void *op)
{
    return drop(op, OP);
}

int cublasLtMatmulDescSetAttribute(void *op, int attribute, const void *value, size_t bytes);
int cublasLtMatmulDescSetAttribute(void *op, int attribute, const void *value, size_t bytes)
{
    struct object *x = as(op, OP);
    int32_t number = 0;
    const void **pointer = attribute == MATMUL_BIAS      ? &x->bias
                           : attribute == MATMUL_SCALE_A ? &x->scale_a
                           : attribute == MATMUL_SCALE_B ? &x->scale_b
                                                         : NULL;
    if (pointer) {
        CHECK(bytes == sizeof *pointer, "%zu bytes", bytes);
        memcpy(pointer, value, bytes);
        return CUBLAS_OK;
    }
    if (attribute == MATMUL_FAST_SUMS) {
        CHECK(bytes == 1, "%zu bytes", bytes);
        x->fast = *(const int8_t *)value;
        return CUBLAS_OK;
    }
    CHECK(bytes == sizeof number, "%zu bytes", bytes);
    memcpy(&number, value, bytes);
    if (attribute == MATMUL_SCALE_MODE_A || attribute == MATMUL_SCALE_MODE_B) {
        CHECK(number == SCALE_ONE || number == SCALE_EACH, "%d", number);
        if (wanted("older"))
            return CUBLAS_INVALID_VALUE;
        *(attribute == MATMUL_SCALE_MODE_A ? &x->mode_a : &x->mode_b) = number;
        return CUBLAS_OK;
    }
    if (attribute == MATMUL_BIAS_TYPE) {
        CHECK(number == CUBLAS_F16 || number == CUBLAS_BF16, "%d", number);
        x->bias_type = number;
        return CUBLAS_OK;
    }
    if (attribute == MATMUL_TURN_A || attribute == MATMUL_TURN_B) {
        CHECK(number == CUBLAS_AS_IS || number == CUBLAS_TURNED, "%d", number);
        *(attribute == MATMUL_TURN_A ? &x->turn_a : &x->turn_b) = number;
    } else {
        CHECK(attribute == MATMUL_EPILOGUE, "attribute %d", attribute);
        CHECK(number == EPILOGUE_NONE || number == EPILOGUE_BIAS, "%d", number);
        x->epilogue = number;
    }
    return CUBLAS_OK;
}

static bool is_float8(int type)
{
    return type == CUBLAS_F8E4M3 || type == CUBLAS_F8E5M2;
}

int cublasLtMatrixLayoutCreate(void **ret, int type, uint64_t rows, uint64_t columns,
                               int64_t leading);
int cublasLtMatrixLayoutCreate(void **ret, int type, uint64_t rows, uint64_t columns,
                               int64_t leading)
{
    CHECK(type == CUBLAS_F32 || type == CUBLAS_F64 || type == CUBLAS_F16 || type == CUBLAS_BF16 ||
              type == CUBLAS_I8 || type == CUBLAS_I32 || is_float8(type),
          "type %d", type);
    CHECK(rows > 0 && columns > 0 && leading >= (int64_t)rows, "%d by %d, %d", (int)rows,
          (int)columns, (int)leading);
    struct object *x = make(LAYOUT);
    x->type = type, x->rows = (int64_t)rows, x->columns = (int64_t)columns;
    x->leading = leading, x->batches = 1;
    *ret = x;
    return CUBLAS_OK;
}

int cublasLtMatrixLayoutDestroy(void *layout);
int cublasLtMatrixLayoutDestroy(void *layout)
{
    return drop(layout, LAYOUT);
}

int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t bytes);
int cublasLtMatrixLayoutSetAttribute(void *layout, int attribute, const void *value, size_t bytes)
{
    struct object *x = as(layout, LAYOUT);
    int32_t count;
    if (attribute == LAYOUT_BATCH_COUNT) {
        CHECK(bytes == sizeof count, "%zu bytes", bytes);
        memcpy(&count, value, bytes);
        CHECK(count > 0, "%d", count);
        x->batches = count;
    } else {
        CHECK(attribute == LAYOUT_BATCH_STRIDE && bytes == sizeof x->stride, "attribute %d of %zu",
              attribute, bytes);
        memcpy(&x->stride, value, bytes);
    }
    return CUBLAS_OK;
}

int cublasLtMatmulPreferenceCreate(void **ret);
int cublasLtMatmulPreferenceCreate(void **ret)
{
    struct object *x = make(PREFERENCE);
    for (int i = 0; i < 4; i++)
        x->alignment[i] = 256;
    *ret = x;
    return CUBLAS_OK;
}

int cublasLtMatmulPreferenceDestroy(void *preference);
int cublasLtMatmulPreferenceDestroy(void *preference)
{
    return drop(preference, PREFERENCE);
}

int cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *value, size_t bytes);
int cublasLtMatmulPreferenceSetAttribute(void *p, int attribute, const void *value, size_t bytes)
{
    struct object *x = as(p, PREFERENCE);
    uint32_t alignment;
    if (attribute == PREFERENCE_WORKSPACE) {
        CHECK(bytes == sizeof x->workspace, "%zu bytes", bytes);
        memcpy(&x->workspace, value, bytes);
        return CUBLAS_OK;
    }
    CHECK(attribute >= PREFERENCE_ALIGNMENT_A && attribute < PREFERENCE_ALIGNMENT_A + 4 &&
              bytes == sizeof alignment,
          "attribute %d of %zu", attribute, bytes);
    memcpy(&alignment, value, bytes);
    CHECK(alignment && (alignment & (alignment - 1)) == 0, "%u", alignment);
    x->alignment[attribute - PREFERENCE_ALIGNMENT_A] = alignment;
    return CUBLAS_OK;
}

/* ---- Products ---- */

struct problem {
    const struct object *op, *a, *b, *c, *d;
    int64_t m, n, inner;
};

/* Only "TN" on Hopper, multiples of 16 bytes, and no product of two types of five bits. */
static void check_float8(const struct problem *p)
{
    const int type = p->d->type;
    CHECK(is_float8(p->b->type) && (p->a->type == CUBLAS_F8E4M3 || p->b->type == CUBLAS_F8E4M3),
          "types of factors");
    CHECK(p->op->turn_a && !p->op->turn_b, "only a transposed a, and b as it is");
    CHECK((p->m | p->inner | p->a->leading | p->b->leading | p->d->leading) % 16 == 0,
          "multiples of 16");
    CHECK(is_float8(type) ? p->c->type == CUBLAS_BF16 || p->c->type == CUBLAS_F16
                          : p->c->type == type && type != CUBLAS_F64 && type != CUBLAS_I32,
          "types of the result");
    CHECK(p->op->compute == CUBLAS_COMPUTE_F32, "compute %d", p->op->compute);
    CHECK(p->op->mode_a == p->op->mode_b, "modes of scales");
    CHECK(!p->op->mode_a || !is_float8(type), "scales of rows");
    CHECK(p->op->epilogue != EPILOGUE_BIAS ||
              (p->op->bias_type == p->c->type && p->c->type != CUBLAS_F32),
          "the bias' type");
}

static struct problem problem_of(void *op, void *a, void *b, void *c, void *d)
{
    struct problem p = {
        as(op, OP), as(a, LAYOUT), as(b, LAYOUT), as(c, LAYOUT), as(d, LAYOUT), 0, 0, 0
    };
    p.m = p.op->turn_a ? p.a->columns : p.a->rows;
    p.inner = p.op->turn_a ? p.a->rows : p.a->columns;
    p.n = p.op->turn_b ? p.b->rows : p.b->columns;
    CHECK((p.op->turn_b ? p.b->columns : p.b->rows) == p.inner, "inner sizes");
    CHECK(p.c->rows == p.m && p.c->columns == p.n && p.d->rows == p.m && p.d->columns == p.n,
          "the result's sizes");
    CHECK(p.a->batches == p.d->batches && p.b->batches == p.d->batches &&
              p.c->batches == p.d->batches,
          "batches");
    if (is_float8(p.a->type)) {
        check_float8(&p);
        return p;
    }
    CHECK(p.a->type == p.b->type && p.c->type == p.d->type, "types");
    if (p.a->type == CUBLAS_I8) {
        CHECK(p.op->compute == CUBLAS_COMPUTE_I32 && p.d->type == CUBLAS_I32, "integers");
        CHECK((p.m | p.n | p.inner | p.a->leading | p.b->leading) % 4 == 0, "multiples of 4");
        return p;
    }
    CHECK(p.a->type != CUBLAS_I32 && p.op->compute != CUBLAS_COMPUTE_I32, "integers");
    CHECK(p.a->type == p.d->type || (p.d->type == CUBLAS_F32 && p.a->type != CUBLAS_F64),
          "types of the result");
    CHECK((p.a->type == CUBLAS_F64) == (p.op->scale == CUBLAS_F64), "scale");
    CHECK(p.op->compute != CUBLAS_COMPUTE_TF32 || p.a->type == CUBLAS_F32, "TF32 of type %d",
          p.a->type);
    CHECK(p.op->epilogue != EPILOGUE_BIAS || p.d->type != CUBLAS_F64, "an epilogue of f64");
    return p;
}

/* What a choice was made for; an algorithm carries it to the product, of any sizes. */
static void stamp(const struct problem *p, const uint64_t *alignment,
                  struct cublaslt_algorithm *ret)
{
    const struct object *x[] = { p->a, p->b, p->d };
    memset(ret, 0, sizeof *ret);
    for (int i = 0; i < 3; i++)
        ret->data[1 + i] = (uint64_t)x[i]->type;
    ret->data[4] = (uint64_t)(p->op->turn_a * 2 + p->op->turn_b) << 8 | (uint64_t)p->op->epilogue;
    for (int i = 0; i < 4; i++)
        ret->data[6] |= alignment[i] << 16 * i;
    ret->data[5] = wanted("narrow") ? (uint64_t)p->n : UINT64_MAX;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, void *op, void *a, void *b, void *c, void *d,
                                   void *preference, int want, struct cublaslt_choice *ret,
                                   int *found);
int cublasLtMatmulAlgoGetHeuristic(void *handle, void *op, void *a, void *b, void *c, void *d,
                                   void *preference, int want, struct cublaslt_choice *ret,
                                   int *found)
{
    struct problem p = problem_of(op, a, b, c, d);
    const struct object *x = as(preference, PREFERENCE);
    as(handle, HANDLE);
    CHECK(want > 0 && x->workspace > 0, "%d wanted", want);
    CHECK(p.op->epilogue != EPILOGUE_BIAS || p.op->bias, "a bias that is not told");
    *found = wanted("refuse") ? 0 : want < OFFERED ? want : OFFERED;
    for (int i = 0; i < *found; i++) {
        ret[i] = (struct cublaslt_choice){ .workspace = ROOM, .status = CUBLAS_OK };
        stamp(&p, x->alignment, &ret[i].algorithm);
        ret[i].algorithm.data[7] = (uint64_t)i;
    }
    return *found ? CUBLAS_OK : CUBLAS_NOT_SUPPORTED;
}

/* An algorithm is for the types, alignments and operation that it was offered for. */
int cublasLtMatmulAlgoCheck(void *handle, void *op, void *a, void *b, void *c, void *d,
                            const struct cublaslt_algorithm *algorithm,
                            struct cublaslt_choice *ret);
int cublasLtMatmulAlgoCheck(void *handle, void *op, void *a, void *b, void *c, void *d,
                            const struct cublaslt_algorithm *algorithm, struct cublaslt_choice *ret)
{
    struct problem p = problem_of(op, a, b, c, d);
    struct cublaslt_algorithm same;
    uint64_t alignment[4];
    as(handle, HANDLE);
    for (int i = 0; i < 4; i++)
        alignment[i] = algorithm->data[6] >> 16 * i & 0xffff;
    stamp(&p, alignment, &same);
    same.data[7] = algorithm->data[7];
    if (same.data[5] < algorithm->data[5])
        same.data[5] = algorithm->data[5];
    if (memcmp(&same, algorithm, sizeof same) != 0 || algorithm->data[7] >= OFFERED)
        return CUBLAS_NOT_SUPPORTED;
    *ret = (struct cublaslt_choice){ .algorithm = *algorithm, .workspace = ROOM };
    return CUBLAS_OK;
}

static enum dtype dtype_of(int type)
{
    return type == CUBLAS_F64      ? DTYPE_F64
           : type == CUBLAS_F32    ? DTYPE_F32
           : type == CUBLAS_F16    ? DTYPE_F16
           : type == CUBLAS_I8     ? DTYPE_I8
           : type == CUBLAS_I32    ? DTYPE_I32
           : type == CUBLAS_F8E4M3 ? DTYPE_F8E4M3FN
           : type == CUBLAS_F8E5M2 ? DTYPE_F8E5M2
                                   : DTYPE_BF16;
}

static double at(const void *p, const struct object *x, int64_t batch, int64_t row, int64_t column)
{
    const int64_t i = batch * x->stride + row + column * x->leading;
    return x->type == CUBLAS_I8 || x->type == CUBLAS_I32 ? (double)load_int(dtype_of(x->type), p, i)
                                                         : load_real(dtype_of(x->type), p, i);
}

static double scaled_by(const void *scale, int mode, int64_t i)
{
    return scale ? (double)((const float *)scale)[mode == SCALE_EACH ? i : 0] : 1;
}

/* Results of eight bits saturate. */
static void put_result(const struct problem *p, void *d, int64_t i, double x)
{
    const int type = p->d->type;
    const double most = type == CUBLAS_F8E4M3 ? 448 : 57344;
    if (is_float8(type))
        x = x > most ? most : x < -most ? -most : x;
    if (type == CUBLAS_I32)
        store_int(DTYPE_I32, d, i, (int64_t)x);
    else
        store_real(dtype_of(type), d, i, x);
}

static double factor(const struct problem *p, double x)
{
    int exponent;
    if (p->op->compute != CUBLAS_COMPUTE_TF32 || x == 0 || !isfinite(x))
        return x;
    double part = frexp(x, &exponent);
    return ldexp(nearbyint(ldexp(part, 11)), exponent - 11);
}

static double scale_of(const struct problem *p, const void *x)
{
    return p->op->scale == CUBLAS_F64   ? *(const double *)x
           : p->op->scale == CUBLAS_I32 ? (double)*(const int32_t *)x
                                        : (double)*(const float *)x;
}

/* A product that was checked: copies of its operation and layouts, and its arguments. */
struct product_work {
    struct object parts[5];
    double alpha, beta, us;
    const void *a, *b, *c;
    void *d;
    size_t marked; /* 1: its first kernel or memset marked the workspace */
    void *workspace;
};

static void compute(const struct problem *p, double by, const void *a, const void *b, double add,
                    const void *c, void *d)
{
    for (int64_t i = 0; i < p->d->batches * p->m * p->n; i++) {
        int64_t batch = i / p->n / p->m, row = i % p->m, column = i / p->m % p->n;
        double sum = 0;
        for (int64_t l = 0; l < p->inner; l++)
            sum +=
                factor(p, p->op->turn_a ? at(a, p->a, batch, l, row) : at(a, p->a, batch, row, l)) *
                factor(p, p->op->turn_b ? at(b, p->b, batch, column, l)
                                        : at(b, p->b, batch, l, column));
        if (is_float8(p->a->type))
            sum *= scaled_by(p->op->scale_a, p->op->mode_a, row) *
                   scaled_by(p->op->scale_b, p->op->mode_b, column);
        sum = by * sum + (add == 0 ? 0 : add * at(c, p->c, batch, row, column));
        if (p->op->epilogue == EPILOGUE_BIAS)
            sum += load_real(dtype_of(p->op->bias_type ? p->op->bias_type : p->d->type),
                             p->op->bias, row);
        put_result(p, d, batch * p->d->stride + row + column * p->d->leading, sum);
    }
}

enum { MARK = 0x5a };

/* The first kernel of two. */
static int mark_workspace(const void *data)
{
    const struct product_work *w = data;
    memset(w->workspace, MARK, ROOM);
    return 0;
}

/* The same as a memset. */
static int fill_workspace(void *workspace, void *stream)
{
    void *driver, *p = fake_function("cuMemsetD8Async", &driver);
    int (*fill)(unsigned long long, unsigned char, size_t, void *) = NULL;
    memcpy(&fill, &p, sizeof p);
    const int error = fill((unsigned long long)(uintptr_t)workspace, MARK, ROOM, stream);
    dlclose(driver);
    return error;
}

static int run_product(const void *data)
{
    const struct product_work *w = data;
    struct object parts[5];
    memcpy(parts, w->parts, sizeof parts);
    struct problem p = problem_of(&parts[0], &parts[1], &parts[2], &parts[3], &parts[4]);
    CHECK(!w->marked || *(const char *)w->workspace == MARK, "the first kernel did not run before");
    memset(w->workspace, 0xff, ROOM);
    compute(&p, w->alpha, w->a, w->b, w->beta, w->c, w->d);
    fake_took(w->us);
    return 0;
}

int cublasLtMatmul(void *handle, void *op, const void *alpha, const void *a, void *layout_a,
                   const void *b, void *layout_b, const void *beta, const void *c, void *layout_c,
                   void *d, void *layout_d, const struct cublaslt_algorithm *algorithm,
                   void *workspace, size_t room_bytes, void *stream);
int cublasLtMatmul(void *handle, void *op, const void *alpha, const void *a, void *layout_a,
                   const void *b, void *layout_b, const void *beta, const void *c, void *layout_c,
                   void *d, void *layout_d, const struct cublaslt_algorithm *algorithm,
                   void *workspace, size_t room_bytes, void *stream)
{
    struct problem p = problem_of(op, layout_a, layout_b, layout_c, layout_d);
    struct cublaslt_algorithm same;
    uint64_t alignment[4];
    const void *pointers[] = { a, b, c, d };
    if (idles())
        return CUBLAS_OK;
    as(handle, HANDLE);
    for (int i = 0; i < 4; i++) {
        alignment[i] = algorithm->data[6] >> 16 * i & 0xffff;
        CHECK(pointers[i] && alignment[i] && (uintptr_t)pointers[i] % alignment[i] == 0,
              "pointer %d is less aligned than the algorithm was told", i);
    }
    stamp(&p, alignment, &same);
    CHECK(algorithm->data[7] < OFFERED, "algorithm %d", (int)algorithm->data[7]);
    same.data[7] = algorithm->data[7];
    if (same.data[5] > algorithm->data[5])
        return CUBLAS_NOT_SUPPORTED;
    same.data[5] = algorithm->data[5];
    CHECK(memcmp(&same, algorithm, sizeof same) == 0, "an algorithm for another product");
    CHECK(workspace && (uintptr_t)workspace % 256 == 0 && room_bytes >= ROOM,
          "%zu bytes of workspace", room_bytes);
    CHECK(stream, "no stream");
    CHECK(p.op->epilogue != EPILOGUE_BIAS || p.op->bias, "no bias");
    if (wanted("unsupported"))
        return CUBLAS_NOT_SUPPORTED;
    if (wanted("broken"))
        return CUBLAS_EXECUTION_FAILED;
    const struct product_work work = { .parts = { *p.op, *p.a, *p.b, *p.c, *p.d },
                                       .alpha = scale_of(&p, alpha),
                                       .beta = scale_of(&p, beta),
                                       .a = a,
                                       .b = b,
                                       .c = c,
                                       .d = d,
                                       .marked = wanted("pair") || wanted("memset"),
                                       .workspace = workspace,
                                       .us = 3e5 / (double)(1 + algorithm->data[7]) };
    const char *submit = wanted("cluster") ? "fake_submit_cluster" : "fake_submit_kernel";
    if (wanted("pair") && fake_queue_by(submit, stream, mark_workspace, &work, sizeof work))
        return CUBLAS_EXECUTION_FAILED;
    if (wanted("memset") && fill_workspace(workspace, stream))
        return CUBLAS_EXECUTION_FAILED;
    return fake_queue_by(submit, stream, run_product, &work, sizeof work) ? CUBLAS_EXECUTION_FAILED
                                                                          : CUBLAS_OK;
}

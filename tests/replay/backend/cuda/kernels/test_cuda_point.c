/* Groups of pointwise operators on a CUDA without a device (tests/cuda) compute what the CPU does,
 * whatever is viewed, written in place, broadcast and given back while they wait. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/pointwise/fusion_group.h"
#include "replay/backend/run/exec.h"
#include "replay/ops/layers.h"
#include "tests/harness.h"

/* ---- The same calls on two backends ---- */

struct side {
    struct shape_env *env;
    struct ops *ops;
    struct backend *backend;
    struct exec exec;
};

struct pair {
    struct side sides[2]; /* cpu, cuda */
};

enum { ARGS = 4 };

/* What both are given: numbers, and tensors by their place in `pool`. */
enum { POOL = 9 };

static struct tensor pool[2][POOL];

static void side_open(struct side *s, const char *backend)
{
    struct err err = ERR_INIT;
    s->env = shape_env_new(NULL, &err);
    s->ops = ops_new(s->env, &err);
    s->backend = backend_find(str_of(backend))->open(&err);
    if (!s->backend)
        fail_msg("%s", err.text);
    exec_init(&s->exec, s->ops, s->backend, 7);
}

static void side_close(struct side *s)
{
    exec_release(&s->exec);
    s->backend->kind->close(s->backend);
    ops_free(s->ops);
    shape_env_free(s->env);
}

static void pair_open(struct pair *p)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/cuda", getenv("SYMTAPE_BUILD"));
    setenv("SYMTAPE_CUDA_LIB", folder, 1);
    memset(pool, 0, sizeof pool);
    side_open(&p->sides[0], "cpu");
    side_open(&p->sides[1], "cuda");
}

static void pair_close(struct pair *p)
{
    side_close(&p->sides[0]);
    side_close(&p->sides[1]);
}

static struct value integer(struct side *s, int64_t x)
{
    return value_int(sym_integer(ops_pool(s->ops), x));
}

static struct value number(struct side *s, double x)
{
    return value_sym(VALUE_FLOAT, sym_float(ops_pool(s->ops), x));
}

static struct tensor call(struct side *s, const char *name, const struct value *args, uint32_t n)
{
    struct err err = ERR_INIT;
    struct value ret = value_none();
    const struct op *op = ops_find(s->ops, str_of(name));
    assert_non_null(op);
    enum exec_outcome outcome = exec_call(&s->exec, op, args, n, NULL, 0, &ret, &err);
    if (outcome != EXEC_DONE)
        fail_msg("%s: %s%.*s", name, err.text, STR_ARG(ops_error(s->ops)->text));
    return ret.kind == VALUE_TENSOR ? ret.u.tensor : args[0].u.tensor;
}

/* Values from -2 to 2, of those sizes. */
static void make(struct pair *p, int to, const int64_t *size, uint32_t ndim, unsigned seed)
{
    for (int b = 0; b < 2; b++) {
        struct side *s = &p->sides[b];
        struct value *items = calloc(ndim + 1, sizeof *items), args[2];
        float values[1024];
        size_t n = 1;
        struct err err = ERR_INIT;
        for (uint32_t i = 0; i < ndim; i++) {
            items[i] = integer(s, size[i]);
            n *= (size_t)size[i];
        }
        args[0] = value_items(VALUE_LIST, items, ndim);
        args[1] = number(s, 0.5);
        pool[b][to] = call(s, "aten.full.default", args, 2);
        for (size_t i = 0; i < n; i++)
            values[i] = (float)((i * 7919 + seed * 104729) % 4001) / 1000 - 2;
        assert_true(n <= 1024 && exec_write(&s->exec, pool[b][to], values, 4 * n, &err));
        free(items);
    }
}

static void call1(struct pair *p, const char *name, int to, int x)
{
    for (int b = 0; b < 2; b++) {
        struct value args[] = { value_tensor(pool[b][x]) };
        pool[b][to] = call(&p->sides[b], name, args, 1);
    }
}

static void call2(struct pair *p, const char *name, int to, int x, int y)
{
    for (int b = 0; b < 2; b++) {
        struct value args[] = { value_tensor(pool[b][x]), value_tensor(pool[b][y]) };
        pool[b][to] = call(&p->sides[b], name, args, 2);
    }
}

static void transpose(struct pair *p, int to, int x, int64_t a, int64_t c)
{
    for (int b = 0; b < 2; b++) {
        struct side *s = &p->sides[b];
        struct value args[] = { value_tensor(pool[b][x]), integer(s, a), integer(s, c) };
        pool[b][to] = call(s, "aten.transpose.int", args, 3);
    }
}

static void slice(struct pair *p, int to, int x, int64_t dim, int64_t from, int64_t end)
{
    for (int b = 0; b < 2; b++) {
        struct side *s = &p->sides[b];
        struct value args[] = { value_tensor(pool[b][x]), integer(s, dim), integer(s, from),
                                integer(s, end) };
        pool[b][to] = call(s, "aten.slice.Tensor", args, 4);
    }
}

/* Nobody needs it any more. */
static void drop(struct pair *p, int x)
{
    for (int b = 0; b < 2; b++) {
        bool shared = false;
        for (int i = 0; i < POOL; i++)
            shared |= i != x && pool[b][i].meta && pool[b][i].storage == pool[b][x].storage;
        if (pool[b][x].meta && !shared)
            storage_free(&p->sides[b].exec.storages, pool[b][x].storage);
        pool[b][x] = (struct tensor){ 0 };
    }
}

static void agree(struct pair *p, int x)
{
    static double values[2][1024];
    float read[1024];
    size_t bytes = 0, n = 0;
    for (int b = 0; b < 2; b++) {
        struct err err = ERR_INIT;
        struct exec *exec = &p->sides[b].exec;
        enum dtype dtype = pool[b][x].meta->dtype;
        assert_true(tensor_bytes(ops_pool(exec->ops), pool[b][x].meta, &bytes));
        n = bytes / dtype_size(dtype);
        assert_true(bytes <= sizeof read);
        if (!exec_read(exec, pool[b][x], read, bytes, &err))
            fail_msg("%s", err.text);
        for (size_t i = 0; i < n; i++)
            values[b][i] = dense_kind_of(dtype) == DENSE_INT
                               ? (double)load_int(dtype, read, (int64_t)i)
                               : load_real(dtype, read, (int64_t)i);
    }
    for (size_t i = 0; i < n; i++) {
        double a = values[0][i], c = values[1][i];
        if (!(fabs(a - c) <= 1e-5 * (1 + fabs(a))) && !(isnan(a) && isnan(c)) && a != c)
            fail_msg("tensor %d, element %zu: %.9g on the CPU, %.9g on CUDA", x, i, a, c);
    }
}

static size_t launches(struct pair *p)
{
    struct err err = ERR_INIT;
    struct backend *cuda = p->sides[1].backend;
    assert_true(cuda->kind->wait(cuda, &err));
    return cuda->log.launches.n;
}

/* ---- Cases ---- */

static void test_one_kernel(void **state)
{
    (void)state;
    struct pair p;
    pair_open(&p);
    make(&p, 0, (int64_t[]){ 6, 35 }, 2, 1);
    make(&p, 1, (int64_t[]){ 35 }, 1, 2);
    launches(&p);
    p.sides[1].backend->log.on = true;
    call2(&p, "aten.mul.Tensor", 2, 0, 1);
    call1(&p, "aten.tanh.default", 3, 2);
    drop(&p, 2);
    call2(&p, "aten.add.Tensor", 4, 3, 0);
    call1(&p, "aten.relu_.default", 4, 4);
    assert_int_equal(launches(&p), 1);
    const struct backend_launch *launch = &p.sides[1].backend->log.launches.v[0];
    assert_string_equal(launch->what, "point_mul_tanh_add_relu");
    assert_false(launch->on_host);
    assert_int_equal(launch->bytes,
                     4 * (210 + 35 + 210 + 210)); /* what was dropped is not written */
    agree(&p, 3);
    agree(&p, 4);
    pair_close(&p);
}

static void call_number(struct pair *p, const char *name, int to, int x, double y)
{
    for (int b = 0; b < 2; b++) {
        struct value args[] = { value_tensor(pool[b][x]), number(&p->sides[b], y) };
        pool[b][to] = call(&p->sides[b], name, args, 2);
    }
}

/* Powers by 2 and 3 are products, others are not; sines of what is far from 0 are computed apart.
 */
static void test_powers_and_sines(void **state)
{
    (void)state;
    static const struct {
        double exponent;
        const char *kernel;
    } rows[] = {
        { 2, "point_square" }, { 3, "point_cube" }, { -1, "point_pow" }, { 2.5, "point_pow" }
    };
    static const char *const sines[] = { "aten.sin.default", "aten.cos.default",
                                         "aten.tan.default" };
    struct pair p;
    pair_open(&p);
    make(&p, 0, (int64_t[]){ 5, 11 }, 2, 3);
    p.sides[1].backend->log.on = true;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        call_number(&p, "aten.pow.Tensor_Scalar", 1, 0, rows[i].exponent);
        const size_t n = launches(&p);
        assert_string_equal(p.sides[1].backend->log.launches.v[n - 1].what, rows[i].kernel);
        agree(&p, 1);
    }
    call_number(&p, "aten.mul.Scalar", 2, 0, 1 << 20);
    for (size_t i = 0; i < sizeof sines / sizeof *sines; i++) {
        call1(&p, sines[i], 3, 0);
        call1(&p, sines[i], 4, 2);
        agree(&p, 3);
        agree(&p, 4);
    }
    pair_close(&p);
}

/* Nodes without common memory are one kernel at any size, so none is compiled at a later one. */
static void test_equal_sizes(void **state)
{
    (void)state;
    struct pair p;
    pair_open(&p);
    struct side *cuda = &p.sides[1];
    cuda->backend->log.on = true;
    for (int i = 0; i < 2; i++) {
        struct value size[] = { integer(cuda, 1000), integer(cuda, i ? 1100 : 3) };
        for (int to = 0; to < 2; to++) {
            struct value args[] = { value_items(VALUE_LIST, size, 2), number(cuda, 0.5 + to) };
            call(cuda, "aten.full.default", args, 2);
        }
        assert_int_equal(launches(&p), i + 1);
        assert_string_equal(cuda->backend->log.launches.v[i].what, "point_full_full");
    }
    assert_int_equal(cuda->backend->log.compiled, 1);
    pair_close(&p);
}

/* Results that are broadcast are computed where they are read, and by themselves only if they are
 * needed then. */
static void test_smaller_groups(void **state)
{
    (void)state;
    struct pair p;
    pair_open(&p);
    make(&p, 0, (int64_t[]){ 6, 35 }, 2, 1);
    make(&p, 1, NULL, 0, 2);
    make(&p, 5, (int64_t[]){ 1, 1 }, 2, 3);
    launches(&p);
    p.sides[1].backend->log.on = true;
    call1(&p, "aten.exp.default", 2, 1);
    call2(&p, "aten.add.Tensor", 3, 2, 5);
    drop(&p, 2);
    call2(&p, "aten.mul.Tensor", 4, 0, 3);
    drop(&p, 3);
    assert_int_equal(launches(&p), 1);
    assert_string_equal(p.sides[1].backend->log.launches.v[0].what, "point_exp_add_mul");
    agree(&p, 4);
    call1(&p, "aten.exp.default", 2, 1); /* which stays */
    call2(&p, "aten.sub.Tensor", 3, 0, 2);
    assert_int_equal(launches(&p), 3);
    agree(&p, 2);
    agree(&p, 3);
    make(&p, 2, (int64_t[]){ 6, 1 }, 2, 4);
    launches(&p);
    const size_t before = p.sides[1].backend->log.launches.n;
    call1(&p, "aten.exp.default", 3, 2);
    call1(&p, "aten.rsqrt.default", 4, 3);
    drop(&p, 3);
    call2(&p, "aten.mul.Tensor", 3, 0, 4);
    drop(&p, 4);
    assert_int_equal(launches(&p), before + 1);
    agree(&p, 3);
    make(&p, 4, (int64_t[]){ 6, 1 }, 2, 5);
    call1(&p, "aten.tanh_.default", 1, 1); /* it reads what it overwrites */
    call2(&p, "aten.mul_.Tensor", 0, 0, 1);
    call2(&p, "aten.copy_.default", 5, 5, 1);
    call2(&p, "aten.add_.Tensor", 0, 0, 5);
    for (int i = 0; i < 6; i++)
        agree(&p, i);
    pair_close(&p);
}

/* The marker ends the kernel before it; what follows joins the copy that it makes. */
static void test_realize(void **state)
{
    (void)state;
    struct pair p;
    pair_open(&p);
    make(&p, 0, (int64_t[]){ 6, 35 }, 2, 1);
    launches(&p);
    p.sides[1].backend->log.on = true;
    call1(&p, "aten.exp.default", 1, 0);
    call1(&p, "_inductor_test.realize.default", 2, 1);
    call1(&p, "aten.sin.default", 3, 2);
    assert_int_equal(launches(&p), 2);
    assert_string_equal(p.sides[1].backend->log.launches.v[0].what, "point_exp");
    assert_string_equal(p.sides[1].backend->log.launches.v[1].what, "point_realize_sin");
    for (int i = 0; i < 4; i++)
        agree(&p, i);
    pair_close(&p);
}

/* What is read through another layout, or would be overwritten, launches first. */
static void test_aliases(void **state)
{
    (void)state;
    struct pair p;
    pair_open(&p);
    make(&p, 0, (int64_t[]){ 9, 9 }, 2, 3);
    call1(&p, "aten.neg.default", 1, 0);
    transpose(&p, 2, 1, 0, 1);
    call2(&p, "aten.add_.Tensor", 1, 1, 2); /* reads itself transposed, and writes itself */
    agree(&p, 1);
    slice(&p, 3, 0, 0, 0, 8);
    slice(&p, 4, 0, 0, 1, 9);
    call1(&p, "aten.sigmoid.default", 5, 3);
    call2(&p, "aten.copy_.default", 4, 4, 5); /* overwrites what the group reads, a row further */
    call2(&p, "aten.mul.Tensor", 6, 0, 0);
    for (int i = 0; i < 7; i++)
        agree(&p, i);
    pair_close(&p);
}

/* The element's place, and a seed: the same values on both. */
static void test_random(void **state)
{
    (void)state;
    struct pair p;
    pair_open(&p);
    make(&p, 0, (int64_t[]){ 5, 7 }, 2, 4);
    transpose(&p, 1, 0, 0, 1);
    call1(&p, "aten.rand_like.default", 2, 1);
    call1(&p, "aten.randn_like.default", 3, 0);
    call1(&p, "aten.triu.default", 4, 1);
    call2(&p, "aten.mul.Tensor", 5, 2, 4);
    for (int i = 1; i < 6; i++)
        agree(&p, i);
    pair_close(&p);
}

static uint32_t drawn(uint32_t *state, uint32_t n)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

static void random_step(struct pair *p, uint32_t *r)
{
    static const char *const binary[] = { "aten.add.Tensor", "aten.mul.Tensor",
                                          "aten.maximum.default", "aten.sub.Tensor",
                                          "aten.atan2.default" };
    static const char *const unary[] = { "aten.tanh.default", "aten.neg.default",
                                         "aten.abs.default", "aten.sigmoid.default",
                                         "aten.clone.default" };
    static const char *const in_place[] = { "aten.add_.Tensor", "aten.copy_.default",
                                            "aten.mul_.Tensor" };
    int x = (int)drawn(r, 6), y = (int)drawn(r, 6), to = (int)drawn(r, 6);
    switch (drawn(r, 7)) {
    case 0:
    case 1: call2(p, binary[drawn(r, 5)], 7, x, y); break;
    case 2: call1(p, unary[drawn(r, 5)], 7, x); break;
    case 3: call2(p, in_place[drawn(r, 3)], 7, x, y); break;
    case 4: transpose(p, 7, x, 0, 1); break;
    case 5:
        if (drawn(r, 2)) /* broadcast, in place or not */
            call1(p, "aten.tanh_.default", 6, 6);
        else
            call1(p, "aten.neg.default", 8, 6);
        call2(p, "aten.add.Tensor", 7, x, pool[0][8].meta ? 8 : 6);
        drop(p, 8);
        break;
    default: call1(p, "aten.tanh_.default", 7, x); break;
    }
    drop(p, to);
    for (int b = 0; b < 2; b++) {
        pool[b][to] = pool[b][7];
        pool[b][7] = (struct tensor){ 0 };
    }
}

static void test_programs(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 12; seed++) {
        struct pair p;
        uint32_t r = seed;
        pair_open(&p);
        for (int i = 0; i < 6; i++)
            make(&p, i, (int64_t[]){ 8, 8 }, 2, seed + (unsigned)i);
        make(&p, 6, (int64_t[]){ seed % 2 ? 8 : 1, 1 }, 2, seed);
        for (int i = 0; i < 16; i++)
            random_step(&p, &r);
        for (int i = 0; i < 7; i++)
            agree(&p, i);
        pair_close(&p);
    }
}

/* ---- Texts ---- */

static void test_words(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    struct point_functions_used used = { { 0 } };
    assert_true(
        point_translate(&out, "0.5 * x * exp(-p[0]) + wrap_add(n[0], 2)", POINT_F32, &used));
    assert_true(str_is(buf_str(&out), "0.5f * x * expf(-p[0]) + wrap_add(n[0], 2)"));
    buf_clear(&out);
    assert_true(point_translate(&out, "special_gelu(x, 1)", POINT_F64, &used));
    assert_true(str_is(buf_str(&out), "special_gelu_f64(x, 1)"));
    assert_false(point_translate(&out, "bessel_i(0, x, false)", POINT_F64, &used));
    assert_false(point_can_translate("bessel_i(0, x, false)"));
    assert_true(point_mentions("x + at / columns", "at"));
    assert_false(point_mentions("atan(x)", "at"));
    buf_clear(&out);
    point_write_functions(&out, used);
    assert_true(str_find(buf_str(&out),
                         STR("DEVICE f64 special_gelu_f64(f64 x, int tanh_form)\n{\n")) < out.n);
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_one_kernel),
        cmocka_unit_test(test_powers_and_sines),
        cmocka_unit_test(test_equal_sizes),
        cmocka_unit_test(test_smaller_groups),
        cmocka_unit_test(test_realize),
        cmocka_unit_test(test_aliases),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_programs),
    };
    setenv("XDG_CACHE_HOME", temp_path("cache"), 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

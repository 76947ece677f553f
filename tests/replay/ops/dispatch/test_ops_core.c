/* The machinery below the families of operators: schemas, binding, what in-place and out= forms
 * return, the cache, the counters. */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"
#include "replay/ops/model/stats.h"
#include "tests/harness.h"

struct world {
    struct shape_env *env;
    struct ops *ops;
    struct sym_pool *pool;
};

static bool world_init(struct world *w)
{
    struct err err = ERR_INIT;
    w->ops = NULL;
    w->env = shape_env_new(NULL, &err);
    if (!w->env)
        return false;
    w->ops = ops_new(w->env, &err);
    w->pool = env_pool(w->env);
    return w->ops != NULL;
}

static void world_release(struct world *w)
{
    ops_free(w->ops);
    shape_env_free(w->env);
}

static int setup(void **state)
{
    static struct world w;
    *state = &w;
    return world_init(&w) ? 0 : -1;
}

static int teardown(void **state)
{
    world_release(*state);
    return 0;
}

static sym_id size_symbol(struct world *w, const char *source, int64_t hint)
{
    return env_create_symbol(w->env, &(struct symbol_request){ .value = sym_integer(w->pool, hint),
                                                               .source = str_of(source),
                                                               .dynamic = DIM_DYNAMIC,
                                                               .positive = true });
}

/* A contiguous tensor of one or two dimensions; d1 SYM_NONE: of one. */
static struct value tensor(struct world *w, enum dtype dtype, sym_id d0, sym_id d1)
{
    sym_id size[2] = { d0, d1 }, stride[2] = { d1, SYM_ID_ONE };
    const struct tensor_meta meta = { .dtype = dtype,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = d1 == SYM_NONE ? 1 : 2,
                                      .size = size,
                                      .stride = d1 == SYM_NONE ? stride + 1 : stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(w->ops, &meta));
}

static struct value number(struct world *w, int64_t n)
{
    return value_int(sym_integer(w->pool, n));
}

static enum op_outcome call(struct world *w, const char *name, const struct value *args, uint32_t n,
                            struct value *ret)
{
    return ops_call(w->ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, ret);
}

#define assert_value_is(w, value, expected)         \
    do {                                            \
        struct buf text_ = BUF_INIT;                \
        value_print((w)->pool, (value), &text_);    \
        assert_str_is(buf_str(&text_), (expected)); \
        buf_release(&text_);                        \
    } while (0)

/* --- Schemas --- */

static void test_schema(void **state)
{
    struct world *w = *state;
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct schema s;
    assert_true(
        schema_parse(STR("aten::pool.x(Tensor(a!) self, int[2] k, int[2] stride=[], "
                         "int[2] padding=0, SymInt[1]? d=None, *, float f=1.0000000000000001"
                         "e-05, str mode=\"a, b\", bool? c=True, Tensor?[] i, "
                         "Dict(str, Tensor) t, Scalar[] s) -> (Tensor(a!) out, Tensor[])"),
                     &arena, w->pool, &s, &err));
    assert_no_err(&err);
    assert_str_is(s.space, "aten");
    assert_str_is(s.base, "pool");
    assert_str_is(s.overload, "x");
    assert_int_equal(s.n_args, 11);
    assert_int_equal(s.n_positional, 5);
    assert_int_equal(s.n_results, 2);
    assert_true(s.args[0].written && s.args[0].alias == 'a' && s.results[0].written);
    assert_true(s.args[1].list && s.args[1].length == 2 && !s.args[1].has_default);
    assert_value_is(w, s.args[2].default_value, "[]");
    assert_value_is(w, s.args[3].default_value, "[0, 0]");
    assert_true(s.args[4].optional && s.args[4].list && s.args[4].type == SCHEMA_SYMINT);
    assert_value_is(w, s.args[5].default_value, "1.00000000000000e-5");
    assert_value_is(w, s.args[6].default_value, "'a, b'");
    assert_value_is(w, s.args[7].default_value, "True");
    assert_true(s.args[8].optional_items && s.args[8].list && !s.args[8].optional);
    assert_int_equal(s.args[9].type, SCHEMA_ANY);
    assert_str_is(s.results[0].name, "out");
    static const char *const bad[] = { "",
                                       "add(Tensor a) -> Tensor",
                                       "a::b(Tensor",
                                       "a::b(Tensor)",
                                       "a::b(int[9999999999] x) -> ()",
                                       "a::b(int x=) -> ()",
                                       "a::b(Tensor x) Tensor",
                                       "a::b(Dict(str x) -> ()",
                                       "a::b(str x=\"a) -> ()" };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(schema_parse(str_of(bad[i]), &arena, w->pool, &s, &err));
        err = ERR_INIT;
    }
    arena_release(&arena);
}

/* All rows parse, have a name of their own and are found by it. */
static void test_table(void **state)
{
    struct world *w = *state;
    for (size_t i = 0; i < ops_count(w->ops); i++) {
        const struct op *op = ops_at(w->ops, i);
        if (!ops_prepare(w->ops, op))
            fail_msg("%.*s: %s", STR_ARG(op_name(op)), w->ops->failure.text);
        if (op_index(ops_find(w->ops, op_name(op))) != i)
            fail_msg("another row has the name of %.*s", STR_ARG(op_name(op)));
        assert_int_equal(op_index(op), i);
    }
    assert_null(ops_at(w->ops, ops_count(w->ops)));
    const struct op *add = ops_find(w->ops, STR("aten.add.Tensor"));
    assert_non_null(add);
    assert_ptr_equal(ops_find(w->ops, STR("aten::add.Tensor")), add);
    assert_ptr_equal(ops_find(w->ops, STR("torch.ops.aten.add.Tensor")), add);
    assert_ptr_equal(ops_find(w->ops, STR("aten.relu")),
                     ops_find(w->ops, STR("aten.relu.default")));
    assert_null(ops_find(w->ops, STR("aten.no_such_thing.default")));
    assert_null(ops_find(w->ops, STR("")));
    const struct op *in_place = ops_find(w->ops, STR("aten.add_.Tensor"));
    assert_non_null(in_place);
    assert_str_is(op_name(in_place), "aten.add_.Tensor");
    assert_str_is(op_name(ops_find(w->ops, STR("aten.add.out"))), "aten.add.out");
    assert_null(ops_find(w->ops, STR("aten.add__.Tensor")));
    bool seen = false;
    for (const struct op *op = op_table_base(&w->ops->table, STR("aten::add")); op;
         op = op_table_next(&w->ops->table, op))
        seen |= op == add;
    assert_true(seen);
}

/* Preparing a row of one context changes neither the catalog nor its other contexts. */
static void test_catalog(void **state)
{
    struct world *w = *state;
    struct err err = ERR_INIT;
    struct op_catalog *catalog = op_catalog_new(NULL, &err);
    assert_non_null(catalog);
    struct ops *a = ops_new_from(w->env, catalog, &err), *b = ops_new_from(w->env, catalog, &err);
    assert_true(a && b);
    assert_int_equal(ops_count(a), ops_count(w->ops));
    const struct op *add = ops_find(a, STR("aten.add.Tensor"));
    assert_null(ops_looked_up(b, op_index(add)));
    const struct op *other = ops_find(b, STR("aten.add.Tensor"));
    assert_ptr_equal(ops_looked_up(b, op_index(add)), other);
    assert_non_null(ops_prepare(a, add));
    assert_true(add->parsed && !other->parsed);
    ops_free(a);
    assert_non_null(ops_prepare(b, other));
    assert_str_is(op_name(other), "aten.add.Tensor");
    const struct op *next = op_table_next(&b->table, other);
    assert_non_null(next);
    assert_ptr_equal(next, ops_at(b, other->next_overload - 1));
    ops_free(b);
    op_catalog_free(catalog);
}

/* --- Binding --- */

static void test_bind(void **state)
{
    struct world *w = *state;
    struct value x = tensor(w, DTYPE_F32, number(w, 4).u.sym, number(w, 6).u.sym), ret;
    struct value dims[] = { x, number(w, 1), number(w, 0) };
    assert_int_equal(call(w, "aten.transpose.int", dims, 3, &ret), OP_DONE);
    assert_value_is(w, ret, "f32[6, 4][1, 6]cpu");
    /* Keywords in any order, some positional. */
    struct keyword keywords[] = { { STR("dim1"), number(w, 0) }, { STR("dim0"), number(w, 1) } };
    assert_int_equal(ops_call(w->ops, STR("aten.transpose.int"),
                              &(struct arguments){ &x, 1, keywords, 2 }, &ret),
                     OP_DONE);
    assert_value_is(w, ret, "f32[6, 4][1, 6]cpu");
    /* A number for a tensor. */
    struct value two[] = { x, number(w, 2) };
    assert_int_equal(call(w, "aten.add.Tensor", two, 2, &ret), OP_DONE);
    assert_value_is(w, ret, "f32[4, 6][6, 1]cpu");
    /* What does not fit is refused. */
    assert_int_equal(call(w, "aten.transpose.int", dims, 2, &ret), OP_REFUSED);
    assert_str_is(ops_error(w->ops)->text,
                  "aten::transpose() is missing value for argument 'dim1'. Declaration: "
                  "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)");
    struct value many[] = { x, x, x, x };
    assert_int_equal(call(w, "aten.transpose.int", many, 4, &ret), OP_REFUSED);
    assert_str_is(ops_error(w->ops)->text,
                  "aten::transpose() expected at most 3 argument(s) but received 4 argument(s). "
                  "Declaration: aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> "
                  "Tensor(a)");
    assert_int_equal(call(w, "aten.transpose.int", many, 3, &ret), OP_REFUSED);
    assert_str_is(
        ops_error(w->ops)->text,
        "aten::transpose() Expected a value of type 'int' for argument 'dim0' but instead "
        "found type 'Tensor'.\nPosition: 1\nValue: f32[4, 6][6, 1]cpu\nDeclaration: "
        "aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)");
    keywords[0].name = STR("dim0");
    assert_int_equal(ops_call(w->ops, STR("aten.transpose.int"),
                              &(struct arguments){ &x, 1, keywords, 2 }, &ret),
                     OP_REFUSED);
    keywords[0].name = STR("nothing");
    assert_int_equal(ops_call(w->ops, STR("aten.transpose.int"),
                              &(struct arguments){ &x, 1, keywords, 2 }, &ret),
                     OP_REFUSED);
    assert_int_equal(call(w, "aten.no_such_thing.default", &x, 1, &ret), OP_UNSUPPORTED);
    assert_str_is(ops_error(w->ops)->text, "aten.no_such_thing.default");
}

/* --- In-place and out= --- */

static void test_in_place(void **state)
{
    struct world *w = *state;
    sym_id two = number(w, 2).u.sym, three = number(w, 3).u.sym;
    struct value x = tensor(w, DTYPE_F32, two, three), row = tensor(w, DTYPE_F32, three, SYM_NONE);
    struct value whole = tensor(w, DTYPE_I64, two, three), ret;
    struct value args[] = { x, row };
    assert_int_equal(call(w, "aten.add_.Tensor", args, 2, &ret), OP_DONE);
    assert_int_equal(ret.u.tensor.storage, x.u.tensor.storage);
    assert_ptr_equal(ret.u.tensor.meta, x.u.tensor.meta);
    assert_int_equal(ops_n_written(w->ops), 0);
    args[0] = row, args[1] = x;
    assert_int_equal(call(w, "aten.add_.Tensor", args, 2, &ret), OP_REFUSED);
    assert_int_equal(call(w, "aten.sqrt_.default", &whole, 1, &ret), OP_REFUSED);
    assert_str_is(ops_error(w->ops)->text,
                  "Attempting to cast from torch.float32 to out tensor with dtype torch.int64, but "
                  "this can't be cast because it is not safe!");
    ops_set_eager(w->ops, true);
    assert_int_equal(call(w, "aten.sqrt_.default", &whole, 1, &ret), OP_REFUSED);
    assert_str_is(ops_error(w->ops)->text,
                  "result type Float can't be cast to the desired output type Long");
}

static void test_view_in_place(void **state)
{
    struct world *w = *state;
    sym_id two = number(w, 2).u.sym, three = number(w, 3).u.sym;
    struct value x = tensor(w, DTYPE_F32, two, three), ret;
    struct value args[] = { x, number(w, 0), number(w, 1) };
    uint32_t arg;
    for (int i = 0; i < 2; i++) { /* the second one is not answered without its effect */
        assert_int_equal(call(w, "aten.transpose_.default", args, 3, &ret), OP_DONE);
        assert_value_is(w, ret, "f32[3, 2][1, 3]cpu");
        assert_int_equal(ret.u.tensor.storage, x.u.tensor.storage);
        assert_int_equal(ops_n_written(w->ops), 1);
        assert_ptr_equal(ops_written(w->ops, 0, &arg).meta, ret.u.tensor.meta);
        assert_int_equal(arg, 0);
    }
    const struct op_stats *stats =
        ops_stats(w->ops, ops_find(w->ops, STR("aten.transpose_.default")));
    assert_int_equal(stats->bypasses[OP_BYPASS_INPLACE_VIEW], 2);
}

static void test_out(void **state)
{
    struct world *w = *state;
    sym_id two = number(w, 2).u.sym, three = number(w, 3).u.sym;
    struct value x = tensor(w, DTYPE_F32, two, three), ret;
    struct value args[] = { x, x };
    struct keyword out = { STR("out"), tensor(w, DTYPE_F32, SYM_ID_ZERO, SYM_NONE) };
    if (!ops_find(w->ops, STR("aten.add.out")))
        skip();
    assert_int_equal(
        ops_call(w->ops, STR("aten.add.out"), &(struct arguments){ args, 2, &out, 1 }, &ret),
        OP_DONE);
    assert_value_is(w, ret, "f32[2, 3][3, 1]cpu");
    assert_int_equal(ret.u.tensor.storage, out.value.u.tensor.storage);
    assert_int_equal(ops_n_written(w->ops), 1);
    out.value = tensor(w, DTYPE_I64, two, three);
    assert_int_equal(
        ops_call(w->ops, STR("aten.add.out"), &(struct arguments){ args, 2, &out, 1 }, &ret),
        OP_REFUSED);
}

/* --- The cache --- */

static void test_cache(void **state)
{
    struct world *w = *state;
    sym_id s = size_symbol(w, "L['x'].size()[0]", 8), four = number(w, 4).u.sym;
    struct value x = tensor(w, DTYPE_F32, s, four), y = tensor(w, DTYPE_F32, s, four);
    struct value args[] = { x, y }, first, second;
    const struct op *op = ops_find(w->ops, STR("aten.add.Tensor"));
    ops_stats_clear(w->ops);
    ops_set_stack(w->ops, 17);
    assert_int_equal(call(w, "aten.add.Tensor", args, 2, &first), OP_DONE);
    assert_int_equal(call(w, "aten.add.Tensor", args, 2, &second), OP_DONE);
    assert_ptr_equal(first.u.tensor.meta, second.u.tensor.meta);
    assert_int_not_equal(first.u.tensor.storage, second.u.tensor.storage);
    const struct op_stats *stats = ops_stats(w->ops, op);
    assert_int_equal(stats->calls, 2);
    assert_int_equal(stats->dispatches, 2);
    assert_int_equal(stats->by_depth[0], 2);
    assert_int_equal(stats->misses, 1);
    assert_int_equal(stats->hits, 1);
    assert_int_equal(stats->fast[OP_COUNTER_ATTEMPT_FAST], 1);
    assert_int_equal(ops_stack_stats(w->ops, 0)->stack, 17);
    assert_int_equal(ops_stack_stats(w->ops, 0)->calls, 2);
    assert_null(ops_stack_stats(w->ops, 1));
    /* Another pattern of aliases is another call. */
    args[1] = x;
    assert_int_equal(call(w, "aten.add.Tensor", args, 2, &second), OP_DONE);
    assert_int_equal(ops_stats(w->ops, op)->misses, 2);
    /* It outlives the graph, whose storages it does not keep. */
    ops_reset(w->ops);
    struct value again[] = { tensor(w, DTYPE_F32, s, four), tensor(w, DTYPE_F32, s, four) };
    assert_int_equal(call(w, "aten.add.Tensor", again, 2, &second), OP_DONE);
    assert_int_equal(ops_stats(w->ops, op)->hits, 2);
    assert_int_equal(second.u.tensor.storage, 2);
    /* Views alias the argument they are of. */
    struct value view[] = { again[1], number(w, 1), number(w, 0) };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(call(w, "aten.transpose.int", view, 3, &second), OP_DONE);
        assert_int_equal(second.u.tensor.storage, again[1].u.tensor.storage);
    }
    assert_true(ops_ablate(w->ops, ABLATION_CACHE, NULL, true));
    assert_int_equal(call(w, "aten.add.Tensor", again, 2, &second), OP_DONE);
    assert_int_equal(ops_stats(w->ops, op)->hits, 2);
    assert_true(ops_ablate(w->ops, ABLATION_CACHE, NULL, false));
    /* Free: as if it was not there. */
    assert_true(ops_ablate(w->ops, ABLATION_FREE, op, true));
    assert_int_equal(call(w, "aten.add.Tensor", again, 2, &second), OP_DONE);
    assert_int_equal(ops_stats(w->ops, op)->hits, 2);
    assert_int_equal(ops_stats(w->ops, op)->calls, 5);
}

/* A call that makes symbols makes others each time. */
static void test_cache_effects(void **state)
{
    struct world *w = *state;
    struct value x = tensor(w, DTYPE_B8, number(w, 5).u.sym, SYM_NONE), first, second;
    if (!ops_find(w->ops, STR("aten.nonzero.default")))
        skip();
    assert_int_equal(call(w, "aten.nonzero.default", &x, 1, &first), OP_DONE);
    struct value y = tensor(w, DTYPE_B8, number(w, 5).u.sym, SYM_NONE);
    assert_int_equal(call(w, "aten.nonzero.default", &y, 1, &second), OP_DONE);
    assert_int_not_equal(first.u.tensor.meta->size[0], second.u.tensor.meta->size[0]);
    const struct op_stats *stats = ops_stats(w->ops, ops_find(w->ops, STR("aten.nonzero.default")));
    assert_int_equal(stats->bypasses[OP_BYPASS_DYNAMIC_SHAPE], 2);
}

/* --- Hostile calls, failing memory --- */

/* Every operator with arguments of every kind and number: an answer, never a crash. */
static void test_hostile(void **state)
{
    struct world *w = *state;
    sym_id s = size_symbol(w, "L['h'].size()[0]", 7);
    struct value nested = number(w, 1);
    for (int i = 0; i < 100; i++) {
        struct value *up = ops_values(w->ops, 1);
        *up = nested;
        nested = value_items(VALUE_LIST, up, 1);
    }
    struct value *ints = ops_values(w->ops, 3000), *tensors = ops_values(w->ops, 300);
    for (int i = 0; i < 3000; i++)
        ints[i] = number(w, i % 5 - 2);
    struct value x = tensor(w, DTYPE_F32, s, number(w, 3).u.sym);
    for (int i = 0; i < 300; i++)
        tensors[i] = x;
    sym_id size[100], stride[100];
    for (int i = 0; i < 100; i++)
        size[i] = stride[i] = SYM_ID_ONE;
    const struct tensor_meta deep = { .dtype = DTYPE_F32,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = 100,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    const struct value kinds[] = {
        value_none(),
        x,
        tensor(w, DTYPE_B8, SYM_ID_ZERO, SYM_NONE),
        value_tensor(ops_new_tensor(w->ops, &deep)),
        number(w, -1),
        number(w, INT64_MAX),
        number(w, INT64_MIN),
        value_int(s),
        value_sym(VALUE_FLOAT, SYM_ID_NAN),
        value_sym(VALUE_BOOL, SYM_ID_TRUE),
        value_items(VALUE_LIST, NULL, 0),
        value_items(VALUE_LIST, ints, 3000),
        value_items(VALUE_LIST, ints, 2),
        value_items(VALUE_TUPLE, tensors, 300),
        value_items(VALUE_LIST, tensors, 2),
        nested,
        (struct value){ .kind = VALUE_STRING, .u.text = STR("x") },
        (struct value){ .kind = VALUE_OPAQUE, .u.text = STR("<object>") },
    };
    enum { KINDS = sizeof kinds / sizeof kinds[0] };
    uint32_t seed = 1;
    for (size_t i = 0; i < ops_count(w->ops); i++) {
        const struct op *op = ops_at(w->ops, i);
        for (uint32_t round = 0; round < 60; round++) {
            struct value args[12], ret;
            uint32_t n = round % 12;
            for (uint32_t k = 0; k < n; k++) {
                seed = seed * 1664525u + 1013904223u;
                /* The first one is mostly a tensor, so that rules are reached. */
                args[k] = k == 0 && round % 3 ? x : kinds[(seed >> 16) % KINDS];
            }
            enum op_outcome outcome =
                ops_call_op(w->ops, op, &(struct arguments){ args, n, NULL, 0 }, &ret);
            struct err err = ERR_INIT;
            if (outcome == OP_FAILED && ops_failed(w->ops, &err))
                fail_msg("%.*s: %s", STR_ARG(op_name(op)), err.text);
            if (outcome != OP_DONE && !ops_error(w->ops)->type.n)
                fail_msg("%.*s says nothing", STR_ARG(op_name(op)));
        }
    }
}

static bool attempt(void *arg)
{
    (void)arg;
    struct world w;
    bool ok = world_init(&w);
    struct value ret, args[3];
    if (ok) {
        sym_id s = size_symbol(&w, "L['x'].size()[0]", 8);
        ok = s != SYM_NONE;
        args[0] = ok ? tensor(&w, DTYPE_F32, s, SYM_ID_TWO) : value_none();
        args[1] = args[0];
        ok = ok && args[0].kind == VALUE_TENSOR;
        ok = ok && call(&w, "aten.add.Tensor", args, 2, &ret) == OP_DONE;
        ok = ok && call(&w, "aten.add.Tensor", args, 2, &ret) == OP_DONE;
        args[1] = value_int(SYM_ID_ZERO), args[2] = value_int(SYM_ID_ONE);
        ok = ok && call(&w, "aten.transpose_.default", args, 3, &ret) == OP_DONE;
        struct err err = ERR_INIT;
        if (!ok && w.ops->outcome == OP_FAILED)
            assert_true(ops_failed(w.ops, &err));
    }
    world_release(&w);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(test_schema),
        T(test_table),
        T(test_catalog),
        T(test_bind),
        T(test_in_place),
        T(test_view_in_place),
        T(test_out),
        T(test_cache),
        T(test_cache_effects),
        T(test_hostile),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

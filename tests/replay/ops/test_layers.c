/* The layers over computing, each by itself: without the memo, or without the dispatch model, the
 * results and the guards are the same, but for what a hit of the cache decides; without the memo
 * the counts are, too. */
#include "replay/ops/layers.h"

#include <glob.h>
#include <string.h>

#include "replay/ops/model/stats.h"
#include "replay/replay.h"
#include "tests/harness.h"

/* --- A few calls --- */

struct asked {
    struct buf results, guards;
    uint64_t again; /* what the environment was asked by the same calls, made a second time */
    uint64_t dispatches, hits, misses;
};

static struct value input(struct ops *ops, const char *const *names)
{
    struct sym_pool *pool = ops_pool(ops);
    sym_id size[4], stride[4];
    stride[3] = SYM_ID_ONE;
    for (int i = 4; i-- > 0;) {
        size[i] = env_adopt_symbol(ops_env(ops), str_of(names[i]), sym_integer(pool, 8 + i),
                                   (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO }, STR(""));
        if (i)
            stride[i - 1] = sym_mul(pool, stride[i], size[i]);
    }
    const struct tensor_meta meta = { .dtype = DTYPE_F32,
                                      .device = { DEVICE_CPU, -1 },
                                      .ndim = 4,
                                      .size = size,
                                      .stride = stride,
                                      .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(ops, &meta));
}

static void call(struct ops *ops, const char *name, const struct value *args, uint32_t n,
                 struct buf *results)
{
    struct value ret;
    assert_int_equal(ops_call(ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret),
                     OP_DONE);
    value_print(ops_pool(ops), ret, results);
}

/* Adds, which asks whether sizes are equal; what is passed by; what C++ takes apart. */
static void call_some(struct ops *ops, struct value x, struct value y, struct buf *results)
{
    struct value two[] = { x, y }, dim = value_int(SYM_ID_ONE);
    struct value mean[] = { x, value_items(VALUE_LIST, &dim, 1) };
    struct value softmax[] = { x, dim };
    call(ops, "aten.add.Tensor", two, 2, results);
    call(ops, "aten.add_.Tensor", two, 2, results);
    call(ops, "aten.mean.dim", mean, 2, results);
    call(ops, "aten.softmax.int", softmax, 2, results);
    call(ops, "aten.nonzero.default", &x, 1, results);
}

static struct asked ask(bool model, bool memo)
{
    static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
    struct err err = ERR_INIT;
    struct asked ret = { .results = BUF_INIT, .guards = BUF_INIT };
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = env ? ops_new(env, &err) : NULL;
    assert_non_null(ops);
    ops_set_layers(ops, model, memo);
    struct value x = input(ops, names), y = input(ops, names + 4);
    call_some(ops, x, y, &ret.results);
    uint64_t before = env_counts(env).evaluations;
    call_some(ops, x, y, &ret.results);
    ret.again = env_counts(env).evaluations - before;
    for (uint32_t i = 0; i < env_n_guards(env); i++)
        sym_print(env_pool(env), env_guard_at(env, i)->expr, &ret.guards);
    ret.dispatches = ops_totals(ops).dispatches;
    for (size_t i = 0; i < ops_count(ops); i++) {
        ret.hits += ops_stats(ops, ops_at(ops, i))->hits;
        ret.misses += ops_stats(ops, ops_at(ops, i))->misses;
    }
    ops_free(ops);
    shape_env_free(env);
    return ret;
}

static void assert_same_answers(const struct asked *a, const struct asked *b)
{
    assert_true(a->results.n > 0 && a->guards.n > 0);
    assert_true(str_eq(buf_str(&a->results), buf_str(&b->results)));
    assert_true(str_eq(buf_str(&a->guards), buf_str(&b->guards)));
}

static void test_calls(void **state)
{
    (void)state;
    struct asked all = ask(true, true), no_memo = ask(true, false), no_model = ask(false, true),
                 computed = ask(false, false);
    assert_same_answers(&all, &no_memo);
    assert_same_answers(&all, &no_model);
    assert_same_answers(&all, &computed);
    /* Only the memo saves work. */
    assert_int_equal(no_model.again, all.again);
    assert_int_equal(no_memo.again, computed.again);
    assert_true(all.again < computed.again);
    /* Only the model counts. */
    assert_true(all.dispatches > 10 && all.hits > 2 && all.misses > 2);
    assert_int_equal(no_memo.dispatches, all.dispatches);
    assert_int_equal(no_memo.hits, all.hits);
    assert_int_equal(no_memo.misses, all.misses);
    assert_int_equal(no_model.dispatches + no_model.hits + no_model.misses, 0);
    assert_int_equal(computed.dispatches + computed.hits + computed.misses, 0);
    struct asked *of[] = { &all, &no_memo, &no_model, &computed };
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        buf_release(&of[i]->results);
        buf_release(&of[i]->guards);
    }
}

/* --- Formats --- */

/* Returns how many guards a composite operator has added for a tensor that empty() made in a
 * format, and then for another of the same meta, of whose format C++ asks. */
static uint32_t guards_of_formats(bool memo, enum memory_format in, const char *op, uint32_t n_args,
                                  uint32_t *of_first)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct err err = ERR_INIT;
    struct buf results = BUF_INIT;
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = env ? ops_new(env, &err) : NULL;
    assert_non_null(ops);
    ops_set_layers(ops, false, memo);
    struct value sizes[4], ones[] = { value_int(SYM_ID_ONE), value_int(SYM_ID_ONE) }, made;
    for (int i = 0; i < 4; i++)
        sizes[i] =
            value_int(env_adopt_symbol(env, str_of(names[i]), sym_integer(env_pool(env), 8 + i),
                                       (struct sym_range){ SYM_ID_ZERO, SYM_ID_INT_OO }, STR("")));
    struct keyword format = { STR("memory_format"),
                              { .kind = VALUE_MEMORY_FORMAT, .u.memory_format = in } };
    struct value list = value_items(VALUE_LIST, sizes, 4);
    assert_int_equal(ops_call(ops, STR("aten.empty.memory_format"),
                              &(struct arguments){ &list, 1, &format, 1 }, &made),
                     OP_DONE);
    struct value args[] = { made, value_items(VALUE_LIST, ones, 2) };
    call(ops, op, args, n_args, &results);
    *of_first = env_n_guards(env);
    args[0] = value_tensor(ops_new_tensor(ops, made.u.tensor.meta));
    call(ops, op, args, n_args, &results);
    uint32_t ret = env_n_guards(env);
    buf_release(&results);
    ops_free(ops);
    shape_env_free(env);
    return ret;
}

static void check_formats(enum memory_format in, const char *op, uint32_t n_args)
{
    uint32_t first, computed_first;
    uint32_t all = guards_of_formats(true, in, op, n_args, &first);
    uint32_t computed = guards_of_formats(false, in, op, n_args, &computed_first);
    assert_int_equal(first, computed_first);
    assert_int_equal(all, computed);
    assert_true(all > first);
}

/* The memo does not answer the call of a tensor with what it keeps of one whose format is known. */
static void test_formats(void **state)
{
    (void)state;
    check_formats(FORMAT_CHANNELS_LAST, "aten.adaptive_avg_pool2d.default", 2);
    check_formats(FORMAT_CONTIGUOUS, "aten.contiguous.default", 1);
}

/* --- Views of PyTorch's cache --- */

static struct tensor view_again(struct ops *ops, const char *name, const struct value *args,
                                uint32_t n)
{
    struct value ret;
    assert_int_equal(ops_call(ops, str_of(name), &(struct arguments){ args, n, NULL, 0 }, &ret),
                     OP_DONE);
    return ret.u.tensor;
}

/* A view that was made before is one of PyTorch's cache, with and without the layers. */
static void test_cached_views(void **state)
{
    (void)state;
    static const char *const names[] = { "a", "b", "c", "d" };
    struct err err = ERR_INIT;
    for (unsigned layers = 0; layers < 4; layers++) {
        struct shape_env *env = shape_env_new(NULL, &err);
        struct ops *ops = env ? ops_new(env, &err) : NULL;
        assert_non_null(ops);
        ops_set_layers(ops, layers & 1, layers & 2);
        struct value x = input(ops, names), one = value_int(SYM_ID_ONE),
                     minus = value_int(sym_integer(ops_pool(ops), -1));
        struct value slice[] = { x, one, one };
        struct value flat[] = { x, value_items(VALUE_LIST, &minus, 1) };
        struct value both[] = { x, x };
        assert_false(view_again(ops, "aten.slice.Tensor", slice, 3).cached_view);
        assert_true(view_again(ops, "aten.slice.Tensor", slice, 3).cached_view);
        assert_false(view_again(ops, "aten.reshape.default", flat, 2).cached_view);
        assert_true(view_again(ops, "aten.reshape.default", flat, 2).cached_view);
        /* What is no view of its argument, and what is the argument, are left. */
        view_again(ops, "aten.add.Tensor", both, 2);
        assert_false(view_again(ops, "aten.add.Tensor", both, 2).cached_view);
        view_again(ops, "aten.contiguous.default", &x, 1);
        assert_false(view_again(ops, "aten.contiguous.default", &x, 1).cached_view);
        ops_free(ops);
        shape_env_free(env);
    }
}

/* --- Autograd --- */

enum { OF_SELF = 1, OF_OTHER = 2 };

/* Returns how often the call dispatched clone(). gradients: which of two arguments require one. */
static uint64_t clones_of(bool autograd, unsigned gradients, const char *name, uint32_t n)
{
    static const char *const names[] = { "a", "b", "c", "d" };
    struct err err = ERR_INIT;
    struct buf results = BUF_INIT;
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = env ? ops_new(env, &err) : NULL;
    assert_non_null(ops);
    ops_set_autograd(ops, autograd);
    struct value args[] = { input(ops, names), input(ops, names) };
    for (unsigned i = 0; i < 2; i++)
        assert_true(!(gradients >> i & 1) || ops_note_gradient(ops, args[i].u.tensor));
    call(ops, name, args, n, &results);
    const struct op_stats *stats = ops_stats(ops, ops_find(ops, STR("aten.clone.default")));
    uint64_t ret = stats->dispatches;
    buf_release(&results);
    ops_free(ops);
    shape_env_free(env);
    return ret;
}

static void test_autograd(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t n;
        unsigned gradients;
        bool clones;
    } rows[] = {
        { "aten.silu_.default", 1, OF_SELF, true },  { "aten.silu_.default", 1, 0, false },
        { "aten.relu_.default", 1, OF_SELF, false }, /* needs its result only */
        { "aten.silu.default", 1, OF_SELF, false },  { "aten.mul_.Tensor", 2, OF_OTHER, true },
        { "aten.mul_.Tensor", 2, OF_SELF, false },   { "aten.hypot_.default", 2, OF_OTHER, false },
        { "aten.xlogy_.Tensor", 2, OF_OTHER, true }, /* both formulas name self */
    };
    uint64_t once = clones_of(false, 0, "aten.clone.default", 1);
    assert_true(once > 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(clones_of(true, rows[i].gradients, rows[i].name, rows[i].n),
                         rows[i].clones ? once : 0);
        assert_int_equal(clones_of(false, rows[i].gradients, rows[i].name, rows[i].n), 0);
    }
}

/* --- Recordings --- */

static struct replay *replay_without(struct trace *trace, bool no_memo, bool no_model)
{
    struct err err = ERR_INIT;
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.no_memo = no_memo;
    how.no_model = no_model;
    how.digests = how.trails = how.passes = true;
    struct replay *ret = replay_trace(trace, &how, &err);
    assert_no_err(&err);
    assert_non_null(ret);
    return ret;
}

static void assert_same_results(const struct replay *a, const struct replay *b)
{
    struct replay_counts x = a->totals, y = b->totals;
    x.ns = y.ns = 0;
    assert_memory_equal(&x, &y, sizeof x);
    assert_int_equal(a->n_digests, b->n_digests);
    for (size_t i = 0; i < a->n_digests; i++)
        assert_int_equal(a->digests[i].hash, b->digests[i].hash);
    assert_int_equal(a->n_differences, b->n_differences);
    assert_int_equal(a->n_violations, b->n_violations);
    assert_int_equal(a->costs.symbols, b->costs.symbols);
    assert_int_equal(a->n_guards, b->n_guards);
    for (size_t i = 0; i < a->n_guards; i++) {
        assert_true(str_eq(a->guards[i].expr, b->guards[i].expr));
        assert_true(str_eq(a->guards[i].node, b->guards[i].node));
        assert_int_equal(a->guards[i].status, b->guards[i].status);
    }
    assert_int_equal(a->n_trails, b->n_trails);
    for (size_t i = 0; i < a->n_trails; i++)
        assert_true(str_eq(a->trails[i].text, b->trails[i].text));
}

static void assert_same_counts(const struct replay *a, const struct replay *b)
{
    assert_memory_equal(a->passes, b->passes, sizeof a->passes);
    assert_int_equal(a->n_pass_operators, b->n_pass_operators);
    for (size_t i = 0; i < a->n_pass_operators; i++) {
        assert_true(str_eq(a->pass_operators[i].op, b->pass_operators[i].op));
        assert_memory_equal(&a->pass_operators[i].counts, &b->pass_operators[i].counts,
                            sizeof a->pass_operators[i].counts);
    }
    assert_int_equal(a->n_operators, b->n_operators);
    for (size_t i = 0; i < a->n_operators; i++) {
        const struct op_stats *x = &a->operators[i].stats, *y = &b->operators[i].stats;
        assert_true(str_eq(a->operators[i].op, b->operators[i].op));
        assert_int_equal(x->calls, y->calls);
        assert_int_equal(x->dispatches, y->dispatches);
        assert_memory_equal(x->by_depth, y->by_depth, sizeof x->by_depth);
        assert_memory_equal(x->fast, y->fast, sizeof x->fast);
        assert_int_equal(x->hits, y->hits);
        assert_int_equal(x->misses, y->misses);
        assert_memory_equal(x->bypasses, y->bypasses, sizeof x->bypasses);
    }
}

static void compare_layers(const char *path)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    struct replay *all = replay_without(trace, false, false),
                  *no_memo = replay_without(trace, true, false),
                  *no_model = replay_without(trace, false, true),
                  *computed = replay_without(trace, true, true);
    printf("%s\n", path);
    if (strstr(path, "/replaced_sizes.")) { /* a hit of PyTorch's cache keeps a guard away there */
        assert_same_results(no_memo, computed);
        assert_int_equal(computed->n_guards, all->n_guards + 1);
    } else {
        assert_same_results(all, no_memo);
        assert_same_counts(all, no_memo);
        assert_same_results(all, no_model);
        assert_same_results(all, computed);
    }
    replay_free(all);
    replay_free(no_memo);
    replay_free(no_model);
    replay_free(computed);
    trace_close(trace);
}

static void test_recordings(void **state)
{
    (void)state;
    glob_t files;
    assert_int_equal(glob(source_path("tests/recordings/*.log.zst"), 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++)
        compare_layers(files.gl_pathv[i]);
    assert_true(files.gl_pathc > 5);
    globfree(&files);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_cached_views), cmocka_unit_test(test_autograd),
        cmocka_unit_test(test_recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

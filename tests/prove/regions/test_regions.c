/* The regions of a made log. */
#include <stdio.h>

#include "prove/regions/regions.h"
#include "tests/log_make.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/graphs.h"

static void put_symbol(struct log_make *log, const char *name, const char *value)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"%s\", \"vr\": \"[2, int_oo]\", "
               "\"source\": \"L['%s'].size()[0]\", \"user_stack\": [], \"stack\": []}",
               name, value, name);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_guard(struct log_make *log, const char *expr)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"guard_added_fast\": {\"expr\": \"%s\", \"user_stack\": [], \"stack\": []}",
               expr);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static struct trace *make_trace(void)
{
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_start\": {\"stack\": []}", NULL);
    put_symbol(&log, "s0", "8");
    put_guard(&log, "Eq(Mod(s0, 4), 0)");
    put_guard(&log, "s0 < 40");
    put_guard(&log, "s0 < 50");
    return log_open(&log);
}

static void test_regions(void **state)
{
    struct trace *trace = *state;
    struct conditions c;
    struct regions regions;
    struct err err = ERR_INIT;
    const struct regions_options options = { .ns = UINT64_C(600) * 1000000000 };
    assert_true(conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err));
    assert_true(regions_make(&regions, trace, &c, &options, &err));
    assert_true(regions.complete);
    const struct region *first = &regions.list.v[0];
    assert_int_equal(first->kind, REGION_RECORDED);
    assert_int_equal(first->n_conditions, 3); /* s0 < 50 follows from s0 < 40 */
    assert_int_equal(first->smallest[0], 4);
    assert_true(first->has_smallest);
    assert_true(str_is(first->words, "s0 in {4, 8, ..., 36}"));
    assert_int_equal(first->n_sizes, 1);
    assert_int_equal(first->sizes[0].symbol, 0);
    assert_true(str_is(first->sizes[0].words, "in {4, 8, ..., 36}"));
    assert_int_equal(first->conditions[0].symbol, c.symbols.v[0].symbol);
    /* 0, 1, what is no multiple of 4, and what is too large, are others. */
    bool zero = false, two = false, forty = false;
    for (size_t i = 1; i < regions.list.n; i++) {
        const struct region *r = &regions.list.v[i];
        assert_in_range(r->parent, 0, i - 1);
        assert_in_range(r->separator, 0, regions.list.v[r->parent].n_conditions - 1);
        zero |= r->smallest[0] == 0;
        two |= r->smallest[0] == 2;
        forty |= r->smallest[0] == 40;
    }
    assert_true(zero && two && forty);
    assert_true(regions_add_calls(&regions, trace, &c, &err));
    assert_int_equal(regions.list.v[0].n_calls, 1);
    assert_int_equal(regions.list.v[0].calls[0], 0);
    assert_int_equal(regions.list.v[1].n_calls, 0);
    regions_release(&regions);

    const struct regions_options two_only = { .limit = 2, .ns = options.ns };
    assert_true(regions_make(&regions, trace, &c, &two_only, &err));
    assert_int_equal(regions.list.n, 2);
    assert_false(regions.complete);
    regions_release(&regions);

    const struct regions_options no_time = { 0 }; /* the first region is always found */
    assert_true(regions_make(&regions, trace, &c, &no_time, &err));
    assert_int_equal(regions.list.n, 1);
    assert_false(regions.complete);
    regions_release(&regions);
    conditions_release(&c);
}

/* The words of a region name the first 64 symbols. */
static void test_many_symbols(void **state)
{
    (void)state;
    enum { SYMBOLS = 200 };
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_start\": {\"stack\": []}", NULL);
    for (int i = 0; i < SYMBOLS; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        put_symbol(&log, name, "8");
    }
    struct trace *trace = log_open(&log);
    struct conditions c;
    struct regions regions;
    struct err err = ERR_INIT;
    const struct regions_options options = { .limit = 1, .ns = UINT64_C(600) * 1000000000 };
    assert_true(conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err));
    assert_true(regions_make(&regions, trace, &c, &options, &err));
    const struct region *first = &regions.list.v[0];
    assert_int_equal(first->n_conditions, SYMBOLS);
    assert_true(str_starts(first->words, STR("s0 >= 2, s1 >= 2, ")));
    assert_true(str_ends(first->words, STR(", s63 >= 2, and conditions on more symbols")));
    assert_int_equal(first->n_sizes, REGION_SIZES);
    assert_true(str_is(first->sizes[REGION_SIZES - 1].words, ">= 2"));
    assert_int_equal(first->smallest[SYMBOLS - 1], 2);
    regions_release(&regions);
    conditions_release(&c);
    trace_close(trace);
}

static void put_tensor(struct log_make *log, int compile, int rows, int columns)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"describe_tensor\": {\"id\": 0, \"describer_id\": %d, \"ndim\": 2, \"dtype\": "
               "\"torch.float32\", \"device\": \"device(type='cpu')\", \"size\": [%d, %d], "
               "\"stride\": [%d, 1], \"layout\": \"torch.strided\", \"storage\": 0}, "
               "\"frame_id\": 0, \"frame_compile_id\": %d",
               compile, rows, columns, columns, compile);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    meta.n = 0;
    buf_printf(&meta,
               "\"describe_source\": {\"id\": 0, \"describer_id\": %d, \"source\": \"L['s0']\"}, "
               "\"frame_id\": 0, \"frame_compile_id\": %d",
               compile, compile);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

/* A call whose static sizes are others lies in no region, although the size that is a symbol does.
 */
static void test_other_sizes(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_put(&log, "\"dynamo_start\": {\"stack\": []}", NULL);
    put_tensor(&log, 0, 8, 3);
    put_symbol(&log, "s0", "8");
    put_tensor(&log, 1, 9, 3);
    put_tensor(&log, 2, 9, 5);
    struct trace *trace = log_open(&log);
    struct conditions c;
    struct regions regions;
    struct err err = ERR_INIT;
    const struct regions_options options = { .limit = 1, .ns = UINT64_C(600) * 1000000000 };
    assert_int_equal(trace->n_attempts, 3);
    assert_true(conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err));
    assert_true(regions_make(&regions, trace, &c, &options, &err));
    assert_true(regions_add_calls(&regions, trace, &c, &err));
    assert_int_equal(regions.list.v[0].n_calls, 2);
    assert_int_equal(regions.list.v[0].calls[1], 1);
    regions_release(&regions);
    conditions_release(&c);
    trace_close(trace);
}

static bool make_regions(void *arg)
{
    struct trace *trace = arg;
    struct conditions c;
    struct regions regions = { 0 };
    struct err err = { 0 };
    const struct regions_options options = { .limit = 2, .ns = UINT64_C(600) * 1000000000 };
    bool ok = conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err) &&
              regions_make(&regions, trace, &c, &options, &err) &&
              regions_add_calls(&regions, trace, &c, &err) && regions.list.n == 2;
    regions_release(&regions);
    conditions_release(&c);
    return ok;
}

static void test_memory(void **state)
{
    struct err err = ERR_INIT;
    assert_non_null(trace_symbols(*state, &err));
    assert_non_null(trace_guards(*state, &err));
    assert_non_null(trace_graphs(*state, &err));
    check_alloc_failures(make_regions, *state);
}

static int setup(void **state)
{
    *state = make_trace();
    return 0;
}

static int teardown(void **state)
{
    trace_close(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_regions),
        cmocka_unit_test(test_many_symbols),
        cmocka_unit_test(test_other_sizes),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

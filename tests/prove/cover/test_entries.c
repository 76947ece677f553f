/* A made log of a function with several entries: which sizes they serve together. */
#include "prove/cover/entries.h"
#include "tests/log_make.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"

static void put_tensor(struct log_make *log, int id, const char *name, const char *size)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"describe_tensor\": {\"id\": %d, \"ndim\": %d, \"dtype\": \"torch.float32\", "
               "\"device\": \"device(type='cpu')\", \"size\": %s, \"stride\": %s, "
               "\"describer_id\": 0}",
               id, str_contains(str_of(size), STR(",")) ? 2 : 1, size, size);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    meta.n = 0;
    buf_printf(&meta,
               "\"describe_source\": {\"describer_id\": 0, \"id\": %d, \"source\": \"L['%s']\"}",
               id, name);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_symbol(struct log_make *log, const char *name, const char *value,
                       const char *source)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"%s\", \"vr\": \"[2, int_oo]\", "
               "\"source\": \"%s\", \"user_stack\": [], \"stack\": []}",
               name, value, source);
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

static void start(struct log_make *log, const char *context)
{
    log->context = context;
    log_put(log, "\"dynamo_start\": {\"stack\": []}", NULL);
}

enum { ENTRIES = 5, BASE = 3 };

static struct trace *make_trace(void)
{
    struct log_make log = log_start();
    start(&log, LOG_COMPILE(0, 0, 0)); /* all is static */
    put_tensor(&log, 0, "x", "[4, 16]");
    put_tensor(&log, 1, "y", "[4]");
    start(&log, LOG_COMPILE(0, 1, 0)); /* x and y have as many rows, an even number */
    put_tensor(&log, 0, "x", "[6, 16]");
    put_tensor(&log, 1, "y", "[6]");
    put_symbol(&log, "s0", "6", "L['x'].size()[0]");
    put_guard(&log, "Eq(Mod(s0, 2), 0)");
    start(&log, LOG_COMPILE(0, 2, 0)); /* other columns: it serves none */
    put_tensor(&log, 0, "x", "[6, 8]");
    put_tensor(&log, 1, "y", "[6]");
    put_symbol(&log, "s0", "6", "L['x'].size()[0]");
    start(&log, LOG_COMPILE(0, 3, 0)); /* the guard divides by 0 where they are equal */
    put_tensor(&log, 0, "x", "[7, 16]");
    put_tensor(&log, 1, "y", "[3]");
    put_symbol(&log, "s0", "7", "L['x'].size()[0]");
    put_symbol(&log, "s1", "3", "L['y'].size()[0]");
    put_guard(&log, "Ne(12 // (s0 - s1), 100)");
    start(&log, LOG_COMPILE(0, 4, 0)); /* x has another rank, and y is none */
    put_tensor(&log, 0, "x", "[7]");
    return log_open(&log);
}

struct function {
    struct conditions base, compiles[ENTRIES];
    struct entries entries;
};

/* Asks for x.size(0) = 2..8 and y.size(0) = `y`, of which the base names both. */
static bool make(struct function *f, struct trace *trace, struct cover_piece y, struct err *err)
{
    const struct cover_piece x = { 2, 8, 1 };
    const struct entries_limits limits = { DECIDE_LIMITS, 10000, UINT64_C(60000000000) };
    bool ok = true;
    *f = (struct function){ 0 };
    for (uint32_t i = 0; ok && i <= ENTRIES; i++) {
        struct conditions *c = i < ENTRIES ? &f->compiles[i] : &f->base;
        uint32_t attempt = i < ENTRIES ? i : BASE;
        ok = conditions_read(c, trace, trace->attempts[attempt].records[0], attempt, err) &&
             conditions_read_sizes(c, trace, err);
    }
    if (!ok)
        return false;
    struct cover_symbol symbols[] = { { f->base.symbols.v[0].symbol, &x, 1 },
                                      { f->base.symbols.v[1].symbol, &y, 1 } };
    struct cover_range range = { symbols, 2, SYM_ID_TRUE, DECIDE_LIMITS };
    return entries_make(&f->entries, &f->base, &range, f->compiles, ENTRIES, &limits, err);
}

static void release(struct function *f)
{
    for (size_t i = 0; i < ENTRIES; i++)
        conditions_release(&f->compiles[i]);
    conditions_release(&f->base);
    entries_release(&f->entries);
}

static void test_sizes(void **state)
{
    struct trace *trace = *state;
    struct conditions c;
    struct err err = ERR_INIT;
    uint32_t at, again;
    assert_true(conditions_read(&c, trace, trace->attempts[1].records[0], 1, &err));
    assert_true(conditions_read_sizes(&c, trace, &err));
    assert_int_equal(c.sizes.n, 3);
    assert_true(c.sizes.v[0].symbol == c.symbols.v[0].symbol);
    assert_true(c.sizes.v[1].symbol == SYM_NONE);
    assert_int_equal(c.sizes.v[1].value, 16);
    assert_true(conditions_name_size(&c, 1, &at, &err));
    assert_true(conditions_name_size(&c, 1, &again, &err));
    assert_int_equal(at, again);
    assert_true(c.symbols.v[at].made);
    assert_int_equal(c.list.v[c.list.n - 1].kind, CONDITION_STATIC);
    assert_true(str_is(c.list.v[c.list.n - 1].text, "L['x'].size()[1] == 16"));
    conditions_release(&c);
}

static void test_refuted(void **state)
{
    struct function f;
    struct err err = ERR_INIT;
    assert_true(make(&f, *state, (struct cover_piece){ 2, 8, 1 }, &err));
    const struct entries *e = &f.entries;
    /* At 2, 2 the second entry serves if it shares the symbol; 3, 3 is odd, and divides by 0. */
    assert_int_equal(e->list.n, ENTRIES);
    assert_false(e->list.v[2].adds);
    assert_true(e->list.v[BASE].adds);
    assert_true(e->list.v[4].unknown.n > 0);
    assert_true(e->list.v[4].violated->expr == SYM_ID_FALSE);
    assert_int_equal(e->verdict, DECIDE_REFUTED);
    assert_int_equal(e->n_values, 2);
    bool shared = f.compiles[1].sizes.v[2].symbol != SYM_NONE;
    assert_int_equal(e->values[0].value, shared ? 3 : 2);
    assert_int_equal(e->values[1].value, shared ? 3 : 2);
    assert_true(e->smallest);
    assert_true(str_is(e->list.v[2].violated->text, "L['x'].size()[1] == 8"));
    release(&f);
}

static void test_proved(void **state)
{
    struct function f;
    struct err err = ERR_INIT;
    assert_true(make(&f, *state, (struct cover_piece){ 9, 12, 1 }, &err));
    assert_int_equal(f.entries.verdict, DECIDE_PROVED);
    assert_int_equal(f.entries.n_values, 0);
    release(&f);
}

static bool make_entries(void *arg)
{
    struct function f;
    struct err err = ERR_INIT;
    bool ok =
        make(&f, arg, (struct cover_piece){ 2, 4, 1 }, &err) && f.entries.verdict == DECIDE_REFUTED;
    release(&f);
    return ok;
}

static void test_memory(void **state)
{
    struct err err = ERR_INIT;
    assert_non_null(trace_symbols(*state, &err));
    assert_non_null(trace_guards(*state, &err));
    check_alloc_failures(make_entries, *state);
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
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_refuted),
        cmocka_unit_test(test_proved),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* A made log: its conditions, and which ranges satisfy them. */
#include "prove/cover/cover.h"
#include "tests/log_make.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"

static void put_symbol(struct log_make *log, const char *name, const char *value, const char *range)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"%s\", \"vr\": \"%s\", "
               "\"source\": \"L['%s'].size()[0]\", \"user_stack\": [], \"stack\": []}",
               name, value, range, name);
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
    put_symbol(&log, "s0", "8", "[2, int_oo]");
    put_symbol(&log, "s1", "6", "[2, 64]");
    put_symbol(&log, "zf2", "0.5", "[-oo, oo]");
    put_guard(&log, "Eq(Mod(s0, 4), 0)");
    put_guard(&log, "Ne(s0, s1)");
    put_guard(&log, "Eq(Mod(s0, 4), 0)");
    put_guard(&log, "s1 // (s0 - 4) >= 1");
    put_guard(&log, "this is no expression (");
    return log_open(&log);
}

static const struct condition *condition(const struct conditions *c, const char *text)
{
    for (size_t i = 0; i < c->list.n; i++)
        if (str_is(c->list.v[i].text, text))
            return &c->list.v[i];
    return NULL;
}

static void test_conditions(void **state)
{
    struct trace *trace = *state;
    struct conditions c;
    struct err err = ERR_INIT;
    struct str unknown;
    assert_true(conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err));
    assert_int_equal(c.symbols.n, 3);
    assert_true(c.symbols.v[0].has_hint);
    assert_int_equal(c.symbols.v[0].hint, 8);
    assert_false(c.symbols.v[2].has_hint);
    assert_int_equal(c.list.n, 7); /* the equal guard is one */
    assert_int_equal(condition(&c, "s0 >= 2")->kind, CONDITION_RANGE);
    assert_int_equal(condition(&c, "s1 <= 64")->kind, CONDITION_RANGE);
    assert_true(condition(&c, "Ne(s0, s1)")->is_whole);
    assert_true(condition(&c, "this is no expression (")->expr == SYM_NONE);
    assert_null(conditions_find(&c, STR("s9")));
    assert_true(conditions_parse(&c, STR("s0 <= s1"), &unknown) != SYM_NONE);
    assert_int_equal(unknown.n, 0);
    assert_true(conditions_parse(&c, STR("s0 <= s9"), &unknown) == SYM_NONE);
    assert_true(str_is(unknown, "s9"));
    assert_true(conditions_parse(&c, STR("s0 <="), &unknown) == SYM_NONE);
    assert_int_equal(unknown.n, 0);
    conditions_release(&c);
}

/* Returns the row of a condition. */
static const struct cover_row *row_of(const struct cover *cover, const char *text)
{
    for (size_t i = 0; i < cover->rows.n; i++)
        if (str_is(cover->rows.v[i].condition->text, text))
            return &cover->rows.v[i];
    return NULL;
}

static void test_cover(void **state)
{
    struct trace *trace = *state;
    struct conditions c;
    struct cover cover;
    struct err err = ERR_INIT;
    assert_true(conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err));
    const struct cover_piece pieces[] = { { 12, 32, 4 }, { 64, 64, 1 } };
    struct cover_symbol symbol = { c.symbols.v[0].symbol, pieces, 2 };
    struct cover_range range = {
        .symbols = &symbol, .n_symbols = 1, .assume = SYM_ID_TRUE, .limits = DECIDE_LIMITS
    };

    /* 6 // (12 - 4) is 0: the smallest size violates it. The other symbol keeps its value. */
    assert_true(cover_make(&cover, &c, &range, &err));
    assert_int_equal(cover.verdict, DECIDE_REFUTED);
    assert_false(cover.empty);
    assert_int_equal(cover.n_unrelated, 2); /* the range of s1 */
    assert_int_equal(row_of(&cover, "Eq(Mod(s0, 4), 0)")->answer.verdict, DECIDE_PROVED);
    assert_int_equal(row_of(&cover, "Ne(s0, s1)")->answer.verdict, DECIDE_PROVED);
    assert_int_equal(row_of(&cover, "this is no expression (")->answer.verdict, DECIDE_UNDECIDED);
    assert_non_null(cover.first);
    assert_int_equal(cover.first->answer.n_values, 1);
    assert_int_equal(cover.first->answer.values[0].value, 12);
    cover_release(&cover);

    /* A condition excludes all of the range. */
    range.assume = sym_gt(c.pool, symbol.symbol, sym_integer(c.pool, 64));
    assert_true(cover_make(&cover, &c, &range, &err));
    assert_true(cover.empty);
    cover_release(&cover);

    /* A division by zero is a violation. */
    range.assume = SYM_ID_TRUE;
    symbol = (struct cover_symbol){ c.symbols.v[0].symbol, &(struct cover_piece){ 4, 4, 1 }, 1 };
    assert_true(cover_make(&cover, &c, &range, &err));
    assert_true(row_of(&cover, "s1 // (s0 - 4) >= 1")->answer.raises);
    cover_release(&cover);
    conditions_release(&c);
}

static bool make_cover(void *arg)
{
    struct trace *trace = arg;
    struct conditions c;
    struct cover cover = { 0 };
    struct err err = ERR_INIT;
    const struct cover_piece piece = { 12, 32, 4 };
    bool ok = conditions_read(&c, trace, trace->attempts[0].records[0], 0, &err);
    if (ok) {
        struct cover_symbol symbol = { c.symbols.v[0].symbol, &piece, 1 };
        struct cover_range range = {
            .symbols = &symbol, .n_symbols = 1, .assume = SYM_ID_TRUE, .limits = DECIDE_LIMITS
        };
        ok = cover_make(&cover, &c, &range, &err) && cover.n[DECIDE_REFUTED] == 1;
        cover_release(&cover);
    }
    conditions_release(&c);
    return ok;
}

static void test_memory(void **state)
{
    struct err err = ERR_INIT;
    assert_non_null(trace_symbols(*state, &err));
    assert_non_null(trace_guards(*state, &err));
    check_alloc_failures(make_cover, *state);
}

static void test_split_size(void **state)
{
    struct str tensor;
    uint32_t dim;
    (void)state;
    assert_true(conditions_split_size(STR("L['x'].size()[1]"), &tensor, &dim));
    assert_true(str_is(tensor, "L['x']"));
    assert_int_equal(dim, 1);
    assert_true(conditions_split_size(STR("L['a.size()[0]'].size()[2]"), &tensor, &dim));
    assert_true(str_is(tensor, "L['a.size()[0]']"));
    assert_int_equal(dim, 2);
    static const char *const OTHERS[] = { "",
                                          "L['x']",
                                          "L['x'].size()",
                                          "L['x'].size()[",
                                          "L['x'].size()[]",
                                          "L['x'].size()[a]",
                                          "L['x'].size()[-1]",
                                          "L['x'].size()[1].y",
                                          "L['x'].size()[4294967296]",
                                          "L['x'].stride()[1]" };
    for (size_t i = 0; i < sizeof OTHERS / sizeof *OTHERS; i++)
        assert_false(conditions_split_size(str_of(OTHERS[i]), &tensor, &dim));
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
        cmocka_unit_test(test_conditions),
        cmocka_unit_test(test_cover),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_split_size),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

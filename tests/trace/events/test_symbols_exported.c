/* trace_symbols() over archives. */
#include "trace/events/symbols_exported.h"

#include "tests/trace/pt2/pt2_make.h"

static struct trace *open_made(const char *program)
{
    struct err err = ERR_INIT;
    struct zip_make make = { 0 };
    struct trace *trace = trace_open(make_pt2(&make, program, PT2_WEIGHTS), NULL, &err);
    if (!trace)
        fail_msg("%s", err.text);
    make_release(&make);
    return trace;
}

static const struct symbol *symbol_at(struct trace *trace, uint32_t i, uint32_t n)
{
    struct err err = ERR_INIT;
    const struct symbol_table *table = trace_symbols(trace, &err);
    assert_no_err(&err);
    assert_int_equal(table->n_symbols, n);
    assert_int_equal(table->n_unreadable, 0);
    return &table->symbols[i];
}

static void test_symbols_of_a_program(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *range, *source;
        bool unbacked;
    } ROWS[] = {
        { "s1", "4", "[2, int_oo]", "L['x'].size()[2]", false }, /* not the parameter's size */
        { "u0", "", "", "L['x'].size()[0]", true },
        { "s2", "9", "", "L['n']", false },
        { "zuf3", "", "[-int_oo, 7]", "", true }, /* has nothing but a range */
    };
    struct trace *trace = open_made(PT2_PROGRAM);
    for (uint32_t i = 0; i < 4; i++) {
        const struct symbol *s = symbol_at(trace, i, 4);
        assert_str_is(s->name, ROWS[i].name);
        assert_str_is(s->value, ROWS[i].value);
        assert_str_is(s->range, ROWS[i].range);
        assert_str_is(s->source, ROWS[i].source);
        assert_int_equal(s->unbacked, ROWS[i].unbacked);
        assert_int_equal(s->record, 2);
        assert_int_equal(s->attempt, TRACE_NONE);
        assert_int_equal(s->specialization, TRACE_NONE);
        assert_int_equal(s->user_stack, 0);
    }
    assert_str_is(trace->recordings[0].torch_version, "2.13.0");
    trace_close(trace);
}

/* What cannot be read is counted; the rest of the tape is. */
static void test_broken_programs(void **state)
{
    (void)state;
    static const char *const PROGRAMS[] = {
        "",
        "{",
        "[]",
        "{\"graph_module\": {\"graph\": {}}, \"schema_version\": {\"major\": 9}}",
    };
    for (size_t i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++) {
        struct err err = ERR_INIT;
        struct trace *trace = open_made(PROGRAMS[i]);
        const struct symbol_table *table = trace_symbols(trace, &err);
        assert_no_err(&err);
        assert_int_equal(table->n_symbols, 0);
        assert_int_equal(table->n_unreadable, 1);
        assert_str_is(trace->recordings[0].torch_version, "");
        trace_close(trace);
    }
}

static void test_a_program_without_symbols(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct trace *trace = open_made("{\"graph_module\": {\"graph\": {}}, \"torch_version\": 7}");
    const struct symbol_table *table = trace_symbols(trace, &err);
    assert_int_equal(table->n_symbols, 0);
    assert_int_equal(table->n_unreadable, 0);
    trace_close(trace);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(arg, NULL, &err);
    const struct symbol_table *table = trace ? trace_symbols(trace, &err) : NULL;
    bool ok = table != NULL;
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && table->n_symbols == 4 && table->n_unreadable == 0;
    trace_close(trace);
    return ok;
}

static void test_memory_may_run_out(void **state)
{
    (void)state;
    struct zip_make make = { 0 };
    char path[4096];
    snprintf(path, sizeof path, "%s", make_pt2(&make, PT2_PROGRAM, PT2_WEIGHTS));
    check_alloc_failures(attempt, path);
    make_release(&make);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_symbols_of_a_program),
        cmocka_unit_test(test_broken_programs),
        cmocka_unit_test(test_a_program_without_symbols),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <string.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/events/symbols.h"

#define USER "[{\"line\": 3, \"name\": \"f\", \"filename\": 0, \"loc\": \"f(x)\"}]"
#define STACK                                                               \
    "[{\"line\": 3, \"name\": \"f\", \"filename\": 0, \"loc\": \"f(x)\"}, " \
    "{\"line\": 9, \"name\": \"g\", \"filename\": 1, \"loc\": \"g(x)\"}]"

#define SYMBOL(name, value)                                           \
    "\"create_symbol\": {\"symbol\": \"" name "\", \"val\": \"" value \
    "\", \"vr\": \"[2, int_oo]\", "                                   \
    "\"source\": \"L['x'].size()[0]\", \"user_stack\": " USER ", \"stack\": " STACK "}"
#define SPECIAL(name, value)                                                      \
    "\"symbolic_shape_specialization\": {\"symbol\": \"" name "\", \"sources\": " \
    "[\"L['\\u0078']\", \"y\"], \"value\": \"" value "\", "                       \
    "\"reason\": \"range_refined_to_singleton\", \"stack\": " STACK ", \"user_stack\": " USER "}"

static const struct symbol_table *symbols_of(struct trace *trace)
{
    struct err err = ERR_INIT;
    const struct symbol_table *table = trace_symbols(trace, &err);
    assert_non_null(table);
    assert_ptr_equal(trace_symbols(trace, &err), table); /* built once */
    return table;
}

static void test_fields(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_line(&log, SYMBOL("s77", "3") ", " COMPILE);
    log_line(&log, "\"create_unbacked_symbol\": {\"symbol\": \"u0\", \"node_id\": 140003000000000, "
                   "\"vr\": \"[-int_oo, int_oo]\", \"user_stack\": " USER "}, " COMPILE);
    log_line(&log, SPECIAL("s77", "3") ", " COMPILE);
    struct trace *trace = open_text(buf_str(&log));
    const struct symbol_table *table = symbols_of(trace);
    assert_int_equal(table->n_symbols, 2);
    const struct symbol *s = &table->symbols[0];
    assert_str_is(s->name, "s77");
    assert_str_is(s->value, "3");
    assert_str_is(s->range, "[2, int_oo]");
    assert_str_is(s->source, "L['x'].size()[0]");
    assert_false(s->unbacked);
    assert_int_equal(s->record, 0);
    assert_int_equal(s->attempt, 0);
    assert_int_equal(stack_depth(trace, s->stack), 2);
    assert_int_equal(stack_depth(trace, s->user_stack), 1);
    assert_int_equal(s->specialization, 0);
    s = &table->symbols[1];
    assert_true(s->unbacked);
    assert_str_is(s->value, "");
    assert_str_is(s->source, "");
    assert_int_equal(s->stack, 0);
    assert_int_equal(s->specialization, TRACE_NONE);
    assert_int_equal(table->n_specializations, 1);
    const struct specialization *p = &table->specializations[0];
    assert_str_is(p->symbol, "s77");
    assert_str_is(p->value, "3");
    assert_str_is(p->reason, "range_refined_to_singleton");
    assert_str_is(p->source, "L['x']");
    assert_int_equal(p->record, 2);
    assert_int_equal(stack_depth(trace, p->stack), 2);
    trace_close(trace);
    buf_release(&log);
}

/* The first specialization of the name in the same attempt; attempts share names. */
static void test_links(void **state)
{
    (void)state;
    static const char later[] = ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 1";
    struct buf log = BUF_INIT;
    char json[1000];
    log_line(&log, SYMBOL("s0", "3") ", " COMPILE);
    log_line(&log, SYMBOL("s1", "4") ", " COMPILE);
    snprintf(json, sizeof json, SYMBOL("s0", "3") "%s", later);
    log_line(&log, json);
    log_line(&log, SYMBOL("s0", "3")); /* of no compile */
    snprintf(json, sizeof json, SPECIAL("s0", "3") "%s", later);
    log_line(&log, json);
    log_line(&log, SPECIAL("s1", "4") ", " COMPILE);
    log_line(&log, SPECIAL("s1", "5") ", " COMPILE);
    log_line(&log, SYMBOL("s1", "4") ", " COMPILE); /* the name once more */
    log_line(&log, SPECIAL("s9", "5") ", " COMPILE);
    struct trace *trace = open_text(buf_str(&log));
    const struct symbol_table *table = symbols_of(trace);
    assert_int_equal(table->n_symbols, 5);
    assert_int_equal(table->n_specializations, 4);
    assert_int_equal(table->symbols[0].specialization, TRACE_NONE);
    assert_int_equal(table->symbols[1].specialization, 1);
    assert_int_equal(table->symbols[2].specialization, 0);
    assert_int_equal(table->symbols[3].specialization, TRACE_NONE);
    assert_int_equal(table->symbols[3].attempt, TRACE_NONE);
    assert_int_equal(table->symbols[4].specialization, 1);
    trace_close(trace);
    buf_release(&log);
}

/* Numbers where text is usual, null, and metadata that is none. */
static void test_odd(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    log_line(&log, "\"create_symbol\": {\"symbol\": \"s\\u0030\", \"val\": 17, \"vr\": null, "
                   "\"source\": {}, \"stack\": \"none\"}");
    log_line(&log, "\"create_symbol\": []");
    log_line(&log, "\"symbolic_shape_specialization\": {\"symbol\": \"s0\", \"sources\": [], "
                   "\"value\": -1.5}");
    struct trace *trace = open_text(buf_str(&log));
    const struct symbol_table *table = symbols_of(trace);
    assert_int_equal(table->n_symbols, 2);
    assert_str_is(table->symbols[0].name, "s0");
    assert_str_is(table->symbols[0].value, "17");
    assert_str_is(table->symbols[0].range, "");
    assert_str_is(table->symbols[0].source, "");
    assert_int_equal(table->symbols[0].stack, 0);
    assert_int_equal(table->symbols[0].specialization, 0);
    assert_str_is(table->symbols[1].name, "");
    assert_str_is(table->specializations[0].value, "-1.5");
    assert_str_is(table->specializations[0].source, "");
    trace_close(trace);
    trace = open_text(STR(PREFIX "{\"a\": 1}\n"));
    assert_int_equal(symbols_of(trace)->n_symbols, 0);
    trace_close(trace);
    buf_release(&log);
}

/* One name over and over: linear. */
static void test_many(void **state)
{
    (void)state;
    enum { N = 50000 };
    struct buf log = BUF_INIT;
    for (int i = 0; i < N; i++) {
        log_line(&log, "\"create_symbol\": {\"symbol\": \"s0\"}");
        log_line(&log, "\"symbolic_shape_specialization\": {\"symbol\": \"s0\"}");
    }
    struct trace *trace = open_text(buf_str(&log));
    const struct symbol_table *table = symbols_of(trace);
    assert_int_equal(table->n_symbols, N);
    assert_int_equal(table->symbols[N - 1].specialization, 0);
    for (uint32_t i = 0; i < N; i++) {
        const struct symbol *s = &table->symbols[i];
        assert_ptr_equal(symbol_table_find(table, 0, s->attempt, STR("s0"), s->record), s);
        assert_ptr_equal(symbol_table_find(table, 0, s->attempt, STR("s0"), s->record + 1), s);
    }
    uint32_t in = table->symbols[0].attempt, last = table->symbols[N - 1].record;
    assert_null(symbol_table_find(table, 0, in, STR("s1"), last));
    assert_null(symbol_table_find(table, 0, in, STR("r0"), last));
    assert_null(symbol_table_find(table, 1, in, STR("s0"), last));
    trace_close(trace);
    buf_release(&log);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(arg, NULL, &err);
    const struct symbol_table *table = trace ? trace_symbols(trace, &err) : NULL;
    bool ok = table != NULL;
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && table->n_symbols == 1 && table->symbols[0].specialization == 0;
    trace_close(trace);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("symbols.log"));
    log_line(&log, SYMBOL("s\\u0030", "3"));
    log_line(&log, SPECIAL("s0", "3"));
    put_file(path, buf_str(&log));
    check_alloc_failures(attempt, path);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields), cmocka_unit_test(test_links),  cmocka_unit_test(test_odd),
        cmocka_unit_test(test_many),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profile/report/incident_fields.h"

#include "tests/harness.h"

/* The members of a record, as one object. */
#define CHECK(fields, record, expected)              \
    do {                                             \
        struct buf out = BUF_INIT;                   \
        struct json_writer w = json_writer_of(&out); \
        json_open_object(&w, NULL);                  \
        fields_json(&(fields), NULL, (record), &w);  \
        json_close(&w);                              \
        assert_str_is(buf_str(&out), expected);      \
        buf_release(&out);                           \
    } while (0)

static void test_restart(void **state)
{
    (void)state;
    struct restart restart = { .reason = STR("<class 'R'>"),
                               .summary = STR("R"),
                               .meaning = STR("why"),
                               .ns = 5,
                               .n_records = 4,
                               .n_graphs = 3,
                               .n_symbols = 2,
                               .n_guards = 1 };
    CHECK(restart_fields, &restart,
          "{\"reason\":\"<class 'R'>\",\"summary\":\"R\",\"meaning\":\"why\",\"ns\":5,"
          "\"records\":4,\"graphs\":3,\"symbols\":2,\"guards\":1}");
}

static void test_recompile(void **state)
{
    (void)state;
    struct recompile_reason reasons[] = {
        { .compile = STR("0/0"), .guard = STR("x > 1"), .file = STR("/a.py"), .line = 3 },
        { .compile = STR("0/1"), .guard = STR("x > 2"), .file = STR("") },
    };
    struct recompile recompile = { .ns = -1, .reasons = reasons, .n_reasons = 2 };
    CHECK(recompile_fields, &recompile,
          "{\"ns\":null,\"reasons\":[{\"compile\":\"0/0\",\"guard\":\"x > 1\",\"line\":"
          "{\"file\":\"/a.py\",\"line\":3,\"code\":\"\"}},"
          "{\"compile\":\"0/1\",\"guard\":\"x > 2\",\"line\":null}]}");
}

/* Text has the first reason, and nothing where there is none. */
static void test_recompile_in_text(void **state)
{
    (void)state;
    struct recompile_reason reasons[] = {
        { .compile = STR("0/0"), .guard = STR("x > 1"), .file = STR("/a.py"), .line = 3 },
        { .compile = STR("0/1"), .guard = STR("x > 2"), .file = STR("") },
    };
    struct recompile recompile = { .ns = -1, .reasons = reasons, .n_reasons = 2 };
    struct recompile untold = { .ns = 1000 };
    struct text_table t;
    struct buf out = BUF_INIT;
    text_table_init(&t, &recompile_fields, INCIDENT_VIEW);
    text_table_row(&t, NULL, &recompile);
    text_table_row(&t, NULL, &untold);
    table_print(&t.table, &(struct table_layout){ 0 }, &out);
    assert_str_is(buf_str(&out), "   time  reasons  guard of  guard that failed  used at\n"
                                 "      -        2  0/0       x > 1              /a.py:3\n"
                                 "1.00 us        0  -         -                  -\n");
    table_release(&t.table);
    buf_release(&out);
}

static void test_break(void **state)
{
    (void)state;
    struct attempt attempts[] = { { .compile = STR("0/0") }, { .compile = STR("1/0") } };
    struct trace trace = { .attempts = attempts, .n_attempts = 2 };
    uint32_t caused[] = { 1 };
    struct graph_break graph_break = {
        .reason = STR("whole"),
        .summary = STR("s"),
        .explanation = STR("e"),
        .hint = STR("h"),
        .file = STR("/a.py"),
        .line = 3,
        .code = STR("print()"),
        .function = STR("f"),
        .depth = -1,
        .skipped = true,
        .n_graphs = 2,
        .caused = caused,
        .n_caused = 1,
    };
    CHECK(break_fields, &graph_break,
          "{\"reason\":\"whole\",\"summary\":\"s\",\"explanation\":\"e\",\"hint\":\"h\",\"line\":"
          "{\"file\":\"/a.py\",\"line\":3,\"code\":\"print()\"},\"function\":\"f\",\"depth\":null,"
          "\"skipped\":true,\"graphs\":2}");
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    json_break_caused(&w, NULL, &trace, &graph_break);
    assert_str_is(buf_str(&out), "[\"1/0\"]");
    buf_release(&out);
}

static void test_failure_and_cache(void **state)
{
    (void)state;
    struct failure failure = { .type = STR("UserError"),
                               .reason = STR("whole"),
                               .summary = STR("s"),
                               .cause = STR("ValueError: v"),
                               .file = STR(""),
                               .is_break = true };
    struct cache_event event = { .kind = CACHE_AOTAUTOGRAD,
                                 .state = CACHE_HIT,
                                 .name = STR("n"),
                                 .key = STR("k"),
                                 .reason = STR("r"),
                                 .detail = STR("d"),
                                 .taken_ns = 7 };
    CHECK(failure_fields, &failure,
          "{\"type\":\"UserError\",\"reason\":\"whole\",\"summary\":\"s\",\"line\":null,"
          "\"cause\":\"ValueError: v\",\"graph_break\":true}");
    CHECK(cache_fields, &event,
          "{\"cache\":\"AOTAutograd\",\"result\":\"hit\",\"name\":\"n\",\"key\":\"k\","
          "\"reason\":\"r\",\"detail\":\"d\",\"ns\":7}");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_restart),           cmocka_unit_test(test_recompile),
        cmocka_unit_test(test_recompile_in_text), cmocka_unit_test(test_break),
        cmocka_unit_test(test_failure_and_cache),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

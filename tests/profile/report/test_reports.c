/* Every format, over a small log: what stands in it, to the byte where others read it. */
#include "profile/report/report.h"
#include "profile/viewers/viewers.h"
#include "tests/profile/made.h"
#include "trace/base/text/json.h"

static bool has(const struct buf *out, const char *part)
{
    return str_find(buf_str(out), str_of(part)) < out->n;
}

static struct made two_phases(void)
{
    struct log_make log = log_start();
    log_phase(&log, 'B', "outer;1", "1000", ", \"tid\": 4");
    log_phase(&log, 'B', "{inner", "1100.25", ", \"tid\": 4, \"args\": {\"fn_name\": \"f\"}");
    log_phase(&log, 'E', "{inner", "1300.75", ", \"tid\": 4");
    log_phase(&log, 'X', "tiny", "1400", ", \"tid\": 4, \"dur\": 0.5");
    log_phase(&log, 'E', "outer;1", "2000", ", \"tid\": 4");
    return made_profile(&log, NULL);
}

static void test_folded(void **state)
{
    (void)state;
    struct made made = two_phases();
    struct buf out = BUF_INIT;
    assert_true(viewer_folded(made.profile, STACK_VIEWS, &out, &(struct err){ 0 }));
    assert_str_is(buf_str(&out), "outer:1 799\nouter:1;_inner 200\n");
    buf_release(&out);
    made_drop(&made);
}

static void test_chrome(void **state)
{
    (void)state;
    struct made made = two_phases();
    struct buf out = BUF_INIT;
    assert_true(viewer_chrome(made.profile, STACK_VIEWS, &out, &(struct err){ 0 }));
    assert_true(has(&out, "\"ts\":100.250,\"dur\":200.500,\"pid\":0,\"tid\":1"));
    assert_true(has(&out, "\"ph\":\"M\",\"pid\":0,\"tid\":1,\"args\":{\"name\":\"thread 4\"}"));
    /* The view of phases: a thread behind that of phases and that of guards. */
    assert_true(has(&out, "\"pid\":1,\"tid\":3,\"args\":{\"name\":\"sums, each from 0\"}"));
    assert_true(has(&out, "\"ts\":0.000,\"dur\":200.500,\"pid\":1,\"tid\":3"));
    assert_true(has(&out, "\"distributedInfo\":{\"rank\":0}"));
    assert_true(has(&out, "\"displayTimeUnit\":\"ns\""));
    assert_true(has(&out, "\"baseTimeNanoseconds\":1000000"));
    struct err err = ERR_INIT;
    struct json doc = { 0 };
    assert_true(json_parse(&doc, buf_str(&out), &err));
    json_release(&doc);
    buf_release(&out);
    made_drop(&made);
}

/* What overlaps without nesting may not stand in one thread. */
static void test_chrome_lanes(void **state)
{
    (void)state;
    struct log_make log = log_start();
    log_phase(&log, 'B', "a", "1000", "");
    log_phase(&log, 'B', "b", "1400", "");
    log_phase(&log, 'E', "a", "1600", "");
    log_phase(&log, 'E', "b", "2000", "");
    log_phase(&log, 'X', "c", "2100", ", \"dur\": 5");
    log_phase(&log, 'X', "d", "1000", ", \"dur\": 5, \"tid\": 9");
    struct made made = made_profile(&log, NULL);
    struct buf out = BUF_INIT;
    assert_true(viewer_chrome(made.profile, STACK_VIEWS, &out, &(struct err){ 0 }));
    assert_true(has(&out, "\"ts\":0.000,\"dur\":600.000,\"pid\":0,\"tid\":1"));
    assert_true(has(&out, "\"ts\":400.000,\"dur\":600.000,\"pid\":0,\"tid\":2"));
    assert_true(has(&out, "\"ts\":1100.000,\"dur\":5.000,\"pid\":0,\"tid\":1"));
    assert_true(has(&out, "\"ts\":0.000,\"dur\":5.000,\"pid\":0,\"tid\":3"));
    assert_true(has(&out, "thread 0 (overlapping, 1)"));
    buf_release(&out);
    made_drop(&made);
}

static json_id array(const struct json *doc, const char *key, size_t n)
{
    json_id id = json_get(doc, JSON_ROOT, str_of(key));
    assert_int_equal(json_kind_of(doc, id), JSON_ARRAY);
    assert_int_equal(json_count(doc, id), n);
    return json_first(doc, id);
}

static int64_t number(const struct json *doc, json_id object, const char *key)
{
    int64_t value = -77;
    assert_true(json_i64(doc, json_get(doc, object, str_of(key)), &value));
    return value;
}

/* The fields that the manuals promise to scripts. */
static void test_json(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    struct report_options all = { 0 };
    struct buf out = BUF_INIT;
    struct json doc = { 0 };
    report_json(made.profile, &all, &out);
    assert_true(json_parse(&doc, buf_str(&out), &err));
    assert_true(json_is(&doc, json_get(&doc, JSON_ROOT, STR("schema")), "symtape.profile/1"));
    json_id row = array(&doc, "phases", 3);
    assert_true(json_is(&doc, json_get(&doc, row, STR("name")), "dynamo"));
    assert_int_equal(number(&doc, row, "calls"), 1);
    assert_int_equal(number(&doc, row, "inclusive_ns"), 200000000);
    assert_int_equal(number(&doc, row, "exclusive_ns"), 90000000);
    row = json_next(&doc, array(&doc, "operators", 3));
    assert_true(json_is(&doc, json_get(&doc, row, STR("level")), "inference"));
    assert_true(json_is(&doc, json_get(&doc, row, STR("op")), "aten.add.Tensor"));
    assert_int_equal(number(&doc, row, "calls"), 4);
    row = array(&doc, "lines", 1);
    assert_true(json_is(&doc, json_get(&doc, row, STR("file")), "/u/zoo/model.py"));
    assert_int_equal(number(&doc, row, "line"), 12);
    assert_int_equal(number(&doc, row, "nodes"), 8);
    assert_int_equal(number(&doc, row, "guards"), 3);
    assert_int_equal(number(&doc, row, "symbols"), 2);
    assert_int_equal(number(&doc, row, "specializations"), 0);
    assert_int_equal(number(&doc, row, "estimated_ns"), 42000000);
    row = array(&doc, "guards", 1);
    assert_true(json_is(&doc, json_get(&doc, row, STR("expr")), "Ne(s0, 1)"));
    assert_int_equal(number(&doc, row, "count"), 3);
    assert_int_equal(number(&doc, json_get(&doc, row, STR("line")), "line"), 12);
    row = array(&doc, "restarts", 1);
    assert_int_equal(number(&doc, row, "attempt"), 0);
    assert_int_equal(number(&doc, row, "ns"), 50000000);
    assert_true(json_is(&doc, json_get(&doc, row, STR("compile")), "0/0"));
    array(&doc, "recompiles", 0);
    array(&doc, "breaks", 0);
    array(&doc, "failures", 0);
    array(&doc, "caches", 1);
    array(&doc, "suppressed_guards", 1);
    json_release(&doc);
    buf_release(&out);
    made_drop(&made);
}

static void test_text(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    struct report_options options = { .width = 100, .limit = 10 };
    struct buf out = BUF_INIT;
    report_text(made.profile, &options, &out);
    assert_true(has(&out, "180 ms of compiling: 1 compile, 2 attempts, 4 graphs, 3 guards"));
    assert_true(has(&out, "zoo/model.py:12"));
    assert_false(has(&out, "\033"));
    struct str text = buf_str(&out);
    while (text.n > 0) {
        size_t end = str_find_char(text, '\n');
        assert_true(end <= 130); /* only a table's fixed columns may go beyond the width */
        text = str_from(text, end + 1);
    }
    buf_clear(&out);
    struct styles styles = { 0 };
    options.styles = &styles;
    report_text(made.profile, &options, &out);
    assert_false(has(&out, "\033"));
    assert_true(styles.marks.n > 4);
    const struct style_mark *mark = styles.marks.v;
    assert_int_equal(mark[0].style, STYLE_BOLD);
    assert_true(str_starts(str_from(buf_str(&out), mark[0].at), STR("Compiles")));
    assert_int_equal(mark[1].style, STYLE_NONE);
    vec_release(&styles.marks);
    buf_release(&out);
    made_drop(&made);
}

/* Unfinished phases come before all other tables. */
static void test_text_unfinished(void **state)
{
    (void)state;
    struct log_make log = log_start();
    made_strings(&log);
    log_put(&log, "\"dynamo_start\": {\"stack\": [" MADE_USER "]}", NULL);
    log_phase(&log, 'B', "bytecode_tracing", "1000", "");
    made_guard(&log, "Ne(s0, 1)", "eval");
    log.time_us += 90000000;
    made_guard(&log, "Ne(s0, 2)", "eval");
    struct made made = made_profile(&log, NULL);
    struct report_options options = { .limit = 10 };
    struct buf out = BUF_INIT;
    report_text(made.profile, &options, &out);
    assert_true(has(&out, "an estimated 75 to 100 % of the 90.0 s in which user lines were traced "
                          "went into one, zoo/model.py:12"));
    assert_true(str_find(buf_str(&out), STR("never ended")) <
                str_find(buf_str(&out), STR("\nCompiles")));
    buf_release(&out);
    made_drop(&made);
}

static bool write_all(void *arg)
{
    static void (*const WITH_OPTIONS[])(const struct profile *, const struct report_options *,
                                        struct buf *) = { report_text, report_json };
    static bool (*const VIEWERS[])(const struct profile *, enum stack_view_id, struct buf *,
                                   struct err *) = { viewer_folded, viewer_speedscope, viewer_pprof,
                                                     viewer_chrome };
    struct report_options options = { .width = 80, .limit = 3 };
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        struct buf out = BUF_INIT;
        WITH_OPTIONS[i](arg, &options, &out);
        ok = ok && !out.failed;
        buf_release(&out);
    }
    for (int i = 0; i < 4; i++) {
        struct err err = { 0 };
        struct buf out = BUF_INIT;
        ok = VIEWERS[i](arg, STACK_VIEWS, &out, &err) && !out.failed && ok;
        buf_release(&out);
    }
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct made made = made_profile(&log, NULL);
    check_alloc_failures(write_all, made.profile);
    made_drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folded),       cmocka_unit_test(test_chrome),
        cmocka_unit_test(test_chrome_lanes), cmocka_unit_test(test_json),
        cmocka_unit_test(test_text),         cmocka_unit_test(test_text_unfinished),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Cases: verdicts and reasons, lines that make no sense, and what is written and read again; the
 * file of expected failures. */
#include "replay/cases/op_case.h"

#include "replay/cases/case_write.h"
#include "replay/cases/expected_failures.h"
#include "replay/ops/decomp/custom.h"
#include "tests/harness.h"

#define X                                                                                      \
    "{\"t\":\"float32\",\"device\":\"cpu\",\"size\":[\"s0\",3],\"stride\":[3,1],\"offset\":0," \
    "\"storage\":0}"

static enum case_verdict check_text(struct case_checker *checker, const char *text)
{
    struct json doc = { 0 };
    struct err err = ERR_INIT;
    enum case_verdict verdict = CASE_VERDICTS;
    assert_true(json_parse(&doc, str_of(text), &err));
    assert_true(case_check(checker, &doc, &verdict, &err));
    json_release(&doc);
    return verdict;
}

/* ---- Verdicts ---- */

struct row {
    const char *text;
    enum case_verdict verdict;
    const char *why; /* a part of it */
};

static const struct row ROWS[] = {
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"kwargs\":{},\"out\":" X
      ",\"hints\":{\"s0\":4}}",
      CASE_FAILED, "is not that of number 0" },
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"kwargs\":{},\"out\":{\"t\":\"float32\","
      "\"size\":[\"s0\",3]},\"hints\":{\"s0\":4}}",
      CASE_PASSED, "" },
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"kwargs\":{},\"out\":{\"t\":\"float64\","
      "\"size\":[\"s0\",3],\"stride\":[1,\"s0\"]},\"hints\":{\"s0\":4}}",
      CASE_FAILED, "dtype f64, got f32; out: stride [1,\"s0\"], got [3, 1]" },
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"kwargs\":{},\"hints\":{\"s0\":4}}",
      CASE_SKIPPED, "" },
    { "{\"op\":\"mylib.blur.default\",\"args\":[" X "],\"kwargs\":{},\"hints\":{\"s0\":4}}",
      CASE_MISSING, "unsupported" },
    { "{\"op\":\"aten.relu.default\",\"args\":[{\"other\":\"x\"}],\"kwargs\":{},\"hints\":{}}",
      CASE_SKIPPED, "" },
    /* A condition that the call asks, and one that it contradicts. */
    { "{\"op\":\"aten.view.default\",\"args\":[" X ",[6,2]],\"kwargs\":{},\"out\":{\"t\":"
      "\"float32\",\"size\":[6,2]},\"hints\":{\"s0\":4}}",
      CASE_PASSED, "" },
    { "{\"op\":\"aten.view.default\",\"args\":[" X ",[6,2]],\"kwargs\":{},\"out\":{\"t\":"
      "\"float32\",\"size\":[6,2]},\"hints\":{\"s0\":5}}",
      CASE_FAILED, "raises" },
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"kwargs\":{},\"hints\":{\"s0\":4},"
      "\"given\":[\"s0 > 4\"]}",
      CASE_FAILED, "given guard s0 > 4 does not hold" },
    /* A symbol that the call makes has the recorded name. */
    { "{\"op\":\"aten.nonzero.default\",\"args\":[" X "],\"kwargs\":{},\"out\":{\"t\":\"int64\","
      "\"size\":[\"u3\",2]},\"hints\":{\"s0\":4},\"ranges\":{\"u3\":\"VR[0, int_oo]\"}}",
      CASE_PASSED, "" },
    /* Items of a tuple. */
    { "{\"op\":\"aten.topk.default\",\"args\":[" X ",2],\"kwargs\":{},\"out\":{\"items\":{\"1\":"
      "{\"t\":\"int64\",\"size\":[\"s0\",2]}}},\"hints\":{\"s0\":4}}",
      CASE_PASSED, "" },
    { "{\"op\":\"aten.topk.default\",\"args\":[" X ",2],\"kwargs\":{},\"out\":{\"items\":{\"2\":"
      "{\"t\":\"int64\",\"size\":[\"s0\",2]}}},\"hints\":{\"s0\":4}}",
      CASE_FAILED, "out[2]: no such item" },
    /* Lines that make no sense. */
    { "{\"op\":\"aten.relu.default\",\"args\":[{\"t\":\"float32\",\"device\":\"cpu\",\"size\":"
      "[-1],\"stride\":[1]}],\"hints\":{}}",
      CASE_FAILED, "argument 0 cannot be read" },
    { "{\"op\":\"aten.relu.default\",\"args\":[{\"t\":\"float32\",\"device\":\"cpu\",\"size\":"
      "[2],\"stride\":[]}],\"hints\":{}}",
      CASE_FAILED, "argument 0 cannot be read" },
    { "{\"op\":\"aten.relu.default\",\"args\":[],\"kwargs\":{\"x\":{\"dtype\":\"float0\"}},"
      "\"hints\":{}}",
      CASE_FAILED, "argument x cannot be read" },
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"hints\":{\"s0\":\"s1\",\"s1\":\"s0\"}}",
      CASE_FAILED, "cannot be read" },
    { "{\"op\":\"aten.relu.default\",\"args\":[" X "],\"hints\":{\"s0\":4},\"ranges\":{\"s0\":"
      "\"VR[s0, s0]\"},\"out\":{\"t\":\"float32\",\"size\":[\"s0\",3]}}",
      CASE_PASSED, "" },
    { "{\"op\":\"aten.cat.default\",\"args\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]],\"hints\":{}}",
      CASE_FAILED, "argument 0 cannot be read" },
    { "{}", CASE_MISSING, "unsupported" },
    { "[]", CASE_MISSING, "unsupported" },
};

static void test_verdicts(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct case_checker *checker = case_checker_new(NULL, &err);
    assert_non_null(checker);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        enum case_verdict verdict = check_text(checker, ROWS[i].text);
        if (verdict != ROWS[i].verdict ||
            !str_contains(buf_str(&checker->call.why), str_of(ROWS[i].why)))
            fail_msg("%s: %d %.*s", ROWS[i].text, verdict, STR_ARG(buf_str(&checker->call.why)));
    }
    case_checker_free(checker);
}

static void test_custom_rules(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct custom_rules *rules = custom_rules_new(&err);
    assert_true(custom_rules_add(
        rules, STR("mylib::half(Tensor x) -> Tensor\n    return x.new_empty([x.shape[0] // 2])\n"),
        STR("rules"), &err));
    struct case_checker *checker = case_checker_new(rules, &err);
    static const char right[] = "{\"op\":\"mylib.half.default\",\"args\":[" X
                                "],\"kwargs\":{},\"out\":{\"t\":\"float32\",\"size\":[\"s0//2\"]},"
                                "\"hints\":{\"s0\":4}}";
    static const char wrong[] = "{\"op\":\"mylib.half.default\",\"args\":[" X
                                "],\"kwargs\":{},\"out\":{\"t\":\"float32\",\"size\":[\"s0\"]},"
                                "\"hints\":{\"s0\":4}}";
    assert_int_equal(check_text(checker, right), CASE_PASSED);
    assert_int_equal(check_text(checker, wrong), CASE_FAILED);
    case_checker_free(checker);
    custom_rules_free(rules);
}

/* ---- Writing ---- */

static void write_text(struct case_checker *checker, const struct sym_pair *pairs, uint32_t n,
                       struct buf *out, struct case_writer *cw)
{
    const struct op_case *call = &checker->call;
    const struct arguments arguments = { call->args, call->n_args, call->keywords,
                                         call->n_keywords };
    *cw = case_writer_of(call->ops, out);
    cw->sizes = pairs;
    cw->n_sizes = n;
    case_put_call(cw, STR("aten.view.default"), STR("2.13"), &arguments);
    case_put_environment(cw);
    json_close(&cw->json);
    case_writer_release(cw);
    assert_false(out->failed);
}

static void test_writing(void **state)
{
    (void)state;
    static const char text[] =
        "{\"op\":\"aten.view.default\",\"args\":[{\"t\":\"float32\",\"device\":\"cpu\",\"size\":"
        "[\"s0\",3],\"stride\":[\"s1 - 9\",1],\"offset\":2,\"storage\":7},[\"a\",{\"float\":"
        "\"-inf\"},{\"complex\":[\"1.5\",\"nan\"]},{\"dtype\":\"int8\"},{\"device\":\"cuda:1\"},"
        "{\"memory_format\":\"channels_last\"},{\"symint\":\"s0 + 1\"},true,null]],\"kwargs\":"
        "{\"dtype\":{\"dtype\":\"bool\"}},\"hints\":{\"s0\":4,\"s1\":6},\"given\":[\"s0 < 9\"]}";
    static const char symbolic[] =
        "{\"op\":\"aten.view.default\",\"torch\":\"2.13\",\"args\":[{\"t\":\"float32\",\"device\":"
        "\"cpu\",\"size\":[\"s0\",3],\"stride\":[\"s1 - 9\",1],\"offset\":2,\"storage\":0},[\"a\","
        "{\"float\":\"-inf\"},{\"complex\":[\"1.5\",\"nan\"]},{\"dtype\":\"int8\"},{\"device\":"
        "\"cuda:1\"},{\"memory_format\":\"channels_last\"},{\"symint\":\"s0 + 1\"},true,null]],"
        "\"kwargs\":{\"dtype\":{\"dtype\":\"bool\"}},\"hints\":{\"s0\":4,\"s1\":6},";
    struct err err = ERR_INIT;
    struct json doc = { 0 };
    struct buf out = BUF_INIT;
    struct case_writer cw;
    struct case_checker *checker = case_checker_new(NULL, &err);
    assert_true(json_parse(&doc, STR(text), &err));
    assert_true(case_open(checker, &doc, &err));
    write_text(checker, NULL, 0, &out, &cw);
    assert_str_eq(str_first(buf_str(&out), sizeof symbolic - 1), STR(symbolic));
    assert_true(str_contains(buf_str(&out), STR("\"given\":[\"s0 < 9\"]")));
    assert_true(cw.symbolic);
    /* With numbers; a stride is negative. */
    struct sym_pair pairs[] = { { checker->call.symbols[0].symbol,
                                  sym_integer(checker->call.pool, 7) },
                                { checker->call.symbols[1].symbol, SYM_ID_TWO } };
    buf_clear(&out);
    write_text(checker, pairs, 2, &out, &cw);
    assert_true(str_contains(buf_str(&out), STR("\"size\":[7,3],\"stride\":[-7,1]")));
    assert_true(str_contains(buf_str(&out), STR(",8,true,null]")));
    assert_true(cw.negative);
    assert_false(cw.symbolic);
    buf_release(&out);
    json_release(&doc);
    case_checker_free(checker);
}

/* ---- Expected failures ---- */

static const char LIST[] = "{\"schema\": \"symtape.opcheck.xfail/1\", \"expected\": ["
                           "{\"op\": \"b\", \"check\": \"rule\", \"reason\": \"issue\\t12\"},"
                           "{\"op\": \"a\", \"check\": \"sizes\"},"
                           "{\"op\": \"b\", \"check\": \"rule\", \"reason\": \"again\"}]}";

static void test_expected_failures(void **state)
{
    (void)state;
    struct expected_failures list = { 0 };
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    assert_true(expected_failures_read(&list, STR(LIST), &err));
    assert_int_equal(list.list.n, 2);
    assert_non_null(expected_failures_find(&list, STR("a"), STR("sizes")));
    assert_null(expected_failures_find(&list, STR("a"), STR("rule")));
    assert_true(expected_failures_add(&list, STR("a"), STR("rule")));
    assert_true(expected_failures_add(&list, STR("a"), STR("rule")));
    expected_failures_remove(&list, STR("a"), STR("sizes"));
    expected_failures_remove(&list, STR("c"), STR("sizes"));
    expected_failures_write(&list, &out);
    assert_true(str_starts(buf_str(&out),
                           STR("{\n \"schema\": \"symtape.opcheck.xfail/1\",\n \"expected\": [\n"
                               "  {\"op\": \"a\", \"check\": \"rule\", \"reason\": \"\"},\n"
                               "  {\"op\": \"b\", \"check\": \"rule\", \"reason\": \"")));
    expected_failures_release(&list);
    buf_release(&out);
}

static void test_bad_expected_failures(void **state)
{
    (void)state;
    static const char *const TEXTS[][2] = {
        { "{", "offset" },
        { "[]", "no \"schema\"" },
        { "{\"schema\": \"symtape.opcheck.xfail/2\"}", "no \"schema\"" },
        { "{\"schema\": \"symtape.opcheck.xfail/1\"}", "no list" },
        { "{\"schema\": \"symtape.opcheck.xfail/1\", \"expected\": [1]}", "item 1" },
        { "{\"schema\": \"symtape.opcheck.xfail/1\", \"expected\": [{\"op\": 1, \"check\": \"a\"}]}",
          "item 1" },
    };
    for (size_t i = 0; i < sizeof TEXTS / sizeof *TEXTS; i++) {
        struct expected_failures list = { 0 };
        struct err err = ERR_INIT;
        assert_false(expected_failures_read(&list, str_of(TEXTS[i][0]), &err));
        assert_err(&err, ERR_INPUT, TEXTS[i][1]);
        expected_failures_release(&list);
    }
}

/* ---- Memory ---- */

static bool attempt_failures(void *arg)
{
    struct expected_failures list = { 0 };
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    (void)arg;
    bool ok = expected_failures_read(&list, STR(LIST), &err) &&
              expected_failures_add(&list, STR("c"), STR("rule"));
    expected_failures_write(&list, &out);
    ok = ok && !out.failed;
    expected_failures_release(&list);
    buf_release(&out);
    return ok;
}

static bool attempt_case(void *arg)
{
    struct err err = ERR_INIT;
    struct json doc = { 0 };
    struct buf out = BUF_INIT;
    enum case_verdict verdict = CASE_VERDICTS;
    const struct row *row = arg;
    struct case_checker *checker = case_checker_new(NULL, &err);
    bool ok = checker && json_parse(&doc, str_of(row->text), &err) &&
              case_check(checker, &doc, &verdict, &err) && case_open(checker, &doc, &err);
    if (ok) {
        const struct op_case *call = &checker->call;
        struct case_writer cw = case_writer_of(call->ops, &out);
        case_put_call(&cw, STR("aten.relu.default"), STR(""),
                      &(struct arguments){ call->args, call->n_args, NULL, 0 });
        case_put_environment(&cw);
        case_writer_release(&cw);
        ok = !out.failed && verdict == row->verdict;
    }
    json_release(&doc);
    buf_release(&out);
    case_checker_free(checker);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt_failures, NULL);
    check_alloc_failures(attempt_case, (void *)&ROWS[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verdicts),
        cmocka_unit_test(test_custom_rules),
        cmocka_unit_test(test_writing),
        cmocka_unit_test(test_expected_failures),
        cmocka_unit_test(test_bad_expected_failures),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profile/compare/check.h"
#include "tests/profile/made.h"

struct rig {
    struct arena arena;
    struct check_rules rules;
    struct check_side now, before;
    struct check *check;
};

static void put(struct check_side *side, enum measure measure, double value)
{
    side->measures[measure] = (struct measure_summary){ 1, value, value, value };
    static const struct str NAMES[] = { { "a.tape", 6 }, { "b.tape", 6 }, { "c.tape", 6 } };
    side->tapes = NAMES;
    side->n_tapes = 1;
}

static void rule(struct rig *rig, const char *list, enum check_list of)
{
    struct err err = ERR_INIT;
    assert_true(check_rules_parse(&rig->rules, str_of(list), of, &err));
    assert_no_err(&err);
}

static const struct check *judge(struct rig *rig, bool beside)
{
    struct err err = ERR_INIT;
    check_free(rig->check);
    rig->check = check_make(&rig->rules, &rig->now, beside ? &rig->before : NULL, &err);
    assert_non_null(rig->check);
    return rig->check;
}

static void drop(struct rig *rig)
{
    check_free(rig->check);
    check_rules_release(&rig->rules);
    arena_release(&rig->arena);
}

static void test_rules(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    rule(&rig, "guards:+0, calls:+5%,cache_hits:-1,graphs:2", CHECK_BESIDE);
    rule(&rig, "ms_per_op:20.5", CHECK_BUDGETS);
    const struct check_rule *r = rig.rules.rules.v;
    assert_int_equal(rig.rules.rules.n, 5);
    assert_int_equal(r[0].measure, MEASURE_GUARDS);
    assert_int_equal(r[0].kind, CHECK_RISE);
    assert_true(r[0].limit == 0 && !r[0].percent);
    assert_str_is(r[1].text, "calls:+5%");
    assert_true(r[1].limit == 5 && r[1].percent);
    assert_int_equal(r[2].kind, CHECK_FALL);
    assert_int_equal(r[3].kind, CHECK_CHANGE);
    assert_int_equal(r[4].kind, CHECK_MAX);
    assert_true(r[4].limit == 20.5);
    drop(&rig);
}

static void refused(const char *list, enum check_list of, const char *why)
{
    struct err err = ERR_INIT;
    struct check_rules rules = { 0 };
    assert_false(check_rules_parse(&rules, str_of(list), of, &err));
    assert_err(&err, ERR_USAGE, why);
    check_rules_release(&rules);
}

static void test_misspelt(void **state)
{
    (void)state;
    refused("guard:+0", CHECK_BESIDE, "\"guard\" is not a measure");
    refused("", CHECK_BESIDE, "is not a measure");
    refused("guards:+0,,calls:+0", CHECK_BESIDE, "is not a measure");
    refused("guards", CHECK_BESIDE, "as in guards:+0");
    refused("guards", CHECK_BUDGETS, "as in guards:500");
    refused("guards:", CHECK_BESIDE, "is not a limit");
    refused("guards:++1", CHECK_BESIDE, "is not a limit");
    refused("guards:+1e3", CHECK_BESIDE, "is not a limit");
    refused("guards:nan", CHECK_BESIDE, "is not a limit");
    refused("guards:+.", CHECK_BESIDE, "is not a limit");
    refused("guards:+5%", CHECK_BUDGETS, "it must be a number");
    refused("guards:5%", CHECK_BUDGETS, "it must be a number");
}

static void test_limits(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    put(&rig.now, MEASURE_GUARDS, 105);
    put(&rig.before, MEASURE_GUARDS, 100);
    rule(&rig, "guards:+5,guards:+4,guards:+5%,guards:+4.9%,guards:-0,guards:5,guards:4",
         CHECK_BESIDE);
    rule(&rig, "guards:105,guards:104", CHECK_BUDGETS);
    const struct check *c = judge(&rig, true);
    static const enum check_verdict EXPECTED[] = {
        CHECK_HOLDS, CHECK_REGRESSED, CHECK_HOLDS, CHECK_REGRESSED, CHECK_HOLDS,
        CHECK_HOLDS, CHECK_REGRESSED, CHECK_HOLDS, CHECK_REGRESSED,
    };
    assert_int_equal(c->n_rows, 9);
    for (uint32_t i = 0; i < c->n_rows; i++)
        assert_int_equal(c->rows[i].verdict, EXPECTED[i]);
    assert_int_equal(c->verdict, CHECK_REGRESSED);
    assert_int_equal(c->regressed, 4);
    put(&rig.now, MEASURE_GUARDS, 90);
    c = judge(&rig, true);
    assert_int_equal(c->rows[0].verdict, CHECK_HOLDS);
    assert_int_equal(c->rows[4].verdict, CHECK_REGRESSED); /* it may not fall */
    assert_int_equal(c->rows[5].verdict, CHECK_REGRESSED); /* it may not change by more than 5 */
    drop(&rig);
}

/* Nobody asked for them: what neither side measures is left out, what one lacks is told. */
static void test_usual(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    struct err err = ERR_INIT;
    put(&rig.now, MEASURE_CALLS_EXPORTED, 5);
    put(&rig.before, MEASURE_CALLS_EXPORTED, 5);
    put(&rig.before, MEASURE_GUARDS, 9);
    assert_true(check_rules_usual(&rig.rules, &err));
    const struct check *c = judge(&rig, true);
    assert_int_equal(c->n_rows, 2);
    assert_int_equal(c->rows[0].rule.measure, MEASURE_GUARDS);
    assert_int_equal(c->rows[0].verdict, CHECK_CANNOT_TELL);
    assert_int_equal(c->rows[1].verdict, CHECK_HOLDS);
    drop(&rig);
}

/* 0.1 + 0.2 is above 0.3 by rounding alone. */
static void test_rounding(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    put(&rig.now, MEASURE_COMPILE_S, 0.1 + 0.2);
    put(&rig.before, MEASURE_COMPILE_S, 0.3);
    rule(&rig, "compile_s:+0", CHECK_BESIDE);
    assert_int_equal(judge(&rig, true)->verdict, CHECK_HOLDS);
    drop(&rig);
}

static void test_cannot_tell(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    put(&rig.now, MEASURE_GUARDS, 5);
    put(&rig.before, MEASURE_EXPRS, 5);
    rule(&rig, "guards:+0,exprs:+0", CHECK_BESIDE);
    const struct check *c = judge(&rig, true);
    assert_int_equal(c->verdict, CHECK_CANNOT_TELL);
    assert_string_equal(c->rows[0].why, "the baseline does not have it");
    assert_string_equal(c->rows[1].why, "the tapes do not record it");
    c = judge(&rig, false);
    assert_string_equal(c->rows[0].why, "there is no baseline");
    drop(&rig);
}

/* A process that was stopped recorded too little: that a count is low enough says nothing, that it
 * is too high does. */
static void test_unfinished(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    put(&rig.now, MEASURE_GUARDS, 5);
    put(&rig.now, MEASURE_UNFINISHED, 1);
    put(&rig.before, MEASURE_GUARDS, 9);
    put(&rig.before, MEASURE_UNFINISHED, 0);
    rule(&rig, "guards:+0", CHECK_BESIDE);
    const struct check *c = judge(&rig, true);
    assert_int_equal(c->verdict, CHECK_CANNOT_TELL);
    assert_non_null(c->rows[0].why);
    put(&rig.now, MEASURE_GUARDS, 10);
    assert_int_equal(judge(&rig, true)->verdict, CHECK_REGRESSED);
    put(&rig.now, MEASURE_GUARDS, 9);
    put(&rig.before, MEASURE_UNFINISHED, 1); /* stopped in both */
    assert_int_equal(judge(&rig, true)->verdict, CHECK_HOLDS);
    drop(&rig);
}

static void test_nothing_compiled(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    put(&rig.now, MEASURE_GUARDS, 0);
    put(&rig.now, MEASURE_COMPILES, 0);
    put(&rig.before, MEASURE_GUARDS, 9);
    put(&rig.before, MEASURE_COMPILES, 2);
    rule(&rig, "guards:+0", CHECK_BESIDE);
    const struct check *c = judge(&rig, true);
    assert_int_equal(c->verdict, CHECK_CANNOT_TELL);
    assert_string_equal(c->rows[0].why, "nothing was compiled");
    drop(&rig);
}

static bool has_note(const struct check *c, const char *part)
{
    for (uint32_t i = 0; i < c->n_notes; i++)
        if (str_find(c->notes[i], str_of(part)) < c->notes[i].n)
            return true;
    return false;
}

static void test_notes(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    const struct str older[] = { STR("2.11.0") }, newer[] = { STR("2.13.0") };
    rig.now.torch = newer;
    rig.before.torch = older;
    rig.now.n_torch = rig.before.n_torch = 1;
    put(&rig.now, MEASURE_GUARDS, 5);
    put(&rig.now, MEASURE_NODES, 7);
    put(&rig.before, MEASURE_GUARDS, 5);
    put(&rig.before, MEASURE_NODES, 6);
    put(&rig.before, MEASURE_EXPRS, 6);
    rig.before.unknown = 2;
    rule(&rig, "guards:+0", CHECK_BESIDE);
    const struct check *c = judge(&rig, true);
    assert_true(has_note(c, "torch 2.13.0, the baseline with 2.11.0"));
    assert_true(has_note(c, "does not know 2 measures of the baseline"));
    assert_true(has_note(c, "only in the baseline: exprs"));
    assert_int_equal(c->n_changed, 1);
    assert_int_equal(c->changed[0], MEASURE_NODES);
    rig.now.n_tapes = 3;
    rig.now.measures[MEASURE_GUARDS] = (struct measure_summary){ 3, 5, 4, 6 };
    assert_true(has_note(judge(&rig, true), "guards differs between the tapes (4 to 6)"));
    rig.now.measures[MEASURE_GUARDS].n = 2;
    c = judge(&rig, true);
    assert_string_equal(c->rows[0].why, "not every tape records it");
    put(&rig.now, MEASURE_CALLS_EXPORTED, 9);
    put(&rig.before, MEASURE_COMPILES, 1);
    assert_true(has_note(judge(&rig, true), "this is a program of torch.export"));
    drop(&rig);
}

/* ---- Baselines ---- */

static void test_round_trip(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct check_side side = { 0 }, again;
    const struct str tapes[] = { STR("a \"b\".tape"), STR("\xc3\xa9") },
                     torch[] = { STR("2.11.0") };
    side.tapes = tapes;
    side.n_tapes = 2;
    side.torch = torch;
    side.n_torch = 1;
    side.measures[MEASURE_COMPILE_S] = (struct measure_summary){ 3, 10.683263, 9.1, 11.0 / 3 };
    side.measures[MEASURE_GUARDS] = (struct measure_summary){ 1, 192, 192, 192 };
    struct buf text = BUF_INIT;
    baseline_write(&side, &text);
    assert_false(text.failed);
    assert_true(baseline_read(buf_str(&text), &arena, &again, &err));
    assert_int_equal(again.n_tapes, 2);
    assert_str_is(again.tapes[0], "a \"b\".tape");
    assert_str_is(again.torch[0], "2.11.0");
    assert_memory_equal(&again.measures, &side.measures, sizeof side.measures);
    buf_release(&text);
    arena_release(&arena);
}

#define BASELINE "{\"schema\": \"symtape.baseline/1\""

static void unreadable(const char *text, const char *why)
{
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct check_side side;
    assert_false(baseline_read(str_of(text), &arena, &side, &err));
    assert_err(&err, ERR_INPUT, why);
    arena_release(&arena);
}

static void test_unreadable(void **state)
{
    (void)state;
    unreadable("", "offset 0");
    unreadable("[]", "not a baseline");
    unreadable("{\"schema\": \"symtape.check/1\"}", "not a baseline");
    unreadable("{\"schema\": \"symtape.baseline/2\"}", "later symtape");
    unreadable(BASELINE "}", "\"measures\" is missing");
    unreadable(BASELINE ", \"measures\": []}", "\"measures\" is missing");
    unreadable(BASELINE ", \"measures\": {\"guards\": {}}}", "guards: no value");
    unreadable(BASELINE ", \"measures\": {\"guards\": NaN}}", "guards: no value");
    unreadable(BASELINE ", \"measures\": {\"guards\": {\"value\": 1, \"n\": 0}}}", "no value");
    unreadable(BASELINE ", \"tapes\": [1], \"measures\": {}}", "tapes: not a string");
}

static void test_by_hand(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct check_side side;
    assert_true(baseline_read(
        STR(BASELINE ", \"measures\": {\"guards\": 12, \"of_tomorrow\": {\"value\": 1}}}"), &arena,
        &side, &err));
    assert_int_equal(side.measures[MEASURE_GUARDS].n, 1);
    assert_true(side.measures[MEASURE_GUARDS].greatest == 12);
    assert_int_equal(side.unknown, 1);
    assert_int_equal(side.n_tapes, 0);
    arena_release(&arena);
}

/* ---- Reports ---- */

static void holds_text(const struct buf *text, const char *part)
{
    if (str_find(buf_str(text), str_of(part)) == text->n)
        fail_msg("\"%s\" is not in:\n%.*s", part, STR_ARG(buf_str(text)));
}

static void test_reports(void **state)
{
    (void)state;
    struct rig rig = { 0 };
    const struct report_options how = { 0 };
    struct buf text = BUF_INIT;
    put(&rig.now, MEASURE_GUARDS, 204);
    put(&rig.before, MEASURE_GUARDS, 192);
    put(&rig.now, MEASURE_NODES, 6);
    put(&rig.before, MEASURE_NODES, 7);
    rule(&rig, "guards:+0,symbols:+0", CHECK_BESIDE);
    const struct check *c = judge(&rig, true);
    check_text(c, &how, &text);
    holds_text(&text, "1 of 2 limits is exceeded, 1 cannot be judged\n");
    holds_text(&text, "+12 (+6.2 %)");
    holds_text(&text, "Changed without a limit");
    buf_clear(&text);
    check_markdown(c, &text);
    holds_text(&text, "### symtape check: **regressed**\n");
    holds_text(&text, "| **regressed** | guards:+0 | 192 | 204 | +12 (+6.2 %) |");
    holds_text(&text, "1 more measure changed");
    buf_clear(&text);
    check_json(c, &text);
    holds_text(&text, "{\"schema\":\"symtape.check/1\",\"verdict\":\"regressed\"");
    holds_text(&text, "\"verdict\":\"cannot_tell\"");
    holds_text(&text, "\"allowed\":192");
    buf_clear(&text);
    check_list_text(&rig.now, &how, &text);
    holds_text(&text, "204");
    buf_clear(&text);
    check_list_json(NULL, &text);
    holds_text(&text, "\"measure\":\"ms_per_op\",\"unit\":\"ms\",\"source\":\"timed\"");
    buf_release(&text);
    drop(&rig);
}

/* ---- Memory ---- */

static bool check_once(void *arg)
{
    struct trace *trace = arg;
    struct err err = ERR_INIT;
    struct rig rig = { 0 };
    struct check_input input = { .trace = trace, .name = STR("made.log") };
    const struct report_options how = { 0 };
    struct buf text = BUF_INIT;
    bool ok = measures_take(trace, &(struct measure_options){ 0 }, &input.measures, &err) &&
              check_rules_usual(&rig.rules, &err) &&
              check_side_of(&input, 1, &rig.arena, &rig.now, &err);
    if (ok)
        baseline_write(&rig.now, &text);
    ok = ok && !text.failed && baseline_read(buf_str(&text), &rig.arena, &rig.before, &err) &&
         (rig.check = check_make(&rig.rules, &rig.now, &rig.before, &err));
    if (ok) {
        assert_int_equal(rig.check->verdict, CHECK_HOLDS);
        check_text(rig.check, &how, &text);
        check_json(rig.check, &text);
        check_markdown(rig.check, &text);
        check_list_text(&rig.now, &how, &text);
        ok = !text.failed;
    }
    buf_release(&text);
    drop(&rig);
    return ok;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct log_make log = made_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(check_once, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),       cmocka_unit_test(test_misspelt),
        cmocka_unit_test(test_limits),      cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_cannot_tell), cmocka_unit_test(test_unfinished),
        cmocka_unit_test(test_notes),       cmocka_unit_test(test_nothing_compiled),
        cmocka_unit_test(test_round_trip),  cmocka_unit_test(test_unreadable),
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_reports),
        cmocka_unit_test(test_usual),       cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

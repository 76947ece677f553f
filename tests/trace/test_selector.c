#include "trace/selector.h"

#include "tests/harness.h"

static void test_parts_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text, *tape, *recording, *compile;
        int attempt;
        const char *kind;
        int index;
    } cases[] = {
        { "bert.tape", "bert.tape", "", "", -1, "", -1 },
        { "-", "-", "", "", -1, "", -1 },
        { "bert.tape:0/0", "bert.tape", "", "0/0", -1, "", -1 },
        { "bert.tape:12/3_45", "bert.tape", "", "12/3", 45, "", -1 },
        { "bert.tape:0/0:forward", "bert.tape", "", "0/0", -1, "forward", -1 },
        { "b.tape:0/0_1:aot_joint_graph#2", "b.tape", "", "0/0", 1, "aot_joint_graph", 2 },
        { "d.tape@rank1:0/0:inference", "d.tape", "rank1", "0/0", -1, "inference", -1 },
        { "d.tape@rank1", "d.tape", "rank1", "", -1, "", -1 },
        { "a@b.tape@rank1", "a@b.tape", "rank1", "", -1, "", -1 },
        { "/home/me@host/bert.tape", "/home/me@host/bert.tape", "", "", -1, "", -1 },
        { "t:!1/0/0", "t", "", "!1/0/0", -1, "", -1 },
        { "t:!3_1", "t", "", "!3", 1, "", -1 },
        { "t:0/0.1", "t", "", "0/0.1", -1, "", -1 },
        { "t:!1/0/0.12_1:joint", "t", "", "!1/0/0.12", 1, "joint", -1 },
        { "mlp.pt2::exported", "mlp.pt2", "", "", -1, "exported", -1 },
        { "mlp.pt2@mlp::exported#1", "mlp.pt2", "mlp", "", -1, "exported", 1 },
        { "odd:name.tape:0/0", "odd:name.tape", "", "0/0", -1, "", -1 },
        { "odd:name.tape", "odd:name.tape", "", "", -1, "", -1 },
        { "t:0/0:torch._functorch.config", "t", "", "0/0", -1, "torch._functorch.config", -1 },
        { "t:0/0:a:b#c#3", "t", "", "0/0", -1, "a:b#c", 3 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct selector s;
        struct err err = ERR_INIT;
        assert_true(selector_parse(&s, str_of(cases[i].text), &err));
        assert_no_err(&err);
        assert_str_is(s.tape, cases[i].tape);
        assert_str_is(s.recording, cases[i].recording);
        assert_str_is(s.compile, cases[i].compile);
        assert_int_equal(s.attempt, cases[i].attempt);
        assert_str_is(s.kind, cases[i].kind);
        assert_int_equal(s.index, cases[i].index);
    }
}

static void test_misspelt_places_are_usage_errors(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "t:0",      "t:0/",
        "t:0/0_",   "t:0/0_x",
        "t:0/0:",   "t:0/0:forward#",
        "t:0/0:#1", "t:0/0/0",
        "t:!1/0",   "t:0/0:forward#99999999999999999999",
        "t:0/0_-1", "t:0/0.",
        "t:0/0.x",  "t:0/0.1.1",
        "",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct selector s;
        struct err err = ERR_INIT;
        assert_false(selector_parse(&s, str_of(texts[i]), &err));
        assert_err(&err, ERR_USAGE, "");
    }
}

/* An empty file of this name; valid as temp_path() is. */
static struct str make_file(const char *name)
{
    const char *path = temp_path(name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    return str_of(path);
}

static void test_a_name_that_exists_is_a_tape(void **state)
{
    (void)state;
    static const char *const names[] = { "odd:9", "x@rank0" };
    struct selector s;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < 2; i++) {
        struct str path = make_file(names[i]);
        assert_true(selector_parse(&s, path, &err));
        assert_str_eq(s.tape, path);
        assert_str_is(s.recording, "");
        assert_str_is(s.compile, "");
    }
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s:forward", temp_path("x@rank0"));
    assert_false(selector_parse(&s, buf_str(&text), &err)); /* the tape exists: a bad place */
    assert_err(&err, ERR_USAGE, "\"forward\" is not COMPILE");
    buf_release(&text);
}

static void test_parts_without_a_tape(void **state)
{
    (void)state;
    static const struct {
        const char *text, *recording, *compile;
        int attempt;
        const char *kind;
        int index;
    } cases[] = {
        { "0/0:forward", "", "0/0", -1, "forward", -1 },
        { ":0/0:forward", "", "0/0", -1, "forward", -1 },
        { "0/0_1", "", "0/0", 1, "", -1 },
        { "forward", "", "", -1, "forward", -1 },
        { "forward#1", "", "", -1, "forward", 1 },
        { "@rank1", "rank1", "", -1, "", -1 },
        { "@rank1:0/0:joint", "rank1", "0/0", -1, "joint", -1 },
        { "@rank1:joint", "rank1", "", -1, "joint", -1 },
        { "::exported", "", "", -1, "exported", -1 },
    };
    struct selector s;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_true(selector_parse_part(&s, str_of(cases[i].text), &err));
        assert_str_is(s.recording, cases[i].recording);
        assert_str_is(s.compile, cases[i].compile);
        assert_int_equal(s.attempt, cases[i].attempt);
        assert_str_is(s.kind, cases[i].kind);
        assert_int_equal(s.index, cases[i].index);
    }
    assert_false(selector_parse_part(&s, STR("0/0/0:x"), &err));
    assert_err(&err, ERR_USAGE, "0/0/0:x");
    assert_false(selector_parse_part(&s, STR(""), &err));
    assert_err(&err, ERR_USAGE, "");
}

/* A tape of two ranks. Rank 0: 0/0 was restarted, then 0/1; rank 1: 0/0 and a .pt2's graph. */
static const struct recording two_recordings[] = {
    { .name = { "rank0", 5 } },
    { .name = { "rank1", 5 } },
};
static const struct attempt attempts[] = {
    { .recording = 0, .compile = { "0/0", 3 }, .number = 0, .status = ATTEMPT_RESTARTED },
    { .recording = 0, .compile = { "0/0", 3 }, .number = 1 },
    { .recording = 0, .compile = { "0/1", 3 }, .number = 0 },
    { .recording = 1, .compile = { "0/0", 3 }, .number = 0 },
};
static const struct record records[] = {
    { .recording = 0 }, { .recording = 0 }, { .recording = 0 }, { .recording = 0 },
    { .recording = 0 }, { .recording = 1 }, { .recording = 1 },
};
#define GRAPH(record, attempt, kind, name, index)                                \
    {                                                                            \
        (record), (attempt), (kind), { (name), sizeof(name) - 1 }, (index), true \
    }
static const struct graph_ref refs[] = {
    GRAPH(0, 0, GRAPH_DYNAMO, "dynamo_output_graph", 0),
    GRAPH(1, 0, GRAPH_FORWARD, "aot_forward_graph", 0),
    GRAPH(2, 1, GRAPH_DYNAMO, "dynamo_output_graph", 0),
    GRAPH(3, 2, GRAPH_POST_GRAD, "before_post_grad_graph", 0),
    GRAPH(4, 2, GRAPH_POST_GRAD, "after_post_grad_graph", 0),
    GRAPH(5, 3, GRAPH_DYNAMO, "dynamo_output_graph", 0),
    GRAPH(6, TRACE_NONE, GRAPH_EXPORTED, "exported_program", 0),
};
static const struct graph_list list = { refs, sizeof refs / sizeof refs[0] };
static const struct trace trace = {
    .records = records,
    .n_records = sizeof records / sizeof records[0],
    .recordings = two_recordings,
    .n_recordings = 2,
    .attempts = attempts,
    .n_attempts = 4,
};

/* The graph that is meant; an error's text is left in *err. */
static uint32_t pick(const char *text, struct err *err)
{
    struct selector s;
    uint32_t ref = TRACE_NONE;
    *err = ERR_INIT;
    if (selector_parse(&s, str_of(text), err))
        selector_graph(&trace, &list, &s, &ref, err);
    return ref;
}

static void test_the_last_attempt_that_has_one(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(pick("t@rank0:0/0:dynamo", &err), 2);
    assert_int_equal(pick("t@rank0:0/0:forward", &err), 1);
    assert_int_equal(pick("t@rank0:0/0_0:dynamo", &err), 0);
    assert_int_equal(pick("t@rank0:0/0_0:dynamo_output_graph#0", &err), 0);
    assert_int_equal(pick("t@rank1:0/0", &err), 5);
    assert_int_equal(pick("t:0/1:after_post_grad_graph", &err), 4);
    assert_int_equal(pick("t:0/1:post_grad#1", &err), 4);
    assert_int_equal(pick("t::exported", &err), 6);
    assert_no_err(&err);
}

static void test_ambiguity_lists_candidates(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(pick("t:0/0:dynamo", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE,
               "several graphs match; there are @rank0:0/0_1:dynamo_output_graph, "
               "@rank1:0/0_0:dynamo_output_graph");
    assert_int_equal(pick("t:0/1:post_grad", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE, "before_post_grad_graph, @rank0:0/1_0:after_post_grad_graph");
}

static void test_what_is_not_there(void **state)
{
    (void)state;
    struct err err;
    assert_int_equal(pick("t:0/1:backward", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE, "no such graph; there are ");
    assert_int_equal(pick("t@rank0:0/0:dynamo#1", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE, "no such graph");
    assert_int_equal(pick("t:7/0:dynamo", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE, "no compile 7/0; there are @rank0:0/0_0, @rank0:0/0_1");
    assert_int_equal(pick("t:0/1_3:dynamo", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE, "no compile 0/1_3");
    assert_int_equal(pick("t@rank9:0/0:dynamo", &err), TRACE_NONE);
    assert_err(&err, ERR_USAGE, "no recording rank9; there are rank0, rank1");
}

static void test_long_lists_are_cut(void **state)
{
    (void)state;
    static struct graph_ref many[100];
    const struct graph_list long_list = { many, 100 };
    struct selector s = SELECTOR_ALL;
    struct err err = ERR_INIT;
    uint32_t ref;
    for (uint32_t i = 0; i < 100; i++)
        many[i] = (struct graph_ref){ 3, 2, GRAPH_JOINT, STR("joint"), i, true };
    assert_false(selector_graph(&trace, &long_list, &s, &ref, &err));
    assert_err(&err, ERR_USAGE, "@rank0:0/1_0:joint#7 and 92 more");
    s.index = 42;
    assert_true(selector_graph(&trace, &long_list, &s, &ref, &err));
    assert_int_equal(ref, 42);
}

static void test_what_is_printed_names_the_graph(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < list.n; i++) {
        struct buf text = BUF_INIT;
        struct selector s;
        struct err err = ERR_INIT;
        uint32_t ref = TRACE_NONE;
        selector_print_graph(&trace, &list, i, &text);
        assert_true(selector_parse_part(&s, buf_str(&text), &err));
        assert_true(selector_graph(&trace, &list, &s, &ref, &err));
        assert_int_equal(ref, i);
        buf_release(&text);
    }
}

static void test_filters(void **state)
{
    (void)state;
    struct selector s = SELECTOR_ALL;
    assert_true(selector_has_attempt(&trace, &s, TRACE_NONE));
    assert_true(selector_has_attempt(&trace, &s, 3));
    s.compile = STR("0/0");
    assert_false(selector_has_attempt(&trace, &s, TRACE_NONE));
    assert_true(selector_has_attempt(&trace, &s, 3));
    assert_false(selector_has_attempt(&trace, &s, 2));
    s.attempt = 1;
    assert_true(selector_has_attempt(&trace, &s, 1));
    assert_false(selector_has_attempt(&trace, &s, 0));
    s.recording = STR("rank1");
    assert_false(selector_has_attempt(&trace, &s, 1));
    assert_false(selector_has_recording(&trace, &s, 0));
}

static bool pick_once(void *arg)
{
    struct err err;
    (void)arg;
    pick("t:0/0:dynamo", &err);
    return err.kind == ERR_USAGE;
}

static void test_allocations_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(pick_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_told_apart),
        cmocka_unit_test(test_misspelt_places_are_usage_errors),
        cmocka_unit_test(test_a_name_that_exists_is_a_tape),
        cmocka_unit_test(test_parts_without_a_tape),
        cmocka_unit_test(test_the_last_attempt_that_has_one),
        cmocka_unit_test(test_ambiguity_lists_candidates),
        cmocka_unit_test(test_what_is_not_there),
        cmocka_unit_test(test_long_lists_are_cut),
        cmocka_unit_test(test_what_is_printed_names_the_graph),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

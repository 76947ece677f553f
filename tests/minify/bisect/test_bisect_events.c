#include "minify/bisect/bisect_events.h"

#include "tests/harness.h"

static const char view[] =
    "# symtape candidate: dynamo, torch 2.11.0, seed 0\n"
    "# symbol s77 = 4 in [2, int_oo] marked from L['x'].size()[0]\n"
    "# symbol s27 = 3 in [2, int_oo] from L['x'].size()[1]\n"
    "# guard Ne(Mod(s27, 7), 0) before add\n"
    "class GraphModule(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s77, s27][s27, 1]cpu\", y: \"f32[4, 5][5, 1]cpu\"):\n"
    "        # File: /home/user/model.py:7 in forward, code: z = x[0] + 1\n"
    "        sin: \"f32[s77, s27][s27, 1]cpu\" = torch.ops.aten.sin.default(x)\n"
    "        add: \"f32[s77, s27][s27, 1]cpu\" = torch.ops.aten.add.Tensor(sin, 1)\n"
    "        cat: \"f32[4, s27 + 5][s27 + 5, 1]cpu\" = torch.ops.aten.cat.default([add, y], 1)\n"
    "        bad: \"f32[s77, s27][s27, 1]cpu\" = torch.ops.aten.mm.default(y, y)\n"
    "        return (cat, bad)\n";

static struct candidate *read_candidate(void)
{
    struct candidate_options options = { 0 };
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_read_fx(STR(view), &options, &err);
    if (!ret)
        fail_msg("%s", err.text);
    return ret;
}

/* The number of the first event that answers yes; 0: none. */
static uint32_t first_hit(struct bisect_question question, struct bisect_events *events)
{
    struct candidate *candidate = read_candidate();
    struct err err = ERR_INIT;
    if (!bisect_events_walk(candidate, &question, UINT32_MAX, events, &err))
        fail_msg("%s", err.text);
    candidate_free(candidate);
    assert_true(events->whole);
    for (uint32_t i = 0; i <= events->list.n; i++)
        if (bisect_events_hit(events, i))
            return i;
    return 0;
}

static const struct bisect_event *event_at(const struct bisect_events *events, uint32_t number)
{
    assert_in_range(number, 1, events->list.n);
    return &events->list.v[number - 1];
}

static void test_questions(void **state)
{
    (void)state;
    struct bisect_events events;
    uint32_t at = first_hit(
        (struct bisect_question){ .kind = BISECT_GUARD, .what = STR("Ne(Mod(s27, 7), 0)") },
        &events);
    assert_str_is(event_at(&events, at)->expr, "Ne(Mod(s27, 7), 0)");
    assert_false(event_at(&events, at)->asked);
    assert_str_is(event_at(&events, at)->node, "add");
    bisect_events_release(&events);

    at = first_hit((struct bisect_question){ .kind = BISECT_SPECIALIZES, .what = STR("s77") },
                   &events);
    assert_str_is(event_at(&events, at)->expr, "s77 = 4");
    assert_str_is(event_at(&events, at)->node, "cat");
    bisect_events_release(&events);

    at = first_hit((struct bisect_question){ .kind = BISECT_FAILURE, .what = STR("") }, &events);
    assert_str_is(event_at(&events, at)->node, "bad");
    assert_true(event_at(&events, at)->failure.n > 0);
    assert_str_is(event_at(&events, at)->file, "/home/user/model.py");
    bisect_events_release(&events);

    at = first_hit((struct bisect_question){ .kind = BISECT_FAILURE, .what = STR("no such") },
                   &events);
    assert_int_equal(at, 0);
    bisect_events_release(&events);
}

static void test_prefix_is_the_same(void **state)
{
    (void)state;
    struct candidate *candidate = read_candidate();
    const struct bisect_question question = { .kind = BISECT_FAILURE, .what = STR("") };
    struct bisect_events whole, part;
    struct err err = ERR_INIT;
    assert_true(bisect_events_walk(candidate, &question, UINT32_MAX, &whole, &err));
    for (uint32_t n = 0; n <= whole.list.n; n++) {
        assert_true(bisect_events_walk(candidate, &question, n, &part, &err));
        assert_int_equal(part.list.n, n);
        for (uint32_t i = 0; i < n; i++) {
            assert_true(part.list.v[i].id == whole.list.v[i].id);
            assert_int_equal(part.list.v[i].kind, whole.list.v[i].kind);
        }
        bisect_events_release(&part);
    }
    bisect_events_release(&whole);
    candidate_free(candidate);
}

static void test_injected(void **state)
{
    (void)state;
    struct bisect_events events;
    uint32_t at = first_hit((struct bisect_question){ .kind = BISECT_FAILURE,
                                                      .what = STR("mismatch"),
                                                      .inject = STR("aten.sin=size") },
                            &events);
    assert_str_is(event_at(&events, at)->op, "aten.sin.default");
    bisect_events_release(&events);
}

static void test_usage(void **state)
{
    (void)state;
    const struct bisect_question questions[] = {
        { .kind = BISECT_GUARD, .what = STR("Eq(s27,") },
        { .kind = BISECT_SPECIALIZES, .what = STR("s99") },
        { .kind = BISECT_FAILURE, .what = STR("(") },
        { .kind = BISECT_FAILURE, .what = STR(""), .inject = STR("nonsense") },
    };
    struct candidate *candidate = read_candidate();
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        struct bisect_events events;
        struct err err = ERR_INIT;
        assert_false(bisect_events_walk(candidate, &questions[i], UINT32_MAX, &events, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        bisect_events_release(&events);
    }
    candidate_free(candidate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_questions),
        cmocka_unit_test(test_prefix_is_the_same),
        cmocka_unit_test(test_injected),
        cmocka_unit_test(test_usage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "minify/search/why.h"

#include "tests/harness.h"

/* Fails while there is a sin; without the cos it fails differently. */
static void ask(struct oracle *oracle, const struct candidate *candidate,
                const struct oracle_question *asking, struct answer *answer)
{
    (void)oracle, (void)asking;
    bool sin = false, cos = false;
    for (uint32_t i = 0; i < candidate->graph->n_nodes; i++) {
        sin |= str_is(candidate->graph->nodes[i].target, "torch.sin");
        cos |= str_is(candidate->graph->nodes[i].target, "torch.cos");
    }
    *answer = (struct answer){ .verdict = !sin  ? VERDICT_BORING
                                          : cos ? VERDICT_INTERESTING
                                                : VERDICT_OTHER,
                               .text = STR("no cosine\nat all") };
}

static struct oracle oracle = { .ask = ask };

static void test_each_part(void **state)
{
    (void)state;
    const char fx[] = "class GraphModule(torch.nn.Module):\n"
                      "    def forward(self, s77: \"Sym(s77)\", x: \"f32[s77, 8][8, 1]cpu\"):\n"
                      "        sin: \"f32[s77, 8][8, 1]cpu\" = torch.sin(x)\n"
                      "        cos: \"f32[s77, 8][8, 1]cpu\" = torch.cos(sin)\n"
                      "        return (cos,)\n";
    struct candidate_options options = { 0 };
    struct err err = ERR_INIT;
    struct candidate *best = candidate_read_fx(str_of(fx), &options, &err);
    assert_non_null(best);
    struct why_list list;
    assert_true(why_find(best, &oracle, &(struct why_limits){ .cancel = NULL }, &list, &err));
    assert_int_equal(list.list.n, 3);
    assert_str_is(list.list.v[0].element, "sin = torch.sin");
    assert_str_is(list.list.v[0].result, "it does not fail any more");
    assert_str_is(list.list.v[1].element, "cos = torch.cos");
    assert_str_is(list.list.v[1].result, "it fails differently: no cosine");
    assert_str_is(list.list.v[2].element, "symbol s77");
    assert_str_is(list.list.v[2].result, "it still fails");
    assert_int_equal(list.calls, 3);
    assert_non_null(list.good);
    assert_int_equal(list.good_at, 0);
    why_release(&list);
    assert_false(list.is_short);
    const struct why_limits few = { .most = 1 };
    assert_true(why_find(best, &oracle, &few, &list, &err));
    assert_int_equal(list.list.n, 1);
    assert_true(list.is_short);
    why_release(&list);
    const struct why_limits over = { .until = 1 };
    assert_true(why_find(best, &oracle, &over, &list, &err));
    assert_int_equal(list.list.n, 0);
    assert_true(list.is_short);
    why_release(&list);
    const atomic_bool cancelled = true;
    const struct why_limits never = { .cancel = &cancelled };
    assert_true(why_find(best, &oracle, &never, &list, &err));
    assert_int_equal(list.list.n, 0);
    assert_null(list.good);
    why_release(&list);
    candidate_free(best);
}

/* Of many calls the first are examined, and then the symbols. */
static void test_first_parts(void **state)
{
    (void)state;
    struct buf fx = BUF_INIT;
    struct candidate_options options = { 0 };
    struct why_list list;
    struct err err = ERR_INIT;
    buf_puts(&fx, "class GraphModule(torch.nn.Module):\n"
                  "    def forward(self, s77: \"Sym(s77)\", x: \"f32[s77, 8][8, 1]cpu\"):\n");
    for (int i = 0; i <= WHYS_OF_A_KIND; i++)
        buf_printf(&fx, "        sin_%d: \"f32[s77, 8][8, 1]cpu\" = torch.sin(x)\n", i);
    buf_puts(&fx, "        return (sin_0,)\n");
    struct candidate *best = candidate_read_fx(buf_str(&fx), &options, &err);
    assert_non_null(best);
    assert_true(why_find(best, &oracle, &(struct why_limits){ .cancel = NULL }, &list, &err));
    assert_int_equal(list.list.n, WHYS_OF_A_KIND + 1);
    assert_str_is(list.list.v[WHYS_OF_A_KIND].element, "symbol s77");
    assert_true(list.is_short);
    why_release(&list);
    candidate_free(best);
    buf_release(&fx);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_each_part),
                                        cmocka_unit_test(test_first_parts) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The graphs of a page: what fits, and what is counted where it does not. */
#include "profile/page/page_parts.h"
#include "tests/profile/made.h"

#define CLASS "class GraphModule(torch.nn.Module):\n"
#define X     "\"f32[4][1]cpu\""

/* A graph with two inside, a size that no 63 bits hold, and texts that page_reduce() lengthens. */
static const char GRAPH_TEXT[] = CLASS
    "    def forward(self, L_x_: " X "):\n"
    "        l_x_ = L_x_\n"
    "        big: \"f32[9000000000, 9000000000, 2]cpu\" = torch.a(l_x_, '<<<<<<<<<<<<<<<<<<<<')\n"
    "        none: \"f32[9000000000, 9000000000, 0]cpu\" = torch.a(l_x_, '<<<<<<<<<<<<<<<<<<<<')\n"
    "        sin: " X " = torch.sin(l_x_)\n"
    "        wrap_body_0 = self.wrap_body_0\n"
    "        wrap_body_1 = self.wrap_body_1\n"
    "        return (sin,)\n"
    "        \n"
    "    class wrap_body_0(torch.nn.Module):\n"
    "        def forward(self, x: " X "):\n"
    "            cos: " X " = torch.cos(x)\n"
    "            return (cos,)\n"
    "            \n"
    "    class wrap_body_1(torch.nn.Module):\n"
    "        def forward(self, x: " X "):\n"
    "            tan: " X " = torch.tan(x)\n"
    "            return (tan,)\n"
    "            \n";

static struct made make_graphs(void)
{
    struct log_make log = log_start();
    made_strings(&log);
    log_put(&log, "\"dynamo_output_graph\": {}", GRAPH_TEXT);
    return made_profile(&log, NULL);
}

static uint64_t left_out(const struct page_omitted *omitted, const char *list)
{
    for (size_t i = 0; i < omitted->lists.n; i++)
        if (strcmp(omitted->lists.v[i].list, list) == 0)
            return omitted->lists.v[i].n;
    return 0;
}

static struct str print_graphs(const struct profile *profile, size_t bytes, struct buf *out,
                               struct page_omitted *omitted)
{
    struct err err = ERR_INIT;
    assert_true(page_graphs_json(profile, bytes, out, omitted, &err));
    assert_no_err(&err);
    return buf_str(out);
}

static void test_whole(void **state)
{
    (void)state;
    struct made made = make_graphs();
    struct page_omitted omitted = { .texts = 0 };
    struct buf out = BUF_INIT;
    struct str text = print_graphs(made.profile, 1 << 20, &out, &omitted);
    assert_true(str_contains(text, STR("\"9000000000, 9000000000, 2\",-1]")));
    assert_true(str_contains(text, STR("\"subgraph\":\"wrap_body_1\"")));
    assert_int_equal(omitted.lists.n, 0);
    buf_release(&out);
    made_drop(&made);
}

/* Graphs inside one that is shown are counted, too. */
static void test_cut(void **state)
{
    (void)state;
    struct made made = make_graphs();
    struct page_omitted omitted = { .texts = 0 };
    struct buf out = BUF_INIT;
    struct str text = print_graphs(made.profile, 300, &out, &omitted);
    assert_false(str_contains(text, STR("wrap_body_1\",\"lines")));
    assert_int_equal(left_out(&omitted, "graphs"), 2);
    assert_true(left_out(&omitted, "graphs.nodes") > 0);
    page_omitted_release(&omitted);
    buf_release(&out);
    made_drop(&made);
}

/* What is escaped later counts with its escapes. */
static void test_escapes(void **state)
{
    (void)state;
    struct made made = make_graphs();
    const struct page_limits limits = { UINT32_MAX, 400 };
    struct buf reduced = BUF_INIT;
    for (size_t bytes = 100; bytes < 2000; bytes += 100) {
        struct page_omitted omitted = { .texts = 0 };
        struct buf out = BUF_INIT;
        struct str text = print_graphs(made.profile, bytes, &out, &omitted);
        buf_clear(&reduced);
        page_reduce(text, "graphs", &limits, &reduced, &omitted);
        assert_true(reduced.n < bytes + 600); /* what closes a graph */
        page_omitted_release(&omitted);
        buf_release(&out);
    }
    buf_release(&reduced);
    made_drop(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_escapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

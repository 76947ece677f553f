/* What the compile of a graph costs, by operator; a graph whose inputs have the expressions does
 * not make them. */
#include "minify/oracle/cost.h"

#include <string.h>

#include "minify/candidate/candidate_data.h"
#include "tests/harness.h"

static const char MAKES[] =
    "class G(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s0, 6]cpu\"):\n"
    "        y: \"f32[2*s0, 6]cpu\" = torch.ops.aten.cat.default([x, x])\n"
    "        z: \"f32[2*s0 + 1, 6]cpu\" = torch.ops.aten.constant_pad_nd.default(y, [0, 0, 0, 1])\n"
    "        w: \"f32[2*s0 + 1, 6]cpu\" = torch.ops.aten.sin.default(z)\n"
    "        return (w,)\n";
static const char HAS[] = "class G(torch.nn.Module):\n"
                          "    def forward(self, z: \"f32[2*s0 + 1, 6]cpu\"):\n"
                          "        w: \"f32[2*s0 + 1, 6]cpu\" = torch.ops.aten.sin.default(z)\n"
                          "        return (w,)\n";

static struct candidate *read_text(const char *text)
{
    struct err err = ERR_INIT;
    struct cand_hint rows = { STR("s0"), 11 };
    const struct candidate_options options = { &rows, 1 };
    struct candidate *ret = candidate_read_fx(str_of(text), &options, &err);
    assert_no_err(&err);
    return ret;
}

static struct cost_table table_of(const char *text)
{
    struct err err = ERR_INIT;
    struct cost_table ret;
    struct candidate *candidate = read_text(text);
    assert_true(cost_table_make(&ret, candidate, &err));
    candidate_free(candidate);
    return ret;
}

static void test_table(void **state)
{
    (void)state;
    struct cost_table table = table_of(MAKES);
    assert_int_equal(table.rows.n, 3);
    assert_str_is(table.rows.v[0].op, "aten.cat.default");
    assert_int_equal(table.rows.v[0].counts.of[GRAPH_COST_CALLS], 1);
    assert_int_equal(table.rows.v[0].counts.of[GRAPH_COST_EXPR_SIZE], 3); /* Mul(2, s0) */
    assert_int_equal(table.rows.v[1].counts.of[GRAPH_COST_EXPR_SIZE], 5); /* Add(Mul(2, s0), 1) */
    assert_int_equal(table.total.of[GRAPH_COST_CALLS], 3);
    assert_int_equal(table.total.of[GRAPH_COST_EXPR_SIZE], 5);
    assert_int_equal(table.rows.v[0].symbolic_sizes, 1);
    assert_int_equal(cost_half(&table, GRAPH_COST_EXPR_SIZE), 3);
    uint64_t dispatches = 0;
    for (size_t i = 0; i < table.rows.n; i++)
        dispatches += table.rows.v[i].counts.of[GRAPH_COST_DISPATCHES];
    assert_int_equal(table.total.of[GRAPH_COST_DISPATCHES], dispatches);
    assert_true(dispatches >= 3);
    cost_table_release(&table);
}

static void test_inputs(void **state)
{
    (void)state;
    struct cost_table table = table_of(HAS);
    assert_int_equal(table.total.of[GRAPH_COST_EXPR_SIZE], 1);
    cost_table_release(&table);
}

/* PyTorch makes a symbol of a compound size of an input, wherever it occurs. */
static void test_program(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct candidate *has = read_text(HAS), *makes = read_text(MAKES);
    struct candidate *program = cost_program(has, &err), *same = cost_program(makes, &err);
    struct buf text = BUF_INIT;
    assert_no_err(&err);
    assert_true(same == makes);
    assert_int_equal(program->n_symbols, 1);
    assert_true(candidate_print_fx(program, &text));
    assert_true(str_find(buf_str(&text), STR("2*s0")) == text.n);
    buf_release(&text);
    candidate_free(program);
    candidate_free(same);
    candidate_free(has);
    candidate_free(makes);
}

static void test_reading(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           "size",        "guards>=",     "guards>=x",
        ">=3",        "guards>3",    "guards>=2.5",  "seconds>=",
        "seconds>=x", "seconds>=.5", "seconds>=1.x", "seconds>=18446744073709551615"
    };
    struct cost_limit limit;
    struct err err = ERR_INIT;
    assert_true(cost_read(STR(" expr-size >= 12"), &limit, &err));
    assert_int_equal(limit.cost, GRAPH_COST_EXPR_SIZE);
    assert_true(limit.has_least);
    assert_int_equal(limit.least, 12);
    assert_true(cost_read(STR("seconds>=2.5"), &limit, &err));
    assert_int_equal(limit.cost, GRAPH_COST_SECONDS);
    assert_int_equal(limit.least, 2500);
    assert_true(cost_read(STR("seconds>=40"), &limit, &err));
    assert_int_equal(limit.least, 40000);
    assert_true(cost_read(STR("seconds>=0.0125"), &limit, &err));
    assert_int_equal(limit.least, 12);
    assert_true(cost_read(STR("calls"), &limit, &err));
    assert_int_equal(limit.cost, GRAPH_COST_CALLS);
    assert_false(limit.has_least);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(cost_read(str_of(wrong[i]), &limit, &err));
        assert_int_equal(err.kind, ERR_USAGE);
        err = ERR_INIT;
    }
}

static void check_put(enum cost cost, uint64_t n, const char *expected)
{
    struct buf text = BUF_INIT;
    cost_put(&text, cost, n);
    assert_str_is(buf_str(&text), expected);
    buf_release(&text);
}

static void test_putting(void **state)
{
    (void)state;
    check_put(GRAPH_COST_GUARDS, 12, "12");
    check_put(GRAPH_COST_SECONDS, 2500, "2.5");
    check_put(GRAPH_COST_SECONDS, 12, "0.012");
}

static bool attempt_table(void *arg)
{
    struct err err = ERR_INIT;
    struct cost_table table;
    if (!cost_table_make(&table, arg, &err))
        return false;
    cost_table_release(&table);
    return true;
}

static void test_memory(void **state)
{
    (void)state;
    struct candidate *candidate = read_text(MAKES);
    check_alloc_failures(attempt_table, candidate);
    candidate_free(candidate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),   cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_program), cmocka_unit_test(test_reading),
        cmocka_unit_test(test_putting), cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "replay/backend/compare/compare_runs.h"

#include "replay/backend/compare/perturb.h"
#include "replay/backend/run/inputs/given_inputs.h"
#include "tests/harness.h"

static const char graph_text[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, a: \"f32[4, 3][3, 1]cpu\", b: \"f32[3, 2][2, 1]cpu\"):\n"
    "        mm: \"f32[4, 2][2, 1]cpu\" = torch.ops.aten.mm.default(a, b)\n"
    "        tanh: \"f32[4, 2][2, 1]cpu\" = torch.ops.aten.tanh.default(mm)\n"
    "        return (mm, tanh)\n";

struct world {
    struct graph *graph;
    struct backend_pair pair;
    struct str perturbed; /* node */
    unsigned outputs, finished, violations;
    struct value_file *values; /* NULL, or where outputs are kept */
};

static void begin(struct world *w, bool reference)
{
    struct err err = ERR_INIT;
    const struct backend_kind *cpu = backend_find(STR("cpu"));
    *w = (struct world){ .pair = { .tested_kind = cpu, .reference_kind = reference ? cpu : NULL } };
    w->graph = graph_parse(str_of(graph_text), &err);
    assert_true(backend_pair_open(&w->pair, &err));
    assert_no_err(&err);
}

static void end(struct world *w)
{
    backend_pair_close(&w->pair);
    assert_null(w->pair.tested);
    assert_null(w->pair.reference);
    value_file_free(w->values);
    graph_free(w->graph);
}

static bool perturb(void *user, struct run *run, const struct step *step, const struct value *value,
                    struct err *err)
{
    struct world *w = user;
    return !str_eq(run->graph->nodes[step->node].name, w->perturbed) ||
           run_perturb(run, value->u.tensor, 1, err);
}

static bool keep_output(void *user, struct str name, const struct array *values, struct err *err)
{
    struct world *w = user;
    w->outputs++;
    return !w->values || value_file_add(w->values, name, values, err);
}

static bool count_calls(void *user, struct run *run, struct err *err)
{
    struct world *w = user;
    (void)err;
    w->finished++;
    assert_int_equal(run->calls, 2);
    return true;
}

static void count_violation(void *user, struct str text)
{
    struct world *w = user;
    (void)text;
    w->violations++;
}

static struct compared_run run_of(struct world *w)
{
    return (struct compared_run){ .pair = &w->pair,
                                  .graph = w->graph,
                                  .options = { .user = w },
                                  .prefix = "y.",
                                  .output = keep_output,
                                  .finished = count_calls,
                                  .user = w };
}

static void test_one_run(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    struct comparison c;
    begin(&w, false);
    assert_null(w.pair.reference);
    struct compared_run run = run_of(&w);
    assert_true(compare_runs(&run, &c, &err));
    assert_int_equal(w.finished, 1);
    assert_int_equal(w.outputs, 2);
    assert_false(c.differs);
    assert_int_equal(c.outputs.n, 0);
    comparison_release(&c);
    end(&w);
}

static void test_two_runs(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    struct comparison c;
    const struct comparison_options compare = { .nodes = true };
    begin(&w, true);
    assert_ptr_equal(w.pair.tested, w.pair.reference);
    struct compared_run run = run_of(&w);
    run.compare = &compare;
    assert_true(compare_runs(&run, &c, &err));
    assert_false(c.differs);
    assert_int_equal(c.outputs.n, 2);
    assert_str_is(c.outputs.v[1].name, "y.1");
    comparison_release(&c);
    run.node = perturb;
    w.perturbed = STR("tanh");
    assert_true(compare_runs(&run, &c, &err));
    assert_true(c.differs);
    assert_str_is(comparison_first(&c)->name, "tanh");
    assert_int_equal(c.outputs.v[0].match, MATCH_EQUAL);
    assert_int_equal(w.finished, 2); /* the tested runs only */
    comparison_release(&c);
    end(&w);
}

/* The values of a run, written to a file, are those of a run that is compared with the file. */
static void test_a_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    struct comparison c;
    const char *path = temp_path("outputs.safetensors");
    begin(&w, false);
    w.values = value_file_new(NULL, &err);
    struct compared_run run = run_of(&w);
    assert_true(compare_runs(&run, &c, &err));
    comparison_release(&c);
    assert_true(value_file_seal(w.values, &err) && value_file_write(w.values, path, &err));
    const struct comparison_options compare = { .file = safetensors_open(path, &err) };
    run.compare = &compare;
    run.output = NULL;
    assert_true(compare_runs(&run, &c, &err));
    assert_false(c.differs);
    comparison_release(&c);
    run.options.seed = 1;
    assert_true(compare_runs(&run, &c, &err));
    assert_true(c.differs);
    comparison_release(&c);
    safetensors_close((struct safetensors *)compare.file);
    end(&w);
}

/* A guard that does not hold is reported once, though the graph runs twice. */
static void test_violations(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    struct comparison c;
    const struct comparison_options compare = { 0 };
    const struct run_guard guard = { .kind = RUN_GUARD_GUARD, .expr = STR("s0 < 4") };
    const struct run_symbol symbol = { .name = STR("s0"), .hint = 3, .has_hint = true };
    const struct run_size size = { .symbol = STR("s0"), .value = 5 };
    static const char text[] = "class <lambda>(torch.nn.Module):\n"
                               "    def forward(self, s0: \"Sym(s0)\", a: \"f32[s0][1]cpu\"):\n"
                               "        mul: \"f32[s0][1]cpu\" = torch.ops.aten.mul.Tensor(a, 2)\n"
                               "        neg: \"f32[s0][1]cpu\" = torch.ops.aten.neg.default(mul)\n"
                               "        return (neg,)\n";
    begin(&w, true);
    graph_free(w.graph);
    w.graph = graph_parse(str_of(text), &err);
    assert_no_err(&err);
    struct compared_run run = run_of(&w);
    run.compare = &compare;
    run.options.guards = &guard;
    run.options.n_guards = 1;
    run.options.symbols = &symbol;
    run.options.n_symbols = 1;
    run.options.sizes = &size;
    run.options.n_sizes = 1;
    assert_false(compare_runs(&run, &c, &err));
    assert_err(&err, ERR_USAGE, "s0 < 4");
    assert_int_equal(w.finished, 0);
    comparison_release(&c);
    err = ERR_INIT;
    run.options.violated = count_violation;
    assert_true(compare_runs(&run, &c, &err));
    assert_int_equal(w.violations, 1);
    comparison_release(&c);
    end(&w);
}

static void test_backends_that_cannot_be_compared(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const struct backend_kind *cpu = backend_find(STR("cpu")), *null = backend_find(STR("null"));
    struct backend_pair pairs[] = { { .tested_kind = null, .reference_kind = cpu },
                                    { .tested_kind = cpu, .reference_kind = null } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        assert_false(backend_pair_open(&pairs[i], &err));
        assert_err(&err, ERR_USAGE, "null computes no values");
        assert_null(pairs[i].tested);
        err = ERR_INIT;
    }
    struct backend_pair alone = { .tested_kind = cpu, .tf32 = true };
    assert_false(backend_pair_open(&alone, &err));
    assert_err(&err, ERR_USAGE, "--tf32: backend cpu has none");
    err = ERR_INIT;
    alone = (struct backend_pair){ .tested_kind = null };
    assert_true(backend_pair_open(&alone, &err));
    backend_pair_close(&alone);
    backend_pair_close(&alone);
}

/* ---- Inputs from files ---- */

static bool give(void *user, uint32_t i, const struct node *node, struct array *ret,
                 struct err *err)
{
    return given_input(user, i, node, ret, err);
}

static void test_given_inputs(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct world w;
    struct comparison c;
    static const float values[12] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    struct array a = { .dtype = DTYPE_F32, .ndim = 2, .size = { 4, 3 }, .p = values, .bytes = 48 };
    struct array b = { .dtype = DTYPE_F32, .ndim = 2, .size = { 3, 2 }, .p = values, .bytes = 24 };
    struct array wrong = {
        .dtype = DTYPE_I32, .ndim = 2, .size = { 3, 2 }, .p = values, .bytes = 24
    };
    const struct str names[] = { STR("x0"), STR("x1"), STR("x2") };
    const struct array good[] = { a, b, b }, bad[] = { a, wrong };
    struct buf text = BUF_INIT;
    begin(&w, false);
    struct given_inputs given = { .graph = w.graph, .path = "values", .prefix = "x" };
    struct compared_run run = run_of(&w);
    run.options.input = give;
    run.options.user = &given;
    const struct {
        const struct array *arrays;
        size_t n;
        const char *check, *error; /* NULL: none */
    } cases[] = {
        { good, 2, NULL, NULL },
        { good, 1, NULL, "values: no x1, for input b" },
        { bad, 2, NULL, "values: x1 is i32, and input b is f32" },
        { good, 3, "values: x2: the graph takes 2 inputs", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        buf_clear(&text);
        assert_true(safetensors_print(names, cases[i].arrays, cases[i].n, &text, &err));
        struct safetensors *file = safetensors_parse(buf_str(&text), &err);
        given.file = file;
        if (given_inputs_check(&given, &err))
            assert_null(cases[i].check);
        else
            assert_err(&err, ERR_INPUT, cases[i].check);
        err = ERR_INIT;
        if (compare_runs(&run, &c, &err))
            assert_null(cases[i].error);
        else
            assert_err(&err, ERR_INPUT, cases[i].error);
        err = ERR_INIT;
        comparison_release(&c);
        safetensors_close(file);
    }
    assert_int_equal(given_inputs_missing(&given), 0);
    buf_release(&text);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_run),
        cmocka_unit_test(test_two_runs),
        cmocka_unit_test(test_a_file),
        cmocka_unit_test(test_violations),
        cmocka_unit_test(test_backends_that_cannot_be_compared),
        cmocka_unit_test(test_given_inputs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

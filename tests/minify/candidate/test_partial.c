/* Compiles that failed, recorded deep: the partial graph fails as the compile did. */
#include "minify/minify.h"
#include "minify/oracle/oracle_shape.h"

#include "tests/harness.h"

#define HEADER  "V1120 09:33:20.123000 77 torch/x.py:1] "
#define ATTEMPT ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"

struct run {
    struct trace *trace;
    struct candidate *whole;
    struct minify_result result;
    struct oracle *oracle;
};

static void put_record(struct buf *log, const char *metadata)
{
    buf_printf(log, HEADER "{%s" ATTEMPT "}\n", metadata);
}

/* A payload's lines are indented by a TAB. */
static void put_graph(struct buf *log, const char *text)
{
    buf_puts(log,
             HEADER "{\"symtape_partial_dynamo_graph\": {\"nodes\": 4, \"why\": \"raised\"}" ATTEMPT
                    ", \"has_payload\": \"x\"}\n\t");
    for (const char *p = text; *p; p++) {
        buf_putc(log, *p);
        if (*p == '\n')
            buf_putc(log, '\t');
    }
    buf_putc(log, '\n');
}

static void minify(struct run *run, const char *graph)
{
    struct err err = ERR_INIT;
    struct buf log = BUF_INIT;
    struct selector selector;
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    struct shape_options how = { .question = SHAPE_EXPECT, .what = STR(""), .inject = STR("") };
    const char *path = temp_path("failed.log");
    put_record(&log, "\"create_symbol\": {\"symbol\": \"s77\", \"val\": \"6\", \"vr\": \"[2, "
                     "int_oo]\", \"source\": \"L['x'].size()[0]\"}");
    put_record(&log, "\"create_symbol\": {\"symbol\": \"s27\", \"val\": \"4\", \"vr\": \"[2, "
                     "int_oo]\", \"source\": \"L['x'].size()[1]\"}");
    put_graph(&log, graph);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(log.p, 1, log.n, f), log.n);
    assert_int_equal(fclose(f), 0);
    buf_release(&log);
    run->trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    assert_true(selector_parse_part(&selector, STR("0/0:partial_dynamo"), &err));
    run->whole = candidate_load(run->trace, &selector, NULL, &err);
    assert_no_err(&err);
    options.oracle = run->oracle = oracle_shape(&how, run->whole, &err);
    assert_no_err(&err);
    assert_true(minify_run(run->whole, &options, &run->result, &err));
    assert_int_equal(run->result.end, MINIFY_DONE);
    assert_true(run->result.minimal);
}

static void end(struct run *run)
{
    run->oracle->free(run->oracle);
    minify_result_release(&run->result);
    candidate_free(run->whole);
    trace_close(run->trace);
}

/* The last call has no result: it raised. */
static void test_call(void **state)
{
    (void)state;
    struct run run;
    minify(&run, "class GraphModule(torch.nn.Module):\n"
                 "    def forward(self, s77: \"Sym(s77)\", s27: \"Sym(s27)\", "
                 "L_x_: \"f32[s77, s27][s27, 1]cpu\"):\n"
                 "        y: \"f32[s77, s27][s27, 1]cpu\" = torch.sin(L_x_)\n"
                 "        t: \"f32[s27, s77][1, s27]cpu\" = y.transpose(0, 1)\n"
                 "        view = t.view(-1)\n"
                 "        return ()");
    assert_str_is(run.result.first.node, "view");
    assert_str_is(run.result.first.signature.kind, "refused");
    assert_int_equal(run.result.after.part[SIZE_CALLS], 1);
    end(&run);
}

/* No call raised: the code branched on a size that depends on data. */
static void test_branch(void **state)
{
    (void)state;
    struct run run;
    minify(&run, "class GraphModule(torch.nn.Module):\n"
                 "    def forward(self, s77: \"Sym(s77)\", s27: \"Sym(s27)\", "
                 "L_x_: \"f32[s77, s27][s27, 1]cpu\", L_n_: \"i64[][]cpu\"):\n"
                 "        y: \"f32[s77, s27][s27, 1]cpu\" = torch.sin(L_x_)\n"
                 "        item: \"Sym(u0)\" = L_n_.item()\n"
                 "        gt: \"Sym(u0 > 8)\" = item > 8\n"
                 "        return ()");
    assert_true(str_find(run.result.first.text, STR("u0 > 8")) < run.result.first.text.n);
    assert_int_equal(run.result.best->n_guards, 1);
    assert_str_is(run.result.best->guards[0].expr, "u0 > 8");
    assert_int_equal(run.result.best->n_symbols, 1);
    assert_true(run.result.after.part[SIZE_CALLS] <= 1);
    end(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call),
        cmocka_unit_test(test_branch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

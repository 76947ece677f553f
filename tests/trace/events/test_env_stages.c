#include <string.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/events/env_stages.h"
#include "trace/events/guards.h"

/* Files that frames name by number. */
static const char *const files[] = {
    "/home/u/model.py",
    "/x/torch/fx/experimental/symbolic_shapes.py",
    "/x/torch/_dynamo/output_graph.py",
    "/x/torch/_functorch/_aot_autograd/graph_capture.py",
    "/x/torch/_functorch/_aot_autograd/collect_metadata_analysis.py",
    "/x/torch/_inductor/compile_fx.py",
    "/x/torch/_inductor/graph.py",
    "/x/torch/export/_trace.py",
    "/x/torch/_functorch/partitioners.py",
};
enum { FILES = sizeof files / sizeof *files, DEEPEST = 6 };

struct call {
    int file;
    const char *function;
};

static struct buf log_with_files(void)
{
    struct buf log = BUF_INIT;
    for (int i = 0; i < FILES; i++) {
        char json[200];
        snprintf(json, sizeof json, "\"str\": [\"%s\", %d]", files[i], i);
        log_line(&log, json);
    }
    return log;
}

/* A guard whose stack has these calls, the outermost first. */
static void put_guard(struct buf *log, const struct call *calls)
{
    struct buf json = BUF_INIT;
    buf_puts(&json, "\"guard_added_fast\": {\"expr\": \"Eq(s0, 2)\", \"stack\": [");
    for (int i = 0; i < DEEPEST && calls[i].function; i++)
        buf_printf(&json, "%s{\"line\": %d, \"name\": \"%s\", \"filename\": %d, \"loc\": \"x\"}",
                   i ? ", " : "", i + 1, calls[i].function, calls[i].file);
    buf_puts(&json, "]}, " COMPILE);
    buf_putc(&json, '\0');
    log_line(log, json.p);
    buf_release(&json);
}

#define USER      \
    {             \
        0, "main" \
    }
#define DYNAMO        \
    {                 \
        2, "run_node" \
    }
#define BACKEND                 \
    {                           \
        2, "call_user_compiler" \
    }

static const struct {
    struct call calls[DEEPEST];
    enum env_stage stage;
} rows[] = {
    { { USER }, ENV_STAGES },
    { { { 0, NULL } }, ENV_STAGES },
    { { USER, DYNAMO, { 1, "evaluate_expr" } }, ENV_STAGE_TRACE },
    { { USER, { 7, "_export" }, { 1, "evaluate_expr" } }, ENV_STAGE_EXPORT },
    { { USER, { 7, "_export" }, DYNAMO }, ENV_STAGE_TRACE },
    { { USER, DYNAMO, BACKEND, { 0, "mine" } }, ENV_STAGE_BACKEND },
    /* What a backend calls of Dynamo's stays its own. */
    { { USER, DYNAMO, BACKEND, DYNAMO }, ENV_STAGE_BACKEND },
    { { USER, DYNAMO, BACKEND, { 4, "inner" }, { 1, "evaluate_expr" } }, ENV_STAGE_METADATA },
    { { USER, BACKEND, { 3, "aot_dispatch_autograd_graph" }, { 3, "inner_f" } }, ENV_STAGE_JOINT },
    { { USER, BACKEND, { 3, "aot_dispatch_base_graph" }, { 8, "f" } }, ENV_STAGE_INFERENCE },
    { { USER, BACKEND, { 3, "aot_dispatch_base_graph" }, { 4, "inner" } }, ENV_STAGE_METADATA },
    { { USER, BACKEND, { 8, "f" } }, ENV_STAGE_BACKEND },
    { { USER, BACKEND, { 5, "partition_fn" }, { 8, "f" } }, ENV_STAGE_BACKEND },
    { { USER, BACKEND, { 5, "fw_compiler_base" }, { 6, "run" } }, ENV_STAGE_FORWARD },
    { { USER, BACKEND, { 5, "compile_fx_backward" }, { 6, "run" } }, ENV_STAGE_BACKWARD },
    /* A backward that is compiled when it first runs. */
    { { USER, { 8, "backward" }, { 5, "bw_compiler" } }, ENV_STAGE_BACKWARD },
    /* A function of that name, but in another file. */
    { { USER, DYNAMO, { 0, "bw_compiler" } }, ENV_STAGE_TRACE },
    /* Equal to an earlier stack but for its innermost frame. */
    { { USER, BACKEND, { 5, "fw_compiler_base" }, { 4, "inner" } }, ENV_STAGE_METADATA },
};
enum { ROWS_N = sizeof rows / sizeof *rows };

static struct trace *trace_of_rows(void)
{
    struct buf log = log_with_files();
    for (size_t i = 0; i < ROWS_N; i++)
        put_guard(&log, rows[i].calls);
    struct trace *trace = open_text(buf_str(&log));
    buf_release(&log);
    return trace;
}

static void test_stages(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct trace *trace = trace_of_rows();
    const struct guard_list *list = trace_guards(trace, &err);
    struct env_stages *stages = env_stages_new(trace, &err);
    assert_non_null(stages);
    assert_int_equal(list->n, ROWS_N);
    /* Also when they are known, and in the other order. */
    for (uint32_t i = 0; i < 3 * ROWS_N; i++) {
        uint32_t at = i < 2 * ROWS_N ? i % ROWS_N : 3 * ROWS_N - 1 - i;
        enum env_stage stage = env_stage_of(stages, 0, list->guards[at].stack);
        if (stage != rows[at].stage)
            fail_msg("row %u: %s", (unsigned)at, env_stage_name(stage));
    }
    assert_int_equal(env_stage_of(stages, 0, UINT32_MAX), ENV_STAGES);
    assert_int_equal(env_stage_of(stages, 7, list->guards[2].stack), ENV_STAGES);
    assert_int_equal(env_stage_of(stages, 0, list->guards[2].stack), ENV_STAGE_TRACE);
    env_stages_free(stages);
    env_stages_free(NULL);
    trace_close(trace);
}

static void test_levels(void **state)
{
    (void)state;
    assert_int_equal(env_stage_level(ENV_STAGE_TRACE), 1);
    assert_int_equal(env_stage_level(ENV_STAGE_BACKWARD), 4);
    assert_int_equal(env_stage_level(ENV_STAGES), 0);
    assert_string_equal(env_stage_name(ENV_STAGES), "");
    for (int i = 1; i < ENV_STAGES; i++)
        assert_true(env_stage_level((enum env_stage)(i - 1)) <= env_stage_level((enum env_stage)i));
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct env_stages *stages = env_stages_new(arg, &err);
    bool ok = stages != NULL;
    env_stages_free(stages);
    return ok;
}

static void test_failures(void **state)
{
    (void)state;
    struct trace *trace = trace_of_rows();
    check_alloc_failures(attempt, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stages),
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include <string.h>

#include "tests/harness.h"
#include "tests/trace/tape/log_make.h"
#include "trace/events/guards.h"

/* Files that frames name by number. */
static const char *const files[] = {
    "/home/u/model.py",
    "/x/torch/fx/experimental/symbolic_shapes.py",
    "/x/torch/fx/experimental/sym_node.py",
    "/x/torch/_subclasses/fake_impls.py",
    "/x/torch/_meta_registrations.py",
    "/x/torch/nn/functional.py",
    "/x/torch/_dynamo/variables/tensor.py",
    "/x/torch/_functorch/aot_autograd.py",
    "/x/torch/_inductor/lowering.py",
    "/x/torch/fx/interpreter.py",
    "/x/torch/_refs/__init__.py",
    "/x/torch/_prims_common/__init__.py",
    "/x/torch/_decomp/decompositions.py",
    "/x/torch/_logging/_internal.py",
    "/x/torch/__init__.py",
    "/x/mytorch/model.py",
    "/x/torch/fx/experimental/recording.py",
    "/x/torch/_prims/__init__.py",
    "torch/_subclasses/fake_tensor.py",
};
enum { FILES = sizeof files / sizeof *files };

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

/* A guard whose stack is a user line, `file`, and the machinery with the call of _log_guard. */
static void put_guard(struct buf *log, const char *expr, int file, const char *function,
                      const char *call)
{
    char json[2000];
    snprintf(
        json, sizeof json,
        "\"guard_added_fast\": {\"expr\": \"%s\", \"user_stack\": [{\"line\": 3, \"name\": \"f\", "
        "\"filename\": 0, \"loc\": \"x\"}], \"stack\": [{\"line\": 3, \"name\": \"f\", "
        "\"filename\": 0, \"loc\": \"x\"}, {\"line\": 4, \"name\": \"asks\", \"filename\": %d, "
        "\"loc\": \"if a == b:\"}, {\"line\": 5, \"name\": \"evaluate\", \"filename\": 2}, "
        "{\"line\": 6, \"name\": \"%s\", \"filename\": 1, \"loc\": \"%s\"}, {\"line\": 7, "
        "\"name\": \"_log_guard\", \"filename\": 1, \"loc\": \"trace_structured(\"}]}, " COMPILE,
        expr, file, function, call);
    log_line(log, json);
}

static const struct guard_list *guards_of(struct trace *trace)
{
    struct err err = ERR_INIT;
    const struct guard_list *list = trace_guards(trace, &err);
    assert_non_null(list);
    assert_ptr_equal(trace_guards(trace, &err), list);
    return list;
}

#define EVAL "self._log_guard(\\\"eval\\\", g, forcing_spec=forcing_spec)"

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        int file;
        enum guard_class asked_by;
    } rows[] = {
        { 0, GUARD_BY_USER },    { 3, GUARD_BY_KERNEL },  { 4, GUARD_BY_KERNEL },
        { 10, GUARD_BY_KERNEL }, { 11, GUARD_BY_KERNEL }, { 12, GUARD_BY_KERNEL },
        { 17, GUARD_BY_KERNEL }, { 18, GUARD_BY_KERNEL }, { 5, GUARD_BY_TORCH_FUNCTION },
        { 6, GUARD_BY_DYNAMO },  { 7, GUARD_BY_BACKEND }, { 8, GUARD_BY_BACKEND },
        { 9, GUARD_BY_BACKEND }, { 15, GUARD_BY_USER },   { 99, GUARD_BY_USER },
        { 13, GUARD_BY_USER },   { 14, GUARD_BY_USER },   { 16, GUARD_BY_USER },
    };
    enum { N = sizeof rows / sizeof *rows };
    struct buf log = log_with_files();
    for (size_t i = 0; i < N; i++)
        put_guard(&log, "Eq(s0, 2)", rows[i].file, "evaluate_expr", EVAL);
    struct trace *trace = open_text(buf_str(&log));
    const struct guard_list *list = guards_of(trace);
    assert_int_equal(list->n, N);
    assert_int_equal(list->by_kind[GUARD_EVAL], N);
    for (uint32_t i = 0; i < N; i++) {
        const struct guard *g = &list->guards[i];
        if (g->asked_by != rows[i].asked_by)
            fail_msg("file %d: asked by %s", rows[i].file, guard_class_name(g->asked_by));
        /* machinery is passed over down to the user's line */
        bool skipped = rows[i].file == 13 || rows[i].file == 14 || rows[i].file == 16;
        assert_int_equal(stack_frame(trace, 0, g->asker).line, skipped ? 3 : 4);
        assert_int_equal(stack_depth(trace, g->stack), 5);
        assert_int_equal(stack_depth(trace, g->user_stack), 1);
        assert_int_equal(g->attempt, 0);
        assert_int_equal(g->record, FILES + i);
        assert_str_is(g->expr, "Eq(s0, 2)");
    }
    trace_close(trace);
    buf_release(&log);
}

static void test_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *function, *call;
        enum guard_kind kind;
    } rows[] = {
        { "evaluate_expr", EVAL, GUARD_EVAL },
        { "evaluate_expr", "self._log_guard(\\\"eval [guard suppressed]\\\", g)",
          GUARD_SUPPRESSED },
        { "guard_or_defer", "self._log_guard(\\\"runtime_assert\\\", g)", GUARD_RUNTIME_ASSERT },
        { "evaluate_expr", "self._log_guard(", GUARD_EVAL }, /* over several lines */
        { "defer_runtime_assert", "self._log_guard(", GUARD_RUNTIME_ASSERT },
        { "guard_or_defer_runtime_assert", "self._log_guard(", GUARD_RUNTIME_ASSERT },
        { "runtime_assert", "other(\\\"suppressed\\\"); return", GUARD_EVAL },
        { "f", "suppressed(); self._log_guard(\\\"eval\\\", g)", GUARD_EVAL },
    };
    enum { N = sizeof rows / sizeof *rows };
    struct buf log = log_with_files();
    for (size_t i = 0; i < N; i++)
        put_guard(&log, "s0 < 5", 3, rows[i].function, rows[i].call);
    log_line(&log, "\"guard_added\": {\"expr\": \"s0 < 5\", \"prefix\": \"eval\"}, " COMPILE);
    struct trace *trace = open_text(buf_str(&log));
    const struct guard_list *list = guards_of(trace);
    assert_int_equal(list->n, N); /* guard_added repeats one */
    for (uint32_t i = 0; i < N; i++)
        if (list->guards[i].kind != rows[i].kind)
            fail_msg("%s in %s: %s", rows[i].call, rows[i].function,
                     guard_kind_name(list->guards[i].kind));
    assert_int_equal(list->by_kind[GUARD_EVAL], 4);
    assert_int_equal(list->by_kind[GUARD_SUPPRESSED], 1);
    assert_int_equal(list->by_kind[GUARD_RUNTIME_ASSERT], 3);
    trace_close(trace);
    buf_release(&log);
}

static void test_odd(void **state)
{
    (void)state;
    struct buf log = log_with_files();
    log_line(&log, "\"guard_added_fast\": {\"expr\": \"Eq(s0, \\u0032)\"}");
    log_line(&log, "\"guard_added_fast\": {\"expr\": 5, \"stack\": []}");
    log_line(&log, "\"guard_added_fast\": []");
    struct trace *trace = open_text(buf_str(&log));
    const struct guard_list *list = guards_of(trace);
    assert_int_equal(list->n, 3);
    assert_str_is(list->guards[0].expr, "Eq(s0, 2)");
    assert_str_is(list->guards[1].expr, "");
    for (uint32_t i = 0; i < 3; i++) {
        assert_int_equal(list->guards[i].asked_by, GUARD_BY_USER);
        assert_int_equal(list->guards[i].asker, 0);
        assert_int_equal(list->guards[i].attempt, TRACE_NONE);
    }
    trace_close(trace);
    trace = open_text(STR(PREFIX "{\"a\": 1}\n"));
    assert_int_equal(guards_of(trace)->n, 0);
    trace_close(trace);
    buf_release(&log);
}

/* Processes and recordings number their files apart: the same frame is another file's. */
static void test_two_processes(void **state)
{
    (void)state;
    static const char other[] = "V1120 07:34:58.618000 999 a.py:1] ";
    struct buf log = BUF_INIT, lines = BUF_INIT;
    log_line(&log, "\"str\": [\"/x/torch/_dynamo/a.py\", 3]");
    log_line(&log, "\"str\": [\"/x/torch/fx/experimental/symbolic_shapes.py\", 1]");
    log_line(&log, "\"str\": [\"/x/torch/fx/experimental/sym_node.py\", 2]");
    buf_puts(&log, other);
    buf_puts(&log, "{\"str\": [\"/x/torch/_inductor/b.py\", 3]}\n");
    put_guard(&lines, "s0 < 5", 3, "evaluate_expr", EVAL);
    buf_put(&log, buf_str(&lines));
    buf_puts(&log, other);
    buf_put(&log, str_from(buf_str(&lines), strlen(PREFIX)));
    struct trace *trace = open_text(buf_str(&log));
    const struct guard_list *list = guards_of(trace);
    assert_int_equal(list->n, 2);
    assert_int_equal(list->guards[0].asked_by, GUARD_BY_DYNAMO);
    assert_int_equal(list->guards[1].asked_by, GUARD_BY_BACKEND);
    trace_close(trace);
    buf_release(&lines);
    buf_release(&log);
}

static void put_symbol(void *user, struct str symbol)
{
    buf_put(user, symbol);
    buf_putc(user, ' ');
}

static void check_symbols(const char *expr, const char *expected)
{
    struct buf out = BUF_INIT;
    guard_symbols(str_of(expr), put_symbol, &out);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_symbols(void **state)
{
    (void)state;
    check_symbols("", "");
    check_symbols("Eq(s97, 2)", "s97 ");
    check_symbols("Eq(Mod(s0*s1, 8*s0), u3) & (zf12 < zuf0)", "s0 s1 u3 zf12 zuf0 ");
    check_symbols("s0 + s0 - i5 + 2*s00", "s0 i5 s00 ");
    check_symbols("Max(1, sx, s, su0, _s1, s1_, xs2, s3x, 5s4)", "");
    check_symbols("\xFFs1\xFF", "s1 ");
}

static void count_symbol(void *user, struct str symbol)
{
    (void)symbol;
    ++*(unsigned *)user;
}

static void test_many_symbols(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct buf expr = BUF_INIT;
    unsigned n = 0;
    for (unsigned i = 0; i < 2 * N; i++)
        buf_printf(&expr, "s%u + ", i % N);
    guard_symbols(buf_str(&expr), count_symbol, &n);
    assert_int_equal(n, N);
    buf_release(&expr);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(guard_kind_name(GUARD_SUPPRESSED), "suppressed");
    assert_string_equal(guard_kind_name(GUARD_KINDS), "");
    assert_string_equal(guard_class_name(GUARD_BY_TORCH_FUNCTION), "torch function");
    assert_string_equal(guard_class_name(GUARD_CLASSES), "");
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(arg, NULL, &err);
    const struct guard_list *list = trace ? trace_guards(trace, &err) : NULL;
    bool ok = list != NULL;
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && list->n == 1;
    trace_close(trace);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct buf log = BUF_INIT;
    char path[4096];
    snprintf(path, sizeof path, "%s", temp_path("guards.log"));
    put_guard(&log, "s0 < \\u0035", 3, "evaluate_expr", EVAL);
    put_file(path, buf_str(&log));
    check_alloc_failures(attempt, path);
    buf_release(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes), cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_odd),     cmocka_unit_test(test_two_processes),
        cmocka_unit_test(test_symbols), cmocka_unit_test(test_many_symbols),
        cmocka_unit_test(test_names),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "tests/log_make.h"
#include "trace/events/settings.h"

/* Adds the metrics of a compile with these members, as JSON in JSON. */
static void put_metrics(struct log_make *log, const char *members)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"compilation_metrics\": {\"co_name\": \"f\"%s}", members);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void assert_setting(const struct setting *s, const char *module, const char *name,
                           const char *value)
{
    assert_str_is(s->module, module);
    assert_str_is(s->name, name);
    assert_str_is(s->value, value);
}

static struct log_make settings_log(void)
{
    struct log_make log = log_start();
    put_metrics(&log, ", \"dynamo_config\": \"{\\\"recompile_limit\\\": 8, \\\"off\\\": false, "
                      "\\\"none\\\": null, \\\"text\\\": \\\"a\\\\u0062\\\", \\\"list\\\": [1]}\"");
    put_metrics(&log, ", \"dynamo_config\": \"{\\\"recompile_limit\\\": 8}\", "
                      "\"inductor_config\": \"{\\\"triton.cudagraphs\\\": true}\"");
    put_metrics(&log, ", \"dynamo_config\": \"{\\\"recompile_limit\\\": 2}\"");
    put_metrics(&log, ", \"dynamo_config\": \"{broken\", \"inductor_config\": 3, "
                      "\"compiler_config\": \"[]\"");
    log_artifact(&log, "fx_graph_runnable",
                 "import torch._inductor.config\n"
                 "torch._inductor.config.triton.cudagraphs = True\n"
                 "torch.fx.experimental._config.translation_validation = True\n"
                 "torch._inductor.configuration = 1\n"
                 "torch._dynamo.config = 1\n"
                 "torch._dynamo.config.x == 1\n"
                 "class Repro(torch.nn.Module):\n"
                 "torch._dynamo.config.recompile_limit = 9\n");
    return log;
}

static void test_both_places(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = settings_log();
    struct trace *trace = log_open(&log);
    struct setting_list *list = settings_read(trace, &err);
    assert_non_null(list);
    assert_int_equal(list->n, 8);
    const struct setting *s = list->settings;
    assert_setting(&s[0], "torch._dynamo.config", "recompile_limit", "8");
    assert_setting(&s[1], "torch._dynamo.config", "off", "False");
    assert_setting(&s[2], "torch._dynamo.config", "none", "None");
    assert_setting(&s[3], "torch._dynamo.config", "text", "'ab'");
    assert_setting(&s[4], "torch._dynamo.config", "list", "[1]");
    assert_setting(&s[5], "torch._inductor.config", "triton.cudagraphs", "True");
    assert_setting(&s[6], "torch._dynamo.config", "recompile_limit", "2");
    assert_setting(&s[7], "torch.fx.experimental._config", "translation_validation", "True");
    assert_true(s[6].record > s[5].record);
    settings_free(list);
    trace_close(trace);
}

static void test_bounded(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    for (int i = 0; i < 100; i++) {
        char members[80];
        snprintf(members, sizeof members, ", \"dynamo_config\": \"{\\\"n\\\": %d}\"", i);
        put_metrics(&log, members);
    }
    struct trace *trace = log_open(&log);
    struct setting_list *list = settings_read(trace, &err);
    assert_non_null(list);
    assert_int_equal(list->n, 64);
    settings_free(list);
    trace_close(trace);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct setting_list *list = settings_read(arg, &err);
    bool ok = list != NULL;
    assert_int_equal(err.kind, ok ? ERR_NONE : ERR_ENV);
    settings_free(list);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = settings_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(read_once, trace);
    settings_free(NULL);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_places),
        cmocka_unit_test(test_bounded),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

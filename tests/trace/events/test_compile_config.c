#include "tests/log_make.h"
#include "trace/events/compile_config.h"

#define DYNAMO                                                        \
    "\"dynamo_config\": \"{\\\"assume_static_by_default\\\": false, " \
    "\\\"automatic_dynamic_shapes\\\": true, \\\"specialize_int\\\": \\\"odd\\\"}\""
#define COMPILER "\"compiler_config\": \"{\\\"dynamic_sources\\\": \\\"L['x']\\\"}\""

static struct trace *open_made(const char *members)
{
    struct log_make log = log_start();
    struct buf meta = BUF_INIT;
    log_put(&log, "\"dynamo_start\": {}", NULL);
    log.context = LOG_COMPILE(0, 0, 1);
    buf_printf(&meta, "\"compilation_metrics\": {%s}", members);
    buf_putc(&meta, '\0');
    log_put(&log, meta.p, NULL);
    buf_release(&meta);
    return log_open(&log);
}

/* The metrics of a compile belong to its last attempt and hold for all. */
static void test_fields(void **state)
{
    (void)state;
    struct trace *trace = open_made(DYNAMO ", " COMPILER);
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct compile_config config;
    for (uint32_t attempt = 0; attempt < 2; attempt++) {
        assert_true(compile_config_read(trace, attempt, &arena, &config, &err));
        assert_int_equal(config.assume_static_by_default, CONFIG_OFF);
        assert_int_equal(config.automatic_dynamic_shapes, CONFIG_ON);
        assert_int_equal(config.specialize_int, CONFIG_UNKNOWN);
        assert_int_equal(config.specialize_float, CONFIG_UNKNOWN);
        assert_str_is(config.dynamic_sources, "L['x']");
        assert_str_is(config.unbacked_sources, "");
    }
    trace_close(trace);
    arena_release(&arena);
}

static void test_absent(void **state)
{
    (void)state;
    static const char *const MEMBERS[] = { "\"co_name\": \"f\"", "\"dynamo_config\": null",
                                           "\"dynamo_config\": \"no JSON\"",
                                           "\"dynamo_config\": \"[1]\"" };
    for (size_t i = 0; i < sizeof MEMBERS / sizeof *MEMBERS; i++) {
        struct trace *trace = open_made(MEMBERS[i]);
        struct arena arena = ARENA_INIT;
        struct err err = ERR_INIT;
        struct compile_config config;
        assert_true(compile_config_read(trace, 0, &arena, &config, &err));
        assert_int_equal(config.assume_static_by_default, CONFIG_UNKNOWN);
        assert_str_is(config.dynamic_sources, "");
        trace_close(trace);
        arena_release(&arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields),
        cmocka_unit_test(test_absent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

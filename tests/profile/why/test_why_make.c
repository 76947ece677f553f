/* Made logs, one fact each: what a size is, and why. */
#include "profile/why/why_make.h"
#include "tests/log_make.h"

#define USER  "{\"line\": 12, \"name\": \"f\", \"filename\": 1, \"loc\": \"y = x.view(-1)\"}"
#define TORCH "{\"line\": 7, \"name\": \"g\", \"filename\": 2, \"loc\": \"guard(x)\"}"

static void put_strings(struct log_make *log)
{
    log_put(log, "\"str\": [\"/u/model.py\", 1]", NULL);
    log_put(log, "\"str\": [\"/env/torch/_subclasses/fake_impls.py\", 2]", NULL);
    log_put(log, "\"dynamo_start\": {\"stack\": [" USER "]}", NULL);
}

static void put_tensor(struct log_make *log, int id, const char *source, const char *size,
                       const char *more)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"describe_tensor\": {\"id\": %d, \"describer_id\": 0, \"ndim\": 2, \"dtype\": "
               "\"torch.float32\", \"device\": \"device(type='cpu')\", \"size\": %s, \"stride\": "
               "[9, 1]%s}",
               id, size, more);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_clear(&meta);
    buf_printf(&meta, "\"describe_source\": {\"id\": %d, \"describer_id\": 0, \"source\": \"%s\"}",
               id, source);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_symbol(struct log_make *log, const char *name, const char *value,
                       const char *source)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"%s\", \"vr\": \"[2, int_oo]\", "
               "\"source\": \"%s\", \"user_stack\": [" USER "], \"stack\": [" USER ", " TORCH "]}",
               name, value, source);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_guard(struct log_make *log, const char *expr)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"guard_added_fast\": {\"expr\": \"%s\", \"user_stack\": [" USER
               "], \"stack\": [" USER ", " TORCH "]}",
               expr);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_config(struct log_make *log, bool dynamic)
{
    log_put(log,
            dynamic ? "\"compilation_metrics\": {\"dynamo_config\": "
                      "\"{\\\"assume_static_by_default\\\": false}\"}"
                    : "\"compilation_metrics\": {\"dynamo_config\": "
                      "\"{\\\"assume_static_by_default\\\": true, "
                      "\\\"automatic_dynamic_shapes\\\": true}\"}",
            NULL);
}

/* x is [5, 7], y is [7, 5] and shares its symbols, w is a parameter, z is [1, 5]. */
static struct log_make duck_log(void)
{
    struct log_make log = log_start();
    put_strings(&log);
    put_tensor(&log, 0, "L['x']", "[5, 7]", "");
    put_symbol(&log, "s77", "5", "L['x'].size()[0]");
    put_symbol(&log, "s27", "7", "L['x'].size()[1]");
    put_tensor(&log, 1, "L['y']", "[7, 5]", "");
    put_tensor(&log, 2, "L['self']._parameters['w']", "[7, 5]", ", \"is_parameter\": true");
    put_tensor(&log, 3, "L['z']", "[1, 5]", "");
    put_guard(&log, "Eq(Mod(s27, 7), 0)");
    put_guard(&log, "s77 <= 100");
    return log;
}

static const char DUCK_TREE[] =
    "+- LAMBDA_GUARD: L['y'].size()[0] == L['x'].size()[1]  # duck sizing added this equality\n"
    "+- LAMBDA_GUARD: 2 <= L['x'].size()[1]  # y = x.view(-1)  # model.py:12 in f (due to 0/1 "
    "specialization)\n";

static struct why_answer *ask(struct trace *trace, const char *target)
{
    struct err err = ERR_INIT;
    struct why_options how = { .selector = SELECTOR_ALL, .target = str_of(target) };
    struct why_answer *why = why_make(trace, &how, &err);
    assert_no_err(&err);
    assert_non_null(why);
    return why;
}

static void check_size(struct trace *trace, const char *target, enum why_state state,
                       enum why_reason reason, const char *now)
{
    struct why_answer *why = ask(trace, target);
    assert_true(why->n_sizes > 0);
    assert_int_equal(why->sizes[0].state, state);
    assert_string_equal(why_reason_name(why->sizes[0].reason), why_reason_name(reason));
    assert_str_is(why->sizes[0].now, now);
    why_free(why);
}

static void test_duck(void **state)
{
    (void)state;
    struct log_make log = duck_log();
    log_put(&log, "\"dynamo_cpp_guards_str\": {}", DUCK_TREE);
    put_config(&log, true);
    struct trace *trace = log_open(&log);
    check_size(trace, "L['x'].size()[0]", WHY_IS_SYMBOL, WHY_DYNAMIC_TRUE, "s77");
    check_size(trace, "y.size(0)", WHY_IS_SHARED, WHY_DUCK, "s27");
    check_size(trace, "self.w.shape[0]", WHY_IS_CONSTANT, WHY_PARAMETER, "7");
    check_size(trace, "z.size(0)", WHY_IS_CONSTANT, WHY_ZERO_ONE, "1");
    struct why_answer *why = ask(trace, "s27");
    assert_int_equal(why->kind, WHY_SYMBOL);
    assert_int_equal(why->sizes[0].n_shared, 1);
    assert_str_is(why->sizes[0].shared[0], "L['y'].size()[0]");
    assert_false(why->sizes[0].inferred);
    why_free(why);
    trace_close(trace);
}

/* Without a tree of guards equal values decide. */
static void test_inferred(void **state)
{
    (void)state;
    struct log_make log = duck_log();
    put_config(&log, true);
    struct trace *trace = log_open(&log);
    struct why_answer *why = ask(trace, "y.size(1)");
    assert_int_equal(why->sizes[0].state, WHY_IS_SHARED);
    assert_str_is(why->sizes[0].symbol, "s77");
    assert_true(why->sizes[0].inferred);
    why_free(why);
    trace_close(trace);
}

/* The range of a symbol follows from the guards on it. */
static void test_history(void **state)
{
    (void)state;
    static const enum why_event_kind KINDS[] = { WHY_CREATED, WHY_GUARD_ADDED, WHY_RANGE };
    struct log_make log = duck_log();
    put_config(&log, true);
    struct trace *trace = log_open(&log);
    struct why_answer *why = ask(trace, "x.size(0)");
    assert_int_equal(why->n_events, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(why->events[i].kind, KINDS[i]);
    assert_str_is(why->events[1].text, "s77 <= 100");
    assert_int_equal(why->events[1].asked_by, GUARD_BY_KERNEL);
    assert_str_is(why->events[1].line.file, "/u/model.py");
    assert_str_is(why->events[1].line.code, "y = x.view(-1)");
    assert_str_is(why->sizes[0].now_range, "[2, 100]");
    assert_int_equal(why->sizes[0].n_guards, 1);
    why_free(why);
    trace_close(trace);
}

static struct log_make equal_log(void)
{
    struct log_make log = log_start();
    put_strings(&log);
    put_tensor(&log, 0, "L['x']", "[5, 7]", ", \"dynamo_dynamic_indices\": [0, 1]");
    put_symbol(&log, "s77", "5", "L['x'].size()[0]");
    put_symbol(&log, "s27", "7", "L['x'].size()[1]");
    put_tensor(&log, 1, "L['y']", "[10, 7]", ", \"dynamo_dynamic_indices\": [0]");
    put_symbol(&log, "s17", "10", "L['y'].size()[0]");
    put_guard(&log, "Eq(2*s77, s17)");
    put_guard(&log, "Eq(s27, 7)");
    put_config(&log, false);
    return log;
}

static void test_equalities(void **state)
{
    (void)state;
    struct log_make log = equal_log();
    struct trace *trace = log_open(&log);
    check_size(trace, "y.size(0)", WHY_WAS_REPLACED, WHY_MARK_DYNAMIC, "2*s77");
    check_size(trace, "x.size(1)", WHY_BECAME_CONSTANT, WHY_MARK_DYNAMIC, "7");
    check_size(trace, "y.size(1)", WHY_IS_CONSTANT, WHY_STATIC_BY_DEFAULT, "7");
    struct why_answer *why = ask(trace, "x.size()[1] == 7");
    assert_int_equal(why->kind, WHY_GUARD);
    assert_int_equal(why->events[0].kind, WHY_GUARD_ADDED);
    assert_str_is(why->events[0].text, "Eq(s27, 7)");
    why_free(why);
    trace_close(trace);
}

/* The size was 5 in the first compile and 6 in the second. */
static void test_automatic(void **state)
{
    (void)state;
    struct log_make log = log_start();
    put_strings(&log);
    put_tensor(&log, 0, "L['x']", "[5, 7]", "");
    put_config(&log, false);
    log.context = LOG_COMPILE(0, 1, 0);
    log_put(&log, "\"dynamo_start\": {\"stack\": [" USER "]}", NULL);
    put_tensor(&log, 0, "L['x']", "[6, 7]", "");
    put_symbol(&log, "s77", "6", "L['x'].size()[0]");
    put_config(&log, false);
    struct trace *trace = log_open(&log);
    struct why_answer *why = ask(trace, "x.size(0)");
    assert_int_equal(why->n_sizes, 2);
    assert_int_equal(why->sizes[0].attempt, 1);
    assert_int_equal(why->sizes[0].reason, WHY_AUTOMATIC);
    assert_str_is(why->sizes[0].evidence, "it was 5 in 0/0 and 6 in 0/1");
    assert_int_equal(why->sizes[1].reason, WHY_STATIC_BY_DEFAULT);
    why_free(why);
    trace_close(trace);
}

static void test_between(void **state)
{
    (void)state;
    struct log_make log = duck_log();
    put_config(&log, true);
    struct trace *trace = log_open(&log);
    struct err err = ERR_INIT;
    struct why_options how = { .selector = SELECTOR_ALL,
                               .target = STR("s27"),
                               .between = { STR("14"), STR("15") } };
    struct why_answer *why = why_make(trace, &how, &err);
    assert_no_err(&err);
    assert_int_equal(why->n_differences, 1);
    assert_str_is(why->differences[0].expr, "Eq(Mod(s27, 7), 0)");
    assert_true(why->differences[0].holds[0]);
    assert_false(why->differences[0].holds[1]);
    why_free(why);
    how.between[1] = STR("1");
    why = why_make(trace, &how, &err);
    assert_no_err(&err);
    assert_int_equal(why->differences[0].kind, WHY_RANGE);
    assert_int_equal(why->n_notes, 1); /* a compile with 1 would make it a constant */
    why_free(why);
    how.target = STR("y");
    assert_null(why_make(trace, &how, &err));
    check_err(&err, ERR_USAGE, "--between needs one size", __FILE__, __LINE__);
    trace_close(trace);
}

static void test_unknown(void **state)
{
    (void)state;
    struct log_make log = duck_log();
    struct trace *trace = log_open(&log);
    struct why_answer *why = ask(trace, "s99");
    assert_int_equal(why->kind, WHY_NOTHING);
    assert_int_equal(why->n_known, 8);
    why_free(why);
    trace_close(trace);
}

static bool make_all(void *arg)
{
    static const char *const TARGETS[] = { "x.size(0)", "y", "Eq(s27, 7)", "s17", "nothing" };
    struct buf text = BUF_INIT;
    bool ok = true;
    for (size_t i = 0; i < sizeof TARGETS / sizeof *TARGETS && ok; i++) {
        struct err err = ERR_INIT;
        struct why_options how = { .selector = SELECTOR_ALL, .target = str_of(TARGETS[i]) };
        struct why_answer *why = why_make(arg, &how, &err);
        if (why) {
            why_text(why, &(struct report_options){ .limit = 3 }, &text);
            why_json(why, &text);
        }
        ok = why && !text.failed;
        why_free(why);
    }
    buf_release(&text);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct log_make log = equal_log();
    struct trace *trace = log_open(&log);
    check_alloc_failures(make_all, trace);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_duck),      cmocka_unit_test(test_inferred),
        cmocka_unit_test(test_history),   cmocka_unit_test(test_equalities),
        cmocka_unit_test(test_automatic), cmocka_unit_test(test_between),
        cmocka_unit_test(test_unknown),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

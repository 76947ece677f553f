/* Lifting a graph that a log has outside compiles: its symbols, and the guards that may be its. */
#include "replay/attempt/lift.h"

#include "replay/attempt/guard_log.h"
#include "tests/log_make.h"

static const char graph_text[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, arg0_1: \"f32[s77, 4][4, 1]cpu\"):\n"
    "        sin: \"f32[s77, 4][4, 1]cpu\" = torch.ops.aten.sin.default(arg0_1);  arg0_1 = None\n"
    "        return (sin,)\n";

static void put_symbol(struct log_make *log, const char *name, int hint)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"create_symbol\": {\"symbol\": \"%s\", \"val\": \"%d\", \"vr\": \"[2, int_oo]\", "
               "\"source\": \"L['x'].size()[0]\", \"user_stack\": [], \"stack\": []}",
               name, hint);
    buf_putc(&meta, '\0');
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

/* Two captures, each in a compile and followed by a graph outside, which has the symbol of its own
 * capture and not the one that it does not print. */
static struct trace *open_exports(void)
{
    struct log_make log = log_start();
    for (int i = 0; i < 2; i++) {
        log.context = i ? LOG_COMPILE(1, 0, 0) : LOG_COMPILE(0, 0, 0);
        put_symbol(&log, "s77", 6 + i);
        put_symbol(&log, "s27", 9);
        log.context = "\"rank\": 0";
        log_put(&log, "\"aot_inference_graph\": {}", graph_text);
    }
    return log_open(&log);
}

static void test_earlier_symbols(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct trace *trace = open_exports();
    const struct graph_list *list = trace_graphs(trace, &err);
    assert_non_null(list);
    assert_int_equal(list->n, 2);
    for (uint32_t i = 0; i < 2; i++) {
        struct lifted lifted;
        assert_int_equal(list->refs[i].attempt, TRACE_NONE);
        assert_true(lift_graph(trace, i, &lifted, &err));
        assert_int_equal(lifted.n_symbols, 1);
        assert_true(str_is(lifted.symbols[0].name, "s77"));
        assert_true(lifted.symbols[0].has_hint);
        assert_int_equal(lifted.symbols[0].hint, 6 + i);
        assert_int_equal(lifted.symbols[0].min, 2);
        lifted_release(&lifted);
    }
    assert_int_equal(guard_log_first_outside(trace, list, 0), 0);
    assert_int_equal(guard_log_first_outside(trace, list, 1), list->refs[0].record);
    trace_close(trace);
}

/* Lifts a graph whose record lists inputs that require gradients. ret: by node. */
static void listed(const char *list, const char *graph, uint32_t n, bool *ret)
{
    struct err err = ERR_INIT;
    struct buf meta = BUF_INIT;
    struct log_make log = log_start();
    struct lifted lifted;
    buf_printf(&meta, "\"aot_inference_graph\": {%s%s}", *list ? "\"requires_grad\": " : "", list);
    buf_putc(&meta, '\0');
    log.context = "\"rank\": 0";
    log_put(&log, meta.p, graph);
    struct trace *trace = log_open(&log);
    assert_true(lift_graph(trace, 0, &lifted, &err));
    assert_true(n <= lifted.graph->n_nodes);
    memcpy(ret, lifted.gradients, n * sizeof *ret);
    lifted_release(&lifted);
    trace_close(trace);
    buf_release(&meta);
}

/* Only strings that are an input's name count, in a list. */
static void test_listed_gradients(void **state)
{
    static const char graph[] =
        "class <lambda>(torch.nn.Module):\n"
        "    def forward(self, x: \"f32[4][1]cpu\", y: \"f32[4][1]cpu\"):\n"
        "        sin: \"f32[4][1]cpu\" = torch.ops.aten.sin.default(y);  y = None\n"
        "        return (sin,)\n";
    static const struct {
        const char *list;
        bool x, y;
    } rows[] = {
        { "", false, false },
        { "[]", false, false },
        { "[\"y\", \"y\"]", false, true },
        { "[\"sin\", \"none\", 7, null, [\"x\"], {\"x\": \"x\"}, \"\\u0079\"]", false, true },
        { "[\"x\", \"y\"]", true, true },
        { "{\"x\": \"x\"}", false, false },
        { "\"x\"", false, false },
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool got[3];
        listed(rows[i].list, graph, 3, got);
        assert_int_equal(got[0], rows[i].x);
        assert_int_equal(got[1], rows[i].y);
        assert_false(got[2]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_earlier_symbols),
                                        cmocka_unit_test(test_listed_gradients) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

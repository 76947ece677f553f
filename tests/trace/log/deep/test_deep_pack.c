/* From side files to records: through the importer, as everybody gets them. */
#include <stdio.h>
#include <unistd.h>

#include "tests/log_make.h"
#include "tests/trace/log/side_make.h"
#include "trace/events/deep/deep.h"
#include "trace/graphs.h"
#include "trace/log/deep/deep_pack.h"
#include "trace/record/record_deep.h"

/* The trace of the packed text alone, as a log. */
static struct trace *open_packed(struct buf *side)
{
    struct deep_file file;
    struct err err = ERR_INIT;
    struct log_make log = { 0 };
    assert_true(deep_file_read(&file, buf_str(side), &err));
    assert_true(deep_pack(&file, &log.text, &err));
    assert_no_err(&err);
    deep_file_release(&file);
    buf_release(side);
    struct trace *trace = log_open(&log);
    assert_int_equal(trace->recordings[0].damaged, 0);
    return trace;
}

static struct deep *read_deep(struct trace *trace)
{
    struct err err = ERR_INIT;
    struct deep *deep = deep_read(trace, &err);
    assert_non_null(deep);
    assert_int_equal(deep->unreadable, 0);
    return deep;
}

static void test_dispatches(void **state)
{
    (void)state;
    struct buf side = side_compile(7);
    side_dispatch(&side, 2, 1, 100);
    side_dispatch(&side, 1, 2, 60); /* its stack is equal to the first */
    side_dispatch(&side, 3, 0, 40);
    side_event(&side, DEEP_DISPATCH, "8444444444488", N(0), N(0), N(0), N(1), N(2), N(0), N(0),
               N(0), N(0), N(0), N(3), N(9), N(9));
    struct trace *trace = open_packed(&side);
    struct deep *deep = read_deep(trace);
    assert_int_equal(deep->n_dispatches, 3);
    const struct deep_dispatch *d = deep->dispatches;
    assert_int_equal(d[0].attempt, TRACE_NONE); /* of no compile */
    assert_int_equal(d[0].mode, DEEP_PROXY_MODE);
    assert_str_is(d[0].raised, "f");
    assert_int_equal(d[1].attempt, 0);
    assert_int_equal(d[1].count, 2);
    assert_int_equal(d[1].ns, 160);
    assert_int_equal(d[1].self_ns, 80);
    assert_int_equal(d[1].cache, DEEP_CACHE_HIT);
    assert_str_is(d[1].fast, "is_contiguous");
    assert_int_equal(d[1].depth, 1);
    const struct deep_stack *stack = &deep->stacks[d[1].stack];
    assert_int_equal(stack->n_frames, 1);
    assert_str_is(stack->frames[0].code, "y = x + 1");
    assert_int_equal(d[2].stack, DEEP_NO_STACK);
    assert_int_equal(deep->n_processes, 1);
    assert_int_equal(deep->processes[0].overhead_ns, 77);
    assert_false(deep->processes[0].ended);
    assert_str_is(trace->attempts[0].compile, "0/0");
    deep_free(deep);
    trace_close(trace);
}

static void test_costs_uses_phases(void **state)
{
    (void)state;
    struct buf side = side_compile(7);
    side_event(&side, DEEP_VALUE, "4ss", N(1), "\"s77\"", "");
    side_event(&side, DEEP_VALUE, "4ss", N(2), "\"s77\"", "");
    side_event(&side, DEEP_COST, "4444888", N(1), N(5), N(6), N(0), N(3), N(30), N(20));
    side_event(&side, DEEP_COST, "4444888", N(1), N(5), N(6), N(1), N(1), N(4), N(4));
    side_event(&side, DEEP_USE, "444444", N(1), N(6), N(1), N(7), N(1), N(1));
    side_event(&side, DEEP_USE, "444444", N(1), N(6), N(2), N(7), N(1), N(2));
    side_event(&side, DEEP_PHASE, "444488888", N(1), N(1), N(3), N(0), N(10), N(100), N(200),
               UINT64_MAX, UINT64_MAX);
    side_event(&side, DEEP_PHASE, "444488888", N(1), N(1), N(4), N(0), N(12), N(100), N(200),
               UINT64_MAX, UINT64_MAX); /* has no end */
    side_event(&side, DEEP_PHASE, "444488888", N(1), N(0), N(3), N(0), N(50), N(150), N(210), N(5),
               N(6));
    side_event(&side, DEEP_PHASE, "444488888", N(1), N(0), N(3), N(0), N(60), N(1), N(1), N(1),
               N(1)); /* has no beginning */
    struct trace *trace = open_packed(&side);
    struct deep *deep = read_deep(trace);
    assert_int_equal(deep->n_costs, 2);
    assert_int_equal(deep->costs[0].count, 3);
    assert_int_equal(deep->costs[0].self_ns, 20);
    assert_int_equal(deep->costs[0].op.n, 0);
    assert_int_equal(deep->costs[1].count, 1);
    assert_str_is(deep->costs[1].op, "aten.add.Tensor");
    assert_int_equal(deep->n_uses, 1); /* equal expressions, equal stacks */
    assert_int_equal(deep->uses[0].count, 2);
    assert_str_is(deep->uses[0].expr, "s77");
    assert_str_is(deep->uses[0].asker.function, "f");
    assert_int_equal(deep->n_phases, 1);
    assert_int_equal(deep->phases[0].start_ns, 10);
    assert_int_equal(deep->phases[0].host_end, 150);
    assert_true(deep->phases[0].device_start == DEEP_NOT_TOLD);
    assert_int_equal(deep->phases[0].device_peak, 6);
    deep_free(deep);
    trace_close(trace);
}

static void put_argument(struct buf *out, uint32_t name, uint32_t tag, uint64_t value)
{
    buf_le32(out, name);
    buf_le32(out, tag);
    buf_le64(out, value);
}

static struct str payload_of(struct trace *trace, enum event event)
{
    struct err err = ERR_INIT;
    struct str text = STR("");
    for (uint32_t i = 0; i < trace->n_records; i++)
        if (trace->records[i].event == event)
            assert_true(trace_payload(trace, i, &text, &err));
    return text;
}

static void test_env(void **state)
{
    (void)state;
    struct buf side = side_compile(7), arguments = BUF_INIT;
    double half = 0.5, two = 2;
    uint64_t bits;
    side_event(&side, DEEP_VALUE, "4ss", N(1), "\"Eq(s77, 0.5)\"", "{\"0.5\": \"0.5\"}");
    side_event(&side, DEEP_VALUE, "4ss", N(2), "[\"ValueError\", \"no\"]", "");
    side_event(&side, DEEP_ENV, "44s", N(0), N(1), "{\"duck_shape\": true}");
    memcpy(&bits, &half, sizeof bits);
    put_argument(&arguments, 7, DEEP_TAG_VALUE, 1);
    put_argument(&arguments, 5, DEEP_TAG_FLOAT, bits);
    memcpy(&bits, &two, sizeof bits);
    put_argument(&arguments, 6, DEEP_TAG_FLOAT, bits);
    put_argument(&arguments, 8, DEEP_TAG_INT, N(-3));
    size_t at = side.n;
    side_event(&side, DEEP_CALL, "4444488888888884", N(0), N(1), N(6), N(1), N(2), N(99), N(0),
               N(0), N(0), N(0), N(0), N(0), N(0), N(0), N(0), N(0));
    uint32_t n = (uint32_t)arguments.n;
    memcpy(side.p + at + DEEP_EVENT_HEADER + 5 * 4 + 8, &n, sizeof n);
    memcpy(side.p + at + DEEP_EVENT_HEADER + 5 * 4 + 8 + 4, arguments.p, n);
    buf_release(&arguments);
    side_event(&side, DEEP_FINAL, "4s", N(0), "{\"guards\": []}");
    side_event(&side, DEEP_FINAL, "4s", N(0), "{\"guards\": [\"s77 > 1\"]}");
    struct trace *trace = open_packed(&side);
    assert_str_is(
        payload_of(trace, EVENT_SYMTAPE_SHAPE_ENV),
        "{\"env\": 0, \"call\": \"settings\", \"duck_shape\": true}\n"
        "{\"env\":0,\"depth\":0,\"call\":\"evaluate_expr\",\"orig_expr\":\"Eq(s77, 0.5)\","
        "\"is_contiguous\":0.5,\"evaluate_expr\":2.0,\"out\":-3,\"suppressed\":true,"
        "\"raised\":[\"ValueError\", \"no\"],\"floats\":{\"0.5\": \"0.5\"},\"ns\":99}\n"
        "{\"env\": 0, \"call\": \"final\", \"guards\": [\"s77 > 1\"]}");
    trace_close(trace);
}

/* x -> t = x.size(), u = t[0] (a size that nothing uses), y = x + 1, renamed; z = bad(y), failed.
 */
static struct buf side_graph(uint64_t context)
{
    struct buf side = side_compile(7);
    side_event(&side, DEEP_GRAPH, "44448", N(1), context, N(0), N(0), N(6000));
    side_event(&side, DEEP_NODE, "4444ss", N(1), N(1), N(0), N(DEEP_NODE_PLACEHOLDER), "l_x_",
               "L_x_");
    side_event(&side, DEEP_META, "44s", N(1), N(1), "f32[s77, 4][4, 1]cpu");
    side_event(&side, DEEP_NODE, "4444ss", N(1), N(2), N(1), N(DEEP_NODE_STATEMENT), "size",
               "\1"
               "1\2.size()");
    side_event(&side, DEEP_NODE, "4444ss", N(1), N(3), N(1), N(DEEP_NODE_STATEMENT), "getitem",
               "\1"
               "2\2[0]");
    side_event(&side, DEEP_META, "44s", N(1), N(3), "Sym(s77)");
    side_event(&side, DEEP_NODE, "4444ss", N(1), N(4), N(1), N(DEEP_NODE_STATEMENT), "add",
               "\1"
               "1\2 + 1");
    side_event(&side, DEEP_META, "44s", N(1), N(4), "f32[s77, 4][4, 1]cpu");
    side_event(&side, DEEP_NODE, "4444ss", N(1), N(5), N(1), N(DEEP_NODE_STATEMENT), "bad",
               "torch.ops.my.bad(\1"
               "4\2, \1"
               "77\2)");
    side_event(&side, DEEP_RENAME, "44s", N(1), N(4), "y");
    return side;
}

static void check_graph(struct trace *trace, const char *why)
{
    struct err err = ERR_INIT;
    const struct graph_list *list = trace_graphs(trace, &err);
    assert_non_null(list);
    assert_int_equal(list->n, why ? 1 : 0);
    if (!why)
        return;
    assert_int_equal(list->refs[0].kind, GRAPH_PARTIAL_DYNAMO);
    assert_non_null(trace_graph(trace, 0, &err));
    assert_str_is(payload_of(trace, EVENT_SYMTAPE_PARTIAL_DYNAMO_GRAPH),
                  "class GraphModule(torch.nn.Module):\n"
                  "    def forward(self, L_x_: \"f32[s77, 4][4, 1]cpu\"):\n"
                  "        l_x_ = L_x_\n"
                  "\n"
                  "        # File: /a/m.py:3 in f, code: y = x + 1\n"
                  "        y: \"f32[s77, 4][4, 1]cpu\" = l_x_ + 1\n"
                  "        bad = torch.ops.my.bad(y, )\n"
                  "        return ()");
    const struct record *record = &trace->records[list->refs[0].record];
    assert_true(str_find(record->meta, str_of(why)) < record->meta.n);
}

static void test_partial_graphs(void **state)
{
    (void)state;
    static const struct {
        uint64_t graph_state; /* 0: none is told */
        bool restarted, ended;
        const char *why;
    } cases[] = {
        { 0, false, false, "\"why\":\"killed\",\"error\":null" },
        { DEEP_GRAPH_RAISED, false, true, "\"why\":\"raised\",\"error\":\"ValueError\"" },
        { DEEP_GRAPH_RETURNED, false, false, "\"why\":\"killed\"" },
        { DEEP_GRAPH_LOGGED, false, true, NULL },
        { DEEP_GRAPH_RAISED, true, true, NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct buf side = side_graph(1);
        if (cases[i].graph_state)
            side_event(&side, DEEP_GRAPH_STATE, "44s", N(1), cases[i].graph_state, "ValueError");
        if (cases[i].restarted)
            side_event(&side, DEEP_CONTEXT, "488888", N(2), N(-1), N(0), N(0), N(1), N(9));
        if (cases[i].ended)
            side_event(&side, DEEP_END, "4", N(1));
        struct trace *trace = open_packed(&side);
        check_graph(trace, cases[i].why);
        trace_close(trace);
    }
}

static void test_erased(void **state)
{
    (void)state;
    struct buf side = side_graph(1);
    side_event(&side, DEEP_ERASE, "44", N(1), N(5));
    side_event(&side, DEEP_ERASE, "44", N(9), N(5)); /* no such graph */
    struct trace *trace = open_packed(&side);
    struct str text = payload_of(trace, EVENT_SYMTAPE_PARTIAL_DYNAMO_GRAPH);
    assert_true(str_find(text, STR("bad")) == text.n);
    trace_close(trace);
}

/* A call has the argument that it was made with, also after PyTorch gave it another one and erased
 * that. */
static void test_erased_after_use(void **state)
{
    (void)state;
    struct buf side = side_graph(1);
    side_event(&side, DEEP_ERASE, "44", N(1), N(4));
    struct trace *trace = open_packed(&side);
    struct str text = payload_of(trace, EVENT_SYMTAPE_PARTIAL_DYNAMO_GRAPH);
    assert_true(str_find(text, STR("        y: \"f32[s77, 4][4, 1]cpu\" = l_x_ + 1\n")) < text.n);
    assert_true(str_find(text, STR("bad(y, )")) < text.n);
    trace_close(trace);
}

/* What torch.export traces belongs to no compile, which would have its symbols. */
static void test_sizes_of_export(void **state)
{
    (void)state;
    struct buf side = side_graph(0);
    side_event(&side, DEEP_GRAPH_SIZES, "4s", N(9), "s0=1"); /* no such graph */
    side_event(&side, DEEP_GRAPH_SIZES, "4s", N(1), "s77=6");
    side_event(&side, DEEP_GRAPH_STATE, "44s", N(1), DEEP_GRAPH_RETURNED, "");
    side_event(&side, DEEP_GRAPH_STATE, "44s", N(1), DEEP_GRAPH_RAISED, "ConstraintViolationError");
    side_event(&side, DEEP_END, "4", N(1));
    struct trace *trace = open_packed(&side);
    check_graph(trace, "\"error\":\"ConstraintViolationError\",\"sizes\":\"s77=6\"");
    trace_close(trace);
}

static void test_record_deep(void **state)
{
    (void)state;
    struct buf side = side_compile(7);
    struct record_deep deep;
    struct err err = ERR_INIT;
    side_dispatch(&side, 1, 1, 100);
    side_event(&side, DEEP_TOTALS, "4s", N(1),
               "{\"pytorch\": {\"a\": 1}, \"recorded\": {\"a\": 2}, "
               "\"agree\": false}");
    side_event(
        &side, DEEP_PROCESS, "s",
        "{\"level\": \"all\", \"not_wrapped\": [{\"what\": \"a.b\", \"why\": \"missing\"}]}");
    struct trace *trace = open_packed(&side);
    assert_true(record_deep_read(trace, &deep, &err));
    assert_int_equal(deep.processes, 1);
    assert_int_equal(deep.dispatches, 1);
    assert_int_equal(deep.lost, 2);
    assert_int_equal(deep.disagreements, 1);
    assert_str_is(buf_str(&deep.not_wrapped), "a.b (missing)");
    assert_int_equal(deep.not_recorded.n, 0);
    record_deep_release(&deep);
    trace_close(trace);
}

static bool pack_once(void *side)
{
    struct deep_file file;
    struct buf out = BUF_INIT;
    struct err err = ERR_INIT;
    bool ok = deep_file_read(&file, buf_str(side), &err) && deep_pack(&file, &out, &err);
    deep_file_release(&file);
    buf_release(&out);
    return ok;
}

static void test_no_memory(void **state)
{
    (void)state;
    struct buf side = side_graph(1);
    side_dispatch(&side, 1, 1, 100);
    side_event(&side, DEEP_VALUE, "4ss", N(1), "\"s77\"", "");
    side_event(&side, DEEP_USE, "444444", N(1), N(6), N(1), N(7), N(1), N(1));
    side_event(&side, DEEP_COST, "4444888", N(1), N(5), N(6), N(0), N(3), N(30), N(20));
    side_event(&side, DEEP_ENV, "44s", N(0), N(1), "{}");
    check_alloc_failures(pack_once, &side);
    buf_release(&side);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dispatches),
        cmocka_unit_test(test_costs_uses_phases),
        cmocka_unit_test(test_env),
        cmocka_unit_test(test_partial_graphs),
        cmocka_unit_test(test_erased),
        cmocka_unit_test(test_erased_after_use),
        cmocka_unit_test(test_sizes_of_export),
        cmocka_unit_test(test_record_deep),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

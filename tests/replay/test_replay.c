/* Whole replays, of logs written here: what matches, what does not, and what is hostile. */
#include "replay/replay.h"

#include <stdio.h>

#include "tests/harness.h"

#define HEADER  "V1120 09:33:20.123000 77 torch/x.py:1] "
#define ATTEMPT ", \"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0"

struct log {
    struct buf text;
    struct trace *trace;
    struct replay *replay;
};

static void put_record(struct log *log, const char *metadata)
{
    buf_printf(&log->text, HEADER "{%s" ATTEMPT "}\n", metadata);
}

/* x of 8 rows and 4 columns, its sizes s77 and s27, its strides s27 and 1. */
static void put_input(struct log *log)
{
    put_record(log, "\"describe_tensor\": {\"id\": 0, \"ndim\": 2, \"dtype\": \"torch.float32\", "
                    "\"device\": \"device(type='cpu')\", \"size\": [8, 4], \"stride\": [4, 1], "
                    "\"is_leaf\": true, \"storage\": 0, \"describer_id\": 0}");
    put_record(log,
               "\"describe_source\": {\"describer_id\": 0, \"id\": 0, \"source\": \"L['x']\"}");
    put_record(log,
               "\"create_symbol\": {\"symbol\": \"s77\", \"val\": \"8\", \"vr\": \"[2, int_oo]\", "
               "\"source\": \"L['x'].size()[0]\"}");
    put_record(log,
               "\"create_symbol\": {\"symbol\": \"s27\", \"val\": \"4\", \"vr\": \"[2, int_oo]\", "
               "\"source\": \"L['x'].size()[1]\"}");
}

/* Indented by a TAB, as payloads are. */
static void put_graph(struct log *log, const char *event, const char *text)
{
    buf_printf(&log->text, HEADER "{\"%s\": {}" ATTEMPT ", \"has_payload\": \"x\"}\n\t", event);
    for (const char *p = text; *p; p++) {
        buf_putc(&log->text, *p);
        if (*p == '\n')
            buf_putc(&log->text, '\t');
    }
    buf_putc(&log->text, '\n');
}

#define BODY(inputs, lines) \
    "class GraphModule(torch.nn.Module):\n    def forward(self, " inputs "):\n" lines

static void replay_with(struct log *log, const struct replay_options *how)
{
    struct err err = ERR_INIT;
    const char *path = temp_path("written.log");
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_false(log->text.failed);
    assert_int_equal(fwrite(log->text.p, 1, log->text.n, f), log->text.n);
    assert_int_equal(fclose(f), 0);
    log->trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    log->replay = replay_trace(log->trace, how, &err);
    assert_no_err(&err);
    assert_non_null(log->replay);
}

static void replay(struct log *log)
{
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.passes = true;
    replay_with(log, &how);
}

static void close_log(struct log *log)
{
    replay_free(log->replay);
    trace_close(log->trace);
    buf_release(&log->text);
    *log = (struct log){ 0 };
}

#define X "s77: \"Sym(s77)\", s27: \"Sym(s27)\", L_x_: \"f32[s77, s27][s27, 1]cpu\""
#define VIEW                                                                                   \
    "        view: \"f32[s27*s77][1]cpu\" = torch.ops.aten.view.default(L_x_, [-1]);  L_x_ = " \
    "None\n"
#define NEG "        neg: \"f32[s27*s77][1]cpu\" = torch.ops.aten.neg.default(view);  view = None\n"
#define NEG_LESS \
    "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.neg.default(view);  view = None\n"
#define RETURN "        return (neg,)\n"

static void test_what_matches(void **state)
{
    (void)state;
    struct log log = { 0 };
    put_input(&log);
    put_graph(&log, "dynamo_output_graph", BODY(X, VIEW NEG RETURN));
    replay(&log);
    assert_int_equal(log.replay->totals.graphs, 1);
    assert_int_equal(log.replay->totals.calls, 2);
    assert_int_equal(log.replay->totals.match, 2);
    assert_true(replay_all_match(log.replay));
    assert_int_equal(log.replay->costs.symbols, 2);
    close_log(&log);
}

/* One recorded size is changed: exactly that call differs, and the rest goes on from the record. */
static void test_one_size_changed(void **state)
{
    (void)state;
    struct log log = { 0 };
    put_input(&log);
    put_graph(
        &log, "dynamo_output_graph",
        BODY(X, VIEW NEG_LESS
             "        abs_1: \"f32[s77][1]cpu\" = torch.ops.aten.abs.default(neg);  neg = None\n"
             "        return (abs_1,)\n"));
    replay(&log);
    assert_int_equal(log.replay->totals.match, 2);
    assert_int_equal(log.replay->totals.mismatch, 1);
    assert_int_equal(log.replay->totals.adopted, 1);
    assert_int_equal(log.replay->n_differences, 1);
    assert_str_is(log.replay->differences[0].node, "neg");
    assert_str_is(log.replay->differences[0].op, "aten.neg.default");
    assert_str_is(log.replay->differences[0].recorded, "f32[s77][1]cpu");
    assert_str_is(log.replay->differences[0].replayed, "f32[s27*s77][1]cpu");
    close_log(&log);
}

/* What PyTorch 2.11 counts for relu(x).t(), of which t() is a view: Dynamo's two calls and a device
 * for the view; the input's wrapper, and that of relu's result, in either functional pass. */
static void test_passes(void **state)
{
    (void)state;
    struct log log = { 0 };
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.passes = true;
    put_input(&log);
    put_graph(&log, "dynamo_output_graph",
              BODY(X, "        x: \"f32[s77, s27][s27, 1]cpu\" = torch.relu(L_x_)\n"
                      "        y: \"f32[s27, s77][1, s27]cpu\" = x.t()\n"
                      "        return (y,)\n"));
    put_graph(
        &log, "aot_inference_graph",
        BODY("arg0_1: \"Sym(s77)\", arg1_1: \"Sym(s27)\", arg2_1: \"f32[s77, s27][s27, 1]cpu\"",
             "        relu: \"f32[s77, s27][s27, 1]cpu\" = "
             "torch.ops.aten.relu.default(arg2_1)\n"
             "        t: \"f32[s27, s77][1, s27]cpu\" = torch.ops.aten.t.default(relu)\n"
             "        return (t,)\n"));
    replay_with(&log, &how);
    assert_true(replay_all_match(log.replay));
    const struct pass_counts *passes = log.replay->passes;
    assert_in_range(passes[PASS_DYNAMO].fake_mode, 3, 20);
    assert_int_equal(passes[PASS_RNG].fake_mode, 13);
    assert_int_equal(passes[PASS_INPUTS].fake_mode, 1);
    assert_int_equal(passes[PASS_METADATA].proxy, 0);
    assert_int_equal(passes[PASS_TRACE].proxy, 4);
    assert_int_equal(passes[PASS_TRACE].fake_mode, 4);
    assert_int_equal(passes[PASS_BACKWARD].fake_mode, 0);
    close_log(&log);
}

static void test_refused_and_unsupported(void **state)
{
    (void)state;
    struct log log = { 0 };
    put_input(&log);
    put_graph(
        &log, "dynamo_output_graph",
        BODY(X, "        view: \"f32[5, s77][s77, 1]cpu\" = torch.ops.aten.permute.default(L_x_, "
                "[0, 0])\n"
                "        mine: \"f32[s77][1]cpu\" = torch.ops.mylib.nothing.default(view)\n"
                "        other = torch.ops.mylib.pair.default(mine)\n"
                "        getitem: \"f32[s77][1]cpu\" = other[0]\n"
                "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.neg.default(getitem)\n" RETURN));
    replay(&log);
    assert_int_equal(log.replay->totals.calls, 5);
    assert_int_equal(log.replay->totals.refused, 1);
    assert_int_equal(log.replay->totals.unsupported, 3);
    assert_int_equal(log.replay->totals.match, 1);
    assert_int_equal(log.replay->n_unsupported, 2);
    assert_str_is(log.replay->unsupported[0].op, "mylib.pair.default");
    assert_int_equal(log.replay->unsupported[0].calls, 2);
    close_log(&log);
}

/* A kernel guard is asked for by a rule; a guard of dynamo is applied where it stood. */
static void test_guards(void **state)
{
    (void)state;
    struct log log = { 0 };
    put_input(&log);
    put_record(&log,
               "\"guard_added_fast\": {\"expr\": \"Eq(s27, 4)\", \"user_stack\": [], \"stack\": "
               "[{\"line\": 1, \"name\": \"f\", \"filename\": 0, \"loc\": \"x\"}]}");
    put_graph(
        &log, "dynamo_output_graph",
        BODY("s77: \"Sym(s77)\", s27: \"Sym(4)\", L_x_: \"f32[s77, 4][4, 1]cpu\"",
             "        neg: \"f32[s77, 4][4, 1]cpu\" = torch.ops.aten.neg.default(L_x_)\n" RETURN));
    replay(&log);
    assert_true(replay_all_match(log.replay));
    assert_int_equal(log.replay->guard_counts.recorded, 1);
    assert_int_equal(log.replay->guard_counts.user, 1);
    assert_int_equal(log.replay->guard_counts.extra, 0);
    assert_int_equal(log.replay->n_guards, 1);
    assert_int_equal(log.replay->guards[0].status, GUARD_STATUS_APPLIED);
    close_log(&log);
}

/* mark_unbacked() makes a symbol without a source: the size that Dynamo's graph prints as one. An
 * equal size of a tensor that was not marked stays a number. */
static void test_marked_unbacked(void **state)
{
    (void)state;
    struct log log = { 0 };
    for (int id = 0; id < 2; id++) {
        char text[300];
        snprintf(text, sizeof text,
                 "\"describe_tensor\": {\"id\": %d, \"ndim\": 1, \"dtype\": \"torch.float32\", "
                 "\"device\": \"device(type='cpu')\", \"size\": [1], \"stride\": [1], "
                 "\"is_leaf\": true, \"storage\": %d, \"describer_id\": 0}",
                 id, id);
        put_record(&log, text);
        snprintf(text, sizeof text,
                 "\"describe_source\": {\"describer_id\": 0, \"id\": %d, \"source\": \"L['%c']\"}",
                 id, "xy"[id]);
        put_record(&log, text);
        if (id == 0)
            put_record(&log, "\"create_unbacked_symbol\": {\"symbol\": \"u0\", \"vr\": "
                             "\"[-int_oo, int_oo]\"}");
    }
    put_graph(
        &log, "dynamo_output_graph",
        BODY("L_x_: \"f32[u0][1]cpu\", L_y_: \"f32[1][1]cpu\"",
             "        neg: \"f32[u0][1]cpu\" = torch.ops.aten.add.Tensor(L_x_, L_y_)\n" RETURN));
    replay(&log);
    assert_true(replay_all_match(log.replay));
    assert_int_equal(log.replay->totals.match, 1);
    close_log(&log);
}

static void test_policies_and_hints(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log log = { 0 };
    put_input(&log);
    put_graph(&log, "dynamo_output_graph", BODY(X, VIEW NEG RETURN));
    for (int policy = 0; policy < POLICIES; policy++) {
        static const uint64_t symbols[POLICIES] = { 2, 0, 1, 2, 0, 2 };
        struct replay_options how = REPLAY_OPTIONS_DEFAULT;
        how.changes.policy = (enum policy)policy;
        replay_with(&log, &how);
        assert_true(replay_all_match(log.replay));
        assert_int_equal(log.replay->costs.symbols, symbols[policy]);
        replay_free(log.replay);
        trace_close(log.trace);
    }
    struct input_set set = { STR("s77"), STR("4") };
    struct replay_options how = REPLAY_OPTIONS_DEFAULT;
    how.changes.sets = &set;
    how.changes.n_sets = 1;
    replay_with(&log, &how);
    assert_true(replay_all_match(log.replay)); /* equal sizes are one symbol, under both names */
    assert_int_equal(log.replay->costs.symbols, 1);
    assert_int_equal(log.replay->n_branches, 0);
    replay_free(log.replay);
    set.symbol = STR("s999");
    assert_null(replay_trace(log.trace, &how, &err));
    assert_err(&err, ERR_USAGE, "s999");
    log.replay = NULL;
    close_log(&log);
}

static void test_marks(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct input_mark mark;
    char good[] = "L[\"x\"]:1=4..64", bad[] = "L['x']=dynamic";
    assert_true(input_mark_parse(&mark, good, &err));
    assert_str_is(mark.source, "L['x']");
    assert_int_equal(mark.dim, 1);
    assert_int_equal(mark.change.kind, DIM_RANGE);
    assert_int_equal(mark.change.max, 64);
    assert_false(input_mark_parse(&mark, bad, &err));
    assert_err(&err, ERR_USAGE, "SOURCE:DIM");
    char derived[] = "L['y']:0=2*Dim(length)-1", root[] = "L['y']:0=Dim(length,4..64)";
    assert_true(input_mark_parse(&mark, derived, &err));
    assert_int_equal(mark.change.kind, DIM_NAMED);
    assert_str_is(mark.change.dim.name, "2*length - 1");
    assert_str_is(mark.change.dim.root, "length");
    assert_true(input_mark_parse(&mark, root, &err));
    assert_int_equal(mark.change.dim.root.n, 0);
    assert_int_equal(mark.change.dim.max, 64);
    static const char *const wrong[] = { "L['y']:0=Dim()",        "L['y']:0=Dim(4)",
                                         "L['y']:0=0*Dim(n)",     "L['y']:0=Dim(n,8..4)",
                                         "L['y']:0=Dim(n)+1.5",   "L['y']:0=x*Dim(n)",
                                         "L['y']:0=Dim(n,-4..4)", "L['y']:0=Dim(n" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char text[64];
        strcpy(text, wrong[i]);
        err.kind = ERR_NONE;
        assert_false(input_mark_parse(&mark, text, &err));
    }
}

/* None of these may crash or hang; each has its say about what is wrong. */
static void test_hostile_graphs(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        /* names that nobody gave, and one that names itself */
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.neg.default(nobody)\n" RETURN,
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.neg.default(neg)\n" RETURN,
        /* too few arguments, too many, and of other kinds */
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.neg.default()\n" RETURN,
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.neg.default(L_x_, L_x_, L_x_, 1, [2], "
        "'a')\n" RETURN,
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.view.default(3, None)\n" RETURN,
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.view.default(L_x_, [9223372036854775807, "
        "3])\n" RETURN,
        "        neg: \"f32[s77][1]cpu\" = torch.ops.aten.view.default(L_x_, [L_x_, 's'])\n" RETURN,
        /* sizes that cannot be */
        "        neg: \"f32[-5, 1//0][0, 99999999999999999999999]cpu\" = "
        "torch.ops.aten.neg.default(L_x_)\n" RETURN,
        "        neg: \"f32[u99999999, u5][u5, 1]cpu\" = torch.ops.aten.neg.default(L_x_)\n" RETURN,
        "        neg: \"Sym(u3 + u4)\" = torch.ops.aten.sym_size.int(L_x_, 7)\n" RETURN,
        "        neg: \"f32[s77][1]cpu\" = s77 // 0\n" RETURN,
        "        neg = L_x_[None, ..., 3, L_x_, True, 1:2:0]\n" RETURN,
        "        neg = L_x_.item().nothing(neg)\n" RETURN,
        "        neg = torch.ops.higher_order.cond(L_x_, neg, neg, (neg,))\n" RETURN,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct log log = { 0 };
        struct buf text = BUF_INIT;
        put_input(&log);
        buf_puts(&text, "class GraphModule(torch.nn.Module):\n    def forward(self, " X "):\n");
        buf_puts(&text, bodies[i]);
        buf_putc(&text, '\0');
        put_graph(&log, "dynamo_output_graph", text.p);
        put_graph(&log, "aot_inference_graph", text.p);
        replay(&log);
        assert_int_equal(log.replay->totals.graphs, 2);
        assert_int_equal(log.replay->totals.match, 0);
        buf_release(&text);
        close_log(&log);
    }
}

/* Attempts on several threads give what one gives. */
static void test_jobs(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = source_path("tests/recordings/encoder.log.zst");
    struct replay_counts counts[2];
    uint64_t digests[2] = { 0 };
    for (uint32_t i = 0; i < 2; i++) {
        struct replay_options how = REPLAY_OPTIONS_DEFAULT;
        how.jobs = i ? 4 : 1;
        how.digests = true;
        struct trace *trace = trace_open(path, NULL, &err);
        struct replay *r = trace ? replay_trace(trace, &how, &err) : NULL;
        assert_no_err(&err);
        counts[i] = r->totals;
        counts[i].ns = 0;
        for (size_t k = 0; k < r->n_digests; k++)
            digests[i] = digests[i] * 31 + r->digests[k].hash;
        replay_free(r);
        trace_close(trace);
    }
    assert_true(counts[0].calls > 0);
    assert_memory_equal(&counts[0], &counts[1], sizeof counts[0]);
    assert_int_equal(digests[0], digests[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_matches),
        cmocka_unit_test(test_one_size_changed),
        cmocka_unit_test(test_refused_and_unsupported),
        cmocka_unit_test(test_passes),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_marked_unbacked),
        cmocka_unit_test(test_policies_and_hints),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_hostile_graphs),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

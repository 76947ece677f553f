#include "profile/ranks/divergence_report.h"
#include "profile/ranks/steps.h"
#include "tests/log_make.h"

enum { RANKS = 8 };

/* What one rank logs of one compile. Members that are NULL are left out. */
struct made_compile {
    const char *id;       /* "0, 1": frame and compile */
    unsigned line;        /* of the function */
    const char *dynamo;   /* statements of Dynamo's graph, after its inputs */
    const char *inputs;   /* of Dynamo's graph: "L_x_: \"f32[8][1]cpu\"" */
    const char *aot;      /* statements of the inference graph, whose input is x */
    const char *guard;    /* "G['rank'] == 1  # if rank:  # d/m.py:9 in f" */
    const char *constant; /* a source that became 5 */
    const char *symbol;   /* a source of a symbol */
    const char *cache;    /* "miss", "hit" */
    const char *breaks;   /* a line with a graph break */
    unsigned took_ms;     /* 0: it does not end */
    bool collective;      /* waits in a compiler collective, when it does not end */
    bool fails;
};

static char context[RANKS][160];

static void put_stack(struct buf *out, unsigned line)
{
    buf_printf(out,
               "[{\"line\": 40, \"name\": \"<module>\", \"filename\": 1}, "
               "{\"line\": %u, \"name\": \"f\", \"filename\": 1}]",
               line);
}

static void put_start(struct log_make *log, unsigned line)
{
    struct buf meta = BUF_INIT;
    buf_puts(&meta, "\"dynamo_start\": {\"stack\": ");
    put_stack(&meta, line);
    buf_puts(&meta, "}");
    buf_putc(&meta, 0);
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_graph(struct log_make *log, const char *event, const char *inputs,
                      const char *statements)
{
    struct buf meta = BUF_INIT, text = BUF_INIT;
    buf_printf(&meta, "\"%s\": {}", event);
    buf_putc(&meta, 0);
    buf_printf(&text,
               "class GraphModule(torch.nn.Module):\n    def forward(self, %s):\n%s"
               "        return (x,)\n",
               inputs, statements);
    buf_putc(&text, 0);
    log_put(log, meta.p, text.p);
    buf_release(&meta);
    buf_release(&text);
}

static void put_symbol(struct log_make *log, const char *event, const char *format,
                       const char *source)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta, "\"%s\": {", event);
    buf_puts(&meta, format);
    buf_printf(&meta, "\"%s\"", source);
    buf_puts(&meta, strstr(event, "create") ? ", \"val\": \"8\"" : "], \"value\": \"5\"");
    buf_puts(&meta, "}");
    buf_putc(&meta, 0);
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static void put_time(struct log_make *log, char phase, const char *name, unsigned ms)
{
    char us[24];
    snprintf(us, sizeof us, "%u000", ms);
    log_phase(log, phase, name, us, "");
}

static void put_contents(struct log_make *log, const struct made_compile *c)
{
    if (c->symbol)
        put_symbol(log, "create_symbol", "\"symbol\": \"s0\", \"source\": ", c->symbol);
    if (c->constant) {
        put_symbol(log, "create_symbol", "\"symbol\": \"s5\", \"source\": ", c->constant);
        put_symbol(log, "symbolic_shape_specialization", "\"symbol\": \"s5\", \"sources\": [",
                   c->constant);
    }
    if (c->breaks)
        log_artifact(log, "dynamo_graph_break_reason", c->breaks);
    if (c->dynamo)
        put_graph(log, "dynamo_output_graph", c->inputs ? c->inputs : "x: \"f32[8, 4][4, 1]cpu\"",
                  c->dynamo);
    if (c->aot)
        put_graph(
            log, "aot_inference_graph",
            "x: \"f32[8, 4][4, 1]cpu\", z: \"f32[7, 4][4, 1]cpu\", h: \"bf16[8, 4][4, 1]cpu\"",
            c->aot);
    if (c->guard) {
        struct buf text = BUF_INIT;
        buf_printf(&text, "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- EQUALS_MATCH: %s\n",
                   c->guard);
        buf_putc(&text, 0);
        log_put(log, "\"dynamo_cpp_guards_str\": {}", text.p);
        buf_release(&text);
    }
    if (c->cache) {
        char name[40];
        snprintf(name, sizeof name, "fx_graph_cache_%s", c->cache);
        log_artifact(log, name, "{\"key\": \"k\"}");
    }
}

static void put_end(struct log_make *log, const struct made_compile *c, unsigned begin)
{
    if (!c->took_ms) {
        if (c->collective)
            put_time(log, 'B', "compiler_collective", begin + 1);
        return;
    }
    put_time(log, 'E', "entire_frame_compile", begin + c->took_ms);
    log_put(log,
            c->fails ? "\"compilation_metrics\": {\"co_name\": \"f\", \"fail_type\": "
                       "\"MemoryError\", \"fail_reason\": \"no room\"}"
                     : "\"compilation_metrics\": {\"co_name\": \"f\"}",
            NULL);
}

static struct trace *make_rank(unsigned rank, const struct made_compile *compiles, size_t n)
{
    struct log_make log = log_start();
    snprintf(context[rank], sizeof context[rank], "\"rank\": %u", rank);
    log.context = context[rank];
    log_put(&log, "\"str\": [\"/home/u/d/m.py\", 1]", NULL);
    for (size_t i = 0; i < n; i++) {
        unsigned begin = 1000 + 100000 * (unsigned)i, frame, compile;
        assert_int_equal(sscanf(compiles[i].id, "%u, %u", &frame, &compile), 2);
        snprintf(context[rank], sizeof context[rank],
                 "\"rank\": %u, \"frame_id\": %u, \"frame_compile_id\": %u, \"attempt\": 0", rank,
                 frame, compile);
        put_time(&log, 'B', "entire_frame_compile", begin);
        put_start(&log, compiles[i].line);
        put_contents(&log, &compiles[i]);
        put_end(&log, &compiles[i], begin);
    }
    return log_open(&log);
}

/* ---- Judging ---- */

struct judged {
    struct job *job;
    struct divergences found;
};

static struct judged judge(const struct made_compile *const *ranks, const size_t *counts, size_t n)
{
    struct err err = ERR_INIT;
    struct judged ret = { .job = job_new(&err) };
    assert_non_null(ret.job);
    for (size_t i = 0; i < n; i++) {
        struct trace *trace = make_rank((unsigned)i, ranks[i], counts[i]);
        assert_true(job_add(ret.job, trace, &err));
        trace_close(trace);
    }
    assert_true(job_finish(ret.job, &err));
    assert_true(steps_make(ret.job, &err));
    assert_true(divergences_find(&ret.found, ret.job, &err));
    return ret;
}

static void release(struct judged *judged)
{
    divergences_release(&judged->found);
    job_free(judged->job);
}

/* Ranks 0 and 2 to n - 1 have compile a, rank `odd` has b. */
static struct judged judge_odd(const struct made_compile *a, const struct made_compile *b,
                               unsigned odd, size_t n)
{
    const struct made_compile *ranks[RANKS];
    size_t counts[RANKS];
    for (unsigned i = 0; i < n; i++) {
        ranks[i] = i == odd ? b : a;
        counts[i] = 1;
    }
    return judge(ranks, counts, n);
}

static void assert_odd(const struct judged *judged, enum divergence_kind kind, unsigned rank,
                       const char *compile, unsigned line, const char *sentence)
{
    struct buf text = BUF_INIT;
    assert_true(judged->found.list.n > 0);
    const struct divergence *d = &judged->found.list.v[0];
    assert_string_equal(divergence_name(d->kind), divergence_name(kind));
    assert_int_equal(d->n_ranks, 1);
    assert_int_equal(judged->job->ranks.v[judged->found.ranks.v[d->first_rank]].number, rank);
    if (compile) {
        assert_int_not_equal(d->compile, JOB_NONE);
        assert_str_is(job_text(judged->job, judged->job->compiles.v[d->compile].id), compile);
    } else {
        assert_int_equal(d->compile, JOB_NONE);
    }
    if (line) {
        assert_int_not_equal(d->place, JOB_NONE);
        assert_int_equal(judged->job->places.v[d->place].line, line);
    }
    divergence_sentence(judged->job, d, &text);
    assert_str_is(buf_str(&text), sentence);
    buf_release(&text);
}

#define LINE(n) "        # File: /home/u/d/m.py:" #n " in f, code: ...\n"
#define REDUCE(name, input, op)                                                                \
    "        " name                                                                            \
    ": \"f32[8, 4][4, 1]cpu\" = torch.ops._c10d_functional.all_reduce.default(" input ", '" op \
    "', '0')\n"
#define GATHER(group)                       \
    "        g: \"f32[16, 4][4, 1]cpu\" = " \
    "torch.ops._c10d_functional.all_gather_into_tensor.default(x, 2, '" group "')\n"
#define NOTHING "        y: \"f32[8, 4][4, 1]cpu\" = torch.ops.aten.sin.default(x)\n"
#define PEER(op, rank) \
    "        p: \"f32[8, 4][4, 1]cpu\" = torch.ops._c10d_functional." op "(x, " rank ", 0, '0')\n"

static const struct made_compile REDUCES = { "0, 0",
                                             3,
                                             .dynamo = LINE(5) REDUCE("y", "x", "sum"),
                                             .aot = LINE(5) REDUCE("y", "x", "sum"),
                                             .guard = "G['rank'] == 0  # if rank:  # d/m.py:4 in f",
                                             .took_ms = 2000 };

static struct made_compile with_aot(const char *aot)
{
    struct made_compile ret = REDUCES;
    ret.aot = aot;
    return ret;
}

/* ---- Collectives ---- */

static void test_same(void **state)
{
    (void)state;
    struct judged judged = judge_odd(&REDUCES, &REDUCES, 1, 4);
    assert_int_equal(judged.found.list.n, 0);
    assert_int_equal(judged.found.n_graphs, 0);
    assert_int_equal(judged.job->ranks.n, 4);
    assert_int_equal(judged.job->n_steps, 1);
    release(&judged);
}

static void test_missing(void **state)
{
    (void)state;
    struct made_compile without = with_aot(LINE(4) NOTHING);
    without.guard = "G['rank'] == 1  # if rank:  # d/m.py:4 in f";
    for (size_t n = 2; n <= 4; n += 2) {
        struct judged judged = judge_odd(&REDUCES, &without, 1, n);
        assert_odd(&judged, DIVERGENCE_MISSING, 1, "0/0", 4,
                   n == 2 ? "leaves out all_reduce in 0/0, which the other calls"
                          : "leaves out all_reduce in 0/0, which the others call");
        assert_int_equal(judged.found.waits.n, n);
        assert_int_equal(judged.found.waits.v[0].state, WAIT_COLLECTIVE);
        assert_int_equal(judged.found.waits.v[1].state, WAIT_ELSEWHERE);
        release(&judged);
    }
}

static void test_extra(void **state)
{
    (void)state;
    struct made_compile more = with_aot(REDUCE("y", "x", "sum") REDUCE("w", "y", "max"));
    struct judged judged = judge_odd(&REDUCES, &more, 2, 4);
    assert_odd(&judged, DIVERGENCE_MISSING, 2, "0/0", 0,
               "calls all_reduce in 0/0, which the others leave out");
    assert_int_equal(judged.found.waits.v[2].state, WAIT_COLLECTIVE);
    assert_int_equal(judged.found.waits.v[0].state, WAIT_ELSEWHERE);
    release(&judged);
}

static void test_order(void **state)
{
    (void)state;
    struct made_compile a = with_aot(GATHER("0") REDUCE("y", "x", "sum"));
    struct made_compile b = with_aot(REDUCE("y", "x", "sum") GATHER("0"));
    struct judged judged = judge_odd(&a, &b, 3, 4);
    assert_odd(&judged, DIVERGENCE_ORDER, 3, "0/0", 0,
               "calls all_reduce in 0/0 where the others call all_gather_into_tensor");
    assert_int_equal(judged.found.waits.v[3].state, WAIT_COLLECTIVE);
    release(&judged);
    b = with_aot(REDUCE("y", "x", "max"));
    judged = judge_odd(&REDUCES, &b, 1, 2);
    assert_odd(&judged, DIVERGENCE_ORDER, 1, "0/0", 0,
               "calls all_reduce(max) in 0/0 where the other calls all_reduce(sum)");
    assert_int_equal(judged.found.waits.n, 0);
    release(&judged);
}

static void test_meta(void **state)
{
    (void)state;
    struct made_compile size = with_aot(REDUCE("y", "z", "sum"));
    struct made_compile dtype = with_aot(REDUCE("y", "h", "sum"));
    struct judged judged = judge_odd(&REDUCES, &size, 1, 2);
    assert_odd(&judged, DIVERGENCE_SIZE, 1, "0/0", 0,
               "calls all_reduce in 0/0 with [7, 4], the other with [8, 4]");
    release(&judged);
    judged = judge_odd(&REDUCES, &dtype, 1, 3);
    assert_odd(&judged, DIVERGENCE_DTYPE, 1, "0/0", 0,
               "calls all_reduce in 0/0 with torch.bfloat16, the others with torch.float32");
    assert_int_equal(judged.found.waits.n, 0);
    release(&judged);
}

/* Groups that are in other rows of a mesh are as good as each other. */
static void test_groups(void **state)
{
    (void)state;
    struct made_compile a = with_aot(GATHER("1") REDUCE("y", "x", "sum"));
    struct made_compile b = with_aot(GATHER("2") REDUCE("y", "x", "sum"));
    struct made_compile c = with_aot(GATHER("2"));
    struct judged judged = judge_odd(&a, &b, 1, 2);
    assert_int_equal(judged.found.list.n, 0);
    release(&judged);
    judged = judge_odd(&a, &c, 1, 2);
    assert_int_equal(judged.found.list.n, 0);
    release(&judged);
    /* Rank 3 of two rows shares a group with rank 2 and leaves out the other one. */
    const struct made_compile row = with_aot(GATHER("2") REDUCE("y", "x", "sum"));
    const struct made_compile *ranks[] = { &a, &a, &row, &c };
    const size_t counts[] = { 1, 1, 1, 1 };
    judged = judge(ranks, counts, 4);
    assert_odd(&judged, DIVERGENCE_MISSING, 3, "0/0", 0,
               "leaves out all_reduce in 0/0, which the others call");
    release(&judged);
}

static void test_peers(void **state)
{
    (void)state;
    struct made_compile send = REDUCES, receive = REDUCES;
    send.dynamo = PEER("isend", "1");
    receive.dynamo = PEER("irecv", "0");
    struct judged judged = judge_odd(&send, &receive, 1, 2);
    assert_int_equal(judged.found.list.n, 0);
    assert_int_equal(judged.found.n_stages, 2);
    release(&judged);
    send.dynamo = PEER("isend", "1") PEER("isend", "1");
    judged = judge_odd(&send, &receive, 1, 2);
    assert_odd(&judged, DIVERGENCE_MISSING, 1, NULL, 0,
               "leaves out the counterpart of isend in 0/0, which the other calls");
    release(&judged);
}

/* ---- Compiles ---- */

static void test_recompile(void **state)
{
    (void)state;
    const struct made_compile two[] = { REDUCES, { "0, 1", 3, .took_ms = 10 } };
    const struct made_compile *ranks[] = { &REDUCES, two };
    const size_t counts[] = { 1, 2 };
    struct judged judged = judge(ranks, counts, 2);
    assert_odd(&judged, DIVERGENCE_RECOMPILE, 1, "0/1", 40, "recompiles (0/1), the other does not");
    assert_int_equal(judged.found.list.n, 1);
    release(&judged);
}

static void test_hang(void **state)
{
    (void)state;
    const struct made_compile two[] = { REDUCES, { "0, 1", 3, .collective = true } };
    const struct made_compile *ranks[] = { &REDUCES, two, &REDUCES };
    const size_t counts[] = { 1, 2, 1 };
    struct judged judged = judge(ranks, counts, 3);
    assert_odd(&judged, DIVERGENCE_HANG, 1, "0/1", 40,
               "waits in a compiler collective of 0/1, a compile that the others do not have");
    assert_int_equal(judged.found.waits.v[0].state, WAIT_ELSEWHERE);
    assert_int_equal(judged.found.waits.v[1].state, WAIT_COMPILER);
    release(&judged);
    struct made_compile open = REDUCES;
    open.took_ms = 0;
    judged = judge_odd(&REDUCES, &open, 2, 4);
    assert_odd(&judged, DIVERGENCE_HANG, 2, "0/0", 40, "does not come to the end of compile 0/0");
    assert_int_equal(judged.found.waits.v[2].state, WAIT_COMPILE);
    release(&judged);
}

static void test_failure(void **state)
{
    (void)state;
    struct made_compile fails = REDUCES;
    fails.fails = true;
    fails.aot = NULL;
    struct judged judged = judge_odd(&REDUCES, &fails, 1, 2);
    assert_odd(&judged, DIVERGENCE_COMPILE_ERROR, 1, "0/0", 40,
               "fails to compile 0/0: MemoryError: no room");
    assert_int_equal(judged.found.waits.v[1].state, WAIT_FAILED);
    assert_int_equal(judged.found.waits.v[0].state, WAIT_COLLECTIVE);
    release(&judged);
}

/* What is the same on all ranks is no divergence. */
static void test_all_fail(void **state)
{
    (void)state;
    const struct report_options options = { 0 };
    struct made_compile fails = REDUCES, open = REDUCES;
    struct buf text = BUF_INIT;
    fails.fails = true;
    open.took_ms = 0;
    struct judged judged = judge_odd(&fails, &fails, 1, 2);
    divergences_text(&judged.found, judged.job, &options, &text);
    assert_str_is(buf_str(&text), "no rank differs: 2 ranks, 1 compile\n2 compiles of all ranks "
                                  "failed; symtape diagnose prints why\n");
    release(&judged);
    judged = judge_odd(&open, &open, 1, 2);
    assert_int_equal(judged.found.list.n, 0);
    buf_release(&text);
    release(&judged);
}

static void test_break(void **state)
{
    (void)state;
    struct made_compile broken = REDUCES;
    broken.breaks = "Graph break in user code at /home/u/d/m.py:6\nGraph Break Reason: print\n"
                    "User code traceback:\n  File \"/home/u/d/m.py\", line 6, in f\n    print(x)\n";
    struct judged judged = judge_odd(&REDUCES, &broken, 0, 2);
    assert_odd(&judged, DIVERGENCE_GRAPH_BREAK, 0, "0/0", 6, "breaks the graph in 0/0: print");
    release(&judged);
}

/* A function that one rank alone compiles moves the ids of those behind it. */
static void test_ids(void **state)
{
    (void)state;
    struct made_compile moved = REDUCES;
    moved.id = "1, 0";
    const struct made_compile two[] = { { "0, 0", 30, .took_ms = 10 }, moved };
    const struct made_compile *ranks[] = { two, &REDUCES, &REDUCES };
    const size_t counts[] = { 2, 1, 1 };
    struct judged judged = judge(ranks, counts, 3);
    assert_int_equal(judged.found.list.n, 0);
    assert_int_equal(judged.job->n_steps, 2);
    release(&judged);
}

static void test_function_left_out(void **state)
{
    (void)state;
    struct made_compile other = REDUCES;
    other.id = "1, 0";
    other.line = 30;
    const struct made_compile two[] = { REDUCES, other }, turned[] = { other, REDUCES };
    const struct made_compile *ranks[] = { two, &REDUCES, two };
    size_t counts[] = { 2, 1, 2 };
    struct judged judged = judge(ranks, counts, 3);
    assert_odd(&judged, DIVERGENCE_MISSING, 1, NULL, 5,
               "leaves out all_reduce in 1/0, which the others call");
    release(&judged);
    ranks[1] = turned;
    counts[1] = 2;
    judged = judge(ranks, counts, 3);
    assert_odd(&judged, DIVERGENCE_ORDER, 1, "1/0", 40,
               "comes to the collectives of 1/0 in another order than the others");
    release(&judged);
}

/* ---- Inputs, caches, times ---- */

static void test_numbers(void **state)
{
    (void)state;
    struct made_compile any = REDUCES, only = REDUCES;
    any.symbol = "L['step']";
    only.constant = "L['step']";
    struct judged judged = judge_odd(&any, &only, 1, 2);
    assert_odd(&judged, DIVERGENCE_INT_SPECIALISED, 1, "0/0", 0,
               "compiles 0/0 for L['step'] = 5 only, the other for any");
    release(&judged);
    only.constant = NULL;
    only.guard = "L['step'] == 7  # if step == 7:  # d/m.py:8 in f";
    judged = judge_odd(&only, &any, 1, 2);
    assert_odd(&judged, DIVERGENCE_INT_SPECIALISED, 0, "0/0", 8,
               "compiles 0/0 for L['step'] = 7 only, the other for any");
    release(&judged);
}

static void test_inputs(void **state)
{
    (void)state;
    struct made_compile a = REDUCES, b = REDUCES;
    a.inputs = "x: \"f32[8, 4][4, 1]cpu\", L_m_parameters_w_: \"f32[4][1]cpu\"";
    b.inputs = "x: \"f32[11, 4][4, 1]cpu\", L_m_parameters_w_: \"f32[4][1]cpu\"";
    struct judged judged = judge_odd(&a, &b, 1, 2);
    assert_odd(&judged, DIVERGENCE_INPUT_SIZE, 1, "0/0", 40,
               "compiles 0/0 for x of [11, 4], the other for [8, 4]");
    release(&judged);
    b.inputs = "x: \"f32[11, 4][4, 1]cpu\", L_m_parameters_w_: \"f32[6][1]cpu\"";
    judged = judge_odd(&a, &b, 1, 2); /* another part of the model */
    assert_int_equal(judged.found.list.n, 0);
    release(&judged);
    b.inputs = a.inputs;
    b.dynamo = LINE(5) NOTHING;
    judged = judge_odd(&a, &b, 1, 2);
    assert_int_equal(judged.found.list.n, 0);
    assert_int_equal(judged.found.n_graphs, 1);
    release(&judged);
}

/* Each stage of a pipeline has another graph on one of its ranks: one compile id differs. */
static void test_graphs_of_stages(void **state)
{
    (void)state;
    struct made_compile send = REDUCES, receive = REDUCES;
    send.dynamo = PEER("isend", "1");
    receive.dynamo = PEER("irecv", "0");
    struct made_compile other_send = send, other_receive = receive;
    other_send.dynamo = PEER("isend", "1") NOTHING;
    other_receive.dynamo = PEER("irecv", "0") NOTHING;
    const struct made_compile *ranks[] = { &send, &receive, &other_send, &other_receive };
    const size_t counts[] = { 1, 1, 1, 1 };
    struct judged judged = judge(ranks, counts, 4);
    assert_int_equal(judged.found.n_graphs, 1);
    release(&judged);
}

static void test_caches(void **state)
{
    (void)state;
    struct made_compile hit = REDUCES, miss = REDUCES;
    hit.cache = "hit";
    miss.cache = "miss";
    hit.took_ms = 1500;
    struct judged judged = judge_odd(&hit, &miss, 1, 2);
    assert_odd(&judged, DIVERGENCE_CACHE, 1, "0/0", 40,
               "misses the FX graph cache in 0/0, the other hits");
    release(&judged);
    hit.took_ms = 2500; /* what the other one has compiled by then */
    judged = judge_odd(&hit, &miss, 1, 2);
    assert_int_equal(judged.found.list.n, 0);
    release(&judged);
}

static void test_slow(void **state)
{
    (void)state;
    struct made_compile slow = REDUCES;
    slow.took_ms = 3500;
    struct judged judged = judge_odd(&REDUCES, &slow, 2, 4);
    assert_odd(&judged, DIVERGENCE_SLOW, 2, "0/0", 40,
               "compiles for 3.50 s, half of the others for at most 2.00 s");
    assert_int_equal(judged.found.stragglers.n, 1);
    assert_int_equal(judged.found.stragglers.v[0].median_ns, 2000000000);
    release(&judged);
    slow.took_ms = 2700; /* within noise */
    judged = judge_odd(&REDUCES, &slow, 2, 4);
    assert_int_equal(judged.found.list.n, 0);
    release(&judged);
}

/* No compile of rank 2 is slow by itself, the sum of all is. */
static void test_slow_in_sum(void **state)
{
    (void)state;
    enum { COMPILES = 6 };
    struct made_compile usual[COMPILES], slow[COMPILES];
    static const char *const ids[COMPILES] = { "0, 0", "1, 0", "2, 0", "3, 0", "4, 0", "5, 0" };
    for (unsigned i = 0; i < COMPILES; i++) {
        usual[i] = (struct made_compile){ ids[i], 3 + i, .took_ms = 500 };
        slow[i] = (struct made_compile){ ids[i], 3 + i, .took_ms = i == 4 ? 850 : 800 };
    }
    const struct made_compile *ranks[] = { usual, usual, slow, usual };
    const size_t counts[] = { COMPILES, COMPILES, COMPILES, COMPILES };
    struct judged judged = judge(ranks, counts, 4);
    assert_odd(&judged, DIVERGENCE_SLOW, 2, "4/0", 40,
               "compiles for 4.85 s, half of the others for at most 3.00 s");
    release(&judged);
}

/* ---- Failures and reports ---- */

static bool attempt_all(void *arg)
{
    struct trace **traces = arg;
    struct err err = ERR_INIT;
    struct divergences found = { 0 };
    struct buf text = BUF_INIT, json = BUF_INIT;
    const struct report_options options = { 0 };
    struct job *job = job_new(&err);
    bool ok = job && job_add(job, traces[0], &err) && job_add(job, traces[1], &err) &&
              job_finish(job, &err) && steps_make(job, &err) && divergences_find(&found, job, &err);
    if (ok) {
        divergences_text(&found, job, &options, &text);
        divergences_json(&found, job, &json);
        ok = !text.failed && !json.failed;
    }
    buf_release(&text);
    buf_release(&json);
    divergences_release(&found);
    job_free(job);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct made_compile full = REDUCES, other = with_aot(NOTHING);
    full.symbol = "L['n']";
    full.cache = "hit";
    other.fails = true;
    other.breaks = "Graph break in user code at /home/u/d/m.py:6\nGraph Break Reason: print\n";
    struct trace *traces[] = { make_rank(0, &full, 1), make_rank(1, &other, 1) };
    check_alloc_failures(attempt_all, traces);
    trace_close(traces[0]);
    trace_close(traces[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same),
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_extra),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_groups),
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_recompile),
        cmocka_unit_test(test_hang),
        cmocka_unit_test(test_failure),
        cmocka_unit_test(test_all_fail),
        cmocka_unit_test(test_break),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_function_left_out),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_caches),
        cmocka_unit_test(test_slow),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_slow_in_sum),
        cmocka_unit_test(test_graphs_of_stages),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

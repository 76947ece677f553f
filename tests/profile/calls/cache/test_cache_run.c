#include "profile/calls/cache/cache_run.h"
#include "profile/calls/cache/written_calls.h"
#include "tests/log_make.h"

enum { ENTRIES = 6, CALLS = 400 };

/* An entry of a module's forward: sizes of two inputs, an attribute, and which object a global is.
 */
static void put_tree(struct buf *out, unsigned rows, unsigned columns, unsigned n)
{
    buf_printf(
        out,
        "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- GLOBAL_STATE: ___check_global_state()\n"
        "| +- GuardManager: source=L['self'], accessed_by=FrameLocalsGuardAccessor\n"
        "| | +- EQUALS_MATCH: L['self'].n == %u  # n\n"
        "| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor\n"
        "| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU, BackendSelect, "
        "ADInplaceOrView, AutogradCPU), torch.float32, device=None, requires_grad=False, "
        "size=[%u], stride=[1])  # x\n"
        "| | +- NO_TENSOR_ALIASING: check_no_aliasing(L['x'], L['y'])  # x\n"
        "| +- GuardManager: source=L['y'], accessed_by=FrameLocalsGuardAccessor\n"
        "| | +- TENSOR_MATCH: check_tensor(L['y'], Tensor, DispatchKeySet(CPU, BackendSelect, "
        "ADInplaceOrView, AutogradCPU), torch.float32, device=None, requires_grad=False, "
        "size=[%u], stride=[1])  # y\n"
        "| | +- NO_TENSOR_ALIASING: check_no_aliasing(L['x'], L['y'])  # x\n"
        "| +- GuardManager: source=G['act'], accessed_by=GlobalsGuardAccessor\n"
        "| | +- ID_MATCH: ___check_obj_id(G['act'], 1)  # act\n",
        n, rows, columns);
}

static struct trace *make_trace(unsigned (*draw)(void *, unsigned), void *state)
{
    struct log_make log = log_start();
    for (unsigned i = 0; i < ENTRIES; i++) {
        struct buf tree = BUF_INIT, where = BUF_INIT;
        put_tree(&tree, draw(state, 3), draw(state, 3), draw(state, 2));
        buf_putc(&tree, 0);
        buf_printf(&where, "\"frame_id\": 0, \"frame_compile_id\": %u, \"attempt\": 0", i);
        buf_putc(&where, 0);
        log.context = where.p;
        log_put(&log, "\"dynamo_start\": {}", NULL);
        log_put(&log, "\"dynamo_cpp_guards_str\": {}", tree.p);
        log_artifact(
            &log, "fx_graph_cache_miss",
            i == 0   ? "{\"key\": \"k0\", \"components\": [\"[a] gm: f()\", \"[b] x[0]: 4\"]}"
            : i == 1 ? "{\"key\": \"k1\", \"cache_status_detailed\": \"full_miss\", "
                       "\"components\": [\"[a] gm: f()\", \"[c] x[0]: 6\", \"no component\"]}"
                     : "not JSON");
        buf_release(&tree);
        buf_release(&where);
    }
    return log_open(&log);
}

static void put_calls(struct buf *out, unsigned (*draw)(void *, unsigned), void *state)
{
    for (unsigned i = 0; i < CALLS; i++) {
        buf_printf(out, "{\"call\": %u, \"function\": \"Net.forward\", \"module\": %u, \"args\": [",
                   i, draw(state, 3));
        unsigned x = 10 * i, y = draw(state, 8) ? x + 1 : x;
        buf_printf(
            out,
            "{\"source\": \"L['x']\", \"obj\": %u, \"size\": [%u], \"stride\": [1], \"dtype\": "
            "\"torch.float32\", \"device\": \"cpu\"}, {\"source\": \"L['y']\", \"obj\": %u, "
            "\"size\": [%u], \"stride\": [1], \"dtype\": \"torch.float32\", \"device\": "
            "\"cpu\"}], ",
            x, draw(state, 3), y, draw(state, 3));
        buf_printf(out,
                   "\"state\": [{\"source\": \"G['act']\", \"type\": \"function\", \"obj\": %u}], "
                   "\"mode\": {\"grad\": %s, \"inference\": %s}, \"seconds\": %u}\n",
                   draw(state, 20) ? 1 : 5, draw(state, 9) ? "true" : "false",
                   draw(state, 9) ? "false" : "true", i);
    }
}

static unsigned draw(void *state, unsigned n)
{
    uint64_t *x = state;
    *x = *x * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*x >> 33) % n;
}

static void assert_same(const struct cache_run *a, const struct cache_run *b)
{
    assert_int_equal(a->lookups.n, b->lookups.n);
    assert_int_equal(a->calls.hits, b->calls.hits);
    assert_int_equal(a->n_contradictions, b->n_contradictions);
    for (size_t i = 0; i < a->lookups.n; i++) {
        const struct lookup_row *x = &a->lookups.v[i], *y = &b->lookups.v[i];
        assert_int_equal(x->outcome, y->outcome);
        assert_int_equal(x->answered, y->answered);
        assert_int_equal(x->n_checks, y->n_checks);
        for (uint32_t k = 0; k < x->n_checks; k++) {
            const struct entry_check_row *p = lookup_check(a, x, k), *q = lookup_check(b, y, k);
            assert_int_equal(p->entry, q->entry);
            assert_int_equal(p->verdict, q->verdict);
            assert_true(str_eq(p->reason, q->reason) && str_eq(p->source, q->source));
        }
    }
    for (size_t i = 0; i < a->codes.v[0].order.n; i++)
        assert_int_equal(a->codes.v[0].order.v[i], b->codes.v[0].order.v[i]);
}

/* Random calls find the same with the memo and without it. */
static void test_memo(void **state)
{
    (void)state;
    uint32_t hits = 0, outcomes = 0;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct err err = ERR_INIT;
        struct buf lines = BUF_INIT;
        struct call_log log = { 0 };
        struct cache_run with = { 0 }, without = { 0 };
        uint64_t random = seed;
        struct trace *trace = make_trace(draw, &random);
        put_calls(&lines, draw, &random);
        assert_true(call_log_read(&log, buf_str(&lines), &err));
        assert_true(log.n_forms < CALLS);
        struct cache_options options = { .all_checks = seed % 2 };
        assert_true(cache_run_make(&with, trace, 0, &log, &options, &err));
        options.no_memo = true;
        assert_true(cache_run_make(&without, trace, 0, &log, &options, &err));
        assert_same(&with, &without);
        hits += with.calls.hits;
        outcomes += with.calls.compiles;
        cache_run_release(&with);
        cache_run_release(&without);
        call_log_release(&log);
        trace_close(trace);
        buf_release(&lines);
    }
    assert_true(hits > 100 && outcomes > 100);
}

/* A recording with a compile whose backward was compiled when it first ran, and calls of it. */
static struct trace *make_backward(void)
{
    struct log_make make = log_start();
    make.context = "\"frame_id\": 0, \"frame_compile_id\": 0, \"attempt\": 0";
    log_put(&make, "\"dynamo_start\": {}", NULL);
    log_put(&make, "\"dynamo_cpp_guards_str\": {}",
            "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- EQUALS_MATCH: L['n'] == 1  # n");
    log_put(&make,
            "\"compilation_metrics\": {\"compile_id\": \"0/0\", \"co_name\": \"f\", "
            "\"co_filename\": \"a.py\", \"co_firstlineno\": 1}",
            NULL);
    log_put(&make, "\"bwd_compilation_metrics\": {\"compile_id\": \"0/0\", \"duration_us\": 3000}",
            NULL);
    return log_open(&make);
}

static const char BACKWARDS[] =
    "{\"call\": 0, \"function\": \"f\"}\n"
    "{\"call\": 1, \"function\": \"backward\", \"backward_of\": 0}\n"
    "{\"call\": 2, \"function\": \"f\"}\n"
    "{\"call\": 3, \"function\": \"f\", \"frames\": [{\"code\": \"a.py:1:f\", \"args\": []}]}\n"
    "{\"call\": 4, \"function\": \"backward\", \"backward_of\": 2}\n"
    "{\"call\": 5, \"function\": \"backward\", \"backward_of\": 3}\n"
    "{\"call\": 6, \"function\": \"backward\", \"backward_of\": 9}\n"
    "{\"call\": 7, \"function\": \"backward\", \"backward_of\": 3, \"look\": 1}\n"
    "{\"call\": 8, \"function\": \"backward\", \"backward_of\": 3, \"look\": 2}\n";

static void test_backward(void **state)
{
    (void)state;
    static const enum lookup_outcome EXPECTED[] = { LOOKUP_COMPILED, LOOKUP_HIT, LOOKUP_UNKNOWN,
                                                    LOOKUP_UNKNOWN,  LOOKUP_HIT, LOOKUP_UNKNOWN };
    struct err err = ERR_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct trace *trace = make_backward();
    assert_true(call_log_read(&log, str_of(BACKWARDS), &err));
    assert_true(cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err));
    assert_int_equal(run.backwards.n, 6);
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(run.backwards.v[i].outcome, EXPECTED[i]);
    assert_int_equal(run.backwards.v[0].entry, 0);
    assert_true(run.backwards.v[0].seconds > 0.0029 && run.backwards.v[0].seconds < 0.0031);
    assert_true(run.backwards.v[1].seconds == 0);
    assert_int_equal(run.backward.compiles, 1);
    assert_int_equal(run.backward.unknown, 3);
    cache_run_release(&run);
    call_log_release(&log);
    trace_close(trace);
}

static bool attempt_backward(void *arg)
{
    struct trace *trace = arg;
    struct err err = ERR_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    bool ok = call_log_read(&log, str_of(BACKWARDS), &err);
    if (ok) {
        ok = cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err);
        cache_run_release(&run);
    }
    call_log_release(&log);
    return ok;
}

static void test_backward_memory(void **state)
{
    (void)state;
    struct trace *trace = make_backward();
    check_alloc_failures(attempt_backward, trace);
    trace_close(trace);
}

/* Functions of one name are the code objects of that name in the order in which they compile; one
 * whose name the tape does not have is what is left. */
static void test_codes(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "f", "g", "f", "h" };
    static const uint32_t EXPECTED[] = { 0, 0, 1, 2, 3, CALL_NONE };
    struct err err = ERR_INIT;
    struct log_make make = log_start();
    for (unsigned i = 0; i < 4; i++) {
        struct buf where = BUF_INIT, metrics = BUF_INIT;
        buf_printf(&where, "\"frame_id\": %u, \"frame_compile_id\": 0, \"attempt\": 0%c", i, 0);
        buf_printf(&metrics,
                   "\"compilation_metrics\": {\"compile_id\": \"%u/0\", \"co_name\": \"%s\", "
                   "\"co_filename\": \"a.py\", \"co_firstlineno\": %u}%c",
                   i, NAMES[i], i, 0);
        make.context = where.p;
        log_put(&make, "\"dynamo_start\": {}", NULL);
        log_put(&make, "\"dynamo_cpp_guards_str\": {}",
                "TREE_GUARD_MANAGER:\n+- RootGuardManager\n| +- EQUALS_MATCH: L['n'] == 1  # n");
        log_put(&make, metrics.p, NULL);
        buf_release(&where);
        buf_release(&metrics);
    }
    struct trace *trace = log_open(&make);
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    assert_true(call_log_read(&log,
                              STR("{\"call\": 0, \"function\": \"A.f\"}\n"
                                  "{\"call\": 1, \"function\": \"A.f\"}\n"
                                  "{\"call\": 2, \"function\": \"g\"}\n"
                                  "{\"call\": 3, \"function\": \"B.f\"}\n"
                                  "{\"call\": 4, \"function\": \"other\"}\n"
                                  "{\"call\": 5, \"function\": \"none\"}\n"),
                              &err));
    assert_true(cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err));
    for (uint32_t i = 0; i < 6; i++)
        assert_int_equal(run.lookups.v[i].code, EXPECTED[i]);
    cache_run_release(&run);
    call_log_release(&log);
    trace_close(trace);
}

static struct trace *make_numbers(unsigned n, unsigned step)
{
    struct log_make make = log_start();
    for (unsigned i = 0; i < n; i++) {
        struct buf where = BUF_INIT, tree = BUF_INIT;
        buf_printf(&where, "\"frame_id\": 0, \"frame_compile_id\": %u, \"attempt\": 0%c", i, 0);
        buf_printf(&tree,
                   "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
                   "| +- GuardManager: source=L['k'], accessed_by=FrameLocalsGuardAccessor\n"
                   "| | +- EQUALS_MATCH: L['k'] == %u%c",
                   i * step, 0);
        make.context = where.p;
        log_put(&make, "\"dynamo_start\": {}", NULL);
        log_put(&make, "\"dynamo_cpp_guards_str\": {}", tree.p);
        buf_release(&where);
        buf_release(&tree);
    }
    return log_open(&make);
}

/* Calls in another order use each compile once, from the next on. A call whose compile stands
 * before it has an entry that is assumed. */
static void test_other_order(void **state)
{
    (void)state;
    static const unsigned CALLED[] = { 2, 4, 3, 0, 4, 1, 0 };
    static const char *const COMPILES[] = { "0/0?", "0/4", "0/3", "0/1?", "0/4", "0/2?", "0/1?" };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct trace *trace = make_numbers(5, 1);
    for (uint32_t i = 0; i < 7; i++)
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"args\": [{\"source\": \"L['k']\", "
                   "\"type\": \"int\", \"value\": %u}]}\n",
                   i, CALLED[i]);
    assert_true(call_log_read(&log, buf_str(&lines), &err));
    assert_true(cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err));
    for (uint32_t i = 0; i < 7; i++) {
        assert_int_equal(run.lookups.v[i].outcome, i == 4 || i == 6 ? LOOKUP_HIT : LOOKUP_COMPILED);
        assert_str_is(run.entries.v[run.lookups.v[i].answered].compile, COMPILES[i]);
    }
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    trace_close(trace);
}

/* Each of 1,000 calls in reverse order finds its compile, but the first and the last: the entry of
 * the first call is assumed, from the first compile. */
static void test_reverse_order(void **state)
{
    (void)state;
    enum { N = 1000 };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct trace *trace = make_numbers(N, 1);
    for (unsigned i = 0; i < N; i++)
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"args\": [{\"source\": \"L['k']\", "
                   "\"type\": \"int\", \"value\": %u}]}\n",
                   i, N - 1 - i);
    assert_true(call_log_read(&log, buf_str(&lines), &err));
    const struct cache_options options = { .limits = { 2 * N, 2 * N }, .what_if = true };
    assert_true(cache_run_make(&run, trace, 0, &log, &options, &err));
    assert_int_equal(run.calls.unknown, 0);
    for (unsigned i = 1; i < N - 1; i++) {
        struct buf expected = BUF_INIT;
        buf_printf(&expected, "0/%u", N - 1 - i);
        assert_true(str_eq(run.entries.v[run.lookups.v[i].answered].compile, buf_str(&expected)));
        buf_release(&expected);
    }
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    trace_close(trace);
}

/* An entry answers calls with its own backend, and those of which none is told. */
static void test_backends(void **state)
{
    (void)state;
    static const char *const BACKENDS[] = { "eager", "aot", "eager", "aot", "", "eager" };
    static const uint32_t ANSWERED[] = { 0, 1, 0, 1, 1, 0 };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct trace *trace = make_numbers(2, 0);
    for (uint32_t i = 0; i < 6; i++)
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"backend\": \"%s\", \"args\": "
                   "[{\"source\": \"L['k']\", \"type\": \"int\", \"value\": 0}]}\n",
                   i, BACKENDS[i]);
    assert_true(call_log_read(&log, buf_str(&lines), &err));
    assert_true(cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err));
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(run.lookups.v[i].outcome, i < 2 ? LOOKUP_COMPILED : LOOKUP_HIT);
        assert_int_equal(run.lookups.v[i].answered, ANSWERED[i]);
    }
    assert_true(str_starts(lookup_check(&run, &run.lookups.v[1], 0)->reason, STR("BACKEND_MATCH")));
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    trace_close(trace);
}

/* After a reset, no entry is there and limits begin anew. 0/0 is another compile then; where only
 * the entries were forgotten, the compile ids go on. */
static void test_resets(void **state)
{
    (void)state;
    static const struct {
        unsigned resets, generation, k;
        enum lookup_outcome outcome;
        const char *compile;
    } calls[] = {
        { 0, 0, 0, LOOKUP_COMPILED, "0/0" },   { 0, 0, 0, LOOKUP_HIT, "0/0" },
        { 0, 0, 7, LOOKUP_EAGER, NULL },       { 0, 0, 8, LOOKUP_EAGER, NULL },
        { 2, 1, 0, LOOKUP_COMPILED, "0/0.1" }, { 2, 1, 1, LOOKUP_COMPILED, "0/1.1" },
        { 2, 1, 0, LOOKUP_HIT, "0/0.1" },      { 3, 1, 2, LOOKUP_COMPILED, "0/2.1" },
        { 3, 1, 2, LOOKUP_HIT, "0/2.1" },
    };
    static const unsigned IDS[] = { 0, 1, 0, 1, 2 };
    enum { CALLS_MADE = sizeof calls / sizeof *calls };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct log_make make = log_start();
    for (unsigned i = 0; i < 5; i++) {
        struct buf where = BUF_INIT, tree = BUF_INIT;
        buf_printf(&where, "\"frame_id\": 0, \"frame_compile_id\": %u, \"attempt\": 0%c", IDS[i],
                   0);
        buf_printf(&tree,
                   "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
                   "| +- GuardManager: source=L['k'], accessed_by=FrameLocalsGuardAccessor\n"
                   "| | +- EQUALS_MATCH: L['k'] == %u%c",
                   IDS[i], 0);
        make.context = where.p;
        log_put(&make, "\"dynamo_start\": {}", NULL);
        if (i == 1)
            log_put(&make,
                    "\"compilation_metrics\": {\"compile_id\": \"0/1\", \"fail_type\": "
                    "\"RecompileLimitExceeded\", \"fail_reason\": \"Dynamo recompile limit "
                    "exceeded\"}",
                    NULL);
        else
            log_put(&make, "\"dynamo_cpp_guards_str\": {}", tree.p);
        buf_release(&tree);
        buf_release(&where);
    }
    struct trace *trace = log_open(&make);
    for (unsigned i = 0; i < CALLS_MADE; i++)
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"resets\": %u, \"generation\": %u, "
                   "\"args\": [{\"source\": \"L['k']\", \"type\": \"int\", \"value\": %u}]}\n",
                   i, calls[i].resets, calls[i].generation, calls[i].k);
    assert_true(call_log_read(&log, buf_str(&lines), &err));
    assert_true(cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err));
    for (unsigned i = 0; i < CALLS_MADE; i++) {
        const struct lookup_row *row = &run.lookups.v[i];
        assert_int_equal(row->outcome, calls[i].outcome);
        if (calls[i].compile)
            assert_true(str_is(run.entries.v[row->answered].compile, calls[i].compile));
    }
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    trace_close(trace);
}

/* A stance decides what becomes of a call that no entry answers. */
static void test_stances(void **state)
{
    (void)state;
    static const struct {
        const char *stance;
        unsigned k;
        enum lookup_outcome outcome;
    } calls[] = {
        { "", 0, LOOKUP_COMPILED },
        { "force_eager", 0, LOOKUP_EAGER },
        { "eager_on_recompile", 1, LOOKUP_EAGER },
        { "eager_on_recompile", 0, LOOKUP_HIT },
        { "fail_on_recompile", 1, LOOKUP_EAGER },
        { "eager_then_compile", 0, LOOKUP_HIT },
        { "eager_then_compile", 1, LOOKUP_EAGER },
        { "eager_then_compile", 1, LOOKUP_COMPILED },
        { "a later one", 2, LOOKUP_COMPILED },
    };
    enum { CALLS_MADE = sizeof calls / sizeof *calls };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct trace *trace = make_numbers(3, 1);
    for (unsigned i = 0; i < CALLS_MADE; i++)
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"stance\": \"%s\", \"args\": "
                   "[{\"source\": \"L['k']\", \"type\": \"int\", \"value\": %u}]}\n",
                   i, calls[i].stance, calls[i].k);
    assert_true(call_log_read(&log, buf_str(&lines), &err));
    assert_true(cache_run_make(&run, trace, 0, &log, &(struct cache_options){ 0 }, &err));
    for (unsigned i = 0; i < CALLS_MADE; i++) {
        assert_int_equal(run.lookups.v[i].outcome, calls[i].outcome);
        assert_int_equal(run.lookups.v[i].answered == CALL_NONE, calls[i].outcome == LOOKUP_EAGER);
    }
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    trace_close(trace);
}

/* Each region has a limit of its own. */
static void test_regions(void **state)
{
    (void)state;
    enum { REGIONS = 300 };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct trace *trace = make_numbers(1, 1);
    for (uint32_t i = 0; i < 3 * REGIONS; i++)
        buf_printf(&lines,
                   "{\"call\": %u, \"function\": \"f\", \"region\": %u, \"args\": [{\"source\": "
                   "\"L['k']\", \"type\": \"int\", \"value\": %u}]}\n",
                   i, i % REGIONS, i / REGIONS);
    assert_true(call_log_read(&log, buf_str(&lines), &err));
    const struct cache_options options = { .limits = { 1, REGIONS }, .what_if = true };
    assert_true(cache_run_make(&run, trace, 0, &log, &options, &err));
    for (uint32_t i = 0; i < 3 * REGIONS; i++) {
        const struct lookup_row *row = &run.lookups.v[i];
        assert_int_equal(row->outcome, i < REGIONS ? LOOKUP_COMPILED : LOOKUP_EAGER);
        assert_int_equal(row->limit != NULL, i / REGIONS == 1);
    }
    assert_int_equal(run.calls.eager, 2 * REGIONS);
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    trace_close(trace);
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct call_log log = { 0 };
    struct cache_run run = { 0 };
    struct buf lines = BUF_INIT;
    uint64_t random = 7;
    put_calls(&lines, draw, &random);
    lines.n = lines.failed ? 0 : str_find(buf_str(&lines), STR("{\"call\": 12,"));
    bool ok = !lines.failed && call_log_read(&log, buf_str(&lines), &err) &&
              cache_run_make(&run, arg, 0, &log, &(struct cache_options){ 0 }, &err);
    assert_true(ok || lines.failed || err.kind == ERR_ENV);
    cache_run_release(&run);
    call_log_release(&log);
    buf_release(&lines);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    uint64_t random = 3;
    struct trace *trace = make_trace(draw, &random);
    check_alloc_failures(attempt, trace);
    trace_close(trace);
}

/* Keys of artifacts are explained by the components that the compile before did not have. */
static void test_artifacts(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct artifact_lookups lookups = { 0 };
    uint64_t random = 3;
    struct trace *trace = make_trace(draw, &random);
    assert_true(artifact_lookups_read(&lookups, trace, 0, &err));
    assert_true(lookups.rows.n >= 2);
    assert_str_is(lookups.rows.v[0].compile, "0/0");
    assert_str_is(lookups.rows.v[0].differs, "");
    assert_int_equal(lookups.rows.v[1].state, CACHE_MISS);
    assert_str_is(lookups.rows.v[1].key, "k1");
    assert_str_is(lookups.rows.v[1].detail, "full_miss");
    assert_str_is(lookups.rows.v[1].differs, "x[0]");
    artifact_lookups_release(&lookups);
    trace_close(trace);
}

static bool read_artifacts(void *arg)
{
    struct err err = ERR_INIT;
    struct artifact_lookups lookups = { 0 };
    bool ok = artifact_lookups_read(&lookups, arg, 0, &err);
    assert_true(ok || err.kind == ERR_ENV);
    if (ok)
        assert_str_is(lookups.rows.v[1].differs, "x[0]");
    artifact_lookups_release(&lookups);
    return ok;
}

static void test_artifacts_memory(void **state)
{
    (void)state;
    uint64_t random = 3;
    struct trace *trace = make_trace(draw, &random);
    check_alloc_failures(read_artifacts, trace);
    trace_close(trace);
}

static bool write_calls(void *arg)
{
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    bool ok = written_calls_read(arg, 0, STR("L['x'].size()[0]=1,2; L[\"self\"].n = 3,4,'a;b'"),
                                 &lines, &err);
    assert_true(ok || err.kind == ERR_ENV);
    if (ok) {
        struct call_log log = { 0 };
        bool read = call_log_read(&log, buf_str(&lines), &err);
        assert_true(read || err.kind == ERR_ENV);
        if (read) {
            assert_int_equal(log.calls.n, 3);
            const struct call_value *values = log.calls.v[2].values;
            assert_int_equal(values[0].value.tensor->sizes[0], 2);
            assert_str_is(values[0].value.tensor->dtype, "torch.float32");
            assert_str_is(values[1].value.text, "a;b");
            assert_int_equal(log.calls.v[1].values[1].value.integer, 4);
        }
        call_log_release(&log);
        ok = read;
    }
    buf_release(&lines);
    return ok;
}

static void test_written(void **state)
{
    (void)state;
    uint64_t random = 3;
    struct trace *trace = make_trace(draw, &random);
    assert_true(write_calls(trace));
    check_alloc_failures(write_calls, trace);
    trace_close(trace);
}

/* Lists of calls have tensors of at most 64 dimensions. */
static void test_written_rank(void **state)
{
    (void)state;
    for (unsigned rank = 64; rank <= 65; rank++) {
        struct err err = ERR_INIT;
        struct buf tree = BUF_INIT, lines = BUF_INIT;
        struct log_make make = log_start();
        buf_puts(&tree, "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
                        "| +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU), "
                        "torch.float32, device=None, requires_grad=False, size=[");
        for (unsigned d = 0; d < rank; d++)
            buf_puts(&tree, d ? ", 2" : "2");
        buf_printf(&tree, "], stride=[])%c", 0);
        log_put(&make, "\"dynamo_start\": {}", NULL);
        log_put(&make, "\"dynamo_cpp_guards_str\": {}", tree.p);
        struct trace *trace = log_open(&make);
        assert_false(written_calls_read(trace, 0, STR("x.size(3)=2"), &lines, &err));
        assert_int_equal(err.kind, rank > 64 ? ERR_INPUT : ERR_USAGE);
        assert_string_equal(err.text, rank > 64 ? "L['x'] has more than 64 dimensions on the tape"
                                                : "L['x'] is too large");
        buf_release(&tree);
        buf_release(&lines);
        trace_close(trace);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backward),    cmocka_unit_test(test_backward_memory),
        cmocka_unit_test(test_memo),        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_other_order), cmocka_unit_test(test_regions),
        cmocka_unit_test(test_backends),    cmocka_unit_test(test_reverse_order),
        cmocka_unit_test(test_artifacts),   cmocka_unit_test(test_artifacts_memory),
        cmocka_unit_test(test_written),     cmocka_unit_test(test_written_rank),
        cmocka_unit_test(test_memory),      cmocka_unit_test(test_resets),
        cmocka_unit_test(test_stances),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

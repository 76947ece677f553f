#include "profile/calls/warm/key_difference.h"
#include "profile/calls/warm/warm_report.h"
#include "tests/log_make.h"

/* ---- Logs ---- */

static void put_look_up(struct log_make *log, const char *state, const char *key, const char *graph,
                        const char *debug, const char *more)
{
    struct buf name = BUF_INIT, payload = BUF_INIT;
    buf_printf(&name, "fx_graph_cache_%s", state);
    buf_putc(&name, 0);
    buf_printf(&payload,
               "{\"key\": \"%s\", \"components\": [\"[h%s] gm: def f():\\n  a\\n  %s\", "
               "\"[g%s] inductor_config[debug]: %s\", \"[b] fx_kwargs[is_backward]: False\"]%s}",
               key, graph, graph, debug, debug, more);
    buf_putc(&payload, 0);
    log_artifact(log, name.p, payload.p);
    buf_release(&name);
    buf_release(&payload);
}

static void put_end(struct log_make *log, const char *function)
{
    struct buf meta = BUF_INIT;
    buf_printf(&meta,
               "\"compilation_metrics\": {\"co_name\": \"%s\", \"co_filename\": \"/u/m.py\", "
               "\"co_firstlineno\": 3, \"entire_frame_compile_time_s\": 2.0}",
               function);
    buf_putc(&meta, 0);
    log_put(log, meta.p, NULL);
    buf_release(&meta);
}

static struct trace *make_cold(void)
{
    struct log_make log = log_start();
    put_look_up(&log, "miss", "k0", "one", "False", ", \"time_taken_ns\": 100");
    put_end(&log, "f");
    log.context = LOG_COMPILE(0, 1, 0);
    put_look_up(&log, "miss", "k1", "two", "False", ", \"time_taken_ns\": 200");
    put_end(&log, "f");
    log.context = LOG_COMPILE(1, 0, 0);
    put_look_up(&log, "miss", "k2", "three", "False", ", \"time_taken_ns\": 300");
    put_end(&log, "g");
    log.context = LOG_COMPILE(2, 0, 0);
    log_artifact(&log, "fx_graph_cache_bypass", "{\"cache_bypass_reason\": \"freezing enabled\"}");
    put_end(&log, "h");
    return log_open(&log);
}

/* The first graph of f is there again, its second one under another setting; the key of g is no
 * longer in the cache; h is bypassed again, and off is called for the first time. */
static struct trace *make_warm(void)
{
    struct log_make log = log_start();
    log.context = LOG_COMPILE(5, 0, 0);
    put_look_up(&log, "miss", "k5", "two", "True", ", \"time_taken_ns\": 250");
    put_end(&log, "f");
    log.context = LOG_COMPILE(5, 1, 0);
    put_look_up(&log, "hit", "k0", "one", "False", ", \"time_saved_ns\": 100");
    log_artifact(&log, "aotautograd_cache_hit", "{\"key\": \"a0\"}");
    put_end(&log, "f");
    log.context = LOG_COMPILE(6, 0, 0);
    put_look_up(&log, "miss", "k2", "three", "False",
                ", \"time_taken_ns\": 400, \"cache_status_detailed\": \"full_miss\"");
    put_end(&log, "g");
    log.context = LOG_COMPILE(7, 0, 0);
    log_phase(&log, 'B', "inductor_compile", "1000", "");
    log_artifact(&log, "fx_graph_cache_bypass", "{\"cache_bypass_reason\": \"freezing enabled\"}");
    log_phase(&log, 'E', "inductor_compile", "1003", ", \"args\": {\"is_backward\": false}");
    put_end(&log, "h");
    log.context = LOG_COMPILE(8, 0, 0);
    log_phase(&log, 'i', "fx_graph_cache_disabled", "1010", "");
    put_end(&log, "off");
    return log_open(&log);
}

static const struct warm_row *row_of(const struct warm_start *w, const char *compile)
{
    for (size_t i = 0; i < w->rows.n; i++)
        if (str_is(w->warm.graphs.v[w->rows.v[i].graph].compile, compile))
            return &w->rows.v[i];
    return NULL;
}

static void assert_row(const struct warm_start *w, const char *compile, enum warm_outcome outcome,
                       enum warm_cause cause, const char *cold, int64_t ns)
{
    const struct warm_row *row = row_of(w, compile);
    assert_non_null(row);
    assert_int_equal(row->outcome, outcome);
    assert_int_equal(row->cause, cause);
    assert_int_equal(row->ns, ns);
    if (cold)
        assert_str_is(w->cold.graphs.v[row->cold].compile, cold);
    else
        assert_int_equal(row->cold, WARM_NONE);
}

static void test_outcomes(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct trace *cold = make_cold(), *warm = make_warm();
    assert_true(warm_start_make(&w, cold, 0, warm, 0, &err));
    assert_int_equal(w.rows.n, 5);
    assert_row(&w, "5/0", WARM_AGAIN, CAUSE_KEY, "0/1", 250);
    assert_row(&w, "5/1", WARM_TAKEN, CAUSE_NONE, "0/0", 100);
    assert_row(&w, "6/0", WARM_AGAIN, CAUSE_ABSENT, "1/0", 400);
    assert_row(&w, "7/0", WARM_AGAIN, CAUSE_BYPASS, "2/0", 3000);
    assert_row(&w, "8/0", WARM_NEW, CAUSE_OFF, NULL, -1);
    assert_int_equal(w.n_unasked, 0);
    assert_int_equal(w.ns[WARM_AGAIN], 3650);
    assert_int_equal(w.warm.compile_ns, 5 * 2000000000ll);
    const struct warm_row *row = row_of(&w, "5/0");
    assert_int_equal(row->n_differ, 1);
    assert_int_equal(row->n_changes, 1);
    const struct key_change *change = &w.changes.v[row->first_change];
    assert_str_is(change->name, "inductor_config[debug]");
    assert_str_is(change->before, "False");
    assert_str_is(change->after, "True");
    assert_true(w.warm.graphs.v[row_of(&w, "5/1")->graph].has_aot);
    assert_false(w.warm.graphs.v[row->graph].has_aot);
    assert_int_equal(w.groups.n, 4);
    warm_start_release(&w);
    trace_close(cold);
    trace_close(warm);
}

static struct trace *make_traced(const char *key)
{
    struct log_make log = log_start();
    struct buf payload = BUF_INIT;
    buf_printf(&payload, "{\"key\": \"%s\", \"cache_status_detailed\": \"full_miss\"}", key);
    buf_putc(&payload, 0);
    log_artifact(&log, "aotautograd_cache_miss", payload.p);
    put_look_up(&log, "hit", "k0", "one", "False", "");
    log_artifact(&log, "put_local_code_state", "L['x']");
    put_end(&log, "f");
    buf_release(&payload);
    return log_open(&log);
}

/* Inductor's part is in the cache; AOTAutograd's is not, under another key or under the same. */
static void test_traced(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct trace *cold = make_traced("a0");
    for (int same = 0; same < 2; same++) {
        struct warm_start w = { 0 };
        struct trace *warm = make_traced(same ? "a0" : "a1");
        assert_true(warm_start_make(&w, cold, 0, warm, 0, &err));
        assert_row(&w, "0/0", WARM_TRACED, same ? CAUSE_ABSENT : CAUSE_UNKNOWN, "0/0", -1);
        assert_true(w.cold.wrote_sizes && !w.cold.read_sizes);
        assert_int_equal(w.cold.counts[CACHE_DYNAMO][CACHE_UNKNOWN], 0);
        warm_start_release(&w);
        trace_close(warm);
    }
    trace_close(cold);
}

/* A start against itself: what it missed is absent, and nothing differs. */
static void test_itself(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct trace *cold = make_cold();
    assert_true(warm_start_make(&w, cold, 0, cold, 0, &err));
    assert_int_equal(w.counts[WARM_AGAIN], 4);
    assert_int_equal(w.changes.n, 0);
    assert_row(&w, "0/1", WARM_AGAIN, CAUSE_ABSENT, "0/1", 200);
    warm_start_release(&w);
    trace_close(cold);
}

/* ---- Keys of chosen components ---- */

static void put_key(struct log_make *log, const char *key, const char *components, unsigned ns)
{
    struct buf payload = BUF_INIT;
    buf_printf(&payload, "{\"key\": \"%s\", \"time_taken_ns\": %u, \"components\": [%s]}", key, ns,
               components);
    buf_putc(&payload, 0);
    log_artifact(log, "fx_graph_cache_miss", payload.p);
    buf_release(&payload);
}

/* A bypassed graph is the bypassed one of the cold start, not the one before it, which the cache
 * has. */
static void test_not_taken(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct log_make log = log_start();
    put_look_up(&log, "miss", "k0", "one", "False", "");
    log.context = LOG_COMPILE(0, 1, 0);
    log_artifact(&log, "fx_graph_cache_bypass", "{}");
    struct trace *cold = log_open(&log);
    log = log_start();
    log_artifact(&log, "fx_graph_cache_bypass", "{}");
    log.context = LOG_COMPILE(0, 1, 0);
    put_look_up(&log, "hit", "k0", "one", "False", "");
    struct trace *warm = log_open(&log);
    assert_true(warm_start_make(&w, cold, 0, warm, 0, &err));
    assert_row(&w, "0/0", WARM_AGAIN, CAUSE_BYPASS, "0/1", -1);
    assert_row(&w, "0/1", WARM_TAKEN, CAUSE_NONE, "0/0", -1);
    warm_start_release(&w);
    trace_close(cold);
    trace_close(warm);
}

/* Compares a key that has a name twice with another key. */
static void compare_twice(const char *components, enum warm_cause cause, uint32_t n_differ,
                          const char *text)
{
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 80 };
    struct log_make log = log_start();
    put_key(&log, "k0", "\"[h] gm: 1\", \"[h] gm: 1\"", 1);
    struct trace *cold = log_open(&log);
    log = log_start();
    put_key(&log, "k1", components, 1);
    struct trace *warm = log_open(&log);
    assert_true(warm_start_make(&w, cold, 0, warm, 0, &err));
    assert_row(&w, "0/0", WARM_AGAIN, cause, "0/0", 1);
    assert_int_equal(w.rows.v[0].n_differ, n_differ);
    assert_int_equal(w.rows.v[0].n_changes, n_differ);
    warm_text(&w, &how, &out);
    assert_true(str_contains(buf_str(&out), str_of(text)));
    buf_release(&out);
    warm_start_release(&w);
    trace_close(cold);
    trace_close(warm);
}

/* A name that a key has twice counts once, and is listed once. */
static void test_name_twice(void **state)
{
    (void)state;
    compare_twice("\"[h] gm: 1\", \"[h] gm: 1\"", CAUSE_UNKNOWN, 0,
                  "what differs in the key is not recorded\n");
    compare_twice("\"[h] gm: 1\"", CAUSE_UNKNOWN, 0, "what differs in the key is not recorded\n");
    compare_twice("\"[h] x: 1\"", CAUSE_KEY, 2, "x differs: (none) -> 1; also gm\n");
}

/* A graph of each of three functions, whose keys have this number in a setting, or the shape. */
static struct trace *make_three(unsigned number)
{
    static const char *const NAMES[] = { "inductor_config[a]: ", "example_inputs[0]: shape=",
                                         "inductor_config[b]: " };
    static const char *const COMPILES[] = { LOG_COMPILE(0, 0, 0), LOG_COMPILE(1, 0, 0),
                                            LOG_COMPILE(2, 0, 0) };
    struct log_make log = log_start();
    struct buf key = BUF_INIT, components = BUF_INIT;
    for (unsigned i = 0; i < 3; i++) {
        log.context = COMPILES[i];
        buf_clear(&key);
        buf_printf(&key, "k%u %u%c", i, number, 0);
        buf_clear(&components);
        buf_printf(&components, "\"[h%u] %s%u\"%c", number, NAMES[i], number, 0);
        put_key(&log, key.p, components.p, 9 - i);
    }
    buf_release(&key);
    buf_release(&components);
    return log_open(&log);
}

static size_t count_text(struct str text, struct str what)
{
    size_t n = 0;
    for (size_t at; (at = str_find(text, what)) < text.n; n++)
        text = str_from(text, at + what.n);
    return n;
}

/* What to change is said once, also where something else stands between two causes. */
static void test_remedies(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 100 };
    struct trace *cold = make_three(1), *warm = make_three(2);
    assert_true(warm_start_make(&w, cold, 0, warm, 0, &err));
    assert_int_equal(w.groups.n, 3);
    warm_text(&w, &how, &out);
    assert_int_equal(count_text(buf_str(&out), STR("start with the same")), 1);
    assert_int_equal(count_text(buf_str(&out), STR("make the sizes")), 1);
    buf_release(&out);
    warm_start_release(&w);
    trace_close(cold);
    trace_close(warm);
}

/* Many graphs that are all compared with one long key: the rest is left out. */
static void test_partial(void **state)
{
    (void)state;
    enum { PARTS = 60000, GRAPHS = 250 };
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct buf text = BUF_INIT;
    const struct report_options how = { .width = 100 };
    for (unsigned i = 0; i < PARTS; i++)
        buf_printf(&text, "%s\"[a] gm: 1\"", i ? ", " : "");
    buf_putc(&text, 0);
    struct log_make log = log_start();
    put_key(&log, "k", text.p, 1);
    struct trace *cold = log_open(&log);
    log = log_start();
    for (unsigned i = 0; i < GRAPHS; i++) {
        buf_clear(&text);
        buf_printf(&text, "k%u%c", i, 0);
        put_key(&log, text.p, "\"[b] gm: 2\"", 1);
    }
    struct trace *warm = log_open(&log);
    assert_true(warm_start_make(&w, cold, 0, warm, 0, &err));
    assert_true(w.partial);
    assert_int_equal(w.rows.n, GRAPHS);
    assert_int_equal(w.rows.v[0].cause, CAUSE_KEY);
    assert_int_equal(w.rows.v[GRAPHS - 1].cause, CAUSE_UNKNOWN);
    assert_int_equal(w.rows.v[GRAPHS - 1].n_changes, 0);
    buf_clear(&text);
    warm_text(&w, &how, &text);
    assert_true(str_contains(buf_str(&text), STR("some keys were not compared")));
    buf_release(&text);
    warm_start_release(&w);
    trace_close(cold);
    trace_close(warm);
}

/* ---- Times ---- */

/* Times beyond what a difference can be, and a sum of them. */
static void test_times(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct log_make log = log_start();
    log_phase(&log, 'B', "inductor_compile", "-9000000000000000", "");
    log_artifact(&log, "fx_graph_cache_miss", "{\"key\": \"k\"}");
    log_phase(&log, 'E', "inductor_compile", "9000000000000000", "");
    struct trace *trace = log_open(&log);
    assert_true(warm_start_make(&w, trace, 0, trace, 0, &err));
    assert_int_equal(w.rows.n, 1);
    assert_int_equal(w.rows.v[0].ns, -1);
    warm_start_release(&w);
    trace_close(trace);
    w = (struct warm_start){ .ns = { [WARM_TRACED] = 3, [WARM_TAKEN] = INT64_MAX } };
    assert_int_equal(warm_start_saved_ns(&w), INT64_MAX);
    w.ns[WARM_TAKEN] = 4;
    assert_int_equal(warm_start_saved_ns(&w), 7);
}

/* ---- Parts that differ ---- */

static void assert_narrowed(const char *before, const char *after, const char *first,
                            const char *second)
{
    struct str a = str_of(before), b = str_of(after);
    key_difference_narrow(&a, &b);
    assert_str_is(a, first);
    assert_str_is(b, second);
}

static void test_narrow(void **state)
{
    (void)state;
    assert_narrowed("64", "32", "64", "32");
    assert_narrowed("a\nb\nc", "a\nd\nc", "b", "d");
    assert_narrowed("a\nb", "a", "b", "");
    assert_narrowed("a\n", "ab", "a", "ab");
    assert_narrowed("M(dtype=x, shape=Size([8, 16]), s=1)", "M(dtype=x, shape=Size([9, 16]), s=1)",
                    "shape=Size([8, 16])", "shape=Size([9, 16])");
    assert_narrowed("M(a=1)", "M(a=1, b=2)", "", "b=2");
    assert_narrowed("", "x", "", "x");
    assert_narrowed("))), a", "))), b", "))), a", "))), b");
    char longer[1000], other[1000];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = 0;
    memcpy(other, longer, sizeof other);
    other[600] = 'y';
    struct str a = str_of(longer), b = str_of(other);
    key_difference_narrow(&a, &b);
    assert_int_equal(a.n, DIFFERENCE_BYTES);
    assert_true(str_find_char(b, 'y') < b.n);
}

/* ---- Reports and memory ---- */

struct both {
    struct trace *cold, *warm;
};

static bool attempt(void *arg)
{
    const struct both *both = arg;
    struct err err = ERR_INIT;
    struct warm_start w = { 0 };
    struct buf out = BUF_INIT;
    const struct report_options how = { .width = 60 };
    bool ok = warm_start_make(&w, both->cold, 0, both->warm, 0, &err);
    assert_true(ok || err.kind == ERR_ENV);
    if (ok) {
        warm_text(&w, &how, &out);
        warm_json(&w, &out);
        ok = !out.failed;
    }
    buf_release(&out);
    warm_start_release(&w);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct both both = { make_cold(), make_warm() };
    check_alloc_failures(attempt, &both);
    trace_close(both.cold);
    trace_close(both.warm);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outcomes),  cmocka_unit_test(test_traced),
        cmocka_unit_test(test_itself),    cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_not_taken), cmocka_unit_test(test_name_twice),
        cmocka_unit_test(test_remedies),  cmocka_unit_test(test_partial),
        cmocka_unit_test(test_times),     cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

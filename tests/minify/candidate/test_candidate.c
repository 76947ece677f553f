/* Candidates: read, printed, measured, hashed; from texts written here and from recordings. */
#include "minify/candidate/candidate.h"

#include "replay/replay.h"

#include "tests/log_make.h"

static const char *const text =
    "# symtape candidate: inference, torch 2.11.0, seed 7\n"
    "# symbol s77 = 8 in [2, int_oo] marked from L['x'].size()[0]\n"
    "# symbol u0 in [0, 100] unbacked\n"
    "# symbol s9 = 3 in [2, int_oo]\n"
    "# guard Ne(Mod(s77, 7), 0) before relu\n"
    "# assert u0 <= 50 before return\n"
    "# guard s9 > 2\n"
    "# guard s77 \x01> 2\n"
    "class f(torch.nn.Module):\n"
    "    def forward(self, x: \"f32[s77, 4][4, 1]cpu\", n: \"Sym(u0)\"):\n"
    "        y = x\n"
    "        sin: \"f32[s77, 4][4, 1]cpu\" = torch.ops.aten.sin.default(y);  y = None\n"
    "        relu: \"f32[s77, 4][4, 1]cpu\" = torch.ops.aten.relu.default(sin);  sin = None\n"
    "        return [(relu, x), None]\n";

static struct candidate *read_text(const char *what)
{
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_read_fx(str_of(what), NULL, &err);
    assert_no_err(&err);
    assert_non_null(ret);
    return ret;
}

static void test_reads(void **state)
{
    (void)state;
    struct candidate *c = read_text(text);
    assert_int_equal(c->kind, GRAPH_INFERENCE);
    assert_str_is(c->torch_version, "2.11.0");
    assert_int_equal(c->seed, 7);
    /* s9 is shown by nothing, and so is the guard on it; the last is no expression. */
    assert_int_equal(c->n_symbols, 2);
    assert_str_is(c->symbols[0].source, "L['x'].size()[0]");
    assert_true(c->symbols[0].marked && c->symbols[0].backed && c->symbols[0].hint == 8);
    assert_true(!c->symbols[1].backed && !c->symbols[1].has_hint && c->symbols[1].max == 100);
    assert_int_equal(c->n_guards, 2);
    assert_str_is(c->guards[0].expr, "Ne(Mod(s77, 7), 0)");
    assert_str_is(c->graph->nodes[c->guards[0].node].name, "relu");
    assert_true(c->guards[1].deferred);
    assert_int_equal(c->graph->nodes[c->guards[1].node].op, NODE_OUTPUT);
    /* The alias is gone and the outputs are flat. */
    assert_int_equal(c->graph->n_nodes, 5);
    assert_int_equal(c->graph->nodes[4].n_args, 2);
    struct cand_size size = candidate_size(c);
    assert_int_equal(size.part[SIZE_CALLS], 2);
    assert_int_equal(size.part[SIZE_GUARDS], 2);
    assert_int_equal(size.part[SIZE_PORTS], 4);
    candidate_free(c);
}

static void assert_same(const struct candidate *a, const struct candidate *b)
{
    struct buf x = BUF_INIT, y = BUF_INIT;
    struct cand_hash p = candidate_hash(a), q = candidate_hash(b);
    struct cand_size m = candidate_size(a), n = candidate_size(b);
    assert_true(candidate_print_fx(a, &x) && candidate_print_fx(b, &y));
    assert_str_eq(buf_str(&x), buf_str(&y));
    assert_true(p.low == q.low && p.high == q.high);
    assert_int_equal(cand_size_compare(&m, &n), 0);
    buf_release(&x);
    buf_release(&y);
}

static void round_trip(const struct candidate *c)
{
    struct err err = ERR_INIT;
    struct buf printed = BUF_INIT;
    assert_true(candidate_print_fx(c, &printed));
    struct candidate *again = candidate_read_fx(buf_str(&printed), NULL, &err);
    assert_no_err(&err);
    assert_same(c, again);
    candidate_free(again);
    buf_release(&printed);
}

static void test_round_trip(void **state)
{
    (void)state;
    struct candidate *c = read_text(text);
    round_trip(c);
    candidate_free(c);
}

/* A recording's version and sources may hold anything; each stays on its line. */
static void test_lines(void **state)
{
    (void)state;
    struct candidate *c = read_text(text);
    struct cand_symbol symbols[2] = { c->symbols[0], c->symbols[1] };
    struct candidate strange = *c;
    struct buf printed = BUF_INIT;
    symbols[0].source = STR("L['a\nclass f():\x1b[2J']");
    strange.symbols = symbols;
    strange.torch_version = STR("2\r\n# guard s77 > 2");
    assert_true(candidate_print_fx(&strange, &printed));
    assert_true(str_starts(buf_str(&printed),
                           STR("# symtape candidate: inference, torch 2 # guard s77 > 2, seed 7\n"
                               "# symbol s77 = 8 in [2, int_oo] marked from "
                               "L['a class f():\\x1b[2J']\n")));
    candidate_free(c);
    buf_release(&printed);
}

/* Names do not matter to the hash, structure does. */
static void test_hash(void **state)
{
    (void)state;
    static const char *const forms[] = {
        "class f(torch.nn.Module):\n    def forward(self, x: \"f32[s1, s2][s2, 1]\"):\n"
        "        a: \"f32[s1, s2][s2, 1]\" = torch.sin(x)\n        return (a,)\n",
        "class g(torch.nn.Module):\n    def forward(self, y: \"f32[s7, s5][s5, 1]\"):\n"
        "        b: \"f32[s7, s5][s5, 1]\" = torch.sin(y)\n        return (b,)\n",
        "class f(torch.nn.Module):\n    def forward(self, x: \"f32[s1, s2][1, s1]\"):\n"
        "        a: \"f32[s1, s2][1, s1]\" = torch.sin(x)\n        return (a,)\n",
        "class f(torch.nn.Module):\n    def forward(self, x: \"f32[s1, s2][s2, 1]\"):\n"
        "        a: \"f32[s1, s2][s2, 1]\" = torch.cos(x)\n        return (a,)\n",
    };
    struct cand_hash hashes[4];
    for (int i = 0; i < 4; i++) {
        struct candidate *c = read_text(forms[i]);
        hashes[i] = candidate_hash(c);
        candidate_free(c);
    }
    assert_true(hashes[0].low == hashes[1].low && hashes[0].high == hashes[1].high);
    assert_true(hashes[0].low != hashes[2].low && hashes[0].low != hashes[3].low);
}

static void test_hints(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct cand_hint hint = { STR("s77"), 31 }, none = { STR("s1"), 2 };
    struct candidate_options options = { &hint, 1 };
    struct candidate *c = candidate_read_fx(str_of(text), &options, &err);
    assert_no_err(&err);
    assert_int_equal(c->symbols[0].hint, 31);
    candidate_free(c);
    options.hints = &none;
    assert_null(candidate_read_fx(str_of(text), &options, &err));
    assert_err(&err, ERR_USAGE, "no symbol s1");
}

static void test_bad(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    assert_null(candidate_read_fx(STR("nothing"), NULL, &err));
    assert_err(&err, ERR_INPUT, "not a graph");
    assert_null(candidate_read_fx(STR("# symbol s1 = x in [2, 3]\nclass f(torch.nn.Module):\n"
                                      "    def forward(self, x):\n        return (x,)\n"),
                                  NULL, &err));
    assert_err(&err, ERR_INPUT, "cannot be read");
}

/* Of a compile that failed: the last call has no result, and nothing is returned. */
static void test_partial(void **state)
{
    (void)state;
    struct candidate *c = read_text("class f(torch.nn.Module):\n"
                                    "    def forward(self, x: \"f32[s1][1]\"):\n"
                                    "        y = torch.ops.aten.view.default(x, [-1, 7])\n");
    assert_int_equal(c->graph->n_nodes, 3);
    assert_int_equal(c->graph->nodes[2].op, NODE_OUTPUT);
    assert_int_equal(c->graph->nodes[2].n_args, 0);
    round_trip(c);
    candidate_free(c);
}

static bool read_once(void *arg)
{
    struct err err = ERR_INIT;
    struct candidate *c = candidate_read_fx(str_of(arg), NULL, &err);
    candidate_free(c);
    return c != NULL;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(read_once, (void *)text);
}

/* Each graph of some recordings: loads, and prints what reads as the same. */
static void check_recording(const char *below)
{
    struct err err = ERR_INIT;
    const char *path = shared_path(below);
    if (!path)
        skip();
    struct trace *trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    const struct graph_list *list = trace_graphs(trace, &err);
    for (uint32_t i = 0; i < list->n; i++) {
        if (!list->refs[i].is_event && list->refs[i].kind != GRAPH_EXPORTED)
            continue;
        struct buf name = BUF_INIT;
        struct selector selector = SELECTOR_ALL;
        selector_print_graph(trace, list, i, &name);
        if (list->refs[i].attempt == TRACE_NONE)
            selector.kind = STR("exported");
        else
            assert_true(selector_parse_part(&selector, buf_str(&name), &err));
        struct candidate *c = candidate_load(trace, &selector, NULL, &err);
        assert_no_err(&err);
        round_trip(c);
        candidate_free(c);
        buf_release(&name);
    }
    trace_close(trace);
}

static void test_recordings(void **state)
{
    (void)state;
    check_recording("failures/constraint_specialized.log.zst");
    check_recording("failures/mod_guard.log.zst");
    check_recording("variety/hop_cond.log.zst");
    check_recording("variety/nested_jagged.log.zst");
    check_recording("exports/moe.pt2");
}

/* What the log shows as 24, since a call made it that, is a symbol before. */
static void test_before_specialization(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = shared_path("failures/constraint_specialized.log.zst");
    if (!path)
        skip();
    struct trace *trace = trace_open(path, NULL, &err);
    struct selector selector;
    assert_true(selector_parse_part(&selector, STR("0/0:forward"), &err));
    struct candidate *c = candidate_load(trace, &selector, NULL, &err);
    assert_no_err(&err);
    assert_int_equal(c->n_symbols, 1);
    assert_str_is(c->symbols[0].name, "s27");
    assert_true(c->symbols[0].marked && c->symbols[0].hint == 24);
    struct buf fx = BUF_INIT;
    assert_true(candidate_print_fx(c, &fx));
    assert_true(str_find(buf_str(&fx), STR("primals_3: \"f32[3, s27, 64]")) < fx.n);
    buf_release(&fx);
    candidate_free(c);
    trace_close(trace);
}

/* A record may list any input; integers cannot require a gradient, as in FX text. */
static void test_listed_gradients(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct log_make log = log_start();
    log_put(&log, "\"aot_inference_graph\": {\"requires_grad\": [\"x\", \"n\", \"y\"]}",
            "class <lambda>(torch.nn.Module):\n"
            "    def forward(self, x: \"i64[4][1]cpu\", n: \"Sym(s5)\", y: \"f32[4][1]cpu\"):"
            "\n"
            "        add: \"f32[4][1]cpu\" = torch.ops.aten.add.Tensor(x, y);  x = y = None"
            "\n"
            "        return (add,)\n");
    struct trace *trace = log_open(&log);
    struct selector selector = SELECTOR_ALL;
    struct candidate_options options = { .gradients = true };
    struct candidate *c = candidate_load(trace, &selector, &options, &err);
    assert_no_err(&err);
    assert_int_equal(candidate_n_gradients(c), 1);
    assert_str_is(c->graph->nodes[2].name, "y");
    assert_true(candidate_requires_grad(c, 2));
    candidate_free(c);
    trace_close(trace);
}

static void test_anonymize(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct candidate *c =
        read_text("# symbol s1 = 8 in [2, int_oo] from L['secret'].size()[0]\n"
                  "class Secret(torch.nn.Module):\n"
                  "    def forward(self, secret: \"f32[s1][1]\"):\n"
                  "        # File: /home/secret/secret.py:3 in secret, code: secret = sin(secret)\n"
                  "        w: \"f32[8][1]\" = self.secret.weight\n"
                  "        secret_1: \"f32[s1][1]\" = torch.ops.aten.div.Tensor_mode(secret, w, "
                  "rounding_mode = 'floor')\n"
                  "        return (secret_1,)\n");
    struct candidate *d = candidate_anonymize(c, NULL, &err);
    assert_no_err(&err);
    struct buf fx = BUF_INIT;
    assert_true(candidate_print_fx(d, &fx));
    assert_true(str_find(buf_str(&fx), STR("ecret")) == fx.n);
    assert_true(str_find(buf_str(&fx), STR("'floor'")) < fx.n);
    assert_true(str_find(buf_str(&fx), STR("f0.py:3")) < fx.n);
    round_trip(d);
    buf_release(&fx);
    candidate_free(d);
    candidate_free(c);
}

/* Strings that mean something to nobody but the user go, names in them too; a text of the user's
 * can follow. */
static void test_anonymize_strings(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct cand_aliases aliases = { 0 };
    struct buf after = BUF_INIT, fx = BUF_INIT;
    struct candidate *c = read_text(
        "class Secret(torch.nn.Module):\n"
        "    def forward(self, secret: \"f32[4, 8][8, 1]\"):\n"
        "        # File: /home/secret/plan.py:3 in secretive, code: secret\n"
        "        e: \"f32[4, 4][4, 1]\" = torch.functional.einsum('secrt,Zecrt->tZ', secret, secret)\n"
        "        d: \"f32[4, 4][4, 1]\" = torch.ops.aten.div.Tensor_mode(e, e, rounding_mode = 'secretly')\n"
        "        f: \"f32[4, 4][4, 1]\" = secret_lib.fn(d, secret_key = 'trunc')\n"
        "        return (f,)\n");
    struct candidate *d = candidate_anonymize(c, &aliases, &err);
    assert_no_err(&err);
    assert_true(candidate_print_fx(d, &fx));
    assert_true(str_find(buf_str(&fx), STR("ecr")) == fx.n);
    assert_true(str_find(buf_str(&fx), STR("'abcde,fbcde->ef'")) < fx.n);
    assert_true(str_find(buf_str(&fx), STR("'trunc'")) < fx.n);
    assert_true(str_find(buf_str(&fx), STR("function0(x2, key0 = ")) < fx.n);
    round_trip(d);
    cand_aliases_apply(&aliases, STR("found 'secretly' in plan.py, not unsecretly"), &after);
    assert_str_is(buf_str(&after), "found 'string0' in f0.py, not unsecretly");
    buf_release(&after);
    buf_release(&fx);
    cand_aliases_release(&aliases);
    candidate_free(d);
    candidate_free(c);
}

/* The log of a candidate is one that replays as the candidate walks: each call matches. */
static void check_log(const struct candidate *c)
{
    struct err err = ERR_INIT;
    struct buf log = BUF_INIT;
    const char *path = temp_path("candidate.log");
    assert_true(candidate_print_log(c, &log));
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(log.p, 1, log.n, f), log.n);
    assert_int_equal(fclose(f), 0);
    struct trace *trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    for (uint32_t i = 0; i < trace->n_recordings; i++)
        assert_int_equal(trace->recordings[i].damaged, 0);
    if (c->torch_version.n)
        assert_true(str_eq(trace->recordings[0].torch_version, c->torch_version));
    struct replay_options options = REPLAY_OPTIONS_DEFAULT;
    struct replay *replay = replay_trace(trace, &options, &err);
    assert_no_err(&err);
    struct graph_counts counts = graph_counts(c->graph);
    assert_int_equal(replay->totals.graphs, 1);
    assert_int_equal(replay->totals.calls, counts.calls);
    assert_int_equal(replay->totals.match, counts.calls);
    replay_free(replay);
    trace_close(trace);
    buf_release(&log);
}

static void test_log(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    static const char *const names[][2] = {
        { "failures/constraint_specialized.log.zst", "0/0:forward" },
        { "failures/mod_guard.log.zst", "0/0:dynamo" },
        { "failures/mod_guard.log.zst", "0/0:backward" },
        { "traces/gin.train.aot_eager.log.zst", "0/0:joint" },
        { "traces/unet.train.aot_eager.log.zst", "0/0:forward" },
        { "variety/hop_cond.log.zst", "0/0:dynamo" },
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *path = shared_path(names[i][0]);
        struct selector selector;
        if (!path)
            skip();
        struct trace *trace = trace_open(path, NULL, &err);
        assert_no_err(&err);
        assert_true(selector_parse_part(&selector, str_of(names[i][1]), &err));
        struct candidate *c = candidate_load(trace, &selector, NULL, &err);
        assert_no_err(&err);
        check_log(c);
        candidate_free(c);
        trace_close(trace);
    }
}

static void test_no_graph(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = shared_path("failures/view_strides.log.zst");
    if (!path)
        skip();
    struct trace *trace = trace_open(path, NULL, &err);
    struct selector selector;
    assert_true(selector_parse_part(&selector, STR("0/0"), &err));
    assert_null(candidate_load(trace, &selector, NULL, &err));
    assert_err(&err, ERR_USAGE, "record --deep");
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_hints),
        cmocka_unit_test(test_bad),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_recordings),
        cmocka_unit_test(test_before_specialization),
        cmocka_unit_test(test_anonymize),
        cmocka_unit_test(test_anonymize_strings),
        cmocka_unit_test(test_log),
        cmocka_unit_test(test_no_graph),
        cmocka_unit_test(test_listed_gradients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

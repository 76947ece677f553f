/* Each pass by itself: what it makes of a small graph, with an oracle that looks for operators. */
#include "minify/candidate/candidate_data.h"
#include "minify/minify.h"
#include "minify/oracle/oracle_ops.h"

#include "tests/harness.h"

#define GRAPH(inputs, body) "class f(torch.nn.Module):\n    def forward(self" inputs "):\n" body
#define F                   "f32[s1, 4][4, 1]"

struct run {
    struct candidate *whole;
    struct minify_result result;
};

/* Frees the oracle. */
static void run_with(struct run *run, const char *pass, struct oracle *oracle, const char *text)
{
    struct err err = ERR_INIT;
    struct str name = str_of(pass);
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    run->whole = candidate_read_fx(str_of(text), NULL, &err);
    assert_no_err(&err);
    options.oracle = oracle;
    options.passes = &name;
    options.n_passes = pass ? 1 : 0;
    assert_true(minify_run(run->whole, &options, &run->result, &err));
    assert_no_err(&err);
    assert_int_equal(run->result.end, MINIFY_DONE);
    oracle->free(oracle);
}

static void run_pass(struct run *run, const char *pass, const char *ops, const char *text)
{
    struct err err = ERR_INIT;
    struct oracle *oracle = oracle_ops(str_of(ops), &err);
    assert_no_err(&err);
    run_with(run, pass, oracle, text);
}

static void end_run(struct run *run)
{
    minify_result_release(&run->result);
    candidate_free(run->whole);
}

static void assert_graph(const struct candidate *c, const char *expected)
{
    struct buf text = BUF_INIT, bare = BUF_INIT;
    graph_print(c->graph, &text);
    for (struct str rest = buf_str(&text); rest.n;) {
        size_t n = str_find_char(rest, '\n');
        struct str line = str_first(rest, n + 1), words = str_trim(line);
        if (words.n && words.p[0] != '#')
            buf_put(&bare, line);
        rest = str_from(rest, n + 1);
    }
    assert_str_is(buf_str(&bare), expected);
    buf_release(&text);
    buf_release(&bare);
}

/* The pass makes `after` of `before` with at most so many questions, the first one included. */
static void check(const char *pass, const char *ops, uint64_t questions, const char *before,
                  const char *after)
{
    struct run run;
    run_pass(&run, pass, ops, before);
    assert_graph(run.result.best, after);
    assert_true(run.result.calls <= questions);
    end_run(&run);
}

#define SIN(to, from) "        " to ": \"" F "\" = torch.ops.aten.sin.default(" from ")\n"
#define COS(to, from) "        " to ": \"" F "\" = torch.ops.aten.cos.default(" from ")\n"
#define EXP(to, from) "        " to ": \"" F "\" = torch.ops.aten.exp.default(" from ")\n"

static void test_prefix(void **state)
{
    (void)state;
    check("prefix", "aten.sin", 4,
          GRAPH(", x: \"" F "\"",
                EXP("a", "x") SIN("b", "a") EXP("c", "b") EXP("d", "c") "        return (d,)\n"),
          GRAPH(", x: \"" F "\"", EXP("a", "x") SIN("b", "a") "        return (b,)\n"));
}

/* Of many calls, most of one operator: the other operators' are asked about first. */
static void test_likely(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    struct run run;
    buf_puts(&text, GRAPH(", v0: \"" F "\"", ""));
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "        v%d: \"" F "\" = torch.ops.aten.%s.default(v%d)\n", i + 1,
                   i == 300   ? "sin"
                   : i == 700 ? "cos"
                              : "exp",
                   i);
    buf_puts(&text, "        return (v1000,)\n");
    buf_putc(&text, '\0');
    run_pass(&run, "prefix", "aten.sin", text.p);
    assert_int_equal(run.result.after.part[SIZE_CALLS], 301);
    assert_true(run.result.calls <= 6);
    end_run(&run);
    run_pass(&run, "suffix", "aten.cos", text.p);
    assert_int_equal(run.result.after.part[SIZE_CALLS], 300);
    assert_true(run.result.calls <= 6);
    end_run(&run);
    run_pass(&run, NULL, "aten.sin -> aten.cos", text.p);
    assert_int_equal(run.result.after.part[SIZE_CALLS], 2);
    assert_true(run.result.calls <= 16);
    end_run(&run);
    buf_release(&text);
}

static void test_suffix(void **state)
{
    (void)state;
    check("suffix", "aten.sin", 4,
          GRAPH(", x: \"" F "\"",
                EXP("a", "x") EXP("b", "a") SIN("c", "b") EXP("d", "c") "        return (d,)\n"),
          GRAPH(", b: \"" F "\"", SIN("c", "b") EXP("d", "c") "        return (d,)\n"));
}

static void test_dead(void **state)
{
    (void)state;
    check(
        "dead", "aten.sin", 3,
        GRAPH(", x: \"" F "\", y: \"" F "\"", EXP("a", "x") SIN("b", "x") "        return (b,)\n"),
        GRAPH(", x: \"" F "\"", SIN("b", "x") "        return (b,)\n"));
}

/* A path between the two is kept, what lies on it is not. */
static void test_bypass(void **state)
{
    (void)state;
    check("bypass", "aten.sin -> aten.cos", 12,
          GRAPH(", x: \"" F "\"",
                EXP("a", "x") SIN("b", "a") EXP("c", "b") EXP("d", "c") EXP("e", "d") COS("g", "e")
                    EXP("h", "g") "        return (h,)\n"),
          GRAPH(", x: \"" F "\"", SIN("b", "x") COS("g", "b") "        return (g,)\n"));
}

/* No path is needed: the far ends stand side by side. */
static void test_cut(void **state)
{
    (void)state;
    check("cut", "aten.sin, aten.cos", 8,
          GRAPH(", x: \"" F "\"",
                SIN("a", "x") EXP("b", "a") EXP("c", "b") COS("d", "c") "        return (d,)\n"),
          GRAPH(", x: \"" F "\", c: \"" F "\"",
                SIN("a", "x") COS("d", "c") "        return (a, d)\n"));
}

/* The first and the last call alone; or else the one output, so that nothing keeps the others. */
static void test_ends(void **state)
{
    (void)state;
    check("ends", "aten.sin, aten.cos", 3,
          GRAPH(", x: \"" F "\"",
                SIN("a", "x") EXP("b", "a") EXP("c", "b") COS("d", "c") "        return (d, b)\n"),
          GRAPH(", x: \"" F "\", c: \"" F "\"",
                SIN("a", "x") COS("d", "c") "        return (a, d)\n"));
    check(
        "ends", "aten.sin -> aten.cos", 4,
        GRAPH(", x: \"" F "\"",
              SIN("a", "x") EXP("b", "a") EXP("c", "a") COS("d", "c") "        return (b, d)\n"),
        GRAPH(", x: \"" F "\"", SIN("a", "x") EXP("c", "a") COS("d", "c") "        return (d,)\n"));
    check("ends", "aten.sin -> aten.cos, aten.exp", 4,
          GRAPH(", x: \"" F "\"",
                SIN("a", "x") EXP("b", "a") COS("d", "a") "        return (b, d)\n"),
          GRAPH(", x: \"" F "\"",
                SIN("a", "x") EXP("b", "a") COS("d", "a") "        return (b, d)\n"));
}

/* Of long graphs, not all values are looked at, and what is found is minimal all the same. */
static void test_substitute_long(void **state)
{
    (void)state;
    enum { CALLS = 400 };
    struct run run;
    struct buf text = BUF_INIT;
    buf_puts(&text, GRAPH(", x: \"" F "\"", EXP("e0", "x")));
    for (unsigned i = 1; i < CALLS; i++)
        buf_printf(&text, "        e%u: \"" F "\" = torch.ops.aten.%s.default(e%u)\n", i,
                   i == CALLS / 2 ? "sin" : "exp", i - 1);
    buf_printf(&text, "        return (e%u,)\n", CALLS - 1U);
    buf_putc(&text, 0);
    assert_false(text.failed);
    run_pass(&run, "substitute", "aten.sin -> aten.exp", text.p);
    assert_true(candidate_size(run.result.best).part[SIZE_CALLS] <= 3);
    assert_true(run.result.calls < 200);
    end_run(&run);
    buf_release(&text);
}

/* A path through values of other sizes: what lies on it is not kept, if the calls that stay accept
 * each other's sizes. A refusal is free. */
static void test_substitute(void **state)
{
    (void)state;
    check("substitute", "aten.sin -> aten.cos", 5,
          GRAPH(", x: \"f32[2, 6][6, 1]\"",
                "        a: \"f32[2, 6][6, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        b: \"f32[3, 4][4, 1]\" = torch.ops.aten.view.default(a, [3, 4])\n"
                "        c: \"f32[4, 3][1, 4]\" = torch.ops.aten.t.default(b)\n"
                "        d: \"f32[3][1]\" = torch.ops.aten.sum.dim_IntList(c, [0])\n"
                "        e: \"f32[3][1]\" = torch.ops.aten.cos.default(d)\n"
                "        return (e,)\n"),
          GRAPH(", x: \"f32[2, 6][6, 1]\"",
                "        a: \"f32[2, 6][6, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        e: \"f32[2, 6][6, 1]\" = torch.ops.aten.cos.default(a)\n"
                "        return (e,)\n"));
    check("substitute", "aten.sin -> aten.mm", 7,
          GRAPH(", x: \"f32[2, 3][3, 1]\", w: \"f32[6, 2][2, 1]\"",
                "        a: \"f32[2, 3][3, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        b: \"f32[3, 2][1, 3]\" = torch.ops.aten.t.default(a)\n"
                "        c: \"f32[1, 6][6, 1]\" = torch.ops.aten.reshape.default(b, [1, 6])\n"
                "        d: \"f32[1, 2][2, 1]\" = torch.ops.aten.mm.default(c, w)\n"
                "        return (d,)\n"),
          GRAPH(", x: \"f32[2, 3][3, 1]\", w: \"f32[6, 2][2, 1]\"",
                "        a: \"f32[2, 3][3, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        c: \"f32[1, 6][6, 1]\" = torch.ops.aten.reshape.default(a, [1, 6])\n"
                "        d: \"f32[1, 2][2, 1]\" = torch.ops.aten.mm.default(c, w)\n"
                "        return (d,)\n"));
}

/* Neither of the two calls of mm can be replaced alone: sizes would not fit. */
static void test_pairs(void **state)
{
    (void)state;
    check("pairs", "aten.sin -> aten.cos -> aten.view", 13,
          GRAPH(", x: \"f32[4, 6][6, 1]\", a: \"f32[6, 2][2, 1]\", b: \"f32[2, 6][6, 1]\"",
                "        sin: \"f32[4, 6][6, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        mm: \"f32[4, 2][2, 1]\" = torch.ops.aten.mm.default(sin, a)\n"
                "        cos: \"f32[4, 2][2, 1]\" = torch.ops.aten.cos.default(mm)\n"
                "        mm_1: \"f32[4, 6][6, 1]\" = torch.ops.aten.mm.default(cos, b)\n"
                "        view: \"f32[24][1]\" = torch.ops.aten.view.default(mm_1, [24])\n"
                "        return (view,)\n"),
          GRAPH(", x: \"f32[4, 6][6, 1]\"",
                "        sin: \"f32[4, 6][6, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        cos: \"f32[4, 6][6, 1]\" = torch.ops.aten.cos.default(sin)\n"
                "        view: \"f32[24][1]\" = torch.ops.aten.view.default(cos, [24])\n"
                "        return (view,)\n"));
}

/* Only one of two equal arguments is needed. */
static void test_reference(void **state)
{
    (void)state;
    check("reference", "aten.sin -> aten.add", 2,
          GRAPH(", x: \"f32[4][1]\"",
                "        sin: \"f32[4][1]\" = torch.ops.aten.sin.default(x)\n"
                "        y: \"f32[1, 4][4, 1]\" = torch.ops.aten.unsqueeze.default(sin, 0)\n"
                "        add: \"f32[1, 4][4, 1]\" = torch.ops.aten.add.Tensor(y, y)\n"
                "        return (add,)\n"),
          GRAPH(", x: \"f32[4][1]\", y: \"f32[1, 4][4, 1]\"",
                "        sin: \"f32[4][1]\" = torch.ops.aten.sin.default(x)\n"
                "        add: \"f32[1, 4][4, 1]\" = torch.ops.aten.add.Tensor(sin, y)\n"
                "        return (add,)\n"));
}

static void test_outputs(void **state)
{
    (void)state;
    check("outputs", "aten.sin", 6,
          GRAPH(", x: \"" F "\"",
                EXP("a", "x") SIN("b", "x") COS("c", "x") "        return (a, b, c)\n"),
          GRAPH(", x: \"" F "\"", SIN("b", "x") "        return (b,)\n"));
}

static void test_guards(void **state)
{
    (void)state;
    struct run run;
    run_pass(&run, "guards", "aten.sin",
             "# symbol s1 = 8 in [2, int_oo]\n# guard s1 > 3\n# guard s1 < 99\n" GRAPH(
                 ", x: \"" F "\"", SIN("b", "x") "        return (b,)\n"));
    assert_int_equal(run.result.best->n_guards, 0);
    assert_int_equal(run.result.calls, 2);
    end_run(&run);
}

/* Nothing is left of dynamic shapes. */
static void test_static(void **state)
{
    (void)state;
    check("static", "aten.sin", 2,
          "# symbol s1 = 8 in [2, int_oo]\n" GRAPH(", x: \"" F "\"",
                                                   SIN("b", "x") "        return (b,)\n"),
          GRAPH(", x: \"f32[8, 4][4, 1]\"",
                "        b: \"f32[8, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        return (b,)\n"));
}

/* The dimension of the symbol that most inputs have is left, of each, and with its number. */
static void test_dimension(void **state)
{
    (void)state;
    check("dimension", "aten.add", 2,
          "# symbol s1 = 8 in [2, int_oo]\n# symbol s2 = 9 in [2, int_oo]\n" GRAPH(
              ", x: \"f32[s2, s1, 4][4*s1, 4, 1]\", w: \"f32[s1, 4][4, 1]\"",
              "        y: \"f32[s2, s1, 4][4*s1, 4, 1]\" = torch.ops.aten.add.Tensor(x, w)\n"
              "        return (y,)\n"),
          GRAPH(", x: \"f32[8][1]\", w: \"f32[8][1]\"",
                "        y: \"f32[8][1]\" = torch.ops.aten.add.Tensor(x, w)\n"
                "        return (y,)\n"));
}

static void test_merge_and_hints(void **state)
{
    (void)state;
    static const char *const text =
        "# symbol s1 = 80 in [2, int_oo]\n# symbol s2 = 90 in [2, int_oo]\n" GRAPH(
            ", x: \"f32[s1][1]\", y: \"f32[s2][1]\"",
            "        b: \"f32[s1][1]\" = torch.ops.aten.sin.default(x)\n"
            "        c: \"f32[s2][1]\" = torch.ops.aten.sin.default(y)\n"
            "        return (b, c)\n");
    struct run run;
    run_pass(&run, "merge", "aten.sin", text);
    assert_int_equal(run.result.best->n_symbols, 1);
    end_run(&run);
    run_pass(&run, "hints", "aten.sin", text);
    assert_int_equal(run.result.best->symbols[0].hint, 2);
    assert_int_equal(run.result.best->symbols[1].hint, 3);
    end_run(&run);
}

/* An oracle that looks at the first size of the first input and the last one of the last. */
struct size_oracle {
    struct oracle oracle;
    bool (*keeps)(int64_t first, int64_t last);
};

static void ask_sizes(struct oracle *oracle, const struct candidate *candidate,
                      const struct oracle_question *asking, struct answer *answer)
{
    const struct graph *graph = candidate->graph;
    int64_t first = 0, last = 0;
    (void)asking;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct meta *meta = node_meta(graph, &graph->nodes[id]);
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        if (first == 0)
            first = expr_at(&graph->pool->exprs, meta->sizes[0])->value;
        last = expr_at(&graph->pool->exprs, meta->sizes[meta->n_sizes - 1])->value;
    }
    bool keeps = ((struct size_oracle *)oracle)->keeps(first, last);
    *answer = (struct answer){ .verdict = keeps ? VERDICT_INTERESTING : VERDICT_BORING };
}

static void free_sizes(struct oracle *oracle)
{
    (void)oracle;
}

static void check_sizes(bool (*keeps)(int64_t, int64_t), uint64_t questions, const char *before,
                        const char *after)
{
    struct size_oracle sizes = { { .ask = ask_sizes,
                                   .free = free_sizes,
                                   .deterministic = true,
                                   .cheap = true,
                                   .name = STR("sizes"),
                                   .id = STR("sizes 1") },
                                 keeps };
    struct run run;
    run_with(&run, "constants", &sizes.oracle, before);
    assert_graph(run.result.best, after);
    assert_true(run.result.calls <= questions);
    end_run(&run);
}

static bool is_4_times_last(int64_t first, int64_t last)
{
    return first == 4 * last;
}

static bool is_eighth_of_last(int64_t first, int64_t last)
{
    return 8 * first == last;
}

static bool is_odd_last(int64_t first, int64_t last)
{
    return first && last % 2;
}

static void test_constants_in_order(void **state)
{
    (void)state;
    /* The product 1024 becomes what the product 64 was. */
    check_sizes(is_4_times_last, 12,
                GRAPH(", x: \"f32[32, 32][32, 1]\", w: \"f32[8, 8][8, 1]\"",
                      "        a: \"f32[1024][1]\" = torch.ops.aten.reshape.default(x, [1024])\n"
                      "        b: \"f32[64][1]\" = torch.ops.aten.reshape.default(w, [64])\n"
                      "        return (a, b)\n"),
                GRAPH(", x: \"f32[8, 8][8, 1]\", w: \"f32[2, 2][2, 1]\"",
                      "        a: \"f32[64][1]\" = torch.ops.aten.reshape.default(x, [64])\n"
                      "        b: \"f32[4][1]\" = torch.ops.aten.reshape.default(w, [4])\n"
                      "        return (a, b)\n"));
    /* The size 32 becomes what the product 16 was. */
    check_sizes(
        is_eighth_of_last, 12,
        GRAPH(", x: \"f32[4, 4, 32][128, 32, 1]\"",
              "        a: \"f32[16, 32][32, 1]\" = torch.ops.aten.reshape.default(x, [16, 32])\n"
              "        return (a,)\n"),
        GRAPH(", x: \"f32[2, 2, 16][32, 16, 1]\"",
              "        a: \"f32[4, 16][16, 1]\" = torch.ops.aten.reshape.default(x, [4, 16])\n"
              "        return (a,)\n"));
    /* When 9 has become 3, 7 is the next, although 5 is now where 7 was in the list. */
    check_sizes(is_odd_last, 9,
                GRAPH(", x: \"f32[5][1]\", y: \"f32[7][1]\", z: \"f32[9][1]\"",
                      "        return (x, y, z)\n"),
                GRAPH(", x: \"f32[2][1]\", y: \"f32[2][1]\", z: \"f32[3][1]\"",
                      "        return (x, y, z)\n"));
}

static void test_sizes(void **state)
{
    (void)state;
    check("constants", "aten.mm", 6,
          GRAPH(", x: \"f32[64, 128][128, 1]\", w: \"f32[128, 32][32, 1]\"",
                "        y: \"f32[64, 32][32, 1]\" = torch.ops.aten.mm.default(x, w)\n"
                "        return (y,)\n"),
          GRAPH(", x: \"f32[2, 2][2, 1]\", w: \"f32[2, 2][2, 1]\"",
                "        y: \"f32[2, 2][2, 1]\" = torch.ops.aten.mm.default(x, w)\n"
                "        return (y,)\n"));
    /* 48 is 4 * 12, of dimensions that are transposed in memory. */
    check(
        "constants", "aten.reshape", 6,
        GRAPH(
            ", x: \"f32[5, 7, 4, 12][336, 12, 84, 1]\"",
            "        y: \"f32[5, 7, 48][336, 48, 1]\" = torch.ops.aten.reshape.default(x, [5, 7, 48])\n"
            "        return (y,)\n"),
        GRAPH(
            ", x: \"f32[2, 2, 2, 2][8, 2, 4, 1]\"",
            "        y: \"f32[2, 2, 4][8, 4, 1]\" = torch.ops.aten.reshape.default(x, [2, 2, 4])\n"
            "        return (y,)\n"));
    check("rank", "aten.add", 6,
          GRAPH(", x: \"f32[5, 4][4, 1]\", w: \"f32[5, 4][4, 1]\"",
                "        y: \"f32[5, 4][4, 1]\" = torch.ops.aten.add.Tensor(x, w)\n"
                "        return (y,)\n"),
          GRAPH(", x: \"f32[][]\", w: \"f32[][]\"",
                "        y: \"f32[][]\" = torch.ops.aten.add.Tensor(x, w)\n"
                "        return (y,)\n"));
}

static void test_plain(void **state)
{
    (void)state;
    check("dtype", "aten.sin", 3,
          GRAPH(", x: \"f16[5][1]\"", "        y: \"f16[5][1]\" = torch.ops.aten.sin.default(x)\n"
                                      "        return (y,)\n"),
          GRAPH(", x: \"f32[5][1]\"", "        y: \"f32[5][1]\" = torch.ops.aten.sin.default(x)\n"
                                      "        return (y,)\n"));
    check("strides", "aten.sin", 3,
          GRAPH(", x: \"f32[5, 4][1, 5]\"",
                "        y: \"f32[5, 4][1, 5]\" = torch.ops.aten.sin.default(x)\n"
                "        return (y,)\n"),
          GRAPH(", x: \"f32[5, 4][4, 1]\"",
                "        y: \"f32[5, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
                "        return (y,)\n"));
    check("device", "aten.sin", 3,
          GRAPH(", x: \"f32[5][1]cuda:0\"",
                "        y: \"f32[5][1]cuda:0\" = torch.ops.aten.sin.default(x)\n"
                "        return (y,)\n"),
          GRAPH(", x: \"f32[5][1]cpu\"",
                "        y: \"f32[5][1]cpu\" = torch.ops.aten.sin.default(x)\n"
                "        return (y,)\n"));
    check("arguments", "aten.add", 6,
          GRAPH(", x: \"f32[5][1]\"",
                "        y: \"f32[5][1]\" = torch.ops.aten.add.Tensor(x, 35, alpha = 3)\n"
                "        return (y,)\n"),
          GRAPH(", x: \"f32[5][1]\"", "        y: \"f32[5][1]\" = torch.ops.aten.add.Tensor(x, 0)\n"
                                      "        return (y,)\n"));
}

/* All of them: nothing that is left can go. */
static void test_all(void **state)
{
    (void)state;
    struct run run;
    run_pass(
        &run, NULL, "aten.sin, aten.cos -> aten.relu",
        GRAPH(", x: \"" F "\"",
              EXP("a", "x") SIN("b", "a") EXP("c", "b") COS("d", "c") EXP(
                  "e", "d") "        m: \"f32[s1][1]\" = torch.ops.aten.sum.dim_IntList(e, [1])\n"
                            "        r: \"f32[s1][1]\" = torch.ops.aten.relu.default(m)\n"
                            "        return (r,)\n"));
    assert_int_equal(run.result.after.part[SIZE_CALLS], 3);
    assert_true(run.result.minimal);
    assert_int_equal(run.result.best->n_symbols, 0);
    end_run(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_likely),
        cmocka_unit_test(test_suffix),
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_bypass),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_substitute),
        cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_substitute_long),
        cmocka_unit_test(test_guards),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_dimension),
        cmocka_unit_test(test_merge_and_hints),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_constants_in_order),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

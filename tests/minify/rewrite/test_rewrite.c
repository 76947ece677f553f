/* Masks that become where(): graphs whose results stay, and graphs that are kept. */
#include "minify/rewrite/rewrite_check.h"

#include "tests/harness.h"

#define INPUTS                                     \
    "self, x: \"f32[s0, s1, 6][6*s1, 6, 1]cpu\", " \
    "m: \"b8[s0, s1][s1, 1]cpu\", w: \"f32[6][1]cpu\", n: \"i64[s0, s1][s1, 1]cpu\""
#define GRAPH(body) "class G(torch.nn.Module):\n    def forward(" INPUTS "):\n" body
#define ROWS        "        r: \"f32[u0, 6][6, 1]cpu\" = x[m]\n"
#define RETURN      "        return (y,)\n"
#define WHOLE       "\"f32[s0, s1, 6][6*s1, 6, 1]cpu\""

static struct candidate *read_text(const char *text)
{
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_read_fx(str_of(text), NULL, &err);
    assert_no_err(&err);
    return ret;
}

/* Every call with a mask is rewritten, no symbol depends on data, and the results stay. */
static void assert_rewritten(const char *text, bool differentiated)
{
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    struct rewrite_check check;
    const struct rewrite_options how = { .differentiated = differentiated };
    struct candidate *whole = read_text(text);
    assert_true(rewrite_masks(whole, &how, &rewrite, &err));
    assert_no_err(&err);
    for (uint32_t i = 0; i < rewrite.n_calls; i++)
        if (rewrite.calls[i].status != MASK_REWRITTEN)
            fail_msg("kept: %.*s\n%s", STR_ARG(rewrite.calls[i].why), text);
    assert_true(rewrite.n_calls > 0);
    assert_int_equal(rewrite.unbacked_after, 0);
    assert_true(rewrite_check(&rewrite, &check, &err));
    assert_no_err(&err);
    if (check.verdict != REWRITE_EQUAL)
        fail_msg("%s: %s\n%s", rewrite_verdict_name(check.verdict), check.text, text);
    assert_int_equal(check.runs, 3);
    rewrite_release(&rewrite);
    candidate_free(whole);
}

/* No call is rewritten; the first gives the reason. */
static void assert_kept(const char *text, bool differentiated, const char *why)
{
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    const struct rewrite_options how = { .differentiated = differentiated };
    struct candidate *whole = read_text(text);
    assert_true(rewrite_masks(whole, &how, &rewrite, &err));
    assert_no_err(&err);
    if (!rewrite.n_calls)
        fail_msg("no call has a mask:\n%s", text);
    if (rewrite.result || rewrite.n_rewritten)
        fail_msg("rewritten, not kept for \"%s\":\n%s", why, text);
    if (str_find(rewrite.calls[0].why, str_of(why)) == rewrite.calls[0].why.n)
        fail_msg("\"%.*s\" does not contain \"%s\"\n%s", STR_ARG(rewrite.calls[0].why), why, text);
    rewrite_release(&rewrite);
    candidate_free(whole);
}

static void test_writes(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        GRAPH("        x[m] = 0;  setitem = x\n        y: " WHOLE " = x + 1\n" RETURN),
        GRAPH("        y: " WHOLE " = x.clone()\n        y[m] = -inf;  setitem = y\n" RETURN),
        GRAPH("        n[m] = 2.7;  setitem = n\n        return (n,)\n"),
        GRAPH("        y: " WHOLE " = x.clone()\n        y[m] = w;  setitem = y\n" RETURN),
        GRAPH("        y: " WHOLE " = torch.ops.aten.index_put.default(x, [m], w)\n" RETURN),
        GRAPH("        y: " WHOLE " = torch.ops.aten.index_put.default(x, [m], w, True)\n" RETURN),
        GRAPH("        y: " WHOLE " = torch.ops.aten.index_put.default(x, [m], w, False)\n" RETURN),
        GRAPH("        y: " WHOLE " = torch.ops.aten.index_put.default(x, [m], w, 1)\n" RETURN),
        GRAPH("        v: \"f32[][]cpu\" = w[0]\n"
              "        y: " WHOLE " = torch.ops.aten.index_put_.default(x, [m], v)\n" RETURN),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_rewritten(bodies[i], true);
}

static void test_reductions(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        GRAPH(ROWS "        y: \"f32[][]cpu\" = r.sum()\n" RETURN),
        GRAPH(ROWS "        y: \"f32[6][1]cpu\" = r.mean(0)\n" RETURN),
        GRAPH(ROWS "        y: \"f32[][]cpu\" = r.mean()\n" RETURN),
        GRAPH(ROWS "        y: \"f32[1, 6][6, 1]cpu\" = r.sum(0, keepdim = True)\n" RETURN),
        GRAPH(ROWS "        y: \"f32[6][1]cpu\" = r.prod(0)\n" RETURN),
        GRAPH(ROWS "        b: \"b8[u0, 6][6, 1]cpu\" = r > 0\n"
                   "        y: \"b8[][]cpu\" = b.all()\n" RETURN),
        GRAPH(ROWS "        b: \"b8[u0, 6][6, 1]cpu\" = r > 0.9\n"
                   "        y: \"b8[][]cpu\" = b.any()\n" RETURN),
        GRAPH(ROWS "        y: \"f32[6][1]cpu\" = torch.logsumexp(r, 0)\n" RETURN),
        GRAPH(ROWS "        k: \"Sym(u0)\" = torch.ops.aten.sym_size.int(r, 0)\n"
                   "        ge: \"Sym(u0 >= 0)\" = k >= 0\n"
                   "        a = torch.ops.aten._assert_scalar.default(ge, \"no\")\n"
                   "        s: \"f32[][]cpu\" = r.sum()\n"
                   "        y: \"f32[][]cpu\" = s / k\n" RETURN),
        GRAPH("        b: \"b8[s0, s1, 6][6*s1, 6, 1]cpu\" = x > 0.5\n"
              "        r: \"f32[u0][1]cpu\" = x.masked_select(b)\n"
              "        y: \"f32[][]cpu\" = r.mean()\n" RETURN),
        GRAPH("        i: \"i64[u0, 2][1, u0]cpu\" = torch.ops.aten.nonzero.default(m)\n"
              "        j = torch.ops.aten.unbind.int(i, 1)\n"
              "        p: \"i64[u0][1]cpu\" = j[0]\n        q: \"i64[u0][1]cpu\" = j[1]\n"
              "        r: \"f32[u0, 6][6, 1]cpu\" = torch.ops.aten.index.Tensor(x, [p, q])\n"
              "        y: \"f32[6][1]cpu\" = torch.ops.aten.sum.dim_IntList(r, [0])\n" RETURN),
        GRAPH("        i = torch.where(m)\n        p: \"i64[u0][1]cpu\" = i[0]\n"
              "        q: \"i64[u0][1]cpu\" = i[1]\n"
              "        r: \"f32[u0, 6][6, 1]cpu\" = x[(p, q)]\n"
              "        y: \"f32[6][1]cpu\" = r.sum(0)\n" RETURN),
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_rewritten(bodies[i], true);
}

/* y[m] = f(x[m]) */
#define PUT "        y: " WHOLE " = torch.zeros_like(x)\n        y[m] = f;  setitem = y\n" RETURN

static void test_rows(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        GRAPH(ROWS
              "        f: \"f32[u0, 6][6, 1]cpu\" = torch.nn.functional.layer_norm(r, (6,), w, "
              "None, 1e-05)\n" PUT),
        GRAPH(ROWS "        f: \"f32[u0, 6][6, 1]cpu\" = torch.softmax(r, -1)\n" PUT),
        GRAPH(ROWS "        a: \"f32[u0, 6][6, 1]cpu\" = r.pow(2)\n"
                   "        b: \"f32[u0, 1][1, 1]cpu\" = a.mean(-1, keepdim = True)\n"
                   "        c: \"f32[u0, 1][1, 1]cpu\" = b + 1e-06\n"
                   "        d: \"f32[u0, 1][1, 1]cpu\" = torch.rsqrt(c)\n"
                   "        e: \"f32[u0, 6][6, 1]cpu\" = r * d\n"
                   "        f: \"f32[u0, 6][6, 1]cpu\" = w * e\n" PUT),
        GRAPH(ROWS "        k: \"Sym(u0)\" = torch.ops.aten.sym_size.int(r, 0)\n"
                   "        a: \"f32[u0, 2, 3][6, 3, 1]cpu\" = r.view(k, 2, 3)\n"
                   "        b: \"f32[u0, 3, 2][6, 1, 3]cpu\" = a.transpose(1, 2)\n"
                   "        f: \"f32[u0, 6][6, 1]cpu\" = b.reshape(k, 6)\n" PUT),
        GRAPH(ROWS "        o = torch.ops.aten.native_layer_norm.default(r, [6], w, None, 1e-05)\n"
                   "        f: \"f32[u0, 6][6, 1]cpu\" = o[0]\n" PUT),
        GRAPH("        a: \"b8[s0, s1][s1, 1]cpu\" = n > 0\n"
              "        r: \"f32[u0, 6][6, 1]cpu\" = x[a]\n"
              "        f: \"f32[u0, 6][6, 1]cpu\" = r.exp()\n"
              "        b: \"b8[s0, s1][s1, 1]cpu\" = n > 0\n"
              "        y: " WHOLE
              " = torch.zeros_like(x)\n        y[b] = f;  setitem = y\n" RETURN),
        GRAPH(ROWS "        f: \"f32[u0, 6][6, 1]cpu\" = r.relu_()\n"
                   "        x[m] = f;  setitem = x\n        y: " WHOLE " = x + 1\n" RETURN),
        "class G(torch.nn.Module):\n"
        "    def forward(self, x: \"f32[s0, 6][6, 1]cpu\", m: \"b8[s0][1]cpu\", "
        "w: \"f32[6, 6][6, 1]cpu\"):\n"
        "        s: \"Sym(s0)\" = torch.ops.aten.sym_size.int(x, 0)\n"
        "        o = torch.ops.aten.where.default(m)\n        i: \"i64[u0][1]cpu\" = o[0]\n"
        "        k: \"Sym(u0)\" = torch.ops.aten.sym_size.int(i, 0)\n"
        "        le: \"Sym(u0 <= s0)\" = k <= s\n"
        "        a = torch.ops.aten._assert_scalar.default(le, \"no\")\n"
        "        r: \"f32[u0, 6][6, 1]cpu\" = torch.ops.aten.index.Tensor(x, [i])\n"
        "        f: \"f32[u0, 6][6, 1]cpu\" = torch.ops.aten.linear.default(r, w)\n"
        "        y: \"f32[s0, 6][6, 1]cpu\" = torch.ops.aten.index_add.default(x, 0, i, f)\n" RETURN,
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        assert_rewritten(bodies[i], true);
    assert_rewritten(GRAPH(ROWS "        a: \"f32[u0, 6][6, 1]cpu\" = r - 1\n"
                                "        f: \"f32[u0, 6][6, 1]cpu\" = a.log()\n" PUT),
                     false);
}

static void test_kept(void **state)
{
    (void)state;
    static const struct {
        const char *body, *why;
    } cases[] = {
        { GRAPH(ROWS "        return (r,)\n"), "r is an output of the graph" },
        { GRAPH(ROWS "        y: \"f32[][]cpu\" = r.max()\n" RETURN), "no number" },
        { GRAPH("        i = torch.where(m)\n        p: \"i64[][]cpu\" = i[0]\n"
                "        k: \"Sym(u0)\" = torch.ops.aten.sym_size.int(p, 0)\n"
                "        y: " WHOLE " = x / k\n" RETURN),
          "it has no such dimension" },
        { GRAPH("        y: " WHOLE " = torch.ops.aten.index_put.default(x, [m], w, x)\n" RETURN),
          "whether it adds is no literal" },
        { GRAPH(ROWS "        f: \"f32[u0, 6][6, 1]cpu\" = r.softmax(0)\n" PUT),
          "along the dimension of the rows" },
        { GRAPH(ROWS "        f: \"f32[u0, 6][6, 1]cpu\" = torch.flip(r, [0])\n" PUT),
          "along the dimension of the rows" },
        { GRAPH(ROWS "        y: \"f32[6, u0][1, 6]cpu\" = r.t()\n        return (y,)\n"),
          "y is an output" },
        { GRAPH(ROWS "        f: \"f32[u0, 6][6, 1]cpu\" = torch.nn.functional.dropout(r)\n" PUT),
          "has no rule" },
        { GRAPH(ROWS "        a: \"f32[u0, 6][6, 1]cpu\" = r - 1\n"
                     "        f: \"f32[u0, 6][6, 1]cpu\" = torch.lgamma(a)\n" PUT),
          "derivative" },
        { GRAPH(ROWS "        k: \"Sym(u0)\" = torch.ops.aten.sym_size.int(r, 0)\n"
                     "        ge: \"Sym(u0 >= 1)\" = k >= 1\n"
                     "        a = torch.ops.aten._assert_scalar.default(ge, \"no\")\n"
                     "        y: \"f32[][]cpu\" = r.sum()\n" RETURN),
          "requires something of the number of rows" },
        { GRAPH(ROWS "        g: \"b8[s0, s1][s1, 1]cpu\" = torch.logical_not(m)\n"
                     "        y: " WHOLE " = torch.zeros_like(x)\n"
                     "        y[g] = r;  setitem = y\n" RETURN),
          "another mask" },
        { GRAPH(ROWS "        m.logical_not_()\n        y: \"f32[][]cpu\" = r.sum()\n" RETURN),
          "not understood" },
        { GRAPH(
              ROWS
              "        l: \"b8[s0, s1][s1, 1]cpu\" = m.logical_not_()\n        y: \"f32[][]cpu\" = r.sum()\n" RETURN),
          "writes to the mask" },
        { GRAPH("        y: " WHOLE " = x.clone()\n        y[(m, 0)] = 0;  setitem = y\n" RETURN),
          "more than the mask" },
        { GRAPH("        y: " WHOLE " = x.clone()\n        y[(m, m)] = 0;  setitem = y\n" RETURN),
          "several masks" },
        { GRAPH("        p: \"i64[u0, 2][1, u0]cpu\" = torch.nonzero(m)\n        return (p,)\n"),
          "p is an output" },
        { GRAPH("        p: \"i64[u0, 2][1, u0]cpu\" = torch.nonzero(m)\n"
                "        q: \"i64[2][1]cpu\" = p[0]\n        return (q,)\n"),
          "it is indexed" },
        { GRAPH(ROWS "        c: \"f32[u0, 6][6, 1]cpu\" = torch.ops.aten.cumsum_.default(r, 0)\n"
                     "        y: \"f32[6][1]cpu\" = r.sum(0)\n" RETURN),
          "it writes to rows that need other numbers" },
        { GRAPH(ROWS "        o: \"f32[6][1]cpu\" = torch.zeros(6)\n"
                     "        f: \"f32[6][1]cpu\" = torch.mean(r, 0, out = o)\n"
                     "        y: \"f32[6][1]cpu\" = o * 2\n" RETURN),
          "it writes to out=" },
        { GRAPH("        v: \"f32[5][1]cpu\" = torch.zeros(5)\n"
                "        x[m] = v;  setitem = x\n        return (x,)\n"),
          "the rewritten graph is not valid" },
        { "class G(torch.nn.Module):\n"
          "    def forward(self, x: \"f32[s0, 6][6, 1]cuda:0\", m: \"b8[s0][1]cpu\"):\n"
          "        x[m] = 0;  setitem = x\n        return (x,)\n",
          "the mask is on another device" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_kept(cases[i].body, true, cases[i].why);
}

#define LINE(body)                                                                                 \
    "class G(torch.nn.Module):\n    def forward(self, x: \"f32[s0][1]cpu\", m: \"b8[s0][1]cpu\", " \
    "n: \"u8[s0][1]cpu\", q: \"f32[1, 2, 8][16, 8, 1]cpu\"):\n" body
#define FLOATS "        r: \"f32[u0][1]cpu\" = x[m]\n"
#define BYTES  "        r: \"u8[u0][1]cpu\" = n[m]\n"
#define SUM    "        y: \"f32[][]cpu\" = f.sum()\n" RETURN

/* The rows that the mask leaves out are 1 at first. They become another number before a call only
 * if what was computed from 1 may be 0, infinite or outside of the call's domain. */
static void test_left_values(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t wheres; /* one for the read, one for the sum */
    } cases[] = {
        { LINE(FLOATS "        f: \"f32[u0][1]cpu\" = torch.exp(r)\n" SUM), 2 },
        { LINE(BYTES "        a: \"u8[u0][1]cpu\" = torch.ops.aten.sub_.Tensor(r, 1)\n"
                     "        f: \"u8[u0][1]cpu\" = torch.remainder(3, r)\n"
                     "        y: \"i64[][]cpu\" = f.sum()\n" RETURN),
          3 },
        { LINE(FLOATS "        a: \"f32[u0][1]cpu\" = r * 200.0\n"
                      "        f: \"f32[u0][1]cpu\" = torch.exp(a)\n" SUM),
          3 },
        { LINE(FLOATS "        a: \"f32[u0][1]cpu\" = r + 1e-06\n"
                      "        f: \"f32[u0][1]cpu\" = torch.sqrt(a)\n" SUM),
          2 },
        { LINE(FLOATS "        a: \"f32[u0][1]cpu\" = r + 1e-09\n"
                      "        b: \"f32[u0][1]cpu\" = a - 1\n"
                      "        f: \"f32[u0][1]cpu\" = torch.sqrt(b)\n" SUM),
          3 },
        { LINE(BYTES "        a: \"u8[u0][1]cpu\" = r + 2\n"
                     "        f: \"u8[u0][1]cpu\" = torch.remainder(3, a)\n"
                     "        y: \"i64[][]cpu\" = f.sum()\n" RETURN),
          2 },
        { LINE(BYTES "        a: \"u8[u0][1]cpu\" = r + 255\n"
                     "        f: \"u8[u0][1]cpu\" = torch.remainder(3, a)\n"
                     "        y: \"i64[][]cpu\" = f.sum()\n" RETURN),
          3 },
        { LINE(
              FLOATS
              "        y: \"f32[][]cpu\" = torch.nn.functional.binary_cross_entropy(r, r)\n" RETURN),
          2 },
        { LINE(
              FLOATS
              "        a: \"f32[u0][1]cpu\" = r + 1\n"
              "        y: \"f32[][]cpu\" = torch.nn.functional.binary_cross_entropy(a, r)\n" RETURN),
          4 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err err = ERR_INIT;
        struct rewrite rewrite;
        const struct rewrite_options how = { .differentiated = true };
        struct candidate *whole = read_text(cases[i].text);
        uint32_t wheres = 0;
        assert_true(rewrite_masks(whole, &how, &rewrite, &err));
        assert_non_null(rewrite.result);
        const struct graph *graph = rewrite.result->graph;
        for (node_id id = 0; id < graph->n_nodes; id++)
            wheres += str_starts(graph->nodes[id].target, STR("torch.ops.aten.where."));
        if (wheres != cases[i].wheres)
            fail_msg("%u calls of where():\n%s", (unsigned)wheres, cases[i].text);
        rewrite_release(&rewrite);
        candidate_free(whole);
    }
}

/* Masks that are computed from random numbers by equal calls are two masks. */
static void test_random_masks(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    const struct rewrite_options how = { .differentiated = true };
    struct candidate *whole = read_text(
        LINE("        a: \"f32[1, 2, 8]cpu\" = "
             "torch.ops.aten.scaled_dot_product_attention.default(q, q, q, None, 0.5)\n"
             "        b: \"f32[1, 2, 8]cpu\" = "
             "torch.ops.aten.scaled_dot_product_attention.default(q, q, q, None, 0.5)\n"
             "        c: \"b8[1, 2, 8]cpu\" = a > 0\n        d: \"b8[1, 2, 8]cpu\" = b > 0\n"
             "        e: \"f32[u0]cpu\" = q[c]\n        f: \"f32[u1]cpu\" = q[d]\n"
             "        g: \"f32[]cpu\" = e.sum()\n        h: \"f32[]cpu\" = f.sum()\n"
             "        return (g, h)\n"));
    assert_true(rewrite_masks(whole, &how, &rewrite, &err));
    assert_int_equal(rewrite.n_rewritten, 2);
    assert_int_equal(rewrite.n_masks, 2);
    for (uint32_t i = 0; i < rewrite.n_masks; i++)
        assert_int_equal(rewrite.same[i], rewrite.masks[i]);
    rewrite_release(&rewrite);
    candidate_free(whole);
}

/* Doubles the number of rows `steps` times: n0, n1, ... The last one is used by `use`. A number
 * that is computed from the count is computed once, however often it is used. */
static void assert_few_calls(unsigned steps, const char *use)
{
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    const struct rewrite_options how = { .differentiated = true };
    struct buf text = BUF_INIT;
    buf_puts(&text, LINE(FLOATS "        n0: \"Sym(u0)\" = torch.ops.aten.sym_size.int(r, 0)\n"));
    for (unsigned i = 1; i <= steps; i++)
        buf_printf(&text, "        n%u: \"Sym(%u*u0)\" = n%u + n%u\n", i, 1U << i, i - 1, i - 1);
    buf_puts(&text, use);
    buf_putc(&text, 0);
    assert_false(text.failed);
    struct candidate *whole = read_text(buf_str(&text).p);
    assert_true(rewrite_masks(whole, &how, &rewrite, &err));
    assert_non_null(rewrite.result);
    assert_true(rewrite.calls_after < 4 * steps);
    rewrite_release(&rewrite);
    candidate_free(whole);
    buf_release(&text);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_few_calls(
        12, "        f: \"f32[4096*u0]cpu\" = torch.ops.aten.full.default([n12], 1.0)\n" SUM);
    assert_few_calls(7, "        f: \"f32[u0][1]cpu\" = r / n7\n" SUM); /* as a tensor */
}

static void test_reach(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    const struct rewrite_options how = { .differentiated = true };
    struct candidate *whole = read_text(
        GRAPH(ROWS "        a: \"f32[u0, 6][6, 1]cpu\" = r + 1\n        return (a, a)\n"));
    assert_true(rewrite_masks(whole, &how, &rewrite, &err));
    assert_int_equal(rewrite.n_calls, 1);
    assert_str_is(rewrite.calls[0].symbol, "u0");
    assert_int_equal(rewrite.calls[0].calls, 2);
    assert_int_equal(rewrite.calls[0].outputs, 2);
    assert_int_equal(rewrite.unbacked_before, 1);
    rewrite_release(&rewrite);
    candidate_free(whole);
}

static bool rewrite_once(void *whole)
{
    struct err err = ERR_INIT;
    struct rewrite rewrite;
    const struct rewrite_options how = { .differentiated = true };
    bool ok = rewrite_masks(whole, &how, &rewrite, &err);
    assert_int_equal(ok, !err_is_set(&err));
    if (ok && !rewrite.result)
        fail_msg("kept: %.*s", STR_ARG(rewrite.calls[0].why));
    rewrite_release(&rewrite);
    return ok;
}

static void test_no_memory(void **state)
{
    (void)state;
    struct candidate *whole =
        read_text(GRAPH(ROWS "        f: \"f32[u0, 6][6, 1]cpu\" = torch.softmax(r, -1)\n" PUT));
    check_alloc_failures(rewrite_once, whole);
    candidate_free(whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_writes),      cmocka_unit_test(test_reductions),
        cmocka_unit_test(test_rows),        cmocka_unit_test(test_kept),
        cmocka_unit_test(test_left_values), cmocka_unit_test(test_random_masks),
        cmocka_unit_test(test_numbers),     cmocka_unit_test(test_reach),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Edits: what each leaves of a small graph, and that what it leaves is closed. */
#include "minify/edit/edit.h"

#include "tests/harness.h"

#define GRAPH(inputs, body) "class f(torch.nn.Module):\n    def forward(self" inputs "):\n" body

static struct candidate *read_text(const char *text)
{
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_read_fx(str_of(text), NULL, &err);
    assert_no_err(&err);
    return ret;
}

static node_id named(const struct candidate *c, const char *name)
{
    for (node_id id = 0; id < c->graph->n_nodes; id++)
        if (str_is(c->graph->nodes[id].name, name))
            return id;
    fail_msg("no node %s", name);
    return 0;
}

/* The graph alone, without the comments. */
static void assert_graph(const struct candidate *c, const char *expected)
{
    struct buf text = BUF_INIT, bare = BUF_INIT;
    graph_print(c->graph, &text);
    for (struct str rest = buf_str(&text); rest.n;) {
        size_t n = str_find_char(rest, '\n');
        struct str line = str_first(rest, n + 1);
        struct str words = str_trim(line);
        if (words.n && words.p[0] != '#')
            buf_put(&bare, line);
        rest = str_from(rest, n + 1);
    }
    assert_str_is(buf_str(&bare), expected);
    buf_release(&text);
    buf_release(&bare);
}

static struct candidate *apply(const struct candidate *c, struct edit edit)
{
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_apply(c, &edit, 1, &err);
    assert_no_err(&err);
    assert_non_null(ret);
    return ret;
}

static void assert_refused(const struct candidate *c, struct edit edit, const char *why)
{
    struct err err = ERR_INIT;
    assert_null(candidate_apply(c, &edit, 1, &err));
    assert_err(&err, ERR_USAGE, why);
}

/* y and z hang on x; z is the result. */
static const char *const chain =
    GRAPH(", x: \"f32[s1, 4][4, 1]\"",
          "        y: \"f32[s1, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
          "        z: \"f32[s1, 4][4, 1]\" = torch.ops.aten.cos.default(y)\n"
          "        m: \"f32[s1][1]\" = torch.ops.aten.sum.dim_IntList(z, [1])\n"
          "        return (m,)\n");

static void test_cut(void **state)
{
    (void)state;
    struct candidate *c = read_text(chain), *d;
    d = apply(c, (struct edit){ EDIT_CUT, named(c, "z"), 1, 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1, 4][4, 1]\", z: \"f32[s1, 4][4, 1]\"",
                          "        y: \"f32[s1, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
                          "        m: \"f32[s1][1]\" = torch.ops.aten.sum.dim_IntList(z, [1])\n"
                          "        return (y, m)\n"));
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_CUT, named(c, "z"), 0, 0 });
    assert_graph(d, GRAPH(", z: \"f32[s1, 4][4, 1]\"",
                          "        m: \"f32[s1][1]\" = torch.ops.aten.sum.dim_IntList(z, [1])\n"
                          "        return (m,)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_CUT, named(c, "x"), 0, 0 }, "only calls");
    candidate_free(c);
}

static struct candidate *read_gradients(const char *text, bool gradients)
{
    struct err err = ERR_INIT;
    struct candidate_options options = { .gradients = gradients };
    struct candidate *ret = candidate_read_fx(str_of(text), &options, &err);
    assert_no_err(&err);
    return ret;
}

static void assert_gradient(const struct candidate *c, const char *input, bool expected)
{
    assert_int_equal(candidate_requires_grad(c, named(c, input)), expected);
}

/* A value that becomes an input requires a gradient if it was computed from one that does. */
static void test_gradients(void **state)
{
    (void)state;
    struct buf text = BUF_INIT, printed = BUF_INIT;
    buf_printf(&text, "# requires_grad x\n%s", chain);
    buf_putc(&text, '\0');
    struct candidate *c = read_gradients(text.p, false), *d, *e;
    assert_int_equal(candidate_n_gradients(c), 0);
    candidate_free(c);
    c = read_gradients(
        "# requires_grad nothing\n" GRAPH(", x: \"f32[2][1]\"", "        return (x,)\n"), true);
    assert_int_equal(candidate_n_gradients(c), 0);
    candidate_free(c);
    c = read_gradients("# requires_grad x\n" GRAPH(", x: \"i64[2][1]\"", "        return (x,)\n"),
                       true);
    assert_int_equal(candidate_n_gradients(c), 0);
    candidate_free(c);
    c = read_gradients(text.p, true);
    assert_int_equal(candidate_n_gradients(c), 1);
    assert_true(candidate_print_fx(c, &printed));
    assert_true(str_find(buf_str(&printed), STR("# requires_grad x\n")) < printed.n);
    d = apply(c, (struct edit){ EDIT_CUT, named(c, "z"), 1, 0 });
    assert_gradient(d, "x", true);
    assert_gradient(d, "z", true);
    e = apply(d, (struct edit){ EDIT_GRADIENT, 0, 0, 0 });
    assert_gradient(e, "x", false);
    assert_gradient(e, "z", true);
    struct cand_size less = candidate_size(e), more = candidate_size(d);
    struct cand_hash now = candidate_hash(e), before = candidate_hash(d);
    assert_true(cand_size_compare(&less, &more) < 0);
    assert_true(now.low != before.low && now.high != before.high);
    assert_refused(e, (struct edit){ EDIT_GRADIENT, 0, 0, 0 }, "no such input");
    candidate_free(d);
    d = apply(e, (struct edit){ EDIT_STATIC, 0, 0, 0 });
    assert_gradient(d, "x", false);
    assert_gradient(d, "z", true);
    candidate_free(c);
    candidate_free(d);
    candidate_free(e);
    buf_release(&text);
    buf_release(&printed);
}

static void test_bypass(void **state)
{
    (void)state;
    struct candidate *c = read_text(chain), *d;
    d = apply(c, (struct edit){ EDIT_BYPASS, named(c, "z"), named(c, "x"), 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1, 4][4, 1]\"",
                          "        m: \"f32[s1][1]\" = torch.ops.aten.sum.dim_IntList(x, [1])\n"
                          "        return (m,)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_BYPASS, named(c, "m"), named(c, "x"), 0 }, "differ");
    assert_refused(c, (struct edit){ EDIT_BYPASS, named(c, "y"), named(c, "z"), 0 }, "before");
    candidate_free(c);
}

static void test_prefix_and_suffix(void **state)
{
    (void)state;
    struct candidate *c = read_text(chain), *d;
    d = apply(c, (struct edit){ EDIT_KEEP_PREFIX, named(c, "y"), 0, 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1, 4][4, 1]\"",
                          "        y: \"f32[s1, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
                          "        return (y,)\n"));
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_DROP_PREFIX, named(c, "m"), 0, 0 });
    assert_graph(d, GRAPH(", z: \"f32[s1, 4][4, 1]\"",
                          "        m: \"f32[s1][1]\" = torch.ops.aten.sum.dim_IntList(z, [1])\n"
                          "        return (m,)\n"));
    candidate_free(d);
    candidate_free(c);
}

/* Each symbol that is left is bound: by an input of its own where nothing else does it. */
static void test_closure(void **state)
{
    (void)state;
    struct candidate *d, *c = read_text("# symbol s1 = 3 in [2, int_oo]\n# guard s1 < 9\n" GRAPH(
                             ", x: \"f32[s1, 4][4, 1]\"",
                             "        y: \"f32[4*s1][1]\" = torch.ops.aten.view.default(x, [-1])\n"
                             "        z: \"f32[4*s1][1]\" = torch.ops.aten.cos.default(y)\n"
                             "        return (z,)\n"));
    d = apply(c, (struct edit){ EDIT_CUT, named(c, "y"), 0, 0 });
    assert_graph(d, GRAPH(", y: \"f32[4*s1][1]\", s1: \"Sym(s1)\"",
                          "        z: \"f32[4*s1][1]\" = torch.ops.aten.cos.default(y)\n"
                          "        return (z,)\n"));
    assert_int_equal(d->n_guards, 1);
    /* 4*s1 becomes a symbol of its own; the guard on s1 is one on a quarter of it. */
    struct edit no_guard = { EDIT_REMOVE_GUARD, 0, 0, 0 };
    struct candidate *e = apply(d, no_guard);
    struct candidate *f = apply(e, (struct edit){ EDIT_FRESH, 0, 0, 0 });
    assert_graph(f, GRAPH(", y: \"f32[s1000][1]\"",
                          "        z: \"f32[s1000][1]\" = torch.ops.aten.cos.default(y)\n"
                          "        return (z,)\n"));
    assert_int_equal(f->n_symbols, 1);
    assert_int_equal(f->symbols[0].hint, 12);
    candidate_free(f);
    candidate_free(e);
    candidate_free(d);
    candidate_free(c);
}

/* A size that becomes a symbol stays the same number: a call that the engine does not support has
 * the result that was recorded, in the new symbol. */
static void test_fresh_before_unsupported(void **state)
{
    (void)state;
    struct candidate *c = read_text("# symbol s1 = 3 in [2, int_oo]\n" GRAPH(
        ", x: \"f32[4*s1][1]\"",
        "        y: \"f32[4*s1][1]\" = torch.ops.aten.cos.default(x)\n"
        "        z: \"f32[4*s1 + 1][1]\" = torch.ops.my.longer.default(y)\n"
        "        w: \"f32[4*s1 + 1][1]\" = torch.ops.aten.sin.default(z)\n"
        "        return (w,)\n"));
    struct candidate *d = apply(c, (struct edit){ EDIT_FRESH, 0, 0, 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1000][1]\"",
                          "        y: \"f32[s1000][1]\" = torch.ops.aten.cos.default(x)\n"
                          "        z: \"f32[s1000 + 1][1]\" = torch.ops.my.longer.default(y)\n"
                          "        w: \"f32[s1000 + 1][1]\" = torch.ops.aten.sin.default(z)\n"
                          "        return (w,)\n"));
    candidate_free(d);
    candidate_free(c);
}

static const char *const parts =
    GRAPH(", x: \"f32[s1, 4][4, 1]\"",
          "        split = torch.ops.aten.split.Tensor(x, 2, 1)\n"
          "        a: \"f32[s1, 2][4, 1]\" = split[0]\n"
          "        b: \"f32[s1, 2][4, 1]\" = split[1]\n"
          "        c: \"f32[s1, 2][2, 1]\" = torch.ops.aten.add.Tensor(a, b)\n"
          "        return (c,)\n");

static void test_parts(void **state)
{
    (void)state;
    struct candidate *c = read_text(parts), *d;
    struct cand_size size = candidate_size(c);
    assert_int_equal(size.part[SIZE_CALLS], 2);
    d = apply(c, (struct edit){ EDIT_CUT, named(c, "split"), 1, 0 });
    assert_graph(d, GRAPH(", a: \"f32[s1, 2][4, 1]\", b: \"f32[s1, 2][4, 1]\"",
                          "        c: \"f32[s1, 2][2, 1]\" = torch.ops.aten.add.Tensor(a, b)\n"
                          "        return (c,)\n"));
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_BYPASS, named(c, "b"), named(c, "a"), 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1, 4][4, 1]\"",
                          "        split = torch.ops.aten.split.Tensor(x, 2, 1)\n"
                          "        a: \"f32[s1, 2][4, 1]\" = split[0]\n"
                          "        c: \"f32[s1, 2][2, 1]\" = torch.ops.aten.add.Tensor(a, a)\n"
                          "        return (c,)\n"));
    candidate_free(d);
    candidate_free(c);
}

/* sin of a 3-D tensor, a view and a transpose of it, and what a matmul makes of that. */
static const char *const views = "# symbol s1 = 3 in [2, int_oo]\n" GRAPH(
    ", x: \"f32[s1, 4][4, 1]\", w: \"f32[4, 4][4, 1]\"",
    "        a: \"f32[s1, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
    "        b: \"f32[2, 2*s1][2*s1, 1]\" = torch.ops.aten.view.default(a, [2, -1])\n"
    "        c: \"f32[2*s1, 2][1, 2*s1]\" = torch.ops.aten.t.default(b)\n"
    "        d: \"f32[2*s1, 2][1, 2*s1]\" = torch.ops.aten.cos.default(c)\n"
    "        e: \"f32[s1, 4][4, 1]\" = torch.ops.aten.mm.default(a, w)\n"
    "        return (d, e)\n");

/* A value of other sizes stands in: those behind it are computed anew, or it is refused. */
static void test_substitute(void **state)
{
    (void)state;
    struct candidate *c = read_text(views), *d;
    d = apply(c, (struct edit){ EDIT_SUBSTITUTE, named(c, "c"), named(c, "a"), 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1, 4][4, 1]\", w: \"f32[4, 4][4, 1]\"",
                          "        a: \"f32[s1, 4][4, 1]\" = torch.ops.aten.sin.default(x)\n"
                          "        d: \"f32[s1, 4][4, 1]\" = torch.ops.aten.cos.default(a)\n"
                          "        e: \"f32[s1, 4][4, 1]\" = torch.ops.aten.mm.default(a, w)\n"
                          "        return (d, e)\n"));
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_SUBSTITUTE, named(c, "a"), named(c, "w"), 0 });
    assert_graph(d,
                 GRAPH(", w: \"f32[4, 4][4, 1]\"",
                       "        b: \"f32[2, 8][8, 1]\" = torch.ops.aten.view.default(w, [2, -1])\n"
                       "        c: \"f32[8, 2][1, 8]\" = torch.ops.aten.t.default(b)\n"
                       "        d: \"f32[8, 2][1, 8]\" = torch.ops.aten.cos.default(c)\n"
                       "        e: \"f32[4, 4][4, 1]\" = torch.ops.aten.mm.default(w, w)\n"
                       "        return (d, e)\n"));
    assert_int_equal(d->n_symbols, 0);
    assert_refused(c, (struct edit){ EDIT_SUBSTITUTE, named(c, "a"), named(c, "d"), 0 }, "before");
    candidate_free(d);
    struct candidate *swapped =
        read_text(GRAPH(", x: \"f32[4, 5][5, 1]\"",
                        "        y: \"f32[5, 4][1, 5]\" = torch.ops.aten.t.default(x)\n"
                        "        z: \"f32[4, 4][4, 1]\" = torch.ops.aten.mm.default(x, y)\n"
                        "        return (z,)\n"));
    assert_refused(swapped, (struct edit){ EDIT_SUBSTITUTE, named(swapped, "y"), 0, 0 },
                   "z: RuntimeError");
    candidate_free(swapped);
    candidate_free(c);
    c = read_text(GRAPH(", x: \"f32[4, 5][5, 1]\"",
                        "        n: \"Sym(4)\" = torch.ops.aten.sym_size.int(x, 0)\n"
                        "        y: \"f32[4][1]\" = torch.ops.aten.ones.default([n])\n"
                        "        z: \"f32[1, 4][4, 1]\" = torch.ops.aten.unsqueeze.default(y, 0)\n"
                        "        return (z,)\n"));
    assert_refused(c, (struct edit){ EDIT_SUBSTITUTE, named(c, "y"), named(c, "n"), 0 },
                   "the other is not");
    candidate_free(c);
}

static bool substitute_once(void *arg)
{
    struct err err = ERR_INIT;
    struct candidate *c = candidate_read_fx(str_of(arg), NULL, &err), *d = NULL;
    if (c)
        d = candidate_apply(c, &(struct edit){ EDIT_SUBSTITUTE, named(c, "c"), named(c, "a"), 0 },
                            1, &err);
    candidate_free(d);
    candidate_free(c);
    return d != NULL;
}

/* Sizes follow from what changes; what cannot be is refused before anybody is asked. */
static void test_sizes(void **state)
{
    (void)state;
    struct candidate *d,
        *c = read_text("# symbol s1 = 3 in [2, int_oo]\n# symbol s2 = 3 in [2, int_oo]\n" GRAPH(
            ", x: \"f32[s1, 4][4, 1]\", w: \"f32[4, s2][s2, 1]\"",
            "        y: \"f32[s1, s2][s2, 1]\" = torch.ops.aten.mm.default(x, w)\n"
            "        return (y,)\n"));
    d = apply(c, (struct edit){ EDIT_STATIC, 0, 0, 0 });
    assert_graph(d, GRAPH(", x: \"f32[3, 4][4, 1]\", w: \"f32[4, s2][s2, 1]\"",
                          "        y: \"f32[3, s2][s2, 1]\" = torch.ops.aten.mm.default(x, w)\n"
                          "        return (y,)\n"));
    assert_int_equal(d->n_symbols, 1);
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_MERGE, 1, 0, 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1, 4][4, 1]\", w: \"f32[4, s1][s1, 1]\"",
                          "        y: \"f32[s1, s1][s1, 1]\" = torch.ops.aten.mm.default(x, w)\n"
                          "        return (y,)\n"));
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_HINT, 0, 0, 7 });
    assert_int_equal(d->symbols[0].hint, 7);
    candidate_free(d);
    d = apply(c, (struct edit){ EDIT_DTYPE, DTYPE_F32, DTYPE_F64, 0 });
    assert_graph(d, GRAPH(", x: \"f64[s1, 4][4, 1]\", w: \"f64[4, s2][s2, 1]\"",
                          "        y: \"f64[s1, s2][s2, 1]\" = torch.ops.aten.mm.default(x, w)\n"
                          "        return (y,)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_HINT, 0, 0, 1 }, "range");
    assert_refused(c, (struct edit){ EDIT_SIZE_CONSTANT, 0, 1, 5 }, "y: RuntimeError");
    assert_refused(c, (struct edit){ EDIT_DROP_DIM, 0, 0, 0 }, "y: RuntimeError");
    candidate_free(c);
}

/* The text of a graph may have more dimensions than a tensor of PyTorch. */
static struct candidate *read_dims(unsigned n, bool strides)
{
    struct buf text = BUF_INIT;
    buf_puts(&text, "class f(torch.nn.Module):\n    def forward(self, x: \"f32[3");
    for (unsigned d = 1; d < n; d++)
        buf_puts(&text, ", 1");
    for (unsigned d = 0; d < n && strides; d++)
        buf_puts(&text, d ? ", 7" : "][7");
    buf_puts(&text, "]\", w: \"f32[5, 4][4, 1]\"):\n"
                    "        y: \"f32[5, 4][4, 1]\" = torch.ops.aten.sin.default(w)\n"
                    "        return (y, x)\n");
    buf_putc(&text, '\0');
    struct candidate *ret = read_text(text.p);
    buf_release(&text);
    return ret;
}

static void test_many_dims(void **state)
{
    (void)state;
    static const unsigned counts[] = { 64, 65, 300 };
    for (unsigned i = 0; i < 6; i++) {
        unsigned n = counts[i / 2];
        bool changes = n <= 64 && i % 2 == 0; /* no strides: contiguous */
        struct candidate *c = read_dims(n, i % 2), *d;
        struct err err = ERR_INIT;
        static const struct edit edits[] = { { EDIT_SIZE_CONSTANT, NODE_NONE, 3, 2 },
                                             { EDIT_SIZE_CONSTANT, 0, 0, 2 } };
        for (unsigned k = 0; k < 2; k++) {
            d = candidate_apply(c, &edits[k], 1, &err);
            assert_int_equal(d != NULL, changes);
            if (changes)
                assert_no_err(&err);
            else
                assert_err(&err, ERR_USAGE, "only sizes of inputs without gaps change");
            candidate_free(d);
        }
        static const struct edit others[] = { { EDIT_SIZE_CONSTANT, NODE_NONE, 4, 2 },
                                              { EDIT_CONTIGUOUS, 0, 0, 0 },
                                              { EDIT_DROP_DIM, 0, 1, 0 } };
        for (unsigned k = 0; k < 3; k++)
            candidate_free(apply(c, others[k]));
        candidate_free(c);
    }
}

/* A stride of a dimension of size 1 is never used. */
static void test_size_one(void **state)
{
    (void)state;
    struct candidate *d,
        *c =
            read_text(GRAPH(", x: \"f32[4, 1, 5][1, 4, 4]\", z: \"f32[4, 1, 5][1, 9, 5]\"",
                            "        y: \"f32[4, 1, 5][1, 4, 4]\" = torch.ops.aten.sin.default(x)\n"
                            "        return (z, y)\n"));
    d = apply(c, (struct edit){ EDIT_SIZE_CONSTANT, 0, 0, 2 });
    assert_graph(d, GRAPH(", x: \"f32[2, 1, 5][1, 10, 2]\", z: \"f32[4, 1, 5][1, 9, 5]\"",
                          "        y: \"f32[2, 1, 5][1, 10, 2]\" = torch.ops.aten.sin.default(x)\n"
                          "        return (z, y)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_SIZE_CONSTANT, 1, 0, 2 }, "without gaps");
    candidate_free(c);
}

static void test_arguments(void **state)
{
    (void)state;
    struct candidate *d,
        *c = read_text(
            GRAPH(", x: \"f32[4, 5][5, 1]\"",
                  "        y: \"f32[4, 1][1, 1]\" = torch.ops.aten.mean.dim(x, [-1], True)\n"
                  "        z: \"f32[4, 1][1, 1]\" = torch.ops.aten.add.Tensor(y, y, alpha = 3)\n"
                  "        return (z,)\n"));
    d = apply(c, (struct edit){ EDIT_ARGUMENT, named(c, "z"), 2, 0 });
    assert_graph(d,
                 GRAPH(", x: \"f32[4, 5][5, 1]\"",
                       "        y: \"f32[4, 1][1, 1]\" = torch.ops.aten.mean.dim(x, [-1], True)\n"
                       "        z: \"f32[4, 1][1, 1]\" = torch.ops.aten.add.Tensor(y, y)\n"
                       "        return (z,)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_ARGUMENT, named(c, "z"), 0, 0 }, "simpler");
    candidate_free(c);
}

/* x is a view of m, which add_ writes to: z sees it. */
static const char *const written =
    GRAPH(", n: \"f32[4][1]\"", "        m: \"f32[4][1]\" = torch.ops.aten.sin.default(n)\n"
                                "        x: \"f32[4][1]\" = torch.ops.aten.alias.default(m)\n"
                                "        add_: \"f32[4][1]\" = torch.ops.aten.add_.Tensor(x, 1)\n"
                                "        z: \"f32[4][1]\" = torch.ops.aten.cos.default(m)\n"
                                "        return (z,)\n");

static void test_memory_is_kept(void **state)
{
    (void)state;
    struct candidate *c = read_text(written), *d;
    assert_refused(c, (struct edit){ EDIT_CUT, named(c, "x"), 0, 0 }, "memory");
    assert_refused(c, (struct edit){ EDIT_BYPASS, named(c, "x"), named(c, "n"), 0 }, "memory");
    d = apply(c, (struct edit){ EDIT_CUT, named(c, "m"), 0, 0 });
    assert_graph(d, GRAPH(", m: \"f32[4][1]\"",
                          "        x: \"f32[4][1]\" = torch.ops.aten.alias.default(m)\n"
                          "        add_: \"f32[4][1]\" = torch.ops.aten.add_.Tensor(x, 1)\n"
                          "        z: \"f32[4][1]\" = torch.ops.aten.cos.default(m)\n"
                          "        return (z,)\n"));
    candidate_free(d);
    candidate_free(c);
}

static void test_inline(void **state)
{
    (void)state;
    struct candidate *d,
        *c = read_text(
            "class f(torch.nn.Module):\n    def forward(self, x: \"f32[s1][1]\"):\n"
            "        body_0 = self.body_0\n"
            "        call = torch.ops.higher_order.invoke_subgraph(body_0, 'body_0', x, x)\n"
            "        a: \"f32[s1][1]\" = call[0]\n"
            "        b: \"f32[s1][1]\" = torch.ops.aten.cos.default(a)\n"
            "        return (b,)\n\n"
            "    class body_0(torch.nn.Module):\n"
            "        def forward(self, p: \"f32[s1][1]\", q: \"f32[s1][1]\"):\n"
            "            y: \"f32[s1][1]\" = torch.ops.aten.mul.Tensor(p, q)\n"
            "            return (y,)\n");
    d = apply(c, (struct edit){ EDIT_INLINE, named(c, "call"), 0, 0 });
    assert_graph(d, GRAPH(", x: \"f32[s1][1]\"",
                          "        call_y: \"f32[s1][1]\" = torch.ops.aten.mul.Tensor(x, x)\n"
                          "        b: \"f32[s1][1]\" = torch.ops.aten.cos.default(call_y)\n"
                          "        return (b,)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_INLINE, named(c, "b"), 0, 0 }, "no subgraph");
    candidate_free(c);
}

static void test_contradictions(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct candidate *c = read_text(chain);
    struct edit edits[] = { { EDIT_CUT, named(c, "y"), 0, 0 },
                            { EDIT_BYPASS, named(c, "y"), named(c, "x"), 0 } };
    assert_null(candidate_apply(c, edits, 2, &err));
    assert_err(&err, ERR_USAGE, "two edits");
    edits[0] = (struct edit){ EDIT_REMOVE_NODE, named(c, "y"), 0, 0 };
    assert_null(candidate_apply(c, edits, 1, &err));
    assert_err(&err, ERR_USAGE, "another needs");
    assert_refused(c, (struct edit){ EDIT_REMOVE_INPUT, 0, 0, 0 }, "used");
    assert_refused(c, (struct edit){ EDIT_REMOVE_OUTPUT, 3, 0, 0 }, "no such");
    assert_refused(c, (struct edit){ EDIT_CUT, 99, 0, 0 }, "no such");
    candidate_free(c);
}

static void test_text(void **state)
{
    (void)state;
    struct edit edit = { EDIT_BYPASS, 17, 4, -3 }, again;
    struct buf text = BUF_INIT;
    edit_print(&edit, &text);
    assert_str_is(buf_str(&text), "bypass 17 4 -3");
    assert_true(edit_read(buf_str(&text), &again));
    assert_true(again.kind == edit.kind && again.a == 17 && again.b == 4 && again.value == -3);
    assert_false(edit_read(STR("bypass 17 4"), &again));
    assert_false(edit_read(STR("nothing 1 2 3"), &again));
    buf_release(&text);
}

static bool reshape_once(void *arg)
{
    struct err err = ERR_INIT;
    struct candidate *c = candidate_read_fx(str_of(arg), NULL, &err), *d = NULL;
    struct edit edits[] = { { EDIT_STATIC, 0, 0, 0 }, { EDIT_CUT, 1, 1, 0 } };
    if (c)
        d = candidate_apply(c, edits, 2, &err);
    candidate_free(d);
    candidate_free(c);
    return d != NULL;
}

static bool refer_once(void *arg)
{
    struct err err = ERR_INIT;
    struct candidate *c = candidate_read_fx(str_of(arg), NULL, &err), *d = NULL;
    if (c)
        d = candidate_apply(c, &(struct edit){ EDIT_REFERENCE, named(c, "z"), named(c, "y"), 1 }, 1,
                            &err);
    candidate_free(d);
    candidate_free(c);
    return d != NULL;
}

/* One of two equal arguments is replaced by what it was computed from, of another size. */
static void test_references(void **state)
{
    static const char twice[] =
        GRAPH(", x: \"f32[4, 5][5, 1]\"",
              "        y: \"f32[4, 5][5, 1]\" = torch.ops.aten.sin.default(x)\n"
              "        w: \"f32[1, 4, 5][20, 5, 1]\" = torch.ops.aten.unsqueeze.default(y, 0)\n"
              "        v: \"f32[2, 4, 5][20, 5, 1]\" = torch.ops.aten.cat.default([w, w])\n"
              "        z: \"f32[1, 4, 5][20, 5, 1]\" = torch.ops.aten.add.Tensor(w, w)\n"
              "        return (v, z)\n");
    (void)state;
    struct err why = ERR_INIT;
    struct candidate *c = read_text(twice), *d;
    const struct edit edits[] = { { EDIT_REFERENCE, named(c, "z"), named(c, "y"), 0 },
                                  { EDIT_CUT, named(c, "w"), 0, 0 } };
    d = candidate_apply(c, edits, 2, &why);
    assert_no_err(&why);
    assert_graph(
        d, GRAPH(", x: \"f32[4, 5][5, 1]\", w: \"f32[1, 4, 5][20, 5, 1]\"",
                 "        y: \"f32[4, 5][5, 1]\" = torch.ops.aten.sin.default(x)\n"
                 "        v: \"f32[2, 4, 5][20, 5, 1]\" = torch.ops.aten.cat.default([w, w])\n"
                 "        z: \"f32[1, 4, 5][20, 5, 1]\" = torch.ops.aten.add.Tensor(y, w)\n"
                 "        return (v, z)\n"));
    candidate_free(d);
    assert_refused(c, (struct edit){ EDIT_REFERENCE, named(c, "z"), named(c, "z"), 0 },
                   "before it");
    assert_refused(c, (struct edit){ EDIT_REFERENCE, named(c, "z"), named(c, "y"), 2 }, "refer");
    assert_refused(c, (struct edit){ EDIT_REFERENCE, named(c, "x"), named(c, "x"), 0 }, "call");
    assert_refused(c, (struct edit){ EDIT_REFERENCE, 1000, 0, 0 }, "call");
    /* The second item of a list is the second reference; what does not fit is refused. */
    assert_refused(c, (struct edit){ EDIT_REFERENCE, named(c, "v"), named(c, "y"), 1 }, "v: ");
    candidate_free(c);
    c = read_text(written);
    assert_refused(c, (struct edit){ EDIT_REFERENCE, named(c, "z"), named(c, "n"), 0 }, "writes");
    candidate_free(c);
    check_alloc_failures(refer_once, (void *)twice);
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(reshape_once, (void *)chain);
    check_alloc_failures(substitute_once, (void *)views);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut),        cmocka_unit_test(test_gradients),
        cmocka_unit_test(test_bypass),     cmocka_unit_test(test_prefix_and_suffix),
        cmocka_unit_test(test_closure),    cmocka_unit_test(test_fresh_before_unsupported),
        cmocka_unit_test(test_parts),      cmocka_unit_test(test_substitute),
        cmocka_unit_test(test_sizes),      cmocka_unit_test(test_many_dims),
        cmocka_unit_test(test_size_one),   cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_references), cmocka_unit_test(test_memory_is_kept),
        cmocka_unit_test(test_inline),     cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_text),       cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

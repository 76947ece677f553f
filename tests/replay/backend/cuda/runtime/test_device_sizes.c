/* Sizes that stay on the device, on the fake device (tests/cuda) or, with $SYMTAPE_TEST_DEVICE, on
 * the one that there is: values beside those of the CPU
 * backend, how often the host reads sizes, and which calls need them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/run/run.h"
#include "tests/harness.h"

struct row {
    const char *inputs, *body;
    const char *needs; /* the first operator that takes sizes from the host; NULL: none */
};

#define X "x: \"f32[70, 33][33, 1]cpu\""

static const struct row rows[] = {
    /* pointwise, in the sizes of the count, and beside a number of its own */
    { X,
      "n = aten.nonzero.default(x); a = aten.select.int(n, 1, 0); b = aten.add.Tensor(a, 3); "
      "r = aten.mul.Tensor(b, a)",
      NULL },
    { X,
      "p = aten.relu.default(x); n = aten.masked_select.default(p, aten.gt.Scalar(x, 0.5)); "
      "r = aten.exp.default(n)",
      NULL },
    /* reductions over the count, and over others */
    { X, "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); r = aten.sum.default(n)",
      NULL },
    { X, "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); r = aten.mean.default(n)",
      NULL },
    { X, "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); r = aten.var.correction(n)",
      NULL },
    { X, "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); r = aten.argmax.default(n)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); "
      "e = aten.index_select.default(x, 0, i); r = aten.sum.dim_IntList(e, [0])",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); "
      "e = aten.index_select.default(x, 0, i); r = aten.sum.dim_IntList(e, [1])",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); "
      "e = aten.index_select.default(x, 0, i); r = aten._softmax.default(e, 1, False)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); "
      "e = aten.index.Tensor(x, [i]); r = aten.amax.default(e, [0])",
      NULL },
    { X ", m: \"b8[70][1]cpu\"", "e = aten.index.Tensor(x, [m]); r = aten.tanh.default(e)", NULL },
    { X ", m: \"b8[70][1]cpu\"", "e = aten.index.Tensor(x, [m]); r = aten.cumsum.default(e, 0)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); v = aten.view.default(e, [-1]); "
      "r = aten.neg.default(v)",
      NULL },
    /* counts of what was counted */
    { X,
      "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.2)); "
      "k = aten.masked_select.default(n, aten.lt.Scalar(n, 0.9)); r = aten.sum.default(k)",
      NULL },
    { X,
      "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.2)); "
      "r = aten.nonzero.default(aten.lt.Scalar(n, 0.9))",
      NULL },
    { "x: \"i64[500][1]cpu\"",
      "u = aten._unique2.default(x, True, True, True); v = u[0]; c = u[2]; "
      "r = aten.mul.Tensor(v, c)",
      NULL },
    /* the same operator twice, whose sizes are not known to be equal */
    { X,
      "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); "
      "k = aten.masked_select.default(x, aten.le.Scalar(x, 0.5)); "
      "s = aten.sum.default(n); t = aten.sum.default(k); r = aten.sub.Tensor(s, t)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.sum.dim_IntList(e, [1]); "
      "k = aten.index.Tensor(e, [aten.gt.Scalar(s, 16)]); r = aten.mul.Tensor(k, k)",
      NULL },
    /* sorted: what is beyond the count comes last */
    { X,
      "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); s = aten.sort.default(n); "
      "r = s[0]",
      NULL },
    { X,
      "n = aten.masked_select.default(x, aten.lt.Scalar(x, 0.5)); "
      "s = aten.sort.default(n, 0, True); r = s[1]",
      NULL },
    { "x: \"f32[130, 40][40, 1]cpu\"",
      "n = aten.masked_select.default(x, aten.gt.Scalar(x, -0.5)); "
      "s = aten.sort.stable(n, stable = True, dim = 0, descending = True); r = s[0]",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.sort.default(e, 0); r = s[1]", NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.topk.default(e, 3, 1); r = s[0]", NULL },
    /* matmuls compute rows and columns beyond the count, which nothing reads */
    { X ", m: \"b8[70][1]cpu\", w: \"f32[33, 5][5, 1]cpu\"",
      "e = aten.index.Tensor(x, [m]); p = aten.mm.default(e, w); r = aten.relu.default(p)", NULL },
    { X ", m: \"b8[70][1]cpu\", w: \"f32[33, 5][5, 1]cpu\", b: \"f32[5][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); p = aten.addmm.default(b, e, w); "
      "r = aten.sum.dim_IntList(p, [0])",
      NULL },
    { X ", m: \"b8[70][1]cpu\", w: \"f32[9, 33][33, 1]cpu\"",
      "e = aten.index.Tensor(x, [m]); t = aten.t.default(e); p = aten.mm.default(w, t); "
      "r = aten.exp.default(p)",
      NULL },
    { "x: \"f32[30, 6, 7][42, 7, 1]cpu\", m: \"b8[30][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); t = aten.transpose.int(e, 1, 2); "
      "p = aten.bmm.default(e, t); r = aten.relu.default(p)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); t = aten.t.default(e); r = aten.mm.default(t, e)",
      "aten.mm.default" },
    { "x: \"f32[12, 3, 8, 8][192, 64, 8, 1]cpu\", m: \"b8[12][1]cpu\", w: \"f32[4, 3, 3, 3][27, 9, 3, "
      "1]cpu\"",
      "e = aten.index.Tensor(x, [m]); "
      "c = aten.convolution.default(e, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1); "
      "r = aten.relu.default(c)",
      NULL },
    /* parts and joined tensors, along other dimensions */
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.slice.Tensor(e, 1, 3, 20); "
      "r = aten.sum.dim_IntList(s, [1])",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.split.Tensor(e, 11, 1); a = s[0]; b = s[2]; "
      "r = aten.mul.Tensor(a, b)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); f = aten.exp.default(e); c = aten.cat.default([e, f], 1); "
      "r = aten.sum.dim_IntList(c, [0])",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); f = aten.neg.default(e); c = aten.stack.default([e, f], 1); "
      "r = aten.amax.default(c, [1])",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.slice.Tensor(e, 0, 1, 9223372036854775807); "
      "r = aten.neg.default(s)",
      "aten.slice.Tensor" },
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); s = aten.slice.Tensor(e, 0, 0, 9223372036854775807); "
      "r = aten.neg.default(s)",
      NULL },
    /* entries beyond the count are not written */
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); e = aten.index_select.default(x, 0, i); "
      "r = aten.index_add.default(x, 0, i, e)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); e = aten.index.Tensor(x, [i]); "
      "f = aten.exp.default(e); r = aten.index_put.default(x, [i], f)",
      NULL },
    { X ", m: \"b8[70][1]cpu\"",
      "i = aten.select.int(aten.nonzero.default(m), 1, 0); e = aten.index.Tensor(x, [i]); "
      "r = aten.index_put.default(x, [i], e, True)",
      NULL },
    { "x: \"f32[6000][1]cpu\", y: \"f32[50][1]cpu\"",
      "n = aten.nonzero.default(aten.gt.Scalar(x, 0.5)); i = aten.select.int(n, 1, 0); "
      "e = aten.index_select.default(x, 0, i); j = aten.remainder.Scalar(i, 50); "
      "r = aten.scatter_add.default(y, 0, j, e)",
      NULL },
    { "x: \"f32[6000][1]cpu\", y: \"f32[6000][1]cpu\"",
      "n = aten.nonzero.default(aten.gt.Scalar(x, 0.5)); i = aten.select.int(n, 1, 0); "
      "e = aten.index_select.default(x, 0, i); r = aten.scatter.src(y, 0, i, e)",
      NULL },
    { X, "m = aten.gt.Scalar(x, 0.5); n = aten.index.Tensor(x, [m]); r = aten.exp.default(n)",
      NULL },
    /* what needs a number */
    { "x: \"i64[40][1]cpu\"", "i = aten.repeat_interleave.Tensor(x); r = aten.add.Tensor(i, 1)",
      "aten.repeat_interleave.Tensor" },
    { X,
      "n = aten.masked_select.default(x, aten.gt.Scalar(x, 0.5)); "
      "e = aten.cat.default([n, n]); r = aten.add.Tensor(e, 1)",
      "aten.cat.default" },
    /* what the kernel declines when it is called */
    { X ", m: \"b8[70][1]cpu\"",
      "e = aten.index.Tensor(x, [m]); c = aten.cumsum.default(e, 0, dtype = torch.int64); "
      "r = aten.add.Tensor(c, 1)",
      "aten.cumsum.default" },
};

/* Writes `a = f(g(x)); ...` as statements with one call each. */
static void put_statement(struct buf *text, const char *from, size_t n, unsigned *temporaries)
{
    struct str s = { from, n };
    while (s.n && (*s.p == ' ' || *s.p == '\n'))
        s.p++, s.n--;
    struct buf line = BUF_INIT;
    for (size_t i = 0; i < s.n; i++) {
        bool call = i && strncmp(s.p + i, "aten.", 5) == 0;
        bool inner =
            call && (s.p[i - 1] == '(' || s.p[i - 1] == '[' || (i > 1 && s.p[i - 2] == ','));
        if (!inner) {
            if (call)
                buf_puts(&line, "torch.ops.");
            buf_putc(&line, s.p[i]);
            continue;
        }
        size_t end = i;
        for (unsigned depth = 0; end < s.n; end++) {
            depth += s.p[end] == '(';
            if (s.p[end] == ')' && --depth == 0)
                break;
        }
        buf_printf(text, "        t%u = torch.ops.%.*s\n", ++*temporaries, (int)(end + 1 - i),
                   s.p + i);
        buf_printf(&line, "t%u", *temporaries);
        i = end;
    }
    buf_printf(text, "        %.*s\n", (int)line.n, line.p);
    buf_release(&line);
}

static struct graph *graph_of(const struct row *row)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    unsigned temporaries = 0;
    buf_printf(&text, "class f(torch.nn.Module):\n    def forward(self, %s):\n", row->inputs);
    for (const char *p = row->body; *p;) {
        size_t n = strcspn(p, ";");
        put_statement(&text, p, n, &temporaries);
        p += n + (p[n] == ';');
    }
    buf_puts(&text, "        return (r,)\n");
    struct graph *graph = graph_parse(buf_str(&text), &err);
    if (err_is_set(&err))
        print_error("%.*s\n", STR_ARG(buf_str(&text)));
    buf_release(&text);
    assert_no_err(&err);
    return graph;
}

static struct run *start(struct backend *backend, const struct graph *graph, bool device_sizes,
                         uint64_t seed)
{
    struct err err = ERR_INIT;
    struct run_options options = {
        .backend = backend, .seed = seed, .captures = device_sizes, .device_sizes = device_sizes
    };
    struct run *run = run_new(graph, &options, &err);
    assert_no_err(&err);
    return run;
}

static double number_at(const struct array *a, size_t i)
{
    return a->dtype == DTYPE_F32 ? (double)((const float *)a->p)[i]
                                 : (double)((const int64_t *)a->p)[i];
}

static void expect_equal(struct run *got, struct run *wanted, const char *body)
{
    struct arena arena = { 0 };
    struct err err = ERR_INIT;
    struct array a, b;
    run_array(got, got->outputs[0].u.tensor, &arena, &a, &err);
    assert_no_err(&err);
    run_array(wanted, wanted->outputs[0].u.tensor, &arena, &b, &err);
    assert_no_err(&err);
    bool same = a.ndim == b.ndim && a.bytes == b.bytes && a.dtype == b.dtype;
    for (uint32_t d = 0; same && d < a.ndim; d++)
        same = a.size[d] == b.size[d];
    for (size_t i = 0; same && i < a.bytes / dtype_size(a.dtype); i++) {
        double x = number_at(&a, i), y = number_at(&b, i), most = x < 0 ? -x : x;
        same = x - y <= 1e-5 * (1 + most) && y - x <= 1e-5 * (1 + most);
    }
    if (!same)
        print_error("other values: %s (%zu and %zu bytes)\n", body, a.bytes, b.bytes);
    assert_true(same);
    arena_release(&arena);
}

static void expect_needs(const struct run *run, const struct row *row, unsigned n)
{
    const struct device_sizes *sizes = &run->exec.sizes;
    struct str first = sizes->needs.n ? sizes->needs.v[0].op : STR("");
    if (!str_is(first, row->needs ? row->needs : ""))
        print_error("%s: %.*s (%s)\n", row->body, STR_ARG(first),
                    sizes->needs.n ? sizes->needs.v[0].why : "");
    assert_true(str_is(first, row->needs ? row->needs : ""));
    assert_int_equal(sizes->reads, 1);
    if (n && !row->needs && !run->captured)
        print_error("%s: %s\n", row->body, run->not_captured.text);
    assert_int_equal(run->captured != NULL, n > 0 && !row->needs);
    for (size_t i = 0; i < sizes->all.n; i++) {
        assert_true(sizes->all.v[i].value >= 0);
        assert_true(sizes->all.v[i].value <= sizes->all.v[i].most);
    }
}

static void test_values(void **state)
{
    struct err err = ERR_INIT;
    struct backend *cpu = backend_find(STR("cpu"))->open(&err), *cuda;
    (void)state;
    assert_no_err(&err);
    cuda = backend_find(STR("cuda"))->open(&err);
    assert_no_err(&err);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graph *graph = graph_of(&rows[i]);
        for (uint64_t seed = 1; seed < 3; seed++) {
            struct run *wanted = start(cpu, graph, false, seed);
            struct run *got = start(cuda, graph, true, seed);
            run_execute(wanted, &err);
            assert_no_err(&err);
            for (unsigned n = 0; n < 3; n++) {
                run_execute(got, &err);
                if (err_is_set(&err))
                    print_error("%s\n", rows[i].body);
                assert_no_err(&err);
                expect_equal(got, wanted, rows[i].body);
                expect_needs(got, &rows[i], n);
            }
            run_free(got);
            run_free(wanted);
        }
        graph_free(graph);
    }
    cuda->kind->close(cuda);
    cpu->kind->close(cpu);
}

int main(void)
{
    char folder[4096];
    snprintf(folder, sizeof folder, "%s/tests/cuda", getenv("SYMTAPE_BUILD"));
    if (!getenv("SYMTAPE_TEST_DEVICE")) {
        setenv("SYMTAPE_CUDA_LIB", folder, 1);
        strcat(folder, "/cache");
        /* a collector of programs (tests/cuda/nvrtc_programs.py) wants all to be compiled */
        setenv("XDG_CACHE_HOME", folder, getenv("SYMTAPE_FAKE_PROGRAMS") == NULL);
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

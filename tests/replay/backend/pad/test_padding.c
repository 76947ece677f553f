/* Graphs at padded sizes: which ones compute the same, and that those do. */
#include "replay/backend/pad/padding.h"

#include <string.h>

#include "replay/backend/pad/padded_run.h"
#include "replay/ops/dispatch/ops.h"
#include "replay/ops/dispatch/schema.h"
#include "replay/ops/layers.h"
#include "tests/harness.h"

struct padded_case {
    const char *inputs, *call; /* of a method with the result c */
    const char *refused;       /* a part of the reason; NULL: rows stay apart */
    bool items;                /* c is a tuple */
};

#define X   "x: \"f32[s0, 6][6, 1]cpu\""
#define SQ  "x: \"f32[s0, s0][s0, 1]cpu\""
#define IMG "x: \"f32[s0, 4, 6, 6][144, 36, 6, 1]cpu\""
#define W   ", w: \"f32[6, 5][5, 1]cpu\""
#define QKV                                          \
    "q: \"f32[2, 3, s0, 8][24*s0, 8*s0, 8, 1]cpu\"," \
    " k: \"f32[2, 3, s0, 8][24*s0, 8*s0, 8, 1]cpu\", v: \"f32[2, 3, s0, 8][24*s0, 8*s0, 8, 1]cpu\""

static const struct padded_case CASES[] = {
    { X, "aten.sin.default(x)", NULL },
    { X, "aten.mul.Tensor(x, 2)", NULL },
    { X ", n: \"Sym(s0)\"", "aten.mul.Tensor(x, n)", "other depends on the padded size" },
    { X, "aten.rand_like.default(x)", "random numbers" },
    { X, "aten.sum.dim_IntList(x, [1])", NULL },
    { X, "aten.sum.dim_IntList(x, [-2])", "along dimension 0, padded from 5 to 8" },
    { X, "aten.sum.default(x)", "along dimension 0" },
    { X, "aten.mean.dim(x, [0, 1])", "along dimension 0" },
    { X, "aten._softmax.default(x, -1, False)", NULL },
    { X, "aten._softmax.default(x, 0, False)", "along dimension 0" },
    { X, "aten.cumsum.default(x, 0)", "along dimension 0" },
    { X W, "aten.mm.default(x, w)", NULL },
    { SQ, "aten.mm.default(x, x)", "along dimension 1" },
    { X, "aten.view.default(x, [-1])", NULL },
    { X ", n: \"Sym(s0)\"", "aten.view.default(x, [n, 2, 3])", NULL },
    { X ", n: \"Sym(s0)\"", "aten.view.default(x, [6, n])", "not the outermost" },
    { SQ, "aten.view.default(x, [-1])", "not the outermost" },
    { X, "aten.permute.default(x, [1, 0])", NULL },
    { X, "aten.slice.Tensor(x, 0, 1, 9223372036854775807)", NULL },
    { X, "aten.slice.Tensor(x, 0, -2, 9223372036854775807)", "from the end" },
    { X, "aten.slice.Tensor(x, 1, -2, 9223372036854775807)", NULL },
    { X, "aten.select.int(x, 0, 1)", NULL },
    { X, "aten.select.int(x, 0, -1)", "from the end" },
    { X ", y: \"f32[2, 6][6, 1]cpu\"", "aten.cat.default([y, x])", NULL },
    { X ", y: \"f32[2, 6][6, 1]cpu\"", "aten.cat.default([x, y])", "behind a padded dimension" },
    { X, "aten.cat.default([x, x], 1)", NULL },
    { X, "aten.repeat.default(x, [1, 3])", NULL },
    { X, "aten.repeat.default(x, [2, 1])", "repeats a padded dimension" },
    { X, "aten.constant_pad_nd.default(x, [1, 1], 0.0)", NULL },
    { X, "aten.constant_pad_nd.default(x, [0, 0, 0, 1], 0.0)", "border" },
    { X, "aten.flip.default(x, [0])", "along dimension 0" },
    { X, "aten.topk.default(x, 2)", NULL, true },
    { X, "aten.as_strided.default(x, [2, 2], [3, 1])", "without regard to rows" },
    { X, "aten.nonzero.default(x)", "no rule" },
    { "n: \"Sym(s0)\"", "aten.arange.default(n, device = device(type='cpu'), pin_memory = False)",
      NULL },
    { IMG ", w: \"f32[3, 4, 3, 3][36, 9, 3, 1]cpu\"",
      "aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)", NULL },
    { "x: \"f32[2, 4, s0, 6][24*s0, 6*s0, 6, 1]cpu\", w: \"f32[3, 4, 3, 3][36, 9, 3, 1]cpu\"",
      "aten.convolution.default(x, w, None, [1, 1], [1, 1], [1, 1], False, [0, 0], 1)",
      "another is padded" },
    { QKV, "aten.scaled_dot_product_attention.default(q, k, v, None, 0.0, True)", NULL },
    { QKV, "aten.scaled_dot_product_attention.default(q, k, v)", "no causal mask" },
    { QKV, "aten.scaled_dot_product_attention.default(q, k, v, None, 0.5, True)", "random" },
    { X ", i: \"i64[s0][1]cpu\", t: \"f32[9, 6][6, 1]cpu\"", "aten.embedding.default(t, i)", NULL },
    { X ", i: \"i64[2][1]cpu\"", "aten.index.Tensor(x, [i])", "along dimension 0" },
    { X ", i: \"i64[s0][1]cpu\", t: \"f32[9, 6][6, 1]cpu\"", "aten.index.Tensor(t, [i])", NULL },
    { X,
      "aten.arange.start(1, 5, device = device(type='cpu'), pin_memory = False)\n"
      "        c = torch.ops.aten.index.Tensor(x, [c])",
      NULL },
    { X,
      "aten.arange.start(-1, 3, device = device(type='cpu'), pin_memory = False)\n"
      "        c = torch.ops.aten.index.Tensor(x, [c])",
      "along dimension 0" },
    { X ", i: \"i64[s0, 6][6, 1]cpu\"", "aten.scatter_add.default(x, 1, i, x)", NULL },
    { X ", i: \"i64[s0, 6][6, 1]cpu\"", "aten.scatter_add.default(x, 0, i, x)",
      "along dimension 0" },
    { X, "aten.native_layer_norm.default(x, [6], None, None, 1e-05)", NULL, true },
};

static const struct run_symbol SYMBOLS[] = { { { "s0", 2 }, 5, true, { "5", 1 } } };
static const struct run_size PLAIN[] = { { { "s0", 2 }, 5 } };
static const struct run_size PADDED[] = { { { "s0", 2 }, 8 } };

static struct graph *graph_of(const struct padded_case *one)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    buf_printf(&text,
               "class f(torch.nn.Module):\n    def forward(self, %s):\n"
               "        c = torch.ops.%s\n%s        return (%s,)\n",
               one->inputs, one->call, one->items ? "        d = c[0]\n" : "",
               one->items ? "d" : "c");
    struct graph *graph = graph_parse(buf_str(&text), &err);
    buf_release(&text);
    assert_no_err(&err);
    return graph;
}

static struct run_options options_of(struct backend *backend)
{
    return (struct run_options){
        .backend = backend, .symbols = SYMBOLS, .n_symbols = 1, .sizes = PLAIN, .n_sizes = 1
    };
}

static void check_case(const struct padded_case *one, struct backend *backend)
{
    struct graph *graph = graph_of(one);
    struct run_options options = options_of(backend);
    struct arena arena = ARENA_INIT;
    struct pad_verdict verdict;
    struct padded_outputs outputs;
    struct err err = ERR_INIT;
    bool ok = pad_check(graph, &options, PADDED, &arena, &verdict, &err);
    if (!ok || verdict.allowed != !one->refused)
        fail_msg("%s: %s%.*s", one->call, err.text, (int)verdict.reason.n, verdict.reason.p);
    if (one->refused) {
        if (str_find(verdict.reason, str_of(one->refused)) == verdict.reason.n)
            fail_msg("%s: %.*s", one->call, (int)verdict.reason.n, verdict.reason.p);
        assert_true(verdict.mixes);
        assert_true(node_is_call(&graph->nodes[verdict.node]));
    } else {
        if (!padded_run_compare(graph, &options, PADDED, &outputs, &err) || outputs.differing)
            fail_msg("%s: %s %g", one->call, err.text, outputs.most);
        assert_true(outputs.tensors > 0);
    }
    arena_release(&arena);
    graph_free(graph);
}

static void test_cases(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    assert_no_err(&err);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        check_case(&CASES[i], backend);
    backend->kind->close(backend);
}

/* A guard that forbids the padded size is no mixing of rows. */
static void test_guard(void **state)
{
    (void)state;
    static const struct run_guard guard = { .expr = { "s0 < 7", 6 } };
    struct graph *graph = graph_of(&CASES[0]);
    struct run_options options = options_of(NULL);
    struct arena arena = ARENA_INIT;
    struct pad_verdict verdict;
    struct err err = ERR_INIT;
    options.guards = &guard;
    options.n_guards = 1;
    assert_true(pad_check(graph, &options, PADDED, &arena, &verdict, &err));
    assert_false(verdict.allowed || verdict.mixes);
    assert_true(str_find(verdict.reason, STR("s0 < 7")) < verdict.reason.n);
    arena_release(&arena);
    graph_free(graph);
}

/* Values that differ at the padded size are found: rows of a sum over the padded dimension. */
static void test_difference(void **state)
{
    (void)state;
    static const struct padded_case sum = { X, "aten.sum.dim_IntList(x, [0])", NULL };
    struct graph *graph = graph_of(&sum);
    struct err err = ERR_INIT;
    struct backend *backend = backend_find(STR("cpu"))->open(&err);
    struct run_options options = options_of(backend);
    struct padded_outputs outputs;
    assert_true(padded_run_compare(graph, &options, PADDED, &outputs, &err));
    assert_int_equal(outputs.tensors, 1);
    assert_int_equal(outputs.differing, 1);
    assert_true(outputs.most > 0);
    backend->kind->close(backend);
    graph_free(graph);
}

static void test_resize(void **state)
{
    (void)state;
    static const int32_t values[] = { 1, 2, 3, 4, 5, 6 };
    static const int32_t more[] = { 1, 2, 2, 3, 4, 4, 5, 6, 6, 5, 6, 6 };
    static const int64_t grown[] = { 4, 3 }, shrunk[] = { 2, 1 }, none[] = { 0, 7 };
    static const int64_t many[] = { INT64_MAX, 3 };
    const struct array x = { .dtype = DTYPE_I32, .ndim = 2, .size = { 3, 2 }, values, 24 };
    const struct array empty = { .dtype = DTYPE_I32, .ndim = 2, .size = { 0, 2 }, values, 0 };
    struct arena arena = ARENA_INIT;
    struct err err = ERR_INIT;
    struct array got;
    assert_true(array_resize(&x, grown, &arena, &got, &err));
    assert_int_equal(got.bytes, sizeof more);
    assert_memory_equal(got.p, more, sizeof more);
    assert_true(array_resize(&got, shrunk, &arena, &got, &err));
    assert_int_equal(got.bytes, 8);
    assert_int_equal(((const int32_t *)got.p)[1], 3);
    assert_true(array_resize(&x, none, &arena, &got, &err));
    assert_int_equal(got.bytes, 0);
    assert_int_equal(err.kind, ERR_NONE);
    assert_false(array_resize(&empty, grown, &arena, &got, &err));
    assert_int_equal(err.kind, ERR_USAGE);
    err = ERR_INIT;
    assert_false(array_resize(&x, many, &arena, &got, &err));
    assert_int_equal(err.kind, ERR_ENV);
    arena_release(&arena);
}

/* ---- Names of arguments ---- */

static const struct row_names {
    const char *base, *class, *argument, *sizes;
} ROWS[] = {
#define PAD(base, class, argument, sizes) { #base, #class, #argument, #sizes },
#include "replay/backend/pad/pad_rules.def"
#undef PAD
};

/* What the rules of a class read beside the argument of the row. */
static const struct class_names {
    const char *class, *names;
} CLASSES[] = {
    { "DIM", "dim" },           { "DIMS", "dims" },
    { "SLICE", "dim start" },   { "SELECT", "dim index" },
    { "CAT", "dim" },           { "REPEAT", "repeats" },
    { "FRAME", "pad" },         { "INDEX", "indices" },
    { "SCATTER", "dim index" }, { "CAUSAL", "query dropout_p is_causal" },
};

/* Returns whether the schema has all these names, with spaces in between. */
static bool has_names(const struct schema *schema, const char *names)
{
    uint32_t found = 0, wanted = 0;
    for (struct str rest = str_of(names); rest.n; wanted++) {
        size_t space = str_find_char(rest, ' ');
        for (uint32_t k = 0; k < schema->n_args; k++)
            found += str_eq(schema->args[k].name, str_first(rest, space));
        rest = str_from(rest, space + 1);
    }
    return found == wanted;
}

/* Some operator of that base has these arguments; with `all`, each one of aten does. */
static void expect_names(struct ops *ops, const char *base, const char *names, bool all)
{
    uint32_t with = 0;
    for (size_t i = 0; i < ops_count(ops); i++) {
        const struct op *op = ops_at(ops, i);
        if (!str_is(op_schema(op)->base, base))
            continue;
        const struct schema *schema = ops_prepare(ops, ops_find(ops, op_name(op)));
        assert_non_null(schema);
        bool has = has_names(schema, names);
        with += has;
        if (all && !has && str_is(schema->space, "aten"))
            fail_msg("%.*s has no argument %s", STR_ARG(schema->text), names);
    }
    if (!with)
        fail_msg("no %s has the arguments %s", base, names);
}

/* All overloads have a row's argument, and some have its sizes and what the class reads. */
static void test_names(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    assert_non_null(ops);
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        expect_names(ops, ROWS[i].base, ROWS[i].argument, true);
        expect_names(ops, ROWS[i].base, ROWS[i].sizes, false);
        for (size_t k = 0; k < sizeof CLASSES / sizeof *CLASSES; k++)
            if (strcmp(CLASSES[k].class, ROWS[i].class) == 0)
                expect_names(ops, ROWS[i].base, CLASSES[k].names, false);
    }
    ops_free(ops);
    shape_env_free(env);
}

struct memory_case {
    struct graph *graph;
    struct backend *backend;
};

static bool check_and_compare(void *arg)
{
    struct memory_case *c = arg;
    struct run_options options = options_of(c->backend);
    struct arena arena = ARENA_INIT;
    struct pad_verdict verdict;
    struct padded_outputs outputs;
    struct err err = ERR_INIT;
    bool ok = pad_check(c->graph, &options, PADDED, &arena, &verdict, &err) &&
              padded_run_compare(c->graph, &options, PADDED, &outputs, &err);
    arena_release(&arena);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct memory_case c = { graph_of(&CASES[0]), backend_find(STR("cpu"))->open(&err) };
    check_alloc_failures(check_and_compare, &c);
    c.backend->kind->close(c.backend);
    graph_free(c.graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),      cmocka_unit_test(test_guard),
        cmocka_unit_test(test_difference), cmocka_unit_test(test_resize),
        cmocka_unit_test(test_names),      cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "replay/backend/compare/comparison.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/values/elements.h"
#include "replay/backend/values/samples.h"
#include "tests/harness.h"

static struct array array_of(enum dtype dtype, const void *p, int64_t n)
{
    return (struct array){
        .dtype = dtype, .ndim = 1, .size = { n }, .p = p, .bytes = (size_t)n * dtype_size(dtype)
    };
}

static void test_odd_places(void **state)
{
    (void)state;
    const float a[5] = { 1, NAN, INFINITY, 4, NAN }, b[5] = { 1, 2, 3, INFINITY, NAN };
    struct array x = array_of(DTYPE_F32, a, 5), y = array_of(DTYPE_F32, b, 5);
    struct difference d = compare_arrays(&x, &y, tolerance_of(DTYPE_F32));
    assert_int_equal(d.bad, 3);
    assert_int_equal(d.first_bad, 1);
    assert_int_equal(d.nans, 1);
    assert_int_equal(d.infs, 2);
    assert_int_equal(d.n_odd, 3);
    assert_true(d.odd[0].nan && !d.odd[0].in_got && d.odd[0].at == 1);
    assert_true(!d.odd[2].nan && d.odd[2].in_got && d.odd[2].at == 3);
    d = compare_arrays(&x, &x, tolerance_of(DTYPE_F32));
    assert_true(difference_is_none(&d));
}

/* More than is kept in memory goes to the disk and comes back; the file that is written is the
 * same. */
static void test_streams(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct value_file *file = value_file_new(NULL, &err);
    enum { N = 300000, COUNT = 40 };
    int32_t *p = calloc(N, sizeof *p);
    struct array a = array_of(DTYPE_I32, p, N), got;
    for (int i = 0; i < COUNT; i++) {
        char name[16];
        snprintf(name, sizeof name, "n%d", i);
        p[N - 1] = i;
        assert_true(value_file_add(file, str_of(name), &a, &err));
    }
    const char odd[3] = "ab";
    a = array_of(DTYPE_I8, odd, 3);
    assert_true(value_file_add(file, STR("odd"), &a, &err));
    assert_true(value_file_add(file, STR("odd"), &got, &err)); /* the first stands */
    assert_true(value_file_seal(file, &err));
    assert_int_equal(value_file_count(file), COUNT + 1);
    assert_true(value_file_find(file, STR("n7"), &got));
    assert_int_equal(((const int32_t *)got.p)[N - 1], 7);
    assert_false(value_file_find(file, STR("m"), &got));
    const char *path = temp_path("values.safetensors");
    assert_true(value_file_write(file, path, &err));
    struct safetensors *read = safetensors_open(path, &err);
    assert_no_err(&err);
    assert_true(safetensors_find(read, STR("n39"), &got));
    assert_int_equal(((const int32_t *)got.p)[N - 1], 39);
    assert_true(safetensors_find(read, STR("odd"), &got));
    assert_memory_equal(got.p, odd, 3);
    safetensors_close(read);
    value_file_free(file);
    free(p);
}

static void test_no_folder(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct value_file *file = value_file_new("/no/such/folder", &err);
    const size_t n = (32 << 20) + 8;
    char *p = calloc(n, 1);
    struct array a = array_of(DTYPE_I8, p, (int64_t)n);
    assert_false(value_file_add(file, STR("x"), &a, &err));
    assert_err(&err, ERR_ENV, "/no/such/folder");
    value_file_free(file);
    free(p);
}

static void test_samples(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct value_file *file = value_file_new(NULL, &err);
    int64_t p[10] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    struct array a = array_of(DTYPE_I64, p, 10), got;
    assert_true(samples_add(file, STR("x"), &a, 4, &arena, &err));
    assert_true(samples_add(file, STR("y"), &a, 10, &arena, &err));
    assert_true(value_file_seal(file, &err));
    assert_int_equal(value_file_count(file), 4);
    assert_true(value_file_find(file, STR("x#samples"), &got));
    assert_int_equal(got.size[0], 4); /* 0, 3, 6, 9 */
    assert_int_equal(((const int64_t *)got.p)[3], 9);
    assert_true(value_file_find(file, STR("x#layout"), &got));
    assert_int_equal(samples_layout_step(&got, &a), 3);
    a.size[0] = 5; /* another shape has no samples here */
    assert_int_equal(samples_layout_step(&got, &a), 0);
    value_file_free(file);
    arena_release(&arena);
}

/* ---- A graph against itself ---- */

/* The second factor is computed, since a random one would be scaled down by the number of terms. */
static const char graph_text[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, a: \"f32[8, 1024][1024, 1]cpu\", b: \"f32[1024, 8][8, 1]cpu\"):\n"
    "        minus: \"f32[1024, 8][8, 1]cpu\" = torch.ops.aten.neg.default(b)\n"
    "        mm: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.mm.default(a, minus)\n"
    "        rand: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.rand_like.default(mm)\n"
    "        exp: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.exp.default(rand)\n"
    "        tanh: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.tanh.default(mm)\n"
    "        neg: \"f32[8, 8][8, 1]cpu\" = torch.ops.aten.neg.default(tanh)\n"
    "        return (neg, exp)\n";

struct fault {
    struct comparison *comparison;
    struct str node;
    float by;
};

static bool with_fault(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err)
{
    const struct fault *fault = user;
    struct arena arena = ARENA_INIT;
    struct array a;
    bool ok = true;
    if (str_eq(run->graph->nodes[step->node].name, fault->node)) {
        ok = run_array(run, value->u.tensor, &arena, &a, err);
        for (size_t i = 0; ok && i < a.bytes / sizeof(float); i++)
            ((float *)a.p)[i] += fault->by;
        ok = ok && exec_write(&run->exec, value->u.tensor, a.p, a.bytes, err);
    }
    arena_release(&arena);
    return ok && comparison_check(fault->comparison, run, step, value, err);
}

static void compare_with(struct comparison *c, struct graph *graph, const char *node, float by,
                         uint64_t seed)
{
    struct err err = ERR_INIT;
    const struct backend_kind *cpu = backend_find(STR("cpu"));
    struct backend *backend = cpu->open(&err);
    struct fault fault = { c, str_of(node), by };
    const struct comparison_options how = { .nodes = true };
    struct run_options options = { .backend = backend, .node = comparison_expect, .node_user = c };
    assert_true(comparison_init(c, graph->n_nodes, &how, &err));
    struct run *run = run_new(graph, &options, &err);
    assert_true(run && run_execute(run, &err));
    assert_true(value_file_seal(c->values, &err));
    run_free(run);
    options.node = with_fault;
    options.node_user = &fault;
    run = run_new(graph, &options, &err);
    run->exec.seed = seed;
    assert_true(run_execute(run, &err));
    assert_no_err(&err);
    run_free(run);
    cpu->close(backend);
}

static void test_first_bad_node(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct comparison c;
    struct graph *graph = graph_parse(str_of(graph_text), &err);
    assert_no_err(&err);
    compare_with(&c, graph, "", 0, 0);
    assert_false(c.differs);
    assert_int_equal(c.counts[MATCH_EQUAL], 8);
    assert_null(comparison_first(&c));
    comparison_release(&c);
    compare_with(&c, graph, "tanh", 0.01f, 0);
    assert_true(c.differs);
    assert_str_is(comparison_first(&c)->name, "tanh");
    assert_true(comparison_first(&c)->same_inputs);
    assert_int_equal(c.counts[MATCH_DIFFERS], 1);
    assert_int_equal(c.counts[MATCH_FOLLOWS], 1);
    comparison_release(&c);
    graph_free(graph);
}

static void test_random_is_no_fault(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct comparison c;
    struct graph *graph = graph_parse(str_of(graph_text), &err);
    compare_with(&c, graph, "", 0, 77);
    assert_false(c.differs);
    assert_int_equal(c.counts[MATCH_RANDOM], 2);
    comparison_release(&c);
    graph_free(graph);
}

/* The product's tolerance is that of 1024 terms: what torch asks would be too strict for it. */
static void test_tolerance(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct comparison c;
    struct graph *graph = graph_parse(str_of(graph_text), &err);
    compare_with(&c, graph, "mm", 1e-4f, 0);
    assert_false(c.differs); /* 4 * 1024 / 2^24 */
    assert_int_equal(c.counts[MATCH_CLOSE], 3);
    const struct value_error *mm = &c.errors.nodes[3];
    assert_int_equal(mm->terms, 1024);
    assert_true(mm->relative == 0); /* what was seen goes on: four times 1e-4 */
    assert_true(mm->absolute > 3.9e-4 && mm->absolute < 4.2e-4);
    assert_true(error_model_tolerance(&c.errors, 3, DTYPE_I64).absolute == 0);
    comparison_release(&c);
    compare_with(&c, graph, "mm", 1e-2f, 0);
    assert_true(c.differs);
    assert_str_is(comparison_first(&c)->name, "mm");
    comparison_release(&c);
    graph_free(graph);
}

/* ---- Outputs of a file ---- */

static const char half_text[] =
    "class <lambda>(torch.nn.Module):\n"
    "    def forward(self, a: \"bf16[8, 64][64, 1]cpu\", b: \"bf16[64, 8][8, 1]cpu\",\n"
    "                c: \"bf16[8, 8][8, 1]cpu\"):\n"
    "        minus: \"bf16[64, 8][8, 1]cpu\" = torch.ops.aten.neg.default(b)\n"
    "        mm: \"bf16[8, 8][8, 1]cpu\" = torch.ops.aten.mm.default(a, minus)\n"
    "        more: \"bf16[8, 8][8, 1]cpu\" = torch.ops.aten.add.Tensor(mm, c)\n"
    "        less: \"bf16[8, 8][8, 1]cpu\" = torch.ops.aten.sub.Tensor(more, mm)\n"
    "        return (less,)\n";

static void read_output(struct run *run, struct arena *arena, struct array *ret)
{
    struct err err = ERR_INIT;
    assert_true(run_execute(run, &err));
    assert_true(run_array(run, run->outputs[0].u.tensor, arena, ret, &err));
}

/* The run's output, each element moved by so much, is what the file has. */
static bool agrees_with_file(struct graph *graph, bool looks, double by)
{
    struct err err = ERR_INIT;
    struct arena arena = ARENA_INIT;
    struct comparison c;
    struct array a;
    const struct backend_kind *cpu = backend_find(STR("cpu"));
    struct run_options options = { .backend = cpu->open(&err) };
    struct run *run = run_new(graph, &options, &err);
    read_output(run, &arena, &a);
    for (int64_t i = 0; i < 64; i++)
        store_real(a.dtype, (void *)a.p, i, load_real(a.dtype, a.p, i) + by);
    run_free(run);
    struct value_file *values = value_file_new(NULL, &err);
    assert_true(value_file_add(values, STR("out.0"), &a, &err) && value_file_seal(values, &err) &&
                value_file_write(values, temp_path("half.safetensors"), &err));
    value_file_free(values);
    struct comparison_options how = { .looks = looks };
    how.file = safetensors_open(temp_path("half.safetensors"), &err);
    assert_true(comparison_init(&c, graph->n_nodes, &how, &err));
    options.node = comparison_check;
    options.node_user = &c;
    run = run_new(graph, &options, &err);
    read_output(run, &arena, &a);
    assert_true(comparison_check_output(&c, run, 0, STR("out.0"), &a, &err));
    assert_no_err(&err);
    bool agrees = !c.differs;
    run_free(run);
    comparison_release(&c);
    safetensors_close((struct safetensors *)how.file);
    arena_release(&arena);
    cpu->close(options.backend);
    return agrees;
}

/* What cancels out leaves the roundings of bfloat16 on the way, which only the values there tell.
 */
static void test_outputs_of_a_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct graph *graph = graph_parse(str_of(half_text), &err);
    assert_no_err(&err);
    assert_true(agrees_with_file(graph, false, 0));
    assert_false(agrees_with_file(graph, false, 0.0625));
    assert_true(agrees_with_file(graph, true, 0.0625));
    assert_false(agrees_with_file(graph, true, 4));
    graph_free(graph);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_odd_places),     cmocka_unit_test(test_streams),
        cmocka_unit_test(test_no_folder),      cmocka_unit_test(test_samples),
        cmocka_unit_test(test_first_bad_node), cmocka_unit_test(test_random_is_no_fault),
        cmocka_unit_test(test_tolerance),      cmocka_unit_test(test_outputs_of_a_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Other places of equal elements, alone and in a comparison: they are no fault, other places of
 * other elements are. */
#include "replay/backend/compare/ties.h"

#include <string.h>

#include "replay/backend/compare/comparison.h"
#include "tests/harness.h"

enum { MOST = 32 };

/* A run of one call on x, whose result number 1, or the only one, has places. */
struct world {
    struct graph *graph;
    struct backend *backend;
    struct run *run;
    const float *x;
    struct array given;
    struct comparison comparison;
    int64_t change[2]; /* element change[0] of "at" becomes change[1] in the tested run */
};

static bool give(void *user, uint32_t i, const struct node *node, struct array *ret,
                 struct err *err)
{
    const struct world *w = user;
    (void)i, (void)node, (void)err;
    *ret = w->given;
    return true;
}

static bool change_place(void *user, struct run *run, const struct step *step,
                         const struct value *value, struct err *err)
{
    struct world *w = user;
    struct arena arena = ARENA_INIT;
    struct array a;
    bool ok = true;
    if (str_is(run->graph->nodes[step->node].name, "at")) {
        ok = run_array(run, value->u.tensor, &arena, &a, err);
        ((int64_t *)a.p)[w->change[0]] = w->change[1];
        ok = ok && exec_write(&run->exec, value->u.tensor, a.p, a.bytes, err);
    }
    arena_release(&arena);
    return ok && comparison_check(&w->comparison, run, step, value, err);
}

static void open_world(struct world *w, const char *sizes, const char *body, const float *x,
                       struct array given)
{
    struct buf text = BUF_INIT;
    struct err err = ERR_INIT;
    memset(w, 0, sizeof *w);
    buf_printf(&text,
               "class f(torch.nn.Module):\n"
               "    def forward(self, x: \"f32%s\"):\n%s",
               sizes, body);
    w->graph = graph_parse(buf_str(&text), &err);
    buf_release(&text);
    assert_no_err(&err);
    w->backend = backend_find(STR("cpu"))->open(&err);
    w->given = given;
    w->given.dtype = DTYPE_F32;
    w->given.p = x;
    for (w->given.bytes = sizeof *x; given.ndim > 0; given.ndim--)
        w->given.bytes *= (size_t)given.size[given.ndim - 1];
}

static void close_world(struct world *w)
{
    w->backend->kind->close(w->backend);
    graph_free(w->graph);
}

/* Returns the match of the node "at" if that element of it is another place. */
static enum match match_with(struct world *w, int64_t element, int64_t place, bool nodes,
                             bool *differs)
{
    struct err err = ERR_INIT;
    const struct comparison_options how = { .nodes = nodes };
    struct run_options options = { .backend = w->backend,
                                   .input = give,
                                   .user = w,
                                   .node = comparison_expect,
                                   .node_user = &w->comparison };
    enum match ret = MATCH_EQUAL;
    w->change[0] = element;
    w->change[1] = place;
    assert_true(comparison_init(&w->comparison, w->graph->n_nodes, &how, &err));
    for (int tested = 0; tested < 2; tested++) {
        w->run = run_new(w->graph, &options, &err);
        assert_true(w->run && run_execute(w->run, &err));
        run_free(w->run);
        assert_true(tested || value_file_seal(w->comparison.values, &err));
        options.node = change_place;
        options.node_user = w;
    }
    assert_no_err(&err);
    for (size_t i = 0; i < w->comparison.nodes.n; i++)
        if (str_is(w->comparison.nodes.v[i].name, "at"))
            ret = w->comparison.nodes.v[i].match;
    *differs = w->comparison.differs;
    comparison_release(&w->comparison);
    return ret;
}

static void check(struct world *w, int64_t element, int64_t place, enum match expected)
{
    for (int nodes = 0; nodes < 2; nodes++) {
        bool differs;
        assert_int_equal(match_with(w, element, place, nodes, &differs), expected);
        assert_int_equal(differs, expected == MATCH_DIFFERS);
    }
}

static const float X[12] = { 1, 3, 3, 3, 2, 0, 5, 5, 4, 3, 4, 6 };

static void test_dim(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "[4, 3][3, 1]cpu",
               "        max_1 = torch.ops.aten.max.dim(x, 0)\n"
               "        most: \"f32[3][1]cpu\" = max_1[0]\n"
               "        at: \"i64[3][1]cpu\" = max_1[1]\n"
               "        two: \"i64[3][1]cpu\" = torch.ops.aten.mul.Tensor(at, 2)\n"
               "        return (most, two)\n",
               X, (struct array){ .ndim = 2, .size = { 4, 3 } });
    check(&w, 0, 2, MATCH_EQUAL); /* x[2][0] is the only 5 of its column, and max's own place */
    check(&w, 0, 0, MATCH_DIFFERS);
    check(&w, 0, 4, MATCH_DIFFERS); /* out of range */
    check(&w, 0, -1, MATCH_DIFFERS);
    close_world(&w);
    open_world(&w, "[4, 3][3, 1]cpu",
               "        at: \"i64[4][1]cpu\" = torch.ops.aten.argmax.default(x, 1)\n"
               "        two: \"i64[4][1]cpu\" = torch.ops.aten.mul.Tensor(at, 2)\n"
               "        return (two,)\n",
               X, (struct array){ .ndim = 2, .size = { 4, 3 } });
    check(&w, 0, 2, MATCH_TIED); /* 1, 3, 3 */
    check(&w, 2, 1, MATCH_TIED); /* 5, 5, 4 */
    check(&w, 2, 2, MATCH_DIFFERS);
    close_world(&w);
    open_world(&w, "[4, 3][3, 1]cpu",
               "        at: \"i64[][]cpu\" = torch.ops.aten.argmin.default(x)\n"
               "        return (at,)\n",
               X, (struct array){ .ndim = 2, .size = { 4, 3 } });
    check(&w, 0, 5, MATCH_EQUAL);
    check(&w, 0, 7, MATCH_DIFFERS);
    close_world(&w);
}

/* Several places of a slice, and places in a plane. */
static void test_orders_and_planes(void **state)
{
    (void)state;
    struct world w;
    open_world(&w, "[2, 6][6, 1]cpu",
               "        sort = torch.ops.aten.sort.stable(x, stable = True, dim = -1)\n"
               "        at: \"i64[2, 6][6, 1]cpu\" = sort[1]\n"
               "        return (at,)\n",
               X, (struct array){ .ndim = 2, .size = { 2, 6 } });
    check(&w, 3, 3, MATCH_TIED); /* 0, 1, 2, 3, 3, 3: places 5, 0, 4, 1, 2, 3 */
    check(&w, 3, 4, MATCH_DIFFERS);
    check(&w, 7, 4, MATCH_TIED); /* 3, 4, 4, 5, 5, 6 of the second row */
    check(&w, 6, 4, MATCH_DIFFERS);
    close_world(&w);
    open_world(&w, "[1, 3, 4][12, 4, 1]cpu",
               "        pool = torch.ops.aten.max_pool2d_with_indices.default(x, [2, 2])\n"
               "        most: \"f32[1, 1, 2][2, 2, 1]cpu\" = pool[0]\n"
               "        at: \"i64[1, 1, 2][2, 2, 1]cpu\" = pool[1]\n"
               "        return (most, at)\n",
               X, (struct array){ .ndim = 3, .size = { 1, 3, 4 } });
    check(&w, 1, 6, MATCH_EQUAL);
    check(&w, 1, 7, MATCH_TIED); /* 3, 3 above 5, 5 */
    check(&w, 1, 3, MATCH_DIFFERS);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dim),
        cmocka_unit_test(test_orders_and_planes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

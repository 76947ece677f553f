/* Calls that make DTensors from local tensors and return to them. */
#include "replay/program/dtensor.h"

#include "replay/ops/layers.h"
#include "replay/program/walk.h"
#include "tests/harness.h"

static void test_meshes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        uint32_t n;
        int64_t first, last;
    } rows[] = {
        { "DeviceMesh((2,), 'cpu', stride=(1,))", 1, 2, 2 },
        { "mesh=DeviceMesh((dp=2, tp=4), device: 'cuda', stride: (4, 1)), ...", 2, 2, 4 },
        { "DeviceMesh((1,2,3,4,5,6,7,8), 'cpu')", 8, 1, 8 },
        { "DeviceMesh((1,2,3,4,5,6,7,8,9), 'cpu')", 0, 0, 0 },
        { "DeviceMesh((0,), 'cpu')", 0, 0, 0 },
        { "DeviceMesh((99999999999,), 'cpu')", 0, 0, 0 },
        { "DeviceMesh((-2,), 'cpu')", 0, 0, 0 },
        { "DeviceMesh((", 0, 0, 0 },
        { "DeviceMesh()", 0, 0, 0 },
        { "", 0, 0, 0 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct device_mesh mesh = { 0 };
        assert_int_equal(device_mesh_parse(str_of(rows[i].text), &mesh), rows[i].n > 0);
        assert_int_equal(mesh.n, rows[i].n);
        if (mesh.n) {
            assert_int_equal(mesh.size[0], rows[i].first);
            assert_int_equal(mesh.size[mesh.n - 1], rows[i].last);
        }
    }
}

static bool recorded_input(void *user, const struct program *program, const struct step *step,
                           struct value *ret, struct err *err)
{
    (void)user;
    (void)err;
    *ret = expected_value(program->ops, step->expected);
    return true;
}

#define SIGNATURE                                                             \
    "class GraphModule(torch.nn.Module):\n"                                   \
    "    def forward(self, m : torch.distributed.device_mesh.DeviceMesh, x: " \
    "\"f32[s77, 6][6, 1]cpu\", y: \"DTensor(f32[8, 12][12, 1]cpu, S(0)S(1))\"):\n"
#define FROM_LOCAL " = torch.distributed.tensor._api.from_local(x, m, (), run_check = False)\n"

/* A graph of one call, the mesh that is known, and how the call ends. */
struct row {
    const char *call;
    struct device_mesh mesh;
    enum outcome outcome;
};

static enum outcome outcome_of(const struct row *row)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    buf_printf(&text, SIGNATURE "        %s\n        return (z,)\n", row->call);
    struct graph *graph = graph_parse(buf_str(&text), &err);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    struct program *program = program_new(ops, graph, 0, NULL, NULL, &err);
    assert_no_err(&err);
    struct walker walker = { .ops = ops, .env = env, .input = recorded_input, .mesh = row->mesh };
    assert_true(walk_program(&walker, program));
    walk_finish(&walker, program);
    node_id last = graph->n_nodes - 2;
    enum outcome ret = program->notes[last].outcome;
    assert_true(program->notes[last].adopted || ret != OUTCOME_UNSUPPORTED);
    walker_release(&walker);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(graph);
    buf_release(&text);
    return ret;
}

#define MESH2                 \
    {                         \
        .n = 1, .size = { 2 } \
    }
#define MESH24                   \
    {                            \
        .n = 2, .size = { 2, 4 } \
    }
static const struct row rows[] = {
    { "z: \"DTensor(f32[2*s77, 6][6, 1]cpu, S(0))\"" FROM_LOCAL, MESH2, OUTCOME_MATCH },
    { "z: \"DTensor(f32[3*s77, 6][6, 1]cpu, S(0))\"" FROM_LOCAL, MESH2, OUTCOME_MISMATCH },
    { "z: \"DTensor(f32[s77, 12][12, 1]cpu, S(1))\"" FROM_LOCAL, MESH2, OUTCOME_MATCH },
    { "z: \"DTensor(f32[s77, 12][6, 1]cpu, S(1))\"" FROM_LOCAL, MESH2, OUTCOME_MISMATCH },
    { "z: \"DTensor(f32[s77, 6][6, 1]cpu, R)\"" FROM_LOCAL, MESH2, OUTCOME_MATCH },
    { "z: \"DTensor(f32[s77, 6][6, 1]cpu, P(sum))\"" FROM_LOCAL, MESH2, OUTCOME_MATCH },
    { "z: \"DTensor(f32[2*s77, 24][24, 1]cpu, S(0)S(1))\"" FROM_LOCAL, MESH24, OUTCOME_MATCH },
    { "z: \"DTensor(f32[8*s77, 6][6, 1]cpu, S(0)[0]S(0)[1])\"" FROM_LOCAL, MESH24, OUTCOME_MATCH },
    /* The mesh, a placement or a dimension is not known. */
    { "z: \"DTensor(f32[2*s77, 24][24, 1]cpu, S(0)S(1))\"" FROM_LOCAL, MESH2, OUTCOME_UNSUPPORTED },
    { "z: \"DTensor(f32[2*s77, 6][6, 1]cpu, _S(0, 2))\"" FROM_LOCAL, MESH2, OUTCOME_UNSUPPORTED },
    { "z: \"DTensor(f32[s77, 6][6, 1]cpu, S(2))\"" FROM_LOCAL, MESH2, OUTCOME_UNSUPPORTED },
    { "z: \"f32[s77, 6][6, 1]cpu\"" FROM_LOCAL, MESH2, OUTCOME_UNSUPPORTED },
    { "z: \"DTensor(f32[4*s77, 6][6, 1]cpu, S(0))\"" FROM_LOCAL, { 0 }, OUTCOME_MATCH },
    { "z: \"DTensor(f32[4*s77, 6][6, 1]cpu, S(0))\"" FROM_LOCAL,
      { .several = true },
      OUTCOME_UNSUPPORTED },
    { "z: \"DTensor(f32[7, 12][12, 1]cpu, S(0))\" = "
      "torch.distributed.tensor._api.from_local(x, m, (), shape = (7, 12), stride = (12, 1))",
      { 0 },
      OUTCOME_MATCH },
    { "z: \"DTensor(f32[8, 12][12, 1]cpu, R)\" = y.redistribute(placements = ())",
      { 0 },
      OUTCOME_MATCH },
    { "z: \"f32[8, 12][12, 1]cpu\" = y.full_tensor()", { 0 }, OUTCOME_MATCH },
    { "z: \"f32[4, 3][3, 1]cpu\" = y.to_local()", MESH24, OUTCOME_MATCH },
    { "z: \"f32[4, 12][12, 1]cpu\" = y.to_local()", MESH24, OUTCOME_MISMATCH },
    { "z: \"f32[4, 12][12, 1]cpu\" = y.to_local()", MESH2, OUTCOME_UNSUPPORTED },
    { "z: \"f32[4, 12][12, 1]cpu\" = x.to_local()", MESH2, OUTCOME_UNSUPPORTED },
    /* Ranks have parts of different sizes. */
    { "z: \"f32[3, 12][12, 1]cpu\" = y.to_local()",
      { .n = 2, .size = { 3, 1 } },
      OUTCOME_UNSUPPORTED },
};

static void test_calls(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (outcome_of(&rows[i]) != rows[i].outcome)
            fail_msg("%s: outcome %d", rows[i].call, outcome_of(&rows[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

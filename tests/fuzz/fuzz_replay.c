/* Any text that parses as a graph, walked through the operators with the metas that its annotations
 * tell: no crash, bounded work, and every call has an outcome. */
#include "tests/fuzz/fuzz.h"

#include "replay/ops/layers.h"
#include "replay/program/walk.h"

static bool input(void *user, const struct program *program, const struct step *step,
                  struct value *ret, struct err *err)
{
    (void)user;
    (void)err;
    *ret = expected_value(program->ops, step->expected);
    return true;
}

static void walk(struct program *program, struct ops *ops, struct shape_env *env)
{
    struct walker walker = { .ops = ops, .env = env, .input = input };
    if (walk_program(&walker, program)) {
        walk_finish(&walker, program);
        for (uint32_t i = 0; i < program->n_steps; i++) {
            const struct step *step = &program->steps[i];
            const struct node *node = &program->graph->nodes[step->node];
            FUZZ_CHECK(!node_is_call(node) || program->notes[step->node].outcome != OUTCOME_NONE);
        }
        struct value result;
        walk_again(&walker, program, &result);
    } else {
        FUZZ_CHECK(err_is_set(&walker.err));
        /* That memory ran out is said of nothing else. */
        FUZZ_CHECK(walker.err.kind != ERR_ENV || ops_short_of_memory(ops));
    }
    walker_release(&walker);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    if (n > 1 << 14) /* a graph's cost is linear in its nodes; long ones find nothing more */
        return 0;
    struct graph *graph = graph_parse((struct str){ (const char *)data, n }, &err);
    if (!graph) {
        FUZZ_CHECK(err_is_set(&err));
        return 0;
    }
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = env ? ops_new(env, &err) : NULL;
    FUZZ_CHECK(ops);
    struct program *program = program_new(ops, graph, 0, NULL, NULL, &err);
    FUZZ_CHECK(program || err_is_set(&err));
    if (program)
        walk(program, ops, env);
    program_free(program);
    ops_free(ops);
    shape_env_free(env);
    graph_free(graph);
    return 0;
}

/* Programs: their plans are consistent. Graph texts, of which some inputs keep their address:
 * whatever they hold, what can be recorded is in at most as many parts as there are operators, and
 * a node is to blame for what cannot. */
#include "tests/fuzz/fuzz.h"

#include "profile/calls/cudagraphs/memory_plan.h"
#include "profile/calls/cudagraphs/wrap_graph.h"

static void check(const struct graph *graph, const bool *keeps, unsigned how)
{
    const struct wrap_settings settings = { .on_gpu = how & 1,
                                            .partitions = how & 2,
                                            .skip_dynamic = how & 4 };
    struct graph_limits limits;
    FUZZ_CHECK(graph_limits_find(graph, keeps, &settings, &limits));
    FUZZ_CHECK(limits.skip < SKIP_REASONS);
    FUZZ_CHECK(limits.node == NODE_NONE || limits.node < graph->n_nodes);
    FUZZ_CHECK(limits.n_partitions <= graph->n_nodes);
    FUZZ_CHECK(settings.partitions || limits.n_partitions <= 1);
    FUZZ_CHECK(limits.n_partitions || limits.skip != SKIP_NONE);
}

static void check_plan(const struct memory_plans *plans, const struct memory_plan *plan)
{
    FUZZ_CHECK(plan->first_slot + plan->n_slots <= plans->slots.n);
    FUZZ_CHECK(plan->first_event + plan->n_events <= plans->events.n);
    FUZZ_CHECK(plan->first_output + plan->n_outputs <= plans->outputs.n);
    FUZZ_CHECK(plan->matmul == SLOT_NONE || plan->matmul <= plan->n_events);
    for (uint32_t i = 0; i < plan->n_events; i++)
        FUZZ_CHECK(plans->events.v[plan->first_event + i].slot < plan->n_slots);
    for (uint32_t i = 0; i < plan->n_outputs; i++) {
        uint32_t slot = plans->outputs.v[plan->first_output + i];
        FUZZ_CHECK(slot == SLOT_NONE || slot < plan->n_slots);
    }
    uint32_t event = 0;
    FUZZ_CHECK(plan->first_launch + plan->n_launches <= plans->launches.n);
    for (uint32_t i = 0; i < plan->n_launches; i++) {
        const struct plan_launch *launch = &plans->launches.v[plan->first_launch + i];
        FUZZ_CHECK(launch->event >= event && launch->event <= plan->n_events);
        FUZZ_CHECK(launch->first_written + launch->n_written <= plans->written.n);
        for (uint32_t k = 0; k < launch->n_written; k++)
            FUZZ_CHECK(plans->written.v[launch->first_written + k].slot < plan->n_slots);
        event = launch->event;
    }
    for (uint32_t i = 0; i < plan->n_slots; i++) {
        const struct plan_slot *slot = &plans->slots.v[plan->first_slot + i];
        FUZZ_CHECK(slot->sizes == EXPR_NONE || slot->sizes < plans->exprs.exprs.n);
        FUZZ_CHECK(slot->strides == EXPR_NONE || slot->strides < plans->exprs.exprs.n);
    }
}

static void check_program(struct str text)
{
    struct memory_plans plans = { 0 };
    FUZZ_CHECK(memory_plans_read(&plans, text));
    for (size_t i = 0; i < plans.plans.n; i++)
        check_plan(&plans, &plans.plans.v[i]);
    memory_plans_release(&plans);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = { .kind = ERR_NONE };
    check_program((struct str){ (const char *)data, n });
    struct graph *graph = graph_parse((struct str){ (const char *)data, n }, &err);
    if (!graph)
        return 0;
    bool *keeps = calloc((size_t)graph->n_nodes + 1, sizeof *keeps);
    for (uint32_t i = 0; keeps && i < graph->n_nodes; i++)
        keeps[i] = (i + n) % 3 == 0;
    for (unsigned how = 0; keeps && how < 8; how++)
        check(graph, keeps, how);
    free(keeps);
    graph_free(graph);
    return 0;
}

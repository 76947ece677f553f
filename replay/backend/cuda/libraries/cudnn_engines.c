#include "replay/backend/cuda/libraries/cudnn_engines.h"

#include "replay/backend/cuda/libraries/cudnn_graph.h"
#include "trace/base/clock.h"

/* For float32, the first dozens may all be for tensor cores. */
enum { MOST_CONFIGS = 96, MOST_ENGINES = 256 };

struct engine_search {
    const struct cudnn_table *t;
    const struct cudnn_target *target;
    const struct cudnn_rule *rule;
    struct cudnn_plan *ret;
    uint32_t n, most;
    int *status;
};

/* ---- One configuration ---- */

static bool suits(const struct cudnn_rule *rule, uint32_t notes)
{
    uint32_t never = 1u << NOTE_ROUNDS_INPUTS | 1u << NOTE_ROUNDS_SUMS | 1u << NOTE_NOT_REPEATABLE;
    uint32_t inexact = 1u << NOTE_TENSOR_CORE | 1u << NOTE_WINOGRAD_4 | 1u << NOTE_WINOGRAD_6 |
                       1u << NOTE_WINOGRAD_13;
    return !(notes & never) && !(rule->exact && (notes & inexact));
}

static bool look_at_engine(const struct cudnn_table *t, void *engine, struct cudnn_plan *ret)
{
    int32_t notes[NOTES];
    int64_t n = 0, index = -1, one = 0;
    bool ok = t->get(engine, ENGINE_NOTES, CUDNN_NOTES, NOTES, &n, notes) == CUDNN_OK &&
              t->get(engine, ENGINE_INDEX, CUDNN_INT64S, 1, &one, &index) == CUDNN_OK;
    for (int64_t i = 0; ok && i < n && i < NOTES; i++)
        ret->notes |= notes[i] >= 0 && notes[i] < 32 ? 1u << notes[i] : 0;
    ret->recipe.engine = index;
    return ok;
}

static bool engine_of(const struct cudnn_table *t, void *config, struct cudnn_plan *ret)
{
    void *engine = NULL;
    int64_t n = 0;
    bool ok = t->make(CUDNN_ENGINE, &engine) == CUDNN_OK &&
              t->get(config, CONFIG_ENGINE, CUDNN_DESCRIPTORS, 1, &n, &engine) == CUDNN_OK &&
              look_at_engine(t, engine, ret);
    cudnn_drop(t, engine);
    return ok;
}

/* Reads the settings of a configuration. */
static void read_knobs(const struct cudnn_table *t, void *config, struct cudnn_recipe *ret)
{
    void *choices[CUDNN_MOST_KNOBS] = { 0 };
    int64_t n = 0, one = 0;
    bool ok = true;
    for (int i = 0; i < CUDNN_MOST_KNOBS && ok; i++)
        ok = t->make(CUDNN_KNOB_CHOICE, &choices[i]) == CUDNN_OK;
    ok = ok &&
         t->get(config, CONFIG_KNOBS, CUDNN_DESCRIPTORS, CUDNN_MOST_KNOBS, &n, choices) ==
             CUDNN_OK &&
         n >= 0 && n <= CUDNN_MOST_KNOBS;
    for (int64_t i = 0; i < n && ok; i++) {
        int32_t type = -1;
        ok =
            t->get(choices[i], KNOB_TYPE, CUDNN_KNOB_TYPES, 1, &one, &type) == CUDNN_OK &&
            t->get(choices[i], KNOB_VALUE, CUDNN_INT64S, 1, &one, &ret->knobs[i].value) == CUDNN_OK;
        ret->knobs[i].type = type;
    }
    ret->n = ok ? n : -1;
    for (int i = 0; i < CUDNN_MOST_KNOBS; i++)
        cudnn_drop(t, choices[i]);
}

static bool seen(const struct engine_search *s, int64_t engine)
{
    for (uint32_t i = 0; i < s->n; i++)
        if (s->ret[i].recipe.engine == engine)
            return true;
    return false;
}

static void add_plan(struct engine_search *s, void *config, struct cudnn_plan plan)
{
    const struct cudnn_table *t = s->t;
    int64_t n = 0;
    int status;
    struct cudnn_builder m = cudnn_make(t, CUDNN_PLAN);
    if (s->target->handle)
        cudnn_set(&m, PLAN_HANDLE, CUDNN_HANDLES, 1, &s->target->handle);
    if (s->target->device)
        cudnn_set(&m, PLAN_DEVICE, CUDNN_DESCRIPTORS, 1, &s->target->device);
    cudnn_set(&m, PLAN_CONFIG, CUDNN_DESCRIPTORS, 1, &config);
    const double start = clock_us();
    plan.plan = cudnn_made(&m, &status);
    plan.make_us = clock_us() - start;
    if (plan.plan &&
        t->get(plan.plan, PLAN_WORKSPACE, CUDNN_INT64S, 1, &n, &plan.workspace) == CUDNN_OK &&
        plan.workspace >= 0 && plan.workspace <= s->rule->most)
        s->ret[s->n++] = plan;
    else
        cudnn_drop(t, plan.plan);
}

/* ---- The heuristics ---- */

static bool wanted(const struct engine_search *s, int64_t engine)
{
    return engine < 0 || engine >= 64 || !(s->rule->not_offered >> engine & 1);
}

/* Adds the engines of a heuristic; the slower ones repeat some that were added. */
static void take_all(struct engine_search *s, void **configs, int64_t n, int32_t mode)
{
    for (int64_t i = 0; i < n && i < MOST_CONFIGS && s->n < s->most; i++) {
        struct cudnn_plan plan = { 0 };
        if (engine_of(s->t, configs[i], &plan) && suits(s->rule, plan.notes) &&
            wanted(s, plan.recipe.engine) &&
            (mode == HEURISTIC_BEST || !seen(s, plan.recipe.engine))) {
            read_knobs(s->t, configs[i], &plan.recipe);
            add_plan(s, configs[i], plan);
        }
    }
}

static void query_engines(struct engine_search *s, void *graph, int32_t mode)
{
    const struct cudnn_table *t = s->t;
    struct cudnn_builder m = cudnn_make(t, CUDNN_HEURISTIC);
    void *configs[MOST_CONFIGS] = { 0 };
    int64_t n = 0;
    cudnn_set(&m, HEURISTIC_GRAPH, CUDNN_DESCRIPTORS, 1, &graph);
    cudnn_set(&m, HEURISTIC_MODE, CUDNN_HEURISTIC_MODES, 1, &mode);
    if (s->target->device)
        cudnn_set(&m, HEURISTIC_DEVICE, CUDNN_DESCRIPTORS, 1, &s->target->device);
    void *heuristic = cudnn_made(&m, s->status);
    for (int i = 0; heuristic && *s->status == CUDNN_OK && i < MOST_CONFIGS; i++)
        *s->status = t->make(CUDNN_ENGINE_CONFIG, &configs[i]);
    if (heuristic && *s->status == CUDNN_OK)
        *s->status =
            t->get(heuristic, HEURISTIC_RESULTS, CUDNN_DESCRIPTORS, MOST_CONFIGS, &n, configs);
    if (heuristic && *s->status == CUDNN_OK)
        take_all(s, configs, n, mode);
    for (int i = 0; i < MOST_CONFIGS; i++)
        cudnn_drop(t, configs[i]);
    cudnn_drop(t, heuristic);
}

/* ---- Engines without a heuristic ---- */

/* Makes the descriptor of a setting; NULL: *status. */
static void *make_knob(const struct cudnn_table *t, int64_t type, int64_t value, int *status)
{
    struct cudnn_builder m = cudnn_make(t, CUDNN_KNOB_CHOICE);
    int32_t number = (int32_t)type;
    cudnn_set(&m, KNOB_TYPE, CUDNN_KNOB_TYPES, 1, &number);
    cudnn_set(&m, KNOB_VALUE, CUDNN_INT64S, 1, &value);
    return cudnn_made(&m, status);
}

/* Returns the engine's configuration with the settings of the recipe; NULL: there is none. */
static void *configure(const struct cudnn_table *t, void *engine, const struct cudnn_recipe *recipe)
{
    void *choices[CUDNN_MOST_KNOBS] = { 0 }, *config = NULL;
    int status = CUDNN_OK;
    for (int64_t i = 0; i < recipe->n && status == CUDNN_OK; i++)
        choices[i] = make_knob(t, recipe->knobs[i].type, recipe->knobs[i].value, &status);
    if (status == CUDNN_OK) {
        struct cudnn_builder m = cudnn_make(t, CUDNN_ENGINE_CONFIG);
        cudnn_set(&m, CONFIG_ENGINE, CUDNN_DESCRIPTORS, 1, &engine);
        if (recipe->n)
            cudnn_set(&m, CONFIG_KNOBS, CUDNN_DESCRIPTORS, recipe->n, choices);
        config = cudnn_made(&m, &status);
    }
    for (int64_t i = 0; i < recipe->n; i++)
        cudnn_drop(t, choices[i]);
    return config;
}

static void try_engine(struct engine_search *s, void *graph, const struct cudnn_recipe *recipe)
{
    const struct cudnn_table *t = s->t;
    struct cudnn_plan plan = { 0 };
    struct cudnn_builder m = cudnn_make(t, CUDNN_ENGINE);
    int status;
    cudnn_set(&m, ENGINE_GRAPH, CUDNN_DESCRIPTORS, 1, &graph);
    cudnn_set(&m, ENGINE_INDEX, CUDNN_INT64S, 1, &recipe->engine);
    if (s->target->device)
        cudnn_set(&m, ENGINE_DEVICE, CUDNN_DESCRIPTORS, 1, &s->target->device);
    void *engine = cudnn_made(&m, &status), *config = NULL;
    if (engine && look_at_engine(t, engine, &plan) && suits(s->rule, plan.notes))
        config = configure(t, engine, recipe);
    plan.recipe = *recipe;
    if (config)
        add_plan(s, config, plan);
    cudnn_drop(t, config);
    cudnn_drop(t, engine);
}

static void try_engines(struct engine_search *s, void *graph)
{
    int64_t n = 0, engines = 0;
    if (s->t->get(graph, GRAPH_ENGINES, CUDNN_INT64S, 1, &n, &engines) != CUDNN_OK)
        return;
    for (int64_t i = 0; i < engines && i < MOST_ENGINES && s->n < s->most; i++)
        if (!seen(s, i))
            try_engine(s, graph, &(struct cudnn_recipe){ .engine = i });
}

uint32_t cudnn_plans(const struct cudnn_table *t, const struct cudnn_target *target, void *graph,
                     const struct cudnn_rule *rule, struct cudnn_plan *ret, uint32_t most,
                     int *status)
{
    static const int32_t modes[] = { HEURISTIC_BEST, HEURISTIC_SLOW, HEURISTIC_FALLBACK };
    struct engine_search s = { t, target, rule, ret, 0, most, status };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (s.n < most && (s.n == 0 || modes[i] != HEURISTIC_FALLBACK))
            query_engines(&s, graph, modes[i]);
    if (s.n < most && rule->exact && most > 1)
        try_engines(&s, graph);
    if (s.n == 0 && *status == CUDNN_OK)
        *status = CUDNN_NOT_SUPPORTED;
    return s.n;
}

bool cudnn_plan_again(const struct cudnn_table *t, const struct cudnn_target *target, void *graph,
                      const struct cudnn_rule *rule, const struct cudnn_recipe *recipe,
                      struct cudnn_plan *ret)
{
    int status = CUDNN_OK;
    struct engine_search s = { t, target, rule, ret, 0, 1, &status };
    if (recipe->engine >= 0 && recipe->n >= 0 && recipe->n <= CUDNN_MOST_KNOBS)
        try_engine(&s, graph, recipe);
    return s.n == 1;
}

#include "replay/backend/cuda/libraries/cudnn.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/libraries/cudnn_attention.h"
#include "replay/backend/cuda/libraries/cudnn_convolution.h"
#include "replay/backend/cuda/libraries/cudnn_engines.h"
#include "replay/backend/cuda/libraries/cudnn_run.h"
#include "replay/backend/cuda/libraries/plan_choice.h"
#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/cuda/runtime/key_table.h"

#define MOST_ROOM ((int64_t)1 << 30)

/* plan NULL: refused. */
struct plans {
    struct key_table keys;
    vec_of(struct cudnn_plan)
    made;
};

struct cudnn {
    struct cuda_library library;
    struct cudnn_table table;
    void *handle;
    struct plans plans[CUDNN_KINDS];
    struct plan_recipes recipes;
};

/* ---- Opening ---- */

static const struct library_symbol symbols[] = {
#define SYMBOL(needed, member, symbol, parameters) \
    { symbol, offsetof(struct cudnn_table, member), needed },
#include "replay/backend/cuda/libraries/cudnn.def"
#undef SYMBOL
};

struct cudnn *cudnn_open(struct err *err)
{
    int status = CUDNN_OK;
    struct cudnn *dnn = calloc(1, sizeof *dnn);
    if (!dnn)
        return err_nomem(err), NULL;
    dnn->plans[CUDNN_CONVOLUTIONS].keys.key_bytes = sizeof(struct cudnn_convolution);
    dnn->plans[CUDNN_ATTENTIONS].keys.key_bytes = sizeof(struct cudnn_attention);
    if (library_open(LIBRARY_CUDNN, 0, &dnn->library, err) &&
        library_load(&dnn->library, symbols, sizeof symbols / sizeof *symbols, &dnn->table, err) &&
        (status = dnn->table.create(&dnn->handle)) == CUDNN_OK)
        return dnn;
    if (status != CUDNN_OK)
        err_set(err, ERR_ENV, "cuDNN cannot be initialized: status %d", status);
    cudnn_close(dnn);
    return NULL;
}

void cudnn_close(struct cudnn *dnn)
{
    if (!dnn)
        return;
    for (int kind = 0; kind < CUDNN_KINDS; kind++) {
        struct plans *plans = &dnn->plans[kind];
        for (size_t i = 0; i < plans->made.n; i++)
            cudnn_drop(&dnn->table, plans->made.v[i].plan);
        vec_release(&plans->made);
        key_table_release(&plans->keys);
    }
    if (dnn->handle)
        dnn->table.destroy(dnn->handle);
    plan_recipes_release(&dnn->recipes);
    free(dnn);
}

/* Closes the state. The handle and plans of a lost context are leaked, since destroying them would
 * use it. */
static void close_cudnn(struct cuda *cuda)
{
    struct cudnn *dnn = cuda->library_state[LIBRARY_CUDNN];
    if (dnn && err_is_set(&cuda->failures.lost)) {
        dnn->handle = NULL;
        for (int kind = 0; kind < CUDNN_KINDS; kind++)
            dnn->plans[kind].made.n = 0;
    }
    cudnn_close(cuda->library_state[LIBRARY_CUDNN]);
    cuda->library_state[LIBRARY_CUDNN] = NULL;
}

/* Returns the state, which is opened at first use; NULL: it cannot be opened. */
static struct cudnn *cudnn_state(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct err why = { 0 };
    if (!cuda->library_close[LIBRARY_CUDNN]) {
        cuda->library_close[LIBRARY_CUDNN] = close_cudnn;
        double start = clock_us();
        cuda->library_state[LIBRARY_CUDNN] = cudnn_open(&why);
        cuda->base.log.opened += cuda->library_state[LIBRARY_CUDNN] != NULL;
        cuda->base.log.open_ns += (uint64_t)((clock_us() - start) * 1e3);
    }
    return cuda->library_state[LIBRARY_CUDNN];
}

/* ---- Problems ---- */

bool cudnn_type(enum dtype dtype, int32_t *ret)
{
    static const struct {
        enum dtype dtype;
        int32_t type;
    } types[] = { { DTYPE_F32, CUDNN_F32 },
                  { DTYPE_F64, CUDNN_F64 },
                  { DTYPE_F16, CUDNN_F16 },
                  { DTYPE_BF16, CUDNN_BF16 } };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return *ret = types[i].type, true;
    return false;
}

int64_t cudnn_alignment(uint64_t address)
{
    uint64_t bit = address & (~address + 1);
    return bit == 0 || bit > 16 ? 16 : (int64_t)bit;
}

/* ---- Execution ---- */

static int execute_plan(const struct cudnn *dnn, const struct cudnn_job *job, void *plan,
                        uint64_t address)
{
    const struct cudnn_table *t = &dnn->table;
    void *workspace = (void *)(uintptr_t)address;
    struct cudnn_builder m = cudnn_make(t, CUDNN_PACK);
    int status;
    cudnn_set(&m, PACK_IDS, CUDNN_INT64S, job->n, job->ids);
    cudnn_set(&m, PACK_POINTERS, CUDNN_POINTERS, job->n, job->pointers);
    cudnn_set(&m, PACK_ROOM, CUDNN_POINTERS, 1, &workspace);
    void *pack = cudnn_made(&m, &status);
    if (pack)
        status = t->execute(dnn->handle, plan, pack);
    cudnn_drop(t, pack);
    return status;
}

/* ---- Plans ---- */

struct cudnn_trial {
    const struct cudnn *dnn;
    const struct cudnn_job *job;
    const struct cudnn_plan *plans;
    uint64_t workspace;
};

static bool try_plan(void *user, uint32_t i)
{
    const struct cudnn_trial *t = user;
    return execute_plan(t->dnn, t->job, t->plans[i].plan, t->workspace) == CUDNN_OK;
}

/* Returns the number of the fastest plan. *measured: they were timed. */
static uint32_t choose_plan(struct kernel *k, struct cudnn *dnn, const struct cudnn_job *job,
                            const struct cudnn_plan *plans, uint32_t n, bool *measured)
{
    struct cuda *cuda = cuda_of(k);
    struct cudnn_trial t = { dnn, job, plans, 0 };
    struct err none = { 0 };
    int64_t workspace = 1;
    uint32_t best = 0;
    for (uint32_t i = 0; i < n; i++)
        workspace = plans[i].workspace > workspace ? plans[i].workspace : workspace;
    if (n < 2 || !cuda_take(cuda, (size_t)workspace, &t.workspace, &none))
        return 0;
    const struct plan_trial trial = { n, try_plan, &t };
    *measured = dnn->table.set_stream(dnn->handle, cuda->stream) == CUDNN_OK &&
                plan_choice_make(cuda, &trial, &best);
    cuda_give_back(cuda, t.workspace);
    return best;
}

_Static_assert(sizeof(struct cudnn_recipe) <= PLAN_RECIPE_BYTES, "a recipe of cuDNN");

/* Makes the plan of a recipe that was stored. */
static bool recalled_plan(struct cuda *cuda, struct cudnn *dnn, const struct cudnn_target *target,
                          void *graph, const struct cudnn_rule *rule,
                          const struct plan_problem *problem, struct cudnn_plan *ret)
{
    struct plan_recipe stored;
    struct cudnn_recipe recipe;
    if (!plan_choice_recall(cuda, problem, &stored))
        return false;
    memcpy(&recipe, stored.bytes, sizeof recipe);
    bool ok = cudnn_plan_again(&dnn->table, target, graph, rule, &recipe, ret);
    cuda->base.log.recalled += ok;
    return ok;
}

/* Makes the plans that the library offers, chooses one, drops the others, and stores the choice. */
static struct cudnn_plan chosen_plan(struct kernel *k, struct cudnn *dnn,
                                     const struct cudnn_job *job, const struct cudnn_target *target,
                                     void *graph, const struct cudnn_rule *rule,
                                     const struct plan_problem *problem)
{
    struct cudnn_plan plans[CUDNN_MOST_PLANS] = { 0 };
    struct plan_recipe stored = { 0 };
    bool measured = false;
    int status;
    uint32_t n = cudnn_plans(&dnn->table, target, graph, rule, plans,
                             problem->matters ? CUDNN_MOST_PLANS : 1, &status);
    uint32_t best = choose_plan(k, dnn, job, plans, n, &measured);
    for (uint32_t i = 0; i < n; i++)
        if (i != best)
            cudnn_drop(&dnn->table, plans[i].plan);
    memcpy(stored.bytes, &plans[best].recipe, sizeof plans[best].recipe);
    if (n && plans[best].recipe.n >= 0)
        plan_choice_save(cuda_of(k), problem, &stored, measured);
    return plans[best];
}

/* Makes a plan: by the recipe that was chosen before for this problem or its class, or one that is
 * chosen now, which is the first one if there is little work. */
static struct cudnn_plan make_cudnn_plan(struct kernel *k, struct cudnn *dnn,
                                         const struct cudnn_job *job)
{
    const struct plan_problem problem = {
        .library = &dnn->library,
        .recipes = &dnn->recipes,
        .key = job->key,
        .bytes = dnn->plans[job->kind].keys.key_bytes,
        .classes = { job->class, job->near[0], job->near[1] },
        .n_classes = job->class ? 3 : 0,
        .n_own = job->class != NULL,
        .matters = job->kind == CUDNN_CONVOLUTIONS && plan_choice_matters(cuda_of(k)->now->flops),
    };
    const struct cudnn_rule rule = { .exact = job->exact, .most = MOST_ROOM };
    const struct cudnn_target target = { .handle = dnn->handle };
    struct cudnn_plan plan = { 0 };
    struct cudnn_graph g;
    cudnn_graph_open(&g, &dnn->table);
    job->describe(&g, job->key);
    void *graph = cudnn_graph_finish(&g, dnn->handle);
    if (graph && !recalled_plan(cuda_of(k), dnn, &target, graph, &rule, &problem, &plan))
        plan = chosen_plan(k, dnn, job, &target, graph, &rule, &problem);
    cudnn_graph_close(&g);
    return plan;
}

/* Returns the plan of a problem; NULL: out of memory. Refused problems are stored, too. */
static const struct cudnn_plan *stored_cudnn_plan(struct kernel *k, struct cudnn *dnn,
                                                  const struct cudnn_job *job)
{
    struct plans *plans = &dnn->plans[job->kind];
    uint32_t found = key_table_find(&plans->keys, job->key);
    if (found != KEY_NONE)
        return &plans->made.v[found];
    double start = clock_us();
    struct cudnn_plan plan = make_cudnn_plan(k, dnn, job);
    cuda_of(k)->base.log.planned++;
    cuda_of(k)->base.log.plan_ns += (uint64_t)((clock_us() - start) * 1e3);
    if (vec_reserve(&plans->made, 1) && key_table_add(&plans->keys, job->key)) {
        plans->made.v[plans->made.n++] = plan;
        return &plans->made.v[plans->made.n - 1];
    }
    cudnn_drop(&dnn->table, plan.plan);
    err_nomem(k->err);
    k->failed = true;
    return NULL;
}

bool cudnn_takes(struct kernel *k, const struct cudnn_job *job)
{
    struct cudnn *dnn = k->failed ? NULL : cudnn_state(k);
    const struct cudnn_plan *plan = dnn ? stored_cudnn_plan(k, dnn, job) : NULL;
    return plan && plan->plan;
}

/* Names the kind of a cudnnStatus_t, which is its thousands since version 9. */
static const char *meaning_of(int status)
{
    switch (status / 1000) {
    case 1: return ": it cannot be used here";
    case 2: return ": a parameter is not valid";
    case 3: return ": not supported";
    case 4: return ": an internal error";
    case 5: return ": the device failed to run it";
    default: return "";
    }
}

bool cudnn_run(struct kernel *k, const struct cudnn_job *job)
{
    struct cudnn *dnn = cudnn_state(k);
    void *stream = NULL;
    if (!dnn)
        return false;
    const struct cudnn_plan *plan = stored_cudnn_plan(k, dnn, job);
    if (!plan || !plan->plan)
        return !plan;
    uint64_t workspace = plan->workspace ? cuda_workspace(k, (size_t)plan->workspace) : 0;
    cuda_library_begin(k, job->name, &stream);
    int status = k->failed ? CUDNN_OK : dnn->table.set_stream(dnn->handle, stream);
    if (!k->failed && status == CUDNN_OK)
        status = execute_plan(dnn, job, plan->plan, workspace);
    if (status != CUDNN_OK) {
        err_set(k->err, ERR_ENV, "%s: status %d%s; $SYMTAPE_CUDA_WITHOUT=cudnn runs without it",
                job->name, status, meaning_of(status));
        k->failed = true;
    }
    cuda_library_end(k);
    return true;
}

#include "replay/backend/cuda/libraries/cudnn.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/cuda/libraries/cudnn_attention.h"
#include "replay/backend/cuda/libraries/cudnn_convolution.h"
#include "replay/backend/cuda/libraries/cudnn_engines.h"
#include "replay/backend/cuda/libraries/cudnn_run.h"
#include "replay/backend/cuda/libraries/key_table.h"
#include "replay/backend/cuda/libraries/plan_choice.h"
#include "replay/backend/cuda/runtime/cuda.h"

#define MOST_ROOM ((int64_t)1 << 30)

/* Some engines of cuDNN 9.14 compile a kernel for each plan, which takes 130 to 330 ms on an H200
 * (depthwise convolutions of f32 in channels_last; no behavior note says so); others need less than
 * 0.1 ms. */
#define SLOW_TO_MAKE_US 1000.0
/* The runs in which a plan that is slow to make has to save the time that making it takes. */
#define RUNS_TO_REPAY 10000.0

enum { OPERATIONS = CUDNN_BACKWARD_DATA - CUDNN_FORWARD + 1 }; /* of convolutions */

/* plan NULL: refused, or put off. */
struct made_plan {
    struct cudnn_plan plan;
    bool matters; /* plan_choice_matters() */
    bool put_off; /* the choice was made without a measurement, or is still to be made */
};

struct plans {
    struct key_table keys;
    vec_of(struct made_plan)
    made;
};

struct cudnn {
    struct cuda_library library;
    struct cudnn_table table;
    void *handle;
    struct plans plans[CUDNN_KINDS];
    struct plan_recipes recipes;
    uint64_t slow_engines[OPERATIONS]; /* by operation, bits: their plans are slow to make */
    /* Plans that others replaced: captured units may launch what they made. */
    vec_of(void *)
    replaced;
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
            cudnn_drop(&dnn->table, plans->made.v[i].plan.plan);
        vec_release(&plans->made);
        key_table_release(&plans->keys);
    }
    for (size_t i = 0; i < dnn->replaced.n; i++)
        cudnn_drop(&dnn->table, dnn->replaced.v[i]);
    vec_release(&dnn->replaced);
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
        dnn->replaced.n = 0;
    }
    cudnn_close(cuda->library_state[LIBRARY_CUDNN]);
    cuda->library_state[LIBRARY_CUDNN] = NULL;
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

_Static_assert(sizeof(struct cudnn_recipe) <= PLAN_RECIPE_BYTES, "a recipe of cuDNN");

/* All that the choice of a plan depends on. */
struct choice {
    struct cuda *cuda;
    struct cudnn *dnn;
    const struct cudnn_job *job;
    struct plan_problem problem;
    struct cudnn_rule rule;
    struct cudnn_target target;
    struct cudnn_graph graph;
};

/* False: cuDNN does not know such a graph. */
static bool open_choice(struct cuda *cuda, struct cudnn *dnn, const struct cudnn_job *job,
                        bool matters, struct choice *ret)
{
    *ret = (struct choice){
        .cuda = cuda,
        .dnn = dnn,
        .job = job,
        .problem = { .library = &dnn->library,
                     .recipes = &dnn->recipes,
                     .key = job->key,
                     .bytes = dnn->plans[job->kind].keys.key_bytes,
                     .classes = { job->class, job->near[0], job->near[1] },
                     .n_classes = job->class ? 3 : 0,
                     .n_own = job->class != NULL,
                     .matters = matters,
                     /* one that is slow to make may have been timed */
                     .timed = job->kind == CUDNN_CONVOLUTIONS },
        .rule = { .exact = job->exact, .most = MOST_ROOM },
        .target = { .handle = dnn->handle },
    };
    cudnn_graph_open(&ret->graph, &dnn->table);
    job->describe(&ret->graph, job->key);
    return cudnn_graph_finish(&ret->graph, dnn->handle) != NULL;
}

/* Makes the plan of a recipe that was stored. */
static bool recall_plan(struct choice *c, struct made_plan *ret)
{
    struct plan_recipe stored;
    struct cudnn_recipe recipe;
    if (!plan_choice_recall(c->cuda, &c->problem, &stored))
        return false;
    memcpy(&recipe, stored.bytes, sizeof recipe);
    ret->plan = (struct cudnn_plan){ 0 };
    ret->put_off = stored.provisional || (c->problem.matters && !stored.measured);
    return cudnn_plan_again(&c->dnn->table, &c->target, c->graph.graph, &c->rule, &recipe,
                            &ret->plan);
}

/* Returns the engines of the problem's operation whose plans are slow to make; NULL: none are
 * noted. */
static uint64_t *slow_engines(const struct choice *c)
{
    const struct cudnn_convolution *key = c->job->key;
    return c->job->kind == CUDNN_CONVOLUTIONS
               ? &c->dnn->slow_engines[key->operation - CUDNN_FORWARD]
               : NULL;
}

/* Makes the first plan that the library offers, of an engine that is slow only if it offers no
 * other. */
static bool first_plan(const struct choice *c, struct cudnn_plan *ret)
{
    const uint64_t *slow = slow_engines(c);
    struct cudnn_rule quick = c->rule;
    int status;
    quick.not_offered = slow ? *slow : 0;
    return cudnn_plans(&c->dnn->table, &c->target, c->graph.graph, &quick, ret, 1, &status) ||
           (quick.not_offered &&
            cudnn_plans(&c->dnn->table, &c->target, c->graph.graph, &c->rule, ret, 1, &status));
}

static struct plan_recipe stored_recipe(const struct cudnn_plan *plan)
{
    struct plan_recipe ret = { 0 };
    memcpy(ret.bytes, &plan->recipe, sizeof plan->recipe);
    return ret;
}

static bool slow_to_make(const struct cudnn_plan *plan)
{
    return plan->make_us > SLOW_TO_MAKE_US;
}

/* Stores the first plan that the library offers for the problem's class. */
static void save_first_plan(struct choice *c, const struct cudnn_plan *plan)
{
    const struct plan_recipe stored = stored_recipe(plan);
    if (!slow_to_make(plan) && plan->recipe.n >= 0)
        plan_choice_save(c->cuda, &c->problem, &stored, &stored);
}

/* Makes a plan at once: by the recipe that was chosen before for this problem or its class, or else
 * the first one that the library offers. */
static struct made_plan make_cudnn_plan(struct cuda *cuda, struct cudnn *dnn,
                                        const struct cudnn_job *job)
{
    struct made_plan made = { .matters = job->kind == CUDNN_CONVOLUTIONS &&
                                         plan_choice_matters(cuda->now->flops) };
    struct choice c;
    if (!open_choice(cuda, dnn, job, made.matters, &c)) {
        /* it stays refused */
    } else if (recall_plan(&c, &made)) {
        cuda->base.log.recalled++;
    } else if (first_plan(&c, &made.plan)) {
        save_first_plan(&c, &made.plan);
        made.put_off = made.matters || (slow_to_make(&made.plan) && plan_choice_allowed());
    }
    cudnn_graph_close(&c.graph);
    return made;
}

/* Returns whether refine() makes the plan: attentions have a kernel of our own. */
static bool puts_off(const struct cuda *cuda, const struct cudnn_job *job)
{
    return cuda->base.puts_off && job->kind == CUDNN_ATTENTIONS && plan_choice_allowed();
}

/* Returns the plan of a problem; NULL: out of memory. Refused problems are stored, too. */
static const struct cudnn_plan *stored_cudnn_plan(struct kernel *k, struct cudnn *dnn,
                                                  const struct cudnn_job *job)
{
    struct plans *plans = &dnn->plans[job->kind];
    uint32_t found = key_table_find(&plans->keys, job->key);
    if (found != KEY_NONE)
        return &plans->made.v[found].plan;
    struct made_plan made = { .put_off = puts_off(cuda_of(k), job) };
    if (!made.put_off) {
        double start = clock_us();
        made = make_cudnn_plan(cuda_of(k), dnn, job);
        cuda_of(k)->base.log.planned++;
        cuda_of(k)->base.log.plan_ns += (uint64_t)((clock_us() - start) * 1e3);
    }
    if (vec_reserve(&plans->made, 1) && key_table_add(&plans->keys, job->key)) {
        plans->made.v[plans->made.n++] = made;
        return &plans->made.v[plans->made.n - 1].plan;
    }
    cudnn_drop(&dnn->table, made.plan.plan);
    err_nomem(k->err);
    k->failed = true;
    return NULL;
}

/* ---- Choices that were put off ---- */

/* Trials compute in memory of their own, whose values do not matter. */
struct cudnn_trial {
    const struct cudnn *dnn;
    const struct cudnn_job *job;
    struct cudnn_plan plans[CUDNN_MOST_PLANS];
    uint64_t workspace;
};

static bool try_plan(void *user, uint32_t i)
{
    const struct cudnn_trial *t = user;
    return execute_plan(t->dnn, t->job, t->plans[i].plan, t->workspace) == CUDNN_OK;
}

/* Returns the bytes that a tensor extends over. */
static size_t tensor_reach(const struct cudnn_tensor *x)
{
    size_t last = 0;
    for (int d = 0; d < x->ndim; d++)
        last += (size_t)((x->size[d] - 1) * x->stride[d]);
    return (last + 1) * (x->type == CUDNN_F64 ? 8 : x->type == CUDNN_F32 ? 4 : 2);
}

static bool take_tensors(struct cuda *cuda, struct cudnn_convolution_job *convolution,
                         struct cuda_scratch *from)
{
    const struct cudnn_tensor *tensors[] = { &convolution->key.weight, &convolution->key.in,
                                             &convolution->key.out };
    for (int i = 0; i < CUDNN_TENSORS; i++) {
        uint64_t address;
        if (!cuda_scratch(cuda, from, tensor_reach(tensors[i]), (uint64_t)tensors[i]->alignment,
                          &address))
            return false;
        convolution->job.pointers[i] = (void *)(uintptr_t)address;
    }
    return true;
}

static bool time_plans(struct choice *c, struct cudnn_trial *t, uint32_t n, float *ms)
{
    const struct plan_trial trial = { n, try_plan, t };
    struct cuda_scratch from = { 0 };
    int64_t workspace = 1;
    for (uint32_t i = 0; i < n; i++)
        workspace = t->plans[i].workspace > workspace ? t->plans[i].workspace : workspace;
    bool measured = n > 1 && cuda_scratch(c->cuda, &from, (size_t)workspace, 0, &t->workspace) &&
                    c->dnn->table.set_stream(c->dnn->handle, c->cuda->stream) == CUDNN_OK &&
                    plan_choice_time(c->cuda, &trial, ms);
    cuda_scratch_release(c->cuda, &from);
    return measured;
}

/* Returns whether the plan of a recipe is made at once, and notes the engine if not. The first one
 * of an engine may have loaded a part of the library, so that another is made. */
static bool quick_to_make(const struct choice *c, const struct cudnn_plan *plan)
{
    struct cudnn_plan again = { 0 };
    if (plan->recipe.n < 0)
        return false;
    if (!slow_to_make(plan))
        return true;
    bool made = cudnn_plan_again(&c->dnn->table, &c->target, c->graph.graph, &c->rule,
                                 &plan->recipe, &again);
    cudnn_drop(&c->dnn->table, again.plan);
    uint64_t *slow = slow_engines(c);
    if (slow && made && slow_to_make(&again) && plan->recipe.engine >= 0 &&
        plan->recipe.engine < 64)
        *slow |= (uint64_t)1 << plan->recipe.engine;
    return made && !slow_to_make(&again);
}

/* Returns the fastest one that is quick to make, `best` if there is none. */
static uint32_t fastest_quick_plan(const struct choice *c, const struct cudnn_trial *t, uint32_t n,
                                   const float *ms, uint32_t best)
{
    float left[CUDNN_MOST_PLANS];
    memcpy(left, ms, n * sizeof *ms);
    for (uint32_t i = best; isfinite(left[i]); i = plan_choice_fastest(left, n)) {
        if (quick_to_make(c, &t->plans[i]))
            return i;
        left[i] = INFINITY;
    }
    return best;
}

/* Chooses between the plans that were timed. Other problems of the class get one that is quick to
 * make; so does this one, unless another is so much faster that making it pays. */
static uint32_t choose_plan(struct choice *c, const struct cudnn_trial *t, uint32_t n,
                            const float *ms)
{
    uint32_t best = plan_choice_fastest(ms, n);
    const uint32_t quick = fastest_quick_plan(c, t, n, ms, best);
    const double saved_us = ((double)ms[quick] - (double)ms[best]) * 1e3;
    if (saved_us * RUNS_TO_REPAY < t->plans[best].make_us)
        best = quick;
    struct plan_recipe own = stored_recipe(&t->plans[best]);
    struct plan_recipe others = stored_recipe(&t->plans[quick]);
    own.measured = others.measured = true;
    others.provisional = quick != best;
    if (t->plans[best].recipe.n >= 0 && t->plans[quick].recipe.n >= 0)
        plan_choice_save(c->cuda, &c->problem, &own, &others);
    return best;
}

/* Makes the plans that the library offers and keeps the chosen one. */
static bool fastest_plan(struct choice *c, struct made_plan *ret)
{
    struct cudnn_trial t = { .dnn = c->dnn, .job = c->job };
    float ms[CUDNN_MOST_PLANS];
    int status;
    uint32_t n = cudnn_plans(&c->dnn->table, &c->target, c->graph.graph, &c->rule, t.plans,
                             CUDNN_MOST_PLANS, &status);
    bool measured = time_plans(c, &t, n, ms);
    uint32_t best = measured ? choose_plan(c, &t, n, ms) : 0;
    for (uint32_t i = 0; i < n; i++)
        if (!measured || i != best)
            cudnn_drop(&c->dnn->table, t.plans[i].plan);
    if (measured)
        ret->plan = t.plans[best];
    return measured;
}

static bool same_recipe(const struct cudnn_recipe *a, const struct cudnn_recipe *b)
{
    return a->engine == b->engine && a->n == b->n && a->n >= 0 &&
           memcmp(a->knobs, b->knobs, sizeof a->knobs) == 0;
}

/* Returns whether the plan is another one now. */
static bool refine_plan(struct cuda *cuda, struct cudnn *dnn, const struct cudnn_convolution *key,
                        struct made_plan *made)
{
    struct made_plan next = { .matters = made->matters };
    struct cudnn_convolution_job convolution;
    struct cuda_scratch from = { 0 };
    struct choice c;
    bool changed = false;
    made->put_off = false;
    cudnn_convolution_job(key, &convolution);
    if (!take_tensors(cuda, &convolution, &from) || !vec_reserve(&dnn->replaced, 1)) {
        cuda_scratch_release(cuda, &from);
        return false;
    }
    bool opened = open_choice(cuda, dnn, &convolution.job, made->matters, &c);
    bool found = opened && recall_plan(&c, &next);
    if (found && next.put_off) {
        cudnn_drop(&dnn->table, next.plan.plan);
        found = false;
    }
    if (found || (opened && fastest_plan(&c, &next))) {
        changed = !same_recipe(&made->plan.recipe, &next.plan.recipe);
        if (changed) {
            dnn->replaced.v[dnn->replaced.n++] = made->plan.plan;
            made->plan = next.plan;
        } else {
            cudnn_drop(&dnn->table, next.plan.plan);
        }
    }
    cudnn_graph_close(&c.graph);
    cuda_scratch_release(cuda, &from);
    return changed;
}

static bool refine_convolutions(struct cuda *cuda, struct cudnn *dnn)
{
    struct plans *plans = &dnn->plans[CUDNN_CONVOLUTIONS];
    bool changed = false;
    for (uint32_t i = 0; i < plans->made.n; i++)
        if (plans->made.v[i].put_off && plans->made.v[i].plan.plan &&
            refine_plan(cuda, dnn, key_table_key(&plans->keys, i), &plans->made.v[i]))
            changed = true;
    return changed;
}

/* Makes the plans of attentions that calls put off. */
static bool make_attentions(struct cuda *cuda, struct cudnn *dnn)
{
    struct plans *plans = &dnn->plans[CUDNN_ATTENTIONS];
    bool changed = false;
    for (uint32_t i = 0; i < plans->made.n; i++) {
        struct made_plan *made = &plans->made.v[i];
        struct cudnn_job job = cudnn_attention_job(key_table_key(&plans->keys, i));
        if (!made->put_off || made->plan.plan)
            continue;
        double start = clock_us();
        *made = make_cudnn_plan(cuda, dnn, &job);
        made->put_off = false;
        cuda->base.log.tried++;
        cuda->base.log.try_ns += (uint64_t)((clock_us() - start) * 1e3);
        changed |= made->plan.plan != NULL;
    }
    return changed;
}

static bool refine_cudnn(struct cuda *cuda)
{
    struct cudnn *dnn = cuda->library_state[LIBRARY_CUDNN];
    bool changed = dnn && refine_convolutions(cuda, dnn);
    return (dnn && make_attentions(cuda, dnn)) || changed;
}

/* ---- Calls ---- */

/* Returns the state, which is opened at first use; NULL: it cannot be opened. */
static struct cudnn *cudnn_state(struct kernel *k)
{
    struct cuda *cuda = cuda_of(k);
    struct err why = { 0 };
    if (!cuda->library_close[LIBRARY_CUDNN]) {
        cuda->library_close[LIBRARY_CUDNN] = close_cudnn;
        cuda->library_refine[LIBRARY_CUDNN] = refine_cudnn;
        double start = clock_us();
        cuda->library_state[LIBRARY_CUDNN] = cudnn_open(&why);
        cuda->base.log.opened += cuda->library_state[LIBRARY_CUDNN] != NULL;
        cuda->base.log.open_ns += (uint64_t)((clock_us() - start) * 1e3);
    }
    return cuda->library_state[LIBRARY_CUDNN];
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
    const bool launches = cuda_library_begin(k, job->name, &stream);
    int status = launches ? dnn->table.set_stream(dnn->handle, stream) : CUDNN_OK;
    if (launches && status == CUDNN_OK)
        status = execute_plan(dnn, job, plan->plan, workspace);
    if (status != CUDNN_OK) {
        err_set(k->err, ERR_ENV, "%s: status %d%s; $SYMTAPE_CUDA_WITHOUT=cudnn runs without it",
                job->name, status, meaning_of(status));
        k->failed = true;
    }
    cuda_library_end(k);
    return true;
}

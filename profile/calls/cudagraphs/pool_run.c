#include "profile/calls/cudagraphs/pool_run.h"

#include "profile/calls/cudagraphs/kernel_arguments.h"
#include "profile/calls/cudagraphs/size_values.h"

/* The workspace of cuBLAS (parseChosenWorkspaceSize() in aten/src/ATen/cuda/CublasHandlePool.cpp):
 * 32 MiB for compute capability 9.0, 8.125 MiB before. Releases differ for later ones. */
enum { WORKSPACE = 8519680, WORKSPACE_90 = 32 << 20 };

/* How many blocks, events and launches the simulation may look at. */
#define MOST_WORK ((uint64_t)1 << 28)
/* A launch takes as long as so many blocks. */
enum { LAUNCH_WORK = 16 };

/* ---- Programs ---- */

/* "# AOT ID: ['0_backward']" */
static bool is_backward_program(struct str text)
{
    size_t at = str_find(text, STR("# AOT ID: ["));
    struct str id = str_from(text, at);
    return str_contains(str_first(id, str_find_char(id, ']')), STR("_backward"));
}

/* "DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, ..." */
static void read_capability(struct pool_run *pool, struct str text)
{
    static const struct str CC = { ", cc=", 5 };
    struct str number = str_from(text, str_find(text, CC) + CC.n);
    uint64_t cc = 0;
    number = str_first(number, str_digits(number));
    if (number.n && !str_to_u64(number, &cc))
        cc = UINT64_MAX;
    if (cc == 90)
        pool->workspace = WORKSPACE_90;
    pool->workspace_unknown |= cc > 90;
}

static bool add_graphs(struct pool_run *pool, size_t n)
{
    while (pool->graphs.n < n)
        if (!vec_push(&pool->graphs, (struct graph_plans){ .compile = STR("") }))
            return false;
    return true;
}

static bool read_program(struct pool_run *pool, struct cudagraph_run *run, struct str text,
                         uint32_t graph)
{
    struct wrapped_graph *wrapped = &run->wrapped.graphs.v[graph];
    struct graph_plans *plans = &pool->graphs.v[graph];
    if (!str_contains(text, STR("_DeviceGuard(")))
        return true; /* of the CPU */
    plans->first = (uint32_t)pool->plans.plans.n;
    if (!memory_plans_read(&pool->plans, text))
        return false;
    plans->n = (uint32_t)pool->plans.plans.n - plans->first;
    read_capability(pool, text);
    if (plans->n && run->settings.partitions && str_contains(text, STR("\ndef partition_0(")))
        wrapped->n_partitions = plans->n;
    return true;
}

bool pool_run_read(struct pool_run *pool, struct cudagraph_run *run, struct trace *trace,
                   uint32_t first, bool backward, struct err *err)
{
    const uint32_t end = (uint32_t)run->wrapped.graphs.n;
    uint32_t n = 0;
    if (!add_graphs(pool, run->wrapped.graphs.n))
        return err_nomem(err);
    pool->run = run;
    pool->workspace = pool->workspace ? pool->workspace : WORKSPACE;
    if (first == end)
        return true;
    const struct attempt *attempt = &trace->attempts[run->wrapped.graphs.v[first].attempt];
    for (uint32_t i = first; i < end; i++)
        pool->graphs.v[i].compile = attempt->compile;
    if (!tuned_kernels_read_device(&pool->tuned, trace, run->wrapped.graphs.v[first].attempt, err))
        return false;
    for (uint32_t i = 0; i < attempt->n_records && n < end - first; i++) {
        const struct record *record = &trace->records[attempt->records[i]];
        struct str text;
        if (record->event != EVENT_INDUCTOR_OUTPUT_CODE || record->payload == TRACE_NONE)
            continue;
        if (!trace_payload(trace, attempt->records[i], &text, err))
            return false;
        if (is_backward_program(text) != backward)
            continue;
        /* Backward graphs run in reverse, and are listed in this order. */
        uint32_t graph = backward ? end - 1 - n++ : first + n++;
        if (!read_program(pool, run, text, graph))
            return err_nomem(err);
    }
    return true;
}

/* ---- Paths ---- */

static bool end_path(struct pool_run *pool)
{
    for (size_t i = 0; i < pool->live.n; i++)
        if (!private_pool_give(&pool->pool, pool->live.v[i].block))
            return false;
    pool->live.n = 0;
    pool->replayed.n = 0;
    return true;
}

/* ---- Runs ---- */

struct plan_run {
    struct pool_run *pool;
    const struct wrapped_graph *graph;
    const struct memory_plan *plan;
    struct str compile;
    uint32_t graph_number;
    struct size_values values;
    bool records;
    uint32_t workspace; /* its block */
};

/* What no GPU holds is not known: sizes that the tape does not tell, or that are damaged. */
static bool take_block(const struct plan_run *r, uint64_t bytes, uint32_t *ret)
{
    *ret = BLOCK_NONE;
    r->pool->unknown |= bytes > POOL_MOST_BYTES || r->pool->pool.reserved > POOL_MOST_BYTES;
    return r->pool->unknown || private_pool_take(&r->pool->pool, bytes, ret);
}

static const struct plan_slot *slot_at(const struct plan_run *r, uint32_t slot)
{
    return &r->pool->plans.slots.v[r->plan->first_slot + slot];
}

static bool take_slot(struct plan_run *r, uint32_t slot)
{
    const struct plan_slot *s = slot_at(r, slot);
    uint64_t elements, bytes;
    if (!size_values_storage(&r->values, &r->pool->plans.exprs, s->sizes, s->strides, &elements) ||
        __builtin_mul_overflow(elements, (uint64_t)s->element_bytes, &bytes)) {
        r->pool->unknown = true;
        return true;
    }
    return take_block(r, bytes, &r->pool->blocks.v[slot]);
}

/* Frees what an earlier run of the path returned under this name. */
static bool give_live(struct plan_run *r, struct str name)
{
    struct pool_run *pool = r->pool;
    pool->pool.work += pool->live.n;
    for (size_t i = 0; i < pool->live.n; i++)
        if (str_eq(pool->live.v[i].name, name)) {
            uint32_t block = pool->live.v[i].block;
            pool->live.v[i] = pool->live.v[--pool->live.n];
            return private_pool_give(&pool->pool, block);
        }
    return true;
}

static bool give_slot(struct plan_run *r, uint32_t slot)
{
    uint32_t block = r->pool->blocks.v[slot];
    r->pool->blocks.v[slot] = BLOCK_NONE;
    if (block != BLOCK_NONE)
        return private_pool_give(&r->pool->pool, block);
    return !slot_at(r, slot)->input || r->graph->mode != MODE_BACKWARD ||
           give_live(r, slot_at(r, slot)->name);
}

/* Allocates the copies of inputs. Both lists are in the order of the graph's inputs, but for a
 * partition's, which are in an order of its own. */
static bool take_inputs(struct plan_run *r)
{
    struct intern names = INTERN_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < r->plan->n_slots && slot_at(r, i)->input; i++)
        ok = intern(&names, slot_at(r, i)->name) != INTERN_NONE;
    for (uint32_t i = 0; ok && i < r->graph->n_tensors; i++) {
        const struct sized_input *input =
            &r->pool->run->wrapped.inputs.v[r->graph->first_tensor + i];
        uint32_t slot = intern_find(&names, input->name);
        if (slot != INTERN_NONE && r->pool->blocks.v[slot] == BLOCK_NONE)
            ok = take_block(r, size_values_tensor(&r->values, i), &r->pool->blocks.v[slot]);
    }
    intern_release(&names);
    return ok;
}

/* ---- Tuning ---- */

/* Sets the bytes of what a kernel writes to. Returns their number. */
static uint32_t written_bytes(const struct plan_run *r, const struct plan_launch *launch,
                              uint64_t bytes[MOST_WRITTEN])
{
    const struct memory_plans *plans = &r->pool->plans;
    uint64_t budget = r->pool->pool.peak - r->pool->pool.used;
    uint32_t n = 0;
    for (uint32_t i = 0; i < launch->n_written && n < MOST_WRITTEN; i++) {
        const struct plan_written *written = &plans->written.v[launch->first_written + i];
        const struct plan_slot *slot = slot_at(r, written->slot);
        uint64_t elements, size;
        if (!size_values_storage(&r->values, &plans->exprs, slot->sizes, slot->strides,
                                 &elements) ||
            __builtin_mul_overflow(elements, (uint64_t)written->element_bytes, &size))
            continue;
        if (!launch->always && size > budget)
            continue; /* it is copied to the CPU: copy_args_to_cpu_if_needed() */
        budget -= launch->always ? 0 : size;
        bytes[n++] = size;
    }
    return n;
}

/* Allocates copies and frees them. */
static bool copy_written(struct plan_run *r, const uint64_t *bytes, uint32_t n)
{
    uint32_t blocks[MOST_WRITTEN], taken = 0;
    bool ok = true;
    while (ok && taken < n) {
        ok = take_block(r, bytes[taken], &blocks[taken]);
        taken += ok;
    }
    for (uint32_t i = 0; ok && i < taken; i++)
        ok = private_pool_give(&r->pool->pool, blocks[i]);
    return ok;
}

/* What CachingAutotuner.bench() allocates for one configuration of a kernel: copies of what the
 * kernel writes to for each launch, and the buffer that flushes the L2 cache. */
static bool bench(struct plan_run *r, const struct plan_launch *launch)
{
    uint64_t bytes[MOST_WRITTEN];
    uint32_t n = written_bytes(r, launch, bytes), flush;
    return copy_written(r, bytes, n) && take_block(r, r->pool->tuned.flush_bytes, &flush) &&
           copy_written(r, bytes, n) && private_pool_give(&r->pool->pool, flush);
}

/* A kernel that is tuned has two configurations or more; those after the second allocate the same.
 */
static bool run_kernel(struct plan_run *r, const struct plan_launch *launch)
{
    bool tunes;
    if (!tuned_kernels_take(&r->pool->tuned, r->compile, r->graph->mode == MODE_BACKWARD,
                            r->graph_number, launch->kernel, &tunes))
        return false;
    r->pool->unknown |= tunes && (!r->pool->tuned.flush_bytes || r->pool->pool.work > MOST_WORK);
    return !tunes || r->pool->unknown || (bench(r, launch) && bench(r, launch));
}

static bool run_kernels(struct plan_run *r, uint32_t event, uint32_t *launch)
{
    for (; *launch < r->plan->n_launches; (*launch)++) {
        const struct plan_launch *next =
            &r->pool->plans.launches.v[r->plan->first_launch + *launch];
        if (next->event > event)
            return true;
        if (!run_kernel(r, next))
            return false;
    }
    return true;
}

/* ---- Events ---- */

/* Does what comes before an event. */
static bool reach(struct plan_run *r, uint32_t event, uint32_t *launch)
{
    bool matmul = event == r->plan->matmul;
    r->pool->unknown |= matmul && r->pool->workspace_unknown;
    if (matmul && !take_block(r, r->pool->workspace, &r->workspace))
        return false;
    return run_kernels(r, event, launch);
}

static bool run_events(struct plan_run *r)
{
    uint32_t launch = 0;
    for (uint32_t i = 0; i < r->plan->n_events && !r->pool->unknown; i++) {
        const struct plan_event *event = &r->pool->plans.events.v[r->plan->first_event + i];
        if (!reach(r, i, &launch) ||
            (event->frees ? !give_slot(r, event->slot) : !take_slot(r, event->slot)))
            return false;
        r->pool->unknown |= r->pool->pool.work > MOST_WORK;
    }
    return reach(r, r->plan->n_events, &launch) && private_pool_give(&r->pool->pool, r->workspace);
}

/* Keeps what is returned, and frees the rest. */
static bool keep_outputs(struct plan_run *r)
{
    struct pool_run *pool = r->pool;
    bool whole = r->graph->n_partitions == 1 && r->plan->n_outputs == r->graph->n_outputs;
    for (uint32_t i = 0; i < r->plan->n_outputs; i++) {
        uint32_t slot = pool->plans.outputs.v[r->plan->first_output + i];
        uint32_t block = slot == SLOT_NONE ? BLOCK_NONE : pool->blocks.v[slot];
        struct live_block live = { block, STR("") };
        if (block == BLOCK_NONE)
            continue;
        if (whole)
            live.name = pool->run->wrapped.outputs.v[r->graph->first_output + i];
        if (!vec_push(&pool->live, live))
            return false;
        pool->blocks.v[slot] = BLOCK_NONE;
    }
    for (uint32_t i = 0; i < r->plan->n_slots; i++)
        if (!private_pool_give(&pool->pool, pool->blocks.v[i]))
            return false;
    return true;
}

static uint64_t plan_work(const struct memory_plan *plan)
{
    return (uint64_t)plan->n_slots + plan->n_events + plan->n_outputs +
           (uint64_t)LAUNCH_WORK * plan->n_launches;
}

/* Sets ret->plan to NULL if the pool is not known. */
static bool start_plan(struct pool_run *pool, uint32_t size, uint32_t partition, bool records,
                       struct plan_run *ret)
{
    const struct graph_size *row = &pool->run->sizes.v[size];
    const struct graph_plans *plans = &pool->graphs.v[row->graph];
    *ret = (struct plan_run){ .pool = pool,
                              .graph = &pool->run->wrapped.graphs.v[row->graph],
                              .compile = plans->compile,
                              .graph_number = row->graph,
                              .records = records,
                              .workspace = BLOCK_NONE };
    ret->values = (struct size_values){ &pool->run->wrapped, ret->graph,
                                        vec_from(&pool->run->values, row->first_value) };
    ret->plan = partition < plans->n ? &pool->plans.plans.v[plans->first + partition] : NULL;
    if (ret->plan)
        pool->pool.work += plan_work(ret->plan) + ret->graph->n_tensors;
    pool->unknown |= !ret->plan || ret->plan->unknown || pool->pool.work > MOST_WORK;
    pool->blocks.n = 0;
    if (pool->unknown)
        ret->plan = NULL;
    for (uint32_t i = 0; ret->plan && i < ret->plan->n_slots; i++)
        if (!vec_push(&pool->blocks, BLOCK_NONE))
            return false;
    return true;
}

/* The outputs of a run that was replayed are in the pool, too. */
static bool take_replayed(struct pool_run *pool)
{
    for (size_t i = 0; i < pool->replayed.n && !pool->unknown; i++) {
        struct plan_run r;
        if (!start_plan(pool, pool->replayed.v[i].size, pool->replayed.v[i].partition, false, &r))
            return false;
        for (uint32_t k = 0; r.plan && k < r.plan->n_outputs; k++) {
            uint32_t slot = pool->plans.outputs.v[r.plan->first_output + k];
            if (slot != SLOT_NONE && pool->blocks.v[slot] == BLOCK_NONE &&
                !slot_at(&r, slot)->input && !take_slot(&r, slot))
                return false;
        }
        if (r.plan && !keep_outputs(&r))
            return false;
    }
    pool->replayed.n = 0;
    return true;
}

bool pool_run_take(struct pool_run *pool, uint32_t size, uint32_t partition, uint64_t path,
                   enum run_action action)
{
    struct plan_run r;
    if (path != pool->path && !end_path(pool))
        return false;
    pool->path = path;
    if (pool->pool.work > MOST_WORK)
        pool->unknown = true;
    if (pool->unknown)
        return true;
    if (action == RUN_REPLAY)
        return vec_push(&pool->replayed, (struct pool_replay){ size, partition });
    return take_replayed(pool) && start_plan(pool, size, partition, action == RUN_RECORD, &r) &&
           (!r.plan || ((!r.records || take_inputs(&r)) && run_events(&r) && keep_outputs(&r)));
}

void pool_run_release(struct pool_run *pool)
{
    memory_plans_release(&pool->plans);
    tuned_kernels_release(&pool->tuned);
    vec_release(&pool->graphs);
    private_pool_release(&pool->pool);
    vec_release(&pool->live);
    vec_release(&pool->replayed);
    vec_release(&pool->blocks);
}

#include "replay/backend/run/run_memory.h"

#include <stdlib.h>

enum { COUNTED_NESTING = 8 };

/* Computes the last node that uses each node's value, or the node itself if it has no user. */
static bool find_users(struct run *run)
{
    struct program *p = run->program;
    run->users = arena_array(&run->arena, uint32_t, (size_t)p->n_steps + 1);
    run->lifetimes.shared = arena_array(&run->arena, bool, (size_t)p->n_steps + 1);
    if (!run->users || !run->lifetimes.shared)
        return false;
    for (uint32_t i = 0; i < p->n_steps; i++) {
        run->users[i] = i;
        for (uint32_t k = 0; k < p->steps[i].n_patches; k++) {
            node_id from = p->patches[p->steps[i].first_patch + k].from;
            if (from >= p->n_steps)
                continue;
            run->lifetimes.shared[from] |= run->users[from] != from && run->users[from] != i;
            run->users[from] = i;
        }
    }
    return true;
}

bool run_find_lifetimes(struct run *run, struct err *err)
{
    uint32_t n = run->program->n_steps;
    struct run_lifetimes *l = &run->lifetimes;
    l->ends = arena_array(&run->arena, uint32_t, (size_t)n + 2);
    l->order = arena_array(&run->arena, uint32_t, (size_t)n + 1);
    l->counted = arena_array(&run->arena, struct value, (size_t)n + 1);
    if (!l->ends || !l->order || !l->counted || !find_users(run))
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        l->ends[run->users[i] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        l->ends[i + 1] += l->ends[i];
    uint32_t *next = calloc((size_t)n + 1, sizeof *next);
    if (!next)
        return err_nomem(err);
    for (uint32_t i = 0; i < n; i++)
        l->order[l->ends[run->users[i]] + next[run->users[i]]++] = i;
    for (uint32_t i = 0; i <= n; i++)
        l->counted[i] = value_none();
    free(next);
    return true;
}

static void count_users(struct run *run, const struct value *v, bool more, unsigned depth)
{
    if (v->kind == VALUE_TENSOR && v->u.tensor.storage < run->lifetimes.holders.n) {
        uint32_t *holders = &run->lifetimes.holders.v[v->u.tensor.storage];
        *holders += more ? 1 : (uint32_t)-1;
        if (*holders == 0)
            storage_free(&run->exec.storages, v->u.tensor.storage);
    }
    for (uint32_t i = 0; value_is_sequence(*v) && depth < COUNTED_NESTING && i < v->n; i++)
        count_users(run, &v->u.items[i], more, depth + 1);
}

/* Counts the new value before it releases the old one, since both may use the same storage. */
static void count_value(struct run *run, node_id node, struct value value)
{
    struct value old = run->lifetimes.counted[node];
    count_users(run, &value, true, 0);
    run->lifetimes.counted[node] = value;
    count_users(run, &old, false, 0);
}

/* Updates the values that the step changed in place (set_, resize_). */
static void count_written(struct run *run, const struct step *step)
{
    struct program *p = run->program;
    for (uint32_t k = 0; k < step->n_patches; k++) {
        node_id from = p->patches[step->first_patch + k].from;
        if (from >= p->n_steps || !p->valid[from])
            continue;
        const struct value *now = &p->current[from], *old = &run->lifetimes.counted[from];
        if (now->kind == VALUE_TENSOR && old->kind == VALUE_TENSOR &&
            now->u.tensor.storage != old->u.tensor.storage)
            count_value(run, from, *now);
    }
}

/* Returns whether the value keeps its memory after its last user, for later runs. */
static bool stays(const struct run *run, const struct step *step)
{
    return step->kind == STEP_INPUT || (step->kind == STEP_ATTRIBUTE && run->options.captures);
}

uint32_t run_last_used(const struct run *run, const struct step *step)
{
    const struct program *p = run->program;
    if (!str_is(op_schema(step->op)->base, "wait_tensor") || run->interpreter.program != p ||
        run->options.keep || step->n_patches != 1)
        return EXEC_NO_STORAGE;
    node_id from = p->patches[step->first_patch].from;
    if (from >= p->n_steps || !p->valid[from] || stays(run, &p->steps[from]) ||
        run->users[from] != run->at || p->current[from].kind != VALUE_TENSOR)
        return EXEC_NO_STORAGE;
    uint32_t storage = p->current[from].u.tensor.storage;
    bool only = storage < run->lifetimes.holders.n && run->lifetimes.holders.v[storage] == 1;
    return only && !run->lifetimes.shared[from] ? storage : EXEC_NO_STORAGE;
}

bool run_count_values(struct run *run, node_id at, uint32_t first, struct err *err)
{
    struct run_lifetimes *l = &run->lifetimes;
    struct program *p = run->program;
    const struct step *step = &p->steps[at];
    uint32_t end = ops_next_storage(run->ops);
    while (l->holders.n < end)
        if (!vec_push(&l->holders, 0))
            return err_nomem(err);
    if (p->valid[at])
        count_value(run, at, p->current[at]);
    if (step->object != at && step->object < p->n_steps && p->valid[step->object])
        count_value(run, step->object, p->current[step->object]);
    count_written(run, step);
    for (uint32_t i = first; i < end; i++)
        if (l->holders.v[i] == 0)
            storage_free(&run->exec.storages, i);
    for (uint32_t i = l->ends[at]; i < l->ends[at + 1]; i++)
        if (!stays(run, &p->steps[l->order[i]]))
            count_value(run, l->order[i], value_none());
    return true;
}

void run_forget_values(struct run *run)
{
    for (uint32_t i = 0; i <= run->program->n_steps; i++)
        run->lifetimes.counted[i] = value_none();
    run->lifetimes.holders.n = 0;
}

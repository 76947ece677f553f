#include "replay/backend/cuda/runtime/data_counts.h"

#include "replay/backend/cuda/runtime/cuda.h"

struct counter {
    const char *base;
    cuda_find_fn *find;
    int64_t (*tell)(struct kernel *k, const struct cuda_count_result *found);
    bool wide; /* the count is an i64 */
};

static int64_t tell_number(struct kernel *k, const struct cuda_count_result *found)
{
    uint32_t n = 0;
    if (found->at[0])
        cuda_download(k, &n, found->at[0], sizeof n);
    return n;
}

/* Returns -1 if one of the numbers is below zero. */
static int64_t sum_result(struct kernel *k, const struct cuda_count_result *found)
{
    int64_t sum[2] = { 0, 0 };
    if (found->at[0])
        cuda_download(k, sum, found->at[0], sizeof sum);
    return sum[1] ? -1 : sum[0];
}

/* Returns -1 if there is no element, and a smaller number if one is below zero. */
static int64_t greatest_result(struct kernel *k, const struct cuda_count_result *found)
{
    int64_t greatest = -1, *all = workspace(k, 2 * found->n, sizeof *all);
    if (!all || found->n == 0 ||
        !cuda_download(k, all, found->at[0], (size_t)found->n * 2 * sizeof *all))
        return -1;
    for (int64_t i = 0; i < found->n; i++)
        greatest = all[i] > greatest ? all[i] : greatest;
    for (int64_t i = 0; i < found->n; i++)
        greatest = all[found->n + i] < 0 ? -2 : greatest;
    return greatest;
}

static const struct counter *counter_for(const struct backend_call *call)
{
    static const struct counter counters[] = {
        { "nonzero", find_ones, tell_number, false },
        { "nonzero_numpy", find_ones, tell_number, false },
        { "where", find_ones, tell_number, false },
        { "masked_select", find_ones, tell_number, false },
        { "index", find_ones, tell_number, false },
        { "index_put", find_ones, tell_number, false },
        { "index_put_", find_ones, tell_number, false },
        { "_index_put_impl_", find_ones, tell_number, false },
        { "_unsafe_index", find_ones, tell_number, false },
        { "repeat_interleave", find_sums, sum_result, true },
        { "bincount", find_extremes, greatest_result, false },
        { "_unique2", find_distinct, tell_number, false },
        { "unique_dim", find_distinct, tell_number, false },
        { "unique_consecutive", find_distinct, tell_number, false },
    };
    for (size_t i = 0; i < sizeof counters / sizeof *counters; i++)
        if (str_is(call->op->base, counters[i].base))
            return &counters[i];
    return NULL;
}

/* ---- Counts that are stored until the call is done ---- */

static bool keep_count(struct cuda *cuda, struct cuda_call *now, struct cuda_stored_count kept)
{
    size_t n = cuda->workspaces.n - now->first_workspace;
    if (!vec_reserve(&cuda->data_counts.workspaces, n) || !vec_push(&cuda->data_counts.kept, kept))
        return false;
    for (size_t i = now->first_workspace; i < cuda->workspaces.n; i++)
        cuda->data_counts.workspaces.v[cuda->data_counts.workspaces.n++] = cuda->workspaces.v[i];
    cuda->workspaces.n = now->first_workspace;
    return true;
}

void cuda_counts_forget(struct cuda *cuda)
{
    for (size_t i = 0; i < cuda->data_counts.workspaces.n; i++)
        cuda_give_back(cuda, cuda->data_counts.workspaces.v[i]);
    cuda->data_counts.workspaces.n = cuda->data_counts.kept.n = 0;
}

void cuda_counts_close(struct cuda *cuda)
{
    vec_release(&cuda->data_counts.workspaces);
    vec_release(&cuda->data_counts.kept);
}

bool cuda_find(struct kernel *k, cuda_find_fn *find, struct kernel_tensor x,
               struct cuda_count_result *ret)
{
    const struct cuda *cuda = cuda_of(k);
    *ret = (struct cuda_count_result){ 0 };
    if (k->failed || !x.meta)
        return false;
    for (size_t i = 0; i < cuda->data_counts.kept.n; i++) {
        const struct cuda_stored_count *kept = &cuda->data_counts.kept.v[i];
        if (kept->find == find && kept->storage == x.storage && kept->meta == x.meta &&
            kept->call == k->call->caller->calls) {
            *ret = kept->found;
            return true;
        }
    }
    find(k, x, ret);
    return !k->failed;
}

bool cuda_count(struct backend *backend, const struct backend_call *call, struct kernel_tensor x,
                uint32_t slot, int64_t *ret, bool *known, struct err *err)
{
    struct cuda *cuda = (struct cuda *)backend;
    const struct counter *counter = counter_for(call);
    struct kernel k = { .call = call, .err = err };
    struct cuda_call now;
    *known = false;
    if (!counter)
        return true;
    if (call->caller->depth == 0)
        cuda_counts_forget(cuda);
    cuda_begin_call(cuda, &now, call);
    /* a call from outside gets its number only when it is run */
    struct cuda_stored_count kept = { .find = counter->find,
                                      .storage = x.storage,
                                      .meta = x.meta,
                                      .call = call->caller->calls + (call->caller->depth == 0) };
    counter->find(&k, x, &kept.found);
    int64_t count = 0;
    if (!k.failed && slot != BACKEND_NO_SLOT)
        cuda_store_size(&k, kept.found.at[0], counter->wide, slot);
    else if (!k.failed)
        count = counter->tell(&k, &kept.found);
    bool declined = now.declined && !err_is_set(err);
    *known = !k.failed;
    *ret = count;
    if (*known && !keep_count(cuda, &now, kept))
        *known = err_nomem(err);
    cuda_end_call(cuda);
    arena_release(&k.arena);
    return *known || declined;
}

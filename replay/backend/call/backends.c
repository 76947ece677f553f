#include "replay/backend/call/backend.h"

extern const struct backend_kind backend_cpu, backend_cuda, backend_null;

const struct backend_kind *const backend_kinds[] = { &backend_cpu, &backend_cuda, &backend_null,
                                                     NULL };

const struct backend_kind *backend_find(struct str name)
{
    for (size_t i = 0; backend_kinds[i]; i++)
        if (str_is(name, backend_kinds[i]->name))
            return backend_kinds[i];
    return NULL;
}

struct backend_launch *backend_log_add(struct backend_log *log, const char *what, uint32_t node)
{
    struct backend_launch launch = { .what = what,
                                     .first_node = (uint32_t)log->nodes.n,
                                     .n_nodes = 1 };
    if (!log->on || !vec_push(&log->nodes, node) || !vec_push(&log->launches, launch))
        return NULL;
    return &log->launches.v[log->launches.n - 1];
}

void backend_log_release(struct backend_log *log)
{
    vec_release(&log->launches);
    vec_release(&log->nodes);
}

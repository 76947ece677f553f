#include "replay/backend/measure/memory_needs.h"

#include "replay/backend/measure/peak.h"
#include "replay/backend/run/inputs/kept_inputs.h"

/* Returns the first node at which the memory in use exceeds the available memory. */
static uint32_t too_much_at(const struct storages *s, uint64_t available)
{
    int64_t now = 0;
    for (size_t i = 0; i < s->events.n; i++) {
        now += s->events.v[i].bytes;
        if (now > 0 && (uint64_t)now > available)
            return s->events.v[i].node;
    }
    return 0;
}

bool run_fits(const struct graph *graph, const struct run_options *options, struct err *err)
{
    struct backend *backend = options->backend;
    uint64_t available = backend->kind->free_memory ? backend->kind->free_memory(backend) : 0;
    struct err ignored = { 0 };
    if (available == 0)
        return true;
    if (options->kept && options->kept->backend == backend)
        available += options->kept->bytes; /* the run takes this memory */
    struct run_options counting = *options;
    counting.kept = NULL;
    const struct backend_kind *kind = backend_find(STR("null"));
    counting.backend = kind->open(err);
    counting.violated = run_ignore_violation;
    counting.keep = false;
    counting.node = NULL;
    if (!counting.backend)
        return false;
    struct run *run = run_new(graph, &counting, &ignored);
    if (run) {
        run->exec.storages.noting = true;
        run_execute(run, &ignored); /* memory that is needed until it fails is needed in any case */
        const struct storages *s = &run->exec.storages;
        if (s->peak > available) {
            const struct node *node = &graph->nodes[too_much_at(s, available)];
            err_set(err, ERR_ENV,
                    "%zu bytes of memory are needed%s, and %llu are available on %s; node %.*s "
                    "is the first that needs more",
                    s->peak, err_is_set(&ignored) ? " at least" : "", (unsigned long long)available,
                    backend->kind->name, STR_ARG(node->name));
        }
    }
    run_free(run);
    kind->close(counting.backend);
    return !err_is_set(err);
}

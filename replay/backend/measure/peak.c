#include "replay/backend/measure/peak.h"

#include <stdlib.h>

static int more_bytes(const void *a, const void *b)
{
    const struct peak_holder *x = a, *y = b;
    return x->bytes != y->bytes ? (x->bytes < y->bytes ? 1 : -1)
                                : (x->node > y->node) - (x->node < y->node);
}

static size_t find_peak_event(const struct storages *s, struct peak *ret)
{
    int64_t now = 0;
    size_t at = 0;
    for (size_t i = 0; i < s->events.n; i++) {
        now += s->events.v[i].bytes;
        if (now > (int64_t)ret->bytes) {
            ret->bytes = (uint64_t)now;
            ret->node = s->events.v[i].node;
            at = i + 1;
        }
    }
    return at;
}

/* Attributes each storage to the node that last allocated it. */
static void sum_by_node(const struct storages *s, size_t n, struct peak_holder *by_storage,
                        struct peak_holder *by_node)
{
    for (size_t i = 0; i < n; i++) {
        const struct storage_event *e = &s->events.v[i];
        by_storage[e->number] = e->bytes > 0 ? (struct peak_holder){ e->node, (uint64_t)e->bytes }
                                             : (struct peak_holder){ 0 };
    }
    for (size_t i = 0; i < s->by_number.n; i++)
        by_node[by_storage[i].node].bytes += by_storage[i].bytes;
}

bool peak_of(const struct storages *s, struct arena *arena, struct peak *ret, struct err *err)
{
    *ret = (struct peak){ 0 };
    size_t end = find_peak_event(s, ret);
    uint32_t nodes = 0;
    for (size_t i = 0; i < end; i++)
        nodes = s->events.v[i].node >= nodes ? s->events.v[i].node + 1 : nodes;
    struct peak_holder *by_storage = calloc(s->by_number.n + 1, sizeof *by_storage);
    struct peak_holder *by_node = arena_array(arena, struct peak_holder, (size_t)nodes + 1);
    if (!by_storage || !by_node) {
        free(by_storage);
        return err_nomem(err);
    }
    for (uint32_t i = 0; i < nodes; i++)
        by_node[i].node = i;
    sum_by_node(s, end, by_storage, by_node);
    free(by_storage);
    qsort(by_node, nodes, sizeof *by_node, more_bytes);
    while (ret->n_holders < nodes && by_node[ret->n_holders].bytes)
        ret->n_holders++;
    ret->holders = by_node;
    return true;
}

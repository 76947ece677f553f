#include "replay/backend/measure/timing_groups.h"
#include "replay/ops/model/stats.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/buf.h"
#include "trace/base/intern.h"

enum { NAME_PARTS = 12 }; /* of a fused kernel's name; further operators are counted */

bool launches_copy(struct launches *ret, const struct backend_log *log, struct arena *arena,
                   struct err *err)
{
    ret->n = log->launches.n;
    ret->launches = arena_array(arena, struct backend_launch, ret->n + 1);
    ret->nodes = arena_array(arena, uint32_t, log->nodes.n + 1);
    if (!ret->launches || !ret->nodes)
        return err_nomem(err);
    if (ret->n)
        memcpy(ret->launches, log->launches.v, ret->n * sizeof *ret->launches);
    if (log->nodes.n)
        memcpy(ret->nodes, log->nodes.v, log->nodes.n * sizeof *ret->nodes);
    return true;
}

/* ---- Names ---- */

static struct str operator_of_node(const struct graph *graph, uint32_t node)
{
    struct str name = node < graph->n_nodes ? graph->nodes[node].target : STR("");
    return str_starts(name, STR("torch.ops.")) ? str_from(name, 10) : name;
}

/* Returns "relu" for "aten.relu.default". */
static struct str operator_base(struct str name)
{
    size_t dot = str_find_char(name, '.');
    struct str base = dot < name.n ? str_from(name, dot + 1) : name;
    return str_first(base, str_find_char(base, '.'));
}

static void name_launch(const struct graph *graph, const uint32_t *nodes, uint32_t n,
                        struct buf *out)
{
    buf_clear(out);
    if (n == 1)
        buf_put(out, operator_of_node(graph, nodes[0]));
    for (uint32_t i = 0; n > 1 && i < n && i < NAME_PARTS; i++)
        buf_printf(out, "%s%.*s", i ? " + " : "",
                   STR_ARG(operator_base(operator_of_node(graph, nodes[i]))));
    if (n > NAME_PARTS)
        buf_printf(out, " + %u more", n - NAME_PARTS);
}

/* ---- Groups ---- */

struct member {
    uint32_t group, node;
    double us;
    bool has_counts; /* its launches contain bytes and operations */
};

struct launch_groups {
    struct timing *t;
    struct timed_node *nodes;
    struct intern names;
    vec_of(struct timed_group)
    groups;
    vec_of(struct member)
    members;
    struct buf name;
};

static bool add_launch(struct launch_groups *g, const struct launches *all, size_t i)
{
    const struct backend_launch *launch = &all->launches[i];
    const uint32_t *nodes = all->nodes + launch->first_node;
    name_launch(g->t->graph, nodes, launch->n_nodes, &g->name);
    uint32_t id = intern(&g->names, buf_str(&g->name));
    if (id == INTERN_NONE)
        return false;
    if (id == g->groups.n) {
        struct timed_group fresh = { .name = arena_copy(&g->t->arena, buf_str(&g->name)),
                                     .fused = launch->n_nodes > 1 };
        if (!vec_push(&g->groups, fresh))
            return false;
    }
    struct timed_group *group = &g->groups.v[id];
    group->launches++;
    group->on_host += launch->on_host;
    group->us += launch->us;
    group->bytes += launch->bytes;
    group->flops += launch->flops;
    g->t->sum_us += launch->us;
    for (uint32_t k = 0; k < launch->n_nodes; k++) {
        double us = launch->us / launch->n_nodes;
        struct member m = { id, nodes[k], us, launch->bytes > 0 };
        if (nodes[k] >= g->t->graph->n_nodes || !vec_push(&g->members, m))
            return false;
        g->nodes[nodes[k]].us += us;
    }
    return true;
}

static int by_group_and_node(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static int by_group_and_time(const void *a, const void *b)
{
    const struct member *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return x->us != y->us ? (x->us < y->us ? 1 : -1) : (x->node > y->node) - (x->node < y->node);
}

static int compare_group_times(const void *a, const void *b)
{
    const struct timed_group *x = a, *y = b;
    return x->us != y->us ? (x->us < y->us ? 1 : -1) : str_cmp(x->name, y->name);
}

/* Merges launches of one node in one group. */
static void merge_members(struct launch_groups *g)
{
    size_t n = 0;
    qsort(g->members.v, g->members.n, sizeof *g->members.v, by_group_and_node);
    for (size_t i = 0; i < g->members.n; i++) {
        struct member m = g->members.v[i], *last = n ? &g->members.v[n - 1] : NULL;
        if (last && last->group == m.group && last->node == m.node)
            last->us += m.us, last->has_counts |= m.has_counts;
        else
            g->members.v[n++] = m;
    }
    g->members.n = n;
    if (n)
        qsort(g->members.v, n, sizeof *g->members.v, by_group_and_time);
}

static bool add_group_members(struct launch_groups *g)
{
    uint32_t *nodes = arena_array(&g->t->arena, uint32_t, g->members.n + 1);
    if (!nodes)
        return false;
    for (size_t i = 0; i < g->members.n; i++) {
        const struct member *m = &g->members.v[i];
        struct timed_group *group = &g->groups.v[m->group];
        const struct timed_node *node = &g->nodes[m->node];
        nodes[i] = m->node;
        if (group->n_nodes++ == 0) {
            group->nodes = &nodes[i];
            group->most = m->node;
        }
        group->calls += node->calls ? node->calls : 1;
        group->bytes += m->has_counts ? 0 : node->work.bytes;
        group->flops += group->flops && m->has_counts ? 0 : node->work.flops;
        group->isolated_us += node->isolated_us;
        group->isolated += node->isolated;
    }
    return true;
}

static void add_rule_stats(struct launch_groups *g, const struct ops *ops)
{
    for (size_t i = 0; i < g->groups.n; i++) {
        struct timed_group *group = &g->groups.v[i];
        const struct op *op = group->fused ? NULL : ops_find(ops, group->name);
        const struct op_stats *stats = op ? ops_stats(ops, op) : NULL;
        if (stats)
            group->stats = *stats;
    }
}

bool timing_group(struct timing *t, struct timed_node *nodes, const struct launches *all,
                  const struct ops *ops, struct err *err)
{
    struct launch_groups g = { .t = t, .nodes = nodes, .names = INTERN_INIT, .name = BUF_INIT };
    bool ok = true;
    t->launches = (uint32_t)all->n;
    for (size_t i = 0; i < all->n && ok; i++)
        ok = add_launch(&g, all, i);
    if (g.members.n && ok)
        merge_members(&g);
    ok = ok && add_group_members(&g);
    t->groups = arena_array(&t->arena, struct timed_group, g.groups.n + 1);
    ok = ok && t->groups;
    if (ok && g.groups.n) {
        add_rule_stats(&g, ops);
        t->n_groups = g.groups.n;
        memcpy(t->groups, g.groups.v, g.groups.n * sizeof *t->groups);
        qsort(t->groups, t->n_groups, sizeof *t->groups, compare_group_times);
    }
    intern_release(&g.names);
    vec_release(&g.groups);
    vec_release(&g.members);
    buf_release(&g.name);
    return ok || err_nomem(err);
}

/* ---- Shares of the ceilings ---- */

static bool has_flops(const struct timing *t, enum dtype dtype)
{
    for (uint32_t i = 0; i < t->graph->n_nodes; i++)
        if (t->nodes[i].work.flops && t->nodes[i].work.dtype == dtype)
            return true;
    return false;
}

bool timing_measure_ceilings(struct timing *t, struct backend *backend, struct ceilings *known,
                             struct err *err)
{
    static const enum dtype dtypes[] = { DTYPE_F32, DTYPE_BF16, DTYPE_F16 };
    if (known->bytes_per_us == 0 && !ceilings_of_copy(backend, known, err))
        return false;
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (has_flops(t, dtypes[i]) && !ceilings_of_product(backend, dtypes[i], known, err))
            return false;
    t->ceilings = *known;
    for (size_t i = 0; i < t->n_groups; i++) {
        struct timed_group *g = &t->groups[i];
        double product = product_ceiling(known, t->nodes[g->most].work.dtype);
        double bytes = known->bytes_per_us ? (double)g->bytes / known->bytes_per_us : 0;
        double flops = product > 0 ? (double)g->flops / product : 0;
        g->ceiling = g->us > 0 ? (bytes > flops ? bytes : flops) / g->us : 0;
    }
    return true;
}

#include "profile/model/phases/phase_spans.h"
#include "profile/model/phases/phase_tree.h"

/* qsort() passes no context to its comparison, so indices are sorted together with their keys:
 * descending key, then ascending index. */
struct ranked_phase {
    uint32_t group; /* sorted in ascending order, first */
    int64_t key;
    uint32_t index;
};

static int compare_phase_ranks(const void *a, const void *b)
{
    const struct ranked_phase *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->key != y->key)
        return x->key > y->key ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

/* Links siblings in the order of inclusive time; roots have the parent PROFILE_NONE and are last in
 * the sort. */
static bool link_siblings(struct profile_build *b)
{
    size_t n = b->nodes.n;
    b->profile.phases.first_root = PROFILE_NONE;
    struct ranked_phase *order = calloc(n + 1, sizeof *order);
    if (!order)
        return false;
    for (uint32_t i = 0; i < n; i++)
        order[i] = (struct ranked_phase){ b->nodes.v[i].parent, b->nodes.v[i].inclusive_ns, i };
    qsort(order, n, sizeof *order, compare_phase_ranks);
    for (size_t i = n; i-- > 0;) {
        struct phase_node *node = &b->nodes.v[order[i].index];
        uint32_t *first = node->parent == PROFILE_NONE ? &b->profile.phases.first_root
                                                       : &b->nodes.v[node->parent].first_child;
        node->next_sibling = *first;
        *first = order[i].index;
    }
    free(order);
    return true;
}

static bool has_ancestor(const struct profile_build *b, const struct phase_node *node)
{
    for (uint32_t up = node->parent; up != PROFILE_NONE; up = b->nodes.v[up].parent)
        if (b->nodes.v[up].name == node->name)
            return true;
    return false;
}

struct sort_total {
    struct phase_total total;
    struct str name;
};

static int compare_phase_names(const void *a, const void *b)
{
    return str_cmp(((const struct sort_total *)a)->name, ((const struct sort_total *)b)->name);
}

static int by_exclusive(const void *a, const void *b)
{
    const struct phase_total *x = a, *y = b;
    if (x->exclusive_ns != y->exclusive_ns)
        return x->exclusive_ns > y->exclusive_ns ? -1 : 1;
    return compare_phase_names(a, b);
}

static int by_inclusive(const void *a, const void *b)
{
    const struct phase_total *x = a, *y = b;
    if (x->inclusive_ns != y->inclusive_ns)
        return x->inclusive_ns > y->inclusive_ns ? -1 : 1;
    return by_exclusive(a, b);
}

static int compare_phase_calls(const void *a, const void *b)
{
    const struct phase_total *x = a, *y = b;
    if (x->calls != y->calls)
        return x->calls > y->calls ? -1 : 1;
    return by_exclusive(a, b);
}

static bool sort_totals(struct profile_build *b, struct phase_total *totals, size_t n)
{
    int (*order)(const void *, const void *) = by_exclusive;
    if (b->profile.options.sort == PROFILE_BY_INCLUSIVE)
        order = by_inclusive;
    else if (b->profile.options.sort == PROFILE_BY_CALLS)
        order = compare_phase_calls;
    else if (b->profile.options.sort == PROFILE_BY_NAME)
        order = compare_phase_names;
    struct sort_total *rows = calloc(n + 1, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < n; i++)
        rows[i] = (struct sort_total){ totals[i], build_text(b, totals[i].name) };
    qsort(rows, n, sizeof *rows, order);
    for (size_t i = 0; i < n; i++)
        totals[i] = rows[i].total;
    free(rows);
    return true;
}

/* Sums up totals by name; `of` maps a name to the index of its total + 1. */
static bool total_names(struct profile_build *b)
{
    uint32_t *of = calloc(b->names.texts.n + 1, sizeof *of);
    struct phase_total *totals = arena_array(&b->arena, struct phase_total, b->nodes.n + 1);
    struct profile_phases *p = &b->profile.phases;
    for (size_t i = 0; of && totals && i < b->nodes.n; i++) {
        const struct phase_node *node = &b->nodes.v[i];
        if (of[node->name] == 0) {
            totals[p->n_totals].name = node->name;
            of[node->name] = ++p->n_totals;
        }
        struct phase_total *total = &totals[of[node->name] - 1];
        total->calls += node->calls;
        total->unfinished += node->unfinished;
        build_add_ns(&total->exclusive_ns, node->exclusive_ns);
        if (!has_ancestor(b, node))
            build_add_ns(&total->inclusive_ns, node->inclusive_ns);
    }
    p->totals = totals;
    bool ok = of && totals && sort_totals(b, totals, p->n_totals);
    free(of);
    return ok;
}

/* Returns whether a phase without a parent is inside of compiles. PyTorch wraps each compile in a
 * phase, and each backward that is compiled at its first run in another one (_backward_impl() in
 * torch/_functorch/_aot_autograd/runtime_wrappers.py). */
static bool is_inside_compile(const struct profile_build *b, const struct phase_node *root,
                              bool wrapped)
{
    struct str name = build_text(b, root->name);
    return wrapped ? phase_whole_compile(name) >= 0 : !str_is(name, "entire_backward_compile");
}

static bool is_any_wrapped(const struct profile_build *b)
{
    for (size_t i = 0; i < b->nodes.n; i++)
        if (b->nodes.v[i].parent == PROFILE_NONE &&
            phase_whole_compile(build_text(b, b->nodes.v[i].name)) >= 0)
            return true;
    return false;
}

/* Sums up the time by part. A phase whose name determines no part belongs to that of its parent. */
static void total_parts(struct profile_build *b)
{
    struct profile_phases *p = &b->profile.phases;
    bool wrapped = is_any_wrapped(b);
    for (size_t i = 0; i < b->nodes.n; i++) {
        struct phase_node *node = &b->nodes.v[i];
        const struct phase_node *parent =
            node->parent == PROFILE_NONE ? NULL : &b->nodes.v[node->parent];
        node->part = phase_part_of(build_text(b, node->name));
        if (node->part == PHASE_OTHER && parent)
            node->part = parent->part;
        node->inside = parent ? parent->inside : is_inside_compile(b, node, wrapped);
        build_add_ns(&p->part_ns[node->part], node->exclusive_ns);
        if (node->inside)
            build_add_ns(&p->inside_ns[node->part], node->exclusive_ns);
        if (!parent)
            build_add_ns(&p->total_ns, node->inclusive_ns);
    }
}

static bool list_unfinished(struct profile_build *b)
{
    struct profile_phases *p = &b->profile.phases;
    for (size_t i = 0; i < b->spans.n; i++)
        p->n_unfinished += b->spans.v[i].unfinished;
    struct ranked_phase *order = calloc(p->n_unfinished + (size_t)1, sizeof *order);
    uint32_t *list = arena_array(&b->arena, uint32_t, p->n_unfinished + (size_t)1);
    bool ok = order && list;
    uint32_t n = 0;
    for (uint32_t i = 0; ok && i < b->spans.n; i++) {
        const struct phase_span *span = &b->spans.v[i];
        if (span->unfinished)
            order[n++] = (struct ranked_phase){ 0, span->end_ns - span->start_ns, i };
    }
    if (ok)
        qsort(order, n, sizeof *order, compare_phase_ranks);
    for (uint32_t i = 0; ok && i < n; i++)
        list[i] = order[i].index;
    p->unfinished = list;
    free(order);
    return ok;
}

static int by_compile(const void *a, const void *b)
{
    const struct phase_by_compile *x = a, *y = b;
    if (x->compile != y->compile)
        return x->compile < y->compile ? -1 : 1;
    if (x->exclusive_ns != y->exclusive_ns)
        return x->exclusive_ns > y->exclusive_ns ? -1 : 1;
    return (x->name > y->name) - (x->name < y->name);
}

bool build_phases(struct profile_build *b, struct err *err)
{
    if (!phase_spans_read(b, err) || !phase_tree_build(b, err))
        return false;
    if (!link_siblings(b) || !total_names(b) || !list_unfinished(b))
        return err_nomem(err);
    total_parts(b);
    if (b->by_compile.n > 0)
        qsort(b->by_compile.v, b->by_compile.n, sizeof *b->by_compile.v, by_compile);
    struct profile_phases *p = &b->profile.phases;
    p->nodes = b->nodes.v;
    p->n_nodes = (uint32_t)b->nodes.n;
    p->by_compile = b->by_compile.v;
    p->n_by_compile = (uint32_t)b->by_compile.n;
    p->spans = b->spans.v;
    p->n_spans = (uint32_t)b->spans.n;
    return true;
}

#include "replay/backend/cuda/pointwise/fusion_group.h"

#include <stdlib.h>
#include <string.h>

/* ---- Views ---- */

/* Computes the strides of the same elements under other sizes of equal product; false: there are
 * none. */
static bool view_strides(const int64_t *size, const int64_t *stride, uint32_t ndim,
                         const int64_t *to, int64_t *to_stride, uint32_t to_ndim)
{
    uint32_t j = to_ndim;
    int64_t run = 1, step = ndim ? stride[ndim - 1] : 0; /* adjacent elements are `step` apart */
    for (uint32_t i = ndim; i-- > 0;) {
        run *= size[i];
        if (i > 0 && stride[i - 1] == stride[i] * size[i])
            continue;
        int64_t taken = 1;
        while (j > 0 && (taken < run || to[j - 1] == 1)) {
            to_stride[--j] = taken * step;
            if (__builtin_mul_overflow(taken, to[j], &taken))
                return false;
        }
        if (taken != run)
            return false;
        run = 1;
        step = i > 0 ? stride[i - 1] : 0;
    }
    while (j > 0)
        to_stride[--j] = 0;
    return true;
}

static bool has_sizes_of(const struct fusion_group *g, const struct point_candidate *j)
{
    return g->ndim == j->ndim && memcmp(g->size, j->size, g->ndim * sizeof *g->size) == 0;
}

/* Converts its views to the group's sizes. */
static bool in_sizes_of(const struct fusion_group *g, struct point_candidate *j)
{
    bool ok = g->n == j->n;
    for (uint32_t i = 0; i < j->n_views && ok; i++)
        ok =
            view_strides(j->size, j->view_stride[i], j->ndim, g->size, j->views[i].stride, g->ndim);
    return ok && view_strides(j->size, j->to_stride, j->ndim, g->size, j->to.stride, g->ndim);
}

static bool views_overlap(const struct point_view *a, const struct point_view *b)
{
    return a->low < b->high && b->low < a->high;
}

/* Returns whether both views have the same elements in the same order. */
static bool same_view(const struct fusion_group *g, const struct point_view *a,
                      const struct point_view *b)
{
    return a->address == b->address && a->dtype == b->dtype &&
           memcmp(a->stride, b->stride, g->ndim * sizeof *a->stride) == 0;
}

/* ---- Conditions of joining ---- */

static bool touches(const struct fusion_group *g, const struct point_candidate *j)
{
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const struct point_stream *stream = &g->streams[s];
        if (stream->dead)
            continue;
        if (views_overlap(&stream->view, &j->to))
            return true;
        for (uint32_t i = 0; i < j->n_views; i++)
            if (views_overlap(&stream->view, &j->views[i]))
                return true;
    }
    return false;
}

/* Returns whether the group must be launched before the node is. */
static bool conflicts(const struct fusion_group *g, const struct point_candidate *j)
{
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const struct point_stream *stream = &g->streams[s];
        if (stream->dead)
            continue;
        if (views_overlap(&stream->view, &j->to))
            return true;
        for (uint32_t i = 0; i < j->n_views && stream->written; i++)
            if (views_overlap(&stream->view, &j->views[i]))
                return true;
    }
    return false;
}

static bool has_capacity(const struct fusion_group *g, const struct point_candidate *j)
{
    if (g->n_nodes == POINT_NODES || g->n_streams + j->n_views + 1 > POINT_STREAMS ||
        g->n_slots + j->n_numbers > POINT_SLOTS)
        return false;
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const struct point_stream *stream = &g->streams[s];
        if (stream->dead)
            continue;
        if (views_overlap(&stream->view, &j->to) && !same_view(g, &stream->view, &j->to))
            return false;
        for (uint32_t i = 0; i < j->n_views && stream->written; i++)
            if (views_overlap(&stream->view, &j->views[i]) &&
                !same_view(g, &stream->view, &j->views[i]))
                return false;
    }
    return true;
}

/* Returns the group that the node joins; NULL: a new one. A launch costs more than a small kernel
 * runs, so nodes of the same sizes are fused even if they share no memory. They are fused however
 * large they are: a limit would be crossed at some size, whose kernels would have to be compiled.
 */
static struct fusion_group *choose_group(struct points *points, struct point_candidate *j)
{
    struct fusion_group *equal = NULL;
    for (size_t i = points->groups.n; i-- > 0;) {
        struct fusion_group *g = points->groups.v[i];
        if (g->n == j->n && touches(g, j) && in_sizes_of(g, j))
            return g;
        if (!equal && has_sizes_of(g, j))
            equal = g;
    }
    return equal && in_sizes_of(equal, j) ? equal : NULL;
}

/* ---- Joining ---- */

static uint8_t stream_of(struct fusion_group *g, const struct point_view *view, bool written)
{
    for (uint32_t s = 0; s < g->n_streams && !written; s++)
        if (!g->streams[s].written && same_view(g, &g->streams[s].view, view))
            return (uint8_t)s;
    g->streams[g->n_streams] = (struct point_stream){ .view = *view, .written = written };
    return (uint8_t)g->n_streams++;
}

static void copy_slots(const struct fusion_group *from, struct fusion_group *to, uint8_t *slot,
                       uint32_t n)
{
    if (*slot == POINT_NO_SLOT)
        return;
    memcpy(&to->slots[to->n_slots], &from->slots[*slot], n * sizeof *to->slots);
    *slot = (uint8_t)to->n_slots;
    to->n_slots += n;
}

void point_copy_numbers(const struct fusion_group *from, struct fusion_group *to,
                        struct point_node *node)
{
    for (uint32_t i = 0; i < POINT_MAX_TENSORS; i++)
        if (node->x[i].kind == POINT_NUMBER)
            copy_slots(from, to, &node->x[i].i, point_node_is_complex(node) ? 2 : 1);
    copy_slots(from, to, &node->reals, node->n_numbers);
    copy_slots(from, to, &node->integers, node->n_numbers);
    copy_slots(from, to, &node->complexes, 2 * (uint32_t)node->n_numbers);
    copy_slots(from, to, &node->seed, 1);
    copy_slots(from, to, &node->rows, 1);
    copy_slots(from, to, &node->columns, 1);
}

static void set_stream_operand(struct fusion_group *g, const struct point_view *view,
                               struct point_operand *x)
{
    for (uint32_t s = 0; s < g->n_streams; s++) {
        const struct point_stream *stream = &g->streams[s];
        if (stream->written && !stream->dead && same_view(g, &stream->view, view)) {
            x->kind = POINT_NODE;
            x->i = stream->writer;
            return;
        }
    }
    x->kind = POINT_STREAM;
    x->i = stream_of(g, view, false);
}

static void add_node_to_group(struct fusion_group *g, const struct point_candidate *j)
{
    struct point_node node = j->node;
    uint8_t first = (uint8_t)g->n_slots, *slots[] = { &node.reals, &node.integers, &node.complexes,
                                                      &node.seed,  &node.rows,     &node.columns };
    for (uint32_t i = 0; i < POINT_MAX_TENSORS; i++) {
        if (node.x[i].kind == POINT_NUMBER)
            node.x[i].i += first;
        else if (node.x[i].kind == POINT_STREAM && j->copied[node.x[i].i])
            node.x[i].kind = POINT_NODE, node.x[i].i = (uint8_t)(j->copied[node.x[i].i] - 1);
        else if (node.x[i].kind == POINT_STREAM)
            set_stream_operand(g, &j->views[node.x[i].i], &node.x[i]);
    }
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        *slots[i] += *slots[i] == POINT_NO_SLOT ? 0 : first;
    memcpy(&g->slots[first], j->numbers, j->n_numbers * sizeof *j->numbers);
    g->n_slots += j->n_numbers;
    for (uint32_t s = 0; s < g->n_streams;
         s++) /* a stream written in place: only the last value is visible */
        g->streams[s].dead |= g->streams[s].written && views_overlap(&g->streams[s].view, &j->to);
    node.stream = stream_of(g, &j->to, true);
    g->streams[node.stream].writer = (uint8_t)g->n_nodes;
    g->nodes[g->n_nodes++] = node;
    g->placed |= j->placed;
    if (g->live.at != j->live.at || g->live.times != j->live.times)
        g->live = (struct cuda_live){ 0 };
}

static struct fusion_group *new_group(struct points *points, struct point_candidate *j)
{
    struct fusion_group *g =
        points->unused.n ? points->unused.v[--points->unused.n] : malloc(sizeof *g);
    if (!g)
        return NULL;
    g->ndim = j->ndim;
    g->n = j->n;
    g->n_nodes = g->n_streams = g->n_slots = 0;
    g->placed = false;
    g->live = j->live;
    memcpy(g->size, j->size, j->ndim * sizeof *g->size);
    if (!vec_push(&points->groups, g)) {
        free(g);
        return NULL;
    }
    in_sizes_of(g, j);
    return g;
}

/* ---- Results of smaller groups ---- */

enum { POINT_COPIES = 4 }; /* nodes that are copied at most for an operand */

/* A result of a pending group that is broadcast to another group's space. */
struct point_source {
    const struct fusion_group *group;
    uint32_t node;
    int8_t dim_of[POINT_DIM]; /* by dimension of the space: the source's; -1: broadcast */
};

/* Returns whether the group overwrites what it reads. */
static bool works_in_place(const struct fusion_group *g)
{
    for (uint32_t s = 0; s < g->n_streams; s++)
        for (uint32_t i = 0; i < g->n_streams && g->streams[s].written; i++)
            if (!g->streams[s].dead && !g->streams[i].written &&
                views_overlap(&g->streams[s].view, &g->streams[i].view))
                return true;
    return false;
}

/* Returns whether the view of g's space has the elements of h's space, in order, and each several
 * times. */
static bool broadcasts(const struct fusion_group *g, const struct point_view *view,
                       const struct fusion_group *h, const struct point_view *written,
                       int8_t *dim_of)
{
    uint32_t n = 0;
    for (uint32_t d = 0; d < g->ndim; d++) {
        dim_of[d] = -1;
        if (view->stride[d] == 0)
            continue;
        if (n == h->ndim || g->size[d] != h->size[n] || view->stride[d] != written->stride[n])
            return false;
        dim_of[d] = (int8_t)n++;
    }
    return n == h->ndim && h->n < g->n;
}

/* Finds the source of a view of g's space, if g may compute it. */
static bool find_source(const struct fusion_group *g, const struct fusion_group *h,
                        const struct point_candidate *j, const struct point_view *view,
                        struct point_source *ret)
{
    bool found = false;
    if (h->n >= g->n || h->placed || works_in_place(h))
        return false;
    for (uint32_t s = 0; s < h->n_streams; s++) {
        const struct point_stream *stream = &h->streams[s];
        if (stream->dead)
            continue;
        if (views_overlap(&stream->view, &j->to))
            return false;
        if (stream->written && stream->view.address == view->address &&
            stream->view.dtype == view->dtype &&
            broadcasts(g, view, h, &stream->view, ret->dim_of)) {
            found = true;
            ret->group = h;
            ret->node = stream->writer;
        }
    }
    return found;
}

/* Sets which nodes the source needs, itself included, and returns their number. */
static uint32_t mark_needed(const struct point_source *from, bool *needed)
{
    uint32_t n = 0;
    needed[from->node] = true;
    for (uint32_t i = from->node + 1; i-- > 0;)
        for (uint32_t k = 0; needed[i] && k < POINT_MAX_TENSORS; k++)
            if (from->group->nodes[i].x[k].kind == POINT_NODE)
                needed[from->group->nodes[i].x[k].i] = true;
    for (uint32_t i = 0; i <= from->node; i++)
        n += needed[i];
    return n;
}

/* Adds the source's stream, broadcast to the space of g. */
static uint8_t copy_stream(const struct point_source *from, struct fusion_group *g, uint8_t stream)
{
    const struct point_stream *old = &from->group->streams[stream];
    struct point_view view = old->view;
    for (uint32_t d = 0; d < g->ndim; d++)
        view.stride[d] = from->dim_of[d] < 0 ? 0 : old->view.stride[from->dim_of[d]];
    const uint8_t ret = stream_of(g, &view, old->written);
    g->streams[ret].dead = old->written;
    return ret;
}

/* Copies the source and the nodes that it needs to g, which does not write their results. Returns
 * the source's node in g. */
static uint32_t copy_source(const struct point_source *from, struct fusion_group *g,
                            const bool *needed)
{
    uint8_t at[POINT_NODES] = { 0 };
    for (uint32_t i = 0; i <= from->node; i++) {
        struct point_node copy = from->group->nodes[i];
        if (!needed[i])
            continue;
        for (uint32_t k = 0; k < POINT_MAX_TENSORS; k++) {
            if (copy.x[k].kind == POINT_NODE)
                copy.x[k].i = at[copy.x[k].i];
            else if (copy.x[k].kind == POINT_STREAM)
                copy.x[k].i = copy_stream(from, g, copy.x[k].i);
        }
        point_copy_numbers(from->group, g, &copy);
        copy.stream = copy_stream(from, g, copy.stream);
        g->streams[copy.stream].writer = at[i] = (uint8_t)g->n_nodes;
        g->nodes[g->n_nodes++] = copy;
    }
    return at[from->node];
}

/* Returns whether g has capacity for copies of n nodes, and for the node that joins. */
static bool has_capacity_for_copies(const struct fusion_group *g, const struct fusion_group *h,
                                    const struct point_candidate *j, uint32_t n)
{
    return g->n_nodes + n + 1 <= POINT_NODES &&
           g->n_streams + h->n_streams + n + j->n_views + 1 <= POINT_STREAMS &&
           g->n_slots + h->n_slots + j->n_numbers <= POINT_SLOTS;
}

/* Lets g compute what the node reads of smaller groups. */
static void copy_sources(struct points *points, struct fusion_group *g, struct point_candidate *j)
{
    for (uint32_t i = 0; i < j->n_views; i++) {
        struct point_view *view = &j->views[i];
        for (size_t k = 0; k < points->groups.n && !j->copied[i]; k++) {
            const struct fusion_group *h = points->groups.v[k];
            struct point_source from;
            bool needed[POINT_NODES] = { false };
            if (!find_source(g, h, j, view, &from))
                continue;
            const uint32_t n = mark_needed(&from, needed);
            if (n > POINT_COPIES || !has_capacity_for_copies(g, h, j, n))
                continue;
            j->copied[i] = (uint8_t)(1 + copy_source(&from, g, needed));
            view->low = view->high = 0; /* it is not read */
        }
    }
}

/* ---- Launching ---- */

static bool is_read(const struct points *points, struct point_kept kept)
{
    for (size_t i = 0; i < points->groups.n; i++) {
        const struct fusion_group *g = points->groups.v[i];
        for (uint32_t s = 0; s < g->n_streams; s++)
            if (!g->streams[s].written && g->streams[s].view.low < kept.address + kept.bytes &&
                kept.address < g->streams[s].view.high)
                return true;
    }
    return false;
}

static void give_back_unread(struct points *points)
{
    size_t n = 0;
    for (size_t i = 0; i < points->kept.n; i++) {
        if (is_read(points, points->kept.v[i]))
            points->kept.v[n++] = points->kept.v[i];
        else
            cuda_give_back(points->cuda, points->kept.v[i].address);
    }
    points->kept.n = n;
}

static bool launch_at(struct points *points, size_t i, struct err *err)
{
    struct fusion_group *g = points->groups.v[i];
    memmove(&points->groups.v[i], &points->groups.v[i + 1],
            (--points->groups.n - i) * sizeof *points->groups.v);
    bool ok = fusion_launch(points, g, err);
    if (!vec_push(&points->unused, g))
        free(g);
    if (points->kept.n)
        give_back_unread(points);
    return ok;
}

bool points_flush(struct points *points, struct err *err)
{
    bool ok = true;
    while (points->groups.n) {
        struct err ignored = { 0 };
        ok = launch_at(points, 0, ok ? err : &ignored) && ok;
    }
    return ok;
}

/* Launches the groups that conflict with the node. */
static bool make_way(struct points *points, const struct fusion_group *but,
                     const struct point_candidate *j, struct err *err)
{
    for (size_t i = points->groups.n; i-- > 0;)
        if (points->groups.v[i] != but && conflicts(points->groups.v[i], j) &&
            !launch_at(points, i, err))
            return false;
    return true;
}

static bool launch_group(struct points *points, const struct fusion_group *g, struct err *err)
{
    for (size_t i = 0; i < points->groups.n; i++)
        if (points->groups.v[i] == g)
            return launch_at(points, i, err);
    return true;
}

bool point_join(struct points *points, struct point_candidate *j, struct err *err)
{
    struct fusion_group *g = choose_group(points, j);
    if (g && !has_capacity(g, j)) {
        if (!launch_group(points, g, err))
            return false;
        g = NULL;
    }
    if (!g && points->groups.n == POINT_GROUPS && !launch_at(points, 0, err))
        return false;
    if (!g)
        g = new_group(points, j);
    if (!g)
        return err_nomem(err);
    copy_sources(points, g, j);
    if (!make_way(points, g, j, err))
        return false;
    add_node_to_group(g, j);
    return true;
}

/* ---- Memory that is freed ---- */

static bool flush_pending_points(struct cuda *cuda, struct err *err)
{
    return points_flush(cuda->pending.user, err);
}

static bool keeps(struct cuda *cuda, const struct memory *memory)
{
    struct points *points = cuda->pending.user;
    struct point_kept kept = { (uint64_t)(uintptr_t)memory->p, memory->bytes };
    for (size_t i = 0; i < points->groups.n; i++) {
        struct fusion_group *g = points->groups.v[i];
        for (uint32_t s = 0; s < g->n_streams; s++) {
            struct point_stream *stream = &g->streams[s];
            stream->dead |= stream->written && stream->view.low < kept.address + kept.bytes &&
                            kept.address < stream->view.high;
        }
    }
    if (!is_read(points, kept))
        return false;
    if (vec_push(&points->kept, kept))
        return true;
    struct err ignored = { 0 };
    points_flush(points, &ignored);
    return false;
}

static void close_pending_points(struct cuda *cuda)
{
    struct points *points = cuda->pending.user;
    for (size_t i = 0; i < points->groups.n; i++)
        free(points->groups.v[i]);
    for (size_t i = 0; i < points->unused.n; i++)
        free(points->unused.v[i]);
    for (size_t i = 0; i < points->kept.n; i++)
        cuda_give_back(cuda, points->kept.v[i].address);
    vec_release(&points->groups);
    vec_release(&points->unused);
    vec_release(&points->kept);
    vec_release(&points->compiled);
    free(points);
    cuda->pending = (struct cuda_pending){ 0 };
}

struct points *points_of(struct cuda *cuda)
{
    if (!cuda->pending.user) {
        struct points *points = calloc(1, sizeof *points);
        if (!points)
            return NULL;
        points->cuda = cuda;
        cuda->pending =
            (struct cuda_pending){ flush_pending_points, keeps, close_pending_points, points };
    }
    return cuda->pending.user;
}

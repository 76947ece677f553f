/* Builds the call tree of phases by walking over each thread's begins and ends in the order of
 * time; the time between two of them belongs to the phase that began last. */
#include "profile/model/phases/phase_tree.h"

enum { MAX_DEPTH = 500 }; /* phases nested deeper count for their ancestor at this depth */

struct point {
    int64_t time;
    bool begins;
    uint32_t span;
};

struct open_node {
    uint32_t span, node, row; /* row: in b->by_compile */
};

struct phase_walk {
    struct profile_build *b;
    struct intern nodes; /* (parent, name) -> node */
    struct intern rows;  /* (compile, name) -> row */
    vec_of(struct point)
    points;
    struct open_node open[MAX_DEPTH];
    size_t depth;
};

static uint32_t phase_child(struct phase_walk *w, uint32_t parent, uint32_t name)
{
    uint32_t node = intern(&w->nodes, BUILD_KEY(parent, name));
    if (node == INTERN_NONE || node < w->b->nodes.n)
        return node;
    struct phase_node fresh = {
        .name = name,
        .parent = parent,
        .first_child = PROFILE_NONE,
        .next_sibling = PROFILE_NONE,
    };
    return vec_push(&w->b->nodes, fresh) ? node : INTERN_NONE;
}

static uint32_t phase_span_row(struct phase_walk *w, const struct phase_span *span)
{
    uint32_t row = intern(&w->rows, BUILD_KEY(span->compile, span->name));
    if (row == INTERN_NONE || row < w->b->by_compile.n)
        return row;
    struct phase_by_compile fresh = { .compile = span->compile, .name = span->name };
    return vec_push(&w->b->by_compile, fresh) ? row : INTERN_NONE;
}

static uint32_t top_node(const struct phase_walk *w, size_t depth)
{
    return depth > 0 ? w->open[depth - 1].node : PROFILE_NONE;
}

static bool open_span(struct phase_walk *w, uint32_t index)
{
    const struct phase_span *span = &w->b->spans.v[index];
    uint32_t node = phase_child(w, top_node(w, w->depth), span->name),
             row = phase_span_row(w, span);
    if (node == INTERN_NONE || row == INTERN_NONE)
        return false;
    w->b->nodes.v[node].calls++;
    w->b->nodes.v[node].unfinished += span->unfinished;
    w->b->by_compile.v[row].calls++;
    if (span->end_ns > span->start_ns && w->depth < MAX_DEPTH)
        w->open[w->depth++] = (struct open_node){ index, node, row };
    return true;
}

/* Closes a phase. Phases inside it that are still open become its siblings. */
static bool close_tree_span(struct phase_walk *w, uint32_t index)
{
    size_t at = w->depth;
    while (at > 0 && w->open[at - 1].span != index)
        at--;
    if (at == 0)
        return true; /* deeper than MAX_DEPTH: it was not opened */
    w->depth--;
    for (size_t i = at - 1; i < w->depth; i++) {
        w->open[i] = w->open[i + 1];
        uint32_t name = w->b->spans.v[w->open[i].span].name;
        w->open[i].node = phase_child(w, top_node(w, i), name);
        if (w->open[i].node == INTERN_NONE)
            return false;
    }
    return true;
}

static int compare_children_by_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    if (x->begins != y->begins)
        return x->begins - y->begins; /* ends first: a phase that begins at the end of another is
                                         not inside it */
    int order = (x->span > y->span) - (x->span < y->span);
    return x->begins ? order : -order; /* the outer phase begins first and ends last */
}

static bool collect_points(struct phase_walk *w, uint32_t first, uint32_t last)
{
    w->points.n = 0;
    for (uint32_t i = first; i < last; i++) {
        const struct phase_span *span = &w->b->spans.v[i];
        if (!vec_push(&w->points, (struct point){ span->start_ns, true, i }) ||
            (span->end_ns > span->start_ns &&
             !vec_push(&w->points, (struct point){ span->end_ns, false, i })))
            return false;
    }
    qsort(w->points.v, w->points.n, sizeof *w->points.v, compare_children_by_time);
    return true;
}

static bool walk_track(struct phase_walk *w, uint32_t first, uint32_t last)
{
    if (!collect_points(w, first, last))
        return false;
    w->depth = 0;
    int64_t now = 0;
    for (size_t i = 0; i < w->points.n; i++) {
        const struct point *p = &w->points.v[i];
        if (w->depth > 0) {
            const struct open_node *top = &w->open[w->depth - 1];
            build_add_ns(&w->b->nodes.v[top->node].exclusive_ns, p->time - now);
            build_add_ns(&w->b->by_compile.v[top->row].exclusive_ns, p->time - now);
        }
        now = p->time;
        if (!(p->begins ? open_span(w, p->span) : close_tree_span(w, p->span)))
            return false;
    }
    return true;
}

static bool walk_tracks(struct phase_walk *w)
{
    uint32_t n = (uint32_t)w->b->spans.n;
    for (uint32_t first = 0, last; first < n; first = last) {
        last = first + 1;
        while (last < n && w->b->spans.v[last].track == w->b->spans.v[first].track)
            last++;
        if (!walk_track(w, first, last))
            return false;
    }
    return true;
}

/* Computes inclusive times by compile. Spans are sorted by track and start, so the latest end of a
 * row on a track bounds the time that is counted already. */
static bool cover_rows(struct phase_walk *w)
{
    struct reached {
        uint32_t track;
        int64_t end;
    } *reached = calloc(w->b->by_compile.n + 1, sizeof *reached);
    if (!reached)
        return false;
    for (uint32_t i = 0; i < w->b->spans.n; i++) {
        const struct phase_span *span = &w->b->spans.v[i];
        uint32_t row = phase_span_row(w, span); /* which exists */
        struct reached *r = &reached[row];
        int64_t from = span->start_ns;
        if (r->track == span->track + 1 && r->end > from)
            from = r->end;
        if (span->end_ns > from)
            build_add_ns(&w->b->by_compile.v[row].inclusive_ns, span->end_ns - from);
        if (r->track != span->track + 1 || span->end_ns > r->end)
            *r = (struct reached){ span->track + 1, span->end_ns };
    }
    free(reached);
    return true;
}

static void add_up_tree(struct profile_build *b)
{
    for (size_t i = b->nodes.n; i-- > 0;) {
        struct phase_node *node = &b->nodes.v[i];
        build_add_ns(&node->inclusive_ns, node->exclusive_ns);
        if (node->parent != PROFILE_NONE)
            build_add_ns(&b->nodes.v[node->parent].inclusive_ns, node->inclusive_ns);
    }
}

bool phase_tree_build(struct profile_build *b, struct err *err)
{
    struct phase_walk *w = calloc(1, sizeof *w);
    if (!w)
        return err_nomem(err);
    w->b = b;
    bool ok = walk_tracks(w) && cover_rows(w);
    if (ok)
        add_up_tree(b);
    intern_release(&w->nodes);
    intern_release(&w->rows);
    vec_release(&w->points);
    free(w);
    return ok || err_nomem(err);
}

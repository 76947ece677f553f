#include "trace/align/sequence.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/number.h"
#include "trace/base/vec.h"

/* A part of the edit graph of the two sequences: a[x0, x1) and b[y0, y1). */
struct box {
    int64_t x0, x1, y0, y1;
};

struct sequence_search {
    const uint32_t *a, *b;       /* the elements that occur on both sides */
    const uint32_t *a_at, *b_at; /* their indices in the whole sequences */
    int64_t *forward, *backward; /* by diagonal: how far a path got */
    int64_t patience; /* number of steps before a box is divided without a shortest path */
    uint32_t *partner;
    vec_of(struct box)
    boxes;
};

static void pair(struct sequence_search *s, int64_t x, int64_t y)
{
    s->partner[s->a_at[x]] = s->b_at[y];
}

/* Pairs equal elements at both ends of a box. */
static void trim(struct sequence_search *s, struct box *box)
{
    while (box->x0 < box->x1 && box->y0 < box->y1 && s->a[box->x0] == s->b[box->y0])
        pair(s, box->x0++, box->y0++);
    while (box->x0 < box->x1 && box->y0 < box->y1 && s->a[box->x1 - 1] == s->b[box->y1 - 1])
        pair(s, --box->x1, --box->y1);
}

/* The diagonals that paths from one corner have reached. */
struct front {
    int64_t least, most;
};

/* Makes one more step from the upper left corner. Returns true when a path met one from the
 * other corner. */
static bool step_forward(struct sequence_search *s, const struct box *box, struct front *own,
                         const struct front *other, bool may_meet, int64_t *x_met, int64_t *y_met)
{
    int64_t *reach = s->forward;
    if (own->least > box->x0 - box->y1)
        reach[--own->least - 1] = -1;
    else
        own->least++;
    if (own->most < box->x1 - box->y0)
        reach[++own->most + 1] = -1;
    else
        own->most--;
    for (int64_t d = own->most; d >= own->least; d -= 2) {
        int64_t x = reach[d - 1] < reach[d + 1] ? reach[d + 1] : reach[d - 1] + 1;
        while (x < box->x1 && x - d < box->y1 && s->a[x] == s->b[x - d])
            x++;
        reach[d] = x;
        if (may_meet && other->least <= d && d <= other->most && s->backward[d] <= x &&
            x <= box->x1 && x - d <= box->y1) {
            *x_met = x;
            *y_met = x - d;
            return true;
        }
    }
    return false;
}

static bool step_backward(struct sequence_search *s, const struct box *box, struct front *own,
                          const struct front *other, bool may_meet, int64_t *x_met, int64_t *y_met)
{
    int64_t *reach = s->backward;
    if (own->least > box->x0 - box->y1)
        reach[--own->least - 1] = INT64_MAX;
    else
        own->least++;
    if (own->most < box->x1 - box->y0)
        reach[++own->most + 1] = INT64_MAX;
    else
        own->most--;
    for (int64_t d = own->most; d >= own->least; d -= 2) {
        int64_t x = reach[d - 1] < reach[d + 1] ? reach[d - 1] : reach[d + 1] - 1;
        while (x > box->x0 && x - d > box->y0 && s->a[x - 1] == s->b[x - d - 1])
            x--;
        reach[d] = x;
        if (may_meet && other->least <= d && d <= other->most && x <= s->forward[d] &&
            x >= box->x0 && x - d >= box->y0) {
            *x_met = x;
            *y_met = x - d;
            return true;
        }
    }
    return false;
}

/* Returns the end of the path that got furthest, when the search took too long. */
static void stop_at_furthest(const struct sequence_search *s, const struct box *box,
                             const struct front *own, int64_t *x_met, int64_t *y_met)
{
    int64_t best = -1;
    for (int64_t d = own->most; d >= own->least; d -= 2) {
        int64_t x = s->forward[d] < box->x1 ? s->forward[d] : box->x1;
        x = x - d > box->y1 ? box->y1 + d : x;
        if (x >= box->x0 && x - d >= box->y0 && x + x - d > best) {
            best = x + x - d;
            *x_met = x;
            *y_met = x - d;
        }
    }
}

/* Finds a point on a shortest path through a box whose ends differ. */
static void find_middle(struct sequence_search *s, const struct box *box, int64_t *x, int64_t *y)
{
    struct front f = { box->x0 - box->y0, box->x0 - box->y0 };
    struct front b = { box->x1 - box->y1, box->x1 - box->y1 };
    bool odd = (f.least - b.least) & 1;
    s->forward[f.least] = box->x0;
    s->backward[b.least] = box->x1;
    for (int64_t steps = 1;; steps++) {
        if (step_forward(s, box, &f, &b, odd, x, y) || step_backward(s, box, &b, &f, !odd, x, y))
            return;
        if (steps >= s->patience) {
            stop_at_furthest(s, box, &f, x, y);
            return;
        }
    }
}

static bool search_all(struct sequence_search *s, int64_t n, int64_t m)
{
    if (!vec_push(&s->boxes, (struct box){ 0, n, 0, m }))
        return false;
    while (s->boxes.n > 0) {
        struct box box = s->boxes.v[--s->boxes.n];
        trim(s, &box);
        if (box.x0 == box.x1 || box.y0 == box.y1)
            continue;
        int64_t x = box.x0, y = box.y0;
        find_middle(s, &box, &x, &y);
        if ((x == box.x0 && y == box.y0) || (x == box.x1 && y == box.y1))
            continue; /* nothing is left to divide */
        if (!vec_push(&s->boxes, (struct box){ box.x0, x, box.y0, y }) ||
            !vec_push(&s->boxes, (struct box){ x, box.x1, y, box.y1 }))
            return false;
    }
    return true;
}

/* Lists the elements of `all` that occur in `other` (sorted), with their values and indices.
 * Returns their number. */
static uint32_t keep_common(const uint32_t *all, uint32_t n, const uint32_t *other,
                            uint32_t n_other, uint32_t *values, uint32_t *places)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (all[i] == SEQUENCE_NONE ||
            !bsearch(&all[i], other, n_other, sizeof *other, compare_u32))
            continue;
        values[kept] = all[i];
        places[kept++] = i;
    }
    return kept;
}

static int64_t patience_for(int64_t size)
{
    enum { LEAST_PATIENCE = 512 };
    int64_t root = 1;
    while (root * root < size)
        root *= 2;
    return root * 4 > LEAST_PATIENCE ? root * 4 : LEAST_PATIENCE;
}

bool sequence_align(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m, uint32_t *partner)
{
    for (uint32_t i = 0; i < n; i++)
        partner[i] = SEQUENCE_NONE;
    if (n == 0 || m == 0)
        return true;
    size_t size = (size_t)n + m;
    uint32_t *work = calloc(3 * size, sizeof *work);
    int64_t *reach = calloc(2 * (size + 4), sizeof *reach);
    bool ok = work && reach;
    if (ok) {
        uint32_t *sorted = work, *values = work + size, *places = work + 2 * size;
        memcpy(sorted, a, n * sizeof *a);
        memcpy(sorted + n, b, m * sizeof *b);
        qsort(sorted, n, sizeof *sorted, compare_u32);
        qsort(sorted + n, m, sizeof *sorted, compare_u32);
        uint32_t n_a = keep_common(a, n, sorted + n, m, values, places);
        uint32_t n_b = keep_common(b, m, sorted, n, values + n, places + n);
        struct sequence_search s = {
            .a = values,
            .b = values + n,
            .a_at = places,
            .b_at = places + n,
            .forward = reach + m + 2,
            .backward = reach + size + 4 + m + 2,
            .patience = patience_for((int64_t)n_a + n_b),
            .partner = partner,
        };
        ok = search_all(&s, n_a, n_b);
        vec_release(&s.boxes);
    }
    free(work);
    free(reach);
    return ok;
}

bool sequence_pairs_init(struct sequence_pairs *pairs, uint32_t n, uint32_t m)
{
    *pairs = (struct sequence_pairs){ n, m, calloc((size_t)n + 1, sizeof(uint32_t)),
                                      calloc((size_t)m + 1, sizeof(uint32_t)),
                                      calloc((size_t)n + 1, sizeof(bool)) };
    for (uint32_t i = 0; pairs->of_a && i < n; i++)
        pairs->of_a[i] = SEQUENCE_NONE;
    for (uint32_t i = 0; pairs->of_b && i < m; i++)
        pairs->of_b[i] = SEQUENCE_NONE;
    return pairs->of_a && pairs->of_b && pairs->moved;
}

void sequence_pairs_release(struct sequence_pairs *pairs)
{
    free(pairs->of_a);
    free(pairs->of_b);
    free(pairs->moved);
    *pairs = (struct sequence_pairs){ 0 };
}

static void join_pair(struct sequence_pairs *pairs, uint32_t i, uint32_t k, sequence_found *found,
                      void *user)
{
    pairs->of_a[i] = k;
    pairs->of_b[k] = i;
    if (found)
        found(user, i, k);
}

/* Pairs elements in a gap between pairs. It has elements without a partner, and some with a
 * partner out of order, which are skipped. */
static bool align_gap(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                      const struct box *gap, uint32_t *work, sequence_found *found, void *user)
{
    uint32_t n = (uint32_t)(gap->x1 - gap->x0), m = (uint32_t)(gap->y1 - gap->y0);
    uint32_t *free_a = work, *free_b = work + n, *partner = work + n + m;
    if (n == 0 || m == 0)
        return true;
    for (uint32_t i = 0; i < n; i++)
        free_a[i] = pairs->of_a[gap->x0 + i] == SEQUENCE_NONE ? a[gap->x0 + i] : SEQUENCE_NONE;
    for (uint32_t i = 0; i < m; i++)
        free_b[i] = pairs->of_b[gap->y0 + i] == SEQUENCE_NONE ? b[gap->y0 + i] : SEQUENCE_NONE;
    if (!sequence_align(free_a, n, free_b, m, partner))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (partner[i] != SEQUENCE_NONE)
            join_pair(pairs, (uint32_t)gap->x0 + i, (uint32_t)gap->y0 + partner[i], found, user);
    return true;
}

bool sequence_fill(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                   sequence_found *found, void *user)
{
    uint32_t *work = calloc(2 * ((size_t)pairs->n + pairs->m) + 1, sizeof *work);
    uint32_t *was = calloc((size_t)pairs->n + 1, sizeof *was);
    bool ok = work && was;
    struct box gap = { 0 };
    for (uint32_t i = 0; ok && i < pairs->n; i++)
        was[i] = pairs->moved[i] ? SEQUENCE_NONE : pairs->of_a[i];
    for (uint32_t i = 0; ok && i <= pairs->n; i++) {
        bool end = i == pairs->n;
        if (!end && (was[i] == SEQUENCE_NONE || was[i] < gap.y0))
            continue;
        gap.x1 = i;
        gap.y1 = end ? pairs->m : was[i];
        ok = align_gap(pairs, a, b, &gap, work, found, user);
        gap.x0 = (int64_t)i + 1;
        gap.y0 = gap.y1 + 1;
    }
    free(work);
    free(was);
    return ok;
}

struct unpaired_element {
    uint32_t token, at;
};

static int by_token(const void *a, const void *b)
{
    const struct unpaired_element *x = a, *y = b;
    if (x->token != y->token)
        return x->token < y->token ? -1 : 1;
    return x->at < y->at ? -1 : x->at > y->at;
}

static uint32_t wait_in_order(const uint32_t *tokens, const uint32_t *partner, uint32_t n,
                              struct unpaired_element *ret)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < n; i++)
        if (partner[i] == SEQUENCE_NONE && tokens[i] != SEQUENCE_NONE)
            ret[waiting++] = (struct unpaired_element){ tokens[i], i };
    qsort(ret, waiting, sizeof *ret, by_token);
    return waiting;
}

bool sequence_match(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                    sequence_found *found, void *user)
{
    struct unpaired_element *in_a = calloc((size_t)pairs->n + pairs->m + 1, sizeof *in_a);
    if (!in_a)
        return false;
    struct unpaired_element *in_b = in_a + pairs->n;
    uint32_t n = wait_in_order(a, pairs->of_a, pairs->n, in_a);
    uint32_t m = wait_in_order(b, pairs->of_b, pairs->m, in_b);
    for (uint32_t i = 0, k = 0; i < n && k < m;) {
        if (in_a[i].token == in_b[k].token) {
            pairs->moved[in_a[i].at] = true;
            join_pair(pairs, in_a[i++].at, in_b[k++].at, found, user);
        } else if (in_a[i].token < in_b[k].token) {
            i++;
        } else {
            k++;
        }
    }
    free(in_a);
    return true;
}

/* Aligns the recordings, compiles, attempts and graphs of both sides. */
#include <stdlib.h>

#include "trace/align/align_build.h"
#include "trace/base/number.h"

enum {
    MOST_COMPARED =
        64, /* number of compiles of one function whose contents are compared with each other */
    MOST_LOOKED_AT = 5000, /* number of compiles among which those are searched */
};

/* ---- what a compile consists of ------------------------------------------------------------- */

/* The tokens of a compile's last attempt, sorted. */
struct contents {
    uint32_t *tokens;
    uint32_t n;
};

struct compile_aligner {
    struct align_build *b;
    struct contents *contents[2]; /* by compile */
    uint32_t *partner[2];
};

static bool read_contents(const struct align_side *side, const struct outline_compile *compile,
                          struct contents *ret)
{
    const struct outline *o = side->outline;
    if (compile->n_attempts == 0)
        return true;
    const struct outline_attempt *last =
        &o->attempts.v[compile->first_attempt + compile->n_attempts - 1];
    size_t n = last->n_events;
    for (uint32_t g = 0; g < last->n_graphs; g++)
        n += o->graphs.v[last->first_graph + g].n_nodes;
    ret->tokens = calloc(n + 1, sizeof *ret->tokens);
    if (!ret->tokens)
        return false;
    for (uint32_t g = 0; g < last->n_graphs; g++) {
        const struct outline_graph *graph = &o->graphs.v[last->first_graph + g];
        for (uint32_t i = 0; i < graph->n_nodes; i++)
            ret->tokens[ret->n++] = side->forms[o->nodes.v[graph->first_node + i].form].whole;
    }
    for (uint32_t i = 0; i < last->n_events; i++)
        ret->tokens[ret->n++] = side->events[last->first_event + i].whole;
    qsort(ret->tokens, ret->n, sizeof *ret->tokens, compare_u32);
    return true;
}

/* Returns twice the number of shared tokens per all tokens, 0 to 1000; 1001 when they are equal. */
static uint32_t likeness(const struct contents *a, const struct contents *b)
{
    uint64_t shared = 0;
    for (uint32_t i = 0, k = 0; i < a->n && k < b->n;) {
        if (a->tokens[i] == b->tokens[k]) {
            shared++;
            i++;
            k++;
        } else if (a->tokens[i] < b->tokens[k]) {
            i++;
        } else {
            k++;
        }
    }
    if (shared == a->n && shared == b->n)
        return 1001;
    return (uint32_t)(2000 * shared / ((uint64_t)a->n + b->n));
}

/* ---- compiles ------------------------------------------------------------------------------- */

struct part_candidate {
    uint32_t a, b;
    uint32_t score, distance;
};

static int by_likeness(const void *a, const void *b)
{
    const struct part_candidate *x = a, *y = b;
    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

/* Returns whether both compile the same function of the same file. Those that belong to no
 * compile are paired. */
static bool same_function(const struct align_build *b, uint32_t i, uint32_t k)
{
    const struct align_side *sides = b->sides;
    const struct outline_compile *x = &sides[0].outline->compiles.v[i];
    const struct outline_compile *y = &sides[1].outline->compiles.v[k];
    if ((x->id == 0) != (y->id == 0))
        return false;
    if (sides[0].texts[x->function] != sides[1].texts[y->function])
        return false;
    if (x->line == OUTLINE_NONE || y->line == OUTLINE_NONE)
        return true;
    uint32_t file_x = sides[0].outline->lines.v[x->line].file;
    uint32_t file_y = sides[1].outline->lines.v[y->line].file;
    return sides[0].files[file_x] == sides[1].files[file_y];
}

typedef bool may_pair(const struct compile_aligner *c, uint32_t i, uint32_t k);

static bool is_same_compile(const struct compile_aligner *c, uint32_t i, uint32_t k)
{
    return same_function(c->b, i, k);
}

static bool is_renamed(const struct compile_aligner *c, uint32_t i, uint32_t k)
{
    return (c->b->sides[0].outline->compiles.v[i].id == 0) ==
           (c->b->sides[1].outline->compiles.v[k].id == 0);
}

/* Pairs the compiles of two recordings, the most similar first. If one compile has more than
 * MOST_COMPARED candidates, the nearest in the order are compared. */
static bool pair_compiles(struct compile_aligner *c, const struct outline_recording *x,
                          const struct outline_recording *y, may_pair *may, uint32_t least)
{
    vec_of(struct part_candidate)
    all = { 0 };
    bool ok = true;
    uint32_t from = 0;
    for (uint32_t i = 0; i < x->n_compiles && ok; i++) {
        uint32_t a = x->first_compile + i, looked_at = 0;
        if (c->partner[0][a] != ALIGN_NONE)
            continue;
        uint32_t end =
            y->n_compiles - from > MOST_LOOKED_AT ? from + MOST_LOOKED_AT : y->n_compiles;
        for (uint32_t k = from; k < end && ok && looked_at < MOST_COMPARED; k++) {
            uint32_t b = y->first_compile + k;
            if (c->partner[1][b] != ALIGN_NONE || !may(c, a, b))
                continue;
            uint32_t score = likeness(&c->contents[0][a], &c->contents[1][b]);
            looked_at++;
            if (score >= least)
                ok = vec_push(&all, (struct part_candidate){ a, b, score, i > k ? i - k : k - i });
            if (score == 1001 && (i > k ? i - k : k - i) == 0)
                break;
        }
        from = i > MOST_COMPARED / 2 ? i - MOST_COMPARED / 2 : 0;
        from = from < y->n_compiles ? from : y->n_compiles;
    }
    if (ok && all.n > 0)
        qsort(all.v, all.n, sizeof *all.v, by_likeness);
    for (size_t i = 0; i < all.n && ok; i++)
        if (c->partner[0][all.v[i].a] == ALIGN_NONE && c->partner[1][all.v[i].b] == ALIGN_NONE) {
            c->partner[0][all.v[i].a] = all.v[i].b;
            c->partner[1][all.v[i].b] = all.v[i].a;
        }
    vec_release(&all);
    return ok;
}

/* ---- graphs and attempts -------------------------------------------------------------------- */

/* What two graphs must have in common, the strictest rule first. A model in training has a
 * forward graph where it has an inference graph otherwise. */
enum graph_rule { SAME_NAME, SAME_KIND, COUNTERPART, GRAPH_RULES };

static uint32_t graph_token(struct align_build *b, int side, const struct outline_graph *g,
                            enum graph_rule rule)
{
    const uint32_t *texts = b->sides[side].texts;
    uint32_t path = texts[g->path];
    uint32_t kind = g->kind == GRAPH_INFERENCE ? (uint32_t)GRAPH_FORWARD : g->kind;
    if (rule == SAME_NAME)
        return intern(&b->tokens, ALIGN_KEY(GRAPH_BY_NAME, texts[g->name], path, g->index));
    return intern(&b->tokens, ALIGN_KEY(GRAPH_BY_KIND, rule == SAME_KIND ? g->kind : kind, path));
}

static bool put_graph_pair(struct align_build *b, uint32_t x, uint32_t y, uint32_t attempt)
{
    struct align *align = &b->align;
    struct align_graph graph = {
        .a = x, .b = y, .attempt = attempt, .first_node = (uint32_t)align->nodes.n
    };
    if (x != ALIGN_NONE && y != ALIGN_NONE) {
        if (align->a->graphs.v[x].kind != align->b->graphs.v[y].kind)
            graph.change |= ALIGN_DETAIL;
        if (!align_nodes(b, &graph))
            return false;
    }
    return vec_push(&align->graphs, graph);
}

static bool find_graphs(struct align_build *b, const struct outline_attempt *const *attempts,
                        struct sequence_pairs *pairs)
{
    uint32_t *tokens = calloc((size_t)pairs->n + pairs->m + 1, sizeof *tokens);
    bool ok = tokens;
    for (enum graph_rule rule = SAME_NAME; rule < GRAPH_RULES && ok; rule++) {
        uint32_t *at = tokens;
        for (int side = 0; side < 2; side++)
            for (uint32_t i = 0; i < attempts[side]->n_graphs && ok; i++) {
                const struct outline *o = b->sides[side].outline;
                *at = graph_token(b, side, &o->graphs.v[attempts[side]->first_graph + i], rule);
                ok = *at++ != INTERN_NONE;
            }
        ok = ok && sequence_match(pairs, tokens, tokens + pairs->n, NULL, NULL);
    }
    free(tokens);
    return ok;
}

static bool align_graphs(struct align_build *b, const struct outline_attempt *x,
                         const struct outline_attempt *y, struct align_attempt *pair)
{
    struct sequence_pairs pairs;
    uint32_t attempt = (uint32_t)b->align.attempts.n;
    const struct outline_attempt *attempts[] = { x, y };
    bool ok =
        sequence_pairs_init(&pairs, x->n_graphs, y->n_graphs) && find_graphs(b, attempts, &pairs);
    pair->first_graph = (uint32_t)b->align.graphs.n;
    for (uint32_t i = 0; i < x->n_graphs && ok; i++)
        ok = put_graph_pair(
            b, x->first_graph + i,
            pairs.of_a[i] == SEQUENCE_NONE ? ALIGN_NONE : y->first_graph + pairs.of_a[i], attempt);
    for (uint32_t k = 0; k < y->n_graphs && ok; k++)
        if (pairs.of_b[k] == SEQUENCE_NONE)
            ok = put_graph_pair(b, ALIGN_NONE, y->first_graph + k, attempt);
    pair->n_graphs = (uint32_t)b->align.graphs.n - pair->first_graph;
    sequence_pairs_release(&pairs);
    return ok;
}

static bool put_attempt(struct align_build *b, uint32_t x, uint32_t y, uint32_t compile)
{
    struct align *align = &b->align;
    struct align_attempt pair = { .a = x, .b = y, .compile = compile };
    if (x != ALIGN_NONE && y != ALIGN_NONE &&
        (!align_graphs(b, &align->a->attempts.v[x], &align->b->attempts.v[y], &pair) ||
         !align_events(b, &pair)))
        return false;
    return vec_push(&align->attempts, pair);
}

/* Returns the token of the reason why an attempt was discarded; ALIGN_NONE when that was not
 * recorded. */
static uint32_t restart_token(const struct align_side *side, uint32_t attempt)
{
    const struct outline_attempt *a = &side->outline->attempts.v[attempt];
    for (uint32_t i = 0; i < a->n_events; i++)
        if (side->outline->events.v[a->first_event + i].kind == OUTLINE_RESTART)
            return side->texts[side->outline->events.v[a->first_event + i].text];
    return SEQUENCE_NONE;
}

static bool pair_restarted(struct align_build *b, const struct outline_compile *x,
                           const struct outline_compile *y, struct sequence_pairs *pairs)
{
    uint32_t *tokens = calloc((size_t)pairs->n + pairs->m + 1, sizeof *tokens);
    if (!tokens)
        return false;
    for (uint32_t i = 0; i < pairs->n; i++)
        tokens[i] = restart_token(&b->sides[0], x->first_attempt + i);
    for (uint32_t i = 0; i < pairs->m; i++)
        tokens[pairs->n + i] = restart_token(&b->sides[1], y->first_attempt + i);
    bool ok = sequence_fill(pairs, tokens, tokens + pairs->n, NULL, NULL);
    free(tokens);
    return ok;
}

static bool align_attempts(struct align_build *b, const struct outline_compile *x,
                           const struct outline_compile *y, uint32_t compile)
{
    struct sequence_pairs pairs;
    uint32_t n = x->n_attempts - 1, m = y->n_attempts - 1;
    bool ok = sequence_pairs_init(&pairs, n, m) && pair_restarted(b, x, y, &pairs);
    for (uint32_t i = 0; i < n && ok; i++)
        ok = put_attempt(b, x->first_attempt + i,
                         pairs.of_a[i] == SEQUENCE_NONE ? ALIGN_NONE
                                                        : y->first_attempt + pairs.of_a[i],
                         compile);
    for (uint32_t k = 0; k < m && ok; k++)
        if (pairs.of_b[k] == SEQUENCE_NONE)
            ok = put_attempt(b, ALIGN_NONE, y->first_attempt + k, compile);
    sequence_pairs_release(&pairs);
    return ok && put_attempt(b, x->first_attempt + n, y->first_attempt + m, compile);
}

static bool put_compile_pair(struct align_build *b, uint32_t x, uint32_t y)
{
    struct align *align = &b->align;
    struct align_compile pair = { .a = x, .b = y, .first_attempt = (uint32_t)align->attempts.n };
    uint32_t number = (uint32_t)align->compiles.n;
    if (x != ALIGN_NONE && y != ALIGN_NONE) {
        const struct outline_compile *a = &align->a->compiles.v[x];
        const struct outline_compile *with = &align->b->compiles.v[y];
        if (a->n_attempts > 0 && with->n_attempts > 0 && !align_attempts(b, a, with, number))
            return false;
    }
    pair.n_attempts = (uint32_t)align->attempts.n - pair.first_attempt;
    return vec_push(&align->compiles, pair);
}

/* ---- all of it ------------------------------------------------------------------------------ */

/* Appends the compiles in the order of a; those that only b has follow the ones that they come
 * after there. */
static bool put_compiles(struct compile_aligner *c)
{
    const struct outline *a = c->b->align.a, *other = c->b->align.b;
    for (uint32_t i = 0; i < a->compiles.n; i++)
        if (!put_compile_pair(c->b, i, c->partner[0][i]))
            return false;
    for (uint32_t k = 0; k < other->compiles.n; k++)
        if (c->partner[1][k] == ALIGN_NONE && !put_compile_pair(c->b, ALIGN_NONE, k))
            return false;
    return true;
}

static bool pair_recordings(struct align_build *b)
{
    const struct outline *x = b->align.a, *y = b->align.b;
    struct sequence_pairs pairs;
    uint32_t n = (uint32_t)x->recordings.n, m = (uint32_t)y->recordings.n;
    bool ok = sequence_pairs_init(&pairs, n, m);
    for (uint32_t i = 0; ok && i < n && n + m > 2; i++)
        for (uint32_t k = 0; k < m && pairs.of_a[i] == SEQUENCE_NONE; k++) {
            const struct outline_recording *p = &x->recordings.v[i], *q = &y->recordings.v[k];
            bool same = p->rank >= 0 && q->rank >= 0
                            ? p->rank == q->rank
                            : b->sides[0].texts[p->name] == b->sides[1].texts[q->name];
            if (same && pairs.of_b[k] == SEQUENCE_NONE) {
                pairs.of_a[i] = k;
                pairs.of_b[k] = i;
            }
        }
    for (uint32_t i = 0, k = 0; ok && i < n; i++) {
        while (k < m && pairs.of_b[k] != SEQUENCE_NONE)
            k++;
        if (pairs.of_a[i] == SEQUENCE_NONE && k < m) {
            pairs.of_a[i] = k;
            pairs.of_b[k] = i;
        }
    }
    for (uint32_t i = 0; ok && i < n; i++)
        ok = vec_push(&b->align.recordings, (struct align_pair){ i, pairs.of_a[i], 0 });
    for (uint32_t k = 0; ok && k < m; k++)
        if (pairs.of_b[k] == SEQUENCE_NONE)
            ok = vec_push(&b->align.recordings, (struct align_pair){ ALIGN_NONE, k, 0 });
    sequence_pairs_release(&pairs);
    return ok;
}

static bool start_align(struct compile_aligner *c)
{
    for (int s = 0; s < 2; s++) {
        const struct outline *o = c->b->sides[s].outline;
        c->contents[s] = calloc(o->compiles.n + 1, sizeof **c->contents);
        c->partner[s] = calloc(o->compiles.n + 1, sizeof **c->partner);
        if (!c->contents[s] || !c->partner[s])
            return false;
        for (size_t i = 0; i < o->compiles.n; i++) {
            c->partner[s][i] = ALIGN_NONE;
            if (!read_contents(&c->b->sides[s], &o->compiles.v[i], &c->contents[s][i]))
                return false;
        }
    }
    return true;
}

static void finish_align(struct compile_aligner *c)
{
    for (int s = 0; s < 2; s++) {
        for (size_t i = 0; c->contents[s] && i < c->b->sides[s].outline->compiles.n; i++)
            free(c->contents[s][i].tokens);
        free(c->contents[s]);
        free(c->partner[s]);
    }
}

bool align_parts(struct align_build *b)
{
    enum { HALF = 500 };
    struct compile_aligner c = { .b = b };
    struct align *align = &b->align;
    bool ok = start_align(&c) && pair_recordings(b);
    for (size_t i = 0; i < align->recordings.n && ok; i++) {
        const struct align_pair *pair = &align->recordings.v[i];
        if (pair->a == ALIGN_NONE || pair->b == ALIGN_NONE)
            continue;
        const struct outline_recording *x = &align->a->recordings.v[pair->a];
        const struct outline_recording *y = &align->b->recordings.v[pair->b];
        ok = pair_compiles(&c, x, y, is_same_compile, 0) &&
             pair_compiles(&c, x, y, is_renamed, HALF);
    }
    ok = ok && put_compiles(&c);
    finish_align(&c);
    return ok;
}

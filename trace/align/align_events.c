/* Aligns the events of two attempts. */
#include <stdlib.h>

#include "trace/align/align_build.h"

struct event_aligner {
    struct align_build *b;
    uint32_t first[2], n[2];
    struct sequence_pairs pairs;
    uint32_t *change; /* by event of a */
    uint32_t *tokens[2];
};

enum token { WHOLE, SPREAD, WORK };

static void set_event_tokens(struct event_aligner *x, enum token which)
{
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < x->n[s]; i++) {
            const struct align_event *t = &x->b->sides[s].events[x->first[s] + i];
            x->tokens[s][i] = which == WHOLE ? t->whole : which == SPREAD ? t->spread : t->work;
        }
}

static const struct outline_event *event_at(const struct event_aligner *x, int side, uint32_t i)
{
    return &x->b->sides[side].outline->events.v[x->first[side] + i];
}

static void set_event_change(void *user, uint32_t i, uint32_t k)
{
    struct event_aligner *x = user;
    const struct outline_event *a = event_at(x, 0, i), *b = event_at(x, 1, k);
    const struct align_side *sides = x->b->sides;
    x->change[i] = x->pairs.moved[i] ? ALIGN_MOVED : 0;
    if (a->asked_by != b->asked_by)
        x->change[i] |= ALIGN_CLASS;
    if (sides[0].texts[a->detail] != sides[1].texts[b->detail])
        x->change[i] |= ALIGN_DETAIL;
    if (a->count != b->count)
        x->change[i] |= ALIGN_COUNT;
    /* A symbol is identified by its source, whichever line created it. */
    uint32_t line_a = align_line(&sides[0], a->line), line_b = align_line(&sides[1], b->line);
    if (line_a != line_b && a->kind != OUTLINE_SYMBOL && line_a != ALIGN_NONE &&
        line_b != ALIGN_NONE && !align_line_edited(x->b, line_a, line_b))
        x->change[i] |= ALIGN_LINE;
}

static bool put_event_pair(struct align *align, uint32_t a, uint32_t b, uint32_t change)
{
    return vec_push(&align->events, (struct align_pair){ a, b, change });
}

/* Appends the pairs in an order that agrees with both sides, except for moved ones. */
static bool put_event_pairs(struct event_aligner *x)
{
    struct align *align = &x->b->align;
    uint32_t k = 0;
    for (uint32_t i = 0; i <= x->n[0]; i++) {
        bool end = i == x->n[0];
        uint32_t with = end ? x->n[1] : x->pairs.of_a[i];
        bool moved = !end && x->pairs.moved[i];
        for (; with != SEQUENCE_NONE && !moved && k < with; k++)
            if (x->pairs.of_b[k] == SEQUENCE_NONE &&
                !put_event_pair(align, ALIGN_NONE, x->first[1] + k, 0))
                return false;
        if (!end && !put_event_pair(align, x->first[0] + i,
                                    with == SEQUENCE_NONE ? ALIGN_NONE : x->first[1] + with,
                                    with == SEQUENCE_NONE ? 0 : x->change[i]))
            return false;
    }
    return true;
}

static bool find_event_pairs(struct event_aligner *x)
{
    static const struct step {
        enum token token;
        bool anywhere;
    } STEPS[] = { { WHOLE, false }, { WHOLE, true }, { SPREAD, false },
                  { SPREAD, true }, { WORK, false }, { WORK, true } };
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        set_event_tokens(x, STEPS[i].token);
        if (!(STEPS[i].anywhere ? sequence_match : sequence_fill)(
                &x->pairs, x->tokens[0], x->tokens[1], set_event_change, x))
            return false;
    }
    return true;
}

bool align_events(struct align_build *b, struct align_attempt *attempt)
{
    struct event_aligner x = { .b = b };
    attempt->first_event = (uint32_t)b->align.events.n;
    const struct outline_attempt *a = &b->align.a->attempts.v[attempt->a];
    const struct outline_attempt *other = &b->align.b->attempts.v[attempt->b];
    x.first[0] = a->first_event;
    x.n[0] = a->n_events;
    x.first[1] = other->first_event;
    x.n[1] = other->n_events;
    for (int s = 0; s < 2; s++)
        x.tokens[s] = calloc((size_t)x.n[s] + 1, sizeof **x.tokens);
    x.change = calloc((size_t)x.n[0] + 1, sizeof *x.change);
    bool ok = x.tokens[0] && x.tokens[1] && x.change &&
              sequence_pairs_init(&x.pairs, x.n[0], x.n[1]) && find_event_pairs(&x) &&
              put_event_pairs(&x);
    sequence_pairs_release(&x.pairs);
    free(x.tokens[0]);
    free(x.tokens[1]);
    free(x.change);
    attempt->n_events = (uint32_t)b->align.events.n - attempt->first_event;
    return ok;
}

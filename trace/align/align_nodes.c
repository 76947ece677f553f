/* Aligns the nodes of two graphs. */
#include <stdlib.h>

#include "trace/align/align_build.h"

struct node_aligner {
    struct align_build *b;
    const struct outline_graph *graphs[2];
    struct sequence_pairs pairs;
    uint32_t *tokens[2];
};

enum token { WHOLE, SPREAD, WORK, OP };

static const struct outline_node *side_node(const struct node_aligner *x, int side, uint32_t i)
{
    return &x->b->sides[side].outline->nodes.v[x->graphs[side]->first_node + i];
}

static const struct outline_form *form_at(const struct node_aligner *x, int side, uint32_t i)
{
    return &x->b->sides[side].outline->forms.v[side_node(x, side, i)->form];
}

/* Returns whether the line of this node is on its own side only. */
static bool is_edited(const struct node_aligner *x, int side, uint32_t i)
{
    uint32_t line = align_line(&x->b->sides[side], form_at(x, side, i)->line);
    return line != ALIGN_NONE && !x->b->sides[!side].lines_seen[line];
}

static uint32_t token_of(const struct node_aligner *x, int side, uint32_t i, enum token which)
{
    const struct align_form *t = &x->b->sides[side].forms[side_node(x, side, i)->form];
    switch (which) {
    case WHOLE: return t->whole;
    case SPREAD: return t->spread;
    case WORK: return t->work;
    case OP: break;
    }
    return is_edited(x, side, i) ? t->op : SEQUENCE_NONE;
}

static void set_node_tokens(struct node_aligner *x, enum token which)
{
    for (int s = 0; s < 2; s++)
        for (uint32_t i = 0; i < x->graphs[s]->n_nodes; i++)
            x->tokens[s][i] = token_of(x, s, i, which);
}

static bool find_node_pairs(struct node_aligner *x)
{
    for (enum token which = WHOLE; which <= OP; which++) {
        set_node_tokens(x, which);
        if (!sequence_fill(&x->pairs, x->tokens[0], x->tokens[1], NULL, NULL) ||
            (which == WHOLE && !sequence_match(&x->pairs, x->tokens[0], x->tokens[1], NULL, NULL)))
            return false;
    }
    return true;
}

/* Returns whether a node uses results that are not the partners of those which its partner uses.
 * Results without a partner are new or gone and are reported themselves. */
static bool inputs_differ(const struct node_aligner *x, uint32_t i, uint32_t k)
{
    const struct outline_node *a = side_node(x, 0, i), *b = side_node(x, 1, k);
    const uint32_t *refs_a = vec_from(&x->b->sides[0].outline->refs, a->first_ref);
    const uint32_t *refs_b = vec_from(&x->b->sides[1].outline->refs, b->first_ref);
    for (uint32_t r = 0; r < a->n_refs && a->n_refs == b->n_refs; r++) {
        uint32_t with = x->pairs.of_a[refs_a[r]];
        if (with != refs_b[r] && with != SEQUENCE_NONE &&
            x->pairs.of_b[refs_b[r]] != SEQUENCE_NONE && !x->pairs.moved[refs_a[r]])
            return true;
    }
    return false;
}

static uint32_t change_of(const struct node_aligner *x, uint32_t i, uint32_t k)
{
    const struct outline_form *a = form_at(x, 0, i), *b = form_at(x, 1, k);
    const struct align_side *sides = x->b->sides;
    uint32_t line_a = align_line(&sides[0], a->line), line_b = align_line(&sides[1], b->line);
    uint32_t change = x->pairs.moved[i] ? ALIGN_MOVED : 0;
    if (sides[0].texts[a->meta] != sides[1].texts[b->meta])
        change |= ALIGN_META;
    if (sides[0].texts[a->args] != sides[1].texts[b->args])
        change |= ALIGN_ARGS;
    if (line_a != line_b && !align_line_edited(x->b, line_a, line_b))
        change |= ALIGN_LINE;
    if (!x->pairs.moved[i] && inputs_differ(x, i, k))
        change |= ALIGN_INPUTS;
    return change;
}

static bool put_node_pair(const struct node_aligner *x, uint32_t i, uint32_t k,
                          struct align_graph *graph)
{
    struct align_pair pair = {
        .a = i == ALIGN_NONE ? ALIGN_NONE : x->graphs[0]->first_node + i,
        .b = k == ALIGN_NONE ? ALIGN_NONE : x->graphs[1]->first_node + k,
        .change = i == ALIGN_NONE || k == ALIGN_NONE ? 0 : change_of(x, i, k),
    };
    graph->n_differences +=
        pair.a == ALIGN_NONE || pair.b == ALIGN_NONE || (pair.change & ALIGN_DIFFERS);
    return vec_push(&x->b->align.nodes, pair);
}

static bool put_node_pairs(const struct node_aligner *x, struct align_graph *graph)
{
    uint32_t k = 0, n = x->graphs[0]->n_nodes, m = x->graphs[1]->n_nodes;
    for (uint32_t i = 0; i <= n; i++) {
        uint32_t with = i == n ? m : x->pairs.of_a[i];
        bool in_order = with != SEQUENCE_NONE && (i == n || !x->pairs.moved[i]);
        for (; in_order && k < with; k++)
            if (x->pairs.of_b[k] == SEQUENCE_NONE && !put_node_pair(x, ALIGN_NONE, k, graph))
                return false;
        if (i < n && !put_node_pair(x, i, with, graph))
            return false;
    }
    return true;
}

bool align_nodes(struct align_build *b, struct align_graph *graph)
{
    struct node_aligner x = { .b = b };
    x.graphs[0] = &b->align.a->graphs.v[graph->a];
    x.graphs[1] = &b->align.b->graphs.v[graph->b];
    for (int s = 0; s < 2; s++)
        x.tokens[s] = calloc((size_t)x.graphs[s]->n_nodes + 1, sizeof **x.tokens);
    graph->first_node = (uint32_t)b->align.nodes.n;
    bool ok = x.tokens[0] && x.tokens[1] &&
              sequence_pairs_init(&x.pairs, x.graphs[0]->n_nodes, x.graphs[1]->n_nodes) &&
              find_node_pairs(&x) && put_node_pairs(&x, graph);
    sequence_pairs_release(&x.pairs);
    free(x.tokens[0]);
    free(x.tokens[1]);
    graph->n_nodes = (uint32_t)b->align.nodes.n - graph->first_node;
    return ok;
}

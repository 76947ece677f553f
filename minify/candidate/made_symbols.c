#include "minify/candidate/made_symbols.h"

/* One of the two graphs, and what was seen of it. */
struct made_side {
    const struct graph *graph;
    const struct cand_texts *texts;
    bool *seen; /* by symbol number */
};

static struct str symbol_name(const struct made_side *side, uint32_t symbol)
{
    return intern_text(&side->texts->symbols, symbol);
}

/* Returns the next unbacked symbol of a node's meta that no meta before had. */
static bool next_made(struct made_side *side, const struct node *node, uint32_t *at,
                      uint32_t *symbol)
{
    if (node->meta == META_NONE)
        return false;
    const struct meta_info *info = meta_info(side->texts, node->meta);
    while (*at < info->n) {
        *symbol = side->texts->occurrences[info->first + (*at)++];
        bool was_seen = side->seen[*symbol];
        side->seen[*symbol] = true;
        if (!was_seen && is_unbacked_name(symbol_name(side, *symbol)))
            return true;
    }
    return false;
}

static void pair_node(struct made_side *before, struct made_side *now, node_id id,
                      struct made_symbol *pairs, uint32_t *n)
{
    const struct node *old = &before->graph->nodes[id], *new = &now->graph->nodes[id];
    uint32_t at_old = 0, at_new = 0, a, b;
    bool has_old, has_new;
    do {
        has_old = next_made(before, old, &at_old, &a);
        has_new = next_made(now, new, &at_new, &b);
        if (has_old && has_new && old->op != NODE_PLACEHOLDER)
            pairs[(*n)++] = (struct made_symbol){ symbol_name(before, a), symbol_name(now, b) };
    } while (has_old || has_new);
}

/* Leaves the symbols that nothing makes any more. */
static uint32_t keep_lost(const struct made_side *now, struct made_symbol *pairs, uint32_t n)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t id = texts_symbol(now->texts, pairs[i].before);
        if (id == UINT32_MAX || !now->seen[id])
            pairs[kept++] = pairs[i];
    }
    return kept;
}

bool made_symbols_find(const struct graph *before, const struct cand_texts *texts,
                       const struct cand_texts *now, struct arena *arena, struct made_symbol **ret,
                       uint32_t *n)
{
    size_t n_old = texts->symbols.texts.n, n_new = now->symbols.texts.n;
    struct made_side sides[] = { { before, texts, arena_array(arena, bool, n_old + 1) },
                                 { now->graph, now, arena_array(arena, bool, n_new + 1) } };
    *ret = arena_array(arena, struct made_symbol, n_old + 1);
    *n = 0;
    if (!sides[0].seen || !sides[1].seen || !*ret)
        return false;
    for (node_id id = 0; id < before->n_nodes && id < now->graph->n_nodes; id++)
        pair_node(&sides[0], &sides[1], id, *ret, n);
    *n = keep_lost(&sides[1], *ret, *n);
    return true;
}

/* Computes a candidate's hash from its structure; nodes and symbols are numbered by their order. */
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "trace/base/hash.h"

struct candidate_hasher {
    const struct cand_texts *texts;
    uint32_t *order; /* by symbol number: its order plus one, 0 if it has not occurred */
    uint32_t next;
    uint64_t a, b;
};

static void hash_number(struct candidate_hasher *h, uint64_t value)
{
    h->a = hash_mix(h->a, value);
    h->b = hash_mix(h->b ^ UINT64_C(0x5851F42D4C957F2D), value + 1);
}

static void add_str(struct candidate_hasher *h, struct str text)
{
    hash_number(h, text.n ? hash_str(text) : 1);
}

static void hash_symbol(void *user, uint32_t symbol)
{
    struct candidate_hasher *h = user;
    if (symbol == INTERN_NONE) {
        hash_number(h, 0);
        return;
    }
    if (h->order[symbol] == 0)
        h->order[symbol] = ++h->next;
    hash_number(h, h->order[symbol]);
}

static void add_meta(struct candidate_hasher *h, uint32_t meta)
{
    if (meta == META_NONE) {
        hash_number(h, 2);
        return;
    }
    const struct meta_info *info = meta_info(h->texts, meta);
    hash_number(h, info->hash);
    for (uint32_t i = 0; i < info->n; i++)
        hash_symbol(h, h->texts->occurrences[info->first + i]);
}

static void add_arg(struct candidate_hasher *h, const struct graph *graph, const struct arg *arg)
{
    hash_number(h, (uint64_t)arg->kind << 8 | (arg->key.n != 0));
    if (arg->key.n)
        add_str(h, arg->key);
    switch (arg->kind) {
    case ARG_NONE:
    case ARG_ELLIPSIS: break;
    case ARG_NODE: hash_number(h, arg->u.node); break;
    case ARG_BOOL:
    case ARG_DTYPE: hash_number(h, (uint64_t)arg->u.integer); break;
    case ARG_LIST:
    case ARG_TUPLE:
    case ARG_DICT:
    case ARG_SLICE:
    case ARG_CALL:
        add_str(h, arg->text);
        hash_number(h, arg->u.items.n);
        for (uint32_t i = 0; i < arg->u.items.n; i++)
            add_arg(h, graph, &graph->args[arg->u.items.first + i]);
        break;
    default: add_str(h, arg->text); break;
    }
}

static void hash_graph(struct candidate_hasher *h, const struct graph *graph)
{
    hash_number(h, graph->n_nodes);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        hash_number(h, (uint64_t)node->op << 8 | node->n_args);
        if (node->op != NODE_PLACEHOLDER && node->op != NODE_OUTPUT)
            add_str(h, node->target);
        add_meta(h, node->meta);
        for (uint32_t k = 0; k < node->n_args; k++)
            add_arg(h, graph, &graph->args[node->first_arg + k]);
    }
    hash_number(h, graph->n_children);
    for (uint32_t i = 0; i < graph->n_children; i++) {
        add_str(h, graph->children[i]->name);
        hash_graph(h, graph->children[i]);
    }
}

static void add_cand_symbol(struct candidate_hasher *h, const struct candidate *candidate,
                            uint32_t i)
{
    const struct cand_symbol *symbol = &candidate->symbols[i];
    uint64_t bits = 0;
    hash_symbol(h, data_of(candidate)->symbol_ids[i]);
    hash_number(h, (uint64_t)symbol->backed | (uint64_t)symbol->has_hint << 1 |
                       (uint64_t)symbol->marked << 2 | (uint64_t)symbol->is_float << 3);
    memcpy(&bits, &symbol->float_hint, sizeof bits);
    hash_number(h, symbol->is_float ? bits : (uint64_t)symbol->hint);
    hash_number(h, (uint64_t)symbol->min);
    hash_number(h, (uint64_t)symbol->max);
}

/* A candidate without gradients has the hash that it has where nothing is known about them. */
static void add_gradients(struct candidate_hasher *h, const struct candidate *candidate)
{
    for (node_id id = 0; id < candidate->graph->n_nodes; id++)
        if (candidate_requires_grad(candidate, id))
            hash_number(h, id);
}

/* Hashes the text of a recorded guard without the names of symbols, then the order of the
 * symbols. */
static void add_fact(struct candidate_hasher *h, const struct cand_guard *guard)
{
    struct str text = guard->expr;
    size_t from = 0;
    hash_number(h, (uint64_t)guard->node << 1 | guard->deferred);
    for (size_t i = 0; i <= text.n; i++) {
        if (i < text.n && is_word_char(text.p[i]))
            continue;
        struct str name = { text.p + from, i - from };
        uint32_t symbol = name.n ? texts_symbol(h->texts, name) : INTERN_NONE;
        if (symbol != INTERN_NONE)
            hash_symbol(h, symbol);
        else
            add_str(h, name);
        hash_number(h, i < text.n ? (uint64_t)(unsigned char)text.p[i] : 256);
        from = i + 1;
    }
}

struct cand_hash candidate_hash(const struct candidate *candidate)
{
    const struct cand_data *data = data_of(candidate);
    uint32_t room[256] = { 0 };
    size_t n = data->texts->symbols.texts.n;
    struct candidate_hasher h = { .texts = data->texts, .order = room, .a = 1, .b = 2 };
    if (n > sizeof room / sizeof *room)
        h.order = calloc(n, sizeof *h.order);
    if (!h.order)
        return (struct cand_hash){ 0, 0 }; /* the hash of no candidate, equal to none that was
                                            * checked */
    hash_number(&h, (uint64_t)candidate->kind);
    hash_number(&h, candidate->seed);
    hash_graph(&h, candidate->graph);
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        add_cand_symbol(&h, candidate, i);
    for (uint32_t i = 0; i < candidate->n_guards; i++)
        add_fact(&h, &candidate->guards[i]);
    add_gradients(&h, candidate);
    if (h.order != room)
        free(h.order);
    return (struct cand_hash){ h.a, h.b };
}

#include "minify/candidate/candidate.h"

#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/sizes.h"
#include "replay/ops/layout/layout.h"
#include "trace/base/number.h"
#include "trace/events/guards.h"

struct cand_data *data_new(struct cand_texts *texts)
{
    struct cand_data *data = calloc(1, sizeof *data);
    if (data) {
        data->candidate.data = data;
        data->texts = texts_hold(texts);
        atomic_init(&data->refs, 1);
    }
    return data;
}

struct candidate *candidate_hold(struct candidate *candidate)
{
    if (candidate)
        atomic_fetch_add(&data_of(candidate)->refs, 1);
    return candidate;
}

void candidate_free(struct candidate *candidate)
{
    if (!candidate || atomic_fetch_sub(&data_of(candidate)->refs, 1) > 1)
        return;
    struct cand_data *data = data_of(candidate);
    texts_release(data->texts);
    arena_release(&data->arena);
    free(data);
}

/* ---- Gradients ---- */

bool data_begin_gradients(struct cand_data *data, uint32_t n_nodes, const bool *like)
{
    if (like)
        data->gradients = arena_array(&data->arena, bool, (size_t)n_nodes + 1);
    return !like || data->gradients;
}

struct gradient_search {
    const bool *gradients;
    bool found;
};

static void note_gradient(void *user, node_id id)
{
    struct gradient_search *s = user;
    s->found |= s->gradients[id];
}

bool data_may_have_gradient(const struct meta *meta)
{
    return !meta || meta->kind == META_OTHER ||
           (meta->kind == META_TENSOR &&
            (dtype_is_float(meta->dtype) || dtype_is_complex(meta->dtype)));
}

void data_spread_gradients(struct cand_data *data)
{
    const struct graph *graph = &data->graph;
    for (node_id id = 0; data->gradients && id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        struct gradient_search s = { data->gradients, false };
        if (node->op == NODE_PLACEHOLDER)
            continue;
        node_references(graph, node, note_gradient, &s);
        data->gradients[id] = s.found && data_may_have_gradient(node_meta(graph, node));
    }
}

bool candidate_requires_grad(const struct candidate *candidate, node_id input)
{
    const bool *gradients = data_of(candidate)->gradients;
    return gradients && input < candidate->graph->n_nodes &&
           candidate->graph->nodes[input].op == NODE_PLACEHOLDER && gradients[input];
}

uint32_t candidate_n_gradients(const struct candidate *candidate)
{
    uint32_t ret = 0;
    for (node_id id = 0; id < candidate->graph->n_nodes; id++)
        ret += candidate_requires_grad(candidate, id);
    return ret;
}

/* ---- Making ---- */

static bool copy_symbol_table(struct cand_data *data, const struct cand_symbol *symbols, uint32_t n)
{
    struct cand_symbol *copy = arena_array(&data->arena, struct cand_symbol, (size_t)n + 1);
    data->symbol_ids = arena_array(&data->arena, uint32_t, (size_t)n + 1);
    if (!copy || !data->symbol_ids)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = symbols[i];
        copy[i].name = arena_copy(&data->arena, symbols[i].name);
        copy[i].source = arena_copy(&data->arena, symbols[i].source);
        data->symbol_ids[i] = texts_symbol(data->texts, symbols[i].name);
        if (!copy[i].name.p || !copy[i].source.p)
            return false;
    }
    data->candidate.symbols = copy;
    data->candidate.n_symbols = n;
    return true;
}

static bool copy_guard_table(struct cand_data *data, const struct cand_guard *guards, uint32_t n)
{
    struct cand_guard *copy = arena_array(&data->arena, struct cand_guard, (size_t)n + 1);
    if (!copy)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = guards[i];
        copy[i].expr = arena_copy(&data->arena, guards[i].expr);
        if (!copy[i].expr.p)
            return false;
    }
    data->candidate.guards = copy;
    data->candidate.n_guards = n;
    return true;
}

struct candidate *data_finish(struct cand_data *data, const struct candidate *like,
                              const struct cand_symbol *symbols, uint32_t n_symbols,
                              const struct cand_guard *guards, uint32_t n_guards, struct err *err)
{
    struct candidate *ret = &data->candidate;
    ret->graph = &data->graph;
    ret->kind = like->kind;
    ret->seed = like->seed;
    ret->torch_version = arena_copy(&data->arena, like->torch_version);
    if (ret->torch_version.p && copy_symbol_table(data, symbols, n_symbols) &&
        copy_guard_table(data, guards, n_guards))
        return ret;
    candidate_free(ret);
    err_nomem(err);
    return NULL;
}

/* ---- Guards ---- */

struct fact_search {
    const struct cand_texts *texts;
    void (*fn)(void *user, uint32_t symbol);
    void *user;
};

static void found_name(void *user, struct str name)
{
    const struct fact_search *search = user;
    search->fn(search->user, texts_symbol(search->texts, name));
}

void guard_expr_symbols(const struct cand_texts *texts, struct str expr,
                        void (*fn)(void *user, uint32_t symbol), void *user)
{
    struct fact_search search = { texts, fn, user };
    guard_symbols(expr, found_name, &search);
}

/* ---- Size ---- */

/* Returns the weight of an argument: an absent value is the simplest, then 0 and 1. */
static uint64_t argument_weight(const struct arg *arg)
{
    switch (arg->kind) {
    case ARG_NONE:
    case ARG_NODE: return 0;
    case ARG_INT: {
        uint64_t value = (uint64_t)arg->u.integer;
        return 1 + bit_width(arg->u.integer < 0 ? 0 - value : value);
    }
    case ARG_FLOAT: return 2 + arg->text.n;
    case ARG_STRING: return 2 + arg->text.n;
    default: return 2;
    }
}

static void size_graph(const struct graph *graph, struct cand_size *size, bool root)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        size->part[SIZE_CALLS] += node_is_call(node) && !node_is_getitem(graph, node);
        if (node->op != NODE_OUTPUT)
            size->part[SIZE_BYTES] += node->name.n + node->target.n;
        const struct meta *meta = node_meta(graph, node);
        size->part[SIZE_BYTES] += meta ? meta->text.n : 0;
        if (!root || node->op == NODE_OUTPUT)
            size->part[SIZE_PORTS] += root ? node->n_args : 0;
        if (root && node->op == NODE_PLACEHOLDER) {
            size->part[SIZE_PORTS]++;
            size->part[SIZE_RANKS] += meta && meta->kind == META_TENSOR ? meta->n_sizes : 0;
        }
    }
    for (uint32_t i = 0; i < graph->n_args; i++)
        size->part[SIZE_ARGUMENTS] += argument_weight(&graph->args[i]);
    for (uint32_t i = 0; i < graph->n_children; i++) {
        size->part[SIZE_SUBGRAPHS]++;
        size_graph(graph->children[i], size, false);
    }
}

bool input_is_contiguous(const struct candidate *candidate, node_id id)
{
    const struct graph *graph = candidate->graph;
    const struct meta *meta = node_meta(graph, &graph->nodes[id]);
    int64_t next = 1, size, stride;
    if (!meta || meta->kind != META_TENSOR || !meta->has_strides)
        return true;
    for (uint32_t d = meta->n_sizes; d-- > 0;) {
        if (!cand_eval(candidate, &graph->pool->exprs, meta->sizes[d], NULL, &size) ||
            !cand_eval(candidate, &graph->pool->exprs, meta->strides[d], NULL, &stride))
            return true; /* a stride is not known */
        if (stride != next)
            return false;
        if (__builtin_mul_overflow(next, size < 1 ? 1 : size, &next))
            return true;
    }
    return true;
}

static uint64_t dtype_weight(const struct candidate *candidate)
{
    bool seen[DTYPE_COUNT] = { false };
    uint64_t ret = 0;
    for (uint32_t i = 0; i < candidate->graph->n_nodes; i++) {
        const struct meta *meta = node_meta(candidate->graph, &candidate->graph->nodes[i]);
        if (!meta || meta->kind != META_TENSOR || seen[meta->dtype])
            continue;
        seen[meta->dtype] = true;
        ret += 1 + (meta->dtype != DTYPE_F32 && meta->dtype != DTYPE_I64);
    }
    return ret;
}

/* Counts the bits of a size, including those that became numbers, since these should be small, too.
 * 0 and 1 count as more, since the compiler treats them specially. */
static uint64_t number_bits(int64_t value)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    return value == 0 || value == 1 ? 8 : bit_width(magnitude);
}

static uint64_t hint_bits(const struct candidate *candidate)
{
    const struct graph *graph = candidate->graph;
    uint64_t ret = 0;
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        if (candidate->symbols[i].has_hint && !candidate->symbols[i].is_float)
            ret += number_bits(candidate->symbols[i].hint);
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct meta *meta = node_meta(graph, &graph->nodes[i]);
        if (graph->nodes[i].op != NODE_PLACEHOLDER || !meta || meta->kind != META_TENSOR)
            continue;
        for (uint32_t d = 0; d < meta->n_sizes; d++) {
            const struct expr *expr = expr_at(&graph->pool->exprs, meta->sizes[d]);
            if (expr->kind == EXPR_INT)
                ret += number_bits(expr->value);
        }
    }
    return ret;
}

/* Counts ranges that are not the default, and layouts that are not contiguous. */
static uint64_t count_special(const struct candidate *candidate)
{
    const struct graph *graph = candidate->graph;
    uint64_t ret = 0;
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        ret += (candidate->symbols[i].max != INT64_MAX) + (candidate->symbols[i].min > 2);
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op == NODE_PLACEHOLDER)
            ret += !input_is_contiguous(candidate, i);
    return ret;
}

struct cand_size candidate_size(const struct candidate *candidate)
{
    struct cand_size ret = { { 0 } };
    size_graph(candidate->graph, &ret, true);
    ret.part[SIZE_GUARDS] = candidate->n_guards;
    ret.part[SIZE_SYMBOLS] = candidate->n_symbols;
    ret.part[SIZE_DTYPES] =
        dtype_weight(candidate) + count_special(candidate) + candidate_n_gradients(candidate);
    ret.part[SIZE_HINT_BITS] = hint_bits(candidate);
    return ret;
}

int cand_size_compare(const struct cand_size *a, const struct cand_size *b)
{
    for (int i = 0; i < SIZE_PARTS; i++)
        if (a->part[i] != b->part[i])
            return a->part[i] < b->part[i] ? -1 : 1;
    return 0;
}

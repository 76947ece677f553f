#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/candidate_source.h"
#include "minify/candidate/engines.h"
#include "trace/events/guards.h"

struct candidate_maker {
    const struct cand_source *source;
    const struct graph *graph;
    struct cand_texts *texts;
    struct cand_symbol *symbols;
    struct cand_guard *guards;
    uint32_t n_symbols, n_guards;
    node_id *map;
    struct str *names;
};

struct cand_symbol default_symbol(struct str name)
{
    bool unbacked = is_unbacked_name(name);
    bool size = str_starts(name, STR("s"));
    return (struct cand_symbol){ .name = name,
                                 .source = STR(""),
                                 .backed = !unbacked,
                                 .is_float = str_starts(name, STR("z")),
                                 .has_hint = size,
                                 .min = size ? 2 : INT64_MIN,
                                 .max = INT64_MAX };
}

/* ---- Symbols ---- */

static void mark_metas(const struct graph *graph, const struct cand_texts *texts, bool *used)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        if (graph->nodes[i].meta == META_NONE)
            continue;
        const struct meta_info *info = meta_info(texts, graph->nodes[i].meta);
        for (uint32_t k = 0; k < info->n; k++)
            used[texts->occurrences[info->first + k]] = true;
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        mark_metas(graph->children[i], texts, used);
}

/* Returns the next prime, for symbols without a hint: it is neither 0 nor 1, and no two are
 * equal. */
static int64_t next_prime(int64_t after)
{
    for (int64_t n = after + 1;; n++) {
        bool prime = true;
        for (int64_t d = 2; d * d <= n && prime; d++)
            prime = n % d != 0;
        if (prime)
            return n;
    }
}

/* Collects the symbols that the graph uses, those with a description first. If two have one name,
 * the later counts. */
static bool choose_symbols(struct candidate_maker *m)
{
    size_t n = m->texts->symbols.texts.n;
    bool *used = calloc(n + 1, sizeof *used);
    int64_t prime = 1;
    m->symbols = calloc(n + 1, sizeof *m->symbols);
    if (!used || !m->symbols) {
        free(used);
        return false;
    }
    mark_metas(m->texts->graph, m->texts, used);
    for (uint32_t i = 0; i < m->source->n_symbols; i++) {
        const struct cand_symbol *symbol = &m->source->symbols[i];
        uint32_t id = texts_symbol(m->texts, symbol->name);
        bool again = false;
        for (uint32_t k = i + 1; k < m->source->n_symbols && !again; k++)
            again = str_eq(m->source->symbols[k].name, symbol->name);
        if (again || id == INTERN_NONE || !used[id])
            continue;
        m->symbols[m->n_symbols++] = *symbol;
        used[id] = false;
    }
    for (uint32_t id = 0; id < n; id++)
        if (used[id]) {
            struct cand_symbol symbol = default_symbol(intern_text(&m->texts->symbols, id));
            if (symbol.has_hint)
                symbol.hint = prime = next_prime(prime);
            m->symbols[m->n_symbols++] = symbol;
        }
    free(used);
    return true;
}

static bool set_hints(struct candidate_maker *m, const struct candidate_options *options,
                      struct err *err)
{
    for (uint32_t i = 0; options && i < options->n_hints; i++) {
        bool found = false;
        for (uint32_t s = 0; s < m->n_symbols; s++)
            if (str_eq(m->symbols[s].name, options->hints[i].symbol)) {
                m->symbols[s].hint = options->hints[i].hint;
                m->symbols[s].has_hint = found = true;
            }
        if (!found)
            return err_set(err, ERR_USAGE, "--sizes: the graph has no symbol %.*s",
                           STR_ARG(options->hints[i].symbol));
    }
    return true;
}

/* ---- Guards ---- */

struct symbol_check {
    const struct candidate_maker *m;
    bool shown;
};

static void check_symbol(void *user, struct str name)
{
    struct symbol_check *c = user;
    bool found = false;
    for (uint32_t i = 0; i < c->m->n_symbols && !found; i++)
        found = str_eq(c->m->symbols[i].name, name);
    c->shown &= found;
}

static uint32_t new_place(const struct candidate_maker *m, uint32_t node)
{
    if (node == 0)
        return 0;
    while (node < m->graph->n_nodes && m->map[node] == NODE_NONE)
        node++;
    return node < m->graph->n_nodes ? m->map[node] : m->texts->graph->n_nodes - 1;
}

/* Returns whether an expression has no control characters. sympy prints none; other text cannot be
 * written on the line of a guard. */
static bool is_one_line(struct str expr)
{
    for (size_t i = 0; i < expr.n; i++)
        if ((unsigned char)expr.p[i] < ' ' || expr.p[i] == 0x7f)
            return false;
    return true;
}

/* Chooses the guards whose symbols the graph uses; others do not affect the graph. */
static void choose_facts(struct candidate_maker *m)
{
    for (uint32_t i = 0; i < m->source->n_guards; i++) {
        struct symbol_check check = { m, true };
        guard_symbols(m->source->guards[i].expr, check_symbol, &check);
        if (!check.shown || !is_one_line(m->source->guards[i].expr))
            continue;
        struct cand_guard *guard = &m->guards[m->n_guards++];
        *guard = m->source->guards[i];
        guard->node = new_place(m, guard->node);
    }
}

/* ---- The whole ---- */

static struct cand_data *make_data(struct candidate_maker *m)
{
    struct cand_data *data = data_new(m->texts);
    if (!data)
        return NULL;
    data->graph = *m->texts->graph;
    data->storages = arena_array(&data->arena, uint32_t, (size_t)data->graph.n_nodes + 1);
    if (!data->storages || !data_begin_gradients(data, data->graph.n_nodes, m->source->gradients)) {
        candidate_free(&data->candidate);
        return NULL;
    }
    for (uint32_t i = 0; i < data->graph.n_nodes; i++)
        data->storages[i] = UINT32_MAX;
    for (uint32_t i = 0; m->source->storages && i < m->graph->n_nodes; i++)
        if (m->map[i] != NODE_NONE && m->graph->nodes[i].op != NODE_ALIAS)
            data->storages[m->map[i]] = m->source->storages[i];
    for (uint32_t i = 0; m->source->gradients && i < m->graph->n_nodes; i++) {
        const struct node *node = &m->graph->nodes[i];
        if (m->map[i] != NODE_NONE && node->op == NODE_PLACEHOLDER)
            data->gradients[m->map[i]] =
                m->source->gradients[i] && data_may_have_gradient(node_meta(m->graph, node));
    }
    data_spread_gradients(data);
    data->writes = graph_writes(&data->graph);
    return data;
}

static struct candidate *make_candidate(struct candidate_maker *m,
                                        const struct candidate_options *options, struct err *err)
{
    const struct cand_source *source = m->source;
    m->map = calloc((size_t)m->graph->n_nodes + 1, sizeof *m->map);
    m->names = calloc((size_t)source->n_symbols + 1, sizeof *m->names);
    m->guards = calloc((size_t)source->n_guards + 1, sizeof *m->guards);
    if (!m->map || !m->names || !m->guards)
        return err_nomem(err), NULL;
    for (uint32_t i = 0; i < source->n_symbols; i++)
        m->names[i] = source->symbols[i].name;
    struct texts_options how = { .metas = source->metas,
                                 .from_trace = true,
                                 .symbols = m->names,
                                 .n_symbols = source->n_symbols,
                                 .map = m->map };
    m->texts = texts_new(m->graph, &how, err);
    if (!m->texts)
        return NULL;
    if (!choose_symbols(m))
        return err_nomem(err), NULL;
    if (!set_hints(m, options, err))
        return NULL;
    choose_facts(m);
    struct cand_data *data = make_data(m);
    if (!data)
        return err_nomem(err), NULL;
    return data_finish(data, source->like, m->symbols, m->n_symbols, m->guards, m->n_guards, err);
}

/* Computes which values share memory, which FX text does not contain and which matters if a call
 * writes to memory. */
static bool find_storages(struct candidate *candidate, struct err *err)
{
    struct cand_data *data = data_of(candidate);
    struct arena arena = ARENA_INIT;
    struct graph_replay *single = engines_take(data->texts->engines, err);
    bool ok = single && engines_walk(single, candidate, NULL, &arena, err);
    for (node_id id = 0; ok && id < data->graph.n_nodes; id++)
        data->storages[id] = graph_replay_storage(single, id);
    engines_give(data->texts->engines, single);
    arena_release(&arena);
    return ok;
}

struct candidate *candidate_make(const struct cand_source *source,
                                 const struct candidate_options *options, struct err *err)
{
    struct candidate_maker m = { .source = source, .graph = source->graph };
    struct candidate *ret = make_candidate(&m, options, err);
    if (ret && data_of(ret)->writes && !source->storages && !find_storages(ret, err)) {
        candidate_free(ret);
        ret = NULL;
    }
    texts_release(m.texts);
    free(m.symbols);
    free(m.guards);
    free(m.map);
    free(m.names);
    return ret;
}

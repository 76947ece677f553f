/* Copies graphs into texts that a candidate owns. */
#include <stdlib.h>

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/engines.h"
#include "trace/base/hash.h"
#include "trace/graph/graph_build.h"

struct text_copier {
    const struct texts_options *options;
    struct tree_builder tree;
    const struct str *metas; /* of the graph that is copied */
    uint32_t next_tree_node;
    bool bad; /* the graph cannot be copied; err is set */
    struct err *err;
};

static struct str copy_graph_text(const struct text_copier *c, struct graph_builder *b,
                                  struct str text)
{
    return c->options->from_trace ? build_keep(b, text) : text;
}

/* ---- Arguments ---- */

struct arg_copier {
    struct text_copier *c;
    struct graph_builder *b;
    const struct graph *from;
    const node_id *map;
};

static void push_arg(const struct arg_copier *p, const struct arg *arg, unsigned depth)
{
    struct arg copy = *arg;
    copy.key = copy_graph_text(p->c, p->b, arg->key);
    copy.text = p->c->options->keep_args && arg->text.n ? build_keep(p->b, arg->text)
                                                        : copy_graph_text(p->c, p->b, arg->text);
    switch (arg->kind) {
    case ARG_NODE:
        copy.u.node = p->map[arg->u.node];
        if (copy.u.node == NODE_NONE)
            copy = (struct arg){ .kind = ARG_NONE, .key = copy.key };
        build_push(p->b, copy);
        break;
    case ARG_LIST:
    case ARG_TUPLE:
    case ARG_DICT:
    case ARG_SLICE:
    case ARG_CALL: {
        size_t mark = build_mark(p->b);
        for (uint32_t i = 0; i < arg->u.items.n && depth < GRAPH_MAX_DEPTH; i++)
            push_arg(p, &p->from->args[arg->u.items.first + i], depth + 1);
        build_wrap(p->b, copy, mark);
        break;
    }
    default: build_push(p->b, copy); break;
    }
}

/* Adds each node that an output contains, in order. */
static void push_outputs(const struct arg_copier *p, const struct arg *arg, unsigned depth)
{
    bool nests = arg->kind == ARG_LIST || arg->kind == ARG_TUPLE || arg->kind == ARG_DICT ||
                 arg->kind == ARG_CALL;
    if (arg->kind == ARG_NODE && p->map[arg->u.node] != NODE_NONE)
        build_push(p->b, (struct arg){ .kind = ARG_NODE, .u.node = p->map[arg->u.node] });
    for (uint32_t i = 0; nests && i < arg->u.items.n && depth < GRAPH_MAX_DEPTH; i++)
        push_outputs(p, &p->from->args[arg->u.items.first + i], depth + 1);
}

/* ---- Nodes ---- */

static struct str copied_meta_text(const struct text_copier *c, const struct graph *from,
                                   node_id id)
{
    uint32_t meta = from->nodes[id].meta;
    if (c->metas && c->metas[id].p)
        return c->metas[id];
    return meta == META_NONE ? STR("") : from->pool->metas[meta].text;
}

static struct location kept_location(const struct text_copier *c, struct graph_builder *b,
                                     const struct graph *from, uint32_t index)
{
    struct location ret = from->locations[index];
    ret.file = copy_graph_text(c, b, ret.file);
    ret.function = copy_graph_text(c, b, ret.function);
    ret.code = copy_graph_text(c, b, ret.code);
    ret.annotation = copy_graph_text(c, b, ret.annotation);
    ret.caller = LOCATION_NONE;
    return ret;
}

static node_id copy_node(const struct arg_copier *p, node_id id, bool root)
{
    const struct node *node = &p->from->nodes[id];
    struct text_copier *c = p->c;
    size_t mark = build_mark(p->b);
    struct node copy = { .op = node->op, .form = node->form, .location = LOCATION_NONE };
    copy.name = copy_graph_text(c, p->b, node->name);
    copy.target = copy_graph_text(c, p->b, node->target);
    copy.meta = build_meta(p->b, copied_meta_text(c, p->from, id));
    if (node->location != LOCATION_NONE)
        copy.location = build_location(p->b, kept_location(c, p->b, p->from, node->location));
    bool flat = root && node->op == NODE_OUTPUT && c->options->from_trace;
    for (uint32_t i = 0; i < node->n_args; i++) {
        const struct arg *arg = &p->from->args[node->first_arg + i];
        if (flat)
            push_outputs(p, arg, 0);
        else
            push_arg(p, arg, 0);
    }
    return build_node(p->b, copy, mark);
}

/* Copies nodes, inputs first. An alias is replaced by the node that it names. */
static void copy_nodes(const struct arg_copier *p, node_id *map, bool root)
{
    bool aliases = p->c->options->from_trace;
    for (int round = 0; round < 2; round++)
        for (node_id id = 0; id < p->from->n_nodes; id++) {
            const struct node *node = &p->from->nodes[id];
            if ((node->op == NODE_PLACEHOLDER) != (round == 0))
                continue;
            const struct arg *args = node_args(p->from, node);
            if (aliases && node->op == NODE_ALIAS && node->n_args && args[0].kind == ARG_NODE)
                map[id] = map[args[0].u.node];
            else
                map[id] = copy_node(p, id, root);
        }
}

static struct graph *copy_graph(struct text_copier *c, const struct graph *from, node_id *map_out,
                                bool root, unsigned depth);

static bool copy_children(struct text_copier *c, struct graph_builder *b, const struct graph *from,
                          unsigned depth)
{
    for (uint32_t i = 0; i < from->n_children; i++) {
        struct graph *child = copy_graph(c, from->children[i], NULL, false, depth + 1);
        if (!child)
            return false;
        build_child(b, child);
    }
    return true;
}

/* Makes a meta "Sym(s77)" for each symbol, for inputs that bind it. */
static void add_symbol_metas(struct text_copier *c, struct graph_builder *b)
{
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < c->options->n_symbols; i++) {
        buf_clear(&text);
        buf_printf(&text, "Sym(%.*s)", STR_ARG(c->options->symbols[i]));
        build_meta(b, buf_str(&text));
    }
    b->failed |= text.failed;
    buf_release(&text);
}

static struct graph *copy_graph(struct text_copier *c, const struct graph *from, node_id *map_out,
                                bool root, unsigned depth)
{
    struct graph_builder b;
    node_id *map = map_out ? map_out : calloc((size_t)from->n_nodes + 1, sizeof *map);
    struct arg_copier place = { c, &b, from, map };
    if (!map)
        return err_nomem(c->err), NULL;
    for (node_id id = 0; id < from->n_nodes; id++)
        map[id] = NODE_NONE;
    c->metas = c->options->metas ? c->options->metas + c->next_tree_node : NULL;
    c->next_tree_node += from->n_nodes;
    bool good = depth <= GRAPH_MAX_DEPTH;
    if (!good)
        err_set(c->err, ERR_INPUT, "subgraphs nest deeper than %d", GRAPH_MAX_DEPTH);
    if (!good || !graph_builder_init(&b, &c->tree, STR(""), c->err)) {
        if (!map_out)
            free(map);
        return NULL;
    }
    b.graph->name = copy_graph_text(c, &b, from->name);
    b.graph->returns_tuple = from->returns_tuple || root;
    copy_nodes(&place, map, root);
    /* The graph of a compile that failed has no return statement. */
    if (!from->n_nodes || from->nodes[from->n_nodes - 1].op != NODE_OUTPUT)
        build_node(&b,
                   (struct node){ .op = NODE_OUTPUT,
                                  .name = STR("output"),
                                  .meta = META_NONE,
                                  .location = LOCATION_NONE },
                   build_mark(&b));
    if (root)
        add_symbol_metas(c, &b);
    if (!map_out)
        free(map);
    if (!copy_children(c, &b, from, depth)) {
        graph_builder_abandon(&b);
        return NULL;
    }
    return graph_builder_finish(&b, c->err);
}

/* ---- Symbols of metas ---- */

struct text_index {
    struct cand_texts *texts;
    vec_of(uint32_t)
    occurrences;
    bool failed;
};

static bool is_reserved_name(struct str name)
{
    static const char *const names[] = { "int_oo", "-int_oo", "oo", "-oo", "zoo", "nan" };
    return STR_IS_ANY(name, names);
}

static uint64_t index_expr(struct text_index *in, expr_id id)
{
    const struct expr_pool *pool = &in->texts->graph->pool->exprs;
    const struct expr *expr = expr_at(pool, id);
    uint64_t hash = hash_mix((uint64_t)expr->kind + 1, expr->n_children);
    if (expr->kind == EXPR_SYMBOL && !is_reserved_name(expr->text)) {
        uint32_t symbol = intern(&in->texts->symbols, expr->text);
        in->failed |= symbol == INTERN_NONE || !vec_push(&in->occurrences, symbol);
        return hash;
    }
    hash = hash_mix(hash, hash_str(expr->text));
    if (expr->kind == EXPR_BOOL)
        hash = hash_mix(hash, (uint64_t)expr->value);
    for (uint32_t i = 0; i < expr->n_children; i++)
        hash = hash_mix(hash, index_expr(in, expr_child(pool, id, i)));
    return hash;
}

static void index_meta(struct text_index *in, uint32_t index)
{
    const struct meta *meta = &in->texts->graph->pool->metas[index];
    struct meta_info *info = &in->texts->infos[index];
    info->first = (uint32_t)in->occurrences.n;
    info->hash = hash_mix((uint64_t)meta->kind + 3, (uint64_t)meta->dtype);
    info->hash = hash_mix(info->hash, hash_str(meta->device));
    info->hash = hash_mix(info->hash, hash_str(meta->wrapper));
    info->hash = hash_mix(info->hash, (uint64_t)meta->n_sizes << 1 | meta->has_strides);
    if (meta->kind == META_OTHER)
        info->hash = hash_mix(info->hash, hash_str(meta->text));
    for (uint32_t i = 0; i < meta->n_sizes && meta->kind != META_OTHER; i++)
        info->hash = hash_mix(info->hash, index_expr(in, meta->sizes[i]));
    for (uint32_t i = 0; i < meta->n_sizes && meta->has_strides; i++)
        info->hash = hash_mix(info->hash, index_expr(in, meta->strides[i]));
    info->n = (uint32_t)in->occurrences.n - info->first;
}

/* Names inputs that bind a symbol after the symbol, unless a call has that name. */
static bool name_inputs(struct cand_texts *texts)
{
    size_t n = texts->symbols.texts.n;
    texts->input_names = arena_array(&texts->arena, struct str, n + 1);
    for (uint32_t i = 0; texts->input_names && i < n; i++)
        texts->input_names[i] = intern_text(&texts->symbols, i);
    for (node_id id = 0; texts->input_names && id < texts->graph->n_nodes; id++) {
        const struct node *node = &texts->graph->nodes[id];
        uint32_t symbol = texts_symbol(texts, node->name);
        struct buf text = BUF_INIT;
        if (symbol == INTERN_NONE || node->op == NODE_PLACEHOLDER)
            continue;
        buf_printf(&text, "%.*s_input", STR_ARG(node->name));
        texts->input_names[symbol] = arena_copy(&texts->arena, buf_str(&text));
        bool ok = !text.failed && texts->input_names[symbol].p;
        buf_release(&text);
        if (!ok)
            return false;
    }
    return texts->input_names;
}

static bool index_metas(struct cand_texts *texts)
{
    const struct graph_pool *pool = texts->graph->pool;
    struct text_index in = { .texts = texts };
    texts->infos = arena_array(&texts->arena, struct meta_info, (size_t)pool->n_metas + 1);
    for (uint32_t i = 0; texts->infos && i < pool->n_metas; i++)
        index_meta(&in, i);
    size_t n = in.occurrences.n, n_symbols = texts->symbols.texts.n;
    texts->occurrences = arena_array(&texts->arena, uint32_t, n + 1);
    texts->sym_metas = arena_array(&texts->arena, uint32_t, n_symbols + 1);
    bool ok = texts->infos && texts->occurrences && texts->sym_metas && !in.failed;
    if (ok && n)
        memcpy(texts->occurrences, in.occurrences.v, n * sizeof *texts->occurrences);
    for (size_t i = 0; ok && i < n_symbols; i++)
        texts->sym_metas[i] = META_NONE;
    for (uint32_t i = 0; ok && i < pool->n_metas; i++) {
        const struct meta *meta = &pool->metas[i];
        if (meta->kind == META_SYM && texts->infos[i].n == 1 &&
            expr_at(&pool->exprs, meta->sizes[0])->kind == EXPR_SYMBOL)
            texts->sym_metas[texts->occurrences[texts->infos[i].first]] = i;
    }
    vec_release(&in.occurrences);
    return ok;
}

/* ---- The whole ---- */

struct cand_texts *texts_new(const struct graph *from, const struct texts_options *options,
                             struct err *err)
{
    struct text_copier c = { .options = options, .err = err };
    struct cand_texts *texts = calloc(1, sizeof *texts);
    if (!texts)
        return err_nomem(err), NULL;
    atomic_init(&texts->refs, 1);
    texts->base = texts_hold(options->base);
    texts->engines = options->base ? engines_hold(options->base->engines) : engines_new(err);
    if (texts->engines && tree_builder_init(&c.tree, err)) {
        texts->graph = copy_graph(&c, from, options->map, true, 0);
        tree_builder_finish(&c.tree, texts->graph);
    }
    if (texts->graph && index_metas(texts) && name_inputs(texts))
        return texts;
    if (texts->graph)
        err_nomem(err);
    texts_release(texts);
    return NULL;
}

struct cand_texts *texts_hold(struct cand_texts *texts)
{
    if (texts)
        atomic_fetch_add(&texts->refs, 1);
    return texts;
}

void texts_release(struct cand_texts *texts)
{
    while (texts && atomic_fetch_sub(&texts->refs, 1) == 1) {
        struct cand_texts *base = texts->base;
        graph_free(texts->graph);
        engines_release(texts->engines);
        intern_release(&texts->symbols);
        arena_release(&texts->arena);
        free(texts);
        texts = base;
    }
}

uint32_t texts_symbol(const struct cand_texts *texts, struct str name)
{
    return intern_find(&texts->symbols, name);
}

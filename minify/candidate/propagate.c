#include "minify/candidate/propagate.h"

#include <stdlib.h>

#include "minify/candidate/candidate_source.h"
#include "minify/candidate/engines.h"
#include "minify/candidate/made_symbols.h"

struct propagator {
    const struct reshaped *in;
    struct reshaped renamed; /* *in with other names of symbols that calls make */
    const struct cand_data *from;
    struct graph_replay *single;
    struct graph_replay_input graph;
    struct graph_replay_symbol *symbols;
    struct graph_replay_guard *guards;
    struct str *names;
    struct str *metas; /* by node of the tree */
    bool *stays;       /* by node of the tree: its meta is the recorded one */
    uint32_t n_tree;
    struct cand_texts *texts;
    struct arena arena;
};

static uint32_t tree_nodes(const struct graph *graph)
{
    uint32_t ret = graph->n_nodes;
    for (uint32_t i = 0; i < graph->n_children; i++)
        ret += tree_nodes(graph->children[i]);
    return ret;
}

/* ---- Texts with the metas known so far ---- */

static bool rebuild_metas(struct propagator *p, struct err *why)
{
    struct texts_options how = { .metas = p->metas,
                                 .keep_args = true,
                                 .base = p->from->texts,
                                 .symbols = p->names,
                                 .n_symbols = p->in->n_symbols };
    struct cand_texts *texts = texts_new(p->texts ? p->texts->graph : p->in->graph, &how, why);
    if (!texts)
        return false;
    texts_release(p->texts);
    p->texts = texts;
    p->graph.graph = texts->graph;
    return true;
}

/* ---- Results of a walk ---- */

static bool print_value_text(struct propagator *p, struct value value, struct str *ret)
{
    struct buf text = BUF_INIT;
    print_value_then(p->single->ops, value, &text);
    *ret = arena_copy(&p->arena, buf_str(&text));
    bool ok = !text.failed && ret->p;
    buf_release(&text);
    return ok;
}

/* Returns whether a node's meta is printed. A symbol that became a number stays a number over
 * symbols in the text, "Sym(8)", so that the node can still be an input. */
static bool is_meta_printed(const struct propagator *p, const struct program *program, node_id id,
                            struct value value)
{
    const struct graph *before = p->in->graph;
    const struct meta *meta =
        program == program->root ? node_meta(before, &before->nodes[id]) : NULL;
    if (!value_is_number(value))
        return value.kind == VALUE_TENSOR;
    return !sym_is_number(ops_pool(p->single->ops), value.u.sym) ||
           (meta && meta->kind == META_SYM);
}

static bool is_data_dependent(const struct program *program, node_id id)
{
    struct str why = program_why(program, id);
    return program->notes[id].outcome == OUTCOME_REFUSED &&
           (str_starts(why, STR("GuardOnDataDependentSymNode")) ||
            str_starts(why, STR("DataDependent")) || str_find(why, STR("does not exist")) < why.n);
}

/* Returns whether the result of a call was never recorded, because it is the call that failed: it
 * may still fail. */
static bool is_failing(const struct propagator *p, const struct program *program, node_id id)
{
    const struct graph *before = p->in->graph;
    if (program != program->root || before->nodes[id].meta != META_NONE)
        return false;
    for (uint32_t i = 0; i < before->n_args; i++)
        if (before->args[i].kind == ARG_NODE && before->args[i].u.node == id)
            return false;
    return true;
}

/* Returns whether a call that the engine does not support keeps its result. */
static bool is_kept(const struct propagator *p, const struct program *program, node_id id)
{
    return program->notes[id].outcome == OUTCOME_UNSUPPORTED && program == program->root &&
           p->in->results && p->in->results[id].n;
}

/* Takes the result of a call that succeeded with integers. */
static bool take_node_result(struct propagator *p, const struct program *program, node_id id,
                             bool concrete, struct err *why)
{
    const struct node *node = &program->graph->nodes[id];
    const struct outcome_note *note = &program->notes[id];
    struct value value = program->first[id];
    struct str *meta = &p->metas[program->first_node + id];
    if ((!node_is_call(node) && node->op != NODE_GET_ATTR) || p->stays[program->first_node + id] ||
        is_kept(p, program, id))
        return true;
    bool bad = note->outcome == OUTCOME_REFUSED || note->outcome == OUTCOME_UNSUPPORTED;
    if (bad && (env_short_of_memory(p->single->env) || ops_short_of_memory(p->single->ops)))
        return err_nomem(why);
    if ((concrete || p->in->made) && bad && !is_data_dependent(program, id) &&
        !is_failing(p, program, id))
        return err_set(why, ERR_USAGE, "%.*s: %.*s", STR_ARG(node->name),
                       STR_ARG(program_why(program, id)));
    if (bad || note->outcome == OUTCOME_MISMATCH || !is_meta_printed(p, program, id, value))
        return true; /* unchanged: none after the first round, the integers' after the second */
    return print_value_text(p, value, meta) || err_nomem(why);
}

static bool take_reshaped(struct propagator *p, const struct program *program, bool concrete,
                          struct err *why)
{
    for (node_id id = 0; id < program->n_steps; id++)
        if (!take_node_result(p, program, id, concrete, why))
            return false;
    for (uint32_t i = 0; i < program->n_children; i++)
        if (program->children[i]->walked && !take_reshaped(p, program->children[i], concrete, why))
            return false;
    return true;
}

static bool walk_calls(struct propagator *p, bool concrete, struct err *why)
{
    p->graph.concrete = concrete;
    p->graph.by_hint = true;
    if (!graph_replay_walk(p->single, &p->graph, why))
        return false;
    graph_replay_finish(p->single);
    return take_reshaped(p, p->single->program, concrete, why);
}

/* ---- The whole ---- */

/* Returns whether the meta of a call stays. */
static bool is_settled(const struct reshaped *in, node_id id, bool root)
{
    if (in->made)
        return !root || !in->made[id];
    return in->affected && root && !in->affected[id];
}

static void forget_calls(struct propagator *p, const struct graph *graph, uint32_t *at, bool root)
{
    for (node_id id = 0; id < graph->n_nodes; id++, (*at)++) {
        const struct node *node = &graph->nodes[id];
        if (root && node->op == NODE_PLACEHOLDER)
            p->metas[*at] = p->in->inputs ? p->in->inputs[id] : (struct str){ NULL, 0 };
        else if (is_settled(p->in, id, root))
            p->stays[*at] = true;
        else if (node->op != NODE_GET_ATTR)
            p->metas[*at] =
                root && p->in->results && p->in->results[id].p ? p->in->results[id] : STR("");
    }
    for (uint32_t i = 0; i < graph->n_children; i++)
        forget_calls(p, graph->children[i], at, false);
}

static bool prepare_propagation(struct propagator *p, struct err *why)
{
    const struct reshaped *in = p->in;
    uint32_t at = 0;
    p->n_tree = tree_nodes(in->graph);
    p->metas = arena_array(&p->arena, struct str, (size_t)p->n_tree + 1);
    p->stays = arena_array(&p->arena, bool, (size_t)p->n_tree + 1);
    p->names = arena_array(&p->arena, struct str, (size_t)in->n_symbols + 1);
    p->symbols = arena_array(&p->arena, struct graph_replay_symbol, (size_t)in->n_symbols + 1);
    p->guards = arena_array(&p->arena, struct graph_replay_guard, (size_t)in->n_guards + 1);
    if (!p->metas || !p->stays || !p->names || !p->symbols || !p->guards)
        return err_nomem(why);
    for (uint32_t i = 0; i < in->n_symbols; i++)
        p->names[i] = in->symbols[i].name;
    struct candidate like = *in->whole;
    like.symbols = in->symbols;
    like.n_symbols = in->n_symbols;
    like.guards = in->guards;
    like.n_guards = in->n_guards;
    engines_graph(&like, p->symbols, p->guards, &p->graph);
    forget_calls(p, in->graph, &at, true);
    p->single = engines_take(p->from->texts->engines, why);
    return p->single != NULL;
}

/* ---- Names of symbols that calls make ---- */

static bool rename_guard(struct sym_pool *pool, struct arena *arena, const struct sym_pair *pairs,
                         uint32_t n, struct cand_guard *guard)
{
    struct buf text = BUF_INIT;
    sym_id e = sym_parse(pool, guard->expr, NULL, NULL);
    sym_id now = e == SYM_NONE ? SYM_NONE : sym_replace(pool, e, pairs, n);
    if (now == SYM_NONE || now == e)
        return true;
    sym_print(pool, now, &text);
    guard->expr = arena_copy(arena, buf_str(&text));
    bool ok = !text.failed && guard->expr.p;
    buf_release(&text);
    return ok;
}

static bool copy_names(struct propagator *p, const struct made_symbol *made, uint32_t n)
{
    const struct reshaped *in = p->in;
    struct cand_symbol *symbols = arena_array(&p->arena, struct cand_symbol, in->n_symbols + 1u);
    struct cand_guard *guards = arena_array(&p->arena, struct cand_guard, in->n_guards + 1u);
    struct sym_pair *pairs = arena_array(&p->arena, struct sym_pair, n + 1u);
    struct sym_pool *pool = ops_pool(p->single->ops);
    bool ok = symbols && guards && pairs;
    for (uint32_t k = 0; ok && k < n; k++)
        pairs[k] = (struct sym_pair){ sym_parse(pool, made[k].before, NULL, NULL),
                                      sym_parse(pool, made[k].now, NULL, NULL) };
    for (uint32_t i = 0; ok && i < in->n_symbols; i++) {
        symbols[i] = in->symbols[i];
        for (uint32_t k = 0; k < n; k++)
            if (str_eq(symbols[i].name, made[k].before))
                p->names[i] = symbols[i].name = made[k].now;
    }
    for (uint32_t i = 0; ok && i < in->n_guards; i++) {
        guards[i] = in->guards[i];
        ok = rename_guard(pool, &p->arena, pairs, n, &guards[i]);
    }
    p->renamed = *in;
    p->renamed.symbols = symbols;
    p->renamed.guards = guards;
    p->in = &p->renamed;
    return ok;
}

/* A call that is walked again may give a symbol that it makes another name. */
static bool rename_made(struct propagator *p, struct err *why)
{
    struct made_symbol *made;
    uint32_t n;
    if (p->in->n_guards == 0)
        return true;
    if (!made_symbols_find(p->in->graph, p->from->texts, p->texts, &p->arena, &made, &n))
        return err_nomem(why);
    for (uint32_t k = 0; k < n; k++) { /* the texts are replaced */
        made[k].now = arena_copy(&p->arena, made[k].now);
        if (!made[k].now.p)
            return err_nomem(why);
    }
    return n == 0 || ((copy_names(p, made, n) || err_nomem(why)) && rebuild_metas(p, why));
}

/* ---- The result ---- */

/* Returns all symbols, including unbacked ones that the walk created and no record named. */
static struct cand_symbol *all_symbols(struct propagator *p, uint32_t *n)
{
    const struct intern *names = &p->texts->symbols;
    struct cand_symbol *ret =
        arena_array(&p->arena, struct cand_symbol, p->in->n_symbols + names->texts.n + 1);
    *n = p->in->n_symbols;
    for (uint32_t i = 0; ret && i < *n; i++)
        ret[i] = p->in->symbols[i];
    for (uint32_t id = 0; ret && id < names->texts.n; id++) {
        bool known = false;
        for (uint32_t i = 0; i < p->in->n_symbols && !known; i++)
            known = str_eq(ret[i].name, intern_text(names, id));
        if (!known)
            ret[(*n)++] = default_symbol(intern_text(names, id));
    }
    return ret;
}

static struct candidate *finish_propagation(struct propagator *p, struct err *why)
{
    uint32_t n_symbols;
    struct cand_symbol *symbols = all_symbols(p, &n_symbols);
    struct cand_data *data = data_new(p->texts);
    uint32_t n = p->texts->graph->n_nodes;
    if (data && symbols) {
        data->graph = *p->texts->graph;
        data->writes = p->from->writes;
        data->storages = arena_array(&data->arena, uint32_t, (size_t)n + 1);
    }
    if (!data || !data->storages || !data_begin_gradients(data, n, p->from->gradients)) {
        candidate_free(data ? &data->candidate : NULL);
        return err_nomem(why), NULL;
    }
    for (node_id id = 0; id < n; id++)
        data->storages[id] = graph_replay_storage(p->single, id);
    for (node_id id = 0; data->gradients && id < n; id++)
        data->gradients[id] = candidate_requires_grad(p->in->whole, id);
    data_spread_gradients(data);
    return data_finish(data, p->in->whole, symbols, n_symbols, p->in->guards, p->in->n_guards, why);
}

/* Forgets the recorded metas that no longer hold behind the first new node, such as strides.
 * Returns whether there were any. */
static bool forget_wrong(struct propagator *p)
{
    const struct program *program = p->single->program;
    bool behind = false, found = false;
    for (node_id id = 0; id < program->n_steps && id < p->in->graph->n_nodes; id++) {
        uint32_t at = program->first_node + id;
        behind |= p->in->made[id];
        if (!behind || !p->stays[at] || program->notes[id].outcome != OUTCOME_MISMATCH)
            continue;
        p->stays[at] = false;
        p->metas[at] = STR("");
        found = true;
    }
    return found;
}

/* The metas of new nodes, among recorded ones. */
static bool walk_made(struct propagator *p, struct err *why)
{
    enum { ROUNDS = 8 }; /* a wrong meta hides those behind it */
    if (!walk_calls(p, false, why))
        return false;
    for (int round = 0; round < ROUNDS && forget_wrong(p); round++)
        if (!rebuild_metas(p, why) || !walk_calls(p, false, why))
            return false;
    return true;
}

static bool walk_all(struct propagator *p, struct err *why)
{
    return p->in->made
               ? walk_made(p, why)
               : walk_calls(p, true, why) && rebuild_metas(p, why) && walk_calls(p, false, why);
}

struct candidate *propagate(const struct reshaped *reshaped, struct err *why)
{
    struct propagator p = { .in = reshaped, .from = data_of(reshaped->whole) };
    struct candidate *ret = NULL;
    if (prepare_propagation(&p, why) && rebuild_metas(&p, why) && walk_all(&p, why) &&
        rebuild_metas(&p, why) && rename_made(&p, why))
        ret = finish_propagation(&p, why);
    engines_give(p.from->texts->engines, p.single);
    texts_release(p.texts);
    arena_release(&p.arena);
    return ret;
}

/* Copies the nodes that stay, and binds each symbol. */
#include <stdlib.h>

#include "minify/edit/apply.h"

struct graph_closer {
    struct edit_plan *plan;
    const struct cand_data *from;
    const struct cand_texts *texts;
    struct cand_data *data;
    struct graph *graph; /* owned by `data` */
    uint8_t *symbol;     /* by symbol number: enum need */
    bool *meta_seen;
    uint32_t n_bound; /* inputs that were added */
    bool failed;
};

enum need { NEED_SHOWN = 1, NEED_INPUT = 2, NEED_BOUND = 4, NEED_MADE = 8, NEED_GUARD = 16 };

/* ---- Symbols ---- */

static void need_meta(struct graph_closer *c, uint32_t meta, enum need how)
{
    const struct meta_info *info = meta_info(c->texts, meta);
    for (uint32_t i = 0; i < info->n; i++)
        c->symbol[c->texts->occurrences[info->first + i]] |= (uint8_t)how;
}

/* Marks the symbol of an input's size as bound if nothing else binds it. */
static void bind_meta(struct graph_closer *c, uint32_t index)
{
    const struct graph_pool *pool = c->graph->pool;
    const struct meta *meta = &pool->metas[index];
    for (uint32_t i = 0; i < meta->n_sizes && meta->kind != META_OTHER; i++) {
        const struct expr *expr = expr_at(&pool->exprs, meta->sizes[i]);
        uint32_t id = expr->kind == EXPR_SYMBOL ? texts_symbol(c->texts, expr->text) : UINT32_MAX;
        if (id != UINT32_MAX)
            c->symbol[id] |= NEED_BOUND;
    }
}

static void need_guard(void *user, uint32_t symbol)
{
    struct graph_closer *c = user;
    if (symbol != UINT32_MAX)
        c->symbol[symbol] |= NEED_GUARD;
}

static void collect_meta_symbols(struct graph_closer *c)
{
    const struct edit_plan *plan = c->plan;
    for (node_id id = 0; id < plan->graph->n_nodes; id++) {
        const struct node *node = &plan->graph->nodes[id];
        if (plan->status[id] == STATUS_GO || node->meta == META_NONE)
            continue;
        bool input = node->op == NODE_PLACEHOLDER || plan->status[id] == STATUS_INPUT;
        if (input) {
            need_meta(c, node->meta, NEED_SHOWN | NEED_INPUT);
            bind_meta(c, node->meta);
        } else if (!c->meta_seen[node->meta]) {
            need_meta(c, node->meta, NEED_SHOWN | NEED_MADE);
            c->meta_seen[node->meta] = true;
        }
    }
}

static void collect_guard_symbols(struct graph_closer *c)
{
    const struct edit_plan *plan = c->plan;
    for (uint32_t i = 0; i < plan->whole->n_guards; i++)
        if (!plan->drop_guard[i])
            guard_expr_symbols(c->texts, plan->guards[i].expr, need_guard, c);
}

/* ---- Guards about what calls made ---- */

/* Which unbacked symbols calls made before the edits, and none does now. */
struct lost_symbols {
    const struct graph_closer *c;
    bool *made, *given; /* by symbol number, before the edits: a call has it, an input has it */
    bool any;           /* a guard is about one of them */
};

static void note_lost(void *user, uint32_t symbol)
{
    struct lost_symbols *s = user;
    if (symbol == UINT32_MAX || !s->made[symbol] || s->given[symbol])
        return;
    uint8_t need = s->c->symbol[symbol];
    s->any |= is_unbacked_name(intern_text(&s->c->texts->symbols, symbol)) &&
              (need & NEED_INPUT || !(need & NEED_MADE));
}

static void note_meta_symbols(const struct graph_closer *c, uint32_t meta, bool *seen)
{
    const struct meta_info *info = meta_info(c->texts, meta);
    for (uint32_t i = 0; i < info->n; i++)
        seen[c->texts->occurrences[info->first + i]] = true;
}

/* A guard about an unbacked symbol goes with the call that makes the symbol: about an input, it
 * would say another thing. */
static void drop_lost_guards(struct graph_closer *c)
{
    struct edit_plan *plan = c->plan;
    size_t n = c->texts->symbols.texts.n + 1;
    struct lost_symbols s = { c, arena_array(&plan->arena, bool, n),
                              arena_array(&plan->arena, bool, n), false };
    if (!s.made || !s.given) {
        c->failed = true;
        return;
    }
    for (node_id id = 0; id < plan->graph->n_nodes; id++) {
        const struct node *node = &plan->graph->nodes[id];
        if (node->meta != META_NONE)
            note_meta_symbols(c, node->meta, node->op == NODE_PLACEHOLDER ? s.given : s.made);
    }
    for (uint32_t i = 0; i < plan->whole->n_guards; i++) {
        s.any = false;
        if (!plan->drop_guard[i])
            guard_expr_symbols(c->texts, plan->guards[i].expr, note_lost, &s);
        plan->drop_guard[i] |= s.any;
    }
}

/* Returns whether a symbol needs an input of its own: one that nothing binds; an unbacked symbol
 * only if no call can create it. */
static bool wants_input(const struct graph_closer *c, uint32_t symbol)
{
    uint8_t need = c->symbol[symbol];
    if (need == 0 || need & NEED_BOUND)
        return false;
    struct str name = intern_text(&c->texts->symbols, symbol);
    if (!is_unbacked_name(name)) /* a float may be the item of a tensor */
        return !(str_starts(name, STR("z")) && need & NEED_MADE);
    return need & NEED_INPUT || !(need & NEED_MADE);
}

/* ---- Copying ---- */

static uint32_t copy_closed_args(struct graph_closer *c, uint32_t first, uint32_t n)
{
    const struct graph *g = c->plan->graph;
    uint32_t at = c->graph->n_args;
    c->graph->n_args += n;
    for (uint32_t i = 0; i < n; i++) {
        struct arg arg = g->args[first + i];
        switch (arg.kind) {
        case ARG_NODE: arg.u.node = c->plan->new_id[plan_resolve(c->plan, arg.u.node)]; break;
        case ARG_LIST:
        case ARG_TUPLE:
        case ARG_DICT:
        case ARG_SLICE:
        case ARG_CALL:
            arg.u.items.first = copy_closed_args(c, arg.u.items.first, arg.u.items.n);
            break;
        default: break;
        }
        c->graph->args[at + i] = arg;
    }
    return at;
}

static void append_closed_node(struct graph_closer *c, node_id old, struct node node,
                               uint32_t storage)
{
    node_id id = c->graph->n_nodes++;
    c->graph->nodes[id] = node;
    c->data->storages[id] = storage;
    if (old != NODE_NONE)
        c->plan->new_id[old] = id;
}

/* Returns whether an input is a number that no call uses. */
static bool is_spare_number(const struct graph_closer *c, const struct node *node, node_id id)
{
    const struct meta *meta = node_meta(c->plan->graph, node);
    return meta && meta->kind == META_SYM && c->plan->uses_now[id] == 0;
}

static uint32_t bare_symbol(const struct graph_closer *c, uint32_t meta)
{
    const struct meta_info *info = meta_info(c->texts, meta);
    uint32_t symbol = info->n == 1 ? c->texts->occurrences[info->first] : UINT32_MAX;
    return symbol != UINT32_MAX && c->texts->sym_metas[symbol] == meta ? symbol : UINT32_MAX;
}

/* Leaves out inputs of one number whose symbol something else binds, or that nothing needs. They
 * are examined last. */
static void drop_spare_numbers(struct graph_closer *c)
{
    struct edit_plan *plan = c->plan;
    bool *spare = arena_array(&plan->arena, bool, (size_t)plan->graph->n_nodes + 1);
    if (!spare) {
        c->failed = true;
        return;
    }
    for (node_id id = 0; id < plan->graph->n_nodes; id++) {
        const struct node *node = &plan->graph->nodes[id];
        spare[id] = node->op == NODE_PLACEHOLDER && plan->status[id] == STATUS_STAY &&
                    is_spare_number(c, node, id);
        if (spare[id])
            plan->status[id] = STATUS_GO;
    }
    collect_meta_symbols(c);
    if (plan->whole->n_guards)
        drop_lost_guards(c);
    collect_guard_symbols(c);
    for (node_id id = 0; id < plan->graph->n_nodes; id++) {
        if (!spare[id])
            continue;
        uint32_t symbol = bare_symbol(c, plan->graph->nodes[id].meta);
        if (symbol == UINT32_MAX || !wants_input(c, symbol))
            continue;
        plan->status[id] = STATUS_STAY;
        c->symbol[symbol] |= NEED_BOUND;
    }
}

static void copy_inputs(struct graph_closer *c)
{
    const struct edit_plan *plan = c->plan;
    for (int round = 0; round < 2; round++)
        for (node_id id = 0; id < plan->graph->n_nodes; id++) {
            struct node node = plan->graph->nodes[id];
            bool was = node.op == NODE_PLACEHOLDER;
            if (plan->status[id] != (was ? STATUS_STAY : STATUS_INPUT) || was != (round == 0))
                continue;
            if (!was)
                node.target = node.name;
            node.op = NODE_PLACEHOLDER;
            node.form = FORM_PLAIN;
            node.n_args = 0;
            append_closed_node(c, id, node, c->from->storages[id]);
            if (c->data->gradients)
                c->data->gradients[plan->new_id[id]] =
                    c->from->gradients[id] && !plan->drop_gradient[id];
        }
}

static void add_symbol_inputs(struct graph_closer *c)
{
    for (uint32_t i = 0; i < c->from->candidate.n_symbols; i++) {
        uint32_t symbol = c->from->symbol_ids[i];
        if (symbol == UINT32_MAX || !wants_input(c, symbol))
            continue;
        struct str name = c->texts->input_names[symbol];
        struct node node = { .op = NODE_PLACEHOLDER,
                             .name = name,
                             .target = name,
                             .meta = c->texts->sym_metas[symbol],
                             .location = LOCATION_NONE };
        c->symbol[symbol] |= NEED_BOUND;
        append_closed_node(c, NODE_NONE, node, UINT32_MAX);
    }
}

static void copy_calls(struct graph_closer *c)
{
    const struct edit_plan *plan = c->plan;
    for (node_id id = 0; id + 1 < plan->graph->n_nodes; id++) {
        struct node node = plan->graph->nodes[id];
        if (node.op == NODE_PLACEHOLDER || plan->status[id] != STATUS_STAY)
            continue;
        node.first_arg = copy_closed_args(c, node.first_arg, node.n_args);
        append_closed_node(c, id, node, c->from->storages[id]);
    }
}

static void add_output(struct graph_closer *c)
{
    const struct edit_plan *plan = c->plan;
    struct node node = plan->graph->nodes[plan->graph->n_nodes - 1];
    node.first_arg = c->graph->n_args;
    node.n_args = 0;
    /* Sorts outputs by their place in the graph, whatever the order in which they were added. */
    for (node_id id = 0; id + 1 < plan->graph->n_nodes; id++)
        if (plan->output[id])
            c->graph->args[node.first_arg + node.n_args++] =
                (struct arg){ .kind = ARG_NODE, .u.node = plan->new_id[id] };
    c->graph->n_args += node.n_args;
    append_closed_node(c, plan->graph->n_nodes - 1, node, UINT32_MAX);
}

static bool is_referred(const struct graph *graph, struct str child)
{
    for (uint32_t i = 0; i < graph->n_nodes; i++)
        if (graph->nodes[i].op == NODE_GET_ATTR && str_eq(graph->nodes[i].target, child))
            return true;
    for (uint32_t i = 0; i < graph->n_args; i++)
        if (graph->args[i].kind == ARG_GRAPH && str_eq(graph->args[i].text, child))
            return true;
    return false;
}

/* ---- Symbols and guards that stay ---- */

static uint32_t copy_used_symbols(struct graph_closer *c, struct cand_symbol *symbols)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->from->candidate.n_symbols; i++) {
        uint32_t id = c->from->symbol_ids[i];
        if (id != UINT32_MAX && c->symbol[id])
            symbols[n++] = c->plan->symbols[i];
    }
    return n;
}

static uint32_t copy_kept_guards(struct graph_closer *c, struct cand_guard *guards)
{
    const struct edit_plan *plan = c->plan;
    uint32_t n = 0;
    for (uint32_t i = 0; i < plan->whole->n_guards; i++) {
        if (plan->drop_guard[i])
            continue;
        struct cand_guard guard = plan->guards[i];
        uint32_t node = guard.node;
        while (node + 1 < plan->graph->n_nodes && (plan->status[node] != STATUS_STAY ||
                                                   plan->graph->nodes[node].op == NODE_PLACEHOLDER))
            node++;
        guard.node = guard.node == 0 ? 0 : plan->new_id[node];
        guards[n++] = guard;
    }
    return n;
}

/* ---- Shared memory ---- */

static bool is_start(const struct graph_closer *c, node_id id);

struct storage_query {
    const struct graph_closer *c;
    uint32_t storage;
    bool found;
};

static void note_sharing(void *user, node_id id)
{
    struct storage_query *s = user;
    s->found |= s->c->data->storages[id] == s->storage;
}

/* Returns whether no earlier node shares its memory, so that the node creates the memory. */
static bool is_start(const struct graph_closer *c, node_id id)
{
    struct storage_query s = { c, c->data->storages[id], false };
    node_references(c->graph, &c->graph->nodes[id], note_sharing, &s);
    return !s.found;
}

/* Data about each storage, by its number, for numbered storages. */
struct storage_map {
    uint32_t n;
    bool *written;
    uint32_t *starts;
};

static bool is_numbered(const struct storage_map *m, uint32_t storage)
{
    return storage < m->n;
}

static bool map_storages(const struct graph_closer *c, struct storage_map *m)
{
    m->n = 0;
    for (node_id id = 0; id < c->plan->graph->n_nodes; id++)
        if (c->from->storages[id] != UINT32_MAX && c->from->storages[id] >= m->n)
            m->n = c->from->storages[id] + 1;
    m->written = arena_array(&c->plan->arena, bool, (size_t)m->n + 1);
    m->starts = arena_array(&c->plan->arena, uint32_t, (size_t)m->n + 1);
    if (!m->written || !m->starts)
        return false;
    for (node_id id = 0; id < c->graph->n_nodes; id++) {
        const struct node *node = &c->graph->nodes[id];
        const struct arg *arg = node_args(c->graph, node);
        if (node_is_call(node) && node->n_args && arg->kind == ARG_NODE &&
            is_numbered(m, c->data->storages[arg->u.node]) && node_writes(c->graph, node))
            m->written[c->data->storages[arg->u.node]] = true;
    }
    for (node_id id = 0; id < c->graph->n_nodes; id++)
        if (is_numbered(m, c->data->storages[id]) && m->written[c->data->storages[id]])
            m->starts[c->data->storages[id]] += is_start(c, id);
    return true;
}

static bool touches_written(const struct storage_map *m, uint32_t storage)
{
    return is_numbered(m, storage) && m->written[storage];
}

/* Returns whether the edits change memory that a call writes to: they must not split shared memory
 * or replace the value that is written to. */
static bool splits_memory(struct graph_closer *c)
{
    const struct edit_plan *plan = c->plan;
    struct storage_map m;
    if (!c->from->writes)
        return false;
    if (!map_storages(c, &m)) {
        c->failed = true;
        return false;
    }
    for (uint32_t i = 0; i < m.n; i++)
        if (m.starts[i] > 1)
            return true;
    for (node_id id = 0; plan->bypasses && id < plan->graph->n_nodes; id++)
        if (plan->stand_in[id] != NODE_NONE &&
            (touches_written(&m, c->from->storages[id]) ||
             touches_written(&m, c->from->storages[plan->stand_in[id]])))
            return true;
    return false;
}

/* ---- The whole ---- */

static bool alloc_closed_graph(struct graph_closer *c)
{
    const struct graph *g = c->plan->graph;
    struct arena *arena = &c->data->arena;
    size_t extra = c->from->candidate.n_symbols;
    c->graph = &c->data->graph;
    *c->graph = *g;
    c->graph->n_nodes = c->graph->n_args = 0;
    c->graph->deleted = NULL;
    c->graph->n_deleted = 0;
    c->graph->nodes = arena_array(arena, struct node, g->n_nodes + extra + 1);
    c->graph->args = arena_array(arena, struct arg, (size_t)g->n_args + c->plan->n_outputs + 1);
    c->graph->children = arena_array(arena, struct graph *, (size_t)g->n_children + 1);
    c->data->storages = arena_array(arena, uint32_t, g->n_nodes + extra + 1);
    c->symbol = arena_array(&c->plan->arena, uint8_t, c->texts->symbols.texts.n + 1);
    c->meta_seen = arena_array(&c->plan->arena, bool, (size_t)g->pool->n_metas + 1);
    return c->graph->nodes && c->graph->args && c->graph->children && c->data->storages &&
           c->symbol && c->meta_seen &&
           data_begin_gradients(c->data, (uint32_t)(g->n_nodes + extra), c->from->gradients);
}

static struct candidate *finish_applied(struct graph_closer *c, struct err *why)
{
    const struct candidate *whole = c->plan->whole;
    struct arena *arena = &c->plan->arena;
    struct cand_symbol *symbols = arena_array(arena, struct cand_symbol, whole->n_symbols + 1u);
    struct cand_guard *guards = arena_array(arena, struct cand_guard, whole->n_guards + 1u);
    if (!symbols || !guards || c->failed) {
        candidate_free(&c->data->candidate);
        return err_nomem(why), NULL;
    }
    uint32_t n_symbols = copy_used_symbols(c, symbols), n_guards = copy_kept_guards(c, guards);
    return data_finish(c->data, whole, symbols, n_symbols, guards, n_guards, why);
}

struct candidate *plan_close(struct edit_plan *plan, struct err *why)
{
    const struct cand_data *from = data_of(plan->whole);
    struct graph_closer c = { .plan = plan, .from = from, .texts = from->texts };
    c.data = data_new(from->texts);
    if (c.data)
        c.data->writes = from->writes;
    if (!c.data || !alloc_closed_graph(&c)) {
        candidate_free(c.data ? &c.data->candidate : NULL);
        return err_nomem(why), NULL;
    }
    drop_spare_numbers(&c);
    copy_inputs(&c);
    add_symbol_inputs(&c);
    copy_calls(&c);
    add_output(&c);
    data_spread_gradients(c.data);
    c.graph->n_children = 0;
    for (uint32_t i = 0; i < plan->graph->n_children; i++)
        if (is_referred(c.graph, plan->graph->children[i]->name))
            c.graph->children[c.graph->n_children++] = plan->graph->children[i];
    if (!c.failed && splits_memory(&c)) {
        err_set(why, ERR_USAGE, "memory that a call writes to would be another");
        candidate_free(&c.data->candidate);
        return NULL;
    }
    return finish_applied(&c, why);
}

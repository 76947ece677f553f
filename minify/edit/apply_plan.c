/* Decides which nodes stay. */
#include "minify/edit/apply.h"

/* ---- Properties of the whole ---- */

static const struct node *graph_output(const struct graph *graph)
{
    return &graph->nodes[graph->n_nodes - 1];
}

static void count_uses(struct edit_plan *plan)
{
    /* Each argument of the list belongs to one node, as apply_close.c guarantees. */
    for (uint32_t i = 0; i < plan->graph->n_args; i++)
        if (plan->graph->args[i].kind == ARG_NODE)
            plan->uses[plan->graph->args[i].u.node]++;
    for (node_id id = 0; id < plan->graph->n_nodes; id++)
        plan->stays_dead[id] = plan->uses[id] == 0;
}

static bool alloc_plan(struct edit_plan *plan)
{
    size_t n = (size_t)plan->graph->n_nodes + 1;
    struct arena *arena = &plan->arena;
    plan->status = arena_array(arena, uint8_t, n);
    plan->promote = arena_array(arena, bool, n);
    plan->stays_dead = arena_array(arena, bool, n);
    plan->stand_in = arena_array(arena, node_id, n);
    plan->uses = arena_array(arena, uint32_t, n);
    plan->uses_now = arena_array(arena, uint32_t, n);
    plan->output = arena_array(arena, bool, n);
    plan->new_id = arena_array(arena, node_id, n);
    plan->affected = arena_array(arena, bool, n);
    plan->drop_gradient = arena_array(arena, bool, n);
    plan->drop_output = arena_array(arena, bool, (size_t)graph_output(plan->graph)->n_args + 1);
    plan->drop_guard = arena_array(arena, bool, (size_t)plan->whole->n_guards + 1);
    if (!plan->status || !plan->promote || !plan->stays_dead || !plan->stand_in || !plan->uses ||
        !plan->uses_now || !plan->output || !plan->new_id || !plan->affected ||
        !plan->drop_output || !plan->drop_guard || !plan->drop_gradient)
        return false;
    memset(plan->stand_in, 0xFF, n * sizeof *plan->stand_in);
    return true;
}

/* ---- Edits ---- */

static void mark_promoted(void *user, node_id id)
{
    struct edit_plan *plan = user;
    plan->promote[id] = true;
}

static bool set_status(struct edit_plan *plan, node_id id, enum node_status status, struct err *why)
{
    if (plan->status[id] != STATUS_STAY && plan->status[id] != status)
        return edit_invalid(why, "two edits of one node");
    plan->status[id] = (uint8_t)status;
    return true;
}

/* Replaces a call by inputs; for one with several results, each getitem of it becomes an input. */
static bool cut_results(struct edit_plan *plan, node_id id, struct err *why)
{
    const struct graph *g = plan->graph;
    uint32_t found = 0;
    for (node_id k = id + 1; k < g->n_nodes; k++) {
        const struct node *node = &g->nodes[k];
        if (!node_is_getitem(g, node) || g->args[node->first_arg].u.node != id ||
            plan->status[k] == STATUS_GO)
            continue;
        if (!node_is_value(g, node) || !set_status(plan, k, STATUS_INPUT, why))
            return edit_invalid(why, "a part of it is not a tensor");
        found += 1;
    }
    return (found == plan->uses[id] && set_status(plan, id, STATUS_GO, why)) ||
           edit_invalid(why, "it cannot be an input");
}

static bool plan_cut(struct edit_plan *plan, const struct edit *edit, struct err *why)
{
    const struct node *node = &plan->graph->nodes[edit->a];
    if (!node_is_call(node) && node->op != NODE_GET_ATTR)
        return edit_invalid(why, "only calls can be cut");
    if (edit->b)
        node_references(plan->graph, node, mark_promoted, plan);
    if (!node_is_value(plan->graph, node))
        return cut_results(plan, edit->a, why);
    return set_status(plan, edit->a, STATUS_INPUT, why);
}

static bool bypass(struct edit_plan *plan, const struct edit *edit, struct err *why)
{
    const struct graph *g = plan->graph;
    if (edit->b >= edit->a || !node_is_call(&g->nodes[edit->a]) ||
        !node_is_value(g, &g->nodes[edit->b]))
        return edit_invalid(why, "nothing before it can stand for it");
    bool differ = g->nodes[edit->a].meta != g->nodes[edit->b].meta;
    if (differ && edit->kind == EDIT_BYPASS)
        return edit_invalid(why, "their metas differ");
    /* An operator of PyTorch that takes a tensor takes no size in its place. */
    if (!node_is_value(g, &g->nodes[edit->a]) ||
        node_meta(g, &g->nodes[edit->a])->kind != node_meta(g, &g->nodes[edit->b])->kind)
        return edit_invalid(why, "one is a tensor and the other is not");
    plan->bypasses = true;
    plan->substitutes |= differ;
    plan->affected[edit->a] = differ;
    plan->stand_in[edit->a] = edit->b;
    return set_status(plan, edit->a, STATUS_GO, why);
}

static bool is_part_of(const struct graph *g, node_id id, node_id whole)
{
    const struct node *node = &g->nodes[id];
    return node_is_getitem(g, node) && g->args[node->first_arg].u.node == whole;
}

/* Keeps the calls up to one; the getitems of a call with several results follow it directly or
 * later. */
static bool keep_prefix(struct edit_plan *plan, const struct edit *edit)
{
    const struct graph *g = plan->graph;
    for (node_id id = edit->a + 1; id + 1 < g->n_nodes; id++)
        if (g->nodes[id].op != NODE_PLACEHOLDER && !is_part_of(g, id, edit->a))
            plan->status[id] = STATUS_GO;
    if (edit->b == 0) {
        plan->promote_all = true;
        return true;
    }
    plan->alone = edit->a;
    for (node_id id = 0; id + 1 < g->n_nodes; id++)
        plan->stays_dead[id] &= id == edit->a || is_part_of(g, id, edit->a);
    return true;
}

/* The values that become inputs because a later call uses them, unless a value is a getitem of
 * something that cannot be an input. */
struct frontier {
    struct edit_plan *plan;
    node_id first;
    bool bad;
};

static void cross(void *user, node_id id)
{
    struct frontier *f = user;
    const struct node *node = &f->plan->graph->nodes[id];
    if (id >= f->first || node->op == NODE_PLACEHOLDER || node->op == NODE_GET_ATTR)
        return;
    if (node_is_value(f->plan->graph, node))
        f->plan->status[id] = STATUS_INPUT;
    else
        f->bad = true;
}

static bool drop_prefix(struct edit_plan *plan, node_id first, struct err *why)
{
    const struct graph *g = plan->graph;
    struct frontier f = { plan, first, false };
    for (node_id id = 0; id < first && id + 1 < g->n_nodes; id++)
        if (node_is_call(&g->nodes[id]))
            plan->status[id] = STATUS_GO;
    for (node_id id = first; id + 1 < g->n_nodes && !f.bad; id++) {
        const struct node *node = &g->nodes[id];
        bool part = node_is_getitem(g, node) && g->args[node->first_arg].u.node < first;
        if (part && node_is_value(g, node) &&
            !node_is_value(g, &g->nodes[g->args[node->first_arg].u.node]))
            plan->status[id] = STATUS_INPUT; /* its call is removed */
        else if (plan->status[id] == STATUS_STAY)
            node_references(g, node, cross, &f);
    }
    return !f.bad || edit_invalid(why, "something that cannot be an input is used behind it");
}

node_id input_at(const struct graph *graph, uint32_t position)
{
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (graph->nodes[id].op == NODE_PLACEHOLDER && position-- == 0)
            return id;
    return NODE_NONE;
}

static bool remove_input(struct edit_plan *plan, uint32_t position, struct err *why)
{
    node_id id = input_at(plan->graph, position);
    if (id == NODE_NONE)
        return edit_invalid(why, "there is no such input");
    plan->stays_dead[id] = false;
    return plan->uses[id] == 0 ? set_status(plan, id, STATUS_GO, why)
                               : edit_invalid(why, "the input is used");
}

static bool drop_gradient(struct edit_plan *plan, uint32_t position, struct err *why)
{
    node_id id = input_at(plan->graph, position);
    if (id == NODE_NONE || !candidate_requires_grad(plan->whole, id))
        return edit_invalid(why, "no such input requires a gradient");
    plan->drop_gradient[id] = true;
    return true;
}

static bool plan_edit(struct edit_plan *plan, const struct edit *edit, struct err *why)
{
    uint32_t n_nodes = plan->graph->n_nodes;
    switch (edit->kind) {
    case EDIT_REMOVE_NODE:
    case EDIT_CUT:
    case EDIT_BYPASS:
    case EDIT_SUBSTITUTE:
    case EDIT_KEEP_PREFIX:
    case EDIT_DROP_PREFIX:
        if (edit->a + 1 >= n_nodes)
            return edit_invalid(why, "there is no such node");
        break;
    default: break;
    }
    switch (edit->kind) {
    case EDIT_REMOVE_NODE: return set_status(plan, edit->a, STATUS_GO, why);
    case EDIT_CUT: return plan_cut(plan, edit, why);
    case EDIT_BYPASS:
    case EDIT_SUBSTITUTE: return bypass(plan, edit, why);
    case EDIT_KEEP_PREFIX: return keep_prefix(plan, edit);
    case EDIT_DROP_PREFIX: return drop_prefix(plan, edit->a, why);
    case EDIT_REMOVE_INPUT: return remove_input(plan, edit->a, why);
    case EDIT_GRADIENT: return drop_gradient(plan, edit->a, why);
    case EDIT_REMOVE_OUTPUT:
        if (edit->a >= graph_output(plan->graph)->n_args)
            return edit_invalid(why, "there is no such output");
        plan->drop_output[edit->a] = true;
        return true;
    case EDIT_REMOVE_GUARD:
        if (edit->a >= plan->whole->n_guards)
            return edit_invalid(why, "there is no such guard");
        plan->drop_guard[edit->a] = true;
        return true;
    default: return edit_invalid(why, "not an edit of structure");
    }
}

/* ---- Live nodes ---- */

static void give_back(struct edit_plan *plan, node_id id)
{
    plan->n_outputs += !plan->output[id];
    plan->output[id] = true;
    plan->uses_now[id]++;
}

/* Keeps the outputs whose values are still computed. */
static void keep_computed_outputs(struct edit_plan *plan)
{
    const struct graph *g = plan->graph;
    const struct node *output = graph_output(g);
    for (node_id id = plan->alone; id + 1 < g->n_nodes && plan->alone != NODE_NONE; id++)
        if ((id == plan->alone || is_part_of(g, id, plan->alone)) &&
            node_is_value(g, &g->nodes[id]) && plan->status[id] == STATUS_STAY)
            give_back(plan, id);
    if (plan->alone != NODE_NONE && !node_is_value(g, &g->nodes[plan->alone]))
        plan->stays_dead[plan->alone] = true; /* it returns nothing */
    for (uint32_t i = 0; i < output->n_args && plan->alone == NODE_NONE; i++) {
        const struct arg *arg = &plan->graph->args[output->first_arg + i];
        if (arg->kind != ARG_NODE || plan->drop_output[i])
            continue;
        node_id id = plan_resolve(plan, arg->u.node);
        bool passes = id != arg->u.node && plan->graph->nodes[id].op == NODE_PLACEHOLDER;
        if (plan->status[id] != STATUS_STAY || passes)
            continue;
        give_back(plan, id);
    }
}

struct use_walk {
    struct edit_plan *plan;
    bool bad;
};

static void count_use(void *user, node_id id)
{
    struct use_walk *w = user;
    id = plan_resolve(w->plan, id);
    w->bad |= w->plan->status[id] == STATUS_GO;
    w->plan->uses_now[id]++;
}

/* Decides whether a node is dead; the nodes that use it were decided before. */
static void settle_node(struct edit_plan *plan, node_id id, struct use_walk *w)
{
    const struct graph *g = plan->graph;
    const struct node *node = &g->nodes[id];
    bool lives = plan->uses_now[id] > 0 || plan->stays_dead[id];
    if (plan->status[id] != STATUS_STAY) {
        if (plan->status[id] == STATUS_INPUT && !plan->uses_now[id])
            plan->status[id] = STATUS_GO;
        return;
    }
    if (!lives && node_is_call(node) && (plan->promote_all || plan->promote[id])) {
        if (node_is_value(g, node)) {
            give_back(plan, id);
            lives = true;
        } else if (!plan->promote_all) {
            node_references(g, node, mark_promoted, plan);
        } else {
            lives = true; /* a call without results is kept for its effects */
        }
    }
    if (!lives && node_is_call(node) && node_writes(g, node))
        lives = true;
    if (!lives)
        plan->status[id] = STATUS_GO;
    else
        node_references(g, node, count_use, w);
}

struct affected_walk {
    const bool *affected;
    bool any;
};

static void see_affected(void *user, node_id id)
{
    struct affected_walk *w = user;
    w->any |= w->affected[id];
}

void mark_dependents(const struct graph *graph, bool *affected)
{
    for (node_id id = 0; id < graph->n_nodes; id++) {
        struct affected_walk w = { affected, false };
        node_references(graph, &graph->nodes[id], see_affected, &w);
        affected[id] |= w.any;
    }
}

bool plan_make(struct edit_plan *plan, const struct candidate *whole, const struct edit *edits,
               uint32_t n, struct err *why)
{
    struct use_walk w = { .plan = plan };
    *plan = (struct edit_plan){ .whole = whole,
                                .graph = whole->graph,
                                .symbols = whole->symbols,
                                .guards = whole->guards,
                                .alone = NODE_NONE };
    if (!alloc_plan(plan))
        return err_nomem(why);
    count_uses(plan);
    for (uint32_t i = 0; i < n; i++)
        if (edit_chooses_nodes(edits[i].kind) && !plan_edit(plan, &edits[i], why))
            return false;
    if (plan->substitutes)
        mark_dependents(plan->graph, plan->affected); /* sizes may change there */
    keep_computed_outputs(plan);
    for (node_id id = plan->graph->n_nodes - 1; id-- > 0;)
        settle_node(plan, id, &w);
    return !w.bad || edit_invalid(why, "what one edit removes another needs");
}

void plan_release(struct edit_plan *plan)
{
    arena_release(&plan->arena);
}

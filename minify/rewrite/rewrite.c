#include "minify/rewrite/rewrite.h"

#include <stdlib.h>

#include "minify/rewrite/mask_graph.h"
#include "trace/events/guards.h"

const char *mask_status_name(enum mask_status status)
{
    static const char *const names[MASK_STATUSES] = { "rewritten", "kept" };
    return names[status];
}

/* ---- Counts ---- */

static uint32_t count_calls(const struct candidate *candidate)
{
    uint32_t n = 0;
    for (node_id id = 0; id < candidate->graph->n_nodes; id++)
        n += node_is_call(&candidate->graph->nodes[id]);
    return n;
}

static uint32_t count_unbacked(const struct candidate *candidate)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < candidate->n_symbols; i++)
        n += !candidate->symbols[i].backed && !candidate->symbols[i].is_float;
    return n;
}

/* ---- What a size reaches ---- */

static uint32_t symbol_of_size(const struct candidate *whole, node_id id)
{
    const struct node *node = &whole->graph->nodes[id];
    const struct cand_texts *texts = data_of(whole)->texts;
    if (node->meta == META_NONE)
        return INTERN_NONE;
    const struct meta_info *info = meta_info(texts, node->meta);
    for (uint32_t i = 0; i < info->n; i++) {
        uint32_t symbol = texts->occurrences[info->first + i];
        struct str name = intern_text(&texts->symbols, symbol);
        if (name.n > 1 && name.p[0] == 'u' && is_digit(name.p[1]))
            return symbol;
    }
    return INTERN_NONE;
}

/* By symbol number: how many nodes have it in their meta, outputs, and guards. */
struct reach {
    const struct cand_texts *texts;
    uint32_t *calls, *outputs, *guards;
    uint32_t *seen; /* by symbol: the last node or guard that was counted, + 1 */
    uint32_t at;
    uint32_t *counts;
};

static void count_symbol(struct reach *r, uint32_t symbol)
{
    if (symbol == INTERN_NONE || r->seen[symbol] == r->at + 1)
        return;
    r->seen[symbol] = r->at + 1;
    r->counts[symbol]++;
}

static void count_node(struct reach *r, const struct node *node)
{
    const struct meta_info *info = node->meta == META_NONE ? NULL : meta_info(r->texts, node->meta);
    for (uint32_t i = 0; info && i < info->n; i++)
        count_symbol(r, r->texts->occurrences[info->first + i]);
}

static void count_output(void *user, node_id id)
{
    struct reach *r = user;
    r->at++;
    count_node(r, &r->texts->graph->nodes[id]);
}

static void count_guard_symbol(void *user, uint32_t symbol)
{
    count_symbol(user, symbol);
}

static bool measure_reach(struct reach *r, const struct candidate *whole, struct arena *arena)
{
    const struct graph *graph = whole->graph;
    *r = (struct reach){ .texts = data_of(whole)->texts };
    size_t n = r->texts->symbols.texts.n + 1;
    r->calls = arena_array(arena, uint32_t, n);
    r->outputs = arena_array(arena, uint32_t, n);
    r->guards = arena_array(arena, uint32_t, n);
    r->seen = arena_array(arena, uint32_t, n);
    if (!r->calls || !r->outputs || !r->guards || !r->seen)
        return false;
    r->counts = r->calls;
    for (node_id id = 0; id < graph->n_nodes; id++, r->at++)
        if (node_is_call(&graph->nodes[id]))
            count_node(r, &graph->nodes[id]);
    r->counts = r->outputs;
    if (graph->n_nodes && graph->nodes[graph->n_nodes - 1].op == NODE_OUTPUT)
        node_references(graph, &graph->nodes[graph->n_nodes - 1], count_output, r);
    r->counts = r->guards;
    for (uint32_t i = 0; i < whole->n_guards; i++) {
        r->at++;
        guard_expr_symbols(r->texts, whole->guards[i].expr, count_guard_symbol, r);
    }
    return true;
}

/* ---- The list of calls ---- */

static const char *describe_role(const struct masker *m, node_id id)
{
    bool writes = node_writes(m->graph, &m->graph->nodes[id]);
    switch (m->nodes[id].role) {
    case ROLE_SOURCE: return "where(mask, x, 1) of all rows";
    case ROLE_INDICES: return "not needed";
    default: return writes ? "where() and copy_()" : "where()";
    }
}

static bool list_call(struct masker *m, struct rewrite *ret, const struct reach *reach, node_id id)
{
    struct mask_call *call = &ret->calls[ret->n_calls++];
    struct mask_node *own = &m->nodes[id];
    struct buf op = BUF_INIT;
    struct str why = own->role == ROLE_NONE || own->role == ROLE_PUT ? m->why[id] : mask_why(m, id);
    bool kept = own->role == ROLE_NONE || why.p;
    uint32_t symbol = symbol_of_size(m->whole, id);
    node_op_name(&m->graph->nodes[id], &op);
    *call = (struct mask_call){ .node = id,
                                .op = arena_copy(&ret->arena, buf_str(&op)),
                                .mask = m->graph->nodes[own->index].name,
                                .status = kept ? MASK_KEPT : MASK_REWRITTEN };
    struct str text = !kept   ? str_of(describe_role(m, id))
                      : why.p ? why
                              : STR("its form is not known");
    call->why = arena_copy(&ret->arena, text);
    ret->n_rewritten += !kept;
    bool ok = !op.failed && call->op.p && call->why.p;
    buf_release(&op);
    if (!kept || symbol == INTERN_NONE)
        return ok;
    call->symbol = intern_text(&data_of(m->whole)->texts->symbols, symbol);
    call->calls = reach->calls[symbol];
    call->outputs = reach->outputs[symbol];
    call->guards = reach->guards[symbol];
    return ok;
}

static bool list_calls(struct masker *m, struct rewrite *ret)
{
    struct reach reach;
    ret->calls = arena_array(&ret->arena, struct mask_call, (size_t)m->graph->n_nodes + 1);
    ret->n_calls = ret->n_rewritten = 0;
    if (!ret->calls || !measure_reach(&reach, m->whole, &m->arena))
        return false;
    for (node_id id = 0; id < m->graph->n_nodes; id++)
        if (m->nodes[id].listed && !list_call(m, ret, &reach, id))
            return false;
    return true;
}

/* ---- The whole ---- */

static bool init_masker(struct masker *m)
{
    size_t n = (size_t)m->graph->n_nodes + 1;
    m->nodes = arena_array(&m->arena, struct mask_node, n);
    m->why = arena_array(&m->arena, struct str, n);
    for (node_id id = 0; m->nodes && id < m->graph->n_nodes; id++) {
        m->nodes[id].group = id;
        m->nodes[id].unit = EXPR_NONE;
        m->nodes[id].block = 1;
    }
    return m->nodes && m->why;
}

static bool keep_masks(const struct masker *m, struct rewrite *ret, const bool *masks)
{
    uint32_t n = ret->whole->graph->n_nodes;
    node_id *list = arena_array(&ret->arena, node_id, (size_t)n + 1);
    node_id *same = arena_array(&ret->arena, node_id, (size_t)n + 1);
    for (node_id id = 0; list && same && id < n; id++)
        if (masks[id]) {
            same[ret->n_masks] = m->nodes[id].same;
            list[ret->n_masks++] = id;
        }
    ret->masks = list;
    ret->same = same;
    return list && same;
}

/* Keeps all rows of masks where they are, for a graph that cannot be walked with them rewritten;
 * `puts`: keeps writes without rows, too. */
static void keep_rows(struct masker *m, bool puts, const struct err *why)
{
    struct str text = mask_text(m, "the rewritten graph is not valid: %s", why->text);
    for (node_id id = 0; id < m->graph->n_nodes; id++)
        if (m->nodes[id].role == ROLE_PUT && puts)
            m->why[id] = text;
        else if (m->nodes[id].role != ROLE_NONE && m->nodes[id].role != ROLE_PUT)
            mask_block(m, id, text);
}

static bool build(struct masker *m, struct rewrite *ret, struct err *err)
{
    bool *masks = arena_array(&m->arena, bool, (size_t)m->graph->n_nodes + 1);
    struct err why = { 0 };
    if (!masks)
        return err_nomem(err);
    ret->result = mask_build(m, masks, &why);
    for (int puts = 0; puts < 2 && !ret->result && why.kind == ERR_USAGE; puts++) {
        keep_rows(m, puts, &why);
        for (node_id id = 0; id < m->graph->n_nodes; id++)
            masks[id] = false;
        if (m->failed || !list_calls(m, ret))
            return err_nomem(err);
        why = (struct err){ 0 };
        if (ret->n_rewritten)
            ret->result = mask_build(m, masks, &why);
    }
    if (err_is_set(&why))
        *err = why;
    return !err_is_set(&why) && (keep_masks(m, ret, masks) || err_nomem(err));
}

bool rewrite_masks(const struct candidate *whole, const struct rewrite_options *options,
                   struct rewrite *ret, struct err *err)
{
    struct masker m = { .whole = whole, .graph = whole->graph, .options = options };
    *ret = (struct rewrite){ .whole = whole };
    bool ok = init_masker(&m);
    if (ok)
        mask_find(&m);
    ok = ok && !m.failed && list_calls(&m, ret);
    if (!ok)
        err_nomem(err);
    ok = ok && (!ret->n_rewritten || build(&m, ret, err));
    ret->calls_before = ret->calls_after = count_calls(whole);
    ret->unbacked_before = ret->unbacked_after = count_unbacked(whole);
    if (ret->result) {
        ret->calls_after = count_calls(ret->result);
        ret->unbacked_after = count_unbacked(ret->result);
    }
    mask_end_walk(&m);
    arena_release(&m.arena);
    return ok;
}

void rewrite_release(struct rewrite *rewrite)
{
    candidate_free(rewrite->result);
    rewrite->result = NULL;
    arena_release(&rewrite->arena);
}

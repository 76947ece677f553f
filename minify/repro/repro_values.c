/* Chooses values of symbols: hints, and for symbols without one numbers for which the guards and
 * the graph's own asserts hold, since f runs in eager mode first. Linear relations are repaired one
 * after the other: for u0 + u1 == s59 the difference is divided between u0 and u1. */
#include "minify/candidate/sizes.h"
#include "minify/repro/repro_inside.h"

#define GAP_MAX (INT64_MAX / 4)
enum { ROUNDS = 8, UNKNOWN = 3 };

enum relation { REL_EQ, REL_NE, REL_LT, REL_LE, REL_GT, REL_GE, REL_NONE };

struct claim {
    struct repro *r;
    const struct expr_pool *pool;
    expr_id left, right;
    enum relation relation;
    unsigned round;
};

static enum relation relation_of(const struct expr *e)
{
    static const struct {
        const char *text;
        enum relation relation;
    } names[] = { { "==", REL_EQ }, { "!=", REL_NE }, { "<", REL_LT },  { "<=", REL_LE },
                  { ">", REL_GT },  { ">=", REL_GE }, { "Eq", REL_EQ }, { "Ne", REL_NE } };
    for (size_t i = 0; i < sizeof names / sizeof *names && e->n_children == 2; i++)
        if ((e->kind == EXPR_OP || e->kind == EXPR_CALL) && str_is(e->text, names[i].text))
            return names[i].relation;
    return REL_NONE;
}

/* Computes left - right. */
static bool claim_gap(const struct claim *c, int64_t *ret)
{
    int64_t left, right;
    const struct repro *r = c->r;
    return cand_eval(r->candidate, c->pool, c->left, r->values, &left) &&
           cand_eval(r->candidate, c->pool, c->right, r->values, &right) &&
           !__builtin_sub_overflow(left, right, ret) && *ret > -GAP_MAX && *ret < GAP_MAX;
}

/* Returns the distance of the gap from one that is allowed. */
static int64_t missing_distance(enum relation relation, int64_t gap)
{
    switch (relation) {
    case REL_EQ: return -gap;
    case REL_NE: return gap == 0;
    case REL_LT: return gap >= 0 ? -gap - 1 : 0;
    case REL_LE: return gap > 0 ? -gap : 0;
    case REL_GT: return gap <= 0 ? 1 - gap : 0;
    case REL_GE: return gap < 0 ? -gap : 0;
    case REL_NONE: break;
    }
    return 0;
}

/* Returns the change of the gap when the symbol grows by one, or 0 if that is not known. */
static int64_t gap_slope(const struct claim *c, uint32_t i)
{
    const struct cand_symbol *symbol = &c->r->candidate->symbols[i];
    int64_t before, after = 0, *value = &c->r->values[i];
    if (symbol->has_hint || symbol->is_float || *value == INT64_MAX || !claim_gap(c, &before))
        return 0;
    *value += 1;
    bool known = claim_gap(c, &after);
    *value -= 1;
    return known ? after - before : 0;
}

static void move_value(const struct claim *c, uint32_t i, int64_t slope, int64_t wanted)
{
    const struct cand_symbol *s = &c->r->candidate->symbols[i];
    int64_t *value = &c->r->values[i], to;
    int64_t step = wanted / slope;
    if (wanted % slope != 0 && c->relation != REL_EQ)
        step += (wanted < 0) != (slope < 0) ? -1 : 1;
    if (__builtin_add_overflow(*value, step, &to))
        return;
    to = to < s->min ? s->min : to;
    *value = to > s->max ? s->max : to;
}

/* Repairs a claim. In the first round all symbols share the difference; in later rounds, after
 * other claims have undone it, alternately the first and the last symbol takes it. */
static bool repair(const struct claim *c)
{
    int64_t is;
    uint32_t n = 0, all = c->r->candidate->n_symbols;
    bool even = c->round == 0 && c->relation == REL_EQ;
    if (!claim_gap(c, &is) || missing_distance(c->relation, is) == 0)
        return false;
    for (uint32_t i = 0; i < all; i++)
        n += gap_slope(c, i) != 0;
    for (uint32_t k = 0; k < all && n && claim_gap(c, &is); k++) {
        uint32_t i = c->round % 2 ? all - 1 - k : k;
        int64_t slope = gap_slope(c, i), wanted = missing_distance(c->relation, is);
        if (slope == 0 || wanted == 0)
            continue;
        move_value(c, i, slope, even ? wanted / n : wanted);
        n -= n > 1;
    }
    return true;
}

static bool satisfy_claim(struct repro *r, const struct expr_pool *pool, expr_id expr,
                          unsigned round)
{
    const struct expr *e = expr_at(pool, expr);
    struct claim claim = { .r = r, .pool = pool, .relation = relation_of(e), .round = round };
    bool ret = false;
    if (e->kind == EXPR_OP && str_is(e->text, "&")) {
        for (uint32_t i = 0; i < e->n_children; i++)
            ret |= satisfy_claim(r, pool, expr_child(pool, expr, i), round);
        return ret;
    }
    if (claim.relation == REL_NONE)
        return false;
    claim.left = expr_child(pool, expr, 0);
    claim.right = expr_child(pool, expr, 1);
    return repair(&claim);
}

static bool satisfy_guards(struct repro *r, unsigned round)
{
    bool ret = false;
    for (uint32_t i = 0; i < r->candidate->n_guards; i++) {
        struct expr_pool pool = { 0 };
        struct err err = { 0 };
        expr_id expr = expr_parse(&pool, r->candidate->guards[i].expr, &err);
        ret |= expr != EXPR_NONE && satisfy_claim(r, &pool, expr, round);
        expr_pool_release(&pool);
    }
    return ret;
}

/* Satisfies the asserts of the graph: torch._check(eq), aten._assert_scalar(eq, "..."). */
static bool satisfy_asserts(struct repro *r, unsigned round)
{
    const struct graph *graph = r->candidate->graph;
    bool ret = false;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        const struct node *node = &graph->nodes[i];
        bool asserts = str_is(node->target, "torch._check") ||
                       str_is(node->target, "torch.ops.aten._assert_scalar.default");
        const struct arg *of = asserts && node->n_args ? &graph->args[node->first_arg] : NULL;
        const struct meta *meta =
            of && of->kind == ARG_NODE ? repro_meta(graph, graph->nodes[of->u.node].meta) : NULL;
        if (meta && meta->kind == META_SYM)
            ret |= satisfy_claim(r, &graph->pool->exprs, meta->sizes[0], round);
    }
    return ret;
}

bool repro_choose_values(struct repro *r)
{
    const struct candidate *c = r->candidate;
    r->values = arena_array(&r->arena, int64_t, c->n_symbols + 1);
    if (!r->values)
        return false;
    for (uint32_t i = 0; i < c->n_symbols; i++) {
        const struct cand_symbol *s = &c->symbols[i];
        int64_t value = UNKNOWN;
        value = value < s->min ? s->min : value;
        value = value > s->max ? s->max : value;
        r->values[i] = s->has_hint ? s->hint : value;
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        bool guards = satisfy_guards(r, round), asserts = satisfy_asserts(r, round);
        if (!guards && !asserts)
            break;
    }
    return true;
}

/* ---- Symbols that f reads from the data of its inputs ---- */

/* Returns whether the node reads a symbol from the input's data with `.item()`; *at is the element,
 * or UINT32_MAX if the input has one element, or it is not known. */
static bool is_read_out(const struct repro_input *input, const struct node *node, uint32_t *at)
{
    const struct graph *graph = input->graph;
    bool reads = str_is(node->target, "torch.ops.aten._local_scalar_dense.default") ||
                 str_is(node->target, "torch.ops.aten.item.default") ||
                 (node->op == NODE_CALL_METHOD &&
                  (str_is(node->target, "item") || str_is(node->target, "tolist")));
    const struct arg *of = reads && node->n_args ? &graph->args[node->first_arg] : NULL;
    *at = UINT32_MAX;
    while (of && of->kind == ARG_NODE && of->u.node != input->node &&
           node_is_call(&graph->nodes[of->u.node]) && graph->nodes[of->u.node].n_args) {
        const struct node *call = &graph->nodes[of->u.node];
        bool select = str_is(call->target, "torch.ops.aten.select.int") && call->n_args == 3;
        bool item = call->form == FORM_GETITEM || str_is(call->target, "operator.getitem");
        const struct arg *index = &graph->args[call->first_arg + (select ? 2 : 1)];
        if ((select || (item && call->n_args == 2)) && index->kind == ARG_INT)
            *at = index->u.integer >= 0 && index->u.integer < UINT32_MAX
                      ? (uint32_t)index->u.integer
                      : UINT32_MAX;
        of = &graph->args[call->first_arg];
    }
    return of && of->kind == ARG_NODE && of->u.node == input->node;
}

bool repro_read_out(const struct repro *r, const struct repro_input *input, uint32_t n,
                    int64_t *values)
{
    bool ret = false;
    uint32_t symbol, at;
    for (uint32_t i = 0; i < n; i++)
        values[i] = UNKNOWN;
    for (uint32_t i = 0; input->graph && i < input->graph->n_nodes; i++) {
        const struct node *node = &input->graph->nodes[i];
        const struct meta *meta = repro_meta(input->graph, node->meta);
        if (!is_read_out(input, node, &at))
            continue;
        ret = true;
        if (!meta || meta->kind != META_SYM ||
            !repro_bare_symbol(r, &input->graph->pool->exprs, meta->sizes[0], &symbol))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (at == UINT32_MAX || at == k)
                values[k] = r->values[symbol];
    }
    return ret;
}

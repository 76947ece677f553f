/* Weighs calls by what PyTorch does for them.
 *
 * Most calls of a program are made before, on tensors with the same symbols: FakeTensorMode has
 * their results in its cache (torch/_subclasses/fake_tensor.py, _cached_dispatch_impl), so that a
 * call costs little more than its key and a new tensor. The first such call runs the operator's
 * meta function or decomposition, with all the calls in it; how many there are is the weight in
 * line_weights.def. Where no size is a symbol, everything is cheap; otherwise the time grows with
 * the number of symbolic sizes and strides and with the length of their expressions, since each new
 * tensor computes its number of elements and whether it is contiguous from them
 * (c10/core/SymbolicShapeMeta.cpp). Each expression that a compile has not met before is simplified
 * and evaluated (torch/fx/experimental/symbolic_shapes.py, _maybe_evaluate_static). The constants
 * are ratios between calls of deep recordings (tests/bench/lines.py). */
#include "profile/model/lines/call_weight.h"

#include "trace/base/hash.h"

#define PROXY         1.9F  /* a call of ProxyTorchDispatchMode beside a hit in the cache */
#define DETACHES      4.0F  /* the four detaches of a result that autograd saves */
#define STATIC_AGAIN  0.5F  /* a hit in the cache if no size is a symbol */
#define STATIC_FIRST  0.4F  /* a first call if no size is a symbol, of its operator's weight */
#define FIRST_USE     15.0F /* the first call of an operator in a process: its decomposition ... */
#define NEW_TERM      3.0F  /* each symbol, number and operator in an expression that is new */
#define FREE_CALL     0.1F  /* a call on sizes, or one that takes a result apart: no dispatch */
#define SEVERAL_VIEWS 2.5F  /* a call that makes several views, such as split, beside one view */
#define VIEW_PER_TERM 0.15F /* a first view: offsets and bounds are products of all sizes */

enum { MOST_TERMS = 1000 }; /* beyond, PyTorch gives up in other ways */

enum weight_kind { PLAIN, VIEW, SAVED, BYPASS, FREE };

struct operator_weight {
    const char *name;
    float weight;
    enum weight_kind kind;
};

static const struct operator_weight WEIGHTS[] = {
#define LINE_WEIGHT(name, weight, kind) { name, weight, kind },
#include "profile/model/lines/line_weights.def"
#undef LINE_WEIGHT
};
static const struct operator_weight OTHER = { "", 5.0F, PLAIN };

const struct operator_weight *operator_weight_of(struct str target)
{
    struct str base = target_base_name(target);
    for (size_t i = 0; i < sizeof WEIGHTS / sizeof *WEIGHTS; i++)
        if (str_is(base, WEIGHTS[i].name))
            return &WEIGHTS[i];
    return &OTHER;
}

/* ---- Metas ---- */

static bool read_exprs(struct call_weigher *w, const struct expr_pool *pool)
{
    w->exprs.n = 0;
    if (!vec_reserve(&w->exprs, pool->exprs.n + 1))
        return false;
    for (size_t i = 0; i < pool->exprs.n; i++) {
        const struct expr *e = &pool->exprs.v[i];
        struct expr_terms it = { hash_mix(e->kind, hash_str(e->text)), 1 };
        for (uint32_t k = 0; k < e->n_children; k++) { /* children come before their parents */
            const struct expr_terms *child = &w->exprs.v[expr_child(pool, (expr_id)i, k)];
            it.hash = hash_mix(it.hash, child->hash);
            it.terms += child->terms;
        }
        it.terms = it.terms < MOST_TERMS ? it.terms : MOST_TERMS;
        w->exprs.v[w->exprs.n++] = it;
    }
    return true;
}

static void add_symbols(const struct call_weigher *w, const struct expr_pool *pool, expr_id expr,
                        struct meta_symbols *to)
{
    if (expr == EXPR_NONE || expr_at(pool, expr)->kind == EXPR_INT)
        return;
    to->dims++;
    to->terms += w->exprs.v[expr].terms;
}

bool call_weigher_graph(struct call_weigher *w, const struct graph *root)
{
    const struct graph_pool *pool = root->pool;
    w->metas.n = 0;
    if (!read_exprs(w, &pool->exprs) || !vec_reserve(&w->metas, pool->n_metas + 1))
        return false;
    for (uint32_t i = 0; i < pool->n_metas; i++) {
        const struct meta *meta = &pool->metas[i];
        struct meta_symbols it = { .hash = hash_str(meta->text) };
        for (uint32_t k = 0; meta->kind == META_TENSOR && k < meta->n_sizes; k++) {
            add_symbols(w, &pool->exprs, meta->sizes[k], &it);
            if (meta->strides)
                add_symbols(w, &pool->exprs, meta->strides[k], &it);
        }
        w->metas.v[w->metas.n++] = it;
    }
    return true;
}

/* ---- What is new ---- */

/* Sets *fresh if the number was not seen before. Returns false when memory ran out. */
static bool see(struct call_weigher *w, uint64_t key, bool *fresh)
{
    uint32_t row;
    *fresh = false;
    for (size_t at = hash_index_start(&w->index, (uint32_t)key);
         hash_index_next(&w->index, (uint32_t)key, &at, &row);)
        if (w->seen.v[row] == key)
            return true;
    *fresh = true;
    row = (uint32_t)w->seen.n;
    if (!hash_index_reserve(&w->index, 1) || !vec_push(&w->seen, key))
        return false;
    hash_index_add(&w->index, (uint32_t)key, row);
    return true;
}

static bool weigh_new_expr(struct call_weigher *w, const struct expr_pool *pool, expr_id expr,
                           uint64_t scope, float *weight)
{
    bool fresh;
    if (expr == EXPR_NONE || expr_at(pool, expr)->kind == EXPR_INT)
        return true;
    if (!see(w, hash_mix(scope, w->exprs.v[expr].hash), &fresh))
        return false;
    *weight += fresh ? NEW_TERM * (float)w->exprs.v[expr].terms : 0;
    return true;
}

static bool makes_tensor(const struct graph *graph, const struct node *node)
{
    return node->meta != META_NONE && graph->pool->metas[node->meta].kind == META_TENSOR;
}

/* Returns the weight of the expressions in a result that its compile has not met before. */
static bool weigh_new_exprs(struct call_weigher *w, const struct graph *graph,
                            const struct node *node, uint64_t scope, float *ret)
{
    bool fresh;
    *ret = 0;
    if (!makes_tensor(graph, node))
        return true;
    const struct meta *meta = &graph->pool->metas[node->meta];
    if (!see(w, hash_mix(scope + 1, w->metas.v[node->meta].hash), &fresh))
        return false;
    for (uint32_t i = 0; fresh && i < meta->n_sizes; i++)
        if (!weigh_new_expr(w, &graph->pool->exprs, meta->sizes[i], scope, ret) ||
            (meta->strides &&
             !weigh_new_expr(w, &graph->pool->exprs, meta->strides[i], scope, ret)))
            return false;
    return true;
}

/* ---- Calls ---- */

/* The symbols of a call's arguments, and what distinguishes it from other calls. */
struct call_inputs {
    uint64_t hash, dims, terms;
};

static void read_input(const struct call_weigher *w, const struct graph *graph,
                       const struct arg *arg, struct call_inputs *in)
{
    in->hash = hash_mix(in->hash, arg->kind);
    switch (arg->kind) {
    case ARG_NODE:
        if (arg->u.node < graph->n_nodes && graph->nodes[arg->u.node].meta != META_NONE) {
            const struct meta_symbols *m = &w->metas.v[graph->nodes[arg->u.node].meta];
            in->hash = hash_mix(in->hash, m->hash);
            in->dims += m->dims;
            in->terms += m->terms;
        }
        break;
    case ARG_LIST:
    case ARG_TUPLE:
    case ARG_DICT:
    case ARG_SLICE:
        for (uint32_t i = 0; i < arg->u.items.n; i++)
            read_input(w, graph, &graph->args[arg->u.items.first + i], in);
        break;
    default: in->hash = hash_mix(in->hash, hash_str(arg->text));
    }
}

/* Returns the logarithm to base 2 of 1 + n, straight between the powers of 2. */
static float log2_of(uint64_t n)
{
    int bits = 63 - __builtin_clzll(n + 1);
    return (float)bits + (float)(n + 1) / (float)(UINT64_C(1) << bits) - 1;
}

static uint64_t symbols_of(const struct call_weigher *w, const struct node *node,
                           const struct call_inputs *in)
{
    uint64_t ret = in->dims * in->terms;
    if (node->meta == META_NONE)
        return ret;
    const struct meta_symbols *out = &w->metas.v[node->meta];
    uint64_t made = (uint64_t)out->dims * out->terms;
    return made > ret ? made : ret;
}

/* Returns the weights of a call that the cache has, and of one that it has not. */
static void weigh_runs(const struct operator_weight *op, uint64_t symbols, bool several,
                       float *again, float *first)
{
    float log = log2_of(symbols);
    *again = op->kind == VIEW ? 2.0F : 0.1F + 0.2F * log + 0.1F * op->weight;
    *first = op->weight * (0.1F + 0.34F * log);
    if (symbols == 0) {
        *again = STATIC_AGAIN;
        *first = op->weight * STATIC_FIRST;
    } else if (op->kind == VIEW)
        *first += VIEW_PER_TERM * (float)(symbols < MOST_TERMS * 10 ? symbols : MOST_TERMS * 10);
    if (op->kind == VIEW && several)
        *again *= SEVERAL_VIEWS;
    if (op->kind == BYPASS)
        *again = *first;
    if (*first < *again)
        *first = *again;
}

static bool is_free(const struct graph *graph, const struct node *node,
                    const struct operator_weight *op)
{
    return op->kind == FREE ||
           (node->meta != META_NONE && graph->pool->metas[node->meta].kind == META_SYM);
}

bool call_weigh(struct call_weigher *w, const struct graph *graph, const struct node *node,
                const struct operator_weight *op, uint64_t scope, bool backward,
                struct call_weight *ret)
{
    struct call_inputs in = { .hash = hash_str(node->target) };
    bool fresh, fresh_operator;
    float again, first, fresh_exprs;
    uint64_t here = hash_mix(scope + 1, UINT64_C(0x9E3779B97F4A7C15)), operator_key = in.hash;
    if (is_free(graph, node, op)) {
        *ret = (struct call_weight){ { FREE_CALL, FREE_CALL, FREE_CALL } };
        return true;
    }
    for (uint32_t i = 0; i < node->n_args; i++)
        read_input(w, graph, &node_args(graph, node)[i], &in);
    if (!see(w, hash_mix(here, in.hash), &fresh) || !see(w, operator_key, &fresh_operator) ||
        !weigh_new_exprs(w, graph, node, here + 1, &fresh_exprs))
        return false;
    weigh_runs(op, symbols_of(w, node, &in), !makes_tensor(graph, node), &again, &first);
    first = fresh ? first : again;
    ret->runs[WORK_AGAIN] = first;
    first += fresh_exprs + (fresh_operator ? FIRST_USE : 0);
    ret->runs[WORK_FIRST] = first;
    ret->runs[WORK_TRACED] =
        (backward ? first : again) + PROXY + (op->kind == SAVED ? DETACHES : 0);
    return true;
}

void call_weigher_release(struct call_weigher *w)
{
    hash_index_release(&w->index);
    vec_release(&w->seen);
    vec_release(&w->exprs);
    vec_release(&w->metas);
}

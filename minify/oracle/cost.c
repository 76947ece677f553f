#include "minify/oracle/cost.h"

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/engines.h"
#include "minify/edit/edit.h"
#include "replay/ops/model/stats.h"

enum { MS_PER_SECOND = 1000 };

static const struct {
    const char *name;
    bool by_operator;
    const char *description;
} costs[COSTS] = {
#define COST(id, name, by_operator, description) { name, by_operator, description },
    COSTS_OF(COST)
#undef COST
};

const char *cost_name(enum cost cost)
{
    return costs[cost].name;
}

const char *cost_description(enum cost cost)
{
    return costs[cost].description;
}

bool cost_is_by_operator(enum cost cost)
{
    return costs[cost].by_operator;
}

/* ---- Reading ---- */

static bool cannot_read(struct str text, struct err *err)
{
    struct buf names = BUF_INIT;
    for (int i = 0; i < COSTS; i++)
        buf_printf(&names, "%s%s", i ? ", " : "", costs[i].name);
    bool ok = err_set(err, ERR_USAGE,
                      "--cost: \"%.*s\" is not NAME>=N or NAME, where NAME is one of %.*s",
                      STR_ARG(str_first(text, 200)), STR_ARG(buf_str(&names)));
    buf_release(&names);
    return ok;
}

void cost_put(struct buf *out, enum cost cost, uint64_t n)
{
    if (cost == GRAPH_COST_SECONDS)
        buf_printf(out, "%.6g", (double)n / MS_PER_SECOND);
    else
        buf_printf(out, "%llu", (unsigned long long)n);
}

/* "2.5", "40" as milliseconds; further digits are cut. */
static bool read_seconds(struct str text, uint64_t *ret)
{
    size_t point = str_find(text, STR("."));
    uint64_t whole, part = 0;
    struct str digits = str_first(str_from(text, point < text.n ? point + 1 : text.n), 3);
    bool ok = str_to_u64(str_first(text, point), &whole) && whole < UINT64_MAX / MS_PER_SECOND - 1;
    ok = ok && (point == text.n || str_to_u64(digits, &part));
    for (size_t i = digits.n; ok && i < 3; i++)
        part *= 10;
    *ret = ok ? whole * MS_PER_SECOND + part : 0;
    return ok;
}

static bool read_least(enum cost cost, struct str text, uint64_t *ret)
{
    return cost == GRAPH_COST_SECONDS ? read_seconds(text, ret) : str_to_u64(text, ret);
}

bool cost_read(struct str text, struct cost_limit *ret, struct err *err)
{
    size_t at = str_find(text, STR(">="));
    struct str name = str_trim(str_first(text, at));
    *ret = (struct cost_limit){ .cost = COSTS, .has_least = at < text.n };
    for (int i = 0; i < COSTS; i++)
        if (str_is(name, costs[i].name))
            ret->cost = (enum cost)i;
    bool known =
        ret->cost < COSTS &&
        (!ret->has_least || read_least(ret->cost, str_trim(str_from(text, at + 2)), &ret->least));
    return known || cannot_read(text, err);
}

/* ---- The graph as PyTorch compiles it ---- */

static bool is_compound(const struct graph *graph, expr_id id)
{
    const struct expr *expr = expr_at(&graph->pool->exprs, id);
    return expr->kind == EXPR_OP || expr->kind == EXPR_CALL;
}

/* Finds the compound size of an input at `edit` or behind it. */
static bool next_compound(const struct graph *graph, struct edit *edit)
{
    uint32_t position = 0;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct meta *meta = node_meta(graph, &graph->nodes[id]);
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        uint32_t n = meta && meta->kind != META_OTHER ? meta->n_sizes : 0;
        for (; position == edit->a && edit->b < n; edit->b++)
            if (is_compound(graph, meta->sizes[edit->b]))
                return true;
        if (position++ == edit->a)
            *edit = (struct edit){ EDIT_FRESH, position, 0, 0 };
    }
    return false;
}

struct candidate *cost_program(const struct candidate *candidate, struct err *err)
{
    struct candidate *ret = candidate_hold((struct candidate *)candidate);
    struct edit edit = { EDIT_FRESH, 0, 0, 0 };
    for (; next_compound(ret->graph, &edit); edit.b++) {
        struct err why = { 0 };
        struct candidate *next = candidate_apply(ret, &edit, 1, &why);
        if (!next && why.kind == ERR_ENV) {
            candidate_free(ret);
            *err = why;
            return NULL;
        }
        if (next)
            candidate_free(ret);
        ret = next ? next : ret;
    }
    return ret;
}

bool cost_keeps_compound(const struct candidate *program)
{
    struct edit edit = { EDIT_FRESH, 0, 0, 0 };
    return next_compound(program->graph, &edit);
}

/* ---- Counting ---- */

/* Counts what grows from call to call. */
static struct cost_counts count_walk(const struct graph_replay *single)
{
    struct cost_counts ret = { 0 };
    const struct op_stack_stats *row;
    ret.of[GRAPH_COST_GUARDS] = env_n_guards(single->env) - single->given_guards;
    ret.of[GRAPH_COST_EVALUATIONS] = env_counts(single->env).evaluations;
    for (size_t i = 0; (row = ops_stack_stats(single->ops, i)); i++) {
        ret.of[GRAPH_COST_DISPATCHES] += row->dispatches;
        ret.of[GRAPH_COST_SYMBOLIC] += row->symbolic_tensors;
    }
    return ret;
}

/* ---- Sizes of expressions ---- */

/* Returns the nodes of the largest size of a tensor, or of those in a list. */
static uint32_t largest_in(const struct sym_pool *pool, struct value value)
{
    uint32_t ret = 0;
    for (uint32_t i = 0; value_is_sequence(value) && i < value.n; i++) {
        uint32_t n = largest_in(pool, value.u.items[i]);
        ret = n > ret ? n : ret;
    }
    for (uint32_t i = 0; value.kind == VALUE_TENSOR && i < value.u.tensor.meta->ndim; i++) {
        uint32_t n = sym_n_nodes(pool, value.u.tensor.meta->size[i]);
        ret = n > ret ? n : ret;
    }
    return ret;
}

/* Counts the symbolic sizes of a tensor, or of those in a list. */
static uint64_t symbolic_sizes_in(struct sym_pool *pool, struct value value)
{
    uint64_t ret = 0;
    for (uint32_t i = 0; value_is_sequence(value) && i < value.n; i++)
        ret += symbolic_sizes_in(pool, value.u.items[i]);
    for (uint32_t i = 0; value.kind == VALUE_TENSOR && i < value.u.tensor.meta->ndim; i++)
        ret += !sym_is_number(pool, value.u.tensor.meta->size[i]);
    return ret;
}

/* Of the result of a step of the root. */
static uint32_t largest_of(const struct graph_replay *single, node_id node)
{
    return largest_in(env_pool(single->env), single->program->first[node]);
}

static uint64_t expr_size(const struct graph_replay *single)
{
    uint32_t ret = 0;
    for (node_id i = 0; i < single->program->n_steps; i++) {
        uint32_t n = largest_of(single, i);
        ret = n > ret ? n : ret;
    }
    return ret;
}

struct cost_counts cost_of_walk(const struct graph_replay *single, const struct graph *graph)
{
    struct cost_counts ret = count_walk(single);
    ret.of[GRAPH_COST_EXPR_SIZE] = expr_size(single);
    ret.of[GRAPH_COST_EXPRS] = sym_pool_count(env_pool(single->env));
    ret.of[GRAPH_COST_CALLS] = graph_counts(graph).calls;
    return ret;
}

/* Adds the nodes of the guards from number `from` on. */
static uint64_t guard_nodes(const struct graph_replay *single, uint32_t from)
{
    uint64_t ret = 0;
    for (uint32_t i = from; i < env_n_guards(single->env); i++)
        ret += sym_n_nodes(env_pool(single->env), env_guard_at(single->env, i)->expr);
    return ret;
}

struct cost_nodes cost_nodes_of_walk(const struct graph_replay *single)
{
    return (struct cost_nodes){ .evaluated = env_counts(single->env).evaluated_nodes,
                                .guards = guard_nodes(single, 0),
                                .exprs = sym_pool_count(env_pool(single->env)) };
}

/* ---- By operator ---- */

struct cost_walk {
    struct cost_table *table;
    struct cost_counts before; /* the call that is made now */
    uint64_t evaluated_before; /* nodes */
    size_t exprs_before;
    uint32_t guards_before;
    struct graph_cost_row *row; /* its operator's */
    bool failed;
};

/* Returns the row of an operator, which is added if it is new; NULL: no memory. */
static struct graph_cost_row *row_of(struct cost_table *table, struct str op)
{
    struct graph_cost_row *rows = table->rows.v;
    for (size_t i = 0; i < table->rows.n; i++)
        if (str_eq(rows[i].op, op))
            return &rows[i];
    struct graph_cost_row row = { .op = arena_copy(&table->arena, op) };
    return row.op.p && vec_push(&table->rows, row) ? &table->rows.v[table->rows.n - 1] : NULL;
}

static void begin_call(void *user, struct graph_replay *single, const struct step *step)
{
    struct cost_walk *w = user;
    w->before = count_walk(single);
    w->evaluated_before = env_counts(single->env).evaluated_nodes;
    w->exprs_before = sym_pool_count(env_pool(single->env));
    w->guards_before = env_n_guards(single->env);
    w->row = row_of(w->table, str_of(step->name));
}

static bool end_call(void *user, struct graph_replay *single, const struct step *step)
{
    struct cost_walk *w = user;
    struct cost_counts now = count_walk(single);
    if (!w->row)
        return w->failed = true, false;
    for (enum cost i = 0; i < COSTS; i++)
        w->row->counts.of[i] += now.of[i] - w->before.of[i];
    w->row->counts.of[GRAPH_COST_CALLS]++;
    w->row->nodes.evaluated += env_counts(single->env).evaluated_nodes - w->evaluated_before;
    w->row->nodes.guards += guard_nodes(single, w->guards_before);
    w->row->nodes.exprs += sym_pool_count(env_pool(single->env)) - w->exprs_before;
    w->row->symbolic_sizes +=
        symbolic_sizes_in(env_pool(single->env), single->program->first[step->node]);
    uint64_t largest = largest_of(single, step->node);
    if (largest > w->row->counts.of[GRAPH_COST_EXPR_SIZE])
        w->row->counts.of[GRAPH_COST_EXPR_SIZE] = largest;
    return true;
}

static bool make_table(struct cost_table *ret, const struct candidate *candidate, struct err *err)
{
    struct engines *engines = data_of(candidate)->texts->engines;
    struct cost_walk w = { .table = ret };
    *ret = (struct cost_table){ 0 };
    struct graph_replay *single = engines_take(engines, err);
    if (!single)
        return false;
    single->before = begin_call;
    single->more = end_call;
    single->more_user = &w;
    bool ok = engines_walk(single, candidate, NULL, &ret->arena, err);
    single->before = NULL;
    single->more = NULL;
    if (ok) {
        ret->total = cost_of_walk(single, candidate->graph);
        ret->nodes = cost_nodes_of_walk(single);
        ok = !w.failed || err_nomem(err);
    }
    engines_give(engines, single);
    if (!ok)
        cost_table_release(ret);
    return ok;
}

bool cost_table_make(struct cost_table *ret, const struct candidate *candidate, struct err *err)
{
    struct candidate *program = cost_program(candidate, err);
    bool ok = program && make_table(ret, program, err);
    candidate_free(program);
    return ok;
}

void cost_table_release(struct cost_table *table)
{
    vec_release(&table->rows);
    arena_release(&table->arena);
    *table = (struct cost_table){ 0 };
}

uint64_t cost_half(const struct cost_table *table, enum cost cost)
{
    return table->total.of[cost] / 2 + table->total.of[cost] % 2;
}

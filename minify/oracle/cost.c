#include "minify/oracle/cost.h"

#include "minify/candidate/candidate_data.h"
#include "minify/candidate/engines.h"
#include "replay/ops/model/stats.h"

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

bool cost_read(struct str text, struct cost_limit *ret, struct err *err)
{
    size_t at = str_find(text, STR(">="));
    struct str name = str_trim(str_first(text, at));
    *ret = (struct cost_limit){ .cost = COSTS, .has_least = at < text.n };
    for (int i = 0; i < COSTS; i++)
        if (str_is(name, costs[i].name))
            ret->cost = (enum cost)i;
    bool known = ret->cost < COSTS &&
                 (!ret->has_least || str_to_u64(str_trim(str_from(text, at + 2)), &ret->least));
    return known || cannot_read(text, err);
}

/* ---- Counting ---- */

/* Counts what grows from call to call. */
static struct cost_counts count_walk(const struct graph_replay *single)
{
    struct cost_counts ret = { 0 };
    const struct op_stack_stats *row;
    ret.of[COST_GUARDS] = env_n_guards(single->env) - single->given_guards;
    ret.of[COST_EVALUATIONS] = env_counts(single->env).evaluations;
    for (size_t i = 0; (row = ops_stack_stats(single->ops, i)); i++) {
        ret.of[COST_DISPATCHES] += row->dispatches;
        ret.of[COST_SYMBOLIC] += row->symbolic_tensors;
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

/* Of the result of a step of the root. */
static uint32_t largest_of(const struct graph_replay *single, node_id node)
{
    return largest_in(env_pool(single->env), single->program->first[node]);
}

/* Returns by how many nodes the sizes of inputs exceed symbols. In PyTorch each is a symbol: a
 * graph whose inputs have the expressions does not make them. */
static uint32_t excess_of_inputs(const struct graph_replay *single)
{
    uint32_t ret = 1;
    for (node_id i = 0; i < single->program->n_steps; i++) {
        uint32_t n = node_is_call(&single->program->graph->nodes[i]) ? 0 : largest_of(single, i);
        ret = n > ret ? n : ret;
    }
    return ret - 1;
}

static uint64_t expr_size(const struct graph_replay *single)
{
    uint32_t ret = 0, excess = excess_of_inputs(single);
    for (node_id i = 0; i < single->program->n_steps; i++) {
        uint32_t n = largest_of(single, i);
        ret = n > ret ? n : ret;
    }
    return ret > excess ? ret - excess : 0;
}

struct cost_counts cost_of_walk(const struct graph_replay *single, const struct graph *graph)
{
    struct cost_counts ret = count_walk(single);
    ret.of[COST_EXPR_SIZE] = expr_size(single);
    ret.of[COST_EXPRS] = sym_pool_count(env_pool(single->env));
    ret.of[COST_CALLS] = graph_counts(graph).calls;
    return ret;
}

/* ---- By operator ---- */

struct cost_walk {
    struct cost_table *table;
    struct cost_counts before; /* the call that is made now */
    struct cost_row *row;      /* its operator's */
    bool failed;
};

/* Returns the row of an operator, which is added if it is new; NULL: no memory. */
static struct cost_row *row_of(struct cost_table *table, struct str op)
{
    struct cost_row *rows = table->rows.v;
    for (size_t i = 0; i < table->rows.n; i++)
        if (str_eq(rows[i].op, op))
            return &rows[i];
    struct cost_row row = { .op = arena_copy(&table->arena, op) };
    return row.op.p && vec_push(&table->rows, row) ? &table->rows.v[table->rows.n - 1] : NULL;
}

static void begin_call(void *user, struct graph_replay *single, const struct step *step)
{
    struct cost_walk *w = user;
    w->before = count_walk(single);
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
    w->row->counts.of[COST_CALLS]++;
    uint64_t largest = largest_of(single, step->node);
    if (largest > w->row->counts.of[COST_EXPR_SIZE])
        w->row->counts.of[COST_EXPR_SIZE] = largest;
    return true;
}

bool cost_table_make(struct cost_table *ret, const struct candidate *candidate, struct err *err)
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
        ok = !w.failed || err_nomem(err);
    }
    engines_give(engines, single);
    if (!ok)
        cost_table_release(ret);
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

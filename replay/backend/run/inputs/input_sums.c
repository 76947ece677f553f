#include "replay/backend/run/inputs/input_sums.h"

#include "replay/backend/run/inputs/random_values.h"
#include "replay/backend/run/run_guards.h"
#include "replay/backend/run/run_symbols.h"
#include "replay/backend/values/elements.h"
#include "replay/ops/dispatch/schema.h"

enum {
    READS = 256 /* numbers that are looked at */,
    CHAIN = 16 /* calls from a read to its input */
};

/* A call that reads an unbacked symbol from a tensor. */
struct read {
    const struct step *step;
    struct str symbol;
};
struct reads {
    struct read list[READS];
    uint32_t n;
};

static bool is_base(const struct step *step, const char *const *bases, size_t n)
{
    for (size_t i = 0; step->kind == STEP_OPERATOR && i < n; i++)
        if (str_is(op_schema(step->op)->base, bases[i]))
            return true;
    return false;
}

/* Returns the symbol that the step's result is, or "". */
static struct str symbol_of(const struct run *run, const struct step *step)
{
    const struct graph_pool *pool = run->graph->pool;
    const struct node *node = &run->graph->nodes[step->node];
    const struct meta *meta = node->meta == META_NONE ? NULL : &pool->metas[node->meta];
    const struct expr *e =
        meta && meta->kind == META_SYM ? expr_at(&pool->exprs, meta->sizes[0]) : NULL;
    return e && e->kind == EXPR_SYMBOL ? e->text : STR("");
}

static void find_reads(const struct run *run, struct reads *reads)
{
    static const char *const items[] = { "_local_scalar_dense", "item" };
    for (uint32_t i = 0; i < run->program->n_steps && reads->n < READS; i++) {
        const struct step *step = &run->program->steps[i];
        struct str symbol = run->binds[i] ? symbol_of(run, step) : STR("");
        if (symbol.n && step->n_patches && is_base(step, items, sizeof items / sizeof *items))
            reads->list[reads->n++] = (struct read){ step, symbol };
    }
}

/* ---- The elements that are read ---- */

/* Returns positional argument i of the step; -1: it is no number. */
static int64_t number_at(const struct run *run, const struct step *step, uint32_t i)
{
    int64_t number;
    bool is_int = i < step->n_args && step->args[i].kind == VALUE_INT;
    return is_int && sym_to_i64(ops_pool(run->ops), step->args[i].u.sym, &number) ? number : -1;
}

/* Returns whether the call sums a tensor of that many dimensions over the last one. */
static bool sums_rows(const struct run *run, const struct step *step, uint32_t ndim)
{
    int64_t dim;
    if (step->n_args < 2)
        return ndim == 1;
    const struct value *dims = &step->args[1];
    if (!value_is_sequence(*dims) || dims->n != 1 || dims->u.items[0].kind != VALUE_INT ||
        !sym_to_i64(ops_pool(run->ops), dims->u.items[0].u.sym, &dim))
        return false;
    return dim == -1 || dim == (int64_t)ndim - 1;
}

/* Follows one call towards the input. Returns false if it is not one that this file knows. */
static bool follow_call(const struct run *run, const struct step *step, uint32_t ndim,
                        struct input_sum *sum)
{
    static const char *const same[] = { "_to_copy", "clone",   "alias",     "detach", "view",
                                        "reshape",  "squeeze", "unsqueeze", "to" };
    if (is_base(step, (const char *const[]){ "sum" }, 1)) {
        bool first = sum->single && ndim <= 2;
        sum->single = false;
        return first && sums_rows(run, step, ndim);
    }
    if (is_base(step, (const char *const[]){ "select" }, 1)) {
        bool first = sum->row < 0 && number_at(run, step, 1) == 0;
        sum->row = number_at(run, step, 2);
        return first && sum->row >= 0;
    }
    return is_base(step, same, sizeof same / sizeof *same);
}

/* Sets the elements of an input that a read depends on. */
static bool find_elements(const struct run *run, const struct read *read, struct input_sum *sum)
{
    const struct program *p = run->program;
    const struct step *step = read->step;
    *sum = (struct input_sum){ .row = -1, .single = true };
    for (unsigned i = 0; i < CHAIN; i++) {
        if (!step->n_patches || p->patches[step->first_patch].from >= p->n_steps)
            return false;
        step = &p->steps[p->patches[step->first_patch].from];
        uint32_t ndim = step->expected->kind == EXPECT_TENSOR ? step->expected->ndim : 0;
        if (step->kind == STEP_INPUT) {
            sum->input = step->node;
            bool whole = ndim == 1 && !sum->single && sum->row < 0;
            sum->row = whole ? 0 : sum->row;
            return whole || (sum->row >= 0 && ndim == (sum->single ? 1 : 2));
        }
        if (step->kind != STEP_OPERATOR || !step->n_patches)
            return false;
        node_id from = p->patches[step->first_patch].from;
        const struct expected *argument = from < p->n_steps ? p->steps[from].expected : NULL;
        if (!argument || argument->kind != EXPECT_TENSOR ||
            !follow_call(run, step, argument->ndim, sum))
            return false;
    }
    return false;
}

/* ---- The numbers ---- */

/* Gives symbols of one equation equal shares of what they add up to: the last one is what is left
 * if the others are 0. */
static bool share_equation(struct run *run, const struct reads *reads, struct str equation,
                           struct err *err)
{
    struct run_size *sizes[READS];
    struct str last = { 0 };
    size_t before = run->n_symbols;
    uint32_t n = 0;
    for (uint32_t i = 0; i < reads->n; i++) {
        struct str symbol = reads->list[i].symbol;
        if (run_size_of(run, symbol) || str_eq(symbol, last) || !run_names(equation, symbol))
            continue;
        if (last.n && !run_add_size(run, last, 0))
            return err_nomem(err);
        if (last.n)
            sizes[n++] = &run->symbols[run->n_symbols - 1];
        last = symbol;
    }
    if (!n || !run_solve_symbols(run, err)) {
        run->n_symbols = before;
        return !err_is_set(err);
    }
    struct run_size *rest = run_size_of(run, last);
    if (!rest) {
        run->n_symbols = before;
        return true;
    }
    int64_t share = rest->value / (n + 1);
    for (uint32_t i = 0; i < n; i++)
        sizes[i]->value = share;
    rest->value -= share * n;
    return true;
}

static bool share_equations(struct run *run, const struct reads *reads, struct err *err)
{
    for (size_t i = 0; i < run->options.n_guards && reads->n; i++) {
        const struct run_guard *guard = &run->options.guards[i];
        bool equation = guard->kind == RUN_GUARD_GUARD || guard->kind == RUN_GUARD_ASSERT;
        if (equation && str_starts(guard->expr, STR("Eq(")) &&
            !share_equation(run, reads, guard->expr, err))
            return false;
    }
    return true;
}

bool input_sums_find(struct run *run, struct err *err)
{
    struct reads reads = { .n = 0 };
    if (run->exec.invents)
        find_reads(run, &reads);
    run->sums = arena_array(&run->arena, struct input_sum, reads.n + 1u);
    if (!run->sums)
        return err_nomem(err);
    if (!run_solve_symbols(run, err) || !share_equations(run, &reads, err))
        return false;
    for (uint32_t i = 0; i < reads.n; i++) {
        const struct run_size *size = run_size_of(run, reads.list[i].symbol);
        struct input_sum *sum = &run->sums[run->n_sums];
        if (!size || !find_elements(run, &reads.list[i], sum))
            continue;
        sum->total = size->value;
        run->n_sums++;
    }
    return true;
}

/* Returns where part i begins if the total is cut into n parts that differ by up to their mean. */
static int64_t cut_at(int64_t total, size_t i, size_t n)
{
    int64_t mean = total / (int64_t)n, rest = total % (int64_t)n;
    int64_t at = mean * (int64_t)i + ((int64_t)i < rest ? (int64_t)i : rest);
    bool inner = i > 0 && i < n;
    return inner ? at + (int64_t)(random_mixed(i) % (uint64_t)(mean / 2 + 1)) : at;
}

static void cut_row(int64_t total, enum dtype dtype, void *p, size_t first, size_t n)
{
    for (size_t i = 0; i < n; i++)
        store_int(dtype, p, (int64_t)(first + i), cut_at(total, i + 1, n) - cut_at(total, i, n));
}

void input_sums_apply(const struct run *run, node_id input, enum dtype dtype, void *p, size_t n,
                      size_t row)
{
    for (uint32_t i = 0; i < run->n_sums; i++) {
        const struct input_sum *sum = &run->sums[i];
        uint64_t first = (uint64_t)sum->row * (sum->single ? 1 : row);
        size_t elements = sum->single ? 1 : row;
        if (sum->input == input && dense_kind_of(dtype) == DENSE_INT && first < n &&
            elements <= n - first)
            cut_row(sum->total, dtype, p, (size_t)first, elements);
    }
}

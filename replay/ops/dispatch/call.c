/* The steps of a call.
 *
 *     ops_call(), ops_call_op()   a call from outside; call_op() (results.c) one from a rule
 *     ops_dispatch()              binds the arguments, once, into a struct call
 *     layers.enter()              the outermost layer over computing (replay/ops/layers.c): the
 *                                 dispatch model, then the memo; each returns a result or calls the
 *                                 next
 *     compute_call()              runs the row's rule, and evaluates the conditions that
 *                                 FakeTensorMode evaluates around it
 *
 * A rule that calls another operator enters ops_dispatch() again, at one more depth. */
#include "replay/ops/dispatch/context.h"

/* --- Computing --- */

/* has_symbolic_sizes of FakeTensorMode._dispatch_impl: SymFloats and SymBools do not count. */
static bool value_symbolic(const struct ops *ops, const struct value *value, unsigned depth)
{
    switch (value->kind) {
    case VALUE_TENSOR: return ops->metas.symbolic.v[value->u.tensor.meta->id];
    case VALUE_INT: return !sym_is_number(ops->pool, value->u.sym);
    case VALUE_LIST:
    case VALUE_TUPLE:
    case VALUE_DICT:
        for (uint32_t i = 0; i < value->n && depth < 64; i++)
            if (value_symbolic(ops, &value->u.items[i], depth + 1))
                return true;
        return false;
    default: return false;
    }
}

static void number_fresh_storages(struct ops *ops, struct value *value)
{
    if (value->kind == VALUE_TENSOR && value->u.tensor.storage == STORAGE_FRESH)
        value->u.tensor.storage = ops->next_storage++;
    if (value->kind != VALUE_LIST && value->kind != VALUE_TUPLE)
        return;
    struct value *items = (struct value *)value->u.items;
    for (uint32_t i = 0; i < value->n; i++)
        if (items[i].kind == VALUE_TENSOR && items[i].u.tensor.storage == STORAGE_FRESH)
            items[i].u.tensor.storage = ops->next_storage++;
}

/* Turns what the environment raised into this call's refusal, so that the next call starts clean.
 */
static bool take_raised(struct call *c)
{
    struct env_raised what = env_raised(c->env);
    if (c->failed || what.kind == ENV_RAISED_NOTHING)
        return !c->failed;
    c->failed = true;
    if (what.kind == ENV_RAISED_MEMORY)
        ops_no_memory(c->ops);
    else
        ops_refuse(c->ops, str_of(what.type), "%.*s", STR_ARG(what.text));
    return false;
}

static bool concrete(struct call *c, struct value *value)
{
    if (value->kind == VALUE_INT && !sym_is_number(c->pool, value->u.sym))
        value->u.sym = num(c, guard_int(c, value->u.sym));
    return !c->failed;
}

/* Converts results to Python ints where the schema says int instead of SymInt. */
static bool make_ints(struct call *c)
{
    const struct schema *s = &c->op->schema;
    if (s->n_results != 1 || s->results[0].type != SCHEMA_INT)
        return true;
    if (!s->results[0].list)
        return concrete(c, &c->ret);
    for (uint32_t i = 0; i < c->ret.n; i++)
        if (!concrete(c, (struct value *)&c->ret.u.items[i]))
            return false;
    return true;
}

/* Sets the result to the first argument that is a tensor. False: there is none. */
static bool return_first(struct call *c)
{
    for (uint32_t i = 0; i < c->n_args; i++)
        if (c->args[i].kind == VALUE_TENSOR)
            return ret_tensor(c, c->args[i].u.tensor);
    return false;
}

/* Computes the call by its rule, or as an ablation says. */
static bool compute_result(struct call *c)
{
    uint32_t without_mode = c->ops->without_mode;
    if (op_is_ablated(c->op, ABLATION_IDENTITY) && return_first(c))
        return true;
    bool done = (op_is_ablated(c->op, ABLATION_FAST_PATH) && fast_path(c, false) &&
                 c->ops->added_fast_path && c->ops->added_fast_path(c)) ||
                (!c->failed && c->op->rule(c));
    c->ops->without_mode = without_mode;
    return done;
}

static enum op_outcome run_rule(struct call *c)
{
    struct ops *ops = c->ops;
    for (uint32_t i = 0; i < c->n_args && !c->symbolic; i++)
        c->symbolic = value_symbolic(ops, &c->args[i], 0);
    ops->outcome = OP_DONE;
    if (c->op->writes && !ops->kernel)
        clone_saved(c);
    if (!ops->kernel)
        ask_metadata(c, NULL);
    bool done = !c->failed && check_backend(c) && compute_result(c);
    if (done && !c->failed && c->symbolic)
        done = make_ints(c);
    if (done && !c->failed && c->op->writes)
        done = finish_written(c);
    if (done && !c->failed && !ops->kernel)
        ask_metadata(c, &c->ret);
    done = take_raised(c) && done;
    if (!done && !c->failed && ops->outcome == OP_DONE)
        unsupported(c, "%.*s: its rule returned no result", STR_ARG(c->op->name));
    if (c->failed || !done)
        return ops->outcome == OP_DONE ? ops_no_memory(ops) : ops->outcome;
    number_fresh_storages(ops, &c->ret);
    return OP_DONE;
}

enum op_outcome run_call(struct call *c, bool deeper)
{
    struct ops *ops = c->ops;
    size_t written = ops->written.n;
    const struct call *outermost = ops->outermost;
    if (!ops->nesting)
        ops->outermost = c;
    ops->depth += deeper;
    ops->nesting++;
    enum op_outcome outcome = run_rule(c);
    ops->nesting--;
    ops->depth -= deeper;
    ops->outermost = outermost;
    c->repeatable = ops->written.n == written;
    if (ops->nesting)
        ops->written.n = written; /* of a nested call: its writes are not reported outside */
    return outcome;
}

bool is_dispatched(const struct call *c)
{
    return !c->op->composite || c->ops->depth;
}

enum op_outcome compute_call(struct call *c)
{
    uint32_t symbols = env_n_symbols(c->env), asserts = env_n_asserts(c->env);
    uint64_t memo_uses = c->ops->memo_uses;
    enum op_outcome outcome = run_call(c, is_dispatched(c));
    if (outcome != OP_DONE)
        return outcome;
    bool made_symbols = env_n_symbols(c->env) != symbols;
    c->repeatable = c->repeatable && !made_symbols && env_n_asserts(c->env) == asserts &&
                    c->ops->memo_uses == memo_uses;
    if (call_bypass(c) == OP_BYPASS_NONE && c->op->composite && c->op->schema.n_results &&
        c->op->schema.results[0].alias)
        c->bypass = OP_BYPASS_COMPOSITE;
    if (c->bypass == OP_BYPASS_NONE)
        c->bypass = made_symbols ? OP_BYPASS_UNREPRESENTED : bypass_of_result(c);
    if (c->bypass == OP_BYPASS_NONE && !c->op->composite)
        ask_synthesized(c->ops, c->op, c->ret);
    return OP_DONE;
}

/* --- Dispatching --- */

struct call call_of(struct ops *ops, const struct op *op, const struct value *bound)
{
    return (struct call){ .ops = ops,
                          .env = ops->env,
                          .pool = ops->pool,
                          .op = op,
                          .args = bound,
                          .n_args = op->schema.n_args,
                          .param = op->param,
                          .fresh_from = ops->next_storage };
}

/* Calls with an observer are computed, and so are calls of a meta kernel, which do not pass through
 * FakeTensorMode and its cache. */
static enum op_outcome answer_call(struct call *c, struct value *bound)
{
    if (c->ops->nested_observer)
        return observed_call(c, bound);
    return c->ops->kernel ? run_call(c, false) : c->ops->layers.enter(c);
}

enum op_outcome ops_dispatch_slices(struct ops *ops, struct op *op, struct value *bound,
                                    struct value *ret)
{
    if (ops->nesting >= OPS_MAX_DEPTH)
        return ops_unsupported(ops, "%.*s: its calls nest too deep", STR_ARG(op->name));
    struct call c = call_of(ops, op, bound);
    enum op_outcome outcome = answer_call(&c, bound);
    if (outcome != OP_DONE)
        return outcome;
    if (op->writes)
        forget_written(&c);
    if (!ops->kernel)
        mark_cached_views(&c);
    *ret = c.ret;
    return OP_DONE;
}

static bool has_batched_item(struct value list)
{
    for (uint32_t i = 0; i < list.n; i++)
        if (list.u.items[i].kind == VALUE_TENSOR && list.u.items[i].u.tensor.batch)
            return true;
    return false;
}

static bool has_batched(const struct value *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (args[i].kind == VALUE_TENSOR
                ? args[i].u.tensor.batch != 0
                : (args[i].kind == VALUE_LIST || args[i].kind == VALUE_TUPLE) &&
                      has_batched_item(args[i]))
            return true;
    return false;
}

enum op_outcome ops_dispatch_bound(struct ops *ops, struct op *op, struct value *bound,
                                   struct value *ret)
{
    return ops->batched.n && ops->call_batched && !ops->nested_observer &&
                   has_batched(bound, op->schema.n_args)
               ? ops->call_batched(ops, op, bound, ret)
               : ops_dispatch_slices(ops, op, bound, ret);
}

enum op_outcome ops_dispatch(struct ops *ops, struct op *op, const struct arguments *arguments,
                             struct value *ret)
{
    struct value bound[OPS_MAX_ARGS];
    *ret = value_none();
    if (!op_prepare(ops, op))
        return ops->outcome;
    ops->outcome = OP_DONE;
    enum op_outcome outcome = ops_bind(ops, op, arguments, bound);
    return outcome == OP_DONE ? ops_dispatch_bound(ops, op, bound, ret) : outcome;
}

/* --- Calls from outside --- */

enum op_outcome ops_call_op(struct ops *ops, const struct op *op, const struct arguments *arguments,
                            struct value *ret)
{
    struct op *row = op_table_row(&ops->table, op->index);
    ops->written.n = 0;
    err_clear(&ops->failure);
    if (!row)
        return ops_no_memory(ops);
    return (ops->layers.outside ? ops->layers.outside : ops_dispatch)(ops, row, arguments, ret);
}

enum op_outcome ops_call(struct ops *ops, struct str name, const struct arguments *arguments,
                         struct value *ret)
{
    struct op *op = op_table_find(&ops->table, name);
    if (!op) {
        *ret = value_none();
        return ops_unsupported(ops, "%.*s", STR_ARG(name));
    }
    return ops_call_op(ops, op, arguments, ret);
}

enum op_outcome ops_bind_call(struct ops *ops, const struct op *op,
                              const struct arguments *arguments, struct value *bound,
                              const struct schema **schema)
{
    struct op *row = op_table_row(&ops->table, op->index);
    err_clear(&ops->failure);
    if (!row)
        return ops_no_memory(ops);
    if (!op_prepare(ops, row))
        return ops->outcome;
    *schema = &row->schema;
    ops->outcome = OP_DONE;
    return ops_bind(ops, row, arguments, bound);
}

enum op_outcome ops_call_bound(struct ops *ops, const struct op *op, struct value *bound,
                               struct value *ret)
{
    *ret = value_none();
    ops->written.n = 0;
    err_clear(&ops->failure);
    ops->outcome = OP_DONE;
    struct op *row = op_table_row(&ops->table, op->index);
    return row ? ops_dispatch_bound(ops, row, bound, ret) : ops_no_memory(ops);
}

/* --- Counts of PyTorch that rules report --- */

void count(struct call *c, enum op_counter counter)
{
    if (c->ops->layers.counter)
        c->ops->layers.counter(c, counter);
}

void count_dispatches(struct call *c, uint32_t n)
{
    if (c->ops->layers.dispatches)
        c->ops->layers.dispatches(c, n);
}

void count_call(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                const sym_id *args, uint32_t n, uint32_t within)
{
    if (c->ops->layers.step)
        c->ops->layers.step(c, name, x, g, args, n, within);
}

struct tensor count_made(struct call *c, const char *name, struct tensor x)
{
    if (c->ops->layers.made)
        c->ops->layers.made(c, name, x);
    return x;
}

void count_devices(struct call *c, uint32_t n)
{
    if (c->ops->layers.devices)
        c->ops->layers.devices(c, n);
}

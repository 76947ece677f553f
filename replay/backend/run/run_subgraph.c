#include "replay/backend/run/run_subgraph.h"

#include <string.h>

/* A loop that does not end, because of random values, is reported after LOOP_MOST iterations. */
enum { LOOP_MOST = 1 << 20, OPERANDS_MOST = 1024 };

static bool pass_input(struct interpreter *in, struct program *p, const struct step *step,
                       uint32_t number, const struct value *passed, struct value *ret)
{
    (void)p;
    (void)step;
    if (!passed)
        return err_set(in->err, ERR_USAGE, "it needs more than the %u values that it is given",
                       number);
    *ret = *passed;
    return true;
}

static bool note_step(struct interpreter *in, struct program *p, const struct step *step)
{
    struct run *run = in->user;
    (void)p;
    run->inner_node = step->node;
    return true;
}

static const struct interpreter_callbacks steps_of_child = {
    .begin = note_step,
    .input = pass_input,
    .call = run_call_step,
    .other = run_other_step,
    .missing = run_missing,
};

static bool run_child(struct run *run, struct str name, const struct value *args, uint32_t n,
                      struct value *ret, struct err *err)
{
    struct interpreter *in = &run->interpreter;
    struct program *p = program_child(in->program, name);
    struct err *outer_err = in->err;
    node_id outer_node = run->inner_node;
    if (!p)
        return err_set(err, ERR_USAGE, "there is no subgraph %.*s", STR_ARG(name));
    in->err = err;
    bool ok = interpret(in, &steps_of_child, p, args, n, ret);
    in->err = outer_err;
    if (!ok)
        err_at(err, "%.*s: node %.*s", STR_ARG(name),
               STR_ARG(p->graph->nodes[run->inner_node].name));
    run->inner_node = outer_node;
    return ok;
}

enum op_outcome run_subgraph(void *user, struct str graph, const struct value *args, uint32_t n,
                             struct value *ret)
{
    struct run *run = user;
    struct ops_outside outside = ops_step_out(run->ops);
    bool ok = run_child(run, graph, args, n, ret, &run->inner);
    ops_step_in(run->ops, outside);
    return ok ? OP_DONE : OP_UNSUPPORTED;
}

static struct str operator_name(const struct step *step)
{
    struct str name = step->target, prefix = STR("higher_order.");
    size_t at = str_find(name, prefix);
    return at < name.n ? str_from(name, at + prefix.n) : STR("");
}

bool run_chooses(const struct step *step)
{
    struct str name = operator_name(step);
    return str_eq(name, STR("cond")) || str_eq(name, STR("while_loop")) ||
           str_eq(name, STR("scan")) || str_eq(name, STR("map_impl")) ||
           str_eq(name, STR("associative_scan"));
}

static bool condition_holds(struct run *run, struct value v, bool *ret, struct err *err)
{
    unsigned char bytes[16] = { 0 };
    *ret = v.kind == VALUE_BOOL && v.u.sym == SYM_ID_TRUE;
    if (v.kind != VALUE_TENSOR)
        return true;
    size_t size = dtype_size(v.u.tensor.meta->dtype);
    if (size > sizeof bytes || !exec_read(&run->exec, v.u.tensor, bytes, size, err))
        return err_set(err, ERR_USAGE, "a condition without a value");
    for (size_t i = 0; i < size; i++)
        *ret |= bytes[i] != 0;
    return true;
}

static bool append_operands(struct value *to, uint32_t *n, struct value from)
{
    bool many = value_is_sequence(from);
    uint32_t count = many ? from.n : 1;
    if (count > OPERANDS_MOST - *n)
        return false;
    for (uint32_t i = 0; i < count; i++)
        to[(*n)++] = many ? from.u.items[i] : from;
    return true;
}

static bool run_while_loop(struct run *run, const struct step *step, struct value *ret,
                           struct err *err)
{
    struct value args[OPERANDS_MOST], carried = step->args[2], more;
    for (uint32_t turn = 0; turn < LOOP_MOST; turn++) {
        uint32_t n = 0;
        bool on;
        if (!append_operands(args, &n, carried) ||
            (step->n_args > 3 && !append_operands(args, &n, step->args[3])))
            return err_set(err, ERR_USAGE, "more than %d operands", OPERANDS_MOST);
        if (!run_child(run, step->args[0].u.text, args, n, &more, err))
            return false;
        if (value_is_sequence(more) && more.n == 1)
            more = more.u.items[0];
        if (!condition_holds(run, more, &on, err))
            return false;
        if (!on ||
            (turn &&
             run->options.backend->kind->shapes_only)) { /* one iteration determines the sizes */
            *ret = carried;
            return true;
        }
        if (!run_child(run, step->args[1].u.text, args, n, &carried, err))
            return false;
    }
    return err_set(err, ERR_USAGE, "a loop of more than %d iterations", LOOP_MOST);
}

/* ---- Subgraphs that are run for each slice: scan, map_impl, associative_scan ---- */

struct scan_slices {
    struct value carried[OPERANDS_MOST]; /* passed from one iteration to the next */
    uint32_t n_carried;
    struct value xs, more;
    int64_t turns;
    struct value *results; /* [iteration][n_results]: to be stacked */
    uint32_t n_results;
};

static bool call_operator(struct run *run, const char *name, const struct value *args, uint32_t n,
                          struct value *ret, struct err *err)
{
    const struct op *op = ops_find(run->ops, str_of(name));
    if (op && exec_call(&run->exec, op, args, n, NULL, 0, ret, err) == EXEC_DONE)
        return true;
    return err_set(err, ERR_USAGE, "%s: %.*s", name, STR_ARG(ops_error(run->ops)->text));
}

/* Appends slice i of all xs. */
static bool append_slices(struct run *run, const struct scan_slices *s, int64_t i, struct value *to,
                          uint32_t *n, struct err *err)
{
    for (uint32_t x = 0; x < s->xs.n; x++) {
        struct value args[] = { s->xs.u.items[x], value_int(SYM_ID_ZERO),
                                value_int(sym_integer(ops_pool(run->ops), i)) };
        if (*n == OPERANDS_MOST)
            return err_set(err, ERR_USAGE, "more than %d operands", OPERANDS_MOST);
        if (!call_operator(run, "aten.select.int", args, 3, &to[(*n)++], err))
            return false;
    }
    return true;
}

/* Stores the results of an iteration. scan passes its first results on to the next one,
 * associative_scan passes all. */
static bool store_results(struct run *run, struct scan_slices *s, struct str name, int64_t turn,
                          struct value got, struct err *err)
{
    struct value all[OPERANDS_MOST];
    uint32_t n = 0, first = str_eq(name, STR("scan")) ? s->n_carried : 0;
    if (!append_operands(all, &n, got) || n < first)
        return err_set(err, ERR_USAGE, "a subgraph returned different results");
    if (!s->results) {
        s->n_results = n - first;
        size_t capacity = (size_t)s->turns * s->n_results + 1;
        s->results = arena_array(&run->arena, struct value, capacity);
        if (!s->results)
            return err_nomem(err);
    }
    if (n - first != s->n_results)
        return err_set(err, ERR_USAGE, "a subgraph returned different results");
    memcpy(s->carried, all, (first ? first : n) * sizeof *all);
    memcpy(s->results + (size_t)turn * s->n_results, all + first, s->n_results * sizeof *all);
    return true;
}

static bool stack_results(struct run *run, const struct scan_slices *s, uint32_t carried,
                          struct value *ret, struct err *err)
{
    struct value *items =
        arena_array(&run->arena, struct value, (size_t)carried + s->n_results + 1);
    struct value *list = arena_array(&run->arena, struct value, (size_t)s->turns + 1);
    if (!items || !list)
        return err_nomem(err);
    memcpy(items, s->carried, carried * sizeof *items);
    for (uint32_t r = 0; r < s->n_results; r++) {
        for (int64_t i = 0; i < s->turns; i++)
            list[i] = s->results[(size_t)i * s->n_results + r];
        struct value args[] = { value_items(VALUE_LIST, list, (uint32_t)s->turns) };
        if (list[0].kind != VALUE_TENSOR)
            items[carried + r] = list[0];
        else if (!call_operator(run, "aten.stack.default", args, 1, &items[carried + r], err))
            return false;
    }
    *ret = value_items(VALUE_TUPLE, items, carried + s->n_results);
    return true;
}

static bool read_scan(struct run *run, const struct step *step, struct str name,
                      struct scan_slices *s, struct err *err)
{
    bool scan = str_eq(name, STR("scan"));
    uint32_t at = scan ? 2 : 1;
    *s = (struct scan_slices){ .xs = step->args[at] };
    if (step->n_args > at + 1)
        s->more = step->args[at + 1];
    if (!value_is_sequence(s->xs) || !s->xs.n || s->xs.u.items[0].kind != VALUE_TENSOR ||
        !s->xs.u.items[0].u.tensor.meta->ndim ||
        !sym_to_i64(ops_pool(run->ops), s->xs.u.items[0].u.tensor.meta->size[0], &s->turns) ||
        s->turns < 1 || s->turns > LOOP_MOST || step->args[0].kind != VALUE_GRAPH)
        return err_set(err, ERR_USAGE, "slices that cannot be run");
    return !scan || append_operands(s->carried, &s->n_carried, step->args[1]) ||
           err_set(err, ERR_USAGE, "more than %d operands", OPERANDS_MOST);
}

static bool run_slices(struct run *run, const struct step *step, struct value *ret, struct err *err)
{
    struct scan_slices s;
    struct value args[OPERANDS_MOST], got;
    struct str name = operator_name(step);
    bool associative = str_eq(name, STR("associative_scan"));
    if (!read_scan(run, step, name, &s, err))
        return false;
    uint32_t carried = s.n_carried;
    for (int64_t i = 0; i < s.turns; i++) {
        uint32_t n = 0;
        if (associative && i == 0) {
            if (!append_slices(run, &s, 0, args, &n, err) ||
                !store_results(run, &s, name, 0, value_items(VALUE_TUPLE, args, n), err))
                return false;
            s.n_carried = n;
            continue;
        }
        memcpy(args, s.carried, s.n_carried * sizeof *args);
        n = s.n_carried;
        if (!append_slices(run, &s, i, args, &n, err) ||
            (value_is_sequence(s.more) && !append_operands(args, &n, s.more)))
            return err_is_set(err) ? false : err_set(err, ERR_USAGE, "too many operands");
        if (!run_child(run, step->args[0].u.text, args, n, &got, err) ||
            !store_results(run, &s, name, i, got, err))
            return false;
    }
    return stack_results(run, &s, carried, ret, err);
}

bool run_choice(struct run *run, const struct step *step, struct value *ret, struct err *err)
{
    struct value args[OPERANDS_MOST];
    uint32_t n = 0;
    bool loop = str_eq(operator_name(step), STR("while_loop")), first;
    if (!loop && !str_eq(operator_name(step), STR("cond")))
        return step->n_args > 1 ? run_slices(run, step, ret, err)
                                : err_set(err, ERR_USAGE, "this call cannot be run");
    if (step->n_args < 3 || step->n_keywords || step->args[loop ? 0 : 2].kind != VALUE_GRAPH ||
        step->args[1].kind != VALUE_GRAPH)
        return err_set(err, ERR_USAGE, "this call cannot be run");
    if (loop)
        return run_while_loop(run, step, ret, err);
    if (step->n_args > 3 && !append_operands(args, &n, step->args[3]))
        return err_set(err, ERR_USAGE, "more than %d operands", OPERANDS_MOST);
    return condition_holds(run, step->args[0], &first, err) &&
           run_child(run, step->args[first ? 1 : 2].u.text, args, n, ret, err);
}

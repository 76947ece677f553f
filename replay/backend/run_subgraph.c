#include "replay/backend/run_subgraph.h"

#include <string.h>

/* A loop whose condition random values never end is told. */
enum { LOOP_MOST = 1 << 20, OPERANDS_MOST = 1024 };

static bool inner_output(struct run *run, struct program *p, const struct step *step,
                         struct value *ret, struct err *err)
{
    if (!program_fill(p, step))
        return err_set(err, ERR_USAGE, "it returns a value that does not exist");
    if (!p->graph->returns_tuple && step->n_args == 1) {
        *ret = step->args[0];
        return true;
    }
    struct value *items = arena_array(&run->arena, struct value, (size_t)step->n_args + 1);
    if (!items)
        return err_nomem(err);
    memcpy(items, step->args, step->n_args * sizeof *items);
    *ret = value_items(VALUE_TUPLE, items, step->n_args);
    return true;
}

static bool run_child(struct run *run, struct str name, const struct value *args, uint32_t n,
                      struct value *ret, struct err *err)
{
    struct program *p = program_child(run->inside ? run->inside : run->program, name);
    struct program *outside = run->inside;
    uint32_t n_inputs = 0;
    bool ok = true;
    if (!p)
        return err_set(err, ERR_USAGE, "no subgraph %.*s", STR_ARG(name));
    run->inside = p;
    for (uint32_t i = 0; i < p->n_steps && ok; i++) {
        const struct step *step = &p->steps[i];
        if (step->kind == STEP_INPUT && n_inputs == n)
            ok = err_set(err, ERR_USAGE, "it is given %u values, and takes more", n);
        else if (step->kind == STEP_INPUT)
            program_set(p, step, args[n_inputs++]);
        else if (step->kind == STEP_OUTPUT)
            ok = inner_output(run, p, step, ret, err);
        else
            ok = run_inner_step(run, p, step, err);
        if (!ok)
            err_at(err, "%.*s: node %.*s", STR_ARG(name),
                   STR_ARG(p->graph->nodes[step->node].name));
    }
    run->inside = outside;
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
    return str_eq(name, STR("cond")) || str_eq(name, STR("while_loop"));
}

static bool is_true(struct run *run, struct value v, bool *ret, struct err *err)
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

static bool append(struct value *to, uint32_t *n, struct value from)
{
    bool many = value_is_sequence(from);
    uint32_t count = many ? from.n : 1;
    if (count > OPERANDS_MOST - *n)
        return false;
    for (uint32_t i = 0; i < count; i++)
        to[(*n)++] = many ? from.u.items[i] : from;
    return true;
}

static bool run_loop(struct run *run, const struct step *step, struct value *ret, struct err *err)
{
    struct value args[OPERANDS_MOST], carried = step->args[2], more;
    for (uint32_t turn = 0; turn < LOOP_MOST; turn++) {
        uint32_t n = 0;
        bool on;
        if (!append(args, &n, carried) || (step->n_args > 3 && !append(args, &n, step->args[3])))
            return err_set(err, ERR_USAGE, "more than %d operands", OPERANDS_MOST);
        if (!run_child(run, step->args[0].u.text, args, n, &more, err))
            return false;
        if (value_is_sequence(more) && more.n == 1)
            more = more.u.items[0];
        if (!is_true(run, more, &on, err))
            return false;
        if (!on || (turn && run->options.backend->kind->shapes_only)) { /* one turn tells sizes */
            *ret = carried;
            return true;
        }
        if (!run_child(run, step->args[1].u.text, args, n, &carried, err))
            return false;
    }
    return err_set(err, ERR_USAGE, "a loop of more than %d turns", LOOP_MOST);
}

bool run_choice(struct run *run, const struct step *step, struct value *ret, struct err *err)
{
    struct value args[OPERANDS_MOST];
    uint32_t n = 0;
    bool loop = str_eq(operator_name(step), STR("while_loop")), first;
    if (step->n_args < 3 || step->n_keywords ||
        step->args[loop ? 0 : 2].kind != VALUE_GRAPH || step->args[1].kind != VALUE_GRAPH)
        return err_set(err, ERR_USAGE, "a call that cannot be run");
    if (loop)
        return run_loop(run, step, ret, err);
    if (step->n_args > 3 && !append(args, &n, step->args[3]))
        return err_set(err, ERR_USAGE, "more than %d operands", OPERANDS_MOST);
    return is_true(run, step->args[0], &first, err) &&
           run_child(run, step->args[first ? 1 : 2].u.text, args, n, ret, err);
}

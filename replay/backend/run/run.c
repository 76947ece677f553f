#include "replay/backend/run/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/run/inputs/run_inputs.h"
#include "replay/backend/run/nested_calls.h"
#include "replay/backend/run/run_guards.h"
#include "replay/backend/run/run_memory.h"
#include "replay/backend/run/run_subgraph.h"
#include "replay/backend/run/run_symbols.h"
#include "replay/ops/layers.h"
#include "trace/base/clock.h"

/* ---- Steps ---- */

static bool refused(struct run *run, struct err *err)
{
    const struct ops_error *error = ops_error(run->ops);
    if (ops_short_of_memory(
            run->ops)) /* checked first, since the rule may have reported it differently */
        return err_nomem(err);
    return err_set(err, ERR_USAGE, "%.*s%s%.*s", STR_ARG(error->type), error->type.n ? ": " : "",
                   STR_ARG(error->text));
}

static bool run_operator(struct run *run, const struct step *step, struct value *ret,
                         struct err *err)
{
    run->exec.last_used = run_last_used(run, step);
    switch (exec_call(&run->exec, step->op, step->args, step->n_args, step->keywords,
                      step->n_keywords, ret, err)) {
    case EXEC_DONE: return true;
    case EXEC_REFUSED: return refused(run, err);
    case EXEC_UNSUPPORTED: run->unsupported = true; return refused(run, err);
    default:
        run->unsupported |= run->options.backend->lacks_kernel;
        return err_is_set(err) ? false : err_nomem(err);
    }
}

/* Fails with the name of a function without a kernel: one that is only known to Python (Triton's),
 * or one whose rule computes sizes only. */
static bool nothing_computes(struct run *run, struct str target, struct err *err)
{
    run->unsupported = true;
    if (str_find(target, STR("higher_order")) < target.n)
        return err_set(err, ERR_USAGE, "unsupported: no kernel computes %.*s", STR_ARG(target));
    return err_set(err, ERR_USAGE,
                   "unsupported: %.*s is a Python function of tensors; run the graph that "
                   "AOTAutograd produced",
                   STR_ARG(target));
}

/* Triton's kernels that write their arguments return nothing. */
static bool is_opaque_kernel(struct str target)
{
    return str_find(target, STR("triton_kernel_wrapper")) < target.n;
}

/* Gives a function the numbers of sizes that were on the device and are known by now. */
static bool known_arguments(struct run *run, struct arguments *arguments, struct err *err)
{
    bool left = false;
    if (!run->exec.sizes.on || arguments->n == 0)
        return true;
    struct value *args = ops_values(run->ops, arguments->n);
    if (!args)
        return err_nomem(err);
    memcpy(args, arguments->values, arguments->n * sizeof *args);
    arguments->values = args;
    return device_sizes_resolve_all(&run->exec, args, arguments->n, &left) || err_nomem(err);
}

/* Runs a function: arithmetic of sizes, getitem and similar ones need no backend, Python's
 * functions of tensors make calls, which are run, and higher-order operators have subgraphs, which
 * are run. */
static bool run_function(struct run *run, const struct step *step, struct value *ret,
                         struct err *err)
{
    if (run_chooses(step))
        return run_choice(run, step, ret, err);
    if (is_opaque_kernel(step->target))
        return nothing_computes(run, step->target, err);
    struct arguments arguments = step_arguments(step);
    struct nested_calls nested;
    if (!known_arguments(run, &arguments, err))
        return false;
    uint64_t before = run->exec.nested;
    nested_calls_begin(&nested, &run->exec);
    enum op_outcome outcome = step->kind == STEP_METHOD
                                  ? ops_call_method(run->ops, step->target, &arguments, ret)
                                  : ops_call_function(run->ops, step->target, &arguments, ret);
    nested_calls_end(&nested);
    run->calls += run->exec.nested - before;
    if (outcome == OP_FAILED)
        return ops_failed(run->ops, err) && err_is_set(err)
                   ? false
                   : err_set(err, ERR_INPUT, "%.*s could not be called", STR_ARG(step->target));
    if (err_is_set(&run->inner)) {
        *err = run->inner;
        run->inner = (struct err){ .kind = ERR_NONE };
        return false;
    }
    run->unsupported |= outcome == OP_UNSUPPORTED;
    if (outcome != OP_DONE)
        return refused(run, err);
    if (!nested_calls_computed(&run->exec, ret))
        return nothing_computes(run, step->target, err);
    return exec_give(&run->exec, *ret, err);
}

static bool run_getitem(struct run *run, const struct step *step, struct value *ret,
                        struct err *err)
{
    struct value from = step->args[0];
    int64_t index;
    if ((from.kind != VALUE_TUPLE && from.kind != VALUE_LIST) ||
        !sym_to_i64(ops_pool(run->ops), step->args[1].u.sym, &index))
        return run_function(run, step, ret, err);
    return step_getitem(step, ops_pool(run->ops), ret) ||
           err_set(err, ERR_USAGE, "item %lld of %u is out of range", (long long)index, from.n);
}

bool run_call_step(struct interpreter *in, struct program *p, const struct step *step, bool ready,
                   struct value *ret)
{
    struct run *run = in->user;
    bool ok;
    if (!ready)
        return run_missing(in, p, step, ret);
    switch (step->kind) {
    case STEP_OPERATOR:
        ok = ops_autocasts(run->ops) ? run_function(run, step, ret, in->err)
                                     : run_operator(run, step, ret, in->err);
        run->calls++;
        if (ok)
            program_take_written(p, step);
        return ok;
    case STEP_GETITEM: return run_getitem(run, step, ret, in->err);
    case STEP_FUNCTION:
    case STEP_METHOD: return run_function(run, step, ret, in->err);
    default: return err_set(in->err, ERR_USAGE, "this statement cannot be run");
    }
}

bool run_other_step(struct interpreter *in, struct program *p, const struct step *step,
                    struct value *ret)
{
    (void)p;
    if (step->kind == STEP_ATTRIBUTE)
        return run_constant(in->user, step, ret, in->err);
    return err_set(in->err, ERR_USAGE, "this statement cannot be run");
}

bool run_missing(struct interpreter *in, struct program *p, const struct step *step,
                 struct value *ret)
{
    (void)p;
    (void)ret;
    if (step->kind == STEP_ALIAS && !step->n_args)
        return true;
    return err_set(in->err, ERR_USAGE,
                   step->kind == STEP_OUTPUT ? "it returns a value that does not exist"
                                             : "an argument names a value that does not exist");
}

/* ---- The whole ---- */

/* Appends the operator and its arguments, as in " (aten.mul.Tensor of f32[4, 16], f32[16])". Errors
 * of the environment contain it, since sizes often explain them. */
static void describe_call(const struct run *run, node_id id, struct buf *out)
{
    const struct step *step = &run->program->steps[id];
    bool any = false;
    if (step->kind != STEP_OPERATOR)
        return;
    buf_puts(out, " (");
    node_op_name(&run->graph->nodes[step->node], out);
    for (uint32_t i = 0; i < step->n_args && step->args; i++) {
        if (step->args[i].kind != VALUE_TENSOR)
            continue;
        const struct tensor_meta *meta = step->args[i].u.tensor.meta;
        buf_printf(out, "%s%s[", any ? ", " : " of ", dtype_short_name(meta->dtype));
        for (uint32_t d = 0; d < meta->ndim; d++) {
            int64_t size = -1;
            sym_to_i64(ops_pool(run->ops), meta->size[d], &size);
            buf_printf(out, "%s%lld", d ? ", " : "", (long long)size);
        }
        buf_putc(out, ']');
        any = true;
    }
    buf_putc(out, ')');
}

/* Prepends the place, "node mul_7 at model.py:12 `x = a * b`", to the error. A device may report
 * late; then it is an earlier node's. */
static bool place_error(const struct run *run, node_id id, struct err *err)
{
    struct backend *backend = run->options.backend;
    struct buf call = BUF_INIT;
    if (backend->late && backend->late_node < run->program->n_steps)
        id = backend->late_node;
    backend->late = false;
    const struct node *node = &run->graph->nodes[id];
    char line[400] = "";
    if (node->location != LOCATION_NONE) {
        const struct location *l = &run->graph->locations[node->location];
        if (location_has_place(l))
            snprintf(line, sizeof line, " at %.*s:%u `%.*s`", STR_ARG(l->file), l->line,
                     (int)(l->code.n < 120 ? l->code.n : 120), l->code.p);
    }
    if (err->kind == ERR_ENV)
        describe_call(run, id, &call);
    err_at(err, "node %.*s%.*s%s", STR_ARG(node->name), (int)(call.n < 300 ? call.n : 300),
           call.n ? call.p : "", line);
    buf_release(&call);
    return false;
}

/* Returns whether the step is an input or a constant, whose time does not count as the graph's. */
static bool is_given(const struct step *step)
{
    return step->kind == STEP_INPUT || step->kind == STEP_ATTRIBUTE;
}

static bool begin_step(struct interpreter *in, struct program *p, const struct step *step)
{
    struct run *run = in->user;
    uint32_t at = (uint32_t)(step - p->steps);
    run->at = run->exec.node = run->exec.storages.node = at;
    run->step_begin_ns = is_given(step) || run->ns ? clock_ns() : 0;
    run->first_storage = ops_next_storage(run->ops);
    if (run->exec.invents)
        run->exec.guess = run_guess(run, step);
    return true;
}

static bool give_run_input(struct interpreter *in, struct program *p, const struct step *step,
                           uint32_t number, const struct value *passed, struct value *ret)
{
    (void)p;
    (void)passed;
    return run_input(in->user, step, number, ret, in->err);
}

static bool store_outputs(struct run *run, const struct step *step, struct err *err)
{
    struct value *outputs = ops_values(run->ops, (size_t)step->n_args + 1);
    if (!outputs)
        return err_nomem(err);
    memcpy(outputs, step->args, step->n_args * sizeof *outputs);
    run->outputs = run->made = outputs;
    run->n_outputs = step->n_args;
    return true;
}

/* Waits for the copies of inputs, so that their time is measured. A capture makes none, and the
 * calls of a run that is made again are not measured. */
static bool end_given(struct run *run, struct err *err)
{
    struct backend *backend = run->options.backend;
    if (!run->capturing && !backend->unbuilt && !backend->kind->wait(backend, err))
        return false;
    run->given_ns += clock_ns() - run->step_begin_ns;
    return true;
}

static bool finish_step(struct interpreter *in, struct program *p, const struct step *step,
                        struct value value)
{
    struct run *run = in->user;
    const struct run_options *o = &run->options;
    uint32_t at = run->at;
    if (step->kind == STEP_OUTPUT && !store_outputs(run, step, in->err))
        return false;
    if (step->kind != STEP_OUTPUT) {
        value = p->current[step->node];
        if (o->node && !o->node(o->node_user, run, step, &value, in->err))
            return false;
        if (step->kind != STEP_INPUT && p->valid[at] &&
            !run_bind_result(run, step, p->current[at], in->err))
            return false;
    }
    if (run->ns)
        run->ns[at] = clock_ns() - run->step_begin_ns;
    if (is_given(step) && !end_given(run, in->err))
        return false;
    return o->keep || step->kind == STEP_OUTPUT ||
           run_count_values(run, at, run->first_storage, in->err);
}

static const struct interpreter_callbacks steps_of_root = {
    .begin = begin_step,
    .end = finish_step,
    .input = give_run_input,
    .call = run_call_step,
    .other = run_other_step,
    .missing = run_missing,
};

static bool make_calls(struct run *run, struct err *err)
{
    struct value ignored;
    run->interpreter = (struct interpreter){ run->ops, run, NULL, err };
    return interpret(&run->interpreter, &steps_of_root, run->program, NULL, 0, &ignored) ||
           place_error(run, run->at, err);
}

/* Binds the recorded symbols of a node's value whose sizes became known. */
static bool bind_late(struct run *run, uint32_t at, struct err *err)
{
    const struct program *p = run->program;
    struct value value = p->current[p->steps[at].node];
    const struct tensor_meta *before = value.kind == VALUE_TENSOR ? value.u.tensor.meta : NULL;
    bool left = false;
    if (!before || !run->binds[p->steps[at].node])
        return true;
    if (!device_sizes_resolve(&run->exec, &value, &left))
        return err_nomem(err);
    run->at = at;
    return value.u.tensor.meta == before || run_bind_result(run, &p->steps[at], value, err);
}

/* At the end of a run: reads the sizes that are on the device, once, and gives the outputs
 * theirs. */
static bool learn_sizes(struct run *run, struct err *err)
{
    struct exec *exec = &run->exec;
    const struct program *p = run->program;
    bool left = false;
    if (!exec->sizes.on || exec->sizes.all.n == 0)
        return true;
    if (!device_sizes_learn(exec, STR(""), "", err))
        return false;
    struct value *outputs = ops_values(run->ops, (size_t)run->n_outputs + 1);
    if (!outputs)
        return err_nomem(err);
    memcpy(outputs, run->made, run->n_outputs * sizeof *outputs);
    run->outputs = outputs;
    memset(run->bound, 0, run->n_symbols * sizeof *run->bound);
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->valid[i] && p->steps[i].kind == STEP_OPERATOR && !bind_late(run, i, err))
            return false;
    return device_sizes_resolve_all(exec, outputs, run->n_outputs, &left) || err_nomem(err);
}

/* Waits for the calls, which were begun at that time, and sets the run's times. */
static bool wait_for_calls(struct run *run, uint64_t begin, struct err *err)
{
    struct backend *backend = run->options.backend;
    run->host_ns = clock_ns() - begin - run->given_ns;
    if (!learn_sizes(run, err) || !backend->kind->wait(backend, err))
        return backend->late && place_error(run, run->at, err);
    run->calls_ns = clock_ns() - begin - run->given_ns;
    return true;
}

static void reset_program(struct program *p)
{
    memset(p->valid, 0, p->n_steps * sizeof *p->valid);
    for (uint32_t i = 0; i < p->n_children; i++)
        reset_program(p->children[i]);
}

/* The values that it computes must be freed before. */
static void drop_captured(struct run *run)
{
    if (run->captured)
        run->options.backend->kind->drop(run->options.backend, run->captured);
    run->captured = NULL;
    run_drop_stored(run);
}

/* Resets the run to its start, but keeps what is known about calls of these sizes. */
static void begin_again(struct run *run)
{
    struct exec *exec = &run->exec;
    run_keep_inputs(run);
    drop_captured(run);
    run_forget_values(run);
    reset_program(run->program);
    ops_reset(run->ops);
    arena_reset(&exec->values);
    device_sizes_reset(&exec->sizes);
    exec->caller.calls = exec->inner = 0;
    exec->nested = 0;
    exec->guesses = 0;
    exec->storages.peak = exec->storages.bytes;
    exec->storages.events.n = 0;
    memcpy(run->symbols, run->first, run->n_first * sizeof *run->first);
    memset(run->bound, 0, run->n_symbols * sizeof *run->bound);
    run->n_symbols = run->n_first;
    run->calls = run->violations = 0;
}

/* ---- Runs call by call ---- */

static bool binds_any(const struct run *run)
{
    uint32_t i = 0;
    while (i < run->program->n_steps && !run->binds[i])
        i++;
    return i < run->program->n_steps;
}

/* Returns whether nobody notices that calls are made again: none is observed, no violated condition
 * of sizes that they compute is reported, and no other rank meets them in collectives. */
static bool may_repeat(const struct run *run)
{
    const struct run_options *o = &run->options;
    return o->backend->kind->end_unbuilt && !o->backend->rank && !o->node && !run->exec.watch &&
           !o->backend->log.on && (!o->violated || !binds_any(run));
}

/* Passes that are no dry runs and may end without values. Each computes the values that are read
 * between kernels up to the next kernel that is to be compiled: without a limit, calls before many
 * reads would be made as often. */
enum { MOST_REPEATS = 8 };

/* Returns which dry run comes after a pass that was `last`. The first pass on a backend is one: it
 * finds the kernels that it needs, which are compiled while libraries are opened, by a second one,
 * and inputs get their values. */
static enum backend_dry_run next_dry_run(const struct backend *backend, enum backend_dry_run last)
{
    if (!backend->repeats)
        return DRY_RUN_NONE;
    if (!backend->dry_run_made)
        return DRY_RUN_FIRST;
    return last == DRY_RUN_FIRST && backend->puts_off_libraries ? DRY_RUN_SECOND : DRY_RUN_NONE;
}

static void begin_pass(struct backend *backend, bool repeats)
{
    backend->repeats = repeats;
    backend->dry_run = next_dry_run(backend, backend->dry_run);
    backend->dry_run_made |= backend->dry_run != DRY_RUN_NONE;
    backend->unbuilt |= backend->dry_run != DRY_RUN_NONE;
}

/* Ends the calls of a pass. Returns whether they must be made again. */
static bool end_pass(struct backend *backend)
{
    const bool unbuilt = backend->kind->end_unbuilt && backend->kind->end_unbuilt(backend);
    backend->repeats = false;
    if (!unbuilt)
        backend->dry_run = DRY_RUN_NONE;
    return unbuilt;
}

static bool execute_steps(struct run *run, struct err *err)
{
    struct backend *backend = run->options.backend;
    const uint64_t begin = clock_ns();
    const bool repeats = may_repeat(run);
    int passes = 0;
    run->given_ns = 0;
    for (;;) {
        begin_pass(backend, repeats && passes < MOST_REPEATS);
        passes += backend->dry_run == DRY_RUN_NONE;
        bool ok = make_calls(run, err) && wait_for_calls(run, begin, err);
        if (!end_pass(backend))
            return ok;
        *err = (struct err){ 0 };
        backend->late = false;
        begin_again(run);
    }
}

/* ---- Runs as one launch ---- */

/* Returns whether nobody observes the calls of this run. */
static bool may_capture(const struct run *run)
{
    const struct run_options *o = &run->options;
    return o->captures && o->backend->kind->capture_begin && !o->node && !o->keep && !o->timing &&
           !run->exec.watch && !o->backend->log.on;
}

static bool launch_captured(struct run *run, uint64_t begin, struct err *err)
{
    struct backend *backend = run->options.backend;
    run->step_begin_ns = clock_ns();
    device_sizes_begin(&run->exec.sizes);
    return run_write_stored(run, err) && end_given(run, err) &&
           (backend->kind->launch(backend, run->captured, err) ||
            (backend->late && place_error(run, run->at, err))) &&
           wait_for_calls(run, begin, err);
}

/* Makes the calls of a run that was reset. They are captured, and nothing is run. */
static bool capture_calls(struct run *run, struct err *err)
{
    struct backend *backend = run->options.backend;
    struct err ignored = { 0 };
    if (!backend->kind->capture_begin(backend, err))
        return false;
    run->capturing = true;
    bool made = make_calls(run, err);
    run->capturing = false;
    run->captured = backend->kind->capture_end(backend, made ? err : &ignored);
    if (made && run->captured && !run_stored_stay(run)) {
        err_set(err, ERR_ENV, "calls exchange the memory of inputs");
        backend->kind->drop(backend, run->captured);
        run->captured = NULL;
    }
    return made && run->captured;
}

/* Captures the run and launches it. *launched stays false if it cannot be captured. A rank whose
 * device was lost fails: it would open its communicators again, which the others have. */
static bool capture_and_launch(struct run *run, bool *launched, struct err *err)
{
    struct backend *backend = run->options.backend;
    uint64_t begin = clock_ns();
    struct err *why = &run->not_captured;
    *launched = false;
    run->given_ns = 0;
    begin_again(run);
    *launched = capture_calls(run, why);
    backend->late = false;
    if (*launched)
        return launch_captured(run, begin, err);
    return !backend->rank || backend->kind->wait(backend, err);
}

/* Returns whether sizes may stay on the device: nothing looks at values during the run. */
static bool keeps_sizes(const struct run *run)
{
    const struct run_options *o = &run->options;
    return o->device_sizes && o->backend->kind->takes_extents && !o->node && !o->keep &&
           !run->exec.watch;
}

static bool execute(struct run *run, struct err *err)
{
    bool launched = false;
    run->exec.sizes.on = keeps_sizes(run);
    if (may_capture(run) && run->captured)
        return run->given_ns = 0, launch_captured(run, clock_ns(), err);
    if (may_capture(run) && run->executed && !err_is_set(&run->not_captured) &&
        !capture_and_launch(run, &launched, err))
        return false;
    if (launched)
        return true;
    if (run->executed)
        begin_again(run);
    run->executed = true;
    return execute_steps(run, err);
}

bool run_execute(struct run *run, struct err *err)
{
    if (execute(run, err))
        return true;
    /* Late errors of this run's calls must not appear in the next run. */
    struct backend *backend = run->options.backend;
    struct err ignored = { 0 };
    backend->kind->wait(backend, &ignored);
    backend->late = false;
    return false;
}

static bool remember_start(struct run *run, struct err *err)
{
    run->kept = arena_array(&run->arena, struct run_kept, (size_t)run->program->n_steps + 1);
    run->first = arena_array(&run->arena, struct run_size, run->n_symbols + 1);
    if (!run->kept || !run->first)
        return err_nomem(err);
    memcpy(run->first, run->symbols, run->n_symbols * sizeof *run->first);
    run->n_first = run->n_symbols;
    return true;
}

struct run *run_new(const struct graph *graph, const struct run_options *options, struct err *err)
{
    struct run *run = calloc(1, sizeof *run);
    if (!run)
        return err_nomem(err), NULL;
    run->graph = graph;
    run->options = *options;
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    if (options->torch)
        settings.torch = options->torch;
    run->env = shape_env_new(&settings, err);
    if (run->env)
        run->ops = options->operators ? ops_new_from(run->env, options->operators, err)
                                      : ops_new(run->env, err);
    if (!run->ops)
        goto failed;
    ops_set_layers(run->ops, false, true); /* a run needs no counts of PyTorch's dispatches */
    exec_init(&run->exec, run->ops, options->backend, options->seed);
    run->exec.sizes.most = run_recorded_most;
    run->exec.sizes.user = run;
    if (!run_bind_symbols(run, err))
        goto failed;
    run->exec.invents =
        options->backend->kind->shapes_only || (run->n_given == 0 && !options->backend->rank);
    run->program = program_new(run->ops, graph, 0, run_symbol, run, err);
    if (!run->program || !run_find_lifetimes(run, err) || !run_find_unbacked(run, err) ||
        !run_find_needs(run, err) || !remember_start(run, err))
        goto failed;
    ops_set_subgraph(run->ops, run_subgraph, run);
    if (options->timing) {
        run->ns = arena_array(&run->arena, uint64_t, (size_t)run->program->n_steps + 1);
        if (!run->ns && !err_nomem(err))
            goto failed;
    }
    return run;
failed:
    run_free(run);
    return NULL;
}

void run_free(struct run *run)
{
    if (!run)
        return;
    run_give_inputs(run);
    run_drop_inputs(run);
    run_drop_stored(run);
    run->kept = NULL; /* its length is the program's */
    program_free(run->program);
    if (run->exec.caller.backend)
        exec_release(&run->exec);
    drop_captured(run);
    ops_free(run->ops);
    shape_env_free(run->env);
    vec_release(&run->lifetimes.holders);
    arena_release(&run->arena);
    free(run);
}

struct value run_value(const struct run *run, node_id node)
{
    const struct program *p = run->program;
    return node < p->n_steps && p->valid[node] ? p->current[node] : value_none();
}

bool run_array(struct run *run, struct tensor x, struct arena *arena, struct array *ret,
               struct err *err)
{
    const struct sym_pool *pool = ops_pool(run->ops);
    *ret = (struct array){ .dtype = x.meta->dtype, .ndim = x.meta->ndim };
    for (uint32_t i = 0; i < ret->ndim; i++)
        if (!sym_to_i64(pool, x.meta->size[i], &ret->size[i]))
            return err_set(err, ERR_USAGE, "a size that is not a number");
    if (!tensor_bytes(pool, x.meta, &ret->bytes))
        return err_set(err, ERR_USAGE, "more than 2^63 elements");
    char *p = arena_bytes(arena, ret->bytes + 1);
    ret->p = p;
    return p ? exec_read(&run->exec, x, p, ret->bytes, err) : err_nomem(err);
}

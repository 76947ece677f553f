#include "replay/backend/compare/compare_runs.h"

#include <stdio.h>

#include "replay/backend/ranks/ranks.h"
#include "trace/pt2/signature.h"

/* ---- Backends ---- */

static bool can_be_used(const struct backend_pair *pair, struct err *err)
{
    const struct backend_kind *kinds[] = { pair->tested_kind, pair->reference_kind };
    for (size_t i = 0; pair->reference_kind && i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->shapes_only)
            return err_set(err, ERR_USAGE, "backend %s computes no values that could be compared",
                           kinds[i]->name);
    return !pair->tf32 || pair->tested_kind->has_tf32 ||
           err_set(err, ERR_USAGE, "--tf32: backend %s has none", pair->tested_kind->name);
}

static bool open_one(const struct backend_pair *pair, struct backend **backend,
                     const struct backend_kind *kind, struct err *err)
{
    const struct backend_setup setup = { pair->device, pair->threads, pair->worker,
                                         pair->prepares };
    if (!*backend)
        *backend = kind->open_on ? kind->open_on(&setup, err) : kind->open(err);
    if (*backend) {
        (*backend)->threads = pair->threads;
        (*backend)->worker = pair->worker;
    }
    return *backend != NULL;
}

bool backend_pair_open(struct backend_pair *pair, struct err *err)
{
    if (!can_be_used(pair, err) || !open_one(pair, &pair->tested, pair->tested_kind, err))
        return false;
    pair->tested->tf32 = pair->tf32;
    if (pair->reference_kind == pair->tested_kind && !pair->tf32)
        pair->reference = pair->tested;
    return !pair->reference_kind || open_one(pair, &pair->reference, pair->reference_kind, err);
}

void backend_pair_close(struct backend_pair *pair)
{
    if (pair->reference && pair->reference != pair->tested)
        pair->reference_kind->close(pair->reference);
    if (pair->tested)
        pair->tested_kind->close(pair->tested);
    pair->tested = pair->reference = NULL;
}

/* ---- Outputs ---- */

/* Returns whether the user gets output i, and sets *number to its number among those. */
static bool user_output(const struct graph *graph, uint32_t i, uint32_t *number)
{
    const struct graph_signature *signature = graph->signature;
    *number = i;
    if (!signature)
        return true;
    *number = 0;
    for (uint32_t j = 0; j < i && j < signature->n_outputs; j++)
        *number += signature->outputs[j].kind == OUTPUT_USER;
    return i < signature->n_outputs && signature->outputs[i].kind == OUTPUT_USER;
}

struct both {
    struct compared_run *how;
    struct comparison *comparison;
};

/* Saves an output of the reference; compares one of the tested run and passes it to the
 * observer. */
static bool process_output(const struct both *b, struct run *run, uint32_t i, bool reference,
                           struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array values;
    uint32_t number;
    char name[512];
    if (!user_output(run->graph, i, &number) || run->outputs[i].kind != VALUE_TENSOR)
        return true;
    snprintf(name, sizeof name, "%s%u", b->how->prefix, number);
    bool ok = run_array(run, run->outputs[i].u.tensor, &arena, &values, err);
    if (reference)
        ok = ok && comparison_expect_output(b->comparison, str_of(name), &values, err);
    if (!reference && b->how->compare)
        ok = ok && comparison_check_output(b->comparison, run, i, str_of(name), &values, err);
    if (!reference && b->how->output)
        ok = ok && b->how->output(b->how->user, str_of(name), &values, err);
    arena_release(&arena);
    return ok;
}

static bool process_outputs(const struct both *b, struct run *run, bool reference, struct err *err)
{
    if (!b->how->prefix || (!reference && !b->how->compare && !b->how->output))
        return true;
    for (uint32_t i = 0; i < run->n_outputs; i++)
        if (!process_output(b, run, i, reference, err))
            return false;
    return true;
}

/* ---- Runs ---- */

static struct run_options options_before(const struct both *b)
{
    struct run_options options = b->how->options;
    if (options.violated)
        options.violated = run_ignore_violation;
    return options;
}

static bool run_reference(const struct both *b, struct err *err)
{
    const struct backend_pair *pair = b->how->pair;
    struct run_options options = options_before(b);
    options.backend = pair->reference;
    options.node = comparison_expect;
    options.node_user = b->comparison;
    rank_repeat(pair->reference->rank);
    struct run *run = run_new(b->how->graph, &options, err);
    bool ok = run && run_execute(run, err) && process_outputs(b, run, true, err) &&
              value_file_seal(b->comparison->values, err);
    run_free(run);
    return ok || (pair->reference_kind != pair->tested_kind &&
                  err_at(err, "on %s", pair->reference_kind->name));
}

/* Runs the graph to measure the values on the way to the outputs that a file contains. */
static bool run_to_look(const struct both *b, struct err *err)
{
    struct run_options options = options_before(b);
    options.backend = b->how->pair->tested;
    options.node = comparison_look;
    options.node_user = b->comparison;
    struct run *run = run_new(b->how->graph, &options, err);
    bool ok = run && run_execute(run, err);
    run_free(run);
    return ok;
}

static bool observe_node(void *user, struct run *run, const struct step *step,
                         const struct value *value, struct err *err)
{
    const struct both *b = user;
    if (b->how->node && !b->how->node(b->how->user, run, step, value, err))
        return false;
    return !b->how->compare || comparison_check(b->comparison, run, step, value, err);
}

static bool run_tested(struct both *b, struct err *err)
{
    struct compared_run *how = b->how;
    struct run_options options = how->options;
    options.backend = how->pair->tested;
    options.node = how->compare || how->node ? observe_node : NULL;
    options.node_user = b;
    rank_repeat(options.backend->rank);
    struct run *run = run_new(how->graph, &options, err);
    if (run)
        run->exec.storages.noting = how->notes_memory;
    bool ok = run && run_execute(run, err) &&
              (!how->finished || how->finished(how->user, run, err)) &&
              process_outputs(b, run, false, err);
    how->unsupported = run && run->unsupported;
    run_free(run);
    return ok;
}

bool compare_runs(struct compared_run *how, struct comparison *comparison, struct err *err)
{
    struct both both = { how, comparison };
    const struct backend_kind *tested = how->pair->tested_kind;
    *comparison = (struct comparison){ 0 };
    if (how->compare) {
        struct comparison_options options = *how->compare;
        bool outputs_only = options.file && !options.nodes && !tested->shapes_only;
        options.looks = options.file && tested->on_host;
        if (!comparison_init(comparison, how->graph->n_nodes, &options, err) ||
            (how->pair->reference && !run_reference(&both, err)) ||
            (outputs_only && !tested->on_host && !run_to_look(&both, err)))
            return false;
    }
    return run_tested(&both, err);
}

#include "minify/oracle/oracle_backends.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "replay/backend/compare/compare_runs.h"
#include "replay/backend/compare/perturb.h"

struct backends_oracle {
    struct oracle oracle;
    pthread_mutex_t lock; /* protects the backends, which one thread uses at a time */
    struct backend_pair pair;
    struct err failed; /* why the last run failed, if a backend may be unusable since */
    struct str fault;  /* the operator that is changed; "" */
    double by;
    struct str op; /* the operator at which the whole graph differs first, or "" if that is not
                    * known yet */
    struct arena arena;
};

/* ---- A run on both backends ---- */

struct backends_question {
    struct backends_oracle *oracle;
    struct comparison comparison;
    struct answer *answer;
};

/* Returns a copy of the node's operator; .p is NULL when memory ran out. */
static struct str copy_op_name(const struct node *node, struct arena *arena)
{
    struct buf name = BUF_INIT;
    node_op_name(node, &name);
    struct str ret = name.failed ? (struct str){ NULL, 0 } : arena_copy(arena, buf_str(&name));
    buf_release(&name);
    return ret;
}

/* Returns whether the name of the fault matches an operator: "aten.tanh" matches any of its
 * overloads. */
static bool fault_names_op(struct str fault, struct str op)
{
    return fault.n && str_starts(op, fault) && (op.n == fault.n || op.p[fault.n] == '.');
}

static bool perturb_value(struct backends_oracle *o, struct run *run, struct value value,
                          struct err *err)
{
    if (value.kind == VALUE_TENSOR)
        return run_perturb(run, value.u.tensor, o->by, err);
    for (uint32_t i = 0; value_is_sequence(value) && i < value.n; i++)
        if (value.u.items[i].kind == VALUE_TENSOR &&
            !run_perturb(run, value.u.items[i].u.tensor, o->by, err))
            return false;
    return true;
}

static bool inject_fault(void *user, struct run *run, const struct step *step,
                         const struct value *value, struct err *err)
{
    struct backends_oracle *o = user;
    struct arena arena = ARENA_INIT;
    if (step->kind != STEP_OPERATOR)
        return true;
    struct str op = copy_op_name(&run->graph->nodes[step->node], &arena);
    bool known = op.p != NULL, meant = known && fault_names_op(o->fault, op);
    arena_release(&arena);
    return known ? !meant || perturb_value(o, run, *value, err) : err_nomem(err);
}

static bool gather_symbols(const struct candidate *candidate, struct arena *arena,
                           struct run_options *options, struct err *err)
{
    struct run_symbol *symbols = arena_array(arena, struct run_symbol, candidate->n_symbols + 1u);
    if (!symbols)
        return err_nomem(err);
    for (uint32_t i = 0; i < candidate->n_symbols; i++) {
        const struct cand_symbol *s = &candidate->symbols[i];
        if (s->has_hint && !s->is_float)
            symbols[options->n_symbols++] =
                (struct run_symbol){ .name = s->name, .hint = s->hint, .has_hint = true };
    }
    options->symbols = symbols;
    options->seed = candidate->seed;
    options->torch = torch_release(candidate->torch_version);
    return true;
}

static bool run_both(struct backends_question *a, const struct candidate *candidate,
                     struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct backends_oracle *o = a->oracle;
    const struct comparison_options compare = { .nodes = true, .tf32 = o->pair.tf32 };
    struct compared_run run = { .pair = &o->pair,
                                .graph = candidate->graph,
                                .compare = &compare,
                                .node = o->fault.n ? inject_fault : NULL,
                                .user = o };
    bool ok = gather_symbols(candidate, &arena, &run.options, err) &&
              compare_runs(&run, &a->comparison, err);
    arena_release(&arena);
    return ok;
}

/* ---- Answers ---- */

/* Returns the call that a node belongs to: a getitem belongs to its call. */
static const struct node *call_of_node(const struct graph *graph, const struct compared *one)
{
    return &graph->nodes[one->origin < graph->n_nodes ? one->origin : one->node];
}

static bool describe_difference(struct backends_question *a, const struct graph *graph,
                                const struct compared *one, struct str op)
{
    struct answer *answer = a->answer;
    const struct difference *d = &one->difference;
    const struct node *node = call_of_node(graph, one);
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s differs on %s and %s: ", STR_ARG(op), a->oracle->pair.tested_kind->name,
               a->oracle->pair.reference_kind->name);
    if (d->comparable)
        buf_printf(&text,
                   "%llu of %llu elements, max absolute %.3g, relative %.3g; tolerance %.3g + "
                   "%.3g |x|",
                   (unsigned long long)d->bad, (unsigned long long)d->elements, d->max_absolute,
                   d->max_relative, one->tolerance.absolute, one->tolerance.relative);
    else
        buf_puts(&text, "another dtype or shape");
    answer->text = arena_copy(&answer->arena, buf_str(&text));
    answer->node = arena_copy(&answer->arena, node->name);
    answer->signature.kind = STR("numeric");
    answer->signature.op = op;
    bool ok = !text.failed && answer->text.p && answer->node.p;
    buf_release(&text);
    return ok;
}

/* Sets the verdict; returns false when memory ran out. */
static bool judge_comparison(struct backends_question *a, const struct graph *graph)
{
    const struct comparison *c = &a->comparison;
    const struct compared *found = NULL;
    struct str found_op = STR("");
    a->answer->verdict = VERDICT_BORING;
    for (size_t i = 0; i < c->nodes.n; i++) {
        const struct compared *one = &c->nodes.v[i];
        if (one->match != MATCH_DIFFERS)
            continue;
        struct str op = copy_op_name(call_of_node(graph, one), &a->answer->arena);
        if (!op.p)
            return false;
        bool same = !a->oracle->op.n || str_eq(op, a->oracle->op);
        if (same || !found) {
            found = one;
            found_op = op;
        }
        a->answer->verdict = same ? VERDICT_INTERESTING : VERDICT_OTHER;
        if (same)
            break;
    }
    return !found || describe_difference(a, graph, found, found_op);
}

/* Answers a question whose run failed. A candidate that cannot be run is unresolved; a failed
 * allocation of ours is not the candidate's, so the oracle is broken. */
static void set_failed_answer(struct backends_question *a, const struct err *why)
{
    struct answer *answer = a->answer;
    answer->text = arena_copy(&answer->arena, str_of(why->text));
    if (why->no_memory || !answer->text.p) {
        answer->verdict = VERDICT_BROKEN;
        answer->err = *why;
        return;
    }
    answer->verdict = VERDICT_UNRESOLVED;
    if (why->kind == ERR_ENV)
        a->oracle->failed = *why;
}

/* Opens the backends again if the last run may have broken one. The candidate of that run has its
 * answer, so that a later search does not run it again; if the backends cannot be opened, no
 * candidate after it gets one. */
static bool reopen(struct backends_oracle *o, struct err *err)
{
    struct err why = { 0 };
    if (!err_is_set(&o->failed))
        return true;
    backend_pair_close(&o->pair);
    if (!backend_pair_open(&o->pair, &why))
        return err_set(err, why.kind, "%s; the last check had failed: %.400s", why.text,
                       o->failed.text);
    o->failed = (struct err){ 0 };
    return true;
}

static void ask_backends(struct oracle *oracle, const struct candidate *candidate,
                         const struct oracle_question *asking, struct answer *answer)
{
    struct backends_oracle *o = (struct backends_oracle *)oracle;
    struct backends_question a = { .oracle = o, .answer = answer };
    struct err err = { 0 };
    (void)asking;
    *answer = (struct answer){ .verdict = VERDICT_UNRESOLVED };
    answer->signature = (struct signature){ STR(""), STR(""), STR(""), STR("") };
    answer->text = answer->node = STR("");
    pthread_mutex_lock(&o->lock);
    if (!reopen(o, &answer->err))
        answer->verdict = VERDICT_BROKEN;
    else if (!run_both(&a, candidate, &err) ||
             (!judge_comparison(&a, candidate->graph) && !err_nomem(&err)))
        set_failed_answer(&a, &err);
    comparison_release(&a.comparison);
    pthread_mutex_unlock(&o->lock);
    if (!answer->text.p)
        answer->text = STR("");
    if (!answer->node.p)
        answer->node = STR("");
}

static void free_oracle(struct oracle *oracle)
{
    struct backends_oracle *o = (struct backends_oracle *)oracle;
    backend_pair_close(&o->pair);
    pthread_mutex_destroy(&o->lock);
    arena_release(&o->arena);
    free(o);
}

/* ---- Construction ---- */

static bool find_backend(const struct backend_kind **kind, struct str name, struct err *err)
{
    *kind = backend_find(name);
    return *kind ||
           err_set(err, ERR_USAGE, "--backend-mismatch: there is no backend %.*s", STR_ARG(name));
}

static bool read_fault(struct backends_oracle *o, struct str inject, struct err *err)
{
    size_t equals = str_find_char(inject, '=');
    char number[64], *end = number;
    if (!inject.n)
        return true;
    struct str text = str_first(str_from(inject, equals + 1), sizeof number - 1);
    snprintf(number, sizeof number, "%.*s", STR_ARG(text));
    o->by = strtod(number, &end);
    o->fault = arena_copy(&o->arena, str_first(inject, equals));
    if (!o->fault.p)
        return err_nomem(err);
    return (equals > 0 && equals < inject.n && *number && !*end && isfinite(o->by)) ||
           err_set(err, ERR_USAGE,
                   "--inject-fault with --backend-mismatch takes OPERATOR=EPS, as in "
                   "aten.tanh=1e-2");
}

/* Finds the operator at which the whole graph differs first. */
static bool find_backends_signature(struct backends_oracle *o, const struct candidate *whole,
                                    struct err *err)
{
    struct answer answer;
    ask_backends(&o->oracle, whole, NULL, &answer);
    bool ok = answer.verdict != VERDICT_BROKEN;
    if (!ok)
        *err = answer.err;
    else if (err_is_set(&o->failed))
        ok = reopen(o, err);
    else if (answer.verdict == VERDICT_INTERESTING) {
        o->op = arena_copy(&o->arena, answer.signature.op);
        ok = o->op.p || err_nomem(err);
    }
    answer_release(&answer);
    return ok;
}

/* Notes that the cache of compiled kernels cannot be used, which makes questions slower. */
static bool note_without_cache(struct backends_oracle *o, struct err *err)
{
    const struct err *tested = &o->pair.tested->without;
    const struct err *why = err_is_set(tested) ? tested : &o->pair.reference->without;
    o->oracle.without = arena_copy(&o->arena, str_of(err_is_set(why) ? why->text : ""));
    return o->oracle.without.p || err_nomem(err);
}

static bool make_backends_id(struct backends_oracle *o, const struct backends_options *options,
                             struct err *err)
{
    struct buf id = BUF_INIT;
    buf_printf(&id, "backends 1 %.*s%s %.*s\n%.*s\n%.*s", STR_ARG(options->tested),
               options->tf32 ? " tf32" : "", STR_ARG(options->reference), STR_ARG(options->inject),
               STR_ARG(o->op));
    o->oracle.id = arena_copy(&o->arena, buf_str(&id));
    bool ok = !id.failed && o->oracle.id.p;
    buf_release(&id);
    return ok || err_nomem(err);
}

struct oracle *oracle_backends(const struct backends_options *options,
                               const struct candidate *whole, struct err *err)
{
    struct backends_oracle *o = calloc(1, sizeof *o);
    if (!o)
        return err_nomem(err), NULL;
    o->oracle = (struct oracle){ .ask = ask_backends,
                                 .free = free_oracle,
                                 .deterministic = true,
                                 .cheap = true,
                                 .name = STR("backends"),
                                 .id = STR("") };
    o->op = o->fault = STR("");
    o->pair.tf32 = options->tf32;
    pthread_mutex_init(&o->lock, NULL);
    if (find_backend(&o->pair.tested_kind, options->tested, err) &&
        find_backend(&o->pair.reference_kind, options->reference, err) &&
        backend_pair_open(&o->pair, err) && note_without_cache(o, err) &&
        read_fault(o, options->inject, err) && find_backends_signature(o, whole, err) &&
        make_backends_id(o, options, err))
        return &o->oracle;
    free_oracle(&o->oracle);
    return NULL;
}

#include "minify/oracle/oracle_backends.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "replay/backend/compare/comparison.h"
#include "replay/backend/compare/perturb.h"

struct side {
    const struct backend_kind *kind;
    struct backend *backend;
    bool tf32;
};

struct backends_oracle {
    struct oracle oracle;
    pthread_mutex_t lock; /* of the backends: one thread at a time */
    struct side tested, reference;
    struct str fault; /* operator; "" */
    double by;
    struct str op; /* where the whole differs first; "": not known yet */
    struct arena arena;
};

/* ---- A run of both ---- */

struct asked {
    struct backends_oracle *oracle;
    struct comparison comparison;
    struct answer *answer;
};

static struct str op_of(const struct graph *graph, const struct step *origin, struct arena *arena)
{
    struct buf name = BUF_INIT;
    node_op_name(&graph->nodes[origin->node], &name);
    struct str ret = arena_copy(arena, buf_str(&name));
    buf_release(&name);
    return ret.p ? ret : STR("");
}

/* "aten.tanh" is any of its overloads. */
static bool names_op(struct str fault, struct str op)
{
    return fault.n && str_starts(op, fault) && (op.n == fault.n || op.p[fault.n] == '.');
}

static bool change(struct backends_oracle *o, struct run *run, struct value value, struct err *err)
{
    if (value.kind == VALUE_TENSOR)
        return run_perturb(run, value.u.tensor, o->by, err);
    for (uint32_t i = 0; value_is_sequence(value) && i < value.n; i++)
        if (value.u.items[i].kind == VALUE_TENSOR &&
            !run_perturb(run, value.u.items[i].u.tensor, o->by, err))
            return false;
    return true;
}

static bool check_node(void *user, struct run *run, const struct step *step,
                       const struct value *value, struct err *err)
{
    struct asked *a = user;
    if (a->oracle->fault.n && step->kind == STEP_OPERATOR) {
        struct arena arena = ARENA_INIT;
        bool meant = names_op(a->oracle->fault, op_of(run->graph, step, &arena));
        arena_release(&arena);
        if (meant && !change(a->oracle, run, *value, err))
            return false;
    }
    return comparison_check(&a->comparison, run, step, value, err);
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
    return true;
}

static bool run_side(const struct graph *graph, const struct run_options *options, struct err *err)
{
    struct run *run = run_new(graph, options, err);
    bool ok = run && run_execute(run, err);
    run_free(run);
    return ok;
}

static bool run_both(struct asked *a, const struct candidate *candidate, struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct run_options options = { .node = comparison_expect, .node_user = &a->comparison };
    const struct comparison_options how = { .nodes = true, .tf32 = a->oracle->tested.tf32 };
    options.backend = a->oracle->reference.backend;
    bool ok = comparison_init(&a->comparison, candidate->graph->n_nodes, &how, err) &&
              gather_symbols(candidate, &arena, &options, err) &&
              run_side(candidate->graph, &options, err) &&
              value_file_seal(a->comparison.values, err);
    options.backend = a->oracle->tested.backend;
    options.node = check_node;
    options.node_user = a;
    ok = ok && run_side(candidate->graph, &options, err);
    arena_release(&arena);
    return ok;
}

/* ---- Answers ---- */

/* A getitem is its call's. */
static const struct node *blamed(const struct graph *graph, const struct compared *one)
{
    return &graph->nodes[one->origin < graph->n_nodes ? one->origin : one->node];
}

static void describe(struct asked *a, const struct graph *graph, const struct compared *one,
                     struct str op)
{
    struct answer *answer = a->answer;
    const struct difference *d = &one->difference;
    const struct node *node = blamed(graph, one);
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s differs on %s and %s: ", STR_ARG(op), a->oracle->tested.kind->name,
               a->oracle->reference.kind->name);
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
    buf_release(&text);
}

static void judge(struct asked *a, const struct graph *graph)
{
    const struct comparison *c = &a->comparison;
    const struct compared *found = NULL;
    struct str found_op = STR("");
    a->answer->verdict = VERDICT_BORING;
    for (size_t i = 0; i < c->nodes.n; i++) {
        const struct compared *one = &c->nodes.v[i];
        if (one->match != MATCH_DIFFERS)
            continue;
        struct buf name = BUF_INIT;
        node_op_name(blamed(graph, one), &name);
        struct str op = arena_copy(&a->answer->arena, buf_str(&name));
        buf_release(&name);
        bool same = op.p && (!a->oracle->op.n || str_eq(op, a->oracle->op));
        if (op.p && (same || !found)) {
            found = one;
            found_op = op;
        }
        a->answer->verdict = same ? VERDICT_INTERESTING : VERDICT_OTHER;
        if (same)
            break;
    }
    if (found)
        describe(a, graph, found, found_op);
}

/* Of one kind both are one: a device that was lost is lost for both. */
static bool open_sides(struct backends_oracle *o, struct err *err)
{
    if (!o->tested.backend && !(o->tested.backend = o->tested.kind->open(err)))
        return false;
    o->tested.backend->tf32 = o->tested.tf32;
    if (o->reference.kind == o->tested.kind && !o->tested.tf32)
        o->reference.backend = o->tested.backend;
    return o->reference.backend || (o->reference.backend = o->reference.kind->open(err)) != NULL;
}

static void close_sides(struct backends_oracle *o)
{
    if (o->reference.backend && o->reference.backend != o->tested.backend)
        o->reference.kind->close(o->reference.backend);
    if (o->tested.backend)
        o->tested.kind->close(o->tested.backend);
    o->tested.backend = o->reference.backend = NULL;
}

static void cannot_tell(struct asked *a, const struct err *why)
{
    struct answer *answer = a->answer;
    struct err err = { 0 };
    answer->verdict = VERDICT_UNRESOLVED;
    answer->text = arena_copy(&answer->arena, str_of(why->text));
    if (why->kind != ERR_ENV)
        return;
    close_sides(a->oracle);
    if (open_sides(a->oracle, &err))
        return;
    answer->verdict = VERDICT_BROKEN;
    answer->err = err;
}

static void ask(struct oracle *oracle, const struct candidate *candidate,
                const struct asking *asking, struct answer *answer)
{
    struct backends_oracle *o = (struct backends_oracle *)oracle;
    struct asked a = { .oracle = o, .answer = answer };
    struct err err = { 0 };
    (void)asking;
    *answer = (struct answer){ .verdict = VERDICT_UNRESOLVED };
    answer->signature = (struct signature){ STR(""), STR(""), STR(""), STR("") };
    answer->text = answer->node = STR("");
    pthread_mutex_lock(&o->lock);
    if (run_both(&a, candidate, &err))
        judge(&a, candidate->graph);
    else
        cannot_tell(&a, &err);
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
    close_sides(o);
    pthread_mutex_destroy(&o->lock);
    arena_release(&o->arena);
    free(o);
}

/* ---- Making it ---- */

static bool find_side(struct side *side, struct str name, struct err *err)
{
    side->kind = backend_find(name);
    if (!side->kind)
        return err_set(err, ERR_USAGE, "--backend-mismatch: there is no backend %.*s",
                       STR_ARG(name));
    if (side->kind->shapes_only)
        return err_set(err, ERR_USAGE, "--backend-mismatch: %.*s computes nothing", STR_ARG(name));
    if (side->tf32 && !side->kind->has_tf32)
        return err_set(err, ERR_USAGE, "--tf32: backend %.*s has none", STR_ARG(name));
    return true;
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
                   "--inject with --backend-mismatch: OPERATOR=EPS, as in "
                   "aten.tanh=1e-2");
}

/* The operator at which the whole differs first. */
static bool take_signature(struct backends_oracle *o, const struct candidate *whole,
                           struct err *err)
{
    struct answer answer;
    ask(&o->oracle, whole, NULL, &answer);
    bool ok = answer.verdict != VERDICT_BROKEN;
    if (!ok)
        *err = answer.err;
    else if (answer.verdict == VERDICT_INTERESTING)
        o->op = arena_copy(&o->arena, answer.signature.op);
    answer_release(&answer);
    return ok;
}

/* The folder of compiled kernels may be refused: questions take longer then. */
static bool note_without(struct backends_oracle *o, struct err *err)
{
    const struct err *tested = &o->tested.backend->without;
    const struct err *why = err_is_set(tested) ? tested : &o->reference.backend->without;
    o->oracle.without = arena_copy(&o->arena, str_of(err_is_set(why) ? why->text : ""));
    return o->oracle.without.p || err_nomem(err);
}

static bool make_id(struct backends_oracle *o, const struct backends_options *options,
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
    o->oracle = (struct oracle){ .ask = ask,
                                 .free = free_oracle,
                                 .deterministic = true,
                                 .cheap = true,
                                 .name = STR("backends"),
                                 .id = STR("") };
    o->op = o->fault = STR("");
    o->tested.tf32 = options->tf32;
    pthread_mutex_init(&o->lock, NULL);
    if (find_side(&o->tested, options->tested, err) &&
        find_side(&o->reference, options->reference, err) && open_sides(o, err) &&
        note_without(o, err) && read_fault(o, options->inject, err) &&
        take_signature(o, whole, err) && make_id(o, options, err))
        return &o->oracle;
    free_oracle(&o->oracle);
    return NULL;
}

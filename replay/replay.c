#include "replay/replay.h"

#include <stdlib.h>

#include "replay/attempt/attempt.h"
#include "replay/attempt/changes/hints.h"
#include "replay/attempt/guard_log.h"
#include "replay/attempt/merge.h"
#include "replay/attempt/substitutes.h"
#include "replay/ops/layers.h"
#include "trace/base/parallel.h"
#include "trace/events/guard_tree.h"

/* The kinds of an attempt's graphs, bits 1 << enum graph_kind: all of them, and those that are
 * walked, as what they are walked as. */
struct attempt_kinds {
    uint32_t logged, walked;
};

struct replay_loader {
    struct trace *trace;
    const struct replay_options *options;
    const struct graph_list *graphs;
    const struct guard_list *guards;
    const struct symbol_table *symbols;
    const uint32_t *substitutes; /* by attempt */
    const uint32_t *other_aot;   /* by attempt: AOTAutograd's graph of another one */
    struct attempt_kinds *kinds; /* by attempt */
    struct op_catalog *operators;
    size_t n_marks, n_sets; /* the numbers that apply to some attempt */
    uint32_t only;          /* the single graph that the selector names, or TRACE_NONE */
    struct arena arena;
    vec_of(struct attempt_load *)
    loads;
};

/* Returns whether a graph is replayed: not one that is printed before or after passes; graphs of a
 * failed compile are included. */
static bool is_replayed_graph(const struct graph_ref *ref)
{
    return ref->is_event || ref->kind == GRAPH_EXPORTED || ref->kind == GRAPH_PARTIAL_DYNAMO ||
           ref->kind == GRAPH_PARTIAL_AOT;
}

/* Returns the kind that a partial graph would have become; make_fx traced it in either case. */
static enum graph_kind kind_to_walk(enum graph_kind kind)
{
    return kind == GRAPH_PARTIAL_DYNAMO ? GRAPH_DYNAMO
           : kind == GRAPH_PARTIAL_AOT  ? GRAPH_JOINT
                                        : kind;
}

static bool is_shown(const struct replay_loader *l, uint32_t i)
{
    const struct graph_ref *ref = &l->graphs->refs[i];
    const struct selector *s = &l->options->selector;
    if (l->only != TRACE_NONE)
        return i == l->only;
    return selector_has_recording(l->trace, s, l->trace->records[ref->record].recording) &&
           selector_has_attempt(l->trace, s, ref->attempt) &&
           (is_replayed_graph(ref) || l->options->all);
}

static bool load_graph(struct replay_loader *l, struct attempt_load *load, uint32_t i, bool shown,
                       struct err *err)
{
    const struct graph_ref *ref = &l->graphs->refs[i];
    struct err why = { 0 };
    struct attempt_graph g = {
        .ref = i,
        .kind = kind_to_walk(ref->kind),
        .record = ref->record,
        .shown = shown,
        .counted = is_replayed_graph(ref),
    };
    g.graph = trace_graph(l->trace, i, &why);
    if (!g.graph) {
        if (why.kind != ERR_INPUT)
            return *err = why, false;
        g.error = arena_copy(&l->arena, str_of(why.text));
    }
    load->graphs[load->n_graphs++] = g;
    return true;
}

/* Loads the graph that is walked for the guards of an attempt without one. */
static bool load_substitute(struct replay_loader *l, struct attempt_load *load, struct err *err)
{
    uint32_t i = l->substitutes[load->attempt];
    struct err why = { 0 };
    if (load->n_graphs || i == TRACE_NONE || l->options->changes.n_sets ||
        changes_dims(&l->options->changes))
        return true;
    load->substitute = (struct attempt_graph){ .ref = i,
                                               .kind = GRAPH_DYNAMO,
                                               .record = l->graphs->refs[i].record,
                                               .graph = trace_graph(l->trace, i, &why) };
    load->substitute_is_same = str_eq(l->trace->attempts[l->graphs->refs[i].attempt].compile,
                                      l->trace->attempts[load->attempt].compile);
    return load->substitute.graph || why.kind == ERR_INPUT || (*err = why, false);
}

/* Finds the kinds of each attempt's graphs. */
static bool find_kinds(struct replay_loader *l)
{
    l->kinds = arena_array(&l->arena, struct attempt_kinds, (size_t)l->trace->n_attempts + 1);
    for (uint32_t i = 0; l->kinds && i < l->graphs->n; i++) {
        const struct graph_ref *ref = &l->graphs->refs[i];
        if (ref->attempt >= l->trace->n_attempts)
            continue;
        l->kinds[ref->attempt].logged |= 1U << ref->kind;
        if (is_replayed_graph(ref))
            l->kinds[ref->attempt].walked |= 1U << kind_to_walk(ref->kind);
    }
    return l->kinds != NULL;
}

static struct attempt_kinds kinds_of(const struct replay_loader *l, uint32_t attempt)
{
    return attempt == TRACE_NONE ? (struct attempt_kinds){ 0 } : l->kinds[attempt];
}

/* Returns whether Inductor compiled the attempt: only Inductor records graphs of these kinds. */
static bool went_to_inductor(const struct replay_loader *l, uint32_t attempt)
{
    return kinds_of(l, attempt).logged & (1U << GRAPH_PRE_GRAD | 1U << GRAPH_POST_GRAD);
}

/* Returns whether autograd recorded the attempt's calls: AOTAutograd traced a backward, too. Of an
 * attempt without its graphs, because of a restart or a process that ended, what traced the same
 * code tells. */
static bool has_autograd(const struct replay_loader *l, uint32_t attempt)
{
    const uint32_t walked = kinds_of(l, attempt).walked;
    if (walked & (1U << GRAPH_JOINT | 1U << GRAPH_INFERENCE) || attempt == TRACE_NONE)
        return walked & 1U << GRAPH_JOINT;
    const uint32_t other = l->other_aot[attempt];
    return other != TRACE_NONE && l->graphs->refs[other].kind == GRAPH_JOINT;
}

static struct attempt_load *new_load(struct replay_loader *l, uint32_t attempt, size_t room)
{
    struct attempt_load *load = arena_new(&l->arena, struct attempt_load);
    if (!load)
        return NULL;
    load->attempt = attempt;
    load->trace = l->trace;
    load->autograd = has_autograd(l, attempt);
    load->inductor = went_to_inductor(l, attempt);
    load->guards = l->guards;
    load->graphs = arena_array(&l->arena, struct attempt_graph, room + 1);
    return load->graphs && vec_push(&l->loads, load) ? load : NULL;
}

static bool change_inputs(struct replay_loader *l, struct attempt_load *load, struct err *err)
{
    const struct input_changes *changes = &l->options->changes;
    load->by_hint = changes_dims(changes);
    load->stop = GUARD_STOP_NEVER;
    load->stop.at_branch = changes->n_sets > 0;
    for (size_t i = 0; i < l->options->n_until; i++)
        if (l->options->until[i].attempt == load->attempt)
            load->stop.record = l->options->until[i].guard->record;
    return inputs_set_hints(&load->inputs, changes->sets, changes->n_sets, &l->n_sets, err) &&
           inputs_change(l->trace, load->attempt, l->guards, changes, &load->inputs, &l->n_marks,
                         err);
}

/* Corrects the inputs where other records contradict theirs. */
static bool settle_records(struct replay_loader *l, struct attempt_load *load, struct err *err)
{
    struct recorded_graph *graphs = calloc(load->n_graphs + 1, sizeof *graphs);
    if (!graphs)
        return err_nomem(err);
    const struct graph *dynamo = NULL;
    for (size_t i = 0; i < load->n_graphs; i++) {
        graphs[i] = (struct recorded_graph){ load->graphs[i].ref, load->graphs[i].record,
                                             load->graphs[i].kind, load->graphs[i].graph };
        if (!dynamo && load->graphs[i].kind == GRAPH_DYNAMO)
            dynamo = load->graphs[i].graph;
    }
    struct arena arena = ARENA_INIT;
    struct attempt_records records = { .trace = l->trace,
                                       .attempt = load->attempt,
                                       .guards = l->guards,
                                       .symbols = l->symbols,
                                       .graphs = graphs,
                                       .n_graphs = load->n_graphs };
    for (uint32_t i = 0; i < l->graphs->n && !records.exported; i++)
        records.exported = l->graphs->refs[i].kind == GRAPH_EXPORTED;
    bool ok = guard_tree_read(l->trace, load->attempt, &arena, &records.tree, err) &&
              contradictions_settle(&load->settled, &records, &load->inputs, err);
    arena_release(&arena);
    free(graphs);
    return ok && (inputs_guess_sharing(&load->inputs, dynamo) || err_nomem(err));
}

static bool read_fixed_sizes(struct attempt_load *load, struct err *err)
{
    const struct graph *dynamo = NULL, *aot = NULL;
    uint32_t n_aot = 0;
    for (size_t i = 0; i < load->n_graphs; i++) {
        const struct attempt_graph *g = &load->graphs[i];
        if (g->kind == GRAPH_DYNAMO && !dynamo)
            dynamo = g->graph;
        if (g->kind == GRAPH_JOINT || g->kind == GRAPH_INFERENCE) {
            aot = g->graph;
            n_aot++;
        }
    }
    /* Of several backend calls each takes inputs of its own. */
    aot = n_aot == 1 ? aot : NULL;
    return !dynamo || inputs_read_fixed(&load->inputs, dynamo, aot) || err_nomem(err);
}

/* Loads an attempt. All its graphs up to the last selected one are walked, because of their
 * guards. */
static bool load_attempt(struct replay_loader *l, uint32_t attempt, struct err *err)
{
    size_t room = 0;
    bool any = false;
    for (uint32_t i = 0; i < l->graphs->n; i++)
        if (l->graphs->refs[i].attempt == attempt) {
            room++;
            any |= is_shown(l, i);
        }
    if (!any && (room || l->only != TRACE_NONE ||
                 !selector_has_attempt(l->trace, &l->options->selector, attempt)))
        return true;
    struct attempt_load *load = new_load(l, attempt, room);
    if (!load || !inputs_read(l->trace, attempt, &load->inputs, err))
        return err_nomem(err);
    if (l->options->torch)
        load->inputs.torch = l->options->torch;
    load->table = l->symbols;
    for (uint32_t i = 0; i < l->graphs->n; i++) {
        const struct graph_ref *ref = &l->graphs->refs[i];
        bool shown = is_shown(l, i);
        if (ref->attempt == attempt && (shown || ref->is_event) &&
            !load_graph(l, load, i, shown, err))
            return false;
    }
    return read_fixed_sizes(load, err) && load_substitute(l, load, err) &&
           settle_records(l, load, err) && change_inputs(l, load, err);
}

/* Loads a graph that belongs to no attempt: a program of a .pt2, which has its own symbols, or one
 * of a log. */
static bool load_program(struct replay_loader *l, uint32_t i, struct err *err)
{
    const struct symbol_table *table = l->symbols;
    struct attempt_load *load = new_load(l, TRACE_NONE, 1);
    uint32_t record = l->graphs->refs[i].record;
    if (!load)
        return err_nomem(err);
    load->stop = GUARD_STOP_NEVER;
    load->inputs.torch = l->options->torch
                             ? l->options->torch
                             : recorded_torch(l->trace, l->trace->records[record].recording);
    for (uint32_t s = 0; s < table->n_symbols; s++)
        if (table->symbols[s].record == record && table->symbols[s].attempt == TRACE_NONE) {
            if (!load->symbols)
                load->symbols = &table->symbols[s];
            load->n_symbols = (uint32_t)(&table->symbols[s] - load->symbols) + 1;
        }
    load->guards_from = guard_log_first_outside(l->trace, l->graphs, i);
    if (!load_graph(l, load, i, true, err))
        return false;
    bool in_log = l->graphs->refs[i].is_event;
    if (!in_log || !load->n_graphs)
        return true;
    load->symbols = inputs_earlier_symbols(l->trace, table, load->graphs[0].graph, record,
                                           &l->arena, &load->n_symbols);
    return load->symbols || err_nomem(err);
}

static bool load_selected(struct replay_loader *l, struct err *err)
{
    l->graphs = trace_graphs(l->trace, err);
    l->guards = l->graphs ? trace_guards(l->trace, err) : NULL;
    l->symbols = l->guards ? trace_symbols(l->trace, err) : NULL;
    if (!l->symbols)
        return false;
    l->substitutes = substitute_graphs(l->trace, l->graphs, 1U << GRAPH_DYNAMO, &l->arena);
    l->other_aot = substitute_graphs(l->trace, l->graphs, 1U << GRAPH_JOINT | 1U << GRAPH_INFERENCE,
                                     &l->arena);
    if (!l->substitutes || !l->other_aot || !find_kinds(l))
        return err_nomem(err);
    if (l->options->selector.kind.n &&
        !selector_graph(l->trace, l->graphs, &l->options->selector, &l->only, err))
        return false;
    for (uint32_t i = 0; i < l->trace->n_attempts; i++)
        if (!load_attempt(l, i, err))
            return false;
    for (uint32_t i = 0; i < l->graphs->n; i++)
        if (l->graphs->refs[i].attempt == TRACE_NONE && is_shown(l, i) && !load_program(l, i, err))
            return false;
    if (l->options->changes.n_sets && !l->n_sets)
        return err_set(err, ERR_USAGE,
                       "no attempt has a symbol %.*s; symtape show --symbols lists them",
                       STR_ARG(l->options->changes.sets[0].symbol));
    if (l->options->changes.n_marks && !l->n_marks)
        return err_set(err, ERR_USAGE,
                       "no attempt has an input %.*s with that "
                       "dimension",
                       STR_ARG(l->options->changes.marks[0].source));
    return true;
}

struct replay_job {
    const struct replay_options *options;
    struct attempt_load **loads;
    struct attempt_result *results;
};

static uint64_t disagreements(const struct attempt_result *result)
{
    return result->guard_counts.missing + result->guard_counts.extra + result->differences.n;
}

/* Where calls and guards agree as well with either, contradictions tell: a condition that Dynamo
 * checks in each call and that is simplified in another way is none of its printed ones. */
static bool agrees_better(const struct attempt_result *a, const struct attempt_result *b)
{
    uint64_t of_a = disagreements(a), of_b = disagreements(b);
    return of_a < of_b || (of_a == of_b && a->contradictions.list.n < b->contradictions.list.n);
}

/* Replays again and keeps what agrees better with the record. */
static bool retry(const struct replay_options *options, struct attempt_load *load,
                  struct attempt_result *result)
{
    struct attempt_result other;
    attempt_replay(options, load, &other);
    bool better = other.err.kind == ERR_NONE && agrees_better(&other, result);
    if (better) {
        struct attempt_result worse = *result;
        *result = other;
        other = worse;
    }
    attempt_result_release(&other);
    return better;
}

enum { MAX_CHOICES = 16 }; /* that are tried one by one */

static void retry_mods(const struct replay_options *options, struct attempt_load *load,
                       struct attempt_result *result)
{
    for (uint64_t i = 0; i <= result->choices && i <= MAX_CHOICES && result->choices; i++) {
        uint64_t before = load->inner_mods;
        if (!disagreements(result) && !result->contradictions.list.n)
            break;
        load->inner_mods = i ? before ^ (UINT64_C(1) << (i - 1)) : UINT64_MAX;
        if (!retry(options, load, result))
            load->inner_mods = before;
    }
}

/* Where PyTorch's choice depends on the order of a set, tries both orders. Where recorded guards
 * are false at the hints, tries what they may have been. */
static void retry_choices(const struct replay_options *options, struct attempt_load *load,
                          struct attempt_result *result)
{
    if (load->by_hint || options->changes.n_sets || result->err.kind != ERR_NONE)
        return;
    for (unsigned i = 1; i < DENIED_GUARDS && result->n_denied && disagreements(result); i++) {
        enum denied_guard before = load->instead;
        load->instead = (enum denied_guard)i;
        if (!retry(options, load, result))
            load->instead = before;
    }
    retry_mods(options, load, result);
}

static void do_attempt(void *user, size_t i)
{
    struct replay_job *work = user;
    attempt_replay(work->options, work->loads[i], &work->results[i]);
    retry_choices(work->options, work->loads[i], &work->results[i]);
}

static struct replay *run_attempts(struct replay_loader *l, struct err *err)
{
    size_t n = l->loads.n;
    struct attempt_result *results = calloc(n + 1, sizeof *results);
    struct replay_job work = { l->options, l->loads.v, results };
    struct replay *ret = NULL;
    if (!results)
        return err_nomem(err), NULL;
    parallel_for(n, l->options->jobs, do_attempt, &work);
    bool ok = true;
    for (size_t i = 0; i < n && ok; i++)
        if (results[i].err.kind != ERR_NONE) {
            *err = results[i].err;
            ok = false;
        }
    const struct replay_observer *observer = l->options->observer;
    for (size_t i = 0; i < n && ok && observer; i++) {
        void *observed = results[i].observed;
        results[i].observed = NULL;
        ok = observer->take(observer->user, l->loads.v[i]->attempt, observed) || err_nomem(err);
    }
    if (ok)
        ret = replay_merge(l->graphs, results, n, err);
    for (size_t i = 0; i < n; i++)
        attempt_result_release(&results[i]);
    free(results);
    return ret;
}

/* Makes the operators once for all attempts, unless there is no graph to walk. */
static bool make_operators(struct replay_loader *l, struct err *err)
{
    size_t n_graphs = 0;
    for (size_t i = 0; i < l->loads.n; i++)
        n_graphs += l->loads.v[i]->n_graphs + (l->loads.v[i]->substitute.graph != NULL);
    l->operators = n_graphs ? op_catalog_new(l->options->rules, err) : NULL;
    for (size_t i = 0; i < l->loads.n; i++)
        l->loads.v[i]->operators = l->operators;
    return n_graphs == 0 || l->operators;
}

struct replay *replay_trace(struct trace *trace, const struct replay_options *options,
                            struct err *err)
{
    struct replay_loader l = { .trace = trace, .options = options, .only = TRACE_NONE };
    struct replay *ret =
        load_selected(&l, err) && make_operators(&l, err) ? run_attempts(&l, err) : NULL;
    for (size_t i = 0; i < l.loads.n; i++) {
        inputs_release(&l.loads.v[i]->inputs);
        contradictions_release(&l.loads.v[i]->settled);
    }
    vec_release(&l.loads);
    op_catalog_free(l.operators);
    arena_release(&l.arena);
    return ret;
}

#include "replay/attempt/attempt.h"

#include "replay/attempt/aot_inputs.h"
#include "replay/attempt/constraints.h"
#include "replay/attempt/float_constants.h"
#include "replay/attempt/late_symbols.h"
#include "replay/attempt/tensorify.h"

#include <stdlib.h>

#include "replay/ops/layers.h"
#include "replay/ops/model/recall.h"
#include "replay/ops/model/stats.h"
#include "replay/program/ambient_autocast.h"
#include "replay/program/audit.h"
#include "replay/program/traced.h"
#include "trace/base/clock.h"

struct attempt_run {
    const struct replay_options *options;
    struct attempt_load *load;
    struct attempt_result *result;
    struct replay_state state;
    struct guard_log log;
    struct walker walker;
    vec_of(struct program *)
    programs; /* by number; NULL when it is no longer needed */
    vec_of(uint32_t)
    refs; /* the graph of each program */
    vec_of(uint32_t)
    first_stack; /* by program: the number of its first location */
    vec_of(const struct graph *)
    stack_graph;
    vec_of(uint32_t)
    stack_location;
    uint32_t record;         /* the record of the graph being walked */
    uint64_t *could_be_fast; /* by operator */
    struct traced traced;
    struct aot_inputs aot_inputs; /* of the graph being walked */
    vec_of(bool)
    walked;                              /* by program */
    bool substitute;                     /* walks the graph of another attempt */
    bool traced_joint;                   /* a joint graph was walked */
    bool infers;                         /* an inference graph is being walked, */
    bool suppressed;                     /* and the call being made must not add guards, */
    bool early[PROGRAM_MAX_NESTING + 1]; /* by nesting of subgraphs: as the call at work there */
    bool traces; /* layouts of the results of the graph being walked are evaluated (traced.h) */
    struct result_collector collecting;
    struct float_constants floats;
    uint32_t lists, list_items; /* of the graph being walked (list_input()) */
    bool has_floats;            /* an input is a float with a symbol */
};

static bool is_replaced(struct shape_env *env, sym_id size, sym_id printed)
{
    return size != printed && env_replace(env, size) == printed;
}

/* Returns whether the environment already replaced the symbols of a value as they are printed. */
static bool is_up_to_date(struct shape_env *env, struct value value, const struct expected *printed)
{
    if (value_is_number(value))
        return value.u.sym == printed->number || is_replaced(env, value.u.sym, printed->number);
    if (value.kind != VALUE_TENSOR)
        return true;
    const struct tensor_meta *meta = value.u.tensor.meta;
    bool ret = meta && printed->kind == EXPECT_TENSOR && meta->ndim == printed->ndim;
    for (uint32_t d = 0; ret && d < meta->ndim; d++)
        ret =
            meta->size[d] == printed->size[d] || is_replaced(env, meta->size[d], printed->size[d]);
    return ret;
}

/* Returns the value of a tangent: with the sizes of its output, and, unless the output's are kept,
 * with contiguous strides (coerce_tangent_and_suggest_memory_format of
 * torch/_functorch/_aot_autograd/collect_metadata_analysis.py). VALUE_NONE: the printed meta has
 * other hints. */
static struct value tangent_of(struct attempt_run *run, const struct expected *output,
                               const struct expected *printed)
{
    struct expected tangent = *output;
    if (!replay_state_agree(&run->state, output, printed))
        tangent.stride = NULL;
    struct value ret = expected_value(run->state.ops, &tangent);
    if (ret.kind != VALUE_TENSOR || !ret.u.tensor.meta)
        return value_none();
    tangent.stride = ret.u.tensor.meta->stride;
    return replay_state_agree(&run->state, &tangent, printed) ? ret : value_none();
}

/* Returns the value that an input of a joint or inference graph has before the graph is traced: the
 * meta of its origin in Dynamo's graph, unless its hints are not those of the printed meta. */
static struct value value_before_tracing(struct attempt_run *run, const struct program *program,
                                         const struct node *node, const struct node *origin,
                                         const struct expected *before,
                                         const struct expected *printed, bool *ok)
{
    struct value value = value_none();
    if (is_tangent(node) && !aot_inputs_differ(&run->aot_inputs, env_pool(run->state.env), program,
                                               before, printed, ok))
        value = tangent_of(run, before, printed);
    else if (is_tangent(node))
        return replay_state_placeholder(&run->state, node, printed);
    else if (replay_state_agree(&run->state, before, printed))
        value = replay_state_placeholder(&run->state, origin, before);
    if (value.kind == VALUE_NONE)
        return replay_state_placeholder(&run->state, node, printed);
    /* FakeTensorMode's cache tells SymInts apart by their symbols (SymNode._value_eq), so that one
     * whose symbol was replaced since finds what Dynamo's run of the call left there. */
    if (value.kind == VALUE_INT || is_tangent(node) ||
        !is_up_to_date(run->state.env, value, before))
        return value;
    return expected_value(run->state.ops, before);
}

enum { MAX_LISTS = 64 }; /* of a graph's inputs; each reads the graph */

/* Returns whether a node takes an item out of an input, which may have an alias. *at is set to its
 * index. */
static bool takes_item(const struct program *program, node_id node, node_id input, uint64_t *at)
{
    const struct node *getitem = &program->graph->nodes[node];
    const struct arg *args = node_args(program->graph, getitem);
    if (program->steps[node].kind != STEP_GETITEM || getitem->meta == META_NONE ||
        args[0].u.node >= node || program->steps[args[0].u.node].object != input ||
        args[1].u.integer < 0)
        return false;
    *at = (uint64_t)args[1].u.integer;
    return true;
}

/* Returns the list that a graph of compiled autograd takes its tensors from: no log describes it,
 * but its items are printed where the graph reads them. It lives as long as the program, which may
 * be walked again. The lists of a graph have no more items than the graph has nodes. */
static bool list_input(struct attempt_run *run, const struct program *program, node_id input,
                       struct value *ret)
{
    const uint64_t most = program->root->n_tree_nodes - run->list_items;
    uint64_t n = 0, at;
    for (node_id i = 0; i < program->n_steps; i++)
        if (takes_item(program, i, input, &at) && at < most && at >= n)
            n = at + 1;
    struct value *items = arena_array(&program->root->arena, struct value, (size_t)n + 1);
    if (!items)
        return false;
    for (uint64_t i = 0; i < n; i++)
        items[i] = value_none();
    for (node_id i = 0; i < program->n_steps; i++)
        if (takes_item(program, i, input, &at) && at < n)
            items[at] = expected_value(run->state.ops, program->steps[i].expected);
    run->list_items += (uint32_t)n;
    if (n)
        *ret = value_items(VALUE_LIST, items, (uint32_t)n);
    return true;
}

static bool attempt_input(void *user, const struct program *program, const struct step *step,
                          struct value *ret, struct err *err)
{
    struct attempt_run *run = user;
    if (step->expected->unbacked)
        know_unbacked(&run->walker.unbound, run->state.ops, step->expected);
    const struct node *node = &program->graph->nodes[step->node];
    const struct other_input *other = contradictions_find(&run->load->settled, node);
    const struct graph *dynamo = run->aot_inputs.dynamo;
    const struct expected *expected = step->expected;
    node_id origin = program->root == program && run->traces
                         ? aot_inputs_find(&run->aot_inputs, step->node)
                         : NODE_NONE;
    if (other && other->other)
        expected = expected_read(run->state.ops, other->other_graph, other->other->meta,
                                 replay_state_resolve, &run->state, &program->root->arena);
    else if (origin != NODE_NONE)
        expected = aot_inputs_meta(&run->aot_inputs, run->state.ops, origin, replay_state_resolve,
                                   &run->state, &program->root->arena);
    if (!expected)
        return err_nomem(err);
    if (!run->traces && program->root == program &&
        replay_state_set_input(&run->state, node, expected, ret)) {
        run->walker.input_is_set = true;
        return true;
    }
    bool as_described = run->walker.other || (other && !other->other), ok = true;
    *ret = as_described ? replay_state_input(&run->state, node) : value_none();
    if (!as_described || (run->walker.other && ret->kind == VALUE_NONE))
        *ret = origin == NODE_NONE || expected == step->expected || (other && other->other)
                   ? replay_state_placeholder(&run->state, node, expected)
                   : value_before_tracing(run, program, node, &dynamo->nodes[origin], expected,
                                          step->expected, &ok);
    if (!ok)
        return err_nomem(err);
    if (ret->kind != VALUE_TENSOR && !run->traces && step_is_list_input(program, step) &&
        run->lists++ < MAX_LISTS && !list_input(run, program, step->node, ret))
        return err_nomem(err);
    return !run->traces || traced_evaluate(&run->traced, run->state.ops, *ret) || err_nomem(err);
}

static bool attempt_attribute(void *user, const struct program *program, const struct step *step,
                              struct value *ret, struct err *err)
{
    struct attempt_run *run = user;
    if (!run->traces && program == program->root)
        return replay_state_attribute(&run->state, step->target, step->expected, ret) ||
               err_nomem(err);
    *ret = expected_value(run->state.ops, step->expected);
    return true;
}

/* Lets the next conditions add guards, or not, because the call was evaluated early. */
static void suppress_guards(struct attempt_run *run, bool on)
{
    if (run->suppressed && !on)
        env_resume_guards(run->state.env);
    if (!run->suppressed && on)
        env_suppress_guards(run->state.env);
    run->suppressed = on;
}

static bool attempt_before_call(void *user, const struct program *program, const struct step *step,
                                struct err *err)
{
    struct attempt_run *run = user;
    uint32_t location = program->graph->nodes[step->node].location;
    uint32_t stack = location == LOCATION_NONE
                         ? 0
                         : run->first_stack.v[program->number] + program->first_location + location;
    ops_set_stack(run->state.ops, location == LOCATION_NONE ? 0 : stack + 1);
    bool *early = &run->early[run->walker.depth];
    guard_log_set_backward(&run->log, run->traces && run->traced.backward);
    ops_set_backward(run->state.ops, run->traces && run->traced.backward);
    suppress_guards(run, false);
    *early = false;
    if (!guard_log_apply(&run->log, run->record, false) ||
        (run->infers && !traced_was_early(&run->traced, run->state.ops, step->expected, early)))
        return err_nomem(err);
    suppress_guards(run, *early);
    return !run->log.ended;
}

static bool attempt_after_call(void *user, const struct program *program, const struct step *step,
                               struct value result, struct err *err)
{
    struct attempt_run *run = user;
    if (run->could_be_fast && could_be_fast(run->state.ops, step, result))
        run->could_be_fast[op_index(step->op)]++;
    if (run->traces)
        traced_evaluate_view(&run->traced, run->state.ops, program, step, result);
    if (run->traces &&
        (!traced_evaluate_unused(&run->traced, run->state.ops, program, step, result) ||
         !traced_evaluate(&run->traced, run->state.ops, result)))
        return err_nomem(err);
    suppress_guards(run, run->walker.depth && run->early[run->walker.depth - 1]);
    if (!guard_log_gather(&run->log))
        return err_nomem(err);
    return !run->log.ended;
}

static bool add_graph_locations(struct attempt_run *run, const struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_locations; i++)
        if (!vec_push(&run->stack_graph, graph) || !vec_push(&run->stack_location, i))
            return false;
    return true;
}

static bool add_tree_stacks(struct attempt_run *run, const struct program *program)
{
    /* Children are added in the order in which the program numbers its tree's locations. */
    if (run->stack_graph.n != run->first_stack.v[program->number] + program->first_location)
        return false;
    if (!add_graph_locations(run, program->graph))
        return false;
    for (uint32_t i = 0; i < program->n_children; i++)
        if (!add_tree_stacks(run, program->children[i]))
            return false;
    return true;
}

static struct program *make_program(struct attempt_run *run, const struct attempt_graph *g,
                                    struct err *err)
{
    struct program *p =
        program_new(run->state.ops, g->graph, (uint32_t)run->programs.n,
                    run->walker.other ? replay_state_find : replay_state_resolve, &run->state, err);
    if (!p)
        return NULL;
    if (!vec_push(&run->programs, p)) {
        program_free(p);
        return err_nomem(err), NULL;
    }
    if (!vec_push(&run->refs, g->ref) ||
        !vec_push(&run->first_stack, (uint32_t)run->stack_graph.n) || !add_tree_stacks(run, p) ||
        !vec_push(&run->walked, false))
        return err_nomem(err), NULL;
    return p;
}

/* Returns whether a program is walked again: warm walks use all, passes all but these two kinds. */
static bool is_needed(const struct attempt_run *run, enum graph_kind kind)
{
    return run->options->warm ||
           (run->options->passes && kind != GRAPH_FORWARD && kind != GRAPH_BACKWARD);
}

/* Returns the joint or inference graph that AOTAutograd made of a Dynamo graph: the next one, or
 * NULL. */
static const struct graph *aot_graph_of(const struct attempt_load *load,
                                        const struct attempt_graph *dynamo)
{
    for (const struct attempt_graph *g = dynamo + 1; g < load->graphs + load->n_graphs; g++) {
        if (g->kind == GRAPH_DYNAMO)
            break;
        if (traces_results(g->kind))
            return g->graph;
    }
    return NULL;
}

/* Evaluates the conditions of AOTAutograd's first run of a Dynamo graph that was walked;
 * torch.export has no such run. */
static bool collect_metadata(struct attempt_run *run, const struct attempt_graph *g,
                             const struct program *p)
{
    bool runs = g->kind == GRAPH_DYNAMO && !run->load->inputs.exported;
    const struct graph *aot = runs ? aot_graph_of(run->load, g) : NULL;
    return !aot || (aot_inputs_set(&run->aot_inputs, g->graph, aot) &&
                    traced_evaluate_metadata(&run->traced, run->state.ops, p, aot,
                                             aot_inputs_origins(&run->aot_inputs)) &&
                    guard_log_gather(&run->log));
}

/* Returns the Dynamo graph from which AOTAutograd made a joint or inference graph, or NULL. */
static const struct graph *dynamo_graph_of(const struct attempt_load *load,
                                           const struct attempt_graph *aot)
{
    for (const struct attempt_graph *g = aot; g-- > load->graphs;)
        if (g->kind == GRAPH_DYNAMO)
            return g->graph;
        else if (traces_results(g->kind))
            break;
    return NULL;
}

/* Returns whether a graph is cut out of a joint graph. PyTorch does not call its operators again
 * (torch/_functorch/partitioners.py copies nodes with their metas), so that it adds no guards. */
static bool is_part_of_joint(enum graph_kind kind)
{
    return kind == GRAPH_FORWARD || kind == GRAPH_BACKWARD;
}

/* Returns false only when memory ran out; other failures of a graph are stored in its row. */
static bool walk_graph(struct attempt_run *run, const struct attempt_graph *g,
                       struct replay_graph *row, struct err *err)
{
    struct err why = { 0 };
    run->record = g->record;
    run->infers = g->kind == GRAPH_INFERENCE;
    run->traces = traces_results(g->kind) || run->load->inputs.exported;
    run->lists = run->list_items = 0;
    run->traced.backward = false;
    run->traced.joint = g->kind == GRAPH_JOINT;
    run->traced.unwrapped = run->load->inputs.exported;
    run->traced.decomposes = run->load->inductor;
    const struct graph *dynamo = traces_results(g->kind) ? dynamo_graph_of(run->load, g) : NULL;
    if (!aot_inputs_set(&run->aot_inputs, dynamo, g->graph))
        return err_nomem(err);
    struct program *p = make_program(run, g, &why);
    ops_set_recall(run->state.ops, traces_results(g->kind) ? 2 : g->kind == GRAPH_DYNAMO);
    if (p && g->kind == GRAPH_DYNAMO &&
        (!float_constants_symbolize(&run->floats, run->load, &run->state, p) ||
         !late_symbols_redirect(run->load, p)))
        return err_nomem(err);
    const bool is_part = run->traced_joint && is_part_of_joint(g->kind);
    if (is_part)
        env_suppress_guards(run->state.env);
    if (p && g->kind == GRAPH_DYNAMO)
        ambient_autocast_set(p);
    uint64_t start = clock_thread_ns();
    bool ok = p && walk_program(&run->walker, p);
    bool stopped = p && run->walker.stopped;
    if (is_part)
        env_resume_guards(run->state.env);
    suppress_guards(run, false);
    run->traced_joint |= ok && g->kind == GRAPH_JOINT;
    row->counts.ns = clock_thread_ns() - start;
    float_constants_restore(&run->floats, run->state.env);
    ops_set_recall(run->state.ops, 0);
    ok |= stopped;
    if (p && !ok)
        why = run->walker.err;
    run->walker.err = (struct err){ 0 };
    if (!ok && why.kind == ERR_ENV)
        return *err = why, false;
    if (!ok)
        row->error = arena_copy(&run->result->arena, str_of(why.text));
    else if (!stopped && (g->kind == GRAPH_FORWARD || g->kind == GRAPH_INFERENCE))
        traced_evaluate_outputs(&run->traced, run->state.ops, p);
    if (ok && !stopped && run->has_floats && is_tensorified(g->kind) &&
        !tensorify_evaluate(p, run->state.env))
        return err_nomem(err);
    if (!guard_log_gather(&run->log) || !guard_log_apply(&run->log, g->record, true))
        return err_nomem(err);
    if (!ok)
        return true;
    if (!run->walker.by_hint && walk_inputs_differ(&run->walker, p) &&
        !guard_log_concede(&run->log, g->record))
        return err_nomem(err);
    if (!stopped && !collect_metadata(run, g, p))
        return err_nomem(err);
    run->walked.v[p->number] = !stopped;
    walk_finish(&run->walker, p);
    run->collecting.graph = row;
    run->collecting.partial = stopped;
    collect_program(&run->collecting, p);
    if (run->options->calls && g->shown)
        collect_calls(&run->collecting, p);
    ops_reset(run->state.ops);
    if (!is_needed(run, g->kind)) {
        program_free(p);
        run->programs.v[run->programs.n - 1] = NULL;
    }
    return !run->collecting.failed || err_nomem(err);
}

/* Walks each program again, as often as requested, in the environment as it is now. */
static bool walk_warm(struct attempt_run *run, struct err *err)
{
    const struct replay_options *options = run->options;
    struct value ignored;
    for (size_t i = 0; i < run->programs.n; i++) {
        uint64_t best = UINT64_MAX;
        for (uint32_t k = 0; k < options->warm && run->walked.v[i]; k++) {
            ops_reset(run->state.ops);
            if (options->on_warm)
                options->on_warm(options->on_warm_user, true);
            uint64_t start = clock_thread_ns();
            bool ok = walk_again(&run->walker, run->programs.v[i], &ignored);
            uint64_t ns = clock_thread_ns() - start;
            if (options->on_warm)
                options->on_warm(options->on_warm_user, false);
            if (!ok)
                return *err = run->walker.err, false;
            best = ns < best ? ns : best;
        }
        for (size_t g = 0; g < run->result->graphs.n && best < UINT64_MAX; g++)
            if (run->result->graphs.v[g].ref == run->refs.v[i])
                run->result->graphs.v[g].warm_ns = best;
    }
    return true;
}

/* torch.export traces what Dynamo's graph calls once, without AOTAutograd. Returns the record of
 * that graph, the last one; TRACE_NONE: there is none, or the attempt is compiled. */
static uint32_t last_dynamo_record(const struct attempt_load *load)
{
    uint32_t ret = TRACE_NONE;
    for (size_t i = 0; i < load->n_graphs && load->inputs.exported; i++)
        if (load->graphs[i].kind == GRAPH_DYNAMO && load->graphs[i].graph)
            ret = load->graphs[i].record;
    return ret;
}

static bool walk_graphs(struct attempt_run *run, struct err *err)
{
    struct attempt_load *load = run->load;
    const bool only_dynamo = last_dynamo_record(load) != TRACE_NONE;
    for (size_t i = 0; i < load->n_graphs && !run->log.ended; i++) {
        const struct attempt_graph *g = &load->graphs[i];
        if (only_dynamo && g->kind != GRAPH_DYNAMO)
            continue;
        struct replay_graph row = { .ref = g->ref, .counted = g->counted, .error = g->error };
        size_t n_differences = run->result->differences.n;
        size_t n_unsupported = run->result->unsupported.n;
        row.counts.graphs = 1;
        if (g->graph && !walk_graph(run, g, &row, err))
            return false;
        if (g->shown && !vec_push(&run->result->graphs, row))
            return err_nomem(err);
        if (!g->shown) {
            run->result->differences.n = n_differences;
            run->result->unsupported.n = n_unsupported;
        }
    }
    return true;
}

/* ---- Guards ---- */

struct printed {
    const struct attempt_load *load;
};

static bool is_printed_symbol(void *user, struct str symbol)
{
    const struct printed *printed = user;
    for (size_t i = 0; i < printed->load->n_graphs; i++)
        if (printed->load->graphs[i].graph &&
            graph_has_symbol(printed->load->graphs[i].graph, symbol))
            return true;
    return false;
}

static void count_recorded(struct replay_guard_counts *n, const struct guard_entry *entry)
{
    if (entry->guard->kind == GUARD_RUNTIME_ASSERT) {
        n->asserts++;
        return;
    }
    n->recorded++;
    n->computed += entry->status == GUARD_STATUS_REPRODUCED;
    switch (entry->guard->asked_by) {
    case GUARD_BY_KERNEL:
        n->reproduced += entry->status == GUARD_STATUS_REPRODUCED;
        n->missing += entry->status == GUARD_STATUS_MISSING;
        n->invisible += entry->status == GUARD_STATUS_INVISIBLE;
        n->no_graph += entry->status == GUARD_STATUS_NO_GRAPH;
        break;
    case GUARD_BY_TORCH_FUNCTION: n->torch_function++; break;
    case GUARD_BY_DYNAMO: n->dynamo++; break;
    case GUARD_BY_BACKEND: n->backend++; break;
    default: n->user++; break;
    }
}

/* Returns the node of an origin; nodes are numbered over a graph and then its children. */
static const struct node *node_in(const struct graph *graph, uint32_t *node,
                                  const struct graph **in)
{
    if (*node < graph->n_nodes) {
        *in = graph;
        return &graph->nodes[*node];
    }
    *node -= graph->n_nodes;
    const struct node *ret = NULL;
    for (uint32_t i = 0; i < graph->n_children && !ret; i++)
        ret = node_in(graph->children[i], node, in);
    return ret;
}

static const struct node *origin_node(const struct attempt_run *run, uint32_t program,
                                      uint32_t node)
{
    const struct graph *ignored;
    for (size_t g = 0; g < run->load->n_graphs; g++)
        if (run->load->graphs[g].ref == run->refs.v[program] && run->load->graphs[g].graph)
            return node_in(run->load->graphs[g].graph, &node, &ignored);
    return NULL;
}

/* Returns the text of a guard: of one that was added with other inputs, the text that it has then.
 */
static struct str guard_text(struct attempt_run *run, const struct guard_entry *entry)
{
    struct buf text = BUF_INIT;
    if (run->load->by_hint && entry->added != SYM_NONE)
        sym_print(env_pool(run->state.env), entry->added, &text);
    else
        buf_put(&text, entry->guard ? entry->guard->expr : entry->text);
    struct str ret =
        text.failed ? (struct str){ 0 } : arena_copy(&run->result->arena, buf_str(&text));
    buf_release(&text);
    return ret;
}

static bool keep_guard(struct attempt_run *run, const struct guard_entry *entry)
{
    struct attempt_result *r = run->result;
    const struct node *node = NULL;
    const struct graph *ignored;
    struct replay_guard row = { .guard = entry->guard,
                                .attempt = run->load->attempt,
                                .status = entry->status,
                                .ref = TRACE_NONE };
    const struct attempt_graph *substitute = &run->load->substitute;
    uint32_t at = entry->node;
    if (entry->has_node && substitute->graph)
        node = node_in(substitute->graph, &at, &ignored);
    else if (entry->has_node && entry->graph < run->refs.n)
        node = origin_node(run, entry->graph, entry->node);
    if (node) {
        row.ref = substitute->graph ? substitute->ref : run->refs.v[entry->graph];
        row.node = node->name;
    }
    row.rule = arena_copy(&r->arena, str_of(entry->rule ? entry->rule : ""));
    row.expr = guard_text(run, entry);
    return row.rule.p && row.expr.p && vec_push(&r->guards, row);
}

/* Returns the record from which on no graph holds the calls that ask for guards: AOTAutograd prints
 * its graphs when it has traced, so an attempt that was ended while it did so has Dynamo's only. */
static uint32_t graphless_from(const struct attempt_load *load)
{
    uint32_t from = 0;
    for (size_t i = 0; i < load->n_graphs; i++) {
        if (load->graphs[i].kind != GRAPH_DYNAMO)
            return TRACE_NONE;
        if (load->graphs[i].record > from)
            from = load->graphs[i].record;
    }
    return from;
}

static bool collect_guards(struct attempt_run *run)
{
    struct printed printed = { run->load };
    guard_log_finish(&run->log, is_printed_symbol, &printed, graphless_from(run->load));
    for (size_t i = 0; i < run->log.entries.n; i++) {
        struct guard_entry *entry = &run->log.entries.v[i];
        /* A program of a .pt2 has no recorded guards to compare with. */
        if (!entry->guard && run->load->attempt == TRACE_NONE)
            continue;
        if (guard_log_ended_before(&run->log, entry) ||
            (run->load->by_hint && guard_log_is_gone(&run->log, entry, run->load->inputs.exported)))
            continue;
        if (entry->guard)
            count_recorded(&run->result->guard_counts, entry);
        else
            run->result->guard_counts.extra++;
        if (!keep_guard(run, entry))
            return false;
    }
    for (uint32_t i = 0; i < run->load->guards->n; i++)
        run->result->guard_counts.suppressed +=
            run->load->guards->guards[i].attempt == run->load->attempt &&
            run->load->guards->guards[i].record >= run->load->guards_from &&
            run->load->guards->guards[i].kind == GUARD_SUPPRESSED;
    return true;
}

/* ---- The attempt ---- */

static struct env_settings settings_of(const struct attempt_load *load)
{
    struct env_settings ret = ENV_SETTINGS_DEFAULT;
    ret.assume_static_by_default = load->inputs.static_by_default;
    ret.inner_mods = load->inner_mods;
    ret.torch = load->inputs.torch;
    return ret;
}

static bool matches_operator(struct str name, struct str op)
{
    return str_eq(name, op) || (str_starts(name, op) && name.n > op.n && name.p[op.n] == '.');
}

static bool set_ablation(struct ops *ops, const struct replay_ablation *a)
{
    bool ok = a->op.n || ops_ablate(ops, a->ablation, NULL, true);
    for (size_t i = 0; i < ops_count(ops) && a->op.n && ok; i++) {
        const struct op *op = ops_at(ops, i);
        if (op && matches_operator(op_name(op), a->op))
            ok = ops_ablate(ops, a->ablation, op, true);
    }
    return ok;
}

static bool set_switches(struct attempt_run *run)
{
    const struct replay_options *options = run->options;
    bool ok = true;
    ops_set_layers(run->state.ops, !options->no_model, !options->no_memo);
    ops_set_timing(run->state.ops, options->timing);
    ops_set_export(run->state.ops, run->load->attempt == TRACE_NONE || run->load->inputs.exported);
    ops_set_autograd(run->state.ops, run->load->autograd);
    for (size_t i = 0; i < options->n_ablations && ok; i++)
        ok = set_ablation(run->state.ops, &options->ablations[i]);
    if (options->audit)
        run->could_be_fast = calloc(ops_count(run->state.ops) + 1, sizeof *run->could_be_fast);
    run->collecting.could_be_fast = run->could_be_fast;
    return ok && (!options->audit || run->could_be_fast);
}

/* Returns the record before which the guards of a replay are. */
static uint32_t guards_end(const struct attempt_load *load)
{
    return load->attempt == TRACE_NONE && load->n_graphs ? load->graphs[0].record
                                                         : last_dynamo_record(load);
}

static bool open_run(struct attempt_run *run, struct err *err)
{
    struct env_settings settings = settings_of(run->load);
    settings.keep_events = run->options->observer != NULL;
    bool calls = run->load->n_graphs > 0 || run->substitute;
    if (!replay_state_open(&run->state, &run->load->inputs, &settings, err) ||
        (calls && !replay_state_make_ops(&run->state, run->load->operators, err)) ||
        !replay_state_symbols(&run->state, run->load->symbols, run->load->n_symbols, err))
        return false;
    run->walker = (struct walker){ .ops = run->state.ops,
                                   .env = run->state.env,
                                   .input = attempt_input,
                                   .attribute = attempt_attribute,
                                   .before = attempt_before_call,
                                   .after = attempt_after_call,
                                   .user = run,
                                   .exported = run->load->attempt == TRACE_NONE,
                                   .mesh = run->load->inputs.mesh,
                                   .by_hint = run->load->by_hint };
    run->walker.unbound.seen = env_n_symbols(run->state.env);
    for (size_t i = 0; i < run->load->inputs.list.n; i++)
        run->has_floats |= run->load->inputs.list.v[i].is_float;
    run->collecting = (struct result_collector){ .result = run->result,
                                                 .ops = run->state.ops,
                                                 .digests = run->options->digests };
    if (calls && !set_switches(run))
        return err_nomem(err);
    bool ok =
        guard_log_init(&run->log, run->load->guards, run->load->attempt, run->load->guards_from,
                       guards_end(run->load), run->state.env, replay_state_resolve, &run->state);
    run->log.instead = run->load->instead;
    run->log.stop = run->load->stop;
    return ok || err_nomem(err);
}

static void close_run(struct attempt_run *run)
{
    for (size_t i = 0; i < run->programs.n; i++)
        program_free(run->programs.v[i]);
    vec_release(&run->programs);
    vec_release(&run->refs);
    vec_release(&run->walked);
    vec_release(&run->first_stack);
    vec_release(&run->stack_graph);
    vec_release(&run->stack_location);
    guard_log_release(&run->log);
    walker_release(&run->walker);
    float_constants_release(&run->floats);
    traced_release(&run->traced);
    aot_inputs_release(&run->aot_inputs);
    buf_release(&run->collecting.text);
    free(run->could_be_fast);
    replay_state_close(&run->state);
}

static void collect_costs(struct attempt_run *run)
{
    struct replay_costs *costs = &run->result->costs;
    const struct shape_env *env = run->state.env;
    run->result->expression_bytes = env_bytes(env);
    costs->symbols = env_n_symbols(env);
    costs->guards = env_n_guards(env);
    costs->replacements = env_n_replacements(env);
    costs->asserts = env_n_asserts(env);
    run->result->choices = env_counts(env).choices;
    run->result->n_denied = run->log.n_denied;
    run->result->branch = run->log.branch;
    for (size_t i = 0; i < run->result->graphs.n; i++)
        costs->ns += run->result->graphs.v[i].counts.ns;
}

/* What one walk of each graph counted is replaced by the sum over PyTorch's passes. */
static void estimate_costs(struct attempt_result *result)
{
    struct replay_costs *costs = &result->costs;
    costs->modelled = 1;
    costs->dispatches = costs->hits = costs->misses = 0;
    costs->fake_tensor = costs->proxy = 0;
    costs->fast_attempts = costs->fast_answers = 0;
    for (size_t i = 0; i < PASSES; i++) {
        const struct pass_counts *pass = &result->passes[i];
        costs->dispatches += pass->fake_mode;
        costs->fake_tensor += pass->fake_tensor;
        costs->proxy += pass->proxy;
        costs->fast_attempts += pass->fast[OP_COUNTER_ATTEMPT_FAST];
        costs->fast_answers +=
            pass->fast[OP_COUNTER_FAST_CONTIGUOUS] + pass->fast[OP_COUNTER_FAST_CHANNELS_LAST];
    }
    for (size_t i = 0; i < result->pass_operators.rows.n; i++) {
        const struct pass_paths *paths = &result->pass_operators.rows.v[i].paths;
        costs->hits += paths->hits + paths->step_hits;
        costs->misses += paths->misses + paths->step_misses;
    }
}

static bool model_passes(struct attempt_run *run, struct err *err)
{
    struct pass_run passes = { .walker = &run->walker,
                               .state = &run->state,
                               .inputs = &run->load->inputs,
                               .programs = run->programs.v,
                               .ahead = run->options->ahead,
                               .counts = run->result->passes,
                               .operators = &run->result->pass_operators };
    enum graph_kind *kinds = calloc(run->programs.n + 1, sizeof *kinds);
    bool ok = true, traced = false;
    if (!kinds)
        return err_nomem(err);
    for (; passes.n < run->programs.n; passes.n++) {
        kinds[passes.n] = GRAPH_ANY;
        for (size_t g = 0; g < run->load->n_graphs && run->walked.v[passes.n]; g++)
            if (run->load->graphs[g].ref == run->refs.v[passes.n])
                kinds[passes.n] = run->load->graphs[g].kind;
    }
    passes.kinds = kinds;
    if (!passes_run(&passes)) {
        *err = run->walker.err;
        ok = false;
    }
    for (size_t i = 0; i < run->result->pass_operators.rows.n && ok; i++) {
        struct str *op = &run->result->pass_operators.rows.v[i].op;
        *op = arena_copy(&run->result->arena, *op);
        ok = op->p || err_nomem(err);
    }
    for (size_t i = 0; i < passes.n; i++)
        traced |= kinds[i] == GRAPH_DYNAMO;
    free(kinds);
    if (traced)
        estimate_costs(run->result);
    return ok;
}

static bool check_contradictions(struct attempt_run *run)
{
    const struct attempt_load *load = run->load;
    struct attempt_end end = { .guards = load->guards,
                               .symbols = load->table,
                               .attempt = load->attempt,
                               .env = run->state.env,
                               .log = &run->log,
                               .inputs = &load->inputs,
                               .state = &run->state,
                               .conditions = &load->settled.conditions,
                               .replayed = load->n_graphs > 0 };
    for (size_t i = 0; i < run->result->graphs.n; i++)
        end.replayed &= run->result->graphs.v[i].error.n == 0;
    if (!load->table || load->inputs.changed || load->inputs.rehinted)
        return true;
    const struct graph **graphs = calloc(load->n_graphs + 1, sizeof *graphs);
    for (size_t i = 0; graphs && i < load->n_graphs; i++)
        if (load->graphs[i].graph)
            graphs[end.n_graphs++] = load->graphs[i].graph;
    end.graphs = graphs;
    bool ok = graphs && contradictions_check(&run->result->contradictions, &end);
    free(graphs);
    return ok;
}

/* Comes last, because it adds guards. */
static bool check_constraints(struct attempt_run *run)
{
    const struct attempt_load *load = run->load;
    struct constraint_places places = { .trace = load->trace,
                                        .log = &run->log,
                                        .exported = load->inputs.exported };
    struct buf text = BUF_INIT;
    if (load->attempt != TRACE_NONE)
        places.recording = load->trace->attempts[load->attempt].recording;
    bool ok = run->log.ended || constraints_check(&run->state, &load->inputs, places, &text);
    if (ok)
        run->result->violation = arena_copy(&run->result->arena, buf_str(&text));
    buf_release(&text);
    return ok && run->result->violation.p;
}

/* Walks the graph of another attempt for the guards that its calls add, in an environment of its
 * own, because this attempt may have ended before its last call. */
static bool walk_substitute(struct attempt_run *run, struct err *err)
{
    struct err why = { 0 };
    run->substitute = true;
    if (!open_run(run, err))
        return false;
    run->record = TRACE_NONE;
    run->walker.other = true;
    struct program *p = make_program(run, &run->load->substitute, &why);
    ops_set_recall(run->state.ops, true);
    if (p && run->load->substitute_is_same && !late_symbols_redirect(run->load, p))
        return err_nomem(err);
    if (p && !walk_program(&run->walker, p))
        why = run->walker.err;
    if (why.kind == ERR_ENV)
        return *err = why, false;
    return guard_log_gather(&run->log) || err_nomem(err);
}

static bool take_substitute_guards(struct attempt_run *run, struct attempt_run *substitute,
                                   struct err *err)
{
    return walk_substitute(substitute, err) &&
           (guard_log_take(&run->log, &substitute->log, run->load->substitute_is_same) ||
            err_nomem(err));
}

struct replay_place replay_place_of(const struct replay_end *end, struct env_origin origin)
{
    const struct attempt_run *run = end->run;
    struct replay_place ret = { .ref = TRACE_NONE, .location = LOCATION_NONE };
    if (origin.node == ENV_NODE_NONE || origin.graph >= run->refs.n)
        return ret;
    for (size_t g = 0; g < run->load->n_graphs; g++) {
        uint32_t at = origin.node;
        const struct attempt_graph *graph = &run->load->graphs[g];
        if (graph->ref != run->refs.v[origin.graph] || !graph->graph)
            continue;
        const struct node *node = node_in(graph->graph, &at, &ret.location_graph);
        if (!node)
            continue;
        ret.ref = graph->ref;
        ret.node = node->name;
        ret.location = node->location;
    }
    return ret;
}

static void observe(struct attempt_run *run, struct err *err)
{
    const struct replay_observer *observer = run->options->observer;
    struct replay_end end = { .attempt = run->load->attempt,
                              .env = run->state.env,
                              .log = &run->log,
                              .partial = run->log.ended,
                              .run = run };
    for (size_t i = 0; i < run->result->graphs.n; i++)
        end.partial |= run->result->graphs.v[i].error.n > 0;
    guard_log_parse_all(&run->log);
    run->result->drop = observer->drop;
    run->result->observed = run->log.failed ? NULL : observer->end(observer->user, &end, err);
    if (!run->result->observed && !err_is_set(err))
        err_nomem(err);
}

void attempt_replay(const struct replay_options *options, struct attempt_load *load,
                    struct attempt_result *result)
{
    struct attempt_run run = { .options = options, .load = load, .result = result };
    struct err err = { 0 };
    *result = (struct attempt_result){ .load = load };
    struct attempt_run substitute = run;
    if (open_run(&run, &err) && walk_graphs(&run, &err) &&
        (!load->substitute.graph || take_substitute_guards(&run, &substitute, &err))) {
        if (!guard_log_apply(&run.log, UINT32_MAX, true) || !collect_guards(&run) ||
            !check_contradictions(&run))
            err_nomem(&err);
        if (run.state.ops)
            collect_operators(&run.collecting, run.stack_graph.v, run.stack_location.v,
                              (uint32_t)run.stack_graph.n);
        if (options->observer && !err_is_set(&err))
            observe(&run, &err);
        if (options->trails)
            collect_trails(&run.collecting, run.state.env);
        if (run.collecting.failed)
            err_nomem(&err);
        collect_costs(&run);
        if (!err_is_set(&err))
            walk_warm(&run, &err);
        if (!err_is_set(&err) && options->passes && run.state.ops)
            model_passes(&run, &err);
        if (!err_is_set(&err) && !check_constraints(&run))
            err_nomem(&err);
    }
    if (!err_is_set(&err) && run.state.ops && ops_short_of_memory(run.state.ops))
        err_nomem(&err);
    result->err = err;
    close_run(&substitute);
    close_run(&run);
}

void attempt_result_release(struct attempt_result *result)
{
    if (result->observed)
        result->drop(result->observed);
    vec_release(&result->graphs);
    vec_release(&result->differences);
    vec_release(&result->guards);
    vec_release(&result->unsupported);
    vec_release(&result->operators);
    vec_release(&result->trails);
    vec_release(&result->calls);
    intern_release(&result->call_texts);
    contradictions_release(&result->contradictions);
    vec_release(&result->pass_operators.rows);
    vec_release(&result->digests);
    arena_release(&result->arena);
}

#include "replay/attempt/lift.h"

#include "replay/attempt/aot_inputs.h"
#include "replay/attempt/guard_log.h"
#include "replay/attempt/replay_state.h"
#include "replay/ops/layers.h"
#include "replay/program/traced.h"
#include "trace/base/intern.h"

struct lifter {
    struct trace *trace;
    struct lifted *ret;
    const struct graph_ref *ref;
    const struct graph *graph;
    const struct graph *dynamo; /* the graph from which this one was made, or NULL */
    uint32_t dynamo_record;
    const struct symbol *symbols; /* those of the attempt or program */
    uint32_t n_symbols;
    uint32_t guards_from; /* the first record whose guards may be those of the graph */
    struct aot_inputs aot_inputs;
    struct inputs inputs;
    struct replay_state state;
    struct guard_log log;
    struct walker walker;
    struct program *program;
    vec_of(bool)
    noted; /* by entry of the log */
    vec_of(struct graph_replay_guard)
    guards;
};

/* ---- Inputs ---- */

static bool lift_input(void *user, const struct program *program, const struct step *step,
                       struct value *ret, struct err *err)
{
    struct lifter *l = user;
    struct node node = program->graph->nodes[step->node];
    node_id origin =
        program == program->root ? aot_inputs_find(&l->aot_inputs, step->node) : NODE_NONE;
    if (step->expected->unbacked)
        know_unbacked(&l->walker.unbound, l->state.ops, step->expected);
    if (origin != NODE_NONE && !is_tangent(&node))
        node.name = l->dynamo->nodes[origin].name;
    (void)err;
    *ret = replay_state_placeholder(&l->state, &node, step->expected);
    return true;
}

/* ---- Guards ---- */

/* Notes the guards that were applied since the last call; guards that a node added need no note. */
static bool note_guards(struct lifter *l, uint32_t node)
{
    for (uint32_t i = 0; i < l->log.n_recorded; i++) {
        const struct guard_entry *entry = &l->log.entries.v[i];
        if (entry->status != GUARD_STATUS_APPLIED || l->noted.v[i])
            continue;
        l->noted.v[i] = true;
        struct graph_replay_guard guard = { .expr = entry->guard->expr,
                                            .deferred = entry->guard->kind == GUARD_RUNTIME_ASSERT,
                                            .node = node };
        if (!entry->has_node && !vec_push(&l->guards, guard))
            return false;
    }
    return true;
}

static bool lift_before_call(void *user, const struct program *program, const struct step *step,
                             struct err *err)
{
    struct lifter *l = user;
    uint32_t record = l->ref->record;
    uint64_t head = l->log.head;
    if (program != program->root)
        return true;
    return (guard_log_apply(&l->log, record, false) &&
            (l->log.head == head || note_guards(l, step->node))) ||
           err_nomem(err);
}

static bool lift_after_call(void *user, const struct program *program, const struct step *step,
                            struct value result, struct err *err)
{
    struct lifter *l = user;
    uint32_t head = l->log.head;
    (void)program;
    (void)result;
    return (guard_log_gather(&l->log) && (l->log.head == head || note_guards(l, step->node))) ||
           err_nomem(err);
}

/* Applies the guards that Dynamo added while tracing, which later graphs start with. */
static bool apply_dynamo_guards(struct lifter *l)
{
    for (uint32_t i = 0; i < l->log.n_recorded; i++)
        if (!vec_push(&l->noted, false))
            return false;
    return !l->dynamo || l->ref->kind == GRAPH_DYNAMO ||
           (guard_log_apply(&l->log, l->dynamo_record, true) && note_guards(l, 0));
}

/* ---- Symbols ---- */

static bool bound(struct sym_pool *pool, sym_id bound, int64_t *ret)
{
    return bound != SYM_NONE && sym_to_i64(pool, bound, ret);
}

static struct graph_replay_symbol lifted_symbol(struct sym_pool *pool, const struct symbol *symbol)
{
    struct graph_replay_symbol ret = { .name = symbol->name,
                                       .source = symbol->source,
                                       .backed = !symbol->unbacked,
                                       .is_float = str_starts(symbol->name, STR("z")),
                                       .min = INT64_MIN,
                                       .max = INT64_MAX };
    struct sym_range range = replay_state_range(pool, symbol->name, symbol->range);
    sym_id hint = replay_state_number(pool, symbol->value);
    bound(pool, range.lower, &ret.min);
    bound(pool, range.upper, &ret.max);
    ret.has_hint = hint != SYM_NONE;
    if (ret.has_hint && ret.is_float)
        ret.float_hint = sym_to_double(pool, hint);
    else if (ret.has_hint)
        ret.has_hint = sym_to_i64(pool, hint, &ret.hint);
    return ret;
}

static bool is_marked(const struct lifter *l, struct str name)
{
    for (size_t i = 0; i < l->inputs.list.n; i++) {
        const struct input *input = &l->inputs.list.v[i];
        if (input->kind != INPUT_TENSOR)
            continue;
        for (uint32_t d = 0; d < input->tensor.ndim; d++)
            if (str_eq(input->tensor.size_symbol[d].name, name))
                return input->tensor.marked[d];
    }
    return false;
}

static bool is_own_symbol(const struct lifter *l, const struct symbol *symbol)
{
    return symbol->attempt == l->ref->attempt &&
           (symbol->attempt != TRACE_NONE || symbol->record == l->ref->record);
}

static bool find_own_symbols(struct lifter *l, const struct symbol_table *table)
{
    struct symbol *own = arena_array(&l->ret->arena, struct symbol, (size_t)table->n_symbols + 1);
    for (uint32_t i = 0; own && i < table->n_symbols; i++)
        if (is_own_symbol(l, &table->symbols[i]))
            own[l->n_symbols++] = table->symbols[i];
    l->symbols = own;
    return own != NULL;
}

static bool find_symbols(struct lifter *l, const struct graph_list *list, struct err *err)
{
    const struct symbol_table *table = trace_symbols(l->trace, err);
    if (!table)
        return false;
    if (l->ref->attempt != TRACE_NONE || !l->ref->is_event)
        return find_own_symbols(l, table) || err_nomem(err);
    l->guards_from = guard_log_first_outside(l->trace, list, (uint32_t)(l->ref - list->refs));
    l->symbols = inputs_earlier_symbols(l->trace, table, l->graph, l->ref->record, &l->ret->arena,
                                        &l->n_symbols);
    return l->symbols || err_nomem(err);
}

static bool lift_symbols(struct lifter *l, struct err *err)
{
    struct lifted *ret = l->ret;
    ret->symbols = arena_array(&ret->arena, struct graph_replay_symbol, (size_t)l->n_symbols + 1);
    ret->marked = arena_array(&ret->arena, bool, (size_t)l->n_symbols + 1);
    if (!ret->symbols || !ret->marked)
        return err_nomem(err);
    for (; ret->n_symbols < l->n_symbols; ret->n_symbols++) {
        const struct symbol *symbol = &l->symbols[ret->n_symbols];
        ret->symbols[ret->n_symbols] = lifted_symbol(env_pool(l->state.env), symbol);
        ret->marked[ret->n_symbols] = is_marked(l, symbol->name);
    }
    return true;
}

/* ---- Results of nodes ---- */

static bool print_lifted_value(struct lifter *l, struct value value, struct str *ret)
{
    struct buf text = BUF_INIT;
    if (value.kind == VALUE_TENSOR || value_is_number(value))
        print_value_then(l->state.ops, value, &text);
    *ret = arena_copy(&l->ret->arena, buf_str(&text));
    bool ok = !text.failed && ret->p;
    buf_release(&text);
    return ok;
}

/* Keeps a node's first value, printed as it was created, unless it differs from the recorded one.
 */
static bool keep_node(struct lifter *l, const struct program *p, node_id id)
{
    struct lifted *ret = l->ret;
    uint32_t at = p->first_node + id;
    const struct outcome_note *note = &p->notes[id];
    struct value value = p->first[id];
    ret->metas[at] = STR("");
    ret->storages[at] = STORAGE_FRESH;
    if (p->steps[id].kind == STEP_INPUT)
        value = program_got(p, id);
    if (value.kind == VALUE_TENSOR)
        ret->storages[at] = value.u.tensor.storage;
    bool right = note->outcome == OUTCOME_MATCH || p->steps[id].kind == STEP_INPUT;
    if (!right || note->outcome == OUTCOME_MISMATCH || p->steps[id].kind == STEP_OUTPUT)
        return true;
    if (value.kind != VALUE_TENSOR &&
        !(value_is_number(value) && !sym_is_number(ops_pool(l->state.ops), value.u.sym)))
        return true;
    if (!print_lifted_value(l, value, &ret->metas[at]))
        return false;
    /* An item that became a number by its tensor's symbol is printed as that symbol. */
    if (value.kind != VALUE_TENSOR && !str_starts(ret->metas[at], STR("Sym(")))
        ret->metas[at] = STR("");
    return true;
}

static bool keep_nodes(struct lifter *l, const struct program *p)
{
    for (node_id id = 0; id < p->n_steps; id++)
        if (!keep_node(l, p, id))
            return false;
    for (uint32_t i = 0; i < p->n_children; i++)
        if (!keep_nodes(l, p->children[i]))
            return false;
    return true;
}

/* The nodes of a graph's inputs by their names. */
struct placeholders {
    struct intern names;
    vec_of(node_id)
    nodes; /* by name; of inputs with one name the first */
};

/* False: out of memory. */
static bool read_placeholders(const struct graph *graph, struct placeholders *ret)
{
    for (node_id id = 0; id < graph->n_nodes; id++) {
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        uint32_t name = intern(&ret->names, graph->nodes[id].name);
        if (name == INTERN_NONE || (name == ret->nodes.n && !vec_push(&ret->nodes, id)))
            return false;
    }
    return true;
}

/* Notes the listed inputs; what is no input's name is ignored. False: out of memory. */
static bool note_listed(struct lifter *l, const struct json *doc, json_id list)
{
    struct placeholders inputs = { .nodes = { 0 } };
    struct buf name = BUF_INIT;
    bool ok = read_placeholders(l->graph, &inputs);
    for (json_id a = json_first(doc, list); ok && a != JSON_NONE; a = json_next(doc, a)) {
        if (json_kind_of(doc, a) != JSON_STRING)
            continue;
        buf_clear(&name);
        json_decode(doc, a, &name);
        uint32_t id = intern_find(&inputs.names, buf_str(&name));
        if (id != INTERN_NONE)
            l->ret->gradients[inputs.nodes.v[id]] = true;
        ok = !name.failed;
    }
    buf_release(&name);
    intern_release(&inputs.names);
    vec_release(&inputs.nodes);
    return ok;
}

/* Notes the inputs that a graph lists itself: one that minify wrote, which describes no inputs. */
static bool add_listed_gradients(struct lifter *l, struct err *err)
{
    struct json doc = { 0 };
    bool ok = record_json(l->trace, l->ref->record, &doc, err);
    json_id list = ok ? json_get(&doc, JSON_ROOT, STR("requires_grad")) : JSON_NONE;
    if (json_kind_of(&doc, list) == JSON_ARRAY && !note_listed(l, &doc, list))
        ok = err_nomem(err);
    json_release(&doc);
    return ok;
}

/* Notes which inputs of Dynamo's graph were described as requiring a gradient. */
static bool keep_gradients(struct lifter *l, struct err *err)
{
    bool described = l->ref->kind == GRAPH_DYNAMO || l->ref->kind == GRAPH_PARTIAL_DYNAMO;
    l->ret->gradients = arena_array(&l->ret->arena, bool, (size_t)l->graph->n_nodes + 1);
    for (node_id id = 0; l->ret->gradients && described && id < l->graph->n_nodes; id++)
        l->ret->gradients[id] = l->graph->nodes[id].op == NODE_PLACEHOLDER &&
                                replay_state_requires_grad(&l->state, l->graph->nodes[id].name);
    return l->ret->gradients ? add_listed_gradients(l, err) : err_nomem(err);
}

/* ---- Lifting ---- */

static bool find_dynamo(struct lifter *l, const struct graph_list *list, struct err *err)
{
    for (uint32_t i = 0; i < list->n && l->ref->attempt != TRACE_NONE; i++)
        if (list->refs[i].attempt == l->ref->attempt && list->refs[i].kind == GRAPH_DYNAMO) {
            l->dynamo = trace_graph(l->trace, i, err);
            l->dynamo_record = list->refs[i].record;
            return l->dynamo != NULL;
        }
    return true;
}

static bool find_inputs(struct lifter *l, struct err *err)
{
    bool starts = traces_results(l->ref->kind) || l->ref->kind == GRAPH_FORWARD;
    return aot_inputs_set(&l->aot_inputs, starts ? l->dynamo : NULL, l->graph) || err_nomem(err);
}

static bool open_state(struct lifter *l, struct err *err)
{
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    if (l->ref->attempt != TRACE_NONE && !inputs_read(l->trace, l->ref->attempt, &l->inputs, err))
        return false;
    settings.assume_static_by_default = l->inputs.static_by_default;
    settings.torch = recorded_torch(l->trace, l->trace->records[l->ref->record].recording);
    if (!replay_state_open(&l->state, &l->inputs, &settings, err) ||
        !replay_state_make_ops(&l->state, NULL, err))
        return false;
    return l->ref->attempt != TRACE_NONE ||
           replay_state_symbols(&l->state, l->symbols, l->n_symbols, err);
}

static bool open_walk(struct lifter *l, struct err *err)
{
    const struct guard_list *guards = trace_guards(l->trace, err);
    l->walker = (struct walker){ .ops = l->state.ops,
                                 .env = l->state.env,
                                 .input = lift_input,
                                 .before = lift_before_call,
                                 .after = lift_after_call,
                                 .user = l,
                                 .by_hint = true };
    l->walker.unbound.seen = env_n_symbols(l->state.env);
    ops_set_export(l->state.ops, l->ref->attempt == TRACE_NONE);
    if (!guards)
        return false;
    if (!guard_log_init(&l->log, guards, l->ref->attempt, l->guards_from, TRACE_NONE, l->state.env,
                        replay_state_resolve, &l->state) ||
        !apply_dynamo_guards(l))
        return err_nomem(err);
    l->program = program_new(l->state.ops, l->graph, 0, replay_state_resolve, &l->state, err);
    return l->program != NULL;
}

/* A failed compile may end in a condition that its code evaluated after the traced calls. No log
 * has this condition, because it could not be evaluated. */
static bool note_last_branch(struct lifter *l)
{
    const struct graph *graph = l->graph;
    node_id at = graph->n_nodes;
    while (at > 0 && graph->nodes[at - 1].op == NODE_OUTPUT && graph->nodes[at - 1].n_args == 0)
        at--;
    const struct node *last = at > 0 ? &graph->nodes[at - 1] : NULL;
    if (l->ref->kind != GRAPH_PARTIAL_DYNAMO || !last || !node_is_call(last) ||
        last->meta == META_NONE)
        return true;
    const struct meta *meta = &graph->pool->metas[last->meta];
    const struct expected *e = l->program->steps[at - 1].expected;
    if (meta->kind != META_SYM || !e->unbacked ||
        !sym_is_relational(env_pool(l->state.env), e->number) ||
        !str_starts(meta->text, STR("Sym(")))
        return true;
    return vec_push(&l->guards, (struct graph_replay_guard){
                                    .expr = str_first(str_from(meta->text, 4), meta->text.n - 5),
                                    .node = graph->n_nodes });
}

static bool walk(struct lifter *l, struct err *err)
{
    struct lifted *ret = l->ret;
    if (!walk_program(&l->walker, l->program))
        return *err = l->walker.err, false;
    if (!guard_log_gather(&l->log) || !guard_log_apply(&l->log, l->ref->record, true) ||
        !note_guards(l, l->graph->n_nodes) || !note_last_branch(l))
        return err_nomem(err);
    walk_finish(&l->walker, l->program);
    ret->n_tree_nodes = l->program->n_tree_nodes;
    ret->metas = arena_array(&ret->arena, struct str, (size_t)ret->n_tree_nodes + 1);
    ret->storages = arena_array(&ret->arena, uint32_t, (size_t)ret->n_tree_nodes + 1);
    ret->guards = arena_array(&ret->arena, struct graph_replay_guard, l->guards.n + 1);
    if (!ret->metas || !ret->storages || !ret->guards || !keep_nodes(l, l->program))
        return err_nomem(err);
    if (!keep_gradients(l, err))
        return false;
    if (l->guards.n)
        memcpy(ret->guards, l->guards.v, l->guards.n * sizeof *ret->guards);
    ret->n_guards = (uint32_t)l->guards.n;
    return true;
}

bool lift_graph(struct trace *trace, uint32_t ref, struct lifted *ret, struct err *err)
{
    const struct graph_list *list = trace_graphs(trace, err);
    struct lifter l = { .trace = trace, .ret = ret };
    *ret = (struct lifted){ .arena = ARENA_INIT };
    if (!list)
        return false;
    l.ref = &list->refs[ref];
    l.graph = ret->graph = trace_graph(trace, ref, err);
    ret->kind = l.ref->kind;
    bool ok = l.graph && find_dynamo(&l, list, err) && find_inputs(&l, err) &&
              find_symbols(&l, list, err) && open_state(&l, err) && lift_symbols(&l, err) &&
              open_walk(&l, err) && walk(&l, err);
    program_free(l.program);
    walker_release(&l.walker);
    guard_log_release(&l.log);
    replay_state_close(&l.state);
    aot_inputs_release(&l.aot_inputs);
    inputs_release(&l.inputs);
    vec_release(&l.noted);
    vec_release(&l.guards);
    if (!ok)
        lifted_release(ret);
    return ok;
}

void lifted_release(struct lifted *lifted)
{
    arena_release(&lifted->arena);
    *lifted = (struct lifted){ .n_guards = 0 };
}

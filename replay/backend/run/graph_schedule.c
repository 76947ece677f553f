#include "replay/backend/run/graph_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "replay/backend/values/elements.h"

/* ---- What a graph's inputs and outputs are ---- */

/* Returns which argument of the compiled function an input is; UINT32_MAX: none. `position` is its
 * place among the inputs. */
static uint32_t argument_of(const struct node *input, uint32_t position)
{
    uint32_t ret = UINT32_MAX;
    if (!input->descriptor.n)
        return position;
    descriptor_number(input->descriptor, STR("PlainAOTInput(idx="), &ret);
    return ret;
}

/* Returns the argument that an input is a part of, as the local tensor of a DTensor is. */
static uint32_t base_argument_of(const struct node *input, uint32_t position)
{
    uint32_t ret = UINT32_MAX;
    struct str plain = STR("PlainAOTInput(idx=");
    if (!input->descriptor.n)
        return position;
    descriptor_number(str_from(input->descriptor, str_find(input->descriptor, plain)), plain, &ret);
    return ret;
}

uint32_t graph_schedule_count_parts(const struct graph *graph)
{
    uint32_t n = 0;
    for (node_id id = 0; id < graph->n_nodes; id++)
        n += graph->nodes[id].op == NODE_CALL_MODULE;
    return n;
}

/* ---- Wires ---- */

static uint32_t backward_stage(const struct graph_schedule *s, uint32_t part)
{
    return 2 * s->n_parts - 1 - part;
}

/* The wires of a stage are added one after the other, in the order of its inputs. */
static bool add_wire(struct graph_schedule *s, struct graph_schedule_wire wire, struct err *err)
{
    struct graph_schedule_stage *to = &s->stages[wire.to];
    if (!to->n_wires)
        to->first_wire = s->wires.n;
    to->n_wires++;
    return vec_push(&s->wires, wire) || err_nomem(err);
}

static bool is_tensor(const struct graph *graph, const struct node *node)
{
    return node->meta != META_NONE && graph->pool->metas[node->meta].kind == META_TENSOR;
}

/* The first part that takes an input of the split graph, and its input. */
struct owner {
    uint32_t part;
    node_id input;
};

/* Marks an input that later parts take as well. */
static bool keep_input(struct graph_schedule *s, const struct owner *owner, struct err *err)
{
    struct graph_schedule_stage *stage = &s->stages[owner->part];
    if (!stage->kept)
        stage->kept = arena_array(&s->arena, bool, (size_t)stage->graph->n_nodes + 1);
    if (!stage->kept)
        return err_nomem(err);
    stage->kept[owner->input] = true;
    return true;
}

static bool wire_forward_input(struct graph_schedule *s, struct owner *owners, uint32_t part,
                               node_id id, uint32_t position, struct err *err)
{
    const struct graph *graph = s->stages[part].graph;
    const struct schedule_source from =
        schedule_calls_source(&s->calls, part, argument_of(&graph->nodes[id], position));
    if (from.part < part) {
        const struct graph *source = s->stages[from.part].graph;
        node_id made = schedule_outputs_find(&s->stages[from.part].outputs, from.output);
        return made == NODE_NONE ||
               add_wire(s,
                        (struct graph_schedule_wire){ .from = from.part,
                                                      .to = part,
                                                      .name = source->nodes[made].name,
                                                      .input = id },
                        err);
    }
    if (from.input == NODE_NONE || !is_tensor(graph, &graph->nodes[id]))
        return true;
    struct owner *owner = &owners[from.input];
    if (owner->input == NODE_NONE || owner->part == part) {
        *owner = owner->input == NODE_NONE ? (struct owner){ part, id } : *owner;
        return true;
    }
    struct str name = s->stages[owner->part].graph->nodes[owner->input].name;
    return keep_input(s, owner, err) &&
           add_wire(s,
                    (struct graph_schedule_wire){
                        .from = owner->part, .to = part, .name = name, .input = id },
                    err);
}

static bool wire_forward(struct graph_schedule *s, struct owner *owners, uint32_t part,
                         struct err *err)
{
    const struct graph *graph = s->stages[part].graph;
    uint32_t position = 0;
    for (node_id id = 0; graph && id < graph->n_nodes; id++)
        if (graph->nodes[id].op == NODE_PLACEHOLDER &&
            !wire_forward_input(s, owners, part, id, position++, err))
            return false;
    return true;
}

/* Adds the gradient that a later part computes for an output of this one. */
static bool wire_gradient(struct graph_schedule *s, const struct schedule_use *use, node_id tangent,
                          struct err *err)
{
    uint32_t stage = backward_stage(s, use->user);
    node_id made = schedule_outputs_find(&s->stages[stage].outputs, use->argument);
    return made == NODE_NONE ||
           add_wire(s,
                    (struct graph_schedule_wire){ .from = stage,
                                                  .to = backward_stage(s, use->part),
                                                  .name = s->stages[stage].graph->nodes[made].name,
                                                  .input = tangent },
                    err);
}

/* Gradients are added in the order in which autograd computes them. */
static bool wire_tangent(struct graph_schedule *s, uint32_t part, node_id tangent,
                         uint32_t position, struct err *err)
{
    const struct node *node = &s->stages[backward_stage(s, part)].graph->nodes[tangent];
    uint32_t output = position;
    if (node->descriptor.n &&
        !descriptor_number(node->descriptor, STR("TangentAOTInput(output=PlainAOTOutput(idx="),
                           &output))
        return true;
    size_t n;
    const struct schedule_use *uses = schedule_calls_uses(&s->calls, part, output, &n);
    for (size_t i = 0; i < n; i++)
        if (uses[i].user > part && !wire_gradient(s, &uses[i], tangent, err))
            return false;
    return true;
}

static bool wire_backward(struct graph_schedule *s, uint32_t part, struct err *err)
{
    uint32_t stage = backward_stage(s, part), position = 0;
    const struct graph *graph = s->stages[stage].graph;
    for (node_id id = 0; graph && id < graph->n_nodes; id++) {
        if (graph->nodes[id].op != NODE_PLACEHOLDER)
            continue;
        struct graph_schedule_wire saved = {
            .from = part, .to = stage, .name = graph->nodes[id].name, .input = id
        };
        if (schedule_outputs_have(&s->stages[part].outputs, saved.name)) {
            if (!add_wire(s, saved, err))
                return false;
        } else if (s->cut && !wire_tangent(s, part, id, position++, err))
            return false;
    }
    return true;
}

static bool wire_all(struct graph_schedule *s, struct err *err)
{
    struct owner *owners =
        s->cut ? arena_array(&s->arena, struct owner, (size_t)s->outer->n_nodes + 1) : NULL;
    if (s->cut && !owners)
        return err_nomem(err);
    for (node_id id = 0; s->cut && id < s->outer->n_nodes; id++)
        owners[id].input = NODE_NONE;
    for (uint32_t i = 0; i < s->n_parts; i++)
        if ((s->cut && !wire_forward(s, owners, i, err)) || !wire_backward(s, i, err))
            return false;
    return true;
}

/* Numbers the inputs of the forward graphs. */
static bool find_positions(struct graph_schedule *s)
{
    for (uint32_t i = 0; s->outer && i < s->n_parts; i++) {
        struct graph_schedule_stage *stage = &s->stages[i];
        uint32_t n = stage->graph ? stage->graph->n_nodes : 0, position = 0;
        stage->positions = arena_array(&s->arena, uint32_t, (size_t)n + 1);
        if (!stage->positions)
            return false;
        for (node_id id = 0; id < n; id++) {
            stage->positions[id] = position;
            position += stage->graph->nodes[id].op == NODE_PLACEHOLDER;
        }
    }
    return true;
}

static bool index_graphs(struct graph_schedule *s, struct err *err)
{
    bool ok = find_positions(s) && schedule_calls_init(&s->calls, s->outer, &s->arena);
    for (uint32_t i = 0; ok && i < 2 * s->n_parts; i++)
        ok = schedule_outputs_init(&s->stages[i].outputs, s->stages[i].graph,
                                   i < s->n_parts ? STR("PlainAOTOutput(idx=")
                                                  : STR("GradAOTOutput(grad_of=PlainAOTInput(idx="),
                                   &s->arena);
    return ok || err_nomem(err);
}

bool graph_schedule_init(struct graph_schedule *s, const struct graph *outer,
                         const struct graph_schedule_part *parts, uint32_t n_parts, struct err *err)
{
    *s = (struct graph_schedule){ .n_parts = n_parts, .outer = outer };
    s->cut = outer && graph_schedule_count_parts(outer) == n_parts;
    s->stages = arena_array(&s->arena, struct graph_schedule_stage, 2 * (size_t)n_parts + 1);
    if (!s->stages)
        return err_nomem(err);
    for (uint32_t i = 0; i < n_parts; i++) {
        s->stages[i].graph = parts[i].forward;
        s->stages[backward_stage(s, i)].graph = parts[i].backward;
    }
    return index_graphs(s, err) && wire_all(s, err);
}

void graph_schedule_forget(struct graph_schedule *s)
{
    for (uint32_t i = 0; s->stages && i < 2 * s->n_parts; i++) {
        value_file_free(s->stages[i].made);
        s->stages[i].made = NULL;
    }
    for (size_t i = 0; i < s->wires.n; i++) {
        free(s->wires.v[i].sum);
        s->wires.v[i].sum = NULL;
    }
}

void graph_schedule_release(struct graph_schedule *s)
{
    graph_schedule_forget(s);
    vec_release(&s->wires);
    arena_release(&s->arena);
    *s = (struct graph_schedule){ 0 };
}

uint32_t graph_schedule_stage_of(const struct graph_schedule *s, const struct graph *graph)
{
    for (uint32_t i = 0; i < 2 * s->n_parts; i++)
        if (s->stages[i].graph == graph)
            return i;
    return UINT32_MAX;
}

/* ---- Values ---- */

/* Adds a number as an array of one int64 without dimensions. */
static bool add_number(struct run *run, struct str name, struct value value, struct value_file *to,
                       struct err *err)
{
    int64_t number;
    if (!sym_to_i64(ops_pool(run->ops), value.u.sym, &number))
        return true;
    return value_file_add(
        to, name, &(struct array){ .dtype = DTYPE_I64, .p = &number, .bytes = sizeof number }, err);
}

/* Adds a value by a name, unless it is neither a tensor nor a number. */
static bool add_value(struct run *run, struct str name, struct value value, struct value_file *to,
                      struct err *err)
{
    struct arena arena = ARENA_INIT;
    struct array array;
    if (value.kind == VALUE_INT)
        return add_number(run, name, value, to, err);
    if (value.kind != VALUE_TENSOR)
        return true;
    bool ok = run_array(run, value.u.tensor, &arena, &array, err) &&
              value_file_add(to, name, &array, err);
    arena_release(&arena);
    return ok;
}

/* Adds the outputs of a run by the names of their nodes. */
static bool add_outputs(struct run *run, struct value_file *to, struct err *err)
{
    const struct graph *graph = run->graph;
    for (node_id id = 0; id < graph->n_nodes; id++) {
        const struct node *node = &graph->nodes[id];
        if (node->op != NODE_OUTPUT)
            continue;
        const struct arg *args = node_args(graph, node);
        for (uint32_t i = 0; i < node->n_args && i < run->n_outputs; i++)
            if (args[i].kind == ARG_NODE &&
                !add_value(run, graph->nodes[args[i].u.node].name, run->outputs[i], to, err))
                return false;
    }
    return true;
}

/* Sets *ret to the value of that name, for an input of a graph; its `p` is NULL if there is none,
 * or if it has another dtype or rank than the input. */
static void find_value(const struct value_file *saved, struct str name, const struct graph *graph,
                       const struct node *node, struct array *ret)
{
    struct array found;
    if (node->meta == META_NONE || !value_file_find(saved, name, &found))
        return;
    const struct meta *meta = &graph->pool->metas[node->meta];
    bool number = meta->kind == META_SYM && found.ndim == 0 && found.dtype == DTYPE_I64;
    bool tensor =
        meta->kind == META_TENSOR && found.dtype == meta->dtype && found.ndim == meta->n_sizes;
    if (number || tensor)
        *ret = found;
}

/* Returns the first wire of an input, or NULL. */
static struct graph_schedule_wire *find_wire(const struct graph_schedule *s, uint32_t stage,
                                             node_id input)
{
    const struct graph_schedule_stage *to = &s->stages[stage];
    struct graph_schedule_wire *wires = to->n_wires ? &s->wires.v[to->first_wire] : NULL;
    size_t low = 0, high = to->n_wires;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (wires[middle].input < input)
            low = middle + 1;
        else
            high = middle;
    }
    return low < to->n_wires && wires[low].input == input ? &wires[low] : NULL;
}

/* Returns the next wire of the same input, or NULL. */
static const struct graph_schedule_wire *next_wire(const struct graph_schedule *s,
                                                   const struct graph_schedule_wire *wire)
{
    const struct graph_schedule_stage *to = &s->stages[wire->to];
    const struct graph_schedule_wire *next = wire + 1;
    bool more = next < &s->wires.v[to->first_wire] + to->n_wires && next->input == wire->input;
    return more ? next : NULL;
}

/* Sets *ret to the value of a wire, whose `p` is NULL if there is none. */
static void wire_value(const struct graph_schedule *s, const struct graph_schedule_wire *wire,
                       struct array *ret)
{
    const struct graph *graph = s->stages[wire->to].graph;
    *ret = (struct array){ 0 };
    if (s->stages[wire->from].made)
        find_value(s->stages[wire->from].made, wire->name, graph, &graph->nodes[wire->input], ret);
}

static void add_elements(enum dtype dtype, void *to, const void *from, size_t n)
{
    enum dense_kind kind = dense_kind_of(dtype);
    for (int64_t i = 0; i < (int64_t)n; i++)
        if (kind == DENSE_REAL)
            store_real(dtype, to, i, load_real(dtype, to, i) + load_real(dtype, from, i));
        else if (kind == DENSE_COMPLEX)
            store_complex(dtype, to, i, load_complex(dtype, to, i) + load_complex(dtype, from, i));
}

/* Adds the values of the other wires of an input to *ret, that of the first one. */
static bool add_terms(const struct graph_schedule *s, struct graph_schedule_wire *first,
                      struct array *ret, struct err *err)
{
    const struct graph_schedule_wire *next = next_wire(s, first);
    struct array term;
    if (next && !first->sum) {
        void *sum = malloc(ret->bytes + 1);
        if (!sum)
            return err_nomem(err);
        memcpy(sum, ret->p, ret->bytes);
        for (; next; next = next_wire(s, next)) {
            wire_value(s, next, &term);
            if (!term.p || term.bytes != ret->bytes) {
                free(sum);
                ret->p = NULL;
                return true;
            }
            add_elements(ret->dtype, sum, term.p, ret->bytes / dtype_size(ret->dtype));
        }
        first->sum = sum;
    }
    if (first->sum)
        ret->p = first->sum;
    return true;
}

bool graph_schedule_input(struct graph_schedule *s, uint32_t stage, const struct node *node,
                          struct array *ret, struct err *err)
{
    node_id input = (node_id)(node - s->stages[stage].graph->nodes);
    struct graph_schedule_wire *first = find_wire(s, stage, input);
    if (!first)
        return true;
    struct array value;
    wire_value(s, first, &value);
    if (!value.p)
        return true;
    if (!add_terms(s, first, &value, err))
        return false;
    if (value.p)
        *ret = value;
    return true;
}

bool graph_schedule_inputs(struct graph_schedule *s, uint32_t stage, bool *from, uint32_t *n,
                           struct err *err)
{
    const struct graph_schedule_stage *to = &s->stages[stage];
    const struct graph_schedule_wire *wire = to->n_wires ? &s->wires.v[to->first_wire] : NULL;
    const struct graph_schedule_wire *end = wire ? wire + to->n_wires : NULL;
    memset(from, 0, 2 * s->n_parts * sizeof *from);
    for (*n = 0; wire < end;) {
        node_id input = wire->input;
        struct array value = { 0 };
        if (!graph_schedule_input(s, stage, &to->graph->nodes[input], &value, err))
            return false;
        *n += value.p != NULL;
        for (; wire < end && wire->input == input; wire++)
            from[wire->from] |= value.p != NULL;
    }
    return true;
}

/* ---- Runs ---- */

void graph_schedule_needs(const struct graph_schedule *s, uint32_t stage, bool *needed)
{
    memset(needed, 0, 2 * s->n_parts * sizeof *needed);
    needed[stage] = true;
    for (uint32_t to = stage + 1; to-- > 0;)
        for (size_t i = 0; needed[to] && i < s->stages[to].n_wires; i++)
            needed[s->wires.v[s->stages[to].first_wire + i].from] = true;
    needed[stage] = false;
}

struct stage_run {
    struct graph_schedule *schedule;
    uint32_t stage;
};

static bool is_shared_input(void *user, const struct node *node)
{
    const struct stage_run *r = user;
    return graph_schedule_replicates(r->schedule, r->stage, node);
}

static bool give_input(void *user, uint32_t i, const struct node *node, struct array *ret,
                       struct err *err)
{
    const struct stage_run *r = user;
    (void)i;
    return graph_schedule_input(r->schedule, r->stage, node, ret, err);
}

/* Stores the values of inputs that later stages take as well. */
static bool store_input(void *user, struct run *run, const struct step *step,
                        const struct value *value, struct err *err)
{
    const struct stage_run *r = user;
    const struct graph_schedule_stage *stage = &r->schedule->stages[r->stage];
    return !stage->kept[step->node] ||
           add_value(run, run->graph->nodes[step->node].name, *value, stage->made, err);
}

/* Returns whether the run had the sizes that were asked for: unbacked ones depend on its data. */
static bool has_sizes(const struct run *run, const struct run_options *options, struct err *err)
{
    for (size_t i = 0; i < options->n_sizes; i++)
        for (size_t k = 0; k < run->n_symbols; k++) {
            const struct run_size *asked = &options->sizes[i], *has = &run->symbols[k];
            if (str_eq(asked->symbol, has->symbol) && asked->value != has->value)
                return err_set(err, ERR_USAGE, "its data make %.*s %lld, and %lld was asked for",
                               STR_ARG(has->symbol), (long long)has->value,
                               (long long)asked->value);
        }
    return true;
}

bool graph_schedule_run(struct graph_schedule *s, uint32_t stage, const struct run_options *asked,
                        struct err *err)
{
    struct graph_schedule_stage *to = &s->stages[stage];
    struct stage_run r = { s, stage };
    struct run_options options = *asked;
    options.input = give_input;
    options.user = &r;
    options.replicated = asked->replicated ? is_shared_input : NULL;
    options.node = to->kept ? store_input : NULL;
    options.node_user = &r;
    to->made = value_file_new(NULL, err);
    struct run *run = to->made ? run_new(to->graph, &options, err) : NULL;
    bool ok = run && run_execute(run, err) && has_sizes(run, &options, err) &&
              add_outputs(run, to->made, err) && value_file_seal(to->made, err);
    run_free(run);
    if (!ok) {
        value_file_free(to->made);
        to->made = NULL;
    }
    return ok;
}

/* ---- What ranks have in common ---- */

/* Returns the input of the outer graph that an input of a forward graph is, or is a part of. */
static const struct node *outer_input(const struct graph_schedule *s, uint32_t part,
                                      const struct node *node)
{
    struct graph_schedule_stage *stage = &s->stages[part];
    uint32_t number = base_argument_of(node, stage->positions[node - stage->graph->nodes]);
    node_id input = NODE_NONE;
    if (s->cut)
        input = schedule_calls_source(&s->calls, part, number).input;
    else if (number < s->calls.n_inputs)
        input = s->calls.inputs[number];
    return input == NODE_NONE ? NULL : &s->outer->nodes[input];
}

/* Returns whether every placement is Replicate(): "R", "R, R". */
static bool is_replicated(const struct graph *graph, const struct node *node)
{
    struct str text = node->meta == META_NONE ? STR("") : graph->pool->metas[node->meta].placement;
    bool ret = text.n > 0;
    for (size_t i = 0; i < text.n; i++)
        ret &= text.p[i] == 'R' || text.p[i] == ',' || text.p[i] == ' ';
    return ret;
}

/* Dynamo's names of inputs are made from their sources (torch/_dynamo/output_graph.py,
 * create_graph_input): L['self']._modules['a']._parameters['weight']. */
static bool is_of_module(struct str name)
{
    return str_contains(name, STR("_parameters_")) || str_contains(name, STR("_buffers_"));
}

bool graph_schedule_replicates(const struct graph_schedule *s, uint32_t stage,
                               const struct node *node)
{
    if (!s->outer || stage >= s->n_parts || node->op != NODE_PLACEHOLDER)
        return false;
    const struct node *input = outer_input(s, stage, node);
    return input && (is_replicated(s->outer, input) || (s->cut && is_of_module(input->name)));
}

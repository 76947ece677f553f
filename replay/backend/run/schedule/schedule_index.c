#include "replay/backend/run/schedule/schedule_index.h"

#include <stdlib.h>

bool descriptor_number(struct str descriptor, struct str prefix, uint32_t *ret)
{
    uint64_t number;
    struct str rest = str_from(descriptor, prefix.n);
    if (!str_starts(descriptor, prefix) || !str_to_u64(str_first(rest, str_digits(rest)), &number))
        return false;
    *ret = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
    return true;
}

/* ---- The calls of the split graph ---- */

static const struct schedule_source no_source = { UINT32_MAX, 0, NODE_NONE, false };

static bool is_item_of(const struct graph *outer, const struct node *node)
{
    const struct arg *args = node_args(outer, node);
    return node->op == NODE_CALL_FUNCTION && str_is(node->target, "operator.getitem") &&
           node->n_args == 2 && args[0].kind == ARG_NODE && args[1].kind == ARG_INT;
}

/* Returns the source of a node, from those of the nodes before it. The item that is nearest to the
 * call tells which output it is. */
static struct schedule_source source_of(const struct schedule_calls *c, node_id id)
{
    const struct node *node = &c->outer->nodes[id];
    const struct arg *args = node_args(c->outer, node);
    if (node->op == NODE_PLACEHOLDER)
        return (struct schedule_source){ UINT32_MAX, 0, id, false };
    if (node->op == NODE_CALL_MODULE)
        return (struct schedule_source){ c->n_calls, 0, NODE_NONE, false };
    bool item = is_item_of(c->outer, node);
    bool alias = node->op == NODE_ALIAS && node->n_args && args[0].kind == ARG_NODE;
    if ((!item && !alias) || args[0].u.node >= id)
        return no_source;
    struct schedule_source ret = c->sources[args[0].u.node];
    if (item && !ret.item && ret.part != UINT32_MAX) {
        ret.output = (uint32_t)args[1].u.integer;
        ret.item = true;
    }
    return ret;
}

static void read_nodes(struct schedule_calls *c)
{
    for (node_id id = 0; id < c->outer->n_nodes; id++) {
        c->sources[id] = source_of(c, id);
        if (c->outer->nodes[id].op == NODE_PLACEHOLDER)
            c->inputs[c->n_inputs++] = id;
        if (c->outer->nodes[id].op == NODE_CALL_MODULE)
            c->calls[c->n_calls++] = id;
    }
}

struct schedule_source schedule_calls_source(const struct schedule_calls *c, uint32_t part,
                                             uint32_t argument)
{
    const struct node *call = part < c->n_calls ? &c->outer->nodes[c->calls[part]] : NULL;
    if (!call || argument >= call->n_args)
        return no_source;
    const struct arg *arg = &node_args(c->outer, call)[argument];
    bool known = arg->kind == ARG_NODE && arg->u.node < c->outer->n_nodes;
    return known ? c->sources[arg->u.node] : no_source;
}

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_outputs_used(const struct schedule_use *a, const struct schedule_use *b)
{
    int ret = compare_numbers(a->part, b->part);
    return ret ? ret : compare_numbers(a->output, b->output);
}

static int compare_uses(const void *first, const void *second)
{
    const struct schedule_use *a = first, *b = second;
    int ret = compare_outputs_used(a, b);
    ret = ret ? ret : compare_numbers(b->user, a->user);
    return ret ? ret : compare_numbers(a->argument, b->argument);
}

/* Visits the arguments that are outputs of parts; counts them only if there is no list. */
static void read_uses(struct schedule_calls *c)
{
    c->n_uses = 0;
    for (uint32_t user = 0; user < c->n_calls; user++)
        for (uint32_t i = 0; i < c->outer->nodes[c->calls[user]].n_args; i++) {
            struct schedule_source from = schedule_calls_source(c, user, i);
            if (from.part == UINT32_MAX)
                continue;
            if (c->uses)
                c->uses[c->n_uses] = (struct schedule_use){ from.part, from.output, user, i };
            c->n_uses++;
        }
}

bool schedule_calls_init(struct schedule_calls *c, const struct graph *outer, struct arena *arena)
{
    *c = (struct schedule_calls){ .outer = outer };
    if (!outer)
        return true;
    size_t n = (size_t)outer->n_nodes + 1;
    c->inputs = arena_array(arena, node_id, n);
    c->calls = arena_array(arena, node_id, n);
    c->sources = arena_array(arena, struct schedule_source, n);
    if (!c->inputs || !c->calls || !c->sources)
        return false;
    read_nodes(c);
    read_uses(c);
    c->uses = arena_array(arena, struct schedule_use, c->n_uses + 1);
    if (!c->uses)
        return false;
    read_uses(c);
    qsort(c->uses, c->n_uses, sizeof *c->uses, compare_uses);
    return true;
}

const struct schedule_use *schedule_calls_uses(const struct schedule_calls *c, uint32_t part,
                                               uint32_t output, size_t *n)
{
    const struct schedule_use asked = { .part = part, .output = output };
    size_t low = 0, high = c->n_uses;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_outputs_used(&c->uses[middle], &asked) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (*n = 0; low + *n < c->n_uses && !compare_outputs_used(&c->uses[low + *n], &asked);)
        ++*n;
    return *n ? &c->uses[low] : NULL;
}

/* ---- Outputs ---- */

static const struct node *output_node(const struct graph *graph)
{
    for (node_id id = graph ? graph->n_nodes : 0; id-- > 0;)
        if (graph->nodes[id].op == NODE_OUTPUT)
            return &graph->nodes[id];
    return NULL;
}

static int compare_outputs(const void *first, const void *second)
{
    const struct schedule_output *a = first, *b = second;
    int ret = compare_numbers(a->number, b->number);
    return ret ? ret : compare_numbers(a->place, b->place);
}

static void read_outputs(struct schedule_outputs *o, const struct graph *graph,
                         const struct node *output, struct str prefix)
{
    const struct arg *args = node_args(graph, output);
    for (uint32_t i = 0; i < output->n_args; i++) {
        struct schedule_output *to = &o->by_number[o->n];
        bool node = args[i].kind == ARG_NODE;
        *to = (struct schedule_output){ i, i, node ? args[i].u.node : NODE_NONE };
        o->n += !graph->output_descriptors ||
                descriptor_number(graph->output_descriptors[i], prefix, &to->number);
        if (node)
            o->names[o->n_names++] = graph->nodes[args[i].u.node].name;
    }
}

bool schedule_outputs_init(struct schedule_outputs *o, const struct graph *graph, struct str prefix,
                           struct arena *arena)
{
    const struct node *output = output_node(graph);
    *o = (struct schedule_outputs){ 0 };
    if (!output)
        return true;
    o->by_number = arena_array(arena, struct schedule_output, (size_t)output->n_args + 1);
    o->names = arena_array(arena, struct str, (size_t)output->n_args + 1);
    if (!o->by_number || !o->names)
        return false;
    read_outputs(o, graph, output, prefix);
    qsort(o->by_number, o->n, sizeof *o->by_number, compare_outputs);
    qsort(o->names, o->n_names, sizeof *o->names, str_compare);
    return true;
}

node_id schedule_outputs_find(const struct schedule_outputs *o, uint32_t number)
{
    uint32_t low = 0, high = o->n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (o->by_number[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    bool found = low < o->n && o->by_number[low].number == number;
    return found ? o->by_number[low].node : NODE_NONE;
}

bool schedule_outputs_have(const struct schedule_outputs *o, struct str name)
{
    return o->n_names &&
           bsearch(&name, o->names, o->n_names, sizeof *o->names, str_compare) != NULL;
}

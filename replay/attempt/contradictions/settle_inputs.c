/* The inputs of graphs: what describes them, and the placeholders that they have in each graph. */
#include "replay/attempt/aot_inputs.h"
#include "replay/attempt/contradictions/witnesses.h"

#include <stdlib.h>

/* The nodes of a graph by name. */
struct node_names {
    const struct recorded_graph *graph;
    struct intern names;
    vec_of(const struct node *)
    nodes;
};

static void names_release(struct node_names *n)
{
    intern_release(&n->names);
    vec_release(&n->nodes);
    *n = (struct node_names){ 0 };
}

static void names_read(struct evidence *e, struct node_names *n, const struct recorded_graph *graph)
{
    names_release(n);
    n->graph = graph;
    for (uint32_t i = 0; i < graph->graph->n_nodes && !e->failed; i++) {
        uint32_t id = intern(&n->names, graph->graph->nodes[i].name);
        /* Where a name is given again, its first node counts. */
        if (id == INTERN_NONE ||
            (id == n->nodes.n && !vec_push(&n->nodes, &graph->graph->nodes[i])))
            e->failed = true;
    }
}

static const struct node *names_find(const struct node_names *n, struct str name)
{
    uint32_t id = n->graph ? intern_find(&n->names, name) : INTERN_NONE;
    return id == INTERN_NONE ? NULL : n->nodes.v[id];
}

/* The tensors by the names of their placeholders. */
struct input_names {
    struct intern names;
    struct input_tensor several; /* stands for those that have one name */
    vec_of(struct input_tensor *)
    tensors;
};

static void input_names_read(struct evidence *e, struct input_names *n, struct inputs *inputs)
{
    for (size_t i = 0; i < inputs->list.n && !e->failed; i++) {
        struct input *input = &inputs->list.v[i];
        struct str source =
            input->kind == INPUT_TENSOR ? input->tensor.source : input->symbol.source;
        struct str name = inputs_placeholder_name(source, &e->arena);
        uint32_t id = name.p ? intern(&n->names, name) : INTERN_NONE;
        struct input_tensor *t = input->kind == INPUT_TENSOR ? &input->tensor : NULL;
        if (id == INTERN_NONE || (id == n->tensors.n && !vec_push(&n->tensors, t)))
            e->failed = true;
        else if (t && t != n->tensors.v[id])
            n->tensors.v[id] = n->tensors.v[id] ? &n->several : t;
    }
}

/* The list of sizes of a dynamo_output_graph record, by node. */
struct size_lists {
    struct intern names;
    vec_of(struct shape)
    shapes;
};

static struct shape read_sizes(struct evidence *e, const struct json *doc, json_id list)
{
    struct shape ret = { .kind = SHAPE_NOTHING, .sizes_only = true };
    size_t n = json_count(doc, list);
    if (json_kind_of(doc, list) != JSON_ARRAY || n > TENSOR_MAX_DIM)
        return ret;
    sym_id *size = arena_array(&e->arena, sym_id, n + 1);
    e->failed |= !size;
    for (json_id at = json_first(doc, list); size && at != JSON_NONE; at = json_next(doc, at))
        size[ret.ndim++] =
            json_kind_of(doc, at) == JSON_NUMBER || json_kind_of(doc, at) == JSON_STRING
                ? evidence_size(e, json_text(doc, at))
                : SYM_NONE;
    ret.kind = size ? SHAPE_TENSOR : SHAPE_NOTHING;
    ret.size = size;
    return ret;
}

static void size_lists_read(struct evidence *e, struct size_lists *s, uint32_t record)
{
    struct json doc = { 0 };
    struct err why = { 0 };
    if (record_json(e->records->trace, record, &doc, &why)) {
        json_id sizes = json_get(&doc, JSON_ROOT, STR("sizes"));
        json_id key =
            json_kind_of(&doc, sizes) == JSON_OBJECT ? json_first(&doc, sizes) : JSON_NONE;
        for (; key != JSON_NONE && !e->failed; key = json_next(&doc, json_next(&doc, key))) {
            uint32_t id = intern(&s->names, json_text(&doc, key));
            struct shape shape = read_sizes(e, &doc, json_next(&doc, key));
            if (id == INTERN_NONE || (id == s->shapes.n && !vec_push(&s->shapes, shape)))
                e->failed = true;
        }
    } else {
        e->failed |= why.kind == ERR_ENV;
    }
    json_release(&doc);
}

/* A dynamo graph and the AOT graphs made of it. */
struct graph_family {
    const struct recorded_graph *dynamo;
    const struct node **inputs; /* its placeholders */
    uint32_t n_inputs;
    struct witnesses *witnesses; /* by input */
    struct node_names joint, forward;
    struct size_lists sizes;
    bool parted; /* the joint graph was cut into a forward and a backward graph */
    bool whole;  /* AOT got the graph as a whole: its inputs have the numbers of the placeholders */
};

static void family_release(struct graph_family *f)
{
    free(f->inputs);
    free(f->witnesses);
    names_release(&f->joint);
    names_release(&f->forward);
    intern_release(&f->sizes.names);
    vec_release(&f->sizes.shapes);
    *f = (struct graph_family){ 0 };
}

/* Returns the input that a node is another name of: "l_x_ = L_x_". */
static const struct node *aliased(const struct graph *graph, const struct node *node)
{
    if (node->op != NODE_ALIAS || node->n_args != 1)
        return node;
    const struct arg *arg = node_args(graph, node);
    return arg->kind == ARG_NODE && arg->u.node < graph->n_nodes ? &graph->nodes[arg->u.node]
                                                                 : node;
}

/* Adds the sizes that the record of the graph lists. */
static void add_size_lists(struct evidence *e, struct graph_family *f)
{
    const struct graph *graph = f->dynamo->graph;
    uint32_t *input_of = calloc((size_t)graph->n_nodes + 1, sizeof *input_of);
    e->failed |= !input_of;
    for (uint32_t i = 0; input_of && i < f->n_inputs; i++)
        input_of[f->inputs[i] - graph->nodes] = i + 1;
    for (uint32_t i = 0; input_of && i < graph->n_nodes; i++) {
        const struct node *node = aliased(graph, &graph->nodes[i]);
        uint32_t id = intern_find(&f->sizes.names, graph->nodes[i].name);
        if (id == INTERN_NONE)
            continue;
        struct witness listed = { .graph = f->dynamo, .shape = f->sizes.shapes.v[id] };
        if (input_of[node - graph->nodes]) {
            witnesses_add(&f->witnesses[input_of[node - graph->nodes] - 1], listed);
            continue;
        }
        struct witnesses w = { .n = 0 };
        witnesses_add(&w, (struct witness){ .graph = f->dynamo,
                                            .node = node,
                                            .shape = evidence_shape(e, graph, node) });
        witnesses_add(&w, listed);
        witnesses_vote(e, &w);
    }
    free(input_of);
}

/* An input that Dynamo adds for a symbol has the name of the symbol (_lift_basic_symbols() of
 * torch/_dynamo/output_graph.py). */
static void add_symbol_name(struct evidence *e, struct witnesses *w, const struct node *node)
{
    uint32_t id = intern_find(&e->names, node->name);
    if (id != INTERN_NONE)
        witnesses_add(
            w, (struct witness){ .shape = { .kind = SHAPE_NUMBER, .number = e->hints.v[id] } });
}

static void family_open(struct evidence *e, struct graph_family *f,
                        const struct recorded_graph *dynamo, const struct input_names *inputs)
{
    const struct graph *graph = dynamo->graph;
    f->dynamo = dynamo;
    f->inputs = calloc((size_t)graph->n_nodes + 1, sizeof *f->inputs);
    for (uint32_t i = 0; f->inputs && i < graph->n_nodes; i++)
        if (graph->nodes[i].op == NODE_PLACEHOLDER)
            f->inputs[f->n_inputs++] = &graph->nodes[i];
    f->witnesses = calloc((size_t)f->n_inputs + 1, sizeof *f->witnesses);
    e->failed |= !f->inputs || !f->witnesses;
    for (uint32_t i = 0; i < f->n_inputs && !e->failed; i++) {
        uint32_t id = intern_find(&inputs->names, f->inputs[i]->name);
        struct input_tensor *t = id == INTERN_NONE ? NULL : inputs->tensors.v[id];
        /* A float is wrapped in a tensor, and its placeholder may be the number. */
        const uint32_t meta = f->inputs[i]->meta;
        if (t && t != &inputs->several && meta != META_NONE &&
            graph->pool->metas[meta].kind == META_TENSOR)
            witnesses_add(&f->witnesses[i],
                          (struct witness){ .described = t, .shape = evidence_described(e, t) });
        witnesses_add(&f->witnesses[i],
                      (struct witness){ .graph = dynamo,
                                        .node = f->inputs[i],
                                        .shape = evidence_shape(e, graph, f->inputs[i]) });
        if (meta != META_NONE && graph->pool->metas[meta].kind == META_SYM)
            add_symbol_name(e, &f->witnesses[i], f->inputs[i]);
    }
    size_lists_read(e, &f->sizes, dynamo->record);
    if (!e->failed)
        add_size_lists(e, f);
}

/* Adds a node of that name, with its sizes only where its strides may be others. */
static void add_named(struct evidence *e, struct witnesses *w, const struct node_names *names,
                      struct str name)
{
    const struct node *node = names_find(names, name);
    if (node)
        witnesses_add(w, (struct witness){ .graph = names->graph,
                                           .node = node,
                                           .shape = evidence_shape(e, names->graph->graph, node) });
}

/* Returns the node of the output that a tangent belongs to, or NULL:
 * "TangentAOTInput(output=PlainAOTOutput(idx=0))". */
static const struct node *tangent_output(const struct graph *graph, struct str descriptor)
{
    uint64_t index, other;
    if (!aot_index(descriptor, STR("TangentAOTInput(output=PlainAOTOutput(idx="), &index))
        return NULL;
    const struct node *output = graph->n_nodes ? &graph->nodes[graph->n_nodes - 1] : NULL;
    if (!output || output->op != NODE_OUTPUT || !graph->output_descriptors)
        return NULL;
    const struct arg *args = node_args(graph, output);
    for (uint32_t i = 0; i < output->n_args; i++)
        if (aot_index(graph->output_descriptors[i], STR("PlainAOTOutput(idx="), &other) &&
            other == index && args[i].kind == ARG_NODE && args[i].u.node < graph->n_nodes)
            return &graph->nodes[args[i].u.node];
    return NULL;
}

/* Adds the output that a tangent belongs to. AOT may choose other strides for it. */
static void add_output(struct evidence *e, struct witnesses *w, const struct node_names *names,
                       struct str descriptor)
{
    const struct node *node = names->graph ? tangent_output(names->graph->graph, descriptor) : NULL;
    if (!node)
        return;
    struct shape shape = evidence_shape(e, names->graph->graph, node);
    const sym_id *usual = shape.stride;
    shape.stride = NULL;
    witnesses_add(w,
                  (struct witness){
                      .graph = names->graph, .node = node, .shape = shape, .usual_stride = usual });
}

/* A placeholder of a backward graph is a value of the forward or the joint graph, or a tangent. */
static void settle_saved_value(struct evidence *e, struct graph_family *f,
                               const struct recorded_graph *graph, const struct node *node)
{
    struct witnesses w = { .n = 0 };
    add_named(e, &w, &f->joint, node->name);
    if (graph->kind == GRAPH_BACKWARD)
        add_named(e, &w, &f->forward, node->name);
    witnesses_add(&w, (struct witness){ .graph = graph,
                                        .node = node,
                                        .shape = evidence_shape(e, graph->graph, node) });
    add_output(e, &w, &f->joint, node->descriptor);
    add_output(e, &w, &f->forward, node->descriptor);
    witnesses_vote(e, &w);
}

/* Returns whether a tensor is contiguous in the order of its dimensions, or, `last`, with its
 * channels last; where its strides are not known, it may be. */
static bool may_be_contiguous(const struct evidence *e, const struct shape *shape, bool last)
{
    int64_t size, stride, next = 1;
    for (uint32_t i = 0; i < shape->ndim; i++) {
        uint32_t d = shape->ndim - 1 - i;
        if (last)
            d = i == 0 ? 1 : i == shape->ndim - 1 ? 0 : d + 1;
        if (!sym_to_i64(e->pool, shape->size[d], &size) ||
            !sym_to_i64(e->pool, shape->stride[d], &stride))
            return true;
        if (size != 1 && stride != next)
            return false;
        if (size > 1 && __builtin_mul_overflow(next, size, &next))
            return true;
    }
    return true;
}

/* Returns whether AOT cannot have given a tangent of its output's sizes its strides: they are
 * neither those of the output, nor contiguous, nor channels last
 * (coerce_tangent_and_suggest_memory_format() and MemoryFormatMeta of
 * torch/_functorch/_aot_autograd). */
static bool has_other_strides(const struct evidence *e, const struct shape *tangent,
                              struct shape output)
{
    if (!tangent->stride || !output.stride || shapes_agree(e->pool, tangent, &output))
        return false;
    output.stride = NULL;
    return shapes_agree(e->pool, tangent, &output) && !may_be_contiguous(e, tangent, false) &&
           (tangent->ndim < 4 || !may_be_contiguous(e, tangent, true));
}

/* The tangents of a joint graph that was not cut, because AOTAutograd began again or failed. */
static void settle_tangents(struct evidence *e, const struct graph_family *f)
{
    const struct recorded_graph *joint = f->joint.graph;
    for (uint32_t i = 0; joint && !f->parted && i < joint->graph->n_nodes && !e->failed; i++) {
        const struct node *node = &joint->graph->nodes[i];
        const struct node *output =
            node->op == NODE_PLACEHOLDER ? tangent_output(joint->graph, node->descriptor) : NULL;
        if (!output)
            continue;
        struct shape tangent = evidence_shape(e, joint->graph, node);
        struct shape expected = evidence_shape(e, joint->graph, output);
        struct witnesses w = { .n = 0 };
        if (!has_other_strides(e, &tangent, expected))
            continue;
        witnesses_add(&w, (struct witness){ .graph = joint, .node = output, .shape = expected });
        witnesses_add(&w, (struct witness){ .graph = joint, .node = node, .shape = tangent });
        witnesses_vote(e, &w);
    }
}

static bool is_aot(enum graph_kind kind)
{
    return kind == GRAPH_JOINT || kind == GRAPH_FORWARD || kind == GRAPH_BACKWARD ||
           kind == GRAPH_INFERENCE;
}

static bool input_number(const struct node *node, uint64_t *ret)
{
    return node->op == NODE_PLACEHOLDER &&
           aot_index(node->descriptor, STR("PlainAOTInput(idx="), ret);
}

/* Returns whether AOT got the dynamo graph at `at` as a whole. It gets parts of it where Dynamo
 * splits the graph (DDPOptimizer of torch/_dynamo/backends/distributed.py), and other inputs where
 * some of them are the same tensor. */
static bool is_whole(const struct attempt_records *records, size_t at, uint32_t n_inputs)
{
    uint32_t traced = 0, plain = 0;
    uint64_t ignored;
    for (size_t i = at + 1; i < records->n_graphs; i++) {
        const struct recorded_graph *g = &records->graphs[i];
        if (g->kind == GRAPH_DYNAMO)
            break;
        if (!g->graph || (g->kind != GRAPH_JOINT && g->kind != GRAPH_INFERENCE))
            continue;
        traced++;
        for (uint32_t k = 0; k < g->graph->n_nodes; k++)
            plain += input_number(&g->graph->nodes[k], &ignored);
    }
    return traced == 1 && plain == n_inputs;
}

/* A gradient is computed of what requires one: "GradAOTOutput(grad_of=PlainAOTInput(idx=3))". */
static void settle_joint_gradients(struct evidence *e, struct graph_family *f,
                                   const struct recorded_graph *joint)
{
    const struct graph *graph = joint->graph;
    const struct node *output = graph->n_nodes ? &graph->nodes[graph->n_nodes - 1] : NULL;
    const struct str GRAD = STR("GradAOTOutput(grad_of=PlainAOTInput(idx=");
    uint64_t index;
    if (!output || output->op != NODE_OUTPUT || !graph->output_descriptors)
        return;
    const struct arg *args = node_args(graph, output);
    for (uint32_t i = 0; i < output->n_args && !e->failed; i++)
        if (args[i].kind == ARG_NODE && aot_index(graph->output_descriptors[i], GRAD, &index) &&
            index < f->n_inputs && f->witnesses[index].n && f->witnesses[index].v[0].described)
            settle_gradient(e, f->witnesses[index].v[0].described, true, joint->record);
}

static void family_close(struct evidence *e, struct graph_family *f)
{
    settle_tangents(e, f);
    for (uint32_t i = 0; i < f->n_inputs && !e->failed; i++)
        witnesses_vote(e, &f->witnesses[i]);
    family_release(f);
}

/* Adds a graph that AOT made of the family's. */
static void family_add(struct evidence *e, struct graph_family *f,
                       const struct recorded_graph *graph)
{
    for (uint32_t i = 0; i < graph->graph->n_nodes && !e->failed; i++) {
        const struct node *node = &graph->graph->nodes[i];
        uint64_t index;
        if (node->op != NODE_PLACEHOLDER)
            continue;
        bool is_input = input_number(node, &index);
        if (is_input && f->whole && index < f->n_inputs)
            witnesses_add(&f->witnesses[index],
                          (struct witness){ .graph = graph,
                                            .node = node,
                                            .shape = evidence_shape(e, graph->graph, node) });
        else if (!is_input && (graph->kind == GRAPH_BACKWARD || graph->kind == GRAPH_FORWARD))
            settle_saved_value(e, f, graph, node);
    }
    if (graph->kind == GRAPH_JOINT && f->whole && !e->failed)
        settle_joint_gradients(e, f, graph);
    if (graph->kind == GRAPH_JOINT) {
        settle_tangents(e, f);
        names_read(e, &f->joint, graph);
    }
    if (graph->kind != GRAPH_INFERENCE)
        f->parted = graph->kind != GRAPH_JOINT;
    if (graph->kind == GRAPH_FORWARD)
        names_read(e, &f->forward, graph);
}

void settle_inputs(struct evidence *e, struct inputs *inputs)
{
    struct input_names names = { 0 };
    struct graph_family family = { 0 };
    input_names_read(e, &names, inputs);
    for (size_t i = 0; i < e->records->n_graphs && !e->failed; i++) {
        const struct recorded_graph *graph = &e->records->graphs[i];
        if (!graph->graph)
            continue;
        if (graph->kind == GRAPH_DYNAMO) {
            family_close(e, &family);
            family_open(e, &family, graph, &names);
            family.whole = is_whole(e->records, i, family.n_inputs);
        } else if (is_aot(graph->kind)) {
            family_add(e, &family, graph);
        }
    }
    family_close(e, &family);
    intern_release(&names.names);
    vec_release(&names.tensors);
}

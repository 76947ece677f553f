#include "replay/program/program.h"

#include <stdlib.h>

#include "replay/ops/dispatch/schema.h"
#include "replay/program/dtensor.h"

struct builder {
    struct program *root;
    struct ops *ops;
    sym_resolver *symbol;
    void *user;
    const struct expected **metas; /* n_metas + 1, by number of the meta, the last for nodes without
                                    * one; all programs of the tree share them */
    uint32_t n_metas;
    uint32_t n_nodes, n_locations; /* those of the tree so far */
    struct program_patches patches;
};

static bool build_program(struct builder *b, struct program *p, const struct graph *graph,
                          unsigned depth, struct err *err);

/* Returns whether a call returns its first argument: by Python's convention functions whose name
 * ends in exactly one underscore work in place. */
static bool returns_self(const struct graph *graph, const struct node *node)
{
    if (node->op != NODE_CALL_FUNCTION && node->op != NODE_CALL_METHOD)
        return false;
    struct str name = target_base_name(node->target);
    return node->n_args && graph->args[node->first_arg].kind == ARG_NODE && name.n > 1 &&
           name.p[name.n - 1] == '_' && name.p[name.n - 2] != '_';
}

static node_id object_of(const struct program *p, const struct node *node, node_id id)
{
    const struct arg *args = node_args(p->graph, node);
    bool shares = node->op == NODE_ALIAS || returns_self(p->graph, node);
    if (!shares || !node->n_args || args[0].kind != ARG_NODE || args[0].u.node >= id)
        return id;
    return p->steps[args[0].u.node].object;
}

static bool is_tuple_getitem(const struct graph *graph, const struct node *node)
{
    const struct arg *args = node_args(graph, node);
    return str_is(node->target, "operator.getitem") && node->n_args == 2 &&
           args[0].kind == ARG_NODE && args[1].kind == ARG_INT;
}

static enum step_kind step_kind_of(const struct program *p, struct step *step,
                                   const struct node *node)
{
    if (node_is_call(node) && dtensor_is_call(node))
        return STEP_DTENSOR;
    switch (node->op) {
    case NODE_PLACEHOLDER: return STEP_INPUT;
    case NODE_CALL_METHOD: return STEP_METHOD;
    case NODE_CALL_MODULE: return STEP_MODULE;
    case NODE_GET_ATTR: return program_child(p, node->target) ? STEP_SUBGRAPH : STEP_ATTRIBUTE;
    case NODE_ALIAS: return STEP_ALIAS;
    case NODE_OUTPUT: return STEP_OUTPUT;
    case NODE_OPAQUE: return STEP_OPAQUE;
    case NODE_CALL_FUNCTION: break;
    }
    if (is_tuple_getitem(p->graph, node))
        return STEP_GETITEM;
    if (str_starts(node->target, STR("torch.ops.")) && !ops_is_packet(p->ops, node->target))
        step->op = ops_find(p->ops, node->target);
    return step->op ? STEP_OPERATOR : STEP_FUNCTION;
}

static bool convert_arguments(struct builder *b, struct program *p, struct step *step,
                              const struct node *node)
{
    struct arena *arena = &b->root->arena;
    const struct arg *args = node_args(p->graph, node);
    uint32_t n_keywords = 0;
    for (uint32_t i = 0; i < node->n_args; i++)
        n_keywords += args[i].key.n && node_is_call(node);
    step->first_patch = (uint32_t)b->patches.list.n;
    step->args = arena_array(arena, struct value, node->n_args - n_keywords);
    step->keywords = arena_array(arena, struct keyword, n_keywords);
    if ((!step->args && node->n_args > n_keywords) || (!step->keywords && n_keywords))
        return false;
    for (uint32_t i = 0; i < node->n_args; i++) {
        bool keyword = args[i].key.n && node_is_call(node);
        struct value *at =
            keyword ? &step->keywords[step->n_keywords].value : &step->args[step->n_args];
        if (keyword)
            step->keywords[step->n_keywords++].name = args[i].key;
        else
            step->n_args++;
        *at = literal_value(b->ops, p->graph, &args[i], at, arena, &b->patches, 0);
    }
    step->n_patches = (uint32_t)b->patches.list.n - step->first_patch;
    return !b->patches.failed;
}

static const char *kept_operator_name(struct builder *b, const struct node *node)
{
    struct buf name = BUF_INIT;
    if (!node_is_call(node))
        return node->op == NODE_PLACEHOLDER ? "placeholder" : "";
    node_op_name(node, &name);
    const char *kept = name.failed ? NULL : ops_keep_name(b->ops, buf_str(&name));
    buf_release(&name);
    return kept;
}

static const struct expected *meta_expected(struct builder *b, const struct graph *graph,
                                            uint32_t meta)
{
    const struct expected **known = &b->metas[meta < b->n_metas ? meta : b->n_metas];
    if (!*known)
        *known = expected_read(b->ops, graph, meta < b->n_metas ? meta : META_NONE, b->symbol,
                               b->user, &b->root->arena);
    return *known;
}

static bool read_step(struct builder *b, struct program *p, node_id id)
{
    const struct node *node = &p->graph->nodes[id];
    struct step *step = &p->steps[id];
    step->node = id;
    step->target = node->target;
    step->kind = step_kind_of(p, step, node);
    step->object = object_of(p, node, id);
    step->expected = meta_expected(b, p->graph, node->meta);
    step->name = kept_operator_name(b, node);
    return step->expected && step->name && convert_arguments(b, p, step, node);
}

/* Changes patches to refer to the node that owns the object instead of an alias, so that in-place
 * changes are seen under every name. */
static bool finish_patches(struct builder *b, struct program *p)
{
    size_t n = b->patches.list.n;
    p->patches = arena_array(&b->root->arena, struct patch, n + 1);
    if (!p->patches)
        return false;
    for (size_t i = 0; i < n; i++) {
        struct patch patch = b->patches.list.v[i];
        if (patch.from < p->n_steps)
            patch.from = p->steps[patch.from].object;
        p->patches[i] = patch;
    }
    b->patches.list.n = 0;
    return true;
}

static bool build_children(struct builder *b, struct program *p, unsigned depth, struct err *err)
{
    const struct graph *graph = p->graph;
    p->children = arena_array(&b->root->arena, struct program *, (size_t)graph->n_children + 1);
    if (!p->children)
        return err_nomem(err);
    for (uint32_t i = 0; i < graph->n_children; i++) {
        struct program *child = arena_new(&b->root->arena, struct program);
        if (!child)
            return err_nomem(err);
        child->number = p->number;
        if (!build_program(b, child, graph->children[i], depth + 1, err))
            return false;
        p->children[p->n_children++] = child;
    }
    return true;
}

static bool build_program(struct builder *b, struct program *p, const struct graph *graph,
                          unsigned depth, struct err *err)
{
    struct arena *arena = &b->root->arena;
    if (depth > PROGRAM_MAX_NESTING)
        return err_set(err, ERR_INPUT, "subgraphs nest deeper than %d", PROGRAM_MAX_NESTING);
    p->graph = graph;
    p->root = b->root;
    p->ops = b->ops;
    p->n_steps = graph->n_nodes;
    p->first_node = b->n_nodes;
    b->n_nodes += graph->n_nodes;
    p->first_location = b->n_locations;
    b->n_locations += graph->n_locations;
    p->steps = arena_array(arena, struct step, (size_t)graph->n_nodes + 1);
    p->current = arena_array(arena, struct value, (size_t)graph->n_nodes + 1);
    p->first = arena_array(arena, struct value, (size_t)graph->n_nodes + 1);
    p->notes = arena_array(arena, struct outcome_note, (size_t)graph->n_nodes + 1);
    p->valid = arena_array(arena, bool, (size_t)graph->n_nodes + 1);
    if (!p->steps || !p->current || !p->first || !p->notes || !p->valid)
        return err_nomem(err);
    if (!build_children(b, p, depth, err))
        return false;
    for (node_id id = 0; id < graph->n_nodes; id++)
        if (!read_step(b, p, id))
            return err_nomem(err);
    return finish_patches(b, p) || err_nomem(err);
}

struct program *program_new(struct ops *ops, const struct graph *graph, uint32_t number,
                            sym_resolver *symbol, void *user, struct err *err)
{
    struct program *root = calloc(1, sizeof *root);
    struct builder b = {
        .root = root, .ops = ops, .symbol = symbol, .user = user, .n_metas = graph->pool->n_metas
    };
    if (!root)
        return err_nomem(err), NULL;
    root->number = number;
    b.metas = calloc((size_t)b.n_metas + 1, sizeof *b.metas);
    bool ok = b.metas ? build_program(&b, root, graph, 0, err) : err_nomem(err);
    if (ok && ops_short_of_memory(ops))
        ok = err_nomem(err); /* an operator that was not found may be known */
    free(b.metas);
    vec_release(&b.patches.list);
    if (!ok) {
        program_free(root);
        return NULL;
    }
    root->n_tree_nodes = b.n_nodes;
    root->n_tree_locations = b.n_locations;
    return root;
}

void program_free(struct program *program)
{
    if (!program)
        return;
    struct arena arena = program->arena;
    free(program);
    arena_release(&arena);
}

struct program *program_child(const struct program *program, struct str name)
{
    for (uint32_t i = 0; i < program->n_children; i++)
        if (str_eq(program->children[i]->graph->name, name))
            return program->children[i];
    return NULL;
}

const struct node *program_node(const struct program *root, uint32_t node,
                                const struct program **in)
{
    if (node >= root->first_node && node - root->first_node < root->n_steps) {
        *in = root;
        return &root->graph->nodes[node - root->first_node];
    }
    for (uint32_t i = 0; i < root->n_children; i++) {
        const struct node *found = program_node(root->children[i], node, in);
        if (found)
            return found;
    }
    return NULL;
}

bool step_is_list_input(const struct program *program, const struct step *step)
{
    const struct graph *graph = program->graph;
    uint32_t meta = graph->nodes[step->node].meta;
    return meta < graph->pool->n_metas && str_is(graph->pool->metas[meta].text, "list");
}

const struct value *step_argument(const struct step *step, const struct schema *schema,
                                  struct str name)
{
    for (uint32_t i = 0; i < step->n_args && i < schema->n_args; i++)
        if (str_eq(schema->args[i].name, name))
            return &step->args[i];
    for (uint32_t i = 0; i < step->n_keywords && i < schema->n_args; i++)
        if (str_eq(step->keywords[i].name, name))
            return &step->keywords[i].value;
    return NULL;
}

#include "trace/graph/graph_build.h"

#include "trace/base/hash.h"
#include "trace/graph/annotation.h"

/* ---- the tree ---- */

static void free_pool(struct graph_pool *pool)
{
    arena_release(&pool->arena);
    expr_pool_release(&pool->exprs);
    free(pool->metas);
    free(pool);
}

bool tree_builder_init(struct tree_builder *tree, struct err *err)
{
    *tree = (struct tree_builder){ .pool = calloc(1, sizeof *tree->pool) };
    return tree->pool || err_nomem(err);
}

void tree_builder_finish(struct tree_builder *tree, struct graph *root)
{
    hash_index_release(&tree->metas);
    if (!root && tree->pool)
        free_pool(tree->pool);
    tree->pool = NULL;
}

static void free_arrays(struct graph *graph)
{
    for (uint32_t i = 0; i < graph->n_children; i++)
        free_arrays(graph->children[i]);
    free(graph->nodes);
    free(graph->args);
    free(graph->deleted);
    free(graph->locations);
    free(graph->output_descriptors);
    free(graph->children);
}

void graph_free(struct graph *graph)
{
    if (!graph)
        return;
    struct graph_pool *pool = graph->pool;
    free_arrays(graph);
    free_pool(pool);
}

/* ---- one graph ---- */

bool graph_builder_init(struct graph_builder *b, struct tree_builder *tree, struct str name,
                        struct err *err)
{
    *b = (struct graph_builder){ .tree = tree };
    b->graph = arena_new(&tree->pool->arena, struct graph);
    if (!b->graph)
        return err_nomem(err);
    b->graph->name = name;
    b->graph->pool = tree->pool;
    return true;
}

/* Moves the builder's arrays to the graph. */
static void hand_over(struct graph_builder *b)
{
    struct graph *graph = b->graph;
    graph->nodes = b->nodes.v;
    graph->n_nodes = (uint32_t)b->nodes.n;
    graph->args = b->args.v;
    graph->n_args = (uint32_t)b->args.n;
    graph->deleted = b->deleted.v;
    graph->n_deleted = (uint32_t)b->deleted.n;
    graph->locations = b->locations.v;
    graph->n_locations = (uint32_t)b->locations.n;
    if (b->descriptors.n == 0)
        vec_release(&b->descriptors);
    graph->output_descriptors = b->descriptors.v;
    graph->children = b->children.v;
    graph->n_children = (uint32_t)b->children.n;
    vec_release(&b->stack);
    hash_index_release(&b->names);
    hash_index_release(&b->places);
}

struct graph *graph_builder_finish(struct graph_builder *b, struct err *err)
{
    struct graph *graph = b->graph;
    if (b->failed) {
        graph_builder_abandon(b);
        err_nomem(err);
        return NULL;
    }
    for (size_t i = 0; i < b->nodes.n; i++)
        graph->n_opaque += b->nodes.v[i].op == NODE_OPAQUE;
    hand_over(b);
    return graph;
}

void graph_builder_abandon(struct graph_builder *b)
{
    hand_over(b);
    free_arrays(b->graph);
}

struct str build_keep(struct graph_builder *b, struct str text)
{
    struct str copy = arena_copy(&b->tree->pool->arena, text);
    if (!copy.p) {
        b->failed = true;
        return STR("");
    }
    return copy;
}

/* Moves the arguments above `mark` from the stack to graph->args. */
static bool move_arguments(struct graph_builder *b, size_t mark, uint32_t *first, uint32_t *n)
{
    size_t count = b->stack.n - mark;
    *first = (uint32_t)b->args.n;
    *n = (uint32_t)count;
    if (b->args.n + count >= UINT32_MAX || !vec_reserve(&b->args, count))
        return false;
    if (count)
        memcpy(b->args.v + b->args.n, b->stack.v + mark, count * sizeof *b->args.v);
    b->args.n += count;
    b->stack.n = mark;
    return true;
}

void build_wrap(struct graph_builder *b, struct arg container, size_t mark)
{
    if (b->failed || !move_arguments(b, mark, &container.u.items.first, &container.u.items.n))
        b->failed = true;
    else
        build_push(b, container);
}

static node_id find_hashed_node(const struct graph_builder *b, struct str name, uint32_t hash)
{
    uint32_t id;
    for (size_t at = hash_index_start(&b->names, hash); hash_index_next(&b->names, hash, &at, &id);)
        if (str_eq(b->nodes.v[id].name, name))
            return id;
    return NODE_NONE;
}

node_id build_find(const struct graph_builder *b, struct str name)
{
    return find_hashed_node(b, name, (uint32_t)hash_str(name));
}

/* Makes `name` find the node `id`. */
static bool bind_name(struct graph_builder *b, struct str name, node_id id)
{
    uint32_t hash = (uint32_t)hash_str(name);
    node_id old = find_hashed_node(b, name, hash);
    if (old != NODE_NONE)
        hash_index_replace(&b->names, hash, old, id);
    else if (hash_index_reserve(&b->names, 1))
        hash_index_add(&b->names, hash, id);
    else
        return false;
    return true;
}

node_id build_node(struct graph_builder *b, struct node node, size_t mark)
{
    node.first_deleted = (uint32_t)b->deleted.n;
    node.n_deleted = 0;
    b->failed = b->failed || b->nodes.n >= NODE_NONE - 1 ||
                !move_arguments(b, mark, &node.first_arg, &node.n_args) ||
                !vec_reserve(&b->nodes, 1) ||
                (node.name.n && !bind_name(b, node.name, (node_id)b->nodes.n));
    if (b->failed)
        return NODE_NONE;
    b->nodes.v[b->nodes.n++] = node;
    return (node_id)b->nodes.n - 1;
}

void build_delete(struct graph_builder *b, node_id deleted)
{
    if (b->failed || b->nodes.n == 0)
        return;
    b->failed = b->deleted.n >= UINT32_MAX || !vec_push(&b->deleted, deleted);
    if (!b->failed)
        b->nodes.v[b->nodes.n - 1].n_deleted++;
}

void build_drop_first(struct graph_builder *b, uint32_t n)
{
    if (b->failed || n == 0)
        return;
    b->nodes.n -= n;
    memmove(b->nodes.v, b->nodes.v + n, b->nodes.n * sizeof *b->nodes.v);
    hash_index_release(&b->names);
    for (uint32_t id = 0; id < b->nodes.n && !b->failed; id++)
        b->failed = b->nodes.v[id].name.n && !bind_name(b, b->nodes.v[id].name, id);
}

uint32_t build_meta(struct graph_builder *b, struct str text)
{
    struct tree_builder *tree = b->tree;
    struct graph_pool *pool = tree->pool;
    uint32_t hash = (uint32_t)hash_str(text), index;
    if (text.n == 0 || b->failed)
        return META_NONE;
    for (size_t at = hash_index_start(&tree->metas, hash);
         hash_index_next(&tree->metas, hash, &at, &index);)
        if (str_eq(pool->metas[index].text, text))
            return index;
    index = pool->n_metas;
    struct str copy = build_keep(b, text);
    b->failed =
        b->failed || index >= META_NONE - 1 ||
        (index == tree->cap_metas &&
         !vec_grow((void **)&pool->metas, &tree->cap_metas, index, 1, sizeof *pool->metas)) ||
        !annotation_parse(pool, copy, &pool->metas[index]) || !hash_index_reserve(&tree->metas, 1);
    if (b->failed)
        return META_NONE;
    hash_index_add(&tree->metas, hash, index);
    pool->n_metas++;
    return index;
}

static bool same_location(const struct location *a, const struct location *b)
{
    return a->line == b->line && a->caller == b->caller && str_eq(a->file, b->file) &&
           str_eq(a->function, b->function) && str_eq(a->code, b->code) &&
           str_eq(a->annotation, b->annotation);
}

uint32_t build_location(struct graph_builder *b, struct location location)
{
    uint64_t numbers = (uint64_t)location.line << 32 | location.caller;
    uint64_t mixed = hash_mix(hash_str(location.file), numbers);
    mixed = hash_mix(hash_mix(mixed, hash_str(location.code)), hash_str(location.annotation));
    uint32_t hash = (uint32_t)mixed, index;
    for (size_t at = hash_index_start(&b->places, hash);
         hash_index_next(&b->places, hash, &at, &index);)
        if (same_location(&b->locations.v[index], &location))
            return index;
    index = (uint32_t)b->locations.n;
    b->failed = b->failed || b->locations.n >= LOCATION_NONE - 1 ||
                !hash_index_reserve(&b->places, 1) || !vec_push(&b->locations, location);
    if (b->failed)
        return LOCATION_NONE;
    hash_index_add(&b->places, hash, index);
    return index;
}

void build_output_descriptor(struct graph_builder *b, struct str descriptor)
{
    b->failed = b->failed || !vec_push(&b->descriptors, descriptor);
}

void build_child(struct graph_builder *b, struct graph *child)
{
    b->failed = b->failed || !vec_reserve(&b->children, 1);
    if (b->failed)
        free_arrays(child);
    else
        b->children.v[b->children.n++] = child;
}

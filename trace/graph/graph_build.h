/* Builds graphs, for the readers of texts (graph_parse.c) and of .pt2 archives. Private to the
 * trace room.
 *
 *     struct tree_builder tree;
 *     struct graph_builder b;
 *     struct graph *graph = NULL;
 *     if (tree_builder_init(&tree, err) && graph_builder_init(&b, &tree, name, err)) {
 *         size_t mark = build_mark(&b);
 *         build_push(&b, (struct arg){ .kind = ARG_NODE, .u.node = build_find(&b, STR("x")) });
 *         build_node(&b, (struct node){ .op = NODE_CALL_FUNCTION, .name = ..., ... }, mark);
 *         ...
 *         graph = graph_builder_finish(&b, err);
 *     }
 *     tree_builder_finish(&tree, graph);              graph_free(graph) later frees all of it
 *
 * Texts given to a builder are not copied: they must live as long as the graph, which those from
 * build_keep() and from the pool's arena do. Memory failure makes the builder `failed`; the calls
 * that follow do nothing, and graph_builder_finish() reports it. */
#ifndef SYMTAPE_TRACE_GRAPH_GRAPH_BUILD_H
#define SYMTAPE_TRACE_GRAPH_GRAPH_BUILD_H

#include "trace/base/err.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"
#include "trace/graph/graph.h"

enum { GRAPH_MAX_DEPTH = 100 }; /* of graphs in graphs, and of arguments in arguments */

/* What the graphs of one tree share. */
struct tree_builder {
    struct graph_pool *pool;
    struct hash_index metas; /* by text */
    size_t cap_metas;
};

/* The builder of one graph of the tree. Arguments are pushed on a stack, innermost first, and
 * leave it when their container or node is made. */
struct graph_builder {
    struct tree_builder *tree;
    struct graph *graph; /* the caller sets name, returns_tuple and signature */
    vec_of(struct node)
    nodes;
    vec_of(struct arg)
    args;
    vec_of(struct arg)
    stack;
    vec_of(node_id)
    deleted;
    vec_of(struct location)
    locations;
    vec_of(struct str)
    descriptors;
    vec_of(struct graph *)
    children;
    struct hash_index names;  /* of nodes; the latest one of equal names */
    struct hash_index places; /* of locations */
    bool failed;              /* memory ran out */
};

bool tree_builder_init(struct tree_builder *tree, struct err *err);
/* Releases the builder, and the pool as well unless `root` (NULL on failure) owns it. */
void tree_builder_finish(struct tree_builder *tree, struct graph *root);

/* Returns a NUL-terminated copy that lives as long as the graphs. */
struct str build_keep(struct graph_builder *b, struct str text);

bool graph_builder_init(struct graph_builder *b, struct tree_builder *tree, struct str name,
                        struct err *err);
/* Returns the graph, or NULL with err set when memory ran out. It releases the builder in both
 * cases, and on failure the children that were added. */
struct graph *graph_builder_finish(struct graph_builder *b, struct err *err);
/* Releases the builder without making a graph. */
void graph_builder_abandon(struct graph_builder *b);

/* Arguments. build_wrap() moves the arguments that were pushed since `mark` into `container`
 * (ARG_LIST, ARG_TUPLE, ARG_DICT, ARG_SLICE, ARG_CALL), which is pushed in their place. */
static inline size_t build_mark(const struct graph_builder *b)
{
    return b->stack.n;
}
static inline void build_push(struct graph_builder *b, struct arg arg)
{
    if (!vec_push(&b->stack, arg))
        b->failed = true;
}
void build_wrap(struct graph_builder *b, struct arg container, size_t mark);

/* Appends a node whose arguments are those pushed since `mark`; sets first_arg and n_args, and
 * clears first_deleted and n_deleted. build_find() then finds its name. It returns NODE_NONE on
 * failure. */
node_id build_node(struct graph_builder *b, struct node node, size_t mark);
/* Returns the latest node of that name, or NODE_NONE. */
node_id build_find(const struct graph_builder *b, struct str name);
/* Adds `deleted` to the names that are set to None after the latest node. */
void build_delete(struct graph_builder *b, node_id deleted);
/* Removes the first n nodes, to which nothing may refer. */
void build_drop_first(struct graph_builder *b, uint32_t n);

/* Returns the meta of an annotation ("f32[s77, 64][64, 1]cuda:0"), which is parsed once for
 * equal texts; a new text is copied. It returns META_NONE for "" and on failure. A reader
 * without annotations (.pt2) prints one; dimensions go through expr_print(). */
uint32_t build_meta(struct graph_builder *b, struct str text);

/* Appends a location, or finds an equal one. A caller must be added before the locations that it
 * called. */
uint32_t build_location(struct graph_builder *b, struct location location);

/* Appends the descriptor of the next output; either all outputs have one or none has. */
void build_output_descriptor(struct graph_builder *b, struct str descriptor);
void build_child(struct graph_builder *b, struct graph *child);

#endif

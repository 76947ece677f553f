/* The graph that is being made, and how its nodes are added. Private to the room. */
#ifndef SYMTAPE_MINIFY_REWRITE_MASK_BUILD_H
#define SYMTAPE_MINIFY_REWRITE_MASK_BUILD_H

#include "minify/rewrite/mask_call.h"

/* A form of a mask that was made already. */
enum mask_form { FORM_ROWS, FORM_WHOLE, FORM_COUNT, FORM_SUM };
struct made_form {
    node_id mask;
    enum mask_form form;
    uint32_t ndim;
    int64_t block;
    node_id node;
};

struct mask_builder {
    struct masker *m;
    const struct graph *graph;
    node_id *map; /* by node of the graph; NODE_NONE: it is gone */
    vec_of(struct node)
    nodes;
    vec_of(bool)
    made; /* by new node: it is not one of the graph */
    vec_of(struct arg)
    args;
    vec_of(struct made_form)
    forms;
    node_id *of_all;  /* by node of the graph: the new node of number_all(), or NODE_NONE */
    node_id *of_true; /* the same of number_tensor() */
    struct intern names;
    uint32_t next_name;
    node_id at;       /* the call that is rewritten */
    bool contradicts; /* a call that stays needs a value that is gone */
    bool failed;
};

/* After a failure all functions go on and return numbers and texts that nothing may use: failed or
 * contradicts says so. Texts belong to the arena of the masker.
 *
 * mask_emit.c: arguments. */
struct arg build_node_arg(node_id id);
struct arg build_int_arg(struct mask_builder *b, int64_t value);
struct arg build_bool_arg(bool value);
struct arg build_float_arg(const char *text, double value); /* the text is borrowed */
struct arg build_list_arg(struct mask_builder *b, const struct arg *items, uint32_t n);
/* The number that rows get which the mask leaves out. */
struct arg build_fill_arg(struct mask_builder *b, enum dtype dtype, enum mask_fill fill);
/* Nodes: each returns that of the new graph. */
struct str build_name(struct mask_builder *b, const char *base); /* one that no node has */
node_id build_push(struct mask_builder *b, struct node node, bool made);
/* Adds a call of an operator for the call that is rewritten. */
node_id build_emit(struct mask_builder *b, const char *base, const char *target,
                   const struct arg *args, uint32_t n);
/* The last node that is made for a call has the call's name. */
void build_finish(struct mask_builder *b, node_id id, node_id result);
/* Forms of a mask, which is a node of the graph; those that were made already are returned again.
 */
uint32_t build_ndim(const struct mask_builder *b, node_id id);
node_id build_row_mask(struct mask_builder *b, node_id mask, uint32_t ndim, int64_t block);
node_id build_whole_mask(struct mask_builder *b, node_id mask, uint32_t ndim);
node_id build_count_all(struct mask_builder *b, node_id mask);  /* elements, a SymInt */
node_id build_count_true(struct mask_builder *b, node_id mask); /* True ones, a tensor */
/* x with the dimensions of the mask merged. */
node_id build_merge_dims(struct mask_builder *b, node_id x, node_id mask, uint32_t dim);
/* where(mask, x, fill), for an x of the new graph that has rows in the first of `ndim` dimensions
 * from the right. */
node_id build_where_filled(struct mask_builder *b, node_id mask, node_id x, uint32_t ndim,
                           int64_t block, struct arg fill);

/* mask_copy.c: arguments and calls with the nodes of the new graph. */
struct arg build_copy_arg(struct mask_builder *b, const struct arg *arg);
/* `made`: its sizes are no longer the recorded ones. */
node_id build_copy_call(struct mask_builder *b, node_id id, bool made);
/* Copies a call that has other rows where the mask leaves them out. */
node_id build_copy_refilled(struct mask_builder *b, node_id id);
/* Makes the arguments that are computed from the number of rows. */
void build_count_args(struct mask_builder *b, node_id id, bool as_tensor);

/* mask_reduce.c: reductions and losses. */
void build_reduce(struct mask_builder *b, node_id id);
void build_loss(struct mask_builder *b, node_id id);
void build_loss_grad(struct mask_builder *b, node_id id);

#endif

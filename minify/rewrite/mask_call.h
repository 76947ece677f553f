/* One call that has rows of a mask among its arguments, and what is decided about it. Private to
 * the room. */
#ifndef SYMTAPE_MINIFY_REWRITE_MASK_CALL_H
#define SYMTAPE_MINIFY_REWRITE_MASK_CALL_H

#include "minify/rewrite/mask_graph.h"

enum row_class {
    ROW_EACH,
    ROW_DIM,
    ROW_SCAN,
    ROW_PICK,
    ROW_CHOOSE,
    ROW_NORM,
    ROW_NORM_GRAD,
    ROW_SAMPLE,
    ROW_ATTENTION,
    ROW_MATMUL,
    ROW_VIEW,
    ROW_EXPAND,
    ROW_CREATE,
    ROW_MOVE,
    ROW_PERMUTE,
    ROW_CAT,
    ROW_LOOKUP,
    ROW_ADD_UP,
    ROW_LOSS,
    ROW_LOSS_GRAD,
    ROW_LABELS
};
enum row_derivative {
    DERIV_NOWHERE,
    DERIV_AT_0,
    DERIV_SAFE_0,
    DERIV_SAFE_2,
    DERIV_LARGE,
    DERIV_DIVISOR,
    DERIV_POWER,
    DERIV_SOMEWHERE
};

struct row_rule {
    const char *base;
    enum row_class class;
    enum row_derivative derivative;
    uint32_t argument;
};
struct row_reduction {
    const char *base;
    enum mask_fill fill;
    enum row_derivative derivative;
};

/* mask_rules.c: NULL: there is none. */
const struct row_rule *mask_find_rule(struct str base);
const struct row_reduction *mask_find_reduction(struct str base);

struct row_call {
    struct masker *m;
    node_id id;
    const struct node *node;
    const struct arg *args;
    struct str base;
    const struct meta *result;       /* NULL: it is no tensor */
    node_id first;                   /* the first argument that depends on the mask */
    node_id row;                     /* the first argument that has rows; NODE_NONE */
    bool blocks;                     /* they are not equally many elements of each */
    bool mixed;                      /* arguments have rows of two masks */
    bool rows, count, number, other; /* which there are: tensors, the count, what is computed from
                                        it, all else */
    struct mask_node ret; /* what the class decides: role, dim, refill, row_items, counts */
};

/* Blocks the call's group; returns false. */
bool row_refuse(struct row_call *c, const char *why);
static inline bool row_is_arg(const struct row_call *c, const struct arg *arg)
{
    return arg && arg->kind == ARG_NODE && mask_is_rows(c->m, arg->u.node);
}
static inline const struct meta *row_meta(const struct row_call *c, const struct arg *arg)
{
    return arg && arg->kind == ARG_NODE ? mask_tensor(c->m, arg->u.node) : NULL;
}
static inline bool row_depends(const struct row_call *c, const struct arg *arg)
{
    return arg->kind == ARG_NODE && mask_is_dependent(c->m->nodes[arg->u.node].role);
}
static inline uint32_t row_ndim(const struct row_call *c)
{
    return mask_tensor(c->m, c->row)->n_sizes;
}
static inline uint32_t row_dim(const struct row_call *c)
{
    return c->m->nodes[c->row].dim;
}
static inline bool row_is_named(uint64_t dims, uint32_t dim)
{
    return dims >> dim & 1;
}

/* mask_classes.c: checks the rule and sets c->ret. */
bool row_check_class(struct row_call *c, const struct row_rule *rule);
/* Reads a literal list of dimensions, or one, as a set of bits; returns false if it is none. */
bool row_read_dims(const struct row_call *c, const struct arg *arg, uint32_t ndim, uint64_t *ret);
const struct arg *row_dim_arg(const struct row_call *c, uint32_t position);
/* Returns whether a list among the arguments has something that depends on the mask. */
bool row_has_nested(const struct row_call *c);
/* The rows are the first argument, and no other depends on the mask. */
bool row_check_first(struct row_call *c);
/* Pointwise: all rows line up where arguments are broadcast. */
bool row_check_each(struct row_call *c);
/* The same without its result; *right is the place of the rows, from the right. */
bool row_check_aligned(struct row_call *c, uint32_t *right);
/* Sets the dimension of the rows behind a call that goes along the others in `named`, and may
 * remove them. */
void row_set_dim(struct row_call *c, uint64_t named);

/* mask_left.c: the value of an argument in the rows that the mask leaves out. */
struct row_value row_left(const struct row_call *c, const struct arg *arg);
/* The same of the result. */
struct row_value row_compute_left(const struct row_call *c);
/* Sets the numbers that those rows become before the call reads them. */
void row_refill_ints(struct row_call *c, int64_t value);
void row_refill_floats(struct row_call *c, double value);
void row_refill(struct row_call *c, int64_t value);
/* Checks that rows can be differentiated and computed where the mask leaves them out; refills them
 * if not. */
bool row_check_derivative(struct row_call *c, enum row_derivative derivative);

/* The classes of the other files; `position` is that of the rule. mask_matmul.c: */
bool row_check_matmul(struct row_call *c, uint32_t position);
/* mask_views.c: */
bool row_check_view(struct row_call *c, uint32_t position);
bool row_check_create(struct row_call *c, uint32_t position);
bool row_check_expand(struct row_call *c, uint32_t position);
bool row_check_move(struct row_call *c);
bool row_check_permute(struct row_call *c);
bool row_check_cat(struct row_call *c);
/* mask_losses.c: */
bool row_check_lookup(struct row_call *c, uint32_t position);
bool row_check_add_up(struct row_call *c, uint32_t position);
bool row_check_loss(struct row_call *c, uint32_t position);
bool row_check_loss_grad(struct row_call *c, uint32_t position);
bool row_check_labels(struct row_call *c, uint32_t position);

#endif

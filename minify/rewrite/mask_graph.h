/* Declarations that the files of the rewrite share: which nodes have rows of a mask, and the graph
 * that is made. Private to the room. */
#ifndef SYMTAPE_MINIFY_REWRITE_MASK_GRAPH_H
#define SYMTAPE_MINIFY_REWRITE_MASK_GRAPH_H

#include "minify/candidate/candidate_data.h"
#include "minify/rewrite/rewrite.h"

/* The part that a node has in the computation of a mask's rows. */
enum mask_role {
    ROLE_NONE,
    ROLE_SOURCE,   /* x[mask] */
    ROLE_INDICES,  /* nonzero() of a mask as a tuple, or one of its items */
    ROLE_ROWS,     /* a tensor of rows */
    ROLE_TUPLE,    /* several of them */
    ROLE_COUNT,    /* the number of rows */
    ROLE_NUMBER,   /* computed from it */
    ROLE_ASSERT,   /* an assert about it that always holds */
    ROLE_COUNTED,  /* a tensor without rows, computed with their number */
    ROLE_PUT_ROWS, /* y[mask] = rows */
    ROLE_PUT,      /* y[mask] = v, for a v without rows; belongs to no group */
    ROLE_REDUCE,   /* rows become one */
    ROLE_LOSS      /* the sum or mean of a loss of each element */
};

/* Whether values of that part depend on the number of rows. */
static inline bool mask_is_dependent(enum mask_role role)
{
    return role >= ROLE_SOURCE && role <= ROLE_NUMBER;
}

/* The form of a node of ROLE_INDICES: a tensor for each dimension of the mask, all of them as the
 * columns of one, or one of them. */
enum index_form { INDEX_TUPLE, INDEX_MATRIX, INDEX_VECTOR };

/* Numbers that the rows that the mask leaves out become before a call reads them. */
struct row_refill {
    bool ints, floats; /* bool counts as an integer */
    int64_t int_value;
    double float_value;
};

/* A number of which the rows are made that the mask leaves out. */
struct row_value {
    bool known;
    double value;
};

enum loss_reduction { LOSS_NONE, LOSS_MEAN, LOSS_SUM }; /* as PyTorch numbers them */

enum mask_fill { FILL_ZERO, FILL_ONE, FILL_MINUS_INF, FILL_COUNTED, FILL_NONE };

struct mask_node {
    enum mask_role role;
    node_id group; /* the first node of its group: a union-find parent; itself for a root */
    node_id mask;  /* the mask whose rows it has: the first of those with equal values */
    node_id index; /* of a call that is listed: the mask that it names */
    node_id same;  /* the first node that is computed in the same way; itself if there is none */
    struct row_value left; /* the rows that the mask leaves out */
    enum mask_fill fill;   /* of ROLE_REDUCE */
    uint32_t dim;          /* the dimension of the rows; of a put, the first that the mask has */
    expr_id unit;          /* the number of rows, as recorded */
    int64_t block;         /* how many elements of that dimension belong to one row */
    struct row_refill refill;
    uint32_t row_items; /* ROLE_TUPLE: a bit for each item that has rows */
    uint32_t ndim;      /* ROLE_TUPLE: the dimensions of the argument; items with fewer lack `below`
                           before that of the rows. ROLE_LOSS: those of the loss of each element */
    uint32_t below;
    enum loss_reduction loss;
    enum index_form form;
    uint32_t item, n_items; /* ROLE_INDICES: the first dimension of the mask, and how many */
    bool counts;            /* ROLE_ROWS: the number of rows is an operand */
    bool listed;            /* has a row in the report */
};

struct masker {
    const struct candidate *whole;
    const struct graph *graph;
    const struct rewrite_options *options;
    struct mask_node *nodes; /* by node */
    struct str *why;         /* by node that is the root of a group, or is listed: why it is kept;
                                .p NULL: it is not */
    uint32_t *written;       /* n_written storages that calls write to, sorted */
    size_t n_written;
    struct graph_replay *replay; /* a walk over the graph, for mask_known_size(); NULL */
    bool walked;                 /* it was tried */
    bool failed;                 /* out of memory */
    struct arena arena;
};

/* mask_same.c: sets `same` of each node. */
void mask_find_same(struct masker *m);
/* Returns whether a call writes to the storage of the node anywhere in the graph. */
bool mask_is_written(const struct masker *m, node_id id);
/* Returns whether rows of a call depend on the same rows only, so that it has equal results for
 * equal arguments. */
bool mask_has_rule(struct str base);

/* mask_find.c: sets the role of each node. */
void mask_find(struct masker *m);
node_id mask_root(struct masker *m, node_id id);
/* Returns why the calls of the node's group are kept; .p is NULL if they are rewritten. */
struct str mask_why(struct masker *m, node_id id);
/* Prints a reason into the arena. */
struct str mask_text(struct masker *m, const char *fmt, ...) ERR_PRINTF(2, 3);

/* An index x[mask] as the graph has it. */
struct mask_index {
    node_id x, mask; /* NODE_NONE: it is none; the first mask with the same values */
    node_id named;   /* the mask that the index has */
    uint32_t dim;    /* the dimension of x that is the first one of the mask */
    bool by_indices; /* x[nonzero(mask)] */
    const char *why; /* it has a mask and is of another form; NULL */
};
/* Reads the index of a call that reads or writes x[mask]. `aten`: None in a list of items stands
 * for a whole dimension. */
struct mask_index mask_index_of(struct masker *m, const struct arg *x, const struct arg *index,
                                bool aten);
/* Returns why a read of x[mask] cannot be rewritten, or NULL; its index has no `why`. */
const char *mask_check_source(const struct masker *m, node_id id, struct mask_index at);
/* Sets the part of a read of x[mask]. */
void mask_set_source(struct masker *m, node_id id, struct mask_index at);
/* The position of the rows' dimension from the right, which broadcasting keeps. */
uint32_t mask_rows_from_right(const struct masker *m, node_id id);
bool mask_is_setitem(const struct node *node);
/* Sets *ret to whether a write adds to what is there; returns false if no literal says so. */
bool mask_accumulates(const struct masker *m, node_id id, bool *ret);
/* mask_rows.c: decides about a call that has rows among its arguments. */
void mask_rows(struct masker *m, node_id id);
void mask_block(struct masker *m, node_id id, struct str why);
void mask_join(struct masker *m, node_id a, node_id b);

/* mask_args.c: arguments and metas. */
const struct meta *mask_tensor(const struct masker *m, node_id id); /* NULL: it is no tensor */
static inline bool mask_is_rows(const struct masker *m, node_id id)
{
    return m->nodes[id].role == ROLE_SOURCE || m->nodes[id].role == ROLE_ROWS;
}
/* The base name of a call without what makes it an in-place form: "add" of add_ and +=. */
struct str mask_base(const struct node *node);
/* The argument by its position or name; NULL: it was not passed. */
const struct arg *mask_arg(const struct masker *m, node_id id, uint32_t position, const char *name);
bool mask_int(const struct masker *m, const struct arg *arg, int64_t *ret); /* a literal */
bool mask_number(const struct arg *arg, double *ret);                       /* a literal */
bool mask_size_is(const struct masker *m, const struct meta *meta, uint32_t dim, int64_t size);
bool mask_sizes_equal(const struct masker *m, const struct meta *a, uint32_t i,
                      const struct meta *b, uint32_t j);
/* Whether a size is a multiple of the number of rows: sets the factor. */
bool mask_row_block(const struct masker *m, expr_id size, expr_id unit, int64_t *ret);
/* Whether the size contains a symbol whose value depends on data. */
bool mask_size_is_unbacked(const struct masker *m, const struct meta *meta, uint32_t dim);
/* Returns the size that the calls of the graph make a number by their guards, although it was a
 * symbol before. */
bool mask_known_size(struct masker *m, node_id id, uint32_t dim, int64_t *ret);
/* Whether two sizes are equal as recorded, or by the guards of the graph's calls. */
bool mask_same_size(struct masker *m, node_id a, uint32_t i, node_id b, uint32_t j);
void mask_end_walk(struct masker *m);
/* Whether a dtype is one of floats, and of complex numbers. */
bool mask_is_floating(enum dtype dtype);

/* Whether an argument of the call that is computed from the number of rows can be computed from a
 * tensor: it is a short sum or product. */
bool mask_can_count(const struct masker *m, node_id id, uint32_t depth);

/* mask_build.c: makes the graph with the calls rewritten. *masks (by node) is set for masks that it
 * uses. */
struct candidate *mask_build(struct masker *m, bool *masks, struct err *err);

#endif

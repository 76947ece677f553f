/* Groups of pending pointwise calls, each of which becomes one kernel. Private to this folder.
 *
 * A group consists of nodes over one space (sizes), the memory that they read and write, and
 * numbers. A call joins a group with which it shares memory, in its own sizes or others that its
 * tensors can be viewed in; otherwise it starts a group. Invariant: no group reads or writes memory
 * that another one writes, and the nodes of a group access such memory at the same elements. So
 * groups may be launched in any order, and a thread may read all its elements before it writes
 * them. A group that would violate this is launched first.
 *
 * A call that reads the result of a smaller pending group, broadcast to its own sizes, gets copies
 * of that group's nodes, so that it need not be launched first; what is freed before it would be
 * launched is not computed at all.
 *
 * A group is launched before other launches (struct cuda_pending), or when it is full. Memory that
 * was freed in the meantime is not written. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_GROUP_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_GROUP_H

#include "replay/backend/cuda/pointwise/fusion_words.h"
#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/pointwise/pointwise_ops.h"

enum {
    POINT_DIM = 12,     /* of a space, without dimensions of size 1 */
    POINT_STREAMS = 20, /* read and written */
    POINT_NODES = 40,
    POINT_SLOTS = 80,
    POINT_GROUPS = 64
};

/* The elements of a space in memory. */
struct point_view {
    uint64_t address;   /* of the first element */
    uint64_t low, high; /* the range of its bytes */
    enum dtype dtype;
    int64_t stride[POINT_DIM]; /* in elements; 0: broadcast */
};

struct point_stream {
    struct point_view view;
    bool written; /* by `writer`; otherwise read */
    bool dead;    /* written, but freed since */
    uint8_t writer;
};

enum point_operand_kind { POINT_NOTHING, POINT_STREAM, POINT_NODE, POINT_NUMBER };

/* A complex number has two slots. conj, neg: its conjugate or negative is read. */
struct point_operand {
    uint8_t kind, i;
    bool conj, neg;
};

enum { POINT_NO_SLOT = 0xff, POINT_NO_STREAM = 0xff };

struct point_node {
    uint16_t row;
    uint8_t type;   /* enum point_type: the type that it is computed in */
    uint8_t stream; /* the one that it writes; POINT_NO_STREAM: its value is not needed */
    enum dtype dtype;
    struct point_operand x[POINT_MAX_TENSORS];
    /* Slots of the row's numbers, the first of each kind; POINT_NO_SLOT: not used. */
    uint8_t reals, integers, complexes, seed, rows, columns;
    uint8_t n_numbers;
    uint16_t asks; /* enum point_asks */
    unsigned none;
    uint32_t graph_node;
};

struct fusion_group {
    uint32_t ndim;
    int64_t size[POINT_DIM], n;
    struct cuda_live live; /* the limit of elements that all its nodes have; .at 0: none */
    bool placed;           /* a node uses its element's position: the order of dimensions matters */
    uint32_t n_streams, n_nodes, n_slots;
    struct point_stream streams[POINT_STREAMS];
    struct point_node nodes[POINT_NODES];
    uint64_t slots[POINT_SLOTS]; /* numbers: i64, or the bits of f64 */
};

/* Memory that a pending group reads and that would have been freed. */
struct point_kept {
    uint64_t address, bytes;
};

struct points {
    struct cuda *cuda;
    vec_of(struct fusion_group *)
    groups; /* pending groups */
    vec_of(struct fusion_group *)
    unused;
    vec_of(struct point_kept)
    kept;
    vec_of(struct point_compiled)
    compiled;
    uint16_t asks[POINTS][3]; /* of rows' expressions by enum dense_kind; 0: not read yet */
};

/* Kernels by a hash of their text's inputs. */
struct point_compiled {
    uint64_t key;
    struct cuda_function *f;
};

static inline bool point_node_is_complex(const struct point_node *node)
{
    return point_is_complex((enum point_type)node->type);
}
/* Returns the text of its expression. */
static inline const char *point_node_text(const struct point_node *node)
{
    const struct point_row *row = &point_rows[node->row];
    return node->type == POINT_I64       ? row->integer
           : point_node_is_complex(node) ? row->complex_
                                         : row->real;
}
const char *
point_dtype_name(enum dtype dtype); /* in texts: also c64. NULL: texts do not support it */

/* --- fusion_group.c --- */

struct points *points_of(struct cuda *cuda); /* NULL: out of memory */

/* A node that joins; its views have the call's own sizes. */
struct point_candidate {
    struct point_node node; /* without operands, stream and slots */
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], n;
    uint32_t n_views;
    struct point_view views[POINT_MAX_TENSORS]; /* of operands */
    int8_t view_of[POINT_MAX_TENSORS]; /* the view of operand i; -1: it is a number or absent */
    int64_t view_stride[POINT_MAX_TENSORS][TENSOR_MAX_DIM];
    uint8_t copied[POINT_MAX_TENSORS]; /* by view: 1 + the node of the group that computes it; 0:
                                          it is read */
    struct point_view to;
    int64_t to_stride[TENSOR_MAX_DIM];
    uint64_t numbers[32]; /* for its slots; operands that are numbers are first */
    uint32_t n_numbers;
    struct cuda_live live;
    bool placed;
};

bool point_join(struct points *points, struct point_candidate *joining, struct err *err);
/* Copies the numbers of a node to the slots of another group. */
void point_copy_numbers(const struct fusion_group *from, struct fusion_group *to,
                        struct point_node *node);
bool points_flush(struct points *points, struct err *err);

/* --- fusion_launch.c --- */

/* Launches the nodes whose results are needed. */
bool fusion_launch(struct points *points, struct fusion_group *group, struct err *err);

/* --- fusion_transpose.c --- */

/* Returns whether the group is a copy that is faster in tiles, since adjacent elements are read
 * along one dimension and written along another. Its dimensions must be in the order of the written
 * memory. */
bool fusion_transposes(const struct fusion_group *group);
bool fusion_launch_transposed(struct points *points, const struct fusion_group *group, bool wide,
                              struct cuda_work work, struct err *err);

/* --- fusion_text.c --- */

/* How a kernel iterates over its space. */
struct point_plan {
    uint32_t ndim;   /* 1 if flat, otherwise strided */
    bool flat, wide; /* flat: elements in memory's order; wide: 64-bit indices */
    bool far;        /* the number of elements exceeds 32 bits */
    uint32_t width;  /* elements of a chunk, which are read and written at once */
    uint32_t unroll; /* chunks in flight */
    bool live;       /* the last two arguments are a struct live_count of chunks or elements */
    /* Of each stream: 'v' contiguous, 'b' one element for a chunk, 's' one for all, 'g' any
     * stride. */
    char classes[POINT_STREAMS];
};
/* Writes the kernel of a group without dead streams. Its struct of arguments has 8 bytes for each
 * of: n, the streams' addresses, the slots; if strided: sizes of all dimensions (each with a
 * multiplier and a shift, if not wide), then the strides of each stream that is not 's'. n is the
 * number of elements; if strided: of chunks. */
void point_write_text(struct buf *out, const struct fusion_group *group,
                      const struct point_plan *plan, const char *name);

#endif

/* Pointwise calls that wait to be one kernel. Private to this folder.
 *
 * A group is nodes over one space (sizes), the memory that they read and write, and plain numbers.
 * A call joins a group that it shares memory with, in its own sizes or others that its tensors can
 * be viewed in; otherwise it starts one. Invariant: no group reads or writes what another one
 * writes, and inside one such memory is met at the same elements, so that groups may be launched in
 * any order and a thread that reads all its elements before it writes them does right. What would
 * break that launches first.
 *
 * A group is launched when something else is (struct cuda_held), or when it is full. What was given
 * back in the meantime is not written. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_GROUP_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_GROUP_H

#include "replay/backend/cuda/pointwise/fusion_words.h"
#include "replay/backend/cuda/runtime/cuda.h"
#include "replay/backend/pointwise/pointwise_ops.h"

enum {
    POINT_DIM = 12,     /* of a space, without sizes of 1 */
    POINT_STREAMS = 20, /* read and written */
    POINT_NODES = 40,
    POINT_SLOTS = 80,
    POINT_GROUPS = 64
};

/* Elements of a space in memory. */
struct point_view {
    uint64_t address;   /* of the first */
    uint64_t low, high; /* bytes from and to which it reaches */
    enum dtype dtype;
    int64_t stride[POINT_DIM]; /* in elements; 0: broadcast */
};

struct point_stream {
    struct point_view view;
    bool written; /* by `writer`; otherwise read */
    bool dead;    /* written, but nobody can see it any more */
    uint8_t writer;
};

enum point_operand_kind { POINT_NOTHING, POINT_STREAM, POINT_NODE, POINT_NUMBER };

/* A complex number has two slots. conj, neg: it is read as its conjugate, its negative. */
struct point_operand {
    uint8_t kind, i;
    bool conj, neg;
};

enum { POINT_NO_SLOT = 0xff, POINT_NO_STREAM = 0xff };

struct point_node {
    uint16_t row;
    uint8_t type;   /* enum point_type: what it is computed in */
    uint8_t stream; /* that it writes; POINT_NO_STREAM: nobody sees it */
    enum dtype dtype;
    struct point_operand x[POINT_MAX_TENSORS];
    /* Slots: of the row's numbers the first; POINT_NO_SLOT: not asked for. */
    uint8_t reals, integers, complexes, seed, rows, columns;
    uint8_t n_numbers;
    uint16_t asks; /* enum point_asks */
    unsigned none;
    uint32_t graph_node;
};

struct fusion_group {
    uint32_t ndim;
    int64_t size[POINT_DIM], n;
    bool placed; /* a node asks for its element's place: the order of dimensions counts */
    uint32_t n_streams, n_nodes, n_slots;
    struct point_stream streams[POINT_STREAMS];
    struct point_node nodes[POINT_NODES];
    uint64_t slots[POINT_SLOTS]; /* numbers: i64, or the bits of f64 */
};

/* What is read by a group that waits, and would have been given back. */
struct point_kept {
    uint64_t address, bytes;
};

struct points {
    struct cuda *cuda;
    vec_of(struct fusion_group *)
    groups; /* that wait */
    vec_of(struct fusion_group *)
    unused;
    vec_of(struct point_kept)
    kept;
    vec_of(struct point_compiled)
    compiled;
    uint16_t asks[POINTS][3]; /* of rows' expressions by enum dense_kind; 0: not read yet */
};

/* Kernels by what they were made of. */
struct point_compiled {
    uint64_t key;
    struct cuda_function *f;
};

static inline bool point_node_is_complex(const struct point_node *node)
{
    return point_is_complex((enum point_type)node->type);
}
/* What it computes. */
static inline const char *point_node_text(const struct point_node *node)
{
    const struct point_row *row = &point_rows[node->row];
    return node->type == POINT_I64       ? row->integer
           : point_node_is_complex(node) ? row->complex_
                                         : row->real;
}
const char *point_dtype_name(enum dtype dtype); /* of the texts: c64, too. NULL: they have none */

/* --- fusion_group.c --- */

struct points *points_of(struct cuda *cuda); /* NULL: no memory */

/* A node as it joins: views in the call's own sizes. */
struct point_joining {
    struct point_node node; /* without operands, stream and slots */
    uint32_t ndim;
    int64_t size[TENSOR_MAX_DIM], n;
    uint32_t n_views;
    struct point_view views[POINT_MAX_TENSORS]; /* of operands */
    int8_t view_of[POINT_MAX_TENSORS];          /* of operand i; -1: a number or nothing */
    int64_t view_stride[POINT_MAX_TENSORS][TENSOR_MAX_DIM];
    struct point_view to;
    int64_t to_stride[TENSOR_MAX_DIM];
    uint64_t numbers[32]; /* slots that it needs; operands that are numbers first */
    uint32_t n_numbers;
    bool placed;
};

bool point_join(struct points *points, struct point_joining *joining, struct err *err);
bool points_flush(struct points *points, struct err *err);

/* --- fusion_launch.c --- */

/* Launches what of it is alive. */
bool fusion_launch(struct points *points, struct fusion_group *group, struct err *err);

/* --- fusion_transpose.c --- */

/* Is it a copy that is best made by tiles, being read along one dimension and written along
 * another? Its dimensions are in the order of what is written. */
bool fusion_transposes(const struct fusion_group *group);
bool fusion_launch_transposed(struct points *points, const struct fusion_group *group, bool wide,
                              struct cuda_work work, struct err *err);

/* --- fusion_text.c --- */

/* How a kernel goes through its space. */
struct point_plan {
    uint32_t ndim;   /* 1 and flat, or strided */
    bool flat, wide; /* elements in memory's order; 64-bit indices */
    bool far;        /* there are more elements than 32-bit numbers */
    uint32_t width;  /* elements a chunk, read and written at once */
    uint32_t unroll; /* chunks in flight */
    /* Of each stream: 'v' along the elements, 'b' one for a chunk, 's' one for all, 'g' any stride
     */
    char classes[POINT_STREAMS];
};
/* The kernel of a group that has nothing dead. Its struct of arguments has 8 bytes for each: n, the
 * streams' addresses, the slots; strided: sizes of all dimensions (each with a multiplier and a
 * shift, not wide), then the strides of each stream that is no 's'. n is elements; strided: chunks.
 */
void point_write_text(struct buf *out, const struct fusion_group *group,
                      const struct point_plan *plan, const char *name);

#endif

/* Matmuls of cuBLASLt as nodes of batches (replay/backend/cuda/runtime/batches.c).
 *
 * cublasLtMatmul takes 12 to 14 us of the host on an H200, a kernel's node at most 3
 * (tests/device/results/backend.md, E11). So the kernels of a plan are captured once: the stream
 * captures a call, and their functions, grids and arguments are read from the graph. The plan's
 * other matmuls, which have other operands, launch kernels with the same arguments in which the
 * addresses of operands are replaced. A memset that cuBLASLt launches before them, of a few
 * counters or of the result, becomes a kernel of ours that fills the same range. Nothing is
 * launched so if the graph has other nodes than a few kernels and memsets one after the other, or
 * if launches have attributes that a node does not repeat: clusters and cooperative launches.
 *
 * Where the addresses are is found by their values, and is verified: before nodes with another
 * address of an operand are launched, the matmul was captured with two addresses of that operand,
 * and replacing one by the other gave the same bytes. This holds for all plans with the same
 * functions whose arguments have the addresses at the same places. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PRODUCT_NODES_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_LIBRARIES_PRODUCT_NODES_H

#include "replay/backend/cuda/runtime/cuda.h"

/* The operands of a matmul: a, b, c, the bias, the workspace. */
enum { PRODUCT_OPERANDS = 5, PRODUCT_WORKSPACE = 4 };
struct product_operands {
    uint64_t address[PRODUCT_OPERANDS]; /* 0: none */
    size_t workspace_bytes;
    double alpha, beta;
};

/* A launch that stands for one of cuBLASLt's, with its arguments. */
enum { CAPTURED_NODES = 3, CAPTURED_BYTES = 1024 };
struct captured_node {
    struct cuda_node node; /* without `arguments` */
    unsigned char arguments[CAPTURED_BYTES];
};

struct product_layout;
struct product_layouts {
    vec_of(struct product_layout *)
    all;
};

/* The nodes of a plan, as they were captured last. */
struct product_nodes {
    uint32_t n; /* 0: not captured */
    bool refused;
    /* The captured graph had other nodes than kernels and memsets that can be repeated, and so have
     * other graphs of the algorithm. */
    bool other_nodes;
    struct product_operands operands;
    struct product_layout *layout; /* NULL: addresses cannot be replaced */
    struct captured_node *nodes;   /* CAPTURED_NODES; owned */
};

/* Returns whether launches of cuBLASLt can be nodes now. */
bool product_nodes_work(const struct kernel *k);
/* Adds the matmul to the batch; `run` calls cuBLASLt for it, on the backend's stream. False with
 * k->failed unset: it must be launched by cuBLASLt. */
bool product_nodes_launch(struct kernel *k, struct product_layouts *layouts,
                          struct product_nodes *plan, const struct product_operands *operands,
                          bool (*run)(void *user), void *user);
void product_nodes_release(struct product_nodes *plan);
void product_layouts_release(struct product_layouts *layouts);

#endif

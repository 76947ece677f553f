/* Products of cuBLASLt as they are captured on a stream (product.c), for E4 (graft.c). */
#ifndef SYMTAPE_TESTS_DEVICE_LAB_GRAFT_H
#define SYMTAPE_TESTS_DEVICE_LAB_GRAFT_H

#include "replay/backend/cuda/libraries/cublaslt_abi.h"
#include "tests/device/lab/lab.h"

enum { NODES_MAX = 8, CHOICES_MAX = 8, NAMES_MAX = 64, ROOM = 32 << 20 };

enum { MS = 14 };
extern const uint32_t graft_m[MS];

struct kind {
    const char *name;
    int type;
    uint32_t inner, columns;
    size_t element;
};

/* A product as it was captured. */
struct grabbed {
    cu_graph graph;
    size_t n;
    cu_node nodes[NODES_MAX];
    int types[NODES_MAX];
    struct cu_kernel_node params[NODES_MAX]; /* point into the graph */
    union cu_attribute cluster[NODES_MAX];
};

struct product {
    uint32_t m;
    void *op, *a, *b, *c;
    struct cublaslt_choice choices[CHOICES_MAX];
    int found;
    double heuristic_us, capture_us;
    struct grabbed grabbed;
    void *expected; /* what it gives on a stream */
};

struct graft {
    struct lab *lab;
    struct cuda_library library;
    struct cublaslt_table lt;
    void *handle, *preference;
    const struct kind *kind;
    uint64_t a, b, c, room;
    void *got;
    struct product products[MS];
    cu_graph first_graph; /* of one kernel node, that of the first M with one */
    cu_node first_node;
    cu_exec first_exec;
    const struct product *first;
    const char *names[NAMES_MAX]; /* of functions; the driver's */
    size_t n_names;
};

/* The library and its workspace; then the matrices of g->kind, for all M. What they took is the
 * caller's to give back, also when they fail. */
bool graft_open_library(struct graft *g, struct err *err);
bool graft_take_matrices(struct graft *g, struct err *err);

/* c = a b: what the heuristic takes for it, and what it gives on a stream. */
bool graft_make_product(struct graft *g, uint32_t m, struct product *p, struct err *err);
bool graft_run_directly(struct graft *g, struct product *p, struct err *err);
void graft_release_product(struct graft *g, struct product *p);

/* The result becomes bytes that no product gives; then it is read. */
size_t graft_result_bytes(const struct graft *g, const struct product *p);
bool graft_spoil_result(struct graft *g, const struct product *p, struct err *err);
bool graft_read_result(struct graft *g, const struct product *p, void *to, struct err *err);

/* The product by that choice, captured; ret->graph is the caller's. */
bool graft_grab(struct graft *g, const struct product *p, int choice, struct grabbed *ret,
                struct err *err);

#endif

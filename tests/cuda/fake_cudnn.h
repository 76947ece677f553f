/* What the files of the fake libcudnn share: descriptors as they were set. */
#ifndef SYMTAPE_TESTS_CUDA_FAKE_CUDNN_H
#define SYMTAPE_TESTS_CUDA_FAKE_CUDNN_H

#include <stdint.h>

#define LIBRARY "cudnn"
#define MOOD    "FAKE_CUDNN"
#include "tests/cuda/fake_library.h"

#include "replay/backend/cuda/libraries/cudnn_abi.h"
#include "replay/backend/values/elements.h"

enum { MOST_ATTRIBUTES = 8, MOST_VALUES = 32 };

struct attribute {
    int name, type;
    int64_t n;
    union {
        int64_t i[MOST_VALUES];
        double d[MOST_VALUES];
        void *p[MOST_VALUES];
    } u;
};

struct object {
    int kind, finished, n, engine; /* engine: of one, or of a configuration */
    struct attribute attributes[MOST_ATTRIBUTES];
    bool conv;                  /* of a plan: of one convolution */
    const struct object *graph; /* of what is made of one */
    void *stream;               /* of a handle; of a plan, what it keeps of its graph */
    struct object *left;        /* made before it, in the mood "left" */
};

struct object *as(const void *p, int kind);
const struct attribute *find(const struct object *x, int name);
bool has(const struct object *x, int name);
int64_t integer(const struct object *x, int name, int i);
struct object *object(const struct object *x, int name, int kind); /* that is finished */
void expect(const struct object *x, int name, int type, int64_t n);
enum dtype dtype_of_type(int64_t type);
/* Of the tensor's id; NULL: it has none. */
void *pointer_of(const struct object *pack, int64_t id);

/* --- fake_cudnn_conv.c --- */

int first_of(const struct object *x); /* the first attribute of a convolution's operation */
void check_convolution(const struct object *x);
void check_conv_operation(const struct object *x);
void *keep_conv(const struct object *operation);
/* tf32: factors are rounded to its 10 bits. */
void run_conv(const void *kept, const struct object *pack, bool tf32);

/* --- fake_cudnn_graph.c --- */

void check_graph_operation(const struct object *x);
/* Is the graph one of attention that the library knows? Sizes that it does not take: false. */
bool check_attention(const struct object *graph);
void *keep_graph(const struct object *graph);
void run_graph(const void *kept, const struct object *pack);
void drop_graph(void *kept);

#endif

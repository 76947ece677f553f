/* The values of a call as a backend gets them: numbers, tensors whose sizes are numbers, and lists.
 *
 * Rules (replay/ops) compute with symbols. The caller of a backend converts them to numbers once
 * (replay/backend/run/concrete.h), so that no backend and no kernel deals with expressions.
 *
 * Metas are shared: tensors of one run with equal metas point to the same one, which lives as long
 * as the run's struct exec. Items of lists, also those of a result of run_op(), live until the call
 * of the backend returns. */
#ifndef SYMTAPE_REPLAY_BACKEND_CALL_KERNEL_VALUE_H
#define SYMTAPE_REPLAY_BACKEND_CALL_KERNEL_VALUE_H

#include "trace/graph/dtype.h"

/* A size that the device knows, and the host does not: times * the number in that slot
 * (struct backend_kind's `count`). */
struct kernel_extent {
    bool is;
    uint32_t dim, slot;
    int64_t times;
};

struct kernel_meta {
    enum dtype dtype;
    struct kernel_extent extent;  /* of one dimension, whose `size` is the greatest possible one */
    bool conj, neg;               /* the memory contains the conjugate, or the negative */
    bool countable;               /* `bytes` is known; false: more than 2^63, or a size below 0 */
    bool addressable;             /* `reach` is known; false: no strides, or one is below 0 */
    uint32_t ndim;                /* at most TENSOR_MAX_DIM */
    const int64_t *size, *stride; /* in elements; stride is NULL if there are none */
    int64_t offset;               /* elements from the start of the storage */
    size_t bytes;                 /* of all elements */
    size_t reach;       /* bytes from the start of the storage to the end of the last element */
    const void *origin; /* the caller's meta; backends do not look into it */
};

struct kernel_tensor {
    const struct kernel_meta *meta; /* NULL: None, if Tensor? is allowed */
    uint32_t storage;               /* its number (storages.h); equal numbers share memory */
    /* The elements that the operator's rule was given (struct tensor in
     * replay/ops/dispatch/value.h). A kernel passes this on to the operators that it calls. */
    bool counted;
    const unsigned char *data;
};

enum kernel_value_kind {
    KERNEL_NONE, /* None, and an optional argument that was not given */
    KERNEL_TENSOR,
    KERNEL_INT,
    KERNEL_FLOAT,
    KERNEL_BOOL,
    KERNEL_COMPLEX,
    KERNEL_STRING,
    KERNEL_DTYPE,
    KERNEL_LIST,
    KERNEL_TUPLE,
    KERNEL_OTHER /* devices, layouts ...: backends can only pass them on */
};

struct kernel_value {
    enum kernel_value_kind kind;
    uint32_t n; /* items */
    union {
        struct kernel_tensor tensor;
        struct {
            double real;     /* of an int, float or bool */
            int64_t integer; /* of an int or bool */
            bool on_device;  /* it is the greatest value of a size that only the device knows */
            bool fits;       /* false: an int of more than 64 bits; only `real` has its value */
        } number;
        struct {
            double re, im;
        } complex;
        struct str text;
        enum dtype dtype;
        const struct kernel_value *items;
        const void *other; /* the caller's own value */
    } u;
};

static inline struct kernel_value value_of_none(void)
{
    return (struct kernel_value){ .kind = KERNEL_NONE };
}
static inline struct kernel_value value_of_tensor(struct kernel_tensor x)
{
    return x.meta ? (struct kernel_value){ .kind = KERNEL_TENSOR, .u.tensor = x } : value_of_none();
}
static inline struct kernel_value value_of_int(int64_t n)
{
    return (struct kernel_value){ .kind = KERNEL_INT,
                                  .u.number = { .real = (double)n, .integer = n, .fits = true } };
}
static inline struct kernel_value value_of_float(double x)
{
    return (struct kernel_value){ .kind = KERNEL_FLOAT, .u.number.real = x };
}
static inline struct kernel_value value_of_bool(bool yes)
{
    return (struct kernel_value){ .kind = KERNEL_BOOL,
                                  .u.number = { .real = yes, .integer = yes, .fits = true } };
}
static inline struct kernel_value value_of_items(enum kernel_value_kind kind,
                                                 const struct kernel_value *items, uint32_t n)
{
    return (struct kernel_value){ .kind = kind, .n = n, .u.items = items };
}

static inline bool value_has_items(struct kernel_value value)
{
    return value.kind == KERNEL_LIST || value.kind == KERNEL_TUPLE;
}
static inline bool value_has_number(struct kernel_value value)
{
    return value.kind == KERNEL_INT || value.kind == KERNEL_FLOAT || value.kind == KERNEL_BOOL;
}

#endif

/* Calls of pointwise operators on any backend: the rows of pointwise.def, the values of a call for
 * their expressions, and the functions that these use. */
#ifndef SYMTAPE_REPLAY_BACKEND_POINTWISE_POINTWISE_OPS_H
#define SYMTAPE_REPLAY_BACKEND_POINTWISE_POINTWISE_OPS_H

#include <math.h>

#include "replay/backend/call/kernel.h"

#define PI 3.14159265358979323846264338327950288

enum { POINT_MAX_TENSORS = 4, POINT_MAX_NUMBERS = 4 };

/* The rows of pointwise.def by number. */
enum {
#define POINT(base, kinds, tensors, numbers, real, integer, complex_) POINT_##base,
#include "replay/backend/pointwise/pointwise.def"
#undef POINT
    POINTS
};

struct point_row {
    const char *base, *kinds, *tensors, *numbers;
    const char *real, *integer, *complex_; /* the texts of the expressions */
};
extern const struct point_row point_rows[POINTS];

/* The numbers that an expression uses besides the tensors' values. */
struct point_numbers {
    double p[POINT_MAX_NUMBERS];
    int64_t n[POINT_MAX_NUMBERS];
    cdouble c[POINT_MAX_NUMBERS];
    unsigned none;
    int bits;
    double most;
    int64_t at, rows, columns;
    uint64_t seed;
};

struct point_call {
    const struct point_row *row;
    struct kernel_tensor to;
    struct kernel_value values[POINT_MAX_TENSORS]; /* x y z w: tensors and numbers */
    uint32_t n_values, n_numbers;
    struct point_numbers numbers;
    enum dense_kind kind; /* the kind that it computes in, which the row has */
};
/* Prepares the kernel's call for that row, with the result `to`. */
void point_call_of(struct kernel *k, int row, struct kernel_tensor to, struct point_call *ret);

/* The functions for float64. */
#define real                                  double
#define FUNCTION(type, name, parameters, ...) static inline type name parameters __VA_ARGS__
#include "replay/backend/pointwise/pointwise_functions.def"
#undef FUNCTION
#undef real

#endif

/* The comparison of two results: the largest difference, the first one beyond the tolerance, and
 * how many there are. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_VALUES_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_VALUES_H

#include "replay/backend/values/array.h"
#include "trace/base/buf.h"

/* |got - expected| <= absolute + relative * |expected|. */
struct tolerance {
    double relative, absolute;
};
/* Returns the tolerances that torch.testing.assert_close() has for the dtype. Integers and bool are
 * exact. */
struct tolerance tolerance_of(enum dtype dtype);

/* A place at which one side is NaN or infinite and the other is not. */
struct odd_place {
    uint64_t at; /* in contiguous order */
    bool nan;    /* else an infinity */
    bool in_got; /* else in the expected value */
};
enum { ODD_PLACES = 4 };

enum { SHAPE_SIZES = 8 };
struct array_shape {
    enum dtype dtype;
    uint32_t ndim;
    int64_t size[SHAPE_SIZES]; /* the first sizes */
};
void array_shape_print(const struct array_shape *shape, struct buf *out); /* "f32[4, 16]" */

struct difference {
    bool comparable; /* dtypes and sizes are equal; otherwise only the shapes are set */
    bool has_shapes;
    struct array_shape expected_shape, got_shape;
    uint64_t elements, bad; /* elements, and those beyond the tolerance */
    uint64_t first_bad;     /* in contiguous order */
    double expected, got;   /* at first_bad; real parts */
    double max_absolute, max_relative;
    uint64_t max_ulps;                /* of floats, in steps of their dtype */
    uint64_t nans, infs;              /* places at which only one side has NaN or infinity */
    uint64_t both_nan;                /* places at which both have NaN, which counts as equal */
    struct odd_place odd[ODD_PLACES]; /* the first such places */
    uint32_t n_odd;
};
struct difference compare_arrays(const struct array *expected, const struct array *got,
                                 struct tolerance tolerance);

/* Returns whether both sides are NaN everywhere: they agree, and the comparison is void. */
static inline bool difference_is_void(const struct difference *d)
{
    return d->comparable && d->elements && d->both_nan == d->elements;
}

/* Returns whether the values are the same in each place. */
static inline bool difference_is_none(const struct difference *d)
{
    return d->comparable && !d->bad && d->max_absolute == 0;
}

#endif

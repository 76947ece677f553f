/* Two results side by side: how far apart, where first, and whether that is more than rounding. */
#ifndef SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_VALUES_H
#define SYMTAPE_REPLAY_BACKEND_COMPARE_COMPARE_VALUES_H

#include "replay/backend/values/array.h"
#include "trace/base/buf.h"

/* |got - expected| <= absolute + relative * |expected|. */
struct tolerance {
    double relative, absolute;
};
/* torch.testing.assert_close()'s for the dtype. Integers and bool are exact. */
struct tolerance tolerance_of(enum dtype dtype);

/* Where one side is not a number, or infinite, and the other is not. */
struct odd_place {
    uint64_t at; /* in contiguous order */
    bool nan;    /* else an infinity */
    bool in_got; /* else in what was expected */
};
enum { ODD_PLACES = 4 };

enum { SHAPE_SIZES = 8 };
struct array_shape {
    enum dtype dtype;
    uint32_t ndim;
    int64_t size[SHAPE_SIZES]; /* the first of them */
};
void array_shape_print(const struct array_shape *shape, struct buf *out); /* "f32[4, 16]" */

struct difference {
    bool comparable; /* dtypes and sizes agree; nothing but the shapes is set where they do not */
    bool has_shapes;
    struct array_shape expected_shape, got_shape;
    uint64_t elements, bad; /* beyond the tolerance */
    uint64_t first_bad;     /* in contiguous order */
    double expected, got;   /* there; real parts */
    double max_absolute, max_relative;
    uint64_t max_ulps;                /* of floats, in steps of their dtype */
    uint64_t nans, infs;              /* places where only one side has it */
    uint64_t both_nan;                /* where both have NaN, which is held to be the same */
    struct odd_place odd[ODD_PLACES]; /* the first of these */
    uint32_t n_odd;
};
struct difference compare_arrays(const struct array *expected, const struct array *got,
                                 struct tolerance tolerance);

/* Nothing but NaN on both sides: it agrees, and says nothing. */
static inline bool difference_is_void(const struct difference *d)
{
    return d->comparable && d->elements && d->both_nan == d->elements;
}

/* The same value in each place: nothing at all was rounded otherwise. */
static inline bool difference_is_none(const struct difference *d)
{
    return d->comparable && !d->bad && d->max_absolute == 0;
}

#endif

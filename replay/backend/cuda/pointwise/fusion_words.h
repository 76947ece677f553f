/* Translates expressions of pointwise.def and the functions that they use to texts for the device.
 * In float32, functions of C's library, literals and functions of `real` become those of float32:
 * nothing is computed in float64, as in PyTorch's kernels. Private to this folder. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_WORDS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_WORDS_H

#include "trace/base/buf.h"

/* The types that values are computed in. */
enum point_type { POINT_F32, POINT_F64, POINT_I64, POINT_C64, POINT_C128 };
const char *point_type_name(enum point_type type);
bool point_is_complex(enum point_type type);
/* Returns the type of a complex number's parts; integers that are mixed with reals are computed in
 * float64. */
enum point_type point_real_type(enum point_type type);

/* The functions that texts use, by their numbers in
 * replay/backend/pointwise/pointwise_functions.def and by type. */
struct point_functions_used {
    uint64_t by_type[3];
    bool trigonometry; /* device/trigonometry.h */
};

/* Writes the expression in that type and adds the functions that it uses. False: the device lacks a
 * function. */
bool point_translate(struct buf *out, const char *expression, enum point_type type,
                     struct point_functions_used *used);
bool point_can_translate(const char *expression);
/* Returns whether the expression contains that variable. */
bool point_mentions(const char *expression, const char *name);
/* The values that an expression uses, as bits. */
enum point_asks {
    POINT_ASKS_KNOWN = 1, /* it was read */
    POINT_TRANSLATES = 2,
    POINT_ASKS_REALS = 4,    /* p, q */
    POINT_ASKS_INTEGERS = 8, /* n */
    POINT_ASKS_SEED = 16,
    POINT_ASKS_ROWS = 32,
    POINT_ASKS_COLUMNS = 64,
    POINT_ASKS_PLACE = 128,    /* at */
    POINT_ASKS_COMPLEXES = 256 /* c */
};
unsigned point_asks(const char *expression);
/* Writes the definitions of all used functions, each after those that it uses. */
void point_write_functions(struct buf *out, struct point_functions_used used);

#endif

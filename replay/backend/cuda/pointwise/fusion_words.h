/* Expressions of pointwise.def and the functions they use, as texts for the device. In float32,
 * names of C's library, literals and functions of `real` become those of float32: no value is
 * computed in float64 on the way, as in PyTorch's kernels. Private to this folder. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_WORDS_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_POINTWISE_FUSION_WORDS_H

#include "trace/base/buf.h"

/* What values are computed in. */
enum point_type { POINT_F32, POINT_F64, POINT_I64, POINT_C64, POINT_C128 };
const char *point_type_name(enum point_type type);
bool point_is_complex(enum point_type type);
/* Of a complex number's parts; integers are computed with reals in float64, where they are mixed.
 */
enum point_type point_real_type(enum point_type type);

/* Functions that texts use, by their numbers in replay/backend/pointwise/pointwise_functions.def,
 * by type. */
struct point_functions_used {
    uint64_t by_type[3];
};

/* The expression in that type; what it uses is added. False: it uses a function that the device
 * does not have. */
bool point_translate(struct buf *out, const char *expression, enum point_type type,
                     struct point_functions_used *used);
bool point_can_translate(const char *expression);
/* Does the expression name that variable? */
bool point_mentions(const char *expression, const char *name);
/* What an expression asks for, by bits; found out by reading it. */
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
/* Definitions of all that is used, each behind what it uses. */
void point_write_functions(struct buf *out, struct point_functions_used used);

#endif

/* Functions by the type of the computation: OF(EXP, x) is expf or exp, depending on the define
 * ACC. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_MATH_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_MATH_H

#include "replay/backend/cuda/device/prologue.h"

#ifdef KERNEL
#define OF(name, ...)     CAT(CAT(name, _), ACC)(__VA_ARGS__)
#define EXP_f32(x)        expf(x)
#define EXP_f64(x)        exp(x)
#define LOG_f32(x)        logf(x)
#define LOG_f64(x)        log(x)
#define LOG1P_f32(x)      log1pf(x)
#define LOG1P_f64(x)      log1p(x)
#define SQRT_f32(x)       sqrtf(x)
#define SQRT_f64(x)       sqrt(x)
#define POW_f32(x, y)     powf(x, y)
#define POW_f64(x, y)     pow(x, y)
#define XOR_LANE(v, mask) CAT(SHUFFLE_XOR_, ACC)(v, mask)
#define LEAST             CAT(LEAST_, ACC)
#define LEAST_f32         (-INFINITY)
#define LEAST_f64         (-(f64)INFINITY)
#define LEAST_i64         I64_MIN
#define GREATEST          CAT(GREATEST_, ACC)
#define GREATEST_f32      INFINITY
#define GREATEST_f64      ((f64)INFINITY)
#define GREATEST_i64      I64_MAX

#define IS_NAN(x) ((x) != (x))
#define ABS(x)    ((x) < 0 ? -(x) : (x))
/* Returns NaN if one of them is NaN. */
#define GREATER_OF(p, q) (IS_NAN(p) || (p) > (q) ? (p) : (q))
#define LESS_OF(p, q)    (IS_NAN(p) || (p) < (q) ? (p) : (q))
#define SUM_OF(p, q)     ((p) + (q))
#endif

#endif

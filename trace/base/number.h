/* Functions of numbers that several rooms need. */
#ifndef SYMTAPE_TRACE_BASE_NUMBER_H
#define SYMTAPE_TRACE_BASE_NUMBER_H

#include <stdint.h>

/* Python's a // b. b is not 0, and not -1 with the least integer. */
static inline int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

/* Python's a % b, which has the sign of b. */
static inline int64_t floor_mod(int64_t a, int64_t b)
{
    int64_t r = a % b;
    return r && (r < 0) != (b < 0) ? r + b : r;
}

/* The least integer that is not below a / b. */
static inline int64_t ceil_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return q + (a % b != 0 && (a < 0) == (b < 0));
}

/* The greatest common divisor, which is not negative. */
static inline int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

/* The number of binary digits; 0 has none. */
static inline unsigned bit_width(uint64_t n)
{
    return n ? 64 - (unsigned)__builtin_clzll(n) : 0;
}

/* Returns the value, or the greatest int64_t if it is above. */
static inline int64_t i64_saturated(uint64_t n)
{
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

/* For qsort() and bsearch(), in ascending order. */
static inline int compare_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static inline int compare_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

#endif

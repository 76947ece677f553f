#include "replay/backend/run/inputs/random_values.h"

#include <math.h>

#include "replay/backend/run/exec.h"
#include "replay/backend/values/elements.h"
#include "trace/base/parallel.h"

uint64_t random_mixed(uint64_t z)
{
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* Returns a number of a nearly normal distribution of variance 1: the sum of four uniform values of
 * 16 bits. */
static double normal(uint64_t bits)
{
    uint64_t pairs = (bits & 0xffff0000ffffu) + (bits >> 16 & 0xffff0000ffffu);
    uint64_t sum = (pairs & 0xffffffffu) + (pairs >> 32);
    return ((double)(int64_t)sum / 65536 - 2) * 1.7320508075688772;
}

/* ---- Real numbers ---- */

/* A number is offset + scale * x, of a normal x, or of |x|. */
struct shape {
    double offset, scale;
    bool absolute;
};

static struct shape shape_of(struct input_need need)
{
    switch (need.kind) {
    case NEED_SMALL: return (struct shape){ 0, 0.1, false };
    case NEED_FACTOR: return (struct shape){ 1, 0.1, false };
    case NEED_TERMS:
        return (struct shape){ 0, need.number > 1 ? 1 / sqrt((double)need.number) : 1, false };
    case NEED_FRACTION: return (struct shape){ 0.1, 0.2, true };
    case NEED_LOGARITHM: return (struct shape){ -0.5, -1, true };
    case NEED_POSITIVE: return (struct shape){ 0.5, 1, true };
    default: return (struct shape){ 0, 1, false };
    }
}

static double shaped(struct shape shape, double x)
{
    return shape.offset + shape.scale * (shape.absolute ? fabs(x) : x);
}

enum { PART = 1 << 18 }; /* numbers that a thread writes at a time */

static void fill_part(void *user, size_t part)
{
    const struct random_values *to = user;
    struct shape shape = shape_of(to->need);
    float *reals = to->p;
    size_t begin = part * PART, end = to->n - begin < PART ? to->n : begin + PART;
    for (size_t i = begin; i < end && to->dtype == DTYPE_F32;
         i++) /* a loop of its own, since most inputs are f32 and large */
        reals[i] = (float)shaped(shape, normal(random_mixed(to->seed + i)));
    for (size_t i = begin; i < end && to->dtype != DTYPE_F32; i++)
        store_complex(to->dtype, to->p, (int64_t)i,
                      shaped(shape, normal(random_mixed(to->seed + i))));
}

/* Each number depends on its place only. */
static void fill_normal(const struct random_values *to)
{
    struct random_values all = *to;
    parallel_for((to->n + PART - 1) / PART, to->threads ? to->threads : parallel_processors(),
                 fill_part, &all);
}

/* ---- Integers, and reals that are used like them ---- */

/* Writes 0 and 1, or 1 and 2 if they must be positive. The first two of a row differ, so that no
 * row of a mask forbids everything. */
static void fill_bits(const struct random_values *to)
{
    bool positive = to->need.kind == NEED_POSITIVE && to->dtype != DTYPE_B8;
    for (size_t i = 0; i < to->n; i++) {
        size_t at = i % to->row;
        bool bit = random_mixed(to->seed + i) >> 63;
        if (to->row > 2 && at < 2)
            bit = at == 0;
        store_int(to->dtype, to->p, (int64_t)i, bit + positive);
    }
}

static void put(const struct random_values *to, size_t i, int64_t number)
{
    if (dense_kind_of(to->dtype) == DENSE_INT)
        store_int(to->dtype, to->p, (int64_t)i, number);
    else
        store_complex(to->dtype, to->p, (int64_t)i, (double)number);
}

/* Returns the greatest number of the dtype that an index may be. */
static int64_t greatest(enum dtype dtype)
{
    size_t bits = 8 * dtype_size(dtype);
    return bits < 64 ? ((int64_t)1 << (bits - 1)) - 1 : INT64_MAX;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Returns a multiplier that has no divisor in common with n, so that its multiples modulo n
 * differ. */
static uint64_t multiplier_of(uint64_t n, uint64_t seed)
{
    uint64_t ret = n > 2 ? 1 + random_mixed(seed) % (n - 1) : 1;
    while (common_divisor(ret, n) != 1)
        ret = ret + 1 < n ? ret + 1 : 1;
    return ret;
}

static void fill_indices(const struct random_values *to)
{
    int64_t most = greatest(to->dtype);
    uint64_t bound = (uint64_t)(to->need.number < most ? to->need.number : most);
    bool distinct = to->need.kind == NEED_DISTINCT && to->n <= bound;
    uint64_t multiplier = distinct ? multiplier_of(bound, to->seed) : 0, at = 0;
    for (size_t i = 0; i < to->n; i++) {
        uint64_t number = distinct ? at : bound ? random_mixed(to->seed + i) % bound : 0;
        put(to, i, (int64_t)number);
        at = bound - at > multiplier ? at + multiplier : at + multiplier - bound;
    }
}

/* Writes ascending numbers: equal steps from 0 to the last, and up to half a step more. */
static void fill_ascending(const struct random_values *to, double last)
{
    for (size_t i = 0; i < to->n; i++) {
        size_t at = i % to->row;
        double part = to->row > 1 ? last / (double)(to->row - 1) : 0;
        bool inner = at > 0 && at + 1 < to->row;
        double number = part * (double)at;
        if (inner)
            number += part * (double)(random_mixed(to->seed + i) >> 11) * 0x1p-54;
        if (to->need.kind == NEED_OFFSETS)
            put(to, i, (int64_t)number);
        else
            exec_put_number(to->dtype, to->p, i, number, at > to->row / 2);
    }
}

void random_fill(const struct random_values *to)
{
    bool integers = dense_kind_of(to->dtype) == DENSE_INT;
    enum need_kind kind = to->dtype == DTYPE_B8 ? NEED_NOTHING : to->need.kind;
    bool numbered = to->need.number >= 0;
    if ((kind == NEED_INDEX || kind == NEED_DISTINCT) && numbered)
        fill_indices(to);
    else if (kind == NEED_OFFSETS && numbered)
        fill_ascending(to, (double)to->need.number);
    else if (kind == NEED_SORTED)
        fill_ascending(to, 1);
    else if (integers)
        fill_bits(to);
    else
        fill_normal(to);
}

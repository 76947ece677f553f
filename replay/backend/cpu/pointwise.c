/* Pointwise operators: one loop for the rows of pointwise.def. */
#include "replay/backend/cpu/pointwise.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POINT_MAX_TENSORS = 4, POINT_MAX_NUMBERS = 4 };

/* What an expression sees beside the tensors' values. */
struct point_numbers {
    double p[POINT_MAX_NUMBERS];
    int64_t n[POINT_MAX_NUMBERS];
    cdouble c[POINT_MAX_NUMBERS];
    enum dtype dtype; /* of the result */
    unsigned none;
};

#define POINT_UNUSED (void)x, (void)y, (void)z, (void)w, (void)p, (void)n, (void)c, (void)dtype, (void)none
#define POINT_NUMBERS                                                                            \
    const double *p = q->p;                                                                      \
    const int64_t *n = q->n;                                                                     \
    const cdouble *c = q->c;                                                              \
    enum dtype dtype = q->dtype;                                                                 \
    unsigned none = q->none;                                                                     \
    POINT_UNUSED;

typedef double point_real(double x, double y, double z, double w, const struct point_numbers *q);
typedef int64_t point_int(int64_t x, int64_t y, int64_t z, int64_t w,
                          const struct point_numbers *q);
typedef cdouble point_complex(cdouble x, cdouble y, cdouble z,
                                     cdouble w, const struct point_numbers *q);

#define POINT(base, kinds, tensors, numbers, real, integer, complex_)                            \
    static double pr_##base(double x, double y, double z, double w,                            \
                              const struct point_numbers *q)                                     \
    {                                                                                            \
        POINT_NUMBERS                                                                            \
        return real;                                                                             \
    }                                                                                            \
    static int64_t pi_##base(int64_t x, int64_t y, int64_t z, int64_t w,                        \
                              const struct point_numbers *q)                                     \
    {                                                                                            \
        POINT_NUMBERS                                                                            \
        return integer;                                                                          \
    }                                                                                            \
    static cdouble pc_##base(cdouble x, cdouble y, cdouble z,   \
                                         cdouble w, const struct point_numbers *q)        \
    {                                                                                            \
        POINT_NUMBERS                                                                            \
        return complex_;                                                                         \
    }
#include "replay/backend/cpu/pointwise.def"
#undef POINT

struct point {
    const char *base, *kinds, *tensors, *numbers;
    point_real *real;
    point_int *integer;
    point_complex *complex_;
};

static const struct point points[] = {
#define POINT(base, kinds, tensors, numbers, real, integer, complex_) \
    { #base, kinds, tensors, numbers, pr_##base, pi_##base, pc_##base },
#include "replay/backend/cpu/pointwise.def"
#undef POINT
};

/* The next of names separated by blanks; false after the last. */
static bool next_name(const char **names, char *name, size_t size)
{
    size_t n = strcspn(*names, " ");
    if (n == 0 || n >= size)
        return false;
    memcpy(name, *names, n);
    name[n] = '\0';
    *names += n + strspn(*names + n, " ");
    return true;
}

/* "tanh" of gelu, rounding modes: words that stand for numbers. */
static double number_of_word(struct str word)
{
    return str_is(word, "tanh") || str_is(word, "trunc") ? 1 : str_is(word, "floor") ? 2 : 0;
}

static void read_numbers(const struct kernel *k, const struct point *point,
                         struct point_numbers *q)
{
    const char *names = point->numbers;
    char name[64];
    for (uint32_t i = 0; i < POINT_MAX_NUMBERS && next_name(&names, name, sizeof name); i++) {
        struct value v = value_arg(k, name);
        bool given = v.kind != VALUE_NONE;
        bool is_alpha = !strcmp(name, "alpha") || !strcmp(name, "value");
        q->p[i] = v.kind == VALUE_STRING ? number_of_word(v.u.text) : real_arg(k, name, is_alpha);
        q->n[i] = int_arg(k, name, is_alpha);
        q->c[i] = complex_arg(k, name, is_alpha);
        q->none |= given ? 0 : 16u << i;
    }
}

static bool has_kind(const struct point *point, char kind)
{
    return strchr(point->kinds, kind) != NULL;
}

/* In what it computes: the widest among its values, or what the row has. A condition or mask does
 * not count. */
static enum dense_kind compute_kind(const struct kernel *k, const struct point *point,
                                    const struct value *values, uint32_t n)
{
    enum dense_kind kind = DENSE_INT;
    bool third_chooses = !strcmp(point->base, "where") || !strcmp(point->base, "masked_fill");
    for (uint32_t i = 0; i < n; i++) {
        enum dense_kind one = kind_of_value(k, values[i]);
        if (values[i].kind != VALUE_NONE && !(third_chooses && i == 2) && one > kind)
            kind = one;
    }
    struct tensor to = result(k, 0);
    if (kind == DENSE_INT && !has_kind(point, 'i'))
        kind = has_kind(point, 'r') ? DENSE_REAL : DENSE_COMPLEX;
    if (kind == DENSE_REAL && !has_kind(point, 'r'))
        kind = has_kind(point, 'c') ? DENSE_COMPLEX : DENSE_INT;
    /* An integer tensor whose result is real by promotion (x + 0.5 has told already). */
    if (kind == DENSE_INT && to.meta && dense_kind_of(to.meta->dtype) == DENSE_REAL &&
        has_kind(point, 'r'))
        kind = DENSE_REAL;
    return kind;
}

void run_point(struct kernel *k, int number)
{
    const struct point *point = &points[number];
    struct tensor to = result(k, 0);
    struct value values[POINT_MAX_TENSORS];
    struct dense in[POINT_MAX_TENSORS] = { 0 };
    struct point_numbers q = { .dtype = to.meta ? to.meta->dtype : DTYPE_NONE };
    const char *names = point->tensors;
    char name[64];
    uint32_t n = 0;
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(k, to, size);
    while (n < POINT_MAX_TENSORS && next_name(&names, name, sizeof name)) {
        values[n] = value_arg(k, name);
        q.none |= values[n].kind == VALUE_NONE ? 1u << n : 0;
        n++;
    }
    read_numbers(k, point, &q);
    enum dense_kind kind = compute_kind(k, point, values, n);
    static const double nothing[2] = { 0, 0 };
    struct dense out = dense_new(k, kind, size, ndim);
    for (uint32_t i = 0; i < n; i++)
        if (values[i].kind != VALUE_NONE)
            in[i] = dense_broadcast(k, load_value(k, values[i], kind), size, ndim);
    if (k->failed)
        return;
    bool given[POINT_MAX_TENSORS];
    for (uint32_t i = 0; i < POINT_MAX_TENSORS; i++) {
        given[i] = in[i].u.p != NULL;
        if (!given[i])
            in[i].u.p = (void *)nothing;
    }
#define V(j, a) in[j].u.a[given[j] ? i : 0]
    for (int64_t i = 0; i < out.n; i++) {
        if (kind == DENSE_REAL)
            out.u.r[i] = point->real(V(0, r), V(1, r), V(2, r), V(3, r), &q);
        else if (kind == DENSE_INT)
            out.u.i[i] = point->integer(V(0, i), V(1, i), V(2, i), V(3, i), &q);
        else
            out.u.c[i] = point->complex_(V(0, c), V(1, c), V(2, c), V(3, c), &q);
    }
#undef V
    store(k, to, out);
}

void kernel_point(struct kernel *k)
{
    run_point(k, k->row->param);
}

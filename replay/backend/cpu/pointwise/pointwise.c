/* Pointwise operators: a loop over elements for the rows of
 * replay/backend/pointwise/pointwise.def. */
#include "replay/backend/cpu/pointwise/pointwise.h"

#include "replay/backend/cpu/pointwise/special.h"

#define POINT_UNUSED                                                                    \
    (void)x, (void)y, (void)z, (void)w, (void)p, (void)n, (void)c, (void)q, (void)none, \
        (void)bits, (void)most, (void)at, (void)rows, (void)columns, (void)seed
#define POINT_NUMBERS                                                     \
    const double *p = given->p, *q = given->p;                            \
    const int64_t *n = given->n;                                          \
    const cdouble *c = given->c;                                          \
    unsigned none = given->none;                                          \
    int bits = given->bits;                                               \
    double most = given->most;                                            \
    int64_t at = given->at, rows = given->rows, columns = given->columns; \
    uint64_t seed = given->seed;                                          \
    POINT_UNUSED;

typedef double point_real(double x, double y, double z, double w,
                          const struct point_numbers *given);
typedef int64_t point_int(int64_t x, int64_t y, int64_t z, int64_t w,
                          const struct point_numbers *given);
typedef cdouble point_complex(cdouble x, cdouble y, cdouble z, cdouble w,
                              const struct point_numbers *given);

#define POINT(base, kinds, tensors, numbers, real, integer, complex_)    \
    static double pr_##base(double x, double y, double z, double w,      \
                            const struct point_numbers *given)           \
    {                                                                    \
        POINT_NUMBERS                                                    \
        return (double)(real);                                           \
    }                                                                    \
    static int64_t pi_##base(int64_t x, int64_t y, int64_t z, int64_t w, \
                             const struct point_numbers *given)          \
    {                                                                    \
        POINT_NUMBERS                                                    \
        return integer;                                                  \
    }                                                                    \
    static cdouble pc_##base(cdouble x, cdouble y, cdouble z, cdouble w, \
                             const struct point_numbers *given)          \
    {                                                                    \
        POINT_NUMBERS                                                    \
        return complex_;                                                 \
    }
#include "replay/backend/pointwise/pointwise.def"
#undef POINT

struct point_functions {
    point_real *real;
    point_int *integer;
    point_complex *complex_;
};

static const struct point_functions functions[] = {
#define POINT(base, kinds, tensors, numbers, real, integer, complex_) \
    { pr_##base, pi_##base, pc_##base },
#include "replay/backend/pointwise/pointwise.def"
#undef POINT
};

void run_point(struct kernel *k, int number, struct kernel_tensor to)
{
    const struct point_functions *f = &functions[number];
    struct point_call call;
    struct dense in[POINT_MAX_TENSORS] = { 0 };
    int64_t size[TENSOR_MAX_DIM];
    uint32_t ndim = tensor_sizes(to, size);
    static const double nothing[2] = { 0, 0 };
    bool given[POINT_MAX_TENSORS] = { false };
    point_call_of(k, number, to, &call);
    enum dense_kind kind = call.kind;
    struct point_numbers *q = &call.numbers;
    struct dense out = dense_new(k, kind, size, ndim);
    for (uint32_t i = 0; i < call.n_values; i++)
        if (call.values[i].kind != KERNEL_NONE)
            in[i] = dense_broadcast(k, load_value(k, call.values[i], kind), size, ndim);
    if (k->failed)
        return;
    for (uint32_t i = 0; i < POINT_MAX_TENSORS; i++) {
        given[i] = in[i].u.p != NULL;
        if (!given[i])
            in[i].u.p = (void *)nothing;
    }
#define V(j, a) in[j].u.a[given[j] ? i : 0]
    for (int64_t i = 0; i < out.n; i++) {
        q->at = i;
        if (kind == DENSE_REAL)
            out.u.r[i] = f->real(V(0, r), V(1, r), V(2, r), V(3, r), q);
        else if (kind == DENSE_INT)
            out.u.i[i] = f->integer(V(0, i), V(1, i), V(2, i), V(3, i), q);
        else
            out.u.c[i] = f->complex_(V(0, c), V(1, c), V(2, c), V(3, c), q);
    }
#undef V
    store_tensor(k, to, out);
}

void kernel_point(struct kernel *k)
{
    run_point(k, k->row->param, result(k, 0));
}

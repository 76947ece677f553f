/* Matrix exponentials by scaling and squaring: the Taylor series of a small fraction of the matrix,
 * squared repeatedly. */
#include <math.h>

#include "replay/backend/cpu/linalg/linalg.h"

enum { TERMS = 20 };

static struct matrix exponential(struct kernel *k, struct matrix a)
{
    double most = 0;
    int halved = 0;
    for (int64_t i = 0; i < a.rows; i++) {
        double row = 0;
        for (int64_t j = 0; j < a.columns; j++)
            row += cabs(*cell(a, i, j));
        most = fmax(most, row);
    }
    for (; most > 0.5 && halved < 1100; halved++)
        most /= 2;
    struct matrix ret = identity_matrix(k, a.rows, a.rows),
                  term = identity_matrix(k, a.rows, a.rows);
    for (int64_t i = 0; i < a.rows * a.rows; i++)
        a.v[i] *= ldexp(1, -halved);
    for (int n = 1; n <= TERMS && !k->failed; n++) {
        term = product_of_matrices(k, term, a);
        for (int64_t i = 0; i < a.rows * a.rows && !k->failed; i++)
            ret.v[i] += term.v[i] /= n;
    }
    for (; halved > 0 && !k->failed; halved--)
        ret = product_of_matrices(k, ret, ret);
    return ret;
}

void kernel_matrix_exp(struct kernel *k)
{
    struct matrices a = load_matrices(k, "self");
    for (int64_t i = 0; i < a.n && !k->failed; i++) {
        struct matrix x = exponential(k, nth(&a, i));
        if (!k->failed)
            copy_corner(x, nth(&a, i));
    }
    store_result(k, 0, a.all);
}

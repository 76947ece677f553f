/* The negative log likelihood of classes, and its backward.
 *
 * Defines: T: inputs and losses; I: targets; W: weights; ACC; INDEX. */
#include "replay/backend/cuda/device/loss/nll.h"

DEVICE ACC weight_of(const struct nll_args *a, i64 class_)
{
    return a->weight ? (ACC)LOAD(W, PTR(W, a->weight), class_ * a->weight_step) : 1;
}

KERNEL(nll, struct nll_args)
{
    INDEX n = (INDEX)a.span.n;
    ROLLED
    for (INDEX i = (INDEX)BLOCK_X * THREADS + THREAD; i < n; i += (INDEX)GRID_X * THREADS) {
        INDEX at[3] = { 0 };
        ACC loss = 0, weight = 0;
        SPAN_PLACES(&a.span, 3, i, at);
        i64 class_ = (i64)LOAD(I, PTR(I, a.target), at[0]);
        if (class_ != a.ignore && (class_ < 0 || class_ >= a.classes)) {
            REPORT(a.error, class_);
        } else if (class_ != a.ignore) {
            weight = weight_of(&a, class_);
            loss = -weight * (ACC)LOAD(T, PTR(T, a.x), (i64)at[1] + class_ * a.class_step);
        }
        if (a.to)
            STORE(T, PTR(T, a.to), at[2], loss);
        if (a.losses)
            PTR(ACC, a.losses)[i] = loss;
        if (a.weights)
            PTR(ACC, a.weights)[i] = weight;
    }
}

KERNEL(nll_backward, struct nll_args)
{
    INDEX n = (INDEX)a.span.n;
    ACC total = a.total ? (ACC)LOAD(T, PTR(T, a.total), 0) : 1;
    ROLLED
    for (INDEX i = (INDEX)BLOCK_X * THREADS + THREAD; i < n; i += (INDEX)GRID_X * THREADS) {
        INDEX at[4] = { 0 };
        ACC gradient = 0;
        SPAN_PLACES(&a.span, 4, i, at);
        i64 class_ = (i64)LOAD(I, PTR(I, a.target), at[1]);
        if (class_ == (i64)at[3] && class_ != a.ignore)
            gradient = -weight_of(&a, class_) * ((ACC)LOAD(T, PTR(T, a.grad), at[2]) / total);
        STORE(T, PTR(T, a.to), at[0], gradient);
    }
}

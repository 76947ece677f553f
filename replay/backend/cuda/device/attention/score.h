/* Scores of attention, for the texts of this folder. Defines: ACC, TB, BIAS. */
#ifndef SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_ATTENTION_SCORE_H
#define SYMTAPE_REPLAY_BACKEND_CUDA_DEVICE_ATTENTION_SCORE_H

#include "replay/backend/cuda/device/attention/attention.h"

#ifdef KERNEL

/* Of a key that is masked: less than any score. exp() of the difference is 0. */
#define NEVER ((ACC)-2e30)
/* The least score. A mask of finite numbers, such as the least one of its type, leaves those of a
 * row that it masks as a whole equal, and PyTorch gives such a row the mean of the values. */
#define LEAST ((ACC)-1e30)

DEVICE i64 element_at(const struct attention_tensor *x, i64 batch, i64 head, i64 row, i64 column)
{
    return batch * x->batch + head * x->head + row * x->row + column * x->column;
}

/* Returns the score with its bias, which is that element's, or NEVER. */
DEVICE ACC biased(const struct attention_args *a, i64 element, ACC score)
{
#if BIAS == 1
    score += (ACC)LOAD(TB, PTR(TB, a->bias.p), element);
#elif BIAS == 2
    if (!LOAD(TB, PTR(TB, a->bias.p), element))
        return NEVER;
#else
    (void)a, (void)element;
#endif
    if (score == (ACC)-INFINITY)
        return NEVER;
    return score < LEAST ? LEAST : score; /* keeps NaN */
}

/* Returns the score of a product, or NEVER. */
DEVICE ACC score_of(const struct attention_args *a, i64 n, i64 m, i64 batch, i64 head, i64 i, i64 j,
                    ACC dot)
{
    if (i >= n || j >= m || (a->causal && j > i))
        return NEVER;
    return biased(a, element_at(&a->bias, batch, head, i, j), dot * (ACC)a->scale);
}

#endif
#endif

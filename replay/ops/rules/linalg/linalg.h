/* What rules of linear algebra share (linalg.c): checks with PyTorch's texts, and results in the
 * layout that LAPACK writes. */
#ifndef SYMTAPE_REPLAY_OPS_RULES_LINALG_LINALG_H
#define SYMTAPE_REPLAY_OPS_RULES_LINALG_LINALG_H

#include "replay/ops/rules/compose.h"

/* Checks that x has at least two dimensions; `what` is the argument's name in the text. */
bool linalg_matrix(struct call *c, struct tensor x, const char *name, const char *what);
bool linalg_square(struct call *c, struct tensor a, const char *name);
bool linalg_floating(struct call *c, struct tensor x, const char *name, bool low_precision);
sym_id side(struct tensor x, uint32_t from_end); /* 2: rows, 1: columns */

struct tensor linalg_contiguous(struct call *c, struct tensor like, enum dtype dtype,
                                const sym_id *sizes, uint32_t n);
struct tensor linalg_none(struct call *c, struct tensor like, enum dtype dtype); /* of size [0] */
/* make_contiguous_strides_for(row_major=False) */
struct tensor linalg_column_major(struct call *c, struct tensor like, enum dtype dtype,
                                  const sym_id *sizes, uint32_t n);
struct tensor linalg_row_or_column(struct call *c, struct tensor like, const sym_id *sizes,
                                   uint32_t n, bool row_major);
sym_id *linalg_sizes(struct call *c,
                     struct tensor x); /* a copy that may be changed; NULL after a failure */

/* The param of rule_fft, which says what the transform is (fft_composite.c). */
enum { FFT_FORWARD = 1, FFT_REAL_IN = 2, FFT_REAL_OUT = 4, FFT_SEVERAL = 8 };

#endif

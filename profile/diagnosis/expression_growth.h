/* Whether the sizes of an attempt became expressions that grow from line to line. That makes a
 * compile slow, since each guard is simplified and compared as a whole (torch/utils/_sympy, and
 * ShapeEnv.evaluate_expr in torch/fx/experimental/symbolic_shapes.py). */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_EXPRESSION_GROWTH_H
#define SYMTAPE_PROFILE_DIAGNOSIS_EXPRESSION_GROWTH_H

#include "profile/diagnosis/finder.h"

struct expression_growth {
    const struct guard *longest; /* NULL if expressions do not grow */
    const struct guard *placed;  /* the longest one at a line outside PyTorch's files, or NULL */
    size_t early;                /* characters of the longest one among the first tenth */
    uint32_t n_guards;
};

/* Reads the guards of an attempt that were evaluated; TRACE_NONE for those of all attempts. */
struct expression_growth read_expression_growth(const struct build_input *input, uint32_t attempt);
/* Adds the evidence and the remedies of a growth; nothing if there is none. */
void find_expression_growth(struct finder *d, struct finding_build *f,
                            const struct expression_growth *growth);

#endif

/* The results of a graph at padded sizes beside those without padding: the inputs of the run
 * without padding, whose last rows are repeated, are those of the run with it. */
#ifndef SYMTAPE_REPLAY_BACKEND_PAD_PADDED_RUN_H
#define SYMTAPE_REPLAY_BACKEND_PAD_PADDED_RUN_H

#include "replay/backend/compare/compare_values.h"
#include "replay/backend/run/run.h"

struct padded_outputs {
    uint32_t tensors, differing; /* outputs, and those beyond the tolerance of their dtype */
    uint32_t first;              /* the number of the first one that differs */
    double most;                 /* the greatest absolute difference of all */
};

/* Runs the graph on options->backend at options->sizes and at `padded`, of the same symbols. */
bool padded_run_compare(const struct graph *graph, const struct run_options *options,
                        const struct run_size *padded, struct padded_outputs *ret, struct err *err);

/* Sets *ret, with memory of the arena, to x with other sizes: elements beyond x's are those of its
 * last row, or are left out. Returns false with err set when x has no elements to repeat
 * (ERR_USAGE), or memory ran out. */
bool array_resize(const struct array *x, const int64_t *size, struct arena *arena,
                  struct array *ret, struct err *err);

#endif

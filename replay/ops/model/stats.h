/* The costs of calls, by operator and by the user stack under which they were made.
 *
 * Names and counts are PyTorch's where it has them: dispatches are those of FakeTensorMode
 * (torch.utils._stats.simple_call_counter), fast those of make_fast_binary_impl
 * (torch/_subclasses/fake_impls.py), cache those of FakeTensorMode.cache_info(). */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_STATS_H
#define SYMTAPE_REPLAY_OPS_MODEL_STATS_H

#include <stdint.h>

#include "replay/ops/dispatch/counters.h"
#include "trace/base/vec.h"

struct ops;
struct op;

const char *op_counter_name(enum op_counter counter);
const char *op_bypass_reason(enum op_bypass bypass);

enum { OP_STATS_DEPTHS = 8 };

struct op_stats {
    uint64_t calls;                     /* from outside */
    uint64_t dispatches;                /* all of them, including those of other operators' calls */
    uint64_t by_depth[OP_STATS_DEPTHS]; /* dispatches; the last item includes deeper ones */
    uint64_t fast[OP_COUNTERS];
    uint64_t hits, misses, bypasses[OP_BYPASSES];
    uint64_t step_hits, step_misses; /* of steps that its rule reports, while a pass is modelled */
    uint64_t uncached, returned; /* ran without the cache; returned at once: only with ablations */
    uint64_t answered;           /* results of our own memo, where PyTorch computes again */
    /* For calls from outside, including everything that happened in them. */
    uint64_t exprs, evaluations, guards, symbolic_tensors, ns;
};

/* The calls of one operator under one user stack. */
struct op_stack_stats {
    uint32_t op; /* its index in the table */
    uint32_t stack;
    uint64_t calls, dispatches, guards, exprs, symbolic_tensors, ns;
};

/* For calls that no other operator made, while a pass is modelled: hits and misses of PyTorch's
 * cache, and what was done in them. */
struct op_outer {
    uint64_t calls, hits, misses, bypasses;
    uint64_t within, fake_tensor, fast; /* dispatches; those through FakeTensor; attempts */
};

/* What they return is valid until the next call of an operator. */
const struct op_outer *ops_outer(const struct ops *ops, const struct op *op);
const struct op_stats *ops_stats(const struct ops *ops, const struct op *op);
/* Returns rows in the order of the first calls; NULL past the end. */
const struct op_stack_stats *ops_stack_stats(const struct ops *ops, size_t i);
void ops_stats_clear(struct ops *ops);

/* The counts of all operators together. */
struct op_totals {
    uint64_t dispatches, outermost; /* outermost: those that no other operator made */
    uint64_t fake_tensor;           /* those through FakeTensor, while a pass is modelled */
    uint64_t fast[OP_COUNTERS];
};
struct op_totals ops_totals(const struct ops *ops);
/* While on, nothing counts. */
void ops_set_muted(struct ops *ops, bool on);
/* Sets the user stack of the calls that follow: a stack_id of the trace, 0 for none. */
void ops_set_stack(struct ops *ops, uint32_t stack);

/* --- Switches --- */

/* Reads the clock at each call from outside (off at first). */
void ops_set_timing(struct ops *ops, bool on);
#endif

/* The dispatch model simulates what PyTorch would have counted. It is the outermost layer over
 * computing and changes no result; while ops_set_recall() is on it evaluates again the conditions
 * that PyTorch would evaluate again.
 *
 * A call counts a dispatch for itself. Then PyTorch's operator cache either has it, and nothing
 * inside it happens, or has not, and the rule's own calls, and those that the rule only reports
 * (count_dispatches() ...), count, too. The cache is simulated in two ways:
 *
 *     while a graph is walked       by the calls that were made before (known_calls.h)
 *     while a pass is modelled      with PyTorch's keys (fake_cache.h;
 * replay/attempt/dispatch_passes.h)
 *
 * Counts by operator are read with stats.h, those above FakeTensorMode with dispatch_model.h. */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_MODEL_H
#define SYMTAPE_REPLAY_OPS_MODEL_MODEL_H

#include "replay/ops/dispatch/context.h"
#include "replay/ops/model/dispatch_model.h"
#include "replay/ops/model/fake_cache.h"
#include "replay/ops/model/known_calls.h"
#include "replay/ops/model/recall.h"
#include "replay/ops/model/stats.h"

struct op_stats_row {
    struct op_stats stats;
    struct op_outer outer;
};

struct op_stats_table {
    uint32_t *rows; /* by operator: its row plus 1, or 0: most operators are never called */
    vec_of(struct op_stats_row)
    counted;
    struct op_stats_row lost; /* counts for which there was no memory */
    uint32_t n_ops, top;      /* top: the running outer operator; n_ops: none */
    vec_of(struct op_stack_stats)
    by_stack;
    struct hash_index index; /* of by_stack */
    uint32_t stack;          /* the current one */
    uint32_t muted;          /* nesting depth of calls that count nothing */
    uint64_t dispatches;     /* the total; differences of it are used */
    uint64_t fake_tensor;    /* dispatches through FakeTensor instead of its mode */
    bool timing;
};

struct model {
    struct op_stats_table stats;
    struct known_calls known;
    struct recall *recall; /* used while `recalls` is not 0 */
    unsigned recalls;      /* how many runs the walk stands for; 0: earlier calls are known */
    struct fake_cache fake_cache;
    struct dispatch_model dispatch;
};

struct model *model_new(uint32_t n_ops); /* NULL: out of memory */
void model_free(struct model *model);    /* accepts NULL */
void model_reset(struct model *model);   /* for the next graph */
void model_forget_calls(struct model *model);

/* For struct ops. */
extern const struct ops_layers model_layers;

/* Returns whether nothing counts at the moment. */
bool model_is_muted(const struct ops *ops);
/* Returns whether a pass is modelled and calls count. */
bool model_is_passing(const struct ops *ops);

/* --- counting.c: counts that rules report --- */

void count_counter(struct call *c, enum op_counter counter);
void count_within(struct call *c, uint32_t n);
void count_step(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                const sym_id *args, uint32_t n, uint32_t within);
void count_step_made(struct call *c, const char *name, struct tensor x);
void count_device(struct call *c, uint32_t n);

/* --- stats.c: by operator --- */

bool stats_init(struct op_stats_table *stats, uint32_t n_ops);
void stats_release(struct op_stats_table *stats);
void stats_dispatch(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n);
/* Counts calls that a rule of that operator reports without making them. */
void stats_within(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n);
void stats_count(struct ops *ops, uint32_t op, enum op_counter counter);
void stats_hit(struct ops *ops, uint32_t op);
/* Counts an outer call while a pass is modelled. */
void stats_outer(struct ops *ops, uint32_t op);
/* Counts a miss or a bypass of PyTorch's cache. */
void stats_miss(struct ops *ops, uint32_t op, enum op_bypass bypass);
/* Counts that PyTorch's cache has a step that a rule reports, or has not. */
void stats_step(struct ops *ops, uint32_t op, bool hit);
/* Counts a call that an ablation keeps from the cache: it is computed, or returns at once. */
void stats_uncached(struct ops *ops, uint32_t op, bool computed);
/* Counts that PyTorch runs a call again that is known here. */
void stats_answered(struct ops *ops, uint32_t op, enum op_bypass bypass);
/* The state before a call from outside, from which its costs follow. */
struct stats_mark {
    struct env_counts env;
    size_t exprs;
    uint64_t dispatches, symbolic_tensors, begin_ns;
};
struct stats_mark stats_begin(const struct ops *ops);
void stats_end(struct ops *ops, uint32_t op, const struct stats_mark *mark);

#endif

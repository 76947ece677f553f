/* The dispatch model: what PyTorch would have counted. It is the outermost layer over computing and
 * changes no result; while ops_set_recall() is on it asks again what PyTorch would ask again.
 *
 * A call counts a dispatch for itself. Then PyTorch's operator cache either knows it, and nothing
 * within it happens, or does not, and the rule's own calls and what the rule says that it stands
 * for (count_dispatches() ...) count, too. The cache is told in two ways:
 *
 *     while a graph is walked       by what was called before (known_calls.h)
 *     while a pass is modelled      as PyTorch keys it (fake_cache.h; replay/attempt/passes.h)
 *
 * What is counted is read by stats.h, by operator, and by dispatch_model.h, above FakeTensorMode.
 */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_MODEL_H
#define SYMTAPE_REPLAY_OPS_MODEL_MODEL_H

#include "replay/ops/dispatch/context.h"
#include "replay/ops/model/dispatch_model.h"
#include "replay/ops/model/fake_cache.h"
#include "replay/ops/model/known_calls.h"
#include "replay/ops/model/recall.h"
#include "replay/ops/model/stats.h"

struct op_stats_table {
    struct op_stats *by_op; /* as many as there are rows */
    struct op_outer *outer; /* likewise */
    uint32_t n_ops, top;    /* the outer operator that is at work */
    vec_of(struct op_stack_stats)
    by_stack;
    uint32_t *slots; /* of by_stack: index + 1 */
    uint32_t n_slots;
    uint32_t stack;       /* current */
    uint32_t muted;       /* depth of calls that count nothing */
    uint64_t dispatches;  /* in all, for differences */
    uint64_t fake_tensor; /* dispatches that come by FakeTensor, not by its mode */
    bool timing;
};

struct model {
    struct op_stats_table stats;
    struct known_calls known;
    struct recall *recall; /* used while `recalls` */
    unsigned recalls;      /* how many runs the walk stands for; 0: what was seen is known */
    struct fake_cache fake_cache;
    struct dispatch_model above;
    bool *free;     /* by operator, a switch: it counts nothing, nor does what is within */
    bool cache_off; /* a switch: PyTorch runs every call */
};

struct model *model_new(uint32_t n_ops); /* NULL: out of memory */
void model_free(struct model *model);    /* NULL is fine */
void model_reset(struct model *model);   /* for the next graph */
void model_forget_calls(struct model *model);

/* For struct ops. */
extern const struct ops_layers model_layers;

/* Does nothing count at the moment? */
bool model_is_muted(const struct ops *ops);
/* Is the call one of a pass that is modelled, and counted? */
bool model_is_passing(const struct ops *ops);

/* --- counting.c: what rules say --- */

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
/* Of calls that a rule of that operator stands for. */
void stats_within(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n);
void stats_count(struct ops *ops, uint32_t op, enum op_counter counter);
void stats_hit(struct ops *ops, uint32_t op);
/* An outer call while a pass is modelled. */
void stats_outer(struct ops *ops, uint32_t op);
/* PyTorch's cache missed, or passed the call by. */
void stats_miss(struct ops *ops, uint32_t op, enum op_bypass bypass);
/* PyTorch runs a call again that is known here. */
void stats_answered(struct ops *ops, uint32_t op, enum op_bypass bypass);
/* Around a call from outside. */
struct stats_mark {
    struct env_counts env;
    size_t exprs;
    uint64_t dispatches, symbolic_tensors, begin_ns;
};
struct stats_mark stats_begin(const struct ops *ops);
void stats_end(struct ops *ops, uint32_t op, const struct stats_mark *mark);

#endif

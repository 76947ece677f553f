/* Inside of the operators' context; for the files of this folder that are not rules. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_CONTEXT_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_CONTEXT_H

#include "replay/ops/decomp/bodies.h"
#include "replay/ops/dispatch/rule.h"
#include "replay/ops/dispatch/schema.h"
#include "replay/ops/dispatch/stats.h"
#include "replay/ops/dispatch/tensor_memo.h"
#include "replay/ops/model/dispatch_model.h"
#include "replay/ops/model/fake_cache.h"
#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

enum {
    OPS_MAX_DEPTH = 64, /* of calls within calls */
    OPS_MAX_ARGS = SCHEMA_MAX_SLOTS
};

struct op {
    struct schema schema; /* its name; the rest once `parsed` */
    struct str row,
        form; /* the schema of the row, and which form of it this is (schema_derive()) */
    op_rule *rule;
    int32_t param;
    bool composite, pointwise, parsed;
    bool inplace_view;     /* changes the meta of its first argument (PyTorch's tag inplace_view) */
    bool writes;           /* some argument is Tensor(a!) */
    bool returns_keyword;  /* out= forms: a result is a keyword argument */
    enum op_bypass bypass; /* of PyTorch's cache, by tag or namespace */
    bool free, slow;       /* switches: counts nothing; has no fast path */
    uint32_t index;        /* in the table */
    struct op *next_overload; /* of the same base name, in the table's order */
    struct str name;          /* "aten.add.Tensor" */
};

struct op_table {
    struct op *rows;
    uint32_t n, n_slots;
    uint32_t *by_name, *by_base; /* row + 1; open addressing, n_slots a power of two */
};

struct custom_rules;
/* rules: of custom operators, borrowed; NULL */
bool op_table_init(struct op_table *table, const struct custom_rules *rules, struct arena *arena,
                   struct err *err);
op_rule rule_custom;
struct op *op_table_find(const struct op_table *table, struct str name);
/* The first overload of "aten.add", "aten::add"; NULL. */
struct op *op_table_base(const struct op_table *table, struct str name);

/* Metas by content. */
struct meta_table {
    struct arena arena;
    vec_of(const struct tensor_meta *)
    metas; /* by id */
    vec_of(uint8_t)
    symbolic; /* by id: some size, stride or offset is no number */
    uint32_t *slots;
    uint32_t n_slots;
    uint32_t max_ndim; /* of any */
};

const struct tensor_meta *meta_intern(struct meta_table *table, const struct sym_pool *pool,
                                      const struct tensor_meta *meta);
void meta_table_release(struct meta_table *table);

struct op_cache;
struct recall;

struct op_stats_table {
    struct op_stats *by_op; /* as many as there are rows */
    struct op_outer *outer; /* likewise */
    uint32_t top;           /* the outer operator that is at work */
    vec_of(struct op_stack_stats)
    by_stack;
    uint32_t *slots; /* of by_stack: index + 1 */
    uint32_t n_slots;
    uint32_t stack;                        /* current */
    uint32_t muted;                        /* depth of calls that count nothing */
    uint64_t dispatches, symbolic_tensors; /* in all, for differences */
    uint64_t fake_tensor;                  /* dispatches that come by FakeTensor, not by its mode */
    bool timing;
};

void stats_dispatch(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n);
/* Of calls that a rule of that operator stands for. */
void stats_within(struct ops *ops, uint32_t op, uint32_t depth, uint64_t n);
void stats_count(struct ops *ops, uint32_t op, enum op_counter counter);
void stats_hit(struct ops *ops, uint32_t op);
/* An outer call while a pass is modelled. */
void stats_outer(struct ops *ops, uint32_t op);
/* PyTorch's cache missed, or passed the call by. */
void stats_miss(struct ops *ops, uint32_t op, enum op_bypass bypass);
void stats_answered(struct ops *ops, uint32_t op, enum op_bypass bypass);
/* Around a call from outside. */
struct stats_mark {
    struct env_counts env;
    size_t exprs;
    uint64_t dispatches, symbolic_tensors, begin_ns;
};
struct stats_mark stats_begin(const struct ops *ops);
void stats_end(struct ops *ops, uint32_t op, const struct stats_mark *mark);

/* What the last call wrote: an argument by its number in the schema. */
struct written {
    uint32_t arg;
    struct tensor tensor;
};

/* torch.autocast, as the calls of a captured graph last set it. */
struct autocast {
    enum device_type device;
    enum dtype dtype;
    bool enabled;
};

struct ops {
    const struct custom_rules *rules;
    struct bodies bodies;
    struct autocast autocast;
    struct shape_env *env;
    struct sym_pool *pool;
    struct arena arena;    /* until ops_reset() */
    struct arena schemas;  /* until another environment comes */
    struct arena lifetime; /* until ops_free() */
    struct intern names;   /* until ops_free() */
    vec_of(uint32_t)
    parsed; /* rows with a schema in `schemas` */
    struct op_table table;
    struct meta_table metas;
    struct op_cache *cache;
    struct recall *recall; /* used while `recalls` */
    struct op_stats_table stats;
    struct dispatch_model model;
    struct fake_cache fake_cache;
    uint32_t next_storage;
    vec_of(sym_id)
    storage_bytes;           /* by storage; replay/ops/layout/storage.h */
    uint32_t depth, nesting; /* composite operators nest, but add no depth */
    uint32_t kernel;         /* depth of what meta kernels call by themselves */
    vec_of(struct written)
    written;
    struct memo_table memos;
    uint64_t memo_uses; /* an answer that a memo gave is none for the cache */
    /* How the last call ended. */
    enum op_outcome outcome;
    struct ops_error error;
    struct buf error_text;
    struct err failure;
    const struct nested_observer *parts; /* who is told of calls within calls; NULL */
    ops_subgraph *subgraph;
    void *subgraph_user;
    const struct tensor_meta *wrapped[VALUE_COMPLEX + 1]; /* numbers as tensors, made by binding */
    bool short_of_memory; /* something was not remembered: counts are short */
    bool cache_off, fast_off, eager, exporting;
    unsigned recalls; /* how many runs the walk stands for; 0: what was seen is known */
};

/* The schema's slots are there: parsed on first use. */
bool op_prepare(struct ops *ops, struct op *op);

/* A call at the current depth. */
enum op_outcome ops_dispatch(struct ops *ops, struct op *op, const struct value *args, uint32_t n,
                             const struct keyword *keywords, uint32_t n_keywords,
                             struct value *ret);

/* Told to ops->parts, or answered inside of a call that was (nested_observer.c). */
enum op_outcome nested_call(struct ops *ops, const struct op *op, struct value *bound,
                            struct value *ret);
/* The rule itself: no cache is asked, nothing counted. */
enum op_outcome run_rule(struct ops *ops, const struct op *op, const struct value *bound,
                         struct value *ret);

/* Arguments in the schema's order with defaults; bound has room for OPS_MAX_ARGS. Refuses. */
enum op_outcome ops_bind(struct ops *ops, const struct op *op, const struct value *args, uint32_t n,
                         const struct keyword *keywords, uint32_t n_keywords, struct value *bound);

void stats_release(struct op_stats_table *stats);
/* Of that operator under the current stack; NULL: out of memory. */
struct op_stack_stats *stats_of_stack(struct op_stats_table *stats, uint32_t op);

/* What the environment raised becomes the call's refusal. Always false. */
bool call_raised(struct call *c);

/* False: an eager call on tensors of a device that the operator has no kernel for; refused. */
bool check_backend(struct call *c);
/* What in-place and out= forms check and return beyond the rule's answer in c->ret. */
bool finish_written(struct call *c);
void forget_written(struct ops *ops, const struct op *op, const struct value *bound);

/* What the cache asks of each tensor among the arguments (NULL), or in a result, for its key and
 * its entry. */
void ask_metadata(struct call *c, const struct value *result);
/* _get_output_tensor_from_cache_entry: a new entry's result is made once, while guards are
 * suppressed; what was asked then is remembered, though. */
void ask_synthesized(struct ops *ops, const struct op *op, struct value result);

/* Set the outcome; each returns it. */
enum op_outcome ops_refuse(struct ops *ops, struct str type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum op_outcome ops_unsupported(struct ops *ops, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum op_outcome ops_no_memory(struct ops *ops);

#endif

/* Inside of the operators' context; for the files of replay/ops that are not rules. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_CONTEXT_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_CONTEXT_H

#include "replay/ops/dispatch/rule.h"
#include "replay/ops/dispatch/schema.h"
#include "replay/ops/dispatch/tensor_memo.h"
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
    bool slow;             /* a switch: has no fast path */
    uint32_t index;        /* in the table */
    struct op *next_overload; /* of the same base name, in the table's order */
    struct str name;          /* "aten.add.Tensor" */
};

/* --- The table of operators (replay/ops/op_table.c) --- */

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
/* The schema's slots are there: parsed on first use. */
bool op_prepare(struct ops *ops, struct op *op);

/* A call that a rule makes (call_op() of rule.h), its row found. */
struct value call_row(struct call *c, struct op *op, const struct value *args, uint32_t n,
                      const struct keyword *keywords, uint32_t n_keywords);

/* --- Metas by content --- */

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

/* --- Layers --- */

/* What lies over computing. This room and those of the rules call it by these functions and know
 * no more of it; replay/ops/layers.c fills them in. Each may be NULL, but for enter(). */
struct ops_layers {
    /* Answers a call whose arguments are bound, at any depth: the outermost layer, which calls the
     * next one, and so on until compute_call(). */
    enum op_outcome (*enter)(struct call *c);
    /* A call from outside, before its arguments are bound; calls ops_dispatch(). */
    enum op_outcome (*outside)(struct ops *ops, struct op *op, const struct arguments *arguments,
                               struct value *ret);
    /* What a rule says that PyTorch counts (rule.h). */
    void (*counter)(struct call *c, enum op_counter counter);
    void (*dispatches)(struct call *c, uint32_t n);
    void (*step)(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                 const sym_id *args, uint32_t n, uint32_t within);
    void (*made)(struct call *c, const char *name, struct tensor x);
    void (*devices)(struct call *c, uint32_t n);
};

/* --- The context --- */

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

struct bodies; /* replay/ops/decomp/bodies.h */
struct memo;   /* replay/ops/memo/memo.h */
struct model;  /* replay/ops/model/model.h */

struct ops {
    const struct custom_rules *rules;
    struct bodies *bodies;
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
    struct ops_layers layers;
    struct memo *memo;
    struct model *model;
    uint32_t next_storage;
    vec_of(sym_id)
    storage_bytes;             /* by storage; replay/ops/layout/storage.h */
    uint32_t depth, nesting;   /* composite operators nest, but add no depth */
    uint32_t kernel;           /* depth of what meta kernels call by themselves */
    uint64_t symbolic_tensors; /* made so far, for differences */
    vec_of(struct written)
    written;
    struct tensor_memo_table memos;
    uint64_t memo_uses; /* an answer that a memo gave must not be remembered */
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
    bool fast_off, eager, exporting;
};

/* A context without layers: calls are computed. False: out of memory; to be released. */
bool context_init(struct ops *ops, struct shape_env *env, const struct custom_rules *rules,
                  struct err *err);
void context_release(struct ops *ops);
/* Forgets values and storages: for the next graph. */
void context_reset(struct ops *ops);
/* Another environment: metas and schemas of the old one go. */
void context_set_env(struct ops *ops, struct shape_env *env);

/* --- Calls (call.c) --- */

/* Binds the arguments and answers at the current depth. */
enum op_outcome ops_dispatch(struct ops *ops, struct op *op, const struct arguments *arguments,
                             struct value *ret);
/* Arguments in the schema's order with defaults; bound has room for OPS_MAX_ARGS. Refuses. */
enum op_outcome ops_bind(struct ops *ops, const struct op *op, const struct arguments *arguments,
                         struct value *bound);
/* A call of op with bound arguments, which it borrows, not yet answered. */
struct call call_of(struct ops *ops, const struct op *op, const struct value *bound);

/* The innermost layer: runs the rule at one more depth. c->ret is the result; says too whether the
 * call has to be made each time anew (c->repeatable), and why PyTorch's cache passes it by. */
enum op_outcome compute_call(struct call *c);
/* Only the rule, at one more depth. `deeper`: does it add to the depth of dispatches? */
enum op_outcome run_call(struct call *c, bool deeper);
/* Does FakeTensorMode see it? C++ takes composite operators apart before that, but for those that
 * a decomposition in Python calls. */
bool is_dispatched(const struct call *c);
/* Told to ops->parts, or answered inside of a call that was (nested_observer.c). */
enum op_outcome observed_call(struct call *c, struct value *bound);

/* Why PyTorch's cache passes a call by, from its operator and arguments; asked once (bypass.c). */
enum op_bypass call_bypass(struct call *c);
/* And from its result. */
enum op_bypass bypass_of_result(const struct call *c);

/* What the environment raised becomes the call's refusal. Always false. */
bool call_raised(struct call *c);

/* False: an eager call on tensors of a device that the operator has no kernel for; refused. */
bool check_backend(struct call *c);
/* What in-place and out= forms check and return beyond the rule's answer in c->ret. */
bool finish_written(struct call *c);
void forget_written(const struct call *c);

/* What PyTorch's cache asks of each tensor among the arguments (NULL), or in a result, for its key
 * and its entry (metadata.c). */
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

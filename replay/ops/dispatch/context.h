/* The inside of the operators' context, for the files of replay/ops that are not rules. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_CONTEXT_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_CONTEXT_H

#include "replay/ops/dispatch/rule.h"
#include "replay/ops/dispatch/schema.h"
#include "replay/ops/dispatch/tensor_memo.h"
#include "replay/ops/layout/cached_strides.h"
#include "replay/ops/layout/cached_views.h"
#include "trace/base/arena.h"
#include "trace/base/hash_index.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

enum {
    OPS_MAX_DEPTH = 64, /* of nested calls */
    OPS_MAX_ARGS = SCHEMA_MAX_SLOTS
};

struct op {
    struct schema schema; /* only its name until `parsed` */
    struct str row,
        form; /* the schema of the row, and the form of it that this is (schema_derive()) */
    op_rule *rule;
    int32_t param;
    bool composite, pointwise, parsed;
    bool inplace_view;     /* changes the meta of its first argument (PyTorch's tag inplace_view) */
    bool writes;           /* some argument is Tensor(a!) */
    bool returns_keyword;  /* out= forms: a result is a keyword argument */
    enum op_bypass bypass; /* why PyTorch's cache bypasses it, by tag or namespace */
    uint32_t ablated;      /* bits: enum ablation */
    uint32_t index;        /* in the table */
    uint32_t next_overload; /* the index, plus 1, of the next with the same base name; 0: none */
    struct str name;        /* "aten.add.Tensor" */
};

/* --- The table of operators (replay/ops/op_table.c) --- */

/* The rows that a context looked up. They are its own, because schemas are parsed for its
 * environment. */
struct own_rows {
    struct arena arena;
    bool no_memory;    /* a look-up returned NULL because memory ran out */
    struct op *rows[]; /* by index; NULL for those that were not looked up */
};

struct op_row; /* a row of replay/ops/all_ops.def */

/* An operator of the catalog: a form of a row. Thousands stand there and a context calls a hundred,
 * so names are read from the row where one is looked up. */
struct op_form {
    const struct op_row *row;
    struct str form;
    uint32_t next_overload; /* as in struct op */
    uint8_t bypass;         /* an enum op_bypass */
};

struct op_table {
    const struct op_form *forms; /* the catalog's, which all contexts share */
    uint32_t n;
    struct hash_index by_name, by_base; /* of forms; the first overload has the base name */
    struct own_rows *own;               /* NULL in a catalog */
};

struct custom_rules;
/* All operators. But for its bodies, a catalog does not change after op_catalog_new()
 * (replay/ops/layers.h). */
struct op_catalog {
    const struct custom_rules *rules; /* borrowed, or NULL */
    struct bodies *bodies;            /* filled as operators are called */
    struct arena arena;
    struct op_form *forms;
    struct op_table table;
};
/* Makes the table of a context, which borrows the catalog's forms and indexes. */
bool op_table_borrow(struct op_table *table, const struct op_catalog *catalog);
void op_table_release(struct op_table *table);
op_rule rule_custom;
/* Returns a context's own row; NULL when memory ran out, which own->no_memory says, too. */
struct op *op_table_row(const struct op_table *table, uint32_t index);
/* Returns the row, as op_table_row(), or NULL. */
struct op *op_table_find(const struct op_table *table, struct str name);
/* Returns the first overload of "aten.add" or "aten::add", or NULL. */
struct op *op_table_base(const struct op_table *table, struct str name);
/* Returns the next overload in the table's order, or NULL. */
struct op *op_table_next(const struct op_table *table, const struct op *op);
/* Makes sure that the schema's slots are there: parses it on first use. */
bool op_prepare(struct ops *ops, struct op *op);

/* Makes a call of a rule (call_op() of rule.h) whose row is known. */
struct value call_row(struct call *c, struct op *op, const struct value *args, uint32_t n,
                      const struct keyword *keywords, uint32_t n_keywords);

/* --- Metas by content --- */

struct meta_table {
    struct arena arena;
    vec_of(const struct tensor_meta *)
    metas; /* by id */
    vec_of(uint8_t)
    symbolic;                /* by id: a size, stride or offset is no number */
    struct hash_index index; /* of metas */
    uint32_t max_ndim;       /* the largest of all metas */
};

const struct tensor_meta *meta_intern(struct meta_table *table, const struct sym_pool *pool,
                                      const struct tensor_meta *meta);
void meta_table_release(struct meta_table *table);

/* --- Layers --- */

/* The layers over computing. This room and those of the rules use them only through these
 * functions, which replay/ops/layers.c sets. Each may be NULL, except enter(). */
struct ops_layers {
    /* Handles a call whose arguments are bound, at any depth. This is the outermost layer, which
     * calls the next one, and so on until compute_call(). */
    enum op_outcome (*enter)(struct call *c);
    /* Handles a call from outside before its arguments are bound; calls ops_dispatch(). */
    enum op_outcome (*outside)(struct ops *ops, struct op *op, const struct arguments *arguments,
                               struct value *ret);
    /* Receives PyTorch's counts that a rule reports (rule.h). */
    void (*counter)(struct call *c, enum op_counter counter);
    void (*dispatches)(struct call *c, uint32_t n);
    void (*step)(struct call *c, const char *name, struct tensor x, const struct geometry *g,
                 const sym_id *args, uint32_t n, uint32_t within);
    void (*made)(struct call *c, const char *name, struct tensor x);
    void (*devices)(struct call *c, uint32_t n);
};

/* --- The context --- */

/* What the last call wrote: an argument, by its index in the schema, and its new meta. */
struct written {
    uint32_t arg;
    struct tensor tensor;
};

/* A tensor that vmap batches (BatchedTensorImpl): its meta is that of one slice of `whole`, which
 * has the batch dimension `dim`, and may be batched at a lower level. */
struct batched {
    struct tensor whole;
    uint32_t dim;
    int64_t level;
};

/* Handles a call with a batched argument (replay/ops/python/vmap/vmap.c). */
typedef enum op_outcome batched_call(struct ops *ops, struct op *op, struct value *bound,
                                     struct value *ret);

/* The state of torch.autocast, as the calls of a captured graph set it last. */
struct autocast {
    enum device_type device;
    enum dtype dtype;
    bool enabled;
};

/* The kernels of scaled_dot_product_attention, by their numbers in torch.nn.attention.SDPBackend.
 */
enum sdpa_kernel { SDPA_MATH = 0, SDPA_FLASH = 1, SDPA_EFFICIENT = 2 };

struct bodies; /* replay/ops/decomp/bodies.h */
struct memo;   /* replay/ops/memo/memo.h */
struct model;  /* replay/ops/model/model.h */

struct ops {
    const struct op_catalog *catalog;
    struct op_catalog *own_catalog; /* or NULL: `catalog` is borrowed */
    struct autocast autocast;
    bool scalar_tensors_index; /* ops_set_scalar_indices() */
    bool backward;             /* ops_set_backward() */
    uint32_t excluded_sdpa; /* bits: the kernels that torch.nn.attention.sdpa_kernel() excludes */
    struct shape_env *env;
    struct sym_pool *pool;
    struct arena arena;    /* lives until ops_reset() */
    struct arena schemas;  /* lives until the environment is replaced */
    struct arena lifetime; /* lives until ops_free() */
    struct intern names;   /* lives until ops_free() */
    vec_of(uint32_t)
    parsed; /* rows with a schema in `schemas` */
    struct op_table table;
    struct meta_table metas;
    struct ops_layers layers;
    struct memo *memo;
    struct model *model;
    uint32_t next_storage;
    int32_t current_device; /* the index that "cuda" means */
    vec_of(sym_id)
    storage_bytes; /* by storage; replay/ops/layout/storage.h */
    vec_of(uint32_t)
    gradients;                    /* storages: ops_note_gradient() */
    bool gradients_disabled;      /* ops_forget_gradients() */
    uint32_t depth, nesting;      /* composite operators add to nesting, but not to depth */
    const struct call *outermost; /* the running call that no other made; NULL: none is running */
    uint32_t kernel;              /* depth of the calls that meta kernels make by themselves */
    uint64_t symbolic_tensors;    /* number made so far; differences of it are used */
    vec_of(struct written)
    written;
    vec_of(struct batched)
    batched;                    /* by struct tensor.batch - 1 */
    batched_call *call_batched; /* or NULL: batched tensors are called as slices */
    struct cached_views cached_views;
    struct cached_strides cached_strides;
    struct tensor_memo_table memos;
    uint64_t memo_uses; /* results from a tensor's memo must not be memoised again */
    /* How the last call ended. */
    enum op_outcome outcome;
    struct ops_error error;
    struct buf error_text;
    struct err failure;
    const struct nested_observer *nested_observer; /* the observer of nested calls, or NULL */
    ops_subgraph *subgraph;
    void *subgraph_user;
    const struct tensor_meta *wrapped[VALUE_COMPLEX + 1]; /* the metas of numbers used as tensors */
    bool short_of_memory; /* something was not memoised, so that counts may be too low */
    bool eager, exporting, autograd, leaves_backward;
    uint32_t ablated; /* bits: enum ablation */
    /* The depth of the calls that the running rule makes without FakeTensorMode, or 0. */
    uint32_t without_mode;
    /* Tries the fast path for an operator that PyTorch has none for (rules/pointwise), or NULL. */
    bool (*added_fast_path)(struct call *c);
};

/* Creates a context without layers: calls are computed. False: out of memory; it must be
 * released. */
bool context_init(struct ops *ops, struct shape_env *env, const struct op_catalog *catalog,
                  struct err *err);
void context_release(struct ops *ops);
/* Drops values and storages before the next graph. */
void context_reset(struct ops *ops);
/* Replaces the environment, and drops metas and schemas of the old one. */
void context_set_env(struct ops *ops, struct shape_env *env);

/* --- Calls (call.c) --- */

/* Binds the arguments and handles the call at the current depth. */
enum op_outcome ops_dispatch(struct ops *ops, struct op *op, const struct arguments *arguments,
                             struct value *ret);
/* Puts arguments into the schema's order with defaults, or refuses the call; `bound` has
 * OPS_MAX_ARGS items. */
enum op_outcome ops_bind(struct ops *ops, const struct op *op, const struct arguments *arguments,
                         struct value *bound);
/* Calls op with bound arguments at the current depth, without batching rules. */
enum op_outcome ops_dispatch_slices(struct ops *ops, struct op *op, struct value *bound,
                                    struct value *ret);
/* Calls op with bound arguments at the current depth. */
enum op_outcome ops_dispatch_bound(struct ops *ops, struct op *op, struct value *bound,
                                   struct value *ret);
/* Returns a call of op, not made yet, with bound arguments, which it borrows. */
struct call call_of(struct ops *ops, const struct op *op, const struct value *bound);

/* The innermost layer: runs the rule at one more depth. Sets c->ret to the result, c->repeatable,
 * and the reason why PyTorch's cache bypasses the call. */
enum op_outcome compute_call(struct call *c);
/* Runs only the rule, at one more depth. `deeper`: it adds to the depth of dispatches. */
enum op_outcome run_call(struct call *c, bool deeper);
/* Returns whether the call reaches FakeTensorMode. C++ decomposes composite operators before that,
 * except those that a decomposition in Python calls. */
bool is_dispatched(const struct call *c);
/* Makes a call that is reported to ops->nested_observer, or one nested in such a call
 * (nested_observer.c). */
enum op_outcome observed_call(struct call *c, struct value *bound);

/* Returns why PyTorch's cache bypasses a call, by its operator and arguments; computed once
 * (bypass.c). */
enum op_bypass call_bypass(struct call *c);
/* Returns why PyTorch's cache bypasses a call, by its result. */
enum op_bypass bypass_of_result(const struct call *c);

/* Ends the call because memory ran out. Always returns false. */
bool call_no_memory(struct call *c);
/* Turns what the environment raised into the call's refusal. Always returns false. */
bool call_raised(struct call *c);

/* Refuses an eager call on tensors of a device for which the operator has no kernel (false). */
bool check_backend(struct call *c);
/* Returns the tensor that is item i of the rule's result, which the call may change, or NULL: there
 * is no such item, or it is no tensor. */
struct tensor *result_tensor(struct call *c, uint32_t i);
/* Does the checks of in-place and out= forms, and sets their results, after the rule set c->ret. */
bool finish_written(struct call *c);
/* Before the rule of a call that writes: see written.c. */
void clone_saved(struct call *c);
void forget_written(const struct call *c);

/* Evaluates the conditions that PyTorch's cache evaluates for each tensor among the arguments
 * (NULL) for its key, or in a result for its entry (metadata.c). */
void ask_metadata(struct call *c, const struct value *result);
/* _get_output_tensor_from_cache_entry: the result of a new entry is made once while guards are
 * suppressed; but what is evaluated then is cached. */
void ask_synthesized(struct ops *ops, const struct op *op, struct value result);

/* Each of these sets the outcome and returns it. */
enum op_outcome ops_refuse(struct ops *ops, struct str type, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum op_outcome ops_unsupported(struct ops *ops, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
enum op_outcome ops_no_memory(struct ops *ops);

#endif

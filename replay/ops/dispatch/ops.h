/* Operators: computes PyTorch's results of calls, without PyTorch.
 *
 *     struct ops *ops = ops_new(env, &err);
 *     struct value two[] = { value_tensor(x), value_tensor(y) }, result;
 *     struct arguments arguments = { .values = two, .n = 2 };
 *     switch (ops_call(ops, STR("aten.add.Tensor"), &arguments, &result)) ...
 *
 * An operator is one row of a table (the tables in replay/ops/rules): its public schema, as
 * torch/_C/_jit_get_all_schemas() prints it, the rule of its family, and a parameter that
 * distinguishes it in its family. A rule computes the metas of the results, evaluates in the
 * environment the conditions that PyTorch's kernel, decomposition or reference evaluates (and so
 * adds the same guards), and refuses with PyTorch's text. In-place and out= forms share the row's
 * rule: their further results and checks follow from the schema's alias annotations.
 *
 * There are two layers over computing (replay/ops/layers.h, which also creates contexts): the
 * memo returns the results of repeated calls, for speed, and the dispatch model counts as PyTorch
 * would.
 *
 * One context serves one thread. It borrows the environment, whose pool it uses. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_OPS_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_OPS_H

#include "replay/ops/dispatch/value.h"
#include "replay/shape/env/env.h"

struct ops;
struct op; /* a row of the table */

enum op_outcome {
    OP_DONE,
    OP_REFUSED,     /* PyTorch would raise: ops_error() */
    OP_UNSUPPORTED, /* no row, or a form of it that its rule does not support: see ops_error() */
    OP_FAILED       /* out of memory, a limit: ops_failed() */
};

struct ops_error {
    struct str type; /* "RuntimeError", "GuardOnDataDependentSymNode" ... */
    struct str text;
};

/* Returns whether an operator makes a tensor without values: aten.empty_strided and similar ones.
 */
bool op_allocates(struct str op);

struct shape_env *ops_env(const struct ops *ops);
struct sym_pool *ops_pool(const struct ops *ops);

/* --- Calls --- */

struct keyword {
    struct str name;
    struct value value;
};

/* A call's arguments as in Python: by position, then by name. */
struct arguments {
    const struct value *values;
    uint32_t n;
    const struct keyword *keywords;
    uint32_t n_keywords;
};

/* Returns the row of "aten.add.Tensor" (also "aten::add.Tensor", "torch.ops.aten.add.Tensor";
 * ".default" may be left out), or NULL. Rows belong to the context. */
const struct op *ops_find(const struct ops *ops, struct str name);
/* Returns whether "aten.sum" names several overloads (an OpOverloadPacket), of which the arguments
 * of a call choose one; ops_find() finds the one that is called default. */
bool ops_is_packet(const struct ops *ops, struct str name);
/* Returns whether that operator, named as by node_op_name(), returns memory of its arguments ("->
 * Tensor(a)" of views, "-> Tensor(a!)" of in-place forms). It uses the table of rows, without a
 * context, and returns false for operators that are not in it. */
bool op_returns_alias(struct str name);
/* Visits the schema of each row of that table, "aten::add.Tensor(Tensor self, ..." or without
 * "aten::". */
void ops_visit_rows(void (*visit)(void *user, struct str schema), void *user);
size_t ops_count(const struct ops *ops);
/* Returns a row; NULL when memory ran out, which ops_short_of_memory() says, too. */
const struct op *ops_at(const struct ops *ops, size_t i);
/* Returns a row that was looked up, or NULL: only those have been called. */
const struct op *ops_looked_up(const struct ops *ops, size_t i);
bool op_is_pointwise(const struct op *op); /* according to its row (replay/ops/all_ops.def) */
/* Returns the schema, of which only the parts of its name are set until the operator is called or
 * ops_prepare() is called. */
struct schema;
const struct schema *op_schema(const struct op *op);
/* Returns the whole schema; NULL: memory ran out, or the environment had raised something before.
 */
const struct schema *ops_prepare(struct ops *ops, const struct op *op);
struct str op_name(const struct op *op); /* "aten.add.Tensor" */
uint32_t op_index(const struct op *op);  /* in the table */

/* Makes a call as FakeTensorMode sees it. Several results are a VALUE_TUPLE, a Tensor[] is a
 * VALUE_LIST, and no result is VALUE_NONE. The result is valid until ops_reset(). */
enum op_outcome ops_call(struct ops *ops, struct str name, const struct arguments *arguments,
                         struct value *ret);
enum op_outcome ops_call_op(struct ops *ops, const struct op *op, const struct arguments *arguments,
                            struct value *ret);
/* Observation of nested calls: rules of composite operators and of Python's functions call
 * others. An observer that computes those (replay/backend/run/nested_calls.h) has the values of
 * the whole. */
struct schema;
enum observation {
    OBSERVE_INSIDE, /* the rule is run, and its own calls are reported */
    OBSERVE_WHOLE,  /* no call nested in it is reported; end() is called */
    OBSERVE_FAILED
};
struct nested_observer {
    /* Called before each call, with its arguments in the schema's order, which it may change. */
    enum observation (*begin)(void *user, const struct op *op, struct value *args, uint32_t n,
                              struct err *err);
    bool (*end)(void *user, const struct op *op, const struct schema *schema,
                const struct value *args, struct value result, struct err *err);
    void *user;
};
/* Sets the observer (NULL for none) and returns the previous one. With an observer, calls are
 * computed: no layer is used. */
const struct nested_observer *ops_set_nested_observer(struct ops *ops,
                                                      const struct nested_observer *observer);
bool ops_has_nested_observer(const struct ops *ops); /* whether there is an observer */
/* The state for a call from outside while a rule is running: from within a struct nested_observer.
 */
struct ops_outside {
    const struct nested_observer *nested_observer;
    uint32_t depth, nesting, kernel;
    size_t written;
};
struct ops_outside ops_step_out(struct ops *ops);
void ops_step_in(struct ops *ops, struct ops_outside outside);

/* The same in two steps, for a caller that needs the arguments, too (replay/backend/run/exec.h), in
 * a context without dispatch model. First the arguments are put into the schema's order, with
 * defaults; bound has SCHEMA_MAX_SLOTS items. Then the call is made; the rule reads the values that
 * `bound` has by then. */
struct schema;
enum op_outcome ops_bind_call(struct ops *ops, const struct op *op,
                              const struct arguments *arguments, struct value *bound,
                              const struct schema **schema);
enum op_outcome ops_call_bound(struct ops *ops, const struct op *op, struct value *bound,
                               struct value *ret);
/* Returns whether torch.autocast is enabled, so that an operator's own call casts as the dispatcher
 * does. */
bool ops_autocasts(const struct ops *ops);
/* Enables torch.autocast, as if a program had entered it, until ops_reset() or a call that leaves
 * it. */
void ops_set_autocast(struct ops *ops, enum device_type device, enum dtype dtype);
/* Calls a node's target as a graph prints it: an operator ("torch.ops.aten.mm.default") or a Python
 * function ("torch.addmm", "torch.nn.functional.relu", "operator.add", "torch.sym_max"). */
enum op_outcome ops_call_function(struct ops *ops, struct str target,
                                  const struct arguments *arguments, struct value *ret);
/* Calls a method; args[0] is the receiver. */
enum op_outcome ops_call_method(struct ops *ops, struct str method,
                                const struct arguments *arguments, struct value *ret);

/* The tensor arguments (by their index in the schema, not in lists) whose meta the call changed,
 * as transpose_(), resize_(), set_() or an out= of another size do. The caller has to use the new
 * tensor from here on. */
size_t ops_n_written(const struct ops *ops);
struct tensor ops_written(const struct ops *ops, size_t i, uint32_t *arg);

/* Returns the error of the last call that did not end in OP_DONE. */
const struct ops_error *ops_error(const struct ops *ops);
bool ops_failed(const struct ops *ops, struct err *err); /* moves the reason of OP_FAILED to err */

/* Calls a subgraph for a higher-order operator; set by the function that walks the graph. Runs the
 * subgraph named `graph` on args. */
typedef enum op_outcome ops_subgraph(void *user, struct str graph, const struct value *args,
                                     uint32_t n, struct value *ret);
void ops_set_subgraph(struct ops *ops, ops_subgraph *run, void *user);

/* Sets whether x[i, j] with tensors of 0 dimensions calls aten.index instead of reading numbers, as
 * in functions that modify scores of attention (TransformGetItemToIndex of
 * torch/_dynamo/_trace_wrapped_higher_order_op.py). At first it does not. */
void ops_set_scalar_indices(struct ops *ops, bool on);

/* Sets whether the calls to come are made by formulas of autograd. */
void ops_set_backward(struct ops *ops, bool on);

/* Returns whether memory ran out for a tensor's meta, or for something that a result does not need:
 * the cache, counters, conditions that are evaluated for their guards. */
bool ops_short_of_memory(const struct ops *ops);
/* Returns how often a result came from a tensor's memo (nonzero(), item()). */
uint64_t ops_memo_uses(const struct ops *ops);
/* Notes that an argument of the next call requires a gradient, where autograd records: only metas
 * of inputs say so. The tensors of its storage do in that call. False: out of memory. */
bool ops_note_gradient(struct ops *ops, struct tensor x);
/* Before another call. disabled: gradients are (torch.set_grad_enabled()). */
void ops_forget_gradients(struct ops *ops, bool disabled);
bool ops_requires_gradient(const struct ops *ops, struct tensor x);
/* Returns whether an operator of PyTorch has PyTorch's tag inplace_view in an overload, by its name
 * without the namespace ("unsqueeze_"): it changes the meta of its first argument. */
bool ops_has_inplace_view(struct str base);
/* Returns whether autograd makes a node for a call that takes the tensor. */
bool ops_records_gradient(const struct ops *ops, struct tensor x);

/* Evaluates what FakeTensorMode evaluates to make a result, a view or not, out of an entry of its
 * cache (_get_output_tensor_from_cache_entry of torch/_subclasses/fake_tensor.py). That adds no
 * guards, but ShapeEnv remembers what it could not tell. */
void ops_ask_cached(struct ops *ops, struct value result, bool view);

/* Sets the result of x.item(), for an input whose value a log has. False: out of memory. */
bool ops_remember_item(struct ops *ops, struct tensor x, struct value number);

/* Returns a terminated copy, one for equal texts, that lives as long as the context, or NULL when
 * out of memory. */
const char *ops_keep_name(struct ops *ops, struct str name);

/* --- Making arguments --- */

/* _normalize_fake_device of torch/_subclasses/fake_tensor.py: "cuda" is the current device, that of
 * the inputs, or cuda:0. */
struct device ops_pin_device(const struct ops *ops, struct device device);
/* Copies and interns a meta, ignoring meta.id; its device is pinned. NULL: out of memory, see
 * ops_short_of_memory(). */
const struct tensor_meta *ops_intern(struct ops *ops, const struct tensor_meta *meta);
struct tensor ops_new_tensor(struct ops *ops, const struct tensor_meta *meta); /* new storage */
/* Allocates n values that live until ops_reset(); NULL: out of memory. */
struct value *ops_values(struct ops *ops, size_t n);
struct arena *ops_arena(struct ops *ops);
uint32_t ops_next_storage(const struct ops *ops); /* the number of the next new storage */

#endif

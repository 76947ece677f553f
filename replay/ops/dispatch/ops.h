/* Operators: what PyTorch would answer to a call, without PyTorch.
 *
 *     struct ops *ops = ops_new(env, &err);
 *     struct value two[] = { value_tensor(x), value_tensor(y) }, result;
 *     struct arguments arguments = { .values = two, .n = 2 };
 *     switch (ops_call(ops, STR("aten.add.Tensor"), &arguments, &result)) ...
 *
 * An operator is one row of a table (the tables in replay/ops/rules): its public schema, as
 * torch/_C/_jit_get_all_schemas() prints it, the rule of its family, and what tells it from its
 * family. A rule computes the metas of the results, asks the environment what PyTorch's kernel,
 * decomposition or reference asks (and so adds the same guards), and refuses with PyTorch's text.
 * In-place and out= forms share the row's rule: what they return and check beyond it follows from
 * the schema's alias annotations.
 *
 * Over computing lie two layers (replay/ops/layers.h, which makes contexts, too): the memo answers
 * calls that were made before, for our speed, and the dispatch model counts what PyTorch would
 * count.
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
    OP_UNSUPPORTED, /* no row, or a form of it that no rule knows: ops_error() names it */
    OP_FAILED       /* out of memory, a limit: ops_failed() */
};

struct ops_error {
    struct str type; /* "RuntimeError", "GuardOnDataDependentSymNode" ... */
    struct str text;
};

/* Without the fast path of binary operators, or of one of them: a what-if question. On at first. */
void ops_set_fast_path(struct ops *ops, bool on);
void op_set_fast_path(struct ops *ops, const struct op *op, bool on);

struct shape_env *ops_env(const struct ops *ops);
struct sym_pool *ops_pool(const struct ops *ops);

/* --- Calling --- */

struct keyword {
    struct str name;
    struct value value;
};

/* What a call is given, as Python writes it: by position, then by name. */
struct arguments {
    const struct value *values;
    uint32_t n;
    const struct keyword *keywords;
    uint32_t n_keywords;
};

/* The row of "aten.add.Tensor" (also "aten::add.Tensor", "torch.ops.aten.add.Tensor"; ".default"
 * may be left out); NULL where there is none. Rows belong to the context. */
const struct op *ops_find(const struct ops *ops, struct str name);
/* Whether that operator, as node_op_name() spells it, returns memory of its arguments ("->
 * Tensor(a)" of views, "-> Tensor(a!)" of in-place forms). Asks the table of rows, without a
 * context; false for operators that are not in it. */
bool op_returns_alias(struct str name);
size_t ops_count(const struct ops *ops);
const struct op *ops_at(const struct ops *ops, size_t i);
bool op_is_pointwise(const struct op *op); /* its row says so (replay/ops/all_ops.def) */
/* The parts of its name. The rest, the text included, is there once the operator was called or
 * ops_prepare() was asked for it. */
struct schema;
const struct schema *op_schema(const struct op *op);
/* The whole schema; NULL: memory ran out, or the environment raised something before. */
const struct schema *ops_prepare(struct ops *ops, const struct op *op);
struct str op_name(const struct op *op); /* "aten.add.Tensor" */
uint32_t op_index(const struct op *op);  /* in the table */

/* A call as FakeTensorMode sees it. Several results are a VALUE_TUPLE, a Tensor[] a VALUE_LIST;
 * no result VALUE_NONE. Valid until ops_reset(). */
enum op_outcome ops_call(struct ops *ops, struct str name, const struct arguments *arguments,
                         struct value *ret);
enum op_outcome ops_call_op(struct ops *ops, const struct op *op, const struct arguments *arguments,
                            struct value *ret);
/* Rules of composite operators and of Python's functions call others: what they are made of. Who
 * computes those (replay/backend/run/nested_calls.h) has the values of the whole. */
struct schema;
enum ops_part {
    PART_INSIDE, /* the rule is run, and its own calls are told */
    PART_WHOLE,  /* nothing inside of it is told; end() is */
    PART_FAILED
};
struct nested_observer {
    /* Before each call, with its arguments in the schema's order, which may be given values. */
    enum ops_part (*begin)(void *user, const struct op *op, struct value *args, uint32_t n,
                           struct err *err);
    bool (*end)(void *user, const struct op *op, const struct schema *schema,
                const struct value *args, struct value result, struct err *err);
    void *user;
};
/* NULL: nobody. Returns who was. While somebody is told, calls are computed: no layer answers. */
const struct nested_observer *ops_set_parts(struct ops *ops, const struct nested_observer *parts);
bool ops_tells_parts(const struct ops *ops); /* is somebody told? */
/* A call from outside while a rule is at work: from within struct nested_observer. */
struct ops_outside {
    const struct nested_observer *parts;
    uint32_t depth, nesting, kernel;
    size_t written;
};
struct ops_outside ops_step_out(struct ops *ops);
void ops_step_in(struct ops *ops, struct ops_outside outside);

/* The same in two steps, for a caller that needs the arguments, too (replay/backend/run/exec.h), in
 * a context that models no pass. First they are put into the schema's order, defaults filled in;
 * bound has space for SCHEMA_MAX_SLOTS. Then the call is answered; what `bound` holds by then is
 * what the rule reads. */
struct schema;
enum op_outcome ops_bind_call(struct ops *ops, const struct op *op,
                              const struct arguments *arguments, struct value *bound,
                              const struct schema **schema);
enum op_outcome ops_call_bound(struct ops *ops, const struct op *op, struct value *bound,
                               struct value *ret);
/* Is a torch.autocast in force? Then an operator's own call casts as the dispatcher would, too. */
bool ops_autocasts(const struct ops *ops);
/* A node's target as a graph prints it: an operator ("torch.ops.aten.mm.default"), a Python
 * function ("torch.addmm", "torch.nn.functional.relu", "operator.add", "torch.sym_max"). */
enum op_outcome ops_call_function(struct ops *ops, struct str target,
                                  const struct arguments *arguments, struct value *ret);
/* args[0] is the receiver. */
enum op_outcome ops_call_method(struct ops *ops, struct str method,
                                const struct arguments *arguments, struct value *ret);

/* What a call wrote in place beyond values: a tensor argument (by its number in the schema, lists
 * not meant) whose meta is another now, as of transpose_(), resize_(), set_() or out= of another
 * size. The caller has to let it stand for that tensor from here on. */
size_t ops_n_written(const struct ops *ops);
struct tensor ops_written(const struct ops *ops, size_t i, uint32_t *arg);

/* What the last call that did not end in OP_DONE said. */
const struct ops_error *ops_error(const struct ops *ops);
bool ops_failed(const struct ops *ops, struct err *err); /* moves the reason of OP_FAILED to err */

/* A subgraph that a higher-order operator calls: set by who walks the graph. Runs the child named
 * `graph` on args. */
typedef enum op_outcome ops_subgraph(void *user, struct str graph, const struct value *args,
                                     uint32_t n, struct value *ret);
void ops_set_subgraph(struct ops *ops, ops_subgraph *run, void *user);

/* Memory ran out for a tensor's meta, or where an answer could do without: of the cache, of
 * counters, of questions that are asked for what they leave behind. */
bool ops_short_of_memory(const struct ops *ops);
/* How often a call was answered by what a tensor remembers (nonzero(), item()). */
uint64_t ops_memo_uses(const struct ops *ops);
/* x.item() gives that number, as of an input whose value a log names. False: out of memory. */
bool ops_remember_item(struct ops *ops, struct tensor x, struct value number);

/* A terminated copy, one of equal texts, that lives as long as the context; NULL: out of memory. */
const char *ops_keep_name(struct ops *ops, struct str name);

/* --- Making arguments --- */

/* Copied and interned; meta.id is not looked at. NULL: out of memory, and ops_short_of_memory(). */
const struct tensor_meta *ops_intern(struct ops *ops, const struct tensor_meta *meta);
struct tensor ops_new_tensor(struct ops *ops, const struct tensor_meta *meta); /* new storage */
/* Room for n values that lives until ops_reset(); NULL: out of memory. */
struct value *ops_values(struct ops *ops, size_t n);
struct arena *ops_arena(struct ops *ops);
uint32_t ops_next_storage(const struct ops *ops); /* the number that the next one gets */

#endif

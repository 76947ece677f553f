/* Calls as Python wrote them.
 *
 * Graphs that dynamo captured call Python functions and methods, whose arguments Python binds and
 * whose bodies call operators. A body that is more than one operator of the same name is a row of
 * python.def: its Python signature and a rule, which is written like that of an operator
 * (replay/ops/dispatch/rule.h) and runs outside of any dispatch, so that its calls are counted at
 * depth 0. All others are calls of the overloads of aten::NAME (python_overload.c). */
#ifndef SYMTAPE_REPLAY_OPS_PYTHON_PYTHON_H
#define SYMTAPE_REPLAY_OPS_PYTHON_PYTHON_H

#include "replay/ops/dispatch/rule.h"

struct python_row {
    const char *name;      /* "torch.nn.functional.relu", "Tensor.size" */
    const char *signature; /* "input, p=0.5, *rest, inplace=False" */
    op_rule *rule;         /* call.param is the row's index; python_at(c->param) returns the row */
    const char *base;      /* for rules that several rows share: the operator that they call */
};

/* Returns the row of a function's full name, or NULL. */
const struct python_row *python_find(struct str name);
size_t python_count(void);
const struct python_row *python_at(size_t i);

/* Returns whether autocast casts the arguments of an operator of that base name to its dtype. */
bool python_is_lowered(struct str base, enum device_type device);

/* Puts arguments into the order of a Python signature, with defaults. Returns NULL after refusing
 * (TypeError). "*name" takes the remaining positional arguments as a list, or the only list. */
const struct value *python_bind(struct call *c, const char *signature,
                                const struct arguments *arguments, uint32_t *n_bound);

/* Calls aten::NAME with Python's arguments: the first overload, in the order of Python's argument
 * parser, that accepts them. False: none does (*found: whether there is one of that name). */
bool python_overloads(struct call *c, struct str base, bool method,
                      const struct arguments *arguments, struct value *ret, bool *found);

/* --- For bodies --- */

/* Calls that overload, "aten.select.int", and returns its result. */
struct value py_op(struct call *c, const char *name, const struct value *args, uint32_t n);
struct value py_op_keywords(struct call *c, const char *name, const struct value *args, uint32_t n,
                            const struct keyword *keywords, uint32_t n_keywords);
/* Calls the overload of aten::BASE that Python's argument parser chooses. */
struct value py_call(struct call *c, const char *base, const struct value *args, uint32_t n);
struct value py_call_keywords(struct call *c, const char *base, const struct value *args,
                              uint32_t n, const struct keyword *keywords, uint32_t n_keywords);
struct tensor value_as_tensor(struct call *c, struct value value); /* refuses another value */
bool py_truth(struct call *c, struct value value); /* bool(value); guards on a symbolic one */

/* Python's operators on any values: tensors, numbers, tuples, lists, sizes (operator.NAME). */
bool python_operator(struct call *c, struct str name, const struct value *args, uint32_t n,
                     struct value *ret, bool *found);
/* x[index] and x[index] = value for a tensor. */
struct value python_getitem(struct call *c, struct tensor x, struct value index);
bool python_setitem(struct call *c, struct tensor x, struct value index, struct value value);
/* getattr(x, name). */
bool python_attribute(struct call *c, struct value x, struct str name, struct value *ret);
static inline struct value py_bool(bool value)
{
    return value_sym(VALUE_BOOL, sym_boolean(value));
}
struct value py_int(struct call *c, int64_t value);
struct value py_float(struct call *c, double value);
struct value py_list(struct call *c, const struct value *items, uint32_t n);
bool py_is(struct value value, const char *text); /* whether it is a string with that text */
static inline const char *row_base(const struct call *c)
{
    return python_at((size_t)c->param)->base;
}
/* Sets the result of a body. */
bool ret_call(struct call *c, struct value value);
/* Returns sizes as a tuple of numbers. */
struct value python_sizes(struct call *c, const sym_id *sizes, uint32_t n);

/* --- Numbers (sym_calls.c) --- */

enum number_type value_number_type(struct value value);
struct value value_of_type(enum number_type type, sym_id e);
/* Calls a method of SymInt, SymFloat, SymBool or of Python's numbers ("add", "truediv", "sym_max");
 * *found is false when numbers have none of that name. */
struct value python_number(struct call *c, struct str method, const struct value *args, uint32_t n,
                           bool *found);

#endif

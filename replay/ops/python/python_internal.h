/* Helpers of the files of Python's calls that rules do not need. */
#ifndef SYMTAPE_REPLAY_OPS_PYTHON_PYTHON_INTERNAL_H
#define SYMTAPE_REPLAY_OPS_PYTHON_PYTHON_INTERNAL_H

#include "replay/ops/dispatch/context.h"
#include "replay/ops/layout/layout.h"
#include "replay/ops/python/python.h"

#define PYTHON_RULE(rule) bool python_##rule(struct call *c);
#include "replay/ops/python/python_rules.def"
#undef PYTHON_RULE

/* Returns the first overload of aten::BASE, or NULL. */
struct op *python_base(struct call *c, struct str base);
/* Turns positional arguments that the schema calls int or float into constants. */
bool python_unpack(struct call *c, const struct op *op, struct value *args, uint32_t n);
/* Makes the numbers in data constants. False: the call has failed. depth: 0 */
bool python_specialize(struct call *c, struct value data, unsigned depth);
/* torch.tensor(data, dtype, device). */
struct tensor python_data(struct call *c, struct value data, enum dtype dtype,
                          struct device device);
/* Returns whether the call is the decomposition of a dispatched operator: then its calls are
 * counted as nested, and autocast has been applied. */
bool python_decomposes(const struct call *c);
/* Returns whether the call's own calls are nested calls: counted in it, without autocast. */
bool python_nests(const struct call *c);
/* Calls the operator; *ret is as from ops_call_op(). */
bool python_dispatch(struct call *c, struct op *op, const struct value *args, uint32_t n,
                     const struct keyword *keywords, uint32_t n_keywords, struct value *ret);
bool python_autocast(struct call *c, const struct op *op, struct value *args, uint32_t n,
                     uint64_t *given);
/* Returns whether the call succeeded; otherwise the caller has failed, too. */
bool python_result(struct call *c, enum op_outcome outcome);
bool python_no_memory(struct call *c);

/* ops_call_function() and ops_call_method() inside a call. */
bool python_function(struct call *c, struct str target, const struct arguments *arguments,
                     struct value *ret);
bool python_method(struct call *c, struct str method, const struct arguments *arguments,
                   struct value *ret);

/* getitem and setitem of any object; those of a tensor call python_getitem(). */
bool python_item(struct call *c, struct value object, struct value index, struct value *ret);

#endif

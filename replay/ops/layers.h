/* Contexts of operators: computing (replay/ops/dispatch), and the layers over it.
 *
 *     struct ops *ops = ops_new(env, &err);
 *     ops_call(ops, STR("aten.add.Tensor"), &arguments, &result);
 *     ops_free(ops);
 *
 * A call passes through the dispatch model (replay/ops/model), which counts as PyTorch would, and
 * through the memo (replay/ops/memo), which returns the results of repeated calls, before it is
 * computed. Each of the two can be switched off by itself; the results stay the same. */
#ifndef SYMTAPE_REPLAY_OPS_LAYERS_H
#define SYMTAPE_REPLAY_OPS_LAYERS_H

#include "replay/ops/dispatch/ops.h"

struct custom_rules; /* replay/ops/decomp/custom.h */
struct op_catalog;

/* Creates the catalog of all operators, and of custom ones, whose rules are borrowed, or NULL. */
struct op_catalog *op_catalog_new(const struct custom_rules *rules, struct err *err);
void op_catalog_free(struct op_catalog *catalog); /* accepts NULL */

/* Creates a context with both layers on. */
struct ops *ops_new(struct shape_env *env, struct err *err);
/* As ops_new(), with custom operators, which are borrowed. */
struct ops *ops_new_with_rules(struct shape_env *env, const struct custom_rules *rules,
                               struct err *err);
/* As ops_new(), with the operators of a catalog, which is borrowed. Contexts that share one are
 * created with a tenth of the instructions, also in several threads. */
struct ops *ops_new_from(struct shape_env *env, const struct op_catalog *catalog, struct err *err);
void ops_free(struct ops *ops); /* accepts NULL */

/* Switches layers on and off. Without the memo each call is computed; without the model nothing is
 * counted, and earlier counts remain. */
void ops_set_layers(struct ops *ops, bool model, bool memo);

/* Drops values, storages and results before the next graph; keeps interned metas and the layers'
 * knowledge of calls. */
void ops_reset(struct ops *ops);
/* Makes the layers drop the calls that were made. */
void ops_forget_calls(struct ops *ops);
/* Drops everything but the table and the switches, and replaces the environment. */
void ops_set_env(struct ops *ops, struct shape_env *env);

/* With `on`, calls without symbols behave as in eager PyTorch, with its kernels and their messages,
 * instead of as FakeTensorMode, whose meta functions are mostly references. Off at first. */
void ops_set_eager(struct ops *ops, bool on);
/* With `on`, Python's min() and max() of SymInts add no guards, as while torch.export traces, where
 * they are torch.sym_min and sym_max (torch/_export/non_strict_utils.py, _override_builtin_ops).
 * Off at first. */
void ops_set_export(struct ops *ops, bool on);
/* With `on`, the program's tensors require gradients: autograd clones what some calls change in
 * place. Off at first. */
void ops_set_autograd(struct ops *ops, bool on);
/* With `on`, autograd functions only run forward: AOTAutograd traces them, and autograd runs their
 * backwards. Dynamo traces both. */
void ops_leave_backward(struct ops *ops, bool on);

#endif

/* Contexts of operators: computing (replay/ops/dispatch), and the layers over it.
 *
 *     struct ops *ops = ops_new(env, &err);
 *     ops_call(ops, STR("aten.add.Tensor"), &arguments, &result);
 *     ops_free(ops);
 *
 * A call goes by the dispatch model (replay/ops/model), which counts what PyTorch would count, and
 * by the memo (replay/ops/memo), which answers calls that were made before, to computing. Each of
 * the two can be switched off by itself; the results stay the same. */
#ifndef SYMTAPE_REPLAY_OPS_LAYERS_H
#define SYMTAPE_REPLAY_OPS_LAYERS_H

#include "replay/ops/dispatch/ops.h"

struct custom_rules; /* replay/ops/decomp/custom.h */

/* Both layers are on. */
struct ops *ops_new(struct shape_env *env, struct err *err);
/* Knows those operators, too; borrows them. */
struct ops *ops_new_with_rules(struct shape_env *env, const struct custom_rules *rules,
                               struct err *err);
void ops_free(struct ops *ops); /* NULL is fine */

/* Which layers calls go through. Without the memo each call is computed; without the model nothing
 * is counted, and counts are those from before. */
void ops_set_layers(struct ops *ops, bool model, bool memo);

/* Forgets values, storages and results, keeps interned metas and what the layers know of calls:
 * for the next graph. */
void ops_reset(struct ops *ops);
/* The layers forget the calls that were made. */
void ops_forget_calls(struct ops *ops);
/* Forgets everything but the table and the switches, and goes on with another environment. */
void ops_set_env(struct ops *ops, struct shape_env *env);

/* Calls without symbols answer as eager PyTorch does, kernels and their messages, rather than as
 * FakeTensorMode, whose meta functions are mostly references. Off at first. */
void ops_set_eager(struct ops *ops, bool on);
/* Python's min() and max() of SymInts ask nothing while torch.export traces: they are torch.sym_min
 * and sym_max (torch/_export/non_strict_utils.py, _override_builtin_ops). Off at first. */
void ops_set_export(struct ops *ops, bool on);

#endif

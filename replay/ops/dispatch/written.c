/* The checks and results of in-place and out= forms beyond the functional one
 * (torch/_prims_common/wrappers.py, out_wrapper; aten/src/ATen/TensorIterator.cpp, resize_outputs
 * and compute_types). */
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layout/layout.h"

static const struct saved_self {
    const char *name, *arg;
} saved_self[] = {
#define SAVED_SELF(name, arg) { name, arg },
#include "replay/ops/dispatch/saved_self.def"
};

static bool needs_self(const struct call *c, const struct saved_self *row)
{
    for (uint32_t i = 0; i < c->n_args; i++)
        if (c->args[i].kind == VALUE_TENSOR && ops_records_gradient(c->ops, c->args[i].u.tensor) &&
            (!*row->arg || str_is(c->op->schema.args[i].name, row->arg)))
            return true;
    return false;
}

/* Autograd clones what a call is about to change in place if the derivative needs it
 * (save_variables() of tools/autograd/gen_variable_type.py). Only calls of the program reach it,
 * not those that an operator makes. */
void clone_saved(struct call *c)
{
    bool reached = c->ops->autograd && c->ops->depth == 1 && str_is(c->op->schema.space, "aten");
    if (!reached || !c->n_args || c->args[0].kind != VALUE_TENSOR ||
        !dtype_is_float(c->args[0].u.tensor.meta->dtype))
        return;
    for (size_t i = 0; i < sizeof saved_self / sizeof *saved_self; i++)
        if (str_is(c->op->name, saved_self[i].name)) {
            if (needs_self(c, &saved_self[i]))
                call_op(c, "aten.clone.default", c->args, 1);
            return;
        }
}

struct tensor *result_tensor(struct call *c, uint32_t i)
{
    struct value *ret = &c->ret;
    if (value_is_sequence(*ret))
        ret = i < ret->n ? (struct value *)&ret->u.items[i] : NULL;
    else if (i)
        ret = NULL;
    return ret && ret->kind == VALUE_TENSOR && ret->u.tensor.meta ? &ret->u.tensor : NULL;
}

static bool has_guarded_shape(struct call *c, const struct tensor_meta *a,
                              const struct tensor_meta *b)
{
    if (a->ndim != b->ndim)
        return false;
    for (uint32_t i = 0; i < a->ndim; i++)
        if (!guard_bool(c, eq(c, a->size[i], b->size[i])))
            return false;
    return true;
}

/* c10::canCast. */
static bool can_cast(enum dtype from, enum dtype to)
{
    if (dtype_is_complex(from) && !dtype_is_complex(to))
        return false;
    if (dtype_is_float(from) && dtype_is_integer(to))
        return false;
    return from == DTYPE_B8 || to != DTYPE_B8;
}

static bool record_written(struct call *c, uint32_t arg, struct tensor tensor)
{
    return vec_push(&c->ops->written, (struct written){ arg, tensor }) ||
           refuse(c, "MemoryError", "out of memory");
}

/* Checks the cast with TensorIterator's message, or that of _safe_copy_out for references. */
static bool check_cast(struct call *c, enum dtype from, enum dtype to)
{
    if (from == to || can_cast(from, to))
        return !c->failed;
    if (eager(c))
        return refuse(c, "RuntimeError",
                      "result type %s can't be cast to the desired output type %s",
                      dtype_scalar_name(from), dtype_scalar_name(to));
    return refuse(c, "RuntimeError",
                  "Attempting to cast from %s to out tensor with dtype %s, but this can't be cast "
                  "because it is not safe!",
                  dtype_python_name(from), dtype_python_name(to));
}

/* Reports the copy to the observer of nested calls, if there is one. */
static bool report_copy(struct call *c, struct tensor from, struct tensor to)
{
    struct value args[] = { value_tensor(to), value_tensor(from) };
    if (c->ops->nested_observer && !c->failed)
        call_op(c, "aten.copy_.default", args, 2);
    return !c->failed;
}

static bool finish_in_place(struct call *c, uint32_t arg, struct tensor *result)
{
    struct tensor self = c->args[arg].u.tensor, made = *result;
    if (c->op->inplace_view)
        return made.meta == self.meta || record_written(c, arg, made);
    *result = self;
    if (made.storage == self.storage)
        return !c->failed;
    if (!check_cast(c, made.meta->dtype, self.meta->dtype))
        return false;
    bool same = has_guarded_shape(c, self.meta, made.meta);
    if (same && !report_copy(c, made, self))
        return false;
    return require(c, same, "RuntimeError",
                   "output with shape %s doesn't match the broadcast shape %s",
                   sizes_text(c, self.meta->size, self.meta->ndim),
                   sizes_text(c, made.meta->size, made.meta->ndim));
}

static bool finish_out(struct call *c, uint32_t arg, struct tensor *result)
{
    struct tensor out = c->args[arg].u.tensor, made = *result;
    if (!check_cast(c, made.meta->dtype, out.meta->dtype))
        return false;
    *result = out;
    if (has_guarded_shape(c, out.meta, made.meta))
        return !c->failed && report_copy(c, made, out);
    struct tensor resized = new_view_dtype(c, out, out.meta->dtype, made.meta->size,
                                           made.meta->stride, made.meta->ndim, out.meta->offset);
    *result = resized;
    return !c->failed && report_copy(c, made, resized) && record_written(c, arg, resized);
}

/* Returns the written argument of that alias set, or UINT32_MAX. */
static uint32_t written_argument(const struct schema *schema, char alias)
{
    for (uint32_t i = 0; i < schema->n_args; i++)
        if (schema->args[i].written && schema->args[i].alias == alias)
            return i;
    return UINT32_MAX;
}

/* Sets each written argument's meta to that of the result with its alias set. */
bool finish_written(struct call *c)
{
    const struct schema *s = &c->op->schema;
    if (!s->n_results) {
        c->ret = value_none();
        return !c->failed;
    }
    for (uint32_t i = 0; i < s->n_results && !c->failed; i++) {
        struct tensor *result = s->results[i].written ? result_tensor(c, i) : NULL;
        uint32_t arg = result ? written_argument(s, s->results[i].alias) : UINT32_MAX;
        if (arg == UINT32_MAX || c->args[arg].kind != VALUE_TENSOR)
            continue;
        if (s->args[arg].keyword_only)
            finish_out(c, arg, result);
        else
            finish_in_place(c, arg, result);
    }
    return !c->failed;
}

/* Drops FakeTensor's memos of a tensor's values once it is written. */
void forget_written(const struct call *c)
{
    for (uint32_t i = 0; i < c->n_args; i++) {
        bool list = c->args[i].kind == VALUE_LIST;
        const struct value *items = list ? c->args[i].u.items : &c->args[i];
        for (uint32_t k = 0; c->op->schema.args[i].written && k < (list ? c->args[i].n : 1); k++)
            if (items[k].kind == VALUE_TENSOR)
                tensor_memo_forget(&c->ops->memos, items[k].u.tensor.storage);
    }
}

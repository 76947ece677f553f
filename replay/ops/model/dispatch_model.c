#include "replay/ops/model/dispatch_model.h"

#include "replay/ops/layout/layout.h"
#include "replay/ops/model/model.h"

void ops_set_model_mode(struct ops *ops, enum model_mode mode)
{
    struct dispatch_model *dispatch = &ops->model->dispatch;
    dispatch->mode = mode;
    dispatch->devices = dispatch->detaches = dispatch->symbolic_numbers = dispatch->saved_inplace =
        0;
    dispatch->grads.n = 0;
    dispatch->silent = false;
}

const struct dispatch_model *ops_model(const struct ops *ops)
{
    return &ops->model->dispatch;
}

void dispatch_model_release(struct dispatch_model *dispatch)
{
    vec_release(&dispatch->grads);
}

static void add_devices(struct ops *ops, uint64_t n)
{
    if (!model_is_muted(ops) && !ops_is_ablated(ops, ABLATION_DEVICE_PROPERTY) &&
        !ops_is_ablated(ops, ABLATION_ROOFLINE))
        ops->model->dispatch.devices += n;
}

void model_devices(struct ops *ops, uint64_t n)
{
    if (ops->model->dispatch.mode == MODEL_FAKE && ops->depth == 0)
        add_devices(ops, n);
}

/* --- Autograd, by storages: a view requires a gradient when its base does --- */

/* Notes that memory ran out, so that further counts are too low. */
static void note_short_count(struct ops *ops)
{
    ops->short_of_memory = ops->model->dispatch.failed = true;
}

static void set_grad(struct ops *ops, uint32_t storage, enum model_grad grad)
{
    struct dispatch_model *dispatch = &ops->model->dispatch;
    while (dispatch->grads.n <= storage && !dispatch->failed)
        if (!vec_push(&dispatch->grads, GRAD_NONE))
            note_short_count(ops);
    if (!dispatch->failed)
        dispatch->grads.v[storage] = (uint8_t)grad;
}

void ops_model_leaf(struct ops *ops, struct value input, bool tracked)
{
    if (input.kind != VALUE_TENSOR)
        return;
    if (tracked)
        set_grad(ops, input.u.tensor.storage, GRAD_LEAF);
    if (!fake_cache_requires_grad(ops, input.u.tensor))
        note_short_count(ops);
}

void ops_model_input(struct ops *ops, struct value input)
{
    if (input.kind == VALUE_TENSOR && input.u.tensor.meta->stride)
        fake_cache_synthesize(ops, &input, input.u.tensor.storage);
}

void ops_model_next_pass(struct ops *ops)
{
    ops->model->fake_cache.pass++;
}

void ops_model_at(struct ops *ops, uint32_t graph, uint32_t node, bool takes_numbers)
{
    ops->model->fake_cache.takes_numbers = takes_numbers;
    ops->model->fake_cache.graph = graph;
    ops->model->fake_cache.node = node;
}

sym_id ops_model_settled(struct ops *ops, sym_id size)
{
    sym_id known = sym_is_number(ops->pool, size) ? size : fake_cache_replaced(ops, size, 1);
    return sym_is_number(ops->pool, known) ? known : size;
}

struct tensor ops_model_settle(struct ops *ops, struct tensor x)
{
    sym_id sizes[TENSOR_MAX_DIM], strides[TENSOR_MAX_DIM];
    struct tensor_meta meta = *x.meta;
    bool same = true;
    for (uint32_t i = 0; i < meta.ndim; i++) {
        sizes[i] = ops_model_settled(ops, meta.size[i]);
        strides[i] = ops_model_settled(ops, meta.stride[i]);
        same &= sizes[i] == meta.size[i] && strides[i] == meta.stride[i];
    }
    if (same)
        return x;
    meta.size = sizes;
    meta.stride = strides;
    struct tensor ret = x;
    ret.meta = ops_intern(ops, &meta);
    bool ok = ret.meta && (!fake_cache_has_grad(&ops->model->fake_cache, x) ||
                           fake_cache_requires_grad(ops, ret));
    if (!ok)
        note_short_count(ops);
    return ret.meta ? ret : x;
}

void ops_model_silent(struct ops *ops, bool on)
{
    ops->model->dispatch.silent = on;
}

/* Returns whether an argument requires a gradient. The first use of a leaf makes its AccumulateGrad
 * node, which gets the device (torch/csrc/autograd/functions/accumulate_grad.cpp). */
static bool takes_gradient(struct ops *ops, const struct value *value, uint64_t *devices,
                           unsigned depth)
{
    bool ret = false;
    if (value->kind == VALUE_TENSOR) {
        enum model_grad grad =
            value->u.tensor.storage < ops->model->dispatch.grads.n
                ? (enum model_grad)ops->model->dispatch.grads.v[value->u.tensor.storage]
                : GRAD_NONE;
        if (grad == GRAD_LEAF) {
            set_grad(ops, value->u.tensor.storage, GRAD_LEAF_USED);
            ++*devices;
        }
        return grad != GRAD_NONE;
    }
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE)
        for (uint32_t i = 0; i < value->n && depth < 8; i++)
            ret |= takes_gradient(ops, &value->u.items[i], devices, depth + 1);
    return ret;
}

static bool is_differentiable(struct tensor x)
{
    return dtype_is_float(x.meta->dtype) || dtype_is_complex(x.meta->dtype);
}

/* --- Properties of operators --- */

struct property {
    const char *name;
    uint64_t n;
};

/* Returns the number in an operator's row; without a row, the one given. */
static uint64_t property_of(struct str op, const struct property *rows, size_t n, uint64_t without)
{
    for (size_t i = 0; i < n; i++)
        if (str_is(op, rows[i].name))
            return rows[i].n;
    return without;
}

/* Returns the operator's name without its overload and the underscore of an in-place form. */
static struct str base_name(const struct op *op)
{
    size_t dot = str_find_char(str_from(op->name, 5), '.');
    struct str base = str_first(op->name, 5 + dot);
    if (base.n && base.p[base.n - 1] == '_')
        base.n--;
    return base;
}

static uint64_t device_queries(const struct op *op)
{
    static const struct property rows[] = {
#define ASKS_DEVICE(name, times) { name, times },
#define SAVES(name, results)
#define DIFFERENTIABLE(name, results)
#include "replay/ops/model/dispatch_model.def"
#undef ASKS_DEVICE
#undef SAVES
#undef DIFFERENTIABLE
    };
    return property_of(op->name, rows, sizeof rows / sizeof *rows, 0);
}

static uint64_t saved_results(const struct op *op)
{
    static const struct property rows[] = {
#define ASKS_DEVICE(name, times)
#define SAVES(name, results) { name, results },
#define DIFFERENTIABLE(name, results)
#include "replay/ops/model/dispatch_model.def"
#undef ASKS_DEVICE
#undef SAVES
#undef DIFFERENTIABLE
    };
    return property_of(base_name(op), rows, sizeof rows / sizeof *rows, 0);
}

uint64_t ops_differentiable_results(struct str base)
{
    static const struct property rows[] = {
#define ASKS_DEVICE(name, times)
#define SAVES(name, results)
#define DIFFERENTIABLE(name, results) { name, results },
#include "replay/ops/model/dispatch_model.def"
#undef ASKS_DEVICE
#undef SAVES
#undef DIFFERENTIABLE
    };
    return property_of(base, rows, sizeof rows / sizeof *rows, UINT64_MAX);
}

/* --- A call --- */

/* Returns whether autograd makes a result that shares storage a view: not those of
 * torch/csrc/autograd/VariableTypeManual.cpp (detach) and tools/autograd/derivatives.yaml
 * (_unsafe_view). */
static bool makes_views(const struct op *op)
{
    return !op->writes && !str_is(op->name, "aten.detach.default") &&
           !str_is(op->name, "aten._unsafe_view.default");
}

/* Counts a result's prim.device: views get it once they are made (torch/csrc/autograd/
 * VariableTypeUtils.h, as_view), results that require a gradient for the metadata of their edge
 * (set_history), wrappers of functionalization when they are made, but views of them do not
 * (torch/_subclasses/functional_tensor.py, FunctionalTensor). */
static void count_result(struct ops *ops, const struct op *op, struct tensor x, bool gradient,
                         uint32_t fresh_from)
{
    struct dispatch_model *dispatch = &ops->model->dispatch;
    bool fresh = x.storage >= fresh_from, written = op->writes;
    bool differentiable = gradient && is_differentiable(x);
    if (dispatch->mode == MODEL_FUNCTIONAL)
        add_devices(ops, fresh);
    else
        add_devices(ops, (uint64_t)(!fresh && makes_views(op)) + differentiable);
    if (differentiable && (fresh || written))
        set_grad(ops, x.storage, GRAD_RESULT);
    if (differentiable && dispatch->mode == MODEL_FAKE && !fake_cache_requires_grad(ops, x))
        note_short_count(ops);
}

/* Makes views require a gradient when their base does, whether gradients are tracked or not
 * (DifferentiableViewMeta of torch/csrc/autograd/variable.h). */
static void mark_views(struct ops *ops, const struct op *op, const struct value *bound,
                       const struct value *result, uint32_t fresh_from)
{
    bool group = result->kind == VALUE_LIST || result->kind == VALUE_TUPLE;
    const struct value *items = group ? result->u.items : result;
    if (!op->schema.n_args || bound[0].kind != VALUE_TENSOR || op->writes ||
        str_is(op->name, "aten.detach.default") ||
        !fake_cache_has_grad(&ops->model->fake_cache, bound[0].u.tensor))
        return;
    for (uint32_t i = 0; i < (group ? result->n : 1); i++)
        if (items[i].kind == VALUE_TENSOR && items[i].u.tensor.storage < fresh_from &&
            !fake_cache_requires_grad(ops, items[i].u.tensor))
            note_short_count(ops);
}

void count_outside_dispatches(const struct call *c)
{
    struct ops *ops = c->ops;
    const struct op *op = c->op;
    const struct value *bound = c->args, *result = &c->ret;
    struct dispatch_model *dispatch = &ops->model->dispatch;
    uint64_t leaves = 0;
    bool gradient = false, muted = model_is_muted(ops);
    if (op->composite) {
        bool same = result->kind == VALUE_TENSOR && bound[0].kind == VALUE_TENSOR &&
                    result->u.tensor.meta == bound[0].u.tensor.meta &&
                    result->u.tensor.storage == bound[0].u.tensor.storage;
        if (same && str_starts(op->name, STR("aten.to.")))
            model_devices(ops, 1); /* and makes no copy */
        /* Python's method sets the current device to the tensor's (THPVariable_contiguous of
         * tools/autograd/templates/python_variable_methods.cpp). */
        if (!same && !ops->nesting && str_is(op->name, "aten.contiguous.default"))
            model_devices(ops, 1);
        model_devices(ops, device_queries(op));
        return;
    }
    for (uint32_t i = 0; i < op->schema.n_args; i++) {
        gradient |= takes_gradient(ops, &bound[i], &leaves, 0);
        dispatch->symbolic_numbers +=
            !muted && bound[i].kind == VALUE_FLOAT && !sym_is_number(ops->pool, bound[i].u.sym);
    }
    if (dispatch->mode == MODEL_FAKE) {
        add_devices(ops, leaves);
        mark_views(ops, op, bound, result, c->fresh_from);
    }
    if (gradient && !muted && !ops_is_ablated(ops, ABLATION_ROOFLINE)) {
        uint64_t kept = saved_results(op);
        dispatch->detaches += kept;
        dispatch->saved_inplace += op->writes ? kept : 0;
    }
    uint64_t differentiable =
        gradient ? ops_differentiable_results(str_from(base_name(op), strlen("aten."))) : 0;
    if (result->kind == VALUE_TENSOR)
        count_result(ops, op, result->u.tensor, differentiable > 0, c->fresh_from);
    if (result->kind != VALUE_LIST && result->kind != VALUE_TUPLE)
        return;
    for (uint32_t i = 0; i < result->n; i++)
        if (result->u.items[i].kind == VALUE_TENSOR)
            count_result(ops, op, result->u.items[i].u.tensor, i < differentiable, c->fresh_from);
}

/* Functionalization runs "aten.add_.Tensor" as "aten.add.Tensor", and
 * "aten._native_batch_norm_legit.default" as "aten._native_batch_norm_legit_functional.default"
 * (torchgen/gen_functionalization_type.py). */
struct op *model_functional(struct ops *ops, const struct op *op)
{
    struct buf name = BUF_INIT;
    if (ops->model->dispatch.mode != MODEL_FUNCTIONAL || !op->writes || op->composite ||
        op->inplace_view || ops->model->dispatch.functionalizing ||
        !str_starts(op->name, STR("aten.")))
        return NULL;
    size_t dot = 5 + str_find_char(str_from(op->name, 5), '.');
    bool inplace = op->name.p[dot - 1] == '_';
    buf_put(&name, str_first(op->name, inplace ? dot - 1 : dot));
    if (!inplace)
        buf_puts(&name, "_functional");
    buf_put(&name, str_from(op->name, dot));
    struct op *ret = name.failed ? NULL : op_table_find(&ops->table, buf_str(&name));
    buf_release(&name);
    return ret && op_prepare(ops, ret) && ret->schema.n_args == op->schema.n_args ? ret : NULL;
}

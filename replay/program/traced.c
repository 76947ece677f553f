#include "replay/program/traced.h"

#include "replay/ops/layout/layout.h"
#include "replay/ops/rules/view/views.h"

enum { NESTING = 16 };

bool traces_results(enum graph_kind kind)
{
    return kind == GRAPH_JOINT || kind == GRAPH_INFERENCE;
}

static bool has_symbolic_layout(struct ops *ops, const struct tensor_meta *meta)
{
    bool ret = false;
    for (uint32_t d = 0; d < meta->ndim && !ret; d++)
        ret = !sym_is_number(ops_pool(ops), meta->size[d]) ||
              !sym_is_number(ops_pool(ops), meta->stride[d]);
    return ret;
}

/* Returns whether the layout of this meta was evaluated before, and notes that it was. */
static bool mark_evaluated(struct traced *traced, uint32_t meta, bool *failed)
{
    while (traced->evaluated.n <= meta)
        if (!vec_push(&traced->evaluated, false))
            return *failed = true;
    bool ret = traced->evaluated.v[meta];
    traced->evaluated.v[meta] = true;
    return ret;
}

/* A functional wrapper (torch/_subclasses/functional_tensor.py) computed the bytes of its storage,
 * 0 when a size is 0 (computeStorageNbytes in aten/src/ATen/EmptyTensor.cpp). */
static void evaluate_storage_size(struct call *c, const struct tensor_meta *meta)
{
    if (behaves(c->env, BEHAVIOR_WRAPPERS_TAKE_STORAGE_SIZE))
        return;
    for (uint32_t d = 0; d < meta->ndim; d++)
        if (guard_or_false(c, eq(c, meta->size[d], num(c, 0))))
            return;
}

static void ask_formats(struct ops *ops, struct tensor x)
{
    struct err ignored = { 0 };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    evaluate_storage_size(&c, x.meta);
    bool found = contiguous_or_false(&c, x) ||
                 channels_last_or_false(&c, x, FORMAT_CHANNELS_LAST) ||
                 channels_last_or_false(&c, x, FORMAT_CHANNELS_LAST_3D);
    (void)found;
    env_raised(c.env);
    sym_ok(c.pool, &ignored);
}

/* Evaluates the conditions for one run of dimensions that are contiguous in memory: the view's
 * dimensions from *view_d down must have `numel` elements together. */
static bool evaluate_dense_run(struct call *c, const sym_id *shape, uint32_t *view_d, sym_id numel)
{
    sym_id made = num(c, 1);
    while (*view_d > 0 && !c->failed &&
           (guard_or_true(c, lt(c, made, numel)) ||
            guard_or_false(c, eq(c, shape[*view_d - 1], num(c, 1)))))
        made = mul(c, made, shape[--*view_d]);
    return !guard_or_true(c, ne(c, made, numel));
}

/* The conditions of computeStride_impl of aten/src/ATen/TensorUtils.cpp, until it finds no
 * strides. */
static void evaluate_strides(struct call *c, const struct tensor_meta *from, const sym_id *shape,
                             uint32_t n)
{
    sym_id numel = num(c, 1), base = from->stride[from->ndim - 1];
    for (uint32_t d = from->ndim; d-- > 0 && !c->failed;) {
        numel = mul(c, numel, from->size[d]);
        if (d > 0 && !(guard_or_true(c, ne(c, from->size[d - 1], num(c, 1))) &&
                       guard_or_true(c, ne(c, from->stride[d - 1], mul(c, numel, base)))))
            continue;
        if (!evaluate_dense_run(c, shape, &n, numel) || d == 0)
            return;
        base = from->stride[d - 1];
        numel = num(c, 1);
    }
}

/* Reads the sizes that were passed to a view, as C++ reads them. */
static bool requested_shape(struct call *c, struct tensor from, struct value list, sym_id *shape)
{
    sym_id given[TENSOR_MAX_DIM];
    if ((list.kind != VALUE_LIST && list.kind != VALUE_TUPLE) || list.n > TENSOR_MAX_DIM)
        return false;
    for (uint32_t d = 0; d < list.n; d++) {
        if (list.u.items[d].kind != VALUE_INT)
            return false;
        given[d] = list.u.items[d].u.sym;
    }
    return infer_shape_cpp(c, numel(c, from), given, list.n, shape);
}

static bool is_contiguous_clone(const struct step *step)
{
    if (!str_is(step->target, "torch.ops.aten.clone.default"))
        return false;
    for (uint32_t i = 0; i < step->n_keywords; i++)
        if (str_is(step->keywords[i].name, "memory_format"))
            return step->keywords[i].value.kind == VALUE_MEMORY_FORMAT &&
                   step->keywords[i].value.u.memory_format == FORMAT_CONTIGUOUS;
    return false;
}

static bool views_copy(const struct traced *traced, const struct step *step)
{
    if (str_is(step->target, "torch.ops.aten._unsafe_view.default"))
        return true;
    return traced->decomposes && traced->cloned &&
           str_is(step->target, "torch.ops.aten.view.default") &&
           step->args[0].u.tensor.storage == traced->clone;
}

void traced_evaluate_view(struct traced *traced, struct ops *ops, const struct step *step,
                          struct value result)
{
    struct err ignored = { 0 };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    sym_id shape[TENSOR_MAX_DIM];
    if (result.kind != VALUE_TENSOR)
        return;
    if (step->n_args >= 2 && step->args[0].kind == VALUE_TENSOR && views_copy(traced, step)) {
        struct tensor from = step->args[0].u.tensor;
        if (from.meta->ndim &&
            (has_symbolic_layout(ops, from.meta) ||
             has_symbolic_layout(ops, result.u.tensor.meta)) &&
            requested_shape(&c, from, step->args[1], shape))
            evaluate_strides(&c, from.meta, shape, step->args[1].n);
        env_raised(c.env);
        sym_ok(c.pool, &ignored);
    }
    traced->cloned = is_contiguous_clone(step);
    traced->clone = result.u.tensor.storage;
}

static bool is_patch(const struct program *program, const struct step *output, node_id node)
{
    for (uint32_t i = 0; i < output->n_patches; i++)
        if (program->patches[output->first_patch + i].from == node)
            return true;
    return false;
}

static void ask_dense(struct ops *ops, const struct program *program, const struct step *output)
{
    struct err ignored = { 0 };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    for (uint32_t i = 0; i < program->n_steps; i++) {
        node_id node = program->steps[i].node;
        const struct value *value = &program->first[node];
        if (program->valid[node] && value->kind == VALUE_TENSOR && value->u.tensor.meta->ndim &&
            value->u.tensor.meta->layout == LAYOUT_STRIDED &&
            has_symbolic_layout(ops, value->u.tensor.meta) && is_patch(program, output, node))
            (void)non_overlapping_and_dense_or_false(&c, value->u.tensor);
    }
    env_raised(c.env);
    sym_ok(c.pool, &ignored);
}

void traced_evaluate_outputs(const struct traced *traced, struct ops *ops,
                             const struct program *program)
{
    struct env_origin none = { .graph = UINT32_MAX, .node = ENV_NODE_NONE, .rule = "" };
    if (!traced->decomposes)
        return;
    env_set_origin(ops_env(ops), none);
    for (uint32_t i = 0; i < program->n_steps; i++)
        if (program->steps[i].kind == STEP_OUTPUT)
            ask_dense(ops, program, &program->steps[i]);
}

static bool evaluate_layouts(struct traced *traced, struct ops *ops, const struct value *value,
                             unsigned depth)
{
    bool failed = false;
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) {
        for (uint32_t i = 0; i < value->n && depth < NESTING; i++)
            if (!evaluate_layouts(traced, ops, &value->u.items[i], depth + 1))
                return false;
    } else if (value->kind == VALUE_TENSOR && value->u.tensor.meta->layout == LAYOUT_STRIDED &&
               has_symbolic_layout(ops, value->u.tensor.meta) &&
               !mark_evaluated(traced, value->u.tensor.meta->id, &failed)) {
        ask_formats(ops, value->u.tensor);
    }
    return !failed;
}

bool traced_evaluate(struct traced *traced, struct ops *ops, struct value result)
{
    return evaluate_layouts(traced, ops, &result, 0);
}

void traced_release(struct traced *traced)
{
    vec_release(&traced->evaluated);
}

#include "replay/program/traced.h"

#include <inttypes.h>

#include "replay/ops/layout/layout.h"
#include "replay/ops/model/stats.h"
#include "replay/ops/rules/view/views.h"

enum { NESTING = 16 };

bool traces_results(enum graph_kind kind)
{
    return kind == GRAPH_JOINT || kind == GRAPH_INFERENCE;
}

bool is_tangent(const struct node *node)
{
    return node->op == NODE_PLACEHOLDER && str_starts(node->name, STR("tangents_"));
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

struct item_search {
    const struct shape_env *env;
    bool found;
};

static void find_item(void *user, sym_id symbol)
{
    struct item_search *search = user;
    search->found |= str_ends(env_source(search->env, symbol), STR(".item()"));
}

/* Returns whether a size depends on an item() that Dynamo made a symbol with a hint. AOTAutograd
 * calls item() again, which makes an unbacked symbol. */
static bool depends_on_item(struct call *c, sym_id size)
{
    struct item_search search = { c->env, false };
    return sym_free_symbols(c->pool, size, find_item, &search) && search.found;
}

/* A functional wrapper (torch/_subclasses/functional_tensor.py) computed the bytes of its storage,
 * 0 when a size is 0 (computeStorageNbytes in aten/src/ATen/EmptyTensor.cpp). */
static void evaluate_storage_size(struct call *c, const struct tensor_meta *meta)
{
    if (behaves(c->env, BEHAVIOR_WRAPPERS_TAKE_STORAGE_SIZE))
        return;
    for (uint32_t d = 0; d < meta->ndim; d++)
        if (!depends_on_item(c, meta->size[d]) &&
            guard_or_false(c, eq(c, meta->size[d], num(c, 0))))
            return;
}

static void ask_formats(const struct traced *traced, struct ops *ops, struct tensor x)
{
    struct err ignored = { 0 };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    bool found = contiguous_or_false(&c, x) ||
                 channels_last_or_false(&c, x, FORMAT_CHANNELS_LAST) ||
                 channels_last_or_false(&c, x, FORMAT_CHANNELS_LAST_3D);
    (void)found;
    if (!traced->unwrapped)
        evaluate_storage_size(&c, x.meta);
    env_raised(c.env);
    sym_ok(c.pool, &ignored);
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

static bool uses_tangent(const struct program *program, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++)
        if (is_tangent(&program->graph->nodes[program->patches[step->first_patch + i].from]))
            return true;
    return false;
}

/* Returns whether a formula of autograd takes the result of its operator: what was detached to be
 * saved is detached again (SavedVariable::unpack of torch/csrc/autograd). */
static bool unpacks_saved(const struct program *program, const struct step *step)
{
    const struct str detach = STR("torch.ops.aten.detach.default");
    const struct node *nodes = program->graph->nodes;
    return str_eq(step->target, detach) && step->n_patches == 1 &&
           str_eq(nodes[program->patches[step->first_patch].from].target, detach);
}

static bool infers_size(struct value sizes)
{
    for (uint32_t i = 0; i < sizes.n; i++)
        if (sizes.u.items[i].kind == VALUE_INT && sizes.u.items[i].u.sym == SYM_ID_MINUS_ONE)
            return true;
    return false;
}

/* Returns whether a call is the view of a reshape() that found strides, in a formula of autograd or
 * the matmul that it calls. What is not contiguous is viewed otherwise only with a size that is to
 * be inferred, as max_pool_double_backward does (torch/csrc/autograd/FunctionsManual.cpp);
 * reshape() passes the size that it inferred. */
static bool views_in_backward(const struct traced *traced, struct call *c, const struct step *step)
{
    return traced->backward && str_is(step->target, "torch.ops.aten.view.default") &&
           (step->args[1].kind == VALUE_LIST || step->args[1].kind == VALUE_TUPLE) &&
           !infers_size(step->args[1]) && step->args[0].u.tensor.meta->layout == LAYOUT_STRIDED &&
           !contiguous_or_false(c, step->args[0].u.tensor);
}

void traced_evaluate_view(struct traced *traced, struct ops *ops, const struct program *program,
                          const struct step *step, struct value result)
{
    struct err ignored;
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    sym_id shape[TENSOR_MAX_DIM], stride[TENSOR_MAX_DIM];
    traced->backward |=
        uses_tangent(program, step) || (traced->joint && unpacks_saved(program, step));
    if (result.kind != VALUE_TENSOR)
        return;
    if (step->n_args >= 2 && step->args[0].kind == VALUE_TENSOR &&
        (views_copy(traced, step) || views_in_backward(traced, &c, step))) {
        struct tensor from = step->args[0].u.tensor;
        struct geometry g = geometry_of(from);
        if (from.meta->ndim &&
            (has_symbolic_layout(ops, from.meta) ||
             has_symbolic_layout(ops, result.u.tensor.meta)) &&
            requested_shape(&c, from, step->args[1], shape))
            (void)compute_stride(&c, &g, shape, step->args[1].n, STRIDE_CPP, stride);
        env_raised(c.env);
        err_clear(&ignored);
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
        ask_formats(traced, ops, value->u.tensor);
    }
    return !failed;
}

bool traced_evaluate(struct traced *traced, struct ops *ops, struct value result)
{
    return evaluate_layouts(traced, ops, &result, 0);
}

/* --- The first run of AOTAutograd --- */

static void wrap_result(struct ops *ops, struct call *c, const struct value *value, unsigned depth)
{
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) {
        for (uint32_t i = 0; i < value->n && depth < NESTING; i++)
            wrap_result(ops, c, &value->u.items[i], depth + 1);
    } else if (value->kind == VALUE_TENSOR && value->u.tensor.meta->layout == LAYOUT_STRIDED &&
               has_symbolic_layout(ops, value->u.tensor.meta)) {
        evaluate_storage_size(c, value->u.tensor.meta);
    }
}

/* Returns whether a result is a view of an argument of its call. */
static bool is_view(const struct program *program, const struct step *step, struct value result)
{
    for (uint32_t i = 0; i < step->n_patches && result.kind == VALUE_TENSOR; i++) {
        node_id node = program->patches[step->first_patch + i].from;
        const struct value *from = node < program->n_steps ? &program->first[node] : NULL;
        if (from && from->kind == VALUE_TENSOR && from->u.tensor.storage == result.u.tensor.storage)
            return true;
    }
    return false;
}

/* A call of Dynamo's graph is run once more: its results come out of the cache and are wrapped. */
static void run_again(struct ops *ops, struct call *c, const struct program *program,
                      const struct step *step)
{
    const struct value *result = &program->first[step->node];
    ops_ask_cached(ops, *result, is_view(program, step, *result));
    wrap_result(ops, c, result, 0);
}

static bool view_as_itself(struct ops *ops, struct tensor x)
{
    struct value *sizes = ops_values(ops, x.meta->ndim + 1), result;
    if (!sizes)
        return false;
    for (uint32_t d = 0; d < x.meta->ndim; d++)
        sizes[d] = value_int(x.meta->size[d]);
    struct value two[] = { value_tensor(x), value_items(VALUE_LIST, sizes, x.meta->ndim) };
    struct arguments arguments = { .values = two, .n = 2 };
    ops_set_muted(ops, true);
    (void)ops_call(ops, STR("aten.view.default"), &arguments, &result);
    ops_set_muted(ops, false);
    return true;
}

/* Calls fn for each output of Dynamo's graph that has a tangent, in the order of the tangents. */
static bool each_tangent_output(struct ops *ops, const struct program *dynamo,
                                const struct graph *aot, const node_id *origins,
                                bool (*fn)(struct ops *ops, struct tensor))
{
    for (node_id i = 0; i < aot->n_nodes; i++) {
        if (!is_tangent(&aot->nodes[i]) || origins[i] >= dynamo->n_steps)
            continue;
        node_id from = dynamo->steps[origins[i]].object;
        struct value out = dynamo->valid[from] ? dynamo->first[from] : value_none();
        if (out.kind == VALUE_TENSOR && out.u.tensor.meta->layout == LAYOUT_STRIDED &&
            has_symbolic_layout(ops, out.u.tensor.meta) && !fn(ops, out.u.tensor))
            return false;
    }
    return true;
}

/* coerce_tangent_and_suggest_memory_format: a tangent is made contiguous in the memory format of
 * its output. */
static bool suggest_tangent_format(struct ops *ops, struct tensor x)
{
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    enum memory_format format = suggest_format(&c, x);
    (void)is_contiguous(&c, x, format);
    return true;
}

/* Returns the number that a node's meta is, or NULL. */
static const struct expr *number_of(const struct graph *graph, node_id node)
{
    uint32_t meta = graph->nodes[node].meta;
    return meta != META_NONE && graph->pool->metas[meta].kind == META_SYM
               ? expr_at(&graph->pool->exprs, graph->pool->metas[meta].sizes[0])
               : NULL;
}

/* Returns whether a number that is an input has a symbol in Dynamo's graph and has none in the
 * other: AOTAutograd specialized it. */
static bool loses_symbol(const struct graph *dynamo, const struct graph *aot,
                         const node_id *origins)
{
    for (node_id i = 0; i < aot->n_nodes; i++) {
        if (aot->nodes[i].op != NODE_PLACEHOLDER || origins[i] >= dynamo->n_nodes)
            continue;
        const struct expr *from = number_of(dynamo, origins[i]), *to = number_of(aot, i);
        if (from && to && from->kind == EXPR_SYMBOL && to->kind != EXPR_SYMBOL)
            return true;
    }
    return false;
}

static bool write_layout(struct ops *ops, const sym_id *size, const sym_id *stride, uint32_t n,
                         struct buf *out)
{
    for (uint32_t d = 0; d < n; d++)
        buf_printf(out,
                   "%" PRIu32 ","
                   "%" PRIu32 ";",
                   (uint32_t)env_replace(ops_env(ops), size[d]),
                   (uint32_t)env_replace(ops_env(ops), stride[d]));
    return !out->failed;
}

static bool note_early(struct traced *traced, struct ops *ops, const struct value *value,
                       unsigned depth)
{
    struct buf key = BUF_INIT;
    bool ok = true;
    if (value->kind == VALUE_LIST || value->kind == VALUE_TUPLE) {
        for (uint32_t i = 0; i < value->n && depth < NESTING && ok; i++)
            ok = note_early(traced, ops, &value->u.items[i], depth + 1);
    } else if (value->kind == VALUE_TENSOR && value->u.tensor.meta->layout == LAYOUT_STRIDED) {
        const struct tensor_meta *meta = value->u.tensor.meta;
        ok = write_layout(ops, meta->size, meta->stride, meta->ndim, &key) &&
             intern(&traced->early, buf_str(&key)) != INTERN_NONE;
    }
    buf_release(&key);
    return ok;
}

bool traced_was_early(const struct traced *traced, struct ops *ops, const struct expected *result,
                      bool *ret)
{
    struct buf key = BUF_INIT;
    bool ok = true;
    *ret = false;
    if (!traced->early.texts.n || !result)
        return true;
    if (result->kind == EXPECT_NOTHING) /* several tensors, whose metas no graph prints */
        *ret = !result->unreadable;
    if (result->kind == EXPECT_TENSOR && result->stride) {
        ok = write_layout(ops, result->size, result->stride, result->ndim, &key);
        *ret = ok && intern_find(&traced->early, buf_str(&key)) != INTERN_NONE;
    }
    buf_release(&key);
    return ok;
}

bool traced_evaluate_metadata(struct traced *traced, struct ops *ops, const struct program *dynamo,
                              const struct graph *aot, const node_id *origins)
{
    struct env_origin none = { .graph = UINT32_MAX, .node = ENV_NODE_NONE, .rule = "" };
    struct call c = { .ops = ops, .env = ops_env(ops), .pool = ops_pool(ops), .symbolic = true };
    struct err ignored = { 0 };
    bool lost = origins && loses_symbol(dynamo->graph, aot, origins), ok = true;
    env_set_origin(ops_env(ops), none);
    for (uint32_t i = 0; i < dynamo->n_steps; i++)
        if (step_is_call(&dynamo->steps[i]) && dynamo->valid[dynamo->steps[i].node])
            run_again(ops, &c, dynamo, &dynamo->steps[i]);
    if (origins)
        ok = each_tangent_output(ops, dynamo, aot, origins, view_as_itself) &&
             each_tangent_output(ops, dynamo, aot, origins, suggest_tangent_format);
    for (uint32_t i = 0; i < dynamo->n_steps && lost && ok; i++)
        if (step_is_call(&dynamo->steps[i]) && dynamo->valid[dynamo->steps[i].node])
            ok = traced_evaluate(traced, ops, dynamo->first[dynamo->steps[i].node]);
    intern_release(&traced->early);
    for (uint32_t i = 0; i < dynamo->n_steps && lost && ok; i++)
        if (step_is_call(&dynamo->steps[i]) && dynamo->valid[dynamo->steps[i].node])
            ok = note_early(traced, ops, &dynamo->first[dynamo->steps[i].node], 0);
    env_raised(ops_env(ops));
    sym_ok(ops_pool(ops), &ignored);
    return ok;
}

void traced_release(struct traced *traced)
{
    vec_release(&traced->evaluated);
    intern_release(&traced->early);
    vec_release(&traced->cut.parts);
    traced->cut.program = NULL;
}

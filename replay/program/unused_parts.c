/* What autograd's formula of cat() makes beside what is used of it. */
#include "replay/ops/model/stats.h"
#include "replay/program/traced.h"

enum { SLICE_ARGS = 4 }; /* that narrow() passes: the tensor, the dimension, start and end */

/* Returns whether a step takes a slice of the value of a node. */
static bool is_slice_of(const struct program *program, const struct step *step, node_id node)
{
    return str_is(step->target, "torch.ops.aten.slice.Tensor") && step->n_args && step->n_patches &&
           program->patches[step->first_patch].at == &step->args[0] &&
           program->patches[step->first_patch].from == node;
}

/* Reads a dimension, counted from the front. */
static bool read_dim(struct ops *ops, const struct value *arg, uint32_t ndim, int64_t *ret)
{
    if (arg->kind != VALUE_INT || !sym_to_i64(ops_pool(ops), arg->u.sym, ret))
        return false;
    *ret += *ret < 0 ? ndim : 0;
    return *ret >= 0 && *ret < ndim;
}

/* Returns the part of which a slice has the start and the end, or UINT32_MAX. */
static uint32_t find_part(struct ops *ops, const struct cat_cut *cut, uint32_t from,
                          const struct step *step)
{
    struct shape_env *env = ops_env(ops);
    sym_id start = env_replace(env, step->args[2].u.sym);
    sym_id end = env_replace(env, step->args[3].u.sym);
    for (uint32_t i = from; i < cut->parts.n; i++)
        if (env_replace(env, cut->parts.v[i].start) == start &&
            env_replace(env, cut->parts.v[i].end) == end)
            return i;
    return UINT32_MAX;
}

/* Returns whether a slice of the gradient could be one of its parts. What a step passes that did
 * not run may not be known. */
static bool may_be_part(struct ops *ops, const struct cat_cut *cut, const struct step *step,
                        uint32_t ndim)
{
    int64_t dim;
    return step->n_args == SLICE_ARGS && !step->n_keywords &&
           read_dim(ops, &step->args[1], ndim, &dim) && dim == cut->dim &&
           (step->args[2].kind != VALUE_INT || step->args[3].kind != VALUE_INT ||
            find_part(ops, cut, 0, step) != UINT32_MAX);
}

static bool same_sizes(const struct tensor_meta *a, const struct tensor_meta *b)
{
    return a->ndim == b->ndim && memcmp(a->size, b->size, a->ndim * sizeof *a->size) == 0;
}

/* Returns whether a step is a cat() of tensors along `dim` whose result has these sizes. */
static bool is_cat(struct ops *ops, const struct program *program, const struct step *step,
                   const struct tensor_meta *sizes, int64_t dim)
{
    int64_t along = 0;
    struct value result = program->first[step->node];
    return str_is(step->target, "torch.ops.aten.cat.default") && step->n_args &&
           step->args[0].kind == VALUE_LIST && result.kind == VALUE_TENSOR &&
           same_sizes(result.u.tensor.meta, sizes) &&
           (step->n_args < 2 || read_dim(ops, &step->args[1], sizes->ndim, &along)) && along == dim;
}

/* Adds up the sizes of what was concatenated. An empty tensor of one dimension has no part. False:
 * out of memory. */
static bool add_parts(struct ops *ops, struct cat_cut *cut, struct value items)
{
    struct cat_part part = { SYM_ID_ZERO, SYM_ID_ZERO };
    cut->parts.n = 0;
    for (uint32_t i = 0; i < items.n && items.u.items[i].kind == VALUE_TENSOR; i++) {
        const struct tensor_meta *meta = items.u.items[i].u.tensor.meta;
        if ((meta->ndim == 1 && meta->size[0] == SYM_ID_ZERO) || cut->dim >= meta->ndim)
            continue;
        part.end = sym_add(ops_pool(ops), part.start, meta->size[cut->dim]);
        if (!vec_push(&cut->parts, part))
            return false;
        part.start = part.end;
    }
    return true;
}

static bool has_all_slices(struct ops *ops, const struct program *program,
                           const struct cat_cut *cut, uint32_t first, uint32_t ndim)
{
    bool ret = true;
    for (uint32_t i = first; i <= cut->last && ret; i++)
        ret = !is_slice_of(program, &program->steps[i], cut->gradient) ||
              may_be_part(ops, cut, &program->steps[i], ndim);
    return ret;
}

/* Finds the last cat() before the first slice of a gradient one part of which is each slice of it.
 * False: out of memory. */
static bool find_cut(struct cat_cut *cut, struct ops *ops, const struct program *program,
                     uint32_t first, const struct tensor_meta *gradient)
{
    cut->program = program;
    cut->gradient = program->patches[program->steps[first].first_patch].from;
    cut->next = 0;
    cut->parts.n = 0;
    for (uint32_t i = first; i < program->n_steps; i++)
        if (is_slice_of(program, &program->steps[i], cut->gradient))
            cut->last = i;
    for (uint32_t i = first; i-- > 0;) {
        const struct step *step = &program->steps[i];
        if (!is_cat(ops, program, step, gradient, cut->dim))
            continue;
        if (!add_parts(ops, cut, step->args[0]))
            return false;
        if (has_all_slices(ops, program, cut, first, gradient->ndim))
            return true;
        cut->parts.n = 0;
    }
    return true;
}

/* Makes the parts up to `to` and evaluates their conditions. */
static bool evaluate_parts(struct traced *traced, struct ops *ops, struct tensor gradient,
                           uint32_t to)
{
    struct cat_cut *cut = &traced->cut;
    for (; cut->next < to; cut->next++) {
        const struct cat_part *part = &cut->parts.v[cut->next];
        struct value result,
            args[] = { value_tensor(gradient), value_int(sym_integer(ops_pool(ops), cut->dim)),
                       value_int(part->start), value_int(part->end) };
        ops_set_muted(ops, true);
        enum op_outcome outcome =
            ops_call(ops, STR("aten.slice.Tensor"),
                     &(struct arguments){ .values = args, .n = SLICE_ARGS }, &result);
        ops_set_muted(ops, false);
        if (outcome == OP_DONE && !traced_evaluate(traced, ops, result))
            return false;
    }
    return true;
}

bool traced_evaluate_unused(struct traced *traced, struct ops *ops, const struct program *program,
                            const struct step *step, struct value result)
{
    struct cat_cut *cut = &traced->cut;
    node_id from = step->n_patches ? program->patches[step->first_patch].from : NODE_NONE;
    if (!traced->backward || step->n_args != SLICE_ARGS || step->n_keywords ||
        !is_slice_of(program, step, from) || step->args[0].kind != VALUE_TENSOR ||
        step->args[2].kind != VALUE_INT || step->args[3].kind != VALUE_INT)
        return true;
    struct tensor gradient = step->args[0].u.tensor;
    int64_t dim;
    if (!read_dim(ops, &step->args[1], gradient.meta->ndim, &dim))
        return true;
    if (cut->program != program || cut->gradient != from) {
        cut->dim = dim;
        if (!find_cut(cut, ops, program, step->node, gradient.meta))
            return false;
    }
    uint32_t at = dim == cut->dim ? find_part(ops, cut, cut->next, step) : UINT32_MAX;
    if (at == UINT32_MAX)
        return true;
    if (!evaluate_parts(traced, ops, gradient, at) || !traced_evaluate(traced, ops, result))
        return false;
    cut->next = at + 1;
    return step->node != cut->last || evaluate_parts(traced, ops, gradient, cut->parts.n);
}

#include "replay/program/gradients.h"

#include "replay/ops/layout/layout.h"
#include "replay/ops/model/dispatch_model.h"

enum { MAX_NESTING = 8 };

static bool requires_gradient(const struct program *p, node_id node)
{
    if (node >= p->n_steps)
        return false;
    if (p->steps[node].kind != STEP_INPUT)
        return p->notes[node].gradient;
    return p->notes[node].gradient ||
           (p->first[node].kind == VALUE_TENSOR && p->first[node].u.tensor.meta->requires_grad);
}

bool gradients_pass(struct ops *ops, const struct program *p, const struct step *step,
                    bool disabled)
{
    ops_forget_gradients(ops, disabled);
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct patch *patch = &p->patches[step->first_patch + i];
        if (patch->at->kind == VALUE_TENSOR && requires_gradient(p, patch->from) &&
            !ops_note_gradient(ops, patch->at->u.tensor))
            return false;
    }
    return true;
}

static bool takes_gradient(const struct program *p, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++)
        if (requires_gradient(p, p->patches[step->first_patch + i].from))
            return true;
    return false;
}

static bool has_floats(struct value value, unsigned nesting)
{
    if (value.kind == VALUE_TENSOR)
        return dtype_is_float(value.u.tensor.meta->dtype) ||
               dtype_is_complex(value.u.tensor.meta->dtype);
    bool group = value.kind == VALUE_TUPLE || value.kind == VALUE_LIST, found = false;
    for (uint32_t i = 0; group && i < value.n && nesting < MAX_NESTING && !found; i++)
        found = has_floats(value.u.items[i], nesting + 1);
    return found;
}

/* Returns whether autograd gives the step's result, or item of a result, a gradient. */
static bool is_differentiable(const struct program *p, const struct step *step)
{
    int64_t index;
    if (step->kind != STEP_GETITEM)
        return ops_differentiable_results(target_base_name(step->target)) > 0;
    node_id from = step->n_patches ? p->patches[step->first_patch].from : NODE_NONE;
    if (from >= p->n_steps || step->n_args != 2 || step->args[1].kind != VALUE_INT ||
        !sym_to_i64(ops_pool(p->root->ops), step->args[1].u.sym, &index) || index < 0)
        return true;
    return (uint64_t)index < ops_differentiable_results(target_base_name(p->steps[from].target));
}

/* Returns whether a call writes its first argument: "add_", "aten.add_.Tensor". */
static bool writes_first(const struct step *step)
{
    struct str base = target_base_name(step->target);
    return base.n > 2 && base.p[base.n - 1] == '_' && base.p[base.n - 2] != '_';
}

void gradients_note(struct program *p, const struct step *step, struct value result, bool *disabled)
{
    if (str_ends(step->target, STR("_set_grad_enabled")) && step->n_args &&
        step->args[0].kind == VALUE_BOOL)
        *disabled = step->args[0].u.sym == SYM_ID_FALSE;
    bool gradient = !*disabled && takes_gradient(p, step) && has_floats(result, 0) &&
                    is_differentiable(p, step);
    p->notes[step->node].gradient = gradient;
    node_id first = step->n_patches ? p->patches[step->first_patch].from : NODE_NONE;
    if (gradient && writes_first(step) && first < p->n_steps)
        p->notes[first].gradient = true;
}

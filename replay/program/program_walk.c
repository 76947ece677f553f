/* The values of nodes during a walk, for all users of the interpreter. */
#include "replay/program/program.h"

bool program_fill(struct program *p, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct patch *patch = &p->patches[step->first_patch + i];
        if (patch->from >= p->n_steps || !p->valid[patch->from])
            return false;
        *patch->at = p->current[patch->from];
    }
    return true;
}

void program_set(struct program *p, const struct step *step, struct value value)
{
    /* A call that changes its argument in place may return nothing (setitem). */
    if (step->object == step->node || value.kind != VALUE_NONE)
        p->current[step->object] = value;
    p->valid[step->object] = true;
    if (step->object != step->node) {
        p->current[step->node] = p->current[step->object];
        p->valid[step->node] = true;
    }
}

void program_take_written(struct program *p, const struct step *step)
{
    for (size_t i = 0, n = ops_n_written(p->root->ops); i < n; i++) {
        uint32_t arg;
        struct tensor tensor = ops_written(p->root->ops, i, &arg);
        for (uint32_t k = 0; k < step->n_patches && arg < step->n_args; k++) {
            const struct patch *patch = &p->patches[step->first_patch + k];
            if (patch->at == &step->args[arg] && patch->from < p->n_steps)
                p->current[patch->from] = value_tensor(tensor);
        }
    }
}

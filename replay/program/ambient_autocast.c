#include "replay/program/ambient_autocast.h"

#include "replay/ops/python/python.h"

static bool changes_autocast(const struct step *step)
{
    return str_contains(step->target, STR("autocast"));
}

/* Returns whether a tensor of float32 is among a call's arguments. */
static bool takes_float32(const struct program *p, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct patch *patch = &p->patches[step->first_patch + i];
        const struct expected *from =
            patch->from < p->n_steps ? p->steps[patch->from].expected : NULL;
        if (from && from->kind == EXPECT_TENSOR && !from->unreadable && from->dtype == DTYPE_F32)
            return true;
    }
    return false;
}

void ambient_autocast_set(const struct program *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++) {
        const struct step *step = &p->steps[i];
        const struct expected *result = step->expected;
        if (!step_is_call(step) || step->kind == STEP_GETITEM)
            continue;
        if (changes_autocast(step))
            return;
        if (!result || result->kind != EXPECT_TENSOR || result->unreadable ||
            !python_is_lowered(target_base_name(step->target), result->device.type) ||
            !takes_float32(p, step))
            continue;
        if (result->dtype == DTYPE_F16 || result->dtype == DTYPE_BF16)
            ops_set_autocast(p->ops, result->device.type, result->dtype);
        return;
    }
}

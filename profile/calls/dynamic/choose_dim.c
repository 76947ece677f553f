#include "profile/calls/dynamic/choose_dim.h"

#include <math.h>

static bool is_marked(const struct tensor_value *tensor, enum tensor_mark mark, uint32_t dim)
{
    return dim < MOST_RANK && (tensor->marks[mark] >> dim & 1);
}

enum dim_dynamic choose_dim(const struct dynamic_settings *settings,
                            const struct source_state *state, const struct tensor_value *tensor,
                            uint32_t dim, bool marked)
{
    bool mark_static = is_marked(tensor, TENSOR_MARK_STATIC, dim);
    if (is_marked(tensor, TENSOR_MARK_UNBACKED, dim))
        return DIM_UNBACKED;
    if (marked || is_marked(tensor, TENSOR_MARK_DYNAMIC, dim) ||
        is_marked(tensor, TENSOR_MARK_WEAK, dim) ||
        is_marked(tensor, TENSOR_MARK_STRICT_UNBACKED, dim))
        return DIM_DYNAMIC;
    if (!mark_static && settings->automatic && state && is_size_dynamic(state, dim))
        return DIM_DYNAMIC;
    return mark_static || settings->assume_static ? DIM_STATIC : DIM_DUCK;
}

enum dim_dynamic choose_scalar(const struct dynamic_settings *settings,
                               const struct source_state *state, const struct py_value *value,
                               bool marked)
{
    bool is_float = value->kind == PY_FLOAT;
    bool changed = settings->automatic && state && state->scalar.kind == ATOM_DYNAMIC;
    if (is_float && (!settings->unspecialized_floats || !isfinite(value->real)))
        return DIM_STATIC;
    return marked || changed || !settings->assume_static ? DIM_DYNAMIC : DIM_STATIC;
}

void observe_marks(struct frame_state *state, uint32_t source, const struct tensor_value *tensor)
{
    for (uint32_t i = 0; i < tensor->n_dims && i < MOST_RANK; i++)
        if (is_marked(tensor, TENSOR_MARK_DYNAMIC, i))
            frame_state_mark(state, source, i);
}

bool is_parameter(const struct py_value *value)
{
    return value->kind == PY_TENSOR && str_is(value->type, "Parameter");
}

bool is_fixed_input(struct str source, const struct py_value *value, bool of_module)
{
    if (value->kind == PY_TENSOR)
        return str_contains(source, STR("._parameters[")) ||
               str_contains(source, STR("._buffers["));
    return value->kind == PY_INT && (of_module || !str_starts(source, STR("L[")));
}

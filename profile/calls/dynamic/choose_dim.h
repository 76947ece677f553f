/* Which sizes and numbers a compile makes symbols of: _automatic_dynamic(), wrap_symint() and
 * wrap_symfloat() in torch/_dynamo/variables/builder.py (2.13). */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_CHOOSE_DIM_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_CHOOSE_DIM_H

#include "profile/calls/dynamic/frame_state.h"
#include "replay/shape/env/env.h"

/* torch._dynamo.config; torch.compile(dynamic=) sets them. */
struct dynamic_settings {
    bool automatic;     /* automatic_dynamic_shapes */
    bool assume_static; /* assume_static_by_default */
    bool unspecialized_floats;
};

/* `state` is what is remembered of the input, this value included. `marked`: the policy marks the
 * dimension, beside what marks the tensor has. */
enum dim_dynamic choose_dim(const struct dynamic_settings *settings,
                            const struct source_state *state, const struct tensor_value *tensor,
                            uint32_t dim, bool marked);
enum dim_dynamic choose_scalar(const struct dynamic_settings *settings,
                               const struct source_state *state, const struct py_value *value,
                               bool marked);
/* Remembers the marks that a tensor has, as _automatic_dynamic() does. */
void observe_marks(struct frame_state *state, uint32_t source, const struct tensor_value *tensor);
/* Return whether Dynamo makes constants of a value or an input whatever the settings are:
 * parameters and buffers (tensor_always_has_static_shape()), ints of modules and globals
 * (is_int_specialization_case()). */
bool is_parameter(const struct py_value *value);
bool is_fixed_input(struct str source, const struct py_value *value, bool of_module);

#endif

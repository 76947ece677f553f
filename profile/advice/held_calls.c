#include "profile/advice/held_calls.h"

#include <string.h>

#include "profile/advice/padded_calls.h"
#include "profile/calls/values/py_value.h"

/* Returns whether a source is another one or a part of it: L['x'][0] of L['x']. */
static bool is_part(struct str source, struct str whole)
{
    if (!str_starts(source, whole))
        return false;
    char next = source.n > whole.n ? source.p[whole.n] : '.';
    return next == '.' || next == '[';
}

static bool is_held(const struct call_log *log, const struct call_hold *hold,
                    const struct call_value *value)
{
    return is_part(intern_text(&log->sources, value->source), hold->source);
}

bool held_call_is_of(const struct program_call *call, int64_t frame)
{
    return call->backward_of < 0 && (frame < 0 || call->frame_id < 0 || call->frame_id == frame);
}

/* Which object a value is says nothing once it is held: calls number their objects by themselves.
 */
static bool equal_values(const struct py_value *a, const struct py_value *b)
{
    struct py_value x = *a, y = *b;
    x.object = y.object = OBJECT_NONE;
    return py_equal(&x, &y);
}

/* `at`: where it is most likely, as calls list their values in one order. */
static const struct call_value *value_of(const struct program_call *call, uint32_t source,
                                         uint32_t at)
{
    if (at < call->n_values && call->values[at].source == source)
        return &call->values[at];
    for (uint32_t i = 0; i < call->n_values; i++)
        if (call->values[i].source == source)
            return &call->values[i];
    return NULL;
}

/* Returns whether two calls have the same of what is held. */
static bool same_held(const struct call_log *log, const struct call_hold *hold,
                      const struct program_call *a, const struct program_call *b)
{
    for (uint32_t i = 0; i < a->n_values; i++) {
        const struct call_value *other = value_of(b, a->values[i].source, i);
        if (is_held(log, hold, &a->values[i]) &&
            (!other || !equal_values(&a->values[i].value, &other->value)))
            return false;
    }
    return true;
}

/* Replaces what is held in a call by what another one has. */
static bool take_values(struct held_calls *held, const struct call_log *log,
                        const struct call_hold *hold, struct program_call *call,
                        const struct program_call *from)
{
    struct call_value *values =
        arena_array(&held->arena, struct call_value, (size_t)call->n_values + from->n_values + 1);
    uint32_t n = 0;
    if (!values)
        return false;
    for (uint32_t i = 0; i < call->n_values; i++)
        if (!is_held(log, hold, &call->values[i]))
            values[n++] = call->values[i];
    for (uint32_t i = 0; i < from->n_values; i++) {
        if (!is_held(log, hold, &from->values[i]))
            continue;
        values[n] = from->values[i];
        values[n++].value.object = OBJECT_NONE;
    }
    call->values = values;
    call->n_values = n;
    return true;
}

static bool lists_held(const struct call_log *log, const struct call_hold *hold,
                       const struct program_call *call)
{
    for (uint32_t i = 0; i < call->n_values; i++)
        if (is_held(log, hold, &call->values[i]))
            return true;
    return false;
}

/* Gives the calls of a frame what its first call has, or from its second value on what that is. */
static bool hold_values(struct held_calls *held, struct call_log *log, const struct call_hold *hold)
{
    const struct program_call *first = NULL, *second = NULL;
    for (size_t i = 0; i < log->calls.n; i++) {
        const struct program_call *was = &held->saved[i];
        if (!held_call_is_of(was, hold->frame) ||
            (hold->kind == HOLD_SECOND && !lists_held(log, hold, was)))
            continue;
        if (!first) {
            first = was;
        } else if (hold->kind == HOLD_SECOND && !second && !same_held(log, hold, was, first)) {
            second = was;
        }
        const struct program_call *from =
            second && !same_held(log, hold, was, first) ? second : first;
        if (!take_values(held, log, hold, &log->calls.v[i], from))
            return false;
    }
    return true;
}

/* ---- Sizes ---- */

static const struct tensor_value *held_tensor(const struct call_log *log,
                                              const struct call_hold *hold,
                                              const struct program_call *call, uint32_t *at)
{
    for (uint32_t i = 0; i < call->n_values; i++) {
        const struct py_value *value = &call->values[i].value;
        if (value->kind != PY_TENSOR || value->tensor->n_dims <= hold->rule.dim ||
            !str_eq(intern_text(&log->sources, call->values[i].source), hold->source))
            continue;
        *at = i;
        return value->tensor;
    }
    return NULL;
}

/* Returns the next size that obeys a rule. */
static int64_t padded(const struct size_rule *rule, int64_t size, int64_t first)
{
    return rule->first ? first : size >= 0 && size < rule->least ? rule->least : size;
}

static const struct tensor_value *resized(struct held_calls *held, const struct tensor_value *was,
                                          uint32_t dim, int64_t size)
{
    struct tensor_value *tensor = arena_new(&held->arena, struct tensor_value);
    int64_t *sizes = arena_array(&held->arena, int64_t, was->n_dims);
    int64_t *strides = arena_array(&held->arena, int64_t, was->n_dims), stride = 1;
    if (!tensor || !sizes || !strides)
        return NULL;
    *tensor = *was;
    for (uint32_t i = was->n_dims; i-- > 0;) {
        sizes[i] = i == dim ? size : was->sizes[i];
        strides[i] = tensor_is_contiguous(was) ? stride : was->strides[i];
        if (__builtin_mul_overflow(stride, sizes[i] > 1 ? sizes[i] : 1, &stride))
            stride = 1;
    }
    tensor->sizes = sizes;
    tensor->strides = strides;
    return tensor;
}

static bool has_size(const struct call_value *value, uint32_t dim, int64_t size)
{
    return value->value.kind == PY_TENSOR && dim < value->value.tensor->n_dims &&
           value->value.tensor->sizes[dim] == size;
}

static bool is_apart(const struct call_value *value, struct held_apart apart)
{
    for (size_t i = 0; i < apart.n; i++)
        if (apart.sources[i] == value->source)
            return true;
    return false;
}

/* Returns whether other tensors follow: not if one that stays has the same size, since they may go
 * with that one. */
static bool is_followed(const struct program_call *call, uint32_t at, uint32_t dim,
                        struct held_apart apart)
{
    int64_t size = call->values[at].value.tensor->sizes[dim];
    for (uint32_t i = 0; i < call->n_values; i++)
        if (i != at && is_apart(&call->values[i], apart) && has_size(&call->values[i], dim, size))
            return false;
    return true;
}

bool held_resize(struct held_calls *held, struct program_call *call, uint32_t at, uint32_t dim,
                 int64_t size, struct held_apart apart)
{
    struct call_value *values = arena_array(&held->arena, struct call_value, call->n_values);
    int64_t was = call->values[at].value.tensor->sizes[dim];
    bool followed = is_followed(call, at, dim, apart);
    if (!values)
        return false;
    memcpy(values, call->values, call->n_values * sizeof *values);
    for (uint32_t i = 0; i < call->n_values; i++) {
        if (i != at &&
            (!followed || is_apart(&values[i], apart) || !has_size(&values[i], dim, was)))
            continue;
        values[i].value.tensor = resized(held, values[i].value.tensor, dim, size);
        if (!values[i].value.tensor)
            return false;
    }
    call->values = values;
    return true;
}

static bool hold_size(struct held_calls *held, struct call_log *log, const struct call_hold *hold)
{
    int64_t first = -1;
    for (size_t i = 0; i < log->calls.n; i++) {
        struct program_call *call = &log->calls.v[i];
        uint32_t at;
        const struct tensor_value *tensor =
            held_call_is_of(call, hold->frame) ? held_tensor(log, hold, call, &at) : NULL;
        if (!tensor)
            continue;
        int64_t size = tensor->sizes[hold->rule.dim];
        first = first < 0 ? size : first;
        int64_t to = padded(&hold->rule, size, first);
        if (to != size &&
            !held_resize(held, call, at, hold->rule.dim, to, (struct held_apart){ 0 }))
            return false;
    }
    return true;
}

static void hold_mode(struct call_log *log, const struct call_hold *hold)
{
    const struct program_call *first = NULL;
    for (size_t i = 0; i < log->calls.n; i++) {
        struct program_call *call = &log->calls.v[i];
        if (!held_call_is_of(call, hold->frame))
            continue;
        first = first ? first : call;
        call->mode = first->mode;
    }
}

bool held_calls_begin(struct held_calls *held, struct call_log *log, const struct call_plan *plan)
{
    bool ok = true;
    if (!plan->holds.n)
        return true;
    held->saved = calloc(log->calls.n + 1, sizeof *held->saved);
    if (!held->saved)
        return false;
    if (log->calls.n)
        memcpy(held->saved, log->calls.v, log->calls.n * sizeof *held->saved);
    for (size_t i = 0; ok && i < plan->holds.n; i++) {
        const struct call_hold *hold = &plan->holds.v[i];
        if (hold->kind == HOLD_MODE)
            hold_mode(log, hold);
        else if (hold->kind == HOLD_SIZE)
            ok = hold_size(held, log, hold);
        else if (hold->kind == HOLD_CONDITION)
            ok = padded_calls_make(held, log, hold);
        else
            ok = hold_values(held, log, hold);
    }
    if (!ok)
        held_calls_end(held, log);
    return ok;
}

void held_calls_end(struct held_calls *held, struct call_log *log)
{
    if (held->saved && log->calls.n)
        memcpy(log->calls.v, held->saved, log->calls.n * sizeof *held->saved);
    free(held->saved);
    arena_release(&held->arena);
    *held = (struct held_calls){ 0 };
}

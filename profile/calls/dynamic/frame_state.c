#include "profile/calls/dynamic/frame_state.h"

#include <string.h>

static uint32_t find(const struct frame_state *state, uint32_t source)
{
    uint32_t row, hash = source_hash(source);
    for (size_t at = hash_index_start(&state->index, hash);
         hash_index_next(&state->index, hash, &at, &row);)
        if (state->sources.v[row].source == source)
            return row;
    return UINT32_MAX;
}

const struct source_state *frame_state_find(const struct frame_state *state, uint32_t source)
{
    uint32_t row = find(state, source);
    return row == UINT32_MAX ? NULL : &state->sources.v[row];
}

struct source_state *frame_state_add(struct frame_state *state, uint32_t source)
{
    uint32_t row = find(state, source);
    if (row != UINT32_MAX)
        return &state->sources.v[row];
    if (!hash_index_reserve(&state->index, 1) ||
        !vec_push(&state->sources, (struct source_state){ .source = source }))
        return NULL;
    row = (uint32_t)state->sources.n - 1;
    hash_index_add(&state->index, source_hash(source), row);
    return &state->sources.v[row];
}

bool atom_list_make(struct atom_list *list, uint32_t n)
{
    struct atom *v = calloc(n + 1, sizeof *v);
    if (!v)
        return false;
    free(list->v);
    *list = (struct atom_list){ .kind = ATOM_INT, .n = n, .v = v };
    return true;
}

bool atom_equal(struct atom a, struct atom b)
{
    return a.kind == b.kind && (a.kind == ATOM_FLOAT ? a.real == b.real : a.integer == b.integer);
}

/* _merge_atom() */
static struct atom merge_atom(struct atom x, struct atom y)
{
    if (x.kind == ATOM_UNSET)
        return y;
    if (y.kind == ATOM_UNSET || atom_equal(x, y))
        return x;
    return (struct atom){ .kind = ATOM_DYNAMIC };
}

void atom_list_make_dynamic(struct atom_list *list)
{
    free(list->v);
    *list = (struct atom_list){ .kind = ATOM_DYNAMIC };
}

/* _merge_atom_tup(); `other` is consumed. */
static void merge_list(struct atom_list *list, struct atom_list *other)
{
    if (list->kind == ATOM_UNSET || other->kind == ATOM_UNSET) {
        if (list->kind == ATOM_UNSET) {
            *list = *other;
            *other = (struct atom_list){ 0 };
        }
    } else if (list->kind == ATOM_DYNAMIC || other->kind == ATOM_DYNAMIC || list->n != other->n) {
        atom_list_make_dynamic(list);
    } else {
        for (uint32_t i = 0; i < list->n; i++)
            list->v[i] = merge_atom(list->v[i], other->v[i]);
    }
    free(other->v);
    *other = (struct atom_list){ 0 };
}

void infer_strides(const struct tensor_value *tensor, struct atom *ret)
{
    uint32_t order[MOST_RANK], n = tensor->n_dims < MOST_RANK ? tensor->n_dims : MOST_RANK;
    int64_t products[MOST_RANK];
    for (uint32_t i = 0; i < n; i++) { /* by (stride, -i), least first */
        uint32_t at = i;
        for (; at > 0 && tensor->strides[order[at - 1]] >= tensor->strides[i]; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint32_t dim = order[k];
        ret[dim] = (struct atom){ .kind = ATOM_INT, .integer = tensor->strides[dim] };
        for (uint32_t before = 0; before < k; before++)
            if (products[before] == tensor->strides[dim]) {
                ret[dim] = (struct atom){ .kind = ATOM_INFER, .integer = order[before] };
                break;
            }
        if (__builtin_mul_overflow(tensor->strides[dim], tensor->sizes[dim], &products[k]))
            products[k] = INT64_MIN;
    }
}

/* make_tensor() and make_scalar() */
static bool make_observed(const struct py_value *value, struct source_state *ret)
{
    *ret = (struct source_state){ .scalar = { .kind = ATOM_DYNAMIC } };
    if (value->kind != PY_TENSOR) {
        ret->scalar = value->kind == PY_INT
                          ? (struct atom){ .kind = ATOM_INT, .integer = value->integer }
                          : (struct atom){ .kind = ATOM_FLOAT, .real = value->real };
        ret->size.kind = ret->stride.kind = ATOM_DYNAMIC;
        return true;
    }
    const struct tensor_value *tensor = value->tensor;
    uint32_t n = tensor->n_dims < MOST_RANK ? tensor->n_dims : MOST_RANK;
    if (!atom_list_make(&ret->size, n) || !atom_list_make(&ret->stride, n)) {
        free(ret->size.v);
        return false;
    }
    for (uint32_t i = 0; i < n; i++)
        ret->size.v[i] = (struct atom){ .kind = ATOM_INT, .integer = tensor->sizes[i] };
    infer_strides(tensor, ret->stride.v);
    return true;
}

static bool add_change(state_changes *changes, uint32_t source, enum change_part part, uint32_t dim,
                       struct atom from, struct atom to)
{
    struct state_change change = { source, part, dim, from, to };
    return !changes || vec_push(changes, change);
}

static bool note_list(state_changes *changes, uint32_t source, enum change_part part,
                      const struct atom_list *old, const struct atom_list *now)
{
    static const struct atom NONE = { 0 };
    bool ok = true;
    if (old->kind == ATOM_UNSET || old->kind == ATOM_DYNAMIC)
        return true;
    if (now->kind != ATOM_INT || now->n != old->n)
        return add_change(
            changes, source, part, CHANGE_ALL, (struct atom){ .kind = ATOM_INT, .integer = old->n },
            now->kind == ATOM_INT ? (struct atom){ .kind = ATOM_INT, .integer = now->n } : NONE);
    for (uint32_t i = 0; ok && i < old->n; i++)
        if (old->v[i].kind != ATOM_DYNAMIC && old->v[i].kind != ATOM_UNSET &&
            !atom_equal(old->v[i], now->v[i]))
            ok = add_change(changes, source, part, i, old->v[i], now->v[i]);
    return ok;
}

static bool note_changes(state_changes *changes, const struct source_state *old,
                         const struct source_state *now)
{
    bool scalar = old->scalar.kind == ATOM_INT || old->scalar.kind == ATOM_FLOAT;
    if (scalar && !atom_equal(old->scalar, now->scalar) &&
        !add_change(changes, old->source, CHANGE_SCALAR, 0, old->scalar, now->scalar))
        return false;
    return note_list(changes, old->source, CHANGE_SIZE, &old->size, &now->size) &&
           note_list(changes, old->source, CHANGE_STRIDE, &old->stride, &now->stride);
}

bool frame_state_observe(struct frame_state *state, uint32_t source, const struct py_value *value,
                         bool overwrite, state_changes *changes)
{
    struct source_state now;
    if (value->kind != PY_TENSOR && value->kind != PY_INT && value->kind != PY_FLOAT)
        return true;
    struct source_state *entry = frame_state_add(state, source);
    if (!entry || !make_observed(value, &now))
        return false;
    bool ok = overwrite || note_changes(changes, entry, &now);
    if (overwrite) {
        free(entry->size.v);
        free(entry->stride.v);
        now.source = source;
        *entry = now;
        return true;
    }
    entry->scalar = merge_atom(entry->scalar, now.scalar);
    merge_list(&entry->size, &now.size);
    merge_list(&entry->stride, &now.stride);
    return ok;
}

void frame_state_mark(struct frame_state *state, uint32_t source, uint32_t dim)
{
    uint32_t row = find(state, source);
    struct atom_list *size = row == UINT32_MAX ? NULL : &state->sources.v[row].size;
    if (size && size->kind == ATOM_INT && dim < size->n)
        size->v[dim].kind = ATOM_DYNAMIC;
}

bool is_size_dynamic(const struct source_state *state, uint32_t dim)
{
    return state->size.kind == ATOM_DYNAMIC ||
           (state->size.kind == ATOM_INT && dim < state->size.n &&
            state->size.v[dim].kind == ATOM_DYNAMIC);
}

bool is_stride_dynamic(const struct source_state *state, uint32_t dim)
{
    if (state->size.kind != ATOM_INT)
        return false;
    for (uint32_t i = 0; i < state->size.n; i++)
        if (state->size.v[i].kind != ATOM_INT)
            return false;
    return state->stride.kind == ATOM_DYNAMIC ||
           (state->stride.kind == ATOM_INT && dim < state->stride.n &&
            state->stride.v[dim].kind == ATOM_DYNAMIC);
}

static bool copy_list(struct atom_list *to, const struct atom_list *from)
{
    if (from->kind != ATOM_INT) {
        *to = (struct atom_list){ .kind = from->kind };
        return true;
    }
    if (!atom_list_make(to, from->n))
        return false;
    memcpy(to->v, from->v, from->n * sizeof *from->v);
    return true;
}

static bool copy_state(struct frame_state *to, const struct source_state *from)
{
    struct source_state *copy = frame_state_add(to, from->source);
    if (!copy || !copy_list(&copy->size, &from->size) || !copy_list(&copy->stride, &from->stride))
        return false;
    copy->scalar = from->scalar;
    return true;
}

bool frame_state_copy_source(struct frame_state *to, const struct frame_state *from,
                             uint32_t source)
{
    const struct source_state *row = frame_state_find(from, source);
    return !row || frame_state_find(to, source) || copy_state(to, row);
}

bool frame_state_copy(struct frame_state *to, const struct frame_state *from)
{
    for (size_t i = 0; i < from->sources.n; i++)
        if (!copy_state(to, &from->sources.v[i]))
            return false;
    return true;
}

void frame_state_release(struct frame_state *state)
{
    for (size_t i = 0; i < state->sources.n; i++) {
        free(state->sources.v[i].size.v);
        free(state->sources.v[i].stride.v);
    }
    vec_release(&state->sources);
    hash_index_release(&state->index);
}

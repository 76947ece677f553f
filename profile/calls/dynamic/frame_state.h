/* What automatic dynamic shapes remember of the inputs of a code object, from compile to compile.
 *
 * The rules are those of torch/_dynamo/pgo.py (FrameStateSizeEntry.__ior__, _merge_atom_tup) and of
 * record_automatic_dynamic() in torch/_dynamo/variables/builder.py: an element is unset, a value or
 * dynamic, and goes up only; another rank makes the whole size dynamic; a stride that is the
 * product of a size and a stride is remembered as that product. */
#ifndef SYMTAPE_PROFILE_CALLS_DYNAMIC_FRAME_STATE_H
#define SYMTAPE_PROFILE_CALLS_DYNAMIC_FRAME_STATE_H

#include "profile/calls/values/py_value.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

/* The hash of a source in an index by source. */
static inline uint32_t source_hash(uint32_t source)
{
    return source * 2654435761u;
}

enum atom_kind {
    ATOM_UNSET,
    ATOM_INT,   /* integer */
    ATOM_FLOAT, /* real: scalars only */
    ATOM_INFER, /* integer is a dimension: size[d] * stride[d]; strides only */
    ATOM_DYNAMIC,
};

struct atom {
    enum atom_kind kind;
    int64_t integer;
    double real;
};

enum { MOST_RANK = 64 };

/* A size or stride: its elements, or nothing known of it, or all of it dynamic. */
struct atom_list {
    enum atom_kind kind; /* ATOM_UNSET, ATOM_DYNAMIC, or ATOM_INT: `n` elements */
    uint32_t n;
    struct atom *v; /* owned; of ATOM_INT only */
};

struct source_state {
    uint32_t source;
    struct atom scalar;
    struct atom_list size, stride;
};

/* One element that went dynamic. */
enum change_part { CHANGE_SCALAR, CHANGE_SIZE, CHANGE_STRIDE };
#define CHANGE_ALL UINT32_MAX /* the whole size: another rank, or no tensor */

struct state_change {
    uint32_t source;
    enum change_part part;
    uint32_t dim;         /* or CHANGE_ALL */
    struct atom from, to; /* what was remembered, and what came */
};

struct frame_state {
    vec_of(struct source_state)
    sources;
    struct hash_index index;
};

typedef vec_of(struct state_change)
state_changes;

/* Remembers the value of a tensor, an int or a float; others are left out. Appends to `changes`,
 * unless it is NULL, what went dynamic. With `overwrite` the value replaces what was remembered, as
 * automatic_dynamic_shapes=False does. Returns false when memory ran out. */
bool frame_state_observe(struct frame_state *state, uint32_t source, const struct py_value *value,
                         bool overwrite, state_changes *changes);
/* mark_dynamic() on a dimension of a tensor that was remembered. */
void frame_state_mark(struct frame_state *state, uint32_t source, uint32_t dim);
/* Returns what is remembered of a source, or NULL. */
const struct source_state *frame_state_find(const struct frame_state *state, uint32_t source);
/* Adds a source of which nothing is remembered, or returns the one that is there; NULL when memory
 * ran out. */
struct source_state *frame_state_add(struct frame_state *state, uint32_t source);
bool atom_list_make(struct atom_list *list, uint32_t n);
void atom_list_make_dynamic(struct atom_list *list);
bool atom_equal(struct atom a, struct atom b);

/* is_size_dynamic() and is_stride_dynamic() of FrameStateSizeEntry. */
bool is_size_dynamic(const struct source_state *state, uint32_t dim);
bool is_stride_dynamic(const struct source_state *state, uint32_t dim);
/* Writes the stride of each dimension of a tensor as a number or a product; `ret` has MOST_RANK. */
void infer_strides(const struct tensor_value *tensor, struct atom *ret);

/* Copies what `from` remembers of a source, if it does and `to` does not have the source yet.
 * Returns false when memory ran out. */
bool frame_state_copy_source(struct frame_state *to, const struct frame_state *from,
                             uint32_t source);
/* Copies a state into an empty one. */
bool frame_state_copy(struct frame_state *to, const struct frame_state *from);
void frame_state_release(struct frame_state *state);

#endif

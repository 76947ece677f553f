/* Tensors whose contiguity PyTorch knows without a guard: those that empty() made contiguous, and
 * the views that its cache makes. Where the cache has a view, PyTorch gives an empty tensor its
 * storage by set_() while guards are suppressed. set_() asks whether the tensor is contiguous, and
 * the tensor stores the answer, so that no later question about it adds a guard
 * (_get_output_tensor_from_cache_entry of torch/_subclasses/fake_tensor.py,
 * set_storage_meta__symint of aten/src/ATen/native/TensorShape.cpp).
 *
 * A view has been made before if its operator made a tensor of the same meta of a tensor of the
 * same meta. Neither the memo nor the dispatch model is asked, so that the guards do not depend on
 * them. */
#ifndef SYMTAPE_REPLAY_OPS_LAYOUT_CACHED_VIEWS_H
#define SYMTAPE_REPLAY_OPS_LAYOUT_CACHED_VIEWS_H

#include "replay/ops/dispatch/value.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

struct cached_view {
    uint32_t op, source, view; /* the index of the operator, and the ids of the metas */
};

struct cached_views {
    vec_of(struct cached_view)
    rows;
    struct hash_index index; /* of the rows */
};

struct call;

/* Sets `cached_view` of the tensors among a call's results: of a view, whether the environment saw
 * the same view before, which is remembered otherwise; of an argument that the call returns, what
 * the argument has; of other tensors, false. */
void mark_cached_views(struct call *c);

/* Returns whether PyTorch knows that a tensor is contiguous, or is not, so that the question adds
 * no guard. Operators other than composite ones get the tensor whose contiguity set_() has asked.
 * AOTAutograd calls composite operators with functional tensors, which have metas of their own;
 * those know only what empty() assumed of its tensor (`contiguous` of struct tensor). */
bool contiguity_is_known(const struct call *c, struct tensor x);

void cached_views_clear(struct cached_views *views);
void cached_views_release(struct cached_views *views);

#endif

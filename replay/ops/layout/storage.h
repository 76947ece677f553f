/* Storages by number: their sizes in bytes, with which as_strided() compares. */
#ifndef SYMTAPE_REPLAY_OPS_LAYOUT_STORAGE_H
#define SYMTAPE_REPLAY_OPS_LAYOUT_STORAGE_H

#include "replay/ops/dispatch/rule.h"

void storage_note(struct ops *ops, uint32_t storage, sym_id bytes);
sym_id storage_bytes(const struct ops *ops, uint32_t storage); /* SYM_NONE when not known */

/* Returns the bytes of a tensor from outside, whose storage is what its strides span. */
sym_id storage_of_input(struct sym_pool *pool, const struct tensor_meta *meta);

/* The bytes that empty_strided() and empty() compute; the former evaluates whether a size is 0. */
sym_id strided_bytes(struct call *c, enum dtype dtype, const sym_id *sizes, const sym_id *strides,
                     uint32_t n);
sym_id contiguous_bytes(struct call *c, enum dtype dtype, const sym_id *sizes, uint32_t n);

/* The bounds check of as_strided() on x's storage. */
void check_in_bounds(struct call *c, struct tensor x, enum dtype dtype, const sym_id *sizes,
                     const sym_id *strides, uint32_t n, sym_id offset);

#endif

/* What FakeTensor remembers of a tensor: the symbols that stand for what its values decide
 * (nonzero_memo, item_memo, unique_memo and unique_consecutive_memo of
 * torch/_subclasses/fake_tensor.py). Asked again, the same tensor gives the same symbol, until it
 * is written. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_TENSOR_MEMO_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_TENSOR_MEMO_H

#include "replay/ops/dispatch/value.h"
#include "trace/base/vec.h"

enum memo { MEMO_NONZERO, MEMO_ITEM, MEMO_UNIQUE, MEMO_UNIQUE_CONSECUTIVE };

struct memo_entry {
    uint32_t storage, meta; /* of the tensor: its meta's id */
    enum memo memo;
    struct value value;
};

struct memo_table {
    vec_of(struct memo_entry)
    entries;
    uint32_t asked; /* by how many calls: their answers are of one tensor, not of its meta */
};

/* VALUE_NONE: nothing is remembered. */
struct value memo_get(struct memo_table *table, struct tensor x, enum memo memo);
bool memo_set(struct memo_table *table, struct tensor x, enum memo memo, struct value value);
void memo_forget(struct memo_table *table, uint32_t storage); /* it was written */
void memo_clear(struct memo_table *table);
void memo_release(struct memo_table *table);

#endif

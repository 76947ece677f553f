/* What FakeTensor remembers of a tensor: the symbols that stand for what its values decide
 * (nonzero_memo, item_memo, unique_memo and unique_consecutive_memo of
 * torch/_subclasses/fake_tensor.py). Asked again, the same tensor gives the same symbol, until it
 * is written. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_TENSOR_MEMO_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_TENSOR_MEMO_H

#include "replay/ops/dispatch/value.h"
#include "trace/base/vec.h"

enum tensor_memo { MEMO_NONZERO, MEMO_ITEM, MEMO_UNIQUE, MEMO_UNIQUE_CONSECUTIVE };

struct tensor_memo_entry {
    uint32_t storage, meta; /* of the tensor: its meta's id */
    enum tensor_memo memo;
    struct value value;
};

struct tensor_memo_table {
    vec_of(struct tensor_memo_entry)
    entries;
    uint32_t asked; /* by how many calls: their answers are of one tensor, not of its meta */
};

/* VALUE_NONE: nothing is remembered. */
struct value tensor_memo_get(struct tensor_memo_table *table, struct tensor x,
                             enum tensor_memo memo);
bool tensor_memo_set(struct tensor_memo_table *table, struct tensor x, enum tensor_memo memo,
                     struct value value);
void tensor_memo_forget(struct tensor_memo_table *table, uint32_t storage); /* it was written */
void tensor_memo_clear(struct tensor_memo_table *table);
void tensor_memo_release(struct tensor_memo_table *table);

#endif

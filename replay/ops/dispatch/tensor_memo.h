/* FakeTensor's memos: the symbols that stand for what a tensor's values decide (nonzero_memo,
 * item_memo, unique_memo and unique_consecutive_memo of torch/_subclasses/fake_tensor.py). The same
 * tensor gives the same symbol again, until it is written. */
#ifndef SYMTAPE_REPLAY_OPS_DISPATCH_TENSOR_MEMO_H
#define SYMTAPE_REPLAY_OPS_DISPATCH_TENSOR_MEMO_H

#include "replay/ops/dispatch/value.h"
#include "trace/base/hash_index.h"
#include "trace/base/vec.h"

enum tensor_memo { MEMO_NONZERO, MEMO_ITEM, MEMO_UNIQUE, MEMO_UNIQUE_CONSECUTIVE };

/* A memo, or, with the meta UINT32_MAX, when the memos of a storage were forgotten. */
struct tensor_memo_entry {
    uint32_t storage, meta; /* those of the tensor: its meta's id */
    enum tensor_memo memo;
    uint32_t time; /* when it was set or forgotten: an older memo than its storage is none */
    struct value value;
};

struct tensor_memo_table {
    vec_of(struct tensor_memo_entry)
    entries;
    struct hash_index index; /* of the entries, by storage, meta and memo */
    uint32_t clock;
    uint32_t uses; /* number of look-ups: results that used one belong to a tensor, not its meta */
};

/* Returns VALUE_NONE when there is no memo. */
struct value tensor_memo_get(struct tensor_memo_table *table, struct tensor x,
                             enum tensor_memo memo);
bool tensor_memo_set(struct tensor_memo_table *table, struct tensor x, enum tensor_memo memo,
                     struct value value);
void tensor_memo_forget(struct tensor_memo_table *table, uint32_t storage); /* when it is written */
void tensor_memo_clear(struct tensor_memo_table *table);
void tensor_memo_release(struct tensor_memo_table *table);

#endif

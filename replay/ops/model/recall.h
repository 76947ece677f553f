/* What PyTorch's operator cache tells apart that ours does not: how many bytes a storage has.
 *
 * Its key holds the storage's size (extract_tensor_metadata of torch/_subclasses/fake_tensor.py),
 * and a result from the cache is made by empty_strided(), which reckons that size from the strides,
 * where a meta function's empty() multiplies the sizes: the same number, another expression. So the
 * call that takes such a result is a new one to the cache, is run again, and asks again. Mostly it
 * is told what it was told before; where ranges became narrower in between it asks otherwise.
 *
 * PyTorch runs a program several times before its ATen graph is printed. Dynamo's graph stands for
 * one run; an inference or joint graph for two, one after the other: that which collects metadata
 * (collect_metadata_analysis.py) and that which traces. What only one of them has to run again is
 * asked again here. */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_RECALL_H
#define SYMTAPE_REPLAY_OPS_MODEL_RECALL_H

#include "replay/ops/dispatch/ops.h"

enum { RECALL_RUNS = 2 };

/* Calls ask again where PyTorch's cache would not know them: for the first walk of a graph, which
 * stands for so many runs of PyTorch's, at most two. 0, at first: what was seen is known. Calls
 * that were seen before are known by the symbols that theirs are by now. */
void ops_set_recall(struct ops *ops, unsigned runs);

/* --- Inside --- */

struct recall;
struct call;
struct call_key;

struct recall *recall_new(void);
void recall_free(struct recall *recall); /* NULL is fine */
void recall_clear(struct recall *recall);

/* Which runs find that call in the cache: by bit. Notes it. */
unsigned recall_call(struct ops *ops, const struct call_key *key);
/* Its result's storages, in the runs that found it as the cache makes them. */
void recall_result(const struct call *c, unsigned found);

#endif

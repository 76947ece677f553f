/* The part of PyTorch's operator cache that depends on how many bytes a storage has, which our
 * memo does not distinguish.
 *
 * PyTorch's key contains the storage's size (extract_tensor_metadata of
 * torch/_subclasses/fake_tensor.py). A result from the cache is made by empty_strided(), which
 * computes that size from the strides, where a meta function's empty() multiplies the sizes: the
 * same number, but another expression. So a call on such a result misses the cache, is run again,
 * and evaluates its conditions again. Mostly the results are those of before; after ranges became
 * narrower they may differ.
 *
 * PyTorch runs a program several times before its ATen graph is printed. Dynamo's graph stands
 * for one run; an inference or joint graph for two in succession: one that collects metadata
 * (collect_metadata_analysis.py) and one that traces. Calls that only one of them has to run
 * again are evaluated again here. */
#ifndef SYMTAPE_REPLAY_OPS_MODEL_RECALL_H
#define SYMTAPE_REPLAY_OPS_MODEL_RECALL_H

#include "replay/ops/dispatch/ops.h"

enum { RECALL_RUNS = 2 };

/* Evaluates calls again that PyTorch's cache would not have: for the first walk of a graph, which
 * stands for `runs` runs of PyTorch's, at most two. At first it is 0: earlier calls are known.
 * Earlier calls are compared with their symbols replaced. */
void ops_set_recall(struct ops *ops, unsigned runs);

/* --- Only for this room --- */

struct recall;
struct call;
struct call_key;

struct recall *recall_new(void);
void recall_free(struct recall *recall); /* accepts NULL */
void recall_clear(struct recall *recall);

/* Returns a bit for each run that finds the call in the cache, and adds the call. */
unsigned recall_call(struct ops *ops, const struct call_key *key);
/* Sets the sizes of its result's storages in the runs that found it, as the cache computes them. */
void recall_result(const struct call *c, unsigned found);

#endif

/* The memo: the results of earlier calls, for symtape's own speed. Whether PyTorch's cache would
 * have a call is simulated elsewhere: replay/ops/model.
 *
 *     memo_call(c)     the layer: returns a stored result, or computes and stores it
 *
 * A result is stored as a template, of fresh storages, aliases of arguments and numbers, if the
 * call is repeatable (compute_call()): a call that makes symbols, reads a tensor's memo or
 * changes an argument's meta has to be made each time. Stored calls are numbered in order, for
 * further data about them (replay/ops/model/known_calls.h). */
#ifndef SYMTAPE_REPLAY_OPS_MEMO_MEMO_H
#define SYMTAPE_REPLAY_OPS_MEMO_MEMO_H

#include "replay/ops/memo/call_key.h"

struct memo;

struct memo *memo_new(void); /* NULL: out of memory */
void memo_free(struct memo *memo);
void memo_clear_calls(struct memo *memo);
/* Off: results are stored, but not returned. On at first. */
void memo_set_answers(struct memo *memo, bool on);

enum op_outcome memo_call(struct call *c);

/* --- The steps of memo_call(), for the layer above --- */

#define MEMO_NONE UINT32_MAX

struct call_keys *memo_keys(struct memo *memo);
/* Returns the number of a stored call, or MEMO_NONE. */
uint32_t memo_lookup(struct memo *memo, const struct call_key *key);
/* Sets c->ret to its result. False: this is not possible, and the call must be computed. */
bool memo_answer(struct call *c, const struct call_key *key, uint32_t number);
/* Makes the computed result of a stored call equal to the one that memo_answer() makes: without
 * what empty() assumed of its tensors (`channels_last` and `contiguous` of struct tensor). */
void memo_forget_formats(struct call *c);
/* Stores a computed call, replacing an earlier result. MEMO_NONE: its result has no template, or
 * memory ran out. */
uint32_t memo_keep(struct call *c, const struct call_key *key);

#endif

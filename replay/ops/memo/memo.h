/* The memo: results of calls that were made before, for symtape's own speed. What PyTorch's cache
 * would have said of a call is another matter: replay/ops/model.
 *
 *     memo_call(c)     the layer: answers what it knows; otherwise computes, and keeps the result
 *
 * A result is kept as a template, of fresh storages, aliases of arguments and numbers, where the
 * call is repeatable (compute_call()): one that makes symbols, asks what a tensor remembers or
 * changes an argument's meta has to be made each time. Kept calls are numbered in the order in
 * which they were kept, for what else is known of them (replay/ops/model/known_calls.h). */
#ifndef SYMTAPE_REPLAY_OPS_MEMO_MEMO_H
#define SYMTAPE_REPLAY_OPS_MEMO_MEMO_H

#include "replay/ops/memo/call_key.h"

struct memo;

struct memo *memo_new(void); /* NULL: out of memory */
void memo_free(struct memo *memo);
void memo_clear_calls(struct memo *memo);
/* Off: calls are kept, but not answered. On at first. */
void memo_set_answers(struct memo *memo, bool on);

enum op_outcome memo_call(struct call *c);

/* --- Its parts, for the layer above --- */

#define MEMO_NONE UINT32_MAX

struct call_keys *memo_keys(struct memo *memo);
/* The number of a call that was kept; MEMO_NONE. */
uint32_t memo_lookup(struct memo *memo, const struct call_key *key);
/* Its result, in c->ret. False: not to be had; the call must be computed. */
bool memo_answer(struct call *c, const struct call_key *key, uint32_t number);
/* Of a call that was computed, in place of what was kept of it before. MEMO_NONE: its result is no
 * template, or there is no memory. */
uint32_t memo_keep(struct call *c, const struct call_key *key);

#endif

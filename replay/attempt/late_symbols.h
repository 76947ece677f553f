/* Sizes that Dynamo's graph reads from an input that did not exist yet when they were read.
 *
 * When the graph is done, each size() of a tensor is replaced by the input that has its expression
 * by then (insert_deferred_runtime_asserts of torch/fx/passes/runtime_assert.py). Where a guard
 * made two inputs equal since, that is the input whose symbol replaced the other's, and it may have
 * been created after the call. So, of the inputs that the graph prints alike, these calls take the
 * one that was created first: a call that comes before the first one at the line where an input's
 * symbol was created; one that made a guard before that, and those before it; and those before a
 * call that takes a parameter which was described before the symbol was created, unless a tensor
 * that was described later is taken before or with it: then the parameter was described before the
 * call that takes it. The call that takes the parameter may have read later symbols for its
 * arguments. So may the first call at that line (struct patch) take the first input, if the other
 * one is a size of its tensor; and a call takes the size of its tensors that the graph prints like
 * the input, unless a guard at its line compares the two.
 *
 * Before the first use of an input's tensor a call takes, of the inputs that the graph prints
 * alike, the one whose tensor was used first, unless the guards at its line have only the printed
 * one: a program takes sizes of what it computed, and reads masks later.
 *
 * Several calls may have a line. Where the first guard of the line that compares two inputs has
 * other symbols as well, it is of a call that has these in its arguments. If the graph prints the
 * size of that call's own tensor, the call took the other input. That other input may be a size of
 * a tensor that only later calls take, if no call that soon follows at the line takes such an
 * input; a size of a tensor that no call takes; or a number of the program.
 */
#ifndef SYMTAPE_REPLAY_ATTEMPT_LATE_SYMBOLS_H
#define SYMTAPE_REPLAY_ATTEMPT_LATE_SYMBOLS_H

#include "replay/attempt/attempt.h"

/* Makes the calls of Dynamo's graph take those inputs. False: out of memory. */
bool late_symbols_redirect(const struct attempt_load *load, struct program *program);

#endif

/* Which values of a program require a gradient, as autograd records it: the results of a call of
 * which an argument does, until torch.set_grad_enabled(False). It is noted by node
 * (struct outcome_note), since a detached tensor has the meta and the storage of the other. */
#ifndef SYMTAPE_REPLAY_PROGRAM_GRADIENTS_H
#define SYMTAPE_REPLAY_PROGRAM_GRADIENTS_H

#include "replay/program/program.h"

/* Tells the operators which arguments of the step require a gradient (ops_note_gradient()), and
 * whether gradients are disabled. False: out of memory. */
bool gradients_pass(struct ops *ops, const struct program *p, const struct step *step,
                    bool disabled);

/* Notes of a call that was made whether its result requires a gradient. *disabled: whether calls
 * are not recorded; set by a call of torch.set_grad_enabled(). */
void gradients_note(struct program *p, const struct step *step, struct value result,
                    bool *disabled);

#endif

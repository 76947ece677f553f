/* The values that a forward graph saves for its backward graph. AOTAutograd returns them as outputs
 * of the forward graph, and the backward graph has inputs of the same names
 * (torch/_functorch/partitioners.py, _extract_fwd_bwd_modules). The gradients of the user's outputs
 * (tangents) are its other inputs. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_SAVED_VALUES_H
#define SYMTAPE_REPLAY_BACKEND_RUN_SAVED_VALUES_H

#include "replay/backend/run/run.h"
#include "replay/backend/values/value_file.h"

/* Adds the outputs of a run that was executed, by the names of their nodes. A number is an array of
 * one int64 without dimensions. */
bool saved_values_add(struct run *run, struct value_file *to, struct err *err);
/* Sets *ret to the value of an input of the backward graph; its `p` is NULL if there is none, or if
 * it has another dtype or rank than the input. */
void saved_values_find(const struct value_file *saved, const struct graph *graph,
                       const struct node *node, struct array *ret);

#endif

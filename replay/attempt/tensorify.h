/* The guards of AOTAutograd's pass that computes floats as tensors
 * (torch/fx/passes/_tensorify_python_scalars.py).
 *
 * It replaces floats in the arguments of a few operators by tensors. The numbers that other calls
 * still use become constants, which adds guards, from the last number to the first. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_TENSORIFY_H
#define SYMTAPE_REPLAY_ATTEMPT_TENSORIFY_H

#include "replay/program/program.h"
#include "trace/graphs.h"

/* Returns whether the pass runs on graphs of that kind. */
bool is_tensorified(enum graph_kind kind);
/* Adds the guards for a program that was walked. False: out of memory. */
bool tensorify_evaluate(const struct program *program, struct shape_env *env);

#endif

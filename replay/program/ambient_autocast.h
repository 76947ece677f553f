/* Autocast that was on when a function was compiled: the program called it within torch.autocast().
 * No record has it; Dynamo's graph holds only what the function enters itself. */
#ifndef SYMTAPE_REPLAY_PROGRAM_AMBIENT_AUTOCAST_H
#define SYMTAPE_REPLAY_PROGRAM_AMBIENT_AUTOCAST_H

#include "replay/program/program.h"

/* Sets the autocast state of a Dynamo graph's context before the graph is walked: that in which the
 * first call that autocast lowers has the recorded dtype, or none. Looks at the calls before the
 * first one that changes the state. */
void ambient_autocast_set(const struct program *program);

#endif

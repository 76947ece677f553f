/* Releases of PyTorch, and what they do differently.
 *
 *     if (behaves(c->env, BEHAVIOR_POOLING_FLOOR_DIVIDES)) ...
 *
 * The release belongs to the environment (env_settings): that of the tape which is replayed. Each
 * difference is a row of behaviors.def, so that no rule compares numbers of releases. */
#ifndef SYMTAPE_REPLAY_SHAPE_ENV_BEHAVIOR_H
#define SYMTAPE_REPLAY_SHAPE_ENV_BEHAVIOR_H

#include "replay/shape/env/env.h"

enum behavior {
#define BEHAVIOR(name, since, file, function) BEHAVIOR_##name,
#include "replay/shape/env/behaviors.def"
#undef BEHAVIOR
    BEHAVIORS
};

struct behavior_row {
    const char *name; /* "POOLING_FLOOR_DIVIDES" */
    int since;        /* the first release that behaves so: 213 is 2.13 */
    const char *file, *function;
};
const struct behavior_row *behavior_row(enum behavior behavior);

/* Returns whether the release of the environment behaves so. */
bool behaves(const struct shape_env *env, enum behavior behavior);
/* Finds a behavior by its name, in any case of letters. Returns false when there is none. */
bool behavior_find(struct str name, enum behavior *ret);

#endif

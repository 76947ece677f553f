/* Describes a failure at a node of a graph that was walked. Private to the room. */
#ifndef SYMTAPE_MINIFY_ORACLE_SHAPE_FAILURE_H
#define SYMTAPE_MINIFY_ORACLE_SHAPE_FAILURE_H

#include "minify/oracle/oracle.h"
#include "replay/attempt/graph_replay.h"
#include "trace/base/arena.h"

struct shape_failure {
    struct signature signature;
    struct str text; /* "RuntimeError: shape '[3, 24]' is invalid for input of size 75" */
    struct str node;
};

/* Describes the failure of a node. Returns false if it did not fail, or is unknown to the engine.
 * Texts are copied into the arena. */
bool failure_of(struct graph_replay *single, const struct program *program, node_id id,
                struct arena *arena, struct shape_failure *ret);
/* Sets the operator and the user's frame, "model.py:forward". */
void failure_place(const struct program *program, const struct node *node, struct arena *arena,
                   struct signature *ret);
struct str failure_normalise(struct str text, struct arena *arena);

#endif

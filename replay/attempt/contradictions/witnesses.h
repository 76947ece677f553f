/* A vote of the records that hold one meta. Only for this room. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_CONTRADICTIONS_WITNESSES_H
#define SYMTAPE_REPLAY_ATTEMPT_CONTRADICTIONS_WITNESSES_H

#include "replay/attempt/contradictions/evidence.h"

/* A record with a meta: a node of a graph, the list of sizes of a graph (node is NULL), or a
 * description (graph is NULL). One without all three is the name of a symbol. */
struct witness {
    const struct recorded_graph *graph;
    const struct node *node;
    struct input_tensor *described;
    struct shape shape;
    const sym_id *usual_stride; /* those that the input has unless AOT chose others; NULL */
};

struct witnesses {
    struct witness v[MOST_WITNESSES];
    size_t n;
};

void witnesses_add(struct witnesses *w, struct witness witness);
/* Names those that the others outvote; calls are not named, since the replay judges them. A
 * description that is wrong is replaced, and other_input has each wrong placeholder. */
void witnesses_vote(struct evidence *e, const struct witnesses *w);

#endif

/* What a graph's tensors would take at the recorded hints, estimated from the metas alone: as if
 * each call ran by itself, in the printed order, and each tensor were freed after its last use.
 * A compiled program needs less, since it fuses; which lines make large tensors, and which are
 * saved for backward, is the same. Views and in-place results take nothing; they keep what they
 * are of alive. Part of the profile (profile/model/profile.h). */
#ifndef SYMTAPE_PROFILE_MODEL_GRAPH_MEMORY_H
#define SYMTAPE_PROFILE_MODEL_GRAPH_MEMORY_H

#include "trace/graphs.h"

struct graph_memory {
    uint32_t recording, compile; /* indices of the profile; compile may be PROFILE_NONE */
    uint32_t attempt;            /* in its trace */
    enum graph_kind level;
    uint64_t input_bytes;       /* inputs, parameters among them; they are there in any case */
    uint64_t peak_bytes;        /* most at once of what the calls make */
    struct str peak_node;       /* when that is reached; "" */
    uint64_t output_bytes;      /* of that, what the graph returns */
    uint64_t saved_bytes;       /* of a forward graph: made by calls and saved for backward */
    uint64_t saved_input_bytes; /* inputs that are saved: no extra memory */
    uint32_t saved;             /* tensors that are saved, inputs included */
    uint32_t unknown;           /* tensors whose sizes the hints do not tell */
};

/* A tensor that is alive when its graph's memory is at its peak. */
struct memory_node {
    uint32_t graph; /* index into the profile's graph_memory */
    struct str name, op;
    uint64_t bytes;
    struct str file, code; /* user line; "" */
    uint32_t line;
};

#endif

/* Finds the first event or node in which one recording differs from another. */
#ifndef SYMTAPE_MINIFY_BISECT_BISECT_BETWEEN_H
#define SYMTAPE_MINIFY_BISECT_BISECT_BETWEEN_H

#include "trace/align/align.h"

enum between_side { BETWEEN_NONE, BETWEEN_ONLY_A, BETWEEN_ONLY_B, BETWEEN_CHANGED };

/* A difference. The outlines own its texts. */
struct bisect_difference {
    enum between_side side;
    const char *kind;   /* "guard", "specialization", "symbol"; of nodes "operator", "size",
                           "arguments", "inputs"; "compile", "attempt" */
    struct str a, b;    /* as recorded; "" if only the other side has it */
    struct str compile; /* of a, or of b where a has none: "0/0" */
    struct str graph;   /* of a node; "" */
    struct str op;      /* the operator of a node, or the event that has the details a and b; "" */
    struct str file, function, code;
    uint32_t line;
    uint32_t events, nodes; /* all compared pairs */
    uint32_t differences;   /* all pairs that differ */
};

/* Finds the earliest difference in the order of the records: of an attempt's events and of the
 * nodes of its graphs. */
void bisect_between(const struct align *align, struct bisect_difference *ret);

#endif

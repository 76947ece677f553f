/* The format of the side file of a deep recording: man/symtape-deep.5.scd, SIDE FILE. The
 * writer, which runs inside the program's Python, and the reader share it; it includes nothing
 * of either. */
#ifndef SYMTAPE_TRACE_LOG_DEEP_DEEP_FORMAT_H
#define SYMTAPE_TRACE_LOG_DEEP_DEEP_FORMAT_H

#include <stdint.h>

#define DEEP_MAGIC      "symdeep" /* followed by its zero byte */
#define DEEP_BYTE_ORDER 0x01020304u

enum { DEEP_VERSION = 1, DEEP_ALIGN = 8, DEEP_EVENT_HEADER = 8 };

struct deep_header {
    char magic[8];
    uint32_t version, byte_order;
    uint64_t pid;
    uint64_t start_ns;    /* of CLOCK_MONOTONIC */
    uint64_t start_us;    /* microseconds since 1970 */
    int64_t east;         /* seconds east of UTC */
    uint64_t overhead_ns; /* so far; overhead_ns and lost are updated in place */
    uint64_t lost;
};

enum deep_event_type {
#define DEEP_EVENT(name, number, fields) DEEP_##name = number,
#include "trace/log/deep/deep_format.def"
#undef DEEP_EVENT
};

/* An argument of a ShapeEnv call: a u64 is the value itself, or an id. */
enum deep_tag {
    DEEP_TAG_NONE,
    DEEP_TAG_TRUE,
    DEEP_TAG_FALSE,
    DEEP_TAG_INT,   /* two's complement */
    DEEP_TAG_FLOAT, /* the bits of a double */
    DEEP_TAG_VALUE, /* id of a VALUE */
};

enum deep_node { DEEP_NODE_PLACEHOLDER, DEEP_NODE_STATEMENT, DEEP_NODE_OUTPUT };

enum deep_graph_state {
    DEEP_GRAPH_OPEN,
    DEEP_GRAPH_RETURNED, /* its trace came to an end */
    DEEP_GRAPH_LOGGED,   /* PyTorch logged it, so the tape has all of it */
    DEEP_GRAPH_RAISED,
};

#endif

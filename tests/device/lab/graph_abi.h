/* CUDA graphs and mapped memory as the experiments need them, declared as in
 * replay/backend/cuda/runtime/abi.h; tests/cuda/abi.py holds this to the headers where there are
 * some. */
#ifndef SYMTAPE_TESTS_DEVICE_LAB_GRAPH_ABI_H
#define SYMTAPE_TESTS_DEVICE_LAB_GRAPH_ABI_H

#include "replay/backend/cuda/runtime/abi.h"

enum { CAPTURE_RELAXED = 2 };
/* CUmemLocation, CUmemAllocationProp, CUmemAccessDesc */
enum { LOCATION_DEVICE = 1, CHUNK_PINNED = 1, ACCESS_READ_WRITE = 3, GRANULARITY_LEAST = 0 };
struct chunk_location {
    int type, id;
};
struct chunk_properties {
    int type, handles;
    struct chunk_location location;
    void *unused;
    unsigned char flags[8];
};
struct chunk_access {
    struct chunk_location location;
    int flags;
};

struct graph_table {
#define SYMBOL(needed, member, symbol, parameters) int(*member) parameters;
#include "tests/device/lab/graph.def"
#undef SYMBOL
};

#endif

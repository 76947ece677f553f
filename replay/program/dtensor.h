/* Calls of Dynamo graphs that make DTensors from local tensors, give them other placements and
 * return to local tensors (torch/distributed/tensor/_api.py). The value of a DTensor is its global
 * tensor. Placements of operators' results come from sharding propagation, which is not replayed:
 * they are read from the graph. */
#ifndef SYMTAPE_REPLAY_PROGRAM_DTENSOR_H
#define SYMTAPE_REPLAY_PROGRAM_DTENSOR_H

#include "replay/program/program.h"

#define MESH_MAX_DIM 8

/* The number of ranks along each dimension, or 0 when it is not known; n is 0 when none is. */
struct device_mesh {
    uint32_t n;
    int64_t size[MESH_MAX_DIM];
    bool several; /* DTensors have different meshes, and graphs do not print which one has which */
};

/* Reads the first mesh in a text, "DeviceMesh((2, 4), 'cuda', ...)" or "DeviceMesh((dp=2, tp=4),
 * ...)" (DeviceMesh.__repr__ of torch/distributed/device_mesh.py); false: there is none. */
bool device_mesh_parse(struct str text, struct device_mesh *ret);

/* Returns whether a call is one of these. */
bool dtensor_is_call(const struct node *node);
/* Makes such a call. The first from_local() of a graph with one mesh, whose size is not known,
 * tells it: the recorded global size is that many times the local one. OP_UNSUPPORTED: the mesh or
 * a placement is not known, or the local size is not that part of the global one. */
enum op_outcome dtensor_call(struct ops *ops, struct device_mesh *mesh,
                             const struct program *program, const struct step *step,
                             struct value *ret);

#endif

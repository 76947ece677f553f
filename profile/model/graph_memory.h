/* The memory of a graph's tensors at the recorded hints, estimated from the metas alone, as if each
 * call ran by itself in the printed order and each tensor were freed after its last use. A compiled
 * program needs less, since it fuses operators, but the lines that make large tensors and those
 * that are saved for backward are the same. Views and in-place results need no memory; they keep
 * their base alive, and so do views that a forward graph saves for its backward graph. PyTorch's
 * estimator makes the same sums (torch/_inductor/fx_passes/memory_estimator.py,
 * build_memory_profile() and get_peak_memory()); tests/memory_torch.py compares them with it and
 * with the storages that are alive when the graph is run. Part of the profile
 * (profile/model/profile.h). */
#ifndef SYMTAPE_PROFILE_MODEL_GRAPH_MEMORY_H
#define SYMTAPE_PROFILE_MODEL_GRAPH_MEMORY_H

#include "trace/graphs.h"

struct graph_memory {
    uint32_t recording, compile; /* indices of the profile; compile may be PROFILE_NONE */
    uint32_t attempt;            /* in its trace */
    enum graph_kind level;
    uint64_t input_bytes;      /* inputs, including parameters, which exist in any case */
    uint64_t peak_bytes;       /* the peak of the memory that calls allocate */
    uint64_t block_peak_bytes; /* the same if each storage takes whole blocks of the allocator */
    /* The peak with the inputs. Those of a backward graph that its forward graph allocated are
     * freed after their last use; the forward graph's other results stay. */
    uint64_t total_peak_bytes;
    struct str peak_node;            /* the node at the peak; "" */
    struct str peak_file, peak_code; /* its user line; "" */
    uint32_t peak_line;
    uint64_t output_bytes;      /* of that, the bytes that the graph returns */
    uint64_t saved_bytes;       /* of a forward graph: allocated by calls and saved for backward */
    uint64_t saved_input_bytes; /* inputs that are saved: no extra memory */
    uint32_t saved;             /* tensors that are saved, inputs included */
    uint32_t unknown;           /* tensors whose sizes are not known from the hints */
    uint32_t graph;             /* in the list of its trace's graphs */
    const uint64_t *live_bytes; /* by node: what calls have allocated while it runs */
    uint32_t n_nodes;
};

/* PyTorch's allocator of GPU memory rounds sizes up to this (c10/cuda/CUDACachingAllocator.cpp,
 * kMinBlockSize). */
enum { ALLOCATOR_BLOCK_BYTES = 512 };

/* A tensor that is alive at the peak of its graph's memory. */
struct memory_node {
    uint32_t graph; /* index into the profile's graph_memory */
    struct str name, op;
    uint64_t bytes;
    double share;          /* of the peak */
    struct str file, code; /* user line; "" */
    uint32_t line;
};

#endif

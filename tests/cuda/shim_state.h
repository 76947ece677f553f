/* What a kernel that was compiled for the host asks its block's scheduler (tests/cuda/block.h). The
 * module's variable symtape_shim points to it. */
#ifndef SYMTAPE_TESTS_CUDA_SHIM_STATE_H
#define SYMTAPE_TESTS_CUDA_SHIM_STATE_H

#include <stdint.h>

struct shim {
    uint32_t thread, threads; /* of the fiber that runs */
    uint32_t block[3], grid[3];
    void *dynamic_shared;
    /* All threads of the block, all of the warp: anything else fails the launch, naming the line.
     */
    void (*sync)(int line);
    void (*sync_warp)(int line);
    /* The value that another lane gave; of lanes that there are not, the own one. */
    uint64_t (*shuffle)(uint64_t value, uint32_t lane, int line);
    uint32_t (*ballot)(int x, int line);
};

#endif

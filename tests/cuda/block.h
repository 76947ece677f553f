/* Runs a kernel that was compiled for the host (shim.h), block by block, a block's threads as
 * fibers.
 *
 * A launch fails where the device would: an address that is not the kernel's to touch, one that is
 * not aligned, and what UBSan finds. And where the device need not: threads that do not all come to
 * the same barrier or shuffle, and shuffles in a block without whole warps. */
#ifndef SYMTAPE_TESTS_CUDA_BLOCK_H
#define SYMTAPE_TESTS_CUDA_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/cuda/shim_state.h"

struct block_launch {
    void (*run)(const void *args);
    const void *args;
    struct shim **shim; /* the module's variable */
    char *shared[2];    /* the module's static shared memory */
    uint32_t grid[3], threads;
    size_t dynamic_shared; /* bytes */
};

struct block_failure {
    int error; /* a CUresult */
    char text[200];
    void *at; /* the instruction, NULL: not one */
};

/* False: *failure says why. */
bool block_run(const struct block_launch *launch, struct block_failure *failure);

#endif

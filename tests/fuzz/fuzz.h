/* What a fuzz target defines. It returns 0 and keeps nothing; `data` is n bytes, not terminated. */
#ifndef SYMTAPE_TESTS_FUZZ_FUZZ_H
#define SYMTAPE_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A property that must hold for every input. */
#define FUZZ_CHECK(holds) ((holds) ? (void)0 : abort())

/* Chooses what is done with an input, so that a target can do what takes long with some inputs. */
static inline uint32_t fuzz_hash(const uint8_t *data, size_t size)
{
    uint32_t ret = 2166136261u; /* FNV-1a */
    for (size_t i = 0; i < size; i++)
        ret = (ret ^ data[i]) * 16777619u;
    return ret ^ ret >> 15;
}

#endif

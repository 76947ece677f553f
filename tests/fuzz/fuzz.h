/* What a fuzz target defines. It returns 0 and keeps nothing; `data` is n bytes, not terminated. */
#ifndef SYMTAPE_TESTS_FUZZ_FUZZ_H
#define SYMTAPE_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A property that must hold for every input. */
#define FUZZ_CHECK(holds) ((holds) ? (void)0 : abort())

#endif

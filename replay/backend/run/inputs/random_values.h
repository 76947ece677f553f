/* Random values of inputs: seeded, of any dtype, and of a distribution that the operators need
 * (input_needs.h). Private to ../run*.c. */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_RANDOM_VALUES_H
#define SYMTAPE_REPLAY_BACKEND_RUN_INPUTS_RANDOM_VALUES_H

#include "replay/backend/run/inputs/input_needs.h"

struct random_values {
    enum dtype dtype;
    void *p;
    size_t n;
    size_t row; /* elements of the last dimension; 1: there is none */
    struct input_need need;
    uint64_t seed;
    uint32_t threads; /* for many numbers, which do not depend on it; 0: as many as processors */
};

uint64_t random_mixed(uint64_t z); /* a number that is hard to tell from z's random one */
void random_fill(const struct random_values *to);

#endif

/* What two sequences of numbers have in common, in order.
 *
 * sequence_align() finds a longest common subsequence by Myers' divide and conquer ("An O(ND)
 * Difference Algorithm", 1986) after what occurs on one side only was set aside. Work is bounded: a
 * box that would take too long is cut where most is matched so far, and the result may then be a
 * little shorter than the longest. */
#ifndef SYMTAPE_TRACE_ALIGN_SEQUENCE_H
#define SYMTAPE_TRACE_ALIGN_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENCE_NONE UINT32_MAX

/* Sets partner[i], for each i of the `n` elements of `a`, to the index in `b` of the equal element
 * that it goes with, or to SEQUENCE_NONE. Partners ascend. False when memory ran out. */
bool sequence_align(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m,
                    uint32_t *partner);

/* Two sequences, of which some elements have found each other. */
struct sequence_pairs {
    uint32_t n, m;
    uint32_t *of_a, *of_b; /* partner, or SEQUENCE_NONE */
    bool *moved;           /* by element of a: it was found out of order */
};

bool sequence_pairs_init(struct sequence_pairs *pairs, uint32_t n, uint32_t m);
void sequence_pairs_release(struct sequence_pairs *pairs);

/* Aligns what is between those that have found each other in order, gap by gap. Elements of token
 * SEQUENCE_NONE find nobody. `found` (may be NULL) is called for each new pair. */
typedef void sequence_found(void *user, uint32_t a, uint32_t b);
bool sequence_fill(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                   sequence_found *found, void *user);
/* Pairs the rest of equal token wherever they are, in their order. */
bool sequence_match(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                    sequence_found *found, void *user);

#endif

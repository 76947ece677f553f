/* Finds what two sequences of numbers have in common, in order.
 *
 * sequence_align() finds a longest common subsequence with Myers' divide and conquer ("An O(ND)
 * Difference Algorithm", 1986), after elements that occur on one side only were set aside. Work
 * is bounded: a box that would take too long is divided where most elements are matched so far,
 * and the result may then be a little shorter than the longest. */
#ifndef SYMTAPE_TRACE_ALIGN_SEQUENCE_H
#define SYMTAPE_TRACE_ALIGN_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SEQUENCE_NONE UINT32_MAX

/* Sets partner[i], for each i of the `n` elements of `a`, to the index in `b` of its partner, an
 * equal element, or to SEQUENCE_NONE. Partners ascend. Returns false when memory ran out. */
bool sequence_align(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m,
                    uint32_t *partner);

/* Two sequences, some of whose elements have partners. */
struct sequence_pairs {
    uint32_t n, m;
    uint32_t *of_a, *of_b; /* partner, or SEQUENCE_NONE */
    bool *moved;           /* by element of a: its partner is out of order */
};

bool sequence_pairs_init(struct sequence_pairs *pairs, uint32_t n, uint32_t m);
void sequence_pairs_release(struct sequence_pairs *pairs);

/* Aligns the elements between those that have partners in order, gap by gap. Elements of token
 * SEQUENCE_NONE get no partner. `found` (may be NULL) is called for each new pair. */
typedef void sequence_found(void *user, uint32_t a, uint32_t b);
bool sequence_fill(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                   sequence_found *found, void *user);
/* Pairs the remaining elements of equal token at any place, in their order. */
bool sequence_match(struct sequence_pairs *pairs, const uint32_t *a, const uint32_t *b,
                    sequence_found *found, void *user);

#endif

/* "Did you mean": the known word that a misspelt one most resembles. */
#ifndef SYMTAPE_CMD_CLI_NEAREST_H
#define SYMTAPE_CMD_CLI_NEAREST_H

#include "trace/base/str.h"

struct nearest {
    struct str word; /* what was typed */
    struct str best; /* the candidate nearest so far; .n is 0 while none is near enough */
    size_t distance;
};

/* `word` must outlive the search, and candidates its result. */
struct nearest nearest_of(struct str word);
/* Offers a candidate. Near enough: at most a third of the word's letters edited, or the word is a
 * beginning of the candidate. The first of equals wins. */
void nearest_offer(struct nearest *search, struct str candidate);

#endif

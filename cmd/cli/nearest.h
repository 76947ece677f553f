/* "Did you mean": finds the known word that is nearest to a misspelt one. */
#ifndef SYMTAPE_CMD_CLI_NEAREST_H
#define SYMTAPE_CMD_CLI_NEAREST_H

#include "trace/base/str.h"

struct nearest {
    struct str word; /* what was typed */
    struct str best; /* the nearest candidate so far; .n is 0 while none is near enough */
    size_t distance;
};

/* `word` must outlive the search, and candidates its result. */
struct nearest nearest_of(struct str word);
/* Offers a candidate. It is near enough if at most a third of the word's letters differ, or if the
 * word is a prefix of it or abbreviates it ("fwd" of "forward"). The first of equally near
 * candidates wins. */
void nearest_offer(struct nearest *search, struct str candidate);
/* Returns what a message says behind the word: "; did you mean \"forward\"?", or "" while nothing
 * is near enough. `out` has at least NEAREST_TEXT bytes. */
enum { NEAREST_TEXT = 96 };
const char *nearest_text(const struct nearest *search, char *out);

#endif

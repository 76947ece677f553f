/* Candidates for tests of the search: a set of numbered elements and one value. What the room's
 * candidates do with graphs, these do with the numbers, so that a test says in a line what fails.
 *
 * EDIT_REMOVE_NODE a: the a-th element that is left goes. EDIT_KEEP_PREFIX a: only the first a of
 * those left stay. EDIT_HINT value: the value. Other edits are not valid. */
#ifndef SYMTAPE_TESTS_MINIFY_SEARCH_FAKE_CANDIDATE_H
#define SYMTAPE_TESTS_MINIFY_SEARCH_FAKE_CANDIDATE_H

#include "minify/edit/edit.h"

struct candidate *fake_new(uint32_t n, int64_t value);
uint32_t fake_n(const struct candidate *candidate);
bool fake_has(const struct candidate *candidate, uint32_t element);
int64_t fake_value(const struct candidate *candidate);
/* "3 17 | 8" */
void fake_print(const struct candidate *candidate, struct buf *out);

#endif

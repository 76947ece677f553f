/* Finds a text with variable parts in a message of PyTorch.
 *
 *     struct str parts[2];
 *     wildcard_find(message, STR("tensor a (*) must match the size of tensor b (*)"), parts, 2);
 *
 * A `*` in a pattern stands for any text up to the next literal of the pattern; at the pattern's
 * end, for the rest of the line. Each literal is taken where it occurs first after the previous
 * one, and nothing is tried again, so that the time is linear. */
#ifndef SYMTAPE_TRACE_BASE_TEXT_WILDCARD_H
#define SYMTAPE_TRACE_BASE_TEXT_WILDCARD_H

#include "trace/base/str.h"

/* Returns whether the pattern occurs in the text. `parts` receives the texts of the first n
 * wildcards; those that the pattern does not have are "". */
bool wildcard_find(struct str text, struct str pattern, struct str *parts, size_t n);

#endif

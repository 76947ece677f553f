/* Formats quantities for people: three digits and a unit, or digits in groups of three. JSON never
 * contains these. */
#ifndef SYMTAPE_PROFILE_MODEL_HUMAN_H
#define SYMTAPE_PROFILE_MODEL_HUMAN_H

#include <stdint.h>

enum { HUMAN_SIZE = 32 };

/* Each writes to `text` (HUMAN_SIZE bytes) and returns it. */
const char *human_bytes(char *text, uint64_t bytes); /* "812 B", "1.25 MB" (decimal units) */
/* "870 us", "3.41 s", "7 min 33 s", "2 h 05 min"; 0 or more. */
const char *human_ns(char *text, int64_t ns);
const char *human_count(char *text, uint64_t count); /* "1,234,567" */

#endif

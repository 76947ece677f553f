/* Quantities for reading: three digits and a unit, or digits in groups of three. JSON never holds
 * these. */
#ifndef SYMTAPE_CMD_HUMAN_H
#define SYMTAPE_CMD_HUMAN_H

#include <stdint.h>

enum { HUMAN_SIZE = 32 };

/* Each writes to `text` (HUMAN_SIZE bytes) and returns it. */
const char *human_bytes(char *text, uint64_t bytes); /* "812 B", "1.25 MB" (decimal units) */
const char *human_ns(char *text, uint64_t ns);       /* "870 us", "3.41 s" */
const char *human_count(char *text, uint64_t count); /* "1,234,567" */

#endif

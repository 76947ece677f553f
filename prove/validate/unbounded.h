/* Unbacked symbols that may be negative, as the user knows them. For the files of prove/validate
 * only. */
#ifndef SYMTAPE_PROVE_VALIDATE_UNBOUNDED_H
#define SYMTAPE_PROVE_VALIDATE_UNBOUNDED_H

#include "prove/validate/validate.h"

/* Sets the user line and the check of each of the *n symbols of an attempt. Those that no line of
 * the program made are left out: AOTAutograd calls again what made a symbol, which makes others. So
 * are further ones of the same line. Returns false when out of memory. */
bool unbounded_describe(const struct trace *trace, uint32_t attempt,
                        struct validate_unbounded *list, size_t *n, struct arena *arena);

#endif

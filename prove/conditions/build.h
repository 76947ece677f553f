/* How conditions are made, for the files of prove/conditions only. */
#ifndef SYMTAPE_PROVE_CONDITIONS_BUILD_H
#define SYMTAPE_PROVE_CONDITIONS_BUILD_H

#include "prove/conditions/conditions.h"

/* Adds a condition, unless it is true or known. False: out of memory. */
bool conditions_add(struct conditions *c, struct condition condition, struct err *err);
/* Parses a recorded text, which may name symbols that no record made. A text that is no expression
 * is SYM_NONE. False: out of memory. */
bool conditions_parse_recorded(struct conditions *c, struct str text, sym_id *ret, struct err *err);

/* Adds what a program asserts in its graph, and its guards on sizes (program.c). */
bool conditions_add_program(struct conditions *c, struct trace *trace, struct err *err);
/* Reads the sizes of a program's inputs. */
bool conditions_read_program_sizes(struct conditions *c, struct trace *trace, struct err *err);

#endif

/* Runs the passes in their order: those that run once at the beginning, the others until none finds
 * anything, those that run once at the end; and all again as long as the last ones find
 * something. */
#ifndef SYMTAPE_MINIFY_SEARCH_SCHEDULE_H
#define SYMTAPE_MINIFY_SEARCH_SCHEDULE_H

#include "minify/minify.h"

struct search;

/* Runs all passes and fills result->passes and result->minimal. Returns false if the search has
 * ended early. */
bool schedule_run(struct search *search, struct minify_result *result);

#endif

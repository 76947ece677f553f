/* The order of passes: those that run once and stand in front, the others until none finds
 * anything, those that run once and stand behind; and again as long as these find something. */
#ifndef SYMTAPE_MINIFY_SEARCH_SCHEDULE_H
#define SYMTAPE_MINIFY_SEARCH_SCHEDULE_H

#include "minify/minify.h"

struct search;

/* Fills result->passes and result->minimal. False: the search has ended early. */
bool schedule_run(struct search *search, struct minify_result *result);

#endif

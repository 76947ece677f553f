/* The course of a search: calibration, the passes by their schedule, confirmation. */
#ifndef SYMTAPE_MINIFY_SEARCH_COURSE_H
#define SYMTAPE_MINIFY_SEARCH_COURSE_H

#include "minify/minify.h"

struct search;

/* Runs from search->schedule's place: asks about search->whole, unless that is done; runs the
 * passes; asks about the best again. Returns false if the search has ended early (search->end). */
bool course_run(struct search *search);

#endif

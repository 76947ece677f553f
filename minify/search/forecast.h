/* What the search will ask after its current question, found out by running it.
 *
 * A forecast is a search of its own. It begins with the turn of the schedule that runs, takes the
 * answers that are known, and assumes an answer where none is: passes, the certificate and the
 * confirmation run as they would. Where it needs an answer that it neither knows nor assumes, it
 * ends, and that is a question that may be needed. Of all assumptions so far, the most likely is
 * followed next, so that the workers ask what is most probably needed. Private to the room. */
#ifndef SYMTAPE_MINIFY_SEARCH_FORECAST_H
#define SYMTAPE_MINIFY_SEARCH_FORECAST_H

#include <stdbool.h>

struct built;
struct search;
struct search_trial;
struct forecast;

/* Asks in advance what the search will most probably need, as long as workers are free; questions
 * that are no longer likely are cancelled for those that are. Returns false if the search has
 * failed. */
bool forecast_ask(struct search *search);

/* In a forecast: decides about a candidate, or ends it (returns false) with the question. `chance`
 * is the probability of a yes. */
bool forecast_decide(struct search *search, struct built *built, const struct search_trial *trial,
                     double chance, bool *yes);
/* In a forecast: the confirmation of the best one. */
bool forecast_confirm(struct search *search);

#endif

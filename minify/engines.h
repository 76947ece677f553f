/* Engines that walk graphs (replay/single.h), kept for the next walk: making one costs a thousand
 * times what a walk does. Threads share the keeper, each takes an engine for itself. */
#ifndef SYMTAPE_MINIFY_ENGINES_H
#define SYMTAPE_MINIFY_ENGINES_H

#include "minify/candidate.h"
#include "replay/single.h"

struct engines;

struct engines *engines_new(struct err *err);
struct engines *engines_hold(struct engines *engines); /* NULL is fine */
void engines_release(struct engines *engines);
struct single *engines_take(struct engines *engines, struct err *err);
void engines_give(struct engines *engines, struct single *single);

/* The candidate as single_walk() takes it. symbols and facts have room for those of the candidate.
 */
void engines_graph(const struct candidate *candidate, struct single_symbol *symbols,
                   struct single_fact *facts, struct single_graph *ret);

#endif

/* A cache of the engines that walk graphs (replay/attempt/graph_replay.h): making an engine takes a
 * thousand times as long as a walk. Threads share the cache; each takes an engine for itself. */
#ifndef SYMTAPE_MINIFY_CANDIDATE_ENGINES_H
#define SYMTAPE_MINIFY_CANDIDATE_ENGINES_H

#include "minify/candidate/candidate.h"
#include "replay/attempt/graph_replay.h"

struct engines;

struct engines *engines_new(struct err *err);
struct engines *engines_hold(struct engines *engines); /* NULL is fine */
void engines_release(struct engines *engines);
struct graph_replay *engines_take(struct engines *engines, struct err *err);
/* One whose operators ran out of memory, which they never forget, is freed. */
void engines_give(struct engines *engines, struct graph_replay *single);

/* Fills the argument of graph_replay_walk() from the candidate. The arrays `symbols` and `guards`
 * must be large enough for those of the candidate. */
void engines_graph(const struct candidate *candidate, struct graph_replay_symbol *symbols,
                   struct graph_replay_guard *guards, struct graph_replay_input *ret);

/* Walks the candidate's graph; sizes with equal hints count as equal, and the operators' statistics
 * are of this walk alone. The walk's input is in `arena`, and remains as long as the walk's results
 * are used. `inject` may be NULL. */
bool engines_walk(struct graph_replay *single, const struct candidate *candidate,
                  const struct injection *inject, struct arena *arena, struct err *err);

#endif

/* Graphs of attempts that printed none.
 *
 * PyTorch restarts an attempt before it prints a graph, at a graph break or when a float turns out
 * to be a constant, and a process may end in the middle of one. What such an attempt traced is what
 * another attempt of the same compile traced again, up to where it ended; so are other compiles of
 * the same frame, which run the same code on other sizes. The Dynamo graph of one of these is
 * walked in its place, for its guards; AOTAutograd's tells whether autograd recorded the calls. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_SUBSTITUTES_H
#define SYMTAPE_REPLAY_ATTEMPT_SUBSTITUTES_H

#include "trace/graphs.h"

/* Returns for each attempt the first graph of one of the kinds (bits: 1 << enum graph_kind), an
 * index in `graphs`, of the next attempt of its compile that has one, else of the one before, else
 * of the first compile of its frame that has one; or TRACE_NONE. The array belongs to the arena;
 * NULL: out of memory. */
const uint32_t *substitute_graphs(const struct trace *trace, const struct graph_list *graphs,
                                  uint32_t kinds, struct arena *arena);

#endif

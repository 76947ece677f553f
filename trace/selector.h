/* Selectors: how a command line names a part of a tape.
 *
 *     TAPE[@RECORDING][:COMPILE[_ATTEMPT][:KIND[#I]]]
 *
 *     bert.tape                          everything
 *     bert.tape:0/0                      one compile, all its attempts
 *     bert.tape:0/0_0                    its attempt 0
 *     bert.tape:0/0.1                    the compile of that id after torch._dynamo.reset()
 *     bert.tape:0/0:forward              the forward graph of the last attempt that has one
 *     dist.tape@rank1:0/0:inference      in one recording
 *     gin.tape:0/0:fx_graph_cache_miss#1 by event or artifact name; the second of several
 *     mlp.pt2::exported                  a graph that belongs to no compile
 *
 * KIND is one of graph_kind_name(), or the name of an event or artifact. I counts from 0. A file of
 * the whole name is always a tape: nothing is split off a name that exists. */
#ifndef SYMTAPE_TRACE_SELECTOR_H
#define SYMTAPE_TRACE_SELECTOR_H

#include "trace/base/buf.h"
#include "trace/graphs.h"
#include "trace/open.h"

/* Parts that are not named are "" and -1. Strings point into the text that was parsed. */
struct selector {
    struct str tape, recording, compile, kind;
    int64_t attempt, index;
};

#define SELECTOR_ALL ((struct selector){ .attempt = -1, .index = -1 })

/* Parses a whole selector. Fails with ERR_USAGE when a part of it is misspelt. */
bool selector_parse(struct selector *selector, struct str text, struct err *err);
/* Parses a selector without TAPE: "@rank1:0/0:forward", "0/0_1:joint", or a KIND alone:
 * "forward#1". */
bool selector_parse_part(struct selector *selector, struct str text, struct err *err);

bool selector_has_recording(const struct trace *trace, const struct selector *selector,
                            uint32_t recording);
/* Returns whether the selector includes an attempt. TRACE_NONE means "belongs to no compile" and
 * matches when no compile is named. */
bool selector_has_attempt(const struct trace *trace, const struct selector *selector,
                          uint32_t attempt);
/* Checks that the recording, the compile and the attempt exist; ERR_USAGE names those that exist
 * instead. */
bool selector_check(const struct trace *trace, const struct selector *selector, struct err *err);

/* Returns whether the selector means list->refs[ref]; without KIND, all graphs of its attempts. */
bool selector_has_graph(const struct trace *trace, const struct graph_list *list,
                        const struct selector *selector, uint32_t ref);
/* Finds the one graph that the selector means, as an index into list->refs. It fails with
 * ERR_USAGE when there is none or several; both errors list candidates, spelt as selectors. */
bool selector_graph(const struct trace *trace, const struct graph_list *list,
                    const struct selector *selector, uint32_t *ret, struct err *err);

/* Prints "@rank1:0/0_1"; @RECORDING only on a tape of several; "" when there is nothing to
 * print. */
void selector_print_attempt(const struct trace *trace, uint32_t recording, uint32_t attempt,
                            struct buf *out);
/* Prints the shortest spelling that selector_graph() accepts for list->refs[ref]:
 * "0/0_1:aot_joint_graph". */
void selector_print_graph(const struct trace *trace, const struct graph_list *list, uint32_t ref,
                          struct buf *out);

#endif

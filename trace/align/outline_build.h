/* An outline that is being built. Private to outlines. */
#ifndef SYMTAPE_TRACE_ALIGN_OUTLINE_BUILD_H
#define SYMTAPE_TRACE_ALIGN_OUTLINE_BUILD_H

#include "trace/align/outline.h"
#include "trace/events/caches.h"
#include "trace/events/deep/deep.h"
#include "trace/events/guards.h"
#include "trace/events/incidents/incidents.h"
#include "trace/events/metrics.h"
#include "trace/events/symbols.h"

/* Makes a small key of numbers a text for struct intern. */
#define OUTLINE_KEY(...)                                            \
    ((struct str){ (const char *)(const uint32_t[]){ __VA_ARGS__ }, \
                   sizeof((const uint32_t[]){ __VA_ARGS__ }) })

/* The attempt in which symbols' names are looked up: a name has a meaning in one attempt only. */
struct outline_scope {
    uint32_t recording, attempt; /* attempt may be TRACE_NONE */
};

struct outline_build {
    struct outline *outline;
    struct trace *trace;
    const struct selector *only;
    struct chromium_list *chromium;
    struct metrics_list *metrics;
    struct incidents *incidents;
    struct cache_list *caches;
    struct deep *deep;
    uint32_t *attempt_of;    /* by attempt of the trace: the attempt of the outline */
    uint32_t *loose;         /* by recording: the attempt for what belongs to no compile, or NONE */
    uint32_t *line_of_stack; /* by stack: user line + 1; 0: not yet determined */
    struct intern line_keys, form_keys;
    struct intern symbol_keys; /* scope and name, to an index into symbol_names */
    vec_of(uint32_t)
    symbol_names; /* texts */
    vec_of(struct outline_event)
    events; /* not grouped yet; their attempts are in attempt_of_event */
    vec_of(uint32_t)
    attempt_of_event;
    struct expr_pool exprs; /* for one guard at a time */
    struct buf text, key;
};

/* The steps; each returns false with err set on failure. */
bool outline_build_compiles(struct outline_build *b, struct err *err);
bool outline_build_symbols(struct outline_build *b,
                           struct err *err); /* the names, which the other steps need */
bool outline_build_events(struct outline_build *b, struct err *err);
bool outline_build_graphs(struct outline_build *b, struct err *err);

/* ---- shared functions; ids are OUTLINE_NONE when memory ran out ---- */

uint32_t outline_intern(struct outline_build *b, struct str text);
/* Interns a text without the parts that differ from run to run: addresses, ids of objects, names
 * of symbols. */
uint32_t outline_intern_stable(struct outline_build *b, struct outline_scope scope,
                               struct str text);
/* Returns the outline's attempt for an attempt of the trace (or TRACE_NONE) and a recording;
 * OUTLINE_NONE when it was not selected. */
uint32_t outline_attempt_for(const struct outline_build *b, uint32_t recording, uint32_t attempt);
/* Sets *ret to the line, or to OUTLINE_NONE where there is none. Returns false when memory ran
 * out. */
bool outline_line_at(struct outline_build *b, struct str file, struct str function, struct str code,
                     uint32_t line, uint32_t *ret);
bool outline_line_of_stack(struct outline_build *b, uint32_t recording, stack_id stack,
                           uint32_t *ret);

/* Returns the text of the symbol of that name in a scope; OUTLINE_NONE when no record creates
 * it. */
uint32_t outline_symbol(struct outline_build *b, struct outline_scope scope, struct str name);
/* Appends an expression in which symbols are replaced by their sources and the order of operands
 * does not depend on names. */
void outline_put_expr(struct outline_build *b, struct outline_scope scope,
                      const struct expr_pool *pool, expr_id expr, struct buf *out);
/* As above for a text, which is printed unchanged if it is not an expression. */
void outline_put_expr_text(struct outline_build *b, struct outline_scope scope, struct str text,
                           struct buf *out);

#endif

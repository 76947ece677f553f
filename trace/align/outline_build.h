/* Private to outlines: one in the making. */
#ifndef SYMTAPE_TRACE_ALIGN_OUTLINE_BUILD_H
#define SYMTAPE_TRACE_ALIGN_OUTLINE_BUILD_H

#include "trace/align/outline.h"
#include "trace/events/caches.h"
#include "trace/events/deep.h"
#include "trace/events/guards.h"
#include "trace/events/incidents.h"
#include "trace/events/metrics.h"
#include "trace/events/symbols.h"

/* A small key of numbers, as text for struct intern. */
#define OUTLINE_KEY(...)                                            \
    ((struct str){ (const char *)(const uint32_t[]){ __VA_ARGS__ }, \
                   sizeof((const uint32_t[]){ __VA_ARGS__ }) })

/* Whose symbols a text speaks of: their names mean something in one attempt only. */
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
    uint32_t *attempt_of;    /* by attempt of the trace: of the outline */
    uint32_t *loose;         /* by recording: the attempt for what belongs to no compile, or NONE */
    uint32_t *line_of_stack; /* by stack: user line + 1; 0: not yet known */
    struct intern line_keys, form_keys;
    struct intern symbol_keys; /* scope and name -> index into symbol_names */
    vec_of(uint32_t)
    symbol_names; /* texts */
    vec_of(struct outline_event)
    events; /* not yet grouped; attempts in attempt_of_event */
    vec_of(uint32_t)
    attempt_of_event;
    struct expr_pool exprs; /* of one guard at a time */
    struct buf text, key;
};

/* Steps; each false with err set. */
bool outline_build_compiles(struct outline_build *b, struct err *err);
bool outline_build_symbols(struct outline_build *b, struct err *err); /* names, before the rest */
bool outline_build_events(struct outline_build *b, struct err *err);
bool outline_build_graphs(struct outline_build *b, struct err *err);

/* ---- what they share; ids are OUTLINE_NONE when memory ran out ---- */

uint32_t outline_intern(struct outline_build *b, struct str text);
/* Interns a text without the parts that differ from run to run: addresses, ids of objects, names of
 * symbols. */
uint32_t outline_intern_stable(struct outline_build *b, struct outline_scope scope,
                               struct str text);
/* Of an attempt of the trace (or TRACE_NONE) and a recording; OUTLINE_NONE when it was not asked
 * for. */
uint32_t outline_attempt_for(const struct outline_build *b, uint32_t recording, uint32_t attempt);
/* *ret is OUTLINE_NONE where there is no line. False when memory ran out. */
bool outline_line_at(struct outline_build *b, struct str file, struct str function, struct str code,
                     uint32_t line, uint32_t *ret);
bool outline_line_of_stack(struct outline_build *b, uint32_t recording, stack_id stack,
                           uint32_t *ret);

/* Text of a symbol of that name in a scope; OUTLINE_NONE when no record creates it. */
uint32_t outline_symbol(struct outline_build *b, struct outline_scope scope, struct str name);
/* An expression with its symbols called by their sources, operands in an order that does not hang
 * on names. Appended to out. */
void outline_put_expr(struct outline_build *b, struct outline_scope scope,
                      const struct expr_pool *pool, expr_id expr, struct buf *out);
/* As above for a text, which is printed as it is if it is not an expression. */
void outline_put_expr_text(struct outline_build *b, struct outline_scope scope, struct str text,
                           struct buf *out);

#endif

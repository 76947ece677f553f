/* Private to the profile room: a profile in the making, and the steps that make it. */
#ifndef SYMTAPE_PROFILE_MODEL_BUILD_H
#define SYMTAPE_PROFILE_MODEL_BUILD_H

#include "profile/model/profile.h"
#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/events/symbols.h"

/* The data that was read from one trace. */
struct build_input {
    struct trace *trace;
    struct chromium_list *events;
    struct metrics_list *metrics;
    struct incidents *incidents;
    struct cache_list *caches;
    const struct guard_list *guards;
    const struct symbol_table *symbols;
    const struct graph_list *graphs;
    struct deep *deep;
    struct replay *replay;  /* NULL if it was not requested */
    int64_t *estimated_ns;  /* by record: what the estimate of lines gave to its user line */
    uint32_t *recording_of; /* by recording: index into profile->recordings, or PROFILE_NONE */
    uint32_t *compile_of;   /* by attempt: index into profile->compiles; PROFILE_NONE: left out */
    const struct metrics **metrics_of; /* by attempt: of the forward compile that ended there */
};

struct profile_build {
    struct profile profile; /* first: what the caller sees and frees */
    struct build_input *inputs;
    struct arena arena;
    struct intern names;
    /* Arrays behind the profile's pointers. */
    vec_of(struct profile_recording)
    recordings;
    vec_of(struct profile_compile)
    compiles;
    vec_of(struct phase_span)
    spans;
    vec_of(struct phase_node)
    nodes;
    vec_of(struct phase_by_compile)
    by_compile;
    vec_of(struct profile_operator_row)
    operators;
    vec_of(struct profile_line)
    lines, library_lines;
    vec_of(struct operator_cost)
    costs;
    vec_of(struct cost_counter)
    counters;
    vec_of(struct cost_spot)
    spots;
    vec_of(struct size_use)
    uses;
    vec_of(struct phase_memory)
    memory;
    vec_of(const struct deep_process *)
    processes;
    vec_of(struct graph_memory)
    graph_memory;
    vec_of(struct memory_node)
    memory_nodes;
    vec_of(struct guard_row)
    guard_rows;
    vec_of(struct guard_expr)
    guard_exprs;
    vec_of(struct guard_symbol)
    guard_symbols;
    vec_of(struct profile_restart)
    restarts;
    vec_of(struct profile_recompile)
    recompiles;
    vec_of(struct profile_break)
    breaks;
    vec_of(struct profile_failure)
    failures;
    vec_of(struct profile_cache)
    caches;
    vec_of(struct profile_difference)
    differences;
};

/* Whether this attempt is selected, and to which compile it belongs. */
static inline uint32_t build_compile(const struct build_input *input, uint32_t attempt)
{
    return attempt == TRACE_NONE ? PROFILE_NONE : input->compile_of[attempt];
}

/* Records that name no compile are included unless a compile was selected. */
static inline bool build_takes(const struct profile_build *b, const struct build_input *input,
                               uint32_t record)
{
    const struct record *r = &input->trace->records[record];
    if (input->recording_of[r->recording] == PROFILE_NONE)
        return false;
    return r->attempt == TRACE_NONE ? b->profile.options.compile.n == 0
                                    : input->compile_of[r->attempt] != PROFILE_NONE;
}

/* Whether this attempt's work was kept: the work of an attempt that has a next one was thrown
 * away. */
static inline bool build_kept(const struct build_input *input, uint32_t attempt)
{
    return attempt == TRACE_NONE || input->trace->attempts[attempt].next == TRACE_NONE;
}

/* Id of a text in profile->names; PROFILE_NONE when memory ran out. */
static inline uint32_t build_name(struct profile_build *b, struct str text)
{
    return intern(&b->names, text);
}

static inline struct str build_text(const struct profile_build *b, uint32_t name)
{
    return intern_text(&b->names, name);
}

/* Times come from files: sums of them stop at INT64_MAX. */
static inline void build_add_ns(int64_t *sum, int64_t ns)
{
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = INT64_MAX;
}

/* A small key of numbers, as text for struct intern. */
#define BUILD_KEY(...)                                              \
    ((struct str){ (const char *)(const uint32_t[]){ __VA_ARGS__ }, \
                   sizeof((const uint32_t[]){ __VA_ARGS__ }) })

/* The steps, in this order; each returns false with err set. */
bool build_compiles(struct profile_build *b, struct err *err);
bool build_phases(struct profile_build *b, struct err *err);
bool build_compile_times(struct profile_build *b, struct err *err); /* needs phases */
bool build_replays(struct profile_build *b, struct err *err);
bool build_costs(struct profile_build *b, struct err *err); /* needs replays */
bool build_deep(struct profile_build *b, struct err *err);  /* a part of it */
bool build_lines(struct profile_build *b, struct err *err); /* and operators: both read graphs */
bool build_guards(struct profile_build *b, struct err *err);
bool build_incidents(struct profile_build *b, struct err *err);
bool build_differences(struct profile_build *b, struct err *err);
bool build_groups(struct profile_build *b, struct err *err); /* last */

/* The innermost frame of a deep recording's stack outside PyTorch's own files, as user_line(); NULL
 * where there is none. */
const struct deep_frame *deep_user_frame(const struct deep *deep, uint32_t stack);

/* Time of a recording's last record on the clock of its phases, in nanoseconds since the epoch; 0
 * when no phase ties the two clocks together. */
int64_t build_last_time(const struct build_input *input, uint32_t recording);

#endif

/* Private to the profile room: a profile that is being built, and the steps that build it. */
#ifndef SYMTAPE_PROFILE_MODEL_BUILD_H
#define SYMTAPE_PROFILE_MODEL_BUILD_H

#include "profile/model/lines/line_work.h"
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
    struct line_work work;  /* filled in by build_lines() */
    uint32_t *recording_of; /* by recording: index into profile->recordings, or PROFILE_NONE */
    uint32_t *compile_of;   /* by attempt: index into profile->compiles; PROFILE_NONE: left out */
    const struct metrics **metrics_of; /* by attempt: of the forward compile that ended there */
};

struct profile_build {
    struct profile profile; /* first, since the caller frees it through this */
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

/* Returns the inputs of a finished profile, by its traces. */
static inline const struct build_input *profile_inputs(const struct profile *profile)
{
    return ((const struct profile_build *)profile)->inputs;
}

/* Returns the compile that an attempt belongs to, or PROFILE_NONE if it is not selected. */
static inline uint32_t build_compile(const struct build_input *input, uint32_t attempt)
{
    return attempt == TRACE_NONE ? PROFILE_NONE : input->compile_of[attempt];
}

/* Returns whether a record is selected. Records without a compile are selected unless a compile was
 * named. */
static inline bool build_takes(const struct profile_build *b, const struct build_input *input,
                               uint32_t record)
{
    const struct record *r = &input->trace->records[record];
    if (input->recording_of[r->recording] == PROFILE_NONE)
        return false;
    return r->attempt == TRACE_NONE ? b->profile.options.compile.n == 0
                                    : input->compile_of[r->attempt] != PROFILE_NONE;
}

/* Returns whether the work of this attempt was kept: that of an attempt with a next one was thrown
 * away. */
static inline bool build_kept(const struct build_input *input, uint32_t attempt)
{
    return attempt == TRACE_NONE || input->trace->attempts[attempt].next == TRACE_NONE;
}

/* Returns the id of a text in profile->names, or PROFILE_NONE when memory ran out. */
static inline uint32_t build_name(struct profile_build *b, struct str text)
{
    return intern(&b->names, text);
}

static inline struct str build_text(const struct profile_build *b, uint32_t name)
{
    return intern_text(&b->names, name);
}

/* Adds a time to a sum that stops at INT64_MAX, since times come from files. */
static inline void build_add_ns(int64_t *sum, int64_t ns)
{
    if (__builtin_add_overflow(*sum, ns, sum))
        *sum = INT64_MAX;
}

/* Compares for a sort in descending order. */
static inline int build_descending(int64_t x, int64_t y)
{
    return (x < y) - (x > y);
}

/* Returns whether a file matches options.file. */
static inline bool build_takes_file(const struct profile_build *b, struct str file)
{
    struct str part = b->profile.options.file;
    return part.n == 0 || str_find(file, part) < file.n;
}

/* A key for struct intern made of numbers. */
#define BUILD_KEY(...)                                              \
    ((struct str){ (const char *)(const uint32_t[]){ __VA_ARGS__ }, \
                   sizeof((const uint32_t[]){ __VA_ARGS__ }) })

/* Counts a guard's expression in a compile; has_graph: its attempt has a graph. */
void build_count_guard(struct profile_compile *compile, struct str expr, bool has_graph);

/* The steps, in this order; each returns false with err set. */
bool build_compiles(struct profile_build *b, struct err *err);
bool build_phases(struct profile_build *b, struct err *err);
bool build_compile_times(struct profile_build *b, struct err *err); /* after build_phases() */
bool build_replays(struct profile_build *b, struct err *err);
bool build_costs(struct profile_build *b, struct err *err); /* after build_replays() */
bool build_deep(struct profile_build *b, struct err *err);  /* a part of build_costs() */
bool build_lines(struct profile_build *b,
                 struct err *err); /* counts operators, too, since both read graphs */
bool build_guards(struct profile_build *b, struct err *err);
bool build_incidents(struct profile_build *b, struct err *err);
bool build_differences(struct profile_build *b, struct err *err);
bool build_groups(struct profile_build *b, struct err *err); /* last */

/* Returns the innermost frame of a deep recording's stack outside PyTorch's own files, as
 * user_line() does, or NULL if there is none. */
const struct deep_frame *deep_user_frame(const struct deep *deep, uint32_t stack);

/* Returns the time of a recording's last record on the clock of its phases, in nanoseconds since
 * the epoch, or 0 if no phase relates the two clocks. */
int64_t build_last_time(const struct build_input *input, uint32_t recording);

#endif

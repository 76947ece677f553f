/* The manual of the profile room. A profile says where a compile's time, guards and operators went,
 * from the records of PyTorch. Nothing is run again.
 *
 *     struct profile *profile = profile_build(inputs, n_inputs, &options, &err);
 *     report_text(profile, &report_options, &out);           see profile/report/report.h
 *     profile_free(profile);
 *
 * A profile is built once, from one or more open traces, and then only read. It borrows the traces:
 * close them after it. All times are nanoseconds. Counts include everything that was recorded;
 * `kept` counts those in last attempts. The rest was thrown away by restarts.
 *
 * Which times are measured and which are not:
 *   phases    measured by PyTorch (chromium events), exact to 0.25 us.
 *   compiles  measured by PyTorch (entire_frame_compile_time_s, or the phase of that name). Of a
 *             compile that never ended: from its first record to the log's last.
 *   lines     measured, the time in dispatches, in a deep recording (symtape-deep(5)); otherwise
 *             the same time ESTIMATED, with bounds. The compiler goes over the program in passes:
 *             Dynamo's tracing of the bytecode, and AOTAutograd's runs of the graph. The records of
 *             a pass cut its time into gaps. What lies between two records are the calls of the
 *             recorded graph between the places where these records stand: Dynamo wraps a parameter
 *             just before the first call that reads it, and a guard has a user stack. The calls
 *             share the gap by weights that say which of them FakeTensorMode has in its cache, how
 *             many symbols their sizes have, and which expressions are new (lines/call_weight.c);
 *             the calls of a function are those of the operators that it became. Records themselves
 *             begin and end no work, except a guard that a call asked for. Time outside of these
 *             passes and in phases without user lines (phases/phase_names.def marks them: Inductor,
 *             code generation, autotuning, building guards) belongs to no line (unattributed_ns),
 *             and so do the interpretation of bytecode, the wrapping of inputs, the transformation
 *             of graphs. Where the graph is not known, as that of a compile that was killed, a gap
 *             is shared by the lines of the records at both its ends (lines/unlogged_gaps.c), and
 *             bounds are wide: either line may have had all of it. Lines of PyTorch's own files and
 *             user stacks have no estimate, since graphs do not name them.
 * tests/bench/lines.py compares the estimate with deep recordings. Some versions of PyTorch stamp
 * records in whole milliseconds, and writing the log is part of every gap, so the bounds are wide:
 * a share whose bounds are more than RANGE_POINTS points apart (format.h) is printed as a range. */
#ifndef SYMTAPE_PROFILE_MODEL_PROFILE_H
#define SYMTAPE_PROFILE_MODEL_PROFILE_H

#include "profile/model/cost_model/cost_model.h"
#include "profile/model/costs.h"
#include "profile/model/graph_memory.h"
#include "profile/model/groups.h"
#include "trace/events/caches.h"
#include "trace/events/guards.h"
#include "trace/events/incidents/incidents.h"
#include "trace/events/metrics.h"
#include "trace/graphs.h"
#include "trace/selector.h"

#define PROFILE_NONE UINT32_MAX

/* ---- Options ---- */

/* The order of tables; one without such a column keeps the order of PROFILE_BY_TIME. In the tree of
 * phases the slowest is always first. */
enum profile_sort {
    PROFILE_BY_TIME,       /* phases: exclusive; lines: estimated; operators and guards: count */
    PROFILE_BY_INCLUSIVE,  /* phases */
    PROFILE_BY_CALLS,      /* phases; lines: nodes */
    PROFILE_BY_GUARDS,     /* lines */
    PROFILE_BY_SYMBOLS,    /* lines */
    PROFILE_BY_NAME,       /* phases, operators; lines: file and line; guards: expression */
    PROFILE_BY_DISPATCHES, /* costs of operators, and lines: real ones, else replayed */
    PROFILE_BY_EXPRS       /* the same, by expressions that the replay built */
};

struct profile_options {
    struct str compile;   /* only this compile ("0/0") or attempt ("0/0_1"); "" for all */
    struct str recording; /* only recordings of this name; "" for all */
    struct str file;      /* only user lines whose file contains this text; "" for all */
    enum profile_sort sort;
    bool no_graphs; /* leave graphs unparsed: no operators, no nodes of lines */
    bool replay;    /* replay the graphs in the shape engine, for the replayed costs */
    uint32_t jobs;  /* of the replay; 0: one */
    const struct custom_rules *rules; /* of custom operators; NULL */
    bool by[PROFILE_BYS];             /* the groups to build */
    bool cost_model;                  /* build it */
    /* The cost model estimates what it takes to compile the Dynamo graphs of tapes without phases
     * with this release of PyTorch (213: 2.13), from the graphs alone; it needs `replay`. 0: no. */
    int ahead;
};

/* ---- Recordings and compiles ---- */

struct profile_recording {
    uint32_t input, recording; /* which trace, and index into its recordings */
    struct str name;           /* with several traces: "runs/bert.tape@rank0" */
    struct str short_name;     /* without folders, for a reader */
    int64_t rank;              /* -1: not distributed */
    uint32_t n_compiles, n_attempts, n_graphs, n_guards;
    uint32_t n_restarts, n_recompiles, n_breaks, n_failures, n_unfinished;
    uint64_t n_records;
    int64_t compile_ns;   /* of all its compiles */
    int64_t restarted_ns; /* of that, the time of attempts that were thrown away */
};

struct profile_compile {
    uint32_t recording;                               /* index into profile->recordings */
    uint32_t first_attempt, last_attempt, n_attempts; /* in its trace */
    struct str id;                                    /* "0/0" */
    enum attempt_status status;                       /* of the last attempt */
    struct str function, file; /* of the compiled frame; "" if not recorded */
    uint32_t line;
    int64_t ns, restarted_ns;
    uint64_t n_records;
    uint32_t n_graphs, n_guards, n_symbols, n_specializations;
    /* Of the guards' expressions of all attempts, the characters; those beyond the first 100 of
     * each; and these of the attempts that have a graph. */
    uint64_t guard_characters, long_characters, long_characters_of_graphs;
    /* Calls in the graphs of the last attempt, and of those before it. */
    uint64_t calls[GRAPH_KINDS], thrown_calls[GRAPH_KINDS];
    /* Symbolic sizes of the results of all these calls, and the inputs of their graphs. */
    uint64_t symbolic_sizes[GRAPH_KINDS], inputs[GRAPH_KINDS];
};

/* ---- Phases ---- */

enum phase_part {
#define PHASE_PART(id, title) PHASE_##id,
#include "profile/model/phases/phase_parts.def"
#undef PHASE_PART
    PHASE_PARTS
};

/* A node of the call tree of phases, over all threads and compiles: equal names with equal parents
 * are one node. Where phases overlap without nesting, each instant belongs to the one that began
 * last; a phase that outlives its parent continues as its sibling. So the exclusive times of a tree
 * add up to the inclusive times of its roots. */
struct phase_node {
    uint32_t name;                              /* in profile->names */
    uint32_t parent, first_child, next_sibling; /* or PROFILE_NONE; slowest sibling first */
    uint64_t calls;                             /* phases that began here */
    uint64_t unfinished;                        /* of those, phases without an end */
    int64_t inclusive_ns, exclusive_ns;
    enum phase_part part; /* its own, or else that of its parent */
    bool inside;          /* of a compile, as profile_phases.inside_ns is */
};

/* The total of all phases of one name. A phase inside itself counts once in inclusive_ns, which
 * therefore never exceeds the elapsed time. */
struct phase_total {
    uint32_t name;
    uint64_t calls, unfinished;
    int64_t inclusive_ns, exclusive_ns;
};

struct phase_by_compile {
    uint32_t compile; /* index into profile->compiles, or PROFILE_NONE */
    uint32_t name;
    uint64_t calls;
    int64_t inclusive_ns, exclusive_ns;
};

/* One run of a phase. */
struct phase_span {
    uint32_t name;
    uint32_t recording;        /* index into profile->recordings */
    uint32_t compile, attempt; /* index into profile->compiles, or PROFILE_NONE; in its trace */
    uint32_t track;            /* threads and asynchronous events, numbered over the profile */
    uint32_t record;           /* where it began */
    uint64_t pid, tid;         /* as recorded */
    int64_t start_ns, end_ns;  /* since the epoch */
    bool unfinished;   /* no end was recorded: end_ns is that of its parent, or of the log */
    bool open;         /* unfinished, as are all its parents: where the process was stopped */
    bool async;        /* asynchronous ("b" and "e" events) */
    struct str detail; /* which function or kernel; "" */
};

struct profile_phases {
    const struct phase_node *nodes;   /* parents before children */
    uint32_t n_nodes, first_root;     /* roots are siblings; PROFILE_NONE when there is no phase */
    const struct phase_total *totals; /* by exclusive time */
    uint32_t n_totals;
    const struct phase_by_compile *by_compile; /* by compile, then exclusive time */
    uint32_t n_by_compile;
    const struct phase_span *spans; /* by track, then start; outer ones first */
    uint32_t n_spans;
    const uint32_t *unfinished; /* spans without an end, the longest first */
    uint32_t n_unfinished;
    uint64_t stray_ends;          /* ends without a beginning */
    uint64_t unreadable;          /* events that could not be read, or without a time */
    int64_t part_ns[PHASE_PARTS]; /* exclusive time by part of the compiler */
    /* Of that, the time inside compiles, as profile->compile_ns is: without backwards that were
     * compiled, and kernels that were tuned, when the program first ran them. */
    int64_t inside_ns[PHASE_PARTS];
    int64_t total_ns; /* inclusive time of all roots */
};

const char *phase_part_title(enum phase_part part);
/* Returns the part of the compiler that a phase belongs to, or PHASE_OTHER if its name determines
 * none. */
enum phase_part phase_part_of(struct str name);
/* Returns whether a phase lasts for a whole compile: 0 for the phase of its Python function, 1 for
 * the one around it, -1 for all others. */
int phase_whole_compile(struct str name);
/* Returns a description of a phase, or "" if its name is not known. */
const char *phase_meaning(struct str name);
/* Returns whether PyTorch works on no user line while this phase is the innermost one. */
bool phase_is_backend(struct str name);

/* ---- Operators ---- */

struct profile_operator_row {
    enum graph_kind level;
    uint32_t op;          /* in profile->names: "aten.mm.default" */
    uint64_t calls, kept; /* in all graphs of the level; in those of last attempts */
};

/* Calls by operator. If PyTorch prints several forms of a graph for one level of an attempt, before
 * and after its passes, the last form counts. */
struct profile_operators {
    const struct profile_operator_row *rows; /* by level, then calls */
    uint32_t n_rows;
    uint64_t calls[GRAPH_KINDS], kept[GRAPH_KINDS];
    uint64_t kept_nodes[GRAPH_KINDS]; /* inputs, outputs and get_attr too; of last attempts */
    uint32_t graphs[GRAPH_KINDS], kept_graphs[GRAPH_KINDS];
    uint32_t unreadable; /* graphs that could not be parsed */
};

/* ---- User lines ---- */

/* A line of the user's program: the innermost frame outside PyTorch's own files, which is also the
 * line in the "# File:" comments of graphs. In library_lines it is the innermost frame if that is
 * in one of PyTorch's files. */
struct profile_line {
    uint32_t file; /* in profile->names */
    uint32_t line;
    struct str function, code;
    uint64_t nodes[GRAPH_KINDS], kept_nodes[GRAPH_KINDS]; /* 0 in library_lines */
    uint64_t guards, kept_guards;
    uint64_t symbols, specializations;
    int64_t estimated_ns, kept_estimated_ns;
    /* The line's time on profile->lines.basis, and the bounds within which it is: equal to it if
     * it was measured. A share of profile->lines.total_ns is printed as a range where they are far
     * apart. 0 in library_lines, as are the estimates. */
    int64_t ns, low_ns, high_ns;
    struct line_cost cost;
};

/* What the times of user lines are. */
enum line_basis {
    LINES_ESTIMATED, /* from the records and graphs of the log */
    LINES_MEASURED   /* the time in dispatches, of a deep recording */
};

struct profile_lines {
    enum line_basis basis;
    int64_t total_ns;                 /* of all lines: the shares of lines are shares of this */
    const struct profile_line *lines; /* by time, then guards */
    uint32_t n_lines;
    const struct profile_line *library_lines;
    uint32_t n_library_lines;
    int64_t estimated_ns, unattributed_ns;
    int64_t unplaced_ns; /* of unattributed_ns: some line took it, which left no record */
};

/* ---- Guards ---- */

struct guard_row {
    struct str expr;
    enum guard_kind kind;
    enum guard_class asked_by;
    uint32_t file, line; /* user line: file in profile->names or PROFILE_NONE */
    struct str code;
    uint64_t count, kept;
};

/* One expression, over all lines (GUARD_EVAL only). */
struct guard_expr {
    struct str expr;
    uint64_t count, kept;
    uint32_t n_lines; /* user lines that evaluate it */
};

struct guard_symbol {
    struct str symbol;
    uint64_t guards; /* GUARD_EVAL records that contain it */
};

struct profile_guards {
    const struct guard_row *rows; /* by count */
    uint32_t n_rows;
    const struct guard_expr *exprs; /* by count */
    uint32_t n_exprs;
    const struct guard_symbol *symbols; /* by guards */
    uint32_t n_symbols;
    uint64_t by_kind[GUARD_KINDS];
    uint64_t by_class[GUARD_CLASSES]; /* of GUARD_EVAL */
    uint64_t kept;                    /* of GUARD_EVAL */
    uint64_t longest;                 /* bytes of the longest expression of them */
    uint64_t duplicates; /* GUARD_EVAL records whose expression occurred before in their attempt */
};

/* ---- Incidents, as in trace/events/incidents/incidents.h and trace/events/caches.h ---- */

/* Where an incident was recorded. `compile` is an index into profile->compiles, or PROFILE_NONE;
 * the attempt is that in its trace, or TRACE_NONE. */
struct profile_where {
    uint32_t recording, compile, attempt;
};

struct profile_restart {
    struct profile_where where;
    const struct restart *is;
};
struct profile_recompile {
    struct profile_where where;
    const struct recompile *is;
};
struct profile_break {
    struct profile_where where;
    const struct graph_break *is;
    int64_t caused_ns; /* the time of the compiles that it caused */
};
struct profile_failure {
    struct profile_where where;
    const struct failure *is;
};
struct profile_cache {
    struct profile_where where;
    const struct cache_event *is;
};

/* ---- Several recordings side by side ---- */

/* A property of a compile that differs between recordings. */
struct profile_difference {
    struct str compile;
    /* "present" (0 or 1: not all have such a compile), "attempts", "status" (enum attempt_status),
     * "graphs", "guards", "symbols", "specializations", "ns" (only when it differs by more than
     * 10 ms and a tenth of the greatest: times are never the same twice) */
    const char *what;
    const int64_t *values; /* one for each recording; PROFILE_ABSENT if it has no such compile */
};
#define PROFILE_ABSENT INT64_MIN

/* ---- All of it ---- */

struct profile {
    struct profile_options options;
    struct trace *const *traces;
    uint32_t n_traces;
    const struct str *names; /* file, phase and operator names */
    uint32_t n_names;
    const struct profile_recording *recordings;
    uint32_t n_recordings;
    uint32_t slowest; /* the recording with the most compile time; PROFILE_NONE if there is none */
    const struct profile_compile *compiles; /* in the order in which they began */
    uint32_t n_compiles;
    int64_t compile_ns, restarted_ns; /* of all recordings */
    struct profile_phases phases;
    struct profile_operators operators;
    struct profile_costs costs;
    struct cost_model cost_model;            /* empty unless it was asked for */
    const struct graph_memory *graph_memory; /* in the order of their records; kept attempts */
    uint32_t n_graph_memory;
    const struct memory_node *memory_nodes; /* the largest of each graph, by graph, then bytes */
    uint32_t n_memory_nodes;
    struct profile_groups groups[PROFILE_BYS];
    struct profile_lines lines;
    struct profile_guards guards;
    const struct profile_restart *restarts;
    uint32_t n_restarts;
    const struct profile_recompile *recompiles;
    uint32_t n_recompiles;
    const struct profile_break *breaks;
    uint32_t n_breaks;
    const struct profile_failure *failures;
    uint32_t n_failures;
    const struct profile_cache *caches;
    uint32_t n_caches;
    uint32_t cache_counts[CACHE_KINDS][CACHE_STATES];
    int64_t autotuning_ns; /* at compile time (phases) and at the first call (metrics) */
    const struct profile_difference *differences;
    uint32_t n_differences;
};

/* Builds a profile. Returns NULL with err set: ERR_USAGE if a filter selects nothing, out of
 * memory, an unreadable tape. */
struct profile *profile_build(struct trace *const *traces, uint32_t n_traces,
                              const struct profile_options *options, struct err *err);
/* Makes the selector of a compile or attempt ("0/0", "0/0_1") and a recording; "" selects all.
 * Returns false with ERR_USAGE if `compile` is neither. */
bool profile_selector(struct str compile, struct str recording, struct selector *ret,
                      struct err *err);
void profile_free(struct profile *profile); /* NULL is fine */
/* Returns the replay of a trace, which belongs to the profile; NULL if it was not replayed. */
const struct replay *profile_replay(const struct profile *profile, uint32_t trace);

/* Returns the calls in the ATen graphs, of counts by enum graph_kind. */
static inline uint64_t profile_aten_calls(const uint64_t *calls)
{
    return calls[GRAPH_FORWARD] + calls[GRAPH_BACKWARD] + calls[GRAPH_INFERENCE];
}

/* Returns the user line that took longest, if its time is known well enough to be named: it is at
 * least a tenth of what all lines took, and if it is estimated, its lower bound is above what every
 * other line is estimated at, and its bounds are at most 50 points apart. NULL otherwise. */
const struct profile_line *profile_slowest_line(const struct profile *profile);

/* Returns the number of a line's nodes over all levels. */
static inline uint64_t profile_line_nodes(const struct profile_line *line)
{
    uint64_t sum = 0;
    for (int i = 0; i < GRAPH_KINDS; i++)
        sum += line->nodes[i];
    return sum;
}

static inline struct str profile_name(const struct profile *profile, uint32_t name)
{
    return name == PROFILE_NONE ? STR("") : profile->names[name];
}

#endif

/* Declarations that the files of `symtape run` share: one run of the command, and the results of
 * each graph. */
#ifndef SYMTAPE_CMD_RUN_RUN_SESSION_H
#define SYMTAPE_CMD_RUN_RUN_SESSION_H

#include <signal.h>

#include "cmd/cli/size_grid.h"
#include "cmd/run/run.h"
#include "profile/report/report.h"
#include "replay/backend/compare/compare_runs.h"
#include "replay/backend/measure/ceilings.h"
#include "replay/backend/measure/peak.h"
#include "replay/backend/measure/timing.h"
#include "replay/backend/ranks/ranks.h"
#include "replay/backend/run/graph_schedule.h"
#include "replay/backend/run/inputs/given_inputs.h"
#include "replay/backend/run/inputs/kept_inputs.h"
#include "trace/base/text/json_write.h"
#include "trace/open.h"
#include "trace/selector.h"

/* --perturb NODE=EPS */
struct perturbation {
    struct str node;
    double epsilon;
};

/* --save-nodes NODE[,NODE...] */
struct saved_nodes {
    struct str names[64];
    size_t n;
    bool all, inputs;
};

/* How a graph ended at one point of the sizes. */
enum run_outcome {
    RUN_AGREES, /* or nothing was compared */
    RUN_DIFFERS,
    RUN_REFUSED, /* a guard, an operator or a missing kernel does not allow it */
    RUN_FAILED,
    RUN_OUTCOMES
};
const char *run_outcome_name(enum run_outcome outcome); /* "agrees", ... */

/* All graphs and sizes together, for the headline. */
struct run_totals {
    uint32_t graphs;
    uint64_t outcomes[RUN_OUTCOMES];
    size_t peak;
    double wall_us;         /* of --profile */
    struct buf first_graph; /* the first that differs */
    struct buf refusal;     /* the guard that refused a graph first, with its sizes; "" */
};

/* What --warm did for a graph. */
struct warmed {
    uint32_t ref;
    uint64_t sizes, refused;
    uint64_t compiled, planned, tried; /* struct backend_log */
    double us;
};

/* The graphs of one compile that pass values to each other, at one point of the sizes. */
struct run_schedule {
    bool known;
    uint32_t attempt, index; /* index: of the graph of its kind; UINT32_MAX: the compile was cut */
    bool inference;          /* the part is an inference graph, and not a forward graph */
    size_t point;
    struct graph_schedule schedule;
    uint32_t *refs; /* the graph of each stage, or UINT32_MAX */
    bool *tried;    /* by stage: it was run */
    bool *needed;   /* by stage: the graph takes values of it */
    struct arena arena;
};

struct session {
    struct cmd *cmd;
    const struct run_args *args;
    struct trace *trace;
    const struct failure_list *failures;
    const struct graph_list *list;
    const struct op_catalog *operators; /* of all runs */
    struct backend_pair pair;
    struct safetensors *inputs, *expected; /* of --inputs, of --compare-with FILE */
    struct size_grid grid;                 /* of --sizes: one point, or more */
    struct size_grid warm;                 /* of --warm */
    struct size_grid pad;                  /* of --pad: multiples; no symbol: auto */
    bool warming;                          /* `grid` is that of --warm now */
    const struct run_size *chosen;         /* n_chosen sizes instead of those of `grid`, or NULL */
    size_t n_chosen;
    vec_of(struct warmed)
    warmed;
    struct saved_nodes save;
    struct perturbation perturb;
    uint64_t seed;
    struct rank_job *job; /* it is run as rank `rank` of this job (run_ranks.c); NULL */
    uint32_t rank;
    double factor;            /* on tolerances */
    struct ceilings ceilings; /* of --profile, once they are measured */
    struct kept_inputs kept;  /* of --profile and --warm: weights of the graph that is run */
    /* The recorded symbols and guards of a graph, which all runs of it use. */
    bool has_recorded;
    uint32_t recorded_ref;
    struct run_options recorded;
    struct run_schedule schedule; /* of the last graph */
    const struct graph *running;  /* the graph whose nodes are run, and its name */
    struct str running_name;
    struct run_totals totals;
    const volatile sig_atomic_t *stop; /* NULL: a signal ends the process */
    struct arena arena;
    struct buf text, json; /* of the graphs, until all were run */
    struct json_writer writer;
};

/* run_arguments.c: session_read() reads the arguments, and opens the files that they name,
 * session_open() the backends. Return false with err set on failure. */
bool session_read(struct session *s, struct err *err);
bool session_open(struct session *s, struct err *err);
void session_release(struct session *s);

/* --save-nodes or --perturb */
static inline bool session_changes_or_saves(const struct session *s)
{
    return s->args->save || s->perturb.node.n;
}
static inline bool session_stopped(const struct session *s)
{
    return s->stop && *s->stop;
}
/* " on cuda with TF32, compared with cpu" */
void session_print_backends(const struct session *s, struct buf *out);
struct report_options session_report_options(const struct session *s);

/* A graph at one point of the sizes, and its results. */
struct graph_run {
    struct session *session;
    uint32_t ref; /* of trace_graphs() */
    const struct graph *graph;
    struct given_inputs inputs;
    struct buf name; /* "0/0_0:aot_forward_graph" */
    struct comparison comparison;
    bool compares;
    struct value_file *saved; /* for --outputs; NULL */
    /* Of a compile that was cut: how many inputs are values of other graphs, and their names. */
    uint32_t n_inputs, n_passed, n_sources;
    struct str *sources;
    struct timing *timing;    /* of --profile; NULL */
    struct run_size *symbols; /* the value of each */
    size_t n_symbols;
    uint32_t calls;
    size_t peak;
    struct peak holders; /* on a backend that only counts: the nodes that hold the memory */
    struct err err;      /* why it did not run to its end */
    struct buf refusal;  /* the guard that does not hold, with its sizes; "" */
    bool unsupported;    /* it stopped at an operator that nothing here computes */
    bool misused;        /* an option names a node that it does not have */
    bool too_large;      /* it did not run because it needs more memory than there is */
    struct arena arena;
};

/* Returns whether a graph is run if no kind is named: one of AOTAutograd, or an exported program.
 */
static inline bool is_run_by_default(const struct graph_ref *g)
{
    return g->kind == GRAPH_EXPORTED ||
           (g->is_event &&
            (g->kind == GRAPH_FORWARD || g->kind == GRAPH_BACKWARD || g->kind == GRAPH_INFERENCE));
}

/* graph_run.c: loads the graph, reads its inputs, symbols and sizes, and checks that there is
 * enough memory. Returns false with g->err set on failure. */
bool graph_run_begin(struct graph_run *g, struct session *s, uint32_t ref, size_t point,
                     struct run_options *options);
/* graph_run.c: sets the options' sizes to those of that point, in memory of the arena, or to those
 * that were chosen. False: out of memory. */
bool session_sizes(const struct session *s, size_t point, struct arena *arena,
                   struct run_options *options, struct err *err);
/* run_schedule.c: if other graphs of the compile compute inputs of this one, runs them at the same
 * sizes, on the reference if there is one, and takes the inputs from there: what a forward graph
 * saves for its backward graph, and what the parts of a compile that was cut pass to each other. If
 * a graph does not run, the inputs stay random, which is noted. Returns false when memory or a
 * device is missing (ERR_ENV). */
bool graph_run_schedule(struct graph_run *g, size_t point, struct err *err);
void run_schedule_release(struct run_schedule *schedule);
/* run_schedule.c: returns whether the ranks of a job have an input in common. user: a graph_run */
bool is_replicated_input(void *user, const struct node *node);
/* Returns whether the output has a line for each graph: at many sizes, a report of regions replaces
 * the notes of single runs. */
static inline bool session_prints_notes(const struct session *s)
{
    return !s->warming && !s->job && !s->chosen && (s->grid.n == 1 || s->args->profile) &&
           !s->args->pad;
}
static inline bool session_warms(const struct session *s)
{
    return s->args->warm.text || s->args->warm.file;
}
/* Calls graph_run_begin(), and runs the graph once, or once on each backend. Returns false with
 * g->err set on failure. */
bool graph_run_execute(struct graph_run *g, struct session *s, uint32_t ref, size_t point);
void graph_run_release(struct graph_run *g);
enum run_outcome graph_run_outcome(const struct graph_run *g);
/* Adds the run to the session's totals, unless an option was wrong. */
void graph_run_count(const struct graph_run *g);

/* run_graphs.c: checks that the selector names graphs, and that the options fit them. Returns the
 * exit code. */
int session_check_graphs(struct session *s, const struct selector *selector);
/* run_graphs.c: returns whether the selector names the graph. */
bool session_runs(const struct session *s, const struct selector *selector, uint32_t ref);
/* run_graphs.c: prints the results of a graph, or the error that it ended with. Returns the exit
 * code. */
int graph_run_report(struct graph_run *g, bool ok);
/* run_graphs.c: begin and end the JSON document; end the text. */
void session_json_begin(struct session *s);
int session_json_end(struct session *s);
int session_text_end(struct session *s);

/* run_report.c: appends the results to the session's text or JSON. */
void graph_run_print(const struct graph_run *g);
void graph_run_print_name(const struct graph_run *g); /* "rank 0, 0/0_0:aot_forward_graph" */
void graph_run_json(const struct graph_run *g);
/* Write which graphs compute inputs of this one, if the compile was cut. */
void graph_run_print_sources(const struct graph_run *g, struct buf *out);
void graph_run_json_sources(const struct graph_run *g, struct json_writer *w);
/* Write members of an open object: those that name a graph, and those that each graph has. */
void run_json_name(struct session *s, uint32_t ref, const struct buf *name);
void graph_run_json_head(const struct graph_run *g);
/* Prints "mul_7 (aten.mul.Tensor) at model.py:12 `x = a * b`". The operator and the line are those
 * of `origin`, which computes the node (struct compared). */
void run_print_node(const struct graph *graph, node_id node, node_id origin, struct buf *out);
void run_json_node(struct json_writer *w, const struct graph *graph, node_id node, node_id origin);
/* Prints the first line of the report: whether all graphs ran and agree. */
void run_print_headline(const struct session *s, struct buf *out);

/* run_ranks.c: writes the members of an open object that a job has: "ranks" and "divergence". */
void run_ranks_json(struct session *s);
/* run_ranks.c: what is printed before the results of a job. */
void run_ranks_headline(const struct session *s, struct buf *out);

/* run_profile.c: profiles the graph at point `point`, and prints the times that were measured.
 * profile_graph_run() does both, and returns the exit code. */
bool profile_graph_execute(struct graph_run *g, struct session *s, uint32_t ref, size_t point);
void profile_graph_print(const struct graph_run *g);
int profile_graph_run(struct session *s, uint32_t ref, size_t point);

/* run_warm.c: runs the graph at each of the sizes of --warm. Returns the exit code. */
int warm_graph(struct session *s, uint32_t ref);
void warmed_json(struct session *s); /* writes a member of an open object, with --warm */

/* run_pad.c: reads --pad into s->pad. */
bool session_read_pad(struct session *s, struct err *err);
/* run_pad.c: compares the sizes with padded ones. Returns the exit code. */
int pad_graph(struct session *s, uint32_t ref);

/* run_sweep.c: runs the graph at each point of the sizes, and reports equal outcomes as regions.
 * Returns the exit code. */
int run_sweep(struct session *s, uint32_t ref);

#endif

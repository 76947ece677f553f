/* What the files of `symtape replay --backend` share: one run of the command, and what came of each
 * graph that it ran. */
#ifndef SYMTAPE_CMD_REPLAY_REPLAY_SESSION_H
#define SYMTAPE_CMD_REPLAY_REPLAY_SESSION_H

#include "cmd/replay/replay.h"
#include "cmd/replay/size_grid.h"
#include "profile/report/replay/replay_report.h"
#include "replay/backend/compare/comparison.h"
#include "replay/backend/measure/ceilings.h"
#include "replay/backend/measure/peak.h"
#include "trace/base/text/json_write.h"

/* --perturb NODE=EPS */
struct perturbation {
    struct str node;
    double by;
};

struct session {
    struct cmd *cmd;
    const struct replay_args *args;
    struct trace *trace;
    const struct graph_list *list;
    const struct custom_rules *rules;
    const struct backend_kind *kind, *reference_kind; /* the latter of --against NAME; NULL */
    /* The latter NULL: a file, or nothing to compare with. Of one kind they are one: a device that
     * was lost is lost for both. */
    struct backend *backend, *reference;
    struct safetensors *inputs, *against;
    struct size_grid grid; /* of --set and --sizes: one point, or more */
    struct str save[64];   /* of --save */
    size_t n_save;
    bool save_all, save_inputs;
    struct perturbation perturb;
    uint64_t seed;
    struct ceilings ceilings; /* of --profile, once they are measured */
    double factor;            /* on tolerances */
    bool has_recorded;        /* what was recorded of that graph's symbols, for all of its runs */
    uint32_t recorded_ref;
    struct run_options recorded;
    struct arena arena;
    struct buf json; /* of --json, as it grows */
    struct json_writer writer;
    bool differs;
};

/* What came of a graph at one point of the grid. */
struct graph_run {
    struct session *session;
    uint32_t ref; /* of trace_graphs() */
    const struct graph *graph;
    struct weights *weights;
    struct buf name; /* "0/0_0:aot_forward_graph" */
    struct comparison comparison;
    bool compares, tells;     /* tells: notes of violated guards, with --force */
    struct value_file *saved; /* for --outputs; NULL */
    struct run_size *symbols; /* what each was */
    size_t n_symbols;
    uint32_t calls;
    size_t peak;
    struct peak held; /* of a backend that only counts: who holds the memory then */
    struct err err;   /* why it did not run to its end */
    bool unsupported; /* it stopped at an operator that nothing here computes */
    bool misused;     /* since an option names a node that it does not have */
    struct arena arena;
};

/* replay_inputs.c: for run_options.input, whose user is a struct graph_run. */
bool replay_give_input(void *user, uint32_t i, const struct node *node, struct array *ret,
                       struct err *err);
/* ERR_INPUT: the file holds inputs that the graph does not take. */
bool replay_check_inputs(const struct graph_run *g, struct err *err);
/* A note where random numbers stand for weights of a program. */
void replay_note_weights(const struct graph_run *g);
/* The symbols as recorded, and the sizes of point `point`. */
bool replay_gather_symbols(struct graph_run *g, size_t point, struct run_options *options,
                           struct err *err);

/* replay_graph_run.c: is there memory for it on the backend (NULL is fine)? With --force it is only
 * said that there is not. */
bool replay_fits(struct graph_run *g, struct backend *backend, struct run_options options,
                 struct err *err);
/* runs it once, or once on each backend. False: g->err. */
bool replay_run_graph(struct session *s, uint32_t ref, size_t point, struct graph_run *g);
void replay_release_graph(struct graph_run *g);

/* replay_compared.c: what there is to say of it, as text and in JSON. */
void replay_print_graph(const struct graph_run *g);
void replay_json_name(struct json_writer *w, const struct graph_run *g); /* which graph it is */
void replay_json_graph(struct json_writer *w, const struct graph_run *g);
/* "mul_7 (aten.mul.Tensor) at model.py:12 `x = a * b`"; operator and line are those of `origin`,
 * which computes the node (struct compared). */
void replay_print_node(const struct graph *graph, node_id node, node_id origin, struct buf *out);
void replay_json_node(struct json_writer *w, const struct graph *graph, node_id node,
                      node_id origin);
void replay_print_difference(const struct compared *one, struct buf *out);

/* replay_profile.c: --profile, at point `point`. EXIT_*. */
int replay_profile_graph(struct session *s, uint32_t ref, size_t point);

/* replay_sweep.c: the graph at each point of the grid, what came of them told as regions. EXIT_*.
 */
int replay_sweep(struct session *s, uint32_t ref);

#endif

/* The graphs of one compile as a training step runs them: the forward or inference graphs, one for
 * each part that the compile was cut into, then the backward graphs in the reverse order.
 *
 * DDPOptimizer cuts a graph at the buckets of DistributedDataParallel (torch/_dynamo/backends/
 * distributed.py, DDPOptimizer.compile_fn): the graph that it then has, the split graph, calls a
 * module for each part, and AOTAutograd compiles the parts in their order. The calls tell which
 * output of a part is which input of a later one. A gradient goes the other way: the backward graph
 * of a part takes the sum of what the parts that use its output compute for it.
 *
 *     struct graph_schedule schedule = { 0 };
 *     graph_schedule_init(&schedule, outer, parts, n, &err);
 *     graph_schedule_run(&schedule, stage, &options, &err) ...      stages in their order
 *     graph_schedule_input(&schedule, stage, node, &array, &err);   values for a graph of a later
 * stage graph_schedule_release(&schedule);
 *
 * What a forward graph saves for its backward graph are outputs of it whose names are those of the
 * backward graph's inputs (torch/_functorch/partitioners.py, _extract_fwd_bwd_modules).
 *
 * Inputs of AOTAutograd's graphs are matched by their descriptors (PlainAOTInput), or by their
 * places where a release of PyTorch prints none (2.8 and older). */
#ifndef SYMTAPE_REPLAY_BACKEND_RUN_GRAPH_SCHEDULE_H
#define SYMTAPE_REPLAY_BACKEND_RUN_GRAPH_SCHEDULE_H

#include "replay/backend/run/run.h"
#include "replay/backend/run/schedule/schedule_index.h"
#include "replay/backend/values/value_file.h"

/* A part of the compile. The graphs are borrowed; NULL: it is missing. */
struct graph_schedule_part {
    const struct graph *forward, *backward;
};

struct graph_schedule_stage {
    const struct graph *graph; /* NULL: it is missing */
    struct value_file *made;   /* the values that other stages take, once it ran; or NULL */
    /* The wires of its inputs, in the order of the inputs. */
    size_t first_wire, n_wires;
    struct schedule_outputs outputs;
    uint32_t *positions; /* of a forward graph, by node: how many inputs are before it; or NULL */
    bool *kept;          /* by node: an input that later stages take as well; NULL: none is */
};

/* Input `input` of stage `to` is the value of a node of stage `from`, or one term of its value. */
struct graph_schedule_wire {
    uint32_t from, to;
    struct str name; /* of the node */
    node_id input;
    void *sum; /* owned: the sum of all terms, at the first wire of them; NULL: not computed */
};

struct graph_schedule {
    struct graph_schedule_stage
        *stages; /* stage k is part k, stage 2 * n_parts - 1 - k its backward */
    uint32_t n_parts;
    const struct graph *outer; /* NULL: none was given */
    bool cut;                  /* the outer graph calls a module for each part */
    struct schedule_calls calls;
    vec_of(struct graph_schedule_wire)
    wires;
    struct arena arena;
};

/* Returns how many modules a graph calls: the parts of a split graph. */
uint32_t graph_schedule_count_parts(const struct graph *graph);
/* outer: the split graph, or the one graph that was not cut, or NULL. False: out of memory. */
bool graph_schedule_init(struct graph_schedule *s, const struct graph *outer,
                         const struct graph_schedule_part *parts, uint32_t n_parts,
                         struct err *err);
/* Forgets all values, so that the stages can run at other sizes. */
void graph_schedule_forget(struct graph_schedule *s);
void graph_schedule_release(struct graph_schedule *s);

/* Returns the stage of a graph; UINT32_MAX: none. */
uint32_t graph_schedule_stage_of(const struct graph_schedule *s, const struct graph *graph);
/* Sets a flag for each stage, in needed[2 * n_parts]: whether `stage` takes values of it, or of one
 * that takes values of it. All of these are earlier ones. */
void graph_schedule_needs(const struct graph_schedule *s, uint32_t stage, bool *needed);
/* Runs a stage, with the values of stages that ran, and keeps what later ones take. `options` has
 * no inputs of its own. Fails as run_execute() does; also ERR_USAGE if the data gave a symbol
 * another value than options.sizes. */
bool graph_schedule_run(struct graph_schedule *s, uint32_t stage, const struct run_options *options,
                        struct err *err);
/* Sets *ret to the value of an input of that stage, until the schedule ends; its `p` is NULL if
 * there is none. */
bool graph_schedule_input(struct graph_schedule *s, uint32_t stage, const struct node *node,
                          struct array *ret, struct err *err);
/* Counts the inputs of a stage that have values of other stages, and sets a flag for each stage, in
 * from[2 * n_parts]: whether some are of it. */
bool graph_schedule_inputs(struct graph_schedule *s, uint32_t stage, bool *from, uint32_t *n,
                           struct err *err);

/* Returns whether all ranks of a job have the same values of an input: a DTensor whose placements
 * are Replicate(); a parameter or buffer of a module that DDPOptimizer cut, which
 * DistributedDataParallel keeps equal (torch/nn/parallel/distributed.py). */
bool graph_schedule_replicates(const struct graph_schedule *s, uint32_t stage,
                               const struct node *node);

#endif

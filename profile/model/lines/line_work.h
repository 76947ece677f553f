/* Private to the profile room: the work that each pass over a program does, by user line: the calls
 * of the recorded graphs in their order, which is the order in which PyTorch traced them. */
#ifndef SYMTAPE_PROFILE_MODEL_LINES_LINE_WORK_H
#define SYMTAPE_PROFILE_MODEL_LINES_LINE_WORK_H

#include "profile/model/lines/call_weight.h"

/* A call: its row in the table of user lines, or LINE_NOBODY. */
struct work_call {
    uint32_t row;
    struct call_weight weight;
};

/* The first call that reads an input of a Dynamo graph. Dynamo wraps a parameter when the bytecode
 * loads it, just before that call, and the records of the wrapping name its source. */
struct work_input {
    uint64_t source; /* line_work_source() of the input's name; ascending in a graph */
    uint32_t call;   /* in the graph's calls */
};

struct work_graph {
    uint32_t attempt;
    enum graph_kind kind;
    uint32_t first_call, n_calls, first_input, n_inputs;
    uint32_t n_forward; /* the calls before the first one that reads a tangent */
};

/* Of one trace. */
struct line_work {
    vec_of(struct work_call)
    calls;
    vec_of(struct work_input)
    inputs;
    vec_of(struct work_graph)
    graphs; /* in the order of their records */
};

/* Returns a key that is equal for a source ("L['self'].eps") and for the name that Dynamo gives to
 * its input ("L_self_eps"). */
uint64_t line_work_source(struct str source);
/* Adds the inputs of a Dynamo graph whose calls are the last of work->calls, from graph->first_call
 * on. Returns false when memory ran out. */
bool line_work_inputs(struct line_work *work, struct work_graph *work_graph,
                      const struct graph *graph);
/* Gives the calls of Dynamo's graphs the weights of the ATen calls that they became, by user line:
 * those say what a composite function did. Call it once, after all graphs; rows and attempts are
 * below n_rows and n_attempts. Returns false when memory ran out. */
bool line_work_settle(struct line_work *work, uint32_t n_attempts, size_t n_rows);
void line_work_release(struct line_work *work);

#endif

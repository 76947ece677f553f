/* The initial state of an attempt's environment: its tensors and numbers as described, its
 * symbols as created, in the order of their records (describe_tensor, describe_source and
 * create_symbol of torch/_subclasses/meta_utils.py and torch/fx/experimental/symbolic_shapes.py).
 */
#ifndef SYMTAPE_REPLAY_ATTEMPT_INPUTS_H
#define SYMTAPE_REPLAY_ATTEMPT_INPUTS_H

#include "replay/ops/dispatch/value.h"
#include "replay/program/dtensor.h"
#include "replay/shape/env/env.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/events/symbols.h"
#include "trace/open.h"

/* How a replay changes a recorded size (replay/attempt/changes/change.h). */
enum dim_change_kind {
    DIM_AS_RECORDED,
    DIM_FORCED_DYNAMIC,
    DIM_FORCED_STATIC,
    DIM_FORCED_UNBACKED,
    DIM_MADE_DUCK, /* a symbol that a policy makes: shared by equal sizes, as with dynamic=True */
    DIM_MADE_DYNAMIC, /* or its own, as automatic dynamic shapes make it */
    DIM_RANGE,        /* dynamic, from min to max; INT64_MAX means no bound */
    DIM_NAMED /* a Dim of torch.export; the range is that of `dim`, or of its root if derived */
};
struct dim_change {
    enum dim_change_kind kind;
    int64_t min, max;
    struct env_dim dim;
};

/* A symbol of a create_symbol record; name is "" where there was none. */
struct recorded_symbol {
    struct str name, value, range, source;
    uint32_t record;
    stack_id user_stack; /* where it was created */
};

struct input_tensor {
    struct str source; /* such as "L['x']" */
    enum dtype dtype;
    enum layout layout;
    struct device device;
    uint32_t record; /* its describe_tensor */
    uint32_t storage_record;
    int64_t storage_bytes; /* -1: not recorded */
    uint32_t ndim;
    int64_t *size, *stride, offset;
    const int64_t *recorded_size; /* before inputs_set_hints(); NULL: `size` is as recorded */
    bool requires_grad;
    bool of_module; /* a parameter or buffer of a module: always static */
    bool attribute; /* another attribute of a module: static, or as other inputs are */
    bool concrete;  /* sizes and strides are numbers; false for jagged layouts */
    bool *duck;     /* of ndim items: recorded as a symbol that other sizes with its value share */
    bool *marked;   /* of ndim items: mark_dynamic */
    bool *fixed;    /* of ndim items: a number, although a symbol has its value */
    bool *unbacked; /* of ndim items: mark_unbacked, whose symbols have no source */
    struct dim_change *change;                                 /* of ndim items */
    const struct recorded_symbol *size_symbol, *stride_symbol; /* of ndim items */
    const struct recorded_symbol *offset_symbol;
};

enum recorded_input_kind { INPUT_TENSOR, INPUT_SYMBOL };
struct input {
    enum recorded_input_kind kind;
    bool fixed;    /* a number that becomes a constant */
    bool is_float; /* a symbol of a Python float */
    union {
        struct input_tensor tensor;
        struct recorded_symbol symbol; /* that of a number, or of a tensor that was not described */
    };
};

struct inputs {
    vec_of(struct input)
    list;
    bool rehinted;          /* hints were changed: equal sizes may have one symbol now */
    bool changed;           /* something differs from the record */
    bool exported;          /* sizes are Dims: torch.export traces the program */
    bool static_by_default; /* assume_static_by_default: sizes not recorded as symbols are static */
    struct device_mesh mesh; /* that of the DTensors among them */
    int torch;               /* the release that recorded them (replay/shape/env/behavior.h) */
    struct arena arena;
};

/* Returns the release of PyTorch that a recording is of, or TORCH_RELEASE_DEFAULT. */
int recorded_torch(const struct trace *trace, uint32_t recording);
/* Reads the records; those that cannot be read are skipped. False: out of memory. */
bool inputs_read(struct trace *trace, uint32_t attempt, struct inputs *inputs, struct err *err);
/* Finds out which sizes stayed numbers although a symbol has their value: those that the Dynamo
 * graph, and AOTAutograd's, if there is one (NULL: none), print as numbers beside that symbol; and
 * which sizes were marked with mark_unbacked: those that it prints as an unbacked symbol, although
 * no symbol of theirs was recorded. False: out of memory. */
bool inputs_read_fixed(struct inputs *inputs, const struct graph *dynamo, const struct graph *aot);
/* Finds out which sizes shared a symbol; again after sizes were corrected. False: out of memory. */
struct graph;
bool inputs_guess_sharing(struct inputs *inputs, const struct graph *dynamo);

/* Returns the name of an input's placeholder in a dynamo graph, "L_x_" for "L['x']"; .p is NULL
 * when memory ran out. */
struct str inputs_placeholder_name(struct str source, struct arena *arena);

/* Returns the symbols of a graph that a log has outside compiles, in the order in which they were
 * made: torch.export captured its program, in a compile or not, and AOTAutograd traced it in the
 * same ShapeEnv, so each is the last of its name that was made before `record`, that of the graph.
 * An array of *n in the arena, whose texts belong to the table. NULL: out of memory. */
const struct symbol *inputs_earlier_symbols(const struct trace *trace,
                                            const struct symbol_table *table,
                                            const struct graph *graph, uint32_t record,
                                            struct arena *arena, uint32_t *n);

void inputs_release(struct inputs *inputs);

#endif

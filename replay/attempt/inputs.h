/* What an attempt's environment starts from: its tensors and numbers as described, its symbols as
 * created, in the order of their records (describe_tensor, describe_source and create_symbol of
 * torch/_subclasses/meta_utils.py and torch/fx/experimental/symbolic_shapes.py). */
#ifndef SYMTAPE_REPLAY_ATTEMPT_INPUTS_H
#define SYMTAPE_REPLAY_ATTEMPT_INPUTS_H

#include "replay/ops/dispatch/value.h"
#include "replay/shape/env/env.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"
#include "trace/events/symbols.h"
#include "trace/open.h"

/* What a replay makes of a size instead of what was recorded (replay/attempt/change.h). */
enum dim_change_kind {
    DIM_AS_RECORDED,
    DIM_FORCED_DYNAMIC,
    DIM_FORCED_STATIC,
    DIM_FORCED_UNBACKED,
    DIM_RANGE, /* dynamic, min to max; INT64_MAX is no bound */
    DIM_NAMED  /* a Dim of torch.export; its range is of `dim`, of its root where it derives */
};
struct dim_change {
    enum dim_change_kind kind;
    int64_t min, max;
    struct env_dim dim;
};

/* A symbol as its create_symbol record tells it; name "" where there was none. */
struct recorded_symbol {
    struct str name, value, range, source;
};

struct input_tensor {
    struct str source; /* "L['x']" */
    enum dtype dtype;
    enum layout layout;
    struct device device;
    uint32_t ndim;
    int64_t *size, *stride, offset;
    bool requires_grad;
    bool of_module; /* a parameter or buffer of a module: always static */
    bool attribute; /* something else that a module holds: static, or as other inputs are */
    bool plain;     /* sizes and strides are numbers: false for what jagged layouts have */
    bool *duck;     /* ndim: recorded as a symbol that other sizes of its value share */
    bool *marked;   /* ndim: mark_dynamic */
    struct dim_change *change;                                 /* ndim */
    const struct recorded_symbol *size_symbol, *stride_symbol; /* ndim */
    const struct recorded_symbol *offset_symbol;
};

enum recorded_input_kind { INPUT_TENSOR, INPUT_SYMBOL };
struct input {
    enum recorded_input_kind kind;
    bool fixed; /* a number becomes a constant */
    union {
        struct input_tensor tensor;
        struct recorded_symbol symbol; /* of a number, or of a tensor that was not described */
    };
};

struct inputs {
    vec_of(struct input)
    list;
    bool rehinted;          /* hints are others: equal sizes may be one symbol now */
    bool changed;           /* something is not as recorded */
    bool static_by_default; /* assume_static_by_default: what is not recorded as a symbol is static
                             */
    struct arena arena;
};

/* False: out of memory. Records that do not read are passed over. */
bool inputs_read(struct trace *trace, uint32_t attempt, struct inputs *inputs, struct err *err);
void inputs_release(struct inputs *inputs);

#endif

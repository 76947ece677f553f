/* What one attempt of a compile was compiled for: the tensors that Dynamo read, and a value that
 * one of its guards expects. Both are read on request, for the few compiles that matter. */
#ifndef SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_COMPILE_INPUTS_H
#define SYMTAPE_PROFILE_DIAGNOSIS_RECOMPILES_COMPILE_INPUTS_H

#include "trace/open.h"

enum { COMPILE_INPUT_MOST_SIZES = 16 };

/* A tensor, from its describe_tensor and describe_source records (MetaTensorDescriber in
 * torch/_subclasses/meta_utils.py). */
struct compile_input {
    struct str source; /* "L['x']" */
    int64_t sizes[COMPILE_INPUT_MOST_SIZES];
    uint32_t n_sizes; /* 0 for tensors with more dimensions, or with sizes that are symbols */
};

struct compile_inputs {
    const struct compile_input *inputs; /* the first record of each source */
    uint32_t n;
};

/* Reads the inputs of an attempt into `arena`. Returns false with err set when memory ran out. */
bool compile_inputs_read(struct trace *trace, uint32_t attempt, struct arena *arena,
                         struct compile_inputs *ret, struct err *err);
/* Returns the input of a source, or NULL. */
const struct compile_input *compile_input_find(const struct compile_inputs *inputs,
                                               struct str source);

/* One guard of an attempt, from its dynamo_cpp_guards_str record. */
struct compile_guard {
    struct str value; /* what follows the text that was searched; "" */
    struct str file, code;
    uint32_t line; /* of the comment behind it; 0 when it has none */
};

/* Finds the first guard whose text contains `text` ("L['n'] == "). Texts are copied into `arena`.
 * Returns false when there is none; then err may be set. */
bool compile_guard_find(struct trace *trace, uint32_t attempt, struct str text, struct arena *arena,
                        struct compile_guard *ret, struct err *err);

#endif

/* An attempt's initial environment and its inputs as values. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_REPLAY_STATE_H
#define SYMTAPE_REPLAY_ATTEMPT_REPLAY_STATE_H

#include "replay/attempt/inputs.h"
#include "replay/program/program.h"

struct op_catalog; /* replay/ops/layers.h */

/* An input whose sizes are expressions of the environment. */
struct replay_input {
    struct str name; /* its placeholder's name in a dynamo graph: "L_x_" */
    bool is_tensor;
    bool requires_grad;
    struct tensor_meta meta;
    const int64_t *recorded_size; /* of a tensor whose sizes were set: as recorded; or NULL */
    const struct dim_constraint *constraints; /* set for a tensor of the environment, or NULL */
    sym_id number;
    const struct replay_input *item; /* of a tensor: the symbol of its item(), or NULL */
};

/* The first inputs of a name: a float has the name of the tensor that wraps it. */
struct replay_name {
    uint32_t tensor, number; /* indices of inputs, or UINT32_MAX */
};

struct replay_state {
    struct shape_env *env;
    struct ops *ops;
    struct replay_input *inputs; /* by input */
    struct intern names;         /* those of the inputs */
    vec_of(struct replay_name)
    named;                     /* by name */
    struct intern alias_names; /* recorded names that mean something else here: symbols that a
                                  policy turned into numbers */
    vec_of(sym_id)
    aliases; /* by name */
    size_t n_inputs;
    struct str refused; /* PyTorch's error for a size that violates its constraint, or "" */
    struct arena arena;
};

/* Creates the symbols of the inputs in their order. A symbol to which the environment gives another
 * name than the record is adopted under its recorded name. */
bool replay_state_open(struct replay_state *state, const struct inputs *inputs,
                       const struct env_settings *settings, struct err *err);
/* Creates `ops`, which is NULL until then, because its table of operators takes more time than the
 * rest of an attempt without a graph. catalog: the operators, borrowed, or NULL: PyTorch's own. */
bool replay_state_make_ops(struct replay_state *state, const struct op_catalog *catalog,
                           struct err *err);
void replay_state_close(struct replay_state *state);

/* Creates the symbols of an exported program. */
bool replay_state_symbols(struct replay_state *state, const struct symbol *symbols, uint32_t n,
                          struct err *err);

/* Returns the environment's symbol for a recorded name. Unknown names are adopted with the kind
 * that they imply: "s7" a size, "zf3" a float, "u0" an unbacked symbol. user is the replay_state.
 */
sym_id replay_state_resolve(void *user, struct sym_pool *pool, struct str name);
/* Does the same, but returns SYM_NONE for a size or a float that is unknown. */
sym_id replay_state_find(void *user, struct sym_pool *pool, struct str name);

/* Returns the value of a placeholder: that of the input with its name if it agrees with the printed
 * meta, else that of the printed meta. VALUE_NONE when there is neither. */
struct value replay_state_placeholder(struct replay_state *state, const struct node *node,
                                      const struct expected *expected);

/* Sets *ret to the tensor of an attribute of a Dynamo graph, such as a parameter of an optimizer:
 * that of the input whose source gave it its name (module_key_name() of
 * torch/_dynamo/output_graph.py) if it agrees with the printed meta, else that of the printed meta.
 * False: out of memory. */
bool replay_state_attribute(struct replay_state *state, struct str attribute,
                            const struct expected *expected, struct value *ret);

/* Sets *ret to the input of a placeholder some of whose sizes were set, and are printed as the
 * numbers that they were when they were recorded, because a call specialized them later. Returns
 * whether it is one. */
bool replay_state_set_input(struct replay_state *state, const struct node *node,
                            const struct expected *expected, struct value *ret);

/* Returns whether two metas of one input have the same dtype, and sizes and strides of the same
 * hints. */
bool replay_state_agree(struct replay_state *state, const struct expected *a,
                        const struct expected *b);

/* Returns the input that has the name of a placeholder; VALUE_NONE when there is none. */
struct value replay_state_input(struct replay_state *state, const struct node *node);

/* Parses a number of a symbol's record: "24", "1e-05". Returns SYM_NONE for another text. */
sym_id replay_state_number(struct sym_pool *pool, struct str text);
/* Parses "[2, int_oo]"; returns the range that the name implies when the text is no range. */
struct sym_range replay_state_range(struct sym_pool *pool, struct str name, struct str text);

/* Returns whether the named input requires a gradient. */
bool replay_state_requires_grad(const struct replay_state *state, struct str placeholder);

#endif

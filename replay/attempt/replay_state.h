/* An attempt's environment and its inputs as values. */
#ifndef SYMTAPE_REPLAY_ATTEMPT_REPLAY_STATE_H
#define SYMTAPE_REPLAY_ATTEMPT_REPLAY_STATE_H

#include "replay/attempt/inputs.h"
#include "replay/program/program.h"

struct custom_rules; /* replay/ops/decomp/custom.h */

/* An input in the environment's terms. */
struct replay_input {
    struct str name; /* as a dynamo graph names its placeholder: "L_x_" */
    bool is_tensor;
    bool requires_grad;
    struct tensor_meta meta;
    const struct dim_constraint *constraints; /* of a tensor that the environment made; NULL */
    sym_id number;
};

/* A recorded name that stands for something else here: a symbol that a policy made a number. */
struct replay_state_alias {
    struct str name;
    sym_id expr;
};

struct replay_state {
    struct shape_env *env;
    struct ops *ops;
    struct replay_input *inputs; /* by input */
    vec_of(struct replay_state_alias)
    aliases;
    size_t n_inputs;
    struct str refused; /* what PyTorch says of a size that its constraint does not allow; "" */
    struct arena arena;
};

/* Creates the symbols of the inputs in their order. A symbol that the environment names otherwise
 * than the record does is adopted under its recorded name. */
bool replay_state_open(struct replay_state *state, const struct inputs *inputs,
                       const struct env_settings *settings, struct err *err);
/* Makes `ops`, NULL until then: its table of operators takes longer than what an attempt without a
 * graph has to do. */
bool replay_state_make_ops(struct replay_state *state, const struct custom_rules *rules,
                           struct err *err);
void replay_state_close(struct replay_state *state);

/* The symbols of an exported program. */
bool replay_state_symbols(struct replay_state *state, const struct symbol *symbols, uint32_t n,
                          struct err *err);

/* What a recorded name stands for: the environment's symbol. Names that it does not know are taken
 * in as logs name them: "s7" a size, "zf3" a float, "u0" as unbacked. user is the replay_state. */
sym_id replay_state_resolve(void *user, struct sym_pool *pool, struct str name);

/* The value of a placeholder: of the input that it names where that agrees with the printed meta,
 * else of the printed meta. VALUE_NONE where neither tells. */
struct value replay_state_placeholder(struct replay_state *state, const struct node *node,
                                      const struct expected *expected);

/* What a number is as its symbol's record tells it: "24", "1e-05". SYM_NONE: none. */
sym_id replay_state_number(struct sym_pool *pool, struct str text);
/* "[2, int_oo]"; what the name stands for where it does not read. */
struct sym_range replay_state_range(struct sym_pool *pool, struct str name, struct str text);

/* Whether the input that it names requires a gradient. */
bool replay_state_requires_grad(const struct replay_state *state, struct str placeholder);

#endif

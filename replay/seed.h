/* An attempt's environment and its inputs as values. */
#ifndef SYMTAPE_REPLAY_SEED_H
#define SYMTAPE_REPLAY_SEED_H

#include "replay/inputs.h"
#include "replay/program.h"

/* An input in the environment's terms. */
struct seeded {
    struct str name; /* as a dynamo graph names its placeholder: "L_x_" */
    bool is_tensor;
    bool requires_grad;
    struct tensor_meta meta;
    const struct dim_constraint *constraints; /* of a tensor that the environment made; NULL */
    sym_id number;
};

/* A recorded name that stands for something else here: a symbol that a policy made a number. */
struct seed_alias {
    struct str name;
    sym_id expr;
};

struct seed {
    struct shape_env *env;
    struct ops *ops;
    struct seeded *inputs; /* by input */
    vec_of(struct seed_alias)
    aliases;
    size_t n_inputs;
    struct str refused; /* what PyTorch says of a size that its constraint does not allow; "" */
    struct arena arena;
};

/* Creates the symbols of the inputs in their order. A symbol that the environment names otherwise
 * than the record does is adopted under its recorded name. */
bool seed_open(struct seed *seed, const struct inputs *inputs, const struct env_settings *settings,
               const struct custom_rules *rules, struct err *err);
void seed_close(struct seed *seed);

/* The symbols of an exported program. */
bool seed_symbols(struct seed *seed, const struct symbol *symbols, uint32_t n, struct err *err);

/* What a recorded name stands for: the environment's symbol. Names that it does not know are taken
 * in as logs name them: "s7" a size, "zf3" a float, "u0" as unbacked. user is the seed. */
sym_id seed_resolve(void *user, struct sym_pool *pool, struct str name);

/* The value of a placeholder: of the input that it names where that agrees with the printed meta,
 * else of the printed meta. VALUE_NONE where neither tells. */
struct value seed_placeholder(struct seed *seed, const struct node *node,
                              const struct expected *expected);

/* What a number is as its symbol's record tells it: "24", "1e-05". SYM_NONE: none. */
sym_id seed_number(struct sym_pool *pool, struct str text);
/* "[2, int_oo]"; what the name stands for where it does not read. */
struct sym_range seed_range(struct sym_pool *pool, struct str name, struct str text);

/* Whether the input that it names requires a gradient. */
bool seed_requires_grad(const struct seed *seed, struct str placeholder);

#endif

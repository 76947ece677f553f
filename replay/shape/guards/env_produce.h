/* Inside of env_produce.c and env_violation.c: the walk that turns an environment into guards. */
#ifndef SYMTAPE_REPLAY_SHAPE_GUARDS_ENV_PRODUCE_H
#define SYMTAPE_REPLAY_SHAPE_GUARDS_ENV_PRODUCE_H

#include "replay/shape/env/env_inside.h"

/* Something of an input that has an expression. */
struct tracked {
    struct str source; /* in the arena */
    sym_id expr;
    bool of_tensor, is_size;
    const struct dim_constraint *constraint; /* NULL: none */
};

/* A symbol that some input is: its sources in order are those of `tracked` with it. */
struct tracked_symbol {
    sym_id symbol;
    uint32_t first; /* in tracked */
    bool any_size;
};

struct symbol_constraint {
    sym_id symbol;
    const struct dim_constraint *constraint;
};

struct violation {
    bool warn_only;
    struct str name, text;
};

struct production {
    struct shape_env *env;
    const struct env_produce *what;
    void (*fn)(void *user, struct str text, uint32_t guard);
    void *user;
    struct arena arena;
    struct buf text;
    vec_of(struct tracked)
    tracked;
    vec_of(struct tracked_symbol)
    symbols;            /* symbol_to_source */
    uint32_t *place_of; /* of a symbol of the environment: its place in symbols + 1 */
    uint32_t n_places;
    vec_of(struct symbol_constraint)
    constraints; /* symbol_to_constraints */
    vec_of(struct violation)
    violations;
    bool began;              /* the equalities hold */
    struct dim_solver *dims; /* NULL: nobody asks what Dims would have to be */
};

/* The source that prints a symbol. */
struct str production_name(void *user, sym_id symbol);
struct tracked_symbol *production_symbol(const struct production *p, sym_id symbol);

/* env_violation.c. Each false: out of memory. */
bool violation_of_number(struct production *p, const struct tracked *t);
bool violation_of_expression(struct production *p, const struct tracked *t);
bool violation_of_guard(struct production *p, sym_id guard, bool trivial);
bool violation_of_range(struct production *p, sym_id symbol, struct sym_range range);
bool violation_of_equality(struct production *p, const struct tracked *t);
/* EqualityConstraint: guards on each given pair, or raises. */
bool production_check_equalities(struct production *p);
bool production_raise_violations(struct production *p);

#endif

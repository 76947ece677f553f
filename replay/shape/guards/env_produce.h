/* The state of produce_guards, for the files of replay/shape/guards only. */
#ifndef SYMTAPE_REPLAY_SHAPE_GUARDS_ENV_PRODUCE_H
#define SYMTAPE_REPLAY_SHAPE_GUARDS_ENV_PRODUCE_H

#include "replay/shape/env/env_inside.h"

/* A part of an input that has an expression: a size, a stride, an offset or a number. */
struct tracked {
    struct str source; /* allocated in the arena */
    sym_id expr;
    bool of_tensor, is_size;
    const struct dim_constraint *constraint; /* NULL for none */
};

/* A symbol that equals a part of an input: its sources in order are the items of `tracked`. */
struct tracked_symbol {
    sym_id symbol;
    uint32_t first; /* index of tracked */
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
    uint32_t *place_of; /* for each symbol of the environment its index in `symbols`, plus 1 */
    uint32_t n_places;
    vec_of(struct symbol_constraint)
    constraints; /* symbol_to_constraints */
    vec_of(struct violation)
    violations;
    bool began;              /* the equalities are satisfied */
    struct dim_solver *dims; /* NULL when the values of Dims are not needed */
};

/* Returns the source that prints a symbol. */
struct str production_name(void *user, sym_id symbol);
struct tracked_symbol *production_symbol(const struct production *p, sym_id symbol);

/* env_violation.c. Each of these returns false when out of memory. */
bool violation_of_number(struct production *p, const struct tracked *t);
bool violation_of_expression(struct production *p, const struct tracked *t);
bool violation_of_guard(struct production *p, sym_id guard, bool trivial);
bool violation_of_range(struct production *p, sym_id symbol, struct sym_range range);
bool violation_of_equality(struct production *p, const struct tracked *t);
/* EqualityConstraint: adds guards for each given pair, or raises. */
bool production_check_equalities(struct production *p);
bool production_raise_violations(struct production *p);

#endif

/* An environment with the operators over it, for the tests of operators. */
#ifndef SYMTAPE_TESTS_REPLAY_OPS_WORLD_H
#define SYMTAPE_TESTS_REPLAY_OPS_WORLD_H

#include "replay/ops/dispatch/ops.h"
#include "replay/ops/layers.h"

struct world {
    struct shape_env *env;
    struct ops *ops;
    struct sym_pool *pool;
    uint32_t n_symbols;
};

/* cmocka's set-up and tear-down of one test. */
static inline int setup(void **state)
{
    static struct world w;
    struct err err = { .kind = ERR_NONE };
    w = (struct world){ .env = shape_env_new(NULL, &err) };
    w.ops = w.env ? ops_new(w.env, &err) : NULL;
    w.pool = w.env ? env_pool(w.env) : NULL;
    *state = &w;
    return w.ops ? 0 : -1;
}

static inline int teardown(void **state)
{
    struct world *w = *state;
    ops_free(w->ops);
    shape_env_free(w->env);
    return 0;
}

#endif

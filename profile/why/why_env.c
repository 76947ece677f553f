#include "profile/why/why_build.h"

bool why_env_open(struct why_build *b, uint32_t attempt, struct replay_state *ret, struct err *err)
{
    struct inputs none = { 0 };
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    bool ok = replay_state_open(ret, &none, &settings, err);
    for (uint32_t i = 0; i < b->symbols->n_symbols && ok; i++)
        if (b->symbols->symbols[i].attempt == attempt)
            ok = replay_state_symbols(ret, &b->symbols->symbols[i], 1, err);
    return ok;
}

sym_id why_env_parse(struct replay_state *state, struct str text)
{
    struct err ignored = { 0 };
    struct sym_pool *pool = env_pool(state->env);
    sym_id ret = sym_parse(pool, text, replay_state_resolve, state);
    sym_ok(pool, &ignored);
    return ret;
}

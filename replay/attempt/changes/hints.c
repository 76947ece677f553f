#include "replay/attempt/changes/hints.h"

#include "replay/shape/expr/solve.h"

struct hint_changer {
    struct replay_state state;
    const struct input_set *sets;
    size_t n;
};

static const struct input_set *set_of(const struct hint_changer *h, struct str name)
{
    for (size_t i = 0; i < h->n; i++)
        if (str_eq(h->sets[i].symbol, name))
            return &h->sets[i];
    return NULL;
}

static sym_id hint(void *user, sym_id symbol)
{
    struct hint_changer *h = user;
    struct sym_pool *pool = env_pool(h->state.env);
    const struct input_set *set = set_of(h, sym_name(pool, symbol));
    return set ? sym_parse(pool, set->value, NULL, NULL) : env_hint(h->state.env, symbol);
}

static void evaluate_size(struct hint_changer *h, sym_id e, int64_t *value)
{
    struct err ignored = { 0 };
    struct sym_pool *pool = env_pool(h->state.env);
    sym_id ret = e == SYM_NONE ? SYM_NONE : sym_evaluate(pool, e, hint, h);
    sym_ok(pool, &ignored);
    if (ret != SYM_NONE)
        sym_to_i64(pool, ret, value);
}

static void count_names(const struct hint_changer *h, const struct recorded_symbol *symbols,
                        uint32_t n, size_t *found)
{
    for (uint32_t i = 0; i < n; i++)
        *found += symbols[i].name.n && set_of(h, symbols[i].name);
}

static bool keep_recorded_size(struct input_tensor *t, struct arena *arena)
{
    int64_t *recorded = arena_array(arena, int64_t, (size_t)t->ndim + 1);
    for (uint32_t d = 0; recorded && d < t->ndim; d++)
        recorded[d] = t->size[d];
    t->recorded_size = recorded;
    return recorded != NULL;
}

static bool set_tensor(struct hint_changer *h, struct input_tensor *t, const struct replay_input *s,
                       size_t *found, struct arena *arena, struct err *err)
{
    count_names(h, t->size_symbol, t->ndim, found);
    count_names(h, t->stride_symbol, t->ndim, found);
    count_names(h, t->offset_symbol, 1, found);
    if (!t->recorded_size && !keep_recorded_size(t, arena))
        return err_nomem(err);
    for (uint32_t d = 0; d < t->ndim; d++) {
        evaluate_size(h, s->meta.size[d], &t->size[d]);
        evaluate_size(h, s->meta.stride[d], &t->stride[d]);
        if (t->size[d] < 0)
            return err_set(err, ERR_USAGE,
                           "size %u of %.*s would be %lld: a size cannot be negative", d,
                           STR_ARG(t->source), (long long)t->size[d]);
    }
    evaluate_size(h, s->meta.offset, &t->offset);
    return true;
}

bool inputs_set_hints(struct inputs *inputs, const struct input_set *sets, size_t n, size_t *found,
                      struct err *err)
{
    struct hint_changer h = { .sets = sets, .n = n };
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    if (n == 0)
        return true;
    settings.torch = inputs->torch;
    bool ok = replay_state_open(&h.state, inputs, &settings, err);
    for (size_t i = 0; i < inputs->list.n && ok; i++) {
        struct input *input = &inputs->list.v[i];
        if (input->kind == INPUT_TENSOR) {
            if (input->tensor.concrete)
                ok = set_tensor(&h, &input->tensor, &h.state.inputs[i], found, &inputs->arena, err);
            continue;
        }
        const struct input_set *set = set_of(&h, input->symbol.name);
        if (set) {
            input->symbol.value = set->value;
            ++*found;
        }
    }
    replay_state_close(&h.state);
    inputs->rehinted = true;
    return ok;
}

/* Guards that were applied from the record beside the conditions that are checked at each call. */
#include "replay/attempt/contradictions/evidence.h"

/* PyTorch prints every guard that does not follow from ranges into the conditions of each call
 * (produce_guards_verbose of torch/fx/experimental/symbolic_shapes.py). So a guard that is none of
 * them is wrong where one of them, on the same sizes, is of no guard. */
struct tree_checker {
    struct contradictions *found;
    const struct attempt_end *end;
    struct shape_env *env;
    vec_of(bool)
    printed; /* by condition: a guard has it */
    vec_of(uint32_t)
    absent; /* guards that are no such condition, by env_guard_at() */
    bool failed;
};

static void look_for_condition(void *user, struct str text, uint32_t guard)
{
    struct tree_checker *k = user;
    uint32_t id = intern_find(k->end->conditions, text);
    if (id != INTERN_NONE)
        k->printed.v[id] = true;
    else if (guard != UINT32_MAX)
        k->failed |= !vec_push(&k->absent, guard);
}

static struct str name_of(void *user, sym_id symbol)
{
    return env_source(user, symbol);
}

/* Returns whether produce_guards would print a condition that is none of those of each call. */
static bool is_absent(struct tree_checker *k, sym_id condition)
{
    struct buf text = BUF_INIT;
    sym_id e = SYM_NONE;
    if (env_evaluate_static_as(k->env, condition, ENV_STATIC_PLAIN, false) == SYM_NONE)
        e = env_simplify(k->env, condition);
    if (e != SYM_NONE)
        sym_print_shape_guard(env_pool(k->env), e, name_of, k->env, &text);
    bool ret = text.n && intern_find(k->end->conditions, buf_str(&text)) == INTERN_NONE;
    k->failed |= text.failed;
    buf_release(&text);
    return ret;
}

static bool is_applied(const struct guard_entry *entry)
{
    return entry->status == GUARD_STATUS_APPLIED && entry->guard->kind == GUARD_EVAL &&
           entry->added != SYM_NONE && !entry->denied;
}

static bool any_is_absent(struct tree_checker *k)
{
    const struct guard_log *log = k->end->log;
    for (uint32_t i = 0; i < log->n_recorded && !k->failed; i++)
        if (is_applied(&log->entries.v[i]) && is_absent(k, log->entries.v[i].added))
            return true;
    return false;
}

/* Calls env_produce_guards() for all inputs; what the user demands of them is checked elsewhere. */
static void produce(struct tree_checker *k)
{
    const struct replay_state *state = k->end->state;
    vec_of(struct env_input)
    list = { 0 };
    for (size_t i = 0; i < state->n_inputs && !k->failed; i++) {
        const struct input *input = &k->end->inputs->list.v[i];
        const struct replay_input *made = &state->inputs[i];
        struct env_input new = { .source = input->symbol.source, .offset = made->number };
        if (input->kind == INPUT_TENSOR)
            new = (struct env_input){ .source = input->tensor.source,
                                      .ndim = made->meta.ndim,
                                      .size = made->is_tensor ? made->meta.size : NULL,
                                      .stride = made->meta.stride,
                                      .offset = made->meta.offset };
        if (input->kind == INPUT_TENSOR ? new.size != NULL : new.offset != SYM_NONE)
            k->failed |= !vec_push(&list, new);
    }
    const struct env_produce what = { .inputs = list.v, .n_inputs = (uint32_t)list.n };
    if (!k->failed)
        env_produce_guards(k->env, &what, look_for_condition, k);
    k->failed |= env_raised(k->env).kind == ENV_RAISED_MEMORY;
    vec_release(&list);
}

struct sources {
    const struct tree_checker *k;
    struct str text;
    bool all, any;
};

static void look_for_source(void *user, struct str symbol)
{
    struct sources *s = user;
    struct str source = env_source(s->k->env, guard_log_parse(s->k->end->log, symbol));
    s->any = true;
    s->all &= source.n && str_find(s->text, source) < s->text.n;
}

/* Returns the condition on the sizes of a guard that no guard has, or "". */
static struct str condition_without_guard(const struct tree_checker *k, struct str guard)
{
    for (uint32_t i = 0; i < k->printed.n; i++) {
        struct sources s = { k, intern_text(k->end->conditions, i), true, false };
        if (k->printed.v[i])
            continue;
        guard_symbols(guard, look_for_source, &s);
        if (s.all && s.any)
            return s.text;
    }
    return STR("");
}

static void name_guard(struct tree_checker *k, const struct guard *guard)
{
    struct str condition = condition_without_guard(k, guard->expr);
    if (!condition.n)
        return;
    struct contradiction row = { .kind = CONTRADICTION_GUARD,
                                 .attempt = k->end->attempt,
                                 .record = guard->record,
                                 .beside = TRACE_NONE,
                                 .ref = TRACE_NONE,
                                 .name = arena_copy(&k->found->arena, guard->expr) };
    row.recorded = row.name;
    row.expected = arena_copy(&k->found->arena, condition);
    k->failed |= !row.name.p || !row.expected.p || !vec_push(&k->found->list, row);
}

static bool was_absent(const struct tree_checker *k, sym_id condition)
{
    for (size_t i = 0; i < k->absent.n; i++)
        if (env_guard_at(k->env, k->absent.v[i])->expr == condition)
            return true;
    return false;
}

bool check_tree(struct contradictions *c, const struct attempt_end *end)
{
    struct tree_checker k = { .found = c, .end = end, .env = end->env };
    const struct guard_log *log = end->log;
    if (!end->replayed || !end->conditions->texts.n || !any_is_absent(&k))
        return !k.failed;
    for (size_t i = 0; i < end->conditions->texts.n && !k.failed; i++)
        k.failed |= !vec_push(&k.printed, false);
    if (!k.failed)
        produce(&k);
    for (uint32_t i = 0; i < log->n_recorded && !k.failed; i++)
        if (is_applied(&log->entries.v[i]) && was_absent(&k, log->entries.v[i].added))
            name_guard(&k, log->entries.v[i].guard);
    vec_release(&k.printed);
    vec_release(&k.absent);
    return !k.failed;
}

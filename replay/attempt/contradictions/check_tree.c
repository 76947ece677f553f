/* Guards that were applied from the record beside the conditions that are checked at each call. */
#include "replay/attempt/contradictions/evidence.h"

#include <stdlib.h>

enum { MAX_LOOKUPS = 64 }; /* of guards in an attempt; each reads all conditions */

/* PyTorch prints every guard that does not follow from ranges into the conditions of each call
 * (produce_guards_verbose of torch/fx/experimental/symbolic_shapes.py). So a guard that PyTorch did
 * not print is wrong where PyTorch printed a condition on the same sizes that no guard has. */
struct tree_checker {
    struct contradictions *found;
    const struct attempt_end *end;
    struct shape_env *env;
    vec_of(bool)
    printed; /* by condition: a guard has it */
    vec_of(sym_id)
    absent; /* guards that are no such condition; sorted by produce() */
    uint32_t lookups;
    bool failed;
};

static void look_for_condition(void *user, struct str text, uint32_t guard)
{
    struct tree_checker *k = user;
    struct str condition = str_first(text, str_find(text, STR("  # "))); /* without its place */
    uint32_t id = intern_find(k->end->conditions, condition);
    if (id != INTERN_NONE)
        k->printed.v[id] = true;
    else if (guard != UINT32_MAX)
        k->failed |= !vec_push(&k->absent, env_guard_at(k->env, guard)->expr);
}

static bool is_applied(const struct guard_entry *entry)
{
    return entry->status == GUARD_STATUS_APPLIED && entry->guard->kind == GUARD_EVAL &&
           entry->added != SYM_NONE && !entry->denied;
}

static bool any_is_applied(const struct guard_log *log)
{
    for (uint32_t i = 0; i < log->n_recorded; i++)
        if (is_applied(&log->entries.v[i]))
            return true;
    return false;
}

static int compare_ids(const void *a, const void *b)
{
    sym_id x = *(const sym_id *)a, y = *(const sym_id *)b;
    return (x > y) - (x < y);
}

/* Calls env_produce_guards() for all inputs; what the user demands of them is checked elsewhere.
 * False: it stopped before the last condition. */
static bool produce(struct tree_checker *k)
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
    const struct env_produce what = { .inputs = list.v,
                                      .n_inputs = (uint32_t)list.n,
                                      .language = GUARDS_VERBOSE_PYTHON };
    bool ret = !k->failed && env_produce_guards(k->env, &what, look_for_condition, k);
    k->failed |= env_raised(k->env).kind == ENV_RAISED_MEMORY;
    vec_release(&list);
    if (k->absent.n)
        qsort(k->absent.v, k->absent.n, sizeof *k->absent.v, compare_ids);
    return ret && !k->failed;
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
    return k->absent.n &&
           bsearch(&condition, k->absent.v, k->absent.n, sizeof *k->absent.v, compare_ids);
}

static void name_guards(struct tree_checker *k)
{
    const struct guard_log *log = k->end->log;
    for (uint32_t i = 0; i < log->n_recorded && !k->failed; i++) {
        const struct guard_entry *entry = &log->entries.v[i];
        if (is_applied(entry) && was_absent(k, entry->added) && k->lookups++ < MAX_LOOKUPS)
            name_guard(k, entry->guard);
    }
}

bool check_tree(struct contradictions *c, const struct attempt_end *end)
{
    struct tree_checker k = { .found = c, .end = end, .env = end->env };
    if (!end->replayed || !end->conditions->texts.n || !any_is_applied(end->log))
        return true;
    for (size_t i = 0; i < end->conditions->texts.n && !k.failed; i++)
        k.failed |= !vec_push(&k.printed, false);
    if (!k.failed && produce(&k))
        name_guards(&k);
    vec_release(&k.printed);
    vec_release(&k.absent);
    return !k.failed;
}

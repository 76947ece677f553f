#include "profile/advice/padded_calls.h"

#include <string.h>

#include "profile/calls/guards/condition.h"
#include "trace/events/incidents/recompile_guard.h"

enum { MOST_STEPS = 1 << 12 /* that a size grows by */ };

static const struct str SIZE = { ".size()[", 8 };

struct padding {
    struct held_calls *held;
    struct world world;
    struct condition_pool pool;
    condition_id condition;
    vec_of(uint32_t)
    named; /* sources of the condition's sizes, which grow for themselves */
    vec_of(struct call_value)
    values; /* of the call that is tried */
    vec_of(int64_t)
    sizes;
};

/* A size that makes the condition hold. */
struct padded_size {
    uint32_t at; /* in the call's values */
    uint32_t dim;
    int64_t size;
    int64_t more; /* than it was; 0: none was found */
};

/* ---- The condition ---- */

/* Returns the length of the source at the start of a text, "batch.x" of "batch.x.size()[0] < 4"; 0
 * if no size begins there. */
static size_t sized_length(struct str text)
{
    size_t n = 0;
    while (n < text.n && !str_starts(str_from(text, n), SIZE)) {
        if (text.p[n] == '[')
            n += str_find_char(str_from(text, n), ']') + 1;
        else if (is_word_char(text.p[n]) || text.p[n] == '.')
            n++;
        else
            return 0;
    }
    return n < text.n ? n : 0;
}

/* Appends a condition of a reason, whose sources are without L[...], with their scope. */
static void put_scoped(struct str text, struct buf *out)
{
    while (text.n) {
        bool begins = is_word_char(text.p[0]) && !is_digit(text.p[0]);
        size_t n = begins ? sized_length(text) : 0;
        if (n && !str_starts(text, STR("L["))) {
            source_local(out, str_first(text, n));
        } else {
            n = n ? n : str_word(text) ? str_word(text) : 1;
            buf_put(out, str_first(text, n));
        }
        text = str_from(text, n);
    }
}

bool padded_condition_is_read(struct str condition)
{
    return str_contains(condition, SIZE) && !str_contains(condition, STR("..."));
}

static bool read_condition(struct padding *p, struct str text)
{
    struct buf scoped = BUF_INIT;
    put_scoped(text, &scoped);
    struct str kept =
        scoped.failed ? (struct str){ 0 } : arena_copy(&p->held->arena, buf_str(&scoped));
    buf_release(&scoped);
    bool ok = kept.p && condition_parse(&p->pool, &p->world, kept, &p->condition);
    for (size_t i = 0; ok && i < p->pool.nodes.n; i++)
        if (p->pool.nodes.v[i].op == COND_SIZE)
            ok = vec_push(&p->named, p->pool.nodes.v[i].source);
    return ok;
}

static bool holds(struct padding *p)
{
    uint32_t missing;
    return condition_check(&p->pool, &p->world, p->condition, &missing) == CONDITION_HOLDS;
}

/* ---- Calls ---- */

static bool find_tensor(const struct program_call *call, const struct condition *size, uint32_t *at)
{
    for (uint32_t i = 0; i < call->n_values; i++) {
        const struct py_value *value = &call->values[i].value;
        *at = i;
        if (call->values[i].source == size->source)
            return value->kind == PY_TENSOR && size->index < value->tensor->n_dims;
    }
    return false;
}

/* Lets one size grow until the condition holds, by less than what was found before. */
static bool try_size(struct padding *p, const struct program_call *call, uint32_t at, uint32_t dim,
                     struct padded_size *best)
{
    const struct tensor_value *was = call->values[at].value.tensor;
    struct tensor_value tensor = *was;
    struct program_call tried = *call;
    if (!vec_reserve(&p->values, call->n_values) || !vec_reserve(&p->sizes, was->n_dims))
        return false;
    memcpy(p->values.v, call->values, call->n_values * sizeof *p->values.v);
    memcpy(p->sizes.v, was->sizes, was->n_dims * sizeof *p->sizes.v);
    tensor.sizes = p->sizes.v;
    p->values.v[at].value.tensor = &tensor;
    tried.values = p->values.v;
    if (!world_enter(&p->world, &tried))
        return false;
    int64_t most = best->more ? best->more - 1 : MOST_STEPS;
    for (int64_t more = 1; was->sizes[dim] >= 0 && more <= most; more++) {
        p->sizes.v[dim] = was->sizes[dim] + more;
        if (!holds(p))
            continue;
        *best = (struct padded_size){ at, dim, p->sizes.v[dim], more };
        return true;
    }
    return true;
}

static bool pad_call(struct padding *p, struct program_call *call)
{
    struct padded_size best = { 0 };
    uint32_t missing, at;
    if (!world_enter(&p->world, call))
        return false;
    if (condition_check(&p->pool, &p->world, p->condition, &missing) != CONDITION_FAILS)
        return true;
    for (size_t i = 0; i < p->pool.nodes.n; i++) {
        const struct condition *node = &p->pool.nodes.v[i];
        if (node->op == COND_SIZE && find_tensor(call, node, &at) &&
            !try_size(p, call, at, (uint32_t)node->index, &best))
            return false;
    }
    const struct held_apart apart = { p->named.v, p->named.n };
    return !best.more || held_resize(p->held, call, best.at, best.dim, best.size, apart);
}

bool padded_calls_make(struct held_calls *held, struct call_log *log, const struct call_hold *hold)
{
    struct padding p = { .held = held,
                         .world = { .sources = &log->sources },
                         .condition = CONDITION_NONE };
    bool ok = read_condition(&p, hold->condition);
    for (size_t i = 0; ok && p.condition != CONDITION_NONE && i < log->calls.n; i++)
        if (held_call_is_of(&log->calls.v[i], hold->frame))
            ok = pad_call(&p, &log->calls.v[i]);
    condition_pool_release(&p.pool);
    world_release(&p.world);
    vec_release(&p.named);
    vec_release(&p.values);
    vec_release(&p.sizes);
    return ok;
}

/* The values of nodes during a walk, for all users of the interpreter. */
#include "replay/program/program.h"

#include <stdlib.h>

enum { MAX_RENAMED = 64 }; /* arguments of a call, and guards, among which sizes are looked for */

/* Looks in a tensor for a size that was printed as an input was. Returns true if it is the input's
 * value, which is right, then; else *ret is the first such size. Both are as they are by now. */
static bool find_printed_size(struct shape_env *env, const struct value *tensor,
                              const struct expected *printed, sym_id number, sym_id value,
                              sym_id *ret)
{
    const struct tensor_meta *meta = tensor->u.tensor.meta;
    if (printed->kind != EXPECT_TENSOR || printed->unreadable || printed->ndim != meta->ndim)
        return false;
    for (uint32_t d = 0; d < meta->ndim; d++) {
        sym_id size = printed->size[d] == number ? env_replace(env, meta->size[d]) : SYM_NONE;
        if (size == SYM_NONE)
            continue;
        if (size == value)
            return true;
        if (*ret == SYM_NONE)
            *ret = size;
    }
    return false;
}

static bool has_symbol(const struct call_guards *guards, struct str name)
{
    return guards->n_symbols &&
           bsearch(&name, guards->symbols, guards->n_symbols, sizeof *guards->symbols, str_compare);
}

/* Returns whether the guards that were recorded at the call's line have both symbols: one guard, or
 * several that compare them with a third one. */
static bool have_both(const struct program *p, const struct step *step, sym_id a, sym_id b)
{
    const struct sym_pool *pool = ops_pool(p->ops);
    const struct call_guards *guards = &p->renamed[step->node];
    return has_symbol(guards, sym_name(pool, a)) && has_symbol(guards, sym_name(pool, b));
}

struct symbol_search {
    const struct sym_pool *pool;
    struct str name;
    bool found;
};

static void match_symbol(void *user, sym_id symbol)
{
    struct symbol_search *search = user;
    search->found |= str_eq(sym_name(search->pool, symbol), search->name);
}

static bool expr_has_name(const struct program *p, sym_id e, struct str name)
{
    struct sym_pool *pool = ops_pool(p->ops);
    struct symbol_search search = { pool, name, false };
    return e != SYM_NONE && sym_free_symbols(pool, e, match_symbol, &search) && search.found;
}

/* Returns whether a symbol is in an argument of a call, as it was or as it is by now. */
static bool args_have_name(const struct program *p, const struct step *step, struct str name)
{
    struct shape_env *env = ops_env(p->ops);
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct value *value = p->patches[step->first_patch + i].at;
        const struct tensor_meta *meta = value->kind == VALUE_TENSOR ? value->u.tensor.meta : NULL;
        if (value->kind == VALUE_INT && (expr_has_name(p, value->u.sym, name) ||
                                         expr_has_name(p, env_replace(env, value->u.sym), name)))
            return true;
        for (uint32_t d = 0; meta && d < meta->ndim; d++)
            if (expr_has_name(p, meta->size[d], name) || expr_has_name(p, meta->stride[d], name) ||
                expr_has_name(p, env_replace(env, meta->size[d]), name))
                return true;
    }
    return false;
}

static bool is_in_guard(const struct guard_symbols *guard, struct str name)
{
    for (uint32_t i = 0; i < guard->n; i++)
        if (str_eq(guard->symbols[i], name))
            return true;
    return false;
}

/* Returns whether a call can have asked for the first guard of its line that has both symbols: the
 * guard's other symbols are in its arguments. Several calls may have the line. */
static bool can_ask(const struct program *p, const struct step *step, sym_id a, sym_id b)
{
    const struct sym_pool *pool = ops_pool(p->ops);
    const struct call_guards *line = &p->renamed[step->node];
    const struct str name_a = sym_name(pool, a), name_b = sym_name(pool, b);
    const struct guard_symbols *guard = NULL;
    for (uint32_t i = 0; i < line->n && !guard; i++)
        if (is_in_guard(&line->guards[i], name_a) && is_in_guard(&line->guards[i], name_b))
            guard = &line->guards[i];
    for (uint32_t i = 0; guard && i < guard->n; i++) {
        struct str name = guard->symbols[i];
        if (!str_eq(name, name_a) && !str_eq(name, name_b) && !args_have_name(p, step, name))
            return false;
    }
    return true;
}

static bool can_compare(const struct program *p, const struct step *step, sym_id a, sym_id b)
{
    const struct sym_pool *pool = ops_pool(p->ops);
    return sym_kind_of(pool, a) == SYM_SYMBOL && sym_kind_of(pool, b) == SYM_SYMBOL &&
           p->renamed[step->node].n <= MAX_RENAMED;
}

static void take_earlier_input(const struct program *p, const struct step *step,
                               const struct patch *patch)
{
    struct shape_env *env = ops_env(p->ops);
    const struct value *earlier = &p->current[patch->earlier];
    if (!p->valid[patch->earlier] || earlier->kind != VALUE_INT || patch->at->kind != VALUE_INT)
        return;
    sym_id value = env_replace(env, patch->at->u.sym), other = env_replace(env, earlier->u.sym);
    if (value != SYM_NONE && other != SYM_NONE && value != other &&
        can_compare(p, step, value, other) && have_both(p, step, value, other))
        *patch->at = *earlier;
}

/* Returns whether a tensor among a call's arguments has a size that was printed as an input was and
 * is the input's value. */
static bool is_own_size(const struct program *p, const struct step *step, sym_id printed,
                        sym_id value)
{
    sym_id ignored = SYM_NONE;
    for (uint32_t k = 0; k < step->n_patches; k++) {
        const struct patch *tensor = &p->patches[step->first_patch + k];
        if (tensor->at->kind == VALUE_TENSOR &&
            find_printed_size(ops_env(p->ops), tensor->at, p->steps[tensor->from].expected, printed,
                              value, &ignored))
            return true;
    }
    return false;
}

/* A call whose tensor has the size that is printed did not compare it with itself: it got the other
 * input, if a guard that it can have asked for compares the two. */
static void take_other_input(const struct program *p, const struct step *step,
                             const struct patch *patch)
{
    struct shape_env *env = ops_env(p->ops);
    const struct value *input = &p->current[patch->other];
    const struct expected *printed = p->steps[patch->from].expected;
    if (!p->valid[patch->other] || input->kind != VALUE_INT || patch->at->kind != VALUE_INT ||
        printed->kind != EXPECT_NUMBER || printed->unreadable)
        return;
    sym_id value = env_replace(env, patch->at->u.sym), other = env_replace(env, input->u.sym);
    if (value != SYM_NONE && other != SYM_NONE && value != other &&
        can_compare(p, step, value, other) && have_both(p, step, value, other) &&
        is_own_size(p, step, printed->number, value) && can_ask(p, step, value, other))
        *patch->at = *input;
}

/* Where a guard made symbols equal, the graph that is printed in the end names one of them wherever
 * the program passed any (insert_deferred_runtime_asserts of torch/fx/passes/runtime_assert.py).
 * Before that guard a call got the one that was a size of its tensor, or it would have added the
 * guard itself. */
static void take_sizes_of_tensors(const struct program *p, const struct step *step)
{
    struct shape_env *env = ops_env(p->ops);
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct patch *number = &p->patches[step->first_patch + i];
        const struct expected *printed = p->steps[number->from].expected;
        if (p->steps[number->from].kind != STEP_INPUT || number->at->kind != VALUE_INT ||
            printed->kind != EXPECT_NUMBER || printed->unreadable)
            continue;
        sym_id value = env_replace(env, number->at->u.sym), size = SYM_NONE;
        bool right = value == SYM_NONE;
        for (uint32_t k = 0; k < step->n_patches && !right; k++) {
            const struct patch *tensor = &p->patches[step->first_patch + k];
            right = tensor->at->kind == VALUE_TENSOR &&
                    find_printed_size(env, tensor->at, p->steps[tensor->from].expected,
                                      printed->number, value, &size);
        }
        if (!right && size != SYM_NONE && can_compare(p, step, value, size) &&
            !(have_both(p, step, value, size) && can_ask(p, step, value, size)))
            *number->at = value_int(size);
    }
}

bool program_fill(struct program *p, const struct step *step)
{
    for (uint32_t i = 0; i < step->n_patches; i++) {
        const struct patch *patch = &p->patches[step->first_patch + i];
        if (patch->from >= p->n_steps || !p->valid[patch->from])
            return false;
        *patch->at = p->current[patch->from];
        if (patch->earlier != NODE_NONE && p->renamed)
            take_earlier_input(p, step, patch);
    }
    if (p->renamed && step_is_call(step) && step->n_patches <= MAX_RENAMED) {
        for (uint32_t i = 0; i < step->n_patches; i++)
            if (p->patches[step->first_patch + i].other != NODE_NONE)
                take_other_input(p, step, &p->patches[step->first_patch + i]);
        take_sizes_of_tensors(p, step);
    }
    return true;
}

void program_set(struct program *p, const struct step *step, struct value value)
{
    /* A call that changes its argument in place may return nothing (setitem). */
    if (step->object == step->node || value.kind != VALUE_NONE)
        p->current[step->object] = value;
    p->valid[step->object] = true;
    if (step->object != step->node) {
        p->current[step->node] = p->current[step->object];
        p->valid[step->node] = true;
    }
}

void program_take_written(struct program *p, const struct step *step)
{
    for (size_t i = 0, n = ops_n_written(p->root->ops); i < n; i++) {
        uint32_t arg;
        struct tensor tensor = ops_written(p->root->ops, i, &arg);
        for (uint32_t k = 0; k < step->n_patches && arg < step->n_args; k++) {
            const struct patch *patch = &p->patches[step->first_patch + k];
            if (patch->at == &step->args[arg] && patch->from < p->n_steps)
                p->current[patch->from] = value_tensor(tensor);
        }
    }
}

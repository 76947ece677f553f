/* Guards of an entry that the tape does not have: those of another entry of the code object, with
 * other sizes. */
#include "profile/calls/guards/entry_guards.h"

/* The sizes and strides of a tensor that differ from those of the present call; returns false if
 * there are none, so that it fails for another reason. */
static bool widen_tensor(struct entry_guards *guards, struct world *world,
                         const struct guard_leaf *leaf, const struct size_policy *policy)
{
    const struct tensor_check *check = &guards->tensors.v[leaf->tensor];
    const struct py_value *value = world_value(world, leaf->source);
    bool changed = false, symbols = false;
    if (value->kind != PY_TENSOR || value->tensor->n_dims != check->n_sizes)
        return false;
    int64_t *sizes = vec_from(&guards->dims, check->first);
    for (uint32_t d = 0; d < check->n_sizes; d++) {
        int64_t before = sizes[d], now = value->tensor->sizes[d];
        if (before != now && before != ANY_SIZE && !(before == SYMBOL_SIZE && now >= 2)) {
            bool symbol = now >= 2 && policy->is_symbol(policy->data, check->name, d, before);
            sizes[d] = symbol ? SYMBOL_SIZE : now;
            changed = true;
        }
        symbols |= sizes[d] < 0;
    }
    for (uint32_t d = 0; d < check->n_strides && d < value->tensor->n_dims; d++) {
        int64_t *stride = &sizes[check->n_sizes + d], now = value->tensor->strides[d];
        if (*stride == now || *stride == ANY_SIZE)
            continue;
        *stride = symbols ? ANY_SIZE : now;
        changed = true;
    }
    return changed;
}

/* L['n'] == 2, where it is another integer now: a symbol, or the number that it is. Attributes of
 * modules stay numbers, and those of another value belong to another module. */
static bool widen_integer(struct entry_guards *guards, struct world *world, struct guard_leaf *leaf,
                          const struct size_policy *policy, bool *no_memory)
{
    struct condition *nodes = guards->conditions.nodes.v;
    if (leaf->condition == CONDITION_NONE || nodes[leaf->condition].op != COND_EQUAL)
        return false;
    const struct condition *left = &nodes[nodes[leaf->condition].first];
    struct condition *right = &nodes[nodes[leaf->condition].second];
    if (left->op != COND_SOURCE || right->op != COND_CONSTANT || right->value.kind != PY_INT ||
        world_of_module(world, left->source) || world_value(world, left->source)->kind != PY_INT)
        return false;
    int64_t now = world_value(world, left->source)->integer;
    struct str name = intern_text(world->sources, left->source);
    if (now != 0 && now != 1 &&
        policy->is_symbol(policy->data, name, NO_DIM, right->value.integer)) {
        leaf->how = LEAF_SAME;
        return true;
    }
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s == %lld", STR_ARG(name), (long long)now);
    struct str copy = text.failed ? (struct str){ 0 } : arena_copy(&guards->arena, buf_str(&text));
    buf_release(&text);
    *no_memory |= !copy.p;
    right->value.integer = now;
    leaf->text = leaf->code = copy.p ? copy : name;
    return true;
}

/* Makes the sizes that a condition reads and that are 0 or 1 now numbers; returns whether there are
 * any. Its nodes come before it, and its depth is that of what was parsed. */
static bool number_sizes(struct entry_guards *guards, struct world *world, condition_id id)
{
    bool changed = false;
    if (id == CONDITION_NONE)
        return false;
    const struct condition *node = &guards->conditions.nodes.v[id];
    changed |= number_sizes(guards, world, node->first);
    changed |= number_sizes(guards, world, node->second);
    changed |= number_sizes(guards, world, node->third);
    if (node->op != COND_SIZE)
        return changed;
    const struct py_value *value = world_value(world, node->source);
    struct str name = intern_text(world->sources, node->source);
    for (size_t i = 0; i < guards->tensors.n && value->kind == PY_TENSOR; i++) {
        const struct tensor_check *check = &guards->tensors.v[i];
        if (!str_eq(check->name, name) || node->index >= check->n_sizes ||
            node->index >= value->tensor->n_dims || value->tensor->sizes[node->index] > 1)
            continue;
        guards->dims.v[check->first + node->index] = value->tensor->sizes[node->index];
        changed = true;
    }
    return changed;
}

/* Conditions on a size that becomes a number are not guards of the new entry. */
static bool widen_condition(struct entry_guards *guards, struct world *world,
                            struct guard_leaf *leaf, const struct size_policy *policy,
                            bool *no_memory)
{
    if (widen_integer(guards, world, leaf, policy, no_memory))
        return true;
    if (!number_sizes(guards, world, leaf->condition))
        return false;
    leaf->how = LEAF_SAME;
    return true;
}

bool entry_guards_widen(struct entry_guards *guards, struct world *world,
                        const struct call_mode *mode, const struct size_policy *policy, bool *ret)
{
    bool no_memory = false;
    *ret = true;
    for (size_t i = 0; i <= guards->leaves.n && *ret; i++) {
        struct guards_answer answer = entry_guards_check(guards, world, mode, false, NULL);
        if (answer.no_memory || no_memory)
            return false;
        if (answer.verdict == GUARDS_PASS)
            return true;
        struct guard_leaf *leaf =
            answer.leaf == TENSOR_NONE ? NULL : &guards->leaves.v[answer.leaf];
        *ret = leaf && (leaf->how == LEAF_TENSOR
                            ? widen_tensor(guards, world, leaf, policy)
                            : leaf->how == LEAF_CONDITION &&
                                  widen_condition(guards, world, leaf, policy, &no_memory));
    }
    *ret = false;
    return !no_memory;
}

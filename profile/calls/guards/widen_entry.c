/* Guards of an entry that the tape does not have: those of another entry of the code object, with
 * other sizes. */
#include "profile/calls/guards/entry_guards.h"

/* ---- Leaves by source ---- */

static uint32_t source_hash(uint32_t source)
{
    return source * 2654435761u;
}

static const struct guard_leaf *find_leaf(const struct entry_guards *guards, uint32_t source,
                                          enum leaf_how how)
{
    uint32_t row, hash = source_hash(source);
    for (size_t at = hash_index_start(&guards->by_source, hash);
         hash_index_next(&guards->by_source, hash, &at, &row);) {
        const struct guard_leaf *leaf = &guards->leaves.v[row];
        if (leaf->source == source && leaf->how == how)
            return leaf;
    }
    return NULL;
}

/* Returns the constant of a leaf such as L['n'] == 2, or NULL. */
static struct condition *compared_integer(const struct entry_guards *guards,
                                          const struct guard_leaf *leaf)
{
    struct condition *nodes = guards->conditions.nodes.v;
    if (leaf->how != LEAF_CONDITION || leaf->condition == CONDITION_NONE ||
        nodes[leaf->condition].op != COND_EQUAL)
        return NULL;
    const struct condition *left = &nodes[nodes[leaf->condition].first];
    struct condition *right = &nodes[nodes[leaf->condition].second];
    bool matches = left->op == COND_SOURCE && left->source == leaf->source &&
                   right->op == COND_CONSTANT && right->value.kind == PY_INT;
    return matches ? right : NULL;
}

bool entry_guards_index(struct entry_guards *guards)
{
    for (size_t i = guards->indexed ? guards->leaves.n : 0; i < guards->leaves.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        if (leaf->source == INTERN_NONE ||
            (leaf->how != LEAF_TENSOR && !compared_integer(guards, leaf)) ||
            find_leaf(guards, leaf->source, leaf->how))
            continue;
        if (!hash_index_reserve(&guards->by_source, 1))
            return false;
        hash_index_add(&guards->by_source, source_hash(leaf->source), (uint32_t)i);
    }
    guards->indexed = true;
    return true;
}

bool entry_guards_number(const struct entry_guards *guards, uint32_t source, uint32_t dim,
                         int64_t *ret)
{
    const struct guard_leaf *leaf =
        find_leaf(guards, source, dim == NO_DIM ? LEAF_CONDITION : LEAF_TENSOR);
    if (!leaf)
        return false;
    if (dim == NO_DIM) {
        *ret = compared_integer(guards, leaf)->value.integer;
        return true;
    }
    const struct tensor_check *check = &guards->tensors.v[leaf->tensor];
    int64_t size = dim < check->n_sizes ? guards->dims.v[check->first + dim] : ANY_SIZE;
    if (size == ANY_SIZE || size == SYMBOL_SIZE)
        return false;
    *ret = size;
    return true;
}

/* ---- Leaves that fail ---- */

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
            bool symbol = now >= 2 && policy->is_symbol(policy->data, leaf->source, d, before);
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
    struct condition *right = compared_integer(guards, leaf);
    if (!right || world_of_module(world, leaf->source) ||
        world_value(world, leaf->source)->kind != PY_INT)
        return false;
    int64_t now = world_value(world, leaf->source)->integer;
    struct str name = intern_text(world->sources, leaf->source);
    if (now != 0 && now != 1 &&
        policy->is_symbol(policy->data, leaf->source, NO_DIM, right->value.integer)) {
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
    const struct guard_leaf *leaf = find_leaf(guards, node->source, LEAF_TENSOR);
    if (!leaf || value->kind != PY_TENSOR || node->index >= value->tensor->n_dims ||
        value->tensor->sizes[node->index] > 1)
        return changed;
    const struct tensor_check *check = &guards->tensors.v[leaf->tensor];
    if (node->index >= check->n_sizes)
        return changed;
    guards->dims.v[check->first + node->index] = value->tensor->sizes[node->index];
    return true;
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

/* Widens the leaves that fail, each by itself. *ret is false if one fails for another reason. */
static bool widen_leaves(struct entry_guards *guards, struct world *world,
                         const struct call_mode *mode, const struct size_policy *policy, bool *ret)
{
    bool no_memory = false;
    entry_guards_begin(guards);
    for (uint32_t i = 0; i < guards->leaves.n && *ret && !no_memory; i++) {
        struct guard_leaf *leaf = &guards->leaves.v[i];
        struct guards_answer answer = entry_guards_check_leaf(guards, world, mode, i);
        if (answer.no_memory)
            return false;
        if (answer.verdict != GUARDS_PASS)
            *ret = leaf->how == LEAF_TENSOR
                       ? widen_tensor(guards, world, leaf, policy)
                       : leaf->how == LEAF_CONDITION &&
                             widen_condition(guards, world, leaf, policy, &no_memory);
    }
    return !no_memory;
}

/* All leaves are widened at once. A number that one of them gives a tensor stands behind a leaf
 * that was checked before, so that all are checked once more. */
bool entry_guards_widen(struct entry_guards *guards, struct world *world,
                        const struct call_mode *mode, const struct size_policy *policy, bool *ret)
{
    enum { MOST_PASSES = 3 };
    *ret = true;
    if (!entry_guards_index(guards))
        return false;
    for (int i = 0; *ret; i++) {
        struct guards_answer answer = entry_guards_check(guards, world, mode, false);
        if (answer.no_memory)
            return false;
        if (answer.verdict == GUARDS_PASS)
            return true;
        *ret = i < MOST_PASSES && answer.leaf != TENSOR_NONE;
        if (*ret && !widen_leaves(guards, world, mode, policy, ret))
            return false;
    }
    return true;
}

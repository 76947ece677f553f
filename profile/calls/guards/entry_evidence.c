/* What guards say of values that a call does not list. */
#include "profile/calls/guards/entry_guards.h"

bool entry_guards_learn(const struct entry_guards *guards, struct world *world)
{
    const struct condition *nodes = guards->conditions.nodes.v;
    for (size_t i = 0; i < guards->attributes.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[guards->attributes.v[i]];
        if (leaf->condition == CONDITION_NONE) /* it was taken out of the guards */
            continue;
        const struct condition *equal = &nodes[leaf->condition];
        uint32_t source = nodes[equal->first].source;
        if (world_value(world, source)->kind == PY_UNKNOWN &&
            !world_learn(world, source, &nodes[equal->second].value))
            return false;
    }
    return true;
}

/* "tensor 'x' size mismatch at index 0": "x". */
static struct str tensor_name(struct str reason)
{
    static const struct str BEFORE = { "tensor '", 8 };
    if (!str_starts(reason, BEFORE))
        return STR("");
    reason = str_from(reason, BEFORE.n);
    return str_first(reason, str_find(reason, STR("' ")));
}

static bool is_subject(const struct guard_leaf *leaf, const struct world *world, struct str name,
                       struct str reason, struct buf *text)
{
    buf_clear(text);
    if (leaf->how == LEAF_TENSOR && name.n && leaf->source != INTERN_NONE) {
        put_without_scope(intern_text(world->sources, leaf->source), text);
        return str_eq(buf_str(text), name);
    }
    put_without_scope(leaf->code, text);
    return text->n && str_starts(reason, buf_str(text));
}

static bool is_unknown(const struct entry_guards *guards, struct world *world,
                       const struct guard_leaf *leaf)
{
    uint32_t missing;
    if (leaf->source < world->n_listed) /* it did not change, or the call would list it */
        return false;
    if (leaf->how != LEAF_CONDITION)
        return leaf->source != INTERN_NONE && world_value(world, leaf->source)->kind == PY_UNKNOWN;
    return leaf->condition != CONDITION_NONE &&
           condition_value(&guards->conditions, world, leaf->condition, &missing).kind ==
               PY_UNKNOWN;
}

bool entry_guards_assumed(const struct entry_guards *guards, struct world *world, struct str reason,
                          bool *ret)
{
    struct buf text = BUF_INIT;
    struct str name = tensor_name(reason);
    *ret = false;
    for (size_t i = 0; i < guards->leaves.n && !*ret && !text.failed; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        *ret = is_subject(leaf, world, name, reason, &text) && is_unknown(guards, world, leaf);
    }
    bool ok = !text.failed;
    buf_release(&text);
    return ok;
}

bool entry_guards_same_objects(const struct entry_guards *guards, struct world *world)
{
    for (size_t i = 0; i < guards->identities.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[guards->identities.v[i]];
        if (!leaf->of_module || world->paths.v[leaf->source].step != PATH_ROOT)
            continue;
        const struct py_value *now = world_value(world, leaf->source);
        if (now->kind != PY_UNKNOWN && now->object != leaf->then.object)
            return false;
    }
    return true;
}

bool entry_guards_unlisted(const struct entry_guards *guards, const struct world *world,
                           struct str reason, uint32_t *ret)
{
    struct buf text = BUF_INIT;
    struct str name = tensor_name(reason);
    *ret = INTERN_NONE;
    for (size_t i = 0; i < guards->leaves.n && *ret == INTERN_NONE && !text.failed; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        if (leaf->source != INTERN_NONE && world->given.v[leaf->source] != world->now &&
            is_subject(leaf, world, name, reason, &text))
            *ret = leaf->source;
    }
    bool ok = !text.failed;
    buf_release(&text);
    return ok;
}

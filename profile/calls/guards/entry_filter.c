/* The guards of an entry without some of its leaves. */
#include "profile/calls/guards/entry_guards.h"

#include <stdlib.h>

/* Both return whether they removed anything. Of leaves that are joined, the first that is left
 * stands for them. */
static bool remove_leaves(struct entry_guards *g, struct guard_manager *manager,
                          const bool *removed)
{
    bool ret = false, headless = false;
    uint32_t *at = &manager->first_leaf;
    manager->last_leaf = TENSOR_NONE;
    while (*at != TENSOR_NONE) {
        struct guard_leaf *leaf = &g->leaves.v[*at];
        if (removed[*at]) {
            *at = leaf->next;
            headless |= !leaf->joined;
            ret = true;
        } else {
            leaf->joined &= !headless;
            headless = false;
            manager->last_leaf = *at;
            at = &leaf->next;
        }
    }
    return ret;
}

static bool remove_children(struct entry_guards *g, struct guard_manager *manager,
                            const bool *emptied)
{
    bool ret = false;
    uint32_t *at = &manager->first_child;
    manager->last_child = MANAGER_NONE;
    while (*at != MANAGER_NONE) {
        if (emptied[*at]) {
            *at = g->managers.v[*at].next;
            ret = true;
        } else {
            g->managers.v[*at].previous = manager->last_child;
            manager->last_child = *at;
            at = &g->managers.v[*at].next;
        }
    }
    return ret;
}

bool entry_guards_remove(struct entry_guards *guards, const bool *removed, const bool *unguarded)
{
    bool *emptied = calloc(guards->managers.n + 1, 1);
    if (!emptied)
        return false;
    /* A manager comes before those below it; the first two are the root and the outermost level. */
    for (size_t id = guards->managers.n; id-- > 0;) {
        struct guard_manager *manager = &guards->managers.v[id];
        bool leaves = remove_leaves(guards, manager, removed);
        bool children = remove_children(guards, manager, emptied);
        bool less = leaves || children;
        emptied[id] = id > 1 &&
                      (unguarded[id] || (less && manager->length < 0 && !manager->keeps_type)) &&
                      manager->first_leaf == TENSOR_NONE && manager->first_child == MANAGER_NONE;
        if (unguarded[id]) {
            manager->length = -1;
            manager->keeps_type = false;
        }
    }
    free(emptied);
    return true;
}

uint32_t entry_guards_evaluated(const struct entry_guards *guards)
{
    uint32_t n = 0;
    for (size_t id = 0; id < guards->managers.n; id++)
        for (uint32_t leaf = guards->managers.v[id].first_leaf; leaf != TENSOR_NONE;
             leaf = guards->leaves.v[leaf].next)
            n += !guards->leaves.v[leaf].joined;
    return n;
}

uint32_t entry_guards_accessors(const struct entry_guards *guards)
{
    uint32_t n = 0;
    for (size_t id = 0; id < guards->managers.n; id++)
        for (uint32_t child = guards->managers.v[id].first_child; child != MANAGER_NONE;
             child = guards->managers.v[child].next)
            n += guards->managers.v[child].source != INTERN_NONE;
    return n;
}

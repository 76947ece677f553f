#include "profile/calls/tree/guards_compare.h"

/* ---- Pairs of functions ---- */

struct function_pairer {
    struct guards_comparison *ret;
    struct intern names, ordinals;
    vec_of(uint32_t)
    seen; /* by name: how many functions of it were met on this side */
    struct buf key;
};

/* Returns the pair of the n-th function of a name, which is added if it is new; NULL when memory
 * ran out. The line and the folder of a function may change. */
static struct function_pair *pair_of(struct function_pairer *p, const struct guard_function *f)
{
    buf_clear(&p->key);
    buf_counted(&p->key, f->function);
    buf_put(&p->key, str_basename(f->file));
    uint32_t name = p->key.failed ? INTERN_NONE : intern(&p->names, buf_str(&p->key));
    if (name == INTERN_NONE)
        return NULL;
    while (p->seen.n <= name)
        if (!vec_push(&p->seen, 0))
            return NULL;
    buf_clear(&p->key);
    buf_varint(&p->key, name);
    buf_varint(&p->key, p->seen.v[name]++);
    uint32_t pair = p->key.failed ? INTERN_NONE : intern(&p->ordinals, buf_str(&p->key));
    if (pair == INTERN_NONE ||
        (pair == p->ret->pairs.n && !vec_push(&p->ret->pairs, (struct function_pair){ 0 })))
        return NULL;
    return &p->ret->pairs.v[pair];
}

static bool add_side(struct function_pairer *p, const struct guard_trees *trees, bool after,
                     struct str function)
{
    for (size_t i = 0; i < p->seen.n; i++)
        p->seen.v[i] = 0;
    for (size_t i = 0; i < trees->functions.n; i++) {
        const struct guard_function *f = &trees->functions.v[i];
        if (!guard_function_is(f, function))
            continue;
        struct function_pair *pair = pair_of(p, f);
        if (!pair)
            return false;
        *(after ? &pair->after : &pair->before) = f;
    }
    return true;
}

static bool make_pairs(struct guards_comparison *ret, const struct guard_trees *before,
                       const struct guard_trees *after, struct str function)
{
    struct function_pairer p = { .ret = ret };
    bool ok = add_side(&p, before, false, function) && add_side(&p, after, true, function);
    intern_release(&p.names);
    intern_release(&p.ordinals);
    vec_release(&p.seen);
    buf_release(&p.key);
    return ok;
}

/* ---- Guards of a pair ---- */

struct guard_matcher {
    struct guards_comparison *ret;
    uint32_t pair;
    struct intern keys;
    vec_of(struct guard_change)
    rows; /* by key */
    struct buf key, code;
};

static bool add_leaf(struct guard_matcher *m, const struct merged_tree *tree, uint32_t id,
                     bool after)
{
    const struct merged_leaf *leaf = &tree->leaves.v[id];
    struct guard_change row = { m->pair,    tree->nodes.v[leaf->node].source,
                                leaf->kind, STR(""),
                                TREE_NONE,  TREE_NONE };
    buf_clear(&m->code);
    put_without_ids(leaf->code, &m->code);
    buf_clear(&m->key);
    buf_counted(&m->key, row.source);
    buf_counted(&m->key, row.kind);
    buf_put(&m->key, buf_str(&m->code));
    bool failed = m->key.failed || m->code.failed;
    uint32_t text = failed ? INTERN_NONE : intern(&m->ret->texts, buf_str(&m->code));
    uint32_t key = failed ? INTERN_NONE : intern(&m->keys, buf_str(&m->key));
    if (text == INTERN_NONE || key == INTERN_NONE)
        return false;
    row.code = intern_text(&m->ret->texts, text);
    if (key == m->rows.n && !vec_push(&m->rows, row))
        return false;
    uint32_t *at = after ? &m->rows.v[key].after : &m->rows.v[key].before;
    if (*at == TREE_NONE)
        *at = id;
    return true;
}

static bool add_leaves(struct guard_matcher *m, const struct guard_function *f, bool after)
{
    for (uint32_t i = 0; f && i < f->tree.leaves.n; i++)
        if (!add_leaf(m, &f->tree, i, after))
            return false;
    return true;
}

/* Moves on to the first use, from `use` on, by an entry whose compile the other tree has, too. */
static uint32_t common_use(const struct merged_tree *tree, uint32_t use,
                           const struct merged_tree *other)
{
    while (use != TREE_NONE &&
           merged_tree_entry(other, tree->entries.v[tree->uses.v[use].entry].number) == TREE_NONE)
        use = tree->uses.v[use].next;
    return use;
}

/* Returns the next use by another entry. */
static uint32_t next_use(const struct merged_tree *tree, uint32_t use,
                         const struct merged_tree *other)
{
    uint32_t entry = tree->uses.v[use].entry;
    while (use != TREE_NONE && tree->uses.v[use].entry == entry)
        use = tree->uses.v[use].next;
    return common_use(tree, use, other);
}

/* Returns whether a guard is in the same entries, of those that both trees have. A compile that
 * only one of them has adds no change to each guard. */
static bool same_entries(const struct merged_tree *a, const struct merged_leaf *x,
                         const struct merged_tree *b, const struct merged_leaf *y)
{
    uint32_t use = common_use(a, x->first_use, b), other = common_use(b, y->first_use, a);
    while (use != TREE_NONE && other != TREE_NONE &&
           a->entries.v[a->uses.v[use].entry].number ==
               b->entries.v[b->uses.v[other].entry].number) {
        use = next_use(a, use, b);
        other = next_use(b, other, a);
    }
    return use == TREE_NONE && other == TREE_NONE;
}

static uint32_t n_entries(const struct guard_function *f)
{
    return f ? (uint32_t)f->tree.entries.n : 0;
}

static bool compare_pair(struct guards_comparison *ret, uint32_t id)
{
    const struct function_pair *pair = &ret->pairs.v[id];
    struct guard_matcher m = { .ret = ret, .pair = id };
    ret->entries_before += n_entries(pair->before);
    ret->entries_after += n_entries(pair->after);
    bool ok = add_leaves(&m, pair->before, false) && add_leaves(&m, pair->after, true);
    for (size_t i = 0; ok && i < m.rows.n; i++) {
        const struct guard_change *row = &m.rows.v[i];
        if (row->before != TREE_NONE && row->after != TREE_NONE &&
            same_entries(&pair->before->tree, &pair->before->tree.leaves.v[row->before],
                         &pair->after->tree, &pair->after->tree.leaves.v[row->after]))
            ret->n_same++;
        else
            ok = vec_push(&ret->changes, *row);
    }
    intern_release(&m.keys);
    vec_release(&m.rows);
    buf_release(&m.key);
    buf_release(&m.code);
    return ok;
}

static int by_place(const void *a, const void *b)
{
    const struct guard_change *x = a, *y = b;
    int source = str_cmp(x->source, y->source), kind = str_cmp(x->kind, y->kind);
    if (x->pair != y->pair)
        return x->pair < y->pair ? -1 : 1;
    return source ? source : kind ? kind : str_cmp(x->code, y->code);
}

bool guards_comparison_make(struct guards_comparison *ret, const struct guard_trees *before,
                            const struct guard_trees *after, struct str function, struct err *err)
{
    *ret = (struct guards_comparison){ 0 };
    bool ok = make_pairs(ret, before, after, function);
    for (uint32_t i = 0; ok && i < ret->pairs.n; i++)
        ok = compare_pair(ret, i);
    if (ret->changes.n)
        qsort(ret->changes.v, ret->changes.n, sizeof *ret->changes.v, by_place);
    return ok || err_nomem(err);
}

void guards_comparison_release(struct guards_comparison *comparison)
{
    intern_release(&comparison->texts);
    vec_release(&comparison->pairs);
    vec_release(&comparison->changes);
}

#include "profile/calls/tree/merged_tree.h"

#include "profile/calls/tree/guard_owner.h"
#include "trace/events/guard_tree.h"

enum { MOST_DEPTH = 128 };

struct tree_merger {
    struct merged_tree *merged;
    struct intern *owners;
    uint32_t entry;
    uint32_t open[MOST_DEPTH]; /* nodes by depth */
    struct buf key;
    struct err *err;
};

void put_without_ids(struct str code, struct buf *out)
{
    static const struct str CHECKS[] = { { "___check_obj_id(", 16 },
                                         { "___check_type_id(", 17 },
                                         { "___check_fake_script_type(", 26 } };
    for (size_t i = 0; i < sizeof CHECKS / sizeof *CHECKS; i++) {
        if (!str_starts(code, CHECKS[i]))
            continue;
        size_t end = code.n, last = 0;
        size_t type = str_find(code, STR("), type="));
        for (end = type, last = end; last && code.p[last - 1] != ',';)
            last--;
        if (!last || end == code.n)
            break;
        buf_put(out, str_first(code, last - 1));
        buf_put(out, str_from(code, end));
        return;
    }
    buf_put(out, code);
}

/* ---- Nodes ---- */

static uint32_t add_node(struct tree_merger *m, uint32_t parent, struct str source,
                         struct str accessor)
{
    struct merged_tree *t = m->merged;
    uint32_t id = (uint32_t)t->nodes.n;
    struct merged_node node = { .parent = parent,
                                .depth = parent == TREE_NONE ? 0 : t->nodes.v[parent].depth + 1,
                                .first_child = TREE_NONE,
                                .last_child = TREE_NONE,
                                .next = TREE_NONE,
                                .first_leaf = TREE_NONE,
                                .last_leaf = TREE_NONE,
                                .source = source,
                                .accessor = accessor,
                                .last_entry = TREE_NONE };
    if (!vec_push(&t->nodes, node))
        return TREE_NONE;
    if (parent == TREE_NONE)
        return id;
    struct merged_node *above = &t->nodes.v[parent];
    if (above->last_child == TREE_NONE)
        above->first_child = id;
    else
        t->nodes.v[above->last_child].next = id;
    above->last_child = id;
    return id;
}

/* Returns the row of the key in m->key; *is_new is set if it has none yet, and the caller adds the
 * row `row`. TREE_NONE when memory ran out. */
static uint32_t row_of_key(struct tree_merger *m, uint32_t row, bool *is_new)
{
    struct merged_tree *t = m->merged;
    uint32_t key = m->key.failed ? INTERN_NONE : intern(&t->keys, buf_str(&m->key));
    *is_new = false;
    if (key == INTERN_NONE)
        return TREE_NONE;
    if (key < t->key_rows.n)
        return t->key_rows.v[key];
    *is_new = true;
    return vec_push(&t->key_rows, row) ? row : TREE_NONE;
}

/* "..., accessed_by=DictGetItemGuardAccessor('a'), type=<...": "DictGetItemGuardAccessor". */
static struct str accessor_of(struct str text)
{
    static const struct str BY = { "accessed_by=", 12 };
    size_t at = str_find(text, BY), n = 0;
    struct str ret = str_from(text, at + BY.n);
    while (n < ret.n && is_word_char(ret.p[n]))
        n++;
    return str_first(ret, n);
}

static uint32_t node_at(const struct tree_merger *m, uint32_t depth)
{
    return depth == 0 ? 1 : m->open[depth - 1 < MOST_DEPTH ? depth - 1 : MOST_DEPTH - 1];
}

static bool merge_node(struct tree_merger *m, const struct tree_guard *line)
{
    struct merged_tree *t = m->merged;
    uint32_t id = 0;
    if (line->depth) {
        uint32_t parent = node_at(m, line->depth);
        bool is_new;
        buf_clear(&m->key);
        buf_putc(&m->key, 'n');
        buf_varint(&m->key, parent);
        buf_put(&m->key, line->source.n ? line->source : line->text);
        id = row_of_key(m, (uint32_t)t->nodes.n, &is_new);
        if (is_new && id != TREE_NONE)
            id = add_node(m, parent, line->source, accessor_of(line->text));
        if (id == TREE_NONE)
            return err_nomem(m->err);
    }
    struct merged_node *node = &t->nodes.v[id];
    if (node->last_entry != m->entry) {
        node->last_entry = m->entry;
        node->n_entries++;
    }
    t->entries.v[m->entry].n_accessors += line->depth && line->source.n;
    for (uint32_t depth = line->depth; depth < MOST_DEPTH; depth++)
        m->open[depth] = id;
    return true;
}

/* ---- Leaves ---- */

/* At the outermost level, "L['y'] is L['x']" is made by the guard on L['x'] (DUPLICATE_INPUT in
 * torch/_dynamo/guards.py). The others there are about sizes or the process. */
static struct str same_object(struct str code)
{
    static const struct str IS = { " is ", 4 };
    size_t at = str_find(code, IS);
    struct str first = guard_owner(str_first(code, at));
    return first.n && at < code.n ? guard_owner(str_from(code, at + IS.n)) : STR("");
}

static bool owner_of(struct tree_merger *m, const struct tree_guard *line, uint32_t node,
                     uint32_t *ret)
{
    struct str owner = node <= 1 ? same_object(line->code) : guard_owner(line->code);
    if (!owner.n && node > 1)
        owner = guard_owner(m->merged->nodes.v[node].source);
    *ret = INTERN_NONE;
    if (!owner.n)
        return true;
    *ret = intern(m->owners, owner);
    return *ret != INTERN_NONE || err_nomem(m->err);
}

static bool add_leaf(struct tree_merger *m, const struct tree_guard *line, uint32_t node)
{
    struct merged_tree *t = m->merged;
    struct merged_leaf leaf = { .node = node,
                                .next = TREE_NONE,
                                .kind = line->kind,
                                .code = line->code,
                                .comment = line->comment,
                                .first_use = TREE_NONE,
                                .last_use = TREE_NONE };
    uint32_t id = (uint32_t)t->leaves.n;
    if (!owner_of(m, line, node, &leaf.owner))
        return false;
    if (!vec_push(&t->leaves, leaf))
        return err_nomem(m->err);
    struct merged_node *at = &t->nodes.v[node];
    if (at->last_leaf == TREE_NONE)
        at->first_leaf = id;
    else
        t->leaves.v[at->last_leaf].next = id;
    at->last_leaf = id;
    return true;
}

static bool add_use(struct tree_merger *m, uint32_t leaf)
{
    struct merged_tree *t = m->merged;
    uint32_t id = (uint32_t)t->uses.n;
    if (!vec_push(&t->uses, (struct leaf_use){ leaf, m->entry, TREE_NONE }))
        return err_nomem(m->err);
    struct merged_leaf *row = &t->leaves.v[leaf];
    bool again = row->last_use != TREE_NONE && t->uses.v[row->last_use].entry == m->entry;
    if (row->last_use == TREE_NONE)
        row->first_use = id;
    else
        t->uses.v[row->last_use].next = id;
    row->last_use = id;
    row->n_entries += !again;
    t->entries.v[m->entry].n_leaves++;
    return true;
}

static bool merge_leaf(struct tree_merger *m, const struct tree_guard *line)
{
    struct merged_tree *t = m->merged;
    uint32_t node = node_at(m, line->depth);
    bool is_new;
    buf_clear(&m->key);
    buf_putc(&m->key, 'l');
    buf_varint(&m->key, node);
    buf_counted(&m->key, line->kind);
    if (t->several_processes)
        put_without_ids(line->code, &m->key);
    else
        buf_put(&m->key, line->code);
    uint32_t leaf = row_of_key(m, (uint32_t)t->leaves.n, &is_new);
    if (leaf == TREE_NONE)
        return err_nomem(m->err);
    return (!is_new || add_leaf(m, line, node)) && add_use(m, leaf);
}

/* ---- Entries ---- */

/* A number that no measurement gives is none. */
static double latency_of(struct str text)
{
    const double most_us = 1e12; /* days */
    static const struct str LATENCY = { "\nGuard latency = ", 17 };
    size_t at = str_find(text, LATENCY);
    struct str number = str_from(text, at + LATENCY.n);
    char digits[32] = { 0 };
    size_t n = 0;
    while (n < number.n && (is_digit(number.p[n]) || number.p[n] == '.'))
        n++;
    if (!n || n >= sizeof digits || at == text.n)
        return -1;
    memcpy(digits, number.p, n);
    double us = strtod(digits, NULL);
    return us <= most_us ? us : -1;
}

bool merged_tree_add(struct merged_tree *merged, struct str compile, uint64_t number,
                     struct str text, struct intern *owners, struct err *err)
{
    struct tree_merger m = {
        .merged = merged, .owners = owners, .entry = (uint32_t)merged->entries.n, .err = err
    };
    struct tree_guard line;
    struct str rest = text;
    struct merged_entry entry = { .compile = compile,
                                  .number = number,
                                  .first_use = (uint32_t)merged->uses.n,
                                  .latency_us = latency_of(text) };
    bool ok = merged->nodes.n || (add_node(&m, TREE_NONE, STR(""), STR("")) != TREE_NONE &&
                                  add_node(&m, TREE_NONE, STR(""), STR("")) != TREE_NONE);
    ok = (ok && vec_push(&merged->entries, entry)) || err_nomem(err);
    while (ok && guard_tree_next(&rest, &line)) {
        bool manager =
            str_ends(line.kind, STR("Manager")) || str_starts(line.kind, STR("KeyValueManager"));
        ok = manager ? merge_node(&m, &line) : merge_leaf(&m, &line);
    }
    buf_release(&m.key);
    return ok;
}

uint32_t merged_tree_entry(const struct merged_tree *merged, uint64_t number)
{
    size_t low = 0, high = merged->entries.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (merged->entries.v[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < merged->entries.n && merged->entries.v[low].number == number ? (uint32_t)low
                                                                              : TREE_NONE;
}

void merged_tree_release(struct merged_tree *merged)
{
    intern_release(&merged->keys);
    vec_release(&merged->nodes);
    vec_release(&merged->leaves);
    vec_release(&merged->uses);
    vec_release(&merged->entries);
    vec_release(&merged->key_rows);
}

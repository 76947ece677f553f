#include "profile/calls/levels/asked_twice.h"

/* The most guards and values that are compared, over all groups. */
enum { MOST_COMPARED = 20000000 };

/* The guards of an entry. */
struct entry_texts {
    bool made;
    uint32_t first; /* in asked_counter.leaves, as many as the entry has leaves */
};

struct leaf_text {
    uint32_t text, source; /* in `texts`; as in struct guard_leaf */
};

/* What the calls ask that a sequence of entries answers. */
struct group_asks {
    uint64_t asked, again;
};

/* The last guard with a text. */
struct seen_text {
    uint32_t group, lookup; /* number of the sequence from 1; the look-up that asks it */
};

struct asked_counter {
    const struct call_log *log;
    const struct cache_run *run;
    const struct call_levels *levels;
    struct asked_guards *ret;
    struct intern texts, groups;
    vec_of(struct leaf_text)
    leaves;
    struct entry_texts *entries;
    vec_of(struct group_asks)
    asks; /* by group */
    vec_of(struct seen_text)
    seen; /* by text */
    uint64_t compared;
    struct buf key;
};

static bool make_texts(struct asked_counter *c, uint32_t id)
{
    struct entry_texts *texts = &c->entries[id];
    const struct entry_guards *guards = &c->run->entries.v[id].guards;
    if (texts->made)
        return true;
    *texts = (struct entry_texts){ true, (uint32_t)c->leaves.n };
    for (size_t i = 0; i < guards->leaves.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        uint32_t text = intern(&c->texts, leaf->code);
        const struct leaf_text row = { text, leaf->source };
        if (text == INTERN_NONE || !vec_push(&c->leaves, row))
            return false;
        while (c->seen.n < c->texts.texts.n)
            if (!vec_push(&c->seen, (struct seen_text){ 0, 0 }))
                return false;
    }
    return true;
}

/* Returns whether two frames of a call have the same value by the name of a local. Of what neither
 * lists, it is the module alone that is known to be the same. */
static bool same_local(const struct program_call *a, const struct program_call *b, uint32_t source,
                       struct str text)
{
    struct py_value x = { 0 }, y = { 0 };
    bool in_a = false, in_b = false;
    for (uint32_t i = 0; i < a->n_values && !in_a; i++)
        if ((in_a = a->values[i].source == source))
            x = program_call_value(a, i);
    for (uint32_t i = 0; i < b->n_values && !in_b; i++)
        if ((in_b = b->values[i].source == source))
            y = program_call_value(b, i);
    if (in_a && in_b)
        return (x.kind != PY_TENSOR && x.kind != PY_OBJECT) || x.object != OBJECT_NONE
                   ? py_equal(&x, &y)
                   : false;
    return !in_a && !in_b && a->module >= 0 && a->module == b->module &&
           (str_is(text, "L['self']") || str_starts(text, STR("L['self'].")));
}

/* Returns whether a guard asks about the same value in two frames of a call. */
static bool asks_the_same(struct asked_counter *c, uint32_t one, uint32_t two, uint32_t source)
{
    const struct program_call *a = &c->log->calls.v[c->run->lookups.v[one].call];
    const struct program_call *b = &c->log->calls.v[c->run->lookups.v[two].call];
    if (source == INTERN_NONE)
        return true;
    struct str text = intern_text(&c->log->sources, source);
    if (!str_starts(text, STR("L[")))
        return true;
    c->compared += (uint64_t)a->n_values + b->n_values;
    return same_local(a, b, source, text);
}

/* Counts the guards of one look-up of a group. */
static void ask(struct asked_counter *c, uint32_t group, uint32_t lookup, struct group_asks *asks)
{
    uint32_t id = c->run->lookups.v[lookup].answered;
    size_t n = c->run->entries.v[id].guards.leaves.n;
    for (size_t i = 0; i < n && c->compared < MOST_COMPARED; i++, c->compared++) {
        const struct leaf_text *leaf = &c->leaves.v[c->entries[id].first + i];
        struct seen_text *seen = &c->seen.v[leaf->text];
        asks->again += seen->group == group && seen->lookup != lookup &&
                       asks_the_same(c, seen->lookup, lookup, leaf->source);
        *seen = (struct seen_text){ group, lookup };
    }
    asks->asked += n;
}

/* Adds the guards of a group, whose look-ups stand from `first` to `end`. */
static bool add_group(struct asked_counter *c, uint32_t first, uint32_t end)
{
    buf_clear(&c->key);
    for (uint32_t i = first; i < end; i++) {
        if (!make_texts(c, c->run->lookups.v[i].answered))
            return false;
        buf_le32(&c->key, c->run->lookups.v[i].answered);
    }
    uint32_t group = c->key.failed ? INTERN_NONE : intern(&c->groups, buf_str(&c->key));
    if (group == INTERN_NONE)
        return false;
    if (group == c->asks.n) {
        struct group_asks asks = { 0, 0 };
        for (uint32_t i = first; i < end; i++)
            ask(c, group + 1, i, &asks);
        if (!vec_push(&c->asks, asks))
            return false;
    }
    c->ret->asked += c->asks.v[group].asked;
    c->ret->again += c->asks.v[group].again;
    c->ret->partial = c->compared >= MOST_COMPARED;
    return true;
}

static bool count(struct asked_counter *c)
{
    const struct look_level *looks = c->levels->looks.v;
    bool ok = true;
    for (uint32_t i = 0, end; ok && i < c->levels->looks.n; i = end) {
        for (end = i + 1; end < c->levels->looks.n && looks[end].group == looks[i].group &&
                          looks[i].group != CALL_NONE;)
            end++;
        ok = looks[i].group == CALL_NONE || add_group(c, i, end);
    }
    return ok;
}

bool asked_guards_count(struct asked_guards *ret, const struct call_log *log,
                        const struct cache_run *run, const struct call_levels *levels)
{
    struct asked_counter c = { .log = log, .run = run, .levels = levels, .ret = ret };
    *ret = (struct asked_guards){ 0 };
    c.entries = calloc(run->entries.n + 1, sizeof *c.entries);
    bool ok = c.entries && count(&c);
    intern_release(&c.texts);
    intern_release(&c.groups);
    vec_release(&c.leaves);
    vec_release(&c.asks);
    vec_release(&c.seen);
    buf_release(&c.key);
    free(c.entries);
    return ok;
}

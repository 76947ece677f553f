#include "profile/calls/levels/backward_guards.h"

#include "profile/calls/levels/call_levels.h"
#include "trace/events/guards.h"

enum { ASKED_BY_BACKWARD = 1, ASKED_ELSEWHERE = 2 };

/* The most frames of a stack that are searched, and the most entries that are looked at, and tried,
 * for a call. */
enum { MOST_FRAMES = 512, MOST_LOOKED_AT = 4096, MOST_TRIED = 8 };

static bool in_backward(const struct trace *trace, uint32_t recording, const struct guard *guard)
{
    stack_id stack = guard->stack;
    for (int i = 0; stack && i < MOST_FRAMES; i++, stack = stack_parent(trace, stack)) {
        struct str function = stack_frame(trace, recording, stack).function;
        if (str_is(function, "trace_backward_graph") || str_is(function, "_engine_run_backward"))
            return true;
    }
    return false;
}

/* ":11 in backward" */
static void put_place(struct frame frame, struct buf *key)
{
    buf_printf(key, ":%u in %.*s", frame.line, STR_ARG(frame.function));
}

/* Numbers a place; the key has the compile before it. Returns false when memory ran out. */
static bool add_place(struct backward_guards *b, struct str key, uint8_t asker)
{
    uint32_t id = intern(&b->places, key);
    if (id == INTERN_NONE || (id == b->askers.n && !vec_push(&b->askers, 0)))
        return false;
    b->askers.v[id] |= asker;
    return true;
}

/* Reads where each guard was asked: the user's line, if there is one, and the framework's, as the
 * comment of a leaf names them (SLoc in torch/_guards.py). */
static bool read_places(struct backward_guards *b, struct buf *key, struct err *err)
{
    struct trace *trace = b->table->trace;
    const struct guard_list *guards = trace_guards(trace, err);
    if (!guards)
        return false;
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *guard = &guards->guards[i];
        if (guard->kind != GUARD_EVAL || guard->attempt == TRACE_NONE || !guard->asker ||
            trace->attempts[guard->attempt].recording != b->recording)
            continue;
        struct str compile = trace->attempts[guard->attempt].compile;
        bool backward = in_backward(trace, b->recording, guard);
        buf_clear(key);
        buf_counted(key, compile);
        if (guard->user_stack)
            put_place(stack_frame(trace, b->recording, guard->user_stack), key);
        buf_putc(key, '|');
        put_place(stack_frame(trace, b->recording, guard->asker), key);
        if (key->failed ||
            !add_place(b, buf_str(key), backward ? ASKED_BY_BACKWARD : ASKED_ELSEWHERE) ||
            (backward && intern(&b->compiles, compile) == INTERN_NONE))
            return err_nomem(err);
    }
    return true;
}

/* Returns the ":LINE in NAME" that a text ends with, or "". */
static struct str last_place(struct str text)
{
    static const struct str IN = { " in ", 4 };
    size_t at = text.n;
    while (at > 0 && !str_starts(str_from(text, at), IN))
        at--;
    size_t colon = at;
    while (colon > 0 && text.p[colon - 1] >= '0' && text.p[colon - 1] <= '9')
        colon--;
    bool found = colon > 0 && colon < at && text.p[colon - 1] == ':';
    return found ? str_from(text, colon - 1) : STR("");
}

/* "if n > 2:  # train.py:11 in backward (_dynamo/variables/tensor.py:26 in evaluate_expr)": puts
 * the user's line and that of the framework, which stands in the last brackets. */
static void put_comment(struct str comment, struct buf *key)
{
    comment = str_trim(comment);
    size_t open = comment.n;
    while (open > 0 && comment.p[open - 1] != '(')
        open--;
    if (!open || !str_ends(comment, STR(")")))
        return;
    struct str framework = str_from(comment, open);
    buf_put(key, last_place(str_trim(str_first(comment, open - 1))));
    buf_putc(key, '|');
    buf_put(key, last_place(str_first(framework, framework.n - 1)));
}

/* Finds the leaves of an entry that only the backward asks. Returns their number. */
static uint32_t find_leaves(const struct backward_guards *b, struct str compile,
                            const struct entry_guards *guards, struct buf *key, bool *removed)
{
    uint32_t n = 0;
    for (size_t i = 0; i < guards->leaves.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        if (leaf->how != LEAF_CONDITION)
            continue;
        buf_clear(key);
        buf_counted(key, compile);
        put_comment(leaf->comment, key);
        uint32_t id = key->failed ? INTERN_NONE : intern_find(&b->places, buf_str(key));
        removed[i] = id != INTERN_NONE && b->askers.v[id] == ASKED_BY_BACKWARD;
        n += removed[i];
    }
    return n;
}

/* Adds an entry that a look-up compiled, if the backward alone asks some of its guards. */
static bool add_entry(struct backward_guards *b, uint32_t id, uint32_t call)
{
    const struct cache_entry *entry = &b->table->run->entries.v[id];
    struct str compile = entry_compile(entry);
    struct forward_entry forward = { .entry = id };
    struct buf key = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    if (intern_find(&b->compiles, compile) == INTERN_NONE)
        return true;
    if (!calls_enter(b->table, call))
        return false;
    bool ok = entry_guards_read(&forward.guards, entry->tree, &b->table->world,
                                &b->table->log->calls.v[call].mode, &err);
    bool *removed = calloc(forward.guards.leaves.n + 1, 1);
    bool *unguarded = calloc(forward.guards.managers.n + 1, 1);
    ok = ok && removed && unguarded;
    bool any = ok && find_leaves(b, compile, &forward.guards, &key, removed);
    ok = ok && !key.failed &&
         (!any || (entry_guards_remove(&forward.guards, removed, unguarded) &&
                   vec_push(&b->entries, forward)));
    if (!ok || !any)
        entry_guards_release(&forward.guards);
    free(removed);
    free(unguarded);
    buf_release(&key);
    return ok;
}

static bool passes(struct backward_guards *b, struct forward_entry *forward, uint32_t call,
                   bool *ret)
{
    if (!calls_enter(b->table, call))
        return false;
    struct guards_answer answer = entry_guards_check(&forward->guards, &b->table->world,
                                                     &b->table->log->calls.v[call].mode, false);
    *ret = answer.verdict == GUARDS_PASS;
    return !answer.no_memory;
}

/* Looks for an entry whose forward would have answered a call that compiled. */
static bool find_forward(struct backward_guards *b, const struct lookup_row *row, uint32_t *ret)
{
    const struct cache_entry *entries = b->table->run->entries.v;
    const struct cache_entry *made = &entries[row->answered];
    *ret = CALL_NONE;
    size_t end = b->entries.n > MOST_LOOKED_AT ? b->entries.n - MOST_LOOKED_AT : 0;
    for (size_t i = b->entries.n, tried = 0; i-- > end && tried < MOST_TRIED;) {
        const struct cache_entry *entry = &entries[b->entries.v[i].entry];
        bool pass = false;
        if (entry->code != made->code || entry->region != made->region)
            continue;
        tried++;
        if (!passes(b, &b->entries.v[i], row->call, &pass))
            return false;
        if (!pass)
            continue;
        *ret = (uint32_t)i;
        return true;
    }
    return true;
}

bool backward_guards_forward(struct backward_guards *b, uint32_t lookup, uint32_t *ret)
{
    const struct lookup_row *row = &b->table->run->lookups.v[lookup];
    bool pass = false;
    *ret = row->answered;
    if (!b->compiles.texts.n)
        return true;
    if (row->outcome == LOOKUP_COMPILED) {
        uint32_t *forward = &b->forward_of[row->answered];
        if (!find_forward(b, row, forward))
            return false;
        if (*forward == CALL_NONE)
            return add_entry(b, row->answered, row->call);
    }
    uint32_t forward = b->forward_of[row->answered];
    if (forward == CALL_NONE)
        return true;
    if (!passes(b, &b->entries.v[forward], row->call, &pass))
        return false;
    *ret = pass ? b->entries.v[forward].entry : row->answered;
    return true;
}

bool backward_guards_make(struct backward_guards *b, struct calls_table *table, uint32_t recording,
                          struct err *err)
{
    struct buf key = BUF_INIT;
    size_t n = table->run->entries.n;
    *b = (struct backward_guards){ .table = table, .recording = recording };
    b->forward_of = malloc((n + 1) * sizeof *b->forward_of);
    if (!b->forward_of)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        b->forward_of[i] = CALL_NONE;
    bool ok = read_places(b, &key, err);
    buf_release(&key);
    return ok;
}

void backward_guards_release(struct backward_guards *b)
{
    intern_release(&b->compiles);
    intern_release(&b->places);
    vec_release(&b->askers);
    for (size_t i = 0; i < b->entries.n; i++)
        entry_guards_release(&b->entries.v[i].guards);
    vec_release(&b->entries);
    free(b->forward_of);
}

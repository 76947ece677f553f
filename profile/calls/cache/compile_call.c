#include "profile/calls/cache/cache_builder.h"

/* The most trees that are read beside those of the tape's compiles in their order, and the most
 * conditions that are evaluated in place of reading one. */
enum { MOST_TRIES = 20000, MOST_REJECTS = 1 << 25 };

static bool gave_up(const struct cache_builder *b)
{
    return b->tries >= MOST_TRIES || b->rejects >= MOST_REJECTS;
}

/* Returns which limit refuses one more entry, or NULL. */
static const char *limit_reached(struct cache_builder *b, const struct cache_code *code,
                                 int64_t region)
{
    uint64_t same = 0;
    if (code->order.n >= b->run->limits.accumulated)
        return "accumulated_recompile_limit";
    for (size_t i = 0; i < code->order.n; i++) {
        const struct cache_entry *entry = &b->run->entries.v[code->order.v[i]];
        same += entry->region == region && entry_guards_same_objects(&entry->guards, &b->world);
    }
    return same >= b->run->limits.recompile ? "recompile_limit" : NULL;
}

bool cache_is_what_if(const struct cache_builder *b)
{
    return b->options->what_if || b->options->limits.recompile || b->options->limits.accumulated;
}

/* Returns which limit refuses a compile, or NULL. Unless other limits or calls are given, what the
 * tape says of the compile decides: torch.compile(recompile_limit=) sets limits of a function
 * alone. */
static const char *refusal(struct cache_builder *b, const struct cache_code *code,
                           const struct tape_compile *compile, int64_t region)
{
    if (!compile || cache_is_what_if(b))
        return limit_reached(b, code, region);
    if (!compile->refused)
        return NULL;
    return code->order.n >= b->run->limits.accumulated ? "accumulated_recompile_limit"
                                                       : "recompile_limit";
}

/* Calls differ in kind if they differ in an object that the guards compare. */
static bool watch_objects(struct cache_builder *b, const struct entry_guards *guards)
{
    for (size_t i = 0; i < guards->identities.n; i++)
        if (!check_memo_watch(&b->memo, guards->leaves.v[guards->identities.v[i]].then.object))
            return err_nomem(b->err);
    return true;
}

static bool add_entry(struct cache_builder *b, struct cache_entry *entry,
                      const struct program_call *call, struct lookup_row *row)
{
    struct cache_code *code = &b->run->codes.v[row->code];
    uint32_t id = (uint32_t)b->run->entries.n;
    entry->code = row->code;
    entry->ordinal = (uint32_t)code->order.n;
    entry->region = call->region;
    entry->backend = call->backend;
    if (!vec_push(&b->run->entries, *entry)) {
        entry_guards_release(&entry->guards);
        return err_nomem(b->err);
    }
    if (!vec_push(&code->order, id))
        return err_nomem(b->err);
    cache_move_to_front(code, id);
    row->outcome = LOOKUP_COMPILED;
    row->answered = id;
    row->compile = entry->compile;
    row->seconds = entry->seconds;
    return watch_objects(b, &entry->guards) &&
           ((entry_guards_index(&b->run->entries.v[id].guards) &&
             entry_guards_learn(&b->run->entries.v[id].guards, &b->world)) ||
            err_nomem(b->err));
}

/* An attribute that the call does not list may be another than the entries before say. */
static bool is_assumed(const struct world *world, uint32_t source)
{
    return source != INTERN_NONE && world_of_module(world, source) &&
           world->given.v[source] != world->now;
}

/* Writes the condition on a size or stride by which a TENSOR_MATCH failed. */
static void put_dim_condition(const struct entry_guards *guards, const struct guard_leaf *leaf,
                              uint32_t dim, struct buf *out)
{
    const struct tensor_check *check = &guards->tensors.v[leaf->tensor];
    int64_t expected = guards->dims.v[check->first + dim];
    bool stride = dim >= check->n_sizes;
    if (expected == SYMBOL_SIZE)
        buf_puts(out, "2 <= ");
    buf_put(out, check->name);
    buf_printf(out, stride ? ".stride()[%u]" : ".size()[%u]", stride ? dim - check->n_sizes : dim);
    if (expected != SYMBOL_SIZE)
        buf_printf(out, " == %lld", (long long)expected);
}

/* Remembers what a compile demands that a call does not meet, so that later calls that do not meet
 * it either need not read its guards. */
static bool remember_rejection(struct cache_builder *b, const struct entry_guards *guards,
                               const struct guards_answer *answer, condition_id *ret)
{
    struct buf code = BUF_INIT;
    if (answer->leaf == TENSOR_NONE)
        return true;
    const struct guard_leaf *leaf = &guards->leaves.v[answer->leaf];
    if (leaf->tensor != TENSOR_NONE && answer->dim.dim != NO_DIM)
        put_dim_condition(guards, leaf, answer->dim.dim, &code);
    else if (leaf->condition != CONDITION_NONE)
        buf_put(&code, leaf->code);
    struct str text = arena_copy(&b->rejection_texts, buf_str(&code));
    bool ok = !code.failed && text.p &&
              (!text.n || condition_parse(&b->rejections, &b->world, text, ret));
    buf_release(&code);
    return ok || err_nomem(b->err);
}

/* Returns whether the call does not meet what a compile was rejected for before. */
static bool is_rejected(struct cache_builder *b, condition_id condition)
{
    uint32_t missing;
    if (condition == CONDITION_NONE)
        return false;
    b->rejects++;
    return condition_check(&b->rejections, &b->world, condition, &missing) == CONDITION_FAILS;
}

/* Reads the guards of an entry once more, from a text that lives as long as the run. */
static bool keep_tree(struct cache_builder *b, struct cache_entry *entry,
                      const struct tape_compile *compile, const struct program_call *call)
{
    entry_guards_release(&entry->guards);
    entry->guards = (struct entry_guards){ 0 };
    entry->tree = arena_copy(&b->run->arena, compile->tree);
    if ((entry->tree.p || err_nomem(b->err)) &&
        entry_guards_read(&entry->guards, entry->tree, &b->world, &call->mode, b->err))
        return true;
    entry_guards_release(&entry->guards);
    return false;
}

/* Makes an entry of a compile if its guards hold for the call; otherwise *ret is false. */
static bool try_compile(struct cache_builder *b, const struct tape_compile *compile, bool is_next,
                        const struct program_call *call, struct lookup_row *row, bool *ret)
{
    struct code_state *state = &b->choice.states.v[row->code];
    size_t at = (size_t)(compile - b->tape.codes.v[row->code].compiles.v);
    struct cache_entry entry = { .compile = compile->id,
                                 .seconds = compile->seconds,
                                 .lazy_backward = compile->lazy_backward,
                                 .backward_seconds = compile->backward_seconds };
    struct guards_answer answer = { 0 };
    b->tries++;
    bool ok = entry_guards_read(&entry.guards, compile->tree, &b->world, &call->mode, b->err);
    if (ok) {
        answer = entry_guards_check(&entry.guards, &b->world, &call->mode, false);
        ok = !answer.no_memory || err_nomem(b->err);
    }
    *ret =
        ok && (answer.verdict != GUARDS_FAIL || (is_next && is_assumed(&b->world, answer.source)));
    if (*ret)
        return keep_tree(b, &entry, compile, call) && add_entry(b, &entry, call, row);
    ok = ok && remember_rejection(b, &entry.guards, &answer, &state->rejected.v[at]);
    entry_guards_release(&entry.guards);
    return ok;
}

/* Tries the compiles of the tape that were not used yet, from the next on. */
static bool try_compiles(struct cache_builder *b, const struct program_call *call,
                         struct lookup_row *row, bool *ret)
{
    struct code_state *state = &b->choice.states.v[row->code];
    const struct tape_code *code = &b->tape.codes.v[row->code];
    *ret = false;
    for (size_t i = code_unused(state, tape_code_from(code, state->next));
         i < code->compiles.n && !gave_up(b); i = code_unused(state, i + 1)) {
        const struct tape_compile *compile = &code->compiles.v[i];
        bool is_next = compile->number == state->next;
        if (!is_next && is_rejected(b, state->rejected.v[i]))
            continue;
        if (!try_compile(b, compile, is_next, call, row, ret))
            return false;
        if (*ret)
            return code_use(state, i), true;
    }
    return true;
}

/* Sizes and integers that differ become symbols unless the entries show that they do not: two of
 * them have other numbers there. */
static bool is_symbol(void *data, uint32_t source, uint32_t dim, int64_t before)
{
    struct cache_builder *b = data;
    const struct cache_code *code = &b->run->codes.v[b->widened];
    int64_t other;
    for (size_t i = 0; i < code->order.n; i++)
        if (entry_guards_number(&b->run->entries.v[code->order.v[i]].guards, source, dim, &other) &&
            other != before && other != 0 && other != 1 && before != 0 && before != 1)
            return false;
    return true;
}

static bool stays_number(void *data, uint32_t source, uint32_t dim, int64_t before)
{
    (void)data, (void)source, (void)dim, (void)before;
    return false;
}

/* Assumes an entry with the guards of a compile and other sizes. */
static bool assume_from(struct cache_builder *b, struct str compile, struct str tree,
                        const struct size_policy *policy, const struct program_call *call,
                        struct lookup_row *row, bool *ret)
{
    struct cache_entry entry = { .assumed_from = compile };
    struct buf name = BUF_INIT;
    b->tries++;
    buf_printf(&name, "%llu/%llu?", (unsigned long long)b->tape.codes.v[row->code].frame_id,
               (unsigned long long)b->choice.states.v[row->code].next);
    entry.compile = arena_copy(&b->run->arena, buf_str(&name));
    entry.tree = arena_copy(&b->run->arena, tree);
    bool ok = (!name.failed && entry.compile.p && entry.tree.p) || err_nomem(b->err);
    ok = ok && entry_guards_read(&entry.guards, entry.tree, &b->world, &call->mode, b->err) &&
         (entry_guards_widen(&entry.guards, &b->world, &call->mode, policy, ret) ||
          err_nomem(b->err));
    buf_release(&name);
    if (ok && *ret)
        return add_entry(b, &entry, call, row);
    entry_guards_release(&entry.guards);
    return ok;
}

/* Assumes an entry with the guards of one that is there. */
static bool assume_entry(struct cache_builder *b, const struct program_call *call,
                         struct lookup_row *row, bool *ret)
{
    const struct cache_code *code = &b->run->codes.v[row->code];
    const struct size_policy policy = { is_symbol, b };
    *ret = false;
    b->widened = row->code;
    for (size_t i = 0; i < code->order.n && !*ret && b->tries < MOST_TRIES; i++) {
        const struct cache_entry *other = &b->run->entries.v[code->order.v[i]];
        struct str compile = other->assumed_from.n ? other->assumed_from : other->compile;
        if (!assume_from(b, compile, other->tree, &policy, call, row, ret))
            return false;
    }
    return true;
}

/* Finds the compile of a call to a code object that has no entries; in it, all sizes are numbers
 * that the policy does not make symbols from the start, as in the tape's own. */
static bool find_first_compile(struct cache_builder *b, const struct program_call *call,
                               struct lookup_row *row, bool *ret)
{
    const struct size_policy policy = { stays_number, NULL };
    const struct tape_compile *compile = cache_compile_of(b, row->code);
    *ret = false;
    if (!compile || compile->refused || b->tries >= MOST_TRIES)
        return true;
    if (!try_compile(b, compile, true, call, row, ret))
        return false;
    if (!*ret)
        return assume_from(b, compile->id, compile->tree, &policy, call, row, ret);
    code_use(&b->choice.states.v[row->code],
             (size_t)(compile - b->tape.codes.v[row->code].compiles.v));
    return true;
}

/* Finds the compile of a call, and else assumes it. */
static bool find_compile(struct cache_builder *b, const struct program_call *call,
                         struct lookup_row *row)
{
    struct call_kind *kind = &b->memo.kinds.v[b->kind];
    uint32_t n_entries = (uint32_t)b->run->codes.v[row->code].order.n;
    bool found = false;
    if (kind->unknown_entries != n_entries + 1) {
        if (!n_entries && !find_first_compile(b, call, row, &found))
            return false;
        if (!found && !try_compiles(b, call, row, &found))
            return false;
        if (!found && !assume_entry(b, call, row, &found))
            return false;
    }
    if (found)
        return true;
    kind->unknown_entries = n_entries + 1;
    row->outcome = LOOKUP_UNKNOWN;
    row->why = gave_up(b) ? "more compiles than symtape tries" : "the tape has no such compile";
    return true;
}

bool cache_compile_call(struct cache_builder *b, const struct program_call *call,
                        struct lookup_row *row)
{
    struct code_state *state = &b->choice.states.v[row->code];
    struct cache_code *code = &b->run->codes.v[row->code];
    const struct tape_compile *compile = cache_compile_of(b, row->code);
    row->outcome = LOOKUP_EAGER;
    if (state->skipped || region_set_has(&state->run_only, call->region)) {
        row->why = state->skipped ? "skipped since a compile of it ended without an entry"
                                  : "limit reached before";
        return true;
    }
    const char *limit = refusal(b, code, compile, call->region);
    if (limit) {
        row->why = "limit reached";
        row->limit = limit;
        row->n_entries = (uint32_t)code->order.n;
        row->compile = compile ? compile->id : STR("");
        state->next++;
        /* A frame that fails is looked up again. */
        return (compile && compile->failed) || region_set_add(&state->run_only, call->region) ||
               err_nomem(b->err);
    }
    bool ok = true;
    if (compile && !compile->refused && !compile->tree.n) {
        row->compile = compile->id;
        row->seconds = compile->seconds;
        row->outcome = LOOKUP_NO_ENTRY;
        state->skipped = !compile->raised;
        state->next++;
    } else {
        ok = find_compile(b, call, row);
        state->next += row->outcome == LOOKUP_UNKNOWN ||
                       (ok && b->run->entries.v[row->answered].assumed_from.n) ||
                       (compile && compile->refused);
    }
    code_skip_used(&b->tape.codes.v[row->code], state);
    return ok;
}

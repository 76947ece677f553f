#include "profile/calls/cache/cache_run.h"

#include <string.h>

#include "profile/calls/cache/check_memo.h"
#include "profile/calls/cache/code_choice.h"
#include "trace/events/settings.h"

/* torch/_dynamo/config.py: recompile_limit, accumulated_recompile_limit. */
enum { DEFAULT_LIMIT = 8, DEFAULT_ACCUMULATED_LIMIT = 256 };

/* The most trees that are read beside those of the tape's compiles in their order. */
enum { MOST_TRIES = 20000 };

struct cache_builder {
    struct cache_run *run;
    struct trace *trace;
    struct call_log *log;
    const struct cache_options *options;
    struct tape_compiles tape;
    struct code_choice choice;
    vec_of(uint32_t)
    form_codes; /* by form: code object plus 2, 1 for none, or 0 before the first call */
    struct world world;
    bool entered; /* the values of the present call are those of the world */
    struct check_memo memo;
    uint32_t kind;           /* of the present call */
    uint32_t tries, widened; /* number of trees that were read; code object of an assumed entry */
    struct buf reason;
    bool by_evidence; /* a call that an entry answers by assumption compiled, if what the tape's
                         next compile logged fits it */
    struct err *err;
};

const char *lookup_outcome_name(enum lookup_outcome outcome)
{
    static const char *const names[] = { "hit", "compiled", "no entry", "eager", "unknown" };
    return names[outcome];
}

/* ---- Limits ---- */

static void read_limit(struct str value, uint64_t *limit)
{
    uint64_t number;
    if (!*limit && str_to_u64(value, &number))
        *limit = number;
}

static bool read_limits(struct cache_builder *b, uint32_t recording)
{
    struct cache_limits *limits = &b->run->limits;
    struct setting_list *list = settings_read(b->trace, b->err);
    if (!list)
        return false;
    *limits = b->options->limits;
    for (uint32_t i = 0; i < list->n; i++) {
        const struct setting *s = &list->settings[i];
        if (!str_is(s->module, "torch._dynamo.config") ||
            b->trace->records[s->record].recording != recording)
            continue;
        if (str_is(s->name, "recompile_limit"))
            read_limit(s->value, &limits->recompile);
        else if (str_is(s->name, "accumulated_recompile_limit"))
            read_limit(s->value, &limits->accumulated);
    }
    settings_free(list);
    read_limit(STR("8"), &limits->recompile);
    read_limit(STR("256"), &limits->accumulated);
    return true;
}

/* ---- Which code object a function is ---- */

static const struct tape_compile *compile_of(const struct cache_builder *b, uint32_t code)
{
    return tape_code_compile(&b->tape.codes.v[code], b->choice.states.v[code].next);
}

static bool code_of(struct cache_builder *b, const struct program_call *call, uint32_t *ret)
{
    while (b->form_codes.n <= call->form)
        if (!vec_push(&b->form_codes, 0))
            return err_nomem(b->err);
    if (!b->form_codes.v[call->form]) {
        if (!code_choice_make(&b->choice, call, ret))
            return err_nomem(b->err);
        b->form_codes.v[call->form] = *ret == CALL_NONE ? 1 : *ret + 2;
    }
    *ret = b->form_codes.v[call->form] == 1 ? CALL_NONE : b->form_codes.v[call->form] - 2;
    return true;
}

/* ---- Checks ---- */

static bool serves(const struct cache_entry *entry, int64_t region)
{
    return entry->region == region || entry->region < 0;
}

static bool enter(struct cache_builder *b, const struct program_call *call)
{
    if (!b->entered && !world_enter(&b->world, call))
        return err_nomem(b->err);
    b->entered = true;
    return true;
}

static uint32_t row_hash(const struct entry_check_row *row)
{
    uint64_t hash = row->entry * 0x9e3779b97f4a7c15u ^ row->manager * 0xc2b2ae3d27d4eb4fu ^
                    (uintptr_t)row->reason.p * 0x165667b19e3779f9u ^
                    (uintptr_t)row->source.p * 0x27d4eb2f165667c5u ^ (uint64_t)row->verdict << 60;
    return (uint32_t)(hash >> 32 ^ hash);
}

/* Numbers what a check found; its texts were interned, so that equal ones are one. */
static bool number_check(struct cache_run *run, const struct entry_check_row *found, uint32_t *ret)
{
    uint32_t hash = row_hash(found);
    const struct hash_index *index = &run->found_index;
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, ret);) {
        const struct entry_check_row *row = &run->found.v[*ret];
        if (row->entry == found->entry && row->manager == found->manager &&
            row->reason.p == found->reason.p && row->source.p == found->source.p &&
            row->verdict == found->verdict)
            return true;
    }
    *ret = (uint32_t)run->found.n;
    if (!hash_index_reserve(&run->found_index, 1) || !vec_push(&run->found, *found))
        return false;
    hash_index_add(&run->found_index, hash, *ret);
    return true;
}

static bool evaluate(struct cache_builder *b, uint32_t id, const struct program_call *call,
                     uint32_t *ret)
{
    struct cache_entry *entry = &b->run->entries.v[id];
    if (!enter(b, call))
        return false;
    buf_clear(&b->reason);
    struct guards_answer answer =
        entry_guards_check(&entry->guards, &b->world, &call->mode, false, &b->reason);
    struct entry_check_row row = {
        .entry = id,
        .verdict = answer.verdict,
        .reason = STR(""),
        .source = STR(""),
        .manager = answer.manager,
    };
    if (answer.source != INTERN_NONE)
        row.source = intern_text(&b->log->sources, answer.source);
    if (answer.verdict == GUARDS_UNDECIDED)
        row.reason = entry->guards.leaves.v[answer.leaf].code;
    if (answer.verdict == GUARDS_FAIL) {
        uint32_t text = intern(&b->run->texts, str_trim(buf_str(&b->reason)));
        if (text == INTERN_NONE)
            return err_nomem(b->err);
        row.reason = intern_text(&b->run->texts, text);
    }
    return (!b->reason.failed && !answer.no_memory && number_check(b->run, &row, ret)) ||
           err_nomem(b->err);
}

/* Returns the cell of an entry for the present call; NULL if it has none. */
static struct memo_cell *cell_of(struct cache_builder *b, const struct cache_entry *entry)
{
    return b->options->no_memo ? NULL
                               : check_memo_cell(&b->memo, b->kind, entry->ordinal,
                                                 (uint32_t)b->run->codes.v[entry->code].order.n);
}

static bool is_valid(const struct cache_builder *b, const struct memo_cell *cell,
                     const struct cache_entry *entry)
{
    return cell->check != CALL_NONE && cell->facts == b->world.facts.n &&
           (cell->version == entry->guards.version ||
            b->run->found.v[cell->check].verdict == GUARDS_PASS);
}

static bool check_entry(struct cache_builder *b, uint32_t id, const struct program_call *call,
                        bool count, uint32_t *ret)
{
    struct cache_entry *entry = &b->run->entries.v[id];
    struct memo_cell *cell = cell_of(b, entry);
    if (cell && is_valid(b, cell, entry))
        *ret = cell->check;
    else if (!evaluate(b, id, call, ret))
        return false;
    else if (cell)
        *cell = (struct memo_cell){ .check = *ret,
                                    .version = entry->guards.version,
                                    .facts = (uint32_t)b->world.facts.n };
    const struct entry_check_row *row = &b->run->found.v[*ret];
    if (count && row->verdict == GUARDS_FAIL)
        entry_guards_count(&entry->guards, row->manager);
    return true;
}

/* Learns what the guards of the entry that answered say of the module's attributes. */
static bool learn(struct cache_builder *b, uint32_t id, const struct program_call *call)
{
    const struct cache_entry *entry = &b->run->entries.v[id];
    struct memo_cell *cell = cell_of(b, entry);
    if (cell && is_valid(b, cell, entry) && cell->learned)
        return true;
    if (!enter(b, call))
        return false;
    if (!entry_guards_learn(&entry->guards, &b->world))
        return err_nomem(b->err);
    if (cell && is_valid(b, cell, entry))
        cell->learned = true;
    return true;
}

/* Lets a look-up whose checks are those of the last one of its kind share them. */
static void share_checks(struct cache_builder *b, struct lookup_row *row)
{
    struct call_kind *kind = &b->memo.kinds.v[b->kind];
    const uint32_t *checks = b->run->checks.v;
    if (row->n_checks && kind->first_check != CALL_NONE && kind->n_checks == row->n_checks &&
        !memcmp(checks + kind->first_check, checks + row->first_check,
                row->n_checks * sizeof *checks)) {
        b->run->checks.n = row->first_check;
        row->first_check = kind->first_check;
    }
    kind->first_check = row->first_check;
    kind->n_checks = row->n_checks;
}

/* Checks the entries of a list that serve the region: its own first, then those of no region. Sets
 * *answered to the one that passes first, or CALL_NONE. */
static bool look_up(struct cache_builder *b, struct cache_code *code,
                    const struct program_call *call, struct lookup_row *row)
{
    row->first_check = (uint32_t)b->run->checks.n;
    row->answered = CALL_NONE;
    for (int shared = call->region < 0; shared < 2; shared++)
        for (size_t i = 0; i < code->order.n; i++) {
            uint32_t id = code->order.v[i];
            const struct cache_entry *entry = &b->run->entries.v[id];
            uint32_t check = 0;
            bool own = call->region >= 0 && entry->region == call->region;
            if (!serves(entry, call->region) || own == (shared == 1))
                continue;
            bool open = row->answered == CALL_NONE;
            if (!open && !b->options->all_checks && !b->by_evidence)
                break;
            if (!check_entry(b, id, call, open, &check))
                return false;
            if (open && b->run->found.v[check].verdict != GUARDS_FAIL)
                row->answered = id;
            if (!vec_push(&b->run->checks, check))
                return err_nomem(b->err);
            row->n_checks++;
        }
    share_checks(b, row);
    return true;
}

static void move_to_front(struct cache_code *code, uint32_t entry)
{
    size_t at = 0;
    while (at < code->order.n && code->order.v[at] != entry)
        at++;
    for (; at > 0 && at < code->order.n; at--)
        code->order.v[at] = code->order.v[at - 1];
    if (code->order.n)
        code->order.v[0] = entry;
}

/* ---- Compiles ---- */

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

/* Returns whether what happened need not be what the tape says. */
static bool is_what_if(const struct cache_builder *b)
{
    return b->options->what_if || b->options->limits.recompile || b->options->limits.accumulated;
}

/* Returns which limit refuses a compile, or NULL. Unless other limits or calls are given, what the
 * tape says of the compile decides: torch.compile(recompile_limit=) sets limits of a function
 * alone. */
static const char *refusal(struct cache_builder *b, const struct cache_code *code,
                           const struct tape_compile *compile, int64_t region)
{
    if (!compile || is_what_if(b))
        return limit_reached(b, code, region);
    if (!compile->refused)
        return NULL;
    return code->order.n >= b->run->limits.accumulated ? "accumulated_recompile_limit"
                                                       : "recompile_limit";
}

static bool is_run_only(const struct code_state *state, int64_t region)
{
    for (size_t i = 0; i < state->run_only.n; i++)
        if (state->run_only.v[i] == region)
            return true;
    return false;
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
    if (!vec_push(&b->run->entries, *entry)) {
        entry_guards_release(&entry->guards);
        return err_nomem(b->err);
    }
    if (!vec_push(&code->order, id))
        return err_nomem(b->err);
    move_to_front(code, id);
    row->outcome = LOOKUP_COMPILED;
    row->answered = id;
    row->compile = entry->compile;
    row->seconds = entry->seconds;
    return watch_objects(b, &entry->guards) &&
           (entry_guards_learn(&b->run->entries.v[id].guards, &b->world) || err_nomem(b->err));
}

/* An attribute that the call does not list may be another than the entries before say. */
static bool is_assumed(const struct world *world, uint32_t source)
{
    return source != INTERN_NONE && world_of_module(world, source) &&
           world->given.v[source] != world->now;
}

/* Makes an entry of a compile if its guards hold for the call; otherwise *ret is false. */
static bool try_compile(struct cache_builder *b, const struct tape_compile *compile, bool is_next,
                        const struct program_call *call, struct lookup_row *row, bool *ret)
{
    struct cache_entry entry = { .compile = compile->id, .seconds = compile->seconds };
    struct guards_answer answer = { 0 };
    b->tries++;
    entry.tree = arena_copy(&b->run->arena, compile->tree);
    bool ok = (entry.tree.p || err_nomem(b->err)) &&
              entry_guards_read(&entry.guards, entry.tree, &b->world, &call->mode, b->err);
    if (ok) {
        answer = entry_guards_check(&entry.guards, &b->world, &call->mode, false, NULL);
        ok = !answer.no_memory || err_nomem(b->err);
    }
    *ret =
        ok && (answer.verdict != GUARDS_FAIL || (is_next && is_assumed(&b->world, answer.source)));
    if (*ret)
        return add_entry(b, &entry, call, row);
    entry_guards_release(&entry.guards);
    return ok;
}

static bool is_taken(const struct code_state *state, uint64_t number)
{
    for (size_t i = 0; i < state->taken.n; i++)
        if (state->taken.v[i] == number)
            return true;
    return false;
}

/* Tries the compiles of the tape that were not used yet, from the next on. */
static bool try_compiles(struct cache_builder *b, const struct program_call *call,
                         struct lookup_row *row, bool *ret)
{
    struct code_state *state = &b->choice.states.v[row->code];
    const struct tape_code *code = &b->tape.codes.v[row->code];
    *ret = false;
    for (size_t i = 0; i < code->compiles.n && b->tries < MOST_TRIES; i++) {
        const struct tape_compile *compile = &code->compiles.v[i];
        if (compile->number < state->next || compile->refused || !compile->tree.n ||
            is_taken(state, compile->number))
            continue;
        if (!try_compile(b, compile, compile->number == state->next, call, row, ret))
            return false;
        if (*ret)
            return vec_push(&state->taken, compile->number) || err_nomem(b->err);
    }
    return true;
}

static bool has_other_size(const struct entry_guards *guards, struct str tensor, uint32_t dim,
                           int64_t size)
{
    for (size_t i = 0; i < guards->tensors.n; i++) {
        const struct tensor_check *check = &guards->tensors.v[i];
        if (dim >= check->n_sizes || !str_eq(check->name, tensor))
            continue;
        int64_t other = guards->dims.v[check->first + dim];
        return other >= 2 && size >= 2 && other != size;
    }
    return false;
}

static bool has_other_integer(const struct entry_guards *guards, struct str source,
                              const struct intern *sources, int64_t value)
{
    const struct condition *nodes = guards->conditions.nodes.v;
    for (size_t i = 0; i < guards->leaves.n; i++) {
        const struct guard_leaf *leaf = &guards->leaves.v[i];
        if (leaf->how != LEAF_CONDITION || leaf->condition == CONDITION_NONE ||
            leaf->source == INTERN_NONE || nodes[leaf->condition].op != COND_EQUAL ||
            !str_eq(intern_text(sources, leaf->source), source))
            continue;
        const struct condition *right = &nodes[nodes[leaf->condition].second];
        if (nodes[nodes[leaf->condition].first].op == COND_SOURCE && right->op == COND_CONSTANT &&
            right->value.kind == PY_INT)
            return right->value.integer != value && right->value.integer != 0 &&
                   right->value.integer != 1 && value != 0 && value != 1;
    }
    return false;
}

/* Sizes and integers that differ become symbols unless the entries show that they do not: two of
 * them have other numbers there. */
static bool is_symbol(void *data, struct str source, uint32_t dim, int64_t before)
{
    struct cache_builder *b = data;
    const struct cache_code *code = &b->run->codes.v[b->widened];
    for (size_t i = 0; i < code->order.n; i++) {
        const struct entry_guards *guards = &b->run->entries.v[code->order.v[i]].guards;
        if (dim == NO_DIM ? has_other_integer(guards, source, &b->log->sources, before)
                          : has_other_size(guards, source, dim, before))
            return false;
    }
    return true;
}

static bool stays_number(void *data, struct str source, uint32_t dim, int64_t before)
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
    if (ok && *ret) {
        b->run->n_assumed++;
        return add_entry(b, &entry, call, row);
    }
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
    const struct tape_compile *compile = compile_of(b, row->code);
    *ret = false;
    if (!compile || compile->refused || b->tries >= MOST_TRIES)
        return true;
    if (!try_compile(b, compile, true, call, row, ret))
        return false;
    if (!*ret)
        return assume_from(b, compile->id, compile->tree, &policy, call, row, ret);
    return vec_push(&b->choice.states.v[row->code].taken, compile->number) || err_nomem(b->err);
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
    row->why = "the tape has no such compile";
    return true;
}

static bool compile_call(struct cache_builder *b, const struct program_call *call,
                         struct lookup_row *row)
{
    struct code_state *state = &b->choice.states.v[row->code];
    struct cache_code *code = &b->run->codes.v[row->code];
    const struct tape_compile *compile = compile_of(b, row->code);
    row->outcome = LOOKUP_EAGER;
    if (state->skipped || is_run_only(state, call->region)) {
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
        return vec_push(&state->run_only, call->region) || err_nomem(b->err);
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
    while (is_taken(state, state->next))
        state->next++;
    return ok;
}

/* ---- Calls ---- */

static void count(struct cache_run *run, const struct call_log *log, const struct lookup_row *row)
{
    struct lookup_totals *totals = log->calls.v[row->call].inside ? &run->inside : &run->calls;
    totals->lookups++;
    totals->compile_seconds += row->seconds;
    totals->hits += row->outcome == LOOKUP_HIT;
    totals->eager += row->outcome == LOOKUP_EAGER;
    totals->unknown += row->outcome == LOOKUP_UNKNOWN;
    totals->compiles += row->outcome == LOOKUP_COMPILED || row->outcome == LOOKUP_NO_ENTRY;
    if (row->outcome != LOOKUP_HIT)
        return;
    run->entries.v[row->answered].hits++;
    run->saved_seconds += run->entries.v[row->answered].seconds;
}

/* Returns whether what the tape logged for a compile ("0/1: self.n == 4") is what this look-up
 * found: the same entries in the same order, each turned away by the same guard, or by one on a
 * value of which the call says nothing. */
static bool fits(struct cache_builder *b, const struct lookup_row *row,
                 const struct tape_compile *compile)
{
    const struct recompile *why = compile->why;
    if (!why || why->n_reasons != row->n_checks)
        return !why && row->n_checks == 0;
    for (uint32_t i = 0; i < row->n_checks; i++) {
        const struct entry_check_row *check = lookup_check(b->run, row, i);
        const struct cache_entry *entry = &b->run->entries.v[check->entry];
        struct str logged = why->reasons[i].guard;
        if (!str_eq(why->reasons[i].compile, entry->compile))
            return false;
        if (check->verdict == GUARDS_FAIL && str_starts(check->reason, str_trim(logged)))
            continue;
        if (!entry_guards_assumed(&entry->guards, &b->world, logged))
            return false;
    }
    return true;
}

/* Notes the values that, as the tape logged, turned the call away, and that it does not list. */
static bool note_unlisted(struct cache_builder *b, const struct lookup_row *row,
                          const struct tape_compile *compile)
{
    const struct recompile *why = compile->why;
    for (uint32_t i = 0; why && i < why->n_reasons && i < row->n_checks; i++) {
        const struct entry_check_row *check = lookup_check(b->run, row, i);
        const struct cache_entry *entry = &b->run->entries.v[check->entry];
        struct str logged = str_trim(why->reasons[i].guard);
        if (!str_eq(why->reasons[i].compile, entry->compile) ||
            (check->verdict == GUARDS_FAIL && str_starts(check->reason, logged)))
            continue;
        uint32_t source = entry_guards_unlisted(&entry->guards, &b->world, logged);
        if (source != INTERN_NONE &&
            intern(&b->run->unlisted, intern_text(&b->log->sources, source)) == INTERN_NONE)
            return err_nomem(b->err);
    }
    return true;
}

/* Removes the checks behind the entry that answered. */
static void forget_later_checks(const struct cache_run *run, struct lookup_row *row)
{
    uint32_t n = 0;
    while (n < row->n_checks && lookup_check(run, row, n)->entry != row->answered)
        n++;
    row->n_checks = n < row->n_checks ? n + 1 : n;
}

/* Decides whether a call that an entry answers compiled in truth, since a value changed that the
 * call does not list. */
static bool compiled_in_truth(struct cache_builder *b, const struct program_call *call,
                              const struct lookup_row *row, bool *ret)
{
    const struct tape_compile *next = compile_of(b, row->code);
    struct call_kind *kind = &b->memo.kinds.v[b->kind];
    *ret = false;
    if (!b->by_evidence || !next || !next->why ||
        (kind->unfit_check == row->first_check && kind->unfit_compile == next->order))
        return true;
    if (!enter(b, call))
        return false;
    *ret = fits(b, row, next);
    if (!*ret && !b->options->no_memo) {
        kind->unfit_check = row->first_check;
        kind->unfit_compile = next->order;
    }
    return true;
}

/* Looks a call up, and compiles it if no entry answers. */
static bool answer_call(struct cache_builder *b, const struct program_call *call,
                        struct lookup_row *row)
{
    struct cache_code *code = &b->run->codes.v[row->code];
    bool compiled;
    b->entered = false;
    if (!check_memo_meet(&b->memo, call, &b->kind))
        return err_nomem(b->err);
    if (!look_up(b, code, call, row) || !compiled_in_truth(b, call, row, &compiled))
        return false;
    if (row->answered != CALL_NONE && !b->choice.states.v[row->code].skipped && !compiled) {
        row->outcome = LOOKUP_HIT;
        if (!b->options->all_checks)
            forget_later_checks(b->run, row);
        move_to_front(code, row->answered);
        return learn(b, row->answered, call);
    }
    if (!enter(b, call))
        return false;
    const struct tape_compile *next = compile_of(b, row->code);
    b->run->n_contradictions += next && !next->refused && !is_what_if(b) && !fits(b, row, next);
    if (next && !is_what_if(b) && !note_unlisted(b, row, next))
        return false;
    row->answered = CALL_NONE;
    return compile_call(b, call, row);
}

static bool run_call(struct cache_builder *b, uint32_t number)
{
    const struct program_call *call = &b->log->calls.v[number];
    struct lookup_row row = { .call = number, .answered = CALL_NONE };
    if (call->backward_of >= 0)
        return true;
    if (!code_of(b, call, &row.code))
        return false;
    if (row.code == CALL_NONE) {
        row.outcome = LOOKUP_UNKNOWN;
        row.why = "the tape has no compile of it";
    } else if (!answer_call(b, call, &row)) {
        return false;
    }
    count(b->run, b->log, &row);
    return vec_push(&b->run->lookups, row) || err_nomem(b->err);
}

static bool add_codes(struct cache_builder *b)
{
    for (size_t i = 0; i < b->tape.codes.n; i++) {
        const struct tape_code *tape = &b->tape.codes.v[i];
        struct buf name = BUF_INIT;
        put_code_name(tape, &name);
        struct cache_code code = { .name = arena_copy(&b->run->arena, buf_str(&name)),
                                   .line = tape->line };
        /* The parts point into the name: "FILE:LINE:FUNCTION". */
        code.file = str_first(code.name, tape->file.n);
        code.function = str_from(code.name, code.name.n - tape->function.n);
        bool ok = !name.failed && code.name.p && vec_push(&b->run->codes, code);
        buf_release(&name);
        if (!ok)
            return err_nomem(b->err);
    }
    return true;
}

/* Counts the compiles of the called functions that no call asked for. */
static void count_unused(struct cache_builder *b)
{
    for (uint32_t i = 0; i < b->choice.states.n; i++)
        for (size_t k = 0; b->choice.states.v[i].claimed && k < b->tape.codes.v[i].compiles.n; k++)
            b->run->n_unused +=
                b->tape.codes.v[i].compiles.v[k].number >= b->choice.states.v[i].next;
}

static uint32_t count_misfits(const struct cache_run *run)
{
    return run->n_contradictions + run->n_unused + run->calls.unknown;
}

static void forget_states(struct cache_builder *b)
{
    code_choice_release(&b->choice);
    check_memo_release(&b->memo);
    b->memo = (struct check_memo){ 0 };
    b->form_codes.n = 0;
    b->tries = 0;
    world_forget(&b->world);
}

static bool run_calls(struct cache_builder *b, uint32_t recording)
{
    forget_states(b);
    bool ok = read_limits(b, recording) && add_codes(b) &&
              (code_choice_init(&b->choice, &b->tape) || err_nomem(b->err));
    for (uint32_t i = 0; ok && i < b->log->calls.n; i++)
        ok = run_call(b, i);
    if (ok)
        count_unused(b);
    return ok;
}

/* Values may change that the calls do not list. If the tape contradicts the look-ups, they are made
 * once more with what it logged for its compiles as evidence, and the better of both is kept. */
static bool run_with_evidence(struct cache_builder *b, uint32_t recording)
{
    struct cache_run first = *b->run, second = { 0 };
    if (!count_misfits(&first) || is_what_if(b))
        return true;
    *b->run = second;
    b->by_evidence = true;
    bool ok = run_calls(b, recording);
    bool better = ok && count_misfits(b->run) < count_misfits(&first);
    second = *b->run;
    cache_run_release(better ? &first : &second);
    *b->run = better ? second : first;
    return ok;
}

bool cache_run_make(struct cache_run *run, struct trace *trace, uint32_t recording,
                    struct call_log *log, const struct cache_options *options, struct err *err)
{
    struct cache_builder b = { .run = run,
                               .trace = trace,
                               .log = log,
                               .options = options,
                               .world = { .sources = &log->sources },
                               .err = err };
    *run = (struct cache_run){ 0 };
    bool ok = tape_compiles_read(&b.tape, trace, recording, err) &&
              (b.tape.codes.n ||
               err_set(err, ERR_USAGE, "%.*s has no compiles of Dynamo", STR_ARG(trace->path))) &&
              run_calls(&b, recording) && run_with_evidence(&b, recording) &&
              artifact_lookups_read(&run->artifacts, trace, recording, err);
    forget_states(&b);
    vec_release(&b.form_codes);
    buf_release(&b.reason);
    world_release(&b.world);
    tape_compiles_release(&b.tape);
    return ok;
}

void cache_run_release(struct cache_run *run)
{
    for (size_t i = 0; i < run->codes.n; i++)
        vec_release(&run->codes.v[i].order);
    for (size_t i = 0; i < run->entries.n; i++)
        entry_guards_release(&run->entries.v[i].guards);
    vec_release(&run->codes);
    vec_release(&run->entries);
    vec_release(&run->lookups);
    vec_release(&run->found);
    hash_index_release(&run->found_index);
    intern_release(&run->texts);
    artifact_lookups_release(&run->artifacts);
    intern_release(&run->unlisted);
    vec_release(&run->checks);
    arena_release(&run->arena);
}

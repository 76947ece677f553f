#include <string.h>

#include "profile/calls/cache/cache_builder.h"

static bool serves(const struct cache_entry *entry, int64_t region)
{
    return entry->region == region || entry->region < 0;
}

bool cache_enter(struct cache_builder *b, const struct program_call *call)
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

static uint32_t sized_hash(uint32_t entry, const struct guards_answer *answer)
{
    uint64_t hash = entry * 0x9e3779b97f4a7c15u ^ answer->leaf * 0xc2b2ae3d27d4eb4fu ^
                    answer->dim.dim * 0x165667b19e3779f9u ^
                    (uint64_t)answer->dim.actual * 0x27d4eb2f165667c5u;
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

/* Numbers what a check found that is no pass. */
static bool word_failure(struct cache_builder *b, uint32_t id, const struct program_call *call,
                         const struct guards_answer *answer, uint32_t *ret)
{
    struct entry_guards *guards = &b->run->entries.v[id].guards;
    struct entry_check_row row = {
        .entry = id, .verdict = answer->verdict, .source = STR(""), .manager = answer->manager
    };
    if (answer->source != INTERN_NONE)
        row.source = intern_text(&b->log->sources, answer->source);
    if (answer->verdict == GUARDS_UNDECIDED) {
        row.reason = guards->leaves.v[answer->leaf].code;
        return number_check(b->run, &row, ret);
    }
    buf_clear(&b->reason);
    if (!entry_guards_explain(guards, &b->world, &call->mode, answer, &b->reason) ||
        b->reason.failed)
        return false;
    uint32_t text = intern(&b->run->texts, str_trim(buf_str(&b->reason)));
    if (text == INTERN_NONE)
        return false;
    row.reason = intern_text(&b->run->texts, text);
    return number_check(b->run, &row, ret);
}

/* As word_failure(), of a failure by a size or stride. */
static bool word_sized_failure(struct cache_builder *b, uint32_t id,
                               const struct program_call *call, const struct guards_answer *answer,
                               uint32_t *ret)
{
    uint32_t at_row, hash = sized_hash(id, answer);
    for (size_t at = hash_index_start(&b->sized_index, hash);
         hash_index_next(&b->sized_index, hash, &at, &at_row);) {
        const struct sized_check *sized = &b->sized.v[at_row];
        if (sized->entry == id && sized->leaf == answer->leaf &&
            sized->dim.dim == answer->dim.dim && sized->dim.actual == answer->dim.actual) {
            *ret = sized->check;
            return true;
        }
    }
    if (!word_failure(b, id, call, answer, ret))
        return false;
    struct sized_check sized = { id, answer->leaf, answer->dim, *ret };
    if (!hash_index_reserve(&b->sized_index, 1) || !vec_push(&b->sized, sized))
        return false;
    hash_index_add(&b->sized_index, hash, (uint32_t)b->sized.n - 1);
    return true;
}

static bool evaluate(struct cache_builder *b, uint32_t id, const struct program_call *call,
                     uint32_t *ret)
{
    struct cache_entry *entry = &b->run->entries.v[id];
    if (!cache_enter(b, call))
        return false;
    struct guards_answer answer = entry_guards_check(&entry->guards, &b->world, &call->mode, false);
    if (answer.no_memory)
        return err_nomem(b->err);
    bool ok;
    if (answer.verdict == GUARDS_PASS) {
        struct entry_check_row row = { .entry = id,
                                       .verdict = GUARDS_PASS,
                                       .reason = STR(""),
                                       .source = STR(""),
                                       .manager = MANAGER_NONE };
        ok = number_check(b->run, &row, ret);
    } else {
        ok = (answer.dim.dim == NO_DIM ? word_failure : word_sized_failure)(b, id, call, &answer,
                                                                            ret);
    }
    return ok || err_nomem(b->err);
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

bool cache_entry_has_backend(const struct cache_entry *entry, const struct program_call *call)
{
    return !entry->backend.n || !call->backend.n || str_eq(entry->backend, call->backend);
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
    if (!cache_entry_has_backend(entry, call)) {
        struct entry_check_row other = { .entry = id,
                                         .verdict = GUARDS_FAIL,
                                         .reason = STR(BACKEND_MISMATCH),
                                         .source = STR(""),
                                         .manager = MANAGER_NONE };
        return row->verdict == GUARDS_FAIL || number_check(b->run, &other, ret) ||
               err_nomem(b->err);
    }
    if (count && row->verdict == GUARDS_FAIL)
        entry_guards_count(&entry->guards, row->manager);
    return true;
}

bool cache_learn(struct cache_builder *b, uint32_t id, const struct program_call *call)
{
    const struct cache_entry *entry = &b->run->entries.v[id];
    struct memo_cell *cell = cell_of(b, entry);
    if (cell && is_valid(b, cell, entry) && cell->learned)
        return true;
    if (!cache_enter(b, call))
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

bool cache_look_up(struct cache_builder *b, struct cache_code *code,
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

void cache_move_to_front(struct cache_code *code, uint32_t entry)
{
    size_t at = 0;
    while (at < code->order.n && code->order.v[at] != entry)
        at++;
    for (; at > 0 && at < code->order.n; at--)
        code->order.v[at] = code->order.v[at - 1];
    if (code->order.n)
        code->order.v[0] = entry;
}

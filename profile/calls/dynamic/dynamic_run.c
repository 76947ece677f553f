#include "profile/calls/dynamic/dynamic_run.h"

#include <string.h>

#include "profile/calls/dynamic/peers.h"
#include "profile/calls/dynamic/pgo_profile.h"

/* ---- What the rows count ---- */

struct row_builder {
    struct dynamic_run *run;
    struct code_calls *code;
    uint32_t *row_of; /* by slot: in run->rows */
    struct hash_index seen;
    vec_of(uint64_t)
    values; /* of `seen`: slot and value, two elements each */
};

static struct atom atom_of(const struct py_value *value, uint32_t dim)
{
    if (value->kind == PY_TENSOR)
        return (struct atom){ .kind = ATOM_INT, .integer = value->tensor->sizes[dim] };
    return value->kind == PY_INT ? (struct atom){ .kind = ATOM_INT, .integer = value->integer }
                                 : (struct atom){ .kind = ATOM_FLOAT, .real = value->real };
}

/* Counts a value of a row if it is new. Returns false when memory ran out. */
static bool count_value(struct row_builder *b, uint32_t slot, struct atom value)
{
    struct input_row *row = &b->run->rows.v[b->row_of[slot]];
    uint64_t bits = (uint64_t)value.integer;
    if (value.kind == ATOM_FLOAT)
        memcpy(&bits, &value.real, sizeof bits);
    uint32_t id, hash = (uint32_t)((bits ^ slot * 0x9e3779b97f4a7c15u) * 0xff51afd7ed558ccdu >> 32);
    for (size_t at = hash_index_start(&b->seen, hash); hash_index_next(&b->seen, hash, &at, &id);)
        if (b->values.v[2 * id] == slot && b->values.v[2 * id + 1] == bits)
            return true;
    if (!hash_index_reserve(&b->seen, 1) || !vec_push(&b->values, slot) ||
        !vec_push(&b->values, bits))
        return false;
    hash_index_add(&b->seen, hash, (uint32_t)(b->values.n / 2 - 1));
    if (row->n_values < MOST_SEEN)
        row->seen[row->n_values] = value;
    row->n_values++;
    row->zero_one |= !row->number && (uint64_t)value.integer < 2;
    return true;
}

static bool add_rows(struct row_builder *b)
{
    for (uint32_t i = 0; i < b->code->inputs.n; i++)
        for (uint32_t d = 0; d < b->code->inputs.v[i].rank; d++) {
            struct input_row row = { .code = (uint32_t)(b->code - b->run->table.codes.v),
                                     .input = i,
                                     .dim = d,
                                     .change = NO_ENTRY,
                                     .compile = NO_ENTRY };
            b->row_of[b->code->inputs.v[i].first_slot + d] = (uint32_t)b->run->rows.n;
            if (!vec_push(&b->run->rows, row))
                return false;
        }
    return true;
}

static bool count_values(struct row_builder *b)
{
    struct calls_table *table = &b->run->table;
    for (size_t c = 0; c < b->code->classes.n; c++) {
        if (!calls_enter(table, b->code->classes.v[c].call))
            return false;
        for (uint32_t i = 0; i < b->code->inputs.n; i++) {
            const struct code_input *input = &b->code->inputs.v[i];
            const struct py_value *value = input_value(table, input);
            uint32_t n = !value ? 0 : value->kind == PY_TENSOR ? value->tensor->n_dims : 1;
            for (uint32_t d = 0; d < n; d++) {
                struct input_row *row = &b->run->rows.v[b->row_of[input->first_slot + d]];
                row->number |= value->kind != PY_TENSOR;
                row->is_float |= value->kind == PY_FLOAT;
                if (!count_value(b, input->first_slot + d, atom_of(value, d)))
                    return false;
            }
        }
    }
    return true;
}

/* ---- What went dynamic ---- */

static bool is_dynamic(const struct input_row *row, const struct source_state *state)
{
    return state &&
           (row->number ? state->scalar.kind == ATOM_DYNAMIC && state->size.kind == ATOM_DYNAMIC
                        : is_size_dynamic(state, row->dim));
}

static void note_states(struct row_builder *b)
{
    for (uint32_t slot = 0; slot < b->code->n_slots; slot++) {
        struct input_row *row = &b->run->rows.v[b->row_of[slot]];
        uint32_t source = b->code->inputs.v[row->input].source;
        row->dynamic = b->code->settings.automatic &&
                       is_dynamic(row, frame_state_find(&b->code->state, source));
        row->from_profile = is_dynamic(row, frame_state_find(&b->code->initial, source));
    }
}

static void note_change(struct row_builder *b, uint32_t compile, uint32_t number)
{
    const struct state_change *change = &b->code->changes.v[number];
    uint32_t id = code_input_of(b->code, change->source);
    if (id == NO_ENTRY || change->part == CHANGE_STRIDE)
        return;
    const struct code_input *input = &b->code->inputs.v[id];
    for (uint32_t d = 0; d < input->rank; d++) {
        struct input_row *row = &b->run->rows.v[b->row_of[input->first_slot + d]];
        if (row->change == NO_ENTRY && (change->dim == d || change->dim == CHANGE_ALL)) {
            row->change = number;
            row->compile = compile;
        }
    }
}

static void note_constants(struct row_builder *b, const struct known_entry *entry)
{
    for (size_t i = 0; i < entry->inputs.n; i++) {
        const struct known_input *input = &entry->inputs.v[i];
        for (uint32_t d = 0; d < input->n; d++) {
            uint32_t slot = b->code->inputs.v[input->input].first_slot + d;
            b->run->rows.v[b->row_of[slot]].constant |=
                is_made_constant(input, &entry->dims.v[input->first + d]);
        }
    }
}

/* ---- What that caused and spared ---- */

/* "tensor 'x' size mismatch at index 1. ...", "x.size()[1] == 4": 1. Of a number, 0. */
static uint32_t dim_of_reason(struct str reason)
{
    static const struct str INDEX = { "at index ", 9 }, SIZE = { ".size()[", 8 };
    size_t index = str_find(reason, INDEX), size = str_find(reason, SIZE);
    struct str rest = index < reason.n  ? str_from(reason, index + INDEX.n)
                      : size < reason.n ? str_from(reason, size + SIZE.n)
                                        : STR("");
    uint64_t dim = 0;
    str_to_u64(str_first(rest, str_digits(rest)), &dim);
    return dim < MOST_RANK ? (uint32_t)dim : MOST_RANK;
}

static void count_cause(struct row_builder *b, const struct lookup_row *lookup)
{
    const struct entry_check_row *check =
        lookup->n_checks ? lookup_check(&b->run->cache, lookup, 0) : NULL;
    if (!check || check->verdict != GUARDS_FAIL || str_contains(check->reason, STR(" stride mis")))
        return;
    uint32_t source = intern_find(&b->run->table.log->sources, check->source);
    uint32_t id = source == INTERN_NONE ? NO_ENTRY : code_input_of(b->code, source);
    uint32_t dim = dim_of_reason(check->reason);
    if (id != NO_ENTRY && dim < b->code->inputs.v[id].rank)
        b->run->rows.v[b->row_of[b->code->inputs.v[id].first_slot + dim]].caused++;
}

/* A hit at another value than that of the compile would have compiled, had it been a constant. */
static bool count_served(struct row_builder *b, const struct lookup_row *lookup)
{
    struct calls_table *table = &b->run->table;
    const struct known_entry *entry = known_entry_of(b->code, lookup->answered);
    if (!entry || !entry->any_symbol)
        return true;
    const struct program_call *compiled = &table->log->calls.v[entry->call];
    if (!calls_enter(table, lookup->call))
        return false;
    for (uint32_t i = 0; i < compiled->n_values; i++) {
        const struct call_value *then = &compiled->values[i];
        uint32_t id = code_input_of(b->code, then->source);
        const struct known_input *known = id == NO_ENTRY ? NULL : known_input_of(entry, id);
        const struct py_value *now = known ? input_value(table, &b->code->inputs.v[id]) : NULL;
        if (!now || now->kind != known->kind || then->value.kind != known->kind)
            continue;
        for (uint32_t d = 0; d < known->n; d++)
            b->run->rows.v[b->row_of[b->code->inputs.v[id].first_slot + d]].served +=
                entry->dims.v[known->first + d].size == ANY_SIZE &&
                !atom_equal(atom_of(&then->value, d), atom_of(now, d));
    }
    return true;
}

static bool count_lookups(struct row_builder *b)
{
    for (size_t i = 0; i < b->code->calls.n; i++) {
        const struct lookup_row *lookup = &b->run->cache.lookups.v[b->code->calls.v[i].lookup];
        if (lookup->outcome == LOOKUP_COMPILED || lookup->outcome == LOOKUP_NO_ENTRY)
            count_cause(b, lookup);
        else if (lookup->outcome == LOOKUP_HIT && !count_served(b, lookup))
            return false;
    }
    return true;
}

static bool make_rows(struct dynamic_run *run, struct code_calls *code)
{
    struct row_builder b = { .run = run, .code = code };
    b.row_of = calloc(code->n_slots + 1, sizeof *b.row_of);
    bool ok = b.row_of && add_rows(&b) && count_values(&b);
    if (ok) {
        note_states(&b);
        for (size_t i = 0; i < code->compiles.n; i++)
            for (uint32_t k = 0; k < code->compiles.v[i].n_changes; k++)
                note_change(&b, (uint32_t)i, code->compiles.v[i].first_change + k);
        for (size_t i = 0; i < code->entries.n; i++)
            note_constants(&b, &code->entries.v[i]);
        ok = count_lookups(&b);
    }
    free(b.row_of);
    vec_release(&b.values);
    hash_index_release(&b.seen);
    return ok;
}

/* ---- Policies ---- */

const char *dynamic_run_meaning(const struct dynamic_run *run, enum calls_policy policy)
{
    return policy == CALLS_MARKED && run->given ? "torch.compile() with the marks that were given"
                                                : calls_policy_meaning(policy);
}

bool dynamic_run_is_bound(const struct dynamic_run *run)
{
    return run->cache.inside.lookups > 0;
}

static void count_recorded(const struct lookup_row *row, struct policy_counts *sum)
{
    const struct policy_counts one = {
        .lookups = 1,
        .hits = row->outcome == LOOKUP_HIT,
        .compiles = row->outcome == LOOKUP_COMPILED || row->outcome == LOOKUP_NO_ENTRY,
        .eager = row->outcome == LOOKUP_EAGER,
        .refused = row->limit != NULL,
        .unknown = row->outcome == LOOKUP_UNKNOWN,
        .checks = row->n_checks,
        .seconds = row->seconds,
    };
    policy_counts_add(sum, &one);
}

static struct policy_counts recorded_of(const struct dynamic_run *run,
                                        const struct code_calls *code)
{
    struct policy_counts ret = { 0 };
    for (size_t i = 0; i < code->calls.n; i++)
        count_recorded(&run->cache.lookups.v[code->calls.v[i].lookup], &ret);
    return ret;
}

static bool choose_marks(struct dynamic_run *run, struct code_calls *code, const uint8_t *varies,
                         const struct policy_counts *least, struct proposal *proposal)
{
    if (!run->given)
        return propose_marks(&run->table, code, run->answers[CALLS_MARKED], varies, least,
                             proposal);
    proposal->marks = calloc(code->n_slots + 1, 1);
    if (!proposal->marks)
        return false;
    proposal->n_marks = given_marks_take(&run->given_marks, code, proposal->marks);
    return true;
}

static bool run_policies(struct dynamic_run *run, struct code_calls *code, uint32_t number,
                         const uint8_t *varies, const struct dynamic_options *options)
{
    struct proposal *proposal = &run->proposals[number];
    struct policy_counts automatic = { 0 };
    for (int i = 0; i < CALLS_COUNT; i++) {
        const struct policy_options how = { .policy = (enum calls_policy)i,
                                            .bail_outs = options->bail_outs,
                                            .before = run->answers[i] };
        struct policy_counts counts;
        if (i == CALLS_MARKED)
            continue;
        if (!policy_run(&run->table, code, &how, &counts, run->answers[i]))
            return false;
        policy_counts_add(&run->policies[i], &counts);
        if (i == CALLS_AUTOMATIC)
            automatic = counts;
    }
    struct policy_counts recorded = recorded_of(run, code);
    const struct policy_counts least =
        policy_counts_fewer(&automatic, &recorded) ? automatic : recorded;
    bool ok = choose_marks(run, code, varies, &least, proposal);
    proposal->automatic = automatic;
    const struct policy_options how = { .policy = CALLS_MARKED,
                                        .marks = proposal->marks,
                                        .before = run->answers[CALLS_MARKED] };
    if (!ok || !policy_run(&run->table, code, &how, &proposal->with, run->answers[CALLS_MARKED]))
        return false;
    policy_counts_add(&run->policies[CALLS_MARKED], &proposal->with);
    run->n_marks += proposal->n_marks;
    run->minimal &= proposal->minimal;
    return true;
}

static bool run_code(struct dynamic_run *run, uint32_t number,
                     const struct dynamic_options *options)
{
    struct code_calls *code = &run->table.codes.v[number];
    size_t first = run->rows.n;
    uint8_t *varies = calloc(code->n_slots + 1, 1);
    bool ok = varies && make_rows(run, code);
    for (size_t i = first; ok && i < run->rows.n; i++) {
        const struct input_row *row = &run->rows.v[i];
        varies[code->inputs.v[row->input].first_slot + row->dim] =
            row->n_values > 1 && !row->is_float; /* no statement marks a float */
    }
    ok = ok && run_policies(run, code, number, varies, options);
    for (size_t i = first; ok && i < run->rows.n; i++) {
        struct input_row *row = &run->rows.v[i];
        const uint8_t *marks = run->proposals[number].marks;
        row->proposed = marks && marks[code->inputs.v[row->input].first_slot + row->dim];
    }
    free(varies);
    return ok;
}

/* Every check costs what the guards of its entry do. */
static bool count_guard_time(struct dynamic_run *run)
{
    double *seconds = calloc(run->cache.entries.n + 1, sizeof *seconds);
    if (!seconds)
        return false;
    for (size_t i = 0; i < run->table.codes.n; i++)
        for (size_t k = 0; k < run->table.codes.v[i].entries.n; k++) {
            const struct known_entry *entry = &run->table.codes.v[i].entries.v[k];
            seconds[entry->id] = entry->guard_seconds;
        }
    for (size_t i = 0; i < run->cache.lookups.n; i++) {
        const struct lookup_row *row = &run->cache.lookups.v[i];
        for (uint32_t k = 0; k < row->n_checks; k++)
            run->recorded.guard_seconds += seconds[lookup_check(&run->cache, row, k)->entry];
    }
    free(seconds);
    return true;
}

bool release_is(struct str release, unsigned major, unsigned minor)
{
    uint64_t x = 0, y = 0;
    size_t dot = str_find_char(release, '.');
    struct str rest = str_from(release, dot + 1);
    if (!str_to_u64(str_first(release, dot), &x) ||
        !str_to_u64(str_first(rest, str_digits(rest)), &y))
        return false;
    return x > major || (x == major && y >= minor);
}

bool dynamic_run_make(struct dynamic_run *run, struct trace *trace, uint32_t recording,
                      struct call_log *log, const struct dynamic_options *options, struct err *err)
{
    const struct cache_options recorded = { 0 };
    *run = (struct dynamic_run){ .minimal = true,
                                 .release = trace->recordings[recording].torch_version };
    if (!cache_run_make(&run->cache, trace, recording, log, &recorded, err) ||
        !calls_table_make(&run->table, trace, recording, log, &run->cache, err) ||
        !pgo_profile_read(&run->table, recording, &run->profile, err))
        return false;
    run->given = options->marks != NULL;
    if (run->given && !given_marks_read(&run->given_marks, options->marks, &log->sources, err))
        return false;
    run->proposals = calloc(run->table.codes.n + 1, sizeof *run->proposals);
    bool ok = run->proposals != NULL;
    for (int i = 0; i < CALLS_COUNT; i++)
        ok = (run->answers[i] = calloc(run->cache.lookups.n + 1, 1)) && ok;
    for (size_t i = 0; i < run->cache.lookups.n; i++)
        count_recorded(&run->cache.lookups.v[i], &run->recorded);
    for (size_t i = 0; i < run->cache.codes.n; i++)
        run->recorded.entries += run->cache.codes.v[i].order.n;
    ok = ok && count_guard_time(run);
    for (uint32_t i = 0; ok && i < run->table.codes.n; i++)
        ok = (!is_first_peer(&run->table, &run->table.codes.v[i]) ||
              code_states_make(&run->table, &run->table.codes.v[i])) &&
             run_code(run, i, options);
    ok = ok && paste_make(run, &run->paste);
    return ok ? given_marks_check(&run->given_marks, &run->table, err) : err_nomem(err);
}

void dynamic_run_release(struct dynamic_run *run)
{
    for (size_t i = 0; run->proposals && i < run->table.codes.n; i++)
        proposal_release(&run->proposals[i]);
    free(run->proposals);
    for (int i = 0; i < CALLS_COUNT; i++)
        free(run->answers[i]);
    vec_release(&run->rows);
    given_marks_release(&run->given_marks);
    paste_release(&run->paste);
    calls_table_release(&run->table);
    cache_run_release(&run->cache);
}

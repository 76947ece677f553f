#include "profile/calls/levels/derived_sizes.h"

#include <string.h>

/* A look-up behind the first of its group; of those with the same values, one. */
struct later_look {
    uint32_t first, class, lookup;
};

/* What is known of a slot under the present entry of the first level. */
struct slot_values {
    uint32_t stamp; /* the number of that entry, from 1 */
    bool varies, fixed;
    uint64_t bits; /* of its first value */
};

struct derived_finder {
    struct derived_sizes *derived;
    const struct code_calls *code;
    vec_of(struct later_look)
    looks;
    struct slot_values *slots;
    uint32_t *given; /* by source: 1 + its place among the values of the group's first call */
};

static int compare_looks(const void *a, const void *b)
{
    const struct later_look *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->class != y->class)
        return x->class < y->class ? -1 : 1;
    return x->lookup < y->lookup ? -1 : x->lookup > y->lookup;
}

/* Returns the first look-up of a group that a look-up belongs to and does not begin. */
static uint32_t group_of_later(const struct call_levels *levels, uint32_t lookup)
{
    uint32_t group = levels->looks.v[lookup].group;
    return group == lookup ? CALL_NONE : group;
}

static bool collect(struct derived_finder *f)
{
    const struct cache_run *run = f->derived->table->run;
    for (size_t i = 0; i < f->code->calls.n; i++) {
        const struct code_call *call = &f->code->calls.v[i];
        uint32_t group = group_of_later(f->derived->levels, call->lookup);
        if (group == CALL_NONE)
            continue;
        const struct later_look look = { run->lookups.v[group].answered, call->class,
                                         call->lookup };
        if (!vec_push(&f->looks, look))
            return false;
    }
    if (f->looks.n)
        qsort(f->looks.v, f->looks.n, sizeof *f->looks.v, compare_looks);
    return true;
}

/* L['x'], L['xs'][0]; an attribute is none of the values that a frame has of earlier levels. */
static bool is_local(struct str source)
{
    return str_starts(source, STR("L[")) && str_find_char(source, '.') == source.n;
}

/* Returns the entry that answers the first look-up of a group, taken apart; NULL if it is not. */
static const struct known_entry *first_entry(const struct derived_finder *f,
                                             const struct lookup_row *row,
                                             const struct code_calls **code)
{
    uint32_t number = f->derived->table_codes[row->code];
    *code = number == NO_ENTRY ? NULL : &f->derived->table->codes.v[number];
    return *code ? known_entry_of(*code, row->answered) : NULL;
}

/* Returns whether the first level has a dimension or number as a symbol. */
static bool is_symbol_there(const struct known_entry *entry, const struct code_calls *code,
                            uint32_t source, uint32_t dim)
{
    uint32_t input = entry ? code_input_of(code, source) : NO_ENTRY;
    const struct known_input *known = input == NO_ENTRY ? NULL : known_input_of(entry, input);
    return known && dim < known->n && entry->dims.v[known->first + dim].size == ANY_SIZE;
}

static uint64_t bits_of(const struct py_value *value, uint32_t dim)
{
    uint64_t bits =
        value->kind == PY_TENSOR ? (uint64_t)value->tensor->sizes[dim] : (uint64_t)value->integer;
    if (value->kind == PY_FLOAT)
        memcpy(&bits, &value->real, sizeof bits);
    return bits;
}

/* Returns whether a value is an argument of the group's first call, passed on. */
static bool is_passed_on(const struct derived_finder *f, const struct program_call *first,
                         uint32_t source, const struct py_value *value)
{
    if (!f->given[source])
        return false;
    struct py_value there = program_call_value(first, f->given[source] - 1);
    return (value->kind != PY_TENSOR || value->object != OBJECT_NONE) && py_equal(&there, value);
}

/* Compares the value of an input with those before; a slot that varies is added once. */
static bool see_input(struct derived_finder *f, uint32_t group, const struct code_input *input,
                      uint32_t stamp)
{
    struct calls_table *table = f->derived->table;
    const struct lookup_row *row = &table->run->lookups.v[group];
    const struct py_value *value = input_value(table, input);
    const struct code_calls *code;
    const struct known_entry *entry = first_entry(f, row, &code);
    if (!value)
        return true;
    bool passed_on = is_passed_on(f, &table->log->calls.v[row->call], input->source, value);
    uint32_t n = value->kind == PY_TENSOR ? value->tensor->n_dims : 1;
    for (uint32_t d = 0; d < n; d++) {
        struct slot_values *slot = &f->slots[input->first_slot + d];
        uint64_t bits = bits_of(value, d);
        if (slot->stamp != stamp)
            *slot = (struct slot_values){ .stamp = stamp, .bits = bits };
        slot->fixed |= passed_on && !is_symbol_there(entry, code, input->source, d);
        if (slot->varies || slot->bits == bits)
            continue;
        const struct derived_slot found = { row->answered, input->first_slot + d };
        slot->varies = true;
        if (!vec_push(&f->derived->slots, found))
            return false;
    }
    return true;
}

/* Compares the values of a look-up with those that were seen under the same entry. */
static bool see(struct derived_finder *f, const struct later_look *look, uint32_t stamp)
{
    struct calls_table *table = f->derived->table;
    uint32_t group = f->derived->levels->looks.v[look->lookup].group;
    const struct program_call *first = &table->log->calls.v[table->run->lookups.v[group].call];
    if (!calls_enter(table, table->run->lookups.v[look->lookup].call))
        return false;
    for (uint32_t i = 0; i < first->n_values; i++)
        f->given[first->values[i].source] = i + 1;
    bool ok = true;
    for (size_t i = 0; ok && i < f->code->inputs.n; i++) {
        const struct code_input *input = &f->code->inputs.v[i];
        if (!input->fixed && is_local(intern_text(&table->log->sources, input->source)))
            ok = see_input(f, group, input, stamp);
    }
    for (uint32_t i = 0; i < first->n_values; i++)
        f->given[first->values[i].source] = 0;
    return ok;
}

/* Removes slots that an argument which is passed on has, from `from` on. */
static void leave_fixed_out(struct derived_finder *f, size_t from)
{
    size_t n = from;
    for (size_t i = from; i < f->derived->slots.n; i++)
        if (!f->slots[f->derived->slots.v[i].slot].fixed)
            f->derived->slots.v[n++] = f->derived->slots.v[i];
    f->derived->slots.n = n;
}

static bool find(struct derived_finder *f)
{
    const struct later_look *looks = f->looks.v;
    uint32_t stamp = 0;
    for (size_t i = 0, end; i < f->looks.n; i = end) {
        size_t from = f->derived->slots.n;
        stamp++;
        for (end = i; end < f->looks.n && looks[end].first == looks[i].first; end++)
            if ((end == i || looks[end].class != looks[end - 1].class) &&
                !see(f, &looks[end], stamp))
                return false;
        leave_fixed_out(f, from);
    }
    return true;
}

bool derived_sizes_find(struct derived_sizes *derived, const struct code_calls *code)
{
    struct derived_finder f = { .derived = derived, .code = code };
    derived->slots.n = 0;
    derived->n_slots = code->n_slots;
    free(derived->marks);
    derived->marks = calloc(code->n_slots + 1, 1);
    f.slots = calloc(code->n_slots + 1, sizeof *f.slots);
    f.given = calloc(derived->table->log->sources.texts.n + 1, sizeof *f.given);
    bool ok = derived->marks && f.slots && f.given && collect(&f) && find(&f);
    vec_release(&f.looks);
    free(f.slots);
    free(f.given);
    return ok;
}

const uint8_t *derived_sizes_marks(void *data, uint32_t lookup)
{
    struct derived_sizes *derived = data;
    uint32_t group = group_of_later(derived->levels, lookup);
    memset(derived->marks, 0, derived->n_slots);
    if (group == CALL_NONE)
        return derived->marks;
    uint32_t first = derived->table->run->lookups.v[group].answered;
    size_t low = 0, high = derived->slots.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (derived->slots.v[middle].first < first)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < derived->slots.n && derived->slots.v[low].first == first; low++)
        derived->marks[derived->slots.v[low].slot] = 1;
    return derived->marks;
}

void derived_sizes_release(struct derived_sizes *derived)
{
    vec_release(&derived->slots);
    free(derived->marks);
}

/* Takes what the guards of a code object's entries say of sizes and numbers out of them. */
#include "profile/calls/dynamic/peers.h"

enum { MOST_DEPTH = 64 };

struct inputs_maker {
    struct calls_table *table;
    struct code_calls *code;
    struct hash_index guarded;      /* sources that guards name; rows are sources */
    struct known_entry *entry;      /* the one that is taken apart */
    const struct py_value **values; /* by input, of the call that compiled it; NULL: not given */
    bool *names;                    /* by input: a guard of this entry names it */
    bool mentions_size, mentions_number;
};

/* ---- Inputs ---- */

static bool add_guarded(struct inputs_maker *m, uint32_t source)
{
    uint32_t row, hash = source_hash(source);
    if (source == INTERN_NONE)
        return true;
    for (size_t at = hash_index_start(&m->guarded, hash);
         hash_index_next(&m->guarded, hash, &at, &row);)
        if (row == source)
            return true;
    if (!hash_index_reserve(&m->guarded, 1))
        return false;
    hash_index_add(&m->guarded, hash, source);
    return true;
}

static bool is_guarded(const struct inputs_maker *m, uint32_t source)
{
    uint32_t row, hash = source_hash(source);
    for (size_t at = hash_index_start(&m->guarded, hash);
         hash_index_next(&m->guarded, hash, &at, &row);)
        if (row == source)
            return true;
    return false;
}

/* Dynamo wraps what its guards name: an argument that nothing reads has none. */
static bool find_guarded(struct inputs_maker *m)
{
    for (size_t i = 0; i < m->code->entries.n; i++) {
        const struct entry_guards *g = &m->code->entries.v[i].guards;
        for (size_t k = 0; k < g->leaves.n; k++) {
            const struct guard_leaf *leaf = &g->leaves.v[k];
            bool names = leaf->how == LEAF_TENSOR || leaf->how == LEAF_TYPE ||
                         (leaf->how == LEAF_CONDITION && str_is(leaf->kind, "EQUALS_MATCH"));
            if (names && !add_guarded(m, leaf->source))
                return false;
        }
        for (size_t k = 0; k < g->conditions.nodes.n; k++) {
            const struct condition *node = &g->conditions.nodes.v[k];
            if (node->op == COND_SIZE && !add_guarded(m, node->source))
                return false;
        }
    }
    return true;
}

static bool add_input(struct inputs_maker *m, const struct program_call *call,
                      const struct call_value *given)
{
    const struct py_value *value = &given->value;
    uint32_t id = code_input_of(m->code, given->source);
    bool tensor = value->kind == PY_TENSOR;
    if ((!tensor && value->kind != PY_INT && value->kind != PY_FLOAT) ||
        !is_guarded(m, given->source))
        return true;
    if (id == NO_ENTRY) {
        struct str name = intern_text(&m->table->log->sources, given->source);
        bool of_module = call->module >= 0 && str_starts(name, STR("L['self']"));
        struct code_input input = { .source = given->source,
                                    .fixed = is_fixed_input(name, value, of_module) };
        if (!hash_index_reserve(&m->code->input_index, 1) || !vec_push(&m->code->inputs, input))
            return false;
        id = (uint32_t)m->code->inputs.n - 1;
        hash_index_add(&m->code->input_index, source_hash(given->source), id);
    }
    uint32_t rank = tensor ? value->tensor->n_dims : 1;
    struct code_input *input = &m->code->inputs.v[id];
    input->rank = input->rank > rank ? input->rank : rank;
    input->is_tensor |= tensor;
    return true;
}

static bool find_inputs(struct inputs_maker *m)
{
    for (size_t i = 0; i < m->code->classes.n; i++) {
        const struct program_call *call = &m->table->log->calls.v[m->code->classes.v[i].call];
        for (uint32_t k = 0; k < call->n_values; k++)
            if (!add_input(m, call, &call->values[k]))
                return false;
    }
    for (size_t i = 0; i < m->code->inputs.n; i++) {
        m->code->inputs.v[i].first_slot = m->code->n_slots;
        m->code->n_slots += m->code->inputs.v[i].rank;
    }
    return true;
}

/* ---- Conditions ---- */

/* Returns the slot that a node of a condition is, or NO_ENTRY. */
static uint32_t slot_of(const struct inputs_maker *m, const struct condition *node)
{
    if (node->op != COND_SIZE && node->op != COND_SOURCE)
        return NO_ENTRY;
    uint32_t id = code_input_of(m->code, node->source);
    if (id == NO_ENTRY || m->code->inputs.v[id].fixed || !m->values[id])
        return NO_ENTRY;
    const struct code_input *input = &m->code->inputs.v[id];
    bool tensor = m->values[id]->kind == PY_TENSOR;
    if (tensor != (node->op == COND_SIZE) || (tensor && node->index >= input->rank))
        return NO_ENTRY;
    return input->first_slot + (tensor ? (uint32_t)node->index : 0);
}

/* Notes which slots a condition is about. Returns false when memory ran out. */
static bool find_slots(struct inputs_maker *m, condition_id id, unsigned depth)
{
    const struct condition *node;
    if (id == CONDITION_NONE || depth == MOST_DEPTH)
        return true;
    node = &m->entry->guards.conditions.nodes.v[id];
    uint32_t slot = slot_of(m, node);
    m->mentions_size |= node->op == COND_SIZE || node->op == COND_STRIDE;
    m->mentions_number |= node->op == COND_SOURCE && slot != NO_ENTRY;
    if (slot != NO_ENTRY && !vec_push(&m->entry->slots, slot))
        return false;
    return find_slots(m, node->first, depth + 1) && find_slots(m, node->second, depth + 1) &&
           find_slots(m, node->third, depth + 1);
}

/* "L['x'].size()[0] == 3": the slot. The sizes 0 and 1 are constants in any case. */
static uint32_t pinned_slot(const struct inputs_maker *m, const struct condition *node)
{
    const struct condition *nodes = m->entry->guards.conditions.nodes.v;
    if (node->op != COND_EQUAL)
        return NO_ENTRY;
    const struct condition *left = &nodes[node->first], *right = &nodes[node->second];
    const struct condition *constant = left->op == COND_CONSTANT ? left : right;
    const struct condition *other = constant == left ? right : left;
    bool zero_one = constant->value.kind == PY_INT && (uint64_t)constant->value.integer < 2;
    if (constant->op != COND_CONSTANT || (zero_one && other->op == COND_SIZE))
        return NO_ENTRY;
    return slot_of(m, other);
}

/* Adds the comparisons that a condition joins with "and". */
static bool add_conditions(struct inputs_maker *m, condition_id id, const struct guard_leaf *leaf)
{
    const struct condition *nodes = m->entry->guards.conditions.nodes.v;
    while (nodes[id].op == COND_AND) {
        if (nodes[nodes[id].second].op == COND_AND)
            break;
        if (!add_conditions(m, nodes[id].second, leaf))
            return false;
        id = nodes[id].first;
    }
    struct size_condition condition = {
        .id = id,
        .by_python = str_contains(leaf->comment, STR("(_dynamo/")),
        .duck = str_starts(leaf->comment, STR("duck sizing")),
        .pinned = pinned_slot(m, &nodes[id]),
        .first_slot = (uint32_t)m->entry->slots.n,
    };
    if (!find_slots(m, id, 0))
        return false;
    condition.n_slots = (uint32_t)m->entry->slots.n - condition.first_slot;
    return condition.n_slots == 0 || vec_push(&m->entry->conditions, condition);
}

/* ---- Entries ---- */

static bool add_known(struct inputs_maker *m, uint32_t input, enum py_kind kind,
                      const int64_t *sizes, uint32_t n)
{
    struct known_input known = {
        .input = input, .kind = kind, .n = n, .first = (uint32_t)m->entry->dims.n
    };
    for (uint32_t i = 0; i < n; i++)
        if (!vec_push(&m->entry->dims, (struct known_dim){ .size = sizes[i] }))
            return false;
    return vec_push(&m->entry->inputs, known);
}

/* Returns the input that a leaf is about and that may become a symbol, or NO_ENTRY. */
static uint32_t open_input(const struct inputs_maker *m, uint32_t source)
{
    uint32_t id = source == INTERN_NONE ? NO_ENTRY : code_input_of(m->code, source);
    return id == NO_ENTRY || m->code->inputs.v[id].fixed || !m->values[id] ? NO_ENTRY : id;
}

/* Keeps the sizes of a tensor that no call gives, as a global. */
static bool keep_unlisted(struct inputs_maker *m, const struct guard_leaf *leaf)
{
    const struct entry_guards *g = &m->entry->guards;
    const struct tensor_check *check = &g->tensors.v[leaf->tensor];
    const struct py_value value = { .kind = PY_TENSOR, .type = check->type };
    struct str source = intern_text(&m->table->log->sources, leaf->source);
    if (is_parameter(&value) || is_fixed_input(source, &value, false))
        return true;
    for (uint32_t i = 0; i < check->n_sizes; i++)
        if (g->dims.v[check->first + i] > 1 &&
            !vec_push(&m->entry->unlisted, g->dims.v[check->first + i]))
            return false;
    return true;
}

static bool take_tensor(struct inputs_maker *m, struct guard_leaf *leaf)
{
    struct entry_guards *g = &m->entry->guards;
    uint32_t input = open_input(m, leaf->source);
    if (leaf->tensor != TENSOR_NONE && leaf->source != INTERN_NONE &&
        code_input_of(m->code, leaf->source) == NO_ENTRY)
        return keep_unlisted(m, leaf);
    if (input == NO_ENTRY || leaf->tensor == TENSOR_NONE || m->values[input]->kind != PY_TENSOR)
        return true;
    struct tensor_check *check = &g->tensors.v[leaf->tensor];
    uint32_t n = check->n_sizes, rank = m->code->inputs.v[input].rank;
    int64_t *dims = vec_from(&g->dims, check->first);
    if (!add_known(m, input, PY_TENSOR, dims, n < rank ? n : rank))
        return false;
    for (uint32_t i = 0; i < check->n_sizes + check->n_strides; i++)
        dims[i] = ANY_SIZE;
    return true;
}

/* Makes a leaf pass. */
static void drop_leaf(struct guard_leaf *leaf)
{
    leaf->condition = CONDITION_NONE;
    leaf->source = INTERN_NONE;
}

static bool take_condition(struct inputs_maker *m, struct guard_leaf *leaf)
{
    const struct condition *nodes = m->entry->guards.conditions.nodes.v;
    const struct condition *node = &nodes[leaf->condition];
    size_t n_slots = m->entry->slots.n;
    if (str_is(leaf->kind, "EQUALS_MATCH")) {
        bool equal = node->op == COND_EQUAL && nodes[node->first].op == COND_SOURCE;
        uint32_t input = equal ? open_input(m, nodes[node->first].source) : NO_ENTRY;
        if (input == NO_ENTRY || m->values[input]->kind == PY_TENSOR)
            return true;
        drop_leaf(leaf);
        return add_known(m, input, m->values[input]->kind, &m->values[input]->integer, 1);
    }
    m->mentions_size = m->mentions_number = false;
    if (!find_slots(m, leaf->condition, 0))
        return false;
    m->entry->slots.n = n_slots;
    if (!m->mentions_size && !m->mentions_number)
        return true;
    if (!add_conditions(m, leaf->condition, leaf))
        return false;
    drop_leaf(leaf);
    return true;
}

static int by_input(const void *a, const void *b)
{
    const struct known_input *x = a, *y = b;
    return x->input < y->input ? -1 : x->input > y->input;
}

/* Adds numbers that are symbols, of which no guard says what they are equal to. Those that were
 * added before come first. */
static bool add_symbols(struct inputs_maker *m)
{
    static const int64_t ANY = ANY_SIZE;
    struct known_entry *entry = m->entry;
    size_t n = entry->inputs.n, known = 0;
    if (n)
        qsort(entry->inputs.v, n, sizeof *entry->inputs.v, by_input);
    for (size_t k = 1, kept = n > 0; k <= n; k++) { /* an input that two guards name */
        if (k == n) {
            entry->inputs.n = n = kept;
            break;
        }
        if (entry->inputs.v[k].input != entry->inputs.v[kept - 1].input)
            entry->inputs.v[kept++] = entry->inputs.v[k];
    }
    for (uint32_t i = 0; i < m->code->inputs.n; i++) {
        const struct code_input *input = &m->code->inputs.v[i];
        while (known < n && entry->inputs.v[known].input < i)
            known++;
        if ((known < n && entry->inputs.v[known].input == i) || input->fixed || !m->values[i] ||
            m->values[i]->kind == PY_TENSOR || !m->names[i])
            continue;
        if (!add_known(m, i, m->values[i]->kind, &ANY, 1))
            return false;
    }
    if (entry->inputs.n)
        qsort(entry->inputs.v, entry->inputs.n, sizeof *entry->inputs.v, by_input);
    for (size_t i = 0; i < entry->dims.n; i++)
        entry->any_symbol |= entry->dims.v[i].size == ANY_SIZE;
    return true;
}

/* Notes the inputs that guards of this entry name. */
static void find_names(struct inputs_maker *m)
{
    const struct entry_guards *g = &m->entry->guards;
    for (size_t i = 0; i < g->leaves.n; i++)
        if (g->leaves.v[i].source != INTERN_NONE) {
            uint32_t input = code_input_of(m->code, g->leaves.v[i].source);
            if (input != NO_ENTRY)
                m->names[input] = true;
        }
    for (size_t i = 0; i < g->conditions.nodes.n; i++) {
        const struct condition *node = &g->conditions.nodes.v[i];
        uint32_t input = node->op == COND_SOURCE ? code_input_of(m->code, node->source) : NO_ENTRY;
        if (input != NO_ENTRY)
            m->names[input] = true;
    }
}

static bool take_apart(struct inputs_maker *m)
{
    struct entry_guards *g = &m->entry->guards;
    if (!calls_enter(m->table, m->entry->call))
        return false;
    for (size_t i = 0; i < m->code->inputs.n; i++) {
        m->values[i] = input_value(m->table, &m->code->inputs.v[i]);
        m->names[i] = false;
    }
    find_names(m);
    for (size_t i = 0; i < g->leaves.n; i++) {
        struct guard_leaf *leaf = &g->leaves.v[i];
        bool ok = leaf->how == LEAF_TENSOR ? take_tensor(m, leaf)
                  : leaf->how == LEAF_CONDITION && leaf->condition != CONDITION_NONE
                      ? take_condition(m, leaf)
                      : true;
        if (!ok)
            return false;
    }
    return add_symbols(m);
}

/* ---- What the compiles of the tape remembered ---- */

/* A compile that is observed, and what its code object and the peers of that remember. */
struct observer {
    struct calls_table *table;
    struct code_calls *code;
    struct frame_state *state;
};

static bool observe(struct observer *o, uint32_t source, const struct py_value *value)
{
    bool automatic = o->code->settings.automatic;
    return frame_state_observe(o->state, source, value, !automatic,
                               automatic ? &o->code->changes : NULL);
}

/* A number that no call gives, as guards have it: it does not change unless they say so. */
static bool observe_constants(struct observer *o, const struct known_entry *entry)
{
    const struct entry_guards *g = &entry->guards;
    for (size_t i = 0; i < g->leaves.n; i++) {
        const struct guard_leaf *leaf = &g->leaves.v[i];
        if (leaf->how != LEAF_CONDITION || leaf->condition == CONDITION_NONE ||
            !str_is(leaf->kind, "EQUALS_MATCH"))
            continue;
        const struct condition *node = &g->conditions.nodes.v[leaf->condition];
        if (node->op != COND_EQUAL)
            continue;
        const struct condition *left = &g->conditions.nodes.v[node->first];
        const struct condition *right = &g->conditions.nodes.v[node->second];
        if (left->op == COND_SOURCE && right->op == COND_CONSTANT &&
            code_input_of(o->code, left->source) == NO_ENTRY &&
            !observe(o, left->source, &right->value))
            return false;
    }
    return true;
}

/* Notes a symbol that a compile makes. */
static bool note_dim(struct code_calls *code, struct known_dim *dim, uint32_t slot,
                     enum dim_dynamic choice, bool zero_one)
{
    dim->expected = choice != DIM_STATIC;
    if (choice == DIM_STATIC || (zero_one && choice != DIM_UNBACKED))
        return true;
    return vec_push(&code->symbols, slot);
}

static bool observe_input(struct observer *o, struct known_entry *entry,
                          const struct known_input *known)
{
    struct code_calls *code = o->code;
    const struct code_input *input = &code->inputs.v[known->input];
    const struct py_value *value = input_value(o->table, input);
    if (!value || value->kind != known->kind || is_parameter(value))
        return true;
    if (!observe(o, input->source, value))
        return false;
    if (value->kind == PY_TENSOR)
        observe_marks(o->state, input->source, value->tensor);
    const struct source_state *state = frame_state_find(o->state, input->source);
    for (uint32_t i = 0; i < known->n; i++) {
        bool tensor = value->kind == PY_TENSOR;
        enum dim_dynamic choice = tensor
                                      ? choose_dim(&code->settings, state, value->tensor, i, false)
                                      : choose_scalar(&code->settings, state, value, false);
        bool zero_one = tensor && (uint64_t)value->tensor->sizes[i] < 2;
        if (!note_dim(code, &entry->dims.v[known->first + i], input->first_slot + i, choice,
                      zero_one))
            return false;
    }
    return true;
}

/* Fixed numbers are remembered, too. */
static bool observe_fixed(struct observer *o, const struct known_entry *entry)
{
    const struct code_calls *code = o->code;
    for (size_t i = 0; i < entry->guards.leaves.n; i++) {
        const struct guard_leaf *leaf = &entry->guards.leaves.v[i];
        uint32_t id = leaf->source == INTERN_NONE ? NO_ENTRY : code_input_of(code, leaf->source);
        if (id == NO_ENTRY || !code->inputs.v[id].fixed || !str_is(leaf->kind, "EQUALS_MATCH"))
            continue;
        const struct py_value *value = input_value(o->table, &code->inputs.v[id]);
        if (value && value->kind != PY_TENSOR && !observe(o, leaf->source, value))
            return false;
    }
    return true;
}

static bool observe_compile(struct observer *o, struct known_entry *entry, uint32_t lookup)
{
    struct code_calls *code = o->code;
    struct compile_states row = { .lookup = lookup,
                                  .entry = (uint32_t)(entry - code->entries.v),
                                  .first_change = (uint32_t)code->changes.n,
                                  .first_symbol = (uint32_t)code->symbols.n };
    if (!calls_enter(o->table, entry->call))
        return false;
    for (size_t i = 0; i < entry->inputs.n; i++)
        if (!observe_input(o, entry, &entry->inputs.v[i]))
            return false;
    if (!observe_fixed(o, entry) || !observe_constants(o, entry))
        return false;
    row.n_changes = (uint32_t)code->changes.n - row.first_change;
    row.n_symbols = (uint32_t)code->symbols.n - row.first_symbol;
    return vec_push(&code->compiles, row);
}

/* Observes the compile of a look-up, if it compiled. */
static bool observe_lookup(struct observer *o, uint32_t lookup)
{
    const struct lookup_row *row = &o->table->run->lookups.v[lookup];
    /* Entries are those of these look-ups, but for some whose compile the tape does not have. */
    size_t next = o->code->compiles.n;
    return row->outcome != LOOKUP_COMPILED || next >= o->code->entries.n ||
           o->code->entries.v[next].id != row->answered ||
           observe_compile(o, &o->code->entries.v[next], lookup);
}

bool code_states_make(struct calls_table *table, struct code_calls *code)
{
    struct peer_calls calls = peer_calls_begin(table, code, false);
    const struct code_call *call;
    uint32_t member;
    for (uint32_t i = 0; i < calls.n; i++)
        for (size_t k = 0; k < calls.codes[i]->initial.sources.n; k++)
            if (!frame_state_copy_source(&code->state, &calls.codes[i]->initial,
                                         calls.codes[i]->initial.sources.v[k].source))
                return false;
    while ((call = peer_calls_next(&calls, &member)) != NULL)
        if (!observe_lookup(&(struct observer){ table, calls.codes[member], &code->state },
                            call->lookup))
            return false;
    for (uint32_t i = 1; i < calls.n; i++)
        if (!frame_state_copy(&calls.codes[i]->state, &code->state))
            return false;
    return true;
}

/* Notes what conditions tell of slots. */
static bool note_slots(struct code_calls *code)
{
    code->read = calloc(code->n_slots + 1, 1);
    code->pinned = calloc(code->n_slots + 1, 1);
    if (!code->read || !code->pinned)
        return false;
    for (size_t i = 0; i < code->entries.n; i++) {
        const struct known_entry *entry = &code->entries.v[i];
        for (size_t k = 0; k < entry->conditions.n; k++) {
            const struct size_condition *condition = &entry->conditions.v[k];
            for (uint32_t j = 0; condition->by_python && j < condition->n_slots; j++)
                code->read[entry->slots.v[condition->first_slot + j]] = 1;
            if (condition->pinned != NO_ENTRY)
                code->pinned[condition->pinned] = 1;
        }
    }
    return true;
}

bool code_inputs_make(struct calls_table *table, struct code_calls *code)
{
    enum { MOST_MEMO = 1 << 26 };
    struct inputs_maker m = { .table = table, .code = code };
    bool ok = find_guarded(&m) && find_inputs(&m);
    m.values = ok ? calloc(code->inputs.n + 1, sizeof *m.values) : NULL;
    m.names = ok ? calloc(code->inputs.n + 1, sizeof *m.names) : NULL;
    ok = m.values && m.names;
    for (size_t i = 0; ok && i < code->entries.n; i++) {
        m.entry = &code->entries.v[i];
        ok = take_apart(&m);
    }
    ok = ok && note_slots(code);
    if (ok && code->entries.n * code->classes.n < MOST_MEMO)
        code->passes = calloc(code->entries.n * code->classes.n + 1, 1);
    free(m.values);
    free(m.names);
    hash_index_release(&m.guarded);
    return ok;
}

#include "profile/calls/dynamic/policy_run.h"

#include <string.h>

#include "profile/calls/cache/region_set.h"
#include "profile/calls/dynamic/compile_estimate.h"
#include "profile/calls/dynamic/peers.h"

/* How a stride follows from sizes. */
enum stride_how { STRIDE_VALUE, STRIDE_PRODUCT, STRIDE_SYMBOL };

/* A size of a tensor or a number; or, behind the sizes of a tensor, a stride or the offset in the
 * storage. */
struct made_dim {
    bool symbol, duck;
    bool unbacked;
    bool open;     /* it was to be a symbol, if it is not 0 or 1 */
    uint32_t same; /* of DIM_DUCK: an earlier dim of the entry with the same symbol; NO_ENTRY */
    int64_t size;  /* or the stride, or the offset */
    double real;   /* of a float */
    enum stride_how stride_how;
    int64_t stride; /* the value, or the dimension of STRIDE_PRODUCT */
};

struct made_input {
    uint32_t input;
    enum py_kind kind;
    uint32_t n, first; /* in run->dims; of a tensor, n strides and the offset follow */
};

struct made_condition {
    uint32_t entry; /* a known entry */
    condition_id id;
    bool holds; /* what it must be; or, with is_value, the expression is `value` */
    bool is_value;
    int64_t value;
};

struct made_entry {
    uint32_t known; /* whose other guards it has; NO_ENTRY: calls of the same context */
    uint32_t class; /* of the call that compiled it */
    int64_t region;
    uint32_t first_input, n_inputs, first_condition, n_conditions;
    double guard_seconds;
    uint8_t *memo; /* by class: 0 unknown, 1 pass, 2 fail; or NULL */
};

struct policy_state {
    struct calls_table *table;
    struct code_calls *code;
    const struct policy_options *options;
    const uint8_t *marks; /* of the present compile, by slot; or NULL */
    uint32_t lookup;      /* that the present compile is for */
    struct str like;      /* the compile of the tape that it is most like; "" */
    struct policy_counts *counts;
    struct dynamic_settings settings;
    struct frame_state *state; /* shared with the peers */
    vec_of(struct made_entry)
    entries;
    vec_of(struct made_input)
    inputs;
    vec_of(struct made_dim)
    dims;
    vec_of(struct made_condition)
    conditions;
    vec_of(uint32_t)
    order; /* entries in check order */
    struct region_set run_only;
    bool skipped;
    bool broken;            /* CALLS_PARTIAL went back to breaking the graph */
    uint8_t *wanted;        /* by slot: a symbol of the entry that is being made, not yet covered */
    uint32_t *slot_dim;     /* by slot: the dim of the entry that is being made, or NO_ENTRY */
    struct hash_index duck; /* dims of the entry that is being made, by size */
};

const char *calls_policy_name(enum calls_policy policy)
{
    static const char *const names[] = {
#define POLICY(id, name, automatic, assume_static, meaning) name,
#include "profile/calls/dynamic/policies.def"
#undef POLICY
    };
    return names[policy];
}

const char *calls_policy_meaning(enum calls_policy policy)
{
    static const char *const meanings[] = {
#define POLICY(id, name, automatic, assume_static, meaning) meaning,
#include "profile/calls/dynamic/policies.def"
#undef POLICY
    };
    return meanings[policy];
}

static struct dynamic_settings settings_of(enum calls_policy policy)
{
    static const struct dynamic_settings settings[] = {
#define POLICY(id, name, automatic_, assume_static_, meaning) \
    { .automatic = automatic_, .assume_static = assume_static_ },
#include "profile/calls/dynamic/policies.def"
#undef POLICY
    };
    return settings[policy];
}

/* ---- Checking an entry ---- */

static bool dim_passes(const struct made_dim *dim, const struct tensor_value *tensor, uint32_t i)
{
    int64_t size = tensor->sizes[i], stride = tensor->strides[i], product;
    if (dim->symbol ? !dim->unbacked && (uint64_t)size < 2 : size != dim->size)
        return false;
    switch (dim->stride_how) {
    case STRIDE_VALUE: return stride == dim->stride;
    case STRIDE_PRODUCT:
        return dim->stride < tensor->n_dims &&
               !__builtin_mul_overflow(tensor->sizes[dim->stride], tensor->strides[dim->stride],
                                       &product) &&
               stride == product;
    default: return (uint64_t)stride > 1; /* as sizes, symbols of strides are not 0 or 1 */
    }
}

/* Returns what dim i of an input is in a tensor; -1 if it is not told. */
static int64_t tensor_number(const struct tensor_value *tensor, uint32_t n, uint32_t i)
{
    if (tensor->n_dims != n || i > 2 * n)
        return -1;
    return i < n ? tensor->sizes[i] : i < 2 * n ? tensor->strides[i - n] : tensor->offset;
}

/* Returns what a dim of an entry is in the present call; -1 if it is not told. */
static int64_t present_size(struct policy_state *s, uint32_t dim)
{
    uint32_t low = 0, high = (uint32_t)s->inputs.n;
    while (high - low > 1) { /* the input that has the dim: their dims ascend */
        uint32_t middle = low + (high - low) / 2;
        if (s->inputs.v[middle].first <= dim)
            low = middle;
        else
            high = middle;
    }
    const struct made_input *made = &s->inputs.v[low];
    const struct py_value *value = input_value(s->table, &s->code->inputs.v[made->input]);
    return value && value->kind == PY_TENSOR
               ? tensor_number(value->tensor, made->n, dim - made->first)
               : -1;
}

/* Returns whether a stride or an offset that is a symbol has the value that it shares. */
static bool shared_passes(struct policy_state *s, const struct made_dim *dim, int64_t value)
{
    if (!dim->duck || value < 0)
        return true;
    int64_t shared = dim->same == NO_ENTRY ? -1 : present_size(s, dim->same);
    return dim->same == NO_ENTRY ? (dim->symbol ? value > 1 : value == dim->size)
                                 : shared < 0 || value == shared;
}

static bool input_passes(struct policy_state *s, const struct made_input *made,
                         bool sizes_of_python)
{
    const struct code_input *input = &s->code->inputs.v[made->input];
    const struct py_value *value = world_value(&s->table->world, input->source);
    const struct made_dim *dims = &s->dims.v[made->first];
    if (value->kind == PY_UNKNOWN)
        return true;
    if (value->kind != made->kind)
        return false;
    if (value->kind != PY_TENSOR)
        return dims->symbol || (!sizes_of_python && s->code->read[input->first_slot]) ||
               (value->kind == PY_INT ? value->integer == dims->size : value->real == dims->real);
    if (value->tensor->n_dims != made->n)
        return false;
    for (uint32_t i = 0; i < made->n; i++) {
        if (!sizes_of_python && s->code->read[input->first_slot + i])
            continue;
        if (!dim_passes(&dims[i], value->tensor, i))
            return false;
        if (dims[i].same != NO_ENTRY && present_size(s, dims[i].same) != value->tensor->sizes[i])
            return false;
    }
    for (uint32_t i = made->n; i <= 2 * made->n; i++)
        if (!shared_passes(s, &dims[i], tensor_number(value->tensor, made->n, i)))
            return false;
    return true;
}

/* Evaluates a number on the present call; false if it is none, or cannot be told. */
static bool expression_value(struct calls_table *table, const struct entry_guards *guards,
                             condition_id id, int64_t *ret)
{
    uint32_t missing;
    struct py_value value = condition_value(&guards->conditions, &table->world, id, &missing);
    *ret = value.integer;
    return value.kind == PY_INT;
}

/* Sets *ret to whether the guards of an entry pass on the present call. */
static bool check_made(struct policy_state *s, const struct made_entry *entry, uint32_t class,
                       bool sizes_of_python, bool *ret)
{
    const struct call_class *now = &s->code->classes.v[class];
    *ret = true;
    if (entry->known == NO_ENTRY)
        *ret = now->context == s->code->classes.v[entry->class].context;
    else if (!known_entry_passes(s->table, s->code, entry->known, class, ret))
        return false;
    if (!*ret)
        return true;
    if (!calls_enter(s->table, now->call))
        return false;
    for (uint32_t i = 0; i < entry->n_inputs && *ret; i++)
        *ret = input_passes(s, &s->inputs.v[entry->first_input + i], sizes_of_python);
    for (uint32_t i = 0; i < entry->n_conditions && *ret && sizes_of_python; i++) {
        const struct made_condition *c = &s->conditions.v[entry->first_condition + i];
        const struct entry_guards *guards = &s->code->entries.v[c->entry].guards;
        int64_t value;
        *ret = c->is_value ? expression_value(s->table, guards, c->id, &value) && value == c->value
                           : condition_holds(s->table, guards, c->id) == c->holds;
    }
    return true;
}

static bool check_entry(struct policy_state *s, struct made_entry *entry, uint32_t class, bool *ret)
{
    s->counts->checks++;
    s->counts->guard_seconds += entry->guard_seconds;
    if (entry->memo && entry->memo[class]) {
        *ret = entry->memo[class] == 1;
        return true;
    }
    bool ok = check_made(s, entry, class, true, ret);
    if (entry->memo)
        entry->memo[class] = *ret ? 1 : 2;
    return ok;
}

/* ---- Making an entry ---- */

static bool same_size(const struct policy_state *s, uint32_t dim, int64_t size)
{
    return s->dims.v[dim].size == size;
}

/* Equal sizes share a symbol (create_symbol() in torch/fx/experimental/symbolic_shapes.py). */
static bool share_symbol(struct policy_state *s, uint32_t id)
{
    struct made_dim *dim = &s->dims.v[id];
    uint32_t row, hash = (uint32_t)((uint64_t)dim->size * 0x9e3779b97f4a7c15u >> 32);
    for (size_t at = hash_index_start(&s->duck, hash); hash_index_next(&s->duck, hash, &at, &row);)
        if (same_size(s, row, dim->size)) {
            dim->symbol &= s->dims.v[row].symbol; /* false: a tensor that does not change */
            dim->same = dim->symbol ? row : NO_ENTRY;
            return true;
        }
    if (!hash_index_reserve(&s->duck, 1))
        return false;
    hash_index_add(&s->duck, hash, id);
    return true;
}

/* Tensors that no call gives do not change, and share symbols like all others. */
static bool share_unlisted(struct policy_state *s, uint32_t known)
{
    const struct known_entry *entry = known == NO_ENTRY ? NULL : &s->code->entries.v[known];
    for (size_t i = 0; entry && !s->settings.assume_static && i < entry->unlisted.n; i++) {
        struct made_dim dim = { .size = entry->unlisted.v[i], .same = NO_ENTRY };
        if (!vec_push(&s->dims, dim) || !share_symbol(s, (uint32_t)s->dims.n - 1))
            return false;
    }
    return true;
}

static bool is_marked(const struct policy_state *s, uint32_t slot, uint32_t dim, bool tensor)
{
    switch (s->options->policy) {
    case CALLS_BATCH: return tensor && dim == 0;
    case CALLS_PARTIAL: return !s->code->read[slot] || s->broken;
    case CALLS_MARKED: return s->marks && s->marks[slot];
    default: return false;
    }
}

static bool add_dim(struct policy_state *s, enum dim_dynamic choice, uint32_t slot, bool zero_one,
                    struct made_dim dim)
{
    uint32_t id = (uint32_t)s->dims.n;
    dim.unbacked = choice == DIM_UNBACKED;
    dim.open = choice != DIM_STATIC;
    dim.symbol = choice != DIM_STATIC && (!zero_one || dim.unbacked);
    dim.duck = dim.symbol && choice == DIM_DUCK && !s->options->no_duck;
    dim.same = NO_ENTRY;
    s->wanted[slot] = dim.symbol && !s->options->unbacked;
    s->slot_dim[slot] = id;
    return vec_push(&s->dims, dim);
}

/* Adds a stride or an offset. One that is 0 or 1 is a constant. */
static bool add_inner(struct policy_state *s, bool symbol, int64_t value)
{
    struct made_dim dim = { .symbol = symbol && value > 1, .size = value, .same = NO_ENTRY };
    dim.duck = dim.symbol;
    return vec_push(&s->dims, dim);
}

/* Adds strides and the offset: they share symbols with sizes, unless all sizes are static
 * (_create_symbolic_sizes_strides_storage_offset() in torch/fx/experimental/symbolic_shapes.py).
 * Returns false when memory ran out. */
static bool add_strides(struct policy_state *s, const struct made_input *made,
                        const struct tensor_value *tensor, const struct source_state *state)
{
    struct atom strides[MOST_RANK];
    bool any = false, ok = true;
    for (uint32_t i = 0; i < made->n; i++)
        any |= s->dims.v[made->first + i].open;
    infer_strides(tensor, strides);
    for (uint32_t i = 0; ok && i < made->n; i++) {
        struct made_dim *dim = &s->dims.v[made->first + i];
        bool small = (uint64_t)tensor->strides[i] < 2;
        bool own = s->settings.automatic && state && is_stride_dynamic(state, i) && !small;
        dim->stride = strides[i].integer;
        dim->stride_how = own                             ? STRIDE_SYMBOL
                          : strides[i].kind == ATOM_INFER ? STRIDE_PRODUCT
                          : any && !small                 ? STRIDE_SYMBOL
                                                          : STRIDE_VALUE;
        ok = add_inner(s, dim->stride_how == STRIDE_SYMBOL && !own, tensor->strides[i]);
    }
    return ok && add_inner(s, any, tensor->offset);
}

static bool add_input(struct policy_state *s, uint32_t id)
{
    const struct code_input *input = &s->code->inputs.v[id];
    const struct py_value *value = input_value(s->table, input);
    if (!value || input->fixed)
        return true;
    bool tensor = value->kind == PY_TENSOR;
    struct made_input made = { .input = id,
                               .kind = value->kind,
                               .n = tensor ? value->tensor->n_dims : 1,
                               .first = (uint32_t)s->dims.n };
    bool open = !is_parameter(value);
    if ((open && !frame_state_observe(s->state, input->source, value, false, NULL)) ||
        !vec_push(&s->inputs, made))
        return false;
    if (tensor && open)
        observe_marks(s->state, input->source, value->tensor);
    for (uint32_t i = 0; tensor && i < made.n && s->options->policy == CALLS_MARKED; i++)
        if (s->marks && s->marks[input->first_slot + i])
            frame_state_mark(s->state, input->source, i);
    const struct source_state *state = frame_state_find(s->state, input->source);
    for (uint32_t i = 0; i < made.n; i++) {
        uint32_t slot = input->first_slot + i;
        bool marked = is_marked(s, slot, i, tensor);
        enum dim_dynamic choice = !open                  ? DIM_STATIC
                                  : s->options->unbacked ? (marked ? DIM_UNBACKED : DIM_STATIC)
                                  : tensor
                                      ? choose_dim(&s->settings, state, value->tensor, i, marked)
                                      : choose_scalar(&s->settings, state, value, marked);
        struct made_dim dim = { .size = tensor ? value->tensor->sizes[i] : value->integer,
                                .real = value->real };
        if (!add_dim(s, choice, slot, tensor && (uint64_t)dim.size < 2, dim))
            return false;
    }
    return !tensor || add_strides(s, &made, value->tensor, state);
}

/* A known entry as a source of conditions for the one that is being made. */
struct donor {
    uint32_t entry;
    uint32_t n_failed;  /* conditions that the call fails */
    uint32_t n_covered; /* symbols that it tells about */
};

/* Returns whether a condition is about a symbol of the entry that is being made of which nothing is
 * known yet. */
static bool is_about_symbol(const struct policy_state *s, const struct known_entry *known,
                            const struct size_condition *condition)
{
    for (uint32_t i = 0; i < condition->n_slots; i++)
        if (s->wanted[known->slots.v[condition->first_slot + i]])
            return true;
    return false;
}

static bool counts_here(const struct policy_state *s, const struct known_entry *known,
                        const struct size_condition *condition)
{
    return !condition->duck && !(s->broken && condition->by_python) &&
           is_about_symbol(s, known, condition);
}

/* Returns whether a dimension of a known entry tells about a symbol: it is one, or it was to be one
 * and the code made it a constant. */
static bool covers(const struct known_input *input, const struct known_dim *dim)
{
    return dim->size == ANY_SIZE || is_made_constant(input, dim);
}

static struct donor rate(struct policy_state *s, uint32_t entry)
{
    const struct known_entry *known = &s->code->entries.v[entry];
    struct donor ret = { .entry = entry };
    for (size_t i = 0; i < known->inputs.n; i++) {
        const struct known_input *input = &known->inputs.v[i];
        uint32_t slot = s->code->inputs.v[input->input].first_slot;
        for (uint32_t k = 0; k < input->n; k++) {
            const struct known_dim *dim = &known->dims.v[input->first + k];
            if (!s->wanted[slot + k] || !covers(input, dim))
                continue;
            ret.n_covered++;
            /* A constant of another value is a branch that this call does not take. */
            ret.n_failed += dim->size != ANY_SIZE && input->kind != PY_FLOAT &&
                            dim->size != s->dims.v[s->slot_dim[slot + k]].size;
        }
    }
    for (size_t i = 0; ret.n_covered && i < known->conditions.n; i++) {
        const struct size_condition *condition = &known->conditions.v[i];
        ret.n_failed += counts_here(s, known, condition) &&
                        !condition_holds(s->table, &known->guards, condition->id);
    }
    return ret;
}

static void make_constant(struct policy_state *s, uint32_t slot)
{
    if (s->slot_dim[slot] == NO_ENTRY)
        return;
    s->dims.v[s->slot_dim[slot]].symbol = false;
    s->wanted[slot] = 0;
}

/* "min(3, n) == 0" that fails where it is 1: Python took the number, so it is 1 from then on. A
 * remainder is compared by a branch, which is the other one as long as it differs. */
static void turn_round(struct policy_state *s, const struct known_entry *known,
                       struct made_condition *made)
{
    const struct condition *nodes = known->guards.conditions.nodes.v, *node = &nodes[made->id];
    if (node->op != COND_EQUAL || nodes[node->first].op == COND_MODULO ||
        nodes[node->second].op != COND_CONSTANT || nodes[node->second].value.kind != PY_INT)
        return;
    if (!expression_value(s->table, &known->guards, node->first, &made->value))
        return;
    made->is_value = true;
    made->id = node->first;
}

/* Takes what a known entry says of the symbols that are not covered yet. */
static bool take_conditions(struct policy_state *s, const struct donor *donor)
{
    const struct known_entry *known = &s->code->entries.v[donor->entry];
    for (size_t i = 0; i < known->conditions.n; i++) {
        const struct size_condition *condition = &known->conditions.v[i];
        if (!counts_here(s, known, condition))
            continue;
        bool holds = condition_holds(s->table, &known->guards, condition->id);
        if (!holds && condition->pinned != NO_ENTRY) {
            make_constant(s, condition->pinned); /* each value has an entry of its own */
            continue;
        }
        struct made_condition made = { .entry = donor->entry, .id = condition->id, .holds = holds };
        if (!holds)
            turn_round(s, known, &made);
        if (!vec_push(&s->conditions, made))
            return false;
    }
    for (size_t i = 0; i < known->inputs.n; i++) {
        const struct known_input *input = &known->inputs.v[i];
        uint32_t slot = s->code->inputs.v[input->input].first_slot;
        for (uint32_t k = 0; k < input->n; k++) {
            const struct known_dim *dim = &known->dims.v[input->first + k];
            if (!s->wanted[slot + k] || !covers(input, dim))
                continue;
            if (dim->size != ANY_SIZE)
                make_constant(s, slot + k);
            s->wanted[slot + k] = 0;
        }
    }
    return true;
}

/* Covers the symbols of an entry with conditions: first from entries that the call meets. */
static bool add_conditions(struct policy_state *s, uint32_t class, uint32_t *first_donor)
{
    enum { MOST_DONORS = 16 }; /* each covers symbols that those before it do not */
    *first_donor = NO_ENTRY;
    for (int round = 0; round < MOST_DONORS; round++) {
        struct donor best = { .entry = NO_ENTRY };
        for (uint32_t i = 0; i < s->code->entries.n; i++) {
            bool passes;
            if (!known_entry_passes(s->table, s->code, i, class, &passes) ||
                !calls_enter(s->table, s->code->classes.v[class].call))
                return false;
            if (!passes)
                continue;
            struct donor donor = rate(s, i);
            bool better = best.entry == NO_ENTRY || donor.n_failed < best.n_failed ||
                          (donor.n_failed == best.n_failed && donor.n_covered > best.n_covered);
            if (donor.n_covered && better)
                best = donor;
        }
        if (best.entry == NO_ENTRY)
            break;
        if (*first_donor == NO_ENTRY)
            *first_donor = best.entry;
        uint32_t before = best.n_covered;
        if (!take_conditions(s, &best))
            return false;
        if (rate(s, best.entry).n_covered == before)
            break;
    }
    return true;
}

/* Returns the known entry whose guards, sizes left out, a call meets: the one that answered it, or
 * else any. */
static bool find_known(struct policy_state *s, uint32_t class, uint32_t *ret)
{
    const struct call_class *now = &s->code->classes.v[class];
    bool passes = false;
    *ret = now->entry;
    for (uint32_t i = 0; *ret == NO_ENTRY && !now->failed && i < s->code->entries.n; i++) {
        if (!known_entry_passes(s->table, s->code, i, class, &passes))
            return false;
        if (passes)
            *ret = i;
    }
    return calls_enter(s->table, now->call);
}

/* Returns the known entry whose compile is most like the one that made an entry. */
static const struct known_entry *most_like(const struct policy_state *s, uint32_t known,
                                           uint32_t donor, bool symbols)
{
    const struct code_calls *code = s->code;
    uint32_t ret = symbols && donor != NO_ENTRY ? donor : known;
    for (uint32_t i = 0; i < code->entries.n; i++)
        if (ret == NO_ENTRY || (code->entries.v[ret].any_symbol != symbols &&
                                code->entries.v[i].any_symbol == symbols))
            ret = i;
    return ret == NO_ENTRY ? NULL : &code->entries.v[ret];
}

/* Returns the entry that the present look-up compiled on the tape, or NULL. */
static const struct known_entry *recorded_entry(const struct policy_state *s)
{
    const struct lookup_row *row = &s->table->run->lookups.v[s->lookup];
    for (size_t i = 0; i < s->code->entries.n; i++)
        if (str_eq(s->code->entries.v[i].compile, row->compile))
            return &s->code->entries.v[i];
    return NULL;
}

static bool names_input(const struct policy_state *s, uint32_t known, uint32_t input)
{
    return known == NO_ENTRY || known_input_of(&s->code->entries.v[known], input);
}

static bool finish_entry(struct policy_state *s, struct made_entry *entry, uint32_t donor)
{
    bool any = false;
    uint32_t first = s->inputs.n > entry->first_input ? s->inputs.v[entry->first_input].first
                                                      : (uint32_t)s->dims.n;
    uint32_t end = (uint32_t)s->dims.n;
    if (!share_unlisted(s, entry->known))
        return false;
    for (uint32_t i = first; i < end; i++) {
        any |= s->dims.v[i].symbol;
        if (s->dims.v[i].symbol && s->dims.v[i].duck && !share_symbol(s, i))
            return false;
    }
    const struct known_entry *like = most_like(s, entry->known, donor, any);
    const struct compile_question question = {
        .recorded = s->table->run->lookups.v[s->lookup].seconds,
        .was = recorded_entry(s),
        .like = like,
        .symbols = any,
    };
    s->counts->seconds += compile_estimate(s->code, &question);
    s->like = like ? like->compile : STR("");
    if (like)
        entry->guard_seconds = like->guard_seconds;
    s->counts->breaks += s->broken;
    return true;
}

static bool make_entry(struct policy_state *s, uint32_t class, int64_t region)
{
    enum { MOST_MEMO = 1 << 18, MOST_MEMOS = 256 };
    struct made_entry entry = { .class = class,
                                .region = region,
                                .first_input = (uint32_t)s->inputs.n,
                                .first_condition = (uint32_t)s->conditions.n };
    uint32_t donor;
    if (!find_known(s, class, &entry.known))
        return false;
    memset(s->wanted, 0, s->code->n_slots);
    memset(s->slot_dim, 0xff, s->code->n_slots * sizeof *s->slot_dim);
    hash_index_clear(&s->duck);
    for (uint32_t i = 0; i < s->code->inputs.n; i++)
        if (names_input(s, entry.known, i) && !add_input(s, i))
            return false;
    if (!add_conditions(s, class, &donor) || !finish_entry(s, &entry, donor))
        return false;
    entry.n_inputs = (uint32_t)s->inputs.n - entry.first_input;
    entry.n_conditions = (uint32_t)s->conditions.n - entry.first_condition;
    if (s->code->classes.n <= MOST_MEMO && s->entries.n < MOST_MEMOS)
        entry.memo = calloc(s->code->classes.n, 1);
    if (!vec_push(&s->entries, entry)) {
        free(entry.memo);
        return false;
    }
    if (!vec_reserve(&s->order, 1))
        return false;
    memmove(s->order.v + 1, s->order.v, s->order.n * sizeof *s->order.v);
    s->order.v[0] = (uint32_t)s->entries.n - 1;
    s->order.n++;
    return true;
}

/* ---- Calls ---- */

/* Returns whether a limit refuses one more entry (torch/_dynamo/cache_size.py). The present call is
 * the one that would be compiled. */
static bool is_refused(struct policy_state *s, int64_t region)
{
    uint64_t same = 0;
    if (s->order.n >= s->table->run->limits.accumulated)
        return true;
    for (size_t i = 0; i < s->order.n; i++) {
        const struct made_entry *entry = &s->entries.v[s->order.v[i]];
        same +=
            entry->region == region &&
            (entry->known == NO_ENTRY ||
             entry_guards_same_objects(&s->code->entries.v[entry->known].guards, &s->table->world));
    }
    return same >= s->code->recompile_limit;
}

/* CALLS_PARTIAL: an entry would have answered but for a size that Python read. */
static bool count_bail_out(struct policy_state *s, uint32_t class)
{
    for (size_t i = 0; i < s->order.n; i++) {
        bool passes;
        if (!check_made(s, &s->entries.v[s->order.v[i]], class, false, &passes))
            return false;
        if (!passes)
            continue;
        s->counts->bail_outs++;
        s->broken |= s->counts->bail_outs >= s->options->bail_outs;
        break;
    }
    return true;
}

/* Returns whether the frame that a look-up follows from runs eagerly, since a limit was reached. A
 * look-up without an answer is a hit, or one of a code object that runs later. */
static bool is_inside_eager(const struct policy_state *s, uint32_t lookup)
{
    enum { MOST_STEPS = 64 };
    const uint32_t *outer = s->table->nesting.outer;
    uint32_t at = s->options->before ? outer[lookup] : NO_ENTRY;
    for (int i = 0; i < MOST_STEPS && at != NO_ENTRY; i++, at = outer[at]) {
        uint8_t before = s->options->before[at];
        if (before != ANSWER_NONE)
            return before != ANSWER_COMPILE;
    }
    return false;
}

static bool compile(struct policy_state *s, const struct code_call *call, uint8_t *answer)
{
    const struct program_call *row =
        &s->table->log->calls.v[s->table->run->lookups.v[call->lookup].call];
    const struct call_class *class = &s->code->classes.v[call->class];
    if (s->skipped) { /* the frames inside are looked up on their own */
        s->counts->eager++;
        return true;
    }
    if (region_set_has(&s->run_only, row->region) || is_inside_eager(s, call->lookup)) {
        s->counts->eager++;
        *answer = ANSWER_EAGER;
        return true;
    }
    if (!calls_enter(s->table, class->call))
        return false;
    if (is_refused(s, row->region)) {
        s->counts->refused++;
        s->counts->eager++;
        *answer = ANSWER_REFUSED;
        return region_set_add(&s->run_only, row->region);
    }
    s->lookup = call->lookup;
    s->counts->compiles++;
    *answer = ANSWER_COMPILE;
    if (class->failed && class->entry == NO_ENTRY) {
        s->counts->seconds += s->table->run->lookups.v[call->lookup].seconds;
        s->skipped = !class->raised;
        return true;
    }
    if (s->options->policy == CALLS_PARTIAL && !s->broken && !count_bail_out(s, call->class))
        return false;
    if (s->options->marks_of)
        s->marks = s->options->marks_of(s->options->data, call->lookup);
    return make_entry(s, call->class, row->region);
}

static void note_answer(struct policy_state *s, uint32_t lookup, struct policy_answered answered)
{
    if (s->options->answered)
        s->options->answered[lookup] = answered;
}

/* Compiles a call, and notes the entry that this made. */
static bool compile_noted(struct policy_state *s, const struct code_call *call, uint8_t *answer)
{
    size_t n = s->entries.n;
    double before = s->counts->seconds;
    s->like = STR("");
    if (!compile(s, call, answer))
        return false;
    note_answer(s, call->lookup,
                (struct policy_answered){
                    .entry = s->entries.n > n ? (uint32_t)n : NO_ENTRY,
                    .compiled = *answer == ANSWER_COMPILE,
                    .seconds = s->counts->seconds - before,
                    .like = s->like,
                });
    return true;
}

static bool run_call(struct policy_state *s, const struct code_call *call, uint8_t *answer)
{
    int64_t region = s->table->log->calls.v[s->table->run->lookups.v[call->lookup].call].region;
    if (s->table->nesting.goes_on[call->lookup] && is_inside_eager(s, call->lookup)) {
        *answer = ANSWER_UNREACHED;
        return true;
    }
    s->counts->lookups++;
    for (int shared = region < 0; shared < 2 && !s->skipped; shared++)
        for (size_t i = 0; i < s->order.n; i++) {
            uint32_t id = s->order.v[i];
            bool passes, own = region >= 0 && s->entries.v[id].region == region;
            if (own == (shared == 1) || (!own && s->entries.v[id].region >= 0))
                continue;
            if (!check_entry(s, &s->entries.v[id], call->class, &passes))
                return false;
            if (!passes)
                continue;
            memmove(s->order.v + 1, s->order.v, i * sizeof *s->order.v);
            s->order.v[0] = id;
            s->counts->hits++;
            note_answer(s, call->lookup, (struct policy_answered){ .entry = id });
            return true;
        }
    return compile_noted(s, call, answer);
}

static void release(struct policy_state *s)
{
    for (size_t i = 0; i < s->entries.n; i++)
        free(s->entries.v[i].memo);
    vec_release(&s->entries);
    vec_release(&s->inputs);
    vec_release(&s->dims);
    vec_release(&s->conditions);
    vec_release(&s->order);
    region_set_release(&s->run_only);
    hash_index_release(&s->duck);
    free(s->wanted);
    free(s->slot_dim);
}

static bool begin(struct policy_state *s, struct calls_table *table, struct code_calls *code,
                  const struct policy_options *options)
{
    s->table = table;
    s->code = code;
    s->options = options;
    s->marks = options->marks;
    s->settings = options->settings ? *options->settings : settings_of(options->policy);
    s->settings.unspecialized_floats = code->settings.unspecialized_floats;
    s->wanted = calloc(code->n_slots + 1, 1);
    s->slot_dim = calloc(code->n_slots + 1, sizeof *s->slot_dim);
    return s->wanted && s->slot_dim;
}

/* Returns the marks of a code object's inputs for a peer, whose locals of those names are the same.
 * NULL when memory ran out. */
static uint8_t *marks_of_peer(const struct code_calls *code, const uint8_t *marks,
                              const struct code_calls *peer)
{
    uint8_t *ret = calloc(peer->n_slots + 1, 1);
    for (uint32_t i = 0; ret && i < peer->inputs.n; i++) {
        const struct code_input *input = &peer->inputs.v[i];
        uint32_t same = code_input_of(code, input->source);
        uint32_t rank = same == NO_ENTRY ? 0 : code->inputs.v[same].rank;
        for (uint32_t k = 0; k < input->rank && k < rank; k++)
            ret[input->first_slot + k] = marks[code->inputs.v[same].first_slot + k];
    }
    return ret;
}

/* A peer, whose compiles add to what is remembered and are not counted. */
struct policy_peer {
    struct policy_state s;
    struct policy_options options;
    struct policy_counts counts;
    uint8_t *marks;
};

static bool begin_peer(struct policy_peer *peer, const struct policy_state *s,
                       struct code_calls *code)
{
    peer->options = (struct policy_options){ .policy = s->options->policy,
                                             .unbacked = s->options->unbacked,
                                             .settings = s->options->settings,
                                             .no_duck = s->options->no_duck,
                                             .bail_outs = s->options->bail_outs,
                                             .before = s->options->before };
    if (s->options->marks && !(peer->marks = marks_of_peer(s->code, s->options->marks, code)))
        return false;
    peer->options.marks = peer->marks;
    peer->s.counts = &peer->counts;
    peer->s.state = s->state;
    return begin(&peer->s, s->table, code, &peer->options);
}

/* Runs the calls of a code object, and those of its peers between them. */
static bool run_calls(struct policy_state *s, struct policy_peer *peers, struct peer_calls *calls,
                      uint8_t *answers)
{
    const struct code_call *call;
    uint32_t member;
    bool ok = true;
    for (uint32_t i = 1; ok && i < calls->n; i++)
        ok = begin_peer(&peers[i], s, calls->codes[i]);
    while (ok && (call = peer_calls_next(calls, &member)) != NULL) {
        uint8_t answer = ANSWER_NONE;
        ok = run_call(member ? &peers[member].s : s, call, &answer);
        if (answers && !member)
            answers[call->lookup] = answer;
    }
    return ok;
}

bool policy_run(struct calls_table *table, struct code_calls *code,
                const struct policy_options *options, struct policy_counts *counts,
                uint8_t *answers)
{
    struct frame_state state = { 0 };
    struct policy_state s = { .counts = counts, .state = &state };
    struct policy_peer *peers = NULL;
    bool ok = begin(&s, table, code, options);
    struct peer_calls calls = peer_calls_begin(table, code, !s.settings.automatic);
    *counts = (struct policy_counts){ 0 };
    if (ok && calls.n > 1)
        ok = (peers = calloc(calls.n, sizeof *peers)) != NULL;
    ok = ok && (!options->state || frame_state_copy(&state, options->state)) &&
         run_calls(&s, peers, &calls, answers);
    counts->entries = s.order.n;
    for (uint32_t i = 1; peers && i < calls.n; i++) {
        release(&peers[i].s);
        free(peers[i].marks);
    }
    free(peers);
    release(&s);
    frame_state_release(&state);
    return ok;
}

bool policy_counts_fewer(const struct policy_counts *a, const struct policy_counts *b)
{
    return a->eager < b->eager || (a->eager == b->eager && a->compiles < b->compiles);
}

void policy_counts_add(struct policy_counts *sum, const struct policy_counts *counts)
{
    sum->lookups += counts->lookups;
    sum->hits += counts->hits;
    sum->compiles += counts->compiles;
    sum->eager += counts->eager;
    sum->refused += counts->refused;
    sum->unknown += counts->unknown;
    sum->checks += counts->checks;
    sum->entries += counts->entries;
    sum->bail_outs += counts->bail_outs;
    sum->breaks += counts->breaks;
    sum->seconds += counts->seconds;
    sum->guard_seconds += counts->guard_seconds;
}

void policy_counts_subtract(struct policy_counts *sum, const struct policy_counts *counts)
{
    sum->lookups -= counts->lookups;
    sum->hits -= counts->hits;
    sum->compiles -= counts->compiles;
    sum->eager -= counts->eager;
    sum->refused -= counts->refused;
    sum->unknown -= counts->unknown;
    sum->checks -= counts->checks;
    sum->entries -= counts->entries;
    sum->bail_outs -= counts->bail_outs;
    sum->breaks -= counts->breaks;
    sum->seconds -= counts->seconds;
    sum->guard_seconds -= counts->guard_seconds;
}

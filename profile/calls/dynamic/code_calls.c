#include "profile/calls/dynamic/code_calls.h"

#include "profile/calls/dynamic/peers.h"
#include "profile/calls/guards/usual_latency.h"
#include "trace/events/compile_config.h"
#include "trace/events/metrics.h"

enum { MOST_COMPARED = 256 };

struct table_reader {
    struct calls_table *table;
    struct tape_compiles tape;
    int64_t *latencies; /* ns of guards, by attempt; 0 if it is not recorded */
    vec_of(uint32_t)
    codes; /* by code of cache_run: in calls_table.codes, or NO_ENTRY */
    vec_of(uint32_t)
    entries; /* by entry of cache_run: in code_calls.entries */
    vec_of(uint32_t)
    class_of; /* by key of calls_table.classes: in code_calls.classes */
    struct err *err;
};

/* ---- The present call ---- */

bool calls_enter(struct calls_table *table, uint32_t call)
{
    if (table->entered == call)
        return true;
    table->entered = CALL_NONE;
    if (!world_enter(&table->world, &table->log->calls.v[call]))
        return false;
    table->entered = call;
    return true;
}

uint32_t code_input_of(const struct code_calls *code, uint32_t source)
{
    uint32_t row, hash = source_hash(source);
    for (size_t at = hash_index_start(&code->input_index, hash);
         hash_index_next(&code->input_index, hash, &at, &row);)
        if (code->inputs.v[row].source == source)
            return row;
    return NO_ENTRY;
}

uint32_t code_input_of_slot(const struct code_calls *code, uint32_t slot)
{
    uint32_t low = 0, high = (uint32_t)code->inputs.n; /* first slots ascend */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (code->inputs.v[middle].first_slot <= slot)
            low = middle;
        else
            high = middle;
    }
    return low;
}

const struct py_value *input_value(struct calls_table *table, const struct code_input *input)
{
    const struct py_value *value = world_value(&table->world, input->source);
    bool fits = value->kind == PY_TENSOR || value->kind == PY_INT || value->kind == PY_FLOAT;
    return fits && (value->kind != PY_TENSOR || value->tensor->n_dims <= input->rank) ? value
                                                                                      : NULL;
}

const struct known_entry *known_entry_of(const struct code_calls *code, uint32_t id)
{
    size_t low = 0, high = code->entries.n; /* their ids ascend */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (code->entries.v[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->entries.n && code->entries.v[low].id == id ? &code->entries.v[low] : NULL;
}

const struct known_input *known_input_of(const struct known_entry *entry, uint32_t input)
{
    size_t low = 0, high = entry->inputs.n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (entry->inputs.v[middle].input < input)
            low = middle + 1;
        else
            high = middle;
    }
    return low < entry->inputs.n && entry->inputs.v[low].input == input ? &entry->inputs.v[low]
                                                                        : NULL;
}

bool condition_holds(struct calls_table *table, const struct entry_guards *guards,
                     condition_id condition)
{
    uint32_t missing;
    struct py_value value =
        condition_value(&guards->conditions, &table->world, condition, &missing);
    return value.kind == PY_UNKNOWN || (value.kind != PY_MISSING && py_is_true(&value));
}

/* Returns whether the inputs are what they were: a tensor of that rank, an int, a float. */
static bool same_kinds(struct calls_table *table, const struct code_calls *code,
                       const struct known_entry *entry)
{
    for (size_t i = 0; i < entry->inputs.n; i++) {
        const struct known_input *known = &entry->inputs.v[i];
        const struct code_input *input = &code->inputs.v[known->input];
        const struct py_value *value = world_value(&table->world, input->source);
        if (value->kind != known->kind && value->kind != PY_UNKNOWN)
            return false;
    }
    return true;
}

bool known_entry_passes(struct calls_table *table, struct code_calls *code, uint32_t entry,
                        uint32_t class, bool *ret)
{
    uint8_t *memo = code->passes ? &code->passes[entry * code->classes.n + class] : NULL;
    if (memo && *memo) {
        *ret = *memo == 1;
        return true;
    }
    struct known_entry *known = &code->entries.v[entry];
    const struct program_call *call = &table->log->calls.v[code->classes.v[class].call];
    if (!calls_enter(table, code->classes.v[class].call))
        return false;
    struct guards_answer answer =
        entry_guards_check(&known->guards, &table->world, &call->mode, false);
    *ret = answer.verdict != GUARDS_FAIL && same_kinds(table, code, known);
    if (memo)
        *memo = *ret ? 1 : 2;
    return !answer.no_memory;
}

/* ---- Classes ---- */

static void put_bytes(struct buf *key, const void *p, size_t n)
{
    buf_put(key, (struct str){ p, n });
}

/* Texts of a call log are kept once, so that where a text lies names it. */
static void put_name(struct buf *key, struct str text)
{
    put_bytes(key, &text.p, sizeof text.p);
    put_bytes(key, &text.n, sizeof text.n);
}

/* The place of the first value of the call that is the same object. */
static uint32_t first_same(const struct program_call *call, uint32_t at)
{
    uint32_t object = call->values[at].value.object, i = 0;
    if (object == OBJECT_NONE || call->n_values > MOST_COMPARED)
        return object;
    while (i < at &&
           (call->values[i].value.kind != PY_TENSOR || call->values[i].value.object != object))
        i++;
    return i;
}

static void put_tensor(struct buf *key, const struct py_value *value, bool sizes)
{
    const struct tensor_value *tensor = value->tensor;
    put_name(key, tensor->dtype);
    put_name(key, tensor->device);
    buf_varint(key, tensor->n_dims);
    buf_putc(key, (char)('0' + tensor->requires_grad + 2 * value->inference +
                         (sizes ? 4 * tensor->plain : 0)));
    put_bytes(key, tensor->marks, sizeof tensor->marks);
    if (!sizes)
        return;
    put_bytes(key, tensor->sizes, tensor->n_dims * sizeof *tensor->sizes);
    put_bytes(key, tensor->strides, tensor->n_dims * sizeof *tensor->strides);
}

static void put_value(const struct program_call *call, uint32_t at, bool sizes, struct buf *key)
{
    const struct py_value actual = program_call_value(call, at), *value = &actual;
    bool number = value->kind == PY_INT || value->kind == PY_FLOAT;
    buf_varint(key, call->values[at].source);
    buf_putc(key, (char)value->kind);
    put_name(key, value->type);
    put_name(key, value->text);
    if (sizes || !number) {
        put_bytes(key, &value->integer, sizeof value->integer);
        put_bytes(key, &value->real, sizeof value->real);
    }
    buf_varint(key, value->n);
    for (uint32_t i = 0; value->kind == PY_DICT && i < value->n; i++)
        put_name(key, value->keys[i]);
    buf_varint(key, value->kind == PY_TENSOR ? first_same(call, at) : value->object);
    if (value->kind == PY_TENSOR)
        put_tensor(key, value, sizes);
}

/* Returns the number of a call's values among those of the code object; INTERN_NONE when memory
 * ran out. Without `sizes` they are left out. */
static uint32_t values_key(struct calls_table *table, uint32_t code, uint32_t number, bool sizes)
{
    const struct program_call *call = &table->log->calls.v[number];
    struct buf *key = &table->key;
    buf_clear(key);
    buf_varint(key, code);
    put_bytes(key, &call->module, sizeof call->module);
    call_mode_put(&call->mode, key);
    for (uint32_t i = 0; i < call->n_values; i++)
        put_value(call, i, sizes, key);
    return key->failed ? INTERN_NONE
                       : intern(sizes ? &table->classes : &table->contexts, buf_str(key));
}

/* ---- Reading look-ups ---- */

static const struct tape_compile *compile_named(const struct table_reader *in, uint32_t code,
                                                struct str id)
{
    uint64_t number;
    if (!str_to_u64(str_from(id, str_find_char(id, '/') + 1), &number))
        return NULL;
    return tape_code_compile(&in->tape.codes.v[code], number);
}

static bool read_latencies(struct table_reader *in)
{
    const struct trace *trace = in->table->trace;
    struct metrics_list *metrics = metrics_read(in->table->trace, in->err);
    in->latencies = calloc(trace->n_attempts + 1, sizeof *in->latencies);
    for (uint32_t i = 0; metrics && in->latencies && i < metrics->n; i++) {
        const struct metrics *m = &metrics->metrics[i];
        if (m->attempt != TRACE_NONE && m->values[METRIC_GUARD_LATENCY] != METRIC_ABSENT)
            in->latencies[m->attempt] = m->values[METRIC_GUARD_LATENCY];
    }
    bool ok = metrics && (in->latencies || err_nomem(in->err));
    metrics_free(metrics);
    return ok;
}

/* torch.compile(dynamic=) sets the settings of a function. */
static bool read_settings(struct table_reader *in, struct code_calls *code,
                          const struct tape_compile *compile)
{
    struct compile_config config = { 0 };
    if (!compile_config_read(in->table->trace, compile->attempt, &in->table->arena, &config,
                             in->err))
        return false;
    code->settings = (struct dynamic_settings){
        .automatic = config.automatic_dynamic_shapes != CONFIG_OFF,
        .assume_static = config.assume_static_by_default != CONFIG_OFF,
        .unspecialized_floats = config.specialize_float == CONFIG_OFF,
    };
    return true;
}

static bool add_entry(struct table_reader *in, struct code_calls *code,
                      const struct lookup_row *row)
{
    struct calls_table *table = in->table;
    const struct tape_compile *compile = compile_named(in, row->code, row->compile);
    struct known_entry entry = {
        .compile = row->compile, .id = row->answered, .call = row->call, .seconds = row->seconds
    };
    if (!compile)
        return true;
    struct str tree = arena_copy(&table->arena, compile->tree);
    entry.guard_seconds = (double)in->latencies[compile->attempt] / 1e9;
    if (!tree.p || !vec_push(&code->entries, entry))
        return err_nomem(in->err);
    struct entry_guards *guards = &code->entries.v[code->entries.n - 1].guards;
    in->entries.v[row->answered] = (uint32_t)code->entries.n - 1;
    return entry_guards_read(guards, tree, &table->world, &table->log->calls.v[row->call].mode,
                             in->err) &&
           (entry_guards_learn(guards, &table->world) || err_nomem(in->err));
}

/* Returns the class of a call, which is added if it is new; NULL when memory ran out. */
static struct call_class *make_class(struct table_reader *in, struct code_calls *code,
                                     uint32_t lookup)
{
    struct calls_table *table = in->table;
    uint32_t call = table->run->lookups.v[lookup].call;
    uint32_t key = values_key(table, code->code, call, true);
    if (key == INTERN_NONE)
        return NULL;
    if (key == in->class_of.n) {
        struct call_class class = { .call = call, .entry = NO_ENTRY };
        class.context = values_key(table, code->code, call, false);
        if (class.context == INTERN_NONE || !vec_push(&in->class_of, (uint32_t)code->classes.n) ||
            !vec_push(&code->classes, class))
            return NULL;
    }
    uint32_t number = in->class_of.v[key];
    return vec_push(&code->calls, (struct code_call){ lookup, number }) ? &code->classes.v[number]
                                                                        : NULL;
}

static struct code_calls *code_calls_of(struct table_reader *in, uint32_t code)
{
    if (in->codes.v[code] == NO_ENTRY) {
        struct code_calls new = { .code = code,
                                  .recompile_limit = in->table->run->limits.recompile };
        if (!vec_push(&in->table->codes, new))
            return NULL;
        in->codes.v[code] = (uint32_t)in->table->codes.n - 1;
    }
    return &in->table->codes.v[in->codes.v[code]];
}

/* torch.compile(recompile_limit=) is known where it refused a compile. */
static void read_own_limit(struct table_reader *in, struct code_calls *code,
                           const struct lookup_row *row)
{
    const struct tape_compile *compile = compile_named(in, row->code, row->compile);
    if (row->limit && str_is(str_of(row->limit), "recompile_limit") && compile && compile->limit)
        code->recompile_limit = compile->limit;
}

static bool read_lookup(struct table_reader *in, uint32_t number)
{
    const struct lookup_row *row = &in->table->run->lookups.v[number];
    struct code_calls *code = row->code == CALL_NONE ? NULL : code_calls_of(in, row->code);
    struct call_class *class;
    if (row->code == CALL_NONE)
        return true;
    if (!code || !(class = make_class(in, code, number)) || !calls_enter(in->table, row->call))
        return err_nomem(in->err);
    const struct tape_compile *compile = compile_named(in, row->code, row->compile);
    if (compile && !code->settings_read) {
        code->settings_read = true;
        if (!read_settings(in, code, compile))
            return false;
    }
    read_own_limit(in, code, row);
    if (row->outcome == LOOKUP_COMPILED && !add_entry(in, code, row))
        return false;
    if (row->outcome == LOOKUP_NO_ENTRY) {
        class->failed = true;
        class->raised = compile && compile->raised;
    }
    if (row->answered == CALL_NONE || in->entries.v[row->answered] == NO_ENTRY)
        return true;
    uint32_t entry = in->entries.v[row->answered];
    if (class->entry == NO_ENTRY)
        class->entry = entry;
    return row->outcome != LOOKUP_HIT ||
           entry_guards_learn(&code->entries.v[entry].guards, &in->table->world) ||
           err_nomem(in->err);
}

/* Fills a list with NO_ENTRY. */
static bool fill(struct table_reader *in, size_t n, bool entries)
{
    for (size_t i = 0; i < n; i++)
        if (!(entries ? vec_push(&in->entries, NO_ENTRY) : vec_push(&in->codes, NO_ENTRY)))
            return err_nomem(in->err);
    return true;
}

static bool read_lookups(struct table_reader *in)
{
    const struct cache_run *run = in->table->run;
    bool ok = fill(in, run->codes.n, false) && fill(in, run->entries.n, true);
    for (uint32_t i = 0; ok && i < run->lookups.n; i++)
        ok = read_lookup(in, i);
    return ok;
}

/* One measurement with something else in it would be most of a policy's guard time. */
static bool set_usual_latencies(struct calls_table *table, struct err *err)
{
    vec_of(struct guard_latency)
    all = { 0 };
    bool ok = true;
    size_t at = 0;
    for (size_t i = 0; i < table->codes.n; i++)
        for (size_t k = 0; ok && k < table->codes.v[i].entries.n; k++) {
            const struct known_entry *entry = &table->codes.v[i].entries.v[k];
            ok = vec_push(&all, (struct guard_latency){ entry->guard_seconds,
                                                        (double)entry->guards.leaves.n });
        }
    ok = ok && usual_latencies(all.v, all.n);
    for (size_t i = 0; ok && i < table->codes.n; i++)
        for (size_t k = 0; k < table->codes.v[i].entries.n; k++)
            table->codes.v[i].entries.v[k].guard_seconds = all.v[at++].time;
    vec_release(&all);
    return ok || err_nomem(err);
}

bool calls_table_make(struct calls_table *table, struct trace *trace, uint32_t recording,
                      struct call_log *log, const struct cache_run *run, struct err *err)
{
    struct table_reader in = { .table = table, .err = err };
    *table = (struct calls_table){ .trace = trace,
                                   .log = log,
                                   .run = run,
                                   .world = { .sources = &log->sources },
                                   .entered = CALL_NONE };
    bool ok =
        tape_compiles_read(&in.tape, trace, recording, err) && read_latencies(&in) &&
        read_lookups(&in) && set_usual_latencies(table, err) &&
        ((peers_find(table) && frame_nesting_make(&table->nesting, run, log)) || err_nomem(err));
    for (size_t i = 0; ok && i < table->codes.n; i++)
        ok = code_inputs_make(table, &table->codes.v[i]) || err_nomem(err);
    free(in.latencies);
    vec_release(&in.codes);
    vec_release(&in.entries);
    vec_release(&in.class_of);
    tape_compiles_release(&in.tape);
    return ok;
}

static void release_code(struct code_calls *code)
{
    for (size_t i = 0; i < code->entries.n; i++) {
        struct known_entry *entry = &code->entries.v[i];
        entry_guards_release(&entry->guards);
        vec_release(&entry->conditions);
        vec_release(&entry->slots);
        vec_release(&entry->inputs);
        vec_release(&entry->dims);
        vec_release(&entry->unlisted);
    }
    vec_release(&code->calls);
    vec_release(&code->classes);
    vec_release(&code->entries);
    vec_release(&code->inputs);
    hash_index_release(&code->input_index);
    free(code->read);
    free(code->pinned);
    free(code->passes);
    frame_state_release(&code->initial);
    frame_state_release(&code->state);
    vec_release(&code->changes);
    vec_release(&code->symbols);
    vec_release(&code->compiles);
}

void calls_table_release(struct calls_table *table)
{
    for (size_t i = 0; i < table->codes.n; i++)
        release_code(&table->codes.v[i]);
    vec_release(&table->codes);
    frame_nesting_release(&table->nesting);
    world_release(&table->world);
    intern_release(&table->classes);
    intern_release(&table->contexts);
    buf_release(&table->key);
    arena_release(&table->arena);
}

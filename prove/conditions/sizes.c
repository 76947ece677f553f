/* The sizes of an attempt's inputs: which are symbols, which share one, and which are static. */
#include "prove/conditions/build.h"
#include "prove/conditions/constants.h"
#include "replay/attempt/inputs.h"
#include "trace/graphs.h"

/* ---- Which symbol a size has ---- */

/* A symbol that sizes without one of their own share, by value. */
struct shared_symbol {
    int64_t value;
    sym_id symbol;
};

struct size_reader {
    struct conditions *conditions;
    struct inputs inputs;
    struct hash_index by_value; /* of shared */
    vec_of(struct shared_symbol)
    shared;
};

static uint32_t value_hash(int64_t value)
{
    return (uint32_t)((uint64_t)value * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static const struct shared_symbol *find_shared(const struct size_reader *r, int64_t value)
{
    uint32_t row;
    for (size_t at = hash_index_start(&r->by_value, value_hash(value));
         hash_index_next(&r->by_value, value_hash(value), &at, &row);)
        if (r->shared.v[row].value == value)
            return &r->shared.v[row];
    return NULL;
}

static sym_id own_symbol(const struct size_reader *r, const struct input_tensor *t, uint32_t d)
{
    const struct condition_symbol *row =
        t->size_symbol[d].name.n ? conditions_find(r->conditions, t->size_symbol[d].name) : NULL;
    return row && row->has_hint ? row->symbol : SYM_NONE;
}

static bool is_read(const struct input *input)
{
    return input->kind == INPUT_TENSOR && input->tensor.concrete && input->tensor.source.n;
}

static bool note_shared(struct size_reader *r, const struct input_tensor *t)
{
    for (uint32_t d = 0; d < t->ndim; d++) {
        struct shared_symbol row = { t->size[d], own_symbol(r, t, d) };
        if (row.symbol == SYM_NONE || !t->duck[d] || find_shared(r, row.value))
            continue;
        if (!hash_index_reserve(&r->by_value, 1) || !vec_push(&r->shared, row))
            return false;
        hash_index_add(&r->by_value, value_hash(row.value), (uint32_t)(r->shared.n - 1));
    }
    return true;
}

static sym_id symbol_of(const struct size_reader *r, const struct input_tensor *t, uint32_t d)
{
    const struct shared_symbol *shared;
    if (t->size_symbol[d].name.n)
        return own_symbol(r, t, d);
    if (t->of_module || t->fixed[d] || t->unbacked[d] || r->inputs.static_by_default ||
        t->size[d] == 0 || t->size[d] == 1)
        return SYM_NONE;
    shared = find_shared(r, t->size[d]);
    return shared ? shared->symbol : SYM_NONE;
}

static bool add_tensor(struct size_reader *r, const struct input_tensor *t)
{
    struct conditions *c = r->conditions;
    struct buf source = BUF_INIT;
    bool ok = true;
    uint32_t tensor = intern(&c->tensors, t->source);
    if (tensor == INTERN_NONE)
        return false;
    if (tensor < c->ndim.n)
        return true;
    if (!vec_push(&c->ndim, t->ndim))
        return false;
    for (uint32_t d = 0; ok && d < t->ndim; d++) {
        source.n = 0;
        buf_printf(&source, "%.*s.size()[%u]", STR_ARG(t->source), d);
        uint32_t at = source.failed ? INTERN_NONE : intern(&c->size_sources, buf_str(&source));
        ok = at != INTERN_NONE;
        if (!ok || at < c->sizes.n)
            continue;
        struct condition_size row = { .source = intern_text(&c->size_sources, at),
                                      .symbol = symbol_of(r, t, d),
                                      .value = t->size[d],
                                      .made = UINT32_MAX };
        ok = vec_push(&c->sizes, row);
    }
    buf_release(&source);
    return ok;
}

/* ---- Reading ---- */

/* Finds Dynamo's graph; *ret is NULL if there is none that can be read. */
static bool find_dynamo_graph(const struct conditions *c, struct trace *trace,
                              const struct graph **ret, struct err *err)
{
    struct err why = { 0 };
    const struct graph_list *list = trace_graphs(trace, err);
    *ret = NULL;
    for (uint32_t i = 0; list && i < list->n; i++) {
        if (list->refs[i].attempt != c->attempt || list->refs[i].kind != GRAPH_DYNAMO)
            continue;
        *ret = trace_graph(trace, i, &why);
        return !why.no_memory || err_nomem(err);
    }
    return list != NULL;
}

bool conditions_split_size(struct str source, struct str *tensor, uint32_t *dim)
{
    static const struct str SIZE = { ".size()[", 8 };
    size_t at = source.n;
    for (size_t i = 0; i < source.n; i++)
        if (str_starts(str_from(source, i), SIZE))
            at = i;
    struct str rest = str_from(source, at + SIZE.n);
    uint64_t number;
    if (!str_ends(rest, STR("]")) || !str_to_u64(str_first(rest, rest.n - 1), &number) ||
        number > UINT32_MAX)
        return false;
    *tensor = str_first(source, at);
    *dim = (uint32_t)number;
    return true;
}

static bool has_size_symbols(const struct conditions *c)
{
    for (size_t i = 0; i < c->symbols.n; i++)
        if (c->symbols.v[i].has_hint && str_contains(c->symbols.v[i].source, STR(".size()[")))
            return true;
    return false;
}

static bool read_sizes(struct size_reader *r, struct trace *trace, struct err *err)
{
    struct inputs *inputs = &r->inputs;
    const struct graph *dynamo = NULL;
    if (has_size_symbols(r->conditions) && !find_dynamo_graph(r->conditions, trace, &dynamo, err))
        return false;
    bool ok = !dynamo ||
              (inputs_read_fixed(inputs, dynamo, NULL) && inputs_guess_sharing(inputs, dynamo));
    for (size_t i = 0; ok && i < inputs->list.n; i++)
        ok = !is_read(&inputs->list.v[i]) || note_shared(r, &inputs->list.v[i].tensor);
    for (size_t i = 0; ok && i < inputs->list.n; i++)
        ok = !is_read(&inputs->list.v[i]) || add_tensor(r, &inputs->list.v[i].tensor);
    return ok || err_nomem(err);
}

/* Integers that are constants stand beside the static sizes. */
static bool add_constants(struct conditions *c, struct trace *trace, struct err *err)
{
    struct constants constants;
    bool ok = constants_read(&constants, trace, c->attempt, err);
    for (size_t i = 0; ok && i < constants.values.n; i++) {
        struct str source = intern_text(&constants.sources, (uint32_t)i);
        uint32_t at = intern(&c->size_sources, source);
        struct condition_size row = { .symbol = SYM_NONE,
                                      .value = constants.values.v[i],
                                      .made = UINT32_MAX };
        if (at != INTERN_NONE)
            row.source = intern_text(&c->size_sources, at);
        ok = at != INTERN_NONE && (at < c->sizes.n || vec_push(&c->sizes, row));
        ok = ok || err_nomem(err);
    }
    constants_release(&constants);
    return ok;
}

bool conditions_read_sizes(struct conditions *conditions, struct trace *trace, struct err *err)
{
    struct size_reader r = { .conditions = conditions };
    if (conditions->sizes.n)
        return true;
    if (conditions->attempt == TRACE_NONE)
        return conditions_read_program_sizes(conditions, trace, err);
    bool ok = inputs_read(trace, conditions->attempt, &r.inputs, err) &&
              read_sizes(&r, trace, err) && add_constants(conditions, trace, err);
    inputs_release(&r.inputs);
    hash_index_release(&r.by_value);
    vec_release(&r.shared);
    return ok;
}

/* ---- Symbols for sizes ---- */

/* Makes a name that no symbol has. */
static uint32_t new_name(struct conditions *c)
{
    for (size_t i = c->names.texts.n;; i++) {
        struct buf name = BUF_INIT;
        buf_printf(&name, "size%zu", i);
        bool is_new = !name.failed && intern_find(&c->names, buf_str(&name)) == INTERN_NONE;
        uint32_t ret = is_new ? intern(&c->names, buf_str(&name)) : INTERN_NONE;
        bool failed = name.failed;
        buf_release(&name);
        if (is_new || failed)
            return ret;
    }
}

/* The text of the condition: "L['x'].size()[1] == 16". */
static struct str size_text(struct conditions *c, const struct condition_size *size)
{
    const struct condition_symbol *shared =
        size->symbol == SYM_NONE ? NULL : conditions_symbol(c, size->symbol);
    struct buf text = BUF_INIT;
    buf_printf(&text, "%.*s == ", STR_ARG(size->source));
    if (shared)
        buf_put(&text, shared->source.n ? shared->source : shared->name);
    else
        buf_i64(&text, size->value);
    struct str ret = text.failed ? (struct str){ 0 } : arena_copy(&c->arena, buf_str(&text));
    buf_release(&text);
    return ret;
}

bool conditions_name_size(struct conditions *conditions, size_t at, uint32_t *ret, struct err *err)
{
    struct conditions *c = conditions;
    struct condition_size *size = &c->sizes.v[at];
    struct sym_pool *pool = c->pool;
    *ret = size->made;
    if (size->made != UINT32_MAX)
        return true;
    uint32_t name = new_name(c);
    struct str text = size_text(c, size);
    if (name == INTERN_NONE || !text.p)
        return err_nomem(err);
    struct condition_symbol row = { .name = intern_text(&c->names, name),
                                    .source = size->source,
                                    .has_hint = true,
                                    .hint = size->value,
                                    .made = true };
    row.symbol = sym_symbol(pool, row.name, SYM_IS_INTEGER);
    row.value = sym_integer(pool, size->value);
    struct condition condition = {
        .kind = size->symbol == SYM_NONE ? CONDITION_STATIC : CONDITION_SHARED,
        .expr = sym_eq(pool, row.symbol, size->symbol == SYM_NONE ? row.value : size->symbol),
        .text = text,
        .is_whole = true,
        .record = c->record,
    };
    if (!sym_ok(pool, err))
        return false;
    if (!vec_push(&c->symbols, row) || !vec_push(&c->list, condition))
        return err_nomem(err);
    *ret = size->made = (uint32_t)(c->symbols.n - 1);
    return true;
}

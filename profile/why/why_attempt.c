#include "profile/why/why_build.h"
#include "trace/events/user_line.h"

struct str why_printf(struct why_build *b, const char *fmt, ...)
{
    struct buf text = BUF_INIT;
    va_list args;
    va_start(args, fmt);
    buf_vprintf(&text, fmt, args);
    va_end(args);
    struct str ret = text.failed ? (struct str){ 0 } : arena_copy(&b->arena, buf_str(&text));
    buf_release(&text);
    return ret;
}

struct str why_compile(struct why_build *b, uint32_t attempt)
{
    if (attempt == TRACE_NONE)
        return STR("the exported program");
    const struct attempt *a = &b->trace->attempts[attempt];
    if (a->previous == TRACE_NONE && a->next == TRACE_NONE)
        return a->compile;
    return why_printf(b, "%.*s_%u", STR_ARG(a->compile), (unsigned)a->number);
}

static uint32_t last_of_compile(const struct trace *trace, uint32_t attempt)
{
    for (uint32_t next; (next = trace->attempts[attempt].next) != TRACE_NONE && next > attempt;)
        attempt = next;
    return attempt;
}

const struct metrics *why_metrics(const struct why_build *b, uint32_t attempt)
{
    uint32_t last = attempt == TRACE_NONE ? TRACE_NONE : last_of_compile(b->trace, attempt);
    for (uint32_t i = 0; i < b->metrics->n && last != TRACE_NONE; i++) {
        const struct metrics *m = &b->metrics->metrics[i];
        if (m->attempt == last && !m->backward && !m->runtime)
            return m;
    }
    return NULL;
}

struct why_line why_user_line(const struct why_build *b, uint32_t record, stack_id stack)
{
    uint32_t recording = b->trace->records[record].recording;
    struct frame frame = stack_frame(b->trace, recording, user_line(b->trace, recording, stack));
    return (struct why_line){ frame.file, frame.function, frame.code, frame.line };
}

/* Returns whether no frame was compiled: torch.export without Dynamo. */
static bool has_no_frame(const struct trace *trace, uint32_t attempt)
{
    for (uint32_t before;
         (before = trace->attempts[attempt].previous) != TRACE_NONE && before < attempt;)
        attempt = before;
    const struct attempt *a = &trace->attempts[attempt];
    for (uint32_t i = 0; i < a->n_records; i++)
        if (trace->records[a->records[i]].event == EVENT_DYNAMO_START)
            return false;
    return true;
}

bool why_attempt_read(struct why_build *b, uint32_t attempt, struct why_attempt *ret,
                      struct err *err)
{
    *ret = (struct why_attempt){ .attempt = attempt, .exported = has_no_frame(b->trace, attempt) };
    return inputs_read(b->trace, attempt, &ret->inputs, err) &&
           guard_tree_read(b->trace, attempt, &b->arena, &ret->tree, err) &&
           compile_config_read(b->trace, attempt, &b->arena, &ret->config, err);
}

void why_attempt_release(struct why_attempt *a)
{
    inputs_release(&a->inputs);
}

/* ---- Descriptions ---- */

struct describe {
    struct why_build *b;
    struct json doc;
    int64_t describer, id;
};

static json_id get_member(const struct describe *d, const char *key)
{
    return json_get(&d->doc, JSON_ROOT, str_of(key));
}

static bool read_ids(struct describe *d, int64_t *describer, int64_t *id)
{
    return json_i64(&d->doc, get_member(d, "describer_id"), describer) &&
           json_i64(&d->doc, get_member(d, "id"), id);
}

/* Reads the metadata of a record; *is is false when it is no JSON. */
static bool read_meta(struct describe *d, uint32_t record, bool *is, struct err *err)
{
    struct err why = { 0 };
    *is = record_json(d->b->trace, record, &d->doc, &why);
    return *is || why.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", why.text);
}

static bool read_described_source(struct describe *d, uint32_t record, struct str plain,
                                  struct why_description *ret, bool *found, struct err *err)
{
    bool is;
    *found = false;
    if (!read_meta(d, record, &is, err) || !is)
        return !err_is_set(err);
    struct str source = json_decoded(&d->doc, get_member(d, "source"), &d->b->arena);
    struct str name = source.p ? why_name_plain(source, &d->b->arena) : source;
    if (!name.p)
        return err_nomem(err);
    *found = str_eq(name, plain) && read_ids(d, &d->describer, &d->id);
    if (*found)
        ret->source = arena_copy(&d->b->arena, source);
    return !*found || ret->source.p || err_nomem(err);
}

/* Reads a list of numbers and returns how many there are; -1 stands for what is no number. */
static uint32_t read_numbers(const struct describe *d, const char *key, int64_t *ret)
{
    json_id list = get_member(d, key);
    uint32_t n = 0;
    for (json_id at = json_first(&d->doc, list); at != JSON_NONE && n < TENSOR_MAX_DIM;
         at = json_next(&d->doc, at), n++)
        if (!json_i64(&d->doc, at, &ret[n]))
            ret[n] = -1;
    return n;
}

static bool read_tensor(struct describe *d, uint32_t record, struct why_description *ret,
                        struct err *err)
{
    int64_t describer, id;
    bool is;
    if (!read_meta(d, record, &is, err) || !is)
        return !err_is_set(err);
    if (!read_ids(d, &describer, &id) || describer != d->describer || id != d->id)
        return true;
    ret->record = record;
    ret->parameter = json_kind_of(&d->doc, get_member(d, "is_parameter")) == JSON_TRUE;
    ret->ndim = read_numbers(d, "size", ret->size);
    read_numbers(d, "stride", ret->stride);
    json_i64(&d->doc, get_member(d, "storage_offset"), &ret->offset);
    return true;
}

static bool describe(struct describe *d, const struct attempt *a, struct str plain,
                     struct why_description *ret, struct err *err)
{
    const struct record *records = d->b->trace->records;
    bool found = false;
    uint32_t i = 0;
    for (; i < a->n_records && !found; i++)
        if (records[a->records[i]].event == EVENT_DESCRIBE_SOURCE &&
            !read_described_source(d, a->records[i], plain, ret, &found, err))
            return false;
    while (found && ret->record == TRACE_NONE && i-- > 0)
        if (records[a->records[i]].event == EVENT_DESCRIBE_TENSOR &&
            !read_tensor(d, a->records[i], ret, err))
            return false;
    return true;
}

bool why_describe(struct why_build *b, uint32_t attempt, struct str plain,
                  struct why_description *ret, struct err *err)
{
    struct describe d = { .b = b };
    *ret = (struct why_description){ .record = TRACE_NONE };
    bool ok = describe(&d, &b->trace->attempts[attempt], plain, ret, err);
    json_release(&d.doc);
    return ok;
}

const struct input_tensor *why_find_tensor(const struct why_attempt *a, struct str source)
{
    for (size_t i = 0; i < a->inputs.list.n; i++)
        if (a->inputs.list.v[i].kind == INPUT_TENSOR &&
            str_eq(a->inputs.list.v[i].tensor.source, source))
            return &a->inputs.list.v[i].tensor;
    return NULL;
}

const struct symbol *why_find_symbol(const struct why_build *b, uint32_t attempt, struct str name)
{
    for (uint32_t i = 0; i < b->symbols->n_symbols; i++)
        if (b->symbols->symbols[i].attempt == attempt && str_eq(b->symbols->symbols[i].name, name))
            return &b->symbols->symbols[i];
    return NULL;
}

bool why_is_named(struct why_build *b, const struct symbol *symbol, struct str name)
{
    if (str_eq(symbol->name, name) || !symbol->source.n)
        return str_eq(symbol->name, name);
    struct str source = why_name_plain(symbol->source, &b->arena);
    struct str plain = why_name_plain(name, &b->arena);
    return source.p && plain.p && str_eq(source, plain);
}

#include "trace/events/settings.h"

#include "trace/base/arena.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

enum {
    MOST_CHANGES = 64,       /* records that are read of a recording */
    MOST_PROGRAMS = 4,       /* fx_graph_runnable artifacts that are read of a recording */
    MOST_PROGRAM_LINES = 500 /* of one: the settings stand at its beginning */
};

/* The members of compilation_metrics, and the Python modules whose settings they hold. */
static const struct config_member {
    const char *member, *module;
} MEMBERS[] = {
    { "dynamo_config", "torch._dynamo.config" },
    { "inductor_config", "torch._inductor.config" },
    { "compiler_config", "torch.compiler.config" },
    { "functorch_config", "torch._functorch.config" },
};

enum { N_MEMBERS = sizeof MEMBERS / sizeof *MEMBERS };

static const char *const ASSIGNED_MODULES[] = {
    "torch._dynamo.config",    "torch._inductor.config",        "torch.compiler.config",
    "torch._functorch.config", "torch.fx.experimental._config",
};

struct settings_reader {
    struct setting_list list; /* first, because it is what the caller sees and frees */
    vec_of(struct setting)
    settings;
    struct intern keys; /* "recording module name value" of those that are listed */
    struct arena arena;
    struct json record, config;
    struct buf text;
    struct trace *trace;
    struct str last[N_MEMBERS]; /* the member of the record before, as written */
    uint32_t recording;         /* of which `last` and the counts are */
    unsigned n_changes, n_programs;
};

/* Adds a setting unless its recording had this value before. All texts are copied. */
static bool add_setting(struct settings_reader *r, struct setting setting)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%u %.*s.%.*s=%.*s", (unsigned)r->recording, STR_ARG(setting.module),
               STR_ARG(setting.name), STR_ARG(setting.value));
    size_t before = r->keys.texts.n;
    uint32_t id = key.failed ? INTERN_NONE : intern(&r->keys, buf_str(&key));
    buf_release(&key);
    if (id == INTERN_NONE || id < before)
        return id != INTERN_NONE;
    setting.name = arena_copy(&r->arena, setting.name);
    setting.value = arena_copy(&r->arena, setting.value);
    return setting.name.p && setting.value.p && vec_push(&r->settings, setting);
}

/* Appends a JSON value as Python writes it. */
static void put_python(const struct json *doc, json_id id, struct buf *out)
{
    switch (json_kind_of(doc, id)) {
    case JSON_NULL: buf_puts(out, "None"); break;
    case JSON_TRUE: buf_puts(out, "True"); break;
    case JSON_FALSE: buf_puts(out, "False"); break;
    case JSON_STRING:
        buf_putc(out, '\'');
        json_decode(doc, id, out);
        buf_putc(out, '\'');
        break;
    default: buf_put(out, json_text(doc, id));
    }
}

static bool add_config_member(struct settings_reader *r, uint32_t record, int member, json_id id)
{
    struct err unreadable = { 0 };
    struct str text = json_decoded(&r->record, id, &r->arena);
    if (!text.p || !json_parse(&r->config, text, &unreadable))
        return text.p && unreadable.kind != ERR_ENV;
    if (json_kind_of(&r->config, JSON_ROOT) != JSON_OBJECT)
        return true;
    bool ok = true;
    json_id name = json_first(&r->config, JSON_ROOT);
    while (ok && name != JSON_NONE) {
        json_id value = json_next(&r->config, name);
        buf_clear(&r->text);
        put_python(&r->config, value, &r->text);
        ok = !r->text.failed &&
             add_setting(r, (struct setting){ record, str_of(MEMBERS[member].module),
                                              json_text(&r->config, name), buf_str(&r->text) });
        name = json_next(&r->config, value);
    }
    return ok;
}

static bool read_config_record(struct settings_reader *r, uint32_t record)
{
    bool ok = true, changed = false;
    for (int i = 0; ok && i < N_MEMBERS; i++) {
        json_id id = json_get(&r->record, JSON_ROOT, str_of(MEMBERS[i].member));
        struct str text = json_text(&r->record, id); /* a part of the record, which stays */
        if (json_kind_of(&r->record, id) != JSON_STRING || str_eq(text, r->last[i]))
            continue;
        r->last[i] = text;
        changed = true;
        ok = add_config_member(r, record, i, id);
    }
    r->n_changes += changed;
    return ok;
}

/* Reads a line "torch._inductor.config.triton.cudagraphs = True". */
static bool read_assignment(struct settings_reader *r, uint32_t record, struct str line)
{
    size_t sign = str_find(line, STR(" = "));
    for (size_t i = 0; i < sizeof ASSIGNED_MODULES / sizeof *ASSIGNED_MODULES; i++) {
        struct str module = str_of(ASSIGNED_MODULES[i]);
        if (!str_starts(line, module) || sign >= line.n || sign <= module.n + 1 ||
            line.p[module.n] != '.')
            continue;
        struct str name = str_from(str_first(line, sign), module.n + 1);
        return add_setting(
            r, (struct setting){ record, module, name, str_trim(str_from(line, sign + 3)) });
    }
    return true;
}

static bool read_program(struct settings_reader *r, uint32_t record, struct err *err)
{
    struct err unreadable = { 0 };
    struct str text = STR("");
    if (!trace_payload(r->trace, record, &text, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    r->n_programs++;
    for (unsigned i = 0; i < MOST_PROGRAM_LINES && text.n > 0; i++) {
        struct str line = str_first(text, str_find_char(text, '\n'));
        text = str_from(text, line.n + 1);
        if (str_starts(line, STR("torch.")) || str_starts(line, STR("torch._")))
            if (!read_assignment(r, record, line))
                return err_nomem(err);
        if (str_starts(line, STR("class ")))
            break;
    }
    return true;
}

static void begin_recording(struct settings_reader *r, uint32_t recording)
{
    r->recording = recording;
    r->n_changes = r->n_programs = 0;
    memset(r->last, 0, sizeof r->last);
}

static bool read_settings_record(struct settings_reader *r, uint32_t i, struct err *err)
{
    const struct record *record = &r->trace->records[i];
    struct err unreadable = { 0 };
    bool metrics = record->event == EVENT_COMPILATION_METRICS && r->n_changes < MOST_CHANGES;
    bool artifact = record->event == EVENT_ARTIFACT && r->n_programs < MOST_PROGRAMS;
    if (!metrics && !artifact)
        return true;
    if (!record_json(r->trace, i, &r->record, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    if (metrics)
        return read_config_record(r, i) || err_nomem(err);
    return !json_is(&r->record, json_get(&r->record, JSON_ROOT, STR("name")),
                    "fx_graph_runnable") ||
           read_program(r, i, err);
}

/* Reads records from `first` to before `end`. */
static struct setting_list *read_records(struct trace *trace, uint32_t first, uint32_t end,
                                         struct err *err)
{
    struct settings_reader *r = calloc(1, sizeof *r);
    if (!r) {
        err_nomem(err);
        return NULL;
    }
    r->trace = trace;
    bool ok = true;
    for (uint32_t i = first; ok && i < end; i++) {
        if (i == first || trace->records[i].recording != r->recording)
            begin_recording(r, trace->records[i].recording);
        ok = read_settings_record(r, i, err);
    }
    json_release(&r->record);
    json_release(&r->config);
    buf_release(&r->text);
    intern_release(&r->keys);
    r->list.settings = r->settings.v;
    r->list.n = (uint32_t)r->settings.n;
    if (ok)
        return &r->list;
    settings_free(&r->list);
    return NULL;
}

struct setting_list *settings_read(struct trace *trace, struct err *err)
{
    return read_records(trace, 0, trace->n_records, err);
}

struct setting_list *settings_of_record(struct trace *trace, uint32_t record, struct err *err)
{
    return read_records(trace, record, record + 1, err);
}

void settings_free(struct setting_list *list)
{
    struct settings_reader *r = (struct settings_reader *)list;
    if (!r)
        return;
    vec_release(&r->settings);
    arena_release(&r->arena);
    free(r);
}

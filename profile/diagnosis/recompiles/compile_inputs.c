#include "profile/diagnosis/recompiles/compile_inputs.h"

#include "trace/base/vec.h"
#include "trace/events/incidents/incident_text.h"

struct described {
    int64_t describer, id;
    struct compile_input input;
};

struct inputs_reader {
    struct trace *trace;
    struct json doc;
    vec_of(struct described)
    described;
    vec_of(struct compile_input)
    inputs;
};

static void read_sizes(struct inputs_reader *r, struct compile_input *input)
{
    json_id sizes = json_get(&r->doc, JSON_ROOT, STR("size"));
    for (json_id id = json_first(&r->doc, sizes); id != JSON_NONE; id = json_next(&r->doc, id)) {
        if (input->n_sizes == COMPILE_INPUT_MOST_SIZES ||
            !json_i64(&r->doc, id, &input->sizes[input->n_sizes])) {
            input->n_sizes = 0;
            return;
        }
        input->n_sizes++;
    }
}

static bool read_described(struct inputs_reader *r)
{
    struct described d = { 0 };
    if (!json_i64(&r->doc, json_get(&r->doc, JSON_ROOT, STR("describer_id")), &d.describer) ||
        !json_i64(&r->doc, json_get(&r->doc, JSON_ROOT, STR("id")), &d.id))
        return true;
    read_sizes(r, &d.input);
    return vec_push(&r->described, d);
}

static bool read_source(struct inputs_reader *r, struct arena *arena)
{
    int64_t describer, id;
    struct str source = json_decoded(&r->doc, json_get(&r->doc, JSON_ROOT, STR("source")), arena);
    if (!source.p)
        return false;
    struct compile_inputs known = { r->inputs.v, (uint32_t)r->inputs.n };
    if (!json_i64(&r->doc, json_get(&r->doc, JSON_ROOT, STR("describer_id")), &describer) ||
        !json_i64(&r->doc, json_get(&r->doc, JSON_ROOT, STR("id")), &id) ||
        compile_input_find(&known, source))
        return true;
    for (size_t i = r->described.n; i-- > 0;) {
        struct described *d = &r->described.v[i];
        if (d->describer != describer || d->id != id)
            continue;
        d->input.source = arena_copy(arena, source);
        return d->input.source.p && vec_push(&r->inputs, d->input);
    }
    return true;
}

bool compile_inputs_read(struct trace *trace, uint32_t attempt, struct arena *arena,
                         struct compile_inputs *ret, struct err *err)
{
    struct inputs_reader r = { .trace = trace };
    const struct attempt *a = &trace->attempts[attempt];
    bool ok = true;
    for (uint32_t i = 0; ok && i < a->n_records; i++) {
        enum event event = trace->records[a->records[i]].event;
        struct err unreadable = { 0 };
        if (event != EVENT_DESCRIBE_TENSOR && event != EVENT_DESCRIBE_SOURCE)
            continue;
        if (!record_json(trace, a->records[i], &r.doc, &unreadable))
            ok = unreadable.kind != ERR_ENV;
        else
            ok = event == EVENT_DESCRIBE_TENSOR ? read_described(&r) : read_source(&r, arena);
    }
    struct compile_input *inputs = arena_array(arena, struct compile_input, r.inputs.n + 1);
    ok = ok && inputs;
    if (ok && r.inputs.n > 0)
        memcpy(inputs, r.inputs.v, r.inputs.n * sizeof *inputs);
    *ret = (struct compile_inputs){ inputs, ok ? (uint32_t)r.inputs.n : 0 };
    vec_release(&r.described);
    vec_release(&r.inputs);
    json_release(&r.doc);
    return ok || err_nomem(err);
}

const struct compile_input *compile_input_find(const struct compile_inputs *inputs,
                                               struct str source)
{
    for (uint32_t i = 0; i < inputs->n; i++)
        if (str_eq(inputs->inputs[i].source, source))
            return &inputs->inputs[i];
    return NULL;
}

/* Returns the line of a text that contains position `at`, from there on. */
static struct str rest_of_line(struct str text, size_t at)
{
    text = str_from(text, at);
    return str_first(text, str_find_char(text, '\n'));
}

bool compile_guard_find(struct trace *trace, uint32_t attempt, struct str text, struct arena *arena,
                        struct compile_guard *ret, struct err *err)
{
    const struct attempt *a = &trace->attempts[attempt];
    for (uint32_t i = 0; i < a->n_records; i++) {
        struct str payload;
        struct err unreadable = { 0 };
        if (trace->records[a->records[i]].event != EVENT_DYNAMO_CPP_GUARDS_STR)
            continue;
        if (!trace_payload(trace, a->records[i], &payload, &unreadable)) {
            if (unreadable.kind == ERR_ENV)
                return err_set(err, ERR_ENV, "%s", unreadable.text);
            continue;
        }
        size_t at = str_find(payload, text);
        if (at == payload.n)
            continue;
        struct str line = arena_copy(arena, rest_of_line(payload, at + text.n));
        if (!line.p)
            return err_nomem(err);
        struct recompile_text parsed = recompile_text_parse(line);
        *ret = (struct compile_guard){
            .value = str_trim(str_first(line, str_find(line, STR("  # ")))),
            .file = parsed.file,
            .code = parsed.code,
            .line = parsed.line,
        };
        return true;
    }
    return false;
}

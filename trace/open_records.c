/* Reads one record: its metadata, its payload, its damage. */
#include <stdio.h>

#include "trace/log/import_piece.h"
#include "trace/tables.h"

struct str context_compile_id(const struct context *context, char *out)
{
    const long long autograd = context->compiled_autograd_id, frame = context->frame_id;
    const long long compile = context->frame_compile_id;
    int n = 0;
    if (autograd >= 0 && frame >= 0)
        n = snprintf(out, 80, "!%lld/%lld/%lld", autograd, frame, compile);
    else if (autograd >= 0)
        n = snprintf(out, 80, "!%lld", autograd);
    else if (frame >= 0)
        n = snprintf(out, 80, "%lld/%lld", frame, compile);
    return (struct str){ out, (size_t)n };
}

/* Returns a payload without TABs. One with an irregular layout is stored unchanged and is
 * converted each time. */
static bool without_tabs(struct trace *trace, struct str text, struct str *ret, struct err *err)
{
    struct buf plain = BUF_INIT;
    import_strip_tabs(text, &plain);
    struct str copy =
        plain.failed ? (struct str){ 0 } : arena_copy(&trace->tables->arena, buf_str(&plain));
    buf_release(&plain);
    *ret = copy;
    return copy.p || err_nomem(err);
}

bool trace_payload(struct trace *trace, uint32_t record, struct str *ret, struct err *err)
{
    *ret = STR("");
    if (trace->records[record].payload == TRACE_NONE)
        return err_set(err, ERR_USAGE, "the record has no payload");
    if (!tape_payload(trace->tables->tape, trace->records[record].payload, ret, err))
        return false;
    if (trace->tables->tape->records.v[record].flags & TAPE_RECORD_ODD_PAYLOAD)
        return without_tabs(trace, *ret, ret, err);
    return true;
}

void trace_forget_payloads(struct trace *trace)
{
    tape_forget_payloads(trace->tables->tape);
}

bool trace_payload_copy(struct trace *trace, uint32_t record, struct arena *arena, struct str *ret,
                        struct err *err)
{
    struct str text;
    if (!trace_payload(trace, record, &text, err))
        return false;
    *ret = arena_copy(arena, text);
    return ret->p || err_nomem(err);
}

uint64_t trace_payload_size(const struct trace *trace, uint32_t record)
{
    return tape_payload_size(trace->tables->tape, trace->records[record].payload);
}

bool record_json(const struct trace *trace, uint32_t record, struct json *doc, struct err *err)
{
    if (trace->records[record].event == EVENT_RAW)
        return err_set(err, ERR_INPUT, "a raw record has no metadata");
    return json_parse(doc, trace->records[record].meta, err);
}

bool record_try_json(const struct trace *trace, uint32_t record, struct json *doc, bool *readable,
                     struct err *err)
{
    struct err why = { 0 };
    *readable = record_json(trace, record, doc, &why);
    return *readable || why.kind == ERR_INPUT || err_nomem(err);
}

stack_id record_stack(struct trace *trace, const struct json *doc, struct str key)
{
    stack_id stack = 0;
    json_ref(doc, json_get(doc, JSON_ROOT, key), &stack);
    return stack < trace_n_stacks(trace) ? stack : 0;
}

const char *record_damage(const struct trace *trace, uint32_t record)
{
    static const struct {
        uint32_t flag;
        const char *what;
    } flags[] = {
        { RECORD_BAD_CHECKSUM, "the payload does not match its checksum" },
        { RECORD_NO_PAYLOAD, "the payload is missing" },
        { RECORD_UNANNOUNCED, "a payload that its header does not announce" },
        { RECORD_LOST_META, "the metadata is lost on the tape" },
    };
    const struct record *r = &trace->records[record];
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (r->flags & flags[i].flag)
            return flags[i].what;
    if (r->event != EVENT_RAW || r->meta.n == 0)
        return NULL;
    if (r->meta.p[0] == '\t')
        return "a payload without a header";
    return str_trim(r->meta).n ? "not a record" : NULL;
}

static void add_damage(struct damage *ret, uint64_t max, uint64_t *n, struct damage place)
{
    if (*n < max)
        ret[*n] = place;
    ++*n;
}

uint64_t trace_damage(const struct trace *trace, struct damage *ret, uint64_t max)
{
    const struct tape *tape = trace->tables->tape;
    uint64_t n = 0;
    for (size_t i = 0; i < tape->damage.n; i++)
        add_damage(ret, max, &n,
                   (struct damage){ TRACE_NONE, trace->path, 0, tape->damage.v[i].offset,
                                    tape->damage.v[i].what });
    for (uint32_t i = 0; i < trace->n_records; i++) {
        const struct record *r = &trace->records[i];
        const char *what = record_damage(trace, i);
        if (what)
            add_damage(ret, max, &n,
                       (struct damage){ r->recording, trace->recordings[r->recording].source,
                                        r->line, r->offset, str_of(what) });
    }
    for (uint32_t i = 0; i < trace->n_recordings; i++) {
        const struct tape_recording *row = &tape->recordings.v[i];
        if (row->damage.n)
            add_damage(ret, max, &n, (struct damage){ i, row->source, 0, row->bytes, row->damage });
    }
    return n;
}

int64_t record_us_between(const struct trace *trace, uint32_t from, uint32_t to)
{
    const uint64_t day = UINT64_C(86400000000);
    int64_t us =
        (int64_t)(trace->records[to].time_us % day) - (int64_t)(trace->records[from].time_us % day);
    return us < -(int64_t)day / 2 ? us + (int64_t)day : us;
}

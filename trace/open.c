#include "trace/open.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "trace/log/import.h"
#include "trace/log/source.h"
#include "trace/tables.h"

enum { RAW_SHOWN = TAPE_INLINE_LIMIT, VERSION_LIMIT = 64 << 10 };

static const struct str event_names[EVENT_COUNT] = {
#define EVENT(id, name) [EVENT_##id] = { name, sizeof name - 1 },
#include "trace/events.def"
#undef EVENT
};

struct str event_name(enum event event)
{
    return event < EVENT_COUNT && event_names[event].p ? event_names[event] : STR("");
}

const char *attempt_status_name(enum attempt_status status)
{
    static const char *const names[] = {
        [ATTEMPT_OK] = "ok",
        [ATTEMPT_FAILED] = "failed",
        [ATTEMPT_RESTARTED] = "restarted",
        [ATTEMPT_UNFINISHED] = "unfinished",
    };
    return names[status];
}

static enum event event_by_name(struct str name)
{
    for (int id = EVENT_OTHER + 1; id < EVENT_COUNT; id++)
        if (str_eq(event_names[id], name))
            return (enum event)id;
    return EVENT_OTHER;
}

struct str trace_string(const struct trace *trace, uint32_t id)
{
    return tape_string(trace->tables->tape, id);
}

static bool read_whole_source(struct source *source, struct buf *out, struct err *err)
{
    size_t n = 0;
    do {
        out->n += n;
        if (!buf_reserve(out, SOURCE_READ_SIZE))
            return err_nomem(err);
        if (!source_read(source, out->p + out->n, out->cap - out->n, &n, err))
            return false;
    } while (n > 0);
    return true;
}

/* Reads the tape's bytes, or imports `path` when it is something else. `bytes`: NULL, or the
 * content of the file. */
static bool load_tape(const char *path, const struct str *bytes,
                      const struct trace_options *options, struct buf *out, bool *is_tape,
                      struct err *err)
{
    struct import_options import = { 0 };
    struct import_result result = { 0 };
    struct stat st;
    if (options) {
        import.strict = options->strict;
        import.redact = options->redact;
        import.meter = options->meter;
    }
    bool folder = !bytes && strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode);
    struct source *source = folder  ? NULL
                            : bytes ? source_of_bytes(path, *bytes, err)
                                    : source_open(path, err);
    *is_tape = source && source->kind == SOURCE_TAPE;
    if (source && options)
        source_set_meter(source, options->meter);
    bool ok = folder || source;
    if (ok && *is_tape)
        ok = read_whole_source(source, out, err);
    else if (ok)
        ok = import_to_memory(path, source, &import, out, &result, err);
    import_result_release(&result);
    source_close(source);
    return ok;
}

/* Reads a context. It is the end of a JSON object, which is completed before it is read. */
static bool read_context_json(struct str text, struct buf *scratch, struct json *doc,
                              struct context *ret, struct err *err)
{
    static const char *const keys[] = { "compiled_autograd_id", "frame_id", "frame_compile_id",
                                        "rank", "attempt" };
    int64_t *const values[] = { &ret->compiled_autograd_id, &ret->frame_id, &ret->frame_compile_id,
                                &ret->rank, &ret->attempt };
    struct err ignored = { 0 };
    *ret = (struct context){ -1, -1, -1, -1, -1, 0 };
    buf_clear(scratch);
    buf_puts(scratch, "{\"event\": 0");
    for (size_t i = 0; i < text.n; i++)
        if (text.p[i] != 2) /* the mark of a right checksum */
            buf_putc(scratch, text.p[i]);
    if (scratch->failed)
        return err_nomem(err);
    if (!json_parse(doc, buf_str(scratch), &ignored))
        return ignored.kind == ERR_INPUT || err_nomem(err);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        int64_t v;
        if (json_i64(doc, json_get(doc, JSON_ROOT, str_of(keys[i])), &v) && v >= 0)
            *values[i] = v;
    }
    json_ref(doc, json_get(doc, JSON_ROOT, STR("stack")), &ret->stack);
    return true;
}

static bool read_contexts(struct trace *trace, struct err *err)
{
    struct tape *tape = trace->tables->tape;
    struct context *contexts =
        arena_array(&trace->tables->arena, struct context, tape->contexts.n + 1);
    struct buf scratch = BUF_INIT;
    struct json doc = { 0 };
    bool ok = contexts || err_nomem(err);
    for (size_t i = 0; i < tape->contexts.n && ok; i++)
        ok = read_context_json(tape->contexts.v[i], &scratch, &doc, &contexts[i], err);
    /* One more, for records whose context is lost. */
    ok = ok && read_context_json(STR("}"), &scratch, &doc, &contexts[tape->contexts.n], err);
    buf_release(&scratch);
    json_release(&doc);
    trace->contexts = contexts;
    trace->n_contexts = (uint32_t)tape->contexts.n + 1;
    return ok;
}

static uint32_t shown_flags(uint32_t flags)
{
    return (flags & TAPE_RECORD_BAD_CHECKSUM ? RECORD_BAD_CHECKSUM : 0) |
           (flags & TAPE_RECORD_NO_PAYLOAD ? RECORD_NO_PAYLOAD : 0) |
           (flags & (TAPE_RECORD_ODD_HEADER | TAPE_RECORD_ODD_PAYLOAD) ? RECORD_ODD_LAYOUT : 0) |
           (flags & TAPE_RECORD_UNANNOUNCED ? RECORD_UNANNOUNCED : 0);
}

/* Reads a metadata text that was too long for a row, once for all records that share it. A raw
 * record has only the start of its bytes. */
static bool read_long_meta(struct trace *trace, const struct tape_record *row, struct str *ret,
                           struct err *err)
{
    struct trace_tables *tables = trace->tables;
    size_t n = tables->tape->payloads.n;
    if (row->meta_id >= n)
        return err_set(err, ERR_INPUT, "the metadata is lost on the tape");
    if (!tables->long_metas)
        tables->long_metas = arena_array(&tables->arena, struct str, n);
    if (!tables->long_metas)
        return err_nomem(err);
    struct str text, *known = &tables->long_metas[row->meta_id];
    uint64_t size = tape_payload_size(tables->tape, row->meta_id);
    size_t shown = row->flags & TAPE_RECORD_RAW && size > RAW_SHOWN ? RAW_SHOWN : (size_t)size;
    if (!known->p || known->n < shown) {
        if (!tape_payload(tables->tape, row->meta_id, &text, err))
            return false;
        *known = arena_copy(&tables->arena, str_first(text, shown));
    }
    *ret = str_first(*known, shown);
    return known->p || err_nomem(err);
}

/* Finds a record's metadata; lost metadata becomes "{}". */
static bool find_meta(struct trace *trace, const struct tape_record *row, struct record *ret,
                      struct err *err)
{
    struct err lost = { 0 };
    ret->meta = row->meta;
    if (!(row->flags & TAPE_RECORD_META_STORED) || read_long_meta(trace, row, &ret->meta, &lost))
        return true;
    ret->meta = STR("{}");
    ret->flags |= RECORD_LOST_META;
    return lost.kind == ERR_INPUT || (*err = lost, false);
}

static bool convert_record(struct trace *trace, const struct tape_record *row, uint8_t *events,
                           struct record *ret, struct err *err)
{
    struct tape *tape = trace->tables->tape;
    *ret = (struct record){
        .name = TRACE_NONE,
        .recording = row->recording,
        .attempt = TRACE_NONE,
        .context = trace->n_contexts - 1,
        .payload = row->payload_id,
        .flags = shown_flags(row->flags),
        .path = row->path_id,
        .path_line = row->glog.path_line,
        .month_day = row->glog.month_day,
        .time_us = row->glog.time_us,
        .pid = row->glog.pid,
    };
    if (!(row->flags & TAPE_RECORD_RAW)) {
        ret->name = row->event_id;
        ret->event = EVENT_OTHER;
        if (row->event_id < tape->strings.texts.n) {
            uint8_t *known = &events[row->event_id];
            *known = *known ? *known : (uint8_t)event_by_name(tape_string(tape, row->event_id));
            ret->event = *known;
        }
        if (row->context_id < tape->contexts.n)
            ret->context = row->context_id;
    }
    return find_meta(trace, row, ret, err);
}

static struct recording describe_damage(const struct tape_recording *row)
{
    return (struct recording){
        .kind = row->kind == RECORDING_PT2 ? RECORDING_PT2 : RECORDING_LOG,
        .name = row->name,
        .source = row->source,
        .rank = -1,
        .torch_version = STR(""),
        .bytes = row->bytes,
        .complete = row->complete && row->name.n,
    };
}

/* Reads the version of torch from an archive's program; import puts it into the metadata. */
static bool read_exported_version(struct trace *trace, uint32_t record, struct recording *to,
                                  struct err *err)
{
    struct json doc = { 0 };
    bool readable, ok = record_try_json(trace, record, &doc, &readable, err);
    if (ok && readable)
        to->torch_version = json_decoded(&doc, json_get(&doc, JSON_ROOT, STR("torch_version")),
                                         &trace->tables->arena);
    json_release(&doc);
    return ok && (to->torch_version.p || err_nomem(err));
}

/* Reads the version from a text that has "pytorch_version": "2.13.0+cpu" in it. */
static bool find_version(struct trace *trace, struct str text, struct recording *to,
                         struct err *err)
{
    static const char key[] = "\"pytorch_version\": \"";
    size_t at = str_find(text, STR(key));
    if (at == text.n)
        return true;
    text = str_from(text, at + sizeof key - 1);
    to->torch_version =
        arena_copy(&trace->tables->arena, str_first(text, str_find_char(text, '"')));
    return to->torch_version.p || err_nomem(err);
}

/* Reads the version from torch_version, a JSON artifact that torch writes from 2.12 on, right
 * after its first record. */
static bool read_logged_version(struct trace *trace, uint32_t record, struct recording *to,
                                struct err *err)
{
    struct str text;
    if (trace_payload_size(trace, record) > VERSION_LIMIT)
        return true;
    struct err lost = { 0 };
    if (!trace_payload(trace, record, &text, &lost))
        return lost.kind != ERR_ENV || (*err = lost, false);
    return find_version(trace, text, to, err);
}

/* Reads the version from the metadata if they have it, which is cheap to check. The metrics of a
 * compile have it from torch 2.10 on. */
static bool read_version(struct trace *trace, uint32_t record, struct recording *to,
                         struct err *err)
{
    const struct record *r = &trace->records[record];
    if (to->torch_version.n)
        return true;
    if (r->event == EVENT_COMPILATION_METRICS)
        return find_version(trace, r->meta, to, err);
    if ((r->event != EVENT_ARTIFACT && r->event != EVENT_PT2_MEMBER) ||
        str_find(r->meta, STR("\"torch_version\"")) == r->meta.n)
        return true;
    return r->event == EVENT_ARTIFACT ? read_logged_version(trace, record, to, err)
                                      : read_exported_version(trace, record, to, err);
}

/* Adds a record to its recording's figures. */
static bool count_record(struct trace *trace, struct recording *recordings, uint32_t i,
                         struct err *err)
{
    const struct record *record = &trace->records[i];
    struct recording *to = &recordings[record->recording];
    const struct context *context = &trace->contexts[record->context];
    if (to->n_records++ == 0)
        to->first_record = i;
    to->payloads += record->payload != TRACE_NONE;
    to->damaged += record_damage(trace, i) != NULL;
    if (record->event == EVENT_RAW)
        return true;
    if (to->pid == 0)
        to->pid = record->pid;
    if (to->rank < 0)
        to->rank = context->rank;
    return read_version(trace, i, to, err);
}

static bool read_recordings(struct trace *trace, struct err *err)
{
    struct tape *tape = trace->tables->tape;
    size_t n = tape->recordings.n;
    struct recording *recordings = arena_array(&trace->tables->arena, struct recording, n + 1);
    trace->recordings = recordings;
    trace->n_recordings = (uint32_t)n;
    if (!recordings)
        return err_nomem(err);
    for (size_t i = 0; i < n; i++)
        recordings[i] = describe_damage(&tape->recordings.v[i]);
    for (uint32_t i = 0; i < trace->n_records; i++)
        if (!count_record(trace, recordings, i, err))
            return false;
    return true;
}

static bool read_tape_records(struct trace *trace, struct record **ret, struct err *err)
{
    struct tape *tape = trace->tables->tape;
    size_t n = tape->recordings.n ? tape->records.n : 0, n_strings = tape->strings.texts.n;
    struct record *records = arena_array(&trace->tables->arena, struct record, n);
    uint8_t *events = arena_array(&trace->tables->arena, uint8_t, n_strings);
    uint64_t line = 1, offset = 0;
    if (n >= TRACE_NONE)
        return err_set(err, ERR_INPUT, "a tape of %zu records", n);
    if ((n && !records) || (n_strings && !events))
        return err_nomem(err);
    trace->records = *ret = records;
    trace->n_records = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct tape_record *row = &tape->records.v[i];
        uint32_t before = i ? records[i - 1].recording : 0;
        if (!convert_record(trace, row, events, &records[i], err))
            return false;
        /* Recordings follow each other on a tape; a record that names another, or none, is assigned
         * to the last one seen, so that first_record and n_records are right. */
        bool valid = row->recording >= before && row->recording < tape->recordings.n;
        records[i].recording = valid ? row->recording : before;
        if (records[i].recording != before)
            line = 1, offset = 0;
        records[i].line = line;
        records[i].offset = offset;
        line += row->lines;
        offset += row->bytes;
    }
    return true;
}

static bool build_trace(struct trace *trace, struct err *err)
{
    struct record *records = NULL;
    if (trace->tables->tape->recordings.n == 0)
        return err_set(err, ERR_INPUT, "the tape has no recording");
    return read_contexts(trace, err) && read_tape_records(trace, &records, err) &&
           read_recordings(trace, err) && trace_find_files(trace, err) &&
           trace_find_attempts(trace, records, err);
}

static bool check_strict(struct trace *trace, struct err *err)
{
    struct damage first;
    if (trace_damage(trace, &first, 1) == 0)
        return true;
    return err_set(err, ERR_INPUT, "%.*s:%llu: offset %llu: %.*s", STR_ARG(first.source),
                   (unsigned long long)first.line, (unsigned long long)first.offset,
                   STR_ARG(first.what));
}

/* Returns the limit on memory; a tape that we have just made needs none. */
static uint64_t most_of(const struct trace_options *options, size_t stored, bool is_tape)
{
    if (!is_tape)
        return UINT64_MAX;
    return options && options->meter ? options->meter->allowed(options->meter)
                                     : TAPE_MEMORY_BASE + TAPE_MEMORY_TIMES * (uint64_t)stored;
}

static struct trace *open_trace(const char *path, const struct str *bytes,
                                const struct trace_options *options, struct err *err)
{
    struct trace *trace = calloc(1, sizeof *trace);
    struct trace_tables *tables = calloc(1, sizeof *tables);
    bool is_tape = false;
    if (!trace || !tables) {
        free(trace);
        free(tables);
        err_nomem(err);
        return NULL;
    }
    trace->tables = tables;
    trace->path = arena_copy(&tables->arena, str_of(path));
    bool ok = (trace->path.p || err_nomem(err)) &&
              load_tape(path, bytes, options, &tables->bytes, &is_tape, err);
    if (ok) {
        tables->tape =
            tape_read(buf_str(&tables->bytes), most_of(options, tables->bytes.n, is_tape), err);
        trace->tape_bytes = is_tape ? tables->bytes.n : 0;
        ok = tables->tape && build_trace(trace, err) &&
             (!options || !options->strict || check_strict(trace, err));
        if (!ok)
            err_at(err, "%s", path);
    }
    if (ok)
        return trace;
    trace_close(trace);
    return NULL;
}

struct trace *trace_open(const char *path, const struct trace_options *options, struct err *err)
{
    return open_trace(path, NULL, options, err);
}

struct trace *trace_open_bytes(const char *name, struct str bytes,
                               const struct trace_options *options, struct err *err)
{
    return open_trace(name, &bytes, options, err);
}

void trace_close(struct trace *trace)
{
    if (!trace)
        return;
    struct trace_tables *tables = trace->tables;
    for (uint32_t i = 0; tables->parsed && i < tables->graphs->n; i++)
        graph_free(tables->parsed[i]);
    tape_close(tables->tape);
    arena_release(&tables->arena);
    buf_release(&tables->bytes);
    free(tables);
    free(trace);
}

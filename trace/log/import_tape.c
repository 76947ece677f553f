/* Imports a tape that is to be redacted: each of its recordings is read as the log that it was. */
#include <sys/stat.h>

#include "trace/log/export.h"
#include "trace/log/importing.h"
#include "trace/tables.h"

static struct tape *tape_of(const struct trace *trace)
{
    return trace->tables->tape;
}

/* Reports damage again that the tape has recorded. */
static bool keep_state(struct importer *in, const struct tape_recording *was, struct err *err)
{
    buf_clear(&in->scratch);
    redact_text(&in->redact, was->damage, &in->scratch);
    in->recording.complete &= was->complete;
    in->recording.input_bytes = was->input_bytes;
    in->recording.damage = arena_copy(&in->arena, buf_str(&in->scratch));
    return (!in->scratch.failed && in->recording.damage.p) || err_nomem(err);
}

static bool import_tape_log(struct importer *in, struct trace *trace, uint32_t recording,
                            const char *name, struct err *err)
{
    struct export_reader *reader = export_open(trace, recording, err);
    struct source *source = reader ? source_of_reader(name, export_read, reader, err) : NULL;
    bool ok = source && import_log_begin(in, source, err) &&
              keep_state(in, &tape_of(trace)->recordings.v[recording], err);
    const struct err *damage = ok ? export_damage(reader) : NULL;
    if (damage)
        in->recording.complete = false;
    ok =
        ok && (!damage || importing_damage(in, 0, 0, damage->text, err)) && import_log_end(in, err);
    source_close(source);
    export_close(reader);
    return ok;
}

/* Imports a member of a .pt2 archive. */
static bool import_tape_row(struct importer *in, struct trace *trace,
                            const struct tape_record *from, struct err *err)
{
    struct tape *tape = tape_of(trace);
    struct tape_record row = *from;
    struct str payload = STR(""), meta = from->meta;
    bool known = from->context_id < tape->contexts.n && !(from->flags & TAPE_RECORD_RAW);
    if (!known)
        return importing_damage(in, 0, 0, "a member that is lost on the tape", err);
    if (from->flags & TAPE_RECORD_META_STORED && !tape_payload(tape, from->meta_id, &meta, err))
        return false;
    if (from->flags & TAPE_RECORD_PAYLOAD && !tape_payload(tape, from->payload_id, &payload, err))
        return false;
    buf_clear(&in->header);
    buf_clear(&in->context);
    redact_text(&in->redact, meta, &in->header);
    redact_text(&in->redact, payload, &in->context);
    row.flags = from->flags & TAPE_RECORD_PAYLOAD;
    row.recording = in->recording.index;
    row.glog.path = tape_string(tape, from->path_id);
    row.event = tape_string(tape, from->event_id);
    row.context = tape->contexts.v[from->context_id];
    row.meta = buf_str(&in->header);
    row.payload = buf_str(&in->context);
    in->result->records++;
    in->result->payloads += (row.flags & TAPE_RECORD_PAYLOAD) != 0;
    if (in->header.failed || in->context.failed)
        return err_nomem(err);
    return tape_add_record(in->tape, &row, TAPE_LANE_OTHER, err);
}

static bool import_tape_archive(struct importer *in, struct trace *trace, uint32_t recording,
                                const char *name, struct err *err)
{
    const struct recording *from = &trace->recordings[recording];
    bool ok = importing_begin(in, RECORDING_PT2, name, err);
    for (uint32_t i = 0; ok && i < from->n_records; i++) {
        struct err lost = { 0 };
        ok = import_tape_row(in, trace, &tape_of(trace)->records.v[from->first_record + i], &lost);
        if (!ok && lost.kind == ERR_INPUT && !in->options->strict)
            ok = importing_damage(in, 0, 0, lost.text, err);
        else if (!ok)
            *err = lost;
    }
    in->recording.complete = true;
    in->recording.bytes = from->bytes;
    ok = ok && keep_state(in, &tape_of(trace)->recordings.v[recording], err);
    return ok && importing_end(in, import_archive_name(in), err);
}

/* Calls `fn` for each recording, with the name of the file that it was imported from. */
static bool for_each(struct importer *in, const char *path,
                     bool (*fn)(struct importer *in, struct trace *trace, uint32_t recording,
                                const char *name, struct err *err),
                     struct err *err)
{
    struct trace *trace = trace_open(path, NULL, err);
    bool ok = trace != NULL;
    for (uint32_t i = 0; ok && i < trace->n_recordings && !importing_stopped(in); i++) {
        struct str source = arena_copy(&in->arena, trace->recordings[i].source);
        ok = (source.p || err_nomem(err)) && fn(in, trace, i, source.p, err);
    }
    trace_close(trace);
    return ok;
}

static bool import_recording(struct importer *in, struct trace *trace, uint32_t recording,
                             const char *name, struct err *err)
{
    return trace->recordings[recording].kind == RECORDING_PT2
               ? import_tape_archive(in, trace, recording, name, err)
               : import_tape_log(in, trace, recording, name, err);
}

static bool learn_archive(struct importer *in, struct trace *trace, uint32_t recording,
                          struct err *err)
{
    const struct recording *from = &trace->recordings[recording];
    struct str payload;
    bool ok = true;
    for (uint32_t i = 0; ok && i < from->n_records; i++)
        if (trace_payload(trace, from->first_record + i, &payload, &(struct err){ 0 }))
            ok = redact_learn(&in->redact, payload, err);
    return ok;
}

static bool learn_recording(struct importer *in, struct trace *trace, uint32_t recording,
                            const char *name, struct err *err)
{
    if (trace->recordings[recording].kind == RECORDING_PT2)
        return learn_archive(in, trace, recording, err);
    struct export_reader *reader = export_open(trace, recording, err);
    struct source *source = reader ? source_of_reader(name, export_read, reader, err) : NULL;
    bool ok = source && import_learn_log(in, source, err);
    source_close(source);
    export_close(reader);
    return ok;
}

bool import_tape(struct importer *in, const struct source *source, struct err *err)
{
    if (!in->options->redact)
        return err_set(err, ERR_USAGE, "%s is a tape already", source->path);
    struct stat info;
    if (stat(source->path, &info) != 0 || !S_ISREG(info.st_mode)) /* standard input, or a pipe */
        return err_set(err, ERR_USAGE,
                       "%s: redacting reads a tape twice; name a file instead of standard input",
                       source->path);
    return for_each(in, source->path, import_recording, err);
}

bool import_learn_tape(struct importer *in, const char *path, struct err *err)
{
    return for_each(in, path, learn_recording, err);
}

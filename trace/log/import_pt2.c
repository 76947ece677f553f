#include "trace/log/importing.h"

#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"
#include "trace/pt2/pt2.h"

/* Returns whether a member goes onto the tape: the program and the members that describe the
 * archive do; weights, pickles and code stay in the archive and are named by their offset. */
static bool goes_onto_tape(const struct pt2 *pt2, struct str name)
{
    static const char *const files[] = { "version", "byteorder", "archive_format",
                                         "archive_version", "serialization_id" };
    struct str base = str_basename(name);
    bool kept = str_ends(name, STR(".json"));
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        kept |= str_is(base, files[i]);
    return kept && str_find(str_from(name, pt2->root.n), STR("extra/")) != 0;
}

/* Writes the record of a member; sizes are in bytes, the offset is that in the archive. */
static void describe_member(const struct zip_member *member, struct str torch_version,
                            struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    buf_clear(out);
    json_open_object(&w, NULL);
    json_put_str(&w, "name", member->name);
    if (torch_version.n)
        json_put_str(&w, "torch_version", torch_version);
    json_put_cstr(&w, "method", member->method == ZIP_STORED ? "stored" : "deflated");
    json_put_u64(&w, "offset", member->data);
    json_put_u64(&w, "packed", member->packed);
    json_put_u64(&w, "size", member->size);
    json_put_u64(&w, "crc32", member->crc);
    json_close(&w);
}

static bool read_pt2_member(struct importer *in, const struct pt2 *pt2,
                            const struct zip_member *member, struct tape_record *row,
                            struct err *err)
{
    struct err why = { 0 };
    struct str text;
    if (!zip_read(&pt2->zip, member, &in->payload, &text, &why)) {
        if (why.kind == ERR_INPUT)
            return importing_damage(in, 0, member->data, why.text, err);
        *err = why;
        return err_at(err, "%.*s", STR_ARG(in->recording.source));
    }
    if (in->options->redact) {
        buf_clear(&in->context);
        redact_text(&in->redact, text, &in->context);
        text = buf_str(&in->context);
    }
    row->payload = text;
    row->flags |= TAPE_RECORD_PAYLOAD;
    return !in->context.failed || err_nomem(err);
}

static bool is_pt2_program(const struct pt2 *pt2, const struct zip_member *member)
{
    for (uint32_t i = 0; i < pt2->n_models; i++)
        if (pt2->models[i].program == member)
            return true;
    return false;
}

/* Reads the version of the torch that exported the program; "" when the program does not have
 * it, or is too large to be parsed for the version alone. */
static bool read_torch_version(struct importer *in, struct str program, struct str *ret,
                               struct err *err)
{
    enum { LAID_OUT_LIMIT = 64 << 20 };
    struct err ignored = { 0 };
    struct json doc = { 0 };
    *ret = STR("");
    if (program.n <= LAID_OUT_LIMIT && json_parse(&doc, program, &ignored))
        *ret = json_decoded(&doc, json_get(&doc, JSON_ROOT, STR("torch_version")), &in->arena);
    json_release(&doc);
    return (ret->p && ignored.kind != ERR_ENV) || err_nomem(err);
}

static bool add_member(struct importer *in, const struct pt2 *pt2, const struct zip_member *member,
                       struct err *err)
{
    struct tape_record row = { .recording = in->recording.index,
                               .event = STR("pt2_member"),
                               .context = STR("}"),
                               .glog = { .level = 'V', .path = STR("") } };
    struct str torch_version = STR("");
    if (goes_onto_tape(pt2, member->name) && !read_pt2_member(in, pt2, member, &row, err))
        return false;
    if (row.payload.n && is_pt2_program(pt2, member) &&
        !read_torch_version(in, row.payload, &torch_version, err))
        return false;
    describe_member(member, torch_version, &in->header);
    row.meta = buf_str(&in->header);
    if (in->header.failed)
        return err_nomem(err);
    in->result->records++;
    in->result->payloads += (row.flags & TAPE_RECORD_PAYLOAD) != 0;
    return tape_add_record(in->tape, &row, TAPE_LANE_OTHER, err);
}

struct str import_archive_name(const struct importer *in)
{
    struct str name = str_basename(in->recording.source);
    if (str_ends(name, STR(".pt2")))
        name.n -= 4;
    return name;
}

static bool add_pt2_members(struct importer *in, const struct pt2 *pt2, struct err *err)
{
    for (uint32_t i = 0; i < pt2->zip.n_members; i++)
        if (!add_member(in, pt2, &pt2->zip.members[i], err))
            return false;
    in->recording.complete = true;
    in->recording.bytes = in->recording.input_bytes = pt2->zip.size;
    return importing_end(in, import_archive_name(in), err);
}

bool import_pt2(struct importer *in, const struct source *source, struct err *err)
{
    const char *path = source->path;
    struct source_meter *meter = in->options->meter;
    struct file file;
    struct pt2 pt2;
    if (!file_open(&file, path, err))
        return false;
    if (meter && file.size > source->file_bytes)
        meter->stored(meter, file.size - source->file_bytes);
    bool ok = pt2_open_file(&pt2, &file, NULL, err);
    if (ok) {
        ok = importing_begin(in, 1, path, err) && add_pt2_members(in, &pt2, err);
        pt2_close(&pt2);
    } else {
        err_at(err, "%s", path);
    }
    file_close(&file);
    return ok;
}

#include "trace/recorded_pt2.h"

#include <stdlib.h>

#include "trace/tables.h"

/* An archive that is being opened. */
struct recorded_pt2_reader {
    struct trace *trace;
    const struct recording *recording;
    const struct pt2 *pt2;
    const uint32_t *records;
    struct json doc;
};

/* Reads a member's payload, as a pt2_reader. */
static bool read_recorded_payload(void *user, const struct zip_member *member, struct buf *scratch,
                                  struct str *ret, struct err *err)
{
    const struct recorded_pt2_reader *in = user;
    uint32_t record = in->records[member - in->pt2->zip.members];
    (void)scratch;
    if (in->trace->records[record].payload == TRACE_NONE)
        err_set(err, ERR_INPUT, "not on the tape");
    else if (trace_payload(in->trace, record, ret, err))
        return true;
    return zip_err_at(member, err);
}

/* Reads what import wrote into a record's metadata. Returns false without an error if that is no
 * member. */
static bool read_recorded_member(struct recorded_pt2_reader *in, uint32_t record,
                                 struct zip_member *ret, struct err *err)
{
    const struct json *doc = &in->doc;
    uint64_t crc = 0;
    bool readable;
    if (in->trace->records[record].event != EVENT_PT2_MEMBER ||
        !record_try_json(in->trace, record, &in->doc, &readable, err) || !readable)
        return false;
    *ret = (struct zip_member){
        .name = json_decoded(doc, json_get(doc, JSON_ROOT, STR("name")), &in->trace->tables->arena),
        .method = json_is(doc, json_get(doc, JSON_ROOT, STR("method")), "stored") ? ZIP_STORED
                                                                                  : ZIP_DEFLATED,
    };
    json_u64(doc, json_get(doc, JSON_ROOT, STR("crc32")), &crc);
    ret->crc = (uint32_t)crc;
    if (!ret->name.p)
        return err_nomem(err);
    return ret->name.n && json_u64(doc, json_get(doc, JSON_ROOT, STR("offset")), &ret->data) &&
           json_u64(doc, json_get(doc, JSON_ROOT, STR("packed")), &ret->packed) &&
           json_u64(doc, json_get(doc, JSON_ROOT, STR("size")), &ret->size);
}

/* Fills both arrays, which are as long as the list of records; *n must be 0 before. */
static bool read_recorded_members(struct recorded_pt2_reader *in, struct zip_member *members,
                                  uint32_t *records, uint32_t *n, struct err *err)
{
    uint32_t first = in->recording->first_record;
    for (uint32_t i = first; i < first + in->recording->n_records; i++) {
        if (read_recorded_member(in, i, &members[*n], err))
            records[(*n)++] = i;
        else if (err_is_set(err))
            return false;
    }
    return true;
}

bool recorded_pt2_open(struct recorded_pt2 *archive, struct trace *trace, uint32_t recording,
                       struct err *err)
{
    struct recorded_pt2_reader in = { .trace = trace, .recording = &trace->recordings[recording] };
    const struct pt2_reader reader = { read_recorded_payload, &in };
    size_t room = (size_t)in.recording->n_records + 1; /* calloc(0) may return NULL */
    struct zip_member *members = calloc(room, sizeof *members);
    uint32_t n = 0;
    *archive = (struct recorded_pt2){ .records = calloc(room, sizeof *archive->records) };
    in.pt2 = &archive->pt2;
    in.records = archive->records;
    bool ok = (members && archive->records) || err_nomem(err);
    ok = ok && read_recorded_members(&in, members, archive->records, &n, err);
    if (ok && !pt2_open_members(&archive->pt2, members, n, &reader, err))
        ok = err_at(err, "%.*s", STR_ARG(in.recording->source));
    json_release(&in.doc);
    free(members);
    if (!ok)
        free(archive->records);
    return ok;
}

void recorded_pt2_close(struct recorded_pt2 *archive)
{
    pt2_close(&archive->pt2);
    free(archive->records);
    *archive = (struct recorded_pt2){ 0 };
}

uint32_t recorded_pt2_record(const struct recorded_pt2 *archive, const struct zip_member *member)
{
    return member ? archive->records[member - archive->pt2.zip.members] : TRACE_NONE;
}

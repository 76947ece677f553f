/* Writes and reads snapshots as JSON. Measures are stored by name; unknown names are left out when
 * reading. */
#include <stdlib.h>

#include "profile/compare/snapshot.h"
#include "trace/align/outline_json.h"

#define SCHEMA "symtape.snapshot/1"

static void write_phases(const struct snapshot *s, struct json_writer *w)
{
    json_open_array(w, "phases");
    for (uint32_t i = 0; i < s->n_phases; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "name", s->phases[i].name);
        json_put_u64(w, "calls", s->phases[i].calls);
        json_put_i64(w, "inclusive_ns", s->phases[i].inclusive_ns);
        json_put_i64(w, "exclusive_ns", s->phases[i].exclusive_ns);
        json_close(w);
    }
    json_close(w);
    json_open_array(w, "line_times");
    for (uint32_t i = 0; i < s->n_lines; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "file", s->lines[i].file);
        json_put_str(w, "function", s->lines[i].function);
        json_put_str(w, "code", s->lines[i].code);
        json_put_u64(w, "line", s->lines[i].line);
        json_put_i64(w, "estimated_ns", s->lines[i].estimated_ns);
        json_close(w);
    }
    json_close(w);
}

void snapshot_write(const struct snapshot *snapshot, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA);
    json_put_str(&w, "name", snapshot->name);
    json_put_u64(&w, "damaged", snapshot->damaged);
    json_put_u64(&w, "truncated", snapshot->truncated);
    json_put_bool(&w, "deep", snapshot->deep);
    json_open_object(&w, "measures");
    for (int i = 0; i < MEASURES; i++)
        if (snapshot->measures.has[i])
            json_put_double(&w, measure_row((enum measure)i)->name, snapshot->measures.value[i]);
    json_close(&w);
    write_phases(snapshot, &w);
    outline_write(snapshot->outline, &w, "outline");
    json_close(&w);
    buf_putc(out, '\n');
}

/* ---- reading -------------------------------------------------------------------------------- */

struct snapshot_reader {
    struct snapshot *s;
    struct json doc;
    struct err *err;
};

static bool read_member_text(struct snapshot_reader *r, json_id object, const char *key,
                             struct str *ret)
{
    json_id id = json_get(&r->doc, object, str_of(key));
    if (id == JSON_NONE || json_kind_of(&r->doc, id) != JSON_STRING)
        return err_set(r->err, ERR_INPUT, "%s: a string is missing", key);
    struct str text = json_decoded(&r->doc, id, &r->s->arena);
    *ret = text.p ? arena_copy(&r->s->arena, text) : text;
    return ret->p || err_nomem(r->err);
}

static bool read_member_i64(struct snapshot_reader *r, json_id object, const char *key,
                            int64_t *ret)
{
    json_id id = json_get(&r->doc, object, str_of(key));
    return (id != JSON_NONE && json_i64(&r->doc, id, ret) && *ret >= 0) ||
           err_set(r->err, ERR_INPUT, "%s: a number is missing", key);
}

static bool read_snapshot_measures(struct snapshot_reader *r)
{
    json_id list = json_get(&r->doc, JSON_ROOT, STR("measures"));
    if (list == JSON_NONE || json_kind_of(&r->doc, list) != JSON_OBJECT)
        return err_set(r->err, ERR_INPUT, "measures: no such object");
    for (int i = 0; i < MEASURES; i++) {
        json_id id = json_get(&r->doc, list, str_of(measure_row((enum measure)i)->name));
        r->s->measures.has[i] =
            id != JSON_NONE && json_double(&r->doc, id, &r->s->measures.value[i]);
    }
    return true;
}

static json_id list_of(struct snapshot_reader *r, const char *key, size_t *n)
{
    json_id list = json_get(&r->doc, JSON_ROOT, str_of(key));
    *n = list == JSON_NONE ? 0 : json_count(&r->doc, list);
    return list == JSON_NONE ? list : json_first(&r->doc, list);
}

static bool read_phases(struct snapshot_reader *r)
{
    size_t n;
    json_id id = list_of(r, "phases", &n);
    struct snapshot_phase *phases = arena_array(&r->s->arena, struct snapshot_phase, n + 1);
    if (!phases)
        return err_nomem(r->err);
    r->s->phases = phases;
    for (; id != JSON_NONE; id = json_next(&r->doc, id)) {
        struct snapshot_phase *p = &phases[r->s->n_phases++];
        int64_t calls;
        if (!read_member_text(r, id, "name", &p->name) ||
            !read_member_i64(r, id, "calls", &calls) ||
            !read_member_i64(r, id, "inclusive_ns", &p->inclusive_ns) ||
            !read_member_i64(r, id, "exclusive_ns", &p->exclusive_ns))
            return err_at(r->err, "phases");
        p->calls = (uint64_t)calls;
    }
    return true;
}

static bool read_lines(struct snapshot_reader *r)
{
    size_t n;
    json_id id = list_of(r, "line_times", &n);
    struct snapshot_line *lines = arena_array(&r->s->arena, struct snapshot_line, n + 1);
    if (!lines)
        return err_nomem(r->err);
    r->s->lines = lines;
    for (; id != JSON_NONE; id = json_next(&r->doc, id)) {
        struct snapshot_line *l = &lines[r->s->n_lines++];
        int64_t line;
        if (!read_member_text(r, id, "file", &l->file) ||
            !read_member_text(r, id, "function", &l->function) ||
            !read_member_text(r, id, "code", &l->code) || !read_member_i64(r, id, "line", &line) ||
            !read_member_i64(r, id, "estimated_ns", &l->estimated_ns))
            return err_at(r->err, "line_times");
        l->line = line > UINT32_MAX ? 0 : (uint32_t)line;
    }
    return true;
}

static bool read_snapshot_json(struct snapshot_reader *r)
{
    int64_t damaged, truncated;
    if (!json_is(&r->doc, json_get(&r->doc, JSON_ROOT, STR("schema")), SCHEMA))
        return err_set(r->err, ERR_INPUT, "not a snapshot (%s)", SCHEMA);
    if (!read_member_text(r, JSON_ROOT, "name", &r->s->name) ||
        !read_member_i64(r, JSON_ROOT, "damaged", &damaged) ||
        !read_member_i64(r, JSON_ROOT, "truncated", &truncated))
        return false;
    r->s->damaged = (uint64_t)damaged;
    r->s->truncated = truncated > UINT32_MAX ? UINT32_MAX : (uint32_t)truncated;
    r->s->deep = json_kind_of(&r->doc, json_get(&r->doc, JSON_ROOT, STR("deep"))) == JSON_TRUE;
    r->s->outline = outline_read(&r->doc, json_get(&r->doc, JSON_ROOT, STR("outline")), r->err);
    return r->s->outline && read_snapshot_measures(r) && read_phases(r) && read_lines(r);
}

struct snapshot *snapshot_read(struct str text, struct err *err)
{
    struct snapshot_reader r = { .s = calloc(1, sizeof *r.s), .err = err };
    if (!r.s) {
        err_nomem(err);
        return NULL;
    }
    bool ok = json_parse(&r.doc, text, err) && read_snapshot_json(&r);
    json_release(&r.doc);
    if (ok)
        return r.s;
    snapshot_free(r.s);
    return NULL;
}

bool snapshot_looks_like(struct str start)
{
    enum { NEAR = 200 };
    struct str text = str_first(str_trim(start), NEAR);
    return text.n > 0 && text.p[0] == '{' && str_find(text, STR("symtape.snapshot/")) < text.n;
}

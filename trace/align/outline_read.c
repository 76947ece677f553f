/* Reads an outline from JSON. The file is not trusted: every index is checked, and each part
 * must have as many rows as the part above it says. */
#include <stdlib.h>

#include "trace/align/outline_json.h"
#include "trace/events/guards.h"

struct outline_reader {
    struct outline *o;
    const struct json *doc;
    json_id object;
    const char *member; /* current member, for messages */
    json_id at;         /* the next element of the row, or of a flat list */
    uint32_t *texts;    /* by number in the file */
    uint32_t n_texts;
    struct buf decoded;
    struct err *err;
};

static bool wrong(struct outline_reader *r, const char *what)
{
    return err_set(r->err, ERR_INPUT, "%s: %s", r->member, what);
}

static bool take_signed(struct outline_reader *r, int64_t *ret)
{
    json_id id = r->at;
    if (id == JSON_NONE || !json_i64(r->doc, id, ret))
        return wrong(r, "an integer is missing");
    r->at = json_next(r->doc, id);
    return true;
}

static bool take_u32(struct outline_reader *r, uint32_t *ret)
{
    int64_t value;
    if (!take_signed(r, &value))
        return false;
    if (value < 0 || value >= UINT32_MAX)
        return wrong(r, "a number is out of range");
    *ret = (uint32_t)value;
    return true;
}

static bool take_below(struct outline_reader *r, size_t limit, uint32_t *ret)
{
    if (!take_u32(r, ret))
        return false;
    return *ret < limit || wrong(r, "an index is out of range");
}

static bool take_text_index(struct outline_reader *r, uint32_t *ret)
{
    uint32_t number = 0;
    if (!take_below(r, r->n_texts, &number))
        return false;
    *ret = r->texts[number];
    return true;
}

static bool take_line_index(struct outline_reader *r, uint32_t *ret)
{
    int64_t line;
    if (!take_signed(r, &line))
        return false;
    if (line < -1 || line >= (int64_t)r->o->lines.n)
        return wrong(r, "no such line");
    *ret = line < 0 ? OUTLINE_NONE : (uint32_t)line;
    return true;
}

/* Reads a word that is one of `n` names; `fallback` if it is none of them (of a later version,
 * say). */
static bool take_name(struct outline_reader *r, const char *(*name)(int), int n, uint32_t fallback,
                      uint32_t *ret)
{
    json_id id = r->at;
    if (id == JSON_NONE || json_kind_of(r->doc, id) != JSON_STRING)
        return wrong(r, "a name is missing");
    r->at = json_next(r->doc, id);
    *ret = fallback;
    for (int i = 0; i < n; i++)
        if (json_is(r->doc, id, name(i)))
            *ret = (uint32_t)i;
    return true;
}

/* Calls `row` for each element of a member, which is an array of arrays. */
static bool read_member_rows(struct outline_reader *r, const char *member,
                             bool (*row)(struct outline_reader *r))
{
    r->member = member;
    json_id list = json_get(r->doc, r->object, str_of(member));
    if (json_kind_of(r->doc, list) != JSON_ARRAY || list == JSON_NONE)
        return wrong(r, "no such list");
    for (json_id i = json_first(r->doc, list); i != JSON_NONE; i = json_next(r->doc, i)) {
        if (json_kind_of(r->doc, i) != JSON_ARRAY)
            return wrong(r, "a row is not a list");
        r->at = json_first(r->doc, i);
        if (!row(r))
            return err_is_set(r->err) ? false : err_nomem(r->err);
    }
    return true;
}

static bool read_outline_texts(struct outline_reader *r)
{
    r->member = "texts";
    json_id list = json_get(r->doc, r->object, STR("texts"));
    size_t n = json_count(r->doc, list);
    if (json_kind_of(r->doc, list) != JSON_ARRAY || n == 0 || n >= UINT32_MAX)
        return wrong(r, "no such list");
    r->texts = calloc(n, sizeof *r->texts);
    if (!r->texts || intern(&r->o->texts, STR("")) != 0)
        return err_nomem(r->err);
    for (json_id i = json_first(r->doc, list); i != JSON_NONE; i = json_next(r->doc, i)) {
        if (json_kind_of(r->doc, i) != JSON_STRING)
            return wrong(r, "not a string");
        buf_clear(&r->decoded);
        json_decode(r->doc, i, &r->decoded);
        uint32_t id = r->decoded.failed ? INTERN_NONE : intern(&r->o->texts, buf_str(&r->decoded));
        if (id == INTERN_NONE)
            return err_nomem(r->err);
        r->texts[r->n_texts++] = id;
    }
    return true;
}

static bool read_outline_line(struct outline_reader *r)
{
    struct outline_line l;
    return take_text_index(r, &l.file) && take_text_index(r, &l.function) &&
           take_text_index(r, &l.code) && take_u32(r, &l.line) && vec_push(&r->o->lines, l);
}

static bool read_outline_recording(struct outline_reader *r)
{
    struct outline_recording row = { .first_compile = 0 };
    return take_text_index(r, &row.name) && take_text_index(r, &row.torch_version) &&
           take_signed(r, &row.rank) && take_u32(r, &row.is_pt2) && take_u32(r, &row.n_compiles) &&
           vec_push(&r->o->recordings, row);
}

static bool read_compile(struct outline_reader *r)
{
    struct outline_compile c = { 0 };
    return take_text_index(r, &c.id) && take_text_index(r, &c.function) &&
           take_line_index(r, &c.line) && take_signed(r, &c.ns) && take_u32(r, &c.n_attempts) &&
           vec_push(&r->o->compiles, c);
}

static const char *status_name(int i)
{
    return attempt_status_name((enum attempt_status)i);
}

static bool read_attempt(struct outline_reader *r)
{
    struct outline_attempt a = { 0 };
    return take_u32(r, &a.number) &&
           take_name(r, status_name, ATTEMPT_UNFINISHED + 1, ATTEMPT_UNFINISHED, &a.status) &&
           take_u32(r, &a.n_events) && take_u32(r, &a.n_graphs) && vec_push(&r->o->attempts, a);
}

static const char *event_name_of(int i)
{
    return outline_event_kind_name((enum outline_event_kind)i);
}

static const char *guard_class_word(int i)
{
    return guard_class_name((enum guard_class)i);
}

static bool read_event(struct outline_reader *r)
{
    struct outline_event e = { .record = OUTLINE_NONE };
    int64_t count;
    if (!take_name(r, event_name_of, OUTLINE_EVENT_KINDS, OUTLINE_EVENT_KINDS, &e.kind) ||
        !take_name(r, guard_class_word, GUARD_CLASSES, 0, &e.asked_by) ||
        !take_text_index(r, &e.text) || !take_text_index(r, &e.shown) ||
        !take_text_index(r, &e.detail) || !take_line_index(r, &e.line) || !take_signed(r, &e.ns) ||
        !take_signed(r, &count))
        return false;
    e.count = count < 0 ? 0 : (uint64_t)count;
    if (e.kind == OUTLINE_EVENT_KINDS)
        return wrong(r, "unknown kind of event");
    return vec_push(&r->o->events, e);
}

static const char *event_kind_word(int i)
{
    return graph_kind_name((enum graph_kind)i);
}

static bool read_outline_graph(struct outline_reader *r)
{
    struct outline_graph g = { .record = OUTLINE_NONE };
    return take_name(r, event_kind_word, GRAPH_KINDS, GRAPH_ANY, &g.kind) &&
           take_text_index(r, &g.name) && take_text_index(r, &g.path) && take_u32(r, &g.index) &&
           take_u32(r, &g.n_nodes) && take_u32(r, &g.n_inputs) && take_u32(r, &g.n_calls) &&
           take_u32(r, &g.n_outputs) && vec_push(&r->o->graphs, g);
}

static bool read_form(struct outline_reader *r)
{
    struct outline_form f;
    return take_text_index(r, &f.op) && take_text_index(r, &f.args) &&
           take_text_index(r, &f.meta) && take_text_index(r, &f.shown) &&
           take_line_index(r, &f.line) && take_u32(r, &f.is_call) && vec_push(&r->o->forms, f);
}

static bool read_graph_nodes(struct outline_reader *r, struct outline_graph *graph)
{
    struct outline *o = r->o;
    graph->first_node = (uint32_t)o->nodes.n;
    for (uint32_t i = 0; i < graph->n_nodes; i++) {
        struct outline_node n = { .first_ref = (uint32_t)o->refs.n };
        if (!take_below(r, o->forms.n, &n.form) || !take_u32(r, &n.n_refs))
            return false;
        for (uint32_t k = 0, ref = 0; k < n.n_refs; k++)
            if (!take_below(r, graph->n_nodes, &ref) || !vec_push(&o->refs, ref))
                return false;
        if (!vec_push(&o->nodes, n))
            return false;
    }
    return true;
}

static bool read_nodes(struct outline_reader *r)
{
    r->member = "nodes";
    r->at = json_first(r->doc, json_get(r->doc, r->object, STR("nodes")));
    for (size_t i = 0; i < r->o->graphs.n; i++)
        if (!read_graph_nodes(r, &r->o->graphs.v[i]))
            return err_is_set(r->err) ? false : err_nomem(r->err);
    return r->at == JSON_NONE || wrong(r, "more nodes than the graphs have");
}

/* Assigns the next `n` of `all` rows to the current part. */
static bool deal(uint32_t *next, uint32_t n, size_t all, uint32_t *first)
{
    *first = *next;
    if (n > all - *next)
        return false;
    *next += n;
    return true;
}

static bool join_parts(struct outline_reader *r)
{
    struct outline *o = r->o;
    uint32_t compiles = 0, attempts = 0, events = 0, graphs = 0;
    r->member = "recordings";
    for (uint32_t i = 0; i < o->recordings.n; i++) {
        struct outline_recording *row = &o->recordings.v[i];
        if (!deal(&compiles, row->n_compiles, o->compiles.n, &row->first_compile))
            return wrong(r, "more compiles than there are");
        for (uint32_t k = 0; k < row->n_compiles; k++)
            o->compiles.v[row->first_compile + k].recording = i;
    }
    r->member = "compiles";
    for (uint32_t i = 0; i < o->compiles.n; i++) {
        struct outline_compile *c = &o->compiles.v[i];
        if (!deal(&attempts, c->n_attempts, o->attempts.n, &c->first_attempt))
            return wrong(r, "more attempts than there are");
        for (uint32_t k = 0; k < c->n_attempts; k++)
            o->attempts.v[c->first_attempt + k].compile = i;
    }
    r->member = "attempts";
    for (uint32_t i = 0; i < o->attempts.n; i++) {
        struct outline_attempt *a = &o->attempts.v[i];
        if (!deal(&events, a->n_events, o->events.n, &a->first_event) ||
            !deal(&graphs, a->n_graphs, o->graphs.n, &a->first_graph))
            return wrong(r, "more events or graphs than there are");
        for (uint32_t k = 0; k < a->n_graphs; k++)
            o->graphs.v[a->first_graph + k].attempt = i;
    }
    if (compiles < o->compiles.n || attempts < o->attempts.n || events < o->events.n ||
        graphs < o->graphs.n)
        return wrong(r, "rows that belong to no compile");
    return true;
}

static bool read_outline_members(struct outline_reader *r)
{
    uint64_t unreadable = 0;
    json_u64(r->doc, json_get(r->doc, r->object, STR("unreadable")), &unreadable);
    r->o->n_unreadable = unreadable < UINT32_MAX ? (uint32_t)unreadable : UINT32_MAX;
    return read_outline_texts(r) && read_member_rows(r, "lines", read_outline_line) &&
           read_member_rows(r, "recordings", read_outline_recording) &&
           read_member_rows(r, "compiles", read_compile) &&
           read_member_rows(r, "attempts", read_attempt) &&
           read_member_rows(r, "events", read_event) &&
           read_member_rows(r, "graphs", read_outline_graph) &&
           read_member_rows(r, "forms", read_form) && read_nodes(r) && join_parts(r);
}

struct outline *outline_read(const struct json *doc, json_id object, struct err *err)
{
    struct outline_reader r = {
        .doc = doc, .object = object, .err = err, .o = calloc(1, sizeof *r.o)
    };
    if (!r.o) {
        err_nomem(err);
        return NULL;
    }
    bool ok = read_outline_members(&r);
    free(r.texts);
    buf_release(&r.decoded);
    if (ok)
        return r.o;
    outline_free(r.o);
    return NULL;
}

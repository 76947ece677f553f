/* pprof's profile.proto (github.com/google/pprof/proto/profile.proto), compressed with gzip. Each
 * view is a sample type; a stack of it has a value of that type, and 0 of the others. */
#include <stdlib.h>
#include <zlib.h>

#include "profile/viewers/viewers.h"

/* ---- Protocol buffers: a field is its number and wire type, then a varint or counted bytes ----
 */

static void put_varint(struct buf *out, unsigned field, uint64_t value)
{
    buf_varint(out, field << 3);
    buf_varint(out, value);
}

static void put_bytes(struct buf *out, unsigned field, struct str bytes)
{
    buf_varint(out, field << 3 | 2);
    buf_counted(out, bytes);
}

/* Appends a message, and clears it for the next one. */
static void put_message(struct buf *out, unsigned field, struct buf *message)
{
    put_bytes(out, field, buf_str(message));
    out->failed |= message->failed;
    buf_clear(message);
}

/* ---- Fields of profile.proto ---- */

enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING_TABLE = 6,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_SAMPLE_TYPE = 14,
    VALUE_TYPE_TYPE = 1,
    VALUE_TYPE_UNIT = 2,
    SAMPLE_LOCATION_ID = 1,
    SAMPLE_VALUE = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION_ID = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_FILENAME = 4,
};

struct pprof_writer {
    const struct profile *profile;
    const struct stack_views *views;
    struct buf *out;           /* the profile, not compressed */
    struct buf message, inner; /* one that is being made */
    struct intern strings;     /* the first is "" */
    unsigned n_types;
};

static uint64_t string_of(struct pprof_writer *p, struct str text)
{
    uint32_t id = intern(&p->strings, text);
    p->out->failed |= id == INTERN_NONE;
    return id == INTERN_NONE ? 0 : id;
}

/* Writes what a type is, "guards: guards, by the code that asked for them". */
static void put_comment(struct pprof_writer *p, enum stack_view_id id)
{
    buf_printf(&p->inner, "%s: %s", stack_view_name(id), stack_view_title(p->profile, id));
    p->out->failed |= p->inner.failed;
    put_varint(p->out, PROFILE_COMMENT, string_of(p, buf_str(&p->inner)));
    buf_clear(&p->inner);
}

static void put_types(struct pprof_writer *p)
{
    (void)string_of(p, STR(""));
    for (enum stack_view_id id = 0; id < STACK_VIEWS; id++) {
        struct str unit =
            stack_view_unit(id) == VIEW_NANOSECONDS ? STR("nanoseconds") : STR("count");
        if (p->views->views[id].n == 0)
            continue;
        uint64_t name = string_of(p, str_of(stack_view_name(id)));
        put_varint(&p->message, VALUE_TYPE_TYPE, name);
        put_varint(&p->message, VALUE_TYPE_UNIT, string_of(p, unit));
        put_message(p->out, PROFILE_SAMPLE_TYPE, &p->message);
        put_comment(p, id);
        if (p->n_types++ == 0)
            put_varint(p->out, PROFILE_DEFAULT_SAMPLE_TYPE, name);
    }
}

/* Writes a stack, its innermost frame first, with its value of the type of that number. */
static void put_sample(struct pprof_writer *p, uint32_t node, unsigned type, struct view_path *path)
{
    p->out->failed |= !stack_views_path(p->views, node, path);
    for (size_t i = 0; i < path->frames.n; i++)
        buf_varint(&p->inner, (uint64_t)path->frames.v[i] + 1);
    put_message(&p->message, SAMPLE_LOCATION_ID, &p->inner);
    for (unsigned i = 0; i < p->n_types; i++)
        buf_varint(&p->inner, i == type ? (uint64_t)p->views->nodes.v[node].weight : 0);
    put_message(&p->message, SAMPLE_VALUE, &p->inner);
    put_message(p->out, PROFILE_SAMPLE, &p->message);
}

static void put_samples(struct pprof_writer *p)
{
    struct view_path path = { 0 };
    unsigned type = 0;
    for (enum stack_view_id id = 0; id < STACK_VIEWS; id++) {
        const struct stack_view *view = &p->views->views[id];
        for (uint32_t i = view->first; !p->out->failed && i < view->first + view->n; i++)
            if (p->views->nodes.v[i].weight > 0)
                put_sample(p, i, type, &path);
        type += view->n > 0;
    }
    vec_release(&path.frames);
}

/* A frame is a location with a function of its own; both have its number, from 1. */
static void put_locations(struct pprof_writer *p)
{
    for (size_t i = 0; i < p->views->frames.n; i++) {
        const struct view_frame *frame = &p->views->frames.v[i];
        put_varint(&p->message, FUNCTION_ID, i + 1);
        put_varint(&p->message, FUNCTION_NAME, string_of(p, frame->name));
        put_varint(&p->message, FUNCTION_FILENAME, string_of(p, frame->file));
        put_message(p->out, PROFILE_FUNCTION, &p->message);
        put_varint(&p->inner, LINE_FUNCTION_ID, i + 1);
        put_varint(&p->inner, LINE_LINE, frame->line);
        put_varint(&p->message, LOCATION_ID, i + 1);
        put_message(&p->message, LOCATION_LINE, &p->inner);
        put_message(p->out, PROFILE_LOCATION, &p->message);
    }
}

static void put_strings(struct pprof_writer *p)
{
    for (size_t i = 0; i < p->strings.texts.n; i++)
        put_bytes(p->out, PROFILE_STRING_TABLE, p->strings.texts.v[i]);
}

/* ---- gzip, without a name and a time, so that equal profiles have equal bytes ---- */

static bool compress_gzip(struct str bytes, struct buf *out, struct err *err)
{
    enum { GZIP = 16, MEMORY = 8 };
    z_stream z = { 0 };
    if (bytes.n > UINT32_MAX / 2)
        return err_set(err, ERR_INPUT, "the profile is too large for pprof");
    if (deflateInit2(&z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP, MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return err_nomem(err);
    uLong most = deflateBound(&z, (uLong)bytes.n);
    bool ok = buf_reserve(out, most);
    if (ok) {
        z.next_in = (Bytef *)bytes.p;
        z.avail_in = (uInt)bytes.n;
        z.next_out = (Bytef *)out->p + out->n;
        z.avail_out = (uInt)most;
        ok = deflate(&z, Z_FINISH) == Z_STREAM_END;
        out->n += z.total_out;
    }
    deflateEnd(&z);
    return ok || err_nomem(err);
}

bool viewer_pprof(const struct profile *profile, enum stack_view_id view, struct buf *out,
                  struct err *err)
{
    struct buf plain = BUF_INIT;
    struct stack_views *views = viewer_views(profile, view, err);
    if (!views)
        return false;
    struct pprof_writer p = { .profile = profile, .views = views, .out = &plain };
    put_types(&p);
    put_samples(&p);
    put_locations(&p);
    put_strings(&p);
    bool ok = plain.failed ? err_nomem(err) : compress_gzip(buf_str(&plain), out, err);
    buf_release(&plain);
    buf_release(&p.message);
    buf_release(&p.inner);
    intern_release(&p.strings);
    stack_views_free(views);
    return ok;
}

/* speedscope's file format: https://www.speedscope.app/file-format-schema.json */
#include "profile/viewers/viewers.h"
#include "trace/base/text/json_write.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

static void put_frames(const struct stack_views *views, struct json_writer *w)
{
    json_open_object(w, "shared");
    json_open_array(w, "frames");
    for (size_t i = 0; i < views->frames.n; i++) {
        const struct view_frame *frame = &views->frames.v[i];
        json_open_object(w, NULL);
        json_put_str(w, "name", frame->name);
        if (frame->file.n > 0)
            json_put_str(w, "file", frame->file);
        if (frame->line > 0)
            json_put_u64(w, "line", frame->line);
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

/* Writes a stack, its outermost frame first. */
static void put_sample(const struct stack_views *views, uint32_t node, struct view_path *path,
                       struct json_writer *w)
{
    json_open_array(w, NULL);
    w->out->failed |= !stack_views_path(views, node, path);
    for (size_t i = path->frames.n; i > 0; i--)
        json_put_u64(w, NULL, path->frames.v[i - 1]);
    json_close(w);
}

static void put_samples(const struct stack_views *views, const struct stack_view *view,
                        struct json_writer *w)
{
    const struct view_node *nodes = views->nodes.v;
    struct view_path path = { 0 };
    json_open_array(w, "samples");
    for (uint32_t i = view->first; !w->out->failed && i < view->first + view->n; i++)
        if (nodes[i].weight > 0)
            put_sample(views, i, &path, w);
    json_close(w);
    json_open_array(w, "weights");
    for (uint32_t i = view->first; i < view->first + view->n; i++)
        if (nodes[i].weight > 0)
            json_put_i64(w, NULL, nodes[i].weight);
    json_close(w);
    vec_release(&path.frames);
}

static void put_view(const struct profile *profile, const struct stack_views *views,
                     enum stack_view_id id, struct json_writer *w)
{
    const struct stack_view *view = &views->views[id];
    json_open_object(w, NULL);
    json_put_cstr(w, "type", "sampled");
    json_put_cstr(w, "name", stack_view_title(profile, id));
    json_put_cstr(w, "unit", stack_view_unit(id) == VIEW_NANOSECONDS ? "nanoseconds" : "none");
    json_put_u64(w, "startValue", 0);
    json_put_i64(w, "endValue", view->total);
    put_samples(views, view, w);
    json_close(w);
}

bool viewer_speedscope(const struct profile *profile, enum stack_view_id view, struct buf *out,
                       struct err *err)
{
    struct json_writer w = json_writer_of(out);
    struct stack_views *views = viewer_views(profile, view, err);
    if (!views)
        return false;
    json_open_object(&w, NULL);
    json_put_cstr(&w, "$schema", SCHEMA);
    json_put_cstr(&w, "exporter", "symtape");
    if (profile->n_recordings == 1)
        json_put_str(&w, "name", profile->recordings[0].short_name);
    json_put_u64(&w, "activeProfileIndex", 0);
    put_frames(views, &w);
    json_open_array(&w, "profiles");
    for (enum stack_view_id id = 0; id < STACK_VIEWS; id++)
        if (views->views[id].n > 0)
            put_view(profile, views, id, &w);
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
    stack_views_free(views);
    return true;
}

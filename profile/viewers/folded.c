#include "profile/viewers/viewers.h"

#include <stdlib.h>

#include "profile/model/format.h"

/* Appends a frame. Frames are separated by ';', lines by newlines, and the count follows the last
 * blank; the first line must not look like JSON or a comment to readers that detect the format. */
static void put_folded_frame(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool start = i == 0 && (c == '{' || c == '#');
        buf_putc(out, c == ';' ? ':' : (unsigned char)c < 0x20 || start ? '_' : c);
    }
    if (name.n == 0)
        buf_puts(out, "(unnamed)");
}

struct folded_writer {
    struct buf text;
    vec_of(size_t)
    ends; /* the ends of its lines */
};

static void end_line(struct folded_writer *f, uint64_t count)
{
    buf_printf(&f->text, " %llu\n", (unsigned long long)count);
    f->text.failed |= !vec_push(&f->ends, f->text.n);
}

/* Appends the frames of a stack, the outermost first. */
static void put_stack(const struct stack_views *views, const struct view_path *path,
                      struct buf *out)
{
    for (size_t i = path->frames.n; i > 0; i--) {
        put_folded_frame(out, views->frames.v[path->frames.v[i - 1]].name);
        if (i > 1)
            buf_putc(out, ';');
    }
}

static void fold_view(const struct stack_views *views, enum stack_view_id id,
                      struct folded_writer *f)
{
    const struct stack_view *view = &views->views[id];
    int64_t unit = stack_view_unit(id) == VIEW_NANOSECONDS ? 1000 : 1;
    struct view_path path = { 0 };
    for (uint32_t i = view->first; !f->text.failed && i < view->first + view->n; i++) {
        int64_t weight = views->nodes.v[i].weight / unit;
        if (weight <= 0)
            continue;
        f->text.failed |= !stack_views_path(views, i, &path);
        put_stack(views, &path, &f->text);
        end_line(f, (uint64_t)weight);
    }
    vec_release(&path.frames);
}

/* ---- Groups ---- */

/* Returns the weight of a group: the first of these numbers that any group has. */
static uint64_t weight_of(const struct profile_group *g, int choice)
{
    switch (choice) {
    case 0: return (uint64_t)g->self_ns / 1000;
    case 1: return (uint64_t)g->estimated_ns / 1000;
    case 2: return g->dispatches;
    case 3: return g->aten_calls;
    default: return g->guards;
    }
}

static int choose_weight(const struct profile_groups *groups)
{
    enum { LAST = 4 };
    for (int choice = 0; choice < LAST; choice++)
        for (uint32_t i = 0; i < groups->n_rows; i++)
            if (weight_of(&groups->rows[i], choice) > 0)
                return choice;
    return LAST;
}

static void put_frames(const struct profile_group *g, struct buf *out)
{
    for (uint32_t i = 0; i < g->n_frames; i++) {
        struct buf frame = BUF_INIT;
        buf_put(&frame, g->frames[i].function);
        buf_puts(&frame, " (");
        format_place(&frame, g->frames[i].file, g->frames[i].line);
        buf_putc(&frame, ')');
        if (i)
            buf_putc(out, ';');
        put_folded_frame(out, buf_str(&frame));
        out->failed |= frame.failed;
        buf_release(&frame);
    }
}

/* Appends a module's path as frames: "(model);layer1;0;conv1" for layer1.0.conv1. */
static void put_module_path(struct str path, struct buf *out)
{
    buf_puts(out, "(model)");
    while (path.n > 0) {
        size_t dot = str_find_char(path, '.');
        buf_putc(out, ';');
        put_folded_frame(out, str_first(path, dot));
        path = str_from(path, dot + 1);
    }
}

static void fold_groups(const struct profile_groups *groups, enum profile_by by,
                        struct folded_writer *f)
{
    int choice = choose_weight(groups);
    for (uint32_t i = 0; i < groups->n_rows; i++) {
        const struct profile_group *g = &groups->rows[i];
        if (weight_of(g, choice) == 0)
            continue;
        if (g->n_frames)
            put_frames(g, &f->text);
        else if (by == PROFILE_MODULE)
            put_module_path(g->name, &f->text);
        else
            put_folded_frame(&f->text, g->name);
        end_line(f, weight_of(g, choice));
    }
}

/* ---- All ---- */

static void write_sorted(const struct folded_writer *f, struct buf *out)
{
    struct str *lines = calloc(f->ends.n + 1, sizeof *lines);
    out->failed |= !lines || f->text.failed;
    for (size_t i = 0; !out->failed && i < f->ends.n; i++) {
        size_t start = i > 0 ? f->ends.v[i - 1] : 0;
        lines[i] = (struct str){ f->text.p + start, f->ends.v[i] - start };
    }
    if (!out->failed)
        qsort(lines, f->ends.n, sizeof *lines, str_compare);
    for (size_t i = 0; !out->failed && i < f->ends.n; i++)
        buf_put(out, lines[i]);
    free(lines);
}

static bool fold_asked_groups(const struct profile *profile, struct folded_writer *f)
{
    bool grouped = false;
    for (int by = 0; by < PROFILE_BYS; by++)
        if (profile->groups[by].asked) {
            fold_groups(&profile->groups[by], (enum profile_by)by, f);
            grouped = true;
        }
    return grouped;
}

/* Each stack is one node, so equal stacks are added up already, except those that
 * put_folded_frame() makes equal; readers add those. */
bool viewer_folded(const struct profile *profile, enum stack_view_id view, struct buf *out,
                   struct err *err)
{
    struct folded_writer f = { .text = BUF_INIT };
    bool ok = true;
    if (view != STACK_VIEWS || !fold_asked_groups(profile, &f)) {
        enum stack_view_id id = view == STACK_VIEWS ? VIEW_PHASES : view;
        struct stack_views *views = viewer_views(profile, id, err);
        ok = views != NULL;
        if (ok)
            fold_view(views, id, &f);
        stack_views_free(views);
    }
    write_sorted(&f, out);
    vec_release(&f.ends);
    buf_release(&f.text);
    return ok;
}

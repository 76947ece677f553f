#include "profile/report/report.h"

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

/* Appends the frames from the root down; `path` has space for every ancestor. */
static void put_phase_stack(const struct profile *p, uint32_t node, uint32_t *path, struct buf *out)
{
    size_t depth = 0;
    for (uint32_t up = node; up != PROFILE_NONE; up = p->phases.nodes[up].parent)
        path[depth++] = up;
    while (depth-- > 0) {
        put_folded_frame(out, profile_name(p, p->phases.nodes[path[depth]].name));
        if (depth > 0)
            buf_putc(out, ';');
    }
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

static void fold_phases(const struct profile *p, struct folded_writer *f)
{
    uint32_t *path = calloc((size_t)p->phases.n_nodes + 1, sizeof *path);
    f->text.failed |= !path;
    for (uint32_t i = 0; path && i < p->phases.n_nodes; i++) {
        int64_t us = p->phases.nodes[i].exclusive_ns / 1000;
        if (us <= 0)
            continue;
        put_phase_stack(p, i, path, &f->text);
        end_line(f, (uint64_t)us);
    }
    free(path);
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

/* Each stack is one node, so equal stacks are added up already, except those that
 * put_folded_frame() makes equal; readers add those. */
void report_folded(const struct profile *profile, struct buf *out)
{
    struct folded_writer f = { .text = BUF_INIT };
    bool grouped = false;
    for (int by = 0; by < PROFILE_BYS; by++)
        if (profile->groups[by].asked) {
            fold_groups(&profile->groups[by], (enum profile_by)by, &f);
            grouped = true;
        }
    if (!grouped)
        fold_phases(profile, &f);
    write_sorted(&f, out);
    vec_release(&f.ends);
    buf_release(&f.text);
}

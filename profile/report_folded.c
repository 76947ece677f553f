#include "profile/report.h"

#include <stdlib.h>

/* Frames are parted by ';', lines by newlines, and the count follows the last blank; the first line
 * must not look like JSON or a comment to those who sniff. */
static void put_frame(struct buf *out, struct str name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];
        bool start = i == 0 && (c == '{' || c == '#');
        buf_putc(out, c == ';' ? ':' : (unsigned char)c < 0x20 || start ? '_' : c);
    }
    if (name.n == 0)
        buf_puts(out, "(unnamed)");
}

/* The frames from the root down; `path` has room for every ancestor. */
static void put_stack(const struct profile *p, uint32_t node, uint32_t *path, struct buf *out)
{
    size_t depth = 0;
    for (uint32_t up = node; up != PROFILE_NONE; up = p->phases.nodes[up].parent)
        path[depth++] = up;
    while (depth-- > 0) {
        put_frame(out, profile_name(p, p->phases.nodes[path[depth]].name));
        if (depth > 0)
            buf_putc(out, ';');
    }
}

static int by_bytes(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Each stack is one node, so equal stacks are added up already, but for names made equal by
 * put_frame(); readers add those. */
void report_folded(const struct profile *profile, struct buf *out)
{
    uint32_t n = profile->phases.n_nodes, n_lines = 0;
    struct buf text = BUF_INIT;
    size_t *ends = calloc((size_t)n + 1, sizeof *ends);
    struct str *lines = calloc((size_t)n + 1, sizeof *lines);
    uint32_t *path = calloc((size_t)n + 1, sizeof *path);
    bool ok = ends && lines && path;
    for (uint32_t i = 0; ok && i < n; i++) {
        int64_t us = profile->phases.nodes[i].exclusive_ns / 1000;
        if (us <= 0)
            continue;
        put_stack(profile, i, path, &text);
        buf_printf(&text, " %lld\n", (long long)us);
        ends[n_lines++] = text.n;
    }
    ok = ok && !text.failed;
    for (uint32_t i = 0; ok && i < n_lines; i++) {
        size_t start = i > 0 ? ends[i - 1] : 0;
        lines[i] = (struct str){ text.p + start, ends[i] - start };
    }
    if (ok)
        qsort(lines, n_lines, sizeof *lines, by_bytes);
    for (uint32_t i = 0; ok && i < n_lines; i++)
        buf_put(out, lines[i]);
    out->failed = out->failed || !ok;
    free(ends);
    free(lines);
    free(path);
    buf_release(&text);
}

#include "profile/report/section.h"

#include <stdlib.h>

#include "profile/model/format.h"

enum { INDENT = 2 }; /* of the lines below a title */

/* ---- Sections ---- */

static struct rows section_rows(const struct report *r, const struct section *section)
{
    const char *p = (const char *)r->p;
    struct rows rows = { .size = section->size, .wanted = section->wanted };
    memcpy(&rows.first, p + section->rows, sizeof rows.first);
    memcpy(&rows.n, p + section->n, sizeof rows.n);
    return rows;
}

void section_text(struct report *r, const struct section *section)
{
    if (section->text) {
        section->text(r);
        return;
    }
    struct rows rows = section_rows(r, section);
    uint32_t *order = section->order ? text_order(r, rows.n, section->order) : NULL;
    rows.order = order;
    if (order || !section->order)
        text_rows(r, section->title, section->fields, 0, &rows,
                  section->whole ? 0 : r->options->limit);
    free(order);
}

void section_json(struct report *r, const struct section *section)
{
    if (section->json) {
        section->json(r);
        return;
    }
    struct rows rows = section_rows(r, section);
    fields_json_rows(&r->w, section->key, section->fields, r->p, &rows,
                     section->limited ? r->options->limit : 0);
}

/* ---- Text ---- */

void text_title(const struct report *r, const char *text)
{
    if (r->out->n > 0)
        buf_putc(r->out, '\n');
    style_mark(r->options->styles, r->out, STYLE_BOLD);
    buf_puts(r->out, text);
    style_mark(r->options->styles, r->out, STYLE_NONE);
    buf_putc(r->out, '\n');
}

void report_table(struct table *table, const struct report_options *options, unsigned indent,
                  uint32_t n, struct buf *out)
{
    uint32_t rows = (uint32_t)table_rows(table);
    const struct table_layout layout = { options->width, indent, options->styles };
    table_print(table, &layout, out);
    if (rows < n)
        buf_printf(out, "  ... and %u more\n", n - rows);
    table_release(table);
}

void text_finish(const struct report *r, struct table *table, uint32_t n)
{
    report_table(table, r->options, INDENT, n, r->out);
}

void text_rows(const struct report *r, const char *title, const struct fields *fields,
               unsigned table, const struct rows *rows, uint32_t limit)
{
    struct text_table t;
    text_table_init(&t, fields, table);
    uint32_t n = text_table_rows(&t, r->p, rows, limit);
    if (n > 0)
        text_title(r, title);
    text_finish(r, &t.table, n);
}

void text_paragraph(const struct report *r, struct buf *text)
{
    r->out->failed |= text->failed;
    if (text->n > 0) {
        format_spaces(r->out, INDENT);
        format_wrapped(r->out, buf_str(text), r->options->width, INDENT, INDENT);
    }
    buf_release(text);
}

struct ranked_row {
    int64_t rank;
    uint32_t index;
};

static int compare_row_ranks(const void *a, const void *b)
{
    const struct ranked_row *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank > y->rank ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

uint32_t *text_order(const struct report *r, uint32_t n,
                     int64_t (*order)(const struct profile *profile, uint32_t i))
{
    struct ranked_row *rows = calloc((size_t)n + 1, sizeof *rows);
    uint32_t *ret = calloc((size_t)n + 1, sizeof *ret);
    if (!rows || !ret) {
        r->out->failed = true;
        free(rows);
        free(ret);
        return NULL;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[i] = (struct ranked_row){ order(r->p, i), i };
    qsort(rows, n, sizeof *rows, compare_row_ranks);
    for (uint32_t i = 0; i < n; i++)
        ret[i] = rows[i].index;
    free(rows);
    return ret;
}

/* ---- Getters ---- */

struct datum get_profile_name(const void *context, const void *at)
{
    return datum_string(profile_name(context, *(const uint32_t *)at));
}

struct datum get_recording_name(const void *context, const void *at)
{
    const struct profile *p = context;
    return datum_string(p->recordings[*(const uint32_t *)at].name);
}

struct datum get_compile_id(const void *context, const void *at)
{
    const struct profile *p = context;
    uint32_t compile = *(const uint32_t *)at;
    return compile == PROFILE_NONE ? datum_null() : datum_string(p->compiles[compile].id);
}

struct datum get_level(const void *context, const void *at)
{
    (void)context;
    return datum_name(graph_kind_name(*(const enum graph_kind *)at));
}

void cell_compile(const struct profile *p, uint32_t recording, uint32_t compile, struct buf *out)
{
    format_text(out, compile == PROFILE_NONE ? STR("-") : p->compiles[compile].id, 0);
    if (p->n_recordings > 1) {
        buf_putc(out, ' ');
        format_text(out, p->recordings[recording].short_name, 0);
    }
}

void json_levels(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const uint64_t *counts = at;
    (void)context;
    json_open_object(w, key);
    for (int i = 0; i < GRAPH_KINDS; i++)
        if (counts[i] > 0)
            json_put_u64(w, graph_kind_name((enum graph_kind)i), counts[i]);
    json_close(w);
}

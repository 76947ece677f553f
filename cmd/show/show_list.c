#include <inttypes.h>

#include "cmd/show/show.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "trace/events/user_line.h"

enum { FLUSH_AT = 1 << 16 };

bool show_in_view(const struct show *show, uint32_t record, uint32_t attempt)
{
    return selector_has_recording(show->trace, &show->selector,
                                  show->trace->records[record].recording) &&
           selector_has_attempt(show->trace, &show->selector, attempt);
}

void show_flush(struct show *show)
{
    if (show->text.n < FLUSH_AT || show->text.failed)
        return;
    out_text(show->out, buf_str(&show->text));
    buf_clear(&show->text);
}

static uint32_t place_recording(const struct show *show, struct show_place place)
{
    return show->trace->records[place.record].recording;
}

/* Returns the frame of the user line, or 0 when there is none. */
static stack_id user_frame(const struct show *show, struct show_place place)
{
    return place.user_stack == 0
               ? 0
               : user_line(show->trace, place_recording(show, place), place.user_stack);
}

void show_line_json(struct show *show, uint32_t recording, stack_id user_stack)
{
    stack_id line = user_stack ? user_line(show->trace, recording, user_stack) : 0;
    place_json(show->trace, recording, line, &show->w, "line");
}

void show_cell_compile(const void *context, const void *at, struct buf *out)
{
    const struct show_row *row = context;
    struct buf text = BUF_INIT;
    (void)at;
    if (row->place.attempt == TRACE_NONE)
        return;
    selector_print_attempt(row->show->trace, place_recording(row->show, row->place),
                           row->place.attempt, &text);
    out->failed |= text.failed;
    struct str cell = buf_str(&text);
    format_text(out, cell.n && cell.p[0] == ':' ? str_from(cell, 1) : cell, 0);
    buf_release(&text);
}

void show_cell_program(const void *context, const void *at, struct buf *out)
{
    const struct show_row *row = context;
    const struct trace *trace = row->show->trace;
    if (trace->n_recordings > 1) {
        format_text(out, trace->recordings[place_recording(row->show, row->place)].name, 0);
        buf_putc(out, ':');
    }
    format_text(out, *(const struct str *)at, 0);
}

struct datum show_get_line(const void *context, const void *at)
{
    const struct show_row *row = context;
    (void)at;
    return datum_place(row->line.file, row->line.line, row->line.code);
}

struct datum show_get_code(const void *context, const void *at)
{
    const struct show_row *row = context;
    (void)at;
    return datum_string(row->line.code);
}

static bool has_file(const struct show *show, struct show_place place)
{
    struct str file = place.file;
    if (file.n == 0 && place.user_stack != 0)
        file = stack_frame(show->trace, place_recording(show, place), user_frame(show, place)).file;
    return str_find(file, str_of(show->args->file)) < file.n;
}

static bool passes(const struct show *show, const struct show_view *view, const void *items,
                   uint32_t i, struct show_place place)
{
    return show_in_view(show, place.record, place.attempt) &&
           (!show->args->file || has_file(show, place)) &&
           (!view->wanted || view->wanted(show, items, i));
}

static void item_json(const struct show_view *view, const struct show_row *row, const void *item)
{
    struct show *show = row->show;
    struct show_place place = row->place;
    uint32_t recording = place_recording(show, place);
    json_open_object(&show->w, NULL);
    place_attempt_json(show->trace, place.record, place.attempt, &show->w);
    json_put_u64(&show->w, "log_line", show->trace->records[place.record].line);
    fields_json(view->fields, row, item, &show->w);
    if (place.user_stack)
        show_line_json(show, recording, place.user_stack);
    if (show->args->stack && view->block_json)
        view->block_json(item, &show->w);
    if (show->args->stack && place.user_stack)
        place_stack_json(show->trace, recording, place.user_stack, &show->w, "user_stack");
    if (show->args->stack && place.stack)
        place_stack_json(show->trace, recording, place.stack, &show->w, "stack");
    json_close(&show->w);
    show_flush(show);
}

/* Prints an item with --stack as text: a block of lines "column: cell", then its stacks. */
static void print_block(struct show *show, const struct show_view *view, const struct table *table,
                        const void *item, struct show_place place)
{
    struct buf text = BUF_INIT;
    uint32_t recording = place_recording(show, place);
    table_print_block(table, table_rows(table) - 1, out_styles(show->out), &text);
    out_buf(show->out, &text);
    buf_clear(&text);
    if (view->block)
        view->block(item, &text);
    if (place.user_stack) {
        buf_puts(&text, "  user stack:\n");
        place_stack(show->trace, recording, place.user_stack, "    ", &text);
    }
    if (place.stack) {
        buf_puts(&text, "  stack:\n");
        place_stack(show->trace, recording, place.stack, "    ", &text);
    }
    buf_putc(&text, '\n');
    out_buf(show->out, &text);
    buf_release(&text);
}

static int print_table(struct show *show, const struct show_view *view, const struct table *table)
{
    if (table_rows(table) == 0)
        out_printf(show->out, "%s\n", view->none);
    return show->args->stack ? EXIT_DONE : out_table(show->out, table);
}

void show_omitted(struct show *show, const char *key, uint64_t n)
{
    char count[HUMAN_SIZE];
    if (n == 0)
        return;
    if (!show->args->json)
        out_note(show->out, "%s: %s more not shown (--limit)", key, human_count(count, n));
    buf_printf(&show->omitted, "%s\"%s\": %" PRIu64, show->omitted.n ? ", " : "", key, n);
}

static void print_item(const struct show_view *view, struct show_row *row, const void *item,
                       struct text_table *t)
{
    struct show *show = row->show;
    if (show->args->json) {
        item_json(view, row, item);
        return;
    }
    row->line =
        stack_frame(show->trace, place_recording(show, row->place), user_frame(show, row->place));
    text_table_row(t, row, item);
    if (show->args->stack)
        print_block(show, view, &t->table, item, row->place);
}

static int print_view_items(struct show *show, const struct show_view *view, void *items,
                            uint32_t n)
{
    struct text_table t;
    uint64_t shown = 0, omitted = 0;
    int code = EXIT_DONE;
    text_table_init(&t, view->fields, view->table);
    if (show->args->json)
        json_open_array(&show->w, view->key);
    for (uint32_t i = 0; i < n; i++) {
        struct show_row row = { show, items, view->place(show, items, i), { 0 } };
        if (!passes(show, view, items, i, row.place))
            continue;
        if (show->args->limit.value && shown >= show->args->limit.value)
            omitted++;
        else
            print_item(view, &row, view->item(show, items, i), &t);
        shown++;
    }
    if (show->args->json)
        json_close(&show->w);
    else
        code = print_table(show, view, &t.table);
    show_omitted(show, view->key, omitted);
    table_release(&t.table);
    return code;
}

int show_list(struct show *show, const struct show_view *view)
{
    struct err err = { 0 };
    void *items = NULL;
    uint32_t n = 0;
    if (!view->load(show, &items, &n, &err))
        return out_error(show->out, &err);
    int code = print_view_items(show, view, items, n);
    if (view->release)
        view->release(items);
    return code;
}

/* Writes an answer as text. */
#include "profile/model/format.h"
#include "profile/why/why_fields.h"

enum { INDENT = 2 };

struct why_writer {
    const struct why_answer *why;
    const struct report_options *how;
    struct buf *out;
};

static void put_title(const struct why_writer *w, const char *title)
{
    buf_putc(w->out, '\n');
    style_mark(w->how->styles, w->out, STYLE_BOLD);
    buf_puts(w->out, title);
    style_mark(w->how->styles, w->out, STYLE_NONE);
    buf_putc(w->out, '\n');
}

static void put_table(const struct why_writer *w, const char *title, const struct fields *fields,
                      unsigned table, struct rows rows, uint32_t n_more)
{
    struct text_table t;
    struct table_layout layout = { w->how->width, INDENT, w->how->styles };
    text_table_init(&t, fields, table);
    t.table.squeezed = true;
    uint32_t n = text_table_rows(&t, w->why, &rows, w->how->limit);
    if (n)
        put_title(w, title);
    table_print(&t.table, &layout, w->out);
    table_release(&t.table);
    uint32_t more = n - report_shown(w->how, n) + n_more;
    if (n && more)
        buf_printf(w->out, "  ... and %u more\n", (unsigned)more);
}

static void put_rows(const struct why_writer *w, const char *title, const struct fields *fields,
                     struct rows rows)
{
    put_table(w, title, fields, 0, rows, 0);
}

static void put_sentence(const struct why_writer *w, const char *label, struct str text)
{
    if (!text.n)
        return;
    struct buf line = BUF_INIT;
    buf_puts(&line, label);
    format_text(&line, text, 0);
    buf_puts(w->out, "  * ");
    format_wrapped(w->out, buf_str(&line), w->how->width, 4, 4);
    w->out->failed |= line.failed;
    buf_release(&line);
}

static void put_sharing_sizes(const struct why_writer *w, const struct why_size *size)
{
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < report_shown(w->how, size->n_shared); i++)
        buf_printf(&text, "%s%.*s", i ? ", " : "", STR_ARG(size->shared[i]));
    if (size->n_shared > report_shown(w->how, size->n_shared))
        buf_puts(&text, ", ...");
    put_sentence(w, "the same symbol: ", buf_str(&text));
    w->out->failed |= text.failed;
    buf_release(&text);
}

static void put_attempt_end(const struct why_writer *w, uint32_t attempt)
{
    static const char *const ENDS[] = { [ATTEMPT_OK] = "was kept",
                                        [ATTEMPT_FAILED] = "failed",
                                        [ATTEMPT_RESTARTED] = "was thrown away (restarted)",
                                        [ATTEMPT_UNFINISHED] = "has no end on the tape" };
    if (attempt == TRACE_NONE)
        return;
    const struct attempt *a = &w->why->trace->attempts[attempt];
    buf_printf(w->out, "  * attempt %.*s_%u %s\n", STR_ARG(a->compile), (unsigned)a->number,
               ENDS[a->status]);
}

static bool has_changed(const struct why_size *size)
{
    return size->state == WHY_BECAME_CONSTANT || size->state == WHY_WAS_REPLACED;
}

/* What the first sentence had no room for. */
static void put_main(const struct why_writer *w)
{
    const struct why_size *size = &w->why->sizes[w->why->main];
    bool began = has_changed(size);
    struct buf end = BUF_INIT;
    if (began) {
        put_sentence(w, "it began as a symbol: ", str_of(why_reason_text(size->reason)));
        put_sentence(w, "", size->evidence);
    }
    if (size->inferred)
        put_sentence(w, "", STR("inferred: no record of PyTorch's says so itself"));
    put_sharing_sizes(w, size);
    if (size->now_range.n) {
        buf_printf(&end, "%.*s in %.*s", STR_ARG(size->now), STR_ARG(size->now_range));
        put_sentence(w, "at the end: ", buf_str(&end));
    }
    w->out->failed |= end.failed;
    buf_release(&end);
    put_attempt_end(w, size->attempt);
}

static void put_text_comparison(const struct why_writer *w)
{
    const struct why_answer *why = w->why;
    struct buf title = BUF_INIT;
    if (!why->compared)
        return;
    buf_printf(&title, "What tells %.*s and %.*s apart", STR_ARG(why->between[0]),
               STR_ARG(why->between[1]));
    buf_putc(&title, '\0');
    w->out->failed |= title.failed;
    if (!title.failed && why->n_differences)
        put_rows(w, title.p, &why_difference_fields, ROWS(why->differences, why->n_differences));
    else if (!title.failed) {
        put_title(w, title.p);
        buf_puts(w->out, "  no recorded guard does\n");
    }
    buf_release(&title);
    for (uint32_t i = 0; i < why->n_notes; i++)
        put_sentence(w, "", why->notes[i]);
    if (why->n_undecided)
        buf_printf(w->out, "  * %u guards have no value for one of the two\n",
                   (unsigned)why->n_undecided);
}

/* Conditions that were evaluated while guards were suppressed are in JSON only: nothing checks them
 * and nothing follows from them. */
static bool is_history(const void *context, const void *at)
{
    const struct why_event *event = at;
    (void)context;
    return event->kind != WHY_CHECKED && event->kind != WHY_SUPPRESSED;
}

static bool is_call_check(const void *context, const void *at)
{
    (void)context;
    return ((const struct why_event *)at)->kind == WHY_CHECKED;
}

static void put_events(const struct why_writer *w, const char *title,
                       bool (*wanted)(const void *context, const void *at))
{
    struct rows rows = ROWS(w->why->events, w->why->n_events);
    rows.wanted = wanted;
    put_table(w, title, &why_event_fields, wanted == is_call_check, rows, 0);
}

void why_text(const struct why_answer *why, const struct report_options *how, struct buf *out)
{
    const struct why_writer w = { why, how, out };
    format_wrapped(out, why->answer, how->width, 0, 0);
    if (why->main != TRACE_NONE)
        put_main(&w);
    put_text_comparison(&w);
    put_rows(&w, "The way back", &why_step_fields, ROWS(why->steps, why->n_steps));
    bool history = why->kind != WHY_NODE || (why->n_sizes && has_changed(&why->sizes[0]));
    if (history && !why->compared) {
        put_events(&w, "History", is_history);
        put_events(&w, "Checked at each call", is_call_check);
    }
    if (why->n_sizes > 1 || why->main == TRACE_NONE)
        put_table(&w, why->main != TRACE_NONE ? "In each compile" : "Sizes", &why_size_fields, 0,
                  ROWS(why->sizes, why->n_sizes), why->n_omitted);
}

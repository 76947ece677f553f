#include "profile/advice/advice_report.h"
#include "profile/advice/remedy_plan.h"
#include "profile/model/format.h"

enum { INDENT = 4, LABEL = 12 };

struct advice_writer {
    const struct advice *advice;
    const struct report_options *options;
    struct buf *out;
};

static void put_seconds(double seconds, struct buf *out)
{
    format_ns(out, (int64_t)(seconds * 1e9));
}

/* A line "    saves     text", wrapped to the width. */
static void put_labeled(const struct advice_writer *w, const char *label, enum style style,
                        struct str text)
{
    size_t columns = format_columns(str_of(label));
    format_spaces(w->out, INDENT);
    style_mark(w->options->styles, w->out, style);
    buf_puts(w->out, label);
    style_mark(w->options->styles, w->out, STYLE_NONE);
    format_spaces(w->out, LABEL - columns);
    format_wrapped(w->out, text, w->options->width, INDENT + LABEL, INDENT + LABEL);
}

static void put_text(const struct advice_writer *w, const char *label, enum style style,
                     struct str text)
{
    struct buf line = BUF_INIT;
    format_text(&line, text, 0);
    put_labeled(w, label, style, buf_str(&line));
    w->out->failed |= line.failed;
    buf_release(&line);
}

/* ---- What is saved ---- */

/* "2 of 4 compiles"; `many`: the noun's plural. */
static void put_saved(uint64_t before, uint64_t after, const char *noun, const char *many,
                      struct buf *out)
{
    if (after == before)
        return;
    if (out->n)
        buf_puts(out, ", ");
    if (after > before) {
        format_count(out, after - before);
        buf_puts(out, " more ");
        buf_puts(out, after - before == 1 ? noun : many);
        return;
    }
    format_count(out, before - after);
    buf_puts(out, " of ");
    format_count(out, before);
    buf_putc(out, ' ');
    buf_puts(out, before == 1 ? noun : many);
}

static void put_saves(const struct advice_counts *before, const struct advice_counts *after,
                      struct buf *out)
{
    put_saved(before->failures, after->failures, "failure", "failures", out);
    put_saved(before->compiles, after->compiles, "compile", "compiles", out);
    put_saved(before->attempts, after->attempts, "attempt", "attempts", out);
    put_saved(before->breaks, after->breaks, "graph break", "graph breaks", out);
    put_saved(before->eager, after->eager, "eager look-up", "eager look-ups", out);
    put_saved(before->guards, after->guards, "guard", "guards", out);
    if (before->dispatches_known && after->dispatches_known)
        put_saved(before->dispatches, after->dispatches, "dispatch", "dispatches", out);
    if (before->seconds == after->seconds)
        return;
    bool saved = before->seconds > after->seconds;
    buf_puts(out, out->n ? "; " : "");
    buf_puts(out, saved ? "about " : "compiling takes about ");
    put_seconds(saved ? before->seconds - after->seconds : after->seconds - before->seconds, out);
    buf_puts(out, saved ? " of " : " longer than ");
    put_seconds(before->seconds, out);
}

static void put_run_time(const struct plan_run_time *run, struct buf *out)
{
    put_seconds(run->after, out);
    buf_puts(out, " instead of ");
    put_seconds(run->before, out);
    buf_puts(out, ", the mean of ");
    format_plural(out, run->calls, "call");
}

static bool give_proof(struct advice *advice, struct diagnosis *diagnosis,
                       const struct advice_item *item)
{
    struct remedy_proof *proof = arena_array(&advice->arena, struct remedy_proof, 1);
    struct buf text = BUF_INIT;
    put_saves(&advice->recorded, &item->after, &text);
    if (proof && !text.failed) {
        *proof = advice_saves(&advice->recorded, &item->after);
        proof->text = arena_copy(&advice->arena, buf_str(&text));
    }
    bool ok = proof && !text.failed && proof->text.p;
    if (ok)
        diagnosis_set_proof(diagnosis, item->finding, item->remedy, proof);
    buf_release(&text);
    return ok;
}

bool advice_give_proofs(struct advice *advice, struct diagnosis *diagnosis)
{
    for (uint32_t i = 0; i < advice->n_items; i++)
        if (advice->items[i].verdict == ADVICE_PROVED &&
            !give_proof(advice, diagnosis, &advice->items[i]))
            return false;
    return true;
}

/* ---- Items ---- */

static void put_cause(const struct advice_writer *w, const struct finding *f)
{
    struct buf place = BUF_INIT, text = BUF_INIT;
    buf_put(&text, f->cause);
    if (f->file.n) {
        format_place(&place, f->file, f->line);
        buf_puts(&text, ", at ");
        buf_put(&text, buf_str(&place));
    }
    put_text(w, "because", STYLE_DIM, buf_str(&text));
    w->out->failed |= place.failed || text.failed;
    buf_release(&place);
    buf_release(&text);
}

static void put_item(const struct advice_writer *w, unsigned number, const struct advice_item *item)
{
    const struct finding *f = &w->advice->diagnosis->findings[item->finding];
    struct buf text = BUF_INIT;
    buf_printf(w->out, "%2u  ", number);
    style_mark(w->options->styles, w->out, STYLE_GREEN);
    format_text(&text, f->remedies[item->remedy].text, 0);
    format_wrapped(w->out, buf_str(&text), w->options->width, INDENT, INDENT + 2);
    style_mark(w->options->styles, w->out, STYLE_NONE);
    put_cause(w, f);
    buf_clear(&text);
    if (item->has_counts) {
        put_saves(&w->advice->recorded, &item->after, &text);
        if (text.n)
            put_labeled(w, item->verdict == ADVICE_SUGGESTED ? "might save" : "saves", STYLE_NONE,
                        buf_str(&text));
    }
    buf_clear(&text);
    if (item->has_counts && item->run.calls && item->run.before != item->run.after) {
        put_run_time(&item->run, &text);
        put_labeled(w, "a call", STYLE_NONE, buf_str(&text));
    }
    if (item->why)
        put_text(w, item->verdict == ADVICE_SUGGESTED ? "not proved" : "no gain", STYLE_DIM,
                 str_of(item->why));
    w->out->failed |= text.failed;
    buf_release(&text);
}

/* Returns what tells a remedy from others: the statement that it begins with, or all of it. */
static struct str text_of(const struct advice *advice, const struct advice_item *item)
{
    struct str text = advice->diagnosis->findings[item->finding].remedies[item->remedy].text;
    struct str statement = remedy_statement(text);
    return statement.n ? statement : text;
}

/* Several findings can have one remedy: it is printed once with each verdict. */
static bool is_shown(const struct advice *advice, const struct advice_item *item,
                     enum advice_verdict verdict)
{
    struct str text = text_of(advice, item);
    if (item->verdict != verdict)
        return false;
    for (uint32_t i = 0; i < advice->n_together; i++)
        if (str_eq(text_of(advice, &advice->items[advice->together[i].item]), text))
            return false;
    for (const struct advice_item *other = advice->items; other < item; other++)
        if (other->verdict == verdict && str_eq(text_of(advice, other), text))
            return false;
    return true;
}

static void put_others(const struct advice_writer *w, enum advice_verdict verdict,
                       const char *title, unsigned *number)
{
    const struct advice *advice = w->advice;
    uint32_t n = 0, shown = 0;
    for (uint32_t i = 0; i < advice->n_items; i++)
        n += is_shown(advice, &advice->items[i], verdict);
    if (!n)
        return;
    buf_puts(w->out, "\n");
    style_mark(w->options->styles, w->out, STYLE_BOLD);
    buf_puts(w->out, title);
    style_mark(w->options->styles, w->out, STYLE_NONE);
    buf_putc(w->out, '\n');
    for (uint32_t i = 0; i < advice->n_items; i++)
        if (is_shown(advice, &advice->items[i], verdict) && shown++ < report_shown(w->options, n))
            put_item(w, (*number)++, &advice->items[i]);
    if (shown > report_shown(w->options, n))
        buf_printf(w->out, "    ... and %u more\n", n - report_shown(w->options, n));
}

/* ---- Together ---- */

static const struct column STEPS[] = {
    { "changes", COLUMN_RIGHT },  { "failures", COLUMN_RIGHT },     { "compiles", COLUMN_RIGHT },
    { "attempts", COLUMN_RIGHT }, { "graph breaks", COLUMN_RIGHT }, { "eager", COLUMN_RIGHT },
    { "guards", COLUMN_RIGHT },   { "compile time", COLUMN_RIGHT }, { "a call", COLUMN_RIGHT },
};

static void put_step(struct table *table, uint64_t changes, const struct advice_counts *counts,
                     int64_t call_ns)
{
    table_u64(table, changes);
    table_count(table, counts->failures);
    table_count(table, counts->compiles);
    table_count(table, counts->attempts);
    table_count(table, counts->breaks);
    table_count(table, counts->eager);
    table_count(table, counts->guards);
    table_ns(table, counts->seconds > 0 ? (int64_t)(counts->seconds * 1e9) : -1);
    table_ns(table, call_ns);
}

static void put_steps(const struct advice_writer *w)
{
    const struct advice *advice = w->advice;
    const struct advice_step *last = &advice->together[advice->n_together - 1];
    struct table table = TABLE(STEPS);
    table.squeezed = true;
    bool run = last->run.calls > 0;
    put_step(&table, 0, &advice->recorded, run ? (int64_t)(last->run.before * 1e9) : -1);
    for (uint32_t i = 0; i < advice->n_together; i++) {
        const struct advice_step *step = &advice->together[i];
        put_step(&table, i + 1, &step->after,
                 step->run.calls ? (int64_t)(step->run.after * 1e9) : -1);
    }
    buf_puts(w->out, "\nWith the first of these changes; times are estimated\n");
    table_print(&table,
                &(struct table_layout){
                    .width = w->options->width, .indent = INDENT, .styles = w->options->styles },
                w->out);
    table_release(&table);
}

/* Settings of several changes that would replace each other are one statement. */
static void put_one_setting(const struct advice_writer *w)
{
    const struct advice *advice = w->advice;
    struct buf statement = BUF_INIT, text = BUF_INIT;
    uint32_t n = 0;
    for (uint32_t i = 0; i < advice->n_together; i++)
        n += advice->items[advice->together[i].item].plan.marks.n > 0;
    if (n > 1 && program_patch_marks(advice, &statement)) {
        format_text(&text, buf_str(&statement), 0);
        put_labeled(w, "in one line", STYLE_GREEN, buf_str(&text));
    }
    w->out->failed |= statement.failed || text.failed;
    buf_release(&statement);
    buf_release(&text);
}

static void put_answer(const struct advice_writer *w)
{
    const struct advice *advice = w->advice;
    struct buf text = BUF_INIT;
    if (!advice->n_together) {
        buf_puts(w->out, advice->n_items ? "No remedy is proved to save anything\n"
                                         : "Nothing was found that a change would save\n");
        return;
    }
    format_plural(&text, advice->n_together, "change");
    buf_puts(&text, advice->n_together == 1 ? " saves " : " together save ");
    struct buf saves = BUF_INIT;
    put_saves(&advice->recorded, &advice->together[advice->n_together - 1].after, &saves);
    buf_put(&text, buf_str(&saves));
    style_mark(w->options->styles, w->out, STYLE_BOLD);
    format_wrapped(w->out, buf_str(&text), w->options->width, 0, 0);
    style_mark(w->options->styles, w->out, STYLE_NONE);
    w->out->failed |= saves.failed || text.failed;
    buf_release(&saves);
    buf_release(&text);
}

void advice_text(const struct advice *advice, const struct report_options *options, struct buf *out)
{
    const struct advice_writer w = { advice, options, out };
    unsigned number = 1;
    put_answer(&w);
    if (advice->n_together) {
        buf_puts(out, "\n");
        style_mark(options->styles, out, STYLE_BOLD);
        buf_puts(out, "Proved, and of use together");
        style_mark(options->styles, out, STYLE_NONE);
        buf_putc(out, '\n');
        for (uint32_t i = 0; i < advice->n_together; i++)
            put_item(&w, number++, &advice->items[advice->together[i].item]);
        put_one_setting(&w);
        put_steps(&w);
    }
    put_others(&w, ADVICE_PROVED, "Proved, instead of those above", &number);
    put_others(&w, ADVICE_SUGGESTED, "Suggested", &number);
    put_others(&w, ADVICE_NO_GAIN, "Without gain", &number);
}

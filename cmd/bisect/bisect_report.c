#include <inttypes.h>

#include "cmd/bisect/bisect.h"
#include "trace/base/text/json_write.h"

enum { SEEN_SHOWN = 20 };

static const char *const end_words[] = {
    [BISECT_FOUND] = "found",         [BISECT_NEVER] = "never",   [BISECT_ALWAYS] = "always",
    [BISECT_BETWEEN] = "between",     [BISECT_CANNOT] = "cannot", [BISECT_UNSTEADY] = "unsteady",
    [BISECT_STOPPED] = "interrupted",
};
static const char *const side_words[] = { [BETWEEN_NONE] = "none",
                                          [BETWEEN_ONLY_A] = "first",
                                          [BETWEEN_ONLY_B] = "second",
                                          [BETWEEN_CHANGED] = "changed" };
static const char *const answer_words[] = { "good", "bad", "cannot tell", "broken" };

static const struct bisect_event *numbered_event(const struct bisect_report *report,
                                                 uint32_t number)
{
    return number && number <= report->events->list.n ? &report->events->list.v[number - 1] : NULL;
}

/* ---- Text ---- */

/* ", a.py:12 in f: x = y" */
static void put_user_line(struct buf *text, struct str file, uint32_t line, struct str function,
                          struct str code)
{
    if (file.n)
        buf_printf(text, ", %.*s:%u in %.*s: %.*s", STR_ARG(file), (unsigned)line,
                   STR_ARG(function), STR_ARG(code));
}

static void put_event(struct buf *text, const char *label, uint32_t number,
                      const struct bisect_event *event, size_t n)
{
    if (!event) {
        buf_printf(text, "%s: before the first event\n", label);
        return;
    }
    buf_printf(text, "%s: event %" PRIu32 " of %zu, %s %.*s", label, number, n,
               bisect_event_name(event->kind), STR_ARG(event->expr));
    if (event->recorded)
        buf_printf(text, ", recorded as made by %s", event->recorded);
    else if (event->kind != BISECT_EVENT_NODE && event->node.n)
        buf_printf(text, ", asked for by %.*s = %.*s", STR_ARG(event->node), STR_ARG(event->op));
    put_user_line(text, event->file, event->line, event->function, event->code);
    buf_putc(text, '\n');
    if (event->failure.n)
        buf_printf(text, "  %.*s\n", STR_ARG(event->failure));
}

static void put_contradictions(struct buf *text, const struct bisect_result *r)
{
    if (r->monotone)
        return;
    buf_printf(text,
               "not monotone: the answer changes %" PRIu32
               " times over the places that were checked:",
               r->flips);
    size_t shown = 0;
    for (size_t i = 0; i < r->seen.n && shown < SEEN_SHOWN; i++) {
        if (i && r->seen.v[i].answer == r->seen.v[i - 1].answer)
            continue;
        buf_printf(text, "%s %" PRIu32 " %s", shown++ ? "," : "", r->seen.v[i].state,
                   answer_words[r->seen.v[i].answer]);
    }
    buf_puts(text, "\n");
}

static void put_questions(struct buf *text, const struct bisect_result *r)
{
    buf_printf(text, "%" PRIu32 " checks in %" PRIu32 " rounds", r->probes, r->rounds);
    if (r->looked)
        buf_printf(text, ", and %" PRIu32 " extra check%s", r->looked, r->looked == 1 ? "" : "s");
    buf_puts(text, r->certified ? "; the last good and the first bad place were both checked "
                                  "again\n"
                                : "\n");
}

/* The last line is always this one, which scripts can parse. */
static void put_machine_line(struct buf *text, const struct bisect_report *report)
{
    const struct bisect_result *r = report->result;
    const struct bisect_event *event = numbered_event(report, r->bad);
    if (r->end != BISECT_FOUND || !event) {
        buf_printf(text, "first-bad=none end=%s events=%zu", end_words[r->end],
                   report->events->list.n);
        if (r->end == BISECT_STOPPED)
            buf_printf(text, " good=%" PRIu32 " bad=%" PRIu32, r->good, r->bad);
        buf_printf(text, " probes=%" PRIu32 "\n", r->probes);
        return;
    }
    buf_printf(text, "first-bad=%" PRIu32 " id=%016" PRIx64 " kind=%s expr=", r->bad, event->id,
               bisect_event_name(event->kind));
    json_quote(text, event->expr);
    buf_printf(text, " good=%" PRIu32 " probes=%" PRIu32 "\n", r->good, r->probes);
}

/* An end of the range that was not checked yet is assumed to be what the search assumes it to
 * be. */
static void put_stopped(struct buf *text, const struct bisect_report *report)
{
    const struct bisect_result *r = report->result;
    if (bisect_was(r, r->bad, BISECT_GOOD))
        buf_printf(text, "interrupted: good after all %" PRIu32 " events, which was checked once\n",
                   r->bad);
    else if (r->bad - r->good <= 1)
        buf_printf(text, "interrupted: the first bad event is %" PRIu32, r->bad);
    else
        buf_printf(text, "interrupted: the first bad event is one of %" PRIu32 " to %" PRIu32,
                   r->good + 1, r->bad);
    if (!bisect_was(r, r->bad, BISECT_GOOD))
        buf_puts(text, bisect_was(r, r->bad, BISECT_BAD)
                           ? "\n"
                           : ", if any is bad: the state after all of them was not checked yet\n");
}

static void put_end(struct buf *text, const struct bisect_report *report)
{
    const struct bisect_result *r = report->result;
    size_t n = report->events->list.n;
    switch (r->end) {
    case BISECT_FOUND:
        put_event(text, "first bad", r->bad, numbered_event(report, r->bad), n);
        put_event(text, "last good", r->good, numbered_event(report, r->good), n);
        break;
    case BISECT_NEVER:
        buf_printf(text, "good after all %zu events", n);
        if (report->graphs > 1)
            buf_printf(text, ", and in the %" PRIu32 " graphs before", report->graphs - 1);
        buf_putc(text, '\n');
        break;
    case BISECT_ALWAYS: buf_puts(text, "bad before the first event\n"); break;
    case BISECT_BETWEEN:
        buf_printf(text,
                   "the first bad event is one of %" PRIu32 " to %" PRIu32
                   ": the check could not decide which\n",
                   r->good + 1, r->bad);
        put_event(text, "bad", r->bad, numbered_event(report, r->bad), n);
        put_event(text, "last good", r->good, numbered_event(report, r->good), n);
        break;
    case BISECT_CANNOT:
        buf_puts(text, "cannot tell: the check could not decide about the whole graph");
        if (report->said.n)
            buf_printf(text, ": --check printed: %.*s", STR_ARG(report->said));
        buf_putc(text, '\n');
        break;
    case BISECT_UNSTEADY:
        buf_puts(text, "cannot tell: the same place gave another answer when it was checked "
                       "again\n");
        break;
    case BISECT_STOPPED: put_stopped(text, report); break;
    }
}

static void put_bisect_text(struct buf *text, const struct bisect_report *report)
{
    buf_printf(text, "%.*s\n", STR_ARG(report->graph));
    put_end(text, report);
    put_contradictions(text, report->result);
    put_questions(text, report->result);
    put_machine_line(text, report);
}

/* ---- JSON ---- */

static void json_event(struct json_writer *w, const char *key, uint32_t number,
                       const struct bisect_event *event)
{
    char id[20];
    if (!event) {
        json_put_null(w, key);
        return;
    }
    snprintf(id, sizeof id, "%016" PRIx64, event->id);
    json_open_object(w, key);
    json_put_u64(w, "number", number);
    json_put_cstr(w, "id", id);
    json_put_cstr(w, "kind", bisect_event_name(event->kind));
    json_put_str(w, "expr", event->expr);
    json_put_str(w, "node", event->node);
    json_put_str(w, "op", event->op);
    json_put_cstr(w, "recorded_as", event->recorded);
    json_put_str(w, "file", event->file);
    json_put_u64(w, "line", event->line);
    json_put_str(w, "function", event->function);
    json_put_str(w, "code", event->code);
    json_put_str(w, "failure", event->failure);
    json_close(w);
}

static void put_bisect_json(struct buf *text, const struct bisect_report *report)
{
    const struct bisect_result *r = report->result;
    bool found = r->end == BISECT_FOUND || r->end == BISECT_BETWEEN;
    struct json_writer w = json_writer_of(text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_BISECT);
    json_put_cstr(&w, "verdict", end_words[r->end]);
    json_put_str(&w, "graph", report->graph);
    json_put_u64(&w, "events", report->events->list.n);
    json_event(&w, "first_bad", r->bad, found ? numbered_event(report, r->bad) : NULL);
    json_event(&w, "last_good", r->good, found ? numbered_event(report, r->good) : NULL);
    json_put_u64(&w, "good", r->good);
    json_put_u64(&w, "bad", r->bad);
    json_put_bool(&w, "certified", r->certified);
    json_put_bool(&w, "monotone", r->monotone);
    json_put_u64(&w, "probes", r->probes);
    json_put_u64(&w, "rounds", r->rounds);
    json_put_u64(&w, "looked", r->looked);
    json_close(&w);
    buf_putc(text, '\n');
}

/* ---- The list ---- */

static void list_text(struct buf *text, const struct bisect_report *report)
{
    buf_printf(text, "%.*s\n", STR_ARG(report->graph));
    for (size_t i = 0; i < report->events->list.n; i++) {
        const struct bisect_event *event = &report->events->list.v[i];
        buf_printf(text, "%5zu %016" PRIx64 " %-14s %.*s%s", i + 1, event->id,
                   bisect_event_name(event->kind), STR_ARG(event->expr), event->hit ? "  <-" : "");
        put_user_line(text, event->file, event->line, event->function, event->code);
        buf_putc(text, '\n');
    }
}

static void list_json(struct buf *text, const struct bisect_report *report)
{
    struct json_writer w = json_writer_of(text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_BISECT);
    json_put_str(&w, "graph", report->graph);
    json_open_array(&w, "list");
    for (uint32_t i = 1; i <= report->events->list.n; i++)
        json_event(&w, NULL, i, numbered_event(report, i));
    json_close(&w);
    json_close(&w);
    buf_putc(text, '\n');
}

int bisect_list(struct cmd *cmd, const struct bisect_args *args, const struct bisect_report *report)
{
    struct buf text = BUF_INIT;
    if (args->json)
        list_json(&text, report);
    else
        list_text(&text, report);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code;
}

/* ---- The exit code ---- */

static int bisect_exit_code(const struct bisect_args *args, const struct bisect_report *report)
{
    const struct bisect_result *r = report->result;
    char id[20];
    if (r->end == BISECT_NEVER)
        return EXIT_DONE;
    if (r->end == BISECT_STOPPED)
        return EXIT_INTERRUPTED;
    if (r->end != BISECT_FOUND)
        return EXIT_CANNOT_TELL;
    if (!args->only)
        return EXIT_DIFFERS;
    snprintf(id, sizeof id, "%016" PRIx64, numbered_event(report, r->bad)->id);
    return strcmp(id, args->only) == 0 ? EXIT_DIFFERS : EXIT_CANNOT_TELL;
}

int bisect_report(struct cmd *cmd, const struct bisect_args *args,
                  const struct bisect_report *report)
{
    struct buf text = BUF_INIT;
    if (args->json)
        put_bisect_json(&text, report);
    else
        put_bisect_text(&text, report);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    return code == EXIT_DONE ? bisect_exit_code(args, report) : code;
}

/* ---- Between ---- */

static void between_text(struct buf *text, const struct bisect_difference *d)
{
    if (d->side == BETWEEN_NONE) {
        buf_printf(text, "no difference in %" PRIu32 " events and %" PRIu32 " nodes\n", d->events,
                   d->nodes);
        buf_puts(text, "first-difference=none\n");
        return;
    }
    buf_printf(text, "compile %.*s: %s ", STR_ARG(d->compile), d->kind);
    if (d->op.n && strcmp(d->kind, "operator") != 0)
        buf_printf(text, "%s%.*s: ", d->graph.n ? "of " : "", STR_ARG(d->op));
    if (d->side == BETWEEN_CHANGED && str_eq(d->a, d->b))
        buf_puts(text, "others");
    else if (d->side == BETWEEN_CHANGED)
        buf_printf(text, "%.*s is now %.*s", STR_ARG(d->a), STR_ARG(d->b));
    else
        buf_printf(text, "%.*s is in the %s only", STR_ARG(d->side == BETWEEN_ONLY_A ? d->a : d->b),
                   d->side == BETWEEN_ONLY_A ? "first" : "second");
    if (d->graph.n)
        buf_printf(text, " (%.*s)", STR_ARG(d->graph));
    put_user_line(text, d->file, d->line, d->function, d->code);
    buf_printf(text, "\n%" PRIu32 " of %" PRIu32 " events and nodes differ\n", d->differences,
               d->events + d->nodes);
    buf_printf(text, "first-difference=%s kind=%s expr=", side_words[d->side], d->kind);
    json_quote(text, d->op.n ? d->op : d->b.n ? d->b : d->a);
    buf_putc(text, '\n');
}

static void between_json(struct buf *text, const struct bisect_difference *d)
{
    struct json_writer w = json_writer_of(text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_BISECT);
    json_put_cstr(&w, "verdict", d->side == BETWEEN_NONE ? "never" : "found");
    json_put_cstr(&w, "side", side_words[d->side]);
    json_put_cstr(&w, "kind", d->kind);
    json_put_str(&w, "first", d->a);
    json_put_str(&w, "second", d->b);
    json_put_str(&w, "compile", d->compile);
    json_put_str(&w, "graph", d->graph);
    json_put_str(&w, "op", d->op);
    json_put_str(&w, "file", d->file);
    json_put_u64(&w, "line", d->line);
    json_put_str(&w, "function", d->function);
    json_put_str(&w, "code", d->code);
    json_put_u64(&w, "compared", d->events + d->nodes);
    json_put_u64(&w, "differences", d->differences);
    json_close(&w);
    buf_putc(text, '\n');
}

int bisect_report_between(struct cmd *cmd, const struct bisect_args *args,
                          const struct bisect_difference *difference)
{
    struct buf text = BUF_INIT;
    if (args->json)
        between_json(&text, difference);
    else
        between_text(&text, difference);
    int code = out_buf(cmd->out, &text);
    buf_release(&text);
    if (code != EXIT_DONE)
        return code;
    return difference->side == BETWEEN_NONE ? EXIT_DONE : EXIT_DIFFERS;
}

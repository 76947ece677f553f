/* Regions as text and JSON. */
#include "cmd/inputs/inputs.h"
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/table.h"

static const struct region_condition *separator_of(const struct regions *regions, size_t i)
{
    const struct region *r = &regions->list.v[i];
    return i ? &regions->list.v[r->parent].conditions[r->separator] : NULL;
}

/* ---- Text ---- */

static void put_smallest(const struct conditions *conditions, const struct region *region,
                         struct buf *out)
{
    bool any = false;
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint)
            continue;
        buf_puts(out, any ? ", " : "");
        format_text(out, s->name, 0);
        buf_printf(out, "=%lld", (long long)region->smallest[i]);
        any = true;
    }
}

/* Appends "12 calls: 0/0, 0/2": how many calls there were in the region, if they are known, and the
 * compiles that some made. */
static void put_calls(const struct trace *trace, const struct region *region, struct buf *out)
{
    if (region->times)
        format_plural(out, region->times, "call");
    if (region->times && region->n_calls)
        buf_puts(out, ": ");
    for (size_t i = 0; i < region->n_calls; i++) {
        buf_puts(out, i ? ", " : "");
        format_text(out, trace->attempts[region->calls[i]].compile, 0);
    }
}

/* Appends "ok", "ok (0/0)", "12 calls, 3.41 kB", "differs by 0.1 in out.0", "not run: ...". */
static void put_result(const struct inputs_run *run, const struct conditions *conditions,
                       const struct region_result *result, struct buf *out)
{
    char bytes[HUMAN_SIZE];
    bool other = result->attempt != TRACE_NONE && result->attempt != conditions->attempt;
    if (result->status == REGION_RAN && run->runner.session.pair.tested_kind->shapes_only) {
        format_plural(out, result->calls, "call");
        buf_printf(out, ", %s", human_bytes(bytes, result->peak));
    } else {
        buf_puts(out, region_status_name(result->status));
    }
    if (other) {
        buf_puts(out, " (");
        format_text(out, run->tape.trace->attempts[result->attempt].compile, 0);
        buf_puts(out, ")");
    }
    if (result->message.n) {
        buf_puts(out, result->status == REGION_DIFFERS ? " " : ": ");
        format_text(out, result->message, 0);
    }
}

static void put_region(const struct inputs_run *run, const struct conditions *conditions,
                       const struct regions *regions, size_t i, const struct region_result *result,
                       struct table *table)
{
    const struct region *region = &regions->list.v[i];
    const struct region_condition *separator = separator_of(regions, i);
    table_u64(table, i + 1);
    table_text(table, str_of(region_kind_name(region->kind)));
    put_calls(run->tape.trace, region, &table->text);
    table_cell(table);
    put_smallest(conditions, region, &table->text);
    table_cell(table);
    format_text(&table->text, region->words, 0);
    table_cell(table);
    if (separator)
        buf_printf(&table->text, "%u: not ", (unsigned)region->parent + 1);
    if (separator)
        format_text(&table->text, separator->text, 0);
    table_cell(table);
    table_place(table, separator ? separator->file : (struct str){ 0 },
                separator ? separator->line : 0);
    table_text(table, separator ? separator->code : (struct str){ 0 });
    if (!result)
        return;
    put_result(run, conditions, result, &table->text);
    table_cell(table);
}

/* Returns the first region from `at` on that has this message. */
static size_t next_with(const struct regions *regions, size_t at, struct str message)
{
    while (at < regions->list.n && !str_eq(regions->list.v[at].message, message))
        at++;
    return at;
}

/* Appends "regions 2, 4, 5: RuntimeError: ...": each message once, with the regions that have it.
 */
static void put_messages(const struct regions *regions, struct buf *out)
{
    const size_t n = regions->list.n;
    for (size_t i = 0; i < n; i++) {
        struct str message = regions->list.v[i].message;
        if (!message.n || next_with(regions, 0, message) < i)
            continue;
        size_t next = next_with(regions, i + 1, message);
        buf_printf(out, "  * %s %zu", next < n ? "regions" : "region", i + 1);
        for (; next < n; next = next_with(regions, next + 1, message))
            buf_printf(out, ", %zu", next + 1);
        buf_puts(out, ": ");
        format_text(out, str_first(message, str_find_char(message, '\n')), 200);
        buf_putc(out, '\n');
    }
}

void regions_report_text(struct inputs_run *run, const struct conditions *conditions,
                         const struct regions *regions, const struct region_result *results)
{
    static const struct column COLUMNS[] = {
        { "region", COLUMN_RIGHT, 0 },   { "what", COLUMN_LEFT, 3 },
        { "calls", COLUMN_WIDE, 5 },     { "smallest sizes", COLUMN_WIDE, 0 },
        { "sizes", COLUMN_WIDE, 0 },     { "told apart by", COLUMN_WIDE, 1 },
        { "user line", COLUMN_PATH, 2 }, { "code", COLUMN_WIDE, 4 },
        { "run", COLUMN_WIDE, 0 },
    };
    struct buf *out = &run->text;
    struct table table = TABLE(COLUMNS);
    table.n_columns -= !results;
    if (run->n_answered)
        buf_putc(out, '\n');
    served_put_first_line(run, conditions, regions, out);
    put_messages(regions, out);
    if (regions->n_undecided) {
        buf_puts(out, "  * not decided whether they are empty: ");
        format_plural(out, regions->n_undecided, "neighbor");
        buf_putc(out, '\n');
    }
    if (regions->n_unread) {
        buf_puts(out, "  * not known what they require: ");
        format_plural(out, regions->n_unread, "condition");
        buf_puts(out, " that cannot be read\n");
    }
    if (run->n_left_out) {
        buf_puts(
            out,
            "  * calls that lie in none, with other static sizes or numbers or an unknown size: ");
        buf_printf(out, "%llu\n", (unsigned long long)run->n_left_out);
    }
    buf_putc(out, '\n');
    served_put_reasons(run, conditions, &regions->list.v[0], out);
    buf_putc(out, '\n');
    for (size_t i = 0; i < regions->list.n; i++)
        put_region(run, conditions, regions, i, results ? &results[i] : NULL, &table);
    report_table(&table, &run->how, 2, (uint32_t)regions->list.n, out);
}

/* ---- JSON ---- */

static void json_condition(const struct region_condition *c, struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_str(w, "expr", c->text);
    json_put_bool(w, "recorded", c->recorded);
    if (c->file.n) {
        json_open_object(w, "line");
        json_put_str(w, "file", c->file);
        json_put_u64(w, "line", c->line);
        json_put_str(w, "code", c->code);
        json_close(w);
    } else {
        json_put_null(w, "line");
    }
    json_close(w);
}

static void json_smallest(const struct conditions *conditions, const struct region *region,
                          struct json_writer *w)
{
    json_open_array(w, "sizes");
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint)
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "symbol", s->name);
        json_put_str_or_null(w, "source", s->source);
        json_put_i64(w, "recorded", s->hint);
        json_put_i64(w, "smallest", region->smallest[i]);
        json_close(w);
    }
    json_close(w);
}

static void json_result(const struct inputs_run *run, const struct region_result *result,
                        struct json_writer *w)
{
    json_open_object(w, "run");
    json_put_cstr(w, "status", region_status_name(result->status));
    json_put_str_or_null(w, "compile",
                         result->attempt == TRACE_NONE
                             ? (struct str){ 0 }
                             : run->tape.trace->attempts[result->attempt].compile);
    json_put_str_or_null(w, "message", result->message);
    json_put_u64(w, "graphs", result->graphs);
    json_put_u64(w, "calls", result->calls);
    json_put_u64(w, "peak_bytes", result->peak);
    if (result->compared)
        json_put_double(w, "max_absolute", result->max_absolute);
    else
        json_put_null(w, "max_absolute");
    json_close(w);
}

void regions_report_json(struct inputs_run *run, const struct conditions *conditions,
                         const struct regions *regions, const struct region_result *results)
{
    struct json_writer *w = &run->writer;
    json_open_object(w, NULL);
    inputs_json_name(run, conditions, w);
    json_put_bool(w, "complete", regions->complete);
    json_put_u64(w, "undecided", regions->n_undecided);
    json_put_u64(w, "unread", regions->n_unread);
    json_put_u64(w, "calls_left_out", run->n_left_out);
    served_json(conditions, &regions->list.v[0], w);
    json_open_array(w, "regions");
    for (size_t i = 0; i < regions->list.n; i++) {
        const struct region *region = &regions->list.v[i];
        const struct region_condition *separator = separator_of(regions, i);
        json_open_object(w, NULL);
        json_put_cstr(w, "what", region_kind_name(region->kind));
        json_put_str_or_null(w, "message", region->message);
        json_put_str(w, "words", region->words);
        json_smallest(conditions, region, w);
        json_put_bool(w, "is_smallest", region->has_smallest);
        json_open_array(w, "calls");
        for (size_t k = 0; k < region->n_calls; k++)
            json_put_str(w, NULL, run->tape.trace->attempts[region->calls[k]].compile);
        json_close(w);
        if (run->calls.log.calls.n)
            json_put_u64(w, "times", region->times);
        else
            json_put_null(w, "times");
        if (separator) {
            json_put_u64(w, "neighbor", region->parent);
            json_put_u64(w, "separator", region->separator);
        } else {
            json_put_null(w, "neighbor");
            json_put_null(w, "separator");
        }
        json_open_array(w, "conditions");
        for (size_t k = 0; k < region->n_conditions; k++)
            json_condition(&region->conditions[k], w);
        json_close(w);
        if (results)
            json_result(run, &results[i], w);
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

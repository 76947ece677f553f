/* What a compile serves: the sizes of the first region, symbol by symbol, and why. */
#include "cmd/inputs/inputs.h"
#include "profile/model/format.h"
#include "profile/report/table.h"

enum { PLACES_SHOWN = 3 };

/* Returns whether a condition of the first region is about this symbol alone, and the first one at
 * its line that is. */
static bool is_cause(const struct region *region, size_t i, sym_id symbol)
{
    const struct region_condition *c = &region->conditions[i];
    bool ret = c->symbol == symbol && c->file.n;
    for (size_t k = 0; k < i && ret; k++) {
        const struct region_condition *before = &region->conditions[k];
        ret = before->symbol != symbol || before->line != c->line || !str_eq(before->file, c->file);
    }
    return ret;
}

static struct str words_of(const struct region *region, size_t symbol)
{
    for (size_t i = 0; i < region->n_sizes; i++)
        if (region->sizes[i].symbol == symbol)
            return region->sizes[i].words;
    return region->n_sizes == REGION_SIZES ? (struct str){ 0 } : STR("any");
}

/* ---- Text ---- */

void served_put_first_line(const struct inputs_run *run, const struct conditions *conditions,
                           const struct regions *regions, struct buf *out)
{
    bool program = conditions->attempt == TRACE_NONE;
    enum attempt_status status =
        program ? ATTEMPT_OK : run->tape.trace->attempts[conditions->attempt].status;
    inputs_put_name(run, conditions, out);
    if (status != ATTEMPT_OK)
        buf_printf(out, " (%s) was traced for ", attempt_status_name(status));
    else
        buf_puts(out, program ? ": its asserts allow " : " serves ");
    format_text(out, regions->list.v[0].words, 0);
    if (regions->list.n > 1) {
        buf_puts(out, regions->complete ? "; other sizes fall into "
                                        : "; other sizes fall into at least ");
        format_plural(out, regions->list.n - 1, "other region");
    } else if (!regions->complete) {
        buf_puts(out, "; no region of other sizes was found, but there may be some");
    }
    buf_putc(out, '\n');
}

static void put_causes(const struct region *region, sym_id symbol, struct buf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < region->n_conditions; i++) {
        if (!is_cause(region, i, symbol) || n++ >= PLACES_SHOWN)
            continue;
        buf_puts(out, n > 1 ? ", " : "");
        format_place(out, region->conditions[i].file, region->conditions[i].line);
    }
    if (n > PLACES_SHOWN) {
        buf_puts(out, " and ");
        format_plural(out, n - PLACES_SHOWN, "other line");
    }
}

static void put_symbols(const struct inputs_run *run, const struct conditions *conditions,
                        const struct region *region, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "symbol", COLUMN_LEFT, 0 },     { "source", COLUMN_WIDE, 0 },
        { "recorded", COLUMN_RIGHT, 1 },  { "sizes", COLUMN_WIDE, 0 },
        { "because of", COLUMN_PATH, 2 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint || n++ >= report_shown(&run->how, UINT32_MAX))
            continue;
        table_text(&table, s->name);
        table_text(&table, s->source);
        table_printf(&table, "%lld", (long long)s->hint);
        table_text(&table, words_of(region, i));
        put_causes(region, s->symbol, &table.text);
        table_cell(&table);
    }
    report_table(&table, &run->how, 2, n, out);
}

static void put_shared(const struct inputs_run *run, const struct region *region, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "condition on several sizes", COLUMN_WIDE, 0 },
        { "user line", COLUMN_PATH, 0 },
        { "code", COLUMN_WIDE, 1 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (size_t i = 0; i < region->n_conditions; i++) {
        const struct region_condition *c = &region->conditions[i];
        if (c->symbol != SYM_NONE || n++ >= report_shown(&run->how, UINT32_MAX))
            continue;
        table_text(&table, c->text);
        table_place(&table, c->file, c->line);
        table_text(&table, c->code);
    }
    if (n)
        buf_putc(out, '\n');
    report_table(&table, &run->how, 2, n, out);
}

void served_put_reasons(const struct inputs_run *run, const struct conditions *conditions,
                        const struct region *region, struct buf *out)
{
    put_symbols(run, conditions, region, out);
    put_shared(run, region, out);
}

/* ---- JSON ---- */

void served_json(const struct conditions *conditions, const struct region *region,
                 struct json_writer *w)
{
    json_open_array(w, "served");
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint)
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "symbol", s->name);
        json_put_str_or_null(w, "source", s->source);
        json_put_str_or_null(w, "words", words_of(region, i));
        json_open_array(w, "lines");
        for (size_t k = 0; k < region->n_conditions; k++) {
            const struct region_condition *c = &region->conditions[k];
            if (!is_cause(region, k, s->symbol))
                continue;
            json_open_object(w, NULL);
            json_put_str(w, "file", c->file);
            json_put_u64(w, "line", c->line);
            json_put_str(w, "code", c->code);
            json_close(w);
        }
        json_close(w);
        json_close(w);
    }
    json_close(w);
}

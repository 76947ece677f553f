/* Text report: work around operators, uses of sizes and memory, as a deep recording tells them. */
#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/text_report.h"

static void put_processes(const struct text_report *r)
{
    const struct profile_costs *costs = &r->p->costs;
    struct buf text = BUF_INIT;
    for (uint32_t i = 0; i < costs->n_processes; i++) {
        const struct deep_process *p = costs->processes[i];
        if (p->lost > 0) {
            format_plural(&text, p->lost, "event");
            buf_puts(&text, " found no room and were lost. ");
        }
        if (p->not_wrapped > 0) {
            format_plural(&text, p->not_wrapped, "function");
            buf_puts(&text, " of this version of torch could not be watched. ");
        }
        if (!p->ended)
            buf_puts(&text, "The process did not end by itself. ");
        if (p->overhead_ns > 0) {
            buf_puts(&text, "Recording took ");
            format_ns(&text, p->overhead_ns > INT64_MAX ? INT64_MAX : (int64_t)p->overhead_ns);
            buf_puts(&text, ". ");
        }
    }
    text_paragraph(r, &text);
}

void text_spots(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "self time", COLUMN_RIGHT }, { "inclusive", COLUMN_RIGHT, 1 }, { "calls", COLUMN_RIGHT },
        { "cost", COLUMN_LEFT },       { "called by", COLUMN_WIDE },
    };
    const struct profile_costs *costs = &r->p->costs;
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, costs->n_spots); i++) {
        const struct cost_spot *spot = &costs->spots[i];
        table_ns(&table, spot->self_ns);
        table_ns(&table, spot->ns);
        table_count(&table, spot->count);
        table_text(&table, spot->cost);
        table_text(&table, spot->caller);
    }
    if (costs->n_spots > 0 || costs->n_processes > 0)
        text_title(r, "Work around operators (pytree, devices, no_dispatch), as recorded");
    text_finish(r, &table, costs->n_spots);
    put_processes(r);
}

static void put_uses(const struct text_report *r, bool question, const char *title)
{
    static const struct column COLUMNS[] = {
        { "count", COLUMN_RIGHT },    { "use", COLUMN_LEFT },         { "size", COLUMN_WIDE },
        { "source", COLUMN_WIDE, 2 }, { "asked by", COLUMN_PATH, 1 }, { "line", COLUMN_PATH },
        { "code", COLUMN_WIDE },
    };
    const struct profile_costs *costs = &r->p->costs;
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (uint32_t i = 0; i < costs->n_uses; i++) {
        const struct size_use *use = &costs->uses[i];
        if (use->question != question)
            continue;
        n++;
        if (text_shown(r, n) < n)
            continue;
        table_count(&table, use->count);
        table_text(&table, use->use);
        table_text(&table, use->expr);
        table_text(&table, use->source);
        table_place(&table, use->asker_file, use->asker_line);
        table_place(&table, use->file, use->line);
        table_text(&table, use->code);
    }
    if (n > 0)
        text_title(r, title);
    text_finish(r, &table, n);
}

void text_size_uses(const struct text_report *r)
{
    put_uses(r, false, "Sizes that Python used as numbers: what makes them static");
    put_uses(r, true, "Questions that Python asked of sizes");
}

static void cell_bytes(struct table *table, uint64_t bytes)
{
    char text[HUMAN_SIZE];
    table_text(table, str_of(bytes ? human_bytes(text, bytes) : ""));
}

static void cell_growth(struct table *table, int64_t bytes)
{
    char text[HUMAN_SIZE];
    uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    if (bytes == 0)
        table_text(table, STR(""));
    else
        table_printf(table, "%c%s", bytes < 0 ? '-' : '+', human_bytes(text, size));
}

void text_phase_memory(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "host", COLUMN_RIGHT },      { "host peak", COLUMN_RIGHT },
        { "device", COLUMN_RIGHT, 1 }, { "device peak", COLUMN_RIGHT, 2 },
        { "calls", COLUMN_RIGHT, 3 },  { "phase", COLUMN_WIDE },
    };
    const struct profile_costs *costs = &r->p->costs;
    struct table table = TABLE(COLUMNS);
    if (costs->n_memory == 0)
        return;
    text_title(r, "Memory of the compiler by phase (growth; peak: of the process until its end)");
    for (uint32_t i = 0; i < text_shown(r, costs->n_memory); i++) {
        const struct phase_memory *row = &costs->memory[i];
        cell_growth(&table, row->host_growth);
        cell_bytes(&table, row->host_peak);
        cell_growth(&table, row->device_growth);
        cell_bytes(&table, row->device_peak);
        table_count(&table, row->calls);
        table_text(&table, row->phase);
    }
    text_finish(r, &table, costs->n_memory);
}

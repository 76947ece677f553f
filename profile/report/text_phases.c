/* Text report: phases. */
#include "profile/model/format.h"
#include "profile/report/text_report.h"

void text_unfinished(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "elapsed", COLUMN_RIGHT },
        { "compile", COLUMN_LEFT },
        { "ended by", COLUMN_LEFT },
        { "phase", COLUMN_WIDE },
    };
    const struct profile_phases *phases = &r->p->phases;
    if (phases->n_unfinished == 0)
        return;
    text_title(r, "Phases that never ended (time until the log's last record)");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, phases->n_unfinished); i++) {
        const struct phase_span *span = &phases->spans[phases->unfinished[i]];
        table_ns(&table, span->end_ns - span->start_ns);
        text_compile(r, &table, span->recording, span->compile);
        table_text(&table, span->open ? STR("end of log") : STR("the phase around it"));
        table_text(&table, profile_name(r->p, span->name));
    }
    text_finish(r, &table, phases->n_unfinished);
}

static void tree_row(const struct text_report *r, struct table *table, uint32_t index,
                     unsigned depth)
{
    const struct phase_node *node = &r->p->phases.nodes[index];
    struct str name = profile_name(r->p, node->name);
    table_ns(table, node->inclusive_ns);
    format_share(&table->text, node->inclusive_ns, r->p->phases.total_ns);
    table_cell(table);
    table_ns(table, node->exclusive_ns);
    table_count(table, node->calls);
    for (unsigned i = 0; i < depth; i++)
        buf_puts(&table->text, "| ");
    format_text(&table->text, name, 0);
    if (node->unfinished > 0)
        buf_puts(&table->text, " [never ended]");
    const char *meaning = phase_meaning(name);
    if (*meaning)
        buf_printf(&table->text, ": %s", meaning);
    table_cell(table);
}

/* Depth first, without what is too small to matter (half a percent) unless all was asked for. */
static uint32_t put_nodes(const struct text_report *r, struct table *table)
{
    enum { DEEPEST = 30 };
    const struct profile_phases *phases = &r->p->phases;
    uint32_t left_out = 0, node = phases->first_root;
    unsigned depth = 0;
    while (node != PROFILE_NONE) {
        const struct phase_node *n = &phases->nodes[node];
        bool small = r->options->limit > 0 && n->inclusive_ns < phases->total_ns / 200;
        if (small || depth >= DEEPEST)
            left_out++;
        else
            tree_row(r, table, node, depth);
        if (!small && n->first_child != PROFILE_NONE) {
            node = n->first_child;
            depth++;
            continue;
        }
        while (node != PROFILE_NONE && phases->nodes[node].next_sibling == PROFILE_NONE) {
            node = phases->nodes[node].parent;
            depth -= depth > 0;
        }
        if (node != PROFILE_NONE)
            node = phases->nodes[node].next_sibling;
    }
    return left_out;
}

void text_phase_totals(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "exclusive", COLUMN_RIGHT }, { "share", COLUMN_RIGHT }, { "inclusive", COLUMN_RIGHT },
        { "calls", COLUMN_RIGHT },     { "phase", COLUMN_WIDE },
    };
    const struct profile_phases *phases = &r->p->phases;
    if (phases->n_totals == 0)
        return;
    text_title(r, "Phases by name, wherever they run");
    struct table table = TABLE(COLUMNS);
    for (uint32_t i = 0; i < text_shown(r, phases->n_totals); i++) {
        const struct phase_total *total = &phases->totals[i];
        table_ns(&table, total->exclusive_ns);
        format_share(&table.text, total->exclusive_ns, phases->total_ns);
        table_cell(&table);
        table_ns(&table, total->inclusive_ns);
        table_count(&table, total->calls);
        table_text(&table, profile_name(r->p, total->name));
    }
    text_finish(r, &table, phases->n_totals);
}

void text_phases(const struct text_report *r)
{
    static const struct column COLUMNS[] = {
        { "inclusive", COLUMN_RIGHT }, { "share", COLUMN_RIGHT }, { "exclusive", COLUMN_RIGHT },
        { "calls", COLUMN_RIGHT },     { "phase", COLUMN_WIDE },
    };
    if (r->p->phases.n_nodes == 0)
        return;
    text_title(r, "Phases (inclusive: with what runs inside; exclusive: itself)");
    struct table table = TABLE(COLUMNS);
    uint32_t left_out = put_nodes(r, &table);
    text_finish(r, &table, 0);
    if (left_out > 0) {
        buf_puts(r->out, "  ");
        format_plural(r->out, left_out, "small phase");
        buf_puts(r->out, " left out\n");
    }
    if (r->p->phases.stray_ends > 0) {
        buf_puts(r->out, "  ");
        format_plural(r->out, r->p->phases.stray_ends, "end");
        buf_puts(r->out, " without a beginning\n");
    }
}

#include <string.h>

#include "profile/model/format.h"
#include "profile/model/human.h"
#include "profile/report/replay/timing_report.h"
#include "profile/report/table.h"

enum { PLACE_COLUMNS = 60 };

static void put_microseconds(struct buf *out, double us)
{
    format_ns(out, (int64_t)(us * 1e3 + 0.5));
}

/* Appends a rate in its unit: 1 byte a microsecond is 1 MB/s. */
static void put_data_rate(struct buf *out, double per_us, const char *unit)
{
    static const char *const prefixes[] = { "M", "G", "T", "P" };
    size_t i = 0;
    while (per_us >= 1000 && i + 1 < sizeof prefixes / sizeof *prefixes)
        per_us /= 1000, i++;
    buf_printf(out, "%.3g %s%s", per_us, prefixes[i], unit);
}

/* ---- The whole ---- */

static void put_run_sizes(const struct timing *t, struct buf *out)
{
    for (size_t i = 0; i < t->n_sizes; i++)
        buf_printf(out, "%s%.*s = %lld", i ? ", " : " at ", STR_ARG(t->sizes[i].symbol),
                   (long long)t->sizes[i].value);
    buf_putc(out, '\n');
}

/* Appends "3 libraries opened in 95.0 ms", if there were any. */
static void put_once(struct buf *out, const char **between, uint64_t n, const char *what,
                     uint64_t ns)
{
    if (n == 0)
        return;
    buf_printf(out, "%s%llu %s in ", *between, (unsigned long long)n, what);
    format_ns(out, (int64_t)ns);
    *between = ", ";
}

static void put_first(const struct timing *t, struct buf *out)
{
    const struct backend_log *once = &t->once;
    const char *between = "  done once, in the first run: ";
    put_once(out, &between, once->opened, "libraries opened", once->open_ns);
    put_once(out, &between, once->compiled, "kernels compiled", once->compile_ns);
    put_once(out, &between, once->loaded, "kernels loaded", once->load_ns);
    put_once(out, &between, once->planned, "library calls planned", once->plan_ns);
    put_once(out, &between, once->tried, "of their plans timed to choose", once->try_ns);
    if (between[0] == ',')
        buf_putc(out, '\n');
    if (t->compiled_later)
        buf_printf(out, "  %llu kernels compiled in later runs\n",
                   (unsigned long long)t->compiled_later);
}

/* Explains the rest of the wall time if launches do not account for it. */
static void put_rest(const struct timing *t, struct buf *out)
{
    buf_puts(out, ", which does not explain it within 10 %: shares are of the launches' time\n");
    if (t->sum_us > t->wall_us) {
        buf_puts(out, "  they were timed in runs with a log, which took ");
        put_microseconds(out, t->logged_us);
        buf_putc(out, '\n');
        return;
    }
    if (!t->queues) {
        buf_puts(out, "  the rest is the replay's own: sizes, memory\n");
        return;
    }
    buf_puts(out, "  the host made the calls in ");
    put_microseconds(out, t->host_us);
    buf_puts(out, timing_host_bound(t) ? ": the device waits for it" : "");
    buf_puts(out, "; with the log the device is idle between launches for ");
    put_microseconds(out, t->idle_us);
    buf_putc(out, '\n');
}

static void put_wall(const struct timing *t, struct buf *out)
{
    buf_puts(out, "  wall time ");
    put_microseconds(out, t->wall_us);
    buf_printf(out, " without the log, the median of %u runs; the first of this size took ",
               t->runs);
    put_microseconds(out, t->first_us);
    buf_puts(out, "\n  launches take ");
    put_microseconds(out, t->sum_us);
    if (timing_explains(t))
        buf_printf(out, ", %.0f %% of it\n", 100 * t->sum_us / t->wall_us);
    else
        put_rest(t, out);
    put_first(t, out);
}

static void put_ceilings(const struct timing *t, struct buf *out)
{
    const struct ceilings *c = &t->ceilings;
    char text[HUMAN_SIZE];
    if (c->bytes_per_us == 0)
        return;
    buf_printf(out, "  ceilings as measured here: %s of %s ", c->by, human_bytes(text, c->copied));
    put_data_rate(out, c->bytes_per_us, "B/s");
    for (uint32_t i = 0; i < c->n_products; i++) {
        buf_printf(out, ", aten.mm of %u by %u %s ", c->products[i].n, c->products[i].n,
                   dtype_short_name(c->products[i].dtype));
        put_data_rate(out, c->products[i].flops_per_us, "FLOP/s");
    }
    buf_putc(out, '\n');
}

/* ---- Operators ---- */

static const struct column OPERATORS[] = {
    { "time", COLUMN_RIGHT, 0 },    { "share", COLUMN_RIGHT, 0 },
    { "alone", COLUMN_RIGHT, 0 },   { "launches", COLUMN_RIGHT, 0 },
    { "calls", COLUMN_RIGHT, 1 },   { "bytes", COLUMN_RIGHT, 2 },
    { "rate", COLUMN_RIGHT, 0 },    { "FLOPs", COLUMN_RIGHT, 0 },
    { "ceiling", COLUMN_RIGHT, 0 }, { "on host", COLUMN_RIGHT, 0 },
    { "operator", COLUMN_WIDE, 0 }, { "user line", COLUMN_PATH, 0 },
    { "code", COLUMN_WIDE, 3 },
};

static void put_node_place(struct table *table, const struct graph *graph, uint32_t node)
{
    uint32_t at = node < graph->n_nodes ? graph->nodes[node].location : LOCATION_NONE;
    const struct location *l = at == LOCATION_NONE ? NULL : &graph->locations[at];
    if (l && location_has_place(l)) {
        table_place(table, l->file, l->line);
        format_text(&table->text, l->code, PLACE_COLUMNS);
        table_cell(table);
    } else {
        table_text(table, STR(""));
        table_text(table, STR(""));
    }
}

static void put_operator(struct table *table, const struct timing *t, const struct timed_group *g)
{
    char text[HUMAN_SIZE];
    put_microseconds(&table->text, g->us);
    table_cell(table);
    format_share(&table->text, (int64_t)(g->us * 1e3), (int64_t)(t->sum_us * 1e3));
    table_cell(table);
    if (g->isolated)
        put_microseconds(&table->text, g->isolated_us);
    table_cell(table);
    table_count(table, g->launches);
    table_count(table, g->calls);
    table_text(table, str_of(g->bytes ? human_bytes(text, g->bytes) : ""));
    if (g->bytes && g->us > 0)
        put_data_rate(&table->text, (double)g->bytes / g->us, "B/s");
    table_cell(table);
    if (g->flops && g->us > 0)
        put_data_rate(&table->text, (double)g->flops / g->us, "FLOP/s");
    table_cell(table);
    if (g->ceiling > 0)
        format_share(&table->text, (int64_t)(g->ceiling * 1e6), 1000000);
    table_cell(table);
    table_count(table, g->on_host);
    table_text(table, g->name);
    put_node_place(table, t->graph, g->most);
}

static void put_timing_table(struct table *table, const struct report_options *how, size_t rest,
                             struct buf *out)
{
    const struct table_layout layout = { .width = how->width, .indent = 2, .styles = how->styles };
    table_print(table, &layout, out);
    if (rest)
        buf_printf(out, "  ... and %zu more\n", rest);
    table_release(table);
}

static void put_operators(const struct timing *t, const struct report_options *how, struct buf *out)
{
    struct column columns[sizeof OPERATORS / sizeof *OPERATORS];
    struct table table = TABLE(columns);
    memcpy(columns, OPERATORS, sizeof columns);
    if (!timing_explains(t))
        columns[1].header = "of launches";
    uint32_t shown = report_shown(how, (uint32_t)t->n_groups);
    for (uint32_t i = 0; i < shown; i++)
        put_operator(&table, t, &t->groups[i]);
    put_timing_table(&table, how, t->n_groups - shown, out);
}

/* ---- Memory ---- */

static const struct column HOLDERS[] = {
    { "bytes", COLUMN_RIGHT, 0 },   { "share", COLUMN_RIGHT, 1 },    { "node", COLUMN_LEFT, 0 },
    { "operator", COLUMN_WIDE, 0 }, { "user line", COLUMN_PATH, 0 }, { "code", COLUMN_WIDE, 3 },
};

void peak_text(const struct graph *graph, const struct peak *peak, const struct report_options *how,
               struct buf *out)
{
    struct table table = TABLE(HOLDERS);
    uint32_t shown = report_shown(how, peak->n_holders);
    struct str at = peak->node < graph->n_nodes ? graph->nodes[peak->node].name : STR("");
    char text[HUMAN_SIZE];
    buf_printf(out, "  memory at its peak %s, when %.*s is run; held by\n",
               human_bytes(text, peak->bytes), STR_ARG(at));
    for (uint32_t i = 0; i < shown; i++) {
        const struct peak_holder *h = &peak->holders[i];
        const struct node *node = &graph->nodes[h->node];
        bool input = node->op == NODE_PLACEHOLDER;
        table_text(&table, str_of(human_bytes(text, h->bytes)));
        format_share(&table.text, (int64_t)(h->bytes / 2), (int64_t)(peak->bytes / 2));
        table_cell(&table);
        table_text(&table, node->name);
        table_text(&table, input ? STR("input")
                           : str_starts(node->target, STR("torch.ops."))
                               ? str_from(node->target, 10)
                               : node->target);
        put_node_place(&table, graph, h->node);
    }
    put_timing_table(&table, how, peak->n_holders - shown, out);
}

void timing_text(const struct timing *t, const char *backend, const struct report_options *how,
                 struct buf *out)
{
    buf_printf(out, ": %u calls, %u launches on %s", t->calls, t->launches, backend);
    put_run_sizes(t, out);
    put_wall(t, out);
    put_ceilings(t, out);
    put_operators(t, how, out);
    if (t->peak.bytes)
        peak_text(t->graph, &t->peak, how, out);
}

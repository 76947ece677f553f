#include "profile/calls/warm/warm_report.h"
#include "profile/diagnosis/settings/cache_reasons.h"
#include "profile/model/format.h"

static const struct start_graph *graph_of(const struct warm_start *w, const struct warm_row *row)
{
    return &w->warm.graphs.v[row->graph];
}

/* ---- The answer ---- */

static void put_seconds_of(int64_t ns, const char *what, struct buf *out)
{
    if (ns <= 0)
        return;
    buf_puts(out, " (");
    format_ns(out, ns);
    buf_printf(out, "%s)", what);
}

static void put_more(uint32_t count, const char *one, const char *many, struct buf *out)
{
    if (!count)
        return;
    buf_puts(out, "; ");
    format_count(out, count);
    buf_puts(out, count == 1 ? one : many);
}

static void put_answer(const struct warm_start *w, struct buf *out)
{
    uint32_t fresh = w->counts[WARM_NEW], known = (uint32_t)w->rows.n - fresh;
    if (!w->rows.n) {
        buf_puts(out, "Inductor was asked for no graph in the warm start");
    } else if (!known) {
        buf_puts(out, "The warm start compiled ");
        format_plural(out, fresh, "graph");
        put_seconds_of(w->ns[WARM_NEW], "", out);
        buf_puts(out, ", which the cold one does not have");
    } else {
        buf_puts(out, "The warm start compiled ");
        if (w->counts[WARM_AGAIN])
            format_count(out, w->counts[WARM_AGAIN]);
        else
            buf_puts(out, "none");
        buf_puts(out, " of ");
        format_plural(out, known, "graph");
        buf_puts(out, " again");
        put_seconds_of(w->ns[WARM_AGAIN], "", out);
        put_more(fresh, " more is new", " more are new", out);
        put_seconds_of(w->ns[WARM_NEW], "", out);
    }
    put_more(w->n_unasked, " of the cold start was not asked for",
             " of the cold start were not asked for", out);
    buf_puts(out, "\n");
}

static void put_times(const struct warm_start *w, struct buf *out)
{
    uint32_t taken = w->counts[WARM_TAKEN] + w->counts[WARM_TRACED];
    int64_t again = w->ns[WARM_AGAIN], warm = w->warm.compile_ns;
    if (taken) {
        buf_puts(out, "from the caches: ");
        format_plural(out, taken, "graph");
        put_seconds_of(warm_start_saved_ns(w), " spared", out);
        put_more(w->counts[WARM_TRACED], " was traced again by AOTAutograd",
                 " were traced again by AOTAutograd", out);
        buf_puts(out, "\n");
    }
    if (w->cold.compile_ns <= 0 || warm <= 0)
        return;
    buf_puts(out, "compile time: ");
    format_ns(out, w->cold.compile_ns);
    buf_puts(out, " cold (");
    format_plural(out, w->cold.n_compiles, "compile");
    buf_puts(out, "), ");
    format_ns(out, warm);
    buf_puts(out, " warm (");
    format_count(out, w->warm.n_compiles);
    buf_puts(out, ")");
    if (again > 0 && again < warm) {
        buf_puts(out, "; ");
        format_ns(out, warm - again);
        buf_puts(out, " if nothing were compiled again");
    }
    buf_puts(out, "\n");
}

/* ---- Why ---- */

static void put_change(const struct key_change *change, struct buf *out)
{
    format_text(out, change->before.n ? change->before : STR("(none)"), 0);
    buf_puts(out, " -> ");
    format_text(out, change->after.n ? change->after : STR("(none)"), 0);
}

/* Lists the components of a key that differ, from one of them on. */
static void put_names(const struct warm_start *w, const struct warm_row *row, uint32_t from,
                      struct buf *out)
{
    for (uint32_t i = from; i < row->n_changes; i++) {
        buf_puts(out, i > from ? ", " : "");
        format_text(out, w->changes.v[row->first_change + i].name, 0);
    }
    if (row->n_differ > row->n_changes)
        buf_printf(out, " and %u more", (unsigned)(row->n_differ - row->n_changes));
}

static void put_key_cause(const struct warm_start *w, const struct warm_group *group,
                          struct buf *out)
{
    const struct warm_row *row = &w->rows.v[group->row];
    const struct key_change *change = &w->changes.v[group->change];
    format_text(out, group->what, 0);
    if (str_eq(change->before, change->after)) {
        buf_puts(out, " differs, although its text is the same");
    } else {
        buf_puts(out, group->n > 1 && !group->same_change ? " differs, first: " : " differs: ");
        put_change(change, out);
    }
    if (row->n_differ < 2)
        return;
    buf_puts(out, "; also ");
    put_names(w, row, 1, out);
}

static void put_cause(const struct warm_start *w, const struct warm_group *group, struct buf *out)
{
    bool traced = group->outcome == WARM_TRACED;
    switch (group->cause) {
    case CAUSE_KEY: put_key_cause(w, group, out); break;
    case CAUSE_ABSENT:
        buf_printf(out, "%s cache did not have the key of the cold start",
                   traced ? "AOTAutograd's" : "the");
        break;
    case CAUSE_GUARD:
        buf_puts(out, "the cache had the key, but no entry whose guards hold");
        buf_puts(out, group->what.n ? ": " : "");
        format_text(out, group->what, 0);
        break;
    case CAUSE_BYPASS:
        buf_printf(out, "not cached, because %s", cache_reason_of(group->what)->because);
        break;
    case CAUSE_OFF:
        buf_puts(out, traced ? "AOTAutograd's cache was not asked" : "the cache was off");
        break;
    case CAUSE_FIRST: buf_puts(out, "the cold start has no graph of the function"); break;
    default:
        buf_puts(out, traced ? "AOTAutograd's key differs; PyTorch does not record its components"
                             : "what differs in the key is not recorded");
        buf_puts(out, !traced && w->partial ? ", or was not compared" : "");
    }
}

static void put_partial(const struct warm_start *w, const struct report_options *options,
                        struct buf *out)
{
    if (w->partial)
        format_wrapped(out, STR("some keys were not compared, since there are too many components"),
                       options->width, 0, 2);
}

/* A paragraph a group, since a sentence that is cut explains nothing. */
static void put_groups(const struct warm_start *w, const struct report_options *options,
                       struct buf *out)
{
    struct buf text = BUF_INIT;
    uint32_t n = (uint32_t)w->groups.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++) {
        const struct warm_group *group = &w->groups.v[i];
        buf_clear(&text);
        format_count(&text, group->n);
        buf_printf(&text, " %s", warm_outcome_name(group->outcome));
        put_seconds_of(group->outcome == WARM_TRACED ? 0 : group->ns, "", &text);
        buf_puts(&text, ": ");
        put_cause(w, group, &text);
        buf_puts(out, i ? "  " : "\nWhy\n  ");
        format_wrapped(out, buf_str(&text), options->width, 2, 4);
    }
    if (shown < n)
        buf_printf(out, "  ... and %u more\n", (unsigned)(n - shown));
    out->failed |= text.failed;
    buf_release(&text);
}

/* ---- What to change ---- */

static const char *remedy_of_key(const struct warm_start *w, const struct warm_group *group)
{
    if (group->change == WARM_NONE)
        return NULL;
    if (str_starts(group->what, STR("inductor_config[")))
        return "start with the same torch._inductor.config, and the same environment";
    if (str_starts(w->changes.v[group->change].before, STR("shape=")))
        return "make the sizes that differ between starts dynamic (symtape dynamic has the marks)";
    return NULL;
}

static const char *remedy_of(const struct warm_start *w, const struct warm_group *group)
{
    if (group->outcome == WARM_NEW)
        return NULL;
    switch (group->cause) {
    case CAUSE_KEY: return remedy_of_key(w, group);
    case CAUSE_BYPASS: return cache_reason_of(group->what)->text;
    case CAUSE_OFF:
        return group->outcome == WARM_TRACED
                   ? "unset TORCHINDUCTOR_AUTOGRAD_CACHE, or remove what sets "
                     "torch._functorch.config.enable_autograd_cache to False"
                   : "unset TORCHINDUCTOR_FORCE_DISABLE_CACHES and TORCHINDUCTOR_FX_GRAPH_CACHE, or "
                     "remove what sets torch._inductor.config.fx_graph_cache to False";
    case CAUSE_ABSENT:
        return "set TORCHINDUCTOR_CACHE_DIR to one folder that is kept between the starts";
    default: return NULL;
    }
}

static void put_remedies(const struct warm_start *w, const struct report_options *options,
                         struct buf *out)
{
    vec_of(const char *)
    said = { 0 }; /* few: there is a fixed number of remedies */
    for (size_t i = 0; i < w->groups.n; i++) {
        const char *remedy = remedy_of(w, &w->groups.v[i]);
        bool again = false;
        for (size_t k = 0; remedy && k < said.n; k++)
            again |= said.v[k] == remedy;
        if (!remedy || again)
            continue;
        buf_puts(out, said.n ? "" : "\nTo change\n");
        buf_puts(out, "  ");
        format_wrapped(out, str_of(remedy), options->width, 2, 2);
        out->failed |= !vec_push(&said, remedy);
    }
    vec_release(&said);
}

/* ---- Caches ---- */

static void put_answers(const uint32_t *counts, struct buf *out)
{
    static const struct {
        enum cache_state state;
        const char *one, *many;
    } WORDS[] = {
        { CACHE_HIT, " hit", " hits" },
        { CACHE_MISS, " miss", " misses" },
        { CACHE_BYPASS, " bypass", " bypasses" },
        { CACHE_DISABLED, " off", " off" },
    };
    bool any = false;
    for (size_t i = 0; i < sizeof WORDS / sizeof *WORDS; i++) {
        uint32_t n = counts[WORDS[i].state];
        if (!n)
            continue;
        buf_puts(out, any ? ", " : "");
        format_count(out, n);
        buf_puts(out, n == 1 ? WORDS[i].one : WORDS[i].many);
        any = true;
    }
}

static bool has_answers(const uint32_t *counts)
{
    return counts[CACHE_HIT] + counts[CACHE_MISS] + counts[CACHE_BYPASS] + counts[CACHE_DISABLED];
}

static void put_sizes(const struct start *start, struct buf *out)
{
    if (start->read_sizes)
        buf_puts(out, "read");
    if (start->wrote_sizes)
        buf_puts(out, start->read_sizes ? ", written" : "written");
}

static void put_remote(const struct start *start, struct buf *out)
{
    if (!start->remote_hits && !start->remote_misses)
        return;
    format_plural(out, start->remote_hits, "hit");
    buf_puts(out, ", ");
    format_count(out, start->remote_misses);
    buf_puts(out, start->remote_misses == 1 ? " miss" : " misses");
}

static void put_cache_row(const struct warm_start *w, const char *name,
                          void (*put)(const struct start *start, struct buf *out),
                          struct table *table)
{
    table_text(table, str_of(name));
    put(&w->cold, &table->text);
    table_cell(table);
    put(&w->warm, &table->text);
    table_cell(table);
    table_cell(table);
}

static void put_caches(const struct warm_start *w, const struct report_options *options,
                       struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "cache", COLUMN_MARKUP, 0 },
        { "cold", COLUMN_LEFT, 0 },
        { "warm", COLUMN_LEFT, 0 },
        { "spared", COLUMN_RIGHT, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (int kind = 0; kind < CACHE_KINDS; kind++) {
        if (!has_answers(w->cold.counts[kind]) && !has_answers(w->warm.counts[kind]))
            continue;
        table_text(&table, str_of(cache_kind_name((enum cache_kind)kind)));
        put_answers(w->cold.counts[kind], &table.text);
        table_cell(&table);
        put_answers(w->warm.counts[kind], &table.text);
        table_cell(&table);
        table_ns(&table, w->warm.saved_ns[kind] > 0 ? w->warm.saved_ns[kind] : -1);
        n++;
    }
    if (w->cold.remote_hits + w->cold.remote_misses + w->warm.remote_hits + w->warm.remote_misses) {
        put_cache_row(w, "of several machines", put_remote, &table);
        n++;
    }
    if (w->cold.read_sizes | w->cold.wrote_sizes | w->warm.read_sizes | w->warm.wrote_sizes) {
        put_cache_row(w, "profile of sizes", put_sizes, &table);
        n++;
    }
    if (n)
        buf_puts(out, "\nWhat the caches answered\n");
    report_table(&table, options, 0, n, out);
}

/* ---- Graphs ---- */

static void put_differs(const struct warm_start *w, const struct warm_row *row, struct buf *out)
{
    put_names(w, row, 0, out);
    if (row->cause == CAUSE_GUARD || row->cause == CAUSE_ABSENT)
        buf_puts(out, "same key");
}

/* "0/0", and with several recordings "0/0 rank1". */
static void put_compile(const struct start *start, const struct start_graph *graph,
                        struct table *table)
{
    const struct trace *trace = start->trace;
    format_text(&table->text, graph->compile, 0);
    if (start->recording == TRACE_NONE) {
        uint32_t recording = trace->attempts[graph->attempt].recording;
        buf_putc(&table->text, ' ');
        format_text(&table->text, trace->recordings[recording].name, 0);
    }
    table_cell(table);
}

static void put_graph(const struct warm_start *w, const struct warm_row *row, struct table *table)
{
    const struct start_graph *graph = graph_of(w, row);
    put_compile(&w->warm, graph, table);
    if (row->cold == WARM_NONE)
        table_cell(table);
    else
        put_compile(&w->cold, &w->cold.graphs.v[row->cold], table);
    table_text(table, graph->backward ? STR("backward") : STR("forward"));
    table_text(table, str_of(warm_outcome_name(row->outcome)));
    table_ns(table, graph->ns);
    table_text(table, str_of(graph->has_aot ? cache_state_name(graph->aot) : ""));
    table_text(table, str_of(cache_state_name(graph->state)));
    put_differs(w, row, &table->text);
    table_cell(table);
    format_text(&table->text, graph->function, 0);
    buf_puts(&table->text, graph->function.n ? " " : "");
    if (graph->file.n)
        format_place(&table->text, graph->file, graph->line);
    table_cell(table);
}

static void put_graphs(const struct warm_start *w, const struct report_options *options,
                       struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "compile", COLUMN_MARKUP, 0 },  { "cold", COLUMN_MARKUP, 3 },
        { "graph", COLUMN_MARKUP, 0 },    { "outcome", COLUMN_MARKUP, 0 },
        { "time", COLUMN_RIGHT, 0 },      { "AOTAutograd", COLUMN_MARKUP, 5 },
        { "FX graph", COLUMN_MARKUP, 4 }, { "differs in the key", COLUMN_WIDE, 1 },
        { "function", COLUMN_PATH, 2 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)w->rows.n, shown = report_shown(options, n);
    for (uint32_t i = 0; i < shown; i++)
        put_graph(w, &w->rows.v[i], &table);
    if (n)
        buf_puts(out, "\nGraphs; the time was spared if they are from the cache\n");
    report_table(&table, options, 0, n, out);
}

void warm_text(const struct warm_start *w, const struct report_options *options, struct buf *out)
{
    style_mark(options->styles, out, STYLE_BOLD);
    put_answer(w, out);
    style_mark(options->styles, out, STYLE_NONE);
    put_times(w, out);
    put_partial(w, options, out);
    put_groups(w, options, out);
    put_remedies(w, options, out);
    put_caches(w, options, out);
    put_graphs(w, options, out);
}

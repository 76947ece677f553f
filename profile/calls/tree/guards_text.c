#include "profile/calls/cache/cache_report.h"
#include "profile/calls/tree/guard_words.h"
#include "profile/calls/tree/guards_filter.h"
#include "profile/calls/tree/guards_report.h"
#include "profile/model/format.h"
#include "trace/events/guard_tree.h"

struct guards_writer {
    const struct guard_trees *trees;
    const struct guards_shown *shown;
    const struct report_options *options;
    struct guard_totals totals;
    struct telling_guards telling;
    struct buf line;
    struct buf *out;
};

/* ---- The first lines ---- */

/* Ends the line that was written to w->line. */
static void put_line(struct guards_writer *w)
{
    format_wrapped(w->out, buf_str(&w->line), w->options->width, 0, 2);
    buf_clear(&w->line);
}

static void put_recompiles(struct guards_writer *w)
{
    const struct guard_totals *t = &w->totals;
    format_plural(&w->line, t->recompiles, "recompile");
    buf_puts(&w->line, " of ");
    format_plural(&w->line, t->functions, "function");
    buf_printf(&w->line, " with %u %s: ", t->entries, t->entries == 1 ? "entry" : "entries");
    buf_printf(&w->line, "%u of %u guards told calls apart%s", t->telling, t->merged,
               w->trees->has_calls ? "" : " as far as PyTorch logged it");
    if (w->telling.rows.n) {
        const struct telling_guard *top = &w->telling.rows.v[0];
        struct buf code = BUF_INIT;
        put_guard(&top->function->tree.leaves.v[top->leaf], &code);
        buf_puts(&w->line, ", most often ");
        format_text(&w->line, buf_str(&code), 60);
        w->line.failed |= code.failed;
        buf_release(&code);
    }
    put_line(w);
}

/* The time is an estimate: no tape has that of a look-up. */
static void put_per_lookup(struct guards_writer *w, const struct lookup_cost *cost)
{
    double n = w->totals.lookups;
    buf_printf(&w->line, "%.1f guards and %.1f accessors", (double)cost->leaves / n,
               (double)cost->accessors / n);
    if (w->totals.n_latencies) {
        buf_puts(&w->line, ", about ");
        format_us(&w->line, cost->us / n);
    }
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* One entry may have been measured while the machine was busy. */
static double median_latency(struct guards_writer *w)
{
    vec_of(double)
    all = { 0 };
    double ret = 0;
    for (size_t i = 0; i < w->trees->functions.n; i++) {
        const struct guard_function *f = &w->trees->functions.v[i];
        for (size_t k = 0; guard_function_is(f, w->shown->function) && k < f->tree.entries.n; k++)
            if (f->tree.entries.v[k].latency_us >= 0 &&
                !vec_push(&all, f->tree.entries.v[k].latency_us))
                w->out->failed = true;
    }
    if (all.n) {
        qsort(all.v, all.n, sizeof *all.v, by_value);
        ret = (all.v[(all.n - 1) / 2] + all.v[all.n / 2]) / 2;
    }
    vec_release(&all);
    return ret;
}

static void put_cost(struct guards_writer *w)
{
    const struct guard_totals *t = &w->totals;
    if (t->n_latencies) {
        buf_puts(&w->line, "A check that passes took PyTorch ");
        format_us(&w->line, median_latency(w));
        buf_puts(&w->line, " (\"Guard latency\", the median of the entries)");
    } else {
        buf_puts(&w->line, "The tape does not have the time of a check");
    }
    put_line(w);
    if (!t->checks)
        return;
    format_plural(&w->line, t->lookups, "look-up");
    buf_puts(&w->line, " made ");
    format_plural(&w->line, t->checks, "check");
    buf_puts(&w->line, "; a look-up cost ");
    put_per_lookup(w, &t->cost);
    buf_puts(&w->line, t->n_latencies ? " by their share of the latency" : "");
    put_line(w);
}

static void put_removable(struct guards_writer *w)
{
    const struct guard_trees *trees = w->trees;
    if (!guards_filter_is_known(trees)) {
        buf_puts(&w->line, "Which guards can go is not known: ");
        guards_filter_put_unknown(trees, &w->line);
        put_line(w);
        return;
    }
    buf_printf(&w->line, "%u of %u guards can go", w->totals.removed, w->totals.merged);
    if (w->totals.removed && w->totals.checks) {
        buf_puts(&w->line, "; a look-up then costs ");
        put_per_lookup(w, &w->totals.filtered_cost);
    }
    put_line(w);
    if (trees->n_unused) {
        format_plural(&w->line, trees->n_unused, "compile");
        buf_puts(&w->line, " of the tape not asked for by these calls");
        put_line(w);
    }
    if (trees->n_assumed) {
        format_plural(&w->line, trees->n_assumed, "compile");
        buf_puts(&w->line, " not on the tape: the guards of such an entry are not counted");
        put_line(w);
    }
    if (trees->n_contradictions) {
        cache_put_contradictions(trees->n_contradictions, &w->line);
        put_line(w);
    }
    for (size_t i = 0; i < trees->unlisted.texts.n; i++) {
        cache_put_unlisted(trees->unlisted.texts.v[i], &w->line);
        put_line(w);
    }
    for (size_t i = 0; i < trees->guessed.n; i++) {
        const struct tape_code *code = &trees->tape.codes.v[trees->guessed.v[i].code];
        cache_put_guessed(trees->guessed.v[i].function, code->file, code->line, code->function,
                          &w->line);
        put_line(w);
    }
    if (!w->totals.removed)
        return;
    if (trees->n_misanswered) {
        format_plural(&w->line, trees->n_misanswered, "check");
        buf_puts(&w->line, " would pass that did not: do not use the filter");
    } else if (trees->n_contradictions || trees->unlisted.texts.n || trees->guessed.n) {
        buf_puts(&w->line, "So it is not proved that the calls have the same answers without them");
    } else if (!guards_filter_is_proved(trees)) {
        format_plural(&w->line, trees->n_unexplained, "check");
        buf_puts(&w->line, " failed in truth, by a guard that is not known, so this is not proved");
    } else {
        buf_puts(&w->line, "Without them ");
        format_plural(&w->line, trees->n_lookups, "look-up");
        buf_puts(&w->line, " of these calls have the answers that they had; other calls can be "
                           "answered wrongly");
    }
    put_line(w);
}

/* ---- Tables ---- */

static void put_heading(struct guards_writer *w, const char *text)
{
    buf_putc(w->out, '\n');
    style_mark(w->options->styles, w->out, STYLE_BOLD);
    buf_puts(w->out, text);
    style_mark(w->options->styles, w->out, STYLE_NONE);
    buf_putc(w->out, '\n');
}

static void put_functions(struct guards_writer *w)
{
    static const struct column COLUMNS[] = {
        { "entries", COLUMN_RIGHT, 0 },  { "guards", COLUMN_RIGHT, 0 },
        { "shared", COLUMN_RIGHT, 3 },   { "accessors", COLUMN_RIGHT, 4 },
        { "look-ups", COLUMN_RIGHT, 1 }, { "guards a look-up", COLUMN_RIGHT, 2 },
        { "function", COLUMN_PATH, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = 0;
    for (size_t i = 0; i < w->trees->functions.n; i++) {
        const struct guard_function *f = &w->trees->functions.v[i];
        if (!guard_function_is(f, w->shown->function))
            continue;
        n++;
        if (w->options->limit && n > w->options->limit)
            continue;
        uint32_t shared = 0, accessors = 0;
        for (size_t k = 0; k < f->tree.leaves.n; k++)
            shared += merged_leaf_shared(&f->tree, &f->tree.leaves.v[k]);
        for (size_t k = 0; k < f->tree.nodes.n; k++)
            accessors += f->tree.nodes.v[k].source.n > 0;
        table_u64(&table, f->tree.entries.n);
        table_u64(&table, f->tree.leaves.n);
        table_u64(&table, shared);
        table_u64(&table, accessors);
        table_count(&table, f->n_lookups);
        if (f->n_lookups)
            table_printf(&table, "%.1f", (double)f->cost.leaves / f->n_lookups);
        else
            table_text(&table, STR(""));
        put_function_name(f, &table.text);
        table_cell(&table);
    }
    put_heading(w, "Functions; guards of several entries count once");
    report_table(&table, w->options, 0, n, w->out);
}

static void put_telling(struct guards_writer *w)
{
    static const struct column COLUMNS[] = {
        { "times", COLUMN_RIGHT, 0 }, { "entries", COLUMN_MARKUP, 0 }, { "kind", COLUMN_MARKUP, 2 },
        { "guard", COLUMN_WIDE, 0 },  { "user line", COLUMN_PATH, 1 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)w->telling.rows.n, rows = report_shown(w->options, n);
    for (uint32_t i = 0; i < rows; i++) {
        const struct telling_guard *row = &w->telling.rows.v[i];
        const struct merged_leaf *leaf = &row->function->tree.leaves.v[row->leaf];
        struct tree_place place = guard_tree_place(leaf->comment);
        table_count(&table, row->times);
        put_guard_entries(&row->function->tree, leaf, &table.text);
        table_cell(&table);
        table_text(&table, leaf->kind);
        put_guard_cell(&table, leaf);
        table_place(&table, place.file, place.line);
    }
    if (n)
        put_heading(w, w->trees->has_calls
                           ? "Guards that told calls apart; times: checks that they ended"
                           : "Guards that PyTorch logged for recompiles");
    report_table(&table, w->options, 0, n, w->out);
}

static void put_kinds(struct guards_writer *w)
{
    static const struct column COLUMNS[] = {
        { "guards", COLUMN_RIGHT, 0 },
        { "in all entries", COLUMN_RIGHT, 0 },
        { "kind", COLUMN_LEFT, 0 },
    };
    struct guard_kinds kinds = { 0 };
    struct table table = TABLE(COLUMNS);
    if (!guard_kinds_count(&kinds, w->trees, w->shown->function))
        w->out->failed = true;
    uint32_t n = (uint32_t)kinds.rows.n, rows = report_shown(w->options, n);
    for (uint32_t i = 0; i < rows; i++) {
        table_u64(&table, kinds.rows.v[i].n_merged);
        table_u64(&table, kinds.rows.v[i].n_all);
        table_text(&table, kinds.rows.v[i].name);
    }
    if (n)
        put_heading(w, "Kinds of guards and accessors");
    report_table(&table, w->options, 0, n, w->out);
    guard_kinds_release(&kinds);
}

static void put_latencies(struct guards_writer *w)
{
    static const struct column COLUMNS[] = {
        { "entry", COLUMN_MARKUP, 0 },    { "guards", COLUMN_RIGHT, 0 },
        { "accessors", COLUMN_RIGHT, 0 }, { "latency", COLUMN_RIGHT, 0 },
        { "function", COLUMN_PATH, 0 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = w->totals.entries, rows = report_shown(w->options, n), at = 0;
    for (size_t i = 0; i < w->trees->functions.n; i++) {
        const struct guard_function *f = &w->trees->functions.v[i];
        for (size_t k = 0; k < f->tree.entries.n && at < rows; k++) {
            const struct merged_entry *entry = &f->tree.entries.v[k];
            if (!guard_function_is(f, w->shown->function))
                break;
            at++;
            table_text(&table, entry->compile);
            table_u64(&table, entry->n_leaves);
            table_u64(&table, entry->n_accessors);
            table_ns(&table, entry->latency_us < 0 ? -1 : (int64_t)(entry->latency_us * 1e3));
            put_function_name(f, &table.text);
            table_cell(&table);
        }
    }
    put_heading(w, "Entries; latency: what PyTorch measured when it compiled");
    report_table(&table, w->options, 0, n, w->out);
}

/* ---- The merged tree ---- */

static void put_indented(struct guards_writer *w, uint32_t depth, struct str text,
                         const struct merged_tree *tree, const struct merged_leaf *leaf)
{
    size_t indent = 2 * (size_t)depth;
    size_t width = w->options->width > indent + 20 ? w->options->width - indent : 0;
    struct buf entries = BUF_INIT;
    if (leaf && !merged_leaf_shared(tree, leaf)) {
        buf_puts(&entries, "  [");
        put_guard_entries(tree, leaf, &entries);
        buf_putc(&entries, ']');
    }
    if (width)
        width = width > entries.n + 20 ? width - entries.n : 20;
    format_spaces(w->out, indent);
    format_text(w->out, text, width);
    buf_put(w->out, buf_str(&entries));
    buf_putc(w->out, '\n');
    w->out->failed |= entries.failed;
    buf_release(&entries);
}

static void put_leaf(struct guards_writer *w, const struct guard_function *f, uint32_t id,
                     uint32_t depth)
{
    const struct merged_leaf *leaf = &f->tree.leaves.v[id];
    buf_clear(&w->line);
    buf_printf(&w->line, "%s%.*s ", f->counts.v[id].tells ? "* " : "", STR_ARG(leaf->kind));
    put_guard(leaf, &w->line);
    put_indented(w, depth, buf_str(&w->line), &f->tree, leaf);
    w->out->failed |= w->line.failed;
    buf_clear(&w->line);
}

/* The depth of a tree is limited where it is read. */
static void put_node(struct guards_writer *w, const struct guard_function *f, uint32_t id)
{
    const struct merged_node *node = &f->tree.nodes.v[id];
    uint32_t depth = node->depth + 1;
    if (node->source.n)
        put_indented(w, node->depth, node->source, &f->tree, NULL);
    for (uint32_t leaf = node->first_leaf; leaf != TREE_NONE; leaf = f->tree.leaves.v[leaf].next)
        put_leaf(w, f, leaf, depth);
    for (uint32_t child = node->first_child; child != TREE_NONE;
         child = f->tree.nodes.v[child].next)
        put_node(w, f, child);
}

static void put_trees(struct guards_writer *w)
{
    for (size_t i = 0; i < w->trees->functions.n; i++) {
        const struct guard_function *f = &w->trees->functions.v[i];
        if (!guard_function_is(f, w->shown->function))
            continue;
        put_function_name(f, &w->line);
        buf_puts(&w->line, "; * told calls apart, [entries] that have it");
        buf_putc(w->out, '\n');
        put_line(w);
        put_node(w, f, 0);
        put_node(w, f, 1);
    }
}

/* ---- The whole ---- */

void guards_text(const struct guard_trees *trees, const struct guards_shown *shown,
                 const struct report_options *options, struct buf *out)
{
    struct guards_writer w = { .trees = trees,
                               .shown = shown,
                               .options = options,
                               .totals = guard_totals_of(trees, shown->function),
                               .out = out };
    if (!telling_guards_find(&w.telling, trees, shown->function))
        out->failed = true;
    put_recompiles(&w);
    put_cost(&w);
    put_removable(&w);
    put_functions(&w);
    put_telling(&w);
    put_latencies(&w);
    put_kinds(&w);
    if (shown->tree)
        put_trees(&w);
    out->failed |= w.line.failed;
    buf_release(&w.line);
    vec_release(&w.telling.rows);
}

void guards_paste_text(const struct guard_trees *trees, const struct report_options *options,
                       struct buf *out)
{
    struct guards_writer w = { .trees = trees, .options = options, .out = out };
    if (!trees->n_removed || trees->n_misanswered)
        return;
    put_heading(&w, "A filter that removes the guards that can go");
    if (options->limit && trees->removed.n > options->limit)
        buf_printf(out, "It has %zu names; --filter prints it\n", trees->removed.n);
    else
        guards_filter_python(trees, out);
}

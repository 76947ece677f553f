#include "profile/calls/tree/guard_words.h"
#include "profile/calls/tree/guards_report.h"
#include "profile/model/format.h"
#include "trace/base/text/json_write.h"

static const struct merged_tree *tree_of(const struct guards_comparison *c,
                                         const struct guard_change *change, bool after)
{
    const struct function_pair *pair = &c->pairs.v[change->pair];
    const struct guard_function *f = after ? pair->after : pair->before;
    return f ? &f->tree : NULL;
}

static void put_leaf_entries(const struct merged_tree *tree, uint32_t leaf, struct table *table)
{
    if (tree && leaf != TREE_NONE)
        put_guard_entries(tree, &tree->leaves.v[leaf], &table->text);
    table_cell(table);
}

void guards_compare_text(const struct guards_comparison *c, const struct report_options *options,
                         struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "before", COLUMN_MARKUP, 0 }, { "after", COLUMN_MARKUP, 0 },
        { "kind", COLUMN_MARKUP, 2 },   { "guard", COLUMN_WIDE, 0 },
        { "function", COLUMN_PATH, 1 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)c->changes.n, rows = report_shown(options, n);
    for (uint32_t i = 0; i < rows; i++) {
        const struct guard_change *change = &c->changes.v[i];
        const struct function_pair *pair = &c->pairs.v[change->pair];
        const struct guard_function *f = pair->after ? pair->after : pair->before;
        bool before = change->before != TREE_NONE;
        const struct merged_tree *tree = tree_of(c, change, !before);
        put_leaf_entries(tree_of(c, change, false), change->before, &table);
        put_leaf_entries(tree_of(c, change, true), change->after, &table);
        table_text(&table, change->kind);
        put_guard_cell(&table, &tree->leaves.v[before ? change->before : change->after]);
        put_function_name(f, &table.text);
        table_cell(&table);
    }
    style_mark(options->styles, out, STYLE_BOLD);
    format_plural(out, n, "guard");
    buf_puts(out, n == 1 ? " differs" : " differ");
    style_mark(options->styles, out, STYLE_NONE);
    buf_printf(out, ", %u %s the same\n", c->n_same, c->n_same == 1 ? "is" : "are");
    if (c->entries_before != c->entries_after)
        buf_printf(out, "entries: %u before, %u after\n", c->entries_before, c->entries_after);
    if (n)
        buf_puts(out, "\nThe entries that have each guard\n");
    report_table(&table, options, 0, n, out);
}

static void put_entries_or_null(struct json_writer *w, const char *key,
                                const struct merged_tree *tree, uint32_t leaf)
{
    if (!tree || leaf == TREE_NONE)
        json_put_null(w, key);
    else
        put_entries_json(w, key, tree, &tree->leaves.v[leaf]);
}

void guards_compare_json(const struct guards_comparison *c, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_GUARDS_COMPARE);
    json_put_u64(&w, "same", c->n_same);
    json_put_u64(&w, "entries_before", c->entries_before);
    json_put_u64(&w, "entries_after", c->entries_after);
    json_open_array(&w, "changes");
    for (size_t i = 0; i < c->changes.n; i++) {
        const struct guard_change *change = &c->changes.v[i];
        const struct function_pair *pair = &c->pairs.v[change->pair];
        json_open_object(&w, NULL);
        json_put_str(&w, "code", (pair->after ? pair->after : pair->before)->name);
        json_put_str(&w, "kind", change->kind);
        json_put_str_or_null(&w, "source", change->source);
        json_put_str(&w, "guard", change->code);
        put_entries_or_null(&w, "before", tree_of(c, change, false), change->before);
        put_entries_or_null(&w, "after", tree_of(c, change, true), change->after);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}

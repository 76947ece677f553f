#include "profile/calls/cache/code_choice.h"
#include "profile/calls/tree/guard_words.h"
#include "profile/calls/tree/guards_filter.h"
#include "profile/calls/tree/guards_report.h"
#include "trace/base/text/json_write.h"
#include "trace/events/guard_tree.h"

static void put_cost(struct json_writer *w, const char *key, const struct lookup_cost *cost,
                     bool latency)
{
    json_open_object(w, key);
    json_put_u64(w, "guards", cost->leaves);
    json_put_u64(w, "accessors", cost->accessors);
    if (latency)
        json_put_double(w, "us", cost->us);
    else
        json_put_null(w, "us");
    json_close(w);
}

static const char *status_of(const struct guard_trees *trees, const struct merged_leaf *leaf)
{
    if (!trees->has_calls)
        return NULL;
    return leaf->owner == INTERN_NONE ? "state"
                                      : owner_status_name(trees->owner_rows.v[leaf->owner].status);
}

static void put_leaf(struct json_writer *w, const struct guard_trees *trees,
                     const struct guard_function *f, uint32_t id)
{
    const struct merged_leaf *leaf = &f->tree.leaves.v[id];
    struct tree_place place = guard_tree_place(leaf->comment);
    json_open_object(w, NULL);
    json_put_str(w, "kind", leaf->kind);
    json_put_str(w, "code", leaf->code);
    json_put_str_or_null(w, "source", f->tree.nodes.v[leaf->node].source);
    json_put_str_or_null(w, "owner",
                         leaf->owner == INTERN_NONE ? STR("")
                                                    : intern_text(&trees->owners, leaf->owner));
    json_put_str_or_null(w, "file", place.file);
    json_put_u64(w, "line", place.line);
    put_entries_json(w, "entries", &f->tree, leaf);
    json_put_bool(w, "shared", merged_leaf_shared(&f->tree, leaf));
    json_put_bool(w, "tells", f->counts.v[id].tells);
    json_put_u64(w, "turned_away", f->counts.v[id].turned_away);
    json_put_u64(w, "logged", f->counts.v[id].logged);
    json_put_cstr(w, "status", status_of(trees, leaf));
    json_close(w);
}

static void put_entry(struct json_writer *w, const struct merged_entry *entry)
{
    json_open_object(w, NULL);
    json_put_str(w, "compile", entry->compile);
    json_put_u64(w, "guards", entry->n_leaves);
    json_put_u64(w, "accessors", entry->n_accessors);
    if (entry->latency_us < 0)
        json_put_null(w, "latency_us");
    else
        json_put_double(w, "latency_us", entry->latency_us);
    json_close(w);
}

static bool has_latency(const struct merged_tree *tree)
{
    for (size_t i = 0; i < tree->entries.n; i++)
        if (tree->entries.v[i].latency_us >= 0)
            return true;
    return false;
}

static void put_function(struct json_writer *w, const struct guard_trees *trees,
                         const struct guard_function *f)
{
    bool latency = has_latency(&f->tree);
    json_open_object(w, NULL);
    json_put_str(w, "code", f->name);
    json_put_u64(w, "recompiles", f->n_recompiles);
    json_put_u64(w, "lookups", f->n_lookups);
    json_put_u64(w, "checks", f->n_checks);
    put_cost(w, "cost", &f->cost, latency);
    put_cost(w, "filtered_cost", &f->filtered_cost, latency);
    json_open_array(w, "entries");
    for (size_t i = 0; i < f->tree.entries.n; i++)
        put_entry(w, &f->tree.entries.v[i]);
    json_close(w);
    json_open_array(w, "guards");
    for (uint32_t i = 0; i < f->tree.leaves.n; i++)
        put_leaf(w, trees, f, i);
    json_close(w);
    json_open_array(w, "values");
    for (size_t i = 2; i < f->tree.nodes.n; i++) {
        const struct merged_node *node = &f->tree.nodes.v[i];
        if (!node->source.n)
            continue;
        json_open_object(w, NULL);
        json_put_str(w, "source", node->source);
        json_put_str_or_null(w, "accessor", node->accessor);
        json_put_u64(w, "depth", node->depth);
        json_put_u64(w, "entries", node->n_entries);
        json_close(w);
    }
    json_close(w);
    json_close(w);
}

static void put_kinds(struct json_writer *w, const struct guard_trees *trees,
                      const struct guards_shown *shown)
{
    struct guard_kinds kinds = { 0 };
    if (!guard_kinds_count(&kinds, trees, shown->function))
        w->out->failed = true;
    json_open_array(w, "kinds");
    for (size_t i = 0; i < kinds.rows.n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "kind", kinds.rows.v[i].name);
        json_put_bool(w, "accessor", kinds.rows.v[i].accessor);
        json_put_u64(w, "guards", kinds.rows.v[i].n_merged);
        json_put_u64(w, "in_entries", kinds.rows.v[i].n_all);
        json_close(w);
    }
    json_close(w);
    guard_kinds_release(&kinds);
}

static void put_filter(struct json_writer *w, const struct guard_trees *trees)
{
    struct buf code = BUF_INIT, name = BUF_INIT;
    if (!guards_filter_is_known(trees)) {
        json_put_null(w, "filter");
        return;
    }
    json_open_object(w, "filter");
    json_put_u64(w, "guards", trees->n_removed);
    json_put_u64(w, "lookups", trees->n_lookups);
    json_put_u64(w, "misanswered", trees->n_misanswered);
    json_put_u64(w, "unexplained", trees->n_unexplained);
    json_put_u64(w, "unused", trees->n_unused);
    json_put_u64(w, "assumed", trees->n_assumed);
    json_put_u64(w, "contradictions", trees->n_contradictions);
    json_open_array(w, "unlisted");
    for (size_t i = 0; i < trees->unlisted.texts.n; i++)
        json_put_str(w, NULL, trees->unlisted.texts.v[i]);
    json_close(w);
    json_open_array(w, "guessed");
    for (size_t i = 0; i < trees->guessed.n; i++) {
        json_open_object(w, NULL);
        json_put_str(w, "function", trees->guessed.v[i].function);
        put_code_name(&trees->tape.codes.v[trees->guessed.v[i].code], &name);
        json_put_str(w, "code", buf_str(&name));
        json_close(w);
        buf_clear(&name);
    }
    json_close(w);
    w->out->failed |= name.failed;
    buf_release(&name);
    json_put_bool(w, "proved", guards_filter_is_proved(trees));
    json_open_array(w, "names");
    for (size_t i = 0; i < trees->removed.n; i++)
        json_put_str(w, NULL, trees->removed.v[i]);
    json_close(w);
    guards_filter_python(trees, &code);
    json_put_str(w, "python", buf_str(&code));
    w->out->failed |= code.failed;
    buf_release(&code);
    json_close(w);
}

void guards_json(const struct guard_trees *trees, const struct guards_shown *shown, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    struct guard_totals totals = guard_totals_of(trees, shown->function);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_GUARDS);
    json_open_object(&w, "totals");
    json_put_u64(&w, "functions", totals.functions);
    json_put_u64(&w, "entries", totals.entries);
    json_put_u64(&w, "recompiles", totals.recompiles);
    json_put_u64(&w, "guards", totals.merged);
    json_put_u64(&w, "guards_in_entries", totals.leaves);
    json_put_u64(&w, "accessors", totals.accessors);
    json_put_u64(&w, "telling", totals.telling);
    json_put_u64(&w, "lookups", totals.lookups);
    json_put_u64(&w, "checks", totals.checks);
    json_put_u64(&w, "unknown", trees->n_unknown);
    put_cost(&w, "cost", &totals.cost, totals.n_latencies > 0);
    put_cost(&w, "filtered_cost", &totals.filtered_cost, totals.n_latencies > 0);
    json_close(&w);
    json_open_array(&w, "functions");
    for (size_t i = 0; i < trees->functions.n; i++)
        if (guard_function_is(&trees->functions.v[i], shown->function))
            put_function(&w, trees, &trees->functions.v[i]);
    json_close(&w);
    put_kinds(&w, trees, shown);
    put_filter(&w, trees);
    json_close(&w);
    buf_putc(out, '\n');
}

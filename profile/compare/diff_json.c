#include <math.h>

#include "profile/compare/diff.h"
#include "profile/report/fields.h"

struct writing {
    const struct compare *c;
    const struct report_options *how;
    struct json_writer w;
};

static void put_side(struct writing *x, const char *key, const struct compare_side *side,
                     uint32_t stands)
{
    json_open_object(&x->w, key);
    json_put_str(&x->w, "label", side->label);
    json_open_array(&x->w, "runs");
    for (uint32_t i = 0; i < side->n_runs; i++)
        json_put_str(&x->w, NULL, side->runs[i]->name);
    json_close(&x->w);
    json_put_u64(&x->w, "run", stands);
    json_open_array(&x->w, "torch");
    const struct outline *o = side->runs[stands]->outline;
    for (size_t i = 0; i < o->recordings.n; i++)
        json_put_str(&x->w, NULL, outline_text(o, o->recordings.v[i].torch_version));
    json_close(&x->w);
    json_close(&x->w);
}

static void put_place(struct writing *x, const char *key, const struct change_place *place)
{
    if (place->file.n == 0 && place->code.n == 0) {
        json_put_null(&x->w, key);
        return;
    }
    json_open_object(&x->w, key);
    json_put_str(&x->w, "file", place->file);
    json_put_u64(&x->w, "line", place->line);
    json_put_str(&x->w, "function", place->function);
    json_put_str(&x->w, "code", place->code);
    json_close(&x->w);
}

static void put_summary(struct writing *x, const char *key, const struct measure_summary *s)
{
    json_open_object(&x->w, key);
    json_put_double(&x->w, "median", s->median);
    json_put_double(&x->w, "least", s->least);
    json_put_double(&x->w, "greatest", s->greatest);
    json_put_u64(&x->w, "n", s->n);
    json_close(&x->w);
}

static void put_measures(struct writing *x)
{
    json_open_array(&x->w, "measures");
    for (uint32_t i = 0; i < x->c->n_measures; i++) {
        const struct compare_measure *m = &x->c->measures[i];
        const struct measure_row *row = measure_row(m->measure);
        json_open_object(&x->w, NULL);
        json_put_cstr(&x->w, "name", row->name);
        json_put_cstr(&x->w, "unit", measure_unit_name(row->unit));
        json_put_cstr(&x->w, "source", measure_source_name(row->source));
        put_summary(x, "before", &m->before);
        put_summary(x, "after", &m->after);
        json_put_cstr(&x->w, "verdict", compare_verdict_name(m->verdict));
        json_close(&x->w);
    }
    json_close(&x->w);
}

static void put_row(struct writing *x, const struct change_row *row)
{
    json_open_object(&x->w, NULL);
    json_put_cstr(&x->w, "kind", change_kind_name(row->kind));
    json_put_cstr(&x->w, "change", change_name(row->change));
    json_put_str(&x->w, "what", row->what);
    json_put_str(&x->w, "level", row->level);
    json_put_str(&x->w, "was", row->was);
    json_put_str(&x->w, "now", row->now);
    json_put_str(&x->w, "more", row->more);
    json_put_str(&x->w, "compile", row->compile);
    json_put_u64(&x->w, "attempts", row->n_compiles);
    json_put_u64(&x->w, "before", row->before);
    json_put_u64(&x->w, "after", row->after);
    struct datum before = get_known_i64(NULL, &row->before_ns);
    struct datum after = get_known_i64(NULL, &row->after_ns);
    json_put_datum(&x->w, "before_ns", &before);
    json_put_datum(&x->w, "after_ns", &after);
    put_place(x, "line", &row->place);
    put_place(x, "old_line", &row->old_place);
    json_close(&x->w);
}

static void put_line_count(struct writing *x, const char *key,
                           const struct compare_line_count *count)
{
    json_open_object(&x->w, key);
    json_put_u64(&x->w, "new", count->fresh);
    json_put_u64(&x->w, "gone", count->gone);
    json_put_u64(&x->w, "changed", count->changed);
    json_close(&x->w);
}

static void put_user_lines(struct writing *x)
{
    json_open_array(&x->w, "lines");
    for (uint32_t i = 0; i < report_shown(x->how, x->c->n_user_lines); i++) {
        const struct compare_line *line = &x->c->user_lines[i];
        json_open_object(&x->w, NULL);
        put_place(x, "line", &line->place);
        put_line_count(x, "incidents", &line->incidents);
        put_line_count(x, "guards", &line->guards);
        put_line_count(x, "symbols", &line->symbols);
        put_line_count(x, "nodes", &line->nodes);
        json_close(&x->w);
    }
    json_close(&x->w);
}

static void put_times(struct writing *x, const char *key, const struct compare_time *times,
                      uint32_t n, bool lines)
{
    json_open_array(&x->w, key);
    for (uint32_t i = 0; i < report_shown(x->how, n); i++) {
        json_open_object(&x->w, NULL);
        if (lines) {
            put_place(x, "line", &times[i].place);
        } else {
            json_put_str(&x->w, "name", times[i].name);
            json_put_u64(&x->w, "before_calls", times[i].before_calls);
            json_put_u64(&x->w, "after_calls", times[i].after_calls);
        }
        put_summary(x, "before_ns", &times[i].before);
        put_summary(x, "after_ns", &times[i].after);
        json_put_cstr(&x->w, "verdict", compare_verdict_name(times[i].verdict));
        json_close(&x->w);
    }
    json_close(&x->w);
}

void diff_json(const struct compare *compare, const struct report_options *how, struct buf *out)
{
    struct writing x = { compare, how, json_writer_of(out) };
    json_open_object(&x.w, NULL);
    json_put_cstr(&x.w, "schema", "symtape.diff/1");
    json_put_bool(&x.w, "differs", compare->differs);
    json_put_bool(&x.w, "undecided", compare->undecided);
    put_side(&x, "before", &compare->before, compare->before_run);
    put_side(&x, "after", &compare->after, compare->after_run);
    json_open_array(&x.w, "notes");
    for (uint32_t i = 0; i < compare->n_notes; i++)
        json_put_str(&x.w, NULL, compare->notes[i]);
    json_close(&x.w);
    json_open_object(&x.w, "counts");
    for (int kind = 0; kind < CHANGE_KINDS; kind++)
        json_put_u64(&x.w, change_kind_name((enum change_kind)kind),
                     compare->first_of[kind + 1] - compare->first_of[kind]);
    json_close(&x.w);
    put_measures(&x);
    put_user_lines(&x);
    json_open_array(&x.w, "changes");
    for (int kind = 0; kind < CHANGE_KINDS; kind++) {
        uint32_t n = compare->first_of[kind + 1] - compare->first_of[kind];
        for (uint32_t i = 0; i < report_shown(how, n); i++)
            put_row(&x, &compare->rows[compare->first_of[kind] + i]);
    }
    json_close(&x.w);
    put_times(&x, "phases", compare->phases, compare->n_phases, false);
    put_times(&x, "line_times", compare->lines, compare->n_lines, true);
    json_close(&x.w);
    buf_putc(out, '\n');
}

#include "profile/compare/diff_tables.h"

struct diff_json_writer {
    const struct compare *c;
    const struct report_options *how;
    struct json_writer w;
};

static void put_json_side(struct diff_json_writer *x, const char *key,
                          const struct compare_side *side, uint32_t stands)
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

/* Writes the changes of all kinds, of each kind at most the rows that are shown. */
static void put_json_changes(struct diff_json_writer *x)
{
    json_open_array(&x->w, "changes");
    for (int kind = 0; kind < CHANGE_KINDS; kind++) {
        uint32_t first = x->c->first_of[kind], n = x->c->first_of[kind + 1] - first;
        for (uint32_t i = 0; i < report_shown(x->how, n); i++) {
            json_open_object(&x->w, NULL);
            fields_json(&diff_change_fields, x->c, &x->c->rows[first + i], &x->w);
            json_close(&x->w);
        }
    }
    json_close(&x->w);
}

void diff_json(const struct compare *compare, const struct report_options *how, struct buf *out)
{
    struct diff_json_writer x = { compare, how, json_writer_of(out) };
    const struct rows measures = ROWS(compare->measures, compare->n_measures);
    const struct rows user_lines = ROWS(compare->user_lines, compare->n_user_lines);
    const struct rows phases = ROWS(compare->phases, compare->n_phases);
    const struct rows lines = ROWS(compare->lines, compare->n_lines);
    json_open_object(&x.w, NULL);
    json_put_cstr(&x.w, "schema", "symtape.diff/1");
    json_put_bool(&x.w, "differs", compare->differs);
    json_put_bool(&x.w, "undecided", compare->undecided);
    put_json_side(&x, "before", &compare->before, compare->before_run);
    put_json_side(&x, "after", &compare->after, compare->after_run);
    json_open_array(&x.w, "notes");
    for (uint32_t i = 0; i < compare->n_notes; i++)
        json_put_str(&x.w, NULL, compare->notes[i]);
    json_close(&x.w);
    json_open_object(&x.w, "counts");
    for (int kind = 0; kind < CHANGE_KINDS; kind++)
        json_put_u64(&x.w, change_kind_name((enum change_kind)kind),
                     compare->first_of[kind + 1] - compare->first_of[kind]);
    json_close(&x.w);
    fields_json_rows(&x.w, "measures", &diff_measure_fields, compare, &measures, 0);
    fields_json_rows(&x.w, "lines", &diff_user_line_fields, compare, &user_lines, how->limit);
    put_json_changes(&x);
    fields_json_rows(&x.w, "phases", &diff_phase_fields, compare, &phases, how->limit);
    fields_json_rows(&x.w, "line_times", &diff_line_time_fields, compare, &lines, how->limit);
    json_close(&x.w);
    buf_putc(out, '\n');
}

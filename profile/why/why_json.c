/* Writes an answer as JSON, "symtape.why/1". */
#include "profile/why/why_fields.h"

static void put_json_comparison(const struct why_answer *why, struct json_writer *w)
{
    const struct rows conditions = ROWS(why->differences, why->n_differences);
    if (!why->compared) {
        json_put_null(w, "between");
        return;
    }
    json_open_object(w, "between");
    json_put_str(w, "first", why->between[0]);
    json_put_str(w, "second", why->between[1]);
    json_put_u64(w, "undecided", why->n_undecided);
    fields_json_rows(w, "conditions", &why_difference_fields, why, &conditions, 0);
    json_open_array(w, "notes");
    for (uint32_t i = 0; i < why->n_notes; i++)
        json_put_str(w, NULL, why->notes[i]);
    json_close(w);
    json_close(w);
}

void why_json(const struct why_answer *why, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    const struct rows sizes = ROWS(why->sizes, why->n_sizes);
    const struct rows events = ROWS(why->events, why->n_events);
    const struct rows steps = ROWS(why->steps, why->n_steps);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_WHY);
    json_put_str(&w, "target", why->target);
    json_put_cstr(&w, "kind", why_kind_name(why->kind));
    json_put_str(&w, "answer", why->answer);
    if (why->graph.n)
        json_put_str(&w, "graph", why->graph);
    else
        json_put_null(&w, "graph");
    if (why->main == TRACE_NONE)
        json_put_null(&w, "main");
    else
        json_put_u64(&w, "main", why->main);
    fields_json_rows(&w, "sizes", &why_size_fields, why, &sizes, 0);
    json_put_u64(&w, "omitted", why->n_omitted);
    fields_json_rows(&w, "history", &why_event_fields, why, &events, 0);
    fields_json_rows(&w, "steps", &why_step_fields, why, &steps, 0);
    put_json_comparison(why, &w);
    json_close(&w);
    buf_putc(out, '\n');
}

/* Writes a check as JSON, "symtape.check/1", as symtape-check(1) documents it. */
#include "profile/compare/check_fields.h"

static void put_json_texts(struct json_writer *w, const char *key, const struct str *texts,
                           uint32_t n)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        json_put_str(w, NULL, texts[i]);
    json_close(w);
}

static void put_check_side(struct json_writer *w, const char *key, const struct check_side *side)
{
    if (!side) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    put_json_texts(w, "tapes", side->tapes, side->n_tapes);
    put_json_texts(w, "torch", side->torch, side->n_torch);
    json_close(w);
}

void check_json(const struct check *check, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    const struct rows limits = ROWS(check->rows, check->n_rows);
    const struct rows changed = ROWS(check->changed, check->n_changed);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", "symtape.check/1");
    json_put_cstr(&w, "verdict", check_verdict_word(check->verdict));
    put_check_side(&w, "here", check->now);
    put_check_side(&w, "baseline", check->before);
    json_put_u64(&w, "failed", check->now->failed);
    put_json_texts(&w, "notes", check->notes, check->n_notes);
    fields_json_rows(&w, "limits", &check_limit_fields, check, &limits, 0);
    fields_json_rows(&w, "changed", &check_changed_fields, check, &changed, 0);
    json_close(&w);
    buf_putc(out, '\n');
}

void check_list_json(const struct check_side *side, struct buf *out)
{
    const struct check here = { .now = side };
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", "symtape.check/1");
    put_check_side(&w, "here", side);
    json_open_array(&w, "measures");
    for (int i = 0; i < MEASURES; i++) {
        const enum measure measure = (enum measure)i;
        json_open_object(&w, NULL);
        fields_json(&check_list_fields, &here, &measure, &w);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}

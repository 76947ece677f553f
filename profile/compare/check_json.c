/* A check for scripts: "symtape.check/1", as symtape-check(1) documents it. */
#include "profile/compare/check.h"
#include "trace/base/text/json_write.h"

static void put_summary(struct json_writer *w, const char *key, const struct check_side *side,
                        enum measure measure)
{
    const struct measure_summary *s = side ? &side->measures[measure] : NULL;
    if (!s || s->n == 0) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    json_put_double(w, "value", s->median);
    json_put_double(w, "least", s->least);
    json_put_double(w, "greatest", s->greatest);
    json_put_u64(w, "n", s->n);
    json_close(w);
}

static void put_measure(struct json_writer *w, enum measure measure)
{
    const struct measure_row *row = measure_row(measure);
    json_put_cstr(w, "measure", row->name);
    json_put_cstr(w, "unit", measure_unit_name(row->unit));
    json_put_cstr(w, "source", measure_source_name(row->source));
}

static void put_sides(struct json_writer *w, const struct check *c, enum measure measure)
{
    const struct measure_summary *now = &c->now->measures[measure];
    const struct measure_summary *before = c->before ? &c->before->measures[measure] : NULL;
    put_summary(w, "baseline", c->before, measure);
    put_summary(w, "here", c->now, measure);
    if (before && before->n && now->n)
        json_put_double(w, "change", now->median - before->median);
    else
        json_put_null(w, "change");
}

/* "cannot_tell": words that scripts compare have no blanks. */
static const char *verdict_word(enum check_verdict verdict)
{
    return verdict == CHECK_CANNOT_TELL ? "cannot_tell" : check_verdict_name(verdict);
}

static void put_rules(struct json_writer *w, const struct check *c)
{
    json_open_array(w, "limits");
    for (uint32_t i = 0; i < c->n_rows; i++) {
        const struct check_row *row = &c->rows[i];
        json_open_object(w, NULL);
        json_put_str(w, "limit", row->rule.text);
        json_put_cstr(w, "kind", row->rule.kind == CHECK_MAX ? "max" : "fail_on");
        put_measure(w, row->rule.measure);
        json_put_cstr(w, "verdict", verdict_word(row->verdict));
        put_sides(w, c, row->rule.measure);
        if (row->compared)
            json_put_double(w, "allowed", row->allowed);
        else
            json_put_null(w, "allowed");
        json_put_cstr(w, "why", row->why);
        json_close(w);
    }
    json_close(w);
}

static void put_changed(struct json_writer *w, const struct check *c)
{
    json_open_array(w, "changed");
    for (uint32_t i = 0; i < c->n_changed; i++) {
        json_open_object(w, NULL);
        put_measure(w, c->changed[i]);
        put_sides(w, c, c->changed[i]);
        json_close(w);
    }
    json_close(w);
}

static void put_texts(struct json_writer *w, const char *key, const struct str *texts, uint32_t n)
{
    json_open_array(w, key);
    for (uint32_t i = 0; i < n; i++)
        json_put_str(w, NULL, texts[i]);
    json_close(w);
}

static void put_side(struct json_writer *w, const char *key, const struct check_side *side)
{
    if (!side) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    put_texts(w, "tapes", side->tapes, side->n_tapes);
    put_texts(w, "torch", side->torch, side->n_torch);
    json_close(w);
}

void check_json(const struct check *check, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", "symtape.check/1");
    json_put_cstr(&w, "verdict", verdict_word(check->verdict));
    put_side(&w, "here", check->now);
    put_side(&w, "baseline", check->before);
    put_texts(&w, "notes", check->notes, check->n_notes);
    put_rules(&w, check);
    put_changed(&w, check);
    json_close(&w);
    buf_putc(out, '\n');
}

void check_list_json(const struct check_side *side, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", "symtape.check/1");
    put_side(&w, "here", side);
    json_open_array(&w, "measures");
    for (int i = 0; i < MEASURES; i++) {
        json_open_object(&w, NULL);
        put_measure(&w, (enum measure)i);
        json_put_cstr(&w, "meaning", measure_row((enum measure)i)->meaning);
        put_summary(&w, "here", side, (enum measure)i);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
}

/* A baseline holds the measures of one side as a small JSON file, one measure a line, so that a
 * diff of the file in a repository shows what changed. */
#include <math.h>

#include "profile/compare/check.h"
#include "trace/base/text/json.h"
#include "trace/base/text/json_write.h"

#define SCHEMA "symtape.baseline/1"

enum { MAX_TEXTS = 10000 };

static void put_baseline_texts(const char *key, const struct str *texts, uint32_t n,
                               struct buf *out)
{
    buf_printf(out, "  \"%s\": [", key);
    for (uint32_t i = 0; i < n; i++) {
        if (i)
            buf_puts(out, ", ");
        json_quote(out, texts[i]);
    }
    buf_puts(out, "],\n");
}

static void put_baseline_number(const char *key, double value, struct buf *out)
{
    buf_printf(out, ", \"%s\": ", key);
    json_number(out, value);
}

void baseline_write(const struct check_side *side, struct buf *out)
{
    const char *separator = "\n";
    buf_puts(out, "{\n  \"schema\": \"" SCHEMA "\",\n");
    put_baseline_texts("tapes", side->tapes, side->n_tapes, out);
    put_baseline_texts("torch", side->torch, side->n_torch, out);
    buf_puts(out, "  \"measures\": {");
    for (int i = 0; i < MEASURES; i++) {
        const struct measure_summary *s = &side->measures[i];
        if (s->n == 0)
            continue;
        buf_printf(out, "%s    \"%s\": {\"value\": ", separator,
                   measure_row((enum measure)i)->name);
        json_number(out, s->median);
        if (s->n > 1) {
            put_baseline_number("least", s->least, out);
            put_baseline_number("greatest", s->greatest, out);
            put_baseline_number("n", s->n, out);
        }
        buf_putc(out, '}');
        separator = ",\n";
    }
    buf_puts(out, "\n  }\n}\n");
}

static bool read_baseline_texts(const struct json *doc, struct str key, struct arena *arena,
                                const struct str **ret, uint32_t *n, struct err *err)
{
    json_id list = json_get(doc, JSON_ROOT, key);
    size_t count = json_kind_of(doc, list) == JSON_ARRAY ? json_count(doc, list) : 0;
    if (count > MAX_TEXTS)
        return err_set(err, ERR_INPUT, "%.*s: there are more than %d", STR_ARG(key), MAX_TEXTS);
    struct str *texts = arena_array(arena, struct str, count + 1);
    if (!texts)
        return err_nomem(err);
    *n = 0;
    for (json_id i = count ? json_first(doc, list) : JSON_NONE; i != JSON_NONE;
         i = json_next(doc, i)) {
        if (json_kind_of(doc, i) != JSON_STRING)
            return err_set(err, ERR_INPUT, "%.*s: not a string", STR_ARG(key));
        struct str text = json_decoded(doc, i, arena);
        texts[*n] = text.p ? arena_copy(arena, text) : text;
        if (!texts[(*n)++].p)
            return err_nomem(err);
    }
    *ret = texts;
    return true;
}

/* Reads a summary: an object with "value", or a number alone, as a person might write it. */
static bool read_summary(const struct json *doc, json_id id, struct measure_summary *ret)
{
    uint64_t n = 1;
    json_id value = json_kind_of(doc, id) == JSON_OBJECT ? json_get(doc, id, STR("value")) : id;
    if (!json_double(doc, value, &ret->median) || !isfinite(ret->median))
        return false;
    ret->least = ret->greatest = ret->median;
    json_double(doc, json_get(doc, id, STR("least")), &ret->least);
    json_double(doc, json_get(doc, id, STR("greatest")), &ret->greatest);
    if (json_u64(doc, json_get(doc, id, STR("n")), &n) && (n == 0 || n > UINT32_MAX))
        return false;
    ret->n = (uint32_t)n;
    return isfinite(ret->least) && isfinite(ret->greatest);
}

static bool read_baseline_measures(const struct json *doc, struct check_side *ret, struct err *err)
{
    json_id all = json_get(doc, JSON_ROOT, STR("measures"));
    if (json_kind_of(doc, all) != JSON_OBJECT)
        return err_set(err, ERR_INPUT, "\"measures\" is missing");
    json_id key = json_first(doc, all);
    while (key != JSON_NONE) {
        struct str name = json_str(doc, key);
        json_id value = json_next(doc, key);
        enum measure measure;
        if (!measure_find(name, &measure))
            ret->unknown++;
        else if (!read_summary(doc, value, &ret->measures[measure]))
            return err_set(err, ERR_INPUT, "measure %.*s: no value", STR_ARG(name));
        key = json_next(doc, value);
    }
    return true;
}

static bool read_document(const struct json *doc, struct arena *arena, struct check_side *ret,
                          struct err *err)
{
    struct str schema = json_str(doc, json_get(doc, JSON_ROOT, STR("schema")));
    if (str_starts(schema, STR("symtape.baseline/")) && !str_is(schema, SCHEMA))
        return err_set(err, ERR_INPUT,
                       "%.*s: it was written by a later symtape; this one knows " SCHEMA,
                       STR_ARG(schema));
    if (!str_is(schema, SCHEMA))
        return err_set(err, ERR_INPUT, "not a baseline of symtape check --save");
    return read_baseline_texts(doc, STR("tapes"), arena, &ret->tapes, &ret->n_tapes, err) &&
           read_baseline_texts(doc, STR("torch"), arena, &ret->torch, &ret->n_torch, err) &&
           read_baseline_measures(doc, ret, err);
}

bool baseline_read(struct str text, struct arena *arena, struct check_side *ret, struct err *err)
{
    struct json doc = { 0 };
    *ret = (struct check_side){ 0 };
    bool ok = json_parse(&doc, text, err) && read_document(&doc, arena, ret, err);
    json_release(&doc);
    return ok;
}

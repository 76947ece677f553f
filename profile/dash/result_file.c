#include "profile/dash/result_file.h"

#include <math.h>
#include <stdlib.h>

#include "profile/dash/config_name.h"
#include "trace/base/text/csv.h"
#include "trace/base/text/json.h"

enum { FILE_COLUMNS = 256 }; /* columns of one file; of JSON lines, different members */

enum column_what {
    COLUMN_OTHER,
    COLUMN_NAME,
    COLUMN_STATUS,
    COLUMN_KEY,
    COLUMN_VALUE,
    COLUMN_LATENCY,
    COLUMN_FLOPS,
    COLUMN_PEAK_TFLOPS,
    COLUMN_GRAPH_BREAKS,
    COLUMN_UNIQUE_GRAPHS,
    COLUMN_COUNT,
};

static const struct known_column {
    const char *name;
    enum column_what what;
    unsigned detail;
    bool whole;
} KNOWN[] = {
#define COLUMN(name, what, detail, whole) { name, COLUMN_##what, detail, whole },
#include "profile/dash/result_columns.def"
#undef COLUMN
};

static const struct known_column OTHER = { "", COLUMN_OTHER, 0, false };

struct file_column {
    const struct known_column *known;
    uint32_t name, fact; /* fact: the only value so far; INTERN_NONE: none yet */
    bool varies;
};

struct row {
    struct dash_config config;
    uint32_t name;
    struct dash_run run;
    double latency, flops, peak;
    bool missing;     /* a number of PyTorch's is */
    bool has_speedup; /* there is such a column */
    bool no_graphs;
};

struct result_reader {
    struct dash *dash;
    struct dash_point *point;
    struct dash_config base;
    double peak;
    vec_of(struct file_column)
    columns;
    struct row row;
    struct buf text;
};

/* ---- Values ---- */

bool result_number(struct str text, double *ret)
{
    static const char *const MISSING[] = {
        "",     "nan",  "NaN", "-nan", "-NaN",     "NA",        "N/A",      "n/a",
        "<NA>", "#N/A", "#NA", "NULL", "null",     "None",      "#N/A N/A", "1.#IND",
        "inf",  "-inf", "Inf", "-Inf", "Infinity", "-Infinity", "1.#QNAN",  "-1.#IND",
    };
    char digits[64], *end;
    text = str_trim(text);
    *ret = NAN;
    if (STR_IS_ANY(text, MISSING))
        return true;
    if (text.n >= sizeof digits)
        return false;
    for (size_t i = 0; i < text.n; i++)
        if (!is_digit(text.p[i]) && !strchr("+-.eE", text.p[i]))
            return false;
    memcpy(digits, text.p, text.n);
    digits[text.n] = '\0';
    *ret = strtod(digits, &end);
    if (end != digits + text.n)
        return false;
    *ret = isfinite(*ret) ? *ret : NAN;
    return true;
}

static bool take_number(struct result_reader *r, const struct known_column *known, struct str text,
                        struct err *err)
{
    struct row *row = &r->row;
    double value;
    if (!result_number(text, &value))
        return err_set(err, ERR_INPUT, "%s: \"%.*s\" is not a number", known->name,
                       STR_ARG(str_first(text, 60)));
    row->missing |= known->whole && isnan(value);
    if (known->what == COLUMN_VALUE)
        row->run.value[known->detail] = value;
    else if (known->what == COLUMN_LATENCY)
        row->latency = value;
    else if (known->what == COLUMN_FLOPS)
        row->flops = value;
    else if (known->what == COLUMN_PEAK_TFLOPS)
        row->peak = value;
    else if (known->what == COLUMN_GRAPH_BREAKS && value >= 0 && value < UINT32_MAX)
        row->run.graph_breaks = (uint32_t)value;
    row->no_graphs |= known->what == COLUMN_UNIQUE_GRAPHS && value == 0;
    row->has_speedup |= known->what == COLUMN_VALUE && known->detail == DASH_SPEEDUP;
    return true;
}

static bool take_fact(struct result_reader *r, struct file_column *column, struct str text,
                      struct err *err)
{
    if (text.n == 0 || column->varies)
        return true;
    uint32_t value = intern(&r->dash->texts, text);
    if (value == INTERN_NONE)
        return err_nomem(err);
    column->varies = column->fact != INTERN_NONE && column->fact != value;
    column->fact = value;
    return true;
}

static bool take_text(struct result_reader *r, const struct known_column *known, struct str text,
                      struct err *err)
{
    double missing;
    uint32_t *to = known->what == COLUMN_NAME     ? &r->row.name
                   : known->what == COLUMN_STATUS ? &r->row.run.status
                                                  : &r->row.config.text[known->detail];
    if (known->what != COLUMN_NAME && result_number(text, &missing) && isnan(missing))
        return true;
    *to = intern(&r->dash->texts, text);
    return *to != INTERN_NONE || err_nomem(err);
}

static bool take_cell(struct result_reader *r, struct file_column *column, struct str text,
                      struct err *err)
{
    text = str_trim(text);
    switch (column->known->what) {
    case COLUMN_OTHER: return take_fact(r, column, text, err);
    case COLUMN_NAME:
    case COLUMN_STATUS:
    case COLUMN_KEY: return take_text(r, column->known, text, err);
    default: return take_number(r, column->known, text, err);
    }
}

/* ---- Rows ---- */

static void begin_row(struct result_reader *r)
{
    r->row = (struct row){ .config = r->base,
                           .name = INTERN_NONE,
                           .run = dash_run_empty(),
                           .latency = NAN,
                           .flops = NAN,
                           .peak = r->peak };
}

/* Ratios that are not positive have no logarithm, and no time or share is negative; a row that did
 * not run has no values. */
static void finish_values(struct row *row)
{
    double *value = row->run.value, speedup = value[DASH_SPEEDUP];
    double peak = row->peak * 1e12, seconds = row->latency * 1e-3;
    if (isnan(value[DASH_MFU]) && peak > 0 && seconds > 0 && row->flops > 0)
        value[DASH_MFU] = row->flops / seconds / peak;
    if (row->no_graphs)
        row->run.graph_breaks = UINT32_MAX;
    row->run.ran = row->has_speedup && speedup > 0;
    row->run.failed = row->has_speedup && !row->run.ran && row->run.status == INTERN_NONE;
    for (int m = 0; m < DASH_MEASURES; m++) {
        bool ratio = dash_measure_row((enum dash_measure)m)->mean == DASH_GEOMETRIC;
        bool drop = row->has_speedup && (row->missing || !row->run.ran);
        if (drop || value[m] < 0 || (ratio && !(value[m] > 0)))
            value[m] = NAN;
    }
}

static bool finish_row(struct result_reader *r, struct err *err)
{
    struct str name = dash_text(r->dash, r->row.name);
    if (name.n == 0)
        return err_set(err, ERR_INPUT, "a row without a name");
    finish_values(&r->row);
    struct dash_model *model = dash_model_of(r->dash, r->point, &r->row.config, name, err);
    return model && dash_run_add(model, &r->row.run, err);
}

static const struct known_column *known_column(struct str name)
{
    for (size_t i = 0; i < sizeof KNOWN / sizeof *KNOWN; i++)
        if (str_is(name, KNOWN[i].name))
            return &KNOWN[i];
    return &OTHER;
}

static struct file_column *add_column(struct result_reader *r, struct str name, struct err *err)
{
    struct file_column column = { .known = known_column(name),
                                  .name = intern(&r->dash->texts, name),
                                  .fact = INTERN_NONE };
    if (r->columns.n == FILE_COLUMNS)
        err_set(err, ERR_INPUT, "more than %d different columns", FILE_COLUMNS);
    else if (column.name == INTERN_NONE || !vec_push(&r->columns, column))
        err_nomem(err);
    return err_is_set(err) ? NULL : &r->columns.v[r->columns.n - 1];
}

static bool keep_facts(struct result_reader *r, struct err *err)
{
    for (size_t i = 0; i < r->columns.n; i++) {
        const struct file_column *column = &r->columns.v[i];
        struct str name = dash_text(r->dash, column->name);
        if (column->fact != INTERN_NONE && !column->varies && name.n > 0 &&
            !dash_fact_add(r->dash, r->point, name, dash_text(r->dash, column->fact), err))
            return false;
    }
    return true;
}

/* ---- CSV ---- */

static bool read_header(struct result_reader *r, const struct csv *in, struct err *err)
{
    bool named = false;
    for (size_t i = 0; i < in->cells.n; i++) {
        buf_clear(&r->text);
        csv_decode(&in->cells.v[i], &r->text);
        if (r->text.failed)
            return err_nomem(err);
        const struct file_column *column = add_column(r, str_trim(buf_str(&r->text)), err);
        if (!column)
            return false;
        named |= column->known->what == COLUMN_NAME;
    }
    return named || err_set(err, ERR_INPUT, "no column is \"name\" or \"model\"");
}

/* A row that repeats the header: files that were put one behind the other. */
static bool is_header(const struct result_reader *r, const struct csv *in)
{
    for (size_t i = 0; i < in->cells.n; i++)
        if (i >= r->columns.n ||
            !str_eq(str_trim(in->cells.v[i].text), dash_text(r->dash, r->columns.v[i].name)))
            return false;
    return true;
}

static bool read_csv_row(struct result_reader *r, const struct csv *in, struct err *err)
{
    begin_row(r);
    if (is_header(r, in))
        return true;
    if (in->cells.n > r->columns.n)
        return err_set(err, ERR_INPUT, "%zu cells, where the header has %zu", in->cells.n,
                       r->columns.n);
    for (size_t i = 0; i < r->columns.n; i++) {
        buf_clear(&r->text);
        if (i < in->cells.n)
            csv_decode(&in->cells.v[i], &r->text);
        if (r->text.failed)
            return err_nomem(err);
        if (!take_cell(r, &r->columns.v[i], buf_str(&r->text), err))
            return false;
    }
    return finish_row(r, err);
}

static bool read_csv(struct result_reader *r, struct str text, struct err *err)
{
    struct csv in = csv_of(text);
    bool ok = true, header = false;
    while (ok && csv_next(&in, err)) {
        ok = header ? read_csv_row(r, &in, err) : read_header(r, &in, err);
        header = true;
        if (!ok)
            err_at(err, "line %llu", (unsigned long long)in.record_line);
    }
    csv_release(&in);
    return !err_is_set(err);
}

/* ---- JSON ---- */

static struct file_column *column_of_key(struct result_reader *r, struct str key, struct err *err)
{
    uint32_t id = intern_find(&r->dash->texts, key);
    for (size_t i = 0; i < r->columns.n && id != INTERN_NONE; i++)
        if (r->columns.v[i].name == id)
            return &r->columns.v[i];
    return add_column(r, key, err);
}

/* Appends a value's text; "" for null, and for arrays and objects, which mean nothing here. */
static void put_json_value(const struct json *doc, json_id value, struct buf *out)
{
    enum json_kind kind = json_kind_of(doc, value);
    if (kind == JSON_STRING)
        json_decode(doc, value, out);
    else if (kind == JSON_NUMBER || kind == JSON_TRUE || kind == JSON_FALSE)
        buf_put(out, json_text(doc, value));
}

static bool read_members(struct result_reader *r, const struct json *doc, struct err *err)
{
    json_id key = json_first(doc, JSON_ROOT);
    while (key != JSON_NONE) {
        json_id value = json_next(doc, key);
        buf_clear(&r->text);
        json_decode(doc, key, &r->text);
        struct file_column *column =
            r->text.failed ? NULL : column_of_key(r, buf_str(&r->text), err);
        if (!column)
            return err_is_set(err) ? false : err_nomem(err);
        buf_clear(&r->text);
        put_json_value(doc, value, &r->text);
        if ((r->text.failed && !err_nomem(err)) || !take_cell(r, column, buf_str(&r->text), err))
            return false;
        key = json_next(doc, value);
    }
    return true;
}

static bool parse_object(struct json *doc, struct str text, struct err *err)
{
    if (!json_parse(doc, text, err))
        return false;
    return json_kind_of(doc, JSON_ROOT) == JSON_OBJECT || err_set(err, ERR_INPUT, "not an object");
}

static bool read_json_lines(struct result_reader *r, struct str text, struct err *err)
{
    struct json doc = { 0 };
    bool ok = true;
    for (uint64_t line = 1; ok && text.n > 0; line++) {
        size_t end = str_find_char(text, '\n');
        struct str object = str_trim(str_first(text, end));
        text = str_from(text, end + 1);
        if (object.n == 0)
            continue;
        begin_row(r);
        ok = parse_object(&doc, object, err) && read_members(r, &doc, err) && finish_row(r, err);
        if (!ok)
            err_at(err, "line %llu", (unsigned long long)line);
    }
    json_release(&doc);
    return ok;
}

static struct str without_mark(struct str text)
{
    static const struct str MARK = { "\xef\xbb\xbf", 3 };
    return str_starts(text, MARK) ? str_from(text, MARK.n) : text;
}

bool result_file_read(struct dash *dash, struct dash_point *point, struct str path, struct str text,
                      double peak_tflops, struct err *err)
{
    struct result_reader r = { .dash = dash, .point = point, .peak = peak_tflops };
    struct str start = str_trim(str_first(without_mark(text), 512));
    bool json = start.n > 0 && start.p[0] == '{';
    memcpy(r.base.text, point->defaults, sizeof r.base.text);
    bool ok = config_name_read(dash, str_basename(path), &r.base, err) &&
              (json ? read_json_lines(&r, without_mark(text), err) : read_csv(&r, text, err)) &&
              keep_facts(&r, err);
    point->files += ok;
    vec_release(&r.columns);
    buf_release(&r.text);
    return ok;
}

/* ---- The facts of a point ---- */

static bool take_point_fact(struct dash *dash, struct dash_point *point, struct str key,
                            struct str value, struct err *err)
{
    for (int k = 0; k < DASH_KEYS; k++) {
        if (!str_is(key, dash_key_name((enum dash_key)k)))
            continue;
        point->defaults[k] = intern(&dash->texts, value);
        return point->defaults[k] != INTERN_NONE || err_nomem(err);
    }
    return value.n == 0 || dash_fact_add(dash, point, key, value, err);
}

bool point_facts_read(struct dash *dash, struct dash_point *point, struct str text, struct err *err)
{
    struct json doc = { 0 };
    struct buf name = BUF_INIT, value = BUF_INIT;
    bool ok = parse_object(&doc, without_mark(text), err);
    json_id key = ok ? json_first(&doc, JSON_ROOT) : JSON_NONE;
    while (ok && key != JSON_NONE) {
        json_id at = json_next(&doc, key);
        buf_clear(&name);
        buf_clear(&value);
        json_decode(&doc, key, &name);
        put_json_value(&doc, at, &value);
        ok = ((!name.failed && !value.failed) || err_nomem(err)) &&
             take_point_fact(dash, point, buf_str(&name), buf_str(&value), err);
        key = json_next(&doc, at);
    }
    json_release(&doc);
    buf_release(&name);
    buf_release(&value);
    return ok;
}

#include "profile/dash/expectations.h"

#include <math.h>

#include "profile/dash/config_name.h"
#include "profile/dash/result_file.h"
#include "trace/base/hash.h"
#include "trace/base/text/csv.h"

void expectations_release(struct expectations *file)
{
    buf_release(&file->text);
    vec_release(&file->rows);
    hash_index_release(&file->index);
}

static bool read_header(struct expectations *file, const struct csv *in, struct err *err)
{
    file->name_column = file->status_column = file->breaks_column = UINT32_MAX;
    file->columns = (uint32_t)in->cells.n;
    file->header_end = in->end;
    for (uint32_t i = 0; i < file->columns; i++) {
        struct str name = str_trim(in->cells.v[i].text);
        if (str_is(name, "name"))
            file->name_column = i;
        else if (str_is(name, "accuracy") || str_is(name, "status"))
            file->status_column = i;
        else if (str_is(name, "graph_breaks"))
            file->breaks_column = i;
    }
    if (file->name_column != UINT32_MAX && file->status_column != UINT32_MAX)
        return true;
    return err_set(err, ERR_INPUT, "the columns are not name, accuracy or status, graph_breaks");
}

static struct str written(const struct csv_cell *cell)
{
    return cell->quoted ? (struct str){ cell->text.p - 1, cell->text.n + 2 } : cell->text;
}

static uint32_t cell_id(struct dash *dash, const struct csv_cell *cell)
{
    struct buf text = BUF_INIT;
    csv_decode(cell, &text);
    uint32_t id = text.failed ? INTERN_NONE : intern(&dash->texts, str_trim(buf_str(&text)));
    buf_release(&text);
    return id;
}

const struct expectation *expectations_find(const struct expectations *file, uint32_t name)
{
    uint32_t hash = (uint32_t)hash_mix(name, 0), row;
    for (size_t at = hash_index_start(&file->index, hash);
         hash_index_next(&file->index, hash, &at, &row);)
        if (file->rows.v[row].name == name)
            return &file->rows.v[row];
    return NULL;
}

static bool add_expectation(struct dash *dash, struct expectations *file,
                            const struct expectation *row, struct err *err)
{
    if (row->name == INTERN_NONE || row->status == INTERN_NONE)
        return err_nomem(err);
    if (expectations_find(file, row->name))
        return err_set(err, ERR_INPUT, "%.*s is listed twice",
                       STR_ARG(str_first(dash_text(dash, row->name), 100)));
    if (!hash_index_reserve(&file->index, 1) || !vec_push(&file->rows, *row))
        return err_nomem(err);
    hash_index_add(&file->index, (uint32_t)hash_mix(row->name, 0), (uint32_t)(file->rows.n - 1));
    return true;
}

static bool read_expectation(struct dash *dash, struct expectations *file, const struct csv *in,
                             struct err *err)
{
    struct expectation row = { .begin = in->begin, .end = in->end, .breaks = UINT32_MAX };
    if (in->cells.n <= file->name_column || in->cells.n <= file->status_column)
        return err_set(err, ERR_INPUT, "a row without a name or a status");
    row.name = cell_id(dash, &in->cells.v[file->name_column]);
    row.status = cell_id(dash, &in->cells.v[file->status_column]);
    row.status_cell = written(&in->cells.v[file->status_column]);
    if (file->breaks_column < in->cells.n) {
        const struct csv_cell *cell = &in->cells.v[file->breaks_column];
        double breaks;
        if (!result_number(cell->text, &breaks))
            return err_set(err, ERR_INPUT, "graph_breaks: \"%.*s\" is not a number",
                           STR_ARG(str_first(cell->text, 60)));
        row.breaks_cell = written(cell);
        row.breaks = breaks >= 0 && breaks < UINT32_MAX ? (uint32_t)breaks : UINT32_MAX;
    }
    return add_expectation(dash, file, &row, err);
}

bool expectations_read(struct dash *dash, struct str path, struct buf *text,
                       struct expectations *ret, struct err *err)
{
    *ret = (struct expectations){ .path = path, .text = *text };
    *text = BUF_INIT;
    for (int k = 0; k < DASH_KEYS; k++)
        ret->config.text[k] = dash->empty;
    struct csv in = csv_of(buf_str(&ret->text));
    bool ok = config_name_read(dash, str_basename(path), &ret->config, err), header = false;
    while (ok && csv_next(&in, err)) {
        ok = header ? read_expectation(dash, ret, &in, err) : read_header(ret, &in, err);
        header = true;
        if (!ok)
            err_at(err, "line %llu", (unsigned long long)in.record_line);
    }
    if (ok && !header && !err_is_set(err))
        err_set(err, ERR_INPUT, "it is empty; an expectation has the columns name and accuracy");
    csv_release(&in);
    return !err_is_set(err);
}

/* ---- Verdicts ---- */

static const char *const VERDICT_NAMES[VERDICTS] = { "PASS",     "XFAIL", "FAIL",
                                                     "IMPROVED", "FLAKY", "MISSING" };

const char *dash_verdict_name(enum dash_verdict verdict)
{
    return VERDICT_NAMES[verdict];
}

bool dash_verdict_fails(enum dash_verdict verdict)
{
    return verdict == VERDICT_FAIL || verdict == VERDICT_IMPROVED || verdict == VERDICT_MISSING;
}

void verdicts_release(struct verdicts *verdicts)
{
    vec_release(&verdicts->rows);
}

struct judging {
    const struct dash *dash;
    const struct verdict_options *options;
    struct verdicts *ret;
};

static bool is_full_pass(struct str status)
{
    return str_is(status, "pass") || str_is(status, "compiled");
}

static bool is_listed_flaky(const struct judging *j, uint32_t name)
{
    for (size_t i = 0; i < j->options->n_flaky; i++)
        if (str_eq(j->options->flaky[i], dash_text(j->dash, name)))
            return true;
    return false;
}

/* The graph breaks of a model's runs that have a status; *ret_differ: they are not all the same. */
static uint32_t model_breaks(const struct dash_model *model, bool *ret_differ)
{
    uint32_t first = UINT32_MAX;
    *ret_differ = false;
    for (size_t i = 0; i < model->runs.n; i++) {
        if (model->runs.v[i].status == INTERN_NONE)
            continue;
        uint32_t breaks = model->runs.v[i].graph_breaks;
        *ret_differ |= breaks != UINT32_MAX && first != UINT32_MAX && breaks != first;
        first = first == UINT32_MAX ? breaks : first;
    }
    return first;
}

static void set_verdict(struct verdict_row *row, enum dash_verdict verdict, const char *why)
{
    row->verdict = verdict;
    row->why = why;
}

static void judge_breaks(struct verdict_row *row, bool flaky, bool differ)
{
    uint32_t now = row->actual_breaks, expected = row->expected_breaks;
    if (now == UINT32_MAX || expected == UINT32_MAX || (now == expected && !differ))
        return;
    if (differ)
        set_verdict(row, VERDICT_FLAKY, "repeats differ in graph breaks");
    else if (flaky)
        set_verdict(row, VERDICT_FLAKY, "listed as flaky");
    else if (now > expected)
        set_verdict(row, VERDICT_FAIL, "more graph breaks");
    else
        set_verdict(row, VERDICT_IMPROVED, "fewer graph breaks");
}

static void judge_model(const struct judging *j, const struct dash_model *model,
                        const struct expectation *expected, struct verdict_row *row)
{
    bool differ, breaks_differ, flaky = is_listed_flaky(j, model->name);
    row->actual = dash_status(model, &differ);
    row->actual_breaks = model_breaks(model, &breaks_differ);
    row->expected = expected ? expected->status : INTERN_NONE;
    row->expected_breaks = expected ? expected->breaks : UINT32_MAX;
    bool passes = is_full_pass(dash_text(j->dash, row->actual));
    if (row->actual == INTERN_NONE)
        set_verdict(row, VERDICT_MISSING, "no status");
    else if (!expected)
        set_verdict(row, VERDICT_MISSING, "no expectation");
    else if (differ)
        set_verdict(row, VERDICT_FLAKY, "repeats differ");
    else if (row->actual == row->expected)
        set_verdict(row, passes ? VERDICT_PASS : VERDICT_XFAIL, "");
    else if (flaky)
        set_verdict(row, VERDICT_FLAKY, "listed as flaky");
    else
        set_verdict(row, passes ? VERDICT_IMPROVED : VERDICT_FAIL,
                    passes ? "it passes now" : "another status");
    if (row->verdict == VERDICT_PASS || row->verdict == VERDICT_XFAIL)
        judge_breaks(row, flaky, breaks_differ);
}

static bool add_verdict(struct verdicts *ret, const struct verdict_row *row, struct err *err)
{
    ret->n[row->verdict]++;
    ret->fails |= dash_verdict_fails(row->verdict);
    return vec_push(&ret->rows, *row) || err_nomem(err);
}

static bool is_about(const struct dash *dash, const struct dash_config *file,
                     const struct dash_config *config)
{
    for (int k = 0; k < DASH_KEYS; k++)
        if (file->text[k] != config->text[k] && file->text[k] != dash->empty &&
            config->text[k] != dash->empty)
            return false;
    return true;
}

static bool find_file(const struct dash *dash, const struct expectations *files, size_t n,
                      uint32_t config, uint32_t *ret, struct err *err)
{
    *ret = UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        if (!is_about(dash, &files[i].config, &dash->configs.v[config]))
            continue;
        if (*ret != UINT32_MAX)
            return err_set(err, ERR_USAGE, "%.*s and %.*s are about the same results",
                           STR_ARG(files[*ret].path), STR_ARG(files[i].path));
        *ret = (uint32_t)i;
    }
    return true;
}

/* The models of an expectations file that a configuration does not have. */
static bool add_not_run(const struct judging *j, const struct expectations *file, uint32_t at,
                        uint32_t config, const struct hash_index *seen,
                        const struct dash_model *models, struct err *err)
{
    for (size_t i = 0; i < file->rows.n && !j->options->partial; i++) {
        const struct expectation *expected = &file->rows.v[i];
        uint32_t hash = (uint32_t)hash_mix(expected->name, 0), row;
        bool found = false;
        for (size_t k = hash_index_start(seen, hash);
             !found && hash_index_next(seen, hash, &k, &row);)
            found = models[row].name == expected->name;
        struct verdict_row verdict = { config,      expected->name,
                                       at,          VERDICT_MISSING,
                                       "not run",   expected->status,
                                       INTERN_NONE, expected->breaks,
                                       UINT32_MAX,  true };
        if (!found && !add_verdict(j->ret, &verdict, err))
            return false;
    }
    return true;
}

static bool has_statuses(const struct dash_model *models, size_t n)
{
    bool differ;
    for (size_t i = 0; i < n; i++)
        if (dash_status(&models[i], &differ) != INTERN_NONE)
            return true;
    return false;
}

static bool judge_config(const struct judging *j, struct expectations *files, size_t n_files,
                         uint32_t config, const struct dash_model *models, size_t n,
                         struct err *err)
{
    struct hash_index seen = HASH_INDEX_INIT;
    uint32_t at;
    bool ok = find_file(j->dash, files, n_files, config, &at, err);
    struct expectations *file = ok && at != UINT32_MAX ? &files[at] : NULL;
    if (ok && !hash_index_reserve(&seen, n))
        ok = err_nomem(err);
    for (size_t i = 0; i < n && ok; i++) {
        struct verdict_row row = { config,      models[i].name, at,         VERDICT_PASS, "",
                                   INTERN_NONE, INTERN_NONE,    UINT32_MAX, UINT32_MAX,   false };
        judge_model(j, &models[i], file ? expectations_find(file, models[i].name) : NULL, &row);
        hash_index_add(&seen, (uint32_t)hash_mix(models[i].name, 0), (uint32_t)i);
        ok = add_verdict(j->ret, &row, err);
    }
    if (ok && file) {
        file->used = true;
        ok = add_not_run(j, file, at, config, &seen, models, err);
    }
    hash_index_release(&seen);
    return ok;
}

/* Returns the models of the next configuration of a point; n is 0 at the end. */
static const struct dash_model *next_config(const struct dash_point *point, size_t *at, size_t *n)
{
    size_t begin = *at;
    while (*at < point->models.n && point->models.v[*at].config == point->models.v[begin].config)
        (*at)++;
    *n = *at - begin;
    return vec_from(&point->models, begin);
}

bool verdicts_make(const struct dash *dash, struct expectations *files, size_t n_files,
                   const struct verdict_options *options, struct verdicts *ret, struct err *err)
{
    const struct dash_point *point = &dash->points.v[dash->points.n - 1];
    const struct judging j = { dash, options, ret };
    size_t at = 0, n;
    *ret = (struct verdicts){ .fails = false };
    for (;;) {
        const struct dash_model *models = next_config(point, &at, &n);
        if (n == 0)
            return true;
        if (has_statuses(models, n) &&
            !judge_config(&j, files, n_files, models->config, models, n, err))
            return false;
    }
}

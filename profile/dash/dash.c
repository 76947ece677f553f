#include "profile/dash/dash.h"

#include <math.h>
#include <stdlib.h>

#include "trace/base/hash.h"
#include "trace/base/number.h"

enum {
    MEDIAN_RUNS = 64, /* a median is that of the first runs of a model */
    POINT_FACTS = 1000
};

static const char *const KEYS[DASH_KEYS] = { "suite", "compiler", "dtype", "mode", "device" };

static const struct dash_measure_row ROWS_OF_MEASURES[DASH_MEASURES] = {
#define MEASURE(id, name, title, mean, better) { name, title, DASH_##mean, better },
#include "profile/dash/dash_measures.def"
#undef MEASURE
};

const char *dash_key_name(enum dash_key key)
{
    return KEYS[key];
}

const struct dash_measure_row *dash_measure_row(enum dash_measure measure)
{
    return &ROWS_OF_MEASURES[measure];
}

struct dash_run dash_run_empty(void)
{
    struct dash_run run = { .status = INTERN_NONE, .graph_breaks = UINT32_MAX };
    for (int m = 0; m < DASH_MEASURES; m++)
        run.value[m] = NAN;
    return run;
}

/* ---- Building ---- */

struct dash *dash_new(struct err *err)
{
    struct dash *dash = calloc(1, sizeof *dash);
    if (dash)
        dash->empty = intern(&dash->texts, STR(""));
    if (dash && dash->empty != INTERN_NONE)
        return dash;
    dash_free(dash);
    err_nomem(err);
    return NULL;
}

static void point_release(struct dash_point *point)
{
    for (size_t i = 0; i < point->models.n; i++)
        vec_release(&point->models.v[i].runs);
    vec_release(&point->models);
    vec_release(&point->facts);
    hash_index_release(&point->index);
}

void dash_free(struct dash *dash)
{
    if (!dash)
        return;
    for (size_t i = 0; i < dash->points.n; i++)
        point_release(&dash->points.v[i]);
    vec_release(&dash->points);
    vec_release(&dash->configs);
    hash_index_release(&dash->config_index);
    intern_release(&dash->texts);
    free(dash);
}

struct dash_point *dash_point_add(struct dash *dash, struct str label, struct err *err)
{
    uint32_t id = intern(&dash->texts, label);
    struct dash_point point = { .files = 0 };
    for (int k = 0; k < DASH_KEYS; k++)
        point.defaults[k] = dash->empty;
    if (id != INTERN_NONE)
        point.label = intern_text(&dash->texts, id);
    if (id != INTERN_NONE && vec_push(&dash->points, point))
        return &dash->points.v[dash->points.n - 1];
    err_nomem(err);
    return NULL;
}

static uint32_t config_id(struct dash *dash, const struct dash_config *config)
{
    struct hash_index *index = &dash->config_index;
    uint32_t hash = 0, row;
    for (int k = 0; k < DASH_KEYS; k++)
        hash = (uint32_t)hash_mix(hash, config->text[k]);
    for (size_t at = hash_index_start(index, hash); hash_index_next(index, hash, &at, &row);)
        if (memcmp(&dash->configs.v[row], config, sizeof *config) == 0)
            return row;
    if (!hash_index_reserve(index, 1) || !vec_push(&dash->configs, *config))
        return INTERN_NONE;
    row = (uint32_t)(dash->configs.n - 1);
    hash_index_add(index, hash, row);
    return row;
}

static struct dash_model *find_model(struct dash_point *point, uint32_t config, uint32_t name)
{
    uint32_t hash = (uint32_t)hash_mix(config, name), row;
    for (size_t at = hash_index_start(&point->index, hash);
         hash_index_next(&point->index, hash, &at, &row);)
        if (point->models.v[row].config == config && point->models.v[row].name == name)
            return &point->models.v[row];
    return NULL;
}

struct dash_model *dash_model_of(struct dash *dash, struct dash_point *point,
                                 const struct dash_config *config, struct str name, struct err *err)
{
    uint32_t config_at = config_id(dash, config), id = intern(&dash->texts, name);
    struct dash_model *found =
        config_at != INTERN_NONE && id != INTERN_NONE ? find_model(point, config_at, id) : NULL;
    if (found)
        return found;
    struct dash_model model = { .config = config_at, .name = id, .tape = INTERN_NONE };
    if (config_at == INTERN_NONE || id == INTERN_NONE || !hash_index_reserve(&point->index, 1) ||
        !vec_push(&point->models, model)) {
        err_nomem(err);
        return NULL;
    }
    uint32_t row = (uint32_t)(point->models.n - 1);
    hash_index_add(&point->index, (uint32_t)hash_mix(config_at, id), row);
    return &point->models.v[row];
}

/* Most models have one run, so the first one gets memory for one. */
bool dash_run_add(struct dash_model *model, const struct dash_run *run, struct err *err)
{
    if (model->runs.cap == 0 && (model->runs.v = malloc(sizeof *run)))
        model->runs.cap = 1;
    return vec_push(&model->runs, *run) || err_nomem(err);
}

bool dash_fact_add(struct dash *dash, struct dash_point *point, struct str key, struct str value,
                   struct err *err)
{
    struct dash_fact fact = { intern(&dash->texts, key), intern(&dash->texts, value) };
    if (fact.key == INTERN_NONE || fact.value == INTERN_NONE)
        return err_nomem(err);
    for (size_t i = 0; i < point->facts.n; i++)
        if (point->facts.v[i].key == fact.key && point->facts.v[i].value == fact.value)
            return true;
    return point->facts.n >= POINT_FACTS || vec_push(&point->facts, fact) || err_nomem(err);
}

/* Returns whether a configuration has every part that `part` says. */
static bool has_parts(const struct dash *dash, const struct dash_config *config,
                      const struct dash_config *part)
{
    for (int k = 0; k < DASH_KEYS; k++)
        if (part->text[k] != dash->empty && part->text[k] != config->text[k])
            return false;
    return true;
}

struct dash_config dash_config_of_tape(const struct dash *dash, const struct dash_point *point,
                                       const struct dash_config *config, struct str name)
{
    uint32_t id = intern_find(&dash->texts, name), found = INTERN_NONE;
    for (size_t i = 0; i < point->models.n && id != INTERN_NONE; i++) {
        const struct dash_model *model = &point->models.v[i];
        if (model->name != id || !has_parts(dash, &dash->configs.v[model->config], config))
            continue;
        if (found != INTERN_NONE)
            return *config;
        found = model->config;
    }
    return found == INTERN_NONE ? *config : dash->configs.v[found];
}

/* ---- Sorting ---- */

/* A configuration or a model with the texts that it is sorted by. */
struct sorted {
    struct str text[DASH_KEYS];
    uint32_t major, at;
};

static int compare_sorted(const void *a, const void *b)
{
    const struct sorted *x = a, *y = b;
    int order = (x->major > y->major) - (x->major < y->major);
    for (int k = 0; k < DASH_KEYS && order == 0; k++)
        order = str_cmp(x->text[k], y->text[k]);
    return order;
}

/* Sorts the configurations and sets new_of[old number] to each one's number. */
static bool sort_configs(struct dash *dash, uint32_t *new_of)
{
    size_t n = dash->configs.n;
    struct sorted *rows = calloc(n + 1, sizeof *rows);
    struct dash_config *copy = calloc(n + 1, sizeof *copy);
    bool ok = rows && copy;
    for (size_t i = 0; i < n && ok; i++) {
        rows[i].at = (uint32_t)i;
        copy[i] = dash->configs.v[i];
        for (int k = 0; k < DASH_KEYS; k++)
            rows[i].text[k] = dash_text(dash, copy[i].text[k]);
    }
    if (ok && n)
        qsort(rows, n, sizeof *rows, compare_sorted);
    for (size_t i = 0; i < n && ok; i++) {
        dash->configs.v[i] = copy[rows[i].at];
        new_of[rows[i].at] = (uint32_t)i;
    }
    free(rows);
    free(copy);
    return ok;
}

static bool sort_models(struct dash *dash, struct dash_point *point, const uint32_t *new_of)
{
    size_t n = point->models.n;
    struct sorted *rows = calloc(n + 1, sizeof *rows);
    struct dash_model *copy = calloc(n + 1, sizeof *copy);
    bool ok = rows && copy;
    for (size_t i = 0; i < n && ok; i++) {
        struct dash_model *model = &point->models.v[i];
        model->config = new_of[model->config];
        copy[i] = *model;
        rows[i].major = model->config;
        rows[i].at = (uint32_t)i;
        rows[i].text[0] = dash_text(dash, model->name);
    }
    if (ok && n)
        qsort(rows, n, sizeof *rows, compare_sorted);
    for (size_t i = 0; i < n && ok; i++)
        point->models.v[i] = copy[rows[i].at];
    hash_index_clear(&point->index);
    free(rows);
    free(copy);
    return ok;
}

bool dash_finish(struct dash *dash, struct err *err)
{
    uint32_t *new_of = calloc(dash->configs.n + 1, sizeof *new_of);
    bool ok = new_of && sort_configs(dash, new_of);
    for (size_t i = 0; i < dash->points.n && ok; i++)
        ok = sort_models(dash, &dash->points.v[i], new_of);
    free(new_of);
    return ok || err_nomem(err);
}

/* ---- One model ---- */

bool dash_status_passes(struct str status)
{
    static const char *const PASSING[] = { "pass", "pass_due_to_skip", "eager_variation",
                                           "compiled" };
    return STR_IS_ANY(status, PASSING);
}

/* Returns whether what a run says is what counts: a tape's only counts where no result file says
 * anything. */
static bool has_status(const struct dash_run *run, bool from_tape)
{
    return run->from_tape == from_tape && run->status != INTERN_NONE;
}

static bool counts_tapes(const struct dash_model *model)
{
    for (size_t i = 0; i < model->runs.n; i++)
        if (!model->runs.v[i].from_tape && (model->runs.v[i].status != INTERN_NONE ||
                                            model->runs.v[i].failed || model->runs.v[i].ran))
            return false;
    return true;
}

uint32_t dash_status(const struct dash_model *model, bool *ret_differ)
{
    uint32_t first = INTERN_NONE;
    bool tapes = counts_tapes(model);
    *ret_differ = false;
    for (size_t i = 0; i < model->runs.n; i++) {
        const struct dash_run *run = &model->runs.v[i];
        if (!has_status(run, tapes))
            continue;
        *ret_differ |= first != INTERN_NONE && run->status != first;
        first = first == INTERN_NONE ? run->status : first;
    }
    return first;
}

static enum dash_outcome run_outcome(const struct dash *dash, const struct dash_run *run)
{
    if (run->failed)
        return DASH_FAILED;
    if (run->status != INTERN_NONE)
        return dash_status_passes(dash_text(dash, run->status)) ? DASH_PASSED : DASH_FAILED;
    return run->ran ? DASH_PASSED : DASH_UNKNOWN;
}

enum dash_outcome dash_outcome(const struct dash *dash, const struct dash_model *model)
{
    uint32_t n[DASH_FLAKY] = { 0 };
    bool differ, tapes = counts_tapes(model);
    dash_status(model, &differ);
    for (size_t i = 0; i < model->runs.n; i++)
        if (model->runs.v[i].from_tape == tapes)
            n[run_outcome(dash, &model->runs.v[i])]++;
    if (differ)
        return DASH_FLAKY;
    return n[DASH_FAILED] ? DASH_FAILED : n[DASH_PASSED] ? DASH_PASSED : DASH_UNKNOWN;
}

/* Appends the values of a measure, at most MEDIAN_RUNS, in the order of the runs. */
static uint32_t take_values(const struct dash_model *model, enum dash_measure measure,
                            bool from_tape, double *ret)
{
    uint32_t n = 0;
    for (size_t i = 0; i < model->runs.n && n < MEDIAN_RUNS; i++)
        if (model->runs.v[i].from_tape == from_tape && !isnan(model->runs.v[i].value[measure]))
            ret[n++] = model->runs.v[i].value[measure];
    return n;
}

struct dash_value dash_value(const struct dash_model *model, enum dash_measure measure)
{
    double sorted[MEDIAN_RUNS];
    struct dash_value ret = { 0, NAN, NAN, NAN };
    ret.n = take_values(model, measure, false, sorted);
    if (ret.n == 0)
        ret.n = take_values(model, measure, true, sorted);
    if (ret.n == 0)
        return ret;
    qsort(sorted, ret.n, sizeof *sorted, compare_double);
    ret.least = sorted[0];
    ret.greatest = sorted[ret.n - 1];
    ret.median = ret.n % 2 ? sorted[ret.n / 2] : (sorted[ret.n / 2 - 1] + sorted[ret.n / 2]) / 2;
    return ret;
}

double dash_run_value(const struct dash_model *model, enum dash_measure measure, uint32_t run)
{
    double values[MEDIAN_RUNS];
    uint32_t n = take_values(model, measure, false, values);
    if (n == 0)
        n = take_values(model, measure, true, values);
    return run < n ? values[run] : NAN;
}

/* The manual of dashboards: what the models of benchmark suites did at several points.
 *
 *     struct dash *dash = dash_new(&err);
 *     struct dash_point *point = dash_point_add(dash, STR("monday"), &err);
 *     result_file_read(dash, point, path, text, 0, &err);               see result_file.h
 *     dash_finish(dash);
 *     dash_view_make(dash, &options, &view, &err);                      see dash_view.h
 *     dash_free(dash);
 *
 * A *point* is a state of the software that was measured: a week, a commit. A *configuration* is a
 * suite, compiler, dtype, mode (training or inference) and device; each of them may be unknown,
 * which is "". A *model* of a configuration has one *run* for each row of a result file and each
 * tape; several rows or tapes are repeats. Its value of a measure is the median of its runs. */
#ifndef SYMTAPE_PROFILE_DASH_DASH_H
#define SYMTAPE_PROFILE_DASH_DASH_H

#include "trace/base/err.h"
#include "trace/base/intern.h"
#include "trace/base/vec.h"

enum dash_key { DASH_SUITE, DASH_COMPILER, DASH_DTYPE, DASH_MODE, DASH_DEVICE, DASH_KEYS };
const char *dash_key_name(enum dash_key key); /* "suite" ... */

enum dash_measure {
#define MEASURE(id, name, title, mean, better) DASH_##id,
#include "profile/dash/dash_measures.def"
#undef MEASURE
    DASH_MEASURES
};
enum dash_mean_kind { DASH_GEOMETRIC, DASH_ARITHMETIC };
struct dash_measure_row {
    const char *name, *title;
    enum dash_mean_kind mean;
    int better; /* +1: more is better, -1: less is */
};
const struct dash_measure_row *dash_measure_row(enum dash_measure measure);

/* Texts are ids of dash->texts. */
struct dash_config {
    uint32_t text[DASH_KEYS];
};

struct dash_run {
    uint32_t status;       /* "pass", "fail_accuracy" ...; INTERN_NONE if not known */
    uint32_t graph_breaks; /* UINT32_MAX if not known */
    bool from_tape;        /* counts where no result file says anything */
    bool ran, failed; /* it was measured, and had a speed-up or none; both false: not measured */
    double value[DASH_MEASURES]; /* NAN if not known */
};
struct dash_run dash_run_empty(void);

struct dash_model {
    uint32_t config; /* in dash->configs */
    uint32_t name;
    uint32_t tape; /* the path of its first tape; INTERN_NONE */
    vec_of(struct dash_run)
    runs;
};

/* Something that is known of a point: a commit, a version, a device, a setting. */
struct dash_fact {
    uint32_t key, value;
};

struct dash_point {
    struct str label; /* owned by the texts */
    uint32_t files, tapes;
    uint32_t defaults[DASH_KEYS]; /* what files do not say of their configuration */
    vec_of(struct dash_model)
    models; /* after dash_finish(): by configuration, then by name */
    struct hash_index index;
    vec_of(struct dash_fact)
    facts; /* in the order in which they were found, each pair once */
};

struct dash {
    struct intern texts;
    vec_of(struct dash_config)
    configs; /* after dash_finish(): sorted by their texts */
    struct hash_index config_index;
    vec_of(struct dash_point)
    points;
    uint32_t empty; /* the id of "" */
};

/* Each returns NULL, or false, with err set when memory ran out. */
struct dash *dash_new(struct err *err);
void dash_free(struct dash *dash); /* NULL is fine */
/* Valid until the next point is added. */
struct dash_point *dash_point_add(struct dash *dash, struct str label, struct err *err);
/* Finds or adds a model. It is valid until the next one is added. */
struct dash_model *dash_model_of(struct dash *dash, struct dash_point *point,
                                 const struct dash_config *config, struct str name,
                                 struct err *err);
bool dash_run_add(struct dash_model *model, const struct dash_run *run, struct err *err);
bool dash_fact_add(struct dash *dash, struct dash_point *point, struct str key, struct str value,
                   struct err *err);
/* Returns the configuration of a tape of which `config` is known: if one model of this name agrees
 * with it in each part that is known, and only one, that model's; else `config`. */
struct dash_config dash_config_of_tape(const struct dash *dash, const struct dash_point *point,
                                       const struct dash_config *config, struct str name);
/* Sorts configurations and models. Nothing is added afterwards. */
bool dash_finish(struct dash *dash, struct err *err);

static inline struct str dash_text(const struct dash *dash, uint32_t id)
{
    return id == INTERN_NONE ? STR("") : intern_text(&dash->texts, id);
}

/* ---- One model ---- */

/* How a model's runs ended. */
enum dash_outcome {
    DASH_UNKNOWN, /* nothing is known of it */
    DASH_PASSED,
    DASH_FAILED,
    DASH_FLAKY /* the statuses of its runs differ */
};
enum dash_outcome dash_outcome(const struct dash *dash, const struct dash_model *model);
/* Returns whether a status counts as passed: those that PyTorch's dashboard counts, and "compiled",
 * which a tape has. */
bool dash_status_passes(struct str status);

/* A measure over the runs of a model. */
struct dash_value {
    uint32_t n; /* runs that have it; 0: not known, and the rest is NAN */
    double median, least, greatest;
};
struct dash_value dash_value(const struct dash_model *model, enum dash_measure measure);
/* Returns the value of the run of that number among those that have one; NAN if there are fewer. */
double dash_run_value(const struct dash_model *model, enum dash_measure measure, uint32_t run);
/* The status of the model's runs that have one: all the same, else the first one. INTERN_NONE: no
 * run has one. */
uint32_t dash_status(const struct dash_model *model, bool *ret_differ);

#endif

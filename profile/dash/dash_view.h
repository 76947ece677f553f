/* What a dashboard shows: the means of each configuration at each point, and what changed between
 * two points.
 *
 * Means are those of the models that passed, or of which no outcome is known. Between two points
 * they are means over the models that both have a value of, so that a model that came or went
 * changes nothing. A change is judged when both sides were repeated: one that is no larger than the
 * spread of either is noise. */
#ifndef SYMTAPE_PROFILE_DASH_DASH_VIEW_H
#define SYMTAPE_PROFILE_DASH_DASH_VIEW_H

#include "profile/compare/compare.h"
#include "profile/dash/dash.h"

struct dash_mean {
    double value; /* NAN if n is 0 */
    uint32_t n;   /* models */
};

struct dash_summary {
    uint32_t judged, passed, flaky; /* models whose outcome is known, and of these */
    struct dash_mean mean[DASH_MEASURES];
};

/* A configuration at a point. */
struct dash_result {
    uint32_t config, point, models;
    struct dash_summary summary;
};

/* A configuration at two points. */
struct dash_change {
    uint32_t config, common, added, removed; /* models */
    struct dash_summary before, after;       /* of those in common */
    enum compare_verdict verdict[DASH_MEASURES];
};

enum dash_model_change_kind { DASH_ADDED, DASH_REMOVED, DASH_BROKE, DASH_MENDED, DASH_VARIES };
const char *dash_model_change_name(enum dash_model_change_kind kind);

/* A model that came, went, passes no longer, passes now, or is flaky at the last point. */
struct dash_model_change {
    enum dash_model_change_kind kind;
    uint32_t config, name;
    uint32_t before, after; /* statuses; INTERN_NONE */
};

/* A measure of a model, in a list of the slowest or of the most regressed. */
struct dash_model_row {
    uint32_t config, name;
    enum dash_measure measure;
    struct dash_value before, after; /* before.n is 0 where there is none */
    double
        worse; /* the factor by which it became worse; NAN without before, INFINITY from or to 0 */
    enum compare_verdict verdict;
    uint32_t before_tape, after_tape; /* paths; INTERN_NONE */
    struct str difference;            /* the first one of the tapes; "" */
    struct str page;                  /* the address of a page about the later tape; "" */
};

struct dash_view_options {
    uint32_t base;  /* the point that the last one is compared with */
    uint32_t limit; /* the length of the lists of models */
};

struct dash_view {
    const struct dash *dash;
    uint32_t base, last; /* equal if there is one point */
    vec_of(struct dash_result)
    results; /* by configuration, then by point */
    vec_of(struct dash_change)
    changes;
    vec_of(struct dash_model_change)
    models;
    vec_of(struct dash_model_row)
    slowest; /* at the last point: the least speed-up; without speed-ups the longest compile */
    vec_of(struct dash_model_row)
    regressed;          /* the greatest factor first; noise is left out */
    struct arena arena; /* of differences */
};

/* Makes the view of a finished dashboard with a point at least; borrows it. Returns false with err
 * set when memory ran out; dash_view_release() is required in both cases. */
bool dash_view_make(const struct dash *dash, const struct dash_view_options *options,
                    struct dash_view *ret, struct err *err);
void dash_view_release(struct dash_view *view);

/* The models of a configuration at a point: *ret_n of them. */
const struct dash_model *dash_models_of(const struct dash_point *point, uint32_t config,
                                        size_t *ret_n);

#endif

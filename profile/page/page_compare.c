#include "profile/compare/diff.h"
#include "profile/page/page.h"
#include "profile/page/page_parts.h"
#include "profile/ranks/divergence_report.h"
#include "profile/ranks/steps.h"

bool page_is_job(const struct profile *profile)
{
    for (uint32_t i = 0; i < profile->n_recordings; i++) {
        if (profile->recordings[i].rank < 0)
            return false;
        for (uint32_t k = 0; k < i; k++)
            if (profile->recordings[k].rank == profile->recordings[i].rank)
                return false;
    }
    return profile->n_recordings > 1;
}

/* Writes a whole document, without the line end behind it. */
static bool put_document(struct json_writer *w, const char *key, struct buf *text, struct err *err)
{
    bool ok = !text->failed || err_nomem(err);
    if (ok)
        json_put_raw(w, key, str_first(buf_str(text), text->n ? text->n - 1 : 0));
    buf_release(text);
    return ok;
}

/* ---- Tapes that are runs of a program ---- */

static struct snapshot *take(const struct profile *profile, uint32_t trace, struct err *err)
{
    struct trace *of = profile->traces[trace];
    return snapshot_take(of, NULL, str_basename(of->path), err);
}

static bool put_difference(const struct profile *profile, struct snapshot *first, uint32_t trace,
                           struct json_writer *w, struct err *err)
{
    static const struct compare_options OPTIONS = { .skip = { [CHANGE_SUPPRESSED] = true } };
    static const struct report_options ALL = { 0 };
    struct buf text = BUF_INIT;
    struct snapshot *other = take(profile, trace, err);
    const struct compare_side before = { first->name, &first, 1 },
                              after = { other ? other->name : STR(""), &other, 1 };
    struct compare *compare = other ? compare_build(&before, &after, &OPTIONS, err) : NULL;
    if (compare)
        diff_json(compare, &ALL, &text);
    bool ok = compare && put_document(w, NULL, &text, err);
    compare_free(compare);
    snapshot_free(other);
    return ok;
}

static bool put_differences(const struct profile *profile, struct json_writer *w, struct err *err)
{
    struct snapshot *first = take(profile, 0, err);
    bool ok = first != NULL;
    for (uint32_t i = 1; ok && i < profile->n_traces; i++)
        ok = put_difference(profile, first, i, w, err);
    snapshot_free(first);
    return ok;
}

/* ---- Tapes or recordings that are ranks of a job ---- */

static bool put_divergences(const struct profile *profile, struct job *job, struct json_writer *w,
                            struct err *err)
{
    struct divergences found = { 0 };
    struct buf text = BUF_INIT;
    bool ok = true;
    for (uint32_t i = 0; ok && i < profile->n_traces; i++)
        ok = job_add(job, profile->traces[i], err);
    ok = ok && job_finish(job, err) && steps_make(job, err) && divergences_find(&found, job, err);
    if (ok)
        divergences_json(&found, job, &text);
    ok = ok && put_document(w, "ranks", &text, err);
    divergences_release(&found);
    return ok;
}

static bool put_job(const struct profile *profile, struct json_writer *w, struct err *err)
{
    struct job *job = job_new(err);
    bool ok = job && put_divergences(profile, job, w, err);
    job_free(job);
    return ok;
}

bool page_compared_json(const struct profile *profile, struct json_writer *w, struct err *err)
{
    bool job = page_is_job(profile), ok = true;
    json_open_object(w, NULL);
    json_open_array(w, "differences");
    if (!job && profile->n_traces > 1)
        ok = put_differences(profile, w, err);
    json_close(w);
    if (!job)
        json_put_null(w, "ranks");
    else
        ok = ok && put_job(profile, w, err);
    json_close(w);
    return ok && (!w->out->failed || err_nomem(err));
}

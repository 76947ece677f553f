#include "profile/page/page_parts.h"
#include "profile/report/replay/replay_report.h"

/* What the replay counts by operator and pass stands in the profile already, and is left out. */
static const char *const KEPT[] = { "graphs", "totals",         "unsupported_ops", "mismatches",
                                    "guards", "contradictions", "violations" };

static bool put_kept(struct str json, const struct trace *trace, struct json_writer *w,
                     struct err *err)
{
    struct json doc = { 0 };
    bool ok = json_parse(&doc, json, err);
    if (ok) {
        json_open_object(w, NULL);
        json_put_str(w, "tape", trace->path);
        for (size_t i = 0; i < sizeof KEPT / sizeof *KEPT; i++) {
            json_id at = json_get(&doc, JSON_ROOT, str_of(KEPT[i]));
            if (at != JSON_NONE)
                json_put_raw(w, KEPT[i], json_text(&doc, at));
        }
        json_close(w);
    }
    json_release(&doc);
    return ok;
}

/* How long the replay took differs each time: without it, the pages of a tape are equal. */
static bool put_replay(struct trace *trace, const struct replay *replay, struct json_writer *w,
                       struct err *err)
{
    struct buf text = BUF_INIT;
    struct replay timeless = *replay;
    struct replay_report report = { .trace = trace,
                                    .list = trace_graphs(trace, err),
                                    .replay = &timeless };
    if (!report.list)
        return false;
    timeless.totals.ns = 0;
    timeless.graphs = calloc(replay->n_graphs + 1, sizeof *timeless.graphs);
    if (!timeless.graphs)
        return err_nomem(err);
    for (size_t i = 0; i < replay->n_graphs; i++) {
        timeless.graphs[i] = replay->graphs[i];
        timeless.graphs[i].counts.ns = 0;
    }
    replay_json(&report, &text);
    bool ok = text.failed ? err_nomem(err) : put_kept(buf_str(&text), trace, w, err);
    buf_release(&text);
    free(timeless.graphs);
    return ok;
}

bool page_replay_json(const struct profile *profile, struct json_writer *w, struct err *err)
{
    bool ok = true;
    json_open_array(w, "replay");
    for (uint32_t i = 0; ok && i < profile->n_traces; i++) {
        const struct replay *replay = profile_replay(profile, i);
        if (replay)
            ok = put_replay(profile->traces[i], replay, w, err);
    }
    json_close(w);
    return ok;
}

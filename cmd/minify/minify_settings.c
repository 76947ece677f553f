/* Options of PyTorch that a program sets: a failure may need them. A log has Inductor's
 * and AOTAutograd's in the metrics of each compile (record_compilation_metrics() of
 * torch/_dynamo/utils.py); PyTorch itself tells which of them differ from its own. */
#include "cmd/minify/minify.h"
#include "trace/base/text/json_write.h"
#include "trace/open.h"

/* Returns the last metrics of the selected compile, or else of any; TRACE_NONE if there are none.
 */
static uint32_t metrics_of(const struct trace *trace, const struct selector *selector)
{
    uint32_t last = TRACE_NONE;
    for (uint32_t i = trace->n_records; i-- > 0;) {
        const struct record *record = &trace->records[i];
        if (record->event != EVENT_COMPILATION_METRICS)
            continue;
        if (selector_has_recording(trace, selector, record->recording) &&
            selector_has_attempt(trace, selector, record->attempt))
            return i;
        last = last == TRACE_NONE ? i : last;
    }
    return last;
}

/* Prints the strings that metrics have of options. Returns false when memory ran out. */
static bool put_settings(struct minify_job *job, const struct json *doc, struct json_writer *w)
{
    static const char *const kinds[] = { "inductor_config", "functorch_config" };
    bool ok = true;
    json_open_object(w, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_id id = json_get(doc, JSON_ROOT, str_of(kinds[i]));
        if (json_kind_of(doc, id) != JSON_STRING)
            continue;
        struct str text = json_decoded(doc, id, &job->texts);
        ok = ok && text.p;
        json_put_str(w, kinds[i], text.p ? text : STR(""));
    }
    json_close(w);
    return ok;
}

bool minify_read_settings(struct minify_job *job, struct trace *trace,
                          const struct selector *selector, struct err *err)
{
    uint32_t record = job->has_settings ? TRACE_NONE : metrics_of(trace, selector);
    struct json doc = { 0 };
    struct buf text = BUF_INIT;
    struct err unreadable = { 0 };
    struct json_writer w = json_writer_of(&text);
    job->has_settings = true;
    if (record == TRACE_NONE || !record_json(trace, record, &doc, &unreadable)) {
        json_release(&doc);
        return unreadable.kind != ERR_ENV || err_nomem(err);
    }
    bool decoded = put_settings(job, &doc, &w);
    json_release(&doc);
    job->settings = arena_copy(&job->texts, buf_str(&text));
    bool ok = decoded && !text.failed && job->settings.p;
    buf_release(&text);
    return ok || err_nomem(err);
}

/* Adds the options to those of --config. */
static bool add_config(struct minify_job *job, struct str settings, struct err *err)
{
    struct buf text = BUF_INIT;
    if (job->chosen.config)
        buf_printf(&text, "%s,", job->chosen.config);
    buf_put(&text, settings);
    buf_putc(&text, '\0');
    struct str ret = arena_copy(&job->texts, buf_str(&text));
    bool ok = !text.failed && ret.p;
    buf_release(&text);
    if (ok)
        job->chosen.config = ret.p;
    return ok || err_nomem(err);
}

bool minify_find_settings(struct minify_job *job, bool *again, struct err *err)
{
    struct out *out = job->cmd->out;
    struct str set, other, shown;
    *again = false;
    if (!job->settings.n)
        return true;
    if (!oracle_torch_settings(job->torch_oracle, job->settings, &job->texts, &set, &other, err))
        return false;
    shown = set; /* PyTorch is given what the recording has */
    if (!minify_hide_text(job, &shown, err) || !minify_hide_text(job, &other, err))
        return false;
    job->settings = STR(""); /* what differs is known */
    if (other.n)
        out_note(out,
                 "the recording has options whose values differ from PyTorch's here and are not "
                 "proposed for --config: %.*s; a file of --import can set them",
                 STR_ARG(other));
    if (!set.n)
        return true;
    *again = job->program;
    out_note(
        out,
        job->program
            ? "it does not fail with PyTorch's own options; the program sets --config '%.*s'"
            : "the recording has options whose values differ from PyTorch's here, which may be "
              "why it does not fail: --config '%.*s' sets them",
        STR_ARG(shown));
    return !job->program || add_config(job, set, err);
}

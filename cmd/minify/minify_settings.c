/* Options of PyTorch that a program sets: a failure may need them. A log has Inductor's
 * and AOTAutograd's in the metrics of each compile (record_compilation_metrics() of
 * torch/_dynamo/utils.py); PyTorch itself tells which of them differ from its own. */
#include "cmd/minify/minify.h"
#include "trace/base/text/json_write.h"
#include "trace/open.h"

/* Returns the last metrics of a compile, or TRACE_NONE. */
static uint32_t last_metrics(const struct trace *trace)
{
    uint32_t i = trace->n_records;
    while (i-- > 0)
        if (trace->records[i].event == EVENT_COMPILATION_METRICS)
            return i;
    return TRACE_NONE;
}

bool minify_read_settings(struct minify_job *job, struct trace *trace, struct err *err)
{
    static const char *const kinds[] = { "inductor_config", "functorch_config" };
    uint32_t record = job->has_settings ? TRACE_NONE : last_metrics(trace);
    struct json doc = { 0 };
    struct buf text = BUF_INIT;
    struct err unreadable = { 0 };
    struct json_writer w = json_writer_of(&text);
    job->has_settings = true;
    if (record == TRACE_NONE || !record_json(trace, record, &doc, &unreadable)) {
        json_release(&doc);
        return unreadable.kind != ERR_ENV || err_nomem(err);
    }
    json_open_object(&w, NULL);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        json_id id = json_get(&doc, JSON_ROOT, str_of(kinds[i]));
        if (json_kind_of(&doc, id) == JSON_STRING)
            json_put_str(&w, kinds[i], json_decoded(&doc, id, &job->texts));
    }
    json_close(&w);
    json_release(&doc);
    job->settings = arena_copy(&job->texts, buf_str(&text));
    bool ok = !text.failed && job->settings.p;
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
    struct str set, other;
    *again = false;
    if (!job->settings.n)
        return true;
    if (!oracle_torch_settings(job->torch_oracle, job->settings, &job->texts, &set, &other, err) ||
        !minify_hide_text(job, &set, err) || !minify_hide_text(job, &other, err))
        return false;
    job->settings = STR(""); /* what differs is known */
    if (other.n)
        out_note(out,
                 "the recording has other values than PyTorch here of options that --config "
                 "cannot set: %.*s; a file of --import can",
                 STR_ARG(other));
    if (!set.n)
        return true;
    *again = job->program;
    out_note(out,
             job->program
                 ? "it does not fail with PyTorch's own options; the program sets --config '%.*s'"
                 : "the recording has other options than PyTorch here, which may be why it does "
                   "not fail: --config '%.*s' sets them",
             STR_ARG(set));
    return !job->program || add_config(job, set, err);
}

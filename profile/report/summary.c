/* Section: the beginning of a report, with its counts and the headlines. */
#include "profile/model/format.h"
#include "profile/model/headlines.h"
#include "profile/report/diagnosis_report.h"
#include "profile/report/section.h"

static void put_summary_line(void *user, struct str text)
{
    const struct report *r = user;
    buf_puts(r->out, "  * ");
    format_wrapped(r->out, text, r->options->width, 4, 4);
}

static void put_profile_counts(const struct profile *p, struct buf *text)
{
    uint64_t records = 0, graphs = 0, attempts = 0;
    for (uint32_t i = 0; i < p->n_recordings; i++) {
        records += p->recordings[i].n_records;
        graphs += p->recordings[i].n_graphs;
        attempts += p->recordings[i].n_attempts;
    }
    if (p->n_compiles > 0) {
        format_ns(text, p->compile_ns);
        buf_puts(text, " of compiling: ");
        format_plural(text, p->n_compiles, "compile");
        buf_puts(text, ", ");
        format_plural(text, attempts, "attempt");
        buf_puts(text, ", ");
        format_plural(text, graphs, "graph");
        buf_puts(text, ", ");
        format_plural(text, p->guards.by_kind[GUARD_EVAL], "guard");
        buf_puts(text, "; ");
    }
    format_plural(text, records, "record");
}

void report_counts(const struct profile *profile, const struct report_options *options,
                   struct buf *out)
{
    struct buf text = BUF_INIT;
    put_profile_counts(profile, &text);
    format_wrapped(out, buf_str(&text), options->width, 0, 0);
    out->failed |= text.failed;
    buf_release(&text);
}

static void text_profile_summary(struct report *r)
{
    report_counts(r->p, r->options, r->out);
    if (r->options->diagnosis)
        report_diagnosis_text(r->options->diagnosis, r->options, DIAGNOSIS_LINES, r->out);
    r->out->failed |= !headlines(r->p, put_summary_line, r);
}

static void put_element(void *user, struct str text)
{
    struct report *r = user;
    json_put_str(&r->w, NULL, text);
}

static void json_summary(struct report *r)
{
    json_put_i64(&r->w, "compile_ns", r->p->compile_ns);
    json_put_i64(&r->w, "restarted_ns", r->p->restarted_ns);
    json_open_array(&r->w, "headlines");
    r->out->failed |= !headlines(r->p, put_element, r);
    json_close(&r->w);
    if (r->options->diagnosis)
        report_diagnosis_json(r->options->diagnosis, &r->w, "diagnosis");
}

const struct section section_summary = { .text = text_profile_summary, .json = json_summary };

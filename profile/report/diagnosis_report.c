#include "profile/report/diagnosis_report.h"

#include "profile/model/format.h"
#include "trace/events/user_line.h"

/* ---- Text ---- */

enum {
    INDENT = 4,        /* of the lines of a finding */
    LABEL = 14,        /* columns of a label in front of a line */
    MOST_EVIDENCE = 2, /* of a finding, unless all is asked for */
    MOST_REMEDIES = 2,
};

struct diagnosis_text {
    const struct diagnosis *diagnosis;
    const struct report_options *options;
    bool all;
    struct buf *out; /* of one finding */
};

/* Appends a line "    label         text", wrapped to the width. */
static void put_labeled(const struct diagnosis_text *t, struct str label, enum style style,
                        struct str text)
{
    size_t columns = format_columns(label);
    size_t pad = columns < LABEL ? LABEL - columns : 2;
    format_spaces(t->out, INDENT);
    style_mark(t->options->styles, t->out, style);
    buf_put(t->out, label);
    style_mark(t->options->styles, t->out, STYLE_NONE);
    if (text.n == 0) {
        buf_putc(t->out, '\n');
        return;
    }
    format_spaces(t->out, pad);
    format_wrapped(t->out, text, t->options->width, INDENT + columns + pad, INDENT + LABEL);
}

static void put_finding_title(const struct diagnosis_text *t, uint32_t i)
{
    const struct finding *f = &t->diagnosis->findings[i];
    int64_t all = t->diagnosis->profile->compile_ns;
    style_mark(t->options->styles, t->out, STYLE_BOLD);
    buf_printf(t->out, "%2u  %s", i + 1, finding_kind_title(f->kind));
    if (f->count > 1) {
        buf_putc(t->out, ' ');
        format_count(t->out, f->count);
        buf_puts(t->out, " times");
    }
    if (f->ns > 0 && all > 0) {
        buf_puts(t->out, f->basis == BASIS_ESTIMATED ? ", an estimated " : ", ");
        format_ns(t->out, f->ns);
        buf_puts(t->out, " of ");
        format_ns(t->out, all);
    }
    style_mark(t->options->styles, t->out, STYLE_NONE);
    buf_putc(t->out, '\n');
}

/* The user's line with its code; without code on the tape, the function that begins there. */
static void put_user_line(const struct diagnosis_text *t, const struct finding *f)
{
    struct buf place = BUF_INIT, code = BUF_INIT;
    const struct profile *p = t->diagnosis->profile;
    const struct profile_compile *c = f->compile == PROFILE_NONE ? NULL : &p->compiles[f->compile];
    format_place(&place, f->file, f->line);
    format_text(&code, f->code, 0);
    if (code.n == 0 && c && c->line == f->line && c->function.n > 0 && str_eq(c->file, f->file)) {
        struct str name;
        buf_puts(&code, function_resumes(c->function, &name) ? "the rest of " : "the function ");
        format_text(&code, name, 0);
    }
    if (f->file.n > 0)
        put_labeled(t, buf_str(&place), STYLE_CYAN, buf_str(&code));
    t->out->failed |= place.failed || code.failed;
    buf_release(&place);
    buf_release(&code);
}

static void put_escaped(const struct diagnosis_text *t, const char *label, enum style style,
                        struct str text)
{
    struct buf line = BUF_INIT;
    format_text(&line, text, 0);
    if (label)
        put_labeled(t, str_of(label), style, buf_str(&line));
    else {
        format_spaces(t->out, INDENT);
        format_wrapped(t->out, buf_str(&line), t->options->width, INDENT, INDENT);
    }
    t->out->failed |= line.failed;
    buf_release(&line);
}

/* The lines of an exception's message. */
static void put_message(const struct diagnosis_text *t, const struct finding *f)
{
    struct str rest = f->message;
    for (bool first = true; rest.n > 0; first = false) {
        size_t end = str_find_char(rest, '\n');
        put_escaped(t, first ? "message" : "", STYLE_DIM, str_first(rest, end));
        rest = str_from(rest, end + 1);
    }
}

static void put_remedy(const struct diagnosis_text *t, const struct remedy *remedy, bool first)
{
    put_escaped(t,
                remedy->proof ? "proved"
                : first       ? "suggested"
                              : "or",
                STYLE_GREEN, remedy->text);
    if (remedy->proof)
        put_escaped(t, "saves", STYLE_NONE, remedy->proof->text);
}

static void put_finding(const struct diagnosis_text *t, uint32_t i)
{
    const struct finding *f = &t->diagnosis->findings[i];
    put_finding_title(t, i);
    put_escaped(t, NULL, STYLE_NONE, f->cause);
    put_user_line(t, f);
    for (uint32_t k = 0; k < f->n_evidence && (t->all || k < MOST_EVIDENCE); k++)
        put_escaped(t, "recorded", STYLE_DIM, f->evidence[k]);
    if (t->all)
        put_message(t, f);
    for (uint32_t k = 0; k < f->n_remedies; k++)
        if (t->all || k < MOST_REMEDIES || f->remedies[k].proof)
            put_remedy(t, &f->remedies[k], k == 0);
}

static unsigned count_lines(struct str text)
{
    unsigned n = 0;
    for (size_t i = 0; i < text.n; i++)
        n += text.p[i] == '\n';
    return n;
}

void report_diagnosis_text(const struct diagnosis *diagnosis, const struct report_options *options,
                           unsigned lines, struct buf *out)
{
    struct diagnosis_text t = { diagnosis, options, lines == 0, out };
    unsigned used = 0;
    uint32_t i = 0;
    if (diagnosis->n_findings == 0)
        buf_puts(out, "No failure, recompile, restart, graph break or costly line was found.\n");
    for (; i < diagnosis->n_findings; i++) {
        size_t before = out->n;
        put_finding(&t, i);
        unsigned n = count_lines(str_from(buf_str(out), before));
        unsigned last = i + 1 < diagnosis->n_findings; /* the line "... and 3 more" */
        if (lines > 0 && i > 0 && used + n + last > lines) {
            out->n = before;
            break;
        }
        used += n;
    }
    if (i < diagnosis->n_findings)
        buf_printf(out, "    ... and %u more (--all)\n", diagnosis->n_findings - i);
}

/* ---- JSON ---- */

static void json_seconds(struct json_writer *w, const char *key, int64_t ns)
{
    if (ns < 0)
        json_put_null(w, key);
    else
        json_put_double(w, key, (double)ns / 1e9);
}

static void json_optional(struct json_writer *w, const char *key, struct str text)
{
    if (text.n == 0)
        json_put_null(w, key);
    else
        json_put_str(w, key, text);
}

static void json_line(struct json_writer *w, const struct finding *f)
{
    if (f->file.n == 0) {
        json_put_null(w, "line");
        return;
    }
    json_open_object(w, "line");
    json_put_str(w, "file", f->file);
    json_put_u64(w, "line", f->line);
    json_put_str(w, "code", f->code);
    json_close(w);
}

void report_saves_json(const struct remedy_proof *proof, struct json_writer *w)
{
    if (!proof) {
        json_put_null(w, "saves");
        return;
    }
    json_open_object(w, "saves");
    json_put_i64(w, "compiles", proof->compiles);
    json_put_i64(w, "attempts", proof->attempts);
    json_put_i64(w, "breaks", proof->breaks);
    json_put_i64(w, "failures", proof->failures);
    json_put_i64(w, "eager", proof->eager);
    json_put_i64(w, "guards", proof->guards);
    if (proof->dispatches_known)
        json_put_i64(w, "dispatches", proof->dispatches);
    else
        json_put_null(w, "dispatches");
    json_put_double(w, "seconds", proof->seconds);
    json_close(w);
}

static void json_remedies(struct json_writer *w, const struct finding *f)
{
    json_open_array(w, "remedies");
    for (uint32_t i = 0; i < f->n_remedies; i++) {
        json_open_object(w, NULL);
        json_put_cstr(w, "kind", remedy_kind_name(f->remedies[i].kind));
        json_put_str(w, "text", f->remedies[i].text);
        json_put_bool(w, "proved", f->remedies[i].proof != NULL);
        report_saves_json(f->remedies[i].proof, w);
        json_close(w);
    }
    json_close(w);
}

static void json_finding(struct json_writer *w, const struct diagnosis *d, const struct finding *f)
{
    const struct profile *p = d->profile;
    json_open_object(w, NULL);
    json_put_cstr(w, "kind", finding_kind_name(f->kind));
    json_put_cstr(w, "detail", finding_detail(f->kind));
    json_put_bool(w, "ended_program", f->ended_program);
    json_put_u64(w, "count", f->count);
    json_seconds(w, "seconds", f->ns);
    if (f->ns < 0 || p->compile_ns <= 0)
        json_put_null(w, "share");
    else
        json_put_double(w, "share", (double)f->ns / (double)p->compile_ns);
    json_put_cstr(w, "basis", basis_name(f->basis));
    json_put_str(w, "cause", f->cause);
    json_optional(w, "source", f->source);
    json_optional(w, "message", f->message);
    json_line(w, f);
    json_optional(w, "compile", f->compile == PROFILE_NONE ? STR("") : p->compiles[f->compile].id);
    json_optional(w, "recording",
                  f->recording == PROFILE_NONE ? STR("") : p->recordings[f->recording].name);
    json_open_array(w, "evidence");
    for (uint32_t i = 0; i < f->n_evidence; i++)
        json_put_str(w, NULL, f->evidence[i]);
    json_close(w);
    json_remedies(w, f);
    json_close(w);
}

void report_diagnosis_json(const struct diagnosis *diagnosis, struct json_writer *w,
                           const char *key)
{
    json_open_object(w, key);
    json_put_cstr(w, "schema", "symtape.diagnosis/1");
    json_seconds(w, "seconds", diagnosis->profile->compile_ns);
    json_open_array(w, "findings");
    for (uint32_t i = 0; i < diagnosis->n_findings; i++)
        json_finding(w, diagnosis, &diagnosis->findings[i]);
    json_close(w);
    json_close(w);
}

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "cmd/minify/minify.h"
#include "minify/candidate/candidate_tape.h"
#include "minify/issue.h"
#include "minify/program/python_text.h"
#include "trace/base/clock.h"

enum { ASIDES_MAX = 20 };

static bool save_tape(struct minify_job *job, const struct candidate *best, struct err *err)
{
    struct buf tape = BUF_INIT;
    bool good = candidate_tape(best, &tape, err) && file_write(job->tape, buf_str(&tape), err);
    buf_release(&tape);
    job->saved |= good;
    return good;
}

bool minify_save(void *user, const struct candidate *best, struct err *err)
{
    struct minify_job *job = user;
    return strcmp(job->tape, "-") == 0 /* once, at the end */ || save_tape(job, best, err);
}

/* Candidates that fail differently may show another bug: the first few are kept. */
void minify_aside(void *user, const struct candidate *candidate, const struct answer *answer)
{
    struct minify_job *job = user;
    struct cand_hash hash = candidate_hash(candidate);
    struct buf text = BUF_INIT;
    char *path;
    if (job->asides >= ASIDES_MAX || (mkdir(job->aside, 0777) != 0 && errno != EEXIST) ||
        asprintf(&path, "%s/%016" PRIx64 ".fx", job->aside, hash.high) < 0)
        return;
    struct buf why = BUF_INIT;
    buf_puts(&why, "fails differently: ");
    for (size_t i = 0; i < answer->text.n; i++)
        buf_putc(&why, answer->text.p[i] == '\n' ? ' ' : answer->text.p[i]);
    python_put_comment(&text, buf_str(&why));
    text.failed |= why.failed;
    buf_release(&why);
    struct err ignored = { 0 };
    if (candidate_print_fx(candidate, &text) && file_write(path, buf_str(&text), &ignored))
        job->asides++;
    buf_release(&text);
    free(path);
}

bool minify_print_py(void *user, const struct candidate *candidate, struct buf *out)
{
    const struct minify_job *job = user;
    struct repro_notes notes = { 0 };
    return repro_print(candidate, &job->repro, &notes, out);
}

static bool write_fx_file(const struct minify_job *job, struct err *err)
{
    struct buf text = BUF_INIT;
    bool good = (candidate_print_fx(job->result.best, &text) || err_nomem(err)) &&
                file_write(job->args->fx, buf_str(&text), err);
    buf_release(&text);
    return good;
}

void minify_note_renamed(struct out *out, const char *file, const struct repro_notes *notes)
{
    if (notes->renamed == 1)
        out_note(out, "%s: a recorded name is not valid in Python; it is now %s", file,
                 notes->first_renamed);
    else if (notes->renamed)
        out_note(out,
                 "%s: %u recorded names are not valid in Python and were replaced; the first is "
                 "now %s",
                 file, (unsigned)notes->renamed, notes->first_renamed);
}

/* Prints the repro as it will be written; the message that the oracle saw is the one that it
 * expects. */
static bool print_repro(const struct minify_job *job, bool plain, struct repro_notes *notes,
                        struct buf *text, struct err *err)
{
    struct repro_what what = job->repro;
    what.plain = plain;
    if (what.check == REPRO_RAISES && !what.message.n)
        what.message = job->result.first.text;
    return repro_print(job->result.best, &what, notes, text) || err_nomem(err);
}

static bool hide_last(struct minify_job *job, struct err *err)
{
    char *last = job->verified.last;
    struct str text = str_of(last);
    bool ok = minify_hide_text(job, &text, err);
    if (ok && text.p != last)
        snprintf(last, sizeof job->verified.last, "%.*s", STR_ARG(text));
    return ok;
}

/* Runs the repro once before the command reports that it reproduces the failure. */
static bool verify(struct minify_job *job, struct err *err)
{
    enum { TIMES = 1 };
    out_progress(job->cmd->out, "%s: running it in a fresh Python process", job->args->repro);
    job->is_verified = minify_choose_python(job, err);
    if (job->is_verified) {
        minify_note_python(job, job->args->repro);
        job->is_verified =
            repro_verify(job->args->repro, &job->python, &job->repro.setup, TIMES,
                         job->options.timeout, job->options.stop, &job->verified, err);
    }
    out_progress_end(job->cmd->out);
    if (job->is_verified && !hide_last(job, err))
        return false;
    if (!job->is_verified && err->kind == ERR_INTERRUPTED) {
        *err = (struct err){ 0 };
        return true;
    }
    return job->is_verified;
}

static bool write_repro(struct minify_job *job, struct err *err)
{
    struct buf text = BUF_INIT;
    struct repro_notes notes = { 0 };
    bool good = print_repro(job, false, &notes, &text, err) &&
                file_write(job->args->repro, buf_str(&text), err);
    buf_release(&text);
    if (good)
        minify_note_renamed(job->cmd->out, job->args->repro, &notes);
    if (good && notes.cannot[0])
        out_note(job->cmd->out, "%s: PyTorch alone cannot run it: %s", job->args->repro,
                 notes.cannot);
    else if (good && job->result.end == MINIFY_DONE)
        good = verify(job, err);
    return good;
}

/* "--check ./fails.sh", "--torch-oracle compile --torch-backend inductor --import patch.py" */
static void put_oracle_option(const struct minify_job *job, struct buf *out)
{
    const struct minify_args *args = job->args;
    const char *check = args->check && args->anonymize ? "CMD" : args->check;
    const char *import = args->import && args->anonymize ? "FILE" : args->import;
    const struct {
        const char *option, *value;
    } oracles[] = { { "--check", check },
                    { "--torch-oracle", args->torch },
                    { "--guard", args->guard },
                    { "--specializes", args->specializes },
                    { "--cost", args->cost },
                    { "--has-ops", args->has_ops },
                    { "--backend-mismatch", args->mismatch },
                    { "--error", args->error ? job->error.p : NULL },
                    { "--torch-backend", args->backend },
                    { "--import", import },
                    { "--env", args->env },
                    { "--config", args->config },
                    { "--values", args->values } };
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++)
        if (oracles[i].value && strpbrk(oracles[i].value, " ()[]*;|&<>\"$"))
            buf_printf(out, "%s%s '%s'", out->n ? " " : "", oracles[i].option, oracles[i].value);
        else if (oracles[i].value)
            buf_printf(out, "%s%s %s", out->n ? " " : "", oracles[i].option, oracles[i].value);
    buf_puts(out, args->tf32 ? " --tf32" : "");
    buf_puts(out, args->cpu ? " --cpu" : "");
}

static struct issue_size size_in_report(const struct candidate *candidate)
{
    return (struct issue_size){ graph_counts(candidate->graph).calls, candidate->n_symbols,
                                candidate->n_guards };
}

static bool write_issue(const struct minify_job *job, struct err *err)
{
    struct buf repro = BUF_INIT, oracle = BUF_INIT, machine = BUF_INIT, text = BUF_INIT;
    struct buf compiler = BUF_INIT;
    struct repro_notes notes = { 0 };
    put_oracle_option(job, &oracle);
    if (job->has_bisected && job->bisected.found)
        minify_put_bisected(job, &compiler);
    bool good = print_repro(job, true, &notes, &repro, err);
    struct utsname system;
    if (uname(&system) == 0)
        buf_printf(&machine, "%s %s", system.sysname, system.machine);
    const struct issue issue = { .best = job->result.best,
                                 .before = size_in_report(job->whole),
                                 .after = size_in_report(job->result.best),
                                 .machine = buf_str(&machine),
                                 .result = &job->result,
                                 .repro = buf_str(&repro),
                                 .cannot = notes.cannot,
                                 .oracle = buf_str(&oracle),
                                 .eager = job->torch.eager,
                                 .compiler = buf_str(&compiler),
                                 .verified = job->is_verified && job->repro.check != REPRO_RUNS
                                                 ? &job->verified
                                                 : NULL,
                                 .whys = job->has_whys ? &job->whys : NULL,
                                 .symtape_version = SYMTAPE_VERSION };
    good = good && (issue_print(&issue, &text) || err_nomem(err)) &&
           file_write(job->args->issue, buf_str(&text), err);
    buf_release(&repro);
    buf_release(&oracle);
    buf_release(&machine);
    buf_release(&compiler);
    buf_release(&text);
    return good;
}

/* Returns what --deadline and --max-calls leave of the search. */
static struct why_limits whys_limits(const struct minify_job *job)
{
    const struct minify_options *options = &job->options;
    const struct minify_result *result = &job->result;
    double left = options->deadline - result->seconds;
    return (struct why_limits){ .timeout = options->timeout,
                                .until = options->deadline > 0 ? clock_seconds() + left : 0,
                                .most = options->max_calls ? options->max_calls - result->spent : 0,
                                .cancel = options->stop };
}

bool minify_find_whys(struct minify_job *job, struct err *err)
{
    const struct minify_options *options = &job->options;
    bool shown = job->oracle->cheap || job->args->issue;
    bool spent = options->max_calls && job->result.spent >= options->max_calls;
    if (job->result.end != MINIFY_DONE || !(shown || job->args->good) || spent)
        return true;
    const struct why_limits limits = whys_limits(job);
    out_progress(job->cmd->out, "checking why each part is needed");
    bool good = why_find(job->result.best, job->oracle, &limits, &job->whys, err);
    out_progress_end(job->cmd->out);
    job->has_whys = good;
    return good;
}

/* Prints the nearest graph that does not fail, after a comment that names the difference. */
static bool print_good(const struct minify_job *job, const struct candidate *good, struct buf *text,
                       struct err *err)
{
    const char *file = job->args->good;
    const struct why *why = &job->whys.list.v[job->whys.good_at];
    struct repro_notes notes = { 0 };
    size_t n = strlen(file);
    struct buf head = BUF_INIT;
    buf_printf(&head, "does not fail: %.*s, %.*s", STR_ARG(why->element), STR_ARG(why->taken));
    python_put_comment(text, buf_str(&head));
    text->failed |= head.failed;
    buf_release(&head);
    if (n > 3 && strcmp(file + n - 3, ".py") == 0)
        repro_print(good, &job->repro, &notes, text);
    else
        candidate_print_fx(good, text);
    if (notes.cannot[0])
        out_note(job->cmd->out, "%s: PyTorch alone cannot run it: %s", file, notes.cannot);
    return !text->failed || err_nomem(err);
}

static bool write_good(struct minify_job *job, struct err *err)
{
    struct buf text = BUF_INIT;
    if (!job->whys.good)
        return true;
    bool ok = print_good(job, job->whys.good, &text, err) &&
              file_write(job->args->good, buf_str(&text), err);
    job->has_good = ok;
    buf_release(&text);
    return ok;
}

bool minify_has_result(const struct minify_job *job)
{
    return job->saved || strcmp(job->tape, "-") == 0;
}

bool minify_write_files(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    if (!minify_has_result(job))
        return true;
    return (strcmp(job->tape, "-") != 0 || save_tape(job, job->result.best, err)) &&
           (!args->fx || write_fx_file(job, err)) && (!args->repro || write_repro(job, err)) &&
           (!args->good || write_good(job, err)) && (!args->issue || write_issue(job, err));
}

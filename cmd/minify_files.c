#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "cmd/minify.h"
#include "minify/candidate_tape.h"
#include "minify/issue.h"

enum { ASIDES_MAX = 20 };

static bool save_tape(struct minify_job *job, const struct candidate *best, struct err *err)
{
    struct buf tape = BUF_INIT;
    bool good = candidate_tape(best, &tape, err) && file_write(job->tape, buf_str(&tape), err);
    buf_release(&tape);
    job->saved |= good;
    return good;
}

/* *ret: the candidate as it leaves the house; what is returned is to be freed. */
static struct candidate *outgoing(const struct minify_job *job, const struct candidate *candidate,
                                  const struct candidate **ret, struct err *err)
{
    struct candidate *anonymous = job->args->anonymize ? candidate_anonymize(candidate, err) : NULL;
    *ret = job->args->anonymize ? anonymous : candidate;
    return anonymous;
}

bool minify_save(void *user, const struct candidate *best, struct err *err)
{
    struct minify_job *job = user;
    const struct candidate *out;
    if (strcmp(job->tape, "-") == 0) /* once, at the end */
        return true;
    struct candidate *anonymous = outgoing(job, best, &out, err);
    bool good = out && save_tape(job, out, err);
    candidate_free(anonymous);
    return good;
}

/* Candidates that fail otherwise may be another bug: the first few are kept. */
void minify_aside(void *user, const struct candidate *candidate, const struct answer *answer)
{
    struct minify_job *job = user;
    struct cand_hash hash = candidate_hash(candidate);
    struct buf text = BUF_INIT;
    char *path;
    if (job->asides >= ASIDES_MAX || (mkdir(job->aside, 0777) != 0 && errno != EEXIST) ||
        asprintf(&path, "%s/%016" PRIx64 ".fx", job->aside, hash.high) < 0)
        return;
    buf_puts(&text, "# fails otherwise: ");
    for (size_t i = 0; i < answer->text.n; i++)
        buf_putc(&text, answer->text.p[i] == '\n' ? ' ' : answer->text.p[i]);
    buf_putc(&text, '\n');
    struct err ignored = { 0 };
    const struct candidate *out;
    struct candidate *anonymous = outgoing(job, candidate, &out, &ignored);
    if (out && candidate_print_fx(out, &text) && file_write(path, buf_str(&text), &ignored))
        job->asides++;
    candidate_free(anonymous);
    buf_release(&text);
    free(path);
}

bool minify_print_py(void *user, const struct candidate *candidate, struct buf *out)
{
    const struct minify_job *job = user;
    struct repro_notes notes = { 0 };
    return repro_print(candidate, &job->repro, &notes, out);
}

const struct candidate *minify_best(const struct minify_job *job)
{
    return job->anonymous ? job->anonymous : job->result.best;
}

static bool write_fx(const struct minify_job *job, const struct candidate *best, struct err *err)
{
    struct buf text = BUF_INIT;
    bool good = (candidate_print_fx(best, &text) || err_nomem(err)) &&
                file_write(job->args->fx, buf_str(&text), err);
    buf_release(&text);
    return good;
}

/* The repro as it is to be written: what the oracle saw is what it raises. */
static bool print_repro(const struct minify_job *job, struct repro_notes *notes, struct buf *text,
                        struct err *err)
{
    struct repro_what what = job->repro;
    if (what.check == REPRO_RAISES && !what.message.n)
        what.message = job->result.first.text;
    return repro_print(minify_best(job), &what, notes, text) || err_nomem(err);
}

/* Whether it shows what it says is asked before anybody is told so. */
static bool verify(struct minify_job *job, struct err *err)
{
    enum { TIMES = 1 };
    out_progress(job->cmd->out, "%s: asking a fresh PyTorch", job->args->repro);
    job->is_verified = repro_verify(job->args->repro, TIMES, job->options.timeout,
                                    job->options.stop, &job->verified, err);
    out_progress_end(job->cmd->out);
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
    bool good =
        print_repro(job, &notes, &text, err) && file_write(job->args->repro, buf_str(&text), err);
    buf_release(&text);
    if (good && notes.cannot[0])
        out_note(job->cmd->out, "%s: PyTorch alone cannot run it: %s", job->args->repro,
                 notes.cannot);
    else if (good && job->result.end == MINIFY_DONE)
        good = verify(job, err);
    return good;
}

/* "--check ./fails.sh" */
static void put_oracle(const struct minify_args *args, struct buf *out)
{
    const struct {
        const char *option, *value;
    } oracles[] = { { "--check", args->check },  { "--torch-oracle", args->torch },
                    { "--guard", args->guard },  { "--specializes", args->specializes },
                    { "--cost", args->cost },    { "--check-ops", args->ops },
                    { "--backend-mismatch", args->mismatch },
                    { "--expect", args->expect } };
    for (size_t i = 0; i < sizeof oracles / sizeof *oracles; i++)
        if (oracles[i].value && strpbrk(oracles[i].value, " ()[]*;|&<>\"$"))
            buf_printf(out, "%s '%s'", oracles[i].option, oracles[i].value);
        else if (oracles[i].value)
            buf_printf(out, "%s %s", oracles[i].option, oracles[i].value);
    if (args->tf32)
        buf_puts(out, " --tf32");
    if (out->n == 0)
        buf_puts(out, "symtape replay");
}

static bool write_issue(const struct minify_job *job, struct err *err)
{
    struct buf repro = BUF_INIT, oracle = BUF_INIT, text = BUF_INIT;
    struct repro_notes notes = { 0 };
    put_oracle(job->args, &oracle);
    bool good = print_repro(job, &notes, &repro, err);
    const struct issue issue = { .best = minify_best(job),
                                 .result = &job->result,
                                 .repro = buf_str(&repro),
                                 .cannot = notes.cannot,
                                 .oracle = buf_str(&oracle),
                                 .eager = job->torch.eager,
                                 .verified = job->is_verified && job->repro.check != REPRO_RUNS
                                                 ? &job->verified
                                                 : NULL,
                                 .whys = job->has_whys ? &job->whys : NULL,
                                 .symtape_version = SYMTAPE_VERSION };
    good = good && (issue_print(&issue, &text) || err_nomem(err)) &&
           file_write(job->args->issue, buf_str(&text), err);
    buf_release(&repro);
    buf_release(&oracle);
    buf_release(&text);
    return good;
}

bool minify_find_whys(struct minify_job *job, struct err *err)
{
    bool shown = !job->args->anonymize && (job->oracle->cheap || job->args->issue);
    if (job->result.end != MINIFY_DONE || !(shown || job->args->good))
        return true;
    out_progress(job->cmd->out, "asking what each part is there for");
    bool good = why_find(job->result.best, job->oracle, job->options.timeout, job->options.stop,
                         &job->whys, err);
    out_progress_end(job->cmd->out);
    job->has_whys = good && !job->args->anonymize;
    return good;
}

/* The neighbour, and in front of it what makes the difference. */
static bool print_good(const struct minify_job *job, const struct candidate *good, struct buf *text,
                       struct err *err)
{
    const char *file = job->args->good;
    const struct why *why = &job->whys.list.v[job->whys.good_at];
    struct repro_notes notes = { 0 };
    size_t n = strlen(file);
    if (job->args->anonymize)
        buf_puts(text, "# does not fail\n");
    else
        buf_printf(text, "# does not fail: %.*s, %.*s\n", STR_ARG(why->element),
                   STR_ARG(why->taken));
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
    const struct candidate *good;
    if (!job->whys.good)
        return true;
    struct candidate *anonymous = outgoing(job, job->whys.good, &good, err);
    bool ok = good && print_good(job, good, &text, err) &&
              file_write(job->args->good, buf_str(&text), err);
    job->has_good = ok;
    candidate_free(anonymous);
    buf_release(&text);
    return ok;
}

bool minify_write_files(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    if (args->anonymize && !(job->anonymous = candidate_anonymize(job->result.best, err)))
        return false;
    const struct candidate *best = minify_best(job);
    return (strcmp(job->tape, "-") != 0 || save_tape(job, best, err)) &&
           (!args->fx || write_fx(job, best, err)) && (!args->repro || write_repro(job, err)) &&
           (!args->good || write_good(job, err)) && (!args->issue || write_issue(job, err));
}

#include <pwd.h>
#include <unistd.h>

#include "cmd/minify/minify.h"

static void find_known_secrets(struct minify_job *job)
{
    const struct passwd *user = getpwuid(getuid());
    (void)gethostname(job->host, sizeof job->host - 1);
    job->known = (struct redact_known){ .environment = (const char *const *)environ,
                                        .user = user ? user->pw_name : NULL,
                                        .host = job->host };
}

/* Names in the regular expression of --error are replaced as they are in the candidate. */
static bool hide_error(struct minify_job *job, struct err *err)
{
    struct buf text = BUF_INIT;
    cand_aliases_apply(&job->aliases, job->error, &text);
    job->error = arena_copy(&job->texts, buf_str(&text));
    bool ok = !text.failed && job->error.p;
    buf_release(&text);
    return ok || err_nomem(err);
}

bool minify_hide_input(struct minify_job *job, struct err *err)
{
    job->error = str_of(job->args->error ? job->args->error : "");
    if (!job->args->anonymize)
        return true;
    find_known_secrets(job);
    struct candidate *hidden = candidate_anonymize(job->whole, &job->aliases, err);
    candidate_free(job->whole);
    job->whole = hidden;
    return hidden && hide_error(job, err);
}

bool minify_hide_text(struct minify_job *job, struct str *text, struct err *err)
{
    return !job->args->anonymize || oracle_hide_text(&job->known, *text, &job->texts, text, err);
}

bool minify_hide_oracle(struct minify_job *job, struct err *err)
{
    if (!job->args->anonymize)
        return true;
    job->oracle = oracle_hidden(job->oracle, &job->known, err);
    return job->oracle && minify_hide_text(job, &job->repro.exception, err) &&
           minify_hide_text(job, &job->repro.message, err) &&
           minify_hide_text(job, &job->repro.title, err);
}

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/cli/nearest.h"
#include "cmd/minify/minify.h"

enum { JOBS_MAX = 1024, REPEAT_MAX = 1000, PASSES_MAX = 64 };

bool minify_read_seconds(const char *option, const char *text, double *ret, struct err *err)
{
    char *end;
    double seconds = strtod(text, &end);
    double unit = *end == 'h' ? 3600 : *end == 'm' ? 60 : 1;
    bool good = end != text && isfinite(seconds) && seconds > 0 && seconds * unit < 1e9 &&
                (*end == '\0' || (strchr("smh", *end) && end[1] == '\0'));
    if (!good)
        return err_set(err, ERR_USAGE, "%s: \"%s\" is not a time, as in 90, 90s, 15m or 2h", option,
                       text);
    *ret = seconds * unit;
    return true;
}

static bool in_range(const struct opt_number *number, const char *option, uint64_t most,
                     uint32_t otherwise, uint32_t *ret, struct err *err)
{
    if (number->given && (number->value == 0 || number->value > most))
        return err_set(err, ERR_USAGE, "%s must be from 1 to %llu", option,
                       (unsigned long long)most);
    *ret = number->given ? (uint32_t)number->value : otherwise;
    return true;
}

static bool is_pass(struct str name)
{
    for (size_t i = 0; i < n_passes; i++)
        if (str_is(name, passes[i].name))
            return true;
    return false;
}

static bool read_passes(struct minify_job *job, struct err *err)
{
    struct str rest = str_of(job->args->passes ? job->args->passes : "");
    struct str *names = rest.n ? calloc(PASSES_MAX, sizeof *names) : NULL;
    uint32_t n = 0;
    if (rest.n && !names)
        return err_nomem(err);
    job->options.passes = names;
    while (rest.n) {
        struct str name = str_trim(str_first(rest, str_find_char(rest, ',')));
        rest = str_from(rest, str_find_char(rest, ',') + 1);
        if (n == PASSES_MAX)
            return err_set(err, ERR_USAGE, "--passes takes at most %d names", PASSES_MAX);
        if (!is_pass(name)) {
            char hint[NEAREST_TEXT];
            struct nearest search = nearest_of(name);
            for (size_t i = 0; i < n_passes; i++)
                nearest_offer(&search, str_of(passes[i].name));
            return err_set(err, ERR_USAGE,
                           "--passes: there is no pass \"%.*s\"; --list-passes "
                           "lists them%s",
                           STR_ARG(name), nearest_text(&search, hint));
        }
        names[n++] = name;
    }
    job->options.n_passes = n;
    return true;
}

static bool has_journal(const struct minify_job *job)
{
    return job->journal && access(job->journal, F_OK) == 0;
}

static bool place_files(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    job->tape = args->output ? args->output : MINIFY_TAPE;
    bool to_file = strcmp(job->tape, "-") != 0;
    if (!to_file && args->json)
        return err_set(err, ERR_USAGE, "-o - and --json both write to standard output");
    if (args->journal)
        job->journal = strdup(args->journal);
    else if (to_file && asprintf(&job->journal, "%s.journal", job->tape) < 0)
        job->journal = NULL;
    if (asprintf(&job->aside, "%s.also-interesting", to_file ? job->tape : MINIFY_TAPE) < 0)
        job->aside = NULL;
    if (((args->journal || to_file) && !job->journal) || !job->aside)
        return err_nomem(err);
    if (args->resume && !job->journal)
        return err_set(err, ERR_USAGE,
                       "--resume needs a journal, and -o - has none unless "
                       "--journal names it");
    if (args->resume && !has_journal(job))
        out_note(job->cmd->out,
                 "%s: there is no such journal to resume from; the search starts "
                 "from the beginning",
                 job->journal);
    return true;
}

/* A folder that cannot be written is an error before the search and not after it. */
static bool check_output_folder(const char *path, struct err *err)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    if (!folder)
        return err_nomem(err);
    bool good = access(folder, W_OK | X_OK) == 0 || err_errno(err, "%s", path);
    free(folder);
    return good;
}

/* Files that an earlier run left beside its journal may be replaced. */
bool minify_check_files(const struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    const char *const files[] = { job->tape, args->fx, args->repro, args->issue, args->good };
    bool ours = has_journal(job) || minify_only_costs(args); /* which writes nothing */
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        bool may = !files[i] || strcmp(files[i], "-") == 0 || args->overwrite || ours ||
                   access(files[i], F_OK) != 0;
        if (files[i] && strcmp(files[i], "-") != 0 && !check_output_folder(files[i], err))
            return false;
        if (!may)
            return err_set(err, ERR_USAGE, "%s exists already; --overwrite replaces it", files[i]);
    }
    return true;
}

bool minify_read_options(struct minify_job *job, struct err *err)
{
    const struct minify_args *args = job->args;
    struct minify_options *options = &job->options;
    *options = MINIFY_OPTIONS_DEFAULT;
    options->max_calls = args->max_calls.given ? args->max_calls.value : 0;
    if (args->resume && args->overwrite_journal)
        return err_set(err, ERR_USAGE, "--resume and --overwrite-journal exclude each other");
    options->journal_mode = args->overwrite_journal ? JOURNAL_REPLACE : JOURNAL_USE;
    return in_range(&args->jobs, "--jobs", JOBS_MAX, 1, &options->jobs, err) &&
           in_range(&args->repeat, "--repeat", REPEAT_MAX, 1, &options->repeat, err) &&
           (!args->timeout ||
            minify_read_seconds("--timeout", args->timeout, &options->timeout, err)) &&
           (!args->deadline ||
            minify_read_seconds("--deadline", args->deadline, &options->deadline, err)) &&
           read_passes(job, err) && place_files(job, err);
}

void minify_release_options(struct minify_job *job)
{
    free((struct str *)job->options.passes);
    free(job->journal);
    free(job->aside);
    buf_release(&job->asked_at);
}

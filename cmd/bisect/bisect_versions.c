/* bisect --commits, --python: finds the first version in which a suite fails. A probe runs the
 * suite on one version, as a job (minify/remote/job.h) of this process or of a worker: of a commit
 * its files are unpacked into a folder of the job's own. */
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>

#include "cmd/bisect/versions.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "cmd/minify/minify.h"
#include "minify/process/capture.h"
#include "minify/remote/launcher.h"
#include "trace/base/hash.h"
#include "trace/base/text/json_write.h"

enum { TREE_BYTES_MAX = 200 << 20, SUITE_BYTES_MAX = 64 << 20, REPEAT_MAX = 1000, JOBS_MAX = 256 };
enum { UNPACK_FAILED = 125, CANNOT_RUN = 126, NOT_FOUND = 127 };

/* What runs in a job: the suite, in the files of a commit, or where symtape was started, there by
 * the Python of the release if it is a program of Python. */
static const char in_tree[] =
    "mkdir \"$TMPDIR/tree\" && tar -xf \"$SYMTAPE_TREE\" -C \"$TMPDIR/tree\" && "
    "cd \"$TMPDIR/tree\" || exit 125; unset SYMTAPE_TREE; exec \"$SYMTAPE_SUITE\"";
static const char in_place[] = "exec \"$SYMTAPE_SUITE\"";
static const char by_python[] = "exec \"$SYMTAPE_PYTHON\" \"$SYMTAPE_SUITE\"";

struct version_search {
    struct cmd *cmd;
    const struct bisect_args *args;
    const struct version_list *versions; /* that are searched now */
    struct buf suite;
    struct launcher *launcher; /* NULL: this process runs the suite */
    struct scratch scratch;
    struct version_log *log;
    const char *log_path;
    uint32_t jobs, repeat;
    double timeout;
    const atomic_bool *stop;
    atomic_ullong runs;   /* of the suite */
    pthread_mutex_t lock; /* protects `busy` and `said` */
    bool busy[JOBS_MAX];  /* by worker */
    struct buf said;      /* the last line of the first run that could not decide */
};

/* ---- One run of the suite ---- */

static uint32_t take_worker(struct version_search *s)
{
    uint32_t worker = 0;
    pthread_mutex_lock(&s->lock);
    while (worker + 1 < s->jobs && s->busy[worker])
        worker++;
    s->busy[worker] = true;
    pthread_mutex_unlock(&s->lock);
    return worker;
}

static void give_worker_back(struct version_search *s, uint32_t worker)
{
    pthread_mutex_lock(&s->lock);
    s->busy[worker] = false;
    pthread_mutex_unlock(&s->lock);
}

static void add_numbers(struct job *job, uint32_t attempt)
{
    char text[24];
    snprintf(text, sizeof text, "%" PRIu32, attempt);
    struct str copy = arena_copy(&job->arena, str_of(text));
    job->failed |= !copy.p;
    job_add_variable(job, STR("SYMTAPE_ATTEMPT"), JOB_TEXT, copy);
    snprintf(text, sizeof text, "%" PRIu32, job->worker);
    copy = arena_copy(&job->arena, str_of(text));
    job->failed |= !copy.p;
    job_add_variable(job, STR("SYMTAPE_WORKER"), JOB_TEXT, copy);
}

static void fill_job(const struct version_search *s, const struct version *version,
                     const struct buf *tree, struct job *job)
{
    bool commits = s->versions->commits;
    job_add_file(job, STR("suite"), buf_str(&s->suite), true);
    if (commits)
        job_add_file(job, STR("tree.tar"), buf_str(tree), false);
    job_add_variable(job, STR("TMPDIR"), JOB_TMP, STR(""));
    job_add_variable(job, STR("SYMTAPE_SUITE"), 0, STR(""));
    if (commits)
        job_add_variable(job, STR("SYMTAPE_TREE"), 1, STR(""));
    job_add_variable(job, commits ? STR("SYMTAPE_COMMIT") : STR("SYMTAPE_RELEASE"), JOB_TEXT,
                     version->name);
    if (version->python.n)
        job_add_variable(job, STR("SYMTAPE_PYTHON"), JOB_TEXT, version->python);
    job_add_word(job, JOB_TEXT, STR("sh"));
    job_add_word(job, JOB_TEXT, STR("-c"));
    bool python = str_ends(str_of(s->args->suite), STR(".py"));
    job_add_word(job, JOB_TEXT, str_of(commits ? in_tree : python ? by_python : in_place));
}

static bool run_suite(struct version_search *s, const struct version *version,
                      const struct buf *tree, uint32_t attempt, struct child_end *end,
                      struct err *err)
{
    struct job job = { .number = atomic_fetch_add(&s->runs, 1) + 1,
                       .worker = take_worker(s),
                       .timeout = s->timeout,
                       .input = JOB_TEXT,
                       .cancel = s->stop };
    fill_job(s, version, tree, &job);
    add_numbers(&job, attempt);
    bool good = !job.failed || err_nomem(err);
    if (good)
        good = s->launcher ? launcher_run(s->launcher, &job, end, err)
                           : job_run(&job, &s->scratch, end, err);
    give_worker_back(s, job.worker);
    job_release(&job);
    return good;
}

static enum bisect_answer answer_of(struct version_search *s, const struct child_end *end,
                                    struct err *err)
{
    struct str line = child_last_line(end);
    bool decided = !end->timed_out && !end->cancelled && !end->signal && end->status < 128;
    if (decided && (end->status == CANNOT_RUN || end->status == NOT_FOUND)) {
        err_set(err, ERR_ENV, "--suite: it cannot be run: exit %d: %.*s", end->status,
                STR_ARG(str_first(line, 300)));
        return BISECT_BROKEN;
    }
    if (decided && end->status != UNPACK_FAILED)
        return (end->status == 0) != s->args->invert ? BISECT_GOOD : BISECT_BAD;
    pthread_mutex_lock(&s->lock);
    if (s->said.n == 0 && !end->cancelled) {
        if (end->timed_out)
            buf_printf(&s->said, "no end within %.3g s", s->timeout);
        else
            buf_printf(&s->said, "exit %d: %.*s", end->status, STR_ARG(str_first(line, 300)));
    }
    pthread_mutex_unlock(&s->lock);
    return BISECT_SKIP;
}

/* Packs the files of a commit. */
static bool pack_tree(const struct version *version, struct buf *tree, struct err *err)
{
    char name[128];
    snprintf(name, sizeof name, "%.*s", STR_ARG(version->name));
    const char *const argv[] = { "git", "archive", "--format=tar", name, NULL };
    return capture(argv, TREE_BYTES_MAX, tree, err) || err_at(err, "--commits: %s", name);
}

/* Runs the suite until it fails, at most `repeat` times: a suite that fails sometimes is good where
 * it never does. */
static enum bisect_answer ask_suite(struct version_search *s, const struct version *version,
                                    struct err *err)
{
    struct buf tree = BUF_INIT;
    struct child_end end;
    enum bisect_answer answer = BISECT_GOOD;
    if (s->versions->commits && !pack_tree(version, &tree, err))
        answer = BISECT_BROKEN;
    for (uint32_t i = 0; i < s->repeat && answer == BISECT_GOOD; i++)
        answer =
            run_suite(s, version, &tree, i, &end, err) ? answer_of(s, &end, err) : BISECT_BROKEN;
    buf_release(&tree);
    return answer;
}

static bool is_stopped(const struct version_search *s)
{
    return s->stop && atomic_load(s->stop);
}

static enum bisect_answer probe_version(void *user, uint32_t state, bool fresh, struct err *err)
{
    struct version_search *s = user;
    const struct version *version = &s->versions->list.v[state];
    enum bisect_answer answer;
    if (version_log_find(s->log, version->name, fresh, &answer))
        return answer;
    answer = ask_suite(s, version, err);
    if (answer == BISECT_BROKEN || is_stopped(s))
        return answer;
    return version_log_add(s->log, version->name, fresh, answer, err) ? answer : BISECT_BROKEN;
}

/* ---- The search ---- */

static bool search_versions(struct version_search *s, const struct version_list *versions,
                            struct bisect_result *result, struct err *err)
{
    const struct bisect_options how = { .n = (uint32_t)versions->list.n - 1,
                                        .jobs = s->jobs,
                                        .from_end = s->args->from_end,
                                        .looks = s->args->extra_checks.given
                                                     ? (uint32_t)s->args->extra_checks.value
                                                     : 0,
                                        .probe = probe_version,
                                        .user = s,
                                        .stop = s->stop };
    s->versions = versions;
    return bisect_run(&how, result, err);
}

/* What was found: the first bad version, and the last good one before it. */
struct found_version {
    struct bisect_result result; /* of the range */
    const struct version *bad, *good;
    struct version_list inside; /* of the merges that were entered, the last one */
    uint32_t probes, rounds;
    bool certified;
};

static void count_probes(struct found_version *found, const struct bisect_result *result)
{
    found->probes += result->probes;
    found->rounds += result->rounds;
}

static void take_found(struct found_version *found, const struct version_list *versions,
                       const struct bisect_result *result)
{
    count_probes(found, result);
    if (result->end != BISECT_FOUND && result->end != BISECT_BETWEEN)
        return;
    found->bad = &versions->list.v[result->bad];
    found->good = &versions->list.v[result->good];
    found->certified = result->certified;
}

/* A merge is bad by what it brought in, or by itself: looks for the first bad commit of its other
 * parents. *entered: there is one; else the merge stays the answer, also if the suite could not
 * decide inside. */
static bool enter_merge(struct version_search *s, struct found_version *found, bool *entered,
                        struct err *err)
{
    struct str merge = found->bad->name;
    bool good = true;
    *entered = false;
    for (unsigned parent = 2; good && !*entered; parent++) {
        struct version_list inside = { 0 };
        struct bisect_result result = { .monotone = true };
        good = versions_of_merge(merge, parent, &inside, err);
        bool any = good && inside.list.n > 1;
        if (any)
            good = search_versions(s, &inside, &result, err);
        *entered = any && good && result.end == BISECT_FOUND;
        if (*entered)
            take_found(found, &inside, &result);
        else
            count_probes(found, &result);
        bisect_result_release(&result);
        if (*entered) {
            version_list_release(&found->inside);
            found->inside = inside;
        } else {
            version_list_release(&inside);
        }
        if (!any)
            break;
    }
    return good;
}

static bool find_version(struct version_search *s, const struct version_list *versions,
                         struct found_version *found, struct err *err)
{
    bool entered = true;
    if (!search_versions(s, versions, &found->result, err))
        return false;
    take_found(found, versions, &found->result);
    while (entered && found->bad && found->bad->merge && found->result.end == BISECT_FOUND &&
           !is_stopped(s))
        if (!enter_merge(s, found, &entered, err))
            return false;
    return true;
}

/* ---- Report ---- */

static const char *const end_words[] = {
    [BISECT_FOUND] = "found",         [BISECT_NEVER] = "never",   [BISECT_ALWAYS] = "always",
    [BISECT_BETWEEN] = "between",     [BISECT_CANNOT] = "cannot", [BISECT_UNSTEADY] = "unsteady",
    [BISECT_STOPPED] = "interrupted",
};

static void put_version(struct buf *text, const char *label, const struct version *version)
{
    buf_printf(text, "%s: %.*s", label, STR_ARG(version->name));
    if (version->title.n)
        buf_printf(text, " %.*s", STR_ARG(version->title));
    if (version->python.n)
        buf_printf(text, " (%.*s)", STR_ARG(version->python));
    buf_putc(text, '\n');
}

static void put_verdict(const struct version_search *s, const struct version_list *versions,
                        const struct found_version *found, struct buf *text)
{
    const struct version *last = &versions->list.v[versions->list.n - 1];
    switch (found->result.end) {
    case BISECT_FOUND:
    case BISECT_BETWEEN:
        put_version(text, found->result.end == BISECT_FOUND ? "first bad" : "bad", found->bad);
        put_version(text, "last good", found->good);
        if (found->result.end == BISECT_BETWEEN)
            buf_puts(text, "the suite could not decide about those between them\n");
        break;
    case BISECT_NEVER: put_version(text, "good", last); break;
    case BISECT_ALWAYS: put_version(text, "bad already", &versions->list.v[0]); break;
    case BISECT_CANNOT:
        buf_printf(text, "cannot tell: the suite could not decide: %.*s\n",
                   STR_ARG(buf_str(&s->said)));
        break;
    case BISECT_UNSTEADY:
        buf_puts(text, "cannot tell: a version gave another answer when it was checked again; "
                       "--repeat 5 takes a suite that fails only sometimes into account\n");
        break;
    case BISECT_STOPPED:
        buf_printf(text, "interrupted; the same command continues from %s\n", s->log_path);
    }
}

/* Returns how many versions the user named: the first commit of a range is not part of it. */
static size_t n_versions(const struct version_list *versions)
{
    return versions->list.n - versions->commits;
}

static void put_versions_text(const struct version_search *s, const struct version_list *versions,
                              const struct found_version *found, struct buf *text)
{
    const char *what = versions->commits ? "commits" : "releases";
    put_verdict(s, versions, found, text);
    if (!found->result.monotone)
        buf_printf(text, "not monotone: the answer changes %" PRIu32 " times\n",
                   found->result.flips);
    buf_printf(text, "%zu %s, %" PRIu32 " checks in %" PRIu32 " rounds, %llu runs of the suite%s\n",
               n_versions(versions), what, found->probes, found->rounds,
               (unsigned long long)atomic_load(&s->runs),
               found->certified ? "; the last good and the first bad one were both checked again"
                                : "");
    if (found->bad)
        buf_printf(text, "first-bad=%.*s good=%.*s probes=%" PRIu32 "\n", STR_ARG(found->bad->name),
                   STR_ARG(found->good->name), found->probes);
    else
        buf_printf(text, "first-bad=none end=%s probes=%" PRIu32 "\n", end_words[found->result.end],
                   found->probes);
}

static void json_version(struct json_writer *w, const char *key, const struct version *version)
{
    if (!version) {
        json_put_null(w, key);
        return;
    }
    json_open_object(w, key);
    json_put_str(w, "name", version->name);
    json_put_str(w, "title", version->title);
    json_put_str_or_null(w, "python", version->python);
    json_close(w);
}

static void put_versions_json(const struct version_search *s, const struct version_list *versions,
                              const struct found_version *found, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_BISECT_VERSIONS);
    json_put_cstr(&w, "verdict", end_words[found->result.end]);
    json_put_cstr(&w, "over", versions->commits ? "commits" : "releases");
    json_put_u64(&w, "versions", n_versions(versions));
    json_version(&w, "first_bad", found->bad);
    json_version(&w, "last_good", found->good);
    json_put_bool(&w, "certified", found->certified);
    json_put_bool(&w, "monotone", found->result.monotone);
    json_put_u64(&w, "probes", found->probes);
    json_put_u64(&w, "rounds", found->rounds);
    json_put_u64(&w, "runs", atomic_load(&s->runs));
    json_put_cstr(&w, "log", s->log_path);
    json_close(&w);
    buf_putc(out, '\n');
}

static int report_versions(const struct version_search *s, const struct version_list *versions,
                           const struct found_version *found)
{
    struct buf text = BUF_INIT;
    static const int codes[] = {
        [BISECT_FOUND] = EXIT_DIFFERS,      [BISECT_NEVER] = EXIT_DONE,
        [BISECT_ALWAYS] = EXIT_DIFFERS,     [BISECT_BETWEEN] = EXIT_DIFFERS,
        [BISECT_CANNOT] = EXIT_CANNOT_TELL, [BISECT_UNSTEADY] = EXIT_CANNOT_TELL,
        [BISECT_STOPPED] = EXIT_INTERRUPTED
    };
    if (s->args->json)
        put_versions_json(s, versions, found, &text);
    else
        put_versions_text(s, versions, found, &text);
    int code = out_buf(s->cmd->out, &text);
    buf_release(&text);
    return code == EXIT_DONE ? codes[found->result.end] : code;
}

/* ---- The command ---- */

static bool in_range(const struct opt_number *number, const char *option, uint64_t most,
                     uint32_t *ret, struct err *err)
{
    *ret = number->given ? (uint32_t)number->value : 1;
    return !number->given || (number->value >= 1 && number->value <= most) ||
           err_set(err, ERR_USAGE, "%s must be from 1 to %llu", option, (unsigned long long)most);
}

static bool read_suite(struct version_search *s, struct err *err)
{
    const char *path = s->args->suite;
    FILE *file = fopen(path, "re");
    if (!file)
        return err_errno(err, "%s", path);
    size_t n = 1;
    while (n > 0 && s->suite.n <= SUITE_BYTES_MAX && buf_reserve(&s->suite, 1 << 14)) {
        n = fread(s->suite.p + s->suite.n, 1, 1 << 14, file);
        s->suite.n += n;
    }
    bool good = ferror(file) ? err_errno(err, "%s", path)
                : s->suite.failed
                    ? err_nomem(err)
                    : s->suite.n <= SUITE_BYTES_MAX ||
                          err_set(err, ERR_USAGE, "%s: a suite may have 64 MiB", path);
    fclose(file);
    return good;
}

/* Another suite, or what makes other answers of it, is another log. */
static void print_id(const struct version_search *s, const struct version_list *versions,
                     struct buf *out)
{
    uint64_t hash = hash_mix(hash_str(buf_str(&s->suite)), s->repeat);
    hash = hash_mix(hash, (uint64_t)s->args->invert);
    for (size_t i = 0; i < versions->list.n; i += versions->list.n - 1)
        hash = hash_mix(hash, hash_str(versions->list.v[i].name));
    for (size_t i = 0; !versions->commits && i < versions->list.n; i++)
        hash = hash_mix(hash, hash_str(versions->list.v[i].python));
    buf_printf(out, "%016" PRIx64, hash);
}

static bool open_log(struct version_search *s, const struct version_list *versions, struct err *err)
{
    struct buf id = BUF_INIT;
    print_id(s, versions, &id);
    s->log_path = s->args->log ? s->args->log : "bisect.log";
    if (id.failed)
        err_nomem(err);
    else
        s->log =
            version_log_open(s->log_path, buf_str(&id), s->args->overwrite, versions->commits, err);
    buf_release(&id);
    return s->log != NULL;
}

static bool prepare(struct version_search *s, struct version_list *versions, struct err *err)
{
    const struct bisect_args *args = s->args;
    s->timeout = 3600;
    if (!in_range(&args->jobs, "--jobs", JOBS_MAX, &s->jobs, err) ||
        !in_range(&args->repeat, "--repeat", REPEAT_MAX, &s->repeat, err) ||
        (args->timeout && !minify_read_seconds("--timeout", args->timeout, &s->timeout, err)))
        return false;
    bool good = args->commits ? versions_of_range(args->commits, versions, err)
                              : versions_of_pythons(&args->pythons, versions, err);
    if (!good || !read_suite(s, err) || !open_log(s, versions, err))
        return false;
    const struct launcher_options how = { str_of(args->launcher ? args->launcher : ""), s->jobs };
    if (args->launcher)
        s->launcher = launcher_open(&how, err);
    return args->launcher ? s->launcher != NULL : scratch_make(&s->scratch, SCRATCH_QUESTIONS, err);
}

int bisect_by_versions(struct cmd *cmd, const struct bisect_args *args)
{
    struct version_search s = { .cmd = cmd, .args = args, .lock = PTHREAD_MUTEX_INITIALIZER };
    struct version_list versions = { 0 };
    struct found_version found = { .result.monotone = true };
    struct search_signals signals;
    struct err err = { 0 };
    memory_limit_end(cmd->out->limit); /* the suite would inherit it */
    s.stop = search_signals_begin(&signals);
    bool good = prepare(&s, &versions, &err) && find_version(&s, &versions, &found, &err);
    int code = good ? report_versions(&s, &versions, &found) : out_error(cmd->out, &err);
    search_signals_end(&signals);
    bisect_result_release(&found.result);
    version_list_release(&found.inside);
    version_list_release(&versions);
    version_log_close(s.log);
    uint64_t lost = launcher_lost(s.launcher), killed = launcher_close(s.launcher);
    if (lost)
        out_note(cmd->out, LAUNCHER_LOST, (unsigned long long)lost);
    if (killed)
        out_note(cmd->out, LAUNCHER_KILLED, (unsigned long long)killed);
    (void)scratch_remove(&s.scratch);
    buf_release(&s.suite);
    buf_release(&s.said);
    return code;
}

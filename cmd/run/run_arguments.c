/* Reads the arguments, and opens the files and backends that they name. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/text_file.h"
#include "cmd/run/run_session.h"

static bool read_save(struct session *s, struct err *err)
{
    struct saved_nodes *save = &s->save;
    struct str rest = str_of(s->args->save ? s->args->save : "");
    if (s->args->save && !s->args->outputs)
        return err_set(err, ERR_USAGE,
                       "--save-nodes goes with --outputs FILE, where it is written");
    if (s->args->samples.given && !s->args->save)
        return err_set(err, ERR_USAGE,
                       "--samples goes with --save-nodes, whose values it thins out");
    while (rest.n) {
        size_t comma = str_find_char(rest, ',');
        struct str name = str_trim(str_first(rest, comma));
        rest = str_from(rest, comma + 1);
        if (str_is(name, "all"))
            save->all = true;
        else if (str_is(name, "inputs"))
            save->inputs = true;
        else if (save->n == sizeof save->names / sizeof *save->names)
            return err_set(err, ERR_USAGE,
                           "--save-nodes takes at most %zu nodes, or inputs, or all", save->n);
        else if (name.n)
            save->names[save->n++] = name;
    }
    return true;
}

/* Checks before anything runs that the file is not a folder. Other reasons why it cannot be written
 * are found when it is. */
static bool check_outputs(const char *outputs, struct err *err)
{
    struct stat there;
    return !outputs || stat(outputs, &there) != 0 || !S_ISDIR(there.st_mode) ||
           err_set(err, ERR_USAGE, "--outputs: %s is a folder", outputs);
}

static bool read_real(const char *option, struct str text, double *ret, struct err *err)
{
    char copy[64], *end = copy;
    snprintf(copy, sizeof copy, "%.*s", STR_ARG(str_first(text, sizeof copy - 1)));
    *ret = strtod(copy, &end);
    return (*copy && !*end) ||
           err_set(err, ERR_USAGE, "%s: \"%.*s\" is no number", option, STR_ARG(text));
}

static bool read_perturb(struct session *s, struct err *err)
{
    struct str text = str_of(s->args->perturb ? s->args->perturb : "");
    size_t equals = str_find_char(text, '=');
    if (!text.n)
        return true;
    s->perturb.node = str_first(text, equals);
    if (equals == text.n || !s->perturb.node.n)
        return err_set(err, ERR_USAGE, "--perturb: NODE=EPS, as in mul_7=1e-3");
    return read_real("--perturb", str_from(text, equals + 1), &s->perturb.epsilon, err);
}

static bool read_tolerance(struct session *s, struct err *err)
{
    const char *text = s->args->tolerance;
    return !text ||
           (read_real("--tolerance", str_of(text), &s->factor, err) &&
            (s->factor > 0 || err_set(err, ERR_USAGE, "--tolerance: the factor must be above 0")));
}

/* Checks options that need or exclude another one. */
static bool check_combination(const struct session *s, struct err *err)
{
    const struct run_args *args = s->args;
    const struct backend_kind *kind = s->pair.tested_kind;
    if (args->profile && (args->compare || args->outputs || args->save || args->perturb))
        return err_set(
            err, ERR_USAGE,
            "--profile only measures times: not with --compare-with, --outputs, --save-nodes "
            "or --perturb");
    if (args->profile && kind->shapes_only)
        return err_set(err, ERR_USAGE, "--profile: backend %s takes no time", kind->name);
    if (args->pad &&
        (args->profile || args->compare || args->outputs || args->perturb || args->inputs))
        return err_set(
            err, ERR_USAGE,
            "--pad compares sizes: not with --profile, --compare-with, --inputs, --outputs or "
            "--perturb");
    if (args->pad && kind->shapes_only)
        return err_set(err, ERR_USAGE, "--pad: backend %s takes no time", kind->name);
    if (args->runs.given && !args->profile && !args->pad)
        return err_set(err, ERR_USAGE, "--runs: only with --profile or --pad");
    if (args->no_cuda_graph && !args->profile && !args->pad)
        return err_set(
            err, ERR_USAGE,
            "--no-cuda-graph: only with --profile or --pad, which run a graph several times");
    if (args->device_sizes && !args->profile && !args->outputs)
        return err_set(err, ERR_USAGE, "--device-sizes: only with --profile or --outputs");
    if (args->device_sizes && (args->compare || args->save || args->perturb))
        return err_set(err, ERR_USAGE,
                       "--device-sizes: not with --compare-with, --save-nodes or --perturb, which "
                       "read values during the run");
    if (args->device_sizes && !kind->takes_extents)
        return err_set(err, ERR_USAGE, "--device-sizes: backend %s has no device", kind->name);
    if (session_warms(s) && !args->profile)
        return err_set(err, ERR_USAGE, "--warm: only with --profile");
    if (session_warms(s) && !kind->refine)
        return err_set(err, ERR_USAGE, "--warm: backend %s chooses nothing for sizes", kind->name);
    if (args->pool_budget.given && !args->profile)
        return err_set(err, ERR_USAGE, "--pool-budget: only with --profile");
    if (args->pool_budget.given && !kind->trim)
        return err_set(err, ERR_USAGE, "--pool-budget: backend %s has no memory pool", kind->name);
    if (args->pool_budget.given && args->pool_budget.value == 0)
        return err_set(err, ERR_USAGE, "--pool-budget: at least 1 byte");
    if (args->nodes && !args->compare)
        return err_set(err, ERR_USAGE,
                       "--nodes: only with --compare-with, which names what to compare them with");
    return !kind->shapes_only || (!args->compare && !args->outputs) ||
           err_set(err, ERR_USAGE, "--backend %s computes nothing to compare or write", kind->name);
}

static void note_backend_limit(struct out *out, const struct backend *backend, bool job)
{
    if (err_is_set(&backend->without) && !job)
        out_note(out, "%s", backend->without.text);
}

/* Returns whether the calls of each graph may be made again (may_repeat() in
 * replay/backend/run/run.c): no value is observed, no other rank meets them, and no violated
 * condition of sizes that they compute is reported. */
static bool may_repeat_calls(const struct session *s)
{
    return !s->job && !s->args->compare && !session_changes_or_saves(s) && !s->args->ignore_guards;
}

bool session_open(struct session *s, struct err *err)
{
    struct backend_pair *pair = &s->pair;
    uint64_t threads = s->args->jobs.value;
    pair->tf32 = s->args->tf32;
    pair->threads = (unsigned)(threads < 1024 ? threads : 1024);
    pair->worker = "/proc/self/exe";
    pair->prepares = may_repeat_calls(s);
    if (!backend_pair_open(pair, err))
        return false;
    pair->tested->pool.budget = s->args->pool_budget.value;
    note_backend_limit(s->cmd->out, pair->tested, s->job);
    if (pair->reference && pair->reference_kind != pair->tested_kind)
        note_backend_limit(s->cmd->out, pair->reference, s->job);
    return true;
}

static bool open_expected(struct session *s, struct err *err)
{
    const char *name = s->args->compare;
    struct stat there;
    if (stat(name, &there) != 0 && errno == ENOENT)
        return err_set(err, ERR_ENV,
                       "--compare-with %s: there is no such file or backend; the backends are cpu, "
                       "cuda and null",
                       name);
    s->expected = safetensors_open(name, err);
    return s->expected != NULL;
}

/* --compare-with NAME is a backend if there is one of that name, otherwise a file. */
bool session_read(struct session *s, struct err *err)
{
    const struct run_args *args = s->args;
    s->pair.tested_kind = backend_find(str_of(args->backend ? args->backend : "cpu"));
    s->pair.reference_kind = args->compare ? backend_find(str_of(args->compare)) : NULL;
    s->seed = args->seed.given ? args->seed.value : 0;
    return read_save(s, err) && check_outputs(args->outputs, err) && read_perturb(s, err) &&
           read_tolerance(s, err) && check_combination(s, err) &&
           size_grid_read_option(&s->grid, "--sizes", &args->sizes, &s->cmd->out->limit->meter,
                                 err) &&
           (!session_warms(s) || size_grid_read_option(&s->warm, "--warm", &args->warm,
                                                       &s->cmd->out->limit->meter, err)) &&
           session_read_pad(s, err) &&
           (!args->inputs || (s->inputs = safetensors_open(args->inputs, err))) &&
           (!args->compare || s->pair.reference_kind || open_expected(s, err));
}

void session_print_backends(const struct session *s, struct buf *out)
{
    buf_printf(out, " on %s%s", s->pair.tested_kind->name, s->args->tf32 ? " with TF32" : "");
    if (s->args->compare)
        buf_printf(out, ", compared with %s", s->args->compare);
}

struct report_options session_report_options(const struct session *s)
{
    uint64_t rows = s->args->limit.given ? s->args->limit.value : 10;
    return (struct report_options){
        .width = s->cmd->out->width,
        .styles = out_styles(s->cmd->out),
        .limit = rows > UINT32_MAX ? 0 : (uint32_t)rows,
    };
}

void session_release(struct session *s)
{
    safetensors_close(s->inputs);
    safetensors_close(s->expected);
    run_schedule_release(&s->schedule);
    kept_inputs_release(&s->kept);
    backend_pair_close(&s->pair);
    size_grid_release(&s->grid);
    size_grid_release(&s->warm);
    size_grid_release(&s->pad);
    vec_release(&s->warmed);
    buf_release(&s->totals.first_graph);
    buf_release(&s->totals.refusal);
    buf_release(&s->text);
    buf_release(&s->json);
    arena_release(&s->arena);
}

#include <stdlib.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/profile/profiled.h"
#include "profile/page/page.h"

struct report_args {
    const char *output, *rules;
    bool json, overwrite, strict, no_replay;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "FILE", struct report_args, output,
               "the page to write, as report.html; - is standard output"),
    OPT_OVERWRITE(struct report_args, overwrite),
    OPT_FLAG(0, "json", struct report_args, json,
             "print the data of the page alone, one JSON object"),
    OPT_FLAG(0, "no-replay", struct report_args, no_replay,
             "do not replay the graphs; estimated dispatches and the replay's agreement are left "
             "out"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct report_args, rules,
               "shape rules of custom operators, for the replay"),
    OPT_STRICT(struct report_args, strict),
    OPT_END,
};

/* ---- The diagnosis of each tape ---- */

/* What `symtape TAPE` finds; both live until each_free(). */
struct each {
    struct profile **profiles;
    struct diagnosis **diagnoses;
    size_t n;
};

static void each_free(struct each *each)
{
    for (size_t i = 0; each->diagnoses && i < each->n; i++)
        diagnosis_free(each->diagnoses[i]);
    for (size_t i = 0; each->profiles && i < each->n; i++)
        profile_free(each->profiles[i]);
    free(each->profiles);
    free(each->diagnoses);
}

static bool diagnose_each(struct each *each, const struct profiled *profiled, struct err *err)
{
    const struct profile_options what = { .jobs = profiled_jobs() };
    each->n = profiled->n;
    each->profiles = calloc(each->n, sizeof *each->profiles);
    each->diagnoses = calloc(each->n, sizeof *each->diagnoses);
    bool ok = (each->profiles && each->diagnoses) || err_nomem(err);
    for (size_t i = 0; ok && i < each->n; i++) {
        each->profiles[i] = profile_build(&profiled->traces[i], 1, &what, err);
        each->diagnoses[i] = each->profiles[i] ? diagnosis_build(each->profiles[i], err) : NULL;
        ok = each->diagnoses[i] != NULL;
    }
    return ok;
}

/* ---- The page ---- */

static int write_page(struct cmd *cmd, const struct profiled *profiled,
                      const struct profile *profile)
{
    const struct report_args *args = cmd->args;
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    struct each each = { 0 };
    struct diagnosis *diagnosis = diagnosis_build(profile, &err);
    bool ok = diagnosis &&
              (profiled->n == 1 || page_is_job(profile) || diagnose_each(&each, profiled, &err));
    const struct page_input input = {
        .profile = profile,
        .diagnosis = diagnosis,
        .each = (const struct diagnosis *const *)each.diagnoses,
        .version = SYMTAPE_VERSION,
    };
    ok = ok && (args->json ? page_data(&input, &text, &err) : page_write(&input, &text, &err));
    int code =
        ok ? out_report(cmd->out, args->output, args->overwrite, &text) : out_error(cmd->out, &err);
    buf_release(&text);
    diagnosis_free(diagnosis);
    each_free(&each);
    return code;
}

static int report_tapes(struct cmd *cmd, struct profiled *profiled)
{
    const struct report_args *args = cmd->args;
    struct profile_options what = { .replay = !args->no_replay, .jobs = profiled_jobs() };
    struct custom_rules *rules = NULL;
    struct profile *profile = NULL;
    struct err err = { 0 };
    what.by[PROFILE_STACK] = what.by[PROFILE_MODULE] = true;
    if (profiled_select(profiled, &what, &err) &&
        rules_arg_read(&rules, args->rules, &cmd->out->limit->meter, &err)) {
        what.rules = rules;
        profile = profile_build(profiled->traces, (uint32_t)profiled->n, &what, &err);
    }
    int code = profile ? write_page(cmd, profiled, profile) : out_error(cmd->out, &err);
    profile_free(profile);
    custom_rules_free(rules);
    return code;
}

static int run_report(struct cmd *cmd)
{
    const struct report_args *args = cmd->args;
    struct profiled profiled = { 0 };
    if (!args->output && !args->json)
        return out_usage(cmd->out, "report: name the page to write, as -o report.html");
    int code = profiled_open(&profiled, cmd, args->strict);
    if (code == EXIT_DONE)
        code = report_tapes(cmd, &profiled);
    profiled_close(&profiled);
    return code;
}

const struct command command_report = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]... -o FILE",
    .description =
        "Writes one HTML file that shows everything: the diagnosis, where the time went, compiles "
        "and attempts on a time axis, tables of guards, symbols, operators, graph breaks and "
        "caches that sort and filter, the graphs, and how far the replay agrees. Several tapes are "
        "compared: as ranks of a job, or as runs of a program. The file loads nothing and needs no "
        "network.",
    .examples = "  symtape report bert.tape -o bert.html\n"
                "  symtape report before.tape after.tape -o change.html\n"
                "  symtape report rank0.tape rank1.tape -o ranks.html\n"
                "  symtape report --json bert.tape:0/0\n",
    .options = options,
    .args_size = sizeof(struct report_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_report,
};

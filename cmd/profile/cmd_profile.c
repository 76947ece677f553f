#include "cmd/cli/memory_limit.h"
#include "cmd/cli/nearest.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/profile/profiled.h"
#include "profile/report/diagnosis_report.h"
#include "profile/viewers/viewers.h"
#include "trace/base/file/output.h"

struct profile_args {
    const char *format, *output;
    bool json, overwrite, strict;
    struct opt_number limit;
    const char *by, *view, *sort, *compile, *recording, *file, *rules;
    bool no_replay, cost_model;
};

/* The sort keys, in the order of enum profile_sort. */
#define SORT_KEYS "time|inclusive|calls|guards|symbols|name|dispatches|exprs"

static const struct opt options[] = {
    OPT_CHOICE('f', "format", "text|json|folded|speedscope|pprof|chrome", struct profile_args,
               format,
               "format of the report (default: by FILE's suffix, .json, .folded, "
               ".speedscope.json, .pb.gz or .trace, else text)"),
    OPT_JSON(struct profile_args, json),
    OPT_STRING('o', "output", "FILE", struct profile_args, output,
               "write to this file instead of standard output"),
    OPT_OVERWRITE(struct profile_args, overwrite),
    OPT_NUMBER('n', "limit", "N", struct profile_args, limit,
               "print at most N rows of each table; 0 prints all (default: 10 in text, all in "
               "JSON)"),
    OPT_STRING(0, "by", "GROUP[,GROUP...]", struct profile_args, by,
               "print only costs, grouped by op, line, stack or module"),
    OPT_STRING(
        0, "view", "VIEW", struct profile_args, view,
        "with folded, speedscope, pprof or chrome: write only this view: phases, lines, stacks, "
        "stack-guards, modules, operators, dispatches, replayed, guards, kernels or "
        "kernel-nodes (default: phases in folded, all in the others)"),
    OPT_CHOICE('s', "sort", SORT_KEYS, struct profile_args, sort,
               "sort phases, lines, operators and guards by this (default: time)"),
    OPT_STRING(0, "compile", "ID[_N]", struct profile_args, compile,
               "only this compile (0/0), or one attempt of it (0/0_1)"),
    OPT_STRING(0, "recording", "NAME", struct profile_args, recording, "only this recording"),
    OPT_STRING(0, "file", "TEXT", struct profile_args, file,
               "only user lines whose file has TEXT in its path"),
    OPT_FLAG(0, "no-replay", struct profile_args, no_replay,
             "do not replay the graphs; counts of expressions and estimated dispatches are left "
             "out"),
    OPT_FLAG(0, "cost-model", struct profile_args, cost_model,
             "print only what the time consists of, by kinds of work: measured in deep recordings, "
             "else estimated; with what is unexplained"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct profile_args, rules,
               "shape rules of custom operators, for the replay"),
    OPT_STRICT(struct profile_args, strict),
    OPT_END,
};

enum { TEXT_ROWS = 10 };

/* The values of --format, and the suffix of an output file that selects each: the first row that
 * fits. The first row is the default. */
static const struct format {
    const char *name, *suffix;
    void (*report)(const struct profile *profile, const struct report_options *how,
                   struct buf *out);
    bool (*view)(const struct profile *profile, enum stack_view_id view, struct buf *out,
                 struct err *err); /* in place of `report` */
    bool views;                    /* it shows the views of stack_views.h */
    bool binary;
} formats[] = {
    { "text", ".txt", .report = report_text },
    { "speedscope", ".speedscope.json", .view = viewer_speedscope, .views = true },
    { "json", ".json", .report = report_json },
    { "folded", ".folded", .view = viewer_folded, .views = true },
    { "pprof", ".pb.gz", .view = viewer_pprof, .views = true, .binary = true },
    { "chrome", ".trace", .view = viewer_chrome, .views = true },
};

static const struct format *profile_format(const struct profile_args *args)
{
    struct str name = str_of(args->format ? args->format : args->json ? "json" : "");
    struct str file = str_of(args->output ? args->output : "");
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (name.n ? str_is(name, formats[i].name) : str_ends(file, str_of(formats[i].suffix)))
            return &formats[i];
    return &formats[0];
}

static bool is_to_file(const struct profile_args *args)
{
    return args->output && strcmp(args->output, "-") != 0;
}

/* ---- Reports ---- */

static int report_profile(struct out *out, const struct profile_args *args,
                          const struct profile *profile)
{
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    const struct format *format = profile_format(args);
    bool people = format == &formats[0];
    uint64_t rows = args->limit.given ? args->limit.value : people ? TEXT_ROWS : 0;
    struct diagnosis *diagnosis = diagnosis_build(profile, &err);
    if (!diagnosis)
        return out_error(out, &err);
    const struct report_options how = {
        .diagnosis = diagnosis,
        .width = is_to_file(args) ? 0 : out->width,
        .styles = is_to_file(args) ? NULL : out_styles(out),
        .limit = rows > UINT32_MAX ? 0 : (uint32_t)rows,
    };
    format->report(profile, &how, &text);
    int code = out_report(out, args->output, args->overwrite, &text);
    buf_release(&text);
    diagnosis_free(diagnosis);
    return code;
}

/* ---- Viewers ---- */

/* Returns the view of that name; STACK_VIEWS: all, or none of that name. */
static enum stack_view_id view_of(const char *name)
{
    enum stack_view_id id = 0;
    while (id < STACK_VIEWS && !(name && strcmp(name, stack_view_name(id)) == 0))
        id++;
    return id;
}

static int unknown_view(struct out *out, const char *name)
{
    char hint[NEAREST_TEXT];
    struct nearest search = nearest_of(str_of(name));
    struct buf names = BUF_INIT;
    for (enum stack_view_id id = 0; id < STACK_VIEWS; id++) {
        nearest_offer(&search, str_of(stack_view_name(id)));
        buf_printf(&names, "%s%s", id > 0 ? ", " : "", stack_view_name(id));
    }
    int code = out_usage(out, "profile: --view: \"%s\" is not one of %.*s%s", name,
                         STR_ARG(buf_str(&names)), nearest_text(&search, hint));
    buf_release(&names);
    return code;
}

static int print_bytes(struct out *out, const struct profile_args *args, const struct buf *bytes)
{
    struct err err = { 0 };
    struct output *output = output_open(args->output ? args->output : "-",
                                        args->overwrite ? OUTPUT_REPLACE : OUTPUT_NEW, &err);
    if (output && output_write(output, buf_str(bytes), &err))
        return output_commit(output, &err) ? EXIT_DONE : out_error(out, &err);
    output_abort(output);
    return out_error(out, &err);
}

static int view_profile(struct out *out, const struct profile_args *args,
                        const struct profile *profile)
{
    const struct format *format = profile_format(args);
    struct buf text = BUF_INIT;
    struct err err = { 0 };
    int code;
    if (!format->view(profile, view_of(args->view), &text, &err))
        code = out_error(out, &err);
    else if (format->binary && !text.failed)
        code = print_bytes(out, args, &text);
    else
        code = out_report(out, args->output, args->overwrite, &text);
    buf_release(&text);
    return code;
}

/* Adds the groups that the views need. */
static void add_groups(const struct profile_args *args, struct profile_options *what)
{
    const struct format *format = profile_format(args);
    if (format->views && (args->view || strcmp(format->name, "folded") != 0))
        what->by[PROFILE_STACK] = what->by[PROFILE_MODULE] = true;
}

/* ---- All ---- */

static enum profile_sort sort_of(const char *key)
{
    const char *rest = SORT_KEYS;
    int sort = PROFILE_BY_TIME;
    while (key && !str_is(opt_next_word(&rest), key))
        sort++;
    return (enum profile_sort)sort;
}

/* Returns the filters that the options set. */
static struct profile_options filters(const struct profile_args *args)
{
    return (struct profile_options){
        .compile = str_of(args->compile ? args->compile : ""),
        .recording = str_of(args->recording ? args->recording : ""),
        .file = str_of(args->file ? args->file : ""),
        .sort = sort_of(args->sort),
        .replay = !args->no_replay,
        .cost_model = args->cost_model,
        .jobs = profiled_jobs(),
    };
}

static bool read_by(struct str list, bool *by, struct err *err)
{
    while (list.n > 0) {
        size_t comma = str_find_char(list, ',');
        int found = 0;
        while (found < PROFILE_BYS &&
               !str_is(str_first(list, comma), profile_by_name((enum profile_by)found)))
            found++;
        if (found == PROFILE_BYS) {
            char hint[NEAREST_TEXT];
            struct nearest search = nearest_of(str_first(list, comma));
            for (int i = 0; i < PROFILE_BYS; i++)
                nearest_offer(&search, str_of(profile_by_name((enum profile_by)i)));
            return err_set(err, ERR_USAGE,
                           "profile: --by: \"%.*s\" is not one of op, line, stack, module%s",
                           STR_ARG(search.word), nearest_text(&search, hint));
        }
        by[found] = true;
        list = str_from(list, comma + 1);
    }
    return true;
}

static int profile_tapes(struct cmd *cmd, struct profiled *profiled)
{
    const struct profile_args *args = cmd->args;
    struct err err = { 0 };
    struct profile_options what = filters(args);
    struct profile *profile = NULL;
    struct custom_rules *rules = NULL;
    if (read_by(str_of(args->by ? args->by : ""), what.by, &err) &&
        profiled_select(profiled, &what, &err) &&
        rules_arg_read(&rules, args->rules, &cmd->out->limit->meter, &err)) {
        what.rules = rules;
        add_groups(args, &what);
        profile = profile_build(profiled->traces, (uint32_t)profiled->n, &what, &err);
    }
    int code = !profile                       ? out_error(cmd->out, &err)
               : profile_format(args)->report ? report_profile(cmd->out, args, profile)
                                              : view_profile(cmd->out, args, profile);
    profile_free(profile);
    custom_rules_free(rules);
    return code;
}

static int run_profile_command(struct cmd *cmd)
{
    const struct profile_args *args = cmd->args;
    struct profiled profiled = { 0 };
    if (args->json && args->format && strcmp(args->format, "json") != 0)
        return out_usage(cmd->out, "profile: --json and --format %s exclude each other",
                         args->format);
    if (args->view && !profile_format(args)->views)
        return out_usage(cmd->out,
                         "profile: --view needs --format folded, speedscope, pprof or chrome");
    if (args->view && args->by)
        return out_usage(cmd->out, "profile: --view and --by exclude each other");
    if (args->view && view_of(args->view) == STACK_VIEWS)
        return unknown_view(cmd->out, args->view);
    if (args->cost_model && (args->by || profile_format(args)->views))
        return out_usage(cmd->out,
                         "profile: --cost-model excludes --by and the formats of viewers");
    if (args->cost_model && args->no_replay)
        return out_usage(cmd->out, "profile: --cost-model and --no-replay exclude each other");
    int code = profiled_open(&profiled, cmd, args->strict);
    if (code == EXIT_DONE)
        code = profile_tapes(cmd, &profiled);
    profiled_close(&profiled);
    return code;
}

const struct command command_profile = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]...",
    .description =
        "Reports where compile time went: phases, operators by level, user lines, guards, "
        "restarts, recompiles, graph breaks, failures and caches. Several tapes or ranks are "
        "shown side by side.",
    .examples = "  symtape profile bert.tape\n"
                "  symtape profile rank0.tape rank1.tape --limit 5\n"
                "  symtape profile bert.tape -o bert.speedscope.json\n",
    .options = options,
    .args_size = sizeof(struct profile_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_profile_command,
};

#include <stdlib.h>
#include <unistd.h>

#include "cmd/cli/memory_limit.h"
#include "cmd/cli/nearest.h"
#include "cmd/cli/rules_arg.h"
#include "cmd/cli/tape_arg.h"
#include "cmd/cli/text_file.h"
#include "cmd/cmd.h"
#include "profile/compare/check.h"

struct check_args {
    const char *baseline, *fail_on, *max, *save, *format, *output, *rules;
    bool list, bisect_codes, json, overwrite, strict;
};

static const struct opt options[] = {
    OPT_STRING('b', "baseline", "FILE", struct check_args, baseline,
               "compare with this baseline, which --save wrote; --fail-on sets the limits"),
    OPT_STRING(0, "fail-on", "LIMIT[,LIMIT...]", struct check_args, fail_on,
               "limits on changes: NAME:+N may grow by N, NAME:-N may shrink by N, NAME:N may "
               "change by N; N% is relative to the baseline (default: no count that matters may "
               "grow)"),
    OPT_STRING(0, "max", "NAME:N[,NAME:N...]", struct check_args, max,
               "limits on the values themselves, as in guards:500,ms_per_op:20"),
    OPT_STRING(0, "save", "FILE", struct check_args, save,
               "write the measures of the TAPEs as a baseline"),
    OPT_FLAG('l', "list", struct check_args, list,
             "list the measures, with their values for the TAPEs"),
    OPT_STRING(0, "rules", "FILE[,FILE...]", struct check_args, rules,
               "shape rules of custom operators, for measures that need a replay"),
    OPT_FLAG(0, "bisect-codes", struct check_args, bisect_codes,
             "exit as git bisect run expects: 0 good, 1 bad, 125 cannot tell"),
    OPT_CHOICE('f', "format", "text|json|markdown", struct check_args, format,
               "format of the report (default: by FILE's suffix, .json or .md, else text)"),
    OPT_JSON(struct check_args, json),
    OPT_STRING('o', "output", "FILE", struct check_args, output,
               "write to this file instead of standard output"),
    OPT_OVERWRITE(struct check_args, overwrite),
    OPT_STRICT(struct check_args, strict),
    OPT_END,
};

struct check_run {
    struct cmd *cmd;
    const struct check_args *args;
    struct check_rules rules;
    struct custom_rules *custom;
    struct tape_arg *tapes;
    struct check_input *inputs;
    struct check_side now, before;
    bool has_baseline;
    struct arena arena;
};

/* ---- Reading ---- */

/* Parses a list of limits. If one is of an unknown measure, the error names the nearest one. */
static bool parse_limits(struct check_rules *rules, const char *option, const char *list,
                         enum check_list of, struct err *err)
{
    struct str rest = str_of(list);
    char hint[NEAREST_TEXT];
    enum measure measure;
    if (check_rules_parse(rules, rest, of, err))
        return true;
    while (err->kind == ERR_USAGE && rest.n > 0) {
        struct str rule = str_first(rest, str_find_char(rest, ','));
        struct str name = str_trim(str_first(rule, str_find_char(rule, ':')));
        struct nearest search = nearest_of(name);
        rest = str_from(rest, rule.n + 1);
        if (measure_find(name, &measure))
            continue;
        for (int i = 0; i < MEASURES; i++)
            nearest_offer(&search, str_of(measure_row((enum measure)i)->name));
        if (search.best.n) {
            *err = (struct err){ 0 };
            err_set(err, ERR_USAGE, "\"%.*s\" is not a measure%s", STR_ARG(str_first(name, 60)),
                    nearest_text(&search, hint));
        }
        break;
    }
    return err_at(err, "check: %s", option);
}

/* With a baseline, the default limits apply if no others are given. */
static bool read_rules(struct check_run *c, struct err *err)
{
    const struct check_args *args = c->args;
    if (args->baseline && !args->fail_on && !check_rules_usual(&c->rules, err))
        return false;
    if (args->fail_on && !parse_limits(&c->rules, "--fail-on", args->fail_on, CHECK_BESIDE, err))
        return false;
    if (args->max && !parse_limits(&c->rules, "--max", args->max, CHECK_BUDGETS, err))
        return false;
    return rules_arg_read(&c->custom, args->rules, &c->cmd->out->limit->meter, err);
}

static bool read_baseline(struct check_run *c, struct err *err)
{
    struct buf text = BUF_INIT;
    if (!c->args->baseline)
        return true;
    c->has_baseline = text_file_read(c->args->baseline, &c->cmd->out->limit->meter, &text, err);
    if (c->has_baseline && !baseline_read(buf_str(&text), &c->arena, &c->before, err))
        c->has_baseline = err_at(err, "%s", c->args->baseline);
    buf_release(&text);
    return c->has_baseline;
}

/* A replay takes longer than the other measures, so it runs only when its counters are used. */
static bool needs_replay(const struct check_run *c)
{
    for (size_t i = 0; i < c->rules.rules.n; i++)
        if (measure_row(c->rules.rules.v[i].measure)->source == MEASURE_REPLAYED)
            return true;
    return c->args->save || c->args->list || c->has_baseline;
}

/* Returns "0/0_1", as it was written after the tape's name. */
static struct str compile_text(struct check_run *c, const struct selector *selector)
{
    struct buf text = BUF_INIT;
    buf_put(&text, selector->compile);
    if (selector->attempt >= 0)
        buf_printf(&text, "_%lld", (long long)selector->attempt);
    struct str kept = text.failed ? (struct str){ 0 } : arena_copy(&c->arena, buf_str(&text));
    buf_release(&text);
    return kept;
}

static int measure_tape(struct check_run *c, size_t i)
{
    struct cmd *cmd = c->cmd;
    struct err err = { 0 };
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct tape_arg *tape = &c->tapes[i];
    int code =
        tape_arg_open(tape, cmd->out, cmd->operands[i], c->args->strict ? TAPE_ARG_STRICT : 0);
    if (code != EXIT_DONE)
        return code;
    if (tape->selector.kind.n)
        return out_usage(cmd->out,
                         "check: %s: name a tape or a compile; a single graph has no "
                         "measures",
                         cmd->operands[i]);
    struct measure_options how = {
        .compile = tape->selector.compile.n ? compile_text(c, &tape->selector) : STR(""),
        .recording = tape->selector.recording,
        .replay = needs_replay(c),
        .jobs = processors > 0 && processors < 1024 ? (uint32_t)processors : 1,
        .rules = c->custom,
    };
    c->inputs[i].trace = tape->trace;
    c->inputs[i].failed = tape->failures.v.n;
    c->inputs[i].name = str_basename(str_of(cmd->operands[i]));
    if (!how.compile.p)
        err_nomem(&err);
    else if (measures_take(tape->trace, &how, &c->inputs[i].measures, &err))
        return EXIT_DONE;
    return out_error(cmd->out, &err);
}

static int measure_tapes(struct check_run *c)
{
    size_t n = c->cmd->n_operands;
    struct err err = { 0 };
    c->tapes = calloc(n + 1, sizeof *c->tapes);
    c->inputs = calloc(n + 1, sizeof *c->inputs);
    if (!c->tapes || !c->inputs)
        err_nomem(&err);
    int code = err_is_set(&err) ? out_error(c->cmd->out, &err) : EXIT_DONE;
    for (size_t i = 0; i < n && code == EXIT_DONE; i++)
        code = measure_tape(c, i);
    if (code == EXIT_DONE && !check_side_of(c->inputs, n, &c->arena, &c->now, &err))
        code = out_error(c->cmd->out, &err);
    return code;
}

/* ---- Writing ---- */

static int save_baseline(struct check_run *c)
{
    struct buf text = BUF_INIT;
    baseline_write(&c->now, &text);
    int code = out_report(c->cmd->out, c->args->save, c->args->overwrite, &text);
    buf_release(&text);
    if (code == EXIT_DONE && strcmp(c->args->save, "-") != 0)
        out_note(c->cmd->out, "%s: the baseline of %zu %s", c->args->save, c->cmd->n_operands,
                 c->cmd->n_operands == 1 ? "tape" : "tapes");
    return code;
}

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_MARKDOWN };

static enum format check_format(const struct check_args *args)
{
    struct str name = str_of(args->format ? args->format : args->json ? "json" : "");
    struct str file = str_of(args->output ? args->output : "");
    if (name.n)
        return str_is(name, "json")       ? FORMAT_JSON
               : str_is(name, "markdown") ? FORMAT_MARKDOWN
                                          : FORMAT_TEXT;
    return str_ends(file, STR(".json")) ? FORMAT_JSON
           : str_ends(file, STR(".md")) ? FORMAT_MARKDOWN
                                        : FORMAT_TEXT;
}

/* Prints the result, or the list of measures if `check` is NULL. */
static int print_check(struct check_run *c, const struct check *check)
{
    struct buf text = BUF_INIT;
    enum format format = check_format(c->args);
    bool to_file = c->args->output && strcmp(c->args->output, "-") != 0;
    const struct report_options how = { .width = to_file ? 0 : c->cmd->out->width,
                                        .styles = to_file ? NULL : out_styles(c->cmd->out) };
    const struct check_side *side = c->cmd->n_operands ? &c->now : NULL;
    if (format == FORMAT_JSON && check)
        check_json(check, &text);
    else if (format == FORMAT_JSON)
        check_list_json(side, &text);
    else if (format == FORMAT_MARKDOWN && check)
        check_markdown(check, &text);
    else if (check)
        check_text(check, &how, &text);
    else
        check_list_text(side, &how, &text);
    int code = out_report(c->cmd->out, c->args->output, c->args->overwrite, &text);
    buf_release(&text);
    return code;
}

static int judge_limits(struct check_run *c)
{
    static const int CODES[] = { EXIT_DONE, EXIT_DIFFERS, EXIT_CANNOT_TELL };
    struct err err = { 0 };
    struct check *check = check_make(&c->rules, &c->now, c->has_baseline ? &c->before : NULL, &err);
    if (!check)
        return out_error(c->cmd->out, &err);
    int code = print_check(c, check);
    if (code == EXIT_DONE)
        code = CODES[check->verdict];
    check_free(check);
    return code;
}

/* ---- The command ---- */

static int check_usage(struct check_run *c)
{
    const struct check_args *args = c->args;
    struct out *out = c->cmd->out;
    bool limits = args->baseline || args->max || args->fail_on;
    if (args->json && args->format && strcmp(args->format, "json") != 0)
        return out_usage(out, "check: --json and --format %s exclude each other", args->format);
    if (c->cmd->n_operands == 0 && !args->list)
        return out_usage(out, "check: name a TAPE");
    if (args->list && (limits || args->save))
        return out_usage(out, "check: --list cannot be combined with --baseline, --max, "
                              "--fail-on or --save");
    if (args->fail_on && !args->baseline)
        return out_usage(out, "check: --fail-on needs --baseline FILE");
    if (!args->list && !args->save && !limits)
        return out_usage(out, "check: there is nothing to check; use --baseline FILE, --max "
                              "LIMITS or --save FILE");
    return EXIT_DONE;
}

static int check_tapes(struct check_run *c)
{
    struct err err = { 0 };
    int code = check_usage(c);
    if (code != EXIT_DONE)
        return code;
    if (!read_rules(c, &err) || !read_baseline(c, &err))
        return out_error(c->cmd->out, &err);
    code = measure_tapes(c);
    if (code == EXIT_DONE && c->args->save)
        code = save_baseline(c);
    if (code == EXIT_DONE && c->args->list)
        code = print_check(c, NULL);
    else if (code == EXIT_DONE && c->rules.rules.n)
        code = judge_limits(c);
    return code;
}

static int run_check(struct cmd *cmd)
{
    struct check_run c = { .cmd = cmd, .args = cmd->args };
    int code = check_tapes(&c);
    for (size_t i = 0; c.tapes && i < cmd->n_operands; i++)
        tape_arg_close(&c.tapes[i]);
    free(c.tapes);
    free(c.inputs);
    custom_rules_free(c.custom);
    check_rules_release(&c.rules);
    arena_release(&c.arena);
    return c.args->bisect_codes ? exit_code_for_bisect(code) : code;
}

const struct command command_check = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]...",
    .description = "Checks whether a run stays within limits: relative to a baseline that was "
                   "saved before, or absolute ones. Several tapes of one program count as one, "
                   "by their medians. Exits with 0 if all limits hold, with 1 if one does not, "
                   "and with 125 if one cannot be checked.",
    .examples = "  symtape check --save baseline.json main.tape\n"
                "  symtape check -b baseline.json --fail-on guards:+0,calls:+5% new.tape\n"
                "  symtape check --max guards:500,ms_per_op:20 new.tape\n",
    .options = options,
    .args_size = sizeof(struct check_args),
    .min_operands = 0,
    .max_operands = OPERANDS_ANY,
    .run = run_check,
};

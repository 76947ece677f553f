#include <stdlib.h>

#include "cmd/cli/nearest.h"
#include "cmd/cmd.h"
#include "cmd/diff/diff_runs.h"
#include "profile/compare/diff.h"

struct diff_args {
    struct opt_number vs, limit;
    const char *labels, *only, *ignore, *format, *output, *save;
    bool json, overwrite, strict, bisect_codes;
};

static const struct opt options[] = {
    OPT_SPLIT(0, "vs", struct diff_args, vs,
              "the TAPEs after it are the other side; needed when a side has several runs"),
    OPT_STRING(0, "labels", "BEFORE,AFTER", struct diff_args, labels,
               "names of the two sides (default: their files)"),
    OPT_STRING(
        0, "only", "KIND[,KIND...]", struct diff_args, only,
        "compare only these: guards, nodes, operators, times, ... (symtape-diff(1) lists them)"),
    OPT_STRING(0, "ignore", "KIND[,KIND...]", struct diff_args, ignore, "do not compare these"),
    OPT_NUMBER('n', "limit", "N", struct diff_args, limit,
               "print at most N rows of each table; 0 prints all (default: 10, all in JSON)"),
    OPT_STRING(0, "save", "FILE", struct diff_args, save,
               "compare nothing, and write what a comparison needs of one TAPE to FILE, which "
               "can be a side later"),
    OPT_FLAG(0, "bisect-codes", struct diff_args, bisect_codes,
             "exit as git bisect run expects: 0 good, 1 bad, 125 cannot tell"),
    OPT_CHOICE('f', "format", "text|json|markdown", struct diff_args, format,
               "format of the report (default: by FILE's suffix, .json or .md, else text)"),
    OPT_JSON(struct diff_args, json),
    OPT_STRING('o', "output", "FILE", struct diff_args, output,
               "write to this file instead of standard output"),
    OPT_OVERWRITE(struct diff_args, overwrite),
    OPT_STRICT(struct diff_args, strict),
    OPT_END,
};

enum { SHOWN_ROWS = 10 };

struct diff_run {
    struct cmd *cmd;
    const struct diff_args *args;
    struct snapshot **runs; /* by operand */
    struct compare_side sides[2];
    struct compare_options options;
    struct buf labels[2];
};

/* ---- Writing ---- */

static const struct format {
    const char *name, *suffix;
    void (*write)(const struct compare *compare, const struct report_options *how, struct buf *out);
} FORMATS[] = {
    { "text", ".txt", diff_text },
    { "json", ".json", diff_json },
    { "markdown", ".md", diff_markdown },
};

static const struct format *diff_format(const struct diff_args *args)
{
    struct str name = str_of(args->format ? args->format : args->json ? "json" : "");
    struct str file = str_of(args->output ? args->output : "");
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (name.n ? str_is(name, FORMATS[i].name) : str_ends(file, str_of(FORMATS[i].suffix)))
            return &FORMATS[i];
    return &FORMATS[0];
}

static int report_differences(const struct diff_run *d, const struct compare *compare)
{
    struct buf text = BUF_INIT;
    struct out *out = d->cmd->out;
    const struct format *format = diff_format(d->args);
    bool to_file = d->args->output && strcmp(d->args->output, "-") != 0;
    uint64_t rows = d->args->limit.given                   ? d->args->limit.value
                    : str_is(str_of(format->name), "json") ? 0
                                                           : SHOWN_ROWS;
    const struct report_options how = {
        .width = to_file ? 0 : out->width,
        .styles = to_file ? NULL : out_styles(out),
        .limit = rows > UINT32_MAX ? 0 : (uint32_t)rows,
    };
    format->write(compare, &how, &text);
    int code = out_report(out, d->args->output, d->args->overwrite, &text);
    bool empty = text.n == 0;
    buf_release(&text);
    for (uint32_t i = 0; i < compare->n_notes; i++)
        out_note(out, "%.*s", STR_ARG(compare->notes[i]));
    if (code == EXIT_DONE && empty)
        out_note(out, "no difference");
    return code;
}

/* ---- Reading ---- */

static bool skip_kinds(struct diff_run *d, const char *list, bool skip, const char *option,
                       struct err *err)
{
    struct str rest = str_of(list);
    while (rest.n > 0) {
        size_t comma = str_find_char(rest, ',');
        struct str word = str_trim(str_first(rest, comma));
        enum change_kind kind;
        if (!change_kind_find(word, &kind)) {
            struct buf all = BUF_INIT;
            char hint[NEAREST_TEXT];
            struct nearest search = nearest_of(word);
            for (int i = 0; i < CHANGE_KINDS; i++) {
                const char *name = change_kind_name((enum change_kind)i);
                buf_printf(&all, "%s%s", i ? ", " : "", name);
                nearest_offer(&search, str_of(name));
            }
            err_set(err, ERR_USAGE, "diff: %s: \"%.*s\" is not one of %.*s%s", option,
                    STR_ARG(word), STR_ARG(buf_str(&all)), nearest_text(&search, hint));
            buf_release(&all);
            return false;
        }
        d->options.skip[kind] = skip;
        rest = str_from(rest, comma + 1);
    }
    return true;
}

static bool read_kinds(struct diff_run *d, struct err *err)
{
    for (int i = 0; i < CHANGE_KINDS; i++)
        d->options.skip[i] = d->args->only || i == CHANGE_SUPPRESSED;
    return (!d->args->only || skip_kinds(d, d->args->only, false, "--only", err)) &&
           (!d->args->ignore || skip_kinds(d, d->args->ignore, true, "--ignore", err));
}

static int open_runs(struct diff_run *d)
{
    size_t n = d->cmd->n_operands;
    d->runs = calloc(n + 1, sizeof(struct snapshot *));
    if (!d->runs) {
        struct err err = { 0 };
        err_nomem(&err);
        return out_error(d->cmd->out, &err);
    }
    int code = EXIT_DONE;
    for (size_t i = 0; i < n && code == EXIT_DONE; i++)
        code = diff_run_open(d->cmd->out, d->cmd->operands[i], d->args->strict, &d->runs[i]);
    return code;
}

static int diff_usage(const struct diff_run *d)
{
    const struct diff_args *args = d->args;
    struct out *out = d->cmd->out;
    size_t n = d->cmd->n_operands;
    if (args->json && args->format && strcmp(args->format, "json") != 0)
        return out_usage(out, "diff: --json and --format %s exclude each other", args->format);
    if (args->save)
        return n == 1 && !args->vs.given
                   ? EXIT_DONE
                   : out_usage(out, "diff: --save takes one TAPE and compares nothing");
    if (!args->vs.given && n != 2)
        return out_usage(out, n < 2 ? "diff: name the two sides that are to be compared, as in: "
                                      "symtape diff before.tape after.tape"
                                    : "diff: put --vs between the TAPEs of the two sides");
    if (args->vs.given && (args->vs.value == 0 || args->vs.value == n))
        return out_usage(out, "diff: there is no TAPE %s --vs",
                         args->vs.value ? "behind" : "before");
    if (args->labels && !strchr(args->labels, ','))
        return out_usage(out, "diff: --labels needs two names, as in BEFORE,AFTER");
    return EXIT_DONE;
}

static void set_label(struct diff_run *d, int side, size_t first, size_t n)
{
    struct str given = str_of(d->args->labels ? d->args->labels : "");
    size_t comma = str_find_char(given, ',');
    if (d->args->labels)
        buf_put(&d->labels[side], side ? str_from(given, comma + 1) : str_first(given, comma));
    for (size_t i = 0; i < n && !d->args->labels; i++)
        buf_printf(&d->labels[side], "%s%s", i ? ", " : "", d->cmd->operands[first + i]);
    d->sides[side] =
        (struct compare_side){ buf_str(&d->labels[side]), d->runs + first, (uint32_t)n };
}

/* ---- The command ---- */

static int save_snapshot(struct diff_run *d)
{
    struct buf text = BUF_INIT;
    snapshot_write(d->runs[0], &text);
    int code = out_report(d->cmd->out, d->args->save, d->args->overwrite, &text);
    buf_release(&text);
    return code;
}

static int compare_sides(struct diff_run *d)
{
    struct err err = { 0 };
    size_t first = d->args->vs.given ? (size_t)d->args->vs.value : 1;
    set_label(d, 0, 0, first);
    set_label(d, 1, first, d->cmd->n_operands - first);
    if (d->labels[0].failed || d->labels[1].failed)
        err_nomem(&err);
    struct compare *compare =
        err_is_set(&err) ? NULL : compare_build(&d->sides[0], &d->sides[1], &d->options, &err);
    if (!compare)
        return out_error(d->cmd->out, &err);
    int code = report_differences(d, compare);
    if (code == EXIT_DONE && compare->undecided && d->args->bisect_codes)
        code = EXIT_CANNOT_TELL;
    else if (code == EXIT_DONE && compare->differs)
        code = EXIT_DIFFERS;
    compare_free(compare);
    return code;
}

static int diff(struct diff_run *d)
{
    struct err err = { 0 };
    int code = diff_usage(d);
    if (code != EXIT_DONE)
        return code;
    if (!read_kinds(d, &err))
        return out_error(d->cmd->out, &err);
    code = open_runs(d);
    if (code != EXIT_DONE)
        return code;
    return d->args->save ? save_snapshot(d) : compare_sides(d);
}

static int run_diff(struct cmd *cmd)
{
    struct diff_run d = { .cmd = cmd, .args = cmd->args };
    int code = diff(&d);
    for (size_t i = 0; d.runs && i < cmd->n_operands; i++)
        snapshot_free(d.runs[i]);
    free(d.runs);
    buf_release(&d.labels[0]);
    buf_release(&d.labels[1]);
    return d.args->bisect_codes ? exit_code_for_bisect(code) : code;
}

const struct command command_diff = {
    .synopsis = "[options] BEFORE AFTER\n[options] BEFORE... --vs AFTER...\n--save FILE TAPE",
    .description =
        "Reports what changed between two runs, by how much, and at which user line: compiles, "
        "restarts, recompiles, graph breaks, guards, specializations, symbols, graphs, "
        "operators, caches and times. Names of symbols, line numbers, paths, compile ids and "
        "the order of compiles do not count as differences. If a side has several runs, counts "
        "and times are their medians.",
    .examples = "  symtape diff main.tape branch.tape\n"
                "  symtape diff main1.tape main2.tape --vs new1.tape new2.tape --format markdown\n"
                "  symtape diff --save main.json main.tape\n",
    .options = options,
    .args_size = sizeof(struct diff_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_diff,
};

#include <stdlib.h>

#include "cmd/dash/dash_cmd.h"
#include "profile/dash/dash_report.h"
#include "profile/dash/result_file.h"

static const struct opt options[] = {
    OPT_SPLIT(0, "to", struct dash_args, to,
              "what stands before it is one point, what stands after it is another"),
    OPT_FLAG(0, "together", struct dash_args, together, "everything that is named is one point"),
    OPT_STRING(0, "base", "POINT", struct dash_args, base,
               "compare the last point with this one (default: the one before it)"),
    OPT_STRING(0, "expect", "FILE|FOLDER", struct dash_args, expect,
               "judge each model of the last point by what is expected of it: PyTorch's CSV "
               "files with name, accuracy, graph_breaks"),
    OPT_FLAG(0, "update", struct dash_args, update,
             "write the results of the last point into the files of --expect"),
    OPT_FLAG(0, "partial", struct dash_args, partial,
             "models that are expected and were not run are not MISSING"),
    OPT_STRING(0, "flaky", "MODEL[,MODEL...]", struct dash_args, flaky,
               "models that are known to be flaky"),
    OPT_STRING(0, "peak-tflops", "N", struct dash_args, peak_tflops,
               "peak of the device in TFLOP/s, for MFU where a file has FLOPs and latencies"),
    OPT_NUMBER('n', "limit", "N", struct dash_args, limit,
               "list the N slowest and the N most regressed models; 0: all (default: 5)"),
    OPT_JSON(struct dash_args, json),
    OPT_FLAG(0, "markdown", struct dash_args, markdown, "print Markdown"),
    OPT_FLAG(0, "html", struct dash_args, html,
             "print one HTML page: the tables, charts of the history, all models of each point"),
    OPT_FLAG(0, "pages", struct dash_args, pages,
             "with --html: also write the page of symtape report of each listed model that has a "
             "tape, into FILE_files/"),
    OPT_STRING('o', "output", "FILE", struct dash_args, output,
               "write to this file instead of standard output; its suffix (.json, .md, .html) "
               "sets the format"),
    OPT_OVERWRITE(struct dash_args, overwrite),
    OPT_STRICT(struct dash_args, strict),
    OPT_END,
};

enum { SHOWN_MODELS = 5 };

/* ---- Writing ---- */

static const struct format {
    const char *suffix;
    void (*write)(const struct dash_view *view, const struct verdicts *verdicts,
                  const struct report_options *how, struct buf *out);
    bool exact; /* for other programs */
} FORMATS[] = {
    { ".txt", dash_text_write, false },
    { ".json", dash_json, true },
    { ".md", dash_markdown, false },
    { ".html", dash_html, true },
};

static const struct format *dash_format(const struct dash_args *args)
{
    struct str file = str_of(args->output ? args->output : "");
    if (args->json || args->markdown || args->html)
        return &FORMATS[args->json ? 1 : args->markdown ? 2 : 3];
    for (size_t i = 0; i < sizeof FORMATS / sizeof *FORMATS; i++)
        if (str_ends(file, str_of(FORMATS[i].suffix)))
            return &FORMATS[i];
    return &FORMATS[0];
}

static bool is_to_file(const struct dash_args *args)
{
    return args->output && !str_is(str_of(args->output), "-");
}

static int write_report(struct dash_cmd *d)
{
    struct buf text = BUF_INIT;
    struct out *out = d->cmd->out;
    const struct format *format = dash_format(d->args);
    bool to_file = is_to_file(d->args);
    const struct report_options how = { .width = to_file ? 0 : out->width,
                                        .styles = to_file ? NULL : out_styles(out) };
    format->write(&d->view, d->args->expect ? &d->verdicts : NULL, &how, &text);
    out->exact = format->exact;
    int code = out_report(out, d->args->output, d->args->overwrite, &text);
    buf_release(&text);
    return code;
}

/* ---- Reading ---- */

static int read_points(struct dash_cmd *d)
{
    const struct dash_args *args = d->args;
    size_t n = d->cmd->n_operands, first = (size_t)args->to.value;
    int code = EXIT_DONE;
    if (args->together)
        return dash_point_read(d, 0, n);
    if (args->to.given) {
        code = dash_point_read(d, 0, first);
        return code == EXIT_DONE ? dash_point_read(d, first, n - first) : code;
    }
    for (size_t i = 0; i < n && code == EXIT_DONE; i++)
        code = dash_point_read(d, i, 1);
    return code;
}

static bool find_base(const struct dash_cmd *d, uint32_t *ret, struct err *err)
{
    uint32_t n = (uint32_t)d->dash->points.n;
    struct str name = str_of(d->args->base ? d->args->base : "");
    *ret = n > 1 ? n - 2 : 0;
    if (!d->args->base)
        return true;
    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    for (uint32_t i = 0; i < n; i++)
        if (str_eq(d->dash->points.v[i].label, name)) {
            *ret = i;
            return true;
        }
    return err_set(err, ERR_USAGE, "dash: --base %s: no point has this name", d->args->base);
}

/* ---- The command ---- */

static int dash_usage(struct dash_cmd *d)
{
    const struct dash_args *args = d->args;
    struct out *out = d->cmd->out;
    if (args->json + args->markdown + args->html > 1)
        return out_usage(out, "dash: --json, --markdown and --html exclude each other");
    if (args->to.given && args->together)
        return out_usage(out, "dash: --to and --together exclude each other");
    if (args->to.given && (args->to.value == 0 || args->to.value == d->cmd->n_operands))
        return out_usage(out, "dash: there is nothing %s --to",
                         args->to.value ? "behind" : "before");
    if (args->pages && (dash_format(args)->write != dash_html || !is_to_file(args)))
        return out_usage(out, "dash: --pages needs --html and -o FILE");
    if (!args->expect && (args->update || args->partial || args->flaky))
        return out_usage(out, "dash: --update, --partial and --flaky need --expect");
    if (args->peak_tflops &&
        (!result_number(str_of(args->peak_tflops), &d->peak_tflops) || !(d->peak_tflops > 0)))
        return out_usage(out, "dash: --peak-tflops %s: not a number above 0", args->peak_tflops);
    return EXIT_DONE;
}

static int make_view(struct dash_cmd *d)
{
    struct err err = { 0 };
    const struct opt_number *limit = &d->args->limit;
    struct dash_view_options how = { .limit = SHOWN_MODELS };
    if (limit->given)
        how.limit = limit->value > UINT32_MAX ? 0 : (uint32_t)limit->value;
    bool ok = find_base(d, &how.base, &err) && dash_finish(d->dash, &err) &&
              dash_view_make(d->dash, &how, &d->view, &err);
    return ok ? dash_differences(d) : out_error(d->cmd->out, &err);
}

static int dash(struct dash_cmd *d)
{
    struct err err = { 0 };
    int code = dash_usage(d);
    if (code != EXIT_DONE)
        return code;
    d->dash = dash_new(&err);
    if (!d->dash)
        return out_error(d->cmd->out, &err);
    code = read_points(d);
    if (code == EXIT_DONE)
        code = make_view(d);
    if (code == EXIT_DONE && d->args->expect)
        code = dash_expect(d);
    if (code == EXIT_DONE && d->args->pages)
        code = dash_pages(d);
    if (code == EXIT_DONE)
        code = write_report(d);
    return code == EXIT_DONE && d->verdicts.fails && !d->args->update ? EXIT_DIFFERS : code;
}

static int run_dash(struct cmd *cmd)
{
    struct dash_cmd d = { .cmd = cmd, .args = cmd->args };
    int code = dash(&d);
    for (size_t i = 0; i < d.expectations.n; i++)
        expectations_release(&d.expectations.v[i]);
    vec_release(&d.expectations);
    vec_release(&d.flaky);
    verdicts_release(&d.verdicts);
    dash_view_release(&d.view);
    dash_free(d.dash);
    return code;
}

const struct command command_dash = {
    .synopsis = "[options] POINT...\n[options] BEFORE... --to AFTER...",
    .description =
        "Prints the table of benchmark suites: pass rate, speed-up, compile time, peak-memory "
        "ratio and MFU by suite, compiler, dtype, mode and device, at one point or several, and "
        "what changed between two. A POINT is a file or a folder of files: result files of "
        "PyTorch's benchmarks (CSV), JSON lines, tapes. Exits with 1 if --expect is given and a "
        "model is not as expected.",
    .examples = "  symtape dash results/\n"
                "  symtape dash monday/ tuesday/ wednesday/ -o week.html\n"
                "  symtape dash old.csv --to new.csv\n"
                "  symtape dash results/ --expect ci_expected_accuracy/ --update\n",
    .options = options,
    .args_size = sizeof(struct dash_args),
    .min_operands = 1,
    .max_operands = OPERANDS_ANY,
    .run = run_dash,
};

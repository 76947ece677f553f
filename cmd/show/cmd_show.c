#include "cmd/cli/nearest.h"
#include "cmd/show/show.h"
#include "profile/env_levels/env_levels.h"

static const struct opt options[] = {
    OPT_FLAG(0, "graphs", struct show_args, graphs,
             "list the graphs by the names that --graph takes (the default)"),
    OPT_OPTIONAL(0, "graph", "SELECTOR", struct show_args, graph,
                 "print one graph: COMPILE[_ATTEMPT][:KIND[#I]], or the one that TAPE names"),
    OPT_FLAG(0, "guards", struct show_args, guards,
             "list guards: expression, values, the code that asked, user line"),
    OPT_FLAG(0, "symbols", struct show_args, symbols,
             "list symbols: value, range, source, user line, what specialized them"),
    OPT_FLAG(0, "specializations", struct show_args, specializations,
             "list symbols that became numbers, and why"),
    OPT_FLAG(0, "levels", struct show_args, levels,
             "list what each stage (Dynamo, AOTAutograd, Inductor) replaced and guarded"),
    OPT_FLAG(0, "signature", struct show_args, signature,
             "print the inputs, outputs, range constraints and guards of a .pt2's program"),
    OPT_FLAG(0, "weights", struct show_args, weights,
             "list a .pt2's tensors: dtype, sizes, and their place in the archive"),
    OPT_OPTIONAL(0, "events", "NAME", struct show_args, events,
                 "list every record, or those of one event"),
    OPT_STRING(0, "artifact", "NAME[#I]", struct show_args, artifact,
               "print the payloads of an artifact or event"),
    OPT_FLAG(0, "restarts", struct show_args, restarts,
             "list restarts: attempts that were thrown away, and why"),
    OPT_FLAG(0, "recompiles", struct show_args, recompiles,
             "list recompiles: compiles of a frame that was compiled before, and the guards "
             "that failed"),
    OPT_FLAG(0, "breaks", struct show_args, breaks,
             "list graph breaks, and the graphs that they cause"),
    OPT_FLAG(0, "caches", struct show_args, caches,
             "list lookups of compile caches: hit, miss or bypass, and why"),
    OPT_FLAG(0, "failures", struct show_args, failures, "list compiles that ended in an error"),
    OPT_FLAG(0, "kernels", struct show_args, kernels,
             "list Inductor's kernels, the slowest first: compile and autotuning time, nodes, user "
             "line; programs; fusions that failed"),
    OPT_STRING(0, "compile", "ID[_N]", struct show_args, compile,
               "only this compile (0/0), or one attempt of it (0/0_1)"),
    OPT_NUMBER(0, "attempt", "N", struct show_args, attempt, "only attempts with this number"),
    OPT_STRING(0, "recording", "NAME", struct show_args, recording, "only this recording"),
    OPT_STRING(0, "file", "TEXT", struct show_args, file,
               "only user lines whose file has TEXT in its path"),
    OPT_NUMBER('n', "limit", "N", struct show_args, limit,
               "print at most N rows of each list; 0 prints all"),
    OPT_FLAG(0, "stack", struct show_args, stack,
             "print whole stacks, not only the innermost line"),
    OPT_JSON(struct show_args, json),
    OPT_STRICT(struct show_args, strict),
    OPT_END,
};

struct str show_nearest_option(struct str word)
{
    struct nearest search = nearest_of(word);
    for (const struct opt *o = options; o->kind != OPT_KIND_END; o++)
        if (o->kind == OPT_KIND_FLAG)
            nearest_offer(&search, str_of(o->name));
    return search.best;
}

/* Suggests an option for an operand that names a list, as in "TAPE:gaurds". */
static void suggest_option(struct show *show, const char *operand)
{
    const char *colon = strrchr(operand, ':');
    struct str option = colon ? show_nearest_option(str_of(colon + 1)) : STR("");
    if (option.n)
        out_note(show->out, "did you mean: symtape show %.*s --%.*s?", (int)(colon - operand),
                 operand, STR_ARG(option));
}

/* Returns the requested views, in the order in which they are printed. */
static size_t chosen_views(const struct show_args *args, const struct show_view **ret)
{
    const struct {
        bool chosen;
        const struct show_view *view;
    } views[] = {
        { args->graphs, &show_graphs },         { args->guards, &show_guards },
        { args->symbols, &show_symbols },       { args->specializations, &show_specializations },
        { args->levels, &show_levels },         { args->levels, &show_conditions },
        { args->signature, &show_inputs },      { args->signature, &show_outputs },
        { args->signature, &show_ranges },      { args->signature, &show_guards_code },
        { args->weights, &show_weights },       { args->restarts, &show_restarts },
        { args->recompiles, &show_recompiles }, { args->breaks, &show_breaks },
        { args->caches, &show_caches },         { args->failures, &show_failures },
        { args->kernels, &show_kernels },       { args->kernels, &show_programs },
        { args->kernels, &show_fusions },       { args->events != NULL, &show_events },
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof views / sizeof views[0]; i++)
        if (views[i].chosen)
            ret[n++] = views[i].view;
    return n;
}

enum { VIEWS = 20 };

/* Filters given as options narrow the operand's selector. */
static bool narrow_selector(struct selector *selector, const struct show_args *args,
                            struct err *err)
{
    if (args->recording)
        selector->recording = str_of(args->recording);
    if (args->compile) {
        struct selector part;
        if (!selector_parse_part(&part, str_of(args->compile), err))
            return false;
        if (part.compile.n == 0 || part.kind.n)
            return err_set(err, ERR_USAGE, "--compile: \"%s\" is not a compile id, as 0/0 or 0/0_1",
                           args->compile);
        selector->compile = part.compile;
        selector->attempt = part.attempt;
    }
    if (args->attempt.given)
        selector->attempt =
            args->attempt.value > INT64_MAX ? INT64_MAX : (int64_t)args->attempt.value;
    return true;
}

static void open_json(struct show *show)
{
    show->w = json_writer_of(&show->text);
    json_open_object(&show->w, NULL);
    json_put_cstr(&show->w, "schema", SCHEMA_SHOW);
    json_put_str(&show->w, "tape", show->trace->path);
}

static int close_json(struct show *show)
{
    struct buf omitted = BUF_INIT;
    buf_printf(&omitted, "{%.*s}", STR_ARG(buf_str(&show->omitted)));
    json_put_raw(&show->w, "omitted", buf_str(&omitted));
    if (omitted.failed || show->omitted.failed)
        show->text.failed = true;
    buf_release(&omitted);
    json_close(&show->w);
    buf_putc(&show->text, '\n');
    return out_buf(show->out, &show->text);
}

/* Prints a heading before each of several lists; in JSON, keys take their place. */
static void print_title(struct show *show, const char *title, bool first)
{
    struct buf text = BUF_INIT;
    if (show->args->json)
        return;
    buf_puts(&text, first ? "" : "\n");
    style_mark(out_styles(show->out), &text, STYLE_BOLD);
    buf_puts(&text, title);
    style_mark(out_styles(show->out), &text, STYLE_NONE);
    buf_putc(&text, '\n');
    out_buf(show->out, &text);
    buf_release(&text);
}

static int print_views(struct show *show)
{
    const struct show_view *views[VIEWS];
    const struct show_args *args = show->args;
    size_t n = chosen_views(args, views);
    bool single = args->graph || args->artifact || show->selector.kind.n;
    int code = EXIT_DONE;
    if (n == 0 && !single)
        views[n++] = &show_graphs;
    for (size_t i = 0; i < n && code == EXIT_DONE; i++) {
        if (n > 1)
            print_title(show, views[i]->key, i == 0);
        code = show_list(show, views[i]);
    }
    if (code == EXIT_DONE && args->artifact)
        code = show_artifact(show);
    if (code == EXIT_DONE && (args->graph || (n == 0 && !args->artifact)))
        code = show_graph(show);
    return code;
}

static int run_show(struct cmd *cmd)
{
    struct show show = { .out = cmd->out, .args = cmd->args };
    struct tape_arg tape;
    struct err err = { 0 };
    unsigned flags =
        (show.args->strict ? TAPE_ARG_STRICT : 0) | (show.args->failures ? TAPE_ARG_FAILURES : 0);
    int code = tape_arg_open(&tape, cmd->out, cmd->operands[0], flags);
    if (code == EXIT_USAGE)
        suggest_option(&show, cmd->operands[0]);
    if (code == EXIT_DONE) {
        show.trace = tape.trace;
        show.selector = tape.selector;
        if (!narrow_selector(&show.selector, show.args, &err) ||
            !selector_check(show.trace, &show.selector, &err))
            code = out_error(cmd->out, &err);
    }
    if (code == EXIT_DONE) {
        if (show.args->json)
            open_json(&show);
        code = print_views(&show);
        if (show.args->json && code == EXIT_DONE)
            code = close_json(&show);
    }
    env_levels_free(show.levels);
    buf_release(&show.text);
    buf_release(&show.omitted);
    tape_arg_close(&tape);
    return code;
}

const struct command command_show = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT][:KIND[#I]]]",
    .description =
        "Prints what was recorded: lists of graphs, guards, symbols, events and incidents, "
        "single graphs, single payloads. Several lists can be printed at once.",
    .examples = "  symtape show bert.tape --guards --file model.py\n"
                "  symtape show bert.tape --kernels --limit 10\n"
                "  symtape show bert.tape:0/0:forward\n"
                "  symtape show bert.tape --artifact fx_graph_cache_miss --json\n"
                "  symtape show moe.pt2 --signature --weights\n",
    .options = options,
    .args_size = sizeof(struct show_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run_show,
};


#include "cmd/bisect/bisect.h"
#include "cmd/cli/fx_arg.h"
#include "cmd/cli/memory_limit.h"
#include "cmd/cli/search_signals.h"
#include "trace/events/guards.h"
#include "trace/events/user_line.h"

static const struct opt options[] = {
    OPT_STRING(0, "guard", "EXPR", struct bisect_args, guard,
               "find the event that adds this guard, as in 'Eq(s27, 16)'"),
    OPT_STRING(0, "specializes", "SYMBOL", struct bisect_args, specializes,
               "find the event that makes this symbol a number; it is named by itself or by its "
               "source"),
    OPT_STRING(0, "error", "REGEX", struct bisect_args, error,
               "find the first call whose error or mismatch matches REGEX (default: any)",
               .old = "expect"),
    OPT_STRING(0, "check", "CMD", struct bisect_args, check,
               "run CMD on the graph cut after a call, as symtape-minify(1) does; exit code 0: "
               "bad, 1 to 124: good, 125: cannot tell"),
    OPT_ALLOW(struct bisect_args, allow),
    OPT_STRING(0, "commits", "A..B", struct bisect_args, commits,
               "find the first of these commits in which --suite fails"),
    OPT_LIST(0, "python", "NAME=PYTHON", struct bisect_args, pythons,
             "given once for each release, the good one first: find the first release of PyTorch "
             "with which --suite fails; it gets $SYMTAPE_RELEASE and $SYMTAPE_PYTHON, and PYTHON "
             "runs a suite whose name ends in .py"),
    OPT_STRING(0, "suite", "FILE", struct bisect_args, suite,
               "the program that is run on each version, in the files of a commit; exit code 0: "
               "good, 1 to 124: bad, 125: cannot tell"),
    OPT_NUMBER(0, "repeat", "K", struct bisect_args, repeat,
               "with --suite: a version is good if K runs do not fail (default: 1)"),
    OPT_STRING(0, "launcher", "LAUNCH", struct bisect_args, launcher,
               "with --suite: run it by workers that this command starts, one for each job, as in "
               "'srun -N1 -n1 --gpus=1' or 'ssh HOST'"),
    OPT_STRING(0, "log", "FILE", struct bisect_args, log,
               "with --suite: write each answer here (default: bisect.log), and begin with those "
               "that are there; git bisect replay takes it"),
    OPT_OVERWRITE(struct bisect_args, overwrite),
    OPT_FLAG(0, "invert", struct bisect_args, invert,
             "with --check: exit code 0 means good, 1 to 124 bad; with --suite: bad, and good"),
    OPT_STRING(0, "timeout", "TIME", struct bisect_args, timeout,
               "time limit for a run of CMD (default: 5m) or of the suite (1h): 90, 90s, 15m"),
    OPT_STRING(0, "inject-fault", "FAULT", struct bisect_args, inject_fault,
               "inject a fault into the shape engine, for tests: flip-equality:N, ...",
               .old = "inject"),
    OPT_FLAG(0, "first-difference", struct bisect_args, between,
             "find the first event or node in which the second TAPE differs from the first",
             .old = "between"),
    OPT_STRING(0, "first-bad", "ID", struct bisect_args, only,
               "exit with 1 only if the first bad event is this one, and with 125 if it is "
               "another, so that git bisect does not follow another bug",
               .old = "only"),
    OPT_FLAG(0, "from-end", struct bisect_args, from_end, "search near the end first"),
    OPT_NUMBER('j', "jobs", "N", struct bisect_args, jobs, "run N checks at once (default: 1)"),
    OPT_NUMBER(0, "extra-checks", "N", struct bisect_args, extra_checks,
               "with --check and --suite: check N more places for answers that contradict the "
               "result (default: 3, of a suite 0)",
               .old = "looks"),
    OPT_FLAG('l', "list", struct bisect_args, list, "list the events"),
    OPT_FLAG(0, "bisect-codes", struct bisect_args, bisect_codes,
             "exit as git bisect run expects: 0 good, 1 bad, 125 cannot tell"),
    OPT_JSON(struct bisect_args, json),
    OPT_END,
};

struct bisect_job {
    struct cmd *cmd;
    const struct bisect_args *args;
    struct bisect_question question;
    const atomic_bool *stop;
    struct buf said;
};

/* ---- One graph ---- */

struct state_probe {
    const struct candidate *candidate;
    struct bisect_question question;
    const struct bisect_events *events;
};

/* Uses the answer that the walk over the whole graph left for this state, or walks up to this
 * state. */
static enum bisect_answer probe_state(void *user, uint32_t state, bool fresh, struct err *err)
{
    struct state_probe *in = user;
    struct bisect_events again;
    if (!fresh)
        return bisect_events_hit(in->events, state) ? BISECT_BAD : BISECT_GOOD;
    if (!bisect_events_walk(in->candidate, &in->question, state, &again, err)) {
        bisect_events_release(&again);
        return BISECT_BROKEN;
    }
    bool same = again.list.n == state;
    for (size_t i = 0; i < again.list.n && same; i++)
        same = again.list.v[i].id == in->events->list.v[i].id;
    bool bad = bisect_events_hit(&again, state);
    bisect_events_release(&again);
    return !same ? BISECT_SKIP : bad ? BISECT_BAD : BISECT_GOOD;
}

static bool bisect_graph(struct bisect_job *b, const struct candidate *candidate,
                         struct bisect_events *events, struct bisect_result *result,
                         struct err *err)
{
    struct state_probe in = { candidate, b->question, events };
    *result = (struct bisect_result){ .monotone = true };
    if (b->args->check)
        return bisect_by_command(b->args, candidate, b->stop, events, result, &b->said, err);
    if (!bisect_events_walk(candidate, &b->question, UINT32_MAX, events, err))
        return false;
    in.question.exactly = events->exact;
    const struct bisect_options how = {
        .n = (uint32_t)events->list.n,
        .jobs = b->args->jobs.given ? (uint32_t)b->args->jobs.value : 1,
        .from_end = b->args->from_end,
        .probe = probe_state,
        .user = &in,
        .stop = b->stop,
    };
    return bisect_run(&how, result, err);
}

/* ---- The selected graphs ---- */

/* With a kind: the graph of that name. Otherwise: the graphs of the attempt, which is the last one
 * by default. */
static bool is_searched(const struct trace *trace, const struct selector *selector,
                        const struct graph_ref *ref)
{
    if (!ref->is_event && ref->kind != GRAPH_EXPORTED)
        return false;
    if (!selector_has_attempt(trace, selector, ref->attempt))
        return false;
    return selector->attempt >= 0 || ref->attempt == TRACE_NONE ||
           trace->attempts[ref->attempt].next == TRACE_NONE;
}

static struct candidate *load_candidate(struct trace *trace, const struct graph_list *list,
                                        uint32_t ref, struct buf *name, struct err *err)
{
    const struct candidate_options plain = { 0 };
    struct selector selector;
    selector_print_graph(trace, list, ref, name);
    if (name->failed)
        return err_nomem(err), NULL;
    struct str part = buf_str(name);
    part = str_starts(part, STR(":")) ? str_from(part, 1) : part;
    return selector_parse_part(&selector, part, err) ? candidate_load(trace, &selector, &plain, err)
                                                     : NULL;
}

/* The record of a guard that no call asked for names the code that added it, and its line. */
static bool find_recorded(struct trace *trace, const struct graph_ref *ref,
                          struct bisect_event *event, struct err *err)
{
    const struct guard_list *guards = trace_guards(trace, err);
    if (!guards)
        return false;
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *guard = &guards->guards[i];
        if (guard->attempt != ref->attempt || guard->kind == GUARD_SUPPRESSED ||
            !str_eq(guard->expr, event->expr))
            continue;
        uint32_t recording = trace->records[guard->record].recording;
        struct frame frame =
            stack_frame(trace, recording, user_line(trace, recording, guard->user_stack));
        event->recorded = guard_class_name(guard->asked_by);
        event->file = frame.file;
        event->function = frame.function;
        event->code = frame.code;
        event->line = frame.line;
        return true;
    }
    return true;
}

static bool find_recorded_ends(struct trace *trace, const struct graph_ref *ref,
                               struct bisect_events *events, const struct bisect_result *result,
                               struct err *err)
{
    const uint32_t numbers[] = { result->good, result->bad };
    for (size_t i = 0; i < 2; i++) {
        struct bisect_event *event =
            numbers[i] && numbers[i] <= events->list.n ? &events->list.v[numbers[i] - 1] : NULL;
        bool guard =
            event && (event->kind == BISECT_EVENT_GUARD || event->kind == BISECT_EVENT_ASSERT);
        if (guard && !event->asked && !find_recorded(trace, ref, event, err))
            return false;
    }
    return true;
}

/* The graph that is searched. */
struct searched_graph {
    struct str name;
    struct trace *trace; /* NULL: FX text, of which there are no records */
    const struct graph_ref *ref;
    uint32_t nth; /* the last of the selected graphs */
    bool last;
};

static int bisect_candidate(struct bisect_job *b, const struct candidate *candidate,
                            const struct searched_graph *place, struct err *err, bool *over)
{
    struct bisect_events events = { .whole = false };
    struct bisect_result result = { .monotone = true };
    int code = EXIT_DONE;
    if (b->args->check)
        memory_limit_end(b->cmd->out->limit); /* CMD would inherit it */
    bool good =
        candidate && bisect_graph(b, candidate, &events, &result, err) &&
        (!place->trace || find_recorded_ends(place->trace, place->ref, &events, &result, err));
    const struct bisect_report report = { .graph = place->name,
                                          .events = &events,
                                          .result = &result,
                                          .graphs = place->nth,
                                          .said = buf_str(&b->said) };
    *over = !good || result.end != BISECT_NEVER;
    if (!good) {
        err_at(err, "bisect: %.*s", STR_ARG(place->name));
        code = out_error(b->cmd->out, err);
    } else if (b->args->list) {
        code = bisect_list(b->cmd, b->args, &report);
    } else if (*over || place->last) {
        code = bisect_report(b->cmd, b->args, &report);
    }
    bisect_events_release(&events);
    bisect_result_release(&result);
    return code;
}

static int bisect_ref(struct bisect_job *b, struct trace *trace, const struct graph_list *list,
                      uint32_t ref, uint32_t nth, bool last, bool *over)
{
    struct err err = { 0 };
    struct buf name = BUF_INIT;
    struct candidate *candidate = load_candidate(trace, list, ref, &name, &err);
    const struct searched_graph place = { buf_str(&name), trace, &list->refs[ref], nth, last };
    int code = bisect_candidate(b, candidate, &place, &err, over);
    candidate_free(candidate);
    buf_release(&name);
    return code;
}

static int bisect_tape(struct bisect_job *b, struct tape_arg *tape)
{
    struct err err = { 0 };
    struct trace *trace = tape->trace;
    const struct graph_list *list = trace_graphs(trace, &err);
    uint32_t one = UINT32_MAX, last = UINT32_MAX, nth = 0;
    if (!list)
        return out_error(b->cmd->out, &err);
    if (tape->selector.kind.n && !selector_graph(trace, list, &tape->selector, &one, &err))
        return out_error(b->cmd->out, &err);
    for (uint32_t i = 0; i < list->n; i++)
        if (one == UINT32_MAX ? is_searched(trace, &tape->selector, &list->refs[i]) : i == one)
            last = i;
    if (last == UINT32_MAX)
        return out_usage(b->cmd->out,
                         "bisect: %s: no graph is recorded there; symtape record --deep records "
                         "the partial graph of a compile that fails",
                         b->cmd->operands[0]);
    bool over = false;
    int code = EXIT_DONE;
    for (uint32_t i = 0; i <= last && !over && code == EXIT_DONE; i++)
        if (one == UINT32_MAX ? is_searched(trace, &tape->selector, &list->refs[i]) : i == one)
            code = bisect_ref(b, trace, list, i, ++nth, i == last, &over);
    return code;
}

static int bisect_operand(struct bisect_job *b)
{
    const struct candidate_options plain = { 0 };
    const struct searched_graph place = { .name = str_of(b->cmd->operands[0]),
                                          .nth = 1,
                                          .last = true };
    struct err err = { 0 };
    struct tape_arg tape = { .trace = NULL };
    bool over;
    struct candidate *candidate =
        fx_arg_read(b->cmd->operands[0], &plain, &b->cmd->out->limit->meter, &err);
    int code;
    if (candidate || err_is_set(&err)) {
        code = candidate ? bisect_candidate(b, candidate, &place, &err, &over)
                         : out_error(b->cmd->out, &err);
    } else {
        code = tape_arg_open(&tape, b->cmd->out, b->cmd->operands[0], 0);
        code = code == EXIT_DONE ? bisect_tape(b, &tape) : code;
    }
    candidate_free(candidate);
    tape_arg_close(&tape);
    return code;
}

/* Ctrl-C ends the search; what is known by then is reported. */
static int search_graphs(struct bisect_job *b)
{
    struct search_signals signals;
    b->stop = search_signals_begin(&signals);
    int code = bisect_operand(b);
    search_signals_end(&signals);
    return code;
}

/* ---- Between two tapes ---- */

static int compare_opened_tapes(struct bisect_job *b, struct tape_arg *tapes)
{
    struct err err = { 0 };
    struct bisect_difference difference;
    struct outline *outlines[2] = { NULL, NULL };
    for (int i = 0; i < 2; i++)
        outlines[i] = outline_build(tapes[i].trace, &tapes[i].selector, &err);
    struct align *align =
        outlines[0] && outlines[1] ? align_outlines(outlines[0], outlines[1], &err) : NULL;
    int code;
    if (align) {
        bisect_between(align, &difference);
        code = bisect_report_between(b->cmd, b->args, &difference);
    } else {
        code = out_error(b->cmd->out, &err);
    }
    align_free(align);
    outline_free(outlines[0]);
    outline_free(outlines[1]);
    return code;
}

static int compare_tapes(struct bisect_job *b)
{
    struct tape_arg tapes[2] = { { .trace = NULL }, { .trace = NULL } };
    int code = EXIT_DONE;
    for (size_t i = 0; i < 2 && code == EXIT_DONE; i++)
        code = tape_arg_open(&tapes[i], b->cmd->out, b->cmd->operands[i], 0);
    if (code == EXIT_DONE)
        code = compare_opened_tapes(b, tapes);
    tape_arg_close(&tapes[0]);
    tape_arg_close(&tapes[1]);
    return code;
}

/* ---- The command ---- */

static int check_args(struct bisect_job *b)
{
    const struct bisect_args *args = b->args;
    struct out *out = b->cmd->out;
    unsigned questions = !!args->error + !!args->guard + !!args->specializes + !!args->check;
    if (questions > 1)
        return out_usage(out, "bisect: --error, --guard, --specializes and --check exclude each "
                              "other");
    if (args->between && (questions || args->inject_fault || args->list))
        return out_usage(out,
                         "bisect: --first-difference cannot be combined with --error, --guard, "
                         "--specializes, --check, --inject-fault or --list");
    if (args->suite || args->repeat.given || args->launcher || args->log || args->overwrite)
        return out_usage(out, "bisect: --suite, --repeat, --launcher, --log and --overwrite need "
                              "--commits or --python");
    if (b->cmd->n_operands == 0)
        return out_usage(out, "bisect: an argument is missing: name a TAPE, --commits A..B or "
                              "--python NAME=PYTHON");
    if (args->between != (b->cmd->n_operands == 2))
        return out_usage(out, args->between
                                  ? "bisect: --first-difference needs two TAPEs"
                                  : "bisect: name one TAPE, or two with --first-difference");
    if ((args->invert || args->timeout || args->extra_checks.given || args->allow) && !args->check)
        return out_usage(out, "bisect: --invert, --timeout, --extra-checks and --allow need "
                              "--check");
    if (args->only && (strlen(args->only) != 16 || strspn(args->only, "0123456789abcdef") != 16))
        return out_usage(
            out,
            "bisect: --first-bad: \"%s\" is not an event's id, as in e1c81bad162d1681; "
            "the last line of an earlier run prints it",
            args->only);
    if (args->jobs.given && (args->jobs.value < 1 || args->jobs.value > 256))
        return out_usage(out, "bisect: --jobs must be from 1 to 256");
    if (args->extra_checks.given && args->extra_checks.value > 1000000)
        return out_usage(out, "bisect: --extra-checks must be at most 1000000");
    b->question =
        (struct bisect_question){ .kind = BISECT_FAILURE,
                                  .what = str_of(args->error ? args->error : ""),
                                  .inject = str_of(args->inject_fault ? args->inject_fault : "") };
    if (args->guard) {
        b->question.kind = BISECT_GUARD;
        b->question.what = str_of(args->guard);
    } else if (args->specializes) {
        b->question.kind = BISECT_SPECIALIZES;
        b->question.what = str_of(args->specializes);
    }
    return EXIT_DONE;
}

/* The options of versions, and of graphs. */
static int check_version_args(struct bisect_job *b)
{
    const struct bisect_args *args = b->args;
    struct out *out = b->cmd->out;
    bool others = args->error || args->guard || args->specializes || args->check || args->allow ||
                  args->inject_fault || args->between || args->only || args->list;
    if (args->commits && args->pythons.n)
        return out_usage(out, "bisect: --commits and --python exclude each other");
    if (!args->suite)
        return out_usage(out, "bisect: --commits and --python need --suite");
    if (others || b->cmd->n_operands)
        return out_usage(out, "bisect: --commits and --python take no TAPE, and only --suite, "
                              "--repeat, --jobs, --launcher, --log, --timeout, --invert, "
                              "--from-end, --extra-checks, --bisect-codes, "
                              "--overwrite and --json");
    return EXIT_DONE;
}

static int run_bisect(struct cmd *cmd)
{
    struct bisect_job b = { .cmd = cmd, .args = cmd->args };
    const struct bisect_args *args = b.args;
    bool versions = args->commits || args->pythons.n;
    int code = versions ? check_version_args(&b) : check_args(&b);
    if (code == EXIT_DONE && versions)
        code = bisect_by_versions(cmd, args);
    else if (code == EXIT_DONE)
        code = b.args->between ? compare_tapes(&b) : search_graphs(&b);
    buf_release(&b.said);
    return b.args->bisect_codes ? exit_code_for_bisect(code) : code;
}

const struct command command_bisect = {
    .synopsis =
        "[options] TAPE:COMPILE[:KIND]\n[options] ARCHIVE.pt2 | GRAPH.fx\n--first-difference TAPE TAPE\n"
        "--commits A..B --suite FILE\n--python NAME=PYTHON... --suite FILE",
    .description =
        "Finds the first event of a compile after which a guard holds, a symbol is a number, a "
        "call fails, or a command reports a failure. It replays the compile's events (symbols, "
        "guards, asserts, replacements, specializations, calls), and checks the state before "
        "and the state after the event once more before it reports it. Over commits or releases "
        "it finds the first one in which a suite fails, several at once with --jobs.",
    .examples = "symtape bisect bert.tape:0/0 --guard 'Eq(s27, 16)'\n"
                "symtape bisect bert.tape:0/0:forward --check ./fails.sh --jobs 4\n"
                "symtape bisect --first-difference before.tape after.tape\n"
                "symtape bisect --commits v1.0..main --suite ./nightly.sh -j 4 --repeat 3\n"
                "symtape bisect --python 2.12=py12 --python 2.13=py13 --suite repro.py",
    .options = options,
    .args_size = sizeof(struct bisect_args),
    .min_operands = 0,
    .max_operands = 2,
    .run = run_bisect,
};

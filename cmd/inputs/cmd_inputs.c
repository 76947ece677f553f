#include <stdlib.h>

#include "cmd/cli/nearest.h"
#include "cmd/cli/place.h"
#include "cmd/inputs/inputs.h"
#include "cmd/solver/solver_arg.h"
#include "cmd/symbols/outside_symbols.h"
#include "profile/model/format.h"
#include "trace/events/user_line.h"
#include "trace/graphs.h"

enum {
    ROWS_DEFAULT = 20,
    KNOWN_SHOWN = 6,
    SECONDS_DEFAULT = 10,
    SECONDS_MOST = 1000000,
    SYMBOLS_MOST = 4096
};

static const struct opt options[] = {
    OPT_STRING(0, "cover", "SIZES", struct inputs_args, cover,
               "whether all of these sizes satisfy the guards: s0=1..4096,s1=8..1024:8; sources "
               "can be named instead of symbols"),
    OPT_STRING(0, "assume", "EXPR", struct inputs_args, assume,
               "only sizes that satisfy this condition, such as s1 <= s0 and s0 % 2 == 0"),
    OPT_SOLVER(struct inputs_args, solver),
    OPT_CALLS(struct inputs_args, calls),
    OPT_NUMBER('n', "limit", "N", struct inputs_args, limit,
               "find at most N regions, print at most N rows of each list (default 20, 0: all)"),
    OPT_NUMBER(0, "seconds", "N", struct inputs_args, seconds,
               "look for regions of a compile for at most N seconds (default 10)"),
    OPT_FLAG(0, "python", struct inputs_args, python,
             "print a Python program with an input for each region"),
    OPT_CHOICE(0, "run", "cpu|cuda|null", struct inputs_args, run,
               "run the smallest sizes of each region that a compile serves, and compare with the "
               "CPU reference; null counts calls and memory"),
    OPT_JSON(struct inputs_args, json),
    OPT_STRICT(struct inputs_args, strict),
    OPT_END,
};

/* ---- Where ---- */

void inputs_put_name(const struct inputs_run *run, const struct conditions *conditions,
                     struct buf *out)
{
    if (conditions->attempt != TRACE_NONE)
        place_attempt(run->tape.trace, conditions->attempt, out);
    else
        format_text(out, run->tape.trace->recordings[conditions->recording].name, 0);
}

void inputs_json_name(const struct inputs_run *run, const struct conditions *conditions,
                      struct json_writer *w)
{
    const struct trace *trace = run->tape.trace;
    place_attempt_json(trace, conditions->record, conditions->attempt, w);
    json_put_cstr(w, "status",
                  conditions->attempt == TRACE_NONE
                      ? NULL
                      : attempt_status_name(trace->attempts[conditions->attempt].status));
}

void inputs_put_line(const struct inputs_run *run, const struct conditions *conditions,
                     const struct condition *condition, struct buf *out)
{
    struct frame frame = condition_frame(run->tape.trace, conditions->recording, condition);
    if (!frame.file.n)
        return;
    format_place(out, frame.file, frame.line);
    if (!frame.code.n)
        return;
    buf_puts(out, " `");
    format_text(out, frame.code, 120);
    buf_putc(out, '`');
}

void inputs_json_line(const struct trace *trace, uint32_t recording,
                      const struct condition *condition, struct json_writer *w)
{
    struct frame frame = condition_frame(trace, recording, condition);
    if (!condition->location) {
        place_json(trace, recording, user_line(trace, recording, condition->user_stack), w, "line");
        return;
    }
    json_open_object(w, "line");
    json_put_str(w, "file", frame.file);
    json_put_u64(w, "line", frame.line);
    json_put_str(w, "function", frame.function);
    json_put_str(w, "code", frame.code);
    json_close(w);
}

void inputs_put_symbol(const struct conditions *conditions, sym_id symbol, struct buf *out)
{
    const struct condition_symbol *row = conditions_symbol(conditions, symbol);
    format_text(out, row && row->made ? row->source : sym_name(conditions->pool, symbol), 0);
}

bool inputs_failed(const struct inputs_run *run, const struct conditions *conditions)
{
    return conditions->attempt != TRACE_NONE &&
           run->tape.trace->attempts[conditions->attempt].status == ATTEMPT_FAILED;
}

/* ---- One compile ---- */

static struct str compile_name(const struct inputs_run *run, const struct conditions *conditions)
{
    const struct trace *trace = run->tape.trace;
    return conditions->attempt == TRACE_NONE ? trace->recordings[conditions->recording].name
                                             : trace->attempts[conditions->attempt].compile;
}

static bool answer_cover(struct inputs_run *run, struct conditions *conditions,
                         struct inputs_ranges *ranges, struct err *err)
{
    struct inputs_names names;
    struct cover cover = { 0 };
    bool ok = conditions_read_sizes(conditions, run->tape.trace, err);
    if (!ok)
        return false;
    ok = inputs_names_make(&names, run->tape.trace, conditions, ranges, run->args->assume,
                           compile_name(run, conditions), err);
    struct cover_range range = { names.symbols, names.n_symbols, names.assume, run->limits };
    if (ok && range.n_symbols) {
        ok = cover_make(&cover, conditions, &range, err);
        if (ok && cover.verdict == DECIDE_PROVED &&
            (names.n_missing || (!cover.empty && inputs_failed(run, conditions))))
            cover.verdict = DECIDE_UNDECIDED;
        struct cover_report report = { run,    conditions,    &cover,
                                       ranges, names.missing, names.n_missing };
        if (ok && run->args->json)
            cover_report_json(&report);
        else if (ok)
            cover_report_text(&report);
        if (ok && (conditions->attempt == TRACE_NONE || !run->in_function[conditions->attempt]))
            inputs_note_verdict(run, cover.verdict);
        run->n_answered += ok;
    }
    cover_release(&cover);
    inputs_names_release(&names);
    return ok;
}

void inputs_note_verdict(struct inputs_run *run, enum decide_verdict verdict)
{
    if (verdict == DECIDE_REFUTED || run->verdict == DECIDE_PROVED)
        run->verdict = verdict;
}

/* ---- All compiles ---- */

struct inputs_work {
    struct inputs_run *run;
    struct inputs_ranges ranges;
    struct buf known; /* names, for the message that there is none of a name */
    size_t n_known;
    struct nearest nearest;
};

/* Notes the names that there are, in case that none is one of --cover. */
static void note_known(struct inputs_work *work, const struct conditions *conditions)
{
    struct buf name = BUF_INIT;
    for (size_t i = 0; i < conditions->symbols.n; i++) {
        const struct condition_symbol *s = &conditions->symbols.v[i];
        if (!s->has_hint || work->n_known >= KNOWN_SHOWN)
            continue;
        buf_clear(&name);
        buf_printf(&name, "%.*s%s%.*s%s", STR_ARG(s->name), s->source.n ? " (" : "",
                   STR_ARG(s->source), s->source.n ? ")" : "");
        if (str_contains(buf_str(&work->known), buf_str(&name)))
            continue; /* several compiles have it */
        buf_puts(&work->known, work->n_known++ ? ", " : "");
        buf_put(&work->known, buf_str(&name));
    }
    work->known.failed |= name.failed;
    buf_release(&name);
}

/* Each region has a value of each symbol, so that their number bounds the work. */
static void note_large(struct inputs_run *run, const struct conditions *conditions, size_t n)
{
    struct buf name = BUF_INIT;
    inputs_put_name(run, conditions, &name);
    out_note(run->cmd->out,
             "%.*s: not examined: it has %zu symbols; the regions of at most %d are found",
             STR_ARG(buf_str(&name)), n, SYMBOLS_MOST);
    buf_release(&name);
    run->n_large++;
}

static bool answer_regions(struct inputs_run *run, struct conditions *conditions, struct err *err)
{
    const struct regions_options how = { .limit = run->how.limit,
                                         .ns = run->seconds * UINT64_C(1000000000) };
    struct regions regions = { 0 };
    struct region_result *results = NULL;
    struct arena arena = ARENA_INIT;
    size_t n = 0;
    for (size_t i = 0; i < conditions->symbols.n; i++)
        n += conditions->symbols.v[i].has_hint;
    if (!n)
        return true;
    if (n > SYMBOLS_MOST) {
        note_large(run, conditions, n);
        return true;
    }
    bool ok =
        regions_make(&regions, run->tape.trace, conditions, &how, err) &&
        regions_add_calls(&regions, run->tape.trace, conditions, err) &&
        place_calls(&run->calls, run->tape.trace, conditions, &regions, &run->n_left_out, err);
    if (ok && run->args->run)
        ok = regions_run(&run->runner, conditions, &regions, &arena, &results, err);
    if (ok && run->args->python)
        ok = regions_python(run, conditions, &regions, err);
    else if (ok && run->args->json)
        regions_report_json(run, conditions, &regions, results);
    else if (ok)
        regions_report_text(run, conditions, &regions, results);
    run->n_answered += ok;
    regions_release(&regions);
    arena_release(&arena);
    return ok;
}

static bool answer(struct inputs_work *work, uint32_t record, uint32_t attempt, struct err *err)
{
    struct conditions conditions = { 0 };
    if (work->run->runner.stopped)
        return true;
    bool ok = conditions_read(&conditions, work->run->tape.trace, record, attempt, err);
    if (ok) {
        note_known(work, &conditions);
        ok = work->run->args->cover ? answer_cover(work->run, &conditions, &work->ranges, err)
                                    : answer_regions(work->run, &conditions, err);
    }
    conditions_release(&conditions);
    return ok;
}

/* An attempt is answered if it is the last one of its compile, or if the selector names it. */
static bool answer_attempts(struct inputs_work *work, struct err *err)
{
    const struct trace *trace = work->run->tape.trace;
    const struct selector *selector = &work->run->tape.selector;
    bool ok = true;
    for (uint32_t i = 0; ok && i < trace->n_attempts; i++) {
        const struct attempt *attempt = &trace->attempts[i];
        if (attempt->n_records && selector_has_attempt(trace, selector, i) &&
            (selector->attempt >= 0 || attempt->next == TRACE_NONE))
            ok = answer(work, attempt->records[0], i, err);
    }
    return ok;
}

static bool answer_programs(struct inputs_work *work, struct err *err)
{
    struct trace *trace = work->run->tape.trace;
    const struct selector *selector = &work->run->tape.selector;
    const struct graph_list *list = trace_graphs(trace, err);
    bool ok = list != NULL;
    for (uint32_t i = 0; ok && i < list->n; i++) {
        uint32_t record = list->refs[i].record;
        if (trace->records[record].event == EVENT_PT2_MEMBER && !selector->compile.n &&
            selector_has_recording(trace, selector, trace->records[record].recording))
            ok = answer(work, record, TRACE_NONE, err);
    }
    return ok;
}

static bool no_symbols(struct inputs_work *work, struct str name, struct err *err)
{
    struct buf outside = BUF_INIT;
    if (outside_symbols_put(work->run->tape.trace, &outside, err))
        err_set(err, ERR_USAGE, "--cover: no compile there has symbols, so that %.*s is none%.*s",
                STR_ARG(name), STR_ARG(buf_str(&outside)));
    buf_release(&outside);
    return false;
}

static bool check_names(struct inputs_work *work, struct err *err)
{
    const struct inputs_range *unknown = NULL;
    for (size_t i = 0; i < work->ranges.n && !unknown; i++)
        if (!work->ranges.list[i].found)
            unknown = &work->ranges.list[i];
    if (!unknown)
        return true;
    if (!work->n_known)
        return no_symbols(work, unknown->name, err);
    return err_set(err, ERR_USAGE, "--cover: %.*s is no symbol and no source of one; there %s %.*s",
                   STR_ARG(unknown->name), work->n_known == 1 ? "is" : "are",
                   STR_ARG(buf_str(&work->known)));
}

static void begin_json(struct inputs_run *run)
{
    struct json_writer *w = &run->writer;
    json_open_object(w, NULL);
    json_put_cstr(w, "schema", run->args->cover ? SCHEMA_INPUTS_COVER : SCHEMA_INPUTS);
    if (run->args->cover) {
        json_put_cstr(w, "cover", run->args->cover);
        json_put_cstr(w, "assume", run->args->assume);
    }
    if (run->args->run) {
        json_put_cstr(w, "backend", run->args->run);
        json_put_cstr(w, "against", run->runner.args.compare);
    }
}

static void end_json(struct inputs_run *run)
{
    struct json_writer *w = &run->writer;
    json_close(w);
    if (run->args->cover)
        json_put_cstr(w, "verdict", decide_verdict_name(run->verdict));
    json_close(w);
    buf_putc(&run->text, '\n');
}

static int exit_code_of_verdict(enum decide_verdict verdict)
{
    return verdict == DECIDE_PROVED    ? EXIT_DONE
           : verdict == DECIDE_REFUTED ? EXIT_DIFFERS
                                       : EXIT_CANNOT_TELL;
}

static bool note_none(struct inputs_run *run, struct err *err)
{
    struct buf text = BUF_INIT;
    buf_puts(&text, "no sizes and no numbers are symbols of a compile there");
    bool ok = outside_symbols_put(run->tape.trace, &text, err);
    if (ok)
        out_note(run->cmd->out, "%.*s", STR_ARG(buf_str(&text)));
    buf_release(&text);
    return ok;
}

static int answer_all(struct inputs_run *run)
{
    struct inputs_work work = { .run = run };
    struct err err = { 0 };
    bool ok = !run->args->cover ||
              inputs_ranges_read(&work.ranges, str_of(run->args->cover), &err) ||
              err_at(&err, "--cover");
    if (!run->args->cover)
        ok = ok && program_calls_read(&run->calls, run->cmd, &run->tape, run->args->calls, &err);
    if (run->args->run)
        ok = ok &&
             regions_runner_open(&run->runner, run->cmd, run->tape.trace, run->args->run, &err);
    if (ok && run->args->python)
        regions_python_begin(run);
    if (ok && run->args->json)
        begin_json(run);
    run->by_compile = run->tape.selector.compile.n > 0;
    if (run->args->cover)
        ok = ok && answer_functions(run, &work.ranges, &err);
    if (ok && run->args->json)
        json_open_array(&run->writer, "compiles");
    ok = ok && answer_attempts(&work, &err) && answer_programs(&work, &err) &&
         check_names(&work, &err);
    if (ok && run->args->python)
        regions_python_end(run);
    if (ok && run->args->json)
        end_json(run);
    if (ok && !run->n_answered && !run->n_large)
        ok = note_none(run, &err);
    int code = ok ? out_buf(run->cmd->out, &run->text) : out_error(run->cmd->out, &err);
    if (ok && code == EXIT_DONE)
        code = !run->n_answered ? EXIT_CANNOT_TELL
               : run->args->run ? regions_runner_exit_code(&run->runner)
                                : exit_code_of_verdict(run->verdict);
    inputs_ranges_release(&work.ranges);
    buf_release(&work.known);
    free(run->in_function);
    return code;
}

static int run_inputs(struct cmd *cmd)
{
    const struct inputs_args *args = cmd->args;
    struct inputs_run run = { .cmd = cmd, .args = args, .verdict = DECIDE_PROVED };
    struct err err = { 0 };
    uint64_t limit = args->limit.given ? args->limit.value : ROWS_DEFAULT;
    run.writer = json_writer_of(&run.text);
    run.how = (struct report_options){ .width = cmd->out->width,
                                       .styles = out_styles(cmd->out),
                                       .limit = limit < UINT32_MAX ? (uint32_t)limit : 0 };
    run.seconds = args->seconds.given ? args->seconds.value : SECONDS_DEFAULT;
    if (run.seconds > SECONDS_MOST)
        run.seconds = SECONDS_MOST;
    if (args->python && (args->cover || args->json))
        return out_usage(cmd->out, "inputs: --python excludes --cover and --json");
    if (args->run && (args->cover || args->python))
        return out_usage(cmd->out, "inputs: --run excludes --cover and --python");
    if (args->calls && args->cover)
        return out_usage(cmd->out, "inputs: --calls excludes --cover");
    if (args->assume && !args->cover)
        return out_usage(cmd->out, "inputs: --assume needs --cover");
    if (args->solver && !args->cover)
        return out_usage(cmd->out, "inputs: --solver needs --cover");
    run.limits = DECIDE_LIMITS;
    if (args->cover && !solver_arg_start(args->solver, &run.limits, &err)) {
        z3_stop(run.limits.z3);
        return out_error(cmd->out, &err);
    }
    int code =
        tape_arg_open(&run.tape, cmd->out, cmd->operands[0], args->strict ? TAPE_ARG_STRICT : 0);
    if (code == EXIT_DONE)
        code = answer_all(&run);
    buf_release(&run.text);
    program_calls_release(&run.calls);
    regions_runner_close(&run.runner);
    tape_arg_close(&run.tape);
    z3_stop(run.limits.z3);
    return code;
}

const struct command command_inputs = {
    .synopsis = "[options] TAPE[@RECORDING][:COMPILE[_ATTEMPT]]",
    .description =
        "Lists the sizes that a program and its guards tell apart, with the smallest "
        "sizes of each region, which --run runs on a backend. With --cover, says whether all sizes of a range satisfy "
        "what a compile relies on: proved, or the smallest sizes that do not, with the "
        "guard and its line, and which guards can be dropped for the range.",
    .examples = "  symtape inputs bert.tape:0/1\n"
                "  symtape inputs bert.tape --calls bert.calls.jsonl\n"
                "  symtape inputs bert.tape --python > inputs.py\n"
                "  symtape inputs bert.tape --run cuda\n"
                "  symtape inputs bert.tape:0/1 --cover s0=1..4096\n"
                "  symtape inputs bert.tape --cover \"x.size(0)=1..64,x.size(1)=8..512:8\"\n"
                "  symtape inputs bert.tape --cover s0=1..64,s1=1..64 --assume 's0 <= s1'\n",
    .options = options,
    .args_size = sizeof(struct inputs_args),
    .min_operands = 1,
    .max_operands = 1,
    .run = run_inputs,
};

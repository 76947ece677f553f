#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "cmd/record/record.h"
#include "profile/model/human.h"
#include "profile/report/diagnosis_report.h"
#include "trace/base/text/json_write.h"

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void note_end(const struct record_report *report)
{
    const struct supervise_end *end = &report->run.end;
    if (end->abandoned)
        out_note(report->out, "interrupted twice: the program is left running");
    else if (end->signal)
        out_note(report->out, "the program was killed by signal %d (%s)", end->signal,
                 strsignal(end->signal));
}

/* Notes circumstances that the user may not expect. */
static void note_surroundings(const struct record_report *report)
{
    const struct record_run *run = &report->run;
    if (run->replaced)
        out_note(report->out, "TORCH_TRACE or TORCH_DTRACE was set; nothing was written to its "
                              "folder");
    if (run->disk_full)
        out_note(report->out, "the disk of %.*s (TMPDIR) is full: logs may be cut",
                 STR_ARG(scratch_disk(&run->folder)));
    if (run->writers)
        out_note(report->out, "%zu process%s still running with a log open; later records are lost",
                 run->writers, run->writers == 1 ? "" : "es");
    if (run->keep_logs)
        out_note(report->out, "the logs are in %s (symtape import packs them)", run->folder.path);
}

static void note_tape(const struct record_report *report)
{
    char raw[HUMAN_SIZE], tape[HUMAN_SIZE], time[HUMAN_SIZE];
    uint64_t logs = report->run.n_logs, damaged = report->import.damaged;
    out_note(report->out, "%s: %llu log%s of %s in %s, packed in %s", report->tape,
             (unsigned long long)logs, plural(logs), human_bytes(raw, report->run.log_bytes),
             human_bytes(tape, report->import.tape_bytes), human_ns(time, report->pack_ns));
    if (damaged)
        out_note(report->out, "%llu place%s of the logs could not be read; kept as bytes",
                 (unsigned long long)damaged, plural(damaged));
}

static void note_compiles(const struct record_report *report)
{
    const struct record_cost *cost = &report->cost;
    if (cost->compiles == 0)
        out_note(report->out, "PyTorch logged, but compiled nothing");
    else if (cost->failed || cost->unfinished)
        out_note(report->out, "%llu compile%s: %llu failed, %llu did not end",
                 (unsigned long long)cost->compiles, plural(cost->compiles),
                 (unsigned long long)cost->failed, (unsigned long long)cost->unfinished);
    else
        out_note(report->out, "%llu compile%s", (unsigned long long)cost->compiles,
                 plural(cost->compiles));
}

static void note_time(const struct record_report *report)
{
    char wall[HUMAN_SIZE], logging[HUMAN_SIZE];
    human_ns(wall, report->run.end.wall_ns);
    if (report->cost.logging_known)
        out_note(report->out,
                 "the program ran %s; by its own count PyTorch spent %s of compiling "
                 "on logging",
                 wall, human_ns(logging, report->cost.logging_ns));
    else
        out_note(report->out, "the program ran %s", wall);
}

/* Prints a share in percent with one decimal. */
static void put_percentage(char *out, size_t size, uint64_t part, uint64_t whole)
{
    uint64_t tenths = whole ? part * 1000 / whole : 0;
    snprintf(out, size, "%llu.%llu %%", (unsigned long long)(tenths / 10),
             (unsigned long long)(tenths % 10));
}

static void note_deep_cost(const struct record_report *report)
{
    const struct record_deep *deep = &report->deep;
    char own[HUMAN_SIZE], compiling[HUMAN_SIZE], share[32];
    put_percentage(share, sizeof share, deep->overhead_ns, deep->compile_ns);
    human_ns(own, deep->overhead_ns);
    human_ns(compiling, deep->compile_ns);
    out_note(report->out,
             "deep (%s): %llu process%s, %llu dispatches of all modes, %llu calls into ShapeEnv, "
             "%llu partial graph%s",
             report->level, (unsigned long long)deep->processes, deep->processes == 1 ? "" : "es",
             (unsigned long long)deep->dispatches, (unsigned long long)deep->env_calls,
             (unsigned long long)deep->partial_graphs, plural(deep->partial_graphs));
    if (deep->compile_ns)
        out_note(report->out, "deep: by its own count the recorder took %s (%s of %s of compiling)",
                 own, share, compiling);
    else
        out_note(report->out, "deep: by its own count the recorder took %s", own);
}

static void note_calls(const struct record_report *report)
{
    const struct call_totals *noted = &report->noted;
    if (noted->calls)
        out_note(report->out, "%llu call%s of compiled functions (symtape cache %s)",
                 (unsigned long long)noted->calls, plural(noted->calls), report->tape);
    else if (report->run.n_logs)
        out_note(report->out, "calls: no call of a compiled function was noted");
    if (noted->dropped)
        out_note(report->out, "calls: %llu call%s not noted%s", (unsigned long long)noted->dropped,
                 noted->dropped == 1 ? " was" : "s were",
                 noted->full ? ": the most that a process notes was reached" : "");
    if (noted->not_recorded.n)
        out_note(report->out, "calls: not recorded: %.*s", STR_ARG(buf_str(&noted->not_recorded)));
}

static void note_deep_recording(const struct record_report *report)
{
    const struct record_deep *deep = &report->deep;
    if (deep->processes)
        note_deep_cost(report);
    else if (report->run.n_logs)
        out_note(report->out, "deep: nothing was recorded deeply");
    if (deep->not_recorded.n && report->run.disk_full)
        out_note(report->out, "deep: not recorded deeply (the disk of %.*s is full): %.*s",
                 STR_ARG(scratch_disk(&report->run.folder)), STR_ARG(buf_str(&deep->not_recorded)));
    else if (deep->not_recorded.n)
        out_note(report->out,
                 "deep: not recorded deeply (python -I, -E or -S, or without our "
                 "PYTHONPATH): %.*s",
                 STR_ARG(buf_str(&deep->not_recorded)));
    if (deep->not_wrapped.n)
        out_note(report->out, "deep: not wrapped: %.*s", STR_ARG(buf_str(&deep->not_wrapped)));
    if (deep->lost)
        out_note(report->out, "deep: %llu event%s lost: there was no space left in %.*s (TMPDIR)",
                 (unsigned long long)deep->lost, deep->lost == 1 ? " was" : "s were",
                 STR_ARG(scratch_disk(&report->run.folder)));
    if (deep->disagreements)
        out_note(report->out,
                 "deep: %llu count%s differ from PyTorch's own (show --artifact "
                 "symtape_totals)",
                 (unsigned long long)deep->disagreements, plural(deep->disagreements));
}

/* What ended the program, or took its time, is said unasked. */
static bool deserves_diagnosis(const struct record_report *report, const struct profile *profile)
{
    enum { LONG_S = 10 };
    const struct record_cost *cost = &report->cost;
    return report->run.end.status != 0 || cost->failed || cost->unfinished ||
           profile->compile_ns / 1000000000 >= LONG_S;
}

bool record_diagnose(struct record_report *report, struct trace *trace, struct err *err)
{
    const struct profile_options options = { 0 };
    const struct report_options how = { .width = report->out->notes_width };
    struct profile *profile = profile_build(&trace, 1, &options, err);
    struct diagnosis *diagnosis =
        profile && deserves_diagnosis(report, profile) ? diagnosis_build(profile, err) : NULL;
    if (diagnosis && diagnosis->n_findings > 0)
        report_diagnosis_text(diagnosis, &how, DIAGNOSIS_LINES, &report->diagnosis);
    diagnosis_free(diagnosis);
    profile_free(profile);
    return !err_is_set(err) && (!report->diagnosis.failed || err_nomem(err));
}

/* Names what switches torch.compile() off in the environment, which the program inherited
 * (torch/_dynamo/config.py, _optimize() in torch/_dynamo/eval_frame.py). */
static const char *why_nothing(const struct record_report *report)
{
    static const struct {
        const char *variable, *text;
    } SWITCHES[] = {
        { "TORCH_COMPILE_DISABLE", "TORCH_COMPILE_DISABLE=1 switches torch.compile() off" },
        { "TORCHDYNAMO_DISABLE", "TORCHDYNAMO_DISABLE=1 switches torch.compile() off" },
    };
    if (report->run.disk_full)
        return "there was no space left";
    for (size_t i = 0; i < sizeof SWITCHES / sizeof *SWITCHES; i++) {
        const char *value = getenv(SWITCHES[i].variable);
        if (value && strcmp(value, "1") == 0)
            return SWITCHES[i].text;
    }
    return "the program compiled nothing";
}

void record_note_text(const struct record_report *report)
{
    note_end(report);
    if (report->packed)
        note_tape(report);
    if (report->counted)
        note_compiles(report);
    else if (report->run.n_logs + report->run.n_sides == 0)
        out_note(report->out, "PyTorch logged nothing: %s; no tape is written",
                 why_nothing(report));
    note_time(report);
    if (report->run.deep_failure)
        out_note(report->out, "%s: the recorder could not be loaded: %s",
                 report->level ? "deep" : "calls", report->run.deep_failure);
    if (report->level)
        note_deep_recording(report);
    if (report->calls)
        note_calls(report);
    note_surroundings(report);
    if (report->diagnosis.n > 0)
        out_note_text(report->out, buf_str(&report->diagnosis));
}

/* ------------------------------------------------------------------------------------------------
 * JSON. */

static void put_run(struct json_writer *w, const struct record_run *run)
{
    json_put_i64(w, "status", run->end.status);
    json_put_i64(w, "signal", run->end.signal);
    json_put_bool(w, "abandoned", run->end.abandoned);
    json_put_u64(w, "wall_ns", run->end.wall_ns);
    json_put_u64(w, "cpu_ns", run->end.cpu_ns);
    json_put_bool(w, "disk_full", run->disk_full);
    json_put_u64(w, "logs", run->n_logs);
    json_put_u64(w, "log_bytes", run->log_bytes);
    json_put_u64(w, "writers", run->writers);
    json_put_cstr(w, "logs_kept", run->keep_logs ? run->folder.path : NULL);
}

static void put_tape(struct json_writer *w, const struct record_report *report)
{
    const struct import_result *import = &report->import;
    json_put_cstr(w, "tape", report->packed ? report->tape : NULL);
    json_put_u64(w, "tape_bytes", import->tape_bytes);
    json_put_u64(w, "pack_ns", report->pack_ns);
    json_put_u64(w, "records", import->records);
    json_put_u64(w, "damaged", import->damaged);
    json_put_u64(w, "compiles", report->cost.compiles);
    json_put_u64(w, "failed", report->cost.failed);
    json_put_u64(w, "unfinished", report->cost.unfinished);
    if (report->cost.logging_known)
        json_put_u64(w, "logging_ns", report->cost.logging_ns);
    else
        json_put_null(w, "logging_ns");
}

static void put_deep(struct json_writer *w, const struct record_report *report)
{
    const struct record_deep *deep = &report->deep;
    if (!report->level) {
        json_put_null(w, "deep");
        return;
    }
    json_open_object(w, "deep");
    json_put_cstr(w, "level", report->level);
    json_put_u64(w, "processes", deep->processes);
    json_put_u64(w, "dispatches", deep->dispatches);
    json_put_u64(w, "env_calls", deep->env_calls);
    json_put_u64(w, "partial_graphs", deep->partial_graphs);
    json_put_u64(w, "overhead_ns", deep->overhead_ns);
    json_put_u64(w, "compile_ns", deep->compile_ns);
    json_put_u64(w, "lost", deep->lost);
    json_put_u64(w, "disagreements", deep->disagreements);
    json_put_str(w, "not_wrapped", buf_str(&deep->not_wrapped));
    json_put_str(w, "not_recorded", buf_str(&deep->not_recorded));
    json_put_cstr(w, "failure", report->run.deep_failure);
    json_close(w);
}

static void put_calls(struct json_writer *w, const struct record_report *report)
{
    const struct call_totals *noted = &report->noted;
    if (!report->calls) {
        json_put_null(w, "calls");
        return;
    }
    json_open_object(w, "calls");
    json_put_u64(w, "calls", noted->calls);
    json_put_u64(w, "dropped", noted->dropped);
    json_put_bool(w, "full", noted->full);
    json_put_str(w, "not_recorded", buf_str(&noted->not_recorded));
    json_put_cstr(w, "failure", report->run.deep_failure);
    json_close(w);
}

int record_print_json(const struct record_report *report)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_RECORD);
    put_run(&w, &report->run);
    put_tape(&w, report);
    put_deep(&w, report);
    put_calls(&w, report);
    json_close(&w);
    buf_putc(&text, '\n');
    int code = out_buf(report->out, &text);
    buf_release(&text);
    return code;
}

void record_print_folder(const struct record_report *report)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_RECORD_FOLDER);
    json_put_cstr(&w, "folder", report->run.folder.path);
    json_put_cstr(&w, "library", report->run.library);
    json_close(&w);
    buf_putc(&text, '\n');
    (void)out_buf(report->out, &text); /* a failure ends in the exit code */
    out_flush(report->out);
    buf_release(&text);
}

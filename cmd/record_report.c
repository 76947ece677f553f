#include <string.h>

#include "cmd/cmd.h"
#include "cmd/record.h"
#include "profile/human.h"
#include "trace/base/json_write.h"

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void note_end(const struct record_report *report)
{
    const struct supervise_end *end = &report->run.end;
    if (end->abandoned)
        out_note(report->out, "told to end twice: the program is left running");
    else if (end->signal)
        out_note(report->out, "the program was killed by signal %d (%s)", end->signal,
                 strsignal(end->signal));
}

/* What the user might not expect. */
static void note_surroundings(const struct record_report *report)
{
    const struct record_run *run = &report->run;
    if (run->replaced)
        out_note(report->out, "TORCH_TRACE or TORCH_DTRACE was set; its folder got nothing");
    if (run->writers)
        out_note(report->out, "%zu process%s still running with a log open; later records are lost",
                 run->writers, run->writers == 1 ? "" : "es");
    if (run->keep_logs)
        out_note(report->out, "the logs are in %s (symtape import packs them)", run->folder);
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
        out_note(report->out, "the program ran %s; by its own count PyTorch spent %s of compiling "
                 "on logging", wall, human_ns(logging, report->cost.logging_ns));
    else
        out_note(report->out, "the program ran %s", wall);
}

void record_note_text(const struct record_report *report)
{
    note_end(report);
    if (report->packed)
        note_tape(report);
    if (report->counted)
        note_compiles(report);
    else if (report->run.n_logs == 0)
        out_note(report->out, "PyTorch logged nothing: no compile was reached; no tape is written");
    note_time(report);
    note_surroundings(report);
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
    json_put_u64(w, "logs", run->n_logs);
    json_put_u64(w, "log_bytes", run->log_bytes);
    json_put_u64(w, "writers", run->writers);
    json_put_cstr(w, "logs_kept", run->keep_logs ? run->folder : NULL);
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

int record_print_json(const struct record_report *report)
{
    struct buf text = BUF_INIT;
    struct json_writer w = json_writer_of(&text);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_RECORD);
    put_run(&w, &report->run);
    put_tape(&w, report);
    json_close(&w);
    buf_putc(&text, '\n');
    int code = out_buf(report->out, &text);
    buf_release(&text);
    return code;
}

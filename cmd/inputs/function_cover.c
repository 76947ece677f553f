/* --cover for functions: whether some entry of each serves all sizes of the range. */
#include <stdlib.h>

#include "cmd/cli/place.h"
#include "cmd/inputs/inputs.h"
#include "profile/calls/cache/tape_compiles.h"
#include "profile/model/format.h"
#include "profile/report/table.h"
#include "prove/cover/entries.h"
#include "trace/events/user_line.h"

enum { ENTRIES_MOST = 128, QUESTIONS_MOST = 20000 };

/* Each question is limited by steps, so that the same is found on a slow machine. */
static const struct decide_limits QUESTION = { .steps = 200000, .ns = 5000000000 };

struct function_cover {
    struct inputs_run *run;
    const struct tape_code *code;
    uint32_t recording;
    struct inputs_ranges *ranges;
    uint32_t attempts[ENTRIES_MOST]; /* those that made the entries */
    struct conditions *compiles;
    size_t n;
    size_t n_left_out;     /* entries beyond ENTRIES_MOST */
    uint32_t base_attempt; /* TRACE_NONE: none has one of the names */
    struct conditions base;
    struct inputs_names names;
    struct entries entries;
    enum decide_verdict verdict;
};

/* ---- The base ---- */

static uint32_t first_record(const struct function_cover *f, uint32_t attempt)
{
    return f->run->tape.trace->attempts[attempt].records[0];
}

static bool read_conditions(struct function_cover *f, uint32_t attempt, struct conditions *ret,
                            struct err *err)
{
    struct trace *trace = f->run->tape.trace;
    return conditions_read(ret, trace, first_record(f, attempt), attempt, err) &&
           conditions_read_sizes(ret, trace, err);
}

static bool count_names(struct function_cover *f, struct conditions *conditions, size_t *ret,
                        struct err *err)
{
    struct inputs_scope scope = { .conditions = conditions };
    bool ok = true;
    *ret = 0;
    for (size_t i = 0; ok && i < f->ranges->n; i++) {
        struct inputs_meaning meaning;
        ok = inputs_find(&scope, f->ranges->list[i].name, &meaning, err);
        if (ok && meaning.symbol != UINT32_MAX)
            *ret += conditions->symbols.v[meaning.symbol].has_hint;
        else
            *ret += ok && meaning.size != UINT32_MAX;
    }
    inputs_scope_release(&scope);
    return ok;
}

static bool is_entry(const struct trace *trace, const struct tape_compile *c)
{
    const struct attempt *attempt = &trace->attempts[c->attempt];
    return attempt->n_records && attempt->status == ATTEMPT_OK && !c->refused && !c->raised;
}

/* Chooses the latest compile that has the most of the names: its other sizes are as recorded. */
static bool choose_base(struct function_cover *f, struct err *err)
{
    size_t most = 0;
    for (size_t i = f->n; i-- > 0;) {
        size_t n;
        if (!count_names(f, &f->compiles[i], &n, err))
            return false;
        if (n <= most)
            continue;
        most = n;
        f->base_attempt = f->attempts[i];
    }
    return true;
}

static bool read_entries(struct function_cover *f, struct err *err)
{
    const struct trace *trace = f->run->tape.trace;
    for (size_t i = f->code->compiles.n; i-- > 0;) {
        if (!is_entry(trace, &f->code->compiles.v[i]))
            continue;
        if (f->n < ENTRIES_MOST)
            f->attempts[f->n++] = f->code->compiles.v[i].attempt;
        else
            f->n_left_out++;
    }
    for (size_t i = 0; i < f->n / 2; i++) { /* the first one first */
        uint32_t last = f->attempts[f->n - 1 - i];
        f->attempts[f->n - 1 - i] = f->attempts[i];
        f->attempts[i] = last;
    }
    f->compiles = calloc(f->n + 1, sizeof *f->compiles);
    if (!f->compiles)
        return err_nomem(err);
    for (size_t i = 0; i < f->n; i++)
        if (!read_conditions(f, f->attempts[i], &f->compiles[i], err))
            return false;
    return choose_base(f, err);
}

/* ---- Text ---- */

static void put_function(const struct function_cover *f, struct buf *out)
{
    format_text(out, f->code->function.n ? f->code->function : STR("function"), 0);
    if (f->code->file.n) {
        buf_puts(out, " (");
        format_place(out, f->code->file, f->code->line);
        buf_putc(out, ')');
    }
}

static void put_entry(const struct function_cover *f, size_t i, struct table *table)
{
    const struct trace *trace = f->run->tape.trace;
    const struct entry *entry = &f->entries.list.v[i];
    const struct entry_condition *c = entry->violated;
    stack_id line = c ? user_line(trace, f->recording, c->user_stack) : 0;
    struct frame frame = line ? stack_frame(trace, f->recording, line) : (struct frame){ 0 };
    place_attempt(f->run->tape.trace, f->attempts[i], &table->text);
    table_cell(table);
    table_text(table, entry->adds        ? STR("some")
                      : entry->undecided ? STR("not known")
                                         : STR("none"));
    table_text(table, c ? str_of(condition_kind_name(c->kind)) : (struct str){ 0 });
    if (c) {
        format_text(&table->text, c->text, 0);
    } else if (entry->unknown.n) {
        buf_puts(&table->text, "not known: ");
        format_text(&table->text, entry->unknown, 0);
    }
    table_cell(table);
    table_place(table, frame.file, frame.line);
    table_text(table, frame.code);
}

static void put_entries(const struct function_cover *f)
{
    static const struct column COLUMNS[] = {
        { "entry", COLUMN_LEFT, 0 },     { "adds", COLUMN_LEFT, 2 },
        { "kind", COLUMN_LEFT, 3 },      { "violated there", COLUMN_WIDE, 0 },
        { "user line", COLUMN_PATH, 1 }, { "code", COLUMN_WIDE, 4 },
    };
    struct inputs_run *run = f->run;
    struct table table = TABLE(COLUMNS);
    uint32_t n = (uint32_t)f->entries.list.n;
    buf_putc(&run->text, '\n');
    for (uint32_t i = 0; i < report_shown(&run->how, n); i++)
        put_entry(f, i, &table);
    report_table(&table, &run->how, 2, n, &run->text);
}

static void put_text(const struct function_cover *f)
{
    struct buf *out = &f->run->text;
    const struct entries *e = &f->entries;
    if (out->n)
        buf_putc(out, '\n');
    put_function(f, out);
    if (e->empty) {
        buf_puts(out, ": proved: no sizes of the range satisfy --assume\n");
        return;
    }
    buf_printf(out, ": %s: ", decide_verdict_name(f->verdict));
    buf_printf(out, "%zu %s", e->list.n, e->list.n == 1 ? "entry" : "entries");
    if (f->verdict == DECIDE_PROVED)
        buf_puts(out, e->list.n == 1 ? " serves all sizes of the range\n"
                                     : " together serve all sizes of the range\n");
    else if (f->verdict == DECIDE_REFUTED)
        buf_puts(out, ", and there are sizes in the range that none serves\n");
    else if (e->n_values)
        buf_puts(out, ", and there are sizes in the range that none is known to serve\n");
    else
        buf_puts(out, ", and it is not known whether they serve all sizes of the range\n");
    if (e->n_values) {
        buf_puts(out, e->smallest ? "  * the smallest such sizes: " : "  * such sizes: ");
        inputs_put_values(&f->base, e->values, e->n_values, out);
        buf_putc(out, '\n');
    }
    for (size_t i = 0; i < f->names.n_missing; i++) {
        buf_puts(out, "  * not a size of this function: ");
        format_text(out, f->names.missing[i], 0);
        buf_putc(out, '\n');
    }
    if (f->n_left_out)
        buf_printf(out, "  * earlier entries that were not examined: %zu\n", f->n_left_out);
    if (e->list.n > 1) {
        buf_puts(out, "  * sizes that are not named are those of ");
        place_attempt(f->run->tape.trace, f->base_attempt, out);
        buf_putc(out, '\n');
    }
    if (e->list.n)
        put_entries(f);
}

/* ---- JSON ---- */

static void put_json_entry(const struct function_cover *f, size_t i, struct json_writer *w)
{
    const struct trace *trace = f->run->tape.trace;
    const struct entry *entry = &f->entries.list.v[i];
    const struct entry_condition *c = entry->violated;
    json_open_object(w, NULL);
    json_put_str(w, "compile", trace->attempts[f->attempts[i]].compile);
    json_put_u64(w, "attempt", trace->attempts[f->attempts[i]].number);
    if (entry->undecided && !entry->adds)
        json_put_null(w, "adds");
    else
        json_put_bool(w, "adds", entry->adds);
    json_put_str_or_null(w, "not_known", entry->unknown);
    json_put_cstr(w, "kind", c ? condition_kind_name(c->kind) : NULL);
    json_put_str_or_null(w, "violated", c ? c->text : (struct str){ 0 });
    place_json(trace, f->recording, c ? user_line(trace, f->recording, c->user_stack) : 0, w,
               "line");
    json_close(w);
}

static void put_json(const struct function_cover *f)
{
    const struct trace *trace = f->run->tape.trace;
    const struct entries *e = &f->entries;
    struct json_writer *w = &f->run->writer;
    json_open_object(w, NULL);
    json_put_str(w, "recording", trace->recordings[f->recording].name);
    json_put_str(w, "function", f->code->function);
    json_put_str(w, "file", f->code->file);
    json_put_u64(w, "line", f->code->line);
    json_put_cstr(w, "verdict", decide_verdict_name(f->verdict));
    json_put_bool(w, "empty", e->empty);
    json_open_array(w, "missing");
    for (size_t i = 0; i < f->names.n_missing; i++)
        json_put_str(w, NULL, f->names.missing[i]);
    json_close(w);
    json_put_str(w, "others_as_in", trace->attempts[f->base_attempt].compile);
    if (e->n_values)
        inputs_json_values(&f->base, e->values, e->n_values, w, "counterexample");
    else
        json_put_null(w, "counterexample");
    json_put_bool(w, "smallest", e->smallest);
    json_put_u64(w, "not_examined", f->n_left_out);
    json_open_array(w, "entries");
    for (size_t i = 0; i < e->list.n; i++)
        put_json_entry(f, i, w);
    json_close(w);
    json_close(w);
}

/* ---- One function ---- */

static bool decide_function(struct function_cover *f, struct err *err)
{
    struct inputs_run *run = f->run;
    struct decide_limits question = QUESTION;
    question.z3 = run->limits.z3;
    question.only_z3 = run->limits.only_z3;
    struct entries_limits limits = { question, QUESTIONS_MOST,
                                     run->seconds * UINT64_C(1000000000) };
    struct str title = run->tape.trace->attempts[f->base_attempt].compile;
    if (!read_conditions(f, f->base_attempt, &f->base, err) ||
        !inputs_names_make(&f->names, run->tape.trace, &f->base, f->ranges, run->args->assume,
                           title, err))
        return false;
    struct cover_range range = { f->names.symbols, f->names.n_symbols, f->names.assume, question };
    if (!entries_make(&f->entries, &f->base, &range, f->compiles, f->n, &limits, err))
        return false;
    f->verdict = f->entries.verdict;
    if ((f->verdict == DECIDE_PROVED && f->names.n_missing && !f->entries.empty) ||
        (f->verdict == DECIDE_REFUTED && f->n_left_out))
        f->verdict = DECIDE_UNDECIDED;
    inputs_note_verdict(run, f->verdict);
    for (size_t i = 0; i < f->code->compiles.n; i++)
        run->in_function[f->code->compiles.v[i].attempt] = true;
    run->n_answered++;
    if (run->args->json)
        put_json(f);
    else
        put_text(f);
    return true;
}

static bool answer_function(struct inputs_run *run, struct inputs_ranges *ranges,
                            const struct tape_code *code, uint32_t recording, struct err *err)
{
    struct function_cover f = { .run = run,
                                .code = code,
                                .recording = recording,
                                .ranges = ranges,
                                .base_attempt = TRACE_NONE };
    bool ok = read_entries(&f, err) && (f.base_attempt == TRACE_NONE || decide_function(&f, err));
    for (size_t i = 0; f.compiles && i < f.n; i++)
        conditions_release(&f.compiles[i]);
    free(f.compiles);
    conditions_release(&f.base);
    inputs_names_release(&f.names);
    entries_release(&f.entries);
    return ok;
}

static bool answer_recording(struct inputs_run *run, struct inputs_ranges *ranges,
                             uint32_t recording, struct err *err)
{
    struct tape_compiles compiles = { 0 };
    bool ok = tape_compiles_read(&compiles, run->tape.trace, recording, err);
    for (size_t i = 0; ok && i < compiles.codes.n; i++)
        ok = answer_function(run, ranges, &compiles.codes.v[i], recording, err);
    tape_compiles_release(&compiles);
    return ok;
}

bool answer_functions(struct inputs_run *run, struct inputs_ranges *ranges, struct err *err)
{
    const struct trace *trace = run->tape.trace;
    run->in_function = calloc((size_t)trace->n_attempts + 1, sizeof *run->in_function);
    bool ok = run->in_function || err_nomem(err);
    if (run->args->json)
        json_open_array(&run->writer, "functions");
    for (uint32_t i = 0; ok && !run->by_compile && i < trace->n_recordings; i++)
        if (trace->recordings[i].kind == RECORDING_LOG &&
            selector_has_recording(trace, &run->tape.selector, i))
            ok = answer_recording(run, ranges, i, err);
    if (run->args->json)
        json_close(&run->writer);
    return ok;
}

#include "profile/calls/cache/cache_report.h"
#include "profile/calls/dynamic/dynamic_report.h"
#include "profile/calls/dynamic/peers.h"
#include "trace/base/text/json_write.h"

/* Lists the calls that a policy answers in a way. */
static void put_answers(const struct dynamic_run *run, const char *key, const uint8_t *answers,
                        enum policy_answer answer, struct json_writer *w)
{
    json_open_array(w, key);
    for (size_t i = 0; i < run->cache.lookups.n; i++) {
        const struct lookup_row *row = &run->cache.lookups.v[i];
        enum policy_answer recorded = row->limit                        ? ANSWER_REFUSED
                                      : row->outcome == LOOKUP_COMPILED ? ANSWER_COMPILE
                                      : row->outcome == LOOKUP_NO_ENTRY ? ANSWER_COMPILE
                                                                        : ANSWER_NONE;
        if ((answers ? answers[i] : recorded) == answer)
            json_put_u64(w, NULL, run->table.log->calls.v[row->call].number);
    }
    json_close(w);
}

static void put_policy(const struct dynamic_run *run, const char *name, const char *meaning,
                       const struct policy_counts *counts, const uint8_t *answers,
                       struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "policy", name);
    json_put_cstr(w, "meaning", meaning);
    json_put_u64(w, "lookups", counts->lookups);
    json_put_u64(w, "hits", counts->hits);
    json_put_u64(w, "compiles", counts->compiles);
    json_put_u64(w, "refused", counts->refused);
    json_put_u64(w, "eager", counts->eager);
    json_put_u64(w, "unknown", counts->unknown);
    json_put_u64(w, "entries", counts->entries);
    json_put_u64(w, "checks", counts->checks);
    json_put_u64(w, "bail_outs", counts->bail_outs);
    json_put_u64(w, "breaks", counts->breaks);
    json_put_double(w, "compile_seconds", counts->seconds);
    json_put_double(w, "guard_seconds", counts->guard_seconds);
    put_answers(run, "compiled", answers, ANSWER_COMPILE, w);
    put_answers(run, "refused_at", answers, ANSWER_REFUSED, w);
    json_close(w);
}

static void put_policies(const struct dynamic_run *run, struct json_writer *w)
{
    json_open_array(w, "policies");
    put_policy(run, "recorded", "as the tape has it", &run->recorded, NULL, w);
    for (int i = 0; i < CALLS_COUNT; i++)
        put_policy(run, calls_policy_name((enum calls_policy)i),
                   dynamic_run_meaning(run, (enum calls_policy)i), &run->policies[i],
                   run->answers[i], w);
    json_close(w);
}

static void put_atom_value(const char *key, struct atom atom, struct json_writer *w)
{
    struct buf text = BUF_INIT;
    if (atom.kind == ATOM_INT) {
        json_put_i64(w, key, atom.integer);
    } else if (atom.kind == ATOM_FLOAT) {
        json_put_double(w, key, atom.real);
    } else if (atom.kind == ATOM_UNSET) {
        json_put_null(w, key);
    } else {
        put_atom(atom, &text);
        json_put_str(w, key, buf_str(&text));
    }
    w->out->failed |= text.failed;
    buf_release(&text);
}

static const struct lookup_row *lookup_of(const struct dynamic_run *run,
                                          const struct code_calls *code, uint32_t compile)
{
    return &run->cache.lookups.v[code->compiles.v[compile].lookup];
}

/* How an input went dynamic. */
static void put_change(const struct dynamic_run *run, const struct input_row *row,
                       struct json_writer *w)
{
    const struct code_calls *code = &run->table.codes.v[row->code];
    if (row->change == NO_ENTRY) {
        json_put_null(w, "since");
        return;
    }
    const struct lookup_row *lookup = lookup_of(run, code, row->compile);
    const struct state_change *change = &code->changes.v[row->change];
    json_open_object(w, "since");
    json_put_str(w, "compile", lookup->compile);
    json_put_u64(w, "call", run->table.log->calls.v[lookup->call].number);
    json_put_bool(w, "rank", change->dim == CHANGE_ALL);
    put_atom_value("from", change->from, w);
    put_atom_value("to", change->to, w);
    json_close(w);
}

static void put_input(const struct dynamic_run *run, const struct input_row *row,
                      struct json_writer *w)
{
    const struct code_calls *code = &run->table.codes.v[row->code];
    json_open_object(w, NULL);
    json_put_str(w, "code", run->cache.codes.v[code->code].name);
    json_put_str(w, "source",
                 intern_text(&run->table.log->sources, code->inputs.v[row->input].source));
    if (row->number)
        json_put_null(w, "dim");
    else
        json_put_u64(w, "dim", row->dim);
    json_put_u64(w, "values", row->n_values);
    json_open_array(w, "first_values");
    for (uint32_t i = 0; i < row->n_values && i < MOST_SEEN; i++)
        put_atom_value(NULL, row->seen[i], w);
    json_close(w);
    json_put_bool(w, "dynamic", row->dynamic);
    json_put_bool(w, "from_profile", row->from_profile);
    json_put_bool(w, "stale", row->from_profile && row->n_values == 1);
    json_put_bool(w, "constant", row->constant);
    put_change(run, row, w);
    json_put_u64(w, "recompiles", row->caused);
    json_put_u64(w, "served", row->served);
    json_put_bool(w, "mark", row->proposed);
    json_close(w);
}

/* ---- What is remembered ---- */

static void put_list(const char *key, const struct atom_list *list, struct json_writer *w)
{
    if (list->kind != ATOM_INT) {
        put_atom_value(key, (struct atom){ .kind = list->kind }, w);
        return;
    }
    json_open_array(w, key);
    for (uint32_t i = 0; i < list->n; i++)
        put_atom_value(NULL, list->v[i], w);
    json_close(w);
}

static void put_state(const struct dynamic_run *run, const struct code_calls *code,
                      struct json_writer *w)
{
    for (size_t i = 0; is_first_peer(&run->table, code) && i < code->state.sources.n; i++) {
        const struct source_state *state = &code->state.sources.v[i];
        json_open_object(w, NULL);
        json_put_str(w, "code", run->cache.codes.v[code->code].name);
        json_put_str(w, "source", intern_text(&run->table.log->sources, state->source));
        put_atom_value("scalar", state->scalar, w);
        put_list("size", &state->size, w);
        put_list("stride", &state->stride, w);
        json_close(w);
    }
}

/* The symbols that a compile makes of sizes and numbers that the calls give. */
static void put_symbols(const struct dynamic_run *run, const struct code_calls *code,
                        const struct compile_states *compile, struct json_writer *w)
{
    struct buf name = BUF_INIT;
    json_open_object(w, NULL);
    json_put_str(w, "compile", run->cache.lookups.v[compile->lookup].compile);
    json_open_array(w, "symbols");
    for (uint32_t i = 0; i < compile->n_symbols; i++) {
        uint32_t slot = code->symbols.v[compile->first_symbol + i];
        uint32_t id = code_input_of_slot(code, slot);
        const struct code_input *input = &code->inputs.v[id];
        buf_clear(&name);
        buf_put(&name, intern_text(&run->table.log->sources, input->source));
        const struct known_input *known = known_input_of(&code->entries.v[compile->entry], id);
        if (known && known->kind == PY_TENSOR)
            buf_printf(&name, ".size()[%u]", slot - input->first_slot);
        json_put_str(w, NULL, buf_str(&name));
    }
    json_close(w);
    json_close(w);
    w->out->failed |= name.failed;
    buf_release(&name);
}

static void put_statement(const struct dynamic_run *run, const struct paste_line *line,
                          struct json_writer *w)
{
    struct buf text = BUF_INIT;
    paste_line_put(&run->paste, line, 0, 0, &text);
    json_open_object(w, NULL);
    json_put_str_or_null(w, "code",
                         line->code == NO_ENTRY
                             ? STR("")
                             : run->cache.codes.v[run->table.codes.v[line->code].code].name);
    json_put_str(w, "text", buf_str(&text));
    json_close(w);
    w->out->failed |= text.failed;
    buf_release(&text);
}

static void put_way(const struct dynamic_run *run, const struct paste_way *way,
                    struct json_writer *w)
{
    json_open_object(w, NULL);
    json_put_cstr(w, "kind", paste_kind_name(way->kind));
    json_put_str_or_null(w, "code",
                         way->code == NO_ENTRY
                             ? STR("")
                             : run->cache.codes.v[run->table.codes.v[way->code].code].name);
    json_put_bool(w, "numbers", way->has_numbers);
    json_put_u64(w, "compiles", way->counts.compiles);
    json_put_u64(w, "eager", way->counts.eager);
    json_put_double(w, "compile_seconds", way->counts.seconds);
    json_open_array(w, "paste");
    for (uint32_t i = 0; i < way->n_lines; i++)
        put_statement(run, &run->paste.lines.v[way->first_line + i], w);
    json_close(w);
    json_close(w);
}

static void put_paste(const struct dynamic_run *run, struct json_writer *w)
{
    json_open_object(w, "marks");
    json_put_u64(w, "marks", run->n_marks);
    json_put_bool(w, "minimal", run->minimal);
    json_open_array(w, "alternatives");
    for (size_t i = 0; i < run->paste.ways.n; i++)
        put_way(run, &run->paste.ways.v[i], w);
    json_close(w);
    json_close(w);
}

void dynamic_json(const struct dynamic_run *run, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_DYNAMIC);
    json_put_str_or_null(&w, "torch", run->release);
    cache_json_guessed(&run->cache, &w);
    json_put_bool(&w, "profile", run->profile);
    json_put_bool(&w, "upper_bound", dynamic_run_is_bound(run));
    put_policies(run, &w);
    json_open_array(&w, "inputs");
    for (size_t i = 0; i < run->rows.n; i++)
        put_input(run, &run->rows.v[i], &w);
    json_close(&w);
    json_open_array(&w, "state");
    for (size_t i = 0; i < run->table.codes.n; i++)
        put_state(run, &run->table.codes.v[i], &w);
    json_close(&w);
    json_open_array(&w, "compiles");
    for (size_t i = 0; i < run->table.codes.n; i++)
        for (size_t k = 0; k < run->table.codes.v[i].compiles.n; k++)
            put_symbols(run, &run->table.codes.v[i], &run->table.codes.v[i].compiles.v[k], &w);
    json_close(&w);
    put_paste(run, &w);
    json_close(&w);
    buf_putc(out, '\n');
}

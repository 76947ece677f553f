#include "profile/why/why_fields.h"

#include "profile/model/format.h"

/* ---- What rows share ---- */

static struct datum line_datum(const struct why_line *line)
{
    return datum_place(line->file, line->line, line->code);
}

static struct datum compile_datum(const struct why_answer *why, uint32_t attempt)
{
    return attempt == TRACE_NONE ? datum_null()
                                 : datum_string(why->trace->attempts[attempt].compile);
}

static struct datum number_datum(const struct why_answer *why, uint32_t attempt)
{
    return attempt == TRACE_NONE ? datum_null() : datum_count(why->trace->attempts[attempt].number);
}

static struct datum recording_datum(const struct why_answer *why, uint32_t attempt)
{
    return attempt == TRACE_NONE
               ? datum_null()
               : datum_string(why->trace->recordings[why->trace->attempts[attempt].recording].name);
}

static struct datum log_line_datum(const struct why_answer *why, uint32_t record)
{
    return record == TRACE_NONE ? datum_null() : datum_count(why->trace->records[record].line);
}

static struct datum status_datum(const struct why_answer *why, uint32_t attempt)
{
    return attempt == TRACE_NONE
               ? datum_null()
               : datum_name(attempt_status_name(why->trace->attempts[attempt].status));
}

static void put_compile_attempt(const struct why_answer *why, uint32_t attempt, struct buf *out)
{
    if (attempt != TRACE_NONE)
        buf_printf(out, "%.*s_%u", STR_ARG(why->trace->attempts[attempt].compile),
                   (unsigned)why->trace->attempts[attempt].number);
}

static struct datum text_or_null(struct str text)
{
    return text.n ? datum_string(text) : datum_null();
}

GETTER(get_user_line, struct why_line, line_datum(row))
GETTER(get_code, struct why_line, datum_string(row->code))
GETTER(get_text, struct str, text_or_null(*row))
GETTER_IN(get_log_line, struct why_answer, uint32_t, log_line_datum(in, *row))
GETTER_IN(get_compile, struct why_answer, uint32_t, compile_datum(in, *row))
GETTER_IN(get_attempt_number, struct why_answer, uint32_t, number_datum(in, *row))
GETTER_IN(get_attempt_recording, struct why_answer, uint32_t, recording_datum(in, *row))
GETTER_IN(get_attempt_status, struct why_answer, uint32_t, status_datum(in, *row))

static void cell_compile_attempt(const void *context, const void *at, struct buf *out)
{
    put_compile_attempt(context, *(const uint32_t *)at, out);
}

#define IN_ATTEMPT(type)                                                             \
    { "recording", GET(get_attempt_recording, type, attempt) },                      \
        { "compile", GET(get_compile, type, attempt) },                              \
        { "attempt", GET(get_attempt_number, type, attempt) },                       \
    {                                                                                \
        NULL, CELL(cell_compile_attempt, type, attempt), TEXT(1, "compile", WORD, 0) \
    }

/* ---- Sizes ---- */

GETTER(get_state, enum why_state, datum_name(why_state_name(*row)))
GETTER(get_reason, enum why_reason, datum_name(why_reason_name(*row)))
GETTER(get_basis, bool, datum_name(*row ? "inferred" : "recorded"))
GETTER(get_because, enum why_reason, datum_name(why_reason_text(*row)))
GETTER(get_size_name, struct why_size, datum_string(row->source.n ? row->source : row->symbol))

static void cell_size_now(const void *context, const void *at, struct buf *out)
{
    const struct why_size *size = at;
    (void)context;
    format_text(out, size->now, 0);
    if (size->now_range.n) {
        buf_puts(out, " in ");
        format_text(out, size->now_range, 0);
    }
}

static void json_shared(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct why_size *size = at;
    (void)context;
    json_open_array(w, key);
    for (uint32_t i = 0; i < size->n_shared; i++)
        json_put_str(w, NULL, size->shared[i]);
    json_close(w);
}

static const struct field SIZE[] = {
    IN_ATTEMPT(struct why_size),
    { "status", GET(get_attempt_status, struct why_size, attempt), TEXT(2, "attempt", WORD, 3) },
    { "log_line", GET(get_log_line, struct why_size, record) },
    { NULL, .get = get_size_name, TEXT(3, "size", PATH, 0) },
    { "source", GET(get_text, struct why_size, source) },
    { "symbol", GET(get_text, struct why_size, symbol) },
    { "value", GET(get_text, struct why_size, value), TEXT(4, "value", DIGITS, 0) },
    { "range", GET(get_text, struct why_size, range) },
    { "state", GET(get_state, struct why_size, state), TEXT(5, "is", WORD, 0) },
    { "reason", GET(get_reason, struct why_size, reason) },
    { "because", GET(get_because, struct why_size, reason), TEXT(8, "since", TEXT, 0) },
    { "evidence", GET(get_text, struct why_size, evidence) },
    { "basis", GET(get_basis, struct why_size, inferred) },
    { "now", GET(get_text, struct why_size, now) },
    { "now_range", GET(get_text, struct why_size, now_range) },
    { NULL, .cell = cell_size_now, TEXT(6, "at the end", TEXT, 0) },
    { "guards", MEMBER(struct why_size, n_guards), TEXT(7, "guards", COUNT, 2) },
    { "shared_with", .json = json_shared },
    { "line", GET(get_user_line, struct why_size, line) },
};
const struct fields why_size_fields = FIELDS_OF(SIZE);

/* ---- Events ---- */

GETTER(get_event_kind, enum why_event_kind, datum_name(why_event_name(*row)))
GETTER(get_event_asker, struct why_event,
       row->asked ? datum_name(guard_class_name(row->asked_by)) : datum_null())

static const struct field EVENT[] = {
    { "log_line", GET(get_log_line, struct why_event, record), TEXT(1, "log line", DIGITS, 3) },
    { "kind", GET(get_event_kind, struct why_event, kind), TEXT(2, "what", WORD, 0) },
    { "class", .get = get_event_asker, TEXT(3, "asked by", WORD, 2) },
    { "text", MEMBER(struct why_event, text), TEXT(4, "expression", TEXT, 0),
      IN_TABLE(1, 1, "condition", TEXT, 0) },
    { "because", GET(get_text, struct why_event, detail), IN_TABLE(1, 2, "since", WORD, 2) },
    { "line", GET(get_user_line, struct why_event, line), TEXT(5, "user line", PATH, 0),
      IN_TABLE(1, 3, "user line", PATH, 0) },
    { NULL, GET(get_code, struct why_event, line), TEXT(6, "code", TEXT, 1),
      IN_TABLE(1, 4, "code", TEXT, 1) },
};
const struct fields why_event_fields = FIELDS_OF(EVENT);

/* ---- Steps through a graph ---- */

static const struct field STEP[] = {
    { "node", MEMBER(struct why_step, node), TEXT(1, "node", WORD, 0) },
    { "op", MEMBER(struct why_step, op), TEXT(2, "operator", TEXT, 0) },
    { "size", GET(get_text, struct why_step, size), TEXT(3, "size", WORD, 0) },
    { "number", MEMBER(struct why_step, text), TEXT(4, "number", TEXT, 0) },
    { "origin", MEMBER(struct why_step, origin), TEXT(5, "ends here", WORD, 0) },
    { "line", GET(get_user_line, struct why_step, line), TEXT(6, "user line", PATH, 0) },
    { NULL, GET(get_code, struct why_step, line), TEXT(7, "code", TEXT, 1) },
};
const struct fields why_step_fields = FIELDS_OF(STEP);

/* ---- Differences of two values ---- */

GETTER(get_first, struct why_difference, datum_bool(row->holds[0]))
GETTER(get_second, struct why_difference, datum_bool(row->holds[1]))
GETTER(get_difference_asker, struct why_difference,
       row->asked ? datum_name(guard_class_name(row->asked_by)) : datum_null())
GETTER_IN(get_true_for, struct why_answer, struct why_difference,
          datum_string(in->between[row->holds[0] ? 0 : 1]))

static const struct field DIFFERENCE[] = {
    IN_ATTEMPT(struct why_difference),
    { "log_line", GET(get_log_line, struct why_difference, record) },
    { "kind", GET(get_event_kind, struct why_difference, kind), TEXT(2, "what", WORD, 0) },
    { "class", .get = get_difference_asker, TEXT(3, "asked by", WORD, 2) },
    { "expr", MEMBER(struct why_difference, expr), TEXT(4, "condition", TEXT, 0) },
    { "first", .get = get_first },
    { "second", .get = get_second },
    { NULL, .get = get_true_for, TEXT(5, "true for", DIGITS, 0) },
    { "line", GET(get_user_line, struct why_difference, line), TEXT(6, "user line", PATH, 0) },
    { NULL, GET(get_code, struct why_difference, line), TEXT(7, "code", TEXT, 1) },
};
const struct fields why_difference_fields = FIELDS_OF(DIFFERENCE);

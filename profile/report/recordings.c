/* Sections: recordings, compiles, and differences between recordings. */
#include "profile/model/format.h"
#include "profile/report/section.h"

/* ---- Recordings ---- */

static bool is_slowest(const struct profile *p, const struct profile_recording *row)
{
    return row - p->recordings == (ptrdiff_t)p->slowest;
}

GETTER_IN(get_slowest, void, void, datum_bool(is_slowest(in, row)))

static void cell_recording(const void *context, const void *at, struct buf *out)
{
    const struct profile_recording *row = at;
    format_text(out, row->name, 0);
    buf_puts(out, is_slowest(context, row) ? " (slowest)" : "");
}

static const struct field RECORDING[] = {
    { "name", MEMBER(struct profile_recording, name) },
    { "rank", GET(get_known_i64, struct profile_recording, rank) },
    { "slowest", .get = get_slowest },
    { "compile_ns", MEMBER(struct profile_recording, compile_ns), TEXT(1, "time", NS, 0) },
    { "restarted_ns", MEMBER(struct profile_recording, restarted_ns),
      TEXT(2, "thrown away", SPENT, 1) },
    { "records", MEMBER(struct profile_recording, n_records) },
    { "compiles", MEMBER(struct profile_recording, n_compiles), TEXT(3, "compiles", COUNT, 0) },
    { "attempts", MEMBER(struct profile_recording, n_attempts), TEXT(4, "attempts", COUNT, 5) },
    { "unfinished", MEMBER(struct profile_recording, n_unfinished) },
    { "graphs", MEMBER(struct profile_recording, n_graphs), TEXT(5, "graphs", COUNT, 4) },
    { "guards", MEMBER(struct profile_recording, n_guards), TEXT(6, "guards", COUNT, 0) },
    { "restarts", MEMBER(struct profile_recording, n_restarts) },
    { "recompiles", MEMBER(struct profile_recording, n_recompiles),
      TEXT(8, "recompiles", COUNT, 3) },
    { "breaks", MEMBER(struct profile_recording, n_breaks), TEXT(7, "breaks", COUNT, 2) },
    { "failures", MEMBER(struct profile_recording, n_failures), TEXT(9, "failures", COUNT, 1) },
    { NULL, .cell = cell_recording, TEXT(10, "recording", PATH, 0) },
};
static const struct fields RECORDING_FIELDS = FIELDS_OF(RECORDING);

WANTED_IN(is_one_of_several, struct profile, void, in->n_recordings > 1)

static void text_recordings(struct report *r)
{
    struct rows rows = ROWS(r->p->recordings, r->p->n_recordings);
    rows.wanted = is_one_of_several;
    text_rows(r, "Recordings", &RECORDING_FIELDS, 0, &rows, 0);
}

const struct section section_recordings = {
    .key = "recordings",
    .fields = &RECORDING_FIELDS,
    PROFILE_ROWS(recordings, n_recordings),
    .text = text_recordings,
};

/* ---- Differences ---- */

static struct datum difference_value(const struct profile_difference *d, uint32_t recording)
{
    int64_t value = d->values[recording];
    if (value == PROFILE_ABSENT)
        return datum_null();
    if (strcmp(d->what, "status") == 0)
        return datum_name(attempt_status_name((enum attempt_status)value));
    return datum_integer(value);
}

static void json_values(const void *context, const void *at, struct json_writer *w, const char *key)
{
    const struct profile *p = context;
    const struct profile_difference *d = at;
    json_open_array(w, key);
    for (uint32_t i = 0; i < p->n_recordings; i++) {
        struct datum value = difference_value(d, i);
        json_put_datum(w, NULL, &value);
    }
    json_close(w);
}

/* Appends the value of each recording: "rank0 3, rank1 4". */
static void cell_difference_values(const void *context, const void *at, struct buf *out)
{
    const struct profile *p = context;
    const struct profile_difference *d = at;
    for (uint32_t i = 0; i < p->n_recordings; i++) {
        struct datum value = difference_value(d, i);
        buf_puts(out, i > 0 ? ", " : "");
        format_text(out, p->recordings[i].short_name, 0);
        buf_putc(out, ' ');
        if (value.kind == DATUM_NULL)
            buf_putc(out, '-');
        else if (value.kind == DATUM_STRING)
            buf_put(out, value.as.string);
        else if (strcmp(d->what, "ns") == 0)
            format_ns(out, value.as.integer);
        else if (strcmp(d->what, "present") == 0)
            buf_puts(out, value.as.integer ? "yes" : "no");
        else
            format_count(out, (uint64_t)value.as.integer);
    }
}

static struct datum get_differs_in(const void *context, const void *at)
{
    const char *what = ((const struct profile_difference *)at)->what;
    (void)context;
    return datum_name(strcmp(what, "ns") == 0 ? "time" : what);
}

static const struct field DIFFERENCE[] = {
    { "compile", MEMBER(struct profile_difference, compile), TEXT(1, "compile", WORD, 0) },
    { "what", MEMBER(struct profile_difference, what) },
    { NULL, .get = get_differs_in, TEXT(2, "differs in", WORD, 0) },
    { "values", .json = json_values, .cell = cell_difference_values,
      TEXT(3, "recordings", TEXT, 0) },
};
static const struct fields DIFFERENCE_FIELDS = FIELDS_OF(DIFFERENCE);

const struct section section_differences = {
    .key = "differences",
    .title = "Where the recordings differ",
    .fields = &DIFFERENCE_FIELDS,
    PROFILE_ROWS(differences, n_differences),
};

/* ---- Compiles ---- */

enum { EXPANSION = 1 }; /* the table of calls by level */

GETTER(get_status, enum attempt_status, datum_name(attempt_status_name(*row)))
GETTER(get_compile_place, struct profile_compile, datum_place(row->file, row->line, STR("")))

static void cell_id(const void *context, const void *at, struct buf *out)
{
    const struct profile *p = context;
    const struct profile_compile *c = at;
    cell_compile(p, c->recording, (uint32_t)(c - p->compiles), out);
}

static void cell_function(const void *context, const void *at, struct buf *out)
{
    const struct profile_compile *c = at;
    (void)context;
    format_text(out, c->function, 0);
    buf_puts(out, c->function.n > 0 ? " " : "");
    format_place(out, c->file, c->line);
}

/* Returns the calls of a level divided by those of Dynamo's graphs. */
static struct datum calls_ratio(const struct profile_compile *c, uint64_t calls)
{
    uint64_t dynamo = c->calls[GRAPH_DYNAMO];
    return datum_number(dynamo > 0 ? (double)calls / (double)dynamo : 0);
}

GETTER(get_joint_ratio, struct profile_compile, calls_ratio(row, row->calls[GRAPH_JOINT]))
GETTER(get_aten_ratio, struct profile_compile,
       calls_ratio(row, row->calls[GRAPH_FORWARD] + row->calls[GRAPH_BACKWARD] +
                            row->calls[GRAPH_INFERENCE]))

#define CALLS(at, title, level, spare)                      \
    {                                                       \
        NULL, MEMBER(struct profile_compile, calls[level]), \
            IN_TABLE(EXPANSION, at, title, COUNT, spare)    \
    }

static const struct field COMPILE[] = {
    { "recording", GET(get_recording_name, struct profile_compile, recording) },
    { "id", MEMBER(struct profile_compile, id) },
    { "status", GET(get_status, struct profile_compile, status), TEXT(7, "status", WORD, 0) },
    { NULL, .cell = cell_id, TEXT(8, "compile", WORD, 0),
      IN_TABLE(EXPANSION, 9, "compile", WORD, 0) },
    { "attempts", MEMBER(struct profile_compile, n_attempts), TEXT(3, "attempts", COUNT, 1) },
    { "function", MEMBER(struct profile_compile, function) },
    { "line", .get = get_compile_place },
    { NULL, .cell = cell_function, TEXT(9, "function", TEXT, 0) },
    { "ns", MEMBER(struct profile_compile, ns), TEXT(1, "time", NS, 0) },
    { "restarted_ns", MEMBER(struct profile_compile, restarted_ns),
      TEXT(2, "thrown away", SPENT, 0) },
    { "records", MEMBER(struct profile_compile, n_records) },
    { "graphs", MEMBER(struct profile_compile, n_graphs), TEXT(4, "graphs", COUNT, 2) },
    { "guards", MEMBER(struct profile_compile, n_guards), TEXT(5, "guards", COUNT, 0) },
    { "symbols", MEMBER(struct profile_compile, n_symbols), TEXT(6, "symbols", COUNT, 3) },
    { "specializations", MEMBER(struct profile_compile, n_specializations) },
    { "calls", JSON(json_levels, struct profile_compile, calls) },
    { "thrown_calls", JSON(json_levels, struct profile_compile, thrown_calls) },
    CALLS(1, "Dynamo", GRAPH_DYNAMO, 0),
    CALLS(2, "joint", GRAPH_JOINT, 3),
    { NULL, .get = get_joint_ratio, IN_TABLE(EXPANSION, 3, "x", RATIO, 4) },
    CALLS(4, "forward", GRAPH_FORWARD, 0),
    CALLS(5, "backward", GRAPH_BACKWARD, 0),
    CALLS(6, "inference", GRAPH_INFERENCE, 0),
    { NULL, .get = get_aten_ratio, IN_TABLE(EXPANSION, 7, "x", RATIO, 0) },
    CALLS(8, "post-grad", GRAPH_POST_GRAD, 2),
};
static const struct fields COMPILE_FIELDS = FIELDS_OF(COMPILE);

static int64_t compile_ns(const struct profile *profile, uint32_t i)
{
    return profile->compiles[i].ns;
}

const struct section section_compiles = {
    .key = "compiles",
    .title = "Compiles, slowest first",
    .fields = &COMPILE_FIELDS,
    PROFILE_ROWS(compiles, n_compiles),
    .order = compile_ns,
};

WANTED(has_dynamo_calls, struct profile_compile, row->calls[GRAPH_DYNAMO] > 0)

static void text_expansion(struct report *r)
{
    struct rows rows = ROWS(r->p->compiles, r->p->n_compiles);
    rows.wanted = has_dynamo_calls;
    text_rows(r, "Expansion: calls by level in each compile's last attempt (x: of Dynamo's)",
              &COMPILE_FIELDS, EXPANSION, &rows, r->options->limit);
}

const struct section section_expansion = { .text = text_expansion };

/* Sections: restarts, recompiles, graph breaks, failures and caches. */
#include "profile/report/incident_fields.h"
#include "profile/report/section.h"

/* ---- Where ---- */

static const struct trace *trace_of_incident(const struct profile *p,
                                             const struct profile_where *where)
{
    return p->traces[p->recordings[where->recording].input];
}

/* The attempt, or null for a record without a compile. */
GETTER_IN(get_attempt, void, struct profile_where,
          row->attempt == TRACE_NONE
              ? datum_null()
              : datum_count(trace_of_incident(in, row)->attempts[row->attempt].number))

static void cell_where(const void *context, const void *at, struct buf *out)
{
    const struct profile_where *where = at;
    cell_compile(context, where->recording, where->compile, out);
}

static const struct field COMPILE[] = {
    { "recording", GET(get_recording_name, struct profile_where, recording) },
    { "compile", GET(get_compile_id, struct profile_where, compile) },
};
static const struct fields COMPILE_FIELDS = FIELDS_OF(COMPILE);

static const struct field WHERE[] = {
    { NULL, .group = &COMPILE_FIELDS },
    { "attempt", .get = get_attempt },
};
static const struct fields WHERE_FIELDS = FIELDS_OF(WHERE);

/* ---- Restarts ---- */

static int64_t restart_ns(const struct profile *profile, uint32_t i)
{
    return profile->restarts[i].is->ns;
}

static const struct field RESTART[] = {
    { NULL, PART(WHERE_FIELDS, struct profile_restart, where) },
    { NULL, CELL(cell_where, struct profile_restart, where), TEXT(2, "compile", WORD, 0) },
    { NULL, GET(get_attempt, struct profile_restart, where), TEXT(3, "attempt", DIGITS, 0) },
    { NULL, BEHIND(restart_fields, struct profile_restart, is) },
};
static const struct fields RESTART_FIELDS = FIELDS_OF(RESTART);

const struct section section_restarts = {
    .key = "restarts",
    .title = "Restarts (attempts that were thrown away)",
    .fields = &RESTART_FIELDS,
    PROFILE_ROWS(restarts, n_restarts),
    .order = restart_ns,
};

/* ---- Recompiles ---- */

static int64_t recompile_ns(const struct profile *profile, uint32_t i)
{
    return profile->recompiles[i].is->ns;
}

static const struct field RECOMPILE[] = {
    { NULL, PART(COMPILE_FIELDS, struct profile_recompile, where) },
    { NULL, CELL(cell_where, struct profile_recompile, where), TEXT(2, "compile", WORD, 0) },
    { NULL, BEHIND(recompile_fields, struct profile_recompile, is) },
};
static const struct fields RECOMPILE_FIELDS = FIELDS_OF(RECOMPILE);

const struct section section_recompiles = {
    .key = "recompiles",
    .title = "Recompiles (a function compiled again because guards failed)",
    .fields = &RECOMPILE_FIELDS,
    PROFILE_ROWS(recompiles, n_recompiles),
    .order = recompile_ns,
};

/* ---- Graph breaks ---- */

static void json_caused_compiles(const void *context, const void *at, struct json_writer *w,
                                 const char *key)
{
    const struct profile_break *row = at;
    json_break_caused(w, key, trace_of_incident(context, &row->where), row->is);
}

static const struct field BREAK[] = {
    { NULL, PART(WHERE_FIELDS, struct profile_break, where) },
    { NULL, CELL(cell_where, struct profile_break, where), TEXT(1, "compile", WORD, 0) },
    { NULL, BEHIND(break_fields, struct profile_break, is) },
    { "caused", .json = json_caused_compiles },
    { "caused_ns", MEMBER(struct profile_break, caused_ns), TEXT(5, "their time", SPENT, 1) },
};
static const struct fields BREAK_FIELDS = FIELDS_OF(BREAK);

const struct section section_breaks = {
    .key = "breaks",
    .title = "Graph breaks (depth: calls below the compiled function)",
    .fields = &BREAK_FIELDS,
    PROFILE_ROWS(breaks, n_breaks),
};

/* ---- Failures ---- */

static const struct field FAILURE[] = {
    { NULL, PART(WHERE_FIELDS, struct profile_failure, where) },
    { NULL, CELL(cell_where, struct profile_failure, where), TEXT(1, "compile", WORD, 0) },
    { NULL, BEHIND(failure_fields, struct profile_failure, is) },
};
static const struct fields FAILURE_FIELDS = FIELDS_OF(FAILURE);

const struct section section_failures = {
    .key = "failures",
    .title = "Failures",
    .fields = &FAILURE_FIELDS,
    PROFILE_ROWS(failures, n_failures),
};

/* ---- Caches ---- */

static const struct field CACHE[] = {
    { NULL, PART(WHERE_FIELDS, struct profile_cache, where) },
    { NULL, CELL(cell_where, struct profile_cache, where), TEXT(3, "compile", WORD, 0) },
    { NULL, BEHIND(cache_fields, struct profile_cache, is) },
};
static const struct fields CACHE_FIELDS = FIELDS_OF(CACHE);

const struct section section_caches = {
    .key = "caches",
    .title = "Caches (time: what the entry took to make)",
    .fields = &CACHE_FIELDS,
    PROFILE_ROWS(caches, n_caches),
};

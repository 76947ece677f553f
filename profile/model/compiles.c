/* Selects the recordings and compiles of a profile. */
#include "profile/model/build.h"
#include "trace/selector.h"

enum { SHORT_GUARD = 100 }; /* bytes of an expression that takes no longer than shorter ones */

/* Returns whether an attempt is selected: "0/0" names a compile with all its attempts, "0/0_1" one
 * attempt. */
static bool attempt_asked(const struct profile_options *options, const struct attempt *attempt)
{
    if (options->compile.n == 0 || str_eq(options->compile, attempt->compile))
        return true;
    uint64_t number;
    return str_starts(options->compile, attempt->compile) &&
           options->compile.p[attempt->compile.n] == '_' &&
           str_to_u64(str_from(options->compile, attempt->compile.n + 1), &number) &&
           number == attempt->number;
}

static struct str recording_name(struct profile_build *b, const struct trace *trace,
                                 const struct recording *recording)
{
    if (b->profile.n_traces == 1)
        return recording->name;
    struct buf name = BUF_INIT;
    buf_put(&name, trace->path);
    if (trace->n_recordings > 1)
        buf_printf(&name, "@%.*s", STR_ARG(recording->name));
    struct str copy = name.failed ? (struct str){ 0 } : arena_copy(&b->arena, buf_str(&name));
    buf_release(&name);
    return copy;
}

static bool add_recordings(struct profile_build *b, uint32_t input)
{
    struct build_input *in = &b->inputs[input];
    for (uint32_t i = 0; i < in->trace->n_recordings; i++) {
        const struct recording *recording = &in->trace->recordings[i];
        struct str asked = b->profile.options.recording;
        in->recording_of[i] = PROFILE_NONE;
        if (asked.n > 0 && !str_eq(asked, recording->name))
            continue;
        in->recording_of[i] = (uint32_t)b->recordings.n;
        struct profile_recording row = {
            .input = input,
            .recording = i,
            .name = recording_name(b, in->trace, recording),
            .rank = recording->rank,
            .n_records = recording->n_records,
        };
        if (!row.name.p || !vec_push(&b->recordings, row))
            return false;
    }
    return true;
}

/* Removes folders from the names, if the names remain distinct. */
static void shorten_names(struct profile_build *b)
{
    for (size_t i = 0; i < b->recordings.n; i++) {
        struct str name = b->recordings.v[i].name, tail = str_basename(name);
        bool clear = b->profile.n_traces > 1;
        for (size_t k = 0; k < b->recordings.n && clear; k++)
            clear = str_eq(b->recordings.v[k].name, name) ||
                    !str_eq(str_basename(b->recordings.v[k].name), tail);
        b->recordings.v[i].short_name = clear ? tail : name;
    }
}

static bool add_compile_attempt(struct profile_build *b, struct build_input *in, uint32_t index)
{
    const struct attempt *attempt = &in->trace->attempts[index];
    uint32_t recording = in->recording_of[attempt->recording];
    in->compile_of[index] = PROFILE_NONE;
    if (recording == PROFILE_NONE || !attempt_asked(&b->profile.options, attempt))
        return true;
    uint32_t previous = attempt->previous, compile = PROFILE_NONE;
    if (previous != TRACE_NONE && previous < index)
        compile = in->compile_of[previous];
    if (compile == PROFILE_NONE) {
        compile = (uint32_t)b->compiles.n;
        struct profile_compile fresh = {
            .recording = recording,
            .first_attempt = index,
            .id = attempt->compile,
        };
        if (!vec_push(&b->compiles, fresh))
            return false;
    }
    struct profile_compile *row = &b->compiles.v[compile];
    in->compile_of[index] = compile;
    row->last_attempt = index;
    row->n_attempts++;
    row->status = attempt->status;
    row->n_records += attempt->n_records;
    const struct metrics *metrics = in->metrics_of[index];
    row->function = metrics ? metrics->function : STR("");
    row->file = metrics ? metrics->file : STR("");
    row->line = metrics ? metrics->line : 0;
    return true;
}

/* Names the function of a compile that has not ended by the last frame of dynamo_start. */
static bool name_from_start(struct profile_build *b, struct build_input *in, uint32_t record,
                            struct json *doc, struct err *err)
{
    uint32_t compile = build_compile(in, in->trace->records[record].attempt);
    struct err unreadable = { 0 };
    if (compile == PROFILE_NONE || b->compiles.v[compile].function.n > 0)
        return true;
    if (!record_json(in->trace, record, doc, &unreadable))
        return unreadable.kind != ERR_ENV || err_set(err, ERR_ENV, "%s", unreadable.text);
    struct frame frame = stack_frame(in->trace, in->trace->records[record].recording,
                                     record_stack(in->trace, doc, STR("stack")));
    b->compiles.v[compile].function = frame.function;
    b->compiles.v[compile].file = frame.file;
    b->compiles.v[compile].line = frame.line;
    return true;
}

static bool name_unfinished(struct profile_build *b, struct build_input *in, struct err *err)
{
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < in->trace->n_records; i++)
        if (in->trace->records[i].event == EVENT_DYNAMO_START)
            ok = name_from_start(b, in, i, &doc, err);
    json_release(&doc);
    return ok;
}

void build_count_guard(struct profile_compile *c, struct str expr, bool has_graph)
{
    uint64_t more = expr.n > SHORT_GUARD ? expr.n - SHORT_GUARD : 0;
    c->n_guards++;
    c->guard_characters += expr.n;
    c->long_characters += more;
    c->long_characters_of_graphs += has_graph ? more : 0;
}

/* has_graph: by attempt, false at first. */
static void count_parts(struct profile_build *b, const struct build_input *in, bool *has_graph)
{
    for (uint32_t i = 0; i < in->graphs->n; i++) {
        uint32_t compile = build_compile(in, in->graphs->refs[i].attempt);
        if (compile == PROFILE_NONE)
            continue;
        b->compiles.v[compile].n_graphs++;
        has_graph[in->graphs->refs[i].attempt] = true;
    }
    for (uint32_t i = 0; i < in->guards->n; i++) {
        const struct guard *guard = &in->guards->guards[i];
        uint32_t compile = build_compile(in, guard->attempt);
        if (compile != PROFILE_NONE && guard->kind == GUARD_EVAL)
            build_count_guard(&b->compiles.v[compile], guard->expr, has_graph[guard->attempt]);
    }
    for (uint32_t i = 0; i < in->symbols->n_symbols; i++) {
        uint32_t compile = build_compile(in, in->symbols->symbols[i].attempt);
        if (compile != PROFILE_NONE)
            b->compiles.v[compile].n_symbols++;
    }
    for (uint32_t i = 0; i < in->symbols->n_specializations; i++) {
        uint32_t compile = build_compile(in, in->symbols->specializations[i].attempt);
        if (compile != PROFILE_NONE)
            b->compiles.v[compile].n_specializations++;
    }
}

static bool add_compiles(struct profile_build *b, struct build_input *in, struct err *err)
{
    for (uint32_t i = 0; i < in->metrics->n; i++) {
        const struct metrics *m = &in->metrics->metrics[i];
        if (m->attempt != TRACE_NONE && !m->backward && !m->runtime)
            in->metrics_of[m->attempt] = m;
    }
    for (uint32_t i = 0; i < in->trace->n_attempts; i++)
        if (!add_compile_attempt(b, in, i))
            return err_nomem(err);
    bool *has_graph = calloc((size_t)in->trace->n_attempts + 1, sizeof *has_graph);
    if (!has_graph)
        return err_nomem(err);
    count_parts(b, in, has_graph);
    free(has_graph);
    return name_unfinished(b, in, err);
}

/* Fails if the filters select nothing; the message lists what the first trace has. */
static bool check_filters(const struct profile_build *b, struct err *err)
{
    const struct profile_options *asked = &b->profile.options;
    struct selector selector = SELECTOR_ALL;
    if ((asked->recording.n == 0 || b->recordings.n > 0) &&
        (asked->compile.n == 0 || b->compiles.n > 0))
        return true;
    if (asked->compile.n > 0 && !selector_parse_part(&selector, asked->compile, err))
        return false;
    if (asked->compile.n > 0 && (selector.compile.n == 0 || selector.kind.n > 0))
        return err_set(err, ERR_USAGE, "\"%.*s\" is not a compile id, as 0/0 or 0/0_1",
                       STR_ARG(asked->compile));
    selector.recording = asked->recording;
    if (b->profile.n_traces > 0 && !selector_check(b->inputs[0].trace, &selector, err))
        return false;
    return err_set(err, ERR_USAGE, "no compile %.*s", STR_ARG(asked->compile));
}

bool build_compiles(struct profile_build *b, struct err *err)
{
    for (uint32_t i = 0; i < b->profile.n_traces; i++)
        if (!add_recordings(b, i))
            return err_nomem(err);
    for (uint32_t i = 0; i < b->profile.n_traces; i++)
        if (!add_compiles(b, &b->inputs[i], err))
            return false;
    shorten_names(b);
    if (!check_filters(b, err))
        return false;
    b->profile.recordings = b->recordings.v;
    b->profile.n_recordings = (uint32_t)b->recordings.n;
    b->profile.compiles = b->compiles.v;
    b->profile.n_compiles = (uint32_t)b->compiles.n;
    return true;
}

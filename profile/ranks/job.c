#include "profile/ranks/job.h"

#include <stdlib.h>

#include "profile/ranks/job_build.h"
#include "trace/events/user_line.h"

struct job *job_new(struct err *err)
{
    struct job *job = calloc(1, sizeof *job);
    if (!job || intern(&job->texts, STR("")) == INTERN_NONE) {
        job_free(job);
        err_nomem(err);
        return NULL;
    }
    return job;
}

void job_free(struct job *job)
{
    if (!job)
        return;
    intern_release(&job->texts);
    intern_release(&job->place_keys);
    vec_release(&job->ranks);
    vec_release(&job->compiles);
    vec_release(&job->facts);
    vec_release(&job->places);
    vec_release(&job->step_order);
    vec_release(&job->by_step);
    vec_release(&job->first_of_step);
    free(job);
}

uint32_t job_keep(struct job_build *b, struct str text)
{
    return intern(&b->job->texts, text);
}

uint32_t job_keep_text(struct job_build *b)
{
    return b->text.failed ? INTERN_NONE : job_keep(b, buf_str(&b->text));
}

bool job_keep_place(struct job_build *b, struct str file, struct str function, uint32_t line,
                    uint32_t *ret)
{
    *ret = JOB_NONE;
    if (!file.n || !line)
        return true;
    struct job_place place = { job_keep(b, file), job_keep(b, function), line };
    if (place.file == INTERN_NONE || place.function == INTERN_NONE)
        return false;
    *ret = intern(&b->job->place_keys, (struct str){ (const char *)&place, sizeof place });
    return *ret != INTERN_NONE && (*ret < b->job->places.n || vec_push(&b->job->places, place));
}

bool job_put_fact(struct job_build *b, uint32_t attempt, const struct fact *fact)
{
    if (!job_is_last(b, attempt) || b->compile_of[attempt] == JOB_NONE)
        return true;
    const uint32_t texts[] = { fact->what, fact->detail, fact->extra, fact->sizes, fact->group };
    bool ok = true;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        ok = ok && texts[i] != INTERN_NONE;
    struct loose_fact loose = { b->compile_of[attempt], (uint32_t)b->loose.n, *fact };
    return (ok && vec_push(&b->loose, loose)) || err_nomem(b->err);
}

/* ---- Compiles ---- */

/* "0/1", "!1/0/2", "0/1.1": whether the frame's own number is above 0. */
static bool is_recompile(struct str id)
{
    size_t at = id.n;
    while (at > 0 && id.p[at - 1] != '/')
        at--;
    return at < id.n && at > 0 && id.p[at] != '0';
}

static bool add_compile(struct job_build *b, uint32_t rank, uint32_t first)
{
    struct job *job = b->job;
    struct job_compile fresh = {
        .rank = rank,
        .id = job_keep(b, b->trace->attempts[first].compile),
        .place = JOB_NONE,
        .call = JOB_NONE,
        .recompile = is_recompile(b->trace->attempts[first].compile),
        .begin_ns = JOB_TIME,
        .end_ns = JOB_TIME,
        .step = JOB_NONE,
    };
    uint32_t last = first;
    for (uint32_t a = first, left = b->trace->n_attempts; a != TRACE_NONE && left > 0; left--) {
        b->compile_of[a] = (uint32_t)job->compiles.n;
        last = a;
        a = b->trace->attempts[a].next;
    }
    for (uint32_t a = first, left = b->trace->n_attempts; a != TRACE_NONE && left > 0; left--) {
        b->last_of[a] = last;
        a = b->trace->attempts[a].next;
    }
    fresh.status = b->trace->attempts[last].status;
    job->ranks.v[rank].n_compiles++;
    return fresh.id != INTERN_NONE && job->compiles.n < JOB_NONE - 1 &&
           vec_push(&job->compiles, fresh);
}

/* The attempts of a trace are in the order of their first records, so compiles are in that in which
 * they began. */
static bool add_rank(struct job_build *b, uint32_t recording)
{
    const struct recording *r = &b->trace->recordings[recording];
    struct job_rank rank = {
        .name = job_keep(b, r->name),
        .source = job_keep(b, b->trace->path),
        .number = r->rank,
        .first_compile = (uint32_t)b->job->compiles.n,
    };
    if (rank.name == INTERN_NONE || rank.source == INTERN_NONE || !vec_push(&b->job->ranks, rank))
        return false;
    for (uint32_t i = 0; i < b->trace->n_attempts; i++) {
        const struct attempt *a = &b->trace->attempts[i];
        if (a->recording == recording && a->previous == TRACE_NONE &&
            !add_compile(b, (uint32_t)b->job->ranks.n - 1, i))
            return false;
    }
    return true;
}

/* The stack of dynamo_start ends with the frame that is compiled; the program's innermost line
 * before it called it. */
static bool place_compile(struct job_build *b, uint32_t record, const struct json *doc)
{
    const struct record *r = &b->trace->records[record];
    struct job_compile *c = &b->job->compiles.v[b->compile_of[r->attempt]];
    stack_id stack = record_stack(b->trace, doc, STR("stack"));
    struct frame frame = stack_frame(b->trace, r->recording, stack);
    stack_id caller = user_program_line(b->trace, r->recording, stack_parent(b->trace, stack));
    struct frame from = stack_frame(b->trace, r->recording, caller);
    if (c->place != JOB_NONE)
        return true;
    c->function = job_keep(b, frame.function);
    if (c->function == INTERN_NONE)
        return false;
    bool program = caller && user_file_of(from.file) == USER_FILE_PROGRAM;
    return job_keep_place(b, frame.file, frame.function, frame.line, &c->place) &&
           (!program || job_keep_place(b, from.file, from.function, from.line, &c->call));
}

static bool place_compiles(struct job_build *b)
{
    struct json doc = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < b->trace->n_records; i++) {
        const struct record *r = &b->trace->records[i];
        struct err unreadable = { 0 };
        if (r->event != EVENT_DYNAMO_START || r->attempt == TRACE_NONE ||
            b->compile_of[r->attempt] == JOB_NONE)
            continue;
        if (record_json(b->trace, i, &doc, &unreadable))
            ok = place_compile(b, i, &doc) || err_nomem(b->err);
        else
            ok = unreadable.kind != ERR_ENV || err_copy(b->err, &unreadable);
    }
    json_release(&doc);
    return ok;
}

/* ---- Facts ---- */

static bool is_keyed(uint32_t kind)
{
    return kind == FACT_SYMBOL || kind == FACT_CONSTANT || kind == FACT_VALUE;
}

static int by_compile(const void *a, const void *b)
{
    const struct loose_fact *x = a, *y = b;
    if (x->compile != y->compile)
        return x->compile < y->compile ? -1 : 1;
    if (x->fact.kind != y->fact.kind)
        return x->fact.kind < y->fact.kind ? -1 : 1;
    if (is_keyed(x->fact.kind) && x->fact.what != y->fact.what)
        return x->fact.what < y->fact.what ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns the number of the first fact that is not before this kind and `what`. */
static uint32_t find_first(const struct job *job, const struct job_compile *c, uint32_t kind,
                           uint32_t what)
{
    uint32_t from = 0, to = c->n_facts;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const struct fact *fact = &job->facts.v[c->first_fact + middle];
        bool before =
            fact->kind < kind || (fact->kind == kind && is_keyed(kind) && fact->what < what);
        *(before ? &from : &to) = before ? middle + 1 : middle;
    }
    return from;
}

const struct fact *job_next_fact(const struct job *job, const struct job_compile *c,
                                 enum fact_kind kind, uint32_t *at)
{
    if (*at == 0)
        *at = find_first(job, c, kind, 0);
    if (*at >= c->n_facts || job->facts.v[c->first_fact + *at].kind != kind)
        return NULL;
    return &job->facts.v[c->first_fact + (*at)++];
}

const struct fact *job_find_fact(const struct job *job, const struct job_compile *c,
                                 enum fact_kind kind, uint32_t what)
{
    uint32_t at = find_first(job, c, kind, what);
    if (at >= c->n_facts)
        return NULL;
    const struct fact *fact = &job->facts.v[c->first_fact + at];
    return fact->kind == kind && fact->what == what ? fact : NULL;
}

const struct fact *job_first_collective(const struct job *job, uint32_t compile)
{
    uint32_t at = 0, early = 0;
    const struct job_compile *c = &job->compiles.v[compile];
    const struct fact *fact = job_next_fact(job, c, FACT_COLLECTIVE, &at);
    return fact ? fact : job_next_fact(job, c, FACT_EARLY, &early);
}

uint32_t job_call_place(const struct job *job, uint32_t compile)
{
    const struct job_compile *c = compile == JOB_NONE ? NULL : &job->compiles.v[compile];
    return !c ? JOB_NONE : c->call != JOB_NONE ? c->call : c->place;
}

static bool sort_facts(struct job_build *b)
{
    struct job *job = b->job;
    if (!vec_reserve(&job->facts, b->loose.n))
        return err_nomem(b->err);
    if (b->loose.n)
        qsort(b->loose.v, b->loose.n, sizeof *b->loose.v, by_compile);
    for (size_t i = 0; i < b->loose.n; i++) {
        struct job_compile *c = &job->compiles.v[b->loose.v[i].compile];
        if (!c->n_facts++)
            c->first_fact = (uint32_t)job->facts.n;
        job->facts.v[job->facts.n++] = b->loose.v[i].fact;
    }
    return true;
}

static bool read_ranks(struct job_build *b)
{
    for (uint32_t i = 0; i < b->trace->n_recordings; i++)
        if (b->trace->recordings[i].kind == RECORDING_LOG && !add_rank(b, i))
            return err_nomem(b->err);
    return true;
}

bool job_add(struct job *job, struct trace *trace, struct err *err)
{
    struct job_build b = { .job = job, .trace = trace, .err = err };
    size_t size = ((size_t)trace->n_attempts + 1) * sizeof *b.compile_of;
    b.compile_of = malloc(size);
    b.last_of = malloc(size);
    b.chromium = chromium_read(trace, err);
    bool ok = b.chromium && ((b.compile_of && b.last_of) || err_nomem(err));
    if (ok) {
        memset(b.compile_of, 0xff, size); /* JOB_NONE */
        memset(b.last_of, 0xff, size);
    }
    ok = ok && read_ranks(&b) && place_compiles(&b) && job_read_events(&b) && job_read_graphs(&b) &&
         job_read_times(&b) && sort_facts(&b);
    chromium_free(b.chromium);
    free(b.compile_of);
    free(b.last_of);
    vec_release(&b.loose);
    buf_release(&b.text);
    return ok;
}

/* ---- All ranks ---- */

static int by_number(const void *a, const void *b)
{
    const struct job_rank *x = a, *y = b;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return x->first_compile < y->first_compile ? -1 : x->first_compile > y->first_compile;
}

/* Writes "rank0", or if that is taken "b.log@rank0", or "b.log@rank0#3". */
static bool put_free_name(struct job *job, const struct job_rank *rank, const struct intern *taken,
                          uint32_t number, struct buf *text)
{
    buf_clear(text);
    buf_put(text, job_text(job, rank->name));
    if (intern_find(taken, buf_str(text)) == INTERN_NONE)
        return !text->failed;
    buf_clear(text);
    buf_printf(text, "%.*s@%.*s", STR_ARG(job_text(job, rank->source)),
               STR_ARG(job_text(job, rank->name)));
    if (intern_find(taken, buf_str(text)) != INTERN_NONE)
        buf_printf(text, "#%u", number + 1);
    return !text->failed;
}

static bool name_ranks(struct job *job)
{
    struct intern taken = INTERN_INIT;
    struct buf text = BUF_INIT;
    bool ok = true;
    for (size_t i = 0; ok && i < job->ranks.n; i++) {
        struct job_rank *rank = &job->ranks.v[i];
        ok = put_free_name(job, rank, &taken, (uint32_t)i, &text) &&
             intern(&taken, buf_str(&text)) != INTERN_NONE;
        rank->name = ok ? intern(&job->texts, buf_str(&text)) : rank->name;
        ok = ok && rank->name != INTERN_NONE;
    }
    buf_release(&text);
    intern_release(&taken);
    return ok;
}

bool job_finish(struct job *job, struct err *err)
{
    if (job->ranks.n)
        qsort(job->ranks.v, job->ranks.n, sizeof *job->ranks.v, by_number);
    for (size_t i = 0; i < job->ranks.n; i++) {
        const struct job_rank *rank = &job->ranks.v[i];
        for (uint32_t k = 0; k < rank->n_compiles; k++)
            job->compiles.v[rank->first_compile + k].rank = (uint32_t)i;
    }
    return name_ranks(job) || err_nomem(err);
}

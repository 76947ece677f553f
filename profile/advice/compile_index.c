#include "profile/advice/compile_index.h"

#include <stdlib.h>

#include "profile/diagnosis/failures/find_failures.h"
#include "profile/model/build.h"

/* The frame of a compile: "1/" of "1/0". */
static struct str frame_of(struct str id)
{
    return str_first(id, str_find_char(id, '/') + 1);
}

/* What the compiles of a frame have together. */
struct frame_facts {
    uint32_t n;
    int64_t least_ns[2]; /* of those without and with symbols, so far; 0 */
};
typedef vec_of(struct frame_facts)
frame_facts_vec;

/* From the last compile to the first: what is known of a frame is then of later compiles. */
static void add_later(struct compile_index *index, struct intern *frames, frame_facts_vec *facts)
{
    const struct profile *p = index->profile;
    for (uint32_t i = p->n_compiles; i-- > 0;) {
        const struct profile_compile *c = &p->compiles[i];
        struct frame_facts *frame = &facts->v[intern_find(frames, frame_of(c->id))];
        int64_t *least = &frame->least_ns[c->n_symbols > 0];
        index->facts[i].of_frame = frame->n;
        index->facts[i].later_ns = *least;
        if (c->status == ATTEMPT_OK && c->ns > 0 && (*least == 0 || c->ns < *least))
            *least = c->ns;
    }
}

/* Ids of one recording differ; those that do not are found under the first. */
static bool add_ids(struct compile_index *index)
{
    const struct profile *p = index->profile;
    struct intern frames = { 0 };
    frame_facts_vec facts = { 0 };
    bool ok = true;
    for (uint32_t i = 0; ok && i < p->n_compiles; i++) {
        uint32_t id = intern(&index->ids, p->compiles[i].id);
        uint32_t frame = intern(&frames, frame_of(p->compiles[i].id));
        ok = id != INTERN_NONE && frame != INTERN_NONE &&
             (frame < facts.n || vec_push(&facts, (struct frame_facts){ 0 }));
        if (ok)
            facts.v[frame].n++;
    }
    if (ok)
        add_later(index, &frames, &facts);
    intern_release(&frames);
    vec_release(&facts);
    return ok;
}

/* Spans are in the order in which they began, outer ones first. */
static void add_span(struct compile_index *index, const struct phase_span *span)
{
    struct str name = profile_name(index->profile, span->name);
    bool attempt = str_starts(name, STR("compile_attempt_"));
    bool trace = str_is(name, "bytecode_tracing"), backend = str_is(name, "backend_compile");
    if (span->compile == PROFILE_NONE || span->unfinished || (!attempt && !trace && !backend))
        return;
    struct compile_facts *facts = &index->facts[span->compile];
    bool last = span->attempt == index->profile->compiles[span->compile].last_attempt;
    int64_t ns = span->end_ns - span->start_ns;
    if (span->start_ns >= facts->attempts_end_ns) {
        facts->attempts_ns += ns;
        facts->attempts_end_ns = span->end_ns;
    }
    if (last && trace)
        facts->retraced_ns += ns;
    else if (last && backend && span->start_ns < facts->tracing_end_ns)
        facts->retraced_ns -= ns;
    if (trace && span->end_ns > facts->tracing_end_ns)
        facts->tracing_end_ns = span->end_ns;
}

static void add_facts(struct compile_index *index)
{
    const struct profile *p = index->profile;
    struct str limit;
    for (uint32_t i = 0; i < p->n_compiles; i++)
        index->facts[i].dispatches = DISPATCHES_UNKNOWN;
    for (uint32_t i = 0; i < index->n_attempts; i++)
        index->restart_of[i] = PROFILE_NONE;
    for (uint32_t i = 0; i < p->n_breaks; i++)
        if (p->breaks[i].where.compile != PROFILE_NONE)
            index->facts[p->breaks[i].where.compile].breaks++;
    for (uint32_t i = 0; i < p->n_failures; i++)
        if (p->failures[i].where.compile != PROFILE_NONE &&
            recompile_limit_reached(p->failures[i].is, &limit))
            index->facts[p->failures[i].where.compile].refused = true;
    for (uint32_t i = 0; i < p->n_restarts; i++)
        if (p->restarts[i].is->attempt < index->n_attempts)
            index->restart_of[p->restarts[i].is->attempt] = i;
    for (uint32_t i = 0; i < p->phases.n_spans; i++)
        add_span(index, &p->phases.spans[i]);
}

bool compile_index_make(struct compile_index *index, const struct profile *profile, struct err *err)
{
    *index =
        (struct compile_index){ .profile = profile, .n_attempts = profile->traces[0]->n_attempts };
    index->facts = calloc((size_t)profile->n_compiles + 1, sizeof *index->facts);
    index->restart_of = malloc(((size_t)index->n_attempts + 1) * sizeof *index->restart_of);
    if (!index->facts || !index->restart_of || !add_ids(index))
        return err_nomem(err);
    add_facts(index);
    return true;
}

void compile_index_release(struct compile_index *index)
{
    intern_release(&index->ids);
    free(index->facts);
    free(index->restart_of);
}

int64_t compile_index_once_ns(const struct compile_index *index, uint32_t compile)
{
    const struct profile_compile *c = &index->profile->compiles[compile];
    int64_t later = index->facts[compile].later_ns;
    bool plain = c->status == ATTEMPT_OK && later > 0 && c->ns > later + later / 2;
    return plain ? c->ns - later : 0;
}

uint32_t compile_index_find(const struct compile_index *index, struct str id)
{
    uint32_t ret = intern_find(&index->ids, id);
    return ret == INTERN_NONE ? PROFILE_NONE : ret;
}

uint32_t compile_index_of_attempt(const struct compile_index *index, uint32_t attempt)
{
    return build_compile(&profile_inputs(index->profile)[0], attempt);
}

const struct profile_restart *compile_index_restart(const struct compile_index *index,
                                                    uint32_t attempt)
{
    uint32_t i = attempt < index->n_attempts ? index->restart_of[attempt] : PROFILE_NONE;
    return i == PROFILE_NONE ? NULL : &index->profile->restarts[i];
}

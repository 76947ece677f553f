/* Findings: attempts that were discarded, other than by graph breaks (find_breaks.c): which floats
 * were specialized, or which exception asked for it. */
#include <stdlib.h>

#include "profile/diagnosis/finder.h"

#include "trace/events/incidents/recompile_guard.h"
#include "trace/events/user_line.h"

enum { MOST_ATTRIBUTES = 8, MOST_LISTED = 5 };

/* The floats of one name: "eps" of 22 modules such as "norm1". */
struct float_group {
    struct str attribute; /* the last name of a source */
    struct str owner;     /* the name before it, "" if no module of the group has one */
    uint32_t count;
    const struct symbol *first;
};

struct floats {
    struct float_group groups[MOST_ATTRIBUTES];
    uint32_t n_groups, count;
    bool vary; /* one source had several values */
};

/* Takes the last name from the end of a source: "eps" from "L['self'].norm.eps", then "norm". */
static struct str take_last_name(struct str *source)
{
    while (source->n > 0 && !is_word_char(source->p[source->n - 1]))
        source->n--;
    size_t end = source->n;
    while (source->n > 0 && is_word_char(source->p[source->n - 1]))
        source->n--;
    return (struct str){ source->p + source->n, end - source->n };
}

/* Returns the name of the module that owns a float. An element of a list has no name of its own. */
static struct str owner_name(struct str source)
{
    struct str name = take_last_name(&source);
    bool nameless = str_digits(name) == name.n || str_is(name, "_modules") ||
                    str_is(name, "self") || str_is(name, "L");
    return nameless ? STR("") : name;
}

static void count_float(struct floats *all, const struct symbol *symbol)
{
    struct str source = symbol->source;
    struct str name = take_last_name(&source);
    if (name.n > 0 && str_digits(name) == name.n) { /* "dropout[0]" */
        const char *end = name.p + name.n + (name.p + name.n < symbol->source.p + symbol->source.n);
        name = take_last_name(&source);
        name.n = (size_t)(end - name.p);
    }
    struct str owner = owner_name(source);
    all->count++;
    for (uint32_t i = 0; i < all->n_groups; i++) {
        struct float_group *g = &all->groups[i];
        if (!str_eq(g->attribute, name))
            continue;
        g->count++;
        g->owner = g->owner.n ? g->owner : owner;
        return;
    }
    if (all->n_groups < MOST_ATTRIBUTES)
        all->groups[all->n_groups++] = (struct float_group){ name, owner, 1, symbol };
}

/* What is looked up for each restart of a trace: the floats of an attempt, whether a source had
 * several values, and whether the attempt ended in a graph break. */
struct restart_index {
    uint32_t trace;        /* an index into profile->traces; PROFILE_NONE: none was read yet */
    uint32_t *first_float; /* by attempt: a symbol, or TRACE_NONE */
    uint32_t *next_float;  /* by symbol: the next one of its attempt, or TRACE_NONE */
    bool *broken;          /* by attempt */
    struct intern sources; /* of symbols */
    vec_of(uint32_t)
    source_floats; /* by source: its first symbol */
    vec_of(bool)
    source_varies; /* by source */
};

static void index_release(struct restart_index *index)
{
    free(index->first_float);
    free(index->next_float);
    free(index->broken);
    intern_release(&index->sources);
    vec_release(&index->source_floats);
    vec_release(&index->source_varies);
    *index = (struct restart_index){ .trace = PROFILE_NONE };
}

static bool index_source(struct restart_index *index, const struct symbol *all, uint32_t i)
{
    uint32_t id = intern(&index->sources, all[i].source);
    if (id == INTERN_NONE ||
        (id == index->source_floats.n &&
         (!vec_push(&index->source_floats, i) || !vec_push(&index->source_varies, false))))
        return false;
    if (!str_eq(all[index->source_floats.v[id]].value, all[i].value))
        index->source_varies.v[id] = true;
    return true;
}

static bool index_floats(struct restart_index *index, const struct symbol_table *symbols)
{
    bool ok = true;
    for (uint32_t i = symbols->n_symbols; i-- > 0;) { /* so that each list is in their order */
        const struct symbol *s = &symbols->symbols[i];
        if (s->attempt == TRACE_NONE || !str_starts(s->name, STR("zf")))
            continue;
        index->next_float[i] = index->first_float[s->attempt];
        index->first_float[s->attempt] = i;
    }
    for (uint32_t i = 0; ok && i < symbols->n_symbols; i++)
        ok = symbols->symbols[i].source.n == 0 || index_source(index, symbols->symbols, i);
    return ok;
}

/* Indexes a trace, unless it is the one that was indexed last. */
static bool index_trace(struct finder *d, struct restart_index *index, uint32_t trace)
{
    const struct build_input *in = &profile_inputs(d->p)[trace];
    if (index->trace == trace)
        return true;
    index_release(index);
    size_t n = (size_t)in->trace->n_attempts + 1;
    index->first_float = malloc(n * sizeof *index->first_float);
    index->next_float = malloc(((size_t)in->symbols->n_symbols + 1) * sizeof *index->next_float);
    index->broken = calloc(n, sizeof *index->broken);
    if (!index->first_float || !index->next_float || !index->broken)
        return err_nomem(&d->err);
    for (size_t i = 0; i < n; i++)
        index->first_float[i] = TRACE_NONE;
    for (uint32_t i = 0; i < in->incidents->n_breaks; i++)
        if (in->incidents->breaks[i].attempt != TRACE_NONE)
            index->broken[in->incidents->breaks[i].attempt] = true;
    index->trace = trace;
    return index_floats(index, in->symbols) || err_nomem(&d->err);
}

/* Finds the floats that the discarded attempt traced as symbols and then specialized; where no
 * record says which, all that it traced as symbols (tensorify_python_scalars() in
 * torch/fx/passes/_tensorify_python_scalars.py). */
static void find_floats(const struct restart_index *index, const struct symbol *symbols,
                        const struct restart *restart, struct floats *ret)
{
    for (int specialized = 1; specialized >= 0 && ret->count == 0; specialized--)
        for (uint32_t i = index->first_float[restart->attempt]; i != TRACE_NONE;
             i = index->next_float[i])
            if ((symbols[i].specialization != TRACE_NONE) == specialized)
                count_float(ret, &symbols[i]);
    if (ret->n_groups == 0)
        return;
    uint32_t source = intern_find(&index->sources, ret->groups[0].first->source);
    ret->vary = source != INTERN_NONE && index->source_varies.v[source];
}

/* Appends "eps of 22 modules such as norm1, momentum of 22 modules", or a float by its name. */
static void put_floats(const struct floats *floats, struct buf *out)
{
    for (uint32_t i = 0; i < floats->n_groups && i < MOST_LISTED; i++) {
        const struct float_group *g = &floats->groups[i];
        buf_puts(out, i == 0 ? "" : i + 1 == floats->n_groups ? " and " : ", ");
        if (g->count == 1)
            source_spoken(out, g->first->source);
        else
            buf_printf(out, "%.*s of %u modules%s%.*s", STR_ARG(g->attribute), g->count,
                       g->owner.n ? " such as " : "", STR_ARG(g->owner));
    }
    if (floats->n_groups > MOST_LISTED)
        buf_puts(out, " and others");
}

static void describe_floats(struct finder *d, struct finding_build *f, uint32_t recording,
                            const struct floats *floats)
{
    const struct build_input *in = find_input(d, recording);
    const struct symbol *first = floats->groups[0].first;
    struct buf names = BUF_INIT;
    put_floats(floats, &names);
    find_cause(d, f, "%s traced as %s and then needed as %s, so the compile began again: %.*s",
               floats->count == 1 ? "a Python float was" : "Python floats were",
               floats->count == 1 ? "a symbol" : "symbols",
               floats->count == 1 ? "a constant" : "constants", STR_ARG(buf_str(&names)));
    if (names.failed)
        err_nomem(&d->err);
    find_source(d, f, first->source);
    stack_id line = user_program_line(in->trace, d->p->recordings[recording].recording,
                                      first->user_stack ? first->user_stack : first->stack);
    find_line(d, f, recording, line);
    for (uint32_t i = 0; i < floats->n_groups; i++)
        find_evidence(d, f, "%.*s = %.*s", STR_ARG(floats->groups[i].first->source),
                      STR_ARG(floats->groups[i].first->value));
    uint32_t named = 0; /* ___stack0 is Dynamo's name of a value that has none in the program */
    while (named < floats->n_groups &&
           str_contains(floats->groups[named].attribute, STR("___stack")))
        named++;
    if (floats->vary && named < floats->n_groups)
        find_remedy(d, f, REMEDY_FLOAT_TENSOR, "pass torch.tensor(%.*s) instead of the float",
                    STR_ARG(floats->groups[named].attribute));
    else if (!floats->vary)
        find_remedy(d, f, REMEDY_SPECIALIZE_FLOAT,
                    "torch._dynamo.config.specialize_float = True before the first call");
    buf_release(&names);
}

static void describe_other(struct finder *d, struct finding_build *f, const struct restart *restart)
{
    if (restart->reason.n == 0)
        find_cause(d, f, "an attempt was discarded and made again; no reason is on record");
    else if (restart->meaning.n > 0)
        find_cause(d, f, "the compile began again: %.*s", STR_ARG(restart->meaning));
    else
        find_cause(d, f, "the compile began again: %.*s", STR_ARG(restart->summary));
    if (restart->reason.n > 0)
        find_evidence(d, f, "%.*s", STR_ARG(restart->summary));
}

static void describe_restart(struct finder *d, const struct restart_index *index,
                             const struct profile_restart *r)
{
    const struct build_input *in = find_input(d, r->where.recording);
    struct floats floats = { 0 };
    if (index->broken[r->is->attempt])
        return;
    if (str_is(r->is->summary, "TensorifyScalarRestartAnalysis"))
        find_floats(index, in->symbols->symbols, r->is, &floats);
    struct buf key = BUF_INIT;
    buf_printf(&key, "%.*s ", STR_ARG(r->is->summary));
    put_floats(&floats, &key);
    struct finding_build *f = find_add(d, FINDING_RESTART, &r->where, buf_str(&key));
    if (key.failed)
        err_nomem(&d->err);
    if (find_is_new(f) && floats.n_groups > 0)
        describe_floats(d, f, r->where.recording, &floats);
    else if (find_is_new(f))
        describe_other(d, f, r->is);
    find_cost(f, r->is->ns, BASIS_MEASURED);
    buf_release(&key);
}

void find_restarts(struct finder *d)
{
    struct restart_index index = { .trace = PROFILE_NONE };
    for (uint32_t i = 0; i < d->p->n_restarts && !err_is_set(&d->err); i++) {
        const struct profile_restart *r = &d->p->restarts[i];
        if (index_trace(d, &index, d->p->recordings[r->where.recording].input))
            describe_restart(d, &index, r);
    }
    index_release(&index);
}

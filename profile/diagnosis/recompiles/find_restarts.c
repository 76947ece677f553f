/* Findings: attempts that were discarded, other than by graph breaks (find_breaks.c): which floats
 * were specialized, or which exception asked for it. */
#include "profile/diagnosis/finder.h"

#include "trace/events/incidents/recompile_guard.h"
#include "trace/events/user_line.h"

enum { MOST_ATTRIBUTES = 8, MOST_LISTED = 5 };

/* The floats of one name: "eps" of 22 modules "norm1", "norm2" ... */
struct float_group {
    struct str attribute, owner; /* the last names of the sources; the owner without its number, ""
                                    where owners differ */
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

/* Returns the name of the module that owns a float, without its number: "norm" for "norm1". An
 * element of a list has no name of its own. */
static struct str owner_name(struct str source)
{
    struct str name = take_last_name(&source);
    while (name.n > 0 && is_digit(name.p[name.n - 1]))
        name.n--;
    return str_is(name, "_modules") || str_is(name, "self") || str_is(name, "L") ? STR("") : name;
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
        g->owner = str_eq(g->owner, owner) ? owner : STR("");
        return;
    }
    if (all->n_groups < MOST_ATTRIBUTES)
        all->groups[all->n_groups++] = (struct float_group){ name, owner, 1, symbol };
}

/* Finds the floats that the discarded attempt traced as symbols and then specialized; where no
 * record says which, all that it traced as symbols (tensorify_python_scalars() in
 * torch/fx/passes/_tensorify_python_scalars.py). */
static void find_floats(const struct symbol_table *symbols, const struct restart *restart,
                        struct floats *ret)
{
    for (int specialized = 1; specialized >= 0 && ret->count == 0; specialized--)
        for (uint32_t i = 0; i < symbols->n_symbols; i++) {
            const struct symbol *s = &symbols->symbols[i];
            if (s->attempt == restart->attempt && str_starts(s->name, STR("zf")) &&
                (s->specialization != TRACE_NONE) == specialized)
                count_float(ret, s);
        }
    const struct symbol *first = ret->n_groups ? ret->groups[0].first : NULL;
    for (uint32_t i = 0; first && i < symbols->n_symbols; i++)
        ret->vary = ret->vary || (str_eq(symbols->symbols[i].source, first->source) &&
                                  !str_eq(symbols->symbols[i].value, first->value));
}

/* Appends "eps of 22 norm modules and momentum of 22 modules", or the name of one float. */
static void put_floats(const struct floats *floats, struct buf *out)
{
    for (uint32_t i = 0; i < floats->n_groups && i < MOST_LISTED; i++) {
        const struct float_group *g = &floats->groups[i];
        buf_puts(out, i == 0 ? "" : i + 1 == floats->n_groups ? " and " : ", ");
        if (g->count == 1)
            source_spoken(out, g->first->source);
        else
            buf_printf(out, "%.*s of %u %.*s%smodules", STR_ARG(g->attribute), g->count,
                       STR_ARG(g->owner), g->owner.n ? " " : "");
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

static bool was_broken(const struct incidents *incidents, uint32_t attempt)
{
    for (uint32_t i = 0; i < incidents->n_breaks; i++)
        if (incidents->breaks[i].attempt == attempt)
            return true;
    return false;
}

static void describe_restart(struct finder *d, const struct profile_restart *r)
{
    const struct build_input *in = find_input(d, r->where.recording);
    struct floats floats = { 0 };
    if (was_broken(in->incidents, r->is->attempt))
        return;
    if (str_is(r->is->summary, "TensorifyScalarRestartAnalysis"))
        find_floats(in->symbols, r->is, &floats);
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
    for (uint32_t i = 0; i < d->p->n_restarts && !err_is_set(&d->err); i++)
        describe_restart(d, &d->p->restarts[i]);
}

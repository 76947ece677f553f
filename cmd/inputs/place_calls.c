/* In which regions the calls lie that a program made. */
#include <stdlib.h>

#include "cmd/inputs/inputs.h"

enum { POINTS_MOST = 4096 };

/* Where the value of a symbol is in a call. */
struct value_place {
    uint32_t source; /* in call_log.sources; INTERN_NONE: no call tells it */
    int64_t dim;     /* of a tensor; -1: a number */
};

static struct value_place place_of(const struct call_log *log, struct str source, struct buf *text)
{
    struct value_place ret = { INTERN_NONE, -1 };
    struct str name;
    uint32_t dim;
    text->n = 0;
    source_spelling(source, text);
    if (conditions_split_size(buf_str(text), &name, &dim))
        ret.dim = dim;
    else
        name = buf_str(text);
    ret.source = intern_find(&log->sources, name);
    return ret;
}

/* Sets *ret to the value of a symbol in a call; returns false if the call does not tell it. */
static bool value_in(const struct program_call *call, struct value_place place, int64_t *ret)
{
    for (uint32_t i = 0; i < call->n_values && place.source != INTERN_NONE; i++) {
        const struct py_value *value = &call->values[i].value;
        if (call->values[i].source != place.source)
            continue;
        if (place.dim < 0 && value->kind == PY_INT)
            *ret = value->integer;
        else if (place.dim >= 0 && value->kind == PY_TENSOR && value->tensor &&
                 place.dim < (int64_t)value->tensor->n_dims)
            *ret = value->tensor->sizes[place.dim];
        else
            return false;
        return true;
    }
    return false;
}

struct placer {
    const struct conditions *conditions;
    struct arena arena;
    struct value_place *places; /* by symbol */
    struct value_place *sizes;  /* by size of the conditions */
    vec_of(struct region_point)
    points;
};

/* Returns whether the sizes without a symbol of their own are those of the conditions, as far as
 * the call tells them: parameters of a module are in no call. */
static bool has_sizes(const struct placer *p, const struct program_call *call,
                      const int64_t *values)
{
    const struct conditions *c = p->conditions;
    for (size_t i = 0; i < c->sizes.n; i++) {
        const struct condition_symbol *symbol =
            c->sizes.v[i].symbol == SYM_NONE ? NULL : conditions_symbol(c, c->sizes.v[i].symbol);
        int64_t wanted = symbol ? values[symbol - c->symbols.v] : c->sizes.v[i].value, here;
        if (p->sizes[i].source != INTERN_NONE &&
            (!value_in(call, p->sizes[i], &here) || here != wanted))
            return false;
    }
    return true;
}

static bool add_point(struct placer *p, const struct program_call *call, uint64_t times)
{
    size_t n = p->conditions->symbols.n;
    int64_t *values = p->points.n < POINTS_MOST ? arena_array(&p->arena, int64_t, n + 1) : NULL;
    bool known = values != NULL;
    if (!values && p->points.n < POINTS_MOST)
        return false;
    for (size_t i = 0; known && i < n; i++)
        known = !p->conditions->symbols.v[i].has_hint || value_in(call, p->places[i], &values[i]);
    known = known && has_sizes(p, call, values);
    struct region_point point = { values, times };
    return !known || vec_push(&p->points, point);
}

static bool find_places(struct placer *p, const struct call_log *log)
{
    const struct conditions *c = p->conditions;
    struct buf text = BUF_INIT;
    p->places = arena_array(&p->arena, struct value_place, c->symbols.n + 1);
    for (size_t i = 0; p->places && i < c->symbols.n; i++)
        p->places[i] = place_of(log, c->symbols.v[i].source, &text);
    p->sizes = arena_array(&p->arena, struct value_place, c->sizes.n + 1);
    for (size_t i = 0; p->sizes && i < c->sizes.n; i++)
        p->sizes[i] = place_of(log, c->sizes.v[i].source, &text);
    bool ok = p->places && p->sizes && !text.failed;
    buf_release(&text);
    return ok;
}

bool place_calls(const struct program_calls *calls, const struct trace *trace,
                 const struct conditions *conditions, struct regions *regions, uint64_t *n_left_out,
                 struct err *err)
{
    const struct call_log *log = &calls->log;
    struct placer p = { .conditions = conditions };
    struct form_count *forms = NULL;
    uint64_t placed = 0, all = 0;
    *n_left_out = 0;
    if (conditions->attempt == TRACE_NONE || conditions->recording != calls->recording)
        return true;
    bool ok = program_calls_count(calls, trace->attempts[conditions->attempt].compile, &forms, err);
    if (ok && forms && !find_places(&p, log))
        ok = err_nomem(err);
    for (uint32_t i = 0; ok && forms && i < log->n_forms; i++) {
        all += forms[i].times;
        if (forms[i].times && !add_point(&p, &log->calls.v[forms[i].call], forms[i].times))
            ok = err_nomem(err);
    }
    ok = ok && regions_add_points(regions, conditions, p.points.v, p.points.n, err);
    for (size_t i = 0; i < regions->list.n; i++)
        placed += regions->list.v[i].times;
    *n_left_out = all - placed;
    free(forms);
    vec_release(&p.points);
    arena_release(&p.arena);
    return ok;
}

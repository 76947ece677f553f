#include "profile/model/cost_model/cost_operators.h"

#include "profile/model/build.h"
#include "trace/base/number.h"

static int by_operator(const void *a, const void *b)
{
    const struct cost_operator *x = a, *y = b;
    int order = str_cmp(x->name, y->name);
    return order ? order : strcmp(x->kind, y->kind);
}

static int by_operator_time(const void *a, const void *b)
{
    const struct cost_operator *x = a, *y = b;
    int order = build_descending(x->ns, y->ns);
    return order ? order : by_operator(a, b);
}

/* Returns a row for each dispatch of a recording, or NULL when memory ran out. */
static struct cost_operator *read_dispatches(struct profile_build *b, size_t *n)
{
    size_t most = 0;
    for (uint32_t i = 0; i < b->profile.n_traces; i++)
        most += b->inputs[i].deep->n_dispatches;
    struct cost_operator *ret = calloc(most + 1, sizeof *ret);
    for (uint32_t i = 0; ret && i < b->profile.n_traces; i++) {
        const struct build_input *in = &b->inputs[i];
        for (uint32_t k = 0; k < in->deep->n_dispatches; k++) {
            const struct deep_dispatch *d = &in->deep->dispatches[k];
            if (build_compile(in, d->attempt) != PROFILE_NONE)
                ret[(*n)++] = (struct cost_operator){ .name = d->op,
                                                      .kind = cost_kind_name(cost_kind_of(d)),
                                                      .count = d->count,
                                                      .ns = i64_saturated(d->self_ns) };
        }
    }
    return ret;
}

/* Adds up the rows of each operator and kind, which are neighbours; returns how many are left, or
 * SIZE_MAX when memory ran out. */
static size_t add_up(struct profile_build *b, struct cost_operator *rows, size_t n)
{
    int64_t wall = b->profile.cost_model.wall_ns;
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        if (kept && !by_operator(&rows[kept - 1], &rows[i])) {
            rows[kept - 1].count += rows[i].count;
            build_add_ns(&rows[kept - 1].ns, rows[i].ns);
            continue;
        }
        rows[kept] = rows[i];
        rows[kept].name = arena_copy(&b->arena, rows[i].name);
        if (!rows[kept++].name.p)
            return SIZE_MAX;
    }
    for (size_t i = 0; i < kept; i++)
        rows[i].share = wall ? (double)rows[i].ns / (double)wall : 0;
    return kept;
}

bool find_operators(struct profile_build *b, struct err *err)
{
    struct cost_model *model = &b->profile.cost_model;
    size_t n = 0;
    struct cost_operator *rows = read_dispatches(b, &n);
    if (rows) {
        qsort(rows, n, sizeof *rows, by_operator);
        n = add_up(b, rows, n);
    }
    struct cost_operator *kept =
        rows && n < SIZE_MAX ? arena_array(&b->arena, struct cost_operator, n ? n : 1) : NULL;
    if (kept && n) {
        memcpy(kept, rows, n * sizeof *kept);
        qsort(kept, n, sizeof *kept, by_operator_time);
        model->operators = kept;
        model->n_operators = (uint32_t)n;
    }
    free(rows);
    return kept ? true : err_nomem(err);
}

#include "replay/backend/compare/ties.h"

#include <math.h>

#include "replay/backend/compare/error_model.h"
#include "replay/backend/values/elements.h"
#include "replay/ops/dispatch/schema.h"

enum over { OVER_DIM, OVER_LINE, OVER_PLANE, OVER_SPACE };

struct tie_row {
    const char *base;
    int64_t result;
    enum over over;
};

static const struct tie_row rows[] = {
#define TIE(base, result, over) { #base, result, OVER_##over },
#include "replay/backend/compare/ties.def"
#undef TIE
};

/* Returns the row of the step's result; NULL: it has no places. */
static const struct tie_row *row_of(const struct run *run, const struct step *step)
{
    const struct step *call = step_origin(run->program, step);
    int64_t result = 0;
    if (!call->op ||
        (call != step && (step->n_args < 2 || step->args[1].kind != VALUE_INT ||
                          !sym_to_i64(ops_pool(run->ops), step->args[1].u.sym, &result))))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].result == result && str_is(op_schema(call->op)->base, rows[i].base))
            return &rows[i];
    return NULL;
}

node_id tie_source(const struct run *run, const struct step *step)
{
    const struct step *call = step_origin(run->program, step);
    if (!row_of(run, step))
        return NODE_NONE;
    for (uint32_t i = 0; i < call->n_patches; i++) {
        const struct patch *patch = &run->program->patches[call->first_patch + i];
        if (patch->at == &call->args[0])
            return patch->from;
    }
    return NODE_NONE;
}

/* The dimension over which places are counted: `outer` times `size` times `inner` elements. */
struct places {
    int64_t outer, size, inner;
};

static struct places places_over(const struct array *source, uint32_t first, uint32_t last)
{
    struct places p = { 1, 1, 1 };
    for (uint32_t i = 0; i < source->ndim; i++) {
        int64_t *part = i < first ? &p.outer : i < last ? &p.size : &p.inner;
        *part *= source->size[i];
    }
    return p;
}

static struct places places_of(const struct run *run, const struct step *step,
                               const struct array *source)
{
    const struct step *call = step_origin(run->program, step);
    const struct schema *schema = ops_prepare(run->ops, call->op);
    uint32_t ndim = source->ndim;
    int64_t dim = -1;
    switch (row_of(run, step)->over) {
    case OVER_LINE: return places_over(source, ndim > 1 ? ndim - 1 : 0, ndim);
    case OVER_PLANE: return places_over(source, ndim > 2 ? ndim - 2 : 0, ndim);
    case OVER_SPACE: return places_over(source, ndim > 3 ? ndim - 3 : 0, ndim);
    default: break;
    }
    const struct value *argument = schema ? step_argument(call, schema, STR("dim")) : NULL;
    struct str base = op_schema(call->op)->base;
    bool whole = !argument && (str_is(base, "argmax") || str_is(base, "argmin"));
    whole |= argument && argument->kind != VALUE_INT;
    if (argument && argument->kind == VALUE_INT)
        sym_to_i64(ops_pool(run->ops), argument->u.sym, &dim);
    dim += dim < 0 ? ndim : 0;
    if (whole || dim < 0 || dim >= (int64_t)ndim)
        return places_over(source, 0, ndim);
    return places_over(source, (uint32_t)dim, (uint32_t)dim + 1);
}

/* Returns whether two elements are equal within twice the tolerance, since each may be as far from
 * the exact one. */
static bool are_equal(const struct array *source, int64_t i, int64_t j, struct tolerance t)
{
    double a = load_real(source->dtype, source->p, i), b = load_real(source->dtype, source->p, j);
    if (dense_kind_of(source->dtype) == DENSE_INT)
        return load_int(source->dtype, source->p, i) == load_int(source->dtype, source->p, j);
    return a == b || (isnan(a) && isnan(b)) ||
           fabs(a - b) <= 2 * (t.absolute + t.relative * fabs(a));
}

bool tie_holds(const struct run *run, const struct step *step, const struct array *source,
               struct tolerance tolerance, const struct array *expected, const struct array *got)
{
    size_t size = dtype_size(got->dtype), width = dtype_size(source->dtype);
    if (dense_kind_of(got->dtype) != DENSE_INT || expected->bytes != got->bytes || !size ||
        !width || dense_kind_of(source->dtype) == DENSE_COMPLEX)
        return false;
    struct places p = places_of(run, step, source);
    int64_t n = (int64_t)(got->bytes / size), all = (int64_t)(source->bytes / width);
    if (p.outer <= 0 || p.inner <= 0 || n % (p.outer * p.inner) != 0)
        return false;
    int64_t each = n / p.outer; /* places of one slice */
    for (int64_t e = 0; e < n; e++) {
        int64_t a = load_int(expected->dtype, expected->p, e), b = load_int(got->dtype, got->p, e);
        int64_t slice = e / each * p.size, at = e % p.inner;
        if (a == b)
            continue;
        if (a < 0 || b < 0 || a >= p.size || b >= p.size)
            return false;
        int64_t i = (slice + a) * p.inner + at, j = (slice + b) * p.inner + at;
        if (i >= all || j >= all || !are_equal(source, i, j, tolerance))
            return false;
    }
    return true;
}

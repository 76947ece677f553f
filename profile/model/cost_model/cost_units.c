#include "profile/model/cost_model/cost_model.h"
#include "profile/model/dispatch_times.h"

static const struct shipped_unit {
    int release;
    enum cost_kind kind;
    struct cost_unit unit;
} SHIPPED[] = {
#define COST_UNIT(release, kind, ns, low, high, samples, ...) \
    { release, COST_##kind, { ns, low, high, samples, { __VA_ARGS__ } } },
#define COST_ERROR(release, error, recordings)
#include "profile/model/cost_model/cost_units.def"
#undef COST_UNIT
#undef COST_ERROR
    { 0, COST_KINDS, { 0 } },
};

static const struct shipped_error {
    int release;
    struct cost_error error;
} ERRORS[] = {
#define COST_UNIT(release, kind, ns, low, high, samples, ...)
#define COST_ERROR(release, error, recordings) { release, { error, recordings } },
#include "profile/model/cost_model/cost_units.def"
#undef COST_UNIT
#undef COST_ERROR
    { 0, { 0 } },
};

struct cost_error cost_error_shipped(int release)
{
    const struct shipped_error *at = ERRORS;
    while (at->release && at->release != release)
        at++;
    return at->error;
}

static int distance(int a, int b)
{
    return a > b ? a - b : b - a;
}

struct cost_unit cost_unit_shipped(int release, enum cost_kind kind, int *measured)
{
    const struct shipped_unit *found = NULL;
    for (const struct shipped_unit *at = SHIPPED; at->release; at++)
        if (at->kind == kind &&
            (!found || distance(at->release, release) < distance(found->release, release)))
            found = at;
    if (found)
        *measured = found->release;
    return found ? found->unit : (struct cost_unit){ 0 };
}

static const struct operator_factor {
    int release;
    const char *op;
    enum dispatch_path path;
    double factor;
} FACTORS[] = {
#define COST_OPERATOR(release, op, path, factor, dispatches) { release, op, path, factor },
#include "profile/model/cost_model/cost_operators.def"
#undef COST_OPERATOR
};
static const size_t N_FACTORS = sizeof FACTORS / sizeof *FACTORS;

/* Returns the measured release that is nearest. */
static int nearest_release(int release)
{
    int ret = FACTORS[0].release;
    for (size_t i = 1; i < N_FACTORS; i++)
        if (distance(FACTORS[i].release, release) < distance(ret, release))
            ret = FACTORS[i].release;
    return ret;
}

static bool is_before(const struct operator_factor *at, int release, struct str op)
{
    return at->release != release ? at->release < release : str_cmp(str_of(at->op), op) < 0;
}

double cost_operator_factor(int release, struct str op, unsigned path)
{
    size_t low = 0, high = N_FACTORS; /* the first that is not before */
    if (!release)
        return 1;
    release = nearest_release(release);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&FACTORS[middle], release, op))
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < N_FACTORS && FACTORS[low].release == release && str_is(op, FACTORS[low].op); low++)
        if (FACTORS[low].path == path)
            return FACTORS[low].factor;
    return 1;
}

/* Finds the compiles that differ between several recordings, and in which respects. */
#include "profile/model/build.h"

static int64_t attempts_of(const struct profile_compile *compile)
{
    return compile->n_attempts;
}

static int64_t status_of(const struct profile_compile *compile)
{
    return compile->status;
}

static int64_t graphs_of(const struct profile_compile *compile)
{
    return compile->n_graphs;
}

static int64_t guards_of(const struct profile_compile *compile)
{
    return compile->n_guards;
}

static int64_t symbols_of(const struct profile_compile *compile)
{
    return compile->n_symbols;
}

static int64_t specializations_of(const struct profile_compile *compile)
{
    return compile->n_specializations;
}

static int64_t compared_ns(const struct profile_compile *compile)
{
    return compile->ns;
}

/* The compared values and their tolerances: times always vary. */
static const struct aspect {
    const char *what;
    int64_t (*value)(const struct profile_compile *compile);
    int64_t least;    /* smaller differences are ignored */
    unsigned percent; /* smaller differences relative to the largest value are ignored */
} ASPECTS[] = {
    { "attempts", attempts_of, 1, 0 },   { "status", status_of, 1, 0 },
    { "graphs", graphs_of, 1, 0 },       { "guards", guards_of, 1, 0 },
    { "symbols", symbols_of, 1, 0 },     { "specializations", specializations_of, 1, 0 },
    { "ns", compared_ns, 10000000, 10 },
};

enum { N_ASPECTS = sizeof ASPECTS / sizeof *ASPECTS };

struct compile_comparer {
    struct profile_build *b;
    struct intern ids;        /* compile ids of all recordings */
    const uint32_t *compiles; /* [id * n_recordings + recording]: index + 1, 0 for none */
    uint32_t n_recordings;
};

static bool append_difference(struct compile_comparer *c, uint32_t id, const char *what,
                              const int64_t *values)
{
    int64_t *kept = arena_array(&c->b->arena, int64_t, c->n_recordings);
    struct str compile = arena_copy(&c->b->arena, intern_text(&c->ids, id));
    if (!kept || !compile.p)
        return false;
    memcpy(kept, values, c->n_recordings * sizeof *kept);
    return vec_push(&c->b->differences, (struct profile_difference){ compile, what, kept });
}

static bool aspect_differs(const struct aspect *aspect, const int64_t *values, uint32_t n)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (uint32_t i = 0; i < n; i++) {
        if (values[i] == PROFILE_ABSENT)
            continue;
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    return high > low && high - low >= aspect->least && high - low > high / 100 * aspect->percent;
}

static bool compare_compile(struct compile_comparer *c, uint32_t id, int64_t *values)
{
    const uint32_t *row = &c->compiles[(size_t)id * c->n_recordings];
    uint32_t missing = 0;
    for (uint32_t r = 0; r < c->n_recordings; r++) {
        missing += row[r] == 0;
        values[r] = row[r] != 0;
    }
    if (missing > 0 && !append_difference(c, id, "present", values))
        return false;
    for (int i = 0; i < N_ASPECTS; i++) {
        for (uint32_t r = 0; r < c->n_recordings; r++)
            values[r] = row[r] ? ASPECTS[i].value(&c->b->compiles.v[row[r] - 1]) : PROFILE_ABSENT;
        if (aspect_differs(&ASPECTS[i], values, c->n_recordings) &&
            !append_difference(c, id, ASPECTS[i].what, values))
            return false;
    }
    return true;
}

static bool compare_all(struct compile_comparer *c)
{
    size_t n = c->b->compiles.n;
    for (size_t i = 0; i < n; i++)
        if (intern(&c->ids, c->b->compiles.v[i].id) == INTERN_NONE)
            return false;
    uint32_t *table = calloc((c->ids.texts.n + 1) * c->n_recordings, sizeof *table);
    int64_t *values = calloc(c->n_recordings, sizeof *values);
    bool ok = table && values;
    for (size_t i = 0; ok && i < n; i++) {
        const struct profile_compile *compile = &c->b->compiles.v[i];
        uint32_t id = intern(&c->ids, compile->id);
        table[(size_t)id * c->n_recordings + compile->recording] = (uint32_t)i + 1;
    }
    c->compiles = table;
    for (uint32_t id = 0; ok && id < c->ids.texts.n; id++)
        ok = compare_compile(c, id, values);
    free(table);
    free(values);
    return ok;
}

bool build_differences(struct profile_build *b, struct err *err)
{
    struct compile_comparer c = { .b = b, .n_recordings = b->profile.n_recordings };
    bool ok = c.n_recordings < 2 || compare_all(&c);
    intern_release(&c.ids);
    b->profile.differences = b->differences.v;
    b->profile.n_differences = (uint32_t)b->differences.n;
    return ok || err_nomem(err);
}

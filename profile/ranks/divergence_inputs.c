/* Divergences in what a compile is specialized on: numbers that became constants, sizes of inputs;
 * and graphs that differ. */
#include "profile/ranks/divergence_build.h"

/* ---- Numbers ---- */

/* A number is specialized if its symbol became a constant, or if a guard compares it and it has no
 * symbol. */
static const struct fact *constant_of(const struct job *job, const struct job_compile *c,
                                      uint32_t what)
{
    const struct fact *fact = job_find_fact(job, c, FACT_CONSTANT, what);
    if (fact || job_find_fact(job, c, FACT_SYMBOL, what))
        return fact;
    return job_find_fact(job, c, FACT_VALUE, what);
}

static bool is_symbol(const struct job *job, const struct job_compile *c, uint32_t what)
{
    return job_find_fact(job, c, FACT_SYMBOL, what) && !job_find_fact(job, c, FACT_CONSTANT, what);
}

/* Returns the first thing that is a constant in `c` and a symbol in `other`. */
static const struct fact *find_constant(const struct job *job, const struct job_compile *c,
                                        const struct job_compile *other)
{
    const struct fact *fact;
    for (uint32_t at = 0; (fact = job_next_fact(job, other, FACT_SYMBOL, &at)) != NULL;) {
        const struct fact *own =
            is_symbol(job, other, fact->what) ? constant_of(job, c, fact->what) : NULL;
        if (own)
            return own;
    }
    return NULL;
}

/* The value of a rank: its things that are symbols, and those that are constants on it. Whether two
 * differ in earnest is decided by found_constants(). */
static bool put_numbers(struct divergence_build *b, uint32_t compile)
{
    const struct job *job = b->job;
    const struct job_compile *c = &job->compiles.v[compile];
    const struct fact *fact;
    int64_t n = 0;
    buf_clear(&b->text);
    for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_SYMBOL, &at)) != NULL;) {
        bool constant = job_find_fact(job, c, FACT_CONSTANT, fact->what) != NULL;
        n += constant;
        buf_put(&b->text, job_text(job, fact->what));
        buf_putc(&b->text, constant ? '=' : ' ');
    }
    return ballot_put(b, c->rank, compile, n);
}

static bool found_constants(struct divergence_build *b, uint32_t step,
                            const struct ballots *ballots)
{
    const struct job *job = b->job;
    const struct job_compile *odd = &job->compiles.v[ballots->odd[0].compile];
    const struct job_compile *most = &job->compiles.v[ballots->most[0].compile];
    const struct fact *own = find_constant(job, odd, most);
    const struct fact *others = own ? NULL : find_constant(job, most, odd);
    struct ballots turned = *ballots;
    if (!own && !others)
        return true;
    if (!own && ballots->n_odd == ballots->n_most)
        turned = (struct ballots){ ballots->most, ballots->odd, ballots->n_most, ballots->n_odd };
    struct divergence *d = divergence_put(b, DIVERGENCE_INT_SPECIALISED, step, &turned);
    if (!d)
        return false;
    bool is_turned = turned.odd != ballots->odd;
    d->own = fact_number(job, is_turned ? others : own);
    d->others = is_turned ? JOB_NONE : fact_number(job, others);
    d->place = own ? own->place : others->place;
    if (d->place == JOB_NONE)
        d->place = job_call_place(job, d->compile);
    return true;
}

/* ---- Sizes of inputs ---- */

static bool is_parameter(struct str name)
{
    return str_find(name, STR("_parameters_")) < name.n ||
           str_find(name, STR("_buffers_")) < name.n;
}

static bool put_inputs(struct divergence_build *b, uint32_t compile)
{
    const struct job *job = b->job;
    const struct job_compile *c = &job->compiles.v[compile];
    const struct fact *fact;
    buf_clear(&b->text);
    for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_INPUT, &at)) != NULL;) {
        buf_put(&b->text, job_text(job, fact->what));
        buf_put(&b->text, job_text(job, fact->detail));
        buf_put(&b->text, job_text(job, fact->extra));
    }
    return ballot_put(b, c->rank, compile, 0);
}

/* Whether two texts of sizes have the same number of them, and one that is static in both differs.
 */
static bool sizes_differ(struct str a, struct str b, bool *comparable)
{
    size_t n = 0, m = 0;
    for (size_t i = 0; i < a.n; i++)
        n += a.p[i] == ',';
    for (size_t i = 0; i < b.n; i++)
        m += b.p[i] == ',';
    *comparable = n == m && (a.n > 2) == (b.n > 2);
    return *comparable && !str_eq(a, b);
}

/* Finds the input whose size differs. Inputs that differ otherwise, and parameters of other sizes,
 * are those of another part of the model: NULL then. */
static const struct fact *find_input(const struct job *job, const struct job_compile *c,
                                     const struct job_compile *other, const struct fact **others)
{
    const struct fact *fact, *ret = NULL;
    uint32_t other_at = 0;
    for (uint32_t at = 0; (fact = job_next_fact(job, c, FACT_INPUT, &at)) != NULL;) {
        const struct fact *peer = job_next_fact(job, other, FACT_INPUT, &other_at);
        bool comparable;
        if (!peer || peer->what != fact->what || peer->extra != fact->extra)
            return NULL;
        if (!sizes_differ(job_text(job, fact->detail), job_text(job, peer->detail), &comparable)) {
            if (!comparable)
                return NULL;
            continue;
        }
        if (is_parameter(job_text(job, fact->what)))
            return NULL;
        *others = ret ? *others : peer;
        ret = ret ? ret : fact;
    }
    return job_next_fact(job, other, FACT_INPUT, &other_at) ? NULL : ret;
}

static bool found_inputs(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    const struct job *job = b->job;
    const struct job_compile *c = &job->compiles.v[ballots->odd[0].compile];
    const struct job_compile *other = &job->compiles.v[ballots->most[0].compile];
    const struct fact *others = NULL, *own = find_input(job, c, other, &others);
    if (!own)
        return true;
    struct divergence *d = divergence_put(b, DIVERGENCE_INPUT_SIZE, step, ballots);
    if (!d)
        return false;
    d->own = fact_number(job, own);
    d->others = fact_number(job, others);
    d->place = job_call_place(job, d->compile);
    return true;
}

/* ---- Graphs ---- */

static bool put_calls(struct divergence_build *b, uint32_t compile)
{
    const struct job *job = b->job;
    const struct fact *fact;
    buf_clear(&b->text);
    for (uint32_t at = 0;
         (fact = job_next_fact(job, &job->compiles.v[compile], FACT_CALLS, &at)) != NULL;)
        buf_put(&b->text, job_text(job, fact->what));
    return ballot_put(b, job->compiles.v[compile].rank, compile, 0);
}

static bool found_graphs(struct divergence_build *b, uint32_t step, const struct ballots *ballots)
{
    (void)step;
    (void)ballots;
    b->ret->n_graphs++;
    return true;
}

/* A step counts once, however many stages of a pipeline differ in it. */
static bool count_graphs(struct divergence_build *b, uint32_t step)
{
    uint32_t before = b->ret->n_graphs;
    bool ok = ballots_of_step(b, step, put_calls, found_graphs);
    if (b->ret->n_graphs > before)
        b->ret->n_graphs = before + 1;
    return ok;
}

bool divergences_of_inputs(struct divergence_build *b, uint32_t step)
{
    return ballots_of_step(b, step, put_numbers, found_constants) &&
           ballots_of_step(b, step, put_inputs, found_inputs) && count_graphs(b, step);
}

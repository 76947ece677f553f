#include "minify/bisect/bisect.h"

#include <pthread.h>
#include <stdlib.h>

enum { MAX_JOBS = 256 };

struct bisect_probe {
    struct search_run *run;
    uint32_t state;
    bool fresh;
    enum bisect_answer answer;
    struct err err;
    pthread_t thread;
    bool threaded;
};

struct search_run {
    const struct bisect_options *options;
    struct bisect_result *result;
    struct err *err;
    uint32_t jobs;
    struct bisect_probe *questions; /* the probes of a round */
    uint64_t random;
};

static bool is_stopped(const struct search_run *run)
{
    const atomic_bool *stop = run->options->stop;
    return stop && atomic_load(stop);
}

/* ---- Answers ---- */

static struct bisect_seen *find_seen(const struct bisect_result *result, uint32_t state)
{
    size_t low = 0, high = result->seen.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (result->seen.v[middle].state < state)
            low = middle + 1;
        else
            high = middle;
    }
    return low < result->seen.n && result->seen.v[low].state == state ? &result->seen.v[low] : NULL;
}

bool bisect_was(const struct bisect_result *result, uint32_t state, enum bisect_answer answer)
{
    const struct bisect_seen *seen = find_seen(result, state);
    return seen && seen->answer == answer;
}

static bool record_answer(struct search_run *run, uint32_t state, enum bisect_answer answer)
{
    struct bisect_result *result = run->result;
    struct bisect_seen *known = find_seen(result, state);
    if (known) {
        known->answer = answer;
        return true;
    }
    if (!vec_push(&result->seen, (struct bisect_seen){ state, answer }))
        return err_nomem(run->err);
    size_t i = result->seen.n - 1;
    for (; i > 0 && result->seen.v[i - 1].state > state; i--)
        result->seen.v[i] = result->seen.v[i - 1];
    result->seen.v[i] = (struct bisect_seen){ state, answer };
    return true;
}

/* ---- Rounds ---- */

static void *ask_one(void *user)
{
    struct bisect_probe *q = user;
    q->answer = q->run->options->probe(q->run->options->user, q->state, q->fresh, &q->err);
    return NULL;
}

/* Runs run->probes[0 .. n) in parallel and records their answers. */
static bool ask_round(struct search_run *run, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        struct bisect_probe *q = &run->questions[i];
        q->run = run;
        q->err = (struct err){ 0 };
        q->threaded = n > 1 && i + 1 < n && pthread_create(&q->thread, NULL, ask_one, q) == 0;
        if (!q->threaded)
            ask_one(q);
    }
    for (uint32_t i = 0; i < n; i++)
        if (run->questions[i].threaded)
            pthread_join(run->questions[i].thread, NULL);
    for (uint32_t i = 0; i < n; i++) {
        const struct bisect_probe *q = &run->questions[i];
        if (is_stopped(run) && (q->answer == BISECT_SKIP || q->answer == BISECT_BROKEN))
            continue; /* we interrupted it, so its answer does not count */
        if (q->answer == BISECT_BROKEN) {
            *run->err = q->err;
            return false;
        }
        if (!record_answer(run, q->state, q->answer))
            return false;
    }
    run->result->probes += n;
    run->result->rounds++;
    return !is_stopped(run);
}

static bool is_unprobed(const struct search_run *run, uint32_t n, uint32_t state)
{
    for (uint32_t i = 0; i < n; i++)
        if (run->questions[i].state == state)
            return false;
    return !find_seen(run->result, state);
}

static uint32_t plan_probe(struct search_run *run, uint32_t n, uint32_t state)
{
    if (!is_unprobed(run, n, state))
        return n;
    run->questions[n].state = state;
    run->questions[n].fresh = false;
    return n + 1;
}

/* Returns the nearest state between good and bad that was not probed yet, or bad if there is
 * none. */
static uint32_t nearest_unprobed(struct search_run *run, uint32_t n, uint32_t state)
{
    uint32_t good = run->result->good, bad = run->result->bad;
    for (uint32_t d = 0; d < bad - good; d++) {
        if (state >= good + 1 + d && is_unprobed(run, n, state - d))
            return state - d;
        if (d < bad - state && is_unprobed(run, n, state + d))
            return state + d;
    }
    return bad;
}

/* Sets the range to the lowest bad state and the highest good state below it. A good state above
 * the lowest bad one is a contradiction, which the result reports. */
static void narrow_range(struct search_run *run)
{
    struct bisect_result *r = run->result;
    for (size_t i = 0; i < r->seen.n; i++) {
        const struct bisect_seen *s = &r->seen.v[i];
        if (s->state <= r->good || s->state >= r->bad)
            continue;
        if (s->answer == BISECT_GOOD)
            r->good = s->state;
        if (s->answer == BISECT_BAD)
            r->bad = s->state;
    }
}

static bool is_all_skipped(const struct search_run *run)
{
    const struct bisect_result *r = run->result;
    for (size_t i = 0; i < r->seen.n; i++)
        if (r->seen.v[i].answer != BISECT_SKIP)
            return false;
    return true;
}

/* Divides the remaining range into equal parts. */
static bool split_range(struct search_run *run)
{
    struct bisect_result *r = run->result;
    while (r->bad - r->good > 1) {
        uint32_t n = 0;
        for (uint32_t i = 1; i <= run->jobs; i++) {
            uint64_t width = r->bad - r->good;
            uint32_t state = r->good + (uint32_t)(width * i / (run->jobs + 1));
            state = nearest_unprobed(run, n, state <= r->good ? r->good + 1 : state);
            if (state < r->bad)
                n = plan_probe(run, n, state);
        }
        if (n == 0)
            return true; /* every state was skipped */
        if (!ask_round(run, n))
            return false;
        /* If no probe could decide so far, perhaps none can: probe the last state. */
        n = plan_probe(run, 0, run->options->n);
        if (is_all_skipped(run) && n > 0 && !ask_round(run, n))
            return false;
        if (is_all_skipped(run))
            return true;
        narrow_range(run);
    }
    return true;
}

/* Searches backward in growing steps until a state is good. */
static bool gallop(struct search_run *run)
{
    struct bisect_result *r = run->result;
    uint32_t step = 1;
    while (r->good == 0 && step < run->options->n) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < run->jobs && step < run->options->n; i++) {
            n = plan_probe(run, n, run->options->n - step);
            step *= 2;
        }
        if (n && !ask_round(run, n))
            return false;
        narrow_range(run);
    }
    return true;
}

/* ---- The certificate, and contradictions ---- */

static enum bisect_answer fresh_answer(const struct search_run *run, uint32_t state)
{
    return find_seen(run->result, state)->answer;
}

static bool ask_fresh(struct search_run *run)
{
    struct bisect_result *r = run->result;
    const uint32_t states[] = { r->good, r->bad };
    if (run->jobs > 1) {
        for (int i = 0; i < 2; i++)
            run->questions[i] = (struct bisect_probe){ .state = states[i], .fresh = true };
        return ask_round(run, 2);
    }
    for (int i = 1; i >= 0; i--) {
        run->questions[0] = (struct bisect_probe){ .state = states[i], .fresh = true };
        if (!ask_round(run, 1))
            return false;
        /* The end of the range was only assumed, so this is its first answer. */
        if (i && fresh_answer(run, r->bad) == BISECT_GOOD && r->bad == run->options->n)
            return true;
    }
    return true;
}

static enum bisect_end judge_state(const struct search_run *run)
{
    const struct bisect_result *r = run->result;
    enum bisect_answer bad = fresh_answer(run, r->bad);
    if (bad == BISECT_GOOD)
        return r->bad == run->options->n ? BISECT_NEVER : BISECT_UNSTEADY;
    if (bad == BISECT_SKIP)
        return BISECT_CANNOT;
    enum bisect_answer good = fresh_answer(run, r->good);
    if (good == BISECT_BAD)
        return r->good == 0 ? BISECT_ALWAYS : BISECT_UNSTEADY;
    if (good == BISECT_SKIP)
        return r->good == 0 ? BISECT_CANNOT : BISECT_UNSTEADY;
    return r->bad - r->good > 1 ? BISECT_BETWEEN : BISECT_FOUND;
}

static uint64_t next_random(struct search_run *run)
{
    run->random ^= run->random << 13;
    run->random ^= run->random >> 7;
    run->random ^= run->random << 17;
    return run->random;
}

static bool probe_round(struct search_run *run)
{
    struct bisect_result *r = run->result;
    uint32_t probes = r->probes, rounds = r->rounds;
    uint64_t states = (uint64_t)run->options->n + 1;
    uint64_t all = run->options->looks == UINT32_MAX ? states : run->options->looks;
    for (uint64_t i = 0; i < all;) {
        uint32_t n = 0;
        for (; i < all && n < run->jobs; i++) {
            uint64_t state = all == states ? i : next_random(run) % states;
            n = plan_probe(run, n, (uint32_t)state);
        }
        if (n && !ask_round(run, n))
            return false;
    }
    r->looked = r->probes - probes;
    r->probes = probes;
    r->rounds = rounds;
    return true;
}

static void count_flips(struct bisect_result *r)
{
    enum bisect_answer last = BISECT_GOOD;
    r->flips = 0;
    for (size_t i = 0; i < r->seen.n; i++) {
        if (r->seen.v[i].answer == BISECT_SKIP)
            continue;
        r->flips += r->seen.v[i].answer != last;
        last = r->seen.v[i].answer;
    }
    r->monotone = r->flips <= 1;
}

static bool search_first_bad(struct search_run *run)
{
    struct bisect_result *r = run->result;
    r->bad = run->options->n;
    if (run->options->n == 0) {
        run->questions[0] = (struct bisect_probe){ .state = 0, .fresh = true };
        if (!ask_round(run, 1))
            return false;
        enum bisect_answer only = fresh_answer(run, 0);
        r->end = only == BISECT_SKIP  ? BISECT_CANNOT
                 : only == BISECT_BAD ? BISECT_ALWAYS
                                      : BISECT_NEVER;
        return true;
    }
    if ((run->options->from_end && !gallop(run)) || !split_range(run))
        return false;
    if (is_all_skipped(run) && find_seen(r, r->bad)) {
        r->end = BISECT_CANNOT;
        return true;
    }
    if (!ask_fresh(run))
        return false;
    r->end = judge_state(run);
    r->certified = r->end == BISECT_FOUND;
    return !run->options->looks || probe_round(run);
}

bool bisect_run(const struct bisect_options *options, struct bisect_result *result, struct err *err)
{
    struct search_run run = { .options = options, .result = result, .err = err };
    *result = (struct bisect_result){ .monotone = true };
    run.jobs = options->jobs == 0 ? 1 : options->jobs > MAX_JOBS ? MAX_JOBS : options->jobs;
    run.random = options->seed * 2 + 0x9e3779b97f4a7c15u;
    run.questions = calloc((size_t)run.jobs + 1, sizeof *run.questions);
    bool ok = run.questions ? search_first_bad(&run) : err_nomem(err);
    if (!ok && !err_is_set(err) && is_stopped(&run)) {
        narrow_range(&run);
        result->end = BISECT_STOPPED;
        ok = true;
    }
    count_flips(result);
    free(run.questions);
    return ok;
}

void bisect_result_release(struct bisect_result *result)
{
    vec_release(&result->seen);
}

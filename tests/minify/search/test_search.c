/* The search over fake candidates (fake_candidate.h) and fake passes. */
#include "minify/minify.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "tests/harness.h"
#include "tests/minify/search/fake_candidate.h"

/* An oracle that is interested in what holds all of some elements, and has a value of at least. */
struct set_oracle {
    struct oracle oracle;
    uint32_t needed[16], n_needed;
    int64_t at_least;
    atomic_uint calls, running, most_running;
    uint32_t fails_one_in; /* flaky: 0 never wavers */
    uint32_t other;        /* a candidate without it fails differently; UINT32_MAX: none */
    uint32_t unresolved;   /* one without it cannot be told; UINT32_MAX: none */
    uint32_t broken_at;    /* the call that cannot run; 0: none */
    bool slow;
    double seconds;            /* that a call says it took; 0: 0.001 */
    atomic_bool *stop_at_call; /* set by call number stop_call */
    uint32_t stop_call;
};

static enum verdict judge(struct set_oracle *self, const struct candidate *candidate, uint32_t call)
{
    if (self->broken_at && call >= self->broken_at)
        return VERDICT_BROKEN;
    if (self->unresolved != UINT32_MAX && !fake_has(candidate, self->unresolved))
        return VERDICT_UNRESOLVED;
    for (uint32_t i = 0; i < self->n_needed; i++)
        if (!fake_has(candidate, self->needed[i]))
            return VERDICT_BORING;
    if (fake_value(candidate) < self->at_least)
        return VERDICT_BORING;
    if (self->other != UINT32_MAX && !fake_has(candidate, self->other))
        return VERDICT_OTHER;
    if (self->fails_one_in && call * UINT32_C(2654435761) % self->fails_one_in)
        return VERDICT_BORING;
    return VERDICT_INTERESTING;
}

static void ask(struct oracle *oracle, const struct candidate *candidate,
                const struct oracle_question *asking, struct answer *answer)
{
    struct set_oracle *self = (struct set_oracle *)oracle;
    uint32_t call = atomic_fetch_add(&self->calls, 1) + 1;
    uint32_t running = atomic_fetch_add(&self->running, 1) + 1;
    if (running > atomic_load(&self->most_running))
        atomic_store(&self->most_running, running);
    if (self->stop_at_call && call == self->stop_call)
        atomic_store(self->stop_at_call, true);
    for (int i = 0; self->slow && i < (int)(call * 7 % 5) && !atomic_load(asking->cancel); i++)
        nanosleep(&(struct timespec){ .tv_nsec = 300000 }, NULL);
    answer->verdict =
        atomic_load(asking->cancel) ? VERDICT_UNRESOLVED : judge(self, candidate, call);
    answer->seconds = self->seconds > 0 ? self->seconds : 0.001;
    atomic_fetch_sub(&self->running, 1);
}

static struct set_oracle oracle_of(const uint32_t *needed, uint32_t n)
{
    struct set_oracle self = {
        .oracle = { .ask = ask, .name = STR("set"), .id = STR("set 1"), .deterministic = true },
        .n_needed = n,
        .other = UINT32_MAX,
        .unresolved = UINT32_MAX
    };
    for (uint32_t i = 0; i < n; i++)
        self.needed[i] = needed[i];
    return self;
}

/* Passes. */

static bool all_edits(struct search *search, struct edit **edits, uint32_t *n)
{
    *n = fake_n(search_best(search));
    *edits = calloc(*n + 1, sizeof **edits);
    for (uint32_t i = 0; *edits && i < *n; i++)
        (*edits)[i] = (struct edit){ .kind = EDIT_REMOVE_NODE, .a = i };
    return *edits != NULL;
}

static bool make_prefix(void *user, uint32_t x, struct edit *edit)
{
    (void)user;
    *edit = (struct edit){ .kind = EDIT_KEEP_PREFIX, .a = x };
    return true;
}

static bool run_prefix(struct search *search)
{
    uint32_t least;
    return search_least(search, 0, fake_n(search_best(search)), NULL, make_prefix, NULL, &least);
}

static bool run_sweep(struct search *search)
{
    struct edit *edits;
    uint32_t n;
    if (!all_edits(search, &edits, &n))
        return true;
    bool good = search_sweep(search, edits, n, NULL, NULL);
    free(edits);
    return good;
}

static bool run_value(struct search *search)
{
    bool accepted;
    return search_descend(search, (struct edit){ .kind = EDIT_HINT },
                          fake_value(search_best(search)), 0, &accepted);
}

/* The certificate: each edit alone. */
static bool run_single(struct search *search)
{
    struct edit *edits;
    uint32_t n, which = 0;
    bool good = true;
    while (good && which != UINT32_MAX) {
        if (!all_edits(search, &edits, &n))
            return true;
        struct proposal *proposals = calloc(n + 1, sizeof *proposals);
        for (uint32_t i = 0; proposals && i < n; i++)
            proposals[i] = (struct proposal){ &edits[i], 1 };
        good = !proposals || search_try_each(search, proposals, n, &which);
        free(edits);
        free(proposals);
    }
    return good;
}

const struct pass passes[] = {
    { "prefix", "", true, run_prefix },
    { "sweep", "", false, run_sweep },
    { "value", "", false, run_value },
    { "certificate", "", true, run_single },
};
const size_t n_passes = sizeof passes / sizeof *passes;

struct ran {
    struct minify_result result;
    struct buf best;
    uint32_t calls;
};

static struct ran run_with(struct set_oracle *oracle, uint32_t n, struct minify_options options)
{
    struct ran ran = { 0 };
    struct err err = ERR_INIT;
    struct candidate *whole = fake_new(n, 1000);
    options.oracle = &oracle->oracle;
    if (!options.jobs)
        options.jobs = 1;
    atomic_store(&oracle->calls, 0);
    assert_true(minify_run(whole, &options, &ran.result, &err));
    assert_no_err(&err);
    fake_print(ran.result.best, &ran.best);
    ran.calls = atomic_load(&oracle->calls);
    assert_int_equal(ran.result.calls, ran.calls);
    candidate_free(whole);
    return ran;
}

static void release(struct ran *ran)
{
    minify_result_release(&ran->result);
    buf_release(&ran->best);
}

static void finds_the_culprits(void **state)
{
    const struct {
        uint32_t n, needed[5], n_needed, most;
        const char *best;
    } cases[] = {
        { 1, { 0 }, 1, 20, "0 | 17" },
        { 10, { 3 }, 1, 40, "3 | 17" },
        { 1000, { 500 }, 1, 50, "500 | 17" },
        { 2000, { 700, 1500 }, 2, 80, "700 1500 | 17" },
        { 1000, { 0, 1, 2, 998, 999 }, 5, 140, "0 1 2 998 999 | 17" },
        { 50, { 0 }, 0, 20, "| 17" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct set_oracle oracle = oracle_of(cases[i].needed, cases[i].n_needed);
        oracle.at_least = 17;
        struct ran ran = run_with(&oracle, cases[i].n, (struct minify_options){ 0 });
        print_message("n = %u, k = %u: %u calls\n", (unsigned)cases[i].n,
                      (unsigned)cases[i].n_needed, (unsigned)ran.calls);
        assert_str_is(buf_str(&ran.best), cases[i].best);
        assert_int_equal(ran.result.end, MINIFY_DONE);
        assert_true(ran.result.minimal);
        assert_true(ran.calls <= cases[i].most);
        assert_int_equal(ran.result.unneeded, 0);
        release(&ran);
    }
}

static void jobs_give_the_same(void **state)
{
    uint32_t seed = 12345;
    (void)state;
    for (int round = 0; round < 40; round++) {
        uint32_t needed[4], n = 5 + (seed = seed * 1103515245 + 12345) % 200;
        uint32_t k = (seed >> 16) % 5;
        for (uint32_t i = 0; i < k; i++)
            needed[i] = (seed = seed * 1103515245 + 12345) % n;
        struct set_oracle oracle = oracle_of(needed, k);
        oracle.at_least = (int64_t)(seed % 1000);
        oracle.other = round % 3 ? UINT32_MAX : seed % n;
        oracle.unresolved = round % 4 ? UINT32_MAX : seed / 7 % n;
        struct ran one = run_with(&oracle, n, (struct minify_options){ .jobs = 1 });
        for (uint32_t jobs = 2; jobs <= 8; jobs *= 2) {
            oracle.slow = true;
            struct ran many = run_with(&oracle, n, (struct minify_options){ .jobs = jobs });
            assert_str_eq(buf_str(&many.best), buf_str(&one.best));
            assert_int_equal(many.result.calls - many.result.unneeded, one.calls);
            assert_true(atomic_load(&oracle.most_running) <= jobs);
            release(&many);
        }
        release(&one);
    }
}

static void limits_end_it(void **state)
{
    const uint32_t needed[] = { 30, 60 };
    struct set_oracle oracle = oracle_of(needed, 2);
    (void)state;
    struct ran one = run_with(&oracle, 100, (struct minify_options){ .max_calls = 9 });
    assert_int_equal(one.result.end, MINIFY_MAX_CALLS);
    assert_int_equal(one.calls, 9);
    assert_false(one.result.minimal);
    oracle.slow = true;
    struct ran many = run_with(&oracle, 100, (struct minify_options){ .max_calls = 9, .jobs = 4 });
    assert_str_eq(buf_str(&many.best), buf_str(&one.best));
    release(&many);
    release(&one);
    struct ran late = run_with(&oracle, 100, (struct minify_options){ .deadline = 1e-9 });
    assert_int_equal(late.result.end, MINIFY_DEADLINE);
    assert_int_equal(late.calls, 0);
    release(&late);
    for (uint32_t jobs = 1; jobs < 4; jobs++) {
        atomic_bool stop = false;
        oracle.stop_at_call = &stop;
        oracle.stop_call = 12;
        struct ran stopped =
            run_with(&oracle, 100, (struct minify_options){ .stop = &stop, .jobs = jobs });
        assert_int_equal(stopped.result.end, MINIFY_STOPPED);
        /* With several jobs, none of the first answers need be of use yet. */
        assert_true(jobs > 1 || fake_n(stopped.result.best) < 100);
        release(&stopped);
    }
}

static void not_failing_at_all(void **state)
{
    const uint32_t needed[] = { 200 };
    struct set_oracle oracle = oracle_of(needed, 1);
    (void)state;
    struct ran ran = run_with(&oracle, 100, (struct minify_options){ 0 });
    assert_int_equal(ran.result.end, MINIFY_NOT_REPRODUCED);
    assert_int_equal(ran.calls, 1);
    assert_int_equal(ran.result.first.verdict, VERDICT_BORING);
    release(&ran);
}

static void broken_oracle(void **state)
{
    const uint32_t needed[] = { 20 };
    (void)state;
    for (uint32_t at = 1; at < 14; at += 4) {
        for (uint32_t jobs = 1; jobs < 4; jobs += 2) {
            struct set_oracle oracle = oracle_of(needed, 1);
            struct candidate *whole = fake_new(100, 1000);
            struct minify_options options = { .oracle = &oracle.oracle, .jobs = jobs };
            struct minify_result result;
            struct err err = ERR_INIT;
            oracle.broken_at = at;
            assert_false(minify_run(whole, &options, &result, &err));
            assert_err(&err, ERR_ENV, "the oracle cannot run");
            assert_int_equal(result.end, MINIFY_FAILED);
            assert_non_null(result.best);
            minify_result_release(&result);
            candidate_free(whole);
        }
    }
}

static void unresolved_all_the_time(void **state)
{
    const uint32_t needed[] = { 5 };
    struct set_oracle oracle = oracle_of(needed, 1);
    (void)state;
    for (uint32_t i = 0; i < 10; i++)
        oracle.needed[i] = i;
    oracle.n_needed = 10;
    oracle.unresolved = 999;
    struct ran ran = run_with(&oracle, 100, (struct minify_options){ 0 });
    assert_int_equal(ran.result.end, MINIFY_NOT_REPRODUCED);
    assert_int_equal(ran.result.first.verdict, VERDICT_UNRESOLVED);
    release(&ran);
    oracle.unresolved = 7; /* not certain that 7 is needed */
    ran = run_with(&oracle, 100, (struct minify_options){ 0 });
    assert_int_equal(ran.result.end, MINIFY_DONE);
    assert_false(ran.result.minimal);
    assert_true(ran.result.unresolved > 0);
    release(&ran);
}

static void second_run_asks_nothing(void **state)
{
    const uint32_t needed[] = { 10, 55, 56 };
    const char *path = temp_path("second.journal");
    (void)state;
    for (uint32_t jobs = 1; jobs < 5; jobs += 3) {
        struct set_oracle oracle = oracle_of(needed, 3);
        oracle.oracle.deterministic = false;
        oracle.at_least = 3;
        unlink(path);
        struct ran one =
            run_with(&oracle, 90, (struct minify_options){ .journal = path, .jobs = jobs });
        struct ran two = run_with(&oracle, 90, (struct minify_options){ .journal = path });
        assert_int_equal(two.calls, 0);
        assert_true(two.result.resumed > 0);
        assert_int_equal(two.result.hits, one.result.hits + two.result.resumed);
        assert_str_eq(buf_str(&two.best), buf_str(&one.best));
        assert_int_equal(two.result.minimal, one.result.minimal);
        release(&one);
        release(&two);
    }
}

/* Cut at any byte, the journal gives back what it held, and the run ends as it would have. */
static void resumes_at_any_point(void **state)
{
    const uint32_t needed[] = { 10, 55, 56 };
    const char *path = temp_path("whole.journal"), *part = temp_path("part.journal");
    struct set_oracle oracle = oracle_of(needed, 3);
    (void)state;
    oracle.at_least = 3;
    struct ran one = run_with(&oracle, 90, (struct minify_options){ .journal = path });
    struct buf text = read_file(path);
    for (size_t cut = 0; cut <= text.n; cut += cut < 200 ? 7 : 131) {
        FILE *file = fopen(part, "w");
        assert_int_equal(fwrite(text.p, 1, cut, file), cut);
        fclose(file);
        uint32_t whole = 0;
        for (size_t i = 0; i < cut; i++)
            whole += text.p[i] == '\n';
        whole -= whole > 0; /* the head */
        struct ran two = run_with(&oracle, 90, (struct minify_options){ .journal = part });
        assert_str_eq(buf_str(&two.best), buf_str(&one.best));
        assert_int_equal(two.calls + whole, one.calls);
        struct buf again = read_file(part);
        assert_int_equal(again.n > cut || cut == text.n, true);
        buf_release(&again);
        release(&two);
    }
    buf_release(&text);
    release(&one);
}

static void flaky_oracle(void **state)
{
    const uint32_t needed[] = { 3, 17 };
    uint32_t right = 0;
    (void)state;
    for (uint32_t round = 0; round < 10; round++) {
        struct set_oracle oracle = oracle_of(needed, 2);
        oracle.oracle.deterministic = false;
        oracle.fails_one_in = 3;
        struct ran ran = run_with(&oracle, 30 + round, (struct minify_options){ .repeat = 20 });
        assert_int_equal(ran.result.end, MINIFY_DONE);
        assert_true(ran.result.clean > 4 && ran.result.clean < 30);
        assert_true(ran.result.rate_hits < ran.result.rate_asked);
        assert_true(fake_has(ran.result.best, 3) && fake_has(ran.result.best, 17));
        right += fake_n(ran.result.best) == 2;
        release(&ran);
    }
    assert_true(right >= 9);
}

/* What an oracle says that a question needs holds above the usual limit, too. */
static void time_limits(void **state)
{
    static const struct {
        double first, least, expected;
    } cases[] = {
        { 0.001, 0, 5 }, { 2, 0, 20 },      { 100, 0, 300 },     { 1, 60, 60 },
        { 10, 80, 100 }, { 100, 260, 300 }, { 700, 1460, 1460 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct set_oracle oracle = oracle_of((uint32_t[]){ 1 }, 1);
        oracle.oracle.least_timeout = cases[i].least;
        oracle.seconds = cases[i].first;
        struct ran ran = run_with(&oracle, 4, (struct minify_options){ 0 });
        assert_true(ran.result.timeout == cases[i].expected);
        release(&ran);
    }
}

static bool attempt(void *arg)
{
    const uint32_t needed[] = { 3, 9 };
    struct set_oracle oracle = oracle_of(needed, 2);
    struct candidate *whole = fake_new(12, 4);
    struct minify_options options = { .oracle = &oracle.oracle, .jobs = *(uint32_t *)arg };
    struct minify_result result;
    struct err err = ERR_INIT;
    if (!whole)
        return false;
    options.journal = temp_path("memory.journal");
    unlink(options.journal);
    bool good = minify_run(whole, &options, &result, &err);
    assert_true(good != err_is_set(&err));
    assert_true(!good || alloc_has_failed() || fake_n(result.best) == 2);
    minify_result_release(&result);
    candidate_free(whole);
    return good;
}

static void memory_runs_out(void **state)
{
    uint32_t jobs = 1;
    (void)state;
    check_alloc_failures(attempt, &jobs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_culprits),
        cmocka_unit_test(jobs_give_the_same),
        cmocka_unit_test(limits_end_it),
        cmocka_unit_test(not_failing_at_all),
        cmocka_unit_test(broken_oracle),
        cmocka_unit_test(unresolved_all_the_time),
        cmocka_unit_test(second_run_asks_nothing),
        cmocka_unit_test(resumes_at_any_point),
        cmocka_unit_test(flaky_oracle),
        cmocka_unit_test(time_limits),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

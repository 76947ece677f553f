#include "minify/bisect/bisect.h"

#include <stdlib.h>

#include "tests/harness.h"

/* States from `first` on are bad, but those of [good_from, good_to); skipped ones cannot be told.
 */
struct world {
    uint32_t first, good_from, good_to, skip_from, skip_to;
    bool liar; /* answers otherwise when asked afresh */
    atomic_uint asked;
};

static enum bisect_answer probe(void *user, uint32_t state, bool fresh, struct err *err)
{
    struct world *w = user;
    (void)err;
    atomic_fetch_add(&w->asked, 1);
    if (state >= w->skip_from && state < w->skip_to)
        return BISECT_SKIP;
    bool bad = state >= w->first && !(state >= w->good_from && state < w->good_to);
    return bad != (w->liar && fresh && state != 0) ? BISECT_BAD : BISECT_GOOD;
}

static struct bisect_result run(struct world *world, struct bisect_options options)
{
    struct bisect_result result;
    struct err err = ERR_INIT;
    options.probe = probe;
    options.user = world;
    world->asked = 0;
    assert_true(bisect_run(&options, &result, &err));
    assert_int_equal(world->asked, result.probes + result.looked);
    return result;
}

static void test_each_place(void **state)
{
    (void)state;
    for (uint32_t n = 1; n < 70; n++)
        for (uint32_t first = 1; first <= n; first++)
            for (uint32_t jobs = 1; jobs <= 8; jobs += 7) {
                struct world world = { .first = first };
                struct bisect_result r =
                    run(&world, (struct bisect_options){ .n = n, .jobs = jobs, .from_end = n % 2 });
                assert_int_equal(r.end, BISECT_FOUND);
                assert_int_equal(r.bad, first);
                assert_int_equal(r.good, first - 1);
                assert_true(r.certified && r.monotone);
                bisect_result_release(&r);
            }
}

/* G17: 14 and 2 of the certificate; 8 at once: 6 rounds. */
static void test_how_many(void **state)
{
    (void)state;
    uint32_t most = 0, rounds = 0;
    for (uint32_t first = 1; first <= 10000; first += 37) {
        struct world world = { .first = first };
        struct bisect_result r = run(&world, (struct bisect_options){ .n = 10000 });
        most = r.probes > most ? r.probes : most;
        assert_int_equal(r.bad, first);
        bisect_result_release(&r);
        r = run(&world, (struct bisect_options){ .n = 10000, .jobs = 8 });
        rounds = r.rounds > rounds ? r.rounds : rounds;
        assert_int_equal(r.bad, first);
        bisect_result_release(&r);
    }
    assert_true(most <= 16);
    assert_true(rounds <= 6);
}

static void test_from_end(void **state)
{
    (void)state;
    struct world world = { .first = 9990 };
    struct bisect_result r = run(&world, (struct bisect_options){ .n = 10000, .from_end = true });
    assert_int_equal(r.bad, 9990);
    assert_true(r.probes <= 10);
    bisect_result_release(&r);
}

static void test_ends(void **state)
{
    (void)state;
    struct world never = { .first = 200 }, always = { .first = 0 };
    struct bisect_result r = run(&never, (struct bisect_options){ .n = 100 });
    assert_int_equal(r.end, BISECT_NEVER);
    bisect_result_release(&r);
    r = run(&always, (struct bisect_options){ .n = 100 });
    assert_int_equal(r.end, BISECT_ALWAYS);
    bisect_result_release(&r);
    r = run(&never, (struct bisect_options){ .n = 0 });
    assert_int_equal(r.end, BISECT_NEVER);
    bisect_result_release(&r);
    r = run(&always, (struct bisect_options){ .n = 0 });
    assert_int_equal(r.end, BISECT_ALWAYS);
    bisect_result_release(&r);
}

static void test_skips(void **state)
{
    (void)state;
    struct world beside = { .first = 70, .skip_from = 40, .skip_to = 60 };
    struct world around = { .first = 50, .skip_from = 40, .skip_to = 60 };
    struct world all = { .first = 50, .skip_from = 0, .skip_to = 101 };
    for (uint32_t jobs = 1; jobs <= 5; jobs += 4) {
        struct bisect_result r = run(&beside, (struct bisect_options){ .n = 100, .jobs = jobs });
        assert_int_equal(r.end, BISECT_FOUND);
        assert_int_equal(r.bad, 70);
        bisect_result_release(&r);
        r = run(&around, (struct bisect_options){ .n = 100, .jobs = jobs });
        assert_int_equal(r.end, BISECT_BETWEEN);
        assert_int_equal(r.good, 39);
        assert_int_equal(r.bad, 60);
        bisect_result_release(&r);
        r = run(&all, (struct bisect_options){ .n = 100, .jobs = jobs });
        assert_int_equal(r.end, BISECT_CANNOT);
        bisect_result_release(&r);
    }
}

static void test_contradictions(void **state)
{
    (void)state;
    for (uint32_t good_from = 20; good_from < 90; good_from += 7) {
        struct world world = { .first = 10, .good_from = good_from, .good_to = good_from + 3 };
        struct bisect_result r =
            run(&world, (struct bisect_options){ .n = 100, .looks = UINT32_MAX });
        assert_false(r.monotone);
        assert_int_equal(r.flips, 3);
        assert_int_equal(r.seen.n, 101);
        bisect_result_release(&r);
    }
    struct world plain = { .first = 10 }, liar = { .first = 10, .liar = true };
    struct bisect_result r = run(&plain, (struct bisect_options){ .n = 100, .looks = 20 });
    assert_true(r.monotone);
    assert_in_range(r.looked, 10, 20);
    bisect_result_release(&r);
    r = run(&liar, (struct bisect_options){ .n = 100 });
    assert_int_equal(r.end, BISECT_UNSTEADY);
    bisect_result_release(&r);
}

static enum bisect_answer broken(void *user, uint32_t state, bool fresh, struct err *err)
{
    (void)user, (void)fresh;
    if (state < 40)
        return err_set(err, ERR_ENV, "no disk"), BISECT_BROKEN;
    return BISECT_BAD;
}

/* Where nothing can be told, few questions find out. */
static void test_cannot(void **state)
{
    (void)state;
    struct world world = { .first = 3, .skip_to = UINT32_MAX };
    struct bisect_result r = run(&world, (struct bisect_options){ .n = 1000, .looks = 3 });
    assert_int_equal(r.end, BISECT_CANNOT);
    assert_int_equal(r.probes, 2);
    bisect_result_release(&r);
}

static void test_broken_and_stopped(void **state)
{
    (void)state;
    struct bisect_result r;
    struct err err = ERR_INIT;
    atomic_bool stop = true;
    struct world world = { .first = 3 };
    assert_false(bisect_run(&(struct bisect_options){ .n = 100, .probe = broken }, &r, &err));
    assert_int_equal(err.kind, ERR_ENV);
    bisect_result_release(&r);
    err = ERR_INIT;
    assert_true(bisect_run(
        &(struct bisect_options){ .n = 100, .probe = probe, .user = &world, .stop = &stop }, &r,
        &err));
    assert_int_equal(r.end, BISECT_STOPPED);
    assert_true(r.good == 0 && r.bad == 50 && !r.certified);
    assert_true(bisect_was(&r, 50, BISECT_BAD) && !bisect_was(&r, 100, BISECT_BAD));
    bisect_result_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_place), cmocka_unit_test(test_how_many),
        cmocka_unit_test(test_from_end),   cmocka_unit_test(test_ends),
        cmocka_unit_test(test_skips),      cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_cannot),     cmocka_unit_test(test_broken_and_stopped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

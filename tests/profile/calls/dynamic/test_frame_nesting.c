#include "profile/calls/dynamic/frame_nesting.h"

#include "tests/harness.h"

enum { MOST_CALLS = 16 };

/* Calls, of which those inside of one follow it, and a look-up for each. */
struct made_calls {
    struct program_call calls[MOST_CALLS];
    struct lookup_row lookups[MOST_CALLS];
    struct call_log log;
    struct cache_run run;
};

static void make(struct made_calls *made, const char *const *functions)
{
    uint32_t n = 0;
    *made = (struct made_calls){ 0 };
    for (; functions[n]; n++) {
        bool inside = functions[n][0] == ' ';
        made->calls[n] =
            (struct program_call){ .inside = inside, .function = str_of(functions[n] + inside) };
        made->lookups[n] = (struct lookup_row){ .call = n };
    }
    made->log.calls.v = made->calls;
    made->run.lookups.v = made->lookups;
    made->log.calls.n = made->run.lookups.n = n;
}

static void test_nesting(void **state)
{
    (void)state;
    static const char *const FUNCTIONS[] = {
        "f",                              /* 0 */
        " torch_dynamo_resume_in_f_at_3", /* follows from 0 */
        " helper",                        /* 0 calls it */
        " torch_dynamo_resume_in_helper_at_9",
        " torch_dynamo_resume_in_f_at_5", /* follows from 1 */
        " torch_dynamo_resume_in_other_at_5",
        "f",                              /* 6 */
        " torch_dynamo_resume_in_f_at_5", /* not from those of the call before */
        NULL,
    };
    static const uint32_t OUTER[] = { CALL_NONE, 0, 0, 2, 1, 0, CALL_NONE, 6 };
    struct made_calls made;
    struct frame_nesting nesting;
    make(&made, FUNCTIONS);
    assert_true(frame_nesting_make(&nesting, &made.run, &made.log));
    for (uint32_t i = 0; i < made.run.lookups.n; i++) {
        assert_int_equal(nesting.outer[i], OUTER[i]);
        assert_int_equal(nesting.goes_on[i], OUTER[i] != CALL_NONE && i != 2);
    }
    frame_nesting_release(&nesting);
}

static bool attempt(void *arg)
{
    static const char *const FUNCTIONS[] = { "f", " torch_dynamo_resume_in_f_at_3", NULL };
    struct made_calls made;
    struct frame_nesting nesting = { 0 };
    (void)arg;
    make(&made, FUNCTIONS);
    bool ok = frame_nesting_make(&nesting, &made.run, &made.log);
    frame_nesting_release(&nesting);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profile/calls/dynamic/frame_nesting.h"

#include "profile/calls/dynamic/peers.h"
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

/* Code objects of one name share what is remembered, and are run in the order of their calls. */
static void test_peers(void **state)
{
    (void)state;
    static const char *const NAMES[] = { "a.py:1:f", "a.py:1:g", "a.py:1:f", "a.py:1:f" };
    static const uint32_t PEERS[] = { 2, 1, 3, 0 };
    struct cache_code names[4];
    struct code_calls codes[4];
    struct code_call calls[4] = {
        { .lookup = 7 }, { .lookup = 3 }, { .lookup = 5 }, { .lookup = 6 }
    };
    struct cache_run run = { 0 };
    struct calls_table table = { .run = &run };
    uint32_t member;
    for (uint32_t i = 0; i < 4; i++) {
        names[i] = (struct cache_code){ .name = str_of(NAMES[i]) };
        codes[i] = (struct code_calls){ .code = i };
        codes[i].calls.v = &calls[i];
        codes[i].calls.n = 1;
    }
    run.codes.v = names;
    table.codes.v = codes;
    run.codes.n = table.codes.n = 4;
    assert_true(peers_find(&table));
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(codes[i].peer, PEERS[i]);
        assert_int_equal(is_first_peer(&table, &codes[i]), i < 2);
    }
    struct peer_calls order = peer_calls_begin(&table, &codes[2], false);
    assert_int_equal(order.n, 3);
    static const uint32_t LOOKUPS[] = { 5, 6, 7 };
    for (int i = 0; i < 3; i++) {
        const struct code_call *call = peer_calls_next(&order, &member);
        assert_int_equal(call->lookup, LOOKUPS[i]);
        assert_ptr_equal(&order.codes[member]->calls.v[0], call);
    }
    assert_null(peer_calls_next(&order, &member));
    order = peer_calls_begin(&table, &codes[0], true);
    assert_int_equal(order.n, 1);
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
        cmocka_unit_test(test_peers),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which attempt's graph stands for the one that an attempt did not print. */
#include "replay/attempt/substitutes.h"

#include "tests/harness.h"

enum { NONE = -1 };

struct world {
    const char *compile;
    uint32_t recording;
    int previous, next; /* attempts of the same compile */
    int graph;          /* the attempt's Dynamo graph */
    int found;          /* what substitutes it */
};

static const struct world worlds[] = {
    { "0/0", 0, NONE, 1, NONE, 10 }, /* the next attempt but one has a graph */
    { "0/0", 0, 0, 2, NONE, 10 },
    { "0/0", 0, 1, 3, 10, 11 },
    { "0/0", 0, 2, 4, 11, 10 },
    { "0/0", 0, 3, NONE, NONE, 11 },
    { "0/1", 0, NONE, NONE, NONE, 10 },   /* another compile of the frame */
    { "0/0.1", 0, NONE, NONE, NONE, 12 }, /* the ids were given again */
    { "0/1.1", 0, NONE, NONE, 12, 12 },
    { "0/1", 1, NONE, NONE, NONE, NONE }, /* another recording */
    { "!1/0/0", 0, NONE, NONE, NONE, NONE },
    { "10/0", 0, NONE, NONE, NONE, NONE },
};
enum { WORLDS = sizeof worlds / sizeof *worlds };

static uint32_t index_of(int i)
{
    return i == NONE ? TRACE_NONE : (uint32_t)i;
}

static const uint32_t *find_in(const struct world *w, size_t n, struct arena *arena)
{
    struct attempt attempts[WORLDS];
    struct graph_ref refs[13] = { 0 };
    for (size_t i = 0; i < 13; i++)
        refs[i].attempt = TRACE_NONE;
    for (size_t i = 0; i < n; i++) {
        attempts[i] = (struct attempt){ .recording = w[i].recording,
                                        .compile = str_of(w[i].compile),
                                        .previous = index_of(w[i].previous),
                                        .next = index_of(w[i].next) };
        if (w[i].graph != NONE)
            refs[w[i].graph] = (struct graph_ref){ .attempt = (uint32_t)i,
                                                   .kind = GRAPH_DYNAMO,
                                                   .is_event = true };
    }
    /* Other graphs of an attempt do not count. */
    refs[0] = (struct graph_ref){ .attempt = 0, .kind = GRAPH_JOINT, .is_event = true };
    refs[1] = (struct graph_ref){ .attempt = 0, .kind = GRAPH_DYNAMO, .is_event = false };
    struct trace trace = { .attempts = attempts, .n_attempts = (uint32_t)n };
    struct graph_list graphs = { .refs = refs, .n = 13 };
    return substitute_graphs(&trace, &graphs, 1U << GRAPH_DYNAMO, arena);
}

static void test_order(void **state)
{
    (void)state;
    struct arena arena = ARENA_INIT;
    const uint32_t *found = find_in(worlds, WORLDS, &arena);
    assert_non_null(found);
    for (size_t i = 0; i < WORLDS; i++)
        assert_int_equal(found[i], index_of(worlds[i].found));
    arena_release(&arena);
}

/* Links that lead nowhere or in a circle find nothing. */
static void test_broken_links(void **state)
{
    (void)state;
    static const struct world broken[] = {
        { "0/0", 0, 1, 0, NONE, NONE },
        { "1/0", 0, 7, 7, NONE, NONE },
        { "2/0", 0, 2, 0, 5, 5 },
    };
    struct arena arena = ARENA_INIT;
    const uint32_t *found = find_in(broken, 3, &arena);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(found[i], index_of(broken[i].found));
    arena_release(&arena);
}

static bool find_all(void *arg)
{
    struct arena arena = ARENA_INIT;
    (void)arg;
    bool ok = find_in(worlds, WORLDS, &arena) != NULL;
    arena_release(&arena);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(find_all, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_broken_links),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

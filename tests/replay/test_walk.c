/* Exported programs, as torch.export left them and decomposed: every call as recorded. */
#include <glob.h>

#include "replay/replay.h"
#include "tests/harness.h"

static void assert_matches(const char *path)
{
    struct err err = ERR_INIT;
    struct replay_options options = REPLAY_OPTIONS_DEFAULT;
    struct trace *trace = trace_open(path, NULL, &err);
    struct replay *replay = trace ? replay_trace(trace, &options, &err) : NULL;
    assert_no_err(&err);
    assert_true(replay->totals.calls > 0);
    for (size_t i = 0; i < replay->n_differences; i++)
        printf("%s: %.*s: recorded %.*s, replayed %.*s\n", path,
               STR_ARG(replay->differences[i].node), STR_ARG(replay->differences[i].recorded),
               STR_ARG(replay->differences[i].replayed));
    assert_true(replay_all_match(replay));
    replay_free(replay);
    trace_close(trace);
}

/* Among them attention on a CPU, whose mask may have any strides, and views whose strides
 * run_decompositions() took from the export or found again. */
static void test_exports(void **state)
{
    (void)state;
    glob_t found;
    char pattern[4200];
    snprintf(pattern, sizeof pattern, "%s/*.pt2", shared_path("exports"));
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        assert_matches(found.gl_pathv[i]);
    globfree(&found);
}

int main(void)
{
    require_shared();
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_exports) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

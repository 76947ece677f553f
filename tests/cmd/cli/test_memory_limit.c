#include "cmd/cli/memory_limit.h"

#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "cmd/cli/refused_memory.h"
#include "tests/harness.h"

/* The limit as it is set; RLIM_INFINITY also in a build that has none. */
static rlim_t now(void)
{
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_DATA, &limit), 0);
    return limit.rlim_cur;
}

static void test_grows_with_input(void **state)
{
    (void)state;
    struct memory_limit limit;
    rlim_t before = now();
    memory_limit_begin(&limit, false);
    struct source_meter *meter = &limit.meter;
    assert_int_equal(meter->allowed(meter), 64 << 20);
    rlim_t first = now();
    meter->stored(meter, 1 << 20);
    meter->window(meter, 8 << 20);
    meter->window(meter, 2 << 20); /* one window at a time */
    assert_int_equal(meter->allowed(meter), (64 + 40 + 8) << 20);
    if (limit.on) {
        assert_true(first - limit.stacks < 64 << 20);
        assert_int_equal(now() - first, (39 + 8) << 20);
    }
    meter->stored(meter, UINT64_MAX / 8); /* more than any sum holds */
    assert_int_equal(meter->allowed(meter), UINT64_MAX);
    memory_limit_end(&limit);
    memory_limit_end(&limit);
    memory_limit_end(NULL);
    assert_int_equal(now(), before);
}

static void test_restarts(void **state)
{
    (void)state;
    struct memory_limit limit;
    memory_limit_begin(&limit, false);
    rlim_t first = now();
    limit.meter.stored(&limit.meter, 5 << 20);
    limit.meter.window(&limit.meter, 8 << 20);
    memory_limit_restart(&limit, 1 << 20);
    assert_int_equal(limit.meter.allowed(&limit.meter), (64 + 40) << 20);
    memory_limit_restart(&limit, 0);
    assert_int_equal(now(), first);
    memory_limit_end(&limit);
}

static void test_big(void **state)
{
    (void)state;
    struct memory_limit limit;
    rlim_t before = now();
    memory_limit_begin(&limit, true);
    limit.meter.stored(&limit.meter, 10);
    limit.meter.window(&limit.meter, 10);
    assert_int_equal(now(), before);
    assert_int_equal(limit.meter.allowed(&limit.meter), UINT64_MAX);
    memory_limit_end(&limit);
}

/* Only a want of memory, and only where so much was in use that the limit can be why. */
static void test_explain(void **state)
{
    (void)state;
    struct memory_limit limit;
    struct err err = ERR_INIT, other = ERR_INIT, little = ERR_INIT;
    memory_limit_begin(&limit, false);
    err_nomem(&little);
    limit.stored = UINT64_C(1) << 40;
    memory_limit_explain(&limit, &little);
    memory_limit_explain(NULL, &little);
    assert_err(&little, ERR_ENV, "out of memory");
    limit.stored = 0;
    char *used = malloc(30 << 20);
    assert_non_null(used);
    memset(used, 1, 30 << 20);
    err_set(&other, ERR_ENV, "a.log: disk full");
    memory_limit_explain(&limit, &other);
    assert_err(&other, ERR_ENV, "disk full");
    err_nomem(&err);
    err_at(&err, "a.log");
    limit.stored = 1000;
    bool on = limit.on;
    memory_limit_explain(&limit, &err);
    if (on)
        assert_err(&err, ERR_INPUT,
                   "a.log: input of 1.00 kB would take more than 67.1 MB of memory; --big");
    memory_limit_end(&limit);
    free(used);
}

/* One large allocation that the limit refused: little is in use. */
static void test_explain_one_large(void **state)
{
    (void)state;
    struct memory_limit limit;
    struct refused_memory refused = { 0 };
    struct err err = ERR_INIT, none = ERR_INIT;
    memory_limit_begin(&limit, false);
    limit.refused = &refused;
    limit.stored = UINT64_C(1) << 40;
    err_nomem(&none);
    memory_limit_explain(&limit, &none);
    assert_err(&none, ERR_ENV, "out of memory");
    limit.stored = 1000;
    refused.needed = limit.stacks + UINT64_C(3000000000);
    err_nomem(&err);
    err_at(&err, "a.log");
    bool on = limit.on;
    memory_limit_explain(&limit, &err);
    if (on)
        assert_err(&err, ERR_INPUT,
                   "a.log: input of 1.00 kB would take 3.00 GB of memory or more, and 67.1 MB is "
                   "allowed; --big lifts this limit");
    memory_limit_end(&limit);
}

static int explain_little(void)
{
    struct memory_limit limit;
    struct err err = ERR_INIT;
    memory_limit_begin(&limit, false);
    err_nomem(&err);
    memory_limit_explain(&limit, &err);
    memory_limit_end(&limit);
    return err.kind == ERR_ENV ? 0 : 1;
}

/* What started the program may have taken much: that is not the program's. */
static void test_started_by_a_large_process(void **state)
{
    (void)state;
    char *used = malloc(30 << 20), name[] = "test", little[] = "little";
    char *const args[] = { name, little, NULL };
    assert_non_null(used);
    memset(used, 1, 30 << 20);
    pid_t child;
    int status;
    assert_int_equal(posix_spawn(&child, "/proc/self/exe", NULL, NULL, args, environ), 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    free(used);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "little") == 0)
        return explain_little();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grows_with_input),
        cmocka_unit_test(test_restarts),
        cmocka_unit_test(test_big),
        cmocka_unit_test(test_explain),
        cmocka_unit_test(test_explain_one_large),
        cmocka_unit_test(test_started_by_a_large_process),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

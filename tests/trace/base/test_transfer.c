#include "trace/base/transfer.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/harness.h"
#include "trace/base/clock.h"

enum { MOST = 1 << 24 }; /* more than a socket takes */

static uint64_t after_ms(uint64_t ms)
{
    return clock_ns() + ms * 1000000u;
}

static void test_all_bytes(void **state)
{
    (void)state;
    int ends[2];
    char text[4] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(transfer_write(ends[0], "ab", 2, TRANSFER_NO_LIMIT));
    assert_true(transfer_write(ends[0], "c", 1, after_ms(10000)));
    assert_true(transfer_read(ends[1], text, 3, after_ms(10000)));
    assert_string_equal(text, "abc");
    assert_true(transfer_read(ends[1], text, 0, 0));
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    assert_true(transfer_write(ends[1], "xyz", 3, TRANSFER_NO_LIMIT));
    assert_true(transfer_read(ends[0], text, 3, TRANSFER_NO_LIMIT));
    assert_string_equal(text, "xyz");
    close(ends[0]);
    close(ends[1]);
}

static void test_time_limits(void **state)
{
    (void)state;
    int ends[2];
    char byte, *much = calloc(1, MOST);
    assert_non_null(much);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_false(transfer_read(ends[1], &byte, 1, after_ms(1)));
    assert_false(transfer_write(ends[0], much, MOST, after_ms(1)));
    close(ends[0]);
    close(ends[1]);
    free(much);
}

static void test_other_end_closes(void **state)
{
    (void)state;
    int ends[2];
    char text[4];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    assert_true(transfer_write(ends[0], "ab", 2, TRANSFER_NO_LIMIT));
    close(ends[0]);
    assert_false(transfer_read(ends[1], text, 3, TRANSFER_NO_LIMIT));
    assert_false(transfer_write(ends[1], "ab", 2, TRANSFER_NO_LIMIT)); /* and no signal */
    close(ends[1]);
    assert_false(transfer_read(ends[1], text, 1, TRANSFER_NO_LIMIT));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_bytes),
        cmocka_unit_test(test_time_limits),
        cmocka_unit_test(test_other_end_closes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

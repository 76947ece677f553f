#include "tests/harness.h"
#include "trace/base/md5.h"

/* The messages of RFC 1321, A.5. */
static const struct {
    const char *message, *hex;
} rfc1321[] = {
    { "", "d41d8cd98f00b204e9800998ecf8427e" },
    { "a", "0cc175b9c0f1b6a831c399e269772661" },
    { "abc", "900150983cd24fb0d6963f7d28e17f72" },
    { "message digest", "f96b697d7cb7938d525a2f31aaf161d0" },
    { "abcdefghijklmnopqrstuvwxyz", "c3fcd3d76192e4007dfb496cca67e13b" },
    { "12345678901234567890123456789012345678901234567890123456789012345678901234567890",
      "57edf4a22be3c955ac49da2e2107b67a" },
};

static void check_digest(struct md5 *md5, const char *expected)
{
    struct err err = ERR_INIT;
    unsigned char digest[MD5_BYTES];
    char hex[MD5_HEX];
    assert_true(md5_final(md5, digest, &err));
    md5_hex(digest, hex);
    assert_str_is(((struct str){ hex, MD5_HEX }), expected);
}

static void test_one_context_for_all_messages(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct md5 md5;
    assert_true(md5_init(&md5, &err));
    for (size_t i = 0; i < sizeof rfc1321 / sizeof *rfc1321; i++) {
        md5_update(&md5, str_of(rfc1321[i].message));
        check_digest(&md5, rfc1321[i].hex);
    }
    md5_release(&md5);
}

static void test_in_pieces(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct md5 md5;
    struct str text = str_of(rfc1321[5].message);
    assert_true(md5_init(&md5, &err));
    for (size_t i = 0; i < text.n; i++)
        md5_update(&md5, str_first(str_from(text, i), 1));
    md5_update(&md5, (struct str){ NULL, 0 });
    check_digest(&md5, rfc1321[5].hex);
    md5_release(&md5);
}

static void test_release_twice(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct md5 md5;
    assert_true(md5_init(&md5, &err));
    md5_release(&md5);
    md5_release(&md5);
    assert_null(md5.context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_context_for_all_messages),
        cmocka_unit_test(test_in_pieces),
        cmocka_unit_test(test_release_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

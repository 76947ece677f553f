#include "tests/harness.h"
#include "trace/base/sha256.h"

static void check_hex(const unsigned char digest[SHA256_BYTES], const char *expected)
{
    char hex[2 * SHA256_BYTES + 1];
    for (int i = 0; i < SHA256_BYTES; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    assert_string_equal(hex, expected);
}

/* The examples of FIPS 180-4. */
static void test_digests(void **state)
{
    (void)state;
    unsigned char digest[SHA256_BYTES];
    sha256(STR(""), digest);
    check_hex(digest, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256(STR("abc"), digest);
    check_hex(digest, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256(STR("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"), digest);
    check_hex(digest, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* Test cases 1, 2 and 4 of RFC 4231. */
static void test_keyed_digests(void **state)
{
    (void)state;
    unsigned char digest[SHA256_BYTES];
    hmac_sha256(
        STR("\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b\x0b"),
        STR("Hi There"), digest);
    check_hex(digest, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    hmac_sha256(STR("Jefe"), STR("what do ya want for nothing?"), digest);
    check_hex(digest, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    char message[50];
    memset(message, 0xcd, sizeof message);
    hmac_sha256(
        STR("\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19"),
        (struct str){ message, sizeof message }, digest);
    check_hex(digest, "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b");
}

static void test_stream(void **state)
{
    (void)state;
    unsigned char whole[SHA256_BYTES], pieces[SHA256_BYTES];
    struct sha256_stream stream;
    char message[1000];
    memset(message, 0x5a, sizeof message);
    sha256((struct str){ message, sizeof message }, whole);
    sha256_begin(&stream);
    sha256_add(&stream, (struct str){ message, 1 });
    sha256_add(&stream, STR(""));
    sha256_add(&stream, (struct str){ message + 1, 600 });
    sha256_add(&stream, (struct str){ message + 601, 399 });
    sha256_end(&stream, pieces);
    assert_memory_equal(whole, pieces, SHA256_BYTES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_digests),
        cmocka_unit_test(test_stream),
        cmocka_unit_test(test_keyed_digests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

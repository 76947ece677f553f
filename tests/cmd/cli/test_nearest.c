#include "cmd/cli/nearest.h"

#include "tests/harness.h"

static struct str nearest_to(const char *word)
{
    static const char *const names[] = { "import", "export", "info", "show", "profile", "version" };
    struct nearest search = nearest_of(str_of(word));
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        nearest_offer(&search, str_of(names[i]));
    return search.best;
}

static void test_typos_find_their_word(void **state)
{
    (void)state;
    assert_str_is(nearest_to("improt"), "import");
    assert_str_is(nearest_to("inof"), "info");
    assert_str_is(nearest_to("profiel"), "profile");
    assert_str_is(nearest_to("profil"), "profile");
    assert_str_is(nearest_to("expotr"), "export");
    assert_str_is(nearest_to("ver"), "version");
    assert_str_is(nearest_to("show"), "show");
}

static void test_other_words_find_nothing(void **state)
{
    (void)state;
    char longest[200];
    memset(longest, 'i', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_str_is(nearest_to(""), "");
    assert_str_is(nearest_to("q"), "");
    assert_str_is(nearest_to("replay"), "");
    assert_str_is(nearest_to(longest), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_typos_find_their_word),
        cmocka_unit_test(test_other_words_find_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

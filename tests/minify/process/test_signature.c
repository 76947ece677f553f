#include "minify/process/signature.h"

#include "tests/harness.h"

static void same(const char *message, const char *expected, const char *regex)
{
    struct buf out = BUF_INIT;
    signature_normalise(str_of(message), &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p, expected);
    buf_clear(&out);
    signature_regex(str_of(message), &out);
    buf_putc(&out, '\0');
    assert_string_equal(out.p, regex);
    buf_release(&out);
}

static void test_numbers_and_symbols(void **state)
{
    (void)state;
    same("Cannot view a tensor with shape torch.Size([s43, s53, 32]) and strides (32, 32*s43, 1)!",
         "Cannot view a tensor with shape torch.SizeN and strides N!",
         "Cannot view a tensor with shape torch\\.Size.* and strides .*!");
    same("Could not guard on u12 > 8.5 (unhinted: u12 > 8.5). (Size-like symbols: none)",
         "Could not guard on N (unhinted: N). (Size-like symbols: none)",
         "Could not guard on .* \\(unhinted: .*\\)\\. \\(Size-like symbols: none\\)");
    same("size s and step_2 stay, 3 and (s4 go", "size s and step_2 stay, N and (N go",
         "size s and step_2 stay, .* and \\(.* go");
    same("got [2*s53 + Max(0, 2*CeilToInt(IntTrueDiv(s53, 2)) + 1), s53] X [7, 7]", "got N X N",
         "got .* X .*");
    same("Not (3) Max 4 TruncToIntx", "Not N Max N TruncToIntx", "Not .* Max .* TruncToIntx");
    same("Eq(Mod(s27, 7), 0) - x", "N - x", ".* - x");
}

static void test_places(void **state)
{
    (void)state;
    same("\n  in \"/home/user/model.py\"   line 3 \nmore", "in \"model.py\" line N",
         "in \\\"\\S*?model\\.py\\\" +line .*");
    same("a / b", "a / b", "a / b");
    same("bad (L['x'].size()[1])!", "bad (NN)!", "bad \\(.*.*\\)!");
    same("G['a b'].weight.data is L[x]", "N is L[x]", ".* is L\\[x\\]");
    same("L['x", "L['x", "L\\['x");
    same("", "", "");
}

/* Dynamo: got ValueError('None, \'trunc\' but found a\rb"c"\\d'). */
static void test_what_repr_escapes(void **state)
{
    (void)state;
    same("None, 'trunc' but found a\rb\"c\"\\d\x1b", "None, 'trunc' but found a b\"c\"\\d\x1b",
         "None, \\\\?'trunc\\\\?' but found a.*b\\\"c\\\"\\\\+d.*");
    same("either 'one'\tkind", "either 'one' kind", "either 'one'.*kind");
    same("either \"one\" kind  of", "either \"one\" kind of", "either \\\"one\\\" kind +of");
}

static void test_expressions(void **state)
{
    (void)state;
    struct buf out = BUF_INIT;
    signature_expr_regex(STR("Ne(Mod(s27, 7), 0)"), &out);
    assert_str_is(buf_str(&out), "Ne\\(Mod\\(\\w+, 7\\), 0\\)");
    buf_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_and_symbols),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_what_repr_escapes),
        cmocka_unit_test(test_expressions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

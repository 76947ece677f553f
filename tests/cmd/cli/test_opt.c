#include "cmd/cli/opt.h"

#include "tests/harness.h"

struct args {
    bool json, quiet;
    const char *output, *events, *format;
    struct opt_number limit, vs;
    struct opt_sizes sizes;
    struct opt_list pythons;
};

static const struct opt options[] = {
    OPT_STRING('o', "output", "TAPE", struct args, output, "write the tape here",
               .old = "to|destination"),
    OPT_OPTIONAL(0, "events", "NAME", struct args, events, "every record"),
    OPT_CHOICE(0, "format", "text|json|folded", struct args, format, "what to print"),
    OPT_NUMBER('n', "limit", "N", struct args, limit, "at most N"),
    OPT_FLAG('j', "json", struct args, json, "print one JSON object"),
    OPT_SPLIT(0, "vs", struct args, vs, "the other side"),
    OPT_SIZES(0, "sizes", "SIZE[,SIZE...]|FILE", struct args, sizes, "sizes", .old = "set"),
    OPT_LIST('p', "python", "NAME=PYTHON", struct args, pythons, "one of several"),
    OPT_END,
};

static const struct opt more_options[] = {
    OPT_FLAG('q', "quiet", struct args, quiet, "print errors only", .old = "silent"),
    OPT_END,
};

/* One command line, parsed. */
struct parsed {
    struct args args;
    struct opt_target targets[2];
    struct opt_parse parse;
    struct err err;
    bool ok;
};

static void parse_words(struct parsed *p, bool options_first, const char *const *words)
{
    int n = 0;
    while (words[n])
        n++;
    *p = (struct parsed){ .parse.options_first = options_first };
    p->targets[0] = (struct opt_target){ options, &p->args };
    p->targets[1] = (struct opt_target){ more_options, &p->args };
    p->parse.targets = p->targets;
    p->parse.n_targets = 2;
    p->ok = opt_parse(&p->parse, n, words, &p->err);
}

#define PARSE(p, ...)       parse_words((p), false, (const char *const[]){ __VA_ARGS__, NULL })
#define PARSE_FIRST(p, ...) parse_words((p), true, (const char *const[]){ __VA_ARGS__, NULL })

static void assert_operands(struct parsed *p, size_t n, const char *const *words)
{
    assert_no_err(&p->err);
    assert_true(p->ok);
    assert_int_equal(p->parse.operands.n, n);
    for (size_t i = 0; i < n; i++)
        assert_string_equal(p->parse.operands.v[i], words[i]);
    assert_null(p->parse.operands.v[n]);
}
#define OPERANDS(p, n, ...) assert_operands((p), (n), (const char *const[]){ __VA_ARGS__, NULL })

static void test_every_spelling_of_a_value(void **state)
{
    (void)state;
    static const char *const lines[][4] = {
        { "-o", "a.tape" },    { "-oa.tape" },      { "--output", "a.tape" },
        { "--output=a.tape" }, { "-jo", "a.tape" }, { "-qjoa.tape" },
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        struct parsed p;
        parse_words(&p, false, lines[i]);
        assert_no_err(&p.err);
        assert_string_equal(p.args.output, "a.tape");
        opt_release(&p.parse);
    }
}

static void test_operands_and_options_mix(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "a", "-j", "-", "-n", "3", "--", "-o", "--json");
    OPERANDS(&p, 4, "a", "-", "-o", "--json");
    assert_true(p.args.json);
    assert_true(p.args.limit.given);
    assert_int_equal(p.args.limit.value, 3);
    assert_null(p.args.output);
    opt_release(&p.parse);
}

static void test_the_first_operand_may_end_the_options(void **state)
{
    (void)state;
    struct parsed p;
    PARSE_FIRST(&p, "-o", "t", "python", "-j", "--", "train.py");
    OPERANDS(&p, 4, "python", "-j", "--", "train.py");
    assert_false(p.args.json);
    opt_release(&p.parse);
    PARSE_FIRST(&p, "-j", "--", "-odd-name", "-q");
    OPERANDS(&p, 2, "-odd-name", "-q");
    assert_true(p.args.json);
    assert_false(p.args.quiet);
    opt_release(&p.parse);
}

static void test_flags_are_negated(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--json", "--no-json", "--quiet");
    assert_no_err(&p.err);
    assert_false(p.args.json);
    assert_true(p.args.quiet);
    opt_release(&p.parse);
    PARSE(&p, "--no-output");
    assert_err(&p.err, ERR_USAGE, "unknown option --no-output");
    opt_release(&p.parse);
}

static void test_older_spellings_go_on_working(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--to", "a.tape", "--silent");
    assert_no_err(&p.err);
    assert_string_equal(p.args.output, "a.tape");
    assert_true(p.args.quiet);
    opt_release(&p.parse);
    PARSE(&p, "--output=a.tape", "--destination=b.tape", "--quiet", "--no-silent");
    assert_no_err(&p.err);
    assert_string_equal(p.args.output, "b.tape");
    assert_false(p.args.quiet);
    opt_release(&p.parse);
    PARSE(&p, "--destination");
    assert_err(&p.err, ERR_USAGE, "--output needs a value: TAPE");
    opt_release(&p.parse);
    PARSE(&p, "--destinatio", "x");
    assert_err(&p.err, ERR_USAGE, "unknown option --destinatio");
    opt_release(&p.parse);
}

static void test_sizes_are_text_or_a_file(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--sizes", "s77=31,8", "--set", "sizes.txt", "--set=s27=8");
    assert_no_err(&p.err);
    assert_string_equal(p.args.sizes.text, "s27=8");
    assert_string_equal(p.args.sizes.file, "sizes.txt");
    opt_release(&p.parse);
    PARSE(&p, "--sizes=./a=b", "--sizes=");
    assert_no_err(&p.err);
    assert_string_equal(p.args.sizes.text, "");
    assert_string_equal(p.args.sizes.file, "./a=b");
    opt_release(&p.parse);
}

static void test_a_list_has_a_value_each_time(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--python", "2.9=a", "x", "--python=2.10=b", "-pc");
    assert_no_err(&p.err);
    assert_int_equal(p.args.pythons.n, 3);
    assert_string_equal(p.args.pythons.v[0], "2.9=a");
    assert_string_equal(p.args.pythons.v[1], "2.10=b");
    assert_string_equal(p.args.pythons.v[2], "c");
    assert_true(opt_is_given(opt_find(options, "python"), &p.args));
    opt_release(&p.parse);
    PARSE(&p, "--python");
    assert_err(&p.err, ERR_USAGE, "--python needs a value: NAME=PYTHON");
    opt_release(&p.parse);
    const char *words[OPT_LIST_MAX + 2] = { NULL };
    for (size_t i = 0; i <= OPT_LIST_MAX; i++)
        words[i] = "-p1";
    parse_words(&p, false, words);
    assert_err(&p.err, ERR_USAGE, "--python can be given at most 256 times");
    opt_release(&p.parse);
}

static void test_what_was_given_can_be_asked(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--to", "a.tape", "--limit", "0", "--set", "s77=1", "--json", "--no-json");
    assert_no_err(&p.err);
    assert_true(opt_is_given(opt_find(options, "output"), &p.args));
    assert_true(opt_is_given(opt_find(options, "limit"), &p.args));
    assert_true(opt_is_given(opt_find(options, "sizes"), &p.args));
    assert_false(opt_is_given(opt_find(options, "json"), &p.args));
    assert_false(opt_is_given(opt_find(options, "events"), &p.args));
    assert_false(opt_is_given(opt_find(options, "format"), &p.args));
    assert_false(opt_is_given(opt_find(options, "vs"), &p.args));
    assert_false(opt_is_given(opt_find(options, "python"), &p.args));
    assert_null(opt_find(options, "to"));
    opt_release(&p.parse);
}

static void test_a_split_counts_the_operands_before_it(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "a", "-j", "b", "--vs", "c", "d");
    OPERANDS(&p, 4, "a", "b", "c", "d");
    assert_true(p.args.vs.given);
    assert_int_equal(p.args.vs.value, 2);
    opt_release(&p.parse);
    PARSE(&p, "a", "b");
    assert_false(p.args.vs.given);
    opt_release(&p.parse);
    PARSE(&p, "a", "--vs=b");
    assert_false(p.ok);
    assert_err(&p.err, ERR_USAGE, "--vs takes no value");
    opt_release(&p.parse);
}

static void test_an_optional_value_never_swallows_the_operand(void **state)
{
    (void)state;
    struct parsed p;
    PARSE(&p, "--events", "tape");
    OPERANDS(&p, 1, "tape");
    assert_string_equal(p.args.events, "");
    opt_release(&p.parse);
    PARSE(&p, "tape", "--events", "create_symbol");
    OPERANDS(&p, 1, "tape");
    assert_string_equal(p.args.events, "create_symbol");
    opt_release(&p.parse);
    PARSE(&p, "tape", "--events", "-j");
    OPERANDS(&p, 1, "tape");
    assert_string_equal(p.args.events, "");
    assert_true(p.args.json);
    opt_release(&p.parse);
    PARSE(&p, "--events=artifact", "tape");
    OPERANDS(&p, 1, "tape");
    assert_string_equal(p.args.events, "artifact");
    opt_release(&p.parse);
}

static void test_mistakes_are_told(void **state)
{
    (void)state;
    static const struct {
        const char *words[3];
        const char *error;
    } cases[] = {
        { { "--jsn" }, "unknown option --jsn; did you mean --json?" },
        { { "--fromat=text" }, "did you mean --format?" },
        { { "--quie" }, "did you mean --quiet?" },
        { { "--zzz" }, "unknown option --zzz" },
        { { "-x" }, "unknown option -x" },
        { { "-jx" }, "unknown option -x" },
        { { "--output" }, "--output needs a value: TAPE" },
        { { "-o" }, "-o needs a value: TAPE" },
        { { "--json=1" }, "--json takes no value" },
        { { "--format", "tex" }, "--format: \"tex\" is not one of text|json|folded" },
        { { "--format=" }, "is not one of" },
        { { "--limit", "-1" }, "--limit: \"-1\" is not a whole number" },
        { { "--limit", "18446744073709551616" }, "is not a whole number below 2^64" },
        { { "--limit=" }, "is not a whole number" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct parsed p;
        parse_words(&p, false, cases[i].words);
        assert_false(p.ok);
        assert_err(&p.err, ERR_USAGE, cases[i].error);
        opt_release(&p.parse);
    }
}

static void test_choices(void **state)
{
    (void)state;
    struct parsed p;
    const char *rest = "text|json|folded";
    PARSE(&p, "--format", "folded");
    assert_no_err(&p.err);
    assert_string_equal(p.args.format, "folded");
    opt_release(&p.parse);
    assert_str_is(opt_next_word(&rest), "text");
    assert_str_is(opt_next_word(&rest), "json");
    assert_str_is(opt_next_word(&rest), "folded");
    assert_str_is(opt_next_word(&rest), "");
}

static void test_help_fits_80_columns(void **state)
{
    (void)state;
    static const struct opt wide[] = {
        OPT_STRING('o', "output", "TAPE", struct args, output, "short", .old = "to"),
        OPT_STRING(0, "a-very-long-option-name-indeed", "VALUE", struct args, events,
                   "a help text that goes on and on, so that it has to be folded at least once "
                   "before it comes to its end"),
        OPT_CHOICE(0, "choice",
                   "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|more",
                   struct args, events, "which"),
        OPT_END,
    };
    struct buf text = BUF_INIT;
    opt_help(wide, 80, &text);
    assert_str_is(buf_str(&text),
                  "  -o, --output TAPE         short\n"
                  "      --a-very-long-option-name-indeed VALUE\n"
                  "                            a help text that goes on and on, so that it has to\n"
                  "                            be folded at least once before it comes to its end\n"
                  "      --choice one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\n"
                  "               more\n"
                  "                            which\n");
    buf_release(&text);
}

static bool parse_once(void *arg)
{
    (void)arg;
    struct parsed p;
    PARSE(&p, "a", "b", "c", "-j");
    bool ok = p.ok;
    opt_release(&p.parse);
    return ok;
}

static void test_allocations_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(parse_once, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_spelling_of_a_value),
        cmocka_unit_test(test_operands_and_options_mix),
        cmocka_unit_test(test_the_first_operand_may_end_the_options),
        cmocka_unit_test(test_flags_are_negated),
        cmocka_unit_test(test_older_spellings_go_on_working),
        cmocka_unit_test(test_sizes_are_text_or_a_file),
        cmocka_unit_test(test_a_list_has_a_value_each_time),
        cmocka_unit_test(test_what_was_given_can_be_asked),
        cmocka_unit_test(test_a_split_counts_the_operands_before_it),
        cmocka_unit_test(test_an_optional_value_never_swallows_the_operand),
        cmocka_unit_test(test_mistakes_are_told),
        cmocka_unit_test(test_choices),
        cmocka_unit_test(test_help_fits_80_columns),
        cmocka_unit_test(test_allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

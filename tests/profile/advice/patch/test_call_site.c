#include "profile/advice/patch/call_site.h"
#include "tests/profile/made.h"

#define FUNCTION "def f(a, b=3, *, mask=None):\n    return a\n"
#define METHOD   "@decorated\ndef f(self, a: int = max(1, 2), b=(1, 2)):\n    return a\n"

/* Checks what is marked for a source at the last line of a program; "" if no place is certain. */
static void check(const char *program, const char *source, const char *expected)
{
    struct program_lines lines = { 0 };
    struct call_site site;
    struct buf out = BUF_INIT;
    assert_true(program_lines_read(&lines, str_of(program)));
    const struct call_place place = { STR("f"), 1, (uint32_t)lines.v.n };
    bool ok = call_site_read(&lines, place, &site) && call_site_put(&site, str_of(source), &out);
    if (ok != (*expected != 0) || !str_is(buf_str(&out), expected))
        fail_msg("%s for %s: %.*s", program, source, STR_ARG(buf_str(&out)));
    if (ok)
        assert_true(str_is(site.space, "    "));
    buf_release(&out);
    program_lines_release(&lines);
}

static void test_arguments(void **state)
{
    (void)state;
    check(FUNCTION "    out = g(x, y)\n", "L['a']", "x");
    check(FUNCTION "    out = g(x, y)\n", "L['b']", "y");
    check(FUNCTION "    out, more = o.g(x, mask=y)  # call\n", "L['mask'].ids", "y.ids");
    check(FUNCTION "    g(x, y,)\n", "L['b'][1]", "y[1]");
    check(FUNCTION "    return g(b=x, a=y)\n", "L['a']['k']", "y['k']");
    check(METHOD "    out = g(x, y)\n", "L['a']", "x");
    check(METHOD "    out = g(x, y)\n", "L['b']", "y");
}

/* Where it is not certain what is passed, nothing is marked. */
static void test_no_place(void **state)
{
    (void)state;
    check(FUNCTION "    out = g(x, y)\n", "L['c']", "");
    check(FUNCTION "    out = g(x, y)\n", "L['mask']", "");
    check(FUNCTION "    out = g(x, y)\n", "G['a']", "");
    check(FUNCTION "    out = g(x, y)\n", "L['a'].__dict__['k']", "");
    check(FUNCTION "    out = g(x, y, z)\n", "L['mask']", "");
    check(FUNCTION "    out = g(x + 1, y)\n", "L['b']", "");
    check(FUNCTION "    out = g(*x)\n", "L['a']", "");
    check(FUNCTION "    out = g(None)\n", "L['a']", "");
    check(FUNCTION "    out = g(h(x))\n", "L['a']", "");
    check(FUNCTION "    out = g(x) + 1\n", "L['a']", "");
    check(FUNCTION "    out += g(x)\n", "L['a']", "");
    check(FUNCTION "    if g(x): pass\n", "L['a']", "");
    check(FUNCTION "    out = [\n    g(x)\n", "L['a']", "");
    check(FUNCTION "    '''\n    g(x)\n", "L['a']", "");
    check(FUNCTION "    out = 2 + \\\n    g(x)\n", "L['a']", "");
    check("def f(*args):\n    pass\n    g(x)\n", "L['args'][0]", "");
    check("def f(a,\n      b):\n    pass\n    g(x)\n", "L['a']", "");
    check("f = lambda a: a\n    g(x)\n", "L['a']", "");
    check("def f(a): g(x)\n", "L['a']", "");
}

/* Brackets and quotes in strings and comments open nothing. */
static void test_statements(void **state)
{
    (void)state;
    check(FUNCTION "    s = '(' + \"[\" + 'it\\'s {' # (\n    out = g(x)\n", "L['a']", "x");
    check(FUNCTION "    s = '''(\n\\''' \"\n    out = g(x)\n", "L['a']", "");
    check(FUNCTION "    s = \"\"\"it's (\n\"\"\"\n    out = g(x)\n", "L['a']", "x");
    check(FUNCTION "    s = h(\n        1)\n    out = g(x)\n", "L['a']", "x");
}

/* ---- In a recording ---- */

#define START(frame, line, name, loc, first)                                 \
    "\"dynamo_start\": {\"stack\": [{\"line\": " #line ", \"name\": \"" name \
    "\", \"filename\": 1, \"loc\": \"" loc                                   \
    "\"}, {\"line\": 7, \"name\": \"wrapper\", \"filename\": "               \
    "4, \"loc\": \"fn(*args)\"}, {\"line\": " #first ", \"name\": \"" frame  \
    "\", \"filename\": 1}]}"

static const char PROGRAM[] = "def f(a):\n    return a\ndef g(b):\n    return b\n"
                              "x = 1\ny = 2\nout = F(x)\nout = G(y)\nout = G(x)\n";

static void put_compile(struct log_make *log, const char *context, const char *start)
{
    log->context = context;
    log_put(log, start, NULL);
}

/* Returns whether the call of the first of two functions is found in the program. */
static bool is_found(const char *first, const char *second, const char *file, const char *wrapper)
{
    struct log_make log = log_start();
    struct program_lines lines = { 0 };
    struct call_site site;
    made_strings(&log);
    log_put(&log, wrapper, NULL);
    put_compile(&log, LOG_COMPILE(0, 0, 0), first);
    put_compile(&log, LOG_COMPILE(1, 0, 0), second);
    struct made made = made_profile(&log, &(struct profile_options){ 0 });
    assert_true(program_lines_read(&lines, STR(PROGRAM)));
    assert_int_equal(made.profile->n_compiles, 2);
    bool ret = call_site_find(made.profile, 0, str_of(file), &lines, &site);
    if (ret)
        assert_int_equal(site.line, 6);
    program_lines_release(&lines);
    made_drop(&made);
    return ret;
}

static void test_recorded(void **state)
{
    (void)state;
    static const char F[] = START("f", 7, "<module>", "out = F(x)", 1);
    static const char G[] = START("g", 8, "<module>", "out = G(y)", 3);
    static const char SAME[] = START("g", 9, "<module>", "out = G(x)", 3);
    static const char OTHER[] = START("f", 7, "<module>", "out = F(y)", 1);
    static const char INSIDE[] = START("f", 7, "g", "out = F(x)", 1);
    static const char DYNAMO[] = "\"str\": [\"/env/torch/_dynamo/eval_frame.py\", 4]";
    static const char CHECKPOINT[] = "\"str\": [\"/env/torch/utils/checkpoint.py\", 4]";
    assert_true(is_found(F, G, "/u/zoo/model.py", DYNAMO));
    assert_false(is_found(F, G, "/u/zoo/other.py", DYNAMO));
    /* What passes the arguments on may pass others. */
    assert_false(is_found(F, G, "/u/zoo/model.py", CHECKPOINT));
    assert_false(is_found(F, SAME, "/u/zoo/model.py", DYNAMO));
    assert_false(is_found(OTHER, G, "/u/zoo/model.py", DYNAMO));
    assert_false(is_found(INSIDE, G, "/u/zoo/model.py", DYNAMO));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_no_place),
        cmocka_unit_test(test_statements),
        cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

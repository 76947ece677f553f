#include "tests/harness.h"
#include "trace/tape/stacks.h"

#define OUTER "{\"line\": 143, \"name\": \"<module>\", \"filename\": 1, \"loc\": \"o = f(*x)\"}"
#define INNER "{\"line\": 7, \"name\": \"f\", \"filename\": 2, \"loc\": \"return x\"}"
#define OTHER "{\"line\": 8, \"name\": \"f\", \"filename\": 2, \"loc\": \"return y\"}"

static struct intern strings;
static struct stack_table table;

static int begin(void **state)
{
    (void)state;
    return stacks_init(&table, &strings) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    stacks_release(&table);
    intern_release(&strings);
    return 0;
}

/* The node of a text that is a stack from its start to its end. */
static uint32_t read_whole(const char *text, uint32_t root)
{
    struct err err = ERR_INIT;
    uint32_t node = UINT32_MAX;
    size_t used;
    struct str s = str_of(text);
    if (!stacks_read(&table, root, s, &node, &used, &err))
        fail_msg("not read: %s", text);
    assert_int_equal(used, s.n);
    assert_no_err(&err);
    return node;
}

static void check_print(uint32_t node, const char *expected)
{
    struct buf out = BUF_INIT;
    stacks_print(&table, node, SIZE_MAX, &out);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_trie(void **state)
{
    (void)state;
    uint32_t outer = read_whole("[" OUTER "]", 0);
    uint32_t inner = read_whole("[" OUTER ", " INNER "]", 0);
    uint32_t other = read_whole("[" OUTER ", " OTHER "]", 0);
    assert_int_equal(read_whole("[" OUTER ", " INNER "]", 0), inner);
    assert_int_equal(table.nodes.v[inner].parent, outer);
    assert_int_equal(table.nodes.v[other].parent, outer);
    assert_int_equal(table.nodes.v[other].depth, 2);
    assert_int_equal(table.nodes.n, 4);
    assert_int_equal(table.frames.n, 3);
    /* the same frame below another caller is the same frame and another node */
    uint32_t alone = read_whole("[" INNER "]", 0);
    assert_int_not_equal(alone, inner);
    assert_int_equal(table.nodes.v[alone].frame, table.nodes.v[inner].frame);
    assert_int_equal(table.frames.n, 3);
    check_print(inner, "[" OUTER ", " INNER "]");
    check_print(alone, "[" INNER "]");
}

static void test_fields(void **state)
{
    (void)state;
    uint32_t node = read_whole("[" INNER "]", 0);
    const struct stack_frame_row *row = &table.frames.v[table.nodes.v[node].frame];
    assert_int_equal(row->line, 7);
    assert_int_equal(row->file, 2);
    assert_str_is(intern_text(&strings, row->name), "f");
    assert_str_is(intern_text(&strings, row->loc), "return x");
}

/* Older logs have no loc, dynamo_start's last frame has none either, and torch writes null too. */
static void test_forms(void **state)
{
    (void)state;
    static const char *const stacks[] = {
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 1, \"loc\": null}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 1, \"loc\": \"\"}]",
        "[{\"line\": 0, \"name\": \"\", \"filename\": -1, \"loc\": \"\"}]",
        "[{\"line\": 4294967295, \"name\": \"x\", \"filename\": 2147483647, \"loc\": \"x\"}]",
        ("[{\"line\": 1, \"name\": \"\\\"\\\\\", \"filename\": 1, \"loc\": \"\\ud800 \\u00e9 "
         "\\\\\"}]"),
        "[{\"line\": 1, \"name\": \"x\xFF\xFE\", \"filename\": 1, \"loc\": \"\xC3\"}]",
    };
    for (size_t i = 0; i < sizeof stacks / sizeof *stacks; i++)
        check_print(read_whole(stacks[i], 0), stacks[i]);
    assert_int_equal(table.frames.n, sizeof stacks / sizeof *stacks);
    assert_int_equal(table.frames.v[0].loc, LOC_ABSENT);
    assert_int_equal(table.frames.v[1].loc, LOC_NULL);
    assert_int_equal(table.frames.v[3].file, -1);
}

static void check_refused(struct str text)
{
    struct err err = ERR_INIT;
    uint32_t node;
    size_t used = 1;
    if (stacks_read(&table, 0, text, &node, &used, &err))
        fail_msg("read: %.*s", STR_ARG(str_first(text, 200)));
    assert_int_equal(used, 0);
    assert_no_err(&err);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "",
        "[",
        "[]",
        "[" OUTER,
        "[" OUTER ",",
        "[" OUTER "," INNER "]",
        "[" OUTER ", ]",
        "[ " OUTER "]",
        "[{\"name\": \"x\", \"line\": 1, \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"x\", \"loc\": \"y\", \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 1, \"more\": 1}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 1, \"loc\": 5}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": \"a.py\"}]",
        "[{\"line\": 01, \"name\": \"x\", \"filename\": 1}]",
        "[{\"line\": -1, \"name\": \"x\", \"filename\": 1}]",
        "[{\"line\": 1.0, \"name\": \"x\", \"filename\": 1}]",
        "[{\"line\": 4294967296, \"name\": \"x\", \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": -0}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": -2}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 2147483648}]",
        "[{\"line\": 1, \"name\": \"x\\\", \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"x\ty\", \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"\x01\", \"filename\": 1}]",
        "[{\"line\": 1, \"name\": \"x\", \"filename\": 1, \"loc\": \"\x02\"}]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_refused(str_of(texts[i]));
    check_refused(STR("[{\"line\": 1, \"name\": \"\0\", \"filename\": 1}]"));
    assert_int_equal(table.nodes.n, 2); /* OUTER, of the broken ones */
}

/* A tape's row may not be longer: such a frame stays text. */
static void test_long_frame(void **state)
{
    (void)state;
    struct buf text = BUF_INIT;
    buf_puts(&text, "[{\"line\": 1, \"name\": \"");
    for (int i = 0; i < 70000; i++)
        buf_putc(&text, 'n');
    buf_puts(&text, "\", \"filename\": 1}]");
    check_refused(buf_str(&text));
    buf_release(&text);
}

/* Deep, and wide enough for the table to grow. */
static void test_many(void **state)
{
    (void)state;
    struct buf deep = BUF_INIT;
    uint32_t nodes[1000];
    for (unsigned i = 0; i < 1000; i++) {
        char text[100];
        snprintf(text, sizeof text, "[{\"line\": %u, \"name\": \"f\", \"filename\": 1}]", i);
        nodes[i] = read_whole(text, 0);
        buf_puts(&deep, i ? ", " : "[");
        buf_put(&deep, (struct str){ text + 1, strlen(text) - 2 });
    }
    buf_puts(&deep, "]");
    buf_putc(&deep, '\0');
    uint32_t bottom = read_whole(deep.p, 0);
    assert_int_equal(table.nodes.v[bottom].depth, 1000);
    assert_int_equal(table.frames.n, 1000);
    check_print(bottom, deep.p);
    for (uint32_t i = 1; i < 1000; i++)
        assert_int_not_equal(nodes[i], nodes[i - 1]);
    assert_int_equal(read_whole(deep.p, 0), bottom);
    buf_release(&deep);
}

/* Processes that share a log: equal texts, different files. */
static void test_spaces(void **state)
{
    (void)state;
    uint32_t root = stacks_root(&table, 3);
    assert_int_equal(stacks_root(&table, 0), 0);
    assert_int_equal(stacks_root(&table, 3), root);
    uint32_t here = read_whole("[" INNER "]", 0), there = read_whole("[" INNER "]", root);
    assert_int_not_equal(here, there);
    assert_int_equal(table.nodes.v[here].space, 0);
    assert_int_equal(table.nodes.v[there].space, 3);
    assert_int_equal(table.nodes.v[there].depth, 1);
    check_print(there, "[" INNER "]");
    check_print(root, "[]");
}

/* Rows of a damaged tape: what they name need not exist. */
static void test_unknown(void **state)
{
    (void)state;
    check_print(0, "[]");
    check_print(99, "[]");
    assert_true(stacks_add_node(&table, 0, 5));
    check_print(1, "[{\"line\": 0, \"name\": \"\", \"filename\": 0}]");
    assert_true(stacks_add_frame(&table, (struct stack_frame_row){ 3, 70, 71, -1 }));
    assert_true(stacks_add_node(&table, 1, 0));
    check_print(2, "[{\"line\": 0, \"name\": \"\", \"filename\": 0}, "
                   "{\"line\": 3, \"name\": \"\", \"filename\": -1, \"loc\": \"\"}]");
    /* a root stands nowhere but at the top */
    assert_true(stacks_add_node(&table, 2, STACK_ROOT + 7));
    assert_int_equal(table.nodes.v[3].parent, 0);
    assert_int_equal(table.nodes.v[3].depth, 0);
}

static bool attempt(void *arg)
{
    struct intern texts = INTERN_INIT;
    struct stack_table stacks;
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    uint32_t node = 0;
    size_t used;
    bool ok = stacks_init(&stacks, &texts);
    if (ok) {
        ok = stacks_read(&stacks, 0, str_of(arg), &node, &used, &err);
        assert_true(ok || err.kind == ERR_ENV);
        stacks_print(&stacks, node, SIZE_MAX, &out);
        ok = ok && !out.failed && str_is(buf_str(&out), arg);
    }
    buf_release(&out);
    stacks_release(&stacks);
    intern_release(&texts);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    static char text[] = "[" OUTER ", " INNER "]";
    check_alloc_failures(attempt, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_trie, begin, end),
        cmocka_unit_test_setup_teardown(test_fields, begin, end),
        cmocka_unit_test_setup_teardown(test_forms, begin, end),
        cmocka_unit_test_setup_teardown(test_refused, begin, end),
        cmocka_unit_test_setup_teardown(test_long_frame, begin, end),
        cmocka_unit_test_setup_teardown(test_many, begin, end),
        cmocka_unit_test_setup_teardown(test_spaces, begin, end),
        cmocka_unit_test_setup_teardown(test_unknown, begin, end),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profile/report/fields.h"

#include "tests/harness.h"

struct place {
    struct str file;
    uint32_t line;
};

struct call {
    const char *op;
    uint64_t calls;
    int64_t ns, growth;
    double ratio;
    bool kept;
    struct place at;
    const struct place *caller;
};

static struct datum get_place(const void *context, const void *at)
{
    const struct place *place = at;
    (void)context;
    return datum_place(place->file, place->line, STR("x"));
}

/* Only where the context says so. */
static struct datum get_calls(const void *context, const void *at)
{
    return context ? get_u64(context, at) : datum_absent();
}

static void cell_twice(const void *context, const void *at, struct buf *out)
{
    const struct call *call = at;
    (void)context;
    if (call->op)
        buf_printf(out, "%s%s", call->op, call->op);
}

static void json_twice(const void *context, const void *at, struct json_writer *w, const char *key)
{
    struct buf text = BUF_INIT;
    cell_twice(context, at, &text);
    json_put_str(w, key, buf_str(&text));
    buf_release(&text);
}

static const struct field PLACE[] = {
    { "file", MEMBER(struct place, file) },
    { "line", MEMBER(struct place, line) },
    { NULL, .get = get_place, TEXT(5, "place", PATH, 0) },
};
static const struct fields PLACES = FIELDS_OF(PLACE);
static const struct field CALLER[] = {
    { "line", .get = get_place, IN_TABLE(1, 1, "called at", PATH, 0) },
};
static const struct fields CALLERS = FIELDS_OF(CALLER);

static const struct field CALL[] = {
    { "op", MEMBER(struct call, op), TEXT(2, "operator", WORD, 0) },
    { "calls", GET(get_calls, struct call, calls), TEXT(1, "calls", COUNT, 0),
      IN_TABLE(1, 4, "n", NUMBER, 0) },
    { "ns", GET(get_known_i64, struct call, ns), TEXT(3, "time", NS, 0) },
    { "growth", MEMBER(struct call, growth), IN_TABLE(1, 3, "growth", GROWTH, 0) },
    { "ratio", MEMBER(struct call, ratio), TEXT(4, "ratio", RATIO, 0) },
    { "kept", MEMBER(struct call, kept), IN_TABLE(1, 2, "kept", WORD, 0) },
    { "twice", .cell = cell_twice, .json = json_twice, TEXT(7, "twice", TEXT, 0) },
    { NULL, PART(PLACES, struct call, at) },
    { "caller", BEHIND(CALLERS, struct call, caller) },
};
static const struct fields CALLS_OF = FIELDS_OF(CALL);

#define LITERAL(text)            \
    {                            \
        (text), sizeof(text) - 1 \
    }

static const struct place HERE = { LITERAL("/u/zoo/model.py"), 7 };
static const struct call ROWS_OF[] = {
    { "mm", 1234, 5000, -2000, 1.5, true, { LITERAL("/u/zoo/a.py"), 3 }, &HERE },
    { NULL, 0, -1, 0, 0, false, { LITERAL(""), 0 }, NULL },
};

static bool is_kept(const void *context, const void *item)
{
    (void)context;
    return ((const struct call *)item)->kept;
}

static void assert_text(unsigned table, const struct rows *rows, uint32_t limit, uint32_t n,
                        const char *expected)
{
    struct text_table t;
    struct buf out = BUF_INIT;
    text_table_init(&t, &CALLS_OF, table);
    assert_int_equal(text_table_rows(&t, "", rows, limit), n);
    table_print(&t.table, &(struct table_layout){ 0 }, &out);
    assert_str_is(buf_str(&out), expected);
    table_release(&t.table);
    buf_release(&out);
}

static void test_places_in_text(void **state)
{
    (void)state;
    struct rows rows = ROWS(ROWS_OF, 2);
    assert_text(0, &rows, 0, 2,
                "calls  operator     time  ratio  place       twice\n"
                "1,234  mm        5.00 us   1.50  zoo/a.py:3  mmmm\n"
                "    -  -               -      -  -           -\n");
}

static void test_another_table(void **state)
{
    (void)state;
    struct rows rows = ROWS(ROWS_OF, 2);
    assert_text(1, &rows, 0, 2,
                "called at       kept    growth      n\n"
                "zoo/model.py:7  yes   -2.00 kB  1,234\n"
                "-               no           -      0\n");
}

static void test_rows(void **state)
{
    (void)state;
    static const uint32_t ORDER[] = { 1, 0 };
    struct rows rows = ROWS(ROWS_OF, 2);
    rows.order = ORDER;
    assert_text(1, &rows, 1, 2,
                "called at  kept  growth  n\n"
                "-          no         -  0\n");
    rows.wanted = is_kept;
    assert_text(1, &rows, 1, 1,
                "called at       kept    growth      n\n"
                "zoo/model.py:7  yes   -2.00 kB  1,234\n");
}

static void assert_json(const void *context, const struct rows *rows, uint32_t limit,
                        const char *expected)
{
    struct buf out = BUF_INIT;
    struct json_writer w = json_writer_of(&out);
    fields_json_rows(&w, NULL, &CALLS_OF, context, rows, limit);
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_json(void **state)
{
    (void)state;
    struct rows rows = ROWS(ROWS_OF, 2);
    assert_json(NULL, &rows, 0,
                "[{\"op\":\"mm\",\"ns\":5000,\"growth\":-2000,\"ratio\":1.5,\"kept\":true,"
                "\"twice\":\"mmmm\",\"file\":\"/u/zoo/a.py\",\"line\":3,\"caller\":{\"line\":"
                "{\"file\":\"/u/zoo/model.py\",\"line\":7,\"code\":\"x\"}}},"
                "{\"op\":null,\"ns\":null,\"growth\":0,\"ratio\":0,\"kept\":false,\"twice\":\"\","
                "\"file\":\"\",\"line\":0,\"caller\":null}]");
    assert_json("", &rows, 1,
                "[{\"op\":\"mm\",\"calls\":1234,\"ns\":5000,\"growth\":-2000,\"ratio\":1.5,"
                "\"kept\":true,\"twice\":\"mmmm\",\"file\":\"/u/zoo/a.py\",\"line\":3,\"caller\":"
                "{\"line\":{\"file\":\"/u/zoo/model.py\",\"line\":7,\"code\":\"x\"}}}]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_in_text),
        cmocka_unit_test(test_another_table),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

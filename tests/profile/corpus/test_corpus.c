/* The writer and the reader of a corpus, and queries of it. */
#include <string.h>
#include <unistd.h>

#include "profile/corpus/corpus.h"
#include "profile/corpus/corpus_query.h"
#include "tests/harness.h"

/* ---- Tapes that are made ---- */

static struct corpus_tape tape_of(unsigned char key)
{
    struct corpus_tape tape = { .name = STR("runs/a.log"), .model = STR("a"), .bytes = 10 };
    tape.key[0] = key;
    return tape;
}

static bool put(struct table_sink *sink, enum export_table table, enum export_column column,
                int64_t id, int64_t reference, struct err *err)
{
    struct table_cell cells[TABLE_MOST_COLUMNS];
    for (unsigned i = 0; i < TABLE_MOST_COLUMNS; i++)
        cells[i] = (struct table_cell){ .null = true };
    cells[0] = (struct table_cell){ .integer = id };
    cells[column - table_first_column(table)] = (struct table_cell){ .integer = reference };
    return sink->row(sink, cells, err);
}

/* A recording, two guards at line 7 + `n`, which there is no row of, and a counter. */
static bool put_rows(struct table_sink *sink, int64_t n, struct err *err)
{
    bool ok = true;
    for (enum export_table table = 0; ok && table < TABLES; table++) {
        ok = sink->table(sink, table, err);
        if (ok && table == TABLE_recordings)
            ok = put(sink, table, COLUMN_recordings_rank, 0, n, err);
        for (int64_t i = 0; ok && table == TABLE_guards && i < 2; i++)
            ok = put(sink, table, COLUMN_guards_line_id, i, 7 + n, err);
        if (ok && table == TABLE_counters)
            ok = put(sink, table, COLUMN_counters_value, 0, n, err);
    }
    return ok;
}

static bool add_tape(struct corpus_writer *writer, unsigned char key, struct err *err)
{
    struct corpus_tape tape = tape_of(key);
    struct table_sink *sink = corpus_writer_begin(writer, &tape, err);
    bool ok = sink && put_rows(sink, key, err);
    return sink && sink->end(sink, ok, err) && ok;
}

static bool write_corpus(const char *path, const char *keys, struct err *err)
{
    struct corpus_writer *writer = corpus_writer_open(path, err);
    bool ok = writer;
    for (; ok && *keys; keys++)
        ok = add_tape(writer, (unsigned char)*keys, err);
    return corpus_writer_close(writer, ok, err) && ok;
}

static void assert_same_files(const char *a, const char *b)
{
    struct buf x = read_file(a), y = read_file(b);
    assert_str_eq(buf_str(&x), buf_str(&y));
    buf_release(&x);
    buf_release(&y);
}

static int64_t answer(const char *path, const char *sql)
{
    struct err err = ERR_INIT;
    struct query query;
    bool row = false;
    assert_true(query_open(&query, path, sql, 10000, &err) && query_bound(&query, &err) &&
                query_step(&query, &row, &err) && row);
    int64_t value = query_cell(&query, 0).integer;
    query_close(&query);
    return value;
}

/* ---- Cases ---- */

static void test_references(void **state)
{
    (void)state;
    for (enum export_column column = 0; column < COLUMNS; column++) {
        struct str name = str_of(column_name(column));
        assert_int_equal(column_reference(column) != TABLES,
                         column_type(column) == COLUMN_KEY || str_ends(name, STR("_id")));
    }
    assert_int_equal(column_reference(COLUMN_guards_line_id), TABLE_lines);
    assert_int_equal(column_reference(COLUMN_stacks_parent_id), TABLE_stacks);
    assert_int_equal(column_reference(COLUMN_calls_call_form_id), TABLE_call_forms);
    for (enum export_table table = 0; table < TABLES; table++)
        assert_int_equal(column_table(table_first_column(table)), table);
}

static void test_ids(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = temp_path("ids.sqlite");
    assert_true(write_corpus(path, "ac", &err));
    assert_int_equal(answer(path, "SELECT count(*) FROM tapes"), 2);
    assert_int_equal(answer(path, "SELECT count(*) FROM guards"), 4);
    assert_int_equal(answer(path, "SELECT max(id) FROM guards"), 4);
    assert_int_equal(answer(path, "SELECT min(line_id) FROM guards"), 1 + 7 + 'a');
    /* The ids of the second tape are above those that the first one refers to. */
    assert_int_equal(answer(path, "SELECT max(line_id) FROM guards"), 2 * (1 + 7) + 'a' + 'c');
    assert_int_equal(answer(path, "SELECT tape_id FROM counters WHERE value = 99"), 2);
}

static void test_order(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *path = temp_path("order.sqlite");
    assert_false(write_corpus(path, "ba", &err));
    assert_err(&err, ERR_INPUT, "order of their keys");
    assert_int_equal(answer(path, "SELECT count(*) FROM tapes"), 0);
}

/* A tape that fails in the middle, or a process that ends, leaves the last transaction's end; going
 * on from there gives the same bytes. */
static void test_resumed(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *whole = temp_path("whole.sqlite"), *broken = temp_path("broken.sqlite");
    char keys[130] = { 0 };
    for (int i = 0; i < 100; i++)
        keys[i] = (char)(i + 1);
    assert_true(write_corpus(whole, keys, &err));
    struct corpus_writer *writer = corpus_writer_open(broken, &err);
    for (int i = 0; i < 80; i++)
        assert_true(add_tape(writer, (unsigned char)keys[i], &err));
    assert_null(corpus_writer_open(broken, &err));
    assert_err(&err, ERR_ENV, "another process");
    assert_false(corpus_writer_close(writer, false, &err));
    assert_int_equal(answer(broken, "SELECT count(*) FROM tapes"), 64);
    assert_true(write_corpus(broken, keys + 64, &err));
    assert_same_files(whole, broken);
}

static bool copy(struct corpus_reader *reader, uint64_t n, const struct corpus_tape *tape,
                 struct corpus_writer *writer, struct err *err)
{
    struct table_sink *sink = corpus_writer_begin(writer, tape, err);
    bool ok = sink && corpus_reader_copy(reader, n, sink, err);
    return sink && sink->end(sink, ok, err) && ok;
}

static bool copy_corpus(const char *from, const char *to, struct err *err)
{
    struct corpus_reader *reader = corpus_reader_open(from, err);
    struct corpus_writer *writer = reader ? corpus_writer_open(to, err) : NULL;
    struct corpus_tapes tapes = { 0 };
    struct arena arena = ARENA_INIT;
    bool ok = writer && corpus_reader_tapes(reader, &arena, &tapes, err);
    for (size_t i = 0; ok && i < tapes.tapes.n; i++)
        ok = copy(reader, i, &tapes.tapes.v[i], writer, err);
    ok = corpus_writer_close(writer, ok, err) && ok;
    corpus_reader_close(reader);
    vec_release(&tapes.tapes);
    arena_release(&arena);
    return ok;
}

static void test_copied(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    const char *from = temp_path("from.sqlite"), *to = temp_path("to.sqlite");
    assert_true(write_corpus(from, "abc", &err) && copy_corpus(from, to, &err));
    assert_same_files(from, to);
}

struct copied {
    const char *from, *to;
};

static bool try_copy(void *arg)
{
    const struct copied *paths = arg;
    struct err err = ERR_INIT;
    (void)unlink(paths->to);
    bool ok = copy_corpus(paths->from, paths->to, &err);
    assert_true(ok || err.no_memory || err.kind == ERR_ENV);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct copied paths = { temp_path("memory.sqlite"), temp_path("again.sqlite") };
    assert_true(write_corpus(paths.from, "ab", &err));
    check_alloc_failures(try_copy, &paths);
}

static void assert_refused(const char *path, const char *sql, enum err_kind kind, const char *part)
{
    struct err err = ERR_INIT;
    struct query query;
    bool row = true;
    bool ok = query_open(&query, path, sql, 200, &err) && query_bound(&query, &err);
    while (ok && row)
        ok = query_step(&query, &row, &err);
    assert_false(ok);
    assert_err(&err, kind, part);
    query_close(&query);
}

/* Asserts what a query of the parameter `a` answers. */
static void assert_bound(const char *sql, const char *value, const char *answer_)
{
    struct err err = ERR_INIT;
    struct query query;
    bool row;
    assert_true(query_open(&query, temp_path("queries.sqlite"), sql, 1000, &err) &&
                query_bind(&query, STR("a"), str_of(value), &err) && query_bound(&query, &err) &&
                query_step(&query, &row, &err) && row);
    assert_str_is(query_cell(&query, 0).text, answer_);
    query_close(&query);
}

static void test_queries(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct query query;
    bool row;
    const char *path = temp_path("queries.sqlite");
    assert_true(write_corpus(path, "ab", &err));
    assert_refused(path, "DELETE FROM tapes", ERR_USAGE, "only reads");
    assert_refused(path, "REINDEX", ERR_USAGE, "only reads");
    assert_refused(path, "ATTACH ':memory:' AS x", ERR_USAGE, "only reads");
    assert_refused(path, "SELECT :a", ERR_USAGE, "needs a=VALUE");
    assert_refused(path, "SELECT 1; SELECT 2", ERR_USAGE, "one statement");
    assert_refused(path, " ", ERR_USAGE, "empty");
    assert_refused(path,
                   "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
                   "SELECT count(*) FROM n",
                   ERR_ENV, "--timeout");
    assert_refused(source_path("README.md"), "SELECT 1", ERR_INPUT, "not a database");
    assert_true(query_open(&query, path, "SELECT :a, :b", 1000, &err));
    assert_true(query_bind(&query, STR("a"), STR("12"), &err));
    assert_false(query_bind(&query, STR("c"), STR("x"), &err));
    assert_err(&err, ERR_USAGE, "no parameter \"c\"");
    assert_true(query_bind(&query, STR("b"), STR("x y"), &err) && query_bound(&query, &err));
    assert_true(query_step(&query, &row, &err) && row);
    assert_int_equal(query_cell(&query, 0).integer, 12);
    assert_str_is(query_cell(&query, 1).text, "x y");
    query_close(&query);
    assert_refused(path, "SELECT ?", ERR_USAGE, "has a name");
    assert_bound("SELECT typeof(:a) || :a", "-7", "integer-7");
    assert_bound("SELECT typeof(:a) || :a", "0012", "text0012");
    assert_bound("SELECT typeof(:a) || :a", "+12", "text+12");
    assert_bound("SELECT :a || @a || $a", "0", "000");
    assert_null(shipped_query_find(STR("nothing")));
    assert_non_null(shipped_query_find(STR("lines")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_references), cmocka_unit_test(test_ids),
        cmocka_unit_test(test_order),      cmocka_unit_test(test_resumed),
        cmocka_unit_test(test_copied),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A table of random formulas with the answers of sympy and torch.utils._sympy
 * (tests/replay/shape/sym_cases.py). */
#include <stdlib.h>

#include "tests/harness.h"
#include "tests/replay/shape/sym_formula.h"
#include "trace/log/source.h"

static struct buf read_table(void)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    struct source *in = source_open(source_path("tests/replay/shape/sym_cases.tsv.zst"), &err);
    assert_non_null(in);
    size_t n = 0;
    do {
        assert_true(buf_reserve(&text, SOURCE_READ_SIZE));
        assert_true(source_read(in, text.p + text.n, SOURCE_READ_SIZE, &n, &err));
        text.n += n;
    } while (n);
    source_close(in);
    return text;
}

/* The field before the next tab. */
static struct str take_field(struct str *line)
{
    size_t tab = str_find_char(*line, '\t');
    struct str field = str_first(*line, tab);
    *line = str_from(*line, tab + 1);
    return field;
}

static bool is_equal(struct sym_pool *pool, struct str line)
{
    struct str form = take_field(&line), formula = take_field(&line);
    struct buf out = BUF_INIT;
    sym_answer_case(pool, form, formula, &out);
    bool equal = str_eq(buf_str(&out), line);
    if (!equal)
        printf("%.*s %.*s\n    sympy %.*s\n    ours  %.*s\n", STR_ARG(form), STR_ARG(formula),
               STR_ARG(line), STR_ARG(buf_str(&out)));
    buf_release(&out);
    return equal;
}

/* What is not mirrored: Identity of a number, Floats of more than double precision, polynomial
 * gcds beyond gcd.c. */
static void test_sympy_agrees(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct sym_pool *pool = sym_pool_new(&err);
    struct buf table = read_table();
    size_t rows = 0, wrong = 0;
    for (struct str rest = buf_str(&table); rest.n;) {
        size_t end = str_find_char(rest, '\n');
        wrong += !is_equal(pool, str_first(rest, end));
        rows++;
        rest = str_from(rest, end + 1);
    }
    printf("%zu of %zu equal\n", rows - wrong, rows);
    assert_true(rows > 4000);
    assert_true(wrong * 1000 <= rows * 3);
    buf_release(&table);
    sym_pool_free(pool);
}

/* The answer does not hang on what the pool has seen before. */
static void test_history_does_not_matter(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct buf table = read_table();
    struct sym_pool *old = sym_pool_new(&err);
    size_t row = 0;
    for (struct str rest = buf_str(&table); rest.n; row++) {
        size_t end = str_find_char(rest, '\n');
        struct str line = str_first(rest, end);
        struct str form = take_field(&line), formula = take_field(&line);
        rest = str_from(rest, end + 1);
        struct buf a = BUF_INIT, b = BUF_INIT;
        sym_answer_case(old, form, formula, &a);
        if (row % 7 == 0) {
            struct sym_pool *fresh = sym_pool_new(&err);
            sym_answer_case(fresh, form, formula, &b);
            assert_str_eq(buf_str(&a), buf_str(&b));
            sym_pool_free(fresh);
        }
        buf_release(&a);
        buf_release(&b);
    }
    buf_release(&table);
    sym_pool_free(old);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_sympy_agrees),
                                        cmocka_unit_test(test_history_does_not_matter) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "cmd/run/size_regions.h"

#include "tests/harness.h"

static void check_refused(const char *set, const char *file, enum err_kind kind, const char *why)
{
    struct err err = ERR_INIT;
    struct size_grid grid;
    assert_false(size_grid_read(&grid, str_of(set), str_of(file), &err));
    assert_err(&err, kind, why);
    size_grid_release(&grid);
}

static void test_product(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct size_grid grid;
    assert_true(size_grid_read(&grid, STR("s0=1..3, 7,s1=0..9:x3"), STR(""), &err));
    assert_int_equal(grid.n_symbols, 2);
    assert_int_equal(grid.n, 4 * 4); /* 1, 2, 3, 7 and 0, 1, 3, 9 */
    assert_int_equal(size_grid_row(&grid, 0)[0], 1);
    assert_int_equal(size_grid_row(&grid, 3)[1], 9);
    assert_int_equal(size_grid_row(&grid, 15)[0], 7);
    size_grid_release(&grid);
    assert_true(size_grid_read(&grid, STR(""), STR(""), &err));
    assert_int_equal(grid.n, 1);
    assert_int_equal(grid.n_symbols, 0);
    size_grid_release(&grid);
    assert_true(
        size_grid_read(&grid, STR("s0=9223372036854775800..9223372036854775807:5"), STR(""), &err));
    assert_int_equal(grid.n, 2);
    size_grid_release(&grid);
}

static void test_file(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct size_grid grid;
    assert_true(size_grid_read(&grid, STR("s9=1,2"),
                               STR("s0=3 s1=4\r\n# none\n\ns1=5,s0=6#x\ns0=8"), &err));
    assert_int_equal(grid.n, 3 * 2);
    assert_int_equal(size_grid_row(&grid, 5)[1], 8);
    assert_true(size_grid_row(&grid, 5)[2] == GRID_ANY);
    size_grid_release(&grid);
}

static void test_refuses(void **state)
{
    (void)state;
    check_refused("s0=3..1", "", ERR_USAGE, "empty range");
    check_refused("s0=", "", ERR_USAGE, "is no size");
    check_refused("s0=1..4:0", "", ERR_USAGE, "is no size");
    check_refused("s0=1..4:x1", "", ERR_USAGE, "is no size");
    check_refused("s0=99999999999999999999", "", ERR_USAGE, "is no size");
    check_refused("3", "", ERR_USAGE, "SYMBOL=NUMBER");
    check_refused("=3", "", ERR_USAGE, "is no size");
    check_refused("s0=1,s0=2", "", ERR_USAGE, "twice");
    check_refused("s0=0..9223372036854775807", "", ERR_USAGE, "more than");
    check_refused("s0=1..2000,s1=1..2000", "", ERR_USAGE, "in all");
    check_refused("", "s0", ERR_INPUT, "line 1");
    check_refused("", "\ns0=1 s0=2", ERR_INPUT, "line 2");
    check_refused("s0=1", "s0=2", ERR_INPUT, "twice");
    check_refused("", "# nothing\n", ERR_INPUT, "no sizes");
}

static void check_region(const struct size_grid *grid, const struct size_regions *regions, size_t i,
                         size_t n, const char *text)
{
    struct buf out = BUF_INIT;
    size_region_print(grid, &regions->list.v[i], &out);
    assert_int_equal(regions->list.v[i].n, n);
    assert_str_is(buf_str(&out), text);
    buf_release(&out);
}

/* A rectangle of other outcome in a corner leaves two more. */
static void test_regions(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct size_grid grid;
    struct size_regions regions;
    uint32_t outcomes[32];
    assert_true(size_grid_read(&grid, STR("s0=1..4,s1=1..8"), STR(""), &err));
    for (size_t i = 0; i < grid.n; i++)
        outcomes[i] = size_grid_row(&grid, i)[0] >= 3 && size_grid_row(&grid, i)[1] >= 5;
    assert_true(size_regions_find(&grid, outcomes, &regions, &err));
    assert_int_equal(regions.list.n, 3);
    check_region(&grid, &regions, 0, 16, "s0 in 1..2");
    check_region(&grid, &regions, 1, 8, "s0 in 3..4, s1 in 1..4");
    check_region(&grid, &regions, 2, 8, "s0 in 3..4, s1 in 5..8");
    size_regions_release(&regions);
    memset(outcomes, 0, sizeof outcomes);
    assert_true(size_regions_find(&grid, outcomes, &regions, &err));
    assert_int_equal(regions.list.n, 1);
    check_region(&grid, &regions, 0, 32, "all sizes");
    size_regions_release(&regions);
    size_grid_release(&grid);
}

/* Lines of a file need be no product, and may be there twice. */
static void test_scattered(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct size_grid grid;
    struct size_regions regions;
    const uint32_t outcomes[4] = { 0 };
    assert_true(size_grid_read(&grid, STR(""), STR("a=1 b=1\na=2 b=2\na=1 b=1\na=2 b=1"), &err));
    assert_true(size_regions_find(&grid, outcomes, &regions, &err));
    assert_int_equal(regions.list.n, 2);
    check_region(&grid, &regions, 0, 2, "b=1");
    check_region(&grid, &regions, 1, 1, "a=2, b=2");
    size_regions_release(&regions);
    size_grid_release(&grid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_product),   cmocka_unit_test(test_file),
        cmocka_unit_test(test_refuses),   cmocka_unit_test(test_regions),
        cmocka_unit_test(test_scattered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

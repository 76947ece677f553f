#include "replay/backend/values/weights.h"

#include <unistd.h>

#include "tests/trace/pt2/pt2_make.h"

#define WEIGHTS(sizes, strides)                                                               \
    "{\"config\": {\"w\": {\"path_name\": \"weight_0\", \"is_param\": true, \"use_pickle\": " \
    "false, \"tensor_meta\": {\"dtype\": 7, \"sizes\": [" sizes "], \"device\": {\"type\": "  \
    "\"cpu\"}, \"strides\": [" strides "], \"storage_offset\": {\"as_int\": 0}}}}}"

/* Of the weight "abcdefgh", two floats; cut to that length between opening and reading. */
static bool find_weight(const char *config, off_t cut, struct buf *ret, struct err *err)
{
    struct zip_make make = { 0 };
    struct array found = { 0 };
    const char *path = make_pt2(&make, PT2_PROGRAM, config);
    struct trace *trace = trace_open(path, NULL, err);
    assert_no_err(err);
    struct weights *weights = weights_open(trace, 0, err);
    assert_no_err(err);
    assert_non_null(weights);
    if (cut >= 0)
        assert_int_equal(truncate(path, cut), 0);
    bool ok = weights_find(weights, STR("w"), &found, err);
    if (ok)
        buf_put(ret, (struct str){ found.p, found.bytes });
    weights_close(weights);
    trace_close(trace);
    make_release(&make);
    return ok;
}

static void test_elements_come_in_order(void **state)
{
    (void)state;
    static const struct {
        const char *config, *elements;
    } ROWS[] = {
        { WEIGHTS("{\"as_int\": 2}", "{\"as_int\": 1}"), "abcdefgh" },
        { WEIGHTS("{\"as_int\": 2}", "{\"as_int\": 0}"), "abcdabcd" },
        { WEIGHTS("{\"as_int\": 1}, {\"as_int\": 2}", "{\"as_int\": 7}, {\"as_int\": 1}"),
          "abcdefgh" },
        { WEIGHTS("{\"as_int\": 0}, {\"as_int\": 9223372036854775807}, {\"as_int\": 3}",
                  "{\"as_int\": 1}, {\"as_int\": 1}, {\"as_int\": 1}"),
          NULL },
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct err err = ERR_INIT;
        struct buf got = BUF_INIT;
        bool ok = find_weight(ROWS[i].config, -1, &got, &err);
        assert_int_equal(ok, !err_is_set(&err));
        if (ROWS[i].elements)
            assert_str_is(buf_str(&got), ROWS[i].elements);
        buf_release(&got);
    }
}

static void test_an_archive_that_is_cut_short_is_an_error(void **state)
{
    (void)state;
    static const char *const CONFIGS[] = { WEIGHTS("{\"as_int\": 2}", "{\"as_int\": 1}"),
                                           WEIGHTS("{\"as_int\": 2}", "{\"as_int\": 0}") };
    for (size_t i = 0; i < 2; i++) {
        struct err err = ERR_INIT;
        struct buf got = BUF_INIT;
        assert_false(find_weight(CONFIGS[i], 20, &got, &err));
        assert_int_equal(err.kind, ERR_ENV);
        assert_true(str_find(str_of(err.text), STR("made.pt2: weight w: offset")) <
                    strlen(err.text));
        assert_true(str_ends(str_of(err.text), STR("truncated while it was read")));
        buf_release(&got);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements_come_in_order),
        cmocka_unit_test(test_an_archive_that_is_cut_short_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a tape tells of an archive, beside what the archive itself tells. */
#include "trace/recorded_pt2.h"

#include "tests/trace/pt2/pt2_make.h"

static void check_same(const struct pt2_weight *a, const struct pt2_weight *b)
{
    assert_true(str_eq(a->fqn, b->fqn));
    assert_true(str_eq(a->path, b->path));
    assert_int_equal(a->offset, b->offset);
    assert_int_equal(a->bytes, b->bytes);
    assert_int_equal(a->n_sizes, b->n_sizes);
    assert_int_equal(a->sizes[0], b->sizes[0]);
    assert_int_equal(a->readable, b->readable);
    assert_int_equal(a->is_param, b->is_param);
}

static void test_a_tape_places_what_the_archive_does(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct zip_make make = { 0 };
    struct recorded_pt2 archive;
    struct pt2 pt2;
    struct trace *trace = trace_open(make_pt2(&make, PT2_PROGRAM, PT2_WEIGHTS), NULL, &err);
    assert_non_null(trace);
    assert_true(pt2_open(&pt2, buf_str(&make.bytes), NULL, &err));
    assert_true(recorded_pt2_open(&archive, trace, 0, &err));
    assert_int_equal(archive.pt2.n_models, 1);
    const struct pt2_model *model = &archive.pt2.models[0];
    assert_str_is(model->name, "model");
    assert_int_equal(recorded_pt2_record(&archive, model->program), 2);
    assert_int_equal(recorded_pt2_record(&archive, NULL), TRACE_NONE);
    assert_int_equal(model->n_weights, 1);
    assert_true(model->weights[0].readable);
    check_same(&model->weights[0], &pt2.models[0].weights[0]);
    assert_memory_equal(make.bytes.p + model->weights[0].offset, "abcdefgh", 8);
    recorded_pt2_close(&archive);
    pt2_close(&pt2);
    trace_close(trace);
    make_release(&make);
}

/* Metadata that say otherwise, as no import writes them. */
static void check_log(const char *records[], size_t n, const char *message)
{
    struct err err = ERR_INIT;
    struct recorded_pt2 archive;
    struct buf log = BUF_INIT;
    for (size_t i = 0; i < n; i++)
        log_line(&log, records[i]);
    struct trace *trace = open_text(buf_str(&log));
    assert_false(recorded_pt2_open(&archive, trace, 0, &err));
    assert_err(&err, ERR_INPUT, message);
    trace_close(trace);
    buf_release(&log);
}

static void test_what_tells_nothing_is_an_error(void **state)
{
    (void)state;
    const char *others[] = { "\"artifact\": {\"name\": \"m/archive_format\"}" };
    check_log(others, 1, "not a .pt2");
    const char *nameless[] = { "\"pt2_member\": {}", "\"pt2_member\": []",
                               "\"pt2_member\": {\"name\": 7, \"size\": 1}",
                               "\"pt2_member\": {\"name\": \"m/archive_format\", \"size\": -1}" };
    check_log(nameless, 4, "not a .pt2");
    const char *unkept[] = { "\"pt2_member\": {\"name\": \"m/archive_format\", \"offset\": 0, "
                             "\"packed\": 3, \"size\": 3}" };
    check_log(unkept, 1, "member m/archive_format: not on the tape");
}

static bool attempt(void *arg)
{
    struct err err = ERR_INIT;
    struct recorded_pt2 archive;
    bool ok = recorded_pt2_open(&archive, arg, 0, &err);
    assert_true(ok != err_is_set(&err) && (ok || err.kind == ERR_ENV));
    ok = ok && archive.pt2.models[0].n_weights == 1;
    if (!err_is_set(&err))
        recorded_pt2_close(&archive);
    return ok;
}

static void test_memory_may_run_out(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct zip_make make = { 0 };
    struct trace *trace = trace_open(make_pt2(&make, PT2_PROGRAM, PT2_WEIGHTS), NULL, &err);
    assert_non_null(trace);
    check_alloc_failures(attempt, trace);
    trace_close(trace);
    make_release(&make);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_tape_places_what_the_archive_does),
        cmocka_unit_test(test_what_tells_nothing_is_an_error),
        cmocka_unit_test(test_memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

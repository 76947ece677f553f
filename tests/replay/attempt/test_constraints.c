/* Constraints at an attempt's end, beside the error that PyTorch raised when it was recorded. */
#include "replay/replay.h"
#include "tests/harness.h"

static struct replay *run(const char *path, struct input_mark *marks, size_t n_marks,
                          struct trace **trace)
{
    struct err err = ERR_INIT;
    struct replay_options options = REPLAY_OPTIONS_DEFAULT;
    options.changes.marks = marks;
    options.changes.n_marks = n_marks;
    *trace = trace_open(path, NULL, &err);
    struct replay *ret = *trace ? replay_trace(*trace, &options, &err) : NULL;
    assert_no_err(&err);
    return ret;
}

static void test_as_recorded(void **state)
{
    (void)state;
    const char *path = shared_path("failures/constraint_specialized.log.zst");
    struct trace *trace;
    if (!path) {
        skip();
        return;
    }
    struct replay *replay = run(path, NULL, 0, &trace);
    assert_int_equal(replay->n_violations, 1);
    assert_str_is(replay->violations[0].text,
                  "Constraints violated (L['x'].size()[1])! For more information, run with "
                  "TORCH_LOGS=\"+dynamic\".\n  - You marked L['x'].size()[1] as dynamic but your "
                  "code specialized it to be a constant (24). If you're using mark_dynamic, either "
                  "remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it "
                  "with either Dim.STATIC or Dim.AUTO.\n\nUser stack:\n"
                  "  File \"/home/user/models/rec_fail.py\", line 34, in forward\n"
                  "    if i == 5: x = s.hook(x, *more)\n"
                  "  File \"/home/user/models/rec_fail.py\", line 45, in <lambda>\n"
                  "    f = torch.compile(Net(lambda x: x + bias), backend=\"aot_eager\")\n");
    replay_free(replay);
    trace_close(trace);
}

static void parse(struct input_mark *mark, const char *text, char *room)
{
    struct err err = ERR_INIT;
    strcpy(room, text);
    assert_true(input_mark_parse(mark, room, &err));
    assert_no_err(&err);
}

static void test_dims(void **state)
{
    (void)state;
    struct input_mark marks[2];
    char rooms[2][64];
    struct trace *trace;
    const char *path = source_path("tests/recordings/layers.log.zst");
    parse(&marks[0], "L['x']:0=Dim(batch,2..64)", rooms[0]);
    parse(&marks[1], "L['x']:2=2*Dim(half)+0", rooms[1]);
    assert_str_is(marks[1].change.dim.name, "2*half");
    struct replay *replay = run(path, marks, 2, &trace);
    assert_int_equal(replay->n_violations, 1);
    assert_int_equal(replay->n_graphs, 1); /* torch.export runs no AOTAutograd */
    assert_str_is(replay->violations[0].text,
                  "Constraints violated (2*half)! For more information, run with "
                  "TORCH_LOGS=\"+dynamic\".\n  - You marked 2*half as dynamic but your code "
                  "specialized it to be a constant (32). If you're using mark_dynamic, either "
                  "remove it or use maybe_mark_dynamic. If you're using Dim.DYNAMIC, replace it "
                  "with either Dim.STATIC or Dim.AUTO.");
    replay_free(replay);
    trace_close(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_recorded),
        cmocka_unit_test(test_dims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "profile/calls/values/world.h"
#include "tests/harness.h"

static const char LINES[] =
    "{\"program\": \"p\"}\n"
    "\n"
    "{\"call\": 7, \"function\": \"Net.forward\", \"module\": 2, \"training\": true, \"region\": 1,"
    " \"args\": [{\"source\": \"L[\\\"x\\\"]\", \"obj\": 9, \"size\": [4, 1], \"stride\": [1, 1],"
    " \"dtype\": \"torch.float32\", \"device\": \"cuda:1\", \"requires_grad\": true,"
    " \"marks\": {\"dynamic\": [0, 70], \"static\": [1]}},"
    " {\"source\": \"L['d']\", \"type\": \"dict\", \"keys\": [\"a\", \"b\"]},"
    " {\"source\": \"L['l']\", \"type\": \"list\", \"len\": 2},"
    " {\"source\": \"L['f']\", \"type\": \"float\", \"value\": 2},"
    " {\"source\": \"L['i']\", \"type\": \"int\", \"value\": 2},"
    " {\"source\": \"L['n']\", \"type\": \"NoneType\", \"value\": null}],"
    " \"state\": [{\"source\": \"G['act']\", \"type\": \"function\", \"obj\": 9, \"value\": \"act\"}],"
    " \"mode\": {\"grad\": false, \"inference\": true, \"autocast\": {\"device\": \"cpu\","
    " \"dtype\": \"torch.bfloat16\"}, \"default_dtype\": \"torch.float32\"}}\n"
    "{\"call\": 8, \"function\": \"backward\", \"backward_of\": 7}\n"
    "{\"call\": 9, \"function\": \"f\", \"code\": \"a.py:1:f\", \"frames\": [{\"code\": \"a.py:3:g\", \"args\": "
    "[{\"source\": \"L['y']\", \"type\": \"int\", \"value\": 4}]}]}\n";

struct made {
    struct call_log log;
    struct world world;
};

static void read_lines(struct made *made, const char *lines)
{
    struct err err = ERR_INIT;
    *made = (struct made){ 0 };
    assert_true(call_log_read(&made->log, str_of(lines), &err));
    assert_no_err(&err);
    made->world.sources = &made->log.sources;
}

static void release(struct made *made)
{
    world_release(&made->world);
    call_log_release(&made->log);
}

static const struct py_value *value_of(struct made *made, const char *source)
{
    uint32_t id = world_source(&made->world, str_of(source));
    assert_int_not_equal(id, INTERN_NONE);
    return world_value(&made->world, id);
}

static void test_read(void **state)
{
    (void)state;
    struct made made;
    read_lines(&made, LINES);
    assert_int_equal(made.log.calls.n, 4);
    const struct program_call *call = &made.log.calls.v[0];
    assert_int_equal(call->number, 7);
    assert_str_is(call->function, "Net.forward");
    assert_int_equal(call->module, 2);
    assert_int_equal(call->region, 1);
    assert_int_equal(call->backward_of, -1);
    assert_true(call->mode.known && call->mode.inference && !call->mode.grad);
    assert_str_is(call->mode.autocast_dtype, "torch.bfloat16");
    assert_int_equal(made.log.calls.v[1].backward_of, 7);
    assert_str_is(made.log.calls.v[2].code, "a.py:1:f");
    const struct program_call *frame = &made.log.calls.v[3];
    assert_true(frame->inside);
    assert_int_equal(frame->number, 9);
    assert_str_is(frame->function, "g");
    assert_int_equal(frame->n_values, 1);

    assert_true(world_enter(&made.world, call));
    const struct py_value *x = value_of(&made, "L['x']");
    assert_int_equal(x->kind, PY_TENSOR);
    assert_str_is(x->type, "Tensor");
    assert_int_equal(x->tensor->n_dims, 2);
    assert_int_equal(x->tensor->sizes[0], 4);
    assert_true(x->tensor->requires_grad && x->inference && x->tensor->plain);
    assert_int_equal(x->tensor->marks[TENSOR_MARK_DYNAMIC], 1);
    assert_int_equal(x->tensor->marks[TENSOR_MARK_STATIC], 2);
    assert_int_equal(value_of(&made, "L['f']")->kind, PY_FLOAT);
    assert_int_equal(value_of(&made, "L['i']")->kind, PY_INT);
    assert_int_equal(value_of(&made, "L['n']")->kind, PY_NONE);
    assert_int_equal(value_of(&made, "G['act']")->object, x->object);
    assert_int_equal(value_of(&made, "L['self']")->kind, PY_OBJECT);
    assert_int_equal(value_of(&made, "L['self'].training")->integer, 1);
    release(&made);
}

/* Where the lines say which tensors were made in inference mode, the mode of the call does not. */
static void test_inference(void **state)
{
    (void)state;
    static const char TENSOR[] = "\"size\": [2], \"stride\": [1], \"dtype\": \"torch.float32\"";
    char lines[1024];
    struct made made;
    (void)snprintf(
        lines, sizeof lines,
        "{\"call\": 0, \"function\": \"f\", \"mode\": {\"inference\": true}, \"args\": ["
        "{\"source\": \"L['x']\", \"obj\": 1, %s, \"inference\": false}, "
        "{\"source\": \"L['y']\", \"obj\": 2, %s, \"inference\": true}]}\n"
        "{\"call\": 1, \"function\": \"f\", \"mode\": {\"inference\": false}, \"args\": ["
        "{\"source\": \"L['x']\", \"obj\": 1, %s}, "
        "{\"source\": \"L['y']\", \"obj\": 2, %s, \"inference\": true}]}\n",
        TENSOR, TENSOR, TENSOR, TENSOR);
    read_lines(&made, lines);
    for (int i = 0; i < 2; i++) {
        assert_true(world_enter(&made.world, &made.log.calls.v[i]));
        assert_false(value_of(&made, "L['x']")->inference);
        assert_true(value_of(&made, "L['y']")->inference);
    }
    release(&made);
}

/* What the parts of a source say of it. */
static void test_derived(void **state)
{
    (void)state;
    struct made made;
    read_lines(&made, LINES);
    assert_true(world_enter(&made.world, &made.log.calls.v[0]));
    assert_int_equal(value_of(&made, "L['d']['a']")->kind, PY_UNKNOWN);
    assert_int_equal(value_of(&made, "L['d']['c']")->kind, PY_MISSING);
    assert_int_equal(value_of(&made, "L['d']['c'].size")->kind, PY_MISSING);
    assert_str_is(value_of(&made, "list(dict.keys(L['d']))[1]")->text, "b");
    assert_int_equal(value_of(&made, "list(dict.keys(L['d']))[2]")->kind, PY_MISSING);
    assert_int_equal(value_of(&made, "dict.__getitem__(L['d'], list(dict.keys(L['d']))[0])")->kind,
                     PY_UNKNOWN);
    assert_int_equal(value_of(&made, "L['l'][1]")->kind, PY_UNKNOWN);
    assert_int_equal(value_of(&made, "L['l'][2]")->kind, PY_MISSING);
    assert_int_equal(value_of(&made, "L['n'].a")->kind, PY_MISSING);
    assert_int_equal(value_of(&made, "L['x']._base")->kind, PY_NONE);
    assert_int_equal(value_of(&made, "L['self']._modules['m'].training")->integer, 1);
    assert_int_equal(value_of(&made, "L['other']._modules['m'].training")->kind, PY_UNKNOWN);
    /* the next call says nothing of them */
    assert_true(world_enter(&made.world, &made.log.calls.v[1]));
    assert_int_equal(value_of(&made, "L['d']['c']")->kind, PY_UNKNOWN);
    release(&made);
}

static void test_facts(void **state)
{
    (void)state;
    struct made made;
    struct py_value three = { .kind = PY_INT, .integer = 3, .object = OBJECT_NONE };
    read_lines(&made, "{\"call\": 0, \"function\": \"f\", \"module\": 1}\n"
                      "{\"call\": 1, \"function\": \"f\", \"module\": 2}\n");
    assert_true(world_enter(&made.world, &made.log.calls.v[0]));
    uint32_t n = world_source(&made.world, STR("L['self'].n"));
    assert_true(world_of_module(&made.world, n));
    assert_false(world_of_module(&made.world, world_source(&made.world, STR("L['x'].n"))));
    assert_int_equal(world_value(&made.world, n)->kind, PY_UNKNOWN);
    assert_true(world_learn(&made.world, n, &three));
    assert_int_equal(world_value(&made.world, n)->integer, 3);
    assert_true(world_enter(&made.world, &made.log.calls.v[1]));
    assert_int_equal(world_value(&made.world, n)->kind, PY_UNKNOWN);
    assert_true(world_enter(&made.world, &made.log.calls.v[0]));
    assert_int_equal(world_value(&made.world, n)->integer, 3);
    world_forget(&made.world);
    assert_int_equal(world_value(&made.world, n)->kind, PY_UNKNOWN);
    release(&made);
}

static void test_errors(void **state)
{
    (void)state;
    static const struct {
        const char *text, *error;
    } CASES[] = {
        { "{\"call\": 0}", "line 1: a call has no \"function\"" },
        { "\n\n{", "line 3: " },
        { "3", "line 1: not an object" },
        { "{\"call\": 123456789, \"function\": x}", "line 1: offset 32: " },
        { "{\"call\": 0, \"function\": \"f\", \"args\": [1]}", "has no \"source\"" },
        { "{\"call\": 0, \"function\": \"f\", \"args\": [{\"source\": \"x\", \"size\": [1]}]}",
          "as many strides" },
        { "{\"call\": 0, \"function\": \"f\", \"args\": [{\"source\": \"x\", \"size\": [1.5], "
          "\"stride\": [1]}]}",
          "lists of integers" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct call_log log = { 0 };
        struct err err = ERR_INIT;
        assert_false(call_log_read(&log, str_of(CASES[i].text), &err));
        assert_err(&err, ERR_INPUT, CASES[i].error);
        call_log_release(&log);
    }
}

/* Two rows of a tape, and calls of them. */
#define ROW                                                                                     \
    ", \"function\": \"f\", \"args\": [{\"source\": \"L['x']\", \"obj\": 7, \"size\": [], "     \
    "\"stride\": []}, {\"source\": \"L['y']\", \"obj\": 3}, {\"source\": \"L['z']\", \"obj\": " \
    "7}], \"mode\": {\"inference\": true}, \"seconds\": 0.1}"
#define BACKWARD  ", \"function\": \"backward\", \"args\": [], \"seconds\": 0.1}"
#define WHOLE_END 1000000000000000000u

static const struct recorded_call RECORDED[] = {
    { 0, RECORDED_NONE, RECORDED_NONE, 4, { ROW, sizeof ROW - 1 }, 7, 1, 7 },
    { 1, 0, RECORDED_NONE, 2, { BACKWARD, sizeof BACKWARD - 1 }, RECORDED_NONE, 0, RECORDED_NONE },
    { 2, RECORDED_NONE, RECORDED_NONE, 4, { ROW, sizeof ROW - 1 }, 7, 1, 20 },
    { 3, 2, RECORDED_NONE, 2, { BACKWARD, sizeof BACKWARD - 1 }, RECORDED_NONE, 0, RECORDED_NONE },
    /* Its objects are one, so that it has a form of its own; so have the next two. */
    { 4, RECORDED_NONE, RECORDED_NONE, 4, { ROW, sizeof ROW - 1 }, 7, 1, 3 },
    { 5,
      RECORDED_NONE,
      RECORDED_NONE,
      2,
      { BACKWARD, sizeof BACKWARD - 1 },
      RECORDED_NONE,
      0,
      RECORDED_NONE },
    { WHOLE_END, RECORDED_NONE, RECORDED_NONE, 4, { ROW, sizeof ROW - 1 }, 7, 1, 21 },
    { 8, RECORDED_NONE, RECORDED_NONE, 4, { ROW, sizeof ROW - 1 }, 7, 1, 22 },
    /* A row that is first seen with other numbers than its own, and then with its own. */
    { 9, RECORDED_NONE, RECORDED_NONE, 6, { ROW, sizeof ROW - 1 }, 7, 1, 23 },
    { 10, RECORDED_NONE, RECORDED_NONE, 6, { ROW, sizeof ROW - 1 }, 7, 1, 7 },
    { 11, RECORDED_NONE, RECORDED_NONE, 6, { ROW, sizeof ROW - 1 }, 7, 1, 24 },
    /* Calls that were made inside another one have forms of their own, which they share. */
    { 12, RECORDED_NONE, 10, 6, { ROW, sizeof ROW - 1 }, 7, 1, 25 },
    { 13, RECORDED_NONE, 11, 6, { ROW, sizeof ROW - 1 }, 7, 1, 26 },
    { 14, 13, 11, 2, { BACKWARD, sizeof BACKWARD - 1 }, RECORDED_NONE, 0, RECORDED_NONE },
    { 15, RECORDED_NONE, WHOLE_END, 6, { ROW, sizeof ROW - 1 }, 7, 1, 27 },
};

static bool read_recorded(struct call_log *log, const struct recorded_call *calls, size_t n,
                          struct err *err)
{
    struct call_reader *in = call_reader_new(log);
    bool ok = in || err_nomem(err);
    for (size_t i = 0; ok && i < n; i++)
        ok = call_reader_recorded(in, &calls[i], err);
    ok = ok && call_reader_end(in, err);
    call_reader_free(in);
    return ok;
}

/* Calls that a tape has as differences from rows are those of their lines. */
static void test_recorded(void **state)
{
    (void)state;
    enum { N = sizeof RECORDED / sizeof *RECORDED };
    struct call_log log = { 0 }, plain = { 0 };
    struct err err = ERR_INIT;
    struct buf lines = BUF_INIT;
    for (size_t i = 0; i < N; i++)
        recorded_call_put(&RECORDED[i], &lines);
    assert_true(call_log_read(&plain, buf_str(&lines), &err));
    assert_true(read_recorded(&log, RECORDED, N, &err));
    assert_int_equal(log.calls.n, N);
    assert_int_equal(plain.calls.n, N);
    assert_int_equal(log.n_forms, plain.n_forms);
    for (size_t i = 0; i < N; i++) {
        const struct program_call *a = &log.calls.v[i], *b = &plain.calls.v[i];
        assert_int_equal(a->number, RECORDED[i].number);
        assert_int_equal(a->number, b->number);
        assert_int_equal(a->backward_of, b->backward_of);
        assert_int_equal(a->parent, b->parent);
        assert_int_equal(a->form, b->form);
        assert_int_equal(a->n_objects, b->n_objects);
        for (uint32_t k = 0; k < a->n_objects; k++) {
            assert_int_equal(a->objects[k].number, b->objects[k].number);
            assert_int_equal(a->objects[k].inference, b->objects[k].inference);
        }
    }
    assert_int_equal(log.calls.v[3].backward_of, 2);
    assert_int_equal(log.calls.v[3].form, log.calls.v[1].form);
    assert_int_equal(log.calls.v[2].form, log.calls.v[0].form);
    assert_int_not_equal(log.calls.v[2].objects[0].number, log.calls.v[0].objects[0].number);
    assert_int_equal(log.calls.v[4].n_objects, 1);
    assert_int_equal(log.calls.v[10].parent, -1);
    assert_int_equal(log.calls.v[11].parent, 10);
    assert_int_equal(log.calls.v[12].parent, 11);
    assert_int_equal(log.calls.v[12].form, log.calls.v[11].form);
    assert_int_not_equal(log.calls.v[11].form, log.calls.v[10].form);
    assert_int_equal(log.calls.v[13].backward_of, 13);
    assert_int_equal(log.calls.v[13].parent, 11);
    call_log_release(&log);
    call_log_release(&plain);
    /* An object's number of too many digits is an error in a known row, too. */
    struct recorded_call calls[] = { RECORDED[0], RECORDED[2] };
    calls[1].to = WHOLE_END;
    log = (struct call_log){ 0 };
    assert_false(read_recorded(&log, calls, 2, &err));
    assert_err(&err, ERR_INPUT, "line 2: \"obj\" is not a whole number");
    call_log_release(&log);
    buf_release(&lines);
}

static bool attempt_recorded(void *arg)
{
    (void)arg;
    struct call_log log = { 0 };
    struct err err = ERR_INIT;
    bool ok = read_recorded(&log, RECORDED, sizeof RECORDED / sizeof *RECORDED, &err);
    call_log_release(&log);
    return ok;
}

static bool attempt(void *arg)
{
    (void)arg;
    struct made made = { 0 };
    struct err err = ERR_INIT;
    bool ok = call_log_read(&made.log, STR(LINES), &err);
    made.world.sources = &made.log.sources;
    ok = ok && world_enter(&made.world, &made.log.calls.v[0]) &&
         world_source(&made.world, STR("L['d']['a'].b[3]")) != INTERN_NONE;
    release(&made);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
    check_alloc_failures(attempt_recorded, NULL);
}

static void check_contiguous(const int64_t sizes[2], const int64_t strides[2], bool expected)
{
    const struct tensor_value tensor = { .n_dims = 2, .sizes = sizes, .strides = strides };
    assert_int_equal(tensor_is_contiguous(&tensor), expected);
}

/* An empty tensor is contiguous with any strides, as a dimension of size 1 is. */
static void test_contiguous(void **state)
{
    (void)state;
    check_contiguous((int64_t[]){ 4, 8 }, (int64_t[]){ 8, 1 }, true);
    check_contiguous((int64_t[]){ 4, 8 }, (int64_t[]){ 1, 4 }, false);
    check_contiguous((int64_t[]){ 1, 8 }, (int64_t[]){ 77, 1 }, true);
    check_contiguous((int64_t[]){ 4, 0 }, (int64_t[]){ 3, 3 }, true);
    check_contiguous((int64_t[]){ 0, 4 }, (int64_t[]){ 7, 2 }, true);
    check_contiguous((int64_t[]){ 1, INT64_MAX }, (int64_t[]){ 1, 1 }, true);
    check_contiguous((int64_t[]){ 4, INT64_MAX }, (int64_t[]){ -4, 1 }, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_read),       cmocka_unit_test(test_inference),
        cmocka_unit_test(test_derived),    cmocka_unit_test(test_facts),
        cmocka_unit_test(test_errors),     cmocka_unit_test(test_memory),
        cmocka_unit_test(test_contiguous), cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

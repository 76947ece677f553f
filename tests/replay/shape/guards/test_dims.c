/* Cases of tests/replay/shape/dims_cases.py with the texts of torch 2.13: what torch.export says of
 * Dims at its end. */
#include "tests/harness.h"
#include "tests/replay/shape/dims_case.h"

static void expect(FILE *in, struct buf *ret)
{
    char line[4096];
    buf_clear(ret);
    while (fgets(line, sizeof line, in) && strcmp(line, "--\n") != 0)
        buf_puts(ret, line);
    if (ret->n)
        ret->n--; /* the newline before "--" */
}

static void test_cases(void **state)
{
    (void)state;
    FILE *in = fopen(source_path("tests/replay/shape/dims_cases.txt"), "r");
    struct buf out = BUF_INIT, expected = BUF_INIT;
    struct dims_case c;
    size_t n = 0;
    assert_non_null(in);
    while (dims_case_read(&c, in)) {
        expect(in, &expected);
        buf_clear(&out);
        dims_case_answer(&c, &out);
        buf_putc(&expected, '\0');
        assert_str_is(buf_str(&out), expected.p);
        dims_case_release(&c);
        n++;
    }
    assert_true(n >= 20);
    fclose(in);
    buf_release(&out);
    buf_release(&expected);
}

/* A Dim that derives from a root that no input is: its symbol has the root's name for a source. */
static void test_root_of_no_input(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct shape_env *env = shape_env_new(NULL, &err);
    struct sym_pool *pool = env_pool(env);
    const int64_t size[] = { 9 }, stride[] = { 1 };
    const enum dim_dynamic dynamic[] = { DIM_DYNAMIC };
    const struct dim_constraint constraint[] = { { .kind = CONSTRAINT_STRICT_MIN_MAX,
                                                   .name = STR("2*half"),
                                                   .range = { SYM_ID_ZERO, SYM_ID_INT_OO } } };
    struct tensor_request request = { .source = STR("L['x']"),
                                      .ndim = 1,
                                      .size = size,
                                      .stride = stride,
                                      .dynamic = dynamic,
                                      .constraints = constraint };
    sym_id made, made_stride, offset;
    assert_true(env_create_tensor(env, &request, &made, &made_stride, &offset));
    sym_id root = env_create_symbol(env, &(struct symbol_request){ .value = sym_integer(pool, 4),
                                                                   .source = STR("half"),
                                                                   .dynamic = DIM_DYNAMIC,
                                                                   .positive = true });
    assert_int_not_equal(root, SYM_NONE);
    const struct env_dim dims[] = { { STR("2*half"), STR("half"), 2, 0, 0, 0 },
                                    { STR("half"), STR(""), 1, 0, 0, INT64_MAX } };
    const struct env_derived derived[] = { { STR("L['x'].size()[0]"), STR("half"), &dims[0] } };
    const struct env_input input = { .source = STR("L['x']"),
                                     .ndim = 1,
                                     .size = &made,
                                     .stride = &made_stride,
                                     .offset = offset,
                                     .constraints = constraint };
    const struct env_produce what = { .inputs = &input,
                                      .n_inputs = 1,
                                      .has_equalities = true,
                                      .derived = derived,
                                      .n_derived = 1,
                                      .dims = dims,
                                      .n_dims = 2 };
    struct buf out = BUF_INIT;
    assert_true(env_check_dims(env, &what, &out));
    assert_str_is(buf_str(&out), "Expected input L['x'].size()[0] to be equal to 2*half, where "
                                 "half = 4, but got 9");
    buf_release(&out);
    shape_env_free(env);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_root_of_no_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Produced guards and violated constraints, in the words of torch's produce_guards_verbose. */
#include "replay/shape/env/env.h"
#include "tests/harness.h"

struct input {
    sym_id size[4], stride[4], offset;
    struct dim_constraint constraint[4];
};

static struct shape_env *new_env(const struct env_settings *settings)
{
    struct err err = { 0 };
    struct shape_env *env = shape_env_new(settings, &err);
    assert_non_null(env);
    return env;
}

static struct env_input make(struct shape_env *env, const char *source, uint32_t ndim,
                             const int64_t *size, const int64_t *stride, enum dim_dynamic dynamic,
                             struct dim_constraint constraint, struct input *to)
{
    enum dim_dynamic dims[4] = { dynamic, dynamic, dynamic, dynamic };
    for (unsigned i = 0; i < 4; i++)
        to->constraint[i] = constraint;
    struct tensor_request request = { .source = str_of(source),
                                      .ndim = ndim,
                                      .size = size,
                                      .stride = stride,
                                      .dynamic = dims,
                                      .constraints = to->constraint };
    assert_true(env_create_tensor(env, &request, to->size, to->stride, &to->offset));
    return (struct env_input){ .source = str_of(source),
                               .ndim = ndim,
                               .size = to->size,
                               .stride = to->stride,
                               .offset = to->offset,
                               .constraints = to->constraint };
}

static void take(void *user, struct str text, uint32_t guard)
{
    (void)guard;
    buf_put(user, text);
    buf_putc(user, '\n');
}

static struct buf produce(struct shape_env *env, const struct env_input *inputs, uint32_t n,
                          enum guard_language language)
{
    struct buf text = BUF_INIT;
    struct env_produce what = { .inputs = inputs, .n_inputs = n, .language = language };
    if (!env_produce_guards(env, &what, take, &text)) {
        struct env_raised raised = env_raised(env);
        buf_clear(&text);
        buf_printf(&text, "%s: %.*s", raised.type, STR_ARG(raised.text));
    }
    return text;
}

static bool guard(struct shape_env *env, sym_id condition)
{
    bool yes = false;
    assert_true(env_guard_bool(env, condition, &yes));
    return yes;
}

static const struct dim_constraint none = { .kind = CONSTRAINT_NONE };

static void tensors_and_guards(void **state)
{
    (void)state;
    struct shape_env *env = new_env(NULL);
    struct sym_pool *pool = env_pool(env);
    struct input x, y;
    const int64_t xs[] = { 4, 6, 8 }, xt[] = { 48, 8, 1 }, ys[] = { 8, 3 }, yt[] = { 1, 8 };
    const struct env_input inputs[] = {
        make(env, "L['x']", 3, xs, xt, DIM_DUCK, none, &x),
        make(env, "L['y']", 2, ys, yt, DIM_DUCK, none, &y),
    };
    assert_int_equal(x.stride[2], SYM_ID_ONE);
    assert_int_equal(x.stride[0], sym_mul(pool, x.size[1], x.size[2]));
    assert_int_equal(y.size[0], x.size[2]);
    assert_int_equal(y.stride[1], x.size[2]);
    assert_true(guard(env, sym_eq(pool, sym_mul(pool, SYM_ID_TWO, x.size[0]), y.size[0])));
    assert_true(
        guard(env, sym_eq(pool, sym_mod(pool, x.size[1], sym_integer(pool, 3)), SYM_ID_ZERO)));
    assert_int_equal(env_n_divisible(env), 1);
    struct buf text = produce(env, inputs, 2, GUARDS_PYTHON);
    assert_str_is(buf_str(&text), "L['x'].size()[2] == 2*L['x'].size()[0]\n"
                                  "L['x'].stride()[0] == 2*L['x'].size()[1]*L['x'].size()[0]\n"
                                  "L['x'].stride()[1] == 2*L['x'].size()[0]\n"
                                  "L['y'].size()[0] == 2*L['x'].size()[0]\n"
                                  "L['y'].stride()[1] == 2*L['x'].size()[0]\n"
                                  "(L['x'].size()[1] % 3) == 0\n"
                                  "2 <= L['x'].size()[0]\n"
                                  "2 <= L['x'].size()[1]\n"
                                  "2 <= L['y'].size()[1]\n");
    buf_release(&text);
    shape_env_free(env);
}

static void locate(void *user, struct env_origin origin, enum env_locate what, struct buf *out)
{
    (void)user;
    if (what == ENV_LOCATE_USER && origin.node != ENV_NODE_NONE)
        buf_printf(out, "x + 1  # a.py:%u in f", origin.node);
    else if (what == ENV_LOCATE_FRAMEWORK)
        buf_puts(out, "b.py:2 in g");
    else if (what == ENV_LOCATE_STACK)
        buf_printf(out, "  File \"a.py\", line %u, in f\n", origin.node);
}

static void comments_tell_where(void **state)
{
    (void)state;
    struct shape_env *env = new_env(NULL);
    struct sym_pool *pool = env_pool(env);
    struct input x;
    const int64_t xs[] = { 8, 8 }, xt[] = { 8, 1 };
    env_set_locator(env, locate, NULL);
    const struct env_input input = make(env, "L['x']", 2, xs, xt, DIM_DUCK, none, &x);
    env_set_origin(env, (struct env_origin){ .graph = 0, .node = 5, .rule = "" });
    assert_true(guard(env, sym_lt(pool, x.size[0], sym_integer(pool, 100))));
    struct buf text = produce(env, &input, 1, GUARDS_VERBOSE_PYTHON);
    assert_str_is(
        buf_str(&text),
        "L['x'].size()[1] == L['x'].size()[0]  # duck sizing added this equality because these "
        "variables had the same size 8 (to avoid this specialization, set "
        "torch.fx.experimental._config.use_duck_shape = False)\n"
        "L['x'].stride()[0] == L['x'].size()[0]  # (unknown source L['x'].stride()[0], please file "
        "a bug)\n"
        "2 <= L['x'].size()[0] <= 99  # (user code shown is first use of this value--the guard "
        "itself is not due user code but due to 0/1 specialization in the framework; to avoid "
        "specialization try torch._dynamo.decorators.mark_unbacked(tensor, dim)) and x + 1  # "
        "a.py:5 in f (b.py:2 in g)\n");
    buf_release(&text);
    shape_env_free(env);
}

static void constraints_are_held(void **state)
{
    (void)state;
    const int64_t xs[] = { 8 }, xt[] = { 1 };
    struct input x;
    struct shape_env *env = new_env(NULL);
    struct dim_constraint relaxed = { .kind = CONSTRAINT_RELAXED_UNSPEC };
    struct env_input input = make(env, "L['x']", 1, xs, xt, DIM_DYNAMIC, relaxed, &x);
    assert_true(guard(env, sym_eq(env_pool(env), x.size[0], sym_integer(env_pool(env), 8))));
    struct buf text = produce(env, &input, 1, GUARDS_PYTHON);
    assert_str_is(buf_str(&text),
                  "ConstraintViolationError: Constraints violated (L['x'].size()[0])! For more "
                  "information, run with TORCH_LOGS=\"+dynamic\".\n  - You marked "
                  "L['x'].size()[0] as dynamic but your code specialized it to be a constant (8). "
                  "If you're using mark_dynamic, either remove it or use maybe_mark_dynamic. If "
                  "you're using Dim.DYNAMIC, replace it with either Dim.STATIC or Dim.AUTO.");
    buf_release(&text);
    shape_env_free(env);

    env = new_env(NULL);
    struct sym_pool *pool = env_pool(env);
    struct dim_constraint strict = {
        .kind = CONSTRAINT_STRICT_MIN_MAX,
        .range = { sym_integer(pool, 4), sym_integer(pool, 64) },
    };
    input = make(env, "L['x']", 1, xs, xt, DIM_DYNAMIC, strict, &x);
    assert_true(guard(env, sym_eq(pool, sym_mod(pool, x.size[0], SYM_ID_TWO), SYM_ID_ZERO)));
    assert_true(guard(env, sym_gt(pool, x.size[0], sym_integer(pool, 6))));
    text = produce(env, &input, 1, GUARDS_PYTHON);
    assert_str_is(buf_str(&text),
                  "ConstraintViolationError: Constraints violated (L['x'].size()[0])! For more "
                  "information, run with TORCH_LOGS=\"+dynamic\".\n  - Not all values of "
                  "L['x'].size()[0] = L['x'].size()[0] in the specified range 4 <= "
                  "L['x'].size()[0] <= 64 satisfy the generated guard (L['x'].size()[0] % 2) == 0."
                  "\n  - Not all values of L['x'].size()[0] = L['x'].size()[0] in the specified "
                  "range 4 <= L['x'].size()[0] <= 64 satisfy the generated guard 7 <= "
                  "L['x'].size()[0] and L['x'].size()[0] <= 64");
    buf_release(&text);
    shape_env_free(env);
}

static void sizes_outside_of_constraints(void **state)
{
    (void)state;
    struct shape_env *env = new_env(NULL);
    struct sym_pool *pool = env_pool(env);
    struct symbol_request r = { .value = sym_integer(pool, 8),
                                .source = STR("L['x'].size()[0]"),
                                .positive = true,
                                .constraint = {
                                    .kind = CONSTRAINT_STRICT_MIN_MAX,
                                    .range = { sym_integer(pool, 9), sym_integer(pool, 9) } } };
    assert_int_equal(env_create_symbol(env, &r), SYM_NONE);
    assert_str_is(env_raised(env).text, "Static shape constraint of 9 does not match input size of "
                                        "8, for L['x'].size()[0]");
    r.constraint.range.upper = sym_integer(pool, 64);
    assert_int_equal(env_create_symbol(env, &r), SYM_NONE);
    struct env_raised raised = env_raised(env);
    assert_int_equal(raised.kind, ENV_RAISED_CONSTRAINT);
    assert_str_is(raised.text, "8 not in range [9, 64]");
    shape_env_free(env);
}

static void inputs_given_as_equal(void **state)
{
    (void)state;
    struct shape_env *env = new_env(NULL);
    struct input x, y;
    const int64_t xs[] = { 8 }, ys[] = { 9 }, t[] = { 1 };
    const struct env_input inputs[] = {
        make(env, "L['x']", 1, xs, t, DIM_DYNAMIC, none, &x),
        make(env, "L['y']", 1, ys, t, DIM_DYNAMIC, none, &y),
    };
    const struct env_equality pair = { STR("L['x'].size()[0]"), STR("L['y'].size()[0]") };
    struct buf text = BUF_INIT;
    struct env_produce what = { .inputs = inputs,
                                .n_inputs = 2,
                                .equalities = &pair,
                                .n_equalities = 1,
                                .has_equalities = true };
    assert_false(env_produce_guards(env, &what, take, &text));
    assert_str_is(env_raised(env).text,
                  "L['x'].size()[0] = 8 is not equal to L['y'].size()[0] = 9");
    buf_release(&text);
    shape_env_free(env);
}

static bool attempt(void *arg)
{
    (void)arg;
    struct err err = { 0 };
    struct shape_env *env = shape_env_new(NULL, &err);
    if (!env)
        return false;
    struct sym_pool *pool = env_pool(env);
    sym_id size[3], stride[3], offset;
    const int64_t xs[] = { 4, 6, 8 }, xt[] = { 48, 8, 1 };
    struct tensor_request request = {
        .source = STR("L['x']"), .ndim = 3, .size = xs, .stride = xt
    };
    bool yes, ok = env_create_tensor(env, &request, size, stride, &offset);
    ok = ok && env_guard_bool(
                   env, sym_gt(pool, sym_mul(pool, size[0], size[1]), sym_integer(pool, 9)), &yes);
    ok = ok && env_guard_bool(env, sym_eq(pool, sym_mul(pool, SYM_ID_TWO, size[0]), size[2]), &yes);
    sym_id u = ok ? env_create_unbacked_symint(env) : SYM_NONE;
    ok = u != SYM_NONE && env_expect_true(env, sym_le(pool, u, size[1]), STR("why"), &yes);
    struct buf text = BUF_INIT;
    const struct env_input input = {
        .source = STR("L['x']"), .ndim = 3, .size = size, .stride = stride, .offset = offset
    };
    struct env_produce what = { .inputs = &input,
                                .n_inputs = 1,
                                .language = GUARDS_VERBOSE_PYTHON };
    ok = ok && env_produce_guards(env, &what, take, &text) && !text.failed;
    ok = ok && env_raised(env).kind == ENV_RAISED_NOTHING;
    buf_release(&text);
    shape_env_free(env);
    return ok;
}

static void memory_may_fail(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_and_guards),    cmocka_unit_test(comments_tell_where),
        cmocka_unit_test(constraints_are_held),  cmocka_unit_test(sizes_outside_of_constraints),
        cmocka_unit_test(inputs_given_as_equal), cmocka_unit_test(memory_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

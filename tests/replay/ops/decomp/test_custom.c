/* Rules of custom operators: what they answer, how bad ones are told of, any text at all. */
#include "replay/ops/decomp/bodies.h"
#include "replay/ops/decomp/custom_tree.h"
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layers.h"
#include "replay/ops/rules/pointwise/pointwise.h"

#include "tests/harness.h"

static const char text[] = "# views and checks\n"
                           "my::half(Tensor(a) x, SymInt by=2) -> Tensor(a)\n"
                           "    n = x.shape[0] // by if by > 1 else x.size(0)\n"
                           "    check(n >= 0, 'no rows')\n"
                           "    m = n if by is not None else [s for s in x.shape][0]\n"
                           "    return x[:m].transpose(\n"
                           "        0, 1)\n"
                           "\n"
                           "my::two(Tensor x, Tensor? y=None,\n"
                           "        *, str mode='a') -> (Tensor, Tensor):\n"
                           "    s = [x.shape[0] + len(x.shape), *x.shape]\n"
                           "my::never(Tensor x) -> Tensor\n"
                           "    check(not True, \"never\")\n"
                           "    return x\n";

static struct custom_rules *rules_of(const char *of, struct err *err)
{
    struct custom_rules *rules = custom_rules_new(err);
    assert_non_null(rules);
    if (custom_rules_add(rules, str_of(of), STR("a.rules"), err))
        return rules;
    custom_rules_free(rules);
    return NULL;
}

static void assert_error(const char *of, const char *expected)
{
    struct err err = { 0 };
    assert_null(rules_of(of, &err));
    assert_int_equal(err.kind, ERR_INPUT);
    assert_string_equal(err.text, expected);
}

static void errors_have_places(void **state)
{
    (void)state;
    assert_error(text, "a.rules:11:37: an expression is expected");
    assert_error("  my::f(Tensor x) -> Tensor\n",
                 "a.rules:1:3: a schema starts in the first column");
    assert_error("my::f(Tensor x) -> Tensor\n", "a.rules:2:1: a rule without statements: at least "
                                                "'return' is expected");
    assert_error("my::f(Tensor x) -> Tensor\n  return y\n",
                 "a.rules:2:10: there is no variable or argument 'y'");
    assert_error("my::f(Tensor x) -> Tensor\n  return frob(x)\n",
                 "a.rules:2:10: there is no function 'frob'");
    assert_error("my::f(Tensor x) -> Tensor\n  return x.size(0\n", "a.rules:3:1: ')' is expected");
    assert_error("my::f(Tensor x) -> Tensor\n  return 1 < 2 < 3\n",
                 "a.rules:2:16: comparisons cannot be chained");
    assert_error("my::f(Tensor x) -> Tensor\n  return x $ 2\n",
                 "a.rules:2:12: '$' is not allowed in a rule");
    assert_error("my::f(Tensor x) -> Tensor\n  x.y = 2\n",
                 "a.rules:2:7: only a name can be assigned "
                 "to");
    assert_error("my::f(Tensor x) -> Tensor\n  if x.ndim:\n  return x\n",
                 "a.rules:3:3: an indented statement is expected");
    assert_error("my::f(Tensor x) -> Tensor\n  if x.ndim: return x\n",
                 "a.rules:2:14: the end of the line is expected");
    assert_error("my::f(Tensor x) -> Tensor\n  for 2 in x.shape:\n    return x\n",
                 "a.rules:2:7: a name is expected after 'for'");
    assert_error("nonsense\n  return 2\n", "a.rules:1:1: schema: not a name: 'nonsense'");
}

static void nesting_is_bounded(void **state)
{
    (void)state;
    struct buf deep = BUF_INIT;
    struct err err = { 0 };
    buf_puts(&deep, "my::f(Tensor x) -> Tensor\n  return ");
    for (int i = 0; i < 100000; i++)
        buf_putc(&deep, i % 3 ? '(' : i % 2 ? '[' : '-');
    struct custom_rules *rules = custom_rules_new(&err);
    assert_false(custom_rules_add(rules, buf_str(&deep), STR("d"), &err));
    assert_int_equal(err.kind, ERR_INPUT);
    custom_rules_free(rules);
    buf_release(&deep);
}

static struct value matrix(struct ops *ops, struct sym_pool *pool, sym_id rows)
{
    sym_id size[] = { rows, sym_integer(pool, 4) }, stride[] = { sym_integer(pool, 4), SYM_ID_ONE };
    struct tensor_meta meta = { .dtype = DTYPE_F32,
                                .device = { DEVICE_CPU, -1 },
                                .ndim = 2,
                                .size = size,
                                .stride = stride,
                                .offset = SYM_ID_ZERO };
    return value_tensor(ops_new_tensor(ops, &meta));
}

static void assert_value(struct sym_pool *pool, struct value value, const char *expected)
{
    struct buf out = BUF_INIT;
    value_print(pool, value, &out);
    buf_putc(&out, 0);
    assert_string_equal(out.p, expected);
    buf_release(&out);
}

static void rules_answer(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct str good = str_first(STR(text), str_find(STR(text), STR("my::two")));
    struct custom_rules *rules = custom_rules_new(&err);
    assert_true(custom_rules_add(rules, good, STR("a"), &err));
    struct str rest = str_from(STR(text), str_find(STR(text), STR("my::never")));
    assert_true(custom_rules_add(rules, rest, STR("b"), &err));
    assert_int_equal(custom_rules_count(rules), 2);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new_with_rules(env, rules, &err);
    struct sym_pool *pool = env_pool(env);
    sym_id s = env_create_symbol(env, &(struct symbol_request){ .value = sym_integer(pool, 8),
                                                                .source = STR("L['x'].size()[0]"),
                                                                .dynamic = DIM_DUCK,
                                                                .positive = true });
    struct value x = matrix(ops, pool, s), ret, args[] = { x, value_int(SYM_ID_ONE) };
    assert_int_equal(ops_call(ops, STR("my::half"), &(struct arguments){ &x, 1, NULL, 0 }, &ret),
                     OP_DONE);
    assert_value(pool, ret, "f32[4, (s77//2)][1, 4]cpu");
    assert_int_equal(ret.u.tensor.storage, x.u.tensor.storage);
    assert_int_equal(ops_call_function(ops, STR("torch.ops.my.half"),
                                       &(struct arguments){ args, 2, NULL, 0 }, &ret),
                     OP_DONE);
    assert_value(pool, ret, "f32[4, s77][1, 4]cpu");
    assert_int_equal(
        ops_call(ops, STR("my.never.default"), &(struct arguments){ &x, 1, NULL, 0 }, &ret),
        OP_REFUSED);
    assert_string_equal(ops_error(ops)->text.p, "never");
    ops_free(ops);
    shape_env_free(env);
    custom_rules_free(rules);
}

static const char blocks[] = "my::pick(int n) -> int\n"
                             "    sum = 0\n"
                             "    for i in range(1, n):\n"
                             "        if i == 3:\n"
                             "            sum = sum + 100\n"
                             "        elif i > 4:\n"
                             "            return sum\n"
                             "        else:\n"
                             "            # a comment\n"
                             "\n"
                             "            sum = sum + 1\n"
                             "    return -1\n";

static void blocks_run(void **state)
{
    (void)state;
    static const int64_t expected[][2] = { { 0, -1 }, { 5, -1 }, { 6, 103 } };
    struct err err = { 0 };
    struct custom_rules *rules = rules_of(blocks, &err);
    assert_non_null(rules);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new_with_rules(env, rules, &err);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct value n = value_int(sym_integer(env_pool(env), expected[i][0])), ret;
        assert_int_equal(
            ops_call(ops, STR("my::pick"), &(struct arguments){ &n, 1, NULL, 0 }, &ret), OP_DONE);
        assert_int_equal(ret.u.sym, sym_integer(env_pool(env), expected[i][1]));
    }
    ops_free(ops);
    shape_env_free(env);
    custom_rules_free(rules);
}

static const char release[] = "my::like(Tensor x) -> Tensor\n"
                              "    if behaves('factors_use_sym_min'):\n"
                              "        y = x.new_empty([4])\n"
                              "    else:\n"
                              "        y = x.new_empty([2])\n"
                              "    return y.contiguous(memory_format=suggest_memory_format(x))\n"
                              "my::unknown(Tensor x) -> Tensor\n"
                              "    return x if behaves('nonsense') else x\n"
                              "my::numbers(Tensor x) -> Tensor\n"
                              "    return x.to(memory_format=suggest_memory_format(1))\n";

static void assert_released(const struct custom_rules *rules, int torch, const char *expected)
{
    struct err err = { 0 };
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    settings.torch = torch;
    struct shape_env *env = shape_env_new(&settings, &err);
    struct ops *ops = ops_new_with_rules(env, rules, &err);
    struct value x = matrix(ops, env_pool(env), sym_integer(env_pool(env), 3)), ret;
    const struct arguments args = { &x, 1, NULL, 0 };
    assert_int_equal(ops_call(ops, STR("my::like"), &args, &ret), OP_DONE);
    assert_value(env_pool(env), ret, expected);
    assert_int_equal(ops_call(ops, STR("my::unknown"), &args, &ret), OP_UNSUPPORTED);
    assert_int_equal(ops_call(ops, STR("my::numbers"), &args, &ret), OP_REFUSED);
    ops_free(ops);
    shape_env_free(env);
}

static void rules_ask_for_the_release(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct custom_rules *rules = rules_of(release, &err);
    assert_non_null(rules);
    assert_released(rules, 211, "f32[2][1]cpu");
    assert_released(rules, 213, "f32[4][1]cpu");
    custom_rules_free(rules);
}

static const char symbolic[] =
    "my::has(Tensor x) -> Tensor\n"
    "    return x.new_empty([2] if has_symbolic_sizes_strides(x) else [3])\n"
    "my::has_none(int x) -> Tensor\n"
    "    return torch.empty([2] if has_symbolic_sizes_strides(x) else [3])\n";

/* numel() of C++ takes no symbols, so that fill_diagonal_() wraps only in a matrix of numbers. */
static void symbolic_sizes_are_told_apart(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct custom_rules *rules = rules_of(symbolic, &err);
    assert_non_null(rules);
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new_with_rules(env, rules, &err);
    struct sym_pool *pool = env_pool(env);
    sym_id rows = env_adopt_symbol(env, STR("s0"), sym_integer(pool, 9),
                                   (struct sym_range){ SYM_ID_TWO, SYM_ID_INT_OO }, STR(""));
    struct value x[] = { matrix(ops, pool, sym_integer(pool, 9)), matrix(ops, pool, rows) }, ret;
    for (int i = 0; i < 2; i++) {
        struct value args[] = { x[i], value_int(SYM_ID_ZERO), value_sym(VALUE_BOOL, SYM_ID_TRUE) };
        assert_int_equal(
            ops_call(ops, STR("my::has"), &(struct arguments){ x + i, 1, NULL, 0 }, &ret), OP_DONE);
        assert_value(pool, ret, i ? "f32[2][1]cpu" : "f32[3][1]cpu");
        assert_int_equal(ops_call(ops, STR("aten.fill_diagonal_.default"),
                                  &(struct arguments){ args, 3, NULL, 0 }, &ret),
                         i ? OP_REFUSED : OP_DONE);
    }
    assert_string_equal(ops_error(ops)->text.p,
                        "Cannot call numel() on tensor with symbolic sizes/strides");
    struct value number = value_int(SYM_ID_ONE);
    assert_int_equal(
        ops_call(ops, STR("my::has_none"), &(struct arguments){ &number, 1, NULL, 0 }, &ret),
        OP_REFUSED);
    ops_free(ops);
    shape_env_free(env);
    custom_rules_free(rules);
}

/* Our own decompositions are written the same way. */
static void assert_body(const struct op *op, enum body body, bool *seen)
{
    static const char *const texts[] = {
#define BODY(id, schema, text)        text,
#define DECOMPOSITION(id, cast, text) text,
#include "replay/ops/decomp/all_bodies.def"
    };
    struct err err = { 0 };
    struct custom_rules *rules = custom_rules_new(&err);
    bool ok = custom_rules_add_body(rules, &op->schema, str_of(texts[body]), &err);
    if (!ok)
        print_message("%s: %s\n", op->name.p, err.text);
    assert_true(ok);
    custom_rules_free(rules);
    seen[body] = true;
}

static void bodies_are_rules(void **state)
{
    (void)state;
    op_rule rule_gelu, rule_div_mode;
    struct err err = { 0 };
    bool seen[BODIES] = { 0 };
    struct shape_env *env = shape_env_new(NULL, &err);
    struct ops *ops = ops_new(env, &err);
    for (uint32_t i = 0; i < ops->table.n; i++) {
        struct op *op = op_table_row(&ops->table, i);
        uint32_t body = (uint32_t)op->param >> POINTWISE_BODY_SHIFT;
        assert_true(op_prepare(ops, op));
        if (op->rule == rule_body)
            assert_body(op, (enum body)op->param, seen);
        if (body && op->rule != rule_body && body < BODIES)
            assert_body(op, (enum body)body, seen);
        if (op->rule == rule_gelu)
            assert_body(op, (enum body)(body + 1), seen);
        static const enum body divisions[] = { BODY_FLOOR_DIVIDE_FLOAT, BODY_FLOOR_DIVIDE_INTEGER,
                                               BODY_FLOOR_DIVIDE_UNSIGNED, BODY_TRUNC_DIVIDE };
        for (size_t j = 0; op->rule == rule_div_mode && j < 4; j++)
            assert_body(op, divisions[j], seen);
    }
    for (int i = 0; i < BODIES; i++)
        assert_true(seen[i]); /* each has a row */
    ops_free(ops);
    shape_env_free(env);
}

/* Bytes changed one by one, and texts cut anywhere: read or refused, never worse. */
static void any_text_is_read(void **state)
{
    (void)state;
    static const char bytes[] = "\n ()[]:=,.\"'#-*x0\x80";
    char copy[sizeof text];
    for (size_t i = 0; i + 1 < sizeof text; i++)
        for (size_t b = 0; b < sizeof bytes; b++) {
            struct err err = { 0 };
            memcpy(copy, text, sizeof text);
            copy[i] = bytes[b];
            struct custom_rules *rules = custom_rules_new(&err);
            bool ok = custom_rules_add(rules, (struct str){ copy, b & 1 ? i : sizeof text - 1 },
                                       STR("m"), &err);
            assert_true(ok || err.kind == ERR_INPUT);
            custom_rules_free(rules);
        }
}

/* The rules that are shipped, and each allocation failing in turn while they are read. */
static bool read_rules(void *user)
{
    struct err err = { 0 };
    struct custom_rules *rules = custom_rules_new(&err);
    bool ok = rules && custom_rules_add(rules, *(struct str *)user, STR("mylib"), &err);
    custom_rules_free(rules);
    return ok;
}

static void shipped_rules_survive_failing_memory(void **state)
{
    (void)state;
    char path[1000], bytes[4096];
    snprintf(path, sizeof path, "%s/tests/rules/mylib.rules", getenv("SYMTAPE_ROOT"));
    FILE *file = fopen(path, "r");
    if (!file)
        skip();
    struct str shipped = { bytes, fread(bytes, 1, sizeof bytes, file) };
    fclose(file);
    check_alloc_failures(read_rules, &shipped);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_have_places),
        cmocka_unit_test(nesting_is_bounded),
        cmocka_unit_test(rules_answer),
        cmocka_unit_test(blocks_run),
        cmocka_unit_test(rules_ask_for_the_release),
        cmocka_unit_test(symbolic_sizes_are_told_apart),
        cmocka_unit_test(bodies_are_rules),
        cmocka_unit_test(any_text_is_read),
        cmocka_unit_test(shipped_rules_survive_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

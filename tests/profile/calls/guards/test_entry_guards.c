#include "profile/calls/guards/entry_guards.h"
#include "tests/harness.h"

#define TENSOR(source, obj, size)                                               \
    "{\"source\": \"" source "\", \"obj\": " obj ", \"size\": " size            \
    ", \"stride\": [4, 1], \"dtype\": \"torch.float32\", \"device\": \"cpu\", " \
    "\"requires_grad\": false}"
#define MODE(grad)                                                              \
    "\"mode\": {\"grad\": " grad ", \"inference\": false, \"autocast\": null, " \
    "\"default_dtype\": \"torch.float32\", \"deterministic\": false}"
#define CALL(args, grad) \
    "{\"call\": 0, \"function\": \"f\", \"args\": [" args "], " MODE(grad) "}\n"
#define DICT(keys) "{\"source\": \"L['d']\", \"type\": \"dict\", \"keys\": " keys "}"
#define FUNCTION(obj) \
    "{\"source\": \"G['act']\", \"type\": \"function\", \"obj\": " obj ", \"value\": \"act\"}"
#define INT(value) "{\"source\": \"L['n']\", \"type\": \"int\", \"value\": " value "}"

/* The first call compiles the entry; each other is checked. */
static const char CALLS[] =
    CALL(TENSOR("L['x']", "1", "[6, 4]") "," TENSOR("L['y']", "2", "[6, 4]") "," DICT(
             "[\"a\"]") "," FUNCTION("5") "," INT("2"),
         "true")
        CALL(TENSOR("L['x']", "3", "[9, 4]") "," TENSOR("L['y']", "4", "[6, 4]") "," DICT(
                 "[\"a\"]") "," FUNCTION("5") "," INT("2"),
             "true") CALL(TENSOR("L['x']", "3", "[9, 4]") "," TENSOR("L['y']", "3", "[6, 4]"),
                          "true") CALL(TENSOR("L['x']", "3", "[9, 5]"), "true")
            CALL(TENSOR("L['x']", "3", "[1, 4]"), "true") CALL(INT("3"), "true")
                CALL(INT("true"), "true") CALL(INT("2"), "false") CALL(DICT("[]"), "true")
                    CALL(DICT("[\"a\", \"b\"]"), "true") CALL(FUNCTION("6"), "true")
                        CALL("{\"source\": \"L['x']\", \"type\": \"NoneType\", \"value\": null}",
                             "true") CALL("", "true");

static const char TREE[] =
    "\nTREE_GUARD_MANAGER:\n"
    "+- RootGuardManager\n"
    "| +- GLOBAL_STATE: ___check_global_state() against {\"grad_mode\":true}\n"
    "| +- GuardManager: source=L['x'], accessed_by=FrameLocalsGuardAccessor(key='x', "
    "framelocals_idx=0), type=<class 'torch.Tensor'>, tag_safe=(False, False)\n"
    "| | +- TENSOR_MATCH: check_tensor(L['x'], Tensor, DispatchKeySet(CPU, BackendSelect, "
    "ADInplaceOrView, AutogradCPU), torch.float32, device=None, requires_grad=False, size=[None, 4], "
    "stride=[4, 1])  # return x  # a.py:3 in f\n"
    "| | +- NO_TENSOR_ALIASING: check_no_aliasing(L['x'], L['y'])\n"
    "| +- GuardManager: source=L['y'], accessed_by=FrameLocalsGuardAccessor(key='y', "
    "framelocals_idx=1), type=<class 'torch.Tensor'>, tag_safe=(False, False)\n"
    "| | +- TYPE_MATCH: ___check_type_id(L['y'], 9), type=<class 'torch.Tensor'>  # return x\n"
    "| | +- NO_TENSOR_ALIASING\n"
    "| +- GuardManager: source=L['n'], accessed_by=FrameLocalsGuardAccessor(key='n', "
    "framelocals_idx=2), type=<class 'int'>, tag_safe=(False, False)\n"
    "| | +- EQUALS_MATCH: L['n'] == 2      # return x * n  # a.py:3 in f\n"
    "| +- DictGuardManager: source=L['d'], accessed_by=FrameLocalsGuardAccessor(key='d', "
    "framelocals_idx=3), type=<class 'dict'>, tag_safe=(False, False)\n"
    "| | +- KeyValueManager pair at index=0\n"
    "| | | +- ValueManager: GuardManager: source=L['d']['a'], type=<class 'int'>, tag_safe=(False, "
    "False)\n"
    "| | | | +- EQUALS_MATCH: L['d']['a'] == 1  # d\n"
    "| +- GuardManager: source=G['act'].__code__, accessed_by=CodeGuardAccessor, type=<class 'code'>\n"
    "| | +- ID_MATCH: ___check_obj_id(G['act'].__code__, 77), type=<class 'code'>  # act(x)\n"
    "| | +- STRANGE: whatever(L['d']['a'])  # no rule\n"
    "+- LAMBDA_GUARD: 2 <= L['x'].size()[0]  # return x\n"
    "\nGuard latency = 1.00 us\n";

static const char *const REASONS[] = {
    "",
    "",
    "Duplicate tensors found: [\"x\", \"y\"]",
    "tensor 'x' size mismatch at index 1. expected 4, actual 5",
    "2 <= x.size()[0]  # return x",
    "n == 2      # return x * n  # a.py:3 in f",
    "n == 2      # return x * n  # a.py:3 in f",
    "GLOBAL_STATE changed: grad_mode ",
    "len(d) != 1",
    "len(d) != 1",
    "___check_obj_id(G['act'].__code__, 77), type=<class 'code'>  # act(x)",
    "expected type of 'x' to be a tensor type, ' but found <class 'NoneType'>",
    "",
};

struct fixture {
    struct call_log log;
    struct world world;
    struct entry_guards guards;
};

static bool setup(struct fixture *f, struct err *err)
{
    *f = (struct fixture){ 0 };
    f->world.sources = &f->log.sources;
    return call_log_read(&f->log, STR(CALLS), err) && world_enter(&f->world, &f->log.calls.v[0]) &&
           entry_guards_read(&f->guards, STR(TREE), &f->world, &f->log.calls.v[0].mode, err);
}

static void release(struct fixture *f)
{
    entry_guards_release(&f->guards);
    world_release(&f->world);
    call_log_release(&f->log);
}

static void test_reasons(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    assert_true(setup(&f, &err));
    assert_int_equal(f.log.calls.n, sizeof REASONS / sizeof *REASONS);
    assert_int_equal(f.guards.n_undecidable, 1);
    for (size_t i = 0; i < f.log.calls.n; i++) {
        struct buf reason = BUF_INIT;
        assert_true(world_enter(&f.world, &f.log.calls.v[i]));
        struct guards_answer answer =
            entry_guards_check(&f.guards, &f.world, &f.log.calls.v[i].mode, false);
        assert_int_equal(answer.verdict, REASONS[i][0] ? GUARDS_FAIL : GUARDS_PASS);
        assert_true(
            entry_guards_explain(&f.guards, &f.world, &f.log.calls.v[i].mode, &answer, &reason));
        assert_str_is(buf_str(&reason), REASONS[i]);
        assert_true(answer.dim.dim == NO_DIM || str_contains(buf_str(&reason), STR("mismatch at")));
        buf_release(&reason);
    }
    release(&f);
}

/* The limit of entries counts those that name the same modules; other objects do not matter
 * (GuardBuilder.ID_MATCH() in torch/_dynamo/guards.py). */
static void test_modules(void **state)
{
    (void)state;
#define OBJECTS(part, told, plain, own)                                                                 \
    CALL(                                                                                               \
        "{\"source\": \"L['part']\", \"type\": \"Net\", \"obj\": " part                                 \
        ", \"value\": \"Net\"}, {\"source\": \"L['told']\", \"type\": \"Net\", \"obj\": " told          \
        ", \"nn_module\": true, \"value\": \"Net\"}, {\"source\": \"L['plain']\", \"type\": \"Mode\", " \
        "\"obj\": " plain ", \"value\": \"Mode\"}, {\"source\": \"L['own']\", \"type\": "               \
        "\"Linear\", \"obj\": " own ", \"value\": \"Linear\"}",                                         \
        "true")
    static const char LIST[] = OBJECTS("1", "2", "3", "4") OBJECTS("1", "2", "9", "4")
        OBJECTS("9", "2", "3", "4") OBJECTS("1", "9", "3", "4") OBJECTS("1", "2", "3", "9");
    static const bool SAME[] = { true, true, false, false, false };
    static const char MODULES[] =
        "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
        "| +- GuardManager: source=L['part'], type=<class '__main__.Net'>\n"
        "| | +- ID_MATCH: ___check_obj_id(L['part'], 1), type=<class '__main__.Net'>\n"
        "| | +- GuardManager: source=L['part'].__dict__, type=<class 'dict'>\n"
        "| | | +- GuardManager: source=L['part']._modules, type=<class 'dict'>\n"
        "| +- GuardManager: source=L['told'], type=<class '__main__.Net'>\n"
        "| | +- ID_MATCH: ___check_obj_id(L['told'], 2), type=<class '__main__.Net'>\n"
        "| +- GuardManager: source=L['plain'], type=<enum 'Mode'>\n"
        "| | +- ID_MATCH: ___check_obj_id(L['plain'], 3), type=<class '__main__.Mode'>\n"
        "| +- GuardManager: source=L['own'], type=<class 'torch.nn.modules.linear.Linear'>\n"
        "| | +- ID_MATCH: ___check_obj_id(L['own'], 4), type=<class "
        "'torch.nn.modules.linear.Linear'>\n";
    struct fixture f = { .world.sources = &f.log.sources };
    struct err err = ERR_INIT;
    assert_true(call_log_read(&f.log, STR(LIST), &err) &&
                world_enter(&f.world, &f.log.calls.v[0]) &&
                entry_guards_read(&f.guards, STR(MODULES), &f.world, &f.log.calls.v[0].mode, &err));
    for (size_t i = 0; i < sizeof SAME / sizeof *SAME; i++) {
        assert_true(world_enter(&f.world, &f.log.calls.v[i]));
        assert_int_equal(entry_guards_same_objects(&f.guards, &f.world), SAME[i]);
    }
    release(&f);
}

/* Settings of the process are compared, in the order of PyTorch's reasons. */
static void test_settings(void **state)
{
    (void)state;
#define SETTINGS_CALL(deterministic, settings)                                                           \
    "{\"call\": 0, \"function\": \"f\", \"args\": [], \"mode\": {\"grad\": true, \"inference\": "        \
    "false, \"autocast\": null, \"default_dtype\": \"torch.float32\", \"deterministic\": " deterministic \
    ", \"settings\": " settings "}}\n"
    static const char LIST[] = SETTINGS_CALL("false", "{}") SETTINGS_CALL("false", "null")
        SETTINGS_CALL("true", "{\"num_threads\": \"2\", \"autocast_cache_enabled\": \"False\"}")
            SETTINGS_CALL("false", "{\"other\": \"2\"}");
    static const char *const FOUND[] = {
        "", "",
        "GLOBAL_STATE changed: autocast_cache_enabled deterministic_algorithms num_threads ", ""
    };
    static const char STATE[] = "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
                                "| +- GLOBAL_STATE: ___check_global_state()\n";
    struct fixture f = { .world.sources = &f.log.sources };
    struct err err = ERR_INIT;
    assert_true(call_log_read(&f.log, STR(LIST), &err) &&
                world_enter(&f.world, &f.log.calls.v[0]) &&
                entry_guards_read(&f.guards, STR(STATE), &f.world, &f.log.calls.v[0].mode, &err));
    for (size_t i = 0; i < sizeof FOUND / sizeof *FOUND; i++) {
        const struct call_mode *mode = &f.log.calls.v[i].mode;
        struct buf reason = BUF_INIT;
        struct guards_answer answer = entry_guards_check(&f.guards, &f.world, mode, false);
        assert_int_equal(answer.verdict, FOUND[i][0] ? GUARDS_FAIL : GUARDS_PASS);
        assert_true(entry_guards_explain(&f.guards, &f.world, mode, &answer, &reason));
        assert_str_is(buf_str(&reason), FOUND[i]);
        buf_release(&reason);
    }
    release(&f);
}

/* Without the guard on n, any n passes, and one value less is looked up. A dict keeps its length.
 */
static void test_filter(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    bool removed[16] = { false }, unguarded[16] = { false };
    assert_true(setup(&f, &err));
    uint32_t guards = entry_guards_evaluated(&f.guards);
    uint32_t accessors = entry_guards_accessors(&f.guards);
    assert_int_equal(guards, f.guards.leaves.n);
    for (size_t i = 0; i < f.guards.leaves.n; i++)
        removed[i] = str_contains(f.guards.leaves.v[i].code, STR("L['n'] == 2")) ||
                     str_contains(f.guards.leaves.v[i].code, STR("L['d']['a'] == 1"));
    assert_true(entry_guards_remove(&f.guards, removed, unguarded));
    assert_int_equal(entry_guards_evaluated(&f.guards), guards - 2);
    assert_int_equal(entry_guards_accessors(&f.guards), accessors - 2);
    static const struct {
        size_t call;
        enum guards_verdict verdict;
    } ROWS[] = { { 0, GUARDS_PASS }, { 5, GUARDS_PASS }, { 3, GUARDS_FAIL }, { 9, GUARDS_FAIL } };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        const struct program_call *call = &f.log.calls.v[ROWS[i].call];
        assert_true(world_enter(&f.world, call));
        assert_int_equal(entry_guards_check(&f.guards, &f.world, &call->mode, true).verdict,
                         ROWS[i].verdict);
    }
    release(&f);
}

/* One leaf is evaluated whatever the others say. */
static void test_one_leaf(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    uint32_t failed = 0;
    assert_true(setup(&f, &err));
    const struct program_call *call = &f.log.calls.v[2]; /* x and y are one tensor */
    assert_true(world_enter(&f.world, call));
    entry_guards_begin(&f.guards);
    for (uint32_t i = 0; i < f.guards.leaves.n; i++) {
        struct guards_answer answer = entry_guards_check_leaf(&f.guards, &f.world, &call->mode, i);
        failed += answer.verdict == GUARDS_FAIL;
        if (answer.verdict == GUARDS_FAIL)
            assert_int_equal(f.guards.leaves.v[i].how, LEAF_ALIASING);
    }
    assert_int_equal(failed, 1);
    release(&f);
}

/* A child that fails often is checked before its siblings. */
static void test_order(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    assert_true(setup(&f, &err));
    const struct program_call *call = &f.log.calls.v[5]; /* n == 3 */
    assert_true(world_enter(&f.world, call));
    struct guards_answer first = entry_guards_check(&f.guards, &f.world, &call->mode, true);
    struct guards_answer second = entry_guards_check(&f.guards, &f.world, &call->mode, true);
    assert_int_equal(first.leaf, second.leaf);
    assert_int_equal(second.evaluated, 2); /* GLOBAL_STATE, then EQUALS_MATCH */
    assert_true(first.evaluated > second.evaluated);
    release(&f);
}

/* A failure in a pair of a dict counts in what is above the dict, but not as the dict's own. */
static void test_order_of_pairs(void **state)
{
    (void)state;
    struct fixture f;
    struct err err = ERR_INIT;
    assert_true(setup(&f, &err));
    const struct guard_manager *all = f.guards.managers.v;
    uint32_t pair = 0, dict, value;
    while (!all[pair].is_pair)
        pair++;
    dict = all[pair].parent;
    value = all[pair].first_child;
    assert_int_not_equal(all[0].first_child, dict);
    for (int i = 0; i < 3; i++)
        entry_guards_count(&f.guards, value);
    assert_int_not_equal(all[0].first_child, dict);
    assert_int_equal(all[value].failures, 3);
    assert_int_equal(all[dict].failures, 0);
    assert_int_equal(all[0].failures, 3);
    entry_guards_count(&f.guards, dict);
    assert_int_equal(all[0].first_child, dict);
    release(&f);
}

static bool is_symbol(void *data, uint32_t source, uint32_t dim, int64_t before)
{
    (void)data, (void)source, (void)before;
    return dim != 0;
}

/* Sizes and integers that differ become symbols or numbers, and what a size that became a number
 * met goes; what differs in more is refused. */
static void test_widen(void **state)
{
    (void)state;
    static const struct {
        size_t call;
        bool widens;
        uint32_t x, n; /* the number that is demanded of size x of L['x'], and of L['n']; or 0 */
        int64_t size, number;
    } ROWS[] = {
        { 3, true, 1, 0, 0, 2 },   /* L['x'] is [9, 5]: its second size is a symbol */
        { 4, true, 0, 0, 1, 2 },   /* L['x'] is [1, 4] */
        { 5, true, 1, 0, 4, 0 },   /* L['n'] is 3 */
        { 2, false, 0, 0, 0, 2 },  /* L['x'] is L['y'] */
        { 6, false, 0, 0, 0, 2 },  /* L['n'] is True */
        { 8, false, 0, 0, 0, 2 },  /* the dict is empty */
        { 10, false, 0, 0, 0, 2 }, /* another function */
    };
    const struct size_policy policy = { is_symbol, NULL };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        struct fixture f;
        struct err err = ERR_INIT;
        int64_t number = 0;
        bool widens;
        assert_true(setup(&f, &err));
        const struct program_call *call = &f.log.calls.v[ROWS[i].call];
        assert_true(world_enter(&f.world, call));
        uint32_t x = world_source(&f.world, STR("L['x']")),
                 n = world_source(&f.world, STR("L['n']"));
        assert_true(entry_guards_widen(&f.guards, &f.world, &call->mode, &policy, &widens));
        assert_int_equal(widens, ROWS[i].widens);
        assert_int_equal(entry_guards_check(&f.guards, &f.world, &call->mode, false).verdict ==
                             GUARDS_PASS,
                         widens);
        assert_int_equal(entry_guards_number(&f.guards, x, ROWS[i].x, &number), ROWS[i].size != 0);
        assert_int_equal(number, ROWS[i].size);
        number = 0;
        assert_int_equal(entry_guards_number(&f.guards, n, NO_DIM, &number), ROWS[i].number != 0);
        assert_int_equal(number, ROWS[i].number);
        assert_false(entry_guards_number(&f.guards, x, 2, &number));
        release(&f);
    }
}

/* An attribute that is no mark has no dims. */
static void test_unknown_mark(void **state)
{
    (void)state;
    static const char MARKS[] =
        "+- RootGuardManager\n"
        "| +- GuardManager: source=L['x']\n"
        "| | +- DIMENSION_DYNAMIC_MARKING_GUARD: getattr(L['x'], 'bogus', set()).issubset({0}) if "
        "L['x'].size()[0] == 6 else False\n";
    struct fixture f;
    struct entry_guards guards = { 0 };
    struct err err = ERR_INIT;
    struct buf reason = BUF_INIT;
    assert_true(setup(&f, &err));
    assert_true(world_enter(&f.world, &f.log.calls.v[0]));
    const struct call_mode *mode = &f.log.calls.v[0].mode;
    assert_true(entry_guards_read(&guards, STR(MARKS), &f.world, mode, &err));
    assert_int_equal(entry_guards_check(&guards, &f.world, mode, false).verdict, GUARDS_PASS);
    assert_true(world_enter(&f.world, &f.log.calls.v[1]));
    struct guards_answer answer = entry_guards_check(&guards, &f.world, mode, false);
    assert_int_equal(answer.verdict, GUARDS_FAIL);
    assert_true(entry_guards_explain(&guards, &f.world, mode, &answer, &reason));
    assert_str_is(buf_str(&reason), "_has_dynamo_dim_marking is present on runtime tensor but was "
                                    "absent at compile time");
    buf_release(&reason);
    entry_guards_release(&guards);
    release(&f);
}

static void test_scope(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        { "L['x'] == L[\"y\"]", "x == y" },
        { "L['self'].k", "self.k" },
        { "G['a']", "G['a']" },
        { "L[x]", "L[x]" },
        { "L['x", "L['x" },
        { "", "" },
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct buf out = BUF_INIT;
        put_without_scope(str_of(CASES[i][0]), &out);
        assert_str_is(buf_str(&out), CASES[i][1]);
        buf_release(&out);
    }
}

static bool attempt(void *arg)
{
    (void)arg;
    struct fixture f;
    struct err err = ERR_INIT;
    bool ok = setup(&f, &err);
    if (ok) {
        const struct size_policy policy = { is_symbol, NULL };
        struct buf reason = BUF_INIT;
        bool widens;
        struct guards_answer answer = entry_guards_check(&f.guards, &f.world, &f.guards.mode, true);
        ok = !answer.no_memory &&
             entry_guards_explain(&f.guards, &f.world, &f.guards.mode, &answer, &reason) &&
             !reason.failed && entry_guards_learn(&f.guards, &f.world) &&
             world_enter(&f.world, &f.log.calls.v[5]) &&
             entry_guards_widen(&f.guards, &f.world, &f.guards.mode, &policy, &widens);
        buf_release(&reason);
    }
    release(&f);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    check_alloc_failures(attempt, NULL);
}

/* A guard on True refuses 1, which is equal to it; the reason of a tensor that is a parameter says
 * so. */
static void test_types(void **state)
{
    (void)state;
    static const char CALLS_OF_TYPES[] =
        CALL("{\"source\": \"L['q']\", \"type\": \"bool\", \"value\": true}", "true")
            CALL("{\"source\": \"L['q']\", \"type\": \"int\", \"value\": 1}", "true")
                CALL("{\"source\": \"L['w']\", \"class\": \"Parameter\", \"size\": [3], "
                     "\"stride\": [1], \"dtype\": \"torch.float32\", \"device\": \"cpu\"}",
                     "true");
    static const char TREE_OF_TYPES[] =
        "TREE_GUARD_MANAGER:\n+- RootGuardManager\n"
        "| +- GuardManager: source=L['q'], accessed_by=FrameLocalsGuardAccessor\n"
        "| | +- TRUE_MATCH: L['q'] == True\n"
        "| +- GuardManager: source=L['w'], accessed_by=FrameLocalsGuardAccessor\n"
        "| | +- TENSOR_MATCH: check_tensor(L['w'], Parameter, DispatchKeySet(CPU, BackendSelect, "
        "ADInplaceOrView, AutogradCPU), torch.float32, device=None, requires_grad=False, size=[2], "
        "stride=[1])\n";
    static const char *const EXPECTED[] = {
        "", "q == True",
        "tensor 'w' size mismatch at index 0. expected 2, actual 3. Guard failed on a parameter, "
        "consider using torch._dynamo.config.force_parameter_static_shapes = False to allow "
        "dynamism on parameters."
    };
    struct fixture f = { 0 };
    struct err err = ERR_INIT;
    f.world.sources = &f.log.sources;
    assert_true(call_log_read(&f.log, STR(CALLS_OF_TYPES), &err));
    const struct call_mode *mode = &f.log.calls.v[0].mode;
    assert_true(world_enter(&f.world, &f.log.calls.v[0]));
    assert_true(entry_guards_read(&f.guards, STR(TREE_OF_TYPES), &f.world, mode, &err));
    for (size_t i = 0; i < 3; i++) {
        struct buf reason = BUF_INIT;
        assert_true(world_enter(&f.world, &f.log.calls.v[i]));
        struct guards_answer answer = entry_guards_check(&f.guards, &f.world, mode, false);
        assert_true(entry_guards_explain(&f.guards, &f.world, mode, &answer, &reason));
        assert_str_is(buf_str(&reason), EXPECTED[i]);
        buf_release(&reason);
    }
    release(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons), cmocka_unit_test(test_types),
        cmocka_unit_test(test_modules), cmocka_unit_test(test_settings),
        cmocka_unit_test(test_filter),  cmocka_unit_test(test_one_leaf),
        cmocka_unit_test(test_order),   cmocka_unit_test(test_order_of_pairs),
        cmocka_unit_test(test_widen),   cmocka_unit_test(test_unknown_mark),
        cmocka_unit_test(test_scope),   cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

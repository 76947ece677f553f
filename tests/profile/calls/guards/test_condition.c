#include "profile/calls/guards/condition.h"
#include "tests/harness.h"

static const char CALL[] =
    "{\"call\": 0, \"function\": \"f\", \"args\": ["
    "{\"source\": \"L['x']\", \"obj\": 1, \"size\": [6, 4], \"stride\": [4, 1], \"dtype\": "
    "\"torch.float32\", \"marks\": {\"dynamic\": [0]}},"
    "{\"source\": \"L['y']\", \"obj\": 1, \"size\": [6, 4], \"stride\": [4, 1], \"offset\": 7},"
    "{\"source\": \"L['k']\", \"type\": \"int\", \"value\": 3},"
    "{\"source\": \"L['b']\", \"type\": \"bool\", \"value\": true},"
    "{\"source\": \"L['f']\", \"type\": \"float\", \"value\": 0.5},"
    "{\"source\": \"L['nan']\", \"type\": \"float\", \"value\": NaN},"
    "{\"source\": \"L['s']\", \"type\": \"str\", \"value\": \"relu\"},"
    "{\"source\": \"L['none']\", \"type\": \"NoneType\", \"value\": null},"
    "{\"source\": \"L['l']\", \"type\": \"list\", \"len\": 0},"
    "{\"source\": \"L['d']\", \"type\": \"dict\", \"keys\": [\"a\"]},"
    "{\"source\": \"L['bytes']\", \"type\": \"bytes\", \"value\": \"b'a\\\\'b'\"},"
    "{\"source\": \"L['complex']\", \"type\": \"complex\", \"value\": \"(1-2j)\"},"
    "{\"source\": \"L['set']\", \"type\": \"set\", \"keys\": [\"a, b\", 2]},"
    "{\"source\": \"L['t']\", \"type\": \"tuple\", \"len\": 2},"
    "{\"source\": \"L['t'][0]\", \"type\": \"int\", \"value\": 1},"
    "{\"source\": \"L['t'][1]\", \"type\": \"int\", \"value\": 2},"
    "{\"source\": \"L['device']\", \"type\": \"device\", \"value\": \"cuda:1\"},"
    "{\"source\": \"L['dtype']\", \"type\": \"dtype\", \"value\": \"torch.float32\"}]}";

enum { NO = 0, YES = 1, UNKNOWN_ = 2, RAISES = 3, NOT_PARSED = 4 };

static const struct {
    const char *code;
    int answer;
} CASES[] = {
    { "2 <= L['x'].size()[0]", YES },
    { "2 <= L['x'].size()[0] <= 5", NO },
    { "(L['x'].size()[0] % 2) == 0", YES },
    { "((-7) + L['k'] // 2) == -6", YES },
    { "(-7 // 2) == -4 and (-7 % 2) == 1", YES },
    { "2 ** 3 ** 2 == 512", YES },
    { "L['x'].stride()[0] == L['x'].size()[1]", YES },
    { "2 <= L['y'].storage_offset()", YES },
    { "L['x'].storage_offset() == 0", UNKNOWN_ },
    { "L['u'].storage_offset() == 0", UNKNOWN_ },
    { "L['k'].storage_offset() == 0", RAISES },
    { "L['x'].size()[2] == 1", RAISES },
    { "L['none'].size()[0] == 1", RAISES },
    { "L['u'].size()[0] == 1", UNKNOWN_ },
    { "L['u'] == 3 or L['k'] == 3", UNKNOWN_ },
    { "L['k'] == 3 or L['u'] == 3", YES },
    { "not L['k'] == 3", NO },
    { "L['k'] != 3.0", NO },
    { "L['f'] < 1", YES },
    { "L['f'] + 1 == 1.5", YES },
    { "1 / 2 == 0.5", YES },
    { "L['nan'] < 1 or L['nan'] >= 1", NO },
    { "not math.isnan(L['f'])", YES },
    { "math.isnan(L['nan'])", YES },
    { "(type(L['nan']) is float and __math_isnan(L['nan']))", YES },
    { "(type(L['f']) is float and __math_isnan(L['f']))", NO },
    { "type(L['f']) is complex and __numpy_isnan(L['f'])", NO },
    { "L['s'] == 'relu'", YES },
    { "L['s'] == \"tanh\"", NO },
    { "L['s'] == 3", NO },
    { "L['b'] == True", YES },
    { "L['none'] is None", YES },
    { "L['x'] is None", NO },
    { "L['x'] is not None", YES },
    { "L['x'] is L['y']", YES },
    { "L['x'] is not L['y']", NO },
    { "L['x'] is L['u']", UNKNOWN_ },
    { "not L['l']", YES },
    { "len(L['l']) == 0", YES },
    { "len(L['d']) == 2", NO },
    { "not ___dict_contains('b', L['d'])", YES },
    { "___dict_contains('a', L['d'])", YES },
    { "not ___dict_contains(12345, L['d'])", UNKNOWN_ },
    { "L['d']['b'] == 1", RAISES },
    { "list(dict.keys(L['d']))[0] == 'a'", YES },
    { "hasattr(L['x'], '_dynamo_dynamic_indices') == False", NO },
    { "hasattr(L['y'], '_dynamo_dynamic_indices') == False", YES },
    { "hasattr(L['x'], 'other')", UNKNOWN_ },
    { "((getattr(L['x'], '_dynamo_dynamic_indices', set()).issubset({0, 1})) if hasattr(L['x'], "
      "'_dynamo_dynamic_indices') else True)",
      YES },
    { "((getattr(L['x'], '_dynamo_dynamic_indices', set()).issubset({1})) if hasattr(L['x'], "
      "'_dynamo_dynamic_indices') else True)",
      NO },
    { "((getattr(L['x'], '_dynamo_shape_ids', None) == None) if hasattr(L['x'], "
      "'_dynamo_unbacked_indices') else True)",
      YES },
    { "set.__contains__(L['set'], 2)", YES },
    { "not set.__contains__(L['set'], 3)", YES },
    { "set.__contains__(L['set'], 'a, b')", YES },
    { "set.__contains__(L['u'], 3)", UNKNOWN_ },
    { "L['set'] == {'a, b', 2}", YES },
    { "L['set'] == {2}", NO },
    { "L['set'] == {2, 'a'}", NO },
    { "L['set'] == {2, 2, 'a, b'}", NO },
    { "L['set'] == {None}", UNKNOWN_ },
    { "L['u'] == {2}", UNKNOWN_ },
    { "L['complex'] == (1-2j)", YES },
    { "L['complex'] == 2j", NO },
    { "L['complex'] == (1-2j", NOT_PARSED },
    { "L['u'] == 1j", UNKNOWN_ },
    { "L['bytes'] == b'a\\'b'", YES },
    { "L['bytes'] == b'a'", NO },
    { "L['bytes'] == b'a\\", NOT_PARSED },
    { "L['bytes'] == b'", NOT_PARSED },
    { "L['complex'] == j", NOT_PARSED },
    { "L['complex'] == Ellipsis", UNKNOWN_ },
    { "(L['k'] + 1) == 4", YES },
    { "L['set'] == frozenset({2, 'a, b'})", YES },
    { "L['set'] == frozenset({2})", NO },
    { "L['set'] == set()", NO },
    { "L['set'] == frozenset()", NO },
    { "L['u'] == frozenset({2})", UNKNOWN_ },
    { "L['set'] == frozenset(2)", NOT_PARSED },
    { "L['set'] == frozenset({2}", NOT_PARSED },
    { "L['set'] == set(", NOT_PARSED },
    { "L['set'] == {2", NOT_PARSED },
    { "L['device'] == device(type='cuda', index=1)", YES },
    { "L['device'] == device(type='cuda', index=0)", NO },
    { "L['device'] == device(type='cuda')", NO },
    { "L['device'] == device(type='cpu', 0)", NOT_PARSED },
    { "L['t'] == (1, 2)", YES },
    { "L['t'] == [1, 3]", NO },
    { "L['t'] == (1,)", NO },
    { "L['t'] == ()", NO },
    { "L['l'] == []", YES },
    { "L['t'] == (1, (2, 3))", UNKNOWN_ },
    { "L['u'] == (1, 2)", UNKNOWN_ },
    { "L['k'] == (3)", YES },
    { "L['t'] == (1, 2", NOT_PARSED },
    { "L['t'] == (1 2)", NOT_PARSED },
    { "L['dtype'] == torch.float32", YES },
    { "torch.float32 == L['dtype']", YES },
    { "device(type='cuda', index=1) == L['device']", YES },
    { "L['device'] == device(type='cuda', index=9223372036854775807)", NOT_PARSED },
    { "L['dtype'] == torch.float64", NO },
    { "L['dtype'] == torch.Size([2])", NOT_PARSED },
    { "torch.sym_max(L['k'], 5) == 5", YES },
    { "min(2, L['k']) == 2", YES },
    { "1 // 0 == 1", UNKNOWN_ },
    { "9223372036854775807 + 1 > 0", UNKNOWN_ },
    { "9223372036854775808 > 0", NOT_PARSED },
    { "L['k'] in (1, 2)", NOT_PARSED },
    { "utils_device.CURRENT_DEVICE == None", NOT_PARSED },
    { "0 <= 1 <= (1 <= L['k'] <= 3)", YES },
    { "(4 <= L['k'] <= 5) <= 1 <= 2", YES },
    { "0 <= (1 <= L['k'] <= 3) <= 1", NOT_PARSED },
    { "0 <= min(1, -(1 < 2 < 3)) <= 1", NOT_PARSED },
    { "L['k'] ==", NOT_PARSED },
    { "", NOT_PARSED },
    { "L['x", NOT_PARSED },
    { "'no end", NOT_PARSED },
};

struct fixture {
    struct call_log log;
    struct world world;
    struct condition_pool pool;
};

static void setup(struct fixture *f)
{
    struct err err = ERR_INIT;
    *f = (struct fixture){ 0 };
    assert_true(call_log_read(&f->log, STR(CALL), &err));
    f->world.sources = &f->log.sources;
    assert_true(world_enter(&f->world, &f->log.calls.v[0]));
}

static void release(struct fixture *f)
{
    condition_pool_release(&f->pool);
    world_release(&f->world);
    call_log_release(&f->log);
}

static int answer_of(struct fixture *f, const char *code)
{
    condition_id id;
    uint32_t missing = INTERN_NONE;
    assert_true(condition_parse(&f->pool, &f->world, str_of(code), &id));
    if (id == CONDITION_NONE)
        return NOT_PARSED;
    struct py_value value = condition_value(&f->pool, &f->world, id, &missing);
    if (value.kind == PY_MISSING)
        assert_int_not_equal(missing, INTERN_NONE);
    return value.kind == PY_UNKNOWN   ? UNKNOWN_
           : value.kind == PY_MISSING ? RAISES
                                      : py_is_true(&value);
}

static void test_answers(void **state)
{
    (void)state;
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++)
        if (answer_of(&f, CASES[i].code) != CASES[i].answer)
            fail_msg("%s: %d, not %d", CASES[i].code, answer_of(&f, CASES[i].code),
                     CASES[i].answer);
    release(&f);
}

/* Depth and length are bounded. */
static void test_bounds(void **state)
{
    (void)state;
    static const struct {
        const char *before, *part;
        int n;
    } LONG[] = {
        { "", "(", 100000 },     { "", "not ", 100000 },   { "", "-", 100000 },
        { "1", " + 1", 100000 }, { "1", " ** 1", 100000 },
    };
    struct fixture f;
    setup(&f);
    for (size_t i = 0; i < sizeof LONG / sizeof *LONG; i++) {
        struct buf code = BUF_INIT;
        buf_puts(&code, LONG[i].before);
        for (int k = 0; k < LONG[i].n; k++)
            buf_puts(&code, LONG[i].part);
        buf_putc(&code, 0);
        assert_false(code.failed);
        assert_int_equal(answer_of(&f, code.p), NOT_PARSED);
        buf_release(&code);
    }
    release(&f);
}

static void test_sources(void **state)
{
    (void)state;
    assert_int_equal(source_length(STR("L['x'].a[0] == 2")), strlen("L['x'].a[0]"));
    assert_int_equal(source_length(STR("L['x'].size()[0]")), strlen("L['x']"));
    assert_int_equal(source_length(STR("dict(type(L['x']).__dict__)['k'] == 2")),
                     strlen("dict(type(L['x']).__dict__)['k']"));
    assert_int_equal(source_length(STR("type(L['x']).__call__ is f")),
                     strlen("type(L['x']).__call__"));
    assert_int_equal(source_length(STR("type(L['x']) is float")), 0);
    assert_int_equal(source_length(STR("dict(type(k).__dict__)")), 0);
    assert_int_equal(source_length(STR("dict(type(L['x']")), 0);
    assert_int_equal(source_length(STR("list(dict.keys(L['d']))[0] == 'a'")),
                     strlen("list(dict.keys(L['d']))[0]"));
    assert_int_equal(source_length(STR("dict.__getitem__(L['d'], 'k').b")),
                     strlen("dict.__getitem__(L['d'], 'k').b"));
    assert_int_equal(source_length(STR("math.isnan(L['x'])")), 0);
    assert_int_equal(source_length(STR("L[")), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

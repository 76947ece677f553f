#include "trace/events/incidents/recompile_guard.h"

#include "tests/harness.h"

static const struct guard_case {
    const char *text;
    enum recompile_kind kind;
    const char *source, *index, *expected, *actual;
} CASES[] = {
    { "tensor 'x' size mismatch at index 1. expected 24, actual 30", RECOMPILE_SIZE, "x", "1", "24",
      "30" },
    { "tensor 'self._modules['emb']._parameters['weight']' size mismatch at index 0. expected 8, "
      "actual 9. Guard failed on a parameter, consider using torch._dynamo.config.x",
      RECOMPILE_SIZE, "self._modules['emb']._parameters['weight']", "0", "8", "9" },
    { "tensor 'G['T']' stride mismatch at index 0. expected 3, actual 1", RECOMPILE_STRIDE,
      "G['T']", "0", "3", "1" },
    { "tensor 'x' rank mismatch. expected 2, actual 3", RECOMPILE_RANK, "x", "", "2", "3" },
    { "tensor 'x' dtype mismatch. expected Float, actual Double", RECOMPILE_DTYPE, "x", "", "Float",
      "Double" },
    { "tensor 'x' requires_grad mismatch. expected requires_grad=0", RECOMPILE_REQUIRES_GRAD, "x",
      "", "0", "" },
    { "tensor 'x' dispatch key set mismatch. expected DispatchKeySet(CPU, A), actual "
      "DispatchKeySet(CUDA)",
      RECOMPILE_DISPATCH_KEYS, "x", "", "DispatchKeySet(CPU, A)", "DispatchKeySet(CUDA)" },
    { "expected type of 'y' to be a tensor type, ' but found <class 'NoneType'>",
      RECOMPILE_TENSOR_TYPE, "y", "", "", "<class 'NoneType'>" },
    { "GLOBAL_STATE changed: grad_mode", RECOMPILE_GLOBAL_STATE, "", "", "grad_mode", "" },
    { "Duplicate tensors found: [\"x\", \"y\"]", RECOMPILE_ALIASING, "", "", "", "" },
    { "d['a'] is d['b']", RECOMPILE_ALIASING, "d['a']", "", "", "" },
    { "BACKEND_MATCH failure: torch.compile detected", RECOMPILE_BACKEND, "", "", "", "" },
    { "hasattr(x, '_dynamo_dynamic_indices') == False", RECOMPILE_MARKING, "x", "", "", "" },
    { "___check_type_id(n, 94), type=<class 'int'>", RECOMPILE_TYPE, "n", "", "<class 'int'>", "" },
    { "___check_obj_id(act.__code__, 7), type=<class 'code'>", RECOMPILE_CODE, "act", "", "", "" },
    { "___check_obj_id(act, 7), type=<class 'function'>", RECOMPILE_CODE, "act", "", "", "" },
    { "___check_obj_id(mod, 7), type=<class 'torch.nn.Linear'>", RECOMPILE_OBJECT, "mod", "",
      "<class 'torch.nn.Linear'>", "" },
    { "y is None", RECOMPILE_NONE, "y", "", "", "" },
    { "y is not None", RECOMPILE_NOT_NONE, "y", "", "", "" },
    { "len(xs) == 3", RECOMPILE_LENGTH, "xs", "", "3", "" },
    { "not xs", RECOMPILE_LENGTH, "xs", "", "", "" },
    { "len(d) != 1", RECOMPILE_KEYS, "d", "", "1", "" },
    { "list(dict.keys(d))[0] == 'a'", RECOMPILE_KEYS, "d", "", "'a'", "" },
    { "not ___dict_contains('mask', d)", RECOMPILE_KEYS, "d", "", "'mask'", "" },
    { "___as_tensor(scale).item() == 2.5", RECOMPILE_FLOAT, "scale", "", "2.5", "" },
    { "self._modules['drop'].training == True", RECOMPILE_FLAG, "self._modules['drop']", "", "True",
      "" },
    { "2 <= args[0].size()[1]", RECOMPILE_NOT_ONE, "args[0]", "1", "", "" },
    { "2 <= x.size()[1] <= 8", RECOMPILE_BRANCH, "x", "1", "", "" },
    { "a.size()[0] == b.size()[1]", RECOMPILE_EQUAL_SIZES, "a", "", "", "" },
    { "(x.size()[2] % 2) != 1", RECOMPILE_BRANCH, "x", "2", "", "" },
    { "x.size()[2] % 2 == 1", RECOMPILE_BRANCH, "x", "2", "", "" },
    { "sigma > 0.5", RECOMPILE_BRANCH, "", "", "", "" },
    { "name == 'decoder.layers.0'", RECOMPILE_VALUE, "name", "", "'decoder.layers.0'", "" },
    { "self.cfg['a b'] == 2", RECOMPILE_VALUE, "self.cfg['a b']", "", "2", "" },
    { "flag is True", RECOMPILE_VALUE, "flag", "", "", "" },
    { "tensor 'x' size mismatch at index one. expected 1, actual 2", RECOMPILE_EXPRESSION, "", "",
      "", "" },
    { "tensor '", RECOMPILE_EXPRESSION, "", "", "", "" },
    { "", RECOMPILE_EXPRESSION, "", "", "", "" },
};

static void test_forms(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct guard_case *c = &CASES[i];
        struct recompile_guard g = recompile_guard_parse(str_of(c->text));
        if (g.kind != c->kind || !str_is(g.source, c->source) || !str_is(g.index, c->index))
            print_message("%s\n", c->text);
        assert_int_equal(g.kind, c->kind);
        assert_str_is(g.source, c->source);
        assert_str_is(g.index, c->index);
        assert_str_is(g.expected, c->expected);
        assert_str_is(g.actual, c->actual);
        assert_str_is(g.text, c->text);
    }
}

static void check_source(void (*put)(struct buf *out, struct str source), const char *source,
                         const char *expected)
{
    struct buf out = BUF_INIT;
    put(&out, str_of(source));
    assert_str_is(buf_str(&out), expected);
    buf_release(&out);
}

static void test_sources(void **state)
{
    (void)state;
    check_source(source_local, "x", "L['x']");
    check_source(source_local, "self._modules['a']", "L['self']._modules['a']");
    check_source(source_local, "args[0]", "L['args'][0]");
    check_source(source_local, "G['N']", "G['N']");
    check_source(source_local, "L['x']", "L['x']");
    check_source(source_local, "___stack0", "___stack0");
    check_source(source_local, "", "");
    check_source(source_spoken, "self._modules['drop']", "self.drop");
    check_source(source_spoken, "L['self']._modules['blocks']._modules['0'].eps",
                 "self.blocks[0].eps");
    check_source(source_spoken, "G['TEMPERATURE']", "TEMPERATURE");
    check_source(source_spoken, "self.__dict__['_buffers']['average']", "self.average");
    check_source(source_spoken, "L['kwargs']['input_ids']", "kwargs['input_ids']");
    check_source(source_spoken, "L['", "L['");
    check_source(source_spoken, "", "");
    check_source(source_described, "self._modules['drop']", "self.drop");
    check_source(source_described, "s.hook.__closure__[0].cell_contents['n']",
                 "['n'] of a variable that s.hook captures");
    check_source(source_described, "G['f'].__closure__[1].cell_contents.step",
                 "step of a variable that f captures");
    check_source(source_described, "L['f'].__closure__[12].cell_contents",
                 "a variable that f captures");
    check_source(source_described, "f.__closure__[1].cell_contents.__closure__[0].cell_contents",
                 "a variable that a captured function captures");
    check_source(source_described, "f.__closure__[1]", "f.__closure__[1]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),
        cmocka_unit_test(test_sources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

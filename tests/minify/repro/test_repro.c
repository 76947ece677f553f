#include "minify/repro/repro.h"

#include "tests/harness.h"

#define CLASS "class GraphModule(torch.nn.Module):\n"

static struct candidate *read_candidate(const char *fx)
{
    struct candidate_options options = { .gradients = true };
    struct err err = ERR_INIT;
    struct candidate *ret = candidate_read_fx(str_of(fx), &options, &err);
    if (!ret)
        fail_msg("%s", err.text);
    return ret;
}

static struct buf print(const char *fx, const struct repro_what *what, struct repro_notes *notes)
{
    struct buf out = BUF_INIT;
    struct candidate *candidate = read_candidate(fx);
    assert_true(repro_print(candidate, what, notes, &out));
    buf_putc(&out, '\0');
    assert_false(out.failed);
    out.n--;
    candidate_free(candidate);
    return out;
}

static void holds(const char *fx, const struct repro_what *what, const char *line)
{
    struct repro_notes notes;
    struct buf out = print(fx, what, &notes);
    if (!strstr(out.p, line))
        fail_msg("no \"%s\" in:\n%s", line, out.p);
    assert_string_equal(notes.cannot, "");
    buf_release(&out);
}

static const char view[] =
    "# symtape candidate: dynamo, torch 2.11.0, seed 5\n"
    "# symbol s77 = 4 in [2, int_oo] marked from L['x'].size()[0]\n"
    "# symbol s27 = 3 in [2, 64] from L['x'].size()[1]\n" CLASS
    "    def forward(self, s77: \"Sym(s77)\", L_x_: \"f32[s77, s27, 64][64*s27, 64, 1]cpu\"):\n"
    "        l_x_ = L_x_\n"
    "        transpose: \"f32[s27, s77, 64][64, 64*s27, 1]cpu\" = l_x_.transpose(0, 1)\n"
    "        view: \"f32[s27*s77, 64][64, 1]cpu\" = transpose.view(-1, 64)\n"
    "        return (view,)\n";

static void test_whole(void **state)
{
    (void)state;
    const struct repro_what what = { .check = REPRO_RAISES,
                                     .message =
                                         STR("Cannot view a tensor with shape (s27, s77)!") };
    struct repro_notes notes;
    struct buf out = print(view, &what, &notes);
    assert_string_equal(
        out.p, "# Cannot view a tensor with shape (s27, s77)!\n"
               "import re\n"
               "import sys\n\n"
               "try:\n"
               "    import torch\n"
               "except ImportError:\n"
               "    sys.exit(125)\n\n"
               "torch.manual_seed(5)\n"
               "x = torch.randn(4, 3, 64)\n"
               "torch._dynamo.mark_dynamic(x, 0)\n"
               "torch._dynamo.mark_dynamic(x, 1, min=2, max=64)\n"
               "inputs = (x,)\n\n\n"
               "def f(x):\n"
               "    transpose = x.transpose(0, 1)\n"
               "    view = transpose.view(-1, 64)\n"
               "    return (view,)\n\n\n"
               "try:\n"
               "    f(*inputs)\n"
               "except Exception as error:\n"
               "    print(\"cannot run:\", error)\n"
               "    sys.exit(125)\n"
               "try:\n"
               "    torch.compile(f, backend=\"aot_eager\", fullgraph=True)(*inputs)\n"
               "except Exception as error:\n"
               "    print(type(error).__name__, error)\n"
               "    sys.exit(1 if re.search(r\"Cannot view a tensor with shape .*!\", str(error)) "
               "else 125)\n");
    assert_int_equal(notes.lines, 25);
    assert_string_equal(notes.cannot, "");
    buf_release(&out);
}

/* For a report: what fails raises. What the user names is set before, between and after imports. */
static void test_plain(void **state)
{
    (void)state;
    struct repro_what what = { .check = REPRO_RAISES,
                               .message = STR("ValueError: no"),
                               .backend = STR("mine:fast"),
                               .plain = true };
    what.setup = (struct program_setup){ .imports = STR("mine.py"),
                                         .env = STR("A=1"),
                                         .config = STR("dynamo.verbose=True"),
                                         .backend = what.backend };
    holds(view, &what,
          "# ValueError: no\nimport os\nos.environ[\"A\"] = \"1\"\nimport torch\n"
          "import torch._dynamo.config\nimport mine\ntorch._dynamo.config.verbose = True\n");
    holds(view, &what,
          "    return (view,)\n\n\ntorch.compile(f, backend=mine.fast, fullgraph=True)(*inputs)\n");
    what.check = REPRO_WRONG;
    holds(view, &what,
          "expected = f(*inputs)\ntorch.manual_seed(5)\n"
          "actual = torch.compile(f, backend=mine.fast, fullgraph=True)(*inputs)\n"
          "torch.testing.assert_close(actual, expected, equal_nan=True)\n");
    what.plain = false;
    holds(view, &what,
          "try:\n    import torch\n    import torch._dynamo.config\n    import mine\n"
          "except ImportError:\n    sys.exit(125)\ntorch._dynamo.config.verbose = True\n");
}

/* The backward pass runs if an input requires a gradient, in eager mode, too. */
static void test_gradients(void **state)
{
    (void)state;
    static const char sine[] =
        "# symtape candidate: dynamo, torch 2.13.0, seed 5\n"
        "# requires_grad x\n" CLASS "    def forward(self, x: \"f32[3][1]cpu\"):\n"
        "        y: \"f32[3][1]cpu\" = torch.sin(x)\n"
        "        return (y,)\n";
    struct repro_what what = { .check = REPRO_WRONG };
    holds(sine, &what, "x = torch.randn(3).requires_grad_()\n");
    holds(sine, &what,
          "def gradients(outputs, inputs):\n"
          "    torch.manual_seed(5)\n"
          "    y = [t for t in outputs if isinstance(t, torch.Tensor) and t.requires_grad]\n"
          "    x = [t for t in inputs if t.requires_grad]\n"
          "    dy = [torch.randn_like(t) for t in y]\n"
          "    return outputs, y and torch.autograd.grad(y, x, dy, allow_unused=True)\n");
    holds(sine, &what, "    expected = gradients(f(*inputs), inputs)\n");
    holds(sine, &what,
          "    actual = gradients(torch.compile(f, backend=\"aot_eager\", "
          "fullgraph=True)(*inputs), inputs)\n");
    what.plain = true;
    holds(sine, &what, "\nexpected = gradients(f(*inputs), inputs)\ntorch.manual_seed(5)\n");
}

static void test_sizes_come_from_shapes(void **state)
{
    (void)state;
    const char fx[] =
        "# symtape candidate: forward, torch 2.11.0, seed 0\n"
        "# symbol s77 = 4 in [2, int_oo]\n"
        "# symbol s27 = 3 in [2, int_oo]\n"
        "# guard Ne(Mod(s27, 7), 0)\n" CLASS
        "    def forward(self, primals_1: \"Sym(s27)\", primals_2: \"Sym(2*s77)\", "
        "primals_3: \"f32[s77, s27][s27, 1]cpu\", primals_4: \"i64[s27][1]cpu\"):\n"
        "        mul: \"Sym(s27*s77)\" = primals_1 * primals_2\n"
        "        view: \"f32[s27*s77][1]cpu\" = "
        "torch.ops.aten.view.default(primals_3, [mul])\n"
        "        add: \"i64[s27][1]cpu\" = torch.ops.aten.add.Tensor(primals_4, mul)\n"
        "        return (view, add)\n";
    const struct repro_what what = { .check = REPRO_NOTHING };
    holds(fx, &what, "    s77, s27 = primals_3.shape[0], primals_3.shape[1]\n");
    holds(fx, &what, "    primals_2 = 2 * s77\n");
    holds(fx, &what, "    torch._check(primals_4.shape[0] == s27)\n");
    holds(fx, &what, "    torch._check((s27 % 7) != 0)\n");
    holds(fx, &what, "    mul = s27 * primals_2\n");
    holds(fx, &what, "primals_4 = torch.randint(2, (3,))\n");
}

/* What sizes need is imported as well as what calls need. */
static void test_sizes_of_fractions(void **state)
{
    (void)state;
    const char fx[] =
        "# symtape candidate: backward, torch 2.11.0, seed 0\n"
        "# symbol s27 = 33 in [2, int_oo]\n" CLASS "    def forward(self, a: \"f32[s27][1]cpu\", "
        "b: \"f32[32*CeilToInt(IntTrueDiv(s27, 32))][1]cpu\"):\n"
        "        neg: \"f32[s27][1]cpu\" = torch.ops.aten.neg.default(a)\n"
        "        exp: \"f32[32*CeilToInt(IntTrueDiv(s27, 32))][1]cpu\" = "
        "torch.ops.aten.exp.default(b)\n"
        "        return (neg, exp)\n";
    const struct repro_what what = { .check = REPRO_NOTHING };
    holds(fx, &what, "import math\nimport sys\n");
    holds(fx, &what, "b = torch.randn(64)\n");
    holds(fx, &what, "    torch._check(b.shape[0] == (32 * math.ceil((s27 / 32))))\n");
}

/* The elements of n for which the asserts hold: u0 + u1 is shared out, u1 is more than 14. */
static void test_values_hold(void **state)
{
    (void)state;
    const char fx[] = "# symtape candidate: dynamo, torch 2.13.0, seed 0\n"
                      "# symbol s59 = 21 in [2, int_oo]\n"
                      "# symbol u0 in [0, int_oo] unbacked\n"
                      "# symbol u1 in [0, int_oo] unbacked\n" CLASS
                      "    def forward(self, x: \"f32[s59][1]cpu\", n: \"i64[2][1]cpu\"):\n"
                      "        get: \"i64[][]cpu\" = n[0]\n"
                      "        item: \"Sym(u0)\" = get.item()\n"
                      "        get_1: \"i64[][]cpu\" = n[1]\n"
                      "        item_1: \"Sym(u1)\" = get_1.item()\n"
                      "        add: \"Sym(u0 + u1)\" = item + item_1\n"
                      "        eq: \"Sym(Eq(u0 + u1, s59))\" = add == 21\n"
                      "        check = torch._check(eq)\n"
                      "        gt: \"Sym(u1 > 14)\" = item_1 > 14\n"
                      "        check_1 = torch._check(gt)\n"
                      "        split = torch.functional.split(x, [item, item_1])\n"
                      "        return (split,)\n";
    const struct repro_what what = { .check = REPRO_NOTHING };
    holds(fx, &what, "n = torch.tensor([6, 15])\n");
}

/* A branch over what nobody knows stays one, or nothing would fail any more. */
static void test_branch(void **state)
{
    (void)state;
    const char fx[] =
        "# symtape candidate: partial_dynamo, torch 2.13.0, seed 0\n"
        "# symbol u0 in [-int_oo, int_oo] unbacked\n"
        "# guard u0 > 8 before return\n" CLASS "    def forward(self, n: \"i64[1][1]cpu\"):\n"
        "        item: \"Sym(u0)\" = n.item()\n"
        "        return (item,)\n";
    const struct repro_what what = { .check = REPRO_RAISES,
                                     .message =
                                         STR("GuardOnDataDependentSymNode: Could not guard") };
    holds(fx, &what, "n = torch.full((1,), 9)\n");
    holds(fx, &what, "    if item > 8:\n        pass\n");
    holds(fx, &what, "re.search(r\"Could not guard\", str(error))");
    const char tensor[] = CLASS "    def forward(self, gt: \"b8[][]cpu\"):\n"
                                "        truth: \"Sym(True)\" = _operator.truth(gt)\n"
                                "        return ()\n";
    holds(tensor, &what, "    True if gt else False\n");
    /* What is asked is a condition on a number that only a tensor has. */
    const char number[] = "# symtape candidate: partial_aot, torch 2.13.0, seed 0\n"
                          "# symbol u0 in [-int_oo, int_oo] unbacked\n" CLASS
                          "    def forward(self, gt: \"Sym(2*u0 > 3)\", u0: \"Sym(u0)\"):\n"
                          "        truth: \"Sym(2*u0 > 3)\" = _operator.truth(gt)\n"
                          "        return ()\n";
    holds(number, &what, "    u0 = of_u0.clone().item()\n    gt = (2 * u0) > 3\n");
}

static void test_strides(void **state)
{
    (void)state;
    const char fx[] = CLASS
        "    def forward(self, a: \"f16[4, 3][1, 4]cpu\", b: \"f32[2, 3, 4, 5][60, 1, 15, 3]cpu\", "
        "c: \"f32[4, 3][0, 1]cpu\", d: \"b8[]cpu\"):\n"
        "        add: \"f32[2, 3, 4, 5]cpu\" = torch.add(a, b, c, d)\n"
        "        return add\n";
    const struct repro_what what = { .check = REPRO_NOTHING };
    holds(fx, &what, "a = torch.empty_strided((4, 3), (1, 4), dtype=torch.float16).normal_()\n");
    holds(fx, &what, "b = torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last)\n");
    holds(fx, &what, "c = torch.randn(3).as_strided((4, 3), (0, 1))\n");
    holds(fx, &what, "d = torch.randint(2, (), dtype=torch.bool)\n");
}

/* What shares memory cannot be written to, and complex numbers have no sign. */
static void test_values(void **state)
{
    (void)state;
    const char fx[] =
        CLASS "    def forward(self, a: \"f32[4, 3][1, 4]cpu\", b: \"f32[4, 3][0, 1]cpu\", "
              "c: \"c64[2][1]cpu\", d: \"i64[2][1]cpu\"):\n"
              "        add: \"c64[4, 3][3, 1]cpu\" = torch.add(a, b, c, d)\n"
              "        return add\n";
    const struct repro_what large = { .values = REPRO_VALUES_LARGE },
                            nan = { .values = REPRO_VALUES_NAN };
    holds(fx, &large, "a = torch.empty_strided((4, 3), (1, 4)).normal_().mul_(1000)\n");
    holds(fx, &large, "b = torch.randn(3).mul_(1000).as_strided((4, 3), (0, 1))\n");
    holds(fx, &large, "c = torch.randn(2, dtype=torch.complex64).mul_(1000)\n");
    holds(fx, &nan, "b = torch.randn(3).sqrt_().as_strided((4, 3), (0, 1))\n");
    holds(fx, &nan, "c = torch.randn(2, dtype=torch.complex64)\n");
    holds(fx, &nan, "d = torch.randint(2, (2,))\n");
}

static void test_routes(void **state)
{
    (void)state;
    struct repro_what what = { .route = REPRO_DECOMPOSE, .check = REPRO_RAISES };
    holds(view, &what,
          "try:\n    auto = torch.export.Dim.AUTO\n"
          "    shapes = ({0: auto, 1: torch.export.Dim.AUTO(max=64)},)\n"
          "except Exception as error:\n");
    holds(view, &what,
          "exported = torch.export.export(Module(), inputs, dynamic_shapes=shapes)"
          ".run_decompositions()\n");
    what.route = REPRO_CONSTRAINTS;
    holds(view, &what,
          "    dynamic = torch.export.Dim.DYNAMIC\n"
          "    shapes = ({0: dynamic, 1: torch.export.Dim(\"s27\", max=64)},)\n");
    what.named_dims = true;
    holds(view, &what,
          "try:\n    shapes = ({0: torch.export.Dim(\"s77\"), 1: torch.export.Dim(\"s27\", "
          "max=64)},)\n");
    what.check = REPRO_NOTHING; /* a question has no marks */
    holds(view, &what, "x = torch.randn(4, 3, 64)\ninputs = (x,)\n");
    holds(view, &what,
          "\nshapes = ({0: torch.export.Dim(\"s77\"), 1: torch.export.Dim(\"s27\", max=64)},)\n");
    what = (struct repro_what){ .route = REPRO_CONSTRAINTS, .check = REPRO_RAISES };
    holds(view, &what, "exported = torch.export.export(Module(), inputs, dynamic_shapes=shapes)\n");
    what = (struct repro_what){ .check = REPRO_GUARD, .expr = STR("Eq(s27, 16)") };
    holds(view, &what, "re.fullmatch(r\"Eq\\(\\w+, 16\\)\", guard)");
    what = (struct repro_what){ .check = REPRO_GUARDS, .at_least = 12 };
    holds(view, &what, "sys.exit(len(guards) >= 12)\n");
    what = (struct repro_what){ .check = REPRO_WRONG, .backend = STR("inductor") };
    holds(view, &what, "    torch.testing.assert_close(actual, expected, equal_nan=True)\n");
    what = (struct repro_what){ .check = REPRO_WRONG, .route = REPRO_CUDA, .cpu = true };
    holds(view, &what, "if not torch.cuda.is_available():\n    sys.exit(125)\n");
    holds(view, &what, "device = \"cpu\"\ntry:\n    expected = f(");
    holds(view, &what,
          "    device = \"cuda\"\n    with torch.device(device):\n        actual = f(*[x.cuda() ");
    holds(view, &what, "equal_nan=True, check_device=False)\n");
    what = (struct repro_what){ .check = REPRO_SECONDS, .backend = STR("inductor"), .seconds = 2 };
    holds(view, &what,
          "torch.compile(warm, backend=\"inductor\", dynamic=True)(torch.zeros(3))\n"
          "began = time.process_time()\n"
          "try:\n"
          "    torch.compile(f, backend=\"inductor\", fullgraph=True)(*inputs)\n"
          "    once = time.process_time()\n"
          "    torch.compile(f, backend=\"inductor\", fullgraph=True)(*inputs)\n"
          "except Exception as error:\n"
          "    print(\"cannot run:\", error)\n"
          "    sys.exit(125)\n");
    what = (struct repro_what){ .check = REPRO_SPECIALIZES,
                                .expr = STR("s27"),
                                .route = REPRO_MAKE_FX };
    holds(view, &what, "    make_fx(f, tracing_mode=\"symbolic\")(*inputs)\n");
}

static void test_cannot(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        { "x = self.conv1(a)", "it calls the module conv1" },
        { "x = torch.ops.mylib.pad_to.default(a, 4)",
          "namespace mylib is not PyTorch's own; --allow mylib" },
        { "x = torch.ops._c10d_functional.all_reduce.default(a, 'sum', '0')", "process group" },
        { "x = expand_boxes(a, 2)",
          "calls expand_boxes, which is neither an operator nor a Python function" },
        { "x = torch.os.system('true')", "calls torch.os.system, which is neither an operator" },
        { "x = builtins.exec('1')", "calls builtins.exec" },
        { "x = torch.ops.aten.save.default(a, 'f')", "does more than compute" },
        { "x = torch.ops.load_library.x('f')", "namespace load_library" },
        { "x = torch.ops.aten.__class__('os')", "not the name of an operator" },
        { "x = a.__reduce__()", "the method __reduce__" },
        { "x = getattr(a, '__class__')", "not an attribute of a tensor" },
        { "x = a.__class__", "not an attribute of a tensor" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct repro_notes notes;
        const struct repro_what what = { .check = REPRO_RUNS };
        char fx[400];
        snprintf(fx, sizeof fx,
                 CLASS "    def forward(self, a: \"f32[4][1]cpu\"):\n"
                       "        %s\n        return (x,)\n",
                 cases[i][0]);
        struct buf out = print(fx, &what, &notes);
        assert_non_null(strstr(notes.cannot, cases[i][1]));
        buf_release(&out);
    }
}

static bool attempt(void *arg)
{
    const struct repro_what what = { .check = REPRO_RAISES, .message = STR("no") };
    struct repro_notes notes;
    struct buf out = BUF_INIT;
    bool ok = repro_print(arg, &what, &notes, &out);
    buf_release(&out);
    return ok;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    struct candidate *candidate = read_candidate(view);
    check_alloc_failures(attempt, candidate);
    candidate_free(candidate);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),         cmocka_unit_test(test_plain),
        cmocka_unit_test(test_gradients),     cmocka_unit_test(test_sizes_come_from_shapes),
        cmocka_unit_test(test_strides),       cmocka_unit_test(test_sizes_of_fractions),
        cmocka_unit_test(test_values_hold),   cmocka_unit_test(test_branch),
        cmocka_unit_test(test_routes),        cmocka_unit_test(test_cannot),
        cmocka_unit_test(test_out_of_memory), cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

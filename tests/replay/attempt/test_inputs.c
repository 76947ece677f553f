/* Sizes that stayed numbers although a symbol has their value, and sizes that share a symbol. */
#include "replay/attempt/inputs.h"

#include "tests/harness.h"

#define GRAPH(x, y)                                                                          \
    "class GraphModule(torch.nn.Module):\n"                                                  \
    "    def forward(self, s77: \"Sym(s77)\", L_x_: \"f32[" x "][6, 1]cpu\", L_y_: \"f32[" y \
    "][1]cpu\"):\n        a = L_x_ + L_y_\n        return (a,)\n"
#define AOT(x, y)                                                        \
    "class f(torch.nn.Module):\n"                                        \
    "    def forward(\n        self,\n"                                  \
    "        arg0_1: \"Sym(s77)\",  # PlainAOTInput(idx=0)\n"            \
    "        arg1_1: \"f32[" x "][6, 1]cpu\",  # PlainAOTInput(idx=1)\n" \
    "        arg2_1: \"f32[" y "][1]cpu\",  # PlainAOTInput(idx=2)\n"    \
    "    ):\n        return (arg1_1,)\n"

/* L['x'] of 6 rows of 6, whose first size has a symbol, and L['y'] of 6. */
struct world {
    int64_t size[3], stride[3];
    bool duck[3], marked[3], fixed[3], unbacked[3];
    struct dim_change change[3];
    struct recorded_symbol symbols[3], stride_symbols[3], offset_symbols[2];
    struct input inputs[2];
};

static struct inputs inputs_of(struct world *w)
{
    *w = (struct world){ .size = { 6, 6, 6 }, .stride = { 6, 1, 1 } };
    w->symbols[0] = (struct recorded_symbol){ .name = STR("s77"),
                                              .value = STR("6"),
                                              .source = STR("L['x'].size()[0]") };
    for (int i = 0; i < 2; i++)
        w->inputs[i] = (struct input){ .kind = INPUT_TENSOR,
                                       .tensor = { .source = i ? STR("L['y']") : STR("L['x']"),
                                                   .ndim = i ? 1 : 2,
                                                   .concrete = true,
                                                   .size = &w->size[2 * i],
                                                   .stride = &w->stride[2 * i],
                                                   .duck = &w->duck[2 * i],
                                                   .marked = &w->marked[2 * i],
                                                   .fixed = &w->fixed[2 * i],
                                                   .unbacked = &w->unbacked[2 * i],
                                                   .change = &w->change[2 * i],
                                                   .size_symbol = &w->symbols[2 * i],
                                                   .stride_symbol = &w->stride_symbols[2 * i],
                                                   .offset_symbol = &w->offset_symbols[i] } };
    struct inputs ret = { 0 };
    ret.list.v = w->inputs;
    ret.list.n = 2;
    return ret;
}

static struct graph *graph_of(const char *text)
{
    struct err err = ERR_INIT;
    struct graph *graph = text ? graph_parse(str_of(text), &err) : NULL;
    assert_no_err(&err);
    return graph;
}

static void test_fixed(void **state)
{
    (void)state;
    static const struct {
        const char *dynamo, *aot;
        bool fixed[3]; /* by size */
    } rows[] = {
        { GRAPH("s77, 6", "6"), NULL, { false, true, true } },
        { GRAPH("s77, 6", "6"), AOT("s77, 6", "6"), { false, true, true } },
        { GRAPH("s77, 6", "s77"), AOT("s77, 6", "s77"), { false, true, false } },
        { GRAPH("s77, s77", "s77"), AOT("s77, s77", "s77"), { false } },
        /* The graphs do not agree. */
        { GRAPH("s77, 6", "s77"), AOT("s77, s77", "s77"), { false } },
        /* The symbol became a number. */
        { GRAPH("6, 6", "6"), AOT("6, 6", "6"), { false } },
        /* No tensor is printed; another number is. */
        { GRAPH("s77", "6"), NULL, { false } },
        { GRAPH("s77, 7", "6"), NULL, { false, false, true } },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        struct inputs inputs = inputs_of(&w);
        struct graph *dynamo = graph_of(rows[i].dynamo), *aot = graph_of(rows[i].aot);
        assert_true(inputs_read_fixed(&inputs, dynamo, aot));
        for (int d = 0; d < 3; d++)
            assert_int_equal(w.fixed[d], rows[i].fixed[d]);
        assert_false(inputs.static_by_default);
        graph_free(dynamo);
        graph_free(aot);
    }
}

/* No graph prints the symbols of a view's base, which is no input. */
static void test_fixed_beside_base(void **state)
{
    (void)state;
    struct world w;
    struct inputs inputs = inputs_of(&w);
    struct graph *dynamo = graph_of(GRAPH("6, 6", "6"));
    w.inputs[0].tensor.source = STR("L['y']._base");
    assert_true(inputs_read_fixed(&inputs, dynamo, NULL));
    assert_true(w.fixed[2]);
    graph_free(dynamo);
}

/* A size without a symbol has the value of a stride's or an offset's symbol, or no symbol has it.
 */
static void test_shared_with_stride_or_offset(void **state)
{
    (void)state;
    for (int shared = 0; shared < 3; shared++) {
        struct world w;
        struct inputs inputs = inputs_of(&w);
        w.size[1] = 8;
        w.symbols[1] = (struct recorded_symbol){ .name = STR("s8"), .value = STR("8") };
        w.stride[0] = w.size[2] = 5;
        struct recorded_symbol s5 = { .name = STR("s5"), .value = STR("5") };
        if (shared == 1)
            w.stride_symbols[0] = s5;
        if (shared == 2) {
            w.inputs[0].tensor.offset = 5;
            w.offset_symbols[0] = s5;
        }
        assert_true(inputs_guess_sharing(&inputs, NULL));
        assert_int_equal(inputs.static_by_default, !shared);
    }
}

/* A parameter whose sizes have symbols is the base of a view, and shares them. */
static void test_shared_with_parameter(void **state)
{
    (void)state;
    struct world w;
    struct inputs inputs = inputs_of(&w);
    w.inputs[0].tensor.of_module = true;
    w.size[1] = w.stride[0] = 1;
    assert_true(inputs_guess_sharing(&inputs, NULL));
    assert_true(w.duck[0]);
    assert_false(inputs.static_by_default);
}

struct trial {
    const struct graph *dynamo, *aot;
};

static bool read_again(void *arg)
{
    const struct trial *trial = arg;
    struct world w;
    struct inputs inputs = inputs_of(&w);
    return inputs_read_fixed(&inputs, trial->dynamo, trial->aot);
}

static void test_memory(void **state)
{
    (void)state;
    struct graph *dynamo = graph_of(GRAPH("s77, 6", "6"));
    struct graph *aot = graph_of(AOT("s77, 6", "6"));
    struct trial trial = { dynamo, aot };
    check_alloc_failures(read_again, &trial);
    graph_free(dynamo);
    graph_free(aot);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fixed),
        cmocka_unit_test(test_fixed_beside_base),
        cmocka_unit_test(test_shared_with_stride_or_offset),
        cmocka_unit_test(test_shared_with_parameter),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Known cores, planted in graphs of 20 to 1,000 calls between three decoys that fail otherwise: the
 * result is the core or less, fails as the whole did, and keeps its symbols. */
#include "minify/minify.h"
#include "minify/oracle/oracle_ops.h"
#include "minify/oracle/oracle_shape.h"

#include "tests/harness.h"

enum question { EXPECT, GUARD, SPECIALIZES, OPS };

struct core {
    int number;
    const char *name;
    enum question question;
    const char *what, *inject, *inputs, *calls;
    uint64_t n_calls;
};

static const struct core cores[] = {
#define CORE(number, name, question, what, inject, inputs, calls, n_calls) \
    { number, #name, question, what, inject, inputs, calls, n_calls },
#include "tests/minify/passes/cores.def"
#undef CORE
};
enum { CORES = sizeof cores / sizeof *cores };

/* ---- Carriers ---- */

struct carrier {
    struct buf text;
    char value[16]; /* what the next block goes on from */
    unsigned n;
};

static void put(struct carrier *c, const char *name, const char *op, const char *a, const char *b)
{
    buf_printf(&c->text, "        %s: \"f32[s0, s1, 8][8*s1, 8, 1]\" = torch.ops.aten.%s(%s%s%s)\n",
               name, op, a, b ? ", " : "", b ? b : "");
}

/* A residual block of three calls. */
static void put_block(struct carrier *c)
{
    char e[16], m[16], a[16];
    unsigned n = c->n++;
    snprintf(e, sizeof e, "e%u", n);
    snprintf(m, sizeof m, "m%u", n);
    snprintf(a, sizeof a, "a%u", n);
    put(c, e, "exp.default", c->value, NULL);
    put(c, m, "mul.Tensor", e, c->value);
    put(c, a, "add.Tensor", c->value, m);
    memcpy(c->value, a, sizeof a);
}

/* Calls that fail in other ways, later than the core: nothing may be taken for it. */
static void put_decoy(struct carrier *c, int which)
{
    if (which == 0)
        buf_printf(&c->text,
                   "        decoy0: \"f32[7777][1]\" = torch.ops.aten.view.default(%s, "
                   "[7777])\n",
                   c->value);
    else if (which == 1)
        buf_printf(&c->text,
                   "        decoy1: \"f32[8, 8][8, 1]\" = torch.ops.aten.mm.default(%s, "
                   "%s)\n",
                   c->value, c->value);
    else
        buf_printf(&c->text,
                   "        decoy2: \"f64[s0, s1, 8][8*s1, 8, 1]\" = "
                   "torch.ops.aten.neg.default(%s)\n",
                   c->value);
}

static void put_core(struct carrier *c, const struct core *core)
{
    bool start = true;
    for (const char *p = core->calls; *p; p++) {
        if (start)
            buf_puts(&c->text, "        ");
        start = *p == '\n';
        if (*p == '@')
            buf_puts(&c->text, c->value);
        else
            buf_putc(&c->text, *p);
    }
}

/* The last name of the core is returned, with the carrier's last value and the decoys. */
static struct str last_name(const struct core *core)
{
    struct str text = str_of(core->calls), line = text;
    for (size_t i = 0; i + 1 < text.n; i++)
        if (text.p[i] == '\n')
            line = str_from(text, i + 1);
    size_t n = 0;
    while (n < line.n && line.p[n] != ':' && line.p[n] != ' ')
        n++;
    return str_first(line, n);
}

static struct candidate *plant(const struct core *core, unsigned n, bool decoys)
{
    struct carrier c = { .value = "x" };
    struct err err = ERR_INIT;
    unsigned blocks = n / 3;
    buf_puts(&c.text, "# symbol s0 = 4 in [2, int_oo]\n# symbol s1 = 6 in [2, int_oo]\n"
                      "# symbol s2 = 4 in [2, int_oo]\nclass f(torch.nn.Module):\n    def "
                      "forward(self, s0: \"Sym(s0)\", s1: \"Sym(s1)\", s2: \"Sym(s2)\", x: "
                      "\"f32[s0, s1, 8][8*s1, 8, 1]\"");
    buf_printf(&c.text, "%s):\n        sm: \"Sym(s0*s1)\" = s0 * s1\n", core->inputs);
    while (c.n < blocks / 2)
        put_block(&c);
    put_core(&c, core);
    for (int i = 0; i < 3; i++) {
        if (decoys)
            put_decoy(&c, i);
        put_block(&c);
    }
    while (c.n < blocks)
        put_block(&c);
    struct str last = last_name(core);
    bool value = core->number != 3 && core->number != 20; /* of several results none is known */
    buf_printf(&c.text, "        return (%s, %.*s%s)\n", c.value, STR_ARG(value ? last : STR("x")),
               decoys ? ", decoy0, decoy1, decoy2" : "");
    struct candidate *ret = candidate_read_fx(buf_str(&c.text), NULL, &err);
    assert_no_err(&err);
    buf_release(&c.text);
    return ret;
}

/* ---- Runs ---- */

static struct oracle *oracle_of(const struct core *core, const struct candidate *whole)
{
    struct err err = ERR_INIT;
    struct oracle *ret;
    if (core->question == OPS) {
        ret = oracle_ops(str_of(core->what), &err);
    } else {
        struct shape_options options = { .question = core->question == EXPECT  ? SHAPE_EXPECT
                                                     : core->question == GUARD ? SHAPE_GUARD
                                                                               : SHAPE_SPECIALIZES,
                                         .what = str_of(core->what),
                                         .inject = str_of(core->inject) };
        ret = oracle_shape(&options, whole, &err);
    }
    assert_no_err(&err);
    return ret;
}

static void minify_core(const struct core *core, unsigned n, uint64_t *calls)
{
    struct err err = ERR_INIT;
    struct minify_options options = MINIFY_OPTIONS_DEFAULT;
    struct minify_result result;
    struct candidate *whole = plant(core, n, true);
    options.oracle = oracle_of(core, whole);
    assert_true(minify_run(whole, &options, &result, &err));
    assert_no_err(&err);
    if (result.end != MINIFY_DONE || result.after.part[SIZE_CALLS] > core->n_calls) {
        struct buf text = BUF_INIT;
        if (result.end == MINIFY_DONE)
            candidate_print_fx(result.best, &text);
        fail_msg("core %d in %u calls: %s, %u calls left, first %.*s at %.*s\n%.*s", core->number,
                 n, minify_end_name(result.end), (unsigned)result.after.part[SIZE_CALLS],
                 STR_ARG(result.first.text), STR_ARG(result.first.node), STR_ARG(buf_str(&text)));
    }
    assert_true(result.minimal);
    assert_false(str_starts(result.first.node, STR("decoy")));
    /* Those that only look for operators have nothing dynamic about them. */
    if (core->question != OPS)
        assert_true(result.best->n_symbols > 0);
    *calls = result.calls;
    options.oracle->free(options.oracle);
    minify_result_release(&result);
    candidate_free(whole);
}

static void test_cores(void **state)
{
    (void)state;
    static const unsigned sizes[] = { 20, 100, 300, 1000 };
    for (int i = 0; i < CORES; i++)
        for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
            uint64_t calls;
            minify_core(&cores[i], sizes[k], &calls);
            if (cores[i].question != OPS)
                assert_true(calls <= 60);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

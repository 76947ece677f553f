/* Unbacked symbols that calls make under other names than before. */
#include "minify/candidate/made_symbols.h"

#include "tests/harness.h"

struct sides {
    struct candidate *before, *now;
};

static struct candidate *read_calls(const char *calls)
{
    struct err err = ERR_INIT;
    struct buf text = BUF_INIT;
    buf_printf(&text,
               "class GraphModule(torch.nn.Module):\n"
               "    def forward(self, x: \"f32[8]\", n: \"Sym(u9)\"):\n%s        return (x,)\n",
               calls);
    struct candidate *ret = candidate_read_fx(buf_str(&text), NULL, &err);
    assert_no_err(&err);
    buf_release(&text);
    return ret;
}

static bool find(const struct sides *sides, struct arena *arena, struct made_symbol **made,
                 uint32_t *n)
{
    return made_symbols_find(sides->before->graph, data_of(sides->before)->texts,
                             data_of(sides->now)->texts, arena, made, n);
}

/* `expected` lists the symbols, "u0 u2, u1 u3". */
static void gives(const char *before, const char *now, const char *expected)
{
    struct sides sides = { read_calls(before), read_calls(now) };
    struct arena arena = ARENA_INIT;
    struct made_symbol *made;
    struct buf got = BUF_INIT;
    uint32_t n;
    assert_true(find(&sides, &arena, &made, &n));
    for (uint32_t i = 0; i < n; i++)
        buf_printf(&got, "%s%.*s %.*s", i ? ", " : "", (int)made[i].before.n, made[i].before.p,
                   (int)made[i].now.n, made[i].now.p);
    assert_str_is(buf_str(&got), expected);
    buf_release(&got);
    arena_release(&arena);
    candidate_free(sides.before);
    candidate_free(sides.now);
}

#define NONZERO(name, symbol) \
    "        " name ": \"i64[" symbol ", 1]\" = torch.ops.aten.nonzero.default(x)\n"

#define CLONE(symbol) "        b: \"i64[" symbol ", 1]\" = torch.ops.aten.clone.default(a)\n"

static void test_renamed(void **state)
{
    (void)state;
    gives(NONZERO("a", "u0"), NONZERO("a", "u2"), "u0 u2");
    gives(NONZERO("a", "u0") NONZERO("b", "u1"), NONZERO("a", "u2") NONZERO("b", "u3"),
          "u0 u2, u1 u3");
    gives(NONZERO("a", "u0") NONZERO("b", "u1"), NONZERO("a", "u2") NONZERO("b", "u1"), "u0 u2");
}

static void test_unchanged(void **state)
{
    (void)state;
    gives("", "", "");
    gives(NONZERO("a", "u0"), NONZERO("a", "u0"), "");
    /* What one call made before another one makes now: both are still made. */
    gives(NONZERO("a", "u0") NONZERO("b", "u1"), NONZERO("a", "u1") NONZERO("b", "u0"), "");
}

/* A symbol belongs to the call that has it first; inputs make none. */
static void test_first(void **state)
{
    (void)state;
    gives(NONZERO("a", "u0") CLONE("u0"), NONZERO("a", "u2") CLONE("u2"), "u0 u2");
    gives(NONZERO("a", "u9"), NONZERO("a", "u2"), "");
}

/* Symbols of one call are paired in the order in which its result has them. */
static void test_several(void **state)
{
    (void)state;
    gives("        a: \"f32[u0, u1]\" = torch.ops.test.pair.default(x)\n",
          "        a: \"f32[u2, u3]\" = torch.ops.test.pair.default(x)\n", "u0 u2, u1 u3");
    gives("        a: \"f32[u0, u1]\" = torch.ops.test.pair.default(x)\n",
          "        a: \"f32[u2, 8]\" = torch.ops.test.pair.default(x)\n", "u0 u2");
    gives("        a: \"f32[s0, u1]\" = torch.ops.test.pair.default(x)\n",
          "        a: \"f32[s1, u3]\" = torch.ops.test.pair.default(x)\n", "u1 u3");
}

static bool attempt(void *arg)
{
    struct arena arena = ARENA_INIT;
    struct made_symbol *made;
    uint32_t n;
    bool good = find(arg, &arena, &made, &n) && n == 1;
    arena_release(&arena);
    return good;
}

static void test_alloc_failures(void **state)
{
    (void)state;
    struct sides sides = { read_calls(NONZERO("a", "u0")), read_calls(NONZERO("a", "u2")) };
    check_alloc_failures(attempt, &sides);
    candidate_free(sides.before);
    candidate_free(sides.now);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_renamed),        cmocka_unit_test(test_unchanged),
        cmocka_unit_test(test_first),          cmocka_unit_test(test_several),
        cmocka_unit_test(test_alloc_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

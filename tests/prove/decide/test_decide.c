/* Facts, questions and verdicts; every verdict within a box is compared with all of its points. */
#include <stdlib.h>

#include "prove/decide/decide.h"
#include "tests/harness.h"

static sym_id parse(struct sym_pool *pool, const char *text)
{
    return sym_parse(pool, str_of(text), sym_by_name, NULL);
}

struct asked {
    const char *facts[6], *goal;
    enum decide_verdict verdict;
    const char *values; /* of a counterexample: "3 0", or NULL */
    bool raises;
};

/* Sizes s0, s1, s2 are from 0 to 24, and u0, u1 from -12 to 12. */
static const struct asked questions[] = {
    { { "s0 >= 3" }, "s0 > 2", DECIDE_PROVED, NULL, false },
    { { "s0 >= 3" }, "s0 > 3", DECIDE_REFUTED, "3", false },
    { { "Eq(Mod(s0, 4), 0)", "s0 >= 5" }, "s0 >= 8", DECIDE_PROVED, NULL, false },
    { { "Eq(Mod(s0, 4), 0)", "s0 >= 5" }, "s0 >= 9", DECIDE_REFUTED, "8", false },
    { { "Eq(s0, 2*s1)" }, "Eq(Mod(s0, 2), 0)", DECIDE_PROVED, NULL, false },
    { { "s0 < s1" }, "s0 <= s1", DECIDE_PROVED, NULL, false },
    { { "s0 < s1", "s1 < s2" }, "s0 + 1 < s2", DECIDE_PROVED, NULL, false },
    { { "s0 < s1", "s1 < s2" }, "s0 + 2 < s2", DECIDE_REFUTED, "0 1 2", false },
    { { NULL }, "Ne(Max(1, s0), Max(1, s1))", DECIDE_REFUTED, "0 0", false },
    { { NULL }, "Max(s0, s1) >= Min(s0, s1)", DECIDE_PROVED, NULL, false },
    { { "Eq(s0*s1, 12)" }, "s0 <= 12", DECIDE_PROVED, NULL, false },
    { { "Eq(s0*s1, 12)", "s0 >= 4" }, "s1 <= 2", DECIDE_REFUTED, "4 3", false },
    /* Python's quotient rounds down, and truncation does not: they differ below 0. */
    { { "u0 < 0" }, "Eq(u0//2, -((-u0)//2))", DECIDE_REFUTED, "-1", false },
    { { "u0 < 0", "Eq(PythonMod(u0, 2), 0)" },
      "Eq(u0//2, -((-u0)//2))",
      DECIDE_PROVED,
      NULL,
      false },
    { { NULL }, "TruncToInt(IntTrueDiv(u0, 2)) >= u0//2", DECIDE_PROVED, NULL, false },
    { { NULL }, "Eq(TruncToInt(IntTrueDiv(u0, 2)), u0//2)", DECIDE_REFUTED, "-1", false },
    { { "u0 >= 0" }, "Eq(TruncToInt(IntTrueDiv(u0, 2)), u0//2)", DECIDE_PROVED, NULL, false },
    { { NULL }, "PythonMod(u0, -3) <= 0", DECIDE_PROVED, NULL, false },
    { { NULL }, "PythonMod(u0, 3) >= 0", DECIDE_PROVED, NULL, false },
    /* A divisor that may be 0. */
    { { NULL }, "10//u0 <= 10", DECIDE_REFUTED, "0", true },
    { { "u0 >= 1" }, "10//u0 <= 10", DECIDE_PROVED, NULL, false },
    { { "s0 >= 5", "s0 < 5" }, "Eq(s1, 7)", DECIDE_PROVED, NULL, false },
    { { "(s0 >= 20) | (s0 <= 2)", "s0 > 2" }, "s0 >= 20", DECIDE_PROVED, NULL, false },
};

static const char *const symbols[] = { "s0", "s1", "s2", "u0", "u1" };
enum { SYMBOLS = 5 };

static struct decider *decider_of(struct sym_pool *pool, const struct asked *asked)
{
    struct err err = { 0 };
    struct decider *d = decider_new(pool, &err);
    assert_non_null(d);
    for (int i = 0; i < SYMBOLS; i++) {
        sym_id s = sym_symbol(pool, str_of(symbols[i]), SYM_IS_INTEGER);
        struct decide_range range = { symbols[i][0] == 's' ? 0 : -12, 24 };
        if (symbols[i][0] == 'u')
            range.upper = 12;
        assert_true(decider_symbol(d, s, range));
    }
    for (int i = 0; i < 6 && asked->facts[i]; i++)
        assert_true(decider_fact(d, parse(pool, asked->facts[i])));
    return d;
}

static void test_questions(void **state)
{
    (void)state;
    struct err err = { 0 };
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        const struct asked *asked = &questions[i];
        struct sym_pool *pool = sym_pool_new(&err);
        struct decider *d = decider_of(pool, asked);
        struct decide_answer answer;
        assert_true(decide(d, parse(pool, asked->goal), &DECIDE_LIMITS, &answer));
        if (answer.verdict != asked->verdict)
            fail_msg("%s: verdict %d", asked->goal, answer.verdict);
        struct buf text = BUF_INIT;
        for (uint32_t j = 0; j < answer.n_values; j++)
            buf_printf(&text, "%s%lld", j ? " " : "", (long long)answer.values[j].value);
        if (asked->values) {
            assert_str_is(buf_str(&text), asked->values);
            assert_true(answer.smallest);
        }
        assert_int_equal(answer.raises, asked->raises);
        assert_true(sym_ok(pool, &err));
        buf_release(&text);
        decider_free(d);
        sym_pool_free(pool);
    }
}

/* Sizes without an upper bound, so that no search can prove anything. */
static const struct asked unbounded[] = {
    { { NULL }, "Ne(s0*s1, s1)", DECIDE_PROVED, NULL, false },
    { { NULL }, "s0**2 > s0", DECIDE_PROVED, NULL, false },
    { { NULL }, "Ne(Mod(s1, s0*s1), 0)", DECIDE_PROVED, NULL, false },
    { { NULL },
      "Eq(s0*Max(1, s0 - Mod(s0, 8) + 8), s0*(s0 - Mod(s0, 8) + 8))",
      DECIDE_PROVED,
      NULL,
      false },
    { { "Eq(Mod(s0, 8), 0)" }, "Eq(s0//(s0//8), 8)", DECIDE_PROVED, NULL, false },
    { { "Eq(Mod(s0, 8), 0)" }, "Eq(8*(s0//8), s0)", DECIDE_PROVED, NULL, false },
    { { "s0 < s1", "s1 < s2" }, "s0 + 1 < s2", DECIDE_PROVED, NULL, false },
    { { "Eq(2*s0, 4*s1 + s2)", "Eq(Mod(s2, 2), 1)" }, "Eq(s0, s1)", DECIDE_PROVED, NULL, false },
    { { "Eq(s0, 3*s1)", "Eq(s0, 3*s2 + 1)" }, "Eq(s1, 7)", DECIDE_PROVED, NULL, false },
    { { "Eq(6*u0, 4*u1 + 2)" }, "Eq(PythonMod(u1, 3), 1)", DECIDE_PROVED, NULL, false },
    { { "(u0 < u1) | (u0 < u1 - 1)" }, "u0 + 1 <= u1", DECIDE_PROVED, NULL, false },
    { { NULL }, "Max(u0, u1) + Min(u0, u1) <= u0 + u1", DECIDE_PROVED, NULL, false },
    { { NULL }, "2*((u0 + 1)//2) >= u0", DECIDE_PROVED, NULL, false },
    { { NULL }, "s0*s1 < 100000", DECIDE_REFUTED, "317 316", false },
    { { NULL }, "Ne(u0 + u1, 5)", DECIDE_REFUTED, "2 3", false },
};

static void test_unbounded(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof unbounded / sizeof *unbounded; i++) {
        const struct asked *asked = &unbounded[i];
        struct sym_pool *pool = sym_pool_new(&err);
        struct decider *d = decider_new(pool, &err);
        for (int s = 0; s < SYMBOLS; s++) {
            struct decide_range range = DECIDE_RANGE_ANY;
            range.lower = symbols[s][0] == 's' ? 2 : DECIDE_NO_LOWER;
            unsigned facts = SYM_IS_INTEGER | (symbols[s][0] == 's' ? SYM_IS_POSITIVE : 0);
            assert_true(decider_symbol(d, sym_symbol(pool, str_of(symbols[s]), facts), range));
        }
        for (int f = 0; f < 6 && asked->facts[f]; f++)
            assert_true(decider_fact(d, parse(pool, asked->facts[f])));
        struct decide_answer answer;
        assert_true(decide(d, parse(pool, asked->goal), &DECIDE_LIMITS, &answer));
        if (answer.verdict != asked->verdict)
            fail_msg("%s: verdict %d by %s", asked->goal, answer.verdict,
                     decide_method_name(answer.method));
        decider_free(d);
        sym_pool_free(pool);
    }
}

/* --- Random conditions in small boxes, beside every point of them --- */

enum { BOXES = 1500, FACTS = 3 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

static sym_id random_number(struct sym_pool *pool, uint64_t *state)
{
    return sym_integer(pool, (int64_t)(next_random(state) % 9) - 2);
}

static sym_id random_expr(struct sym_pool *pool, const sym_id *of, uint64_t *state, int depth)
{
    static const enum sym_kind kinds[] = { SYM_ADD, SYM_ADD,        SYM_MUL, SYM_FLOORDIV,
                                           SYM_MAX, SYM_PYTHON_MOD, SYM_MIN, SYM_FLOORDIV };
    uint64_t pick = next_random(state);
    if (depth == 0 || pick % 4 == 0)
        return pick % 3 ? of[pick / 4 % 3] : random_number(pool, state);
    enum sym_kind kind = kinds[pick / 4 % 8];
    sym_id a = random_expr(pool, of, state, depth - 1);
    sym_id b = random_expr(pool, of, state, depth - 1);
    if (kind == SYM_FLOORDIV || kind == SYM_PYTHON_MOD) {
        b = pick / 64 % 4 ? sym_integer(pool, (int64_t)(pick / 256 % 5) + 1) : b;
        if (b == SYM_ID_ZERO)
            return a;
    }
    return sym_binary(pool, kind, a, b);
}

static sym_id random_condition(struct sym_pool *pool, const sym_id *of, uint64_t *state, int depth)
{
    static const enum sym_kind kinds[] = { SYM_EQ, SYM_NE, SYM_LT, SYM_LE, SYM_GT, SYM_GE };
    uint64_t pick = next_random(state);
    if (depth && pick % 4 == 0) {
        sym_id a = random_condition(pool, of, state, depth - 1);
        sym_id b = random_condition(pool, of, state, depth - 1);
        return pick / 4 % 2 ? sym_and(pool, a, b) : sym_or(pool, a, b);
    }
    sym_id a = random_expr(pool, of, state, 2), b = random_expr(pool, of, state, 1);
    return sym_binary(pool, kinds[pick / 4 % 6], a, b);
}

/* Whether a comes before b in the order of counterexamples. */
static bool is_before(const int64_t *a, const int64_t *b, uint32_t n)
{
    int64_t most_a = 0, most_b = 0;
    for (uint32_t i = 0; i < n; i++) {
        most_a = llabs(a[i]) > most_a ? llabs(a[i]) : most_a;
        most_b = llabs(b[i]) > most_b ? llabs(b[i]) : most_b;
    }
    if (most_a != most_b)
        return most_a < most_b;
    for (uint32_t i = 0; i < n; i++)
        if (a[i] != b[i])
            return (a[i] >= 0) != (b[i] >= 0) ? a[i] >= 0 : llabs(a[i]) < llabs(b[i]);
    return false;
}

static bool is_true_at(struct decider *d, sym_id e, const struct decide_value *values)
{
    struct decide_result result;
    assert_true(decider_evaluate(d, e, values, 3, &result));
    return result.kind == DECIDE_INTEGER && result.integer;
}

/* Compares a verdict with all points of the box. */
static void check_box(struct decider *d, const sym_id *of, const struct decide_range *ranges,
                      const sym_id *facts, sym_id goal, const struct decide_answer *answer)
{
    struct decide_value v[3];
    int64_t best[3] = { 0 };
    bool found = false;
    for (int i = 0; i < 3; i++)
        v[i].symbol = of[i];
    for (v[0].value = ranges[0].lower; v[0].value <= ranges[0].upper; v[0].value++)
        for (v[1].value = ranges[1].lower; v[1].value <= ranges[1].upper; v[1].value++)
            for (v[2].value = ranges[2].lower; v[2].value <= ranges[2].upper; v[2].value++) {
                bool holds = true;
                for (int i = 0; i < FACTS && holds; i++)
                    holds = is_true_at(d, facts[i], v);
                const int64_t point[3] = { v[0].value, v[1].value, v[2].value };
                if (!holds || is_true_at(d, goal, v) || (found && !is_before(point, best, 3)))
                    continue;
                memcpy(best, point, sizeof best);
                found = true;
            }
    assert_int_equal(answer->verdict, found ? DECIDE_REFUTED : DECIDE_PROVED);
    if (answer->n_values < 3)
        return; /* the others do not matter */
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(answer->values[i].value, best[i]);
}

static void test_boxes(void **state)
{
    (void)state;
    uint64_t random = 88172645463325252u;
    uint32_t n_refuted = 0, n_proved = 0;
    for (int i = 0; i < BOXES; i++) {
        struct err err = ERR_INIT;
        struct sym_pool *pool = sym_pool_new(&err);
        struct decider *d = decider_new(pool, &err);
        sym_id of[3], facts[FACTS];
        struct decide_range ranges[3];
        for (int s = 0; s < 3; s++) {
            of[s] = sym_symbol(pool, str_of(s < 2 ? symbols[s] : "u0"), SYM_IS_INTEGER);
            ranges[s].lower = s < 2 ? 0 : -4;
            ranges[s].upper = 3 + (int64_t)(next_random(&random) % 4);
            assert_true(decider_symbol(d, of[s], ranges[s]));
        }
        bool ok = true;
        for (int f = 0; f < FACTS; f++) {
            facts[f] = f ? random_condition(pool, of, &random, 1) : SYM_ID_TRUE;
            ok = ok && facts[f] != SYM_NONE && decider_fact(d, facts[f]);
        }
        sym_id goal = random_condition(pool, of, &random, 1);
        struct decide_answer answer;
        if (ok && goal != SYM_NONE) {
            assert_true(decide(d, goal, &DECIDE_LIMITS, &answer));
            struct decide_value kept[3];
            for (uint32_t v = 0; v < answer.n_values; v++)
                kept[v] = answer.values[v];
            answer.values = kept;
            check_box(d, of, ranges, facts, goal, &answer);
            n_refuted += answer.verdict == DECIDE_REFUTED;
            n_proved += answer.verdict == DECIDE_PROVED;
        }
        decider_free(d);
        sym_pool_free(pool);
    }
    assert_true(n_refuted > BOXES / 8 && n_proved > BOXES / 8);
}

/* Symbols at the ends of a long chain of equalities, beside which there are many others, are equal.
 * A divisor that may be 0 is no reason to forget that it may be. */
static void test_chain(void **state)
{
    (void)state;
    enum { LENGTH = 120 };
    static const struct {
        const char *goal;
        enum decide_verdict verdict;
    } rows[] = {
        { "Eq(s0, s119)", DECIDE_PROVED },
        { "2*s119 <= s0 + s60", DECIDE_PROVED },
        { "Ne(s0, s119)", DECIDE_REFUTED },
        { "Eq(Mod(s0, s119), 0)", DECIDE_REFUTED },
        { "Eq(Mod(s0 + 1, 2), Mod(s119 + 1, 2))", DECIDE_PROVED },
    };
    struct err err = ERR_INIT;
    struct sym_pool *pool = sym_pool_new(&err);
    struct decider *d = decider_new(pool, &err);
    sym_id of[LENGTH];
    struct decide_answer answer;
    for (int i = 0; i < LENGTH; i++) {
        char name[16];
        snprintf(name, sizeof name, "s%d", i);
        of[i] = sym_symbol(pool, str_of(name), SYM_IS_INTEGER);
        assert_true(decider_symbol(d, of[i], (struct decide_range){ 0, DECIDE_NO_UPPER }));
    }
    uint32_t mark = decider_mark(d);
    for (int i = LENGTH - 1; i > 0; i--) {
        assert_true(decider_fact(d, sym_eq(pool, of[i], of[i - 1])));
        assert_true(decider_fact(d, sym_le(pool, of[i], sym_integer(pool, 1000 + i))));
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(decide(d, parse(pool, rows[i].goal), &DECIDE_LIMITS, &answer));
        if (answer.verdict != rows[i].verdict)
            fail_msg("%s: verdict %d", rows[i].goal, answer.verdict);
    }
    decider_forget(d, mark);
    assert_true(decide(d, parse(pool, "Eq(s0, s119)"), &DECIDE_LIMITS, &answer));
    assert_int_equal(answer.verdict, DECIDE_REFUTED);
    decider_free(d);
    sym_pool_free(pool);
}

/* Facts that were added after a mark do not count after decider_forget(). */
static void test_forget(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct sym_pool *pool = sym_pool_new(&err);
    static const struct asked none = { { NULL }, "", DECIDE_PROVED, NULL, false };
    struct decider *d = decider_of(pool, &none);
    struct decide_answer answer;
    sym_id goal = parse(pool, "s0 >= 4");
    uint32_t mark = decider_mark(d);
    assert_true(decider_fact(d, parse(pool, "s0 > 4")));
    assert_true(decide(d, goal, &DECIDE_LIMITS, &answer));
    assert_int_equal(answer.verdict, DECIDE_PROVED);
    decider_forget(d, mark);
    assert_true(decide(d, goal, &DECIDE_LIMITS, &answer));
    assert_int_equal(answer.verdict, DECIDE_REFUTED);
    assert_int_equal(answer.values[0].value, 0);
    decider_free(d);
    sym_pool_free(pool);
}

/* Ranges and remainders near the ends of int64 neither overflow nor decide too much. */
static void test_ends(void **state)
{
    (void)state;
    static const struct {
        struct decide_range range;
        const char *facts[2], *goal;
        enum decide_verdict verdict;
    } rows[] = {
        { { 0, DECIDE_NO_UPPER },
          { "Eq(Mod(s0, 1152921504606846976), 1)", "Eq(Mod(s0, 1152921504606846977), 5)" },
          "s0 > 7",
          DECIDE_PROVED },
        { { DECIDE_NO_LOWER, -1 },
          { "Eq(Mod(s0, 1152921504606846976), 1)", "Eq(Mod(s0, 1152921504606846977), 5)" },
          "s0 < -7",
          DECIDE_PROVED },
        { { INT64_MAX - 1, DECIDE_NO_UPPER }, { NULL }, "s0 > 7", DECIDE_PROVED },
        { { INT64_MAX - 3, DECIDE_NO_UPPER }, { NULL }, "Eq(Mod(s0*s0, 7), 3)", DECIDE_UNDECIDED },
        { { DECIDE_NO_LOWER, INT64_MIN + 2 },
          { "Eq(Mod(s0, 1152921504606846976), 3)", NULL },
          "Eq(s0*s0, 3)",
          DECIDE_UNDECIDED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct err err = ERR_INIT;
        struct sym_pool *pool = sym_pool_new(&err);
        struct decider *d = decider_new(pool, &err);
        struct decide_answer answer;
        sym_id s0 = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER);
        assert_true(decider_symbol(d, s0, rows[i].range));
        for (int f = 0; f < 2 && rows[i].facts[f]; f++)
            assert_true(decider_fact(d, parse(pool, rows[i].facts[f])));
        assert_true(decide(d, parse(pool, rows[i].goal), &DECIDE_LIMITS, &answer));
        assert_int_equal(answer.verdict, rows[i].verdict);
        decider_free(d);
        sym_pool_free(pool);
    }
}

/* Facts that propagation never finishes with do not make questions without steps long, and those
 * with steps count what assuming the facts took. */
static void test_endless(void **state)
{
    (void)state;
    enum { FACTS_ADDED = 1000 };
    struct err err = ERR_INIT;
    struct sym_pool *pool = sym_pool_new(&err);
    struct decider *d = decider_new(pool, &err);
    struct decide_answer answer;
    const struct decide_limits none = { 0 };
    sym_id s0 = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER);
    assert_true(decider_fact(d, parse(pool, "s0 < s1")));
    assert_true(decider_fact(d, parse(pool, "s1 < s0")));
    assert_true(decider_symbol(d, s0, (struct decide_range){ 0, DECIDE_NO_UPPER }));
    for (int i = 0; i < FACTS_ADDED; i++) {
        sym_id bound = sym_integer(pool, INT64_C(1000000000) * (i + 1));
        assert_true(decider_fact(d, sym_ge(pool, s0, bound)));
        assert_true(decide(d, parse(pool, "Eq(s0, 7)"), &none, &answer));
        assert_true(answer.steps > 0 && answer.steps < 5000);
    }
    assert_true(decider_fact(d, parse(pool, "s0 > 1000000000001")));
    assert_true(decide(d, parse(pool, "Eq(s0, 8)"), &DECIDE_LIMITS, &answer));
    assert_true(answer.steps > FACTS_ADDED);
    decider_free(d);
    sym_pool_free(pool);
}

static bool attempt_question(void *user)
{
    (void)user;
    struct err err = ERR_INIT;
    struct decide_answer answer;
    struct sym_pool *pool = sym_pool_new(&err);
    struct decider *d = pool ? decider_new(pool, &err) : NULL;
    bool ok = d && decider_fact(d, parse(pool, "Eq(Mod(s0, 4), 0)")) &&
              decider_fact(d, parse(pool, "s0 < s1 + s2")) &&
              decide(d, parse(pool, "s1 > 2"), &DECIDE_LIMITS, &answer) &&
              answer.verdict == DECIDE_REFUTED;
    decider_free(d);
    sym_pool_free(pool);
    return ok;
}

static void test_allocations(void **state)
{
    (void)state;
    check_alloc_failures(attempt_question, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_questions), cmocka_unit_test(test_unbounded),
        cmocka_unit_test(test_boxes),     cmocka_unit_test(test_chain),
        cmocka_unit_test(test_forget),    cmocka_unit_test(test_ends),
        cmocka_unit_test(test_endless),   cmocka_unit_test(test_allocations)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

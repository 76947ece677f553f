/* Questions to Z3 and to solvers that hang, die or answer nonsense; verdicts of our own methods
 * beside those of Z3. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prove/decide/decide.h"
#include "tests/harness.h"

/* --- Solvers that fail --- */

static void hang(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    (void)out;
    for (;;)
        pause();
}

/* Closes its output and goes on. */
static void hang_silently(struct str text, struct str values, int out)
{
    (void)!write(out, "unsat\n", 6);
    close(out);
    hang(text, values, out);
}

static void die(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    (void)!write(out, "unsat\n", 6);
    raise(SIGKILL);
}

static void leave(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    (void)out;
    _exit(3);
}

static void flood(struct str text, struct str values, int out)
{
    static const char zeros[4096];
    (void)text;
    (void)values;
    for (int i = 0; i < 4 * Z3_MOST_ANSWER / 4096; i++)
        (void)!write(out, zeros, sizeof zeros);
}

static void echo(struct str text, struct str values, int out)
{
    (void)!write(out, text.p, text.n);
    (void)!write(out, values.p, values.n);
}

/* Takes memory without writing to it, much more than it may have. */
static void take_memory(struct str text, struct str values, int out)
{
    const size_t piece = (size_t)64 << 20;
    (void)text;
    (void)values;
    for (int i = 0; i < 4 * Z3_MEGABYTES / 64; i++)
        if (mmap(NULL, piece, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
            MAP_FAILED)
            _exit(1);
    (void)!write(out, "unsat\n", 6);
}

/* The limit on memory is not set where a sanitizer reserves more than it. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define END_WITHOUT_MEMORY Z3_ANSWERED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define END_WITHOUT_MEMORY Z3_ANSWERED
#endif
#endif
#ifndef END_WITHOUT_MEMORY
#define END_WITHOUT_MEMORY Z3_DIED
#endif

struct failing {
    z3_solver solver;
    enum z3_end end;
    uint32_t ms;
};

static const struct failing failing[] = {
    { hang, Z3_TOO_LONG, 100 },    { hang_silently, Z3_DIED, 600000 },
    { die, Z3_DIED, 600000 },      { leave, Z3_DIED, 600000 },
    { flood, Z3_DIED, 600000 },    { take_memory, END_WITHOUT_MEMORY, 600000 },
    { echo, Z3_ANSWERED, 600000 },
};

static void test_failing(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof failing / sizeof *failing; i++) {
        struct err err = { 0 };
        struct z3 *z3 = z3_start(failing[i].solver, &err);
        assert_non_null(z3);
        struct z3_answer answer = { .text = BUF_INIT };
        struct z3_question question = { STR("(check-sat)"), STR("(get-value (x))"), failing[i].ms };
        for (int again = 0; again < 2; again++) { /* a process that failed leaves nothing behind */
            assert_true(z3_ask(z3, &question, &answer));
            assert_int_equal(answer.end, failing[i].end);
        }
        buf_release(&answer.text);
        z3_stop(z3);
    }
}

static void test_echo(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct z3 *z3 = z3_start(echo, &err);
    assert_non_null(z3);
    struct z3_answer answer = { .text = BUF_INIT };
    assert_true(
        z3_ask(z3, &(struct z3_question){ STR("(check-sat)"), STR("(x)"), 600000 }, &answer));
    assert_int_equal(answer.end, Z3_ANSWERED);
    assert_str_is(buf_str(&answer.text), "(check-sat)(x)");
    buf_release(&answer.text);
    z3_stop(z3);
}

/* --- Answers that are no answers --- */

/* s0*s1 with sizes that have no upper bound, so that neither intervals nor a search decide it. */
static void ask_product(struct z3 *z3, struct decide_answer *ret)
{
    struct err err = { 0 };
    struct sym_pool *pool = sym_pool_new(&err);
    struct decider *d = decider_new(pool, &err);
    sym_id s0 = sym_symbol(pool, STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE);
    sym_id s1 = sym_symbol(pool, STR("s1"), SYM_IS_INTEGER | SYM_IS_POSITIVE);
    assert_true(decider_symbol(d, s0, (struct decide_range){ 2, DECIDE_NO_UPPER }));
    assert_true(decider_symbol(d, s1, (struct decide_range){ 2, DECIDE_NO_UPPER }));
    decider_trust_facts(d);
    sym_id goal = sym_parse(pool, STR("s0*s1 < 30"), sym_by_name, NULL);
    const struct decide_limits limits = {
        .steps = 100000000, .ns = 600000000000, .z3 = z3, .only_z3 = true
    };
    assert_true(decide(d, goal, &limits, ret));
    if (ret->verdict == DECIDE_REFUTED) {
        assert_int_equal(ret->n_values, 2);
        assert_true(ret->values[0].value * ret->values[1].value >= 30);
    }
    ret->values = NULL;
    decider_free(d);
    sym_pool_free(pool);
}

static void write_text(int out, const char *text)
{
    (void)!write(out, text, strlen(text));
}

/* The rows of s0 and s1 are those that the question asks for: "(get-value (r0 r1))". */
static void put_values(struct str values, int out, const char *first, const char *second)
{
    size_t from = str_find_char(values, 'r'), until = str_find_char(str_from(values, from), ' ');
    struct str a = str_first(str_from(values, from), until);
    struct str b = str_from(values, from + until + 1);
    b = str_first(b, str_find_char(b, ')'));
    char text[200];
    snprintf(text, sizeof text, "sat\n((%.*s %s)\n (%.*s %s))\n", STR_ARG(a), first, STR_ARG(b),
             second);
    write_text(out, text);
}

static void find_wrong(struct str text, struct str values, int out)
{
    (void)text;
    put_values(values, out, "3", "4"); /* 12 < 30 */
}
static void find_outside(struct str text, struct str values, int out)
{
    (void)text;
    put_values(values, out, "1", "400"); /* s0 >= 2 */
}
static void find_negative(struct str text, struct str values, int out)
{
    (void)text;
    put_values(values, out, "(- 30)", "(- 30)");
}
static void find_huge(struct str text, struct str values, int out)
{
    (void)text;
    put_values(values, out, "99999999999999999999999", "7");
}
static void find_overflow(struct str text, struct str values, int out)
{
    (void)text;
    put_values(values, out, "9223372036854775807", "9223372036854775807");
}
static void find_right(struct str text, struct str values, int out)
{
    (void)text;
    put_values(values, out, "5", "6");
}
static void say_more(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    write_text(out, "unsat\n(error \"line 1\")\n");
}
static void say_prefix(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    write_text(out, "unsatisfied");
}
static void say_unknown(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    write_text(out, "unknown\n");
}
static void say_half(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    write_text(out, "sat\n((r");
}
static void say_unsat(struct str text, struct str values, int out)
{
    (void)text;
    (void)values;
    write_text(out, "unsat\n");
}

struct said {
    z3_solver solver;
    enum decide_verdict verdict;
};

static const struct said said[] = {
    { find_wrong, DECIDE_UNDECIDED },    { find_outside, DECIDE_UNDECIDED },
    { find_negative, DECIDE_UNDECIDED }, { find_huge, DECIDE_UNDECIDED },
    { find_overflow, DECIDE_UNDECIDED }, { find_right, DECIDE_REFUTED },
    { say_more, DECIDE_UNDECIDED },      { say_prefix, DECIDE_UNDECIDED },
    { say_unknown, DECIDE_UNDECIDED },   { say_half, DECIDE_UNDECIDED },
    { say_unsat, DECIDE_PROVED },        { echo, DECIDE_UNDECIDED },
    { die, DECIDE_UNDECIDED },
};

static void test_answers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct err err = { 0 };
        struct z3 *z3 = z3_start(said[i].solver, &err);
        struct decide_answer answer;
        assert_non_null(z3);
        ask_product(z3, &answer);
        if (answer.verdict != said[i].verdict)
            fail_msg("answer %zu: verdict %d", i, answer.verdict);
        assert_int_equal(answer.method, DECIDE_BY_Z3);
        assert_false(answer.smallest);
        z3_stop(z3);
    }
}

static bool attempt_question(void *user)
{
    struct err err = { 0 };
    struct decide_answer answer;
    const struct decide_limits limits = {
        .steps = 1000, .ns = 600000000000, .z3 = user, .only_z3 = true
    };
    struct sym_pool *pool = sym_pool_new(&err);
    struct decider *d = pool ? decider_new(pool, &err) : NULL;
    bool ok = d && decider_fact(d, sym_parse(pool, STR("s0 + s1 < 8"), sym_by_name, NULL)) &&
              decide(d, sym_parse(pool, STR("Max(s0, s1)*s0 <= s1//3"), sym_by_name, NULL), &limits,
                     &answer) &&
              answer.verdict == DECIDE_PROVED;
    decider_free(d);
    sym_pool_free(pool);
    return ok;
}

static void test_allocations(void **state)
{
    (void)state;
    struct err err = { 0 };
    struct z3 *z3 = z3_start(say_unsat, &err);
    assert_non_null(z3);
    check_alloc_failures(attempt_question, z3);
    z3_stop(z3);
}

/* --- Z3 --- */

static struct z3 *start_z3(void)
{
    struct err err = { 0 };
    struct z3 *z3 = z3_start(NULL, &err);
    assert_non_null(z3);
    if (z3_check(z3, &err))
        return z3;
    print_message("skipped: %s\n", err.text);
    z3_stop(z3);
    skip();
    return NULL;
}

static void test_z3(void **state)
{
    (void)state;
    struct z3 *z3 = start_z3();
    struct decide_answer answer;
    ask_product(z3, &answer);
    assert_int_equal(answer.verdict, DECIDE_REFUTED);
    assert_int_equal(answer.n_values, 2);
    assert_true(answer.smallest);
    z3_stop(z3);
}

/* Conditions without an upper bound that our own methods do not decide. */
static const char *const hard[][3] = {
    { "Eq(Mod(s0, 8), 0)", "s0 >= 8", "Eq(s1*(s0//8)*(s0//(s0//8)), s0*s1)" },
    { "Eq(Mod(s0, 7), 0)", "s0 >= 7", "Eq(64*s1*(s0//7)*(s0//(s0//7)), 64*s0*s1)" },
    { "Eq(Mod(s0, 8), 0)", "s0 >= 8", "Ne(s1*(s0//8)*(s0//(s0//8)), s1*(s0//8))" },
};

static void test_hard(void **state)
{
    (void)state;
    struct z3 *z3 = start_z3();
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        struct err err = { 0 };
        struct sym_pool *pool = sym_pool_new(&err);
        struct decider *d = decider_new(pool, &err);
        for (int s = 0; s < 2; s++) {
            sym_id symbol =
                sym_symbol(pool, s ? STR("s1") : STR("s0"), SYM_IS_INTEGER | SYM_IS_POSITIVE);
            assert_true(decider_symbol(d, symbol, (struct decide_range){ 2, DECIDE_NO_UPPER }));
            assert_true(decider_fact(d, sym_parse(pool, str_of(hard[i][s]), sym_by_name, NULL)));
        }
        sym_id goal = sym_parse(pool, str_of(hard[i][2]), sym_by_name, NULL);
        struct decide_limits limits = { .steps = 400000, .ns = 600000000000, .z3 = z3 };
        struct decide_answer answer;
        assert_true(decide(d, goal, &limits, &answer));
        if (answer.verdict != DECIDE_PROVED)
            fail_msg("%s: verdict %d", hard[i][2], answer.verdict);
        decider_free(d);
        sym_pool_free(pool);
    }
    z3_stop(z3);
}

/* --- Random questions, answered by our own methods and by Z3 --- */

enum { RANDOM_QUESTIONS = 80, FACTS = 2, SYMBOLS = 3 };

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 11;
}

struct questions {
    struct sym_pool *pool;
    sym_id of[SYMBOLS];
    uint64_t random;
    bool linear; /* sums, multiples and quotients by constants */
};

static sym_id random_expr(struct questions *q, int depth)
{
    static const enum sym_kind kinds[] = { SYM_ADD,         SYM_ADD,      SYM_MUL,
                                           SYM_FLOORDIV,    SYM_MAX,      SYM_PYTHON_MOD,
                                           SYM_MIN,         SYM_FLOORDIV, SYM_POW_BY_NATURAL,
                                           SYM_TRUNC_TO_INT };
    uint64_t pick = next_random(&q->random);
    sym_id number = sym_integer(q->pool, (int64_t)(pick / 4096 % 9) - 2);
    if (depth == 0 || pick % 4 == 0)
        return pick % 3 ? q->of[pick / 4 % SYMBOLS] : number;
    enum sym_kind kind = kinds[pick / 4 % (q->linear ? 8 : 10)];
    sym_id a = random_expr(q, depth - 1), b = random_expr(q, depth - 1);
    bool divides = kind == SYM_FLOORDIV || kind == SYM_PYTHON_MOD || kind == SYM_TRUNC_TO_INT;
    if (kind == SYM_MUL && q->linear)
        b = number;
    if (kind == SYM_POW_BY_NATURAL)
        return sym_binary(q->pool, kind, a, sym_integer(q->pool, (int64_t)(pick / 256 % 2) + 2));
    if (divides && (q->linear || pick / 64 % 4))
        b = sym_integer(q->pool, (int64_t)(pick / 256 % 5) + 1);
    if (divides && !q->linear && pick / 16384 % 4 == 0)
        b = sym_integer(q->pool, -(int64_t)(pick / 256 % 5) - 1);
    if (divides && b == SYM_ID_ZERO)
        return a;
    if (kind == SYM_TRUNC_TO_INT) {
        sym_id quotient = sym_binary(q->pool, SYM_INT_TRUE_DIV, a, b);
        return quotient == SYM_NONE ? a : sym_unary(q->pool, kind, quotient);
    }
    return sym_binary(q->pool, kind, a, b);
}

static sym_id random_condition(struct questions *q, int depth)
{
    static const enum sym_kind kinds[] = { SYM_EQ, SYM_NE, SYM_LT, SYM_LE, SYM_GT, SYM_GE };
    uint64_t pick = next_random(&q->random);
    if (depth && pick % 4 == 0) {
        sym_id a = random_condition(q, depth - 1), b = random_condition(q, depth - 1);
        return pick / 4 % 2 ? sym_and(q->pool, a, b) : sym_or(q->pool, a, b);
    }
    sym_id a = random_expr(q, 2), b = random_expr(q, 1);
    return sym_binary(q->pool, kinds[pick / 4 % 6], a, b);
}

static bool add_random_facts(struct questions *q, struct decider *d)
{
    for (int s = 0; s < SYMBOLS; s++) {
        const char *const names[SYMBOLS] = { "s0", "s1", "u0" };
        struct decide_range range = { s < 2 ? 0 : -4, 3 + (int64_t)(next_random(&q->random) % 4) };
        if (q->linear)
            range = s < 2 ? (struct decide_range){ 0, DECIDE_NO_UPPER } : DECIDE_RANGE_ANY;
        q->of[s] = sym_symbol(q->pool, str_of(names[s]), SYM_IS_INTEGER);
        assert_true(decider_symbol(d, q->of[s], range));
    }
    for (int f = 0; f < FACTS; f++) {
        sym_id fact = random_condition(q, 1);
        if (fact == SYM_NONE || !decider_fact(d, fact))
            return false;
    }
    return true;
}

/* Returns whether both decided the question. */
static bool compare(struct questions *q, struct z3 *z3, uint32_t n[3])
{
    struct err err = { 0 };
    struct decide_answer own = { 0 }, other = { 0 };
    const struct decide_limits limits = { .steps = 2000000, .ns = 20000000000 };
    struct decide_limits asked = limits;
    asked.z3 = z3;
    asked.only_z3 = true;
    asked.steps = UINT64_MAX;
    q->pool = sym_pool_new(&err);
    struct decider *d = decider_new(q->pool, &err);
    bool ok = add_random_facts(q, d);
    sym_id goal = ok ? random_condition(q, 1) : SYM_NONE;
    ok = goal != SYM_NONE;
    if (ok) {
        assert_true(decide(d, goal, &limits, &own));
        struct decide_value kept[SYMBOLS];
        assert_true(own.n_values <= SYMBOLS);
        for (uint32_t i = 0; i < own.n_values; i++)
            kept[i] = own.values[i];
        assert_true(decide(d, goal, &asked, &other));
        ok = own.verdict != DECIDE_UNDECIDED && other.verdict != DECIDE_UNDECIDED;
        struct buf text = BUF_INIT;
        sym_print(q->pool, goal, &text);
        if (ok && own.verdict != other.verdict)
            fail_msg("%.*s: %d by %s, %d by Z3", STR_ARG(buf_str(&text)), own.verdict,
                     decide_method_name(own.method), other.verdict);
        bool same = ok && own.verdict == DECIDE_REFUTED && own.smallest && other.smallest;
        for (uint32_t i = 0; same && i < own.n_values && own.n_values == other.n_values; i++)
            if (kept[i].value != other.values[i].value)
                fail_msg("%.*s: values differ", STR_ARG(buf_str(&text)));
        n[own.verdict] += ok;
        buf_release(&text);
    }
    decider_free(d);
    sym_pool_free(q->pool);
    return ok;
}

static void compare_many(bool linear)
{
    struct z3 *z3 = start_z3();
    struct questions q = { .random = 88172645463325252u, .linear = linear };
    uint32_t n[3] = { 0 }, decided = 0;
    for (int i = 0; i < RANDOM_QUESTIONS; i++)
        decided += compare(&q, z3, n);
    z3_stop(z3);
    print_message("of %d questions, both decided %u: %u proved, %u refuted\n", RANDOM_QUESTIONS,
                  decided, n[DECIDE_PROVED], n[DECIDE_REFUTED]);
    assert_true(n[DECIDE_PROVED] > RANDOM_QUESTIONS / 10);
    assert_true(n[DECIDE_REFUTED] > RANDOM_QUESTIONS / 10);
}

static void test_boxes(void **state)
{
    (void)state;
    compare_many(false);
}

static void test_linear(void **state)
{
    (void)state;
    compare_many(true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_failing), cmocka_unit_test(test_echo),
        cmocka_unit_test(test_answers), cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_z3),      cmocka_unit_test(test_hard),
        cmocka_unit_test(test_boxes),   cmocka_unit_test(test_linear),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

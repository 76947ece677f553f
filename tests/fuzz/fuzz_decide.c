/* Lines of conditions: the last one is a goal, the others are facts. No crash, bounded work, and a
 * counterexample makes the facts true and the goal not. */
#include "tests/fuzz/fuzz.h"

#include "prove/decide/decide.h"

enum { MOST_FACTS = 12 };

static void check_values(struct decider *d, const sym_id *facts, uint32_t n, sym_id goal,
                         const struct decide_answer *answer)
{
    struct decide_result result;
    for (uint32_t i = 0; i < n; i++) {
        FUZZ_CHECK(decider_evaluate(d, facts[i], answer->values, answer->n_values, &result));
        /* A fact about other symbols has no value here. */
        FUZZ_CHECK(result.kind == DECIDE_NO_VALUE ||
                   (result.kind == DECIDE_INTEGER && result.integer));
    }
    FUZZ_CHECK(decider_evaluate(d, goal, answer->values, answer->n_values, &result));
    FUZZ_CHECK(result.kind == DECIDE_RAISES || (result.kind == DECIDE_INTEGER && !result.integer));
    FUZZ_CHECK(answer->raises == (result.kind == DECIDE_RAISES));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const struct decide_limits limits = { .steps = 20000, .ns = 1000000000 };
    struct str rest = { (const char *)data, n };
    struct err err = { .kind = ERR_NONE };
    sym_id conditions[MOST_FACTS];
    uint32_t n_conditions = 0;
    if (n > 1 << 10)
        return 0;
    struct sym_pool *pool = sym_pool_new(&err);
    struct decider *d = pool ? decider_new(pool, &err) : NULL;
    FUZZ_CHECK(d);
    while (rest.n && n_conditions < MOST_FACTS) {
        size_t end = str_find_char(rest, '\n');
        sym_id e = sym_parse(pool, str_first(rest, end), sym_by_name, NULL);
        rest = str_from(rest, end + 1);
        if (sym_ok(pool, &err) && e != SYM_NONE)
            conditions[n_conditions++] = e;
        err_clear(&err);
    }
    for (uint32_t i = 0; i + 1 < n_conditions; i++)
        FUZZ_CHECK(decider_fact(d, conditions[i]));
    struct decide_answer answer;
    if (n_conditions) {
        sym_id goal = conditions[n_conditions - 1];
        FUZZ_CHECK(decide(d, goal, &limits, &answer));
        if (answer.verdict == DECIDE_REFUTED)
            check_values(d, conditions, n_conditions - 1, goal, &answer);
        else
            FUZZ_CHECK(answer.n_values == 0 && !answer.raises);
    }
    decider_free(d);
    sym_pool_free(pool);
    return 0;
}

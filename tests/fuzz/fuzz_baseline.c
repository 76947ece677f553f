/* Baselines of check, and its lists of limits: what reads is written again and reads the same; any
 * two sides can be compared and reported. */
#include "tests/fuzz/fuzz.h"

#include "profile/compare/check.h"

static void report(const struct check *check)
{
    const struct report_options how = { .width = 60 };
    struct buf out = BUF_INIT;
    FUZZ_CHECK(check);
    check_text(check, &how, &out);
    check_json(check, &out);
    check_markdown(check, &out);
    FUZZ_CHECK(!out.failed && out.n > 0);
    buf_release(&out);
}

static void write_again(const struct check_side *side, struct arena *arena)
{
    struct err err = { .kind = ERR_NONE };
    struct check_side again;
    struct buf out = BUF_INIT;
    baseline_write(side, &out);
    FUZZ_CHECK(baseline_read(buf_str(&out), arena, &again, &err));
    for (int i = 0; i < MEASURES; i++)
        FUZZ_CHECK(again.measures[i].median == side->measures[i].median &&
                   !again.measures[i].n == !side->measures[i].n);
    buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct str text = { (const char *)data, n };
    struct arena arena = ARENA_INIT;
    struct check_rules rules = { 0 };
    struct check_side side = { 0 }, none = { 0 };
    struct err err = { .kind = ERR_NONE };
    if (baseline_read(text, &arena, &side, &err)) {
        write_again(&side, &arena);
        FUZZ_CHECK(check_rules_usual(&rules, &err));
    } else {
        FUZZ_CHECK(err.kind == ERR_INPUT);
        err.kind = ERR_NONE;
        if (!check_rules_parse(&rules, text, n % 2 ? CHECK_BESIDE : CHECK_BUDGETS, &err))
            FUZZ_CHECK(err.kind == ERR_USAGE);
        side = (struct check_side){ 0 };
    }
    struct check *check = check_make(&rules, &side, &none, &err);
    report(check);
    check_free(check);
    check = check_make(&rules, &none, &side, &err);
    report(check);
    check_free(check);
    check_rules_release(&rules);
    arena_release(&arena);
    return 0;
}

#include "profile/diagnosis/expression_growth.h"

#include "trace/events/user_line.h"

enum {
    LONG_EXPRESSION = 500, /* characters of a guard that is worth a word */
    GROWTH = 3,            /* how many times longer it is than those in the beginning */
    QUOTED = 80
};

static bool is_of_attempt(const struct guard *guard, uint32_t attempt)
{
    return guard->kind == GUARD_EVAL && (attempt == TRACE_NONE || guard->attempt == attempt);
}

static bool is_at_user_line(const struct trace *trace, const struct guard *guard)
{
    uint32_t recording = trace->records[guard->record].recording;
    stack_id at = user_line(trace, recording, guard->user_stack);
    return at != 0 && !torch_is_own_file(stack_frame(trace, recording, at).file);
}

struct expression_growth read_expression_growth(const struct build_input *input, uint32_t attempt)
{
    const struct guard_list *guards = input->guards;
    struct expression_growth ret = { 0 };
    uint32_t seen = 0;
    for (uint32_t i = 0; i < guards->n; i++)
        ret.n_guards += is_of_attempt(&guards->guards[i], attempt);
    for (uint32_t i = 0; i < guards->n; i++) {
        const struct guard *g = &guards->guards[i];
        if (!is_of_attempt(g, attempt))
            continue;
        if (seen++ <= ret.n_guards / 10 && g->expr.n > ret.early)
            ret.early = g->expr.n;
        if (!ret.longest || g->expr.n > ret.longest->expr.n)
            ret.longest = g;
        if (g->expr.n >= LONG_EXPRESSION && (!ret.placed || g->expr.n > ret.placed->expr.n) &&
            is_at_user_line(input->trace, g))
            ret.placed = g;
    }
    if (ret.longest &&
        (ret.longest->expr.n < LONG_EXPRESSION || ret.longest->expr.n / GROWTH < ret.early))
        ret.longest = NULL;
    return ret;
}

/* Operations on floats that no rule simplifies, and what says the same in integers. */
static const struct {
    struct str mark;
    const char *remedy;
} ROUNDINGS[] = {
    { { "CeilToInt(IntTrueDiv(", 21 },
      "write math.ceil(a / b) as -(-a // b): the rounding of a true division is never simplified" },
    { { "FloorToInt(IntTrueDiv(", 22 },
      "write math.floor(a / b) as a // b: the rounding of a true division is never simplified" },
    { { "TruncToInt(IntTrueDiv(", 22 },
      "write int(a / b) as a // b: the rounding of a true division is never simplified" },
};

void find_expression_growth(struct finder *d, struct finding_build *f,
                            const struct expression_growth *growth)
{
    if (!growth->longest)
        return;
    struct str expr = growth->longest->expr;
    find_evidence(d, f, "guards grew from %zu to %zu characters over %u guards", growth->early,
                  expr.n, growth->n_guards);
    find_evidence(d, f, "the longest one begins: %.*s", STR_ARG(str_first(expr, QUOTED)));
    for (size_t i = 0; i < sizeof ROUNDINGS / sizeof *ROUNDINGS; i++)
        if (str_contains(expr, ROUNDINGS[i].mark))
            find_remedy(d, f, REMEDY_CHANGE_CODE, "%s", ROUNDINGS[i].remedy);
    find_remedy(
        d, f, REMEDY_CHANGE_SETTING,
        "mark_dynamic() only the sizes that change, without dynamic=True; or dynamic=False");
}

/* Findings: conditions on data-dependent sizes that PyTorch could not decide while it compiled
 * (GuardOnDataDependentSymNode: _make_data_dependent_error in
 * torch/fx/experimental/symbolic_shapes.py). */
#include "profile/diagnosis/failures/find_failures.h"
#include "profile/diagnosis/failures/recorded_truth.h"
#include "trace/base/text/wildcard.h"

/* What was asked about data-dependent sizes. */
struct question {
    struct symbol_scope scope;
    struct str expr, maker;
    struct str kept;   /* the expression, for as long as the finding lives */
    bool is_int;       /* a Python int was needed, not a condition */
    bool has_guard_or; /* the message names guard_or_false, so that this torch has it */
    struct buf code;   /* the expression as the program has it */
};

static void read_maker(void *user, struct str name)
{
    struct question *q = user;
    const struct symbol *symbol = symbol_find(&q->scope, name);
    if (symbol && symbol->unbacked && q->maker.n == 0)
        q->maker = symbol_maker(&q->scope, symbol);
}

/* Returns the text before the first colon that is in no brackets; "" without one. */
static struct str up_to_colon(struct str code)
{
    int depth = 0;
    for (size_t i = 0; i < code.n; i++) {
        char c = code.p[i];
        depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
        if (c == ':' && depth == 0)
            return str_trim(str_first(code, i));
    }
    return STR("");
}

/* Returns "rows * columns >= 32" of "if rows * columns >= 32:", and of "a if CONDITION else b"; ""
 * for lines that are no branch. */
static struct str branch_condition(struct str code)
{
    static const struct str words[] = {
        { "if ", 3 }, { "elif ", 5 }, { "while ", 6 }, { "assert ", 7 }
    };
    code = str_trim(code);
    size_t inside = str_find(code, STR(" if ")), otherwise = str_find(code, STR(" else "));
    if (inside + 4 < otherwise && otherwise < code.n) /* a if condition else b */
        return str_trim(str_from(str_first(code, otherwise), inside + 4));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!str_starts(code, words[i]))
            continue;
        code = str_from(code, words[i].n);
        if (i == 3) /* the message follows the last comma outside of calls */
            return str_contains(code, STR(",")) ? STR("") : str_trim(code);
        return up_to_colon(code);
    }
    return STR("");
}

/* Returns the condition that code of PyTorch most often needs where it asks whether a size is 0 or
 * 1; "" for other questions. */
static struct str compared_size(struct str expr)
{
    static const char *const ends[] = { ", 0)", ", 1)" };
    bool compares = str_starts(expr, STR("Eq(")) || str_starts(expr, STR("Ne("));
    for (size_t i = 0; compares && i < sizeof ends / sizeof *ends; i++)
        if (str_ends(expr, str_of(ends[i])))
            return str_from(str_first(expr, expr.n - 4), 3);
    return STR("");
}

static void add_mark_remedy(struct finder *d, struct finding_build *f)
{
    struct buf call = BUF_INIT;
    struct str tensor;
    uint64_t dim;
    if (source_size(f->finding.source, &tensor, &dim)) {
        buf_putc(&call, '(');
        source_put_code(tensor, &call);
        buf_printf(&call, ", %llu)", (unsigned long long)dim);
    }
    find_remedy(d, f, REMEDY_MARK_DYNAMIC,
                "torch._dynamo.mark_dynamic%.*s instead of mark_unbacked: the branch is then a "
                "guard, and the other side is another compile",
                STR_ARG(buf_str(&call)));
    if (call.failed)
        err_nomem(&d->err);
    buf_release(&call);
}

/* Suggests to state a fact, unless it was false at the recorded call; then, if it is one
 * comparison, its negation. `fact`: the condition in recorded symbols, without a "not". */
static void add_check_remedy(struct finder *d, struct finding_build *f, struct str condition,
                             enum recorded_truth truth, uint32_t line, struct str fact)
{
    struct buf text = BUF_INIT;
    bool negated, compares = condition_compares(condition, &negated);
    if (truth != RECORDED_FALSE)
        buf_put(&text, condition);
    else
        condition_negate(condition, &text);
    if (text.n > 0) {
        find_remedy(d, f, REMEDY_TORCH_CHECK,
                    "torch._check(%.*s) before line %u, if it always holds",
                    STR_ARG(buf_str(&text)), line);
        find_fact(f, compares ? fact : STR(""), negated != (truth == RECORDED_FALSE));
    }
    if (text.failed)
        err_nomem(&d->err);
    buf_release(&text);
}

static void add_condition_remedies(struct finder *d, struct finding_build *f,
                                   const struct question *q, const struct failure *is,
                                   struct str condition)
{
    enum recorded_truth truth =
        condition_truth(condition, recorded_truth(&q->scope, q->expr, is->code));
    add_check_remedy(d, f, condition, truth, is->line, q->kept);
    if (q->has_guard_or) /* torch has both since 2.7; the value has to be that of the call */
        find_remedy(d, f, REMEDY_GUARD_OR_FALSE,
                    "guard_or_%s(%.*s) of torch.fx.experimental.symbolic_shapes as the "
                    "condition, if %s branch is right for every size",
                    truth == RECORDED_TRUE ? "true" : "false", STR_ARG(condition),
                    truth == RECORDED_TRUE ? "this" : "the other");
    find_remedy(d, f, REMEDY_CHANGE_CODE,
                "torch.cond(%.*s, f, g, operands), if both branches are needed",
                STR_ARG(condition));
}

/* Appends the fact that lets PyTorch answer a question of its own: that a size is at least 2 where
 * it asks for 0 or 1, otherwise what it asks. */
static void put_fact(const struct question *q, struct buf *out)
{
    struct str size = compared_size(q->expr);
    if (size.n > 0)
        buf_printf(out, "%.*s >= 2", STR_ARG(size));
    else
        buf_put(out, q->expr);
}

static void add_branch_remedies(struct finder *d, struct finding_build *f, const struct question *q,
                                const struct failure *is)
{
    struct str condition = branch_condition(is->code);
    if (str_is(q->maker, "mark_unbacked"))
        add_mark_remedy(d, f);
    if (condition.n > 0) {
        add_condition_remedies(d, f, q, is, condition);
        return;
    }
    struct buf fact = BUF_INIT, code = BUF_INIT;
    put_fact(q, &fact);
    symbols_put_code(&q->scope, buf_str(&fact), &code);
    add_check_remedy(d, f, buf_str(&code), recorded_truth(&q->scope, buf_str(&fact), is->code),
                     is->line, find_copy(d, buf_str(&fact)));
    if (fact.failed || code.failed)
        err_nomem(&d->err);
    buf_release(&fact);
    buf_release(&code);
}

static void put_cause(const struct question *q, struct str condition, struct buf *out)
{
    struct str maker = q->maker.n > 0 ? q->maker : STR("a data-dependent operator");
    if (q->is_int)
        buf_printf(out, "a Python int is made of %.*s", STR_ARG(buf_str(&q->code)));
    else if (condition.n > 0)
        buf_printf(out, "the branch on %.*s", STR_ARG(condition));
    else
        buf_printf(out, "the code asks whether %.*s, which", STR_ARG(buf_str(&q->code)));
    if (q->is_int)
        buf_puts(out, ", which");
    if (str_is(maker, "mark_unbacked"))
        buf_puts(out, " needs a guard on a size that was marked with mark_unbacked, for which none "
                      "is allowed");
    else
        buf_printf(out,
                   " depends on a result of %.*s and is not known when the program is compiled",
                   STR_ARG(maker));
}

static bool read_question(struct question *q, struct str reason)
{
    struct str parts[2];
    if (!wildcard_find(reason, STR("data-dependent expression * (unhinted: *)."), parts, 2))
        return false;
    q->expr = parts[1];
    q->is_int = str_contains(reason, STR("Could not extract specialized"));
    q->has_guard_or = str_contains(reason, STR("guard_or_false"));
    guard_symbols(q->expr, read_maker, q);
    symbols_put_code(&q->scope, q->expr, &q->code);
    return true;
}

void find_data_dependent(struct finder *d, const struct profile_failure *failure)
{
    struct question q = {
        .scope = failure_scope(d, failure),
        .expr = failure->is->summary,
        .maker = STR(""),
    };
    struct buf cause = BUF_INIT;
    if (read_question(&q, failure->is->reason))
        put_cause(&q, branch_condition(failure->is->code), &cause);
    else
        buf_put(&cause, failure->is->summary);
    struct finding_build *f = failure_add(d, FINDING_FAILURE, failure, buf_str(&cause), true);
    if (find_is_new(f)) {
        q.kept = find_copy(d, q.expr);
        f->finding.question = q.is_int ? STR("") : q.kept;
        find_symbol_evidence(d, f, &q.scope, q.expr);
        if (q.is_int)
            find_remedy(d, f, REMEDY_CHANGE_CODE,
                        "do what needs %.*s as a Python int outside of the compiled function",
                        STR_ARG(buf_str(&q.code)));
        else
            add_branch_remedies(d, f, &q, failure->is);
    }
    if (cause.failed || q.code.failed)
        err_nomem(&d->err);
    buf_release(&cause);
    buf_release(&q.code);
}

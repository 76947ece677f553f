/* Checks cases by the operators' rules. */
#include <stdio.h>
#include <stdlib.h>

#include "replay/cases/op_case.h"
#include "replay/ops/dispatch/context.h"
#include "replay/ops/layers.h"

/* --- Judging --- */

/* Eq(Max(1, s16), s16) is read as Eq(s16, s16), which stays as it was written. */
static bool is_trivial(const struct op_case *call, sym_id guard)
{
    return sym_kind_of(call->pool, guard) == SYM_EQ &&
           sym_arg(call->pool, guard, 0) == sym_arg(call->pool, guard, 1);
}

/* In each way that there is to ask, since ShapeEnv remembers answers by how it was asked. */
static bool give(struct op_case *call, sym_id guard)
{
    bool yes = false, ignored;
    if (guard != SYM_NONE && is_trivial(call, guard))
        return true;
    if (guard == SYM_NONE || !env_guard_bool(call->env, guard, &yes) || !yes)
        return false;
    if (!env_guard_or(call->env, guard, false, &ignored) ||
        !env_guard_or(call->env, guard, true, &ignored))
        env_raised(call->env);
    return true;
}

static bool apply_given(struct op_case *call)
{
    json_id list = json_get(call->doc, JSON_ROOT, STR("given"));
    for (json_id at = json_first(call->doc, list); at != JSON_NONE; at = json_next(call->doc, at))
        if (!give(call, op_case_expr(call, at)))
            return op_case_differs(call, "given guard %.*s does not hold",
                                   STR_ARG(json_text(call->doc, at)));
    return true;
}

/* Deferred asserts, which say what unbacked symbols may be. */
static void apply_asserts(struct op_case *call)
{
    json_id list = json_get(call->doc, JSON_ROOT, STR("asserts"));
    for (json_id at = json_first(call->doc, list); at != JSON_NONE; at = json_next(call->doc, at)) {
        bool holds;
        sym_id expr = op_case_expr(call, at);
        if (expr == SYM_NONE || !env_expect_true(call->env, expr, STR(""), &holds))
            env_raised(call->env);
    }
}

static bool compare_after(struct op_case *call)
{
    json_id after = json_get(call->doc, JSON_ROOT, STR("after"));
    uint32_t i = 0;
    bool ok = true;
    for (json_id at = json_first(call->doc, after); at != JSON_NONE;
         at = json_next(call->doc, at), i++) {
        struct value now = i < call->n_args ? call->args[i] : value_none();
        for (size_t w = 0; w < ops_n_written(call->ops); w++) {
            uint32_t arg;
            struct tensor x = ops_written(call->ops, w, &arg);
            if (arg == i)
                now = value_tensor(x);
        }
        char name[32];
        snprintf(name, sizeof name, "after[%u]", i);
        if (now.kind == VALUE_TENSOR || now.kind == VALUE_LIST)
            ok &= op_case_compare_value(call, at, now, name);
    }
    return ok;
}

static bool compare_error(struct op_case *call, json_id error)
{
    json_id type = json_first(call->doc, error), text = json_next(call->doc, type);
    struct str expected = json_decoded(call->doc, text, &call->arena);
    const struct ops_error *got = ops_error(call->ops);
    bool same = str_eq(got->text, expected);
    enum { RECORDED = 800 }; /* characters of a text */
    if (!same && expected.n == RECORDED)
        same = str_starts(got->text, expected);
    if (!same && expected.n > 200) /* then its first line */
        same = str_eq(str_first(got->text, str_find_char(got->text, '\n')),
                      str_first(expected, str_find_char(expected, '\n')));
    if (!same || !str_eq(got->type, json_str(call->doc, type)))
        return op_case_differs(call, "error %.*s: %.*s, got %.*s: %.*s",
                               STR_ARG(json_str(call->doc, type)), STR_ARG(expected),
                               STR_ARG(got->type), STR_ARG(got->text));
    return true;
}

static enum case_verdict judge_answer(struct op_case *call, enum op_outcome outcome,
                                      struct value result, uint32_t guards_before)
{
    json_id error = json_get(call->doc, JSON_ROOT, STR("error"));
    if (outcome == OP_UNSUPPORTED)
        return op_case_differs(call, "unsupported: %.*s", STR_ARG(ops_error(call->ops)->text)),
               CASE_MISSING;
    if (error != JSON_NONE && outcome == OP_DONE)
        return op_case_differs(call, "should raise %.*s", STR_ARG(json_text(call->doc, error))),
               CASE_FAILED;
    if (error != JSON_NONE)
        return compare_error(call, error) ? CASE_PASSED : CASE_FAILED;
    if (outcome == OP_REFUSED && call->lacks_data &&
        str_is(ops_error(call->ops)->type, "DataDependentOutputException"))
        return op_case_differs(call, "the result depends on data"), CASE_SKIPPED;
    if (outcome != OP_DONE)
        return op_case_differs(call, "raises %.*s: %.*s", STR_ARG(ops_error(call->ops)->type),
                               STR_ARG(ops_error(call->ops)->text)),
               CASE_FAILED;
    if (json_get(call->doc, JSON_ROOT, STR("out")) == JSON_NONE)
        return op_case_differs(call, "no result was recorded"), CASE_SKIPPED;
    bool ok =
        op_case_compare_value(call, json_get(call->doc, JSON_ROOT, STR("out")), result, "out");
    ok &= compare_after(call);
    if (call->symbolic && json_get(call->doc, JSON_ROOT, STR("guards")) != JSON_NONE)
        ok &= op_case_compare_environment(call, guards_before);
    return !ok ? CASE_FAILED : call->skip ? CASE_SKIPPED : CASE_PASSED;
}

/* Once more: what the cache answers, mostly. New symbols make another answer. */
static enum case_verdict judge_again(struct op_case *call, struct str op, struct value first,
                                     enum op_outcome outcome, uint32_t fresh)
{
    struct value result;
    if (ops_call(call->ops, op,
                 &(struct arguments){ call->args, call->n_args, call->keywords, call->n_keywords },
                 &result) != outcome)
        return op_case_differs(call, "called again it ends otherwise: %.*s",
                               STR_ARG(ops_error(call->ops)->text)),
               CASE_FAILED;
    bool same = outcome != OP_DONE || env_n_symbols(call->env) != call->n_adopted ||
                op_case_same_answer(call, first, result, fresh);
    return same ? CASE_PASSED
                : (op_case_differs(call, "called again it answers otherwise"), CASE_FAILED);
}

/* An input that is one number has a symbol for it from the start (FakeTensor.item_memo); that
 * x.item() is a symbol that was there before tells which. */
static bool remember_item(struct op_case *call, struct str op)
{
    json_id out = json_get(call->doc, JSON_ROOT, STR("out"));
    json_id symbol = json_get(call->doc, out, STR("symint"));
    bool is_float = symbol == JSON_NONE;
    if (is_float)
        symbol = json_get(call->doc, out, STR("symfloat"));
    struct str name = json_str(call->doc, symbol);
    if (!str_is(op, "aten._local_scalar_dense.default") || call->n_args != 1 ||
        call->args[0].kind != VALUE_TENSOR ||
        json_get(call->doc, json_get(call->doc, JSON_ROOT, STR("hints")), name) == JSON_NONE)
        return true;
    sym_id e = op_case_expr_text(call, name);
    if (e == SYM_NONE)
        return op_case_differs(call, "the symbol of the result makes no sense");
    struct value number = value_sym(is_float ? VALUE_FLOAT : VALUE_INT, e);
    return ops_remember_item(call->ops, call->args[0].u.tensor, number);
}

/* The arguments come from views: FakeTensorMode has made them once for its cache, while guards were
 * suppressed, and ShapeEnv remembers what it could not tell then. */
static bool were_results(struct op_case *call)
{
    struct op *view = op_table_find(&call->ops->table, STR("aten.alias.default"));
    if (!view || !op_prepare(call->ops, view))
        return op_case_differs(call, "no views");
    for (uint32_t i = 0; i < call->n_args; i++)
        ask_synthesized(call->ops, view, call->args[i]);
    return true;
}

static bool read_call(struct op_case *call)
{
    if ((!call->symbolic || op_case_adopt_symbols(call)) && apply_given(call)) {
        apply_asserts(call);
        if (op_case_read_args(call))
            return true;
    }
    return call->why.n ? false : op_case_differs(call, "its symbols or arguments cannot be read");
}

static enum op_outcome make_call(struct op_case *call, struct str op, struct value *ret)
{
    const struct arguments arguments = { call->args, call->n_args, call->keywords,
                                         call->n_keywords };
    struct err arithmetic = { .kind = ERR_NONE };
    enum op_outcome outcome = ops_call(call->ops, op, &arguments, ret);
    return sym_ok(call->pool, &arithmetic) || outcome != OP_DONE ? outcome : OP_FAILED;
}

static enum case_verdict judge(struct op_case *call, struct str op, struct err *err)
{
    struct value result = value_none();
    if (!read_call(call))
        return CASE_FAILED;
    if (call->skip)
        return op_case_differs(call, "it has an argument that a case cannot have"), CASE_SKIPPED;
    if (!remember_item(call, op) || (call->results && !were_results(call)))
        return CASE_FAILED;
    uint32_t guards = env_n_guards(call->env);
    call->n_adopted = env_n_symbols(call->env);
    uint32_t fresh = ops_next_storage(call->ops);
    enum op_outcome outcome = make_call(call, op, &result);
    if (outcome == OP_FAILED) {
        if (!ops_failed(call->ops, err))
            err_set(err, ERR_INPUT, "the sizes of the result cannot be computed");
        return op_case_differs(call, "%s", err->text), CASE_FAILED;
    }
    enum case_verdict verdict = judge_answer(call, outcome, result, guards);
    return verdict == CASE_PASSED ? judge_again(call, op, result, outcome, fresh) : verdict;
}

/* --- Environments --- */

static struct shape_env *new_environment(int torch, struct err *err)
{
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    if (torch)
        settings.torch = torch;
    return shape_env_new(&settings, err);
}

struct case_checker *case_checker_new(const struct custom_rules *rules, struct err *err)
{
    struct case_checker *checker = calloc(1, sizeof *checker);
    if (!checker)
        return err_nomem(err), NULL;
    checker->concrete = new_environment(0, err);
    checker->ops = checker->concrete ? ops_new_with_rules(checker->concrete, rules, err) : NULL;
    if (checker->ops)
        return checker;
    case_checker_free(checker);
    return NULL;
}

static void leave_environment(struct case_checker *checker)
{
    struct shape_env *env = checker->call.env;
    if (env && env != checker->concrete) {
        ops_set_env(checker->ops, checker->concrete);
        shape_env_free(env);
    }
    checker->call.env = NULL;
}

void case_checker_free(struct case_checker *checker)
{
    if (!checker)
        return;
    op_case_release(&checker->call);
    if (checker->ops)
        leave_environment(checker);
    ops_free(checker->ops);
    shape_env_free(checker->concrete);
    free(checker);
}

static int release_of(const struct case_checker *checker, const struct json *doc)
{
    struct str torch = json_str(doc, json_get(doc, JSON_ROOT, STR("torch")));
    return checker->torch ? checker->torch : torch_release(torch);
}

/* A case with symbols has an environment of its own; the others of a release share one. */
static bool enter_environment(struct case_checker *checker, struct err *err)
{
    struct op_case *call = &checker->call;
    int torch = release_of(checker, call->doc);
    call->symbolic = json_get(call->doc, JSON_ROOT, STR("hints")) != JSON_NONE;
    if (call->symbolic || torch != checker->concrete_torch) {
        struct shape_env *env = new_environment(torch, err);
        if (!env)
            return false;
        call->env = env;
        ops_set_env(checker->ops, env);
        if (!call->symbolic) {
            shape_env_free(checker->concrete);
            checker->concrete = env;
            checker->concrete_torch = torch;
        }
    } else {
        call->env = checker->concrete;
        env_raised(call->env);
        ops_reset(checker->ops);
    }
    struct err before = { .kind = ERR_NONE };
    sym_ok(env_pool(call->env), &before); /* what the case before failed with */
    ops_set_eager(checker->ops, !call->symbolic);
    ops_set_export(checker->ops, call->exporting);
    call->ops = checker->ops;
    call->pool = env_pool(call->env);
    return true;
}

static bool begin_case(struct case_checker *checker, const struct json *doc, struct err *err)
{
    leave_environment(checker);
    op_case_clear(&checker->call);
    checker->call.doc = doc;
    return enter_environment(checker, err);
}

static bool check_once(struct case_checker *checker, const struct json *doc, enum case_verdict *ret,
                       struct err *err)
{
    struct str op = json_str(doc, json_get(doc, JSON_ROOT, STR("op")));
    struct err limit = { .kind = ERR_NONE };
    if (!begin_case(checker, doc, err))
        return false;
    *ret = judge(&checker->call, op, &limit);
    if (limit.kind == ERR_ENV || checker->call.why.failed ||
        env_short_of_memory(checker->call.env) || ops_short_of_memory(checker->ops))
        return err_nomem(err);
    return true;
}

/* A case does not say whether its tensors were inputs or results, nor of an export, whether the
 * result was remembered from before (call_after_export() of replay/program/walk.c). */
bool case_check(struct case_checker *checker, const struct json *doc, enum case_verdict *ret,
                struct err *err)
{
    bool exported = json_kind_of(doc, json_get(doc, JSON_ROOT, STR("exported"))) == JSON_TRUE;
    bool symbolic = json_get(doc, JSON_ROOT, STR("hints")) != JSON_NONE;
    *ret = CASE_FAILED;
    for (unsigned way = 0; way < 4 && *ret == CASE_FAILED; way++) {
        checker->call.results = way & 1;
        checker->call.exporting = exported && way < 2;
        if ((!symbolic && checker->call.results) || (!exported && way >= 2))
            continue;
        if (!check_once(checker, doc, ret, err))
            return false;
    }
    return true;
}

bool case_open(struct case_checker *checker, const struct json *doc, struct err *err)
{
    return begin_case(checker, doc, err) && read_call(&checker->call);
}

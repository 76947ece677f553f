/* usage: conform_ops [-v] [--table] [--op NAME] [--expect PERCENT] [--torch VERSION] FILE...
 *
 * Each row of ops/NAME.jsonl[.zst] is one call with PyTorch's answer; ours must be the same:
 * metas, aliases, numbers, guards, ranges, replacements, errors. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/ops/dispatch/context.h"
#include "replay/ops/layers.h"
#include "tests/conformance/conform_ops.h"

struct conform {
    struct row_options options;
    struct tally tally;
    struct ops *ops;
    struct shape_env *concrete;
    struct row row;
    const char *path;
    size_t line;
};

/* --- Judging --- */

/* In each way that there is to ask, since ShapeEnv remembers answers by how it was asked. */
static bool give(struct row *row, sym_id guard)
{
    bool yes = false, no = false;
    return guard != SYM_NONE && env_guard_bool(row->env, guard, &yes) && yes &&
           env_guard_or(row->env, guard, false, &no) && env_guard_or(row->env, guard, true, &no);
}

static bool apply_given(struct row *row)
{
    json_id list = json_get(row->doc, JSON_ROOT, STR("given"));
    for (json_id at = json_first(row->doc, list); at != JSON_NONE; at = json_next(row->doc, at))
        if (!give(row, row_expr(row, at)))
            return row_differs(row, "given guard %.*s does not hold",
                               STR_ARG(json_text(row->doc, at)));
    return true;
}

static bool compare_after(struct row *row)
{
    json_id after = json_get(row->doc, JSON_ROOT, STR("after"));
    uint32_t i = 0;
    bool ok = true;
    for (json_id at = json_first(row->doc, after); at != JSON_NONE;
         at = json_next(row->doc, at), i++) {
        struct value now = i < row->n_args ? row->args[i] : value_none();
        for (size_t w = 0; w < ops_n_written(row->ops); w++) {
            uint32_t arg;
            struct tensor x = ops_written(row->ops, w, &arg);
            if (arg == i)
                now = value_tensor(x);
        }
        char name[32];
        snprintf(name, sizeof name, "after[%u]", i);
        if (now.kind == VALUE_TENSOR || now.kind == VALUE_LIST)
            ok &= row_compare_value(row, at, now, name);
    }
    return ok;
}

static bool compare_error(struct row *row, json_id error)
{
    json_id type = json_first(row->doc, error), text = json_next(row->doc, type);
    struct str expected = json_decoded(row->doc, text, &row->arena);
    const struct ops_error *got = ops_error(row->ops);
    bool same = str_eq(got->text, expected);
    enum { RECORDED = 800 }; /* characters of a text */
    if (!same && expected.n == RECORDED)
        same = str_starts(got->text, expected);
    if (!same && expected.n > 200) /* then its first line */
        same = str_eq(str_first(got->text, str_find_char(got->text, '\n')),
                      str_first(expected, str_find_char(expected, '\n')));
    if (!same || !str_eq(got->type, json_str(row->doc, type)))
        return row_differs(row, "error %.*s: %.*s, got %.*s: %.*s",
                           STR_ARG(json_str(row->doc, type)), STR_ARG(expected), STR_ARG(got->type),
                           STR_ARG(got->text));
    return true;
}

static enum verdict judge_answer(struct row *row, enum op_outcome outcome, struct value result,
                                 uint32_t guards_before)
{
    json_id error = json_get(row->doc, JSON_ROOT, STR("error"));
    if (outcome == OP_UNSUPPORTED)
        return row_differs(row, "unsupported: %.*s", STR_ARG(ops_error(row->ops)->text)),
               ROW_UNSUPPORTED;
    if (error != JSON_NONE && outcome == OP_DONE)
        return row_differs(row, "should raise %.*s", STR_ARG(json_text(row->doc, error))),
               ROW_FAILED;
    if (error != JSON_NONE)
        return compare_error(row, error) ? ROW_PASSED : ROW_FAILED;
    if (outcome == OP_REFUSED && row->lacks_data &&
        str_is(ops_error(row->ops)->type, "DataDependentOutputException"))
        return ROW_SKIPPED;
    if (outcome != OP_DONE)
        return row_differs(row, "raises %.*s: %.*s", STR_ARG(ops_error(row->ops)->type),
                           STR_ARG(ops_error(row->ops)->text)),
               ROW_FAILED;
    bool ok = row_compare_value(row, json_get(row->doc, JSON_ROOT, STR("out")), result, "out");
    ok &= compare_after(row);
    if (row->symbolic)
        ok &= row_compare_environment(row, guards_before);
    return !ok ? ROW_FAILED : row->skip ? ROW_SKIPPED : ROW_PASSED;
}

/* Once more: what the cache answers, mostly. New symbols make another answer. */
static enum verdict judge_again(struct row *row, struct str op, struct value first,
                                enum op_outcome outcome, uint32_t fresh)
{
    struct value result;
    if (ops_call(row->ops, op,
                 &(struct arguments){ row->args, row->n_args, row->keywords, row->n_keywords },
                 &result) != outcome)
        return row_differs(row, "called again it ends otherwise: %.*s",
                           STR_ARG(ops_error(row->ops)->text)),
               ROW_FAILED;
    bool same = outcome != OP_DONE || env_n_symbols(row->env) != row->n_adopted ||
                row_same_answer(row, first, result, fresh);
    return same ? ROW_PASSED : (row_differs(row, "called again it answers otherwise"), ROW_FAILED);
}

/* An input that is one number has a symbol for it from the start (FakeTensor.item_memo); that
 * x.item() is a symbol that was there before tells which. */
static bool remember_item(struct row *row, struct str op)
{
    json_id symbol = json_get(row->doc, json_get(row->doc, JSON_ROOT, STR("out")), STR("symint"));
    struct str name = json_str(row->doc, symbol);
    if (!str_is(op, "aten._local_scalar_dense.default") || row->n_args != 1 ||
        row->args[0].kind != VALUE_TENSOR ||
        json_get(row->doc, json_get(row->doc, JSON_ROOT, STR("hints")), name) == JSON_NONE)
        return true;
    struct value number = value_int(row_expr_text(row, name));
    return ops_remember_item(row->ops, row->args[0].u.tensor, number);
}

/* The arguments come from views: FakeTensorMode has made them once for its cache, while guards were
 * suppressed, and ShapeEnv remembers what it could not tell then. */
static bool were_results(struct row *row)
{
    struct op *view = op_table_find(&row->ops->table, STR("aten.alias.default"));
    if (!view || !op_prepare(row->ops, view))
        return row_differs(row, "no views");
    for (uint32_t i = 0; i < row->n_args; i++)
        ask_synthesized(row->ops, view, row->args[i]);
    return true;
}

static enum verdict judge(struct row *row, struct str op)
{
    if ((row->symbolic && !row_adopt_symbols(row)) || !apply_given(row) || !row_read_args(row))
        return row->why.n ? ROW_FAILED : (row_differs(row, "cannot be read"), ROW_FAILED);
    if (row->skip)
        return ROW_SKIPPED;
    if (!remember_item(row, op))
        return ROW_FAILED;
    struct value result;
    if (row->results && !were_results(row))
        return ROW_FAILED;
    uint32_t guards = env_n_guards(row->env);
    row->n_adopted = env_n_symbols(row->env);
    uint32_t fresh = ops_next_storage(row->ops);
    enum op_outcome outcome = ops_call(
        row->ops, op, &(struct arguments){ row->args, row->n_args, row->keywords, row->n_keywords },
        &result);
    enum verdict verdict = judge_answer(row, outcome, result, guards);
    return verdict == ROW_PASSED ? judge_again(row, op, result, outcome, fresh) : verdict;
}

static void show(struct conform *c, struct str op, enum verdict verdict, uint32_t before)
{
    if (row_is_shown(&c->options, verdict, before))
        printf("%s:%zu: %.*s: %.*s\n", c->path, c->line, STR_ARG(op),
               STR_ARG(buf_str(&c->row.why)));
}

static bool tally_up(struct conform *c, struct str op, enum verdict verdict)
{
    struct tally_row *row = tally_row(&c->tally, op);
    if (!row)
        return false;
    show(c, op, verdict, row->n[ROW_FAILED] + row->n[ROW_UNSUPPORTED]);
    row->n[verdict]++;
    c->tally.totals.n[verdict]++;
    return true;
}

static struct shape_env *new_env(const struct conform *c, struct err *err)
{
    struct env_settings settings = ENV_SETTINGS_DEFAULT;
    if (c->options.torch)
        settings.torch = c->options.torch;
    return shape_env_new(&settings, err);
}

/* A row with symbols has an environment of its own; the others share one. */
static bool enter_env(struct conform *c, struct row *row)
{
    struct err err = { .kind = ERR_NONE };
    row->symbolic = json_get(row->doc, JSON_ROOT, STR("hints")) != JSON_NONE;
    row->env = row->symbolic ? new_env(c, &err) : c->concrete;
    if (!row->env)
        return false;
    ops_set_eager(c->ops, !row->symbolic);
    if (ops_env(c->ops) == row->env)
        ops_reset(c->ops);
    else
        ops_set_env(c->ops, row->env);
    row->ops = c->ops;
    row->pool = env_pool(row->env);
    return true;
}

static bool judge_alone(struct conform *c, struct row *row, struct str op, enum verdict *ret)
{
    row_clear(row);
    if (!enter_env(c, row))
        return false;
    *ret = judge(row, op);
    if (row->symbolic) {
        ops_set_env(c->ops, c->concrete);
        shape_env_free(row->env);
    }
    return true;
}

static bool judge_line(void *user, const char *path, size_t line, struct json *doc, struct str text)
{
    struct conform *c = user;
    struct err err = { .kind = ERR_NONE };
    struct row *row = &c->row;
    c->path = path;
    c->line = line;
    if (!json_parse(doc, text, &err)) {
        fprintf(stderr, "%s:%zu: %s\n", path, line, err.text);
        return false;
    }
    struct str op = json_str(doc, json_get(doc, JSON_ROOT, STR("op")));
    if (c->options.op && !str_eq(op, str_of(c->options.op)))
        return true;
    row->doc = doc;
    row->results = false;
    enum verdict verdict = ROW_FAILED;
    if (!judge_alone(c, row, op, &verdict))
        return false;
    /* A row does not tell whether its tensors were inputs or results. */
    row->results = row->symbolic;
    if (verdict == ROW_FAILED && row->results && !judge_alone(c, row, op, &verdict))
        return false;
    return tally_up(c, op, verdict);
}

static int usage(void)
{
    fputs(
        "usage: conform_ops [-v | -vv] [--table] [--op NAME] [--expect PERCENT] [--torch VERSION] "
        "FILE...\n",
        stderr);
    return 2;
}

int main(int argc, char **argv)
{
    static struct conform c;
    struct err err = { .kind = ERR_NONE };
    int i = row_options_read(argc, argv, &c.options);
    if (!i || i == argc)
        return usage();
    c.concrete = new_env(&c, &err);
    c.ops = c.concrete ? ops_new(c.concrete, &err) : NULL;
    if (!c.ops)
        return fprintf(stderr, "%s\n", err.text), 4;
    int code = rows_judge_files(argv + i, argc - i, judge_line, &c);
    if (code == 77)
        return code;
    if (c.options.table)
        tally_print_table(&c.tally);
    double share = tally_print_totals(&c.tally);
    tally_release(&c.tally);
    buf_release(&c.row.why);
    arena_release(&c.row.arena);
    ops_free(c.ops);
    shape_env_free(c.concrete);
    return code ? code : share < c.options.expect ? 1 : 0;
}

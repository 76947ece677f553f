/* Recorded calls with their values (../shared/ops/concrete) held against a backend.
 *
 *     conform_values [-v | -vv] [--table] [--op NAME] [--expect PERCENT] [--backend NAME] [--every
 * N] [--fail-allocations] FILE...
 *
 * Each row's arguments are given to the backend and its results compared element by element:
 * exactly for integers and bool, else within the tolerance of the dtype that
 * torch.testing.assert_close() has. Skipped: what is random or uninitialised, refused, or has no
 * values recorded.
 *
 * With --fail-allocations a row is computed again and again, with the first, the second, ...
 * allocation of its call failing: each time it fails with an error, or its values are right. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "replay/backend/compare/compare_values.h"
#include "replay/backend/run/exec.h"
#include "replay/ops/layers.h"
#include "tests/conformance/conform_ops.h"
#include "tests/harness.h"

struct conform {
    struct row_options options;
    struct shape_env *env;
    struct ops *ops;
    const struct backend_kind *kind;
    struct backend *backend;
    unsigned long n_rows, on_host; /* rows seen; rows that passed by the CPU's kernels only */
    struct op_case row;
    struct tally tally;
    size_t failing; /* the allocation of the call that fails; 0: none */
    bool failed;    /* it did */
    const char *path;
    size_t line;
};

/* ---- Comparing ---- */

static struct array array_of(const struct op_case *row, struct tensor x, const void *p,
                             size_t bytes)
{
    struct array ret = { .dtype = x.meta->dtype, .ndim = x.meta->ndim, .p = p, .bytes = bytes };
    for (uint32_t i = 0; i < ret.ndim; i++)
        sym_to_i64(row->pool, x.meta->size[i], &ret.size[i]);
    return ret;
}

static bool compare_elements(struct op_case *row, struct exec *exec, struct tensor expected,
                             struct tensor got, const char *what)
{
    size_t bytes;
    struct err err = { .kind = ERR_NONE };
    if (!tensor_bytes(row->pool, got.meta, &bytes))
        return op_case_differs(row, "%s: another size", what);
    char *values = arena_bytes(&row->arena, bytes + 16);
    if (!values || !exec_read(exec, got, values, bytes, &err))
        return op_case_differs(row, "%s: %s", what, err.text);
    struct array a = array_of(row, expected, expected.data, bytes);
    struct array b = array_of(row, got, values, bytes);
    struct difference d = compare_arrays(&a, &b, tolerance_of(got.meta->dtype));
    if (!d.comparable)
        return op_case_differs(row, "%s: another dtype or size", what);
    return !d.bad || op_case_differs(row, "%s[%llu]: %.9g, got %.9g", what,
                                     (unsigned long long)d.first_bad, d.expected, d.got);
}

static bool compare_numbers(struct op_case *row, struct value expected, struct value got,
                            const char *what)
{
    bool bools = expected.kind == VALUE_BOOL;
    if (bools != (got.kind == VALUE_BOOL) || (!bools && !value_is_number(got)))
        return op_case_differs(row, "%s: no such number", what);
    if (bools)
        return expected.u.sym == got.u.sym || op_case_differs(row, "%s: the other truth", what);
    double x = sym_to_double(row->pool, expected.u.sym), y = sym_to_double(row->pool, got.u.sym);
    bool same = x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= 1e-7 * fabs(x);
    return same || op_case_differs(row, "%s: %.9g, got %.9g", what, x, y);
}

/* Tensors with values, and numbers: *compared counts them. */
static bool compare_values(struct op_case *row, struct exec *exec, struct value expected,
                           struct value got, const char *what, uint32_t *compared)
{
    if (expected.kind == VALUE_LIST || expected.kind == VALUE_TUPLE) {
        bool ok = got.n == expected.n;
        for (uint32_t i = 0; i < expected.n && ok; i++) {
            char name[64];
            snprintf(name, sizeof name, "%.40s.%u", what, i);
            ok = compare_values(row, exec, expected.u.items[i], got.u.items[i], name, compared);
        }
        return ok;
    }
    if (value_is_number(expected) || expected.kind == VALUE_BOOL) {
        ++*compared;
        return compare_numbers(row, expected, got, what);
    }
    if (expected.kind == VALUE_TENSOR && got.kind == VALUE_TENSOR && expected.u.tensor.data) {
        ++*compared;
        return compare_elements(row, exec, expected.u.tensor, got.u.tensor, what);
    }
    return true;
}

/* ---- A row ---- */

static bool write_args(struct exec *exec, const struct value *args, uint32_t n, struct err *err)
{
    for (uint32_t i = 0; i < n; i++) {
        size_t bytes;
        const struct value *v = &args[i];
        if (v->kind == VALUE_LIST || v->kind == VALUE_TUPLE) {
            if (!write_args(exec, v->u.items, v->n, err))
                return false;
        } else if (v->kind == VALUE_TENSOR && v->u.tensor.data &&
                   v->u.tensor.meta->layout == LAYOUT_STRIDED) {
            if (!tensor_bytes(ops_pool(exec->ops), v->u.tensor.meta, &bytes) ||
                !exec_write(exec, v->u.tensor, v->u.tensor.data, bytes, err))
                return false;
        }
    }
    return true;
}

static bool write_keywords(struct exec *exec, const struct op_case *row, struct err *err)
{
    for (uint32_t i = 0; i < row->n_keywords; i++)
        if (!write_args(exec, &row->keywords[i].value, 1, err))
            return false;
    return true;
}

/* An argument after the call, which may have changed its meta (transpose_). */
static struct value argument_now(const struct op_case *row, uint32_t i)
{
    for (size_t w = 0; w < ops_n_written(row->ops); w++) {
        uint32_t arg;
        struct tensor x = ops_written(row->ops, w, &arg);
        if (arg == i)
            return value_tensor(x);
    }
    return row->args[i];
}

static enum case_verdict judge_results(struct op_case *row, struct exec *exec, struct value got)
{
    struct value expected;
    uint32_t compared = 0;
    if (!op_case_read_value(row, json_get(row->doc, JSON_ROOT, STR("out")), &expected))
        return CASE_SKIPPED;
    bool ok = compare_values(row, exec, expected, got, "out", &compared);
    json_id after = json_get(row->doc, JSON_ROOT, STR("after"));
    uint32_t i = 0;
    for (json_id at = json_first(row->doc, after); at != JSON_NONE && ok;
         at = json_next(row->doc, at), i++) {
        if (i < row->n_args && op_case_read_value(row, at, &expected))
            ok = compare_values(row, exec, expected, argument_now(row, i), "after", &compared);
    }
    return !ok ? CASE_FAILED : compared ? CASE_PASSED : CASE_SKIPPED;
}

static enum case_verdict judge(struct conform *c, struct exec *exec, struct str name)
{
    struct op_case *row = &c->row;
    struct err err = { .kind = ERR_NONE };
    struct value got;
    const struct op *op = ops_find(c->ops, name);
    bool unspecified = json_get(row->doc, JSON_ROOT, STR("unspecified_values")) != JSON_NONE;
    if (unspecified || json_get(row->doc, JSON_ROOT, STR("error")) != JSON_NONE || !op ||
        !op_case_read_args(row) || row->skip || row->lacks_data)
        return CASE_SKIPPED;
    if (!write_args(exec, row->args, row->n_args, &err) || !write_keywords(exec, row, &err))
        return op_case_differs(row, "%s", err.text), CASE_FAILED;
    alloc_fail_at(c->failing, false);
    enum exec_outcome outcome =
        exec_call(exec, op, row->args, row->n_args, row->keywords, row->n_keywords, &got, &err);
    c->failed = alloc_has_failed();
    alloc_fail_at(0, false);
    if (c->failed && outcome != EXEC_DONE)
        return CASE_PASSED;
    switch (outcome) {
    case EXEC_DONE:
        if (!c->kind->wait(c->backend, &err))
            return op_case_differs(row, "%s", err.text), CASE_FAILED;
        return judge_results(row, exec, got);
    case EXEC_REFUSED:
        return op_case_differs(row, "refused: %.*s", STR_ARG(ops_error(c->ops)->text)), CASE_FAILED;
    default:
        if (err.kind)
            op_case_differs(row, "%s", err.text);
        else
            op_case_differs(row, "no rule: %.*s", STR_ARG(ops_error(c->ops)->text));
        if (strstr(err.text, "without plain strides"))
            return CASE_SKIPPED; /* sparse */
        return strstr(err.text, "no kernel") ? CASE_MISSING : CASE_FAILED;
    }
}

static bool tally_up(struct conform *c, struct str op, enum case_verdict verdict)
{
    struct tally_row *row = tally_row(&c->tally, op);
    if (!row)
        return false;
    uint32_t before = row->n[CASE_FAILED] + row->n[CASE_MISSING];
    if (row_is_shown(&c->options, verdict, before))
        printf("%s:%zu: %.*s: %.*s\n", c->path, c->line, STR_ARG(op),
               STR_ARG(buf_str(&c->row.why)));
    row->n[verdict]++;
    c->tally.totals.n[verdict]++;
    return true;
}

static bool was_on_host(const struct backend_log *log)
{
    for (size_t i = 0; i < log->launches.n; i++)
        if (log->launches.v[i].on_host)
            return true;
    return false;
}

/* A device that a row broke is of no use to the next one. */
static bool reopen(struct conform *c)
{
    struct err err = { .kind = ERR_NONE };
    if (c->backend)
        c->kind->close(c->backend);
    c->backend = c->kind->open(&err);
    if (!c->backend)
        return fprintf(stderr, "%s\n", err.text), false;
    c->backend->log.on = true;
    return true;
}

/* Computes the row once. */
static enum case_verdict judge_once(struct conform *c, struct json *doc, struct str op)
{
    struct op_case *row = &c->row;
    struct exec exec;
    op_case_clear(row);
    row->doc = doc;
    row->env = c->env;
    row->ops = c->ops;
    row->pool = env_pool(c->env);
    ops_reset(c->ops);
    exec_init(&exec, c->ops, c->backend, 0);
    c->backend->log.launches.n = c->backend->log.nodes.n = 0;
    enum case_verdict verdict = judge(c, &exec, op);
    exec_release(&exec);
    return verdict;
}

static enum case_verdict judge_without_memory(struct conform *c, struct json *doc, struct str op)
{
    enum case_verdict verdict = CASE_PASSED;
    c->failed = true;
    for (c->failing = 1; c->failed && verdict == CASE_PASSED; c->failing++)
        verdict = judge_once(c, doc, op);
    c->failing = 0;
    return verdict;
}

static bool judge_line(void *user, const char *path, size_t line, struct json *doc, struct str text)
{
    struct conform *c = user;
    struct err err = { .kind = ERR_NONE };
    c->path = path;
    c->line = line;
    if (!json_parse(doc, text, &err))
        return fprintf(stderr, "%s:%zu: %s\n", path, line, err.text), false;
    struct str op = json_str(doc, json_get(doc, JSON_ROOT, STR("op")));
    if (c->options.op && !str_eq(op, str_of(c->options.op)))
        return true;
    if (c->options.every && c->n_rows++ % c->options.every)
        return true;
    enum case_verdict verdict = judge_once(c, doc, op);
    if (verdict == CASE_PASSED)
        c->on_host += was_on_host(&c->backend->log);
    if (verdict == CASE_PASSED && c->options.fail_allocations)
        verdict = judge_without_memory(c, doc, op);
    if (verdict == CASE_FAILED && !reopen(c))
        return false;
    return tally_up(c, op, verdict);
}

int main(int argc, char **argv)
{
    static struct conform c;
    struct err err = { .kind = ERR_NONE };
    int i = row_options_read(argc, argv, &c.options);
    if (!i || i == argc)
        return fputs("usage: conform_values [-v | -vv] [--table] [--op NAME] [--expect PERCENT] "
                     "[--backend NAME] [--every N] [--fail-allocations] FILE...\n",
                     stderr),
               2;
    c.env = shape_env_new(NULL, &err);
    c.ops = c.env ? ops_new(c.env, &err) : NULL;
    c.kind = backend_find(str_of(c.options.backend ? c.options.backend : "cpu"));
    if (!c.ops || !c.kind)
        return fprintf(stderr, "%s\n", c.ops ? "no such backend" : err.text), 4;
    if (!reopen(&c))
        return 4;
    int code = rows_judge_files(argv + i, argc - i, judge_line, &c);
    if (code == 77)
        return code;
    if (c.options.table)
        tally_print_table(&c.tally);
    double share = tally_print_totals(&c.tally);
    if (c.options.backend)
        printf("%lu of them on the host\n", c.on_host);
    tally_release(&c.tally);
    c.kind->close(c.backend);
    op_case_release(&c.row);
    ops_free(c.ops);
    shape_env_free(c.env);
    return code ? code : share < c.options.expect ? 1 : 0;
}

/* Recorded calls with their values (../shared/ops/concrete) held against a backend.
 *
 *     conform_values [-v | -vv] [--table] [--op NAME] [--expect PERCENT] FILE...
 *
 * Each row's arguments are given to the backend and its results compared element by element: exactly
 * for integers and bool, else within the tolerance of the dtype that torch.testing.assert_close()
 * has. Skipped: what is random or uninitialised, refused, or has no values recorded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "replay/backend/cpu/dense.h"
#include "replay/backend/exec.h"
#include "tests/conform_ops.h"
#include "trace/base/intern.h"
#include "trace/log/source.h"

struct options {
    bool verbose, all, table;
    const char *op;
    double expect;
};

struct tally_row {
    uint32_t n[ROW_VERDICTS];
};

struct conform {
    struct options options;
    struct shape_env *env;
    struct ops *ops;
    struct backend *backend;
    struct row row;
    struct intern names;
    vec_of(struct tally_row) rows;
    struct tally_row totals;
    const char *path;
    size_t line;
};

/* ---- Comparing ---- */

struct tolerance {
    double relative, absolute;
};

static struct tolerance tolerance_of(enum dtype dtype)
{
    switch (dtype) {
    case DTYPE_F64:
    case DTYPE_C128: return (struct tolerance){ 1e-7, 1e-7 };
    case DTYPE_F32:
    case DTYPE_C64: return (struct tolerance){ 1.3e-6, 1e-5 };
    case DTYPE_BF16: return (struct tolerance){ 1.6e-2, 1e-5 };
    default: return (struct tolerance){ 1e-3, 1e-5 };
    }
}

static bool close_to(double expected, double got, struct tolerance t)
{
    if (isnan(expected) || isnan(got))
        return isnan(expected) && isnan(got);
    return expected == got || fabs(expected - got) <= t.absolute + t.relative * fabs(expected);
}

static bool same_element(enum dtype dtype, const void *a, const void *b, int64_t i)
{
    struct tolerance t = tolerance_of(dtype);
    if (dense_kind_of(dtype) == DENSE_INT)
        return load_int(dtype, a, i) == load_int(dtype, b, i);
    if (dense_kind_of(dtype) == DENSE_REAL)
        return close_to(load_real(dtype, a, i), load_real(dtype, b, i), t);
    cdouble x = load_complex(dtype, a, i), y = load_complex(dtype, b, i);
    bool parts = close_to(creal(x), creal(y), t) && close_to(cimag(x), cimag(y), t);
    return parts || cabs(x - y) <= t.absolute + t.relative * cabs(x);
}

static bool compare_elements(struct row *row, struct exec *exec, struct tensor expected,
                             struct tensor got, const char *what)
{
    enum dtype dtype = got.meta->dtype;
    size_t bytes;
    struct err err = { .kind = ERR_NONE };
    if (!tensor_bytes(row->pool, got.meta, &bytes) || expected.meta->dtype != dtype)
        return row_differs(row, "%s: another dtype or size", what);
    char *values = arena_bytes(&row->arena, bytes + 16);
    if (!values || !exec_read(exec, got, values, bytes, &err))
        return row_differs(row, "%s: %s", what, err.text);
    int64_t n = (int64_t)(bytes / dtype_size(dtype));
    for (int64_t i = 0; i < n; i++) {
        if (same_element(dtype, expected.data, values, i))
            continue;
        if (dense_kind_of(dtype) == DENSE_COMPLEX)
            return row_differs(row, "%s[%lld]: %.9g%+.9gj, got %.9g%+.9gj", what, (long long)i,
                               creal(load_complex(dtype, expected.data, i)),
                               cimag(load_complex(dtype, expected.data, i)),
                               creal(load_complex(dtype, values, i)),
                               cimag(load_complex(dtype, values, i)));
        return row_differs(row, "%s[%lld]: %.9g, got %.9g", what, (long long)i,
                           load_real(dtype, expected.data, i), load_real(dtype, values, i));
    }
    return true;
}

/* Tensors with values: *compared counts them. */
static bool compare_values(struct row *row, struct exec *exec, struct value expected,
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

static bool read_args(struct row *row)
{
    json_id args = json_get(row->doc, JSON_ROOT, STR("args"));
    for (json_id at = json_first(row->doc, args); at != JSON_NONE; at = json_next(row->doc, at))
        if (row->n_args == ROW_MAX_ARGS || !row_read_value(row, at, &row->args[row->n_args++]))
            return false;
    json_id keywords = json_get(row->doc, JSON_ROOT, STR("kwargs"));
    for (json_id at = json_first(row->doc, keywords); at != JSON_NONE;
         at = json_next(row->doc, at)) {
        if (row->n_keywords == ROW_MAX_ARGS)
            return false;
        struct keyword *keyword = &row->keywords[row->n_keywords++];
        keyword->name = json_str(row->doc, at);
        at = json_next(row->doc, at);
        if (!row_read_value(row, at, &keyword->value))
            return false;
    }
    return true;
}

static bool write_keywords(struct exec *exec, const struct row *row, struct err *err)
{
    for (uint32_t i = 0; i < row->n_keywords; i++)
        if (!write_args(exec, &row->keywords[i].value, 1, err))
            return false;
    return true;
}

/* An argument after the call, which may have changed its meta (transpose_). */
static struct value argument_now(const struct row *row, uint32_t i)
{
    for (size_t w = 0; w < ops_n_written(row->ops); w++) {
        uint32_t arg;
        struct tensor x = ops_written(row->ops, w, &arg);
        if (arg == i)
            return value_tensor(x);
    }
    return row->args[i];
}

static enum verdict judge_results(struct row *row, struct exec *exec, struct value got)
{
    struct value expected;
    uint32_t compared = 0;
    if (!row_read_value(row, json_get(row->doc, JSON_ROOT, STR("out")), &expected))
        return ROW_SKIPPED;
    bool ok = compare_values(row, exec, expected, got, "out", &compared);
    json_id after = json_get(row->doc, JSON_ROOT, STR("after"));
    uint32_t i = 0;
    for (json_id at = json_first(row->doc, after); at != JSON_NONE && ok;
         at = json_next(row->doc, at), i++) {
        if (i < row->n_args && row_read_value(row, at, &expected))
            ok = compare_values(row, exec, expected, argument_now(row, i), "after", &compared);
    }
    return !ok ? ROW_FAILED : compared ? ROW_PASSED : ROW_SKIPPED;
}

static enum verdict judge(struct conform *c, struct exec *exec, struct str name)
{
    struct row *row = &c->row;
    struct err err = { .kind = ERR_NONE };
    struct value got;
    const struct op *op = ops_find(c->ops, name);
    bool unspecified = json_get(row->doc, JSON_ROOT, STR("unspecified_values")) != JSON_NONE;
    if (unspecified || json_get(row->doc, JSON_ROOT, STR("error")) != JSON_NONE || !op ||
        !read_args(row) || row->skip || row->lacks_data)
        return ROW_SKIPPED;
    if (!write_args(exec, row->args, row->n_args, &err) || !write_keywords(exec, row, &err))
        return row_differs(row, "%s", err.text), ROW_FAILED;
    switch (exec_call(exec, op, row->args, row->n_args, row->keywords, row->n_keywords, &got,
                      &err)) {
    case EXEC_DONE: return judge_results(row, exec, got);
    case EXEC_REFUSED:
        return row_differs(row, "refused: %.*s", STR_ARG(ops_error(c->ops)->text)), ROW_FAILED;
    default:
        row_differs(row, "%s", err.kind ? err.text : "no rule");
        if (strstr(err.text, "without plain strides"))
            return ROW_SKIPPED; /* sparse */
        return strstr(err.text, "no kernel") ? ROW_UNSUPPORTED : ROW_FAILED;
    }
}

static bool tally_up(struct conform *c, struct str op, enum verdict verdict)
{
    const struct options *o = &c->options;
    uint32_t i = intern(&c->names, op);
    while (c->rows.n <= i)
        if (!vec_push(&c->rows, (struct tally_row){ 0 }))
            return false;
    bool bad = verdict == ROW_FAILED || verdict == ROW_UNSUPPORTED;
    uint32_t before = c->rows.v[i].n[ROW_FAILED] + c->rows.v[i].n[ROW_UNSUPPORTED];
    if (bad && (o->all || (o->verbose && before < (o->op ? 20u : 2u))))
        printf("%s:%zu: %.*s: %.*s\n", c->path, c->line, STR_ARG(op),
               STR_ARG(buf_str(&c->row.why)));
    c->rows.v[i].n[verdict]++;
    c->totals.n[verdict]++;
    return true;
}

static bool judge_line(struct conform *c, struct json *doc, struct str line)
{
    struct err err = { .kind = ERR_NONE };
    struct row *row = &c->row;
    struct exec exec;
    if (!json_parse(doc, line, &err))
        return fprintf(stderr, "%s:%zu: %s\n", c->path, c->line, err.text), false;
    struct str op = json_str(doc, json_get(doc, JSON_ROOT, STR("op")));
    if (c->options.op && !str_eq(op, str_of(c->options.op)))
        return true;
    buf_clear(&row->why);
    arena_release(&row->arena);
    memset(row->storage_known, 0, sizeof row->storage_known);
    row->n_args = row->n_keywords = row->n_symbols = row->n_adopted = 0;
    row->skip = row->lacks_data = false;
    row->doc = doc;
    row->env = c->env;
    row->ops = c->ops;
    row->pool = env_pool(c->env);
    ops_reset(c->ops);
    exec_init(&exec, c->ops, c->backend, 0);
    enum verdict verdict = judge(c, &exec, op);
    exec_release(&exec);
    return tally_up(c, op, verdict);
}

/* ---- Files ---- */

static bool read_all(const char *path, struct buf *text, struct err *err)
{
    struct source *in = source_open(path, err);
    size_t n = 1;
    bool ok = in != NULL;
    while (ok && n) {
        ok = buf_reserve(text, SOURCE_READ_SIZE) || err_nomem(err);
        ok = ok && source_read(in, text->p + text->n, SOURCE_READ_SIZE, &n, err);
        text->n += ok ? n : 0;
    }
    if (in)
        source_close(in);
    return ok;
}

static bool judge_file(struct conform *c, const char *path)
{
    struct err err = { .kind = ERR_NONE };
    struct buf text = BUF_INIT;
    struct json doc = { 0 };
    bool ok = read_all(path, &text, &err);
    if (!ok)
        fprintf(stderr, "%s: %s\n", path, err.text);
    struct str left = buf_str(&text);
    c->path = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    for (c->line = 1; ok && left.n; c->line++) {
        size_t end = str_find_char(left, '\n');
        ok = end == 0 || judge_line(c, &doc, str_first(left, end));
        left = str_from(left, end + 1);
    }
    json_release(&doc);
    buf_release(&text);
    return ok;
}

static void print_table(const struct conform *c)
{
    printf("%-52s %6s %6s %6s %6s\n", "operator", "passed", "failed", "skip", "unsup");
    for (uint32_t i = 0; i < c->rows.n; i++) {
        const uint32_t *n = c->rows.v[i].n;
        printf("%-52.*s %6u %6u %6u %6u\n", STR_ARG(intern_text(&c->names, i)), n[ROW_PASSED],
               n[ROW_FAILED], n[ROW_SKIPPED], n[ROW_UNSUPPORTED]);
    }
}

static int options_of(int argc, char **argv, struct options *o)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-'; i++) {
        if (!strcmp(argv[i], "-v"))
            o->verbose = true;
        else if (!strcmp(argv[i], "-vv"))
            o->verbose = o->all = true;
        else if (!strcmp(argv[i], "--table"))
            o->table = true;
        else if (!strcmp(argv[i], "--op") && i + 1 < argc)
            o->op = argv[++i];
        else if (!strcmp(argv[i], "--expect") && i + 1 < argc)
            o->expect = strtod(argv[++i], NULL);
        else
            return 0;
    }
    return i;
}

/* "shared:ops/concrete.jsonl.zst" lies in ../shared, or in $SYMTAPE_SHARED. */
static const char *place(const char *path, char *room, size_t n)
{
    const char *shared = getenv("SYMTAPE_SHARED"), *root = getenv("SYMTAPE_ROOT");
    if (strncmp(path, "shared:", 7) != 0)
        return path;
    if (shared)
        snprintf(room, n, "%s/%s", shared, path + 7);
    else
        snprintf(room, n, "%s/../shared/%s", root ? root : ".", path + 7);
    return room;
}

int main(int argc, char **argv)
{
    static struct conform c;
    struct err err = { .kind = ERR_NONE };
    struct backend_options options = { 0 };
    int i = options_of(argc, argv, &c.options);
    if (!i || i == argc)
        return fputs("usage: conform_values [-v | -vv] [--table] [--op NAME] [--expect PERCENT] "
                     "FILE...\n",
                     stderr),
               2;
    c.env = shape_env_new(NULL, &err);
    c.ops = c.env ? ops_new(c.env, &err) : NULL;
    c.backend = c.ops ? backend_find(STR("cpu"))->open(&options, &err) : NULL;
    if (!c.backend)
        return fprintf(stderr, "%s\n", err.text), 4;
    bool ok = true;
    for (; i < argc && ok; i++) {
        char room[4096];
        const char *path = place(argv[i], room, sizeof room);
        if (access(path, R_OK) != 0)
            return printf("skipped: no %s\n", path), 77;
        ok = judge_file(&c, path);
    }
    const uint32_t *n = c.totals.n;
    uint32_t failed = n[ROW_FAILED] + n[ROW_UNSUPPORTED];
    double share = n[ROW_PASSED] + failed ? 100.0 * n[ROW_PASSED] / (n[ROW_PASSED] + failed) : 100;
    if (c.options.table)
        print_table(&c);
    printf("%u passed, %u failed, %u skipped\n", n[ROW_PASSED], failed, n[ROW_SKIPPED]);
    c.backend->kind->close(c.backend);
    intern_release(&c.names);
    vec_release(&c.rows);
    buf_release(&c.row.why);
    arena_release(&c.row.arena);
    ops_free(c.ops);
    shape_env_free(c.env);
    return !ok ? 4 : share < c.options.expect ? 1 : 0;
}

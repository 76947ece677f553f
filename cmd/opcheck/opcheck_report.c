/* What came of the checks, as text and as JSON. */
#include <stdlib.h>

#include "cmd/opcheck/opcheck.h"
#include "profile/model/format.h"
#include "trace/base/text/json_write.h"

enum { DEFAULT_ROWS = 10 };

const char *op_verdict_name(enum op_verdict verdict)
{
    static const char *const NAMES[] = {
        "not checked", "pass", "fail", "xfail", "xpass", "missing"
    };
    return NAMES[verdict];
}

void opcheck_print_call(const struct op_case *call, struct buf *out)
{
    buf_put(out, json_str(call->doc, json_get(call->doc, JSON_ROOT, STR("op"))));
    buf_putc(out, '(');
    for (uint32_t i = 0; i < call->n_args; i++) {
        buf_puts(out, i ? ", " : "");
        value_print(call->pool, call->args[i], out);
    }
    for (uint32_t i = 0; i < call->n_keywords; i++) {
        buf_puts(out, i || call->n_args ? ", " : "");
        buf_printf(out, "%.*s=", STR_ARG(call->keywords[i].name));
        value_print(call->pool, call->keywords[i].value, out);
    }
    buf_putc(out, ')');
}

/* ---- Operators, the worst first ---- */

/* By how much it matters. */
static unsigned weight(enum op_verdict verdict)
{
    static const unsigned WEIGHTS[] = { [OP_NOT_CHECKED] = 0, [OP_MISSING] = 1, [OP_PASS] = 2,
                                        [OP_XFAIL] = 3,       [OP_XPASS] = 4,   [OP_FAIL] = 5 };
    return WEIGHTS[verdict];
}

static enum op_verdict worst(const struct opcheck_operator *op)
{
    enum op_verdict ret = OP_NOT_CHECKED;
    for (int i = 0; i < CHECK_COUNT; i++)
        if (weight(op->verdict[i]) > weight(ret))
            ret = op->verdict[i];
    return ret;
}

static int compare_operators(const void *a, const void *b)
{
    const struct opcheck_operator *x = *(const struct opcheck_operator *const *)a;
    const struct opcheck_operator *y = *(const struct opcheck_operator *const *)b;
    unsigned first = weight(worst(x)), second = weight(worst(y));
    bool pass = first == 2, other = second == 2; /* last, and what is missing before it */
    if (pass != other)
        return pass ? 1 : -1;
    return first != second ? (first < second ? 1 : -1) : str_cmp(x->name, y->name);
}

static const struct opcheck_operator **sorted(const struct opcheck_run *run)
{
    const struct opcheck_operator **ret = malloc((run->operators.n + 1) * sizeof *ret);
    for (size_t i = 0; ret && i < run->operators.n; i++)
        ret[i] = &run->operators.v[i];
    if (ret && run->operators.n)
        qsort(ret, run->operators.n, sizeof *ret, compare_operators);
    return ret;
}

static void put_counted(struct buf *out, const char **before, uint64_t n, const char *one,
                        const char *many)
{
    if (!n)
        return;
    buf_puts(out, *before);
    format_count(out, n);
    buf_puts(out, n == 1 ? one : many);
    *before = ", ";
}

static void put_summary(const struct opcheck_run *run, struct buf *out)
{
    uint64_t n[OP_VERDICTS] = { 0 };
    const char *before = "";
    for (size_t i = 0; i < run->operators.n; i++)
        n[worst(&run->operators.v[i])]++;
    put_counted(out, &before, run->operators.n, " operator", " operators");
    put_counted(out, &before, run->calls, " recorded call", " recorded calls");
    put_counted(out, &before, run->cases.n, " case", " cases");
    if (!run->operators.n)
        buf_puts(out, "no operator");
    if (run->torch.n)
        buf_printf(out, ", torch %.*s", STR_ARG(run->torch));
    before = ": ";
    put_counted(out, &before, n[OP_FAIL], " fails", " fail");
    put_counted(out, &before, n[OP_XPASS], " passes unexpectedly", " pass unexpectedly");
    put_counted(out, &before, n[OP_XFAIL], " fails as expected", " fail as expected");
    put_counted(out, &before, n[OP_PASS], " passes", " pass");
    put_counted(out, &before, n[OP_MISSING], " has no rule", " have no rule");
    put_counted(out, &before, n[OP_NOT_CHECKED], " was not checked", " were not checked");
    buf_putc(out, '\n');
}

/* ---- Failures ---- */

static void put_row(struct buf *out, const char *name, struct str text)
{
    if (!text.n)
        return;
    buf_printf(out, "  %-10s ", name);
    format_text(out, text, SIZE_MAX);
    buf_putc(out, '\n');
}

static struct str member(const struct json *doc, json_id place, const char *name,
                         struct arena *arena)
{
    json_id at = json_get(doc, place, str_of(name));
    struct str text = at == JSON_NONE ? STR("") : json_decoded(doc, at, arena);
    return text.p ? text : STR("");
}

struct case_place {
    struct json doc;
    struct arena arena;
    struct str tape, graph, node, file, code;
    uint64_t line;
};

static void read_place(const struct opcheck_run *run, size_t i, struct case_place *ret)
{
    struct err ignored = { .kind = ERR_NONE };
    *ret = (struct case_place){
        .tape = STR(""), .graph = STR(""), .node = STR(""), .file = STR(""), .code = STR("")
    };
    if (!json_parse(&ret->doc, run->cases.v[i].text, &ignored))
        return;
    json_id place = json_get(&ret->doc, JSON_ROOT, STR("place"));
    ret->tape = member(&ret->doc, place, "tape", &ret->arena);
    ret->graph = member(&ret->doc, place, "graph", &ret->arena);
    ret->node = member(&ret->doc, place, "node", &ret->arena);
    ret->file = member(&ret->doc, place, "file", &ret->arena);
    ret->code = member(&ret->doc, place, "code", &ret->arena);
    json_u64(&ret->doc, json_get(&ret->doc, place, STR("line")), &ret->line);
}

static void release_place(struct case_place *place)
{
    json_release(&place->doc);
    arena_release(&place->arena);
}

static void put_place(const struct case_place *place, struct buf *out)
{
    struct buf text = BUF_INIT;
    if (place->file.n) {
        format_place(&text, place->file, (uint32_t)place->line);
        buf_printf(&text, "  %.*s", STR_ARG(place->code));
    }
    put_row(out, "line", buf_str(&text));
    buf_clear(&text);
    if (place->node.n)
        buf_printf(&text, "%.*s of %.*s:%.*s", STR_ARG(place->node), STR_ARG(place->tape),
                   STR_ARG(place->graph));
    put_row(out, "node", buf_str(&text));
    out->failed |= text.failed;
    buf_release(&text);
}

static void put_heading(const struct opcheck_operator *op, enum opcheck_check check,
                        struct styles *styles, struct buf *out)
{
    const uint64_t *n = op->n[check];
    style_mark(styles, out, STYLE_RED);
    buf_puts(out, "FAIL");
    style_mark(styles, out, STYLE_NONE);
    buf_putc(out, ' ');
    format_text(out, op->name, SIZE_MAX);
    buf_printf(out, ": %s (%llu of %llu)\n", check_rows[check].what,
               (unsigned long long)n[CASE_FAILED],
               (unsigned long long)(n[CASE_FAILED] + n[CASE_PASSED]));
}

static void put_failure(const struct opcheck_run *run, const struct opcheck_operator *op,
                        enum opcheck_check check, struct styles *styles, struct buf *out)
{
    const struct opcheck_failure *failure = &op->failure[check];
    struct case_place place;
    put_heading(op, check, styles, out);
    put_row(out, "call", failure->call);
    put_row(out, "at", failure->sizes);
    put_row(out, check == CHECK_RECORDED ? "recorded" : "real", failure->real);
    put_row(out, "fake", failure->fake);
    put_row(out, failure->real.n && failure->fake.n ? "differs in" : "why", failure->why);
    read_place(run, failure->place, &place);
    put_place(&place, out);
    release_place(&place);
}

/* A further check of an operator that fails: the first case in one line. */
static void put_further(const struct opcheck_operator *op, enum opcheck_check check,
                        struct buf *out)
{
    const struct opcheck_failure *failure = &op->failure[check];
    const uint64_t *n = op->n[check];
    struct buf text = BUF_INIT;
    buf_printf(&text, "%s: %llu of %llu", check_rows[check].name,
               (unsigned long long)n[CASE_FAILED],
               (unsigned long long)(n[CASE_FAILED] + n[CASE_PASSED]));
    if (failure->sizes.n)
        buf_printf(&text, ", first at %.*s", STR_ARG(failure->sizes));
    if (failure->real.n && failure->fake.n)
        buf_printf(&text, ": %s %.*s, fake %.*s", check == CHECK_RECORDED ? "recorded" : "real",
                   STR_ARG(failure->real), STR_ARG(failure->fake));
    else
        buf_printf(&text, ": %.*s", STR_ARG(failure->why));
    put_row(out, "also", buf_str(&text));
    out->failed |= text.failed;
    buf_release(&text);
}

static uint32_t rows_of(const struct opcheck_run *run)
{
    const struct opt_number *limit = &run->args->limit;
    return !limit->given                               ? DEFAULT_ROWS
           : limit->value && limit->value < UINT32_MAX ? (uint32_t)limit->value
                                                       : UINT32_MAX;
}

static void put_unexpected(const struct opcheck_operator *op, enum opcheck_check check,
                           struct buf *out)
{
    format_text(out, op->name, SIZE_MAX);
    buf_printf(out, ": check %s passes, and a failure is expected; --update removes it\n",
               check_rows[check].name);
}

/* An operator's failures: the first check that fails, with its case, then the others. */
static void put_operator(const struct opcheck_run *run, const struct opcheck_operator *op,
                         struct styles *styles, struct buf *out)
{
    bool any = false;
    buf_putc(out, '\n');
    for (int c = 0; c < CHECK_COUNT; c++) {
        if (op->verdict[c] == OP_FAIL && !any)
            put_failure(run, op, (enum opcheck_check)c, styles, out);
        else if (op->verdict[c] == OP_FAIL)
            put_further(op, (enum opcheck_check)c, out);
        any |= op->verdict[c] == OP_FAIL;
    }
    for (int c = 0; c < CHECK_COUNT; c++)
        if (op->verdict[c] == OP_XPASS)
            put_unexpected(op, (enum opcheck_check)c, out);
}

static void put_failures(const struct opcheck_run *run, const struct opcheck_operator *const *list,
                         struct styles *styles, struct buf *out)
{
    uint32_t rows = rows_of(run), n = 0;
    for (size_t i = 0; i < run->operators.n; i++) {
        enum op_verdict verdict = worst(list[i]);
        if ((verdict == OP_FAIL || verdict == OP_XPASS) && n++ < rows)
            put_operator(run, list[i], styles, out);
    }
    if (n > rows)
        buf_printf(out, "\n... and %u more %s\n", n - rows,
                   n - rows == 1 ? "operator fails" : "operators fail");
}

/* ---- Tables ---- */

static void count_cell(struct table *table, const uint64_t *n)
{
    uint64_t all = n[CASE_PASSED] + n[CASE_FAILED];
    if (n[CASE_FAILED])
        table_printf(table, "%llu of %llu", (unsigned long long)n[CASE_PASSED],
                     (unsigned long long)all);
    else
        table_count(table, all);
}

static void put_table(const struct opcheck_run *run, const struct opcheck_operator *const *list,
                      const struct table_layout *layout, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "verdict", COLUMN_MARKUP },   { "operator", COLUMN_WIDE },
        { "cases", COLUMN_RIGHT, 1 },   { "rule", COLUMN_RIGHT },
        { "fake", COLUMN_RIGHT },       { "recorded", COLUMN_RIGHT, 3 },
        { "schema", COLUMN_RIGHT, 2 },  { "sizes", COLUMN_RIGHT, 4 },
        { "strides", COLUMN_RIGHT, 5 },
    };
    struct table table = TABLE(COLUMNS);
    uint32_t rows = rows_of(run);
    table.squeezed = true;
    for (size_t i = 0; i < run->operators.n && i < rows; i++) {
        table_text(&table, str_of(op_verdict_name(worst(list[i]))));
        table_text(&table, list[i]->name);
        table_u64(&table, list[i]->cases);
        for (int c = 0; c < CHECK_COUNT; c++)
            count_cell(&table, list[i]->n[c]);
    }
    buf_puts(out, table_rows(&table) ? "\n" : "");
    table_print(&table, layout, out);
    table_release(&table);
    if (run->operators.n > rows)
        buf_printf(out, "... and %zu more\n", run->operators.n - rows);
}

static void put_dtypes(uint64_t dtypes, struct buf *out)
{
    const char *before = "";
    for (int i = 1; i < DTYPE_COUNT && i < 64; i++)
        if (dtypes >> i & 1) {
            buf_printf(out, "%s%s", before, dtype_short_name((enum dtype)i));
            before = " ";
        }
}

static void put_ranks(uint64_t ranks, struct buf *out)
{
    const char *before = "";
    for (int i = 0; i < 64; i++)
        if (ranks >> i & 1) {
            buf_printf(out, "%s%d%s", before, i, i == 63 ? "+" : "");
            before = " ";
        }
}

/* Why no check could decide, or "". */
static struct str why_unchecked(const struct opcheck_operator *op)
{
    enum op_verdict verdict = worst(op);
    return verdict != OP_NOT_CHECKED && verdict != OP_MISSING ? STR("")
           : !op->cases                                       ? STR("no case of the file calls it")
           : op->missing.n                                    ? op->missing
                           : STR("the results depend on what a case does not have");
}

static void put_coverage(const struct opcheck_run *run, const struct opcheck_operator *const *list,
                         const struct table_layout *layout, struct buf *out)
{
    static const struct column COLUMNS[] = {
        { "verdict", COLUMN_MARKUP },
        { "operator", COLUMN_WIDE },
        { "calls", COLUMN_RIGHT },
        { "cases", COLUMN_RIGHT, 2 },
        { "dtypes", COLUMN_LEFT, 3 },
        { "ranks", COLUMN_LEFT, 4 },
        { "not checked because", COLUMN_WIDE },
    };
    struct table table = TABLE(COLUMNS);
    uint64_t recorded = 0, checked = 0, by_rule = 0, by_torch = 0;
    uint32_t rows = run->args->limit.given ? rows_of(run) : UINT32_MAX;
    table.squeezed = true;
    for (size_t i = 0; i < run->operators.n; i++) {
        const struct opcheck_operator *op = list[i];
        bool rule = op->n[CHECK_RULE][CASE_PASSED] + op->n[CHECK_RULE][CASE_FAILED] > 0;
        bool torch = op->n[CHECK_FAKE][CASE_PASSED] + op->n[CHECK_FAKE][CASE_FAILED] > 0;
        recorded += op->recorded;
        checked += op->recorded && (rule || torch);
        by_rule += op->recorded && rule;
        by_torch += op->recorded && torch;
        if (i >= rows)
            continue;
        table_text(&table, str_of(op_verdict_name(worst(op))));
        table_text(&table, op->name);
        table_count(&table, op->calls);
        table_count(&table, op->cases);
        put_dtypes(op->dtypes, &table.text);
        table_cell(&table);
        put_ranks(op->ranks, &table.text);
        table_cell(&table);
        table_text(&table, why_unchecked(op));
    }
    buf_printf(out,
               "\nCoverage: %llu of %llu recorded operators were checked, %llu by rules, %llu "
               "by PyTorch\n",
               (unsigned long long)checked, (unsigned long long)recorded,
               (unsigned long long)by_rule, (unsigned long long)by_torch);
    table_print(&table, layout, out);
    table_release(&table);
    if (run->operators.n > rows)
        buf_printf(out, "... and %zu more\n", run->operators.n - rows);
}

void opcheck_text(const struct opcheck_run *run, struct buf *out)
{
    struct styles *styles = out_styles(run->cmd->out);
    const struct table_layout layout = { .width = run->cmd->out->width, .styles = styles };
    const struct opcheck_operator **list = sorted(run);
    if (!list) {
        out->failed = true;
        return;
    }
    put_summary(run, out);
    put_failures(run, list, styles, out);
    if (run->args->coverage)
        put_coverage(run, list, &layout, out);
    else
        put_table(run, list, &layout, out);
    if (run->n_stale)
        buf_printf(out, "\n%llu expected %s of checks that this run did not make\n",
                   (unsigned long long)run->n_stale,
                   run->n_stale == 1 ? "failure is" : "failures are");
    free(list);
}

/* ---- JSON ---- */

static void json_words(struct json_writer *w, const char *key, uint64_t bits, bool dtypes)
{
    json_open_array(w, key);
    for (int i = 0; i < 64; i++)
        if (bits >> i & 1) {
            if (dtypes && i < DTYPE_COUNT)
                json_put_cstr(w, NULL, dtype_short_name((enum dtype)i));
            else if (!dtypes)
                json_put_u64(w, NULL, (uint64_t)i);
        }
    json_close(w);
}

static void json_place(struct json_writer *w, const struct opcheck_run *run, size_t i)
{
    struct case_place place;
    read_place(run, i, &place);
    json_open_object(w, "place");
    json_put_str(w, "tape", place.tape);
    json_put_str(w, "graph", place.graph);
    json_put_str(w, "node", place.node);
    json_put_str(w, "file", place.file);
    json_put_u64(w, "line", place.line);
    json_put_str(w, "code", place.code);
    json_close(w);
    release_place(&place);
}

static void json_failure(struct json_writer *w, const struct opcheck_run *run,
                         const struct opcheck_failure *failure)
{
    json_open_object(w, "failure");
    json_put_str(w, "call", failure->call);
    json_put_str(w, "sizes", failure->sizes);
    json_put_str(w, "why", failure->why);
    json_put_str(w, "expected", failure->real);
    json_put_str(w, "got", failure->fake);
    json_place(w, run, failure->place);
    json_close(w);
}

static void json_check(struct json_writer *w, const struct opcheck_run *run,
                       const struct opcheck_operator *op, enum opcheck_check check)
{
    const uint64_t *n = op->n[check];
    const struct expected_failure *expected =
        expected_failures_find(&run->expected, op->name, str_of(check_rows[check].name));
    if (!(n[CASE_PASSED] + n[CASE_FAILED] + n[CASE_SKIPPED] + n[CASE_MISSING]))
        return;
    json_open_object(w, NULL);
    json_put_cstr(w, "check", check_rows[check].name);
    json_put_cstr(w, "verdict", op_verdict_name(op->verdict[check]));
    json_put_u64(w, "passed", n[CASE_PASSED]);
    json_put_u64(w, "failed", n[CASE_FAILED]);
    json_put_u64(w, "skipped", n[CASE_SKIPPED]);
    json_put_u64(w, "missing", n[CASE_MISSING]);
    if (expected)
        json_put_str(w, "reason", expected->reason);
    else
        json_put_null(w, "reason");
    if (n[CASE_FAILED])
        json_failure(w, run, &op->failure[check]);
    else
        json_put_null(w, "failure");
    json_close(w);
}

void opcheck_json(const struct opcheck_run *run, struct buf *out)
{
    struct json_writer w = json_writer_of(out);
    const struct opcheck_operator **list = sorted(run);
    out->failed |= !list;
    json_open_object(&w, NULL);
    json_put_cstr(&w, "schema", SCHEMA_OPCHECK);
    json_put_u64(&w, "calls", run->calls);
    json_put_u64(&w, "cases", run->cases.n);
    json_put_u64(&w, "stale", run->n_stale);
    json_put_bool(&w, "updated", run->updated);
    if (run->torch.n)
        json_put_str(&w, "torch", run->torch);
    else
        json_put_null(&w, "torch");
    json_open_array(&w, "operators");
    for (size_t i = 0; list && i < run->operators.n; i++) {
        const struct opcheck_operator *op = list[i];
        json_open_object(&w, NULL);
        json_put_str(&w, "op", op->name);
        json_put_cstr(&w, "verdict", op_verdict_name(worst(op)));
        json_put_bool(&w, "recorded", op->recorded);
        json_put_u64(&w, "calls", op->calls);
        json_put_u64(&w, "cases", op->cases);
        json_words(&w, "dtypes", op->dtypes, true);
        json_words(&w, "ranks", op->ranks, false);
        json_put_str(&w, "unchecked", why_unchecked(op));
        json_open_array(&w, "checks");
        for (int c = 0; c < CHECK_COUNT; c++)
            json_check(&w, run, op, (enum opcheck_check)c);
        json_close(&w);
        json_close(&w);
    }
    json_close(&w);
    json_close(&w);
    buf_putc(out, '\n');
    free(list);
}

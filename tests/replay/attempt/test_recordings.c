/* Every expression of ../shared read into the engine prints as it was recorded. */
#include <glob.h>
#include <stdlib.h>

#include "replay/shape/expr/float_text.h"
#include "replay/shape/expr/sym.h"
#include "tests/harness.h"
#include "trace/base/intern.h"
#include "trace/events/guards.h"
#include "trace/events/symbols.h"
#include "trace/graphs.h"
#include "trace/log/source.h"

enum kind { SIZE, STRIDE, SYM, GUARD, HINT_RANGE, ENV, KINDS };
static const char *const kind_names[KINDS] = { "sizes",  "strides", "Sym()",
                                               "guards", "ranges",  "shapeenv" };

struct tally {
    struct sym_pool *pool;
    const struct symbol_table *symbols; /* of the trace at hand, or NULL */
    uint32_t attempt;
    uint32_t trace; /* ordinal */
    struct intern seen[KINDS];
    size_t distinct[KINDS], equal[KINDS];
    size_t shown;
};

static void show(struct tally *t, enum kind kind, struct str text, struct str got, const char *why)
{
    if (t->shown++ < 60)
        printf("%s: recorded %.*s\n    ours %.*s%s\n", kind_names[kind], STR_ARG(text),
               STR_ARG(got), why);
}

/* A Python int input may be negative, a size may not: the range at creation tells. */
static sym_id resolve(void *user, struct sym_pool *pool, struct str name)
{
    struct tally *t = user;
    for (uint32_t i = 0; t->symbols && i < t->symbols->n_symbols; i++) {
        const struct symbol *s = &t->symbols->symbols[i];
        if (s->attempt == t->attempt && str_eq(s->name, name) && name.p[0] == 's')
            return sym_symbol(pool, name,
                              str_starts(s->range, STR("[-")) ? SYM_IS_INTEGER
                                                              : SYM_IS_INTEGER | SYM_IS_POSITIVE);
    }
    return sym_by_name(NULL, pool, name);
}

static bool is_new(struct tally *t, enum kind kind, struct str text)
{
    struct buf key = BUF_INIT;
    buf_printf(&key, "%u %u ", t->trace, t->attempt);
    buf_put(&key, text);
    size_t before = t->seen[kind].texts.n;
    assert_int_not_equal(intern(&t->seen[kind], buf_str(&key)), INTERN_NONE);
    buf_release(&key);
    return t->seen[kind].texts.n != before;
}

/* Sym() is str() in Dynamo's graphs, sympy_str() in Inductor's, and a Float's __format__. */
static bool is_other_print(struct tally *t, struct str text)
{
    struct buf out = BUF_INIT;
    sym_id e = sym_parse(t->pool, text, resolve, t);
    sym_print_inductor(t->pool, e, &out);
    bool equal = str_eq(buf_str(&out), text);
    buf_clear(&out);
    if (sym_kind_of(t->pool, e) == SYM_FLOAT)
        float_text_of_range(sym_to_double(t->pool, e), &out);
    equal |= str_eq(buf_str(&out), text);
    buf_release(&out);
    return equal;
}

static void check_text(struct tally *t, enum kind kind, struct str text)
{
    if (!is_new(t, kind, text))
        return;
    struct err err = ERR_INIT;
    struct buf out = BUF_INIT;
    sym_print(t->pool, sym_parse(t->pool, text, resolve, t), &out);
    bool ok = sym_ok(t->pool, &err);
    bool equal = ok && str_eq(buf_str(&out), text);
    if (!equal && ok && kind == SYM)
        equal = is_other_print(t, text);
    t->distinct[kind]++;
    t->equal[kind] += equal;
    if (!equal)
        show(t, kind, text, buf_str(&out), ok ? "" : err.text);
    buf_release(&out);
}

/* The pieces between commas outside brackets. */
static void check_list(struct tally *t, enum kind kind, struct str text)
{
    int depth = 0;
    size_t from = 0;
    for (size_t i = 0; i <= text.n; i++) {
        char c = i < text.n ? text.p[i] : ',';
        depth += (c == '(' || c == '[') - (c == ')' || c == ']');
        if (c != ',' || depth)
            continue;
        struct str piece = str_trim((struct str){ text.p + from, i - from });
        if (piece.n)
            check_text(t, kind, piece);
        from = i + 1;
    }
}

/* "f32[s77, 64][64, 1]cuda:0" or "Sym(s77)". */
static void check_meta(struct tally *t, const struct meta *meta)
{
    struct str text = meta->text;
    if (meta->kind == META_SYM && str_starts(text, STR("Sym(")) && str_ends(text, STR(")"))) {
        check_text(t, SYM, (struct str){ text.p + 4, text.n - 5 });
        return;
    }
    for (int i = 0; i < 2 && meta->kind == META_TENSOR; i++) {
        size_t open = str_find_char(text, '[');
        size_t close = str_find_char(text, ']');
        if (close >= text.n || open >= close)
            return;
        check_list(t, i ? STRIDE : SIZE, (struct str){ text.p + open + 1, close - open - 1 });
        text = str_from(text, close + 1);
    }
}

static void check_trace(struct tally *t, const char *path)
{
    struct err err = ERR_INIT;
    struct trace *trace = trace_open(path, NULL, &err);
    assert_no_err(&err);
    t->symbols = trace_symbols(trace, &err);
    t->trace++;
    const struct graph_list *graphs = trace_graphs(trace, &err);
    assert_non_null(graphs);
    for (uint32_t i = 0; i < graphs->n; i++) {
        const struct graph *graph = trace_graph(trace, i, &err);
        t->attempt = graphs->refs[i].attempt;
        for (uint32_t j = 0; graph && j < graph->pool->n_metas; j++)
            check_meta(t, &graph->pool->metas[j]);
    }
    const struct guard_list *guards = trace_guards(trace, &err);
    for (uint32_t i = 0; guards && i < guards->n; i++) {
        t->attempt = guards->guards[i].attempt;
        check_text(t, GUARD, guards->guards[i].expr);
    }
    for (uint32_t i = 0; t->symbols && i < t->symbols->n_symbols; i++) {
        struct str range = t->symbols->symbols[i].range;
        if (range.n > 2)
            check_list(t, HINT_RANGE, (struct str){ range.p + 1, range.n - 2 });
    }
    trace_close(trace);
    t->symbols = NULL;
}

static void check_env_line(struct tally *t, struct str line)
{
    static const char *const keys[] = { "\"orig_expr\": \"", "\"expr\": \"", "\"tgt\": \"" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        size_t at = str_find(line, str_of(keys[i]));
        if (at >= line.n)
            continue;
        struct str rest = str_from(line, at + strlen(keys[i]));
        check_text(t, ENV, str_first(rest, str_find_char(rest, '"')));
    }
}

static void check_env(struct tally *t, const char *path)
{
    struct err err = ERR_INIT;
    struct source *in = source_open(path, &err);
    assert_non_null(in);
    struct buf text = BUF_INIT;
    size_t n = 0;
    do {
        assert_true(buf_reserve(&text, SOURCE_READ_SIZE));
        assert_true(source_read(in, text.p + text.n, SOURCE_READ_SIZE, &n, &err));
        text.n += n;
    } while (n);
    source_close(in);
    for (struct str rest = buf_str(&text); rest.n;) {
        size_t end = str_find_char(rest, '\n');
        check_env_line(t, str_first(rest, end));
        rest = str_from(rest, end + 1);
    }
    buf_release(&text);
}

static void each(const char *pattern, struct tally *t, void (*fn)(struct tally *, const char *))
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        fn(t, found.gl_pathv[i]);
    globfree(&found);
}

static void test_prints_as_recorded(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    struct tally t = { .pool = sym_pool_new(&err) };
    const char *only = getenv("SYMTAPE_ONLY");
    char pattern[4200];
    static const char *const folders[] = { "traces", "failures", "variety" };
    for (size_t i = 0; i < 3; i++) {
        const char *folder = shared_path(folders[i]);
        snprintf(pattern, sizeof pattern, "%s/%s*.log.zst", folder ? folder : "", only ? only : "");
        each(pattern, &t, check_trace);
    }
    const char *folder = shared_path("shapeenv");
    snprintf(pattern, sizeof pattern, "%s/%s*.jsonl.zst", folder ? folder : "", only ? only : "");
    each(pattern, &t, check_env);
    size_t distinct = 0, equal = 0;
    for (int i = 0; i < KINDS; i++) {
        printf("%-9s %zu of %zu distinct texts equal\n", kind_names[i], t.equal[i], t.distinct[i]);
        distinct += t.distinct[i];
        equal += t.equal[i];
        intern_release(&t.seen[i]);
    }
    printf("%zu expressions, %zu bytes\n", sym_pool_count(t.pool), sym_pool_bytes(t.pool));
    sym_pool_free(t.pool);
    assert_true(equal * 1000 >= distinct * 995);
}

int main(void)
{
    require_shared();
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_prints_as_recorded) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Findings: runtime asserts that can fail (guard_or_defer_runtime_assert in
 * torch/fx/experimental/symbolic_shapes.py).
 *
 * PyTorch adds such an assert where it could not prove a condition on sizes that depend on values.
 * Here it is evaluated at values within the ranges of its symbols that satisfy the asserts before
 * it; one that is false for some of them can fail. Asserts that the program states itself, by
 * torch._check or assert, are left out, as are those by which an operator states a fact about its
 * own result (bincount with minlength), and those without a user's line, which AOTAutograd adds
 * when it traces Dynamo's graph again. */
#include <stdlib.h>

#include "profile/diagnosis/failures/size_solver.h"
#include "replay/shape/expr/sym.h"
#include "trace/events/user_line.h"

enum {
    MOST_SYMBOLS = 3,
    MOST_VALUES = 8,
    MOST_ASSERTS = 64 /* of an attempt, that are evaluated */
};

struct assert_symbol {
    struct str name;
    sym_id id;
    int64_t values[MOST_VALUES];
    uint32_t n_values;
};

struct assert_check {
    struct finder *d;
    struct symbol_scope scope;
    struct sym_pool *pool;
    struct assert_symbol symbols[MOST_SYMBOLS];
    uint32_t n_symbols;
    bool too_many;
    struct str op;               /* that asks for the assert, as fake_operator() */
    bool promised;               /* it is the one that made a symbol: a fact about its own result */
    sym_id before[MOST_ASSERTS]; /* the asserts before it */
    uint32_t n_before;
    int64_t example[MOST_SYMBOLS]; /* values for which it is false */
};

static void add_value(struct assert_symbol *s, struct size_range range, int64_t value)
{
    for (uint32_t i = 0; i < s->n_values; i++)
        if (s->values[i] == value)
            return;
    if (value >= range.lower && value <= range.upper && s->n_values < MOST_VALUES)
        s->values[s->n_values++] = value;
}

/* Adds a symbol with the values that are tried: around its hint and the bounds of its range. */
static void add_symbol(void *user, struct str name)
{
    struct assert_check *c = user;
    const struct symbol *symbol = symbol_find(&c->scope, name);
    struct size_range range = { 0, SIZE_UNLIMITED };
    int64_t hint = 4;
    if (!symbol || c->n_symbols == MOST_SYMBOLS) {
        c->too_many = true;
        return;
    }
    if (symbol->unbacked && c->op.n > 0)
        c->promised |= str_eq(c->op, fake_operator(&c->scope, symbol->stack));
    struct assert_symbol *s = &c->symbols[c->n_symbols++];
    *s = (struct assert_symbol){ .name = name, .id = sym_by_name(NULL, c->pool, name) };
    size_range_parse(symbol->range, &range);
    if (str_starts(symbol->range, STR("[-")) && str_is(symbol_maker(&c->scope, symbol), ".item()"))
        range.lower = -1; /* a number, and no size */
    str_to_i64(symbol->value, &hint);
    const int64_t tried[] = {
        hint, hint + 1, range.lower, range.lower + 1,
        3,    16,       1000,        range.upper == SIZE_UNLIMITED ? INT32_MAX : range.upper
    };
    for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
        add_value(s, range, tried[i]);
}

static bool is_false(struct assert_check *c, sym_id e, const struct sym_pair *pairs, bool *is_true)
{
    struct err ignored = { 0 };
    sym_id value = sym_replace(c->pool, e, pairs, c->n_symbols);
    bool ok = sym_ok(c->pool, &ignored);
    *is_true = ok && value == SYM_ID_TRUE;
    return ok && value == SYM_ID_FALSE;
}

/* Tries the i-th combination of values; true if the assert is false there and those before it are
 * not. */
static bool fails_at(struct assert_check *c, sym_id e, uint32_t i)
{
    struct sym_pair pairs[MOST_SYMBOLS];
    bool is_true;
    for (uint32_t k = 0; k < c->n_symbols; k++) {
        const struct assert_symbol *s = &c->symbols[k];
        c->example[k] = s->values[i % s->n_values];
        pairs[k] = (struct sym_pair){ s->id, sym_integer(c->pool, c->example[k]) };
        i /= s->n_values;
    }
    if (!is_false(c, e, pairs, &is_true))
        return false;
    for (uint32_t k = 0; k < c->n_before; k++)
        if (is_false(c, c->before[k], pairs, &is_true))
            return false;
    return true;
}

static bool can_fail(struct assert_check *c, sym_id e)
{
    uint32_t n = c->n_symbols > 0 && !c->too_many;
    for (uint32_t k = 0; k < c->n_symbols; k++)
        n *= c->symbols[k].n_values;
    for (uint32_t i = 0; i < n; i++)
        if (fails_at(c, e, i))
            return true;
    return false;
}

/* ---- Writing ---- */

/* Returns whether the program's own line states the condition. */
static bool is_stated(struct str code)
{
    return str_contains(code, STR("torch._check")) || str_contains(code, STR("_assert")) ||
           str_starts(str_trim(code), STR("assert ")) ||
           str_contains(code, STR("constrain_as_size"));
}

static void put_example(const struct assert_check *c, struct buf *out)
{
    for (uint32_t k = 0; k < c->n_symbols; k++)
        buf_printf(out, "%s%.*s = %lld",
                   k == 0                 ? ""
                   : k + 1 < c->n_symbols ? ", "
                                          : " and ",
                   STR_ARG(c->symbols[k].name), (long long)c->example[k]);
}

/* Returns whether code has only names that the program has. */
static bool is_code(const struct assert_check *c, struct str code)
{
    bool ret = !str_contains(code, STR("("));
    for (uint32_t k = 0; k < c->n_symbols; k++)
        ret = ret && !str_contains(code, c->symbols[k].name);
    return ret;
}

static void write_assert(struct assert_check *c, struct finding_build *f, const struct guard *guard,
                         struct str negation)
{
    struct buf example = BUF_INIT, code = BUF_INIT;
    put_example(c, &example);
    symbols_put_code(&c->scope, guard->expr, &code);
    find_line(c->d, f, c->scope.recording, guard->user_stack);
    find_symbol_evidence(c->d, f, &c->scope, guard->expr);
    find_evidence(c->d, f, "the assert %.*s is false for %.*s", STR_ARG(guard->expr),
                  STR_ARG(buf_str(&example)));
    if (!str_eq(buf_str(&code), negation) && is_code(c, buf_str(&code)) && c->n_symbols <= 2)
        find_remedy(c->d, f, REMEDY_TORCH_CHECK,
                    "torch._check(%.*s) before line %u: it fails there with a message, and the "
                    "compiler knows it",
                    STR_ARG(buf_str(&code)), f->finding.line);
    if (example.failed || code.failed)
        err_nomem(&c->d->err);
    buf_release(&example);
    buf_release(&code);
}

/* Appends the key of an assert's finding: its line, and what it says without the numbers of
 * unbacked symbols, since one line may make several of them that have to satisfy the same. */
static void put_assert_key(const struct assert_check *c, const struct guard *guard,
                           struct str negation, struct buf *out)
{
    const struct trace *trace = find_input(c->d, c->scope.recording)->trace;
    uint32_t in = trace->records[guard->record].recording;
    struct frame line = stack_frame(trace, in, user_line(trace, in, guard->user_stack));
    buf_printf(out, "%.*s:%u ", STR_ARG(line.file), (unsigned)line.line);
    for (size_t i = 0; i < negation.n; i++) {
        bool in_name = i > 0 && is_digit(negation.p[i]) && out->p[out->n - 1] == 'u';
        if (!in_name)
            buf_putc(out, negation.p[i]);
    }
}

static void add_assert(struct assert_check *c, const struct guard *guard, sym_id e)
{
    uint32_t compile = build_compile(find_input(c->d, c->scope.recording), guard->attempt);
    struct profile_where where = { c->scope.recording, compile, guard->attempt };
    struct buf negation = BUF_INIT, text = BUF_INIT, cause = BUF_INIT, key = BUF_INIT;
    struct err ignored = { 0 };
    sym_print(c->pool, sym_not(c->pool, e), &text);
    if (sym_ok(c->pool, &ignored)) {
        symbols_put_code(&c->scope, buf_str(&text), &negation);
        buf_printf(&cause, "the compiled program fails at run time if %.*s",
                   STR_ARG(buf_str(&negation)));
        put_assert_key(c, guard, buf_str(&negation), &key);
        struct finding_build *f = find_add(c->d, FINDING_ASSERT, &where, buf_str(&key));
        if (find_is_new(f)) {
            find_cause(c->d, f, "%.*s", STR_ARG(buf_str(&cause)));
            write_assert(c, f, guard, buf_str(&negation));
        }
    }
    if (negation.failed || text.failed || cause.failed || key.failed)
        err_nomem(&c->d->err);
    buf_release(&key);
    buf_release(&negation);
    buf_release(&text);
    buf_release(&cause);
}

/* ---- The asserts of an attempt ---- */

static bool is_known(const struct assert_check *c, sym_id e)
{
    for (uint32_t i = 0; i < c->n_before; i++)
        if (c->before[i] == e)
            return true;
    return false;
}

/* Looks at one assert, after those before it. */
static void check_assert(struct assert_check *c, const struct guard *guard)
{
    const struct trace *trace = find_input(c->d, c->scope.recording)->trace;
    uint32_t in = trace->records[guard->record].recording;
    struct err ignored = { 0 };
    struct frame line = stack_frame(trace, in, user_line(trace, in, guard->user_stack));
    sym_id e = sym_parse(c->pool, guard->expr, NULL, NULL);
    if (!sym_ok(c->pool, &ignored) || is_known(c, e) || c->n_before == MOST_ASSERTS)
        return;
    c->scope.attempt = guard->attempt;
    c->scope.record = guard->record;
    c->n_symbols = 0;
    c->too_many = c->promised = false;
    c->op = fake_operator(&c->scope, guard->stack);
    guard_symbols(guard->expr, add_symbol, c);
    bool of_user = line.code.n > 0 && !torch_is_own_file(line.file);
    if (of_user && !c->promised && !is_stated(line.code) && can_fail(c, e))
        add_assert(c, guard, e);
    c->before[c->n_before++] = e;
}

/* Checks the asserts of an attempt, of which the first is guards[first]. */
static void check_attempt(struct finder *d, const struct build_input *input, uint32_t first)
{
    const struct guard_list *guards = input->guards;
    uint32_t attempt = guards->guards[first].attempt;
    const struct attempt *a = &input->trace->attempts[attempt];
    struct assert_check c = {
        .d = d,
        .scope = { .d = d, .recording = input->recording_of[a->recording] },
        .pool = sym_pool_new(&d->err),
    };
    for (uint32_t i = first; c.pool && i < guards->n && !err_is_set(&d->err); i++) {
        const struct guard *g = &guards->guards[i];
        if (g->record > a->records[a->n_records - 1])
            break;
        if (g->attempt == attempt && g->kind == GUARD_RUNTIME_ASSERT)
            check_assert(&c, g);
    }
    if (c.pool && sym_short_of_memory(c.pool))
        err_nomem(&d->err);
    sym_pool_free(c.pool);
}

/* Returns whether the asserts of an attempt are checked: it was kept, and its compile ended well.
 */
static bool has_asserts(const struct build_input *input, uint32_t attempt)
{
    return attempt != TRACE_NONE && build_kept(input, attempt) &&
           build_compile(input, attempt) != PROFILE_NONE &&
           input->trace->attempts[attempt].status == ATTEMPT_OK;
}

static void find_asserts_of(struct finder *d, const struct build_input *input)
{
    bool *seen = calloc(input->trace->n_attempts + 1, sizeof *seen);
    for (uint32_t i = 0; seen && i < input->guards->n && !err_is_set(&d->err); i++) {
        const struct guard *g = &input->guards->guards[i];
        if (g->kind != GUARD_RUNTIME_ASSERT || !has_asserts(input, g->attempt) || seen[g->attempt])
            continue;
        seen[g->attempt] = true;
        check_attempt(d, input, i);
    }
    if (!seen)
        err_nomem(&d->err);
    free(seen);
}

void find_asserts(struct finder *d)
{
    for (uint32_t t = 0; t < d->p->n_traces; t++)
        if (profile_inputs(d->p)[t].guards->by_kind[GUARD_RUNTIME_ASSERT] > 0)
            find_asserts_of(d, &profile_inputs(d->p)[t]);
}

#include "tests/replay/shape/sym_formula.h"

#include "replay/shape/expr/solve.h"
#include "replay/shape/range/range.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    enum sym_kind kind;
} names[] = {
#define SYM_KIND(name, class_, order, key, subkey, precedence, facts) { class_, SYM_##name },
#include "replay/shape/expr/sym.def"
#undef SYM_KIND
    { "Eq", SYM_EQ }, { "Ne", SYM_NE }, { "Lt", SYM_LT },
    { "Le", SYM_LE }, { "Gt", SYM_GT }, { "Ge", SYM_GE },
};

static struct str next_token(struct str *text)
{
    size_t at = 0;
    while (at < text->n && text->p[at] == ' ')
        at++;
    *text = str_from(*text, at);
    size_t n = 0;
    if (text->n && (text->p[0] == '(' || text->p[0] == ')'))
        n = 1;
    else
        while (n < text->n && !memchr(" ()", text->p[n], 3))
            n++;
    struct str token = str_first(*text, n);
    *text = str_from(*text, n);
    return token;
}

static sym_id call(struct sym_pool *pool, struct str name, const sym_id *args, uint32_t n)
{
    if (str_is(name, "CeilDiv"))
        return sym_ceildiv(pool, args[0], args[1]);
    if (str_is(name, "Piecewise")) {
        sym_id arms[] = { sym_binary(pool, SYM_EXPR_COND_PAIR, SYM_ID_ONE, args[0]),
                          sym_binary(pool, SYM_EXPR_COND_PAIR, SYM_ID_ZERO, SYM_ID_TRUE) };
        return sym_make(pool, SYM_PIECEWISE, arms, 2);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i].name))
            return sym_make(pool, names[i].kind, args, n);
    return SYM_NONE;
}

static sym_id atom(struct sym_pool *pool, struct str token)
{
    if (memchr("suz", token.p[0], 3))
        return sym_by_name(NULL, pool, token);
    char text[64] = { 0 };
    memcpy(text, token.p, token.n < 63 ? token.n : 63);
    return strpbrk(text, ".e") ? sym_float(pool, strtod(text, NULL))
                               : sym_integer_text(pool, token);
}

static sym_id build(struct sym_pool *pool, struct str *text)
{
    struct str token = next_token(text);
    if (token.n == 0)
        return SYM_NONE;
    if (token.p[0] != '(')
        return atom(pool, token);
    struct str name = next_token(text);
    sym_id args[16];
    uint32_t n = 0;
    while (n < 16) {
        struct str before = *text, peek = next_token(text);
        if (peek.n == 0 || peek.p[0] == ')')
            break;
        *text = before;
        args[n++] = build(pool, text);
    }
    return call(pool, name, args, n);
}

sym_id sym_formula(struct sym_pool *pool, struct str text)
{
    return build(pool, &text);
}

/* The ranges that sym_cases.py gives its symbols. */
static bool range_of(void *user, sym_id symbol, struct sym_range *ret)
{
    static const struct {
        const char *name;
        int64_t lower, upper; /* INT64_MIN and INT64_MAX stand for the infinities */
    } given[] = {
        { "s0", 2, INT64_MAX },         { "s1", 2, 1024 }, { "s2", 0, INT64_MAX }, { "s10", 1, 7 },
        { "u0", INT64_MIN, INT64_MAX }, { "u1", -3, 5 },
    };
    struct sym_pool *pool = user;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        if (!str_is(sym_name(pool, symbol), given[i].name))
            continue;
        ret->lower =
            given[i].lower == INT64_MIN ? SYM_ID_MINUS_INT_OO : sym_integer(pool, given[i].lower);
        ret->upper =
            given[i].upper == INT64_MAX ? SYM_ID_INT_OO : sym_integer(pool, given[i].upper);
        return true;
    }
    return false;
}

static void print_range(struct sym_pool *pool, sym_id e, struct buf *out)
{
    struct sym_range range = sym_bound(pool, e, range_of, pool);
    if (!sym_range_ok(range))
        return;
    sym_print(pool, range.lower, out);
    buf_putc(out, ' ');
    sym_print(pool, range.upper, out);
}

struct first {
    struct sym_pool *pool;
    sym_id symbol;
};

static void take_first(void *user, sym_id symbol)
{
    struct first *first = user;
    if (first->symbol == SYM_NONE ||
        str_cmp(sym_name(first->pool, symbol), sym_name(first->pool, first->symbol)) < 0)
        first->symbol = symbol;
}

static void print_solved(struct sym_pool *pool, sym_id e, struct buf *out)
{
    struct first first = { pool, SYM_NONE };
    sym_free_symbols(pool, e, take_first, &first);
    sym_id solved = sym_solve(pool, e, first.symbol, true);
    if (solved == SYM_NONE)
        buf_puts(out, "none");
    else
        sym_print(pool, solved, out);
}

struct implied {
    struct sym_pool *pool;
    struct buf *out;
};

static void print_implied(void *user, sym_id condition, bool value)
{
    struct implied *implied = user;
    if (implied->out->n)
        buf_puts(implied->out, "; ");
    sym_print(implied->pool, condition, implied->out);
    buf_puts(implied->out, value ? ": True" : ": False");
}

static void print_learnt(struct sym_pool *pool, bool solve, sym_id e, struct buf *out)
{
    struct first first = { pool, SYM_NONE };
    struct implied implied = { pool, out };
    if (e != SYM_NONE)
        sym_free_symbols(pool, e, take_first, &first);
    if (first.symbol == SYM_NONE || !sym_is_relational(pool, e))
        buf_puts(out, "none");
    else if (solve)
        print_solved(pool, e, out);
    else
        sym_implications(pool, e, print_implied, &implied);
}

void sym_answer_case(struct sym_pool *pool, struct str form, struct str formula, struct buf *out)
{
    sym_id e = sym_formula(pool, formula);
    struct buf text = BUF_INIT;
    struct err err = { .kind = ERR_NONE };
    if (str_is(form, "str") || str_is(form, "size"))
        sym_print(pool, e, &text);
    else if (str_is(form, "python"))
        sym_print_python(pool, e, NULL, NULL, &text);
    else if (str_is(form, "cpp"))
        sym_print_cpp(pool, e, NULL, NULL, &text);
    else if (str_is(form, "expand"))
        sym_print(pool, sym_expand(pool, e), &text);
    else if (str_is(form, "canonical"))
        sym_print(pool, sym_canonical(pool, e), &text);
    else if (str_is(form, "range"))
        print_range(pool, e, &text);
    else
        print_learnt(pool, str_is(form, "solve"), e, &text);
    if (!sym_ok(pool, &err) || e == SYM_NONE)
        buf_puts(out, "!");
    else
        buf_put(out, buf_str(&text));
    buf_release(&text);
}
